/* A model: skeleton, meshes and authored clips of a file or of a built-in model.
 *
 * Plain data in one arena. Immutable after it is built; threads may share it. All pointers point into the arena and are
 * valid until th_model_destroy. An array may be NULL if its count is 0.
 *
 *   joint    a node of the skeleton, with a parent and a rest transform. All nodes of a file are joints, whether or not
 *            a mesh follows them.
 *   bone     one entry of the palette (th_bone): a joint and an inverse bind matrix. A joint has no bone, one, or
 *            several, because meshes may follow it with different matrices.
 *   channel  the keys that move one joint in one clip.
 *   weight   how far a mesh is morphed towards one target. Clips move weights as they move joints. */
#ifndef THRONG_ANIM_MODEL_H
#define THRONG_ANIM_MODEL_H

#include <anim/appearance.h>
#include <anim/curves.h>
#include <anim/palette.h>
#include <anim/transform.h>
#include <core/api.h>
#include <core/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

TH_API_BEGIN

/* Limits of every model. Larger ones are rejected with TH_ERR_LIMIT. */
#define TH_MAX_JOINTS   65535u
#define TH_MAX_BONES    65535u
#define TH_MAX_CLIPS    4096u
#define TH_MAX_VERTICES (16u << 20) /* sum over all meshes */
#define TH_MAX_WEIGHTS  4096u
#define TH_MAX_DELTAS   (64u << 20) /* sum over all targets of all meshes */

#define TH_MAX_INFLUENCES 8u /* of a vertex; the importer keeps the largest */

#define TH_NO_INDEX UINT32_MAX

typedef struct th_arena th_arena;

typedef struct th_joint {
    const char *name;         /* never empty; unique among joints with a bone or a channel */
    uint32_t parent;          /* less than the joint's own index; TH_NO_INDEX for a root */
    th_mat34 rest;            /* parent_from_joint if no channel moves the joint; may have shear and mirroring */
    const th_trs *rest_parts; /* the same as the file states it, for what a clip leaves out; NULL: as a matrix */
} th_joint;

typedef struct th_bone {
    uint32_t joint;
    th_mat34 inverse_bind; /* joint_from_mesh in the bind pose (glTF inverseBindMatrices, Assimp mOffsetMatrix) */
} th_bone;

/* The joint's position in mesh space in the bind pose. Returns false, with `out` unchanged, if inverse_bind has no
 * usable inverse. */
bool th_bone_place(const th_bone *bone, float out[3]);

typedef struct th_vertex {
    float position[3];
    float normal[3];
    float uv[2];                      /* origin at the top left of the image, as in glTF */
    uint8_t color[4];                 /* linear RGBA, as COLOR_0 of glTF; with appearances see appearance.h */
    uint16_t bone[TH_MAX_INFLUENCES]; /* indices into th_model.bones */
    float weight[TH_MAX_INFLUENCES];  /* descending, sum 1; unused influences have index 0 and weight 0 */
} th_vertex;

/* What a morph target adds to a vertex, in mesh space and before bones move it, where its weight is 1. Normals are
 * normalised after all targets are added. */
typedef struct th_morph_delta {
    uint32_t vertex; /* of the mesh */
    float position[3], normal[3];
} th_morph_delta;

typedef struct th_morph_target {
    uint32_t weight; /* index into th_model.weights */
    uint32_t delta_count;
    const th_morph_delta *deltas; /* ascending by vertex, at most one per vertex; other vertices stay */
} th_morph_target;

/* Meshes may share weights: those that one node draws do. */
typedef struct th_weight {
    const char *name; /* of the target; "" if the file has none */
    uint32_t joint;   /* the node that draws the meshes */
    float rest;       /* if no track moves it */
} th_weight;

typedef struct th_mesh {
    const char *name;
    uint32_t material; /* index into th_model.materials */
    uint32_t vertex_count;
    uint32_t index_count; /* a multiple of 3: triangles, counter-clockwise seen from outside */
    const th_vertex *vertices;
    const uint32_t *indices;
    uint32_t target_count;
    const th_morph_target *targets; /* ascending by weight, at most one per weight */
} th_mesh;

/* What alpha means: that of base_color, of the texture and of the vertex, multiplied. */
typedef enum th_alpha {
    TH_ALPHA_OPAQUE = 0, /* nothing */
    TH_ALPHA_MASK,       /* below alpha_cutoff there is nothing, from it on it is opaque */
    TH_ALPHA_BLEND,      /* how much of what lies behind is covered */
    TH_ALPHA_COUNT
} th_alpha;

typedef struct th_material {
    const char *name;
    float base_color[4]; /* linear RGBA */
    uint32_t texture;    /* index into th_model.textures, or TH_NO_INDEX */
    th_alpha alpha;
    float alpha_cutoff; /* of a mask; at least 0 */
    bool double_sided;  /* otherwise triangles are seen from outside only */
    float emissive[3];  /* linear RGB, at least 0: light of its own, added to what it reflects */
} th_material;

/* What lies beyond the edges of an image: the image again, the edge, or the image turned around each time. */
enum { TH_WRAP_REPEAT = 0, TH_WRAP_CLAMP, TH_WRAP_MIRROR, TH_WRAP_COUNT };

/* How colours are taken from pixels, or from smaller copies of the image: mixed or the nearest. None: no copies. */
enum { TH_FILTER_LINEAR = 0, TH_FILTER_NEAREST, TH_FILTER_NONE, TH_FILTER_COUNT };

typedef struct th_sampler {
    uint8_t wrap[2]; /* along u and v: TH_WRAP_... */
    uint8_t large;   /* TH_FILTER_LINEAR or _NEAREST: where a pixel of the image is larger than one of the screen */
    uint8_t small;   /* and where it is smaller */
    uint8_t copies;  /* TH_FILTER_...: of the image */
} th_sampler;

/* An encoded image (PNG, JPEG, ...), and how it is read. */
typedef struct th_texture {
    const char *name;     /* as in the file: a path, or "*0" for an embedded image */
    const uint8_t *bytes; /* NULL if missing: drawn as a plain colour; warnings say so */
    size_t byte_count;
    th_sampler sampler;
} th_texture;

/* Keys of one property, at least one. Times are in ticks, finite and ascending. Two keys may have the same time, but
 * not three: then the track jumps there. The first of them ends the part before, and the second one holds from that
 * time on. Before the first key the track has its value, after the last key that of the last.
 *
 * Between keys a track is linear, for rotations slerp along the shorter arc. With `steps` each key holds until the
 * next. With tangents, which need two keys, it is a cubic Hermite spline per component; rotations follow the signs of
 * the keys and are then normalised (Khronos, glTF 2.0 Specification, 2021, appendix C, CUBICSPLINE). */
typedef struct th_track {
    uint32_t key_count;
    const double *times;
    const float *values;   /* key_count * 3 (translation, scale) or * 4 (rotation). Rotations have unit length and
                              continuous signs: neighbours are at most 90 degrees apart in four dimensions. Those of a
                              spline may have any signs, and any length except 0 */
    const float *tangents; /* NULL, or for each key its in-tangent, then its out-tangent: each as large as a value,
                              in change per tick */
    bool steps;            /* only without tangents */
} th_track;

/* Parts of a transform, for th_channel.filled. */
enum { TH_TRANSLATION = 1, TH_ROTATION = 2, TH_SCALE = 4 };

/* Replaces the rest transform of the joint by T * R * S. All three tracks have keys: the builder of a model fills
 * tracks that the file lacks with one key from the rest transform, and marks them in `filled`. When the clip is
 * attached to another model, its joint keeps its own value for these.
 *
 * With curves the joint follows these as authored, except for filled parts. The tracks then have the pose at the times
 * of the curves' keys, for whatever plays keys: every other interpolation. A part with one key does not move. */
typedef struct th_channel {
    uint32_t joint;
    th_track translation, rotation, scale;
    uint32_t filled;                   /* TH_TRANSLATION | ... */
    const th_transform_curves *curves; /* NULL: none */
} th_channel;

/* Moves a weight. Values are one number a key. Weights may be negative or above 1. curves: as of a channel. */
typedef struct th_weight_track {
    uint32_t weight;
    th_track track;
    const th_weight_curves *curves; /* NULL: none */
} th_weight_track;

typedef struct th_clip {
    const char *name;        /* never empty */
    double duration_ticks;   /* clip time wraps over it; 0 for a single pose */
    double ticks_per_second; /* above 0 */
    uint32_t channel_count;
    const th_channel *channels; /* ascending by joint, at most one per joint */
    uint32_t weight_track_count;
    const th_weight_track *weight_tracks; /* ascending by weight, at most one per weight */
} th_clip;

typedef struct th_model {
    const char *name; /* file name without folder, or the name of a built-in model */
    uint32_t joint_count;
    const th_joint *joints; /* depth first: parents before children, each subtree a contiguous range */
    uint32_t bone_count;
    const th_bone *bones; /* ascending by joint */
    uint32_t weight_count;
    const th_weight *weights; /* ascending by joint, those of a joint in the order of its targets */
    uint32_t mesh_count;
    const th_mesh *meshes;
    uint32_t material_count;
    const th_material *materials;
    uint32_t texture_count;
    const th_texture *textures;
    uint32_t clip_count;
    const th_clip *clips;
    th_appearances appearances; /* count 0: all instances look the same */
    uint32_t warning_count;
    const char *const *warnings; /* what the import repaired or dropped, one sentence each */
    double size;                 /* see th_model_measure; in scene units, above 0 */
    th_arena *arena;             /* owns everything above, and this struct */
} th_model;

/* What palettes of quaternions refer to. The place is 0 if the bone has none. */
th_palette_base th_model_palette_base(const th_model *model, uint32_t bone);

/* NULL is allowed. */
void th_model_destroy(th_model *model);

/* Returns the index of the joint or clip of this name, or TH_NO_INDEX. Linear search: not for use per frame. */
uint32_t th_model_find_joint(const th_model *model, const char *name);
uint32_t th_model_find_clip(const th_model *model, const char *name);

/* The rest transform in parts: as the file states them, or else decomposed. What is open then, signs of scale, is that
 * of a channel of the joint, as its keys have them first; NULL: positive. */
th_trs th_joint_rest(const th_joint *joint, const th_channel *like);

/* Whether any of its channels or weight tracks has some. */
bool th_clip_has_curves(const th_clip *clip);

const char *th_alpha_name(th_alpha alpha); /* "opaque", "mask", "blend" */

/* Computes th_model.size: the largest extent along an axis of what moves in the rest pose, the vertices and the joints
 * that they follow, morphed by the weights at rest. So cameras, lights and nodes parked far away do not count. Without
 * meshes all joints do. Returns 1 if the model has no extent, and 0, which th_model_check rejects, when out of memory.
 */
double th_model_measure(const th_model *model);

/* Creates a copy with the parts that an appearance has, and without appearances: widths and colours are in its
 * vertices, and morph targets are not allowed. It refers to the model's names, skeleton and clips, so free it with
 * th_model_destroy before the model. TH_ERR_MEMORY. */
th_result th_model_dress(const th_model *model, uint32_t appearance, th_model **out, th_error *err);

/* Checks the invariants of this header, except that names are unique. Builders of models call it last. Returns
 * TH_ERR_INPUT for the first violation, or TH_ERR_LIMIT if that is a limit. */
th_result th_model_check(const th_model *model, th_error *err);

/* Creates a copy of `base` with the clips of `donor` appended.
 *
 * Names: channels attach to joints by name, or else by that without namespace (up to the last ':') and case, if this
 * leads from one joint to one. Weight tracks attach by the names of joint and target, or by that of the target if only
 * one weight of `base` has it. What matches no joint or target, or several, is dropped. A clip whose name says nothing,
 * such as mixamo.com or Take 001, or is taken, gets that of the donor without ending, and a number from 2 on if that is
 * taken too.
 *
 * Lengths: filled tracks take their value from the joint of `base`, and so do translations, except those of the hips,
 * and scales that stay where `donor` has them at rest. Other translations are multiplied by how high the hips of `base`
 * are over how high those of `donor` are, above the lowest joint at rest or, where legs have other poses, along the
 * bones, if that is not within 1 %. The hips are the first joint whose translation clips set that carries half of the
 * joints that they turn and does not stand on the ground. Without hips it is how far the joints that both have lie
 * apart at rest, or else the size, if one is more than ten times the other.
 *
 * Frames: a clip means the same motion in the scene. What stands above a joint, and clips do not turn, may be other
 * nodes in both, with other units and axes: its keys are moved from the one space at rest to the other. So joints that
 * all clips hold turned as at rest, with all above them, keep the rotation that `base` has. Between joints that clips
 * turn this holds for nodes that match nothing.
 *
 * Rest poses: where the rest rotation of a joint that clips turn, or the direction of its bone in the space of its
 * parent, differs by more than 20 degrees, there is a warning.
 *
 * Warnings say what was dropped, renamed or scaled, and where spaces cannot be brought together, as one is stretched or
 * mirrored: how often, and the first. Errors: TH_ERR_INPUT if `donor` has no clips, or one of which no channel matches,
 * or if rest poses differ by more than 45 degrees at half of three joints or more; TH_ERR_LIMIT for too many clips;
 * TH_ERR_MEMORY. The caller keeps `base` and `donor`, and may free them at once.
 */
th_result th_model_attach_clips(const th_model *base, const th_model *donor, th_model **out, th_error *err);

TH_API_END

#endif
