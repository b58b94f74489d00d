#!/usr/bin/env python3
"""mpi.py THRONG_MPI THRONG FAIL_ALLOCATION: throng-mpi under mpirun. Palettes must be those of the plain program for any
number of ranks and threads, documents must keep to the schema, and a rank that is lost or out of memory must end the job
with an error in time, and leave no process behind. Tests in the form of program.py.

THRONG_TEST_NIGHTLY=yes loses more ranks, and tries more numbers of them. THRONG_MPIRUN: another mpirun, whose library the program has."""

import concurrent.futures
import contextlib
import copy
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

from program import PROGRAM, Done, Skip, command, keeps_to_schema, main, parse, read, write
from serve_client import comes

NIGHTLY = bool(os.environ.get("THRONG_TEST_NIGHTLY"))
RANKS = (1, 2, 3, 4, 7) if NIGHTLY else (1, 3)
KILLS = FAILURES = 4 if NIGHTLY else 1  # of ranks, of allocations
TIMEOUT_S = 10  # of ranks that do not answer, also on a busy machine
START_S = 600   # in which a job begins on a busy machine
END_S = 300     # in which a lost job must have ended
SMALL = ["scale", "--count", "300", "--repetitions", "2", "--frames", "2", "--json"]

plain, fail_allocation = map(os.path.abspath, sys.argv[2:4])
del sys.argv[2:4]  # words that choose tests may follow
mpirun = shutil.which(os.environ.get("THRONG_MPIRUN", "mpirun"))
losses = random.Random(2)


def need_mpirun():
    if not mpirun:
        raise Skip("mpirun is not installed")


# A folder for each: jobs of Open MPI share one, which the first that ends may remove while another enters it.
def launcher():
    words = [mpirun]
    if "Open MPI" in command(mpirun, "--version").out:
        words += ["--mca", "orte_tmpdir_base", tempfile.mkdtemp(dir=os.getcwd()), "--oversubscribe"]
        words += ["--allow-run-as-root"] if os.getuid() == 0 else []
    return words


def alone(words):
    """The plain program, which would write through a block of memory as large as half of this."""
    done = command(plain, *words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (128 << 20, -1)))
    return parse(done.out)["scaling"]["curves"][0]["points"]


def ranks(count, words):
    """The document of so many."""
    done = command(*launcher(), "-n", str(count), PROGRAM, *words)
    assert done.code == 0, done
    return document_of(done)


def refused(words):
    """Ranks that end by themselves, with a code: Open MPI then waits for a second, twice, whether there is one to kill."""
    return command("env", "OMPI_MCA_odls_base_sigkill_timeout=0", *launcher(), *words)


def document_of(done):
    """It keeps to the schema, where that can be said."""
    write("document.json", done.out)
    with contextlib.suppress(Skip):
        assert (wrong := keeps_to_schema("document.json")) == "", wrong
    return parse(done.out)


def sums(points):
    return {point["palette_sum"] for point in points}


def test_ranks_have_the_palettes_of_the_plain_program():
    wanted = sums(alone(SMALL + ["--threads", "1,2"]))
    assert len(wanted) == 1, wanted
    for count in RANKS:
        scaling = ranks(count, SMALL + ["--threads", str(1 + count % 3)])["rank_scaling"]
        assert sums(scaling["points"]) == wanted, f"{count} ranks: {scaling}"
        assert len(scaling["points"]) == count and not scaling["partial"], f"{count} ranks: {scaling}"


def test_weak_scaling_adds_characters_and_writes_a_page():
    each = [word if word != "300" else "300/rank" for word in SMALL]
    points = ranks(3, each + ["--out", "weak.html"])["rank_scaling"]["points"]
    page = read("weak.html")
    for part in ('"rank_scaling": {', "<code>mpirun -n 3 throng-mpi scale --count 300/rank", "<h1>throng-mpi scale</h1>"):
        assert part in page, part
    assert [300, 600, 900] == [sum(s["characters"] for s in p["shares"]) for p in points], points
    plain_points = alone([word if word != "300" else "300/thread" for word in SMALL] + ["--threads", "1,2"])
    assert [p["palette_sum"] for p in points[:2]] == [p["palette_sum"] for p in plain_points], "the plain program's sums"


# Of two ranks one has the only character.
def test_times_are_those_of_the_rank():
    document = ranks(2, ["scale", "--count", "1", "--model", "synthetic:joints=1000", "--repetitions", "2", "--frames", "50",
                         "--json"])
    busy, idle = sorted(document["rank_scaling"]["points"][1]["shares"], key=lambda share: -share["characters"])
    assert (busy["characters"], idle["characters"]) == (1, 0) and busy["poses_us"] > 3 * idle["poses_us"], document


def test_refusals():
    for words, code, text in (
        (SMALL + ["--grain", "2"], 2, "throng-mpi does not take --grain"),
        (["scale", "--count", "300/thread"], 2, "throng-mpi takes --count N/rank"),
        (SMALL + ["--timeout", "x"], 2, "--timeout takes a number of seconds"),
        (["stress"], 2, "it needs --count"),
        (["render"], 2, "throng-mpi has no render any more; throng render does it on one machine"),
        (SMALL + ["--model", "none.glb"], 3, "rank 0 on "),
        (["stress", "--count", "2000", "--budget-ms", "0.001"], 1, "do not meet 0.001 ms"),
    ):
        got = refused(["-n", "2", PROGRAM] + words)
        assert got.code == code and text in got.out + got.err, f"{words}: {got}"
    got = refused(["-n", "1", PROGRAM] + SMALL + [":", "-n", "1", PROGRAM] + SMALL + ["--seed", "5"])
    assert got.code == 2 and "throng: rank 1 on " in got.err and "another command line than rank 0" in got.err, got


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


def start(words, count, name):
    """A job that all ranks have begun, and what of_job finds it by."""
    seed = random.randrange(10**9, 10**10)
    words = words + ["--timeout", str(TIMEOUT_S), "--seed", str(seed), "--count", "2000"]
    job = subprocess.Popen(launcher() + ["-n", str(count), PROGRAM] + words, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    assert comes(lambda: len(of_job(seed)) == count or job.poll() is not None, START_S), f"{name}: it has not started"
    assert job.poll() is None, f"{name}: it has not started: {job.stderr.read()}"
    return job, seed


def lose(number, rank, count):
    """Starts a long job, takes a rank from it with this signal, and looks what comes of it."""
    name = f"rank {rank} of {count} lost by signal {number}"
    job, seed = start(["scale", "--json", "--repetitions", "1000"], count, name)
    time.sleep(losses.uniform(0, 2))
    os.kill(of_job(seed)[rank], number)
    begin = time.monotonic()
    try:
        out, err = job.communicate(timeout=END_S)
    except subprocess.TimeoutExpired:
        assert not of_job(seed), f"{name}: ranks are left: {of_job(seed)}"
        print(f"{name}: all ranks have ended; mpirun, which Open MPI may let hang then, has not")
        return
    finally:
        job.kill()
    print(f"{name}: exit code {job.returncode} after {time.monotonic() - begin:.1f} s")
    assert job.returncode != 0, f"{name}: {err}"
    # Before it measures, MPI itself may be what waits; then only mpirun knows which rank is missing, and of one that is
    # stopped nobody does.
    assert (f"rank {rank} " in err.lower() and platform.node() in err) or \
        (number == signal.SIGSTOP and "MPI waits for all ranks, and one does not answer" in err), f"{name}: {err}"
    if out:
        if rank > 0:
            assert f"throng: rank {rank} on " in err and "does not answer" in err, f"{name}: rank 0 does not say it: {err}"
        document = document_of(Done(job.returncode, out, err))
        assert document["rank_scaling"]["partial"] and document["context"]["partial"], f"{name}: {document}"
    assert comes(lambda: not of_job(seed), END_S), f"{name}: a process is left"


def out_of_memory():
    """Lets allocations of rank 1 fail, most of them late ones, between which ranks wait for each other."""
    words = ["scale", "--count", "40", "--repetitions", "1", "--frames", "1", "--json", "--timeout", "100"]
    numbers = random.Random(1)

    def fail(number):
        return command(*launcher(), "-n", "1", PROGRAM, *words, ":", "-n", "1", "env", f"LD_PRELOAD={fail_allocation}",
                       f"THRONG_FAIL_ALLOCATION={number}", PROGRAM, *words)

    # MPI starts programs, too.
    said = fail(0).err
    count = max((int(line.split()[1]) for line in said.splitlines() if line.startswith("allocations: ")), default=0)
    assert count > 100, said
    for i in range(FAILURES):
        number = numbers.randrange(count - 40 if i % 4 else 1, count + 1)
        got = fail(number)
        named = "rank 1 on " in got.err and "memory" in got.err and "answer" not in got.err
        assert got.code == 0 or (got.code == 4 and named), f"allocation {number} fails: {got}"


def lose_some():
    for _ in range(KILLS):
        count = losses.choice((2, 3, 4))
        lose(signal.SIGKILL, losses.randrange(count), count)
    lose(signal.SIGSTOP, 1, 3)


# Both wait for mpirun most of the time, so they do it at the same time.
def test_a_rank_that_is_lost_or_out_of_memory_ends_the_job():
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for waiting in [pool.submit(out_of_memory), pool.submit(lose_some)]:
            waiting.result()


# On a busy machine a job may have measured nothing when the signal comes, or is killed by mpirun, or rank 0 does not get
# its answers in the fraction of a second that a signal to it leaves. Then another gets more time.
def test_a_signal_to_any_process_keeps_what_was_measured():
    scale, stress = ["scale", "--repetitions", "1000"], ["stress", "--budget-ms", "1000", "--frames", "100000"]
    for words, number, rank in ((scale, signal.SIGINT, None), (stress, signal.SIGTERM, 0), (scale, signal.SIGTERM, 2)):
        measured, out = {"points": []}, ""
        for wait in (0.5, 1, 2, 4, 8, 16, 32, 64):
            job, seed = start(words + ["--out", "out.json"], 3, f"signal {number} to {rank}")
            pid = job.pid if rank is None else of_job(seed)[rank]
            assert comes(lambda: int(read(f"/proc/{pid}/status").partition("SigCgt:")[2].split()[0], 16) >> number - 1 & 1)
            time.sleep(wait)
            os.kill(pid, number)
            out, err = job.communicate(timeout=END_S)
            is_told = f"rank {rank} on {platform.node()}: signal {number} ends the job" in err and job.returncode == 128 + number
            assert job.returncode and (is_told or rank != 2), f"{job.returncode}: {err}"
            if os.path.exists("out.json"):
                measured = document_of(Done(job.returncode, read("out.json"), err))["rank_scaling"]
            if measured["points"] and (is_told or rank is None):
                break
        assert measured["partial"] and measured["points"] and "Partial: " in out, f"{measured}: {out} {err}"
        os.remove("out.json")


def test_broken_documents_do_not_keep_to_the_schema():
    ranks(2, ["stress", "--count", "40", "--budget-ms", "1000", "--json"])  # keeps to it
    whole = ranks(1, SMALL)
    broken = [copy.deepcopy(whole) for _ in range(1 + len(whole["rank_scaling"]["points"][0]))]
    broken[0]["rank_scaling"]["points"] = []
    for document, field in zip(broken[1:], whole["rank_scaling"]["points"][0]):
        del document["rank_scaling"]["points"][0][field]
    for i, document in enumerate(broken):
        write(f"broken-{i}.json", json.dumps(document))
    wrong = keeps_to_schema(*(f"broken-{i}.json" for i in range(len(broken))))
    for i, document in enumerate(broken):
        assert f"broken-{i}.json: " in wrong, document


main(globals(), need=need_mpirun)
