/* Pictures to files: PNG, one or many, or a video through ffmpeg.
 *
 * No GL. A writer is used by one thread at a time. Each file is all there or not at all: until a PNG is written, until
 * a video is closed, what was there before stays. */
#ifndef THRONG_RENDER_FRAME_WRITER_H
#define THRONG_RENDER_FRAME_WRITER_H

#include <throng/core/api.h>
#include <throng/core/error.h>

#include <stddef.h>
#include <stdint.h>

TH_API_BEGIN

#define TH_FRAME_WRITER_MAX_SIDE   16384u
#define TH_FRAME_WRITER_MAX_PIXELS (1u << 26)

typedef struct th_frame_writer_desc {
    /* required. By its end, in capitals or not:
     *   .png                a picture. For more than one the name needs a place for the frame's number, which counts
     *                       from 0: %d, or %04d for at least four digits (1 to 9). No other % may be in it
     *   .mp4 .mkv .webm     a video: H.264, H.264, VP9. An odd side gets its last row or column twice. The name may
     * have any % */
    const char *path;
    uint32_t width, height; /* pixels */
    uint32_t frame_count;   /* how many will be added; fewer are fine, but none make no video */
    double frames_per_s;    /* of a video; above 0, at most 1000 */
} th_frame_writer_desc;

typedef struct th_frame_writer th_frame_writer;

/* Whether the desc makes sense, without a look at the disk. TH_ERR_INPUT: the name is none of the above, or a number is
 * none; TH_ERR_LIMIT: the picture is too large. */
th_result th_frame_writer_check(const th_frame_writer_desc *desc, th_error *err);

/* The sides of what is written: those of the desc, or one more where a video has an odd one. desc: checked. */
void th_frame_writer_size(const th_frame_writer_desc *desc, uint32_t *out_width, uint32_t *out_height);

/* Checks whatever can be before the first frame. Errors as those of th_frame_writer_check; TH_ERR_INPUT, too: the file
 * cannot be written; TH_ERR_ENVIRONMENT: no ffmpeg; TH_ERR_MEMORY. */
th_result th_frame_writer_open(const th_frame_writer_desc *desc, th_frame_writer **out, th_error *err);

/* rgba: width * height * 4 bytes, sRGB, the top row first, rows without gaps. Alpha is left out: the picture is opaque.
 * After an error nothing is left but th_frame_writer_abandon. TH_ERR_INPUT: a PNG cannot be written;
 * TH_ERR_ENVIRONMENT: ffmpeg gave up, and the text has what it said; TH_ERR_MEMORY. */
th_result th_frame_writer_add(th_frame_writer *writer, const uint8_t *rgba, th_error *err);

/* Finishes: a video is in its place now. The writer is gone, whatever comes back. Errors as those of
 * th_frame_writer_add. */
th_result th_frame_writer_close(th_frame_writer *writer, th_error *err);

/* The writer is gone, and a video that was not closed, too; PNGs that were added stay. NULL is fine. */
void th_frame_writer_abandon(th_frame_writer *writer);

/* One picture as the bytes of a PNG, malloc'd; rgba as for th_frame_writer_add. TH_ERR_MEMORY. */
th_result th_png_encode(const uint8_t *rgba, uint32_t width, uint32_t height, unsigned char **out, size_t *out_size,
                        th_error *err);

TH_API_END

#endif
