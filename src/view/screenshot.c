#include "screenshot.h"

#include <throng/render/frame_writer.h>

#include <stdio.h>
#include <unistd.h>

#define MOST 9999

static th_result find_name(char *path, th_error *err)
{
    for (int number = 1; number <= MOST; number++) {
        snprintf(path, TH_SCREENSHOT_PATH, "throng-%04d.png", number);
        if (access(path, F_OK) != 0)
            return TH_OK;
    }
    return th_fail(err, TH_ERR_INPUT, "all names up to %s are taken", path);
}

th_result th_screenshot_write(const uint8_t *rgba, uint32_t width, uint32_t height, char *out_path, th_error *err)
{
    th_result result = find_name(out_path, err);
    if (result != TH_OK)
        return result;
    const th_film_desc desc = {.path = out_path, .width = width, .height = height, .frame_count = 1, .frames_per_s = 1};
    th_film *film;
    result = th_film_open(&desc, &film, err);
    if (result != TH_OK)
        return result;
    result = th_film_add(film, rgba, err);
    if (result == TH_OK)
        return th_film_close(film, err);
    th_film_abandon(film);
    return result;
}
