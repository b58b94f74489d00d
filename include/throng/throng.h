/* Throng: animates crowds of skinned characters on all CPU cores.
 *
 * In this order: load a model (th_import), compile it (th_compiled_model_create), make a crowd of it (th_crowd_create),
 * run a frame (th_frame_run), read the palettes that it wrote. Drawing with OpenGL 4.3 is in <throng/render.h>.
 *
 * - Space: right-handed, Y up, radians, seconds; lengths are in the units of the model, metres in glTF. Column vectors:
 *   `a * b` applies b first. A 3x4 matrix is the upper part of an affine 4x4 matrix whose last row is 0 0 0 1; it is
 *   row-major with the translation in the last column. Quaternions are x, y, z, w.
 * - Memory: every _create has its _destroy, and every _destroy takes NULL. A desc is read during the call, all zero is
 *   its default, and pointers in it are borrowed as its fields say.
 * - Threads: any thread may use what is created, one at a time; what functions take as const may be shared. Where more
 *   or less is allowed, it says so.
 * - Errors: a function that can fail returns a th_result and fills a th_error, which may be NULL. The library never
 *   prints, logs or exits. An argument that a comment forbids is refused: TH_ERR_USAGE, or a value that says as much.
 *   With libthrong_debug it ends the program. */
#ifndef THRONG_THRONG_H
#define THRONG_THRONG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* all that a shared library shows */

/* Of the library that runs: major << 16 | minor << 8 | patch. */
uint32_t th_version(void);

/* ---- errors ---- */

typedef enum th_result {
    TH_OK,
    TH_ERR_INPUT,       /* a file is missing, broken or contradicts itself */
    TH_ERR_LIMIT,       /* valid input that exceeds a documented limit */
    TH_ERR_MEMORY,      /* out of memory */
    TH_ERR_ENVIRONMENT, /* the machine lacks something: an instruction set, a process, a thread */
    TH_ERR_USAGE,       /* an argument that matches nothing, such as a clip that no model has */
} th_result;

typedef struct th_error {
    th_result code;
    char text[1024]; /* one sentence, no newline, no full stop at the end */
} th_error;

/* ---- transforms ---- */

typedef struct th_mat34 {
    float m[12];
} th_mat34;

typedef struct th_dmat34 {
    double m[12];
} th_dmat34;

/* Translation, rotation, scale: M = T * R * S, so the scale is applied first. */
typedef struct th_trs {
    double translation[3];
    double rotation[4]; /* x y z w, unit length */
    double scale[3];
} th_trs;

/* ---- models ----
 *
 * A model is plain data in one arena: skeleton, meshes and authored clips of a file, of a built-in model or of arrays
 * of the program's own (th_model_create). It is immutable; threads may share it. All pointers are valid until
 * th_model_destroy. An array may be NULL if its count is 0.
 *
 * - Joint: a node of the skeleton, with a parent and a rest transform. All nodes of a file are joints, whether or not a
 *   mesh follows them.
 * - Bone: one entry of the palette, a joint and an inverse bind matrix. A joint has no bone, one, or several, because
 *   meshes may follow it with different matrices.
 * - Channel: the keys that move one joint in one clip.
 * - Weight: how far a mesh is morphed towards one target. Clips move weights as they move joints. */

/* Limits of every model. Larger ones are rejected with TH_ERR_LIMIT. */
#define TH_MAX_JOINTS   65535u
#define TH_MAX_BONES    65535u
#define TH_MAX_CLIPS    4096u
#define TH_MAX_VERTICES (16u << 20) /* sum over all meshes */
#define TH_MAX_WEIGHTS  4096u
#define TH_MAX_DELTAS   (64u << 20) /* sum over all targets of all meshes */

#define TH_MAX_INFLUENCES 8u /* of a vertex; the importer keeps the largest */

#define TH_NO_INDEX UINT32_MAX

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

typedef struct th_vertex {
    float position[3];
    float normal[3];
    float uv[2];                      /* origin at the top left of the image, as in glTF */
    uint8_t color[4];                 /* linear RGBA, as COLOR_0 of glTF; with appearances see there */
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

/* What FBX files say a track is made of. Models that are built from arrays have none. */
typedef struct th_transform_curves th_transform_curves;
typedef struct th_weight_curves th_weight_curves;

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

/* How instances of one model differ from each other without meshes, materials or bones of their own. The vertices of
 * the model belong to regions, such as the hair. An appearance gives each region a colour and a tightness, or leaves it
 * out. So a mesh holds everything that somebody may wear, and one draw shows a crowd that wears different things.
 *
 * A model with appearances has opaque materials without textures, and these in its vertices' colours:
 *   [TH_APPEARANCE_SHADE]  multiplies the colour of the region, 255ths, linear
 *   [TH_APPEARANCE_SLACK]  how far the vertex may move against its normal, 255ths of th_appearances.slack
 *   [TH_APPEARANCE_REGION] the region, the same at all corners of a triangle
 * The vertices are where they are widest, so bounds of the model hold for all appearances. */

enum { TH_APPEARANCE_SHADE, TH_APPEARANCE_SLACK, TH_APPEARANCE_REGION = 3 };

#define TH_APPEARANCE_NOT_WORN 255u /* a tightness: the region is not there */

#define TH_MAX_APPEARANCES 1024u
#define TH_MAX_REGIONS     256u

typedef struct th_appearance_region {
    uint8_t color[3];  /* sRGB */
    uint8_t tightness; /* 0: as modelled, 254: with all slack taken in; or TH_APPEARANCE_NOT_WORN */
} th_appearance_region;

/* Owned by the model. */
typedef struct th_appearances {
    uint32_t count, region_count;
    float slack;                         /* of a vertex with slack 255: model units, at least 0 */
    const th_appearance_region *regions; /* [appearance][region] */
    const float *statures;               /* [appearance] a factor for the size of the instance, above 0 and at most 1 */
} th_appearances;

typedef struct th_arena th_arena;

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
    double size;                 /* above 0: the largest extent along an axis of what moves in the rest pose,
                                    the vertices and the joints that they follow, or of all joints without meshes */
    th_arena *arena; /* owns everything above, and this struct. NULL: nobody has checked it, and only th_model_create
                        takes it */
} th_model;

/* Checks and copies what a program has filled in, as the comments above ask for; `data` and its arrays may then go. Not
 * looked at are `warnings`, of which the copy has none, `size`, which it computes, and `arena`. Curves are those of
 * another model, or NULL. Errors: TH_ERR_INPUT and TH_ERR_LIMIT name the first value that is wrong; TH_ERR_MEMORY. */
th_result th_model_create(const th_model *data, th_model **out, th_error *err);

void th_model_destroy(th_model *model);

/* Returns the index of the joint or clip of this name, or TH_NO_INDEX. Linear search: not for use per frame. */
uint32_t th_model_find_joint(const th_model *model, const char *name);
uint32_t th_model_find_clip(const th_model *model, const char *name);

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

/* Import of model files in a separate process: glTF 2.0 by a reader of our own, other formats through Assimp.
 *
 * Assimp is not safe on hostile files, so only the program throng-import links it. Each file starts a new process with
 * limits on time and memory, which can read the model's folder and nothing else, and sends the model back
 * through a pipe. A crash, a hang or invalid data becomes an error. Nothing is written to disk. */

#define TH_IMPORT_DEFAULT_TIMEOUT_S 8.0
#define TH_IMPORT_DEFAULT_MEMORY    (4ull << 30)
#define TH_IMPORT_BASE_MEMORY       (64ull << 20) /* address space of its program and libraries, with room to spare */

typedef struct th_import_desc {
    const char *path;      /* required; of /proc/self/fd/N/NAME no link leads out of the open folder N */
    const char *importer;  /* path of throng-import; NULL: beside the running program, else in the libexec folder of the
                              installation that the program is in, else of that which the shared library is in,
                              wherever these were moved to, else where the library was configured to have it */
    double timeout_s;      /* of the processor's time, so that a busy machine refuses no model, and ten times that of
                              the wall clock; not negative; 0 = TH_IMPORT_DEFAULT_TIMEOUT_S */
    uint64_t memory_bytes; /* address space of the process; 0 = TH_IMPORT_DEFAULT_MEMORY */
    uint64_t answer_bytes; /* that it may send; to read them takes four times as many more; 0: as many as
                              memory_bytes */
    bool allow_outside;    /* files that the model names may lie outside of its folder */
    uint64_t reserved[4];  /* zero: for what comes later */
} th_import_desc;

/* Any thread may call; calls may run concurrently. The caller frees *out with th_model_destroy. Errors name the file:
 *   TH_ERR_INPUT        the file is missing, no model or broken, or the importer crashed or timed out on it
 *   TH_ERR_LIMIT        a limit of models or of memory is exceeded
 *   TH_ERR_MEMORY       out of memory
 *   TH_ERR_ENVIRONMENT  the importer could not be started, ended without an answer, or is another program */
th_result th_import(const th_import_desc *desc, th_model **out, th_error *err);

/* The embedded human, for use without a model file. 1.8 m tall, in metres, facing +Z, left hand at +X,
 * feet on Y = 0, without scale. */

#define TH_HUMAN_NAME "human"

/* The clips walk in place. At these speeds over the ground, in m/s, the standing foot does not slide. */
#define TH_HUMAN_WALK_SPEED 1.2
#define TH_HUMAN_JOG_SPEED  2.2
#define TH_HUMAN_RUN_SPEED  3.2

/* Clips: idle, walk, jog, run, wave, cheer, dance. Joints: hips, head, hand_l, hand_r and 48 more; +Y of a hand is
 * along its fingers. The same bytes on every call and everywhere. TH_ERR_MEMORY. The caller frees *out with
 * th_model_destroy. */
th_result th_human_create(th_model **out, th_error *err);

/* ---- compiled models ---- */

/* Interpolation modes: the value of a track between two keys.
 *
 * AUTHORED interpolates each track as the file says, or evaluates the curves that it was made of. Every
 * other mode overrides all tracks.
 *
 *   STEP        the last key at or before the time.
 *   NLERP       linear. Rotations: linear between the keys along the shorter arc, then normalised.
 *   SLERP       linear. Rotations: along the great circle, the shorter arc, at constant angular speed (K. Shoemake,
 *               Animating Rotation with Quaternion Curves, 1985).
 *   CUBIC       cubic Hermite splines (Khronos, glTF 2.0 Specification, 2021, appendix C, CUBICSPLINE) through all
 *               keys. A track with tangents uses them. Other tracks use the tangents of E. Catmull and R. Rom (A Class
 *               of Local Interpolating Splines, 1974) over their own times,
 *                   m[k] = (v[k+1] - v[k-1]) / (t[k+1] - t[k-1]),
 *               and at the first and last key, and on both sides of a jump, the slope of the line to the neighbour.
 *               Rotations: per component, then normalised. Each of the four keys of an interval takes the sign
 *               nearer to its neighbour, so the tangent at a key is the same from both sides.
 *
 * All modes normalise rotation keys first, except CUBIC on a track with tangents. Before the first key a track has
 * the first key's value, after the last key the last key's. STEP, NLERP and SLERP ignore tangents. Only AUTHORED
 * honours th_track.steps. */

typedef enum th_interpolation {
    TH_INTERPOLATION_AUTHORED = 0, /* curves, CUBIC for tracks with tangents, STEP for stepped ones, SLERP for others */
    TH_INTERPOLATION_STEP,
    TH_INTERPOLATION_NLERP,
    TH_INTERPOLATION_SLERP,
    TH_INTERPOLATION_CUBIC,
    TH_INTERPOLATION_COUNT,
} th_interpolation;

/* "authored", "step", "nlerp", "slerp", "cubic". */
const char *th_interpolation_name(th_interpolation interpolation);

/* Formats of compiled keys. */
typedef enum th_keys {
    TH_KEYS_32 = 0, /* single precision, 16 bytes a key */
    TH_KEYS_16,     /* 8 bytes: each number quantised to 65,000 steps of its range over all clips of the model */
    TH_KEYS_COUNT,
} th_keys;

/* Formats of bone palettes. An entry is a 3x4 row-major matrix with the translation in the last column, which shaders
 * read as three rows; or a quaternion (x, y, z, w), a place and a scale, for joints that do nothing but turn and move,
 * which takes fewer bytes, and less time to compute. The place is where the joint is. So a vertex v of a bone
 * belongs at, with b = th_palette_base.place, where the joint is in the bind pose,
 *
 *    place + scale * rotate(quaternion, v - b)
 *
 * After the entries of the bones follow those of the morph weights: twelve weights each, in the order of
 * th_model.weights, then zeros. */

typedef enum th_format {
    TH_FORMAT_F32 = 0, /* 48 bytes per entry. All models can have it */
    TH_FORMAT_QUAT,    /* 32 bytes: quaternion of length 1, either sign; place; scale, above 0. Not all models can have
                           it (th_compiled_model_obstacle), none with morph weights */
    TH_FORMAT_QUAT16,  /* 16 bytes: the same in whole numbers, of 20 bits for the rotation and of 22 for the place
                          (th_quat16), without a scale. The place is rounded to th_palette_base.step. Not for models that
                          are scaled, or carried farther than twice their size */
    TH_FORMAT_COUNT,
    TH_FORMAT_AUTO = TH_FORMAT_COUNT, /* for a crowd: QUAT if all its models can have it, otherwise F32 */
} th_format;

typedef enum th_writes {
    TH_WRITES_AUTO = 0, /* streamed where a crowd's palettes are larger than the caches, otherwise cached */
    TH_WRITES_CACHED,   /* ordinary stores, for palettes that are soon read or overwritten */
    TH_WRITES_STREAMED, /* streaming stores that bypass the caches, for write-combined memory, and for palettes that are
                         * not read soon and would evict other data */
    TH_WRITES_COUNT,
} th_writes;

/* "f32", "quat", "quat16"; "unknown" for anything else, as with all such functions. */
const char *th_format_name(th_format format);

/* An entry of QUAT16: numbers n in two's complement. A coordinate of the place is n * th_palette_base.step. The
 * rotation is given by r, its axis times the tangent of a quarter of its angle, 180 degrees at most, so that the
 * quaternion is
 *
 *    (2 r, 1 - dot(r, r)) / (1 + dot(r, r))     r = n / 500000
 *
 * The low 22 bits of the words are x, y and z of the place, and x of r. The high 10 bits are those of the numbers of 20
 * bits y of r, low half first, and z of r. */
typedef struct th_quat16 {
    uint32_t words[4];
} th_quat16;

/* What quaternions of a bone refer to. */
typedef struct th_palette_base {
    float place[3]; /* of the joint in the bind pose, in mesh space */
    float step;     /* of places of QUAT16: 2^-20 of th_model.size, 1.7 um for a human of 1.8 m */
} th_palette_base;

/* Decodes one entry to a matrix, row-major. base: only for quaternions, otherwise it may be NULL. entry: of any
 * alignment. */
void th_palette_read(th_format format, const void *entry, const th_palette_base *base, float out[12]);

/* What palettes of quaternions refer to. The place is 0 if the bone has none. */
th_palette_base th_model_palette_base(const th_model *model, uint32_t bone);

/* Layers: clips that an instance plays at the same time, and how they become one pose.
 *
 * The pose is defined for each joint by its transforms relative to the parent, as ozz-animation's blending job defines
 * it. First the layers that override are blended, in their order. Layer i has the weight w_i, its own times that of its
 * mask for the joint:
 *
 *    rotation      sum of w_i s_i q_i, normalised; q_i has unit length, and s_i is 1 or -1, so that s_i q_i has no
 *                  negative dot product with the sum of the layers before
 *    translation   sum of w_i t_i / sum of w_i; scale and morph weights likewise, morph weights without masks
 *
 * Where the sum of w_i is below TH_REST_WEIGHT, the rest pose follows as one more layer with what is missing as its
 * weight. Then the layers that add change the result, in their order. With r the transform that such a layer starts
 * from, d = conj(q_r) q_i, and the sign of d such that its w is not negative:
 *
 *    rotation      rotation * (w_i d + (1 - w_i)), normalised
 *    translation   + w_i (t_i - t_r); morph weights likewise
 *    scale         * (1 + w_i (s_i / s_r - 1)), by component
 *
 * Scales count with the signs that the rest transform has, where a clip differs from it in two of them: that is the
 * same transform, turned by half a turn about the third axis.
 *
 * Where a joint has the same value in all layers, it has that value. A single layer that overrides without a mask, with
 * a weight of at least TH_REST_WEIGHT, is the clip alone, to the last bit. Layers of weight 0 change nothing. */

#define TH_MAX_LAYERS  8u
#define TH_REST_WEIGHT 0.1F

/* A weight for each joint, such as 1 for the upper body and 0 for the rest. */
typedef struct th_mask {
    const char *name;
    const float *weights; /* by joint, 0 to 1 */
} th_mask;

#define TH_MAX_MASKS 255u
#define TH_NO_MASK   255u

/* Sets the weights of a joint and of all below it to 1, those of others to 0. weights: joint_count elements. */
void th_mask_from_joint(const th_model *model, uint32_t joint, float *weights);

typedef enum th_layer_mode {
    TH_LAYER_OVERRIDE = 0,
    TH_LAYER_ADD,      /* what the clip changes since its first frame */
    TH_LAYER_ADD_REST, /* what the clip changes of the rest pose */
    TH_LAYER_MODE_COUNT,
} th_layer_mode;

const char *th_layer_mode_name(th_layer_mode mode); /* "override", "add", "add-rest" */

#define TH_REST_CLIP UINT16_MAX

/* A clip at a time, with a weight. */
typedef struct th_layer {
    double ratio;  /* position in the clip: 0 is its begin, 1 its end */
    float weight;  /* 0 to 1 */
    uint16_t clip; /* index into th_model.clips; TH_REST_CLIP: the rest pose */
    uint8_t mode;  /* th_layer_mode */
    uint8_t mask;  /* index into the masks of the compiled model; TH_NO_MASK: weight 1 for all joints */
} th_layer;

/* The joint for which layers cannot add what this clip changes, by name; NULL if they can. A scale is a factor, and
 * nothing is a multiple of a scale of 0, which it starts from. */
const char *th_layer_add_obstacle(const th_model *model, uint32_t clip, th_layer_mode mode);

/* A compiled model: a model prepared for playback. Joints become a list of joint ops that a kernel runs front to back,
 * clips are resampled at equal distances, or in a few stretches with a distance each, so that seeking takes no search
 * through keys, and what never moves is stored once.
 *
 * Immutable after creation; threads may share it. It borrows the model, which must outlive it. */

typedef enum th_sampling {
    TH_SAMPLING_COMPILED = 0, /* compiled clips; exact ones where the error bound cannot be met */
    TH_SAMPLING_EXACT,        /* authored keys for all clips */
} th_sampling;

/* Reference scale for errors, a human of 1.8 m. Errors are measured at virtual vertices TH_SHELL_M from each joint and
 * bounded by TH_DEFAULT_BOUND_M; both scale with model size / TH_REFERENCE_SIZE_M. The bound holds in layers that
 * override, too: where a clip scales joints to less than half of what they have elsewhere, it is measured with that
 * scale as well. A layer that adds brings its own error, up to twice. */
#define TH_REFERENCE_SIZE_M 1.8
#define TH_SHELL_M          0.03
#define TH_DEFAULT_BOUND_M  0.0001

/* Calls fn with each of [0, count), in any order and on any threads, and returns when all calls have returned. */
typedef void th_parallel_fn(uint32_t count, void (*fn)(uint32_t item, void *ctx), void *ctx, void *parallel_ctx);

typedef struct th_compiled_model_desc {
    const th_model *model; /* required */
    th_sampling sampling;
    /* Evaluated twice: between authored keys when a clip is resampled, and between resampled keys when it is played.
     * bound_m limits the error of the second.
     * AUTHORED compiles clips for NLERP, the fastest smooth mode. A clip whose moving tracks all step becomes frames on
     * a regular grid that has the times of its keys, each held until the next. */
    th_interpolation interpolation;
    th_keys keys;     /* of compiled clips */
    size_t max_bytes; /* of compiled clips, about; those for which no room is left play exact; 0: no limit */
    double bound_m;   /* finite; largest error of a compiled clip, for a model of 1.8 m; 0 = TH_DEFAULT_BOUND_M */
    /* Not negative; 0 = 1. Times of the default limit on the work of measuring errors, a few seconds; clips beyond it
     * are played exact. Work instead of time, so that the result does not depend on the machine. */
    double effort;
    /* Joints whose model-space matrices a frame has (th_frame_sockets), with a bone or without, in this order; may
     * repeat; copied. Errors are measured at them, too. Palettes stay as they are, unless a clip needs more frames for
     * that, or more work or memory than it may take; and scaled joints above sockets rule out quaternion palettes, as
     * above bones. */
    const uint32_t *sockets;
    uint32_t socket_count;
    const th_mask *masks; /* that layers may name; borrowed, as the model */
    uint32_t mask_count;  /* at most TH_MAX_MASKS */
    bool in_place; /* clips that walk and carry the model away do not carry it: their root stays where it began */
    /* Compiles several clips at a time, to the same result; not with max_bytes; may be NULL. */
    th_parallel_fn *parallel;
    void *parallel_ctx;
    uint64_t reserved[4]; /* zero: for what comes later */
} th_compiled_model_desc;

typedef struct th_compiled_model th_compiled_model;

/* Result of compiling one clip. Times are in seconds. */
typedef struct th_clip_report {
    bool compiled;          /* false: played exact; `reason` says why */
    const char *reason;     /* static storage; "" when compiled */
    uint32_t frame_count;   /* from 0 to the duration, both included */
    uint32_t stretch_count; /* parts with a frame rate of their own, at most 16; 1: frames at equal distances */
    double rate_hz;         /* frames per second, on average */
    size_t bytes;           /* of compiled keys */
    size_t raw_bytes;       /* of the authored keys: times, values and tangents, or all of curves; as 4-byte numbers */
    double max_error;       /* measured on and between keys; compiled clips only */
    uint32_t error_joint;   /* joint of max_error */
    double error_time_s;    /* time of max_error */
} th_clip_report;

/* Errors: TH_ERR_MEMORY; TH_ERR_USAGE if a socket is no joint of the model. */
th_result th_compiled_model_create(const th_compiled_model_desc *desc, th_compiled_model **out, th_error *err);
void th_compiled_model_destroy(th_compiled_model *compiled);

double th_compiled_model_bound(const th_compiled_model *compiled); /* of errors, in lengths of the model */
size_t th_compiled_model_bytes(const th_compiled_model *compiled); /* memory that it owns */
const th_clip_report *th_compiled_model_clip_report(const th_compiled_model *compiled, uint32_t clip);

/* Why its palettes cannot have this format, such as "joint Hips is scaled, sheared or mirrored". NULL: they can. */
const char *th_compiled_model_obstacle(const th_compiled_model *compiled, th_format format);

/* ---- crowds ---- */

/* A crowd: characters of compiled models, which come and go, each with a clip or layers of its own.
 *
 * It starts no threads and knows no OpenGL: a frame (below) poses all who are in it at a time, and the palettes that
 * it writes depend only on them, what they play, the time and the instruction set. Between frames one thread may change
 * the crowd. Only th_crowd_create allocates.
 *
 * The caller owns the palette memory. The palette of a character has the bones of its model, then the morph weights, in
 * the crowd's format, and starts on a 64-byte line. Palettes are written in whole lines, front to back, with zeros
 * after the last entry, and are not read. */

typedef enum th_isa {
    TH_ISA_AUTO = 0, /* the best one of this build that this CPU supports */
    TH_ISA_SCALAR,
    TH_ISA_SSE4,   /* SSE4.1 */
    TH_ISA_AVX2,   /* with FMA */
    TH_ISA_AVX512, /* F and BW */
    TH_ISA_NEON,   /* 64-bit ARM, with FMA */
    TH_ISA_COUNT,
} th_isa;

/* "scalar", "sse4", "avx2", "avx512", "neon". */
const char *th_isa_name(th_isa isa);

/* Whether this CPU, operating system and build support it. */
bool th_isa_available(th_isa isa);

/* The instruction set that TH_ISA_AUTO selects on this machine. */
th_isa th_isa_best(void);

typedef struct th_crowd_desc {
    const th_compiled_model *const *compiled_models; /* array copied; models borrowed, they must outlive the crowd */
    uint32_t compiled_model_count;                   /* at least 1 if there is capacity */
    uint32_t capacity;                               /* the most characters at a time */
    uint32_t max_layers;                             /* of a character, at most TH_MAX_LAYERS; 0: nobody has layers */
    th_isa isa;
    th_format format;
    th_writes writes;
    uint64_t reserved[4]; /* zero: for what comes later */
} th_crowd_desc;

typedef struct th_crowd th_crowd;

/* Creates a crowd without characters. Errors: TH_ERR_MEMORY; TH_ERR_ENVIRONMENT if the machine lacks the instruction
 * set; TH_ERR_INPUT if a model cannot have palettes of this format (th_compiled_model_obstacle); TH_ERR_USAGE. */
th_result th_crowd_create(const th_crowd_desc *desc, th_crowd **out, th_error *err);
void th_crowd_destroy(th_crowd *crowd);

/* The id of a character, which no other character of the crowd ever has. slot: below the capacity, 0, 1, 2, ... as a
 * new crowd fills; after a removal the slot is taken again. generation: how often it was taken; 0: nobody. */
typedef struct th_character {
    uint32_t slot, generation;
} th_character;

/* A clip in time: when the time of the frame is at_s, it is at phase_s, and from there it goes on, forwards and
 * backwards. Clips repeat. The numbers are finite. */
typedef struct th_play {
    uint32_t clip;  /* index into the model's clips; TH_NO_INDEX: the rest pose */
    double phase_s; /* of the clip */
    double speed;   /* seconds of the clip per second; 0: it stands still; negative: backwards */
    double at_s;
} th_play;

/* Adds a character. Takes O(models) time, as removing does. model: index into th_crowd_desc.compiled_models. out: may
 * be NULL. Errors: TH_ERR_LIMIT if the crowd is full; TH_ERR_USAGE. */
th_result th_crowd_spawn(th_crowd *crowd, uint32_t model, const th_play *play, th_character *out, th_error *err);

/* Adds `count` characters at random: models in turn, random clips, phases over a whole clip and speeds of 0.9 to 1.1.
 * The i-th depends only on the seed and on i, so more of them begin with the same. out: room for all; may be NULL.
 * clip: that of all; models without a clip of this index show the rest pose. TH_NO_INDEX: a mix of all clips. Errors:
 * as th_crowd_spawn, and then nobody is added. */
th_result th_crowd_scatter(th_crowd *crowd, uint32_t count, uint32_t clip, uint64_t seed, th_character *out,
                           th_error *err);

/* Errors: TH_ERR_USAGE, as below, if the character is not in the crowd any more (th_crowd_get tells). */
th_result th_crowd_remove(th_crowd *crowd, th_character character, th_error *err);
uint32_t th_crowd_count(const th_crowd *crowd); /* of characters */

/* Plays this alone from now on, without layers. */
th_result th_crowd_play(th_crowd *crowd, th_character character, const th_play *play, th_error *err);

/* Move in time what a character plays, its first layer if it has layers: at at_s it is at phase_s; or it stays where it
 * is at at_s, and has another speed. */
th_result th_crowd_seek(th_crowd *crowd, th_character character, double phase_s, double at_s, th_error *err);
th_result th_crowd_set_speed(th_crowd *crowd, th_character character, double speed, double at_s, th_error *err);

/* A layer of a character, as of th_layer. */
typedef struct th_character_layer {
    th_play play;
    float weight; /* 0 to 1 */
    uint8_t mode; /* th_layer_mode */
    uint8_t mask; /* index into the masks of the compiled model; TH_NO_MASK */
    bool in_step; /* at the same part of its clip as the first layer; its own play says no more than the clip */
} th_character_layer;

/* Plays layers from now on, instead of the clip; 0 of them: the clip again, which has gone on. layers: copied. Errors:
 * TH_ERR_INPUT if a clip cannot be added (th_layer_add_obstacle); TH_ERR_USAGE, also for more than max_layers. */
th_result th_crowd_set_layers(th_crowd *crowd, th_character character, const th_character_layer *layers, uint32_t count,
                              th_error *err);

typedef struct th_character_info {
    uint32_t model;
    uint32_t palette;                 /* its index among those of th_crowd_palettes, until somebody comes or goes */
    th_play play;                     /* its clip */
    const th_character_layer *layers; /* of the crowd, until it changes */
    uint32_t layer_count;
} th_character_info;

/* Returns whether the character is in the crowd. out: what it does; may be NULL. */
bool th_crowd_get(const th_crowd *crowd, th_character character, th_character_info *out);

th_isa th_crowd_isa(const th_crowd *crowd);       /* never TH_ISA_AUTO */
th_format th_crowd_format(const th_crowd *crowd); /* never TH_FORMAT_AUTO */

/* Of memory for palettes; a multiple of 64. Suffices for all whom the crowd may have at a time. */
size_t th_crowd_palette_bytes(const th_crowd *crowd);

/* The palettes of the characters of a model: `count` of them from `offset` on, `stride` bytes apart. That of a
 * character begins at offset + th_character_info.palette * stride. Until somebody comes or goes. */
typedef struct th_palette_range {
    size_t offset, stride;
    uint32_t count;
} th_palette_range;

th_palette_range th_crowd_palettes(const th_crowd *crowd, uint32_t model);

/* XXH3 over the palettes of all characters by slot, without padding: the same on all machines of one class of
 * arithmetic, with fused multiply-add (AVX2, AVX-512, NEON) or without. */
uint64_t th_crowd_hash(const th_crowd *crowd, const void *palettes);

/* ---- threads ---- */

typedef enum th_scheduler {
    TH_SCHEDULER_WORK_STEALING = 0, /* a range per worker; a thief takes half of it */
    TH_SCHEDULER_SERIAL,            /* a plain loop on the calling thread: baseline for overhead */
    /* Only where a program has registered them: */
    TH_SCHEDULER_OPENMP_DYNAMIC, /* a loop over the chunks with schedule(dynamic) */
    TH_SCHEDULER_OPENMP_GUIDED,  /* the same with schedule(guided) */
    TH_SCHEDULER_OPENMP_STATIC,  /* the same with schedule(static) */
    TH_SCHEDULER_COUNT,
} th_scheduler;

/* CPU affinity of the workers. The pool never moves a calling thread. If a call comes from the CPU of a worker, that
 * worker moves to the CPU of the call before. Workers without a CPU of their own are left to the operating system.
 * Only CPUs of the creating thread's affinity mask are used. */
typedef enum th_placement {
    TH_PLACEMENT_NONE = 0, /* left to the operating system */
    TH_PLACEMENT_WORKERS,  /* each worker pinned to a CPU of its own, in the order of CPU numbers */
    TH_PLACEMENT_COMPACT,  /* as near the caller as possible: hardware threads of its core, then of its cache, ... */
    TH_PLACEMENT_SPREAD,   /* as far from each other as possible: another socket, another cache, another core */
    TH_PLACEMENT_CORES,    /* as COMPACT, but one per core until every core has one */
    TH_PLACEMENT_COUNT,
} th_placement;

/* The CPUs that this process may use. */
typedef struct th_cpus {
    uint32_t online;   /* CPUs of the machine that are online */
    uint32_t affinity; /* of those, allowed by the calling thread's affinity mask */
    double quota;      /* CPU time per time that the cgroup grants (v1 or v2, smallest up the tree); 0 = no limit */
    uint32_t usable;   /* smallest of the three, with the quota rounded up; at least 1 */
} th_cpus;

th_cpus th_cpus_read(void);

typedef struct th_jobs_desc {
    /* Including the caller. 0: th_cpus_read().usable. At most TH_JOBS_MAX_THREADS. TH_SCHEDULER_SERIAL uses 1. */
    uint32_t threads;
    th_scheduler scheduler;
    th_placement placement; /* for any scheduler; threads of a registered one stay pinned after the pool */
    uint64_t reserved[4];   /* zero: for what comes later */
} th_jobs_desc;

#define TH_JOBS_MAX_THREADS 256u

typedef struct th_jobs th_jobs;

/* Errors, after which nothing is left behind:
 *   TH_ERR_LIMIT        too many threads
 *   TH_ERR_USAGE        an unknown scheduler or placement
 *   TH_ERR_ENVIRONMENT  the system, or the runtime of the scheduler, refuses a thread; this build lacks the scheduler;
 *                       the topology of the machine, which the placement needs, cannot be read
 *   TH_ERR_MEMORY       out of memory */
th_result th_jobs_create(const th_jobs_desc *desc, th_jobs **out, th_error *err);

/* Waits for a running call, then for the workers to end. No other call may start, or wait to start, meanwhile. */
void th_jobs_destroy(th_jobs *jobs);

uint32_t th_jobs_threads(const th_jobs *jobs);

/* Runs the items [begin, end). worker: 0 for the calling thread, otherwise 1 to threads - 1; chunks that run at the
 * same time have different numbers. Returns 0, or another value to stop the call: chunks that have not begun are
 * skipped, and th_jobs_run returns the first such value. To cancel a call, test a flag of your own. */
typedef int th_jobs_fn(uint32_t begin, uint32_t end, uint32_t worker, void *ctx);

typedef struct th_job {
    th_jobs_fn *fn; /* required */
    void *ctx;
    uint32_t count; /* items */
    uint32_t grain; /* items per chunk, fewer in the last one; 0 is treated as 1 */
    /* Initial partition if items differ in cost: the first item of worker 1, 2, ... threads - 1, ascending. Stealing
     * balances the rest. Read during the call. Only TH_SCHEDULER_WORK_STEALING uses it. NULL: the same number of chunks
     * for each worker. */
    const uint32_t *partition;
} th_job;

/* Calls fn on all threads with chunks that cover [0, count) exactly once, and returns when all have ended. What they
 * wrote is then visible to the caller. Returns 0, the value of the first chunk that failed, or EINVAL without a
 * pool, a job or its fn. Never allocates. Any thread may call; concurrent calls run one after the other. A nested call
 * from inside fn runs inline on its thread, under the worker number of that thread.
 *
 * A job of pool A may call pool B. The jobs of B must not call A then: on a worker of B the call would wait for the
 * call that it is part of. */
int th_jobs_run(th_jobs *jobs, const th_job *job);

/* A frame groups calls that follow each other closely. Waking a thread takes 30 to 60 microseconds. Begin the frame as
 * soon as calls are expected, so that the workers are awake in time. Between begin and end idle workers spin, for at
 * most 10 ms without work; after the end they sleep. Outside of frames they spin for 50 microseconds. Frames have no
 * effect on a pool with more threads than usable CPUs, which never spins, nor on other schedulers.
 *
 * Any thread may call; frames of several threads may overlap. */
void th_jobs_frame_begin(th_jobs *jobs);
void th_jobs_frame_end(th_jobs *jobs);

/* ---- frames ---- */

/* A frame: poses a crowd into palette memory, on a pool (th_frame_desc.jobs), on the threads of an engine that has a
 * task system of its own (th_frame_desc.tasks), or by hand (th_frame_begin). The bytes are the same.
 *
 * The unit of work is a batch: 16 characters of one model, and 1 to 31 in its last batch. th_frame_create allocates
 * everything; the other functions allocate nothing. */

/* Poses the batches [begin, end). task: as th_tasks.enqueue was given it. */
typedef void th_task_fn(uint32_t begin, uint32_t end, uint32_t worker, void *task);

/* Both are called by the thread that calls th_frame_run. */
typedef struct th_tasks {
    /* Has fn called with ranges that cover [0, count) once, on any threads, if possible of `grain` or more each. worker
     * is below th_frame_desc.threads, and no two ranges have the same one at the same time. Returns what finish is to
     * wait for, or NULL if all ranges have ended; then finish is not called. */
    void *(*enqueue)(th_task_fn *fn, uint32_t count, uint32_t grain, void *task, void *ctx);
    /* Returns when the ranges of that call have ended, and the calling thread sees what they wrote. */
    void (*finish)(void *handle, void *ctx);
    void *ctx; /* passed to both */
} th_tasks;

typedef struct th_frame_desc {
    const th_crowd *crowd; /* required; borrowed */
    th_jobs *jobs;         /* borrowed; its workers begin with ranges of equal cost; NULL: no pool */
    th_tasks tasks;        /* both functions, or with a pool and by hand none */
    /* Most workers, at most TH_JOBS_MAX_THREADS: with a pool 0, with tasks at least 1; by hand 0 is 1. */
    uint32_t threads;
    uint32_t grain;       /* batches in a chunk of the pool, or in a range of tasks; 0 = few, which balance */
    uint64_t reserved[4]; /* zero: for what comes later */
} th_frame_desc;

typedef struct th_frame th_frame;

/* Has room for all whom the crowd may have. Errors: TH_ERR_MEMORY; TH_ERR_USAGE. */
th_result th_frame_create(const th_frame_desc *desc, th_frame **out, th_error *err);
void th_frame_destroy(th_frame *frame);

/* Writes the palettes of all characters at time_s and returns when they are complete. Neither pool nor tasks: on the
 * calling thread. time_s: finite. palettes: th_crowd_palette_bytes, any memory aligned to 64. One call at a time. The
 * only error, TH_ERR_USAGE, leaves palettes as they are. */
th_result th_frame_run(th_frame *frame, double time_s, void *palettes);

/* The same by hand, whatever the desc: begin, which returns the number of batches; every batch once, in ranges on any
 * threads, of which two at the same time have different workers below th_frame_desc.threads, or those of the pool; and
 * end, once all have returned. Until then the crowd stays as it is. */
uint32_t th_frame_begin(th_frame *frame, double time_s, void *palettes);
void th_frame_batches(th_frame *frame, uint32_t begin, uint32_t end, uint32_t worker);
void th_frame_end(th_frame *frame);

/* The matrices of a character's sockets, row-major 3x4, 12 floats each, in the order of th_compiled_model_desc.sockets:
 * they take the space of the joint to the space to which palettes lead. Of the last frame that posed the character;
 * valid until the next. NULL: no frame has posed it yet, it is not in the crowd any more, or its compiled model has
 * none. Palettes and sockets are in the space of the model: where a character stands is the engine's. */
const float *th_frame_sockets(const th_frame *frame, th_character character);

/* Memory for the palettes of a crowd; any other that begins on a 64-byte line does as well. Pages are not touched, so
 * on a NUMA machine each page is placed near the worker that first writes it. TH_ERR_MEMORY, also if it is more than
 * the machine has. */
th_result th_palettes_create(const th_crowd *crowd, void **out, th_error *err);
void th_palettes_destroy(void *palettes);

/* ---- the reference ---- */

/* The reference evaluation: authored keys, binary search, double precision. All other evaluations are checked against
 * it. Pure functions; no allocation; any thread. */

/* Clip time in ticks: time_s * ticks_per_second, wrapped into [0, duration). Negative times wrap from the end. 0 for a
 * clip without duration. */
double th_clip_ticks(const th_clip *clip, double time_s);

/* Model-space matrices of all joints: out[j] takes the space of joint j to that of the model, joint_count elements.
 * clip: of a model of the library's, or NULL for the rest pose; `ticks` and `interpolation` are then ignored. */
void th_exact_pose(const th_model *model, const th_clip *clip, double ticks, th_interpolation interpolation,
                   th_dmat34 *out);

/* The palette of a pose: out[b] = pose[bones[b].joint] * bones[b].inverse_bind, bone_count elements. out must not be
 * pose. */
void th_exact_palette(const th_model *model, const th_dmat34 *pose, th_dmat34 *out);

/* What layers play: local transforms of all joints, joint_count elements, and morph weights, weight_count elements.
 * masks: those that layers name. interpolation: as for th_exact_pose. count: at most TH_MAX_LAYERS. */
void th_exact_layers(const th_model *model, const th_layer *layers, uint32_t count, const th_mask *masks,
                     uint32_t mask_count, th_interpolation interpolation, th_dmat34 *out_local, double *out_weights);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
