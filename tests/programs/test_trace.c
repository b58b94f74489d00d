/* --trace from outside: what is in the file, and what goes wrong. */
#include "fixture_program.h"
#include "fixture_trace.h"

#include <criterion/criterion.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16 };

#define SMALL " --model synthetic:joints=8,clips=2,keys=16,rate=15"

static char text[1 << 22];

TestSuite(trace, .init = make_folder, .fini = remove_folder);

/* Runs the program with a trace and reads that. */
static json_t *trace_of(const char *arguments)
{
    char line[512];
    snprintf(line, sizeof line, "%s --trace t.json", arguments);
    cr_assert_eq(throng(line), 0, "%s: %s", line, err);
    slurp("t.json", text, sizeof text);
    return trace_read(text);
}

/* Whether a trace has all stages of a run, one after the other, is a matter of what is in it, not of how long it took.
 */
static void expect_stages(const json_t *trace, const char *const *stages)
{
    cr_expect_eq(bare_frames(trace), 0);
    for (; *stages; stages++)
        cr_expect_gt(sum_spans(trace, NULL, "stage", *stages).count, 0, "%s", *stages);
}

/* Some frames of the row, with so many chunks each. */
static size_t expect_frames(const json_t *trace, const char *row, size_t chunks)
{
    const size_t frames = sum_spans(trace, row, "frame", NULL).count;
    cr_expect(frames >= 1 && frames <= MOST, "%s: %zu frames", row, frames);
    cr_expect_eq(sum_spans(trace, row, "chunk", NULL).count, chunks * frames, "%s", row);
    return frames;
}

Test(trace, of_scale_has_some_frames_of_each_row)
{
    static const char *const rows[] = {"scale/threads:1", "scale/threads:2", "scale/sampling/threads:1"};
    static const char *const whole[] = {"load", "prepare", "check", "measure", "trace", NULL};
    json_t *trace = trace_of("scale --count 100 --threads 1,2 --repetitions 2 --frames 2" SMALL);
    expect_stages(trace, whole);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        expect_frames(trace, rows[r], 3); /* 6 batches, two in a chunk */
        cr_expect_leq(sum_spans(trace, rows[r], "chunk", "run").us, 2 * sum_spans(trace, rows[r], "frame", NULL).us);
    }
    json_decref(trace);
}

Test(trace, of_bench_has_some_frames_of_each_entry)
{
    static const struct {
        const char *name;
        size_t chunks; /* in a frame */
    } entries[] = {{"play/forward", 0},
                   {"pose/tutorial", 0},
                   {"jobs/stages:64/work-stealing", 3 * 8},
                   {"jobs/stages:64/serial", 3 * 8},
                   {"jobs/frame:60hz/work-stealing", 3 * 125},
                   {"jobs/trace/on", 0},
                   {"jobs/trace/off", 256}};
    json_t *trace =
        trace_of("bench --count 20 --repetitions 2 --frames 2 --filter "
                 "'play/forward|pose/tutorial|jobs/(stages|frame).*/(work-stealing|serial)|jobs/trace'" SMALL);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        expect_frames(trace, entries[i].name, entries[i].chunks);
    json_decref(trace);
}

/* Whether so few characters hold the budget is up to the machine. */
static json_t *trace_of_stress(const char *more)
{
    char line[256];
    snprintf(line, sizeof line, "stress --budget-ms 1 --frames 299 %s --trace t.json" SMALL, more);
    const int code = throng(line);
    cr_assert(code == 0 || code == 1, "%s: %s", line, err);
    slurp("t.json", text, sizeof text);
    return trace_read(text);
}

Test(trace, of_stress_has_frames_behind_those_that_count)
{
    static const char *const rows[] = {"stress/threads:1", "stress/threads:2"};
    static const char *const whole[] = {"load", "prepare", "check", "search", "trace", NULL};
    json_t *trace = trace_of_stress("--count 100 --threads 1,2");
    for (size_t r = 0; r < 2; r++) {
        const size_t frames = expect_frames(trace, rows[r], 3); /* 6 batches, two in a chunk */
        cr_expect_eq(frames, MOST);
        cr_expect_eq(sum_spans(trace, rows[r], "stage", "pose").count, MOST);
    }
    cr_expect_eq(sum_spans(trace, NULL, "frame", NULL).count, 2 * MOST, "none of those that count");
    cr_expect(strstr(text, "\"ns per bone\""));
    expect_stages(trace, whole);
    json_decref(trace);
}

Test(trace, of_stress_that_draws_has_the_stages_of_a_picture)
{
    static const char row[] = "stress/drawn/threads:2";
    static const char *const stages[] = {"wait", "cull", "pose", "draw", "resolve", "swap"};
    need_opengl();
    json_t *trace = trace_of_stress("--draw --size 64x36 --shadow 64 --count 4 --threads 2");
    for (size_t s = 0; s < sizeof stages / sizeof *stages; s++)
        cr_expect_eq(sum_spans(trace, row, "stage", stages[s]).count, MOST, "%s", stages[s]);
    cr_expect_eq(sum_spans(trace, NULL, "frame", NULL).count, MOST);
    cr_expect_eq(sum_spans(trace, row, "chunk", "pose").count, MOST, "a batch");
    json_decref(trace);
}

/* The document has six digits, the trace nanoseconds. */
static void expect_same(const json_t *trace, const json_t *document, const char *stage, uint32_t frames)
{
    const double ms = number_of(json_object_get(document, "ms_per_frame"), stage);
    const span_sum sum = sum_spans(trace, "throng render", "stage", stage);
    cr_expect_eq(sum.count, frames, "%s", stage);
    cr_expect_float_eq(sum.us / 1e3 / frames, ms, 1e-5 * ms + 1e-6, "%s", stage);
}

Test(trace, of_render_agrees_with_what_it_says)
{
    static const char *const stages[] = {"cull", "wait", "pose", "draw", "read", "write"}, *const whole[] = {
                                                                                               "load", "prepare",
                                                                                               "draw frames", "finish",
                                                                                               NULL};
    static const char line[] = "render --count 64 --size 320x180 --frames 3 --out f%d.png" SMALL;
    char with_json[192];
    need_opengl();
    snprintf(with_json, sizeof with_json, "%s --json --trace t.json", line);
    json_t *json = document(with_json);
    slurp("t.json", text, sizeof text);
    json_t *trace = trace_read(text);
    expect_stages(trace, whole);
    for (int i = 0; i < 6; i++)
        expect_same(trace, json, stages[i], 3);
    cr_expect_eq(sum_spans(trace, NULL, "frame", NULL).count, 3);
    cr_expect_gt(sum_spans(trace, NULL, "chunk", "cull").count, 0);
    cr_expect_eq(sum_spans(trace, NULL, "chunk", "pose").count, 3 * 2, "4 batches, two in a chunk");
    cr_expect(strstr(text, "\"characters visible\"") && strstr(text, "\"ns per bone\""));
    json_decref(trace);
    json_decref(json);
}

Test(trace, is_written_only_when_the_command_went_well)
{
    expect(3, "scale --model missing.glb --trace t.json", "missing.glb");
    cr_expect_neq(access("t.json", F_OK), 0);
}
