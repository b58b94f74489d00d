/* FBX beside Assimp, which reads its meshes, skins and materials. Nodes and clips are read from the records of the
 * file: Assimp 5.2.5 drops layers, tangents, extrapolation and inherited scale, and makes joints of pivots.
 *
 *    fbx_records.c   the file as stored
 *    fbx_objects.c   its objects, their properties and connections; what Assimp is given
 *    fbx_curves.c    a number over the time of a clip
 *    fbx_nodes.c     the transforms of nodes
 *    fbx_clips.c     clips
 *    fbx_space.c     units and axes */
#ifndef TH_IMPORT_FBX_H
#define TH_IMPORT_FBX_H

#include "fbx_records.h"

typedef enum fbx_kind {
    FBX_OTHER,
    FBX_MODEL,
    FBX_CURVE,
    FBX_CURVE_NODE, /* the curves of one property */
    FBX_LAYER,
    FBX_STACK,         /* a clip */
    FBX_SHAPE_CHANNEL, /* a number that leads through morph targets */
    FBX_KIND_COUNT
} fbx_kind;

typedef struct fbx_object fbx_object;

/* `from` belongs to `to`, or to a property of it. */
typedef struct fbx_link {
    fbx_object *from, *to;
    const fbx_record *record; /* its fourth value names the property */
    uint32_t order;           /* in the file */
} fbx_link;

typedef struct fbx_links {
    const fbx_link *first, *end;
} fbx_links;

struct fbx_object {
    int64_t id;
    const fbx_record *record;
    fbx_kind kind;
    const char *name;  /* as in the file, without its class */
    const char *known; /* model: how Assimp calls it */
    uint32_t used;     /* model: how many nodes are of it */
};

/* What is known of the scale that a node passes on. */
typedef enum fbx_scale {
    FBX_SCALE_ONE,
    FBX_SCALE_EVEN,
    FBX_SCALE_ANY
} fbx_scale; /* EVEN: the same always and in x, y, z */

/* A node of Assimp's tree that is a model's: all of it, or its part if it is two (curves.h). */
typedef struct fbx_node {
    const struct aiNode *node;
    const fbx_object *model;
    th_transform_curves rest;
    const struct fbx_node *scaled_by, *scale_from; /* whose transforms rest.scaled_by and rest.scale_from are */
    fbx_scale scale;
} fbx_node;

/* A morph target of a node's mesh. */
typedef struct fbx_shape {
    const fbx_object *channel;
    th_weight_curves rest;
} fbx_shape;

typedef struct fbx {
    scene *s;
    const fbx_record *root;
    uint32_t object_count, link_count, stack_count, node_count;
    fbx_object *objects;                         /* by id */
    fbx_link *into, *out_of;                     /* by the object at that end, then as in the file */
    const fbx_object **stacks;                   /* as in the file */
    const fbx_record *templates[FBX_KIND_COUNT]; /* default properties of a kind */
    fbx_object settings;                         /* of the whole file */
    fbx_node *nodes;                             /* parents before children */
    const fbx_node **by_node;                    /* the same by the node of Assimp's */
    double version;                              /* 7400: 7.4 */
    double metres;                               /* in a unit of length */
    double ticks_per_second, frames_per_second;  /* of stored times; of clips */
} fbx;

/* ---- objects ---- */

/* What the models of the scene belong to. */
const fbx_object *fbx_root(const fbx *f);

/* The links that lead to an object, or from it; as in the file. */
fbx_links fbx_into(const fbx *f, const fbx_object *object);
fbx_links fbx_out_of(const fbx *f, const fbx_object *object);

/* Whether the link is to this property. */
bool is_fbx_link_to(const fbx_link *link, const char *property);

/* A property of an object, or of its kind. fbx_vector reads three numbers. */
double fbx_property(const fbx *f, const fbx_object *object, const char *name, double otherwise);
void fbx_vector(const fbx *f, const fbx_object *object, const char *name, double otherwise, double out[3]);

/* ---- curves ---- */

/* The time of a clip, in seconds of the file. */
typedef struct fbx_span {
    double begin, end;
} fbx_span;

/* Reads a curve over a span; `scale` multiplies its values. object: NULL, or without keys: a curve of one key, `still`.
 */
th_curve read_fbx_curve(const fbx *f, const fbx_object *object, fbx_span span, double scale, double still);

/* Whether the curve has one value. */
bool is_still(const th_curve *curve);

/* ---- nodes ---- */

/* Metres in the file's unit of length. (fbx_space.c) */
double read_fbx_unit(const fbx *f);

/* NULL: not one of these. */
const fbx_node *find_fbx_node(const fbx *f, const struct aiNode *node);

#endif
