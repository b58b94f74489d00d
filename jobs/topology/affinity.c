#include "affinity.h"

#include "cpus.h"
#include "placement.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct seat {
    _Atomic(int) cpu; /* relaxed: who reads an old one sits down a call later */
    pthread_t thread;
} seat;

struct th_seats {
    th_cpu_mask allowed;
    int caller_cpu; /* where it was last seen */
    bool has_threads;
    uint32_t count; /* of workers from 1 on; there may be more workers than CPUs */
    seat seats[];
};

int th_seats_create(th_placement placement, uint32_t workers, const pthread_t *threads, th_seats **out)
{
    uint32_t cpus[TH_JOBS_MAX_THREADS], count;
    *out = NULL;
    if (placement == TH_PLACEMENT_NONE)
        return 0;
    const int here = sched_getcpu();
    const int error = th_placement_find(placement, here, workers, cpus, &count);
    if (error)
        return error;
    th_seats *seats = calloc(1, sizeof *seats + count * sizeof(seat));
    if (!seats)
        return ENOMEM;
    seats->allowed = th_cpu_mask_read();
    seats->caller_cpu = here;
    seats->has_threads = threads != NULL;
    seats->count = count;
    for (uint32_t i = 0; i < count; i++) {
        atomic_init(&seats->seats[i].cpu, (int)cpus[i]);
        if (threads) {
            seats->seats[i].thread = threads[i];
            th_cpus_pin(threads[i], cpus[i]);
        }
    }
    *out = seats;
    return 0;
}

void th_seats_destroy(th_seats *seats)
{
    if (!seats)
        return;
    th_cpu_mask_free(seats->allowed);
    free(seats);
}

void th_seats_sit(const th_seats *seats, uint32_t worker)
{
    static _Thread_local int held = -1;
    if (!seats || worker == 0 || worker > seats->count)
        return;
    const int cpu = atomic_load_explicit(&seats->seats[worker - 1].cpu, memory_order_relaxed);
    if (cpu == held)
        return;
    th_cpus_pin(pthread_self(), (uint32_t)cpu);
    held = cpu;
}

static void move(th_seats *seats, seat *s, int cpu)
{
    atomic_store_explicit(&s->cpu, cpu, memory_order_relaxed);
    if (seats->has_threads)
        th_cpus_pin(s->thread, (uint32_t)cpu);
}

void th_seats_make_way(th_seats *seats)
{
    const int here = seats ? sched_getcpu() : -1;
    if (!seats || here == seats->caller_cpu)
        return;
    const int before = seats->caller_cpu;
    seats->caller_cpu = here;
    if (!th_cpu_mask_has(seats->allowed, before))
        return;
    for (uint32_t i = 0; i < seats->count; i++)
        if (atomic_load_explicit(&seats->seats[i].cpu, memory_order_relaxed) == here) {
            move(seats, &seats->seats[i], before);
            return;
        }
}
