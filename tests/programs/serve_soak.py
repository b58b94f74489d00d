#!/usr/bin/env python3
"""A long life of `throng serve` in a short time: the ticks of eight hours at 30 a second, as fast as the rates of the steps
allow, while settings, runs, pictures and clients change. A test in the form of program.py.

A step has EACH ticks or more, and what the nth does is drawn from the seed and n. After it, in a pause, all that the server
says of its ticks must agree, also with what it said before. After a round of them, back at the first settings and with
nobody there, it must have what it had: memory, descriptors, threads, processes, and a history that lacks nothing.
THRONG_SOAK_TICKS=864000 is the whole of it; THRONG_SEED: another seed."""
import collections
import os
import random
import re
import signal
import socket
import struct

from program import HUMAN, PROGRAM, at_end, command, main, parse, read_bytes, write
from serve_client import ENDLESS_RUN, NIGHTLY, SMALL_RUN, Crowd, answer_of, comes

EACH = 1000
STEPS = int(os.environ.get('THRONG_SOAK_TICKS', 60000 if NIGHTLY else 6000)) // EACH
SEED = int(os.environ.get('THRONG_SEED', 1))
IS_LONG = STEPS >= 60
ROUND = 30 if IS_LONG else 3
REST = {'count': 40, 'threads': 1, 'clips': {}, 'interpolation': 'authored', 'behaviour': 'none', 'pace': 0}
SETTINGS = {'count': (1, 40, 400, 4000, 900000), 'threads': (1, 2), 'rate_hz': (0, 250, 1000), 'pace': (0, 1, 2.5),
            'models': (['four.glb'], ['eight.glb'], ['eight.glb', 'four.glb'], ['broken.glb']),
            'clips': ({}, {'clip_0': 1}, {'clip_1': 2, 'clip_2': 1}, {'none': 1}),
            'interpolation': ('authored', 'step', 'nlerp', 'slerp', 'cubic'), 'behaviour': ('none', 'fade', 'graph', 'blend')}
PATHS = ('/', '/metrics', '/api/state', '/api/history', '/api/models', '/api/runs', '/api/events', '/api/picture.png?width=80')
TICKS = 'throng_ticks_total'
COUNTED = {'ticks': 'total', 'missed': 'missed_total', 'characters_animated': 'characters_animated_total'}  # in history and state
IS_SANITIZED = any(mark in read_bytes(PROGRAM) for mark in (b'__asan_init', b'__tsan_init'))


class Soak(Crowd):
    def __init__(self):
        super().__init__('--rate 1000 --threads 1 --count 40 --max-memory 100 --model .')
        self.held, self.events, self.shown = [], [], []  # clients: with half a request, of events, who wait for a picture
        self.rate = 0  # of the whole of the step; 0: not known
        self.rests, self.done, self.most = [], collections.Counter(), collections.Counter()  # most: of metrics, in any pause
        self.pause()
        self.counters, self.before = collections.Counter(), self.state()  # the last of each

    def patch(self, **settings):
        self.done['changes of settings'] += 1
        answer = self.request('PATCH', '/api/settings', settings)
        assert answer.status in (200, 202), f'{settings}: {answer.text}'

    def set_some(self, dice):
        names = dice.sample(sorted(SETTINGS), dice.choice((1, 2, 4)))
        self.rate = 0 if 'rate_hz' in names else self.rate
        for name in names:
            self.patch(**{name: dice.choice(SETTINGS[name])})

    def run(self, dice):
        run, pause, self.rate = dice.choice((SMALL_RUN, ENDLESS_RUN)), dice.random() < 0.5, 0
        answer = self.request('POST', '/api/runs', dict(run, pause=pause))
        assert answer.status in (202, 409), answer.text
        self.done['runs'] += answer.status == 202
        if answer.status == 202 and pause and run is ENDLESS_RUN:
            self.cancel()

    def cancel(self, _dice=None):
        if run := self.state()['run']:
            assert self.request('DELETE', f'/api/runs/{run["id"]}').status in (202, 409)
            self.rate = 0

    def ask(self, path, end='\r\n'):
        client = self.connect()
        client.sendall(f'GET {path} HTTP/1.1\r\nHost: localhost\r\n{end}'.encode())
        self.done['clients'] += 1
        return client

    def show(self, dice):
        self.shown.append(self.ask(f'/api/picture.png?width={dice.choice((64, 128))}&scene={dice.choice(("grid", "street"))}'))

    def vanish(self, dice):
        for _ in range(4):
            client = self.ask(dice.choice(PATHS), dice.choice(('\r\n', 'X: ')))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('2i', dice.random() < 0.5, 0))  # 1: a reset
            client.close()

    def stay(self, _dice):
        self.held.append(self.ask('/api/state', 'X: '))
        self.events += [self.ask('/api/events'), self.ask('/api/events')]

    def step(self, n):
        dice = random.Random(f'{SEED} {n}')
        self.comes('/api/state', '"paused_by":"settings"')  # and by no run
        self.rate = dice.choice((0, 1000, 1000))
        ticks = self.metric(TICKS)
        self.patch(rate_hz=self.rate, paused=False)
        actions = (self.set_some, self.set_some, self.run, self.cancel, self.vanish, self.stay, self.stay, self.show)
        for _ in range(2):
            dice.choice(actions[:None if IS_LONG else -1])(dice)
        self.ticks_on(ticks + EACH - 1)

    def read_metrics(self):
        """By name; without labels: the sum of all that have some."""
        text = self.expect(200, 'GET', '/metrics').text
        kinds = dict(re.findall(r'^# TYPE (\S+) (\S+)$', text, re.M))
        metrics = collections.Counter()
        for name, labels, value in re.findall(r'^([^#{ ]+)(.*) (\S+)$', text, re.M):
            metrics.update({name: float(value), name + labels: float(value)})
            if kinds.get(name) != 'gauge':
                assert float(value) >= self.counters[name + labels], f'{name}{labels} goes back to {value}'
                self.counters[name + labels] = float(value)
        return metrics

    def look(self):
        """A pause, and what the server says once it is one."""
        self.patch(paused=True)
        before, now = {}, self.read_metrics()
        while not now['throng_paused'] or before.get(TICKS) != now[TICKS]:
            before, state, now = self.read_metrics(), self.state(), self.read_metrics()
        ticks = [state['ticks'][name] for name in COUNTED.values()]
        for name in ('duration', 'start_delay'):
            buckets = [value for bucket, value in now.items() if bucket.startswith(f'throng_tick_{name}_seconds_bucket{{')]
            assert buckets == sorted(buckets) and buckets[-1] == now[f'throng_tick_{name}_seconds_count'] == ticks[0], (name, now)
        assert [now[TICKS], now['throng_ticks_missed_total'], now['throng_characters_animated_total']] == ticks, (ticks, now)
        assert state['crowd']['characters'] == state['settings']['count'], state
        assert now['throng_runs_total'] + now['throng_runs_active'] == self.done['runs'], (now, self.done)
        assert now['throng_memory_reserved_bytes'] <= now['throng_memory_budget_bytes'], now
        requests = [metrics['throng_http_requests_total'] for metrics in (before, now)]
        assert requests[0] <= state['server']['requests'] <= requests[1], (requests, state)
        self.follow(self.before, state)
        self.before = state
        self.most |= {name: now[f'process_{name}'] for name in ('open_fds', 'threads', 'resident_memory_bytes')}

    def follow(self, before, now):
        """Each period of the step had its tick or missed it, and each tick had all characters."""
        ticks, missed, characters, clock_s = (now['ticks'][name] - before['ticks'][name]
                                              for name in (*COUNTED.values(), 'crowd_clock_s'))
        if self.rate:  # the first tick after a pause stands for no time yet, and what the last one missed comes after it
            least_s, most_s = (ticks - 1) / self.rate, (ticks - 1 + missed) / self.rate
            assert least_s - 1e-4 < clock_s < most_s + 1e-4, f'{ticks} ticks, {missed} missed, {clock_s} s at {self.rate}'
            self.done['steps at one rate'] += 1
        if before['reconfiguration'] == now['reconfiguration'] and now['reconfiguration']['state'] == 'idle':
            assert characters == ticks * now['settings']['count'], f'{characters} in {ticks} ticks: {now}'
            self.done['steps of one crowd'] += 1

    def has_history(self):
        """Whether it has all ticks by now, as it must in the first hour. Its seconds follow each other without a gap."""
        history, ticks = self.document('/api/history?seconds=3600'), self.state()['ticks']
        ends_s, spans_s = history['time_s'], history['duration_s']
        assert all(abs(begin - end + span) < 1e-4 for begin, end, span in zip(ends_s, ends_s[1:], spans_s[1:])), history
        missing = [ticks[total] - sum(history[name]) for name, total in COUNTED.items()]
        assert min(missing) >= 0, f'{missing}: the history has more than {ticks}'
        return max(missing) == 0 or len(ends_s) >= 3599

    def has(self):
        """(what must be what it was, resident bytes). The last 16 runs have their documents and reports open."""
        state, runs = self.state(), self.document('/api/runs')['runs']
        files = min(len(os.listdir(f'/proc/{self.pid}/fd')) for _ in range(100))  # once our connection has gone
        files -= len(runs) + sum(run['report_bytes'] > 0 for run in runs)
        return {**state['memory'], 'crowd': state['crowd']['bytes'], 'files': files,
                'threads': len(os.listdir(f'/proc/{self.pid}/task')),
                'processes': len(command('pgrep', '-P', str(self.pid)).out.split())}, state['server']['resident_bytes']

    def rest(self):
        self.cancel()
        self.comes('/api/state', '"run":null')
        for client in self.shown:
            status = answer_of(client.makefile('rb').read()).status
            assert status in (200, 503), status
            self.done[f'pictures: {status}'] += 1
        for client in self.events:
            told = [(int(number), parse(state)['ticks']['total'])
                    for number, state in re.findall(rb'\nid: (\d+)\nevent: state\ndata: (.*)\n(?=\n)', client.recv(1 << 22))]
            assert all(a[0] < b[0] and a[1] <= b[1] for a, b in zip(told, told[1:])), told
            self.done['events'] += len(told)
        for client in self.held + self.shown + self.events:
            client.close()
        self.held, self.shown, self.events = [], [], []
        for model in ('eight.glb', 'four.glb'):  # the last one anew
            self.patch(**REST, models=[model])
            self.comes('/api/state', '"reconfiguration":{"state":"idle"', f'"models":["{model}"]')
        comes(lambda: not IS_LONG or '"too_slow"' not in self.request('GET', '/api/picture.png?width=96').text)
        assert comes(self.has_history), 'ticks are not in the history'
        first = self.rests[0] if self.rests else min((self.has() for _ in range(20)), key=lambda has: has[0]['files'])
        assert (has := comes(lambda: (has := self.has())[0] == first[0] and has, 60)), f'it has {self.has()}, and had {first}'
        self.rests.append(has)
        assert IS_SANITIZED or has[1] - self.rests[:2][-1][1] < 4 << 20, f'more and more than after the first round: {self.rests}'


def test_eight_hours_in_a_short_time():
    signal.alarm(0)
    for joints, name in ((4, 'four.glb'), (8, 'eight.glb')):
        assert command(HUMAN, f'synthetic:joints={joints},clips=3,keys=16', name).code == 0
    write('broken.glb', 'glTF, or so it says')
    soak = Soak()
    at_end.callback(lambda: print(soak.said()[-4000:]))
    soak.rest()
    for n in range(1, STEPS + 1):
        soak.step(n)
        soak.look()
        if n % ROUND == 0:
            soak.rest()
    resident = [has[1] / 1e6 for has in soak.rests[1:]]
    print(f'seed {SEED}: {soak.before["ticks"]["total"]} ticks in {soak.before["server"]["uptime_s"]:.0f} s; {dict(soak.done)};',
          f'{len(soak.rests)} rests with {soak.rests[0][0]}, resident {resident[0]}, at most {max(resident)}, at last {resident[-1]} MB;',
          f'at any time at most {dict(soak.most)}')
    assert not IS_LONG or soak.done['steps at one rate'] and soak.done['steps of one crowd'], soak.done
    soak.stop()
    assert sorted(os.listdir()) == ['.log', 'broken.glb', 'eight.glb', 'four.glb'], 'something is left'


main(globals())
