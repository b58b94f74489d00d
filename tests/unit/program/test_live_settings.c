/* Inside, since a window's keys are made up. What keys make of settings. */
#include "src/view/live_settings.h"

#include <criterion/criterion.h>
#include <string.h>

static th_clip one[] = {{.name = "idle"}, {.name = "walk"}, {.name = "idle"}};
static th_clip other[] = {{.name = "walk"}, {.name = "jump"}};
static th_model models[] = {{.name = "one", .clip_count = 3, .clips = one},
                            {.name = "bare"},
                            {.name = "other", .clip_count = 2, .clips = other}};
static const th_model_set model_set = {.models = {&models[0], &models[1], &models[2]}, .count = 3};
static th_live_settings start, settings;

static void set(void)
{
    start = (th_live_settings){.crowd = {.count = 100, .jobs = {.threads = 2}, .shadow_pixels = 512}};
    settings = start;
}

TestSuite(live_settings, .init = set);

static bool apply(th_action action)
{
    return th_live_settings_apply(&settings, action, &model_set, &start);
}

/* What the action makes of a value. The same: it does nothing. */
static void expect_step(th_action action, uint32_t *value, uint32_t from, uint32_t to)
{
    *value = from;
    cr_expect_eq(apply(action), from != to);
    cr_expect_eq(*value, to, "%u becomes %u", from, *value);
}

Test(live_settings, sizes_of_the_crowd)
{
    uint32_t *count = &settings.crowd.count;
    expect_step(TH_ACTION_DOUBLE, count, 100, 200);
    expect_step(TH_ACTION_DOUBLE + TH_ACTION_BACK, count, 200, 100);
    expect_step(TH_ACTION_MORE, count, 100, 110);
    expect_step(TH_ACTION_MORE + TH_ACTION_BACK, count, 110, 99);
    expect_step(TH_ACTION_MORE, count, 5, 6);
    expect_step(TH_ACTION_DOUBLE + TH_ACTION_BACK, count, 1, 1);
    expect_step(TH_ACTION_MORE + TH_ACTION_BACK, count, 1, 1);
    expect_step(TH_ACTION_DOUBLE, count, 999999, 1000000);
    expect_step(TH_ACTION_MORE, count, 1000000, 1000000);
}

Test(live_settings, threads_within_what_there_can_be)
{
    uint32_t *threads = &settings.crowd.jobs.threads;
    expect_step(TH_ACTION_THREADS, threads, 2, 3);
    expect_step(TH_ACTION_THREADS + TH_ACTION_BACK, threads, 1, 1);
    expect_step(TH_ACTION_THREADS, threads, TH_JOBS_MAX_THREADS, TH_JOBS_MAX_THREADS);
}

static void expect_description(const char *text)
{
    char got[256];
    th_live_settings_describe(&settings, got, sizeof got);
    cr_expect_str_eq(got, text);
}

static bool blend(th_action action)
{
    return th_live_settings_blend(&settings, action, &model_set);
}

Test(live_settings, the_pace_of_a_blend)
{
    cr_expect(!blend(TH_ACTION_PACE)); /* nothing is blended */
    settings.behaviour.kind = TH_BEHAVIOUR_BLEND;
    settings.behaviour.blend.pace = 0.1;
    cr_expect(blend(TH_ACTION_PACE + TH_ACTION_BACK));
    cr_expect_eq(settings.behaviour.blend.pace, 0);
    cr_expect(!blend(TH_ACTION_PACE + TH_ACTION_BACK));
    cr_expect(blend(TH_ACTION_PACE));
    cr_expect(blend(TH_ACTION_PACE));
    cr_expect_float_eq(settings.behaviour.blend.pace, 0.2, 1e-12);
    expect_description("100 characters, 2 threads, blend at 0.2");
    cr_expect(!blend(TH_ACTION_DOUBLE) && !apply(TH_ACTION_PACE));
}

Test(live_settings, the_weights_of_a_blend)
{
    settings.behaviour.kind = TH_BEHAVIOUR_BLEND;
    cr_expect(!blend(TH_ACTION_WEIGHT)); /* of no clip */
    settings.clip = "jump";
    cr_expect(blend(TH_ACTION_WEIGHT));
    cr_assert_eq(settings.behaviour.blend.clip_count, 3);
    cr_expect_str_eq(settings.behaviour.blend.clips[0].name, "jump");
    cr_expect_eq(settings.behaviour.blend.clips[0].weight, 1.25);
    cr_expect_str_eq(settings.behaviour.blend.clips[1].name, "idle");
    cr_expect_eq(settings.behaviour.blend.clips[1].weight, 1);
    cr_expect_str_eq(settings.behaviour.blend.clips[2].name, "walk");
    expect_description("100 characters, 2 threads, jump, blend, weight 1.25");
    for (int n = 0; n < 5; n++)
        cr_expect(blend(TH_ACTION_WEIGHT + TH_ACTION_BACK));
    cr_expect(!blend(TH_ACTION_WEIGHT + TH_ACTION_BACK));
    cr_expect_eq(settings.behaviour.blend.clips[0].weight, 0);
    settings.behaviour.blend.clips[0].weight = 0.25;
    settings.behaviour.blend.clips[1].weight = settings.behaviour.blend.clips[2].weight = 0;
    cr_expect(!blend(TH_ACTION_WEIGHT + TH_ACTION_BACK)); /* something has to play */
    cr_expect(blend(TH_ACTION_PACE));
    cr_expect_eq(settings.behaviour.blend.clip_count, 0);
}

/* As in a build that has not all of them. */
bool __wrap_th_scheduler_available(th_scheduler scheduler);
bool __wrap_th_scheduler_available(th_scheduler scheduler)
{
    return scheduler == TH_SCHEDULER_WORK_STEALING || scheduler == TH_SCHEDULER_SERIAL ||
           scheduler == TH_SCHEDULER_OPENMP_STATIC;
}

Test(live_settings, schedulers_that_the_build_has_and_no_others)
{
    static const th_scheduler round[] = {TH_SCHEDULER_SERIAL, TH_SCHEDULER_OPENMP_STATIC, TH_SCHEDULER_WORK_STEALING};
    for (int k = 0; k < 3; k++) {
        cr_expect(apply(TH_ACTION_SCHEDULER));
        cr_expect_eq(settings.crowd.jobs.scheduler, round[k]);
    }
    cr_expect(apply(TH_ACTION_SCHEDULER + TH_ACTION_BACK));
    cr_expect_eq(settings.crowd.jobs.scheduler, TH_SCHEDULER_OPENMP_STATIC);
}

/* `count` steps forward are a round, and each step back is one. */
static void expect_round(th_action next, const unsigned *value, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        cr_expect_eq(*value, k);
        cr_expect(apply(next));
    }
    for (unsigned k = 0; k < count; k++) {
        cr_expect(apply(next + TH_ACTION_BACK));
        cr_expect_eq(*value, count - 1 - k);
    }
}

Test(live_settings, choices_go_round)
{
    expect_round(TH_ACTION_INTERPOLATION, (unsigned *)&settings.crowd.compile.interpolation, TH_INTERPOLATION_COUNT);
    expect_round(TH_ACTION_LAYOUT, (unsigned *)&settings.crowd.layout, TH_LAYOUT_COUNT);
    expect_round(TH_ACTION_LOOK, (unsigned *)&settings.crowd.look, TH_LOOK_COUNT);
    for (int k = 0; k <= TH_FORMAT_COUNT; k++) {
        cr_expect_eq(settings.crowd.palette, (th_format)k);
        cr_expect(apply(TH_ACTION_PALETTE));
    }
    cr_expect_eq(settings.crowd.palette, TH_FORMAT_F32);
}

Test(live_settings, shadows_come_back_as_they_were)
{
    cr_expect(apply(TH_ACTION_SHADOWS));
    cr_expect_eq(settings.crowd.shadow_pixels, 0);
    cr_expect(apply(TH_ACTION_SHADOWS));
    cr_expect_eq(settings.crowd.shadow_pixels, 512);
    start.crowd.shadow_pixels = settings.crowd.shadow_pixels = 0;
    cr_expect(apply(TH_ACTION_SHADOWS));
    cr_expect_gt(settings.crowd.shadow_pixels, 0);
}

static void expect_clips(th_action action, const char *const *names, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        cr_expect(apply(action));
        if (names[k])
            cr_expect_str_eq(settings.clip, names[k]);
        else
            cr_expect_eq(settings.clip, NULL);
    }
}

Test(live_settings, clips_of_all_models_each_name_once)
{
    static const char *const forward[] = {"idle", "walk", "jump", NULL, "idle"};
    static const char *const back[] = {NULL, "jump", "walk", "idle", NULL};
    expect_clips(TH_ACTION_CLIP, forward, 5);
    expect_clips(TH_ACTION_CLIP + TH_ACTION_BACK, back, 5);
    settings.clip = "1"; /* walk, by number */
    expect_clips(TH_ACTION_CLIP, forward + 2, 1);
    settings.clip = "all";
    expect_clips(TH_ACTION_CLIP + TH_ACTION_BACK, back + 1, 1);
}

Test(live_settings, no_clips_are_a_mix_of_none)
{
    const th_model_set bare = {.models = {&models[1]}, .count = 1};
    th_live_settings_apply(&settings, TH_ACTION_CLIP, &bare, &start);
    cr_expect_eq(settings.clip, NULL);
}

Test(live_settings, leaves_alone_what_is_others_business)
{
    static const th_action others[] = {TH_ACTION_NONE, TH_ACTION_QUIT, TH_ACTION_PAUSE, TH_ACTION_CAMERA};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        cr_expect(!apply(others[k]));
    cr_expect_eq(memcmp(&settings, &start, sizeof start), 0);
}

Test(live_settings, says_what_is_out_of_the_ordinary)
{
    settings.crowd.count = 12345;
    expect_description("12,345 characters, 2 threads");
    settings = (th_live_settings){.crowd = {.count = 1,
                                            .jobs = {.threads = 1, .scheduler = TH_SCHEDULER_SERIAL},
                                            .palette = TH_FORMAT_QUAT16,
                                            .compile = {.interpolation = TH_INTERPOLATION_NLERP},
                                            .layout = TH_LAYOUT_RING,
                                            .look = TH_LOOK_LOD},
                                  .clip = "walk"};
    expect_description("1 character, 1 thread, serial, quat16, nlerp, walk, ring, lod, no shadows");
    char cut[20];
    th_live_settings_describe(&settings, cut, sizeof cut);
    cr_expect_str_eq(cut, "1 character, 1 thre");
}
