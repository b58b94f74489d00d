#include "warnings.h"

#include "scene.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const texts[WARN_COUNT] = {
#define WARN_TEXT(name, text) [WARN_##name] = text,
    WARNINGS(WARN_TEXT)
#undef WARN_TEXT
};

void warn(scene *s, warning_kind kind, uint64_t count, const char *where, ...)
{
    if (count == 0)
        return;
    if (s->warnings.kind[kind].count == 0) {
        va_list args;
        va_start(args, where);
        vsnprintf(s->warnings.kind[kind].first, sizeof s->warnings.kind[kind].first, where, args);
        va_end(args);
    }
    s->warnings.kind[kind].count += count;
}

/* Copies `text`, taking one side of each [one|many]. `out` is large enough. */
static void inflect(char *out, const char *text, bool one)
{
    enum { ALWAYS, ONE, MANY } part = ALWAYS;
    for (; *text; text++) {
        if (*text == '[')
            part = ONE;
        else if (*text == '|')
            part = MANY;
        else if (*text == ']')
            part = ALWAYS;
        else if (part == ALWAYS || (part == ONE) == one)
            *out++ = *text;
    }
    *out = '\0';
}

void write_warnings(scene *s)
{
    const char **warnings = make(s, const char *, WARN_COUNT);
    for (int k = 0; k < WARN_COUNT; k++) {
        uint64_t count = s->warnings.kind[k].count;
        char text[256];
        if (count == 0)
            continue;
        inflect(text, texts[k], count == 1);
        warnings[s->model->warning_count++] = make_string(s, "%llu %s (%s%s)", (unsigned long long)count, text,
                                                          count == 1 ? "" : "first: ", s->warnings.kind[k].first);
    }
    s->model->warnings = warnings;
}
