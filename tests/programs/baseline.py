#!/usr/bin/env python3
"""Results that are kept and compared, from outside: files, names, processes and exit codes. Tests in the form of
program.py."""
import collections
import json
import os

from program import document, expect, limit_memory, load, main, write

# Quick, and not for its times.
SMALL = '--model synthetic:joints=4'
MEASURE = f'bench {SMALL} --filter "pose/scalar/f32|limit" --count 20 --frames 1 --repetitions 12'


def begin():
    os.environ['XDG_DATA_HOME'] = os.getcwd()


# ---- keeping ----

def test_save_keeps_the_result_under_its_name_which_hides_no_folder():
    kept = 'throng/baselines/first.1_a-b.json'
    assert document(f'{MEASURE} --save first.1_a-b --json') == load(kept)
    expect(0, f'{MEASURE} --save first.1_a-b')
    os.mkdir('first.1_a-b')
    assert os.listdir('throng/baselines') == ['first.1_a-b.json'], 'replaced, and nothing else left'
    for new, said in (('first.1_a-b', 'old: baseline first.1_a-b, commit '), (kept, f'new: {kept}, commit ')):
        out = expect(0, f'compare first.1_a-b {new} --fail-on slower').out
        assert said in out, out


def test_neither_the_kept_nor_the_compared_is_replaced_by_another_result():
    expect(0, f'{MEASURE} --dry-run --save a --out a.json')
    expect(2, f'{MEASURE} --save a --trace throng/baselines/a.json', '--save and --trace are the same file, throng/')
    expect(2, f'{MEASURE} --save b --trace ./throng/baselines/b.json', '--save and --trace are the same file, ./throng/')
    expect(2, 'compare a a.json --out ./a.json', '--out would replace a.json, which is to be read')
    expect(2, 'compare a a.json --out throng/baselines/a.json', '/throng/baselines/a.json, which is to be read')
    expect(0, 'compare a a.json --force')


def test_folder_follows_the_environment():
    save = f'{MEASURE} --dry-run --save a'
    os.environ.update(HOME=os.getcwd(), XDG_DATA_HOME='relative/is/ignored')
    expect(0, save)
    assert os.path.exists('.local/share/throng/baselines/a.json')
    del os.environ['HOME']
    expect(4, save, 'neither XDG_DATA_HOME nor HOME is a folder')
    os.environ['XDG_DATA_HOME'] = '/dev/null'
    expect(3, save, 'cannot make /dev/null/throng: Not a directory')


# ---- processes ----

def test_processes_measure_one_after_the_other_into_one_result():
    result = document(f'{MEASURE} --processes 3 --json')
    assert result['context']['processes'] == 3
    assert all(row['repetitions'] == 36 for row in result['benchmarks'])
    counts = collections.Counter((row['family_index'], row['process']) for row in result['benchmarks'] if 'process' in row)
    assert counts == {(family, process): 12 for family in range(3) for process in range(3)}, counts


# Its intervals are those of the processes.
def test_scaling_study_is_repeated_whole_in_each_process_and_compared():
    scale = f'scale {SMALL} --count 20 --threads 2 --frames 1 --repetitions 2'
    expect(0, f'{scale} --processes 2 --out a.json --out a.html')
    result = load('a.json')
    assert result['scaling']['interval_unit'] == 'process'
    counts = collections.Counter(row['process'] for row in result['benchmarks'] if 'process' in row)
    assert set(counts) == {0, 1} and counts[0] == counts[1], counts
    for name in 'bc':
        expect(0, f'{scale} --save {name}')
    expect(5, 'compare b c', 'scale/threads:2: inconclusive: 1 process\n')
    assert 'identical in every repetition' in expect(0, 'compare b b').out


def test_what_is_kept_is_measured_in_twelve_processes():
    measure = f'bench {SMALL} --filter limit/write_cached --count 1 --max-time 0.001 --json'
    for options, processes in (('--save a', 12), ('', 1)):
        assert document(f'{measure} {options}')['context']['processes'] == processes, options


# ---- comparing ----

def write_changed(path, change):
    """a.json with each of its rows changed."""
    result = load('a.json')
    for row in result['benchmarks']:
        change(row)
    write(path, json.dumps(result))


def test_exit_code_says_whether_anything_became_worse():
    def steady(row):  # times that have nothing of the machine's mood
        steady_times = {'cpu_time': 12.5, 'real_time': 12.5, 'core_clock_ns': 1}
        row.update((name, value) for name, value in steady_times.items() if name in row)

    def change(name, new):
        return lambda row: row.update({name: new(row[name])} if name in row else {})

    expect(0, f'{MEASURE} --processes 8 --out a.json')
    write_changed('a.json', steady)
    write_changed('slow.json', change('real_time', lambda time: 1.5 * time))
    write_changed('other.json', change('palette_hash', lambda _: '0123456789abcdef'))
    write_changed('coarse.json', change('max_error', lambda error: 2 * error))
    for code, options, says in (
            (0, 'a.json a.json', ''),
            (1, 'a.json slow.json', 'throng: pose/scalar/f32: slower: median, mean, worst 5 %; CPU time +0.0 %\n'),
            (0, 'slow.json a.json', ''),
            (0, 'a.json slow.json --threshold 60', ''),
            (5, 'a.json slow.json --filter limit', 'all entries are baselines, so none is judged'),
            (1, 'a.json other.json', 'pose/scalar/f32: its palettes changed'),
            (1, 'a.json coarse.json --threshold 60', 'pose/scalar/f32: its error grew'),
            (3, 'a.json slow.json --filter nowhere', 'no entry in common that the filter lets through')):
        expect(code, f'compare {options}', says)
    # Rubbish: tests/golden/documents/messages.txt.


# Where there is no OpenGL, pictures are left out, and the rest is as good as ever.
def test_entries_that_are_left_out_harm_nothing():
    os.environ.update(LIBGL_DRIVERS_PATH='/nonexistent', __EGL_VENDOR_LIBRARY_DIRS='/nonexistent')
    expect(0, f'bench {SMALL} --filter "limit|frame/all_visible/whole" --count 20 --frames 1 --repetitions 12 '
           '--processes 2 --save a')
    out = expect(0, 'compare a a').out
    assert '1 without times, 2 of baselines' in out, out


main(globals(), begin, limit_memory)
