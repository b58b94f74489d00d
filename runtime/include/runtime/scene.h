/* A scene: compiled models, and the instances that play them. Benchmarks, pictures and tests all use scenes, so they
 * refer to the same work. */
#ifndef THRONG_RUNTIME_SCENE_H
#define THRONG_RUNTIME_SCENE_H

#include <anim/behaviour.h>
#include <anim/crowd.h>

typedef struct th_scene_desc {
    const th_model *const *models; /* required; borrowed, must outlive the scene; instances use them in turn */
    uint32_t model_count;
    const uint32_t *clips;   /* per model: a clip, or TH_NO_INDEX for a mix of all; NULL: a mix for each model */
    uint32_t instance_count; /* needs a model if not 0 */
    uint64_t seed;
    th_compiled_model_desc
        compile; /* how each model is compiled; `model` is ignored; without `parallel`, on all CPUs */
    const th_compiled_model *const
        *compiled_models;               /* the models already compiled so, borrowed; NULL: the scene compiles them */
    const th_spawn *instances;          /* copied; NULL: made from seed and clips */
    th_behaviour_kind behaviour;        /* of all instances */
    th_blend blend;                     /* valid if the behaviour is BLEND */
    const th_routines *const *routines; /* of the compiled models, borrowed with them; NULL: the scene makes them */
} th_scene_desc;

/* Read only. Threads may share it. */
typedef struct th_scene {
    const th_compiled_model **compiled_models;
    uint32_t compiled_model_count;
    bool borrows_compiled_models;
    const th_routines **routines; /* [compiled_model_count]; NULL: no behaviour */
    bool borrows_routines;
    th_behaviour *behaviour; /* NULL: each instance plays its own clip */
    th_spawn *instances;
    uint32_t instance_count;
} th_scene;

/* Copies the arrays of desc, but not the models. The only error is TH_ERR_MEMORY. */
th_result th_scene_create(const th_scene_desc *desc, th_scene **out, th_error *err);
void th_scene_destroy(th_scene *scene);

/* Creates the crowd of the scene for an instruction set and a palette format. The scene must outlive it. Errors: as
 * th_crowd_create. */
th_result th_scene_crowd(const th_scene *scene, th_isa isa, th_format palette, th_crowd **out, th_error *err);

/* The model of an instance, its clip (NULL: the rest pose), and its clip time in seconds at `time_s`, not wrapped. */
const th_model *th_scene_model(const th_scene *scene, uint32_t instance);
const th_clip *th_scene_clip(const th_scene *scene, uint32_t instance);
double th_scene_clip_time(const th_scene *scene, uint32_t instance, double time_s);

#endif
