#!/usr/bin/env python3
"""Stops `throng serve` at random moments: while it starts, builds a crowd, draws a picture, runs a measurement. A test
in the form of program.py.

Each time the server must end, with exit code 0 once it handles signals, and leave nothing behind: no process, no
temporary file or folder, no socket, and no result that is not whole. Prints how long it took. THRONG_STOPS, THRONG_SEED: another number of them, and another seed."""
import json
import os
import random
import shutil
import signal
import tempfile
import threading
import time

from program import HUMAN, PROGRAM, command, main
from serve_client import NIGHTLY, Server, comes

STOPS, SEED = int(os.environ.get('THRONG_STOPS', 20 if NIGHTLY else 5)), int(os.environ.get('THRONG_SEED', 1))
HEAVY = 'heavy.glb'  # takes a while to read and to compile
RUNS = ['{"kind": "scale", "options": {"count": 20, "threads": "1", "repetitions": 5, "frames": 2}}',
        '{"kind": "scale", "pause": false, "options": {"repetitions": 1000, "frames": 10000}}',
        '{"kind": "stress", "options": {"frames": 100, "budget_ms": 1}}']


def load(server, dice, stopping):
    """A few clients who want everything at once, until the server goes away."""
    def client(requests):
        while not stopping.is_set():
            try:
                server.request(*dice.choice(requests))
            except OSError:
                time.sleep(0.01)

    changes = [('PATCH', '/api/settings', json.dumps({'count': dice.randint(1, 5000)})) for _ in range(4)]
    changes += [('PATCH', '/api/settings', json.dumps({'models': [m]})) for m in ('human', HEAVY)]
    runs = [('POST', '/api/runs', r) for r in RUNS] + [('DELETE', '/api/runs/1')]
    pictures = [('GET', f'/api/picture.png?width={w}') for w in (64, 200, 640)]
    watching = [('GET', '/metrics'), ('GET', '/api/state'), ('GET', '/api/history'), ('GET', '/api/runs/1/report')]
    return [threading.Thread(target=client, args=(r,), daemon=True) for r in (changes, runs, pictures, watching)]


def check_results(folder):
    """Files of results are whole, and there is nothing else. Returns how many are partial."""
    partial = 0
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.endswith('.json'):
            with open(path, encoding='utf-8') as file:
                partial += json.load(file)['context']['partial']
        elif name.endswith('.html'):
            with open(path, encoding='utf-8') as file:
                assert '</html>' in file.read()[-100:], f'{name} is cut'
        else:
            raise AssertionError(f'results/{name} is left')
    return partial


def stop_once(models, seed):
    """(seconds that the stop took, what it was, partial results)."""
    dice = random.Random(seed)
    folder = tempfile.mkdtemp(prefix='throng-stop-')
    arguments = ['--count', '200', '--model', models, '--import-timeout', '100']
    if dice.random() < 0.1:
        arguments += ['--model', os.path.join(models, HEAVY)]
    if dice.random() < 0.6:
        os.mkdir(os.path.join(folder, 'results'))
        arguments += ['--results', 'results']
    server = Server(PROGRAM, folder, *arguments, listen=dice.choice(['127.0.0.1:0', 'unix:socket']))
    stopping = threading.Event()
    ready = threading.Event()

    def follow():
        if server.wait_ready():
            ready.set()
            for thread in load(server, dice, stopping):
                thread.start()

    threading.Thread(target=follow, daemon=True).start()
    try:
        if dice.random() < 0.7:
            ready.wait(60)
        time.sleep(dice.uniform(0, dice.choice([0.3, 1, 3])))
        was_ready, number = ready.is_set(), dice.choice([signal.SIGTERM, signal.SIGINT])
        begin = time.monotonic()
        server.process.send_signal(number)
        code = server.process.wait(300)
        took = time.monotonic() - begin
        stopping.set()
        assert code == 0 or (code == -number and not was_ready), f'exit code {code}: {server.said()}'
        assert 'Sanitizer' not in server.said(), server.said()
        assert comes(lambda: not server.family()), f'processes {server.family()} are left'
        left = set(os.listdir(folder)) - {'.log', 'results'}
        assert not left, f'{left} are left'
        partial = check_results(os.path.join(folder, 'results')) if '--results' in arguments else 0
        return took, 'ready' if was_ready else 'starting', partial
    finally:
        server.process.kill()
        shutil.rmtree(folder)


def test_leaves_nothing_behind():
    took, models = [], os.path.abspath('models')
    os.mkdir(models)
    assert command(HUMAN, 'synthetic:joints=200,clips=2,keys=300', os.path.join(models, HEAVY)).code == 0
    for seed in range(SEED, SEED + STOPS):
        try:
            took.append(stop_once(models, seed))
        except Exception as why:  # pylint: disable=broad-except
            print(f'seed {seed}: {type(why).__name__}: {why}', flush=True)
    seconds = sorted(t[0] for t in took) or [0]
    starting = sum(t[1] == 'starting' for t in took)
    print(f'{len(took)} of {STOPS} stops, {starting} of them before it was ready; partial results: '
          f'{sum(t[2] for t in took)}; seconds: median {seconds[len(seconds) // 2]:.3f}, '
          f'p99 {seconds[len(seconds) * 99 // 100]:.3f}, longest {seconds[-1]:.3f}')
    assert len(took) == STOPS


main(globals())
