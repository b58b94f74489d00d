/* The blend/ entries, on the best kernel: what layers add to the cost of a character. */
#include "layer_mix.h"
#include "pose_benchmark.h"

#include <stdio.h>

typedef struct mix {
    const char *name;
    th_layer_mix_desc desc;
} mix;

static const mix mixes[] = {
    {"blend/layers:1", {.override_count = 1}},
    {"blend/fade:2", {.override_count = 2, .fades = true}},
    {"blend/layers:2", {.override_count = 2}},
    {"blend/layers:3", {.override_count = 3}},
    {"blend/layers:4", {.override_count = 4}},
    {"blend/layers:8", {.override_count = 8}},
    {"blend/space1d:3", {.override_count = 3, .space_dimensions = 1}},
    {"blend/space2d:4", {.override_count = 4, .space_dimensions = 2}},
    {"blend/mask", {.override_count = 2, .masked_count = 1}},
    {"blend/additive", {.override_count = 1, .add_count = 1}},
};

static const th_crowd_layers *layers_at(void *subject, uint64_t frame)
{
    th_pose_benchmark *p = subject;
    return th_layer_mix_at(p->mix, p->time_s(frame));
}

static void run(void *subject, uint64_t frame)
{
    th_pose_benchmark *p = subject;
    th_crowd_update_layers(p->crowd, 0, th_crowd_batch_count(p->crowd), p->time_s(frame), layers_at(p, frame),
                           p->palette, p->scratch);
}

/* Otherwise the row says which models have no masks. */
static bool can_mask(const th_scene *scene, th_row *row)
{
    row->skipped = scene->compiled_model_count > TH_MAX_MASKS;
    if (row->skipped)
        snprintf(row->failure, sizeof row->failure, "only the first %u models have masks", TH_MAX_MASKS);
    return !row->skipped;
}

/* Otherwise the row says which clip cannot be added. */
static bool can_add(const th_scene *scene, th_row *row)
{
    for (uint32_t m = 0; m < scene->compiled_model_count; m++) {
        const th_model *model = th_compiled_model_source(scene->compiled_models[m]);
        for (uint32_t c = 0; c < model->clip_count; c++) {
            const char *joint = th_layer_add_obstacle(model, c, TH_LAYER_ADD);
            if (!joint)
                continue;
            row->skipped = true;
            snprintf(row->failure, sizeof row->failure, "%.60s: clip %.60s begins with joint %.60s at scale 0",
                     model->name, model->clips[c].name, joint);
            return false;
        }
    }
    return true;
}

static th_result create(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                        th_error *err)
{
    (void)desc;
    const mix *m = entry->variant;
    th_result result = th_pose_benchmark_init(entry, fixture, row, err);
    th_pose_benchmark *p = entry->subject;
    if (result != TH_OK || row->skipped || (m->desc.add_count > 0 && !can_add(p->shared->scene, row)) ||
        (m->desc.masked_count > 0 && !can_mask(p->shared->scene, row)))
        return result;
    result = th_layer_mix_create(p->shared->scene, &m->desc, &p->mix, err);
    p->layers_at = layers_at;
    return result == TH_OK ? th_pose_benchmark_validate(entry, fixture, row, err) : result;
}

_Static_assert(sizeof mixes / sizeof *mixes <= TH_BENCH_MAX_BLENDS, "room for each");

uint32_t th_blend_entries(th_entry *entries)
{
    const uint32_t count = sizeof mixes / sizeof *mixes;
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = (th_entry){.shape = mixes,
                                .variant = &mixes[i],
                                .set_scene = th_pose_benchmark_keep_scene,
                                .create = create,
                                .before = th_pose_benchmark_begin,
                                .run = run,
                                .destroy = th_pose_benchmark_destroy};
        snprintf(entries[i].name, sizeof entries[i].name, "%s", mixes[i].name);
    }
    return count;
}
