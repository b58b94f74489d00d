#include "bones.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double distance(const float a[3], const float b[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

void th_bone_spheres(const th_model *model, const th_render_mesh_vertex *vertices, uint32_t vertex_count,
                     th_render_mesh_bone *out)
{
    assert(model && (out || model->bone_count == 0) && (vertices || vertex_count == 0));
    for (uint32_t b = 0; b < model->bone_count; b++) {
        out[b] = (th_render_mesh_bone){.radius = -1};
        th_bone_place(&model->bones[b], out[b].center);
    }
    for (uint32_t v = 0; v < vertex_count; v++)
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertices[v].weight[k] > 0; k++) {
            th_render_mesh_bone *bone = &out[vertices[v].bone[k]];
            float joint[3];
            if (bone->radius < 0 && !th_bone_place(&model->bones[vertices[v].bone[k]], joint))
                memcpy(bone->center, vertices[v].position, sizeof bone->center);
            const double away = distance(vertices[v].position, bone->center);
            if (away > (double)bone->radius)
                bone->radius = away > 0 ? nextafterf((float)away, INFINITY) : 0;
        }
}

bool th_skeleton_lines(const th_model *model, const th_render_mesh_bone *bones, th_render_mesh_line_end *out,
                       uint32_t *count)
{
    assert(model && bones && out && count);
    /* [joint] its first bone with a bind position, otherwise that of its nearest ancestor. */
    uint32_t *bone_of = malloc(model->joint_count * sizeof *bone_of);
    if (!bone_of)
        return false;
    *count = 0;
    for (uint32_t j = 0, b = 0; j < model->joint_count; j++) {
        const uint32_t parent = model->joints[j].parent;
        const uint32_t above = parent == TH_NO_INDEX ? TH_NO_INDEX : bone_of[parent];
        uint32_t own = TH_NO_INDEX;
        float place[3];
        for (; b < model->bone_count && model->bones[b].joint == j; b++)
            if (own == TH_NO_INDEX && th_bone_place(&model->bones[b], place))
                own = b;
        bone_of[j] = own == TH_NO_INDEX ? above : own;
        if (own == TH_NO_INDEX || above == TH_NO_INDEX)
            continue;
        for (int end = 0; end < 2; end++) {
            th_render_mesh_line_end *to = &out[(*count)++];
            to->bone = end == 0 ? above : own;
            memcpy(to->position, bones[to->bone].center, sizeof to->position);
        }
    }
    assert(*count <= 2 * model->joint_count);
    free(bone_of);
    return true;
}
