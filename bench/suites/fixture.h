/* The stage of a comparison: the scenes that its entries pose, and the memory they all write to. Private to bench. */
#ifndef TH_BENCH_SUITES_FIXTURE_H
#define TH_BENCH_SUITES_FIXTURE_H

#include <throng/runtime/scene.h>

enum { TH_STAGE_MAX_SETS = 8 };

/* A scene that some entries of the comparison share. */
typedef struct th_set {
    th_scene_desc desc;
    th_scene *scene;
    th_crowd *plain; /* with the scalar kernel, which all others must agree with up to rounding */
} th_set;

typedef struct th_stage {
    th_scene_desc asked;   /* to be compiled */
    uint32_t *first_clips; /* for th_scene_desc.clips: the first one of each model */
    /* Scenes of nobody, for their rigs: compiled when first needed, and kept, as that may take seconds. */
    th_scene *casts[TH_SAMPLING_EXACT + 1][TH_INTERPOLATION_COUNT];
    double steps_per_us; /* of the jobs: see calibrated_work.h */
    /* Of the comparison under way: */
    th_set sets[TH_STAGE_MAX_SETS];
    uint32_t set_count;
    void *palette;   /* room for the largest crowd */
    void *reference; /* as much, for th_stage_reference */
} th_stage;

/* Compiles nothing. th_stage_fini in the end, whatever comes back. */
th_result th_stage_init(th_stage *stage, const th_scene_desc *asked, th_error *err);
void th_stage_fini(th_stage *stage);

/* The set of a scene that differs from the one asked for in rig.sampling, rig.interpolation, instance_count and clips
 * at most; made when it is the first such. Good until th_stage_clear. */
th_result th_stage_add(th_stage *stage, const th_scene_desc *desc, const th_set **out, th_error *err);

/* Makes palette and reference, once all sets are there. */
th_result th_stage_furnish(th_stage *stage, th_error *err);
void th_stage_clear(th_stage *stage);

/* Palettes of the set's plain crowd, good until the next call. */
th_result th_stage_reference(const th_stage *stage, const th_set *set, double time_s, const void **out, th_error *err);

#endif
