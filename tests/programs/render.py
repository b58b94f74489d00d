#!/usr/bin/env python3
"""`throng render` and `throng demo` from outside: pictures, what is said of them, and what goes wrong. Tests in the form of
program.py."""
import base64
import json
import os
import struct
import subprocess
import zlib

from program import PROGRAM, document, expect, load, main, need_opengl, parse, read_bytes, throng, write

RIG = '--model synthetic:joints=20,clips=2'  # what is faster to start with, and to draw, than the human
PLAIN = f'{RIG} --size 64x36 --count 40'
TINY = f'{PLAIN} --samples 1 --shadow 64'


def are_same(one, other):
    return read_bytes(one) == read_bytes(other)


def draw(name, options):
    """The same crowd in a small picture, some other way."""
    return expect(0, f'render {TINY} --out {name} {options}')


# Looks and scenes: test_golden.c. Other options: test_options.c.
def test_shows_what_it_is_told():
    draw('f-%02d.png', '--frames 3')
    assert sorted(os.listdir()) == ['f-00.png', 'f-01.png', 'f-02.png']
    assert not are_same('f-00.png', 'f-01.png')
    draw('one.png', '--start 0.0666666666666667')
    assert are_same('f-02.png', 'one.png'), 'two thirtieths of a second later'
    for way in ('--samples 1 --shadow 0', '--samples 4 --shadow 64', '--samples 1 --shadow 64 --clip 1'):
        expect(0, f'render {PLAIN} {way} --out other.png')
        assert not are_same('f-00.png', 'other.png'), f'{way} changes nothing'


# Who shares or holds a pose is not evaluated; with a behaviour nobody shares, and that is said. More are listed than drawn
# where shadows come in from outside.
def test_document_counts_who_was_drawn_and_how():
    first_bytes = None
    for options, traits in (('--count 300 --camera ,,0.05 --share 30', 'saves'),
                            ('--count 300 --camera ,,0.05 --share 30 --behaviour graph', 'keeps apart'),
                            ('--count 300 --camera ,,1 --frames 4 --animation-budget bones:1500', 'saves, has fewer bones'),
                            ('--count 1000 --camera ,40,3', 'has shadows of others'),
                            ('--count 1000 --camera ,40,3 --shadow 0', '')):
        said = document(f'render {RIG} --size 64x36 --samples 1 --out f%d.png --json {options}')
        characters = int(options.split()[1])
        listed, drawn, evaluated, bones, held, shared, apart, palette_bytes = (said[f'{what}_per_frame'] for what in (
            'listed', 'drawn', 'evaluated', 'bones', 'held', 'shared', 'apart', 'palette_bytes'))
        saved, has_fewer_bones = shared + held, 'fewer bones' in traits
        what = f'{options}: {said}'
        for name, count in (('listed', listed), ('drawn', drawn)):
            levels = said[f'{name}_by_lod']
            assert len(levels) == 10 and count > 0 and abs(sum(levels) - count) < 1e-6 * count, what
        assert said['width'] == 64 and said['characters'] == characters and isinstance(said['renderer'], str), what
        assert len(said['ms_per_frame']) == 6, what
        assert evaluated + saved == listed == sum(said['listed_by_joint_level']), what
        assert evaluated < 0.9 * listed if 'saves' in traits else saved == 0, what
        assert held == 0 or has_fewer_bones, what
        assert (drawn < 0.5 * characters) == (characters == 1000), what
        assert (apart > 0) == ('apart' in traits), what
        assert bones < 10 * listed if has_fewer_bones else bones == 20 * evaluated, what
        assert drawn < listed < 1.5 * drawn if 'shadows' in traits else listed == drawn, what
        first_bytes = first_bytes or palette_bytes / evaluated
        assert has_fewer_bones or abs(palette_bytes - first_bytes * evaluated) < 1e-9 * palette_bytes, what


# In the middle of a ring there is nobody.
def test_fails_when_nothing_is_drawn():
    draw('f.png', '--scene ring')
    expect(1, f'render {TINY} --scene ring --camera ,85,40 --out f.png', 'nothing is drawn')


def test_draws_the_skeleton_of_a_model_without_a_mesh():
    for name, knee in (('leg', [0, -1, 0.2]), ('bent', [0, -1, 0.9])):
        write(f'{name}.gltf', json.dumps({'asset': {'version': '2.0'}, 'scene': 0, 'scenes': [{'nodes': [0]}], 'nodes': [
            {'name': 'hip', 'children': [1]}, {'name': 'knee', 'translation': knee, 'children': [2]},
            {'name': 'foot', 'translation': [0, -1, 0]}]}))
    for options in ('leg.gltf --out a.png', 'leg.gltf --look skeleton --out b.png', 'bent.gltf --out c.png'):
        expect(0, f'render --count 1 --size 160x90 --samples 1 --shadow 64 --model {options}', 'has no mesh: its skeleton is drawn')
    assert are_same('a.png', 'b.png')
    assert not are_same('a.png', 'c.png'), 'no bone is to be seen'


# As where a download broke off. Said once, in full; the model's own warnings by their number.
def test_a_texture_that_is_cut_off_is_said_by_all_who_meet_it():
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))

    def uri(data):
        return 'data:application/octet-stream;base64,' + base64.b64encode(data).decode()

    png = b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 8, 8, 8, 2, 0, 0, 0)) + chunk(
        b'IDAT', zlib.compress(bytes(8 * 25)))
    points, places = struct.pack('9f', 0, 0, 0, 1, 0, 0, 0, 1, 0), struct.pack('6f', 0, 0, 1, 0, 0, 1)
    for name, picture in (('whole', png + chunk(b'IEND', b'')), ('cut', png[:-20])):
        write(f'{name}.gltf', json.dumps({
            'asset': {'version': '2.0'}, 'scene': 0, 'scenes': [{'nodes': [0]}], 'nodes': [{'name': 'tile', 'mesh': 0}],
            'meshes': [{'primitives': [{'attributes': {'POSITION': 0, 'TEXCOORD_0': 1}, 'material': 0}]}],
            'materials': [{'pbrMetallicRoughness': {'baseColorTexture': {'index': 0}}}], 'textures': [{'source': 0}],
            'images': [{'uri': uri(picture)}], 'buffers': [{'byteLength': 60, 'uri': uri(points + places)}],
            'bufferViews': [{'buffer': 0, 'byteLength': 36}, {'buffer': 0, 'byteOffset': 36, 'byteLength': 24}],
            'accessors': [{'bufferView': 0, 'componentType': 5126, 'count': 3, 'type': 'VEC3', 'min': [0, 0, 0], 'max': [1, 1, 0]},
                          {'bufferView': 1, 'componentType': 5126, 'count': 3, 'type': 'VEC2'}]}))
        own = document(f'inspect {name}.gltf --json')
        said = [warning for warning in own['warnings'] if 'a plain colour takes its place' in warning]
        assert len(said) == (name == 'cut') and (own['textures'][0]['state'] == 'plain colour') == (name == 'cut'), own
        for line in ('render --out f.png', 'stress --draw --dry-run --threads 1', 'bench --dry-run --filter ^frame/all'):
            err = expect(0, f'{line} --count 1 --size 16x16 --samples 1 --model {name}.gltf').err
            assert err.count('throng: cut.gltf: texture ') == err.count('takes its place') == len(said), (line, err)
            others = len(own['warnings']) - len(said)
            assert err.count('throng inspect') == (others > 1), err


def test_a_picture_goes_into_a_pipe():
    draw('f.png', '')
    piped = subprocess.run([PROGRAM, *f'render {TINY} --out /dev/stdout'.split()], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == read_bytes('f.png')


# What the driver lacks; other complaints: tests/golden/documents/messages.txt.
def test_says_how_many_samples_there_are():
    for line in ('render --count 1 --size 16x16', 'stress --draw --frames 299', 'bench --filter ^frame/ --repetitions 1'):
        expect(4, f'{line} {RIG} --samples 64', '64 samples a pixel: OpenGL has up to ')


# ---- posed by the GPU ----

# On other drivers than Mesa's it may differ in the last bits.
def test_pose_takes_the_gpu_for_the_scalar_kernel():
    for options in ('--palette f32', '--palette quat --keys 16 --interpolation slerp', '--palette quat16'):
        pose = f'pose --clip walk --time 0.37 --json {options}'
        wanted, done = document(f'{pose} --sampling compiled --isa scalar'), expect(0, f'{pose} --evaluator gpu')
        got = json.loads(done.out)
        assert done.err == '', f'no byte differs: {done.err}'
        assert wanted['gpu_mapping'] is None and wanted['evaluator'] == 'cpu'
        assert (got['gpu_mapping'], got['evaluator'], got['sampling'], got['isa']) == ('character', 'gpu', 'compiled', None)
        assert got['joints'] == wanted['joints'], options


# How the GPU poses it says once, with both times.
def test_gives_the_same_picture_whoever_poses():
    line = '--isa scalar --palette quat --scene street --json'
    by_cpu, done = parse(draw('cpu.png', line).out), draw('gpu.png', f'{line} --evaluator gpu')
    assert are_same('cpu.png', 'gpu.png')
    by_gpu = parse(done.out)
    assert done.err.startswith(f'throng: the GPU poses with an invocation a {by_gpu["gpu_mapping"]}: '), done.err
    assert ' ms a frame instead of ' in done.err and ', in wall time\n' in done.err, done.err
    assert by_gpu['evaluator'] == by_gpu['culling'] == 'gpu'
    assert by_cpu['gpu_mapping'] is None and 'culling' not in by_cpu
    assert by_gpu['drawn_by_lod'] == by_cpu['drawn_by_lod']
    assert by_gpu['triangles_per_frame'] == by_cpu['triangles_per_frame'] > 0 < by_cpu['draw_calls_per_frame']


# Near by nothing is left out, and all parts of one material are one call: with the shadow map's, sky, ground and feet.
def test_counts_triangles_and_calls():
    inspected = document('inspect human --json')
    said = document('render --count 1 --size 640x480 --samples 1 --target face --out f.png --json')
    assert said['triangles_per_frame'] == sum(mesh['triangles'] for mesh in inspected['meshes'])
    assert said['draw_calls_per_frame'] == 5


# Then the ring is mapped for each frame.
def test_lets_the_gpu_pose_without_buffer_storage():
    os.environ['MESA_EXTENSION_OVERRIDE'] = '-GL_ARB_buffer_storage'
    out = draw('f.png', '--evaluator gpu').out
    assert ', unsynchronized, culled and posed by the GPU\n' in out, out


# Never in silence; all reasons: test_gpu_cull.c.
def test_says_why_the_cpu_poses():
    why = 'the CPU poses, not the GPU: the characters have a behaviour'
    assert why in draw('f.png', '--evaluator gpu --behaviour fade').err
    done = draw('f.png', '--evaluator gpu --share 10')
    assert 'the CPU culls, not the GPU: characters share poses (--share)' in done.err, done.err
    assert ', posed by the GPU\n' in done.out, done.out
    stress = f'stress {TINY} --draw --evaluator gpu --dry-run'
    expect(0, f'{stress} --behaviour fade', why)
    out = expect(0, f'{stress} --json').out
    assert '"evaluator": "gpu"' in out and '"culling": "gpu"' in out, out


# Who flies half as far in half the time is there where the other one is half way.
def test_flies_to_where_it_is_told():
    for name, frames, camera in (('stay', 2, '10,20,1'), ('far', 3, '10,20,1:50,30,4'), ('half', 2, '10,20,1:30,25,2'),
                                 ('turn', 2, '10,20,1:30,20,1'), ('one', 1, '10,20,1:50,30,4')):
        said = parse(draw(f'{name}%d.png', f'--fps 100 --frames {frames} --camera {camera} --json').out)
        assert (said['drawn_per_frame'] < 40) == (name in ('far', 'half')), f'who comes near sees fewer: {said}'
    for one, other, same in (('stay0', 'far0', True), ('stay0', 'one0', True), ('far1', 'half1', True), ('far1', 'stay1', False),
                             ('far2', 'far1', False), ('half1', 'turn1', False)):
        assert are_same(f'{one}.png', f'{other}.png') == same, (one, other)


# The same in two runs, which the machine did not let run as many frames; and compare judges it.
def test_stress_measures_the_error_on_screen():
    for name in ('one', 'two'):
        done = throng(f'stress {RIG} --draw --count 40 --frames 299 --budget-ms 1 --threads 1 --size 32x32 --samples 1 '
                      f'--shadow 0 --share 20 --error 50 --out {name}.json --out page.html')
        assert done.code <= 1 and 'px p99' in done.out, f'{done}: it may miss the budget'
    one, two = load('one.json'), load('two.json')
    frames, bones = one['stress']['points'][0]['error_frames'], one['benchmarks'][0]['bones']
    assert len(frames) == 6 and frames == two['stress']['points'][0]['error_frames']
    assert 0 < bones < 40 * 20 and bones % 20 == 0, f'shared poses are not counted: {bones}'
    assert bones == two['benchmarks'][0]['bones']
    expect(0, 'compare --fail-on slower one.json one.json')
    for row in one['benchmarks']:
        if 'error_px_p99' in row:
            row['error_px_p99'] *= 1.5
    write('grown.json', json.dumps(one))
    done = throng('compare --fail-on slower one.json grown.json')
    assert done.code == 1 and 'MORE PIXELS' in done.out, done


# As with a driver that promises more than it has.
def test_pose_says_that_the_driver_does_not_take_the_shader():
    os.environ.update(MESA_GL_VERSION_OVERRIDE='4.3', MESA_GLSL_VERSION_OVERRIDE='420')
    expect(4, f'pose --evaluator gpu {RIG}', 'program pose')


def test_without_opengl_or_a_display_it_says_what_was_tried():
    for name in ('DISPLAY', 'WAYLAND_DISPLAY'):
        os.environ.pop(name, None)
    expect(4, 'demo', '; --out demo.mp4 writes a film instead\n')
    os.environ.update(__EGL_VENDOR_LIBRARY_FILENAMES='/nonexistent', LIBGL_DRIVERS_PATH='/nonexistent')
    for line in ('render --count 1 --size 16x16 --out f.png', 'stress --draw', 'pose --evaluator gpu'):
        expect(4, line, 'OpenGL')
    assert not os.path.exists('f.png')


# ---- the demo: a film of all scenes with a card at its end ----

# Twice, and the crowd is the same; the card has times.
def test_demo_films_the_scenes_and_states_its_figures():
    film = 'demo --frames 8 --fps 20 --size 96x54 --samples 1 --shadow 64 --count 60 --threads 2'
    said = document(f'{film} --out a%d.png --json')
    assert set(said) == {'bones_per_s', 'characters', 'cpu', 'frame_ms', 'frames', 'out', 'pose_ms_per_frame',
                         'posed_per_frame', 'renderer', 'software', 'seconds', 'threads'}
    assert 0 < said['posed_per_frame'] <= 60 and said['pose_ms_per_frame'] > 0
    assert said['characters'] == 60 and said['threads'] == 2 and said['bones_per_s'] > 0
    assert said['frame_ms']['p99'] >= said['frame_ms']['p50'] > 0
    assert os.path.exists('a7.png') and not os.path.exists('a8.png'), '0.4 s of 20 frames are 8'
    out = expect(0, f'{film} --out b%d.png').out
    assert ' ms on 2 threads\ncharacters  60\n' in out and 'bones a second\n' in out, out
    for frame in range(5):
        assert are_same(f'a{frame}.png', f'b{frame}.png'), frame


main(globals(), need=need_opengl)
