#include "wide_counting.h"

#include "pose_body.h"

#include "isa.h"

const th_kernels th_kernels_counting = KERNELS;

th_crowd_work th_counted(void)
{
    const th_crowd_work work = {counted_flops, counted_key_bytes, counted_palette_bytes};
    counted_flops = counted_key_bytes = counted_palette_bytes = 0;
    return work;
}
