#!/usr/bin/env python3
"""mpi.py THRONG_MPI THRONG FAIL_ALLOCATION SCHEMA: throng-mpi under mpirun. Palettes must be those of
the plain program for any number of ranks and threads, documents must keep to the schema, and a rank that is lost or out
of memory must end the job with an error in time, and leave no process behind.

THRONG_TEST_NIGHTLY=yes loses more ranks, and tries more numbers of them. THRONG_MPIRUN: another mpirun, whose library the program has."""

import concurrent.futures
import json
import os
import platform
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from serve_client import comes

NIGHTLY = bool(os.environ.get("THRONG_TEST_NIGHTLY"))
RANKS = (1, 2, 3, 4, 7) if NIGHTLY else (1, 3)
KILLS = FAILURES = 4 if NIGHTLY else 1  # of ranks, of allocations
TIMEOUT_S = 10  # of ranks that do not answer, also on a busy machine
START_S = 100   # in which a job begins on a busy machine
END_S = 60      # in which a lost job must have ended
SMALL = ["scale", "--count", "300", "--repetitions", "2", "--frames", "2", "--json"]

program, plain, fail_allocation, schema = sys.argv[1:5]
mpirun = shutil.which(os.environ.get("THRONG_MPIRUN", "mpirun"))
losses = random.Random(2)
failed = False
documents = []
start_s = time.monotonic()


def check(is_right, what, text=""):
    global failed
    print(f"{'good:  ' if is_right else 'FAILED:'} {time.monotonic() - start_s:5.1f} s  {what}", flush=True)
    if not is_right:
        print(text)
        failed = True


def launcher():
    words = [mpirun]
    if "Open MPI" in subprocess.run([mpirun, "--version"], capture_output=True, text=True).stdout:
        words += ["--oversubscribe"] + (["--allow-run-as-root"] if os.getuid() == 0 else [])
    return words


def run(words):
    return subprocess.run(words, capture_output=True, text=True, timeout=600)


def alone(words):
    """The plain program, which would write through a block of memory as large as half of this."""
    return subprocess.run([plain] + words, capture_output=True, text=True, timeout=600,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (128 << 20, -1)))


def ranks(count, words):
    return run(launcher() + ["-n", str(count), program] + words)


def refused(words):
    """Ranks that end by themselves, with a code: Open MPI then waits for a second, twice, whether there is one to kill."""
    return run(["env", "OMPI_MCA_odls_base_sigkill_timeout=0"] + words)


def document_of(text):
    documents.append(json.loads(text))
    return documents[-1]


def sums(points):
    return {point["palette_sum"] for point in points}


def same_palettes():
    got = alone(SMALL + ["--threads", "1,2"])
    wanted = sums(json.loads(got.stdout)["scaling"]["curves"][0]["points"])
    check(len(wanted) == 1, "the plain program has one sum", got.stderr)
    for count in RANKS:
        got = ranks(count, SMALL + ["--threads", str(1 + count % 3)])
        document = document_of(got.stdout)["rank_scaling"] if got.returncode == 0 else {"points": []}
        check(sums(document["points"]) == wanted, f"{count} ranks have the same sum", got.stdout + got.stderr)
        check(len(document["points"]) == count, f"{count} ranks have {count} points")
        check(not document.get("partial", True), f"{count} ranks give a whole result")


def weak():
    each = [word if word != "300" else "300/rank" for word in SMALL]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weak.html")
        got = ranks(3, each + ["--out", path])
        points = document_of(got.stdout)["rank_scaling"]["points"]
        page = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                page = file.read()
        check(got.returncode == 0 and '"rank_scaling": {' in page and
              "<code>mpirun -n 3 throng-mpi scale --count 300/rank" in page and "<h1>throng-mpi scale</h1>" in page,
              "a page has the document and the command", got.stderr)
    check([300, 600, 900] == [sum(s["characters"] for s in p["shares"]) for p in points], "weak scaling adds characters")
    got = alone([word if word != "300" else "300/thread" for word in SMALL] + ["--threads", "1,2"])
    plain_points = json.loads(got.stdout)["scaling"]["curves"][0]["points"]
    check([p["palette_sum"] for p in points[:2]] == [p["palette_sum"] for p in plain_points],
          "and has the plain program's sums", got.stderr)


def refusals():
    for words, code, text in (
        (SMALL + ["--grain", "2"], 2, "throng-mpi does not take --grain"),
        (["scale", "--count", "300/thread"], 2, "throng-mpi takes --count N/rank"),
        (SMALL + ["--timeout", "x"], 2, "--timeout takes a number of seconds"),
        (["stress"], 2, "it needs --count"),
        (["render"], 2, "throng-mpi has no render any more; throng render does it on one machine"),
        (SMALL + ["--model", "none.glb"], 3, "rank 0 on "),
        (["stress", "--count", "2000", "--budget-ms", "0.001"], 1, "do not meet 0.001 ms"),
    ):
        got = refused(launcher() + ["-n", "2", program] + words)
        check(got.returncode == code and text in got.stdout + got.stderr, f"exit {code}: {text}",
              f"exit {got.returncode}\n" + got.stdout + got.stderr)
    got = refused(launcher() + ["-n", "1", program] + SMALL + [":", "-n", "1", program] + SMALL + ["--seed", "5"])
    check(got.returncode == 2 and "throng: rank 1 on " in got.stderr and "another command line than rank 0" in got.stderr,
          "a rank with other options is named", got.stderr)


def of_job(seed):
    """The processes of a job: rank -> id."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if not (words[0].endswith(b"throng-mpi") and str(seed).encode() in words):
                continue
            with open(f"/proc/{pid}/environ", "rb") as file:
                own = dict(line.split(b"=", 1) for line in file.read().split(b"\0") if b"=" in line)
            found[int(own.get(b"OMPI_COMM_WORLD_RANK", own.get(b"PMI_RANK", b"-1")))] = int(pid)
        except (OSError, ValueError):
            continue
    return found


def lose(number, rank, count):
    """Starts a long job, takes a rank from it with this signal, and looks what comes of it."""
    seed = random.randrange(10**9, 10**10)
    words = ["scale", "--json", "--timeout", str(TIMEOUT_S), "--seed", str(seed), "--count", "2000", "--repetitions", "1000"]
    name = f"rank {rank} of {count} lost by signal {number}"
    job = subprocess.Popen(launcher() + ["-n", str(count), program] + words, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    if not comes(lambda: len(of_job(seed)) == count, START_S):
        check(False, f"{name}: it has not started")
    time.sleep(losses.uniform(0, 2))
    os.kill(of_job(seed)[rank], number)
    start = time.monotonic()
    try:
        out, err = job.communicate(timeout=END_S)
    except subprocess.TimeoutExpired:
        job.kill()
        out, err = job.communicate()
        check(False, f"{name}: it hangs", err)
    took = time.monotonic() - start
    check(job.returncode != 0, f"{name}: exit {job.returncode} after {took:.1f} s", err)
    # Before it measures, MPI itself may be what waits; then only mpirun knows which rank is missing, and of one that is
    # stopped nobody does.
    check((f"rank {rank} " in err.lower() and platform.node() in err) or
          (number == signal.SIGSTOP and "MPI waits for all ranks, and one does not answer" in err),
          f"{name}: is named with its host", err)
    if out and rank > 0:
        check(f"throng: rank {rank} on " in err and "does not answer" in err, f"{name}: rank 0 names it", err)
    if out:
        document = document_of(out)
        check(document["rank_scaling"]["partial"] and document["context"]["partial"],
              f"{name}: what was measured is called partial", out)
    check(comes(lambda: not of_job(seed), END_S), f"{name}: no process is left")


def out_of_memory():
    """Lets allocations of rank 1 fail, most of them late ones, between which ranks wait for each other."""
    words = ["scale", "--count", "40", "--repetitions", "1", "--frames", "1", "--json", "--timeout", "100"]
    numbers = random.Random(1)

    def fail(number):
        return run(launcher() + ["-n", "1", program] + words + [":", "-n", "1", "env", f"LD_PRELOAD={fail_allocation}",
                   f"THRONG_FAIL_ALLOCATION={number}", program] + words)

    # MPI starts programs, too.
    said = fail(0).stderr
    count = max((int(line.split()[1]) for line in said.splitlines() if line.startswith("allocations: ")), default=0)
    check(count > 100, f"{count} allocations of a rank", said)
    for i in range(FAILURES):
        number = numbers.randrange(count - 40 if i % 4 else 1, count + 1)
        got = fail(number)
        named = "rank 1 on " in got.stderr and "memory" in got.stderr and "answer" not in got.stderr
        check(got.returncode == 0 or (got.returncode == 4 and named), f"allocation {number} fails: exit {got.returncode}",
              got.stderr)


def keep_to_schema():
    checker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_schema.py")
    if run([sys.executable, "-c", "import jsonschema"]).returncode != 0:
        print("left out: no jsonschema")
        return
    got = ranks(2, ["stress", "--count", "40", "--budget-ms", "1000", "--json"])
    document_of(got.stdout)
    whole = documents[0]
    broken = [{**whole, "rank_scaling": {**whole["rank_scaling"], "points": []}}]
    for field in whole["rank_scaling"]["points"][0]:
        broken.append(json.loads(json.dumps(whole)))
        del broken[-1]["rank_scaling"]["points"][0][field]
    with tempfile.TemporaryDirectory() as folder:
        def judge(name, some):
            paths = [os.path.join(folder, f"{name}{i}.json") for i in range(len(some))]
            for path, document in zip(paths, some):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(document, file)
            got = run([sys.executable, checker, schema] + paths)
            return [path for path in paths if path in got.stdout], got.stdout + got.stderr

        refused, text = judge("good", documents)
        check(not refused and not text, f"{len(documents)} documents keep to the schema", text)
        refused, text = judge("broken", broken)
        check(len(refused) == len(broken), f"{len(broken)} broken documents do not", text)


def lose_some():
    for _ in range(KILLS):
        count = losses.choice((2, 3, 4))
        lose(signal.SIGKILL, losses.randrange(count), count)
    lose(signal.SIGSTOP, 1, 3)


def main():
    if not mpirun:
        print("mpirun is not installed")
        return 77
    same_palettes()
    weak()
    refusals()
    # Both wait for mpirun most of the time, so they do it at the same time.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for waiting in [pool.submit(out_of_memory), pool.submit(lose_some)]:
            waiting.result()
    keep_to_schema()
    return 1 if failed else 0


sys.exit(main())
