#include <bench/scale.h>

#include "conclusion.h"
#include "experiment.h"
#include "measure/memory_bandwidth.h"
#include "pop_factors.h"
#include "resample.h"

#include <bench/validate_run.h>
#include <core/json.h>
#include <core/table.h>
#include <core/text_format.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITION_NS = 20000000, MEMORY_REPETITIONS = 10 };

/* ---- rows ---- */

static th_row *part_row(const th_experiment *s, uint32_t part, int ablation)
{
    return &s->out->report.rows[th_scale_part_row(s->out, part, (th_ablation)ablation)];
}

static th_row *memory_row(const th_experiment *s, uint32_t index, uint32_t kind)
{
    return &s->out->report.rows[th_scale_memory_row(s->out, index, (th_bandwidth_kind)kind)];
}

/* The crowd fields of a row. */
static void set_crowd(const th_experiment *s, uint32_t crowd, uint32_t threads, th_row *row)
{
    row->time_unit = "us";
    row->threads = threads;
    row->characters = th_experiment_counts(s, crowd).evaluated;
    row->bones = th_crowd_bone_count(s->crowds[crowd]);
}

/* "scale/threads:2"; other varied parameters come before the threads. */
static void name_point(const th_experiment *s, const th_scale_curve *curve, th_row *row)
{
    const size_t size = sizeof row->name;
    size_t used = (size_t)snprintf(row->name, size, s->desc.is_weak ? "scale/weak/" : "scale/");
    if (s->desc.scheduler_count > 1)
        used += (size_t)snprintf(row->name + used, size - used, "%s/", th_scheduler_name(curve->scheduler));
    if (s->desc.count_count > 1)
        used += (size_t)snprintf(row->name + used, size - used, "count:%u/", curve->characters);
    if (s->desc.grain_count > 1)
        used += (size_t)snprintf(row->name + used, size - used, "grain:%u/", curve->grain);
    snprintf(row->name + used, size - used, "threads:%u", row->threads);
}

static void set_point_rows(const th_experiment *s)
{
    const th_scale *out = s->out;
    for (uint32_t c = 0; c < out->curve_count; c++)
        for (uint32_t p = out->curves[c].first; p < out->curves[c].first + out->curves[c].count; p++) {
            set_crowd(s, th_experiment_crowd(s, c, p - out->curves[c].first), out->points[p].threads,
                      &out->report.rows[p]);
            name_point(s, &out->curves[c], &out->report.rows[p]);
        }
}

static void set_part_rows(const th_experiment *s)
{
    for (uint32_t part = 0; part < s->out->part_count; part++)
        for (int a = 0; a < TH_ABLATION_COUNT; a++) {
            th_row *row = part_row(s, part, a);
            set_crowd(s, th_experiment_part_crowd(s, part), s->out->points[th_scale_part_point(s->out, part)].threads,
                      row);
            snprintf(row->name, sizeof row->name, "scale/%s%s/threads:%u", s->desc.is_weak ? "weak/" : "",
                     th_ablation_name((th_ablation)a), row->threads);
        }
}

static void set_memory_rows(const th_experiment *s)
{
    for (uint32_t i = 0; i < s->out->memory_count; i++)
        for (uint32_t t = 0; t < th_bandwidth_kind_count(); t++) {
            th_row *row = memory_row(s, i, t);
            row->time_unit = "us";
            row->threads = s->out->memory[i].threads;
            snprintf(row->name, sizeof row->name, "scale/memory_%s/threads:%u",
                     th_bandwidth_kind_name((th_bandwidth_kind)t), row->threads);
        }
}

/* ---- checking ---- */

static const th_crowd_layers *layers_at(void *config, uint64_t frame)
{
    const th_scaling_config *c = config;
    return th_shared_crowd_layers(c->shared, NULL, (double)frame / TH_FRAME_RATE);
}

static th_validate_run_desc validation_of(th_scaling_config *config)
{
    return (th_validate_run_desc){
        .scene = config->scene,
        .crowd = config->crowd,
        .palette = config->palette,
        .run = th_scaling_config_run,
        .layers = config->shared ? layers_at : NULL,
        .ctx = config,
    };
}

/* For th_subject.check. */
static void check_left(void *config, uint64_t frame)
{
    th_scaling_config *c = config;
    const th_validate_run_desc validation = validation_of(c);
    th_error err;
    if (th_validate_left(&validation, frame, c->row, &err) != TH_OK && !c->row->failure[0])
        snprintf(c->row->failure, sizeof c->row->failure, "%.200s", err.text);
}

/* In a few frames up to the checked one. */
static th_result measure_sharing(const th_experiment *s, th_scaling_config *c, th_error *err)
{
    th_result result = TH_OK;
    for (uint64_t frame = 0; c->shared && result == TH_OK && frame <= TH_VALIDATE_FRAME;
         frame += TH_VALIDATE_FRAME / 4) {
        th_scaling_config_run(c, frame);
        result = th_shared_crowd_measure(c->shared, c->crowd, s->palette, NULL, (double)frame / TH_FRAME_RATE, err);
    }
    return result;
}

static th_result check_point(const th_experiment *s, uint32_t point, const th_row *first, th_error *err)
{
    th_row *row = s->configs[point].row = &s->out->report.rows[point];
    const th_validate_run_desc validation = validation_of(&s->configs[point]);
    th_result result = th_validate_run(&validation, row, err);
    s->configs[point].palette_sum = th_crowd_sum(s->configs[point].crowd, s->palette, 0);
    if (!row->failure[0] && row->palette_hash != first->palette_hash)
        snprintf(row->failure, sizeof row->failure, "palettes differ from those of %s", first->name);
    if (result == TH_OK && row == first)
        result = measure_sharing(s, &s->configs[point], err);
    return result;
}

/* The first row of a crowd, for a point that is counted from the begin of its curve. */
static const th_row *first_of_crowd(const th_experiment *s, uint32_t curve, uint32_t point)
{
    const uint32_t first = curve / s->desc.grain_count % s->desc.count_count * s->desc.grain_count;
    return &s->out->report.rows[s->out->curves[first].first + (s->desc.is_weak ? point : 0)];
}

/* Points with the same crowd must have the palettes of the first of them. */
static th_result check_points(const th_experiment *s, th_error *err)
{
    const th_scale *out = s->out;
    th_result result = TH_OK;
    /* First touch places a page near the thread that writes it first; the check below does so from this thread, so a
     * pool writes it before. */
    for (uint32_t c = 0; c < out->curve_count; c++)
        th_scaling_config_run(&s->configs[out->curves[c].first + out->curves[c].count - 1], 0);
    for (uint32_t c = 0; c < out->curve_count; c++)
        for (uint32_t i = 0; i < out->curves[c].count && result == TH_OK; i++)
            result = check_point(s, out->curves[c].first + i, first_of_crowd(s, c, i), err);
    return result;
}

/* ---- timing ---- */

static th_measure_desc measure_desc(const th_experiment *s)
{
    th_measure_desc measure = s->desc.measure;
    measure.repetition_ns = measure.repetition_ns ? measure.repetition_ns : REPETITION_NS;
    return measure;
}

static th_result time_configs(const th_experiment *s, th_error *err)
{
    const uint32_t count = th_experiment_config_count(s);
    const th_measure_desc measure = measure_desc(s);
    th_subject *subjects = calloc(count, sizeof *subjects);
    if (!subjects)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u points", count);
    for (uint32_t i = 0; i < count; i++)
        subjects[i] = (th_subject){.before = th_scaling_config_begin,
                                   .run = th_scaling_config_run,
                                   .after = th_scaling_config_end,
                                   .check = s->configs[i].frame ? check_left : NULL,
                                   .ctx = &s->configs[i],
                                   .row = &s->out->report.rows[i]};
    s->out->report.is_partial = !th_measure(&measure, subjects, count);
    for (uint32_t i = 0; i < s->out->point_count; i++)
        th_validate_floor(s->configs[i].crowd, s->palette, &s->out->report.rows[i]);
    free(subjects);
    return TH_OK;
}

/* Bandwidth is measured with defaults of its own: the lengths requested for frames do not fit a pass over the block. */
static th_measure_desc memory_measure_desc(const th_experiment *s)
{
    th_measure_desc measure = s->desc.measure;
    measure.progress = NULL; /* too short for a progress line */
    measure.iterations = 0;
    measure.repetition_ns = REPETITION_NS;
    if (measure.repetitions == 0 || measure.repetitions > MEMORY_REPETITIONS)
        measure.repetitions = MEMORY_REPETITIONS;
    return measure;
}

static th_result time_memory(const th_experiment *s, th_error *err)
{
    th_jobs *pools[TH_JOBS_MAX_THREADS];
    th_scale *out = s->out;
    const th_bandwidth_desc desc = {
        .pools = pools,
        .pool_count = out->memory_count,
        .waits_quiescent = s->configs[0].waits_quiescent,
        .bytes = th_bandwidth_round(s->desc.memory_bytes ? s->desc.memory_bytes
                                                         : th_bandwidth_default_bytes(&out->report.context)),
        .measure = memory_measure_desc(s),
    };
    for (uint32_t i = 0; i < out->memory_count; i++)
        pools[i] = s->configs[i].jobs;
    out->memory_bytes = desc.bytes;
    return th_bandwidth_measure(&desc, memory_row(s, 0, 0), err);
}

/* ---- counting ---- */

static th_result count_points(const th_experiment *s, th_error *err)
{
    th_scale *out = s->out;
    for (uint32_t i = 0; i < out->point_count; i++)
        if (!out->report.rows[i].failure[0] && !th_scaling_config_count(&s->configs[i], s->worker_counts))
            return th_fail(err, TH_ERR_MEMORY, "no memory for the counters of %s", out->report.rows[i].name);
    th_counted_frames_end(s->worker_counts, &out->report);
    out->has_counters = true;
    return TH_OK;
}

/* ---- results ---- */

static void set_sharing(const th_experiment *s, uint32_t crowd, th_scale_point *point)
{
    point->shared = th_experiment_counts(s, crowd).shared;
    point->share_error = s->shared ? s->shared[crowd].error : 0;
}

/* Records the poses of one more frame, not timed. */
static json_t *trace_frame(const th_experiment *s, th_scaling_config *l)
{
    th_recording recording = s->recording;
    th_jobs_frame_begin(l->jobs);
    th_scaling_config_run(l, 0);
    th_scaling_config_plan(l, 1);
    th_recording_begin(&recording, l->jobs);
    th_scaling_config_pose(l, 1);
    th_recording_end(&recording, l->jobs);
    th_jobs_frame_end(l->jobs);
    return th_recording_json(&recording);
}

static json_t *once_json(const th_experiment *s, th_scaling_config *l, const th_row *row)
{
    const th_scale_counts counts = th_scaling_config_counts(l, row);
    json_t *json = json_pack("{s:o, s:o}", "workers", th_workers_json(l->sums, row->threads, th_scale_frames(&counts)),
                             "trace", trace_frame(s, l));
    return l->counters_json ? th_json_set(json, "counters_by_worker", json_incref(l->counters_json)) : json;
}

static void summarize_points(const th_experiment *s, const th_scale_curve *curve)
{
    const th_scale_counts first =
        th_scaling_config_counts(&s->configs[curve->first], &s->out->report.rows[curve->first]);
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++) {
        const th_row *row = &s->out->report.rows[i];
        const th_scale_counts counts = th_scaling_config_counts(&s->configs[i], row);
        if (row->failure[0])
            continue;
        s->out->points[i] = th_scale_point_of(&counts, &first, s->usable_cpus);
        s->out->points[i].pop = th_pop_of(&counts, &first);
        s->out->points[i].counters = s->configs[i].counters;
        s->out->points[i].palette_sum = s->configs[i].palette_sum;
        set_sharing(s, th_experiment_crowd(s, (uint32_t)(curve - s->out->curves), i - curve->first),
                    &s->out->points[i]);
    }
}

/* Workers and trace of the first curve. */
static void describe_workers(const th_experiment *s)
{
    for (uint32_t i = 0; i < s->out->curves[0].count; i++) {
        th_row *row = &s->out->report.rows[i];
        if (!row->failure[0])
            row->once = once_json(s, &s->configs[i], row);
    }
}

static void summarize_parts(const th_experiment *s)
{
    for (uint32_t p = 0; p < s->out->part_count; p++) {
        th_scale_parts *parts = &s->out->parts[p];
        for (int a = 0; a < TH_ABLATION_COUNT; a++) {
            th_row *row = part_row(s, p, a);
            const th_scale_counts counts =
                th_scaling_config_counts(&s->configs[th_scale_part_row(s->out, p, (th_ablation)a)], row);
            parts->threads = row->threads;
            parts->frame_ns[a] = th_samples_stats(counts.frame_ns).median;
            parts->work_ns[a] = th_scale_work_ns(&counts);
        }
    }
}

static void summarize_memory(const th_experiment *s)
{
    for (uint32_t i = 0; i < s->out->memory_count; i++)
        for (uint32_t t = 0; t < TH_BANDWIDTH_COUNT; t++) {
            const bool has_kind = t < th_bandwidth_kind_count();
            s->out->memory[i].bytes_per_s[t] =
                has_kind ? th_scale_bytes_per_s(s->out->memory_bytes, &memory_row(s, i, t)->real_ns) : (double)NAN;
        }
}

static th_result summarize(const th_experiment *s, th_error *err)
{
    for (uint32_t c = 0; c < s->out->curve_count; c++)
        summarize_points(s, &s->out->curves[c]);
    summarize_parts(s);
    summarize_memory(s);
    th_result result = th_scale_fit(s->out, err);
    if (result == TH_OK)
        result = th_scale_resample(s, err);
    if (result != TH_OK)
        return result;
    th_scale_describe_rows(s->out);
    describe_workers(s);
    return TH_OK;
}

static void trace_configs(const th_experiment *s)
{
    for (uint32_t i = 0; s->desc.tracer && i < th_experiment_config_count(s); i++)
        if (!s->out->report.rows[i].failure[0])
            th_scaling_config_trace(&s->configs[i], &s->out->report.rows[i], s->desc.tracer);
}

/* ---- the experiment ---- */

static void describe(const th_experiment *s)
{
    th_scale *out = s->out;
    const th_scale_curve *curve = &out->curves[0];
    const bool serial = s->desc.scheduler_count == 1 && curve->scheduler == TH_SCHEDULER_SERIAL;
    th_scene_desc scene = s->desc.scene;
    scene.instance_count = curve->characters;
    out->isa = th_crowd_isa(s->crowds[0]);
    out->palette = s->desc.palette;
    out->placement = serial ? TH_PLACEMENT_NONE : s->desc.placement;
    out->share_hz = s->desc.share_hz;
    out->is_weak = s->desc.is_weak;
    const th_crowd *last = s->crowds[th_experiment_part_crowd(s, out->part_count - 1)];
    out->palette_bytes = th_crowd_entry_count(last) * th_palette_entry_bytes(out->palette);
    json_t *how =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:s}", "isa", th_isa_name(out->isa), "palette",
                  th_palette_name(out->palette), "scheduler", th_scheduler_name(curve->scheduler), "placement",
                  th_placement_name(out->placement), "grain", (int)curve->grain, "stages", "fused");
    if (out->share_hz > 0)
        how = th_json_set(how, "share_hz", th_json_real(out->share_hz));
    out->report.scene = th_json_merge(th_scene_json(s->scenes[0], &scene), how);
}

static th_result run_experiment(const th_experiment *s, th_error *err)
{
    th_scale *out = s->out;
    const uint32_t rows = th_experiment_config_count(s) + out->memory_count * th_bandwidth_kind_count();
    const th_measure_desc measure = measure_desc(s);
    th_result result = th_measure_report(&measure, rows, &out->report, err);
    if (result != TH_OK)
        return result;
    describe(s);
    set_point_rows(s);
    set_part_rows(s);
    set_memory_rows(s);
    th_tracer_next(s->desc.tracer, "check");
    result = check_points(s, err);
    th_tracer_next(s->desc.tracer, "measure");
    const th_interference_mark begin = th_interference_begin();
    if (result == TH_OK)
        result = time_configs(s, err);
    out->report.interference = th_interference_end(&begin);
    if (result == TH_OK && !out->report.is_partial)
        result = time_memory(s, err);
    if (result == TH_OK && !out->report.is_partial && !out->report.is_dry_run && s->worker_counts)
        result = count_points(s, err);
    if (measure.stop && *measure.stop)
        th_report_interrupt(&out->report);
    if (result == TH_OK && !out->report.is_dry_run)
        result = summarize(s, err);
    th_tracer_next(s->desc.tracer, "trace");
    if (result == TH_OK)
        trace_configs(s);
    return result;
}

th_result th_scale_run(const th_scale_desc *desc, th_scale *out, th_error *err)
{
    assert(desc && out);
    assert(!desc->threads == (desc->thread_count == 0) && !desc->schedulers == (desc->scheduler_count == 0));
    for (uint32_t i = 0; i < desc->scheduler_count; i++)
        assert(!desc->is_weak || desc->schedulers[i] != TH_SCHEDULER_SERIAL);
    assert(!desc->counts == (desc->count_count == 0) && !desc->grains == (desc->grain_count == 0));
    for (uint32_t t = 0; t + 1 < desc->thread_count; t++)
        assert(desc->threads[t] < desc->threads[t + 1]);
    th_experiment experiment;
    *out = (th_scale){0};
    th_tracer_begin(desc->tracer, "prepare");
    th_result result = th_experiment_init(&experiment, desc, out, err);
    if (result == TH_OK)
        result = run_experiment(&experiment, err);
    th_experiment_fini(&experiment);
    th_tracer_end(desc->tracer);
    if (result != TH_OK)
        th_scale_fini(out);
    return result;
}

void th_scale_fini(th_scale *scale)
{
    for (uint32_t p = 0; scale->processes && p < TH_REPORT_MAX_PROCESSES; p++)
        free(scale->processes[p].points);
    free(scale->processes);
    free(scale->points);
    free(scale->curves);
    free(scale->memory);
    th_report_fini(&scale->report);
    *scale = (th_scale){0};
}
