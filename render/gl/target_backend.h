/* The parts of a target, of which the sample reader reads more than the resolved picture. Private to render. */
#ifndef TH_RENDER_GL_TARGET_BACKEND_H
#define TH_RENDER_GL_TARGET_BACKEND_H

#include <glad/gl.h>
#include <throng/render/target.h>

struct th_target {
    uint32_t width, height, samples;
    GLuint drawn, resolved;                      /* framebuffers; without antialiasing both are the same */
    GLuint depth, drawn_colour, resolved_colour; /* renderbuffers; drawn_colour is 0 without antialiasing */
};

#endif
