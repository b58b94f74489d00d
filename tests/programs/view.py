#!/usr/bin/env python3
"""`throng view` as a person uses it: xdotool presses the keys and moves the mouse, the window's title says what state it is
in, and pictures of it show that things happened. Everything is waited for, nothing is timed. Tests in the form of program.py.

In builds with asserts the program ends with an exit code of its own when OpenGL has anything to object; that every run here
ends with 0 says that it had not."""
import os
import shlex
import signal
import struct
import subprocess
import time
import zlib
from collections import namedtuple

from program import PROGRAM, Done, Skip, at_end, command, document, expect, main, parse, read, write
from serve_client import comes
from traces import Trace

PATIENCE_S = 600
RIG = '--model synthetic:joints=20,clips=2'  # what is faster to start with, and to draw, than the human
SMALL = f'{RIG} --size 160x100 --count 12 --samples 1 --shadow 64 --scene street'
CHANGE = 0.001  # the least share of a picture that is different, where something is


def begin():
    os.environ['LP_NUM_THREADS'] = '0'


def need_display():
    try:
        if 'DISPLAY' in os.environ and command('xdotool', 'getdisplaygeometry').code == 0:
            return
    except FileNotFoundError:
        pass
    raise Skip('no display, or no xdotool')


def xdotool(arguments):
    done = command('xdotool', *arguments.split())
    assert done.code == 0, f'xdotool {arguments}: {done.err}'


# ---- what is to be seen ----

Picture = namedtuple('Picture', 'width height rgb')


def predict(left, up, corner):
    """Paeth's predictor, as PNG has it."""
    guess = left + up - corner
    far_left, far_up, far_corner = abs(guess - left), abs(guess - up), abs(guess - corner)
    return left if far_left <= far_up and far_left <= far_corner else up if far_up <= far_corner else corner


def decode(path):
    """A PNG of 8-bit RGB."""
    with open(path, 'rb') as file:
        file.read(8)
        packed = b''
        while head := file.read(8):
            size, kind = struct.unpack('>I4s', head)
            body = file.read(size + 4)[:size]
            if kind == b'IHDR':
                width, height, *form = struct.unpack('>IIBBBBB', body)
                assert form == [8, 2, 0, 0, 0], form
            packed += body if kind == b'IDAT' else b''
    data, stride = zlib.decompress(packed), 3 * width + 1
    rows, above = [], bytearray(3 * width)
    for y in range(height):
        kind, row = data[y * stride], bytearray(data[y * stride + 1:(y + 1) * stride])
        for x, byte in enumerate(row) if kind else ():
            left, corner = (row[x - 3], above[x - 3]) if x > 2 else (0, 0)
            row[x] = byte + (0, left, above[x], left + above[x] >> 1, predict(left, above[x], corner))[kind] & 255
        rows.append(row)
        above = row
    return Picture(width, height, b''.join(rows))


def difference(one, other):
    if one == other:
        return 0
    if one[:2] != other[:2]:
        return 1
    return sum(map(int.__ne__, one.rgb, other.rgb)) / len(one.rgb)


# ---- the viewer ----

class Viewer:
    """One that has loaded its models, or one whose importer stands still."""

    def __init__(self, arguments, loads=True):
        need_display()
        self.shots, self.last = 0, None
        with open('.err', 'w') as err, open('.out', 'w') as out:
            self.process = subprocess.Popen([PROGRAM, 'view', *shlex.split(arguments)], stdout=out, stderr=err)
        at_end.callback(self.process.wait)  # after kill
        at_end.callback(self.process.kill)
        if not loads:
            self.importer = self.stop_importer()

        search = ('xdotool', 'search', '--sync', '--all', '--onlyvisible', '--pid', str(self.process.pid),
                  '--name', '^Throng')
        self.window = command(*search, timeout=PATIENCE_S).out.split()[0]
        xdotool(f'windowmove {self.window} 0 0 windowfocus --sync {self.window} mousemove 100 80')
        if loads:
            self.await_title('Throng - ')  # before that it says nothing
            self.await_title('loading', False)

    def stop_importer(self):
        """Its process, stopped as soon as it has asked to die with whoever waits for it."""
        def children():
            return command('pgrep', '-P', str(self.process.pid)).out.split()

        def limits():
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.001)
            os.kill(pid, signal.SIGSTOP)
            return read(f'/proc/{pid}/limits')

        found = comes(children, PATIENCE_S)
        assert found, 'no importer'
        pid = int(found[0])
        assert comes(lambda: 'Max file size             0 ' in limits(), PATIENCE_S)
        return pid

    def title(self):
        return command('xdotool', 'getwindowname', self.window).out.rstrip('\n')

    def await_title(self, text, there=True):
        """Waits until the title has the text, or has it no longer."""
        assert comes(lambda: (text in self.title()) == there, PATIENCE_S), \
            f'"{text}" {"is not" if there else "is still"} in "{self.title()}"'

    def press(self, keys, text):
        """Presses keys, and waits for what the title says then."""
        xdotool(f'key {keys}')
        self.await_title(text)

    def shoot(self):
        """The next screenshot. How much of it is different from the one before."""
        self.shots += 1
        path = f'throng-{self.shots:04}.png'
        xdotool('key F12')
        assert comes(lambda: os.path.exists(path), PATIENCE_S), path
        before, self.last = self.last, decode(path)
        return difference(before, self.last) if before else 1

    def expect_change(self, what):
        """In this picture or a later one: the key that takes it may be there before what moves the mouse."""
        assert comes(lambda: self.shoot() > CHANGE, PATIENCE_S), f'{what} changes nothing'

    def expect_peace(self, what):
        assert (share := self.shoot()) == 0, f'{what} changes something: {share}'

    def hold(self, key):
        """For as long as it takes: a busy machine draws few frames."""
        xdotool(f'keydown {key}')
        changed = any(self.shoot() > CHANGE for _ in range(100))
        xdotool(f'keyup {key}')
        assert changed, f'{key} changes nothing'
        self.shoot()  # where it has come to rest

    def quit(self, how='key Escape', code=0):
        """By xdotool, or by a signal."""
        if isinstance(how, int):
            self.process.send_signal(how)
        else:
            xdotool(how)
        done = Done(self.process.wait(PATIENCE_S), read('.out'), read('.err'))
        assert done.code == code, f'exit code {done.code}: {done.err}'
        assert all('throng-0' in line for line in done.err.splitlines()), f'more than pictures is said: {done.err}'
        return done


# ---- tests ----

def test_camera_moves_by_mouse_and_keys():
    viewer = Viewer(SMALL)
    viewer.press('space', 'paused')
    xdotool('key Tab')  # figures change by themselves
    viewer.shoot()
    viewer.expect_peace('nothing')
    xdotool('mousedown 1 mousemove 140 90 mouseup 1')
    viewer.expect_change('a drag')
    viewer.expect_peace('a drag that has ended')
    xdotool('mousedown 3 mousemove 150 70 mouseup 3')
    viewer.expect_change('the right button')
    xdotool('click 4')
    viewer.expect_change('the wheel')
    viewer.hold('Right')
    viewer.hold('w')
    viewer.press('c', ', fly')
    viewer.expect_peace('flying off')
    xdotool('mousedown 1 mousemove 130 60 mouseup 1')
    viewer.expect_change('looking around')
    viewer.hold('s')
    viewer.press('n', ', follow')
    viewer.expect_change('following somebody')
    xdotool('key n')
    viewer.expect_change('following another')
    viewer.press('f', 'paused')
    viewer.await_title('follow', False)
    viewer.shoot()
    assert viewer.last == decode('throng-0001.png'), 'f does not see all again'
    viewer.quit()


def test_time_stands_still_steps_and_goes_on():
    viewer = Viewer(SMALL)
    xdotool('key Tab')
    viewer.press('period', 'paused')
    viewer.shoot()
    viewer.expect_peace('nothing')
    xdotool('key' + 20 * ' period')
    viewer.expect_change('a step')
    xdotool('key' + 20 * ' comma')
    viewer.shoot()
    assert viewer.last == decode('throng-0001.png'), 'steps back do not come back'
    xdotool('key space')
    viewer.await_title('paused', False)
    viewer.expect_change('time')
    viewer.press('bracketright', ', x2')
    viewer.press('bracketleft bracketleft', ', x0.5')
    xdotool('key BackSpace')
    viewer.await_title('x0.5', False)
    out = viewer.quit(signal.SIGINT, 130).out
    assert ' a second' in out, f'an interrupt ends it with a summary: {out}'


def test_crowd_and_work_change_while_it_runs():
    viewer = Viewer(f'{RIG} --size 160x100 --count 12 --samples 1 --shadow 64 --threads 2 --json')
    viewer.await_title('12 characters, 2 threads')
    for keys, title in (('Page_Up', '24 characters'), ('plus', '26 characters'), ('minus minus', '22 characters'),
                        ('Page_Down', '11 characters'), ('t', '3 threads'), ('T T', '1 thread'), ('t', '2 threads'),
                        ('j', ', serial'), ('p', ', quat'), ('i', ', step'), ('m', ', clip_0'), ('l', ', ring'),
                        ('k', ', lod'), ('o', ', no shadows'), ('v', ', no vsync')):
        viewer.press(keys, title)
    xdotool('key J p p p I M L K o v')  # quat16, auto, f32
    viewer.await_title('shadows', False)
    plain = 'Throng - 11 characters, 2 threads'
    assert comes(lambda: viewer.title() == plain, PATIENCE_S), viewer.title()
    viewer.press('p', ', quat')
    said = parse(viewer.quit().out)
    assert (said['characters'], said['threads'], said['palette']) == (11, 2, 'quat') and said['frames'] > 16, said


def test_each_change_is_seen():
    viewer = Viewer(SMALL)
    viewer.press('space', 'paused')
    xdotool('key Tab')
    viewer.shoot()
    for key in ('Page_Up', 'm', 'l', 'k', 'o'):
        before = viewer.title()
        xdotool(f'key {key}')
        viewer.await_title(before, False)
        viewer.expect_change(key)
    viewer.expect_peace('nothing')
    xdotool('key h')
    viewer.expect_change('help')
    viewer.expect_peace('help that stays')
    xdotool('key Escape')
    viewer.expect_change('no more help')
    xdotool('key Tab')
    viewer.expect_change('figures')
    assert ' a second' in viewer.quit(signal.SIGTERM, 143).out


def is_on_screen(picture, rows):
    """The screen as Xvfb writes it to a file, in the format of xwd: 25 numbers, colours, then rows of 4 bytes a pixel."""
    with open(os.environ['TEST_SCREEN'], 'rb') as file:
        n = struct.unpack('>25I', file.read(100))
        for y in range(rows):
            file.seek(n[0] + 12 * n[19] + y * n[12])
            bgrx, rgb = file.read(4 * picture.width), picture.rgb[3 * picture.width * y:3 * picture.width * (y + 1)]
            if any(bgrx[2 - c::4] != rgb[c::3] for c in range(3)):
                return False
    return True


def test_window_shows_the_picture_at_any_size_and_overwrites_nothing():
    message = 40  # lies at the bottom for a while: where the picture is
    if 'TEST_SCREEN' not in os.environ:
        raise Skip('tests/with_screen.sh lets the screen be read')
    write('throng-0001.png', 'dear to somebody')
    viewer = Viewer(SMALL)
    viewer.shots = 1
    viewer.press('space', 'paused')
    xdotool('key Tab mousemove 1500 1100')  # the cursor is part of the screen
    for size in ((160, 100), (256, 160), (111, 203), (320, 90)):
        xdotool(f'windowsize {viewer.window} {size[0]} {size[1]}')

        def has_size():
            viewer.shoot()
            return viewer.last[:2] == size

        assert comes(has_size, PATIENCE_S), viewer.last[:2]
        assert comes(lambda: is_on_screen(viewer.last, size[1] - message), PATIENCE_S), size
    done = viewer.quit('key ctrl+q')
    assert ' a second' in done.out and 'throng-0002.png' in done.err, done
    assert read('throng-0001.png') == 'dear to somebody'


# The importer stands still, so there will never be a model.
def test_ends_while_models_are_read_and_leaves_nobody_behind():
    # Takes long enough to be caught at it, beside other work too.
    write('large.obj', ''.join(f'v {k % 7} {k % 11} {k % 13}\nf -1 -1 -1\n' for k in range(1000000)))
    viewer = Viewer('--size 160x100 --model large.obj --import-timeout 80000', loads=False)
    viewer.shoot()  # the window reacts
    viewer.await_title('loading')
    assert viewer.quit().out == ''

    def state():
        return command('grep', '-s', '^State:', f'/proc/{viewer.importer}/status').out

    assert comes(lambda: 'Z' in (state() or 'Z'), PATIENCE_S), f'the importer is still there: {state()}'


def test_buttons_do_what_keys_do_and_help_closes_after_its_last_page():
    viewer = Viewer(SMALL)
    xdotool('mousemove 144 92 click 1')  # the last button is in the corner
    viewer.await_title('paused')
    xdotool('click 1')
    viewer.await_title('paused', False)
    viewer.press('space', 'paused')
    xdotool('mousemove 100 60 key Tab')
    viewer.shoot()
    first, pages = viewer.last, 0
    xdotool('key F1')
    while viewer.shoot() > CHANGE and viewer.last != first and pages < 20:
        pages += 1
        xdotool('key F1')
    assert 1 < pages < 10, f'{pages} pages in a small window'
    viewer.quit()


def test_ends_when_the_frames_are_over_and_leaves_a_trace():
    need_display()
    said = document(f'view {SMALL} --frames 3 --json --trace t.json')
    assert (said['frames'], said['characters'], len(said['frame_ms'])) == (3, 12, 3), said
    assert isinstance(said['renderer'], str)
    trace = Trace('t.json')
    for stage in ('wait', 'cull', 'pose', 'draw'):
        assert trace.count('stage', stage, 'throng view') == 3, stage
    frames = trace.count('frame')
    assert frames >= 3, 'and those that say that a model is read'
    assert trace.count('stage', 'hud') == trace.count('stage', 'swap') == frames
    assert trace.count('chunk', 'pose') > 0


def test_unusable_models_are_said():
    need_display()
    for code, options, says in ((3, '--model missing.glb', 'missing.glb'), (2, f'{RIG} --clip fish', 'no clip "fish"')):
        expect(code, f'view --size 160x100 --samples 1 {options}', says)


def test_without_a_display_there_is_one_clear_error():
    for name in ('DISPLAY', 'WAYLAND_DISPLAY'):
        os.environ.pop(name, None)
    err = expect(4, 'view', 'no window').err
    assert err.find('\n') == len(err) - 1, err


def test_the_demo_plays_in_a_window_and_ends_by_itself():
    need_display()
    out = expect(0, 'demo --frames 10 --size 160x100 --count 40 --samples 1 --shadow 64').out
    assert '\ncharacters  40\n' in out and '\nmachine     ' in out, out


main(globals(), begin)
