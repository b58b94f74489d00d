/* Files that Assimp 5.2.5 would misread or refuse but for a few bytes, which are changed in what it is given. */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n\v\f"

/* The frame rate is taken from the next line, if there is no blank before the end of its own. */
char *mend_md5(const char *bytes, size_t *size)
{
    char *out = malloc(2 * *size);
    size_t used = 0;
    if (!out)
        give_up_memory();
    for (size_t i = 0; i < *size; i++) {
        if (bytes[i] == '\n')
            out[used++] = ' ';
        out[used++] = bytes[i];
    }
    *size = used;
    return out;
}

/* The next word before `end`; *size: its length, 0 if there is none. */
static char *next_word(char *at, const char *end, size_t *size)
{
    while (at < end && strchr(BLANKS, *at))
        at++;
    for (*size = 0; at + *size < end && !strchr(BLANKS, at[*size]) && (at[*size] != '{' || *size == 0);)
        ++*size;
    return at;
}

static bool is_word(const char *word, size_t size, const char *text)
{
    return size == strlen(text) && memcmp(word, text, size) == 0;
}

/* Names may have blanks, and end sites may have names. Joints are in the file's order. Channels of places are read
 * where a joint has six channels in all. */
void mend_bvh(scene *s)
{
    size_t length, one;
    char *end = s->bytes + s->byte_count, *word = next_word(s->bytes, end, &length);
    if (!is_word(word, length, "HIERARCHY"))
        return;
    s->true_names = make(s, const char *, TH_MAX_JOINTS);
    bool has_six = false;
    for (uint32_t joint = 0; length > 0 && joint < TH_MAX_JOINTS && !is_word(word, length, "MOTION");) {
        const bool site = is_word(word, length, "End"),
                   begins = is_word(word, length, "ROOT") || is_word(word, length, "JOINT");
        warn(s, WARN_CHANNEL_PLACE, !has_six && length > 8 && memcmp(word + length - 8, "position", 8) == 0, "joint %u",
             joint - 1);
        if (is_word(word, length, "CHANNELS")) {
            const char *count = next_word(word + length, end, &one);
            has_six = is_word(count, one, "6");
        }
        word = next_word(word + length, end, &length);
        if (site && is_word(word, length, "Site"))
            word = next_word(word + length, end, &length);
        else if (!begins)
            continue;
        char *name = word, *last = word;
        while (length > 0 && *word != '{') {
            last = word + length;
            word = next_word(last, end, &length);
        }
        if (last > name && (site || memchr(name, ' ', (size_t)(last - name))))
            s->true_names[joint] = make_string(s, "%.*s", (int)(last - name), name);
        for (char *c = name; c < last; c++)
            *c = site ? ' ' : strchr(BLANKS, *c) ? '_' : *c;
        joint++;
    }
}
