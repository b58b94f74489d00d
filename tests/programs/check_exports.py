#!/usr/bin/env python3
"""check_exports.py TREE: the libraries of an installation show the functions that the installed headers declare, no others;
and debian/*.symbols list these.
"""
import pathlib
import re
import subprocess
import sys

tree = pathlib.Path(sys.argv[1])


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def declared(*headers):
    """Functions whose declarations are left when bodies, and the types in braces, are gone."""
    files = [file for header in headers if (file := tree / "include/throng" / header).exists()]
    text = "".join(output("cc", "-E", "-P", f"-I{tree}/include", str(file)) for file in files)
    while text != (text := re.sub(r"\{[^{}]*\}", ";", text)):
        pass
    return {name for statement in text.split(";") if not re.match(r"\s*(typedef|static)\b", statement)
            for name in re.findall(r"\b(th_\w+)\s*\(", statement)[:1]}


def shown(library):
    """Of a static library what a shared one made of it would show. Names of linkers, such as _end, are theirs."""
    table = "--dyn-syms" if library.suffix == ".so" else "--syms"
    lines = [line.split() for line in output("readelf", "--wide", table, str(library)).splitlines()]
    return {line[7].split("@")[0] for line in lines if len(line) >= 8 and line[4] in ("GLOBAL", "WEAK")
            and line[5] in ("DEFAULT", "PROTECTED") and line[6] != "UND" and line[7][0] != "_"}


wrong = 0
debian = pathlib.Path(__file__).parents[2] / "debian"
libraries = [file for file in tree.glob("lib/**/libthrong*") if file.suffix in (".a", ".so")]
for library in libraries:
    headers = ["throng.h"] + ["render.h"] * ("render" in library.name)
    names, symbols = declared(*headers), shown(library)
    name = library.stem.replace("_debug", "")
    listed = re.findall(r"^ (\w+)@", next(debian.glob(f"{name}0*.symbols")).read_text(), re.MULTILINE)
    for text, those in (("does not show", names - symbols), ("shows", symbols - names),
                        ("is in debian without", names - {*listed}), ("is in debian with", {*listed} - names)):
        if those:
            print(f"{library.name} {text} {' '.join(sorted(those))}")
            wrong += 1
    print(f"{library.name}: {len(symbols)} functions")
sys.exit(wrong > 0 or not libraries)
