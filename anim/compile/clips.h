/* Compiles all clips of a model. For compiled_model.c. Private to anim. */
#ifndef TH_ANIM_COMPILE_CLIPS_H
#define TH_ANIM_COMPILE_CLIPS_H

#include "compiled_data.h"

/* Limit on the joints posed while measuring, for all clips of a model together, so that a hostile file cannot run
 * forever. Joints whose exact pose is kept from an earlier attempt count half. About four seconds. A count instead of a
 * time, so that the result does not depend on the machine. */
#define TH_COMPILE_BUDGET 20000000

/* Fills compiled_clips and reports of a compiled model whose program is complete. desc: that of the model. *budget: how
 * many joints may be posed; reduced by the number used. */
th_result th_compile_clips(th_compiled_model *compiled, const th_compiled_model_desc *desc, int64_t *budget,
                           th_error *err);

#endif
