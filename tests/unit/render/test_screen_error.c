/* Inside, since the view's matrices are needed to project by hand. The error on screen of whole frames, against
 * characters posed, skinned and projected one by one. */
#include "fixture_memory.h"
#include "fixture_shown.h"
#include "render/view/crowd_view_parts.h"

#include <anim/skin_error.h>
#include <core/cache_line.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1600, HEIGHT = 900, COUNT = 150 };

static th_error err;

static struct {
    th_crowd_view_desc desc;
    th_model *human;
    th_camera camera;
    double held_s[COUNT]; /* with hold: when each was posed */
} s;

/* A street, which is seen from near, measured in each frame. */
static void choose_street(void)
{
    hide();
    shown_behaviour.kind = TH_BEHAVIOUR_NONE;
    s.desc = (th_crowd_view_desc){.models = {s.human},
                                  .clips = {TH_NO_INDEX},
                                  .model_count = 1,
                                  .count = COUNT,
                                  .seed = 1,
                                  .compile = {.bound_m = 0.0001},
                                  .layout = TH_LAYOUT_STREET,
                                  .palette = TH_FORMAT_F32,
                                  .jobs = {.threads = 2},
                                  .shadow_pixels = 256,
                                  .yaw_deg = 25,
                                  .pitch_deg = 18,
                                  .zoom = 4,
                                  .error_every = 1};
}

static void open_view(void)
{
    s.human = open_shown();
    before_check = choose_street;
}

TestSuite(screen_error, .init = open_view, .fini = close_shown);

/* As the desc says, in place of the one before. */
static void make_view(void)
{
    show(&s.desc);
    s.camera = th_crowd_view_camera(shown, (float)WIDTH / HEIGHT, HUGE_VAL);
}

static th_screen_error_stats measure(double time_s)
{
    cr_assert(th_crowd_view_pose(shown, time_s, &s.camera, WIDTH, HEIGHT));
    return th_crowd_view_get_stats(shown).error;
}

CHECK(screen_error, is_zero_where_nothing_is_saved)
{
    for (th_behaviour_kind behaviour = TH_BEHAVIOUR_NONE; behaviour <= TH_BEHAVIOUR_GRAPH; behaviour++) {
        shown_behaviour.kind = behaviour;
        make_view();
        const th_screen_error_stats e = measure(2.5);
        cr_expect_eq(e.count, th_crowd_view_get_stats(shown).visible);
        cr_expect_gt(e.count, 10);
        cr_expect_eq(e.max, 0);
    }
}

/* ---- the same, one character after the other ---- */

typedef struct posed {
    th_crowd *crowd;
    char *palettes;
    uint32_t models[COUNT]; /* indices of posed models */
} posed;

/* What characters of the last frame are drawn as; those that are not listed as themselves. */
static void find_models(uint32_t out[COUNT])
{
    const th_crowd_view *v = shown;
    const th_draw_list *lists = v->cull->draw_lists;
    for (uint32_t i = 0; i < COUNT; i++)
        out[i] = th_crowd_view_get_parts(v).scene->instances[i].model;
    for (uint32_t g = 0; g < v->cull->draw_list_count; g++)
        for (uint32_t k = lists[g].first; k < lists[g].first + lists[g].count; k++)
            out[v->cull->list[k]] = v->posed_as[lists[g].own][lists[g].lod];
}

/* When an instance was posed as it is drawn. */
static double posed_s(uint32_t i, double time_s)
{
    return s.desc.hold > 1 ? s.held_s[i] : time_s;
}

/* share_hz: of all; 0: nobody shares. */
static posed pose_all(th_format format, double share_hz, bool as_drawn, double time_s)
{
    posed p = {0};
    const th_scene *scene = th_crowd_view_get_parts(shown).scene;
    th_spawn instances[COUNT];
    memcpy(instances, scene->instances, sizeof instances);
    /* Into the middle of their step, of which a clip has round(duration * hz), for good. */
    for (uint32_t i = 0; i < COUNT && share_hz > 0; i++) {
        const th_clip *clip = th_scene_clip(scene, i);
        const double duration_s = clip->duration_ticks / clip->ticks_per_second, steps = round(duration_s * share_hz);
        const double loops = (instances[i].phase_s + instances[i].speed * time_s) / duration_s;
        instances[i].phase_s = (floor((loops - floor(loops)) * steps) + 0.5) / steps * duration_s;
        instances[i].speed = 0;
    }
    for (uint32_t i = 0; i < COUNT && as_drawn && s.desc.hold > 1; i++) {
        instances[i].phase_s += instances[i].speed * s.held_s[i];
        instances[i].speed = 0;
    }
    if (as_drawn)
        find_models(p.models);
    for (uint32_t i = 0; i < COUNT; i++)
        instances[i].model = p.models[i];
    const th_crowd_desc desc = {.compiled_models = (const th_compiled_model *const *)shown->compiled_models,
                                .compiled_model_count = shown->posed_count,
                                .format = format};
    cr_assert_eq(th_crowd_create_with(&desc, instances, COUNT, &p.crowd, &err), TH_OK);
    p.palettes = th_cache_line_alloc(th_crowd_palette_bytes(p.crowd));
    void *scratch = th_cache_line_alloc(th_crowd_scratch_bytes(p.crowd));
    const uint32_t batches = th_crowd_batch_count(p.crowd);
    const th_behaviour *behaviour = shown->behaviour;
    if (behaviour) { /* what each plays of its own accord at its own time */
        const uint32_t stride = th_behaviour_layer_stride(behaviour);
        th_layer *layers = calloc((size_t)COUNT * stride, sizeof *layers);
        uint8_t counts[COUNT];
        for (uint32_t i = 0; i < COUNT; i++)
            counts[i] = (uint8_t)th_behaviour_layers(behaviour, i, as_drawn ? posed_s(i, time_s) : time_s,
                                                     layers + (size_t)i * stride);
        const th_crowd_layers table = {layers, counts, stride};
        th_crowd_pose_layers(p.crowd, 0, batches, time_s, &table, p.palettes, NULL, scratch);
        free(layers);
    } else {
        th_crowd_pose(p.crowd, 0, batches, time_s, p.palettes, scratch);
    }
    free(scratch);
    return p;
}

static void free_posed(posed *p)
{
    th_crowd_destroy(p->crowd);
    free(p->palettes);
}

/* Where a character's vertex is in the picture, from its middle; false: outside. */
static bool look(const posed *p, uint32_t i, uint32_t mesh, uint32_t v, const th_instance_transform *at, double out[2])
{
    const th_model *model = shown->posed_models[p->models[i]].model;
    const th_format format = th_crowd_format(p->crowd);
    const th_vertex *vertex = &model->meshes[mesh].vertices[v];
    const th_mat34 placed = th_instance_transform_matrix(at);
    const th_dmat34 scene = th_dmat34_from(placed);
    const double from[3] = {(double)vertex->position[0], (double)vertex->position[1], (double)vertex->position[2]};
    double skin[3] = {0}, part[3], moved[3], eye[3];
    float axes[3][3], eye_at[3];
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
        const th_palette_base base = th_model_palette_base(model, vertex->bone[k]);
        th_mat34 entry;
        th_palette_read(format,
                        p->palettes + th_crowd_palette_offset(p->crowd, i) +
                            vertex->bone[k] * th_palette_entry_bytes(format),
                        &base, entry.m);
        const th_dmat34 bone = th_dmat34_from(entry);
        th_dmat34_point(&bone, from, part);
        for (int c = 0; c < 3; c++)
            skin[c] += (double)vertex->weight[k] * part[c];
    }
    th_dmat34_point(&scene, skin, moved);
    th_camera_axes(&s.camera, axes[0], axes[1], axes[2]);
    th_camera_eye(&s.camera, eye_at);
    for (int a = 0; a < 3; a++) {
        eye[a] = 0;
        for (int c = 0; c < 3; c++)
            eye[a] += (double)axes[a][c] * (moved[c] - (double)eye_at[c]);
    }
    const double depth = fmax(eye[2], (double)s.camera.near_z);
    const double focal = HEIGHT / 2.0 / tan((double)s.camera.fov_y_rad / 2);
    out[0] = focal * eye[0] / depth;
    out[1] = focal * eye[1] / depth;
    return eye[2] >= (double)s.camera.near_z && fabs(out[0]) <= WIDTH / 2.0 && fabs(out[1]) <= HEIGHT / 2.0;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* As the camera would follow it, if it has a behaviour. */
static th_instance_transform place(uint32_t i, double time_s)
{
    const th_crowd_view *v = shown;
    th_instance_transform at;
    th_layout_place(&v->layout, i, i + 1, time_s, &at);
    if (!v->behaviour)
        return at;
    const th_follow_target target = th_crowd_view_follow_target(v, i, time_s);
    at.position[0] = target.centre[0];
    at.position[2] = target.centre[2];
    at.heading_rad = target.heading_rad - v->locomotions[v->motions[i].locomotion].facing_rad;
    return at;
}

/* Of all characters, largest first; those out of the picture have none. */
static void measure_all(double time_s, double out[COUNT])
{
    posed drawn = pose_all(s.desc.palette, s.desc.share_hz, true, time_s),
          full = pose_all(TH_FORMAT_F32, 0, false, time_s);
    for (uint32_t i = 0; i < COUNT; i++) {
        const th_instance_transform at = place(i, time_s), drawn_at = place(i, posed_s(i, time_s));
        const th_model *model = th_scene_model(th_crowd_view_get_parts(shown).scene, i);
        double a[2], b[2];
        out[i] = 0;
        for (uint32_t m = 0; m < model->mesh_count; m++)
            for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++) {
                const bool in = look(&drawn, i, m, v, &drawn_at, a), full_in = look(&full, i, m, v, &at, b);
                out[i] = in || full_in ? fmax(out[i], hypot(a[0] - b[0], a[1] - b[1])) : out[i];
            }
    }
    qsort(out, COUNT, sizeof *out, by_size);
    free_posed(&drawn);
    free_posed(&full);
}

static void check(double time_s)
{
    double wanted[COUNT];
    const th_screen_error_stats e = th_crowd_view_get_stats(shown).error;
    measure_all(time_s, wanted);
    cr_assert(e.count > 10 && e.count < COUNT, "%u are visible", e.count);
    for (uint32_t i = 0; i < e.count; i++) {
        const double got = (double)th_crowd_view_get_parts(shown).errors[e.count - 1 - i];
        cr_assert_float_eq(got, wanted[i], 0.05 * wanted[i] + 0.003, "%s, the %u-th of %u: %g, not %g pixels",
                           th_format_name(s.desc.palette), i, e.count, got, wanted[i]);
    }
    const double max = (double)e.max, p99 = (double)e.p99, p50 = (double)e.p50;
    const uint32_t above_p99 = e.count / 100, above_p50 = e.count / 2;
    cr_assert_gt(max, 0);
    cr_assert_float_eq(max, wanted[0], 0.05 * max + 0.003);
    cr_assert_float_eq(p99, wanted[above_p99], 0.05 * max + 0.003);
    cr_assert_float_eq(p50, wanted[above_p50], 0.05 * max + 0.003);
}

static void measure_and_check(double time_s)
{
    measure(time_s);
    check(time_s);
}

CHECK(screen_error, is_that_of_all_vertices)
{
    s.desc.palette = TH_FORMAT_QUAT16;
    make_view();
    measure_and_check(1.5);
    th_camera_move(&s.camera, 0, -0.8F * s.camera.target[1], 0.9F * s.camera.distance); /* among them */
    th_crowd_view_fit_depth(shown, &s.camera);
    measure_and_check(7.25);
}

CHECK(screen_error, of_shared_poses_is_that_of_all_vertices)
{
    for (double hz = 15; hz < 100; hz *= 4) {
        s.desc.share_hz = hz;
        make_view();
        measure_and_check(1.5);
        cr_expect_gt(th_crowd_view_get_stats(shown).error.p50, 0.1);
        measure_and_check(7.25);
    }
}

/* Characters of the street have several joint levels; they share, too, or not. */
CHECK(screen_error, of_joint_levels_is_that_of_all_vertices)
{
    s.desc.joint_lod = true;
    for (int shares = 0; shares < 2; shares++) {
        s.desc.palette = shares ? TH_FORMAT_QUAT : TH_FORMAT_F32;
        s.desc.share_hz = shares * 60;
        make_view();
        measure_and_check(1.5);
        const th_crowd_view_stats stats = th_crowd_view_get_stats(shown);
        uint32_t levels = 0;
        for (uint32_t l = 0; l < TH_LOD_LEVELS; l++)
            levels += stats.listed_by_joint_level[l] > 0;
        cr_expect_gt(levels, 1);
        cr_expect_gt(stats.error.p50, 0.1);
    }
}

/* When characters were posed, and as what. */
typedef struct holding {
    uint32_t numbers[COUNT], models[COUNT];
    double times[COUNT];
} holding;

/* After a frame. */
static void follow_held(holding *h, double time_s)
{
    uint32_t models[COUNT];
    const uint32_t number = th_ring_get_info(shown->ring).frame, hold = s.desc.hold;
    find_models(models);
    for (uint32_t i = 0; i < COUNT; i++) /* out of sight */
        s.held_s[i] = time_s;
    for (uint32_t k = 0; k < shown->stats.listed; k++) {
        const uint32_t i = shown->cull->list[k];
        const bool turn = (number + i) % hold == 0 || number - h->numbers[i] >= hold;
        if (h->numbers[i] == 0 || turn || models[i] != h->models[i]) {
            h->numbers[i] = number;
            h->models[i] = models[i];
            h->times[i] = time_s;
        }
        s.held_s[i] = h->times[i];
    }
}

/* Frames of a 30th of a second, every second of which is measured. */
CHECK(screen_error, of_held_poses_is_that_of_all_vertices)
{
    s.desc.hold = 3;
    s.desc.error_every = 2;
    for (int which = 0; which < 3; which++) {
        s.desc.joint_lod = which == 1;
        s.desc.palette = which == 1 ? TH_FORMAT_QUAT : TH_FORMAT_F32;
        shown_behaviour.kind = which == 2 ? TH_BEHAVIOUR_GRAPH : TH_BEHAVIOUR_NONE;
        make_view();
        holding h = {0};
        uint32_t count = 0;
        for (int frame = 0; frame < 7; frame++) {
            const double time_s = 1.5 + frame / 30.0;
            measure(time_s);
            follow_held(&h, time_s);
            count += shown->stats.held;
            if (frame > 0 && frame % 2 == 0)
                check(time_s);
        }
        cr_expect(count > 200 && th_crowd_view_get_stats(shown).error.p50 > 0.1F, "%u held, %g pixels", count,
                  (double)th_crowd_view_get_stats(shown).error.p50);
    }
}

/* The `failing`-th allocation of frame `without`. False: it has none. */
static bool pose_without_memory(int without, size_t failing)
{
    make_view();
    holding h = {0};
    bool failed = false;
    for (int frame = 0; frame < 5; frame++) {
        const double time_s = 1.5 + frame / 30.0;
        failing_allocation = frame == without ? allocations + failing : 0;
        const bool ok = th_crowd_view_pose(shown, time_s, &s.camera, WIDTH, HEIGHT);
        failing_allocation = 0;
        failed |= !ok;
        cr_assert(ok || frame == without, "frame %d", frame);
        if (!ok)
            continue;
        follow_held(&h, time_s);
        if (shown->stats.held > 0)
            check(time_s);
    }
    return failed;
}

/* It is left out, and frames after it hold poses of those before. */
CHECK(screen_error, a_frame_without_memory_leaves_poses_as_they_are)
{
    s.desc.hold = 3;
    for (int without = 0; without < 3; without++) {
        size_t failing = 1;
        while (pose_without_memory(without, failing))
            failing++;
        cr_expect_gt(failing, 1, "frame %d", without);
    }
}

/* ---- how it is measured ---- */

CHECK(screen_error, is_the_same_for_any_number_of_threads)
{
    float first[COUNT];
    uint32_t count = 0;
    s.desc.palette = TH_FORMAT_QUAT16;
    shown_behaviour.kind = TH_BEHAVIOUR_GRAPH;
    for (uint32_t threads = 1; threads <= 7; threads += 3) {
        s.desc.jobs.threads = threads;
        make_view();
        measure(0.5);
        const th_screen_error_stats e = measure(3);
        if (threads == 1) {
            count = e.count;
            memcpy(first, th_crowd_view_get_parts(shown).errors, count * sizeof *first);
        }
        cr_assert_eq(e.count, count);
        cr_assert_arr_eq(th_crowd_view_get_parts(shown).errors, first, count * sizeof *first);
    }
}

CHECK(screen_error, is_measured_in_every_nth_frame)
{
    s.desc.palette = TH_FORMAT_QUAT16;
    s.desc.error_every = 3;
    make_view();
    for (int frame = 0; frame < 7; frame++) {
        const float before = th_crowd_view_get_stats(shown).error.max, now = measure(frame).max;
        cr_expect_eq(th_crowd_view_get_stats(shown).error_ns > 0, frame % 3 == 0);
        cr_expect_eq(now != before, frame % 3 == 0, "frame %d", frame);
    }
}

static const uint8_t *draw(th_look look_of, uint32_t every)
{
    const th_target *target = make_target(320, 180, 1);
    s.desc.error_every = every;
    s.desc.look = look_of;
    make_view();
    for (int frame = 0; frame < 4; frame++)
        cr_assert(th_crowd_view_frame(shown, frame, &s.camera, target));
    cr_expect_eq(th_crowd_view_get_stats(shown).error.count > 0, every > 0 || look_of == TH_LOOK_ERROR);
    return read_target(target);
}

CHECK(screen_error, leaves_the_picture_as_it_is)
{
    s.desc.palette = TH_FORMAT_QUAT16;
    const uint8_t *without = draw(TH_LOOK_NATURAL, 0);
    cr_expect_arr_eq(draw(TH_LOOK_NATURAL, 1), without, 4 * 320 * 180);
    cr_expect_neq(memcmp(draw(TH_LOOK_ERROR, 0), without, 4 * 320 * 180), 0);
}

/* ---- percentiles ---- */

CHECK(screen_error, has_percentiles_that_are_nearest_ranks)
{
    float px[200];
    for (int i = 0; i < 200; i++)
        px[i] = (float)((i * 77) % 200 + 1); /* 1 to 200 */
    const th_screen_error_stats all = th_screen_error_stats_of(px, 200);
    cr_expect_eq(all.count, 200);
    cr_expect_eq(all.p50, 100);
    cr_expect_eq(all.p99, 198);
    cr_expect_eq(all.max, 200);
    const th_screen_error_stats one = th_screen_error_stats_of(px, 1), none = th_screen_error_stats_of(NULL, 0);
    cr_expect(one.p50 == 1 && one.p99 == 1 && one.max == 1);
    cr_expect(none.count == 0 && none.max == 0);
}

Test(screen_error, checks)
{
    run_checks("screen_error");
}
