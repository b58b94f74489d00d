/* Comes before everything else in each source of jobs/ that is explored (see explore.h): atomics, threads, locks,
 * futexes, memory and time are those of the explorer. What it does not know does not compile. */
#ifndef TH_TESTS_EXPLORE_ATOMICS_H
#define TH_TESTS_EXPLORE_ATOMICS_H

#include "explore.h"

#include <jobs/jobs.h>

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

typedef struct explore_site {
    const char *file, *function, *object;
    int line;
    memory_order order;
} explore_site;

#define EXPLORE_HERE(object, order) ((explore_site){__FILE__, __func__, #object, __LINE__, (order)})

/* Before an operation, which then happens at once. */
void explore_load(explore_site at, const volatile void *object);
void explore_store(explore_site at, const volatile void *object);
void explore_change(explore_site at, const volatile void *object);
void explore_compare(explore_site at, const volatile void *object);

/* At that moment. found: the latest value. Returns what the load reads. */
uint64_t explore_loaded(explore_site at, const volatile void *object, uint64_t found);
void explore_stored(explore_site at, const volatile void *object, uint64_t found, uint64_t value);
void explore_changed(explore_site at, const volatile void *object, uint64_t found, uint64_t value);

/* failed: the same with the other order. *expected: gets what was read. Returns whether `value` is to be stored. */
bool explore_compared(explore_site at, explore_site failed, bool weak, const volatile void *object, uint64_t *expected,
                      uint64_t found, uint64_t value);

#define EXPLORE_DEFINE(name, type)                                                                                     \
    static inline type explore_load_##name(explore_site at, const volatile _Atomic(type) *object)                      \
    {                                                                                                                  \
        explore_load(at, object);                                                                                      \
        return (type)explore_loaded(at, object, (uint64_t)atomic_load(object));                                        \
    }                                                                                                                  \
    static inline void explore_store_##name(explore_site at, volatile _Atomic(type) *object, type value)               \
    {                                                                                                                  \
        explore_store(at, object);                                                                                     \
        explore_stored(at, object, (uint64_t)atomic_load(object), (uint64_t)value);                                    \
        atomic_store(object, value);                                                                                   \
    }                                                                                                                  \
    static inline type explore_exchange_##name(explore_site at, volatile _Atomic(type) *object, type value)            \
    {                                                                                                                  \
        explore_change(at, object);                                                                                    \
        explore_changed(at, object, (uint64_t)atomic_load(object), (uint64_t)value);                                   \
        return atomic_exchange(object, value);                                                                         \
    }                                                                                                                  \
    static inline type explore_add_##name(explore_site at, volatile _Atomic(type) *object, type value)                 \
    {                                                                                                                  \
        explore_change(at, object);                                                                                    \
        const type before = atomic_load(object);                                                                       \
        explore_changed(at, object, (uint64_t)before, (uint64_t)(type)(before + value));                               \
        atomic_store(object, (type)(before + value));                                                                  \
        return before;                                                                                                 \
    }                                                                                                                  \
    static inline type explore_sub_##name(explore_site at, volatile _Atomic(type) *object, type value)                 \
    {                                                                                                                  \
        return explore_add_##name(at, object, (type)-value);                                                           \
    }                                                                                                                  \
    static inline bool explore_exchange_if_##name(explore_site at, explore_site failed, bool weak,                     \
                                                  volatile _Atomic(type) *object, type *expected, type value)          \
    {                                                                                                                  \
        explore_compare(at, object);                                                                                   \
        uint64_t read = (uint64_t)*expected;                                                                           \
        const bool is_equal =                                                                                          \
            explore_compared(at, failed, weak, object, &read, (uint64_t)atomic_load(object), (uint64_t)value);         \
        *expected = (type)read;                                                                                        \
        if (is_equal)                                                                                                  \
            atomic_store(object, value);                                                                               \
        return is_equal;                                                                                               \
    }

EXPLORE_DEFINE(bool, bool)
EXPLORE_DEFINE(int, int)
EXPLORE_DEFINE(16, uint16_t)
EXPLORE_DEFINE(32, uint32_t)
EXPLORE_DEFINE(64, uint64_t)

#define EXPLORE_OF(verb, object)                                                                                       \
    _Generic(*(object), bool                                                                                           \
             : explore_##verb##_bool, int                                                                              \
             : explore_##verb##_int, uint16_t                                                                          \
             : explore_##verb##_16, uint32_t                                                                           \
             : explore_##verb##_32, uint64_t                                                                           \
             : explore_##verb##_64)

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_weak_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit
#define atomic_load_explicit(object, order) EXPLORE_OF(load, object)(EXPLORE_HERE(object, order), object)
#define atomic_store_explicit(object, value, order)                                                                    \
    EXPLORE_OF(store, object)(EXPLORE_HERE(object, order), object, value)
#define atomic_exchange_explicit(object, value, order)                                                                 \
    EXPLORE_OF(exchange, object)(EXPLORE_HERE(object, order), object, value)
#define atomic_fetch_add_explicit(object, value, order)                                                                \
    EXPLORE_OF(add, object)(EXPLORE_HERE(object, order), object, value)
#define atomic_fetch_sub_explicit(object, value, order)                                                                \
    EXPLORE_OF(sub, object)(EXPLORE_HERE(object, order), object, value)
#define EXPLORE_COMPARE(object, expected, value, order, failed, weak)                                                  \
    EXPLORE_OF(exchange_if, object)                                                                                    \
    (EXPLORE_HERE(object, order), EXPLORE_HERE(object, failed), weak, object, expected, value)
#define atomic_compare_exchange_weak_explicit(object, expected, value, order, failed)                                  \
    EXPLORE_COMPARE(object, expected, value, order, failed, true)
#define atomic_compare_exchange_strong_explicit(object, expected, value, order, failed)                                \
    EXPLORE_COMPARE(object, expected, value, order, failed, false)
#define atomic_load(object)             atomic_load_explicit(object, memory_order_seq_cst)
#define atomic_store(object, value)     atomic_store_explicit(object, value, memory_order_seq_cst)
#define atomic_exchange(object, value)  atomic_exchange_explicit(object, value, memory_order_seq_cst)
#define atomic_fetch_add(object, value) atomic_fetch_add_explicit(object, value, memory_order_seq_cst)
#define atomic_fetch_sub(object, value) atomic_fetch_sub_explicit(object, value, memory_order_seq_cst)
#define atomic_compare_exchange_weak(object, expected, value)                                                          \
    atomic_compare_exchange_weak_explicit(object, expected, value, memory_order_seq_cst, memory_order_seq_cst)
#define atomic_compare_exchange_strong(object, expected, value)                                                        \
    atomic_compare_exchange_strong_explicit(object, expected, value, memory_order_seq_cst, memory_order_seq_cst)

int explore_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *arg), void *arg);
int explore_thread_join(pthread_t thread, void **result);
int explore_thread_name(pthread_t thread, const char *name);
pthread_t explore_thread_self(void);
int explore_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int explore_mutex_destroy(pthread_mutex_t *mutex);
int explore_mutex_lock(pthread_mutex_t *mutex);
int explore_mutex_trylock(pthread_mutex_t *mutex);
int explore_mutex_unlock(pthread_mutex_t *mutex);
int explore_signal_mask(int how, const sigset_t *set, sigset_t *before);
long explore_syscall(long number, ...); /* SYS_futex */
int explore_clock(clockid_t clock, struct timespec *now);
uint64_t explore_ticks(void); /* nanoseconds, too */
int explore_nanosleep(const struct timespec *time, struct timespec *rest);
void explore_pause(void);
void *explore_aligned_alloc(size_t alignment, size_t size);
void explore_free(void *block);
th_cpus explore_cpus(void);

#undef __rdtsc
#define pthread_create        explore_thread_create
#define pthread_join          explore_thread_join
#define pthread_setname_np    explore_thread_name
#define pthread_self          explore_thread_self
#define pthread_mutex_init    explore_mutex_init
#define pthread_mutex_destroy explore_mutex_destroy
#define pthread_mutex_lock    explore_mutex_lock
#define pthread_mutex_trylock explore_mutex_trylock
#define pthread_mutex_unlock  explore_mutex_unlock
#define pthread_sigmask       explore_signal_mask
#define syscall               explore_syscall
#define clock_gettime         explore_clock
#define nanosleep             explore_nanosleep
#define __rdtsc               explore_ticks
#define __builtin_ia32_pause  explore_pause
#define aligned_alloc         explore_aligned_alloc
#define free                  explore_free

/* Variables of a thread are kept together, for the explorer to exchange when it changes fibers. */
#undef thread_local
#define _Thread_local __attribute__((section("explore_locals")))
#define TH_RANGE_MAX  explore_range_max
#define TH_POOL_GROUP explore_pool_group
#define th_cpus_read  explore_cpus

#undef atomic_fetch_and
#undef atomic_fetch_or
#undef atomic_fetch_xor
#undef atomic_thread_fence
#undef atomic_flag_test_and_set
#undef pthread_cleanup_push
#pragma GCC poison atomic_fetch_and atomic_fetch_or atomic_fetch_xor atomic_thread_fence atomic_flag_test_and_set
#pragma GCC poison pthread_cond_wait pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_barrier_wait pthread_spin_lock
#pragma GCC poison pthread_mutex_timedlock pthread_cleanup_push sem_wait sem_post sched_yield usleep mtx_lock          \
    thrd_create

#endif
