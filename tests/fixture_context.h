/* A headless OpenGL context for a test, with the driver's checks on. */
#ifndef FIXTURE_CONTEXT_H
#define FIXTURE_CONTEXT_H

#include <throng/render/gl.h>

/* The test is skipped where there is no OpenGL; the second one also where it is no llvmpipe, for pictures that are held
 * against stored ones: others draw a little differently. Says so on standard error. */
th_gl *open_context(void);
th_gl *open_llvmpipe(void);

/* The test fails when there was an OpenGL error, or when the driver had anything to object. */
void close_context(th_gl *gl);

bool is_llvmpipe(const th_gl *gl);

#endif
