/* The stress test with tiny crowds. How many hold a budget is up to the machine, and no test asks. */
#include "bench/capacity/load_test_harness.h"
#include "bench/capacity/stress_headline.h"
#include "bench/measure/runqueue_delay.h"
#include "fixture_human.h"

#include <throng/bench/stress.h>
#include <throng/bench/validate.h>
#include <throng/core/clock.h>
#include <throng/core/json.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static th_error err;

TestSuite(stress, .init = make_human, .fini = free_human);

enum { FRAMES = 299 };

static th_stress_desc describe(uint32_t characters, const uint32_t *threads, uint32_t thread_count)
{
    static const th_model *models[2];
    models[0] = models[1] = human;
    return (th_stress_desc){
        .scene = {.models = models, .model_count = 2, .instance_count = characters, .seed = 3},
        .threads = threads,
        .thread_count = thread_count,
        .budget_ns = 1e5,
        .frames = FRAMES,
    };
}

static th_stress run(const th_stress_desc *desc)
{
    th_stress stress;
    cr_assert_eq(th_stress_run(desc, &stress, &err), TH_OK, "%s", err.text);
    return stress;
}

static double number(const json_t *json, const char *name)
{
    const json_t *value = json_object_get(json, name);
    cr_assert(json_is_number(value), "%s", name);
    return json_number_value(value);
}

static char *text_of(const th_stress *stress, th_format format)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cr_assert(th_stress_print(stress, format, file));
    fclose(file);
    return text;
}

static void expect_text(const char *text, const char *part)
{
    cr_expect(strstr(text, part), "no \"%s\" in:\n%s", part, text);
}

/* ---- frames ---- */

static void expect_point(const th_stress *stress, uint32_t index, uint32_t characters)
{
    const th_stress_point *p = &stress->points[index];
    const th_row *row = &stress->report.rows[index];
    cr_expect_eq(p->characters, characters);
    cr_expect_eq(p->frames, FRAMES);
    cr_expect_eq(row->real_ns.count, FRAMES);
    cr_expect_eq(row->cpu_ns.count, FRAMES);
    cr_expect_eq(p->preempted + p->unpreempted.count, p->preempted_unknown ? 0 : FRAMES);
    cr_expect_eq(p->meets_budget, p->deadline_misses == 0);
    cr_expect_eq(p->times.max > stress->budget_ns, p->deadline_misses > 0);
    cr_expect(row->checked && row->moving);
    cr_expect_str_eq(row->failure, "");
    cr_expect_eq(row->characters, characters);
}

Test(stress, of_a_number_measures_each_frame_of_the_same_crowd)
{
    const uint32_t threads[] = {1, 2, 3};
    const th_stress_desc desc = describe(101, threads, 3);
    th_stress stress = run(&desc);
    for (uint32_t i = 0; i < 3; i++) {
        expect_point(&stress, i, 101);
        cr_expect_eq(stress.report.rows[i].palette_hash, stress.report.rows[0].palette_hash);
    }
    cr_expect_str_eq(stress.report.rows[1].name, "stress/threads:2");
    cr_expect(strstr(stress.headline, "101 posed characters"), "%s", stress.headline);
    th_stress_fini(&stress);
}

/* So long waits the thread that waits longest, in the frames of a run in turn; NULL: as the system says. */
static const uint64_t *delay_ns;
static uint32_t delay_asked;

uint64_t __real_th_runqueue_delay_max(const th_runqueue_delay *delay);
uint64_t __wrap_th_runqueue_delay_max(const th_runqueue_delay *delay);

uint64_t __wrap_th_runqueue_delay_max(const th_runqueue_delay *delay)
{
    return delay_ns ? delay_ns[delay_asked++ % 10] : __real_th_runqueue_delay_max(delay);
}

/* One percent of the budget matters, but nothing that waking up takes. */
Test(stress, frames_that_were_preempted_are_counted_and_count)
{
    static const uint64_t ns[10] = {0, 20000, 99999, 110000, 5000000, 0, 99999, 119999, 0, 30000};
    static const double budgets_ns[] = {1e5, 12e6}, preemption_threshold_ns[] = {1e5, 1.2e5};
    static const uint32_t of_ten[] = {3, 1};
    delay_ns = ns;
    for (int i = 0; i < 2; i++) {
        th_stress_desc desc = describe(20, (uint32_t[]){1}, 1);
        desc.budget_ns = budgets_ns[i];
        th_stress stress = run(&desc);
        const th_stress_point *p = &stress.points[0];
        expect_point(&stress, 0, 20);
        cr_expect_float_eq(stress.preemption_threshold_ns, preemption_threshold_ns[i], 1e-6);
        cr_expect(p->preempted >= 29 * of_ten[i] && p->preempted <= 30 * of_ten[i], "%u", p->preempted);
        cr_expect_eq(p->times.count, FRAMES);
        th_stress_fini(&stress);
    }
}

/* They wait for each other. */
Test(stress, of_more_threads_than_cpus_nobody_knows_what_preempted_them)
{
    const uint32_t threads = th_cpus_read().usable + 1;
    const th_stress_desc desc = describe(20, &threads, 1);
    th_stress stress = run(&desc);
    expect_point(&stress, 0, 20);
    cr_expect(stress.points[0].preempted_unknown);
    cr_expect_eq(stress.points[0].preempted, 0);
    json_t *document = th_stress_json(&stress);
    cr_expect(json_is_null(json_object_get(json_array_get(json_object_get(document, "benchmarks"), 0), "preempted")));
    json_decref(document);
    th_stress_fini(&stress);
}

/* What was looked at on the way, the run that counts, and the crowd that is checked after it are one. */
Test(stress, without_a_number_ends_with_a_crowd_or_with_nobody)
{
    th_stress_desc desc = describe(0, (uint32_t[]){1}, 1);
    desc.isa = TH_ISA_SCALAR;
    th_stress stress = run(&desc);
    const th_stress_point *p = &stress.points[0];
    const th_capacity *search = &p->search;
    cr_expect_eq(stress.isa, TH_ISA_SCALAR);
    cr_expect_eq(p->characters, search->items);
    cr_expect_eq(p->meets_budget, p->characters > 0);
    cr_expect_eq(stress.report.rows[0].real_ns.count, search->confirmed.frames);
    cr_expect_eq(stress.report.rows[0].characters, search->confirmed.items);
    if (p->meets_budget)
        expect_point(&stress, 0, p->characters);
    th_stress_fini(&stress);
}

Test(stress, of_a_budget_that_nobody_holds_says_so)
{
    th_stress_desc desc = describe(0, (uint32_t[]){1, 2}, 2);
    desc.budget_ns = 10; /* a look at the clock takes longer */
    th_stress stress = run(&desc);
    for (uint32_t i = 0; i < 2; i++) {
        cr_expect_eq(stress.points[i].characters, 0);
        cr_expect_not(stress.points[i].meets_budget);
        cr_expect_eq(stress.points[i].search.first_failing, 1);
    }
    cr_expect(strstr(stress.headline, "Not even one posed character meets 1e-05 ms"), "%s", stress.headline);
    th_stress_fini(&stress);
}

Test(stress, dry_run_checks_and_times_nothing)
{
    th_stress_desc desc = describe(0, (uint32_t[]){1, 2}, 2);
    desc.is_dry_run = true;
    th_stress stress = run(&desc);
    for (uint32_t i = 0; i < 2; i++) {
        cr_expect(stress.report.rows[i].checked && stress.report.rows[i].moving);
        cr_expect_eq(stress.report.rows[i].real_ns.count, 0);
        cr_expect_eq(stress.report.rows[i].palette_hash, stress.report.rows[0].palette_hash);
    }
    json_t *document = th_stress_json(&stress);
    cr_expect_null(json_object_get(document, "stress"));
    json_decref(document);
    th_stress_fini(&stress);
}

/* After a deadline miss the next frame begins at once, and the one after that a budget later: none catches up. */
Test(stress, frames_that_were_missed_are_not_made_up_for)
{
    th_load_test load_test;
    const th_stress_desc desc = describe(5, (uint32_t[]){1}, 1);
    cr_assert_eq(th_load_test_init(&load_test, &desc, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_load_test_set_threads(&load_test, 1, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_load_test_prepare(&load_test, 5, &err), TH_OK, "%s", err.text);
    const uint64_t now_ns = th_clock_ns();
    load_test.due_ns = now_ns - 1000000000; /* a frame took a second too long */
    th_load_test_frame(&load_test);
    cr_expect_geq(load_test.due_ns, now_ns + (uint64_t)desc.budget_ns);
    th_load_test_fini(&load_test);
}

/* ---- frames that somebody else draws ---- */

enum { LEAST_WARM_UP = 2, MOST_WARM_UP = 16 };

/* Sees half of the characters. Its first `slow` frames of each crowd take 0.2 ms or more. */
typedef struct painter {
    uint32_t slow, fails_at, broken; /* that preparation fails, of the first, second; finishing does */
    uint32_t threads[8], characters[8], frames[8], prepared, finished;
    bool is_there, spoiled;
    th_tracer *tracer;
} painter;

static th_result paint_prepare(void *ctx, uint32_t threads, uint32_t characters, th_error *error)
{
    painter *p = ctx;
    cr_assert_lt(p->prepared, 8);
    p->threads[p->prepared] = threads;
    p->characters[p->prepared] = characters;
    p->is_there = true;
    if (++p->prepared == p->fails_at)
        return th_fail(error, TH_ERR_MEMORY, "no canvas");
    return TH_OK;
}

static void paint(void *ctx, uint64_t number)
{
    painter *p = ctx;
    cr_assert(p->is_there);
    cr_assert_eq(number, p->frames[p->prepared - 1]++);
    th_tracer_frame_begin(p->tracer, NULL, number);
    th_tracer_begin(p->tracer, "paint");
    for (const uint64_t begin = th_clock_ns(); number < p->slow && th_clock_ns() - begin < 200000;)
        ;
    th_tracer_end(p->tracer);
    th_tracer_frame_end(p->tracer, NULL);
}

static uint32_t paint_seen(const void *ctx)
{
    const painter *p = ctx;
    cr_assert(p->is_there);
    return p->characters[p->prepared - 1] / 2;
}

static void paint_trace(void *ctx, th_tracer *tracer)
{
    ((painter *)ctx)->tracer = tracer;
}

static void paint_check(void *ctx, th_row *row)
{
    const painter *p = ctx;
    cr_assert(p->is_there);
    if (p->spoiled)
        snprintf(row->failure, sizeof row->failure, "the picture is smeared");
}

static th_result paint_finish(void *ctx, th_error *error)
{
    painter *p = ctx;
    p->is_there = false;
    p->finished++;
    return p->broken ? th_fail(error, TH_ERR_ENVIRONMENT, "the brush broke") : TH_OK;
}

static json_t *paint_describe(const void *ctx)
{
    (void)ctx;
    return json_pack("{s:i, s:i, s:s}", "width", 640, "height", 360, "renderer", "a painter");
}

static th_stress_renderer renderer_of(painter *p)
{
    return (th_stress_renderer){
        .prepare = paint_prepare,
        .frame = paint,
        .visible = paint_seen,
        .trace = paint_trace,
        .check = paint_check,
        .finish = paint_finish,
        .describe = paint_describe,
        .palette_copies = 3,
        .character_bytes = 1000,
        .ctx = p,
    };
}

Test(stress, of_drawn_frames_times_those_of_the_guest)
{
    painter p = {0};
    const th_stress_renderer renderer = renderer_of(&p);
    th_stress_desc desc = describe(20, (uint32_t[]){1, 2}, 2);
    desc.renderer = &renderer;
    th_stress stress = run(&desc);
    cr_expect_eq(p.prepared, 4, "for the run and, once more, to see and trace what confirmed");
    cr_expect_eq(p.finished, 2);
    for (uint32_t i = 0; i < 2; i++) {
        expect_point(&stress, i, 20);
        cr_expect_eq(p.threads[2 * i], i + 1);
        cr_expect_eq(p.characters[2 * i], 20);
        cr_expect(p.frames[2 * i] >= LEAST_WARM_UP + FRAMES && p.frames[2 * i] <= MOST_WARM_UP + FRAMES);
        cr_expect_eq(stress.points[i].visible, 10);
    }
    cr_expect_str_eq(stress.report.rows[1].name, "stress/drawn/threads:2");
    cr_expect(strstr(stress.headline, "20 drawn characters") && strstr(stress.headline, "; 640 x 360 pixels, "), "%s",
              stress.headline);
    cr_expect(strstr(stress.headline, "by a painter; "), "%s", stress.headline);
    th_stress_fini(&stress);
}

Test(stress, says_what_was_drawn_and_who_was_out_of_sight)
{
    painter p = {0};
    const th_stress_renderer renderer = renderer_of(&p);
    th_stress_desc desc = describe(20, (uint32_t[]){1}, 1);
    desc.renderer = &renderer;
    th_stress stress = run(&desc);
    char *text = text_of(&stress, TH_FORMAT_TEXT);
    expect_text(text, "frames drawn on ticks of 0.1 ms\n640 x 360 pixels, samples 0, shadow map 0, by a painter\n");
    expect_text(text, "warning: only 10 of the 20 characters on 1 thread were visible");
    free(text);
    json_t *document = th_stress_json(&stress), *json = json_object_get(document, "stress");
    cr_expect_str_eq(json_string_value(json_object_get(json, "frame")), "drawn");
    cr_expect_eq(number(json_array_get(json_object_get(json, "points"), 0), "visible"), 10);
    cr_expect_eq(number(json_object_get(json_object_get(document, "context"), "picture"), "width"), 640);
    json_decref(document);
    th_stress_fini(&stress);
}

/* What waits in the driver at first is gone with the first frame in time, or never. */
Test(stress, warms_up_until_a_frame_is_in_time)
{
    static const uint32_t slow[] = {5, 1000}, least[] = {6, MOST_WARM_UP};
    for (int i = 0; i < 2; i++) {
        painter p = {.slow = slow[i]};
        const th_stress_renderer renderer = renderer_of(&p);
        th_stress_desc desc = describe(20, (uint32_t[]){1}, 1);
        desc.renderer = &renderer;
        th_stress stress = run(&desc);
        cr_expect(p.frames[0] >= least[i] + FRAMES && p.frames[0] <= MOST_WARM_UP + FRAMES, "%u", p.frames[0]);
        cr_expect_eq(stress.report.rows[0].real_ns.count, FRAMES);
        th_stress_fini(&stress);
    }
}

Test(stress, ends_where_drawing_fails)
{
    painter fails[] = {{.fails_at = 1}, {.fails_at = 2}, {.broken = 1}};
    static const char *const texts[] = {"no canvas", "no canvas", "the brush broke"};
    for (int i = 0; i < 3; i++) {
        const th_stress_renderer renderer = renderer_of(&fails[i]);
        th_stress_desc desc = describe(20, (uint32_t[]){1}, 1);
        th_stress stress;
        desc.renderer = &renderer;
        cr_expect_neq(th_stress_run(&desc, &stress, &err), TH_OK);
        cr_expect_str_eq(err.text, texts[i]);
    }
}

Test(stress, dry_run_draws_a_little)
{
    painter p = {0};
    const th_stress_renderer renderer = renderer_of(&p);
    th_stress_desc desc = describe(0, (uint32_t[]){1, 2}, 2);
    desc.renderer = &renderer;
    desc.is_dry_run = true;
    th_stress stress = run(&desc);
    for (uint32_t i = 0; i < 2; i++) {
        cr_expect(stress.report.rows[i].checked && stress.report.rows[i].real_ns.count == 0);
        cr_expect(p.characters[i] == 1 && p.frames[i] <= MOST_WARM_UP);
    }
    cr_expect_eq(p.finished, 2);
    th_stress_fini(&stress);
}

Test(stress, of_wrong_pictures_fails)
{
    painter p = {.spoiled = true};
    const th_stress_renderer renderer = renderer_of(&p);
    th_stress_desc desc = describe(20, (uint32_t[]){1}, 1);
    desc.renderer = &renderer;
    th_stress stress = run(&desc);
    cr_expect_str_eq(stress.report.rows[0].failure, "the picture is smeared");
    cr_expect_eq(stress.report.rows[0].real_ns.count, 0);
    th_stress_fini(&stress);
}

/* Three times the palettes, instead of once. */
Test(stress, counts_the_memory_of_who_draws)
{
    painter p = {0};
    th_stress_renderer renderer = renderer_of(&p);
    th_stress_desc desc = describe(20, (uint32_t[]){1}, 1);
    th_stress posed = run(&desc);
    desc.renderer = &renderer;
    th_stress drawn = run(&desc);
    cr_expect_float_eq(drawn.bytes_per_character - posed.bytes_per_character, 1000 + 2 * 52 * 48, 1e-6);
    renderer.needs_cpus = true;
    th_stress software = run(&desc);
    cr_expect(software.points[0].preempted_unknown && !posed.points[0].preempted_unknown);
    th_stress_fini(&posed);
    th_stress_fini(&drawn);
    th_stress_fini(&software);
}

/* ---- palettes that are wrong ---- */

static uint32_t hashes; /* asked for so far */
static uint64_t changed_from = UINT32_MAX;

uint64_t __real_th_crowd_hash(const th_crowd *crowd, const void *palette);
uint64_t __wrap_th_crowd_hash(const th_crowd *crowd, const void *palette);

uint64_t __wrap_th_crowd_hash(const th_crowd *crowd, const void *palette)
{
    return __real_th_crowd_hash(crowd, palette) + (hashes++ >= changed_from);
}

/* Two hashes for each check: before the frames, and after them. */
Test(stress, palettes_that_differ_between_threads_fail)
{
    th_stress_desc desc = describe(20, (uint32_t[]){1, 2}, 2);
    changed_from = 4;
    th_stress stress = run(&desc);
    cr_expect_str_eq(stress.report.rows[0].failure, "");
    cr_expect_str_eq(stress.report.rows[1].failure, "palettes differ from those of stress/threads:1");
    cr_expect_eq(stress.report.rows[1].real_ns.count, 0, "nothing is timed");
    json_t *document = th_stress_json(&stress);
    cr_expect_eq(json_array_size(json_object_get(json_object_get(document, "stress"), "points")), 1);
    json_decref(document);
    th_stress_fini(&stress);
}

static uint32_t checks; /* made so far: two for each trial that is good */
static uint32_t wrong_from = UINT32_MAX, wrong_to;

th_result __real_th_validate_palettes(const th_validation_desc *desc, th_validation *out, th_error *error);
th_result __wrap_th_validate_palettes(const th_validation_desc *desc, th_validation *out, th_error *error);

th_result __wrap_th_validate_palettes(const th_validation_desc *desc, th_validation *out, th_error *error)
{
    const th_result result = __real_th_validate_palettes(desc, out, error);
    const uint32_t number = checks++;
    if (number >= wrong_from && number < wrong_to)
        out->excess = 2;
    return result;
}

/* Those of the first number of threads, after its frames. */
Test(stress, palettes_that_are_wrong_in_the_end_leave_nothing_to_quote)
{
    const th_stress_desc desc = describe(20, (uint32_t[]){1, 2}, 2);
    wrong_from = 2;
    wrong_to = 3;
    th_stress stress = run(&desc);
    const th_stress_point *p = &stress.points[0];
    cr_expect(strstr(stress.report.rows[0].failure, "units off"), "%s", stress.report.rows[0].failure);
    cr_expect_eq(p->threads, 1);
    cr_expect(p->characters == 0 && !p->meets_budget && p->frames == 0 && p->deadline_misses == 0 && p->preempted == 0);
    cr_expect(p->times.count == 0 && p->search.probe_count == 0 && !p->preempted_unknown);
    cr_expect_eq(stress.report.rows[0].real_ns.count, 0);
    cr_expect_str_eq(stress.report.rows[1].failure, "");
    cr_expect(strstr(stress.headline, "20 posed characters") && strstr(stress.headline, " on 2 threads ("), "%s",
              stress.headline);
    char *text = text_of(&stress, TH_FORMAT_TEXT);
    cr_expect_not(strstr(text, "nan"), "%s", text);
    free(text);
    th_stress_fini(&stress);
}

Test(stress, palettes_that_are_all_wrong_are_the_headline)
{
    const th_stress_desc desc = describe(0, (uint32_t[]){1, 2}, 2);
    wrong_from = 0;
    wrong_to = UINT32_MAX;
    th_stress stress = run(&desc);
    cr_expect_str_eq(stress.headline, "The palettes are wrong, so the times mean nothing.");
    th_stress_fini(&stress);
}

/* ---- memory ---- */

Test(stress, more_characters_than_memory_are_refused)
{
    th_stress_desc desc = describe(2000, (uint32_t[]){1}, 1);
    th_stress stress;
    desc.memory = 2000000;
    cr_expect_eq(th_stress_run(&desc, &stress, &err), TH_ERR_MEMORY);
    cr_expect(strstr(err.text, "2000 characters take 0.0") && strstr(err.text, "only 0.00"), "%s", err.text);
}

/* A human's palette of 52 matrices, and what a crowd knows of it. */
Test(stress, tells_the_memory_of_a_character)
{
    const th_stress_desc desc = describe(20, (uint32_t[]){1}, 1);
    th_stress stress = run(&desc);
    cr_expect_gt(stress.bytes_per_character, 52 * 48);
    cr_expect_lt(stress.bytes_per_character, 52 * 48 + 400);
    cr_expect_gt(stress.memory, 1 << 20);
    th_stress_fini(&stress);
}

/* ---- what is told ---- */

/* A made-up result: 134,000 on two threads, of which 30 of 1,800 frames were preempted; on one, memory was the limit.
 * The caller frees it with th_stress_fini. */
static th_stress made_up(void)
{
    th_stress stress = {
        .points = calloc(2, sizeof *stress.points),
        .point_count = 2,
        .budget_ns = 16.6e6,
        .frames = 1800,
        .preemption_threshold_ns = 166000,
        .searched = true,
        .memory = 2000000000,
        .bytes_per_character = 2600,
        .headline = "134,000 characters hold it",
    };
    cr_assert_eq(th_report_init(&stress.report, 2, 3, &err), TH_OK);
    for (uint32_t i = 0; i < 2; i++) {
        th_stress_point *p = &stress.points[i];
        th_row *row = &stress.report.rows[i];
        *p = (th_stress_point){.threads = i + 1, .characters = 67000 * (i + 1), .meets_budget = true, .frames = 1800};
        p->search = (th_capacity){.items = p->characters, .probe_count = 1};
        p->search.interval = (th_interval){p->characters * 1.0101, p->characters * 1.0456};
        p->search.probes[0] = (th_capacity_probe){TH_CAPACITY_CONFIRM, p->characters, 1800, 4, true, 15e6, 16e6};
        p->deadline_misses = 4;
        row->threads = i + 1;
        row->time_unit = "ms";
        for (int f = 0; f < 3; f++) {
            th_samples_add(&row->real_ns, 15e6 + f * 5e5);
            th_samples_add(&row->cpu_ns, 15e6);
        }
        p->times = p->unpreempted = th_samples_stats(&row->real_ns);
    }
    stress.points[0].out_of_memory = true;
    stress.points[1].preempted = 30;
    stress.points[1].search.first_failing = 137000;
    stress.points[1].search.runs = 6;
    stress.points[1].search.worst_run = 99000;
    stress.points[1].search.best_run = 139000;
    return stress;
}

Test(stress, headline_says_why_a_budget_is_not_held_that_the_99th_percentile_is_within)
{
    th_stress stress = made_up();
    th_stress_point *p = &stress.points[0];
    p->frames = 299;
    p->deadline_misses = 1;
    stress.searched = p->meets_budget = false;
    th_stress_write_headline(&stress, p);
    expect_text(stress.headline,
                "67,000 posed characters do not meet 16.6 ms (60.24 Hz), with 1 deadline miss in 299 frames "
                "where 0 are allowed: p99 of 16 ms on 1 thread (");
    p->meets_budget = true;
    p->deadline_misses = 0;
    th_stress_write_headline(&stress, p);
    expect_text(stress.headline, "67,000 posed characters meet 16.6 ms (60.24 Hz): p99 of 16 ms on 1 thread (");
    th_stress_fini(&stress);
}

Test(stress, text_says_what_holds_and_what_is_doubtful)
{
    th_stress stress = made_up();
    stress.report.scene = json_object();
    char *text = text_of(&stress, TH_FORMAT_TEXT), *markdown = text_of(&stress, TH_FORMAT_MARKDOWN);
    expect_text(text, "\n134,000 characters hold it\n");
    expect_text(text, "2     134,000  135,000  141,000        137,000  yes           16.000  15.500  16.000            "
                      "    4         30  "
                      "               16.000");
    expect_text(text, "at most 1 % of frames exceed 16.6 ms (10 of 1,800 allowed).");
    expect_text(text,
                "More characters on 1 thread may meet the budget, but a character takes 2.6 KB, and 2 GB of memory");
    expect_text(text, "for a CPU for 0.17 ms or more; these frames still count.");
    expect_text(text,
                "warning: in 1.7 % of the frames on 2 threads another process had the CPU of one of our threads: ");
    expect_text(text, "warning: the machine was not stable: on 2 threads the worst of 6 runs suggests 99,000 "
                      "characters, the best 139,000");
    cr_expect_not(strstr(text, "on 1 thread:") || strstr(text, "on 1 thread the worst"), "%s", text);
    expect_text(markdown, "141,000 |       137,000 | yes          |");
    free(text);
    free(markdown);
    th_stress_fini(&stress);
}

Test(stress, text_has_no_nan_where_every_frame_was_preempted)
{
    th_stress stress = made_up();
    const th_samples none = {0};
    stress.report.scene = json_object();
    stress.points[1].unpreempted = th_samples_stats(&none);
    char *text = text_of(&stress, TH_FORMAT_TEXT);
    cr_expect_not(strstr(text, "nan"), "%s", text);
    free(text);
    json_t *document = th_stress_json(&stress);
    const json_t *points = json_object_get(json_object_get(document, "stress"), "points");
    cr_expect(json_is_null(json_object_get(json_array_get(points, 1), "p99_without_preempted_ms")));
    json_decref(document);
    th_stress_fini(&stress);
}

Test(stress, document_holds_the_points_and_how_they_were_found)
{
    th_stress stress = made_up();
    stress.report.scene = json_object();
    json_t *document = th_stress_json(&stress), *json = json_object_get(document, "stress");
    const json_t *points = json_object_get(json, "points"), *second = json_array_get(points, 1);
    const json_t *probe = json_array_get(json_object_get(second, "probes"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(json, "headline")), stress.headline);
    cr_expect_float_eq(number(json, "budget_ms"), 16.6, 1e-9);
    cr_expect_eq(number(json, "deadline_miss_rate_allowed"), TH_CAPACITY_MISS_RATE);
    cr_expect_float_eq(number(json, "preemption_threshold_ms"), 0.166, 1e-9);
    cr_assert_eq(json_array_size(points), 2);
    cr_expect(json_is_null(json_object_get(json_array_get(points, 0), "first_failing")));
    cr_expect(json_is_true(json_object_get(json_array_get(points, 0), "out_of_memory")));
    cr_expect_eq(number(second, "characters"), 134000);
    cr_expect_eq(number(second, "ci_low"), 135000);
    cr_expect_eq(number(second, "ci_high"), 141000);
    cr_expect(json_is_null(json_object_get(json_array_get(points, 0), "ci_high")), "memory was the limit");
    cr_expect(json_is_null(json_object_get(second, "visible")), "nothing was drawn");
    cr_expect_str_eq(json_string_value(json_object_get(json, "frame")), "posed");
    cr_expect_eq(number(second, "first_failing"), 137000);
    cr_expect_eq(number(second, "runs"), 6);
    cr_expect_eq(number(second, "worst_run"), 99000);
    cr_expect_eq(number(second, "best_run"), 139000);
    cr_expect(json_is_null(json_object_get(json_array_get(points, 0), "worst_run")));
    cr_expect_eq(number(second, "deadline_miss_rate_bound"), th_capacity_miss_rate_bound(4, 1800));
    cr_expect_str_eq(json_string_value(json_object_get(probe, "stage")), "confirm");
    cr_expect_eq(number(probe, "p99_ms"), 16);
    json_decref(document);
    th_stress_fini(&stress);
}

/* In each row, as trackers of benchmarks look at rows alone. */
Test(stress, rows_say_what_the_budget_was_and_how_many_were_late)
{
    const th_stress_desc desc = describe(20, (uint32_t[]){1}, 1);
    th_stress stress = run(&desc);
    json_t *document = th_stress_json(&stress), *rows = json_object_get(document, "benchmarks");
    const json_t *row = json_array_get(rows, FRAMES - 1);
    cr_expect_str_eq(json_string_value(json_object_get(row, "name")), "stress/threads:1");
    cr_expect_str_eq(json_string_value(json_object_get(row, "run_type")), "iteration");
    cr_expect_eq(number(row, "characters"), 20);
    cr_expect_float_eq(number(row, "budget_ms"), 0.1, 1e-9);
    cr_expect_eq(number(row, "deadline_misses"), stress.points[0].deadline_misses);
    cr_expect_eq(number(row, "preempted"), stress.points[0].preempted);
    cr_expect_gt(number(json_array_get(rows, FRAMES), "real_time"), 0);
    cr_expect_float_eq(number(stress.report.scene, "budget_ms"), 0.1, 1e-9, "a condition of a comparison");
    json_decref(document);
    th_stress_fini(&stress);
}
