/* Reads binary glTF by the letter of the specification, for tests to look at. A test fails on what breaks it. */
#ifndef FIXTURE_GLB_H
#define FIXTURE_GLB_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct glb {
    uint8_t *file;
    const uint8_t *bin; /* NULL when the file has no such chunk */
    size_t bin_bytes;
    json_t *json;
} glb;

glb read_glb(const char *path);
void free_glb(glb *g);

/* Lengths, alignment, bounds, extents, ascending times. */
void check_structure(const glb *g);

/* Top-level lists. */
json_t *item(const glb *g, const char *list, size_t index);
size_t items(const glb *g, const char *list);

/* Members of an object. */
size_t integer(const json_t *object, const char *key);
const char *text(const json_t *object, const char *key);

/* Accessors: a component of an element; and the accessor of an attribute of a mesh. */
double number(const glb *g, size_t accessor, size_t element, size_t component);
size_t attribute(const glb *g, size_t mesh, const char *name);

#endif
