/* Matrices of any joints against the exact pose, and palettes beside them. Of layers and masks: test_layers.c. In
 * frames, as characters come and go: test_characters.c. */
#include "fixture_crowd.h"
#include "fixture_isa.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 45, MODELS = 60 };

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

/* Bones on about half of the joints, none on those at the end, or only one; and every third joint stands still. */
static th_model *sparse_model(uint32_t n)
{
    const random_desc desc = variety(n);
    th_model *model = random_model(&desc);
    th_bone *bones = (th_bone *)model->bones;
    uint32_t kept = 0;
    for (uint32_t b = 0; b < model->bone_count; b++)
        if (n % 4 < 3 ? (b + n) % 2 && bones[b].joint < model->joint_count * 3 / 4 : kept == 0)
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
        const uint32_t most = some_joints(model, n, joints);
        how.socket_count = n % 3 ? most : 1;
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

Test(sockets, are_joints_of_the_model)
{
    th_model *model = random_model(&(random_desc){.seed = 1, .joint_count = 3, .clip_count = 1, .key_count = 2});
    uint32_t joints[] = {2, 0, 2}, count;
    th_error err;
    const th_compiled_model_desc desc = {.model = model, .sockets = joints, .socket_count = 3};
    th_compiled_model *compiled = make_compiled_as(model, desc);
    joints[0] = joints[1] = joints[2] = 3;
    const uint32_t *kept = th_compiled_model_sockets(compiled, &count);
    cr_expect(count == 3 && kept[0] == 2 && kept[1] == 0 && kept[2] == 2, "copied, in order");
    th_compiled_model_destroy(compiled);
    cr_expect_eq(th_compiled_model_create(&desc, &compiled, &err), TH_ERR_USAGE);
    cr_expect_str_eq(err.text, "random 1: no joint 3 for a socket, it has 3");
    cr_expect_null(compiled);
    th_model_destroy(model);
}

/* A model compiled with some sockets and with more. Of three that are of the first, one is posed in it, and one in the
 * second, as levels of detail are. The third shares a pose, which belongs to nobody. */
Test(sockets, are_those_of_the_model_that_poses)
{
    th_model *model = sparse_model(14);
    uint32_t joints[60];
    const uint32_t most = some_joints(model, 0, joints), counts[] = {most / 2, most};
    const size_t row = most * sizeof(th_mat34);
    crowd_fixture own[2], s;
    for (uint32_t m = 0; m < 2; m++) {
        const th_compiled_model_desc how = {.sockets = joints, .socket_count = counts[m]};
        crowd_fixture_init_with(&own[m], model, how, 3, (th_crowd_desc){0});
        crowd_fixture_update(&own[m], 0.7);
    }
    const th_compiled_model *const compiled[] = {own[0].compiled, own[1].compiled};
    crowd_fixture_init_of(&s, compiled, 2, own[0].instances, 3, (th_crowd_desc){0});
    th_crowd_set_active_counts(s.crowd, (const uint32_t[]){2, 1});
    th_crowd_set_active_poses(s.crowd, 0, &(th_shared_pose){.ratio = 0.5}, 1);
    th_crowd_set_active_range(s.crowd, 1, (const uint32_t[]){0}, 1);
    th_crowd_set_active_in(s.crowd, 1, 2, (const uint32_t[]){1}, 1);
    th_crowd_set_palettes_of(s.crowd, 0, (const uint32_t[]){2}, (const uint32_t[]){0}, 1);
    char *wanted = memset(malloc(3 * row), 0xff, 3 * row);
    for (uint32_t m = 0; m < 2; m++)
        memcpy(wanted + m * row, own[m].sockets + m * counts[m] * 12, counts[m] * sizeof(th_mat34));
    crowd_fixture_update(&s, 0.7);
    cr_expect_arr_eq(s.sockets, wanted, 3 * row);
    free(wanted);
    crowd_fixture_fini_twin(&s);
    crowd_fixture_fini(&own[0]);
    crowd_fixture_fini(&own[1]);
    th_model_destroy(model);
}
