/* Who shares a pose is found with a set of keys, a bit each. All listed characters add their keys; a sum over the words
 * says how many keys are in the set before each word; so the palette of a key is that sum and the bits before its own.
 * The sums are the caller's. They take time for each 64 keys of those models and rates at which any draw list shares.
 *
 * Who holds a pose is found the same way: for each number of frames ago there is a set of the listed characters whose
 * pose is of that frame. The number of those before a character in the list is its palette, where it is posed now, and
 * its place, where characters are drawn together that read palettes of one frame. */
#include <runtime/pose_plan.h>

#include <core/arena.h>

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

enum { WORD = 64 };                                              /* bits */
enum { WORDS = 16, LISTED = 128, LISTED_WORDS = LISTED / WORD }; /* of a chunk: words, characters, words of those */

typedef struct model_palettes {
    uint32_t first;         /* among the active instances of the crowd */
    uint32_t shared, count; /* shared ones come first */
    bool holds_none;        /* in this frame, because its palettes do not fit most_bytes */
} model_palettes;

/* Keys of a model at a rate at which a draw list shares, in words. */
typedef struct key_range {
    uint32_t model, first, count;
    uint32_t before; /* words of such ranges before it */
} key_range;

/* The last pose of an instance. */
typedef struct last_pose {
    uint32_t frame, model, palette; /* model: TH_NO_INDEX: none */
} last_pose;

/* Listed characters whose palettes are of one frame. */
typedef struct age_set {
    uint64_t *bits;   /* by index in the list */
    uint32_t *before; /* [word] */
} age_set;

struct th_pose_plan {
    th_arena *arena; /* holds all of this, but not what is borrowed and `sharing` */
    th_crowd *crowd;
    th_sharing *sharing; /* NULL: nobody shares */
    size_t most_bytes;
    uint32_t model_count;
    _Atomic uint64_t *keys; /* the set; only words of the ranges mean something */
    uint32_t *before;       /* [word] keys of its model before it */
    key_range *key_ranges;  /* [key_range_count] by model */
    uint32_t key_range_count, key_words;
    uint32_t *palettes; /* [listed] first the key, then what it stands for */
    model_palettes *models;
    uint32_t *counts;                /* [model] */
    th_pose_palettes *list_palettes; /* [draw list] */
    uint32_t most_lists;
    th_pose_counts stats;

    uint32_t most_hold, frame;
    last_pose *last; /* [instance]; NULL: nobody holds a pose */
    age_set ages[TH_POSE_MAX_HOLD];
    th_pose_place *places;    /* [listed] */
    th_palette_range *ranges; /* [frame % TH_POSE_MAX_HOLD][model] */
    uint32_t *posed_in;       /* [frame % TH_POSE_MAX_HOLD][draw list] the model */

    double time_s; /* of this frame, like the rest */
    const uint32_t *list;
    const th_draw_list *draw_lists;
    uint32_t listed_count, draw_list_count;
};

/* ---- creating ---- */

th_result th_pose_plan_create(const th_pose_plan_desc *desc, th_pose_plan **out, th_error *err)
{
    assert(desc && desc->crowd && out && desc->most_hold <= TH_POSE_MAX_HOLD);
    const size_t models = th_crowd_model_count(desc->crowd), count = th_crowd_capacity(desc->crowd);
    *out = NULL;
    th_sharing *sharing = NULL;
    const th_result result =
        desc->rates.count > 0 ? th_sharing_create(desc->crowd, &desc->rates, &sharing, err) : TH_OK;
    if (result != TH_OK)
        return result;
    th_arena *arena = th_arena_create();
    th_pose_plan plan = {.arena = arena,
                         .crowd = desc->crowd,
                         .sharing = sharing,
                         .most_bytes = desc->most_bytes,
                         .model_count = (uint32_t)models,
                         .models = th_arena_new(arena, model_palettes, models),
                         .counts = th_arena_new(arena, uint32_t, models),
                         .list_palettes = th_arena_new(arena, th_pose_palettes, desc->most_lists),
                         .most_lists = desc->most_lists,
                         .most_hold = desc->most_hold};
    if (sharing) {
        const size_t words = th_sharing_key_count(sharing) / WORD;
        plan.keys = th_arena_alloc(arena, words, sizeof *plan.keys);
        plan.before = th_arena_new(arena, uint32_t, words);
        plan.key_ranges = th_arena_new(arena, key_range, desc->most_lists);
        plan.palettes = th_arena_new(arena, uint32_t, count);
    }
    if (desc->most_hold > 0) {
        const size_t words = count / WORD + 1; /* one behind the last character, so that it has a rank */
        plan.last = th_arena_new(arena, last_pose, count);
        plan.places = th_arena_new(arena, th_pose_place, count);
        plan.ranges = th_arena_new(arena, th_palette_range, TH_POSE_MAX_HOLD * models);
        plan.posed_in = th_arena_new(arena, uint32_t, (size_t)TH_POSE_MAX_HOLD * desc->most_lists);
        for (uint32_t a = 0; a < desc->most_hold; a++)
            plan.ages[a] = (age_set){th_arena_new(arena, uint64_t, words), th_arena_new(arena, uint32_t, words)};
    }
    for (size_t i = 0; plan.last && i < count; i++)
        plan.last[i].model = TH_NO_INDEX;
    *out = th_arena_copy(arena, &plan, 1, sizeof plan);
    if (th_arena_failed(arena)) {
        *out = NULL;
        th_sharing_destroy(sharing);
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "no memory to share or hold the poses of %zu characters", count);
    }
    return TH_OK;
}

void th_pose_plan_destroy(th_pose_plan *plan)
{
    if (!plan)
        return;
    th_sharing_destroy(plan->sharing);
    th_arena_destroy(plan->arena);
}

/* ---- who shares ---- */

static uint64_t keys_of(const th_pose_plan *plan, uint32_t word)
{
    return atomic_load_explicit(&plan->keys[word], memory_order_relaxed); /* the job that wrote it has ended */
}

/* The part of a draw list that lies within [begin, end) of the list. Moves *begin behind it. */
static uint32_t part_of(const th_draw_list **draw_list, uint32_t *begin, uint32_t end)
{
    while (*begin - (*draw_list)->first >= (*draw_list)->count)
        (*draw_list)++;
    const uint32_t first = *begin, last = (*draw_list)->first + (*draw_list)->count;
    *begin = last < end ? last : end;
    return first;
}

static int add_listed(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_pose_plan *plan = ctx;
    const th_draw_list *draw_list = plan->draw_lists;
    (void)worker;
    while (begin < end) {
        const uint32_t first = part_of(&draw_list, &begin, end);
        if (!draw_list->shares)
            continue;
        th_sharing_keys(plan->sharing, draw_list->posed_as, draw_list->rate, plan->list + first, begin - first,
                        plan->time_s, plan->palettes + first);
        /* A thread writes a word only where its key is missing, so that threads seldom wait for each other's. */
        for (uint32_t k = first; k < begin; k++) {
            _Atomic uint64_t *word = &plan->keys[plan->palettes[k] / WORD];
            const uint64_t bit = UINT64_C(1) << plan->palettes[k] % WORD;
            if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
                atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
        }
    }
    return 0;
}

/* Finds the keys of characters that share, and counts the shared palettes of each model. */
static void find_shared(th_pose_plan *plan, th_jobs *jobs)
{
    /* The ranges of keys that may come, in order, each once. There are few. */
    key_range *ranges = plan->key_ranges;
    plan->key_range_count = 0;
    for (uint32_t g = 0; g < plan->draw_list_count; g++) {
        const th_draw_list *draw_list = &plan->draw_lists[g];
        if (!draw_list->shares)
            continue;
        const th_sharing_range keys = th_sharing_range_of(plan->sharing, draw_list->posed_as, draw_list->rate);
        uint32_t at = 0;
        while (at < plan->key_range_count && ranges[at].first < keys.first / WORD)
            at++;
        if (at < plan->key_range_count && ranges[at].first == keys.first / WORD)
            continue;
        memmove(&ranges[at + 1], &ranges[at], (plan->key_range_count++ - at) * sizeof *ranges);
        ranges[at] = (key_range){draw_list->posed_as, keys.first / WORD, (keys.end - keys.first) / WORD, 0};
    }
    plan->key_words = 0;
    for (key_range *range = ranges; range < ranges + plan->key_range_count; range++) {
        memset((void *)(plan->keys + range->first), 0, range->count * sizeof *plan->keys);
        range->before = plan->key_words;
        plan->key_words += range->count;
    }
    th_jobs_for(jobs, plan->listed_count, LISTED, add_listed, plan);

    for (uint32_t m = 0; m < plan->model_count; m++)
        plan->models[m].shared = 0;
    for (const key_range *range = ranges; range < ranges + plan->key_range_count; range++) {
        uint32_t sum = plan->models[range->model].shared;
        for (uint32_t w = range->first; w < range->first + range->count; w++) {
            plan->before[w] = sum;
            sum += (uint32_t)__builtin_popcountll(keys_of(plan, w));
        }
        plan->models[range->model].shared = sum;
    }
    for (uint32_t m = 0; m < plan->model_count; m++) {
        const size_t bytes = plan->models[m].shared * th_crowd_palettes(plan->crowd, m).stride;
        if (plan->most_bytes > 0 && bytes > plan->most_bytes)
            plan->models[m].shared = 0;
    }
}

/* ---- who holds a pose ---- */

/* The model of a draw list in a frame before. */
static uint32_t posed_in(const th_pose_plan *plan, uint32_t draw_list, uint32_t frames_ago)
{
    const uint32_t frame = (plan->frame - frames_ago) % TH_POSE_MAX_HOLD;
    return plan->posed_in[(size_t)frame * plan->most_lists + draw_list];
}

static int find_ages(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_pose_plan *plan = ctx;
    (void)worker;
    const th_draw_list *draw_list = plan->draw_lists;
    for (uint32_t w = begin; w < end; w++) {
        uint64_t bits[TH_POSE_MAX_HOLD] = {0};
        for (uint32_t k = w * WORD; k < plan->listed_count && k < (w + 1) * WORD; k++) {
            while (k - draw_list->first >= draw_list->count)
                draw_list++;
            /* Frames since the instance was posed, as its draw list was then; 0: it is posed anew. */
            const uint32_t instance = plan->list[k];
            const last_pose *last = &plan->last[instance];
            uint32_t age = plan->frame - last->frame;
            if (draw_list->shares || draw_list->hold <= 1 || plan->models[draw_list->posed_as].holds_none ||
                age >= draw_list->hold || (plan->frame + instance) % draw_list->hold == 0 ||
                last->model != posed_in(plan, (uint32_t)(draw_list - plan->draw_lists), age))
                age = 0;
            plan->places[k].frames_ago = age;
            bits[age] |= UINT64_C(1) << k % WORD;
        }
        for (uint32_t a = 0; a < plan->most_hold; a++)
            plan->ages[a].bits[w] = bits[a];
    }
    return 0;
}

/* Listed characters before index k whose palettes are of this age. */
static uint32_t rank_of(const th_pose_plan *plan, uint32_t age, uint32_t k)
{
    const age_set *set = &plan->ages[age];
    const uint64_t below = set->bits[k / WORD] & ((UINT64_C(1) << k % WORD) - 1);
    return set->before[k / WORD] + (uint32_t)__builtin_popcountll(below);
}

static uint32_t count_of(const th_pose_plan *plan, const th_draw_list *draw_list, uint32_t age)
{
    return rank_of(plan, age, draw_list->first + draw_list->count) - rank_of(plan, age, draw_list->first);
}

static void sort_by_age(th_pose_plan *plan, th_jobs *jobs)
{
    const uint32_t words = plan->listed_count / WORD + 1;
    th_jobs_for(jobs, words, LISTED_WORDS, find_ages, plan);
    for (uint32_t a = 0; a < plan->most_hold; a++) {
        uint32_t sum = 0;
        for (uint32_t w = 0; w < words; w++) {
            plan->ages[a].before[w] = sum;
            sum += (uint32_t)__builtin_popcountll(plan->ages[a].bits[w]);
        }
    }
}

/* Characters of a draw list that are posed in this frame, if it does not share. */
static uint32_t posed_count(const th_pose_plan *plan, const th_draw_list *draw_list)
{
    return plan->last ? count_of(plan, draw_list, 0) : draw_list->count;
}

/* Finds who holds a pose. The palettes of a model must fit into most_bytes to be bound at once, so that who reads which
 * can be said. */
static void find_held(th_pose_plan *plan, th_jobs *jobs)
{
    bool all_fit = true;
    for (uint32_t m = 0; m < plan->model_count; m++)
        plan->models[m].holds_none = false;
    sort_by_age(plan, jobs);
    for (uint32_t m = 0; m < plan->model_count && plan->most_bytes > 0; m++) {
        size_t palettes = plan->models[m].shared;
        for (uint32_t g = 0; g < plan->draw_list_count; g++) {
            const th_draw_list *draw_list = &plan->draw_lists[g];
            const bool shares = draw_list->shares && plan->models[m].shared > 0;
            palettes += draw_list->posed_as == m && !shares ? count_of(plan, draw_list, 0) : 0;
        }
        plan->models[m].holds_none = palettes * th_crowd_palettes(plan->crowd, m).stride > plan->most_bytes;
        all_fit &= !plan->models[m].holds_none;
    }
    if (!all_fit)
        sort_by_age(plan, jobs);
}

/* ---- palettes ---- */

/* Words of the ranges, one range after the other. */
static int activate_words(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_pose_plan *plan = ctx;
    const key_range *range = plan->key_ranges;
    (void)worker;
    for (uint32_t k = begin; k < end; k++) {
        while (k - range->before >= range->count)
            range++;
        th_shared_pose poses[WORD];
        uint32_t count = 0;
        const uint32_t w = range->first + k - range->before;
        if (plan->models[range->model].shared == 0)
            continue;
        for (uint64_t keys = keys_of(plan, w); keys; keys &= keys - 1)
            poses[count++] = th_sharing_pose(plan->sharing, w * WORD + (uint32_t)__builtin_ctzll(keys));
        th_crowd_set_active_poses(plan->crowd, plan->models[range->model].first + plan->before[w], poses, count);
    }
    return 0;
}

static int activate_listed(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_pose_plan *plan = ctx;
    const th_draw_list *draw_list = plan->draw_lists;
    (void)worker;
    while (begin < end) {
        const uint32_t first = part_of(&draw_list, &begin, end);
        const th_pose_palettes *palettes = &plan->list_palettes[draw_list - plan->draw_lists];
        const uint32_t rank = palettes->are_held ? rank_of(plan, 0, draw_list->first) : 0;
        if (!palettes->are_shared && !palettes->are_held)
            th_crowd_set_active_in(plan->crowd, draw_list->posed_as, palettes->first + first - draw_list->first,
                                   plan->list + first, begin - first);
        for (uint32_t k = first; palettes->are_held && k < begin; k++)
            if (plan->ages[0].bits[k / WORD] >> k % WORD & 1)
                th_crowd_set_active_in(plan->crowd, draw_list->posed_as, palettes->first + rank_of(plan, 0, k) - rank,
                                       plan->list + k, 1);
        if (!palettes->are_shared)
            continue;
        for (uint32_t k = first; k < begin; k++) { /* replaces keys by palettes */
            const uint32_t key = plan->palettes[k];
            const uint64_t below = keys_of(plan, key / WORD) & ((UINT64_C(1) << key % WORD) - 1);
            plan->palettes[k] = plan->models[draw_list->posed_as].first + plan->before[key / WORD] +
                                (uint32_t)__builtin_popcountll(below);
        }
        th_crowd_set_palettes_of(plan->crowd, draw_list->posed_as, plan->list + first, plan->palettes + first,
                                 begin - first);
    }
    return 0;
}

void th_pose_plan_make(th_pose_plan *plan, th_jobs *jobs, double time_s, const uint32_t *list,
                       const th_draw_list *draw_lists, uint32_t draw_list_count)
{
    assert(plan && jobs && (draw_lists || draw_list_count == 0) && draw_list_count <= plan->most_lists);
    const uint32_t count =
        draw_list_count > 0 ? draw_lists[draw_list_count - 1].first + draw_lists[draw_list_count - 1].count : 0;
    assert(list || count == 0);
    for (uint32_t g = 0; g < draw_list_count; g++)
        assert(draw_lists[g].hold <= 1 || draw_lists[g].hold <= plan->most_hold);
    plan->time_s = time_s;
    plan->list = list;
    plan->draw_lists = draw_lists;
    plan->listed_count = count;
    plan->draw_list_count = draw_list_count;
    if (plan->sharing)
        find_shared(plan, jobs);
    if (plan->last)
        find_held(plan, jobs);

    /* How many palettes a model has, and which of them are a draw list's. */
    uint32_t listed = 0, active = 0, held = 0;
    for (uint32_t m = 0; m < plan->model_count; m++)
        plan->models[m].count = plan->models[m].shared;
    for (uint32_t g = 0; g < draw_list_count; g++) {
        const th_draw_list *draw_list = &draw_lists[g];
        model_palettes *model = &plan->models[draw_list->posed_as];
        assert(draw_list->first == listed && draw_list->posed_as < plan->model_count);
        const bool shares = draw_list->shares && model->shared > 0;
        const uint32_t posed = shares ? 0 : posed_count(plan, draw_list);
        plan->list_palettes[g] =
            (th_pose_palettes){.first = shares ? 0 : model->count,
                               .are_shared = shares,
                               .are_held = plan->last && !shares && draw_list->hold > 1 && !model->holds_none};
        model->count += posed;
        held += shares ? 0 : draw_list->count - posed;
        listed += draw_list->count;
    }
    for (uint32_t m = 0; m < plan->model_count; m++) {
        plan->models[m].first = active;
        plan->counts[m] = plan->models[m].count;
        active += plan->models[m].count;
    }
    plan->stats = (th_pose_counts){active, listed - active - held, held};
    th_crowd_set_active_counts(plan->crowd, plan->counts);

    /* Where they are, once the crowd knows the numbers. */
    for (uint32_t g = 0; g < draw_list_count; g++) {
        const model_palettes *model = &plan->models[draw_lists[g].posed_as];
        th_pose_palettes *palettes = &plan->list_palettes[g];
        palettes->range = th_crowd_palettes(plan->crowd, draw_lists[g].posed_as);
        palettes->range.offset += palettes->first * palettes->range.stride;
        palettes->range.count = palettes->are_shared ? model->shared : posed_count(plan, &draw_lists[g]);
        palettes->first += model->first;
    }
    if (plan->sharing)
        th_jobs_for(jobs, plan->key_words, WORDS, activate_words, plan);
    th_jobs_for(jobs, count, LISTED, activate_listed, plan);
}

/* ---- what is kept ---- */

void th_pose_plan_begin(th_pose_plan *plan, uint32_t number)
{
    assert(plan && plan->last);
    plan->frame = number;
}

static int keep_listed(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_pose_plan *plan = ctx;
    const th_draw_list *draw_list = plan->draw_lists;
    (void)worker;
    while (begin < end) {
        const uint32_t first = part_of(&draw_list, &begin, end);
        const th_pose_palettes *palettes = &plan->list_palettes[draw_list - plan->draw_lists];
        const uint32_t palette = palettes->first - plan->models[draw_list->posed_as].first;
        /* Palettes that are shared, or more than can be bound, are not read later; neither are those of frames before,
         * so that nobody steps back. */
        const bool may_be_held = !palettes->are_shared && !plan->models[draw_list->posed_as].holds_none;
        for (uint32_t k = first; !palettes->are_held && k < begin; k++)
            plan->last[plan->list[k]] = (last_pose){plan->frame, may_be_held ? draw_list->posed_as : TH_NO_INDEX,
                                                    palette + k - draw_list->first};
        if (!palettes->are_held)
            continue;
        uint32_t at[TH_POSE_MAX_HOLD] = {draw_list->first};
        for (uint32_t a = 1; a < draw_list->hold; a++)
            at[a] = at[a - 1] + count_of(plan, draw_list, a - 1);
        for (uint32_t k = first; k < begin; k++) {
            th_pose_place *place = &plan->places[k];
            last_pose *last = &plan->last[plan->list[k]];
            const uint32_t age = place->frames_ago, rank = rank_of(plan, age, k) - rank_of(plan, age, draw_list->first);
            if (age == 0)
                *last = (last_pose){plan->frame, draw_list->posed_as, palette + rank};
            place->palette = last->palette;
            place->at = at[age] + rank;
        }
    }
    return 0;
}

void th_pose_plan_keep(th_pose_plan *plan, th_jobs *jobs, uint32_t number)
{
    assert(plan && jobs && plan->last);
    assert(number == plan->frame || plan->stats.held == 0); /* otherwise what is held may be lost */
    plan->frame = number;
    th_palette_range *ranges = plan->ranges + (size_t)(number % TH_POSE_MAX_HOLD) * plan->model_count;
    for (uint32_t m = 0; m < plan->model_count; m++)
        ranges[m] = th_crowd_palettes(plan->crowd, m);
    for (uint32_t g = 0; g < plan->draw_list_count; g++)
        plan->posed_in[(size_t)(number % TH_POSE_MAX_HOLD) * plan->most_lists + g] = plan->draw_lists[g].posed_as;
    th_jobs_for(jobs, plan->listed_count, LISTED, keep_listed, plan);
}

th_pose_readers th_pose_plan_readers(const th_pose_plan *plan)
{
    assert(plan);
    return (th_pose_readers){plan->palettes, plan->places, plan->sharing};
}

th_pose_counts th_pose_plan_counts(const th_pose_plan *plan)
{
    assert(plan);
    return plan->stats;
}

th_pose_palettes th_pose_plan_list(const th_pose_plan *plan, uint32_t draw_list)
{
    assert(plan && draw_list < plan->most_lists);
    return plan->list_palettes[draw_list];
}

th_pose_part th_pose_plan_part(const th_pose_plan *plan, uint32_t draw_list, uint32_t frames_ago)
{
    assert(plan && draw_list < plan->most_lists && plan->list_palettes[draw_list].are_held &&
           frames_ago < plan->most_hold);
    const th_draw_list *g = &plan->draw_lists[draw_list];
    const uint32_t model = frames_ago > 0 ? posed_in(plan, draw_list, frames_ago) : g->posed_as;
    th_pose_part part = {.model = model, .first = g->first, .count = count_of(plan, g, frames_ago)};
    for (uint32_t a = 0; a < frames_ago; a++)
        part.first += count_of(plan, g, a);
    const uint32_t frame = (plan->frame - frames_ago) % TH_POSE_MAX_HOLD;
    part.range = plan->ranges[(size_t)frame * plan->model_count + model];
    return part;
}
