#include <throng/anim/weights.h>

#include <throng/anim/exact.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* The largest scale of the bones that a mesh follows. palette: at rest. */
static double scale_of(const th_mesh *mesh, const th_dmat34 *palette)
{
    double largest = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES && mesh->vertices[v].weight[k] > 0; k++)
            largest = fmax(largest, th_dmat34_stretch(&palette[mesh->vertices[v].bone[k]]));
    return largest;
}

static double length_of(const float v[3])
{
    const double x = (double)v[0], y = (double)v[1], z = (double)v[2];
    return sqrt(x * x + y * y + z * z);
}

double *th_weight_reaches(const th_model *model)
{
    assert(model);
    double *reaches = calloc((size_t)model->weight_count + 1, sizeof *reaches);
    th_dmat34 *pose = calloc((size_t)model->joint_count + model->bone_count + 1, sizeof *pose);
    if (!reaches || !pose) {
        free(reaches);
        free(pose);
        return NULL;
    }
    th_dmat34 *palette = pose + model->joint_count;
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_palette(model, pose, palette);
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *mesh = &model->meshes[m];
        const double scale = mesh->target_count > 0 ? scale_of(mesh, palette) : 0;
        for (uint32_t t = 0; t < mesh->target_count; t++) {
            double *reach = &reaches[mesh->targets[t].weight];
            for (uint32_t d = 0; d < mesh->targets[t].delta_count; d++)
                *reach = fmax(*reach, scale * length_of(mesh->targets[t].deltas[d].position));
        }
    }
    free(pose);
    return reaches;
}

double th_weight_error(const th_model *model, const double *reaches, const double *errors, uint32_t *out_joint)
{
    assert(model && ((reaches && errors) || model->weight_count == 0));
    double largest = 0, sum = 0;
    for (uint32_t w = 0; w < model->weight_count; w++) {
        const uint32_t joint = model->weights[w].joint;
        if (!isfinite(errors[w]))
            return HUGE_VAL;
        sum = w > 0 && model->weights[w - 1].joint == joint ? sum : 0;
        sum += fabs(errors[w]) * reaches[w];
        if (!(sum > largest))
            continue;
        largest = sum;
        if (out_joint)
            *out_joint = joint;
    }
    return largest;
}
