/* What it costs to follow fewer bones. */
#ifndef THRONG_ANIM_INFLUENCES_H
#define THRONG_ANIM_INFLUENCES_H

#include <throng/anim/model.h>
#include <throng/core/api.h>

TH_API_BEGIN

typedef struct th_influence_error {
    uint32_t vertices; /* with more influences than these; 0: the rest is 0 too */
    double distance;   /* the farthest that one of them moves, in scene units */
    uint32_t mesh;     /* of that vertex */
    uint32_t clip;     /* TH_NO_INDEX: at rest */
    double time_s;     /* of the clip */
} th_influence_error;

/* Compares all influences of each vertex with its largest `influences` ones, scaled to sum 1: at rest, and at up to 16
 * moments of every clip (fewer for models with many vertices and clips). So in between it may be more. Morph targets
 * rest. TH_ERR_MEMORY. */
th_result th_model_influence_error(const th_model *model, uint32_t influences, th_influence_error *out, th_error *err);

TH_API_END

#endif
