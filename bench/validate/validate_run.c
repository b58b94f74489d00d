#include <throng/bench/validate_run.h>

#include <throng/bench/validate.h>
#include <throng/runtime/frame.h>

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

static double time_of(const th_trial *t, uint64_t frame)
{
    return t->time_s ? t->time_s(frame) : (double)frame / TH_FRAME_RATE;
}

/* A frame's palettes, held against three things. */
typedef struct verdict {
    th_check truth;
    th_check scalar;   /* zero without a reference */
    th_check authored; /* zero where the scene is played as authored */
} verdict;

static th_result judge(const th_trial *t, uint64_t frame, const void *reference, bool overrides, verdict *out,
                       th_error *err)
{
    th_check_desc desc = {
        .scene = t->scene,
        .crowd = t->crowd,
        .palette = t->palette,
        .time_s = time_of(t, frame),
        .sample = TH_TRIAL_SAMPLE,
    };
    *out = (verdict){0};
    th_result result = th_check_palettes(&desc, &out->truth, err);
    desc.as_authored = true;
    if (result == TH_OK && overrides)
        result = th_check_palettes(&desc, &out->authored, err);
    desc.as_authored = false;
    desc.reference = reference;
    desc.sample = UINT32_MAX;
    if (result == TH_OK && reference)
        result = th_check_palettes(&desc, &out->scalar, err);
    return result;
}

/* Poisons the palettes first: what somebody else left there must not count. */
static th_result try_frame(const th_trial *t, uint64_t frame, const void *reference, th_row *row, th_error *err)
{
    verdict v;
    memset(t->palette, 0xff, th_crowd_palette_bytes(t->crowd));
    t->run(t->ctx, frame);
    const th_result result = judge(t, frame, reference, row->overrides, &v, err);
    row->palette_hash = th_crowd_hash(t->crowd, t->palette);
    row->max_error = fmax(row->max_error, v.truth.max_error);
    row->from_authored = fmax(row->from_authored, v.authored.max_error);
    if (v.truth.excess > 1)
        describe_failure(t, &v.truth, "the double-precision reference", row);
    else if (v.scalar.excess > 1)
        describe_failure(t, &v.scalar, "the scalar kernel", row);
    return result;
}

th_result th_trial_run(const th_trial *t, th_row *row, th_error *err)
{
    row->checked = true;
    row->overrides = t->scene->rig_count > 0 && th_rig_interpolation(t->scene->rigs[0]) != TH_INTERPOLATION_AUTHORED;
    th_result result = try_frame(t, 0, NULL, row, err);
    if (result != TH_OK || row->failure[0])
        return result;
    uint64_t first = row->palette_hash;
    result = try_frame(t, TH_TRIAL_FRAME, t->reference, row, err);
    row->moving = row->palette_hash != first;
    return result;
}
