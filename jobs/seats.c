#include "seats.h"

#include "clock.h"
#include "cpus.h"
#include "placement.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct seat {
    pthread_t thread;
    int cpu;
} seat;

struct th_seats {
    int caller_cpu; /* where it was last seen */
    uint32_t count;
    seat seats[]; /* of those workers that have one */
};

typedef struct roll_call {
    uint64_t deadline_ns;
    uint32_t threads;
    atomic_uint present;
    pthread_t of[TH_JOBS_MAX_THREADS];
} roll_call;

/* Nobody leaves before all have come, so each worker has one chunk of as many as there are threads. */
static int answer(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    roll_call *roll = ctx;
    (void)begin;
    roll->of[worker] = pthread_self();
    atomic_fetch_add(&roll->present, end - begin);
    while (atomic_load(&roll->present) < roll->threads) {
        sched_yield();
        if (th_clock_monotonic_ns() > roll->deadline_ns)
            return EAGAIN;
    }
    return 0;
}

int th_seats_take(th_jobs *jobs, th_placement placement, th_seats **out)
{
    const uint32_t threads = th_jobs_threads(jobs);
    uint32_t cpus[TH_JOBS_MAX_THREADS], count;
    *out = NULL;
    if (placement == TH_PLACEMENT_NONE)
        return 0;
    /* On a busy machine threads come late; one that has not come after ten seconds never will. */
    roll_call roll = {.deadline_ns = th_clock_monotonic_ns() + 10000000000u, .threads = threads};
    int error = th_jobs_for(jobs, threads, 1, answer, &roll);
    if (!error)
        error = th_placement_find(placement, threads - 1, cpus, &count);
    if (error)
        return error;
    th_seats *seats = malloc(sizeof *seats + count * sizeof(seat));
    if (!seats)
        return ENOMEM;
    *seats = (th_seats){.caller_cpu = sched_getcpu(), .count = count};
    for (uint32_t i = 0; i < count; i++) {
        seats->seats[i] = (seat){.thread = roll.of[i + 1], .cpu = (int)cpus[i]};
        th_cpus_pin(roll.of[i + 1], cpus[i]);
    }
    *out = seats;
    return 0;
}

void th_seats_make_way(th_seats *seats)
{
    const int here = seats ? sched_getcpu() : -1;
    if (!seats || here == seats->caller_cpu)
        return;
    for (uint32_t i = 0; i < seats->count; i++)
        if (seats->seats[i].cpu == here) {
            seats->seats[i].cpu = seats->caller_cpu;
            th_cpus_pin(seats->seats[i].thread, (uint32_t)seats->caller_cpu);
            break;
        }
    seats->caller_cpu = here;
}
