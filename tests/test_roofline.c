/* The roofline: work that is counted, and roofs that nothing can be above. */
#include "report/roofline.h"

#include <throng/anim/ceilings.h>
#include <throng/core/json.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

Test(roofline, multiply_adds_are_counted_by_lane)
{
    const uint64_t one = th_isa_multiply_add(TH_ISA_SCALAR, 1);
    cr_expect_gt(one, 0);
    cr_expect_eq(th_isa_multiply_add(TH_ISA_SCALAR, 1000), 1000 * one);
    if (th_isa_available(TH_ISA_AVX2))
        cr_expect_eq(th_isa_multiply_add(TH_ISA_AVX2, 7), 8 * 7 * one);
}

/* ---- roofs ---- */

static void set_row(th_row *row, const char *name, double cpu_ns, json_t *own)
{
    snprintf(row->name, sizeof row->name, "%s", name);
    row->own = own;
    row->bones = 1000;
    cr_assert(th_samples_init(&row->cpu_ns, 3));
    for (int i = 0; i < 3; i++)
        th_samples_add(&row->cpu_ns, cpu_ns);
}

/* Palettes of this size, with 100,000 operations in 10 us, on a core that does 20 GFLOP/s and writes 10 GB/s to its
 * second level and 1 GB/s to memory. */
static th_roofline_point point_with(double palette_bytes)
{
    th_row rows[6] = {0};
    const th_report report = {
        .rows = rows,
        .row_count = 6,
        .context = {.caches = {{"Data", 1, 1000, 1}, {"Instruction", 1, 1000000, 1}, {"Unified", 2, 10000, 1}},
                    .cache_count = 3},
    };
    set_row(&rows[0], "ceiling/multiply_add/avx2", 1, json_pack("{s:f}", "flops_per_second", 20e9));
    set_row(&rows[1], "ceiling/read/l1", 1, json_pack("{s:f}", "bytes_per_second", 100e9));
    set_row(&rows[2], "ceiling/write/l1", 1, json_pack("{s:f}", "bytes_per_second", 50e9));
    set_row(&rows[3], "ceiling/write/l2", 1, json_pack("{s:f}", "bytes_per_second", 10e9));
    set_row(&rows[4], "ceiling/write/memory", 1, json_pack("{s:f}", "bytes_per_second", 1e9));
    set_row(&rows[5], "pose/avx2/f32", 10000,
            json_pack("{s:f, s:f, s:f, s:f}", "flops", 1e5, "key_bytes_read", 5000.0, "key_bytes", 500.0,
                      "palette_bytes", palette_bytes));
    const th_roofline r = th_roofline_of(&report);
    cr_assert_eq(r.count, 1);
    for (int i = 0; i < 6; i++) {
        json_decref(rows[i].own);
        th_samples_fini(&rows[i].cpu_ns);
    }
    return r.points[0];
}

Test(roofline, the_lower_roof_counts)
{
    const th_roofline_point small = point_with(900), middle = point_with(9000), large = point_with(20000);
    cr_expect_float_eq(small.rate, 10e9, 1);
    cr_expect_float_eq(small.flops_per_bone, 100, 1e-9);
    cr_expect_float_eq(small.reads_per_bone, 5, 1e-9);
    cr_expect_float_eq(large.writes_per_bone, 20, 1e-9);
    cr_expect(!small.is_bandwidth && !middle.is_bandwidth && large.is_bandwidth);
    cr_expect_float_eq(small.roof, 20e9, 1);
    cr_expect_float_eq(middle.roof, 20e9, 1);
    cr_expect_float_eq(large.roof, 5e9, 1, "20 us at 1 GB/s");
    cr_expect_eq(large.level, 3);
}

Test(roofline, needs_ceilings_and_poses)
{
    const th_report nothing = {0};
    cr_expect_eq(th_roofline_of(&nothing).count, 0);
}
