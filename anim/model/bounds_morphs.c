/* How morph targets move the vertices of a bounds proxy.
 *
 * With weights of at least 0 that sum to at most 1, a vertex is a mean of where it is without targets and of where each
 * target alone puts it. So the radius of its sphere is at most the same mean of the radii. For other weights the
 * longest moves add up. */
#include "bounds_private.h"
#include "morph.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Moves of vertices per pass over all clips, beyond which ground contacts have no targets: about a second. */
#define DELTA_BUDGET ((uint64_t)1 << 28)

/* ---- what targets do to spheres ---- */

static int compare_morphs(const void *a, const void *b)
{
    const th_bounds_morph *x = a, *y = b;
    if (x->sphere != y->sphere)
        return x->sphere < y->sphere ? -1 : 1;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* One entry for each influence of each delta. out: room for all. */
static size_t list_morphs(const th_bounds_proxy *b, th_bounds_morph *out)
{
    size_t count = 0;
    for (uint32_t m = 0; m < b->model->mesh_count; m++)
        for (uint32_t t = 0; t < b->model->meshes[m].target_count; t++) {
            const th_mesh *mesh = &b->model->meshes[m];
            const th_morph_target *target = &mesh->targets[t];
            for (uint32_t d = 0; d < target->delta_count; d++) {
                const th_morph_delta *delta = &target->deltas[d];
                const th_vertex *vertex = &mesh->vertices[delta->vertex];
                double at[3], to[3], from[3], moved[3];
                for (int i = 0; i < 3; i++)
                    to[i] = (at[i] = (double)vertex->position[i]) + (double)delta->position[i];
                for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
                    const th_bounds_sphere *sphere = &b->sphere[vertex->bone[k]];
                    th_dmat34_point(&b->palette[vertex->bone[k]], at, from);
                    th_dmat34_point(&b->palette[vertex->bone[k]], to, moved);
                    for (int i = 0; i < 3; i++) {
                        from[i] = moved[i] - from[i];
                        moved[i] -= sphere->centre[i];
                    }
                    out[count++] = (th_bounds_morph){vertex->bone[k], target->weight, length_of(from),
                                                     fmax(sphere->radius, length_of(moved)) - sphere->radius};
                }
            }
        }
    return count;
}

static uint64_t count_deltas(const th_model *model)
{
    uint64_t count = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t t = 0; t < model->meshes[m].target_count; t++)
            count += model->meshes[m].targets[t].delta_count;
    return count;
}

bool th_bounds_morphs_init(th_bounds_proxy *b)
{
    const uint64_t deltas = count_deltas(b->model);
    if (deltas == 0)
        return true;
    b->weights = calloc(b->model->weight_count, sizeof *b->weights);
    b->morph = calloc(TH_MAX_INFLUENCES * deltas, sizeof *b->morph);
    if (deltas * TH_BOUNDS_MAX_SAMPLES * (b->model->clip_count + 1u) <= DELTA_BUDGET)
        b->positions = calloc(b->vertex_count, sizeof *b->positions);
    if (!b->weights || !b->morph)
        return false;
    const size_t count = list_morphs(b, b->morph);
    qsort(b->morph, count, sizeof *b->morph, compare_morphs);
    for (size_t i = 0; i < count; i++) {
        const th_bounds_morph *next = &b->morph[i];
        th_bounds_morph *last = b->morph_count > 0 ? &b->morph[b->morph_count - 1] : NULL;
        if (last && compare_morphs(last, next) == 0) {
            last->farthest = fmax(last->farthest, next->farthest);
            last->growth = fmax(last->growth, next->growth);
        } else {
            b->morph[b->morph_count++] = *next;
        }
    }
    return true;
}

void th_bounds_morphs_pose(th_bounds_proxy *b, const th_clip *clip, double ticks)
{
    size_t first = 0;
    if (!b->weights)
        return;
    th_exact_weights(b->model, clip, ticks, b->interpolation, b->weights);
    for (uint32_t m = 0; b->positions && m < b->model->mesh_count; m++) {
        th_morph_positions(&b->model->meshes[m], b->weights, b->positions + first);
        first += b->model->meshes[m].vertex_count;
    }
}

double th_bounds_morphs_growth(const th_bounds_proxy *b, uint32_t sphere, size_t *at)
{
    double sum = 0, mean = 0, most = 0;
    bool is_mean = true;
    assert(*at == b->morph_count || b->morph[*at].sphere >= sphere); /* spheres are asked for in order */
    for (; *at < b->morph_count && b->morph[*at].sphere == sphere; ++*at) {
        const th_bounds_morph *morph = &b->morph[*at];
        const double weight = b->weights[morph->weight];
        is_mean &= weight >= 0;
        sum += weight;
        mean += weight * morph->growth;
        most += fabs(weight) * morph->farthest;
    }
    return is_mean && sum <= 1 ? fmin(mean, most) : most;
}
