/* glTF as the specification and its extensions have it, in small files: each says one thing. */
#include "fixture_folder.h"
#include "fixture_gltf.h"
#include "fixture_import.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))
#define SCENE(roots)  "'scene':0,'scenes':[{'nodes':[" roots "]}],"
#define NODES(list)   "'nodes':[" list "]"
#define MESH(rest)    ",'meshes':[{'name':'box','primitives':[{'attributes':{'POSITION':0" rest "}]}]"
#define TRIANGLE      GLTF_FLOATS("VEC3", 3, 0, 0, 0, 1, 0, 0, 0, 1, 0)
#define ARM           "{'name':'skin','mesh':0,'skin':0},{'name':'upper','children':[2]},{'name':'lower'}"

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void remove_files(void)
{
    static const char *const names[] = {"a b.bin", "model.bin", "made.gltf"};
    for (size_t n = 0; n < LENGTH(names); n++)
        unlink(in_folder(names[n]));
    remove_folder();
}

TestSuite(import_gltf, .init = make_folder, .fini = remove_files);

static th_model *import_body(const char *body, const gltf_accessor *accessors, uint32_t count)
{
    snprintf(path, sizeof path, "%s/made.gltf", folder);
    gltf_write(path, body, accessors, count);
    return import_good(path);
}

static void check_refused(const char *body, const gltf_accessor *accessors, uint32_t count, const char *says)
{
    snprintf(path, sizeof path, "%s/made.gltf", folder);
    gltf_write(path, body, accessors, count);
    th_model *model;
    th_error err = {0};
    cr_expect_eq(import(path, &model, &err), TH_ERR_INPUT, "should say \"%s\"", says);
    cr_expect(strstr(err.text, says), "\"%s\" should say \"%s\"", err.text, says);
    th_model_free(model);
}

static void check_note(const th_model *model, const char *part)
{
    for (uint32_t n = 0; n < model->warning_count; n++)
        if (strstr(model->warnings[n], part))
            return;
    cr_expect_fail("none of %u warnings says \"%s\"", model->warning_count, part);
}

static void check_position(const th_model *model, uint32_t vertex, float x, float y, float z)
{
    const float *p = model->meshes[0].vertices[vertex].position;
    cr_expect(fabsf(p[0] - x) < 1e-6f && fabsf(p[1] - y) < 1e-6f && fabsf(p[2] - z) < 1e-6f, "%g %g %g", (double)p[0],
              (double)p[1], (double)p[2]);
}

/* ---- numbers ---- */

Test(import_gltf, positions_may_be_normalised_integers)
{
    const gltf_accessor accessors[] = {{"VEC3", -5122, 3, (const int16_t[]){0, 0, 0, 32767, 0, 0, 0, -32768, -32767}}};
    th_model *model = import_body("'extensionsUsed':['KHR_mesh_quantization'],'extensionsRequired':["
                                  "'KHR_mesh_quantization']," SCENE("0") NODES("{'mesh':0}") MESH("}"),
                                  accessors, 1);
    check_position(model, 1, 1, 0, 0);
    check_position(model, 2, 0, -1, -1);
    th_model_free(model);
}

Test(import_gltf, positions_may_be_plain_integers)
{
    const gltf_accessor accessors[] = {{"VEC3", 5120, 3, (const int8_t[]){0, 0, 0, 100, 0, 0, 0, -7, 0}}};
    th_model *model = import_body(
        "'extensionsUsed':['KHR_mesh_quantization']," SCENE("0") NODES("{'mesh':0}") MESH("}"), accessors, 1);
    check_position(model, 1, 100, 0, 0);
    check_position(model, 2, 0, -7, 0);
    th_model_free(model);
}

Test(import_gltf, texture_coordinates_and_colours_may_be_normalised)
{
    const gltf_accessor accessors[] = {TRIANGLE,
                                       {"VEC2", -5123, 3, (const uint16_t[]){65535, 0, 0, 65535, 13107, 0}},
                                       {"VEC4", -5121, 3, (const uint8_t[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}};
    th_model *model = import_body(SCENE("0") NODES("{'mesh':0}") MESH(",'TEXCOORD_0':1,'COLOR_0':2}"), accessors, 3);
    const th_vertex *v = model->meshes[0].vertices;
    cr_expect_float_eq(v[0].uv[0], 1, 1e-6);
    cr_expect_float_eq(v[1].uv[1], 1, 1e-6);
    cr_expect_float_eq(v[2].uv[0], .2f, 1e-6);
    cr_expect_arr_eq(v[1].color, ((uint8_t[]){5, 6, 7, 8}), 4);
    th_model_free(model);
}

Test(import_gltf, colours_without_alpha_are_opaque)
{
    const gltf_accessor accessors[] = {TRIANGLE, GLTF_FLOATS("VEC3", 3, 1, 0, 0, 1, 0, 0, 1, 0, 0)};
    th_model *model = import_body(SCENE("0") NODES("{'mesh':0}") MESH(",'COLOR_0':1}"), accessors, 2);
    cr_expect_arr_eq(model->meshes[0].vertices[1].color, ((uint8_t[]){255, 0, 0, 255}), 4);
    th_model_free(model);
}

/* Two triangles that share an edge: there the normal is the mean of both, elsewhere that of the one. */
static void check_normals(const th_model *model)
{
    for (uint32_t v = 0; v < model->meshes[0].vertex_count; v++) {
        const th_vertex *at = &model->meshes[0].vertices[v];
        const bool shared = at->position[0] + at->position[2] == 0;
        const float x = at->position[0] > 0 ? 0 : shared ? sqrtf(.5f) : 1;
        const float z = at->position[2] > 0 ? 0 : shared ? sqrtf(.5f) : 1;
        cr_expect(fabsf(at->normal[0] - x) < 1e-3f && fabsf(at->normal[2] - z) < 1e-3f, "vertex %u", v);
    }
}

Test(import_gltf, normals_are_the_mean_of_all_triangles_around)
{
    const gltf_accessor accessors[] = {GLTF_FLOATS("VEC3", 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1),
                                       GLTF_SHORTS("SCALAR", 6, 0, 2, 3, 0, 1, 2)};
    th_model *model = import_body(SCENE("0") NODES("{'mesh':0}") MESH("},'indices':1"), accessors, 2);
    check_normals(model);
    th_model_free(model);
    const gltf_accessor apart[] = {GLTF_FLOATS("VEC3", 6, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1)};
    model = import_body(SCENE("0") NODES("{'mesh':0}") MESH("}"), apart, 1);
    check_normals(model);
    th_model_free(model);
}

Test(import_gltf, joints_may_be_bytes_and_weights_normalised)
{
    const gltf_accessor accessors[] = {
        TRIANGLE,
        {"VEC4", 5121, 3, (const uint8_t[]){0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0}},
        {"VEC4", -5121, 3, (const uint8_t[]){255, 0, 0, 0, 204, 51, 0, 0, 51, 204, 0, 0}}};
    th_model *model = import_body(
        SCENE("0,1") NODES(ARM) ",'skins':[{'joints':[1,2]}]" MESH(",'JOINTS_0':1,'WEIGHTS_0':2}"), accessors, 3);
    const th_vertex *v = model->meshes[0].vertices;
    cr_expect_float_eq(v[0].weight[0], 1, 1e-6);
    cr_expect_float_eq(v[1].weight[0], .8f, 1e-6);
    cr_expect_float_eq(v[2].weight[1], .2f, 1e-6);
    cr_expect_str_eq(model->joints[model->bones[v[2].bone[0]].joint].name, "lower");
    th_model_free(model);
}

#define THRICE(...)                                                                                                    \
    (const uint8_t[])                                                                                                  \
    {                                                                                                                  \
        __VA_ARGS__, __VA_ARGS__, __VA_ARGS__                                                                          \
    }
#define WEIGHTS(a, b, c, d) GLTF_FLOATS("VEC4", 3, a, b, c, d, a, b, c, d, a, b, c, d)

/* Ten bones: two of 0.2, four of 0.1, four of 0.05. */
Test(import_gltf, the_strongest_eight_of_twelve_weights_count)
{
    const gltf_accessor accessors[] = {TRIANGLE,
                                       {"VEC4", 5121, 3, THRICE(0, 1, 2, 3)},
                                       WEIGHTS(.05f, .05f, .05f, .05f),
                                       {"VEC4", 5121, 3, THRICE(4, 5, 6, 7)},
                                       WEIGHTS(.1f, .1f, .1f, .1f),
                                       {"VEC4", 5121, 3, THRICE(8, 9, 0, 0)},
                                       WEIGHTS(.2f, .2f, 0, 0)};
    th_model *model = import_body(
        SCENE("0") NODES("{'children':[1,2,3,4,5,6,7,8,9,10],'mesh':0,'skin':0},{'name':'a'},{'name':'b'},{'name':"
                         "'c'},"
                         "{'name':'d'},{'name':'e'},{'name':'f'},{'name':'g'},{'name':'h'},{'name':'i'},{'name':'"
                         "j'}") ",'skins':[{'joints':[1,2,3,4,5,6,7,8,9,10]}]" MESH(",'JOINTS_0':1,'WEIGHTS_0':2,'"
                                                                                    "JOINTS_1':3,'WEIGHTS_1':4,'"
                                                                                    "JOINTS_2':5,'WEIGHTS_2':6}"),
        accessors, LENGTH(accessors));
    const th_vertex *v = model->meshes[0].vertices;
    const char names[] = "ijefgh";
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++) {
        const char *name = model->joints[model->bones[v->bone[k]].joint].name;
        cr_expect(k < 6 ? name[0] == names[k] : name[0] < 'e', "%u: %s", k, name);
        cr_expect_float_eq(v->weight[k],
                           (k < 2   ? .2f
                            : k < 6 ? .1f
                                    : .05f) /
                               .9f,
                           1e-6, "%u: %g", k, (double)v->weight[k]);
    }
    check_note(model, "3 vertices have more than 8 weights");
    th_model_free(model);
}

Test(import_gltf, rotation_keys_may_be_normalised)
{
    const gltf_accessor accessors[] = {GLTF_FLOATS("SCALAR", 2, 0, 1),
                                       {"VEC4", -5122, 2, (const int16_t[]){0, 0, 0, 32767, 0, 0, -32767, 0}}};
    th_model *model =
        import_body(SCENE("0") NODES("{'name':'a'}") ",'animations':[{'samplers':[{'input':0,'output':1}],'channels':["
                                                     "{'sampler':0,'target':{'node':0,'path':'rotation'}}]}]",
                    accessors, 2);
    const th_track *track = &model->clips[0].channels[0].rotation;
    cr_assert_eq(track->key_count, 2);
    cr_expect_float_eq(fabsf(track->values[6]), 1, 1e-6);
    th_model_free(model);
}

/* An accessor without a bufferView, and a sparse one on it. */
Test(import_gltf, numbers_that_lie_nowhere_are_zero)
{
    FILE *file = fopen(in_folder("made.gltf"), "w");
    fputs("{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],\"meshes\":[{"
          "\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{\"componentType\":5126,\"count\":3,"
          "\"type\":\"VEC3\",\"sparse\":{\"count\":1,\"indices\":{\"bufferView\":0,\"componentType\":5121},"
          "\"values\":{\"bufferView\":0,\"byteOffset\":4}}}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":16}],"
          "\"buffers\":[{\"byteLength\":16,\"uri\":\"a%20b.bin\"}]}",
          file);
    fclose(file);
    const struct {
        uint32_t index;
        float value[3];
    } bytes = {1, {5, 6, 7}};
    file = fopen(in_folder("a b.bin"), "wb");
    fwrite(&bytes, sizeof bytes, 1, file);
    fclose(file);
    th_model *model = import_good(in_folder("made.gltf"));
    check_position(model, 0, 0, 0, 0);
    check_position(model, 1, 5, 6, 7);
    th_model_free(model);
}

/* ---- triangles ---- */

static void check_triangles(const char *mode, uint32_t triangles)
{
    const gltf_accessor accessors[] = {GLTF_FLOATS("VEC3", 5, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 2, 0),
                                       GLTF_SHORTS("SCALAR", 5, 0, 1, 2, 3, 4)};
    char body[512];
    snprintf(body, sizeof body, SCENE("0") NODES("{'mesh':0}") MESH("},'indices':1,'mode':%s"), mode);
    th_model *model = import_body(body, accessors, 2);
    cr_expect_eq(model->mesh_count ? model->meshes[0].index_count : 0, 3 * triangles, "mode %s", mode);
    for (uint32_t i = 0; model->mesh_count && i < model->meshes[0].vertex_count && strcmp(mode, "5") == 0; i++)
        cr_expect_float_eq(model->meshes[0].vertices[i].normal[2], 1, 1e-6, "all wind the same way");
    if (triangles == 0)
        check_note(model, "points or lines were left out");
    th_model_free(model);
}

Test(import_gltf, strips_and_fans_become_triangles)
{
    check_triangles("4", 1);
    check_triangles("5", 3);
    check_triangles("6", 3);
    check_triangles("0", 0);
    check_triangles("3", 0);
}

/* ---- skins and instances ---- */

Test(import_gltf, a_mesh_may_have_several_skins)
{
    const gltf_accessor accessors[] = {TRIANGLE, GLTF_SHORTS("VEC4", 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                                       GLTF_FLOATS("VEC4", 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)};
    th_model *model =
        import_body(SCENE("0,1,2,3") NODES(
                        "{'mesh':0,'skin':0,'translation':[9,9,9]},{'mesh':0,'skin':1},{'name':'a'},"
                        "{'name':'b'}") ",'skins':[{'joints':[2]},{'joints':[3]}]" MESH(",'JOINTS_0':1,'WEIGHTS_0':2}"),
                    accessors, 3);
    cr_assert_eq(model->mesh_count, 2);
    for (uint32_t m = 0; m < 2; m++)
        cr_expect_str_eq(model->joints[model->bones[model->meshes[m].vertices[0].bone[0]].joint].name, m ? "b" : "a");
    th_model_free(model);
}

Test(import_gltf, instances_become_nodes)
{
    const gltf_accessor accessors[] = {TRIANGLE, GLTF_FLOATS("VEC3", 2, 1, 0, 0, 0, 0, 5),
                                       GLTF_FLOATS("VEC3", 2, 1, 1, 1, 2, 2, 2)};
    th_model *model = import_body("'extensionsRequired':['EXT_mesh_gpu_instancing']," SCENE("0") NODES(
                                      "{'name':'tree','mesh':0,'extensions':{'EXT_mesh_gpu_instancing':{'attributes':{"
                                      "'TRANSLATION':1,'SCALE':2}}}}") MESH("}"),
                                  accessors, 3);
    cr_assert(model->joint_count == 3 && model->mesh_count == 2);
    cr_expect_eq(model->joints[1].rest.m[3], 1);
    cr_expect_eq(model->joints[2].rest.m[11], 5);
    cr_expect_eq(model->joints[2].rest.m[0], 2);
    th_model_free(model);
}

Test(import_gltf, a_file_without_a_scene_shows_all_of_its_nodes)
{
    const gltf_accessor accessors[] = {TRIANGLE};
    th_model *model =
        import_body(NODES("{'name':'a','mesh':0,'children':[1]},{'name':'b'},{'name':'c'}") MESH("}"), accessors, 1);
    cr_expect_eq(model->joint_count, 4, "and a root over the two");
    th_model_free(model);
}

/* ---- materials ---- */

/* Half a turn is the same in all conventions; a quarter is not. */
Test(import_gltf, texture_transforms_move_the_coordinates)
{
    const gltf_accessor accessors[] = {TRIANGLE, GLTF_FLOATS("VEC2", 3, 0, 0, 0, 0, 0, 0),
                                       GLTF_FLOATS("VEC2", 3, 0, 0, 1, 0, 0, 1)};
    th_model *model = import_body(
        SCENE("0") NODES("{'mesh':0}") ",'images':[{'uri':'data:image/png;base64,cGl4ZWxz'}],'textures':[{'source':0}],"
                                       "'materials':[{'pbrMetallicRoughness':{'baseColorTexture':{'index':0,"
                                       "'extensions':{'KHR_texture_transform':{'texCoord':1,'offset':[0,1],'rotation':"
                                       "1.57079632679,'scale':[0.5,0.5]}}}}}]" MESH(
                                           ",'TEXCOORD_0':1,'TEXCOORD_1':2},'material':0"),
        accessors, 3);
    const float expected[3][2] = {{0, 1}, {0, .5f}, {.5f, 1}};
    for (int v = 0; v < 3; v++)
        for (int i = 0; i < 2; i++)
            cr_expect_float_eq(model->meshes[0].vertices[v].uv[i], expected[v][i], 1e-6, "vertex %d", v);
    th_model_free(model);
}

Test(import_gltf, extensions_that_may_show_are_warned_about)
{
    const gltf_accessor accessors[] = {TRIANGLE};
    th_model *model = import_body("'extensionsRequired':['KHR_node_visibility','KHR_materials_variants','VRMC_vrm',"
                                  "'EXT_mesh_features']," SCENE("0") NODES("{'mesh':0}") MESH("}"),
                                  accessors, 1);
    check_note(model, "2 glTF extensions are required but not read");
    th_model_free(model);
}

Test(import_gltf, textures_that_no_mesh_uses_are_left_out)
{
    const gltf_accessor accessors[] = {TRIANGLE};
    th_model *model = import_body(
        SCENE("0") NODES("{'mesh':0}") ",'images':[{'uri':'a.png'},{'uri':'b%20c.png'}],'textures':[{'source':0},"
                                       "{'source':1}],'materials':[{'pbrMetallicRoughness':{'baseColorTexture':{"
                                       "'index':0}}},{'pbrMetallicRoughness':{'baseColorTexture':{'index':1}}}]" MESH(
                                           "},'material':1"),
        accessors, 1);
    cr_assert_eq(model->texture_count, 1);
    cr_expect_str_eq(model->textures[0].name, "b c.png");
    th_model_free(model);
}

/* ---- compressed files ---- */

/* With all filters of EXT_meshopt_compression, sparse and quantised numbers and instances. */
Test(import_gltf, reads_what_meshoptimizer_compresses)
{
    th_model *model = import_good(TEST_DATA "/packed.glb");
    const th_vertex *v = model->meshes[0].vertices;
    cr_assert(model->mesh_count == 14 && model->meshes[0].vertex_count == 9 && model->meshes[0].index_count == 24);
    check_position(model, 5, 2, 1, .25f);
    cr_expect_float_eq(v[5].normal[0], .6, 1e-2);
    cr_expect_float_eq(v[5].normal[2], .8, 1e-2);
    const double x = 2 * 65534. / 65535, y = 2 * 32767. / 65535; /* by KHR_texture_transform */
    cr_expect_float_eq(v[5].uv[0], .5 + x * cos(.5) + y * sin(.5), 1e-6);
    cr_expect_float_eq(v[5].uv[1], -x * sin(.5) + y * cos(.5), 1e-6);
    const th_track *turn = &model->clips[0].channels[0].rotation;
    cr_assert_eq(turn->key_count, 4);
    cr_expect_float_eq(fabsf(turn->values[13]), 0, 1e-4);
    cr_expect_float_eq(fabsf(turn->values[14]), .8, 1e-4);
    cr_expect_float_eq(model->joints[4].rest.m[0], 0, 1e-6, "the others lie nowhere");
    cr_expect_float_eq(model->joints[5].rest.m[0], -1, 1e-6, "half a turn around y");
    cr_expect_float_eq(model->joints[7].rest.m[0], 2, 1e-6);
    cr_expect_float_eq(model->joints[7].rest.m[11], 5, 1e-6);
    th_model_free(model);
}

Test(import_gltf, reads_what_draco_compresses)
{
    th_model *model;
    th_error err = {0};
    const th_result result = import(TEST_DATA "/draco.glb", &model, &err);
#ifdef TH_HAVE_DRACO
    cr_assert_eq(result, TH_OK, "%s", err.text);
    cr_assert(model->meshes[0].vertex_count == 10 && model->meshes[0].index_count == 24);
    uint32_t found = 0;
    for (const th_vertex *v = model->meshes[0].vertices; v < model->meshes[0].vertices + 10; v++) {
        const float y = v->position[1];
        cr_expect_float_eq(v->uv[1], y / 4, 1e-3);
        cr_expect_eq(v->color[0], lroundf(y * 51), "normalised by the accessor");
        cr_expect_eq(v->color[1], 255);
        cr_expect_float_eq(v->normal[2], 1, 1e-3, "of triangles that are joined as they were");
        for (int w = 0; w < 4; w++)
            if (v->weight[w] > .6f && y > 3.5f &&
                strcmp(model->joints[model->bones[v->bone[w]].joint].name, "tip") == 0)
                found++;
    }
    cr_expect_eq(found, 2);
#else
    cr_expect_eq(result, TH_ERR_INPUT);
    cr_expect(strstr(err.text, "the KHR_draco_mesh_compression of mesh 0 cannot be decoded: built without Draco"), "%s",
              err.text);
#endif
    th_model_free(model);
}

/* ---- files that lead astray ---- */

Test(import_gltf, refuses_trees_that_are_none)
{
    check_refused(SCENE("0") NODES("{'children':[1]},{'children':[0]}"), NULL, 0, "node 0 is a root of the scene and");
    check_refused(SCENE("0") NODES("{'children':[1,2]},{'children':[2]},{}"), NULL, 0,
                  "node 2 is a child of node 0 and of node 1");
    check_refused(SCENE("0") NODES("{'children':[7]}"), NULL, 0, "node 0 has a child that is out of bounds");
    check_refused(SCENE("3") NODES("{}"), NULL, 0, "root that is out of bounds");
    check_refused(SCENE("0,0") NODES("{},{}"), NULL, 0, "node 0 is twice a root");
}

Test(import_gltf, refuses_trees_that_are_too_deep)
{
    enum { DEPTH = 5000 };
    char *body = malloc(64 * DEPTH), *end = body;
    end = stpcpy(end, SCENE("0") "'nodes':[");
    for (int n = 0; n < DEPTH; n++)
        end += sprintf(end, "{'children':[%d]},", n + 1);
    strcpy(end, "{}]");
    snprintf(path, sizeof path, "%s/made.gltf", folder);
    gltf_write(path, body, NULL, 0);
    th_model *model;
    th_error err;
    cr_expect_eq(import(path, &model, &err), TH_ERR_LIMIT);
    cr_expect(strstr(err.text, "levels deep"), "%s", err.text);
    free(body);
}

Test(import_gltf, refuses_indices_that_lead_nowhere)
{
    const gltf_accessor accessors[] = {
        TRIANGLE, GLTF_SHORTS("SCALAR", 3, 0, 1, 3), GLTF_SHORTS("VEC4", 3, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0),
        GLTF_FLOATS("VEC4", 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0), GLTF_FLOATS("VEC3", 2, 0, 0, 1, 0, 0, 1)};
    check_refused(SCENE("0,1") NODES(ARM) ",'skins':[{'joints':[1,2]}]" MESH(",'JOINTS_0':2,'WEIGHTS_0':3}"), accessors,
                  4, "joint 5 is not among the 2 of skin 0");
    check_refused(SCENE("0,1") NODES(ARM) ",'skins':[{'joints':[1,9]}]" MESH(",'JOINTS_0':2,'WEIGHTS_0':3}"), accessors,
                  4, "joint 1 of skin 0 is out of bounds");
    check_refused(SCENE("0") NODES("{'mesh':0}") MESH(",'NORMAL':4}"), accessors, 5, "are 2, for 3 vertices");
    check_refused(SCENE("0") NODES("{'mesh':4}") MESH("}"), accessors, 1, "node 0: its mesh is out of bounds");
    check_refused(SCENE("0") NODES("{'mesh':0}") MESH("},'mode':7"), accessors, 1, "which the format does not know");
    check_refused(SCENE("0") NODES("{'mesh':0}")
                      MESH("},'material':0") ",'materials':[{'pbrMetallicRoughness':{'baseColorTexture':{'index':3}}}]",
                  accessors, 1, "material 0: its index is out of bounds");
    check_refused(SCENE("0") NODES("{'mesh':0}")
                      MESH("},'material':0") ",'materials':[{'pbrMetallicRoughness':{'baseColorTexture':{'extensions':{"
                                             "'KHR_texture_transform':{"
                                             "'scale':[1]}}}}}]",
                  accessors, 1, "material 0: its KHR_texture_transform is not what");
    check_refused(SCENE("0") NODES("{'mesh':0}") ",'meshes':[{'primitives':{}}]", accessors, 1,
                  "meshes 0: its primitives is not what the format says");
}

Test(import_gltf, drops_triangles_whose_vertices_do_not_exist)
{
    const gltf_accessor accessors[] = {TRIANGLE, GLTF_SHORTS("SCALAR", 6, 0, 1, 3, 0, 1, 2)};
    th_model *model = import_body(SCENE("0") NODES("{'mesh':0}") MESH("},'indices':1"), accessors, 2);
    cr_expect_eq(model->meshes[0].index_count, 3);
    check_note(model, "1 triangle uses vertices that do not exist");
    th_model_free(model);
}
