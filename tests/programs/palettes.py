#!/usr/bin/env python3
"""The palettes and errors of this version against those that are stored: a change of either shows in a commit. A test in the
form of program.py.

Palettes are stored by arithmetic, not by machine: kernels that fuse multiply-add write one set of bytes, those that do not
another. What computes in double precision (exact, tutorial) uses the C library, which rounds differently from CPU to CPU: of
it only errors are stored. THRONG_GOLDEN_UPDATE=1 stores all anew."""
import os

from program import SOURCE, document, main, read, write

STORED = f'{SOURCE}/tests/golden/palettes.txt'
ARITHMETIC = {'scalar': 'plain', 'sse4': 'plain', 'avx2': 'fused', 'avx512': 'fused', 'neon': 'fused'}


def entry_of(row):
    """(name, hash, error, error against the source). pose/avx2/f32 is pose/fused/f32."""
    words = row['name'].split('/')
    by_kernel = any(word in ARITHMETIC for word in words)
    return ('/'.join(ARITHMETIC.get(word, word) for word in words), row['palette_hash'] if by_kernel else '-',
            row.get('max_error', 0), row.get('error_vs_source', 0))


def test_are_those_that_are_stored():
    rows = document('bench --dry-run --filter "^(pose|interp)/" --count 100 --json')['benchmarks']
    fuses = any('fused' in entry_of(row)[0] for row in rows)
    if os.environ.get('THRONG_GOLDEN_UPDATE'):
        assert fuses, 'not stored: no kernel here fuses'
        lines = {}
        for row in rows:
            lines.setdefault(entry_of(row)[0], '%s %s %.6g %.6g\n' % entry_of(row))
        write(STORED, ''.join(lines.values()))
    stored = {name: (palettes, float(error), float(error_vs_source))
              for name, palettes, error, error_vs_source in map(str.split, read(STORED).splitlines())}
    for row in rows:
        name, palettes, *errors = entry_of(row)
        assert name in stored, f'{row["name"]}: {name} is not stored'
        then, *errors_then = stored[name]
        assert palettes == then, f'{row["name"]}: palettes {palettes}, stored {then}'
        for error, error_then in zip(errors, errors_then):
            assert abs(error - error_then) <= 0.01 * error_then, f'{row["name"]}: {error}, stored {error_then}'
    for name in set(stored) - {entry_of(row)[0] for row in rows}:
        assert not fuses and 'fused' in name, f'{name} is stored, but nothing computes it'


main(globals())
