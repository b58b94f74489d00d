/* The embedded crowd on random pools: stress_frame [POOLS [SEED]]. Whatever the number of threads, the grain, the
 * placement, the stages and the moment, the palettes of a frame have one hash on one instruction set, with a behaviour
 * or without, with shared poses, with poses that are held and with layers: some play a clip, some blend, some through a
 * mask, some add; and whether the pool poses them or tasks on other threads. For ThreadSanitizer as well. */
#include "fixture_nightly.h"
#include "fixture_tasks.h"

#include <core/cache_line.h>
#include <core/random.h>
#include <runtime/frame.h>
#include <runtime/pose_plan.h>
#include <runtime/scene.h>
#include <throng/throng.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHARACTERS = 203,
    FRAMES = 6,
    MOST_THREADS = 128,
    PLAYS = 6,
    HOLD = 3,
    MOST_JOINTS = 64,
    MOST_LAYERS = 4,
    CLIPS = 7
};

/* One instruction set, with a behaviour, with shared poses, with held ones, with layers, or none of them. */
typedef struct kind {
    th_crowd *crowd;
    const th_behaviour *behaviour;
    double share_hz;
    bool holds, has_layers;
    uint64_t hashes[FRAMES]; /* of one thread */
} kind;

static uint64_t seed, draws;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)(th_random_bits(seed, draws++) % limit);
}

static void insist(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "stress_frame: %s\n", what);
    exit(1);
}

/* The last three quarters share, or hold their pose. */
static th_pose_plan *make_plan(const kind *k)
{
    const th_pose_plan_desc desc = {.crowd = k->crowd,
                                    .rates = {{k->share_hz}, k->share_hz > 0},
                                    .most_lists = 2,
                                    .most_hold = k->holds ? HOLD : 0};
    th_pose_plan *plan;
    insist(th_pose_plan_create(&desc, &plan, NULL) == TH_OK, "no plan");
    return plan;
}

static uint64_t animate(th_frame *frame, th_pose_plan *plan, th_jobs *jobs, const kind *k, uint32_t n, void *palette)
{
    static const th_draw_list groups[] = {
        {.count = CHARACTERS / 4}, {.first = CHARACTERS / 4, .count = CHARACTERS - CHARACTERS / 4, .shares = true}};
    uint32_t list[CHARACTERS];
    const double time_s = n < FRAMES / 2 ? n / 60.0 : n * 40.0; /* up to ten minutes */
    for (uint32_t i = 0; i < CHARACTERS; i++)
        list[i] = i;
    th_pose_plan_make(plan, jobs, time_s, list, groups, 2);
    memset(palette, 0xff, th_crowd_palette_bytes(k->crowd));
    th_frame_run(frame, time_s, palette);
    return th_crowd_hash(k->crowd, palette);
}

static uint64_t fnv1a(uint64_t hash, const void *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const uint32_t *)words)[i]) * 0x100000001b3u;
    return hash;
}

/* Some frames after one in which all are posed: who is posed in the last, and what the others read. */
static uint64_t hold(th_frame *frame, th_pose_plan *plan, th_jobs *jobs, const kind *k, uint32_t n, void *palette)
{
    static const th_draw_list groups[] = {
        {.count = CHARACTERS / 4}, {.first = CHARACTERS / 4, .count = CHARACTERS - CHARACTERS / 4, .hold = HOLD}};
    uint32_t list[CHARACTERS];
    const uint32_t first = 1000 * (1 + below(1000)) * HOLD, last = first + HOLD + n % HOLD;
    for (uint32_t i = 0; i < CHARACTERS; i++)
        list[i] = i;
    for (uint32_t number = first; number <= last; number++) {
        th_pose_plan_begin(plan, number);
        th_pose_plan_make(plan, jobs, n / 60.0, list, groups, 2);
        th_pose_plan_keep(plan, jobs, number);
        th_frame_run(frame, (n + number - first) / 60.0, palette);
    }
    insist(th_pose_plan_counts(plan).held > CHARACTERS / 4, "nobody holds a pose");
    const uint64_t hash = fnv1a(1, palette, th_crowd_palette_bytes(k->crowd) / 4);
    return fnv1a(hash, th_pose_plan_readers(plan).places + groups[1].first,
                 groups[1].count * sizeof(th_pose_place) / sizeof(uint32_t));
}

/* What is written by whom: palettes by all workers, each scratch by one. Layers are read by all. */
typedef struct layered {
    const th_crowd *crowd;
    th_layer layers[CHARACTERS][MOST_LAYERS];
    uint8_t counts[CHARACTERS];
    void *palette;
    char *scratch;
    size_t scratch_stride;
} layered;

/* Of the n-th frame: they depend on nothing else. */
static void set_layers(layered *l, uint32_t n)
{
    for (uint32_t i = 0; i < CHARACTERS; i++) {
        l->counts[i] = (uint8_t)(th_random_bits(i, 0) % (MOST_LAYERS + 1));
        for (uint32_t k = 0; k < l->counts[i]; k++) {
            const uint64_t bits = th_random_bits(i, 1 + k);
            l->layers[i][k] = (th_layer){.ratio = (double)((bits + n * 100) % 1000) / 1000,
                                         .weight = (float)(bits / 1000 % 100) / 100,
                                         .clip = (uint16_t)(bits / 100000 % CLIPS),
                                         .mode = (uint8_t)(k == 0 ? 0 : bits / 10000000 % TH_LAYER_MODE_COUNT),
                                         .mask = bits / 100000000 % 3 == 0 ? 0 : TH_NO_MASK};
        }
    }
}

static int update(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const layered *l = ctx;
    const th_crowd_layers layers = {l->layers[0], l->counts, MOST_LAYERS};
    th_crowd_pose_layers(l->crowd, begin, end, 0, &layers, l->palette, NULL, l->scratch + worker * l->scratch_stride);
    return 0;
}

static uint64_t play_layers(th_jobs *jobs, const th_crowd *crowd, uint32_t n, void *palette)
{
    static layered l;
    l.crowd = crowd;
    l.palette = palette;
    l.scratch_stride = th_cache_line_round(th_crowd_scratch_bytes(crowd));
    l.scratch = th_cache_line_alloc(th_jobs_threads(jobs) * l.scratch_stride);
    insist(l.scratch, "no memory");
    set_layers(&l, n);
    memset(palette, 0xff, th_crowd_palette_bytes(crowd));
    insist(th_jobs_for(jobs, th_crowd_batch_count(crowd), 1 + below(20), update, &l) == 0, "a call failed");
    free(l.scratch);
    return th_crowd_hash(crowd, palette);
}

static uint64_t run(th_frame *frame, th_pose_plan *plan, th_jobs *jobs, const kind *k, uint32_t n, void *palette)
{
    if (k->has_layers)
        return play_layers(jobs, k->crowd, n, palette);
    return k->holds ? hold(frame, plan, jobs, k, n, palette) : animate(frame, plan, jobs, k, n, palette);
}

static void make_kind(const th_scene *scene, th_isa isa, void *palette, kind *out)
{
    th_jobs *serial;
    th_frame *frame;
    insist(th_scene_crowd(scene, isa, TH_FORMAT_F32, &out->crowd, NULL) == TH_OK, "no crowd");
    insist(th_jobs_create(&(th_jobs_desc){.scheduler = TH_SCHEDULER_SERIAL}, &serial, NULL) == TH_OK, "no thread");
    const th_frame_desc how = {.crowd = out->crowd, .jobs = serial};
    th_pose_plan *plan = make_plan(out);
    insist(th_frame_create_with(&how, out->behaviour, &frame, NULL) == TH_OK, "no frame");
    for (uint32_t n = 0; n < FRAMES; n++)
        out->hashes[n] = run(frame, plan, serial, out, n, palette);
    insist(out->hashes[0] != out->hashes[1], "the crowd does not move");
    th_pose_plan_destroy(plan);
    th_frame_destroy(frame);
    th_jobs_destroy(serial);
}

/* One pool of random shape, some frames in random order. */
static uint32_t try_pool(const kind *k, void *palette)
{
    th_jobs_desc shape = {.threads = 1 + below(below(2) ? 4 : MOST_THREADS),
                          .placement = (th_placement)below(TH_PLACEMENT_COUNT)};
    th_jobs *jobs;
    th_frame *frame;
    insist(th_jobs_create(&shape, &jobs, NULL) == TH_OK, "no pool");
    th_frame_desc how = {.crowd = k->crowd, .jobs = jobs, .grain = below(20)};
    task_system system = {.workers = 1 + below(TASK_WORKERS), .at_once = below(4) == 0};
    if (below(3) == 0) { /* the pool plans then, but others pose */
        how.jobs = NULL;
        how.tasks = (th_tasks){enqueue_tasks, finish_tasks, &system};
        how.threads = system.workers;
    }
    th_crowd_set_active(k->crowd, NULL, CHARACTERS); /* a frame has room for as many as there are now */
    insist(th_frame_create_with(&how, k->behaviour, &frame, NULL) == TH_OK, "no frame");
    th_pose_plan *plan = make_plan(k);
    uint32_t frames = 1 + below(10);
    bool in_frame = below(2);
    if (in_frame)
        th_jobs_frame_begin(jobs);
    for (uint32_t i = 0; i < frames; i++) {
        uint32_t n = below(FRAMES);
        insist(run(frame, plan, jobs, k, n, palette) == k->hashes[n], "palettes differ from those of one thread");
    }
    if (in_frame)
        th_jobs_frame_end(jobs);
    th_pose_plan_destroy(plan);
    th_frame_destroy(frame);
    th_jobs_destroy(jobs);
    return frames;
}

int main(int argc, char **argv)
{
    const uint32_t pools = argc > 1 ? (uint32_t)atoi(argv[1]) : is_nightly() ? 2000 : 80;
    uint64_t frames = 0;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    th_model *human;
    th_scene *scene, *masked;
    th_crowd *any;
    void *palette;
    insist(th_human_create(&human, NULL) == TH_OK, "no human");
    const uint32_t meshes = human->mesh_count; /* nothing is drawn, and ThreadSanitizer looks long for feet in a mesh */
    human->mesh_count = 0;
    float arm[MOST_JOINTS];
    insist(human->joint_count <= MOST_JOINTS && human->clip_count == CLIPS, "another human");
    th_mask_from_joint(human, th_model_find_joint(human, "clavicle_r"), arm);
    th_scene_desc desc = {.models = (const th_model *const[]){human},
                          .model_count = 1,
                          .instance_count = CHARACTERS,
                          .seed = seed,
                          .behaviour = TH_BEHAVIOUR_GRAPH};
    insist(th_scene_create(&desc, &scene, NULL) == TH_OK, "no scene");
    desc.behaviour = TH_BEHAVIOUR_NONE;
    desc.compile.masks = &(th_mask){"arm", arm};
    desc.compile.mask_count = 1;
    insist(th_scene_create(&desc, &masked, NULL) == TH_OK, "no scene with a mask");
    insist(th_scene_crowd(scene, TH_ISA_AUTO, TH_FORMAT_F32, &any, NULL) == TH_OK, "no crowd");
    insist(th_palettes_create(any, &palette, NULL) == TH_OK, "no palettes");
    th_crowd_destroy(any);
    const th_routines_desc blend_desc = {.compiled = scene->compiled_models[0], .kind = TH_BEHAVIOUR_BLEND};
    th_routines *blend;
    th_behaviour *blends;
    insist(th_routines_create(&blend_desc, &blend, NULL) == TH_OK, "no blend");
    const th_behaviour_desc blends_desc = {
        (const th_routines *const[]){blend}, scene->instances, CHARACTERS, seed, {.pace = 0.7}};
    insist(th_behaviour_create(&blends_desc, &blends, NULL) == TH_OK, "no blends");
    th_behaviour_set_blend(blends, &(th_blend){.pace = 2.3}, 1.1);
    const kind plays[PLAYS] = {{.crowd = NULL},  {.behaviour = scene->behaviour},
                               {.share_hz = 60}, {.behaviour = blends},
                               {.holds = true},  {.has_layers = true}};
    kind kinds[PLAYS * TH_ISA_COUNT];
    uint32_t kind_count = 0;
    for (uint32_t n = PLAYS * TH_ISA_SCALAR; n < PLAYS * TH_ISA_COUNT; n++)
        if (th_isa_available((th_isa)(n / PLAYS))) {
            kinds[kind_count] = plays[n % PLAYS];
            make_kind(plays[n % PLAYS].has_layers ? masked : scene, (th_isa)(n / PLAYS), palette, &kinds[kind_count++]);
        }

    for (uint32_t i = 0; i < pools; i++) { /* half of them with layers */
        const uint32_t play = below(2) ? PLAYS - 1 : below(PLAYS - 1);
        frames += try_pool(&kinds[below(kind_count / PLAYS) * PLAYS + play], palette);
    }
    printf("seed %llu: %llu frames on %u pools of up to %d threads, %u instruction sets, one hash each\n",
           (unsigned long long)seed, (unsigned long long)frames, pools, MOST_THREADS, kind_count / PLAYS);
    th_palettes_destroy(palette);
    for (uint32_t k = 0; k < kind_count; k++)
        th_crowd_destroy(kinds[k].crowd);
    th_behaviour_destroy(blends);
    th_routines_destroy(blend);
    th_scene_destroy(masked);
    th_scene_destroy(scene);
    human->mesh_count = meshes;
    th_model_destroy(human);
    return 0;
}
