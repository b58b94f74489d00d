#include "scaling_config.h"

#include "measure/trace_frames.h"
#include "measure/wait_quiescent.h"
#include "worker_counters.h"

#include <math.h>
#include <stdlib.h>

/* ---- creating ---- */

static th_result count_workers(th_scaling_config *l, th_error *err)
{
    const uint32_t threads = th_jobs_threads(l->jobs);
    l->sums = calloc(threads, sizeof *l->sums);
    return l->sums ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for the counters of %u threads", threads);
}

th_result th_scaling_config_whole(th_scaling_config *l, const th_frame_desc *desc, th_error *err)
{
    const th_result result = count_workers(l, err);
    return result == TH_OK ? th_frame_create(desc, &l->frame, err) : result;
}

th_result th_scaling_config_part(th_scaling_config *l, const th_ablated_frame_desc *desc, th_error *err)
{
    const th_result result = count_workers(l, err);
    return result == TH_OK ? th_ablated_frame_create(desc, &l->ablated, err) : result;
}

void th_scaling_config_fini(th_scaling_config *l)
{
    th_frame_destroy(l->frame);
    th_ablated_frame_destroy(l->ablated);
    free(l->sums);
}

/* ---- running ---- */

void th_scaling_config_run(void *config, uint64_t frame)
{
    th_scaling_config *l = config;
    const double time_s = (double)frame / TH_FRAME_RATE;
    if (l->frame)
        th_frame_animate(l->frame, time_s, l->palette);
    else
        th_ablated_frame_run(l->ablated, time_s, l->palette);
}

static th_stage_times stages_of(const th_scaling_config *l)
{
    return l->frame ? th_frame_stage_times(l->frame) : (th_stage_times){0};
}

void th_scaling_config_begin(void *config)
{
    th_scaling_config *l = config;
    if (l->waits_quiescent)
        th_wait_quiescent();
    th_jobs_frame_begin(l->jobs);
    th_scaling_config_run(l, 0);
    l->before = stages_of(l);
    th_jobs_stats_reset(l->jobs);
}

void th_scaling_config_end(void *config)
{
    th_scaling_config *l = config;
    const th_stage_times now = stages_of(l);
    l->stages.sample_ns += now.sample_ns - l->before.sample_ns;
    l->stages.resolve_ns += now.resolve_ns - l->before.resolve_ns;
    th_workers_add(l->jobs, l->sums);
    th_jobs_frame_end(l->jobs);
}

void th_scaling_config_trace(th_scaling_config *l, const th_row *row, th_tracer *tracer)
{
    if (l->waits_quiescent)
        th_wait_quiescent();
    th_jobs_frame_begin(l->jobs);
    th_scaling_config_run(l, 0);
    if (l->frame)
        th_frame_trace(l->frame, tracer);
    th_trace_frames(tracer, row, l->jobs, th_scaling_config_run, l);
    if (l->frame)
        th_frame_trace(l->frame, NULL);
    th_jobs_frame_end(l->jobs);
}

/* ---- results ---- */

th_worker_stats th_scaling_config_total(const th_scaling_config *l)
{
    return th_workers_total(l->sums, th_jobs_threads(l->jobs));
}

double th_scaling_config_frames(const th_row *row)
{
    return (double)row->iterations * row->real_ns.count;
}

double th_scaling_config_work_ns(const th_scaling_config *l, const th_row *row)
{
    return (double)th_scaling_config_total(l).busy_ns / th_scaling_config_frames(row);
}

static double wall_ns(const th_row *row)
{
    double sum = 0;
    for (uint32_t r = 0; r < row->real_ns.count; r++)
        sum += row->real_ns.values[r] * row->iterations;
    return sum;
}

static double imbalance(const th_scaling_config *l)
{
    const uint32_t threads = th_jobs_threads(l->jobs);
    double most = 0, sum = 0;
    for (uint32_t w = 0; w < threads; w++) {
        const double busy = (double)l->sums[w].busy_ns;
        most = fmax(most, busy);
        sum += busy;
    }
    return sum > 0 ? most * threads / sum - 1 : 0;
}

th_scale_point th_scaling_config_point(const th_scaling_config *l, const th_row *row, const th_row *first,
                                       uint32_t usable_cpus)
{
    const uint32_t threads = row->threads;
    const double ratio = (double)threads / first->threads;
    const th_stats real = th_samples_stats(&row->real_ns);
    const th_worker_stats total = th_scaling_config_total(l);
    const double in_calls = (double)(total.busy_ns + total.idle_ns);
    th_scale_point point = {
        .threads = threads,
        .oversubscribed = threads > usable_cpus,
        .frame_ns = real.median,
        .relative_mad = th_stats_relative_mad(&real),
        .speed_up = th_samples_stats(&first->real_ns).median / real.median,
        .busy = (double)total.busy_ns / in_calls,
        .idle_at_end = (double)total.idle_at_end_ns / in_calls,
        .serial = fmax(0, 1 - in_calls / threads / wall_ns(row)),
        .imbalance = imbalance(l),
        .work_ns = th_scaling_config_work_ns(l, row),
    };
    point.efficiency = point.speed_up / ratio;
    point.karp_flatt = th_fit_karp_flatt(point.speed_up, ratio);
    return point;
}
