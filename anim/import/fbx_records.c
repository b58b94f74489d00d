#include "fbx_records.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAX_DEPTH 32

/* The input that is left. */
typedef struct bytes {
    const char *at, *end, *start;
    bool wide; /* binary, version 7.5 or later: 64-bit offsets */
} bytes;

/* ---- shared by both encodings ---- */

static void add_value(scene *s, fbx_record *record, const fbx_value *value)
{
    if (record->value_count == FBX_VALUES)
        return;
    if (!record->values)
        record->values = make(s, fbx_value, FBX_VALUES);
    record->values[record->value_count++] = *value;
}

/* Appends a new record to a list whose last link is *last. */
static fbx_record *add_record(scene *s, fbx_record ***last, const char *name, size_t name_size)
{
    fbx_record *record = make(s, fbx_record, 1);
    record->name = name;
    record->name_size = name_size;
    **last = record;
    *last = &record->next;
    return record;
}

/* ---- binary ---- */

/* Little-endian. */
static bool read_integer(bytes *b, unsigned size, uint64_t *out)
{
    *out = 0;
    if ((size_t)(b->end - b->at) < size)
        return false;
    for (unsigned i = 0; i < size; i++)
        *out |= (uint64_t)(unsigned char)b->at[i] << (8 * i);
    b->at += size;
    return true;
}

static bool read_run(bytes *b, uint64_t size, const char **out)
{
    if ((uint64_t)(b->end - b->at) < size)
        return false;
    *out = b->at;
    b->at += size;
    return true;
}

static bool read_array(bytes *b, fbx_value *out)
{
    uint64_t count, encoding, size;
    if (!read_integer(b, 4, &count) || !read_integer(b, 4, &encoding) || !read_integer(b, 4, &size) || encoding > 1)
        return false;
    out->type = FBX_ARRAY;
    out->count = (uint32_t)count;
    out->deflated = encoding == 1;
    out->size = out->deflated ? size : count * (out->element == 'b' ? 1 : strchr("fi", out->element) ? 4 : 8);
    return read_run(b, out->size, &out->text);
}

static fbx_value number_value(double number, int64_t integer)
{
    return (fbx_value){.type = FBX_NUMBER, .number = number, .integer = integer};
}

static bool read_binary_value(bytes *b, fbx_value *out)
{
    uint64_t type, raw = 0;
    if (!read_integer(b, 1, &type))
        return false;
    *out = (fbx_value){.element = (char)type};
    switch (type) {
    case 'C':
        return read_integer(b, 1, &raw) && (*out = number_value((double)raw, (int64_t)raw), true);
    case 'Y':
        return read_integer(b, 2, &raw) && (*out = number_value((int16_t)raw, (int16_t)raw), true);
    case 'I':
        return read_integer(b, 4, &raw) && (*out = number_value((int32_t)raw, (int32_t)raw), true);
    case 'L':
        return read_integer(b, 8, &raw) && (*out = number_value((double)(int64_t)raw, (int64_t)raw), true);
    case 'F': {
        float number;
        bool good = read_integer(b, 4, &raw);
        memcpy(&number, &(uint32_t){(uint32_t)raw}, sizeof number);
        *out = number_value((double)number, 0);
        return good;
    }
    case 'D': {
        double number;
        bool good = read_integer(b, 8, &raw);
        memcpy(&number, &raw, sizeof number);
        *out = number_value(number, 0);
        return good;
    }
    case 'S':
    case 'R':
        out->type = FBX_TEXT;
        out->size = read_integer(b, 4, &raw) ? raw : SIZE_MAX;
        return read_run(b, out->size, &out->text);
    default:
        return strchr("fdlibc", (int)type) && type != 0 && read_array(b, out);
    }
}

/* Reads records up to b->end, or up to the empty record that closes a list. */
static void read_binary(scene *s, bytes *b, fbx_record *into, int depth)
{
    fbx_record **last = &into->first;
    const unsigned width = b->wide ? 8 : 4;
    uint64_t end, value_count, value_size, name_size;
    const char *name;
    while (depth < MAX_DEPTH && read_integer(b, width, &end) && read_integer(b, width, &value_count) &&
           read_integer(b, width, &value_size) && read_integer(b, 1, &name_size) && end != 0 &&
           read_run(b, name_size, &name) && end <= (uint64_t)(b->end - b->start) && b->start + end >= b->at) {
        fbx_record *record = add_record(s, &last, name, name_size);
        bytes inside = {b->at, b->start + end, b->start, b->wide};
        fbx_value value;
        for (uint64_t v = 0; v < value_count && read_binary_value(&inside, &value); v++)
            add_value(s, record, &value);
        if (value_size <= (uint64_t)(inside.end - b->at)) {
            inside.at = b->at + value_size;
            read_binary(s, &inside, record, depth + 1);
        }
        b->at = b->start + end;
    }
}

/* ---- text ---- */

static void skip_space(bytes *b, bool lines)
{
    for (; b->at < b->end; b->at++) {
        if (*b->at == ';')
            while (b->at + 1 < b->end && b->at[1] != '\n')
                b->at++;
        else if (!isspace((unsigned char)*b->at) || (*b->at == '\n' && !lines))
            return;
    }
}

/* Reads a word, a number or a quoted string. */
static bool read_text_value(bytes *b, fbx_value *out)
{
    const char *from = b->at;
    *out = (fbx_value){.type = FBX_TEXT, .text = from};
    if (b->at < b->end && *b->at == '"') {
        out->text = ++b->at;
        while (b->at < b->end && *b->at != '"')
            b->at++;
        out->size = (size_t)(b->at - out->text);
        b->at += b->at < b->end;
        return true;
    }
    while (b->at < b->end && !isspace((unsigned char)*b->at) && !strchr(",{}:;", *b->at))
        b->at++;
    out->size = (size_t)(b->at - from);
    char copy[64] = "", *end = copy;
    if (out->size == 0 || out->size >= sizeof copy)
        return out->size > 0;
    memcpy(copy, from, out->size);
    double number = strtod(copy, &end);
    if (*end == '\0')
        *out = number_value(number, strtoll(copy, NULL, 10));
    else if (out->size == 1) /* a single letter stands for its code: Type: C */
        *out = (fbx_value){FBX_TEXT, '\0', 0, (unsigned char)*from, from, 1, 0, false};
    return true;
}

/* Reads *COUNT { a: NUMBERS } from behind the star. The numbers stay text. */
static void read_text_array(bytes *b, fbx_value *out)
{
    char *end;
    char count[24] = "";
    for (size_t i = 0; i + 1 < sizeof count && b->at < b->end && isdigit((unsigned char)*b->at); i++)
        count[i] = *b->at++;
    *out = (fbx_value){.type = FBX_ARRAY, .count = (uint32_t)strtoul(count, &end, 10)};
    while (b->at < b->end && *b->at != ':' && *b->at != '}')
        b->at++;
    b->at += b->at < b->end && *b->at == ':';
    out->text = b->at;
    while (b->at < b->end && *b->at != '}')
        b->at++;
    out->size = (size_t)(b->at - out->text);
    b->at += b->at < b->end;
}

static void read_text_values(scene *s, bytes *b, fbx_record *record)
{
    fbx_value value;
    for (bool more = true; more;) {
        skip_space(b, false);
        if (b->at < b->end && *b->at == '*') {
            b->at++;
            read_text_array(b, &value);
            add_value(s, record, &value);
        } else if (read_text_value(b, &value)) {
            add_value(s, record, &value);
        }
        skip_space(b, false);
        more = b->at < b->end && *b->at == ',';
        if (more) {
            b->at++;
            skip_space(b, true);
        }
    }
}

/* Reads records up to the brace that closes the list. */
static void read_text_records(scene *s, bytes *b, fbx_record *into, int depth)
{
    fbx_record **last = &into->first;
    fbx_value name;
    for (;;) {
        skip_space(b, true);
        if (b->at == b->end || *b->at == '}' || depth == MAX_DEPTH || !read_text_value(b, &name) ||
            name.type != FBX_TEXT || b->at == b->end || *b->at != ':')
            break;
        b->at++;
        fbx_record *record = add_record(s, &last, name.text, name.size);
        read_text_values(s, b, record);
        if (b->at < b->end && *b->at == '{') {
            b->at++;
            read_text_records(s, b, record, depth + 1);
        }
    }
    b->at += b->at < b->end && *b->at == '}';
}

/* ---- the file ---- */

const fbx_record *parse_fbx_records(scene *s)
{
    static const char magic[23] = "Kaydara FBX Binary  \0\x1a";
    fbx_record *root = make(s, fbx_record, 1);
    bytes b = {s->bytes, s->bytes + s->byte_count, s->bytes, false};
    if (s->byte_count > sizeof magic + 4 && memcmp(s->bytes, magic, sizeof magic - 1) == 0) {
        uint64_t version;
        b.at += sizeof magic;
        read_integer(&b, 4, &version);
        b.wide = version >= 7500;
        read_binary(s, &b, root, 0);
    } else {
        read_text_records(s, &b, root, 0);
    }
    return root->first ? root : NULL;
}

/* ---- lookup ---- */

const fbx_record *find_fbx_record(const fbx_record *inside, const fbx_record *after, const char *name)
{
    const fbx_record *r = after ? after->next : inside ? inside->first : NULL;
    while (r && (r->name_size != strlen(name) || memcmp(r->name, name, r->name_size) != 0))
        r = r->next;
    return r;
}

bool is_fbx_text(const fbx_record *record, uint32_t index, const char *text)
{
    const fbx_value *value = record && index < record->value_count ? &record->values[index] : NULL;
    return value && value->type == FBX_TEXT && value->size == strlen(text) &&
           memcmp(value->text, text, value->size) == 0;
}

double fbx_number(const fbx_record *record, uint32_t index, double otherwise)
{
    bool good = record && index < record->value_count && record->values[index].type == FBX_NUMBER;
    return good ? record->values[index].number : otherwise;
}

int64_t fbx_integer(const fbx_record *record, uint32_t index, int64_t otherwise)
{
    const fbx_value *value = record && index < record->value_count ? &record->values[index] : NULL;
    bool good = value && (value->type == FBX_NUMBER || (value->type == FBX_TEXT && value->size == 1));
    return good ? value->integer : otherwise;
}

/* ---- arrays ---- */

static bool parse_numbers(const fbx_value *v, double *out)
{
    const char *at = v->text, *const end = v->text + v->size;
    for (uint32_t i = 0; i < v->count; i++) {
        char number[64] = "", *rest = number;
        size_t length = 0;
        while (at < end && (isspace((unsigned char)*at) || *at == ','))
            at++;
        while (at < end && !isspace((unsigned char)*at) && *at != ',' && length + 1 < sizeof number)
            number[length++] = *at++;
        out[i] = strtod(number, &rest);
        if (length == 0 || *rest)
            return false;
    }
    return true;
}

static unsigned width_of(char element)
{
    return element == 'i' || element == 'f' ? 4 : 8;
}

static double number_at(const unsigned char *raw, char element, uint32_t index)
{
    int32_t i;
    int64_t l;
    float f;
    double d;
    const unsigned char *at = raw + (size_t)index * width_of(element);
    switch (element) {
    case 'i':
        memcpy(&i, at, sizeof i);
        return i;
    case 'l':
        memcpy(&l, at, sizeof l);
        return (double)l;
    case 'f':
        memcpy(&f, at, sizeof f);
        return (double)f;
    default:
        memcpy(&d, at, sizeof d);
        return d;
    }
}

static bool unpack_numbers(scene *s, const fbx_value *v, double *out)
{
    const unsigned char *raw = (const unsigned char *)v->text;
    if (v->deflated) {
        uLongf wanted = (uLongf)v->count * width_of(v->element), size = wanted;
        unsigned char *inflated = make(s, unsigned char, wanted);
        if (uncompress(inflated, &size, raw, v->size) != Z_OK || size != wanted)
            return false;
        raw = inflated;
    }
    for (uint32_t i = 0; i < v->count; i++)
        out[i] = number_at(raw, v->element, i);
    return true;
}

/* Whether `count` numbers fit into the stored bytes: as text a number takes at least two, and deflate expands a byte to
 * at most 1,032. Prevents a false count from using up memory. */
static bool is_possible(const fbx_value *v)
{
    uint64_t most = v->size * (v->deflated ? (uint64_t)1032 : 1);
    return v->count <= most / (v->element ? width_of(v->element) : 1);
}

const double *read_fbx_numbers(scene *s, const fbx_record *record, uint32_t *out_count)
{
    const fbx_value *v = record && record->value_count > 0 ? &record->values[0] : NULL;
    *out_count = 0;
    if (!v || v->type != FBX_ARRAY || (v->element && !strchr("ilfd", v->element)) || !is_possible(v))
        return NULL;
    double *out = make(s, double, v->count);
    if (!(v->element ? unpack_numbers(s, v, out) : parse_numbers(v, out)))
        return NULL;
    *out_count = v->count;
    return out;
}
