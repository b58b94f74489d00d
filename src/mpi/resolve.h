/* The samples of a pixel become its colour, as th_target_resolve does it: their mean in linear light. */
#ifndef TH_MPI_RESOLVE_H
#define TH_MPI_RESOLVE_H

#include <stdint.h>

/* samples: colours as th_target_read has them, in the lower half of each number. [count * per_pixel] out: [count] */
void th_mpi_resolve(const uint64_t *samples, uint32_t count, uint32_t per_pixel, uint32_t *out);

#endif
