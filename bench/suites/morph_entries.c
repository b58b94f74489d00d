/* The morph/ entries, on the best kernel: what morph weights add to the cost of a character. */
#include "pose_benchmark.h"

#include <stdio.h>

static void with_weights(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    const uint32_t *weights = entry->variant;
    desc->models = (const th_model *const *)&fixture->morphs[weights - th_fixture_weights];
    desc->model_count = 1;
    desc->clips = NULL;
}

uint32_t th_morph_entries(th_entry *entries)
{
    for (uint32_t i = 0; i < TH_FIXTURE_MORPHS; i++) {
        th_entry *e = &entries[i];
        *e = (th_entry){.shape = th_fixture_weights,
                        .variant = &th_fixture_weights[i],
                        .set_scene = with_weights,
                        .create = th_pose_benchmark_create,
                        .before = th_pose_benchmark_begin,
                        .run = th_pose_benchmark_run,
                        .destroy = th_pose_benchmark_destroy};
        snprintf(e->name, sizeof e->name, "morph/%u", th_fixture_weights[i]);
    }
    return TH_FIXTURE_MORPHS;
}
