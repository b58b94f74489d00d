/* Morph targets of small glTF files, from the file to the model. */
#include "fixture_folder.h"
#include "fixture_gltf.h"
#include "fixture_import.h"

#include <throng/anim/exact.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))
#define SCENE         "'scenes':[{'nodes':[0]}],"
#define NODE          "'nodes':[{'name':'face','mesh':0}]"
#define PRIMITIVE_OF(attributes)                                                                                       \
    "'primitives':[{'attributes':{" attributes "},'targets':[{'POSITION':1},{'POSITION':2}]}]"
#define PRIMITIVE     PRIMITIVE_OF("'POSITION':0")
#define LIT           PRIMITIVE_OF("'POSITION':0,'NORMAL':3")
#define UP            0, 0, 1
#define MESH          ",'meshes':[{'name':'m'," PRIMITIVE "}]"
#define CHANNEL(node) "'channels':[{'sampler':0,'target':{'node':" node ",'path':'weights'}}]"
#define CLIP(mode)                                                                                                     \
    ",'animations':[{'name':'talk','samplers':[{'input':3,'output':4,'interpolation':'" mode "'}]," CHANNEL("0") "}]"
#define TRIANGLE GLTF_FLOATS("VEC3", 3, 0, 0, 0, 1, 0, 0, 0, 1, 0)
#define FIRST    GLTF_FLOATS("VEC3", 3, 0, 0, 0, 0, 0, 2, 0, 0, 0)
#define SECOND   GLTF_FLOATS("VEC3", 3, 1, 0, 0, 0, 0, 0, 0, 3, 0)
#define TIMES    GLTF_FLOATS("SCALAR", 3, 0, 1, 2)

static void remove_files(void)
{
    snprintf(path, sizeof path, "%s/made.gltf", folder);
    unlink(path);
    remove_folder();
}

TestSuite(import_morph, .init = make_folder, .fini = remove_files);

static void write_file(const char *body, const gltf_accessor *accessors, uint32_t count)
{
    snprintf(path, sizeof path, "%s/made.gltf", folder);
    gltf_write(path, body, accessors, count);
}

static th_model *import_body(const char *body, const gltf_accessor *accessors, uint32_t count)
{
    write_file(body, accessors, count);
    return import_good(path);
}

static bool is_warned(const th_model *model, const char *part)
{
    for (uint32_t n = 0; n < model->warning_count; n++)
        if (strstr(model->warnings[n], part))
            return true;
    return false;
}

static void check_delta(const th_morph_target *target, uint32_t index, const th_mesh *mesh, const float at[3],
                        const float moves[3])
{
    cr_assert_lt(index, target->delta_count);
    const th_morph_delta *delta = &target->deltas[index];
    for (int i = 0; i < 3; i++) {
        cr_expect_float_eq(mesh->vertices[delta->vertex].position[i], at[i], 1e-6);
        cr_expect_float_eq(delta->position[i], moves[i], 1e-6, "component %d is %g", i, (double)delta->position[i]);
    }
}

/* ---- targets ---- */

Test(import_morph, targets_have_only_the_vertices_that_they_move)
{
    const gltf_accessor accessors[] = {TRIANGLE, FIRST, SECOND, GLTF_FLOATS("VEC3", 3, UP, UP, UP)};
    th_model *model = import_body(SCENE NODE ",'meshes':[{'name':'m','weights':[0.5,-1],'extras':{'targetNames':['up',"
                                             "'out']}," LIT "}]",
                                  accessors, LENGTH(accessors));
    const th_mesh *mesh = &model->meshes[0];
    cr_assert_eq(mesh->target_count, 2);
    cr_assert_eq(model->weight_count, 2);
    cr_assert_eq(mesh->targets[0].delta_count, 1);
    cr_assert_eq(mesh->targets[1].delta_count, 2);
    check_delta(&mesh->targets[0], 0, mesh, (float[3]){1, 0, 0}, (float[3]){0, 0, 2});
    check_delta(&mesh->targets[1], 1, mesh, (float[3]){0, 1, 0}, (float[3]){0, 3, 0});
    cr_expect_str_eq(model->weights[0].name, "up");
    cr_expect_str_eq(model->weights[1].name, "out");
    cr_expect_str_eq(model->joints[model->weights[0].joint].name, "face");
    cr_expect_eq(model->weights[0].rest, .5f);
    cr_expect_eq(model->weights[1].rest, -1);
    cr_expect_float_eq(model->size, 2, 1e-6, "the second target, at -1, moves y from 0..1 to -2..0, not %g",
                       model->size);
    th_model_free(model);
}

Test(import_morph, nodes_have_weights_of_their_own_and_primitives_share_them)
{
    const gltf_accessor accessors[] = {TRIANGLE, FIRST, SECOND};
    th_model *model = import_body(
        "'scenes':[{'nodes':[0,1]}],'nodes':[{'name':'a','mesh':0,'weights':[0.25,0.75]},{'name':'b','mesh':0}],"
        "'meshes':[{'weights':[1,0],'primitives':[{'attributes':{'POSITION':0},'targets':[{'POSITION':1},{'POSITION':2}"
        "]},{'attributes':{'POSITION':0},'targets':[{'POSITION':2},{'POSITION':1}]}]}]",
        accessors, LENGTH(accessors));
    cr_assert_eq(model->weight_count, 4);
    cr_assert_eq(model->mesh_count, 4);
    static const float rests[] = {.25f, .75f, 1, 0};
    for (uint32_t w = 0; w < 4; w++)
        cr_expect_eq(model->weights[w].rest, rests[w], "weight %u", w);
    for (uint32_t m = 0; m < 4; m++) {
        const uint32_t joint = model->bones[model->meshes[m].vertices[0].bone[0]].joint;
        for (uint32_t t = 0; t < 2; t++)
            cr_expect_eq(model->weights[model->meshes[m].targets[t].weight].joint, joint);
        cr_expect_eq(model->meshes[m].targets[1].weight % 2, 1);
    }
    th_model_free(model);
}

Test(import_morph, vertices_are_merged_only_if_all_targets_move_them_alike)
{
    const gltf_accessor accessors[] = {GLTF_FLOATS("VEC3", 6, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0),
                                       GLTF_FLOATS("VEC3", 6, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 3, 0, 0, 0),
                                       GLTF_FLOATS("VEC3", 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                                       GLTF_FLOATS("VEC3", 6, UP, UP, UP, UP, UP, UP)};
    th_model *model = import_body(SCENE NODE ",'meshes':[{" LIT "}]", accessors, LENGTH(accessors));
    cr_expect_eq(model->meshes[0].vertex_count, 4, "not %u", model->meshes[0].vertex_count);
    cr_expect_eq(model->meshes[0].targets[0].delta_count, 3);
    cr_expect_eq(model->meshes[0].targets[1].delta_count, 0, "a target without moves still has its weight");
    cr_expect_eq(model->weight_count, 2);
    th_model_free(model);
}

/* The triangle lies in the XY plane; the target turns it about its long side into the XZ plane. */
Test(import_morph, targets_get_normals_where_the_mesh_gets_them)
{
    const gltf_accessor accessors[] = {GLTF_FLOATS("VEC3", 3, 0, 0, 0, 4, 0, 0, 0, 4, 0),
                                       GLTF_FLOATS("VEC3", 3, 0, 0, 0, 0, 0, 0, 0, -4, 4),
                                       GLTF_FLOATS("VEC3", 3, 0, 0, 0, 0, 0, 0, 0, 0, 0)};
    th_model *model = import_body(SCENE NODE MESH, accessors, LENGTH(accessors));
    const th_morph_target *target = &model->meshes[0].targets[0];
    cr_assert_eq(target->delta_count, 3, "normals of all three vertices turn");
    for (uint32_t d = 0; d < 3; d++) {
        const float *n = model->meshes[0].vertices[target->deltas[d].vertex].normal, *by = target->deltas[d].normal;
        cr_expect(fabsf(n[0] + by[0]) < 1e-6f && fabsf(n[1] + by[1] + 1) < 1e-6f && fabsf(n[2] + by[2]) < 1e-6f);
    }
    cr_expect(is_warned(model, "no normals"));
    th_model_free(model);
}

Test(import_morph, normals_of_the_file_are_taken)
{
    const gltf_accessor accessors[] = {TRIANGLE, GLTF_FLOATS("VEC3", 3, 0, 0, 2, 0, 0, 2, 0, 0, 2),
                                       GLTF_FLOATS("VEC3", 3, 0, 0, 0, 0, 0, 0, 2, 0, -2)};
    th_model *model = import_body(SCENE NODE ",'meshes':[{'primitives':[{'attributes':{'POSITION':0,'NORMAL':1},"
                                             "'targets':[{'NORMAL':2}]}]}]",
                                  accessors, LENGTH(accessors));
    const th_morph_target *target = &model->meshes[0].targets[0];
    cr_assert_eq(target->delta_count, 1);
    cr_expect_float_eq(target->deltas[0].normal[0], 1, 1e-6, "as much shorter as the normal becomes");
    cr_expect_float_eq(target->deltas[0].normal[2], -1, 1e-6);
    th_model_free(model);
}

Test(import_morph, moves_may_be_integers)
{
    const gltf_accessor accessors[] = {TRIANGLE,
                                       {"VEC3", -5122, 3, (const int16_t[]){0, 0, 0, -32767, 0, 0, 0, 0, 0}},
                                       {"VEC3", 5120, 3, (const int8_t[]){0, 0, 0, 0, 0, 0, 0, 0, -5}},
                                       GLTF_FLOATS("VEC3", 3, UP, UP, UP)};
    th_model *model =
        import_body("'extensionsUsed':['KHR_mesh_quantization']," SCENE NODE ",'meshes':[{" LIT "}]", accessors, 4);
    check_delta(&model->meshes[0].targets[0], 0, &model->meshes[0], (float[3]){1, 0, 0}, (float[3]){-1, 0, 0});
    check_delta(&model->meshes[0].targets[1], 0, &model->meshes[0], (float[3]){0, 1, 0}, (float[3]){0, 0, -5});
    th_model_free(model);
}

/* ---- clips ---- */

static void check_weights(const th_model *model, double ticks, double first, double second)
{
    double weights[2];
    cr_assert_eq(model->weight_count, 2);
    th_exact_weights(model, &model->clips[0], ticks, TH_INTERPOLATION_AUTHORED, weights);
    cr_expect_float_eq(weights[0], first, 1e-6, "at %g: %g, not %g", ticks, weights[0], first);
    cr_expect_float_eq(weights[1], second, 1e-6, "at %g: %g, not %g", ticks, weights[1], second);
}

#define TALK(mode, keys)                                                                                               \
    const gltf_accessor accessors[] = {TRIANGLE, FIRST, SECOND, TIMES, keys};                                          \
    th_model *model = import_body(SCENE NODE MESH CLIP(mode), accessors, LENGTH(accessors));                           \
    cr_assert_eq(model->clip_count, 1);                                                                                \
    cr_expect_eq(model->clips[0].channel_count, 0);                                                                    \
    cr_expect_eq(model->clips[0].duration_ticks / model->clips[0].ticks_per_second, 2)

#define SIX_KEYS GLTF_FLOATS("SCALAR", 6, 0, 1, 1, .5f, -1, 0)

Test(import_morph, clips_of_weights_alone_are_clips)
{
    TALK("LINEAR", SIX_KEYS);
    check_weights(model, 0, 0, 1);
    check_weights(model, 500, .5, .75);
    check_weights(model, 1500, 0, .25);
    check_weights(model, 2000, -1, 0);
    th_model_free(model);
}

Test(import_morph, weights_may_step)
{
    TALK("STEP", SIX_KEYS);
    check_weights(model, 999, 0, 1);
    check_weights(model, 1000, 1, .5);
    th_model_free(model);
}

/* Each key: the in-tangents of both weights, their values, their out-tangents. */
#define SPLINE_KEYS GLTF_FLOATS("SCALAR", 18, 0, 0, 0, 1, 1, 2, 3, 4, 1, .5f, 5, 6, 7, 8, -1, 0, 0, 0)

Test(import_morph, weights_may_be_splines)
{
    TALK("CUBICSPLINE", SPLINE_KEYS);
    check_weights(model, 1000, 1, .5);
    /* (p0 + p1) / 2 + (out0 - in1) / 8 */
    check_weights(model, 500, .5 + (1. - 3) / 8, .75 + (2. - 4) / 8);
    check_weights(model, 1500, 0 + (5. - 7) / 8, .25 + (6. - 8) / 8);
    th_model_free(model);
}

Test(import_morph, weights_may_be_normalised)
{
    const gltf_accessor keys = {"SCALAR", -5121, 6, (const uint8_t[]){0, 255, 255, 51, 0, 0}};
    TALK("LINEAR", keys);
    check_weights(model, 0, 0, 1);
    check_weights(model, 1000, 1, .2);
    th_model_free(model);
}

Test(import_morph, nodes_that_a_clip_leaves_out_keep_their_weights)
{
    const gltf_accessor accessors[] = {TRIANGLE, FIRST, SECOND, TIMES, SIX_KEYS};
    th_model *model = import_body("'scenes':[{'nodes':[0,1]}],'nodes':[{'name':'a','mesh':0},{'name':'b','mesh':0,"
                                  "'weights':[0.5,2]}]" MESH CLIP("LINEAR"),
                                  accessors, LENGTH(accessors));
    double weights[4];
    cr_assert_eq(model->weight_count, 4);
    th_exact_weights(model, &model->clips[0], 1000, TH_INTERPOLATION_AUTHORED, weights);
    cr_expect_arr_eq(weights, ((double[]){1, .5, .5, 2}), sizeof weights);
    th_model_free(model);
}

/* ---- what does not fit ---- */

static void check_left_out(const char *body, gltf_accessor keys)
{
    const gltf_accessor accessors[] = {TRIANGLE, FIRST, SECOND, TIMES, keys};
    th_model *model = import_body(body, accessors, LENGTH(accessors));
    cr_expect_eq(model->clip_count, 0);
    cr_expect(is_warned(model, "1 channel does not fit the morph targets of its node"), "%s",
              model->warning_count ? model->warnings[0] : "no warning");
    th_model_free(model);
}

Test(import_morph, keys_of_other_than_the_targets_are_left_out)
{
    const gltf_accessor nine = GLTF_FLOATS("SCALAR", 9, 0, 1, 2, 3, 4, 5, 6, 7, 8), six = SIX_KEYS,
                        five = GLTF_FLOATS("SCALAR", 5, 0, 1, 2, 3, 4);
    check_left_out(SCENE NODE MESH CLIP("LINEAR"), nine);
    check_left_out(SCENE NODE MESH CLIP("LINEAR"), five);
    check_left_out(SCENE NODE MESH CLIP("CUBICSPLINE"), six);
    check_left_out(SCENE NODE ",'meshes':[{'primitives':[{'attributes':{'POSITION':0}}]}]" CLIP("LINEAR"), six);
}

Test(import_morph, moves_that_are_not_finite_are_zero)
{
    const gltf_accessor accessors[] = {TRIANGLE, GLTF_FLOATS("VEC3", 3, 0, 0, 1, (float)NAN, 0, 0, 0, HUGE_VALF, 0),
                                       SECOND};
    th_model *model = import_body(SCENE NODE MESH, accessors, LENGTH(accessors));
    cr_expect_eq(model->meshes[0].targets[0].delta_count, 1);
    cr_expect(is_warned(model, "2 moves or weights of morph targets are not finite"));
    th_model_free(model);
}

static void check_refused(const char *body, const gltf_accessor *accessors, uint32_t count, const char *says)
{
    th_model *model;
    th_error err = {0};
    write_file(body, accessors, count);
    cr_expect_eq(import(path, &model, &err), TH_ERR_INPUT, "should say \"%s\"", says);
    cr_expect(strstr(err.text, says), "\"%s\" should say \"%s\"", err.text, says);
    th_model_free(model);
}

Test(import_morph, damaged_targets_are_refused)
{
    const gltf_accessor few[] = {TRIANGLE, GLTF_FLOATS("VEC3", 2, 0, 0, 0, 0, 0, 2), SECOND};
    check_refused(SCENE NODE MESH, few, LENGTH(few),
                  "the POSITION of a morph target of mesh 0 (accessor 1) are 2, for 3");
    const gltf_accessor many[] = {TRIANGLE, GLTF_FLOATS("VEC3", 4, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0), SECOND};
    check_refused(SCENE NODE MESH, many, LENGTH(many), "(accessor 1) are 4, for 3");
    const gltf_accessor flat[] = {TRIANGLE, GLTF_FLOATS("VEC2", 3, 0, 0, 0, 0, 0, 2), SECOND};
    check_refused(SCENE NODE MESH, flat, LENGTH(flat), "three floats");
    const gltf_accessor two[] = {TRIANGLE, FIRST};
    check_refused(SCENE NODE MESH, two, LENGTH(two), "out of bounds");
    const gltf_accessor whole[] = {TRIANGLE, {"VEC3", 5123, 3, (const uint16_t[9]){0}}, SECOND};
    check_refused(SCENE NODE MESH, whole, LENGTH(whole), "cannot read");
    const gltf_accessor good[] = {TRIANGLE, FIRST, SECOND};
    check_refused(SCENE "'nodes':[{'mesh':0,'weights':3}]" MESH, good, LENGTH(good), "weights is not what");
}

Test(import_morph, weights_beyond_the_limit_are_left_out)
{
    enum { TARGETS = TH_MAX_WEIGHTS + 1, EACH = 16 };
    char *body = malloc(TARGETS * EACH + 512), *at = body;
    at += sprintf(at, SCENE NODE ",'meshes':[{'primitives':[{'attributes':{'POSITION':0},'targets':[{'POSITION':0}");
    for (int t = 1; t < TARGETS; t++)
        at += sprintf(at, ",{'POSITION':0}");
    sprintf(at, "]}]}]");
    const gltf_accessor accessors[] = {TRIANGLE};
    th_model *model = import_body(body, accessors, LENGTH(accessors));
    cr_expect_eq(model->weight_count, 0);
    cr_expect_eq(model->meshes[0].target_count, 0);
    cr_expect(is_warned(model, "more morph targets than fit"));
    th_model_free(model);
    free(body);
}

/* ---- attached clips ---- */

static th_model *attach(const char *base_names, const char *donor_names, const char *donor_node)
{
    static const char *const body = SCENE
        "'nodes':[{'name':'%s','mesh':0}],'meshes':[{'extras':{'targetNames':[%s]}," PRIMITIVE "}]" CLIP("LINEAR");
    const gltf_accessor accessors[] = {TRIANGLE, FIRST, SECOND, TIMES, SIX_KEYS};
    char text[1024];
    snprintf(text, sizeof text, body, "face", base_names);
    th_model *base = import_body(text, accessors, LENGTH(accessors)), *both = NULL;
    snprintf(text, sizeof text, body, donor_node, donor_names);
    th_model *donor = import_body(text, accessors, LENGTH(accessors));
    th_error err;
    if (th_model_attach_clips(base, donor, &both, &err) != TH_OK)
        both = NULL;
    th_model_free(base);
    th_model_free(donor);
    return both;
}

static void check_attached(th_model *model, double first, double second)
{
    double weights[2];
    cr_assert(model && model->clip_count == 2);
    th_exact_weights(model, &model->clips[1], 0, TH_INTERPOLATION_AUTHORED, weights);
    cr_expect_eq(weights[0], first);
    cr_expect_eq(weights[1], second);
    th_model_free(model);
}

Test(import_morph, clips_attach_by_names_of_targets)
{
    check_attached(attach("'a','b'", "'a','b'", "face"), 0, 1);
    check_attached(attach("'a','b'", "'b','a'", "face"), 1, 0);
    check_attached(attach("'a','b'", "'b','a'", "head"), 1, 0);
    check_attached(attach("", "", "face"), 0, 1);
    check_attached(attach("'a','b'", "'c','a'", "head"), 1, 0);
    cr_expect_null(attach("'a','b'", "'c','d'", "face"));
    cr_expect_null(attach("'a','a'", "'a','c'", "head"), "two targets have that name");
    cr_expect_null(attach("", "", "head"));
}

Test(import_morph, clips_attach_to_the_node_of_their_name)
{
    const gltf_accessor accessors[] = {TRIANGLE, FIRST, SECOND, TIMES, SIX_KEYS};
    th_model *donor =
        import_body(SCENE NODE ",'meshes':[{'extras':{'targetNames':['a','b']}," PRIMITIVE "}]" CLIP("LINEAR"),
                    accessors, LENGTH(accessors));
    th_model *base =
        import_body("'scenes':[{'nodes':[0,1]}],'nodes':[{'name':'hat','mesh':0},{'name':'face','mesh':0}],"
                    "'meshes':[{'extras':{'targetNames':['a','b']}," PRIMITIVE "}]",
                    accessors, 3);
    th_model *both;
    th_error err = {0};
    cr_assert_eq(th_model_attach_clips(base, donor, &both, &err), TH_OK, "%s", err.text);
    double weights[4];
    th_exact_weights(both, &both->clips[0], 0, TH_INTERPOLATION_AUTHORED, weights);
    cr_expect_arr_eq(weights, ((double[]){0, 0, 0, 1}), sizeof weights);
    cr_expect_eq(both->clips[0].weight_track_count, 2);
    cr_expect_eq(both->clips[0].weight_tracks[0].weight, 2);
    th_model_free(both);
    th_model_free(base);
    th_model_free(donor);
}
