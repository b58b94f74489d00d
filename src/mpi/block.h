/* A rank's block of the crowd at one point, on the rank's pool. */
#ifndef TH_MPI_BLOCK_H
#define TH_MPI_BLOCK_H

#include <bench/rank_scaling.h>
#include <throng/runtime/frame.h>
#include <throng/runtime/scene.h>

typedef struct th_mpi_block {
    uint32_t first, count; /* characters of the whole crowd */
    th_scene *scene;
    th_crowd *crowd;
    th_frame *frame;
} th_mpi_block;

typedef struct th_mpi_block_desc {
    const th_scene *whole; /* of all characters, or more; its compiled models are used */
    th_scene_desc scene;   /* the rest */
    th_isa isa;
    th_palette palette;
    th_jobs *jobs;
    uint32_t first, count;
} th_mpi_block_desc;

/* Call th_mpi_block_fini in the end, even if it failed. */
th_result th_mpi_block_init(th_mpi_block *block, const th_mpi_block_desc *desc, th_error *err);
void th_mpi_block_fini(th_mpi_block *block);

/* Poses the block in the frame that is checked. */
void th_mpi_block_pose(const th_mpi_block *block, void *palette);

/* Fails if these palettes are not those of the double-precision reference. */
th_result th_mpi_block_validate(const th_mpi_block *block, const void *palette, th_error *err);

/* What a character of each model costs, relative to others, for th_rank_split. costs: [models of the scene] */
th_result th_mpi_model_costs(const th_mpi_block_desc *desc, uint32_t *costs, th_error *err);

#endif
