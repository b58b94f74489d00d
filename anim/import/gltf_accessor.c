/* The numbers behind a glTF accessor (Khronos, glTF 2.0 Specification, 2021, section 3.6.2). */
#include "gltf.h"
#include "ipc.h"

#include <stdlib.h>
#include <string.h>

/* The accessor that is being read; also for messages. */
typedef struct reader {
    const scene *s;
    const json_t *file;
    gltf_buffer *buffers;
    uint32_t accessor;
    const char *where;
} reader;

/* Consecutive elements in a buffer, all within its bytes. */
typedef struct row {
    const char *bytes;
    size_t stride;
} row;

_Noreturn static void reject(const reader *r, const char *why)
{
    give_up(TH_ERR_INPUT, "%s: the keys of a CUBICSPLINE (accessor %u) %s", r->where, r->accessor, why);
}

/* A member that is a byte or element count; `otherwise` if it is missing. */
static size_t size_of(const reader *r, const json_t *object, const char *member, size_t otherwise)
{
    const json_t *number = json_object_get(object, member);
    double value = json_number_value(number);
    if (!number)
        return otherwise;
    if (!json_is_number(number) || !(value >= 0 && value < 0x1p40))
        reject(r, "lie where there is no place");
    return (size_t)value;
}

/* from: JSON object with a bufferView and an offset into it. */
static row find_row(const reader *r, const json_t *from, size_t element_bytes, size_t count)
{
    const json_t *view = gltf_at(json_object_get(r->file, "bufferViews"), gltf_index(from, "bufferView"));
    uint32_t index = gltf_index(view, "buffer");
    if (index >= json_array_size(json_object_get(r->file, "buffers")) ||
        !read_gltf_buffer(r->s, r->file, index, &r->buffers[index]))
        reject(r, "lie in a buffer that cannot be read");
    const gltf_buffer *buffer = &r->buffers[index];
    size_t start = size_of(r, view, "byteOffset", 0), length = size_of(r, view, "byteLength", 0);
    size_t offset = size_of(r, from, "byteOffset", 0), stride = size_of(r, view, "byteStride", 0);
    stride = stride ? stride : element_bytes;
    if (start > buffer->size || length > buffer->size - start || offset > length ||
        (count > 0 && (element_bytes > length - offset || (length - offset - element_bytes) / stride < count - 1)))
        reject(r, "reach beyond the bytes that there are");
    return (row){buffer->bytes + start + offset, stride};
}

static size_t read_index(const char *bytes, uint32_t size)
{
    uint32_t index = 0;
    memcpy(&index, bytes, size); /* little-endian, as glTF */
    return index;
}

/* Replaces the elements that a sparse accessor stores elsewhere. */
static void read_sparse(const reader *r, const json_t *sparse, uint32_t width, size_t count, float *out)
{
    enum { U8 = 5121, U16 = 5123, U32 = 5125 };
    const json_t *where = json_object_get(sparse, "indices");
    uint32_t type = gltf_index(where, "componentType"), size = type == U8 ? 1 : type == U16 ? 2 : 4;
    if (size == 4 && type != U32)
        reject(r, "are sparse, with indices of an unknown kind");
    size_t some = size_of(r, sparse, "count", 0);
    row indices = find_row(r, where, size, some);
    row values = find_row(r, json_object_get(sparse, "values"), width * sizeof *out, some);
    for (size_t i = 0; i < some; i++) {
        size_t index = read_index(indices.bytes + i * indices.stride, size);
        if (index >= count)
            reject(r, "are sparse, with an index behind the last one");
        memcpy(out + index * width, values.bytes + i * values.stride, width * sizeof *out);
    }
}

static void check_accessor(const reader *r, const json_t *accessor, uint32_t width, size_t count)
{
    enum { FLOAT = 5126 };
    const char *type = json_string_value(json_object_get(accessor, "type"));
    if (gltf_index(accessor, "componentType") != FLOAT || !type || strcmp(type, width == 4 ? "VEC4" : "VEC3") != 0)
        reject(r, width == 4 ? "are not four floats each" : "are not three floats each");
    size_t there = size_of(r, accessor, "count", 0);
    if (there != count)
        give_up(TH_ERR_INPUT, "%s: a CUBICSPLINE of %zu keys needs %zu elements, accessor %u has %zu", r->where,
                count / 3, count, r->accessor, there);
}

float *read_gltf_floats(const scene *s, const json_t *file, gltf_buffer *buffers, uint32_t accessor, uint32_t width,
                        size_t count, const char *where)
{
    reader r = {s, file, buffers, accessor, where};
    const json_t *json = gltf_at(json_object_get(file, "accessors"), accessor);
    check_accessor(&r, json, width, count);
    float *out = calloc(count + 1, width * sizeof *out);
    if (!out)
        give_up_memory();
    if (json_object_get(json, "bufferView")) { /* else zeros */
        row values = find_row(&r, json, width * sizeof *out, count);
        for (size_t i = 0; i < count; i++)
            memcpy(out + i * width, values.bytes + i * values.stride, width * sizeof *out);
    }
    const json_t *sparse = json_object_get(json, "sparse");
    if (sparse)
        read_sparse(&r, sparse, width, count, out);
    return out;
}
