/* The budget: it holds in every frame, by the least tolerance, and does not flicker. */
#include <runtime/animation_budget.h>
#include <throng/throng.h>

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

/* ---- ways ---- */

/* Pixels that a way is off by, and the bones that it evaluates for each character. */
static double error_px(const th_budget_means *m, th_budget_way way, double size_px, double frame_s)
{
    const double shared_s = way.rate == TH_NO_INDEX ? 0 : 1 / rates_hz[way.rate] / 2;
    return size_px * (m->errors[way.level] + m->motion * shared_s + m->speed * frame_s * (way.hold - 1));
}

static double cost(const th_budget_means *m, th_budget_way way)
{
    return m->bones[way.level] * (way.rate == TH_NO_INDEX ? 1 : m->poses[way.rate]) / way.hold;
}

/* Nothing that keeps to the tolerance is cheaper: all ways are tried. */
static void expect_best(const th_budget_means *m, uint32_t tolerance, double size_px, double frame_s)
{
    static const double ladder[TH_BUDGET_TOLERANCES] = {0, 0.25, 0.5, 1, 2, 4, 8, 16, 32};
    const th_budget_way way = th_budget_choose(tolerance, m, size_px, frame_s);
    const double px = error_px(m, way, size_px, frame_s), allowed = ladder[tolerance] * (1 + 1e-9);
    cr_assert(way.level < m->level_count && way.hold >= 1 && way.hold <= TH_BUDGET_MOST_HOLD);
    cr_assert(way.rate == TH_NO_INDEX || (way.rate < TH_BUDGET_RATES && way.hold == 1 && m->poses[way.rate] < 1));
    cr_assert_leq(px, allowed);
    for (uint32_t l = 0; l < m->level_count; l++)
        for (uint32_t h = 1; h <= TH_BUDGET_MOST_HOLD; h++)
            for (uint32_t r = 0; r <= TH_BUDGET_RATES; r++) {
                const th_budget_way other = {l, r < TH_BUDGET_RATES ? r : TH_NO_INDEX, h};
                const bool is_one = r == TH_BUDGET_RATES || (h == 1 && m->poses[r] < 1);
                const double other_px = error_px(m, other, size_px, frame_s);
                if (tolerance == 0 || !is_one || other_px > ladder[tolerance] * (1 - 1e-9))
                    continue;
                const double gain = cost(m, way) - cost(m, other);
                cr_assert_leq(gain, 1e-9, "%g px at %g px: level %u, rate %u, hold %u is cheaper", ladder[tolerance],
                              size_px, l, r, h);
                cr_assert(gain < -1e-9 || px <= other_px + 1e-9, "as cheap, and closer");
            }
}

static const th_budget_means walker = {.level_count = 4,
                                       .errors = {0, 0.006, 0.006, 0.04},
                                       .bones = {52, 38, 38, 19},
                                       .motion = 2.5,
                                       .speed = 3,
                                       .poses = {0.4, 0.2, 0.1, 0.05, 0.03}};

Test(animation_budget, chooses_the_cheapest_way_within_the_tolerance)
{
    th_budget_means few = walker, behaves = walker, still = walker;
    for (uint32_t r = 0; r < TH_BUDGET_RATES; r++) {
        few.poses[r] = fmin(1, 4 * walker.poses[r]);
        behaves.poses[r] = 1;
    }
    still.motion = still.speed = 0;
    const th_budget_means *const all[] = {&walker, &few, &behaves, &still};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        for (uint32_t t = 0; t < TH_BUDGET_TOLERANCES; t++)
            for (double size_px = 1; size_px < 2000; size_px *= 1.3)
                for (double frame_s = 0; frame_s < 0.1; frame_s += 0.0166)
                    expect_best(all[n], t, size_px, frame_s);
}

Test(animation_budget, loses_nothing_at_no_tolerance)
{
    const th_budget_way way = th_budget_choose(0, &walker, 5, 0);
    cr_expect(way.level == 0 && way.rate == TH_NO_INDEX && way.hold == 1);
}

/* Who has a behaviour holds and has fewer joints. */
Test(animation_budget, finds_something_for_all)
{
    th_budget_means behaves = walker;
    for (uint32_t r = 0; r < TH_BUDGET_RATES; r++)
        behaves.poses[r] = 1;
    const th_budget_way shared = th_budget_choose(3, &walker, 20, 1 / 60.0),
                        own = th_budget_choose(3, &behaves, 6, 1 / 60.0);
    cr_expect(shared.rate != TH_NO_INDEX && shared.hold == 1);
    cr_expect(own.rate == TH_NO_INDEX && own.hold == 3 && own.level == 3, "%u %u", own.hold, own.level);
}

/* A walking human's hands and feet go at twice to three times its own 1.4 m/s. */
Test(animation_budget, measures_how_fast_a_human_moves)
{
    th_model *human;
    double motion;
    cr_assert_eq(th_human_create(&human, NULL), TH_OK);
    cr_assert(th_budget_motion(human, &motion));
    cr_expect(motion * human->size > 2 && motion * human->size < 9, "%g m/s", motion * human->size);
    th_model_destroy(human);
}
