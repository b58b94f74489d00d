#!/usr/bin/env python3
"""systemd of `throng serve`, played: sd_notify(3) and sd_watchdog_enabled(3). Tests in the form of program.py.

How many keep-alives come is counted between the server's own events, of which there is one a second: a busy machine
delays both."""
import ctypes
import os
import select
import signal
import socket
import struct
import time

from program import Skip, main, read
from serve_client import Crowd

SMALL = '--model synthetic:joints=4,clips=3,keys=16 --count 20 --rate 20'
RUN = {'kind': 'stress', 'options': {'count': 20, 'threads': '1', 'frames': 10000, 'budget_ms': 10000}}  # without an end
WATCHDOG_US, MOST_A_SECOND = 400000, 5  # what it wants: one in each half of this
PTRACE_ATTACH, PTRACE_DETACH, WALL = 16, 17, 0x40000000


class Watched(Crowd):
    """A service, its socket and a client of its events. systemd takes nothing from a service's children."""

    def __init__(self, watchdog_pid='$$'):
        self.systemd = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.systemd.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.systemd.bind('notify')
        os.environ.update(NOTIFY_SOCKET=os.path.abspath('notify'), WATCHDOG_USEC=str(WATCHDOG_US))
        super().__init__(SMALL, starter=('sh', '-c', f'export WATCHDOG_PID={watchdog_pid}; exec "$@"', 'sh'))
        if not self.state()['server']['systemd']:
            raise Skip('built without libsystemd')
        ready = self.next_message()
        assert ready == 'READY=1\nSTATUS=127.0.0.1:%d' % self.address[1], ready
        self.events = self.connect()
        self.events.sendall(b'GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        self.tail = b''

    def next_message(self):
        text, told, _, _ = self.systemd.recvmsg(4096, 256)
        assert struct.unpack('3i', told[0][2])[0] == self.pid, f'{text} is from another process'
        return text.decode()

    def drain(self):
        """What has come so far: that many keep-alives."""
        count = 0
        while one := self.read_one(0):
            count += one[0]
        return count

    def read_one(self, seconds):
        """(keep-alives, events) of one reading; None: nothing came in that time."""
        there = select.select([self.systemd, self.events], [], [], seconds)[0]
        if not there:
            return None
        if self.systemd in there:
            message = self.next_message()
            assert message == 'WATCHDOG=1', message
            return 1, 0
        assert (piece := self.events.recv(1 << 16)), 'the events have ended'
        got, mark = self.tail + piece, b'\nevent: state\n'
        self.tail = got[-len(mark) + 1:]
        return 0, got.count(mark)

    def keep_alives(self, seconds):
        """That many in each of the next seconds, of the server's."""
        counts, now = [], 0
        while len(counts) < seconds:
            keep_alives, events = self.read_one(600)
            now += keep_alives
            if events:
                counts, now = counts + [now] + [0] * (events - 1), 0
        return counts

    def is_kept_alive(self):
        """Often enough at least in one of some seconds: others may be those of a busy machine."""
        counts = []
        while not any(count >= MOST_A_SECOND for count in counts):
            assert len(counts) < 60, f'{counts} keep-alives a second'
            counts += self.keep_alives(1)


def is_kept_alive_while_it_ticks_and_while_a_run_holds_it(service):
    service.is_kept_alive()
    service.begin(RUN)
    service.comes('/api/state', '"paused_by":"run"')
    service.is_kept_alive()


def says_nothing_while_it_is_stopped_nor_does_its_run(service):
    assert service.child()
    os.kill(service.pid, signal.SIGSTOP)
    os.waitpid(service.pid, os.WUNTRACED)
    service.drain()
    time.sleep(3 * WATCHDOG_US / 1e6)
    assert service.drain() == 0
    os.kill(service.pid, signal.SIGCONT)
    service.is_kept_alive()
    service.expect(202, 'DELETE', '/api/runs/1')
    service.comes('/api/state', '"paused_by":null')


def is_given_up_where_only_the_ticks_are_stuck(service):
    """Stops that one thread, as a debugger does."""
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    task = f'/proc/{service.pid}/task'
    tid = next(int(tid) for tid in os.listdir(task) if read(f'{task}/{tid}/comm') == 'throng-tick\n')
    if ptrace(PTRACE_ATTACH, tid, None, None) != 0:
        raise Skip(f'ptrace: {os.strerror(ctypes.get_errno())}')
    os.waitpid(tid, WALL)
    service.expect(200, 'GET', '/healthz')
    service.drain()
    first, *others = service.keep_alives(3)
    assert first <= 1 and others == [0, 0], f'{first} {others}: the crowd hangs, and the server says that it lives'
    ptrace(PTRACE_DETACH, tid, None, None)
    service.is_kept_alive()


def says_that_it_stops_and_then_nothing(service):
    service.process.terminate()
    while (message := service.next_message()) == 'WATCHDOG=1':
        pass
    assert message == 'STOPPING=1', message
    assert service.process.wait(60) == 0 and 'Sanitizer' not in service.said(), service.said()
    assert not select.select([service.systemd], [], [], 0)[0], service.next_message()


def test_systemd_sees_a_service_that_lives_and_one_that_hangs():
    service = Watched()
    for look in (is_kept_alive_while_it_ticks_and_while_a_run_holds_it, says_nothing_while_it_is_stopped_nor_does_its_run,
                 is_given_up_where_only_the_ticks_are_stuck, says_that_it_stops_and_then_nothing):
        look(service)


def test_a_watchdog_of_another_process_is_not_fed():
    service = Watched(watchdog_pid=os.getpid())
    counts = service.keep_alives(2)
    assert counts == [0, 0], counts
    says_that_it_stops_and_then_nothing(service)


main(globals())
