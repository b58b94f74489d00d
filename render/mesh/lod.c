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
 * that it needs to bend. Therefore the mesh is simplified in three poses, two of them with all joints bent.
 *
 * meshoptimizer's error is a mean of distances to planes and bounds nothing. The real distance of each vertex from the
 * simplified surface is measured in the same poses. Each group gets candidates with a half, a quarter
 * and so on of its triangles, each from the pose that gives the smallest error. Levels take them in turn, each as soon
 * as it is within the limit. */
#include "bvh.h"
#include "geometry.h"
#include "islands.h"
#include "lod_poses.h"

#include <assert.h>
#include <math.h>
#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

#define OWN 5 /* a small group is measured by this many times its own extent */

/* An island that would keep fewer triangles is left out, because it would lose its volume. */
#define LEAST_ISLAND 4

/* Candidate n has about 2^-n of the triangles. Candidate 0 is the mesh itself. */
enum { CANDIDATES = 8 };

typedef struct candidate {
    uint32_t *indices; /* into the group's vertices; the triangles of each part are contiguous */
    uint32_t count;
    double error;
} candidate;

/* Positions are in scene space, lengths in scene units. */
typedef struct group {
    uint32_t part_count, vertex_count, candidate_count;
    uint32_t *starts; /* [part] its first vertex */
    uint32_t *owners; /* [vertex] its part, as an index into `starts` */
    float *positions[TH_LOD_POSE_COUNT];
    float *guides[TH_LOD_POSE_COUNT]; /* the same, but equal for all vertices at the same position in mesh space */
    float *lost; /* scratch: positions of the vertices that a candidate drops; `kept` marks the others */
    bool *kept;
    uint32_t *islands; /* [vertex] how many triangles its island has */
    double size;       /* what the limits of levels are relative to */
    candidate candidates[CANDIDATES];
    uint32_t chosen;                /* the candidate of the level that is being appended to the render mesh */
    bool is_new;                    /* the level before had another one */
    uint32_t next_part, next_index; /* cursor in this candidate */
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
        to->candidates[0].count += g->parts[p].lods[0].index_count;
        c->belong[p] = *number;
    }
}

static bool allocate_group(group *g)
{
    const size_t place = 3 * sizeof(float);
    bool good = true;
    for (int p = 0; p < TH_LOD_POSE_COUNT; p++) {
        g->positions[p] = malloc(g->vertex_count * place);
        g->guides[p] = malloc(g->vertex_count * place);
        good &= g->positions[p] && g->guides[p];
    }
    g->starts = malloc(g->part_count * sizeof *g->starts);
    g->owners = malloc(g->vertex_count * sizeof *g->owners);
    g->islands = malloc(g->vertex_count * sizeof *g->islands);
    g->lost = malloc(g->vertex_count * place);
    g->kept = malloc(g->vertex_count * sizeof *g->kept);
    g->candidates[0].indices = malloc(g->candidates[0].count * sizeof *g->candidates[0].indices);
    g->part_count = g->vertex_count = g->candidates[0].count = 0;
    g->candidate_count = 1;
    return good && g->starts && g->owners && g->islands && g->lost && g->kept && g->candidates[0].indices;
}

static void free_group(group *g)
{
    for (int p = 0; p < TH_LOD_POSE_COUNT; p++) {
        free(g->positions[p]);
        free(g->guides[p]);
    }
    free(g->starts);
    free(g->owners);
    free(g->islands);
    free(g->lost);
    free(g->kept);
    for (int n = 0; n < CANDIDATES; n++)
        free(g->candidates[n].indices);
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
    candidate *whole = &to->candidates[0];
    const uint32_t *indices = c->geometry->indices + part->lods[0].first_index;
    for (uint32_t i = 0; i < part->lods[0].index_count; i++)
        whole->indices[whole->count++] = to->vertex_count + indices[i];
    to->starts[to->part_count++] = to->vertex_count;
    to->vertex_count += part->vertex_count;
}

/* Vertices at the same position in mesh space all get the position of the first of them. With different weights they
 * would separate, and meshoptimizer would no longer see the seam. */
static void make_guides(group *g, const uint32_t *places, uint32_t *first)
{
    const size_t stride = 3 * sizeof(float);
    memset(first, 0xff, g->vertex_count * sizeof *first);
    for (uint32_t v = 0; v < g->vertex_count; v++) {
        if (first[places[v]] == TH_NO_INDEX)
            first[places[v]] = v;
        for (int p = 0; p < TH_LOD_POSE_COUNT; p++)
            memcpy(g->guides[p] + 3 * (size_t)v, g->positions[p] + 3 * (size_t)first[places[v]], stride);
    }
}

/* guides[0] holds positions in mesh space. False when out of memory. */
static bool find_places(group *g)
{
    uint32_t *places = malloc(2 * (size_t)g->vertex_count * sizeof *places);
    if (!places)
        return false;
    meshopt_generateVertexRemap(places, NULL, g->vertex_count, g->guides[0], g->vertex_count, 3 * sizeof(float));
    make_guides(g, places, places + g->vertex_count);
    const candidate *whole = &g->candidates[0];
    const bool good = th_islands_measure(places, g->vertex_count, whole->indices, whole->count, g->islands);
    free(places);
    return good;
}

static double extent(const group *g, const float *positions)
{
    return (double)meshopt_simplifyScale(positions, g->vertex_count, 3 * sizeof(float));
}

/* ---- simplifying ---- */

/* A candidate is usable only if it saves at least a fifth of the triangles. */
static bool saves(uint32_t count, uint32_t before)
{
    return 5 * (uint64_t)count <= 4 * (uint64_t)before;
}

/* Checks that no triangle spans two parts and that the parts are in order, as the collapse of seams guarantees. */
static bool parts_are_runs(const group *g, const candidate *c)
{
    uint32_t part = 0;
    for (uint32_t i = 0; i < c->count; i += 3) {
        const uint32_t a = g->owners[c->indices[i]], b = g->owners[c->indices[i + 1]];
        if (a < part || a != b || a != g->owners[c->indices[i + 2]])
            return false;
        part = a;
    }
    return true;
}

/* Raises the candidate's error to that of the dropped vertices in one pose. False when out of memory. */
static bool measure_pose(const group *g, const float *positions, candidate *c, double limit)
{
    assert(c->count % 3 == 0);
    th_bvh *bvh = th_bvh_create(positions, c->indices, c->count / 3);
    if (!bvh)
        return false;
    size_t count = 0;
    for (uint32_t v = 0; v < g->vertex_count; v++)
        if (!g->kept[v])
            memcpy(g->lost + 3 * count++, positions + 3 * (size_t)v, 3 * sizeof *g->lost);
    c->error = th_bvh_max_distance(bvh, g->lost, count, c->error, limit);
    th_bvh_destroy(bvh);
    return true;
}

/* Sets the candidate's error, the largest over all poses. Above `limit` it is only a lower bound. NaN when a vertex
 * overflowed. False when out of memory. */
static bool measure_error(const group *g, candidate *c, double limit)
{
    memset(g->kept, 0, g->vertex_count * sizeof *g->kept);
    for (uint32_t i = 0; i < c->count; i++)
        g->kept[c->indices[i]] = true;
    c->error = 0;
    for (int p = 0; p < TH_LOD_POSE_COUNT && c->error <= limit; p++)
        if (!measure_pose(g, g->positions[p], c, limit))
            return false;
    return true;
}

/* Simplifies what the candidate before n has of the islands that are large enough. `out` has room for the whole group.
 */
static void simplify(const group *g, uint32_t n, const float *guide, candidate *out)
{
    const candidate *before = &g->candidates[n - 1];
    out->count = 0;
    for (uint32_t i = 0; i < before->count; i += 3)
        if (g->islands[before->indices[i]] >> n >= LEAST_ISLAND) {
            memcpy(out->indices + out->count, before->indices + i, 3 * sizeof *out->indices);
            out->count += 3;
        }
    const size_t wanted = 3 * (size_t)(g->candidates[0].count / 3 >> n);
    if (out->count > wanted)
        out->count = (uint32_t)meshopt_simplify(out->indices, out->indices, out->count, guide, g->vertex_count,
                                                3 * sizeof(float), wanted, 1, 0, NULL);
}

/* Adds the next candidate if there is a usable one. `spare` has room for the whole group. False when out of memory. */
static bool add_candidate(group *g, candidate *spare)
{
    const uint32_t n = g->candidate_count;
    candidate *best = &g->candidates[n];
    best->indices = malloc(g->candidates[0].count * sizeof *best->indices);
    best->error = g->size * th_render_mesh_lod_limit(TH_RENDER_MESH_LODS - 1);
    for (int p = 0; best->indices && p < TH_LOD_POSE_COUNT; p++) {
        if (!isnormal(extent(g, g->guides[p])))
            continue;
        simplify(g, n, g->guides[p], spare);
        if (!saves(spare->count, g->candidates[n - 1].count) || !parts_are_runs(g, spare))
            continue;
        if (!measure_error(g, spare, best->error))
            return false;
        if (spare->error <= best->error) {
            const candidate swap = *best;
            *best = *spare;
            *spare = swap;
            g->candidate_count = n + 1;
        }
    }
    return best->indices;
}

/* Adds candidates until one is not usable. False when out of memory. */
static bool coarsen_group(group *g, double model_size)
{
    candidate spare = {.indices = malloc(g->candidates[0].count * sizeof *spare.indices)};
    bool good = spare.indices;
    g->size = fmin(model_size, OWN * extent(g, g->positions[TH_LOD_POSE_REST]));
    for (uint32_t n = 1; n < CANDIDATES && good && g->candidate_count == n; n++)
        good = add_candidate(g, &spare);
    free(spare.indices);
    return good;
}

/* ---- the render mesh's levels ---- */

/* Sets the group's candidate of a level: the one of the level before, or the next if it is within the limit. One at a
 * time, so that no change of level drops more than half of the triangles. */
static void choose(group *g, uint32_t lod)
{
    const uint32_t next = g->chosen + 1;
    g->is_new = next < g->candidate_count && g->candidates[next].error <= g->size * th_render_mesh_lod_limit(lod);
    g->chosen += g->is_new;
    g->next_part = g->next_index = 0;
}

static void append_part(const coarsener *c, th_render_mesh_part *part, uint32_t lod, group *g)
{
    assert(g->next_part < g->part_count);
    th_geometry *to = c->geometry;
    const candidate *from = &g->candidates[g->chosen];
    uint32_t *out = to->indices + to->index_count, count = 0;
    for (; g->next_index < from->count && g->owners[from->indices[g->next_index]] == g->next_part; g->next_index++)
        out[count++] = from->indices[g->next_index] - g->starts[g->next_part];
    const float error = from->error > 0 ? nextafterf((float)from->error, INFINITY) : 0;
    part->lods[lod] = (th_render_mesh_lod){to->index_count, count, fmaxf(error, part->lods[lod - 1].error)};
    to->index_count += count;
    g->next_part++;
}

/* A group that finds no coarser candidate repeats the level before. */
static bool append_level(const coarsener *c, uint32_t lod)
{
    th_geometry *g = c->geometry;
    size_t count = g->index_count;
    for (uint32_t i = 0; i < c->group_count; i++) {
        group *from = &c->groups[i];
        choose(from, lod);
        count += from->is_new ? from->candidates[from->chosen].count : 0;
    }
    if (count > g->index_count)
        g->lod_count = lod + 1;
    uint32_t *indices = realloc(g->indices, count * sizeof *indices);
    if (!indices)
        return false;
    g->indices = indices;
    for (uint32_t p = 0; p < g->part_count; p++) {
        group *from = &c->groups[c->belong[p]];
        g->parts[p].lods[lod] = g->parts[p].lods[lod - 1];
        if (from->is_new)
            append_part(c, &g->parts[p], lod, from);
    }
    assert(g->index_count == count);
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
        if (!find_places(&c->groups[g]) || !coarsen_group(&c->groups[g], c->model->size))
            return false;
    for (uint32_t l = 1; l < TH_RENDER_MESH_LODS; l++)
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
