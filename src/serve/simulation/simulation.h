/* Everything that one tick needs: instances, crowd, workers, palettes. Made off the ticking thread, handed to it whole,
 * and given back whole. */
#ifndef TH_SERVE_SIMULATION_SIMULATION_H
#define TH_SERVE_SIMULATION_SIMULATION_H

#include <throng/runtime/frame.h>
#include <throng/serve/simulation_desc.h>

/* Read only, but for the one thread that animates with the frame, the jobs and the palettes. */
typedef struct th_troupe {
    th_settings settings;
    th_company *company;
    th_jobs *jobs;
    th_crowd *crowd;
    th_frame *frame;
    void *palettes;
} th_troupe;

/* In two steps, since the threads of a pool inherit how nice the thread is that creates them: th_troupe_cast may run at
 * a low priority, th_troupe_rehearse creates the workers and animates one frame, which touches all memory for the first
 * time and compares the CPUs' clocks, so that the first tick is like any other.
 *
 * A clip that no model has is TH_ERR_USAGE, a crowd beyond the memory TH_ERR_LIMIT. The troupe becomes a user of the
 * company. */
th_result th_troupe_cast(const th_troupe_desc *desc, const th_settings *settings, th_company *company, th_troupe **out,
                         th_error *err);
th_result th_troupe_rehearse(th_troupe *troupe, th_error *err);

void th_troupe_destroy(th_troupe *troupe); /* NULL is fine */

/* Who plays what, for each of settings->count instances. Clips are dealt by weight: instance i depends on the seed, the
 * weights and i alone, not on how many there are. */
th_result th_troupe_deal(const th_settings *settings, const th_company *company, uint64_t seed, th_instance *out,
                         th_error *err);

/* Palettes, instances and what moves them; the rigs count for each crowd that uses them. */
size_t th_troupe_bytes(const th_troupe *troupe);

#endif
