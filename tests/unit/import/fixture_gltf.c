#include "fixture_gltf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t bytes_of(const gltf_accessor *a)
{
    static const struct {
        const char *type;
        uint32_t width;
    } widths[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (strcmp(a->type, widths[i].type) == 0)
            return a->count * widths[i].width * (abs(a->component) >= 5125 ? 4 : abs(a->component) >= 5122 ? 2 : 1);
    abort();
}

static void write_base64(FILE *file, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        uint32_t left = count - i < 3 ? (uint32_t)(count - i) : 3, triple = (uint32_t)bytes[i] << 16;
        triple |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        triple |= left > 2 ? bytes[i + 2] : 0;
        for (uint32_t d = 0; d < 4; d++)
            fputc(d <= left ? digits[triple >> (18 - 6 * d) & 63] : '=', file);
    }
}

static void write_body(FILE *file, const char *body)
{
    for (; *body; body++)
        fputc(*body == '\'' ? '"' : *body, file);
}

/* A buffer for each accessor: no offsets, no padding. */
void gltf_write(const char *path, const char *body, const gltf_accessor *accessors, uint32_t count)
{
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    fputs("{\"asset\":{\"version\":\"2.0\"},\n", file);
    write_body(file, body);
    for (uint32_t a = 0; a < count; a++)
        fprintf(file, "%s{\"bufferView\":%u,\"componentType\":%d,\"count\":%u,\"type\":\"%s\"%s}",
                a == 0 ? ",\n\"accessors\":[" : ",\n", a, abs(accessors[a].component), accessors[a].count,
                accessors[a].type, accessors[a].component < 0 ? ",\"normalized\":true" : "");
    for (uint32_t a = 0; a < count; a++)
        fprintf(file, "%s{\"buffer\":%u,\"byteLength\":%u}", a == 0 ? "],\n\"bufferViews\":[" : ",\n", a,
                bytes_of(&accessors[a]));
    for (uint32_t a = 0; a < count; a++) {
        fprintf(file, "%s{\"byteLength\":%u,\"uri\":\"data:application/octet-stream;base64,",
                a == 0 ? "],\n\"buffers\":[" : ",\n", bytes_of(&accessors[a]));
        write_base64(file, accessors[a].values, bytes_of(&accessors[a]));
        fputs("\"}", file);
    }
    fputs(count > 0 ? "]}\n" : "}\n", file);
    if (fclose(file) != 0)
        abort();
}
