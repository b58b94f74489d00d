/* Morph weights in a compiled model: ops without parent that hold the twelve weights of a palette entry. Their keys
 * come last in a frame. For compiled_model.c and frames.c. Private to anim. */
#ifndef TH_ANIM_COMPILE_WEIGHTS_H
#define TH_ANIM_COMPILE_WEIGHTS_H

#include "compiled_data.h"

enum { TH_WEIGHT_KEYS = TH_ENTRY / TH_KEY }; /* of an op */

/* Palette entries that hold the weights of a model. */
uint32_t th_weights_entries(const th_model *model);

/* Lists those of which a clip moves a weight, ascending; returns how many. out: room for all. */
uint32_t th_weights_find_moving(const th_model *model, uint32_t *out);

/* The op of an entry. Without `moves`, it has the weights at rest and no keys. key: their offset in a frame. */
th_joint_op th_weights_op(const th_model *model, uint32_t entry, bool moves, size_t key);

/* Writes the keys of all moving entries. weights: of the model. */
void th_weights_write_keys(const th_compiled_model *compiled, const double *weights, float *out);

/* Finds the range of each of these keys over all clips. Both are as for th_frames_find_ranges; out: by key. */
void th_weights_find_ranges(const th_compiled_model *compiled, th_key_range *out, int64_t *budget);

#endif
