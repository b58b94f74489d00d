#include "program.h"

#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
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

/* A stage goes to the driver as one string, because Mesa loses the string number of `#line`. So lines are numbered
 * through all pieces; this finds the piece and the line within it. */
static bool find_position(const char *prelude, const stage *s, unsigned long line, source_position *out)
{
    unsigned long count = count_lines(prelude);
    out->file = "the defines";
    for (int i = 0; line > count && i < TH_PROGRAM_PIECES && s->pieces[i]; i++) {
        line -= count;
        count = count_lines(s->pieces[i]->text) + 1;
        out->file = s->pieces[i]->name;
    }
    out->line = line;
    return line >= 1 && line <= count;
}

/* Drivers write positions as "0:12(5): error", "0(12) : error" or "ERROR: 0:12:". */
static bool parse_position(const char *prelude, const stage *s, const char *line, source_position *out)
{
    line += strncmp(line, "ERROR: ", 7) == 0 ? 7 : 0;
    if ((strncmp(line, "0:", 2) != 0 && strncmp(line, "0(", 2) != 0) || !isdigit((unsigned char)line[2]))
        return false;
    char *end;
    unsigned long number = strtoul(line + 2, &end, 10);
    out->rest = end + strspn(end, "0123456789(): ");
    return find_position(prelude, s, number, out);
}

/* Returns the first line of the log that mentions an error, or else the first line. Truncates the log after it. */
static const char *find_error(char *log)
{
    char *first = NULL;
    char *found = NULL;
    char *save;
    for (char *line = strtok_r(log, "\n", &save); line && !found; line = strtok_r(NULL, "\n", &save)) {
        if (!first)
            first = line;
        if (strcasestr(line, "error"))
            found = line;
    }
    return found ? found : first ? first : "the driver does not say why";
}

static th_result fail_compile(const th_program_desc *desc, const char *prelude, const stage *s, GLuint shader,
                              th_error *err)
{
    GLint size = 0;
    glGetShaderiv(shader, GL_INFO_LOG_LENGTH, &size);
    char *log = calloc(1, (size_t)size + 1);
    if (!log)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a shader's log");
    glGetShaderInfoLog(shader, size, NULL, log);
    const char *line = find_error(log);
    source_position at;
    if (parse_position(prelude, s, line, &at))
        th_fail(err, TH_ERR_ENVIRONMENT, "program %s, %s shader: %s, line %lu: %s", desc->name, s->name, at.file,
                at.line, at.rest);
    else
        th_fail(err, TH_ERR_ENVIRONMENT, "program %s, %s shader: %s", desc->name, s->name, line);
    free(log);
    return TH_ERR_ENVIRONMENT;
}

static void write_prelude(const th_program_desc *desc, char *text, size_t capacity)
{
    size_t length = (size_t)snprintf(text, capacity, "#version 430 core\n");
    for (int i = 0; i < TH_PROGRAM_DEFINES && desc->defines[i]; i++) {
        length += (size_t)snprintf(text + length, capacity - length, "#define %s\n", desc->defines[i]);
        assert(length < capacity);
    }
}

static bool set_source(GLuint shader, const char *prelude, const stage *s)
{
    size_t size = strlen(prelude) + 1;
    for (int i = 0; i < TH_PROGRAM_PIECES && s->pieces[i]; i++)
        size += strlen(s->pieces[i]->text) + 1;
    char *text = malloc(size);
    if (!text)
        return false;
    char *end = stpcpy(text, prelude);
    for (int i = 0; i < TH_PROGRAM_PIECES && s->pieces[i]; i++)
        end = stpcpy(stpcpy(end, s->pieces[i]->text), "\n");
    glShaderSource(shader, 1, &(const char *){text}, NULL);
    free(text);
    return true;
}

static th_result compile(const th_program_desc *desc, const stage *s, GLuint shader, th_error *err)
{
    char prelude[2048];
    write_prelude(desc, prelude, sizeof prelude);
    if (!set_source(shader, prelude, s))
        return th_fail(err, TH_ERR_MEMORY, "no memory for a shader's source");
    glCompileShader(shader);
    GLint good = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    return good ? TH_OK : fail_compile(desc, prelude, s, shader, err);
}

static th_result attach(GLuint program, const th_program_desc *desc, const stage *s, th_error *err)
{
    if (!s->pieces[0])
        return TH_OK;
    GLuint shader = glCreateShader(s->type);
    th_result result = compile(desc, s, shader, err);
    if (!result)
        glAttachShader(program, shader);
    glDeleteShader(shader); /* the program keeps it alive */
    return result;
}

static th_result link_program(GLuint program, const char *name, th_error *err)
{
    glLinkProgram(program);
    GLint good = GL_FALSE;
    glGetProgramiv(program, GL_LINK_STATUS, &good);
    if (good)
        return TH_OK;
    char log[4096] = "";
    glGetProgramInfoLog(program, sizeof log, NULL, log);
    return th_fail(err, TH_ERR_ENVIRONMENT, "program %s does not link: %s", name, find_error(log));
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
        result = attach(program, desc, &stages[i], err);
    if (!result)
        result = link_program(program, desc->name, err);
    if (result) {
        glDeleteProgram(program);
        return result;
    }
    *out_program = program;
    return TH_OK;
}
