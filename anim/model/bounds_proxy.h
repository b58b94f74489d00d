/* What bounds.c, motion.c and the feet of behaviours examine: a proxy of the model in the poses of a clip. Private to
 * anim. */
#ifndef TH_ANIM_MODEL_BOUNDS_PROXY_H
#define TH_ANIM_MODEL_BOUNDS_PROXY_H

#include <anim/bounds.h>
#include <core/arena.h>

/* Moments of a clip, in ticks. Odd indices are midpoints of their neighbours; the last index is even. */
typedef struct th_moments {
    double *ticks;
    uint32_t count;
} th_moments;

/* Divides each interval between keys into the same even number of parts, or the clip into equal ones. One moment for
 * the rest pose (NULL). clip_count: clips that share the budget. Returns false if out of memory. Free the ticks in
 * either case. */
bool th_moments_init(th_moments *moments, const th_model *model, const th_clip *clip, uint32_t clip_count);

int th_compare_doubles(const void *a, const void *b); /* for qsort */

/* What a weight of 1 does to a sphere, in joint space. */
typedef struct th_bounds_morph {
    uint32_t sphere, weight;
    double farthest; /* move of a vertex */
    double growth;   /* of the radius, if no other weight moves anything; not below 0 */
} th_bounds_morph;

/* A model in a pose: spheres attached to joints that contain all vertices. A model without vertices has its joints,
 * with radius 0. */
typedef struct th_bounds_proxy {
    const th_model *model;
    th_interpolation interpolation;
    th_arena *arena; /* owns the arrays */
    uint32_t sphere_count;
    uint32_t *joint;          /* by sphere */
    th_bounds_sphere *sphere; /* in joint space */
    size_t vertex_count;
    th_dmat34 *pose, *palette;
    size_t morph_count;
    th_bounds_morph *morph; /* by sphere, then by weight */
    double *weights;        /* NULL: no target moves a vertex */
    double (*positions)[3]; /* of all vertices, moved by targets; NULL: as the meshes have them */
} th_bounds_proxy;

/* Returns false if out of memory. Call th_bounds_proxy_fini in either case. */
bool th_bounds_proxy_init(th_bounds_proxy *b, const th_model *model, th_interpolation interpolation);
void th_bounds_proxy_fini(th_bounds_proxy *b);

void th_bounds_proxy_pose(th_bounds_proxy *b, const th_clip *clip, double ticks);

/* Points that may touch the ground: vertices, or joints if there are none. */
typedef struct th_ground_contact {
    const th_vertex *vertex; /* NULL: a joint */
    size_t index;            /* of the vertex, among all */
    uint32_t joint;
    double lowest; /* height, of all moments; infinite before th_ground_contacts_measure */
} th_ground_contact;

/* Neighbouring points, of which all may be too high to look at. */
typedef struct th_ground_block {
    double middle[3], half[3];       /* their box, in mesh space */
    uint32_t first_bone, bone_count; /* the bones they follow, in th_ground_contacts.bones */
} th_ground_block;

typedef struct th_ground_contacts {
    th_arena *arena; /* owns the arrays */
    th_ground_contact *point;
    size_t count;
    th_ground_block *block; /* of TH_GROUND_BLOCK points each, as th_ground_contacts_init lists them */
    uint32_t *bones;
    double ground; /* the lowest point of all moments; infinite if there are no points */
    double usual;  /* median over the moments of the lowest point */
} th_ground_contacts;

enum { TH_GROUND_BLOCK = 64 };

/* Lists the points and runs through the moments of a clip. Returns false if out of memory. Call th_ground_contacts_fini
 * in either case. */
bool th_ground_contacts_init(th_ground_contacts *s, th_bounds_proxy *b, const th_clip *clip, const th_moments *moments);
void th_ground_contacts_fini(th_ground_contacts *s);

/* Runs through the moments again and finds the lowest height of each point that gets below `reach`. That of the others
 * is any height from `reach` on. */
void th_ground_contacts_measure(th_ground_contacts *s, th_bounds_proxy *b, const th_clip *clip,
                                const th_moments *moments, double reach);

/* Position of the point in the proxy's current pose. */
void th_ground_contact_position(const th_bounds_proxy *b, const th_ground_contact *point, double out[3]);

#endif
