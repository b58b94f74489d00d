#include <bench/validate_run.h>

#include <bench/validate.h>
#include <core/clock.h>
#include <core/random.h>
#include <throng/runtime/frame.h>

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DRAWN_FRAMES = 100000 }; /* half an hour of scene time */

/* The seed of the frames that do not change from run to run: errors in reports are of these only. */
#define FIXED UINT64_C(1)

static void describe_failure(const th_validate_run_desc *t, uint64_t frame, const th_validation *validation,
                             const char *against, th_row *row)
{
    const th_model *model = th_scene_model(t->scene, validation->instance);
    snprintf(row->failure, sizeof row->failure,
             "frame %llu: joint %s of character %u (%s) is %g units off %s; %g are allowed", (unsigned long long)frame,
             model->joints[validation->joint].name, validation->instance, model->name,
             validation->excess * validation->allowed, against, validation->allowed);
}

/* Differs from call to call and from run to run, so that nothing can be right where it is looked at only. */
static uint64_t draw(void)
{
    static uint64_t calls;
    return th_random_bits(th_clock_ns(), calls++);
}

static double time_of(const th_validate_run_desc *t, uint64_t frame)
{
    return t->time_s ? t->time_s(frame) : (double)frame / TH_FRAME_RATE;
}

static const th_crowd_layers *layers_of(const th_validate_run_desc *t, uint64_t frame)
{
    return t->layers ? t->layers(t->ctx, frame) : NULL;
}

/* A frame's palettes, compared with three references. */
typedef struct frame_errors {
    th_validation truth;
    th_validation scalar;   /* zero without a reference */
    th_validation authored; /* zero if the scene is played as authored */
} frame_errors;

static th_result measure_errors(const th_validate_run_desc *t, uint64_t frame, uint64_t seed, const void *reference,
                                bool overrides, frame_errors *out, th_error *err)
{
    th_validation_desc desc = {
        .scene = t->scene,
        .crowd = t->crowd,
        .palette = t->palette,
        .time_s = time_of(t, frame),
        .layers = layers_of(t, frame),
        .sample = TH_VALIDATE_SAMPLE,
        .seed = seed,
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

/* Fills the palettes with a pattern first, so that earlier contents cannot pass. seed: draws the characters. */
static th_result validate_frame(const th_validate_run_desc *t, uint64_t frame, uint64_t seed, const void *reference,
                                th_row *row, th_error *err)
{
    frame_errors v;
    memset(t->palette, 0xff, th_crowd_palette_bytes(t->crowd));
    t->run(t->ctx, frame);
    const th_result result = measure_errors(t, frame, seed, reference, row->overrides, &v, err);
    row->palette_hash = th_crowd_hash(t->crowd, t->palette);
    if (seed == FIXED) {
        row->max_error = fmax(row->max_error, v.truth.max_error);
        row->error_vs_source = fmax(row->error_vs_source, v.authored.max_error);
    }
    if (v.truth.excess > 1)
        describe_failure(t, frame, &v.truth, "the double-precision reference", row);
    else if (v.scalar.excess > 1)
        describe_failure(t, frame, &v.scalar, "the scalar kernel", row);
    return result;
}

th_result th_validate_run(const th_validate_run_desc *t, th_row *row, th_error *err)
{
    assert(t && t->scene && t->crowd && t->palette && t->run && row);
    row->checked = true;
    row->overrides = t->scene->compiled_model_count > 0 &&
                     th_compiled_model_interpolation(t->scene->compiled_models[0]) != TH_INTERPOLATION_AUTHORED;
    const uint64_t drawn = 1 + draw() % DRAWN_FRAMES, seeds[] = {draw(), draw(), FIXED};
    const uint64_t frames[] = {drawn, drawn + 1, 0};
    uint64_t first = 0;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        const th_result result = validate_frame(t, frames[i], seeds[i], NULL, row, err);
        if (result != TH_OK || row->failure[0])
            return result;
        first = row->palette_hash;
    }
    const th_result result = validate_frame(t, TH_VALIDATE_FRAME, FIXED, t->reference, row, err);
    row->moving = row->palette_hash != first;
    return result;
}

th_result th_validate_left(const th_validate_run_desc *t, uint64_t frame, th_row *row, th_error *err)
{
    assert(t && t->scene && t->crowd && t->palette && row);
    const th_validation_desc desc = {
        .scene = t->scene,
        .crowd = t->crowd,
        .palette = t->palette,
        .time_s = time_of(t, frame),
        .layers = layers_of(t, frame),
        .sample = TH_VALIDATE_LEFT,
        .seed = draw(),
    };
    th_validation found = {0};
    const th_result result = th_validate_palettes(&desc, &found, err);
    if (found.excess > 1 && !row->failure[0])
        describe_failure(t, frame, &found, "the double-precision reference after it was timed", row);
    return result;
}
