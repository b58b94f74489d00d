/* Inside, since islands and packing show in no picture. Figures, held against the models they come from. */
#include "fixture_coarse_human.h"
#include "fixture_import.h"
#include "fixture_memory.h"
#include "fixture_nightly.h"
#include "fixture_render_mesh.h"
#include "random_model.h"
#include "render/mesh/geometry.h"

#include <anim/exact.h>
#include <anim/joint_lod.h>
#include <core/half.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(render_mesh, .fini = end_all);

static th_error err;

END_BY(th_model_destroy)

/* ---- real models ---- */

static th_render_mesh *check_whole(const th_model *model)
{
    th_render_mesh *render_mesh = create_render_mesh(model);
    check_render_mesh(model, render_mesh);
    check_same_triangles(model, render_mesh);
    if (render_mesh->vertex_count >= (is_nightly() ? 3000 : 1000)) /* each vertex against each triangle */
        return render_mesh;
    th_dmat34 *palettes = make_error_poses(model);
    for (uint32_t l = 1; l < render_mesh->lod_count; l++)
        for (uint32_t p = 0; p < ERROR_POSES; p++)
            cr_expect_leq(farthest_from_level(render_mesh, l, palettes + p * model->bone_count),
                          (double)render_mesh->lod_error[l] * 1.00001, "%s, level %u, pose %u", model->name, l, p);
    return render_mesh;
}

static th_model *make_human(void)
{
    return at_end(end_by_th_model_destroy, create_human());
}

/* Decoded once, and otherwise what it would be by itself. */
CHECK(render_mesh, of_a_joint_level_has_the_images_of_its_model)
{
    uint8_t tga[18 + 64 * 64 * 3] = {[2] = 2, [12] = 64, [14] = 64, [16] = 24};
    th_texture texture = {.name = "skin.tga", .bytes = tga, .byte_count = sizeof tga};
    th_material materials[16];
    th_model *human = create_coarse_human(), textured = *human;
    textured.appearances.count = 0; /* they would allow no texture */
    cr_assert_leq(textured.material_count, 16);
    memcpy(materials, textured.materials, textured.material_count * sizeof *materials);
    materials[0].texture = 0;
    textured.textures = &texture;
    textured.texture_count = 1;
    textured.materials = materials;
    th_joint_lod *lod;
    cr_assert_eq(th_joint_lod_create(&textured, &lod, &err), TH_OK);
    const th_model *level = lod->levels[TH_LOD_LEVELS - 1].model;
    cr_assert_neq(level, &textured);
    th_render_mesh *base = create_render_mesh(&textured), *alone = create_render_mesh(level), *shared;
    const size_t before = allocated_bytes;
    cr_assert_eq(th_render_mesh_create(level, NULL, &shared, &err), TH_OK);
    const size_t decoding = allocated_bytes - before;
    th_render_mesh_destroy(shared);
    cr_assert_eq(th_render_mesh_create(level, base, &shared, &err), TH_OK);
    cr_expect_leq(allocated_bytes - before - decoding, decoding - 4 * 64 * 64, "nothing is decoded");
    cr_assert(base->image_count == 1 && shared->image_count == 1);
    cr_expect(shared->images == base->images && shared->base == base && !base->base);
    cr_assert_eq(shared->vertex_count, alone->vertex_count);
    cr_expect_arr_eq(shared->vertices, alone->vertices, alone->vertex_count * sizeof *alone->vertices);
    cr_assert_eq(shared->material_count, alone->material_count);
    cr_expect_arr_eq(shared->materials, alone->materials, alone->material_count * sizeof *alone->materials);
    th_render_mesh_destroy(shared);
    cr_expect_eq(base->images[0].width, 64, "and they stay");
    cr_expect_str_eq(base->images[0].name, "skin.tga");
    th_joint_lod_destroy(lod);
    th_model_destroy(human);
}

CHECK(render_mesh, says_how_far_the_levels_of_the_human_are_off)
{
    th_model *human = make_human();
    if (!is_nightly())
        coarsen_human(human, 4); /* a quarter of a minute instead of a second */
    th_render_mesh *render_mesh = create_render_mesh(human);
    th_dmat34 *palettes = make_error_poses(human);
    const th_render_mesh_lod *lods = render_mesh->parts[0].lods;
    cr_assert_eq(render_mesh->lod_count, TH_RENDER_MESH_LODS);
    for (uint32_t l = 1; l < render_mesh->lod_count; l++) {
        double farthest = 0;
        for (uint32_t p = 0; p < ERROR_POSES; p++)
            farthest = fmax(farthest, farthest_from_level(render_mesh, l, palettes + p * human->bone_count));
        cr_expect_float_eq(farthest, (double)render_mesh->lod_error[l], 1e-6);
        cr_expect_leq(farthest, th_render_mesh_lod_limit(l) * human->size);
        cr_expect_geq(2 * lods[l].index_count + 60, lods[l - 1].index_count, "level %u drops too much at once", l);
    }
    cr_expect_leq(lods[TH_RENDER_MESH_LODS - 1].index_count / 3, 200);
}

/* Vertices alone do not show a triangle that spans from one leg to the other. */
CHECK(render_mesh, coarse_levels_of_the_human_stay_on_its_surface)
{
    th_model *human = make_human();
    if (!is_nightly())
        coarsen_human(human, 3);
    th_render_mesh *render_mesh = create_render_mesh(human);
    th_dmat34 *palettes = make_error_poses(human);
    for (uint32_t l = render_mesh->lod_count - 4; l < render_mesh->lod_count; l++)
        for (uint32_t p = 0; p < ERROR_POSES; p++)
            cr_expect_leq(farthest_from_mesh(render_mesh, l, palettes + p * human->bone_count),
                          1.5 * (double)render_mesh->lod_error[l], "level %u, pose %u", l, p);
}

CHECK(render_mesh, two_levels_double_the_limit)
{
    cr_expect_eq(th_render_mesh_lod_limit(0), 0);
    for (uint32_t l = 1; l + 2 < TH_RENDER_MESH_LODS; l++)
        cr_expect_float_eq(th_render_mesh_lod_limit(l + 2), 2 * th_render_mesh_lod_limit(l), 1e-12);
}

/* Scales in the skeleton, several meshes, meshes without bones, texture coordinates far from the image. */
CHECK(render_mesh, has_all_of_files)
{
    static const char *const files[] = {"BVH/Boxing_Toes.bvh",
                                        "X/Testwuson.X",
                                        "FBX/huesitos.fbx",
                                        "FBX/spider.fbx",
                                        "Collada/duck.dae",
                                        "MD5/SimpleCube.md5mesh",
                                        "B3D/WusonBlitz.b3d",
                                        "OBJ/spider.obj",
                                        "glTF2/simple_skin/simple_skin.gltf",
                                        "glTF2/BoxTextured-glTF-Binary/BoxTextured.glb",
                                        "glTF2/ClearCoat-glTF/ClearCoatTest.gltf"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        check_whole(at_end(end_by_th_model_destroy, import_good(testmodel(files[f]))));
}

/* But for images. */
static void check_equal(const th_render_mesh *a, const th_render_mesh *b)
{
    cr_assert(a->vertex_count == b->vertex_count && a->index_count == b->index_count && a->lod_count == b->lod_count);
    cr_expect_eq(memcmp(a->vertices, b->vertices, a->vertex_count * sizeof *a->vertices), 0);
    cr_expect_eq(memcmp(a->indices, b->indices, a->index_count * sizeof *a->indices), 0);
    cr_expect_eq(memcmp(a->lod_error, b->lod_error, sizeof a->lod_error), 0);
    cr_expect_eq(memcmp(a->bones, b->bones, a->bone_count * sizeof *a->bones), 0);
    cr_expect_eq(a->line_end_count, b->line_end_count);
}

/* Every time the same. */
CHECK(render_mesh, has_all_of_the_human)
{
    const th_model *human = make_human();
    check_equal(check_whole(human), create_render_mesh(human));
}

/* ---- small and odd models ---- */

static th_render_mesh *check_stick(stick *s, uint32_t mesh_count)
{
    s->model.mesh_count = mesh_count;
    return check_whole(&s->model);
}

static void hang(stick *s, int mesh, const char *name, const th_vertex *vertices, uint32_t vertex_count,
                 const uint32_t *indices, uint32_t index_count)
{
    s->meshes[mesh] = (th_mesh){.name = name,
                                .vertex_count = vertex_count,
                                .index_count = index_count,
                                .vertices = vertices,
                                .indices = indices};
}

/* One triangle, on a joint in the middle, whose corners can be changed. */
static th_vertex *hang_card(stick *s, const char *name)
{
    static const uint32_t indices[] = {0, 1, 2};
    th_vertex *corners = borrow(3 * sizeof *corners);
    for (int c = 0; c < 3; c++)
        corners[c] = stick_vertex((float)(c == 1), (float)(c == 2), 0, 10);
    hang(s, 0, name, corners, 3, indices, 3);
    s->model.mesh_count = 1;
    return corners;
}

CHECK(render_mesh, of_nothing_is_empty)
{
    stick *s = make_stick();
    s->model.material_count = 0;
    th_render_mesh *render_mesh = create_render_mesh(&s->model);
    check_render_mesh(&s->model, render_mesh);
    cr_expect(render_mesh->part_count == 0 && render_mesh->vertex_count == 0 && render_mesh->index_count == 0);
    cr_expect(!render_mesh->parts && !render_mesh->vertices && !render_mesh->indices && !render_mesh->materials &&
              !render_mesh->images);
    cr_expect_eq(render_mesh->lod_count, 1);
    cr_expect_eq(render_mesh->line_end_count, 2 * (STICK_JOINTS - 1));
    for (uint32_t b = 0; b < render_mesh->bone_count; b++)
        cr_expect_eq(render_mesh->bones[b].radius, -1);

    s->model.bone_count = 0;
    render_mesh = create_render_mesh(&s->model);
    cr_expect(!render_mesh->bones && !render_mesh->line_ends && render_mesh->line_end_count == 0);
    th_render_mesh_destroy(NULL);
}

CHECK(render_mesh, takes_one_triangle_and_leaves_out_none)
{
    stick *s = make_stick();
    th_vertex corners[] = {stick_vertex(0, 0, 0, 0), stick_vertex(1, 0, 0, 1), stick_vertex(-0.0F, 1, 0, 299)};
    const uint32_t indices[] = {0, 1, 2};
    hang(s, 0, "none", corners, 3, NULL, 0);
    hang(s, 1, "one", corners, 3, indices, 3);
    hang(s, 2, "nothing at all", NULL, 0, NULL, 0);
    s->meshes[1].material = 1;
    const th_render_mesh *render_mesh = check_stick(s, 3);
    cr_expect_eq(render_mesh->part_count, 1);
    cr_expect_eq(render_mesh->parts[0].material, 1);
    cr_expect_eq(render_mesh->materials[1].image, TH_NO_INDEX);
    cr_expect_arr_eq(render_mesh->materials[1].base_color, s->materials[1].base_color, sizeof(float[4]));
}

CHECK(render_mesh, keeps_degenerate_triangles_and_drops_unused_and_equal_vertices)
{
    stick *s = make_stick();
    th_vertex v[7];
    for (int i = 0; i < 7; i++)
        v[i] = stick_vertex((float)(i % 3), (float)(i % 2), 0, 0);
    v[6] = v[0];
    memset(v[5].normal, 0, sizeof v[5].normal);
    const uint32_t indices[] = {0, 0, 1, 1, 1, 1, 0, 1, 3, 0, 1, 6, 5, 1, 2};
    hang(s, 0, "odd", v, 7, indices, 15);
    th_render_mesh *render_mesh = check_stick(s, 1);
    cr_expect_eq(render_mesh->vertex_count, 5, "4 is in no triangle, 6 is 0 again");
}

CHECK(render_mesh, takes_any_heap_of_triangles)
{
    enum { VERTICES_OF_HEAP = 300, TRIANGLES_OF_HEAP = 500 };
    stick *s = make_stick();
    th_vertex v[VERTICES_OF_HEAP];
    uint32_t indices[3 * TRIANGLES_OF_HEAP];
    uint64_t state = 7;
    for (int round = 0; round < 100; round++) {
        int grid = 2 + round % 5;
        for (int i = 0; i < VERTICES_OF_HEAP; i++) {
            float at[3];
            for (int k = 0; k < 3; k++)
                at[k] = (float)floor(random_between(&state, 0, grid)) *
                        (float[]){3e38F / 5, 1e37F, 0.25F, 0.25F, 0.25F, 1e-30F, 1e-42F}[round % 7];
            v[i] = stick_vertex(at[0], at[1], at[2], (uint16_t)random_between(&state, 0, STICK_JOINTS));
        }
        for (int i = 0; i < 3 * TRIANGLES_OF_HEAP; i++)
            indices[i] = (uint32_t)random_between(&state, 0, VERTICES_OF_HEAP);
        for (int m = 0; m < 3; m++)
            hang(s, m, "heap", v, VERTICES_OF_HEAP, indices + 500 * m, TRIANGLES_OF_HEAP / 3 * 3);
        s->model.mesh_count = 3;
        check_whole(&s->model);
    }
}

/* ---- morph targets ---- */

enum { PAIRS = 40, TARGETS = 5 };

/* Vertices 2 i and 2 i + 1 are equal. Their deltas are too, unless i % 3 is 0; where i % 4 is 1 they have none. */
typedef struct twins {
    th_vertex vertices[2 * PAIRS];
    uint32_t indices[6 * PAIRS];
    th_morph_delta deltas[TARGETS][2 * PAIRS];
    th_morph_target targets[TARGETS];
    float sums[2 * PAIRS][TARGETS]; /* what a target adds to x */
} twins;

static void make_twins(twins *w)
{
    *w = (twins){0};
    for (uint32_t v = 0; v < 2 * PAIRS; v++) {
        const uint32_t pair = v / 2;
        w->vertices[v] = stick_vertex((float)pair, (float)(pair % 7), (float)(pair % 3), 0);
        for (uint32_t t = 0; t < TARGETS && pair % 4 != 1; t++) {
            const float x = (float)(pair % 5 + t + 1) * 0.125F + (pair % 3 == 0 ? (float)(v % 2) : 0);
            th_morph_target *target = &w->targets[t];
            if ((pair + t) % 2)
                continue;
            w->sums[v][t] = x;
            w->deltas[t][target->delta_count++] = (th_morph_delta){v, {x, -0.0F, (float)t}, {0, x / 8, 0}};
        }
    }
    for (uint32_t t = 0; t < TARGETS; t++) {
        w->targets[t].weight = 3 * t;
        w->targets[t].deltas = w->deltas[t];
    }
    for (uint32_t i = 0; i < 6 * PAIRS; i++)
        w->indices[i] = i * 7 % (2 * PAIRS);
}

CHECK(render_mesh, has_the_deltas_of_morph_targets_by_vertex)
{
    stick *s = make_stick();
    static twins w;
    th_weight weights[3 * TARGETS];
    make_twins(&w);
    for (uint32_t i = 0; i < 3 * TARGETS; i++)
        weights[i] = (th_weight){.name = ""};
    s->model.weight_count = 3 * TARGETS;
    s->model.weights = weights;
    for (int m = 0; m < 2; m++) {
        hang(s, m, "twins", w.vertices, 2 * PAIRS, w.indices, 6 * PAIRS);
        s->meshes[m].target_count = TARGETS;
        s->meshes[m].targets = w.targets;
    }
    s->model.mesh_count = 2;
    cr_assert_eq(th_model_check(&s->model, &err), TH_OK, "%s", err.text);
    th_render_mesh *mesh = create_render_mesh(&s->model);
    cr_expect_eq(mesh->weight_count, 3 * TARGETS);
    cr_expect_eq(mesh->parts[0].vertex_count, 51, "%u of 40 places, of 11 of which the twins part",
                 mesh->parts[0].vertex_count);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) { /* has the deltas of one of the twins at its place */
        const th_render_mesh_vertex *vertex = &mesh->vertices[v];
        const uint32_t pair = (uint32_t)vertex->position[0], first = vertex->deltas[0], count = vertex->deltas[1];
        bool same = false;
        cr_assert_leq(first + count, mesh->delta_count);
        for (uint32_t twin = 2 * pair; twin < 2 * pair + 2 && !same; twin++) {
            uint32_t d = 0;
            same = true;
            for (uint32_t t = 0; t < TARGETS; t++) {
                const float sum = w.sums[twin][t];
                if (sum == 0)
                    continue;
                const th_render_mesh_delta *delta = &mesh->deltas[first + d++];
                same &= d <= count && delta->weight == (float)(3 * t) && delta->position[0] == sum &&
                        delta->position[2] == (float)t && delta->normal[1] == sum / 8;
            }
            same &= d == count;
        }
        cr_expect(same, "place %u: %u deltas", pair, count);
    }
}

/* ---- vertices ---- */

/* One triangle whose corners are all the given vertex, but for the place. */
static th_render_mesh *pack_one(stick *s, th_vertex vertex)
{
    static const uint32_t indices[] = {0, 1, 2};
    th_vertex corners[3] = {vertex, vertex, vertex};
    corners[1].position[0] += 1;
    corners[2].position[1] += 1;
    hang(s, 0, "one", corners, 3, indices, 3);
    return check_stick(s, 1);
}

CHECK(render_mesh, weights_lose_as_little_as_can_be)
{
    static const struct {
        float weight[4];
        uint8_t want[4];
    } cases[] = {
        {{1, 0, 0, 0}, {255, 0, 0, 0}},
        {{0.5F, 0.5F, 0, 0}, {128, 127, 0, 0}},
        {{0.25F, 0.25F, 0.25F, 0.25F}, {64, 64, 64, 63}},
        {{0.334F, 0.333F, 0.333F, 0}, {85, 85, 85, 0}},
        {{0.998F, 0.001F, 0.0005F, 0.0005F}, {255, 0, 0, 0}},
        {{0.9F, 0.09F, 0.007F, 0.003F}, {229, 23, 2, 1}},
        {{0.5005F, 0.4999F, 0, 0}, {128, 127, 0, 0}}, /* sums to 1.0004 */
    };
    stick *s = make_stick();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        th_vertex vertex = stick_vertex(0, 0, 0, 5);
        for (uint16_t k = 0; k < 4; k++)
            vertex.bone[k] = 5 + k;
        memcpy(vertex.weight, cases[c].weight, sizeof cases[c].weight);
        th_render_mesh *render_mesh = pack_one(s, vertex);
        cr_expect_arr_eq(render_mesh->vertices[0].weight, cases[c].want, 4, "case %zu", c);
    }
}

CHECK(render_mesh, weights_of_any_kind_sum_to_255)
{
    stick *s = make_stick();
    uint64_t state = 3;
    for (int round = 0; round < 500; round++) {
        th_vertex vertex = stick_vertex(0, 0, 0, 9);
        double left = 1, most = 1;
        const uint32_t last = (uint32_t)round % TH_MAX_INFLUENCES;
        for (uint32_t k = 0; k <= last; k++) {
            most = fmin(most, left);
            double share = k == last ? left : random_between(&state, fmin(left / (last + 1 - k), most), most);
            vertex.weight[k] = (float)share;
            left = fmax(left - share, 0);
        }
        bool descending = true;
        for (uint32_t k = 1; k <= last; k++)
            descending &= vertex.weight[k] <= vertex.weight[k - 1];
        if (descending)
            pack_one(s, vertex);
    }
}

static void check_uv(stick *s, float u, float v, double near_u, double near_v)
{
    th_vertex vertex = stick_vertex(0, 0, 0, 0);
    vertex.uv[0] = u;
    vertex.uv[1] = v;
    th_render_mesh *render_mesh = pack_one(s, vertex);
    cr_expect_float_eq((double)th_half_to_float(render_mesh->vertices[0].uv[0]), near_u, 0x1p-12, "%g", (double)u);
    cr_expect_float_eq((double)th_half_to_float(render_mesh->vertices[0].uv[1]), near_v, 0x1p-12, "%g", (double)v);
}

CHECK(render_mesh, texture_coordinates_move_next_to_the_image)
{
    stick *s = make_stick();
    check_uv(s, 0.25F, 0.75F, 0.25, 0.75);
    check_uv(s, 0, 1, 0, 0);
    check_uv(s, -0.75F, 1000.25F, 0.25, 0.25);
    check_uv(s, 1e6F, -1e9F, 0, 0);
    check_uv(s, 3e38F, -3e38F, 0, 0);
}

CHECK(render_mesh, texture_coordinates_keep_to_an_image_that_does_not_repeat)
{
    stick *s = make_stick();
    s->textures[0] = (th_texture){.name = "skin", .sampler.wrap = {TH_WRAP_CLAMP, TH_WRAP_MIRROR}};
    s->model.texture_count = 1;
    s->materials[0].texture = 0;
    check_uv(s, 3.25F, 3.25F, 3.25, 1.25);
    check_uv(s, -0.25F, 2.25F, -0.25, 0.25);
}

CHECK(render_mesh, texture_coordinates_that_half_precision_spoils_are_noted)
{
    stick *s = make_stick();
    th_vertex *corners = hang_card(s, "road");
    corners[1].uv[0] = 4001.3F;
    th_render_mesh *render_mesh = create_render_mesh(&s->model);
    cr_expect_eq(render_mesh->warning_count, 0, "there is no image");

    /* A TGA of 100 x 1 pixels. */
    uint8_t tga[18 + 300] = {[2] = 2, [12] = 100, [14] = 1, [16] = 24};
    s->textures[0] = (th_texture){.name = "road.tga", .bytes = tga, .byte_count = sizeof tga};
    s->model.texture_count = 1;
    s->materials[0].texture = 0;
    render_mesh = create_render_mesh(&s->model);
    cr_assert_eq(render_mesh->image_count, 1);
    cr_expect_str_eq(render_mesh->images[0].name, "road.tga");
    cr_expect(has_warning(render_mesh, "mesh road: texture coordinates are rounded by up to 30 pixels"));

    corners[1].uv[0] = 3e38F;
    render_mesh = create_render_mesh(&s->model);
    check_render_mesh(&s->model, render_mesh);
    for (uint32_t v = 0; v < render_mesh->vertex_count; v++)
        cr_expect(isfinite(th_half_to_float(render_mesh->vertices[v].uv[0])));
}

/* ---- culling ---- */

static th_culling culling_of(stick *s)
{
    return create_render_mesh(&s->model)->parts[0].culling;
}

CHECK(render_mesh, culls_what_is_never_seen)
{
    stick *s = make_stick();
    th_vertex *corners = hang_card(s, "card");
    cr_expect_eq(culling_of(s), TH_CULL_BACK);
    s->joints[9].rest.m[0] = -1;
    cr_expect_eq(culling_of(s), TH_CULL_FRONT, "below a mirrored joint");
    s->bones[10].inverse_bind.m[5] = -1;
    cr_expect_eq(culling_of(s), TH_CULL_BACK, "mirrored twice");
    corners[2].bone[0] = 11;
    cr_expect_eq(culling_of(s), TH_CULL_NONE, "in part");
    corners[2].bone[0] = 10;
    s->materials[0].double_sided = true;
    cr_expect_eq(culling_of(s), TH_CULL_NONE);
}

CHECK(render_mesh, culls_nothing_that_a_clip_mirrors)
{
    stick *s = make_stick();
    static const double times[] = {0, 1};
    float scales[] = {1, 1, 1, 1, 1, 1};
    th_channel channel = moving_channel(3, (th_track){1, times, (float[]){0, 0, 0}, NULL, false});
    channel.scale = (th_track){2, times, scales, NULL, false};
    const th_clip clip = clip_of(&channel, 1, 1, 1);
    hang_card(s, "card");
    s->model.clips = &clip;
    s->model.clip_count = 1;
    cr_expect_eq(culling_of(s), TH_CULL_BACK);
    scales[4] = -1;
    cr_expect_eq(culling_of(s), TH_CULL_NONE);
}

CHECK(render_mesh, keeps_what_alpha_means)
{
    stick *s = make_stick();
    s->materials[1].alpha = TH_ALPHA_MASK;
    s->materials[1].alpha_cutoff = 0.25F;
    s->materials[1].emissive[2] = 2;
    th_render_mesh *render_mesh = create_render_mesh(&s->model);
    const th_render_mesh_material *material = &render_mesh->materials[1];
    cr_expect(material->alpha == TH_ALPHA_MASK && material->alpha_cutoff == 0.25F && material->emissive[2] == 2);
    cr_expect_eq(render_mesh->materials[0].alpha, TH_ALPHA_OPAQUE);
}

/* ---- levels of detail ---- */

/* A closed ball with a seam of texture coordinates down its side, cut in two meshes along the equator, on the first
 * joints of the stick. */
typedef struct ball {
    th_vertex vertices[2][2000];
    uint32_t indices[2][12000];
} ball;

static void add_ball_mesh(ball *b, int half, int rings, int sides, th_mesh *out)
{
    uint32_t vertices = 0, indices = 0;
    for (int ring = half * rings / 2; ring < (half + 1) * rings / 2; ring++)
        for (int side = 0; side < sides; side++) {
            uint32_t corner[4];
            for (int c = 0; c < 4; c++) {
                const int at = ring + c / 2, along = side + c % 2;
                const double around = 2 * M_PI * (along % sides) / sides, down = M_PI * at / rings, y = cos(down);
                const double across = at % rings == 0 ? 0 : sin(down), bone = 1 + y, upper = bone - floor(bone);
                const bool more = upper > 0.5;
                th_vertex v = stick_vertex((float)(across * cos(around)), (float)y, (float)(across * sin(around)), 0);
                memcpy(v.normal, v.position, sizeof v.normal);
                v.uv[0] = at % rings == 0 ? 0.5F : (float)along / (float)sides;
                v.uv[1] = (float)at / (float)rings;
                v.bone[0] = (uint16_t)(more ? ceil(bone) : floor(bone));
                v.bone[1] = (uint16_t)(more ? floor(bone) : ceil(bone));
                v.weight[0] = (float)(more ? upper : 1 - upper);
                v.weight[1] = 1 - v.weight[0];
                corner[c] = vertices++;
                b->vertices[half][corner[c]] = v;
            }
            const uint32_t two[6] = {corner[0], corner[1], corner[2], corner[2], corner[1], corner[3]};
            for (int i = ring == 0 ? 3 : 0; i < (ring == rings - 1 ? 3 : 6); i++)
                b->indices[half][indices++] = two[i];
        }
    *out = (th_mesh){.name = half == 0 ? "north" : "south",
                     .material = (uint32_t)half,
                     .vertex_count = vertices,
                     .index_count = indices,
                     .vertices = b->vertices[half],
                     .indices = b->indices[half]};
}

static ball *hang_ball(stick *s)
{
    ball *b = borrow(sizeof *b);
    for (int half = 0; half < 2; half++)
        add_ball_mesh(b, half, 24, 36, &s->meshes[half]);
    return b;
}

static void check_closed(stick *s, bool weights)
{
    th_render_mesh *render_mesh = check_stick(s, 2);
    cr_assert_eq(render_mesh->part_count, 2);
    cr_assert_geq(render_mesh->lod_count, 3);
    for (uint32_t l = 0; l < render_mesh->lod_count; l++)
        cr_expect_eq(count_open_edges(render_mesh, l, weights), 0, "level %u", l);
}

CHECK(render_mesh, levels_have_no_gaps_between_meshes_nor_at_seams)
{
    stick *s = make_stick();
    hang_ball(s);
    check_closed(s, true);
}

/* Facets: no two share a vertex, as their normals differ. */
CHECK(render_mesh, facets_get_levels_without_gaps)
{
    stick *s = make_stick();
    ball *b = hang_ball(s);
    for (int half = 0; half < 2; half++)
        for (uint32_t v = 0; v < s->meshes[half].vertex_count; v++)
            memcpy(b->vertices[half][v].normal, b->vertices[half][v / 4 * 4 + 1].position,
                   sizeof b->vertices[half][v].normal);
    check_closed(s, true);
    th_render_mesh *render_mesh = check_stick(s, 2);
    const th_render_mesh_lod *lods = render_mesh->parts[0].lods;
    cr_expect_lt(8 * lods[render_mesh->lod_count - 1].index_count, lods[0].index_count);
}

/* Two triangles meet at a seam, and one stands alone. */
CHECK(render_mesh, an_island_continues_across_seams)
{
    const uint32_t places[9] = {0, 1, 2, 2, 3, 4, 5, 6, 7}, indices[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    uint32_t scratch[18], sizes[9];
    th_islands_measure(places, 9, indices, 9, scratch, sizes);
    for (uint32_t v = 0; v < 9; v++)
        cr_expect_eq(sizes[v], v < 6 ? 2 : 1, "vertex %u", v);
}

/* A hinge all the way round: the halves move apart, but not before they do. The pole ties them together. */
CHECK(render_mesh, levels_have_no_gaps_at_rest_where_weights_differ)
{
    stick *s = make_stick();
    ball *b = hang_ball(s);
    for (int half = 0; half < 2; half++)
        for (uint32_t v = 0; v < s->meshes[half].vertex_count; v++) {
            th_vertex *to = &b->vertices[half][v];
            to->bone[0] = half == 0 || to->position[1] < -0.999F ? 10 : 11;
            memcpy(to->weight, (float[TH_MAX_INFLUENCES]){1}, sizeof to->weight);
        }
    check_closed(s, false);
}

/* A drum, upright: a flat top, a narrow rim that is rounded, and a side. */
enum { DRUM_SIDES = 48, DRUM_TOP = 3, DRUM_RIM = 3, DRUM_SIDE = 3, DRUM_RINGS = DRUM_TOP + DRUM_RIM + DRUM_SIDE };

typedef struct drum {
    th_vertex vertices[DRUM_RINGS * DRUM_SIDES];
    uint32_t indices[(DRUM_RINGS - 1) * DRUM_SIDES * 6];
} drum;

static th_vertex drum_vertex(int ring, int side)
{
    const float radius = 0.5F, rim = 0.02F, turn = 2 * (float)M_PI * (float)side / DRUM_SIDES;
    const float tilt = (float)M_PI / 2 * (float)(ring - DRUM_TOP + 1) / (DRUM_RIM + 1); /* of the rim's normals */
    const float lean = ring < DRUM_TOP ? 0 : ring < DRUM_TOP + DRUM_RIM ? tilt : (float)M_PI / 2;
    const float inner = ring < DRUM_TOP ? radius * (float)(ring + 1) / DRUM_TOP : radius;
    const float down = ring < DRUM_TOP + DRUM_RIM ? 0 : (float)(ring - DRUM_TOP - DRUM_RIM + 1) * 0.5F / DRUM_SIDE;
    const float away = inner + rim * sinf(lean), height = 1 - rim * (1 - cosf(lean)) - down;
    th_vertex v = stick_vertex(away * sinf(turn), height, away * cosf(turn), 0);
    memcpy(v.normal, (float[3]){sinf(lean) * sinf(turn), cosf(lean), sinf(lean) * cosf(turn)}, sizeof v.normal);
    return v;
}

CHECK(render_mesh, what_is_flat_stays_flat_where_the_rim_is_left_out)
{
    stick *s = make_stick();
    drum *d = borrow(sizeof *d);
    uint32_t count = 0;
    for (int ring = 0; ring < DRUM_RINGS; ring++)
        for (int side = 0; side < DRUM_SIDES; side++) {
            d->vertices[ring * DRUM_SIDES + side] = drum_vertex(ring, side);
            if (ring + 1 == DRUM_RINGS)
                continue;
            const uint32_t a = (uint32_t)(ring * DRUM_SIDES + side), c = a + DRUM_SIDES;
            const uint32_t b = (uint32_t)(ring * DRUM_SIDES + (side + 1) % DRUM_SIDES), e = b + DRUM_SIDES;
            memcpy(&d->indices[count], (uint32_t[6]){a, c, b, b, c, e}, 6 * sizeof *d->indices);
            count += 6;
        }
    hang(s, 0, "drum", d->vertices, DRUM_RINGS * DRUM_SIDES, d->indices, count);
    th_render_mesh *render_mesh = check_stick(s, 1);
    cr_assert_geq(render_mesh->lod_count, 3);
    for (uint32_t l = 1; render_mesh->lod_error[l] < 0.1F; l++) {
        const th_render_mesh_lod *lod = &render_mesh->parts[0].lods[l];
        double most = 0; /* angle from up of a corner's normal, where the triangle begins on the flat top */
        for (uint32_t i = 0; i < lod->index_count; i++) {
            const uint32_t *index = render_mesh->indices + lod->first_index + i / 3 * 3;
            const th_render_mesh_vertex *v = render_mesh->vertices, *corner = &v[index[i % 3]];
            double inside[3];
            for (int k = 0; k < 3; k++)
                inside[k] = 0.7 * (double)corner->position[k] +
                            0.1 * ((double)v[index[0]].position[k] + (double)v[index[1]].position[k] +
                                   (double)v[index[2]].position[k]);
            const float lowest =
                fminf(fminf(v[index[0]].position[1], v[index[1]].position[1]), v[index[2]].position[1]);
            if (hypot(inside[0], inside[2]) > 0.5 || lowest < 0.975F) /* of the sides, or no longer flat */
                continue;
            const int bits = (int)(corner->normal >> 10 & 0x3ff);
            most = fmax(most, acos(fmin((bits < 512 ? bits : bits - 1024) / 511.0, 1)));
        }
        cr_expect_lt(most, 31 * M_PI / 180, "level %u, %u triangles: %g degrees", l, lod->index_count / 3,
                     most * 180 / M_PI);
    }
}

static th_render_mesh_vertex surface_vertex(double x, double y, double z, uint32_t normal)
{
    return (th_render_mesh_vertex){.position = {(float)x, (float)y, (float)z}, .normal = normal};
}

/* A roof of two triangles, one sixteen times as large, whose ridge point has the normal of a gable that the level left
 * out. Its new normal is the mean of the two sides by their area. */
CHECK(render_mesh, new_normals_are_means_by_area)
{
    const double c = cos(M_PI / 12), s = sin(M_PI / 12);
    const float large[3] = {(float)s, (float)c, 0}, small[3] = {(float)-s, (float)c, 0};
    const float mean[3] = {(float)(15 * s), (float)(17 * c), 0}, gable[3] = {0, 0, 1};
    const uint32_t n = th_pack_normal(large), o = th_pack_normal(small);
    const th_render_mesh_vertex vertices[] = {
        surface_vertex(0, 0, 0, th_pack_normal(gable)),
        surface_vertex(0, 0, 0, n),
        surface_vertex(4 * c, -4 * s, 2, n),
        surface_vertex(4 * c, -4 * s, -2, n),
        surface_vertex(0, 0, 0, o),
        surface_vertex(-c, -s, -0.5, o),
        surface_vertex(-c, -s, 0.5, o),
    };
    const uint32_t indices[] = {1, 2, 3, 4, 5, 6, 0, 2, 3, 0, 5, 6};
    th_render_mesh_part part = {.vertex_count = 7, .lods = {{0, 6, 0}, {6, 6, 1}}};
    th_geometry g = {.parts = &part,
                     .vertices = malloc(sizeof vertices),
                     .indices = malloc(sizeof indices),
                     .part_count = 1,
                     .vertex_count = 7,
                     .index_count = 12,
                     .lod_count = 2};
    memcpy(g.vertices, vertices, sizeof vertices);
    memcpy(g.indices, indices, sizeof indices);
    cr_assert_eq(th_geometry_correct_normals(&g, NULL), TH_OK);
    cr_expect_eq(g.vertex_count, 8);
    cr_expect_arr_eq(g.indices, ((uint32_t[]){1, 2, 3, 4, 5, 6, 7, 2, 3, 7, 5, 6}), sizeof indices);
    float normal[3];
    th_unpack_normal(g.vertices[7].normal, normal);
    for (int i = 0; i < 3; i++)
        cr_expect_float_eq(normal[i], mean[i] / hypotf(mean[0], mean[1]), 0.004, "%d: %g", i, (double)normal[i]);
    free(g.vertices);
    free(g.indices);
}

/* A scale between mesh and scene, which the limit and the errors have to go by; of 2^7, so that nothing is rounded. */
CHECK(render_mesh, errors_are_in_scene_units)
{
    stick *s = make_stick();
    hang_ball(s);
    s->model.mesh_count = 2;
    th_render_mesh *small = create_render_mesh(&s->model);
    for (int i = 0; i < 3; i++)
        s->joints[0].rest.m[5 * i] = 128;
    s->model.size *= 128;
    th_render_mesh *large = create_render_mesh(&s->model);
    cr_assert_eq(small->lod_count, large->lod_count);
    cr_expect_eq(memcmp(small->vertices, large->vertices, small->vertex_count * sizeof *small->vertices), 0);
    for (uint32_t l = 1; l < small->lod_count; l++)
        cr_expect_eq(large->lod_error[l], 128 * small->lod_error[l]);
}

/* Turned about the root, some of it would lie beyond the largest float. */
CHECK(render_mesh, has_no_levels_where_numbers_end)
{
    stick *s = make_stick();
    ball *b = borrow(sizeof *b);
    add_ball_mesh(b, 0, 24, 36, &s->meshes[0]);
    for (uint32_t v = 0; v < s->meshes[0].vertex_count; v++)
        for (int i = 0; i < 3; i++)
            b->vertices[0][v].position[i] = b->vertices[0][v].position[i] * 1e37F + (i < 2 ? 2.8e38F : 0);
    s->model.size = 2e37;
    th_render_mesh *render_mesh = check_stick(s, 1);
    cr_expect_eq(render_mesh->lod_count, 1);
}

/* A straight tube with a knee: flat along its length, as it was bound. */
CHECK(render_mesh, levels_keep_the_rings_that_bend)
{
    enum { RINGS_OF_TUBE = 41, SIDES_OF_TUBE = 24 };
    stick *s = make_stick();
    static th_vertex v[RINGS_OF_TUBE * SIDES_OF_TUBE];
    static uint32_t indices[(RINGS_OF_TUBE - 1) * SIDES_OF_TUBE * 6];
    uint32_t count = 0;
    for (uint32_t i = 0; i < RINGS_OF_TUBE * SIDES_OF_TUBE; i++) {
        double around = 2 * M_PI * (i % SIDES_OF_TUBE) / SIDES_OF_TUBE, up = (double)(i / SIDES_OF_TUBE) / 20 - 1;
        double upper = fmin(fmax(0.5 + 4 * up, 0), 1);
        v[i] = stick_vertex((float)(0.2 * sin(around)), (float)up, (float)(0.2 * cos(around)), upper > 0.5);
        v[i].bone[1] = upper <= 0.5;
        v[i].weight[0] = (float)fmax(upper, 1 - upper);
        v[i].weight[1] = 1 - v[i].weight[0];
    }
    for (uint32_t i = 0; i < (RINGS_OF_TUBE - 1) * SIDES_OF_TUBE; i++) {
        const uint32_t next = i % SIDES_OF_TUBE == SIDES_OF_TUBE - 1 ? i + 1 - SIDES_OF_TUBE : i + 1;
        const uint32_t two[6] = {i, next, i + SIDES_OF_TUBE, i + SIDES_OF_TUBE, next, next + SIDES_OF_TUBE};
        for (int k = 0; k < 6; k++)
            indices[count++] = two[k];
    }
    hang(s, 0, "tube", v, RINGS_OF_TUBE * SIDES_OF_TUBE, indices, count);
    th_render_mesh *render_mesh = check_stick(s, 1);
    for (uint32_t l = 1; l < render_mesh->lod_count && 12 * render_mesh->parts[0].lods[l].index_count >= count; l++)
        cr_expect_leq(render_mesh->lod_error[l], 0.02F, "level %u", l);
    cr_expect_geq(render_mesh->lod_count, 5);
}

/* The second ball is out of reach of the first one's joints, and so small that its own size is the limit: its fifteen
 * triangles stay where the first ball has long lost most of its own. */
CHECK(render_mesh, meshes_without_a_common_bind_get_their_own_levels)
{
    stick *s = make_stick();
    ball *b = borrow(2 * sizeof *b);
    for (int m = 0; m < 2; m++) {
        add_ball_mesh(&b[m], 0, m == 0 ? 24 : 4, m == 0 ? 36 : 5, &s->meshes[m]);
        for (uint32_t v = 0; m == 1 && v < s->meshes[1].vertex_count; v++) {
            b[1].vertices[0][v].bone[0] += 200;
            b[1].vertices[0][v].bone[1] += 200;
            for (int i = 0; i < 3; i++)
                b[1].vertices[0][v].position[i] *= 0.01F;
        }
    }
    th_render_mesh *render_mesh = check_stick(s, 2);
    cr_assert_geq(render_mesh->lod_count, 3);
    const th_render_mesh_part *coarse = &render_mesh->parts[1];
    for (uint32_t l = 1; l < render_mesh->lod_count; l++) {
        const double limit = th_render_mesh_lod_limit(l) * 5 * 0.02; /* the ball is 2 cm wide */
        cr_expect_leq((double)coarse->lods[l].error, limit, "level %u", l);
        if (l < 7)
            cr_expect_eq(memcmp(&coarse->lods[l], &coarse->lods[0], sizeof *coarse->lods), 0, "level %u", l);
        cr_expect_gt(render_mesh->parts[0].lods[l].error, 0);
    }
}

/* ---- skeleton ---- */

static void scene_point(const th_dmat34 *palette, const float at[3], double out[3])
{
    th_dmat34_point(palette, (double[3]){(double)at[0], (double)at[1], (double)at[2]}, out);
}

/* So they hold, wherever their joints are, all that follows these. */
CHECK(render_mesh, spheres_of_binds_reach_their_farthest_vertex)
{
    th_model *human = make_human();
    th_render_mesh *render_mesh = create_render_mesh(human);
    double *reach = borrow(human->bone_count * sizeof *reach);
    for (uint32_t b = 0; b < human->bone_count; b++) {
        const th_dmat34 inverse_bind = th_dmat34_from(human->bones[b].inverse_bind);
        double joint[3];
        reach[b] = -1;
        scene_point(&inverse_bind, render_mesh->bones[b].center, joint);
        for (int i = 0; i < 3; i++)
            cr_expect_float_eq(joint[i], 0, 1e-6);
    }
    for (uint32_t v = 0; v < render_mesh->vertex_count; v++)
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES && render_mesh->vertices[v].weight[k] > 0; k++) {
            const uint16_t b = render_mesh->vertices[v].bone[k];
            const float *at = render_mesh->vertices[v].position, *center = render_mesh->bones[b].center;
            const double x = (double)at[0] - (double)center[0], y = (double)at[1] - (double)center[1],
                         z = (double)at[2] - (double)center[2];
            reach[b] = fmax(reach[b], sqrt(x * x + y * y + z * z));
        }
    for (uint32_t b = 0; b < human->bone_count; b++) {
        cr_expect_geq((double)render_mesh->bones[b].radius, reach[b]);
        cr_expect_float_eq((double)render_mesh->bones[b].radius, reach[b], 1e-6);
    }
}

static bool is_above(const th_model *model, uint32_t joint, uint32_t above)
{
    do
        joint = model->joints[joint].parent;
    while (joint != TH_NO_INDEX && joint != above);
    return joint == above;
}

CHECK(render_mesh, lines_follow_the_joints_from_palettes_alone)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        th_model *model = random_model(&(random_desc){.seed = seed,
                                                      .joint_count = 40,
                                                      .shape = RANDOM_TREE,
                                                      .scale = (random_scale)(seed % 4),
                                                      .clip_count = 1,
                                                      .key_count = 4,
                                                      .swing_rad = 1,
                                                      .double_bones = true});
        const th_render_mesh *render_mesh = create_render_mesh(model);
        th_dmat34 *pose = borrow(model->joint_count * sizeof *pose);
        th_dmat34 *palette = borrow(model->bone_count * sizeof *palette);
        th_exact_pose(model, model->clips, model->clips[0].duration_ticks / 3, TH_INTERPOLATION_AUTHORED, pose);
        th_exact_palette(model, pose, palette);
        for (uint32_t e = 0; e < render_mesh->line_end_count; e++) {
            const th_render_mesh_line_end *end = &render_mesh->line_ends[e];
            const uint32_t joint = model->bones[end->bone].joint;
            double at[3];
            scene_point(&palette[end->bone], end->position, at);
            for (int i = 0; i < 3; i++)
                cr_assert_float_eq(at[i], pose[joint].m[4 * i + 3], 1e-5 * model->size, "line %u", e / 2);
            cr_assert(e % 2 == 0 || is_above(model, joint, model->bones[end[-1].bone].joint));
        }
        uint32_t lines = 0; /* joints with a bone below another joint with one */
        for (uint32_t b = 0; b < model->bone_count; b++) {
            bool above = false;
            for (uint32_t other = 0; other < model->bone_count; other++)
                above |= is_above(model, model->bones[b].joint, model->bones[other].joint);
            lines += above && (b == 0 || model->bones[b].joint != model->bones[b - 1].joint);
        }
        cr_expect_eq(render_mesh->line_end_count, 2 * lines, "seed %u", (unsigned)seed);
        th_model_destroy(model);
    }
}

/* A joint that was bound with a matrix of no size has no place of its own: the line goes on to the next. */
CHECK(render_mesh, lines_pass_over_binds_without_a_place)
{
    stick *s = make_stick();
    memset(&s->bones[1].inverse_bind, 0, sizeof s->bones[1].inverse_bind);
    th_render_mesh *render_mesh = pack_one(s, stick_vertex(4, 5, 6, 1));
    cr_expect_eq(render_mesh->line_end_count, 2 * (STICK_JOINTS - 2));
    cr_expect_eq(render_mesh->line_ends[0].bone, 0);
    cr_expect_eq(render_mesh->line_ends[1].bone, 2);
    cr_expect(render_mesh->bones[1].radius >= 1 && render_mesh->bones[1].radius < 1.5F,
              "about one of the three vertices");
}

/* ---- errors ---- */

/* Of a render_mesh with levels, an image and a note. An image that there is no memory for is left out, and noted. */
CHECK(render_mesh, reports_that_memory_is_out)
{
    static uint8_t tga[18 + 3] = {[2] = 2, [12] = 1, [14] = 1, [16] = 24};
    stick *s = make_stick();
    ball *b = borrow(sizeof *b);
    for (uint32_t half = 0; half < 2; half++) {
        add_ball_mesh(b, (int)half, 12, 18, &s->meshes[half]);
        s->textures[half] = (th_texture){.name = "it", .bytes = tga, .byte_count = half == 0 ? sizeof tga : 4};
        s->materials[half].texture = half;
    }
    s->model.mesh_count = s->model.texture_count = 2;
    th_render_mesh *render_mesh, *whole = create_render_mesh(&s->model);
    cr_assert(whole->lod_count > 1 && whole->image_count == 1 && whole->warning_count == 1);
    long tried = 0;
    for (bool refused = true; refused; tried++) {
        allocations = 0;
        failing_allocation = (size_t)tried + 1;
        const th_result result = th_render_mesh_create(&s->model, NULL, &render_mesh, &err);
        refused = allocations >= failing_allocation;
        failing_allocation = 0;
        cr_assert(result == TH_OK ? render_mesh != NULL : result == TH_ERR_MEMORY && !render_mesh,
                  "after %ld allocations", tried);
        cr_assert(refused || result == TH_OK);
        if (result == TH_OK) {
            check_equal(render_mesh, whole);
            cr_expect_eq(render_mesh->warning_count + render_mesh->image_count, 2, "after %ld allocations", tried);
        }
        th_render_mesh_destroy(render_mesh);
    }
    cr_log_info("%ld allocations", tried);
    cr_expect_gt(tried, 50);
}

CHECK(render_mesh, refuses_more_triangles_than_an_index_can_count)
{
    stick *s = make_stick();
    th_vertex corner = stick_vertex(0, 0, 0, 0);
    hang(s, 0, "endless", &corner, 1, NULL, 3u << 28);
    s->meshes[1] = s->meshes[0];
    s->model.mesh_count = 2;
    th_render_mesh *render_mesh;
    err = (th_error){0};
    cr_expect_eq(th_render_mesh_create(&s->model, NULL, &render_mesh, &err), TH_ERR_LIMIT);
    cr_expect_null(render_mesh);
    cr_expect_str_eq(err.text, "stick: 536870912 triangles, the limit is 357913941");
}

Test(render_mesh, checks)
{
    run_checks("render_mesh");
}
