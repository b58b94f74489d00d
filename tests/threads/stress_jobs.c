/* Random calls on random pools, checked: stress_jobs [POOLS [SEED]]. For ThreadSanitizer as well. */
#include "fixture_nightly.h"

#include <jobs/jobs.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ITEMS = 3000, MAX_CALLERS = 3, MAX_THREADS = 32 };

static uint64_t next_random(uint64_t *state) /* xorshift64*; Vigna, 2016 */
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1d;
}

static uint32_t below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)((next_random(state) >> 32) * limit >> 32);
}

typedef struct caller {
    th_jobs *jobs;
    uint64_t random;
    uint32_t rounds;
    uint64_t calls, items; /* of this pool */
    uint32_t salt, spread; /* of this call */
    bool nested;
    uint32_t fails;             /* this item does; MAX_ITEMS or more: none */
    uint32_t values[MAX_ITEMS]; /* plain memory: a lost or doubled item, or one not yet visible, shows */
    atomic_uint nested_items;
} caller;

static int nested_chunk(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)worker;
    atomic_fetch_add_explicit(&((caller *)ctx)->nested_items, end - begin, memory_order_relaxed);
    return 0;
}

/* Some items take far longer than others, and some sleep. */
static void dawdle(uint32_t item, const caller *c)
{
    const uint32_t fate = (item * 2654435761u ^ c->salt) >> 20;
    if (fate == 0)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    for (volatile uint32_t i = 0; i < (fate % 64 == 1 ? c->spread * 50 : c->spread); i++)
        ;
}

/* Never 0. */
static uint32_t value_of(uint32_t item, const caller *c)
{
    return (item ^ c->salt) | 1;
}

static int chunk(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    caller *c = ctx;
    (void)worker;
    for (uint32_t i = begin; i < end; i++) {
        dawdle(i, c);
        c->values[i] += value_of(i, c);
    }
    if (c->nested)
        th_jobs_for(c->jobs, end - begin, 2, nested_chunk, c);
    return begin <= c->fails && c->fails < end ? 1 + (int)c->fails : 0;
}

static int run_job(caller *c, uint32_t count, uint32_t grain)
{
    uint32_t partition[MAX_THREADS];
    th_job job = {.fn = chunk, .ctx = c, .count = count, .grain = grain};
    if (below(&c->random, 2))
        job.partition = partition;
    for (uint32_t i = 0; i < MAX_THREADS; i++)
        partition[i] = below(&c->random, 8) ? below(&c->random, count + 1) : (uint32_t)next_random(&c->random);
    return th_jobs_run(c->jobs, &job);
}

/* Every item once; when an item failed, that one, and each of the others once or not at all. Returns how many. */
static uint32_t check(const caller *c, uint32_t count, int error)
{
    const bool has_failed = c->fails < count;
    uint32_t ran = 0, wrong = error != (has_failed ? 1 + (int)c->fails : 0);
    for (uint32_t i = 0; i < MAX_ITEMS; i++) {
        const bool may_be_missing = i >= count || (has_failed && i != c->fails);
        ran += c->values[i] != 0;
        wrong += c->values[i] ? i >= count || c->values[i] != value_of(i, c) : !may_be_missing;
    }
    if (wrong || atomic_load(&c->nested_items) != (c->nested ? ran : 0)) {
        fprintf(stderr, "%u items: %u wrong\n", count, wrong);
        exit(1);
    }
    return ran;
}

static void call_once(caller *c)
{
    const uint32_t count = below(&c->random, 4) ? below(&c->random, 40) : below(&c->random, MAX_ITEMS + 1);
    const uint32_t grain = below(&c->random, 3) ? 1 + below(&c->random, 4) : below(&c->random, 200);
    c->salt = (uint32_t)next_random(&c->random);
    c->spread = below(&c->random, 60);
    c->nested = below(&c->random, 4) == 0;
    c->fails = below(&c->random, 8) ? MAX_ITEMS : below(&c->random, count + 1);
    memset(c->values, 0, sizeof c->values);
    atomic_store(&c->nested_items, 0);
    const uint32_t ran = check(c, count, run_job(c, count, grain));
    c->calls++;
    c->items += c->nested ? 2 * ran : ran;
}

static void call_frame(caller *c)
{
    const uint32_t calls = below(&c->random, 5);
    th_jobs_frame_begin(c->jobs);
    for (uint32_t i = 0; i < calls; i++)
        call_once(c);
    th_jobs_frame_end(c->jobs);
}

static void *call_often(void *arg)
{
    caller *c = arg;
    while (c->rounds-- > 0) {
        if (below(&c->random, 4))
            call_once(c);
        else
            call_frame(c);
        if (below(&c->random, 20) == 0) /* so that workers spin, fall asleep, and anything in between */
            nanosleep(&(struct timespec){.tv_nsec = below(&c->random, 200000)}, NULL);
    }
    return NULL;
}

/* Several callers share a pool for a moment. Returns the number of calls. */
static uint64_t run_pool(uint64_t *random)
{
    static caller callers[MAX_CALLERS];
    const th_jobs_desc desc = {
        .threads = below(random, 2) ? 1 + below(random, 3) : 1 + below(random, MAX_THREADS),
        .placement = (th_placement)below(random, TH_PLACEMENT_COUNT),
    };
    th_jobs *jobs;
    if (th_jobs_create(&desc, &jobs, NULL) != TH_OK) {
        fprintf(stderr, "cannot create %u threads\n", desc.threads);
        exit(1);
    }
    const uint32_t count = 1 + below(random, MAX_CALLERS);
    const uint32_t rounds = below(random, 60);
    pthread_t threads[MAX_CALLERS];
    for (uint32_t i = 0; i < count; i++) {
        callers[i] = (caller){.jobs = jobs, .random = next_random(random) | 1, .rounds = rounds};
        pthread_create(&threads[i], NULL, call_often, &callers[i]);
    }
    uint64_t calls = 0, items = 0;
    for (uint32_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        calls += callers[i].calls;
        items += callers[i].items;
    }
    th_worker_stats stats[MAX_THREADS];
    th_jobs_stats(jobs, stats);
    for (uint32_t i = 0; i < desc.threads; i++)
        items -= stats[i].items;
    if (items != 0) {
        fprintf(stderr, "the counters do not add up\n");
        exit(1);
    }
    th_jobs_destroy(jobs);
    return calls;
}

int main(int argc, char **argv)
{
    const uint32_t pools = argc > 1 ? (uint32_t)atoi(argv[1]) : is_nightly() ? 3000 : 100;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    uint64_t random = seed * 2 + 1, calls = 0;
    for (uint32_t i = 0; i < pools; i++)
        calls += run_pool(&random);
    printf("%llu calls on %u pools\n", (unsigned long long)calls, pools);
    return 0;
}
