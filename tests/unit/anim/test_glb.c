/* What `human` writes as binary glTF, read by the importer: the same motion, skin and mesh. It sees one or two roots
 * more before the joints, and a node for the mesh behind them. */
#include "fixture_folder.h"
#include "fixture_import.h"

#include <anim/exact.h>
#include <anim/synthetic_text.h>
#include <throng/throng.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* Of matrix elements: keys and rest transforms are rounded to floats. */
#define TOLERANCE 2e-6

TestSuite(glb, .init = make_folder, .fini = remove_folder);

static th_model *written(const char *arguments)
{
    char command[512];
    snprintf(command, sizeof command, "'%s' %s '%s'", TEST_HUMAN, arguments, path);
    cr_assert_eq(system(command), 0, "%s", command);
    return import_good(path);
}

static uint32_t first_joint(const th_model *there, const th_model *back)
{
    const uint32_t first = th_model_find_joint(back, there->joints[0].name);
    cr_assert(first != TH_NO_INDEX && first + there->joint_count <= back->joint_count);
    for (uint32_t j = 0; j < there->joint_count; j++)
        cr_expect_str_eq(back->joints[first + j].name, there->joints[j].name);
    return first;
}

static void check_pose(const th_model *there, const th_model *back, uint32_t clip, double part)
{
    const th_model *models[] = {there, back};
    const uint32_t first = first_joint(there, back);
    th_dmat34 *poses[2], *palettes[2];
    double *weights[2];
    for (int m = 0; m < 2; m++) {
        const th_clip *c = &models[m]->clips[clip];
        const double ticks = part * c->duration_ticks;
        poses[m] = calloc(models[m]->joint_count, sizeof(th_dmat34));
        palettes[m] = calloc(models[m]->bone_count, sizeof(th_dmat34));
        weights[m] = calloc(models[m]->weight_count + 1, sizeof(double));
        th_exact_pose(models[m], c, ticks, TH_INTERPOLATION_AUTHORED, poses[m]);
        th_exact_palette(models[m], poses[m], palettes[m]);
        if (models[m]->weight_count > 0)
            th_exact_weights(models[m], c, ticks, TH_INTERPOLATION_AUTHORED, weights[m]);
    }
    for (uint32_t j = 0; j < there->joint_count; j++)
        cr_expect_leq(th_dmat34_distance(&poses[0][j], &poses[1][first + j]), TOLERANCE, "%s", there->joints[j].name);
    for (uint32_t b = 0; b < there->bone_count; b++)
        cr_expect_leq(th_dmat34_distance(&palettes[0][b], &palettes[1][b]), TOLERANCE, "bone %u", b);
    for (uint32_t w = 0; w < there->weight_count; w++)
        cr_expect_float_eq(weights[0][w], weights[1][w], 1e-5, "weight %u", w);
    for (int m = 0; m < 2; m++) {
        free(poses[m]);
        free(palettes[m]);
        free(weights[m]);
    }
}

static void check_clips(const th_model *there, const th_model *back)
{
    cr_assert_eq(back->clip_count, there->clip_count);
    for (uint32_t c = 0; c < there->clip_count; c++) {
        const th_clip *a = &there->clips[c], *b = &back->clips[c];
        cr_expect_str_eq(b->name, a->name);
        cr_expect_float_eq(b->duration_ticks / b->ticks_per_second, a->duration_ticks / a->ticks_per_second, 1e-6);
        for (int i = 0; i < 9; i++)
            check_pose(there, back, c, (i + 0.37) / 9);
    }
}

/* What a target moves a vertex by; NULL: it stays. */
static const float *delta_of(const th_mesh *mesh, uint32_t target, uint32_t vertex)
{
    const th_morph_target *t = &mesh->targets[target];
    for (uint32_t d = 0; d < t->delta_count; d++)
        if (t->deltas[d].vertex == vertex)
            return t->deltas[d].position;
    return NULL;
}

static void check_targets(const th_mesh *there, const th_mesh *back)
{
    cr_assert_eq(back->target_count, there->target_count);
    for (uint32_t t = 0; t < there->target_count; t++)
        for (uint32_t i = 0; i < there->index_count; i++) {
            const float *a = delta_of(there, t, there->indices[i]), *b = delta_of(back, t, back->indices[i]);
            cr_assert_eq(!a, !b, "target %u, corner %u", t, i);
            if (a)
                cr_assert_arr_eq(a, b, 3 * sizeof *a, "target %u, corner %u", t, i);
        }
}

static float weight_of(const th_vertex *vertex, uint16_t bone)
{
    float weight = 0;
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
        weight += vertex->bone[k] == bone ? vertex->weight[k] : 0;
    return weight;
}

static void check_mesh(const th_model *there, const th_model *back)
{
    const th_mesh *a = &there->meshes[0], *b = &back->meshes[0];
    cr_assert(back->mesh_count == 1 && back->bone_count == there->bone_count);
    for (uint32_t i = 0; i < there->bone_count; i++)
        cr_expect_arr_eq(&back->bones[i].inverse_bind, &there->bones[i].inverse_bind, sizeof(th_mat34));
    cr_assert_eq(b->index_count, a->index_count);
    for (uint32_t i = 0; i < a->index_count; i++) {
        const th_vertex *x = &a->vertices[a->indices[i]], *y = &b->vertices[b->indices[i]];
        cr_assert_arr_eq(y->position, x->position, sizeof x->position);
        cr_assert_arr_eq(y->color, x->color, sizeof x->color);
        for (int k = 0; k < 4; k++) {
            cr_assert_float_eq(weight_of(y, x->bone[k]), weight_of(x, x->bone[k]), 1e-6, "corner %u", i);
            cr_assert_float_eq(y->normal[k % 3], x->normal[k % 3], 1e-6);
            cr_assert_float_eq(y->uv[k % 2], x->uv[k % 2], 1e-6);
        }
    }
    check_targets(a, b);
    cr_expect_eq(back->materials[b->material].double_sided, there->materials[0].double_sided);
}

Test(glb, of_the_human_is_its_first_appearance)
{
    th_model *human, *dressed, *back = written("");
    cr_assert_eq(th_human_create(&human, NULL), TH_OK);
    cr_assert_eq(th_model_dress(human, 0, &dressed, NULL), TH_OK);
    check_clips(dressed, back);
    check_mesh(dressed, back);
    th_model_destroy(back);
    th_model_destroy(dressed);
    th_model_destroy(human);
}

Test(glb, of_a_synthetic_model_is_that)
{
    static const char *const models[] = {
        "synthetic:joints=20,depth=7,clips=2,keys=9,rate=12,moving=50,scale=on,weights=4,seed=5",
        "synthetic:shape=star,joints=9,weights=2"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        th_synthetic_desc desc;
        th_model *there, *back = written(models[i]);
        cr_assert_eq(th_synthetic_parse(models[i], &desc, NULL), TH_OK);
        cr_assert_eq(th_synthetic_create(&desc, &there, NULL), TH_OK);
        check_clips(there, back);
        check_mesh(there, back);
        th_model_destroy(there);
        th_model_destroy(back);
    }
}

/* No mesh, no motion: glTF allows no empty lists. */
Test(glb, may_be_joints_alone)
{
    th_model *back = written("synthetic:mesh=off,moving=0");
    cr_expect_eq(back->mesh_count, 0);
    cr_expect_eq(back->clip_count, 0);
    cr_expect_geq(back->joint_count, 64);
    th_model_destroy(back);
}
