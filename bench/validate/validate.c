#include <bench/validate.h>

#include <anim/exact.h>
#include <anim/weights.h>
#include <core/arena.h>
#include <core/clock.h>
#include <core/random.h>
#include <runtime/frame.h>
#include <throng/throng.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- a palette against the reference ---- */

/* Points of a bone's mesh: at its joint, and as far from it as TH_SHELL_M says where the model rests. */
typedef struct points {
    double at[7][3];
} points;

/* An instance: its palette and the reference. */
typedef struct subject {
    const th_model *model;
    const th_dmat34 *wanted; /* reference palette of the bones */
    const points *points;    /* of the bones */
    th_format format;
    const char *palette;
    double bound, rounding; /* of positions, and of the model's size and of the distance from the origin */
} subject;

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* pose, palette: room for those at rest. A joint that is scaled to zero there has the one point. */
static void find_points(const th_model *model, th_dmat34 *pose, th_dmat34 *palette, points *out)
{
    const double shell = TH_SHELL_M * model->size / TH_REFERENCE_SIZE_M;
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_palette(model, pose, palette);
    for (uint32_t b = 0; b < model->bone_count; b++) {
        const th_dmat34 bind = th_dmat34_from(model->bones[b].inverse_bind);
        th_dmat34 joint = {0}, mesh = {0};
        th_dmat34_invert(&bind, &joint);
        th_dmat34_invert(&palette[b], &mesh);
        for (int i = 0; i < 7; i++)
            for (int k = 0; k < 3; k++)
                out[b].at[i][k] = joint.m[4 * k + 3] + (i < 6 ? mesh.m[4 * k + i / 2] * (i % 2 ? -shell : shell) : 0);
    }
}

static double entry_error(const subject *s, uint32_t bone)
{
    th_mat34 entry;
    const th_palette_base base = th_model_palette_base(s->model, bone);
    th_palette_read(s->format, s->palette + bone * th_palette_entry_bytes(s->format), &base, entry.m);
    const th_dmat34 got = th_dmat34_from(entry);
    double error = 0, lands[3], wanted[3];
    for (int i = 0; i < 7; i++) {
        th_dmat34_point(&got, s->points[bone].at[i], lands);
        th_dmat34_point(&s->wanted[bone], s->points[bone].at[i], wanted);
        const double here = distance(lands, wanted);
        if (!(here <= error)) /* also keeps a NaN */
            error = here;
    }
    return error;
}

/* away: distance of the joint from the origin. */
static void add_error(const subject *s, double error, double away, uint32_t joint, th_validation *validation)
{
    const double allowed = s->bound + s->rounding * (s->model->size + away);
    if (!isfinite(error))
        error = HUGE_VAL;
    validation->max_error = fmax(validation->max_error, error);
    if (error / allowed > validation->excess) {
        validation->excess = error / allowed;
        validation->allowed = allowed;
        validation->joint = joint;
    }
}

/* What an instance plays. A clip is one layer. */
typedef struct play {
    const th_layer *layers;
    uint32_t count;
    th_layer clip;
} play;

static void find_play(const th_validation_desc *desc, uint32_t i, double ticks, play *out)
{
    const th_crowd_layers *table = desc->layers;
    const th_clip *clip = th_scene_clip(desc->scene, i);
    out->count = table ? table->counts[i] : 0;
    out->layers = out->count > 0 ? table->layers + (size_t)i * table->stride : &out->clip;
    if (out->count > 0)
        return;
    const double ratio = clip && clip->duration_ticks > 0 ? ticks / clip->duration_ticks : 0;
    out->clip = (th_layer){fmin(ratio, 1), 1, clip ? (uint16_t)desc->scene->instances[i].clip : TH_REST_CLIP,
                           TH_LAYER_OVERRIDE, TH_NO_MASK};
    out->count = 1;
}

/* The allowed error of compiled clips; it applies when the reference is the authored clips. Clips that are blended are
 * off by no more than the worst of them. A layer that adds brings its own error and that of where it starts. */
static double bound_of(const th_compiled_model *compiled, const play *p)
{
    double blended = 0, added = 0;
    for (uint32_t k = 0; k < p->count; k++) {
        const th_layer *layer = &p->layers[k];
        const bool exact =
            layer->clip == TH_REST_CLIP || !th_compiled_model_clip_report(compiled, layer->clip)->compiled;
        if (layer->mode == TH_LAYER_OVERRIDE)
            blended = exact ? blended : 1;
        else
            added += exact ? 0 : 2 * (double)layer->weight;
    }
    return (blended + added) * th_compiled_model_bound(compiled);
}

/* Memory for the references of one instance. */
typedef struct workspace {
    th_dmat34 *pose; /* room for the joints and bones of the largest model */
    double *weights; /* twice room for weights */
    uint32_t most_weights;
    double **reaches; /* by model, as: */
    points **points;
} workspace;

/* Validates one instance at `ticks` of its clip. */
static th_validation validate_at(const th_validation_desc *desc, uint32_t i, double ticks, const workspace *w)
{
    const uint32_t m = desc->scene->instances[i].model;
    const th_model *model = th_scene_model(desc->scene, i);
    const th_clip *clip = th_scene_clip(desc->scene, i);
    const th_compiled_model *compiled = desc->scene->compiled_models[m];
    const th_interpolation mode = desc->as_authored ? TH_INTERPOLATION_AUTHORED
                                  : desc->plays_keys && clip && th_clip_has_curves(clip)
                                      ? TH_INTERPOLATION_SLERP
                                      : th_compiled_model_interpolation(compiled);
    const size_t offset = th_crowd_palette_offset(desc->crowd, i);
    th_dmat34 *wanted = w->pose + model->joint_count;
    double *weights = w->weights, *errors = w->weights + w->most_weights;
    play p;
    find_play(desc, i, ticks, &p);
    if (desc->layers) {
        uint32_t mask_count;
        const th_mask *masks = th_compiled_model_masks(compiled, &mask_count);
        th_exact_layers(model, p.layers, p.count, masks, mask_count, mode, w->pose, weights);
        th_exact_resolve(model, w->pose, w->pose);
    } else {
        th_exact_pose(model, clip, ticks, mode, w->pose);
        th_exact_weights(model, clip, ticks, mode, weights);
    }
    th_exact_palette(model, w->pose, wanted);
    if (desc->reference) { /* palettes in single precision, instead of exact ones */
        const th_mat34 *palette = (const th_mat34 *)((const char *)desc->reference + offset);
        for (uint32_t b = 0; b < model->bone_count; b++)
            wanted[b] = th_dmat34_from(palette[b]);
        for (uint32_t k = 0; k < model->weight_count; k++)
            weights[k] = (double)palette[model->bone_count + k / 12].m[k % 12];
    }

    const double bound = desc->reference ? 0 : bound_of(compiled, &p);
    const subject s = {
        .model = model,
        .wanted = wanted,
        .points = w->points[m],
        .format = th_crowd_format(desc->crowd),
        .palette = (const char *)desc->palette + offset,
        .bound = bound,
        .rounding =
            bound > 0 && p.count == 1 && mode == TH_INTERPOLATION_AUTHORED ? TH_VALIDATE_BETWEEN : TH_VALIDATE_ROUNDING,
    };
    th_validation validation = {.instance = i};
    for (uint32_t b = 0; b < model->bone_count; b++) {
        const uint32_t joint = model->bones[b].joint;
        const double *pose = w->pose[joint].m;
        const double away = distance((double[3]){pose[3], pose[7], pose[11]}, (double[3]){0, 0, 0});
        add_error(&s, entry_error(&s, b), away, joint, &validation);
    }
    if (model->weight_count == 0)
        return validation;
    const size_t entry_bytes = th_palette_entry_bytes(s.format);
    th_mat34 entry;
    for (uint32_t k = 0; k < model->weight_count; k++) {
        if (k % 12 == 0)
            th_palette_read(s.format, s.palette + (model->bone_count + k / 12) * entry_bytes, NULL, entry.m);
        errors[k] = (double)entry.m[k % 12] - weights[k];
    }
    uint32_t joint = 0;
    const double error = th_weight_error(model, w->reaches[m], errors, &joint);
    add_error(&s, error, 0, joint, &validation);
    return validation;
}

/* Where a clip jumps, rounding of the time decides the side: either is right. */
static th_validation validate_around(const th_validation_desc *desc, uint32_t i, const workspace *w)
{
    const th_clip *clip = th_scene_clip(desc->scene, i);
    const double ticks = clip ? th_clip_ticks(clip, th_scene_clip_time(desc->scene, i, desc->time_s)) : 0;
    th_validation best = validate_at(desc, i, ticks, w);
    for (int side = -1; side <= 1 && best.excess > 1; side += 2) {
        const th_validation other = validate_at(desc, i, ticks * (1 + side * TH_VALIDATE_TIME_ROUNDING), w);
        best = other.excess < best.excess ? other : best;
    }
    return best;
}

/* Keeps the worst. */
static void validate_one(const th_validation_desc *desc, uint32_t i, const workspace *w, th_validation *validation)
{
    const th_validation one = validate_around(desc, i, w);
    const double max_error = fmax(validation->max_error, one.max_error);
    if (one.excess > validation->excess)
        *validation = one;
    validation->max_error = max_error;
}

/* Who may be posed by code of its own. Of each model: who is left over by batches of 16, or not; plays the rest pose,
 * compiled keys, or authored ones; alone, or with other layers. */
enum { BATCH = 16, KINDS = 2 * 3 * 2 };

/* Draws an instance of each kind: [model][KINDS] its index + 1, 0: there is none. NULL when memory is out. */
static const uint32_t *draw_kinds(const th_validation_desc *desc, th_arena *arena)
{
    const th_scene *scene = desc->scene;
    const uint32_t models = scene->compiled_model_count;
    uint32_t *totals = th_arena_new(arena, uint32_t, models), *ranks = th_arena_new(arena, uint32_t, models),
             *seen = th_arena_new(arena, uint32_t, (size_t)models * KINDS),
             *out = th_arena_new(arena, uint32_t, (size_t)models * KINDS);
    play p;
    if (th_arena_failed(arena))
        return NULL;
    for (uint32_t i = 0; i < scene->instance_count; i++)
        totals[scene->instances[i].model]++;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const uint32_t m = scene->instances[i].model;
        find_play(desc, i, 0, &p);
        const uint16_t clip = p.layers[0].clip;
        const bool is_left = ranks[m]++ / BATCH == totals[m] / BATCH, is_rest = clip == TH_REST_CLIP;
        const uint32_t keys =
            is_rest ? 0 : 1 + th_compiled_model_clip_report(scene->compiled_models[m], clip)->compiled;
        const uint32_t k = ((m * 2 + is_left) * 3 + keys) * 2 + (p.count > 1);
        if (th_random_bits(~desc->seed, i) % ++seen[k] == 0)
            out[k] = i + 1;
    }
    return out;
}

th_result th_validate_palettes(const th_validation_desc *desc, th_validation *validation, th_error *err)
{
    assert(desc && desc->scene && desc->crowd && desc->palette && validation);
    assert(desc->sample > 0);
    const th_scene *scene = desc->scene;
    th_arena *arena = th_arena_create();
    workspace w = {.reaches = th_arena_new(arena, double *, scene->compiled_model_count),
                   .points = th_arena_new(arena, points *, scene->compiled_model_count)};
    size_t most = 0;
    for (uint32_t m = 0; m < scene->compiled_model_count && !th_arena_failed(arena); m++) {
        const th_model *model = th_compiled_model_source(scene->compiled_models[m]);
        const size_t size = (size_t)model->joint_count + model->bone_count;
        most = size > most ? size : most;
        w.most_weights = model->weight_count > w.most_weights ? model->weight_count : w.most_weights;
        w.reaches[m] = th_weight_reaches(model, arena);
        w.points[m] = th_arena_new(arena, points, model->bone_count);
    }
    w.pose = th_arena_new(arena, th_dmat34, most);
    w.weights = th_arena_new(arena, double, 2 * (size_t)w.most_weights);
    const uint32_t *kinds = draw_kinds(desc, arena);
    if (!kinds) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "no memory for the reference pose");
    }
    for (uint32_t m = 0; m < scene->compiled_model_count; m++) {
        const th_model *model = th_compiled_model_source(scene->compiled_models[m]);
        find_points(model, w.pose, w.pose + model->joint_count, w.points[m]);
    }
    const uint32_t count = scene->instance_count, checked = count < desc->sample ? count : desc->sample;
    for (uint32_t k = 0; k < checked; k++) {
        const uint64_t first = (uint64_t)k * count / checked, end = (k + (uint64_t)1) * count / checked;
        assert(first < end);
        validate_one(desc, (uint32_t)(first + th_random_bits(desc->seed, k) % (end - first)), &w, validation);
    }
    for (uint32_t k = 0; checked < count && k < scene->compiled_model_count * KINDS; k++)
        if (kinds[k] > 0)
            validate_one(desc, kinds[k] - 1, &w, validation);
    th_arena_destroy(arena);
    return TH_OK;
}

/* ---- code that poses ---- */

enum { DRAWN_FRAMES = 100000 }; /* half an hour of scene time */

/* The seed of the frames that do not change from run to run: errors in reports are of these only. */
#define FIXED UINT64_C(1)

static void describe_failure(const th_validate_run_desc *t, uint64_t frame, const th_validation *validation,
                             const char *against, th_row *row)
{
    const th_model *model = th_scene_model(t->scene, validation->instance);
    th_row_fail(
        row,
        "frame %llu: joint %s of character %u (%s) is %g units off %s; %g are allowed (THRONG_CHECK_SEED=%llu checks "
        "the same)",
        (unsigned long long)frame, model->joints[validation->joint].name, validation->instance, model->name,
        validation->excess * validation->allowed, against, validation->allowed, (unsigned long long)row->draws.seed);
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
        .plays_keys = t->plays_keys,
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
    row->overrides =
        t->plays_keys || (t->scene->compiled_model_count > 0 &&
                          th_compiled_model_interpolation(t->scene->compiled_models[0]) != TH_INTERPOLATION_AUTHORED);
    const uint64_t drawn = 1 + th_draws_next(&row->draws) % DRAWN_FRAMES;
    const uint64_t seeds[] = {th_draws_next(&row->draws), th_draws_next(&row->draws), FIXED};
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
        .seed = th_draws_next(&row->draws),
        .plays_keys = t->plays_keys,
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
        th_row_fail(
            row,
            "a frame takes %.3g us, but writing its palettes and nothing else takes %.3g us: it cannot have posed "
            "all of them",
            high_ns / 1e3, floor_ns / 1e3);
}
