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
#include "pack.h"

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

/* A corner of a triangle of the level. */
typedef struct corner {
    float normal[3]; /* of level 0 near the corner; the vertex's own if it suits the face; 0 if unknown */
    float area;
    uint32_t next; /* the next corner at the same position, or TH_NO_INDEX */
} corner;

typedef struct normals {
    th_render_mesh_vertex *vertices; /* the part's vertices, then the new ones */
    uint32_t count, room;
    uint32_t *twins; /* [vertex] the next one that differs only by its normal, or TH_NO_INDEX */

    const uint32_t *whole; /* indices of level 0 */
    uint32_t whole_count;  /* vertices of level 0 */
    float *positions;
    th_bvh *bvh;

    corner *corners;        /* of the current level */
    uint32_t *places;       /* [vertex] an id shared by the vertices at the same position */
    uint32_t *first_corner; /* [place] */
} normals;

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
static float face_of(const normals *n, const uint32_t *index, float out[3])
{
    const float *a = n->vertices[index[0]].position, *b = n->vertices[index[1]].position,
                *c = n->vertices[index[2]].position;
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
static void look_up(const normals *n, const uint32_t *index, int which, const float face[3], float out[3])
{
    double point[3], weights[3];
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int c = 0; c < 3; c++)
            sum += (double)n->vertices[index[c]].position[i];
        const double at = (double)n->vertices[index[which]].position[i];
        point[i] = at + (double)INWARDS * (sum / 3 - at);
    }
    const uint32_t *triangle = n->whole + 3 * (size_t)th_bvh_nearest(n->bvh, point, weights);
    memset(out, 0, 3 * sizeof *out);
    for (int c = 0; c < 3; c++) {
        float normal[3];
        th_unpack_normal(n->vertices[triangle[c]].normal, normal);
        for (int i = 0; i < 3; i++)
            out[i] += (float)weights[c] * normal[i];
    }
    if (!normalize(out) || dot(out, face) < 0)
        memset(out, 0, 3 * sizeof *out);
}

static void look_at_level(normals *n, const uint32_t *indices, uint32_t count)
{
    for (uint32_t v = 0; v < n->whole_count; v++)
        n->first_corner[v] = TH_NO_INDEX;
    for (uint32_t k = 0; k < count; k++) {
        float face[3];
        const uint32_t *index = indices + k / 3 * 3, place = n->places[indices[k]];
        n->corners[k] = (corner){.area = face_of(n, index, face), .next = n->first_corner[place]};
        n->first_corner[place] = k;
        th_unpack_normal(n->vertices[indices[k]].normal, n->corners[k].normal);
        if (dot(n->corners[k].normal, face) < FLAT)
            look_up(n, index, (int)(k % 3), face, n->corners[k].normal);
    }
}

/* ---- new vertices ---- */

/* Area-weighted mean of the similar normals around a corner. */
static bool mean_around(const normals *n, uint32_t place, const corner *of, float out[3])
{
    uint32_t k = n->first_corner[place];
    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i < MOST_AROUND && k != TH_NO_INDEX; i++, k = n->corners[k].next)
        for (int c = 0; c < 3 && dot(n->corners[k].normal, of->normal) > ALIKE; c++)
            out[c] += n->corners[k].area * n->corners[k].normal[c];
    return normalize(out);
}

static bool make_room(normals *n)
{
    const uint32_t room = n->room + n->room / 2 + 16;
    th_render_mesh_vertex *vertices = realloc(n->vertices, room * sizeof *vertices);
    n->vertices = vertices ? vertices : n->vertices;
    uint32_t *twins = realloc(n->twins, room * sizeof *twins);
    n->twins = twins ? twins : n->twins;
    n->room = vertices && twins ? room : n->room;
    return vertices && twins;
}

/* A copy of the vertex with another normal, reused if it exists. TH_NO_INDEX when out of memory. */
static uint32_t twin_of(normals *n, uint32_t vertex, uint32_t normal)
{
    assert(vertex < n->count && n->count <= n->room);
    while (n->vertices[vertex].normal != normal && n->twins[vertex] != TH_NO_INDEX)
        vertex = n->twins[vertex];
    if (n->vertices[vertex].normal == normal)
        return vertex;
    if (n->count == n->room && !make_room(n))
        return TH_NO_INDEX;
    n->vertices[n->count] = n->vertices[vertex];
    n->vertices[n->count].normal = normal;
    n->twins[n->count] = TH_NO_INDEX;
    n->twins[vertex] = n->count;
    return n->count++;
}

static bool correct_level(normals *n, uint32_t *indices, uint32_t count)
{
    assert(count % 3 == 0);
    look_at_level(n, indices, count);
    for (uint32_t k = 0; k < count; k++) {
        const corner *here = &n->corners[k];
        float normal[3], mean[3];
        th_unpack_normal(n->vertices[indices[k]].normal, normal);
        if (dot(here->normal, here->normal) == 0 || dot(here->normal, normal) >= FAR ||
            !mean_around(n, n->places[indices[k]], here, mean))
            continue;
        indices[k] = twin_of(n, indices[k], th_pack_normal(mean));
        if (indices[k] == TH_NO_INDEX)
            return false;
    }
    return true;
}

/* ---- a part ---- */

static bool normals_init(normals *n, const th_geometry *g, const th_render_mesh_part *part)
{
    const size_t count = part->vertex_count, position = 3 * sizeof(float);
    *n = (normals){.vertices = malloc(count * sizeof *n->vertices),
                   .count = part->vertex_count,
                   .room = part->vertex_count,
                   .twins = malloc(count * sizeof *n->twins),
                   .whole = g->indices + part->lods[0].first_index,
                   .whole_count = part->vertex_count,
                   .positions = malloc(count * position),
                   .corners = malloc(part->lods[0].index_count * sizeof *n->corners),
                   .places = malloc(count * sizeof *n->places),
                   .first_corner = malloc(count * sizeof *n->first_corner)};
    if (!n->vertices || !n->twins || !n->positions || !n->corners || !n->places || !n->first_corner)
        return false;
    memcpy(n->vertices, g->vertices + part->base_vertex, count * sizeof *n->vertices);
    memset(n->twins, 0xff, count * sizeof *n->twins);
    for (size_t v = 0; v < count; v++)
        memcpy(n->positions + 3 * v, n->vertices[v].position, position);
    meshopt_generateVertexRemap(n->places, NULL, count, n->positions, count, position);
    n->bvh = th_bvh_create(n->positions, n->whole, part->lods[0].index_count / 3);
    return n->bvh;
}

static void normals_fini(normals *n)
{
    free(n->vertices);
    free(n->twins);
    free(n->positions);
    th_bvh_destroy(n->bvh);
    free(n->corners);
    free(n->places);
    free(n->first_corner);
}

/* Appends the part's vertices to those of the parts before it. */
static bool append_vertices(const normals *n, th_render_mesh_part *part, th_geometry *to)
{
    th_render_mesh_vertex *vertices = realloc(to->vertices, (to->vertex_count + (size_t)n->count) * sizeof *vertices);
    if (!vertices)
        return false;
    memcpy(vertices + to->vertex_count, n->vertices, n->count * sizeof *vertices);
    to->vertices = vertices;
    part->base_vertex = to->vertex_count;
    part->vertex_count = n->count;
    to->vertex_count += n->count;
    return true;
}

static bool correct_part(th_geometry *g, th_render_mesh_part *part, th_geometry *to)
{
    normals n;
    bool good = normals_init(&n, g, part);
    for (uint32_t l = 1; l < g->lod_count && good; l++)
        if (!th_geometry_repeats(part, l))
            good = correct_level(&n, g->indices + part->lods[l].first_index, part->lods[l].index_count);
    good = good && append_vertices(&n, part, to);
    normals_fini(&n);
    return good;
}

th_result th_geometry_correct_normals(th_geometry *g, th_error *err)
{
    assert(g && g->lod_count >= 1);
    th_geometry to = {0}; /* only its vertices are used */
    for (uint32_t p = 0; p < g->part_count; p++)
        if (!correct_part(g, &g->parts[p], &to)) {
            free(to.vertices);
            return th_fail(err, TH_ERR_MEMORY, "out of memory for the normals of the levels of detail");
        }
    free(g->vertices);
    g->vertices = to.vertices;
    g->vertex_count = to.vertex_count;
    return TH_OK;
}
