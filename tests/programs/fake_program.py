"""An external program whose frames only take time. The argument names what is wrong with it, and from when on: while it
describes itself ("entries:..."), or at its fifth request."""
import json
import os
import random
import sys
import time

FAULT = sys.argv[1] if len(sys.argv) > 1 else "none"
FRAME_NS = 200_000
ENTRY = {"name": "spin", "characters": 10, "bones": 520, "description": "Waits, and writes nothing."}
ENTRIES = {
    "entries:nameless": [{**ENTRY, "name": "a/b"}],
    "entries:boneless": [{**ENTRY, "bones": 0}],
    "entries:mute": [{key: ENTRY[key] for key in ("name", "characters", "bones")}],
    "entries:none": [],
    "entries:twice": [ENTRY, ENTRY],
    "entries:many": [{**ENTRY, "name": f"spin{i}"} for i in range(33)],
    "entries:two": [ENTRY, {**ENTRY, "name": "sound"}],
}


def damage(line, seed):
    """One thing is wrong with it."""
    dice = random.Random(seed)
    told = json.loads(line)
    key, at = dice.choice(list(told)), dice.randrange(len(line) - 1)
    value = dice.choice(("null", "true", "-1", "0", "1e-320", "1e308", "1e999", "9" * 30, '""', '"\\u0000"', "[]", "{}", "NaN",
                         "[" * 3000, '"' + "x" * 60_000 + '"', f'1, "{key}": 2'))
    return dice.choice((line.replace(json.dumps(told[key]), value, 1), line.replace(key, key + "x"), line[:at] + "\n",
                        line[:at] + chr(dice.randrange(256)) + line[at + 1:]))


def say(**what):
    print(json.dumps(what), flush=True)


def spin(ns):
    begin = time.monotonic_ns()
    while time.monotonic_ns() < begin + ns:
        pass


def answer(request, number):
    begin_ns, begin_cpu_ns = time.monotonic_ns(), time.process_time_ns()
    spin(FRAME_NS * request["frames"])
    real_ns, cpu_ns = time.monotonic_ns() - begin_ns, time.process_time_ns() - begin_cpu_ns
    told = {"real_ns": real_ns, "cpu_ns": cpu_ns, "checksum": f'{request["first"] + request["frames"] - 1:x}'}
    told |= {"understates": {"real_ns": real_ns // 10}, "forgetful": {"checksum": "always"},
             "random": {"checksum": f"{number}"}}.get(FAULT, {})
    if number < 5 or request["entry"] == "sound":
        return say(**told)
    if FAULT in ("exits", "entries:two"):
        sys.exit(7)
    told |= {"negative": {"real_ns": -1}, "textual": {"real_ns": "1"}, "instant": {"real_ns": 0},
             "overstates": {"real_ns": 10**15}, "parallel": {"cpu_ns": 10**15}}.get(FAULT, {})
    if FAULT == "complains":
        told = {"error": "out of ideas"}
    if FAULT == "unchecked":
        del told["checksum"]
    line = json.dumps(told) + "\n"
    if FAULT.startswith("damaged:"):
        line = damage(line, int(FAULT[8:]))
    lines = {"garbage": "hello\n", "long": "x" * 70_000 + "\n", "chatty": 2 * line}.get(FAULT, line)
    return print(lines, end="", flush=True)  # at once, also where output is not buffered


def main():
    say(throng_external=2 if FAULT == "entries:version" else 1, program=os.environ.get("NAME", "fake"),
        entries=ENTRIES.get(FAULT, [ENTRY]))
    for number, line in enumerate(sys.stdin):
        answer(json.loads(line), number)
    if FAULT == "stubborn":
        time.sleep(1000)


main()
