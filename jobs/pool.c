/* The work-stealing scheduler.
 *
 * A call's chunks are divided into one contiguous partition per worker. If they are more than a range can number,
 * several count as one, here and below. Every worker takes its own chunks from the front. A worker without work steals
 * the back half of another's range, starting with its neighbour, and stops after a full round without success.
 *
 *     chunks  0 ........ 24 ....... 49 ....... 74 ....... 99
 *     initial   | worker 0 | worker 1 | worker 2 | worker 3 |
 *     later     |***#------|**********|****#-----|**#-------|     * done   # running   - free
 *                    ^ worker 1 steals the back half of these
 *
 * While all workers have work, none writes to another's cache line: a chunk costs a fifth of what it costs with one
 * shared counter, and the same items stay with the same worker from call to call (cache, NUMA first touch).
 *
 * A call does not wait for sleeping workers, which need 30 to 60 microseconds to wake. So the caller does not write the
 * partitions to the workers; the call, {epoch, 0, chunks}, implies them: a range with an older epoch is untouched and
 * stands for the initial partition. The first to take from it, owner or thief, writes the rest with the new epoch. A
 * worker that comes late finds no work or the call finished, and has written nothing. The call ends when all its chunks
 * have been run; the caller waits only for this count.
 *
 * The alternative, partitions written by the caller and workers that sign in and out, is simpler and has no limit on
 * chunks. It was slower: 0.70 microseconds instead of 0.56 for 2 empty chunks, because the caller must stop new workers
 * and wait for those inside, and writes a cache line per worker on every call. Prefetching lines, a short wait before
 * the first steal, and a single line for all data of a call made no difference. Each further line that changes owner
 * costs 0.1 to 0.2 microseconds.
 *
 * With many workers the end of a call is what takes long, because all of them are at the same few lines. So those of a
 * group of eight subtract from unfinished together: whoever comes while another one of the group waits for that line
 * leaves its chunks to it. And who finds nothing in a group says so, and others pass it by until somebody there steals
 * again. In simulated time (docs/notes/schedulers.md) an empty call on 128 cores takes 4.5 microseconds, not 14.6, and
 * a frame of 10,000 characters keeps 64 cores busy for 82 % of it instead of 72.
 *
 * Memory order, by variable:
 *
 *   opened: written by the caller, once per call. The store publishes the call, unfinished and everything the caller
 *     did before; its partner is the load in next_call. Sequentially consistent, for the eventcount.
 *
 *   range: a thread that takes a chunk knows that the call is not over until it has subtracted this chunk from
 *     unfinished. The caller rewrites call, start and stride only after that, so they may be read like plain variables.
 *     Release and acquire for one reason: a thread that reads a range of a later epoch must also see the later call,
 *     otherwise it would take the range for untouched (see free_part).
 *
 *   is_weighted, partition_starts: read before it is certain that the call is not over. Values of a later call give a
 *     wrong partition, which has no effect: every participant has at least one chunk, so after the end of a call all
 *     its ranges have been touched, and the exchange fails. This is also why the caller's partition is copied.
 *
 *   emptied: a hint; a wrong one costs a thief the work of that group, or a look. Relaxed.
 *
 *   done: what was run before an addition happens before the subtraction from unfinished by whoever takes it over.
 *
 *   frames_begun: the increment is sequentially consistent, for the eventcount: a worker about to sleep looks at it
 *     again. frames_ended is a hint, how long to spin.
 *
 *   unfinished: the subtraction releases what the worker wrote, including its counters; the caller acquires it with
 *     the load that returns 0. Sequentially consistent, for the eventcount.
 *
 * There are no fences, because ThreadSanitizer does not support them.
 *
 * Known limit: a thread that sleeps between reading a range and exchanging it while exactly 2^32 calls pass would fail.
 * A range that is merely unused for that long is safe: mark_ranges renews it in between.
 *
 * A pool with more threads than usable CPUs never spins: it would take the CPU from the thread it waits for. */
#include "pool.h"

#include "eventcount.h"
#include "range.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPIN_NS = 50000,          /* outside of frames: about what a wake-up takes */
    FRAME_SPIN_NS = 10000000, /* in a frame, while there is no call */
    TAKE_NS = 2500,           /* next_most */
};

/* Starts near the end, so that every pool soon wraps around: the wrap is not a rare path. */
#define FIRST_EPOCH (UINT32_MAX - 100)

#define MAX_GROUP 8u
#ifndef TH_POOL_GROUP
#define TH_POOL_GROUP MAX_GROUP
#endif

/* Workers whose numbers are next to each other, as are their CPUs where they are placed. */
typedef struct group {
    alignas(TH_FALSE_SHARING_BYTES) _Atomic(uint32_t) done;    /* chunks that are not yet subtracted from unfinished */
    alignas(TH_FALSE_SHARING_BYTES) _Atomic(uint32_t) emptied; /* the epoch of the call in which nothing was left */
} group;

typedef struct worker {
    alignas(TH_FALSE_SHARING_BYTES) _Atomic(uint64_t) range; /* see range.h */
    th_pool *pool;
    pthread_t thread; /* none for worker 0, the caller */
} worker;

struct th_pool {
    alignas(TH_FALSE_SHARING_BYTES) _Atomic(uint64_t) opened; /* all chunks, as a range; empty: the workers end */
    _Atomic(uint32_t) frames_begun, frames_ended;
    alignas(TH_FALSE_SHARING_BYTES) th_call call;
    uint64_t start;  /* of the call, in ticks */
    uint32_t stride; /* items of a chunk, or of several that count as one */
    alignas(TH_FALSE_SHARING_BYTES) _Atomic(uint32_t) unfinished; /* chunks */
    th_eventcount finish_event;
    alignas(TH_FALSE_SHARING_BYTES) th_eventcount call_event;
    alignas(TH_FALSE_SHARING_BYTES) const th_jobs *jobs;
    th_worker_counters *worker_counters; /* one per thread */
    uint64_t spin_ns, frame_spin_ns;
    uint64_t take_ticks; /* TAKE_NS */
    uint32_t threads;
    uint32_t started; /* workers that run */
    _Atomic(bool) is_weighted;
    _Atomic(uint16_t)
        partition_starts[TH_JOBS_MAX_THREADS]; /* first chunk of each worker's partition, if the call is weighted */
    group groups[TH_JOBS_MAX_THREADS / MAX_GROUP + 1];
    worker workers[];
};

static uint32_t participants(const th_pool *pool, th_range call)
{
    return call.end < pool->threads ? call.end : pool->threads;
}

static th_range partition(const th_pool *pool, th_range call, uint32_t index)
{
    const uint32_t count = participants(pool, call);
    if (!atomic_load_explicit(&pool->is_weighted, memory_order_relaxed) || index >= count)
        return th_range_partition(call, index, count);
    const bool is_last = index + 1 == count;
    return (th_range){
        .epoch = call.epoch,
        .begin = atomic_load_explicit(&pool->partition_starts[index], memory_order_relaxed),
        .end = is_last ? call.end : atomic_load_explicit(&pool->partition_starts[index + 1], memory_order_relaxed),
    };
}

/* The free part of a range that was read from worker `index`. */
static th_range free_part(const th_pool *pool, th_range call, uint32_t index, uint64_t word)
{
    const th_range range = th_range_unpack(word);
    if (range.epoch == call.epoch)
        return range;
    const bool is_over =
        atomic_load(&pool->opened) != th_range_pack(call); /* then the range may belong to a later call */
    return is_over ? (th_range){0} : partition(pool, call, index);
}

/* Takes chunks out of the range of worker `index`. Not inlined: within `work` it makes a call of few chunks a fifth
 * slower. */
__attribute__((noinline)) static bool take(th_pool *pool, th_range call, uint32_t index, th_range_split *split,
                                           uint32_t most, th_range *out)
{
    _Atomic(uint64_t) *range = &pool->workers[index].range;
    uint64_t seen = atomic_load_explicit(range, memory_order_acquire);
    for (;;) {
        th_range rest = free_part(pool, call, index, seen);
        if (th_range_length(rest) == 0)
            return false;
        *out = split(&rest, most);
        if (atomic_compare_exchange_weak_explicit(range, &seen, th_range_pack(rest), memory_order_acq_rel,
                                                  memory_order_acquire))
            return true;
    }
}

/* Fills the worker's empty range with half of another's, group by group, of which its own is the first, where it begins
 * with the next worker. With fewer participants than workers every partition is one chunk, so a worker without a
 * partition never has anything to steal. The caller looks whether the call is over after each group, since it is the
 * one that is waited for. */
static bool steal(th_pool *pool, th_range call, uint32_t self)
{
    th_worker_counters *counters = &pool->worker_counters[self];
    const uint32_t groups = (participants(pool, call) - 1) / TH_POOL_GROUP + 1, own = self / TH_POOL_GROUP % groups;
    for (uint32_t i = 0; i < groups; i++) {
        const uint32_t index = (own + i) % groups, first = index * TH_POOL_GROUP;
        const uint32_t rest = participants(pool, call) - first, count = rest < TH_POOL_GROUP ? rest : TH_POOL_GROUP;
        _Atomic(uint32_t) *emptied = &pool->groups[index].emptied;
        if (i > 0 && atomic_load_explicit(emptied, memory_order_relaxed) == call.epoch)
            continue;
        for (uint32_t k = 1; k <= count; k++) {
            const uint32_t victim = first + (self + k) % count;
            th_range taken;
            if (victim == self)
                continue;
            if (!take(pool, call, victim, th_range_split_back, UINT32_MAX, &taken)) {
                th_counter_add(&counters->misses, 1);
                continue;
            }
            counters->steals++; /* before the store: after it, others may take all of it and end the call */
            atomic_store_explicit(&pool->workers[self].range, th_range_pack(taken), memory_order_release);
            if (groups > 1)
                atomic_store_explicit(&pool->groups[own].emptied, call.epoch - 1, memory_order_relaxed);
            return true;
        }
        if (i > 0)
            atomic_store_explicit(emptied, call.epoch, memory_order_relaxed);
        if (self == 0 && groups > 1 && atomic_load(&pool->unfinished) == 0)
            return false;
    }
    return false;
}

/* Subtracts chunks that have been run. Returns whether they were the last ones. */
static bool subtract(th_pool *pool, uint32_t done)
{
    if (atomic_fetch_sub(&pool->unfinished, done) != done)
        return false;
    th_eventcount_notify(&pool->finish_event, 1);
    return true;
}

/* The same by way of the worker's group: whoever adds to what others are about to subtract leaves that to them. They
 * may be late for it: then it is the next call's chunks that they subtract. */
static bool subtract_together(th_pool *pool, uint32_t self, uint32_t done)
{
    _Atomic(uint32_t) *together = &pool->groups[self / TH_POOL_GROUP].done;
    if (atomic_fetch_add(together, done) != 0)
        return false;
    bool is_over;
    do {
        is_over = subtract(pool, done);
        done = atomic_fetch_sub(together, done) - done;
    } while (done > 0);
    return is_over;
}

/* How many chunks to take next from the front of the own range: one, or as many as take TAKE_NS together. Chunks that
 * are taken together cannot be stolen, but in a call of cheap ones taking them one by one would cost more than running
 * them. got: of `most`; ticks: that they took. */
static uint32_t next_most(const th_pool *pool, uint32_t most, uint32_t got, uint64_t ticks)
{
    assert(most > 0 && got > 0);
    if (got < most) /* at the end of a range, which is not representative */
        return most;
    if (ticks < pool->take_ticks / 2)
        return most <= TH_RANGE_MAX ? 2 * most : most;
    return ticks > pool->take_ticks && most > 1 ? most / 2 : most;
}

/* Runs the worker's own range, then what it steals, until nothing is left or the call is over: then stealing would only
 * take cache lines from the threads that open the next call. */
static void work(th_pool *pool, th_range call, uint32_t self)
{
    th_worker_counters *counters = &pool->worker_counters[self];
    uint32_t most = 1;
    uint64_t from = 0; /* when its last range ended */
    do {
        th_range chunks;
        if (!take(pool, call, self, th_range_split_front, most, &chunks))
            continue;
        const uint64_t start = th_worker_counters_begin(counters);
        const uint32_t stride = pool->stride; /* of this call, which has a chunk left */
        uint64_t now = start;
        uint32_t done = 0;
        do {
            const uint64_t before = now;
            const uint32_t count = th_range_length(chunks);
            th_call_run(&pool->call, chunks.begin * stride, count * stride, self, counters);
            done += count;
            now = th_clock_ticks();
            most = next_most(pool, most, count, now - before);
        } while (take(pool, call, self, th_range_split_front, most, &chunks));
        th_worker_counters_add_time(counters, start, now, from ? from : pool->start);
        from = now;
        if (pool->threads > TH_POOL_GROUP ? subtract_together(pool, self, done) : subtract(pool, done))
            return;
    } while (steal(pool, call, self));
}

/* ---- the workers' side ---- */

static uint64_t spin_limit_ns(th_pool *pool)
{
    return atomic_load(&pool->frames_begun) == atomic_load(&pool->frames_ended) ? pool->spin_ns : pool->frame_spin_ns;
}

static void park(th_eventcount *event, uint32_t key, th_worker_counters *counters)
{
    th_counter_add(&counters->parks, 1);
    const uint64_t woken = th_eventcount_wait(event, key);
    th_counter_add(&counters->wakes, woken > 0);
    th_counter_add(&counters->wake, woken);
}

static th_range next_call(th_pool *pool, th_range last, th_worker_counters *counters)
{
    const uint64_t seen = th_range_pack(last);
    uint32_t begun = atomic_load(&pool->frames_begun); /* a frame that begins is news: spin anew, for longer */
    th_spin spin = {0};
    uint64_t word;
    while ((word = atomic_load(&pool->opened)) == seen) {
        if (th_spin_again(&spin, spin_limit_ns(pool)))
            continue;
        const uint32_t key = th_eventcount_prepare_wait(&pool->call_event);
        if (atomic_load(&pool->opened) == seen && atomic_load(&pool->frames_begun) == begun)
            park(&pool->call_event, key, counters);
        th_eventcount_finish_wait(&pool->call_event);
        begun = atomic_load(&pool->frames_begun);
        spin = (th_spin){0};
    }
    return th_range_unpack(word);
}

static void *worker_main(void *arg)
{
    worker *self = arg;
    th_pool *pool = self->pool;
    const uint32_t index = (uint32_t)(self - pool->workers);
    char name[16];
    snprintf(name, sizeof name, "throng-%u", index);
    pthread_setname_np(pthread_self(), name);

    th_worker_tls tls;
    th_worker_tls_enter(&tls, pool->jobs, index);
    th_range call = {.epoch = FIRST_EPOCH};
    while (call = next_call(pool, call, &pool->worker_counters[index]), th_range_length(call) > 0)
        work(pool, call, index);
    return NULL;
}

/* ---- the caller's side ---- */

/* Sets all ranges to empty ones of the call that has ended. No call may be open. */
static void mark_ranges(th_pool *pool, uint32_t epoch)
{
    const uint64_t empty = th_range_pack((th_range){.epoch = epoch});
    for (uint32_t i = 0; i < pool->threads; i++)
        atomic_store_explicit(&pool->workers[i].range, empty, memory_order_release);
}

static th_range open_call(th_pool *pool, uint32_t chunks)
{
    assert(chunks <= TH_RANGE_MAX);
    const uint32_t epoch = th_range_unpack(atomic_load_explicit(&pool->opened, memory_order_relaxed)).epoch;
    if (epoch % (UINT32_MAX / 2 + 1) == 0)
        mark_ranges(pool, epoch);
    const th_range call = {.epoch = epoch + 1, .end = chunks};
    atomic_store(&pool->opened, th_range_pack(call));
    return call;
}

int th_pool_run(th_pool *pool, const th_job *job, const th_trace *trace, uint64_t start)
{
    assert(job->fn && job->count > 0 && job->grain > 0);
    pool->call.job = *job;
    pool->call.trace = trace;
    atomic_store_explicit(&pool->call.error, 0, memory_order_relaxed);
    pool->start = start;
    const uint32_t together = (th_job_chunks(job) - 1) / TH_RANGE_MAX + 1; /* that count as one */
    const uint32_t chunks = (th_job_chunks(job) - 1) / together + 1;
    pool->stride = job->grain * together;
    atomic_store_explicit(&pool->unfinished, chunks, memory_order_relaxed);
    if (atomic_load_explicit(&pool->is_weighted, memory_order_relaxed) != (job->partition != NULL))
        atomic_store_explicit(&pool->is_weighted, job->partition != NULL, memory_order_relaxed);
    const uint32_t count = chunks < pool->threads ? chunks : pool->threads;
    for (uint32_t i = 1, split = 0; job->partition && i < count; i++) {
        /* Each participant gets at least one chunk, whatever job->partition says. */
        const uint32_t wanted = job->partition[i - 1] / pool->stride, least = split + 1, most = chunks - (count - i);
        split = wanted < least ? least : wanted > most ? most : wanted;
        atomic_store_explicit(&pool->partition_starts[i], (uint16_t)split, memory_order_relaxed);
    }

    const th_range call = open_call(pool, chunks);
    th_eventcount_notify(&pool->call_event, participants(pool, call) - 1);
    work(pool, call, 0);
    th_spin spin = {0};
    while (atomic_load(&pool->unfinished) > 0) {
        if (th_spin_again(&spin, spin_limit_ns(pool)))
            continue;
        const uint32_t key = th_eventcount_prepare_wait(&pool->finish_event);
        if (atomic_load(&pool->unfinished) > 0)
            park(&pool->finish_event, key, &pool->worker_counters[0]);
        th_eventcount_finish_wait(&pool->finish_event);
    }
    return atomic_load_explicit(&pool->call.error, memory_order_relaxed);
}

void th_pool_frame_begin(th_pool *pool)
{
    if (pool->spin_ns == 0)
        return;
    atomic_fetch_add(&pool->frames_begun, 1);
    th_eventcount_notify(&pool->call_event, pool->threads - 1);
}

void th_pool_frame_end(th_pool *pool)
{
    if (pool->spin_ns == 0)
        return;
    assert(atomic_load(&pool->frames_ended) != atomic_load(&pool->frames_begun));
    atomic_fetch_add(&pool->frames_ended, 1);
}

/* ---- starting and ending ---- */

int th_pool_create(const th_jobs *jobs, uint32_t threads, th_worker_counters *worker_counters, th_pool **out)
{
    assert(threads > 1 && threads <= TH_JOBS_MAX_THREADS);
    assert(threads / TH_POOL_GROUP <= TH_JOBS_MAX_THREADS / MAX_GROUP);
    assert(worker_counters && out);
    *out = NULL;
    const size_t bytes = sizeof(th_pool) + threads * sizeof(worker);
    th_pool *pool = aligned_alloc(TH_FALSE_SHARING_BYTES, bytes);
    if (!pool)
        return ENOMEM;
    memset(pool, 0, bytes);
    pool->jobs = jobs;
    pool->worker_counters = worker_counters;
    pool->threads = threads;
    if (threads <= th_cpus_read().usable) {
        pool->spin_ns = SPIN_NS;
        pool->frame_spin_ns = FRAME_SPIN_NS;
    }
    atomic_init(&pool->opened, th_range_pack((th_range){.epoch = FIRST_EPOCH}));
    mark_ranges(pool, FIRST_EPOCH);
    for (uint32_t i = 0; i < sizeof pool->groups / sizeof *pool->groups; i++)
        atomic_init(&pool->groups[i].emptied, FIRST_EPOCH);

    /* The workers start with all signals blocked, which belong to the program's own threads, but for faults of the
     * thread itself, for handlers such as AddressSanitizer's. */
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = 0;
    for (uint32_t i = 1; i < threads && !error; i++) {
        worker *next = &pool->workers[i];
        next->pool = pool;
        error = pthread_create(&next->thread, NULL, worker_main, next) ? EAGAIN : 0;
        pool->started += !error;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pool->take_ticks = th_clock_ticks_in(TAKE_NS);
    if (error) {
        th_pool_destroy(pool);
        return error;
    }
    *out = pool;
    return 0;
}

void th_pool_threads(const th_pool *pool, pthread_t *out)
{
    assert(pool->started == pool->threads - 1);
    for (uint32_t i = 1; i < pool->threads; i++)
        out[i - 1] = pool->workers[i].thread;
}

void th_pool_destroy(th_pool *pool)
{
    if (!pool)
        return;
    open_call(pool, 0);
    th_eventcount_notify(&pool->call_event, pool->threads);
    for (uint32_t i = 1; i <= pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    free(pool);
}
