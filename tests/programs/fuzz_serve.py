#!/usr/bin/env python3
"""Hostile clients of `throng serve`. Tests in the form of program.py.

Sends it requests that are damaged in every way this file knows of, over many connections, while it watches from another
that the server still answers, that the crowd still ticks, and that the damage reaches nothing. To be run against a build
with sanitizers. THRONG_CONNECTIONS, THRONG_SEED: another number of them, and another seed."""
import collections
import contextlib
import os
import random
import re
import signal
import socket
import time

from program import at_end, main
from serve_client import NIGHTLY, Crowd, comes

HELD = 64  # connections left open: slow heads, streams that nobody reads
METHODS = (b'GET', b'HEAD', b'POST', b'PATCH', b'DELETE',
           b'PUT', b'OPTIONS', b'TRACE', b'CONNECT', b'get', b'', b'\1', b'G\0T')
PATHS = (b'/', b'/healthz', b'/metrics', b'/api', b'/api/state', b'/api/settings', b'/api/runs', b'/api/runs/1',
         b'/api/runs/1/result', b'/api/runs/1/report', b'/api/history?seconds=5', b'/api/history?seconds=%00', b'/api/models',
         b'/api/picture.png', b'/api/picture.png?width=16&height=16', b'/api/picture.png?width=17&height=%00', b'/api/events',
         b'/api/../../../etc/passwd', b'/%2e%2e/%2e%2e/etc/passwd', b'//etc/passwd', b'/api/runs/18446744073709551617',
         b'/api/runs/%31', b'/api/state%00.html', b'*', b'', b'http://evil.example/api/state', b'/..;/api',
         b'/api/runs/1/result/../../state', b'/?a=b&&&=%', b'/\xff\xfe')
VERSIONS = (b'HTTP/1.1', b'HTTP/1.1', b'HTTP/1.1', b'HTTP/1.0', b'HTTP/0.9', b'HTTP/2.0', b'HTTP/9999999999.1', b'', b'ICY')
HEADERS = (b'Origin: http://evil.example', b'Origin: null', b'Sec-Fetch-Site: cross-site',
           b'Authorization: Bearer wrong-wrong-wrong', b'Authorization: Bearer correct-horse-battery',
           b'Authorization: Bearer', b'Authorization:', b'Content-Type: application/json',
           b'Content-Type: text/plain', b'Content-Length: 5', b'Content-Length: 99999999999999999999',
           b'Content-Length: -1', b'Content-Length: 5, 5', b'Content-Length: 0x10', b'Transfer-Encoding: chunked',
           b'Transfer-Encoding: gzip, chunked', b'Transfer-Encoding: identity', b'Expect: 100-continue',
           b'Expect: nonsense', b'Connection: keep-alive', b'Connection: close', b'Connection: upgrade',
           b'Upgrade: websocket', b'Host: evil.example', b'Host: localhost:1:2', b'Range: bytes=0-1',
           b'Cookie: a=b; c', b' folded', b'NoColon', b': empty', b'X\0Y: z', b'Accept-Encoding: gzip')
BODIES = (b'{"count": 20}', b'{"count": 30}', b'{"rate_hz": 0.1, "rate_hz": 5}', b'{"count": 1e99}', b'{"count": -0}',
          b'[[[[[[[[[[[[[[[[[[[[', b'{"a":{"a":{"a":{', b'{"clips": {"walk": 1e308, "\\u0000": 1}}',
          b'{"models": ["../../etc/passwd"]}', b'{"models": ["\\u0000"]}', b'"\\ud800"', b'nul', b'{"paused": tru',
          b'{"kind": "scale", "options": {"out": "/tmp/x"}}',
          b'{"kind": "scale", "options": {"clip": "--help", "repetitions": 1, "frames": 1, "count": 5}}',
          b'{"kind": "scale", "options": {"threads": "1-999999999999999999999"}}', b'{"kind": "$(reboot)"}',
          b'5\r\n{}\r\n0\r\n\r\n', b'ffffffffffffffff\r\n{}\r\n', b'-5\r\n{}\r\n0\r\n\r\n',
          b'2;ext="\\\r\n{}\r\n0\r\nTrailer: x\r\n\r\n', b'zz\r\n', b'2\r\n{}0\r\n\r\n')

connections = int(os.environ.get('THRONG_CONNECTIONS', 50000 if NIGHTLY else 1000))
seed = int(os.environ.get('THRONG_SEED', time.time_ns() if NIGHTLY else 1))
dice = random.Random(seed)
answers = collections.Counter()  # by status; "none": closed without one
held = [None] * HELD
ticks = 0


def one_in(count):
    return dice.randrange(count) == 0


def make_request():
    body = b'' if one_in(3) else dice.choice(BODIES)
    request = b' '.join((dice.choice(METHODS if one_in(5) else METHODS[:5]), dice.choice(PATHS),
                         dice.choice(VERSIONS if one_in(5) else VERSIONS[:1]))) + b'\r\n'
    if not one_in(8):
        request += b'Host: localhost\r\n'
    if one_in(2):
        request += b'Content-Type: application/json\r\n'
    if body and one_in(2):
        request += b'Content-Length: %d\r\n' % len(body)
    for _ in range(dice.randrange(4)):
        request += dice.choice(HEADERS) + (b'\n' if one_in(10) else b'\r\n')
    if one_in(50):
        request += b'X-Long: ................\r\n' * 3000
    return request + b'\r\n' + body


def damage(request):
    for _ in range(dice.randrange(4)):
        if not request:
            break
        at = dice.randrange(len(request))
        before, byte, after = request[:at], request[at], request[at + 1:]
        request = dice.choice((before + bytes([dice.randrange(256)]) + after,
                               before,
                               before + bytes([byte ^ 1 << dice.randrange(8)]) + after,
                               request + request[at // 2:at // 2 + (len(request) - at // 2) // 2]))
    return request


def send(server, request):
    """In pieces, and sometimes hangs up, or does not read."""
    client = server.connect()
    try:
        while request:
            piece = dice.randint(1, len(request)) if one_in(5) else len(request)
            client.sendall(request[:piece])
            request = request[piece:]
        what = dice.randrange(8)
        if what == 0:
            return client.close()
        if what == 1:
            place = dice.randrange(HELD)
            if held[place]:
                held[place].close()
            held[place] = client
            return None
        if what == 2:
            client.shutdown(socket.SHUT_WR)
        client.settimeout(0.02)
        text = client.recv(4096)
    except OSError:  # it waits for more, or has closed the connection
        text = b''
    status = re.match(rb'HTTP/1.\d (\d+)', text)
    answers[status[1].decode() if status else 'none'] += 1
    assert b'root:' not in text, 'it gives away files'
    return client.close()


def drip_into_held():
    client = dice.choice(held)
    if client:
        try:
            client.send(b'X', socket.MSG_DONTWAIT)
        except OSError:
            pass


def watch(server):
    global ticks
    server.expect(200, 'GET', '/healthz')
    # A pause is a fair request.
    assert server.request('PATCH', '/api/settings', {'paused': False, 'rate_hz': 60}).status in (200, 202), 'it takes no settings'
    before, ticks = ticks, server.metric('throng_ticks_total')
    assert ticks >= before, 'ticks are lost, or metrics'


def check_end(server):
    assert comes(lambda: server.metric('throng_ticks_total') > ticks or server.metric('throng_runs_active') > 0), \
        'the crowd stands still'
    totals = (f'{what} {server.metric(f"throng_{what}_total"):.0f}' for what in ('http_connections_stalled', 'ticks_missed'))
    print(f'resident {server.metric("process_resident_memory_bytes") / 1e6:.1f} MB', *totals)
    # Once all are gone, and streams of events have noticed by writing to nobody.
    assert comes(lambda: server.metric('process_open_fds') <= 32), 'descriptors leak'
    assert server.end() and 'runtime error' not in server.said(), 'it does not end well'


def test_hostile_clients():
    signal.alarm(0)  # there may be many of them
    server = Crowd('--count 20')
    at_end.callback(lambda: print(server.said()))
    print(f'seed {seed}')
    # One that fails, and writes nevertheless: among what is damaged there may be none.
    server.begin({'kind': 'scale', 'options': {'clip': 'none'}})
    for n in range(connections):
        request = b''.join(make_request() for _ in range(dice.randint(1, 3)))
        send(server, damage(request) if one_in(2) else request)
        drip_into_held()
        if n % 200 == 0:
            watch(server)
    for client in filter(None, held):
        client.close()
    print(f'{connections} connections;', ', '.join(f'{status}: {answers[status]}' for status in sorted(answers)))
    watch(server)
    check_end(server)
    assert os.listdir() == ['.log'], 'something is left'


# ---- conversations: a request is answered as ever in whatever pieces it comes, whatever follows it ----

JSON = 'Host: localhost\r\nContent-Type: application/json\r\n'
CALM = b'{"paused": false}'
SOUND = [(f'{line} HTTP/1.1\r\n{headers}\r\n').encode() + body for line, headers, body in (
    ('GET /api/state', 'Host: localhost\r\n', b''), ('HEAD /', 'Host: localhost\r\n', b''), ('OPTIONS *', 'Host: localhost\r\n', b''),
    ('GET /metrics', 'Host: localhost\r\nRange: bytes=0-1\r\n', b''), ('GET http://localhost/healthz', 'Host: localhost\r\n', b''),
    ('DELETE /api/runs/9', 'Host: localhost\r\n', b''), ('GET /healthz', 'Host: localhost\r\nX-Folded: a\r\n b\r\n', b''),
    ('GET /healthz', JSON + 'Content-Length: 2\r\n', b'{}'), ('PATCH /api/settings', f'{JSON}Content-Length: {len(CALM)}\r\n', CALM),
    ('PATCH /api/settings', f'{JSON}Expect: 100-continue\r\nContent-Length: {len(CALM)}\r\n', CALM),
    ('PATCH /api/settings', f'{JSON}Transfer-Encoding: chunked\r\n', b'%x\r\n%b\r\n0\r\n\r\n' % (len(CALM), CALM)))]
SPOILS = [(b' HTTP/1.1', version) for version in (b' HTTP/1.1.1', b'', b' HTTP/0.9')] + [
    (b'\r\n\r\n', b'\r\n' + line + b'\r\n\r\n') for line in HEADERS] + [
    (b'Host', b'X' * 70000), (b'Host: ', b'Host '), (b'Host: ', b'Host: a\0'), (b'\r\n', b'\n'), (b'\r\n', b'\r'), (b' /', b' //'),
    (b'Length: ', b'Length: 9999999999999999999'), (b'Length: ', b'Length: +'), (b'chunked', b'chunked, chunked'),
    (b'\n11', b'\n11;' + b'x' * 9999), (b'\n11', b'\nffffffffffffffff'), (b'\n11', b'\n-1'), (b'100-', b'200-'), (b'GET', b'G\xffT')]


def converse(server, request, following=b'', spoiled=False):
    """The statuses of its answers. Of what is spoiled the server may wait for the rest, but not we."""
    stream, got, statuses = request + following, b'', []
    with server.connect() as client, contextlib.suppress(OSError):
        with contextlib.suppress(OSError):  # it may have answered before the end
            while stream:
                piece = dice.choice((1, 2, dice.randint(1, len(stream)), len(stream)))
                client.sendall(stream[:piece])
                stream = stream[piece:]
        client.settimeout(0.02 if spoiled else 600)
        while piece := client.recv(1 << 16):
            got += piece
    while b'\r\n\r\n' in got:
        status, length = (re.search(what, got.partition(b'\r\n\r\n')[0] + b'\r\n')
                          for what in (rb'^HTTP/1\.[01] (\d{3}) [ -~]*\r\n', rb'(?i)\r\nContent-Length: *(\d+)'))
        body = got.partition(b'\r\n\r\n')[2]
        assert status, f'after {statuses} no answer: {got[:200]}'
        statuses.append(int(status[1]))
        interim = status[1] == b'100'
        assert interim or spoiled or request.startswith(b'HEAD') or len(body) == int(length[1]), f'{request}: {got}'
        got = body if interim else b''
    return [status for status in statuses if status != 100]


def test_conversations():
    signal.alarm(0)
    server = Crowd('--count 20')
    at_end.callback(lambda: print(server.said()))
    print(f'seed {seed}')
    alone = {request: converse(server, request) for request in SOUND}
    assert sorted(sum(alone.values(), [])) == [200] * 8 + [400, 404, 404], alone
    for _ in range(connections // 4):
        request = dice.choice(SOUND)
        found = converse(server, request)
        assert found == alone[request], f'{found}: {request}'
        found = converse(server, request, b''.join(dice.choices(SOUND, k=3)))
        assert found in (alone[request], []), f'{found}: {request}, and others'  # it closes before it has read those
        found = converse(server, request.replace(*dice.choice(SPOILS), 1), spoiled=True)
        assert len(found) < 2, f'{found}: {request}, spoiled'
    watch(server)
    check_end(server)


main(globals())
