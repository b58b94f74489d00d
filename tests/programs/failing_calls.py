#!/usr/bin/env python3
"""failing_calls.py THRONG FAIL_CALL [WORD...]: calls of the system that fail, transfer fewer bytes or are interrupted, one
in each run, at each place in turn that makes one (fail_call.c). Whichever it is, the program ends by itself, with an exit
code of its own and a word on what is wrong, or as if nothing had been; files are whole; fewer bytes and interruptions change
nothing. Then what else is taken away: room on a disk, memory, CPUs, the time of day. Tests in the form of program.py.

THRONG_TEST_NIGHTLY=yes tries all, else a part, by the hash of the commit. Prints rows of docs/notes/failing-calls.md."""
import collections
import concurrent.futures
import contextlib
import errno
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import threading

from program import HUMAN, PROGRAM, SOURCE, Skip, at_end, command, expect_run, load, main, need_opengl, parse, read_bytes, write
from serve_client import NIGHTLY, Answer, Crowd, Server, comes

fail_call = os.path.abspath(sys.argv.pop(2))
SITE, SITES = struct.Struct('<Q24s'), 1024  # as in fail_call.c
PARTS, PARTS_OF_SERVE = (1, 1) if NIGHTLY else (12, 60)
HANGS_S = 300  # only what hangs takes as long
GIVEN = {'calls', 'variables', 'model.glb', 'a.json', '.log'}  # in the folder of a run
SMALL = '--model synthetic:joints=4 --count 10'
TINY = '--model synthetic:joints=20,clips=2 --size 64x36 --count 40 --samples 1 --shadow 64'
FAKE = f'{sys.executable} -IS {SOURCE}/tests/programs/fake_program.py'
RUN = {'kind': 'scale', 'options': {'count': 20, 'threads': '1', 'repetitions': 1, 'frames': 2}}
MEASURED = ('bench', 'stress', 'scale', 'serve')  # the others write the same each time
COMMANDS = {
    'bench': f"bench {SMALL} --repetitions 2 --frames 1 --filter '^limit|^external' --processes 2 --external '{FAKE}' "
             '--out out.json --out out.html',
    'stress': f'stress {SMALL} --frames 299 --budget-ms 1 --threads 2 --out out.json',
    'scale': f'scale {SMALL} --repetitions 1 --frames 1 --threads 2 --out out.json',
    'inspect': 'inspect model.glb --json --out out.json',
    'pose': 'pose model.glb --json',
    'compare': 'compare a.json a.json --out out.html',
    'picture': f'render {TINY} --out out.png',
    'film': f'render {TINY} --frames 4 --out out.mp4'}

# With what calls fail. SHORT: they transfer fewer bytes. All others have no descriptor left.
SHORT, AGAIN = 0, errno.EINTR
ERRORS = {name: errors for names, errors in (
    ('open openat fopen', (errno.EMFILE, errno.EACCES)),
    ('read pread recv', (SHORT, AGAIN, errno.EIO)),
    ('write send', (SHORT, AGAIN, errno.ENOSPC)),
    ('writev', (AGAIN, errno.EPIPE)),
    ('poll epoll_wait sendmsg', (AGAIN, errno.ENOMEM)),
    ('waitid waitpid sem_wait pthread_cond_wait pthread_cond_timedwait nanosleep clock_nanosleep', (AGAIN,)),
    ('fclose fflush fsync ftruncate rename mkdir', (errno.ENOSPC,)),
    ('mmap open_memstream epoll_ctl', (errno.ENOMEM,)),
    ('pthread_create vfork getrandom', (errno.EAGAIN,)),
    ('execvpe bind fchmod', (errno.EACCES,)),
    ('accept4', (errno.ECONNABORTED, errno.EMFILE)),
    ('syscall-202', (AGAIN, errno.EAGAIN)),  # futex
    ('syscall', (errno.ENOSYS, errno.EACCES))) for name in names.split()}


def begin():
    """The program here, and beside it an importer that is preloaded as well, although it gets no variables."""
    os.mkdir('bin')
    shutil.copy(PROGRAM, 'bin')
    write('bin/throng-import', f'#!/bin/sh\nexec env $(cat variables) {os.path.dirname(PROGRAM)}/throng-import "$@"\n')
    os.chmod('bin/throng-import', 0o755)
    expect_run(HUMAN, 'synthetic:joints=4', 'model.glb')
    expect_run(PROGRAM, *shlex.split(f'bench {SMALL} --repetitions 2 --frames 1 --filter limit --out a.json'))


class Run:
    """One run in a folder of its own, where old files lie. starter: a program that starts it."""

    def __init__(self, what, folder, *variables, starter=()):
        self.what, self.folder, self.answers, self.code, self.out, self.said = what, os.path.abspath(folder), '', 0, '', ''
        os.makedirs(f'{folder}/results')
        with open(f'{folder}/calls', 'wb') as file:
            file.truncate(SITE.size * SITES)
        variables = [f'LD_PRELOAD={fail_call}', f'THRONG_CALLS={self.folder}/calls', *variables]
        self.program, self.starter = os.path.abspath('bin/throng'), ['env', *variables, *starter]
        write(f'{folder}/variables', ' '.join(variables))
        for name in ('model.glb', 'a.json'):
            os.link(name, f'{folder}/{name}')
        self.serve() if what == 'serve' else self.run(COMMANDS[what])

    def run(self, line):
        for name in re.findall(r'out\.\w+', line):
            write(f'{self.folder}/{name}', 'old')
        try:
            self.code, self.out, self.said = command(*self.starter, self.program, *shlex.split(line), cwd=self.folder,
                                                     timeout=HANGS_S)
        except subprocess.TimeoutExpired:
            self.code, self.said = -1, 'it hangs'

    def serve(self):
        server = Server(self.program, self.folder, '--model', 'model.glb', '--results', 'results', starter=self.starter)
        hangs = threading.Timer(HANGS_S, server.process.kill)
        hangs.start()
        if is_ready := server.wait_ready():
            for request in (('GET', '/'), ('PATCH', '/api/settings', {'count': 20}), ('POST', '/api/runs', RUN),
                            ('GET', '/api/runs/1/report'), ('GET', '/api/picture.png?width=64&height=64')):
                comes(lambda: '"running"' not in self.ask(server, 'GET', '/api/runs').text, HANGS_S)
                self.answers += f'{self.ask(server, *request).status} '
            comes(lambda: self.ask(server, 'GET', '/healthz').status == 200 or server.process.poll() is not None, HANGS_S)
            server.process.terminate()
        self.code, self.said = server.process.wait(), server.said()
        hangs.cancel()
        assert is_ready or self.code, f'it ended without an error: {self.said}'
        assert comes(lambda: not server.family()), f'processes {server.family()} are left'

    @staticmethod
    def ask(server, *request):
        try:
            while '"too_slow"' in (answer := server.request(*request)).text:
                pass
            return answer
        except OSError:
            return Answer(0, '', b'', False)

    def sites(self):
        """{key: name} of what called; key 1: the chosen one failed."""
        record = read_bytes(f'{self.folder}/calls')
        return {key: name.rstrip(b'\0').decode() for key, name in sorted(SITE.iter_unpack(record)) if key}

    def files(self):
        """{name without digits: bytes} of what was written."""
        return {re.sub(r'\d+(?=.*\.)', '', os.path.relpath(f'{folder}/{name}', self.folder)): read_bytes(f'{folder}/{name}')
                for folder, _, names in os.walk(self.folder) for name in set(names) - GIVEN}

    def outcome(self, plain, changes_nothing=False):
        """What became of it, beside one where nothing failed. Fails if it is none of the columns of the table."""
        is_measured, said = self.what in MEASURED, f'exit code {self.code}: {self.said}'
        assert self.code in (0, 1, 3, 4) and not re.search('Bad file descriptor|is not a model', self.said), said
        missing = plain.files().keys() - self.files().keys()
        assert not missing or self.what == 'serve' and not changes_nothing, f'there is no {missing}: {said}'
        for name, data in self.files().items():
            assert name in plain.files(), f'{name} is left: {said}'
            assert data == b'old' and self.code or is_whole(name, data) and (is_measured or data == plain.files()[name]), \
                f'{name} is {data[:40]}: {said}'
        if self.code == 0 or not re.sub('.*(do not|can) meet .*\n', '', self.said):  # `stress` on a busy machine
            is_same = self.answers == plain.answers and (is_measured or 'ms per frame' in self.out or self.out == plain.out)
            assert is_same or self.what == 'serve' and not changes_nothing, f'it says {self.answers} {self.out}: {said}'
            return 'as if nothing were' if is_same else 'others fail'
        assert re.search('^throng: .|Z error .', self.said, re.M) and not changes_nothing, said
        return 'says what is wrong'


def is_whole(name, data):
    if name.endswith('.json'):
        return bool(parse(data.decode()))
    return {'html': b'</html>' in data[-100:], 'png': data[-8:-4] == b'IEND', 'mp4': b'moov' in data}[name.rpartition('.')[2]]


# ---- calls ----

def place_of(key):
    module = ('throng', 'throng-import', 'libmicrohttpd')[(key >> 56) - 1]
    at = hex((key & (1 << 56) - 1) - 1)
    return f'{module} {at} {command("addr2line", "-sife", f"{os.path.dirname(PROGRAM)}/{module}", at).out.split()}'


def try_all(what, parts):
    """What is wrong; prints a row of the table."""
    plain = Run(what, f'{what}-plain')
    assert plain.outcome(plain) == 'as if nothing were', plain.said
    sites, done, outcomes, wrong = plain.sites(), command('git', '-C', SOURCE, 'rev-parse', '--short=7', 'HEAD'), [], []
    tries = [(key, error) for key, name in sites.items()
             for error in ERRORS.get(name.replace(' ', '-'), ERRORS.get(name.split()[0], (errno.EMFILE,)))]
    tries = tries[int(done.out, 16) % parts::parts] if done.code == 0 else tries[::parts]

    def one(key, error):
        folder = f'{what}-{key:x}-{error}'
        try:
            run = Run(what, folder, f'THRONG_FAIL={key:x}:{error}')
            outcome = run.outcome(plain, error in (SHORT, AGAIN))
            assert sites[key] != 'syscall 446' or outcome != 'as if nothing were', 'it is not confined'
            outcomes.append(outcome if 1 in run.sites() else 'not reached')
        except Exception as why:  # pylint: disable=broad-except
            wrong.append(f'{what}: {sites[key]} {errno.errorcode.get(error, "SHORT")} at {place_of(key)}: {why}')
        shutil.rmtree(folder)

    with concurrent.futures.ThreadPoolExecutor(2 * len(os.sched_getaffinity(0))) as pool:
        for _ in pool.map(one, *zip(*tries)):
            pass
    count = collections.Counter(outcomes)
    print(f'| {what} | {len(sites)} | {len(tries)} | ' + ' | '.join(str(count[name]) for name in (
        'says what is wrong', 'as if nothing were', 'others fail', 'not reached')) + f' | {len(wrong)} |', flush=True)
    return wrong


def test_calls_of_commands_that_fail():
    wrong = [line for what in COMMANDS for line in try_all(what, PARTS)]
    assert not wrong, '\n'.join(wrong)


def test_calls_of_the_server_that_fail():
    wrong = try_all('serve', PARTS_OF_SERVE)
    assert not wrong, '\n'.join(wrong)


# ---- what else is taken away ----

def test_disks_that_are_full_or_cannot_be_written():
    if command('unshare', '-Urm', 'mount', '-t', 'tmpfs', 'none', '.').code:
        raise Skip('mounting takes root, or a user namespace')
    os.mkdir('disk')
    for spoil, why in (('dd if=/dev/zero of=rest 2>&-', 'No space left on device'),
                       ('touch rest && mount -o remount,ro .', 'Read-only file system')):
        script = ('mount -t tmpfs -o size=64k none disk && cd disk && for n in html json mp4 png; do printf old >out.$n; done; '
                  f'{spoil}; "$@" >/dev/null; code=$?; cat out.*; ls; exit $code')
        for what, line in COMMANDS.items():
            if 'out.' in line:
                words = shlex.split(re.sub(r'model\.glb|a\.json', r'../\g<0>', line))
                done = command('unshare', '-Urm', 'sh', '-c', script, 'sh', PROGRAM, *words)
                assert done.code in (1, 3, 4) and re.search(f'^throng: .*(out|ffmpeg).*{why}', done.err, re.M), (what, done)
                assert done.out == 'old' * 4 + 'out.html\nout.json\nout.mp4\nout.png\nrest\n', (what, done)


def test_memory_that_ends():
    least = next(mb for mb in range(16, 1 << 12, 16) if command('prlimit', f'--as={mb << 20}', PROGRAM, '--version').code == 0)
    for what in ('scale', 'inspect', 'compare', 'serve') if NIGHTLY else ('scale', 'inspect'):
        plain = Run(what, f'{what}-plain')
        for mb in (least, least * 2, least * 4) if NIGHTLY else (least * 2,):
            Run(what, f'{what}-{mb}', starter=['prlimit', f'--as={mb << 20}']).outcome(plain)


def test_the_time_of_day_may_jump():
    for what in MEASURED if NIGHTLY else ('scale', 'serve'):
        plain = Run(what, f'{what}-plain')
        for step in (-3600, 3600) if NIGHTLY else (3600,):
            Run(what, f'{what}{step}', f'THRONG_CLOCK_STEP={step}').outcome(plain, changes_nothing=True)


def test_cpus_that_come_and_go():
    cpus = os.sched_getaffinity(0)
    if len(cpus) < 2:
        raise Skip('one CPU here')

    def place(process, on):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for thread in os.listdir(f'/proc/{process}/task'):
                os.sched_setaffinity(int(thread), on)

    crowd = Crowd(f'{SMALL} --threads 2')
    for on in ({min(cpus)}, cpus, {max(cpus)}, cpus):
        place(crowd.pid, on)
        crowd.ticks_on()
    crowd.stop()
    words = shlex.split(f'scale {SMALL} --repetitions 20 --frames 9 --threads 2 --out out.json')
    with subprocess.Popen([PROGRAM, *words], stdout=subprocess.DEVNULL) as scale:
        at_end.callback(scale.kill)
        while scale.poll() is None:
            for on in ({min(cpus)}, cpus):
                place(scale.pid, on)
    assert scale.returncode == 0 and load('out.json')['benchmarks']


main(globals(), begin, need_opengl)
