#!/usr/bin/env python3
"""Our documents in the hands of others: held against docs/reference/schema by jsonschema (Debian: python3-jsonschema), read by
Google Benchmark's compare.py (libbenchmark-tools, python3-scipy); and readers of another version. Tests in the form of
program.py."""
import copy
import json
import os
import re
import shlex

from program import (PROGRAM, Skip, command, document, expect, keeps_to_schema, limit_memory, load, main, parse, python_with,
                     throng, write)

SMALL = '--model synthetic:joints=24,keys=16,rate=15'
QUICK = f'--repetitions 2 --frames 1 --count 20 {SMALL}'
COMPARE_PY = '/usr/share/benchmark/compare.py'


def test_holds_for_what_every_command_writes():
    commands = (
        'bench --filter "pose/(scalar/f32|exact)|limit|crowd/1$|chunk|wake.*serial|frame/part" --counters --processes 2 ' + QUICK,
        'bench --dry-run --count 10 --filter "pose/scalar|interp/step/scalar|frame/part" ' + SMALL,
        'scale --threads 1,2 --share 30 --scheduler work-stealing,serial --counters '
        f'--repetitions 1 --frames 1 --count 20 {SMALL}',
        'scale --threads 1,2 --count 10 --dry-run ' + SMALL,
        'stress --frames 299 --budget-ms 1 --count 20 --threads 1,2 --counters ' + SMALL,
        'stress --frames 299 --budget-ms 10000 --count 3 --dry-run ' + SMALL,
        'compare --fail-on slower 0.json 0.json',
        'compare --fail-on slower 2.json 2.json',
        'compare --fail-on slower 4.json 4.json',
    )
    for i, line in enumerate(commands):
        if 'scale' in line:
            limit_memory()
        done = throng(f'{line} --out {i}.json')
        assert done.code <= 1, f'{line}: {done.err}'  # 1: stress missed its budget
    wrong = keeps_to_schema(*(f'{i}.json' for i in range(len(commands))))
    assert wrong == '', wrong


# What is set, by its JSON, or taken away.
BREAKS = (
    ('a', '', 'benchmarks', None),
    ('a', '', 'more', '{}'),
    ('a', 'context', 'throng_schema_version', None),
    ('a', 'context', 'throng_schema_version', '2'),
    ('a', 'context', 'unheard_of', '1'),
    ('a', 'context', 'command', '"throng bench"'),
    ('a', 'context', 'environment', '{"OMP_NUM_THREADS": 2}'),
    ('a', 'context', 'partial', None),
    ('a', 'context', 'seed', '1'),
    ('a', 'row', 'real_time', '"3"'),
    ('a', 'row', 'real_time', None),
    ('a', 'row', 'start_ns', None),
    ('a', 'row', 'order', '-1'),
    ('a', 'row', 'process', None),
    ('a', 'row', 'palette_hash', '"0x12"'),
    ('a', 'row', 'unheard_of', '1'),
    ('a', 'row', 'run_type', '"aggregate"'),
    ('a', 'aggregate', 'real_time_low', None),
    ('b', '', 'throng_schema_version', None),
    ('b', '', 'entries', '[{"name": "a"}]'),
    ('b', 'old', 'file', None),
)


def write_changed(whole, part, field, value, path):
    changed = copy.deepcopy(whole)
    rows = changed.get('benchmarks')
    # Behind two repetitions and the mean the median is the first aggregate with an interval.
    place = {'': changed, 'row': rows and rows[0], 'aggregate': rows and rows[3]}.get(part) or changed[part]
    if value is None:
        del place[field]
    else:
        place[field] = json.loads(value)
    write(path, json.dumps(changed))


def test_does_not_hold_for_broken_documents():
    expect(0, f'bench --out a.json --filter pose/scalar/f32 {QUICK}')
    expect(0, 'compare --fail-on slower a.json a.json --out b.json')
    assert (wrong := keeps_to_schema('a.json', 'b.json')) == '', wrong
    whole = {'a': load('a.json'), 'b': load('b.json')}
    for i, (name, *change) in enumerate(BREAKS):
        write_changed(whole[name], *change, f'broken-{i}.json')
    wrong = keeps_to_schema(*(f'broken-{i}.json' for i in range(len(BREAKS))))
    for i, change in enumerate(BREAKS):
        assert f'broken-{i}.json: ' in wrong, change


def test_without_a_version_is_not_read():
    expect(0, f'bench --out a.json --filter limit {QUICK}')
    write_changed(load('a.json'), 'context', 'throng_schema_version', None, 'old.json')
    expect(3, 'compare old.json a.json', 'old.json: its format has no version')


# Whatever bytes they have.
def test_command_line_and_environment_are_recorded():
    os.environ.update(OMP_SCHEDULE='dynamic,\udcff', GOMP_CPU_AFFINITY='0', OMPX='1')
    done = command(PROGRAM, 'bench', '--json', '--filter', 'limit|a b\udcff', '--seed', '7', *shlex.split(QUICK))
    context = parse(done.out)['context']
    assert context['command'][1] == 'bench' and context['command'][4] == 'limit|a b\ufffd', context
    assert len(context['command']) == 15 and context['seed'] == '7', context
    environment = context['environment']
    assert environment['OMP_SCHEDULE'] == 'dynamic,\ufffd' and environment['GOMP_CPU_AFFINITY'] == '0', environment
    assert 'OMPX' not in environment
    assert document('stress --json --dry-run --count 3 --seed 8')['context']['seed'] == '8'


# Each round has every place once, and one starts after the other.
def test_repetitions_say_when_they_ran():
    rows = [row for row in document(f'bench --json --filter "pose/scalar/f32|limit/write_cached" {QUICK}')['benchmarks']
            if 'process' in row]
    first, second = ([row for row in rows if row['repetition_index'] == i] for i in (0, 1))
    assert {row['order'] for row in first} == {row['order'] for row in second} == {0, 1}
    assert min(row['start_ns'] for row in second) > max(row['start_ns'] for row in first)


# ---- Google Benchmark's compare.py ----

def compare(old, new):
    if not os.path.exists(COMPARE_PY):
        raise Skip('no compare.py (Debian: libbenchmark-tools)')
    done = command(python_with('scipy'), COMPARE_PY, '--no-color', 'benchmarks', old, new)
    assert done.code == 0, done.err
    return done.out


def test_compare_py_prints_its_table_and_its_u_test():
    measure = '--frames 1 --count 20 --model synthetic:joints=4 --out old.json'
    expect(0, f'bench --filter "pose/scalar/f32|limit/write_cached|jobs/chunk" --repetitions 12 {measure}')
    new = load('old.json')
    # What failed has no times to compare, but must not keep the others from being compared.
    new['benchmarks'].append({
        'name': 'pose/wrong', 'run_name': 'pose/wrong', 'run_type': 'iteration', 'error_occurred': True,
        'error_message': 'wrong', 'iterations': 0, 'real_time': 0.0, 'cpu_time': 0.0, 'time_unit': 'us'})
    write('new.json', json.dumps(new))
    table = compare('old.json', 'new.json')
    for name in ('pose/scalar/f32', 'limit/write_cached', 'jobs/chunk/work-stealing'):
        for line in (rf'{name} .*\.', f'{name}_pvalue .*U Test, Repetitions: 12 vs 12', rf'{name}_median .*\.'):
            assert re.search(f'^{line}', table, re.M), f'no {line} in {table}'
    limit_memory()
    expect(0, f'scale --threads 1 --repetitions 2 {measure}')
    table = compare('old.json', 'old.json')
    for line in ('scale/threads:1_pvalue .*U Test, Repetitions: 2 vs 2', r'OVERALL_GEOMEAN .*\.'):
        assert re.search(f'^{line}', table, re.M), f'no {line} in {table}'
    assert 'nan' not in table, table


main(globals())
