#include "load_test_harness.h"

#include <core/clock.h>

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum { MIN_WARM_UP = 2, MAX_WARM_UP = 16, TRACED_FRAMES = 16 };

/* A wake-up takes up to this long and also counts as run-queue delay (interference.h). */
#define MIN_DELAY_NS 1e5

th_result th_load_test_init(th_load_test *s, const th_stress_desc *desc, th_error *err)
{
    th_scene_desc empty = desc->scene;
    empty.instance_count = 0;
    *s = (th_load_test){.desc = desc, .preemption_threshold_ns = fmax(0.01 * desc->budget_ns, MIN_DELAY_NS)};
    prctl(PR_SET_TIMERSLACK, 1); /* otherwise frames begin up to 50 us late */
    if (!th_samples_init(&s->real, desc->frames) || !th_samples_init(&s->cpu, desc->frames) ||
        !th_samples_init(&s->latencies, desc->frames) || !th_samples_init(&s->unpreempted, desc->frames))
        return th_fail(err, TH_ERR_MEMORY, "no memory for the times of %u frames", desc->frames);
    if (desc->counters && !desc->is_dry_run) {
        const th_result result = th_worker_counts_create(desc->threads[desc->thread_count - 1], &s->counters, err);
        if (result != TH_OK)
            return result;
    }
    return th_scene_create(&empty, &s->base_scene, err);
}

/* A renderer shares on its own. */
static bool shares(const th_load_test *s)
{
    return s->desc->share_hz > 0 && !s->desc->renderer;
}

static void clear(th_load_test *s)
{
    th_frame_destroy(s->frame);
    th_shared_crowd_fini(&s->shared);
    th_arena_destroy(s->played);
    th_crowd_destroy(s->crowd);
    th_scene_destroy(s->scene);
    s->frame = NULL;
    s->played = NULL;
    s->crowd = NULL;
    s->scene = NULL;
    th_runqueue_delay_close(&s->delay);
}

void th_load_test_fini(th_load_test *s)
{
    clear(s);
    th_scene_destroy(s->base_scene);
    th_jobs_destroy(s->jobs);
    th_samples_fini(&s->real);
    th_samples_fini(&s->cpu);
    th_samples_fini(&s->latencies);
    th_samples_fini(&s->unpreempted);
    th_worker_counts_destroy(s->counters);
    th_palettes_destroy(s->palette);
}

th_result th_load_test_set_threads(th_load_test *s, uint32_t threads, th_error *err)
{
    assert(threads > 0 && threads <= TH_JOBS_MAX_THREADS);
    clear(s);
    th_jobs_destroy(s->jobs);
    return th_jobs_create(&(th_jobs_desc){.threads = threads, .placement = s->desc->placement}, &s->jobs, err);
}

/* ---- crowds ---- */

static th_result create_crowd(const th_load_test *s, uint32_t characters, th_scene **scene, th_crowd **crowd,
                              th_error *err)
{
    th_scene_desc desc = s->desc->scene;
    desc.instance_count = characters;
    desc.compiled_models = s->base_scene->compiled_models;
    desc.routines = s->base_scene->routines;
    *crowd = NULL;
    const th_result result = th_scene_create(&desc, scene, err);
    return result == TH_OK ? th_scene_crowd(*scene, s->desc->isa, s->desc->palette, crowd, err) : result;
}

th_result th_load_test_character_bytes(const th_load_test *s, double *out, th_error *err)
{
    const th_stress_renderer *renderer = s->desc->renderer;
    const uint32_t characters = 256 * s->base_scene->compiled_model_count;
    const double copies = renderer ? renderer->palette_copies : 1;
    th_scene *scene;
    th_crowd *crowd;
    const th_result result = create_crowd(s, characters, &scene, &crowd, err);
    if (result == TH_OK) /* creating a scene also takes a list of instances of the same length */
        *out = (copies * (double)th_crowd_palette_bytes(crowd) + (double)th_crowd_bytes(crowd) +
                (s->desc->scene.behaviour ? (double)th_behaviour_bytes(scene->behaviour) : 0)) /
                   characters +
               2 * sizeof(th_spawn) + 2 * th_behaviour_most_layers(s->desc->scene.behaviour) * sizeof(th_layer) +
               (s->desc->scene.behaviour ? 2 : 0) + (shares(s) ? TH_SHARED_CROWD_BYTES : 0) +
               (double)(renderer ? renderer->character_bytes : 0);
    th_crowd_destroy(crowd);
    th_scene_destroy(scene);
    return result;
}

static void free_palette(th_load_test *s)
{
    th_palettes_destroy(s->palette);
    s->palette = NULL;
    s->palette_bytes = 0;
}

th_result th_load_test_create_crowd(th_load_test *s, uint32_t characters, th_error *err)
{
    assert(s->jobs && characters > 0);
    clear(s);
    th_result result = create_crowd(s, characters, &s->scene, &s->crowd, err);
    if (result == TH_OK && th_crowd_palette_bytes(s->crowd) > s->palette_bytes) {
        free_palette(s);
        result = th_palettes_create(s->crowd, &s->palette, err);
        s->palette_bytes = result == TH_OK ? th_crowd_palette_bytes(s->crowd) : 0;
    }
    if (result == TH_OK)
        result = th_frame_create_with(&(th_frame_desc){.crowd = s->crowd, .jobs = s->jobs}, s->scene->behaviour,
                                      &s->frame, err);
    if (result == TH_OK && s->scene->behaviour) {
        const uint32_t stride = th_behaviour_layer_stride(s->scene->behaviour);
        s->played = th_arena_create();
        s->layers = th_arena_new(s->played, th_layer, (size_t)characters * stride);
        s->counts = th_arena_new(s->played, uint8_t, characters);
        s->table = (th_crowd_layers){s->layers, s->counts, stride};
        if (th_arena_failed(s->played))
            result = th_fail(err, TH_ERR_MEMORY, "no memory for the layers of %u characters", characters);
    }
    if (result == TH_OK && shares(s))
        result = th_shared_crowd_init(&s->shared, s->scene, s->crowd, s->desc->share_hz, err);
    return result;
}

static void forget_frames(th_load_test *s)
{
    s->real.count = s->cpu.count = s->latencies.count = s->unpreempted.count = s->preempted = 0;
}

th_result th_load_test_prepare(void *load_test, uint32_t characters, th_error *err)
{
    th_load_test *s = load_test;
    assert(s->jobs && characters > 0);
    const th_stress_renderer *renderer = s->desc->renderer;
    const uint32_t threads = th_jobs_threads(s->jobs);
    th_result result;
    if (renderer) {
        clear(s);
        free_palette(s); /* leaves the memory to the renderer */
        result = renderer->prepare(renderer->ctx, threads, characters, err);
    } else
        result = th_load_test_create_crowd(s, characters, err);
    if (result != TH_OK)
        return result;

    /* Only where each thread can have its own CPU. Otherwise our own threads delay each other, and preemption cannot be
     * told. */
    if (threads <= th_cpus_read().usable && !(renderer && renderer->needs_cpus))
        th_runqueue_delay_open(&s->delay);
    forget_frames(s);
    s->number = 0;
    s->due_ns = th_clock_ns();
    bool in_time = false;
    for (int i = 0; i < MIN_WARM_UP || (i < MAX_WARM_UP && !in_time); i++)
        in_time = th_load_test_frame(s).ns <= s->desc->budget_ns;
    forget_frames(s);
    return TH_OK;
}

th_result th_load_test_finish(th_load_test *s, th_error *err)
{
    const th_stress_renderer *renderer = s->desc->renderer;
    return renderer ? renderer->finish(renderer->ctx, err) : TH_OK;
}

/* ---- frames ---- */

static double time_of(uint64_t frame)
{
    return (double)frame / TH_FRAME_RATE;
}

/* NULL: no behaviour. */
static const th_crowd_layers *played_at(const th_load_test *s, uint64_t frame)
{
    if (!s->scene->behaviour)
        return NULL;
    for (uint32_t i = 0; i < s->scene->instance_count; i++)
        s->counts[i] = (uint8_t)th_behaviour_layers(s->scene->behaviour, i, time_of(frame),
                                                    s->layers + (size_t)i * s->table.stride);
    return &s->table;
}

const th_crowd_layers *th_load_test_layers(void *load_test, uint64_t frame)
{
    th_load_test *s = load_test;
    const th_crowd_layers *played = played_at(s, frame);
    return s->shared.plan ? th_shared_crowd_layers(&s->shared, played, time_of(frame)) : played;
}

void th_load_test_run(void *load_test, uint64_t frame)
{
    th_load_test *s = load_test;
    th_jobs_frame_begin(s->jobs);
    if (s->shared.plan)
        th_shared_crowd_plan(&s->shared, s->jobs, time_of(frame));
    th_frame_run(s->frame, time_of(frame), s->palette);
    th_jobs_frame_end(s->jobs);
}

th_stress_poses th_load_test_poses(const th_load_test *s)
{
    if (!s->shared.plan)
        return (th_stress_poses){.evaluated = s->crowd ? th_crowd_capacity(s->crowd) : 0};
    const th_pose_counts counts = th_pose_plan_counts(s->shared.plan);
    return (th_stress_poses){.evaluated = counts.evaluated, .shared = counts.shared, .apart = s->shared.apart};
}

th_result th_load_test_measure_sharing(th_load_test *s, uint64_t frame, th_row *row, th_error *err)
{
    if (!s->shared.plan)
        return TH_OK;
    th_load_test_run(s, frame);
    return th_shared_crowd_measure(&s->shared, s->crowd, s->palette, played_at(s, frame), time_of(frame), row, err);
}

static void run(th_load_test *s)
{
    const th_stress_renderer *renderer = s->desc->renderer;
    if (renderer)
        renderer->frame(renderer->ctx, s->number++);
    else
        th_load_test_run(s, s->number++);
}

static void wait_for_tick(const th_load_test *s)
{
    const struct timespec due = {(time_t)(s->due_ns / 1000000000u), (long)(s->due_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
        ;
}

/* The next tick that has not passed when a frame ends. The schedule itself never moves. */
static void advance(th_load_test *s, double ns)
{
    const uint64_t missed = th_capacity_missed_ticks(ns, s->desc->budget_ns);
    s->due_ns += (uint64_t)((double)(1 + missed) * s->desc->budget_ns);
}

/* A late wake-up is part of the frame, so waiting for a CPU at its start can make it miss the deadline. Sleeping does
 * not count as waiting for a CPU. */
th_capacity_frame th_load_test_frame(void *load_test)
{
    th_load_test *s = load_test;
    th_runqueue_delay_begin(&s->delay);
    wait_for_tick(s);
    const uint64_t tick = s->due_ns, begin = th_clock_ns(), cpu = th_clock_cpu_ns();
    run(s);
    const uint64_t end = th_clock_ns();
    const double ns = (double)(end - tick), cpu_ns = (double)(th_clock_cpu_ns() - cpu);
    const double delay_ns = s->delay.count > 0 ? (double)th_runqueue_delay_max(&s->delay) : 0;
    const bool preempted = delay_ns >= s->preemption_threshold_ns;
    th_samples_add(&s->real, ns);
    th_samples_add(&s->cpu, cpu_ns);
    th_capacity_add_latencies(&s->latencies, ns, s->desc->budget_ns);
    s->preempted += preempted;
    if (s->delay.count > 0 && !preempted)
        th_capacity_add_latencies(&s->unpreempted, ns, s->desc->budget_ns);
    advance(s, ns);

    /* How long the process did not run: before it woke up, and while nobody used CPU time. But frames on a GPU may be
     * waited for without any. Threads that work at the same time hide some of it. */
    const double asleep_ns = (double)(begin - tick), awake_ns = (double)(end - begin);
    const bool waits_for_gpu = s->desc->renderer && !s->desc->renderer->needs_cpus;
    return (th_capacity_frame){ns, asleep_ns + (waits_for_gpu ? 0 : fmax(0, awake_ns - cpu_ns))};
}

void th_load_test_trace(th_load_test *s, th_tracer *tracer, const char *name, uint64_t events)
{
    const th_stress_renderer *renderer = s->desc->renderer;
    if (!tracer)
        return;
    const uint64_t first_event = th_tracer_recorded(tracer);
    th_tracer_group(tracer, name);
    if (renderer)
        renderer->trace(renderer->ctx, tracer);
    for (int i = 0; i < TRACED_FRAMES && (i == 0 || th_tracer_recorded(tracer) - first_event < events); i++) {
        wait_for_tick(s);
        if (renderer)
            run(s); /* the renderer records it, as it has the tracer */
        else {
            th_tracer_frame_begin(tracer, s->jobs, s->number);
            const uint64_t begin_ns = th_tracer_begin(tracer, "pose");
            run(s);
            const uint64_t ns = th_tracer_end(tracer) - begin_ns;
            th_tracer_frame_end(tracer, s->jobs);
            th_tracer_count(tracer, "ns per bone", (double)ns / (double)th_crowd_bone_count(s->crowd));
        }
        advance(s, (double)(th_clock_ns() - s->due_ns));
    }
    if (renderer)
        renderer->trace(renderer->ctx, NULL);
    th_tracer_group(tracer, NULL);
}
