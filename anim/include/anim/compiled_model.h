/* What a compiled model says beyond throng.h. */
#ifndef THRONG_ANIM_COMPILED_MODEL_H
#define THRONG_ANIM_COMPILED_MODEL_H

#include <anim/model.h>
#include <anim/repertoire.h>
#include <throng/throng.h>

/* What behaviours need. in_place: clips that are carried away are those of TH_ROOT_MOTION_BAKED, so that they can be
 * gaits, and th_compiled_model_source has them in place. */
typedef struct th_compiled_more {
    bool repertoire; /* finds the repertoire, whose masks take the place of those of the desc, which has none */
    /* Of a joint level: its source, compiled with in_place, which decides for both; borrowed meanwhile. NULL: none. */
    const th_compiled_model *in_place_as;
} th_compiled_more;

th_result th_compiled_model_create_with(const th_compiled_model_desc *desc, const th_compiled_more *more,
                                        th_compiled_model **out, th_error *err);

const th_model *th_compiled_model_source(const th_compiled_model *compiled);
th_interpolation th_compiled_model_interpolation(const th_compiled_model *compiled);
const th_repertoire *th_compiled_model_repertoire(const th_compiled_model *compiled); /* NULL: not asked for */
const th_mask *th_compiled_model_masks(const th_compiled_model *compiled, uint32_t *out_count); /* that layers name */
const uint32_t *th_compiled_model_sockets(const th_compiled_model *compiled, uint32_t *count);
uint32_t th_compiled_model_exact_clips(
    const th_compiled_model *compiled); /* clips that are not compiled: they cost many times as much */
double th_compiled_model_bytes_per_clip(const th_compiled_model *compiled); /* mean of the clips that are compiled; NAN
                                                                               if none is */

#endif
