#include <bench/validate.h>

#include <core/random.h>
#include <throng/anim/exact.h>
#include <throng/anim/layer.h>
#include <throng/anim/weights.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* An instance: its palette and the reference. */
typedef struct subject {
    const th_model *model;
    const th_dmat34 *pose;   /* reference joint transforms */
    const th_dmat34 *wanted; /* reference palette of the bones */
    th_palette format;
    const char *palette;
    double shell, bound;
} subject;

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* The scene point x belongs to the mesh point inverse(wanted) * x, which the palette puts at got * inverse(wanted) * x.
 * `moved` is got * inverse(wanted). So the units of mesh space do not matter. */
static double shell_error(const th_dmat34 *moved, const double joint[3], double shell)
{
    double lands[3];
    th_dmat34_point(moved, joint, lands);
    double error = distance(lands, joint); /* start value, not 0: fmax() would drop a NaN */
    for (int i = 0; i < 6; i++) {
        double point[3] = {joint[0], joint[1], joint[2]};
        point[i / 2] += i % 2 ? -shell : shell;
        th_dmat34_point(moved, point, lands);
        error = fmax(error, distance(lands, point));
    }
    return error;
}

static double entry_error(const subject *s, uint32_t bone)
{
    const double *pose = s->pose[s->model->bones[bone].joint].m;
    th_mat34 entry;
    const th_palette_base base = th_model_palette_base(s->model, bone);
    th_palette_read(s->format, s->palette + bone * th_palette_entry_bytes(s->format), &base, entry.m);
    th_dmat34 got = th_dmat34_from(entry), inverse;
    if (!th_dmat34_invert(&s->wanted[bone], &inverse)) /* scaled to zero: there is no mesh point */
        return th_dmat34_distance(&got, &s->wanted[bone]);
    th_dmat34 moved = th_dmat34_mul(got, inverse);
    return shell_error(&moved, (double[3]){pose[3], pose[7], pose[11]}, s->shell);
}

/* away: distance of the joint from the origin. */
static void add_error(const subject *s, double error, double away, uint32_t joint, th_validation *validation)
{
    const double allowed = s->bound * TH_VALIDATE_BOUND_FACTOR + TH_VALIDATE_ROUNDING * (s->model->size + away);
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
    uint32_t most_weights, model_count;
    double **reaches; /* by model; NULL without weights */
} workspace;

static void workspace_fini(workspace *w)
{
    for (uint32_t r = 0; w->reaches && r < w->model_count; r++)
        free(w->reaches[r]);
    free(w->reaches);
    free(w->weights);
    free(w->pose);
}

/* Returns false if out of memory. */
static bool workspace_init(workspace *w, const th_scene *scene)
{
    size_t most = 0;
    *w = (workspace){.model_count = scene->compiled_model_count};
    w->reaches = calloc(w->model_count + 1u, sizeof *w->reaches);
    bool ok = w->reaches;
    for (uint32_t r = 0; ok && r < w->model_count; r++) {
        const th_model *model = th_compiled_model_source(scene->compiled_models[r]);
        const size_t size = (size_t)model->joint_count + model->bone_count;
        most = size > most ? size : most;
        if (model->weight_count == 0)
            continue;
        w->most_weights = model->weight_count > w->most_weights ? model->weight_count : w->most_weights;
        ok = (w->reaches[r] = th_weight_reaches(model)) != NULL;
    }
    w->pose = calloc(most + 1, sizeof *w->pose);
    w->weights = calloc(2 * (size_t)w->most_weights + 1, sizeof *w->weights);
    if (ok && w->pose && w->weights)
        return true;
    workspace_fini(w);
    return false;
}

/* Validates one instance at `ticks` of its clip. */
static th_validation validate_at(const th_validation_desc *desc, uint32_t i, double ticks, const workspace *w)
{
    const uint32_t m = desc->scene->instances[i].model;
    const th_model *model = th_scene_model(desc->scene, i);
    const th_clip *clip = th_scene_clip(desc->scene, i);
    const th_compiled_model *compiled = desc->scene->compiled_models[m];
    const th_interpolation mode =
        desc->as_authored ? TH_INTERPOLATION_AUTHORED : th_compiled_model_interpolation(compiled);
    const size_t offset = th_crowd_palette_offset(desc->crowd, i);
    th_dmat34 *wanted = w->pose + model->joint_count;
    double *weights = w->weights, *errors = w->weights + w->most_weights;
    play p;
    find_play(desc, i, ticks, &p);
    if (desc->layers) {
        th_exact_layers(model, p.layers, p.count, th_compiled_model_masks(compiled), mode, w->pose, weights);
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

    const subject s = {
        .model = model,
        .pose = w->pose,
        .wanted = wanted,
        .format = th_crowd_palette(desc->crowd),
        .palette = (const char *)desc->palette + offset,
        .shell = TH_SHELL_M * model->size / TH_REFERENCE_SIZE_M,
        .bound = desc->reference ? 0 : bound_of(compiled, &p),
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

th_result th_validate_palettes(const th_validation_desc *desc, th_validation *validation, th_error *err)
{
    assert(desc && desc->scene && desc->crowd && desc->palette && validation);
    assert(desc->sample > 0);
    workspace w;
    if (!workspace_init(&w, desc->scene))
        return th_fail(err, TH_ERR_MEMORY, "no memory for the reference pose");
    const uint32_t count = desc->scene->instance_count, checked = count < desc->sample ? count : desc->sample;
    for (uint32_t k = 0; k < checked; k++) {
        const uint64_t first = (uint64_t)k * count / checked, end = (k + (uint64_t)1) * count / checked;
        assert(first < end);
        const uint32_t drawn = (uint32_t)(first + th_random_bits(desc->seed, k) % (end - first));
        const th_validation one = validate_around(desc, drawn, &w);
        const double max_error = fmax(validation->max_error, one.max_error);
        if (one.excess > validation->excess)
            *validation = one;
        validation->max_error = max_error;
    }
    workspace_fini(&w);
    return TH_OK;
}
