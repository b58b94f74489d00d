/* Which side of a part's triangles can be left out. Where the matrix of a bone mirrors, the triangles that follow it
 * turn inside out, as artists who mirror an arm to get the other one expect. */
#include "geometry.h"

#include <stdlib.h>

/* Whether a transform keeps or mirrors what it moves; both bits: now this, now that. */
enum { KEEPS = 1, MIRRORS = 2 };

static unsigned parity(double determinant)
{
    return determinant < 0 ? MIRRORS : KEEPS;
}

/* One after the other. */
static unsigned combine(unsigned a, unsigned b)
{
    const unsigned swapped = (b & KEEPS ? MIRRORS : 0u) | (b & MIRRORS ? KEEPS : 0u);
    return (a & KEEPS ? b : 0) | (a & MIRRORS ? swapped : 0);
}

static double determinant(const th_mat34 *matrix)
{
    double m[12];
    for (int i = 0; i < 12; i++)
        m[i] = (double)matrix->m[i];
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
           m[2] * (m[4] * m[9] - m[5] * m[8]);
}

static unsigned parity_of_scales(const th_track *scale)
{
    unsigned parities = 0;
    for (uint32_t k = 0; k < scale->key_count; k++) {
        const float *v = scale->values + 3 * (size_t)k;
        parities |= parity((double)v[0] * (double)v[1] * (double)v[2]);
    }
    return parities;
}

/* out: [joint_count], from the joint to the scene, at rest and in all clips. */
static void find_joint_parities(const th_model *model, unsigned *out)
{
    for (uint32_t j = 0; j < model->joint_count; j++)
        out[j] = parity(determinant(&model->joints[j].rest));
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t n = 0; n < model->clips[c].channel_count; n++) {
            const th_channel *channel = &model->clips[c].channels[n];
            out[channel->joint] |= parity_of_scales(&channel->scale);
        }
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (model->joints[j].parent != TH_NO_INDEX)
            out[j] = combine(out[model->joints[j].parent], out[j]);
}

static unsigned parity_of_part(const th_model *model, const unsigned *joints, const th_render_mesh_vertex *vertices,
                               uint32_t count)
{
    unsigned parities = 0;
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++) {
            const th_bone *bone = &model->bones[vertices[v].bone[k]];
            parities |= combine(joints[bone->joint], parity(determinant(&bone->inverse_bind)));
        }
    return parities;
}

th_result th_geometry_set_culling(const th_model *model, th_geometry *g, th_error *err)
{
    unsigned *joints = malloc(model->joint_count * sizeof *joints);
    if (!joints)
        return th_fail(err, TH_ERR_MEMORY, "out of memory for %u joints", model->joint_count);
    find_joint_parities(model, joints);
    for (uint32_t p = 0; p < g->part_count; p++) {
        th_render_mesh_part *part = &g->parts[p];
        const unsigned parities = parity_of_part(model, joints, g->vertices + part->base_vertex, part->vertex_count);
        if (model->materials[part->material].double_sided || parities == (KEEPS | MIRRORS))
            part->culling = TH_CULL_NONE;
        else
            part->culling = parities == MIRRORS ? TH_CULL_FRONT : TH_CULL_BACK;
    }
    free(joints);
    return TH_OK;
}
