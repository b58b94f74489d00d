/* Misuse is caught: a caller's mistake that a header forbids ends the program at an assert. */
#include "fixture_gl.h"

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
#include <render/cull.h>
#include <throng/anim/bounds.h>
#include <throng/anim/crowd.h>
#include <throng/anim/exact.h>
#include <throng/anim/synthetic.h>
#include <throng/jobs/scheduler.h>
#include <throng/render/camera_fit.h>
#include <throng/render/frame_writer.h>
#include <throng/render/ring.h>
#include <throng/runtime/frame.h>
#include <throng/runtime/pose_plan.h>
#include <throng/runtime/scene.h>
#include <throng/runtime/tracer.h>

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef NDEBUG

Test(preconditions, are_not_checked_in_this_build)
{
    cr_skip_test("asserts are off");
}

#else

/* Fails if the call returns. */
#define MISUSE(suite, name) Test(suite, name, .signal = SIGABRT)

/* ---- core ---- */

MISUSE(core, an_arena_has_no_elements_without_size)
{
    th_arena_alloc(th_arena_create(), 1, 0);
}

MISUSE(core, a_success_is_no_error)
{
    th_fail(NULL, TH_OK, "all is well");
}

MISUSE(core, json_is_appended_to_arrays_only)
{
    th_json_append(json_object(), json_null());
}

MISUSE(core, a_text_that_is_appended_to_fits_its_buffer)
{
    char text[] = "full";
    th_append(text, 4, "%s", "");
}

MISUSE(core, a_column_says_on_which_side_it_is)
{
    th_table_create("<clip|seconds");
}

MISUSE(core, a_table_is_written_in_whole_rows)
{
    th_table *table = th_table_create("<clip|>seconds");
    th_table_cell(table, "walk");
    th_table_write(table, TH_FORMAT_TEXT, stderr);
}

/* ---- jobs ---- */

static th_jobs *create_jobs(uint32_t threads)
{
    th_jobs *jobs = NULL;
    cr_assert_eq(th_jobs_create(&(th_jobs_desc){.threads = threads}, &jobs), 0);
    return jobs;
}

static int destroy_own_pool(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)begin, (void)end, (void)worker;
    th_jobs_destroy(ctx);
    return 0;
}

MISUSE(jobs, a_pool_is_not_destroyed_by_its_own_job)
{
    th_jobs *jobs = create_jobs(1);
    th_jobs_for(jobs, 1, 1, destroy_own_pool, jobs);
}

static int read_stats(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_worker_stats stats[2];
    (void)begin, (void)end, (void)worker;
    th_jobs_stats(ctx, stats);
    return 0;
}

MISUSE(jobs, counters_are_read_between_calls)
{
    th_jobs *jobs = create_jobs(2);
    th_jobs_for(jobs, 1, 1, read_stats, jobs);
}

MISUSE(jobs, a_partition_is_for_at_least_one_thread)
{
    th_jobs_partition(0, 1, 1, &(uint32_t){1}, &(uint32_t){0});
}

MISUSE(jobs, a_registered_scheduler_is_complete)
{
    static const th_scheduler_ops incomplete;
    th_scheduler_register(TH_SCHEDULER_OPENMP_STATIC, &incomplete);
}

/* ---- anim ---- */

enum { COUNT = 40 };

/* A crowd of a small model, and memory for its palettes. */
typedef struct fixture {
    th_model *model;
    th_scene *scene;
    th_crowd *crowd;
    void *palette, *scratch;
} fixture;

static fixture create(void)
{
    fixture f = {0};
    th_synthetic_desc shape = TH_SYNTHETIC_DEFAULT;
    shape.joints = 8;
    shape.depth = 4;
    cr_assert_eq(th_synthetic_create(&shape, &f.model, NULL), TH_OK);
    const th_scene_desc desc = {
        .models = (const th_model *const *)&f.model, .model_count = 1, .instance_count = COUNT, .seed = 1};
    cr_assert_eq(th_scene_create(&desc, &f.scene, NULL), TH_OK);
    cr_assert_eq(th_scene_crowd(f.scene, TH_ISA_AUTO, TH_PALETTE_F32, &f.crowd, NULL), TH_OK);
    f.palette = th_cache_line_alloc(th_crowd_palette_bytes(f.crowd));
    f.scratch = th_cache_line_alloc(th_crowd_scratch_bytes(f.crowd));
    return f;
}

static void create_crowd_of(const fixture *f, th_instance instance, th_palette palette)
{
    th_crowd *crowd;
    const th_crowd_desc desc = {.compiled_models = f->scene->compiled_models,
                                .compiled_model_count = 1,
                                .instances = &instance,
                                .instance_count = 1,
                                .palette = palette};
    th_crowd_create(&desc, &crowd, NULL);
}

MISUSE(anim, an_instance_has_a_model_of_the_crowd)
{
    const fixture f = create();
    create_crowd_of(&f, (th_instance){.model = 1}, TH_PALETTE_F32);
}

MISUSE(anim, an_instance_begins_at_a_finite_time)
{
    const fixture f = create();
    create_crowd_of(&f, (th_instance){.phase_s = HUGE_VAL}, TH_PALETTE_F32);
}

MISUSE(anim, a_palette_has_a_format)
{
    const fixture f = create();
    create_crowd_of(&f, (th_instance){.model = 0}, (th_palette)(TH_PALETTE_AUTO + 1));
}

MISUSE(anim, active_instances_are_of_the_crowd)
{
    const fixture f = create();
    th_crowd_set_active(f.crowd, (const uint32_t[]){0, COUNT}, 2);
}

MISUSE(anim, an_instance_that_is_not_active_has_no_palette)
{
    const fixture f = create();
    th_crowd_set_active(f.crowd, (const uint32_t[]){3}, 1);
    th_crowd_palette_offset(f.crowd, 4);
}

MISUSE(anim, batches_are_those_of_the_crowd)
{
    const fixture f = create();
    th_crowd_update(f.crowd, 0, th_crowd_batch_count(f.crowd) + 1, 0, f.palette, f.scratch);
}

MISUSE(anim, palettes_begin_on_a_cache_line)
{
    const fixture f = create();
    th_crowd_fill(f.crowd, 0, 1, 0, (char *)f.palette + 16);
}

MISUSE(anim, a_palette_is_not_its_own_scratch)
{
    const fixture f = create();
    th_crowd_update(f.crowd, 0, 1, 0, f.palette, f.palette);
}

MISUSE(anim, only_a_whole_crowd_has_a_hash)
{
    const fixture f = create();
    th_crowd_set_active(f.crowd, (const uint32_t[]){3}, 1);
    th_crowd_hash(f.crowd, f.palette);
}

MISUSE(anim, an_error_bound_is_not_negative)
{
    const fixture f = create();
    th_compiled_model *compiled;
    th_compiled_model_create(&(th_compiled_model_desc){.model = f.model, .bound_m = -1}, &compiled, NULL);
}

MISUSE(anim, a_clip_has_an_index_of_its_model)
{
    const fixture f = create();
    th_bounds bounds;
    th_model_bounds(f.model, f.model->clip_count, TH_INTERPOLATION_AUTHORED, &bounds, NULL);
}

MISUSE(anim, a_palette_is_not_written_over_its_pose)
{
    const fixture f = create();
    th_dmat34 pose[8];
    th_exact_pose(f.model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_palette(f.model, pose, pose);
}

MISUSE(anim, slerp_is_between_rotations)
{
    th_quat_arc_between((const double[4]){0, 0, 0, 1}, (const double[4]){0, 0, 0, 2});
}

/* ---- runtime ---- */

static th_frame *create_frame(const fixture *f)
{
    th_frame *frame;
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = f->crowd, .jobs = create_jobs(1)}, &frame, NULL), TH_OK);
    return frame;
}

MISUSE(runtime, workers_are_recorded_where_asked_for)
{
    const fixture f = create();
    th_frame *frame = create_frame(&f);
    th_frame_animate(frame, 0, f.palette);
    th_frame_worker(frame, 0);
}

MISUSE(runtime, a_pose_is_held_no_longer_than_its_plan_allows)
{
    const fixture f = create();
    const th_draw_list group = {.count = 1, .hold = 3};
    th_pose_plan *plan;
    cr_assert_eq(
        th_pose_plan_create(&(th_pose_plan_desc){.crowd = f.crowd, .most_lists = 1, .most_hold = 2}, &plan, NULL),
        TH_OK);
    th_pose_plan_make(plan, create_jobs(1), 0, &(uint32_t){0}, &group, 1);
}

MISUSE(runtime, a_span_ends_after_it_began)
{
    th_tracer *tracer;
    cr_assert_eq(th_tracer_create("test", &tracer, NULL), TH_OK);
    th_tracer_end(tracer);
}

MISUSE(runtime, a_frame_is_of_one_group)
{
    th_tracer *tracer;
    cr_assert_eq(th_tracer_create("test", &tracer, NULL), TH_OK);
    th_tracer_frame_begin(tracer, NULL, 1);
    th_tracer_begin(tracer, "pose");
    th_tracer_group(tracer, "another");
}

/* ---- render ---- */

MISUSE(render, a_camera_sees_something_between_near_and_far)
{
    float matrix[16];
    th_camera camera = th_camera_look_at((const float[3]){0, 0, 1}, (const float[3]){0, 0, 0});
    camera.far_z = camera.near_z;
    th_camera_clip(&camera, 1, matrix);
}

MISUSE(render, a_camera_is_fitted_to_something)
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

MISUSE(render, characters_that_move_are_of_the_crowd)
{
    static const th_instance_transform transforms[COUNT + 1];
    th_cull_move(create_cull(), 0, COUNT + 1, transforms);
}

MISUSE(render, levels_of_detail_get_coarser)
{
    const th_cull_view view = {.pixels = 1, .lod_px = {32, 80, 180}};
    th_cull_classify(create_cull(), &view, NULL, 0, 1);
}

MISUSE(render, blocks_that_are_classified_are_of_the_crowd)
{
    const th_cull_view view = {.pixels = 1, .lod_px = {180, 80, 32}};
    th_cull_classify(create_cull(), &view, NULL, 0, 2);
}

MISUSE(render, characters_that_are_placed_are_of_the_layout)
{
    static const th_locomotion locomotion = {.scale = 1};
    static const th_instance_motion motions[1];
    th_instance_transform out[2];
    const th_layout layout = th_layout_make(
        &(th_layout_desc){.locomotions = &locomotion, .locomotion_count = 1, .motions = motions, .count = 1});
    th_layout_place(&layout, 0, 2, 0, out);
}

MISUSE(render, a_writer_takes_the_frames_it_was_opened_for)
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

MISUSE(render, a_slot_that_is_being_written_is_not_begun_again)
{
    th_ring *ring = create_ring();
    th_ring_begin(ring);
    th_ring_begin(ring);
}

MISUSE(render, a_slot_ends_after_it_began)
{
    th_ring_end(create_ring());
}

MISUSE(render, a_slot_has_one_fence)
{
    th_ring *ring = create_ring();
    th_ring_begin(ring);
    th_ring_end(ring);
    th_ring_fence(ring);
    th_ring_fence(ring);
}

/* ---- bench ---- */

MISUSE(bench, samples_are_not_appended_to_themselves)
{
    th_samples samples;
    cr_assert(th_samples_init(&samples, 1));
    th_samples_append(&samples, &samples);
}

MISUSE(bench, a_quantile_is_above_0)
{
    th_quantile((double[1]){1}, 1, 0);
}

MISUSE(bench, a_quantile_of_a_histogram_is_at_most_1)
{
    th_histogram_quantile(&(th_histogram){0}, 1.5);
}

MISUSE(bench, an_interval_needs_blocks)
{
    th_quantile_interval(&(th_samples){0}, 0.5, 0);
}

MISUSE(bench, a_fit_needs_times)
{
    const th_fit_point point = {.threads = 1, .items = 1};
    th_fit fit;
    th_fit_run(TH_FIT_USL, &point, 1, 1, &fit);
}

MISUSE(bench, interference_ends_after_it_began)
{
    const th_interference_mark early = {.wall_ns = 1}, late = {.wall_ns = 2};
    th_interference_between(&late, &early);
}

MISUSE(bench, rounds_end_somehow)
{
    th_measure(&(th_measure_desc){0}, NULL, 0);
}

MISUSE(bench, fewer_frames_miss_than_run)
{
    th_capacity_miss_rate_bound(2, 1);
}

MISUSE(bench, thread_counts_ascend)
{
    static const uint32_t threads[] = {2, 1};
    th_stress stress;
    th_stress_run(&(th_stress_desc){.threads = threads, .thread_count = 2, .budget_ns = 1e6, .frames = 1000}, &stress,
                  NULL);
}

MISUSE(bench, two_results_are_compared)
{
    th_comparison comparison;
    th_compare(&(th_compare_desc){0}, &comparison, NULL);
}

#endif
