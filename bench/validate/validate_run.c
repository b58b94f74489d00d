#include <throng/bench/validate_run.h>

#include <throng/bench/validate.h>
#include <throng/runtime/frame.h>

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void describe_failure(const th_validate_run_desc *t, const th_validation *validation, const char *against,
                             th_row *row)
{
    const th_model *model = th_scene_model(t->scene, validation->instance);
    snprintf(row->failure, sizeof row->failure, "joint %s of character %u (%s) is %g units off %s; %g are allowed",
             model->joints[validation->joint].name, validation->instance, model->name,
             validation->excess * validation->allowed, against, validation->allowed);
}

static double time_of(const th_validate_run_desc *t, uint64_t frame)
{
    return t->time_s ? t->time_s(frame) : (double)frame / TH_FRAME_RATE;
}

/* A frame's palettes, compared with three references. */
typedef struct frame_errors {
    th_validation truth;
    th_validation scalar;   /* zero without a reference */
    th_validation authored; /* zero if the scene is played as authored */
} frame_errors;

static th_result measure_errors(const th_validate_run_desc *t, uint64_t frame, const void *reference, bool overrides,
                                frame_errors *out, th_error *err)
{
    th_validation_desc desc = {
        .scene = t->scene,
        .crowd = t->crowd,
        .palette = t->palette,
        .time_s = time_of(t, frame),
        .sample = TH_VALIDATE_SAMPLE,
    };
    *out = (frame_errors){0};
    th_result result = th_validate_palettes(&desc, &out->truth, err);
    desc.as_authored = true;
    if (result == TH_OK && overrides)
        result = th_validate_palettes(&desc, &out->authored, err);
    desc.as_authored = false;
    desc.reference = reference;
    desc.sample = UINT32_MAX;
    if (result == TH_OK && reference)
        result = th_validate_palettes(&desc, &out->scalar, err);
    return result;
}

/* Fills the palettes with a pattern first, so that earlier contents cannot pass. */
static th_result validate_frame(const th_validate_run_desc *t, uint64_t frame, const void *reference, th_row *row,
                                th_error *err)
{
    frame_errors v;
    memset(t->palette, 0xff, th_crowd_palette_bytes(t->crowd));
    t->run(t->ctx, frame);
    const th_result result = measure_errors(t, frame, reference, row->overrides, &v, err);
    row->palette_hash = th_crowd_hash(t->crowd, t->palette);
    row->max_error = fmax(row->max_error, v.truth.max_error);
    row->error_vs_source = fmax(row->error_vs_source, v.authored.max_error);
    if (v.truth.excess > 1)
        describe_failure(t, &v.truth, "the double-precision reference", row);
    else if (v.scalar.excess > 1)
        describe_failure(t, &v.scalar, "the scalar kernel", row);
    return result;
}

th_result th_validate_run(const th_validate_run_desc *t, th_row *row, th_error *err)
{
    assert(t && t->scene && t->crowd && t->palette && t->run && row);
    row->checked = true;
    row->overrides = t->scene->compiled_model_count > 0 &&
                     th_compiled_model_interpolation(t->scene->compiled_models[0]) != TH_INTERPOLATION_AUTHORED;
    th_result result = validate_frame(t, 0, NULL, row, err);
    if (result != TH_OK || row->failure[0])
        return result;
    uint64_t first = row->palette_hash;
    result = validate_frame(t, TH_VALIDATE_FRAME, t->reference, row, err);
    row->moving = row->palette_hash != first;
    return result;
}
