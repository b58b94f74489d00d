/* Held poses: each is that of a frame at most so many ago, in the model that is drawn now, the work is spread over the
 * frames, and neither threads nor the order of the list change any of it. */
#include "fixture_crowd.h"

#include <core/cache_line.h>
#include <runtime/frame.h>
#include <runtime/pose_plan.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 2, COUNT = 190, GROUPS = 5, FRAMES = 48, NEVER = -1000 };

/* Near, far, and farther in the second model; far ones out of sight, and some who share. */
static const uint32_t group_models[GROUPS] = {0, 0, 0, 1, 1};

typedef struct held_case {
    th_model *models[MODELS];
    th_compiled_model *compiled[MODELS];
    th_spawn instances[COUNT];
    th_crowd *crowd, *full[MODELS]; /* full: all instances, in this model */
    th_jobs *jobs;
    th_frame *frame;
    th_pose_plan *plan;
    char *kept[TH_POSE_MAX_HOLD], *wanted[FRAMES][MODELS]; /* palettes */
    void *scratch;
    size_t most;
    uint32_t list[COUNT], group_of[COUNT]; /* group_of: GROUPS: not listed */
    th_draw_list groups[GROUPS];
    uint32_t number;
} held_case;

static double time_of(uint32_t frame)
{
    return 0.3 + frame / 30.0;
}

static th_crowd *make_crowd(const held_case *c)
{
    return crowd_of((const th_compiled_model *const *)c->compiled, MODELS, c->instances, COUNT, (th_crowd_desc){0});
}

/* All instances in one model, at the time of each frame. */
static void make_wanted(held_case *c, uint32_t model)
{
    uint32_t all[COUNT], counts[MODELS] = {0};
    for (uint32_t i = 0; i < COUNT; i++)
        all[i] = i;
    counts[model] = COUNT;
    c->full[model] = make_crowd(c);
    c->scratch = c->scratch ? c->scratch : th_cache_line_alloc(th_crowd_scratch_bytes(c->full[model]));
    th_crowd_set_active_counts(c->full[model], counts);
    th_crowd_set_active_in(c->full[model], model, 0, all, COUNT);
    const size_t bytes = th_crowd_palette_bytes(c->full[model]);
    c->most = bytes > c->most ? bytes : c->most;
    for (uint32_t n = 0; n < FRAMES; n++) {
        c->wanted[n][model] = th_cache_line_alloc(bytes);
        th_crowd_pose(c->full[model], 0, th_crowd_batch_count(c->full[model]), time_of(n), c->wanted[n][model],
                      c->scratch);
    }
}

static void case_init(held_case *c, uint32_t threads, uint32_t grain, const th_pose_plan_desc *how)
{
    uint64_t state = 5;
    *c = (held_case){.number = 4000};
    for (uint32_t m = 0; m < MODELS; m++) {
        random_desc desc = variety(3 * m + 1);
        desc.clip_count = 2;
        desc.swing_rad = 0.2;
        c->models[m] = random_model(&desc);
        c->compiled[m] = make_compiled(c->models[m], TH_SAMPLING_COMPILED);
    }
    for (uint32_t i = 0; i < COUNT; i++)
        c->instances[i] = (th_spawn){0, i % 2, random_between(&state, -5, 5), random_between(&state, 0.5, 2)};
    for (uint32_t m = 0; m < MODELS; m++)
        make_wanted(c, m);
    c->crowd = make_crowd(c);
    for (uint32_t k = 0; k < TH_POSE_MAX_HOLD; k++)
        c->kept[k] = th_cache_line_alloc(2 * c->most);
    cr_assert_eq(th_jobs_create(&(th_jobs_desc){.threads = threads}, &c->jobs, NULL), TH_OK);
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = c->crowd, .jobs = c->jobs, .grain = grain}, &c->frame, NULL),
                 TH_OK);
    th_pose_plan_desc desc = *how;
    desc.crowd = c->crowd;
    desc.most_lists = GROUPS;
    cr_assert_eq(th_pose_plan_create(&desc, &c->plan, NULL), TH_OK);
}

static void case_fini(held_case *c)
{
    th_pose_plan_destroy(c->plan);
    th_frame_destroy(c->frame);
    th_jobs_destroy(c->jobs);
    th_crowd_destroy(c->crowd);
    for (uint32_t k = 0; k < TH_POSE_MAX_HOLD; k++)
        free(c->kept[k]);
    for (uint32_t m = 0; m < MODELS; m++) {
        for (uint32_t n = 0; n < FRAMES; n++)
            free(c->wanted[n][m]);
        th_crowd_destroy(c->full[m]);
        th_compiled_model_destroy(c->compiled[m]);
        th_model_destroy(c->models[m]);
    }
    free(c->scratch);
}

/* Lists the instances of each group; who is in which changes now and then, and some are out of sight for a while. */
static void list_frame(held_case *c, uint32_t n, bool changes, const uint32_t holds[GROUPS])
{
    uint32_t listed = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t drawn = (i * 2654435761u + (changes ? (n + i) / 7 : 0) * 40503u) >> 7;
        c->group_of[i] = changes ? drawn % (GROUPS + 1) : i % GROUPS;
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        c->groups[g] = (th_draw_list){
            .posed_as = group_models[g], .first = listed, .shares = g == 4 && holds[g] == 0, .hold = holds[g]};
        for (uint32_t i = 0; i < COUNT; i++)
            if (c->group_of[i] == g)
                c->list[listed++] = i;
        c->groups[g].count = listed - c->groups[g].first;
    }
}

/* Frame n of a sequence, whose palettes are kept. */
static void pose(held_case *c, uint32_t n)
{
    th_pose_plan_begin(c->plan, ++c->number);
    th_pose_plan_make(c->plan, c->jobs, time_of(n), c->list, c->groups, GROUPS);
    th_pose_plan_make(c->plan, c->jobs, time_of(n), c->list, c->groups, GROUPS); /* as often as one likes */
    th_pose_plan_keep(c->plan, c->jobs, c->number);
    char *slot = c->kept[c->number % TH_POSE_MAX_HOLD];
    memset(slot, 0x5a, 2 * c->most);
    cr_assert_leq(th_crowd_palette_bytes(c->crowd), 2 * c->most);
    th_frame_run(c->frame, time_of(n), slot);
}

/* Now and then one group goes over to the other model. */
static uint32_t model_in(uint32_t group, uint32_t n)
{
    return group == 3 && n / 9 % 2 ? 0 : group_models[group];
}

/* The palette of listed character k, as the place says. */
static const char *shown(const held_case *c, uint32_t g, uint32_t k)
{
    const th_pose_place *place = &th_pose_plan_readers(c->plan).places[k];
    const th_pose_part part = th_pose_plan_part(c->plan, g, place->frames_ago);
    cr_assert_lt(place->palette, part.range.count);
    cr_assert_lt(place->at - part.first, part.count, "it is in the part of its frame");
    return c->kept[(c->number - place->frames_ago) % TH_POSE_MAX_HOLD] + part.range.offset +
           place->palette * part.range.stride;
}

/* When each instance was last posed, and in which model, TH_NO_INDEX if it shared: kept by the rules alone. So the work
 * is spread over the frames, and whoever begins to hold does so at once. */
typedef struct reference {
    int posed[COUNT];
    uint32_t model[COUNT];
} reference;

/* Returns the frame whose pose is to be shown. */
static int expected(reference *r, const held_case *c, uint32_t i, uint32_t g, int n)
{
    const int hold = c->groups[g].hold > 1 ? (int)c->groups[g].hold : 1;
    const bool turn = (c->number + i) % (uint32_t)hold == 0, late = n - r->posed[i] >= hold;
    if (turn || late || r->model[i] != model_in(g, (uint32_t)r->posed[i])) {
        r->posed[i] = n;
        r->model[i] = c->groups[g].shares ? TH_NO_INDEX : model_in(g, (uint32_t)n);
    }
    return r->posed[i];
}

static void expect_frame(reference *r, const held_case *c, int n)
{
    uint32_t held = 0, seen[COUNT] = {0};
    for (uint32_t g = 0; g < GROUPS; g++) {
        const th_pose_palettes palettes = th_pose_plan_list(c->plan, g);
        cr_assert_eq(palettes.are_held, c->groups[g].hold > 1);
        for (uint32_t k = c->groups[g].first; k < c->groups[g].first + c->groups[g].count; k++) {
            const uint32_t i = c->list[k];
            const int frame = expected(r, c, i, g, n);
            const uint32_t model = r->model[i], ago = (uint32_t)(n - frame);
            if (!palettes.are_held) /* in this frame; the next ones may read it */
                continue;
            const uint32_t at = th_pose_plan_readers(c->plan).places[k].at;
            cr_assert_eq(th_pose_plan_part(c->plan, g, ago).model, model);
            const size_t bytes = th_crowd_palettes(c->full[model], model).stride;
            const char *wanted = c->wanted[frame][model] + th_crowd_palette_offset(c->full[model], i);
            cr_assert_arr_eq(shown(c, g, k), wanted, bytes, "frame %d: instance %u of group %u, posed in %d", n, i, g,
                             frame);
            cr_assert_eq(th_pose_plan_readers(c->plan).places[k].frames_ago, ago);
            cr_assert_eq(seen[at]++, 0, "everyone has a place of his own");
            held += frame != n;
        }
    }
    const th_pose_counts counts = th_pose_plan_counts(c->plan);
    const th_draw_list *last = &c->groups[GROUPS - 1];
    cr_assert_eq(counts.held, held);
    cr_assert_eq(counts.evaluated + counts.shared + counts.held, last->first + last->count);
}

/* All frames, with these holds in turn. Ends the case. */
static void follow(held_case *c, bool changes, const uint32_t (*holds)[GROUPS], uint32_t count)
{
    reference r;
    for (uint32_t i = 0; i < COUNT; i++)
        r.posed[i] = NEVER;
    for (uint32_t n = 0; n < FRAMES; n++) {
        list_frame(c, n, changes, holds[n % count]);
        c->groups[3].posed_as = model_in(3, n);
        pose(c, n);
        expect_frame(&r, c, (int)n);
    }
    case_fini(c);
}

Test(held_poses, are_of_a_frame_at_most_so_many_ago)
{
    for (uint32_t hold = 2; hold <= TH_POSE_MAX_HOLD; hold += 1 + hold / 3) {
        held_case c;
        const uint32_t holds[GROUPS] = {1, hold, 2, hold, hold};
        case_init(&c, 3, 0, &(th_pose_plan_desc){.most_hold = hold});
        follow(&c, true, &holds, 1);
    }
}

/* Whether nobody, some or all hold their pose, or share it, changes from frame to frame: nobody steps back to a pose
 * before the last, and whoever begins to hold reads the last. */
Test(held_poses, follow_those_of_frames_that_hold_nothing)
{
    static const uint32_t all[][GROUPS] = {{4, 4, 4, 4, 4}, {4, 4, 4, 4, 4}, {4, 4, 4, 4, 4}, {1, 1, 1, 1, 1},
                                           {4, 4, 4, 4, 4}, {0, 4, 1, 4, 0}, {2, 2, 2, 2, 2}, {1, 1, 1, 0, 0},
                                           {3, 3, 3, 3, 3}, {1, 3, 1, 1, 1}};
    for (int changes = 0; changes < 2; changes++) {
        held_case c;
        case_init(&c, 3, 0, &(th_pose_plan_desc){.rates = {{30}, 1}, .most_hold = 4});
        follow(&c, changes, all, 10);
    }
}

Test(held_poses, are_posed_anew_after_what_was_kept_is_lost)
{
    static const uint32_t holds[GROUPS] = {8, 8, 8, 8, 8};
    held_case c;
    case_init(&c, 1, 0, &(th_pose_plan_desc){.most_hold = 8});
    for (uint32_t n = 0; n < 4; n++) {
        list_frame(&c, n, false, holds);
        c.number += n == 2 ? TH_POSE_MAX_HOLD : 0;
        pose(&c, n);
        cr_expect_eq(th_pose_plan_counts(c.plan).held == 0, n == 0 || n == 2, "frame %u", n);
    }
    case_fini(&c);
}

static void list_half(held_case *c)
{
    for (uint32_t g = 0, to = 0; g < GROUPS; g++) {
        const th_draw_list from = c->groups[g];
        c->groups[g].first = to;
        for (uint32_t k = 0; k < from.count / 2; k++)
            c->list[to++] = c->list[from.first + k];
        c->groups[g].count = to - c->groups[g].first;
    }
}

/* Where many come into sight, nobody of their model holds a pose, and those who had one are posed, too. So are they in
 * the frame after, since what was posed cannot be bound, and what was held before is older. */
Test(held_poses, are_given_up_where_palettes_no_longer_fit)
{
    static const uint32_t holds[GROUPS] = {4, 4, 4, 4, 4};
    held_case c;
    case_init(&c, 2, 0, &(th_pose_plan_desc){.most_hold = 4});
    list_frame(&c, 0, false, holds);
    const uint32_t all = c.groups[2].first + c.groups[2].count;
    const size_t stride = th_crowd_palettes(c.crowd, 0).stride;
    case_fini(&c);
    case_init(&c, 2, 0, &(th_pose_plan_desc){.most_hold = 4, .most_bytes = (all / 2 + 2) * stride});
    for (uint32_t n = 0; n < 6; n++) {
        const bool fits = n != 2 && n != 3;
        list_frame(&c, n, false, holds);
        if (fits)
            list_half(&c);
        pose(&c, n);
        const uint32_t posed = th_crowd_palettes(c.crowd, 0).count, listed = c.groups[2].first + c.groups[2].count;
        cr_expect_eq(th_pose_plan_list(c.plan, 0).are_held, fits);
        cr_expect_eq(posed == listed, n != 1 && n != 5, "frame %u: %u of %u", n, posed, listed);
    }
    case_fini(&c);
}

/* A model whose palettes cannot be bound at once holds none; the other does. */
Test(held_poses, are_none_where_palettes_do_not_fit)
{
    static const uint32_t holds[GROUPS] = {4, 4, 4, 4, 4};
    held_case c;
    case_init(&c, 2, 0, &(th_pose_plan_desc){.most_hold = 4});
    list_frame(&c, 0, false, holds);
    pose(&c, 0);
    size_t bytes[MODELS];
    for (uint32_t m = 0; m < MODELS; m++)
        bytes[m] = th_crowd_palettes(c.crowd, m).count * th_crowd_palettes(c.crowd, m).stride;
    const uint32_t large = bytes[1] > bytes[0], count = th_crowd_palettes(c.crowd, large).count;
    cr_assert_neq(bytes[0], bytes[1]);
    case_fini(&c);
    for (int fits = 0; fits < 2; fits++) {
        case_init(&c, 2, 0, &(th_pose_plan_desc){.most_hold = 4, .most_bytes = bytes[large] - !fits});
        for (uint32_t n = 0; n < 3; n++) {
            list_frame(&c, n, false, holds);
            pose(&c, n);
            for (uint32_t g = 0; g < GROUPS; g++)
                cr_expect_eq(th_pose_plan_list(c.plan, g).are_held, fits || group_models[g] != large);
            cr_expect_eq(th_crowd_palettes(c.crowd, large).count == count, !fits || n == 0);
            cr_expect_eq(th_crowd_palettes(c.crowd, 1 - large).count<COUNT - count, n> 0);
        }
        case_fini(&c);
    }
}

/* Characters who share take what their poses take, and no palettes of their own. */
Test(held_poses, fit_beside_those_that_are_shared)
{
    static const uint32_t holds[GROUPS] = {1, 1, 1, 4, 0}; /* the last share */
    const th_sharing_rates rates = {{30}, 1};
    held_case c;
    case_init(&c, 2, 0, &(th_pose_plan_desc){.rates = rates, .most_hold = 4});
    list_frame(&c, 0, false, holds);
    pose(&c, 0);
    const size_t bytes = th_crowd_palettes(c.crowd, 1).count * th_crowd_palettes(c.crowd, 1).stride;
    case_fini(&c);
    for (int fits = 0; fits < 2; fits++) {
        case_init(&c, 2, 0, &(th_pose_plan_desc){.rates = rates, .most_bytes = bytes - !fits, .most_hold = 4});
        list_frame(&c, 0, false, holds);
        pose(&c, 0);
        cr_expect(th_pose_plan_list(c.plan, 4).are_shared);
        cr_expect_eq(th_pose_plan_list(c.plan, 3).are_held, fits);
        case_fini(&c);
    }
}

/* Groups that hold nothing are planned as by a plan that cannot hold. */
Test(held_poses, are_off_without_a_trace)
{
    static const uint32_t off[GROUPS] = {0, 1, 1, 0, 0};
    held_case with, without;
    const th_sharing_rates rates = {{30}, 1};
    case_init(&with, 3, 0, &(th_pose_plan_desc){.rates = rates, .most_hold = 4});
    case_init(&without, 3, 0, &(th_pose_plan_desc){.rates = rates});
    for (uint32_t n = 0; n < 8; n++) {
        list_frame(&with, n, true, off);
        list_frame(&without, n, true, off);
        pose(&with, n);
        char *slot = without.kept[with.number % TH_POSE_MAX_HOLD];
        memset(slot, 0x5a, 2 * without.most);
        th_pose_plan_make(without.plan, without.jobs, time_of(n), without.list, without.groups, GROUPS);
        th_frame_run(without.frame, time_of(n), slot);
        cr_assert_arr_eq(with.kept[with.number % TH_POSE_MAX_HOLD], slot, 2 * with.most);
        const th_pose_counts a = th_pose_plan_counts(with.plan), b = th_pose_plan_counts(without.plan);
        cr_assert(a.evaluated == b.evaluated && a.shared == b.shared && a.held == 0 && b.held == 0);
    }
    case_fini(&with);
    case_fini(&without);
}

Test(held_poses, do_not_depend_on_threads)
{
    static const uint32_t holds[GROUPS] = {1, 3, 5, 4, 0}; /* the last share */
    held_case one;
    const th_pose_plan_desc how = {.rates = {{30}, 1}, .most_hold = 5};
    case_init(&one, 1, 0, &how);
    for (uint32_t threads = 2; threads <= 16; threads *= 8) {
        held_case c;
        one.number = 4000;
        th_pose_plan_destroy(one.plan);
        cr_assert_eq(
            th_pose_plan_create(&(th_pose_plan_desc){one.crowd, how.rates, 0, GROUPS, how.most_hold}, &one.plan, NULL),
            TH_OK);
        case_init(&c, threads, threads / 2, &how);
        for (uint32_t n = 0; n < 20; n++) {
            list_frame(&one, n, true, holds);
            list_frame(&c, n, true, holds);
            pose(&one, n);
            pose(&c, n);
            cr_assert_arr_eq(c.kept[c.number % TH_POSE_MAX_HOLD], one.kept[c.number % TH_POSE_MAX_HOLD], 2 * c.most);
            for (uint32_t g = 0; g < GROUPS; g++)
                if (th_pose_plan_list(c.plan, g).are_held)
                    cr_assert_arr_eq(th_pose_plan_readers(c.plan).places + c.groups[g].first,
                                     th_pose_plan_readers(one.plan).places + c.groups[g].first,
                                     c.groups[g].count * sizeof(th_pose_place));
        }
        case_fini(&c);
    }
    case_fini(&one);
}
