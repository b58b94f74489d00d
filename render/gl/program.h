/* Shader programs from embedded pieces of GLSL, and the buffers that they read and write. Private to render. */
#ifndef TH_RENDER_GL_PROGRAM_H
#define TH_RENDER_GL_PROGRAM_H

#include <core/error.h>
#include <glad/gl.h>
#include <shader.h>

#include <stdbool.h>
#include <stddef.h>

enum { TH_PROGRAM_PIECES = 8, TH_PROGRAM_DEFINES = 16 };

typedef struct th_program_desc {
    const char *name; /* for messages */
    /* The source of a stage: these pieces in order, up to the first NULL. A stage without pieces is left out. */
    const th_shader *vertex[TH_PROGRAM_PIECES];
    const th_shader *fragment[TH_PROGRAM_PIECES];
    const th_shader *compute[TH_PROGRAM_PIECES];
    const char *defines[TH_PROGRAM_DEFINES]; /* for all stages, up to the first NULL: "INFLUENCES 4", "FOG" */
} th_program_desc;

/* Compiles and links as version 430 core. Errors name the program, the piece and its line, and quote the driver's
 * message. They are TH_ERR_ENVIRONMENT: the shaders are embedded, so the driver is at fault. The caller frees the
 * program with glDeleteProgram. `*out_program` is 0 after an error. */
th_result th_program_create(const th_program_desc *desc, GLuint *out_program, th_error *err);

/* An empty block cannot be bound, so a buffer has some bytes at least. data: NULL leaves it undefined. Returns false if
 * the GPU has no memory; errors of earlier calls stay where th_gl_check finds them. The caller frees the buffer in any
 * case. */
bool th_buffer_make(GLuint *out, size_t bytes, const void *data, GLenum usage);

#endif
