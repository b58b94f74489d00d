/* Matrices of any joints against the exact pose, and palettes beside them. Of layers and masks: test_layers.c. */
#include "fixture_crowd.h"
#include "fixture_isa.h"

#include <runtime/frame.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 45, MODELS = 60, KEYS = 41 };

/* Twins of a crowd, in all formats and by all kernels. bound: of clips. plain: with the same palettes. */
static void check(const crowd_fixture *of, double bound, const crowd_fixture *plain)
{
    const th_model *model = th_compiled_model_source(of->compiled);
    for (th_format format = TH_FORMAT_F32; format < TH_FORMAT_COUNT; format++)
        for (EACH_ISA(isa)) {
            const double rounding = (format == TH_FORMAT_QUAT16 ? 1e-5 : 1e-6) * model->joint_count * model->size;
            const th_crowd_desc as = {.isa = isa, .format = format};
            crowd_fixture s, other;
            if (th_compiled_model_obstacle(of->compiled, format))
                continue;
            crowd_fixture_init_twin(&s, of, as);
            crowd_fixture_init_twin(&other, plain, as);
            crowd_fixture_update(&s, 0.7);
            crowd_fixture_update(&other, 0.7);
            for (uint32_t i = 0; i < COUNT; i++) {
                const double error = instance_error(&s, i, 0.7);
                cr_assert_leq(error, bound + rounding, "%s, %s, %s, instance %u: off by %g, allowed %g", model->name,
                              th_isa_name(isa), th_format_name(format), i, error, bound + rounding);
            }
            cr_assert_arr_eq(s.palette, other.palette, s.palette_bytes, "%s", model->name);
            crowd_fixture_fini_twin(&s);
            crowd_fixture_fini_twin(&other);
        }
}

/* Bones on about half of the joints, none on those at the end; and every third joint stands still. */
static th_model *sparse_model(uint32_t n)
{
    const random_desc desc = variety(n);
    th_model *model = random_model(&desc);
    th_bone *bones = (th_bone *)model->bones;
    uint32_t kept = 0;
    for (uint32_t b = 0; b < model->bone_count; b++)
        if ((b + n) % 2 && bones[b].joint < model->joint_count * 3 / 4)
            bones[kept++] = bones[b];
    model->bone_count = kept;
    for (uint32_t c = 0; c < model->clip_count; c++) {
        th_clip *clip = (th_clip *)&model->clips[c];
        uint32_t count = 0;
        for (uint32_t i = 0; i < clip->channel_count; i++)
            if (clip->channels[i].joint % 3 != n % 3)
                ((th_channel *)clip->channels)[count++] = clip->channels[i];
        clip->channel_count = count;
    }
    return model;
}

/* Palettes: where no clip needs more frames for the sockets. */
Test(sockets, follow_the_exact_pose_and_leave_palettes_as_they_are)
{
    uint32_t exact = 0, same = 0;
    for (uint32_t n = 0; n < MODELS; n++) {
        th_model *model = sparse_model(n);
        th_compiled_model_desc how = {.interpolation = (th_interpolation)(n % TH_INTERPOLATION_COUNT),
                                      .keys = (th_keys)(n / 2 % TH_KEYS_COUNT),
                                      .sampling = n % 11 == 10 ? TH_SAMPLING_EXACT : TH_SAMPLING_COMPILED};
        uint32_t *joints = calloc(model->joint_count + 1, sizeof *joints);
        crowd_fixture plain, with;
        crowd_fixture_init_with(&plain, model, how, COUNT, (th_crowd_desc){0});
        how.socket_count = some_joints(model, n, joints);
        how.sockets = joints;
        crowd_fixture_init_with(&with, model, how, COUNT, (th_crowd_desc){0});
        free(joints);
        /* Clips are not measured at these times (check_kernels.c). */
        const double bound = how.sampling == TH_SAMPLING_EXACT ? 0 : 1.5 * th_compiled_model_bound(with.compiled);
        bool is_same = true;
        for (uint32_t c = 0; c < model->clip_count; c++)
            is_same &= th_compiled_model_clip_report(plain.compiled, c)->frame_count ==
                       th_compiled_model_clip_report(with.compiled, c)->frame_count;
        check(&with, bound, is_same ? &plain : &with);
        if (how.keys == TH_KEYS_32) /* 16 bits may be too few for a socket */
            exact += th_compiled_model_exact_clips(with.compiled) - th_compiled_model_exact_clips(plain.compiled);
        same += is_same;
        crowd_fixture_fini(&plain);
        crowd_fixture_fini(&with);
        th_model_destroy(model);
    }
    cr_expect(exact < 1 && same > MODELS / 2, "%u more exact clips, %u with as many frames", exact, same);
}

/* ---- the bound ---- */

/* A root; on it an arm that turns to and fro, of size 1 in its clip; on that a hand that never moves, mirrored and
 * sheared. Only one joint has a bone. */
typedef struct swing {
    th_joint joints[3];
    double times[KEYS];
    float rotations[4 * KEYS];
    th_channel channel;
    th_clip clip;
    th_bone bone;
    th_model model;
} swing;

/* root, arm: sizes at rest. */
static swing *make_swing(float root, float arm, uint32_t bone)
{
    swing *w = calloc(1, sizeof *w);
    for (uint32_t j = 0; j < 3; j++) {
        w->joints[j] = root_joint;
        w->joints[j].parent = j == 0 ? TH_NO_INDEX : j - 1;
        for (int i = 0; i < 3; i++)
            w->joints[j].rest.m[5 * i] = j == 0 ? root : arm;
    }
    w->joints[2].rest = (th_mat34){{-1.5F, 0.2F, 0, 0.4F, 0, 1, 0, 0, 0, 0, 1, 0}};
    for (int k = 0; k < KEYS; k++) {
        const double half = k % 2 ? 0.6 : -0.6;
        w->times[k] = k;
        w->rotations[4 * k + 2] = (float)sin(half);
        w->rotations[4 * k + 3] = (float)cos(half);
    }
    w->channel = turning_channel(1, KEYS, w->times, w->rotations);
    w->clip = clip_of(&w->channel, 1, KEYS - 1, 30);
    w->bone = root_bone;
    w->bone.joint = bone;
    w->model = model_of(w->joints, &w->bone, 3, &w->clip);
    w->model.bone_count = 1;
    return w;
}

/* A joint that is more than rotated and moved rules quaternions out where it moves. */
static void check_swing(swing *w, uint32_t joint, const char *obstacle)
{
    const th_compiled_model_desc how = {.sockets = &joint, .socket_count = 1};
    crowd_fixture s;
    crowd_fixture_init_with(&s, &w->model, how, COUNT, (th_crowd_desc){0});
    const th_clip_report *report = th_compiled_model_clip_report(s.compiled, 0);
    cr_expect(report->compiled && (w->bone.joint > 0 || report->error_joint == joint), "joint %u", joint);
    const char *found = th_compiled_model_obstacle(s.compiled, TH_FORMAT_QUAT);
    cr_expect(!obstacle == !found && (!found || strcmp(found, obstacle) == 0), "joint %u: %s", joint, found);
    check(&s, 1.05 * th_compiled_model_bound(s.compiled), &s);
    crowd_fixture_fini(&s);
}

Test(sockets, hold_the_bound_where_no_bone_is)
{
    static const float sizes[][2] = {{1, 1}, {2.5F, 1}, {1, 0}, {1, -1.5F}};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        swing *w = make_swing(sizes[n][0], sizes[n][1], n == 1);
        for (uint32_t joint = 0; joint < 3; joint++)
            check_swing(w, joint, n > 1 && joint > 0 ? "joint joint is scaled, sheared or mirrored" : NULL);
        free(w);
    }
}

Test(sockets, are_joints_of_the_model)
{
    swing *w = make_swing(1, 1, 0);
    uint32_t joints[] = {2, 0, 2}, count;
    th_error err;
    const th_compiled_model_desc desc = {.model = &w->model, .sockets = joints, .socket_count = 3};
    th_compiled_model *compiled = make_compiled_as(&w->model, desc);
    joints[0] = joints[1] = joints[2] = 3;
    const uint32_t *kept = th_compiled_model_sockets(compiled, &count);
    cr_expect(count == 3 && kept[0] == 2 && kept[1] == 0 && kept[2] == 2, "copied, in order");
    th_compiled_model_destroy(compiled);
    cr_expect_eq(th_compiled_model_create(&desc, &compiled, &err), TH_ERR_USAGE);
    cr_expect_str_eq(err.text, "model: no joint 3 for a socket, it has 3");
    cr_expect_null(compiled);
    free(w);
}

/* ---- crowds ---- */

enum { TRIO = 3, CROWD = TRIO * COUNT, NOT_POSED = TRIO };

/* A model compiled with some sockets, with more and with none, for instances in turn; and crowds of each alone. */
typedef struct trio {
    th_model *model;
    uint32_t joints[60], counts[TRIO];
    crowd_fixture own[TRIO], s;
} trio;

static trio *make_trio(void)
{
    trio *t = calloc(1, sizeof *t);
    const th_compiled_model *compiled[TRIO];
    th_spawn instances[CROWD];
    t->model = sparse_model(14);
    t->counts[1] = some_joints(t->model, 0, t->joints);
    t->counts[0] = t->counts[1] / 2;
    for (uint32_t m = 0; m < TRIO; m++) {
        const th_compiled_model_desc how = {.sockets = t->joints + m, .socket_count = t->counts[m]};
        crowd_fixture_init_with(&t->own[m], t->model, how, COUNT, (th_crowd_desc){0});
        crowd_fixture_update(&t->own[m], 0.7);
        compiled[m] = t->own[m].compiled;
        for (uint32_t i = 0; i < COUNT; i++) {
            instances[TRIO * i + m] = t->own[m].instances[i];
            instances[TRIO * i + m].model = m;
        }
    }
    t->s.crowd = crowd_of(compiled, TRIO, instances, CROWD, (th_crowd_desc){0});
    t->s.palette = aligned_alloc(64, th_crowd_palette_bytes(t->s.crowd));
    t->s.scratch = aligned_alloc(64, th_crowd_scratch_bytes(t->s.crowd));
    t->s.sockets = calloc(CROWD * t->counts[1], sizeof(th_mat34));
    return t;
}

static void free_trio(trio *t)
{
    crowd_fixture_fini_twin(&t->s);
    for (uint32_t m = 0; m < TRIO; m++)
        crowd_fixture_fini(&t->own[m]);
    th_model_destroy(t->model);
    free(t);
}

static const float *row_of(const trio *t, uint32_t i, uint32_t model)
{
    return t->own[model].sockets + i / TRIO * t->counts[model] * 12;
}

/* posed_in: by instance, the model. Poses the last batches first, `step` of them a call. */
static void check_rows(trio *t, const uint32_t *posed_in, uint32_t step)
{
    const size_t row = t->counts[1] * sizeof(th_mat34);
    char *expected = malloc(CROWD * row);
    memset(expected, GUARD, CROWD * row);
    memset(t->s.sockets, GUARD, CROWD * row);
    for (uint32_t end = th_crowd_batch_count(t->s.crowd), begin; end > 0; end = begin) {
        begin = end > step ? end - step : 0;
        th_crowd_pose_layers(t->s.crowd, begin, end, 0.7, NULL, t->s.palette, t->s.sockets, t->s.scratch);
    }
    for (uint32_t i = 0; i < CROWD; i++) {
        cr_assert_eq(th_crowd_socket_count(t->s.crowd, i), t->counts[i % TRIO]);
        if (posed_in[i] != NOT_POSED)
            memcpy(expected + i * row, row_of(t, i, posed_in[i]), t->counts[posed_in[i]] * sizeof(th_mat34));
    }
    cr_expect_arr_eq(t->s.sockets, expected, CROWD * row);
    free(expected);
}

Test(sockets, lie_by_instance_whoever_is_posed_when_and_in_which_model)
{
    trio *t = make_trio();
    uint32_t posed_in[CROWD], active[CROWD], count = 0;
    for (uint32_t i = 0; i < CROWD; i++)
        posed_in[i] = i % TRIO;
    for (uint32_t step = 1; step < 10; step += 4)
        check_rows(t, posed_in, step);

    for (uint32_t i = CROWD; i-- > 0;)
        if (i % 4 == 1)
            active[count++] = i;
        else
            posed_in[i] = NOT_POSED;
    th_crowd_set_active(t->s.crowd, active, count);
    check_rows(t, posed_in, CROWD);

    /* A shared pose belongs to nobody. Posed in another model: as levels of detail are. */
    for (uint32_t i = 0; i < CROWD; i++)
        posed_in[i] = i == 3 ? 0 : i == 6 || i % TRIO > 0 ? NOT_POSED : 1;
    for (uint32_t i = CROWD, k = 0; i-- > 0;)
        if (posed_in[i] == 1)
            active[k++] = i;
    th_crowd_set_active_counts(t->s.crowd, (const uint32_t[]){2, COUNT - 2, 0});
    th_crowd_set_active_poses(t->s.crowd, 0, &(th_shared_pose){.ratio = 0.5}, 1);
    th_crowd_set_active_range(t->s.crowd, 1, (const uint32_t[]){3}, 1);
    th_crowd_set_active_in(t->s.crowd, 1, 2, active, COUNT - 2);
    th_crowd_set_palettes_of(t->s.crowd, 0, (const uint32_t[]){6}, (const uint32_t[]){0}, 1);
    check_rows(t, posed_in, 1);
    free_trio(t);
}

Test(sockets, are_in_the_frame)
{
    trio *t = make_trio();
    th_jobs *jobs;
    th_frame *frame;
    cr_assert_eq(th_jobs_create(&(th_jobs_desc){.threads = 2}, &jobs, NULL), TH_OK);
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = t->s.crowd, .jobs = jobs, .grain = 1}, &frame, NULL), TH_OK);
    cr_expect_null(th_frame_sockets(frame, (th_character){0, 1}));
    th_frame_run(frame, 1.9, t->s.palette);
    th_frame_run(frame, 0.7, t->s.palette);
    for (uint32_t i = 0; i < CROWD; i++) {
        const float *row = th_frame_sockets(frame, (th_character){i, 1});
        cr_assert_eq(row == NULL, i % TRIO == 2);
        if (row)
            cr_assert_arr_eq(row, row_of(t, i, i % TRIO), t->counts[i % TRIO] * sizeof(th_mat34), "instance %u", i);
    }
    th_frame_destroy(frame);
    th_jobs_destroy(jobs);
    free_trio(t);
}
