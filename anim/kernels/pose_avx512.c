#include "wide_avx512.h"

#include "pose_body.h"

const th_kernels th_kernels_avx512 = KERNELS;
