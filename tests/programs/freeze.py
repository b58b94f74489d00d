#!/usr/bin/env python3
"""Writes down all that must stay the same while code is moved: freeze.py BUILD FOLDER. Run before and after a change,
`diff -r` shows what it changed.

BUILD is a build folder (release). Poses, pictures and instructions are this machine's: run both on the same one.
"""
import collections
import hashlib
import json
import pathlib
import re
import subprocess
import sys

MODELS = ['human', 'synthetic:joints=40,clips=3,scale=on', 'synthetic:joints=20,clips=2,weights=4']
FILES = ['glTF2/simple_skin/simple_skin.gltf', 'glTF2/BoxTexcoords-glTF/boxTexcoords.gltf', 'X/Testwuson.X', 'BVH/Boxing_Toes.bvh',
         'FBX/close_to_identity_transforms.fbx', 'Collada/duck.dae', 'MD5/SimpleCube.md5mesh', 'B3D/WusonBlitz.b3d']
COMMANDS = 'inspect pose bench scale stress compare render serve view demo'.split()
SMALL = {
    'inspect': '', 'pose': '--time 0.3', 'bench': '--dry-run --count 10 --filter ^(pose|frame|jobs)/',
    'scale': '--count 200 --repetitions 2 --frames 1 --threads 1,2 --scheduler work-stealing,openmp-static',
    'stress': '--count 50 --frames 299 --threads 1', 'render': '--count 4 --size 64x64 --out picture.png',
    'demo': '--frames 1 --fps 1 --size 64x64 --out demo-%d.png'}
PICTURES = {
    'grid': '--count 30', 'street': '--scene street --count 40', 'plaza': '--scene plaza --count 40',
    'stadium': '--scene stadium --count 300', 'graph': '--behaviour graph --count 20 --start 3', 'quat16': '--palette quat16',
    'gpu': '--evaluator gpu --count 30', 'skeleton': '--look skeleton --count 5', 'lod': '--look lod --count 500',
    'synthetic': '--model synthetic:joints=30,clips=2', 'levels': '--animation-budget bones:3000 --count 300', 'share': '--share 10 --count 100'}


def keys(value, path=''):
    """Of a JSON document: where there is what."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from keys(inner, f'{path}.{key}')
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, path + '[]')
    else:
        yield path


def lines_by_room():
    rooms = collections.Counter()
    for name in subprocess.check_output(['git', 'ls-files'], text=True).split():
        if re.search(r'\.(c|h|cpp|glsl|vert|frag|comp|html|js|py|sh)$', name):
            text = pathlib.Path(name).read_text(errors='replace')
            text = re.sub(r'^\s*#.*$' if name.endswith(('py', 'sh')) else r'^\s*//.*$|/\*.*?\*/', '', text,
                          flags=re.M if name.endswith(('py', 'sh')) else re.M | re.S)
            rooms['/'.join(name.split('/')[:-1][:3]) or '.'] += sum(1 for line in text.split('\n') if line.strip())
    return ''.join(f'{room} {count}\n' for room, count in sorted(rooms.items()))


def instructions(build):
    """Hashes of the kernels' functions, without addresses."""
    for path in sorted(build.glob('anim/CMakeFiles/th_anim.dir/kernels/pose_*.o')):
        text = subprocess.check_output(['objdump', '-dr', '--no-show-raw-insn', path], text=True)
        for block in text.split('\n\n'):
            head, _, code = block.strip().partition('\n')
            if found := re.search(r'<(.*)>:', head):
                code = re.sub(r'^\s*[0-9a-f]+:|<.*?>|\b[0-9a-f]{2,}\b', '', code, flags=re.M)
                yield f'{path.stem} {found[1]} {hashlib.sha1(code.encode()).hexdigest()[:12]}\n'


def main():
    build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True)
    program = build / 'bin/throng'

    def run(arguments, name=None, only='stdout'):
        words = [program, *(arguments.split() if isinstance(arguments, str) else arguments)]
        done = subprocess.run(words, capture_output=True, cwd=folder, timeout=600)
        if name:
            text = getattr(done, only) + f'exit code {done.returncode}\n'.encode()
            (folder / name).write_bytes(text)
        return done

    (folder / 'lines').write_text(lines_by_room())
    (folder / 'instructions').write_text(''.join(instructions(build)))
    names = subprocess.check_output(['nm', '-g', '--defined-only', '-P', build / 'libthrong.a', build / 'libthrong-render.a'], text=True)
    (folder / 'exports').write_text('\n'.join(sorted({n.split()[0] for n in names.split('\n') if ' T ' in n or ' R ' in n})))
    for command in COMMANDS:
        run(['help', command], f'help-{command}')
    run('help', 'help')
    run('help synthetic', 'help-synthetic')
    hashes = ''
    for model in MODELS:
        done = run(['bench', '--model', model, '--count', '50', '--dry-run', '--json'])
        for row in json.loads(done.stdout)['benchmarks']:
            hashes += f"{model} {row['name']} {row.get('palette_hash')} {row.get('max_error')} {row.get('flops')}\n"
    (folder / 'hashes').write_text(hashes)
    models = pathlib.Path('/usr/share/assimp/models')
    for file in FILES:
        for command in ('inspect', 'pose --time 0.2'):
            run([*command.split(), '--model', models / file, '--json'], f"{command.split()[0]}-{file.split('/')[-1]}")
    for command, arguments in SMALL.items():
        done = run(f'{command} {arguments} --json')
        seen = sorted(set(keys(json.loads(done.stdout or b'{}'))))
        (folder / f'keys-{command}').write_text('\n'.join(seen) + f'\nexit code {done.returncode}\n')
    pictures = ''
    for name, arguments in PICTURES.items():
        run(f'render {arguments} --size 320x180 --isa scalar --out {name}.png')
        pictures += f'{name} {hashlib.sha1((folder / (name + ".png")).read_bytes()).hexdigest()}\n'
    (folder / 'pictures').write_text(pictures)


if __name__ == '__main__':
    main()
