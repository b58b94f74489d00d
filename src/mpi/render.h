/* throng-mpi render: each rank draws its block of the crowd, and the pictures become one. */
#ifndef TH_MPI_RENDER_H
#define TH_MPI_RENDER_H

#include "cli/options.h"
#include "job.h"

/* Returns an exit code; where ranks differ, that of rank 0 counts. Rank 0 writes the pictures and the result. */
int th_mpi_render(th_mpi_job *job, const th_options *options, th_run *run, const th_model_set *models);

#endif
