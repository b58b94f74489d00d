/* Clips while they are built: clips.c reads those of Assimp, gltf/gltf_clips.c, fbx_clips.c and collada_clips.c those
 * of these formats. */
#ifndef TH_ANIM_IMPORT_CLIPS_H
#define TH_ANIM_IMPORT_CLIPS_H

#include "scene.h"

/* One key of any kind: x y z, x y z w, or one number. */
typedef struct key {
    double time; /* in ticks */
    float value[4];
    uint32_t order; /* in the file, for a stable sort */
} key;

/* The keys of a file, in any order and state. */
typedef struct track {
    uint32_t width; /* 3, 4 for rotations, 1 for weights */
    uint32_t count;
    key *keys;
    bool steps;          /* keys hold until the next one */
    const float *spline; /* by order of the keys, for each its in-tangent, value and out-tangent, in change per second;
                            NULL: no spline */
} track;

typedef struct clip {
    scene *s;
    const char *name;
    double duration, ticks_per_second; /* as the file says */
    bool is_repaired;                  /* key times were changed */
    uint32_t channel_count;
    th_channel *channels;           /* with room for all of the file */
    bool *taken;                    /* by joint: has a channel */
    th_weight_track *weight_tracks; /* by weight; without keys: the clip does not move it */
} clip;

/* Makes room for keys, which the caller fills in. */
track make_track(uint32_t width, uint32_t count);

/* Whether a joint that the file calls `node`, or TH_NO_INDEX, can have a channel; warns if not. */
bool can_move(const clip *c, uint32_t joint, const char *node);

/* Adds a channel of translation, rotation and scale. rest: where it has no keys; NULL: the joint's own. */
void add_channel(clip *c, uint32_t joint, track parts[3], const th_trs *rest);

/* Adds a track of a weight unless an earlier channel moves it or there is no key. */
void add_weight_track(clip *c, uint32_t weight, const char *node, track *t);

/* Times at which keys are needed. */
typedef struct moments {
    scene *s;
    uint32_t count, room;
    double *times;
} moments;

void add_moment(moments *m, double time);

/* Sorts them, once each, within a clip and with both of its ends. */
void finish_moments(moments *m, double begin, double end);

/* Sets a channel of Assimp right where it differs from the file. node: for warnings. (assimp_keys.c) */
void undo_assimp_keys(const clip *c, const struct aiNodeAnim *channel, const char *node, uint32_t joint);

/* For a glTF file. (gltf/gltf_clips.c) */
uint32_t count_gltf_clips(const scene *s);
const char *name_gltf_clip(const scene *s, uint32_t index);
void read_gltf_clip(clip *c, uint32_t index);

/* For an FBX file. (fbx_clips.c) */
uint32_t count_fbx_clips(const scene *s);
const char *name_fbx_clip(const scene *s, uint32_t index);
void read_fbx_clip(clip *c, uint32_t index);

/* For a Collada file. (collada_clips.c) */
uint32_t count_collada_clips(scene *s);
const char *name_collada_clip(const scene *s, uint32_t index);
void read_collada_clip(clip *c, uint32_t index);

#endif
