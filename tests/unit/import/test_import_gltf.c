/* glTF that is compressed or too deep, and parts of transforms. What is read of small files is for
 * test_import_models.c. */
#include "fixture_folder.h"
#include "fixture_gltf.h"
#include "fixture_import.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(import_gltf, .init = make_folder, .fini = remove_folder);

static void check_position(const th_model *model, uint32_t vertex, float x, float y, float z)
{
    const float *p = model->meshes[0].vertices[vertex].position;
    cr_expect(fabsf(p[0] - x) < 1e-6f && fabsf(p[1] - y) < 1e-6f && fabsf(p[2] - z) < 1e-6f, "%g %g %g", (double)p[0],
              (double)p[1], (double)p[2]);
}

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
    th_model_destroy(model);
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
    th_model_destroy(model);
}

Test(import_gltf, refuses_trees_that_are_too_deep)
{
    enum { DEPTH = 5000 };
    char *body = malloc(64 * DEPTH), *end = body;
    end = stpcpy(end, "'scene':0,'scenes':[{'nodes':[0]}],'nodes':[");
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

/* Also those that no matrix has. */
Test(import_gltf, keeps_the_parts_of_transforms_as_nodes_state_them)
{
    snprintf(path, sizeof path, "%s/made.gltf", folder);
    gltf_write(path,
               "'scene':0,'scenes':[{'nodes':[0]}],'nodes':[{'children':[1,2]},"
               "{'translation':[1,2,3],'rotation':[0,0,0.6,0.8],'scale':[0,2,-1]},"
               "{'matrix':[0,1,0,0,-1,0,0,0,0,0,1,0,0,0,0,1]}],"
               "'animations':[{'channels':[],'samplers':[]}]",
               NULL, 0);
    th_model *model = import_good(path);
    const th_trs *parts = model->joints[1].rest_parts, wanted = {{1, 2, 3}, {0, 0, 0.6, 0.8}, {0, 2, -1}};
    cr_assert_not_null(parts);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(parts->translation[i], wanted.translation[i]);
        cr_expect_eq(parts->scale[i], wanted.scale[i]);
    }
    for (int i = 0; i < 4; i++)
        cr_expect_float_eq(parts->rotation[i], wanted.rotation[i], 1e-7);
    cr_expect_eq(model->joints[0].rest_parts->scale[0], 1);
    cr_expect_null(model->joints[2].rest_parts, "a matrix");
    th_model_destroy(model);
}
