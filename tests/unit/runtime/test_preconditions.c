/* Misuse of what is not public is caught: a caller's mistake that a header forbids ends the program at an assert. What
 * throng.h and render.h forbid: test_misuse. */
#include "fixture_gl.h"
#include "fixture_jobs.h"

#include <anim/bounds.h>
#include <anim/crowd.h>
#include <anim/synthetic.h>
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
#include <runtime/scene.h>
#include <runtime/tracer.h>

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef NDEBUG

Test(preconditions, are_not_checked_in_this_build)
{
    cr_skip_test("asserts are off");
}

#else

/* All of them, which the linker puts side by side. A process of the suite for each would take much longer. */
typedef struct misuse {
    const char *name;
    void (*run)(void);
} misuse;

extern const misuse *const __start_misuses[], *const __stop_misuses[];

#define MISUSE(name)                                                                                                   \
    static void name(void);                                                                                            \
    static const misuse name##_misuse = {#name, name};                                                                 \
    __attribute__((section("misuses"), used)) static const misuse *const name##_entry = &name##_misuse;                \
    static void name(void)
#define MISUSED_BY(name, call)                                                                                         \
    MISUSE(name)                                                                                                       \
    {                                                                                                                  \
        call;                                                                                                          \
    }                                                                                                                  \
    _Static_assert(true, "so that it ends as a declaration does")

Test(preconditions, are_checked)
{
    for (const misuse *const *m = __start_misuses; m < __stop_misuses; m++) {
        int status;
        const pid_t child = fork();
        if (child == 0) {
            (*m)->run();
            _exit(0);
        }
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s: status %d", (*m)->name, status);
    }
    cr_expect_gt(__stop_misuses - __start_misuses, 35);
}

/* ---- core ---- */

MISUSED_BY(an_arena_has_no_elements_without_size, th_arena_alloc(th_arena_create(), 1, 0));
MISUSED_BY(a_success_is_no_error, th_fail(NULL, TH_OK, "all is well"));
MISUSED_BY(json_is_appended_to_arrays_only, th_json_append(json_object(), json_null()));
MISUSED_BY(a_text_that_is_appended_to_fits_its_buffer, th_append((char[]){"full"}, 4, "%s", ""));
MISUSED_BY(a_column_says_on_which_side_it_is, th_table_create("<clip|seconds"));

MISUSE(a_table_is_written_in_whole_rows)
{
    th_table *table = th_table_create("<clip|>seconds");
    th_table_cell(table, "walk");
    th_table_write(table, TH_OUTPUT_TEXT, stderr);
}

/* ---- jobs ---- */

static int destroy_own_pool(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)begin, (void)end, (void)worker;
    th_jobs_destroy(ctx);
    return 0;
}

MISUSE(a_pool_is_not_destroyed_by_its_own_job)
{
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 1);
    th_jobs_for(jobs, 1, 1, destroy_own_pool, jobs);
}

static int read_stats(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_worker_stats stats[2];
    (void)begin, (void)end, (void)worker;
    th_jobs_stats(ctx, stats);
    return 0;
}

MISUSE(counters_are_read_between_calls)
{
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 2);
    th_jobs_for(jobs, 1, 1, read_stats, jobs);
}

MISUSED_BY(a_partition_is_for_at_least_one_thread, th_jobs_partition(0, 1, 1, &(uint32_t){1}, &(uint32_t){0}));
MISUSED_BY(a_registered_scheduler_is_complete,
           th_scheduler_register(TH_SCHEDULER_OPENMP_STATIC, &(th_scheduler_ops){0}));

/* ---- anim ---- */

enum { COUNT = 40 };

/* A crowd of a small model, and memory for its palettes. */
static th_model *model;
static th_scene *scene;
static th_crowd *crowd;
static void *palette, *scratch;

static void make_crowd(void)
{
    th_synthetic_desc shape = TH_SYNTHETIC_DEFAULT;
    shape.joints = 8;
    shape.depth = 4;
    cr_assert_eq(th_synthetic_create(&shape, &model, NULL), TH_OK);
    const th_scene_desc desc = {
        .models = (const th_model *const *)&model, .model_count = 1, .instance_count = COUNT, .seed = 1};
    cr_assert_eq(th_scene_create(&desc, &scene, NULL), TH_OK);
    cr_assert_eq(th_scene_crowd(scene, TH_ISA_AUTO, TH_FORMAT_F32, &crowd, NULL), TH_OK);
    palette = th_cache_line_alloc(th_crowd_palette_bytes(crowd));
    scratch = th_cache_line_alloc(th_crowd_scratch_bytes(crowd));
}

TestSuite(preconditions, .init = make_crowd);

static void show(uint32_t instance)
{
    th_crowd_set_active(crowd, &instance, 1);
}

MISUSED_BY(active_instances_are_of_the_crowd, show(COUNT));
MISUSED_BY(an_instance_that_is_not_active_has_no_palette, (show(3), th_crowd_palette_offset(crowd, 4)));
MISUSED_BY(only_a_whole_crowd_has_a_hash, (show(3), th_crowd_hash(crowd, palette)));
MISUSED_BY(batches_are_those_of_the_crowd,
           th_crowd_pose(crowd, 0, th_crowd_batch_count(crowd) + 1, 0, palette, scratch));
MISUSED_BY(palettes_begin_on_a_cache_line, th_crowd_fill(crowd, 0, 1, 0, (char *)palette + 16));
MISUSED_BY(a_palette_is_not_its_own_scratch, th_crowd_pose(crowd, 0, 1, 0, palette, palette));
MISUSED_BY(a_clip_has_an_index_of_its_model,
           th_model_bounds(model, model->clip_count, TH_INTERPOLATION_AUTHORED, &(th_bounds){0}, NULL));

MISUSED_BY(slerp_is_between_rotations,
           th_quat_arc_between((const double[4]){0, 0, 0, 1}, (const double[4]){0, 0, 0, 2}));

/* ---- runtime ---- */

MISUSE(a_pose_is_held_no_longer_than_its_plan_allows)
{
    const th_draw_list group = {.count = 1, .hold = 3};
    th_pose_plan *plan;
    cr_assert_eq(
        th_pose_plan_create(&(th_pose_plan_desc){.crowd = crowd, .most_lists = 1, .most_hold = 2}, &plan, NULL), TH_OK);
    th_pose_plan_make(plan, create_jobs(TH_SCHEDULER_WORK_STEALING, 1), 0, &(uint32_t){0}, &group, 1);
}

static th_tracer *create_tracer(void)
{
    th_tracer *tracer;
    cr_assert_eq(th_tracer_create("test", &tracer, NULL), TH_OK);
    return tracer;
}

MISUSED_BY(a_span_ends_after_it_began, th_tracer_end(create_tracer()));

MISUSE(a_frame_is_of_one_group)
{
    th_tracer *tracer = create_tracer();
    th_tracer_frame_begin(tracer, NULL, 1);
    th_tracer_begin(tracer, "pose");
    th_tracer_group(tracer, "another");
}

/* ---- render ---- */

MISUSE(a_camera_is_fitted_to_something)
{
    const th_camera camera = th_camera_look_at((const float[3]){0, 0, 1}, (const float[3]){0, 0, 0});
    const th_camera_fit fit = th_camera_fit_begin(&camera, 1, 1);
    th_camera_fit_end(&fit, &fit);
}

static th_cull *create_cull(void)
{
    static const uint32_t kinds[COUNT];
    static const th_cull_kind kind = {.sphere = {.radius = 1}};
    th_cull *cull;
    const th_cull_desc desc = {.kinds = &kind,
                               .kind_count = 1,
                               .instance_kinds = kinds,
                               .instance_count = COUNT,
                               .model_count = 1,
                               .lod_count = TH_CULL_MAX_LODS};
    cr_assert_eq(th_cull_create(&desc, &cull, NULL), TH_OK);
    return cull;
}

MISUSE(characters_that_move_are_of_the_crowd)
{
    static const th_instance_transform transforms[COUNT + 1];
    th_cull_move(create_cull(), 0, COUNT + 1, transforms);
}

MISUSE(levels_of_detail_get_coarser)
{
    const th_cull_view view = {.pixels = 1, .lod_px = {32, 80, 180}};
    th_cull_classify(create_cull(), &view, NULL, 0, 1);
}

MISUSE(blocks_that_are_classified_are_of_the_crowd)
{
    const th_cull_view view = {.pixels = 1, .lod_px = {180, 80, 32}};
    th_cull_classify(create_cull(), &view, NULL, 0, 2);
}

MISUSE(characters_that_are_placed_are_of_the_layout)
{
    static const th_locomotion locomotion = {.scale = 1};
    static const th_instance_motion motions[1];
    th_instance_transform out[2];
    const th_layout layout = th_layout_make(
        &(th_layout_desc){.locomotions = &locomotion, .locomotion_count = 1, .motions = motions, .count = 1});
    th_layout_place(&layout, 0, 2, 0, out);
}

MISUSE(a_writer_takes_the_frames_it_was_opened_for)
{
    th_frame_writer *writer;
    const th_frame_writer_desc desc = {.path = "none.png", .width = 1, .height = 1, .frame_count = 0};
    cr_assert_eq(th_frame_writer_open(&desc, &writer, NULL), TH_OK);
    th_frame_writer_add(writer, (const uint8_t[4]){0}, NULL);
}

static th_ring *create_ring(void)
{
    th_ring *ring;
    open_gl();
    cr_assert_eq(th_ring_create(gl, &(th_ring_desc){.bytes = 64}, &ring, NULL), TH_OK);
    return ring;
}

MISUSE(a_slot_that_is_being_written_is_not_begun_again)
{
    th_ring *ring = create_ring();
    th_ring_begin(ring);
    th_ring_begin(ring);
}

MISUSED_BY(a_slot_ends_after_it_began, th_ring_end(create_ring()));

MISUSE(a_slot_has_one_fence)
{
    th_ring *ring = create_ring();
    th_ring_begin(ring);
    th_ring_end(ring);
    th_ring_fence(ring);
    th_ring_fence(ring);
}

/* ---- bench ---- */

MISUSE(samples_are_not_appended_to_themselves)
{
    th_samples samples;
    cr_assert(th_samples_init(&samples, 1));
    th_samples_append(&samples, &samples);
}

MISUSED_BY(a_quantile_is_above_0, th_quantile((double[1]){1}, 1, 0));
MISUSED_BY(a_quantile_of_a_histogram_is_at_most_1, th_histogram_quantile(&(th_histogram){0}, 1.5));
MISUSED_BY(an_interval_needs_blocks, th_quantile_interval(&(th_samples){0}, 0.5, 0));
MISUSED_BY(a_fit_needs_times, th_fit_run(TH_FIT_USL, &(th_fit_point){.threads = 1, .items = 1}, 1, 1, &(th_fit){0}));
MISUSED_BY(interference_ends_after_it_began,
           th_interference_between(&(th_interference_mark){.wall_ns = 2}, &(th_interference_mark){.wall_ns = 1}));
MISUSED_BY(rounds_end_somehow, th_measure(&(th_measure_desc){0}, NULL, 0));
MISUSED_BY(fewer_frames_miss_than_run, th_capacity_miss_rate_bound(2, 1));

MISUSE(thread_counts_ascend)
{
    const th_stress_desc desc = {
        .threads = (const uint32_t[]){2, 1}, .thread_count = 2, .budget_ns = 1e6, .frames = 1000};
    th_stress_run(&desc, &(th_stress){0}, NULL);
}

MISUSED_BY(two_results_are_compared, th_compare(&(th_compare_desc){0}, &(th_comparison){0}, NULL));

#endif
