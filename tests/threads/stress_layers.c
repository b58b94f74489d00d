/* A crowd that plays layers, on random pools: stress_layers [POOLS [SEED]]. Some play a clip, some blend, some
 * through a mask, some add. Whatever the number of threads and the grain, the palettes of a frame have one hash on one
 * instruction set. For ThreadSanitizer as well. */
#include "fixture_nightly.h"

#include <core/random.h>
#include <throng/anim/human.h>
#include <throng/core/cache_line.h>
#include <throng/runtime/frame.h>
#include <throng/runtime/scene.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHARACTERS = 203, FRAMES = 6, MOST_THREADS = 64, MOST_JOINTS = 64, MOST_LAYERS = 4, CLIPS = 7 };

/* One instruction set. */
typedef struct kind {
    th_crowd *crowd;
    uint64_t hashes[FRAMES]; /* of one thread */
} kind;

/* What is written by whom: palettes by all workers, each scratch by one. Layers are read by all. */
typedef struct frame {
    const th_crowd *crowd;
    th_layer layers[CHARACTERS][MOST_LAYERS];
    uint8_t counts[CHARACTERS];
    void *palette;
    char *scratch;
    size_t scratch_stride;
} frame;

static uint64_t seed, draws;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)(th_random_bits(seed, draws++) % limit);
}

static void insist(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "stress_layers: %s\n", what);
    exit(1);
}

/* ---- frames ---- */

/* The n-th frame: it depends on nothing else. */
static void set_layers(frame *f, uint32_t n)
{
    for (uint32_t i = 0; i < CHARACTERS; i++) {
        f->counts[i] = (uint8_t)(th_random_bits(i, 0) % (MOST_LAYERS + 1));
        for (uint32_t k = 0; k < f->counts[i]; k++) {
            const uint64_t bits = th_random_bits(i, 1 + k);
            f->layers[i][k] = (th_layer){.ratio = (double)((bits + n * 100) % 1000) / 1000,
                                         .weight = (float)(bits / 1000 % 100) / 100,
                                         .clip = (uint16_t)(bits / 100000 % CLIPS),
                                         .mode = (uint8_t)(k == 0 ? 0 : bits / 10000000 % TH_LAYER_MODE_COUNT),
                                         .mask = bits / 100000000 % 3 == 0 ? 0 : TH_NO_MASK};
        }
    }
}

static int update(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const frame *f = ctx;
    const th_crowd_layers layers = {f->layers[0], f->counts, MOST_LAYERS};
    th_crowd_update_layers(f->crowd, begin, end, 0, &layers, f->palette, f->scratch + worker * f->scratch_stride);
    return 0;
}

static uint64_t animate(frame *f, const th_crowd *crowd, uint32_t n, th_jobs *jobs, uint32_t grain)
{
    f->crowd = crowd;
    set_layers(f, n);
    memset(f->palette, 0xff, th_crowd_palette_bytes(crowd));
    insist(th_jobs_for(jobs, th_crowd_batch_count(crowd), grain, update, f) == 0, "a call failed");
    return th_crowd_hash(crowd, f->palette);
}

static void make_kind(const th_scene *scene, th_isa isa, frame *f, kind *out)
{
    th_jobs *serial;
    insist(th_scene_crowd(scene, isa, TH_PALETTE_F32, &out->crowd, NULL) == TH_OK, "no crowd");
    insist(th_threads_create(&(th_jobs_desc){.scheduler = TH_SCHEDULER_SERIAL}, &serial, NULL) == TH_OK, "no thread");
    for (uint32_t n = 0; n < FRAMES; n++)
        out->hashes[n] = animate(f, out->crowd, n, serial, UINT32_MAX);
    insist(out->hashes[0] != out->hashes[1], "the crowd does not move");
    th_jobs_destroy(serial);
}

/* One pool of random shape, some frames in random order. */
static uint32_t try_pool(const kind *k, frame *f)
{
    th_jobs_desc shape = {.threads = 1 + below(below(2) ? 4 : MOST_THREADS),
                          .placement = (th_placement)below(TH_PLACEMENT_COUNT)};
    th_jobs *jobs;
    insist(th_threads_create(&shape, &jobs, NULL) == TH_OK, "no pool");
    const uint32_t frames = 1 + below(10), grain = 1 + below(20);
    for (uint32_t i = 0; i < frames; i++) {
        const uint32_t n = below(FRAMES);
        insist(animate(f, k->crowd, n, jobs, grain) == k->hashes[n], "palettes differ from those of one thread");
    }
    th_jobs_destroy(jobs);
    return frames;
}

/* ---- the scene ---- */

static th_scene *make_scene(const th_model *human)
{
    static float arm[MOST_JOINTS];
    static const th_mask masks[] = {{"arm", arm}};
    th_scene *scene;
    insist(human->joint_count <= MOST_JOINTS && human->clip_count == CLIPS, "another human");
    th_mask_from_joint(human, th_model_find_joint(human, "clavicle_r"), arm);
    const th_scene_desc desc = {
        .models = &human, .model_count = 1, .instance_count = CHARACTERS, .compile = {.masks = masks, .mask_count = 1}};
    insist(th_scene_create(&desc, &scene, NULL) == TH_OK, "no scene");
    return scene;
}

/* Room for any instruction set and number of threads. */
static frame *make_frame(const th_scene *scene)
{
    frame *f = calloc(1, sizeof *f);
    insist(f, "no memory");
    for (int isa = TH_ISA_SCALAR; isa < TH_ISA_COUNT; isa++) {
        th_crowd *crowd;
        if (!th_isa_available((th_isa)isa))
            continue;
        insist(th_scene_crowd(scene, (th_isa)isa, TH_PALETTE_F32, &crowd, NULL) == TH_OK, "no crowd");
        const size_t stride = th_cache_line_round(th_crowd_scratch_bytes(crowd));
        f->scratch_stride = stride > f->scratch_stride ? stride : f->scratch_stride;
        if (!f->palette)
            insist(th_palette_create(crowd, &f->palette, NULL) == TH_OK, "no palettes");
        th_crowd_destroy(crowd);
    }
    f->scratch = th_cache_line_alloc(MOST_THREADS * f->scratch_stride);
    insist(f->scratch, "no memory");
    return f;
}

int main(int argc, char **argv)
{
    const uint32_t pools = argc > 1 ? (uint32_t)atoi(argv[1]) : is_nightly() ? 1000 : 40;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    th_model *human;
    insist(th_human_create(&human, NULL) == TH_OK, "no human");
    th_scene *scene = make_scene(human);
    frame *f = make_frame(scene);
    kind kinds[TH_ISA_COUNT];
    uint32_t kind_count = 0;
    uint64_t frames = 0;
    for (int isa = TH_ISA_SCALAR; isa < TH_ISA_COUNT; isa++)
        if (th_isa_available((th_isa)isa))
            make_kind(scene, (th_isa)isa, f, &kinds[kind_count++]);
    for (uint32_t i = 0; i < pools; i++)
        frames += try_pool(&kinds[below(kind_count)], f);
    printf("seed %llu: %llu frames on %u pools of up to %d threads, %u instruction sets, one hash each\n",
           (unsigned long long)seed, (unsigned long long)frames, pools, MOST_THREADS, kind_count);
    for (uint32_t k = 0; k < kind_count; k++)
        th_crowd_destroy(kinds[k].crowd);
    free(f->scratch);
    free(f->palette);
    free(f);
    th_scene_destroy(scene);
    th_model_free(human);
    return 0;
}
