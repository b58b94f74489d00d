#!/usr/bin/env python3
"""systemd of `throng serve`, played: sd_notify(3) and sd_watchdog_enabled(3). Tests in the form of program.py.

How many keep-alives come is counted between the server's own events, of which there is one a second: a busy machine
delays both."""
import ctypes
import os
import queue
import select
import signal
import socket
import struct
import threading
import time

from program import Skip, main, read
from serve_client import ENDLESS_RUN, Crowd

SMALL = '--model synthetic:joints=4,clips=3,keys=16 --count 20 --rate 20'
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
        self.heard = queue.SimpleQueue()
        threading.Thread(target=self.listen, daemon=True).start()

    def next_message(self):
        text, told, _, _ = self.systemd.recvmsg(4096, 256)
        assert struct.unpack('3i', told[0][2])[0] == (os.getpid() if text == b'mark' else self.pid), f'{text} is from a child'
        return text.decode()

    def listen(self):
        """All the time: a service waits where nobody reads what it says."""
        while there := select.select([self.systemd, self.events], [], [])[0]:
            if self.systemd in there:
                self.heard.put(self.next_message())
            elif not (piece := self.events.recv(1 << 16)):
                self.events = self.systemd  # it has ended
            elif b'\nevent: state\n' in piece:
                self.heard.put('event')

    def until(self, what):
        """The messages before this one."""
        return list(iter(lambda: self.heard.get(timeout=600), what))

    def until_now(self):
        self.systemd.sendto(b'mark', 'notify')
        return self.until('mark')

    def keep_alives(self, seconds):
        """That many in each of the next seconds, of the server's."""
        return [self.until('event').count('WATCHDOG=1') for _ in range(seconds)]

    def is_kept_alive(self):
        """Often enough at least in one of some seconds: others may be those of a busy machine."""
        counts = [0]
        while max(counts) < MOST_A_SECOND:
            assert len(counts) < 60, f'{counts} keep-alives a second'
            counts += self.keep_alives(1)


def is_kept_alive_while_it_ticks_and_while_a_run_holds_it(service):
    service.is_kept_alive()
    service.begin(ENDLESS_RUN)
    service.comes('/api/state', '"paused_by":"run"')
    service.is_kept_alive()


def says_nothing_while_it_is_stopped_nor_does_its_run(service):
    assert service.child()
    os.kill(service.pid, signal.SIGSTOP)
    os.waitpid(service.pid, os.WUNTRACED)
    service.until_now()
    time.sleep(3 * WATCHDOG_US / 1e6)
    assert 'WATCHDOG=1' not in service.until_now()
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
    service.until_now()
    counts = service.keep_alives(4)  # the first event may be from before
    assert sum(counts) <= 1 and counts[2:] == [0, 0], f'{counts}: the crowd hangs, and the server says that it lives'
    ptrace(PTRACE_DETACH, tid, None, None)
    service.is_kept_alive()


def says_that_it_stops_and_then_nothing(service):
    service.process.terminate()
    assert set(service.until('STOPPING=1')) <= {'WATCHDOG=1', 'event'}
    assert service.process.wait(60) == 0 and 'Sanitizer' not in service.said(), service.said()
    assert service.until_now() == []


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
