/* A headless OpenGL context for a test, with the driver's checks on: TestSuite(x, .init = open_gl, .fini = close_gl).
 */
#ifndef FIXTURE_GL_H
#define FIXTURE_GL_H

#include "fixture_end.h"

#include <throng/render/target.h>

extern th_gl *gl;

/* The test is skipped where there is no OpenGL; by the second one also where it is no llvmpipe, for pictures that are
 * held against stored ones: others draw a little differently. Says so on standard error. */
void open_gl(void);
void open_llvmpipe(void);

/* Ends first what ends with the test. The test fails when there was an OpenGL error, or when the driver had anything to
 * object. */
void close_gl(void);

bool is_llvmpipe(void);

/* Ends with the test. */
th_target *make_target(uint32_t width, uint32_t height, uint32_t samples);
uint8_t *read_target(const th_target *target); /* resolved */

#endif
