#include <core/json.h>

#include <core/text_format.h>

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

json_t *th_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *th_json_count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

json_t *th_json_hash(uint64_t hash)
{
    return json_sprintf("%016llx", (unsigned long long)hash);
}

/* Names in model files may be any bytes, and jansson rejects what is not UTF-8. This slow check runs only on rejected
 * text. */
static json_t *repaired_text(const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t length = strlen(text), used = 0;
    char *out = malloc(length * 3 + 1);
    if (!out)
        return NULL;
    while (*text) {
        size_t width = 1;
        json_t *piece = NULL;
        for (; width <= 4 && width <= length && !piece; width++)
            piece = json_stringn(text, width);
        width = piece ? width - 1 : 1;
        memcpy(out + used, piece ? text : replacement, piece ? width : 3);
        used += piece ? width : 3;
        text += width;
        length -= width;
        json_decref(piece);
    }
    json_t *json = json_stringn(out, used);
    free(out);
    return json;
}

json_t *th_json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *json = json_string(text);
    return json ? json : repaired_text(text);
}

json_t *th_json_text_if_any(const char *text)
{
    return th_json_text(text && text[0] ? text : NULL);
}

json_t *th_json_reals(const double *values, size_t count)
{
    assert(values || count == 0);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        array = th_json_append(array, th_json_real(values[i]));
    return array;
}

json_t *th_json_append(json_t *array, json_t *value)
{
    assert(!array || json_is_array(array));
    if (json_array_append_new(array, value) == 0)
        return array;
    json_decref(array);
    return NULL;
}

void th_json_append_format(json_t **texts, const char *format, ...)
{
    assert(texts && format);
    char text[1024], clean[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *texts = th_json_append(*texts, th_json_text(th_printable(text, clean, sizeof clean)));
}

json_t *th_json_merge(json_t *object, json_t *more)
{
    assert(!object || json_is_object(object));
    assert(!more || json_is_object(more));
    assert(!object || object != more);
    bool merged = json_object_update(object, more) == 0;
    json_decref(more);
    if (merged)
        return object;
    json_decref(object);
    return NULL;
}

json_t *th_json_set(json_t *object, const char *name, json_t *value)
{
    assert(!object || json_is_object(object));
    assert(name);
    if (json_object_set_new(object, name, value) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- writing ---- */

/* For json_dump_callback, which passes whole characters. jansson itself escapes those below U+0020 only. */
static int put(const char *text, size_t size, void *file)
{
    size_t done = 0;
    for (size_t at = 0; at < size; at++) {
        const unsigned char *c = (const unsigned char *)text + at;
        const size_t length = *c < 0x7f ? 0 : th_control_length(text + at);
        if (length == 0)
            continue;
        unsigned point = *c & 0xffu >> (length + (length > 1));
        for (size_t i = 1; i < length; i++)
            point = point << 6 | (c[i] & 0x3fu);
        fwrite(text + done, 1, at - done, file);
        fprintf(file, "\\u%04X", point);
        done = at + length;
    }
    fwrite(text + done, 1, size - done, file);
    return ferror((FILE *)file);
}

bool th_json_put(const json_t *value, size_t flags, FILE *file)
{
    assert(file);
    return json_dump_callback(value, put, file, flags | JSON_ENCODE_ANY) == 0;
}

char *th_json_line(const json_t *value, int digits)
{
    assert(digits >= 1 && digits <= 17);
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    bool is_whole = file && th_json_put(value, JSON_COMPACT | JSON_REAL_PRECISION((size_t)digits), file);
    is_whole = file && fclose(file) == 0 && is_whole;
    if (is_whole)
        return text;
    free(text);
    return NULL;
}

static bool is_flat(const json_t *value)
{
    size_t index;
    const char *key;
    json_t *child;
    json_array_foreach(value, index, child)
    {
        if (json_is_object(child) || json_is_array(child))
            return false;
    }
    json_object_foreach((json_t *)value, key, child)
    {
        if (json_is_object(child) || json_is_array(child))
            return false;
    }
    return true;
}

typedef struct writer {
    FILE *file;
    size_t flags;
    bool failed;
} writer;

static void write_value(writer *w, const json_t *value, int depth)
{
    const bool is_object = json_is_object(value);
    if (is_flat(value)) {
        w->failed |= !th_json_put(value, w->flags, w->file);
        return;
    }
    const char *key, *separator = is_object ? "{" : "[";
    size_t index;
    json_t *child;
    /* One of the two loops has nothing to visit. */
    json_object_foreach((json_t *)value, key, child)
    {
        fprintf(w->file, "%s\n%*s", separator, 2 * depth + 2, "");
        json_t *name = json_string(key); /* quotes and escapes the key */
        w->failed |= !th_json_put(name, w->flags, w->file);
        json_decref(name);
        fputs(": ", w->file);
        write_value(w, child, depth + 1);
        separator = ",";
    }
    json_array_foreach(value, index, child)
    {
        fprintf(w->file, "%s\n%*s", separator, 2 * depth + 2, "");
        write_value(w, child, depth + 1);
        separator = ",";
    }
    fprintf(w->file, "\n%*s%c", 2 * depth, "", is_object ? '}' : ']');
}

bool th_json_write(const json_t *document, int digits, FILE *file)
{
    assert(file);
    assert(digits >= 1 && digits <= 17);
    writer w = {file, JSON_REAL_PRECISION((size_t)digits), false};
    write_value(&w, document, 0);
    fputc('\n', file);
    return !w.failed && !ferror(file);
}
