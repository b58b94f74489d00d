#define WIDTH 8
#include "view/cull_test_body.h"

void th_cull_test_tile_avx2(const th_cull_test *test, const th_cull_spheres *spheres, int32_t level[TH_CULL_TILE])
{
    test_tile(test, spheres, level);
}
