/* Inside, since no driver here has such limits. Draws cut into pieces that a driver can bind: properties of the
 * pieces, for random draws. */
#include "random_model.h"
#include "render/view/chunk.h"

#include <criterion/criterion.h>

enum { ROUNDS = 200000, SLOT_ALIGNMENT = 64 };

static uint64_t state = 11;

static size_t random_up_to(size_t most)
{
    return (size_t)random_between(&state, 0, (double)most + 1);
}

/* Where the draw fits it is one. */
Test(chunk, pieces_hold_every_character_once_within_the_limit)
{
    uint32_t most_pieces = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const size_t palette_bytes = (1 + random_up_to(80)) * (random_up_to(1) ? 48 : 16);
        const size_t alignment = (size_t)1 << random_up_to(8);
        const size_t stride =
            (palette_bytes + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT + SLOT_ALIGNMENT * random_up_to(3);
        const th_draw draw = {.count = (uint32_t)random_up_to(40),
                              .palette_offset = SLOT_ALIGNMENT * random_up_to(1000),
                              .palette_stride = stride};
        const size_t block_bytes = random_up_to(stride * (1 + random_up_to(2 * (size_t)draw.count)));
        th_chunk chunk = {0};
        uint32_t next = 0, pieces = 0;
        while (th_chunk_next(&draw, palette_bytes, block_bytes, alignment, &chunk)) {
            cr_assert_eq(chunk.first, next);
            cr_assert_gt(chunk.count, 0);
            const size_t first = draw.palette_offset + chunk.first * stride;
            cr_assert_eq(chunk.offset % alignment, 0);
            cr_assert_lt(chunk.lead, alignment);
            cr_assert_eq(chunk.lead % 16, 0, "a piece whose palettes begin within a row");
            cr_assert_eq(chunk.offset + chunk.lead, first);
            cr_assert_eq(chunk.offset + chunk.bytes, first + (chunk.count - 1) * stride + palette_bytes);
            if (chunk.lead + palette_bytes <= block_bytes)
                cr_assert_leq(chunk.bytes, block_bytes);
            else
                cr_assert_eq(chunk.count, 1);
            next += chunk.count;
            if (next < draw.count)
                cr_assert_gt(chunk.bytes + stride, block_bytes, "another character would have fitted");
            pieces++;
        }
        cr_assert_eq(next, draw.count, "round %d: %u of %u characters", round, next, draw.count);
        most_pieces = pieces > most_pieces ? pieces : most_pieces;
    }
    cr_assert_geq(most_pieces, 30); /* the cases are worth their name */
}

/* Instances that share read palettes anywhere among them. */
Test(chunk, shared_palettes_are_one_piece)
{
    const th_draw draw = {.count = 100, .shared = 7, .palette_offset = 640, .palette_stride = 256};
    th_chunk chunk = {0};
    cr_assert(th_chunk_next(&draw, 240, 6 * 256 + 240 + 128, 256, &chunk));
    cr_expect(chunk.first == 0 && chunk.count == 100);
    cr_expect(chunk.offset == 512 && chunk.lead == 128 && chunk.bytes == 128 + 6 * 256 + 240);
    cr_expect_not(th_chunk_next(&draw, 240, 6 * 256 + 240 + 128, 256, &chunk));
    const th_draw nobody = {.shared = 7, .palette_stride = 256};
    cr_expect_not(th_chunk_next(&nobody, 240, 4096, 256, &(th_chunk){0}));
}

/* What a driver lets a block have may exceed 32 bits, and so may where a palette lies. */
Test(chunk, sizes_beyond_32_bits)
{
    const size_t stride = (size_t)3 << 20;
    const th_draw draw = {.count = 5000, .palette_offset = 0, .palette_stride = stride};
    th_chunk chunk = {0};
    cr_assert(th_chunk_next(&draw, stride, (size_t)6 << 30, 256, &chunk));
    cr_expect_eq(chunk.count, 2048);
    cr_assert(th_chunk_next(&draw, stride, (size_t)6 << 30, 256, &chunk));
    cr_expect_eq(chunk.offset, (size_t)6 << 30);
    cr_assert(th_chunk_next(&draw, stride, (size_t)6 << 30, 256, &chunk));
    cr_expect_eq(chunk.first + chunk.count, 5000);
}
