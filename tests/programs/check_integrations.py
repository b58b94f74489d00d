#!/usr/bin/env python3
"""What others run Throng by: the GitHub action and the Containerfile. Their files are well-formed and name what there is, and
their commands are run, with stand-ins for what is not here: GitHub, a container engine. Tests in the form of program.py."""
import os
import re

from program import PROGRAM as THRONG, SOURCE, Skip, expect_run as run, main, read

ACTION = f"{SOURCE}/.github/actions/compare"
CONTAINER = f"{SOURCE}/packaging/Containerfile"
QUICK = "--count 16 --repetitions 3 --frames 2 --filter ^pose/scalar/f32$"


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def options_of(command):
    return set(re.findall(r"^  (--[\w-]+)", run(THRONG, "help", command), re.M))


def expect_options(command, words):
    unknown = set(re.findall(r"--[a-z][\w-]*", words)) - options_of(command)
    assert not unknown, f"{command} takes no {unknown}"


# ---- the action ----

def test_the_action_names_what_there_is():
    try:
        import yaml
    except ImportError as why:
        raise Skip("no PyYAML (python3-yaml)") from why
    action = yaml.safe_load(read(f"{ACTION}/action.yml"))
    assert action["name"] and action["description"]
    assert all(i["description"] and "default" in i for i in action["inputs"].values()), action["inputs"]
    (step,) = action["runs"]["steps"]
    assert action["runs"]["using"] == "composite" and step["shell"] == "bash"
    assert step["run"] == '"$GITHUB_ACTION_PATH/compare.sh"'
    used = {re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)[1] for value in step["env"].values()}
    assert used == set(action["inputs"]), "each input goes to the script, and no other"
    assert set(step["env"]) == set(re.findall(r"\$\{?([A-Z_]+)", read(f"{ACTION}/compare.sh"))) - {
        "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "RUNNER_TEMP"}
    assert action["outputs"]["exit-code"]["value"] == f"${{{{ steps.{step['id']}.outputs.exit-code }}}}"
    expect_options("compare", action["inputs"]["options"]["default"])
    expect_options("bench", action["inputs"]["bench-options"]["default"])
    expect_options("compare", re.search(r'"\$new" compare(.*) --', read(f"{ACTION}/compare.sh"))[1])


def compare(folder, baseline, candidate, code, options="--fail-on wrong --max-time 1", bench=QUICK):
    """Runs the step as GitHub would; the summary, and what it put out."""
    summary, output = f"{folder}/summary.md", f"{folder}/output"
    write(summary, "Before.\n")
    write(output, "")
    env = dict(os.environ, GITHUB_STEP_SUMMARY=summary, GITHUB_OUTPUT=output, RUNNER_TEMP=folder, BASELINE=baseline,
               CANDIDATE=candidate, OPTIONS=options, BENCH_OPTIONS=bench)
    said = run(f"{ACTION}/compare.sh", code=code, cwd=f"{folder}/repository", env=env)
    assert read(summary).startswith("Before.\n"), "other steps write there too"
    return read(summary), read(output), said


def git(folder, *words):
    return run("git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org", *words).strip()


def make_repository(folder):
    """Two commits, which note that they are built."""
    run("git", "init", "-q", folder)
    build = f'mkdir -p build/release/bin\nln -s {THRONG} build/release/bin/throng\n'
    commits = []
    for name in ("old", "new"):
        note = f'#!/bin/sh -e\ncd "$(dirname "$0")/.."\necho {name} >>"{folder}/../built"\n'
        write(f"{folder}/scripts/run", note + build, 0o755)
        git(folder, "add", "scripts")
        git(folder, "commit", "-qm", name)
        commits.append(git(folder, "rev-parse", "HEAD"))
    return commits


def test_the_action_runs():
    folder = os.getcwd()
    repository = f"{folder}/repository"
    old, new = make_repository(repository)
    summary, output, _ = compare(folder, old, new, 0)
    assert "| pose/scalar/f32 |" in summary.replace("`", ""), summary
    assert output == "exit-code=0\n", output
    assert read(f"{folder}/built") == "old\nnew\n", "each from its own commit, and once"
    assert git(repository, "rev-parse", "HEAD") == new, "the checkout stays as it is"
    summary, output, _ = compare(folder, THRONG, THRONG, 3, bench="--frobnicate")
    assert "--frobnicate" in summary and output == "exit-code=3\n", (summary, output)
    assert read(f"{folder}/built") == "old\nnew\n", "a program is taken as it is"
    _, _, said = compare(folder, "", THRONG, 2)
    assert said.startswith("::error::baseline"), said
    # A shallow clone has no base, and fetches it.
    os.rename(repository, f"{folder}/origin")
    run("git", "clone", "-q", "--depth=1", f"file://{folder}/origin", repository)
    compare(folder, old, new, 3, bench="--frobnicate")
    assert read(f"{folder}/built") == 2 * "old\nnew\n"


# ---- the container ----

def test_the_container_names_what_there_is():
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", read(CONTAINER), flags=re.M))
    lines = [line.split(maxsplit=1) for line in text.split("\n") if line]
    known = {"FROM", "ENV", "WORKDIR", "COPY", "RUN", "USER", "ENTRYPOINT", "CMD"}
    assert {word for word, _ in lines} <= known and lines[0][0] == "FROM", lines
    for words in (rest.split() for word, rest in lines if word == "COPY" and not rest.startswith("--from")):
        assert all(os.path.exists(f"{SOURCE}/{path}") for path in words[:-1]), words
    packages = set(re.findall(r"^Package: (\S+)", read(f"{SOURCE}/debian/control"), re.M))
    assert "throng" in packages and "/tmp/throng_*.deb" in text
    recommended = re.search(r"^Package: throng\n(?:.+\n)*?Recommends: (.*)", read(f"{SOURCE}/debian/control"), re.M)[1]
    for package in recommended.split(", "):
        assert re.search(rf"apt-get install [^&]*\b{package}\b", text), f"OpenGL needs {package}"
    ((_, entry), (_, command)) = lines[-2:]
    assert entry == '["throng"]'
    words = re.findall(r'"([^"]*)"', command)
    expect_options(words[0], " ".join(words[1:]))
    # What the container runs by default, small.
    run(THRONG, *words, "--count", "16", "--frames", "2", "--repetitions", "1", "--threads", "1")


main(globals())
