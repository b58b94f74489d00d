/* The CPUs of a rank: ranks of one host share none if there are enough. */
#ifndef TH_MPI_CPUS_H
#define TH_MPI_CPUS_H

#include "job.h"

/* Threads of this rank. wanted: 0: its CPUs; where mpirun has bound no rank, those of the host shared among its ranks.
 */
uint32_t th_mpi_threads(const th_mpi_job *job, uint32_t wanted);

/* Where mpirun has bound no rank, each one of a host gets CPUs of its own if there are enough. Returns whether its
 * threads can have a CPU each. */
bool th_mpi_bind(const th_mpi_job *job, uint32_t threads);

#endif
