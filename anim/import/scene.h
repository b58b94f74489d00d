/* A file on its way to th_model: declarations shared by the parts of throng-import.
 *
 * scene.c runs the parts in this order, and each fills its part of the model:
 *    gltf/          reads a glTF 2.0 file, see gltf/gltf.h. Assimp reads other formats
 *    fbx_*.c        what Assimp reads of FBX otherwise than its authors meant, see fbx.h
 *    collada_*.c    the same of Collada, see collada.h
 *    mend.c         files that Assimp would misread but for a few bytes
 *    joints.c       nodes and their names
 *    materials.c    materials and textures
 *    meshes.c       vertices, triangles, the bones that they use, morph targets and weights
 *    clips.c        channels and keys
 *    assimp_keys.c  keys and rates that Assimp gives otherwise than the file
 * All of them use
 *    names.c        clean, distinct names
 *    warnings.c     warnings about everything that was repaired or dropped
 * None of them returns an error: see importer.h. */
#ifndef TH_ANIM_IMPORT_SCENE_H
#define TH_ANIM_IMPORT_SCENE_H

#include "importer.h"
#include "warnings.h"

#include <anim/model.h>
#include <anim/transform.h>

#include <assimp/scene.h>
#include <stddef.h>

#define DEGREE  0.017453292519943295
#define LARGEST 1e18 /* numbers beyond it are taken for damage */

/* The file's nodes by joint index. */
typedef struct nodes {
    uint32_t count;
    const struct aiNode **node;
    const char **name; /* from read_name; may be empty or shared by several nodes */
    uint32_t *by_name; /* joints, sorted by that name */
    uint32_t *end;     /* by joint: one past the last joint of its subtree */
    th_dmat34 *rest;   /* scene_from_joint at rest */
} nodes;

/* The strings read so far (names.c), as trees of tsearch (search.h). */
typedef struct known_names {
    void *by_raw, *by_clean;
    uint32_t taken; /* how often a clean text was already used */
} known_names;

/* Bones in the order they are found; sorted by joint at the end. (meshes.c) */
typedef struct bone_list {
    uint32_t count, capacity;
    th_bone *bone;
    uint32_t *next;  /* the next bone of the same joint */
    uint32_t *first; /* by joint */
} bone_list;

/* The weights of a node: one for each morph target of its meshes. */
typedef struct weight_set {
    uint32_t first; /* index in the model, once meshes are read */
    uint32_t count;
    th_weight *weights;
    const struct fbx_shape **shapes; /* of FBX; NULL: another format */
} weight_set;

typedef struct gltf gltf;
struct fbx;
struct collada;
struct picture_source;

typedef struct scene {
    const struct aiScene *ai;
    const char *path;    /* of the model; with its folder */
    const char *refused; /* see assimp_files; may be NULL */
    bool is_searching;   /* the last name that Assimp tried is not there */
    th_model *model;
    known_names names;
    nodes nodes;
    bone_list bones;
    weight_set *weights;                    /* by joint */
    uint64_t delta_count;                   /* of all targets so far */
    struct picture_source *picture_sources; /* by texture (materials.c) */
    gltf *gltf;                             /* NULL: another format */
    struct fbx *fbx;                        /* NULL: another format */
    struct collada *collada;                /* NULL: another format */
    char *bytes;                            /* the file, as Assimp is given it; from malloc; FBX keeps it */
    size_t byte_count;
    const char **true_names; /* by joint, where Assimp has another; NULL: nowhere */
    warning_log warnings;
} scene;

/* Returns the finished, checked model. */
const th_model *read_scene(const char *path);

/* The second half of it: fills the model from what the readers of formats have begun. */
void finish_scene(scene *s);

/* Reads a glTF 2.0 file; returns false for other formats. (gltf/gltf_file.c) */
bool read_gltf(scene *s);

/* Returns a string of the file as clean UTF-8 without control characters. Two results are equal exactly if the file's
 * bytes are. */
const char *read_name(scene *s, const char *text);

/* The name of a mesh in warnings, or "#3" if it has none. */
const char *label_mesh(scene *s, uint32_t mesh);

/* Converts to three rows. Repairs what a node or bone cannot have, and counts it as a warning at `where`. Gives up if
 * it is not finite. */
th_mat34 read_matrix(scene *s, const struct aiMatrix4x4 *matrix, const char *where);

/* Whether Assimp read the file as a format whose name begins with `name`. The file extension does not matter. */
bool has_format(const scene *s, const char *name);

/* Sets rates and durations of clips right that Assimp gives otherwise than the file. (assimp_keys.c) */
void settle_rates(scene *s);

/* If the file is FBX, reads its objects. (fbx_objects.c) */
void read_fbx(scene *s);

/* If the file is Collada, reads its XML. (collada_file.c) */
void read_collada(scene *s);

/* If the file is BVH, gives Assimp 5.2.5 what it can read of it. (mend.c) */
void mend_bvh(scene *s);

/* The same of MD5's clips, which may be another file. Returns bytes from malloc. */
char *mend_md5(const char *bytes, size_t *size);

/* Gives the nodes of an FBX scene the transforms of their models, in metres. (fbx_nodes.c) */
void settle_fbx_nodes(scene *s);

/* Rotates an FBX scene to Y up and scales its meshes to metres. (fbx_space.c) */
void settle_fbx_space(scene *s);

/* Warns about features of an FBX file that are not supported. (fbx_objects.c) */
void say_fbx_limits(scene *s);

void read_joints(scene *s);
void read_materials(scene *s);
void read_meshes(scene *s);
void read_clips(scene *s);

/* For a glTF file: the weight of a target, by index, that the node of a mesh has. (gltf/gltf_meshes.c) */
float find_gltf_weight(const scene *s, uint32_t joint, uint32_t index, float otherwise);

/* Whether two nodes that draw the mesh have the same weights at all times. */
bool share_gltf_weights(const scene *s, const struct aiMesh *mesh, uint32_t a, uint32_t b);

/* For an FBX file: what each target of a mesh is, or NULL, and its weight at rest. (fbx_nodes.c) */
const struct fbx_shape **find_fbx_shapes(const scene *s, uint32_t joint, const struct aiMesh *mesh);
float find_fbx_weight(const struct fbx_shape *shape, float otherwise);

/* For an FBX file: gives its joints the names of the file, where Assimp had others. (fbx_nodes.c) */
const char *find_fbx_name(const scene *s, const struct aiNode *node);

/* The parts of a node's transform, where the file states them; else NULL. (gltf/gltf_nodes.c, fbx_nodes.c) */
const th_trs *find_gltf_rest(const scene *s, uint32_t joint);
const th_trs *find_fbx_rest(const scene *s, const struct aiNode *node);

/* Gives unique names to joints that bones, weights or channels refer to. Runs last. */
void make_joint_names_unique(scene *s);

/* ---- references by name ---- */

/* Assimp's bones and channels refer to nodes by name, and names need not be unique. Those of glTF need no such
 * search. */
typedef struct reference {
    const char *name;
    const th_mat34 *inverse_bind; /* of a bone; NULL for a channel */
    uint32_t joint;               /* set by resolve_references(); TH_NO_INDEX: no node has the name */
} reference;

/* Resolves all references of one mesh or one clip together, because those with a unique name show which skeleton is
 * meant. whose: for messages. Gives up if a reference stays ambiguous. */
void resolve_references(scene *s, reference *references, uint32_t count, const char *whose);

#endif
