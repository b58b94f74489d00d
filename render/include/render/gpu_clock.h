/* Measures how long the GPU takes for some commands, with GPU timer queries. The result comes some frames later; no
 * call waits for it.
 *
 *     th_gpu_clock_begin(clock);
 *     ... draw ...
 *     th_gpu_clock_end(clock);
 *     if (th_gpu_clock_read(clock, &ns)) ...   of an earlier frame
 *
 * Does nothing and returns nothing where timer queries are unreliable (th_gl_info.timer_queries). Only one clock may
 * run at a time. All calls on the context's thread. */
#ifndef THRONG_RENDER_GPU_CLOCK_H
#define THRONG_RENDER_GPU_CLOCK_H

#include <render/gl.h>

typedef struct th_gpu_clock th_gpu_clock;

/* TH_ERR_MEMORY. */
th_result th_gpu_clock_create(const th_gl *gl, th_gpu_clock **out, th_error *err);
void th_gpu_clock_destroy(th_gpu_clock *clock); /* NULL does nothing */

/* Measures nothing while too many results are pending. Not twice without an end. */
void th_gpu_clock_begin(th_gpu_clock *clock);
void th_gpu_clock_end(th_gpu_clock *clock);

/* The newest result; false when there is no new one since the last call. */
bool th_gpu_clock_read(th_gpu_clock *clock, uint64_t *out_ns);

#endif
