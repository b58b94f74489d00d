/* One file on its way from Assimp's aiScene to our th_model: what the parts of throng-import share.
 *
 * read_scene.c runs the parts in this order, and each fills its share of the model:
 *   mdl.c, fbx_pivots.c, fbx_space.c
 *                put the nodes of these formats in order
 *   joints.c     nodes and their names
 *   materials.c  materials and textures
 *   meshes.c     vertices, triangles, and the bones (bones.c) they ask for
 *   gltf.c       what Assimp leaves out of glTF files or misreads, with the help of gltf_json.c, gltf_validate.c,
 *                gltf_skins.c and gltf_patch.c, and the keys of splines with that of gltf_accessor.c and gltf_buffer.c
 *   clips.c      channels and keys
 * All of them use
 *   names.c      names, clean and distinct
 *   warnings.c   notes on all that was not as it should be
 * None of them returns an error: see ipc.h. */
#ifndef TH_ANIM_IMPORT_SCENE_H
#define TH_ANIM_IMPORT_SCENE_H

#include "warnings.h"

#include <throng/anim/model.h>
#include <throng/anim/transform.h>

#include <assimp/scene.h>
#include <stddef.h>

/* The file's nodes by joint index. */
typedef struct nodes {
    uint32_t count;
    const struct aiNode **node;
    const char **name; /* as read_name has it: may be empty or held by several nodes */
    uint32_t *by_name; /* joints, sorted by that name */
    uint32_t *end;     /* one behind the last joint of the subtree */
    th_dmat34 *rest;   /* scene_from_joint at rest */
} nodes;

/* The texts read so far (names.c), as the trees of search.h. */
typedef struct known_names {
    void *by_raw, *by_clean;
    uint32_t taken; /* how often a clean text was given away already */
} known_names;

/* Palette entries as they are found; sorted by joint at the end. */
typedef struct bone_list {
    uint32_t count, capacity;
    th_bone *bone;
    uint32_t *next;  /* another bind of the same joint */
    uint32_t *first; /* by joint */
} bone_list;

/* What a glTF file says about the keys of one joint in one clip (gltf.c). Parts are TH_TRANSLATION and so on. */
typedef struct authorship {
    uint32_t moved;          /* parts that have keys in the file; Assimp makes up the others */
    uint32_t steps, splines; /* parts whose keys hold until the next one, or are joined by curves; others: straight */
    bool has_rest;           /* the node has no matrix: */
    th_trs rest;             /* as the node splits it */
} authorship;

typedef struct gltf gltf;
struct json_t;
struct fbx_record;

typedef struct scene {
    const struct aiScene *ai;
    const char *path;
    th_model *model;
    known_names names;
    nodes nodes;
    bone_list bones;
    struct json_t *json;          /* of a file that may be glTF; NULL: it is not, or cannot be read */
    gltf *gltf;                   /* NULL: another format, or one that could not be made out */
    const struct fbx_record *fbx; /* the file as it is stored; NULL: another format */
    warning_log warnings;
} scene;

/* The finished model, checked. (read_scene.c) */
const th_model *read_scene(const char *path);

/* What Assimp makes of the file; NULL and Assimp's error where that is nothing. (gltf.c) */
const struct aiScene *import_file(scene *s);

/* Zeroed memory that lives as long as the model. */
#define make(s, type, count) ((type *)make_array((s), (count), sizeof(type)))
void *make_array(scene *s, size_t count, size_t size);
__attribute__((format(printf, 2, 3))) const char *make_string(scene *s, const char *format, ...);

/* A text of the file's as clean UTF-8 without control characters. Equal exactly when the file's bytes are equal. */
const char *read_name(scene *s, const struct aiString *text);

/* What notes call a mesh: its name, or "#3" when it has none. */
const char *label_mesh(scene *s, uint32_t mesh);

/* The upper three rows. Anything a node or bone cannot have is repaired and counted as `where`'s. */
th_mat34 read_matrix(scene *s, const struct aiMatrix4x4 *matrix, const char *where);

/* Whether Assimp read the file as a format whose name begins so, whatever the file is called. */
bool has_format(const scene *s, const char *name);

/* Where Assimp lists the bones of a skeleton side by side, hangs each from its parent. (mdl.c) */
void reparent_mdl_bones(scene *s);

/* Reads an FBX file a second time, for what Assimp leaves out. (fbx_limits.c) */
void read_fbx(scene *s);

/* Makes one node of each chain of nodes that Assimp makes of an FBX node. (fbx_pivots.c) */
void join_fbx_pivots(scene *s);

/* Turns an FBX scene upright, and scales it to metres. (fbx_space.c) */
void settle_fbx_space(scene *s);

/* Notes what Assimp leaves out of an FBX file. (fbx_limits.c) */
void say_fbx_limits(scene *s);

void read_joints(scene *s);
void read_materials(scene *s);
void read_meshes(scene *s);
void read_gltf(scene *s);
void read_clips(scene *s);

/* False, and *out is not to be looked at, when nothing is known. */
bool find_authorship(const scene *s, uint32_t clip, uint32_t joint, authorship *out);

/* The numbers behind a part that find_authorship counts among the splines: for each of the track's keys the tangent
 * that leads to it, its value, and the tangent that leads away, 4 floats each for rotations, else 3; changes per
 * second. From malloc. Gives up, naming `where`, when the file does not have them. */
float *read_spline(const scene *s, uint32_t clip, uint32_t joint, uint32_t part, uint32_t key_count, const char *where);

/* Gives names of their own to joints that bones or channels refer to. Last of all. */
void make_joint_names_unique(scene *s);

/* ---- references by name ---- */

/* Assimp's bones and channels name the node they mean, and names need not be unique. */
typedef struct reference {
    const char *name;
    const th_mat34 *inverse_bind; /* of a bone; NULL for a channel */
    uint32_t joint;               /* found by resolve_references(); TH_NO_INDEX when no node has the name */
} reference;

/* All references of one mesh or one clip (`whose`, for messages), because they throw light on each other: those with a
 * unique name show which skeleton is meant. Gives up when it stays unclear. */
void resolve_references(scene *s, reference *references, uint32_t count, const char *whose);

/* ---- bones ---- */

void begin_bones(scene *s);

/* Index of this joint and matrix among the bones, new or known. Preliminary until finish_bones. */
uint16_t find_bone(scene *s, uint32_t joint, th_mat34 inverse_bind);

/* Sorts the bones by joint and makes them the model's. Returns the final index of each preliminary one. */
const uint16_t *finish_bones(scene *s);

/* For a file without any mesh: every joint gets a bind, so that its palette can be looked at all the same. */
void add_bone_for_each_joint(scene *s);

#endif
