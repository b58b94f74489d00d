#!/usr/bin/env python3
"""The manual pages and the completion of bash and zsh against what `throng help` says and what the parser takes. The
shells are real ones at a terminal: keys are pressed, and the line that comes of it is read back. Tests in the form of
program.py."""
import os
import pty
import re
import shutil
import time

from program import PROGRAM, SOURCE, Skip, at_end, command, main, read, throng, write

MANUAL = os.path.abspath(f"{PROGRAM}/../../man")


def help_of():
    """{command: (summary, {option: (argument, what it does)})}"""
    def options(text):
        text = re.sub(r"\n {9,}", " ", text[text.index("\n  --"):])
        return {o: (argument, what) for o, argument, what in re.findall(r"^  --([\w-]+)(?: (\S+))?  +(.*)$", text, re.M)}

    commands, shared = {}, options(throng("help options").out)
    for name, summary in re.findall(r"^  (\w+) +(.*)$", throng("help").out, re.M):
        text = throng(f"help {name}").out
        own, named = options(text), text[text.index("Options that"):text.index("\n  --")]
        commands[name] = summary, own | {o: shared[o] for o in re.findall(r"--([\w-]+)", named)}
    return commands


# ---- manual ----

def plain(roff):
    """A page without its markup."""
    roff = re.sub(r"\\f[BIR]|\\&", "", roff).replace("\\-", "-")
    roff = re.sub(r"^\.B ", "", roff, flags=re.M)
    return re.sub(r"^\.BR (\S+) \(1\)", r"\1(1)", roff, flags=re.M).replace("\\e", "\\")


def test_manual():
    commands = help_of()
    pages = {f"throng-{name}.1" for name in commands} | {"throng.1"}
    assert set(os.listdir(MANUAL)) == pages, os.listdir(MANUAL)
    for name, (summary, options) in commands.items():
        page = plain(read(f"{MANUAL}/throng-{name}.1"))
        assert f"throng-{name} - {summary}\n" in page, name
        section = page[page.index(".SH OPTIONS"):page.index(".SH EXIT")]
        found = {o: (argument, what) for o, argument, what in re.findall(r"\.TP\n--([\w-]+)(?: (\S+))?\n(.*)\n", section)}
        assert set(found) == set(options), f"{name}: {set(found) ^ set(options)}"
        for o in options:
            assert found[o] == options[o], f"{name} --{o}: {found[o]}, not {options[o]}"
        usage = re.search(r"usage: (.*)", throng(f"help {name}").out)[1]
        synopsis = page[page.index("SYNOPSIS"):page.index(".SH DESC")]
        assert " ".join(synopsis.split()[1:]) == usage, (synopsis, usage)
    page = plain(read(f"{MANUAL}/throng.1"))
    for name, (summary, _) in commands.items():
        assert f".TP\nthrong-{name}(1)\n{summary}\n" in page, name
    codes = re.search(r"exit codes: (.*)", " ".join(throng("help").out.split()))[1]
    section = page[page.index(".SH EXIT"):page.index(".SH ENV")]
    assert ", ".join(f"{c} {m}" for c, m in re.findall(r"\.TP\n(.*)\n(.*)\n", section)) == codes, section
    keys = re.findall(r"^  (\S+) .*$", throng("help synthetic").out, re.M)
    for key in keys[1:]:
        assert f"\n{key} " in page, key
    documents = read(f"{SOURCE}/docs/reference/commands.md")
    described = re.findall(r"^\| `(\w+)` \|", documents[documents.index("## Environment"):], re.M)
    section = page[page.index(".SH ENV"):page.index(".SH SEE")]
    assert set(re.findall(r"\.TP\n(.*)\n", section)) == set(described), (section, described)
    for tool in (["mandoc", "-T", "lint", "-W", "warning"], ["man", "--warnings", "-E", "UTF-8", "-l"]):
        if not shutil.which(tool[0]):
            print(f"{tool[0]} is not installed: it does not check the markup")
            continue
        done = command(*tool, *(f"{MANUAL}/{page}" for page in pages), env=dict(os.environ, MANWIDTH="120"))
        said = done.err or tool[0] == "mandoc" and done.out
        assert done.code == 0 and not said, said


# ---- completion ----

ALL, ONE, READ = "\x18a", "\t", "\x18p"  # all that fits; what is certain; hand out the line and clear it
SETUP = {
    "bash": r"""
bind 'set bell-style none'; bind '"\C-xa": insert-completions'
bind -x '"\C-xp": { printf "%s" "$READLINE_LINE"; printf "\0"; } >>line; READLINE_LINE='
source "$SCRIPT"
""",
    "zsh": r"""
mkdir -p "$ZDOTDIR/completion"; cp "$SCRIPT" "$ZDOTDIR/completion/_throng"; fpath=("$ZDOTDIR/completion" $fpath)
autoload -Uz compinit; compinit -u -D
zle -C all-matches complete-word _generic; bindkey '^Xa' all-matches
zstyle ':completion:all-matches:*' insert true
zstyle ':completion:all-matches::::' completer _all_matches _complete
hand_out() { { printf "%s" "$BUFFER"; printf "\0"; } >>line; BUFFER= }; zle -N hand_out; bindkey '^Xp' hand_out
""",
}


class Shell:
    def __init__(self, name):
        folder = os.getcwd()
        for inside in ("bin", "data/throng/baselines", "place/sub"):
            os.makedirs(inside)
        os.symlink(PROGRAM, "bin/throng")
        for file in ("data/throng/baselines/kept.json", *(f"place/{name}" for name in ("a.json", "b.csv", "c d.md", "e.png"))):
            write(file, "")
        self.line = f"{folder}/place/line"
        self.got = 0
        environment = dict(os.environ, TERM="dumb", PATH=f"{folder}/bin:{os.environ['PATH']}", ZDOTDIR=folder,
                           SCRIPT=f"{SOURCE}/scripts/completion.{name}", XDG_DATA_HOME=f"{folder}/data", HOME=folder)
        write(".zshrc", SETUP["zsh"])
        write("bashrc", SETUP["bash"])
        words = {"bash": ["bash", "--noprofile", "--rcfile", f"{folder}/bashrc", "-i"], "zsh": ["zsh", "-d", "-i"]}[name]
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir("place")
            os.execvpe(words[0], words, environment)
        at_end.callback(self.close)
        os.set_blocking(self.terminal, False)
        for _ in range(100):  # keys that come before the shell is ready may be lost
            if self.type("", wait_s=0.3) is not None:
                break
        time.sleep(0.5)  # for answers that come late
        self.read()

    def read(self):
        try:
            while os.read(self.terminal, 65536):
                pass
        except OSError:
            pass
        if not os.path.exists(self.line):
            return None
        lines = read(self.line).split("\0")[:-1]
        new = lines[self.got:]
        self.got = len(lines)
        return new[-1] if new else None

    def type(self, keys, wait_s=60):
        """The line after these keys."""
        os.write(self.terminal, (keys + READ).encode())
        end = time.monotonic() + wait_s
        while time.monotonic() < end:
            line = self.read()
            if line is not None:
                return line
            time.sleep(0.005)
        return None

    def all_of(self, line):
        """The words that the shell puts in place of the last one."""
        head = line.rpartition(" ")[0] + " "
        got = self.type(line + ALL)
        assert got is not None and got.startswith(head), f"{line!r} became {got!r}"
        words = re.findall(r"(?:\\.|[^ \\])+", got[len(head):])
        return sorted({re.sub(r"\\(.)", r"\1", word).rstrip("/") for word in words})

    def close(self):
        os.close(self.terminal)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


def expect(got, wanted, line):
    assert got == sorted(wanted), f"{line!r} offers {got}, not {sorted(wanted)}"


def check_words(shell, commands):
    for line, wanted in (("throng be", "throng bench "), ("throng scale --isa=sc", "throng scale --isa=scalar "),
                         ("throng render --sce", "throng render --scene "), ("throng help syn", "throng help synthetic "),
                         ("throng scale --scheduler serial,wo", "throng scale --scheduler serial,work-stealing "),
                         ("throng compare --run a b -- --keys 1", "throng compare --run a b -- --keys 16 "),
                         ("throng no-such-command --co", "throng no-such-command --co")):
        got = shell.type(line + ONE)
        assert got == wanted, f"{line!r} became {got!r}"
    expect(shell.all_of("throng "), [*commands, "help"], "throng ")
    left = [f"--{o}" for o in commands["compare"][1] if o not in ("threshold", "json")]
    expect(shell.all_of("throng compare --threshold=3 --json --"), left, "those that are given")
    assert "--model" in shell.all_of("throng bench --model human --"), "one that is repeatable"


def check_values(shell):
    """All others: tests/golden/documents/completion.txt."""
    for line in ("throng bench --keys ", "throng bench --keys="):
        expect([word.rpartition("=")[2] for word in shell.all_of(line)], ["32", "16"], line)
    assert shell.type("throng bench --count " + ONE) == "throng bench --count ", "numbers are not offered"


def check_files(shell):
    expect(shell.all_of("throng bench --out "), ["a.json", "b.csv", "c d.md", "sub"], "files of an ending")
    models = ["a.json", "b.csv", "c d.md", "e.png", "line", "sub", "human"]
    expect(shell.all_of("throng pose "), models, "models")
    expect(shell.all_of("throng pose --model "), models, "--model")
    expect(shell.all_of("throng compare "), [*(m for m in models if m != "human"), "kept"], "results")
    expect(shell.all_of("throng inspect -- "), models, "operands")


def check_shell(name):
    if not shutil.which(name):
        raise Skip(f"no {name}")
    shell = Shell(name)
    check_words(shell, help_of())
    check_values(shell)
    check_files(shell)


def test_completion_bash():
    check_shell("bash")


def test_completion_zsh():
    check_shell("zsh")


main(globals())
