#include "tick_loop.h"

#include "seqlock.h"

#include <throng/core/cache_line.h>
#include <throng/core/clock.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define SECOND_NS 1000000000u
#define SLICE_NS  50000000u /* the longest sleep before looking at what others want */

_Static_assert(sizeof(th_runner_workers) <= 8 * TH_BOARD_WORDS, "workers fit a board");

struct th_runner {
    pthread_t thread;

    /* what others want */
    _Atomic(th_troupe *) next;  /* NULL: nothing */
    _Atomic uint64_t period_ns; /* 0: as fast as possible */
    atomic_bool paused, stopped;
    th_troupe *retired; /* what `next` took the place of, once `swapped` says so */
    sem_t swapped;

    /* what there is to tell */
    th_board state_board, workers_board;
    th_tally durations, latenesses;
    th_timeline timeline;

    /* the ticking thread's own */
    th_troupe *troupe;
    th_runner_state state;
    th_runner_workers workers;
    double busy_before_s[TH_JOBS_MAX_THREADS]; /* of troupes that have gone */
    uint64_t start_ns;
    uint64_t due_ns, last_due_ns; /* last: 0 when the crowd's clock stood still since */
    uint64_t period_used_ns;
    struct {
        uint64_t begin_ns, missed_before, characters_before, late_ns;
        double busy_before_s;
        th_histogram ticks;
    } second;
};

/* ---- a second ---- */

static void write_workers(th_runner *r)
{
    th_worker_stats stats[TH_JOBS_MAX_THREADS];
    r->workers.count = th_jobs_threads(r->troupe->jobs);
    th_jobs_stats(r->troupe->jobs, stats);
    for (uint64_t w = 0; w < r->workers.count; w++)
        r->workers.busy_s[w] = r->busy_before_s[w] + (double)stats[w].busy_ns * 1e-9;
    th_board_write(&r->workers_board, &r->workers, sizeof r->workers);
}

static double sum_of_busy(const th_runner *r)
{
    double sum = 0;
    for (uint32_t w = 0; w < TH_JOBS_MAX_THREADS; w++)
        sum += r->workers.busy_s[w];
    return sum;
}

static void begin_second(th_runner *r, uint64_t now_ns)
{
    r->second.begin_ns = now_ns;
    r->second.missed_before = r->state.missed;
    r->second.characters_before = r->state.characters;
    r->second.busy_before_s = sum_of_busy(r);
    r->second.late_ns = 0;
    r->second.ticks = (th_histogram){0};
}

static void end_second(th_runner *r, uint64_t now_ns)
{
    const th_histogram *ticks = &r->second.ticks;
    const double span_s = (double)(now_ns - r->second.begin_ns) * 1e-9;
    write_workers(r);
    const th_second second = {
        .end_s = (double)(now_ns - r->start_ns) * 1e-9,
        .span_s = span_s,
        .ticks = ticks->total,
        .missed = r->state.missed - r->second.missed_before,
        .characters = r->state.characters - r->second.characters_before,
        .mean_s = ticks->total ? (double)ticks->sum_ns / (double)ticks->total * 1e-9 : 0,
        .p50_s = th_histogram_quantile(ticks, 0.5) * 1e-9,
        .p90_s = th_histogram_quantile(ticks, 0.9) * 1e-9,
        .p99_s = th_histogram_quantile(ticks, 0.99) * 1e-9,
        .max_s = (double)ticks->max_ns * 1e-9,
        .late_s = (double)r->second.late_ns * 1e-9,
        .busy = fmin(1, (sum_of_busy(r) - r->second.busy_before_s) / span_s / (double)r->workers.count),
        .paused = r->state.paused,
    };
    th_timeline_add(&r->timeline, &second);
    begin_second(r, now_ns);
}

/* ---- a tick ---- */

static void take_troupe(th_runner *r)
{
    th_troupe *next = atomic_exchange_explicit(&r->next, NULL, memory_order_acquire);
    if (!next)
        return;
    write_workers(r);
    memcpy(r->busy_before_s, r->workers.busy_s, sizeof r->busy_before_s);
    r->retired = r->troupe;
    r->troupe = next;
    write_workers(r);
    sem_post(&r->swapped);
}

static void sleep_until(uint64_t ns)
{
    const struct timespec when = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
        ;
}

static void publish(th_runner *r, uint64_t now_ns)
{
    r->state.now_ns = now_ns - r->start_ns;
    th_board_write(&r->state_board, &r->state, sizeof r->state);
    if (now_ns - r->second.begin_ns >= SECOND_NS)
        end_second(r, now_ns);
}

/* Those whose time has come and gone while this one was at work, or asleep. */
static void leave_out_missed(th_runner *r, uint64_t period_ns, uint64_t now_ns)
{
    r->due_ns += period_ns;
    if (now_ns <= r->due_ns)
        return;
    const uint64_t missed = (now_ns - r->due_ns + period_ns - 1) / period_ns;
    r->state.missed += missed;
    r->due_ns += missed * period_ns;
}

static void tick(th_runner *r, uint64_t period_ns)
{
    const uint64_t begin_ns = th_clock_ns(), due_ns = period_ns ? r->due_ns : begin_ns;
    const th_troupe *t = r->troupe;
    if (r->last_due_ns)
        r->state.crowd_s += (double)(due_ns - r->last_due_ns) * 1e-9;
    r->last_due_ns = due_ns;

    th_jobs_frame_begin(t->jobs);
    th_frame_animate(t->frame, r->state.crowd_s, t->palettes);
    th_jobs_frame_end(t->jobs);

    const uint64_t end_ns = th_clock_ns(), late_ns = begin_ns - due_ns;
    th_tally_add(&r->durations, end_ns - begin_ns);
    th_tally_add(&r->latenesses, late_ns);
    th_histogram_add(&r->second.ticks, end_ns - begin_ns);
    r->second.late_ns = late_ns > r->second.late_ns ? late_ns : r->second.late_ns;
    r->state.ticks++;
    r->state.characters += t->settings.count;
    r->state.palette_bytes += th_crowd_palette_bytes(t->crowd);
    if (period_ns)
        leave_out_missed(r, period_ns, end_ns);
    publish(r, end_ns);
}

/* Sleeps until a tick is due, or for a while; whether one is. */
static bool wait_for_turn(th_runner *r, uint64_t period_ns)
{
    const uint64_t now_ns = th_clock_ns();
    const bool paused = atomic_load_explicit(&r->paused, memory_order_relaxed);
    if (paused || r->state.paused || period_ns != r->period_used_ns) {
        /* Afterwards the first tick is due at once. */
        r->due_ns = now_ns;
        r->last_due_ns = paused || r->state.paused ? 0 : r->last_due_ns;
        r->period_used_ns = period_ns;
    }
    r->state.paused = paused;
    if (!paused && (period_ns == 0 || now_ns >= r->due_ns))
        return true;
    const uint64_t slice_ns = now_ns + SLICE_NS;
    const bool in_time = !paused && r->due_ns <= slice_ns;
    sleep_until(in_time ? r->due_ns : slice_ns);
    if (!in_time)
        publish(r, th_clock_ns());
    return in_time;
}

static void *tick_until_stopped(void *arg)
{
    th_runner *r = arg;
    prctl(PR_SET_TIMERSLACK, 1); /* or sleeps end up to 50 us late */
    while (!atomic_load_explicit(&r->stopped, memory_order_relaxed)) {
        take_troupe(r);
        const uint64_t period_ns = atomic_load_explicit(&r->period_ns, memory_order_relaxed);
        if (wait_for_turn(r, period_ns))
            tick(r, period_ns);
    }
    return NULL;
}

/* ---- the outside ---- */

th_result th_runner_create(th_troupe *troupe, th_runner **out, th_error *err)
{
    *out = NULL;
    th_runner *r = th_line_alloc(th_line_round(sizeof *r));
    if (!r)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a runner");
    memset(r, 0, sizeof *r); /* touched now: an hour's timeline must not look like a leak while it fills */
    r->troupe = troupe;
    r->start_ns = r->due_ns = th_clock_ns();
    sem_init(&r->swapped, 0, 0);
    th_runner_set_rate(r, troupe->settings.rate_hz);
    th_runner_set_paused(r, troupe->settings.paused);
    write_workers(r);
    begin_second(r, r->start_ns);
    const int error = pthread_create(&r->thread, NULL, tick_until_stopped, r);
    if (error) {
        free(r);
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start the ticking thread: %s", strerror(error));
    }
    pthread_setname_np(r->thread, "throng-tick");
    *out = r;
    return TH_OK;
}

th_troupe *th_runner_destroy(th_runner *r)
{
    if (!r)
        return NULL;
    atomic_store(&r->stopped, true);
    pthread_join(r->thread, NULL);
    th_troupe *troupe = r->troupe;
    sem_destroy(&r->swapped);
    free(r);
    return troupe;
}

th_troupe *th_runner_swap(th_runner *r, th_troupe *troupe)
{
    atomic_store_explicit(&r->next, troupe, memory_order_release);
    while (sem_wait(&r->swapped) != 0 && errno == EINTR)
        ;
    return r->retired;
}

void th_runner_set_rate(th_runner *r, double rate_hz)
{
    atomic_store(&r->period_ns, rate_hz > 0 ? (uint64_t)llround(SECOND_NS / rate_hz) : 0);
}

void th_runner_set_paused(th_runner *r, bool paused)
{
    atomic_store(&r->paused, paused);
}

th_runner_state th_runner_read(th_runner *r)
{
    th_runner_state state;
    th_board_read(&r->state_board, &state, sizeof state);
    return state;
}

void th_runner_read_workers(th_runner *r, th_runner_workers *out)
{
    th_board_read(&r->workers_board, out, sizeof *out);
}

void th_runner_read_durations(th_runner *r, th_histogram *out)
{
    th_tally_read(&r->durations, out);
}

void th_runner_read_latenesses(th_runner *r, th_histogram *out)
{
    th_tally_read(&r->latenesses, out);
}

th_timeline *th_runner_timeline(th_runner *r)
{
    return &r->timeline;
}
