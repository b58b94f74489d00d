/* Clips for the kernel, made from authored ones. Private to anim. */
#ifndef TH_ANIM_COMPILE_RESAMPLE_H
#define TH_ANIM_COMPILE_RESAMPLE_H

#include "compiled_data.h"

/* Joints posed while measuring, for all clips of a compiled model together: what keeps a hostile file from taking
 * forever. About six seconds. Counted, not timed, so that the outcome does not depend on the machine. */
#define TH_COMPILE_BUDGET 20000000

/* Fills compiled_clips and reports of a compiled model whose program is complete. *budget: how many joints may be
 * posed; what is left of it comes back. */
th_result th_compile_clips(th_compiled_model *compiled, th_sampling sampling, int64_t *budget, th_error *err);

#endif
