/* Corrects the normals of coarse levels.
 *
 * A level keeps the vertices of level 0 unchanged. Suppose that a narrow band of triangles rounds an edge and the level
 * drops the band. Then a large flat face gets the normals of the band's border, which shows as streaks of light on a
 * flat surface. So each corner of a coarse triangle is compared with level 0, at the place nearest to a point a little
 * inside the triangle. A corner whose normal differs too much gets a vertex of its own, with the mean of the normals of
 * level 0 around it.
 *
 * Normals between those of the faces, as on a round surface, stay: they look better than the face normals. */
#include "bvh.h"
#include "geometry.h"

#include <assert.h>
#include <math.h>
#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

#define INWARDS 0.3F        /* sample point: this far from the corner to the triangle's middle */
#define FAR     0.86602540F /* cos 30 degrees: below this, normals differ too much */
#define FLAT    0.93969262F /* cos 20 degrees: above this, a normal suits the face */
#define ALIKE   0.76604444F /* cos 40 degrees: above this, normals belong to the same side of an edge */

enum { MOST_AROUND = 64 /* triangles visited per vertex, which bounds the time for a large fan */ };

/* A corner of a triangle of a level. */
typedef struct corner {
    float normal[3]; /* of level 0 near the corner; the vertex's own if it suits the face; 0 if unknown */
    float area;
    uint32_t next; /* the next corner at the same position, or TH_NO_INDEX */
} corner;

/* A part as it is. */
typedef struct surface {
    const th_render_mesh_vertex *vertices;
    const uint32_t *indices; /* of level 0 */
    th_bvh *bvh;
    corner *corners;        /* of the current level */
    uint32_t *places;       /* [vertex] an id shared by the vertices at the same position */
    uint32_t *first_corner; /* [place] */
} surface;

/* The vertices of the parts up to the current one: of each its own, then the new ones. */
typedef struct vertex_list {
    th_render_mesh_vertex *vertices;
    uint32_t *twins; /* [vertex] the next one that differs only by its normal, or TH_NO_INDEX */
    size_t count, room;
} vertex_list;

static float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* False for a vector without a direction. */
static bool normalize(float v[3])
{
    const float length = sqrtf(dot(v, v));
    for (int i = 0; i < 3; i++)
        v[i] /= length;
    return isnormal(length);
}

/* ---- normals of level 0 ---- */

/* Writes the triangle's normal and returns its area; 0 for a degenerate triangle. */
static float face_of(const surface *s, const uint32_t *index, float out[3])
{
    const float *a = s->vertices[index[0]].position, *b = s->vertices[index[1]].position,
                *c = s->vertices[index[2]].position;
    float ab[3], ac[3];
    for (int i = 0; i < 3; i++) {
        ab[i] = b[i] - a[i];
        ac[i] = c[i] - a[i];
    }
    for (int i = 0; i < 3; i++)
        out[i] = ab[(i + 1) % 3] * ac[(i + 2) % 3] - ab[(i + 2) % 3] * ac[(i + 1) % 3];
    const float area = sqrtf(dot(out, out)) / 2;
    return normalize(out) ? area : 0;
}

/* The normal of level 0 near a corner. Zero if the nearest surface faces the other way, as the back of a thin object
 * does. */
static void look_up(const surface *s, const uint32_t *index, uint32_t which, const float face[3], float out[3])
{
    double point[3], weights[3];
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int c = 0; c < 3; c++)
            sum += (double)s->vertices[index[c]].position[i];
        const double at = (double)s->vertices[index[which]].position[i];
        point[i] = at + (double)INWARDS * (sum / 3 - at);
    }
    const uint32_t *triangle = s->indices + 3 * (size_t)th_bvh_nearest(s->bvh, point, weights);
    memset(out, 0, 3 * sizeof *out);
    for (int c = 0; c < 3; c++) {
        float normal[3];
        th_unpack_normal(s->vertices[triangle[c]].normal, normal);
        for (int i = 0; i < 3; i++)
            out[i] += (float)weights[c] * normal[i];
    }
    if (!normalize(out) || dot(out, face) < 0)
        memset(out, 0, 3 * sizeof *out);
}

/* ---- new vertices ---- */

/* Room for so many more. */
static bool reserve(vertex_list *to, size_t count)
{
    if (to->count + count <= to->room)
        return true;
    const size_t room = to->count + count + (to->count + count) / 2;
    th_render_mesh_vertex *vertices = realloc(to->vertices, room * sizeof *vertices);
    to->vertices = vertices ? vertices : to->vertices;
    uint32_t *twins = realloc(to->twins, room * sizeof *twins);
    to->twins = twins ? twins : to->twins;
    to->room = vertices && twins ? room : to->room;
    return vertices && twins;
}

/* A copy of the vertex with another normal, reused if it exists. TH_NO_INDEX when out of memory. */
static uint32_t twin_of(vertex_list *to, uint32_t vertex, uint32_t normal)
{
    assert(vertex < to->count);
    while (to->vertices[vertex].normal != normal && to->twins[vertex] != TH_NO_INDEX)
        vertex = to->twins[vertex];
    if (to->vertices[vertex].normal == normal)
        return vertex;
    if (!reserve(to, 1))
        return TH_NO_INDEX;
    const uint32_t twin = (uint32_t)to->count++;
    to->vertices[twin] = to->vertices[vertex];
    to->vertices[twin].normal = normal;
    to->twins[twin] = TH_NO_INDEX;
    to->twins[vertex] = twin;
    return twin;
}

/* first: of the part's vertices in the list. */
static bool correct_level(const surface *s, uint32_t vertex_count, uint32_t *indices, uint32_t count, vertex_list *to,
                          uint32_t first)
{
    assert(count % 3 == 0);
    for (uint32_t v = 0; v < vertex_count; v++)
        s->first_corner[v] = TH_NO_INDEX;
    for (uint32_t k = 0; k < count; k++) {
        float face[3];
        const uint32_t *index = indices + k / 3 * 3, place = s->places[indices[k]];
        s->corners[k] = (corner){.area = face_of(s, index, face), .next = s->first_corner[place]};
        s->first_corner[place] = k;
        th_unpack_normal(s->vertices[indices[k]].normal, s->corners[k].normal);
        if (dot(s->corners[k].normal, face) < FLAT)
            look_up(s, index, k % 3, face, s->corners[k].normal);
        float own[3]; /* of the other side, where two sheets lie on each other and their vertices were joined */
        th_unpack_normal(s->vertices[indices[k]].normal, own);
        if (dot(s->corners[k].normal, s->corners[k].normal) == 0 && dot(own, face) < 0)
            memcpy(s->corners[k].normal, face, sizeof face);
    }
    for (uint32_t k = 0; k < count; k++) {
        const float *here = s->corners[k].normal;
        float normal[3], mean[3] = {0};
        th_unpack_normal(s->vertices[indices[k]].normal, normal);
        if (dot(here, here) == 0 || dot(here, normal) >= FAR)
            continue;
        /* The mean by area of the similar normals around the corner. */
        uint32_t other = s->first_corner[s->places[indices[k]]];
        for (int i = 0; i < MOST_AROUND && other != TH_NO_INDEX; i++, other = s->corners[other].next)
            for (int c = 0; c < 3 && dot(s->corners[other].normal, here) > ALIKE; c++)
                mean[c] += s->corners[other].area * s->corners[other].normal[c];
        if (!normalize(mean))
            continue;
        const uint32_t twin = twin_of(to, first + indices[k], th_pack_normal(mean));
        if (twin == TH_NO_INDEX)
            return false;
        indices[k] = twin - first;
    }
    return true;
}

static bool correct_part(const th_geometry *g, th_render_mesh_part *part, vertex_list *to)
{
    const size_t count = part->vertex_count, first = to->count;
    th_arena *arena = th_arena_create();
    float *positions = th_arena_new(arena, float, 3 * count);
    surface s = {.vertices = g->vertices + part->base_vertex,
                 .indices = g->indices + part->lods[0].first_index,
                 .corners = th_arena_new(arena, corner, part->lods[0].index_count),
                 .places = th_arena_new(arena, uint32_t, count),
                 .first_corner = th_arena_new(arena, uint32_t, count)};
    bool good = !th_arena_failed(arena) && reserve(to, count);
    if (good) {
        memcpy(to->vertices + first, s.vertices, count * sizeof *s.vertices);
        memset(to->twins + first, 0xff, count * sizeof *to->twins);
        to->count += count;
        for (size_t v = 0; v < count; v++)
            memcpy(positions + 3 * v, s.vertices[v].position, sizeof s.vertices->position);
        meshopt_generateVertexRemap(s.places, NULL, count, positions, count, 3 * sizeof *positions);
        s.bvh = th_bvh_create(positions, s.indices, part->lods[0].index_count / 3);
        good = s.bvh;
    }
    for (uint32_t l = 1; l < g->lod_count && good; l++)
        if (!th_geometry_repeats(part, l))
            good = correct_level(&s, part->vertex_count, g->indices + part->lods[l].first_index,
                                 part->lods[l].index_count, to, (uint32_t)first);
    part->base_vertex = (uint32_t)first;
    part->vertex_count = (uint32_t)(to->count - first);
    th_bvh_destroy(s.bvh);
    th_arena_destroy(arena);
    return good;
}

th_result th_geometry_correct_normals(th_geometry *g, th_error *err)
{
    assert(g && g->lod_count >= 1);
    vertex_list to = {0};
    bool good = true;
    for (uint32_t p = 0; p < g->part_count && good; p++)
        good = correct_part(g, &g->parts[p], &to);
    free(to.twins);
    free(good ? g->vertices : to.vertices);
    if (!good)
        return th_fail(err, TH_ERR_MEMORY, "out of memory for the normals of the levels of detail");
    th_render_mesh_vertex *fewer = to.count > 0 ? realloc(to.vertices, to.count * sizeof *fewer) : NULL;
    g->vertices = fewer ? fewer : to.vertices;
    g->vertex_count = (uint32_t)to.count;
    return TH_OK;
}
