/* Small glTF files made up for a test, which shows the numbers in clear; in the file they are base64. */
#ifndef FIXTURE_GLTF_H
#define FIXTURE_GLTF_H

#include <stdint.h>

typedef struct gltf_accessor {
    const char *type; /* "SCALAR", "VEC3", "MAT4", ... */
    int component;    /* 5120 byte, 5121 unsigned, 5122 short, 5123 unsigned, 5126 float; below 0: normalised */
    uint32_t count;   /* of elements */
    const void *values;
} gltf_accessor;

#define GLTF_FLOATS(type, count, ...)                                                                                  \
    {                                                                                                                  \
        (type), 5126, (count), (const float[])                                                                         \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

/* Writes a .gltf file: `body` is the JSON of all but asset, accessors, bufferViews and buffers, with ' for ". The
 * accessors are numbered as they come. Aborts when it cannot. */
void gltf_write(const char *path, const char *body, const gltf_accessor *accessors, uint32_t count);

#endif
