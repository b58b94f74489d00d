#!/usr/bin/env python3
"""check_rooms.py SOURCE: headers lie where those who may include them look, and folders are small enough to be read.

include/throng is installed, ROOM/include/ROOM is for other rooms, what lies beside a .c for its own room. The build's include
paths keep product code to that. Here: an installed header needs only installed ones; a test that includes a private header
says so, and why, in its first comment ("inside"); no folder has more than 40 files.
"""
import collections
import os
import re
import subprocess
import sys

MOST = 40
source = sys.argv[1]
os.chdir(source)
found = subprocess.run(["git", "ls-files"], capture_output=True, text=True)
if found.returncode == 0:
    files = found.stdout.splitlines()
else:  # an archive of the sources
    files = [os.path.relpath(os.path.join(folder, name)) for folder, folders, names in os.walk(".") for name in names
             if not os.path.relpath(folder).startswith(("build", ".git"))]
code = [file for file in files if file.endswith((".c", ".h", ".cpp")) and os.path.exists(file)]
private = {file for file in code if file.endswith(".h") and "include/" not in file
           and not file.startswith(("tests/", "examples/", "shaders/"))}
wrong = []


def includes(file):
    return re.findall(r'^#include ([<"])([^>"]+)[>"]', open(file, encoding="utf-8").read(), re.MULTILINE)


def looks_inside(file):
    """A private header that it includes, by whichever path."""
    return next((header for kind, name in includes(file) if not os.path.exists(f"{os.path.dirname(file)}/{name}")
                 for header in private if kind == '"' and f"/{header}".endswith(f"/{name}")), None)


for file in code:
    if file.startswith("include/"):
        wrong += [f"{file} is installed and includes {name}, which is not" for kind, name in includes(file)
                  if kind == '"' or ("/" in name and not name.startswith(("throng/", "sys/")))]
    if file.startswith("tests/"):
        header = looks_inside(file)
        with open(file, encoding="utf-8") as text:
            says = bool(re.search(r"\binside\b", text.read().split("*/")[0], re.IGNORECASE))
        if header and not says:
            wrong.append(f"{file} includes {header}: its first comment does not say why it looks inside")
        if says and not header:
            wrong.append(f"{file} says that it looks inside, and does not")
for folder, count in collections.Counter(map(os.path.dirname, files)).items():
    if count > MOST:
        wrong.append(f"{folder or '.'} has {count} files")
for line in wrong:
    print(line)
print(f"{len(code)} files of code, {len(private)} private headers")
sys.exit(bool(wrong))
