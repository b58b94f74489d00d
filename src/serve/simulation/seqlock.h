/* A seqlock for one writer and several readers (H.-J. Boehm, Can Seqlocks Get Along with Programming Language Memory
 * Models?, 2012).
 *
 * The writer is the tick thread, which must not wait for a preempted reader. A reader that meets a write in progress
 * retries. Words are atomic, so a torn read is not a data race; it is discarded. */
#ifndef TH_SERVE_SIMULATION_SEQLOCK_H
#define TH_SERVE_SIMULATION_SEQLOCK_H

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TH_SEQLOCK_WORDS = 264 };

typedef struct th_seqlock {
    _Atomic uint64_t sequence; /* odd during a write */
    _Atomic uint64_t words[TH_SEQLOCK_WORDS];
} th_seqlock;

/* One thread only. bytes: a multiple of 8, at most the capacity. */
static inline void th_seqlock_write(th_seqlock *seqlock, const void *bytes, size_t size)
{
    assert(size % 8 == 0 && size <= sizeof seqlock->words);
    const uint64_t sequence = atomic_load_explicit(&seqlock->sequence, memory_order_relaxed);
    atomic_store_explicit(&seqlock->sequence, sequence + 1, memory_order_relaxed);
    for (size_t w = 0; w < size / 8; w++) {
        uint64_t word;
        memcpy(&word, (const char *)bytes + 8 * w, 8);
        atomic_store_explicit(&seqlock->words[w], word,
                              memory_order_release); /* a reader that sees this sees the odd sequence */
    }
    atomic_store_explicit(&seqlock->sequence, sequence + 2, memory_order_release);
}

/* Any thread. */
static inline void th_seqlock_read(th_seqlock *seqlock, void *out, size_t size)
{
    assert(size % 8 == 0 && size <= sizeof seqlock->words);
    for (;;) {
        const uint64_t sequence = atomic_load_explicit(&seqlock->sequence, memory_order_acquire);
        for (size_t w = 0; w < size / 8; w++) {
            const uint64_t word = atomic_load_explicit(&seqlock->words[w], memory_order_acquire);
            memcpy((char *)out + 8 * w, &word, 8);
        }
        if (sequence % 2 == 0 && atomic_load_explicit(&seqlock->sequence, memory_order_relaxed) == sequence)
            return;
        sched_yield();
    }
}

#endif
