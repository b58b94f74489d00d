/* Misuse of what is not public is caught: a caller's mistake that a header forbids ends the program at an assert. What
 * throng.h and render.h forbid: test_misuse. */
#include "fixture_crowd.h"
#include "fixture_gl.h"
#include "fixture_jobs.h"
#include "fixture_misuse.h"

#include <anim/bounds.h>
#include <bench/capacity.h>
#include <bench/compare.h>
#include <bench/fit.h>
#include <bench/histogram.h>
#include <bench/interference.h>
#include <bench/measure.h>
#include <bench/stats.h>
#include <bench/stress.h>
#include <core/arena.h>
#include <core/json.h>
#include <core/table.h>
#include <core/text_format.h>
#include <jobs/scheduler.h>
#include <render/camera.h>
#include <render/cull.h>
#include <render/frame_writer.h>
#include <render/ring.h>
#include <runtime/pose_plan.h>
#include <runtime/tracer.h>

#include <criterion/criterion.h>

#ifdef NDEBUG

Test(preconditions, are_not_checked_in_this_build)
{
    cr_skip_test("asserts are off");
}

#else

/* Calls, one after the other, of which the last is not allowed. */
#define MISUSE(...)                                                                                                    \
    do {                                                                                                               \
        if (tries(#__VA_ARGS__)) {                                                                                     \
            __VA_ARGS__;                                                                                               \
            _exit(0);                                                                                                  \
        }                                                                                                              \
    } while (0)

Test(preconditions, of_core)
{
    th_table *table;
    MISUSE(th_arena_alloc(th_arena_create(), 1, 0));
    MISUSE(th_fail(NULL, TH_OK, "all is well"));
    MISUSE(th_json_append(json_object(), json_null()));
    MISUSE(th_append((char[]){"full"}, 4, "%s", ""));
    MISUSE(th_table_create("<clip|seconds"));
    MISUSE(table = th_table_create("<clip|>seconds"), th_table_cell(table, "walk"),
           th_table_write(table, TH_OUTPUT_TEXT, stderr));
}

/* ---- jobs ---- */

static int destroy_own_pool(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)begin, (void)end, (void)worker;
    th_jobs_destroy(ctx);
    return 0;
}

static int read_stats(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_worker_stats stats[2];
    (void)begin, (void)end, (void)worker;
    th_jobs_stats(ctx, stats);
    return 0;
}

Test(preconditions, of_jobs)
{
    th_jobs *jobs;
    MISUSE(jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 1), th_jobs_for(jobs, 1, 1, destroy_own_pool, jobs));
    MISUSE(jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 2), th_jobs_for(jobs, 1, 1, read_stats, jobs));
    MISUSE(th_jobs_partition(0, 1, 1, &(uint32_t){1}, &(uint32_t){0}));
    MISUSE(th_scheduler_register(TH_SCHEDULER_OPENMP_STATIC, &(th_scheduler_ops){0}));
}

/* ---- anim and runtime ---- */

enum { COUNT = 40 };

static th_model *model;
static crowd_fixture s;

static void make_crowd(void)
{
    model = random_model(&(random_desc){.seed = 1, .joint_count = 8, .clip_count = 1, .key_count = 2});
    crowd_fixture_init(&s, model, TH_SAMPLING_COMPILED, COUNT, TH_ISA_AUTO);
}

static void free_crowd(void)
{
    crowd_fixture_fini(&s);
    th_model_destroy(model);
}

static void show(uint32_t instance)
{
    th_crowd_set_active(s.crowd, &instance, 1);
}

Test(preconditions, of_anim, .init = make_crowd, .fini = free_crowd)
{
    MISUSE(show(COUNT));
    MISUSE(show(3), th_crowd_palette_offset(s.crowd, 4));
    MISUSE(show(3), th_crowd_hash(s.crowd, s.palette));
    MISUSE(th_crowd_pose(s.crowd, 0, th_crowd_batch_count(s.crowd) + 1, 0, s.palette, s.scratch));
    MISUSE(th_crowd_fill(s.crowd, 0, 1, 0, s.palette + 16));
    MISUSE(th_crowd_pose(s.crowd, 0, 1, 0, s.palette, s.palette));
    MISUSE(th_model_bounds(model, model->clip_count, TH_INTERPOLATION_AUTHORED, &(th_bounds){0}, NULL));
    MISUSE(th_quat_arc_between((const double[4]){0, 0, 0, 1}, (const double[4]){0, 0, 0, 2}));
}

Test(preconditions, of_runtime, .init = make_crowd, .fini = free_crowd)
{
    const th_pose_plan_desc two = {.crowd = s.crowd, .most_lists = 1, .most_hold = 2};
    const th_draw_list held = {.count = 1, .hold = 3};
    th_pose_plan *plan;
    th_tracer *tracer;
    MISUSE(th_pose_plan_create(&two, &plan, NULL),
           th_pose_plan_make(plan, create_jobs(TH_SCHEDULER_WORK_STEALING, 1), 0, &(uint32_t){0}, &held, 1));
    MISUSE(th_tracer_create("test", &tracer, NULL), th_tracer_end(tracer));
    MISUSE(th_tracer_create("test", &tracer, NULL), th_tracer_frame_begin(tracer, NULL, 1),
           th_tracer_begin(tracer, "pose"), th_tracer_group(tracer, "another"));
}

/* ---- render ---- */

Test(preconditions, of_render)
{
    static th_instance_transform transforms[COUNT + 1];
    static const uint32_t kinds[COUNT];
    static const th_cull_kind kind = {.sphere = {.radius = 1}};
    static const th_locomotion locomotion = {.scale = 1};
    static const th_instance_motion motions[1];
    const th_camera camera = th_camera_look_at((const float[3]){0, 0, 1}, (const float[3]){0, 0, 0});
    const th_camera_fit nothing = th_camera_fit_begin(&camera, 1, 1);
    const th_cull_desc culled = {.kinds = &kind,
                                 .kind_count = 1,
                                 .instance_kinds = kinds,
                                 .instance_count = COUNT,
                                 .model_count = 1,
                                 .lod_count = TH_CULL_MAX_LODS};
    const th_cull_view finer = {.pixels = 1, .lod_px = {32, 80, 180}}, coarser = {.pixels = 1, .lod_px = {180, 80, 32}};
    const th_layout layout = th_layout_make(
        &(th_layout_desc){.locomotions = &locomotion, .locomotion_count = 1, .motions = motions, .count = 1});
    const th_frame_writer_desc still = {.path = "none.png", .width = 1, .height = 1, .frame_count = 0};
    const th_ring_desc small = {.bytes = 64};
    th_cull *cull;
    th_frame_writer *writer;
    th_ring *ring;
    MISUSE(th_camera_fit_end(&nothing, &nothing));
    MISUSE(th_cull_create(&culled, &cull, NULL), th_cull_move(cull, 0, COUNT + 1, transforms));
    MISUSE(th_cull_create(&culled, &cull, NULL), th_cull_classify(cull, &finer, NULL, 0, 1));
    MISUSE(th_cull_create(&culled, &cull, NULL), th_cull_classify(cull, &coarser, NULL, 0, 2));
    MISUSE(th_layout_place(&layout, 0, 2, 0, transforms));
    MISUSE(th_frame_writer_open(&still, &writer, NULL), th_frame_writer_add(writer, (const uint8_t[4]){0}, NULL));
    MISUSE(open_gl(), th_ring_create(gl, &small, &ring, NULL), th_ring_begin(ring), th_ring_begin(ring));
    MISUSE(open_gl(), th_ring_create(gl, &small, &ring, NULL), th_ring_end(ring));
    MISUSE(open_gl(), th_ring_create(gl, &small, &ring, NULL), th_ring_begin(ring), th_ring_end(ring),
           th_ring_fence(ring), th_ring_fence(ring));
}

Test(preconditions, of_bench)
{
    const th_stress_desc descends = {
        .threads = (const uint32_t[]){2, 1}, .thread_count = 2, .budget_ns = 1e6, .frames = 1000};
    const th_interference_mark early = {.wall_ns = 1}, late = {.wall_ns = 2};
    th_samples samples;
    MISUSE(th_samples_init(&samples, 1), th_samples_append(&samples, &samples));
    MISUSE(th_quantile((double[1]){1}, 1, 0));
    MISUSE(th_histogram_quantile(&(th_histogram){0}, 1.5));
    MISUSE(th_quantile_interval(&(th_samples){0}, 0.5, 0));
    MISUSE(th_fit_run(TH_FIT_USL, &(th_fit_point){.threads = 1, .items = 1}, 1, 1, &(th_fit){0}));
    MISUSE(th_interference_between(&late, &early));
    MISUSE(th_measure(&(th_measure_desc){0}, NULL, 0));
    MISUSE(th_capacity_miss_rate_bound(2, 1));
    MISUSE(th_stress_run(&descends, &(th_stress){0}, NULL));
    MISUSE(th_compare(&(th_compare_desc){0}, &(th_comparison){0}, NULL));
}

#endif
