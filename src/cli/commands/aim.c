#include "aim.h"

#include <anim/exact.h>
#include <anim/playback.h>
#include <core/suggest.h>
#include <render/layout.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Half of the picture's height: in heights of a character, of all of it, of a joint and of what is around a place. */
#define WHOLE  0.6F
#define JOINT  0.2F
#define AROUND 2.0F

/* ---- what is asked for ---- */

static bool read_place(const char *text, float out[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        out[i] = strtof(text, &end);
        if (end == text || *end != (i < 2 ? ',' : '\0') || !isfinite(out[i]))
            return false;
        text = end + 1;
    }
    return true;
}

/* The first bone that is called "head", whatever is ahead of that, or else whose name has it. */
static uint32_t find_head(const th_model *model)
{
    uint32_t found = TH_NO_INDEX;
    for (uint32_t b = 0; b < model->bone_count; b++) {
        const uint32_t j = model->bones[b].joint;
        const char *name = model->joints[j].name, *at = strcasestr(name, "head");
        if (at && at[4] == '\0' && (at == name || !isalpha((unsigned char)at[-1])))
            return j;
        found = at && found == TH_NO_INDEX ? j : found;
    }
    return found;
}

static th_result find_joint(const char *name, const th_model *model, uint32_t *out, th_error *err)
{
    th_suggestion s = {.typed = name};
    *out = strcmp(name, "face") == 0 ? find_head(model) : th_model_find_joint(model, name);
    for (uint32_t j = 0; j < model->joint_count; j++)
        th_suggestion_consider(&s, model->joints[j].name);
    return *out != TH_NO_INDEX ? TH_OK
           : s.best ? th_fail(err, TH_ERR_USAGE, "--target: no joint \"%s\"; did you mean \"%s\"?", name, s.best)
                    : th_fail(err, TH_ERR_USAGE, "--target: %s has no joint \"%s\"; `throng inspect` lists them",
                              model->name, strcmp(name, "face") == 0 ? "head" : name);
}

th_result th_aim_at(const char *text, const th_crowd_view *v, th_aim *out, th_error *err)
{
    const th_scene *scene = th_crowd_view_get_parts(v).scene;
    *out = (th_aim){TH_NO_INDEX, TH_NO_INDEX, {0}};
    if (read_place(text, out->place))
        return TH_OK;
    char *name;
    const unsigned long number = strtoul(text, &name, 10);
    const bool is_number = isdigit((unsigned char)text[0]) && (*name == ':' || *name == '\0');
    if (is_number && number >= scene->instance_count)
        return th_fail(err, TH_ERR_USAGE, "--target: there are characters 0 to %u, not %.20s",
                       scene->instance_count - 1, text);
    out->instance = is_number ? (uint32_t)number : 0;
    if (is_number && *name == '\0')
        return TH_OK;
    return find_joint(is_number ? name + 1 : text, th_scene_model(scene, out->instance), &out->joint, err);
}

/* ---- where it is ---- */

static bool find_place_of_joint(const th_aim *aim, const th_crowd_view *v, double time_s, float out[3])
{
    const th_crowd_view_parts parts = th_crowd_view_get_parts(v);
    const th_model *model = th_scene_model(parts.scene, aim->instance);
    const th_clip *clip = th_scene_clip(parts.scene, aim->instance);
    const th_compiled_model *compiled = parts.compiled_models[parts.scene->instances[aim->instance].model];
    const th_interpolation mode = th_compiled_model_interpolation(compiled);
    th_layer layers[TH_BEHAVIOUR_LAYERS];
    const uint32_t count = parts.behaviour ? th_behaviour_layers(parts.behaviour, aim->instance, time_s, layers) : 0;
    th_instance_transform at;
    th_sphere sphere;
    th_dmat34 *pose = calloc(model->joint_count, sizeof *pose);
    double *weights = calloc((size_t)model->weight_count + 1, sizeof *weights);
    const bool ok = pose && weights;
    if (ok && count > 0) {
        uint32_t mask_count;
        const th_mask *masks = th_compiled_model_masks(compiled, &mask_count);
        th_exact_layers(model, layers, count, masks, mask_count, mode, pose, weights);
        th_exact_resolve(model, pose, pose);
    } else if (ok) {
        const double clip_s = th_scene_clip_time(parts.scene, aim->instance, time_s);
        th_exact_pose(model, clip, clip ? th_clip_ticks(clip, clip_s) : 0, mode, pose);
    }
    if (ok) {
        th_crowd_view_place(v, aim->instance, time_s, &at, &sphere);
        const double *joint = pose[aim->joint].m;
        const th_mat34 placed = th_instance_transform_matrix(&at);
        for (int i = 0; i < 3; i++) {
            const float *m = placed.m + 4 * (size_t)i;
            out[i] =
                (float)((double)m[0] * joint[3] + (double)m[1] * joint[7] + (double)m[2] * joint[11] + (double)m[3]);
        }
    }
    free(weights);
    free(pose);
    return ok;
}

void th_aim_camera(const th_aim *aim, const th_crowd_view *v, double time_s, double zoom, th_camera *camera)
{
    const uint32_t instance = aim->instance != TH_NO_INDEX ? aim->instance : 0;
    const th_follow_target character = th_crowd_view_follow_target(v, instance, time_s);
    const float *place = aim->instance == TH_NO_INDEX ? aim->place : character.centre;
    float joint[3], half = AROUND;
    if (aim->instance != TH_NO_INDEX) {
        camera->yaw_rad += character.heading_rad;
        half = WHOLE;
    }
    if (aim->joint != TH_NO_INDEX && find_place_of_joint(aim, v, time_s, joint)) {
        place = joint;
        half = JOINT;
    }
    memcpy(camera->target, place, sizeof camera->target);
    camera->distance = half * character.height / tanf(camera->fov_y_rad / 2) / (float)zoom;
    th_crowd_view_fit_depth(v, camera);
}
