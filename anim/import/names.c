/* Names are printed and written to JSON, so they become clean UTF-8. Bones and channels of the file also find their
 * nodes by name, so different names must stay different: the result is stored for each byte sequence, and no clean text
 * is used for two of them. */
#include "scene.h"

#include <search.h>
#include <stdio.h>
#include <string.h>

typedef struct name_entry {
    const char *raw, *clean;
} name_entry;

static int compare_raw(const void *a, const void *b)
{
    return strcmp(((const name_entry *)a)->raw, ((const name_entry *)b)->raw);
}

static int compare_clean(const void *a, const void *b)
{
    return strcmp(((const name_entry *)a)->clean, ((const name_entry *)b)->clean);
}

/* Returns the existing entry, or inserts this one. */
static const name_entry *remember(void **tree, const name_entry *entry, int (*compare)(const void *, const void *))
{
    const name_entry *const *found = tsearch(entry, tree, compare);
    if (!found)
        give_up_memory();
    return *found;
}

/* Length of the UTF-8 sequence at `c`, or 0 if invalid. Overlong forms and surrogates pass; they do no harm, because
 * names are compared and printed, never decoded. */
static int sequence_length(const unsigned char *c)
{
    int length = *c < 0x80                 ? 1
                 : *c >= 0xc2 && *c < 0xe0 ? 2
                 : *c >= 0xe0 && *c < 0xf0 ? 3
                 : *c >= 0xf0 && *c < 0xf5 ? 4
                                           : 0;
    for (int i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

static bool is_utf8(const char *raw)
{
    for (int length; *raw; raw += length)
        if ((length = sequence_length((const unsigned char *)raw)) == 0)
            return false;
    return true;
}

static bool is_control(unsigned code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* Old formats mostly use an 8-bit encoding that they do not name. It is read as Latin-1. Text in another encoding
 * becomes unreadable, but stays distinct. */
static void clean_up(const char *raw, char *out)
{
    bool utf8 = is_utf8(raw);
    for (const unsigned char *c = (const unsigned char *)raw; *c;) {
        int length = utf8 ? sequence_length(c) : 1;
        unsigned code = length == 1 ? *c
                                    : (*c & 0x1fu) << 6 |
                                          (c[1] & 0x3fu); /* wrong for longer sequences, which does not matter here */
        if (length <= 2 && is_control(code))
            out += sprintf(out, "\\x%02x", code);
        else if (length == 1 && code >= 0x80)
            out += sprintf(out, "%c%c", 0xc0 | code >> 6, 0x80 | (code & 0x3f));
        else
            out += sprintf(out, "%.*s", length, (const char *)c);
        c += length;
    }
}

const char *read_name(scene *s, const char *text)
{
    known_names *t = &s->names;
    size_t length = strnlen(text, sizeof((struct aiString *)0)->data - 1);
    char *raw = make(s, char, length + 1);
    memcpy(raw, text, length);
    name_entry *entry = make(s, name_entry, 1);
    *entry = (name_entry){.raw = raw};
    const name_entry *known = remember(&t->by_raw, entry, compare_raw);
    if (known != entry)
        return known->clean;

    size_t size = 4 * length + 16; /* room for "\x01" and a number */
    char *clean = make(s, char, size);
    clean_up(raw, clean);
    size_t end = strlen(clean);
    entry->clean = clean;
    while (remember(&t->by_clean, entry, compare_clean) != entry)
        snprintf(clean + end, size - end, "~%u", ++t->taken);
    warn(s, WARN_TEXT_BROKEN, strcmp(raw, clean) != 0, "%s", clean);
    return clean;
}

const char *label_mesh(scene *s, uint32_t mesh)
{
    const char *name = read_name(s, s->ai->mMeshes[mesh]->mName.data);
    return name[0] ? name : make_string(s, "#%u", mesh);
}
