/* Inside, since a machine is made up whose frames cost what we say. The stress test with tiny crowds. How many hold
 * a budget is up to the machine, and no test asks. */
#include "bench/capacity/load_test_harness.h"
#include "bench/report/figures.h"
#include "fixture_document.h"
#include "fixture_made_up.h"
#include "fixture_small.h"

#include <bench/interference.h>
#include <bench/stress.h>
#include <bench/validate.h>
#include <core/clock.h>
#include <core/json.h>

#include <criterion/criterion.h>

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static th_error err;

/* What a test has measured, until it ends. */
static th_stress runs[8];
static uint32_t run_count;

static void forget(void)
{
    while (run_count > 0)
        th_stress_fini(&runs[--run_count]);
    free_small();
}

TestSuite(stress, .init = make_small, .fini = forget);

enum { FRAMES = 299 };

static th_stress_desc describe(uint32_t characters, const uint32_t *threads, uint32_t thread_count)
{
    static const th_model *models[2];
    models[0] = models[1] = small;
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
    th_stress *stress = &runs[run_count];
    cr_assert_eq(th_stress_run(desc, stress, &err), TH_OK, "%s", err.text);
    cr_assert_lt(++run_count, sizeof runs / sizeof *runs);
    return *stress;
}

static double number(const json_t *json, const char *name)
{
    const json_t *value = json_object_get(json, name);
    cr_assert(json_is_number(value), "%s", name);
    return json_number_value(value);
}

/* ---- frames ---- */

static void expect_point(const th_stress *stress, uint32_t index, uint32_t characters)
{
    const th_stress_point *p = &stress->points[index];
    const th_row *row = &stress->report.rows[index];
    cr_expect_eq(p->characters, characters);
    cr_expect_geq(p->ticks.scheduled, FRAMES, "the last frame may run beyond the last tick");
    cr_expect_eq(p->ticks.frames + p->ticks.missed, p->ticks.scheduled);
    cr_expect_eq(row->real_ns.count, p->ticks.frames);
    cr_expect_eq(row->cpu_ns.count, p->ticks.frames);
    cr_expect_leq(p->preempted, p->preempted_unknown ? 0 : p->ticks.frames);
    cr_expect_eq(p->meets_budget, p->ticks.missed == 0);
    cr_expect_eq(p->times.max > stress->budget_ns, p->ticks.missed > 0);
    cr_expect_eq(p->times.max, p->ticks.longest_ns);
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
    cr_expect_float_eq(number(stress.report.scene, "budget_ms"), 0.1, 1e-9, "a condition of a comparison");
}

/* Checked against an evaluation of the blends, so these palettes are right and those of the clips would not be. They
 * are all apart, whatever may be shared. */
Test(stress, of_a_behaviour_poses_blends_and_shares_none)
{
    th_stress_desc desc = describe(101, (uint32_t[]){1, 2}, 2);
    th_stress clips = run(&desc);
    desc.scene.behaviour = TH_BEHAVIOUR_GRAPH;
    th_stress apart = run(&desc);
    desc.share_hz = 20;
    th_stress stress = run(&desc);
    for (uint32_t i = 0; i < 2; i++) {
        expect_point(&stress, i, 101);
        cr_expect_eq(stress.report.rows[i].palette_hash, apart.report.rows[0].palette_hash);
        cr_expect_eq(apart.report.rows[i].palette_hash, apart.report.rows[0].palette_hash);
        cr_expect_neq(stress.report.rows[i].palette_hash, clips.report.rows[i].palette_hash);
        cr_expect_eq(stress.points[i].poses.evaluated, 101);
        cr_expect_eq(stress.points[i].poses.apart, 101);
        cr_expect_lt(stress.points[i].share_error, 1e-3);
    }
    cr_expect_gt(apart.bytes_per_character, clips.bytes_per_character + 48);
}

/* Shared poses are checked as well. Bones are of those that were evaluated. */
Test(stress, counts_shared_poses_apart)
{
    enum { MANY = 600 };
    const uint32_t threads[] = {1, 2};
    th_stress_desc desc = describe(MANY, threads, 2);
    th_stress exact = run(&desc);
    desc.share_hz = 20;
    th_stress stress = run(&desc);
    for (uint32_t i = 0; i < 2; i++) {
        const th_stress_point *p = &stress.points[i];
        const th_row *row = &stress.report.rows[i];
        expect_point(&stress, i, MANY);
        cr_expect_eq(row->palette_hash, stress.report.rows[0].palette_hash);
        cr_expect_neq(row->palette_hash, exact.report.rows[i].palette_hash);
        cr_expect(p->poses.evaluated > 50 && p->poses.evaluated < MANY * 0.9, "%u", p->poses.evaluated);
        cr_expect_eq(p->poses.evaluated + p->poses.shared, MANY);
        cr_expect_eq(p->poses.apart, 0);
        cr_expect(row->bones > 0 && (double)row->bones < MANY * 0.9 * small->bone_count &&
                  row->bones % small->bone_count == 0);
        cr_expect(p->share_error > 1e-3 && p->share_error < 0.2, "%g", p->share_error);
        cr_expect_eq(exact.points[i].poses.evaluated, MANY);
        cr_expect_eq(exact.points[i].share_error, 0);
        cr_expect_eq(exact.report.rows[i].bones, MANY * small->bone_count);
    }
}

/* A harness that has warmed up. The caller releases it with th_load_test_fini. */
static th_load_test prepared(const th_stress_desc *desc)
{
    th_load_test load_test;
    cr_assert_eq(th_load_test_init(&load_test, desc, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_load_test_set_threads(&load_test, 1, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_load_test_prepare(&load_test, 5, &err), TH_OK, "%s", err.text);
    return load_test;
}

/* So long waits the thread that waits longest, in the frames of a run in turn; NULL: as the system says. */
static const uint64_t *delay_ns;
static uint32_t delay_asked;

__typeof__(th_runqueue_delay_max) __real_th_runqueue_delay_max, __wrap_th_runqueue_delay_max;

uint64_t __wrap_th_runqueue_delay_max(const th_runqueue_delay *delay)
{
    return delay_ns ? delay_ns[delay_asked++ % 10] : __real_th_runqueue_delay_max(delay);
}

/* One percent of the budget matters, but nothing that waking up takes. */
Test(stress, frames_that_were_preempted_are_counted_and_count)
{
    static const uint64_t ns[10] = {0, 20000, 99999, 110000, 5000000, 0, 99999, 119999, 0, 30000};
    static const uint64_t all_ns[10] = {100000, 100000, 100000, 100000, 100000, 100000, 100000, 100000, 100000, 100000};
    th_stress_desc desc = describe(20, (uint32_t[]){1}, 1);
    delay_ns = ns;
    th_stress stress = run(&desc);
    const th_stress_point *p = &stress.points[0];
    const uint32_t tens = p->ticks.frames / 10;
    expect_point(&stress, 0, 20);
    cr_expect_eq(stress.preemption_threshold_ns, 1e5);
    cr_expect(p->preempted >= tens * 3 && p->preempted <= (tens + 1) * 3, "%u", p->preempted);
    cr_expect_gt(p->unpreempted.count, 0);

    delay_ns = all_ns;
    stress = run(&desc);
    p = &stress.points[0];
    cr_expect_eq(p->preempted, p->ticks.frames);
    cr_expect_eq(p->unpreempted.count, 0, "its p99 is of nothing");

    delay_ns = ns;
    desc.budget_ns = 12e6;
    th_load_test load_test = prepared(&desc);
    const uint32_t before = load_test.preempted;
    cr_expect_float_eq(load_test.preemption_threshold_ns, 1.2e5, 1e-6);
    for (int i = 0; i < 10; i++)
        th_load_test_frame(&load_test);
    cr_expect_eq(load_test.preempted - before, 1);
    th_load_test_fini(&load_test);
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
    cr_expect(json_is_null(json_object_get(stress.report.rows[0].own, "preempted")));
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
    cr_expect_eq(stress.report.rows[0].real_ns.count, search->confirmed.ticks.frames);
    cr_expect_eq(stress.report.rows[0].characters, search->confirmed.items);
    if (p->meets_budget)
        expect_point(&stress, 0, p->characters);
}

Test(stress, of_a_budget_that_nobody_holds_says_so)
{
    th_stress_desc desc = describe(0, (uint32_t[]){1, 2}, 2);
    desc.budget_ns = 10; /* a look at the clock takes longer */
    th_stress stress = run(&desc);
    for (uint32_t i = 0; i < 2; i++) {
        cr_expect_eq(stress.points[i].characters, 0);
        cr_expect_not(stress.points[i].meets_budget);
    }
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
}

/* The schedule is where it was: whole budgets from tick to tick, and none before the end of the frame. */
Test(stress, ticks_that_were_missed_are_not_made_up_for)
{
    const th_stress_desc desc = describe(5, (uint32_t[]){1}, 1);
    th_load_test load_test = prepared(&desc);
    const uint64_t budget_ns = (uint64_t)desc.budget_ns, tick = load_test.due_ns - 2000000000;
    load_test.due_ns = tick; /* the process slept for two seconds, or nearly */
    const th_capacity_frame frame = th_load_test_frame(&load_test);
    cr_expect_geq(frame.ns, 1e9);
    cr_expect_geq(frame.stopped_ns, 1e9, "it was asleep");
    cr_expect_eq((load_test.due_ns - tick) % budget_ns, 0);
    cr_expect_geq((double)(load_test.due_ns - tick), frame.ns);
    cr_expect_lt((double)(load_test.due_ns - tick), frame.ns + desc.budget_ns);
    cr_expect_eq((load_test.due_ns - tick) / budget_ns, 1 + th_capacity_missed_ticks(frame.ns, desc.budget_ns));
    th_load_test_fini(&load_test);
}

/* ---- a process that is stopped ---- */

enum { STOPS = 2 };

/* In a child: stops its parent again and again, so long as there is someone to stop. */
static pid_t start_stopper(void)
{
    const pid_t parent = getpid(), stopper = fork();
    cr_assert_geq(stopper, 0);
    if (stopper > 0)
        return stopper;
    for (int i = 0;; i++) {
        usleep(20000);
        if (i == STOPS || getppid() != parent || kill(parent, SIGSTOP) != 0)
            _exit(0);
        usleep(100000);
        kill(parent, SIGCONT);
    }
}

/* Frames that are stopped for 100 ms and more. */
Test(stress, a_process_that_was_stopped_misses_the_ticks_meanwhile)
{
    th_stress_desc desc = describe(5, (uint32_t[]){1}, 1);
    desc.budget_ns = 2e6;
    th_load_test load_test = prepared(&desc);
    th_capacity_ticks ticks = {0};
    const pid_t stopper = start_stopper();
    for (int status = 0; waitpid(stopper, &status, WNOHANG) == 0;) {
        const th_capacity_frame frame = th_load_test_frame(&load_test);
        load_test.real.count = load_test.cpu.count = 0; /* there is no telling how many it will be */
        th_capacity_count(&ticks, &frame, desc.budget_ns);
    }
    cr_expect_geq(ticks.freezes, 1);
    cr_expect_geq(ticks.missed, STOPS * 40, "of %u", ticks.scheduled);
    cr_expect_geq(ticks.frozen_ns, STOPS * 9e7);
    cr_expect_geq(ticks.longest_ns, 9e7);
    cr_expect_leq(ticks.longest_freeze_ns, ticks.longest_ns);
    th_load_test_fini(&load_test);
}

/* ---- frames that somebody else draws ---- */

enum { LEAST_WARM_UP = 2, MOST_WARM_UP = 16 };

/* Sees half of the characters. Its first `slow` frames of each crowd take 0.2 ms or more. */
typedef struct painter {
    uint32_t slow, fails_at, broken; /* that preparation fails, of the first, second; finishing does */
    uint32_t threads[8], characters[8], frames[8], prepared, finished;
    uint32_t measured, measured_after; /* how often errors were; the crowds and all frames before the last time */
    bool is_there, spoiled, shares, was_counted;
    double tolerance_px;
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
    p->was_counted = p->shares && number == TH_VALIDATE_FRAME && p->frames[p->prepared - 1] < TH_VALIDATE_FRAME;
    if (p->was_counted)
        return;
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

static th_stress_poses paint_poses(const void *ctx)
{
    const painter *p = ctx;
    return p->was_counted ? (th_stress_poses){.evaluated = 3, .shared = 17, .bones = 77} : (th_stress_poses){0};
}

/* Frames of their own take as long as two budgets. The p50 grows from frame to frame, the maximum shrinks. */
static th_result paint_errors(void *ctx, const th_stress_error_desc *desc, th_stress_error *out, uint32_t *out_count,
                              th_error *error)
{
    painter *p = ctx;
    cr_assert(p->is_there);
    p->measured++;
    p->measured_after = p->prepared;
    *out_count = 0;
    for (uint32_t frame = 0; frame < desc->frames && !(desc->stop && *desc->stop); frame++) {
        if (frame % desc->every > 0)
            continue;
        for (const uint64_t begin = th_clock_ns(); th_clock_ns() - begin < 200000;)
            ;
        out[(*out_count)++] =
            (th_stress_error){frame, 0.01 * frame, 4, 500.0 - frame, p->tolerance_px > 0 ? p->tolerance_px : HUGE_VAL};
    }
    return p->broken ? th_fail(error, TH_ERR_MEMORY, "no eyes") : TH_OK;
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
        .errors = paint_errors,
        .trace = paint_trace,
        .check = paint_check,
        .finish = paint_finish,
        .describe = paint_describe,
        .palette_copies = 3,
        .character_bytes = 1000,
        .poses = p->shares ? paint_poses : NULL,
        .ctx = p,
    };
}

static th_stress run_drawn(painter *p, th_stress_desc desc)
{
    const th_stress_renderer renderer = renderer_of(p);
    desc.renderer = &renderer;
    return run(&desc);
}

/* Each frame that the painter has painted is one that was timed, or warmed up: errors follow all that counts. */
Test(stress, of_drawn_frames_times_those_of_the_guest_but_not_those_of_errors)
{
    painter p = {0};
    th_stress_desc desc = describe(20, (uint32_t[]){1, 2}, 2);
    desc.error_every = 40;
    th_stress stress = run_drawn(&p, desc);
    cr_expect_eq(p.prepared, 4, "for the run and, once more, to see and trace what confirmed");
    cr_expect_eq(p.finished, 2);
    cr_expect_eq(p.measured, 2);
    cr_expect_eq(p.measured_after, 4, "the crowd that was found, made once more");
    cr_expect_eq(stress.error_every, 40);
    cr_expect_str_eq(stress.report.rows[1].name, "stress/drawn/threads:2");
    for (uint32_t i = 0; i < 2; i++) {
        const th_stress_point *point = &stress.points[i];
        const uint32_t frames = point->ticks.frames;
        expect_point(&stress, i, 20);
        cr_expect_eq(p.threads[2 * i], i + 1);
        cr_expect_eq(p.characters[2 * i], 20);
        cr_expect(p.frames[2 * i] >= LEAST_WARM_UP + frames && p.frames[2 * i] <= MOST_WARM_UP + frames);
        cr_expect_leq(p.frames[2 * i + 1], MOST_WARM_UP);
        cr_expect_eq(point->visible, 10);
        cr_assert_eq(point->error_count, 8, "of %u frames", FRAMES);
        cr_expect_eq(point->errors[7].frame, 280);
        cr_expect_float_eq(point->error.p50_px, 2.8, 1e-9);
        cr_expect_eq(point->error.p99_px, 4);
        cr_expect_eq(point->error.max_px, 500);
        cr_expect_eq(point->error.frame, 0, "that of the maximum");
        cr_expect_eq(number(stress.report.rows[i].own, "error_px_p99"), 4, "compare reads rows");
    }
}

/* As the renderer says, in a frame that is the same in all runs. */
Test(stress, counts_the_bones_that_are_evaluated)
{
    painter p = {.shares = true};
    th_stress stress = run_drawn(&p, describe(20, (uint32_t[]){1}, 1));
    cr_expect_eq(stress.points[0].poses.evaluated, 3);
    cr_expect_eq(stress.points[0].poses.shared, 17);
    cr_expect_eq(stress.report.rows[0].bones, 77);
    cr_expect_eq(p.measured, 0, "errors that nobody asked for");
}

/* What waits in the driver at first is gone with the first frame in time, or never. */
Test(stress, warms_up_until_a_frame_is_in_time)
{
    static const uint32_t slow[] = {5, 1000}, least[] = {6, MOST_WARM_UP};
    for (int i = 0; i < 2; i++) {
        painter p = {.slow = slow[i]};
        th_stress stress = run_drawn(&p, describe(20, (uint32_t[]){1}, 1));
        const uint32_t frames = stress.points[0].ticks.frames;
        cr_expect(p.frames[0] >= least[i] + frames && p.frames[0] <= MOST_WARM_UP + frames, "%u", p.frames[0]);
    }
}

Test(stress, ends_where_drawing_fails)
{
    painter fails[] = {{.fails_at = 1}, {.fails_at = 2}, {.broken = 1}, {.broken = 1}};
    static const char *const texts[] = {"no canvas", "no canvas", "the brush broke", "no eyes"};
    for (uint32_t i = 0; i < 4; i++) {
        const th_stress_renderer renderer = renderer_of(&fails[i]);
        th_stress_desc desc = describe(20, (uint32_t[]){1}, 1);
        th_stress stress;
        desc.renderer = &renderer;
        desc.error_every = i == 3 ? 299 : 0;
        cr_expect_neq(th_stress_run(&desc, &stress, &err), TH_OK);
        cr_expect_str_eq(err.text, texts[i]);
    }
}

Test(stress, dry_run_draws_a_little)
{
    painter p = {0};
    th_stress_desc desc = describe(0, (uint32_t[]){1, 2}, 2);
    desc.error_every = 1;
    desc.is_dry_run = true;
    th_stress stress = run_drawn(&p, desc);
    for (uint32_t i = 0; i < 2; i++) {
        cr_expect(stress.report.rows[i].checked && stress.report.rows[i].real_ns.count == 0);
        cr_expect(p.characters[i] == 1 && p.frames[i] <= MOST_WARM_UP);
    }
    cr_expect_eq(p.finished, 2);
    cr_expect_eq(p.measured, 0);
}

Test(stress, of_wrong_pictures_fails)
{
    painter p = {.spoiled = true};
    th_stress stress = run_drawn(&p, describe(20, (uint32_t[]){1}, 1));
    cr_expect_str_eq(stress.report.rows[0].failure, "the picture is smeared");
    cr_expect_eq(stress.report.rows[0].real_ns.count, 0);
}

Test(stress, of_a_budget_that_is_not_kept_fails)
{
    th_stress_desc desc = describe(20, (uint32_t[]){1}, 1);
    desc.error_every = 40;
    for (int i = 0; i < 2; i++) {
        painter p = {.tolerance_px = i == 0 ? 400 : 399};
        th_stress stress = run_drawn(&p, desc);
        cr_expect_str_eq(stress.report.rows[0].failure,
                         i == 0 ? "" : "frame 0: a character is 500 pixels off; the budget states at most 399");
    }
}

/* Whose instances are said to be faster than the behaviour has them. */
Test(stress, of_a_behaviour_at_another_speed_fails)
{
    th_scene *scene;
    th_row row = {.draws = {7, 0}};
    th_scene_desc desc = describe(50, NULL, 0).scene;
    desc.behaviour = TH_BEHAVIOUR_FADE;
    cr_assert_eq(th_scene_create(&desc, &scene, &err), TH_OK, "%s", err.text);
    th_validate_behaviour(scene, desc.behaviour, 5, &row);
    cr_expect_str_eq(row.failure, "");
    for (uint32_t i = 0; i < scene->instance_count; i++)
        scene->instances[i].speed *= 1.1;
    th_validate_behaviour(scene, desc.behaviour, 5, &row);
    cr_expect(strstr(row.failure, "a clip at another speed"), "%s", row.failure);
    th_scene_destroy(scene);
}

/* A palette, and what a crowd knows of it; of who draws three times the palette, instead of once. */
Test(stress, counts_the_memory_of_a_character_and_of_who_draws_it)
{
    painter p = {0};
    th_stress_renderer renderer = renderer_of(&p);
    th_stress_desc desc = describe(20, (uint32_t[]){1}, 1);
    const double palette = small->bone_count * 48;
    th_stress posed = run(&desc);
    cr_expect(posed.bytes_per_character > palette && posed.bytes_per_character < palette + 400);
    cr_expect_gt(posed.memory, 1 << 20);
    renderer.needs_cpus = true;
    desc.renderer = &renderer;
    th_stress drawn = run(&desc);
    cr_expect_float_eq(drawn.bytes_per_character - posed.bytes_per_character, 1000.0 + 2 * palette, 1e-6);
    cr_expect(drawn.points[0].preempted_unknown && !posed.points[0].preempted_unknown);
}

/* ---- palettes that are wrong ---- */

static uint32_t hashes; /* asked for so far */
static uint64_t changed_from = UINT32_MAX;

__typeof__(th_crowd_hash) __real_th_crowd_hash, __wrap_th_crowd_hash;

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
}

static uint32_t checks; /* made so far: two for each trial that is good */
static uint32_t wrong_from = UINT32_MAX, wrong_to;

__typeof__(th_validate_palettes) __real_th_validate_palettes, __wrap_th_validate_palettes;

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
    cr_expect(p->characters == 0 && !p->meets_budget && p->ticks.scheduled == 0 && p->preempted == 0);
    cr_expect(p->times.count == 0 && p->search.probe_count == 0 && !p->preempted_unknown);
    cr_expect_eq(stress.report.rows[0].real_ns.count, 0);
    cr_expect_str_eq(stress.report.rows[1].failure, "");
    cr_expect(strstr(stress.headline, "20 posed characters") && strstr(stress.headline, " on 2 threads ("), "%s",
              stress.headline);
}

Test(stress, palettes_that_are_all_wrong_are_the_headline)
{
    const th_stress_desc desc = describe(0, (uint32_t[]){1, 2}, 2);
    wrong_from = 0;
    wrong_to = UINT32_MAX;
    th_stress stress = run(&desc);
    cr_expect_str_eq(stress.headline, "The palettes are wrong, so the times mean nothing.");
}

/* ---- memory ---- */

Test(stress, more_characters_than_memory_are_refused)
{
    th_stress_desc desc = describe(2000, (uint32_t[]){1}, 1);
    th_stress stress;
    desc.memory = 1000000;
    cr_expect_eq(th_stress_run(&desc, &stress, &err), TH_ERR_MEMORY);
    cr_expect(strstr(err.text, "2000 characters take 0.0") && strstr(err.text, "only 0.00"), "%s", err.text);
}

/* ---- what is told ---- */

/* Without the version. */
static void tell(th_stress *stress, const th_stress_point *point, FILE *out)
{
    th_stress_write_headline(stress, point);
    const char *version = strstr(stress->headline, "; throng ");
    fprintf(out, "%.*s\n", version ? (int)(version - stress->headline) : 999, stress->headline);
}

/* Whoever quotes the number from the begin of the sentence quotes the doubt. */
static void print_headlines(FILE *out)
{
    th_stress stress = made_up_stress();
    th_stress_point *p = &stress.points[0];
    th_interference *outside = &stress.report.interference;
    p->out_of_memory = false;
    tell(&stress, p, out);
    p->preempted = 1060;
    tell(&stress, p, out);
    outside->external_cpu_load = 1.24;
    tell(&stress, p, out);
    p->preempted = 0;
    *outside = (th_interference){.throttled_s = 2};
    tell(&stress, p, out);
    *outside = (th_interference){.steal_cpu_load = 0.5};
    tell(&stress, p, out);
    *outside = (th_interference){(double)NAN, (double)NAN, 0};
    p->threads = 9; /* of eight CPUs */
    tell(&stress, p, out);
    p->search.ticks = (th_capacity_ticks){.freezes = 8, .frozen_ns = 8e9, .longest_freeze_ns = 1.02e9};
    p->threads = 2;
    tell(&stress, p, out);
    p->search.is_frozen = true;
    p->search.interval = (th_interval){(double)NAN, (double)NAN};
    tell(&stress, p, out);
    p->search.ticks = (th_capacity_ticks){0};
    p->search.is_frozen = p->meets_budget = false;
    p->ticks = (th_capacity_ticks){.scheduled = 299, .frames = 298, .late = 1, .missed = 1, .longest_ns = 17e6};
    tell(&stress, p, out); /* its 99th percentile is within the budget */
    p->meets_budget = true;
    p->ticks = (th_capacity_ticks){.scheduled = 299, .frames = 299, .longest_ns = 16e6};
    tell(&stress, p, out);
    p->poses.evaluated = 1200;
    stress.share_hz = 20;
    tell(&stress, p, out);
    stress.share_hz = p->characters = 0;
    tell(&stress, p, out);
    strcpy(stress.report.rows[0].failure, "wrong");
    tell(&stress, NULL, out);
    th_stress_fini(&stress);
}

Test(stress, headlines_are_the_stored_ones)
{
    check_documents("stress", &(golden_document){"headlines.txt", print_headlines}, 1);
}
