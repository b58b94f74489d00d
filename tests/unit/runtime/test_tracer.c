/* The tracer: what it is told is what its file says. */
#include "fixture_jobs.h"
#include "fixture_memory.h"
#include <cli/run.h>

#include <core/clock.h>
#include <runtime/tracer.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static th_error err;

/* ---- traces, read strictly ---- */

static double number_of(const json_t *object, const char *field)
{
    const json_t *value = json_object_get(object, field);
    if (!json_is_number(value)) /* an assertion each would take longer than all else */
        cr_assert_fail("%s", field);
    return json_number_value(value);
}

static const char *text_of(const json_t *object, const char *field)
{
    const char *text = json_string_value(json_object_get(object, field));
    if (!text)
        cr_assert_fail("%s", field);
    return text;
}

/* What the track of an event is called, or (pid) its process. */
static const char *name_of(const json_t *trace, const json_t *event, const char *field)
{
    const char *what = strcmp(field, "pid") == 0 ? "process_name" : "thread_name";
    const json_t *e;
    size_t i;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, e) if (e == event) break;
    else if (strcmp(text_of(e, "name"), what) == 0 &&
             number_of(e, field) == number_of(event, field)) return text_of(json_object_get(e, "args"), "name");
    cr_assert_fail("an event of nobody");
    return NULL;
}

static bool is_span(const json_t *event, const char *category)
{
    return strcmp(text_of(event, "ph"), "X") == 0 && (!category || strcmp(text_of(event, "cat"), category) == 0);
}

static double end_of(const json_t *span)
{
    return number_of(span, "ts") + number_of(span, "dur");
}

/* Spans of a track nest. Ascending times make it enough to look at what is still under way. */
static void expect_nesting(const json_t *events, double tid)
{
    double ends[32];
    size_t depth = 0, i;
    const json_t *span;
    json_array_foreach(events, i, span)
    {
        if (!is_span(span, NULL) || number_of(span, "tid") != tid)
            continue;
        while (depth > 0 && ends[depth - 1] < number_of(span, "ts") + 5e-4)
            depth--;
        cr_assert(depth == 0 || end_of(span) < ends[depth - 1] + 5e-4, "%s at %.3f us ends %.3f us after what it is in",
                  text_of(span, "name"), number_of(span, "ts"), end_of(span) - ends[depth - 1]);
        cr_assert_lt(depth, 32);
        ends[depth++] = end_of(span);
    }
}

/* As trace viewers want it: tracks have names before they have events, times ascend, and the spans of a track nest.
 * Which fields events have, and no others: tests/programs/traces.py. json_decref in the end. */
static json_t *read_trace(const char *text)
{
    json_error_t error;
    json_t *trace = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert_neq(trace, NULL, "%s in line %d", error.text, error.line);
    const json_t *events = json_object_get(trace, "traceEvents"), *e;
    double last_us = 0;
    size_t i;
    json_array_foreach(events, i, e)
    {
        if (strcmp(text_of(e, "ph"), "M") == 0) {
            cr_assert_eq(last_us, 0, "names come first");
            if (strcmp(text_of(e, "name"), "thread_name") == 0)
                expect_nesting(events, number_of(e, "tid"));
            continue;
        }
        cr_assert_geq(number_of(e, "ts"), last_us);
        last_us = number_of(e, "ts");
        cr_assert_leq(last_us, number_of(json_object_get(trace, "otherData"), "wall_us"));
    }
    return trace;
}

/* Of this category and name (NULL: any). */
static size_t count_spans(const json_t *trace, const char *category, const char *name)
{
    const json_t *e;
    size_t count = 0, i;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, e) count +=
        is_span(e, category) && (!name || strcmp(text_of(e, "name"), name) == 0);
    return count;
}

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
    json_t *trace = read_trace(text);
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
    busy_us(2 * (end - begin));
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
    cr_expect_str_eq(name_of(trace, o, "pid"), "test");
    cr_expect_str_eq(name_of(trace, o, "tid"), "main");
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
        cr_expect_str_eq(name_of(trace, find(trace, "X", "inside", &at), "pid"), names[i]);
    cr_expect_str_eq(name_of(trace, find_span(trace, "outside"), "pid"), "test");
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

static void expect_chunks_of_worker(const json_t *trace, uint32_t worker, uint64_t count)
{
    char who[32] = "main";
    const json_t *e;
    size_t i;
    if (worker > 0)
        snprintf(who, sizeof who, "worker %u", worker);
    json_array_foreach(json_object_get(trace, "traceEvents"), i, e) count -=
        is_span(e, "chunk") && strcmp(name_of(trace, e, "tid"), who) == 0;
    cr_expect_eq(count, 0, "%s", who);
}

/* Each worker has as many as the pool counts. */
Test(tracer, has_every_chunk_of_a_frame_under_the_name_of_its_stage)
{
    for (EACH_SCHEDULER(s))
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            th_jobs *jobs = create_jobs(s, threads);
            th_tracer *tracer = create();
            th_worker_stats stats[3];
            run_frames(tracer, jobs);
            th_jobs_stats(jobs, stats);
            th_jobs_for(jobs, ITEMS, GRAIN, keep_busy, NULL); /* in no frame */
            json_t *trace = finish(tracer);
            cr_expect_eq(count_spans(trace, "frame", NULL), FRAMES);
            for (int c = 0; c < 2; c++) {
                cr_expect_eq(count_spans(trace, "chunk", calls[c]), FRAMES * CHUNKS);
                expect_chunks(trace, calls[c]);
            }
            for (uint32_t w = 0; w < th_jobs_threads(jobs); w++)
                expect_chunks_of_worker(trace, w, stats[w].chunks);
            json_decref(trace);
            th_jobs_destroy(jobs);
        }
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

/* A full trace is long, and read by lines: each has one event. */
typedef struct event_line {
    char category[8];
    double end_us;
    unsigned frame;
} event_line;

static event_line spans[TH_TRACER_EVENTS]; /* of a trace */
static size_t span_count;
static double complete_from_us;

/* Closes the file. */
static void read_spans(FILE *file, uint64_t dropped)
{
    char line[512];
    span_count = 0;
    cr_assert_neq(fgets(line, sizeof line, file), NULL);
    const char *from = strstr(line, "\"complete_from_us\":"), *lost = strstr(line, "\"dropped_events\":");
    cr_assert(from && lost);
    complete_from_us = atof(strchr(from, ':') + 1);
    cr_expect_eq(strtoull(strchr(lost, ':') + 1, NULL, 10), dropped);
    while (fgets(line, sizeof line, file)) {
        event_line e = {0};
        double ts, dur;
        if (sscanf(line, "{\"ph\":\"X\",\"pid\":%*u,\"tid\":%*u,\"ts\":%lf,\"dur\":%lf,\"cat\":\"%7[a-z]", &ts, &dur,
                   e.category) != 3)
            continue;
        const char *number = strstr(line, "\"frame\":");
        e.end_us = ts + dur;
        e.frame = number ? (unsigned)atoi(strchr(number, ':') + 1) : 0;
        cr_assert_lt(span_count, TH_TRACER_EVENTS);
        spans[span_count++] = e;
    }
    fclose(file);
}

/* And the program tells of it. */
Test(tracer, keeps_the_newest_and_counts_the_rest)
{
    enum { MORE = 1005 };
    char path[] = "/tmp/throng-trace-XXXXXX", said[512];
    const int fd = mkstemp(path);
    th_run run = {.command = th_command_find("scale")};
    cr_redirect_stderr();
    cr_assert_eq(th_run_begin_trace(&run, path), TH_EXIT_GOOD);
    for (uint32_t i = 0; i < TH_TRACER_EVENTS + MORE; i++) {
        th_tracer_frame_begin(run.tracer, NULL, i);
        th_tracer_frame_end(run.tracer, NULL);
    }
    const th_tracer_extent extent = th_tracer_get_extent(run.tracer);
    cr_expect(extent.kept == TH_TRACER_EVENTS && extent.dropped == MORE);
    cr_expect_eq(th_run_end_trace(&run, path, TH_EXIT_GOOD), TH_EXIT_GOOD);
    FILE *err_file = cr_get_redirected_stderr();
    fflush(stderr);
    cr_assert_neq(fgets(said, sizeof said, err_file), NULL);
    cr_expect(strstr(said, "holds the last 131,072 events") && strstr(said, "; 1,005 before were dropped"), "%s", said);

    read_spans(fopen(path, "r"), MORE);
    cr_assert_eq(span_count, TH_TRACER_EVENTS);
    cr_expect(is_near(complete_from_us, spans[0].end_us));
    for (uint32_t i = 0; i < TH_TRACER_EVENTS; i++)
        if (spans[i].frame != MORE + i)
            cr_assert_fail("%u after %u", spans[i].frame, MORE + i);
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
    FILE *file = tmpfile();
    size_t written = 0;
    cr_assert_eq(th_tracer_write(tracer, "throng of a test", file, &err), TH_OK, "%s", err.text);
    th_tracer_destroy(tracer);
    rewind(file);
    read_spans(file, extent.dropped);
    for (size_t i = 0; i < span_count; i++) {
        written += spans[i].category[0] == 'c';
        if (spans[i].end_us < complete_from_us - 5e-4)
            cr_assert_fail("%g ends before %g", spans[i].end_us, complete_from_us);
    }
    cr_expect_eq(span_count, extent.kept);
    cr_expect_eq(strncmp(spans[0].category, "stage", 5), 0, "still under way then");
    cr_expect_geq(written, TH_TRACER_EVENTS - 100);
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
        json_decref(read_trace(text));
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
