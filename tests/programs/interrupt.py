#!/usr/bin/env python3
"""Ctrl-C and SIGTERM while something is measured. A signal is sent once progress shows that repetitions were timed. Tests in
the form of program.py."""
import json
import os
import re
import shlex
import signal
import subprocess
from signal import SIGINT, SIGTERM

from program import PROGRAM, Done, at_end, expect, limit_memory, load, main, parse, read, write

SMALL = '--model synthetic:joints=4 --count 20'
LONG = f'{SMALL} --filter "pose/scalar/f32|interp/step/scalar" --repetitions 100000'


def begin():
    os.environ.update(XDG_DATA_HOME=os.getcwd(), THRONG_PROGRESS='on')


def start(arguments):
    child = subprocess.Popen([PROGRAM, *shlex.split(arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    at_end.callback(child.kill)
    return child


def interrupt(code, arguments, when, number):
    """Sends the signal once it says that. err: what it says afterwards."""
    child, said = start(arguments), b''
    while when.encode() not in said:
        assert (piece := child.stderr.read(1)), f'it ended without {when}: {said}'
        said += piece
    child.send_signal(number)
    out, err = (text.decode() for text in child.communicate())
    assert child.returncode == code, f'{arguments}: {child.returncode}: {err}'
    return Done(code, out, err)


def check_partial(path, partial=True):
    result = load(path)
    assert result['context']['partial'] == partial, path
    return result


def check_partial_page(path):
    page = read(path)
    assert '<p>PARTIAL RESULT' in page and '</html>' in page


def test_bench_keeps_what_was_measured_and_says_so():
    out = interrupt(130, f'bench {LONG} --out a.json --out a.html', 'repetitions', SIGINT).out
    assert '  pose/scalar/f32 ' in out and 'PARTIAL RESULT' in out and '  interp/step' not in out, out
    result = check_partial('a.json')
    check_partial_page('a.html')
    result['benchmarks'][0]['real_time'] *= 2
    write('b.json', json.dumps(result))
    out = expect(5, 'compare a.json b.json', 'inconclusive').out
    assert 'a.json is partial' in out, out
    limit_memory()
    out = interrupt(143, f'scale {SMALL} --threads 2 --repetitions 3000 --json', 'repetitions', SIGTERM).out
    assert parse(out)['context']['partial']


# Processes are in it whole, or not at all.
def test_processes_that_are_not_done_do_not_count():
    limit_memory()
    for code, number, measure, repetitions in ((143, SIGTERM, 'bench --filter limit', 20),
                                               (130, SIGINT, 'scale --threads 1', 2)):
        interrupt(code, f'{measure} {SMALL} --repetitions {repetitions} --frames 1 --processes 64 --out a.json',
                  'process 3 of 64', number)
        result = check_partial('a.json')
        processes = result['context']['processes']
        assert 2 <= processes < 64 and result['benchmarks'][0]['repetitions'] == repetitions * processes, measure


# Numbers of threads that are done, and what a search has found that is not.
def test_stress_keeps_what_was_done():
    interrupt(130, 'stress --threads 1-16 --count 1 --frames 299 --budget-ms 4 --out a.json --out a.html',
              '3 threads, confirming', SIGINT)
    stress = check_partial('a.json')['stress']
    assert len(stress['points']) == 2 and 'interrupted' not in stress
    out = interrupt(143, 'stress --threads 1,2 --frames 100000 --budget-ms 2 --out b.json --out b.html', 'searching',
                    SIGTERM).out
    stress = check_partial('b.json')['stress']
    assert stress['points'] == [] and stress['interrupted']['threads'] == 1 and stress['interrupted']['probes'], stress
    assert 'The search on 1 thread was interrupted' in out, out
    check_partial_page('b.html')
    done = interrupt(130, 'stress --threads 1 --count 1 --frames 100000 --budget-ms 4', 'confirming', SIGINT)
    assert done.out == '' and 'the measurement was interrupted' in done.err, done


def test_partial_result_does_not_replace_a_whole_one():
    partial, kept = f'bench {LONG} --processes 1 --save base', 'throng/baselines/base.json'
    for is_kept in (False, False, True):
        if is_kept:
            expect(0, f'bench {SMALL} --filter limit --frames 1 --repetitions 12 --save base')
            check_partial(kept, False)
        err = interrupt(130, partial, 'repetitions', SIGINT).err
        assert ('the baseline base stays what it was' in err) == is_kept, err
        check_partial(kept, not is_kept)


# Its frames are as many as it says, and each can be decoded.
def test_film_keeps_the_frames_that_it_has():
    small = '--size 64x36 --samples 1 --shadow 64 --count 4 --frames 100000'
    for code, number, command in ((130, SIGINT, 'render'), (143, SIGTERM, 'demo')):
        err = interrupt(code, f'{command} {small} --out a.mkv', '% of 100000 frames', number).err
        said = re.search(r'interrupted: a\.mkv has the first (\d+) of 100000 frames', err)
        assert said, err
        count = subprocess.check_output(['ffprobe', '-v', 'error', '-count_frames', '-show_entries',
                                         'stream=nb_read_frames', '-of', 'csv=p=0', 'a.mkv'], text=True)
        assert int(count) == int(said[1]) > 0, (count, err)


# It gets both signals at once, in a repetition that takes minutes.
def test_second_signal_ends_at_once_and_leaves_nothing():
    child = start('bench --filter pose/scalar/f32 --count 1000 --frames 1000000 --repetitions 2 --out a.json')
    handled = 0
    while not (handled >> SIGINT - 1 & 1 and handled >> SIGTERM - 1 & 1):
        handled = int(read(f'/proc/{child.pid}/status').partition('SigCgt:')[2].split()[0], 16)
    for number in (signal.SIGSTOP, SIGINT, SIGTERM, signal.SIGCONT):
        child.send_signal(number)
    child.communicate()
    assert child.returncode < 0 and os.listdir() == [], child.returncode


main(globals(), begin)
