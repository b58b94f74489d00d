#include "memory_bandwidth.h"

#include <bench/interference.h>
#include <core/cache_line.h>
#include <core/clock.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* A thread moves a chunk in microseconds, far longer than it takes to hand it out. */
#define CHUNK_BYTES ((size_t)256 * 1024)

/* As wide as loads and stores of the baseline instruction set: enough for a core to saturate its memory. */
typedef uint64_t word __attribute__((vector_size(16)));

const char *th_bandwidth_kind_name(th_bandwidth_kind kind)
{
    assert(kind < TH_BANDWIDTH_COUNT);
    static const char *const names[] = {"write", "read", "streaming_write"};
    _Static_assert(sizeof names / sizeof *names == TH_BANDWIDTH_COUNT, "a name for each");
    return names[kind];
}

uint32_t th_bandwidth_kind_count(void)
{
#ifdef __SSE2__
    return TH_BANDWIDTH_COUNT;
#else
    return TH_BANDWIDTH_STREAM;
#endif
}

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Four times the caches, of which the largest is the last level; counts as many of it as all CPUs have. At most an
 * eighth of the machine, and half of what is available: a cgroup may allow less than the machine has, and kills a
 * process that uses more. */
size_t th_bandwidth_default_bytes(const th_context *context)
{
    assert(context);
    const size_t least = (size_t)32 << 20, available = th_memory_available();
    const size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    size_t most = lesser((size_t)1 << 30, machine / 8), caches = 0;
    most = available > 0 ? lesser(most, available / 2) : most;
    for (uint32_t i = 0; i < context->cache_count; i++) {
        const th_cache *c = &context->caches[i];
        const uint32_t sharing = c->sharing ? c->sharing : 1, count = (context->cpus.online + sharing - 1) / sharing;
        caches = c->bytes * count > caches ? c->bytes * count : caches;
    }
    return lesser(4 * caches > least ? 4 * caches : least, most);
}

size_t th_bandwidth_round(size_t bytes)
{
    return (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
}

/* ---- chunks ---- */

typedef struct block {
    char *memory;
    uint32_t chunks;
} block;

static word *word_at(const block *b, uint32_t chunk)
{
    return (word *)(void *)(b->memory + chunk * CHUNK_BYTES);
}

static int write_chunks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const word value = {worker, begin};
    for (word *w = word_at(ctx, begin), *last = word_at(ctx, end); w < last; w++)
        *w = value;
    return 0;
}

static int read_chunks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    word sums[4] = {{0}};
    (void)worker;
    for (const word *w = word_at(ctx, begin), *last = word_at(ctx, end); w < last; w += 4)
        for (int i = 0; i < 4; i++)
            sums[i] += w[i];
    const word sum = sums[0] + sums[1] + sums[2] + sums[3];
    volatile uint64_t used = sum[0] + sum[1];
    (void)used;
    return 0;
}

static int stream_chunks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
#ifdef __SSE2__
    const __m128i value = _mm_set_epi64x(begin, worker);
    for (word *w = word_at(ctx, begin), *last = word_at(ctx, end); w < last; w++)
        _mm_stream_si128((__m128i *)(void *)w, value);
    _mm_sfence();
    return 0;
#else
    return write_chunks(begin, end, worker, ctx);
#endif
}

/* ---- plain writes ---- */

/* 0: by the C library, 1: by plain stores, 2: past the caches. */
static void write_plainly(char *at, size_t bytes, int value, int way)
{
    const word w = {(uint64_t)value, 1};
    for (word *to = (word *)(void *)at, *end = to + bytes / sizeof w; way > 0 && to < end; to++)
#ifdef __SSE2__
        if (way == 2)
            _mm_stream_si128((__m128i *)(void *)to, (__m128i)w);
        else
#endif
            *to = w;
    if (way == 0)
        memset(at, value, bytes);
}

enum { TRIES = 8 }; /* some may be disturbed */

double th_plain_write_ns(void *at, size_t bytes, size_t piece, bool streams)
{
    const int passes = (int)(1 + ((size_t)16 << 20) / bytes);
    double least_ns = HUGE_VAL;
    piece = piece / sizeof(word) * sizeof(word); /* stores are aligned */
    for (int n = 0; n < TRIES; n++) {
        const int way = streams ? 2 : n % 2;
        const uint64_t begin_ns = th_clock_cpu_ns();
        for (int pass = 0; pass < passes; pass++)
            for (size_t done = 0; done < bytes; done += piece)
                write_plainly((char *)at + done, lesser(piece, bytes - done), pass, way);
        least_ns = fmin(least_ns, (double)(th_clock_cpu_ns() - begin_ns) / passes);
    }
    return least_ns;
}

/* ---- repetitions ---- */

/* A pool that moves the block in one way. */
typedef struct transfer {
    th_jobs *jobs;
    block *block;
    th_jobs_fn *move;
    bool waits_quiescent;
} transfer;

static void move(void *ctx, uint64_t pass)
{
    const transfer *m = ctx;
    (void)pass;
    th_jobs_for(m->jobs, m->block->chunks, 1, m->move, m->block);
}

static void begin_repetition(void *ctx)
{
    const transfer *m = ctx;
    if (m->waits_quiescent || th_jobs_threads(m->jobs) == 1) /* which is to work alone */
        th_wait_quiescent();
    th_jobs_frame_begin(m->jobs);
}

static void end_repetition(void *ctx)
{
    const transfer *m = ctx;
    th_jobs_frame_end(m->jobs);
}

th_result th_bandwidth_measure(const th_bandwidth_desc *desc, th_row *rows, th_error *err)
{
    static th_jobs_fn *const moves[] = {write_chunks, read_chunks, stream_chunks};
    _Static_assert(sizeof moves / sizeof *moves == TH_BANDWIDTH_COUNT, "a way for each");
    assert(desc && rows);
    assert(desc->pools && desc->pool_count > 0);
    assert(desc->bytes > 0 && desc->bytes == th_bandwidth_round(desc->bytes));
    const uint32_t kinds = th_bandwidth_kind_count(), count = desc->pool_count * kinds;
    block b = {th_huge_page_alloc(desc->bytes), (uint32_t)(desc->bytes / CHUNK_BYTES)};
    if (!b.memory)
        return th_fail(err, TH_ERR_MEMORY, "no memory to measure the bandwidth of: %zu MB", desc->bytes / 1000000);
    transfer *transfers = calloc(count, sizeof *transfers);
    th_subject *subjects = calloc(count, sizeof *subjects);
    const bool room = transfers && subjects;
    for (uint32_t i = 0; room && i < count; i++) {
        transfers[i] = (transfer){desc->pools[i / kinds], &b, moves[i % kinds], desc->waits_quiescent};
        subjects[i] = (th_subject){
            .before = begin_repetition, .run = move, .after = end_repetition, .ctx = &transfers[i], .row = &rows[i]};
    }
    if (room) {
        move(&transfers[count - kinds], 0); /* first touch: pages are placed near the threads that use them */
        th_measure(&desc->measure, subjects, count);
    }
    free(transfers);
    free(subjects);
    free(b.memory);
    return room ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory to measure %u bandwidths", count);
}
