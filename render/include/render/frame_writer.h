/* What only the project uses of frame writers. */
#ifndef THRONG_RENDER_FRAME_WRITER_H
#define THRONG_RENDER_FRAME_WRITER_H

#include <throng/render.h>

/* Checks the desc without touching the disk. TH_ERR_INPUT: a bad name or number. TH_ERR_LIMIT: the picture is too
 * large. */
th_result th_frame_writer_check(const th_frame_writer_desc *desc, th_error *err);

/* The size of the output: that of the desc, with odd sides of a video rounded up. The desc must have passed
 * th_frame_writer_check. */
void th_frame_writer_size(const th_frame_writer_desc *desc, uint32_t *out_width, uint32_t *out_height);

#endif
