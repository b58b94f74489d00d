#!/usr/bin/env python3
"""Attacks `throng serve` on loopback: smuggled requests, slow clients, floods. Tests in the form of program.py.

Each malformed request must get one answer, of status 400 in our form, on a connection that is then closed. While more
slow clients than the server has room for hold their connections, and while others flood it, a client must get its
answers. Prints the crowd's ticks in quiet and in the rounds of each attack. THRONG_ATTACK_ROUNDS: another number of them."""
import contextlib
import itertools
import json
import os
import resource
import select
import socket
import threading
import time

from program import HUMAN, command, main
from serve_client import NIGHTLY, Crowd, answer_of, comes

ROUNDS = int(os.environ.get('THRONG_ATTACK_ROUNDS', 40 if NIGHTLY else 2))  # of each attack
THOUSAND = '--count 1000 --threads 1'
CLIENTS = 1100  # more than wait for the end of a head, and than the library has
HOST = b'Host: localhost\r\n'
NEXT = b'GET /healthz HTTP/1.1\r\n' + HOST + b'\r\n'


def post(*headers, body=b''):
    return b'POST /api/runs HTTP/1.1\r\n' + HOST + b'\r\n'.join(headers) + b'\r\n\r\n' + body


# One of each kind. All: tests/unit/program/test_head.c.
MALFORMED = {
    'folded line': post(b'X: y', b' Content-Length: 5', body=b'12345'),
    'two Content-Lengths': post(b'Content-Length: 5', b'Content-Length: 0', body=b'12345'),
    'both lengths': post(b'Content-Length: 5', b'Transfer-Encoding: chunked', body=b'0\r\n\r\n'),
    'chunks in HTTP/1.0': b'POST /api/runs HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'NUL in the target': b'GET /healthz\0 HTTP/1.1\r\n' + HOST + b'\r\n',
    'lone LF': b'GET /healthz HTTP/1.1\n' + HOST + b'\n',
    'no Host': b'GET /healthz HTTP/1.1\r\n\r\n',
    '401 arguments': b'GET /healthz?' + b'&'.join([b'a=b'] * 401) + b' HTTP/1.1\r\n' + HOST + b'\r\n',
}

# One answer as well, although these are in order.
ONE_ANSWER = {
    'two at once': NEXT,
    'a rejected body': post(b'Content-Length: 5', body=b'12345'),
    'a bad chunk': post(b'Content-Type: application/json', b'Transfer-Encoding: chunked', body=b'zz\r\n{}\r\n'),
}


def smuggle(server):
    for name, request in MALFORMED.items():
        answer = server.say(request + NEXT)
        head, _, body = answer.partition(b'\r\n\r\n')
        assert answer.count(b'HTTP/1.1 ') == 1 and head.startswith(b'HTTP/1.1 400 '), f'{name}: {answer}'
        assert b'\r\nConnection: close' in head and json.loads(body)['error']['message'], f'{name}: {answer}'
    for name, request in ONE_ANSWER.items():
        answer = server.say(request + NEXT)
        assert answer.count(b'HTTP/1.1 ') == 1, f'{name}: {answer}'


# Nothing of the body is sent before the answer is there. What is sent later resets no connection, unless it is endless.
EARLY = {
    'a long body': (413, post(b'Content-Type: application/json', b'Content-Length: 17000')),
    'one that asks first': (413, post(b'Content-Type: application/json', b'Content-Length: 17000', b'Expect: 100-continue')),
    'one that nobody wants': (413, b'GET /healthz HTTP/1.1\r\nContent-Length: 17000\r\n' + HOST + b'\r\n'),
    'a body for nothing': (404, b'PUT /nothing HTTP/1.1\r\nContent-Length: 17000\r\n' + HOST + b'\r\n'),
    'a long chunk': (413, post(b'Content-Type: application/json', b'Transfer-Encoding: chunked', body=b'9999\r\n' + b' ' * 17000)),
}


def refuse_early(server):
    for name, (status, request) in EARLY.items():
        for rest, most in ((17000, 17000), (1 << 30, 64 << 20)):
            got, sent = b'', 0
            with server.connect() as client:
                client.sendall(request)
                while not answer_of(got).whole and (piece := client.recv(1 << 16)):
                    got += piece
                assert answer_of(got).status == status and b' 100 ' not in got, f'{name}: {got}'
                with contextlib.suppress(ConnectionError) if rest > most else contextlib.nullcontext():
                    while sent < rest:
                        sent += client.send(bytes(min(rest - sent, 1 << 16)))
                    client.shutdown(socket.SHUT_WR)
                    assert client.recv(1) == b'', name
            assert sent <= most, f'{name}: {sent} bytes were read'


class Slow:
    """Clients that begin a request and send a byte now and then."""

    def __init__(self, server, beginning):
        self.server, self.beginning, self.sockets, self.reopened = server, beginning, [], 0

    def __enter__(self):
        self.sockets = [self.open() for _ in range(CLIENTS)]
        return self

    def __exit__(self, *_):
        for s in self.sockets:
            s.close()

    def open(self):
        s = self.server.connect()
        s.sendall(self.beginning)
        s.setblocking(False)
        return s

    def attack(self):
        for n, s in enumerate(self.sockets):
            with contextlib.suppress(BlockingIOError):
                try:
                    s.send(b'a')
                    if s.recv(4096) != b'':
                        continue
                except ConnectionError:
                    pass
                s.close()
                self.sockets[n] = self.open()
                self.reopened += 1


class Flood:
    """Clients that send whole requests as fast as they can."""

    def __init__(self, server, request, threads=4):
        self.server, self.request, self.sent, self.stops = server, request, 0, False
        self.threads = [threading.Thread(target=self.run) for _ in range(threads)]

    def run(self):
        while not self.stops:
            with contextlib.suppress(OSError):
                self.server.say(self.request)
                self.sent += 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stops = True
        for thread in self.threads:
            thread.join()

    def attack(self):
        time.sleep(0.05)


def watch(server, attack=lambda: time.sleep(0.05)):
    """(ticks a second, missed, longest answer in s) meanwhile. Asks after each round, and must be answered."""
    first, missed, begin = server.metric('throng_ticks_total'), server.metric('throng_ticks_missed_total'), time.monotonic()
    longest = 0
    for _ in range(ROUNDS):
        attack()
        before = time.monotonic()
        server.expect(200, 'GET', '/healthz')
        longest = max(longest, time.monotonic() - before)
    ticks = server.metric('throng_ticks_total') - first
    return ticks / (time.monotonic() - begin), server.metric('throng_ticks_missed_total') - missed, longest


def report(name, quiet, result, more=''):
    print(f'{name:28} {result[0]:8.2f} ticks/s ({(result[0] / quiet[0] - 1) * 100:+5.2f} %)  missed {result[1]:3.0f}  '
          f'longest answer {result[2] * 1e3:6.1f} ms  {more}', flush=True)


def refuse_others(server):
    """Another user gets no answer from a Unix socket, even where its mode would allow it."""
    os.chmod(server.folder, 0o711)
    os.chmod(server.address, 0o666)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        os._exit(0 if server.say(NEXT).startswith(b'HTTP/1.1 403 ') else 1)
    assert os.waitpid(child, 0)[1] == 0, 'another user is served'
    server.expect(200, 'GET', '/healthz')  # root is


@contextlib.contextmanager
def a_link_that_changes(path, *targets):
    """Leads to one after the other, as fast as can be."""
    over = threading.Event()

    def swap():
        for target in itertools.cycle(targets):
            os.symlink(target, 'fresh')
            os.replace('fresh', path)
            if over.is_set():
                return
            time.sleep(0.0003)
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# With a check of its own before the import, 70 of 176 models came from outside.
def test_a_link_that_changes_leads_nowhere():
    os.mkdir('models')
    for joints, path in ((4, 'models/inside.glb'), (9, 'outside.glb')):
        assert command(HUMAN, f'synthetic:joints={joints}', path).code == 0
    server = Crowd('--count 10 --rate 100 --model models --model human')
    loaded = refused = runs = 0
    with a_link_that_changes('models/hero.glb', 'inside.glb', '../outside.glb'):
        while loaded < (600 if NIGHTLY else 25) or refused < 5 or runs < 3:
            for names in (['human'], ['hero.glb']):
                answer = server.request('PATCH', '/api/settings', {'models': names})
                assert answer.status in (200, 202, 400), answer.text
                assert comes(lambda: server.state()['reconfiguration']['state'] == 'idle')
            playing = server.document('/api/models')['playing'][0]
            loaded += playing['name'] == 'hero.glb'
            refused += playing['name'] != 'hero.glb'
            assert playing['name'] == 'human' or playing['bones'] == 4, playing
            if loaded % 8 == 0 and server.request('POST', '/api/runs', {'kind': 'scale', 'options': {
                    'models': ['hero.glb'], 'count': 20, 'threads': '1', 'repetitions': 1, 'frames': 2}}).status == 202:
                assert comes(lambda: server.document('/api/runs')['runs'][0]['state'] != 'running')
                run = server.document('/api/runs')['runs'][0]
                runs += 1
                if run['state'] == 'done':
                    assert '"name": "hero.glb", "joints": 6, "bones": 4' in server.request(
                        'GET', f"/api/runs/{run['id']}/result").text
                else:
                    assert 'hero.glb: leads out of its folder' in run['message'], run
    print(f'{loaded} loaded, {refused} refused, {runs} runs')
    server.stop()


# In the time that a folder takes, others are answered: on one thread the list would come first.
def test_a_large_folder_keeps_nobody_waiting():
    os.mkdir('models')
    for n in range(20000):
        os.symlink('../outside.glb', f'models/{n}.glb')
    server = Crowd('--count 10 --rate 10 --model models --model human')
    answered = 0
    with server.connect() as s:
        s.sendall(b'GET /api/models HTTP/1.1\r\n' + HOST + b'\r\n')
        while not select.select([s], [], [], 0)[0]:
            server.expect(200, 'GET', '/healthz')
            answered += 1
        assert answer_of(s.recv(1 << 16)).status == 200
    print(f'{answered} answers meanwhile')
    assert answered >= 3, answered
    server.stop()


def test_over_loopback():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < 4096 else 4096, hard))
    server = Crowd(THOUSAND)
    smuggle(server)
    refuse_early(server)
    quiet = watch(server)
    report('quiet', quiet, quiet)
    slow = {'slow heads': b'GET /healthz HTTP/1.1\r\nX: ',
            'slow bodies': post(b'Content-Type: application/json', b'Content-Length: 16000'),
            'nobody reads': b'GET /api/openapi.json HTTP/1.1\r\n' + HOST + b'\r\n'}
    for name, beginning in slow.items():
        with Slow(server, beginning) as clients:
            report(name, quiet, watch(server, clients.attack), f'{clients.reopened} connected again')
    floods = {'flood of requests': NEXT, 'flood of malformed requests': MALFORMED['no Host'] + NEXT,
              'flood of pages': b'GET /api/state HTTP/1.1\r\n' + HOST + b'\r\n'}
    for name, request in floods.items():
        with Flood(server, request) as clients:
            result = watch(server, clients.attack)
        report(name, quiet, result, f'{clients.sent} requests')
    report('quiet again', quiet, watch(server))
    server.stop()


def test_over_a_unix_socket():
    server = Crowd(THOUSAND, listen='unix:socket')
    smuggle(server)
    refuse_early(server)
    if os.getuid() == 0:
        refuse_others(server)
    server.stop()


main(globals())
