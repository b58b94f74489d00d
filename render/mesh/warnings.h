/* A growing list of sentences. */
#ifndef TH_RENDER_MESH_WARNINGS_H
#define TH_RENDER_MESH_WARNINGS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct th_notes {
    char **texts;
    uint32_t count;
} th_notes;

/* False when out of memory. */
__attribute__((format(printf, 2, 3))) bool th_notes_add(th_notes *notes, const char *format, ...);

void th_notes_free(th_notes *notes);

#endif
