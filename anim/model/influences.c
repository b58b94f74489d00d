#include <throng/anim/exact.h>
#include <throng/anim/influences.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define MOMENTS       16u
#define VERTEX_BUDGET (1u << 24) /* vertices skinned: some seconds */

static uint32_t count_vertices(const th_model *model, uint32_t influences)
{
    uint32_t count = 0;
    for (uint32_t m = 0; m < model->mesh_count && influences < TH_MAX_INFLUENCES; m++)
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++)
            count += model->meshes[m].vertices[v].weight[influences] > 0;
    return count;
}

/* The vertex by its largest influences. */
static void skin(const th_vertex *vertex, uint32_t influences, const th_dmat34 *palette, double out[3])
{
    const double position[3] = {(double)vertex->position[0], (double)vertex->position[1], (double)vertex->position[2]};
    double sum = 0, part[3];
    out[0] = out[1] = out[2] = 0;
    for (uint32_t k = 0; k < influences; k++)
        sum += (double)vertex->weight[k];
    for (uint32_t k = 0; k < influences && vertex->weight[k] > 0; k++) {
        th_dmat34_point(&palette[vertex->bone[k]], position, part);
        for (int i = 0; i < 3; i++)
            out[i] += (double)vertex->weight[k] / sum * part[i];
    }
}

static double distance(const th_vertex *vertex, uint32_t influences, const th_dmat34 *palette)
{
    double all[3], few[3];
    skin(vertex, TH_MAX_INFLUENCES, palette, all);
    skin(vertex, influences, palette, few);
    return sqrt((all[0] - few[0]) * (all[0] - few[0]) + (all[1] - few[1]) * (all[1] - few[1]) +
                (all[2] - few[2]) * (all[2] - few[2]));
}

static void compare(const th_model *model, uint32_t influences, const th_dmat34 *palette, uint32_t clip, double time_s,
                    th_influence_error *out)
{
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++) {
            const th_vertex *vertex = &model->meshes[m].vertices[v];
            if (!(vertex->weight[influences] > 0))
                continue;
            const double away = distance(vertex, influences, palette);
            if (away > out->distance)
                *out = (th_influence_error){out->vertices, away, m, clip, time_s};
        }
}

th_result th_model_influence_error(const th_model *model, uint32_t influences, th_influence_error *out, th_error *err)
{
    assert(model && out && influences >= 1 && influences <= TH_MAX_INFLUENCES);
    *out = (th_influence_error){.vertices = count_vertices(model, influences), .clip = TH_NO_INDEX};
    if (out->vertices == 0)
        return TH_OK;
    th_dmat34 *pose = malloc(((size_t)model->joint_count + model->bone_count) * sizeof *pose);
    if (!pose)
        return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", model->name);
    th_dmat34 *palette = pose + model->joint_count;
    const uint64_t affordable = VERTEX_BUDGET / ((uint64_t)out->vertices * (model->clip_count + 1u)) + 1;
    const uint32_t moments = affordable < MOMENTS ? (uint32_t)affordable : MOMENTS;
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_palette(model, pose, palette);
    compare(model, influences, palette, TH_NO_INDEX, 0, out);
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t i = 0; i < moments; i++) {
            const th_clip *clip = &model->clips[c];
            const double ticks = clip->duration_ticks * (i + 0.5) / moments;
            th_exact_pose(model, clip, ticks, TH_INTERPOLATION_AUTHORED, pose);
            th_exact_palette(model, pose, palette);
            compare(model, influences, palette, c, ticks / clip->ticks_per_second, out);
        }
    free(pose);
    return TH_OK;
}
