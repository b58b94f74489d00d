/* The ranks of an MPI job, which wait for each other but not for ever.
 *
 * Everything that waits is a request that is polled. Meanwhile a rank answers the roll calls of rank 0. When a wait
 * takes longer than the time-out, or a signal ends the job, rank 0 calls the roll and names the ranks that do not
 * answer, then ends all. Only the main thread calls MPI (MPI_THREAD_FUNNELED).
 *
 * A signal to any rank ends the job at the next barrier or agreement, of which all ranks learn it. Rank 0 does not wait
 * for that longer than a fraction of a second, since mpirun kills ranks a second after it has sent them SIGTERM. */
#ifndef TH_MPI_JOB_H
#define TH_MPI_JOB_H

#include <bench/rank_scaling.h>
#include <core/error.h>

#include <mpi.h>

typedef struct th_mpi_job {
    MPI_Comm world;
    int rank, size;
    uint32_t local_ranks, local_rank; /* on this host */
    bool shares_cpus;                 /* all ranks of this host may use the same CPUs: mpirun has bound none */
    int signal;                       /* that a barrier or agreement has told of: 0 or the same on all its ranks */
    double timeout_s;
    char (*hosts)[TH_HOST_MAX]; /* [size] */
    void (*on_loss)(void *ctx); /* on rank 0 before it ends the job: writes what was measured so far; may be NULL */
    void *ctx;
} th_mpi_job;

/* Starts MPI. Complains and ends the process where MPI lacks MPI_THREAD_FUNNELED or memory is out. */
void th_mpi_begin(th_mpi_job *job, double timeout_s);
void th_mpi_end(th_mpi_job *job);

/* Waits for the request; `what` names it in messages. idle: the rank has nothing to do for a while, so it sleeps
 * between looks and leaves its CPU to others. Does not return when the job is lost. */
void th_mpi_wait(th_mpi_job *job, MPI_Request request, const char *what);
void th_mpi_wait_idle(th_mpi_job *job, MPI_Request request, const char *what);

/* Around calls of MPI that cannot be polled. When they take longer than the time-out, a rank ends with a message, and
 * mpirun ends the others. Begin first waits until all ranks are there, so that this is rare. */
void th_mpi_guard_begin(th_mpi_job *job);
void th_mpi_guard_end(void);

/* Sets job->signal. idle: as th_mpi_wait_idle. */
void th_mpi_barrier(th_mpi_job *job, MPI_Comm comm, const char *what, bool is_idle);

/* From rank 0 to all; any number of bytes. */
void th_mpi_broadcast(th_mpi_job *job, void *bytes, uint64_t count, const char *what);

/* All ranks learn whether one has failed or got a signal. code: this rank's exit code, 0 for none; text: why. Returns
 * the code of the first rank with one (128 + signal), after rank 0 has complained of it with host and rank. */
int th_mpi_agree(th_mpi_job *job, int code, const char *text);

/* The same for a result. */
int th_mpi_agree_on(th_mpi_job *job, th_result result, const th_error *err);

/* Agrees that this text is the same as rank 0's. what: "version". */
int th_mpi_agree_same(th_mpi_job *job, const char *what, const char *text);

#endif
