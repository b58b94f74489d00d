/* Threads as fibers: runs code that was compiled with explore_atomics.h under schedules of our choice, one step at a
 * time, all on one thread of the system.
 *
 * A step is an atomic operation, a futex call, a lock. Before each, a policy says which fiber goes on; so every
 * interleaving can be tried, a random one can be had again, and what the real machine does once in a year happens soon.
 * Time stands still unless somebody reads the clock, and a fiber that spins in vain dozes until what it looks at
 * changes, or until the policy says that its time is up.
 *
 * Memory. With a weak policy a load may read an older value, where C11 allows it: every store adds a message to its
 * place, with a view of what was seen before it; a fiber has a view, too; who acquires takes over the message's view,
 * and nobody reads what is older than its view. seq_cst is that of RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing
 * Sequential Consistency in C/C++11, 2017; the machine is that of Kang and others, 2017, without promises). So it finds
 * orders that are too weak, except where that takes a store before an earlier load (load buffering), or stores that are
 * ordered unlike they happened (2+2W). explore_mark and explore_sees tell whether plain data that was written here may
 * be read there. */
#ifndef TH_TESTS_EXPLORE_H
#define TH_TESTS_EXPLORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPLORE_MAX_FIBERS = 288 }; /* in a run */

/* ---- schedules ---- */

typedef enum explore_question {
    EXPLORE_WHO,   /* goes on? */
    EXPLORE_WEAK,  /* 1: a weak exchange that could succeed fails */
    EXPLORE_STALE, /* 0: a load reads the newest value; else one that is so much older */
    EXPLORE_WAKE,  /* which fiber asleep on the futex? 0: the one asleep longest */
} explore_question;

/* Options 0..count-1. The first `free` cost nothing; any other one is a preemption or a mishap.
 * EXPLORE_WHO: fibers[] has first `ready` ones that can go on (the running one before all others, when it can), then
 * `idle` ones that spin or rest, for whom time would have to pass, then those who would be woken by a signal. */
typedef struct explore_choice {
    explore_question question;
    uint32_t count, free;
    uint32_t ready, idle;
    const uint16_t *fibers;
} explore_choice;

typedef struct explore_policy {
    uint32_t (*choose)(void *ctx, const explore_choice *choice);
    void *ctx;
    bool is_weak;         /* loads may read older values */
    bool lists_sites;     /* for explore_sites */
    bool stops_at_clocks; /* a look at the clock is a step, too: it shows what is done too late */
} explore_policy;

typedef struct explore_result {
    uint64_t steps;
    uint64_t hash; /* of who did what in which order */
} explore_result;

/* Runs fn as fiber 0 until it returns. Any failure prints `what`, the last steps, and ends the program with 1. */
explore_result explore_run(const explore_policy *policy, const char *what, void *(*fn)(void *arg), void *arg);

/* An atomic operation in the code, and an order. */
typedef struct explore_weakness {
    const char *file, *function, *object, *verb;
    int line; /* 0: none */
    memory_order order;
} explore_weakness;

/* Those that were run, with the orders that they have. */
uint32_t explore_sites(const explore_weakness **out);

/* From now on this operation has this order. */
void explore_weaken(const explore_weakness *weakness);

/* The next schedule, depth first, of those with at most `bound` choices that are not free. */
typedef struct explore_all {
    uint32_t bound, used;
    bool is_weak; /* of its policy */
    uint32_t depth, known;
    struct explore_decision {
        uint8_t chosen, options;
    } decisions[1 << 14];
} explore_all;

explore_policy explore_all_policy(explore_all *all);
void explore_all_begin(explore_all *all, uint32_t bound);
bool explore_all_next(explore_all *all); /* false: that was the last one */

/* By chance, in one of three ways drawn from the seed: anybody at every step; priorities that change a few times (PCT;
 * Burckhardt and others, 2010); somebody goes on for long. */
typedef struct explore_chance {
    uint64_t random;
    enum { EXPLORE_UNIFORM, EXPLORE_PRIORITIES, EXPLORE_STICKY } way;
    uint32_t patience;                                          /* a switch in so many steps */
    uint32_t time, weak, stale, signal;                         /* one in so many */
    uint32_t next_change, lowest, priority[EXPLORE_MAX_FIBERS]; /* of a fiber; 0: not drawn yet */
} explore_chance;

explore_policy explore_chance_policy(explore_chance *chance);
void explore_chance_begin(explore_chance *chance, uint64_t seed);

uint64_t explore_random(uint64_t *state);
uint32_t explore_below(uint64_t *state, uint32_t limit);

/* ---- for what is run ---- */

__attribute__((format(printf, 2, 3))) void explore_insist(bool holds, const char *format, ...);

/* While quiet, a fiber goes on for as long as it can, and the policy is not asked. */
void explore_quiet(bool quiet);

/* Until nobody else can go on. patient: and until nobody spins any more. */
void explore_rest(bool patient);

void explore_step(void);
uint32_t explore_sleepers(void); /* fibers asleep on a futex */

/* From now on the thread after next `threads` cannot be created. UINT32_MAX: all can. */
void explore_refuse_thread(uint32_t threads);

typedef struct explore_mark {
    uint32_t fiber, clock;
} explore_mark;

explore_mark explore_mark_here(void);
bool explore_sees(explore_mark mark);

/* What the sources take from the machine. */
extern uint32_t explore_usable_cpus, explore_range_max, explore_pool_group;

#endif
