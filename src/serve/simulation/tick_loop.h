/* Runs the ticks of the crowd on its own thread and the workers of its simulation.
 *
 * Ticks are scheduled on CLOCK_MONOTONIC: tick n is due n periods after the first. If a tick ends after the next was
 * due, that one is skipped and counts as missed. Skipped ticks are not made up for, and the crowd's clock advances by
 * real time. The tick thread takes a lock only in a tick that takes over a blend or another simulation, allocates
 * nothing, writes no log and waits only for its workers and the clock: requests arrive in atomic words, and its state
 * is published by seqlocks. */
#ifndef TH_SERVE_SIMULATION_TICK_LOOP_H
#define TH_SERVE_SIMULATION_TICK_LOOP_H

#include "simulation.h"

#include <bench/histogram.h>

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

/* ---- states that change while they are read ---- */

/* A seqlock for one writer and several readers (H.-J. Boehm, Can Seqlocks Get Along with Programming Language Memory
 * Models?, 2012).
 *
 * The writer is the tick thread, which must not wait for a preempted reader. A reader that meets a write in progress
 * retries. Words are atomic, so a torn read is not a data race; it is discarded. */
enum { TH_SEQLOCK_WORDS = 264 };

typedef struct th_seqlock {
    _Atomic uint64_t sequence; /* odd during a write */
    _Atomic uint64_t words[TH_SEQLOCK_WORDS];
} th_seqlock;

/* One thread only. bytes: a multiple of 8, at most the capacity. */
static inline void th_seqlock_write(th_seqlock *seqlock, const void *bytes, size_t size)
{
    assert(size % 8 == 0 && size <= sizeof seqlock->words);
    const uint64_t sequence = atomic_load_explicit(&seqlock->sequence, memory_order_relaxed);
    atomic_store_explicit(&seqlock->sequence, sequence + 1, memory_order_relaxed);
    for (size_t w = 0; w < size / 8; w++) {
        uint64_t word;
        memcpy(&word, (const char *)bytes + 8 * w, 8);
        atomic_store_explicit(&seqlock->words[w], word,
                              memory_order_release); /* a reader that sees this sees the odd sequence */
    }
    atomic_store_explicit(&seqlock->sequence, sequence + 2, memory_order_release);
}

/* Any thread. */
static inline void th_seqlock_read(th_seqlock *seqlock, void *out, size_t size)
{
    assert(size % 8 == 0 && size <= sizeof seqlock->words);
    for (;;) {
        const uint64_t sequence = atomic_load_explicit(&seqlock->sequence, memory_order_acquire);
        for (size_t w = 0; w < size / 8; w++) {
            const uint64_t word = atomic_load_explicit(&seqlock->words[w], memory_order_acquire);
            memcpy((char *)out + 8 * w, &word, 8);
        }
        if (sequence % 2 == 0 && atomic_load_explicit(&seqlock->sequence, memory_order_relaxed) == sequence)
            return;
        sched_yield();
    }
}

/* Totals since the start. Only 8-byte numbers. */
typedef struct th_tick_loop_state {
    uint64_t now_ns; /* since the start, when this was written */
    uint64_t ticks, missed;
    uint64_t characters; /* animated, summed over the ticks */
    uint64_t palette_bytes;
    double crowd_s;  /* the crowd's clock */
    uint64_t paused; /* 1: no ticks */
} th_tick_loop_state;

/* The current workers; busy_s is the total of each worker number since the start. Only 8-byte numbers. */
typedef struct th_tick_loop_workers {
    uint64_t count;
    double busy_s[TH_JOBS_MAX_THREADS];
} th_tick_loop_workers;

/* ---- the last hour ---- */

#define TH_TIME_SERIES_SECONDS 3600u

/* One second of ticks, or slightly more if a tick took longer. Only 8-byte numbers. */
typedef struct th_second {
    double end_s;  /* since the start of the crowd */
    double span_s; /* length */
    uint64_t ticks, missed;
    uint64_t characters;                       /* animated, summed over the ticks */
    double mean_s, p50_s, p90_s, p99_s, max_s; /* duration of ticks; 0 if there were none */
    double max_start_delay_s;                  /* the largest delay between a tick's due time and its start */
    double busy;                               /* fraction of the workers' time spent animating, 0 to 1 */
    uint64_t paused;                           /* 1: paused by request at its end */
} th_second;

/* What was counted in a second. Times are since the start of the crowd. */
typedef struct th_second_counts {
    uint64_t begin_ns, end_ns;
    uint64_t missed, characters, max_start_delay_ns;
    double busy_s; /* time that the workers spent animating, summed over them */
    uint64_t workers;
    bool paused;
    th_histogram ticks; /* their durations */
} th_second_counts;

th_second th_second_of(const th_second_counts *counts);

enum { TH_SECOND_WORDS = sizeof(th_second) / 8 };

/* One entry per second. One thread adds, any thread reads, and none waits. A reader that is overtaken drops the
 * overwritten entries. All zero: empty. Too large for the stack. */
typedef struct th_time_series {
    _Atomic uint64_t count; /* added since the start */
    _Atomic uint64_t words[TH_TIME_SERIES_SECONDS][TH_SECOND_WORDS];
} th_time_series;

void th_time_series_add(th_time_series *time_series, const th_second *second);

/* Returns the last `most` seconds or fewer, oldest first; returns how many. */
uint32_t th_time_series_read(th_time_series *time_series, th_second *out, uint32_t most);

/* ---- ticks ---- */

/* A loop, and what it publishes: anyone may read that, and never delays a tick. */
typedef struct th_tick_loop {
    pthread_t thread;

    /* requests; `paused` may be set by any thread */
    _Atomic(th_simulation *) next; /* NULL: none */
    _Atomic uint64_t period_ns;    /* 0: as fast as possible */
    atomic_bool paused, stopped;
    th_simulation *replaced; /* the simulation replaced by `next`, valid once `swapped` is set */
    sem_t swapped;
    atomic_bool has_blend;      /* `blend` has not been taken yet */
    pthread_mutex_t blend_lock; /* protects `blend`, and the simulation's behaviour while it is changed or saved */
    th_settings blend;

    /* published */
    th_seqlock state_seqlock, workers_seqlock; /* a th_tick_loop_state, a th_tick_loop_workers */
    th_histogram durations, start_delays;      /* of ticks; from when one was due to its start. th_histogram_read */
    th_time_series time_series;

    /* used only by the tick thread */
    th_simulation *simulation;
    th_tick_loop_state state;
    th_tick_loop_workers workers;
    double busy_before_s[TH_JOBS_MAX_THREADS]; /* of replaced simulations */
    uint64_t start_ns;
    uint64_t due_ns, last_due_ns; /* last: 0 if the crowd's clock has been stopped since */
    uint64_t period_used_ns;
    th_second_counts second;     /* so far; its end, busy_s, workers and paused are set as it ends */
    double second_busy_before_s; /* of all workers, as it began */
} th_tick_loop;

/* The ticks that were due before now_ns, if the first was due at due_ns. */
uint64_t th_ticks_missed(uint64_t due_ns, uint64_t period_ns, uint64_t now_ns);

/* Takes over the simulation and starts. TH_ERR_MEMORY, TH_ERR_ENVIRONMENT; then the caller keeps the simulation. */
th_result th_tick_loop_create(th_simulation *simulation, th_tick_loop **out, th_error *err);

/* Finishes the current tick and returns the simulation, for the caller to destroy. */
th_simulation *th_tick_loop_destroy(th_tick_loop *tick_loop);

/* Replaces the simulation between two ticks and returns the old one. Waits for that moment. One thread at a time. */
th_simulation *th_tick_loop_swap(th_tick_loop *tick_loop, th_simulation *simulation);

/* Takes effect with the next tick. Any thread. */
void th_tick_loop_set_rate(th_tick_loop *tick_loop, double rate_hz);

/* Goes over to another blend with the next tick; does nothing to a simulation that does not blend. Any thread. */
void th_tick_loop_set_blend(th_tick_loop *tick_loop, const th_settings *settings);

/* What is carried on of the blend of each model. Any thread. */
void th_tick_loop_save_blends(th_tick_loop *tick_loop, th_blend_state out[TH_SETTINGS_MODELS]);

th_tick_loop_state th_tick_loop_read(th_tick_loop *tick_loop); /* any thread */

#endif
