/* The kernels by instruction set. Private to anim. */
#ifndef TH_ISA_H
#define TH_ISA_H

#include "pose.h"

#include <throng/crowd.h>

/* isa: available, and not TH_ISA_AUTO. */
const th_kernels *th_isa_kernels(th_isa isa);

#endif
