/* A render mesh: the data that a GPU needs to draw a model's meshes with bone palettes. Plain data, no GL.
 *
 * Immutable once created: share it between threads. It keeps no pointer to the model, which may be freed. A mesh of a
 * joint level (joint_lod.h) has the images of its model's own mesh. All pointers are valid until
 * th_render_mesh_destroy; an array is NULL when its count is 0. The same model gives the same bytes.
 *
 * There are two spaces. Positions stay in mesh space, in which the mesh was bound to the skeleton. Palette entry b of
 * an instance maps mesh space to scene space: scene_position = sum of weight[k] * palette[bone[k]] * position. Meshes
 * that share no bone may lie in different mesh spaces. Morph targets move positions in mesh space, before bones do. */
#ifndef THRONG_RENDER_RENDER_MESH_H
#define THRONG_RENDER_RENDER_MESH_H

#include <anim/model.h>
#include <throng/render.h>

/* Limits. A model with more indices is rejected. An image that is larger is left out, with a warning. */
#define TH_RENDER_MESH_MAX_INDICES     (1u << 30)           /* all meshes together */
#define TH_RENDER_MESH_MAX_IMAGE_SIDE  16384u               /* pixels */
#define TH_RENDER_MESH_MAX_IMAGE_BYTES ((size_t)256 << 20)  /* one image as RGBA8 */
#define TH_RENDER_MESH_MAX_IMAGES      ((size_t)1024 << 20) /* all images together, bytes */

/* 56 bytes without padding. In brackets: the GL attribute format. The GPU gets 36 of them, with four influences, if the
 * render mesh has no deltas and no more than four influences. */
typedef struct th_render_mesh_vertex {
    float position[3];
    uint32_t normal;  /* mesh space, unit length; x in the lowest bits [GL_INT_2_10_10_10_REV, normalized] */
    uint16_t uv[2];   /* origin at the top left of the image; the image repeats [GL_HALF_FLOAT] */
    uint8_t color[4]; /* linear RGBA, or with appearances as anim/appearance.h has it [GL_UNSIGNED_BYTE, normalized] */
    uint16_t bone[TH_MAX_INFLUENCES];  /* palette entries; repeats bone[0] where the weight is 0 [GL_UNSIGNED_SHORT,
                                          integer] */
    uint8_t weight[TH_MAX_INFLUENCES]; /* descending, sum exactly 255 [GL_UNSIGNED_BYTE, normalized] */
    uint32_t
        deltas[2]; /* of morph targets: the first in th_render_mesh.deltas, and how many [GL_UNSIGNED_INT, integer] */
} th_render_mesh_vertex;

/* What a weight adds to a vertex where it is 1; two texels of GL_RGBA32F. Vertices may share deltas. */
typedef struct th_render_mesh_delta {
    float position[3];
    float weight; /* index into th_model.weights, a whole number */
    float normal[3];
    float unused; /* 0 */
} th_render_mesh_delta;

typedef struct th_render_mesh_lod {
    uint32_t first_index; /* into th_render_mesh.indices */
    uint32_t index_count; /* triangles, counter-clockwise from outside; may be 0 in a coarse level */
    float error;          /* see th_render_mesh.lod_error */
} th_render_mesh_lod;

/* The side of triangles that is not drawn. */
typedef enum th_culling {
    TH_CULL_NONE = 0, /* double-sided, or mirrored now and then */
    TH_CULL_BACK,
    TH_CULL_FRONT, /* mirrored: what is seen from outside are the backs */
} th_culling;

/* A mesh of the model that has triangles. */
typedef struct th_render_mesh_part {
    const char *name;
    uint32_t mesh; /* index into th_model.meshes */
    uint32_t material;
    th_culling culling;
    uint32_t base_vertex;  /* added to each index of the part */
    uint32_t vertex_count; /* vertices of coarse levels come first; some of them differ from a vertex of level 0 only by
                              the normal */
    th_render_mesh_lod lods[TH_RENDER_MESH_LODS]; /* [th_render_mesh.lod_count] a level that is no coarser repeats the
                                                     range before it */
} th_render_mesh_part;

typedef struct th_render_mesh_material {
    float base_color[4]; /* linear RGBA; multiplied by the image if there is one */
    uint32_t image;      /* index into th_render_mesh.images, or TH_NO_INDEX */
    th_alpha alpha;      /* these three as th_material has them */
    float alpha_cutoff;
    float emissive[3];
} th_render_mesh_material;

typedef struct th_render_mesh_image {
    uint32_t width, height;
    const uint8_t *rgba; /* top row first; colours as in the file (sRGB), alpha linear */
    const char *name;    /* of the texture */
    th_sampler sampler;
} th_render_mesh_image;

/* Bounding sphere of the vertices of one palette entry, in mesh space and without morph targets. In any pose a vertex
 * lies within the convex hull of the spheres of its bones, each moved by its own palette entry. So boxes around all
 * moved spheres bound the mesh.
 */
typedef struct th_render_mesh_bone {
    float center[3]; /* the joint's position in the bind pose; a vertex if inverse_bind is not invertible */
    float radius;    /* distance of the farthest weighted vertex; -1: no vertex, nothing to bound */
} th_render_mesh_bone;

typedef struct th_render_mesh_line_end {
    float position[3]; /* of a joint in mesh space; palette[bone] maps it to the scene */
    uint32_t bone;
} th_render_mesh_line_end;

typedef struct th_render_mesh {
    uint32_t part_count;
    const th_render_mesh_part *parts;
    uint32_t vertex_count;
    const th_render_mesh_vertex *vertices;
    uint32_t index_count;
    const uint32_t *indices;
    uint32_t delta_count;
    const th_render_mesh_delta *deltas;
    uint32_t
        influences; /* of level 0, the most of a vertex: 4 or 8. Other levels use the first four, scaled to sum 1 */

    /* Levels of detail. Level 0 is the mesh itself. The others have a half, a quarter and so on down to a 128th of its
     * triangles. A level has the next of these as soon as its limit (th_render_mesh_lod_limit) allows; otherwise it
     * repeats the level before. Beyond lod_count they would repeat the last one. Parts drawn at the same level have no
     * gaps between them that level 0 does not have. Small surfaces, such as eyes, are left out of coarse levels.
     *
     * The error is the largest distance of a vertex from the level's surface, in scene units, over three poses without
     * morph targets: at rest, and with every joint turned by +30 and by -30 degrees about its own (1, 1, 1). It never
     * decreases from level to level. In clips up to 2.6 times as much was measured. th_render_mesh.lod_error covers all
     * parts; th_render_mesh_lod.error covers the parts that share bones with this one. */
    uint32_t lod_count; /* at least 1 */
    float lod_error[TH_RENDER_MESH_LODS];

    uint32_t material_count; /* as in the model */
    const th_render_mesh_material *materials;
    uint32_t image_count;
    const th_render_mesh_image *images;
    const struct th_render_mesh *base; /* whose images these are; NULL: its own */
    th_appearances appearances;        /* as in the model */
    uint32_t bone_count, weight_count; /* of a palette, as in the model */
    const th_render_mesh_bone *bones;
    uint32_t line_end_count; /* two per line of the skeleton: a joint, and its nearest ancestor with a bone */
    const th_render_mesh_line_end *line_ends;
    uint32_t warning_count;
    const char *const *warnings; /* what is not drawn as the file says, beyond the model's; one sentence each. A joint
                                    level has none */
    double size;                 /* th_model.size */
} th_render_mesh;

/* The largest error of a level, as a part of the model's size: two levels double it. For meshes that share no bone with
 * others it is also at most five times this part of their own extent. */
double th_render_mesh_lod_limit(uint32_t lod);

/* base: NULL, or the mesh of the model that this one is a joint level of; it must outlive the result, which has its
 * images. The model must have passed th_model_check. TH_ERR_LIMIT: too many indices. TH_ERR_MEMORY; but meshoptimizer
 * ends the program when it runs out of memory. A texture that cannot be decoded gives a warning, not an error. Takes
 * about 10 s for a million triangles. */
th_result th_render_mesh_create(const th_model *model, const th_render_mesh *base, th_render_mesh **out, th_error *err);

/* Materials, images and warnings alone. Takes as long as decoding the images. */
th_result th_render_mesh_create_materials(const th_model *model, th_render_mesh **out, th_error *err);

void th_render_mesh_destroy(th_render_mesh *render_mesh);

#endif
