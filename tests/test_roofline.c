/* The roofline: work that is counted, and roofs that nothing can be above. */
#include "random_model.h"

#include <throng/anim/ceilings.h>
#include <throng/core/cache_line.h>
#include <throng/core/json.h>
#include <throng/runtime/frame.h>
#include <throng/runtime/scene.h>

#include "report/roofline.h"

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

/* ---- counting ---- */

/* Palettes by the counting kernel must be those of the scalar one. */
static th_crowd_work work_of(th_interpolation interpolation, th_palette format, uint32_t characters)
{
    th_model *model =
        random_model(&(random_desc){.joint_count = 20, .clip_count = 1, .key_count = 5, .swing_rad = 0.3});
    th_scene *scene;
    th_crowd *crowd;
    void *palette, *scalar;
    th_scene_desc desc = {.models = (const th_model *const[]){model}, .model_count = 1, .instance_count = characters};
    desc.compile.interpolation = interpolation;
    cr_assert_eq(th_scene_create(&desc, &scene, NULL), TH_OK);
    cr_assert_eq(th_scene_crowd(scene, TH_ISA_SCALAR, format, &crowd, NULL), TH_OK);
    cr_assert_eq(th_palette_create(crowd, &palette, NULL), TH_OK);
    cr_assert_eq(th_palette_create(crowd, &scalar, NULL), TH_OK);
    void *scratch = th_cache_line_alloc(th_crowd_scratch_bytes(crowd));
    const th_crowd_work work = th_crowd_count_work(crowd, 0.3, NULL, palette, scratch);
    th_crowd_update(crowd, 0, th_crowd_batch_count(crowd), 0.3, scalar, scratch);
    cr_expect_eq(th_crowd_hash(crowd, palette), th_crowd_hash(crowd, scalar));
    cr_expect_eq(work.palette_bytes, th_crowd_palette_bytes(crowd));
    free(scratch);
    free(scalar);
    free(palette);
    th_crowd_destroy(crowd);
    th_scene_destroy(scene);
    th_model_free(model);
    return work;
}

Test(roofline, work_is_what_the_kernel_does)
{
    const th_crowd_work step = work_of(TH_INTERPOLATION_STEP, TH_PALETTE_F32, 10);
    const th_crowd_work nlerp = work_of(TH_INTERPOLATION_NLERP, TH_PALETTE_F32, 10);
    const th_crowd_work slerp = work_of(TH_INTERPOLATION_SLERP, TH_PALETTE_F32, 10);
    const th_crowd_work cubic = work_of(TH_INTERPOLATION_CUBIC, TH_PALETTE_F32, 10);
    cr_expect_gt(step.flops, 0);
    cr_expect_eq(nlerp.key_bytes, 2 * step.key_bytes);
    cr_expect_eq(cubic.key_bytes, 4 * step.key_bytes);
    /* A number: a difference and a multiply-add. */
    cr_expect_eq(nlerp.flops - step.flops, 3 * step.key_bytes / sizeof(float));
    cr_expect_gt(slerp.flops, nlerp.flops);
    cr_expect_eq(work_of(TH_INTERPOLATION_NLERP, TH_PALETTE_F32, 30).flops, 3 * nlerp.flops);
    const th_crowd_work quats = work_of(TH_INTERPOLATION_NLERP, TH_PALETTE_QUAT, 10);
    cr_expect_lt(quats.flops, nlerp.flops);
    cr_expect_lt(quats.palette_bytes, nlerp.palette_bytes);
}

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
    cr_expect_float_eq(large.intensity, 5, 1e-9);
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
