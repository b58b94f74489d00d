#include <throng/render/frame_writer.h>

#include "video.h"

#include <core/file.h>

#include <assert.h>
#include <math.h>
#include <stb/stb_image_write.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct th_frame_writer {
    th_frame_writer_desc desc; /* its path is not used after opening */
    uint32_t added;
    bool failed;
    th_video *video; /* NULL: PNG files */
    uint8_t *rgb;    /* the picture without alpha */
    /* PNG file names: the part before the number, and a buffer for the whole name. */
    char *before, *name;
    const char *after;
    bool numbered;
    int digits;
};

/* ---- names ---- */

typedef enum format { MP4 = TH_VIDEO_MP4, MKV = TH_VIDEO_MKV, WEBM = TH_VIDEO_WEBM, PNG, UNKNOWN } writer_format;

static writer_format format_of(const char *path)
{
    static const char *const ends[] = {[MP4] = ".mp4", [MKV] = ".mkv", [WEBM] = ".webm", [PNG] = ".png"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    for (int f = 0; f < UNKNOWN; f++)
        if (dot && dot > name && strcasecmp(dot, ends[f]) == 0)
            return (writer_format)f;
    return UNKNOWN;
}

/* Parses %d or %04d at `at` and returns what follows; NULL for anything else. */
static const char *behind_place(const char *at, int *digits)
{
    assert(*at == '%');
    const char *end = at + 1;
    *digits = 0;
    if (end[0] == '0' && end[1] >= '1' && end[1] <= '9') {
        *digits = end[1] - '0';
        end += 2;
    }
    return *end == 'd' ? end + 1 : NULL;
}

/* Parsed by hand, because a name from outside must not reach printf. */
static th_result check_picture_name(const char *path, uint32_t frame_count, th_error *err)
{
    int digits;
    const char *at = strchr(path, '%'), *after = at ? behind_place(at, &digits) : NULL;
    if (!at && frame_count > 1)
        return th_fail(err, TH_ERR_INPUT, "%s: %u pictures need a number in their name, as in f-%%04d.png", path,
                       frame_count);
    if (at && (!after || strchr(after, '%')))
        return th_fail(err, TH_ERR_INPUT, "%s: the only %% in a picture's name is that of its number, %%d or %%04d",
                       path);
    return TH_OK;
}

/* Splits a name that has been checked. */
static th_result split_name(th_frame_writer *f, const char *path, th_error *err)
{
    const size_t length = strlen(path);
    f->before = strdup(path);
    f->name = malloc(length + 16);
    if (!f->before || !f->name)
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left for a picture's name");
    char *at = strchr(f->before, '%');
    f->numbered = at != NULL;
    f->after = at ? behind_place(at, &f->digits) : f->before + length;
    if (at)
        *at = '\0';
    return TH_OK;
}

static const char *name_of(const th_frame_writer *f, uint32_t frame)
{
    size_t room = strlen(f->before) + strlen(f->after) + 16;
    if (f->numbered)
        snprintf(f->name, room, "%s%0*u%s", f->before, f->digits, frame, f->after);
    else
        strcpy(f->name, f->before);
    return f->name;
}

/* ---- opening ---- */

th_result th_frame_writer_check(const th_frame_writer_desc *desc, th_error *err)
{
    assert(desc && desc->path);
    const uint32_t w = desc->width, h = desc->height;
    if (desc->path[0] == '\0')
        return th_fail(err, TH_ERR_INPUT, "the output file name is empty");
    if (format_of(desc->path) == UNKNOWN)
        return th_fail(err, TH_ERR_INPUT, "%s: the file name must end with .png, .mp4, .mkv or .webm", desc->path);
    if (w == 0 || h == 0)
        return th_fail(err, TH_ERR_INPUT, "%s: %u by %u pixels is not a valid size", desc->path, w, h);
    if (w > TH_FRAME_WRITER_MAX_SIDE || h > TH_FRAME_WRITER_MAX_SIDE || (uint64_t)w * h > TH_FRAME_WRITER_MAX_PIXELS)
        return th_fail(err, TH_ERR_LIMIT, "%s: %u by %u pixels, the limit is %u a side and %u in all", desc->path, w, h,
                       TH_FRAME_WRITER_MAX_SIDE, TH_FRAME_WRITER_MAX_PIXELS);
    if (format_of(desc->path) != PNG && !(desc->frames_per_s > 0 && desc->frames_per_s <= 1000))
        return th_fail(err, TH_ERR_INPUT, "%s: %g is not a valid frame rate", desc->path, desc->frames_per_s);
    return format_of(desc->path) == PNG ? check_picture_name(desc->path, desc->frame_count, err) : TH_OK;
}

void th_frame_writer_size(const th_frame_writer_desc *desc, uint32_t *out_width, uint32_t *out_height)
{
    assert(desc && desc->path && out_width && out_height);
    assert(format_of(desc->path) != UNKNOWN); /* it has passed th_frame_writer_check */
    const bool video = format_of(desc->path) != PNG;
    *out_width = video ? th_video_side(desc->width) : desc->width;
    *out_height = video ? th_video_side(desc->height) : desc->height;
}

static th_result open_pictures(th_frame_writer *f, const char *path, th_error *err)
{
    th_result result = split_name(f, path, err);
    if (result != TH_OK)
        return result;
    f->rgb = malloc((size_t)f->desc.width * f->desc.height * 3);
    if (!f->rgb)
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left for a picture");
    return th_file_probe(name_of(f, 0), err);
}

th_result th_frame_writer_open(const th_frame_writer_desc *desc, th_frame_writer **out, th_error *err)
{
    assert(desc && desc->path && out);
    *out = NULL;
    th_result result = th_frame_writer_check(desc, err);
    if (result != TH_OK)
        return result;
    th_frame_writer *f = calloc(1, sizeof *f);
    if (!f)
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left for a frame writer");
    f->desc = *desc;
    f->desc.path = NULL;
    writer_format format = format_of(desc->path);
    if (format == PNG)
        result = open_pictures(f, desc->path, err);
    else if ((result = th_file_probe(desc->path, err)) == TH_OK)
        result = th_video_open(desc, (th_video_format)format, &f->video, err);
    if (result == TH_OK)
        *out = f;
    else
        th_frame_writer_abandon(f);
    return result;
}

/* ---- frames ---- */

/* Where stb writes the PNG. */
typedef struct png_taker {
    const char *path; /* NULL: to memory */
    unsigned char *bytes;
    size_t size;
    th_result result;
    bool written;
    th_error *err;
} png_taker;

static void write_png(void *ctx, void *bytes, int count)
{
    png_taker *file = ctx;
    file->result = th_file_replace(file->path, &(struct iovec){bytes, (size_t)count}, 1, file->err);
    file->written = true;
}

static void keep_png(void *ctx, void *bytes, int count)
{
    png_taker *memory = ctx;
    memory->size = (size_t)count;
    memory->bytes = malloc(memory->size);
    memory->written = memory->bytes != NULL;
    if (memory->written)
        memcpy(memory->bytes, bytes, memory->size);
}

/* rgb: buffer for the picture without alpha. */
static void encode(const uint8_t *rgba, uint32_t width, uint32_t height, uint8_t *rgb, png_taker *taker)
{
    const size_t pixels = (size_t)width * height;
    for (size_t i = 0; i < pixels; i++)
        memcpy(rgb + 3 * i, rgba + 4 * i, 3);
    stbi_write_png_to_func(taker->path ? write_png : keep_png, taker, (int)width, (int)height, 3, rgb, 3 * (int)width);
}

static th_result add_picture(th_frame_writer *f, const uint8_t *rgba, th_error *err)
{
    png_taker file = {.path = name_of(f, f->added), .err = err};
    encode(rgba, f->desc.width, f->desc.height, f->rgb, &file);
    if (!file.written)
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left to write %s", file.path);
    return file.result;
}

th_result th_png_encode(const uint8_t *rgba, uint32_t width, uint32_t height, unsigned char **out, size_t *out_size,
                        th_error *err)
{
    assert(rgba && out && out_size);
    assert(width > 0 && height > 0 && width <= TH_FRAME_WRITER_MAX_SIDE && height <= TH_FRAME_WRITER_MAX_SIDE);
    png_taker memory = {0};
    uint8_t *rgb = malloc((size_t)width * height * 3);
    if (rgb)
        encode(rgba, width, height, rgb, &memory);
    free(rgb);
    *out = memory.bytes;
    *out_size = memory.size;
    return memory.written ? TH_OK : th_fail(err, TH_ERR_MEMORY, "there is no memory left for a picture");
}

th_result th_frame_writer_add(th_frame_writer *f, const uint8_t *rgba, th_error *err)
{
    assert(f && rgba);
    assert(!f->failed && f->added < f->desc.frame_count);
    th_result result;
    if (f->video)
        result = th_video_add(f->video, rgba, err);
    else
        result = add_picture(f, rgba, err);
    f->failed = result != TH_OK;
    f->added++;
    return result;
}

/* ---- ending ---- */

static void destroy(th_frame_writer *f)
{
    free(f->rgb);
    free(f->before);
    free(f->name);
    free(f);
}

th_result th_frame_writer_close(th_frame_writer *f, th_error *err)
{
    assert(f && !f->failed);
    th_result result = TH_OK;
    if (f->video && f->added == 0) {
        th_video_abandon(f->video);
        result = th_fail(err, TH_ERR_INPUT, "a video needs at least one frame");
    } else if (f->video) {
        result = th_video_close(f->video, err);
    }
    destroy(f);
    return result;
}

void th_frame_writer_abandon(th_frame_writer *f)
{
    if (!f)
        return;
    if (f->video)
        th_video_abandon(f->video);
    destroy(f);
}
