#include "wide_sse4.h"

#include "pose_body.h"

const th_kernels th_kernels_sse4 = KERNELS;
