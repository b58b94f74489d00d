#!/usr/bin/env python3
"""The reference scenes. Their hashes and the matrices of conformance are those that are published, submissions are what they
should be, and scripts/results-page shows them and notices other work. Tests in the form of program.py."""
import copy
import glob
import json
import os
import shutil

from program import PROGRAM as THRONG, SOURCE, expect_run as run, keeps_to_schema, load, main, write

REFERENCE = f"{SOURCE}/docs/reference"
FOX = os.path.join(os.environ.get("THRONG_MODELS", ""), "Fox.glb")
HAS_FOX = os.path.exists(FOX)


def test_hashes_are_those_that_are_published():
    scenes = load(f"{REFERENCE}/throng-1.json")["scenes"]
    words = ["--model", FOX] if HAS_FOX else []
    options = ["--dry-run", "--keys", "16", "--seed", "7", "--count", "3"]  # a reference scene is what it is
    document = json.loads(run(THRONG, "bench", "--json", "--filter", "^throng-1/.*_1k/", *options, *words))
    seen = set()
    for row in document["benchmarks"]:
        _, scene, how = row["run_name"].split("/")
        if row.get("error_occurred") or row.get("skipped"):
            assert scene.startswith("fox") and not HAS_FOX, row
            continue
        isa = document["context"]["isa"] if how == "all_threads" else how
        assert row["palette_hash"] == scenes[scene]["palette_hash"][isa], (row["run_name"], row["palette_hash"])
        assert (row["characters"], row["bones"]) == (scenes[scene]["characters"], scenes[scene]["bones"])
        seen.add((scene, how))
    assert {("human_1k", "scalar"), ("human_1k", "all_threads"), ("blend_1k", "scalar")} <= seen, seen
    assert (("fox_1k", "scalar") in seen) == HAS_FOX


def test_matrices_are_those_that_are_published():
    tool, found = f"{SOURCE}/scripts/conformance", "found.json"
    for name, model in (("human", "human"), ("fox", FOX)):
        if model == FOX and not HAS_FOX:
            continue
        stored = f"{REFERENCE}/conformance/{name}.json"
        write(found, run(tool, "write", THRONG, model))
        run(tool, "compare", stored, found, "0.0001")
        document = load(found)
        for off_m, code in ((0.00009, 0), (0.00011, 1)):  # along one axis, of the last bone
            changed = copy.deepcopy(document)
            changed["moments"][-1]["bones"][-1]["matrix"][3] += off_m / 1.8 * document["size"]
            write(found, json.dumps(changed))
            run(tool, "compare", stored, found, "0.1", code=code)


# Of two machines, which are one here.
def test_page_shows_submissions_and_notices_other_work():
    path, second = (f"results/{name}/throng-1.json" for name in ("one", "two"))
    for file in (path, second):
        os.makedirs(os.path.dirname(file))
    run(THRONG, "bench", "--out", path, "--filter", "^throng-1/(human|fox)_1k", "--repetitions", "2", "--frames", "1")
    shutil.copy(path, second)
    document = load(path)

    def page(code=0):
        return run(f"{SOURCE}/scripts/results-page", "results", code=code)

    shown = page()
    assert "cores (one)<" in shown and "cores (two)<" in shown, shown
    assert "<td>same work" in shown and "other palettes" not in shown
    shutil.rmtree(os.path.dirname(second))
    medians = {r["run_name"]: r for r in document["benchmarks"] if r.get("aggregate_name") == "median"}
    for how in (document["context"]["isa"], "all_threads"):
        assert f">{1e3 / medians[f'throng-1/human_1k/{how}']['ns_per_bone']:,.0f}<" in shown, how
    document["context"]["cpu_model"] = "<script>"
    medians["throng-1/human_1k/all_threads"]["palette_hash"] = "0123456789abcdef"
    write(path, json.dumps(document))
    shown = page()
    assert "other palettes: human_1k/all_threads" in shown and "<td>same work" not in shown and "<script>" not in shown
    document["context"]["partial"] = True
    write(path, json.dumps(document))
    page(code=1)


def test_what_is_published_keeps_to_its_schema():
    run(THRONG, "bench", "--out", "result.json", "--filter", "^throng-1/human_1k", "--repetitions", "2", "--frames", "1")
    for schema, paths in (("throng-1", [f"{REFERENCE}/throng-1.json"]), ("result-1", ["result.json"]),
                          ("conformance-1", glob.glob(f"{REFERENCE}/conformance/*.json"))):
        assert (wrong := keeps_to_schema(*paths, schema=schema)) == "", wrong


main(globals())
