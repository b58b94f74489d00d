/* The short steps of building meshes: packing, the order in memory, and which side is never seen. */
#include "geometry.h"

#include <core/half.h>

#include <assert.h>
#include <math.h>
#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_HALF 65504.0

/* Vertex cache misses may grow by this factor to reduce overdraw; meshoptimizer's recommendation. */
#define OVERDRAW_THRESHOLD 1.05F

_Static_assert(sizeof(th_render_mesh_vertex) == 56, "vertices are compared and drawn as bytes");

bool th_geometry_repeats(const th_render_mesh_part *part, uint32_t lod)
{
    assert(lod < TH_RENDER_MESH_LODS);
    return lod > 0 && part->lods[lod].first_index == part->lods[lod - 1].first_index &&
           part->lods[lod].index_count == part->lods[lod - 1].index_count;
}

/* ---- vertices in the GPU's format ---- */

uint32_t th_pack_normal(const float normal[3])
{
    assert(normal);
    double n[3], length = 0;
    for (int i = 0; i < 3; i++) {
        n[i] = (double)normal[i];
        length += n[i] * n[i];
    }
    length = sqrt(length);
    if (!(length > 0)) {
        memcpy(n, (double[3]){0, 0, 1}, sizeof n);
        length = 1;
    }
    uint32_t packed = 0;
    for (int i = 0; i < 3; i++)
        packed |= ((uint32_t)lrint(n[i] / length * 511) & 0x3ff) << (10 * i);
    return packed;
}

void th_unpack_normal(uint32_t packed, float out[3])
{
    for (int i = 0; i < 3; i++) {
        const int32_t bits = (int32_t)(packed >> (10 * i) & 0x3ff);
        out[i] = (float)(bits < 512 ? bits : bits - 1024) / 511;
    }
}

/* Rounds down, then adds the missing units to the weights that lost most (largest remainder method). Of equal weights
 * the first is chosen, so the order stays descending. */
static void pack_weights(const float weight[TH_MAX_INFLUENCES], uint8_t out[TH_MAX_INFLUENCES])
{
    assert(weight[0] > 0); /* the largest */
    double sum = 0, lost[TH_MAX_INFLUENCES];
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
        sum += (double)weight[k];
    int left = 255;
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++) {
        const double exact = (double)weight[k] / sum * 255;
        out[k] = (uint8_t)exact;
        lost[k] = exact - out[k];
        left -= out[k];
    }
    assert(left >= 0 && left <= (int)TH_MAX_INFLUENCES);
    for (; left > 0; left--) {
        uint32_t most = 0;
        for (uint32_t k = 1; k < TH_MAX_INFLUENCES; k++)
            if (lost[k] > lost[most])
                most = k;
        out[most]++;
        lost[most] = -1;
    }
}

/* Whole images to subtract from all texture coordinates of a mesh, where its image repeats: of a mirrored one an even
 * number. They then lie around 0, where half precision is finest. */
static void find_uv_offset(const th_model *model, const th_mesh *mesh, double offset[2])
{
    const uint32_t texture = model->materials[mesh->material].texture;
    for (int i = 0; i < 2; i++) {
        const uint8_t wrap = texture == TH_NO_INDEX ? TH_WRAP_REPEAT : model->textures[texture].sampler.wrap[i];
        const double period = wrap == TH_WRAP_MIRROR ? 2 : 1;
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (uint32_t v = 0; v < mesh->vertex_count; v++) {
            low = fmin(low, (double)mesh->vertices[v].uv[i]);
            high = fmax(high, (double)mesh->vertices[v].uv[i]);
        }
        offset[i] = low <= high && wrap != TH_WRAP_CLAMP ? floor((low + high) / 2 / period) * period : 0;
    }
}

static uint16_t pack_uv(float value, double offset)
{
    const double near = fmax(-LARGEST_HALF, fmin((double)value - offset, LARGEST_HALF));
    return th_half_from_float((float)near + 0.0F);
}

double th_pack_uv_error(const th_model *model, const th_mesh *mesh, uint32_t width, uint32_t height)
{
    const double pixels[2] = {width, height};
    double error = 0, uv_offset[2];
    find_uv_offset(model, mesh, uv_offset);
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (int i = 0; i < 2; i++) {
            const float uv = mesh->vertices[v].uv[i];
            const double packed = (double)th_half_to_float(pack_uv(uv, uv_offset[i])) + uv_offset[i];
            error = fmax(error, fabs(packed - (double)uv) * pixels[i]);
        }
    return error;
}

/* ---- deltas of morph targets, by vertex, where the file has them by target ---- */

/* The deltas of one vertex. */
typedef struct move {
    uint32_t vertex, first, count;
} move;

static int compare_moves(const void *a, const void *b, void *ctx)
{
    const move *one = a, *other = b;
    const th_render_mesh_delta *deltas = ctx;
    if (one->count != other->count)
        return one->count < other->count ? -1 : 1;
    const int order = memcmp(deltas + one->first, deltas + other->first, one->count * sizeof *deltas);
    return order ? order : (one->vertex > other->vertex) - (one->vertex < other->vertex);
}

/* Appends the deltas of a mesh and points its packed vertices at them. Vertices that move alike share deltas, so that
 * equal vertices stay equal. Scratch: moves [vertex], found [delta]. */
static void add_deltas(const th_mesh *mesh, th_geometry *g, th_render_mesh_vertex *packed, move *moves,
                       th_render_mesh_delta *found)
{
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        moves[v] = (move){.vertex = v};
    for (uint32_t t = 0; t < mesh->target_count; t++)
        for (uint32_t d = 0; d < mesh->targets[t].delta_count; d++)
            moves[mesh->targets[t].deltas[d].vertex].count++;
    for (uint32_t v = 0, first = 0; v < mesh->vertex_count; v++) {
        moves[v].first = first;
        first += moves[v].count;
        moves[v].count = 0;
    }
    for (uint32_t t = 0; t < mesh->target_count; t++)
        for (uint32_t d = 0; d < mesh->targets[t].delta_count; d++) {
            const th_morph_delta *from = &mesh->targets[t].deltas[d];
            move *to = &moves[from->vertex];
            th_render_mesh_delta *delta = &found[to->first + to->count++];
            *delta = (th_render_mesh_delta){.weight = (float)mesh->targets[t].weight};
            for (int i = 0; i < 3; i++) { /* turns -0 into 0, so that equal deltas are equal bytes */
                delta->position[i] = from->position[i] + 0.0F;
                delta->normal[i] = from->normal[i] + 0.0F;
            }
        }
    qsort_r(moves, mesh->vertex_count, sizeof *moves, compare_moves, found);
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        const move *own = &moves[i];
        const size_t bytes = own->count * sizeof *found;
        uint32_t *to = packed[own->vertex].deltas;
        if (own->count == 0)
            continue;
        if (i > 0 && own[-1].count == own->count && memcmp(found + own[-1].first, found + own->first, bytes) == 0) {
            memcpy(to, packed[own[-1].vertex].deltas, sizeof packed->deltas);
            continue;
        }
        to[0] = g->delta_count;
        to[1] = own->count;
        memcpy(g->deltas + g->delta_count, found + own->first, bytes);
        g->delta_count += own->count;
    }
}

static size_t count_deltas(const th_mesh *mesh)
{
    size_t count = 0;
    for (uint32_t t = 0; t < mesh->target_count; t++)
        count += mesh->targets[t].delta_count;
    return count;
}

/* ---- packing ---- */

th_result th_geometry_pack(const th_model *model, th_arena *arena, th_geometry *out, th_error *err)
{
    assert(model && out);
    uint64_t parts = 0, vertices = 0, indices = 0;
    size_t deltas = 0, most_vertices = 0, most_deltas = 0;
    *out = (th_geometry){.lod_count = 1};
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *mesh = &model->meshes[m];
        const size_t own_deltas = count_deltas(mesh);
        if (mesh->index_count == 0)
            continue;
        parts++;
        vertices += mesh->vertex_count;
        indices += mesh->index_count;
        deltas += own_deltas;
        most_vertices = mesh->vertex_count > most_vertices ? mesh->vertex_count : most_vertices;
        most_deltas = own_deltas > most_deltas ? own_deltas : most_deltas;
    }
    if (indices > TH_RENDER_MESH_MAX_INDICES)
        return th_fail(err, TH_ERR_LIMIT, "%llu triangles, the limit is %u", (unsigned long long)indices / 3,
                       TH_RENDER_MESH_MAX_INDICES / 3);
    if (parts == 0)
        return TH_OK;
    th_arena *scratch = th_arena_create();
    th_render_mesh_vertex *packed = th_arena_new(scratch, th_render_mesh_vertex, most_vertices);
    uint32_t *remap = th_arena_new(scratch, uint32_t, most_vertices);
    move *moves = th_arena_new(scratch, move, most_deltas ? most_vertices : 0);
    th_render_mesh_delta *found = th_arena_new(scratch, th_render_mesh_delta, most_deltas);
    out->parts = th_arena_new(arena, th_render_mesh_part, parts);
    out->vertices = malloc(vertices * sizeof *out->vertices);
    out->indices = malloc(indices * sizeof *out->indices);
    out->deltas = deltas ? malloc(deltas * sizeof *out->deltas) : NULL;
    const bool good = !th_arena_failed(scratch) && out->vertices && out->indices && (out->deltas || !deltas);
    for (uint32_t m = 0; m < model->mesh_count && good && out->parts; m++) {
        const th_mesh *mesh = &model->meshes[m];
        double uv_offset[2];
        if (mesh->index_count == 0)
            continue;
        assert(mesh->index_count % 3 == 0);
        find_uv_offset(model, mesh, uv_offset);
        for (uint32_t v = 0; v < mesh->vertex_count; v++) {
            const th_vertex *from = &mesh->vertices[v];
            th_render_mesh_vertex *to = &packed[v];
            *to = (th_render_mesh_vertex){.normal = th_pack_normal(from->normal)};
            for (int i = 0; i < 3; i++)
                to->position[i] = from->position[i] + 0.0F; /* turns -0 into 0, as above */
            for (int i = 0; i < 2; i++)
                to->uv[i] = pack_uv(from->uv[i], uv_offset[i]);
            memcpy(to->color, from->color, sizeof to->color);
            pack_weights(from->weight, to->weight);
            for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
                to->bone[k] = from->bone[to->weight[k] > 0 ? k : 0];
        }
        if (count_deltas(mesh) > 0)
            add_deltas(mesh, out, packed, moves, found);
        const size_t count = meshopt_generateVertexRemap(remap, mesh->indices, mesh->index_count, packed,
                                                         mesh->vertex_count, sizeof *packed);
        assert(count <= mesh->vertex_count);
        meshopt_remapVertexBuffer(out->vertices + out->vertex_count, packed, mesh->vertex_count, sizeof *packed, remap);
        meshopt_remapIndexBuffer(out->indices + out->index_count, mesh->indices, mesh->index_count, remap);
        out->parts[out->part_count++] = (th_render_mesh_part){.name = th_arena_string(arena, mesh->name),
                                                              .mesh = m,
                                                              .material = mesh->material,
                                                              .base_vertex = out->vertex_count,
                                                              .vertex_count = (uint32_t)count,
                                                              .lods = {{out->index_count, mesh->index_count, 0}}};
        out->vertex_count += (uint32_t)count;
        out->index_count += mesh->index_count;
    }
    th_arena_destroy(scratch);
    if (!good || th_arena_failed(arena))
        return th_fail(err, TH_ERR_MEMORY, "out of memory for the meshes");
    void *fewer = deltas ? realloc(out->deltas, out->delta_count * sizeof *out->deltas) : NULL;
    out->deltas = fewer ? fewer : out->deltas;
    return TH_OK;
}

/* ---- order ---- */

th_result th_geometry_order(th_geometry *g, th_error *err)
{
    th_arena *arena = th_arena_create();
    uint32_t *scratch = th_arena_new(arena, uint32_t, g->index_count),
             *remap = th_arena_new(arena, uint32_t, g->vertex_count);
    const bool good = !th_arena_failed(arena);
    for (uint32_t p = 0; good && p < g->part_count; p++) {
        const th_render_mesh_part *part = &g->parts[p];
        th_render_mesh_vertex *vertices = g->vertices + part->base_vertex;
        for (uint32_t l = 0; l < g->lod_count; l++) {
            uint32_t *indices = g->indices + part->lods[l].first_index;
            const size_t count = part->lods[l].index_count;
            if (th_geometry_repeats(part, l))
                continue;
            meshopt_optimizeVertexCache(scratch, indices, count, part->vertex_count);
            meshopt_optimizeOverdraw(indices, scratch, count, vertices->position, part->vertex_count, sizeof *vertices,
                                     OVERDRAW_THRESHOLD);
        }
        /* Vertices by first use, starting with the coarsest level. Most of a crowd is far away, and then touches few
         * cache lines. */
        size_t count = 0;
        for (uint32_t l = g->lod_count; l-- > 0;) {
            const th_render_mesh_lod *lod = &part->lods[l];
            if (th_geometry_repeats(part, l))
                continue;
            memcpy(scratch + count, g->indices + lod->first_index, lod->index_count * sizeof *scratch);
            count += lod->index_count;
        }
        meshopt_optimizeVertexFetchRemap(remap, scratch, count, part->vertex_count);
        meshopt_remapVertexBuffer(vertices, vertices, part->vertex_count, sizeof *vertices, remap);
        for (uint32_t l = 0; l < g->lod_count; l++) {
            uint32_t *indices = g->indices + part->lods[l].first_index;
            if (!th_geometry_repeats(part, l))
                meshopt_remapIndexBuffer(indices, indices, part->lods[l].index_count, remap);
        }
    }
    th_arena_destroy(arena);
    return good ? TH_OK : th_fail(err, TH_ERR_MEMORY, "out of memory for the order of the meshes");
}

/* ---- culling ----
 *
 * Which side of a part's triangles can be left out. Where the matrix of a bone mirrors, the triangles that follow it
 * turn inside out, as artists who mirror an arm to get the other one expect. */

/* Whether a transform keeps or mirrors what it moves; both bits: now this, now that. */
enum { KEEPS = 1, MIRRORS = 2 };

static unsigned parity(double determinant)
{
    return determinant < 0 ? MIRRORS : KEEPS;
}

static unsigned parity_of_matrix(const th_mat34 *matrix)
{
    double m[12];
    for (int i = 0; i < 12; i++)
        m[i] = (double)matrix->m[i];
    return parity(m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                  m[2] * (m[4] * m[9] - m[5] * m[8]));
}

/* One after the other. */
static unsigned combine(unsigned a, unsigned b)
{
    const unsigned swapped = (b & KEEPS ? MIRRORS : 0u) | (b & MIRRORS ? KEEPS : 0u);
    return (a & KEEPS ? b : 0) | (a & MIRRORS ? swapped : 0);
}

th_result th_geometry_set_culling(const th_model *model, th_geometry *g, th_error *err)
{
    /* From the joint to the scene, at rest and in all clips. */
    unsigned *joints = malloc(model->joint_count * sizeof *joints);
    if (!joints)
        return th_fail(err, TH_ERR_MEMORY, "out of memory for %u joints", model->joint_count);
    for (uint32_t j = 0; j < model->joint_count; j++)
        joints[j] = parity_of_matrix(&model->joints[j].rest);
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t n = 0; n < model->clips[c].channel_count; n++) {
            const th_channel *channel = &model->clips[c].channels[n];
            const float *scale = channel->scale.values;
            for (uint32_t k = 0; k < channel->scale.key_count; k++, scale += 3)
                joints[channel->joint] |= parity((double)scale[0] * (double)scale[1] * (double)scale[2]);
        }
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (model->joints[j].parent != TH_NO_INDEX)
            joints[j] = combine(joints[model->joints[j].parent], joints[j]);

    for (uint32_t p = 0; p < g->part_count; p++) {
        th_render_mesh_part *part = &g->parts[p];
        const th_render_mesh_vertex *vertices = g->vertices + part->base_vertex;
        unsigned parities = 0;
        for (uint32_t i = 0; i < TH_MAX_INFLUENCES * part->vertex_count; i++) {
            const th_bone *bone = &model->bones[vertices[i / TH_MAX_INFLUENCES].bone[i % TH_MAX_INFLUENCES]];
            parities |= combine(joints[bone->joint], parity_of_matrix(&bone->inverse_bind));
        }
        part->culling = parities == MIRRORS ? TH_CULL_FRONT : TH_CULL_BACK;
        if (model->materials[part->material].double_sided || parities == (KEEPS | MIRRORS))
            part->culling = TH_CULL_NONE;
    }
    free(joints);
    return TH_OK;
}
