/* Saves screenshots. */
#ifndef TH_VIEW_SCREENSHOT_H
#define TH_VIEW_SCREENSHOT_H

#include <throng/core/error.h>

#include <stdint.h>

/* Writes throng-0001.png into the current folder, or the first free name after it; never overwrites a file. rgba: as
 * from th_target_read. out_path: at least TH_SCREENSHOT_PATH bytes. */
#define TH_SCREENSHOT_PATH 32
th_result th_screenshot_write(const uint8_t *rgba, uint32_t width, uint32_t height, char *out_path, th_error *err);

#endif
