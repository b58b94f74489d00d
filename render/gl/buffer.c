#include "buffer.h"

bool th_buffer_make(GLuint *out, size_t bytes, const void *data, GLenum usage)
{
    const GLsizeiptr size = (GLsizeiptr)(bytes > 0 ? bytes : 16);
    GLint64 given = 0;
    glGenBuffers(1, out);
    glBindBuffer(GL_COPY_WRITE_BUFFER, *out);
    glBufferData(GL_COPY_WRITE_BUFFER, size, bytes > 0 ? data : NULL, usage);
    glGetBufferParameteri64v(GL_COPY_WRITE_BUFFER, GL_BUFFER_SIZE, &given);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    if (given == size)
        return true;
    while (glGetError() != GL_NO_ERROR) /* the caller reports it */
        ;
    return false;
}
