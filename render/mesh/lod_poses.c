#include "lod_poses.h"

#include <throng/anim/exact.h>

#include <stdlib.h>

/* 30 degrees about (1, 1, 1). Rigs usually have bones along one axis and hinges about one axis; this axis bends and
 * twists all of them. */
static const double bend[4] = {0.1494292, 0.1494292, 0.1494292, 0.9659258};

th_dmat34 *th_lod_poses_create(const th_model *model)
{
    th_dmat34 *local = malloc(2 * (size_t)model->joint_count * sizeof *local);
    th_dmat34 *palettes = malloc(TH_LOD_POSE_COUNT * ((size_t)model->bone_count + 1) * sizeof *palettes);
    if (!local || !palettes) {
        free(local);
        free(palettes);
        return NULL;
    }
    th_dmat34 *pose = local + model->joint_count;
    for (int p = 0; p < TH_LOD_POSE_COUNT; p++) {
        const double sign = p == TH_LOD_POSE_BENT_BACK ? -1 : 1;
        const th_trs turn = {.rotation = {sign * bend[0], sign * bend[1], sign * bend[2], bend[3]}, .scale = {1, 1, 1}};
        const th_dmat34 matrix = th_dmat34_from_trs(&turn);
        th_exact_sample(model, NULL, 0, TH_INTERPOLATION_AUTHORED, local);
        for (uint32_t j = 0; p != TH_LOD_POSE_REST && j < model->joint_count; j++)
            local[j] = th_dmat34_mul(local[j], matrix);
        th_exact_resolve(model, local, pose);
        th_exact_palette(model, pose, palettes + (size_t)p * model->bone_count);
    }
    free(local);
    return palettes;
}

void th_lod_pose_vertex(const th_dmat34 *palette, const th_render_mesh_vertex *vertex, float out[3])
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
