/* A shadow map: the crowd's depth as the sun sees it. Private to render. */
#ifndef TH_RENDER_VIEW_SHADOW_H
#define TH_RENDER_VIEW_SHADOW_H

#include <glad/gl.h>
#include <throng/core/error.h>

typedef struct th_shadow {
    uint32_t pixels; /* a side; 0: there is none */
    GLuint map, framebuffer;
    float clip_from_world[16]; /* of the last th_shadow_begin; what is too near to the sun is drawn, too */
    float map_from_world[16];  /* the same, but from 0 to 1 */
} th_shadow;

/* th_shadow_fini in any case. */
th_result th_shadow_init(th_shadow *shadow, uint32_t pixels, th_error *err);
void th_shadow_fini(th_shadow *shadow);

/* OpenGL's clip space of a map that holds the ball. */
void th_shadow_matrix(uint32_t pixels, const float to_sun[3], const float center[3], float radius,
                      float out_clip_from_world[16]);

/* What is drawn between these is drawn into the map. The ball is what falls into it. */
void th_shadow_begin(th_shadow *shadow, const float to_sun[3], const float center[3], float radius);
void th_shadow_end(const th_shadow *shadow);

#endif
