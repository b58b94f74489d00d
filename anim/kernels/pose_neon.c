#include "wide_neon.h"

#include "pose_body.h"

const th_kernels th_kernels_neon = KERNELS;
