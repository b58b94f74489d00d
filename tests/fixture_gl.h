/* An OpenGL context for a test, with the driver's checks on. */
#ifndef FIXTURE_GL_H
#define FIXTURE_GL_H

#include <glad/gl.h>
#include <throng/render/gl.h>

extern th_gl *gl;

void open_headless(void);
void close_checked(void); /* and nobody had anything to object */

void forget_displays(void); /* for this process */

#endif
