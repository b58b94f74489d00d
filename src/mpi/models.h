/* The models of a job: rank 0 reads the files, all others get the models from it. */
#ifndef TH_MPI_MODELS_H
#define TH_MPI_MODELS_H

#include "job.h"
#include <cli/model_set.h>

/* Returns an exit code, the same on all ranks, after rank 0 has complained. Call th_model_set_fini in any case. */
int th_mpi_models(th_mpi_job *job, const th_model_options *options, th_model_set *out);

#endif
