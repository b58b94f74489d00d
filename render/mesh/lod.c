/* Levels of detail.
 *
 * Meshes that share a bone lie in the same mesh space, and one surface may continue from one mesh into another, such as
 * a body split in two by its materials. Such meshes form a group and are simplified in one call. meshoptimizer treats
 * vertices at equal positions as one vertex with an attribute seam, and moves either both sides of a seam to the same
 * position or neither. (Version 0.18 collapses a seam along itself in pairs. Where more than two vertices share a
 * position, or the sides do not match, they stay.) Simplified separately, the two sides would move differently and open
 * gaps. For the same reason a level must be drawn for all meshes or for none.
 *
 * A limb that is straight in the bind pose is flat along its length, so simplifying it would remove just the edge loops
 * that it needs to bend. Therefore the mesh is simplified with all joints bent; in the human's clips this halves the
 * error. If that saves too few triangles, the mesh at rest is simplified.
 *
 * meshoptimizer's error is a mean of distances to planes and bounds nothing. It only steers the simplification. The
 * real distance of each vertex from the simplified surface is measured in a few poses. A level with too large an error
 * is tried again with a smaller allowed error. */
#include "bvh.h"
#include "geometry.h"
#include "lod_poses.h"

#include <assert.h>
#include <math.h>
#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 5
#define LESS  0.7

/* Poses to simplify in, in order of preference; the first that gives a usable level is taken. */
enum { GUIDES = 2 };
static const int guide_poses[GUIDES] = {TH_LOD_POSE_BENT, TH_LOD_POSE_REST};

typedef struct level {
    uint32_t *indices; /* into the group's vertices; the triangles of each part are contiguous */
    uint32_t count;
    double error;
} level;

/* Positions are in scene space, lengths in scene units. */
typedef struct group {
    uint32_t part_count, vertex_count, level_count;
    uint32_t *starts; /* [part] its first vertex */
    uint32_t *owners; /* [vertex] its part, as an index into `starts` */
    float *positions[TH_LOD_POSE_COUNT];
    float *guides[GUIDES]; /* guide positions; equal for all vertices at the same position in mesh space */
    float *lost;           /* scratch: positions of the vertices that a level drops; `kept` marks the others */
    bool *kept;
    double limit; /* for the error at rest */
    level levels[TH_RENDER_MESH_LODS];
    uint32_t next_part, next_index; /* cursor in the level that is being appended to the render mesh */
} group;

typedef struct coarsener {
    const th_model *model;
    th_geometry *geometry;
    th_dmat34 *palettes; /* [pose][bone] */
    uint32_t *roots;     /* [bone] union-find forest; bones of one tree belong to one group */
    uint32_t *belong;    /* [part] its group */
    uint32_t group_count;
    group *groups;
} coarsener;

/* ---- groups ---- */

static uint32_t find_root(uint32_t *roots, uint32_t of)
{
    assert(roots[of] <= of);
    while (roots[of] != of) {
        roots[of] = roots[roots[of]];
        of = roots[of];
    }
    return of;
}

/* The bone that represents a part in the forest. */
static uint32_t bone_of(const th_geometry *g, uint32_t part)
{
    assert(part < g->part_count);
    return g->vertices[g->parts[part].base_vertex].bone[0];
}

static void join_bones(const coarsener *c)
{
    const th_geometry *g = c->geometry;
    for (uint32_t b = 0; b < c->model->bone_count; b++)
        c->roots[b] = b;
    for (uint32_t p = 0; p < g->part_count; p++)
        for (uint32_t i = 0; i < TH_MAX_INFLUENCES * g->parts[p].vertex_count; i++) {
            const th_render_mesh_vertex *vertex = &g->vertices[g->parts[p].base_vertex + i / TH_MAX_INFLUENCES];
            const uint32_t one = find_root(c->roots, bone_of(g, p));
            const uint32_t other = find_root(c->roots, vertex->bone[i % TH_MAX_INFLUENCES]);
            c->roots[one > other ? one : other] = one > other ? other : one;
        }
}

/* Numbers the groups in the order of their first parts. Counts their sizes in the fields that later hold them. */
static void count_groups(coarsener *c, uint32_t *group_of_root)
{
    const th_geometry *g = c->geometry;
    memset(group_of_root, 0xff, c->model->bone_count * sizeof *group_of_root);
    for (uint32_t p = 0; p < g->part_count; p++) {
        uint32_t *number = &group_of_root[find_root(c->roots, bone_of(g, p))];
        if (*number == TH_NO_INDEX)
            *number = c->group_count++;
        group *to = &c->groups[*number];
        to->part_count++;
        to->vertex_count += g->parts[p].vertex_count;
        to->levels[0].count += g->parts[p].lods[0].index_count;
        c->belong[p] = *number;
    }
}

static bool allocate_group(group *g)
{
    const size_t place = 3 * sizeof(float);
    bool good = true;
    for (int p = 0; p < TH_LOD_POSE_COUNT; p++) {
        g->positions[p] = malloc(g->vertex_count * place);
        good &= g->positions[p] != NULL;
    }
    g->starts = malloc(g->part_count * sizeof *g->starts);
    g->owners = malloc(g->vertex_count * sizeof *g->owners);
    for (int i = 0; i < GUIDES; i++) {
        g->guides[i] = malloc(g->vertex_count * place);
        good &= g->guides[i] != NULL;
    }
    g->lost = malloc(g->vertex_count * place);
    g->kept = malloc(g->vertex_count * sizeof *g->kept);
    g->levels[0].indices = malloc(g->levels[0].count * sizeof *g->levels[0].indices);
    g->part_count = g->vertex_count = g->levels[0].count = 0;
    g->level_count = 1;
    return good && g->starts && g->owners && g->lost && g->kept && g->levels[0].indices;
}

static void free_group(group *g)
{
    for (int p = 0; p < TH_LOD_POSE_COUNT; p++)
        free(g->positions[p]);
    free(g->starts);
    free(g->owners);
    for (int i = 0; i < GUIDES; i++)
        free(g->guides[i]);
    free(g->lost);
    free(g->kept);
    for (int l = 0; l < TH_RENDER_MESH_LODS; l++)
        free(g->levels[l].indices);
}

static void add_part(const coarsener *c, const th_render_mesh_part *part, group *to)
{
    assert(part->lods[0].index_count % 3 == 0);
    for (uint32_t v = 0; v < part->vertex_count; v++) {
        const th_render_mesh_vertex *vertex = &c->geometry->vertices[part->base_vertex + v];
        const size_t at = 3 * ((size_t)to->vertex_count + v);
        for (int p = 0; p < TH_LOD_POSE_COUNT; p++)
            th_lod_pose_vertex(c->palettes + (size_t)p * c->model->bone_count, vertex, to->positions[p] + at);
        memcpy(to->guides[0] + at, vertex->position, sizeof vertex->position);
        to->owners[to->vertex_count + v] = to->part_count;
    }
    level *whole = &to->levels[0];
    const uint32_t *indices = c->geometry->indices + part->lods[0].first_index;
    for (uint32_t i = 0; i < part->lods[0].index_count; i++)
        whole->indices[whole->count++] = to->vertex_count + indices[i];
    to->starts[to->part_count++] = to->vertex_count;
    to->vertex_count += part->vertex_count;
}

/* Vertices at the same position in mesh space all get the bent position of the first of them. With different weights
 * they would separate, and meshoptimizer would no longer see the seam. False when out of memory. */
static bool bend_guides(group *g)
{
    uint32_t *place = malloc(2 * (size_t)g->vertex_count * sizeof *place);
    if (!place)
        return false;
    uint32_t *first = place + g->vertex_count;
    const size_t stride = 3 * sizeof(float);
    const size_t count =
        meshopt_generateVertexRemap(place, NULL, g->vertex_count, g->guides[0], g->vertex_count, stride);
    memset(first, 0xff, count * sizeof *first);
    for (uint32_t v = 0; v < g->vertex_count; v++) {
        if (first[place[v]] == TH_NO_INDEX)
            first[place[v]] = v;
        for (int i = 0; i < GUIDES; i++)
            memcpy(g->guides[i] + 3 * (size_t)v, g->positions[guide_poses[i]] + 3 * (size_t)first[place[v]], stride);
    }
    free(place);
    return true;
}

static double extent(const group *g, const float *positions)
{
    return (double)meshopt_simplifyScale(positions, g->vertex_count, 3 * sizeof(float));
}

/* ---- simplifying ---- */

/* A level is usable only if it saves at least a fifth of the triangles. */
static bool saves(uint64_t count, uint64_t before)
{
    return 5 * count <= 4 * before;
}

/* Checks that no triangle spans two parts and that the parts are in order, as the collapse of seams guarantees. */
static bool parts_are_runs(const group *g, const level *l)
{
    uint32_t part = 0;
    for (uint32_t i = 0; i < l->count; i += 3) {
        const uint32_t a = g->owners[l->indices[i]], b = g->owners[l->indices[i + 1]];
        if (a < part || a != b || a != g->owners[l->indices[i + 2]])
            return false;
        part = a;
    }
    return true;
}

/* Error of the dropped vertices in one pose. Above `limit` it is only a lower bound. False when out of memory. */
static bool measure_pose(const group *g, const float *positions, const level *l, double limit, double *error)
{
    assert(l->count % 3 == 0);
    th_bvh *bvh = th_bvh_create(positions, l->indices, l->count / 3);
    if (!bvh)
        return false;
    size_t count = 0;
    for (uint32_t v = 0; v < g->vertex_count; v++)
        if (!g->kept[v])
            memcpy(g->lost + 3 * count++, positions + 3 * (size_t)v, 3 * sizeof *g->lost);
    *error = th_bvh_max_distance(bvh, g->lost, count, limit);
    th_bvh_destroy(bvh);
    return true;
}

/* Largest error over all poses; *good if each is within its limit. False when out of memory. */
static bool measure_error(const group *g, level *l, bool *good)
{
    memset(g->kept, 0, g->vertex_count * sizeof *g->kept);
    for (uint32_t i = 0; i < l->count; i++)
        g->kept[l->indices[i]] = true;
    l->error = 0;
    *good = true;
    for (int p = 0; p < TH_LOD_POSE_COUNT && *good; p++) {
        const double limit = p == TH_LOD_POSE_REST ? g->limit : TH_RENDER_MESH_LOD_BENT * g->limit;
        double error;
        if (!measure_pose(g, g->positions[p], l, limit, &error))
            return false;
        l->error = fmax(l->error, error);
        *good = error <= limit; /* false for NaN, when a vertex overflowed */
    }
    return true;
}

/* Fills `out`, which has room for the whole group. *good: the level is usable. False when out of memory. */
static bool simplify(const group *g, const float *guide, uint32_t triangles, level *out, bool *good)
{
    assert(g->level_count > 0 && g->level_count < TH_RENDER_MESH_LODS);
    const double size = extent(g, guide);
    *good = false;
    for (int t = 0; t < TRIES && !*good && isnormal(size); t++) {
        const float allowed = (float)(g->limit / size * pow(LESS, t));
        out->count =
            (uint32_t)meshopt_simplify(out->indices, g->levels[0].indices, g->levels[0].count, guide, g->vertex_count,
                                       3 * sizeof(float), 3 * (size_t)triangles, allowed, 0, NULL);
        if (!saves(out->count, g->levels[g->level_count - 1].count) || !parts_are_runs(g, out))
            return true;
        if (!measure_error(g, out, good))
            return false;
    }
    return true;
}

/* Adds levels with a half, a quarter and an eighth of the triangles until one is not usable. False when out of memory.
 */
static bool coarsen_group(group *g, double model_size)
{
    const uint32_t triangles = g->levels[0].count / 3;
    g->limit = fmin(TH_RENDER_MESH_LOD_ERROR * model_size,
                    TH_RENDER_MESH_LOD_OWN_ERROR * extent(g, g->positions[TH_LOD_POSE_REST]));
    for (bool good = true; good && g->level_count < TH_RENDER_MESH_LODS; g->level_count += good) {
        level *out = &g->levels[g->level_count];
        out->indices = malloc(g->levels[0].count * sizeof *out->indices);
        good = false;
        for (int i = 0; i < GUIDES && !good; i++)
            if (!out->indices || !simplify(g, g->guides[i], triangles >> g->level_count, out, &good))
                return false;
    }
    return true;
}

/* ---- the render mesh's levels ---- */

static void append_part(const coarsener *c, th_render_mesh_part *part, uint32_t lod, group *g)
{
    assert(lod > 0 && lod < g->level_count && g->next_part < g->part_count);
    th_geometry *to = c->geometry;
    const level *from = &g->levels[lod];
    uint32_t *out = to->indices + to->index_count, count = 0;
    for (; g->next_index < from->count && g->owners[from->indices[g->next_index]] == g->next_part; g->next_index++)
        out[count++] = from->indices[g->next_index] - g->starts[g->next_part];
    const float error = from->error > 0 ? nextafterf((float)from->error, INFINITY) : 0;
    part->lods[lod] = (th_render_mesh_lod){to->index_count, count, fmaxf(error, part->lods[lod - 1].error)};
    to->index_count += count;
    g->next_part++;
}

static uint64_t count_indices(const coarsener *c, uint32_t lod)
{
    uint64_t count = 0;
    for (uint32_t g = 0; g < c->group_count; g++)
        count += c->groups[g].levels[lod < c->groups[g].level_count ? lod : c->groups[g].level_count - 1].count;
    return count;
}

static bool append_level(const coarsener *c, uint32_t lod)
{
    assert(lod == c->geometry->lod_count); /* levels are appended in order */
    th_geometry *g = c->geometry;
    size_t count = g->index_count;
    for (uint32_t i = 0; i < c->group_count; i++) {
        count += lod < c->groups[i].level_count ? c->groups[i].levels[lod].count : 0;
        c->groups[i].next_part = c->groups[i].next_index = 0;
    }
    uint32_t *indices = realloc(g->indices, count * sizeof *indices);
    if (!indices)
        return false;
    g->indices = indices;
    for (uint32_t p = 0; p < g->part_count; p++) {
        group *from = &c->groups[c->belong[p]];
        g->parts[p].lods[lod] = g->parts[p].lods[lod - 1];
        if (lod < from->level_count)
            append_part(c, &g->parts[p], lod, from);
    }
    assert(g->index_count == count);
    g->lod_count = lod + 1;
    return true;
}

static bool coarsen(coarsener *c)
{
    uint32_t *group_of_root = malloc(c->model->bone_count * sizeof *group_of_root);
    if (!group_of_root)
        return false;
    join_bones(c);
    count_groups(c, group_of_root);
    free(group_of_root);
    for (uint32_t g = 0; g < c->group_count; g++)
        if (!allocate_group(&c->groups[g]))
            return false;
    for (uint32_t p = 0; p < c->geometry->part_count; p++)
        add_part(c, &c->geometry->parts[p], &c->groups[c->belong[p]]);
    for (uint32_t g = 0; g < c->group_count; g++)
        if (!bend_guides(&c->groups[g]) || !coarsen_group(&c->groups[g], c->model->size))
            return false;
    for (uint32_t l = 1; l < TH_RENDER_MESH_LODS && saves(count_indices(c, l), count_indices(c, l - 1)); l++)
        if (!append_level(c, l))
            return false;
    return true;
}

th_result th_geometry_coarsen(const th_model *model, th_geometry *geometry, th_error *err)
{
    assert(model && geometry && geometry->lod_count == 1);
    if (geometry->part_count == 0)
        return TH_OK;
    coarsener c = {.model = model,
                   .geometry = geometry,
                   .palettes = th_lod_poses_create(model),
                   .roots = malloc(model->bone_count * sizeof *c.roots),
                   .belong = malloc(geometry->part_count * sizeof *c.belong),
                   .groups = calloc(geometry->part_count, sizeof *c.groups)};
    const bool done = c.palettes && c.roots && c.belong && c.groups && coarsen(&c);
    for (uint32_t g = 0; c.groups && g < geometry->part_count; g++)
        free_group(&c.groups[g]);
    free(c.palettes);
    free(c.roots);
    free(c.belong);
    free(c.groups);
    return done ? TH_OK : th_fail(err, TH_ERR_MEMORY, "out of memory for the levels of detail");
}
