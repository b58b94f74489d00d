#!/usr/bin/env python3
"""mpi.py THRONG_MPI THRONG [BUILD_HAS_FAULTS]: throng-mpi under mpirun. Palettes must be those of the plain program for
any number of ranks and threads, and a lost rank must end the job with an error in time, and leave no process behind."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

RANKS = (1, 2, 3, 4, 7)
KILLS = 4
TIMEOUT_S = 3  # of ranks that do not answer
END_S = 20     # in which a lost job must have ended
SMALL = ["scale", "--count", "300", "--repetitions", "2", "--frames", "2", "--json"]

program, plain = sys.argv[1], sys.argv[2]
has_faults = len(sys.argv) > 3 and sys.argv[3] == "ON"
mpirun = shutil.which("mpirun")
failed = False


def check(is_right, what, text=""):
    global failed
    print(("good:   " if is_right else "FAILED: ") + what, flush=True)
    if not is_right:
        print(text)
        failed = True


def launcher():
    words = [mpirun]
    if "Open MPI" in subprocess.run([mpirun, "--version"], capture_output=True, text=True).stdout:
        words += ["--oversubscribe"] + (["--allow-run-as-root"] if os.getuid() == 0 else [])
    return words


def run(words):
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


def ranks(count, words):
    return run(launcher() + ["-n", str(count), program] + words)


def sums(points):
    return {point["palette_sum"] for point in points}


def same_palettes():
    alone = run([plain] + SMALL + ["--threads", "1,2"])
    wanted = sums(json.loads(alone.stdout)["scaling"]["curves"][0]["points"])
    check(len(wanted) == 1, "the plain program has one sum", alone.stderr)
    for count in RANKS:
        got = ranks(count, SMALL + ["--threads", str(1 + count % 3)])
        document = json.loads(got.stdout)["rank_scaling"] if got.returncode == 0 else {"points": []}
        check(sums(document["points"]) == wanted, f"{count} ranks have the same sum", got.stdout + got.stderr)
        check(len(document["points"]) == count, f"{count} ranks have {count} points")
        check(not document.get("partial", True), f"{count} ranks give a whole result")


def weak():
    got = ranks(3, SMALL + ["--weak"])
    points = json.loads(got.stdout)["rank_scaling"]["points"]
    check([300, 600, 900] == [sum(s["characters"] for s in p["shares"]) for p in points], "weak scaling adds characters")
    alone = run([plain] + SMALL + ["--weak", "--threads", "1,2"])
    plain_points = json.loads(alone.stdout)["scaling"]["curves"][0]["points"]
    check([p["palette_sum"] for p in points[:2]] == [p["palette_sum"] for p in plain_points],
          "and has the plain program's sums", got.stderr)


def refusals():
    for words, code, text in (
        (SMALL + ["--grain", "2"], 2, "throng-mpi does not take --grain"),
        (SMALL + ["--timeout", "x"], 2, "--timeout takes a number of seconds"),
        (["stress"], 2, "it needs --count"),
        (SMALL + ["--model", "none.glb"], 3, "rank 0 on "),
        (["stress", "--count", "2000", "--budget-ms", "0.001"], 1, "do not meet 0.001 ms"),
    ):
        got = ranks(2, words)
        check(got.returncode == code and text in got.stdout + got.stderr, f"exit {code}: {text}",
              f"exit {got.returncode}\n" + got.stdout + got.stderr)
    got = run(launcher() + ["-n", "1", program] + SMALL + [":", "-n", "1", program] + SMALL + ["--seed", "5"])
    check(got.returncode == 2 and "throng: rank 1 on " in got.stderr and "another command line than rank 0" in got.stderr,
          "a rank with other options is named", got.stderr)
    if has_faults:
        got = run(launcher() + ["-n", "2", program] + SMALL +
                  [":", "-n", "1", "env", "THRONG_MUTANT=flip_sign", program] + SMALL)
        check(got.returncode == 1 and "throng: rank 2 on " in got.stderr and "poses character 200 otherwise" in got.stderr,
              "a rank with other palettes is named, and the first character", got.stderr)
        got = run(["env", "THRONG_MUTANT=flip_sign"] + launcher() + ["-n", "2", program] + SMALL)
        check(got.returncode == 1 and "off the double-precision reference" in got.stderr,
              "palettes that are wrong on all ranks are found", got.stderr)


def of_job(seed):
    """The processes of a job: rank -> id."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if not (words[0].endswith(b"throng-mpi") and str(seed).encode() in words):
                continue
            with open(f"/proc/{pid}/environ", "rb") as file:
                own = dict(line.split(b"=", 1) for line in file.read().split(b"\0") if b"=" in line)
            found[int(own.get(b"OMPI_COMM_WORLD_RANK", own.get(b"PMI_RANK", b"-1")))] = int(pid)
        except (OSError, ValueError):
            continue
    return found


def wait_until(is_true, seconds):
    end = time.monotonic() + seconds
    while not is_true() and time.monotonic() < end:
        time.sleep(0.02)
    return is_true()


def lose(number, rank, count):
    """Starts a long job, takes a rank from it with this signal, and looks what comes of it."""
    seed = random.randrange(10**9, 10**10)
    words = ["scale", "--count", "2000", "--repetitions", "1000", "--json", "--timeout", str(TIMEOUT_S), "--seed", str(seed)]
    name = f"rank {rank} of {count} lost by signal {number}"
    job = subprocess.Popen(launcher() + ["-n", str(count), program] + words, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    if not wait_until(lambda: len(of_job(seed)) == count, END_S):
        check(False, f"{name}: it has not started")
    time.sleep(random.uniform(0, 2))
    os.kill(of_job(seed)[rank], number)
    start = time.monotonic()
    try:
        out, err = job.communicate(timeout=END_S)
    except subprocess.TimeoutExpired:
        job.kill()
        out, err = job.communicate()
        check(False, f"{name}: it hangs", err)
    took = time.monotonic() - start
    check(job.returncode != 0, f"{name}: exit {job.returncode} after {took:.1f} s", err)
    # Before it measures, MPI itself may be what waits; then nobody knows which rank is missing.
    check(f"rank {rank} " in err or "one does not answer" in err, f"{name}: is named", err)
    if out and rank > 0:
        check(f"throng: rank {rank} on " in err and "does not answer" in err, f"{name}: rank 0 names it", err)
    if out:
        check(json.loads(out)["rank_scaling"]["partial"], f"{name}: what was measured is called partial", out)
    check(wait_until(lambda: not of_job(seed), 5), f"{name}: no process is left")


def main():
    if not mpirun:
        print("mpirun is not installed")
        return 77
    same_palettes()
    weak()
    refusals()
    for _ in range(KILLS):
        count = random.choice((2, 3, 4))
        lose(signal.SIGKILL, random.randrange(count), count)
    lose(signal.SIGSTOP, 1, 3)
    return 1 if failed else 0


sys.exit(main())
