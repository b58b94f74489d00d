#include <throng/anim/joint_lod.h>

#include "joint_chooser.h"
#include "model_distance.h"
#include "reduced_model.h"
#include "vertices.h"

#include <core/arena.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINEST_LIMIT                                                                                                   \
    0.007 /* of level 1: a 140th of the model's size; the human's mesh with half its triangles has it */
#define MARGIN               1.01 /* of the error, for what lies between two moments */
#define SAVES(count, before) (5 * (uint64_t)(count) <= 4 * (uint64_t)(before)) /* what a level takes to be one */
#define ATTEMPTS             4

double th_lod_limit(uint32_t level)
{
    assert(level < TH_LOD_LEVELS);
    return level == 0 ? 0 : FINEST_LIMIT * exp2((level - 1) / 2.0);
}

/* ---- a level ---- */

/* needed, moved: by joint. */
static uint32_t count_moving(const th_model *model, bool *needed, bool *moved)
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < model->bone_count; b++)
        needed[model->bones[b].joint] = true;
    th_find_moving_joints(model, moved);
    for (uint32_t j = model->joint_count; j-- > 0;) {
        if (needed[j] && model->joints[j].parent != TH_NO_INDEX)
            needed[model->joints[j].parent] = true;
        count += needed[j] && moved[j];
    }
    return count;
}

/* Sets the counts of a level with its model. False when out of memory. */
static bool finish_level(th_joint_level *level, const bool *held)
{
    const uint32_t joints = level->model->joint_count;
    bool *marks = calloc(2 * (size_t)joints + 1, sizeof *marks), *own = calloc(joints + 1u, sizeof *own);
    if (marks && own) {
        level->moving_count = count_moving(level->model, marks, marks + joints);
        memcpy(own, held, joints * sizeof *own);
    }
    free(marks);
    level->held = own;
    return marks && own;
}

static void free_level(th_joint_level *level, const th_model *source)
{
    if (level->model != source)
        th_model_free((th_model *)level->model);
    free((void *)level->held);
}

/* ---- all levels ---- */

typedef struct builder {
    const th_model *source;
    th_joint_chooser *chooser;
    bool *before; /* held by the last level */
    th_joint_lod *lod;
} builder;

/* One attempt at a level: holds what stays within `limit` at the moments of the chooser, and measures. The level's
 * model is NULL if it saves too little. False when out of memory. */
static bool attempt(const builder *b, uint32_t bones_before, double limit, th_joint_level *out)
{
    *out = (th_joint_level){0};
    th_joint_chooser_hold(b->chooser, limit);
    th_model *model = th_reduced_model_create(th_joint_chooser_skeleton(b->chooser));
    if (!model)
        return false;
    if (!SAVES(model->bone_count, bones_before)) {
        th_model_free(model);
        return true;
    }
    th_model_distance worst;
    const bool ok = th_model_distance_measure(b->source, model, &worst);
    *out = (th_joint_level){
        .model = model, .error = worst.distance * MARGIN, .error_clip = worst.clip, .error_time_s = worst.time_s};
    return ok;
}

/* The chooser looks at fewer moments than are measured, so that a level may turn out to be beyond its limit. */
static bool find_level(const builder *b, uint32_t index, th_joint_level *out)
{
    const th_joint_level *before = &b->lod->levels[index - 1];
    const double limit = th_lod_limit(index) * b->source->size;
    double tried = limit / MARGIN;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (!attempt(b, before->model->bone_count, tried, out))
            return false;
        if (!out->model || out->error <= limit)
            return !out->model || finish_level(out, th_joint_chooser_skeleton(b->chooser)->held);
        tried *= fmax(0.5, limit / out->error) * 0.98;
        th_model_free((th_model *)out->model);
        *out = (th_joint_level){0};
        th_joint_chooser_return(b->chooser, b->before);
    }
    return true;
}

static bool add_level(const builder *b, uint32_t index)
{
    th_joint_lod *lod = b->lod;
    th_joint_level found;
    const bool ok = find_level(b, index, &found);
    if (!found.model)
        return ok;
    found.error = fmax(found.error, lod->levels[index - 1].error);
    for (uint32_t i = index; i < TH_LOD_LEVELS; i++) /* until another is found */
        lod->levels[i] = found;
    lod->distinct_count++;
    memcpy(b->before, th_joint_chooser_skeleton(b->chooser)->held, b->source->joint_count * sizeof *b->before);
    return ok;
}

static bool find_levels(builder *b)
{
    bool *none = calloc(b->source->joint_count + 1u, sizeof *none);
    const bool begun = none && finish_level(&b->lod->levels[0], none);
    free(none);
    for (uint32_t i = 1; i < TH_LOD_LEVELS; i++)
        b->lod->levels[i] = b->lod->levels[0];
    if (!begun || th_vertices_count(b->source) == 0)
        return begun;
    b->chooser = th_joint_chooser_create(b->source);
    b->before = calloc(b->source->joint_count + 1u, sizeof *b->before);
    bool ok = b->chooser && b->before;
    if (ok)
        memcpy(b->before, th_joint_chooser_skeleton(b->chooser)->held, b->source->joint_count * sizeof *b->before);
    for (uint32_t i = 1; ok && i < TH_LOD_LEVELS; i++)
        ok = add_level(b, i);
    th_joint_chooser_destroy(b->chooser);
    free(b->before);
    return ok;
}

th_result th_joint_lod_create(const th_model *model, th_joint_lod **out, th_error *err)
{
    assert(model && out);
    builder b = {.source = model, .lod = calloc(1, sizeof *b.lod)};
    *out = NULL;
    if (b.lod) {
        b.lod->distinct_count = 1;
        b.lod->levels[0] = (th_joint_level){.model = model, .error_clip = TH_NO_INDEX};
    }
    if (!b.lod || !find_levels(&b)) {
        th_joint_lod_destroy(b.lod);
        return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", model->name);
    }
    *out = b.lod;
    return TH_OK;
}

void th_joint_lod_destroy(th_joint_lod *lod)
{
    if (!lod)
        return;
    const th_model *source = lod->levels[0].model;
    for (uint32_t i = TH_LOD_LEVELS; i-- > 0;)
        if (i == 0 || lod->levels[i].model != lod->levels[i - 1].model)
            free_level(&lod->levels[i], source);
    free(lod);
}
