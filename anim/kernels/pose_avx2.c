#include "wide_avx2.h"

#include "pose_body.h"

const th_kernels th_kernels_avx2 = KERNELS;
