/* The joints/ entries, on the best kernel: what joint levels of detail save. */
#include "pose_benchmark.h"

#include <core/json.h>

#include <stdio.h>
#include <string.h>

static const uint32_t levels[TH_LOD_LEVELS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static const th_model *const *models_of(const th_fixture *fixture, uint32_t level)
{
    return fixture->level_models + (size_t)level * fixture->requested.model_count;
}

static bool repeats(const th_fixture *fixture, uint32_t level)
{
    return level > 0 && memcmp(models_of(fixture, level), models_of(fixture, level - 1),
                               fixture->requested.model_count * sizeof(th_model *)) == 0;
}

/* Levels that are the same share a scene. */
static void with_level(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    uint32_t level = *(const uint32_t *)entry->variant;
    while (repeats(fixture, level))
        level--;
    desc->models = models_of(fixture, level);
}

/* Adds what the level leaves out: the largest error of all models, and joints of all characters. */
static void add_own(const th_fixture *fixture, const th_scene *scene, uint32_t level, th_row *row)
{
    double error = 0;
    uint64_t moving = 0;
    for (uint32_t m = 0; m < fixture->requested.model_count; m++) {
        const double here = fixture->joint_lods[m]->levels[level].error;
        error = here > error ? here : error;
    }
    for (uint32_t i = 0; i < scene->instance_count; i++)
        moving += fixture->joint_lods[scene->instances[i].model]->levels[level].moving_count;
    row->own = th_json_merge(
        row->own, json_pack("{s:o, s:o}", "level_error", th_json_real(error), "moving_joints", th_json_count(moving)));
}

static th_result create(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                        th_error *err)
{
    const uint32_t level = *(const uint32_t *)entry->variant;
    if (repeats(fixture, level)) {
        row->skipped = true;
        snprintf(row->failure, sizeof row->failure, "the same joints as level %u", level - 1);
        return TH_OK;
    }
    const th_result result = th_pose_benchmark_create(entry, desc, fixture, row, err);
    if (result == TH_OK && !row->skipped)
        add_own(fixture, entry->shared->scene, level, row);
    return result;
}

uint32_t th_joint_entries(th_entry *entries)
{
    for (uint32_t i = 0; i < TH_LOD_LEVELS; i++) {
        entries[i] = (th_entry){.shape = levels,
                                .variant = &levels[i],
                                .set_scene = with_level,
                                .needs_levels = true,
                                .create = create,
                                .before = th_pose_benchmark_begin,
                                .run = th_pose_benchmark_run,
                                .destroy = th_pose_benchmark_destroy};
        snprintf(entries[i].name, sizeof entries[i].name, "joints/%u", levels[i]);
    }
    return TH_LOD_LEVELS;
}
