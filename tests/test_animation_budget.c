/* The budget: it holds in every frame, by the least tolerance, and does not flicker. */
#include <throng/anim/human.h>
#include <throng/runtime/animation_budget.h>

#include <criterion/criterion.h>
#include <math.h>

static const double rates_hz[] = TH_BUDGET_RATES_HZ;

/* Bones that a tolerance takes where `listed` are evaluated without one: half as many with each. */
static uint64_t bones_at(uint64_t listed, uint32_t tolerance)
{
    return listed >> tolerance;
}

/* One frame. Returns the bones that it evaluates. */
static uint64_t run_frame(th_animation_budget *budget, uint64_t listed, uint64_t allowed)
{
    th_budget_begin(budget);
    while (th_budget_exceeded(budget, bones_at(listed, budget->tolerance), allowed))
        ;
    const uint64_t bones = bones_at(listed, budget->tolerance);
    th_budget_end(budget, bones, 2.0 * (double)bones);
    return bones;
}

Test(animation_budget, holds_in_every_frame_by_the_least_tolerance)
{
    th_animation_budget budget = {0};
    enum { ALLOWED = 1000, FRAMES = 3600 };
    uint32_t changes = 0, before = 0;
    for (uint32_t n = 0; n < FRAMES; n++) {
        const uint64_t listed = (uint64_t)(500 + 6000 * (1 - cos(n * 0.004)));
        const uint64_t bones = run_frame(&budget, listed, ALLOWED);
        cr_assert_leq(bones, ALLOWED, "frame %u", n);
        changes += budget.tolerance != before;
        before = budget.tolerance;
    }
    cr_expect(changes > 8 && changes < 40, "%u changes", changes);
    for (uint32_t n = 0; n < 300; n++)
        run_frame(&budget, 800, ALLOWED);
    cr_expect_eq(budget.tolerance, 0, "nothing is lost where all fit");
}

Test(animation_budget, does_not_flicker_at_the_edge)
{
    th_animation_budget budget = {0};
    uint32_t changes = 0;
    for (uint32_t n = 0; n < 600; n++) {
        const uint32_t before = budget.tolerance;
        run_frame(&budget, n % 2 ? 1010 : 990, 1000); /* now the finer one fits, now it does not */
        changes += budget.tolerance != before;
    }
    cr_expect_eq(changes, 1);
}

Test(animation_budget, ends_at_the_coarsest)
{
    th_animation_budget budget = {0};
    cr_expect_gt(run_frame(&budget, 100000000, 10), 10);
    cr_expect_eq(budget.tolerance, TH_BUDGET_TOLERANCES - 1);
}

Test(animation_budget, turns_time_into_bones)
{
    th_animation_budget budget = {0};
    cr_expect_eq(th_budget_bones(&budget, 1e6, 0), UINT64_MAX, "before anything was measured");
    cr_expect_eq(th_budget_bones(&budget, 1e6, 77), 77);
    run_frame(&budget, 1000, UINT64_MAX);
    cr_expect_eq(th_budget_bones(&budget, 1e6, 0), 500000);
    th_budget_end(&budget, 1000, 10000);
    cr_expect(fabs(budget.ns_per_bone - 3) < 1e-9, "a frame that others disturb counts an eighth");
}

Test(animation_budget, rates_keep_half_a_step_within_the_tolerance)
{
    enum { RATES = sizeof rates_hz / sizeof *rates_hz };
    for (uint32_t t = 0; t < TH_BUDGET_TOLERANCES; t++)
        for (double size_px = 1; size_px < 2000; size_px *= 1.3) {
            const double motion = 2.5, tolerance = th_budget_tolerance_px(t);
            const uint32_t rate = th_budget_rate(t, motion, size_px);
            cr_assert(rate < RATES || rate == TH_NO_INDEX);
            if (rate < RATES)
                cr_expect_leq(motion * size_px / rates_hz[rate] / 2, tolerance);
            const uint32_t cheaper = rate == TH_NO_INDEX ? 0 : rate + 1;
            if (t > 0 && cheaper < RATES)
                cr_expect_gt(motion * size_px / rates_hz[cheaper] / 2, tolerance, "the cheapest that does");
            cr_expect(t > 0 || rate == TH_NO_INDEX);
        }
}

/* A walking human's hands and feet go at twice to three times its own 1.4 m/s. */
Test(animation_budget, measures_how_fast_a_human_moves)
{
    th_model *human;
    double motion;
    cr_assert_eq(th_human_create(&human, NULL), TH_OK);
    cr_assert(th_budget_motion(human, &motion));
    cr_expect(motion * human->size > 2 && motion * human->size < 9, "%g m/s", motion * human->size);
    th_model_free(human);
}
