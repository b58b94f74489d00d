#!/usr/bin/env python3
"""`throng serve` from outside: tests in the form of program.py."""
import base64
import ctypes
import glob
import hashlib
import os
import re
import resource
import shutil
import signal
import socket
import time

from program import GOLDEN, HUMAN, Skip, check_text, command, expect, main, parse, read, read_bytes, throng, write
from serve_client import ENDLESS_RUN, SMALL_RUN, Crowd, comes

SMALL = '--model synthetic:joints=4,clips=3,keys=16,rate=15'  # made, animated and drawn in no time
EVENTS = b'GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n'
PICTURE, SMALL_PICTURE = '/api/picture.png?width=96&height=64', '/api/picture.png?width=64&height=64'


def number_at(document, path):
    """What stands at a path such as server.cpu.crowd_s."""
    for name in path.split('.'):
        document = document[int(name) if isinstance(document, list) else name]
    return float(document)


# ---- start and stop ----

def test_a_unix_socket_belongs_to_one_user_and_goes_with_the_server():
    crowd = Crowd(SMALL, listen='unix:socket')
    assert os.stat('socket').st_mode & 0o777 == 0o600
    expect(4, 'serve --listen unix:socket', 'cannot listen on unix:socket: Address already in use')
    crowd.expect(200, 'GET', '/healthz')
    crowd.end_by(signal.SIGKILL)
    assert os.path.exists('socket'), 'a killed server leaves it'
    crowd = Crowd(SMALL, listen='unix:socket')
    crowd.expect(200, 'GET', '/healthz')
    crowd.stop()
    assert not os.path.exists('socket')
    write('file', 'precious')
    expect(4, 'serve --listen unix:file', 'Address already in use')
    assert read('file') == 'precious'


# Other complaints: tests/golden/documents/messages.txt.
def test_sigint_stops_it_like_sigterm_and_sighup_does_not():
    crowd = Crowd(SMALL)
    expect(4, f'serve --listen 127.0.0.1:{crowd.address[1]}', 'Address already in use')
    expect(3, 'serve --listen 127.0.0.1:0 --count 100000 --max-memory 3', 'the limit is 3.0 MB')
    os.kill(crowd.pid, signal.SIGHUP)
    assert comes(lambda: 'SIGHUP: there is nothing to reload' in crowd.said()), crowd.said()
    assert crowd.expect(200, 'GET', '/healthz').text == 'ok\n'
    assert crowd.end_by(signal.SIGINT) == 0
    lines = crowd.said().splitlines()
    assert len(lines) >= 2
    for line in lines:
        assert re.match(r'20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ info \S', line) and line >= '2026', line


# Both signals wait while the server is stopped, so that the second one is there before the orderly end is over; SIGINT is
# the first, because its number is lower. Tried again where the orderly end wins all the same.
def test_a_second_signal_ends_it_at_once():
    for _ in range(5):
        crowd = Crowd(SMALL)
        for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM):
            os.kill(crowd.pid, number)
        if (code := crowd.end_by(signal.SIGCONT)) != 0:
            break
    assert code == 128 + signal.SIGTERM and 'ended at once' in crowd.said(), f'{code}: {crowd.said()}'


# The transitions of the human take most of a second to find. Tried again where that was over all the same.
def test_the_end_does_not_wait_for_a_crowd():
    for _ in range(5):
        crowd = Crowd('--count 10')
        crowd.change(202, behaviour='graph')
        crowd.stop()
        if 'stopped, although a crowd was being built' in crowd.said():
            return
    raise AssertionError(crowd.said())


# ---- watching ----

# None of them decreases here but memory and connections. So a value between two readings of its metric lies between them.
SAID_TWICE = (
    ('throng_ticks_total', 'ticks.total'),
    ('throng_ticks_missed_total', 'ticks.missed_total'),
    ('throng_characters_animated_total', 'ticks.characters_animated_total'),
    ('throng_crowd_clock_seconds', 'ticks.crowd_clock_s'),
    ('throng_paused', 'ticks.paused'),
    ('throng_worker_busy_seconds_total{worker="0"}', 'worker_busy_s.0'),
    ('throng_worker_busy_seconds_total{worker="1"}', 'worker_busy_s.1'),
    ('throng_characters', 'crowd.characters'),
    ('throng_characters', 'settings.count'),
    ('throng_bones', 'crowd.bones'),
    ('throng_crowd_bytes', 'crowd.bytes'),
    ('throng_threads', 'settings.threads'),
    ('throng_rate_target_hertz', 'settings.rate_hz'),
    ('throng_reconfigurations_total{result="done"}', 'reconfiguration.done'),
    ('throng_reconfigurations_total{result="failed"}', 'reconfiguration.failed'),
    ('throng_memory_budget_bytes', 'memory.budget_bytes'),
    ('throng_memory_budget_bytes', 'limits.max_memory_bytes'),
    ('throng_memory_reserved_bytes{for="models"}', 'memory.models_bytes'),
    ('throng_memory_reserved_bytes{for="crowds"}', 'memory.crowds_bytes'),
    ('throng_memory_reserved_bytes{for="pictures"}', 'memory.pictures_bytes'),
    ('throng_memory_reserved_bytes{for="runs"}', 'memory.runs_bytes'),
    ('throng_cpu_seconds_total{part="crowd"}', 'server.cpu.crowd_s'),
    ('throng_cpu_seconds_total{part="server"}', 'server.cpu.server_s'),
    ('throng_cpu_seconds_total{part="controller"}', 'server.cpu.controller_s'),
    ('throng_cpu_seconds_total{part="pictures"}', 'server.cpu.pictures_s'),
    ('process_resident_memory_bytes', 'server.resident_bytes'),
    ('throng_http_connections', 'server.connections'),
    ('throng_http_connections_stalled_total', 'server.connections_stalled'),
    ('throng_sse_clients', 'server.sse_clients'),
    ('throng_sse_events_dropped_total', 'server.sse_events_dropped'),
)

def says_so_everywhere(crowd):
    crowd.comes('/api/state', '"last_second":{')
    first = crowd.state()
    crowd.ticks_on(first['ticks']['total'])
    state = crowd.state()
    ticks = state['ticks']['total']
    assert ticks > first['ticks']['total'] and state['ticks']['crowd_clock_s'] > first['ticks']['crowd_clock_s']
    assert state['ticks']['characters_animated_total'] == 40 * ticks
    assert state['crowd']['characters'] == 40 and state['crowd']['palette_bytes'] > 40 * 48
    assert len(state['worker_busy_s']) == 2
    assert state['ticks']['last_minute']['ticks'] >= ticks, 'the first minute begins with the first tick'
    assert crowd.metric('throng_worker_busy_seconds_total{worker="0"}') > 0
    assert '"p99_s":[' in crowd.expect(200, 'GET', '/api/history?seconds=1').text


def missed_ticks_are_a_share_of_those_due(crowd):
    os.kill(crowd.pid, signal.SIGSTOP)
    time.sleep(0.05)
    os.kill(crowd.pid, signal.SIGCONT)
    assert comes(lambda: crowd.metric('throng_ticks_missed_total') > 0)
    ticks = crowd.state()['ticks']
    missed, minute = ticks['missed_total'], ticks['last_minute']
    assert abs(ticks['missed_share'] - missed / (ticks['total'] + missed)) < 1e-8, ticks
    assert minute['missed'] == missed, 'the first minute begins with the first tick'
    assert abs(minute['missed_share'] - missed / (minute['ticks'] + missed)) < 1e-8, ticks


def metrics_say_what_the_state_says(crowd):
    with crowd.connect() as reader:
        reader.sendall(EVENTS)
        crowd.change(202, count=70)
        crowd.comes('/api/state', '"sse_clients":1', '"done":1')
        crowd.change(202, clips={'wlak': 1})
        crowd.comes('/api/state', '"failed":1')
        for metric, path in SAID_TWICE:
            slack = 0.5 if '_connections' in metric or '_memory_' in metric else 1e-8
            before, value, after = crowd.metric(metric), number_at(crowd.state(), path), crowd.metric(metric)
            assert before * (1 - slack) <= value <= after * (1 + slack), \
                f'{path}: {value}, but {metric} from {before} to {after}'
    # Their number is the sum of all; two have read it before.
    requests = sum(crowd.metric('throng_http_requests_total{code="%d"}' % code) for code in (200, 202))
    assert crowd.state()['server']['requests'] == requests + 2


# A style that the policy does not name is not applied.
def the_page_has_the_nonce_of_its_policy_and_each_time_another(crowd):
    nonces = set()
    for _ in range(2):
        page = crowd.expect(200, 'GET', '/')
        nonce = re.search("style-src 'nonce-([0-9a-f]{32})'", page.head)
        assert nonce and f'<style nonce="{nonce[1]}">' in page.text, page.head
        nonces.add(nonce[1])
    assert len(nonces) == 2


def it_goes_by_every_name_it_is_given(crowd):
    for h in (1, 2, 63, 64, 65):
        status = crowd.answer(f'GET /healthz HTTP/1.1\r\nHost: h{h}\r\n\r\n'.encode()).status
        assert status == (200 if h <= 64 else 421), f'h{h}: {status}'
    # As haproxy and curl -0 ask; answers of libmicrohttpd say HTTP/1.1 to all.
    for host, wanted in ((b'', 200), (b'Host: localhost\r\n', 200), (b'Host: evil.example\r\n', 421),
                         (b'Origin: http://localhost\r\n', 403)):
        status = crowd.answer(b'GET /healthz HTTP/1.0\r\n' + host + b'\r\n').status
        assert status == wanted, f'HTTP/1.0, {host}: {status}'


def events_come_by_themselves_and_a_client_that_does_not_read_holds_nobody_up(crowd):
    with crowd.connect() as deaf, crowd.connect() as reader:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        deaf.sendall(EVENTS)
        reader.sendall(EVENTS)
        text = ''
        while text.count('\nevent: state\ndata: {') < 3:
            assert (piece := reader.recv(8192)), text
            text += piece.decode()
        for header in ('Content-Type: text/event-stream', 'Cache-Control: no-store', 'X-Accel-Buffering: no'):
            assert header in text, text
        assert comes(lambda: crowd.metric('throng_sse_clients') == 2)
        crowd.stop()  # and ends them
        while reader.recv(8192):
            pass


def test_a_crowd_that_is_watched():
    crowd = Crowd(f'--count 40 --threads 2 --rate 200 {SMALL}' + ''.join(f' --allow-host h{h}' for h in range(1, 65)))
    for look in (says_so_everywhere, missed_ticks_are_a_share_of_those_due, metrics_say_what_the_state_says,
                 the_page_has_the_nonce_of_its_policy_and_each_time_another, it_goes_by_every_name_it_is_given,
                 events_come_by_themselves_and_a_client_that_does_not_read_holds_nobody_up):
        look(crowd)


def test_models_say_what_was_repaired():
    write('bare.gltf', '{"asset": {"version": "2.0"}, "nodes": [{"name": "a", "children": [1]}, {"name": "a"}]}')
    crowd = Crowd('--model bare.gltf')
    warnings = crowd.document('/api/models')['playing'][0]['warnings']
    assert len(warnings) == 1 and 'shares its name' in warnings[0], warnings
    assert f'warning bare.gltf: {warnings[0]}\n' in crowd.said(), crowd.said()
    crowd.stop()


def test_metrics_are_as_prometheus_wants_them():
    if not shutil.which('promtool'):
        raise Skip('no promtool here (Debian: prometheus)')
    crowd = Crowd(SMALL)
    metrics = crowd.expect(200, 'GET', '/metrics')
    assert '\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n' in metrics.head, metrics.head
    judged = command('promtool', 'check', 'metrics', input=metrics.text)
    assert judged == (0, '', ''), judged
    crowd.stop()


# ---- steering ----

def settings_change_while_it_runs(crowd):
    crowd.change(202, count=70, interpolation='slerp')
    crowd.comes('/api/settings', '"count":70', '"interpolation":"slerp"')
    assert crowd.metric('throng_characters') == 70
    assert crowd.metric('throng_reconfigurations_total{result="done"}') == 1
    crowd.change(200, rate_hz=120)
    assert crowd.metric('throng_rate_target_hertz') == 120
    crowd.change(202, clips={'walk': 2, 'run': 1})
    crowd.comes('/api/settings', '"walk":2.0')


def a_change_that_cannot_be_made_leaves_the_crowd_and_its_reason(crowd):
    for settings, why in (({'clips': {'wlak': 1}}, 'no clip \\"wlak\\"; did you mean \\"walk\\"?'),
                          ({'models': ['broken.glb']}, 'broken.glb: '),
                          ({'count': 50000}, 'the limit is 30.0 MB')):
        crowd.change(202, **settings)
        crowd.comes('/api/state', why)
    crowd.comes('/api/state', '"count":70,', '"models":["human"]', '"clips":{"walk":2.0,"run":1.0}')
    assert crowd.metric('throng_reconfigurations_total{result="failed"}') == 3
    crowd.ticks_on()


# Most of it is compiling, of which some shows before the end, unless nobody got to look.
def cpu_time_of_a_change_counts_while_it_is_made(crowd):
    def look():
        state = crowd.state()
        return state['reconfiguration']['state'] == 'building', state['server']['cpu']['controller_s']

    for i in range(40):
        (_, before), seen = look(), []
        crowd.change(202, interpolation='slerp' if i % 2 else 'nlerp')
        while (now := look())[0]:
            seen.append(now[1])
        took = now[1] - before
        if any(before + 0.2 * took < cpu_s < before + 0.6 * took for cpu_s in seen):
            return
    raise AssertionError('nobody saw it half way')


def a_pause_stops_the_ticks_until_it_ends(crowd):
    crowd.change(200, rate_hz=0)
    crowd.pause()
    ticks, clock_s = crowd.metric('throng_ticks_total'), crowd.metric('throng_crowd_clock_seconds')
    time.sleep(0.3)
    assert crowd.metric('throng_ticks_total') == ticks
    end_s = time.monotonic()
    crowd.change(200, paused=False)
    crowd.comes('/metrics', '\nthrong_paused 0\n')
    passed_s, since_s = crowd.metric('throng_crowd_clock_seconds') - clock_s, time.monotonic() - end_s
    assert passed_s < since_s + 0.1, f"{passed_s} s of {since_s} s: the crowd's clock stood still"


def a_model_that_plays_may_lose_its_file(crowd):
    crowd.change(202, models=['hero.glb'], clips={})
    crowd.comes('/api/state', '"models":["hero.glb"]', '"state":"idle","requested":null,')
    os.unlink('hero.glb')
    crowd.change(200, paused=True)
    crowd.change(202, count=20)
    crowd.comes('/api/settings', '"count":20')
    crowd.change(400, models=['hero.glb'])


def test_a_crowd_that_is_steered():
    write('broken.glb', 'glTF, or so it says')
    assert command(HUMAN, 'synthetic:joints=4', 'hero.glb').code == 0
    crowd = Crowd('--count 40 --threads 1 --model . --max-memory 30')
    for steer in (settings_change_while_it_runs, a_change_that_cannot_be_made_leaves_the_crowd_and_its_reason,
                  cpu_time_of_a_change_counts_while_it_is_made, a_pause_stops_the_ticks_until_it_ends,
                  a_model_that_plays_may_lose_its_file):
        steer(crowd)
    crowd.stop()


# ---- refusing ----

def send(crowd, line):
    """METHOD PATH | HEADER | ... < BODY. A body is JSON of its length unless headers say otherwise: spaces fill it up, and
    chunks have line ends as C writes them."""
    line, has_body, body = line.partition(' < ')
    first, *headers = line.split(' | ')
    names = [header.partition(':')[0] for header in headers]
    body = body.replace('\\r\\n', '\r\n')
    size = len(body)
    if 'Content-Length' in names:
        size = int('0' + re.match(r'\d*', headers[names.index('Content-Length')][len('Content-Length: '):])[0])
    elif has_body and 'Transfer-Encoding' not in names:
        headers = [f'Content-Length: {size}', *headers]
    if has_body and 'Content-Type' not in names:
        headers = ['Content-Type: application/json', *headers]
    if 'Host' not in names:
        headers = ['Host: localhost', *headers]
    return crowd.answer('\r\n'.join([f'{first} HTTP/1.1', *headers, '', body.ljust(size)]).encode())


# What browsers obey.
HEADERS = ('X-Content-Type-Options: nosniff\r\n', 'X-Frame-Options: DENY\r\n', 'Referrer-Policy: no-referrer\r\n',
           "Content-Security-Policy: default-src 'none'; ", 'Cache-Control: no-store\r\n')


def test_requests_are_answered_as_stored():
    """Every request of the document is sent, its headings are kept. What is refused changes nothing."""
    crowd, settings, misdirected, printed = None, None, 0, ''

    def end():
        assert not misdirected or crowd.metric('throng_http_requests_total{code="421"}') == misdirected
        crowd.stop()

    write('token', 'correct-horse-battery\n')
    os.chmod('token', 0o600)
    for line in read(f'{GOLDEN}/requests.txt').splitlines(keepends=True):
        if ' =>' not in line:
            assert not crowd or crowd.request('GET', '/api/settings').text == settings, printed
            if line.startswith('serve '):
                if crowd:
                    end()
                crowd, misdirected = Crowd(line[len('serve '):]), 0
                settings = crowd.request('GET', '/api/settings').text
            printed += line
            continue
        line = line.partition(' =>')[0]
        answer = send(crowd, line)
        for header in HEADERS:
            assert f'\r\n{header}' in answer.head, f'{line}: no {header} in {answer.head}'
        assert 'Access-Control-Allow' not in answer.head, f'{line}: {answer.head}'
        printed += f'{line} => {answer.status}'
        misdirected += answer.status == 421
        if answer.status >= 400:
            if answer.text.startswith('{"error"'):
                error = parse(answer.text)['error']
                printed += f': {error["code"]}, {error["message"]}'
        printed += ''.join(f'; {told}' for told in re.findall(r'\r\n((?:Allow|WWW-Authenticate): [^\r]*)', answer.head))
        printed += '\n'
    end()
    assert 'chmod 600' not in crowd.said(), crowd.said()
    check_text(f'{GOLDEN}/requests.txt', printed)


# ---- runs ----

def test_no_run_outlives_the_server_however_that_ends():
    assert command(HUMAN, 'synthetic:joints=4', 'attached.glb').code == 0
    run = dict(ENDLESS_RUN, options={**ENDLESS_RUN['options'], 'models': [SMALL.split()[1]]})  # whose joints those are
    for number, code in ((signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)):
        crowd = Crowd(f'--animation ./attached.glb --import-timeout 7.5 {SMALL}')
        crowd.begin(run)
        child = crowd.child()
        assert comes(lambda: '\0stress\0' in read(f'/proc/{child}/cmdline')), 'it is about to become that'
        words = read(f'/proc/{child}/cmdline').split('\0')
        assert '--animation=./attached.glb' in words and '--import-timeout=7.5' in words, f'other models: {words}'
        assert crowd.end_by(number) == code
        assert comes(lambda: not os.path.exists(f'/proc/{child}')), number


def a_run_holds_the_crowd_and_tells_its_progress(crowd):
    crowd.change(200, paused=True)
    crowd.comes('/api/state', '"paused_by":"settings"')
    crowd.begin({'kind': 'scale', 'options': {'count': 20, 'threads': '1', 'repetitions': 1000, 'frames': 500}})
    crowd.comes('/api/state', '"paused_by":"run"')
    crowd.refuse(404, 'GET', '/api/runs/1/report', 'no_report')
    crowd.refuse(409, 'POST', '/api/runs', 'busy', SMALL_RUN)
    assert 'a measuring run is using the CPUs' in crowd.refuse(503, 'GET', PICTURE, 'no_picture')
    crowd.comes('/api/runs/1', ' repetition')
    progress = crowd.document('/api/runs/1')['progress']
    assert 0 < progress < 0.9, f'{progress} of 1000 repetitions'
    assert glob.glob('throng-run-*'), 'it writes there'
    crowd.expect(202, 'DELETE', '/api/runs/1')
    crowd.comes('/api/runs', '"state":"cancelled"')
    crowd.comes('/api/state', '"paused_by":"settings"')
    crowd.change(200, paused=False)
    crowd.comes('/api/state', '"paused_by":null')


def a_run_that_is_killed_leaves_nothing_and_names_nothing(crowd, run, folder):
    """It lets the crowd be. run: its number."""
    there = set(glob.glob('results/*'))  # before it writes anything
    crowd.begin(dict(ENDLESS_RUN, pause=False))
    state = crowd.expect(200, 'GET', '/api/state').text
    assert '"paused_by":null' in state and f'"run":{{"id":{run}' in state, state
    child = crowd.child()
    boot = read('/proc/sys/kernel/random/boot_id')[:8]
    write(f'{glob.glob(folder)[0]}/throng.{child}-0.{boot}.tmp', '')
    os.kill(child, signal.SIGKILL)
    crowd.comes(f'/api/runs/{run}', '"state":"failed"', 'ended by signal 9', '"file":null')
    assert not glob.glob('throng-run-*') and set(glob.glob('results/*')) == there


def a_run_that_nothing_is_left_for_can_be_asked_for_again(crowd):
    with crowd.connect() as client:
        crowd.expect(200, 'GET', '/healthz')  # so the other connection is accepted, too
        soft, hard = resource.prlimit(crowd.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(crowd.pid, resource.RLIMIT_NOFILE, (3, hard))
        client.sendall(b'POST /api/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n'
                       b'Content-Type: application/json\r\nContent-Length: 17\r\n\r\n{"kind": "scale"}')
        text = b''
        while piece := client.recv(4096):
            text += piece
    assert text.startswith(b'HTTP/1.1 503 ') and b'"cannot_start"' in text, text
    resource.prlimit(crowd.pid, resource.RLIMIT_NOFILE, (soft, hard))


def a_report_is_a_page_without_rights_that_leaves_no_file_behind(crowd):
    crowd.begin(SMALL_RUN)
    assert '"report_bytes":0' not in crowd.comes('/api/runs/4', '"state":"done"', '"progress_text":null')
    assert not glob.glob('throng-run-*'), 'nothing stays'
    page = crowd.expect(200, 'GET', '/api/runs/4/report')
    assert page.text.startswith('<!DOCTYPE html>') and '\r\nContent-Type: text/html; charset=utf-8\r\n' in page.head
    script = re.search(rb'<script>(.*?)</script>', page.body, re.S)[1]
    source = f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"
    policy = (f"\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src {source}; "
              "img-src data:; sandbox allow-scripts; frame-ancestors 'none'\r\n")
    assert source in page.text and policy in page.head, page.head


# Ends of children are ignored, as a shell with trap '' CHLD leaves them.
def test_runs():
    crowd = Crowd(SMALL, starter=('env', '--ignore-signal=CHLD'))
    a_run_holds_the_crowd_and_tells_its_progress(crowd)
    a_run_that_is_killed_leaves_nothing_and_names_nothing(crowd, 2, 'throng-run-*')
    crowd.begin({'kind': 'scale', 'options': {'clip': 'wlak'}})
    crowd.comes('/api/runs/3', '"state":"failed"', '"exit_code":2', 'did you mean \\"walk\\"?')
    a_run_that_nothing_is_left_for_can_be_asked_for_again(crowd)
    a_report_is_a_page_without_rights_that_leaves_no_file_behind(crowd)
    crowd.stop()


# ---- results ----

def write_results_of_an_earlier_life():
    context = '{"context": {"throng_schema_version": 1%s}, "benchmarks": []}\n'
    whole, partial = context % '', context % ', "partial": true'
    write('results/stress-20260201T000000Z-1.json', whole)
    write('results/scale-20260131T120000Z-30.json', partial)
    write('results/scale-20260202T000000Z-2.json', '{"bench')
    write('results/scale-20260202T000000Z-3.json', '[]')
    write('results/scale-20260202T000000Z-4.json', whole[:-2])
    write('results/scale-20260202T000000Z-5.json', '{"benchmarks": [' + '{},' * 8000000 + '{}]}')  # 2 GB in memory
    os.mkdir('results/scale-20260203T000000Z-1.json')
    os.symlink('stress-20260201T000000Z-1.json', 'results/scale-20260204T000000Z-1.json')
    os.mkfifo('results/scale-20260205T000000Z-1.json')
    for other in ('scale-20260203T000000Z-01.json', 'scale-20260203T000000Z-1.json.tmp', 'serve-20260203T000000Z-1.json',
                  'scale-20260203T00000Z-1.json', 'scale-20260203T000000Z--1.json', 'scale-20260203T000000Z-1 .json',
                  'x-scale-20260203T000000Z-1.json', 'scale.json'):
        write(f'results/{other}', whole)
    return partial


def test_results_of_an_earlier_life_are_runs_as_well():
    os.mkdir('results')
    partial = write_results_of_an_earlier_life()
    there = len(os.listdir('results'))
    crowd = Crowd(f'--results results {SMALL}')
    new, old = crowd.document('/api/runs')['runs']
    assert new['file'] == 'stress-20260201T000000Z-1.json' and new['state'] == 'done', new
    assert old['started'] == '2026-01-31T12:00:00Z' and old['restored'] and old['state'] == 'cancelled', old
    assert crowd.expect(200, 'GET', '/api/runs/1/result').text == partial
    crowd.refuse(409, 'DELETE', '/api/runs/1', 'run_ended')
    assert crowd.said().count(' is ignored: ') == 7, crowd.said()
    assert int(re.search(r'VmHWM:\s+(\d+)', read(f'/proc/{crowd.pid}/status'))[1]) < 500000, 'kB, also with a sanitizer'
    a_run_that_is_killed_leaves_nothing_and_names_nothing(crowd, 3, 'results')
    run = crowd.expect(202, 'POST', '/api/runs', SMALL_RUN).text
    assert '"id":4,' in run and '"restored":false' in run, run
    crowd.comes('/api/runs/4', '"state":"done"', '"progress":1.0', '"exit_code":0')
    assert 'context' in crowd.document('/api/runs/4/result'), "it is the command's document"
    assert len(os.listdir('results')) == there + 2
    assert crowd.metric('throng_runs_total{result="done"}') == 1
    crowd.refuse(409, 'DELETE', '/api/runs/4', 'run_ended')
    crowd.stop()
    crowd = Crowd(f'--results results {SMALL}')
    assert crowd.expect(200, 'GET', '/api/runs/3/report').text.startswith('<!DOCTYPE html>')
    crowd.stop()


def test_of_many_results_the_newest_are_runs():
    os.mkdir('results')
    for number in range(1, 29):
        write(f'results/scale-202601{number % 14 + 1:02}T120000Z-{number}.json', '{"context": {"throng_schema_version": 1}}')
    crowd = Crowd(f'--results results {SMALL}')
    runs = crowd.document('/api/runs')['runs']
    assert [run['file'] for run in runs] == [
        f'scale-202601{14 - i // 2:02}T120000Z-{27 - i // 2 - i % 2 * 14}.json' for i in range(15)]
    crowd.stop()


# ---- pictures ----

# Of another size each time: one of the same is the last one again, so long as it rests. The first one byte by byte: the
# process has the seed and the instances of the crowd.
def show_what_the_crowd_does(crowd, behaviour):
    assert comes(lambda: crowd.metric('throng_crowd_clock_seconds') >= 1)
    crowd.pause()
    clock_s = crowd.metric('throng_crowd_clock_seconds')
    first = crowd.picture(PICTURE)
    command = f'render --count 5 {behaviour} --size 96x64 --shadow 1024 --start {clock_s:.12g} --out picture.png'
    done = throng(command)
    assert done.code == 0, done.err
    assert read_bytes('picture.png') == first
    street = crowd.picture(PICTURE + '&scene=street')
    assert throng(f'{command} --scene street').code == 0
    assert read_bytes('picture.png') == street != first
    second = crowd.picture(SMALL_PICTURE)
    assert crowd.picture(PICTURE) == first, 'nothing moves in a pause'
    return second


def cost_one_answer_where_their_process_crashes(crowd):
    child = crowd.child()
    files = [int(fd) for fd in os.listdir(f'/proc/{child}/fd')]
    assert sum(fd > 2 for fd in files) <= 8, f'{files}: those of the driver alone'
    os.kill(child, signal.SIGABRT)  # as an assert does; sanitizers handle others
    path = '/api/picture.png?width=80&height=64'
    crowd.comes(path, 'the picture process ended with signal 6')
    assert comes(lambda: crowd.request('GET', path).status == 200), 'no picture again'
    assert crowd.said().count('no picture: ') == 1, crowd.said()


def show_what_changes(crowd, before):
    crowd.change(202, behaviour='blend', clips={'clip_1': 1})
    crowd.comes('/api/settings', '"clip_1":1.0')
    assert crowd.picture(SMALL_PICTURE) != before, 'they play another clip now'
    # 200: a blend needs no other crowd. The picture's process gets what is carried on.
    crowd.change(200, paused=False, pace=2.5)
    crowd.comes('/api/settings', '"pace":2.5')
    crowd.change(200, clips={'clip_0': 2, 'clip_1': 1})
    assert crowd.metric('throng_reconfigurations_total{result="done"}') == 1
    crowd.picture(PICTURE)
    assert crowd.metric('throng_cpu_seconds_total{part="pictures"}') > 0


def all_who_wait_get_it_and_the_end_waits_for_none(crowd):
    def ask(path):
        client = crowd.connect()
        client.sendall(f'GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n'.encode())
        return client

    clients = [ask(SMALL_PICTURE) for _ in range(20)]
    clients.pop(0).close()  # has gone before there is one
    for client in clients:
        with client:
            assert (begin := client.recv(13, socket.MSG_WAITALL)) in (b'HTTP/1.1 200 ', b'HTTP/1.1 503 '), begin
    with ask(PICTURE) as client:
        crowd.expect(200, 'GET', '/healthz')  # so the other request is read, too
        crowd.stop()
        assert (begin := client.recv(15, socket.MSG_WAITALL)) == b'HTTP/1.1 503 Se', begin


def test_pictures():
    behaviour = f'{SMALL} --behaviour graph'
    crowd = Crowd(f'--count 5 --rate 200 --threads 1 {behaviour}')
    before = show_what_the_crowd_does(crowd, behaviour)
    cost_one_answer_where_their_process_crashes(crowd)
    show_what_changes(crowd, before)
    all_who_wait_get_it_and_the_end_waits_for_none(crowd)


def test_without_a_picture_it_says_why():
    os.environ['__EGL_VENDOR_LIBRARY_DIRS'] = '/nowhere'
    crowd = Crowd(SMALL)
    assert 'EGL' in crowd.refuse(503, 'GET', PICTURE, 'no_picture')
    crowd.stop()


# Which a driver would not survive, and the server with it.
def test_where_memory_cannot_become_code_there_is_no_picture():
    pr_set_mdwe = 65
    if ctypes.CDLL(None).prctl(pr_set_mdwe, 1, 0, 0, 0) != 0:
        raise Skip('this kernel cannot forbid it')
    crowd = Crowd(SMALL)
    assert 'MemoryDenyWriteExecute' in crowd.refuse(503, 'GET', PICTURE, 'no_picture')
    crowd.stop()


main(globals())
