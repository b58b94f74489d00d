#include "model_distance.h"

#include "moments.h"
#include "vertices.h"

#include <throng/anim/exact.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define MOST          256u
#define VERTEX_BUDGET (1u << 20) /* vertices skinned twice: a tenth of a second */
#define CLOSER        16         /* moments on either side of the worst, within the distance to its neighbours */

typedef struct comparison {
    const th_model *models[2];
    th_dmat34 *poses[2], *palettes[2];
    th_model_distance *worst;
} comparison;

/* Blends the rows of matrices before it multiplies: fewer operations for several influences. */
void th_model_skin_vertex(const th_vertex *vertex, const th_dmat34 *palette, double out[3])
{
    double sum[12] = {0};
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
        const double weight = (double)vertex->weight[k], *m = palette[vertex->bone[k]].m;
        for (int i = 0; i < 12; i++)
            sum[i] += weight * m[i];
    }
    const double x = (double)vertex->position[0], y = (double)vertex->position[1], z = (double)vertex->position[2];
    for (int row = 0; row < 3; row++)
        out[row] = sum[4 * row] * x + sum[4 * row + 1] * y + sum[4 * row + 2] * z + sum[4 * row + 3];
}

static double farthest(const comparison *c, const th_mesh *a, const th_mesh *b)
{
    double square = 0;
    for (uint32_t v = 0; v < a->vertex_count; v++) {
        double one[3], other[3], sum = 0;
        th_model_skin_vertex(&a->vertices[v], c->palettes[0], one);
        th_model_skin_vertex(&b->vertices[v], c->palettes[1], other);
        for (int i = 0; i < 3; i++)
            sum += (one[i] - other[i]) * (one[i] - other[i]);
        square = sum <= square ? square : sum; /* NaN counts as the farthest */
    }
    return sqrt(square);
}

static void compare_at(const comparison *c, uint32_t clip, double ticks)
{
    for (int i = 0; i < 2; i++) {
        const th_clip *played = clip == TH_NO_INDEX ? NULL : &c->models[i]->clips[clip];
        th_exact_pose(c->models[i], played, ticks, TH_INTERPOLATION_AUTHORED, c->poses[i]);
        th_exact_palette(c->models[i], c->poses[i], c->palettes[i]);
    }
    for (uint32_t m = 0; m < c->models[0]->mesh_count; m++) {
        const double away = farthest(c, &c->models[0]->meshes[m], &c->models[1]->meshes[m]);
        if (!(away <= c->worst->distance))
            *c->worst =
                (th_model_distance){isnan(away) ? HUGE_VAL : away, clip,
                                    clip == TH_NO_INDEX ? 0 : ticks / c->models[0]->clips[clip].ticks_per_second};
    }
}

static void compare_all(const comparison *c)
{
    const th_model *model = c->models[0];
    const uint32_t count = th_moments_count(model, MOST, VERTEX_BUDGET / (th_vertices_count(model) + 1u) + 1);
    for (uint32_t i = 0; i < count; i++) {
        const th_moment at = th_moment_at(model, count, i);
        compare_at(c, at.clip ? (uint32_t)(at.clip - model->clips) : TH_NO_INDEX, at.ticks);
    }
    const uint32_t clip = c->worst->clip;
    if (clip == TH_NO_INDEX)
        return;
    const double duration = model->clips[clip].duration_ticks, rate = model->clips[clip].ticks_per_second,
                 worst = c->worst->time_s * rate, apart = duration * model->clip_count / count;
    for (int i = -CLOSER; i <= CLOSER; i++)
        compare_at(c, clip, fmin(fmax(worst + apart * i / CLOSER, 0), duration));
}

bool th_model_distance_measure(const th_model *model, const th_model *other, th_model_distance *out)
{
    assert(model && other && out);
    assert(model->mesh_count == other->mesh_count && model->clip_count == other->clip_count);
    *out = (th_model_distance){.clip = TH_NO_INDEX};
    comparison c = {.models = {model, other}, .worst = out};
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        c.poses[i] = malloc((c.models[i]->joint_count + 1u) * sizeof *c.poses[i]);
        c.palettes[i] = malloc((c.models[i]->bone_count + 1u) * sizeof *c.palettes[i]);
        ok &= c.poses[i] && c.palettes[i];
    }
    if (ok)
        compare_all(&c);
    for (int i = 0; i < 2; i++) {
        free(c.poses[i]);
        free(c.palettes[i]);
    }
    return ok;
}
