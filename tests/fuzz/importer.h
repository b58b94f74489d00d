/* The importer in this process, for targets: all of it but its memory and Assimp. Inside, since the process that it
 * has otherwise hides what is wrong. */
#ifndef FUZZ_IMPORTER_H
#define FUZZ_IMPORTER_H

#include "anim/import/scene.h"

/* Calls fn with a scene of a file of these bytes, for which Assimp has a root without children, until it returns,
 * whether it took the case, or gives up. Then frees what it has allocated. */
void importer_run(const uint8_t *data, size_t size, bool (*fn)(scene *s));

#endif
