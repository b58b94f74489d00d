#include "glb.h"

#include <throng/core/file.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "glTF is little-endian, and numbers are put as they lie");

static void fail(th_glb *glb, th_result result)
{
    if (glb->result == TH_OK)
        glb->result = result;
}

void th_glb_init(th_glb *glb)
{
    assert(glb);
    *glb = (th_glb){
        .document = json_pack("{s:{s:s, s:s}}", "asset", "version", "2.0", "generator", "throng"),
    };
    if (!glb->document)
        fail(glb, TH_ERR_MEMORY);
}

void th_glb_fini(th_glb *glb)
{
    json_decref(glb->document);
    free(glb->bytes);
}

/* ---- document ---- */

void th_glb_set(th_glb *glb, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        fail(glb, TH_ERR_MEMORY);
}

void th_glb_append(th_glb *glb, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        fail(glb, TH_ERR_MEMORY);
}

uint32_t th_glb_add(th_glb *glb, const char *list, json_t *value)
{
    assert(glb && list);
    json_t *array = json_object_get(glb->document, list);
    if (!array) {
        array = json_array();
        th_glb_set(glb, glb->document, list, array);
        if (glb->result != TH_OK) {
            json_decref(value);
            return 0;
        }
    }
    th_glb_append(glb, array, value);
    return (uint32_t)json_array_size(array) - 1;
}

static json_t *latin1(const char *text)
{
    char *utf8 = malloc(2 * strlen(text) + 1), *end = utf8;
    if (!utf8)
        return NULL;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c >= 0x80)
            *end++ = (char)(0xc0 | *c >> 6);
        *end++ = (char)(*c >= 0x80 ? 0x80 | (*c & 0x3f) : *c);
    }
    *end = 0;
    json_t *string = json_string(utf8);
    free(utf8);
    return string;
}

json_t *th_glb_text(const char *text)
{
    assert(text);
    json_t *string = json_string(text);
    return string ? string : latin1(text);
}

json_t *th_glb_numbers(const double *values, size_t count)
{
    assert(values && count > 0);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        if (json_array_append_new(array, json_real(values[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* ---- bytes ---- */

void th_glb_put(th_glb *glb, const void *data, size_t size)
{
    assert(glb && (data || size == 0));
    assert(glb->byte_count <= glb->capacity);
    if (glb->result != TH_OK || size == 0)
        return;
    if (size > UINT32_MAX - glb->byte_count) {
        fail(glb, TH_ERR_LIMIT);
        return;
    }
    if (size > glb->capacity - glb->byte_count) {
        size_t capacity = 2 * glb->byte_count + size + 4096;
        uint8_t *bytes = realloc(glb->bytes, capacity);
        if (!bytes) {
            fail(glb, TH_ERR_MEMORY);
            return;
        }
        glb->bytes = bytes;
        glb->capacity = capacity;
    }
    memcpy(glb->bytes + glb->byte_count, data, size);
    glb->byte_count += size;
}

static size_t padding(size_t size)
{
    return -size & 3;
}

uint32_t th_glb_begin_view(th_glb *glb, uint32_t stride, int target)
{
    assert(glb && stride % 4 == 0);
    th_glb_put(glb, "\0\0\0", padding(glb->byte_count));
    glb->view_start = glb->byte_count;
    assert(glb->result != TH_OK || glb->view_start % 4 == 0);
    json_t *view = json_pack("{s:i, s:I}", "buffer", 0, "byteOffset", (json_int_t)glb->view_start);
    if (stride)
        th_glb_set(glb, view, "byteStride", json_integer(stride));
    if (target)
        th_glb_set(glb, view, "target", json_integer(target));
    return th_glb_add(glb, "bufferViews", view);
}

void th_glb_end_view(th_glb *glb)
{
    assert(glb && (glb->result != TH_OK || glb->byte_count >= glb->view_start));
    json_t *views = json_object_get(glb->document, "bufferViews");
    json_t *view = json_array_get(views, json_array_size(views) - 1);
    th_glb_set(glb, view, "byteLength", json_integer((json_int_t)(glb->byte_count - glb->view_start)));
}

uint32_t th_glb_add_accessor(th_glb *glb, const th_glb_accessor *a)
{
    assert(glb && a && a->type && a->count > 0);
    assert(glb->result != TH_OK || (a->start >= glb->view_start && a->start <= glb->byte_count));
    assert(a->extent > 0 || (!a->min && !a->max));
    json_t *accessor = json_pack("{s:I, s:I, s:i, s:I, s:s}", "bufferView", (json_int_t)a->view, "byteOffset",
                                 (json_int_t)(a->start - glb->view_start), "componentType", a->component, "count",
                                 (json_int_t)a->count, "type", a->type);
    if (a->normalized)
        th_glb_set(glb, accessor, "normalized", json_true());
    if (a->min)
        th_glb_set(glb, accessor, "min", th_glb_numbers(a->min, a->extent));
    if (a->max)
        th_glb_set(glb, accessor, "max", th_glb_numbers(a->max, a->extent));
    return th_glb_add(glb, "accessors", accessor);
}

/* ---- file ---- */

/* header: magic, version, length; chunks: length, type, data padded to 4 bytes */
enum { MAGIC = 0x46546c67, JSON = 0x4e4f534a, BIN = 0x004e4942, HEADER_BYTES = 12, CHUNK_BYTES = 8 };

static th_result write_chunks(const char *path, char *json, size_t json_bytes, uint8_t *bin, size_t bin_bytes,
                              th_error *err)
{
    size_t json_padding = padding(json_bytes), bin_padding = padding(bin_bytes);
    size_t total = HEADER_BYTES + CHUNK_BYTES + json_bytes + json_padding;
    if (bin_bytes > 0)
        total += CHUNK_BYTES + bin_bytes + bin_padding;
    if (total > UINT32_MAX)
        return th_fail(err, TH_ERR_LIMIT, "cannot write %s: a .glb file holds less than 4 GiB", path);

    uint32_t header[] = {MAGIC, 2, (uint32_t)total, (uint32_t)(json_bytes + json_padding), JSON};
    uint32_t chunk[] = {(uint32_t)(bin_bytes + bin_padding), BIN};
    char spaces[] = "   ", zeros[] = {0, 0, 0};
    struct iovec parts[] = {
        {header, sizeof header}, {json, json_bytes}, {spaces, json_padding},
        {chunk, sizeof chunk},   {bin, bin_bytes},   {zeros, bin_padding},
    };
    return th_file_replace(path, parts, bin_bytes > 0 ? 6 : 3, err);
}

th_result th_glb_write(th_glb *glb, const char *path, th_error *err)
{
    assert(glb && path);
    if (glb->byte_count > 0)
        th_glb_add(glb, "buffers", json_pack("{s:I}", "byteLength", (json_int_t)glb->byte_count));
    if (glb->result == TH_ERR_LIMIT)
        return th_fail(err, TH_ERR_LIMIT, "cannot write %s: a .glb file holds less than 4 GiB", path);
    /* Nine digits reproduce every float exactly. */
    char *json = glb->result == TH_OK ? json_dumps(glb->document, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    if (!json)
        return th_fail(err, TH_ERR_MEMORY, "cannot write %s: out of memory", path);
    th_result result = write_chunks(path, json, strlen(json), glb->bytes, glb->byte_count, err);
    free(json);
    return result;
}
