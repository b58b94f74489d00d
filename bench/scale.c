#include <throng/scale.h>

#include "scale_workers.h"

#include <throng/json.h>
#include <throng/table.h>
#include <throng/trial.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITION_NS = 20000000 };

uint32_t th_scale_threads(uint32_t usable, uint32_t out[TH_JOBS_MAX_THREADS])
{
    uint32_t count = 0;
    usable = usable < TH_JOBS_MAX_THREADS ? usable : TH_JOBS_MAX_THREADS;
    for (uint32_t t = 1; t < usable; t = usable <= 8 ? t + 1 : 2 * t)
        out[count++] = t;
    out[count++] = usable;
    return count;
}

/* ---- one thread count ---- */

typedef struct lane {
    th_jobs *jobs;
    th_frame *frame;
    void *palette; /* the same for all */
    th_worker_stats sums[TH_JOBS_MAX_THREADS];
    th_stage_times before, stages; /* when the repetition began; of all repetitions */
} lane;

static void run_frame(void *ctx, uint64_t frame)
{
    lane *l = ctx;
    th_frame_animate(l->frame, (double)frame / TH_FRAME_RATE, l->palette);
}

/* Repetitions lie between these two, as a program that draws does its frames. */
static void begin_frames(void *ctx)
{
    lane *l = ctx;
    th_jobs_frame_begin(l->jobs);
    run_frame(l, 0);
    l->before = th_frame_stage_times(l->frame);
    th_jobs_stats_reset(l->jobs);
}

static void end_frames(void *ctx)
{
    lane *l = ctx;
    const th_stage_times now = th_frame_stage_times(l->frame);
    l->stages.sample_ns += now.sample_ns - l->before.sample_ns;
    l->stages.resolve_ns += now.resolve_ns - l->before.resolve_ns;
    th_workers_add(l->jobs, l->sums);
    th_jobs_frame_end(l->jobs);
}

static void lane_fini(lane *l)
{
    th_frame_destroy(l->frame);
    th_jobs_destroy(l->jobs);
}

static th_result lane_init(lane *l, const th_scale_desc *desc, uint32_t threads, const th_crowd *crowd, void *palette,
                           th_error *err)
{
    th_jobs_desc jobs = {.threads = threads, .scheduler = desc->scheduler, .placement = desc->placement};
    l->palette = palette;
    th_result result = th_threads_create(&jobs, &l->jobs, err);
    if (result == TH_OK)
        result = th_frame_create(&(th_frame_desc){crowd, l->jobs, desc->grain, desc->stages}, &l->frame, err);
    return result;
}

static double frames_of(const th_row *row)
{
    return (double)row->iterations * row->real_ns.count;
}

static th_scale_point summarize(const lane *l, const th_row *row, const th_row *base)
{
    uint32_t threads = th_jobs_threads(l->jobs);
    th_stats real = th_samples_stats(&row->real_ns);
    th_worker_stats total = th_workers_total(l->sums, threads);
    double all = (double)(total.busy_ns + total.idle_ns);
    th_scale_point point = {
        .frame_ns = real.median,
        .spread = th_stats_spread(&real),
        .busy = (double)total.busy_ns / all,
        .tail = (double)total.tail_ns / all,
        .work_ns = (double)total.busy_ns / frames_of(row),
    };
    point.speed_up = th_samples_stats(&base->real_ns).median / point.frame_ns;
    point.efficiency = point.speed_up * base->threads / threads;
    return point;
}

/* ---- the study ---- */

typedef struct study {
    const th_scale_desc *desc;
    th_scene *scene;
    th_crowd *crowd;
    void *palette;
    lane *lanes;
    uint32_t count;
    th_recording recording;
} study;

static void study_fini(study *s)
{
    for (uint32_t i = 0; s->lanes && i < s->count; i++)
        lane_fini(&s->lanes[i]);
    free(s->lanes);
    th_recording_fini(&s->recording);
    free(s->palette);
    th_crowd_destroy(s->crowd);
    th_scene_destroy(s->scene);
}

static uint32_t grain_of(const th_scale_desc *desc)
{
    return desc->grain ? desc->grain : TH_FRAME_DEFAULT_GRAIN;
}

static th_result study_init(study *s, const th_scale_desc *desc, const uint32_t *threads, uint32_t count, th_error *err)
{
    *s = (study){.desc = desc, .lanes = calloc(count, sizeof *s->lanes), .count = count};
    if (!s->lanes)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u thread counts", count);
    th_result result = th_scene_create(&desc->scene, &s->scene, err);
    if (result == TH_OK)
        result = th_scene_crowd(s->scene, desc->isa, desc->palette, &s->crowd, err);
    if (result == TH_OK)
        result = th_palette_create(s->crowd, &s->palette, err);
    const uint32_t grain = grain_of(desc), calls = desc->stages == TH_STAGES_SEPARATE ? 2 : 1;
    if (result == TH_OK && !th_recording_init(&s->recording, th_crowd_batch_count(s->crowd), grain, calls))
        result = th_fail(err, TH_ERR_MEMORY, "no memory for the trace of a frame");
    for (uint32_t i = 0; i < count && result == TH_OK; i++)
        result = lane_init(&s->lanes[i], desc, threads[i], s->crowd, s->palette, err);
    return result;
}

static th_result check_row(study *s, lane *l, const th_row *first, th_row *row, th_error *err)
{
    const th_trial trial = {.scene = s->scene, .crowd = s->crowd, .palette = s->palette, .run = run_frame, .ctx = l};
    th_result result = th_trial_run(&trial, row, err);
    if (!row->failure[0] && row->palette_hash != first->palette_hash)
        snprintf(row->failure, sizeof row->failure, "palettes differ from those of %u thread%s", first->threads,
                 th_plural(first->threads));
    return result;
}

static th_result check_rows(study *s, th_row *rows, th_error *err)
{
    th_result result = TH_OK;
    /* A page of memory ends up near the thread that touches it first, and the check does so on this one. */
    run_frame(&s->lanes[s->count - 1], 0);
    for (uint32_t i = 0; i < s->count && result == TH_OK; i++) {
        rows[i].threads = th_jobs_threads(s->lanes[i].jobs);
        rows[i].time_unit = "us";
        rows[i].characters = s->scene->instance_count;
        rows[i].joints = th_crowd_joint_count(s->crowd);
        snprintf(rows[i].name, sizeof rows[i].name, "scale/threads:%u", rows[i].threads);
        result = check_row(s, &s->lanes[i], &rows[0], &rows[i], err);
    }
    return result;
}

static void time_rows(study *s, th_row *rows)
{
    th_subject subjects[TH_JOBS_MAX_THREADS];
    th_measure_desc measure = s->desc->measure;
    measure.repetition_ns = measure.repetition_ns ? measure.repetition_ns : REPETITION_NS;
    for (uint32_t i = 0; i < s->count; i++)
        subjects[i] = (th_subject){
            .before = begin_frames, .run = run_frame, .after = end_frames, .ctx = &s->lanes[i], .row = &rows[i]};
    th_measure(&measure, subjects, s->count);
}

static json_t *point_json(const th_scale_point *p, const th_row *row)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "characters_per_s",
                     th_json_real((double)row->characters / p->frame_ns * 1e9), "speed_up", th_json_real(p->speed_up),
                     "efficiency", th_json_real(p->efficiency), "busy", th_json_real(p->busy), "tail",
                     th_json_real(p->tail), "work_us_per_frame", th_json_real(p->work_ns / 1000));
}

/* Nothing for fused ones. */
static json_t *stages_json(const lane *l, const th_row *row)
{
    const double us = 1e3 * frames_of(row);
    if (l->stages.sample_ns == 0)
        return json_object();
    return json_pack("{s:o, s:o}", "sample_us_per_frame", th_json_real((double)l->stages.sample_ns / us),
                     "resolve_us_per_frame", th_json_real((double)l->stages.resolve_ns / us));
}

/* One more frame, which nobody times. */
static json_t *trace_frame(const study *s, lane *l)
{
    th_recording recording = s->recording;
    th_jobs_frame_begin(l->jobs);
    run_frame(l, 0);
    th_recording_begin(&recording, l->jobs);
    run_frame(l, 1);
    th_recording_end(&recording, l->jobs);
    th_jobs_frame_end(l->jobs);
    return th_recording_json(&recording);
}

static json_t *once_json(const study *s, lane *l, const th_row *row)
{
    return json_pack("{s:o, s:o}", "workers", th_workers_json(l->sums, row->threads, frames_of(row)), "trace",
                     trace_frame(s, l));
}

static void summarize_rows(const study *s, th_scale *out)
{
    th_row *rows = out->report.rows;
    for (uint32_t i = 0; i < s->count; i++) {
        if (rows[i].failure[0])
            continue;
        out->points[i] = summarize(&s->lanes[i], &rows[i], &rows[0]);
        rows[i].own = th_json_merge(point_json(&out->points[i], &rows[i]), stages_json(&s->lanes[i], &rows[i]));
        rows[i].once = once_json(s, &s->lanes[i], &rows[i]);
    }
}

static json_t *study_json(const study *s, const th_scale *scale)
{
    json_t *how = json_pack("{s:s, s:s, s:s, s:s, s:i, s:s}", "isa", th_isa_name(scale->isa), "palette",
                            th_palette_name(scale->palette), "scheduler", th_scheduler_name(scale->scheduler),
                            "placement", th_placement_name(scale->placement), "grain", (int)scale->grain, "stages",
                            th_stages_name(scale->stages));
    return th_json_merge(th_scene_json(s->scene, &s->desc->scene), how);
}

static th_result run_study(study *s, th_scale *out, th_error *err)
{
    out->isa = th_crowd_isa(s->crowd);
    out->palette = s->desc->palette;
    out->scheduler = s->desc->scheduler;
    out->placement = out->scheduler == TH_SCHEDULER_SERIAL ? TH_PLACEMENT_NONE : s->desc->placement;
    out->grain = grain_of(s->desc);
    out->stages = s->desc->stages;
    out->points = calloc(s->count, sizeof *out->points);
    if (!out->points)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u thread counts", s->count);
    th_result result = th_measure_report(&s->desc->measure, s->count, &out->report, err);
    if (result == TH_OK)
        result = check_rows(s, out->report.rows, err);
    if (result == TH_OK) {
        const th_noise_mark begin = th_noise_begin();
        time_rows(s, out->report.rows);
        out->report.noise = th_noise_end(&begin);
        if (!out->report.is_rehearsal)
            summarize_rows(s, out);
        out->report.scene = study_json(s, out);
    }
    return result;
}

th_result th_scale_run(const th_scale_desc *desc, th_scale *out, th_error *err)
{
    uint32_t threads[TH_JOBS_MAX_THREADS], count = desc->thread_count;
    if (desc->threads)
        memcpy(threads, desc->threads, count * sizeof *threads);
    else
        count = th_scale_threads(th_cpus_read().usable, threads);
    if (desc->scheduler == TH_SCHEDULER_SERIAL) /* has one thread, whatever is asked */
        count = 1;

    study s;
    *out = (th_scale){0};
    th_result result = study_init(&s, desc, threads, count, err);
    if (result == TH_OK)
        result = run_study(&s, out, err);
    study_fini(&s);
    if (result != TH_OK)
        th_scale_fini(out);
    return result;
}

void th_scale_fini(th_scale *scale)
{
    th_report_fini(&scale->report);
    free(scale->points);
    *scale = (th_scale){0};
}

/* ---- text ---- */

static void add_point(th_table *table, const th_row *row, const th_scale_point *p)
{
    th_table_cell(table, "%u", row->threads);
    th_table_cell(table, "%.3f", p->frame_ns / 1e6);
    th_table_cell(table, "%s", th_digits_from((uint64_t)((double)row->characters / p->frame_ns * 1e9)).text);
    th_table_cell(table, "%.2f", p->speed_up);
    th_table_cell(table, "%.0f %%", 100 * p->efficiency);
    th_table_cell(table, "%.0f %%", 100 * p->busy);
    th_table_cell(table, "%.1f %%", 100 * p->tail);
    th_table_cell(table, "%.1f %%", 100 * p->spread);
    const double precision = th_median_precision(&row->real_ns);
    th_table_cell(table, isfinite(precision) ? "%.1f %%" : "-", 100 * precision);
    th_table_cell(table, "%016llx", (unsigned long long)row->palette_hash);
}

static bool print_points(const th_scale *scale, th_format format, FILE *file)
{
    const th_report *report = &scale->report;
    char verdict[512];
    th_table *table = th_table_create(
        ">threads|>ms/frame|>characters/s|>speed-up|>efficiency|>busy|>tail|>spread|>known to|<palette hash");
    for (uint32_t r = 0; r < report->row_count; r++)
        if (!report->rows[r].failure[0])
            add_point(table, &report->rows[r], &scale->points[r]);
    fputc('\n', file);
    const bool printed = th_table_write(table, format, file);
    th_table_destroy(table);
    fputc('\n', file);
    th_write_line(file, format, "%s", th_scale_verdict(scale, verdict, sizeof verdict));
    fputs(format == TH_FORMAT_TEXT ? "\n" : "", file);
    th_write_line(
        file, format,
        "Medians of %u repetition%s in random order. Spread: half of them lie within it. Known to: with %.0f %% "
        "confidence the median is that close.",
        report->rows[0].real_ns.count, th_plural(report->rows[0].real_ns.count), 100 * TH_CONFIDENCE);
    return printed;
}

bool th_scale_print(const th_scale *scale, th_format format, FILE *file)
{
    const th_report *report = &scale->report;
    th_report_print_conditions(report, format, file);
    th_write_line(file, format, "%s kernel, %s palettes, %s scheduler, placement %s, chunks of %u x 16 characters%s",
                  th_isa_name(scale->isa), th_palette_name(scale->palette), th_scheduler_name(scale->scheduler),
                  th_placement_name(scale->placement), scale->grain,
                  scale->stages == TH_STAGES_SEPARATE ? ", separate stages" : "");
    const bool printed =
        report->is_rehearsal ? th_report_print_rehearsal(report, format, file) : print_points(scale, format, file);
    th_report_print_doubts(report, format, file);
    return printed;
}
