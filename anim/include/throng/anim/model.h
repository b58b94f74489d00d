/* A model: skeleton, meshes and authored clips, as a file (or the embedded character) gives them.
 *
 * Plain data in one arena. Immutable once built: share it between threads freely. All pointers point into the arena
 * and live until th_model_free. Every array may be NULL when its count is 0.
 *
 * Three words that are easily mixed up:
 *   joint    a node of the skeleton: has a parent and a rest transform, and channels may move it. All nodes of a file
 *            are joints, whether a mesh follows them or not.
 *   bind     one entry of the bone palette: a joint and the inverse bind matrix with which a mesh follows it. A joint
 *            has no bind, one, or several (meshes may bind to one joint with different matrices).
 *   channel  the keys that move one joint in one clip. */
#ifndef THRONG_ANIM_MODEL_H
#define THRONG_ANIM_MODEL_H

#include <throng/anim/transform.h>
#include <throng/core/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of any model, whatever file it comes from; larger ones are refused with TH_ERR_LIMIT. */
#define TH_MAX_JOINTS   65535u
#define TH_MAX_BINDS    65535u
#define TH_MAX_CLIPS    4096u
#define TH_MAX_VERTICES (16u << 20) /* in all meshes of the model together */

#define TH_NO_INDEX UINT32_MAX

typedef struct th_arena th_arena;

typedef struct th_joint {
    const char *name; /* never empty; unique wherever a bind or a channel refers to the joint */
    uint32_t parent;  /* less than the joint's own index; TH_NO_INDEX for a root */
    th_mat34 rest;    /* parent_from_joint when no channel moves the joint; may hold shear and mirroring */
} th_joint;

typedef struct th_bind {
    uint32_t joint;
    th_mat34 inverse_bind; /* joint_from_mesh at the bind pose (glTF inverseBindMatrices, Assimp mOffsetMatrix) */
} th_bind;

typedef struct th_vertex {
    float position[3];
    float normal[3];
    float uv[2];      /* origin at the top left of the image, as glTF */
    uint8_t color[4]; /* linear RGBA, as glTF's COLOR_0 */
    uint16_t bind[4]; /* indices into th_model.binds */
    float weight[4];  /* descending, sum 1; unused influences are bind 0 weight 0 */
} th_vertex;

typedef struct th_mesh {
    const char *name;
    uint32_t material; /* index into th_model.materials */
    uint32_t vertex_count;
    uint32_t index_count; /* a multiple of 3: triangles, counter-clockwise from outside */
    const th_vertex *vertices;
    const uint32_t *indices;
} th_mesh;

typedef struct th_material {
    const char *name;
    float base_color[4]; /* linear RGBA */
    uint32_t texture;    /* index into th_model.textures, or TH_NO_INDEX */
} th_material;

/* An image as the file holds it (PNG, JPEG, ...), not decoded. */
typedef struct th_texture {
    const char *name;     /* as the file names it: a path, or "*0" for an embedded one */
    const uint8_t *bytes; /* NULL when missing: drawn as a plain colour, and said in the notes */
    size_t byte_count;
} th_texture;

/* Keys of one property. Times are in ticks, finite, strictly ascending. At least one key. Before the first key the
 * first one holds, after the last the last one.
 *
 * Between keys a track is linear; rotations go by slerp, the short way. One that steps holds each key until the next
 * one. One with tangents, of at least two keys, is a cubic Hermite spline, each component for itself; rotations are
 * normalised afterwards and take the way that their signs say (Khronos, glTF 2.0 Specification, 2021, appendix C,
 * CUBICSPLINE). */
typedef struct th_track {
    uint32_t key_count;
    const double *times;
    const float *values;   /* key_count * 3 (translation, scale) or * 4 (rotation: unit length, neighbours never
                              more than 90 degrees apart on the 4-sphere: continuous signs; those of a spline may have
                              any signs, and any length but 0) */
    const float *tangents; /* NULL, or for each key the one that leads to it, then the one that leads away: of the size
                              of a value each, change per tick */
    bool steps;            /* without tangents */
} th_track;

/* Parts of a transform. */
enum { TH_TRANSLATION = 1, TH_ROTATION = 2, TH_SCALE = 4 };

/* Replaces the joint's rest transform with T * R * S. What the file leaves out is filled from the rest transform by
 * whoever builds the model, so all three tracks have keys. `filled` tells which are such: of one key, and no part of
 * the movement, so that a joint of another model keeps its own instead when the clip is lent to it. */
typedef struct th_channel {
    uint32_t joint;
    th_track translation, rotation, scale;
    uint32_t filled; /* TH_TRANSLATION | ... */
} th_channel;

typedef struct th_clip {
    const char *name;        /* never empty */
    double duration_ticks;   /* 0 for a single pose; time is wrapped over it */
    double ticks_per_second; /* above 0 */
    uint32_t channel_count;
    const th_channel *channels; /* ascending by joint, at most one per joint */
} th_clip;

typedef struct th_model {
    const char *name; /* file name without folder, or the name of a built-in model */
    uint32_t joint_count;
    const th_joint *joints; /* depth first: a subtree is one run of indices, a parent stands before its children */
    uint32_t bind_count;
    const th_bind *binds; /* ascending by joint */
    uint32_t mesh_count;
    const th_mesh *meshes;
    uint32_t material_count;
    const th_material *materials;
    uint32_t texture_count;
    const th_texture *textures;
    uint32_t clip_count;
    const th_clip *clips;
    uint32_t note_count;
    const char *const *notes; /* everything that was repaired or left out on the way in; one sentence each */
    double size;              /* largest extent of meshes and joints at rest, in scene units; above 0 */
    th_arena *arena;          /* owns all of the above, and this struct */
} th_model;

/* NULL is fine. */
void th_model_free(th_model *model);

/* Index of the joint or clip with this name, or TH_NO_INDEX. Linear; for set-up, not for frames. */
uint32_t th_model_find_joint(const th_model *model, const char *name);
uint32_t th_model_find_clip(const th_model *model, const char *name);

/* Computes th_model.size from joints, binds and meshes at rest. 1 when the model has no extent at all; 0, which
 * th_model_check refuses, when out of memory. */
double th_model_measure(const th_model *model);

/* Checks the invariants stated in this header, but for unique names; a builder calls it last. TH_ERR_INPUT names the
 * first one broken. */
th_result th_model_check(const th_model *model, th_error *err);

/* Makes a model equal to `base`, with the clips of `donor` added behind its own, bound by joint name. What a channel
 * was filled with is taken from the base's joint. Channels that match no joint, or more than one, are left out; notes
 * say how many and name the first. A donor clip that would bind to nothing is TH_ERR_INPUT. `base` and `donor` stay the
 * caller's and may be freed at once. */
th_result th_model_lend_clips(const th_model *base, const th_model *donor, th_model **out, th_error *err);

#endif
