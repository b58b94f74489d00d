#include <throng/anim/interpolation.h>

static const char *const names[TH_INTERPOLATION_COUNT] = {"authored", "step", "nlerp", "slerp", "cubic"};

const char *th_interpolation_name(th_interpolation interpolation)
{
    return (unsigned)interpolation < TH_INTERPOLATION_COUNT ? names[interpolation] : "unknown";
}
