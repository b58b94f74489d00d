/* Messages are polled from the driver's log instead of delivered by a callback. So they arrive on this thread, and a
 * driver may keep working on a thread of its own. The log holds at least one message (Mesa: ten); later ones are
 * dropped. */
#include "gl_backend.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void th_gl_debug_init(void)
{
    glEnable(GL_DEBUG_OUTPUT);
    glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DONT_CARE, 0, NULL, GL_TRUE);
    glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DEBUG_SEVERITY_NOTIFICATION, 0, NULL, GL_FALSE);
    glDebugMessageControl(GL_DONT_CARE, GL_DEBUG_TYPE_PERFORMANCE, GL_DONT_CARE, 0, NULL, GL_FALSE);
    /* NVIDIA tells where it puts each buffer, and advises. */
    glDebugMessageControl(GL_DONT_CARE, GL_DEBUG_TYPE_OTHER, GL_DONT_CARE, 0, NULL, GL_FALSE);
}

/* Of OpenGL 4.5, but drivers report it to older contexts, too. */
#define CONTEXT_LOST 0x0507

const char *th_gl_error_name(GLenum error)
{
    switch (error) {
    case GL_INVALID_ENUM:
        return "GL_INVALID_ENUM";
    case GL_INVALID_VALUE:
        return "GL_INVALID_VALUE";
    case GL_INVALID_OPERATION:
        return "GL_INVALID_OPERATION";
    case GL_INVALID_FRAMEBUFFER_OPERATION:
        return "GL_INVALID_FRAMEBUFFER_OPERATION";
    case GL_OUT_OF_MEMORY:
        return "GL_OUT_OF_MEMORY";
    case CONTEXT_LOST:
        return "the context is lost (GL_CONTEXT_LOST): the driver was reset, or the GPU is gone";
    default:
        return "an unknown OpenGL error";
    }
}

/* Removes the oldest message from the log. A message that does not fit would stay in the log for ever, so its text is
 * dropped. */
static bool take_message(char *text, GLsizei capacity)
{
    GLint length = 0;
    glGetIntegerv(GL_DEBUG_NEXT_LOGGED_MESSAGE_LENGTH, &length);
    if (length <= capacity)
        return glGetDebugMessageLog(1, capacity, NULL, NULL, NULL, NULL, NULL, text) != 0;
    snprintf(text, (size_t)capacity, "a message of %d bytes", length);
    return glGetDebugMessageLog(1, 0, NULL, NULL, NULL, NULL, NULL, NULL) != 0;
}

static void keep_line(char *line, size_t capacity, const char *text)
{
    assert(capacity > 0);
    const size_t fits = strnlen(text, capacity - 1);
    memcpy(line, text, fits);
    line[fits] = '\0';
    for (char *c = line; *c; c++) {
        if (*c == '\n')
            *c = ' ';
    }
    size_t length = strlen(line);
    while (length > 0 && line[length - 1] == ' ')
        line[--length] = '\0';
}

static void take_messages(th_gl *gl)
{
    char text[4096];
    while (gl->debug && take_message(text, sizeof text)) {
        if (gl->messages == 0)
            keep_line(gl->first, sizeof gl->first, text);
        if (gl->messages == gl->checked)
            keep_line(gl->unchecked, sizeof gl->unchecked, text);
        gl->messages++;
    }
}

uint32_t th_gl_messages(th_gl *gl, const char **out_first)
{
    assert(gl);
    take_messages(gl);
    if (out_first)
        *out_first = gl->messages ? gl->first : NULL;
    return gl->messages;
}

/* Returns the oldest error. The driver may have a flag per kind of error, so all are cleared. The loop is bounded
 * because a lost context reports errors without end. */
static GLenum take_errors(void)
{
    GLenum first = glGetError();
    GLenum error = first;
    for (int i = 0; i < 16 && error; i++)
        error = glGetError();
    return first;
}

th_result th_gl_check(th_gl *gl, const char *where, th_error *err)
{
    assert(gl && where);
    GLenum error = take_errors();
    take_messages(gl);
    assert(gl->messages >= gl->checked);
    bool told = gl->messages > gl->checked;
    gl->checked = gl->messages;
    if (error == GL_NO_ERROR && !told)
        return TH_OK;
    return th_fail(err, error == GL_OUT_OF_MEMORY ? TH_ERR_MEMORY : TH_ERR_ENVIRONMENT, "%s: %s%s%s", where,
                   error ? th_gl_error_name(error) : "", error && told ? ": " : "", told ? gl->unchecked : "");
}
