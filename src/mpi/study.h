/* Runs the scaling experiment over the ranks of a job. */
#ifndef TH_MPI_STUDY_H
#define TH_MPI_STUDY_H

#include "job.h"

#include <throng/runtime/frame.h>
#include <throng/runtime/scene.h>

typedef struct th_mpi_study_desc {
    th_scene_desc scene; /* instance_count: characters, of weak scaling for each rank */
    th_isa isa;
    th_palette palette;
    th_placement placement;
    uint32_t threads;       /* of each rank; 0: the CPUs of the host, shared among its ranks */
    bool is_weak, is_alone; /* is_alone: only one point, of all ranks, and only poses */
    uint32_t rounds, frames;
    double budget_ns; /* as th_rank_scaling */
} th_mpi_study_desc;

/* Returns an exit code, the same on all ranks: TH_EXIT_CHECK where palettes are wrong. On rank 0 `out` has the result;
 * elsewhere it has no meaning. Call th_rank_scaling_fini in any case. lost: what to do with `out` when the job is lost,
 * as th_mpi_job.on_loss; gets `out`. */
int th_mpi_study(th_mpi_job *job, const th_mpi_study_desc *desc, void (*lost)(void *ctx, th_rank_scaling *partial),
                 void *ctx, th_rank_scaling *out);

#endif
