"""`throng` from outside, for tests in Python. Standard library only.

    TESTS.py THRONG [WORD...]    # all tests of the file, or those with one of the words in their names

A test is a function test_... of the file. Each has a process and a folder of its own, which it may change as it likes."""
import collections
import contextlib
import difflib
import functools
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import traceback

PROGRAM = os.path.abspath(sys.argv[1])
HUMAN = os.path.join(os.path.dirname(PROGRAM), 'human')
SOURCE = os.path.abspath(f'{__file__}/../../..')
GOLDEN = f'{SOURCE}/tests/golden/documents'
TIMEOUT_S = 900  # of a test

at_end = contextlib.ExitStack()  # what ends with the test, however that ends

Done = collections.namedtuple('Done', 'code out err')


class Skip(Exception):
    """Why a test has nothing to test with: "no OpenGL here"."""


def command(*words, **options):
    """Runs a program. In what it prints, bytes that are no text come out as they are."""
    done = subprocess.run(words, capture_output=True, text=True, errors='surrogateescape', check=False, **options)
    return Done(done.returncode, done.stdout, done.stderr)


def throng(arguments):
    """Runs it with arguments that are quoted as in a shell."""
    return command(PROGRAM, *shlex.split(arguments))


def expect(code, arguments, says=''):
    """That exit code, and that on standard error."""
    done = throng(arguments)
    assert done.code == code, f'{arguments}: exit code {done.code}, not {code}: {done.err}'
    assert says in done.err and (code == 0 or done.err.startswith('throng: ')), f'{arguments}: no "{says}" in {done.err}'
    return done


def expect_run(*words, code=0, **options):
    """What a program prints that ends with this exit code."""
    done = command(*words, **options)
    assert done.code == code, (words, done.code, done.err[-2000:], done.out[-2000:])
    return done.out


def need_opengl():
    done = throng('pose --evaluator gpu --model synthetic:joints=2')
    if done.code == 4:
        raise Skip(f'no OpenGL here: {done.err}')


def limit_memory():
    """`scale` writes, for its bandwidth, through four times the caches or half of this. Sanitizers have terabytes."""
    program = read_bytes(PROGRAM)
    if b'__asan_init' not in program and b'__tsan_init' not in program:
        resource.setrlimit(resource.RLIMIT_DATA, (128 << 20, resource.RLIM_INFINITY))


def parse(text):
    """The one document in a text. It has no key twice."""
    def unique(pairs):
        assert len(dict(pairs)) == len(pairs), pairs
        return dict(pairs)
    return json.loads(text, object_pairs_hook=unique)


def document(arguments):
    """The document that it prints."""
    return parse(expect(0, arguments).out)


def read(path):
    with open(path, encoding='utf-8', errors='surrogateescape', newline='') as file:
        return file.read()


def read_bytes(path):
    with open(path, 'rb') as file:
        return file.read()


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def load(path):
    return parse(read(path))


def check_text(path, text):
    """Fails unless the text is that of the file, and shows the difference. THRONG_GOLDEN_UPDATE=1 stores it instead."""
    if os.environ.get('THRONG_GOLDEN_UPDATE'):
        write(path, text)
    difference = difflib.unified_diff(read(path).splitlines(), text.splitlines(), 'stored', 'printed', lineterm='')
    assert read(path) == text, '\n'.join([*difference, f'not what {path} says; if this is right: THRONG_GOLDEN_UPDATE=1'])


@functools.cache
def python_with(module):
    """Some systems have several Pythons, and a package for one of them."""
    for python in (sys.executable, '/usr/bin/python3'):
        if command(python, '-c', f'import importlib.util as u; exit(not u.find_spec("{module}"))').code == 0:
            return python
    raise Skip(f'no Python with {module}')


def keeps_to_schema(*paths, schema='result-1'):
    """What is wrong with the documents: "" if they keep to it."""
    done = command(python_with('jsonschema'), f'{SOURCE}/tests/programs/check_schema.py',
                   f'{SOURCE}/docs/reference/schema/{schema}.json', *paths)
    assert done.err == '' and (done.code == 0) == (done.out == ''), done
    return done.out


def run_alone(test, begin):
    """What a process does that has a single test to run. Its exit code; 77: skipped."""
    def give_up(*_):
        raise TimeoutError(f'{TIMEOUT_S} s are over')

    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # which a shell that starts us in the background would have ignored
    signal.alarm(TIMEOUT_S)
    os.environ['THRONG_PROGRESS'] = 'off'  # which a slow machine would show among what is expected
    with tempfile.TemporaryDirectory(prefix='throng-test-') as folder, at_end:
        os.chdir(folder)
        try:
            begin()
            test()
        except Skip as why:
            suite = re.sub(r'\W', '_', os.path.basename(sys.argv[0])[:-3])
            print(f'[SKIP] {suite}::{test.__name__}: {why}')
            return 77
        except BaseException:  # pylint: disable=broad-except
            traceback.print_exc(file=sys.stdout)
            print(f'FAILED: {test.__name__}')
            return 1
    return 0


def main(tests, begin=lambda: None, need=lambda: None):
    """Runs the tests among these names, each after begin, and exits: at once where need skips. As Criterion says it:
    with_skips.sh reads it."""
    try:
        need()
    except Skip as why:
        print(f'skipped: {why}')
        sys.exit()
    chosen = [test for name, test in tests.items()
              if name.startswith('test_') and any(word in name for word in sys.argv[2:] or [''])]
    codes = []
    for test in chosen:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            code = run_alone(test, begin)
            sys.stdout.flush()
            os._exit(code)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    passed, skipped = codes.count(0), codes.count(77)
    print(f'Tested: {len(codes) - skipped} | Passing: {passed} | Skipped: {skipped}')
    sys.exit(not codes or passed + skipped < len(codes))
