/* What only the project uses of targets. */
#ifndef THRONG_RENDER_TARGET_H
#define THRONG_RENDER_TARGET_H

#include <render/gl.h>

/* In pixels; samples per pixel, 0: no antialiasing. */
void th_target_size(const th_target *target, uint32_t *out_width, uint32_t *out_height);
uint32_t th_target_samples(const th_target *target);

/* Later draws go to the target: sets the framebuffer and the viewport, and stores linear colours as sRGB. */
void th_target_bind(const th_target *target);

/* Later draws go on top of the resolved picture, without antialiasing and without depth. */
void th_target_bind_resolved(const th_target *target);

#endif
