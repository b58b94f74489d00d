/* A binary glTF 2.0 file while it is built: a JSON document and the bytes of its bufferViews (Khronos, glTF 2.0
 * Specification, sections 3.6 and 4.4). Handles the container, not its contents.
 *
 * Errors are sticky: after the first, every call does nothing, and th_glb_write returns it. So callers need no error
 * checks; indices returned after an error have no meaning. */
#ifndef TH_ANIM_EXPORT_GLB_H
#define TH_ANIM_EXPORT_GLB_H

#include <throng/core/error.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TH_GLB_U8 = 5121, TH_GLB_U16 = 5123, TH_GLB_U32 = 5125, TH_GLB_F32 = 5126 };
enum { TH_GLB_PLAIN = 0, TH_GLB_VERTICES = 34962, TH_GLB_INDICES = 34963 };

typedef struct th_glb {
    json_t *document;
    uint8_t *bytes;
    size_t byte_count, capacity;
    size_t view_start; /* of the most recent bufferView */
    th_result result;
} th_glb;

/* The caller provides the memory of *glb; th_glb_fini frees what it holds. */
void th_glb_init(th_glb *glb);
void th_glb_fini(th_glb *glb);

/* Appends `value` to the top-level list of this name and returns its index there. Takes over the reference. Creates the
 * list with its first element, because glTF allows no empty lists. */
uint32_t th_glb_add(th_glb *glb, const char *list, json_t *value);

/* Like json_object_set_new and json_array_append_new. */
void th_glb_set(th_glb *glb, json_t *object, const char *key, json_t *value);
void th_glb_append(th_glb *glb, json_t *array, json_t *value);

/* Return new references, or NULL if out of memory. Text that is not UTF-8 is read as Latin-1, which old files use. */
json_t *th_glb_text(const char *text);
json_t *th_glb_numbers(const double *values, size_t count);

/* A bufferView holds what is put between begin and end, and starts at a multiple of 4. stride: bytes between vertices,
 * or 0. Returns its index. */
uint32_t th_glb_begin_view(th_glb *glb, uint32_t stride, int target);
void th_glb_put(th_glb *glb, const void *data, size_t size);
void th_glb_end_view(th_glb *glb);

typedef struct th_glb_accessor {
    uint32_t view;
    size_t start; /* th_glb.byte_count at its first element */
    int component;
    const char *type;
    uint32_t count;
    bool normalized;
    const double *min, *max; /* may be NULL; else `extent` numbers each */
    size_t extent;
} th_glb_accessor;

uint32_t th_glb_add_accessor(th_glb *glb, const th_glb_accessor *accessor);

/* Writes the file like th_file_replace. TH_ERR_LIMIT: larger than the format's 4 GiB. */
th_result th_glb_write(th_glb *glb, const char *path, th_error *err);

#endif
