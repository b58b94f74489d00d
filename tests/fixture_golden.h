/* Pictures held against each other, and against stored ones: PNG files of tests/golden. */
#ifndef FIXTURE_GOLDEN_H
#define FIXTURE_GOLDEN_H

#include <stdbool.h>
#include <stdint.h>

/* Of colours, not alpha. Two pictures count as the same when at most 0.02 % of the pixels are off, and the root of the
 * mean square is at most 3e-4. A difference of 1 in 255 is none: CPUs without fused multiply-add round 3 % of a
 * picture's gradients the other way, which alone is 4e-4. */
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
