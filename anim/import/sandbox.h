/* What throng-import may do from its first look at a file on: read that file and its folder, compute, and answer.
 * th_sandbox (throng/anim/sandbox.h) says what of it the kernel has. */
#ifndef TH_ANIM_IMPORT_SANDBOX_H
#define TH_ANIM_IMPORT_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sandbox_desc {
    const char *path;      /* of the model */
    bool allow_outside;    /* files outside of the model's folder may be read, too */
    uint64_t memory_bytes; /* 0: no limit; not limited in builds with sanitizers, which reserve terabytes */
    uint64_t cpu_s;        /* 0: no limit */
} sandbox_desc;

/* Confines this process, which has one thread, for the rest of its life. Gives up if that fails though the kernel has
 * what it takes. Call after ipc_open. */
void sandbox_enter(const sandbox_desc *desc);

#endif
