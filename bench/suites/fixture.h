/* The fixture of a comparison: the scenes that its entries pose, and the memory they all write to. Private to bench. */
#ifndef TH_BENCH_SUITES_FIXTURE_H
#define TH_BENCH_SUITES_FIXTURE_H

#include <throng/runtime/scene.h>

enum { TH_FIXTURE_MAX_SCENES = 8 };

/* A scene that some entries of the comparison share. */
typedef struct th_shared_scene {
    th_scene_desc desc;
    th_scene *scene;
    th_crowd *plain; /* with the scalar kernel, which all others must agree with up to rounding */
} th_shared_scene;

typedef struct th_fixture {
    th_scene_desc requested; /* to be compiled */
    uint32_t *first_clips;   /* for th_scene_desc.clips: the first one of each model */
    /* Scenes of empty, for their compiled models: compiled when first needed, and kept, as that may take seconds. */
    th_scene *base_scenes[TH_SAMPLING_EXACT + 1][TH_INTERPOLATION_COUNT];
    double steps_per_us; /* of the jobs: see calibrated_work.h */
    /* Of the comparison under method: */
    th_shared_scene shared_scenes[TH_FIXTURE_MAX_SCENES];
    uint32_t shared_count;
    void *palette;   /* room for the largest crowd */
    void *reference; /* as much, for th_fixture_reference */
} th_fixture;

/* Compiles nothing. th_fixture_fini in the end, whatever comes back. */
th_result th_fixture_init(th_fixture *fixture, const th_scene_desc *requested, th_error *err);
void th_fixture_fini(th_fixture *fixture);

/* The shared of a scene that differs from the one requested for in compiled.sampling, compiled.interpolation,
 * instance_count and clips at most; made when it is the first such. Good until th_fixture_clear. */
th_result th_fixture_add(th_fixture *fixture, const th_scene_desc *desc, const th_shared_scene **out, th_error *err);

/* Makes palette and reference, once all shared_scenes are there. */
th_result th_fixture_allocate(th_fixture *fixture, th_error *err);
void th_fixture_clear(th_fixture *fixture);

/* Palettes of the shared's plain crowd, good until the next call. */
th_result th_fixture_reference(const th_fixture *fixture, const th_shared_scene *shared, double time_s,
                               const void **out, th_error *err);

#endif
