/* Encodes a video with ffmpeg as a child process. Private to render. */
#ifndef TH_RENDER_CAPTURE_VIDEO_H
#define TH_RENDER_CAPTURE_VIDEO_H

#include <throng/render/frame_writer.h>

#include <stddef.h>

typedef enum th_video_format { TH_VIDEO_MP4, TH_VIDEO_MKV, TH_VIDEO_WEBM } th_video_format;

typedef struct th_video th_video;

/* Rounds a side up to even: the video formats store colour at half resolution. */
uint32_t th_video_side(uint32_t side);

/* Starts ffmpeg. Copies desc->path. */
th_result th_video_open(const th_frame_writer_desc *desc, th_video_format format, th_video **out, th_error *err);

/* Four bytes per pixel: R, G, B and an ignored byte. */
th_result th_video_add(th_video *video, const uint8_t *rgba, th_error *err);

/* Frees the video, even after an error. */
th_result th_video_close(th_video *video, th_error *err);
void th_video_abandon(th_video *video);

#endif
