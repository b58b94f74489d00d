/* The fixture of a comparison: the scenes that its entries pose, and the memory that they all write to. Private to
 * bench. */
#ifndef TH_BENCH_SUITES_FIXTURE_H
#define TH_BENCH_SUITES_FIXTURE_H

#include <anim/joint_lod.h>
#include <runtime/scene.h>

enum { TH_FIXTURE_MAX_SCENES = TH_LOD_LEVELS, TH_FIXTURE_MORPHS = 3 };

/* A scene shared by entries of the comparison. */
typedef struct th_shared_scene {
    th_scene_desc desc;
    th_scene *scene;
    /* Posed by the scalar kernel, which all others must match up to rounding. */
    th_crowd *plain;
} th_shared_scene;

typedef struct th_fixture {
    th_scene_desc requested; /* with compiled sampling */
    uint32_t *first_clips;   /* for th_scene_desc.clips: the first clip of each model */
    th_mask *masks;          /* of the requested models: half of the joints of each */
    /* Scenes without instances, for their compiled models. Made when first needed and kept, as compiling may take
     * seconds. */
    th_scene *base_scenes[TH_SAMPLING_EXACT + 1][TH_INTERPOLATION_COUNT];
    th_model *morphs[TH_FIXTURE_MORPHS]; /* for morph/: synthetic models with more and more weights */
    th_model *human;                     /* the embedded one, for throng-1/ */
    /* For joints/, once th_fixture_find_levels made them: by requested model; by level, then model. */
    th_joint_lod **joint_lods;
    const th_model **level_models;
    double steps_per_us;       /* for jobs/, see calibrated_work.h */
    bool is_scheduler_process; /* for jobs/: nothing else runs in this process */
    /* Of the comparison in progress: */
    th_shared_scene shared_scenes[TH_FIXTURE_MAX_SCENES];
    uint32_t shared_count;
    void *palette;   /* room for the largest crowd */
    void *reference; /* of the same size, for th_fixture_reference */
} th_fixture;

/* By index of th_fixture.morphs. */
extern const uint32_t th_fixture_weights[TH_FIXTURE_MORPHS];

/* Compiles nothing. Call th_fixture_fini in the end, even if it failed. */
th_result th_fixture_init(th_fixture *fixture, const th_scene_desc *requested, th_error *err);
void th_fixture_fini(th_fixture *fixture);

/* Finds or makes the shared scene of `desc`, which may differ from the requested scene in compile.sampling,
 * compile.interpolation, instance_count, clips and models. Valid until th_fixture_clear. */
th_result th_fixture_add(th_fixture *fixture, const th_scene_desc *desc, const th_shared_scene **out, th_error *err);

/* Finds the joint levels of the requested models, which may take a second each. Does nothing the second time. */
th_result th_fixture_find_levels(th_fixture *fixture, th_error *err);

/* Allocates palette and reference; call after all th_fixture_add. */
th_result th_fixture_allocate(th_fixture *fixture, th_error *err);
void th_fixture_clear(th_fixture *fixture);

/* Palettes of the plain crowd, valid until the next call. */
th_result th_fixture_reference(const th_fixture *fixture, const th_shared_scene *shared, double time_s,
                               const void **out, th_error *err);

#endif
