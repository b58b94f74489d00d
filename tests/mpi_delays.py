#!/usr/bin/env python3
"""mpi_delays.py THRONG_MPI [MILLISECONDS...]: throng-mpi on four hosts that are network namespaces of this one, joined
by a network that delays every packet. Prints how stages take longer, and fails where they are more than 20 % off what
bytes and latency predict. Wants root, Open MPI and /dev/net/tun. Not a test of CTest.

The network is a process: each namespace has a TUN device, and packets that leave one enter another one after the delay.
So it needs no qdisc netem, which not every kernel has. Namespaces th1 to th4 are made and deleted."""

import collections
import ctypes
import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time

HOSTS = 4
NETWORK = "10.77.0."
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
MTU = 65535
WINDOW = 1 << 24
WITHIN = 0.2
SCALE = ["scale", "--count", "2000", "--repetitions", "4", "--frames", "2", "--threads", "1", "--json"]
RENDER = ["render", "--count", "20", "--size", "640x360", "--samples", "1", "--frames", "5", "--shadow", "0", "--threads", "1",
          "--json"]

# One-way delays one after the other: the fewest and the most. A barrier of four ranks has two rounds. A message above
# 64 KB is announced, asked for and sent: three delays. A picture is two such exchanges. Rank 0, whose clock it is, may
# leave the barrier before a stage two delays before the last rank does, so the begin of a stage can take these as well.
ROUNDS = {"poses of a rank": (0, 0), "barrier alone": (2, 4), "gather alone": (3, 5), "gather": (3, 5),
          "composite alone": (6, 8), "composite": (6, 8)}

libc = ctypes.CDLL(None, use_errno=True)


def ip(*words):
    subprocess.run(["ip"] + list(words), check=True)


def open_tun(host):
    """A TUN device in the host's namespace."""
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    other = os.open(f"/run/netns/th{host}", os.O_RDONLY)
    if libc.setns(other, 0x40000000) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"th0", IFF_TUN | IFF_NO_PI))
    libc.setns(own, 0x40000000)
    os.close(own)
    os.close(other)
    return tun


def make_hosts():
    tuns = {}
    for host in range(1, HOSTS + 1):
        subprocess.run(["ip", "netns", "del", f"th{host}"], stderr=subprocess.DEVNULL, check=False)
        ip("netns", "add", f"th{host}")
        tuns[host] = open_tun(host)
        ip("-n", f"th{host}", "address", "add", f"{NETWORK}{host}/24", "dev", "th0")
        ip("-n", f"th{host}", "link", "set", "th0", "mtu", str(MTU), "txqueuelen", "5000", "up")
        ip("-n", f"th{host}", "link", "set", "lo", "up")
        # TCP's windows hold a message from the begin on; otherwise they would take round trips to grow.
        sizes = f"4096 {WINDOW} {WINDOW}"
        ip("netns", "exec", f"th{host}", "sysctl", "-qw", "net.ipv4.tcp_slow_start_after_idle=0",
           f"net.ipv4.tcp_rmem={sizes}", f"net.ipv4.tcp_wmem={sizes}")
        ip("-n", f"th{host}", "route", "replace", f"{NETWORK}0/24", "dev", "th0", "initcwnd", "200", "initrwnd", "200")
    return tuns


def relay(tuns, delay_s):
    """Never returns: hands each packet to the host that it is for, when its time has come."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))  # ranks spin on all CPUs
    waiting = collections.deque()
    host_of = {tun: host for host, tun in tuns.items()}
    while True:
        left = waiting[0][0] - time.monotonic() if waiting else 1
        for tun in select.select(list(host_of), [], [], max(0, left))[0]:
            for _ in range(64):
                try:
                    packet = os.read(tun, MTU)
                except BlockingIOError:
                    break
                if packet[0] >> 4 == 4 and packet[16:19] == bytes((10, 77, 0)) and packet[19] in tuns:
                    waiting.append((time.monotonic() + delay_s, packet[19], packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, host, packet = waiting.popleft()
            try:
                os.write(tuns[host], packet)
            except OSError:
                pass  # as a network may


def in_host(host, words):
    """Words that run others in a host, under its own name."""
    named = f'hostname th{host}; exec "$@"'
    return ["ip", "netns", "exec", f"th{host}", "unshare", "--uts", "sh", "-c", named, "sh"] + words


def launch(folder, program, words):
    agent = os.path.join(folder, "agent")
    with open(agent, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nhost=th${1##*.}\nshift\n"
                   'exec ip netns exec $host unshare --uts sh -c "hostname $host; $*"\n')
    os.chmod(agent, 0o755)
    hosts = ",".join(f"{NETWORK}{host}:1" for host in range(1, HOSTS + 1))
    mpirun = ["mpirun", "--allow-run-as-root", "--host", hosts, "--mca", "plm_rsh_agent", agent, "--mca",
              "btl", "tcp,self", "--mca", "pml", "ob1", "--mca", "btl_tcp_if_include", NETWORK + "0/24", "--mca",
              "oob_tcp_if_include", NETWORK + "0/24", "--mca", "plm_rsh_no_tree_spawn", "1", "-n", str(HOSTS)]
    got = subprocess.run(in_host(1, mpirun + [program] + words), capture_output=True, text=True, timeout=240)
    if got.returncode != 0:
        sys.exit(f"mpi_delays.py: exit {got.returncode}\n{got.stdout}{got.stderr}")
    return json.loads(got.stdout)


def measure(folder, program, tuns, delay_ms):
    network = os.fork()
    if network == 0:
        relay(tuns, delay_ms / 1e3)
    try:
        point = launch(folder, program, SCALE)["rank_scaling"]["points"][-1]
        picture = launch(folder, program, RENDER + ["--out", os.path.join(folder, "%d.png")])
    finally:
        os.kill(network, signal.SIGKILL)
        os.waitpid(network, 0)
    return {"sum": point["palette_sum"],
            "poses of a rank": min(share["poses_us"] for share in point["shares"]) / 1e3,
            "barrier alone": point["bare_barrier_us"] / 1e3,
            "gather alone": point["bare_gather_us"] / 1e3,
            "gather": point["gather_us"] / 1e3,
            "composite alone": picture["ms_per_frame"]["bare_composite"],
            "composite": picture["ms_per_frame"]["composite"]}


def judge(delay_ms, base, got):
    """Without a delay a stage takes what its bytes take; with one, its delays more."""
    good = got["sum"] == base["sum"]
    print(f"{delay_ms:g} ms one way:")
    for stage, (fewest, most) in ROUNDS.items():
        low, high = base[stage] + fewest * delay_ms, base[stage] + most * delay_ms
        off = min(got[stage] / low - 1, 0) + max(got[stage] / high - 1, 0)
        is_near = abs(off) <= WITHIN
        print(f"  {stage:16} {got[stage]:9.3f} ms, predicted {low:.3f} to {high:.3f}: {100 * off:+.1f} %",
              "" if is_near else "OFF")
        good = good and is_near
    return good


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    program = os.path.realpath(sys.argv[1])
    delays = [float(word) for word in sys.argv[2:]] or [1, 10, 50]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        tuns = make_hosts()
        try:
            base = measure(folder, program, tuns, 0)
            print("no delay: " + ", ".join(f"{stage} {base[stage]:.3f} ms" for stage in ROUNDS))
            for delay_ms in delays:
                good = judge(delay_ms, base, measure(folder, program, tuns, delay_ms)) and good
        finally:
            for tun in tuns.values():
                os.close(tun)
            for host in range(1, HOSTS + 1):
                subprocess.run(["ip", "netns", "del", f"th{host}"], check=False)
    return 0 if good else 1


sys.exit(main())
