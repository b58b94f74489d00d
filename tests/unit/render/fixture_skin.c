#include "fixture_skin.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { STRIDE = 64 };

/* Rows of a 3x4 matrix. */
typedef struct affine {
    double m[3][4];
} affine;

/* count: of the vertex's influences; if it has more, these are scaled. */
static affine blend(const stage *s, const th_render_mesh *mesh, const char *palette, const th_render_mesh_vertex *v,
                    uint32_t count)
{
    affine out = {0};
    double sum = 0;
    for (uint32_t k = 0; k < count; k++)
        sum += v->weight[k];
    for (uint32_t k = 0; k < count; k++) {
        float entry[12];
        if (v->weight[k] == 0)
            continue;
        const float *place = mesh->bones[v->bone[k]].center;
        const th_palette_base base = {{place[0], place[1], place[2]}, th_palette_step(mesh->size)};
        th_palette_read(s->palette, palette + v->bone[k] * th_palette_entry_bytes(s->palette), &base, entry);
        for (int i = 0; i < 12; i++)
            out.m[i / 4][i % 4] += v->weight[k] / sum * (double)entry[i];
    }
    return out;
}

/* As crowd_renderer.h says: (0, 0, 1) turns to (sin, 0, cos). */
static affine place(const affine *a, const th_gpu_instance *gpu_instance)
{
    const double c = (double)gpu_instance->heading[0], s = (double)gpu_instance->heading[1],
                 size = (double)gpu_instance->scale;
    const double turn[3][3] = {{c, 0, s}, {0, 1, 0}, {-s, 0, c}};
    affine out = {0};
    for (int row = 0; row < 3; row++) {
        for (int i = 0; i < 12; i++)
            out.m[row][i % 4] += size * turn[row][i / 4] * a->m[i / 4][i % 4];
        out.m[row][3] += (double)gpu_instance->position[row];
    }
    return out;
}

static void turn_vector(const affine *a, const double v[3], double out[3])
{
    for (int row = 0; row < 3; row++)
        out[row] = a->m[row][0] * v[0] + a->m[row][1] * v[1] + a->m[row][2] * v[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Of the surface that two tangents span once they have moved. Points out, also where the transform mirrors. */
static void turn_normal(const affine *a, const double n[3], double out[3])
{
    const double axis[3] = {fabs(n[0]) < 0.6, fabs(n[0]) >= 0.6, 0};
    double u[3], v[3], moved_u[3], moved_v[3], moved_n[3];
    cross(n, axis, u);
    cross(n, u, v);
    turn_vector(a, u, moved_u);
    turn_vector(a, v, moved_v);
    turn_vector(a, n, moved_n);
    cross(moved_u, moved_v, out);
    const double length = sqrt(dot(out, out)) * (dot(out, moved_n) < 0 ? -1 : 1);
    for (int i = 0; i < 3; i++)
        out[i] /= length;
}

static void unpack_normal(uint32_t packed, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = (double)((int32_t)(packed << (22 - 10 * i)) >> 22) / 511;
}

/* Of an array that may be empty. */
static void *copy(const void *data, size_t bytes)
{
    void *out = borrow(bytes);
    return bytes > 0 ? memcpy(out, data, bytes) : out;
}

/* Sums up what the weights of a palette make of the vertex's deltas. */
static void morph(const stage *s, const th_render_mesh *mesh, const char *palette, const th_render_mesh_vertex *v,
                  double position[3], double normal[3])
{
    for (uint32_t d = v->deltas[0]; d < v->deltas[0] + v->deltas[1]; d++) {
        const th_render_mesh_delta *delta = &mesh->deltas[d];
        const uint32_t weight = (uint32_t)delta->weight;
        float entry[12];
        th_palette_read(s->palette, palette + (mesh->bone_count + weight / 12) * th_palette_entry_bytes(s->palette),
                        NULL, entry);
        for (int i = 0; i < 3; i++) {
            position[i] += (double)entry[weight % 12] * (double)delta->position[i];
            normal[i] += (double)entry[weight % 12] * (double)delta->normal[i];
        }
    }
    const double length = sqrt(dot(normal, normal));
    for (int i = 0; i < 3; i++)
        normal[i] /= length;
}

/* What appearance.h says: moves the vertex inwards and colours it, or puts it, as all others that are not worn, at one
 * point, where its triangles have no area. */
static void dress(const th_render_mesh *mesh, uint32_t appearance, th_render_mesh_vertex *v)
{
    const th_appearances *appearances = &mesh->appearances;
    double normal[3];
    if (appearances->count == 0)
        return;
    const uint32_t region = appearance * appearances->region_count + v->color[3];
    const uint8_t *color = appearances->regions[region].color, tightness = appearances->regions[region].tightness;
    const double inwards = (double)appearances->slack * v->color[1] / 255 * tightness / 254;
    unpack_normal(v->normal, normal);
    for (int i = 0; i < 3; i++)
        v->position[i] = tightness == 255 ? 0 : (float)((double)v->position[i] - inwards * normal[i]);
    const double shade = v->color[0] / 255.0;
    for (int i = 0; i < 3; i++) {
        const double c = color[i] / 255.0;
        v->color[i] = (uint8_t)lround(255 * shade * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4)));
    }
    v->color[3] = 255;
    if (tightness == 255) {
        memset(v->bone, 0, sizeof v->bone);
        memcpy(v->weight, (const uint8_t[TH_MAX_INFLUENCES]){255}, sizeof v->weight);
    }
}

/* True when the transform mirrors. */
static bool skin_vertex(const stage *s, const th_draw *draw, uint32_t k, th_render_mesh_vertex *v)
{
    const th_gpu_instance *gpu_instance = (const th_gpu_instance *)(s->slot + draw->instance_offset) + k;
    const char *palette = s->slot + draw->palette_offset + k * draw->palette_stride;
    const affine bone = blend(s, s->meshes[draw->mesh], palette, v, draw->lod == 0 ? TH_MAX_INFLUENCES : 4);
    const affine whole = place(&bone, gpu_instance);
    double position[3] = {(double)v->position[0], (double)v->position[1], (double)v->position[2]};
    const double x[3] = {whole.m[0][0], whole.m[1][0], whole.m[2][0]},
                 y[3] = {whole.m[0][1], whole.m[1][1], whole.m[2][1]},
                 z[3] = {whole.m[0][2], whole.m[1][2], whole.m[2][2]};
    double moved[3], normal[3], turned[3], across[3];
    unpack_normal(v->normal, normal);
    morph(s, s->meshes[draw->mesh], palette, v, position, normal);
    turn_vector(&whole, position, moved);
    turn_normal(&whole, normal, turned);
    for (int i = 0; i < 3; i++)
        v->position[i] = (float)(moved[i] + whole.m[i][3]);
    v->normal = 0;
    for (int i = 0; i < 3; i++)
        v->normal |= ((uint32_t)lround(turned[i] * 511) & 1023) << 10 * i;
    memset(v->bone, 0, sizeof v->bone);
    memset(v->deltas, 0, sizeof v->deltas);
    memcpy(v->weight, (const uint8_t[TH_MAX_INFLUENCES]){255}, sizeof v->weight);
    cross(x, y, across);
    return dot(across, z) < 0;
}

/* Its mesh, as a model of its own that is skinned already. */
static th_render_mesh *skin_mesh(const stage *s, const th_draw *draw, uint32_t k)
{
    const th_render_mesh *from = s->meshes[draw->mesh];
    const th_gpu_instance *instance = (const th_gpu_instance *)(s->slot + draw->instance_offset) + k;
    th_render_mesh *out = copy(from, sizeof *out);
    th_render_mesh_vertex *vertices = copy(from->vertices, from->vertex_count * sizeof *vertices);
    th_render_mesh_part *parts = copy(from->parts, from->part_count * sizeof *parts);
    th_render_mesh_line_end *ends = copy(from->line_ends, from->line_end_count * sizeof *ends);
    uint32_t *indices = copy(from->indices, from->index_count * sizeof *indices);
    bool *mirrored = borrow(from->vertex_count * sizeof *mirrored);
    for (uint32_t v = 0; v < from->vertex_count; v++) {
        dress(from, instance->appearance, &vertices[v]);
        mirrored[v] = skin_vertex(s, draw, k, &vertices[v]);
    }
    /* Turns back the winding that a mirror turned round, and counts all vertices from the first. */
    for (uint32_t p = 0; p < from->part_count; p++) {
        const th_render_mesh_lod *lod = &from->parts[p].lods[0];
        uint32_t *corner = indices + lod->first_index;
        parts[p].base_vertex = 0;
        for (uint32_t i = 0; i < lod->index_count; i++)
            corner[i] += from->parts[p].base_vertex;
        for (uint32_t i = 0; i < lod->index_count; i += 3) {
            const uint32_t second = corner[i + 1];
            if (!mirrored[corner[i]])
                continue;
            corner[i + 1] = corner[i + 2];
            corner[i + 2] = second;
        }
    }
    for (uint32_t i = 0; i < from->line_end_count; i++) {
        th_render_mesh_vertex end = {.bone = {(uint16_t)ends[i].bone}, .weight = {255}};
        memcpy(end.position, ends[i].position, sizeof end.position);
        skin_vertex(s, draw, k, &end);
        memcpy(ends[i].position, end.position, sizeof end.position);
        ends[i].bone = 0;
    }
    out->appearances.count = 0;
    out->parts = parts;
    out->vertices = vertices;
    out->indices = indices;
    out->bone_count = 1;
    out->weight_count = out->delta_count = 0;
    out->influences = 4;
    out->line_ends = ends;
    return out;
}

stage stage_skinned(const stage *from)
{
    const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    stage out = {.palette = TH_FORMAT_F32, .view = from->view};
    stage_alloc(&out, DRAWS * (STRIDE + sizeof(th_gpu_instance)));
    for (const th_draw *draw = from->draws; draw < from->draws + from->draw_count; draw++)
        for (uint32_t k = 0; k < draw->count; k++) {
            const uint32_t i = out.mesh_count++;
            const size_t at = DRAWS * STRIDE + i * sizeof(th_gpu_instance);
            th_gpu_instance *instance = (th_gpu_instance *)(out.slot + at);
            cr_assert_lt(i, DRAWS);
            out.meshes[i] = skin_mesh(from, draw, k);
            out.draws[out.draw_count++] = (th_draw){
                .mesh = i, .count = 1, .palette_offset = i * STRIDE, .palette_stride = STRIDE, .instance_offset = at};
            th_palette_write(TH_FORMAT_F32, identity, NULL, out.slot + i * STRIDE);
            *instance = (th_gpu_instance){.scale = 1, .heading = {1, 0}};
            memcpy(instance->tint, ((const th_gpu_instance *)(from->slot + draw->instance_offset))[k].tint,
                   sizeof instance->tint);
        }
    return out;
}
