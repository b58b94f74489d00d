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

/* A frame's palettes, compared with the double-precision evaluation, with the file as authored where the scene is
 * played otherwise, and with `reference` where there is one. Fills the palettes with a pattern first, so that earlier
 * contents cannot pass. seed: draws the characters. */
static th_result validate_frame(const th_validate_run_desc *t, uint64_t frame, uint64_t seed, const void *reference,
                                th_row *row, th_error *err)
{
    th_validation truth = {0}, authored = {0}, scalar = {0};
    memset(t->palette, 0xff, th_crowd_palette_bytes(t->crowd));
    t->run(t->ctx, frame);
    th_validation_desc desc = {
        .scene = t->scene,
        .crowd = t->crowd,
        .palette = t->palette,
        .time_s = time_of(t, frame),
        .layers = layers_of(t, frame),
        .sample = TH_VALIDATE_SAMPLE,
        .seed = seed,
    };
    th_result result = th_validate_palettes(&desc, &truth, err);
    desc.as_authored = true;
    if (result == TH_OK && row->overrides)
        result = th_validate_palettes(&desc, &authored, err);
    desc.as_authored = false;
    desc.reference = reference;
    desc.sample = UINT32_MAX;
    if (result == TH_OK && reference)
        result = th_validate_palettes(&desc, &scalar, err);
    row->palette_hash = th_crowd_hash(t->crowd, t->palette);
    if (seed == FIXED) {
        row->max_error = fmax(row->max_error, truth.max_error);
        row->error_vs_source = fmax(row->error_vs_source, authored.max_error);
    }
    if (truth.excess > 1)
        describe_failure(t, frame, &truth, "the double-precision reference", row);
    else if (scalar.excess > 1)
        describe_failure(t, frame, &scalar, "the scalar kernel", row);
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

/* Long enough for the clock, and few: the fastest is the floor. */
enum { FILLS = 7, FILLED_BYTES = 1 << 20 };

/* What the clock of the core may have gained since the fills. */
#define NOISE 0.1

void th_validate_floor(th_crowd *crowd, void *palette, th_row *row)
{
    assert(crowd && palette && row && row->threads > 0);
    const th_writes writes = th_crowd_writes(crowd);
    const uint32_t times = (uint32_t)(FILLED_BYTES / (th_crowd_palette_bytes(crowd) + 1)) + 1;
    if (row->failure[0] || row->real_ns.count == 0)
        return;
    double fill_ns = HUGE_VAL;
    for (int i = 0; i < 2 * FILLS; i++) {
        th_crowd_set_writes(crowd, i < FILLS ? TH_WRITES_CACHED : TH_WRITES_STREAMED);
        const uint64_t begin = th_clock_ns();
        for (uint32_t t = 0; t < times; t++)
            th_crowd_fill(crowd, 0, th_crowd_batch_count(crowd), (float)t, palette);
        fill_ns = fmin(fill_ns, (double)(th_clock_ns() - begin) / times);
    }
    th_crowd_set_writes(crowd, writes);
    const double high_ns = th_median_interval(&row->real_ns).high, floor_ns = fill_ns / row->threads;
    if (high_ns < floor_ns * (1 - NOISE))
        snprintf(row->failure, sizeof row->failure,
                 "a frame takes %.3g us, but writing its palettes and nothing else takes %.3g us: it cannot have posed "
                 "all of them",
                 high_ns / 1e3, floor_ns / 1e3);
}
