#include "warnings.h"

#include "scene.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const texts[REPAIR_COUNT] = {
#define REPAIR_TEXT(name, text) [REPAIR_##name] = text,
    REPAIRS(REPAIR_TEXT)
#undef REPAIR_TEXT
};

void repair(scene *s, repair_kind kind, uint64_t count, const char *where, ...)
{
    if (count == 0)
        return;
    if (s->repairs.kind[kind].count == 0) {
        va_list args;
        va_start(args, where);
        vsnprintf(s->repairs.kind[kind].first, sizeof s->repairs.kind[kind].first, where, args);
        va_end(args);
    }
    s->repairs.kind[kind].count += count;
}

/* Copies `text`, taking one side of each [one|many]. `out` has room for all of it. */
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

void write_notes(scene *s)
{
    const char **notes = make(s, const char *, REPAIR_COUNT);
    for (int k = 0; k < REPAIR_COUNT; k++) {
        uint64_t count = s->repairs.kind[k].count;
        char text[256];
        if (count == 0)
            continue;
        inflect(text, texts[k], count == 1);
        notes[s->model->note_count++] = make_text(s, "%llu %s (%s%s)", (unsigned long long)count, text,
                                                  count == 1 ? "" : "first: ", s->repairs.kind[k].first);
    }
    s->model->notes = notes;
}
