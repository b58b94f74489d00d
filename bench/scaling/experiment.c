#include "experiment.h"

#include "measure/memory_bandwidth.h"

#include <bench/validate_run.h>

#include <assert.h>
#include <stdlib.h>

/* ---- lists ---- */

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

static void fill_in_lists(th_experiment *s, const th_scale_desc *desc)
{
    th_scale_desc *d = &s->desc;
    *s = (th_experiment){.desc = *desc, .usable_cpus = th_cpus_read().usable};
    s->characters[0] = desc->scene.instance_count;
    if (!d->schedulers)
        d->schedulers = s->scheduler, d->scheduler_count = 1;
    if (!d->counts)
        d->counts = s->characters, d->count_count = 1;
    if (!d->grains)
        d->grains = s->grain, d->grain_count = 1;
    if (!d->threads)
        d->threads = s->threads, d->thread_count = th_scale_threads(s->usable_cpus, s->threads);
}

static uint32_t crowd_count(const th_experiment *s)
{
    return s->desc.count_count * (s->desc.is_weak ? s->desc.thread_count : 1);
}

uint32_t th_experiment_config_count(const th_experiment *s)
{
    return s->out->point_count + s->out->part_count * TH_ABLATION_COUNT;
}

void th_experiment_fini(th_experiment *s)
{
    for (uint32_t i = 0; s->configs && i < th_experiment_config_count(s); i++)
        th_scaling_config_fini(&s->configs[i]);
    for (uint32_t i = 0; s->pools && i < s->desc.scheduler_count * s->desc.thread_count; i++)
        th_jobs_destroy(s->pools[i]);
    for (uint32_t i = 0; s->shared && i < crowd_count(s); i++)
        th_shared_crowd_fini(&s->shared[i]);
    for (int part = 0; part < 2; part++) {
        th_crowd_destroy(s->evaluated[part]);
        th_scene_destroy(s->evaluated_scenes[part]);
    }
    for (uint32_t i = 0; s->crowds && i < crowd_count(s); i++)
        th_crowd_destroy(s->crowds[i]);
    for (uint32_t i = crowd_count(s);
         s->scenes && i-- > 0;) /* scene 0 owns the compiled models of all, so it goes last */
        th_scene_destroy(s->scenes[i]);
    for (int part = 0; part < 2; part++)
        th_batch_crowds_fini(&s->batch_crowds[part]);
    th_recording_fini(&s->recording);
    th_worker_counts_destroy(s->worker_counts);
    free(s->shared);
    free(s->counts);
    free(s->configs);
    free(s->pools);
    free(s->crowds);
    free(s->scenes);
    free(s->palette);
}

/* ---- curves and points ---- */

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

uint32_t th_experiment_part_crowd(const th_experiment *s, uint32_t part)
{
    return th_experiment_crowd(s, 0, th_scale_part_point(s->out, part));
}

static th_scale_curve *curve_at(const th_experiment *s, uint32_t scheduler, uint32_t count, uint32_t grain)
{
    return &s->out->curves[(scheduler * s->desc.count_count + count) * s->desc.grain_count + grain];
}

static void lay_out_points(const th_experiment *s, th_scale_curve *curve)
{
    for (uint32_t t = 0; t < curve->count; t++) {
        th_scale_point *p = &s->out->points[curve->first + t];
        p->threads = curve->scheduler == TH_SCHEDULER_SERIAL ? 1 : s->desc.threads[t];
        p->characters = curve->characters * (s->desc.is_weak ? p->threads : 1);
        p->oversubscribed = p->threads > s->usable_cpus;
    }
}

static void lay_out_curves(const th_experiment *s)
{
    const th_scale_desc *d = &s->desc;
    th_scale *out = s->out;
    for (uint32_t i = 0; i < d->scheduler_count; i++)
        for (uint32_t c = 0; c < d->count_count; c++)
            for (uint32_t g = 0; g < d->grain_count; g++) {
                th_scale_curve *curve = curve_at(s, i, c, g);
                *curve = (th_scale_curve){
                    .scheduler = d->schedulers[i],
                    .characters = d->counts[c],
                    .grain = d->grains[g] ? d->grains[g] : TH_FRAME_DEFAULT_GRAIN,
                    .first = out->point_count,
                    .count = thread_count(s, d->schedulers[i]),
                };
                out->point_count += curve->count;
                lay_out_points(s, curve);
            }
}

/* The point of the first curve with most threads that is not oversubscribed; else the first point. */
static uint32_t last_point(const th_scale *scale)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < scale->curves[0].count; i++)
        if (!scale->points[i].oversubscribed)
            last = i;
    return last;
}

uint32_t th_scale_part_point(const th_scale *scale, uint32_t part)
{
    assert(part < 2);
    return part == 0 ? 0 : last_point(scale);
}

uint32_t th_scale_part_row(const th_scale *scale, uint32_t part, th_ablation ablation)
{
    assert(part < scale->part_count && ablation < TH_ABLATION_COUNT);
    return scale->point_count + part * TH_ABLATION_COUNT + (uint32_t)ablation;
}

uint32_t th_scale_memory_row(const th_scale *scale, uint32_t index, th_bandwidth_kind kind)
{
    assert(index < scale->memory_count && kind < th_bandwidth_kind_count());
    return scale->point_count + scale->part_count * TH_ABLATION_COUNT + index * th_bandwidth_kind_count() +
           (uint32_t)kind;
}

static th_result lay_out(th_experiment *s, th_error *err)
{
    const th_scale_desc *d = &s->desc;
    th_scale *out = s->out;
    const size_t curves = (size_t)d->scheduler_count * d->count_count * d->grain_count;
    out->curve_count = (uint32_t)curves;
    out->curves = calloc(curves, sizeof *out->curves);
    out->points = calloc(curves * d->thread_count, sizeof *out->points);
    out->memory = calloc(d->thread_count, sizeof *out->memory);
    if (!out->curves || !out->points || !out->memory)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %zu curves", curves);
    lay_out_curves(s);
    const uint32_t last = last_point(out);
    out->part_count = last > 0 ? 2 : 1;
    out->memory_count = last + 1;
    for (uint32_t i = 0; i < out->memory_count; i++)
        out->memory[i].threads = out->points[i].threads;
    return TH_OK;
}

/* ---- crowds, threads, configs ---- */

static double checked_s(void)
{
    return TH_VALIDATE_FRAME / TH_FRAME_RATE;
}

/* The crowd of an ablation, and its scene. */
static th_result find_ablated(th_experiment *s, uint32_t part, const th_scene **scene, const th_crowd **crowd,
                              th_error *err)
{
    const uint32_t whole = th_experiment_part_crowd(s, part);
    *scene = s->scenes[whole];
    *crowd = s->crowds[whole];
    if (!s->shared)
        return TH_OK;
    th_result result =
        th_shared_crowd_evaluated(&s->shared[whole], &s->desc.scene, checked_s(), &s->evaluated_scenes[part], err);
    if (result == TH_OK)
        result = th_scene_crowd(s->evaluated_scenes[part], s->desc.isa, s->desc.palette, &s->evaluated[part], err);
    *scene = s->evaluated_scenes[part];
    *crowd = s->evaluated[part];
    return result;
}

/* A second one only where both parts do not have the same crowd. */
static th_result create_batch_crowds(th_experiment *s, th_error *err)
{
    th_result result = TH_OK;
    for (uint32_t part = 0; part < s->out->part_count && result == TH_OK; part++) {
        const th_scene *scene;
        const th_crowd *crowd;
        if (part > 0 && th_experiment_part_crowd(s, part) == th_experiment_part_crowd(s, 0))
            continue;
        result = find_ablated(s, part, &scene, &crowd, err);
        if (result == TH_OK)
            result = th_batch_crowds_init(&s->batch_crowds[part], scene, crowd, err);
    }
    return result;
}

static th_result share_poses(th_experiment *s, th_error *err)
{
    th_result result = TH_OK;
    if (!(s->desc.share_hz > 0))
        return TH_OK;
    s->shared = calloc(crowd_count(s), sizeof *s->shared);
    s->counts = calloc(crowd_count(s), sizeof *s->counts);
    if (!s->shared || !s->counts)
        return th_fail(err, TH_ERR_MEMORY, "no memory to share poses");
    for (uint32_t i = 0; i < crowd_count(s) && result == TH_OK; i++)
        result = th_shared_crowd_init(&s->shared[i], s->scenes[i], s->crowds[i], s->desc.share_hz, err);
    return result;
}

/* Crowds then have the bones and bytes of the checked frame. Frames are made before, with room for all. */
static void count_poses(th_experiment *s)
{
    for (uint32_t i = 0; s->shared && i < crowd_count(s); i++) {
        th_shared_crowd_plan(&s->shared[i], s->pools[0], checked_s());
        s->counts[i] = th_pose_plan_counts(s->shared[i].plan);
    }
}

th_pose_counts th_experiment_counts(const th_experiment *s, uint32_t crowd)
{
    return s->shared ? s->counts[crowd] : (th_pose_counts){.evaluated = s->scenes[crowd]->instance_count};
}

/* Models are compiled once. The palette memory fits the largest crowd. */
static th_result create_crowds(th_experiment *s, th_error *err)
{
    const th_scale_desc *d = &s->desc;
    const uint32_t count = crowd_count(s);
    const th_crowd *largest = NULL;
    th_scene_desc scene = d->scene;
    th_result result = TH_OK;
    s->scenes = calloc(count, sizeof(th_scene *));
    s->crowds = calloc(count, sizeof(th_crowd *));
    if (!s->scenes || !s->crowds)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u crowds", count);
    for (uint32_t i = 0; i < count && result == TH_OK; i++) {
        scene.instance_count =
            d->is_weak ? d->counts[i / d->thread_count] * d->threads[i % d->thread_count] : d->counts[i];
        result = th_scene_create(&scene, &s->scenes[i], err);
        if (result == TH_OK)
            result = th_scene_crowd(s->scenes[i], d->isa, d->palette, &s->crowds[i], err);
        if (result != TH_OK)
            break;
        scene.compiled_models = s->scenes[0]->compiled_models;
        if (!largest || th_crowd_palette_bytes(s->crowds[i]) > th_crowd_palette_bytes(largest))
            largest = s->crowds[i];
    }
    if (result == TH_OK)
        result = th_palette_create(largest, &s->palette, err);
    if (result == TH_OK)
        result = share_poses(s, err);
    return result == TH_OK ? create_batch_crowds(s, err) : result;
}

static th_result create_pools(th_experiment *s, th_error *err)
{
    const th_scale_desc *d = &s->desc;
    th_result result = TH_OK;
    s->pools = calloc((size_t)d->scheduler_count * d->thread_count, sizeof(th_jobs *));
    if (!s->pools)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u pools", d->thread_count);
    for (uint32_t i = 0; i < d->scheduler_count; i++)
        for (uint32_t t = 0; t < thread_count(s, d->schedulers[i]) && result == TH_OK; t++) {
            const th_jobs_desc jobs = {d->threads[t], d->schedulers[i], d->placement};
            result = th_threads_create(&jobs, &s->pools[i * d->thread_count + t], err);
        }
    return result;
}

/* Whether threads spin on after a call, as those of OpenMP do. */
static bool has_spinners(const th_scale_desc *d)
{
    for (uint32_t i = 0; i < d->scheduler_count; i++)
        if (d->schedulers[i] != TH_SCHEDULER_WORK_STEALING && d->schedulers[i] != TH_SCHEDULER_SERIAL)
            return true;
    return false;
}

static uint32_t round_capacity(const th_measure_desc *measure)
{
    return measure->repetitions > 0 ? measure->repetitions : TH_MEASURE_MAX_ROUNDS;
}

static th_result create_whole(th_experiment *s, uint32_t scheduler, uint32_t count, uint32_t grain, uint32_t t,
                              th_error *err)
{
    const th_scale_curve *curve = curve_at(s, scheduler, count, grain);
    const uint32_t crowd = th_experiment_crowd(s, (uint32_t)(curve - s->out->curves), t);
    th_scaling_config *config = &s->configs[curve->first + t];
    *config = (th_scaling_config){
        .jobs = s->pools[scheduler * s->desc.thread_count + t],
        .palette = s->palette,
        .scene = s->scenes[crowd],
        .crowd = s->crowds[crowd],
        .shared = s->shared ? &s->shared[crowd] : NULL,
        .round_capacity = round_capacity(&s->desc.measure),
        .waits_quiescent = has_spinners(&s->desc),
    };
    const th_frame_desc frame = {.crowd = s->crowds[crowd], .jobs = config->jobs, .grain = curve->grain};
    return th_scaling_config_whole(config, &frame, err);
}

static th_result create_part(th_experiment *s, uint32_t part, th_ablation ablation, th_error *err)
{
    const th_scaling_config *whole = &s->configs[th_scale_part_point(s->out, part)];
    th_scaling_config *config = &s->configs[th_scale_part_row(s->out, part, ablation)];
    *config = (th_scaling_config){
        .jobs = whole->jobs,
        .palette = whole->palette,
        .round_capacity = whole->round_capacity,
        .waits_quiescent = whole->waits_quiescent,
    };
    const uint32_t crowd = th_experiment_part_crowd(s, part);
    const uint32_t owner = crowd == th_experiment_part_crowd(s, 0) ? 0 : part;
    const th_crowd *posed = s->shared ? s->evaluated[owner] : s->crowds[crowd];
    const th_ablated_frame_desc desc = {ablation, posed, &s->batch_crowds[owner], config->jobs,
                                        s->out->curves[0].grain};
    return th_scaling_config_part(config, &desc, err);
}

static th_result create_configs(th_experiment *s, th_error *err)
{
    const th_scale_desc *d = &s->desc;
    th_result result = TH_OK;
    s->configs = calloc(th_experiment_config_count(s), sizeof *s->configs);
    if (!s->configs)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u points", s->out->point_count);
    for (uint32_t i = 0; i < d->scheduler_count; i++)
        for (uint32_t c = 0; c < d->count_count; c++)
            for (uint32_t g = 0; g < d->grain_count; g++)
                for (uint32_t t = 0; t < curve_at(s, i, c, g)->count && result == TH_OK; t++)
                    result = create_whole(s, i, c, g, t, err);
    for (uint32_t part = 0; part < s->out->part_count; part++)
        for (int a = 0; a < TH_ABLATION_COUNT && result == TH_OK; a++)
            result = create_part(s, part, (th_ablation)a, err);
    return result;
}

th_result th_experiment_init(th_experiment *s, const th_scale_desc *desc, th_scale *out, th_error *err)
{
    fill_in_lists(s, desc);
    s->out = out;
    th_result result = lay_out(s, err);
    if (result == TH_OK)
        result = create_crowds(s, err);
    if (result == TH_OK)
        result = create_pools(s, err);
    if (result == TH_OK)
        result = create_configs(s, err);
    if (result != TH_OK)
        return result;
    const th_crowd *largest = s->crowds[th_experiment_crowd(s, 0, out->curves[0].count - 1)];
    if (!th_recording_init(&s->recording, th_crowd_batch_count(largest), out->curves[0].grain))
        result = th_fail(err, TH_ERR_MEMORY, "no memory for the trace of a frame");
    if (result == TH_OK && desc->counters)
        result = th_worker_counts_create(s->desc.threads[s->desc.thread_count - 1], &s->worker_counts, err);
    count_poses(s);
    return result;
}
