/* Memory that the CPU fills for a frame while the GPU still reads that of frames before: a few slots in turns, each
 * with a fence. Workers write straight into the mapping.
 *
 *     void *slot = th_ring_begin(ring);     waits until the GPU is done with what was in it
 *     ... any threads write to it, each byte at most once, and read nothing ...
 *     th_ring_end(ring);                    nobody writes any more
 *     ... draw, from th_ring_binding ...
 *     th_ring_fence(ring);                  behind the last draw that reads the slot
 *
 * These calls belong to the context's thread. */
#ifndef THRONG_RENDER_RING_H
#define THRONG_RENDER_RING_H

#include <throng/core/api.h>
#include <throng/render/gl.h>

#include <stddef.h>

TH_API_BEGIN

typedef struct th_ring th_ring;

/* One is written, one is drawn, and one is in the driver's queue. */
enum { TH_RING_SLOTS = 3 };

typedef enum th_ring_upload {
    TH_RING_AUTO = 0,       /* persistent where the driver can, else unsynchronized */
    TH_RING_PERSISTENT,     /* mapped once and for all (ARB_buffer_storage) */
    TH_RING_UNSYNCHRONIZED, /* mapped for each frame, without the driver waiting for the GPU: that is what fences are
                               for */
} th_ring_upload;

typedef struct th_ring_desc {
    size_t bytes; /* of a slot; 0 is fine */
    th_ring_upload upload;
    /* Slots that are not being written are write-protected, so that a stray write is caught where it happens.
     * Persistent mappings of a software renderer only; others ignore it. */
    bool guard;
} th_ring_desc;

/* TH_ERR_MEMORY; TH_ERR_ENVIRONMENT when persistent is asked for and the driver cannot. */
th_result th_ring_create(const th_gl *gl, const th_ring_desc *desc, th_ring **out, th_error *err);
void th_ring_destroy(th_ring *ring); /* NULL does nothing */

th_ring_upload th_ring_get_upload(const th_ring *ring); /* never AUTO */
const char *th_ring_upload_name(th_ring_upload upload); /* "persistent", "unsynchronized" */
bool th_ring_write_combined(const th_ring *ring);       /* slots may be: whole lines in order are written fastest */
void *th_ring_begin(th_ring *ring);                     /* aligned to 64; NULL when the driver fails to map */
bool th_ring_end(th_ring *ring);                        /* false: the driver lost what was written */
void th_ring_fence(th_ring *ring);

/* Instead of begin and end, to draw once more what was written TH_RING_SLOTS frames ago: waits as begin does. */
void th_ring_reuse(th_ring *ring);

/* Where the slot of the last th_ring_begin lies: a buffer object, and bytes from its beginning, a multiple of 4096. */
typedef struct th_ring_binding {
    uint32_t buffer;
    size_t offset;
} th_ring_binding;

th_ring_binding th_ring_get_binding(const th_ring *ring);

TH_API_END

#endif
