/* Sockets: the matrices of any joints against the exact pose, and palettes beside them. Layers and masks: test_layers.
 */
#include "fixture_crowd.h"
#include "fixture_isa.h"

#include <anim/exact.h>
#include <runtime/frame.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 45, MODELS = 60 };

/* ---- models ---- */

/* Some joints that no clip moves, and bones on about half of the joints, none on those at the end. */
static th_model *sparse_model(uint32_t n)
{
    random_desc desc = variety(n);
    desc.uneven_keys = desc.splines = false;
    th_model *model = random_model(&desc);
    th_bone *bones = (th_bone *)model->bones;
    uint64_t state = (n + 1) * 0x9E3779B97F4A7C15u;
    uint32_t kept = 0;
    for (uint32_t b = 0; b < model->bone_count; b++)
        if (random_between(&state, 0, 2) < 1 && bones[b].joint < model->joint_count * 3 / 4)
            bones[kept++] = bones[b];
    model->bone_count = kept;
    for (uint32_t c = 0; c < model->clip_count; c++) {
        th_clip *clip = (th_clip *)&model->clips[c];
        th_channel *channels = (th_channel *)clip->channels;
        const uint32_t count = clip->channel_count;
        clip->channel_count = 0;
        for (uint32_t i = 0; i < count; i++)
            if (channels[i].joint % 3 != n % 3)
                channels[clip->channel_count++] = channels[i];
    }
    return model;
}

typedef struct socketed {
    th_model *model;
    uint32_t *joints, count;
    crowd_fixture s;
} socketed;

/* model: which becomes the crowd's. */
static void init(socketed *t, th_model *model, uint32_t n, th_compiled_model_desc how)
{
    *t = (socketed){.model = model, .joints = calloc(model->joint_count + 1, sizeof *t->joints)};
    t->count = random_sockets(model, n, t->joints);
    how.sockets = t->joints;
    how.socket_count = t->count;
    crowd_fixture_init_with(&t->s, model, how, COUNT, (th_crowd_desc){0});
}

static void fini(socketed *t)
{
    crowd_fixture_fini(&t->s);
    th_model_destroy(t->model);
    free(t->joints);
}

static bool has_bone(const th_model *model, uint32_t joint)
{
    bool has = false;
    for (uint32_t b = 0; b < model->bone_count; b++)
        has |= model->bones[b].joint == joint;
    return has;
}

static bool moves(const th_model *model, uint32_t joint)
{
    bool has = false;
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t i = 0; i < model->clips[c].channel_count; i++)
            has |= model->clips[c].channels[i].joint == joint;
    return has;
}

static bool moves_or_is_below(const th_model *model, uint32_t joint)
{
    for (; joint != TH_NO_INDEX; joint = model->joints[joint].parent)
        if (moves(model, joint))
            return true;
    return false;
}

static double determinant(const th_mat34 *a)
{
    const float *m = a->m;
    return (double)(m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                    m[2] * (m[4] * m[9] - m[5] * m[8]));
}

/* ---- where they are ---- */

/* Sockets of each kind. */
typedef struct kinds {
    uint32_t with_bone, moving, held, still, roots, mirrored, sized;
} kinds;

static void count_kinds(const socketed *t, kinds *k)
{
    for (uint32_t n = 0; n < t->count; n++) {
        const uint32_t j = t->joints[n];
        const double size = determinant(&t->model->joints[j].rest);
        k->with_bone += has_bone(t->model, j);
        k->moving += !has_bone(t->model, j) && moves(t->model, j);
        k->held += !has_bone(t->model, j) && !moves(t->model, j) && moves_or_is_below(t->model, j);
        k->still += !moves_or_is_below(t->model, j);
        k->roots += t->model->joints[j].parent == TH_NO_INDEX;
        k->mirrored += size < 0;
        k->sized += fabs(fabs(size) - 1) > 0.01;
    }
}

/* As the bound was measured with another rounding, and not at these times (check_kernels.c). */
static double allowed(const socketed *t, th_compiled_model_desc how)
{
    const double spare = how.keys == TH_KEYS_16 ? 1.5 : how.interpolation == TH_INTERPOLATION_AUTHORED ? 1.05 : 1.25;
    return spare * th_compiled_model_bound(t->s.compiled) + 1e-6 * t->model->joint_count * t->model->size;
}

static void check_crowd(const socketed *t, double most, th_crowd_desc as, const char *what)
{
    crowd_fixture twin;
    th_dmat34 *pose = calloc(t->model->joint_count, sizeof *pose);
    crowd_fixture_init_twin(&twin, &t->s, as);
    crowd_fixture_update(&twin, 0.7);
    for (uint32_t i = 0; i < COUNT; i++) {
        instance_pose(&twin, i, 0.7, pose);
        const double error = socket_error(&twin, i, pose);
        cr_assert_leq(error, most, "%s, %s, %s, instance %u: off by %g, allowed %g", what, th_isa_name(as.isa),
                      th_format_name(as.palette), i, error, most);
    }
    crowd_fixture_fini_twin(&twin);
    free(pose);
}

Test(sockets, follow_the_exact_pose)
{
    kinds k = {0};
    uint32_t formats[TH_FORMAT_COUNT] = {0}, exact = 0, clips = 0;
    for (uint32_t n = 0; n < MODELS; n++) {
        const th_compiled_model_desc how = {.interpolation = (th_interpolation)(n % TH_INTERPOLATION_COUNT),
                                            .keys = (th_keys)(n / 2 % TH_KEYS_COUNT)};
        socketed t;
        init(&t, sparse_model(n), n, how);
        count_kinds(&t, &k);
        clips += t.model->clip_count;
        exact += th_compiled_model_exact_clips(t.s.compiled);
        for (int format = 0; format < TH_FORMAT_COUNT; format++) {
            if (th_compiled_model_obstacle(t.s.compiled, (th_format)format))
                continue;
            formats[format]++;
            for (EACH_ISA(isa))
                check_crowd(&t, allowed(&t, how), (th_crowd_desc){.isa = isa, .palette = (th_format)format},
                            t.model->name);
        }
        fini(&t);
    }
    cr_expect(k.with_bone > 50 && k.moving > 50 && k.held > 20 && k.still > 20 && k.roots > 5 && k.mirrored > 5 &&
                  k.sized > 20,
              "with a bone %u, moving %u, held %u, still %u, roots %u, mirrored %u, of another size %u", k.with_bone,
              k.moving, k.held, k.still, k.roots, k.mirrored, k.sized);
    cr_expect(formats[TH_FORMAT_QUAT] > 10 && formats[TH_FORMAT_QUAT16] > 5, "%u with quaternions, %u with 16 bytes",
              formats[TH_FORMAT_QUAT], formats[TH_FORMAT_QUAT16]);
    cr_expect(exact < clips / 4, "%u of %u clips play exact", exact, clips);
}

Test(sockets, of_exact_clips_are_exact)
{
    for (uint32_t n = 0; n < MODELS; n += 3) {
        socketed t;
        init(&t, sparse_model(n), n, (th_compiled_model_desc){.sampling = TH_SAMPLING_EXACT});
        check_crowd(&t, 2e-7 * t.model->joint_count * t.model->size, (th_crowd_desc){0}, t.model->name);
        fini(&t);
    }
}

/* ---- the bound ---- */

enum { KEYS = 41 };

/* A root with a bone; on it an arm that turns to and fro; on that a hand that never moves. Scaled by `size` at rest. */
typedef struct swing {
    th_joint joints[3];
    double times[KEYS];
    float rotations[4 * KEYS];
    th_channel channel;
    th_clip clip;
    th_model model;
} swing;

static swing *make_swing(float size)
{
    swing *w = calloc(1, sizeof *w);
    for (uint32_t j = 0; j < 3; j++) {
        w->joints[j] = root_joint;
        w->joints[j].parent = j == 0 ? TH_NO_INDEX : j - 1;
    }
    w->joints[2].rest.m[3] = 0.4F;
    for (int i = 0; i < 3; i++)
        w->joints[1].rest.m[5 * i] = size;
    for (int k = 0; k < KEYS; k++) {
        const double half = k % 2 ? 0.6 : -0.6;
        w->times[k] = k;
        w->rotations[4 * k + 2] = (float)sin(half);
        w->rotations[4 * k + 3] = (float)cos(half);
    }
    w->channel = turning_channel(1, KEYS, w->times, w->rotations);
    w->clip = clip_of(&w->channel, 1, KEYS - 1, 30);
    w->model = model_of(w->joints, &root_bone, 3, &w->clip);
    w->model.bone_count = 1;
    return w;
}

/* No bone needs more than one frame. */
static void check_swing(float size, uint32_t joint)
{
    swing *w = make_swing(size);
    const th_compiled_model_desc how = {.sockets = &joint, .socket_count = 1};
    th_compiled_model *plain = make_compiled(&w->model, TH_SAMPLING_COMPILED);
    crowd_fixture s;
    crowd_fixture_init_with(&s, &w->model, how, COUNT, (th_crowd_desc){0});
    const th_clip_report *report = th_compiled_model_clip_report(s.compiled, 0);
    cr_expect_lt(th_compiled_model_clip_report(plain, 0)->frame_count, KEYS);
    cr_expect(report->compiled && report->frame_count >= KEYS, "joint %u: %u frames", joint, report->frame_count);
    cr_expect_eq(report->error_joint, joint);
    crowd_fixture_update(&s, 0.31);
    for (uint32_t i = 0; i < COUNT; i++) {
        th_dmat34 pose[3];
        instance_pose(&s, i, 0.31, pose);
        /* 3 cm of 1.8 m off the joint where its size is 1, which the clip makes it. */
        for (int axis = 0; axis < 3; axis++) {
            const double at[3] = {axis == 0 ? 0.03 / 1.8 : 0, axis == 1 ? 0.03 / 1.8 : 0, axis == 2 ? 0.03 / 1.8 : 0};
            double want[3], got[3];
            th_mat34 played;
            memcpy(played.m, s.sockets + (size_t)i * 12, sizeof played.m);
            const th_dmat34 matrix = th_dmat34_from(played);
            th_dmat34_point(&pose[joint], at, want);
            th_dmat34_point(&matrix, at, got);
            const double error = hypot(hypot(want[0] - got[0], want[1] - got[1]), want[2] - got[2]);
            cr_assert_leq(error, 1.05 * th_compiled_model_bound(s.compiled), "size %g, joint %u, instance %u: %g",
                          (double)size, joint, i, error);
        }
    }
    crowd_fixture_fini(&s);
    th_compiled_model_destroy(plain);
    free(w);
}

Test(sockets, hold_the_bound_where_no_bone_is)
{
    check_swing(1, 1);
    check_swing(1, 2);
}

Test(sockets, hold_the_bound_where_the_rest_pose_hides_them)
{
    check_swing(0, 1);
    check_swing(0, 2);
}

/* ---- quaternions ---- */

static void check_quats(swing *w)
{
    static const uint32_t joints[] = {2, 1};
    const th_compiled_model_desc how = {.sockets = joints, .socket_count = 2};
    socketed t = {.model = &w->model};
    crowd_fixture_init_with(&t.s, &w->model, how, COUNT, (th_crowd_desc){0});
    cr_assert_null(th_compiled_model_obstacle(t.s.compiled, TH_FORMAT_QUAT));
    for (EACH_ISA(isa))
        check_crowd(&t, allowed(&t, how), (th_crowd_desc){.isa = isa, .palette = TH_FORMAT_QUAT}, "a swing");
    crowd_fixture_fini(&t.s);
    free(w);
}

/* The bone of the arm is bound as if the root were not larger. */
Test(sockets, of_a_model_that_is_scaled_as_a_whole)
{
    swing *w = make_swing(1);
    static th_bone on_arm;
    on_arm = root_bone;
    on_arm.joint = 1;
    w->model.bones = &on_arm;
    for (int i = 0; i < 3; i++)
        w->joints[0].rest.m[5 * i] = 2.5F;
    check_quats(w);
}

/* A joint that is more than rotated and moved rules quaternions out where it moves. */
Test(sockets, that_stand_still_may_be_mirrored)
{
    swing *w = make_swing(1);
    w->joints[2].rest.m[0] = -1.5F;
    w->joints[2].rest.m[1] = 0.2F;
    check_quats(w);
    w = make_swing(1);
    w->joints[1].rest.m[0] = -1.5F;
    const uint32_t joint = 1;
    th_compiled_model *compiled =
        make_compiled_as(&w->model, (th_compiled_model_desc){.sockets = &joint, .socket_count = 1});
    cr_expect_str_eq(th_compiled_model_obstacle(compiled, TH_FORMAT_QUAT),
                     "joint joint is scaled, sheared or mirrored");
    th_compiled_model_destroy(compiled);
    free(w);
}

/* ---- palettes ---- */

static bool same_frames(const th_compiled_model *a, const th_compiled_model *b)
{
    bool same = true;
    for (uint32_t c = 0; c < th_compiled_model_source(a)->clip_count; c++) {
        const th_clip_report *one = th_compiled_model_clip_report(a, c), *other = th_compiled_model_clip_report(b, c);
        same &= one->compiled == other->compiled && one->frame_count == other->frame_count &&
                one->stretch_count == other->stretch_count;
    }
    return same;
}

/* Where clips have the same frames, as they always do if sockets have bones. */
static void check_palettes(uint32_t n, bool on_bones, uint32_t *same)
{
    const th_compiled_model_desc how = {.interpolation = (th_interpolation)(n % TH_INTERPOLATION_COUNT),
                                        .keys = (th_keys)(n / 2 % TH_KEYS_COUNT)};
    socketed t;
    crowd_fixture plain, twin;
    th_compiled_model_desc with = how;
    init(&t, sparse_model(n), n, how);
    uint32_t *joints = t.joints, count = 0;
    for (uint32_t k = 0; k < t.count; k++)
        if (!on_bones || has_bone(t.model, joints[k]))
            joints[count++] = joints[k];
    with.sockets = joints;
    with.socket_count = count;
    crowd_fixture_init_with(&plain, t.model, how, COUNT, (th_crowd_desc){0});
    crowd_fixture_init_with(&twin, t.model, with, COUNT, (th_crowd_desc){0});
    const bool has_same = same_frames(plain.compiled, twin.compiled);
    cr_assert(has_same || !on_bones, "model %u", n);
    *same += has_same;
    for (int format = 0; format < TH_FORMAT_COUNT && has_same; format++) {
        const char *obstacle = th_compiled_model_obstacle(plain.compiled, (th_format)format);
        const char *with_sockets = th_compiled_model_obstacle(twin.compiled, (th_format)format);
        cr_assert(!on_bones || !obstacle == !with_sockets, "model %u: %s", n, with_sockets);
        if (obstacle || with_sockets)
            continue;
        crowd_fixture a, b;
        const th_crowd_desc as = {.palette = (th_format)format};
        crowd_fixture_init_twin(&a, &plain, as);
        crowd_fixture_init_twin(&b, &twin, as);
        crowd_fixture_update(&a, 0.7);
        crowd_fixture_update(&b, 0.7);
        cr_assert_arr_eq(a.palette, b.palette, a.palette_bytes, "model %u, %s", n, th_format_name((th_format)format));
        crowd_fixture_fini_twin(&a);
        crowd_fixture_fini_twin(&b);
    }
    crowd_fixture_fini(&plain);
    crowd_fixture_fini(&twin);
    fini(&t);
}

Test(sockets, leave_palettes_as_they_are)
{
    uint32_t on_bones = 0, anywhere = 0;
    for (uint32_t n = 0; n < MODELS; n++) {
        check_palettes(n, true, &on_bones);
        check_palettes(n, false, &anywhere);
    }
    cr_expect_eq(on_bones, MODELS);
    cr_expect_gt(anywhere, MODELS / 4, "%u", anywhere);
}

/* ---- crowds ---- */

static void update(const crowd_fixture *s, uint32_t begin, uint32_t end)
{
    th_crowd_pose_layers(s->crowd, begin, end, 0.7, NULL, s->palette, s->sockets, s->scratch);
}

/* Two models of which each has another number of sockets, and one without. */
typedef struct trio {
    socketed own[3];
    const th_compiled_model *compiled[3];
    th_instance instances[3 * COUNT];
    crowd_fixture s;
} trio;

static trio *make_trio(void)
{
    trio *t = calloc(1, sizeof *t);
    for (uint32_t m = 0; m < 3; m++) {
        init(&t->own[m], sparse_model(14 + 30 * m), m, (th_compiled_model_desc){0});
        if (m == 2) {
            crowd_fixture_fini(&t->own[m].s);
            crowd_fixture_init(&t->own[m].s, t->own[m].model, TH_SAMPLING_COMPILED, COUNT, TH_ISA_AUTO);
            t->own[m].count = 0;
        }
        crowd_fixture_update(&t->own[m].s, 0.7);
        t->compiled[m] = t->own[m].s.compiled;
        for (uint32_t i = 0; i < COUNT; i++) {
            t->instances[3 * i + m] = t->own[m].s.instances[i];
            t->instances[3 * i + m].model = m;
        }
    }
    cr_assert_neq(t->own[0].count, t->own[1].count);
    crowd_fixture *s = &t->s;
    s->count = 3 * COUNT;
    s->crowd = crowd_of(t->compiled, 3, t->instances, s->count, (th_crowd_desc){0});
    s->palette = aligned_alloc(64, th_crowd_palette_bytes(s->crowd));
    s->scratch = aligned_alloc(64, th_crowd_scratch_bytes(s->crowd));
    s->sockets = malloc(s->count * th_crowd_socket_stride(s->crowd) * sizeof(th_mat34));
    return t;
}

static void free_trio(trio *t)
{
    crowd_fixture_fini_twin(&t->s);
    for (uint32_t m = 0; m < 3; m++)
        fini(&t->own[m]);
    free(t);
}

/* Of an active instance those of its like in the crowd of its own model, and nothing behind; of others nothing. */
static void check_rows(const trio *t, uint32_t i, const float *sockets, bool is_active)
{
    const socketed *own = &t->own[i % 3];
    const size_t stride = th_crowd_socket_stride(t->s.crowd), used = is_active ? own->count * sizeof(th_mat34) : 0;
    const char *row = (const char *)(sockets + i * stride * 12);
    cr_assert_eq(th_crowd_socket_count(t->s.crowd, i), own->count);
    cr_assert_arr_eq(row, own->s.sockets + i / 3 * own->count * 12, used, "instance %u", i);
    for (size_t b = used; b < stride * sizeof(th_mat34); b++)
        cr_assert_eq((unsigned char)row[b], GUARD, "instance %u: byte %zu", i, b);
}

Test(sockets, lie_by_instance_whoever_is_posed_when)
{
    trio *t = make_trio();
    const size_t bytes = t->s.count * th_crowd_socket_stride(t->s.crowd) * sizeof(th_mat34);
    cr_expect_eq(th_crowd_socket_stride(t->s.crowd),
                 t->own[0].count > t->own[1].count ? t->own[0].count : t->own[1].count);
    for (uint32_t step = 1; step < 10; step += 4) {
        memset(t->s.sockets, GUARD, bytes);
        for (uint32_t end = th_crowd_batch_count(t->s.crowd); end > 0; end = end > step ? end - step : 0)
            update(&t->s, end > step ? end - step : 0, end);
        for (uint32_t i = 0; i < t->s.count; i++)
            check_rows(t, i, t->s.sockets, true);
    }

    uint32_t active[3 * COUNT], count = 0;
    for (uint32_t i = t->s.count; i-- > 0;)
        if (i % 4 == 1)
            active[count++] = i;
    th_crowd_set_active(t->s.crowd, active, count);
    memset(t->s.sockets, GUARD, bytes);
    update(&t->s, 0, th_crowd_batch_count(t->s.crowd));
    for (uint32_t i = 0; i < t->s.count; i++)
        check_rows(t, i, t->s.sockets, i % 4 == 1);
    free_trio(t);
}

/* Poses that instances share take the places of the first model's, and belong to nobody. */
Test(sockets, shared_poses_have_none)
{
    trio *t = make_trio();
    const size_t bytes = t->s.count * th_crowd_socket_stride(t->s.crowd) * sizeof(th_mat34);
    const th_shared_pose pose = {.model = 0, .clip = 0, .ratio = 0.5};
    const uint32_t palette = 0, sharing = 6;
    th_crowd_set_active_counts(t->s.crowd, (const uint32_t[]){2, 0, 0});
    th_crowd_set_active_poses(t->s.crowd, 0, &pose, 1);
    th_crowd_set_active_range(t->s.crowd, 1, (const uint32_t[]){3}, 1);
    th_crowd_set_palettes_of(t->s.crowd, 0, &sharing, &palette, 1);
    memset(t->s.sockets, GUARD, bytes);
    update(&t->s, 0, th_crowd_batch_count(t->s.crowd));
    for (uint32_t i = 0; i < t->s.count; i++)
        check_rows(t, i, t->s.sockets, i == 3);
    free_trio(t);
}

/* As levels of detail are. */
Test(sockets, are_those_of_the_model_in_which_an_instance_is_posed)
{
    static const uint32_t joints[] = {2, 1}, counts[] = {0, 1}, all[] = {0};
    swing *w = make_swing(1);
    const th_compiled_model *compiled[2];
    for (uint32_t m = 0; m < 2; m++)
        compiled[m] =
            make_compiled_as(&w->model, (th_compiled_model_desc){.sockets = joints + m, .socket_count = 2 - m});
    const th_instance instance = {.speed = 1};
    crowd_fixture s = {.count = 1};
    s.crowd = crowd_of(compiled, 2, &instance, 1, (th_crowd_desc){0});
    s.palette = aligned_alloc(64, th_crowd_palette_bytes(s.crowd));
    s.scratch = aligned_alloc(64, th_crowd_scratch_bytes(s.crowd));
    s.sockets = malloc(2 * sizeof(th_mat34));
    update(&s, 0, 1);
    th_mat34 own[2], guard;
    memcpy(own, s.sockets, sizeof own);
    memset(&guard, GUARD, sizeof guard);
    memset(s.sockets, GUARD, sizeof own);
    th_crowd_set_active_counts(s.crowd, counts);
    th_crowd_set_active_in(s.crowd, 1, 0, all, 1);
    update(&s, 0, 1);
    const double apart = fabs((double)own[0].m[3] - (double)own[1].m[3]);
    cr_expect_gt(apart, 0.1);
    for (int i = 0; i < 12; i++)
        cr_expect_float_eq(s.sockets[i], own[1].m[i], 1e-4F);
    cr_expect_arr_eq(s.sockets + 12, &guard, sizeof guard);
    crowd_fixture_fini_twin(&s);
    for (uint32_t m = 0; m < 2; m++)
        th_compiled_model_destroy((th_compiled_model *)compiled[m]);
    free(w);
}

/* ---- frames ---- */

static void check_frame(const trio *t, th_jobs *jobs)
{
    th_frame *frame;
    void *palette;
    const size_t bytes = th_crowd_palette_bytes(t->s.crowd);
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = t->s.crowd, .jobs = jobs, .grain = 1}, &frame, NULL), TH_OK);
    cr_assert_eq(th_palette_create(t->s.crowd, &palette, NULL), TH_OK);
    cr_expect_null(th_frame_sockets(frame, (th_character){2, 1}));
    cr_expect_float_eq(th_frame_sockets(frame, (th_character){0, 1})[3], 0, 0);
    th_frame_run(frame, 1.9, palette);
    th_frame_run(frame, 0.7, palette);
    update(&t->s, 0, th_crowd_batch_count(t->s.crowd));
    cr_expect_arr_eq(palette, t->s.palette, bytes);
    for (uint32_t i = 0; i < t->s.count; i++) {
        const socketed *own = &t->own[i % 3];
        if (own->count > 0)
            cr_assert_arr_eq(th_frame_sockets(frame, (th_character){i, 1}), own->s.sockets + i / 3 * own->count * 12,
                             own->count * sizeof(th_mat34), "instance %u", i);
        else
            cr_assert_null(th_frame_sockets(frame, (th_character){i, 1}));
    }
    free(palette);
    th_frame_destroy(frame);
}

Test(sockets, are_in_the_frame)
{
    trio *t = make_trio();
    for (uint32_t threads = 1; threads < 4; threads++) {
        th_jobs *jobs;
        cr_assert_eq(th_threads_create(&(th_jobs_desc){.threads = threads}, &jobs, NULL), TH_OK);
        check_frame(t, jobs);
        th_jobs_destroy(jobs);
    }
    free_trio(t);
}

Test(sockets, a_frame_without_has_none)
{
    swing *w = make_swing(1);
    crowd_fixture s;
    th_jobs *jobs;
    th_frame *frame;
    crowd_fixture_init(&s, &w->model, TH_SAMPLING_COMPILED, 1, TH_ISA_AUTO);
    cr_assert_eq(th_threads_create(&(th_jobs_desc){.threads = 1}, &jobs, NULL), TH_OK);
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = s.crowd, .jobs = jobs}, &frame, NULL), TH_OK);
    th_frame_run(frame, 1, s.palette);
    cr_expect_null(th_frame_sockets(frame, (th_character){0, 1}));
    th_frame_destroy(frame);
    th_jobs_destroy(jobs);
    crowd_fixture_fini(&s);
    free(w);
}

/* ---- declaring ---- */

Test(sockets, are_joints_of_the_model)
{
    swing *w = make_swing(1);
    uint32_t joints[] = {2, 0, 2}, count;
    th_compiled_model *compiled =
        make_compiled_as(&w->model, (th_compiled_model_desc){.sockets = joints, .socket_count = 3});
    joints[0] = joints[1] = 1;
    const uint32_t *kept = th_compiled_model_sockets(compiled, &count);
    cr_assert_eq(count, 3);
    cr_expect(kept[0] == 2 && kept[1] == 0 && kept[2] == 2, "copied, in order");
    th_compiled_model_destroy(compiled);

    th_error err;
    joints[2] = 3;
    const th_compiled_model_desc desc = {.model = &w->model, .sockets = joints, .socket_count = 3};
    cr_expect_eq(th_compiled_model_create(&desc, &compiled, &err), TH_ERR_USAGE);
    cr_expect_str_eq(err.text, "model: no joint 3 for a socket, it has 3");
    cr_expect_null(compiled);
    free(w);
}
