/* Reads the samples of a target with antialiasing as they were drawn, before they are averaged. Pictures that are
 * merged by depth need them, because an averaged pixel has no one depth. All calls on the context's thread, with the
 * context current in which the target was created. */
#ifndef THRONG_RENDER_SAMPLE_READER_H
#define THRONG_RENDER_SAMPLE_READER_H

#include <throng/render/target.h>

TH_API_BEGIN

typedef struct th_sample_reader th_sample_reader;

/* The target must outlive the reader and keep its size. A target without antialiasing has one sample per pixel.
 * TH_ERR_ENVIRONMENT: the driver cannot. TH_ERR_MEMORY. */
th_result th_sample_reader_create(const th_target *target, th_sample_reader **out_reader, th_error *err);

/* Per pixel: as many as the driver made of the target's. */
uint32_t th_sample_reader_samples(const th_sample_reader *reader);

/* Takes over what has been drawn to the target. Then any samples of it can be read. */
void th_sample_reader_begin(th_sample_reader *reader);

/* One sample of each pixel, top row first, without gaps between rows: colours as th_target_read has them, and depth
 * from 0 near to 1 far. Waits until the picture is drawn. Leaves the target bound. out_rgba: [width * height * 4];
 * out_depth: [width * height] */
void th_sample_reader_read(const th_sample_reader *reader, uint32_t sample, uint8_t *out_rgba, float *out_depth);

/* NULL does nothing. */
void th_sample_reader_destroy(th_sample_reader *reader);

TH_API_END

#endif
