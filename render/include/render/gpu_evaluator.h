/* Poses crowds with a compute shader, the twin of the scalar kernel: where a driver computes as IEEE 754 says, as
 * llvmpipe does, it writes the same bytes (docs/notes/gpu.md). It poses what th_crowd_pose poses, clips without
 * layers.
 *
 * All calls belong to the context's thread. */
#ifndef THRONG_RENDER_GPU_EVALUATOR_H
#define THRONG_RENDER_GPU_EVALUATOR_H

#include <anim/crowd.h>
#include <anim/device_program.h>
#include <render/gl.h>
#include <render/ring.h>

const char *th_evaluator_name(th_evaluator evaluator);   /* "cpu", "gpu", "auto" */
const char *th_gpu_mapping_name(th_gpu_mapping mapping); /* "auto", "character", "joint" */

typedef struct th_gpu_evaluator th_gpu_evaluator;

typedef struct th_gpu_evaluator_desc {
    const th_gl *gl;                                 /* must outlive the evaluator */
    const th_compiled_model *const *compiled_models; /* those of its crowds, in order; read in create only */
    uint32_t compiled_model_count;
    th_format palette; /* that all models can have */
    th_gpu_mapping mapping;
    /* AUTO is measured with its active characters; read in create only. NULL: nothing is measured, and AUTO takes the
     * first mapping that the models allow. */
    const th_crowd *crowd;
} th_gpu_evaluator_desc;

/* Uploads programs and clips, and with AUTO and a crowd lets the GPU pose some frames of it. TH_ERR_INPUT: a model is
 * too large for the driver or the mapping; the kernels can pose it. TH_ERR_ENVIRONMENT: the driver does not compile the
 * shader. TH_ERR_MEMORY: here or on the GPU. */
th_result th_gpu_evaluator_create(const th_gpu_evaluator_desc *desc, th_gpu_evaluator **out, th_error *err);
void th_gpu_evaluator_destroy(th_gpu_evaluator *evaluator); /* NULL does nothing */

typedef struct th_gpu_mapping_choice {
    th_gpu_mapping mapping;            /* never AUTO */
    uint64_t ns[TH_GPU_MAPPING_COUNT]; /* what a frame takes with each; 0: not measured */
    bool by_gpu_clock;                 /* otherwise in wall time, from the call until the GPU is done */
} th_gpu_mapping_choice;

th_gpu_mapping_choice th_gpu_evaluator_choice(const th_gpu_evaluator *evaluator);

/* "an invocation a joint: 0.80 ms a frame instead of 3.10, in wall time"; empty if nothing was measured. */
void th_gpu_mapping_text(const th_gpu_mapping_choice *choice, char *out, size_t size);

/* Lets the GPU write the palettes of the active characters, in the places and with the padding of th_crowd_pose; it
 * returns before that is done. Later draws, and reads of buffers, wait for it. crowd: of the desc's models and format,
 * without clips that play exact (th_crowd_check_device). palettes: at offsets that the storage_offset_alignment of
 * th_gl_info divides. cursors: those of th_crowd_cursors, at an offset that is a multiple of 8. */
void th_gpu_evaluator_pose(th_gpu_evaluator *evaluator, const th_crowd *crowd, th_ring_binding palettes,
                           th_ring_binding cursors);

/* Characters of a model that the GPU has counted. What lies behind their cursors may be read, and posed: it has to be
 * cursors, too. */
typedef struct th_gpu_pose {
    uint32_t model;
    uint32_t most;                     /* characters; at least 1. Their palettes fit into a storage block */
    size_t stride;                     /* from one palette to the next: that of th_crowd_palettes */
    th_ring_binding palettes, cursors; /* at offsets that the driver's alignment divides */
    th_ring_binding groups; /* for glDispatchComputeIndirect: the characters, divided by th_gpu_evaluator_group_size
                               and rounded up; then 1 and 1 */
} th_gpu_pose;

/* How many characters a work group poses. */
uint32_t th_gpu_evaluator_group_size(const th_gpu_evaluator *evaluator);

/* th_gpu_evaluator_pose of characters whose number only the GPU knows. */
void th_gpu_evaluator_pose_counted(th_gpu_evaluator *evaluator, const th_gpu_pose *poses, uint32_t count);

/* Poses the active characters at a time, waits, and reads their palettes back. out: th_crowd_palette_bytes. For checks,
 * not for frames: it allocates. TH_ERR_ENVIRONMENT, TH_ERR_MEMORY. */
th_result th_gpu_evaluator_read(th_gpu_evaluator *evaluator, const th_crowd *crowd, double time_s, void *out,
                                th_error *err);

/* Waits for the GPU and reads bytes of a buffer back. For checks, not for frames. */
void th_gpu_read_buffer(th_ring_binding from, size_t bytes, void *out);

#endif
