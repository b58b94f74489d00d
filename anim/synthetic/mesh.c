/* A prism for every joint: tapered, pointed at both ends, so that neighbours overlap where they bend. */
#include "parts.h"

#include <throng/anim/exact.h>

#include <assert.h>
#include <stdlib.h>

#define SIDES    6
#define RINGS    2
#define VERTICES (RINGS * SIDES + 2) /* the rings, then the points below and above */
#define INDICES  (3 * 4 * SIDES)

typedef struct rgb {
    double r, g, b;
} rgb;

/* Linear colours, from bark to leaf. Every second joint is slightly darker, so that joints are visible. */
static void paint(const th_synthetic_bone *bone, uint32_t index, double depth, uint8_t color[4])
{
    static const rgb root = {96, 42, 22}, tip = {86, 148, 40};
    const double at = depth > 1 ? bone->level / (depth - 1) : 0, light = index % 2 ? 0.7 : 1;
    color[0] = (uint8_t)(light * (root.r + at * (tip.r - root.r)));
    color[1] = (uint8_t)(light * (root.g + at * (tip.g - root.g)));
    color[2] = (uint8_t)(light * (root.b + at * (tip.b - root.b)));
    color[3] = 255;
}

static void place(th_vertex *vertex, const th_dmat34 *from_joint, const double position[3], const double normal[3])
{
    double p[3];
    th_dmat34_point(from_joint, position, p);
    for (int row = 0; row < 3; row++) {
        const double *m = from_joint->m + 4 * row;
        vertex->position[row] = (float)p[row];
        vertex->normal[row] = (float)(m[0] * normal[0] + m[1] * normal[1] + m[2] * normal[2]);
    }
}

static void add_vertices(const th_synthetic_bone *bone, const th_dmat34 *from_joint, th_vertex *vertices)
{
    const double radii[RINGS] = {bone->radius, bone->tip_radius}, heights[RINGS] = {0, bone->length};
    for (uint32_t ring = 0; ring < RINGS; ring++)
        for (uint32_t side = 0; side < SIDES; side++) {
            const double turns = (double)side / SIDES, out[3] = {sin_turns(turns), 0, cos_turns(turns)};
            const double at[3] = {radii[ring] * out[0], heights[ring], radii[ring] * out[2]};
            place(&vertices[ring * SIDES + side], from_joint, at, out);
        }
    const double below[3] = {0, -radii[0] / 2, 0}, above[3] = {0, heights[1] + radii[1] / 2, 0};
    place(&vertices[RINGS * SIDES], from_joint, below, (double[3]){0, -1, 0});
    place(&vertices[RINGS * SIDES + 1], from_joint, above, (double[3]){0, 1, 0});
}

static void add_triangles(uint32_t first, uint32_t *indices)
{
    const uint32_t below = first + RINGS * SIDES, above = below + 1;
    for (uint32_t side = 0; side < SIDES; side++) {
        const uint32_t a = first + side, b = first + (side + 1) % SIDES, c = a + SIDES, d = b + SIDES;
        const uint32_t triangles[INDICES / SIDES] = {below, b, a, a, b, c, b, d, c, c, d, above};
        for (uint32_t i = 0; i < INDICES / SIDES; i++)
            *indices++ = triangles[i];
    }
}

static uint32_t levels(const th_synthetic_bone *bones, uint32_t count)
{
    uint32_t deepest = 0;
    for (uint32_t j = 0; j < count; j++)
        deepest = bones[j].level > deepest ? bones[j].level : deepest;
    return deepest + 1;
}

bool th_synthetic_add_mesh(th_model *model, const th_synthetic_bone *bones)
{
    assert(model && model->joint_count > 0 && !model->meshes && bones);
    const uint32_t count = model->joint_count, depth = levels(bones, count);
    th_material *material = th_arena_new(model->arena, th_material, 1);
    th_mesh *mesh = th_arena_new(model->arena, th_mesh, 1);
    th_vertex *vertices = th_arena_new(model->arena, th_vertex, (size_t)count * VERTICES);
    uint32_t *indices = th_arena_new(model->arena, uint32_t, (size_t)count * INDICES);
    th_dmat34 *pose = calloc(count, sizeof *pose);
    if (!material || !mesh || !vertices || !indices || !pose) {
        free(pose);
        return false;
    }
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    for (uint32_t j = 0; j < count; j++) {
        th_vertex *own = vertices + (size_t)j * VERTICES;
        add_vertices(&bones[j], &pose[j], own);
        add_triangles(j * VERTICES, indices + (size_t)j * INDICES);
        for (uint32_t v = 0; v < VERTICES; v++) {
            paint(&bones[j], j, depth, own[v].color);
            own[v].bone[0] = (uint16_t)j;
            own[v].weight[0] = 1;
        }
    }
    free(pose);
    /* White: the colours are in the vertices. */
    *material = (th_material){.name = TH_SYNTHETIC_NAME, .base_color = {1, 1, 1, 1}, .texture = TH_NO_INDEX};
    *mesh = (th_mesh){.name = TH_SYNTHETIC_NAME,
                      .vertex_count = count * VERTICES,
                      .index_count = count * INDICES,
                      .vertices = vertices,
                      .indices = indices};
    model->materials = material;
    model->material_count = 1;
    model->meshes = mesh;
    model->mesh_count = 1;
    return true;
}
