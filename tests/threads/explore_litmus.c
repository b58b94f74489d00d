/* Is the explorer's memory that of C11? Small programs whose outcomes are known (J. Alglave, L. Maranget, M.
 * Tautschnig, Herding Cats, 2014): what may happen must be found, and nothing else. */
#include "explore_litmus.h"

#include "explore.h"

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, BOUND = 2 };

static struct {
    _Atomic(uint32_t) x, y;
    uint32_t a, b, c, d;
} memory;

#define LOAD(object, order)         atomic_load_explicit(&memory.object, memory_order_##order)
#define STORE(object, value, order) atomic_store_explicit(&memory.object, value, memory_order_##order)

/* Store buffering: each writes one, then reads the other. */
#define BUFFERING(name, write, read)                                                                                   \
    static void name##_0(void)                                                                                         \
    {                                                                                                                  \
        STORE(x, 1, write);                                                                                            \
        memory.a = LOAD(y, read);                                                                                      \
    }                                                                                                                  \
    static void name##_1(void)                                                                                         \
    {                                                                                                                  \
        STORE(y, 1, write);                                                                                            \
        memory.b = LOAD(x, read);                                                                                      \
    }
BUFFERING(sb_sc, seq_cst, seq_cst)
BUFFERING(sb_store, release, seq_cst)
BUFFERING(sb_load, seq_cst, acquire)

static bool neither_is_seen(void)
{
    return memory.a == 0 && memory.b == 0;
}

/* Message passing: data, then a flag. */
#define PASSING(name, write, read)                                                                                     \
    static void name##_0(void)                                                                                         \
    {                                                                                                                  \
        STORE(x, 1, relaxed);                                                                                          \
        STORE(y, 1, write);                                                                                            \
    }                                                                                                                  \
    static void name##_1(void)                                                                                         \
    {                                                                                                                  \
        memory.a = LOAD(y, read);                                                                                      \
        memory.b = LOAD(x, relaxed);                                                                                   \
    }
PASSING(mp, release, acquire)
PASSING(mp_write, relaxed, acquire)
PASSING(mp_read, release, relaxed)

static bool flag_without_data(void)
{
    return memory.a == 1 && memory.b == 0;
}

/* The same through a third that changes the flag, relaxed: a release sequence. */
static void change_flag(void)
{
    atomic_fetch_add_explicit(&memory.y, 1, memory_order_relaxed);
}

static void store_flag(void)
{
    if (LOAD(y, relaxed) == 1)
        STORE(y, 2, relaxed);
}

static bool changed_flag_without_data(void)
{
    return memory.a == 2 && memory.b == 0;
}

/* Coherence: nobody goes back. */
static void write_twice(void)
{
    STORE(x, 1, relaxed);
    STORE(x, 2, relaxed);
}

static void read_twice(void)
{
    memory.a = LOAD(x, relaxed);
    memory.b = LOAD(x, relaxed);
}

static bool goes_back(void)
{
    return memory.a > memory.b;
}

static bool sees_old_twice(void)
{
    return memory.a == 1 && memory.b == 1;
}

/* Two writers, two readers who disagree (IRIW). */
#define READERS(name, order)                                                                                           \
    static void name##_write_x(void)                                                                                   \
    {                                                                                                                  \
        STORE(x, 1, order##_write);                                                                                    \
    }                                                                                                                  \
    static void name##_write_y(void)                                                                                   \
    {                                                                                                                  \
        STORE(y, 1, order##_write);                                                                                    \
    }                                                                                                                  \
    static void name##_read_xy(void)                                                                                   \
    {                                                                                                                  \
        memory.a = LOAD(x, order##_read);                                                                              \
        memory.b = LOAD(y, order##_read);                                                                              \
    }                                                                                                                  \
    static void name##_read_yx(void)                                                                                   \
    {                                                                                                                  \
        memory.c = LOAD(y, order##_read);                                                                              \
        memory.d = LOAD(x, order##_read);                                                                              \
    }
#define memory_order_pair_write memory_order_release
#define memory_order_pair_read  memory_order_acquire
#define memory_order_sc_write   memory_order_seq_cst
#define memory_order_sc_read    memory_order_seq_cst
READERS(iriw, pair)
READERS(iriw_sc, sc)

static bool readers_disagree(void)
{
    return memory.a == 1 && memory.b == 0 && memory.c == 1 && memory.d == 0;
}

typedef struct litmus {
    const char *name;
    void (*threads[THREADS])(void);
    bool (*outcome)(void);
    bool is_allowed;
} litmus;

static const litmus tests[] = {
    {"SB, seq_cst", {sb_sc_0, sb_sc_1}, neither_is_seen, false},
    {"SB, released stores", {sb_store_0, sb_store_1}, neither_is_seen, true},
    {"SB, acquiring loads", {sb_load_0, sb_load_1}, neither_is_seen, true},
    {"MP", {mp_0, mp_1}, flag_without_data, false},
    {"MP, relaxed store", {mp_write_0, mp_write_1}, flag_without_data, true},
    {"MP, relaxed load", {mp_read_0, mp_read_1}, flag_without_data, true},
    {"MP, flag changed", {mp_0, change_flag, mp_1}, changed_flag_without_data, false},
    {"MP, flag stored again", {mp_0, store_flag, mp_1}, changed_flag_without_data, true},
    {"CoRR", {write_twice, read_twice}, goes_back, false},
    {"old values", {write_twice, read_twice}, sees_old_twice, true},
    {"IRIW", {iriw_write_x, iriw_write_y, iriw_read_xy, iriw_read_yx}, readers_disagree, true},
    {"IRIW, seq_cst", {iriw_sc_write_x, iriw_sc_write_y, iriw_sc_read_xy, iriw_sc_read_yx}, readers_disagree, false},
};

static void *run_thread(void *arg)
{
    (*(void (*const *)(void))arg)();
    return NULL;
}

static void *run_threads(void *arg)
{
    const litmus *test = arg;
    pthread_t threads[THREADS];
    STORE(x, 0, relaxed);
    STORE(y, 0, relaxed);
    for (int t = 0; t < THREADS && test->threads[t]; t++)
        pthread_create(&threads[t], NULL, run_thread, (void *)&test->threads[t]);
    for (int t = 0; t < THREADS && test->threads[t]; t++)
        pthread_join(threads[t], NULL);
    return NULL;
}

int explore_litmus(void)
{
    static explore_all all = {.is_weak = true};
    const explore_policy policy = explore_all_policy(&all);
    int wrong = 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        const litmus *test = &tests[i];
        uint64_t runs = 0, seen = 0;
        explore_all_begin(&all, BOUND);
        do {
            explore_run(&policy, test->name, run_threads, (void *)test);
            runs++;
            seen += test->outcome(); /* once is enough where it may be */
        } while (!(seen && test->is_allowed) && explore_all_next(&all));
        printf("%-24s %6llu of %llu\n", test->name, (unsigned long long)seen, (unsigned long long)runs);
        wrong += (seen > 0) != test->is_allowed;
    }
    return wrong > 0;
}
