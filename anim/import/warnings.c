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

/* Messages are the same if what is kept of them is. */
void hear(scene *s, const char *message)
{
    /* How messages begin about what is not drawn or is said elsewhere, or about nothing. */
    static const char *const noise[] = {"<add reason>",
                                        "AC3D: No material",
                                        "BlendDNA: Did not find",
                                        "Collada: No material specified for subgroup <>",
                                        "Collada: Orthographic cameras",
                                        "Collada: Unable to find camera",
                                        "Collada: Unable to find light",
                                        "Collada: Unable to resolve effect texture",
                                        "FBX-DOM (",
                                        "FBX-DOM: no Definitions",
                                        "FBX-DOM: unsupported, newer format",
                                        "FBX: ignoring additional",
                                        "FBX: no material",
                                        "Failed to read MD5",
                                        "IRR: No meshes",
                                        "Ignored file of",
                                        "OBJ: No object detected",
                                        "ScenePreprocessor: UVs",
                                        "Unexpected ThumbNail",
                                        "3DS: Skipping FOV"};
    const char *text = strstr(message, ": "); /* behind the kind and the thread */
    if (!text || (strncmp(message, "Warn", 4) != 0 && strncmp(message, "Error", 5) != 0))
        return;
    for (size_t n = 0; n < sizeof noise / sizeof *noise; n++)
        if (strncmp(text + 2, noise[n], strlen(noise[n])) == 0)
            return;
    char kept[sizeof s->warnings.heard[0].first];
    snprintf(kept, sizeof kept, "%s", text + 2);
    kept[strcspn(kept, "\r\n")] = '\0';
    for (int h = 0; h < HEARD_MOST; h++) {
        if (s->warnings.heard[h].count > 0 && strcmp(s->warnings.heard[h].first, kept) != 0)
            continue;
        strcpy(s->warnings.heard[h].first, kept);
        s->warnings.heard[h].count++;
        return;
    }
    s->warnings.unheard++;
}

static void write_heard(scene *s, const char **warnings)
{
    for (int h = 0; h < HEARD_MOST && s->warnings.heard[h].count > 0; h++) {
        char *text = s->warnings.heard[h].first;
        if (strstr(text, ".skeleton' that is ref") && s->model->clip_count > 0)
            continue; /* it was read from an .xml of that name */
        for (size_t end = strlen(text); end > 0 && strchr(" .", text[end - 1]);)
            text[--end] = '\0';
        warnings[s->model->warning_count++] = make_string(
            s, "Assimp says%s: %s", s->warnings.heard[h].count > 1 ? " several times" : "", read_name(s, text));
    }
    if (s->warnings.unheard > 0)
        warnings[s->model->warning_count++] =
            make_string(s, "Assimp says %llu things more", (unsigned long long)s->warnings.unheard);
}

void write_warnings(scene *s)
{
    const char **warnings = make(s, const char *, WARN_COUNT + HEARD_MOST + 1);
    write_heard(s, warnings); /* first, because names may be cleaned */
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
