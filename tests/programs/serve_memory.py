#!/usr/bin/env python3
"""Attacks the memory of `throng serve --max-memory`: models, crowds, pictures and runs that want more than there is.

    serve_memory.py PROGRAM

The peak resident memory (VmHWM) of the server and of the processes that it starts, summed over those that live at one
time, must stay within the budget and the stated bases; each attack must get its error, and a good model must play.
Exit code 1: something did not hold."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

from serve_client import Server, check, comes, make_model

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


def make_models(program, folder):
    """Good ones and hostile ones, a few kilobytes each on the disk."""
    def inside(name):
        return os.path.join(folder, name)
    with open(inside('triangle.bin'), 'wb') as file:
        file.write(struct.pack('<9f', 0, 0, 0, 1, 0, 0, 0, 1, 0))
    make_model(program, 'joints=4', inside('good.glb'))
    write_sparse(inside('huge.png'), 250 * MB)
    os.link(inside('huge.png'), inside('hard.png'))
    write_gltf(inside('six.gltf'), ['huge.png', './huge.png', '././huge.png', './/huge.png', '%68uge.png', 'hard.png'])
    write_sparse(inside('some.png'), 6 * MB)
    write_gltf(inside('shared.gltf'), ['some.png', './some.png', '././some.png', './/some.png', '%73ome.png'])
    for n in range(6):
        write_sparse(inside(f'part{n}.png'), 12 * MB)
    write_gltf(inside('parts.gltf'), [f'part{n}.png' for n in range(6)])
    write_png(inside('bomb0.png'), 8192)
    for n in range(1, 6):
        shutil.copy(inside('bomb0.png'), inside(f'bomb{n}.png'))
    write_gltf(inside('bombs.gltf'), [f'bomb{n}.png' for n in range(6)])


def state(server):
    return json.loads(server.ask('GET', '/api/state')[1])


def change(server, **settings):
    """The error of a change, or None."""
    before = state(server)['reconfiguration']
    status, body = server.ask('PATCH', '/api/settings', json.dumps(settings))
    check(status == 202, body)
    def over():
        now = state(server)['reconfiguration']
        return now if now['state'] == 'idle' and now['done'] + now['failed'] > before['done'] + before['failed'] else None
    return comes(over)['error']


def picture(server, width):
    """Status and text of the next picture that is ready. Another width: another picture, and not the last one again."""
    def ready():
        status, body = server.ask('GET', f'/api/picture.png?width={width}&height=64', timeout=60)
        return None if b'"too_slow"' in body else (status, body)
    return comes(ready, 120)


def run(server, kind, **options):
    status, body = server.ask('POST', '/api/runs', json.dumps({'kind': kind, 'options': options}))
    check(status == 202, body)
    path = f'/api/runs/{json.loads(body)["id"]}'
    def over():
        one = json.loads(server.ask('GET', path)[1])
        return one if one['state'] != 'running' else None
    return comes(over, 120)


def attack(server):
    for name in ('six.gltf', 'parts.gltf'):
        error = change(server, models=[name])
        check(error and name in error and 'MB' in error, f'{name}: {error}')
    check(change(server, models=['shared.gltf']) is None, 'a picture of five names is kept more than once')
    check(change(server, models=['human'], count=100000) is not None, 'a crowd of 250 MB fits')
    check(change(server, models=['bombs.gltf'], count=4) is None, 'small files do not fit')
    status, body = picture(server, 96)
    check(status in (200, 503), body)
    one = run(server, 'scale', count=100000, threads='1')
    check(one['state'] == 'failed' and one['exit_code'] == 4 and 'memory' in one['message'], one)
    one = run(server, 'scale', count=10, threads='1', models=['six.gltf'])
    check(one['state'] == 'failed' and one['exit_code'] == 3 and 'six.gltf' in one['message'], one)


def use(server):
    """What is good works under the same limit, after all that."""
    check(change(server, models=['good.glb'], count=1000) is None, 'a good model does not fit')
    one = run(server, 'scale', count=100, threads='1', repetitions=1, frames=1)
    check(one['state'] == 'done', one)
    check(comes(lambda: picture(server, 64)[0] == 200), 'no picture')  # a failure is not tried again for a second
    memory = state(server)['memory']
    check(memory['budget_bytes'] == BUDGET * 1000000 and memory['models_bytes'] > 0 and memory['runs_bytes'] == 0, memory)


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix='throng-memory-') as folder:
        make_models(program, folder)
        server = Server(program, folder, '--max-memory', str(BUDGET), '--model', '.', '--threads', '2')
        watch = Watch(server)
        try:
            check(server.wait_ready(), server.said())
            watch.start()
            attack(server)
            use(server)
            watch.stop()
            print(f'{watch.most:.0f} MB beyond the bases at once;', ', '.join(f'{n} {p:.0f} MB' for n, p in watch.peaks.items()))
            check(watch.most <= BUDGET, watch.peaks)
            check(server.end(), server.said())
        except (AssertionError, OSError) as why:
            sys.exit(f'{type(why).__name__}: {why}\n{server.said()}')
        finally:
            server.process.kill()


if __name__ == '__main__':
    main()
