/* Exported files by their bytes, against the letter of glTF, and the folder when writing fails. What the importer makes
 * of them: test_export_trip.c. */
#include "fixture_arm.h"
#include "fixture_folder.h"
#include "fixture_glb.h"

#include <throng/anim/exact.h>
#include <throng/anim/export.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- structure ---- */

TestSuite(export, .init = make_folder, .fini = remove_folder);

static void export_to_path(const th_model *model)
{
    th_error err;
    cr_assert_eq(th_export_glb(model, path, &err), TH_OK, "%s", err.text);
    cr_assert_eq(count_files(), 1);
}

static glb export_arm(arm *a)
{
    export_to_path(&a->model);
    glb g = read_glb(path);
    check_structure(&g);
    return g;
}

Test(export, writes_what_the_format_asks_for)
{
    arm *a = make_arm();
    glb g = export_arm(a);
    cr_expect_eq(items(&g, "meshes"), 2);
    cr_expect_eq(items(&g, "skins"), 2);
    cr_expect_eq(items(&g, "materials"), 2);
    cr_expect_eq(items(&g, "animations"), 4);
    free_glb(&g);
    free(a);
}

Test(export, puts_joints_first_and_mesh_nodes_behind_them)
{
    arm *a = make_arm();
    glb g = export_arm(a);
    cr_assert_eq(items(&g, "nodes"), JOINTS + 2);
    for (size_t j = 0; j < JOINTS; j++)
        cr_expect_str_eq(text(item(&g, "nodes", j), "name"), a->joints[j].name);
    cr_expect_str_eq(text(item(&g, "nodes", JOINTS), "name"), "skin");
    cr_expect_str_eq(text(item(&g, "nodes", JOINTS + 1), "name"), "sleeve-node", "a joint has the mesh's name");
    cr_expect_str_eq(text(item(&g, "meshes", 1), "name"), "sleeve");
    cr_expect_eq(json_array_size(json_object_get(item(&g, "scenes", 0), "nodes")), 3);
    free_glb(&g);
    free(a);
}

Test(export, leaves_identity_parts_out)
{
    arm *a = make_arm();
    glb g = export_arm(a);
    const json_t *base = item(&g, "nodes", BASE), *upper = item(&g, "nodes", UPPER), *hand = item(&g, "nodes", HAND);
    cr_expect(!json_object_get(base, "translation") && !json_object_get(base, "rotation"));
    cr_expect(json_object_get(upper, "rotation") && !json_object_get(upper, "scale"));
    cr_expect(json_object_get(hand, "scale") && !json_object_get(hand, "matrix"));
    free_glb(&g);
    free(a);
}

Test(export, gives_several_trees_a_common_root)
{
    arm *a = make_arm();
    a->joints[PROP].parent = TH_NO_INDEX;
    glb g = export_arm(a);
    const json_t *root = item(&g, "nodes", JOINTS);
    cr_expect_str_eq(text(root, "name"), "root");
    cr_expect_eq(json_array_size(json_object_get(root, "children")), 2);
    cr_expect_eq(json_integer_value(json_array_get(json_object_get(item(&g, "scenes", 0), "nodes"), 0)), JOINTS);
    free_glb(&g);
    free(a);
}

Test(export, makes_weights_sum_to_one_and_joints_differ)
{
    arm *a = make_arm();
    a->vertices[0][0] = (th_vertex){.bone = {2, 0, 2, 3}, .weight = {0.4f, 0.3f, 0.2996f, 0}};
    glb g = export_arm(a);
    size_t joints = attribute(&g, 0, "JOINTS_0"), weights = attribute(&g, 0, "WEIGHTS_0");
    for (size_t v = 0; v < VERTICES; v++) {
        double sum = 0;
        for (size_t k = 0; k < 4; k++) {
            double weight = number(&g, weights, v, k);
            sum += weight;
            cr_expect(weight > 0 || number(&g, joints, v, k) == 0);
        }
        cr_expect_float_eq(sum, 1, 1e-7);
    }
    cr_expect_eq(number(&g, joints, 0, 0), 1);
    cr_expect_eq(number(&g, joints, 0, 1), 0);
    cr_expect_float_eq(number(&g, weights, 0, 0), 0.6996 / 0.9996, 1e-6);
    cr_expect_float_eq(number(&g, weights, 0, 1), 0.3 / 0.9996, 1e-6);
    cr_expect_eq(number(&g, weights, 0, 2), 0);
    free_glb(&g);
    free(a);
}

Test(export, makes_normals_unit_length)
{
    arm *a = make_arm();
    memset(a->vertices[1][3].normal, 0, sizeof a->vertices[1][3].normal);
    glb g = export_arm(a);
    for (size_t m = 0; m < 2; m++)
        for (size_t v = 0; v < VERTICES; v++) {
            size_t normals = attribute(&g, m, "NORMAL");
            double x = number(&g, normals, v, 0), y = number(&g, normals, v, 1), z = number(&g, normals, v, 2);
            cr_expect_float_eq(x * x + y * y + z * z, 1, 1e-6);
        }
    free_glb(&g);
    free(a);
}

Test(export, writes_inverse_binds_by_columns)
{
    arm *a = make_arm();
    glb g = export_arm(a);
    const json_t *skin = item(&g, "skins", 0);
    size_t matrices = integer(skin, "inverseBindMatrices");
    const float *m = a->bones[2].inverse_bind.m; /* second of the first mesh's skin */
    cr_expect_eq(json_integer_value(json_array_get(json_object_get(skin, "joints"), 1)), LOWER);
    for (size_t row = 0; row < 3; row++)
        for (size_t col = 0; col < 4; col++)
            cr_expect_eq(number(&g, matrices, 1, 4 * col + row), m[4 * row + col]);
    for (size_t col = 0; col < 4; col++)
        cr_expect_eq(number(&g, matrices, 1, 4 * col + 3), col == 3);
    free_glb(&g);
    free(a);
}

Test(export, shares_a_skin_between_meshes_with_the_same_binds)
{
    arm *a = make_arm();
    memcpy(a->vertices[1], a->vertices[0], sizeof a->vertices[0]);
    glb g = export_arm(a);
    cr_expect_eq(items(&g, "skins"), 1);
    cr_expect_eq(integer(item(&g, "nodes", JOINTS + 1), "skin"), 0);
    free_glb(&g);
    free(a);
}

Test(export, leaves_out_images_that_gltf_does_not_know)
{
    arm *a = make_arm();
    glb g = export_arm(a);
    cr_assert_eq(items(&g, "images"), 1);
    cr_expect_str_eq(text(item(&g, "images", 0), "mimeType"), "image/png");
    const json_t *skin = json_object_get(item(&g, "materials", 0), "pbrMetallicRoughness"),
                 *cloth = json_object_get(item(&g, "materials", 1), "pbrMetallicRoughness");
    cr_expect(json_object_get(skin, "baseColorTexture") && !json_object_get(cloth, "baseColorTexture"));
    cr_expect_eq(json_real_value(json_array_get(json_object_get(skin, "baseColorFactor"), 2)), 1, "not clamped");
    const json_t *view = item(&g, "bufferViews", integer(item(&g, "images", 0), "bufferView"));
    cr_expect_eq(integer(view, "byteLength"), sizeof arm_png);
    cr_expect_arr_eq(g.bin + integer(view, "byteOffset"), arm_png, sizeof arm_png);
    free_glb(&g);
    free(a);
}

Test(export, says_what_alpha_means)
{
    arm *a = make_arm();
    a->materials[0].alpha = TH_ALPHA_MASK;
    a->materials[0].alpha_cutoff = 0.25F;
    a->materials[0].double_sided = true;
    a->materials[1].alpha = TH_ALPHA_BLEND;
    memcpy(a->materials[1].emissive, (float[]){0, 0.5F, 3}, sizeof a->materials[1].emissive);
    glb g = export_arm(a);
    const json_t *mask = item(&g, "materials", 0), *blend = item(&g, "materials", 1);
    cr_expect_str_eq(text(mask, "alphaMode"), "MASK");
    cr_expect_eq(json_real_value(json_object_get(mask, "alphaCutoff")), 0.25);
    cr_expect(json_is_true(json_object_get(mask, "doubleSided")) && !json_object_get(mask, "emissiveFactor"));
    cr_expect_str_eq(text(blend, "alphaMode"), "BLEND");
    cr_expect(!json_object_get(blend, "alphaCutoff") && !json_object_get(blend, "doubleSided"));
    const json_t *light = json_object_get(blend, "emissiveFactor");
    cr_expect_eq(json_number_value(json_array_get(light, 1)), 0.5);
    cr_expect_eq(json_number_value(json_array_get(light, 2)), 1, "not clamped");
    free_glb(&g);
    free(a);
}

Test(export, leaves_out_what_is_not_there)
{
    arm *a = make_arm();
    th_model bare = {.name = "", .joints = a->joints, .joint_count = JOINTS, .size = 1};
    export_to_path(&bare);
    glb g = read_glb(path);
    cr_expect_null(g.bin);
    const char *lists[] = {"buffers", "bufferViews", "accessors", "meshes",
                           "skins",   "animations",  "materials", "images"};
    for (size_t i = 0; i < COUNT(lists); i++)
        cr_expect_null(json_object_get(g.json, lists[i]), "%s", lists[i]);
    free_glb(&g);
    free(a);
}

Test(export, leaves_out_meshes_without_triangles)
{
    arm *a = make_arm();
    a->meshes[0].index_count = 0;
    memcpy(a->vertices[1], a->vertices[0], sizeof a->vertices[0]); /* a skin to share, if the first had one */
    glb g = export_arm(a);
    cr_assert_eq(items(&g, "meshes"), 1);
    cr_expect_eq(items(&g, "skins"), 1);
    cr_expect_eq(items(&g, "nodes"), JOINTS + 1);
    cr_expect_eq(integer(item(&g, "nodes", JOINTS), "mesh"), 0);
    free_glb(&g);
    free(a);
}

Test(export, reads_names_that_are_not_utf8_as_latin1)
{
    arm *a = make_arm();
    a->joints[HAND].name = "M\xe4rz";
    glb g = export_arm(a);
    cr_expect_str_eq(text(item(&g, "nodes", HAND), "name"), "M\xc3\xa4rz");
    free_glb(&g);
    free(a);
}

Test(export, writes_colours_as_fractions_of_255)
{
    arm *a = make_arm();
    glb g = export_arm(a);
    size_t colors = attribute(&g, 0, "COLOR_0");
    cr_expect(json_is_true(json_object_get(item(&g, "accessors", colors), "normalized")));
    for (size_t v = 0; v < VERTICES; v++)
        for (size_t i = 0; i < 4; i++)
            cr_expect_eq(number(&g, colors, v, i), a->vertices[0][v].color[i]);
    free_glb(&g);
    free(a);
}

Test(export, uses_wider_integers_where_they_are_needed)
{
    enum { MANY = 300, WIDE = 70000 };
    th_joint *joints = calloc(MANY, sizeof *joints);
    th_bone *bones = calloc(MANY, sizeof *bones);
    th_vertex *vertices = calloc(WIDE, sizeof *vertices);
    uint32_t *indices = calloc(WIDE - 1, sizeof *indices);
    for (uint32_t j = 0; j < MANY; j++) {
        joints[j] = (th_joint){"j", j ? j - 1 : TH_NO_INDEX, TH_MAT34_IDENTITY};
        bones[j] = (th_bone){j, TH_MAT34_IDENTITY};
    }
    for (uint32_t v = 0; v < WIDE; v++)
        vertices[v] = (th_vertex){.position = {(float)v}, .bone = {(uint16_t)(v % MANY)}, .weight = {1}};
    for (uint32_t i = 0; i < WIDE - 1; i++)
        indices[i] = i + 1;
    th_mesh mesh = {.name = "wide",
                    .material = 0,
                    .vertex_count = WIDE,
                    .index_count = WIDE - 1,
                    .vertices = vertices,
                    .indices = indices};
    th_material material = {.name = "plain", .base_color = {1, 1, 1, 1}, .texture = TH_NO_INDEX};
    th_model model = {.name = "wide",
                      .joint_count = MANY,
                      .joints = joints,
                      .bone_count = MANY,
                      .bones = bones,
                      .mesh_count = 1,
                      .meshes = &mesh,
                      .material_count = 1,
                      .materials = &material,
                      .size = WIDE};
    cr_assert_eq(th_model_check(&model, NULL), TH_OK);
    export_to_path(&model);
    glb g = read_glb(path);
    check_structure(&g);
    size_t joint = attribute(&g, 0, "JOINTS_0"),
           index = integer(json_array_get(json_object_get(item(&g, "meshes", 0), "primitives"), 0), "indices");
    cr_expect_eq(number(&g, joint, 299, 0), 299);
    cr_expect_eq(number(&g, index, WIDE - 2, 0), WIDE - 1);
    free_glb(&g);
    free(indices);
    free(vertices);
    free(bones);
    free(joints);
}

/* ---- clips ---- */

/* Accessors of the keys of one joint's property, or false when the clip leaves it out. */
static bool find_keys(const glb *g, size_t clip, size_t joint, const char *property, size_t *input, size_t *output)
{
    const json_t *animation = item(g, "animations", clip), *channels = json_object_get(animation, "channels");
    for (size_t c = 0; c < json_array_size(channels); c++) {
        const json_t *channel = json_array_get(channels, c), *target = json_object_get(channel, "target");
        if (integer(target, "node") != joint || strcmp(text(target, "path"), property) != 0)
            continue;
        const json_t *sampler = json_array_get(json_object_get(animation, "samplers"), integer(channel, "sampler"));
        *input = integer(sampler, "input");
        *output = integer(sampler, "output");
        return true;
    }
    return false;
}

static void check_times(const glb *g, size_t accessor, size_t count, const double *times)
{
    cr_assert_eq(integer(item(g, "accessors", accessor), "count"), count);
    for (size_t k = 0; k < count; k++)
        cr_expect_float_eq(number(g, accessor, k, 0), times[k], 1e-7);
}

Test(export, cuts_keys_outside_the_clip_without_changing_the_motion)
{
    arm *a = make_arm();
    glb g = export_arm(a);
    size_t input, output;
    cr_assert(find_keys(&g, CUT, LOWER, "scale", &input, &output));
    check_times(&g, input, 3, (double[]){0, 0.5, 1});
    for (size_t k = 0; k < 3; k++) {
        th_trs exact;
        th_exact_channel(&a->channels[1], 12 * (double)k, TH_INTERPOLATION_AUTHORED, &exact);
        for (size_t i = 0; i < 3; i++)
            cr_expect_float_eq(number(&g, output, k, i), exact.scale[i], 1e-6);
    }
    free_glb(&g);
    free(a);
}

Test(export, cuts_a_track_that_only_crosses_the_clip)
{
    arm *a = make_arm();
    a->times[EARLY][1] = 36;
    glb g = export_arm(a);
    size_t input, output;
    cr_assert(find_keys(&g, CUT, UPPER, "rotation", &input, &output));
    check_times(&g, input, 2, (double[]){0, 1});
    cr_assert(find_keys(&g, POSE, UPPER, "rotation", &input, &output));
    check_times(&g, input, 1, (double[]){0});
    free_glb(&g);
    free(a);
}

Test(export, keeps_one_key_of_a_track_outside_the_clip)
{
    arm *a = make_arm();
    memcpy(a->times[WHOLE], (double[]){30, 50}, 2 * sizeof(double));
    memcpy(a->times[EARLY], (double[]){-30, -20, -10}, 3 * sizeof(double));
    glb g = export_arm(a);
    size_t input, output;
    cr_assert(find_keys(&g, CUT, LOWER, "translation", &input, &output));
    check_times(&g, input, 1, (double[]){1});
    cr_expect_eq(number(&g, output, 0, 2), a->moving[2], "the first key holds before it");
    cr_assert(find_keys(&g, CUT, LOWER, "scale", &input, &output));
    check_times(&g, input, 1, (double[]){0});
    cr_expect_eq(number(&g, output, 0, 2), a->moving[8], "the last key holds behind it");
    free_glb(&g);
    free(a);
}

Test(export, leaves_out_properties_that_stay_at_rest)
{
    arm *a = make_arm();
    glb g = export_arm(a);
    size_t input, output;
    cr_expect(!find_keys(&g, CUT, UPPER, "translation", &input, &output));
    cr_expect(!find_keys(&g, CUT, UPPER, "scale", &input, &output));
    cr_expect(find_keys(&g, POSE, PROP, "rotation", &input, &output), "the joint rests otherwise");
    free_glb(&g);
    free(a);
}

Test(export, holds_the_last_key_until_the_clip_ends)
{
    arm *a = make_arm();
    glb g = export_arm(a);
    size_t input, output;
    cr_assert(find_keys(&g, LONGER, LOWER, "translation", &input, &output));
    check_times(&g, input, 3, (double[]){0, 1, 2.5});
    for (size_t i = 0; i < 3; i++)
        cr_expect_eq(number(&g, output, 2, i), number(&g, output, 1, i));
    /* A clip in which nothing moves lasts as well. */
    cr_assert(find_keys(&g, STILL, BASE, "translation", &input, &output));
    check_times(&g, input, 2, (double[]){0, 1.25});
    free_glb(&g);
    free(a);
}

Test(export, holds_the_last_key_of_a_spline_until_the_clip_ends)
{
    static const float tangents[12];
    arm *a = make_arm();
    a->channels[1].translation.tangents = tangents;
    glb g = export_arm(a);
    size_t input, output;
    cr_assert(find_keys(&g, LONGER, LOWER, "translation", &input, &output));
    check_times(&g, input, 3, (double[]){0, 1, 2.5});
    for (size_t i = 0; i < 3; i++) /* in-tangent, value, out-tangent of each key */
        cr_expect_eq(number(&g, output, 7, i), a->moving[3 + i]);
    free_glb(&g);
    free(a);
}

/* The times in a file of a track's two keys, as it is in a clip that lasts 1000 s. */
static void check_written_times(const double ticks[2], double first_s, double second_s)
{
    arm *a = make_arm();
    a->clips[LONGER].duration_ticks = 24e3;
    memcpy(a->times[WHOLE], ticks, 2 * sizeof(double));
    glb g = export_arm(a);
    size_t input, output;
    cr_assert(find_keys(&g, LONGER, LOWER, "translation", &input, &output));
    cr_expect_eq(number(&g, input, 0, 0), first_s);
    cr_expect_eq(number(&g, input, 1, 0), second_s);
    free_glb(&g);
    free(a);
}

Test(export, keeps_times_ascending_that_floats_cannot_tell_apart)
{
    check_written_times((const double[]){24e3 - 1e-6, 24e3}, (double)nextafterf(1000, 0), 1000);
    check_written_times((const double[]){nextafter(12e3, 0), 12e3}, (double)nextafterf(500, 0), 500);
    check_written_times((const double[]){0, 1e-60}, 0, (double)nextafterf(0, 1));
}

/* ---- what cannot be written ---- */

static void check_refused(const th_model *model, const char *named)
{
    th_error err = {0};
    cr_expect_eq(th_export_glb(model, path, &err), TH_ERR_INPUT);
    cr_expect(strstr(err.text, named), "\"%s\" does not name %s", err.text, named);
    cr_expect(strstr(err.text, path) && strstr(err.text, "arm: "), "\"%s\" does not name both files", err.text);
    cr_expect_eq(count_files(), 0);
}

Test(export, refuses_shear_and_names_the_joint)
{
    arm *a = make_arm();
    a->joints[LOWER].rest.m[1] += 0.01f;
    check_refused(&a->model, "joint lower");
    free(a);
}

Test(export, refuses_a_mesh_bound_to_a_joint_in_two_ways)
{
    arm *a = make_arm();
    a->vertices[1][0].bone[0] = 0;
    check_refused(&a->model, "mesh sleeve is bound to joint upper");
    free(a);
}

/* ---- failures of the machine ---- */

static int allocations_left;

static void *scarce_malloc(size_t size)
{
    return allocations_left-- > 0 ? malloc(size) : NULL;
}

Test(export, reports_any_failed_allocation_of_the_document)
{
    arm *a = make_arm();
    int count = 0;
    th_result result;
    json_set_alloc_funcs(scarce_malloc, free);
    do {
        th_error err = {0};
        allocations_left = count++;
        result = th_export_glb(&a->model, path, &err);
        cr_assert(result == TH_OK || err.code == TH_ERR_MEMORY, "allocation %d: %s", count, err.text);
        cr_assert_eq(count_files(), result == TH_OK);
    } while (result != TH_OK);
    json_set_alloc_funcs(malloc, free);
    cr_expect_gt(count, 1000);
    glb g = read_glb(path);
    check_structure(&g);
    free_glb(&g);
    free(a);
}

static void write_text(const char *content)
{
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(content, file) >= 0 && fclose(file) == 0);
}

static void check_unwritable(const char *where, const char *reason)
{
    arm *a = make_arm();
    th_error err = {0};
    cr_expect_eq(th_export_glb(&a->model, where, &err), TH_ERR_INPUT);
    cr_expect_eq(err.code, TH_ERR_INPUT);
    cr_expect(strstr(err.text, where) && strstr(err.text, reason), "\"%s\" lacks %s or %s", err.text, where, reason);
    free(a);
}

Test(export, replaces_a_file)
{
    write_text("old");
    arm *a = make_arm();
    glb g = export_arm(a);
    free_glb(&g);
    free(a);
}

Test(export, leaves_the_temporary_file_of_another_alone)
{
    char other[sizeof path + 32];
    snprintf(other, sizeof other, "%s/throng.%ld-0.tmp", folder, (long)getpid());
    cr_assert_eq(mkdir(other, 0777), 0);
    arm *a = make_arm();
    th_error err = {0};
    cr_expect_eq(th_export_glb(&a->model, path, &err), TH_OK, "%s", err.text);
    cr_expect_eq(count_files(), 2);
    cr_expect_eq(rmdir(other), 0);
    free(a);
}

Test(export, leaves_permissions_to_the_umask)
{
    arm *a = make_arm();
    umask(027);
    export_to_path(&a->model);
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0640);
    free(a);
}

Test(export, fails_in_a_folder_that_is_not_there)
{
    char nowhere[sizeof path + 16];
    snprintf(nowhere, sizeof nowhere, "%s/none/model.glb", folder);
    check_unwritable(nowhere, strerror(ENOENT));
    cr_expect_eq(count_files(), 0);
}

Test(export, fails_in_a_folder_it_may_not_write)
{
    const uid_t user = geteuid(), nobody = 65534;
    cr_assert_eq(chmod(folder, 0555), 0);
    if (user == 0) /* who may write everywhere */
        cr_assert_eq(seteuid(nobody), 0);
    check_unwritable(path, strerror(EACCES));
    cr_assert_eq(seteuid(user), 0);
    cr_expect_eq(count_files(), 0);
    chmod(folder, 0700);
}

Test(export, fails_when_the_path_is_a_folder)
{
    cr_assert_eq(mkdir(path, 0777), 0);
    check_unwritable(path, strerror(EISDIR));
    cr_expect_eq(count_files(), 1);
}

Test(export, leaves_the_old_file_alone_when_the_disk_is_full)
{
    write_text("old");
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, tight;
    getrlimit(RLIMIT_FSIZE, &before);
    tight = (struct rlimit){4096, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    check_unwritable(path, strerror(EFBIG));
    setrlimit(RLIMIT_FSIZE, &before);

    cr_expect_eq(count_files(), 1);
    char content[8] = {0};
    FILE *file = fopen(path, "r");
    cr_assert(file && fgets(content, sizeof content, file));
    fclose(file);
    cr_expect_str_eq(content, "old");
}
