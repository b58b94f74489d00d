/* The importer in this process, for targets: all of it but its process, its memory and Assimp. */
#ifndef FUZZ_IMPORTER_H
#define FUZZ_IMPORTER_H

#include <stddef.h>
#include <stdint.h>

/* Calls fn with the path of a file of these bytes, until it returns or gives up. Then frees what it has allocated. */
void importer_run(const uint8_t *data, size_t size, void (*fn)(const char *path));

#endif
