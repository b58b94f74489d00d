/* An arena: allocations that are freed all together. Not thread-safe. A constructor takes all its memory from one and
 * asks once, before it fills it, whether any allocation failed. */
#ifndef THRONG_CORE_ARENA_H
#define THRONG_CORE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct th_arena th_arena;

/* Returns NULL when out of memory. */
th_arena *th_arena_create(void);

/* Frees the arena and everything allocated from it. NULL is allowed. */
void th_arena_destroy(th_arena *arena);

/* Whether any allocation from it has returned NULL, also where the arena itself is NULL. */
bool th_arena_failed(const th_arena *arena);

/* Bytes that the arena has allocated from the system. */
size_t th_arena_bytes(const th_arena *arena);

/* Returns `count` zeroed elements of `size` bytes, above 0, aligned to 64 bytes, also for a count of 0. Returns NULL
 * when out of memory, when count * size overflows, after that, and for an arena of NULL. */
void *th_arena_alloc(th_arena *arena, size_t count, size_t size);

/* The same with nothing between elements of one size: aligned to the largest power of two that divides `size`, which
 * suffices for any type of that size. */
void *th_arena_pack(th_arena *arena, size_t count, size_t size);

/* Copy a string, copy an array, format a string. Return NULL when out of memory. */
char *th_arena_string(th_arena *arena, const char *text);
void *th_arena_copy(th_arena *arena, const void *data, size_t count, size_t size);
__attribute__((format(printf, 2, 3))) char *th_arena_format(th_arena *arena, const char *format, ...);
__attribute__((format(printf, 2, 0))) char *th_arena_vformat(th_arena *arena, const char *format, va_list args);

/* Typed th_arena_alloc, for example th_arena_new(arena, th_joint, n). */
#define th_arena_new(arena, type, count) ((type *)th_arena_alloc((arena), (count), sizeof(type)))

#endif
