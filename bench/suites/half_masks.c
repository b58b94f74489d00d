#include "half_masks.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* weights: zeros; meanwhile how many joints there are below each, and itself. */
static void set_half(const th_model *model, float *weights)
{
    const float half = (float)model->joint_count / 2;
    uint32_t best = 0;
    for (uint32_t j = model->joint_count; j-- > 0;) {
        weights[j] += 1;
        if (model->joints[j].parent != TH_NO_INDEX)
            weights[model->joints[j].parent] += weights[j];
    }
    for (uint32_t j = 1; j < model->joint_count; j++)
        best = fabsf(weights[j] - half) < fabsf(weights[best] - half) ? j : best;
    th_mask_from_joint(model, best, weights);
}

th_mask *th_half_masks_create(const th_model *const *models, uint32_t count)
{
    assert(models || count == 0);
    size_t most = 0;
    for (uint32_t m = 0; m < count; m++)
        most = models[m]->joint_count > most ? models[m]->joint_count : most;
    th_mask *masks = calloc(1, count * (sizeof *masks + most * sizeof(float)) + 1);
    float *weights = masks ? (float *)(void *)(masks + count) : NULL;
    for (uint32_t m = 0; masks && m < count; m++, weights += most) {
        masks[m] = (th_mask){"half", weights};
        if (models[m]->joint_count > 0)
            set_half(models[m], weights);
    }
    return masks;
}
