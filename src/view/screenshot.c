#include "screenshot.h"

#include <throng/render/frame_writer.h>

#include <assert.h>
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
    assert(rgba && width > 0 && height > 0 && out_path);
    th_result result = find_name(out_path, err);
    if (result != TH_OK)
        return result;
    const th_frame_writer_desc desc = {
        .path = out_path, .width = width, .height = height, .frame_count = 1, .frames_per_s = 1};
    th_frame_writer *writer;
    result = th_frame_writer_open(&desc, &writer, err);
    if (result != TH_OK)
        return result;
    result = th_frame_writer_add(writer, rgba, err);
    if (result == TH_OK)
        return th_frame_writer_close(writer, err);
    th_frame_writer_abandon(writer);
    return result;
}
