/* The kernels by instruction set. Private to anim. */
#ifndef TH_ANIM_KERNELS_ISA_H
#define TH_ANIM_KERNELS_ISA_H

#include "pose.h"

#include <anim/ceilings.h>

/* isa: available, and not TH_ISA_AUTO. */
const th_kernels *th_isa_kernels(th_isa isa);

/* Whether this processor should prefetch lines of f32 palettes before writing them. */
bool th_isa_prefetches(void);

#endif
