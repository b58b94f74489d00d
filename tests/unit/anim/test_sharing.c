/* Shared poses: they are the exact ones at the middle of the step that someone is in, and who shares with whom depends
 * on neither threads nor on who else is listed. */
#include "fixture_crowd.h"

#include <anim/exact.h>
#include <anim/sharing.h>
#include <core/cache_line.h>
#include <runtime/frame.h>
#include <runtime/pose_plan.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 3, COUNT = 700, GROUPS = 2 * MODELS, FRAMES = 12 };

static const double rates_hz[] = {7, 60, 1000};

/* A crowd of several models in random clips. Characters with an odd number are near. */
typedef struct crowd_case {
    th_model *models[MODELS];
    th_compiled_model *compiled[MODELS];
    th_spawn instances[COUNT];
    th_crowd *crowd;
    th_jobs *jobs;
    th_frame *frame;
    th_pose_plan *plan;
    void *palette;
    uint32_t list[COUNT];
    th_draw_list groups[GROUPS]; /* of each model those that are far, then the others */
} crowd_case;

static crowd_case c; /* of the test */

static double time_of(uint32_t frame)
{
    return frame < FRAMES / 2 ? frame / 60.0 : 35.7 * frame - 100;
}

static void set_threads(uint32_t threads, uint32_t grain)
{
    th_frame_destroy(c.frame);
    th_jobs_destroy(c.jobs);
    cr_assert_eq(th_jobs_create(&(th_jobs_desc){.threads = threads}, &c.jobs, NULL), TH_OK);
    th_crowd_set_active(c.crowd, NULL, COUNT);
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = c.crowd, .jobs = c.jobs, .grain = grain}, &c.frame, NULL),
                 TH_OK);
}

static void list_all(void)
{
    uint32_t listed = 0;
    for (uint32_t g = 0; g < GROUPS; g++) {
        const bool far = g % 2 == 0;
        c.groups[g] = (th_draw_list){.posed_as = g / 2, .first = listed, .shares = far};
        for (uint32_t i = 0; i < COUNT; i++)
            if (c.instances[i].model == g / 2 && (i % 2 == 0) == far)
                c.list[listed++] = i;
        c.groups[g].count = listed - c.groups[g].first;
    }
}

static void make_case(void)
{
    uint64_t state = 3;
    for (uint32_t m = 0; m < MODELS; m++) {
        random_desc desc = variety(3 * m + 1);
        desc.clip_count = 1 + m;
        desc.swing_rad = 0.2;
        c.models[m] = random_model(&desc);
        c.compiled[m] = make_compiled(c.models[m], m == 1 ? TH_SAMPLING_EXACT : TH_SAMPLING_COMPILED);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        th_spawn *instance = &c.instances[i];
        instance->model = (uint32_t)random_between(&state, 0, MODELS);
        instance->clip = (uint32_t)random_between(&state, 0, instance->model + 2.0);
        instance->clip = instance->clip > instance->model ? TH_NO_INDEX : instance->clip;
        instance->phase_s = random_between(&state, -5, 5);
        instance->speed = i % 7 == 0 ? 0 : random_between(&state, -1, 2);
    }
    c.crowd = crowd_of((const th_compiled_model *const *)c.compiled, MODELS, c.instances, COUNT, (th_crowd_desc){0});
    cr_assert_eq(th_palettes_create(c.crowd, &c.palette, NULL), TH_OK);
    set_threads(3, 0);
    list_all();
}

static void free_case(void)
{
    th_pose_plan_destroy(c.plan);
    th_frame_destroy(c.frame);
    th_jobs_destroy(c.jobs);
    th_palettes_destroy(c.palette);
    th_crowd_destroy(c.crowd);
    for (uint32_t m = 0; m < MODELS; m++) {
        th_compiled_model_destroy(c.compiled[m]);
        th_model_destroy(c.models[m]);
    }
}

TestSuite(sharing, .init = make_case, .fini = free_case);

static th_pose_plan *make_plan(double hz, size_t most_bytes)
{
    th_error err;
    const th_pose_plan_desc desc = {c.crowd, {{hz}, hz > 0}, most_bytes, GROUPS, 0};
    th_pose_plan_destroy(c.plan);
    cr_assert_eq(th_pose_plan_create(&desc, &c.plan, &err), TH_OK, "%s", err.text);
    return c.plan;
}

static void pose(th_pose_plan *plan, double time_s)
{
    th_pose_plan_make(plan, c.jobs, time_s, c.list, c.groups, GROUPS);
    th_frame_run(c.frame, time_s, c.palette);
}

/* ---- against the exact evaluation ---- */

/* Clip lengths that the instance has played, without whole loops. */
static double ratio_of(uint32_t i, double time_s)
{
    const th_spawn *instance = &c.instances[i];
    if (instance->clip == TH_NO_INDEX)
        return 0;
    const th_clip *clip = &c.models[instance->model]->clips[instance->clip];
    const double loops = (instance->phase_s + instance->speed * time_s) * clip->ticks_per_second / clip->duration_ticks;
    return loops - floor(loops);
}

static double steps_of(uint32_t i, double hz)
{
    const th_spawn *instance = &c.instances[i];
    if (instance->clip == TH_NO_INDEX)
        return 1;
    const th_clip *clip = &c.models[instance->model]->clips[instance->clip];
    return fmax(1, round(clip->duration_ticks / clip->ticks_per_second * hz));
}

/* How far the palette of an instance is from the exact one at this ratio of its clip. */
static double error_at(uint32_t i, double ratio)
{
    const th_spawn *instance = &c.instances[i];
    const th_model *model = c.models[instance->model];
    const th_clip *clip = instance->clip == TH_NO_INDEX ? NULL : &model->clips[instance->clip];
    const crowd_fixture seen = {
        .compiled = c.compiled[instance->model], .crowd = c.crowd, .palette = (unsigned char *)c.palette};
    th_dmat34 *exact = calloc(model->joint_count, sizeof *exact);
    th_exact_pose(model, clip, clip ? ratio * clip->duration_ticks : 0, TH_INTERPOLATION_AUTHORED, exact);
    const double error = pose_error(&seen, i, exact);
    free(exact);
    return error;
}

static double allowed(uint32_t i)
{
    const uint32_t model = c.instances[i].model;
    return 1.25 * th_compiled_model_bound(c.compiled[model]) + 4e-5 * c.models[model]->size;
}

/* The smallest error at the middle of the step that the instance is in; near the end of a step also of its
 * neighbours. */
static double error_of_step(uint32_t i, double hz, double time_s)
{
    const double steps = steps_of(i, hz), at = ratio_of(i, time_s) * steps, unsure = 1e-6 * steps;
    double least = HUGE_VAL;
    for (double step = floor(at - unsure); step <= floor(at + unsure); step++)
        least = fmin(least, error_at(i, fmod(step + steps + 0.5, steps) / steps));
    return least;
}

Test(sharing, shows_the_middle_of_the_step)
{
    for (size_t r = 0; r < sizeof rates_hz / sizeof *rates_hz; r++) {
        th_pose_plan *plan = make_plan(rates_hz[r], 0);
        for (uint32_t n = 0; n < FRAMES; n += 3) {
            pose(plan, time_of(n));
            for (uint32_t i = 0; i < COUNT; i++) {
                const double error =
                    i % 2 == 0 ? error_of_step(i, rates_hz[r], time_of(n)) : error_at(i, ratio_of(i, time_of(n)));
                cr_assert_leq(error, allowed(i), "%g Hz, frame %u, instance %u: %g, allowed %g", rates_hz[r], n, i,
                              error, allowed(i));
            }
        }
    }
}

/* ---- who shares ---- */

static void expect_counts(const th_pose_plan *plan, uint32_t listed)
{
    const th_pose_counts counts = th_pose_plan_counts(plan);
    uint32_t evaluated = 0;
    for (uint32_t g = 0; g < GROUPS; g++) {
        const th_pose_palettes p = th_pose_plan_list(plan, g);
        evaluated += p.range.count; /* one group of each model shares */
    }
    cr_expect_eq(counts.evaluated + counts.shared, listed);
    cr_expect_eq(counts.evaluated, evaluated);
    cr_expect_eq(th_crowd_palette_bytes(c.crowd) > 0, listed > 0);
}

Test(sharing, counts_add_up_and_poses_differ)
{
    uint32_t before = COUNT;
    for (int r = 2; r >= 0; r--) {
        th_pose_plan *plan = make_plan(rates_hz[r], 0);
        pose(plan, 1.5);
        expect_counts(plan, COUNT);
        const uint32_t evaluated = th_pose_plan_counts(plan).evaluated;
        cr_expect_lt(evaluated, before, "longer steps are shared by more");
        before = evaluated;
        const uint32_t *palettes = th_pose_plan_readers(plan).palettes;
        for (uint32_t g = 0; g < GROUPS; g += 2) { /* equal keys and no others have equal palettes */
            const th_draw_list *group = &c.groups[g];
            const th_sharing *sharing = th_pose_plan_readers(plan).sharing;
            uint32_t *keys = calloc(group->count + 1, sizeof *keys);
            th_sharing_keys(sharing, group->posed_as, 0, c.list + group->first, group->count, 1.5, keys);
            for (uint32_t k = 1; k < group->count; k++)
                cr_assert_eq(keys[k] == keys[k - 1], palettes[group->first + k] == palettes[group->first + k - 1]);
            free(keys);
        }
    }
}

/* Palettes of all instances, wherever they lie. */
static uint64_t hash_of(void)
{
    return th_crowd_hash(c.crowd, c.palette);
}

Test(sharing, is_the_same_for_any_threads_and_grain)
{
    uint64_t wanted[FRAMES];
    for (uint32_t threads = 1; threads <= 16; threads += threads < 3 ? 1 : 5) {
        set_threads(threads, threads % 5);
        th_pose_plan *plan = make_plan(60, 0);
        for (uint32_t n = 0; n < FRAMES; n++) {
            memset(c.palette, 0xff, th_crowd_palette_bytes(c.crowd));
            pose(plan, time_of(n));
            if (threads == 1)
                wanted[n] = hash_of();
            cr_assert_eq(hash_of(), wanted[n], "%u threads, frame %u", threads, n);
        }
    }
    cr_expect_neq(wanted[0], wanted[1]);
}

Test(sharing, off_writes_the_same_bytes)
{
    th_pose_plan *off = make_plan(0, 0);
    for (uint32_t n = 0; n < FRAMES; n++) {
        th_crowd_set_active(c.crowd, c.list, COUNT);
        const size_t bytes = th_crowd_palette_bytes(c.crowd);
        th_frame_run(c.frame, time_of(n), c.palette);
        void *wanted = malloc(bytes);
        memcpy(wanted, c.palette, bytes);
        memset(c.palette, 0xff, bytes);
        pose(off, time_of(n));
        cr_assert_eq(th_crowd_palette_bytes(c.crowd), bytes);
        cr_assert_arr_eq(c.palette, wanted, bytes);
        free(wanted);
    }
    cr_expect_eq(th_pose_plan_counts(off).evaluated, COUNT);
    cr_expect_eq(th_pose_plan_counts(off).shared, 0);
}

/* ---- who is in sight ---- */

static uint64_t hash_palette(uint32_t i)
{
    const th_palette_range range = th_crowd_palettes(c.crowd, c.instances[i].model);
    const unsigned char *at = (const unsigned char *)c.palette + th_crowd_palette_offset(c.crowd, i);
    uint64_t hash = 14695981039346656037u;
    for (size_t b = 0; b < range.stride; b++)
        hash = (hash ^ at[b]) * 1099511628211u;
    return hash;
}

/* Leaves every third character out of the list. */
static uint32_t thin_out(void)
{
    uint32_t listed = 0;
    for (uint32_t g = 0; g < GROUPS; g++) {
        const th_draw_list group = c.groups[g];
        c.groups[g].first = listed;
        for (uint32_t k = group.first; k < group.first + group.count; k++)
            if (c.list[k] % 3 != 1)
                c.list[listed++] = c.list[k];
        c.groups[g].count = listed - c.groups[g].first;
    }
    return listed;
}

Test(sharing, does_not_depend_on_who_else_is_listed)
{
    uint64_t *wanted = calloc(COUNT, sizeof *wanted);
    th_pose_plan *plan = make_plan(60, 0);
    pose(plan, 2.25);
    for (uint32_t i = 0; i < COUNT; i++)
        wanted[i] = hash_palette(i);
    const uint32_t listed = thin_out();
    pose(plan, 2.25);
    expect_counts(plan, listed);
    for (uint32_t k = 0; k < listed; k++)
        cr_assert_eq(hash_palette(c.list[k]), wanted[c.list[k]], "character %u", c.list[k]);
    memset(c.groups, 0, sizeof c.groups);
    for (uint32_t g = 0; g < GROUPS; g++)
        c.groups[g] = (th_draw_list){.posed_as = g / 2, .shares = true};
    pose(plan, 2.25);
    expect_counts(plan, 0);
    free(wanted);
}

/* ---- several rates ---- */

/* Near ones share at a higher rate than far ones, and nobody reads a pose of the other rate. */
Test(sharing, groups_have_rates_of_their_own)
{
    const th_pose_plan_desc desc = {c.crowd, {{7, 60}, 2}, 0, GROUPS, 0};
    cr_assert_eq(th_pose_plan_create(&desc, &c.plan, NULL), TH_OK);
    for (uint32_t g = 0; g < GROUPS; g++) {
        c.groups[g].shares = true;
        c.groups[g].rate = g % 2;
    }
    for (uint32_t n = 0; n < FRAMES; n += 3) {
        pose(c.plan, time_of(n));
        for (uint32_t i = 0; i < COUNT; i++) {
            const double error = error_of_step(i, i % 2 ? 60 : 7, time_of(n));
            cr_assert_leq(error, allowed(i), "frame %u, instance %u: %g", n, i, error);
        }
    }
}

/* ---- limits ---- */

Test(sharing, stops_where_shared_palettes_do_not_fit)
{
    th_pose_plan *none = make_plan(60, 1);
    pose(none, 0.5);
    cr_expect_eq(th_pose_plan_counts(none).evaluated, COUNT);
    for (uint32_t g = 0; g < GROUPS; g++)
        cr_expect(!th_pose_plan_list(none, g).are_shared);
    for (uint32_t i = 0; i < COUNT; i++)
        cr_assert_leq(error_at(i, ratio_of(i, 0.5)), allowed(i), "instance %u", i);
}

/* Hours of clips, many more steps than characters. A frame takes time for those only at whose rate anyone shares. */
Test(sharing, many_hours_of_clips_are_shared)
{
    th_sharing *sharing;
    th_error err;
    const th_sharing_rates rates = {{120, 60, 30, 15, 8}, 5};
    for (uint32_t m = 0; m < MODELS; m++)
        for (uint32_t k = 0; k < c.models[m]->clip_count; k++) {
            th_clip *clip = &((th_clip *)c.models[m]->clips)[k];
            clip->ticks_per_second = clip->duration_ticks / 20000;
        }
    cr_assert_eq(th_sharing_create(c.crowd, &rates, &sharing, &err), TH_OK, "%s", err.text);
    cr_expect_geq(th_sharing_key_count(sharing), 6 * 20000 * 233);
    for (uint32_t i = 0; i < COUNT; i++)
        for (uint32_t r = 0; r < rates.count; r++) {
            const th_spawn *instance = &c.instances[i];
            uint32_t key;
            th_sharing_keys(sharing, instance->model, r, &i, 1, 0.37 * i, &key);
            const th_shared_pose pose = th_sharing_pose(sharing, key);
            const double steps = instance->clip == TH_NO_INDEX ? 1 : 20000 * rates.hz[r];
            cr_assert_eq(pose.model, instance->model);
            cr_assert(fabs(pose.ratio * steps - floor(pose.ratio * steps) - 0.5) < 0.01, "the middle of a step");
        }
    th_sharing_destroy(sharing);
}

Test(sharing, says_when_there_would_be_too_many_steps)
{
    th_sharing *sharing;
    th_error err;
    ((th_clip *)c.models[0]->clips)[0].ticks_per_second *= 1e-3; /* hours */
    cr_expect_eq(th_sharing_create(c.crowd, &(th_sharing_rates){{TH_SHARING_MAX_HZ}, 1}, &sharing, &err), TH_ERR_LIMIT);
    cr_expect_null(sharing);
    cr_expect(strstr(err.text, "do not share"), "%s", err.text);
}
