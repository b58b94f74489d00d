/* A growing list of warnings. */
#ifndef TH_RENDER_MESH_WARNINGS_H
#define TH_RENDER_MESH_WARNINGS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct th_mesh_warnings {
    char **texts;
    uint32_t count;
} th_mesh_warnings;

/* False when out of memory. */
__attribute__((format(printf, 2, 3))) bool th_mesh_warnings_add(th_mesh_warnings *warnings, const char *format, ...);

void th_mesh_warnings_free(th_mesh_warnings *warnings);

#endif
