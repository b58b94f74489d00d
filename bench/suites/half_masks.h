/* A mask for each model of a scene: about half of its joints, those below one of them. Private to bench. */
#ifndef TH_BENCH_SUITES_HALF_MASKS_H
#define TH_BENCH_SUITES_HALF_MASKS_H

#include <throng/anim/layer.h>

/* Mask m is that of models[m]. Any of the models may be compiled with all of them: each has weights for as many joints
 * as the largest model has. NULL if out of memory. The caller frees it, in one piece, with free(). */
th_mask *th_half_masks_create(const th_model *const *models, uint32_t count);

#endif
