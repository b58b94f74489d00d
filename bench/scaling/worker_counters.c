#include "worker_counters.h"

#include <core/clock.h>
#include <core/json.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- counters ---- */

void th_worker_add(th_worker_stats *sum, const th_worker_stats *more)
{
    sum->busy_ns += more->busy_ns;
    sum->idle_ns += more->idle_ns;
    sum->idle_at_end_ns += more->idle_at_end_ns;
    sum->chunks += more->chunks;
    sum->items += more->items;
    sum->steals += more->steals;
    sum->misses += more->misses;
    sum->parks += more->parks;
    sum->wakes += more->wakes;
    sum->wake_ns += more->wake_ns;
}

void th_workers_add(const th_jobs *jobs, th_worker_stats *sums)
{
    th_worker_stats stats[TH_JOBS_MAX_THREADS];
    th_jobs_stats(jobs, stats);
    for (uint32_t w = 0; w < th_jobs_threads(jobs); w++)
        th_worker_add(&sums[w], &stats[w]);
}

uint32_t th_workers_busiest(const th_worker_stats *sums, uint32_t count)
{
    uint32_t busiest = 0;
    for (uint32_t w = 1; w < count; w++)
        if (sums[w].busy_ns > sums[busiest].busy_ns)
            busiest = w;
    return busiest;
}

th_worker_stats th_workers_total(const th_worker_stats *sums, uint32_t count)
{
    th_worker_stats total = {0};
    for (uint32_t w = 0; w < count; w++)
        th_worker_add(&total, &sums[w]);
    return total;
}

static json_t *worker_json(const th_worker_stats *s, double frames)
{
    const double wake_ns = s->wakes ? (double)s->wake_ns / (double)s->wakes : (double)NAN;
    const struct {
        const char *name;
        double value;
    } fields[] = {
        {"busy_us", (double)s->busy_ns / 1e3 / frames},
        {"idle_us", (double)s->idle_ns / 1e3 / frames},
        {"idle_at_end_us", (double)s->idle_at_end_ns / 1e3 / frames},
        {"chunks", (double)s->chunks / frames},
        {"items", (double)s->items / frames},
        {"steals", (double)s->steals / frames},
        {"misses", (double)s->misses / frames},
        {"parks", (double)s->parks / frames},
        {"wakes", (double)s->wakes / frames},
        {"wake_us", wake_ns / 1e3},
    };
    json_t *json = json_object();
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json = th_json_set(json, fields[i].name, th_json_real(fields[i].value));
    return json;
}

json_t *th_workers_json(const th_worker_stats *sums, uint32_t count, double frames)
{
    assert(frames > 0);
    json_t *array = json_array();
    for (uint32_t w = 0; w < count; w++)
        array = th_json_append(array, worker_json(&sums[w], frames));
    return array;
}

/* ---- one frame ---- */

bool th_recording_init(th_recording *r, uint32_t count, uint32_t grain)
{
    assert(grain > 0);
    const uint32_t chunks = count / grain + (count % grain > 0);
    *r = (th_recording){.spans = calloc(chunks + 1, sizeof *r->spans), .chunks = chunks, .grain = grain};
    return r->spans != NULL;
}

void th_recording_fini(th_recording *r)
{
    free(r->spans);
    *r = (th_recording){0};
}

static void record(const th_span *span, void *ctx)
{
    const th_recording *r = ctx;
    const uint32_t at = span->begin / r->grain;
    assert(at < r->chunks && r->spans[at].end_ns == 0);
    if (at < r->chunks)
        r->spans[at] = *span;
}

void th_recording_begin(th_recording *r, th_jobs *jobs)
{
    memset(r->spans, 0, r->chunks * sizeof *r->spans);
    th_jobs_trace(jobs, record, r);
    r->start_ns = th_clock_ns();
}

void th_recording_end(th_recording *r, th_jobs *jobs)
{
    (void)r;
    th_jobs_trace(jobs, NULL, NULL);
}

static double since_us(const th_recording *r, uint64_t ns)
{
    return ((double)ns - (double)r->start_ns) / 1e3;
}

json_t *th_recording_json(const th_recording *r)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < r->chunks; i++) {
        const th_span *s = &r->spans[i];
        if (s->end_ns > 0)
            array = th_json_append(array, json_pack("[i, i, i, o, o]", (int)s->worker, (int)s->begin, (int)s->end,
                                                    th_json_real(since_us(r, s->start_ns)),
                                                    th_json_real(since_us(r, s->end_ns))));
    }
    return array;
}
