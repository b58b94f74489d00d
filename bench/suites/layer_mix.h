/* Layers for all instances of a scene at a time, as characters between clips play them. Private to bench. */
#ifndef TH_BENCH_SUITES_LAYER_MIX_H
#define TH_BENCH_SUITES_LAYER_MIX_H

#include <throng/runtime/scene.h>

typedef struct th_layer_mix_desc {
    uint32_t override_count; /* at least 1 */
    uint32_t masked_count;   /* of these, the last; each with the mask whose index is that of the model */
    uint32_t add_count;
    /* Weights stay, unless they sum to 1 and move with time: */
    bool fades;                /* as in a cross-fade of two */
    uint32_t space_dimensions; /* 1 or 2: as in a blend space, of which layers that override are the samples */
} th_layer_mix_desc;

typedef struct th_layer_mix th_layer_mix;

/* desc: borrowed. */
th_result th_layer_mix_create(const th_scene *scene, const th_layer_mix_desc *desc, th_layer_mix **out, th_error *err);
void th_layer_mix_destroy(th_layer_mix *mix); /* NULL is allowed */

/* Layer or sample k of an instance plays the k-th clip after that of the instance, from the instance's phase at its
 * speed; samples are in step with the first. Depends on the arguments alone. The result is valid until the next call.
 */
const th_crowd_layers *th_layer_mix_at(th_layer_mix *mix, double time_s);

#endif
