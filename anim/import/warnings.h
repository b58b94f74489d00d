/* All warnings of throng-import. The model gets one warning per kind, with the number of occurrences and the place of
 * the first.
 *
 * In the texts, [one|many] selects by the count. */
#ifndef TH_ANIM_IMPORT_WARNINGS_H
#define TH_ANIM_IMPORT_WARNINGS_H

#include <stdint.h>

#define WARNINGS(X)                                                                                                    \
    /* the scene */                                                                                                    \
    X(UNIT, "[scene is|scenes are] in other units than metres and [was|were] scaled to metres")                        \
    X(UNIT_UNKNOWN, "[scene does|scenes do] not say what [its|their] unit is; centimetres are assumed")                \
    X(AXES, "[scene has|scenes have] other axes than Y up, Z to the front, and [was|were] turned")                     \
    X(AXES_UNKNOWN, "[scene names|scenes name] one axis twice or one that there is not; Y up is assumed")              \
    X(SKIN_DUAL, "[skin is|skins are] blended by dual quaternions in the file, here by matrices")                      \
    X(EXTENSION_IGNORED, "glTF extension[ is|s are] required but not read, which may show")                            \
    X(FILE_OUTSIDE,                                                                                                    \
      "[file lies|files lie] outside the model's folder and [was|were] not read (--allow-outside reads [it|them])")    \
    X(OPENGEX,                                                                                                         \
      "[OpenGEX file is|OpenGEX files are] read without axes, materials, and all but one list of triangles a mesh")    \
    X(VERTEX_FRAME, "[frame|frames] of moved vertices [is|are] not read")                                              \
    /* nodes */                                                                                                        \
    X(NODE_UNNAMED, "[node has|nodes have] no name and got a made-up one")                                             \
    X(NODE_RENAMED, "[joint shares its|joints share their] name with another and got a number behind it")              \
    X(MATRIX_PROJECTIVE, "[matrix has|matrices have] a projective part, which was dropped")                            \
    X(TEXT_BROKEN,                                                                                                     \
      "[name is|names are] not UTF-8 or [has|have] control characters; read as Latin-1, controls written as \\x01")    \
    X(NODE_ROTATION,                                                                                                   \
      "[node has a rotation that is|nodes have rotations that are] not of unit length, which [scales|scale] too")      \
    /* meshes */                                                                                                       \
    X(MESH_UNUSED, "[mesh is|meshes are] used by no node of the scene and [was|were] left out")                        \
    X(MESH_EMPTY, "[mesh has|meshes have] no triangles and [was|were] left out")                                       \
    X(MESH_NO_NORMALS, "[mesh has|meshes have] no normals; smooth ones were computed")                                 \
    X(MORPH_NOT_FINITE,                                                                                                \
      "[move or weight of a morph target is|moves or weights of morph targets are] not finite and became 0")           \
    X(MORPH_PLACES, "[morph channel does|morph channels do] not say how [its|their] shapes are mixed; each is alone")  \
    X(MORPH_MANY, "[mesh has|meshes have] more morph targets than fit, which were left out")                           \
    X(MORPH_CONTROLLER, "[mesh has|meshes have] morph targets in Collada's morph controllers, which are not read")     \
    X(MESH_BONES, "[mesh was|meshes were] made up from the bones, as the file has none")                               \
    X(FACE_DROPPED, "[point or line was|points or lines were] left out")                                               \
    X(TRIANGLE_DROPPED,                                                                                                \
      "[triangle uses|triangles use] vertices that do not exist or are not finite and [was|were] dropped")             \
    X(WINDING,                                                                                                         \
      "[mesh has|meshes have] triangles that turn their backs to where their normals point and [was|were] turned")     \
    X(NORMAL_MISSING, "[normal is|normals are] zero or not finite and became straight up")                             \
    X(UV_NOT_FINITE, "texture coordinate[ is| pairs are] not finite and became 0")                                     \
    X(BONE_LOST, "[bone names|bones name] a node that the scene does not have and [was|were] left out")                \
    X(BIND_INVERSE,                                                                                                    \
      "[joint has|joints have] a rest transform without inverse; the identity is [its|their] bind matrix")             \
    X(WEIGHT_DROPPED,                                                                                                  \
      "[weight is|weights are] negative, not finite or [aims|aim] at no vertex and [was|were] dropped")                \
    X(WEIGHTS_MANY, "[vertex has|vertices have] more than 8 weights; the largest 8 were kept")                         \
    X(WEIGHTS_SUM, "[vertex has|vertices have] weights that do not sum to 1; they were scaled")                        \
    X(WEIGHTS_NONE,                                                                                                    \
      "[vertex of a skinned mesh has|vertices of skinned meshes have] no weights and follow[s|] the mesh's node")      \
    X(SKIN_REPEATED, "skinned mesh[ is|es are] used by several nodes in one shape; drawn once")                        \
    /* materials */                                                                                                    \
    X(COLOR_NOT_FINITE, "[colour is|colours are] not finite and became white")                                         \
    X(OPACITY_ZERO, "[material says|materials say] that [it is|they are] invisible and became opaque")                 \
    X(OPACITY_TEXTURE, "[material has its|materials have their] opacity in a texture of its own, which is left out")   \
    X(EMISSIVE_TEXTURE, "[material has|materials have] light of [its|their] own in a texture, which is left out")      \
    X(TEXTURE_MISSING, "[texture was|textures were] not found and [is|are] drawn as a plain colour")                   \
    X(TEXTURE_MOVED, "[texture is|textures are] moved, scaled or turned by [its|their] material, which is left out")   \
    X(TEXTURE_ENDS, "[texture ends|textures end] at [its|their] edges in the file, here the edge goes on")             \
    X(TEXTURE_CLAMPED, "[texture is|textures are] clamped at [its|their] edges in the file, here repeated")            \
    X(SAMPLER, "number[ of a sampler is none|s of samplers are none] that the format knows; the default is used")      \
    X(ALPHA_MODE, "[material has|materials have] an alphaMode that the format does not know and became opaque")        \
    X(TEXTURE_OUTSIDE, "[texture lies|textures lie] outside the model's folder; only the file name was tried")         \
    X(TEXTURE_LARGE, "[texture is|textures are] too large and [was|were] left out")                                    \
    /* clips */                                                                                                        \
    X(CLIP_UNNAMED, "[clip has|clips have] no name and got a made-up one")                                             \
    X(CLIP_RENAMED, "[clip shares its|clips share their] name with another and got a number behind it")                \
    X(CLIP_EMPTY, "[clip moves|clips move] no node and [was|were] left out")                                           \
    X(CLIPS_STRAIGHT, "[clip|clips] of a packed Collada file [is|are] played straight from key to key")                \
    X(CLIP_PART, "[clip names|clips name] an animation that the file does not have")                                   \
    X(CHANNEL_CLIPLESS, "[channel is|channels are] of animations that no clip names and [was|were] left out")          \
    X(CLIP_SHEARED, "[node is|nodes are] sheared by a clip, which is lost")                                            \
    X(CURVE_STRAIGHT, "[animation curve bends|animation curves bend] in a way that is not read and [goes|go] "         \
                      "straight from key to key")                                                                      \
    X(CURVE_CUT, "[node moves|nodes move] between keys in a way that straight lines do not follow closely enough")     \
    X(CURVE_BEYOND,                                                                                                    \
      "[animation curve goes|animation curves go] on beyond [its|their] keys in the file, here [it holds|they hold]")  \
    X(CURVE_DAMAGED, "[animation curve is|animation curves are] damaged and [was|were] left out")                      \
    X(CLIP_RATE, "[clip does|clips do] not say how many ticks make a second; 25 are assumed")                          \
    X(CLIP_DURATION, "[clip's duration does|clips' durations do] not fit the keys; the last key's time is used")       \
    X(CLIP_EARLY,                                                                                                      \
      "[clip has|clips have] keys before time 0, where [it begins|they begin]; what lies before is not played")        \
    X(CHANNEL_MORPHS,                                                                                                  \
      "[channel does|channels do] not fit the morph targets of [its node|their nodes] and [was|were] left out")        \
    X(CHANNEL_HIDDEN, "[channel morphs|channels morph] a mesh that the scene does not show and [was|were] left out")   \
    X(INTERPOLATION, "[channel names|channels name] an interpolation that the format does not know; played as LINEAR") \
    X(CHANNEL_UNAIMED, "[channel names|channels name] no node or nothing to move and [was|were] left out")             \
    X(CHANNEL_PLACE,                                                                                                   \
      "position channel[ is|s are] not read, because [its joint has|their joints have] other than six channels")       \
    X(CHANNEL_LOOKAT, "[channel moves|channels move] a node with a lookat, which stays as at rest")                    \
    X(CHANNEL_KEYLESS, "[channel has|channels have] no keys, or fewer than times, and [was|were] left out")            \
    X(KEYS_MANY, "[channel has|channels have] more keys than times; the last keys were left out")                      \
    X(CHANNEL_REPLACED, "[channel moves|channels move] what a later one moves and [was|were] left out")                \
    X(CHANNEL_LOST,                                                                                                    \
      "[channel aims at a node|channels aim at nodes] that the scene does not have and [was|were] left out")           \
    X(CHANNEL_REPEATED, "[channel aims|channels aim] at a node that has one already and [was|were] left out")          \
    X(REST_SHEARED, "[channel stands|channels stand] in for a rest transform with shear, which is lost")               \
    X(KEY_NOT_FINITE, "[key is|keys are] not finite and [was|were] dropped")                                           \
    X(KEY_UNSORTED, "[key is|keys are] out of order in time; they were sorted")                                        \
    X(TANGENT_NOT_FINITE, "[tangent is|tangents are] not finite and became 0")                                         \
    X(ROTATION_LENGTH, "[rotation key is|rotation keys are] not of unit length and [was|were] normalised")             \
    X(CLIP_RATE_X,                                                                                                     \
      "[clip does|clips do] not say how many ticks make a second; 4,800 are assumed, as keys are 25 or more apart")    \
    X(ROTATION_GUESSED,                                                                                                \
      "[rotation key is|rotation keys are] not given in full by Assimp; the likelier, that before or at rest holds")   \
    X(ROTATION_ZERO, "[rotation key is|rotation keys are] zero; the nearest good one before holds")

typedef enum warning_kind {
#define WARN_ENUM(name, text) WARN_##name,
    WARNINGS(WARN_ENUM)
#undef WARN_ENUM
        WARN_COUNT
} warning_kind;

#define HEARD_MOST 12 /* sentences of Assimp's log that are kept, once each */

typedef struct warning_log {
    struct {
        uint64_t count;
        char first[160];
    } kind[WARN_COUNT], heard[HEARD_MOST];
    uint64_t unheard; /* others */
} warning_log;

struct scene;

/* Adds `count`, which may be 0, to a kind of warning. Keeps the place of the first. */
__attribute__((format(printf, 4, 5))) void warn(struct scene *s, warning_kind kind, uint64_t count, const char *where,
                                                ...);

/* Adds a message of Assimp's log, if it is a warning or an error and says something about what is drawn. */
void hear(struct scene *s, const char *message);

/* Writes the counted warnings into the model. */
void write_warnings(struct scene *s);

#endif
