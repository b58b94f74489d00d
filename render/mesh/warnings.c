#include "warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool th_mesh_warnings_add(th_mesh_warnings *warnings, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);

    char **texts = realloc(warnings->texts, (warnings->count + (size_t)1) * sizeof *texts);
    if (!texts)
        return false;
    warnings->texts = texts;
    char *copy = strdup(text);
    if (!copy)
        return false;
    texts[warnings->count++] = copy;
    return true;
}

void th_mesh_warnings_free(th_mesh_warnings *warnings)
{
    for (uint32_t n = 0; n < warnings->count; n++)
        free(warnings->texts[n]);
    free(warnings->texts);
    *warnings = (th_mesh_warnings){0};
}
