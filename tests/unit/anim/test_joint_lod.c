/* Joint levels of detail, against an evaluation of all vertices in double precision that knows nothing of how they are
 * chosen: the source and the level are posed by exact.h and skinned by fixture_morph, bone by bone. */
#include "fixture_coarse_human.h"
#include "fixture_crowd.h"
#include "fixture_human.h"
#include "fixture_import.h"
#include "fixture_morph.h"
#include "fixture_nightly.h"

#include <anim/exact.h>
#include <anim/joint_lod.h>
#include <anim/synthetic.h>
#include <core/cache_line.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* All moments are held against each vertex. */
static void make_some_of_human(void)
{
    make_human();
    if (!is_nightly())
        coarsen_human(human, 12);
}

TestSuite(joint_lod, .init = make_some_of_human, .fini = free_human);

static th_joint_lod *levels_of(const th_model *model)
{
    th_joint_lod *lod;
    th_error err;
    cr_assert_eq(th_joint_lod_create(model, &lod, &err), TH_OK, "%s", err.text);
    return lod;
}

static bool is_distinct(const th_joint_lod *lod, uint32_t level)
{
    return level == 0 || lod->levels[level].model != lod->levels[level - 1].model;
}

/* ---- an evaluation of its own ---- */

static th_dmat34 *palette_of(const th_model *model, const th_model *posed, uint32_t clip, double ticks)
{
    th_dmat34 *pose = calloc(model->joint_count + 1u, sizeof *pose),
              *palette = calloc(model->bone_count + 1u, sizeof *palette);
    th_exact_pose(posed, clip < model->clip_count ? &posed->clips[clip] : NULL, ticks, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_palette(model, pose, palette);
    free(pose);
    return palette;
}

/* The farthest that a vertex of one model is from that of the other at a time. */
static double distance_at(const th_model *one, const th_model *other, uint32_t clip, double ticks,
                          const double *weights)
{
    th_dmat34 *a = palette_of(one, one, clip, ticks), *b = palette_of(other, other, clip, ticks);
    double farthest = 0;
    for (uint32_t m = 0; m < one->mesh_count; m++)
        for (uint32_t v = 0; v < one->meshes[m].vertex_count; v++) {
            double p[3], q[3];
            skin_vertex(&one->meshes[m], v, weights, a, p);
            skin_vertex(&other->meshes[m], v, weights, b, q);
            farthest = fmax(farthest, hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]));
        }
    free(a);
    free(b);
    return farthest;
}

/* Over all clips, at moments that are not those of the search. */
static double brute_force(const th_model *one, const th_model *other, uint32_t moments)
{
    double farthest = one->clip_count == 0 ? distance_at(one, other, TH_NO_INDEX, 0, NULL) : 0;
    for (uint32_t c = 0; c < one->clip_count; c++)
        for (uint32_t i = 0; i <= moments; i++)
            farthest = fmax(farthest, distance_at(one, other, c, one->clips[c].duration_ticks * i / moments, NULL));
    return farthest;
}

/* ---- the levels of a model ---- */

static void check_structure(const th_model *model, const th_joint_lod *lod)
{
    uint32_t distinct = 0;
    th_error err;
    cr_assert_eq(lod->levels[0].model, model);
    cr_expect_eq(lod->levels[0].error, 0);
    for (uint32_t l = 0; l < TH_LOD_LEVELS; l++) {
        const th_joint_level *level = &lod->levels[l], *before = level - (l > 0);
        distinct += is_distinct(lod, l);
        cr_expect_leq(level->error, th_lod_limit(l) * model->size, "level %u", l);
        cr_expect_geq(level->error, before->error, "level %u", l);
        for (uint32_t j = 0; j < model->joint_count; j++)
            cr_expect(level->held[j] || !before->held[j], "level %u lets go of joint %u", l, j);
        if (l == 0 || !is_distinct(lod, l))
            continue;
        cr_assert_eq(th_model_check(level->model, &err), TH_OK, "level %u: %s", l, err.text);
        cr_expect_leq(5 * level->model->bone_count, 4 * before->model->bone_count, "level %u saves too little", l);
        cr_expect_leq(level->moving_count, before->moving_count);
        cr_expect_eq(level->model->joint_count, model->joint_count);
        for (uint32_t c = 0; c < model->clip_count; c++)
            for (uint32_t i = 0; i < level->model->clips[c].channel_count; i++)
                cr_expect(!level->held[level->model->clips[c].channels[i].joint]);
    }
    cr_expect_eq(lod->distinct_count, distinct);
}

/* least: distinct levels that the model has. */
static void check_lod(const th_model *model, const th_joint_lod *lod, uint32_t moments, uint32_t least)
{
    check_structure(model, lod);
    cr_expect_geq(lod->distinct_count, least, "%s has %u levels", model->name, lod->distinct_count);
    for (uint32_t l = 1; l < TH_LOD_LEVELS; l++) {
        if (!is_distinct(lod, l))
            continue;
        const double brute = brute_force(model, lod->levels[l].model, moments);
        cr_expect_geq(lod->levels[l].error, brute, "%s, level %u", model->name, l);
        cr_expect_leq(lod->levels[l].error, 1.05 * brute + 1e-6 * model->size, "%s, level %u: %g, brute force %g",
                      model->name, l, lod->levels[l].error, brute);
    }
}

static void check_levels(const th_model *model, uint32_t moments, uint32_t least)
{
    th_joint_lod *lod = levels_of(model);
    check_lod(model, lod, moments, least);
    th_joint_lod_destroy(lod);
}

Test(joint_lod, of_files_are_nested_and_state_their_error)
{
    static const char *const files[] = {"X/Testwuson.X", "X/BCN_Epileptic.X"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        th_model *model = import_good(testmodel(files[i]));
        check_levels(model, is_nightly() ? 300 : 80, 2);
        th_model_destroy(model);
    }
}

/* Fingers go before arms. Of the whole human. */
Test(joint_lod, of_the_human_hold_fingers_first)
{
    free_human();
    make_human();
    th_joint_lod *lod = levels_of(human);
    const th_joint_level *first = &lod->levels[1], *last = &lod->levels[TH_LOD_LEVELS - 1];
    cr_expect(first->held[th_model_find_joint(human, "index_03_l")]);
    cr_expect(!first->held[th_model_find_joint(human, "hand_l")]);
    cr_expect(last->held[th_model_find_joint(human, "hand_l")]);
    cr_expect(!last->held[th_model_find_joint(human, "upperarm_l")]);
    cr_expect(!last->held[th_model_find_joint(human, "hips")]);
    cr_expect_leq(2 * last->model->bone_count, human->bone_count);
    th_joint_lod_destroy(lod);
}

static void are_the_same_each_time(const th_joint_lod *one)
{
    th_joint_lod *other = levels_of(human);
    for (uint32_t l = 0; l < TH_LOD_LEVELS; l++) {
        const th_joint_level *a = &one->levels[l], *b = &other->levels[l];
        cr_expect_eq(a->error, b->error);
        cr_expect_arr_eq(a->held, b->held, human->joint_count * sizeof *a->held);
        cr_assert_eq(a->model->bone_count, b->model->bone_count);
        for (uint32_t m = 0; m < human->mesh_count; m++)
            cr_expect_arr_eq(a->model->meshes[m].vertices, b->model->meshes[m].vertices,
                             human->meshes[m].vertex_count * sizeof(th_vertex));
    }
    th_joint_lod_destroy(other);
}

/* ---- what is held ---- */

/* The mean of local transforms over all clips, with aligned signs. */
static th_dmat34 mean_of(const th_model *model, uint32_t joint, uint32_t moments)
{
    th_trs sum = {0};
    th_dmat34 *locals = calloc(model->joint_count, sizeof *locals);
    for (uint32_t i = 0; i < moments * model->clip_count; i++) {
        const th_clip *clip = &model->clips[i / moments];
        th_trs trs;
        th_exact_sample(model, clip, (i % moments + 0.5) / moments * clip->duration_ticks, TH_INTERPOLATION_AUTHORED,
                        locals);
        th_dmat34_decompose(&locals[joint], &trs);
        double dot = 0;
        for (int k = 0; k < 4; k++)
            dot += trs.rotation[k] * sum.rotation[k];
        for (int k = 0; k < 4; k++)
            sum.rotation[k] += copysign(1, dot) * trs.rotation[k];
        for (int k = 0; k < 3; k++) {
            sum.translation[k] += trs.translation[k] / (moments * model->clip_count);
            sum.scale[k] += trs.scale[k] / (moments * model->clip_count);
        }
    }
    free(locals);
    return th_dmat34_from_trs(&sum);
}

static void hold_joints_in_their_mean_pose(const th_joint_lod *lod)
{
    const th_joint_level *last = &lod->levels[TH_LOD_LEVELS - 1];
    uint32_t held = 0;
    for (uint32_t j = 0; j < human->joint_count; j++) {
        const th_dmat34 rest = th_dmat34_from(last->model->joints[j].rest);
        if (!last->held[j]) {
            cr_expect_arr_eq(&last->model->joints[j].rest, &human->joints[j].rest, sizeof(th_mat34));
            continue;
        }
        const th_dmat34 mean = mean_of(human, j, 50);
        cr_expect_lt(th_dmat34_distance(&rest, &mean), 0.01, "%s: %g", human->joints[j].name,
                     th_dmat34_distance(&rest, &mean));
        held++;
    }
    cr_expect_gt(held, 20);
}

/* Whether all bones of a vertex became one. */
static bool has_one_bone(const th_vertex *vertex)
{
    return vertex->weight[1] == 0;
}

/* Vertices are where the skeleton of the level would have them if it had kept all bones: exactly, if all their bones
 * became one. */
static void check_places(const th_model *model, const th_model *level, double tolerance)
{
    uint32_t compared = 0;
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const double ticks = 0.37 * model->clips[c].duration_ticks;
        th_dmat34 *all = palette_of(model, level, c, ticks), *few = palette_of(level, level, c, ticks);
        for (uint32_t m = 0; m < model->mesh_count; m++)
            for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++) {
                double p[3], q[3];
                if (!has_one_bone(&level->meshes[m].vertices[v]))
                    continue;
                skin_vertex(&model->meshes[m], v, NULL, all, p);
                skin_vertex(&level->meshes[m], v, NULL, few, q);
                for (int i = 0; i < 3; i++)
                    cr_expect_float_eq(p[i], q[i], tolerance * model->size, "mesh %u, vertex %u: %g, %g", m, v, p[i],
                                       q[i]);
                compared++;
            }
        free(all);
        free(few);
    }
    cr_expect_gt(compared, 0);
}

static void move_vertices_as_the_bones_that_are_left_out(const th_joint_lod *lod)
{
    for (uint32_t l = 1; l < TH_LOD_LEVELS; l++)
        if (is_distinct(lod, l))
            check_places(human, lod->levels[l].model, 1e-6);
}

/* Where the bones stand at rest, normals turn as the vertices do: they stay at right angles to edges. */
static void keep_normals_beside_their_surface(const th_joint_lod *lod)
{
    const th_model *level = lod->levels[TH_LOD_LEVELS - 1].model;
    double before = 0, after = 0;
    for (uint32_t m = 0; m < human->mesh_count; m++)
        for (uint32_t i = 0; i < human->meshes[m].index_count; i += 3) {
            const uint32_t *corner = human->meshes[m].indices + i;
            const th_mesh *meshes[2] = {&human->meshes[m], &level->meshes[m]};
            double *sums[2] = {&before, &after};
            for (int k = 0; k < 2; k++) {
                const th_vertex *a = &meshes[k]->vertices[corner[0]], *b = &meshes[k]->vertices[corner[1]];
                double edge = 0, dot = 0;
                for (int x = 0; x < 3; x++) {
                    const double step = (double)b->position[x] - (double)a->position[x];
                    edge += step * step;
                    dot += step * (double)a->normal[x];
                }
                *sums[k] += edge > 0 ? fabs(dot) / sqrt(edge) : 0;
                cr_assert_float_eq(hypot(hypot((double)a->normal[0], (double)a->normal[1]), (double)a->normal[2]), 1,
                                   1e-3);
            }
        }
    cr_expect_leq(after, 1.1 * before, "%g, before %g", after, before);
}

/* ---- models of all kinds ---- */

Test(joint_lod, of_random_models_state_their_error)
{
    uint32_t distinct = 0;
    for (uint32_t n = 0; n < (is_nightly() ? 60 : 30); n++) {
        random_desc desc = variety(n);
        desc.swing_rad = n % 3 == 0 ? 0.1 : desc.swing_rad;
        th_model *model = morph_model(&desc, 0);
        model->clip_count -= MORPH_CLIPS;
        th_joint_lod *lod = levels_of(model);
        check_structure(model, lod);
        for (uint32_t l = 1; l < TH_LOD_LEVELS; l++) {
            if (!is_distinct(lod, l))
                continue;
            distinct++;
            const double brute = brute_force(model, lod->levels[l].model, 97), stated = lod->levels[l].error;
            /* Keys that jump hide between moments. */
            cr_expect_geq(stated, 0.8 * brute, "model %u, level %u: brute force %g", n, l, brute);
            cr_expect_leq(stated, 1.25 * brute + 1e-6 * model->size, "model %u, level %u: %g, %g", n, l, stated, brute);
        }
        th_joint_lod_destroy(lod);
        th_model_destroy(model);
    }
    cr_expect_gt(distinct, 10, "only %u levels", distinct);
}

Test(joint_lod, of_models_without_meshes_are_the_model)
{
    for (uint32_t n = 0; n < 10; n++) {
        const random_desc desc = variety(n);
        th_model *model = random_model(&desc);
        th_joint_lod *lod = levels_of(model);
        check_structure(model, lod);
        cr_expect_eq(lod->distinct_count, 1);
        th_joint_lod_destroy(lod);
        th_model_destroy(model);
    }
}

/* The mesh is as far off with its targets as without. */
Test(joint_lod, of_morphed_models_move_their_targets_too)
{
    uint32_t distinct = 0;
    for (uint32_t n = 0; n < 6; n++) {
        random_desc desc = variety(n);
        desc.scale = RANDOM_RIGID;
        desc.swing_rad = 0.05;
        th_model *model = morph_model(&desc, 6);
        th_joint_lod *lod = levels_of(model);
        const double weights[6] = {1, 0.5, -0.5, 1, 0.25, 0.75};
        check_structure(model, lod);
        for (uint32_t l = 1; l < TH_LOD_LEVELS; l++) {
            if (!is_distinct(lod, l))
                continue;
            distinct++;
            for (uint32_t c = 0; c < model->clip_count; c++)
                cr_expect_leq(
                    distance_at(model, lod->levels[l].model, c, 0.4 * model->clips[c].duration_ticks, weights),
                    2 * lod->levels[l].error + 1e-5 * model->size, "model %u, level %u", n, l);
        }
        th_joint_lod_destroy(lod);
        th_model_destroy(model);
    }
    cr_expect_gt(distinct, 2, "only %u levels", distinct);
}

Test(joint_lod, of_small_and_still_models)
{
    for (uint32_t joints = 1; joints < 10; joints++) {
        th_synthetic_desc desc = TH_SYNTHETIC_DEFAULT;
        desc.joints = joints;
        desc.moving = joints % 3 * 50;
        th_model *model;
        th_error err;
        cr_assert_eq(th_synthetic_create(&desc, &model, &err), TH_OK, "%s", err.text);
        check_levels(model, 50, desc.moving == 0 && joints > 1 ? 2 : 1);
        model->clip_count = 0;
        check_levels(model, 1, joints > 1 ? 2 : 1);
        th_model_destroy(model);
    }
}

/* ---- compiled and posed ---- */

/* Instances posed in a level write the bytes of a crowd of that level, the others those of their own. */
static void pose_instances_of_the_source(const th_joint_lod *lod)
{
    enum { COUNT = 61, FAR = 23 };
    const th_model *level = lod->levels[TH_LOD_LEVELS - 1].model;
    th_compiled_model *const compiled[] = {make_compiled(human, TH_SAMPLING_COMPILED),
                                           make_compiled(level, TH_SAMPLING_COMPILED)};
    const th_compiled_model *const models[] = {compiled[0], compiled[1]};
    th_spawn instances[COUNT];
    th_spawns_scatter(models, 1, TH_NO_INDEX, 3, instances, COUNT);
    instances[7].clip = TH_NO_INDEX;
    const th_crowd_desc as = {.isa = TH_ISA_SCALAR};
    crowd_fixture own[2], s;
    for (int n = 0; n < 2; n++) {
        crowd_fixture_init_of(&own[n], models + n, 1, instances, COUNT, as);
        crowd_fixture_update(&own[n], 2.3);
    }
    crowd_fixture_init_of(&s, models, 2, instances, COUNT, as);
    th_crowd *mixed = s.crowd;
    cr_expect_leq(th_crowd_batch_count(mixed), th_crowd_most_batches(mixed));
    for (uint32_t turn = 0; turn < 3; turn++) {
        uint32_t order[COUNT];
        for (uint32_t i = 0; i < COUNT; i++)
            order[i] = (i * 19 + turn) % COUNT;
        th_crowd_set_active_counts(mixed, (const uint32_t[]){COUNT - FAR, FAR});
        th_crowd_set_active_range(mixed, 0, order, COUNT - FAR);
        th_crowd_set_active_in(mixed, 1, COUNT - FAR, order + COUNT - FAR, FAR);
        cr_expect_eq(th_crowd_bone_count(mixed), (COUNT - FAR) * human->bone_count + FAR * level->bone_count);
        cr_expect_leq(th_crowd_batch_count(mixed), th_crowd_most_batches(mixed));
        crowd_fixture_update(&s, 2.3);
        for (uint32_t k = 0; k < COUNT; k++) {
            const uint32_t i = order[k], of = k >= COUNT - FAR;
            const size_t bytes = (of ? level : human)->bone_count * 48;
            const uint32_t *in_batch, batch = th_crowd_batch_of(mixed, i),
                                      count = th_crowd_batch_instances(mixed, batch, &in_batch);
            bool found = false;
            for (uint32_t n = 0; n < count; n++)
                found |= in_batch[n] == i;
            cr_expect(found);
            cr_expect_arr_eq(s.palette + th_crowd_palette_offset(mixed, i),
                             own[of].palette + th_crowd_palette_offset(own[of].crowd, i), bytes, "turn %u, instance %u",
                             turn, i);
        }
    }
    crowd_fixture_fini_twin(&s);
    for (int n = 0; n < 2; n++) {
        crowd_fixture_fini_twin(&own[n]);
        th_compiled_model_destroy(compiled[n]);
    }
}

Test(joint_lod, of_the_human)
{
    th_joint_lod *lod = levels_of(human);
    check_lod(human, lod, 60, 5);
    are_the_same_each_time(lod);
    hold_joints_in_their_mean_pose(lod);
    move_vertices_as_the_bones_that_are_left_out(lod);
    keep_normals_beside_their_surface(lod);
    pose_instances_of_the_source(lod);
    th_joint_lod_destroy(lod);
}
