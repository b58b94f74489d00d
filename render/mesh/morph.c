/* The deltas of morph targets by vertex, where the file has them by target. */
#include "geometry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The deltas of one vertex. */
typedef struct move {
    uint32_t vertex, first, count;
} move;

static uint32_t count_deltas(const th_mesh *mesh)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < mesh->target_count; t++)
        count += mesh->targets[t].delta_count;
    return count;
}

/* Sets the moves of all vertices, in the order of the vertices, and their deltas. */
static void gather(const th_mesh *mesh, move *moves, th_render_mesh_delta *out)
{
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        moves[v] = (move){.vertex = v};
    for (uint32_t t = 0; t < mesh->target_count; t++)
        for (uint32_t d = 0; d < mesh->targets[t].delta_count; d++)
            moves[mesh->targets[t].deltas[d].vertex].count++;
    for (uint32_t v = 1; v < mesh->vertex_count; v++) {
        moves[v].first = moves[v - 1].first + moves[v - 1].count;
        moves[v - 1].count = 0;
    }
    moves[mesh->vertex_count - 1].count = 0;
    for (uint32_t t = 0; t < mesh->target_count; t++)
        for (uint32_t d = 0; d < mesh->targets[t].delta_count; d++) {
            const th_morph_delta *from = &mesh->targets[t].deltas[d];
            move *to = &moves[from->vertex];
            th_render_mesh_delta *delta = &out[to->first + to->count++];
            *delta = (th_render_mesh_delta){.weight = (float)mesh->targets[t].weight};
            for (int i = 0; i < 3; i++) { /* turns -0 into 0, so that equal deltas are equal bytes */
                delta->position[i] = from->position[i] + 0.0F;
                delta->normal[i] = from->normal[i] + 0.0F;
            }
        }
}

static int compare_moves(const void *a, const void *b, void *ctx)
{
    const move *one = a, *other = b;
    const th_render_mesh_delta *deltas = ctx;
    if (one->count != other->count)
        return one->count < other->count ? -1 : 1;
    const int order = memcmp(deltas + one->first, deltas + other->first, one->count * sizeof *deltas);
    return order ? order : (one->vertex > other->vertex) - (one->vertex < other->vertex);
}

static bool same_move(const move *one, const move *other, const th_render_mesh_delta *deltas)
{
    return one->count == other->count &&
           memcmp(deltas + one->first, deltas + other->first, one->count * sizeof *deltas) == 0;
}

bool th_geometry_add_deltas(const th_mesh *mesh, th_geometry *g, th_render_mesh_vertex *packed)
{
    const uint32_t count = count_deltas(mesh);
    if (count == 0)
        return true;
    move *moves = malloc(mesh->vertex_count * sizeof *moves);
    th_render_mesh_delta *found = malloc(count * sizeof *found);
    th_render_mesh_delta *deltas = realloc(g->deltas, ((size_t)g->delta_count + count) * sizeof *deltas);
    if (deltas)
        g->deltas = deltas;
    if (!moves || !found || !deltas) {
        free(moves);
        free(found);
        return false;
    }
    gather(mesh, moves, found);
    qsort_r(moves, mesh->vertex_count, sizeof *moves, compare_moves, found);
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        uint32_t *to = packed[moves[i].vertex].deltas;
        if (moves[i].count == 0)
            continue;
        if (i > 0 && same_move(&moves[i - 1], &moves[i], found)) {
            memcpy(to, packed[moves[i - 1].vertex].deltas, sizeof packed->deltas);
            continue;
        }
        to[0] = g->delta_count;
        to[1] = moves[i].count;
        memcpy(deltas + g->delta_count, found + moves[i].first, moves[i].count * sizeof *deltas);
        g->delta_count += moves[i].count;
    }
    free(moves);
    free(found);
    return true;
}
