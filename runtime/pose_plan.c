/* Who shares a pose is found with a set of keys, a bit each. All listed characters add their keys; a sum over the words
 * says how many keys are in the set before each word; so the palette of a key is that sum and the bits before its own.
 * The sums are the caller's. They take time for each 64 keys, of which there are TH_SHARING_MAX_KEYS at most. */
#include <throng/runtime/pose_plan.h>

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, WORDS = 16, LISTED = 128 }; /* bits; in a chunk: words, listed characters */

typedef struct model_palettes {
    uint32_t first;         /* among the active instances of the crowd */
    uint32_t shared, count; /* shared ones come first */
} model_palettes;

struct th_pose_plan {
    th_crowd *crowd;
    th_sharing *sharing; /* NULL: nobody shares */
    size_t most_bytes;
    uint32_t model_count, word_count;
    _Atomic uint64_t *keys; /* the set */
    uint32_t *before;       /* [word] keys of its model before it */
    uint32_t *palettes;     /* [listed] first the key, then what it stands for */
    model_palettes *models;
    uint32_t *counts; /* [model] */
    th_pose_palettes *groups;
    uint32_t group_capacity;
    th_pose_counts stats;

    double time_s; /* of this frame, like the rest */
    const uint32_t *list;
    const th_pose_group *listed;
};

/* ---- creating ---- */

static bool allocate(th_pose_plan *plan, const th_pose_plan_desc *desc)
{
    plan->models = calloc((size_t)plan->model_count + 1, sizeof *plan->models);
    plan->counts = calloc((size_t)plan->model_count + 1, sizeof *plan->counts);
    plan->groups = calloc((size_t)desc->most_groups + 1, sizeof *plan->groups);
    if (!plan->models || !plan->counts || !plan->groups)
        return false;
    if (!plan->sharing)
        return true;
    plan->word_count = th_sharing_first_key(plan->sharing, plan->model_count) / WORD;
    plan->keys = calloc((size_t)plan->word_count + 1, sizeof *plan->keys);
    plan->before = calloc((size_t)plan->word_count + 1, sizeof *plan->before);
    plan->palettes = calloc((size_t)th_crowd_instance_count(plan->crowd) + 1, sizeof *plan->palettes);
    return plan->keys && plan->before && plan->palettes;
}

th_result th_pose_plan_create(const th_pose_plan_desc *desc, th_pose_plan **out, th_error *err)
{
    assert(desc && desc->crowd && out);
    *out = NULL;
    th_pose_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a plan of poses");
    plan->crowd = desc->crowd;
    plan->most_bytes = desc->most_bytes;
    plan->model_count = th_crowd_model_count(desc->crowd);
    plan->group_capacity = desc->most_groups;
    th_result result = TH_OK;
    if (desc->rates.count > 0)
        result = th_sharing_create(desc->crowd, &desc->rates, &plan->sharing, err);
    if (result == TH_OK && !allocate(plan, desc))
        result = th_fail(err, TH_ERR_MEMORY, "no memory to share the poses of %u characters",
                         th_crowd_instance_count(desc->crowd));
    if (result == TH_OK)
        *out = plan;
    else
        th_pose_plan_destroy(plan);
    return result;
}

void th_pose_plan_destroy(th_pose_plan *plan)
{
    if (!plan)
        return;
    th_sharing_destroy(plan->sharing);
    free(plan->models);
    free(plan->counts);
    free(plan->groups);
    free(plan->keys);
    free(plan->before);
    free(plan->palettes);
    free(plan);
}

/* ---- the set of keys ---- */

/* A thread writes a word only where its key is missing, so that threads seldom wait for each other's. */
static void add_key(th_pose_plan *plan, uint32_t key)
{
    _Atomic uint64_t *word = &plan->keys[key / WORD];
    const uint64_t bit = UINT64_C(1) << key % WORD;
    if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
}

static uint64_t keys_of(const th_pose_plan *plan, uint32_t word)
{
    return atomic_load_explicit(&plan->keys[word], memory_order_relaxed); /* the job that wrote it has ended */
}

static uint32_t palette_of(const th_pose_plan *plan, uint32_t key)
{
    const uint64_t below = keys_of(plan, key / WORD) & ((UINT64_C(1) << key % WORD) - 1);
    return plan->before[key / WORD] + (uint32_t)__builtin_popcountll(below);
}

/* The part of a group that lies within [begin, end) of the list. Moves *begin behind it. */
static uint32_t part_of(const th_pose_group **group, uint32_t *begin, uint32_t end)
{
    while (*begin - (*group)->first >= (*group)->count)
        (*group)++;
    const uint32_t first = *begin, last = (*group)->first + (*group)->count;
    *begin = last < end ? last : end;
    return first;
}

static int add_listed(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_pose_plan *plan = ctx;
    const th_pose_group *group = plan->listed;
    (void)worker;
    while (begin < end) {
        const uint32_t first = part_of(&group, &begin, end);
        if (!group->shares)
            continue;
        th_sharing_keys(plan->sharing, group->model, group->rate, plan->list + first, begin - first, plan->time_s,
                        plan->palettes + first);
        for (uint32_t k = first; k < begin; k++)
            add_key(plan, plan->palettes[k]);
    }
    return 0;
}

/* Counts the shared palettes of each model. */
static void sum_keys(th_pose_plan *plan)
{
    for (uint32_t m = 0; m < plan->model_count; m++) {
        const uint32_t end = th_sharing_first_key(plan->sharing, m + 1) / WORD;
        uint32_t sum = 0;
        for (uint32_t w = th_sharing_first_key(plan->sharing, m) / WORD; w < end; w++) {
            plan->before[w] = sum;
            sum += (uint32_t)__builtin_popcountll(keys_of(plan, w));
        }
        const size_t bytes = sum * th_crowd_palettes(plan->crowd, m).stride;
        const bool fits = plan->most_bytes == 0 || bytes <= plan->most_bytes;
        plan->models[m].shared = fits ? sum : 0;
    }
}

/* ---- palettes ---- */

static void place_palettes(th_pose_plan *plan, uint32_t group_count)
{
    uint32_t listed = 0, active = 0;
    for (uint32_t m = 0; m < plan->model_count; m++)
        plan->models[m].count = plan->models[m].shared;
    for (uint32_t g = 0; g < group_count; g++) {
        const th_pose_group *group = &plan->listed[g];
        model_palettes *model = &plan->models[group->model];
        assert(group->first == listed && group->model < plan->model_count);
        const bool shares = group->shares && model->shared > 0;
        plan->groups[g] = (th_pose_palettes){.first = shares ? 0 : model->count, .are_shared = shares};
        model->count += shares ? 0 : group->count;
        listed += group->count;
    }
    for (uint32_t m = 0; m < plan->model_count; m++) {
        plan->models[m].first = active;
        plan->counts[m] = plan->models[m].count;
        active += plan->models[m].count;
    }
    plan->stats = (th_pose_counts){active, listed - active};
    th_crowd_set_active_counts(plan->crowd, plan->counts);
}

/* Once the crowd knows the numbers. */
static void find_ranges(th_pose_plan *plan, uint32_t group_count)
{
    for (uint32_t g = 0; g < group_count; g++) {
        const th_pose_group *group = &plan->listed[g];
        th_pose_palettes *palettes = &plan->groups[g];
        th_palette_range range = th_crowd_palettes(plan->crowd, group->model);
        range.offset += palettes->first * range.stride;
        range.count = palettes->are_shared ? plan->models[group->model].shared : group->count;
        palettes->range = range;
        palettes->first += plan->models[group->model].first;
    }
}

static int activate_words(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_pose_plan *plan = ctx;
    uint32_t model = 0;
    (void)worker;
    for (uint32_t w = begin; w < end; w++) {
        while (w * WORD >= th_sharing_first_key(plan->sharing, model + 1))
            model++;
        th_shared_pose poses[WORD];
        uint32_t count = 0;
        if (plan->models[model].shared == 0)
            continue;
        for (uint64_t keys = keys_of(plan, w); keys; keys &= keys - 1)
            poses[count++] = th_sharing_pose(plan->sharing, w * WORD + (uint32_t)__builtin_ctzll(keys));
        th_crowd_set_active_poses(plan->crowd, plan->models[model].first + plan->before[w], poses, count);
    }
    return 0;
}

/* Replaces keys by palettes. */
static void read_shared(th_pose_plan *plan, uint32_t model, uint32_t begin, uint32_t end)
{
    for (uint32_t k = begin; k < end; k++)
        plan->palettes[k] = plan->models[model].first + palette_of(plan, plan->palettes[k]);
    th_crowd_set_palettes_of(plan->crowd, model, plan->list + begin, plan->palettes + begin, end - begin);
}

static int activate_listed(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_pose_plan *plan = ctx;
    const th_pose_group *group = plan->listed;
    (void)worker;
    while (begin < end) {
        const uint32_t first = part_of(&group, &begin, end);
        const th_pose_palettes *palettes = &plan->groups[group - plan->listed];
        const uint32_t active = palettes->first + first - group->first;
        if (palettes->are_shared)
            read_shared(plan, group->model, first, begin);
        else
            th_crowd_set_active_in(plan->crowd, group->model, active, plan->list + first, begin - first);
    }
    return 0;
}

void th_pose_plan_make(th_pose_plan *plan, th_jobs *jobs, double time_s, const uint32_t *list,
                       const th_pose_group *groups, uint32_t group_count)
{
    assert(plan && jobs && (groups || group_count == 0) && group_count <= plan->group_capacity);
    const uint32_t count = group_count > 0 ? groups[group_count - 1].first + groups[group_count - 1].count : 0;
    assert(list || count == 0);
    plan->time_s = time_s;
    plan->list = list;
    plan->listed = groups;
    if (plan->sharing) {
        memset((void *)plan->keys, 0, plan->word_count * sizeof *plan->keys);
        th_jobs_for(jobs, count, LISTED, add_listed, plan);
        sum_keys(plan);
    }
    place_palettes(plan, group_count);
    find_ranges(plan, group_count);
    if (plan->sharing)
        th_jobs_for(jobs, plan->word_count, WORDS, activate_words, plan);
    th_jobs_for(jobs, count, LISTED, activate_listed, plan);
}

th_pose_counts th_pose_plan_counts(const th_pose_plan *plan)
{
    assert(plan);
    return plan->stats;
}

th_pose_palettes th_pose_plan_group(const th_pose_plan *plan, uint32_t group)
{
    assert(plan && group < plan->group_capacity);
    return plan->groups[group];
}

const uint32_t *th_pose_plan_palettes(const th_pose_plan *plan)
{
    assert(plan);
    return plan->palettes;
}

const th_sharing *th_pose_plan_sharing(const th_pose_plan *plan)
{
    assert(plan);
    return plan->sharing;
}
