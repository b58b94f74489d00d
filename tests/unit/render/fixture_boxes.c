#include "fixture_boxes.h"

#include "fixture_end.h"
#include "random_model.h"

#include <string.h>

enum { SIDES = 6, CORNERS = 4, TRIANGLE_CORNERS = 6 };

#define HALF 0.25F

static void fill_side(th_render_mesh_vertex *out, int axis, int sign, uint32_t bone)
{
    for (int corner = 0; corner < CORNERS; corner++) {
        const float u = corner & 1 ? HALF : -HALF, v = corner & 2 ? HALF : -HALF;
        th_render_mesh_vertex *x = &out[corner];
        memset(x, 0, sizeof *x);
        x->position[axis] = HALF * (float)sign;
        x->position[(axis + 1) % 3] = u * (float)sign;
        x->position[(axis + 2) % 3] = v;
        x->normal = (uint32_t)(sign * 511 & 1023) << 10 * axis;
        x->uv[0] = corner & 1 ? 0x3C00 : 0; /* 1 */
        x->uv[1] = corner & 2 ? 0x3C00 : 0;
        memset(x->color, 255, 4);
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
            x->bone[k] = (uint16_t)bone;
        x->weight[0] = 255;
    }
}

th_render_mesh *boxes_create(uint32_t count)
{
    static const th_render_mesh_material materials[] = {{.base_color = {0.8F, 0.7F, 0.5F, 1}, .image = TH_NO_INDEX},
                                                        {.base_color = {1, 1, 1, 1}, .image = 0}};
    static const uint8_t pixels[] = {255, 255, 255, 255, 200, 60, 40, 255, 40, 120, 60, 255, 255, 200, 120, 255};
    static const th_render_mesh_image image = {.width = 2, .height = 2, .rgba = pixels, .name = "box.png"};
    static const uint32_t corners[TRIANGLE_CORNERS] = {0, 1, 2, 2, 1, 3};
    const uint32_t counts[2] = {count - count / 2, count / 2};
    th_render_mesh_vertex *vertices = borrow((size_t)count * SIDES * CORNERS * sizeof *vertices);
    uint32_t *indices = borrow((size_t)count * SIDES * TRIANGLE_CORNERS * sizeof *indices);
    th_render_mesh_part *parts = borrow(2 * sizeof *parts);
    th_render_mesh_bone *bones = borrow(count * sizeof *bones);
    th_render_mesh_line_end *ends = borrow((size_t)count * 2 * sizeof *ends);
    th_render_mesh *render_mesh = borrow(sizeof *render_mesh);
    for (uint32_t b = 0; b + 1 < count; b++) {
        ends[2 * b].bone = b;
        ends[2 * b + 1].bone = b + 1;
    }
    for (uint32_t b = 0; b < count; b++) /* only for quaternions; anywhere will do */
        for (int i = 0; i < 3; i++)
            bones[b].center[i] = 0.25F * (float)((b + 7 * (uint32_t)i) % 11);
    for (uint32_t p = 0, box = 0; p < 2; box += counts[p++]) {
        const uint32_t vertex = box * SIDES * CORNERS, index = box * SIDES * TRIANGLE_CORNERS;
        for (uint32_t i = 0; i < counts[p] * SIDES; i++) {
            fill_side(vertices + vertex + i * CORNERS, (int)(i % SIDES / 2), i % 2 ? 1 : -1, box + i / SIDES);
            for (uint32_t k = 0; k < TRIANGLE_CORNERS; k++)
                indices[index + i * TRIANGLE_CORNERS + k] = i * CORNERS + corners[k];
        }
        parts[p] =
            (th_render_mesh_part){.material = p, .base_vertex = vertex, .vertex_count = counts[p] * SIDES * CORNERS};
        parts[p].lods[0] =
            (th_render_mesh_lod){.first_index = index, .index_count = counts[p] * SIDES * TRIANGLE_CORNERS};
    }
    *render_mesh = (th_render_mesh){.part_count = 2,
                                    .parts = parts,
                                    .vertex_count = count * SIDES * CORNERS,
                                    .vertices = vertices,
                                    .index_count = count * SIDES * TRIANGLE_CORNERS,
                                    .indices = indices,
                                    .influences = 4,
                                    .lod_count = 1,
                                    .material_count = 2,
                                    .materials = materials,
                                    .image_count = 1,
                                    .images = &image,
                                    .bone_count = count,
                                    .bones = bones,
                                    .line_end_count = count > 0 ? 2 * (count - 1) : 0,
                                    .line_ends = ends,
                                    .size = 1};
    return render_mesh;
}

void boxes_add_morphs(th_render_mesh *boxes, uint32_t weight_count)
{
    enum { MOST = 3, BENDS = 4 };
    th_render_mesh_vertex *vertices = (th_render_mesh_vertex *)boxes->vertices;
    th_render_mesh_delta *deltas = borrow((size_t)boxes->vertex_count * MOST * sizeof *deltas);
    uint64_t state = 3;
    for (uint32_t d = 0; d < boxes->vertex_count * MOST; d++) {
        const uint32_t side = d / MOST / CORNERS, target = side * MOST + d % MOST;
        deltas[d].weight = (float)(target % weight_count);
        for (int i = 0; i < 3; i++) {
            deltas[d].position[i] = (float)random_between(&state, -1, 1) * (HALF / 2);
            deltas[d].normal[i] = (float)((int)((target + (uint32_t)i) * 5 % 11) - 5) / 10; /* of the whole side */
        }
    }
    for (uint32_t v = 0; v < boxes->vertex_count; v++) {
        const uint32_t side = v / CORNERS;
        vertices[v].deltas[1] = side % BENDS;
        vertices[v].deltas[0] = (side % 5 == 4 ? v - CORNERS : v) * MOST;
    }
    boxes->weight_count = weight_count;
    boxes->delta_count = boxes->vertex_count * MOST;
    boxes->deltas = deltas;
}

void boxes_add_influences(th_render_mesh *boxes)
{
    static const uint8_t weights[][TH_MAX_INFLUENCES] = {
        {255}, {155, 100}, {100, 80, 40, 35}, {90, 60, 50, 30, 25}, {40, 40, 40, 30, 30, 30, 25, 20}};
    th_render_mesh_vertex *vertices = (th_render_mesh_vertex *)boxes->vertices;
    for (uint32_t v = 0; v < boxes->vertex_count; v++) {
        const uint8_t *of_box = weights[v / CORNERS / SIDES % (sizeof weights / sizeof *weights)];
        memcpy(vertices[v].weight, of_box, sizeof vertices[v].weight);
        for (uint32_t k = 1; k < TH_MAX_INFLUENCES && of_box[k] > 0; k++)
            vertices[v].bone[k] = (uint16_t)((vertices[v].bone[0] + k) % boxes->bone_count);
    }
    boxes->influences = TH_MAX_INFLUENCES;
}
