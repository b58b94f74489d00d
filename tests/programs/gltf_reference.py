#!/usr/bin/env python3
"""Compares `throng pose` with an evaluator of glTF 2.0 that shares nothing with Throng.

usage: gltf_reference.py [--seed N] [--option OPTION]... THRONG FILE...

--seed chooses other clips and times. --option goes to `throng pose`: with --option --interpolation=step, say, there are
differences to be found.

The evaluator follows the specification (Khronos, glTF 2.0, sections 3.5, 3.6.2, 3.7.3 and 3.11 and appendix C) in
double precision, with Python's standard library alone. It evaluates some clips of each file at keys, between keys and
before the first key, and compares every joint and every palette entry. A line a file says how far off the worst is, as
a share of what is tolerated: 1e-4 of the model's size, and 1e-4 of the largest number of a rotation and scale.

Exit code: 0 if all are right; 1 if one is wrong, or if nothing was compared. A file that Throng refuses, or whose
numbers are compressed, which this program does not decode, is named and not compared.
"""

import base64
import json
import math
import os
import random
import struct
import subprocess
import sys
import urllib.parse

TOLERANCE = 1e-4
CLIPS, TIMES = 3, 6  # the most of each in a file
FORMATS = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}
LARGEST = {5120: 127.0, 5121: 255.0, 5122: 32767.0, 5123: 65535.0}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
IDENTITY = [[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]]


class Undecodable(Exception):
    pass


class File:
    """The numbers of a file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.folder, self.chunk = os.path.dirname(path), b""
        if data[:4] == b"glTF":
            size = struct.unpack_from("<I", data, 12)[0]
            text, at = data[20 : 20 + size], 20 + (size + 3) // 4 * 4
            if len(data) >= at + 8:
                self.chunk = data[at + 8 : at + 8 + struct.unpack_from("<I", data, at)[0]]
        else:
            text = data
        self.json = json.loads(text.rstrip(b"\0"))
        if not str(self.json.get("asset", {}).get("version", "1")).startswith("2"):
            raise Undecodable("it is not glTF 2.0")
        self.buffers = {}

    def list(self, name):
        return self.json.get(name, [])

    def buffer(self, index):
        if index not in self.buffers:
            uri = self.list("buffers")[index].get("uri")
            if uri is None:
                self.buffers[index] = self.chunk
            elif uri.startswith("data:"):
                self.buffers[index] = base64.b64decode(uri.split(",", 1)[1])
            else:
                with open(os.path.join(self.folder, urllib.parse.unquote(uri)), "rb") as file:
                    self.buffers[index] = file.read()
        return self.buffers[index]

    def elements(self, view, offset, count, component, width):
        view = self.list("bufferViews")[view]
        if any("meshopt" in name for name in view.get("extensions", {})):
            raise Undecodable("its numbers are compressed")
        layout = struct.Struct("<%d%s" % (width, FORMATS[component]))
        data, stride = self.buffer(view["buffer"]), view.get("byteStride", layout.size)
        begin = view.get("byteOffset", 0) + offset
        return [list(layout.unpack_from(data, begin + i * stride)) for i in range(count)]

    def numbers(self, index):
        a = self.list("accessors")[index]
        component, width, count = a["componentType"], WIDTHS[a["type"]], a["count"]
        if "bufferView" in a:
            out = self.elements(a["bufferView"], a.get("byteOffset", 0), count, component, width)
        else:
            out = [[0] * width for _ in range(count)]
        if "sparse" in a:
            s = a["sparse"]
            where, what = s["indices"], s["values"]
            places = self.elements(where["bufferView"], where.get("byteOffset", 0), s["count"], where["componentType"], 1)
            values = self.elements(what["bufferView"], what.get("byteOffset", 0), s["count"], component, width)
            for place, value in zip(places, values):
                out[place[0]] = value
        if a.get("normalized"):
            out = [[max(-1.0, n / LARGEST[component]) for n in element] for element in out]
        return out


# ---- matrices: rows of columns ----


def multiply(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def from_columns(numbers):
    return [[float(numbers[4 * column + row]) for column in range(4)] for row in range(4)]


def inverse(m):
    """Of an affine matrix; None if it flattens space."""
    def minor(i, j):
        a, b, c, d = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
        return m[a][c] * m[b][d] - m[a][d] * m[b][c]

    whole = sum(m[0][j] * minor(0, j) for j in range(3))
    if whole == 0:
        return None
    out = [[minor(j, i) / whole for j in range(3)] for i in range(3)]
    return [row + [-sum(row[k] * m[k][3] for k in range(3))] for row in out] + [[0.0, 0.0, 0.0, 1.0]]


def normalized(q):
    length = math.sqrt(sum(n * n for n in q))
    return [n / length for n in q] if length > 0 else [0.0, 0.0, 0.0, 1.0]


def from_parts(t, q, s):
    x, y, z, w = q
    rotation = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return [[rotation[i][j] * s[j] for j in range(3)] + [t[i]] for i in range(3)] + [[0.0, 0.0, 0.0, 1.0]]


# ---- animations ----


def slerp(a, b, part):
    dot = sum(x * y for x, y in zip(a, b))
    if dot < 0:
        dot, b = -dot, [-n for n in b]
    if dot > 1 - 1e-12:
        return normalized([x + (y - x) * part for x, y in zip(a, b)])
    angle = math.acos(min(dot, 1.0))
    u, v = math.sin((1 - part) * angle) / math.sin(angle), math.sin(part * angle) / math.sin(angle)
    return [u * x + v * y for x, y in zip(a, b)]


def spline(keys, k, part, span):
    value, leave = keys[3 * k + 1], keys[3 * k + 2]
    arrive, following = keys[3 * k + 3], keys[3 * k + 4]
    p, p2, p3 = part, part * part, part * part * part
    return [
        (2 * p3 - 3 * p2 + 1) * a + span * (p3 - 2 * p2 + p) * b + (3 * p2 - 2 * p3) * c + span * (p3 - p2) * d
        for a, b, c, d in zip(value, leave, following, arrive)
    ]


def sample(times, keys, mode, turns, time):
    value = (lambda k: keys[3 * k + 1]) if mode == "CUBICSPLINE" else (lambda k: keys[k])
    if time <= times[0] or len(times) == 1:
        return value(0)
    if time >= times[-1]:
        return value(len(times) - 1)
    k = max(i for i in range(len(times)) if times[i] <= time)
    span = times[k + 1] - times[k]
    part = (time - times[k]) / span
    if mode == "STEP":
        return value(k)
    if mode == "CUBICSPLINE":
        return spline(keys, k, part, span)
    if turns:
        return slerp(normalized(value(k)), normalized(value(k + 1)), part)
    return [a + (b - a) * part for a, b in zip(value(k), value(k + 1))]


def moving(file, animation):
    """The channels that move nodes or weigh morph targets."""
    for channel in animation.get("channels", []):
        target = channel.get("target", {})
        paths = ["translation", "rotation", "scale"]
        if targets_of(file, target.get("node")):
            paths.append("weights")
        if "node" in target and target.get("path") in paths:
            yield target, animation["samplers"][channel["sampler"]]


# ---- morph targets ----


def targets_of(file, node):
    """The number of targets of the node's mesh."""
    mesh = file.list("nodes")[node].get("mesh") if node is not None else None
    primitives = file.list("meshes")[mesh]["primitives"] if mesh is not None else []
    return max((len(p.get("targets", [])) for p in primitives), default=0)


def weights_of(file, clip, node, time):
    n, count = file.list("nodes")[node], targets_of(file, node)
    mesh = file.list("meshes")[n["mesh"]]
    out = list(n.get("weights", mesh.get("weights", [])))[:count]
    track = clip.tracks.get((node, "weights")) if clip else None
    return sample(*track, False, time) if track else out + [0.0] * (count - len(out))


def rows_of(numbers, width):
    """Weights are scalars, `width` of them for each element of a key."""
    flat = [n[0] for n in numbers]
    return [flat[i : i + width] for i in range(0, len(flat), width)]


class Clip:
    def __init__(self, file, animation):
        self.tracks = {}
        for target, sampler in moving(file, animation):
            times = [t[0] for t in file.numbers(sampler["input"])]
            keys = file.numbers(sampler["output"])
            if target["path"] == "weights":
                keys = rows_of(keys, targets_of(file, target["node"]))
            if times:
                self.tracks[target["node"], target["path"]] = (times, keys, sampler.get("interpolation", "LINEAR"))
        self.duration = max((track[0][-1] for track in self.tracks.values()), default=0.0)

    def times(self, chance):
        """Keys and times between; none at the end, where a clip begins again."""
        keys = sorted({t for track in self.tracks.values() for t in track[0] if t < self.duration * (1 - 1e-5)})
        if not keys:
            return [0.0]
        some = [chance.choice(keys) for _ in range(TIMES // 2)]
        return sorted({0.0, *some, *(chance.uniform(0, self.duration * 0.999) for _ in range(TIMES // 2))})


def local(file, clip, node, time):
    """A node's own rotation is taken as it is: files whose quaternions are not quite of length 1 are common."""
    n = file.list("nodes")[node]
    parts = {"translation": n.get("translation", [0, 0, 0]), "rotation": n.get("rotation", [0, 0, 0, 1])}
    parts["scale"] = n.get("scale", [1, 1, 1])
    moved = False
    for path in parts:
        track = clip.tracks.get((node, path)) if clip else None
        if track:
            value, moved = sample(*track, path == "rotation", time), True
            parts[path] = normalized(value) if path == "rotation" else value
    if "matrix" in n and not moved:
        return from_columns(n["matrix"])
    return from_parts(parts["translation"], parts["rotation"], parts["scale"])


# ---- the program's answer ----


def ask(*arguments):
    done = subprocess.run(arguments, capture_output=True, timeout=300, check=False)
    if done.returncode != 0:
        raise Undecodable(done.stderr.decode(errors="replace").strip().splitlines()[-1])
    return json.loads(done.stdout)


def needed(file):
    """Nodes that skins and clips refer to, in the scene or not."""
    nodes = [node for skin in file.list("skins") for node in skin["joints"]]
    channels = [c for animation in file.list("animations") for c in animation.get("channels", [])]
    return nodes + [c["target"]["node"] for c in channels if "node" in c.get("target", {})]


def shown(file):
    scenes = file.list("scenes")
    return scenes[file.json.get("scene", 0)].get("nodes", []) if scenes else []


def tops_of(file, nodes):
    parents = {c: n for n, node in enumerate(file.list("nodes")) for c in node.get("children", [])}
    tops = set()
    for node in nodes:
        while node in parents:
            node = parents[node]
        tops.add(node)
    return sorted(tops)


def pair(file, joints):
    """Node and joint of every joint, found by walking both trees."""
    roots = shown(file)
    roots = roots + [node for node in tops_of(file, needed(file)) if node not in roots]
    children = {}
    for j, joint in enumerate(joints):
        children.setdefault(joint["parent"], []).append(j)
    tops = children.get(-1, [])
    if len(tops) == 1 and len(roots) != 1:
        tops = children.get(tops[0], [])
    pairs, open_pairs = [], list(zip(roots, tops))
    if len(roots) != len(tops):
        raise AssertionError("%d roots, not %d" % (len(tops), len(roots)))
    while open_pairs:
        node, joint = open_pairs.pop()
        pairs.append((node, joint))
        below, found = file.list("nodes")[node].get("children", []), children.get(joint, [])
        if len(found) < len(below):
            raise AssertionError("node %d has %d children, not %d" % (node, len(found), len(below)))
        open_pairs += zip(below, found)
    return pairs


def rests(file):
    """By node of a file that draws nothing: the inverse of its rest matrix, so that palettes are motions from rest."""
    out, world = {}, {}
    open_nodes = [(root, IDENTITY) for root in shown(file) + tops_of(file, needed(file))]
    while open_nodes:
        node, parent = open_nodes.pop()
        world[node] = multiply(parent, local(file, None, node, 0.0))
        back = inverse(world[node])
        out[node] = [back] if back else []
        open_nodes += [(child, world[node]) for child in file.list("nodes")[node].get("children", [])]
    return out


def binds(file):
    """By node: the inverse bind matrices of the skins that have it, and identity where it draws a mesh without one."""
    if not file.list("meshes"):
        return rests(file)
    out = {}
    for skin in file.list("skins"):
        index = skin.get("inverseBindMatrices")
        matrices = file.numbers(index) if index is not None else []
        for k, node in enumerate(skin["joints"]):
            out.setdefault(node, []).append(from_columns(matrices[k]) if k < len(matrices) else IDENTITY)
    for node, n in enumerate(file.list("nodes")):
        if "mesh" in n:
            out.setdefault(node, []).append(IDENTITY)
    return out


def distance(numbers, wanted, size):
    """As a share of what is tolerated."""
    largest = max(abs(wanted[i][j]) for i in range(3) for j in range(3))
    reach = max(size, max(abs(wanted[i][3]) for i in range(3)))
    worst = 0.0
    for i in range(3):
        for j in range(4):
            allowed = TOLERANCE * (reach if j == 3 else max(largest, 1e-6))
            off = abs(numbers[4 * i + j] - wanted[i][j])
            worst = max(worst, off / allowed if off == off else math.inf)
    return worst


def compare_weights(file, clip, time, pose):
    """Weights of a node are shared by its meshes, and come in the order of the joints. A skinned mesh is drawn once for
    each shape."""
    given = {}
    for w in pose["weights"]:
        given.setdefault(w["node"], []).append(w["value"])
    wanted, shapes = {}, set()
    channels = [c["target"] for animation in file.list("animations") for c in animation.get("channels", [])]
    moved = {t.get("node") for t in channels if t.get("path") == "weights"}
    for node, j in sorted(pair(file, pose["joints"]), key=lambda both: both[1]):
        n = file.list("nodes")[node]
        if "EXT_mesh_gpu_instancing" in n.get("extensions", {}) or not targets_of(file, node):
            continue
        if not set(tops_of(file, [node])) & set(shown(file)):
            continue
        own = node if node in moved else tuple(weights_of(file, None, node, time))
        shape = (n.get("mesh"), n.get("skin"), own)
        if n.get("skin") is None or shape not in shapes:
            wanted[pose["joints"][j]["name"]] = weights_of(file, clip, node, time)
        shapes.add(shape)
    if {name: len(values) for name, values in wanted.items()} != {name: len(values) for name, values in given.items()}:
        raise AssertionError("weights of %s, not of %s" % (sorted(given), sorted(wanted)))
    pairs = [(a, b) for name in wanted for a, b in zip(given[name], wanted[name])]
    return max((abs(a - b) / TOLERANCE for a, b in pairs), default=0.0), len(pairs)


def compare_pose(file, clip, time, pose, size, bones):
    worst, compared, entries = 0.0, 0, 0
    joints, world = pose["joints"], {}
    for node, j in pair(file, joints):  # parents come first
        parent = world.get(joints[j]["parent"], IDENTITY)
        world[j] = multiply(parent, local(file, clip, node, time))
        worst, compared = max(worst, distance(joints[j]["model"], world[j], size)), compared + 1
        if joints[j]["entry"] is None:
            continue
        for palette in [joints[j]["palette"]] + [more["palette"] for more in joints[j].get("more_palettes", [])]:
            choices = [distance(palette, multiply(world[j], bind), size) for bind in bones.get(node, [])]
            worst, entries = max(worst, min(choices, default=math.inf)), entries + 1
    off, weights = compare_weights(file, clip, time, pose)
    return max(worst, off), compared, entries, weights


def compare(throng, options, path, chance):
    file = File(path)
    about = ask(throng, "inspect", path, "--json")
    animations, bones = [a for a in file.list("animations") if any(moving(file, a))], binds(file)
    worst, compared, entries, weights = 0.0, 0, 0, 0
    clips = chance.sample(range(len(animations)), min(CLIPS, len(animations)))
    for c in clips or [None]:
        clip = Clip(file, animations[c]) if c is not None else None
        for time in clip.times(chance) if clip else [0.0]:
            which = ["--clip", str(c)] if clip else []
            pose = ask(throng, "pose", path, *options, *which, "--time", repr(time), "--json")
            w, j, e, m = compare_pose(file, clip, time, pose, about["size"], bones)
            worst, compared, entries, weights = max(worst, w), compared + j, entries + e, weights + m
    return worst, compared, entries, weights


def main():
    arguments, seed, options = sys.argv[1:], 1, []
    while arguments and arguments[0] in ("--seed", "--option"):
        seed, options = (int(arguments[1]), options) if arguments[0] == "--seed" else (seed, [*options, arguments[1]])
        arguments = arguments[2:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    right = wrong = skipped = 0
    for path in arguments[1:]:
        try:
            worst, compared, entries, weights = compare(arguments[0], options, path, random.Random(seed))
            if compared == 0:
                raise Undecodable("its scene is empty")
            good = worst <= 1
            print("%s %s: %.2g of the tolerance, %d joints, %d entries, %d weights" %
                  ("right" if good else "WRONG", path, worst, compared, entries, weights))
            right, wrong = right + good, wrong + (not good)
        except Undecodable as why:
            print("not compared: %s: %s" % (path, why))
            skipped += 1
        except (AssertionError, KeyError, IndexError, ValueError, TypeError, struct.error, OSError) as why:
            print("WRONG %s: %s: %s" % (path, type(why).__name__, why))
            wrong += 1
    print("%d right, %d wrong, %d not compared" % (right, wrong, skipped))
    sys.exit(1 if wrong or not right else 0)


if __name__ == "__main__":
    main()
