/* Levels of detail.
 *
 * Meshes that share a bone lie in the same mesh space, and one surface may continue from one mesh into another, such as
 * a body split in two by its materials. Such meshes form a group and are simplified in one call. meshoptimizer treats
 * vertices at equal positions as one vertex with an attribute seam, and moves either both sides of a seam to the same
 * position or neither. (Version 0.18 collapses a seam along itself in pairs. Where more than two vertices share a
 * position, or the sides do not match, they stay.) Simplified separately, the two sides would move differently and open
 * gaps. For the same reason a level must be drawn for all meshes or for none.
 *
 * Vertices that differ only by their normals, as those of hard edges and flat faces do, are joined before: normals of
 * coarse levels are corrected afterwards, and a mesh whose faces share no vertices could not be simplified at all.
 * Texture coordinates count only where there is a texture.
 *
 * A limb that is straight in the bind pose is flat along its length, so simplifying it would remove just the edge loops
 * that it needs to bend. Therefore the mesh is simplified in three poses, two of them with all joints bent.
 *
 * meshoptimizer's error is a mean of distances to planes and bounds nothing. The real distance of each vertex from the
 * simplified surface is measured in the same poses. Each group gets candidates with 0.79, 0.63, a half
 * and so on of its triangles, each from the pose that gives the smallest error. A level has the coarsest that is within
 * its limit. */
#include "bvh.h"
#include "geometry.h"

#include <anim/exact.h>

#include <assert.h>
#include <math.h>
#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

#define OWN 5 /* a small group is measured by this many times its own extent */

/* An island that would keep fewer triangles is left out, because it would lose its volume. */
#define LEAST_ISLAND 4

/* Candidate n has about 2^(-n / HALF) of the triangles. Candidate 0 is the mesh itself. No change of level goes further
 * than HALF candidates, so that none drops more than half of the triangles. */
enum { HALF = 3, CANDIDATES = 8 * HALF };

/* At rest, and with every joint turned forth and back by an angle about an axis oblique to its own axes: 30 degrees
 * about (1, 1, 1). Rigs usually have bones along one axis and hinges about one axis; this axis bends and twists all of
 * them. */
enum { REST, BENT, BENT_BACK, POSES };
static const double bend[4] = {0.1494292, 0.1494292, 0.1494292, 0.9659258};

typedef struct candidate {
    uint32_t *indices; /* into the group's vertices; the triangles of each part are contiguous */
    uint32_t count;
    double error; /* infinite: not usable */
} candidate;

/* Positions are in scene space, lengths in scene units. */
typedef struct group {
    uint32_t part_count, vertex_count;
    uint32_t *starts; /* [part] its first vertex */
    uint32_t *owners; /* [vertex] its part, as an index into `starts` */
    float *positions[POSES];
    float *guides[POSES]; /* [number of joined ones] the same, but equal for all at the same position in mesh space */
    float *lost;          /* scratch: positions of the vertices that a candidate drops; `kept` marks the others */
    bool *kept;
    uint32_t *joined; /* [vertex] a number for those that differ only by their normals */
    uint32_t *firsts; /* [that number] the first of them */
    uint32_t joined_count;
    uint32_t *islands; /* [vertex] how many triangles its island has */
    double size;       /* what the limits of levels are relative to */
    candidate candidates[CANDIDATES], spare;
    uint32_t chosen;                /* the candidate of the level that is being appended to the render mesh */
    bool is_new;                    /* the level before had another one */
    uint32_t next_part, next_index; /* cursor in this candidate */
} group;

typedef struct coarsener {
    th_arena *arena;
    const th_model *model;
    th_geometry *geometry;
    th_dmat34 *palettes; /* [pose][bone] */
    uint32_t *belong;    /* [part] its group */
    uint32_t group_count;
    group *groups;
} coarsener;

/* ---- what belongs together: union-find forests ---- */

static uint32_t find_root(uint32_t *roots, uint32_t of)
{
    assert(roots[of] <= of);
    while (roots[of] != of) {
        roots[of] = roots[roots[of]];
        of = roots[of];
    }
    return of;
}

static void join(uint32_t *roots, uint32_t a, uint32_t b)
{
    const uint32_t one = find_root(roots, a), other = find_root(roots, b);
    roots[one > other ? one : other] = one > other ? other : one;
}

void th_islands_measure(const uint32_t *places, uint32_t vertex_count, const uint32_t *indices, size_t index_count,
                        uint32_t *scratch, uint32_t *out_sizes)
{
    assert(places && indices && index_count % 3 == 0 && scratch && out_sizes);
    uint32_t *roots = scratch, *sizes = scratch + vertex_count; /* [place] */
    memset(sizes, 0, vertex_count * sizeof *sizes);
    for (uint32_t p = 0; p < vertex_count; p++)
        roots[p] = p;
    for (size_t i = 0; i < index_count; i++)
        join(roots, places[indices[i - i % 3]], places[indices[i]]);
    for (size_t i = 0; i < index_count; i += 3)
        sizes[find_root(roots, places[indices[i]])]++;
    for (uint32_t v = 0; v < vertex_count; v++)
        out_sizes[v] = sizes[find_root(roots, places[v])];
}

/* ---- groups ---- */

/* False when out of memory, like what follows. */
static bool make_palettes(coarsener *c)
{
    const th_model *model = c->model;
    th_dmat34 *local = th_arena_new(c->arena, th_dmat34, model->joint_count);
    th_dmat34 *pose = th_arena_new(c->arena, th_dmat34, model->joint_count);
    c->palettes = th_arena_new(c->arena, th_dmat34, POSES * (size_t)model->bone_count);
    if (th_arena_failed(c->arena))
        return false;
    for (int p = 0; p < POSES; p++) {
        const double sign = p == BENT_BACK ? -1 : 1;
        const th_trs turn = {.rotation = {sign * bend[0], sign * bend[1], sign * bend[2], bend[3]}, .scale = {1, 1, 1}};
        const th_dmat34 matrix = th_dmat34_from_trs(&turn);
        th_exact_sample(model, NULL, 0, TH_INTERPOLATION_AUTHORED, local);
        for (uint32_t j = 0; p != REST && j < model->joint_count; j++)
            local[j] = th_dmat34_mul(local[j], matrix);
        th_exact_resolve(model, local, pose);
        th_exact_palette(model, pose, c->palettes + (size_t)p * model->bone_count);
    }
    return true;
}

/* Where a vertex is in scene space. */
static void pose_vertex(const th_dmat34 *palette, const th_render_mesh_vertex *vertex, float out[3])
{
    double sum[3] = {0, 0, 0}, part[3];
    const double position[3] = {(double)vertex->position[0], (double)vertex->position[1], (double)vertex->position[2]};
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
        th_dmat34_point(&palette[vertex->bone[k]], position, part);
        for (int i = 0; i < 3; i++)
            sum[i] += vertex->weight[k] / 255.0 * part[i];
    }
    for (int i = 0; i < 3; i++)
        out[i] = (float)sum[i];
}

static bool make_groups(coarsener *c)
{
    const th_geometry *g = c->geometry;
    const uint32_t bone_count = c->model->bone_count;
    uint32_t *roots = th_arena_new(c->arena, uint32_t, bone_count);
    uint32_t *group_of = th_arena_new(c->arena, uint32_t, bone_count); /* [root] */
    c->belong = th_arena_new(c->arena, uint32_t, g->part_count);
    c->groups = th_arena_new(c->arena, group, g->part_count);
    if (th_arena_failed(c->arena))
        return false;
    for (uint32_t b = 0; b < bone_count; b++) {
        roots[b] = b;
        group_of[b] = TH_NO_INDEX;
    }
    for (uint32_t p = 0; p < g->part_count; p++) {
        const th_render_mesh_vertex *vertices = g->vertices + g->parts[p].base_vertex;
        for (uint32_t i = 0; i < TH_MAX_INFLUENCES * g->parts[p].vertex_count; i++)
            join(roots, vertices->bone[0], vertices[i / TH_MAX_INFLUENCES].bone[i % TH_MAX_INFLUENCES]);
    }

    /* Groups are in the order of their first parts. Their sizes are counted in the fields that later hold them. */
    for (uint32_t p = 0; p < g->part_count; p++) {
        uint32_t *number = &group_of[find_root(roots, g->vertices[g->parts[p].base_vertex].bone[0])];
        if (*number == TH_NO_INDEX)
            *number = c->group_count++;
        group *to = &c->groups[*number];
        to->part_count++;
        to->vertex_count += g->parts[p].vertex_count;
        to->candidates[0].count += g->parts[p].lods[0].index_count;
        c->belong[p] = *number;
    }
    for (uint32_t i = 0; i < c->group_count; i++) {
        group *to = &c->groups[i];
        for (int p = 0; p < POSES; p++) {
            to->positions[p] = th_arena_new(c->arena, float, 3 * (size_t)to->vertex_count);
            to->guides[p] = th_arena_new(c->arena, float, 3 * (size_t)to->vertex_count);
        }
        to->starts = th_arena_new(c->arena, uint32_t, to->part_count);
        to->owners = th_arena_new(c->arena, uint32_t, to->vertex_count);
        to->joined = th_arena_new(c->arena, uint32_t, to->vertex_count);
        to->firsts = th_arena_new(c->arena, uint32_t, to->vertex_count);
        to->islands = th_arena_new(c->arena, uint32_t, to->vertex_count);
        to->lost = th_arena_new(c->arena, float, 3 * (size_t)to->vertex_count);
        to->kept = th_arena_new(c->arena, bool, to->vertex_count);
        to->candidates[0].indices = th_arena_new(c->arena, uint32_t, to->candidates[0].count);
        to->spare.indices = th_arena_new(c->arena, uint32_t, to->candidates[0].count);
        to->part_count = to->vertex_count = to->candidates[0].count = 0;
    }
    if (th_arena_failed(c->arena))
        return false;

    for (uint32_t p = 0; p < g->part_count; p++) {
        const th_render_mesh_part *part = &g->parts[p];
        group *to = &c->groups[c->belong[p]];
        candidate *whole = &to->candidates[0];
        assert(part->lods[0].index_count % 3 == 0);
        for (uint32_t v = 0; v < part->vertex_count; v++) {
            const th_render_mesh_vertex *vertex = &g->vertices[part->base_vertex + v];
            const size_t at = 3 * ((size_t)to->vertex_count + v);
            for (int pose = 0; pose < POSES; pose++)
                pose_vertex(c->palettes + (size_t)pose * bone_count, vertex, to->positions[pose] + at);
            memcpy(to->guides[0] + at, vertex->position, sizeof vertex->position);
            to->owners[to->vertex_count + v] = to->part_count;
        }
        for (uint32_t i = 0; i < part->lods[0].index_count; i++)
            whole->indices[whole->count++] = to->vertex_count + g->indices[part->lods[0].first_index + i];
        to->starts[to->part_count++] = to->vertex_count;
        to->vertex_count += part->vertex_count;
    }
    return true;
}

/* Vertices at the same position in mesh space, which guides[0] holds until here, all get the position of the first of
 * them. With different weights they would separate, and meshoptimizer would no longer see the seam. */
static bool find_places(group *g)
{
    const size_t count = g->vertex_count;
    uint32_t *places = malloc(3 * count * sizeof *places), *first = places + count;
    if (!places)
        return false;
    meshopt_generateVertexRemap(places, NULL, count, g->guides[0], count, 3 * sizeof(float));
    memset(first, 0xff, count * sizeof *first);
    for (uint32_t v = 0; v < count; v++) {
        if (first[places[v]] == TH_NO_INDEX)
            first[places[v]] = v;
        for (int p = 0; p < POSES; p++)
            memcpy(g->guides[p] + 3 * (size_t)v, g->positions[p] + 3 * (size_t)first[places[v]], 3 * sizeof(float));
    }
    th_islands_measure(places, g->vertex_count, g->candidates[0].indices, g->candidates[0].count, first, g->islands);
    free(places);
    return true;
}

/* False when out of memory. */
static bool join_vertices(const coarsener *c, group *g, uint32_t number)
{
    const th_geometry *geometry = c->geometry;
    const size_t count = g->vertex_count;
    th_render_mesh_vertex *vertices = malloc(count * sizeof *vertices), *to = vertices;
    if (!vertices)
        return false;
    for (uint32_t p = 0; p < geometry->part_count; p++) {
        const th_render_mesh_part *part = &geometry->parts[p];
        if (c->belong[p] != number)
            continue;
        memcpy(to, geometry->vertices + part->base_vertex, part->vertex_count * sizeof *to);
        for (const th_render_mesh_vertex *end = to + part->vertex_count; to < end; to++) {
            to->normal = p; /* parts stay apart */
            if (c->model->materials[part->material].texture == TH_NO_INDEX)
                memset(to->uv, 0, sizeof to->uv);
        }
    }
    meshopt_generateVertexRemap(g->joined, NULL, count, vertices, count, sizeof *vertices);
    free(vertices);
    for (uint32_t v = 0; v < count; v++) { /* numbers are given in the order of the vertices */
        if (g->joined[v] < g->joined_count)
            continue;
        assert(g->joined[v] == g->joined_count);
        for (int p = 0; p < POSES; p++)
            memcpy(g->guides[p] + 3 * (size_t)g->joined_count, g->guides[p] + 3 * (size_t)v, 3 * sizeof(float));
        g->firsts[g->joined_count++] = v;
    }
    return true;
}

static double extent(const float *positions, uint32_t count)
{
    return (double)meshopt_simplifyScale(positions, count, 3 * sizeof(float));
}

/* ---- simplifying ---- */

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

/* Sets the candidate's error, that of the dropped vertices, the largest over all poses. Above `limit` it is only a
 * lower bound. NaN when a vertex overflowed. False when out of memory. */
static bool measure_error(const group *g, candidate *c, double limit)
{
    assert(c->count % 3 == 0);
    memset(g->kept, 0, g->vertex_count * sizeof *g->kept);
    for (uint32_t i = 0; i < c->count; i++)
        g->kept[c->indices[i]] = true;
    c->error = 0;
    for (int p = 0; p < POSES && c->error <= limit; p++) {
        th_bvh *bvh = th_bvh_create(g->positions[p], c->indices, c->count / 3);
        size_t count = 0;
        if (!bvh)
            return false;
        for (uint32_t v = 0; v < g->vertex_count; v++)
            if (!g->kept[v])
                memcpy(g->lost + 3 * count++, g->positions[p] + 3 * (size_t)v, 3 * sizeof *g->lost);
        c->error = th_bvh_max_distance(bvh, g->lost, count, c->error, limit);
        th_bvh_destroy(bvh);
    }
    return true;
}

/* Simplifies what `before` has of the islands that are large enough to candidate n. */
static void simplify(const group *g, uint32_t n, const candidate *before, const float *guide, candidate *out)
{
    const double share = exp2(-(double)n / HALF);
    out->count = 0;
    for (uint32_t i = 0; i < before->count; i += 3)
        for (uint32_t k = i; k < i + 3 && share * g->islands[before->indices[i]] >= LEAST_ISLAND; k++)
            out->indices[out->count++] = g->joined[before->indices[k]];
    const size_t wanted = 3 * (size_t)(share * (g->candidates[0].count / 3));
    if (out->count > wanted)
        out->count = (uint32_t)meshopt_simplify(out->indices, out->indices, out->count, guide, g->joined_count,
                                                3 * sizeof(float), wanted, 1, 0, NULL);
    for (uint32_t i = 0; i < out->count; i++)
        out->indices[i] = g->firsts[out->indices[i]];
}

/* Makes candidates until HALF of them are not usable: one must save at least a tenth of the triangles. False when out
 * of memory. */
static bool make_candidates(group *g, th_arena *arena, double model_size)
{
    g->size = fmin(model_size, OWN * extent(g->positions[REST], g->vertex_count));
    for (uint32_t n = 1; n < CANDIDATES; n++)
        g->candidates[n].error = (double)INFINITY;
    for (uint32_t n = 1, usable = 0; n < CANDIDATES && n <= usable + HALF; n++) {
        candidate *best = &g->candidates[n], *spare = &g->spare;
        /* Not from one to the next: meshoptimizer forgets at each call how far it has moved the surface. */
        const candidate *twice = n < HALF ? g->candidates : best - HALF,
                        *before = isfinite(twice->error) ? twice : &g->candidates[usable];
        best->indices = th_arena_new(arena, uint32_t, twice->count); /* also for what is swapped for it later */
        if (th_arena_failed(arena))
            return false;
        best->count = best[-1].count;
        best->error = g->size * th_render_mesh_lod_limit(TH_RENDER_MESH_LODS - 1);
        for (int p = 0; p < POSES; p++) {
            if (!isnormal(extent(g->guides[p], g->joined_count)))
                continue;
            simplify(g, n, before, g->guides[p], spare);
            if (10 * (uint64_t)spare->count > 9 * (uint64_t)best[-1].count || !parts_are_runs(g, spare))
                continue;
            if (!measure_error(g, spare, best->error))
                return false;
            if (spare->error <= best->error) {
                const candidate swap = *best;
                *best = *spare;
                *spare = swap;
                usable = n;
            }
        }
        if (usable < n)
            best->error = (double)INFINITY;
    }
    return true;
}

/* ---- the render mesh's levels ---- */

static bool append_level(const coarsener *c, uint32_t lod)
{
    th_geometry *g = c->geometry;
    size_t count = g->index_count;

    for (uint32_t i = 0; i < c->group_count; i++) {
        group *from = &c->groups[i];
        const uint32_t before = from->chosen;
        for (uint32_t n = before + 1; n <= before + HALF && n < CANDIDATES; n++)
            if (from->candidates[n].error <= from->size * th_render_mesh_lod_limit(lod))
                from->chosen = n;
        from->is_new = from->chosen > before;
        from->next_part = from->next_index = 0;
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
        th_render_mesh_lod *level = &g->parts[p].lods[lod];
        *level = level[-1];
        if (!from->is_new)
            continue;
        const candidate *coarse = &from->candidates[from->chosen];
        const uint32_t part = from->next_part++, first = g->index_count;
        assert(part < from->part_count);
        for (uint32_t *i = &from->next_index; *i < coarse->count && from->owners[coarse->indices[*i]] == part; ++*i)
            g->indices[g->index_count++] = coarse->indices[*i] - from->starts[part];
        const float error = coarse->error > 0 ? nextafterf((float)coarse->error, INFINITY) : 0;
        *level = (th_render_mesh_lod){first, g->index_count - first, fmaxf(error, level[-1].error)};
    }
    assert(g->index_count == count);
    return true;
}

th_result th_geometry_coarsen(const th_model *model, th_geometry *geometry, th_error *err)
{
    assert(model && geometry && geometry->lod_count == 1);
    if (geometry->part_count == 0)
        return TH_OK;
    coarsener c = {.arena = th_arena_create(), .model = model, .geometry = geometry};
    bool good = make_palettes(&c) && make_groups(&c);
    for (uint32_t g = 0; g < c.group_count && good; g++)
        good = find_places(&c.groups[g]) && join_vertices(&c, &c.groups[g], g) &&
               make_candidates(&c.groups[g], c.arena, model->size);
    for (uint32_t l = 1; l < TH_RENDER_MESH_LODS && good; l++)
        good = append_level(&c, l);
    th_arena_destroy(c.arena);
    return good ? TH_OK : th_fail(err, TH_ERR_MEMORY, "out of memory for the levels of detail");
}
