#include "bones.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the joint was, in mesh space, when it was bound. Without such a place `out` stays as it is. */
static bool joint_at_bind(const th_bind *bind, float out[3])
{
    const th_dmat34 inverse = th_dmat34_from(bind->inverse_bind);
    th_dmat34 matrix;
    if (!th_dmat34_invert(&inverse, &matrix))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!(fabs(matrix.m[4 * i + 3]) <= (double)FLT_MAX))
            return false;
        out[i] = (float)matrix.m[4 * i + 3];
    }
    return true;
}

static double distance(const float a[3], const float b[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

void th_bones_bound(const th_model *model, const th_figure_vertex *vertices, uint32_t vertex_count, th_figure_bind *out)
{
    for (uint32_t b = 0; b < model->bind_count; b++) {
        out[b] = (th_figure_bind){.radius = -1};
        joint_at_bind(&model->binds[b], out[b].center);
    }
    for (uint32_t v = 0; v < vertex_count; v++)
        for (int k = 0; k < 4 && vertices[v].weight[k] > 0; k++) {
            th_figure_bind *bind = &out[vertices[v].bind[k]];
            float joint[3];
            if (bind->radius < 0 && !joint_at_bind(&model->binds[vertices[v].bind[k]], joint))
                memcpy(bind->center, vertices[v].position, sizeof bind->center);
            const double away = distance(vertices[v].position, bind->center);
            if (away > (double)bind->radius)
                bind->radius = away > 0 ? nextafterf((float)away, INFINITY) : 0;
        }
}

bool th_bones_lines(const th_model *model, const th_figure_bind *binds, th_figure_line_end *out, uint32_t *count)
{
    /* By joint: the first of its binds that has a place, else that of the nearest ancestor. */
    uint32_t *bind_of = malloc(model->joint_count * sizeof *bind_of);
    if (!bind_of)
        return false;
    *count = 0;
    for (uint32_t j = 0, b = 0; j < model->joint_count; j++) {
        const uint32_t parent = model->joints[j].parent;
        const uint32_t above = parent == TH_NO_INDEX ? TH_NO_INDEX : bind_of[parent];
        uint32_t own = TH_NO_INDEX;
        float place[3];
        for (; b < model->bind_count && model->binds[b].joint == j; b++)
            if (own == TH_NO_INDEX && joint_at_bind(&model->binds[b], place))
                own = b;
        bind_of[j] = own == TH_NO_INDEX ? above : own;
        if (own == TH_NO_INDEX || above == TH_NO_INDEX)
            continue;
        for (int end = 0; end < 2; end++) {
            th_figure_line_end *to = &out[(*count)++];
            to->bind = end == 0 ? above : own;
            memcpy(to->position, binds[to->bind].center, sizeof to->position);
        }
    }
    free(bind_of);
    return true;
}
