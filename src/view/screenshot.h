/* Pictures of what is on the screen, for keeps. */
#ifndef TH_VIEW_SCREENSHOT_H
#define TH_VIEW_SCREENSHOT_H

#include <throng/core/error.h>

#include <stdint.h>

/* Writes throng-0001.png in the current folder, or the first such name that is free: nothing is overwritten. rgba: as
 * th_target_read has it. out_path: of at least TH_SCREENSHOT_PATH bytes. */
#define TH_SCREENSHOT_PATH 32
th_result th_screenshot_write(const uint8_t *rgba, uint32_t width, uint32_t height, char *out_path, th_error *err);

#endif
