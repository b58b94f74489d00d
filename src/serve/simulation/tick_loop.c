#include "tick_loop.h"

#include <core/cache_line.h>
#include <core/clock.h>

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define SECOND_NS 1000000000u
#define POLL_NS   50000000u /* the longest sleep before checking for requests */

_Static_assert(sizeof(th_tick_loop_workers) <= 8 * TH_SEQLOCK_WORDS, "workers fit a seqlock");

/* ---- the last hour ---- */

th_second th_second_of(const th_second_counts *c)
{
    assert(c->begin_ns < c->end_ns);
    const th_histogram *ticks = &c->ticks;
    const double span_s = (double)(c->end_ns - c->begin_ns) * 1e-9;
    return (th_second){
        .end_s = (double)c->end_ns * 1e-9,
        .span_s = span_s,
        .ticks = ticks->total,
        .missed = c->missed,
        .characters = c->characters,
        .mean_s = ticks->total ? (double)ticks->sum_ns / (double)ticks->total * 1e-9 : 0,
        .p50_s = th_histogram_quantile(ticks, 0.5) * 1e-9,
        .p90_s = th_histogram_quantile(ticks, 0.9) * 1e-9,
        .p99_s = th_histogram_quantile(ticks, 0.99) * 1e-9,
        .max_s = (double)ticks->max_ns * 1e-9,
        .max_start_delay_s = (double)c->max_start_delay_ns * 1e-9,
        .busy = fmin(1, c->busy_s / span_s / (double)c->workers), /* workers may have become fewer meanwhile */
        .paused = c->paused,
    };
}

void th_time_series_add(th_time_series *t, const th_second *second)
{
    const uint64_t count = atomic_load_explicit(&t->count, memory_order_relaxed);
    uint64_t words[TH_SECOND_WORDS];
    memcpy(words, second, sizeof words);
    for (uint32_t w = 0; w < TH_SECOND_WORDS; w++)
        atomic_store_explicit(&t->words[count % TH_TIME_SERIES_SECONDS][w], words[w], memory_order_release);
    atomic_store_explicit(&t->count, count + 1, memory_order_release);
}

uint32_t th_time_series_read(th_time_series *t, th_second *out, uint32_t most)
{
    const uint64_t count = atomic_load_explicit(&t->count, memory_order_acquire);
    /* One slot is skipped, because the writer may be writing it. */
    const uint64_t there = count < TH_TIME_SERIES_SECONDS ? count : TH_TIME_SERIES_SECONDS - 1;
    const uint64_t first = count - (most < there ? most : there);
    for (uint64_t s = first; s < count; s++) {
        uint64_t words[TH_SECOND_WORDS];
        for (uint32_t w = 0; w < TH_SECOND_WORDS; w++)
            words[w] = atomic_load_explicit(&t->words[s % TH_TIME_SERIES_SECONDS][w], memory_order_acquire);
        memcpy(&out[s - first], words, sizeof words);
    }
    /* During the read, the oldest slots may have been overwritten. */
    const uint64_t now = atomic_load_explicit(&t->count, memory_order_relaxed);
    const uint64_t oldest = now < TH_TIME_SERIES_SECONDS ? 0 : now - TH_TIME_SERIES_SECONDS + 1;
    const uint64_t gone = oldest <= first ? 0 : oldest < count ? oldest - first : count - first;
    memmove(out, out + gone, (size_t)(count - first - gone) * sizeof *out);
    return (uint32_t)(count - first - gone);
}

/* ---- a second ---- */

static void write_workers(th_tick_loop *loop)
{
    th_worker_stats stats[TH_JOBS_MAX_THREADS];
    loop->workers.count = th_jobs_threads(loop->simulation->jobs);
    th_jobs_stats(loop->simulation->jobs, stats);
    for (uint64_t w = 0; w < loop->workers.count; w++)
        loop->workers.busy_s[w] = loop->busy_before_s[w] + (double)stats[w].busy_ns * 1e-9;
    th_seqlock_write(&loop->workers_seqlock, &loop->workers, sizeof loop->workers);
}

static double sum_of_busy(const th_tick_loop *loop)
{
    double sum = 0;
    for (uint32_t w = 0; w < TH_JOBS_MAX_THREADS; w++)
        sum += loop->workers.busy_s[w];
    return sum;
}

static void begin_second(th_tick_loop *loop)
{
    loop->second = (th_second_counts){.begin_ns = loop->state.now_ns};
    loop->second_busy_before_s = sum_of_busy(loop);
}

static void publish(th_tick_loop *loop, uint64_t now_ns)
{
    th_second_counts *second = &loop->second;
    loop->state.now_ns = now_ns - loop->start_ns;
    th_seqlock_write(&loop->state_seqlock, &loop->state, sizeof loop->state);
    if (loop->state.now_ns - second->begin_ns < SECOND_NS)
        return;
    write_workers(loop);
    second->end_ns = loop->state.now_ns;
    second->busy_s = sum_of_busy(loop) - loop->second_busy_before_s;
    second->workers = loop->workers.count;
    second->paused = loop->state.paused;
    const th_second done = th_second_of(second);
    th_time_series_add(&loop->time_series, &done);
    begin_second(loop);
}

/* ---- ticks ---- */

uint64_t th_ticks_missed(uint64_t due_ns, uint64_t period_ns, uint64_t now_ns)
{
    assert(period_ns > 0);
    return now_ns > due_ns ? (now_ns - due_ns + period_ns - 1) / period_ns : 0;
}

/* Sleeps until a tick is due, but not longer than POLL_NS. Returns whether one is due. */
static bool wait_for_tick(th_tick_loop *loop, uint64_t period_ns)
{
    const uint64_t now_ns = th_clock_ns();
    const bool paused = atomic_load_explicit(&loop->paused, memory_order_relaxed);
    if (paused || loop->state.paused || period_ns != loop->period_used_ns) {
        /* After a pause or a change of rate the first tick is due at once. */
        loop->due_ns = now_ns;
        loop->last_due_ns = paused || loop->state.paused ? 0 : loop->last_due_ns;
        loop->period_used_ns = period_ns;
    }
    loop->state.paused = paused;
    if (!paused && (period_ns == 0 || now_ns >= loop->due_ns))
        return true;
    const bool in_time = !paused && loop->due_ns <= now_ns + POLL_NS;
    const uint64_t until_ns = in_time ? loop->due_ns : now_ns + POLL_NS;
    const struct timespec until = {(time_t)(until_ns / SECOND_NS), (long)(until_ns % SECOND_NS)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
    if (!in_time)
        publish(loop, th_clock_ns());
    return in_time;
}

static void *tick_until_stopped(void *arg)
{
    th_tick_loop *loop = arg;
    prctl(PR_SET_TIMERSLACK, 1); /* otherwise sleeps end up to 50 us late */
    while (!atomic_load_explicit(&loop->stopped, memory_order_relaxed)) {
        th_simulation *next = atomic_exchange_explicit(&loop->next, NULL, memory_order_acquire);
        if (next) {
            write_workers(loop);
            memcpy(loop->busy_before_s, loop->workers.busy_s, sizeof loop->busy_before_s);
            loop->replaced = loop->simulation;
            pthread_mutex_lock(&loop->blend_lock);
            loop->simulation = next;
            atomic_store_explicit(&loop->has_blend, false, memory_order_relaxed); /* it was for the one before */
            pthread_mutex_unlock(&loop->blend_lock);
            write_workers(loop);
            sem_post(&loop->swapped);
        }
        const uint64_t period_ns = atomic_load_explicit(&loop->period_ns, memory_order_relaxed);
        if (!wait_for_tick(loop, period_ns))
            continue;

        const uint64_t begin_ns = th_clock_ns(), due_ns = period_ns ? loop->due_ns : begin_ns;
        const th_simulation *simulation = loop->simulation;
        if (loop->last_due_ns)
            loop->state.crowd_s += (double)(due_ns - loop->last_due_ns) * 1e-9;
        loop->last_due_ns = due_ns;
        if (atomic_exchange_explicit(&loop->has_blend, false, memory_order_acquire)) {
            pthread_mutex_lock(&loop->blend_lock);
            const th_blend blend = th_settings_blend(&loop->blend);
            if (simulation->behaviour)
                th_behaviour_set_blend(simulation->behaviour, &blend, loop->state.crowd_s);
            pthread_mutex_unlock(&loop->blend_lock);
        }

        th_jobs_frame_begin(simulation->jobs);
        th_frame_run(simulation->frame, loop->state.crowd_s, simulation->palettes);
        th_jobs_frame_end(simulation->jobs);

        const uint64_t end_ns = th_clock_ns(), start_delay_ns = begin_ns - due_ns;
        th_histogram_add(&loop->durations, end_ns - begin_ns);
        th_histogram_add(&loop->start_delays, start_delay_ns);
        th_histogram_add(&loop->second.ticks, end_ns - begin_ns);
        if (start_delay_ns > loop->second.max_start_delay_ns)
            loop->second.max_start_delay_ns = start_delay_ns;
        loop->state.ticks++;
        loop->state.characters += simulation->settings.count;
        loop->second.characters += simulation->settings.count;
        loop->state.palette_bytes += th_crowd_palette_bytes(simulation->crowd);
        if (period_ns) {
            loop->due_ns += period_ns;
            const uint64_t missed = th_ticks_missed(loop->due_ns, period_ns, end_ns);
            loop->state.missed += missed;
            loop->second.missed += missed;
            loop->due_ns += missed * period_ns;
        }
        publish(loop, end_ns);
    }
    return NULL;
}

/* ---- the outside ---- */

th_result th_tick_loop_create(th_simulation *simulation, th_tick_loop **out, th_error *err)
{
    assert(simulation && out);
    *out = NULL;
    th_tick_loop *loop = th_cache_line_alloc(th_cache_line_round(sizeof *loop));
    if (!loop)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a tick loop");
    memset(loop, 0, sizeof *loop); /* touches the pages, so that the time series of an hour does not look like a leak
                                      while it fills */
    loop->simulation = simulation;
    loop->start_ns = loop->due_ns = th_clock_ns();
    sem_init(&loop->swapped, 0, 0);
    pthread_mutex_init(&loop->blend_lock, NULL);
    th_tick_loop_set_rate(loop, simulation->settings.rate_hz);
    atomic_store(&loop->paused, simulation->settings.paused);
    write_workers(loop);
    begin_second(loop);
    const int error = pthread_create(&loop->thread, NULL, tick_until_stopped, loop);
    if (error) {
        free(loop);
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start the ticking thread: %s", strerror(error));
    }
    pthread_setname_np(loop->thread, "throng-tick");
    *out = loop;
    return TH_OK;
}

th_simulation *th_tick_loop_destroy(th_tick_loop *loop)
{
    if (!loop)
        return NULL;
    atomic_store(&loop->stopped, true);
    pthread_join(loop->thread, NULL);
    th_simulation *simulation = loop->simulation;
    sem_destroy(&loop->swapped);
    pthread_mutex_destroy(&loop->blend_lock);
    free(loop);
    return simulation;
}

th_simulation *th_tick_loop_swap(th_tick_loop *loop, th_simulation *simulation)
{
    assert(simulation);
    atomic_store_explicit(&loop->next, simulation, memory_order_release);
    while (sem_wait(&loop->swapped) != 0 && errno == EINTR)
        ;
    return loop->replaced;
}

void th_tick_loop_set_blend(th_tick_loop *loop, const th_settings *settings)
{
    pthread_mutex_lock(&loop->blend_lock);
    loop->blend = *settings;
    pthread_mutex_unlock(&loop->blend_lock);
    atomic_store_explicit(&loop->has_blend, true, memory_order_release);
}

void th_tick_loop_save_blends(th_tick_loop *loop, th_blend_state out[TH_SETTINGS_MODELS])
{
    memset(out, 0, TH_SETTINGS_MODELS * sizeof *out);
    pthread_mutex_lock(&loop->blend_lock);
    for (uint32_t m = 0; loop->simulation->behaviour && m < loop->simulation->settings.model_count; m++)
        th_behaviour_save_blend(loop->simulation->behaviour, m, &out[m]);
    pthread_mutex_unlock(&loop->blend_lock);
}

void th_tick_loop_set_rate(th_tick_loop *loop, double rate_hz)
{
    assert(rate_hz >= 0);
    atomic_store(&loop->period_ns, rate_hz > 0 ? (uint64_t)llround(SECOND_NS / rate_hz) : 0);
}

th_tick_loop_state th_tick_loop_read(th_tick_loop *loop)
{
    th_tick_loop_state state;
    th_seqlock_read(&loop->state_seqlock, &state, sizeof state);
    return state;
}
