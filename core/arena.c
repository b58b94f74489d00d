#include <core/arena.h>

#include <core/cache_line.h>

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* AddressSanitizer is told what is allocated of a block, so that it finds what reaches past one array into the next. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1 /* as gcc does itself */
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define GAP TH_CACHE_LINE
#else
#define ASAN_POISON_MEMORY_REGION(memory, size)   ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(memory, size) ((void)0)
#define GAP                                       0
#endif

#define BLOCK_BYTES ((size_t)64 << 10)

/* Padded to the alignment, so that the bytes behind it are aligned. */
typedef union block {
    struct {
        union block *next;
        size_t used, size; /* of the bytes behind this header */
    };
    char pad[TH_CACHE_LINE];
} block;

struct th_arena {
    block *blocks; /* the first one is being filled */
    bool is_failed;
};

th_arena *th_arena_create(void)
{
    return calloc(1, sizeof(th_arena));
}

void th_arena_destroy(th_arena *arena)
{
    if (!arena)
        return;
    for (block *b = arena->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(arena);
}

bool th_arena_failed(const th_arena *arena)
{
    return !arena || arena->is_failed;
}

size_t th_arena_bytes(const th_arena *arena)
{
    assert(arena);
    size_t bytes = sizeof *arena;
    for (const block *b = arena->blocks; b; b = b->next)
        bytes += sizeof *b + b->size;
    return bytes;
}

/* The first block goes on being filled when a large one is added behind it, so that little of it is left unused. */
static block *add_block(th_arena *arena, size_t bytes)
{
    const bool is_large = bytes > BLOCK_BYTES / 4;
    const size_t size = is_large ? th_cache_line_round(bytes) : BLOCK_BYTES;
    block *b = aligned_alloc(TH_CACHE_LINE, sizeof(block) + size);
    if (!b)
        return NULL;
    ASAN_POISON_MEMORY_REGION(b + 1, size);
    block **place = is_large && arena->blocks ? &arena->blocks->next : &arena->blocks;
    *b = (block){.next = *place, .size = size};
    return *place = b;
}

/* alignment: a power of two, at most that of a block. gap: bytes left free behind it. */
static void *allocate(th_arena *arena, size_t count, size_t size, size_t alignment, size_t gap)
{
    assert(size > 0);
    if (th_arena_failed(arena)) /* nobody needs more, and to zero more may be what the machine cannot take */
        return NULL;
    size_t bytes;
    const bool is_too_large = __builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2;
    block *b = arena->blocks;
    size_t begin = b ? (b->used + alignment - 1) & ~(alignment - 1) : 0;
    if (!is_too_large && (!b || begin > b->size || b->size - begin < bytes + gap)) {
        b = add_block(arena, bytes + gap);
        begin = 0;
    }
    if (is_too_large || !b) {
        arena->is_failed = true;
        return NULL;
    }
    b->used = begin + bytes + gap;
    assert(b->used <= b->size);
    void *memory = (char *)(b + 1) + begin;
    ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
    return memset(memory, 0, bytes);
}

void *th_arena_alloc(th_arena *arena, size_t count, size_t size)
{
    return allocate(arena, count, size, TH_CACHE_LINE, GAP);
}

void *th_arena_pack(th_arena *arena, size_t count, size_t size)
{
    const size_t alignment = size & -size;
    return allocate(arena, count, size, alignment < TH_CACHE_LINE ? alignment : TH_CACHE_LINE, 0);
}

void *th_arena_copy(th_arena *arena, const void *data, size_t count, size_t size)
{
    assert(data || count == 0);
    void *memory = th_arena_alloc(arena, count, size);
    if (memory && count * size > 0)
        memcpy(memory, data, count * size);
    return memory;
}

char *th_arena_string(th_arena *arena, const char *text)
{
    assert(text);
    return th_arena_copy(arena, text, strlen(text) + 1, 1);
}

char *th_arena_format(th_arena *arena, const char *format, ...)
{
    assert(format);
    va_list args;
    va_start(args, format);
    char *text = th_arena_vformat(arena, format, args);
    va_end(args);
    return text;
}

char *th_arena_vformat(th_arena *arena, const char *format, va_list args)
{
    assert(format);
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : th_arena_alloc(arena, (size_t)length + 1, 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}
