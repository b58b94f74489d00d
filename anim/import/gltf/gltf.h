/* The glTF 2.0 reader (Khronos, glTF 2.0 Specification, 2021). Nodes and meshes become those of Assimp's aiScene, since
 * joints.c and meshes.c do the same with them whichever format they are of. Materials and animations, of which they
 * hold less than the file says, become those of the model at once. What other files use of it is in scene.h and
 * clips.h.
 *
 *    gltf_file.c        decides what is glTF 2.0; JSON, bytes, numbers
 *    gltf_nodes.c       the node tree, EXT_mesh_gpu_instancing
 *    gltf_meshes.c      primitives, morph targets, skins, normals; gltf_draco.cpp
 *    gltf_materials.c   materials, textures and images
 *    gltf_clips.c       animations
 * A file that breaks a rule that we rely on is given up, with a message that names the place. */
#ifndef TH_ANIM_IMPORT_GLTF_H
#define TH_ANIM_IMPORT_GLTF_H

#include "import/scene.h"

#include <jansson.h>

typedef struct gltf_bytes {
    const uint8_t *at;   /* NULL: not read yet */
    size_t size, stride; /* 0: elements are close together */
} gltf_bytes;

struct gltf {
    scene *s;
    const json_t *file;
    struct aiScene *ai;
    gltf_bytes chunk; /* the second one of a .glb file */
    gltf_bytes *buffers, *views;
    struct aiNode **node; /* by index in the file; NULL: neither the scene nor a skin or a clip has it */
    bool *morphed;        /* by index in the file: a clip moves the weights of its mesh */
    uint32_t shown;       /* joints from here on are not in the scene: their meshes are not drawn */
    th_trs *rest;         /* by joint */
    bool *has_rest;       /* by joint: the node has no matrix */
    uint32_t *drawing;    /* by joint: the node of the file whose mesh it draws; TH_NO_INDEX: it draws none */
};

/* ---- JSON ---- */

/* An index as a number of the JSON; TH_NO_INDEX if it is none. */
uint32_t gltf_index_of(const json_t *number);

/* A member that refers to an object by index; TH_NO_INDEX if missing. */
uint32_t gltf_index(const json_t *object, const char *member);

/* The object an index refers to, or NULL. */
const json_t *gltf_at(const json_t *list, uint32_t index);

/* A reference from `object` into one of the file's lists; TH_NO_INDEX if there is none. Gives up if it leads nowhere.
 */
uint32_t gltf_link(const gltf *g, const json_t *object, const char *member, const char *list, const char *what);

/* A number of bytes or elements; `otherwise` if it is missing. */
size_t gltf_size(const json_t *object, const char *member, size_t otherwise, const char *what);

const json_t *gltf_list(const gltf *g, const char *list);
const json_t *gltf_extension(const json_t *object, const char *name);

/* Whether a list of names has this one. */
bool gltf_names(const gltf *g, const char *list, const char *name);

/* Reads up to `count` numbers of a list; the others stay. */
void gltf_numbers(const json_t *list, double out[], size_t count);

/* Copies a string of the file, cut off if it is too long for Assimp's. */
struct aiString gltf_string(const char *text);

/* ---- bytes and numbers ---- */

gltf_bytes gltf_read_uri(gltf *g, const char *uri);
gltf_bytes gltf_read_view(gltf *g, uint32_t view, const char *what);

/* Kinds of numbers that an accessor may store where floats are meant. */
enum { GLTF_FLOAT = 1, GLTF_UNORM = 2, GLTF_SNORM = 4, GLTF_INTEGER = 8 };

/* How many elements an accessor has. */
size_t gltf_count(const gltf *g, uint32_t accessor, const char *what);

/* Reads all elements. kinds: what is allowed. *width: the numbers of an element, 0 for any; gets what it is. */
float *gltf_read_floats(gltf *g, uint32_t accessor, uint32_t kinds, uint32_t *width, const char *what);
uint32_t *gltf_read_integers(gltf *g, uint32_t accessor, uint32_t width, const char *what);

/* ---- parts of the scene, in this order ---- */

void gltf_build_nodes(gltf *g);
void gltf_build_meshes(gltf *g);

/* The joint of a node of the file that a skin or a clip refers to. */
uint32_t gltf_joint(const gltf *g, uint32_t node);

/* How far the length of its rotation is from 1. The matrix of another length scales as well. */
double gltf_excess(const th_trs *trs);

/* The texture coordinates that the base colour of a material uses. */
typedef struct gltf_uv {
    uint32_t set;
    double offset[2], scale[2], rotation; /* KHR_texture_transform */
} gltf_uv;

gltf_uv gltf_base_uv(const gltf *g, uint32_t material);

#endif
