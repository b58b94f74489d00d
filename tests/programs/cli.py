#!/usr/bin/env python3
"""The program from outside: what it prints, where, and its exit code. Tests in the form of program.py.

What is said of command lines: tests/golden/documents/messages.txt."""
import contextlib
import ctypes
import errno
import os
import re
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import tempfile

from program import (HUMAN, PROGRAM, SOURCE, Skip, command, document, expect, limit_memory, load, main, parse, read, throng,
                     write)
from serve_client import comes

SMALL = 'synthetic:joints=4'  # of the program's own human the levels of detail alone take 0.3 s to find
QUICK = '--count 10 --repetitions 2 --frames 1'
COLUMNS = 100  # of what is printed for a terminal


# ---- what the machine lacks or takes away ----

def test_openmp_with_fewer_threads_than_asked_for_is_exit_code_4():
    os.environ['OMP_THREAD_LIMIT'] = '1'
    done = throng('scale --count 10 --repetitions 1 --frames 1 --scheduler openmp-dynamic --threads 2')
    # clang's runtime has a word of its own first.
    assert done.code == 4 and done.out == '', done
    assert 'the system refuses 2 threads' in done.err or 'this build has no scheduler openmp' in done.err, done.err


# Else what is printed would go into the file that is written meanwhile, or to a client.
def test_descriptors_that_were_closed_are_not_taken_by_files():
    def files(pid):
        found = {}
        for fd in os.listdir(f'/proc/{pid}/fd'):
            with contextlib.suppress(FileNotFoundError):  # closed since it was listed
                found[fd] = os.readlink(f'/proc/{pid}/fd/{fd}')
        return found

    server = subprocess.Popen(['sh', '-c', f"exec '{PROGRAM}' serve --listen 127.0.0.1:0 <&- >&- 2>&-"])
    assert comes(lambda: any(name.startswith('socket:') for name in files(server.pid).values()))
    for fd in '012':
        assert files(server.pid)[fd] == '/dev/null', files(server.pid)
    server.terminate()
    server.wait()


def test_broken_pipe_is_quiet():
    for handler, code in ((signal.SIG_DFL, -signal.SIGPIPE), (signal.SIG_IGN, 4)):
        signal.signal(signal.SIGPIPE, handler)
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([PROGRAM, 'inspect', SMALL], stdout=writer, stderr=subprocess.PIPE, restore_signals=False)
        os.close(writer)
        assert done.returncode == code and done.stderr == b'', done


# ---- output ----

def test_out_replaces_the_file_in_one_step():
    write('old.json', 'old')
    os.chmod('old.json', 0o640)
    os.symlink('old.json', 'link.json')
    printed = expect(0, f'inspect {SMALL} --json --out link.json').out
    assert parse(printed) and read('old.json') == printed
    assert os.path.islink('link.json') and stat.S_IMODE(os.stat('old.json').st_mode) == 0o640
    text = expect(0, f'inspect {SMALL} --out text.json').out
    assert text[0] != '{', 'text for people'
    assert read('text.json') == printed, 'and the document in the file'
    assert sorted(os.listdir()) == ['link.json', 'old.json', 'text.json'], 'nothing else is left'


# Through links that lead to no path: "pipe:[7]", "/tmp/name (deleted)". What else is printed would be in the way.
def test_a_pipe_gets_what_a_file_does():
    expect(0, f'bench {QUICK} --filter limit --out a.json')
    for line in (f'inspect {SMALL}', 'compare --fail-on slower a.json a.json'):
        expect(0, f'{line} --out whole.json')
        whole = read('whole.json')
        for name in ('/dev/stdout', '/proc/self/fd/1'):
            assert expect(0, f'{line} --out {name}').out == whole, (line, name)
        reader, writer = map(os.fdopen, os.pipe(), 'rw')
        with tempfile.TemporaryFile('w+') as nameless, reader, writer:
            for file in (writer, nameless):
                words = shlex.split(f'{line} --out /dev/fd/{file.fileno()}')
                done = command(PROGRAM, *words, pass_fds=[file.fileno()])
                assert done.code == 0 and done.out != '', done
            writer.close()
            assert (reader.read(), nameless.read()) == (whole, whole), line
    for option, part in (('--out', 'benchmarks'), ('--trace', 'traceEvents')):
        assert parse(expect(0, f'bench {QUICK} --filter limit {option} /dev/stdout').out)[part]
    for one in socket.socketpair():
        with one:
            done = command(PROGRAM, 'inspect', SMALL, '--out', f'/dev/fd/{one.fileno()}', pass_fds=[one.fileno()])
            assert done.code == 3 and 'Operation not supported' in done.err, done
    assert sorted(os.listdir()) == ['a.json', 'whole.json'], os.listdir()


# In documents names are escaped, and what they were when they are read.
def test_no_file_has_what_a_terminal_interprets():
    name = 'a\x1b\x7f\x9b\u202eb.glb'
    shutil.copy(f'{SOURCE}/tests/data/morph.glb', name)
    expect(0, f'bench --model {name} {QUICK} --filter limit --out a.json --out a.html --trace t.json')
    shutil.copy('a.json', name)
    texts = [read('a.json'), read('a.html'), read('t.json'), throng(f'compare a.json {name} --json').out]
    for text in texts:
        found = re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]', text)
        assert text and not found, found
    assert parse(texts[-1])['new']['file'] == name


# A link to /dev/full passes the look before, and takes nothing.
def test_one_result_that_cannot_be_written_leaves_the_others():
    os.environ['XDG_DATA_HOME'] = os.getcwd()
    for name in ('full.json', 'full.html'):
        os.symlink('/dev/full', name)
    done = expect(3, f'bench {QUICK} --filter limit --out full.json --out full.html --save kept --trace t.json',
                  'cannot write full.json: No space left on device')
    assert 'cannot write full.html: No space left on device' in done.err, done.err
    assert 'limit/write_cached' in done.out, done.out
    assert os.path.exists('throng/baselines/kept.json') and os.path.exists('t.json')


def test_out_keeps_the_old_file_when_the_new_one_cannot_be_finished():
    expect(0, f'bench {QUICK} --filter limit --out a.json')
    # A document that fits the buffer fails only when that is flushed: so must one of no block at all.
    for line, name, blocks in (('inspect synthetic:joints=100', 'kept.json', 1), (f'inspect {SMALL}', 'kept.json', 0),
                               ('compare --fail-on slower a.json a.json', 'kept.html', 1)):
        write(name, 'old\n')
        done = command('sh', '-c', f"ulimit -f {blocks}; trap '' XFSZ; exec '{PROGRAM}' {line} --out {name} >/dev/null")
        assert done == (3, '', f'throng: cannot write {name}: File too large\n'), done
        assert read(name) == 'old\n'
        os.unlink(name)
        assert os.listdir() == ['a.json'], 'nothing else is left'


def check_page(part):
    page = read('page.html')
    assert page.startswith('<!DOCTYPE html>') and part in page and '</html>' in page, f'no {part} in {page}'


def test_out_is_what_the_name_says_and_a_page_beside_it():
    for line, row, part in (
            (f"bench {QUICK} --filter '^li.*t'", 'limit/write_cached', f'<code>throng bench {QUICK} --filter &#39;^li.*t&#39; '),
            (f'scale {QUICK} --threads 1,2 --model {SMALL}', 'scale/threads:2,', '>speed-up</th>'),
            ('scale --dry-run --count 10 --threads 1,2', 'scale/threads:2,', '<p>A dry run: '),
            ('stress --count 10 --frames 299 --budget-ms 10000 --dry-run --isa=scalar --threads 1', 'stress/threads:1,',
             'stress --count 10 --frames 299')):
        assert document(f'{line} --json --out out.json --out page.html') == load('out.json'), line
        check_page(part)
        expect(0, f'{line} --out f.csv')
        assert read('f.csv').startswith('name') and f'\r\n{row}' in read('f.csv'), read('f.csv')
    expect(0, f'bench {QUICK} --filter limit --out f.md')
    assert '\n| entry ' in read('f.md') and ('\n|-' in read('f.md') or '\n|:' in read('f.md')), read('f.md')
    expect(0, f'bench {QUICK} --filter limit --out a.json')
    out = expect(0, 'compare --fail-on slower a.json a.json --out page.html').out
    assert '0 slower' in out, f'the text as ever: {out}'
    check_page('<code>throng compare --fail-on slower a.json a.json --out page.html</code>')


# ---- the importer's sandbox ----

def lack_landlock():
    """What the program does on a kernel without Landlock: a filter says that there is no such call."""
    seccomp = ctypes.CDLL('libseccomp.so.2')
    seccomp.seccomp_init.restype = ctypes.c_void_p
    allow, refuse = 0x7fff0000, 0x00050000 | errno.ENOSYS
    rules = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(allow)))
    call = seccomp.seccomp_syscall_resolve_name(b'landlock_create_ruleset')
    assert seccomp.seccomp_rule_add(rules, ctypes.c_uint32(refuse), call, 0) == 0 and seccomp.seccomp_load(rules) == 0


def test_a_kernel_without_landlock_is_one_warning():
    assert command(HUMAN, SMALL, 'model.glb').code == 0
    lack_landlock()
    assert expect(0, 'pose').err == '', 'nothing was imported'
    err = expect(0, 'pose --animation model.glb --animation model.glb model.glb').err
    assert err.count('no Landlock') == 1, err


# ---- clips of other files ----

def wait_for_another():
    """A program whose importer reads no file but one of the model alone until two are at it, and its command."""
    place = os.path.dirname(PROGRAM)
    os.makedirs('bin')
    shutil.copy(PROGRAM, 'bin/throng')
    write('bin/throng-import', f"""#!/bin/sh
        case "$1" in moves/*)
            mkdir "at/$$"
            for n in $(seq 600); do
                [ "$(ls at | wc -l)" -ge 2 ] && break
                sleep 0.1
            done
            [ "$(ls at | wc -l)" -ge 2 ] || exit 5
        esac
        exec {shlex.quote(place)}/throng-import "$@"
        """)
    os.chmod('bin/throng-import', 0o755)
    os.makedirs('at')


def make_moves(*names):
    os.makedirs('moves/below.glb')
    assert command(HUMAN, SMALL, 'made.glb').code == 0
    for name in names:
        shutil.copy('made.glb', f'moves/{name}')


def clips_of(arguments):
    return [clip['name'] for clip in document(f'inspect --json {arguments}')['clips']]


def test_a_folder_of_animations_is_its_model_files_by_name():
    make_moves('b.glb', 'a.GLB', '.c.glb', 'Z.glb')
    write('moves/notes.txt', 'no model')
    own = clips_of(SMALL)
    assert clips_of(f'{SMALL} --animation moves') == own + ['Z', 'a', 'b'], 'all have the clip of the model'
    assert clips_of(f'{SMALL} --animation moves/b.glb --animation moves') == own + ['b', 'Z', 'a', 'b 2']
    os.makedirs('empty')
    expect(3, f'inspect {SMALL} --animation empty', 'empty: the folder has no file with clips')
    expect(2, f'inspect {SMALL} --animation moves --out moves/b.glb', 'would replace moves/b.glb')


def test_the_first_animation_that_fails_is_named():
    make_moves('b.glb', 'd.glb')
    for name in ('c.glb', 'a.glb'):
        write(f'moves/{name}', 'no model')
    expect(3, f'inspect {SMALL} --animation moves', 'throng: moves/a.glb: ')
    expect(3, f'inspect {SMALL} --animation moves/b.glb --animation moves/c.glb --animation moves/a.glb',
           'throng: moves/c.glb: ')


def test_animations_are_read_side_by_side():
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip('one CPU here')
    make_moves('a.glb', 'b.glb')
    wait_for_another()
    done = command('bin/throng', 'inspect', SMALL, '--animation', 'moves')
    assert done.code == 0 and '  b ' in done.out, done


# ---- bench and scale ----

def test_bench_leaves_out_what_cannot_be_drawn():
    os.environ.update(__EGL_VENDOR_LIBRARY_FILENAMES='/nonexistent', LIBGL_DRIVERS_PATH='/nonexistent')
    out = expect(0, "bench --count 2 --repetitions 1 --frames 1 --filter '^(limit|frame)/'").out
    assert 'warning: frame/all_visible/whole and 8 more were skipped: ' in out and 'OpenGL' in out, out
    out = expect(4, 'bench --repetitions 1 --filter ^frame/ --out kept.json', 'OpenGL').out
    assert out == '' and not os.path.exists('kept.json'), out


def test_bench_and_scale_print_one_document():
    done = expect(0, f"bench --json {QUICK} --filter '^pose/scalar|limit'")
    assert parse(done.out)['benchmarks'] and done.err == '', done.err
    scale = document(f'scale --json {QUICK} --threads 1-3 --grain 1 --model {SMALL}')
    with_cpus = min(len(os.sched_getaffinity(0)), 3)
    parts = 2 if with_cpus > 1 else 1
    assert len(scale['benchmarks']) >= 8 * (3 + 5 * parts + 2 * with_cpus)
    assert isinstance(scale['scaling']['bottleneck']['kind'], str)
    assert scale['context']['scene']['placement'] == 'workers', scale


def test_scale_compares_schedulers_counts_and_grains_and_says_where_its_workers_were():
    scale = f'scale --json --model {SMALL} --count 20,10'
    spread = document(f'{scale} --repetitions 1 --frames 1 --scheduler work-stealing,serial --grain 1,2 --threads 1,2 '
                      '--placement spread')
    curves = spread['scaling']['curves']
    assert len(curves) == 8 and (curves[7]['characters'], curves[7]['scheduler']) == (10, 'serial'), curves
    serial = document(f'{scale} --dry-run --scheduler serial --placement cores')
    assert [one['context']['scene']['placement'] for one in (spread, serial)] == ['spread', 'none']


def test_precision_and_times_decide_how_often():
    limit = 'bench --json --count 10 --frames 1 --filter limit'
    hurried, content = document(f'{limit} --precision 0.01 --max-time 0.001'), document(f'{limit} --precision 100')
    assert hurried['benchmarks'][0]['repetitions'] >= 9 and abs(hurried['context']['precision'] - 1e-4) < 1e-12
    assert content['benchmarks'][0]['repetitions'] <= 19


def test_dry_run_checks_all_and_times_nothing():
    for line, row in (('bench --filter ^pose', 'pose/tutorial'), ('scale --threads 1-3', 'scale/threads:3'),
                      ('stress --threads 1-3', 'stress/threads:3')):
        out = expect(0, f'{line} --dry-run --count 10 --model {SMALL}').out
        assert row in out and 'nothing was timed' in out, out
        assert max(map(len, out.splitlines())) <= COLUMNS, out
    for side in 'ab':
        expect(0, f'bench --filter "pose/(scalar|exact)" --dry-run --count 10 --model {SMALL} --out {side}.json')
    out = expect(0, 'compare a.json b.json').out
    assert 'palettes identical.' in out and 'pose/' not in out, out


def test_what_is_checked_is_drawn_anew_or_as_the_environment_says():
    seeds = [document(f'{command} --dry-run --json --count 10 --model {SMALL}')['context']['check_seed']
             for command in ('bench --filter crowd/8', 'bench --filter crowd/8', 'scale', 'stress')]
    assert len(set(seeds)) == 4, seeds
    os.environ['THRONG_CHECK_SEED'] = seeds[0]
    again = document(f'stress --dry-run --json --count 10 --model {SMALL}')
    assert again['context']['check_seed'] == seeds[0], again['context']


# The warnings: tests/golden/documents/messages.txt.
def test_who_lacks_the_clip_that_was_chosen_is_named():
    out = expect(0, 'scale --count 1 --threads 1 --dry-run --clip walk --model human --model synthetic:joints=3').out
    assert '1 character: human (52 bones, clip walk of 7), synthetic:joints=3 (3 bones, rest pose)' in out, out


# ---- stress ----

def test_stress_fails_where_the_budget_is_not_held():
    out = expect(1, 'stress --budget-ms 0.001 --frames 299 --threads 1',
                 'stress/threads:1: not even one character can meet 0.001 ms').out
    assert '(1e+06' in out, f'the verdict, whose lines are wrapped, has the rate: {out}'
    expect(1, 'stress --budget-ms 0.001 --frames 299 --count 100 --threads 1,2',
           'stress/threads:2: this many characters do not meet')


def test_stress_keeps_to_the_memory_it_is_given():
    stress = 'stress --budget-ms 10000 --frames 299 --threads 1 --max-memory 1'
    expect(0, f'{stress} --dry-run')
    expect(4, f'{stress} --count 1000', '1000 characters take 0.00')
    expect(4, 'stress --count 1000000000', '1000000000 characters take ')


def test_stress_writes_one_document():
    done = command(PROGRAM, *shlex.split('stress --json --budget-ms 0.001 --frames 299 --count 100 --threads 1-3 --out s.csv '
                                         f'--model {SMALL}'))
    points = parse(done.out)['stress']['points']
    assert done.code == 1 and len(points) == 3, done
    for point in points:
        frames, missed = point['frames'], point['deadline_misses']
        assert missed >= frames and point['ticks'] == frames + missed, f'each was late: {point}'
    assert f'\r\nstress/threads:3,3,{frames},1,' in read('s.csv'), read('s.csv')


main(globals(), need=limit_memory)
