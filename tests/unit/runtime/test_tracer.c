/* The tracer: what it is told is what its file says. */
#include "fixture_jobs.h"
#include "fixture_memory.h"
#include "fixture_trace.h"
#include <cli/run.h>

#include <core/clock.h>
#include <throng/runtime/tracer.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static th_error err;

/* ---- helpers ---- */

static th_tracer *create(void)
{
    th_tracer *tracer;
    cr_assert_eq(th_tracer_create("test", &tracer, &err), TH_OK);
    return tracer;
}

static th_result write_text(th_tracer *tracer, char **text)
{
    size_t size;
    FILE *file = open_memstream(text, &size);
    const th_result result = th_tracer_write(tracer, "throng of a test", file, &err);
    fclose(file);
    return result;
}

/* Writes the tracer, destroys it, reads what was written. */
static json_t *finish(th_tracer *tracer)
{
    char *text;
    cr_assert_eq(write_text(tracer, &text), TH_OK, "%s", err.text);
    th_tracer_destroy(tracer);
    json_t *trace = trace_read(text);
    free(text);
    return trace;
}

/* The event of this phase and name, of those that come after `at`. */
static const json_t *find(const json_t *trace, const char *phase, const char *name, size_t *at)
{
    const json_t *events = json_object_get(trace, "traceEvents"), *e;
    while ((e = json_array_get(events, (*at)++)))
        if (strcmp(text_of(e, "ph"), phase) == 0 && strcmp(text_of(e, "name"), name) == 0)
            return e;
    return NULL;
}

static const json_t *find_span(const json_t *trace, const char *name)
{
    size_t at = 0;
    const json_t *span = find(trace, "X", name, &at);
    cr_assert_neq(span, NULL, "no span %s", name);
    return span;
}

static double other(const json_t *trace, const char *field)
{
    return number_of(json_object_get(trace, "otherData"), field);
}

static bool is_near(double a, double b) /* both in microseconds that have nanoseconds in them */
{
    return fabs(a - b) < 5e-4;
}

static void busy_us(uint64_t us)
{
    const uint64_t end_ns = th_clock_ns() + 1000 * us;
    while (th_clock_ns() < end_ns)
        ;
}

static int keep_busy(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)worker, (void)ctx;
    busy_us(20 * (end - begin));
    return 0;
}

/* ---- spans ---- */

Test(tracer, spans_are_the_moments_that_were_returned)
{
    th_tracer *tracer = create();
    const uint64_t outer = th_tracer_begin(tracer, "outer"), first = th_tracer_begin(tracer, "first");
    const uint64_t second = th_tracer_next(tracer, "second"), ended = th_tracer_end(tracer);
    const uint64_t last = th_tracer_end(tracer);
    json_t *trace = finish(tracer);
    const json_t *o = find_span(trace, "outer"), *f = find_span(trace, "first"), *s = find_span(trace, "second");
    cr_expect(outer <= first && first <= second && second <= ended && ended <= last);
    cr_expect(is_near(number_of(o, "dur"), (double)(last - outer) / 1e3));
    cr_expect(is_near(number_of(f, "dur"), (double)(second - first) / 1e3));
    cr_expect(is_near(number_of(s, "dur"), (double)(ended - second) / 1e3));
    cr_expect(is_near(number_of(f, "ts") - number_of(o, "ts"), (double)(first - outer) / 1e3));
    cr_expect(is_near(number_of(f, "ts") + number_of(f, "dur"), number_of(s, "ts")), "one ends as the other begins");
    cr_expect_str_eq(process_of(trace, o), "test");
    cr_expect_str_eq(thread_of(trace, o), "main");
    json_decref(trace);
}

Test(tracer, without_one_the_time_is_told_all_the_same)
{
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 2);
    const uint64_t before = th_clock_ns(), begin = th_tracer_begin(NULL, "a"), next = th_tracer_next(NULL, "b");
    const uint64_t end = th_tracer_end(NULL), after = th_clock_ns();
    cr_expect(before <= begin && begin <= next && next <= end && end <= after);
    th_tracer_frame_begin(NULL, jobs, 0);
    th_tracer_count(NULL, "c", 1);
    th_tracer_group(NULL, "d");
    th_tracer_frame_end(NULL, jobs);
    th_tracer_destroy(NULL);
    th_jobs_destroy(jobs);
}

Test(tracer, ends_what_is_left_open)
{
    th_tracer *tracer = create();
    th_tracer_frame_begin(tracer, NULL, 5);
    th_tracer_begin(tracer, "stage");
    json_t *trace = finish(tracer);
    const json_t *frame = find_span(trace, "frame"), *stage = find_span(trace, "stage");
    cr_expect_eq(number_of(json_object_get(frame, "args"), "frame"), 5);
    const double frame_end = number_of(frame, "ts") + number_of(frame, "dur");
    cr_expect(is_near(frame_end, number_of(stage, "ts") + number_of(stage, "dur")));
    json_decref(trace);
}

Test(tracer, counters_have_their_values)
{
    th_tracer *tracer = create();
    static const double values[] = {3, -0.5, 1e300, 123456789};
    for (int i = 0; i < 4; i++)
        th_tracer_count(tracer, "level", values[i]);
    th_tracer_count(tracer, "level", (double)NAN);
    th_tracer_count(tracer, "level", (double)-INFINITY);
    json_t *trace = finish(tracer);
    size_t at = 0;
    for (int i = 0; i < 4; i++) {
        const json_t *count = find(trace, "C", "level", &at);
        cr_assert_neq(count, NULL);
        cr_expect_float_eq(number_of(json_object_get(count, "args"), "value") / values[i], 1, 1e-11);
    }
    cr_expect_eq(find(trace, "C", "level", &at), NULL);
    json_decref(trace);
}

Test(tracer, groups_are_processes_whatever_their_names)
{
    static const char *const names[] = {"one", "two \"quoted\"\\\n\x01 \xc3\xa9", "one"};
    th_tracer *tracer = create();
    for (int i = 0; i < 3; i++) {
        th_tracer_group(tracer, names[i]);
        th_tracer_begin(tracer, "inside");
        th_tracer_end(tracer);
    }
    th_tracer_group(tracer, NULL);
    th_tracer_begin(tracer, "outside");
    th_tracer_end(tracer);
    json_t *trace = finish(tracer);
    size_t at = 0;
    for (int i = 0; i < 3; i++)
        cr_expect_str_eq(process_of(trace, find(trace, "X", "inside", &at)), names[i]);
    cr_expect_str_eq(process_of(trace, find_span(trace, "outside")), "test");
    cr_expect_eq(sum_spans(trace, "one", NULL, NULL).count, 2);
    json_decref(trace);
}

/* ---- chunks ---- */

enum { FRAMES = 3, ITEMS = 100, GRAIN = 3, CHUNKS = (ITEMS + GRAIN - 1) / GRAIN };

static const char *const calls[] = {"sow", "reap"};

static void run_frames(th_tracer *tracer, th_jobs *jobs)
{
    for (uint32_t f = 0; f < FRAMES; f++) {
        th_tracer_frame_begin(tracer, jobs, f);
        th_tracer_begin(tracer, calls[0]);
        th_jobs_for(jobs, ITEMS, GRAIN, keep_busy, NULL);
        th_tracer_next(tracer, calls[1]);
        th_jobs_for(jobs, ITEMS, GRAIN, keep_busy, NULL);
        th_tracer_end(tracer);
        th_tracer_frame_end(tracer, jobs);
    }
    th_jobs_for(jobs, ITEMS, GRAIN, keep_busy, NULL); /* in no frame */
}

/* All items of each call, within that call. */
static void expect_chunks(const json_t *trace, const char *name)
{
    const json_t *events = json_object_get(trace, "traceEvents"), *call = NULL, *e;
    size_t i, items = 0;
    json_array_foreach(events, i, e)
    {
        if (strcmp(text_of(e, "name"), name) != 0)
            continue;
        if (strcmp(text_of(e, "cat"), "stage") == 0) {
            cr_expect_eq(items % ITEMS, 0);
            call = e;
            continue;
        }
        const json_t *args = json_object_get(e, "args");
        cr_assert_neq(call, NULL);
        items += (size_t)(number_of(args, "end") - number_of(args, "begin"));
        cr_expect_gt(number_of(e, "ts"), number_of(call, "ts") - 1);
        cr_expect_lt(number_of(e, "ts") + number_of(e, "dur"), number_of(call, "ts") + number_of(call, "dur") + 1,
                     "clocks of pool and tracer agree within a microsecond");
    }
    cr_expect_eq(items, FRAMES * ITEMS);
}

Test(tracer, has_every_chunk_of_a_frame_under_the_name_of_its_stage)
{
    for (EACH_SCHEDULER(s))
        for (uint32_t threads = 1; threads <= 3; threads++) {
            th_jobs *jobs = create_jobs(s, threads);
            th_tracer *tracer = create();
            run_frames(tracer, jobs);
            json_t *trace = finish(tracer);
            cr_expect_eq(sum_spans(trace, NULL, "frame", NULL).count, FRAMES);
            for (int c = 0; c < 2; c++) {
                cr_expect_eq(sum_spans(trace, NULL, "chunk", calls[c]).count, FRAMES * CHUNKS);
                expect_chunks(trace, calls[c]);
            }
            json_decref(trace);
            th_jobs_destroy(jobs);
        }
}

Test(tracer, workers_have_the_chunks_that_the_pool_counts)
{
    for (EACH_SCHEDULER(s)) {
        th_jobs *jobs = create_jobs(s, 3);
        th_tracer *tracer = create();
        th_worker_stats stats[3];
        th_jobs_stats_reset(jobs);
        for (uint32_t f = 0; f < FRAMES; f++) {
            th_tracer_frame_begin(tracer, jobs, f);
            th_jobs_for(jobs, ITEMS, GRAIN, keep_busy, NULL);
            th_tracer_frame_end(tracer, jobs);
        }
        th_jobs_stats(jobs, stats);
        json_t *trace = finish(tracer);
        for (uint32_t w = 0; w < th_jobs_threads(jobs); w++) {
            char who[32] = "main";
            size_t count = 0, i;
            const json_t *e;
            if (w > 0)
                snprintf(who, sizeof who, "worker %u", w);
            json_array_foreach(json_object_get(trace, "traceEvents"), i, e) count +=
                strcmp(text_of(e, "ph"), "X") == 0 && strcmp(text_of(e, "cat"), "chunk") == 0 &&
                strcmp(thread_of(trace, e), who) == 0;
            cr_expect_eq(count, stats[w].chunks, "%s: %s", th_scheduler_name(s), who);
        }
        json_decref(trace);
        th_jobs_destroy(jobs);
    }
}

Test(tracer, frames_have_stages)
{
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 2);
    th_tracer *tracer = create();
    run_frames(tracer, jobs);
    json_t *trace = finish(tracer);
    cr_expect_eq(bare_frames(trace), 0);
    json_decref(trace);
    th_jobs_destroy(jobs);
}

/* ---- memory ---- */

Test(tracer, recording_allocates_nothing)
{
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 3);
    th_tracer *tracer = create();
    run_frames(tracer, jobs);
    const size_t before = allocations;
    run_frames(tracer, jobs);
    th_tracer_count(tracer, "level", 1);
    cr_expect_eq(allocations, before);
    th_tracer_destroy(tracer);
    th_jobs_destroy(jobs);
}

Test(tracer, keeps_the_newest_and_counts_the_rest)
{
    enum { MORE = 1000 };
    th_tracer *tracer = create();
    uint64_t ended_ns = 0;
    for (uint32_t i = 0; i < TH_TRACER_EVENTS + MORE; i++) {
        th_tracer_frame_begin(tracer, NULL, i);
        th_tracer_frame_end(tracer, NULL);
        ended_ns = i == MORE ? th_clock_ns() : ended_ns;
    }
    const th_tracer_extent extent = th_tracer_get_extent(tracer);
    cr_expect_eq(extent.kept + extent.dropped, TH_TRACER_EVENTS + MORE);
    cr_expect_eq(extent.dropped, MORE);
    json_t *trace = finish(tracer);
    cr_expect_eq(other(trace, "dropped_events"), MORE);
    cr_expect_eq(sum_spans(trace, NULL, "frame", NULL).count, TH_TRACER_EVENTS);
    const json_t *first = find_span(trace, "frame");
    cr_expect_eq(number_of(json_object_get(first, "args"), "frame"), MORE);
    cr_expect(is_near(other(trace, "complete_from_us"), number_of(first, "ts") + number_of(first, "dur")));
    json_decref(trace);
}

Test(tracer, of_which_the_program_tells)
{
    char path[] = "/tmp/throng-trace-XXXXXX", said[512];
    const int fd = mkstemp(path);
    th_run run = {.command = th_command_find("scale")};
    cr_redirect_stderr();
    cr_assert_eq(th_run_begin_trace(&run, path), TH_EXIT_GOOD);
    for (uint32_t i = 0; i < TH_TRACER_EVENTS + 5; i++)
        th_tracer_count(run.tracer, "level", i);
    cr_expect_eq(th_run_end_trace(&run, path, TH_EXIT_GOOD), TH_EXIT_GOOD);
    FILE *err_file = cr_get_redirected_stderr();
    fflush(stderr);
    cr_assert_neq(fgets(said, sizeof said, err_file), NULL);
    cr_expect(strstr(said, "holds the last 131,072 events") && strstr(said, "; 5 before were dropped"), "%s", said);
    close(fd);
    unlink(path);
}

static int do_nothing(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)begin, (void)end, (void)worker, (void)ctx;
    return 0;
}

/* Chunks fill the room of their thread long before frames fill theirs. */
Test(tracer, drops_what_ended_before_all_threads_have_everything)
{
    enum { CALL = 10000, COUNT = 20 };
    th_jobs *jobs = create_jobs(TH_SCHEDULER_SERIAL, 1);
    th_jobs *pair = create_jobs(TH_SCHEDULER_WORK_STEALING, 2);
    th_tracer *tracer = create();
    uint64_t chunks = 0;
    th_tracer_begin(tracer, "all");
    for (uint32_t f = 0; f < 2; f++) { /* the second thread's chunks lie before everything else */
        th_tracer_frame_begin(tracer, pair, f);
        th_jobs_for(pair, 64, 1, keep_busy, NULL);
        th_tracer_frame_end(tracer, pair);
    }
    for (uint32_t f = 2; f < COUNT; f++) {
        th_tracer_frame_begin(tracer, jobs, f);
        th_jobs_for(jobs, CALL, 1, do_nothing, NULL);
        th_tracer_frame_end(tracer, jobs);
        chunks += CALL;
    }
    th_tracer_end(tracer);
    const th_tracer_extent extent = th_tracer_get_extent(tracer);
    cr_expect_eq(extent.kept + extent.dropped, chunks + 2 * 64 + COUNT + 1);
    json_t *trace = finish(tracer);
    const json_t *events = json_object_get(trace, "traceEvents"), *e;
    size_t i, kept = 0;
    json_array_foreach(events, i, e)
    {
        if (strcmp(text_of(e, "ph"), "X") != 0)
            continue;
        cr_assert_geq(number_of(e, "ts") + number_of(e, "dur"), other(trace, "complete_from_us") - 5e-4);
        kept++;
    }
    cr_expect_eq(kept, extent.kept);
    cr_expect_leq(kept, TH_TRACER_EVENTS);
    cr_expect_eq(sum_spans(trace, NULL, "stage", "all").count, 1, "still under way then");
    cr_expect_geq(sum_spans(trace, NULL, "chunk", NULL).count, TH_TRACER_EVENTS - 100);
    json_decref(trace);
    th_jobs_destroy(pair);
    th_jobs_destroy(jobs);
}

/* Lets the n-th allocation fail. False when there was none left to fail. */
static bool try_without_memory(th_jobs *jobs, size_t n)
{
    th_tracer *tracer;
    char *text = NULL;
    allocations = 0;
    failing_allocation = n;
    th_result result = th_tracer_create("test", &tracer, &err);
    cr_assert_eq(tracer != NULL, result == TH_OK);
    th_tracer_group(tracer, "other");
    th_tracer_frame_begin(tracer, jobs, 0);
    th_jobs_for(jobs, 64, 1, do_nothing, NULL);
    th_tracer_frame_end(tracer, jobs);
    if (result == TH_OK)
        result = write_text(tracer, &text);
    failing_allocation = 0;
    th_tracer_destroy(tracer);
    if (result == TH_OK)
        json_decref(trace_read(text));
    else
        cr_expect_eq(result, TH_ERR_MEMORY);
    free(text);
    return result != TH_OK;
}

Test(tracer, says_when_memory_is_out)
{
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 3);
    size_t n = 1;
    while (try_without_memory(jobs, n))
        n++;
    cr_expect_gt(n, 7, "only %zu failed", n - 1);
    th_jobs_destroy(jobs);
}
