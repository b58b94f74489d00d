/* How far two models with the same vertices and clips are from each other. Private to anim. */
#ifndef TH_ANIM_MODEL_MODEL_DISTANCE_H
#define TH_ANIM_MODEL_MODEL_DISTANCE_H

#include <throng/anim/model.h>

typedef struct th_model_distance {
    double distance; /* the farthest of any vertex */
    uint32_t clip;   /* TH_NO_INDEX: at rest */
    double time_s;
} th_model_distance;

/* Exact poses, double precision, without morph targets: up to 256 moments of every clip, then more around the worst.
 * False when out of memory. */
bool th_model_distance_measure(const th_model *model, const th_model *other, th_model_distance *out);

/* The vertex by all its influences. */
void th_model_skin_vertex(const th_vertex *vertex, const th_dmat34 *palette, double out[3]);

#endif
