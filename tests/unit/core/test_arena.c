/* Arenas: memory that is aligned, zeroed and apart, and a failure that is kept until it is asked for. */
#include <core/arena.h>

#include <core/cache_line.h>

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(arena, allocations_are_aligned_zeroed_and_apart)
{
    th_arena *arena = th_arena_create();
    unsigned char *made[64];
    for (uint32_t i = 0; i < 64; i++) { /* small ones, and some with a block of their own */
        const size_t size = i % 8 == 7 ? 40000 : i;
        made[i] = th_arena_alloc(arena, size, 1);
        cr_assert_eq((uintptr_t)made[i] % TH_CACHE_LINE, 0);
        for (size_t b = 0; b < size; b++)
            cr_assert_eq(made[i][b], 0);
        memset(made[i], (int)i, size);
    }
    for (uint32_t i = 0; i < 64; i++)
        for (size_t b = 0; b < (i % 8 == 7 ? 40000 : i); b++)
            cr_assert_eq(made[i][b], i);
    const char *first = th_arena_pack(arena, 3, 4), *second = th_arena_pack(arena, 1, 4);
    cr_assert_eq(second - first, 12);
    cr_assert(!th_arena_failed(arena));
    th_arena_destroy(arena);
}

Test(arena, a_failure_is_kept)
{
    th_arena *arena = th_arena_create();
    cr_assert_null(th_arena_alloc(arena, SIZE_MAX / 2, 4));
    cr_assert_null(th_arena_alloc(arena, 1, 4));
    cr_assert(th_arena_failed(arena));
    th_arena_destroy(arena);
    cr_assert_null(th_arena_alloc(NULL, 1, 4));
    cr_assert(th_arena_failed(NULL));
}

#if defined __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>

Test(arena, what_lies_behind_an_allocation_may_not_be_touched)
{
    th_arena *arena = th_arena_create();
    const char *bytes = th_arena_alloc(arena, TH_CACHE_LINE, 1);
    th_arena_alloc(arena, 1, 1);
    cr_assert(!__asan_address_is_poisoned(bytes + TH_CACHE_LINE - 1));
    cr_assert(__asan_address_is_poisoned(bytes + TH_CACHE_LINE));
    th_arena_destroy(arena);
}
#endif
