/* A shadow map: the crowd's depth seen from the sun. Private to render. */
#ifndef TH_RENDER_VIEW_SHADOW_H
#define TH_RENDER_VIEW_SHADOW_H

#include <glad/gl.h>
#include <throng/core/error.h>

typedef struct th_shadow {
    uint32_t pixels; /* width and height; 0: no shadows */
    GLuint map, framebuffer;
    float clip_from_world[16]; /* of the last th_shadow_begin; what is nearer to the sun than the near plane is clamped
                                  to it */
    float map_from_world[16];  /* the same, scaled to 0 to 1 */
} th_shadow;

/* Call th_shadow_fini in any case. */
th_result th_shadow_init(th_shadow *shadow, uint32_t pixels, th_error *err);
void th_shadow_fini(th_shadow *shadow);

/* The light's matrix to OpenGL's clip space, for a map that covers the sphere. */
void th_shadow_matrix(uint32_t pixels, const float to_sun[3], const float center[3], float radius,
                      float out_clip_from_world[16]);

/* Draws between these calls go into the map, which covers the sphere. */
void th_shadow_begin(th_shadow *shadow, const float to_sun[3], const float center[3], float radius);
void th_shadow_end(const th_shadow *shadow);

#endif
