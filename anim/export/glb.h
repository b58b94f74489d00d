/* A binary glTF 2.0 file under construction: a JSON document, and the bytes that its bufferViews describe
 * (Khronos, glTF 2.0 Specification, sections 3.6 and 4.4). Knows the container, not what is in it.
 *
 * Failures stick: after the first one every call does nothing, and th_glb_write reports it. So builders need no error
 * paths, and the indices they get back until then mean nothing. */
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
    size_t view_start; /* of the bufferView begun last */
    th_result result;
} th_glb;

/* Memory of the caller; th_glb_fini frees what it holds. */
void th_glb_init(th_glb *glb);
void th_glb_fini(th_glb *glb);

/* Appends `value`, whose reference it takes, to the top-level list of this name, and returns its index there. Makes the
 * list when it is the first: glTF allows no empty ones. */
uint32_t th_glb_add(th_glb *glb, const char *list, json_t *value);

/* As json_object_set_new and json_array_append_new. */
void th_glb_set(th_glb *glb, json_t *object, const char *key, json_t *value);
void th_glb_append(th_glb *glb, json_t *array, json_t *value);

/* New references; NULL when out of memory. Bytes that are not UTF-8 are read as Latin-1, which is what old files hold.
 */
json_t *th_glb_text(const char *text);
json_t *th_glb_numbers(const double *values, size_t count);

/* A bufferView holds what is put between its begin and its end; it starts at a multiple of 4. stride: 0, or the bytes
 * from one vertex to the next. Returns its index. */
uint32_t th_glb_begin_view(th_glb *glb, uint32_t stride, int target);
void th_glb_put(th_glb *glb, const void *data, size_t size);
void th_glb_end_view(th_glb *glb);

typedef struct th_glb_accessor {
    uint32_t view;
    size_t start; /* th_glb.byte_count where its first element was put */
    int component;
    const char *type;
    uint32_t count;
    bool normalized;
    const double *min, *max; /* may be NULL; `extent` numbers each */
    size_t extent;
} th_glb_accessor;

uint32_t th_glb_add_accessor(th_glb *glb, const th_glb_accessor *accessor);

/* Writes the file as th_file_replace does. TH_ERR_LIMIT: beyond the 4 GiB of the format. */
th_result th_glb_write(th_glb *glb, const char *path, th_error *err);

#endif
