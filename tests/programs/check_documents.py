#!/usr/bin/env python3
"""check_documents.py manual THRONG FOLDER | bash THRONG SCRIPT | zsh THRONG SCRIPT

The manual pages and the completion of bash and zsh against what `throng help` says and what the parser takes. The
shells are real ones at a terminal: keys are pressed, and the line that comes of it is read back.
"""
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True)


def help_of(program):
    """{command: (summary, {option: (argument, what it does)})}"""
    def options(text):
        text = re.sub(r"\n {9,}", " ", text[text.index("\n  --"):])
        return {o: (argument, what) for o, argument, what in re.findall(r"^  --([\w-]+)(?: (\S+))?  +(.*)$", text, re.M)}

    commands, shared = {}, options(run(program, "help", "options").stdout)
    for name, summary in re.findall(r"^  (\w+) +(.*)$", run(program, "help").stdout, re.M):
        text = run(program, "help", name).stdout
        own, named = options(text), text[text.index("Options that"):text.index("\n  --")]
        commands[name] = summary, own | {o: shared[o] for o in re.findall(r"--([\w-]+)", named)}
    return commands


# ---- manual ----

def plain(roff):
    """A page without its markup."""
    roff = re.sub(r"\\f[BIR]|\\&", "", roff).replace("\\-", "-")
    roff = re.sub(r"^\.B ", "", roff, flags=re.M)
    return re.sub(r"^\.BR (\S+) \(1\)", r"\1(1)", roff, flags=re.M).replace("\\e", "\\")


def check_manual(program, folder):
    commands = help_of(program)
    pages = {f"throng-{name}.1" for name in commands} | {"throng.1"}
    assert set(os.listdir(folder)) == pages, os.listdir(folder)
    for name, (summary, options) in commands.items():
        page = plain(open(f"{folder}/throng-{name}.1").read())
        assert f"throng-{name} - {summary}\n" in page, name
        section = page[page.index(".SH OPTIONS"):page.index(".SH EXIT")]
        found = {o: (argument, what) for o, argument, what in re.findall(r"\.TP\n--([\w-]+)(?: (\S+))?\n(.*)\n", section)}
        assert set(found) == set(options), f"{name}: {set(found) ^ set(options)}"
        for o in options:
            assert found[o] == options[o], f"{name} --{o}: {found[o]}, not {options[o]}"
        usage = re.search(r"usage: (.*)", run(program, "help", name).stdout)[1]
        synopsis = page[page.index("SYNOPSIS"):page.index(".SH DESC")]
        assert " ".join(synopsis.split()[1:]) == usage, (synopsis, usage)
    page = plain(open(f"{folder}/throng.1").read())
    for name, (summary, _) in commands.items():
        assert f".TP\nthrong-{name}(1)\n{summary}\n" in page, name
    codes = re.search(r"exit codes: (.*)", " ".join(run(program, "help").stdout.split()))[1]
    section = page[page.index(".SH EXIT"):page.index(".SH ENV")]
    assert ", ".join(f"{c} {m}" for c, m in re.findall(r"\.TP\n(.*)\n(.*)\n", section)) == codes, section
    keys = re.findall(r"^  (\S+) .*$", run(program, "help", "synthetic").stdout, re.M)
    for key in keys[1:]:
        assert f"\n{key} " in page, key
    documents = open(os.path.join(os.path.dirname(__file__), "../../docs/reference/commands.md")).read()
    described = re.findall(r"^\| `(\w+)` \|", documents[documents.index("## Environment"):], re.M)
    section = page[page.index(".SH ENV"):page.index(".SH SEE")]
    assert set(re.findall(r"\.TP\n(.*)\n", section)) == set(described), (section, described)
    check_markup(folder)


def check_markup(folder):
    pages = [os.path.join(folder, page) for page in os.listdir(folder)]
    for tool in (["mandoc", "-T", "lint", "-W", "warning"], ["man", "--warnings", "-E", "UTF-8", "-l"]):
        if not shutil.which(tool[0]):
            print(f"{tool[0]} is not installed: it does not check the markup")
            continue
        r = subprocess.run([*tool, *pages], capture_output=True, text=True, env=dict(os.environ, MANWIDTH="120"))
        said = r.stderr or tool[0] == "mandoc" and r.stdout
        assert r.returncode == 0 and not said, said


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
    def __init__(self, name, program, script, folder):
        os.makedirs(f"{folder}/bin")
        os.symlink(os.path.abspath(program), f"{folder}/bin/throng")
        os.makedirs(f"{folder}/data/throng/baselines")
        open(f"{folder}/data/throng/baselines/kept.json", "w").close()
        os.makedirs(f"{folder}/place/sub")
        for file in ("a.json", "b.csv", "c d.md", "e.png"):
            open(f"{folder}/place/{file}", "w").close()
        self.line = f"{folder}/place/line"
        self.got = 0
        environment = dict(os.environ, TERM="dumb", PATH=f"{folder}/bin:{os.environ['PATH']}", ZDOTDIR=folder,
                           SCRIPT=os.path.abspath(script), XDG_DATA_HOME=f"{folder}/data", HOME=folder)
        with open(f"{folder}/.zshrc", "w") as zshrc, open(f"{folder}/bashrc", "w") as bashrc:
            zshrc.write(SETUP["zsh"])
            bashrc.write(SETUP["bash"])
        words = {"bash": ["bash", "--noprofile", "--rcfile", f"{folder}/bashrc", "-i"], "zsh": ["zsh", "-d", "-i"]}[name]
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(f"{folder}/place")
            os.execvpe(words[0], words, environment)
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
        lines = open(self.line).read().split("\0")[:-1]
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


def check_shell(kind, program, script):
    if not shutil.which(kind):
        print(f"skipped: no {kind}")
        return
    commands = help_of(program)
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(kind, program, script, folder)
        try:
            check_words(shell, commands)
            check_values(shell)
            check_files(shell)
        finally:
            shell.close()


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


def main():
    kind, program, path = sys.argv[1:]
    if kind == "manual":
        check_manual(program, path)
    else:
        check_shell(kind, program, path)


main()
