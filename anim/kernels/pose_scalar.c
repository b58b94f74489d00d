#include "wide_scalar.h"

#include "pose_body.h"

const th_kernels th_kernels_scalar = KERNELS;
