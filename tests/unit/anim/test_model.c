#include "random_model.h"

#include <anim/archive.h>
#include <anim/clip_choice.h>
#include <anim/exact.h>
#include <anim/model.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Linear; or some tracks are splines, or hold their keys. */
static th_model *small_model(uint64_t seed)
{
    return random_model(&(random_desc){.seed = seed,
                                       .joint_count = 12,
                                       .clip_count = 2,
                                       .key_count = 5,
                                       .swing_rad = 0.3,
                                       .splines = seed % 2,
                                       .steps = seed / 2 % 2 ? 0.5 : 0,
                                       .double_bones = true});
}

Test(model, joints_and_clips_are_found_by_name_and_clips_by_number)
{
    th_model *model = small_model(1);
    cr_expect_eq(th_model_find_joint(model, "joint_3"), 3);
    cr_expect_eq(th_model_find_joint(model, "nobody"), TH_NO_INDEX);
    cr_expect_eq(th_model_find_clip(model, "clip_1"), 1);
    cr_expect_eq(th_model_find_clip(model, "CLIP_1"), TH_NO_INDEX);
    cr_expect_eq(th_clip_find(model, "clip_1"), 1);
    cr_expect_eq(th_clip_find(model, "1"), 1);
    static const char *const others[] = {"2", "4294967296" /* 2^32 */, "-1", ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect_eq(th_clip_find(model, others[i]), TH_NO_INDEX, "%s", others[i]);
    th_model_destroy(model);
}

Test(model, clips_suit_crowds_where_nobody_dies_sits_or_lies)
{
    static const struct {
        const char *name;
        bool suits;
    } clips[] = {{"Death", false},      {"rig|Death_A", false},  {"DEAD", false},
                 {"SitDown", false},    {"sitting_idle", false}, {"Lie_Idle", false},
                 {"standToSit", false}, {"Walk", true},          {"", true},
                 {"position", true},    {"Soldier_Idle", true},  {"Believe", true},
                 {"transition", true},  {"Sitcom", true},        {"12", true}};
    for (size_t i = 0; i < sizeof clips / sizeof *clips; i++) {
        const th_clip clip = {.name = clips[i].name, .duration_ticks = 11, .ticks_per_second = 100};
        cr_expect_eq(th_clip_suits_crowds(&clip), clips[i].suits, "%s", clip.name);
    }
    const th_clip pose = {.name = "Walk", .duration_ticks = 9, .ticks_per_second = 100};
    cr_expect_not(th_clip_suits_crowds(&pose));
}

/* Of what is drawn and what that follows. The camera is a hundred times farther away. */
Test(model, size_is_the_largest_extent_at_rest)
{
    th_joint joints[] = {{"a", TH_NO_INDEX, TH_MAT34_IDENTITY, NULL},
                         {"b", 0, TH_MAT34_IDENTITY, NULL},
                         {"camera", 0, TH_MAT34_IDENTITY, NULL}};
    joints[1].rest.m[7] = -3;
    joints[2].rest.m[11] = 300;
    th_bone bones[] = {{0, TH_MAT34_IDENTITY}, {1, TH_MAT34_IDENTITY}};
    th_model model = {
        .name = "m", .joint_count = 3, .joints = joints, .bone_count = 2, .bones = bones, .arena = OWN_ARENA};
    cr_expect_float_eq(th_model_measure(&model), 300, 1e-12, "all joints, as nothing is drawn");
    joints[1].rest.m[7] = joints[2].rest.m[11] = 0;
    cr_expect_eq(th_model_measure(&model), 1, "no extent at all");

    joints[2].rest.m[11] = 300;
    th_vertex vertices[2] = {{.position = {-1, 0, 0}, .weight = {1}}, {.position = {4, 0, 0}, .weight = {1}}};
    th_mesh mesh = {.name = "mesh", .vertex_count = 2, .vertices = vertices};
    model.mesh_count = 1;
    model.meshes = &mesh;
    cr_expect_float_eq(th_model_measure(&model), 5, 1e-12);
    joints[1].rest.m[7] = -7;
    cr_expect_float_eq(th_model_measure(&model), 5, 1e-12, "no vertex follows b");
    vertices[1].bone[1] = 1;
    vertices[1].weight[0] = vertices[1].weight[1] = 0.5F;
    cr_expect_float_eq(th_model_measure(&model), 7, 1e-12, "b counts, the vertex is at -3.5");
}

/* ---- lending clips ---- */

static th_model *attached_to(const th_model *base, const th_model *donor)
{
    th_model *out;
    th_error err;
    cr_assert_eq(th_model_attach_clips(base, donor, &out, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_model_check(out, &err), TH_OK, "%s", err.text);
    return out;
}

/* The motion of `from`, whose joint j is here to[j], or nobody. */
static void check_clip(const th_clip *clip, const th_clip *from, const uint32_t *to)
{
    uint32_t bound = 0;
    cr_assert_eq(clip->duration_ticks, from->duration_ticks);
    for (uint32_t k = 0; k < from->channel_count; k++) {
        const th_channel *channel = &from->channels[k], *found = NULL;
        for (uint32_t c = 0; c < clip->channel_count; c++)
            found = clip->channels[c].joint == to[channel->joint] ? &clip->channels[c] : found;
        cr_assert_eq(found != NULL, to[channel->joint] != TH_NO_INDEX);
        bound += found != NULL;
        for (int n = 0; found && n < 50; n++) {
            th_trs one, other;
            th_exact_channel(found, 0.1 * n, TH_INTERPOLATION_AUTHORED, &one);
            th_exact_channel(channel, 0.1 * n, TH_INTERPOLATION_AUTHORED, &other);
            const th_dmat34 a = th_dmat34_from_trs(&one), b = th_dmat34_from_trs(&other);
            cr_assert_lt(th_dmat34_distance(&a, &b), 1e-6);
        }
    }
    cr_assert_eq(clip->channel_count, bound);
}

/* The donor has the base's names in any order but for a stranger's; or the base has twins, whom nobody else knows, and
 * who keep their own clips. */
Test(attach, clips_are_bound_by_name)
{
    uint32_t strangers = 0;
    for (uint32_t n = 0; n < 32; n++) {
        const bool has_twins = n / 4 % 2, turns = n / 8 % 2;
        th_model *base = small_model(n), *donor = small_model(n), *plain = small_model(n);
        th_joint *joints = (th_joint *)base->joints, *others = (th_joint *)donor->joints;
        uint32_t own[12], to[12];
        for (uint32_t j = 0; j < 12; j++) {
            own[j] = j;
            to[j] = turns ? 11 - j : j;
            others[j].name = plain->joints[to[j]].name;
            joints[j].rest = others[j].rest = TH_MAT34_IDENTITY;
            to[j] = (has_twins ? to[j] >= 10 : j == 5) ? TH_NO_INDEX : to[j];
        }
        if (has_twins)
            joints[10].name = joints[11].name = "twin";
        else
            others[5].name = "stranger";
        th_model *out = attached_to(base, donor);
        th_model_destroy(base); /* nothing of it is needed any more: ASan would tell */
        th_model_destroy(donor);
        cr_assert(th_model_check(out, NULL) == TH_OK && out->clip_count == 4);
        for (uint32_t c = 0; c < 2; c++) {
            check_clip(&out->clips[c], &plain->clips[c], own);
            check_clip(&out->clips[2 + c], &plain->clips[c], to);
        }
        for (uint32_t w = 0; w < out->warning_count; w++) {
            cr_expect_null(strstr(out->warnings[w], "several joints"));
            strangers += strstr(out->warnings[w], "stranger") != NULL;
        }
        th_model_destroy(plain);
        th_model_destroy(out);
    }
    cr_expect(strangers > 8 && strangers <= 16, "%u", strangers);
}

static const double zero = 0;
static const float no_move[3] = {0, 0, 0}, no_turn[4] = {0, 0, 0, 1}, half_turn[4] = {0, 0, 1, 0};
static const float plain[3] = {1, 1, 1}, flipped[3] = {-1, -1, 1};

/* A joint at rest as `rest` says, with a channel of one key each, or with no clip when there is no channel. */
typedef struct one_joint {
    th_joint joint;
    th_clip clip;
    th_model model;
} one_joint;

static const th_model *make_one(one_joint *m, const char *name, const th_trs *rest, const th_channel *channel)
{
    m->joint = (th_joint){"knee", TH_NO_INDEX, th_mat34_from(th_dmat34_from_trs(rest)), NULL};
    m->clip =
        (th_clip){.name = "bend", .duration_ticks = 0, .ticks_per_second = 1, .channel_count = 1, .channels = channel};
    m->model = (th_model){.name = name, .joint_count = 1, .joints = &m->joint, .size = 1, .arena = OWN_ARENA};
    m->model.clips = &m->clip;
    m->model.clip_count = channel != NULL;
    return &m->model;
}

static const th_trs *stated; /* the parts of the base's rest; NULL: it has a matrix */

static th_dmat34 pose_attached(const th_trs *base_rest, const th_trs *donor_rest, const th_channel *channel)
{
    one_joint base, donor;
    make_one(&base, "base", base_rest, NULL);
    base.joint.rest_parts = stated;
    th_model *out = attached_to(&base.model, make_one(&donor, "donor", donor_rest, channel));
    th_dmat34 pose;
    th_exact_pose(out, &out->clips[0], 0, TH_INTERPOLATION_AUTHORED, &pose);
    th_model_destroy(out);
    return pose;
}

static void check_pose(th_dmat34 pose, const th_trs *expected)
{
    th_dmat34 matrix = th_dmat34_from_trs(expected);
    cr_expect_lt(th_dmat34_distance(&pose, &matrix), 1e-6);
}

static th_channel one_key(const float move[3], const float turn[4], const float scale[3], uint32_t filled)
{
    return (th_channel){
        0, {1, &zero, move, NULL, false}, {1, &zero, turn, NULL, false}, {1, &zero, scale, NULL, false}, filled, NULL};
}

Test(attach, what_the_clip_does_not_move_is_the_bases_own)
{
    const th_trs tall = {{0, -5, 0}, {0, 0, 0, 1}, {1, 1, 1}}, small = {{0, -.5, 0}, {0, 0, 0, 1}, {2, 3, 4}},
                 still = {{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
    const th_channel bend = one_key(no_move, half_turn, plain, TH_TRANSLATION | TH_SCALE),
                     all = one_key(no_move, half_turn, plain, 0);
    check_pose(pose_attached(&small, &tall, &bend), &(th_trs){{0, -.5, 0}, {0, 0, 1, 0}, {2, 3, 4}});
    check_pose(pose_attached(&small, &tall, &all), &(th_trs){{0, 0, 0}, {0, 0, 1, 0}, {2, 3, 4}});
    check_pose(pose_attached(&small, &still, &all), &(th_trs){{0, -.5, 0}, {0, 0, 1, 0}, {2, 3, 4}});
}

/* A base that states its rest in parts: what the clip moves takes the place of that part, and nothing else changes. */
Test(attach, parts_that_the_file_states_are_not_guessed)
{
    static const float grown[3] = {0.5F, 0.5F, 0.5F}, quarter_turn[4] = {0, 0, 0.70710678F, 0.70710678F};
    const double far[4] = {0, sin(70 * M_PI / 180), 0, cos(70 * M_PI / 180)};
    const th_trs donor_rest = TH_TRS_IDENTITY;
    const th_trs rests[] = {{{1, 2, 3}, {0, 0, 0.6, 0.8}, {0, 0, 0}},
                            {{1, 2, 3}, {far[0], far[1], far[2], far[3]}, {0.5, 0.25, 2}},
                            {{1, 2, 3}, {0, 0, 0.6, 0.8}, {1, 2, -1}}};
    for (uint32_t n = 0; n < 3; n++) {
        const th_channel grow = one_key(no_move, no_turn, grown, TH_TRANSLATION | TH_ROTATION),
                         turn = one_key(no_move, quarter_turn, plain, TH_TRANSLATION | TH_SCALE);
        th_trs want = rests[n];
        stated = &rests[n];
        for (int i = 0; i < 3; i++)
            want.scale[i] = 0.5;
        check_pose(pose_attached(&rests[n], &donor_rest, &grow), &want);
        want = (th_trs){{1, 2, 3}, {0, 0, sqrt(0.5), sqrt(0.5)}, {0}};
        memcpy(want.scale, rests[n].scale, sizeof want.scale);
        check_pose(pose_attached(&rests[n], &donor_rest, &turn), &want);
    }
    /* The clip's turns belong to scales that it states too, and that are the base's but for their signs. */
    const th_trs twice = {{0, 0, 0}, {0, 0, 1, 0}, {-1, -1, 1}};
    const th_channel both = one_key(no_move, quarter_turn, plain, 0);
    stated = &twice;
    check_pose(pose_attached(&twice, &donor_rest, &both), &(th_trs){{0}, {0, 0, sqrt(0.5), sqrt(0.5)}, {1, 1, 1}});
}

/* The donor's keys are turns of a joint whose scale mirrors twice; the base's matrix could be read as a half turn. */
Test(attach, mirrors_stay_where_the_donor_has_them)
{
    const th_trs rest = {{0, 1, 0}, {0, 0, 0, 1}, {-1, -1, 1}};
    const th_channel turn = one_key(no_move, no_turn, flipped, TH_TRANSLATION | TH_SCALE),
                     stretch = one_key(no_move, no_turn, flipped, TH_TRANSLATION | TH_ROTATION);
    check_pose(pose_attached(&rest, &rest, &turn), &rest);
    check_pose(pose_attached(&rest, &rest, &stretch), &rest);
}

Test(attach, strangers_and_the_empty_handed_are_refused)
{
    th_model *base = small_model(6), *donor = small_model(7), *out = (th_model *)1;
    th_error err;
    for (uint32_t j = 0; j < donor->joint_count; j++)
        ((th_joint *)donor->joints)[j].name = "stranger";
    cr_assert_eq(th_model_attach_clips(base, donor, &out, &err), TH_ERR_INPUT);
    cr_assert_null(out);
    cr_assert(strstr(err.text, "clip_0"), "%s", err.text);
    donor->clip_count = 0;
    cr_assert_eq(th_model_attach_clips(base, donor, &out, &err), TH_ERR_INPUT);
    th_model_destroy(base);
    th_model_destroy(donor);
}

/* ---- models of a program's own arrays ---- */

/* Two joints that move, of which one jumps and the other follows splines, and one that does not, whose name is
 * another's; 4 by 2 units large. */
#define IDENTITY .m = {[0] = 1, [5] = 1, [10] = 1}
static th_trs parts = {{0}, {0, 0, 0, 1}, {1, 1, 1}};
static th_joint joints[] = {
    {"root", TH_NO_INDEX, {IDENTITY}, &parts}, {"tip", 0, {IDENTITY}, NULL}, {"tip", 0, {IDENTITY}, NULL}};
static th_bone bones[] = {{0, {IDENTITY}}, {1, {IDENTITY}}};
static th_weight weights[] = {{"", 0, 0}, {"smile", 1, 0}};
static th_vertex vertices[] = {{.position = {0, 0, 0}, .weight = {0.75F, 0.25F}, .bone = {0, 1}},
                               {.position = {2, 1, 0}, .weight = {0.75F, 0.25F}, .bone = {0, 1}},
                               {.position = {4, 2, 0}, .weight = {0.75F, 0.25F}, .bone = {0, 1}}};
static uint32_t indices[] = {0, 1, 2};
static th_morph_delta delta = {.vertex = 1, .position = {0, 1, 0}};
static th_morph_target target = {1, 1, &delta};
static th_mesh mesh = {"mesh", 0, 3, 3, vertices, indices, 1, &target};
static th_material material = {.name = "skin", .base_color = {1, 1, 1, 1}, .texture = 0, .emissive = {1, 2, 3}};
static th_texture texture = {.name = "*0", .bytes = (const uint8_t *)"image", .byte_count = 5};
static double times[] = {0, 0, 1};
static float places[9], rotations[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, tangents[24], smile;
static float spline[] = {0, 0, 0, 1, 0, 0, 0, -1.5F, 0, 0, 0, 1};
static th_channel channels[] = {
    {0, {3, times, places, NULL, false}, {3, times, rotations, NULL, false}, {1, times, plain, NULL, false}, 0, NULL},
    {1, {3, times, places, NULL, true}, {3, times, spline, tangents, false}, {1, times, plain, NULL, false}, 0, NULL}};
static th_weight_track weight_track = {1, {1, times, &smile, NULL, false}, NULL};
static th_clip clip = {"walk", 1, 30, 2, channels, 1, &weight_track};
static th_model own = {"own",     3, joints,   2, bones, 2,   weights, 1,    &mesh, 1,
                       &material, 1, &texture, 1, &clip, {0}, 7,       NULL, -1,    NULL};

Test(own_models, are_copied)
{
    th_error err;
    th_model *copy, *again;
    cr_assert_eq(th_model_create(&own, &copy, &err), TH_OK, "%s", err.text);
    cr_expect_eq(copy->size, 4);
    cr_expect_eq(copy->warning_count, 0);
    own.warning_count = 0;
    own.size = 4;
    size_t size, copied_size;
    uint8_t *bytes = th_archive_write(&own, &size);
    memset(joints, 0xff, sizeof joints);
    memset(vertices, 0xff, sizeof vertices);
    memset(channels, 0xff, sizeof channels);
    memset(times, 0xff, sizeof times);
    uint8_t *copied = th_archive_write(copy, &copied_size);
    cr_assert_eq(copied_size, size);
    cr_expect_eq(memcmp(copied, bytes, size), 0);
    cr_assert_eq(th_model_create(copy, &again, &err), TH_OK, "%s", err.text);
    again->size = 0;
    cr_expect(th_model_check(again, &err) == TH_ERR_INPUT && strstr(err.text, "size"));
    th_model_destroy(again);
    th_model_destroy(copy);
    free(bytes);
    free(copied);
}

static void expect_refused(th_result result, const char *text, int line)
{
    th_error err = {0};
    th_model *out = &own;
    cr_expect_eq(th_model_create(&own, &out, &err), result, "line %d", line);
    cr_expect(strstr(err.text, text) && !out, "line %d: %s", line, err.text);
}

/* One wrong value. */
#define REFUSED(member, wrong, text)                                                                                   \
    do {                                                                                                               \
        __typeof__(member) good = member;                                                                              \
        member = wrong;                                                                                                \
        expect_refused(TH_ERR_INPUT, text, __LINE__);                                                                  \
        member = good;                                                                                                 \
    } while (0)

Test(own_models, are_refused_in_one_line)
{
    joints[0].name = "a\nb\x1b";
    REFUSED(joints[0].parent, 0, "joint 0 (a?b?) is out of order");
}

Test(own_models, are_refused_by_the_name_of_what_is_wrong)
{
    REFUSED(own.name, NULL, "name");
    REFUSED(own.joint_count, 0, "no joint");
    REFUSED(own.joints, NULL, "th_model.joints");
    REFUSED(own.bones, NULL, "th_model.bones");
    REFUSED(own.weights, NULL, "th_model.weights");
    REFUSED(own.meshes, NULL, "th_model.meshes");
    REFUSED(own.materials, NULL, "th_model.materials");
    REFUSED(own.textures, NULL, "th_model.textures");
    REFUSED(own.clips, NULL, "th_model.clips");
    REFUSED(own.appearances.count, 1, "th_model.appearances");
    REFUSED(joints[0].name, NULL, "joint 0 has no name");
    REFUSED(joints[1].name, "root", "called root");
    REFUSED(joints[1].name, "", "joint 1 has no name");
    REFUSED(joints[0].parent, 0, "joint 0 (root) is out of order");
    REFUSED(joints[1].parent, 2, "joint 1 (tip) is out of order");
    REFUSED(joints[2].parent, 99, "joint 2 (tip) is out of order");
    REFUSED(joints[2].rest.m[5], INFINITY, "joint tip");
    REFUSED(parts.rotation[3], 2, "joint root: bad parts");
    REFUSED(bones[1].joint, 3, "bone 1 names joint 3");
    REFUSED(bones[0].joint, 2, "bone 1 is out of order");
    REFUSED(bones[1].inverse_bind.m[0], NAN, "bone 1");
    REFUSED(weights[0].joint, 2, "morph weight 1");
    REFUSED(weights[1].rest, NAN, "morph weight 1");
    REFUSED(mesh.name, NULL, "mesh 0");
    REFUSED(mesh.material, 1, "mesh 0");
    REFUSED(mesh.index_count, 2, "mesh 0");
    REFUSED(mesh.vertices, NULL, "mesh mesh");
    REFUSED(mesh.indices, NULL, "mesh mesh");
    REFUSED(mesh.targets, NULL, "mesh mesh");
    REFUSED(indices[2], 3, "mesh mesh: index 2");
    REFUSED(vertices[1].bone[7], 2, "vertex 1: bad influence 7");
    REFUSED(vertices[1].weight[0], NAN, "vertex 1");
    REFUSED(vertices[1].weight[0], 0.2F, "vertex 1: bad influence 1");
    REFUSED(vertices[1].weight[0], 0.5F, "vertex 1: weights sum");
    REFUSED(vertices[1].position[2], NAN, "vertex 1");
    REFUSED(vertices[2].uv[1], NAN, "vertex 2");
    REFUSED(target.weight, 2, "morph target 0");
    REFUSED(target.deltas, NULL, "morph target 0");
    REFUSED(delta.vertex, 3, "morph target 0");
    REFUSED(material.alpha, (th_alpha)256, "material skin");
    REFUSED(material.alpha_cutoff, -0.1F, "material skin");
    REFUSED(material.emissive[2], -1, "material skin");
    REFUSED(material.emissive[2], NAN, "material skin");
    REFUSED(material.texture, 1, "material 0");
    REFUSED(texture.bytes, NULL, "texture 0");
    REFUSED(texture.sampler.copies, TH_FILTER_COUNT, "texture *0");
    REFUSED(clip.name, "", "a clip has no name");
    REFUSED(clip.ticks_per_second, 0, "clip walk");
    REFUSED(clip.ticks_per_second, 1e-300, "clip walk"); /* in seconds more than a float holds */
    REFUSED(clip.duration_ticks, -1, "clip walk");
    REFUSED(clip.duration_ticks, nan(""), "clip walk");
    REFUSED(clip.channels, NULL, "clip walk: channels");
    REFUSED(clip.weight_tracks, NULL, "clip walk: channels");
    REFUSED(channels[1].joint, 0, "clip walk: channel 1");
    REFUSED(channels[1].joint, 3, "clip walk: channel 1");
    REFUSED(channels[0].filled, 8, "clip walk: channel 0");
    REFUSED(channels[1].translation.key_count, 0, "joint tip");
    REFUSED(channels[1].translation.times, NULL, "joint tip");
    REFUSED(channels[1].scale.values, NULL, "joint tip");
    REFUSED(channels[1].scale.tangents, tangents, "joint tip");
    REFUSED(channels[1].rotation.key_count, 1, "joint tip");
    REFUSED(channels[1].rotation.steps, true, "joint tip");
    REFUSED(tangents[23], NAN, "joint tip");
    REFUSED(spline[7], 0, "joint tip");
    REFUSED(times[2], HUGE_VAL, "joint root");
    REFUSED(times[1], -1, "joint root");
    REFUSED(times[2], 0, "joint root"); /* the third one */
    REFUSED(rotations[3], 2, "joint root");
    REFUSED(rotations[7], -1, "joint root"); /* as far as can be from its neighbours */
    REFUSED(weight_track.weight, 2, "weight track 0");
    REFUSED(smile, NAN, "morph weight 1");
    own.joint_count = TH_MAX_JOINTS + 1;
    expect_refused(TH_ERR_LIMIT, "joints", __LINE__);
}
