#include <throng/trial.h>

#include <throng/check.h>
#include <throng/frame.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static void describe_failure(const th_trial *t, const th_check *check, const char *against, th_row *row)
{
    const th_model *model = th_scene_model(t->scene, check->instance);
    snprintf(row->failure, sizeof row->failure, "joint %s of character %u (%s) is %g units off %s; %g are allowed",
             model->joints[check->joint].name, check->instance, model->name, check->excess * check->allowed, against,
             check->allowed);
}

/* Poisons the palettes first: what somebody else left there must not count. */
static th_result try_frame(const th_trial *t, uint64_t frame, const void *reference, th_row *row, th_error *err)
{
    double time_s = (double)frame / TH_FRAME_RATE;
    memset(t->palette, 0xff, th_crowd_palette_bytes(t->crowd));
    t->run(t->ctx, frame);
    th_check truth = {0}, scalar = {0};
    th_result result = th_check_palettes(t->scene, t->crowd, t->palette, NULL, time_s, TH_TRIAL_SAMPLE, &truth, err);
    if (result == TH_OK && reference)
        result = th_check_palettes(t->scene, t->crowd, t->palette, reference, time_s, UINT32_MAX, &scalar, err);
    row->palette_hash = th_crowd_hash(t->crowd, t->palette);
    row->max_error = fmax(row->max_error, truth.max_error);
    if (truth.excess > 1)
        describe_failure(t, &truth, "the double-precision reference", row);
    else if (scalar.excess > 1)
        describe_failure(t, &scalar, "the scalar kernel", row);
    return result;
}

th_result th_trial_run(const th_trial *t, th_row *row, th_error *err)
{
    row->checked = true;
    th_result result = try_frame(t, 0, NULL, row, err);
    if (result != TH_OK || row->failure[0])
        return result;
    uint64_t first = row->palette_hash;
    result = try_frame(t, TH_TRIAL_FRAME, t->reference, row, err);
    row->moving = row->palette_hash != first;
    return result;
}
