#include "experiment.h"

#include "measure/memory_bandwidth.h"

#include <bench/validate.h>
#include <core/cache_line.h>

#include <assert.h>
#include <stdlib.h>

/* ---- curves and points ---- */

uint32_t th_scale_threads(uint32_t usable, uint32_t out[TH_JOBS_MAX_THREADS])
{
    assert(usable > 0 && out);
    uint32_t count = 0;
    usable = usable < TH_JOBS_MAX_THREADS ? usable : TH_JOBS_MAX_THREADS;
    for (uint32_t t = 1; t < usable; t = usable <= 8 ? t + 1 : 2 * t)
        out[count++] = t;
    out[count++] = usable;
    return count;
}

/* The serial scheduler has one thread, whatever is requested. */
static uint32_t thread_count(const th_experiment *s, th_scheduler scheduler)
{
    return scheduler == TH_SCHEDULER_SERIAL ? 1 : s->desc.thread_count;
}

uint32_t th_experiment_crowd(const th_experiment *s, uint32_t curve, uint32_t point)
{
    assert(curve < s->out->curve_count && point < s->out->curves[curve].count);
    const uint32_t count = curve / s->desc.grain_count % s->desc.count_count;
    return s->desc.is_weak ? count * s->desc.thread_count + point : count;
}

uint32_t th_scale_part_point(const th_scale *scale, uint32_t part)
{
    assert(part < 2);
    uint32_t last = 0;
    for (uint32_t i = 1; part == 1 && i < scale->curves[0].count; i++)
        if (!scale->points[i].oversubscribed)
            last = i;
    return last;
}

uint32_t th_scale_part_row(const th_scale *scale, uint32_t part, th_ablation ablation)
{
    assert(part < scale->part_count && ablation < TH_ABLATION_COUNT);
    return scale->point_count + part * TH_ABLATION_COUNT + (uint32_t)ablation;
}

uint32_t th_scale_loop_row(const th_scale *scale)
{
    return scale->point_count + scale->part_count * TH_ABLATION_COUNT;
}

bool th_experiment_has_loop(const th_experiment *s, uint32_t curve)
{
    return s->out->has_loop && th_experiment_crowd(s, curve, 0) == 0;
}

uint32_t th_scale_memory_row(const th_scale *scale, uint32_t index, th_bandwidth_kind kind)
{
    assert(index < scale->memory_count && kind < th_bandwidth_kind_count());
    return th_scale_loop_row(scale) + scale->has_loop + index * th_bandwidth_kind_count() + (uint32_t)kind;
}

/* ---- crowds ---- */

static const double checked_s = TH_VALIDATE_FRAME / TH_FRAME_RATE;

static th_result create_crowds(th_experiment *s, th_error *err)
{
    const th_scale_desc *d = &s->desc;
    const th_crowd *largest = NULL;
    th_scene_desc scene = d->scene;
    th_result result = TH_OK;
    for (uint32_t i = 0; i < s->crowd_count && result == TH_OK; i++) {
        scene.instance_count =
            d->is_weak ? d->counts[i / d->thread_count] * d->threads[i % d->thread_count] : d->counts[i];
        result = th_scene_create(&scene, &s->scenes[i], err);
        if (result == TH_OK)
            result = th_scene_crowd(s->scenes[i], d->isa, d->palette, &s->crowds[i], err);
        if (result != TH_OK)
            return result;
        scene.compiled_models = s->scenes[0]->compiled_models; /* models are compiled once */
        if (!largest || th_crowd_palette_bytes(s->crowds[i]) > th_crowd_palette_bytes(largest))
            largest = s->crowds[i];
    }
    result = th_palettes_create(largest, &s->palette, err);
    for (uint32_t i = 0; s->shared && i < s->crowd_count && result == TH_OK; i++)
        result = th_shared_crowd_init(&s->shared[i], s->scenes[i], s->crowds[i], d->share_hz, err);

    /* What ablations pose. A second one only where both parts do not have the same crowd. */
    for (uint32_t part = 0; s->shared && part < s->out->part_count && result == TH_OK; part++) {
        const uint32_t whole = s->part_crowds[part];
        if (part > 0 && whole == s->part_crowds[0])
            continue;
        th_scene **evaluated = &s->evaluated_scenes[part];
        result = th_shared_crowd_evaluated(&s->shared[whole], &d->scene, checked_s, evaluated, err);
        if (result == TH_OK)
            result = th_scene_crowd(*evaluated, d->isa, d->palette, &s->evaluated[part], err);
    }
    return result;
}

/* ---- threads and configs ---- */

static void count_workers(th_experiment *s, th_scaling_config *config)
{
    const uint32_t threads = th_jobs_threads(config->jobs);
    config->sums = th_arena_new(s->arena, th_worker_stats, threads);
    config->rounds = th_arena_new(s->arena, th_worker_stats, (size_t)config->round_capacity * threads);
}

static th_result create_configs(th_experiment *s, th_error *err)
{
    const th_scale_desc *d = &s->desc;
    const th_scale *out = s->out;
    th_result result = TH_OK;
    bool has_spinners = false; /* threads that spin on after a call, as those of OpenMP do */
    for (uint32_t i = 0; i < d->scheduler_count; i++)
        has_spinners =
            has_spinners || (d->schedulers[i] != TH_SCHEDULER_WORK_STEALING && d->schedulers[i] != TH_SCHEDULER_SERIAL);
    for (uint32_t c = 0; c < out->curve_count; c++) {
        const th_scale_curve *curve = &out->curves[c];
        const uint32_t first_pool = c / d->grain_count / d->count_count * d->thread_count;
        for (uint32_t t = 0; t < curve->count && result == TH_OK; t++) {
            const uint32_t crowd = th_experiment_crowd(s, c, t);
            th_scaling_config *config = &s->configs[curve->first + t];
            *config = (th_scaling_config){
                .jobs = s->pools[first_pool + t],
                .palette = s->palette,
                .scene = s->scenes[crowd],
                .crowd = s->crowds[crowd],
                .shared = s->shared ? &s->shared[crowd] : NULL,
                .round_capacity = d->measure.repetitions > 0 ? d->measure.repetitions : TH_MEASURE_MAX_ROUNDS,
                .waits_quiescent = has_spinners,
            };
            const th_frame_desc frame = {.crowd = config->crowd, .jobs = config->jobs, .grain = curve->grain};
            count_workers(s, config);
            result = th_frame_create(&frame, &config->frame, err);
        }
    }
    for (uint32_t part = 0; part < out->part_count; part++) {
        const th_scaling_config *whole = &s->configs[th_scale_part_point(out, part)];
        const uint32_t crowd = s->part_crowds[part];
        const uint32_t owner = crowd == s->part_crowds[0] ? 0 : part;
        for (int a = 0; a < TH_ABLATION_COUNT && result == TH_OK; a++) {
            th_scaling_config *config = &s->configs[th_scale_part_row(out, part, (th_ablation)a)];
            *config = (th_scaling_config){
                .jobs = whole->jobs,
                .palette = whole->palette,
                .round_capacity = whole->round_capacity,
                .waits_quiescent = whole->waits_quiescent,
            };
            const th_ablated_frame_desc ablated = {(th_ablation)a, s->shared ? s->evaluated[owner] : s->crowds[crowd],
                                                   config->jobs, out->curves[0].grain};
            count_workers(s, config);
            result = th_ablated_frame_create(&ablated, &config->ablated, err);
        }
    }
    if (out->has_loop && result == TH_OK) {
        th_scaling_config *config = &s->configs[th_scale_loop_row(out)];
        *config = s->configs[0];
        config->frame = NULL;
        count_workers(s, config);
        config->scratch = th_cache_line_alloc(th_crowd_scratch_bytes(config->crowd));
        if (!config->scratch)
            return th_fail(err, TH_ERR_MEMORY, "no memory for the scratch of one thread");
    }
    return result;
}

th_scale_counts th_scaling_config_counts(const th_scaling_config *config, const th_row *row)
{
    return (th_scale_counts){.workers = config->sums,
                             .frame_ns = &row->real_ns,
                             .iterations = row->iterations,
                             .threads = row->threads,
                             .characters = row->characters,
                             .core_clock_ns = &row->core_clock_ns,
                             .counters = config->counters_json ? &config->counters : NULL,
                             .busiest = th_workers_busiest(config->sums, row->threads)};
}

/* ---- all of it ---- */

th_result th_experiment_init(th_experiment *s, const th_scale_desc *desc, th_scale *out, th_error *err)
{
    *s = (th_experiment){.desc = *desc, .usable_cpus = th_cpus_read().usable, .arena = th_arena_create(), .out = out};
    th_scale_desc *d = &s->desc;
    s->characters[0] = desc->scene.instance_count;
    if (!d->schedulers)
        d->schedulers = s->scheduler, d->scheduler_count = 1;
    if (!d->counts)
        d->counts = s->characters, d->count_count = 1;
    if (!d->grains)
        d->grains = s->grain, d->grain_count = 1;
    if (!d->threads)
        d->threads = s->threads, d->thread_count = th_scale_threads(s->usable_cpus, s->threads);
    const size_t curves = (size_t)d->scheduler_count * d->count_count * d->grain_count;
    out->curve_count = (uint32_t)curves;
    out->curves = calloc(curves, sizeof *out->curves);
    out->points = calloc(curves * d->thread_count, sizeof *out->points);
    out->memory = calloc(d->thread_count, sizeof *out->memory);
    if (!out->curves || !out->points || !out->memory)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %zu curves", curves);
    for (uint32_t c = 0; c < out->curve_count; c++) { /* by scheduler, then characters, then grain */
        th_scale_curve *curve = &out->curves[c];
        const th_scheduler scheduler = d->schedulers[c / d->grain_count / d->count_count];
        const uint32_t grain = d->grains[c % d->grain_count];
        *curve = (th_scale_curve){
            .scheduler = scheduler,
            .characters = d->counts[c / d->grain_count % d->count_count],
            .grain = grain ? grain : TH_FRAME_DEFAULT_GRAIN,
            .first = out->point_count,
            .count = thread_count(s, scheduler),
        };
        for (uint32_t t = 0; t < curve->count; t++) {
            th_scale_point *p = &out->points[out->point_count++];
            p->threads = scheduler == TH_SCHEDULER_SERIAL ? 1 : d->threads[t];
            p->characters = curve->characters * (d->is_weak ? p->threads : 1);
            p->oversubscribed = p->threads > s->usable_cpus;
        }
    }
    const uint32_t last = th_scale_part_point(out, 1);
    out->part_count = last > 0 ? 2 : 1;
    out->memory_count = last + 1;
    for (uint32_t i = 0; i < out->memory_count; i++)
        out->memory[i].threads = out->points[i].threads;

    const uint32_t crowds = s->crowd_count = d->count_count * (d->is_weak ? d->thread_count : 1);
    out->has_loop = out->points[0].threads == 1;
    s->config_count = th_scale_loop_row(out) + out->has_loop;
    for (uint32_t part = 0; part < out->part_count; part++)
        s->part_crowds[part] = th_experiment_crowd(s, 0, th_scale_part_point(out, part));
    s->scenes = th_arena_new(s->arena, th_scene *, crowds);
    s->crowds = th_arena_new(s->arena, th_crowd *, crowds);
    s->shared = d->share_hz > 0 ? th_arena_new(s->arena, th_shared_crowd, crowds) : NULL;
    s->counts = th_arena_new(s->arena, th_pose_counts, crowds);
    s->pools = th_arena_new(s->arena, th_jobs *, (size_t)d->scheduler_count * d->thread_count);
    s->configs = th_arena_new(s->arena, th_scaling_config, s->config_count);
    th_result result = th_arena_failed(s->arena) ? TH_OK : create_crowds(s, err);
    for (uint32_t i = 0; i < d->scheduler_count && !th_arena_failed(s->arena); i++)
        for (uint32_t t = 0; t < thread_count(s, d->schedulers[i]) && result == TH_OK; t++) {
            const th_jobs_desc jobs = {
                .threads = d->threads[t], .scheduler = d->schedulers[i], .placement = d->placement};
            result = th_jobs_create(&jobs, &s->pools[i * d->thread_count + t], err);
        }
    if (!th_arena_failed(s->arena) && result == TH_OK) {
        const th_crowd *largest = s->crowds[th_experiment_crowd(s, 0, out->curves[0].count - 1)];
        const uint32_t batches = th_crowd_batch_count(largest), grain = out->curves[0].grain;
        s->chunk_count = batches / grain + (batches % grain > 0);
        s->spans = th_arena_new(s->arena, th_span, s->chunk_count);
        result = create_configs(s, err);
    }
    if (th_arena_failed(s->arena) && result == TH_OK)
        result = th_fail(err, TH_ERR_MEMORY, "no memory for %u points", out->point_count);
    if (result == TH_OK && desc->counters)
        result = th_worker_counts_create(d->threads[d->thread_count - 1], &s->worker_counts, err);

    /* Crowds then have the bones and bytes of the checked frame. Frames are made before, with room for all. */
    for (uint32_t i = 0; result == TH_OK && i < crowds; i++) {
        s->counts[i] = (th_pose_counts){.evaluated = s->scenes[i]->instance_count};
        if (!s->shared)
            continue;
        th_shared_crowd_plan(&s->shared[i], s->pools[0], checked_s);
        s->counts[i] = th_pose_plan_counts(s->shared[i].plan);
    }
    return result;
}

void th_experiment_fini(th_experiment *s)
{
    for (uint32_t i = 0; s->configs && i < s->config_count; i++) {
        th_frame_destroy(s->configs[i].frame);
        th_ablated_frame_destroy(s->configs[i].ablated);
        free(s->configs[i].scratch);
        json_decref(s->configs[i].counters_json);
    }
    for (uint32_t i = 0; s->pools && i < s->desc.scheduler_count * s->desc.thread_count; i++)
        th_jobs_destroy(s->pools[i]);
    for (uint32_t i = 0; s->shared && i < s->crowd_count; i++)
        th_shared_crowd_fini(&s->shared[i]);
    for (int part = 0; part < 2; part++) {
        th_crowd_destroy(s->evaluated[part]);
        th_scene_destroy(s->evaluated_scenes[part]);
    }
    for (uint32_t i = 0; s->crowds && i < s->crowd_count; i++)
        th_crowd_destroy(s->crowds[i]);
    for (uint32_t i = s->crowd_count; s->scenes && i-- > 0;) /* scene 0 owns the compiled models of all: it goes last */
        th_scene_destroy(s->scenes[i]);
    th_worker_counts_destroy(s->worker_counts);
    th_palettes_destroy(s->palette);
    th_arena_destroy(s->arena);
}
