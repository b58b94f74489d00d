#!/usr/bin/env python3
"""check_shaders.py FOLDER: no function takes a struct that lies in a buffer.

NVIDIA's compiler refuses a struct of a readonly buffer as an argument (C1317), Mesa's takes it. A function gets its index,
and copies it to a variable of its own."""
import pathlib
import re
import sys


def wrong_in(text):
    """Functions of this GLSL, and the struct that each of them takes."""
    text = re.sub(r'//.*', '', text)
    structs = dict(re.findall(r'\bstruct\s+(\w+)\s*\{([^}]*)\}', text))
    reached = ' '.join(re.findall(r'\bbuffer\s+\w+\s*\{([^}]*)\}', text))
    while more := [body for name, body in structs.items() if re.search(rf'\b{name}\b', reached) and body not in reached]:
        reached += ' '.join(more)
    return [(function, name) for function, parameters in re.findall(r'^\w+ (\w+)\(([^)]*)\)', text, re.MULTILINE)
            for name in structs if re.search(rf'\b{name}\b', parameters) and re.search(rf'\b{name}\b', reached)]


BUFFER = 'struct Key {{ vec4 v; }};\nstruct Clip {{ Key keys[2]; }};\nreadonly buffer Clips\n{{ Clip clips[]; }};\n{} at({}{} x)\n'
for parameter, is_wrong in (('Clip', True), ('Key', True), ('uint', False)):
    assert bool(wrong_in(BUFFER.format('float', 'in ', parameter))) == is_wrong, parameter
# Pieces share names only where they share a shader, so all of them are looked at as one.
wrong = wrong_in('\n'.join(path.read_text() for path in sorted(pathlib.Path(sys.argv[1]).iterdir())
                           if path.suffix in ('.glsl', '.comp', '.vert', '.frag')))
for function, name in wrong:
    print(f'{function}() takes a {name}, which lies in a buffer')
sys.exit(bool(wrong))
