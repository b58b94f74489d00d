/* Names are shown to people and written to JSON, so they become clean UTF-8. They are also how the file's bones and
 * channels find their nodes, so two that differ in the file must differ afterwards: what became of which bytes is
 * remembered, and a clean text is never given away twice. */
#include "ipc.h"
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

/* The entry that was there before, or this one, which is there now. */
static const name_entry *remember(void **tree, const name_entry *entry, int (*compare)(const void *, const void *))
{
    const name_entry *const *found = tsearch(entry, tree, compare);
    if (!found)
        give_up_memory();
    return *found;
}

/* Length of the UTF-8 sequence at `c`, or 0 when it is none. Overlong forms and surrogates pass for want of anyone they
 * could hurt: names are compared and shown, never decoded. */
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

/* Old formats are mostly in an 8-bit code that they do not name: those are read as Latin-1. A text in another code is
 * as good as unreadable then, but still itself. */
static void clean_up(const char *raw, char *out)
{
    bool utf8 = is_utf8(raw);
    for (const unsigned char *c = (const unsigned char *)raw; *c;) {
        int length = utf8 ? sequence_length(c) : 1;
        unsigned code = length == 1 ? *c : (*c & 0x1fu) << 6 | (c[1] & 0x3fu); /* of longer ones, not the true one */
        if (length <= 2 && is_control(code))
            out += sprintf(out, "\\x%02x", code);
        else if (length == 1 && code >= 0x80)
            out += sprintf(out, "%c%c", 0xc0 | code >> 6, 0x80 | (code & 0x3f));
        else
            out += sprintf(out, "%.*s", length, (const char *)c);
        c += length;
    }
}

const char *read_name(scene *s, const struct aiString *in)
{
    known_names *t = &s->names;
    size_t length = strnlen(in->data, sizeof in->data - 1);
    char *raw = make(s, char, length + 1);
    memcpy(raw, in->data, length);
    name_entry *entry = make(s, name_entry, 1);
    *entry = (name_entry){.raw = raw};
    const name_entry *known = remember(&t->by_raw, entry, compare_raw);
    if (known != entry)
        return known->clean;

    size_t size = 4 * length + 16; /* "\x01", and a number */
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
    const char *name = read_name(s, &s->ai->mMeshes[mesh]->mName);
    return name[0] ? name : make_string(s, "#%u", mesh);
}
