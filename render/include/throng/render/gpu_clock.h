/* How long the GPU takes for some commands, by its own clock. The answer comes frames later; nobody waits for it.
 *
 *     th_gpu_clock_begin(clock);
 *     ... draw ...
 *     th_gpu_clock_end(clock);
 *     if (th_gpu_clock_read(clock, &ns)) ...   of some frame before
 *
 * Where the clock cannot be trusted (th_gl_info.timer_queries) nothing is asked and nothing comes. One clock runs at a
 * time. All calls on the context's thread. */
#ifndef THRONG_RENDER_GPU_CLOCK_H
#define THRONG_RENDER_GPU_CLOCK_H

#include <throng/core/api.h>
#include <throng/render/gl.h>

TH_API_BEGIN

typedef struct th_gpu_clock th_gpu_clock;

/* TH_ERR_MEMORY. */
th_result th_gpu_clock_create(const th_gl *gl, th_gpu_clock **out, th_error *err);
void th_gpu_clock_destroy(th_gpu_clock *clock); /* NULL does nothing */

/* A pair that comes while many answers are still out is not measured. */
void th_gpu_clock_begin(th_gpu_clock *clock);
void th_gpu_clock_end(th_gpu_clock *clock);

/* The newest answer; false when there is none since the last call. */
bool th_gpu_clock_read(th_gpu_clock *clock, uint64_t *out_ns);

TH_API_END

#endif
