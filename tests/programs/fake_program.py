"""An external program whose frames only take time. The argument names what is wrong with it, and from when on: while it
describes itself ("entries:..."), or at its fifth request."""
import json
import os
import sys
import time

FAULT = sys.argv[1] if len(sys.argv) > 1 else "none"
FRAME_NS = 200_000


def say(**what):
    print(json.dumps(what), flush=True)


def spin(ns):
    begin = time.monotonic_ns()
    while time.monotonic_ns() < begin + ns:
        pass


def describe():
    entry = {"name": "spin", "characters": 10, "bones": 520, "description": "Waits, and writes nothing."}
    if FAULT == "entries:nameless":
        entry["name"] = "a/b"
    if FAULT == "entries:boneless":
        entry["bones"] = 0
    if FAULT == "entries:mute":
        del entry["description"]
    entries = [entry]
    if FAULT == "entries:none":
        entries = []
    if FAULT == "entries:twice":
        entries = [entry, entry]
    if FAULT == "entries:many":
        entries = [dict(entry, name=f"spin{i}") for i in range(33)]
    if FAULT == "entries:two":
        entries = [entry, dict(entry, name="sound")]
    say(throng_external=2 if FAULT == "entries:version" else 1, program=os.environ.get("NAME", "fake"), entries=entries)


def answer(request, number):
    begin_ns, begin_cpu_ns = time.monotonic_ns(), time.process_time_ns()
    spin(FRAME_NS * request["frames"])
    told = {"real_ns": time.monotonic_ns() - begin_ns, "cpu_ns": time.process_time_ns() - begin_cpu_ns}
    last = request["first"] + request["frames"] - 1
    told["checksum"] = f"{last:x}"
    if FAULT == "understates":
        told["real_ns"] //= 10
    if FAULT == "forgetful":
        told["checksum"] = "always"
    if FAULT == "random":
        told["checksum"] = f"{number}"
    if number < 5 or request["entry"] == "sound":
        return say(**told)
    if FAULT == "exits" or FAULT == "entries:two":
        sys.exit(7)
    if FAULT == "hangs":
        time.sleep(1000)
    if FAULT == "garbage":
        return print("hello", flush=True)
    if FAULT == "long":
        return print("x" * 70_000, flush=True)
    if FAULT == "chatty":  # at once, also where output is not buffered
        return print(2 * (json.dumps(told) + "\n"), end="", flush=True)
    if FAULT == "complains":
        told = {"error": "out of ideas"}
    if FAULT == "negative":
        told["real_ns"] = -1
    if FAULT == "textual":
        told["real_ns"] = "1"
    if FAULT == "instant":
        told["real_ns"] = 0
    if FAULT == "overstates":
        told["real_ns"] *= 10
    if FAULT == "parallel":
        told["cpu_ns"] = 2 * told["real_ns"] + 1_000_000_000
    if FAULT == "unchecked":
        del told["checksum"]
    say(**told)


def main():
    describe()
    for number, line in enumerate(sys.stdin):
        answer(json.loads(line), number)
    if FAULT == "stubborn":
        time.sleep(1000)


main()
