/* A scene: models compiled to rigs, and the instances that play them. What is measured, shown and tested is a scene, so
 * a number, a picture and a test are about the same work. */
#ifndef THRONG_RUNTIME_SCENE_H
#define THRONG_RUNTIME_SCENE_H

#include <throng/anim/crowd.h>

#include <jansson.h>

typedef struct th_scene_desc {
    const th_model *const *models; /* required; borrowed, must outlive the scene; instances take them in turn */
    uint32_t model_count;
    const uint32_t *clips; /* one for each model: a clip, TH_NO_INDEX for a mix of all; NULL: a mix for each */
    uint32_t instance_count;
    uint64_t seed;
    th_rig_desc rig;           /* how each model is compiled; its `model` is not looked at */
    const th_rig *const *rigs; /* the models compiled like that already, borrowed; NULL: the scene compiles its own */
    const th_instance *instances; /* dealt already; NULL: by seed and clips */
} th_scene_desc;

/* Read only. */
typedef struct th_scene {
    const th_rig **rigs;
    uint32_t rig_count;
    bool borrows_rigs;
    th_instance *instances;
    uint32_t instance_count;
} th_scene;

th_result th_scene_create(const th_scene_desc *desc, th_scene **out, th_error *err);
void th_scene_destroy(th_scene *scene);

/* The scene's crowd on one instruction set and with palettes of one format. The scene must outlive it. */
th_result th_scene_crowd(const th_scene *scene, th_isa isa, th_palette palette, th_crowd **out, th_error *err);

/* Which model an instance is, which clip it plays (NULL: the rest pose), and when in that clip it is at `time_s`. */
const th_model *th_scene_model(const th_scene *scene, uint32_t instance);
const th_clip *th_scene_clip(const th_scene *scene, uint32_t instance);
double th_scene_clip_time(const th_scene *scene, uint32_t instance, double time_s);

/* What the scene is made of, for the context of a report; NULL when memory is out. scene: of desc, whatever its number
 * of instances; NULL: nobody has compiled it, and which clips play exact is not known. */
json_t *th_scene_json(const th_scene *scene, const th_scene_desc *desc);

#endif
