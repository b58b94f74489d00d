#include <bench/stress.h>

#include "load_test_harness.h"
#include "report/figures.h"

#include <bench/validate.h>
#include <core/json.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Characters posed and checked before each search, which itself starts with one. */
enum { CHECKED = 1000 };

/* Frames judged after a run that counts, and the most that run before one. */
enum { JUDGED = 3, UNJUDGED = 16 };

/* A behaviour is followed from a second before this one on. */
enum { FOLLOWED_S = 3600 };

/* More than fits into any memory, and small enough for all integer types used. */
enum { MOST_CHARACTERS = 1000000000 };

typedef struct stress_run {
    th_load_test load_test; /* first, as functions of its own are given it for the run */
    const th_stress_desc *desc;
    th_stress *out;
    uint32_t most;          /* characters that fit into memory */
    th_row *row;            /* in progress */
    th_stress_point *point; /* its result */
    uint64_t first_hash;    /* palette hash of the crowd that all thread counts pose first */
} stress_run;

/* ---- checking ---- */

/* Checks the crowd in the harness. */
static th_validate_run_desc validation_of(stress_run *s)
{
    return (th_validate_run_desc){
        .scene = s->load_test.scene,
        .crowd = s->load_test.crowd,
        .palette = s->load_test.palette,
        .run = th_load_test_run,
        .layers = s->desc->scene.behaviour || s->load_test.shared.plan ? th_load_test_layers : NULL,
        .ctx = &s->load_test,
    };
}

static th_result check(stress_run *s, th_row *row, th_error *err)
{
    const th_validate_run_desc validation = validation_of(s);
    s->out->isa = th_crowd_isa(s->load_test.crowd);
    row->characters = th_crowd_capacity(s->load_test.crowd);
    th_result result = th_validate_run(&validation, row, err);
    row->bones = th_crowd_bone_count(s->load_test.crowd); /* that the last frame evaluated */
    for (uint64_t frame = 0; result == TH_OK && frame <= TH_VALIDATE_FRAME; frame += TH_VALIDATE_FRAME / 4)
        result = th_load_test_measure_sharing(&s->load_test, frame, row, err);
    if (s->load_test.scene->behaviour && !row->failure[0])
        th_validate_behaviour(s->load_test.scene, s->desc->scene.behaviour,
                              (double)(th_draws_next(&row->draws) % FOLLOWED_S), row);
    s->point->share_error = s->load_test.shared.error;
    return result;
}

/* ---- one number of threads ---- */

static void show(void *ctx, const th_capacity_probe *probe)
{
    const stress_run *s = ctx;
    const th_stress_state state = {s->point->threads, probe, s->desc->frames};
    s->desc->progress(s->desc->progress_ctx, &state);
}

/* Judges what the last frame has left, and some of those that follow: any of the next ones, since code that knew which
 * could leave out the others. */
static void judge(stress_run *s)
{
    const th_validate_run_desc validation = validation_of(s);
    th_error err;
    if (s->desc->renderer)
        s->desc->renderer->check(s->desc->renderer->ctx, s->row);
    for (uint32_t i = 0; i < JUDGED && !s->desc->renderer && !s->row->failure[0]; i++) {
        for (uint64_t more = i > 0 ? 1 + th_draws_next(&s->row->draws) % UNJUDGED : 0; more > 0; more--)
            th_load_test_run(&s->load_test, s->load_test.number++);
        if (th_validate_left(&validation, s->load_test.number - 1, s->row, &err) != TH_OK)
            th_row_fail(s->row, "%s", err.text);
    }
}

static void keep(void *ctx)
{
    stress_run *s = ctx;
    judge(s);
    s->row->real_ns.count = s->row->cpu_ns.count = 0;
    for (uint32_t i = 0; i < s->load_test.real.count; i++) {
        th_samples_add(&s->row->real_ns, s->load_test.real.values[i]);
        th_samples_add(&s->row->cpu_ns, s->load_test.cpu.values[i]);
    }
    s->point->preempted_unknown = s->load_test.delay.count == 0;
    s->point->preempted = s->load_test.preempted;
    s->point->times = th_samples_stats(&s->load_test.latencies);
    s->point->unpreempted = th_samples_stats(&s->load_test.unpreempted);
}

static th_result run_point(stress_run *s, th_error *err)
{
    const th_stress_desc *d = s->desc;
    const th_stress_renderer *renderer = d->renderer;
    th_stress_point *point = s->point;
    th_row *row = s->row;
    const th_capacity *search = &point->search;
    const uint32_t asked = d->scene.instance_count, fewest = s->most < CHECKED ? s->most : CHECKED;
    const uint32_t *confirmed = &search->confirmed.items;

    /* Checks the crowd that all thread counts pose first. */
    th_tracer_next(d->tracer, "check");
    th_result result = th_load_test_set_threads(&s->load_test, point->threads, err);
    if (result == TH_OK)
        result = th_load_test_create_crowd(&s->load_test, asked ? asked : fewest, err);
    if (result == TH_OK)
        result = check(s, row, err);
    if (result == TH_OK && !row->failure[0]) {
        s->first_hash = s->first_hash ? s->first_hash : row->palette_hash;
        if (row->palette_hash != s->first_hash)
            th_row_fail(row, "palettes differ from those of %s", s->out->report.rows[0].name);
    }
    if (result == TH_OK && s->out->report.is_dry_run && renderer) {
        result = th_load_test_prepare(&s->load_test, asked ? asked : 1, err);
        if (result == TH_OK)
            result = th_load_test_finish(&s->load_test, err);
    }
    if (result != TH_OK || row->failure[0] || s->out->report.is_dry_run)
        return result;

    th_tracer_next(d->tracer, "search");
    const th_capacity_subject subject = {th_load_test_prepare, th_load_test_frame, keep, s};
    const th_capacity_desc capacity = {
        .budget_ns = d->budget_ns,
        .items = asked,
        .most = s->most,
        .frames = d->frames,
        .progress = d->progress ? show : NULL,
        .progress_ctx = s,
        .stop = d->stop,
    };
    result = th_capacity_find(&capacity, &subject, &point->search, err);
    if (result == TH_OK && search->is_interrupted) {
        th_report_interrupt(&s->out->report);
        return th_load_test_finish(&s->load_test, err);
    }

    /* Frames that follow those that count: recorded ones, and those whose error on screen is measured. */
    th_tracer_next(d->tracer, "trace");
    if (result == TH_OK)
        result = th_load_test_prepare(&s->load_test, *confirmed, err); /* the last probe may have had another number */
    if (result != TH_OK)
        return result;
    th_load_test_trace(&s->load_test, d->tracer, row->name, TH_TRACER_EVENTS / s->out->point_count);
    point->meets_budget = search->items > 0;
    point->characters = s->out->searched ? search->items : *confirmed;
    if (renderer && renderer->poses) /* counts are of a fixed frame, so that runs can be compared */
        renderer->frame(renderer->ctx, TH_VALIDATE_FRAME);
    point->visible = renderer ? renderer->visible(renderer->ctx) : 0;
    point->poses = !renderer         ? th_load_test_poses(&s->load_test)
                   : renderer->poses ? renderer->poses(renderer->ctx)
                                     : (th_stress_poses){.evaluated = point->characters};
    point->out_of_memory = search->is_at_max;
    point->ticks = search->confirmed.ticks;

    th_tracer_next(d->tracer, "error");
    if (d->error_every > 0) {
        const th_stress_error_desc desc = {d->frames, d->error_every, d->stop};
        point->errors = calloc((desc.frames + desc.every - 1) / desc.every, sizeof *point->errors);
        if (!point->errors)
            return th_fail(err, TH_ERR_MEMORY, "no memory for the error on screen of %u frames", desc.frames);
        result = renderer->errors(renderer->ctx, &desc, point->errors, &point->error_count, err);
        for (uint32_t i = 0; i < point->error_count; i++) {
            const th_stress_error *e = &point->errors[i];
            th_stress_error *most = &point->error;
            most->frame = e->max_px > most->max_px ? e->frame : most->frame;
            most->p50_px = fmax(most->p50_px, e->p50_px);
            most->p99_px = fmax(most->p99_px, e->p99_px);
            most->max_px = fmax(most->max_px, e->max_px);
            if (!th_stress_error_is_stated(e->max_px, e->tolerance_px) && !row->failure[0])
                th_row_fail(row, "frame %u: a character is %g pixels off; the budget states at most %g", e->frame,
                            e->max_px, e->tolerance_px);
        }
        if (result == TH_OK && d->stop && *d->stop)
            th_report_interrupt(&s->out->report);
    }

    th_tracer_next(d->tracer, "check");
    if (result == TH_OK)
        result = th_load_test_finish(&s->load_test, err);
    if (result == TH_OK)
        result = th_load_test_create_crowd(&s->load_test, *confirmed, err);
    if (result == TH_OK)
        result = check(s, row, err);
    if (result != TH_OK)
        return result;
    if (renderer && renderer->poses)
        row->bones = point->poses.bones;
    if (!renderer)
        th_validate_floor(s->load_test.crowd, s->load_test.palette, row);
    if (row->failure[0]) { /* the palettes are wrong, so the times mean nothing */
        free(point->errors);
        *point = (th_stress_point){.threads = row->threads};
        row->real_ns.count = row->cpu_ns.count = 0;
        return TH_OK;
    }
    row->own = th_stress_own_json(s->out, (uint32_t)(point - s->out->points));
    const th_counted_frames frames = {s->load_test.counters, s->load_test.frame, th_load_test_run, &s->load_test};
    if (!frames.counts || th_counted_frames_describe(&frames, row))
        return TH_OK;
    return th_fail(err, TH_ERR_MEMORY, "no memory for the counters of %s", row->name);
}

/* ---- all of them ---- */

const th_stress_point *th_stress_interrupted(const th_stress *stress)
{
    assert(stress);
    for (uint32_t i = 0; i < stress->point_count; i++)
        if (stress->points[i].search.is_interrupted && stress->points[i].search.probe_count > 0)
            return &stress->points[i];
    return NULL;
}

static void describe(stress_run *s)
{
    th_stress *out = s->out;
    const th_stress_point *best = NULL; /* for the headline; NULL if the palettes of all are wrong, or none is done */
    for (uint32_t i = 0; i < out->point_count; i++)
        if (!out->report.rows[i].failure[0] && (!best || out->points[i].characters > best->characters))
            best = &out->points[i];
    th_scene_desc scene = s->desc->scene;
    scene.instance_count = best ? best->characters : 0;
    if (scene.instance_count == 0)
        scene.instance_count = (uint32_t)out->report.rows[0].characters;
    json_t *how = json_pack("{s:s, s:s, s:s, s:s, s:i, s:o}", "isa", th_isa_name(out->isa), "palette",
                            th_format_name(out->palette), "scheduler", th_scheduler_name(TH_SCHEDULER_WORK_STEALING),
                            "placement", th_placement_name(out->placement), "grain", (int)TH_FRAME_DEFAULT_GRAIN,
                            "budget_ms", th_json_real(out->budget_ns / 1e6));
    if (s->desc->share_hz > 0)
        how = th_json_set(how, "share_hz", th_json_real(s->desc->share_hz));
    out->report.scene = th_json_merge(th_scene_json(s->load_test.base_scene, &scene), how);
    if (s->desc->renderer)
        out->report.picture = s->desc->renderer->describe(s->desc->renderer->ctx);
    if (!out->report.is_dry_run)
        th_stress_write_headline(out, best);
}

static th_result run_all(stress_run *s, th_error *err)
{
    const th_stress_desc *d = s->desc;
    th_stress *out = s->out;
    *out = (th_stress){
        .points = calloc(d->thread_count, sizeof *out->points),
        .budget_ns = d->budget_ns,
        .share_hz = d->share_hz,
        .frames = d->frames,
        .error_every = d->error_every,
        .searched = d->scene.instance_count == 0,
        .drawn = d->renderer != NULL,
        .palette = d->palette,
        .placement = d->placement,
    };
    if (!out->points)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u numbers of threads", d->thread_count);
    th_result result = th_report_init(&out->report, d->thread_count, d->is_dry_run ? 0 : d->frames, err);
    if (result != TH_OK)
        return result;
    out->point_count = d->thread_count;
    out->report.is_dry_run = d->is_dry_run;
    out->report.seed = d->scene.seed;
    th_report_draw_from(&out->report, d->check_seed);
    for (uint32_t i = 0; i < d->thread_count; i++) {
        th_row *row = &out->report.rows[i];
        row->threads = out->points[i].threads = d->threads[i];
        row->time_unit = "ms";
        row->iterations = row->iterations_timed_at_once = 1;
        snprintf(row->name, sizeof row->name, "stress/%sthreads:%u", out->drawn ? "drawn/" : "", row->threads);
    }
    result = th_load_test_init(&s->load_test, d, err);
    out->preemption_threshold_ns = s->load_test.preemption_threshold_ns;
    if (result == TH_OK)
        result = th_load_test_character_bytes(&s->load_test, &out->bytes_per_character, err);
    if (result != TH_OK)
        return result;

    /* How many characters fit into memory. */
    const uint32_t asked = d->scene.instance_count;
    const uint64_t available = th_memory_available();
    out->memory = d->memory > 0 ? d->memory : available > 0 ? available / 5 * 4 : UINT64_MAX;
    const double fit = (double)out->memory / out->bytes_per_character;
    s->most = fit < 1 ? 1 : fit < MOST_CHARACTERS ? (uint32_t)fit : MOST_CHARACTERS;
    if (asked > s->most)
        return th_fail(err, TH_ERR_MEMORY, "%u character%s %.3g GB of memory, and only %.3g GB can be had", asked,
                       asked == 1 ? " takes" : "s take", asked * out->bytes_per_character / 1e9,
                       (double)out->memory / 1e9);

    const th_interference_mark begin = th_interference_begin();
    for (uint32_t i = 0; i < d->thread_count && result == TH_OK && !out->report.is_partial; i++) {
        s->row = &out->report.rows[i];
        s->point = &out->points[i];
        result = run_point(s, err);
    }
    if (result != TH_OK)
        return result;
    out->report.interference = th_interference_end(&begin);
    if (s->load_test.counters)
        th_counted_frames_end(s->load_test.counters, &out->report);
    describe(s);
    return TH_OK;
}

th_result th_stress_run(const th_stress_desc *desc, th_stress *out, th_error *err)
{
    assert(desc && out);
    assert(desc->threads && desc->thread_count > 0);
    assert(!desc->counters || !desc->renderer);
    assert(desc->error_every == 0 || (desc->renderer && desc->renderer->errors));
    assert(desc->budget_ns > 0 && desc->frames >= TH_CAPACITY_MIN_FRAMES);
    for (uint32_t t = 0; t + 1 < desc->thread_count; t++)
        assert(desc->threads[t] < desc->threads[t + 1]);
    stress_run s = {.desc = desc, .out = out};
    th_tracer_begin(desc->tracer, "prepare");
    const th_result result = run_all(&s, err);
    th_load_test_fini(&s.load_test);
    th_tracer_end(desc->tracer);
    if (result != TH_OK)
        th_stress_fini(out);
    return result;
}

void th_stress_fini(th_stress *stress)
{
    th_report_fini(&stress->report);
    for (uint32_t i = 0; i < stress->point_count; i++)
        free(stress->points[i].errors);
    free(stress->points);
    *stress = (th_stress){0};
}
