/* Allocations that are counted, and that fail on demand: for suites that are linked with --wrap for malloc, calloc,
 * realloc and aligned_alloc (th_wrap_memory in CMakeLists.txt). */
#ifndef FIXTURE_MEMORY_H
#define FIXTURE_MEMORY_H

#include <stddef.h>

extern size_t allocations;        /* so far, failed or not */
extern size_t allocated_bytes;    /* that they asked for; memory that is freed or moved is not taken off */
extern long allocations_left;     /* until memory is out for good; below 0: as many as there are */
extern size_t failing_allocation; /* the one that fails, when `allocations` has come to it; 0: none */

#endif
