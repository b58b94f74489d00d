/* An off-screen render target: 8-bit sRGB colour with alpha, 32-bit float depth, optional MSAA. All calls on the
 * context's thread, with the context current in which the target was created. */
#ifndef THRONG_RENDER_TARGET_H
#define THRONG_RENDER_TARGET_H

#include <core/error.h>
#include <render/gl.h>
#include <stddef.h>
#include <stdint.h>

typedef struct th_target th_target;

typedef struct th_target_desc {
    uint32_t width, height; /* pixels, required */
    uint32_t samples;       /* per pixel; 0 and 1: no antialiasing. The driver may round up */
} th_target_desc;

/* TH_ERR_ENVIRONMENT: a number is 0 or above the driver's limit, which the text names. TH_ERR_MEMORY. */
th_result th_target_create(const th_target_desc *desc, th_target **out_target, th_error *err);

/* Loses the content if the size changes. After an error the target is unchanged. */
th_result th_target_resize(th_target *target, uint32_t width, uint32_t height, th_error *err);

/* Per pixel; 0: no antialiasing. */
uint32_t th_target_samples(const th_target *target);

/* Later draws go to the target: sets the framebuffer and the viewport, and stores linear colours as sRGB. */
void th_target_bind(const th_target *target);

/* Averages the samples in linear light into the resolved picture, which the functions below use. Does nothing without
 * antialiasing. Leaves the target bound. */
void th_target_resolve(const th_target *target);

/* Later draws go on top of the resolved picture, without antialiasing and without depth. */
void th_target_bind_resolved(const th_target *target);

/* Copies the resolved picture to the whole window, which must exist; th_gl_swap shows it. Leaves the window's
 * framebuffer bound. */
void th_target_show(const th_target *target, const th_gl *gl);

/* Size of the buffer for th_target_read. */
size_t th_target_bytes(const th_target *target);

/* Reads the resolved picture as stored: R, G, B, A per pixel (colours sRGB, alpha linear), no gaps between rows, top
 * row first. Waits until the picture is drawn. Leaves the target bound. */
void th_target_read(const th_target *target, uint8_t *out_rgba);

/* NULL does nothing. */
void th_target_destroy(th_target *target);

#endif
