/* Compiles authored clips for the kernel. Private to anim. */
#ifndef TH_ANIM_COMPILE_RESAMPLE_H
#define TH_ANIM_COMPILE_RESAMPLE_H

#include "compiled_data.h"

/* Limit on the joints posed while measuring, for all clips of a model together, so that a hostile file cannot run
 * forever. Joints whose exact pose is kept from an earlier attempt count half. About six seconds. A count instead of a
 * time, so that the result does not depend on the machine. */
#define TH_COMPILE_BUDGET 20000000

/* Fills compiled_clips and reports of a compiled model whose program is complete. *budget: how many joints may be
 * posed; reduced by the number used. */
th_result th_compile_clips(th_compiled_model *compiled, th_sampling sampling, int64_t *budget, th_error *err);

#endif
