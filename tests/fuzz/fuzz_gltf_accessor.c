/* glTF whose JSON is always sound, while its accessors and buffer views are whatever the bytes say: twelve numbers
 * for each accessor, where 0 stands for what would be right, then the buffer. */
#include "fuzz.h"
#include "importer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCESSORS = 9, NUMBERS = 12, MOST_TEXT = 8192 };

/* In the order of `scene_text`: what each accessor should be. */
static const struct {
    const char *type;
    int component;
} sound[ACCESSORS] = {{"VEC3", 5126}, {"SCALAR", 5123}, {"VEC4", 5121}, {"VEC4", 5126},  {"MAT4", 5126},
                      {"VEC3", 5126}, {"SCALAR", 5126}, {"VEC4", 5126}, {"SCALAR", 5126}};

static const char scene_text[] =
    "\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,1]}],"
    "\"nodes\":[{\"mesh\":0,\"skin\":0},{\"translation\":[0,1,0]}],\"skins\":[{\"joints\":[1],\"inverseBindMatrices\":"
    "4}],"
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":2,\"WEIGHTS_0\":3,\"COLOR_0\":3},"
    "\"indices\":1,\"targets\":[{\"POSITION\":5}]}]}],"
    "\"animations\":[{\"channels\":[{\"sampler\":0,\"target\":{\"node\":1,\"path\":\"rotation\"}},"
    "{\"sampler\":1,\"target\":{\"node\":0,\"path\":\"weights\"}}],"
    "\"samplers\":[{\"input\":6,\"output\":7},{\"input\":6,\"output\":8,\"interpolation\":\"STEP\"}]}]";

static void import(scene *s)
{
    if (read_gltf(s))
        finish_scene(s);
}

/* Small numbers as they are, others among those where arithmetic goes wrong. */
static long long number(uint8_t byte)
{
    static const long long odd[] = {-1, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, INT64_MAX, 0xfffffffc, 65536};
    return byte < 248 ? byte : odd[byte - 248];
}

static int write_accessor(char *out, size_t room, int index, const uint8_t *n)
{
    static const char *const types[] = {"SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"};
    char sparse[400] = "";
    if (n[8] > 0)
        snprintf(sparse, sizeof sparse,
                 ",\"sparse\":{\"count\":%lld,\"indices\":{\"bufferView\":%d,\"byteOffset\":%lld,\"componentType\":%d},"
                 "\"values\":{\"bufferView\":%d,\"byteOffset\":%lld}}",
                 number(n[8]), n[9] % 12, number(n[10]), 5121 + 2 * (n[9] % 3), n[9] >> 4, number(n[11]));
    return snprintf(out, room,
                    "%s{\"bufferView\":%d,\"byteOffset\":%lld,\"count\":%lld,\"type\":\"%s\","
                    "\"componentType\":%d,\"normalized\":%s%s}",
                    index ? "," : "", index, number(n[2]), n[3] ? number(n[3]) : 3,
                    n[1] ? types[n[1] % 7] : sound[index].type, n[0] ? 5120 + n[0] % 8 : sound[index].component,
                    n[7] & 1 ? "true" : "false", sparse);
}

static int write_view(char *out, size_t room, int index, const uint8_t *n)
{
    char stride[40] = "";
    if (n[6] > 0)
        snprintf(stride, sizeof stride, ",\"byteStride\":%lld", number(n[6]));
    return snprintf(out, room, "%s{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld%s}", index ? "," : "",
                    number(n[4]), n[5] ? number(n[5]) : 192, stride);
}

static int write_text(char *out, const uint8_t *numbers, size_t buffer_bytes)
{
    int used = snprintf(out, MOST_TEXT, "{%s,\"accessors\":[", scene_text);
    for (int a = 0; a < ACCESSORS; a++)
        used += write_accessor(out + used, (size_t)(MOST_TEXT - used), a, numbers + NUMBERS * a);
    used += snprintf(out + used, (size_t)(MOST_TEXT - used), "],\"bufferViews\":[");
    for (int a = 0; a < ACCESSORS; a++)
        used += write_view(out + used, (size_t)(MOST_TEXT - used), a, numbers + NUMBERS * a);
    used += snprintf(out + used, (size_t)(MOST_TEXT - used), "],\"buffers\":[{\"byteLength\":%zu}]}", buffer_bytes);
    while (used % 4)
        out[used++] = ' ';
    return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[MOST_TEXT];
    enum { HEAD = ACCESSORS * NUMBERS };
    if (size < HEAD)
        return 0;
    const uint32_t buffer = (uint32_t)(size - HEAD), length = (uint32_t)write_text(text, data, buffer);
    const uint32_t head[] = {0x46546c67, 2, 28 + length + buffer, length, 0x4e4f534a}, chunk[] = {buffer, 0x004e4942};
    uint8_t *file = malloc(28 + length + buffer), *end = file;
    memcpy(end, head, sizeof head);
    memcpy(end += sizeof head, text, length);
    memcpy(end += length, chunk, sizeof chunk);
    memcpy(end += sizeof chunk, data + HEAD, buffer);
    importer_run(file, 28 + length + buffer, import);
    free(file);
    return 0;
}
