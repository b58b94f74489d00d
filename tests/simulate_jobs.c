/* What the pool makes of more cores than this machine has (see simulate.h):
 *
 *   simulate_jobs                      a table
 *   simulate_jobs THREADS PERCENT ...  fails if a frame of 10,000 characters is less efficient than asked
 *
 * A frame is one call: chunks of two batches of 16 characters, as the program poses them, each character a tenth of a
 * microsecond, give or take an eighth. Efficiency is all work divided by what all threads had time for. The machine is
 * like servers are: cores in groups of eight, 30 ns from one to another there and 100 ns elsewhere. */
#include "simulate.h"

#include <throng/jobs/jobs.h>

#include <stdio.h>
#include <stdlib.h>

static const simulate_machine server = {
    .cores_together = 8,
    .hit = 1,
    .atomic = 6,
    .near = 30,
    .far = 100,
    .occupied = 15,
    .pause = 40,
    .clock = 10,
    .wake_call = 2000,
    .wake = 40000,
};

enum { BATCH = 16, GRAIN = 2, WARM_CALLS = 5, CALLS = 15 };

#define CHARACTER_NS 100.0
#define BETWEEN_NS   5000.0 /* calls: what the caller does meanwhile */

typedef struct frames {
    uint32_t threads, batches;
    double cost_ns; /* of a batch, on average */
    double call_ns; /* the median of all calls */
    double efficiency;
} frames;

/* Between 7/8 and 9/8, always the same for a batch. */
static double share_of(uint32_t batch)
{
    return 0.875 + (batch * 2654435769u >> 16) / 65536.0 / 4;
}

static int pose(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const frames *f = ctx;
    (void)worker;
    for (uint32_t i = begin; i < end; i++)
        simulate_work(f->cost_ns * share_of(i));
    return 0;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void *run_frames(void *arg)
{
    frames *f = arg;
    th_jobs *jobs;
    double times[CALLS], work = 0;
    if (th_jobs_create(&(th_jobs_desc){.threads = f->threads}, &jobs) != 0)
        exit(1);
    for (uint32_t i = 0; i < f->batches; i++)
        work += f->cost_ns * share_of(i);
    th_jobs_frame_begin(jobs);
    for (int i = -WARM_CALLS; i < CALLS; i++) {
        simulate_work(BETWEEN_NS);
        const double start = simulate_now();
        if (th_jobs_for(jobs, f->batches, GRAIN, pose, f) != 0)
            exit(1);
        if (i >= 0)
            times[i] = simulate_now() - start;
    }
    th_jobs_frame_end(jobs);
    th_jobs_destroy(jobs);
    qsort(times, CALLS, sizeof *times, compare);
    f->call_ns = times[CALLS / 2];
    f->efficiency = work / (f->call_ns * f->threads);
    return NULL;
}

static frames simulate(uint32_t threads, uint32_t characters, double cost_ns)
{
    frames f = {.threads = threads, .batches = characters / BATCH, .cost_ns = cost_ns};
    simulate_run(&server, run_frames, &f);
    return f;
}

static void print_table(void)
{
    static const uint32_t threads[] = {2, 8, 16, 32, 64, 128}, characters[] = {1000, 10000, 100000};
    enum { MACHINES = sizeof threads / sizeof *threads, CROWDS = sizeof characters / sizeof *characters };
    printf("threads   empty call, us   %% of all threads busy with 1,000, 10,000, 100,000 characters\n");
    for (uint32_t t = 0; t < MACHINES; t++) {
        printf("%7u %16.2f", threads[t], simulate(threads[t], threads[t] * BATCH * GRAIN, 0).call_ns / 1000);
        for (uint32_t c = 0; c < CROWDS; c++)
            printf(" %9.1f", 100 * simulate(threads[t], characters[c], BATCH * CHARACTER_NS).efficiency);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc == 1)
        print_table();
    for (int i = 1; i + 1 < argc; i += 2) {
        const frames f = simulate((uint32_t)atoi(argv[i]), 10000, BATCH * CHARACTER_NS);
        if (100 * f.efficiency >= atof(argv[i + 1]))
            continue;
        fprintf(stderr, "simulate_jobs: %u threads are busy for %.1f %% of a frame, not %s\n", f.threads,
                100 * f.efficiency, argv[i + 1]);
        failed = 1;
    }
    return failed;
}
