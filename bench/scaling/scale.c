#include <bench/scale.h>

#include "experiment.h"
#include "measure/memory_bandwidth.h"

#include <bench/interference.h>
#include <bench/validate.h>
#include <core/clock.h>
#include <core/json.h>
#include <core/text_format.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITION_NS = 20000000, MEMORY_REPETITIONS = 10 };

/* ---- rows ---- */

/* The crowd fields of a row. */
static void set_crowd(const th_experiment *s, uint32_t crowd, uint32_t threads, th_row *row)
{
    row->time_unit = "us";
    row->threads = threads;
    row->characters = s->counts[crowd].evaluated;
    row->bones = th_crowd_bone_count(s->crowds[crowd]);
}

/* ---- frames ---- */

static double time_of(uint64_t frame)
{
    return (double)frame / TH_FRAME_RATE;
}

/* A frame's two parts: who shares, and the poses. */
static void plan(th_scaling_config *c, uint64_t frame)
{
    if (c->shared)
        th_shared_crowd_plan(c->shared, c->jobs, time_of(frame));
}

static void pose(th_scaling_config *c, uint64_t frame)
{
    if (c->frame)
        th_frame_run(c->frame, time_of(frame), c->palette);
    else if (c->ablated)
        th_ablated_frame_run(c->ablated, time_of(frame), c->palette);
    else
        th_crowd_pose(c->crowd, 0, th_crowd_batch_count(c->crowd), time_of(frame), c->palette, c->scratch);
}

static void run_frame(void *config, uint64_t frame)
{
    plan(config, frame);
    pose(config, frame);
}

/* Frames run within a frame of the pool, as in an application that draws. */
static void begin_frames(th_scaling_config *c)
{
    if (c->waits_quiescent)
        th_wait_quiescent();
    th_jobs_frame_begin(c->jobs);
}

/* Workers of the config before spin for a while. One thread is to work alone. */
#define SETTLING_NS 200000u

static void begin_repetition(void *config)
{
    th_scaling_config *c = config;
    begin_frames(c);
    const uint64_t settled_ns = th_clock_ns() + SETTLING_NS;
    do
        run_frame(c, 0);
    while (th_jobs_threads(c->jobs) == 1 && th_clock_ns() < settled_ns);
    th_jobs_stats_reset(c->jobs);
}

static void end_repetition(void *config)
{
    th_scaling_config *c = config;
    const uint32_t threads = th_jobs_threads(c->jobs);
    const size_t round = c->row->real_ns.count; /* a repetition may have two parts */
    th_worker_stats stats[TH_JOBS_MAX_THREADS];
    assert(round < c->round_capacity);
    th_jobs_stats(c->jobs, stats);
    for (uint32_t w = 0; w < threads; w++) {
        th_worker_add(&c->rounds[round * threads + w], &stats[w]);
        th_worker_add(&c->sums[w], &stats[w]);
    }
    th_jobs_frame_end(c->jobs);
}

/* ---- checking ---- */

static const th_crowd_layers *layers_at(void *config, uint64_t frame)
{
    const th_scaling_config *c = config;
    return th_shared_crowd_layers(c->shared, NULL, time_of(frame));
}

static th_validate_run_desc validation_of(th_scaling_config *config)
{
    return (th_validate_run_desc){
        .scene = config->scene,
        .crowd = config->crowd,
        .palette = config->palette,
        .run = run_frame,
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
        th_row_fail(c->row, "%s", err.text);
}

static th_result check_points(const th_experiment *s, th_error *err)
{
    const th_scale *out = s->out;
    th_result result = TH_OK;
    /* First touch places a page near the thread that writes it first; the check below does so from this thread, so a
     * pool writes it before. */
    for (uint32_t c = 0; c < out->curve_count; c++)
        run_frame(&s->configs[out->curves[c].first + out->curves[c].count - 1], 0);
    for (uint32_t c = 0; c < out->curve_count; c++)
        for (uint32_t i = 0; i < out->curves[c].count && result == TH_OK; i++) {
            const uint32_t same = c / s->desc.grain_count % s->desc.count_count * s->desc.grain_count;
            /* The first row of the point's crowd, whose palettes it must have. */
            const th_row *first = &out->report.rows[out->curves[same].first + (s->desc.is_weak ? i : 0)];
            th_scaling_config *config = &s->configs[out->curves[c].first + i];
            th_row *row = config->row = &out->report.rows[out->curves[c].first + i];
            const th_validate_run_desc validation = validation_of(config);
            result = th_validate_run(&validation, row, err);
            config->palette_sum = th_crowd_sum(config->crowd, s->palette, 0);
            if (!row->failure[0] && row->palette_hash != first->palette_hash)
                th_row_fail(row, "palettes differ from those of %s", first->name);

            /* How far shared poses are off, in a few frames up to the checked one. */
            const uint64_t end = config->shared && row == first ? TH_VALIDATE_FRAME + 1 : 0;
            for (uint64_t frame = 0; result == TH_OK && frame < end; frame += TH_VALIDATE_FRAME / 4) {
                run_frame(config, frame);
                result =
                    th_shared_crowd_measure(config->shared, config->crowd, s->palette, NULL, time_of(frame), row, err);
            }
        }
    return result;
}

/* ---- timing ---- */

/* Bandwidth is measured with defaults of its own: the lengths requested for frames do not fit a pass over the block. */
static th_result time_memory(const th_experiment *s, th_error *err)
{
    th_jobs *pools[TH_JOBS_MAX_THREADS];
    th_scale *out = s->out;
    th_bandwidth_desc desc = {
        .pools = pools,
        .pool_count = out->memory_count,
        .waits_quiescent = s->configs[0].waits_quiescent,
        .bytes = th_bandwidth_round(s->desc.memory_bytes ? s->desc.memory_bytes
                                                         : th_bandwidth_default_bytes(&out->report.context)),
        .measure = s->desc.measure,
    };
    desc.measure.progress = NULL; /* too short for a progress line */
    desc.measure.iterations = 0;
    desc.measure.repetition_ns = REPETITION_NS;
    if (desc.measure.repetitions == 0 || desc.measure.repetitions > MEMORY_REPETITIONS)
        desc.measure.repetitions = MEMORY_REPETITIONS;
    for (uint32_t i = 0; i < out->memory_count; i++)
        pools[i] = s->configs[i].jobs;
    out->memory_bytes = desc.bytes;
    return th_bandwidth_measure(&desc, &out->report.rows[th_scale_memory_row(out, 0, (th_bandwidth_kind)0)], err);
}

/* ---- one recorded frame ---- */

/* Each chunk has its own slot, so workers need no lock, and they rarely write to the same cache line. */
static void record(const th_span *span, void *ctx)
{
    const th_experiment *s = ctx;
    const uint32_t at = span->begin / s->out->curves[0].grain;
    assert(at < s->chunk_count && s->spans[at].end_ns == 0);
    if (at < s->chunk_count)
        s->spans[at] = *span;
}

/* Records the poses of one more frame, not timed: [worker, begin, end, start_us, end_us] for each chunk. */
static json_t *record_frame(th_experiment *s, th_scaling_config *c)
{
    memset(s->spans, 0, s->chunk_count * sizeof *s->spans);
    th_jobs_frame_begin(c->jobs);
    run_frame(c, 0);
    plan(c, 1);
    th_jobs_trace(c->jobs, record, s);
    const double start_ns = (double)th_clock_ns();
    pose(c, 1);
    th_jobs_trace(c->jobs, NULL, NULL);
    th_jobs_frame_end(c->jobs);
    json_t *chunks = json_array();
    for (const th_span *span = s->spans; span < s->spans + s->chunk_count; span++)
        if (span->end_ns > 0)
            chunks =
                th_json_append(chunks, json_pack("[i, i, i, o, o]", (int)span->worker, (int)span->begin, (int)span->end,
                                                 th_json_real(((double)span->start_ns - start_ns) / 1e3),
                                                 th_json_real(((double)span->end_ns - start_ns) / 1e3)));
    return chunks;
}

/* ---- results ---- */

static th_result summarize(th_experiment *s, th_error *err)
{
    th_scale *out = s->out;
    const th_row *loop = &out->report.rows[th_scale_loop_row(out)]; /* if there is one */
    const double loop_ns = out->has_loop ? th_samples_stats(&loop->real_ns).median : (double)NAN;
    for (uint32_t c = 0; c < out->curve_count; c++) {
        const th_scale_curve *curve = &out->curves[c];
        const th_scale_counts first =
            th_scaling_config_counts(&s->configs[curve->first], &out->report.rows[curve->first]);
        for (uint32_t i = curve->first; i < curve->first + curve->count; i++) {
            const th_scale_counts counts = th_scaling_config_counts(&s->configs[i], &out->report.rows[i]);
            const uint32_t crowd = th_experiment_crowd(s, c, i - curve->first);
            th_scale_point *point = &out->points[i];
            if (out->report.rows[i].failure[0])
                continue;
            *point = th_scale_point_of(&counts, &first, th_experiment_has_loop(s, c) ? loop_ns : (double)NAN,
                                       s->usable_cpus);
            point->pop = th_pop_of(&counts, &first);
            point->counters = s->configs[i].counters;
            point->palette_sum = s->configs[i].palette_sum;
            point->shared = s->counts[crowd].shared;
            point->share_error = s->shared ? s->shared[crowd].error : 0;
        }
    }
    for (uint32_t p = 0; p < out->part_count; p++)
        for (int a = 0; a < TH_ABLATION_COUNT; a++) {
            const th_row *row = &out->report.rows[th_scale_part_row(out, p, (th_ablation)a)];
            const th_scaling_config *config = &s->configs[th_scale_part_row(out, p, (th_ablation)a)];
            const th_scale_counts counts = th_scaling_config_counts(config, row);
            out->parts[p].threads = row->threads;
            out->parts[p].frame_ns[a] = th_samples_stats(counts.frame_ns).median;
            out->parts[p].work_ns[a] = th_scale_work_ns(&counts);
        }
    for (uint32_t i = 0; i < out->memory_count; i++) {
        for (uint32_t k = 0; k < TH_BANDWIDTH_COUNT; k++)
            out->memory[i].bytes_per_s[k] = (double)NAN;
        for (uint32_t k = 0; k < th_bandwidth_kind_count(); k++) {
            const uint32_t row = th_scale_memory_row(out, i, (th_bandwidth_kind)k);
            out->memory[i].bytes_per_s[k] = th_scale_bytes_per_s(out->memory_bytes, &out->report.rows[row].real_ns);
        }
    }
    th_result result = th_scale_fit(out, err);
    if (result == TH_OK)
        result = th_scale_resample(s, err);
    if (result != TH_OK)
        return result;
    th_scale_describe_rows(out);

    /* Workers and trace of the first curve. */
    for (uint32_t i = 0; i < out->curves[0].count; i++) {
        th_row *row = &out->report.rows[i];
        th_scaling_config *config = &s->configs[i];
        const th_scale_counts counts = th_scaling_config_counts(config, row);
        if (row->failure[0])
            continue;
        json_t *workers = th_workers_json(config->sums, row->threads, th_scale_frames(&counts));
        row->once = json_pack("{s:o, s:o}", "workers", workers, "trace", record_frame(s, config));
        if (config->counters_json)
            row->once = th_json_set(row->once, "counters_by_worker", json_incref(config->counters_json));
    }
    return TH_OK;
}

/* ---- the experiment ---- */

static th_result run_experiment(th_experiment *s, th_error *err)
{
    th_scale *out = s->out;
    const uint32_t configs = s->config_count;
    const uint32_t rows = configs + out->memory_count * th_bandwidth_kind_count();
    th_measure_desc measure = s->desc.measure;
    measure.repetition_ns = measure.repetition_ns ? measure.repetition_ns : REPETITION_NS;
    th_result result = th_measure_report_init(&measure, rows, &out->report, err);
    if (result != TH_OK)
        return result;

    /* What is measured: for the scene of the report, and as names of rows. */
    const th_scale_curve *curve = &out->curves[0];
    const bool serial = s->desc.scheduler_count == 1 && curve->scheduler == TH_SCHEDULER_SERIAL;
    th_scene_desc scene = s->desc.scene;
    scene.instance_count = curve->characters;
    out->isa = th_crowd_isa(s->crowds[0]);
    out->palette = s->desc.palette;
    out->placement = serial ? TH_PLACEMENT_NONE : s->desc.placement;
    out->share_hz = s->desc.share_hz;
    out->is_weak = s->desc.is_weak;
    const th_crowd *last = s->crowds[s->part_crowds[out->part_count - 1]];
    out->palette_bytes = th_crowd_entry_count(last) * th_palette_entry_bytes(out->palette);
    json_t *how = json_pack("{s:s, s:s, s:s, s:s, s:i, s:s}", "isa", th_isa_name(out->isa), "palette",
                            th_format_name(out->palette), "scheduler", th_scheduler_name(curve->scheduler), "placement",
                            th_placement_name(out->placement), "grain", (int)curve->grain, "stages", "fused");
    if (out->share_hz > 0)
        how = th_json_set(how, "share_hz", th_json_real(out->share_hz));
    out->report.scene = th_json_merge(th_scene_json(s->scenes[0], &scene), how);

    const char *const weak = s->desc.is_weak ? "weak/" : "";
    for (uint32_t c = 0; c < out->curve_count; c++) {
        curve = &out->curves[c];
        for (uint32_t p = curve->first; p < curve->first + curve->count; p++) {
            /* "scale/threads:2"; other varied parameters come before the threads. */
            th_row *row = &out->report.rows[p];
            const size_t size = sizeof row->name;
            set_crowd(s, th_experiment_crowd(s, c, p - curve->first), out->points[p].threads, row);
            row->name[0] = '\0';
            th_append(row->name, size, "scale/%s", weak);
            if (s->desc.scheduler_count > 1)
                th_append(row->name, size, "%s/", th_scheduler_name(curve->scheduler));
            if (s->desc.count_count > 1)
                th_append(row->name, size, "count:%u/", curve->characters);
            if (s->desc.grain_count > 1)
                th_append(row->name, size, "grain:%u/", curve->grain);
            th_append(row->name, size, "threads:%u", row->threads);
        }
    }
    for (uint32_t part = 0; part < out->part_count; part++)
        for (int a = 0; a < TH_ABLATION_COUNT; a++) {
            th_row *row = &out->report.rows[th_scale_part_row(out, part, (th_ablation)a)];
            set_crowd(s, s->part_crowds[part], out->points[th_scale_part_point(out, part)].threads, row);
            snprintf(row->name, sizeof row->name, "scale/%s%s/threads:%u", weak, th_ablation_name((th_ablation)a),
                     row->threads);
        }
    if (out->has_loop) {
        th_row *row = &out->report.rows[th_scale_loop_row(out)];
        set_crowd(s, 0, 1, row);
        snprintf(row->name, sizeof row->name, "scale/%sloop/threads:1", weak);
    }
    for (uint32_t i = 0; i < out->memory_count; i++)
        for (uint32_t k = 0; k < th_bandwidth_kind_count(); k++) {
            th_row *row = &out->report.rows[th_scale_memory_row(out, i, (th_bandwidth_kind)k)];
            row->time_unit = "us";
            row->threads = out->memory[i].threads;
            snprintf(row->name, sizeof row->name, "scale/memory_%s/threads:%u",
                     th_bandwidth_kind_name((th_bandwidth_kind)k), row->threads);
        }

    th_tracer_next(s->desc.tracer, "check");
    result = check_points(s, err);
    th_tracer_next(s->desc.tracer, "measure");
    const th_interference_mark begin = th_interference_begin();
    th_subject *subjects = calloc(configs, sizeof *subjects);
    if (result == TH_OK && !subjects)
        result = th_fail(err, TH_ERR_MEMORY, "no memory for %u points", configs);
    if (result == TH_OK) {
        for (uint32_t i = 0; i < configs; i++) {
            s->configs[i].row = &out->report.rows[i];
            subjects[i] = (th_subject){.before = begin_repetition,
                                       .run = run_frame,
                                       .after = end_repetition,
                                       .check = s->configs[i].frame ? check_left : NULL,
                                       .ctx = &s->configs[i],
                                       .row = s->configs[i].row};
        }
        out->report.is_partial = !th_measure(&measure, subjects, configs);
        for (uint32_t i = 0; i < out->point_count; i++)
            th_validate_floor(s->configs[i].crowd, s->palette, &out->report.rows[i]);
    }
    free(subjects);
    out->report.interference = th_interference_end(&begin);
    if (result == TH_OK && !out->report.is_partial)
        result = time_memory(s, err);

    /* Additional frames of each point, which are counted. */
    const bool counts = result == TH_OK && !out->report.is_partial && !out->report.is_dry_run && s->worker_counts;
    for (uint32_t i = 0; counts && i < out->point_count && result == TH_OK; i++) {
        th_scaling_config *c = &s->configs[i];
        const th_counted_frames frames = {s->worker_counts, c->frame, run_frame, c};
        if (out->report.rows[i].failure[0])
            continue;
        begin_frames(c);
        th_counted_frames_run(&frames, &c->counters, &c->counters_json);
        th_jobs_frame_end(c->jobs);
        if (!c->counters_json)
            result = th_fail(err, TH_ERR_MEMORY, "no memory for the counters of %s", out->report.rows[i].name);
    }
    if (counts && result == TH_OK)
        th_counted_frames_end(s->worker_counts, &out->report);
    out->has_counters = counts;
    if (measure.stop && *measure.stop)
        th_report_interrupt(&out->report);
    if (result == TH_OK && !out->report.is_dry_run)
        result = summarize(s, err);
    th_tracer_next(s->desc.tracer, "trace");
    for (uint32_t i = 0; s->desc.tracer && result == TH_OK && i < configs; i++) {
        th_scaling_config *c = &s->configs[i];
        if (out->report.rows[i].failure[0])
            continue;
        begin_frames(c);
        run_frame(c, 0);
        th_trace_frames(s->desc.tracer, &out->report.rows[i], c->jobs, run_frame, c);
        th_jobs_frame_end(c->jobs);
    }
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
