/* Runs the ticks of the crowd on its own thread and the workers of its simulation.
 *
 * Ticks are scheduled on CLOCK_MONOTONIC: tick n is due n periods after the first. If a tick ends after the next was
 * due, that one is skipped and counts as missed. Skipped ticks are not made up for, and the crowd's clock advances by
 * real time. The tick thread takes no lock, allocates nothing, writes no log and waits only for its workers and the
 * clock: requests arrive in atomic words, and its state is published by seqlocks. */
#ifndef TH_SERVE_SIMULATION_TICK_LOOP_H
#define TH_SERVE_SIMULATION_TICK_LOOP_H

#include "metrics/time_series.h"
#include "simulation.h"
#include <bench/histogram.h>

typedef struct th_tick_loop th_tick_loop;

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
void th_tick_loop_set_paused(th_tick_loop *tick_loop, bool paused);

/* Goes over to another blend with the next tick; does nothing to a simulation that does not blend. Any thread. */
void th_tick_loop_set_blend(th_tick_loop *tick_loop, const th_settings *settings);

/* What is carried on of the blend of each model. Any thread. */
void th_tick_loop_save_blends(th_tick_loop *tick_loop, th_blend_state out[TH_SETTINGS_MODELS]);

/* ---- watching; any thread, never delays a tick ---- */

th_tick_loop_state th_tick_loop_read(th_tick_loop *tick_loop);
void th_tick_loop_read_workers(th_tick_loop *tick_loop, th_tick_loop_workers *out);
void th_tick_loop_read_durations(th_tick_loop *tick_loop, th_histogram *out);    /* durations of ticks */
void th_tick_loop_read_start_delays(th_tick_loop *tick_loop, th_histogram *out); /* delays between due time and start */
th_time_series *th_tick_loop_time_series(th_tick_loop *tick_loop);

#endif
