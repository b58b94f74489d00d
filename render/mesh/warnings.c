#include "warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool th_notes_add(th_notes *notes, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);

    char **texts = realloc(notes->texts, (notes->count + (size_t)1) * sizeof *texts);
    if (!texts)
        return false;
    notes->texts = texts;
    char *copy = strdup(text);
    if (!copy)
        return false;
    texts[notes->count++] = copy;
    return true;
}

void th_notes_free(th_notes *notes)
{
    for (uint32_t n = 0; n < notes->count; n++)
        free(notes->texts[n]);
    free(notes->texts);
    *notes = (th_notes){0};
}
