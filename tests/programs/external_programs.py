#!/usr/bin/env python3
"""`throng bench --external`: a program that does as it should, and many that do not. None of them may hold up the bench, spoil
its other entries or stay behind. Tests in the form of program.py."""
import os
import shutil
import sys

from serve_client import NIGHTLY
from program import SOURCE, Skip, command, document, expect, main, parse, throng, write

SMALL = '--model synthetic:joints=4 --count 10'
FEW = f"bench {SMALL} --repetitions 3 --filter '^external/|^limit/'"
FAKE = f'{sys.executable} -IS {SOURCE}/tests/programs/fake_program.py'


def row_of(result, name, aggregate=None):
    """The row of a name and type in a document."""
    for row in result['benchmarks']:
        if (row['run_name'], row.get('aggregate_name')) == (name, aggregate):
            return row
    raise AssertionError(f'no row {name} {aggregate}')


def expect_nothing_left():
    """No program is left that has the test's folder as its own."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as file:
                is_fake = b'fake_program' in file.read()
            assert not is_fake or os.readlink(f'/proc/{pid}/cwd') != os.getcwd(), f'{pid} is left'
        except OSError:
            pass


# ---- as it should be ----

def test_are_listed_and_measured_in_turns_with_poses():
    result = document(f"{FEW} --frames 2 --json --external '{FAKE}'")
    row = row_of(result, 'external/fake/spin')
    assert row['repetitions'] == row_of(result, 'limit/write_cached')['repetitions'] == 3
    assert row['bones'] == 520 and row['timed_by'] == 'program' and row['told_share'] <= 1, row
    assert row['real_time'] >= 200, 'us of a frame, by its own clock'
    assert row_of(result, 'external/fake/spin', 'mean')['description'] == 'Waits, and writes nothing.'
    expect_nothing_left()
    result = document(f"{FEW} --frames 2 --json --processes 2 --external '{FAKE}'")
    assert row_of(result, 'external/fake/spin')['repetitions'] == 6, 'of each process'
    out = expect(0, f"bench --dry-run --filter ^external/ --external '{FAKE}'").out
    assert 'external/fake/spin' in out and 'ran' in out, out


def test_are_baselines_that_never_regress():
    warning = 'warning: external/fake/spin says that its frames took at most'
    for fault, name in ((' understates', 'fast'), ('', 'slow')):
        out = expect(0, f'bench {SMALL} --repetitions 9 --frames 2 --filter ^external/ --out {name}.json '
                     f"--external '{FAKE}{fault}'").out
        assert (warning in out) == (name == 'fast'), out
    out = expect(5, 'compare --force --fail-on slower fast.json slow.json', 'all entries are baselines').out
    assert 'slower' not in out.replace('0 slower', ''), out


# The adapters of other libraries are made of this header; it needs none of them.
def test_can_be_written_with_the_header_of_the_examples():
    if not shutil.which('c++'):
        raise Skip('no C++ compiler here')
    write('program.cpp', '''#include "program.h"
        static double moment;
        static void pose(double time_s) { moment = external::clip_time(1, time_s, 3); }
        static uint64_t sum() { uint64_t s = 0; external::add_to(s, moment); return s; }
        int main() { return external::serve("header",
            {{"a", "One.", 1, 1, pose, sum}, {"b", "Two.", 2, 2, pose, sum}}); }''')
    done = command('c++', '-std=c++17', '-Wall', '-Wextra', '-Werror', '-I', f'{SOURCE}/examples/external', 'program.cpp',
                   '-o', 'program')
    assert done.code == 0, done.err
    result = document(f'{FEW} --json --frames 100 --external ./program')
    assert row_of(result, 'external/header/a')['bones'] == 1 and row_of(result, 'external/header/b')['bones'] == 2


# ---- programs that cannot be asked: refused before anything is measured ----

def test_that_do_not_describe_themselves_are_refused():
    for program, message in (
            ('./no-such-program', '"./no-such-program" ended with exit code 127: it was not found'),
            ('/', 'ended with exit code 126: it cannot be executed'),
            ('exit 5', 'ended with exit code 5'),
            ('kill -SEGV $$', 'was ended by signal 11'),
            ('exec >&- <&-; sleep 1000', 'closed its output'),
            ('echo hello', 'printed no JSON object: "hello"'),
            ('echo [1]', 'printed no JSON object'),
            ('head -c 100000 /dev/zero', 'printed a line of more than 65535 bytes'),
            ('echo {}', 'does not begin with "throng_external": 1 and its name'),
            ('printf "{}\\n{}\\n"; read x', 'printed more than a line'),
            ('echo {\\"error\\": \\"no file\\"}', 'says: no file'),
            (f'{FAKE} entries:version', 'does not begin with "throng_external": 1'),
            (f'{FAKE} entries:none', 'fake has no entries'),
            (f'{FAKE} entries:many', 'more than 32 entries'),
            (f'{FAKE} entries:nameless', 'fake has an entry without a name'),
            (f'{FAKE} entries:boneless', 'external/fake/spin does not say how many characters, bones or threads'),
            (f'{FAKE} entries:mute', 'external/fake/spin has no description'),
            (f'{FAKE} entries:twice', 'two entries are called external/fake/spin')):
        done = throng(f"{FEW} --frames 2 --external '{program}'")
        assert done.code == 3 and done.out == '' and message in done.err, f'{program}: {done}'  # behind what a shell says


# ---- programs that fail while they are measured: their rows fail, all others are as ever ----

# Of a program with two entries both. Not those of others.
def test_that_fail_have_a_row_that_says_why():
    faults = (
            ('exits', 'ended with exit code 7'),
            ('garbage', 'printed no JSON object: "hello"'),
            ('long', 'printed a line of more than 65535 bytes'),
            ('chatty', 'printed more than a line'),
            ('complains', 'external/complains/spin says: out of ideas'),
            ('negative', 'gave no real_ns above 0'),
            ('textual', 'gave no real_ns above 0'),
            ('instant', 'gave no real_ns above 0'),
            ('unchecked', 'gave no checksum'),
            ('overstates', 'ms, but its answer came after'),
            ('parallel', 'ms of CPU time, but its answer came after'),
            ('forgetful', 'one checksum of frames 0 and 100: always'),
            ('random', 'two checksums of frame 0: 0 and 2'),
            ('entries:two', 'ended with exit code 7'))
    programs = ' '.join(f"--external 'NAME={fault.replace(':', '-')} {FAKE} {fault}'" for fault, _ in faults)
    done = throng(f"{FEW} --frames 2 --json {programs} --external '{FAKE}'")
    result = parse(done.out)
    assert done.code == 1 and 'external/exits/spin' in done.err, done
    for fault, message in (*faults, ('entries:two', 'ended')):
        name = f'external/{fault.replace(":", "-")}/{"sound" if message == "ended" else "spin"}'
        row = row_of(result, name)
        assert row['error_occurred'] and message in row['error_message'], row
    for name in ('external/fake/spin', 'limit/write_cached'):
        assert row_of(result, name, 'median')['real_time'] > 0, name
    expect_nothing_left()


# A row each, with times or with the reason why there are none.
def test_that_answer_with_one_thing_wrong_have_rows():
    for first in range(0, 500 if NIGHTLY else 10, 10):
        names = [f'damaged-{seed}' for seed in range(first, first + 10)]
        programs = ' '.join(f"--external 'NAME={name} {FAKE} {name.replace('-', ':')}'" for name in names)
        done = throng(f'{FEW} --frames 2 --json {programs}')
        result = parse(done.out)
        rows = [row_of(result, f'external/{name}/spin') for name in names]
        assert done.code in (0, 1) and all(row.get('error_message', 'good').isprintable() for row in rows), (done.code, rows)
        assert done.code == any('error_message' in row for row in rows) and row_of(result, 'limit/write_cached')['real_time'] > 0
    expect_nothing_left()


def test_that_do_not_end_are_killed():
    expect(0, f"{FEW} --frames 2 --external '{FAKE} stubborn'")
    expect_nothing_left()


main(globals())
