#include "fixture_memory.h"

#include <stdbool.h>

size_t allocations;
size_t allocated_bytes;
long allocations_left = -1;
size_t failing_allocation;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool may_allocate(size_t bytes)
{
    allocated_bytes += bytes;
    if (++allocations == failing_allocation)
        return false;
    if (allocations_left < 0)
        return true;
    return allocations_left-- > 0 || (allocations_left = 0, false);
}

void *__wrap_malloc(size_t size)
{
    return may_allocate(size) ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return may_allocate(count * size) ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *old, size_t size)
{
    return may_allocate(size) ? __real_realloc(old, size) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return may_allocate(size) ? __real_aligned_alloc(alignment, size) : NULL;
}
