#!/usr/bin/env python3
"""compare --run, from outside, with programs that only print results. Tests in the form of program.py."""
import os
import re
import signal
import subprocess

from program import PROGRAM, expect, main, parse, read, write
from serve_client import comes


def make_program(name, lines):
    """A program that notes each call, and what it was called with, and runs these lines."""
    write(name, f'#!/bin/sh\necho "$0" >>calls\necho "$@" >words\n{lines}\n')
    os.chmod(name, 0o755)


def make_bench(name, *entries):
    """Prints a result of one repetition an entry, a little longer in every process; shell expressions say how long."""
    rows = ', '.join(f'{{\\"name\\": \\"{row}\\", \\"time_unit\\": \\"ns\\", \\"core_clock_ns\\": 1, '
                     f'\\"real_time\\": $(({ns})), \\"cpu_time\\": $(({ns}))}}' for row, ns in zip('ef', entries))
    make_program(name, 'n=0; while read call; do [ $call != $0 ] || n=$((n + 1)); done <calls\n'
                 f'echo "{{\\"context\\": {{\\"commit\\": \\"c\\"}}, \\"benchmarks\\": [{rows}]}}"')


def begin():
    make_bench('old', '100000 + n * 13 % 50 * 10')
    make_bench('same', '100000 + n * 17 % 50 * 10')
    make_bench('slow', '105000 + n * 17 % 50 * 10')
    make_bench('wild', '62000 + n * 17 % 50 * 2000')


def calls():
    """The programs, in the order of their calls."""
    return read('calls').split()


def test_measures_twelve_processes_each_in_turns():
    out = expect(0, 'compare --run ./old ./same').out
    assert '0 slower, 0 faster, 1 equivalent, 0 inconclusive' in out, out
    assert calls()[:6] == ['./old', './same', './same', './old', './old', './same'], calls()
    assert calls().count('./old') == calls().count('./same') == 12, calls()
    expect(1, 'compare --run ./old ./slow', 'e: slower: median, mean; CPU time +4.9 %')
    out = expect(0, 'compare --run ./slow ./old').out
    assert '0 slower, 1 faster' in out, out


def test_goes_on_until_it_is_decided_or_time_is_over():
    expect(5, 'compare --run ./old ./wild', 'e: inconclusive: median sees ')
    assert calls().count('./old') == 192
    wild = '62000 + n * 17 % 50 * 2000'
    make_bench('both', '100000 + n * 13 % 50 * 10', wild)
    make_bench('one', '105000 + n * 17 % 50 * 10', wild)
    expect(1, 'compare --run ./both ./one', 'e: slower')
    assert calls().count('./one') == 12, 'that one is slower is enough'
    os.unlink('calls')
    expect(5, 'compare --run ./old ./same --max-time 0.001', 'e: inconclusive: 1 process\n')
    assert calls().count('./old') == 1
    expect(5, 'compare --run ./old ./same --max-time 0.001 --fail-on slower')
    expect(0, 'compare --run ./old ./same --max-time 0.001 --fail-on wrong')


def test_hands_words_on_and_writes_every_form():
    line = 'compare --json --run ./old ./same --filter e --out c.csv --out c.html -- --count 20 --frames 1'
    result = parse(expect(0, line).out)
    assert read('words') == 'bench --json --processes=1 --filter e --count 20 --frames 1\n'
    assert result['interleaved'] is True and result['looks'] == 5
    assert '\ne,equivalent,' in read('c.csv') and os.path.exists('c.html')
    expect(5, 'compare --run ./old ./same --max-time 0.001')
    assert read('words') == 'bench --json --processes=1 --repetition-time=1\n'


def test_programs_that_do_not_measure_are_told():
    make_program('fails', "echo 'throng: unknown option --count' >&2; echo more >&2; exit 2")
    make_program('killed', 'kill -KILL $$')
    make_program('prose', 'echo hello')
    for name, says in (('fails', 'ended with exit code 2: throng: unknown option --count\n'),
                       ('killed', 'was ended by signal 9'), ('prose', 'no JSON: line 1')):
        assert re.search(f'./{name}:? {re.escape(says)}', expect(3, f'compare --run ./old ./{name}').err)
    expect(2, 'compare --run ./old ./same --out ./same.csv --out same.csv', '--out can be given once')
    assert not [name for name in os.listdir() if 'csv' in name], 'nothing is left'


def test_programs_that_cannot_be_compared_are_told_after_one_process():
    make_program('other', 'echo \'{"context": {"commit": "c", "compiler": "another"}, "benchmarks": [{"name": "e", '
                 '"time_unit": "ns", "real_time": 1, "cpu_time": 1}]}\'')
    expect(3, 'compare --run ./old ./other', 'not measured under the same conditions: compiler is ')
    assert calls().count('./other') == 1


def test_memory_is_not_judged_by_one_process():
    for name, size in (('few', 1000), ('many', 2000)):
        make_program(name, 'echo \'{"context": {"throng_schema_version": 1}, "benchmarks": [{"name": "e", "run_type": "iteration", '
                     f'"threads": 1, "time_unit": "ns", "real_time": 1, "cpu_time": 1, "bytes": {size}}}]}}\'')
    assert 'equivalent; MORE BYTES' in expect(1, 'compare --run ./few ./many', 'e: takes 2000 bytes, was 1000').out
    assert calls().count('./many') == 12


# As Ctrl-C does: the signal goes to the caller only, and the programs end with it.
def test_an_interrupt_ends_the_programs_as_well():
    make_program('sleeps', 'echo $$ >pid; exec sleep 100')
    caller = subprocess.Popen([PROGRAM, 'compare', '--run', './sleeps', './old'])
    assert comes(lambda: os.path.exists('pid') and read('pid'))
    caller.send_signal(signal.SIGINT)
    assert caller.wait() == -signal.SIGINT
    assert comes(lambda: not os.path.exists(f'/proc/{read("pid").strip()}')), 'it still runs'
    assert sorted(os.listdir()) == ['calls', 'old', 'pid', 'same', 'sleeps', 'slow', 'wild', 'words'], 'nothing is left'


main(globals(), begin)
