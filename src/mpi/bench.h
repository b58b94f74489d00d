/* throng-mpi bench: every rank runs the same benchmark entries at the same time. */
#ifndef TH_MPI_BENCH_H
#define TH_MPI_BENCH_H

#include "cli/options.h"
#include "job.h"

/* Returns an exit code, the same on all ranks; TH_EXIT_CHECK where palettes of one are wrong. Rank 0 writes the result.
 */
int th_mpi_bench(th_mpi_job *job, const th_options *options, th_run *run, const th_model_set *models);

#endif
