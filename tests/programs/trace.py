#!/usr/bin/env python3
"""--trace from outside: what is in the file, and what goes wrong. Tests in the form of program.py."""
import os

from program import document, expect, limit_memory, main, need_opengl, throng
from traces import Trace

MOST = 16  # frames of a row
SMALL = '--model synthetic:joints=8,clips=2,keys=16,rate=15'


def trace_of(arguments, codes=(0,)):
    """Runs the program with a trace and reads that."""
    done = throng(f'{arguments} {SMALL} --trace t.json')
    assert done.code in codes, f'{arguments}: {done.err}'
    return Trace('t.json')


# Whether a trace has all stages of a run, one after the other, is a matter of what is in it, not of how long it took.
def expect_stages(trace, *stages):
    assert not trace.bare_frames(), trace.bare_frames()
    for stage in stages:
        assert trace.count('stage', stage) > 0, stage


def expect_frames(trace, row, chunks):
    """Some frames of the row, with so many chunks each."""
    frames = trace.count('frame', process=row)
    assert 1 <= frames <= MOST, f'{row}: {frames} frames'
    assert trace.count('chunk', process=row) == chunks * frames, f'{row}: {trace.count("chunk", process=row)} chunks'


def test_of_scale_has_some_frames_of_each_row():
    limit_memory()
    expect(3, 'scale --model missing.glb --trace t.json', 'missing.glb')
    assert not os.path.exists('t.json'), 'it is written only when the command went well'
    trace = trace_of('scale --count 100 --threads 1,2 --repetitions 2 --frames 2')
    expect_stages(trace, 'load', 'prepare', 'check', 'measure', 'trace')
    for row in ('scale/threads:1', 'scale/threads:2', 'scale/sampling/threads:1'):
        expect_frames(trace, row, 3)  # 6 batches, two in a chunk
        assert trace.us('chunk', 'run', row) <= 2 * trace.us('frame', None, row), row


def test_of_bench_has_some_frames_of_each_entry():
    trace = trace_of('bench --count 20 --repetitions 2 --frames 2 --filter '
                     '"play/forward|pose/tutorial|jobs/(stages|frame).*/(work-stealing|serial)|jobs/trace"')
    for row, chunks in (('play/forward', 0), ('pose/tutorial', 0), ('jobs/stages:64/work-stealing', 3 * 8),
                        ('jobs/stages:64/serial', 3 * 8), ('jobs/frame:60hz/work-stealing', 3 * 125),
                        ('jobs/trace/on', 0), ('jobs/trace/off', 256)):
        expect_frames(trace, row, chunks)


def trace_of_stress(more):
    """Whether so few characters hold the budget is up to the machine."""
    return trace_of(f'stress --budget-ms 1 --frames 299 {more}', (0, 1))


def test_of_stress_has_frames_behind_those_that_count():
    trace = trace_of_stress('--count 100 --threads 1,2')
    for row in ('stress/threads:1', 'stress/threads:2'):
        expect_frames(trace, row, 3)  # 6 batches, two in a chunk
        assert trace.count('frame', process=row) == trace.count('stage', 'pose', row) == MOST, row
    assert trace.count('frame') == 2 * MOST, 'none of those that count'
    assert '"ns per bone"' in trace.text
    expect_stages(trace, 'load', 'prepare', 'check', 'search', 'trace')


def test_of_stress_that_draws_has_the_stages_of_a_picture():
    row = 'stress/drawn/threads:2'
    need_opengl()
    trace = trace_of_stress('--draw --size 64x36 --shadow 64 --count 4 --threads 2')
    for stage in ('wait', 'cull', 'pose', 'draw', 'resolve', 'swap'):
        assert trace.count('stage', stage, row) == MOST, stage
    assert trace.count('frame') == trace.count('chunk', 'pose', row) == MOST, 'a batch in each'


def test_of_render_agrees_with_what_it_says():
    need_opengl()
    said = document(f'render --count 64 --size 320x180 --frames 3 --out f%d.png --json {SMALL} --trace t.json')
    trace = Trace('t.json')
    expect_stages(trace, 'load', 'prepare', 'draw frames', 'finish')
    for stage in ('cull', 'wait', 'pose', 'draw', 'read', 'write'):
        ms, traced_ms = said['ms_per_frame'][stage], trace.us('stage', stage, 'throng render') / 1e3 / 3
        assert trace.count('stage', stage, 'throng render') == 3, stage
        assert abs(traced_ms - ms) <= 1e-5 * ms + 1e-6, f'{stage}: the document has six digits, the trace nanoseconds'
    assert trace.count('frame') == 3 and trace.count('chunk', 'cull') > 0
    assert trace.count('chunk', 'pose') == 3 * 2, '4 batches, two in a chunk'
    assert '"characters visible"' in trace.text and '"ns per bone"' in trace.text


main(globals())
