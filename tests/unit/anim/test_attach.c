/* How attached clips fit another skeleton: names, lengths, rest poses. What else attaching does: test_model. */
#include "random_model.h"

#include <anim/exact.h>
#include <anim/model.h>

#include <criterion/criterion.h>

#include <math.h>
#include <string.h>

enum { ROOT, HIPS, SPINE, ARM, LEG, FOOT, JOINTS };

/* A figure in its rest pose, which plays one clip. The root stands on the ground, the hips are 0.9 above. */
typedef struct figure {
    th_joint joints[JOINTS];
    th_channel channels[JOINTS];
    float moves[JOINTS][6], turns[8], hips_turns[8], turns_above[8], sizes[3], sizes_above[3];
    th_clip clips[4];
    th_model model;
} figure;

static const double times[] = {0, 1};
static const char *const names[JOINTS] = {"root", "x:Hips", "x:Spine", "x:Arm", "x:Leg", "x:Foot"};

static void put(th_joint *joint, double x, double y, double turn_deg)
{
    const double half = turn_deg * M_PI / 360;
    joint->rest = th_mat34_from(th_dmat34_from_trs(&(th_trs){{x, y, 0}, {0, 0, sin(half), cos(half)}, {1, 1, 1}}));
}

/* All lengths are `size` times as large. */
static figure *make_figure(figure *f, const char *name, double size, uint32_t clip_count)
{
    static const uint32_t parents[JOINTS] = {TH_NO_INDEX, ROOT, HIPS, SPINE, HIPS, LEG};
    static const double places[JOINTS][2] = {{0, 0}, {0, 0.9}, {0, 0.5}, {0.4, 0}, {0.1, -0.4}, {0, -0.5}};
    *f = (figure){.turns = {0, 0, 0.6F, 0.8F, 0, 0, 0, 1}, .sizes = {1, 1, 1}};
    for (uint32_t j = 0; j < JOINTS; j++) {
        f->joints[j] = (th_joint){.name = names[j], .parent = parents[j]};
        put(&f->joints[j], size * places[j][0], size * places[j][1], 0);
        for (int i = 0; i < 6; i++)
            f->moves[j][i] = f->joints[j].rest.m[4 * (i % 3) + 3];
        f->channels[j] = (th_channel){j,
                                      {2, times, f->moves[j], NULL, false},
                                      {2, times, f->turns, NULL, false},
                                      {1, times, f->sizes, NULL, false},
                                      0,
                                      NULL};
    }
    f->moves[HIPS][3] += (float)(0.3 * size); /* a step aside */
    for (uint32_t c = 0; c < clip_count; c++)
        f->clips[c] = (th_clip){.name = "step",
                                .duration_ticks = 1,
                                .ticks_per_second = 1,
                                .channel_count = JOINTS,
                                .channels = f->channels};
    f->model = (th_model){
        .name = name, .joint_count = JOINTS, .joints = f->joints, .clip_count = clip_count, .arena = OWN_ARENA};
    f->model.clips = f->clips;
    f->model.size = th_model_measure(&f->model);
    cr_assert_eq(th_model_check(&f->model, NULL), TH_OK);
    return f;
}

static figure base, donor;
static th_model *out; /* the base with the clips of the donor */

static void begin(void)
{
    make_figure(&base, "base.fbx", 1, 0);
    make_figure(&donor, "step.fbx", 1, 1);
}

static void end(void)
{
    th_model_destroy(out);
}

TestSuite(attach_fit, .init = begin, .fini = end);

static void attach(void)
{
    th_error err;
    th_model_destroy(out);
    cr_assert_eq(th_model_attach_clips(&base.model, &donor.model, &out, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_model_check(out, &err), TH_OK, "%s", err.text);
}

/* All warnings must be among these, in this order. */
static void expect_warnings(const char *first, const char *second)
{
    const char *wanted[] = {first, second};
    const uint32_t count = second ? 2 : first ? 1 : 0;
    cr_expect_eq(out->warning_count, count, "%u: %s", out->warning_count, out->warning_count ? out->warnings[0] : "");
    for (uint32_t n = 0; n < count && n < out->warning_count; n++)
        cr_expect(strstr(out->warnings[n], wanted[n]), "%s", out->warnings[n]);
}

/* Places at the clip's end. */
static void expect_place(uint32_t joint, double x, double y)
{
    th_dmat34 pose[JOINTS];
    th_exact_pose(out, &out->clips[0], 0.9999999, TH_INTERPOLATION_AUTHORED, pose);
    cr_expect_float_eq(pose[joint].m[3], x, 1e-5, "%s at %g", names[joint], pose[joint].m[3]);
    cr_expect_float_eq(pose[joint].m[7], y, 1e-5, "%s at %g", names[joint], pose[joint].m[7]);
}

/* ---- names ---- */

Test(attach_fit, namespaces_and_case_do_not_matter)
{
    static const char *const others[JOINTS] = {"Root", "mixamorig1:Hips", "spine", "a:b:ARM", "x:Leg", "FOOT"};
    for (uint32_t j = 0; j < JOINTS; j++)
        donor.joints[j].name = others[j];
    attach();
    cr_expect_eq(out->clips->channel_count, JOINTS);
    expect_warnings(NULL, NULL);
}

Test(attach_fit, names_that_several_have_are_counted)
{
    base.joints[ARM].name = "a:limb";
    base.joints[LEG].name = "b:Limb";
    donor.joints[LEG].name = "limb";
    donor.joints[ARM].name = "b:Limb"; /* exactly */
    donor.joints[SPINE].name = "y:foot";
    donor.joints[FOOT].name = "foot";
    attach();
    cr_expect_eq(out->clips->channel_count, 3);
    cr_expect_eq(out->clips->channels[2].joint, LEG);
    cr_assert_gt(out->warning_count, 0); /* and limbs lead elsewhere */
    cr_expect(strstr(out->warnings[0], "3 channels match several joints"), "%s", out->warnings[0]);
}

Test(attach_fit, a_joint_of_the_very_name_goes_first)
{
    donor.joints[SPINE].name = "y:Leg";
    attach();
    cr_expect_eq(out->clips->channel_count, JOINTS - 1);
    expect_warnings("1 channel matches no joint", NULL);
}

/* ---- names of clips ---- */

/* A clip has the name of its file if its own name says nothing, or if another clip has that name. */
Test(attach_fit, clips_have_names_of_their_own)
{
    static const struct {
        const char *file, *taken, *clips[4], *wanted[4], *warning;
    } cases[] = {
        {"hop.v2.fbx",
         "hop.v2 2",
         {"mixamo.com", "Armature|mixamo.com|Layer0", "Take 001", "Rig|Scene#2"},
         {"hop.v2", "hop.v2 3", "hop.v2 4", "hop.v2 5"},
         "hop.v2.fbx: 4 clips were renamed (first: mixamo.com to hop.v2)"},
        {"hop",
         "step",
         {"Take 0011", "Scene 2", "step", "stand"},
         {"Take 0011", "Scene 2", "hop", "stand"},
         "hop: 1 clip was renamed (step to hop)"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        make_figure(&base, "base.fbx", 1, 1);
        make_figure(&donor, cases[n].file, 1, 4);
        base.clips[0].name = cases[n].taken;
        for (int c = 0; c < 4; c++)
            donor.clips[c].name = cases[n].clips[c];
        attach();
        cr_expect_str_eq(out->clips[0].name, cases[n].taken);
        for (int c = 0; c < 4; c++)
            cr_expect_str_eq(out->clips[1 + c].name, cases[n].wanted[c]);
        expect_warnings(cases[n].warning, NULL);
    }
}

/* ---- lengths ---- */

Test(attach_fit, bones_keep_their_lengths_and_hips_move_as_far_as_legs_are_long)
{
    make_figure(&base, "base.fbx", 0.5, 0);
    put(&base.joints[ARM], 0.3, 0, 0); /* longer arms than half */
    attach();
    expect_place(HIPS, 0.15, 0.45);
    expect_place(FOOT, 0.2, 0);
    expect_place(ARM, 0.45, 0.7);
    expect_warnings("step.fbx: translations were scaled by 0.5, since from the lowest joint up to x:Hips it is 0.9",
                    NULL);
}

/* One is in centimetres below a root that makes metres of them. It is seated, also at rest, and does not move. */
Test(attach_fit, units_of_roots_are_told_apart)
{
    make_figure(&donor, "sit.fbx", 100, 1);
    for (int i = 0; i < 3; i++)
        donor.joints[ROOT].rest.m[5 * i] = 0.01F;
    donor.channels[ROOT].scale.values = (const float[]){0.01F, 0.01F, 0.01F};
    put(&donor.joints[HIPS], 0, 40, 0);
    donor.moves[HIPS][3] = 0;
    donor.moves[HIPS][1] = donor.moves[HIPS][4] = 40;
    donor.model.size = th_model_measure(&donor.model);
    attach();
    expect_place(HIPS, 0, 0.4);
    expect_place(FOOT, 0.1, -0.5);
}

Test(attach_fit, what_is_within_a_percent_is_copied)
{
    make_figure(&base, "base.fbx", 1.009, 0);
    attach();
    expect_place(HIPS, 0.3, 0.9);
    expect_warnings(NULL, NULL);
}

/* An offset that the donor does not have at rest is a pose, and one that bends or moves is motion. */
Test(attach_fit, offsets_that_mean_something_are_kept)
{
    make_figure(&base, "base.fbx", 0.5, 0);
    const float bends[12] = {[6] = 1};
    for (int k = 0; k < 2; k++)
        donor.moves[ARM][3 * k + 1] = 0.1F;
    donor.moves[SPINE][4] = 0.7F;
    donor.channels[LEG].translation.tangents = bends;
    attach();
    expect_place(SPINE, 0.15, 0.45 + 0.35);
    expect_place(ARM, 0.35, 0.45 + 0.35 + 0.05);
    cr_assert_eq(out->clips->channels[LEG].filled, (uint32_t)TH_SCALE);
    cr_expect_eq(out->clips->channels[LEG].translation.tangents[6], 0.5);
    cr_expect_eq(out->clips->channels[FOOT].filled, (uint32_t)(TH_TRANSLATION | TH_SCALE));
}

/* Bones are as long as ever, only the hips are lower. */
Test(attach_fit, knees_that_are_bent_at_rest_shorten_no_legs)
{
    put(&donor.joints[LEG], 0.1, -0.4, 60);
    attach();
    expect_place(HIPS, 0.3, 0.9);
    expect_warnings("rest poses differ by 60 degrees at x:Leg", NULL);
}

/* ---- frames ---- */

static void set_floats(float *to, const double *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = (float)from[i];
}

/* Puts the root where a scene of other axes and units has it, and the hips so that they move as ever. Lengths are those
 * of these units already. */
static void put_under(figure *f, const th_trs *above)
{
    static const th_trs hips[] = {{{0.3, 0.9, 0}, {0, 0, 0, 1}, {1, 1, 1}}, {{0, 0.9, 0}, {0, 0, 0.6, 0.8}, {1, 1, 1}}};
    const double *q = above->rotation, back_turn[] = {-q[0], -q[1], -q[2], q[3]};
    const th_dmat34 matrix = th_dmat34_from_trs(above);
    th_dmat34 back;
    cr_assert(th_dmat34_invert(&matrix, &back));
    for (int k = 0; k < 2; k++) {
        th_trs local = hips[1 - k];
        th_quat_mul(back_turn, hips[1 - k].rotation, local.rotation);
        th_dmat34_point(&back, hips[1 - k].translation, local.translation);
        set_floats(f->hips_turns + 4 * k, local.rotation, 4);
        set_floats(f->moves[HIPS] + 3 * k, local.translation, 3);
        set_floats(f->moves[ROOT] + 3 * k, above->translation, 3);
        set_floats(f->turns_above + 4 * k, q, 4);
    }
    set_floats(f->sizes_above, above->scale, 3);
    f->joints[ROOT].rest = th_mat34_from(matrix);
    th_trs rest = TH_TRS_IDENTITY;
    memcpy(rest.rotation, back_turn, sizeof back_turn);
    th_dmat34_point(&back, (double[]){0, 0.9, 0}, rest.translation);
    f->joints[HIPS].rest = th_mat34_from(th_dmat34_from_trs(&rest));
    f->channels[HIPS].rotation.values = f->hips_turns;
    f->channels[ROOT].rotation.values = f->turns_above;
    f->channels[ROOT].scale.values = f->sizes_above;
    f->model.size = th_model_measure(&f->model);
}

static void drop_root_channel(figure *f)
{
    f->clips[0].channels++;
    f->clips[0].channel_count--;
}

/* A clip means the same in the scene. What holds the root where it is at rest says only how the scene lies. */
Test(attach_fit, units_and_axes_above_the_joints_are_those_of_the_scene)
{
    const th_trs above[] = {TH_TRS_IDENTITY,
                            {{0}, {-M_SQRT1_2, 0, 0, M_SQRT1_2}, {0.01, 0.01, 0.01}},
                            {{5, 1, -2}, {0.1, 0.7, 0.1, 0.7}, {100, 100, 100}}};
    for (int n = 0; n < 36; n++) {
        const th_trs *of_base = &above[n % 3], *of_donor = &above[n / 3 % 3];
        const bool same_name = n / 9 % 2, keyed = n / 18;
        put_under(make_figure(&base, "base.fbx", 1 / of_base->scale[0], 0), of_base);
        put_under(make_figure(&donor, "step.fbx", 1 / of_donor->scale[0], 1), of_donor);
        if (!same_name)
            donor.joints[ROOT].name = "Armature";
        if (!keyed)
            drop_root_channel(&donor);
        donor.channels[HIPS].translation.tangents = (const float[12]){0};
        attach();
        cr_expect_eq(out->clips->channels[same_name && keyed].translation.tangents[0], 0, "a tangent has no place");
        expect_warnings(keyed && !same_name ? "1 channel matches no joint" : NULL, NULL);
        expect_place(HIPS, 0.3, 0.9);
        expect_place(ARM, 0.7, 1.4);
        expect_place(FOOT, 0.4, 0);
    }
}

Test(attach_fit, scenes_that_are_stretched_are_said)
{
    donor.joints[ROOT].name = "Armature";
    donor.joints[ROOT].rest.m[5] = 2;
    drop_root_channel(&donor);
    attach();
    expect_warnings("scaled by", "above 1 joint the scene is stretched or mirrored otherwise than in base.fbx: "
                                 "its axes were left out (first: x:Hips)");
}

/* Whatever meshes there are: the donor may have none, or one as small as a stone. */
Test(attach_fit, without_hips_units_are_told_by_joints)
{
    const double sizes[] = {1, 1, 0.01};
    for (uint32_t n = 0; n < 3; n++) {
        make_figure(&donor, "step.fbx", n == 1 ? 100 : 1, 1);
        donor.clips[0].channel_count = 2;
        donor.channels[HIPS].filled = donor.channels[ROOT].filled = TH_ROTATION;
        donor.model.size = sizes[n];
        attach();
        expect_place(HIPS, 0.3, 0.9);
        expect_warnings(n == 1 ? "scaled by 0.01, since in size it is 140, and base.fbx 1.4" : NULL, NULL);
    }
}

/* ---- rest poses ---- */

Test(attach_fit, rest_poses_that_differ_are_a_warning)
{
    put(&donor.joints[ARM], 0.4, 0, 21);
    attach();
    expect_warnings("rest poses differ by 21 degrees at x:Arm: the clips may not fit", NULL);
    put(&donor.joints[ARM], 0.4, 0, 19);
    attach();
    expect_warnings(NULL, NULL);

    /* The bone leads elsewhere, and rotations are the same. */
    put(&donor.joints[ARM], 0.3, 0.3, 0);
    donor.channels[ARM].filled = TH_TRANSLATION;
    attach();
    expect_warnings("differ by 45 degrees at x:Arm", NULL);
}

Test(attach_fit, other_skeletons_are_refused)
{
    for (uint32_t j = SPINE; j < JOINTS; j++)
        put(&donor.joints[j], -(double)base.joints[j].rest.m[7], (double)base.joints[j].rest.m[3], 0);
    put(&donor.joints[FOOT], -0.5, 0, 170);
    th_error err;
    cr_assert_eq(th_model_attach_clips(&base.model, &donor.model, &out, &err), TH_ERR_INPUT);
    cr_assert_null(out);
    cr_expect(strstr(err.text, "step.fbx: the skeleton is not that of base.fbx: rest poses differ by 170 degrees at "
                               "x:Foot, and by 90 or more at half of the joints"),
              "%s", err.text);
}

Test(attach_fit, lengths_beyond_numbers_are_refused)
{
    make_figure(&base, "base.fbx", 1e3, 0);
    donor.moves[HIPS][0] = 1e37F;
    cr_assert_eq(th_model_attach_clips(&base.model, &donor.model, &out, NULL), TH_ERR_INPUT);
    cr_assert_null(out);
}
