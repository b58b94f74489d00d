#!/usr/bin/env python3
"""Writes what fuzzing begins with: seeds.py THRONG FOLDER. A folder for each target, a few small files in each."""

import pathlib
import shutil
import struct
import subprocess
import sys
import zlib

throng = pathlib.Path(sys.argv[1])
out = pathlib.Path(sys.argv[2])
data = pathlib.Path(__file__).resolve().parent.parent / "data"


def write(target, name, content):
    (out / target).mkdir(parents=True, exist_ok=True)
    (out / target / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def png(width, height, colour, depth, rows):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    palette = chunk(b"PLTE", bytes(range(48))) + chunk(b"tRNS", bytes(4)) if colour == 3 else b""
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + palette + chunk(b"IDAT", zlib.compress(rows)) +
            chunk(b"IEND", b""))


def images():
    write("image", "rgb.png", png(2, 2, 2, 8, b"\1abcdef\4ghijkl"))
    write("image", "palette.png", png(8, 2, 3, 4, b"\0abcd\2efgh"))
    write("image", "grey16.png", png(2, 2, 4, 16, b"\3" + bytes(8) + b"\2" + bytes(8)))
    jpeg = "ffd8" "ffdb004300" + "10" * 64 + "ffc0000b080010001001011100"
    jpeg += "ffc400160000030000000000000000000000000000" "000405" + "ffc400141001" + "00" * 15 + "00"
    write("image", "grey.jpg", bytes.fromhex(jpeg + "ffda0008010100003f00" "6400ffd9"))
    write("image", "two.tga", struct.pack("<BBBHHBHHHHBB", 0, 0, 10, 0, 0, 0, 0, 0, 2, 2, 32, 8) + b"\x83abcd")
    write("image", "two.bmp", b"BM" + struct.pack("<IIIIiiHHIIiiII", 70, 0, 54, 40, 2, 2, 1, 24, 0, 16, 0, 0, 0, 0) +
          bytes(16))
    write("image", "lossless.webp",
          bytes.fromhex("524946461c000000574542505650384c100000002f0240001098fff99fff03fe8726c33f"))
    write("image", "lossy.webp",
          bytes.fromhex("524946462400000057454250565038201800000030" "01009d012a1000100002c04c25a400037000fed6d80000"))


def models():
    for path in (data.parent / "golden/models/collada").glob("*.dae"):
        write("collada", path.name, path.read_bytes())
    for path in data.iterdir():
        write("import", path.name, f"{path.suffix[1:]}\n".encode() + path.read_bytes())
    write("import", "obj", "obj\nmtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\ng a\nusemtl b\n"
          "f 1/1/1 2/1/1 3/1/1\n")
    write("import", "stl", "stl\nsolid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
          "endloop\nendfacet\nendsolid a\n")
    write("import", "bvh", "bvh\nHIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition "
          "Zrotation Xrotation Yrotation\nJOINT b\n{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
          "End Site\n{\nOFFSET 0 1 0\n}\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n0 0 0 0 0 0 0 0 0\n"
          "0 1 0 9 0 0 0 45 0\n")
    importer = throng.parent / "throng-import"
    for name in "blend.fbx", "draco.glb", "morph.glb", "packed.glb", "nothing":
        answer = subprocess.run([importer, data / name], stdout=subprocess.PIPE).stdout
        write("archive", name, answer)
    write("gltf", "beside.bin", bytes(4096))


def http():
    requests = (("GET /api/state 127.0.0.1:8347", ""),
                ("GET /api/runs/7/result localhost http://localhost:8347 same-origin", ""),
                ("PATCH /api/settings [::1]:8347 http://[::1]:8347 same-origin Bearer_0123456789abcdef "
                 "application/json 99",
                 '{"count": 9, "threads": 2, "rate_hz": 60.5, "paused": true, "models": ["human"], '
                 '"clips": {"walk": 1.5}, "interpolation": "cubic"}'),
                ("POST /api/runs throng.example none none Bearer_0123456789abcdef application/json;charset=utf-8 7",
                 '{"kind": "scale", "options": {"count": 10, "threads": "1-3", "filter": "x", "model": ["human"]}, '
                 '"pause": false}'))
    for number, (head, body) in enumerate(requests):
        fields = (head.split(" ") + [""] * 9)[:9]
        write("http", str(number), "\n".join(fields).replace("_", " ") + "\n" + body)


shutil.rmtree(out, ignore_errors=True)
out.mkdir(parents=True)
images()
models()
http()
