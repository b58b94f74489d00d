#include "jobs_figures.h"

#include <assert.h>

th_jobs_figures th_jobs_figures_of(const th_jobs_times *t)
{
    assert(t->threads > 0 && t->usable_cpus > 0);
    const double cpus = t->threads < t->usable_cpus ? t->threads : t->usable_cpus;
    return (th_jobs_figures){
        .speed_up = t->baseline_ns / t->ns,
        .efficiency = t->baseline_ns / (cpus * t->ns),
        .efficiency_at_p90 = t->baseline_ns / (cpus * t->p90_ns),
        .overhead_ns = t->ns - t->baseline_ns / cpus,
        .chunk_ns = (t->ns - t->baseline_ns) / t->chunks,
        .idle_cores = (double)t->idle_cpu_ns / (double)t->idle_ns,
    };
}
