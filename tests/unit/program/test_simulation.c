/* Inside, since memory budgets are made up. What the server animates: models and crowds as their
 * settings say, and their memory. */
#include "fixture_small.h"
#include "src/serve/process.h"
#include "src/serve/simulation/simulation_controller.h"

#include <core/clock.h>
#include <runtime/scene.h>
#include <serve/model_registry.h>
#include <throng/throng.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 60, SEED = 5 };

#define MOMENT_S 12.3

static const th_model_registry registry = {.files = {TH_HUMAN_NAME}, .file_count = 1};
static th_memory_budget memory = TH_MEMORY_BUDGET(1 << 30);
static th_error err;

/* For as long as a loaded machine may take. */
#define WAIT_FOR(condition)                                                                                            \
    do {                                                                                                               \
        for (int i = 0; i < 30000 && !(condition); i++)                                                                \
            usleep(1000);                                                                                              \
        cr_expect(condition);                                                                                          \
    } while (0)

static bool makes_human; /* who has gaits */

static th_result load(void *ctx, const char *path, uint64_t most_bytes, th_model **out, th_error *error)
{
    (void)ctx;
    (void)path;
    (void)most_bytes;
    return makes_human ? th_human_create(out, error) : th_synthetic_create(&small_desc, out, error);
}

static th_controller_desc fixed(void)
{
    return (th_controller_desc){
        .model_cache = {.registry = &registry, .memory = &memory, .load = load, .routines = {.seed = SEED}},
        .simulation = {.memory = &memory, .seed = SEED}};
}

static th_settings settings_with(th_behaviour_kind behaviour)
{
    return (th_settings){.count = COUNT,
                         .threads = 1,
                         .rate_hz = 200,
                         .models = {TH_HUMAN_NAME},
                         .model_count = 1,
                         .behaviour = behaviour};
}

static th_model_cache *make_models(th_behaviour_kind behaviour)
{
    const th_controller_desc desc = fixed();
    const th_settings settings = settings_with(behaviour);
    th_model_cache *models;
    cr_assert_eq(th_model_cache_create(&desc.model_cache, &settings, &models, &err), TH_OK, "%s", err.text);
    return models;
}

static th_simulation *make_simulation(th_behaviour_kind behaviour)
{
    const th_controller_desc desc = fixed();
    const th_settings settings = settings_with(behaviour);
    th_model_cache *models = make_models(behaviour);
    th_simulation *simulation;
    cr_assert_eq(th_simulation_build(&desc.simulation, &settings, models, &simulation, &err), TH_OK, "%s", err.text);
    th_model_cache_release(models);
    cr_assert_eq(th_simulation_warm_up(simulation, &err), TH_OK, "%s", err.text);
    return simulation;
}

static void expect_nothing_reserved(void)
{
    for (unsigned kind = 0; kind < TH_MEMORY_KINDS; kind++)
        cr_expect_eq(th_memory_used(&memory, kind), 0, "kind %d", (int)kind);
}

/* ---- behaviours ---- */

Test(simulation, plays_the_behaviour_of_its_settings)
{
    void *scenes[TH_BEHAVIOUR_KIND_COUNT];
    size_t bytes = 0;
    for (unsigned kind = 0; kind < TH_BEHAVIOUR_KIND_COUNT; kind++) {
        th_simulation *simulation = make_simulation(kind);
        bytes = th_crowd_palette_bytes(simulation->crowd);
        /* The palettes of a scene that says the same. */
        const th_model *model = simulation->model_cache->models[0];
        const th_scene_desc desc = {
            .models = &model, .model_count = 1, .instance_count = COUNT, .seed = SEED, .behaviour = kind};
        th_scene *scene;
        th_crowd *crowd;
        th_frame *frame;
        cr_assert_eq(th_scene_create(&desc, &scene, &err), TH_OK, "%s", err.text);
        cr_assert_eq(th_scene_crowd(scene, TH_ISA_AUTO, TH_FORMAT_F32, &crowd, &err), TH_OK, "%s", err.text);
        const th_frame_desc how = {.crowd = crowd, .jobs = simulation->jobs};
        cr_assert_eq(th_frame_create_with(&how, scene->behaviour, &frame, &err), TH_OK, "%s", err.text);
        cr_assert_eq(th_palettes_create(crowd, &scenes[kind], &err), TH_OK, "%s", err.text);
        th_frame_run(frame, MOMENT_S, scenes[kind]);
        th_frame_destroy(frame);
        th_crowd_destroy(crowd);
        th_scene_destroy(scene);
        th_frame_run(simulation->frame, MOMENT_S, simulation->palettes);
        cr_expect_eq(memcmp(simulation->palettes, scenes[kind], bytes), 0, "%s", th_behaviour_name(kind));
        for (unsigned other = 0; other < kind; other++)
            cr_expect_neq(memcmp(scenes[other], scenes[kind], bytes), 0, "%s plays what %s does",
                          th_behaviour_name(kind), th_behaviour_name(other));
        th_simulation_destroy(simulation);
    }
    for (unsigned kind = 0; kind < TH_BEHAVIOUR_KIND_COUNT; kind++)
        th_palettes_destroy(scenes[kind]);
}

static uint64_t ticks_of(th_controller *controller)
{
    return th_tick_loop_read(controller->tick_loop).ticks;
}

/* For a tick that has begun after this. */
static void wait_for_ticks(th_controller *controller)
{
    const uint64_t before = ticks_of(controller);
    WAIT_FOR(ticks_of(controller) >= before + 3);
}

static th_controller *start(const th_settings *settings)
{
    const th_controller_desc desc = fixed();
    th_controller *controller;
    cr_assert_eq(th_controller_create(&desc, settings, &controller, &err), TH_OK, "%s", err.text);
    return controller;
}

Test(simulation, its_behaviour_changes_while_it_ticks)
{
    static const th_behaviour_kind kinds[] = {TH_BEHAVIOUR_GRAPH, TH_BEHAVIOUR_FADE, TH_BEHAVIOUR_NONE};
    const th_settings first = settings_with(TH_BEHAVIOUR_NONE);
    th_controller *controller = start(&first);
    const uint64_t models = th_memory_used(&memory, TH_MEMORY_MODELS);
    const uint64_t crowds = th_memory_used(&memory, TH_MEMORY_CROWDS);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const th_settings settings = settings_with(kinds[k]);
        const uint64_t done = th_controller_read(controller).done;
        cr_expect(th_controller_request(controller, &settings));
        WAIT_FOR(th_controller_read(controller).done != done);
        cr_expect_eq(th_controller_read(controller).settings.behaviour, kinds[k]);
        wait_for_ticks(controller);
    }
    cr_expect_eq(th_controller_read(controller).failed, 0);
    /* The one before is freed after it has been replaced. */
    WAIT_FOR(th_memory_used(&memory, TH_MEMORY_MODELS) == models &&
             th_memory_used(&memory, TH_MEMORY_CROWDS) == crowds);
    th_controller_destroy(controller);
    expect_nothing_reserved();
}

static th_settings pace_of(double pace)
{
    th_settings settings = settings_with(TH_BEHAVIOUR_BLEND);
    settings.pace = pace;
    return settings;
}

Test(simulation, a_blend_changes_without_another_crowd)
{
    th_settings settings = pace_of(1);
    makes_human = true;
    th_blend_state before[TH_SETTINGS_MODELS], after[TH_SETTINGS_MODELS];
    th_controller *controller = start(&settings);
    const uint64_t done = th_controller_read(controller).done;
    th_tick_loop *loop = controller->tick_loop;
    for (int n = 0; n < 3; n++) {
        settings = pace_of(2 + n);
        if (n == 2) {
            strcpy(settings.clips[0].name, "walk");
            settings.clips[0].weight = 1;
            settings.clip_count = 1;
        }
        th_tick_loop_save_blends(loop, before);
        cr_expect_not(th_controller_request(controller, &settings));
        const th_settings shown = th_controller_read(controller).settings;
        cr_expect(th_settings_same_blend(&shown, &settings));
        wait_for_ticks(controller);
        th_tick_loop_save_blends(loop, after);
        cr_expect_neq(memcmp(before, after, sizeof before), 0);
    }
    cr_expect_eq(th_controller_read(controller).done, done);
    strcpy(settings.clips[0].name, "no such clip");
    cr_expect(th_controller_request(controller, &settings));
    WAIT_FOR(th_controller_read(controller).failed == 1);
    cr_expect_str_eq(th_controller_read(controller).requested.clips[0].name, "walk");
    cr_expect_not(th_controller_read(controller).reconfiguring);
    th_controller_destroy(controller);
    expect_nothing_reserved();
}

/* It waits for a tick, and there is none while the crowd is paused. */
Test(simulation, a_blend_that_waits_does_not_reach_the_crowd_after)
{
    th_settings settings = pace_of(1);
    th_blend_state wanted[TH_SETTINGS_MODELS], got[TH_SETTINGS_MODELS];
    settings.paused = true;
    th_controller *controller = start(&settings);
    th_tick_loop *loop = controller->tick_loop;
    settings.pace = 2;
    cr_expect_not(th_controller_request(controller, &settings));
    settings.pace = 5;
    settings.count++;
    cr_expect(th_controller_request(controller, &settings));
    WAIT_FOR(!th_controller_read(controller).reconfiguring);
    th_tick_loop_save_blends(loop, wanted);
    settings.paused = false;
    cr_expect_not(th_controller_request(controller, &settings));
    wait_for_ticks(controller);
    th_tick_loop_save_blends(loop, got);
    cr_expect_eq(memcmp(wanted, got, sizeof wanted), 0);
    th_controller_destroy(controller);
    expect_nothing_reserved();
}

/* ---- models ---- */

Test(simulation, models_are_shared_by_crowds_of_one_behaviour)
{
    for (unsigned kind = 0; kind < TH_BEHAVIOUR_KIND_COUNT; kind++) {
        th_model_cache *models = make_models(kind);
        cr_expect_eq(models->routines[0] != NULL, kind != TH_BEHAVIOUR_NONE);
        cr_expect_eq(th_compiled_model_repertoire(models->compiled_models[0]) != NULL,
                     th_behaviour_needs_repertoire((th_behaviour_kind)kind));
        for (unsigned other = 0; other < TH_BEHAVIOUR_KIND_COUNT; other++) {
            const th_settings settings = settings_with(other);
            cr_expect_eq(th_model_cache_matches(models, &settings), other == kind, "%s, %s", th_behaviour_name(kind),
                         th_behaviour_name(other));
        }
        th_model_cache_release(models);
    }
}

/* ---- memory ---- */

Test(simulation, reserves_what_a_behaviour_takes_and_releases_it)
{
    uint64_t models[TH_BEHAVIOUR_KIND_COUNT], crowds[TH_BEHAVIOUR_KIND_COUNT];
    size_t bytes[TH_BEHAVIOUR_KIND_COUNT];
    for (unsigned kind = 0; kind < TH_BEHAVIOUR_KIND_COUNT; kind++) {
        th_simulation *simulation = make_simulation(kind);
        const th_routines *routines = simulation->model_cache->routines[0];
        models[kind] =
            th_memory_used(&memory, TH_MEMORY_MODELS) - (routines ? th_routines_get_extent(routines).bytes : 0);
        crowds[kind] = th_memory_used(&memory, TH_MEMORY_CROWDS);
        bytes[kind] = th_simulation_bytes(simulation) - simulation->model_cache->bytes;
        th_simulation_destroy(simulation);
        expect_nothing_reserved();
    }
    cr_expect_eq(models[TH_BEHAVIOUR_FADE], models[TH_BEHAVIOUR_NONE]);
    cr_expect_gt(models[TH_BEHAVIOUR_GRAPH], models[TH_BEHAVIOUR_NONE], "its repertoire");
    for (unsigned kind = TH_BEHAVIOUR_FADE; kind < TH_BEHAVIOUR_KIND_COUNT; kind++) {
        cr_expect_gt(bytes[kind], bytes[TH_BEHAVIOUR_NONE] +
                                      COUNT * th_behaviour_most_layers((th_behaviour_kind)kind) * sizeof(th_layer));
        cr_expect_geq(crowds[kind] - crowds[TH_BEHAVIOUR_NONE], bytes[kind] - bytes[TH_BEHAVIOUR_NONE]);
    }
}

Test(simulation, without_memory_for_a_behaviour_there_is_none)
{
    const th_controller_desc desc = fixed();
    const th_settings settings = settings_with(TH_BEHAVIOUR_GRAPH);
    th_model_cache *models = make_models(TH_BEHAVIOUR_GRAPH), *other;
    const uint64_t kept = models->reserved, routines = th_routines_get_extent(models->routines[0]).bytes;
    th_simulation *simulation;
    memory.limit = kept + COUNT * 112;
    cr_expect_eq(th_simulation_build(&desc.simulation, &settings, models, &simulation, &err), TH_ERR_LIMIT);
    cr_expect_eq(th_memory_used(&memory, TH_MEMORY_CROWDS), 0);
    th_model_cache_release(models);
    memory.limit = kept - routines / 2;
    cr_expect_eq(th_model_cache_create(&desc.model_cache, &settings, &other, &err), TH_ERR_LIMIT);
    cr_expect(strstr(err.text, "the routines of small take more than the"), "%s", err.text);
    expect_nothing_reserved();
}
