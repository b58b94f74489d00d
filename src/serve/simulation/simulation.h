/* Everything that one tick needs: instances, crowd, workers, palettes. Made off the ticking thread, handed to it whole,
 * and given back whole. */
#ifndef TH_SERVE_SIMULATION_SIMULATION_H
#define TH_SERVE_SIMULATION_SIMULATION_H

#include <throng/runtime/frame.h>
#include <throng/serve/simulation_desc.h>

/* Read only, but for the one thread that animates with the frame, the jobs and the palettes. */
typedef struct th_simulation {
    th_settings settings;
    th_model_cache *model_cache;
    th_jobs *jobs;
    th_crowd *crowd;
    th_frame *frame;
    void *palettes;
} th_simulation;

/* In two steps, since the threads of a pool inherit how nice the thread is that creates them: th_simulation_build may
 * run at a low priority, th_simulation_warm_up creates the workers and animates one frame, which touches all memory for
 * the first time and compares the CPUs' clocks, so that the first tick is like any other.
 *
 * A clip that no model has is TH_ERR_USAGE, a crowd beyond the memory TH_ERR_LIMIT. The simulation becomes a user of
 * the model cache. */
th_result th_simulation_build(const th_simulation_desc *desc, const th_settings *settings, th_model_cache *model_cache,
                              th_simulation **out, th_error *err);
th_result th_simulation_warm_up(th_simulation *simulation, th_error *err);

void th_simulation_destroy(th_simulation *simulation); /* NULL is fine */

/* Who plays what, for each of settings->count instances. Clips are dealt by weight: instance i depends on the seed, the
 * weights and i alone, not on how many there are. */
th_result th_simulation_assign_clips(const th_settings *settings, const th_model_cache *model_cache, uint64_t seed,
                                     th_instance *out, th_error *err);

/* Palettes, instances and what moves them; the compiled models count for each crowd that uses them. */
size_t th_simulation_bytes(const th_simulation *simulation);

#endif
