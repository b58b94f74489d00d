/* A ring buffer that the CPU fills for one frame while the GPU still reads earlier frames. It has a few slots, each
 * with a fence. Workers write straight into the mapping.
 *
 *     void *slot = th_ring_begin(ring);     waits until the GPU is done with the slot's last content
 *     slot = th_ring_reserve(ring, bytes);  where it is not known from the beginning how many are needed
 *     ... any threads write, each byte at most once, and never read ...
 *     th_ring_end(ring);                    no writes after this
 *     ... draw from th_ring_get_binding ...
 *     th_ring_fence(ring);                  after the last draw that reads the slot
 *
 * These calls belong to the context's thread, and come in this order. A slot that is drawn more than once has one
 * fence, and a slot of which the data was lost has none. */
#ifndef THRONG_RENDER_RING_H
#define THRONG_RENDER_RING_H

#include <render/gl.h>

typedef struct th_ring th_ring;

/* One slot is being written, one is being drawn, one is in the driver's queue. */
enum { TH_RING_SLOTS = 3, TH_RING_MAX_HELD = 7 };

typedef struct th_ring_desc {
    size_t bytes; /* per slot, at first; may be 0 */
    th_ring_upload upload;
    uint32_t held; /* frames beyond its own in which a slot may be drawn from; at most TH_RING_MAX_HELD. There are as
                      many slots more */
    /* Write-protects the slots that are not being written, so that a stray write faults at once. Only for persistent
     * mappings of a software renderer; otherwise ignored. */
    bool guard;
} th_ring_desc;

/* TH_ERR_MEMORY. TH_ERR_ENVIRONMENT: PERSISTENT was requested and the driver does not support it. */
th_result th_ring_create(const th_gl *gl, const th_ring_desc *desc, th_ring **out, th_error *err);
void th_ring_destroy(th_ring *ring); /* NULL does nothing */

typedef struct th_ring_info {
    th_ring_upload upload; /* never AUTO */
    size_t bytes;          /* of all slots */
    size_t slot_bytes;     /* that can be reserved without losing what was written */
    /* Of the current frame. It rises by one each frame, and by more than TH_RING_MAX_HELD where all that was written
     * before is lost. */
    uint32_t frame;
    bool write_combined; /* slots may be write-combined memory: write whole cache lines in order */
} th_ring_info;

th_ring_info th_ring_get_info(const th_ring *ring);
const char *th_ring_upload_name(th_ring_upload upload); /* "persistent", "unsynchronized", "copied" */
void *th_ring_begin(th_ring *ring);                     /* aligned to 64; NULL when the driver cannot map it */

/* After begin, before anything is written: makes slots hold at least so many bytes, and returns the current one, which
 * may have moved. A slot that is too small is replaced by one with a quarter to spare, after the GPU is done with all
 * slots; their content is lost. NULL: no memory; the slots keep their size, and the frame is over as after end. */
void *th_ring_reserve(th_ring *ring, size_t bytes);

/* Before end: only these bytes of the slot were written. COPIED copies no others, and all where it is not said. */
void th_ring_wrote(th_ring *ring, size_t begin, size_t end);
bool th_ring_end(th_ring *ring); /* false: the driver lost the written data */
void th_ring_fence(th_ring *ring);

/* Replaces begin and end to draw again what was written TH_RING_SLOTS frames ago. Waits as th_ring_begin does. */
void th_ring_reuse(th_ring *ring);

/* The location of the current slot: a buffer object and a byte offset, a multiple of 4096. */
typedef struct th_ring_binding {
    uint32_t buffer;
    size_t offset;
} th_ring_binding;

th_ring_binding th_ring_get_binding(const th_ring *ring);

/* The slot that was current so many frames ago. For the current frame to draw from it, they are at most
 * th_ring_desc.held and no more than th_ring_info.frame has risen by since. */
th_ring_binding th_ring_get_held(const th_ring *ring, uint32_t frames_ago);

#endif
