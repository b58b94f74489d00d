/* An off-screen picture to draw to: sRGB colour of 8 bits with alpha, depth of 32-bit float, with antialiasing or not.
 * All calls on the context's thread, with the context current in which the target was created. */
#ifndef THRONG_RENDER_TARGET_H
#define THRONG_RENDER_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <throng/core/api.h>
#include <throng/core/error.h>
#include <throng/render/gl.h>

TH_API_BEGIN

typedef struct th_target th_target;

typedef struct th_target_desc {
    uint32_t width, height; /* pixels, required */
    uint32_t samples;       /* a pixel; 0 and 1: no antialiasing. Drivers may take the next number they have */
} th_target_desc;

/* TH_ERR_ENVIRONMENT when a number is 0 or above what the driver has, and the text names that; TH_ERR_MEMORY. */
th_result th_target_create(const th_target_desc *desc, th_target **out_target, th_error *err);

/* The picture's content is lost when the size changes. After an error the target is what it was. */
th_result th_target_resize(th_target *target, uint32_t width, uint32_t height, th_error *err);

/* What is drawn from here on goes to the target: framebuffer, viewport, and linear colours are stored as sRGB. */
void th_target_bind(const th_target *target);

/* Averages the samples, as light, into the picture that the functions below see. Without antialiasing there is nothing
 * to do. Leaves the target bound. */
void th_target_resolve(const th_target *target);

/* What is drawn from here on lies on top of the resolved picture, without antialiasing and without depth. */
void th_target_bind_resolved(const th_target *target);

/* Copies the resolved picture to all of the window, which must have one; th_gl_swap shows it. Leaves the window's
 * framebuffer bound. */
void th_target_show(const th_target *target, const th_gl *gl);

/* Bytes that th_target_read needs. */
size_t th_target_bytes(const th_target *target);

/* Reads the resolved picture: R, G, B and A a pixel as stored (colours are sRGB, alpha is linear), rows without gaps,
 * the top row first. Waits until it is drawn. Leaves the target bound. */
void th_target_read(const th_target *target, uint8_t *out_rgba);

/* NULL does nothing. */
void th_target_destroy(th_target *target);

TH_API_END

#endif
