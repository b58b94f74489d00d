/* What a compiled model says beyond throng.h. */
#ifndef THRONG_ANIM_COMPILED_MODEL_H
#define THRONG_ANIM_COMPILED_MODEL_H

#include <anim/keys.h>
#include <anim/model.h>
#include <anim/palette.h>
#include <anim/repertoire.h>
#include <throng/throng.h>

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
