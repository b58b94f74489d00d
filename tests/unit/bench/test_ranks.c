/* Scaling over ranks without MPI: blocks, figures of made-up times, and the sum of hashes. */
#include "fixture_human.h"
#include "fixture_made_up.h"

#include <bench/rank_scaling.h>
#include <runtime/frame.h>
#include <runtime/scene.h>

#include <criterion/criterion.h>

#include <stdlib.h>

#define NEAR 1e-9

static th_error err;

/* ---- blocks ---- */

enum { CHARACTERS = 1000, MOST = 64 };

Test(rank_split, blocks_of_equal_characters_are_equally_long)
{
    static th_spawn instances[CHARACTERS];
    uint32_t bounds[5];
    th_rank_split(instances, CHARACTERS, (uint32_t[]){7}, 4, bounds);
    cr_expect_arr_eq(bounds, ((uint32_t[]){0, 250, 500, 750, 1000}), sizeof bounds);
    th_rank_split(instances, 2, (uint32_t[]){7}, 4, bounds);
    cr_expect(bounds[0] == 0 && bounds[4] == 2, "more ranks than characters");
    th_rank_split(NULL, 0, (uint32_t[]){7}, 1, bounds);
    cr_expect(bounds[0] == 0 && bounds[1] == 0);
}

/* The second half costs three times as much: half of the cost is at 2/3 of the characters. */
Test(rank_split, blocks_have_equal_cost)
{
    static th_spawn instances[CHARACTERS];
    static const uint32_t costs[] = {10, 30};
    uint32_t bounds[MOST + 1];
    for (uint32_t i = CHARACTERS / 2; i < CHARACTERS; i++)
        instances[i].model = 1;
    for (uint32_t ranks = 1; ranks <= MOST; ranks++) {
        th_rank_split(instances, CHARACTERS, costs, ranks, bounds);
        cr_expect(bounds[0] == 0 && bounds[ranks] == CHARACTERS);
        for (uint32_t r = 0; r < ranks; r++) {
            double cost = 0;
            for (uint32_t i = bounds[r]; i < bounds[r + 1]; i++)
                cost += costs[instances[i].model];
            cr_expect_float_eq(cost, 20000. / ranks, 30, "rank %u of %u: %g", r, ranks, cost);
        }
    }
}

Test(rank_split, compares_as_many_ranks_as_fit_a_table)
{
    uint32_t counts[TH_RANKS_MAX];
    cr_assert_eq(th_rank_counts(3, counts), 3);
    cr_expect_arr_eq(counts, ((uint32_t[]){1, 2, 3}), 3 * sizeof *counts);
    cr_assert_eq(th_rank_counts(24, counts), 6);
    cr_expect_arr_eq(counts, ((uint32_t[]){1, 2, 4, 8, 16, 24}), 6 * sizeof *counts);
    cr_expect_eq(th_rank_counts(TH_RANKS_MAX, counts), 13);
}

/* ---- figures ---- */

Test(rank_scaling, figures_are_as_computed_by_hand)
{
    th_rank_scaling s = made_up_ranks();
    cr_assert(th_rank_scaling_analyze(&s));
    const th_rank_point *p = &s.points[1];
    cr_expect_float_eq(p->speed_up, 1000. / 650, NEAR);
    cr_expect_float_eq(p->efficiency, 1000. / 1300, NEAR);
    cr_expect_float_eq(p->bones_per_s, 5200 / 650e-6, 1);
    cr_expect_float_eq(p->grind_ns, 650e3 * 2 * 3 / 5200, NEAR);
    cr_expect_float_eq(p->slowest_ns, 600e3, NEAR);
    cr_expect_float_eq(p->shares[1].median_ns, 400e3, NEAR);
    cr_expect_float_eq(p->pop.values[TH_POP_LOAD_BALANCE], 500. / 600, NEAR);
    cr_expect_float_eq(p->pop.values[TH_POP_TRANSFER], 640. / 650, NEAR);
    cr_expect_float_eq(p->pop.values[TH_POP_PARALLEL], 500. / 650, NEAR);
    cr_expect_float_eq(p->pop.values[TH_POP_COMPUTATION], 1, NEAR);
    s.budget_ns = 650e3;
    cr_expect_not(th_rank_scaling_misses_budget(&s));
    s.budget_ns = 649e3;
    cr_expect(th_rank_scaling_misses_budget(&s));
    th_rank_scaling_fini(&s);
}

/* ---- sums ---- */

TestSuite(crowd_sum, .init = make_human, .fini = free_human);

/* The sum of the parts of a crowd is that of the crowd, and changes with a number, an order and a palette. */
Test(crowd_sum, of_parts_adds_up)
{
    enum { COUNT = 50, CUT = 18 };
    const th_model *models[] = {human, human};
    th_scene *scenes[3];
    th_crowd *crowds[3];
    th_jobs *jobs;
    th_hash128 sums[3], swapped[2];
    th_scene_desc desc = {.models = models, .model_count = 2, .instance_count = COUNT, .seed = 5};
    cr_assert_eq(th_scene_create(&desc, &scenes[0], &err), TH_OK);
    cr_assert_eq(th_jobs_create(&(th_jobs_desc){.threads = 1}, &jobs, &err), TH_OK);
    desc.compiled_models = scenes[0]->compiled_models;
    for (int part = 1; part < 3; part++) {
        desc.instances = scenes[0]->instances + (part == 1 ? 0 : CUT);
        desc.instance_count = part == 1 ? CUT : COUNT - CUT;
        cr_assert_eq(th_scene_create(&desc, &scenes[part], &err), TH_OK);
    }
    for (int i = 0; i < 3; i++) {
        void *palette;
        th_frame *frame;
        cr_assert_eq(th_scene_crowd(scenes[i], TH_ISA_AUTO, TH_FORMAT_F32, &crowds[i], &err), TH_OK);
        cr_assert_eq(th_palettes_create(crowds[i], &palette, &err), TH_OK);
        cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = crowds[i], .jobs = jobs}, &frame, &err), TH_OK);
        th_frame_run(frame, 1, palette);
        sums[i] = th_crowd_sum(crowds[i], palette, i == 2 ? CUT : 0);
        if (i > 0)
            swapped[i - 1] = th_crowd_sum(crowds[i], palette, i == 2 ? 0 : COUNT - CUT);
        th_frame_destroy(frame);
        th_palettes_destroy(palette);
    }
    const th_hash128 all = th_hash128_add(sums[1], sums[2]), other = th_hash128_add(swapped[0], swapped[1]);
    cr_expect(all.high == sums[0].high && all.low == sums[0].low);
    cr_expect(other.low != sums[0].low && other.high != sums[0].high);
    for (int i = 3; i-- > 0;) {
        th_crowd_destroy(crowds[i]);
        th_scene_destroy(scenes[i]);
    }
    th_jobs_destroy(jobs);
}

Test(hash128, addition_carries)
{
    const th_hash128 sum = th_hash128_add((th_hash128){1, UINT64_MAX}, (th_hash128){2, 2});
    cr_expect(sum.high == 4 && sum.low == 1);
}
