#include "program.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stage {
    GLenum type;
    const char *name;
    const th_shader *const *pieces;
} stage;

typedef struct source_position {
    const char *file;
    unsigned long line;
    const char *rest; /* the message, in the driver's line */
} source_position;

static unsigned long count_lines(const char *text)
{
    unsigned long count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* Finds the piece and the line within it that a driver's message is about. Positions are "0:12(5): error", "0(12) :
 * error" or "ERROR: 0:12:". A stage goes to the driver as one string, because Mesa loses the string number of `#line`,
 * so lines are numbered through all pieces. */
static bool find_position(const char *prelude, const stage *s, const char *message, source_position *out)
{
    message += strncmp(message, "ERROR: ", 7) == 0 ? 7 : 0;
    if ((strncmp(message, "0:", 2) != 0 && strncmp(message, "0(", 2) != 0) || !isdigit((unsigned char)message[2]))
        return false;
    char *end;
    unsigned long line = strtoul(message + 2, &end, 10), count = count_lines(prelude);
    out->rest = end + strspn(end, "0123456789(): ");
    out->file = "the defines";
    for (int i = 0; line > count && i < TH_PROGRAM_PIECES && s->pieces[i]; i++) {
        line -= count;
        count = count_lines(s->pieces[i]->text) + 1;
        out->file = s->pieces[i]->name;
    }
    out->line = line;
    return line >= 1 && line <= count;
}

/* Returns the first line of the log that mentions an error, or else the first line. Truncates the log after it. */
static const char *find_error(char *log)
{
    char *first = NULL, *found = NULL, *save;
    for (char *line = strtok_r(log, "\n", &save); line && !found; line = strtok_r(NULL, "\n", &save)) {
        if (!first)
            first = line;
        if (strcasestr(line, "error"))
            found = line;
    }
    return found ? found : first ? first : "the driver does not say why";
}

/* Compiles the stage and attaches it. */
static th_result add_stage(GLuint program, const th_program_desc *desc, const stage *s, th_error *err)
{
    char prelude[2048];
    size_t length = (size_t)snprintf(prelude, sizeof prelude, "#version 430 core\n");
    for (int i = 0; i < TH_PROGRAM_DEFINES && desc->defines[i]; i++) {
        length += (size_t)snprintf(prelude + length, sizeof prelude - length, "#define %s\n", desc->defines[i]);
        assert(length < sizeof prelude);
    }
    size_t size = length + 1;
    for (int i = 0; i < TH_PROGRAM_PIECES && s->pieces[i]; i++)
        size += strlen(s->pieces[i]->text) + 1;
    char *text = malloc(size);
    if (!text)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a shader's source");
    char *end = stpcpy(text, prelude);
    for (int i = 0; i < TH_PROGRAM_PIECES && s->pieces[i]; i++)
        end = stpcpy(stpcpy(end, s->pieces[i]->text), "\n");
    const GLuint shader = glCreateShader(s->type);
    glShaderSource(shader, 1, &(const char *){text}, NULL);
    free(text);
    glCompileShader(shader);
    GLint good = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    GLint log_size = 0;
    glGetShaderiv(shader, GL_INFO_LOG_LENGTH, &log_size);
    char *log = good ? NULL : calloc(1, (size_t)log_size + 1);
    th_result result = TH_OK;
    if (good) {
        glAttachShader(program, shader);
    } else if (log) {
        source_position at;
        glGetShaderInfoLog(shader, log_size, NULL, log);
        const char *line = find_error(log);
        if (find_position(prelude, s, line, &at))
            result = th_fail(err, TH_ERR_ENVIRONMENT, "program %s, %s shader: %s, line %lu: %s", desc->name, s->name,
                             at.file, at.line, at.rest);
        else
            result = th_fail(err, TH_ERR_ENVIRONMENT, "program %s, %s shader: %s", desc->name, s->name, line);
    } else {
        result = th_fail(err, TH_ERR_MEMORY, "no memory for a shader's log");
    }
    free(log);
    glDeleteShader(shader); /* the program keeps it alive */
    return result;
}

th_result th_program_create(const th_program_desc *desc, GLuint *out_program, th_error *err)
{
    assert(desc && desc->name && out_program);
    assert(desc->vertex[0] || desc->compute[0]);
    *out_program = 0;
    const stage stages[] = {{GL_VERTEX_SHADER, "vertex", desc->vertex},
                            {GL_FRAGMENT_SHADER, "fragment", desc->fragment},
                            {GL_COMPUTE_SHADER, "compute", desc->compute}};
    GLuint program = glCreateProgram();
    th_result result = TH_OK;
    for (size_t i = 0; i < sizeof stages / sizeof *stages && !result; i++)
        if (stages[i].pieces[0])
            result = add_stage(program, desc, &stages[i], err);
    if (!result) {
        GLint good = GL_FALSE;
        char log[4096] = "";
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &good);
        if (!good) {
            glGetProgramInfoLog(program, sizeof log, NULL, log);
            result = th_fail(err, TH_ERR_ENVIRONMENT, "program %s does not link: %s", desc->name, find_error(log));
        }
    }
    if (result)
        glDeleteProgram(program);
    else
        *out_program = program;
    return result;
}

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
