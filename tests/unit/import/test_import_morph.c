/* Clips of morph targets that are attached to another file, and more targets than fit. What is read of small files is
 * for test_import_models.c. */
#include "fixture_folder.h"
#include "fixture_gltf.h"
#include "fixture_import.h"

#include <anim/exact.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))
#define SCENE         "'scenes':[{'nodes':[0]}],"
#define NODE          "'nodes':[{'name':'face','mesh':0}]"
#define PRIMITIVE     "'primitives':[{'attributes':{'POSITION':0},'targets':[{'POSITION':1},{'POSITION':2}]}]"
#define CLIP                                                                                                           \
    ",'animations':[{'name':'talk','samplers':[{'input':3,'output':4}],'channels':[{'sampler':0,'target':{'node':0,"   \
    "'path':'weights'}}]}]"
#define TRIANGLE GLTF_FLOATS("VEC3", 3, 0, 0, 0, 1, 0, 0, 0, 1, 0)
#define FIRST    GLTF_FLOATS("VEC3", 3, 0, 0, 0, 0, 0, 2, 0, 0, 0)
#define SECOND   GLTF_FLOATS("VEC3", 3, 1, 0, 0, 0, 0, 0, 0, 3, 0)
#define TIMES    GLTF_FLOATS("SCALAR", 3, 0, 1, 2)
#define SIX_KEYS GLTF_FLOATS("SCALAR", 6, 0, 1, 1, .5f, -1, 0)

TestSuite(import_morph, .init = make_folder, .fini = remove_folder);

static th_model *import_body(const char *body, const gltf_accessor *accessors, uint32_t count)
{
    snprintf(path, sizeof path, "%s/made.gltf", folder);
    gltf_write(path, body, accessors, count);
    return import_good(path);
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
    th_model_destroy(model);
    free(body);
}

/* ---- attached clips ---- */

static th_model *attach(const char *base_names, const char *donor_names, const char *donor_node)
{
    static const char *const body =
        SCENE "'nodes':[{'name':'%s','mesh':0}],'meshes':[{'extras':{'targetNames':[%s]}," PRIMITIVE "}]" CLIP;
    const gltf_accessor accessors[] = {TRIANGLE, FIRST, SECOND, TIMES, SIX_KEYS};
    char text[1024];
    snprintf(text, sizeof text, body, "face", base_names);
    th_model *base = import_body(text, accessors, LENGTH(accessors)), *both = NULL;
    snprintf(text, sizeof text, body, donor_node, donor_names);
    th_model *donor = import_body(text, accessors, LENGTH(accessors));
    th_error err;
    if (th_model_attach_clips(base, donor, &both, &err) != TH_OK)
        both = NULL;
    th_model_destroy(base);
    th_model_destroy(donor);
    return both;
}

static void check_attached(th_model *model, double first, double second)
{
    double weights[2];
    cr_assert(model && model->clip_count == 2);
    th_exact_weights(model, &model->clips[1], 0, TH_INTERPOLATION_AUTHORED, weights);
    cr_expect_eq(weights[0], first);
    cr_expect_eq(weights[1], second);
    th_model_destroy(model);
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
    th_model *donor = import_body(SCENE NODE ",'meshes':[{'extras':{'targetNames':['a','b']}," PRIMITIVE "}]" CLIP,
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
    th_model_destroy(both);
    th_model_destroy(base);
    th_model_destroy(donor);
}
