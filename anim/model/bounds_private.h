/* What bounds.c and root_motion.c share: the moments of a clip to look at, and what is looked at. Private to anim. */
#ifndef TH_ANIM_MODEL_BOUNDS_PRIVATE_H
#define TH_ANIM_MODEL_BOUNDS_PRIVATE_H

#include <throng/anim/bounds.h>

/* Moments of a clip, in ticks. Those of odd index lie in the middle between their neighbours; the last is even. */
typedef struct th_moments {
    double *ticks;
    uint32_t count;
} th_moments;

/* Each interval between keys in the same even number of parts, or the whole clip in equal ones. One moment for the rest
 * pose (NULL). clip_count: how many clips share the budget. False when out of memory. */
bool th_moments_init(th_moments *moments, const th_model *model, const th_clip *clip, uint32_t clip_count);
void th_moments_fini(th_moments *moments);

int th_compare_doubles(const void *a, const void *b); /* for qsort */

typedef struct th_bounds_sphere {
    double centre[3], radius;
} th_bounds_sphere;

/* A model in a pose: spheres that ride on joints and hold all vertices; the joints themselves, without a radius, where
 * there are no vertices. */
typedef struct th_bounds_proxy {
    const th_model *model;
    th_interpolation interpolation;
    uint32_t sphere_count;
    uint32_t *joint;          /* each sphere's */
    th_bounds_sphere *sphere; /* in the joint's space */
    size_t vertex_count;
    th_dmat34 *pose, *palette;
} th_bounds_proxy;

/* False when out of memory; th_bounds_proxy_fini either way. */
bool th_bounds_proxy_init(th_bounds_proxy *b, const th_model *model, th_interpolation interpolation);
void th_bounds_proxy_fini(th_bounds_proxy *b);

void th_bounds_proxy_pose(th_bounds_proxy *b, const th_clip *clip, double ticks);

/* Points that may touch the ground: vertices; joints where there are none. And how low each of them gets. */
typedef struct th_ground_contact {
    const th_vertex *vertex; /* NULL: a joint */
    uint32_t joint;
    double lowest;
} th_ground_contact;

typedef struct th_ground_contacts {
    th_ground_contact *point;
    size_t count;
    double ground; /* the lowest of all; infinite when there are none */
    double usual;  /* the lowest at a moment is below this at half of them */
} th_ground_contacts;

/* Through the moments of a clip. False when out of memory; th_ground_contacts_fini either way. */
bool th_ground_contacts_init(th_ground_contacts *s, th_bounds_proxy *b, const th_clip *clip, const th_moments *moments);
void th_ground_contacts_fini(th_ground_contacts *s);

/* Where it is in the body's pose. */
void th_ground_contact_position(const th_bounds_proxy *b, const th_ground_contact *point, double out[3]);

#endif
