#include "memory_budget.h"

#include <assert.h>
#include <sys/resource.h>

/* With the lock. */
static uint64_t left_of(const th_memory_budget *b)
{
    uint64_t used = 0;
    for (int k = 0; k < TH_MEMORY_KINDS; k++)
        used += b->used[k];
    assert(used <= b->limit);
    return b->limit - used;
}

bool th_memory_reserve(th_memory_budget *b, th_memory_kind kind, uint64_t bytes)
{
    pthread_mutex_lock(&b->lock);
    const bool fits = bytes <= left_of(b);
    b->used[kind] += fits ? bytes : 0;
    pthread_mutex_unlock(&b->lock);
    return fits;
}

uint64_t th_memory_reserve_part(th_memory_budget *b, th_memory_kind kind, uint64_t parts)
{
    assert(parts > 0);
    pthread_mutex_lock(&b->lock);
    const uint64_t bytes = left_of(b) / parts;
    b->used[kind] += bytes;
    pthread_mutex_unlock(&b->lock);
    return bytes;
}

void th_memory_release(th_memory_budget *b, th_memory_kind kind, uint64_t bytes)
{
    pthread_mutex_lock(&b->lock);
    assert(bytes <= b->used[kind]);
    b->used[kind] -= bytes;
    pthread_mutex_unlock(&b->lock);
}

uint64_t th_memory_used(th_memory_budget *b, th_memory_kind kind)
{
    pthread_mutex_lock(&b->lock);
    const uint64_t used = b->used[kind];
    pthread_mutex_unlock(&b->lock);
    return used;
}

uint64_t th_memory_left(th_memory_budget *b)
{
    pthread_mutex_lock(&b->lock);
    const uint64_t left = left_of(b);
    pthread_mutex_unlock(&b->lock);
    return left;
}

const char *th_memory_kind_name(th_memory_kind kind)
{
    static const char *const names[TH_MEMORY_KINDS] = {"models", "crowds", "pictures", "runs"};
    return names[kind];
}

void th_memory_limit_process(pid_t pid, uint64_t bytes)
{
    if (!TH_SANITIZED)
        prlimit(pid, RLIMIT_DATA, &(struct rlimit){bytes, bytes}, NULL);
}
