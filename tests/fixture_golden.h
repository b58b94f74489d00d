/* Pictures held against each other, and against stored ones: PNG files of tests/golden. */
#ifndef FIXTURE_GOLDEN_H
#define FIXTURE_GOLDEN_H

#include <stdbool.h>
#include <stdint.h>

/* Of colours, not alpha. Two pictures count as the same when at most 0.04 % of the pixels are off, and the root of the
 * mean square is at most 0.0015. llvmpipe on a CPU without fused multiply-add is off in 0.03 % and 0.0011, where an
 * edge just meets a pixel or misses it. A difference of 1 in 255 is none: there it rounds 3 % of gradients the other
 * way. */
typedef struct difference {
    uint32_t pixels_off; /* by more than 2 % */
    double rmse;         /* of 1, but for differences of 1 in 255 */
    bool same;
} difference;

difference compare_pictures(const uint8_t *a, const uint8_t *b, uint32_t width, uint32_t height);

/* Fails unless the picture is the stored one. Then the picture, and where it differs, go to the folder that
 * THRONG_GOLDEN_OUT names. THRONG_GOLDEN_UPDATE=1 stores the picture instead. */
void check_golden(const char *name, const uint8_t *rgba, uint32_t width, uint32_t height);

/* The stored picture. */
void read_golden(const char *name, uint32_t width, uint32_t height, uint8_t *out_rgba);

#endif
