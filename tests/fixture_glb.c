#include "fixture_glb.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static uint32_t u32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

glb read_glb(const char *path)
{
    glb g = {0};
    struct stat status;
    FILE *file = fopen(path, "rb");
    cr_assert(file && fstat(fileno(file), &status) == 0);
    size_t size = (size_t)status.st_size;
    g.file = malloc(size);
    cr_assert(g.file && fread(g.file, 1, size, file) == size);
    fclose(file);

    cr_assert(size >= 20 && memcmp(g.file, "glTF", 4) == 0);
    cr_assert_eq(u32(g.file + 4), 2);
    cr_assert_eq(u32(g.file + 8), size);
    uint32_t json_bytes = u32(g.file + 12);
    cr_assert_eq(json_bytes % 4, 0);
    cr_assert(memcmp(g.file + 16, "JSON", 4) == 0 && 20 + json_bytes <= size);
    json_error_t error;
    g.json = json_loadb((char *)g.file + 20, json_bytes, JSON_REJECT_DUPLICATES, &error);
    cr_assert(g.json, "%s", error.text);
    if (20 + json_bytes == size)
        return g;
    const uint8_t *chunk = g.file + 20 + json_bytes;
    cr_assert(memcmp(chunk + 4, "BIN", 4) == 0);
    cr_assert_eq(u32(chunk) % 4, 0);
    cr_assert_eq(chunk + 8 + u32(chunk), g.file + size);
    g.bin = chunk + 8;
    g.bin_bytes = u32(chunk);
    return g;
}

void free_glb(glb *g)
{
    json_decref(g->json);
    free(g->file);
}

json_t *item(const glb *g, const char *list, size_t index)
{
    return json_array_get(json_object_get(g->json, list), index);
}

size_t items(const glb *g, const char *list)
{
    return json_array_size(json_object_get(g->json, list));
}

size_t integer(const json_t *object, const char *key)
{
    return (size_t)json_integer_value(json_object_get(object, key));
}

const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static size_t width_of(const json_t *accessor)
{
    const char *type = text(accessor, "type");
    return strcmp(type, "SCALAR") == 0 ? 1 : strcmp(type, "MAT4") == 0 ? 16 : (size_t)(type[3] - '0');
}

static size_t component_bytes(const json_t *accessor)
{
    size_t type = integer(accessor, "componentType");
    return type == 5121 ? 1 : type == 5123 ? 2 : 4;
}

static size_t stride_of(const glb *g, const json_t *accessor)
{
    size_t stride = integer(item(g, "bufferViews", integer(accessor, "bufferView")), "byteStride");
    return stride ? stride : width_of(accessor) * component_bytes(accessor);
}

double number(const glb *g, size_t accessor, size_t element, size_t component)
{
    const json_t *a = item(g, "accessors", accessor);
    const uint8_t *at = g->bin + integer(item(g, "bufferViews", integer(a, "bufferView")), "byteOffset") +
                        integer(a, "byteOffset") + element * stride_of(g, a) + component * component_bytes(a);
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        float f32;
    } value;
    memcpy(&value, at, component_bytes(a));
    switch (integer(a, "componentType")) {
    case 5121:
        return value.u8;
    case 5123:
        return value.u16;
    case 5125:
        return value.u32;
    }
    return (double)value.f32;
}

size_t attribute(const glb *g, size_t mesh, const char *name)
{
    const json_t *primitives = json_object_get(item(g, "meshes", mesh), "primitives");
    return integer(json_object_get(json_array_get(primitives, 0), "attributes"), name);
}

static void check_views(const glb *g)
{
    cr_assert_eq(items(g, "buffers"), items(g, "bufferViews") > 0);
    size_t length = integer(item(g, "buffers", 0), "byteLength"), end = 0;
    cr_assert(length <= g->bin_bytes && g->bin_bytes - length < 4);
    for (size_t v = 0; v < items(g, "bufferViews"); v++) {
        const json_t *view = item(g, "bufferViews", v);
        cr_assert_eq(integer(view, "byteOffset") % 4, 0);
        cr_assert_geq(integer(view, "byteOffset"), end, "view %zu overlaps the one before", v);
        cr_assert_gt(integer(view, "byteLength"), 0);
        end = integer(view, "byteOffset") + integer(view, "byteLength");
        cr_assert_leq(end, length);
        cr_assert_eq(integer(view, "byteStride") % 4, 0);
    }
}

static void check_accessor(const glb *g, size_t index)
{
    const json_t *a = item(g, "accessors", index), *view = item(g, "bufferViews", integer(a, "bufferView"));
    size_t width = width_of(a), count = integer(a, "count");
    cr_assert_gt(count, 0);
    cr_assert_eq(integer(a, "byteOffset") % component_bytes(a), 0);
    cr_assert_leq(integer(a, "byteOffset") + (count - 1) * stride_of(g, a) + width * component_bytes(a),
                  integer(view, "byteLength"), "accessor %zu leaves its view", index);
    const json_t *min = json_object_get(a, "min"), *max = json_object_get(a, "max");
    cr_assert_eq(json_array_size(min), min ? width : 0);
    for (size_t c = 0; min && c < width; c++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (size_t e = 0; e < count; e++) {
            low = fmin(low, number(g, index, e, c));
            high = fmax(high, number(g, index, e, c));
        }
        cr_assert_eq((float)json_real_value(json_array_get(min, c)), low);
        cr_assert_eq((float)json_real_value(json_array_get(max, c)), high);
    }
}

static void check_unit(const glb *g, size_t accessor, size_t element)
{
    double length2 = 0;
    for (size_t i = 0; i < 4; i++)
        length2 += number(g, accessor, element, i) * number(g, accessor, element, i);
    cr_assert_float_eq(length2, 1, 1e-4, "rotation %zu of accessor %zu", element, accessor);
}

static void check_samplers(const glb *g)
{
    for (size_t c = 0; c < items(g, "animations"); c++) {
        const json_t *samplers = json_object_get(item(g, "animations", c), "samplers");
        for (size_t s = 0; s < json_array_size(samplers); s++) {
            const json_t *sampler = json_array_get(samplers, s);
            size_t input = integer(sampler, "input"), output = integer(sampler, "output");
            const json_t *times = item(g, "accessors", input), *values = item(g, "accessors", output);
            const char *mode = json_string_value(json_object_get(sampler, "interpolation"));
            size_t each = mode && strcmp(mode, "CUBICSPLINE") == 0 ? 3 : 1, count = integer(values, "count");
            if (width_of(values) == 1) /* weights: a number for each target */
                cr_assert_eq(count % (each * integer(times, "count")), 0);
            else
                cr_assert_eq(each * integer(times, "count"), count);
            cr_assert_geq(count, each == 3 ? 6 : 1, "a spline of one key");
            for (size_t k = each / 2; width_of(values) == 4 && k < count; k += each)
                check_unit(g, output, k);
            cr_assert(json_object_get(times, "min") && json_object_get(times, "max"));
            cr_assert_geq(number(g, input, 0, 0), 0);
            for (size_t k = 1; k < integer(times, "count"); k++)
                cr_assert_gt(number(g, input, k, 0), number(g, input, k - 1, 0));
        }
    }
}

void check_structure(const glb *g)
{
    cr_assert_str_eq(text(json_object_get(g->json, "asset"), "version"), "2.0");
    cr_assert_str_eq(text(json_object_get(g->json, "asset"), "generator"), "throng");
    check_views(g);
    for (size_t a = 0; a < items(g, "accessors"); a++)
        check_accessor(g, a);
    check_samplers(g);
}
