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

typedef struct random_case {
    th_draw draw;
    size_t palette_bytes, block_bytes, alignment;
} random_case;

static random_case make_case(void)
{
    random_case c;
    c.palette_bytes = (1 + random_up_to(80)) * (random_up_to(1) ? 48 : 16);
    c.alignment = (size_t)1 << random_up_to(8);
    c.draw = (th_draw){.count = (uint32_t)random_up_to(40),
                       .palette_offset = SLOT_ALIGNMENT * random_up_to(1000),
                       .palette_stride = (c.palette_bytes + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT +
                                         SLOT_ALIGNMENT * random_up_to(3)};
    c.block_bytes = random_up_to(c.draw.palette_stride * (1 + random_up_to(2 * (size_t)c.draw.count)));
    return c;
}

static void check_chunk(const random_case *c, const th_chunk *chunk)
{
    const size_t stride = c->draw.palette_stride;
    const size_t first = c->draw.palette_offset + chunk->first * stride;
    const size_t last_end = first + (chunk->count - 1) * stride + c->palette_bytes;
    cr_assert_eq(chunk->offset % c->alignment, 0);
    cr_assert_lt(chunk->lead, c->alignment);
    cr_assert_eq(chunk->lead % 16, 0, "a piece whose palettes begin within a row");
    cr_assert_eq(chunk->offset + chunk->lead, first);
    cr_assert_eq(chunk->offset + chunk->bytes, last_end);
    if (chunk->lead + c->palette_bytes <= c->block_bytes)
        cr_assert_leq(chunk->bytes, c->block_bytes);
    else
        cr_assert_eq(chunk->count, 1);
    if (chunk->first + chunk->count < c->draw.count)
        cr_assert_gt(chunk->bytes + stride, c->block_bytes, "another character would have fitted");
}

Test(chunk, pieces_hold_every_character_once_within_the_limit)
{
    uint32_t most_pieces = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const random_case c = make_case();
        th_chunk chunk = {0};
        uint32_t next = 0, pieces = 0;
        while (th_chunk_next(&c.draw, c.palette_bytes, c.block_bytes, c.alignment, &chunk)) {
            cr_assert_eq(chunk.first, next);
            cr_assert_gt(chunk.count, 0);
            check_chunk(&c, &chunk);
            next += chunk.count;
            pieces++;
        }
        cr_assert_eq(next, c.draw.count, "round %d: %u of %u characters", round, next, c.draw.count);
        most_pieces = pieces > most_pieces ? pieces : most_pieces;
    }
    cr_assert_geq(most_pieces, 30); /* the cases are worth their name */
}

Test(chunk, a_draw_that_fits_is_one_piece)
{
    const th_draw draw = {.count = 100, .palette_offset = 640, .palette_stride = 256};
    th_chunk chunk = {0};
    cr_assert(th_chunk_next(&draw, 240, 99 * 256 + 240, 64, &chunk));
    cr_expect_eq(chunk.count, 100);
    cr_expect_eq(chunk.lead, 0);
    cr_expect_not(th_chunk_next(&draw, 240, 99 * 256 + 240, 64, &chunk));
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
