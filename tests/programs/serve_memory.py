#!/usr/bin/env python3
"""Attacks the memory of `throng serve --max-memory`: models, crowds, pictures and runs that want more than there is. Tests in
the form of program.py.

The peak resident memory (VmHWM) of the server and of the processes that it starts, summed over those that live at one
time, must stay within the budget and the stated bases; each attack must get its error, and a good model must play."""
import json
import os
import shutil
import struct
import threading
import time
import zlib

from program import HUMAN, command, main, parse
from serve_client import Crowd, comes

MB = 1 << 20
BUDGET = 50
# What programs need before they have read or drawn anything (docs/guide/serving.md), by the names of the processes: a run
# is /proc/self/exe, and a process that has not got its own name yet has that of the thread that starts it.
BASES = {'throng': 64, 'throng-import': 64, 'throng-pictures': 192 + 80, 'exe': 64 + 2 * 8}
STARTING = 64


def processes(pid):
    """It and all that descend from it. The importer has no environment to be found by."""
    found = [pid]
    for parent in found:
        try:
            for thread in os.listdir(f'/proc/{parent}/task'):
                with open(f'/proc/{parent}/task/{thread}/children') as file:
                    found += map(int, file.read().split())
        except OSError:
            pass
    return found


class Watch(threading.Thread):
    """The most that the processes of a server have used at one time, beyond their bases."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.most, self.peaks, self.stops = server, 0, {}, False

    def run(self):
        while not self.stops:
            beyond = 0
            for pid in processes(self.server.process.pid):
                try:
                    with open(f'/proc/{pid}/status') as file:
                        status = dict(line.split(':', 1) for line in file)
                    name, peak = status['Name'].strip(), int(status['VmHWM'].split()[0]) / 1024
                except (OSError, KeyError):
                    continue  # it has ended
                self.peaks[name] = max(self.peaks.get(name, 0), peak)
                beyond += max(0, peak - BASES.get(name, STARTING))
            self.most = max(self.most, beyond)
            time.sleep(0.01)

    def stop(self):
        self.stops = True
        self.join()


def write_gltf(path, images):
    """A triangle for each image, and nothing else."""
    with open(path, 'w') as file:
        json.dump({
            'asset': {'version': '2.0'}, 'scene': 0, 'scenes': [{'nodes': [0]}], 'nodes': [{'mesh': 0}],
            'buffers': [{'uri': 'triangle.bin', 'byteLength': 36}],
            'bufferViews': [{'buffer': 0, 'byteLength': 36}],
            'accessors': [{'bufferView': 0, 'componentType': 5126, 'type': 'VEC3', 'count': 3, 'min': [0, 0, 0],
                           'max': [1, 1, 0]}],
            'images': [{'uri': image} for image in images],
            'textures': [{'source': i} for i in range(len(images))],
            'materials': [{'pbrMetallicRoughness': {'baseColorTexture': {'index': i}}} for i in range(len(images))],
            'meshes': [{'primitives': [{'attributes': {'POSITION': 0}, 'material': i} for i in range(len(images))]}],
        }, file)


def write_png(path, side):
    """Black: small in the file, and large where it is decoded."""
    def chunk(kind, body):
        return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
    # Blocks that each stand for themselves: the second of 32 rows is all others as well. Its checksum is that of zeros.
    deflate, rows, size = zlib.compressobj(1), bytes((4 * side + 1) * 32), (4 * side + 1) * side
    first, second = (deflate.compress(rows) + deflate.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    body = first + second * (side // 32 - 1) + b'\3\0' + struct.pack('>I', size % 65521 << 16 | 1)
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', side, side, 8, 6, 0, 0, 0)) +
                   chunk(b'IDAT', body) + chunk(b'IEND', b''))


def write_sparse(path, size):
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n')
        file.truncate(size)


def make_models():
    """Good ones and hostile ones, a few kilobytes each on the disk."""
    with open('triangle.bin', 'wb') as file:
        file.write(struct.pack('<9f', 0, 0, 0, 1, 0, 0, 0, 1, 0))
    assert command(HUMAN, 'synthetic:joints=4', 'good.glb').code == 0
    write_sparse('huge.png', 250 * MB)
    os.link('huge.png', 'hard.png')
    write_gltf('six.gltf', ['huge.png', './huge.png', '././huge.png', './/huge.png', '%68uge.png', 'hard.png'])
    write_sparse('some.png', 6 * MB)
    write_gltf('shared.gltf', ['some.png', './some.png', '././some.png', './/some.png', '%73ome.png'])
    for n in range(6):
        write_sparse(f'part{n}.png', 12 * MB)
    write_gltf('parts.gltf', [f'part{n}.png' for n in range(6)])
    write_png('bomb0.png', 8192)
    for n in range(1, 6):
        shutil.copy('bomb0.png', f'bomb{n}.png')
    write_gltf('bombs.gltf', [f'bomb{n}.png' for n in range(6)])


def change(server, **settings):
    """The error of a change, or None."""
    before = server.state()['reconfiguration']
    server.change(202, **settings)
    def over():
        now = server.state()['reconfiguration']
        return now if now['state'] == 'idle' and now['done'] + now['failed'] > before['done'] + before['failed'] else None
    return comes(over)['error']


def picture(server, width):
    """The next one that is ready. Another width: another picture, and not the last one again."""
    def ready():
        answer = server.request('GET', f'/api/picture.png?width={width}&height=64')
        return None if '"too_slow"' in answer.text else answer
    return comes(ready)


def run(server, kind, **options):
    path = f'/api/runs/{parse(server.expect(202, "POST", "/api/runs", {"kind": kind, "options": options}).text)["id"]}'
    def over():
        one = server.document(path)
        return one if one['state'] != 'running' else None
    return comes(over)


def attack(server):
    for name in ('six.gltf', 'parts.gltf'):
        error = change(server, models=[name])
        assert error and name in error and 'MB' in error, f'{name}: {error}'
    assert change(server, models=['shared.gltf']) is None, 'a picture of five names is kept more than once'
    assert change(server, models=['human'], count=100000) is not None, 'a crowd of 250 MB fits'
    assert change(server, models=['bombs.gltf'], count=4) is None, 'small files do not fit'
    shown = picture(server, 96)
    assert shown.status in (200, 503), shown.text
    one = run(server, 'scale', count=100000, threads='1')
    assert one['state'] == 'failed' and one['exit_code'] == 4 and 'memory' in one['message'], one
    # Too large for what a run may take, or for what is left of that when it has been read.
    one = run(server, 'scale', count=10, threads='1', models=['six.gltf'])
    assert one['state'] == 'failed' and one['exit_code'] in (3, 4) and 'six.gltf' in one['message'], one


def use(server):
    """What is good works under the same limit, after all that."""
    assert change(server, models=['good.glb'], count=1000) is None, 'a good model does not fit'
    one = run(server, 'scale', count=100, threads='1', repetitions=1, frames=1)
    assert one['state'] == 'done', one
    assert comes(lambda: picture(server, 64).status == 200), 'no picture'  # a failure is not tried again for a second
    memory = server.state()['memory']
    assert memory['budget_bytes'] == BUDGET * 1000000 and memory['models_bytes'] > 0 and memory['runs_bytes'] == 0, memory


def test_stays_within_the_budget():
    make_models()
    server = Crowd(f'--max-memory {BUDGET} --model . --threads 2')
    watch = Watch(server)
    watch.start()
    attack(server)
    use(server)
    watch.stop()
    print(f'{watch.most:.0f} MB beyond the bases at once;', ', '.join(f'{n} {p:.0f} MB' for n, p in watch.peaks.items()))
    assert watch.most <= BUDGET, watch.peaks
    server.stop()


main(globals())
