/* The crowd that ticks, on a thread of its own and the workers of its simulation.
 *
 * Ticks have their times on CLOCK_MONOTONIC: tick n of a rate is due n periods after the first. One that ends after the
 * next was due leaves that one out, and it counts as missed; nothing is made up for later, and the crowd's clock goes
 * on by the time that has passed. The ticking thread takes no lock, allocates nothing, writes no log and waits for
 * nobody but its workers and the clock: what others want of it lies in atomic words, what it has to tell is on boards.
 */
#ifndef TH_SERVE_SIMULATION_TICK_LOOP_H
#define TH_SERVE_SIMULATION_TICK_LOOP_H

#include "metrics/histogram.h"
#include "metrics/time_series.h"
#include "simulation.h"

typedef struct th_tick_loop th_tick_loop;

/* All since the start. Only 8-byte numbers. */
typedef struct th_tick_loop_state {
    uint64_t now_ns; /* since the start, when this was written */
    uint64_t ticks, missed;
    uint64_t characters; /* animated, all ticks together */
    uint64_t palette_bytes;
    double crowd_s;  /* the crowd's clock */
    uint64_t paused; /* 1: nothing ticks */
} th_tick_loop_state;

/* Of the workers that there are now; busy_s counts for each worker number since the start. Only 8-byte numbers. */
typedef struct th_tick_loop_workers {
    uint64_t count;
    double busy_s[TH_JOBS_MAX_THREADS];
} th_tick_loop_workers;

/* Takes the simulation and begins. TH_ERR_MEMORY, TH_ERR_ENVIRONMENT; the simulation is the caller's then. */
th_result th_tick_loop_create(th_simulation *simulation, th_tick_loop **out, th_error *err);

/* Ends the last tick and gives the simulation back, for the caller to destroy. */
th_simulation *th_tick_loop_destroy(th_tick_loop *tick_loop);

/* Puts another simulation in the place of the one that plays, between two ticks, and returns the old one. Waits for
 * that moment. One thread at a time. */
th_simulation *th_tick_loop_swap(th_tick_loop *tick_loop, th_simulation *simulation);

/* From the next tick on. Any thread. */
void th_tick_loop_set_rate(th_tick_loop *tick_loop, double rate_hz);
void th_tick_loop_set_paused(th_tick_loop *tick_loop, bool paused);

/* ---- watching; any thread, never delays a tick ---- */

th_tick_loop_state th_tick_loop_read(th_tick_loop *tick_loop);
void th_tick_loop_read_workers(th_tick_loop *tick_loop, th_tick_loop_workers *out);
void th_tick_loop_read_durations(th_tick_loop *tick_loop, th_histogram *out); /* how long ticks took */
void th_tick_loop_read_start_delays(th_tick_loop *tick_loop,
                                    th_histogram *out); /* how long after their time they began */
th_time_series *th_tick_loop_time_series(th_tick_loop *tick_loop);

#endif
