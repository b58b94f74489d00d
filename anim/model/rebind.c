#include "rebind.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- bones ---- */

/* The first bone of a joint through which vertices can be moved; TH_NO_INDEX: none. */
static uint32_t find_bone(const th_held_skeleton *s, uint32_t joint, th_dmat34 *mesh_from_joint)
{
    for (uint32_t b = s->first_bone[joint]; b < s->first_bone[joint + 1]; b++) {
        const th_dmat34 inverse_bind = th_dmat34_from(s->model->bones[b].inverse_bind);
        if (th_dmat34_invert(&inverse_bind, mesh_from_joint))
            return b;
    }
    return TH_NO_INDEX;
}

th_rebind th_rebind_bone(const th_held_skeleton *s, uint32_t bone)
{
    assert(s && bone < s->model->bone_count);
    th_rebind found = {bone, TH_DMAT34_IDENTITY};
    th_dmat34 matrix = th_dmat34_from(s->model->bones[bone].inverse_bind), mesh_from_joint;
    uint32_t joint = s->model->bones[bone].joint;
    while (s->held[joint] && s->model->joints[joint].parent != TH_NO_INDEX) {
        matrix = th_dmat34_mul(s->means[joint], matrix);
        joint = s->model->joints[joint].parent;
        const uint32_t above = find_bone(s, joint, &mesh_from_joint);
        if (above != TH_NO_INDEX)
            found = (th_rebind){above, th_dmat34_mul(mesh_from_joint, matrix)};
    }
    return found;
}

/* ---- vertices ---- */

th_dmat34 th_rebind_matrix(const th_rebind *rebinds, const th_vertex *vertex)
{
    assert(rebinds && vertex);
    th_dmat34 sum = {{0}};
    double weights = 0;
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
        weights += (double)vertex->weight[k];
        for (int i = 0; i < 12; i++)
            sum.m[i] += (double)vertex->weight[k] * rebinds[vertex->bone[k]].matrix.m[i];
    }
    for (int i = 0; i < 12; i++)
        sum.m[i] /= weights;
    return sum;
}

/* What normals are multiplied with: cofactors of the linear part. */
static void turn_normal(const th_dmat34 *matrix, const float normal[3], double out[3])
{
    const double *m = matrix->m;
    for (int row = 0; row < 3; row++) {
        const double *a = m + (row + 1) % 3 * 4, *b = m + (row + 2) % 3 * 4;
        out[row] = 0;
        for (int i = 0; i < 3; i++) {
            const int next = (i + 1) % 3, last = (i + 2) % 3;
            out[row] += (a[next] * b[last] - a[last] * b[next]) * (double)normal[i];
        }
    }
}

/* What makes the normal of the vertex as long as before. 0: it lost its direction. */
static double normal_factor(const th_dmat34 *matrix, const float normal[3])
{
    double turned[3];
    turn_normal(matrix, normal, turned);
    const double before = hypot(hypot((double)normal[0], (double)normal[1]), (double)normal[2]);
    const double after = hypot(hypot(turned[0], turned[1]), turned[2]);
    return after > 0 ? before / after : 0;
}

/* Adds the weight to the influence of that bone. Returns the new number of influences. */
static uint32_t add_influence(th_vertex *vertex, uint32_t count, uint32_t bone, float weight)
{
    uint32_t k = 0;
    while (k < count && vertex->bone[k] != bone)
        k++;
    const bool is_new = k == count;
    vertex->bone[k] = (uint16_t)bone;
    vertex->weight[k] += weight;
    for (; k > 0 && vertex->weight[k] > vertex->weight[k - 1]; k--) {
        const uint16_t bone_before = vertex->bone[k - 1];
        const float weight_before = vertex->weight[k - 1];
        vertex->bone[k - 1] = vertex->bone[k];
        vertex->weight[k - 1] = vertex->weight[k];
        vertex->bone[k] = bone_before;
        vertex->weight[k] = weight_before;
    }
    return count + is_new;
}

th_vertex th_rebind_vertex(const th_rebind *rebinds, const uint32_t *numbers, const th_dmat34 *matrix,
                           const th_vertex *vertex)
{
    assert(rebinds && numbers && matrix && vertex);
    th_vertex out = *vertex;
    uint32_t count = 0;
    double place[3] = {(double)vertex->position[0], (double)vertex->position[1], (double)vertex->position[2]},
           turned[3];
    th_dmat34_point(matrix, place, place);
    turn_normal(matrix, vertex->normal, turned);
    const double factor = normal_factor(matrix, vertex->normal);
    for (int i = 0; i < 3; i++) {
        out.position[i] = (float)place[i];
        if (factor > 0)
            out.normal[i] = (float)(factor * turned[i]);
    }
    memset(out.bone, 0, sizeof out.bone);
    memset(out.weight, 0, sizeof out.weight);
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++)
        count = add_influence(&out, count, numbers[rebinds[vertex->bone[k]].bone], vertex->weight[k]);
    return out;
}

th_morph_delta th_rebind_delta(const th_dmat34 *matrix, const th_vertex *vertex, const th_morph_delta *delta)
{
    assert(matrix && vertex && delta);
    th_morph_delta out = {.vertex = delta->vertex};
    const double factor = normal_factor(matrix, vertex->normal);
    double turned[3];
    turn_normal(matrix, delta->normal, turned);
    for (int row = 0; row < 3; row++) {
        double moved = 0;
        for (int i = 0; i < 3; i++)
            moved += matrix->m[4 * row + i] * (double)delta->position[i];
        out.position[row] = (float)moved;
        out.normal[row] = factor > 0 ? (float)(factor * turned[row]) : delta->normal[row];
    }
    return out;
}
