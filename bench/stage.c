#include "entry.h"

#include <throng/frame.h>
#include <throng/line.h>
#include <throng/trial.h>

#include <stdlib.h>

/* All kernels must agree with the plain one up to rounding. */
static th_result write_reference(th_stage *stage, const th_crowd *crowd, th_error *err)
{
    void *scratch = th_line_alloc(th_crowd_scratch_bytes(crowd));
    if (!scratch)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the scratch of one thread");
    double time_s = TH_TRIAL_FRAME / TH_FRAME_RATE;
    th_crowd_update(crowd, 0, th_crowd_batch_count(crowd), time_s, stage->reference, scratch);
    free(scratch);
    return TH_OK;
}

static th_result create_palettes(th_stage *stage, th_error *err)
{
    th_crowd *crowd;
    th_result result = th_scene_crowd(stage->compiled, TH_ISA_SCALAR, TH_PALETTE_F32, &crowd, err);
    if (result != TH_OK)
        return result;
    stage->palette_bytes = th_crowd_palette_bytes(crowd);
    result = th_palette_create(crowd, &stage->palette, err);
    if (result == TH_OK)
        result = th_palette_create(crowd, &stage->reference, err);
    if (result == TH_OK)
        result = write_reference(stage, crowd, err);
    th_crowd_destroy(crowd);
    return result;
}

th_result th_stage_init(th_stage *stage, const th_scene_desc *desc, th_error *err)
{
    *stage = (th_stage){0};
    th_scene_desc compiled = *desc, exact = *desc;
    compiled.rig.sampling = TH_SAMPLING_COMPILED;
    exact.rig = (th_rig_desc){.sampling = TH_SAMPLING_EXACT};
    th_result result = th_scene_create(&compiled, &stage->compiled, err);
    if (result == TH_OK)
        result = th_scene_create(&exact, &stage->exact, err);
    if (result == TH_OK)
        result = create_palettes(stage, err);
    return result;
}

void th_stage_fini(th_stage *stage)
{
    th_scene_destroy(stage->compiled);
    th_scene_destroy(stage->exact);
    free(stage->palette);
    free(stage->reference);
}
