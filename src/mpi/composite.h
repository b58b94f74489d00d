/* The pictures of all ranks become one on rank 0: at each pixel what is nearest.
 *
 * Direct send (W. Hsu, Segmented ray casting for data parallel volume rendering, 1993): the picture is cut into a strip
 * for each rank; each rank sends every other one that one's strip of what it has drawn, and merges its own; rank 0
 * gathers the merged strips. Any number of ranks. A sample travels as one number, depth above colour, so the nearest is
 * the smallest, in whatever order ranks are merged. With antialiasing each sample of a pixel is merged by its own
 * depth, and only then are they averaged: edges between what two ranks have drawn are as smooth as any. */
#ifndef TH_MPI_COMPOSITE_H
#define TH_MPI_COMPOSITE_H

#include "job.h"

typedef struct th_mpi_composite {
    th_mpi_job *job;
    uint32_t pixels, samples;          /* samples: of a pixel */
    MPI_Datatype pixel;                /* all its samples */
    int *counts, *offsets;             /* [size] strips, in pixels */
    int *own_counts, *own_offsets;     /* [size] this rank's strip as each rank has drawn it */
    uint64_t *drawn;                   /* [pixels * samples] depth above colour */
    uint64_t *strips;                  /* [size * own strip * samples] */
    uint32_t *merged;                  /* [own strip] colours */
    uint64_t between_bytes, out_bytes; /* of a picture: that all ranks send to others; merged strips to rank 0 */
} th_mpi_composite;

/* False when out of memory. Call th_mpi_composite_fini in any case. */
bool th_mpi_composite_init(th_mpi_composite *composite, th_mpi_job *job, uint32_t pixels, uint32_t samples);
void th_mpi_composite_fini(th_mpi_composite *composite);

/* One sample of each pixel that this rank has drawn: 4 bytes of colour, and the depth, not negative. [pixels] */
void th_mpi_composite_put(th_mpi_composite *composite, uint32_t sample, const uint8_t *rgba, const float *depth);

/* All ranks together. out_rgba: on rank 0 [pixels], elsewhere not used. */
void th_mpi_composite_run(th_mpi_composite *composite, uint8_t *out_rgba);

/* The same messages without merging. */
void th_mpi_composite_run_bare(th_mpi_composite *composite, uint8_t *out_rgba);

#endif
