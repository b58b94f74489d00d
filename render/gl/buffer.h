/* Buffers that shaders read and write. Private to render. */
#ifndef TH_RENDER_GL_BUFFER_H
#define TH_RENDER_GL_BUFFER_H

#include <glad/gl.h>

#include <stdbool.h>
#include <stddef.h>

/* An empty block cannot be bound, so a buffer has some bytes at least. data: NULL leaves it undefined. Returns false if
 * the GPU has no memory; errors of earlier calls stay where th_gl_check finds them. The caller frees the buffer in any
 * case. */
bool th_buffer_make(GLuint *out, size_t bytes, const void *data, GLenum usage);

#endif
