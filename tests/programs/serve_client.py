"""`throng serve` as a child process, and a client that says exactly what it is told to say. Python standard library only."""
import contextlib
import json
import os
import re
import shlex
import socket
import subprocess
import time
from typing import NamedTuple

from program import PROGRAM, Skip, at_end, command, parse

NIGHTLY = os.environ.get('THRONG_TEST_NIGHTLY') == 'yes'  # as in fixture_nightly.h
SMALL_RUN = {'kind': 'scale', 'options': {'count': 20, 'threads': '1', 'repetitions': 1, 'frames': 2}}
ENDLESS_RUN = {'kind': 'stress', 'options': {'count': 20, 'threads': '1', 'frames': 10000, 'budget_ms': 10000}}  # sleeps


class Answer(NamedTuple):
    status: int  # 0: none came
    head: str
    body: bytes
    whole: bool  # all that the head announces

    @property
    def text(self):
        return self.body.decode(errors='replace')


def answer_of(got):
    """What is in the bytes that came so far."""
    head, _, body = got.partition(b'\r\n\r\n')
    status, length = (re.search(what, head) for what in (rb'^HTTP/1.1 (\d+)', rb'(?i)\r\nContent-Length: *(\d+)'))
    return Answer(int(status[1]) if status else 0, head.decode(errors='replace') + '\r\n', body,
                  bool(length) and len(body) >= int(length[1]))


class Server:
    """A server in a folder of its own, which is also its TMPDIR. starter: a program that starts another."""

    def __init__(self, program, folder, *arguments, listen='127.0.0.1:0', starter=()):
        self.folder = folder
        self.mark = f'{os.path.basename(folder)}-{os.getpid()}'
        self.log = open(os.path.join(folder, '.log'), 'ab+')
        environment = dict(os.environ, TMPDIR=folder, THRONG_TEST_MARK=self.mark)
        self.process = subprocess.Popen([*starter, program, 'serve', '--listen', listen, *arguments], cwd=folder, env=environment,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.address = None

    def wait_ready(self):
        """Whether it got ready."""
        line = self.process.stdout.readline().strip()
        if line.startswith('unix:'):
            self.address = os.path.join(self.folder, line[5:])
        elif line:
            self.address = ('127.0.0.1', int(line.rstrip('/').rsplit(':', 1)[1]))
        return self.address is not None

    def connect(self, timeout=600):
        s = socket.socket(socket.AF_UNIX if isinstance(self.address, str) else socket.AF_INET)
        s.settimeout(timeout)
        s.connect(self.address)
        return s

    def say(self, request, timeout=600):
        """All that comes back for these bytes, until the server closes the connection."""
        answer = b''
        with self.connect(timeout) as s:
            s.sendall(request)
            while piece := s.recv(1 << 16):
                answer += piece
        return answer

    def answer(self, request, timeout=600):
        """What comes for these bytes, once all of it is there or the server has closed the connection."""
        got = b''
        with self.connect(timeout) as s, contextlib.suppress(ConnectionError):
            s.sendall(request)
            while not answer_of(got).whole and (piece := s.recv(1 << 16)):
                got += piece
        return answer_of(got)

    def request(self, method, path, body=None, headers='', timeout=600):
        """The answer to one request. body: text, or what becomes JSON. headers: each with its line end."""
        body = body if body is None or isinstance(body, str) else json.dumps(body)
        length = '' if body is None else f'Content-Type: application/json\r\nContent-Length: {len(body)}\r\n'
        return self.answer(f'{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}{length}'
                           f'Connection: close\r\n\r\n{body or ""}'.encode(), timeout)

    def metric(self, name):
        for line in self.request('GET', '/metrics').text.splitlines():
            if line.startswith(name + ' '):
                return float(line.split()[1])
        raise LookupError(name)

    def family(self):
        """Processes that it has started, and those that they have started, alive or not."""
        found = []
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{pid}/environ', 'rb') as file:
                    if f'THRONG_TEST_MARK={self.mark}\0'.encode() in file.read() and int(pid) != self.process.pid:
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def end(self):
        """Asks it to stop. Whether it did, with exit code 0 and no finding of a sanitizer."""
        self.process.terminate()
        return self.process.wait(60) == 0 and 'Sanitizer' not in self.said()

    def said(self):
        self.log.seek(0)
        return self.log.read().decode(errors='replace')


def comes(condition, seconds=600):
    """Whether the condition holds at some time, on a machine that may be slow: only who waits in vain waits to the end."""
    begin = now = time.monotonic()
    while not (result := condition()) and now < begin + seconds:
        time.sleep(min(0.1, (now - begin) / 8 + 0.005))
        now = time.monotonic()
    return result


class Crowd(Server):
    """A server in the folder of the test, which ends with the test."""

    def __init__(self, arguments, **how):
        super().__init__(PROGRAM, os.getcwd(), *shlex.split(arguments), **how)
        at_end.callback(self.process.kill)
        assert self.wait_ready(), f'{arguments}: {self.said()}'
        self.pid = self.process.pid

    def stop(self):
        assert self.end(), self.said()

    def end_by(self, number):
        """Its exit code; of an end by a signal, less than 0."""
        self.process.send_signal(number)
        return self.process.wait()

    def expect(self, status, method, path, body=None, headers=''):
        answer = self.request(method, path, body, headers)
        assert answer.status == status, f'{method} {path} {body}: {answer.status}, not {status}: {answer.text}'
        return answer

    def refuse(self, status, method, path, code, body=None):
        answer = self.expect(status, method, path, body)
        assert answer.text.startswith('{"error":{"code":"%s"' % code), f'{method} {path}: {answer.text}'
        return answer.text

    def change(self, status, **settings):
        return self.expect(status, 'PATCH', '/api/settings', settings)

    def begin(self, run):
        self.expect(202, 'POST', '/api/runs', run)

    def document(self, path):
        return parse(self.expect(200, 'GET', path).text)

    def state(self):
        return self.document('/api/state')

    def comes(self, path, *texts):
        """Asks again until all of the texts are there, and returns the last answer's."""
        def found():
            return all(text in self.request('GET', path).text for text in texts)
        assert comes(found), f'{path} has no {texts}: {self.request("GET", path).text}'
        return self.request('GET', path).text

    def ticks_on(self, ticks=None):
        """Waits until there are more ticks than these, or than now."""
        ticks = self.metric('throng_ticks_total') if ticks is None else ticks
        assert comes(lambda: self.metric('throng_ticks_total') > ticks), f'{ticks} ticks, and no more'

    def pause(self):
        self.change(200, paused=True)
        self.comes('/metrics', '\nthrong_paused 1\n')

    def picture(self, path):
        """Its bytes. Asks again where a loaded machine takes long; skips the test where there is no OpenGL."""
        answer = None
        def is_over():
            nonlocal answer
            answer = self.request('GET', path)
            return '"too_slow"' not in answer.text
        comes(is_over)
        if answer.status == 503 and '"no_picture"' in answer.text:
            raise Skip(f'no OpenGL here: {answer.text}')
        assert answer.status == 200 and '\r\nContent-Type: image/png\r\n' in answer.head, answer.text
        return answer.body

    def child(self):
        """The process of its run or picture, once there is one."""
        assert (found := comes(lambda: command('pgrep', '-P', str(self.pid)).out.split())), self.said()
        return int(found[0])
