/* A board that one thread writes on and others read: neither ever waits for the other.
 *
 * A seqlock (H.-J. Boehm, Can Seqlocks Get Along with Programming Language Memory Models?, 2012). The writer is the
 * thread that ticks, which must not stand behind a reader that the system has put to sleep; a reader that meets it at
 * work reads again. Words are atomic, so a torn read is no data race, and is thrown away. */
#ifndef TH_SERVE_SIMULATION_SEQLOCK_H
#define TH_SERVE_SIMULATION_SEQLOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TH_BOARD_WORDS = 264 };

typedef struct th_board {
    _Atomic uint64_t turn; /* odd while the writer is at work */
    _Atomic uint64_t words[TH_BOARD_WORDS];
} th_board;

/* One thread. bytes: a multiple of 8, at most those of a board. */
static inline void th_board_write(th_board *board, const void *bytes, size_t size)
{
    const uint64_t turn = atomic_load_explicit(&board->turn, memory_order_relaxed);
    atomic_store_explicit(&board->turn, turn + 1, memory_order_relaxed);
    for (size_t w = 0; w < size / 8; w++) {
        uint64_t word;
        memcpy(&word, (const char *)bytes + 8 * w, 8);
        atomic_store_explicit(&board->words[w], word, memory_order_release); /* whoever sees it sees the odd turn */
    }
    atomic_store_explicit(&board->turn, turn + 2, memory_order_release);
}

/* Any thread. */
static inline void th_board_read(th_board *board, void *out, size_t size)
{
    for (;;) {
        const uint64_t turn = atomic_load_explicit(&board->turn, memory_order_acquire);
        for (size_t w = 0; w < size / 8; w++) {
            const uint64_t word = atomic_load_explicit(&board->words[w], memory_order_acquire);
            memcpy((char *)out + 8 * w, &word, 8);
        }
        if (turn % 2 == 0 && atomic_load_explicit(&board->turn, memory_order_relaxed) == turn)
            return;
        sched_yield();
    }
}

#endif
