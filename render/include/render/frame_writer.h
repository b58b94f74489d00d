/* Writes pictures to files: one PNG, numbered PNGs, or a video through ffmpeg.
 *
 * No GL. One thread at a time may use a writer. Files are replaced as a whole: the old content stays until a PNG is
 * completely written or a video is closed. */
#ifndef THRONG_RENDER_FRAME_WRITER_H
#define THRONG_RENDER_FRAME_WRITER_H

#include <core/error.h>

#include <stddef.h>
#include <stdint.h>

#define TH_FRAME_WRITER_MAX_SIDE   16384u
#define TH_FRAME_WRITER_MAX_PIXELS (1u << 26)

typedef struct th_frame_writer_desc {
    /* Required. The ending, in any case, chooses the format:
     *   .png                a picture. For several frames the name needs a place for the frame number, which counts
     *                       from 0: %d, or %04d for at least four digits (1 to 9). It may contain no other %
     *   .mp4 .mkv .webm     a video: H.264, H.264, VP9. If a side is odd, its last row or column is duplicated. The
     *                       name may contain any % */
    const char *path;
    uint32_t width, height; /* pixels */
    uint32_t frame_count;   /* frames to come at most; a video needs at least one */
    double frames_per_s;    /* of a video; above 0, at most 1000 */
} th_frame_writer_desc;

typedef struct th_frame_writer th_frame_writer;

/* Checks the desc without touching the disk. TH_ERR_INPUT: a bad name or number. TH_ERR_LIMIT: the picture is too
 * large. */
th_result th_frame_writer_check(const th_frame_writer_desc *desc, th_error *err);

/* The size of the output: that of the desc, with odd sides of a video rounded up. The desc must have passed
 * th_frame_writer_check. */
void th_frame_writer_size(const th_frame_writer_desc *desc, uint32_t *out_width, uint32_t *out_height);

/* Checks as much as possible before the first frame. Errors of th_frame_writer_check, and: TH_ERR_INPUT: the file
 * cannot be written; TH_ERR_ENVIRONMENT: no ffmpeg; TH_ERR_MEMORY. */
th_result th_frame_writer_open(const th_frame_writer_desc *desc, th_frame_writer **out, th_error *err);

/* rgba: width * height * 4 bytes, sRGB, top row first, no gaps between rows. Alpha is ignored. At most
 * th_frame_writer_desc.frame_count calls. After an error only
 * th_frame_writer_abandon is allowed. TH_ERR_INPUT: a PNG cannot be written. TH_ERR_ENVIRONMENT: ffmpeg failed; the
 * text holds its message. TH_ERR_MEMORY. */
th_result th_frame_writer_add(th_frame_writer *writer, const uint8_t *rgba, th_error *err);

/* Finishes the output and frees the writer, even after an error. A video is moved to its place. Errors of
 * th_frame_writer_add. */
th_result th_frame_writer_close(th_frame_writer *writer, th_error *err);

/* Frees the writer and drops an unfinished video; PNGs that were added stay. NULL does nothing. */
void th_frame_writer_abandon(th_frame_writer *writer);

/* Encodes one picture as PNG in memory. The caller frees *out; rgba as for th_frame_writer_add. Each
 * side has 1 to TH_FRAME_WRITER_MAX_SIDE pixels. TH_ERR_MEMORY. */
th_result th_png_encode(const uint8_t *rgba, uint32_t width, uint32_t height, unsigned char **out, size_t *out_size,
                        th_error *err);

#endif
