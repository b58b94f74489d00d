"""PNG pictures as tests compare them."""

import struct
import zlib

ROUNDING, OFF, MOST_OFF, MOST_RMSE = 1, 5, 0.0002, 3e-4  # as in fixture_golden.c


def unfilter(kind, row, above, size):
    """PNG, chapter 9: each byte of a row is told by its neighbours to the left and above."""
    for i, byte in enumerate(row):
        left, up, corner = (row[i - size], above[i], above[i - size]) if i >= size else (0, above[i], 0)
        guess = left + up - corner
        paeth = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
        row[i] = (byte + (0, left, up, (left + up) // 2, paeth)[kind]) & 255
    return row


def decode(png):
    """(width, height, rows) of 8-bit RGB or RGBA; a row is a list of colours."""
    at, packed = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", png[at + 8:at + 18])
        elif kind == b"IDAT":
            packed += png[at + 8:at + 8 + size]
        at += size + 12
    assert depth == 8 and colours in (2, 6), (depth, colours)
    size = 3 if colours == 2 else 4
    filtered, rows, above = zlib.decompress(packed), [], bytearray(width * size)
    for y in range(height):
        begin = y * (width * size + 1)
        above = unfilter(filtered[begin], bytearray(filtered[begin + 1:begin + 1 + width * size]), above, size)
        rows.append([tuple(above[x * size:x * size + 3]) for x in range(width)])
    return width, height, rows


def compare(one, other):
    """Whether they are the same by the rule of stored pictures, and how far they are apart."""
    width, height, rows = one
    if (width, height) != other[:2]:
        return False, "other sizes"
    apart = [[abs(a - b) for a, b in zip(p, q)] for row, other_row in zip(rows, other[2]) for p, q in zip(row, other_row)]
    off = sum(max(by) > OFF for by in apart)
    rmse = (sum(v * v for by in apart for v in by if v > ROUNDING) / (3 * width * height)) ** 0.5 / 255
    text = f"{off} pixels off, RMSE {rmse:.2g}, at most {max(map(max, apart))} of 255"
    return off <= MOST_OFF * width * height and rmse <= MOST_RMSE, text
