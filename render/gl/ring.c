#include <render/ring.h>

#include "program.h"

#include <glad/gl.h>

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { MOST_SLOTS = TH_RING_SLOTS + TH_RING_MAX_HELD, PAGE = 4096 };

#define MOST_BYTES ((size_t)PTRDIFF_MAX / MOST_SLOTS - PAGE) /* per slot; GLsizeiptr is signed */

struct th_ring {
    GLuint buffer;
    GLuint copy;       /* that the GPU reads; 0: it reads `buffer` */
    size_t slot_bytes; /* whole pages, so that each slot can be protected */
    th_ring_upload upload;
    bool guard, write_combined;
    char *mapping;     /* all slots; NULL when each is mapped per frame */
    void *written;     /* the current slot between begin and end, otherwise NULL */
    size_t begin, end; /* what was written of it */
    GLsync fences[MOST_SLOTS];
    uint32_t slot_count, held; /* held: frames beyond its own that a slot is read in */
    uint32_t slot;             /* the current one */
    uint32_t frame;            /* its number */
};

static size_t offset_of(const th_ring *ring)
{
    return ring->slot * ring->slot_bytes;
}

static void protect(const th_ring *ring, uint32_t slot, bool writable)
{
    assert(slot < ring->slot_count);
    if (ring->guard)
        mprotect(ring->mapping + slot * ring->slot_bytes, ring->slot_bytes, PROT_READ | (writable ? PROT_WRITE : 0));
}

/* ---- memory ---- */

/* Whole pages; at least one, because an empty range cannot be mapped. */
static size_t in_pages(size_t bytes)
{
    return (bytes + PAGE) / PAGE * PAGE;
}

/* False when there is no memory. Errors of earlier calls stay where th_gl_check finds them. */
static bool make_buffer(th_ring *ring)
{
    const size_t bytes = ring->slot_count * ring->slot_bytes;
    GLint64 given = 0;
    glGenBuffers(1, &ring->buffer);
    glBindBuffer(GL_COPY_WRITE_BUFFER, ring->buffer);
    bool ok = true;
    if (ring->upload != TH_RING_UNSYNCHRONIZED) { /* mapped for good */
        const GLbitfield flags = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
        glBufferStorage(GL_COPY_WRITE_BUFFER, (GLsizeiptr)bytes, NULL, flags);
        ring->mapping = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, (GLsizeiptr)bytes, flags);
        for (uint32_t slot = 0; ring->mapping && slot < ring->slot_count; slot++)
            protect(ring, slot, false);
        ok = ring->mapping != NULL;
    } else {
        glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)bytes, NULL, GL_STREAM_DRAW);
    }
    glGetBufferParameteri64v(GL_COPY_WRITE_BUFFER, GL_BUFFER_SIZE, &given);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    ring->copy = 0;
    if (ring->upload == TH_RING_COPIED)
        ok = th_buffer_make(&ring->copy, bytes, NULL, GL_DYNAMIC_COPY) && ok;
    if (ok && given == (GLint64)bytes)
        return true;
    while (glGetError() != GL_NO_ERROR) /* the caller reports it */
        ;
    return false;
}

static void delete_buffer(th_ring *ring)
{
    for (uint32_t slot = 0; ring->mapping && slot < ring->slot_count; slot++)
        protect(ring, slot, true); /* the driver will reuse these pages */
    glDeleteBuffers(1, &ring->buffer);
    glDeleteBuffers(1, &ring->copy);
}

/* ---- creation ---- */

th_result th_ring_create(const th_gl *gl, const th_ring_desc *desc, th_ring **out, th_error *err)
{
    assert(gl && desc && out);
    assert((unsigned)desc->upload <= TH_RING_COPIED && desc->held <= TH_RING_MAX_HELD);
    const th_gl_info *info = th_gl_get_info(gl);
    *out = NULL;
    if ((desc->upload == TH_RING_PERSISTENT || desc->upload == TH_RING_COPIED) && !info->buffer_storage)
        return th_fail(err, TH_ERR_ENVIRONMENT, "%s cannot keep buffers mapped (ARB_buffer_storage)", info->renderer);
    th_ring *ring = calloc(1, sizeof *ring);
    if (!ring)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a palette ring");
    ring->slot_bytes = in_pages(desc->bytes);
    ring->slot_count = TH_RING_SLOTS + desc->held;
    ring->held = desc->held;
    ring->upload = desc->upload;
    if (ring->upload == TH_RING_AUTO && info->buffer_storage)
        ring->upload = info->software ? TH_RING_PERSISTENT : TH_RING_COPIED;
    else if (ring->upload == TH_RING_AUTO)
        ring->upload = TH_RING_UNSYNCHRONIZED;
    ring->write_combined = !info->software; /* GPU drivers do not tell, and often map write-combined */
    ring->guard = desc->guard && ring->upload == TH_RING_PERSISTENT && info->software;
    if (desc->bytes > MOST_BYTES || !make_buffer(ring)) {
        th_ring_destroy(ring);
        return th_fail(err, TH_ERR_MEMORY, "%s has no memory for %u palette slots of %.1f MB", info->renderer,
                       TH_RING_SLOTS + desc->held, (double)desc->bytes / 1e6);
    }
    *out = ring;
    return TH_OK;
}

void th_ring_destroy(th_ring *ring)
{
    if (!ring)
        return;
    for (uint32_t slot = 0; slot < ring->slot_count; slot++)
        glDeleteSync(ring->fences[slot]);
    delete_buffer(ring);
    free(ring);
}

/* ---- a frame ---- */

static void wait_for_slot(th_ring *ring, uint32_t slot)
{
    const GLuint64 second = 1000000000;
    const GLsync fence = ring->fences[slot];
    while (fence && glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, second) == GL_TIMEOUT_EXPIRED)
        ;
    glDeleteSync(fence);
    ring->fences[slot] = NULL;
}

/* The slot is free when the last frame that may read it is drawn. That of a later frame says so, too. */
void th_ring_reuse(th_ring *ring)
{
    assert(ring && !ring->written);
    ring->slot = (ring->slot + 1) % ring->slot_count;
    ring->frame++;
    wait_for_slot(ring, (ring->slot + ring->held) % ring->slot_count);
}

static void *open_slot(th_ring *ring)
{
    ring->begin = 0;
    ring->end = ring->slot_bytes;
    const GLbitfield flags = GL_MAP_WRITE_BIT | GL_MAP_UNSYNCHRONIZED_BIT | GL_MAP_INVALIDATE_RANGE_BIT;
    if (ring->mapping) {
        protect(ring, ring->slot, true);
        return ring->written = ring->mapping + offset_of(ring);
    }
    glBindBuffer(GL_COPY_WRITE_BUFFER, ring->buffer);
    return ring->written =
               glMapBufferRange(GL_COPY_WRITE_BUFFER, (GLintptr)offset_of(ring), (GLsizeiptr)ring->slot_bytes, flags);
}

void *th_ring_begin(th_ring *ring)
{
    assert(ring && !ring->written);
    th_ring_reuse(ring);
    return open_slot(ring);
}

void *th_ring_reserve(th_ring *ring, size_t bytes)
{
    assert(ring && ring->written);
    if (bytes <= ring->slot_bytes)
        return ring->written;
    th_ring larger = *ring;
    larger.mapping = NULL;
    th_ring_end(ring);
    if (bytes > MOST_BYTES / 5 * 4)
        return NULL;
    larger.slot_bytes = in_pages(bytes + bytes / 4);
    if (!make_buffer(&larger)) {
        delete_buffer(&larger);
        return NULL;
    }
    for (uint32_t slot = 0; slot < ring->slot_count; slot++)
        wait_for_slot(ring, slot);
    delete_buffer(ring);
    ring->buffer = larger.buffer;
    ring->copy = larger.copy;
    ring->mapping = larger.mapping;
    ring->slot_bytes = larger.slot_bytes;
    ring->frame += MOST_SLOTS; /* no frame after this one reads what was written up to now */
    return open_slot(ring);
}

void th_ring_wrote(th_ring *ring, size_t begin, size_t end)
{
    assert(ring && ring->written && begin <= end && end <= ring->slot_bytes);
    ring->begin = begin;
    ring->end = end;
}

bool th_ring_end(th_ring *ring)
{
    assert(ring && ring->written);
    ring->written = NULL;
    if (ring->mapping) {
        protect(ring, ring->slot, false);
        if (ring->copy) {
            const GLintptr from = (GLintptr)(offset_of(ring) + ring->begin);
            glBindBuffer(GL_COPY_READ_BUFFER, ring->buffer);
            glBindBuffer(GL_COPY_WRITE_BUFFER, ring->copy);
            glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, from, from,
                                (GLsizeiptr)(ring->end - ring->begin));
            glBindBuffer(GL_COPY_READ_BUFFER, 0);
            glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
        }
        return true;
    }
    glBindBuffer(GL_COPY_WRITE_BUFFER, ring->buffer);
    const bool kept = glUnmapBuffer(GL_COPY_WRITE_BUFFER) == GL_TRUE;
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    if (!kept)
        ring->frame += MOST_SLOTS; /* as above */
    return kept;
}

void th_ring_fence(th_ring *ring)
{
    assert(ring && !ring->written);
    assert(!ring->fences[ring->slot]);
    ring->fences[ring->slot] = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}

/* ---- properties ---- */

th_ring_info th_ring_get_info(const th_ring *ring)
{
    assert(ring);
    return (th_ring_info){ring->upload, ring->slot_count * ring->slot_bytes, ring->slot_bytes, ring->frame,
                          ring->write_combined};
}

const char *th_ring_upload_name(th_ring_upload upload)
{
    static const char *const names[] = {"auto", "persistent", "unsynchronized", "copied"};
    return names[upload];
}

th_ring_binding th_ring_get_binding(const th_ring *ring)
{
    return th_ring_get_held(ring, 0);
}

th_ring_binding th_ring_get_held(const th_ring *ring, uint32_t frames_ago)
{
    assert(ring && frames_ago < ring->slot_count);
    const uint32_t slot = (ring->slot + ring->slot_count - frames_ago) % ring->slot_count;
    return (th_ring_binding){ring->copy ? ring->copy : ring->buffer, slot * ring->slot_bytes};
}
