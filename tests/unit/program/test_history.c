/* Inside, since the percentiles are only drawn. Percentiles of frames against sorting all of them. */
#include "src/view/history.h"

#include <criterion/criterion.h>
#include <math.h>

static th_history history;

static void add(float total_ms)
{
    const float ms[TH_FRAME_PARTS] = {total_ms / 8, total_ms / 8, total_ms / 4, total_ms / 2};
    th_history_add(&history, ms);
}

Test(history, of_no_frames_is_zero)
{
    const th_history none = {0};
    cr_expect_eq(th_history_last(&none, 0.5), 0);
    cr_expect_eq(th_history_all(&none, 0.99), 0);
    cr_expect_eq(th_history_mean(&none, TH_FRAME_PRESENT), 0);
}

Test(history, last_frames_are_the_last_and_exact)
{
    for (uint32_t k = 0; k < TH_HISTORY_FRAMES; k++)
        add(1000);
    for (uint32_t k = 1; k <= TH_HISTORY_FRAMES; k++)
        add((float)((k * 7) % TH_HISTORY_FRAMES + 1)); /* each of 1 to 240 ms once: 7 is coprime to 240 */
    cr_expect_eq(th_history_last(&history, 0.5), 120);
    cr_expect_eq(th_history_last(&history, 0.95), 228);
    cr_expect_eq(th_history_last(&history, 0.99), 238);
    cr_expect_eq(th_history_last(&history, 1), 240);
    cr_expect_float_eq(th_history_mean(&history, TH_FRAME_EVALUATE), 120.5 / 8, 1e-4);
    cr_expect_float_eq(th_history_mean(&history, TH_FRAME_PRESENT), 120.5 / 2, 1e-4);
}

Test(history, oldest_frame_is_the_one_to_go)
{
    for (uint32_t k = 0; k < TH_HISTORY_FRAMES + 3; k++)
        add((float)k + 1);
    cr_expect_eq(history.next, 3);
    cr_expect_eq(history.ms[TH_FRAME_PRESENT][3], 4 / 2.0F, "frames 1 to 3 are gone");
    cr_expect_eq(history.all.total, TH_HISTORY_FRAMES + 3);
    const double all = (TH_HISTORY_FRAMES + 3) * (TH_HISTORY_FRAMES + 4) / 2.0; /* 1 + 2 + ... */
    cr_expect_float_eq(history.sum_ms[TH_FRAME_DRAW], all / 4, 1e-3, "but not from the sum");
}

/* Of many: test_time_series.c. */
Test(history, all_frames_are_off_by_three_per_cent_or_a_microsecond_at_most)
{
    static const float lengths_ms[] = {0.003F, 0.02F, 0.9F, 17, 400, 5000, 60000};
    for (size_t k = 0; k < sizeof lengths_ms / sizeof *lengths_ms; k++) {
        add(lengths_ms[k]);
        const double right = (double)lengths_ms[k], got = th_history_all(&history, 1);
        cr_expect(fabs(got - right) <= 0.03 * right + 0.001, "%g, not %g", got, right);
    }
    cr_expect_float_eq(th_history_all(&history, 0.5), 17, 0.5);
}

Test(history, frames_beyond_all_bounds_are_counted)
{
    add(0);
    add(1e-9F);
    add(1e12F);
    cr_expect_eq(history.all.total, 3);
    cr_expect(th_history_all(&history, 0.5) <= 0.001);
    cr_expect(isfinite(th_history_all(&history, 1)));
}
