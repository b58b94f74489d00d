#include "masks.h"

#include <assert.h>

static void set_weights(const th_compiled_model *compiled, const th_mask *mask, float *out)
{
    const th_compiled_track *track = compiled->tracks;
    for (uint32_t i = 0; i < compiled->program.op_count; i++) {
        const bool moves = compiled->program.ops[i].flags & TH_JOINT_OP_MOVES;
        out[i] = mask && moves ? mask->weights[track->joint] : 1;
        track += moves;
    }
}

bool th_masks_compile(th_compiled_model *compiled)
{
    assert(compiled);
    const size_t blocks = (compiled->program.op_count + TH_BLOCK - 1) / TH_BLOCK;
    compiled->mask_weights = th_arena_new(compiled->arena, const float *, compiled->mask_count + 1);
    for (uint32_t m = 0; compiled->mask_weights && m <= compiled->mask_count; m++) {
        float *weights = th_arena_new(compiled->arena, float, blocks *TH_BLOCK);
        if (!weights)
            return false;
        set_weights(compiled, m < compiled->mask_count ? &compiled->masks[m] : NULL, weights);
        compiled->mask_weights[m] = weights;
    }
    return compiled->mask_weights;
}
