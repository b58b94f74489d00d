/* The test stand of a stress test: crowds of any size on some threads, a frame on each tick. Private to bench.
 *
 * A crowd is posed in ordinary memory (th_stand_pose), to be checked, or to be timed where there is no guest; or a
 * guest draws it. One of them at a time. */
#ifndef TH_BENCH_CAPACITY_LOAD_TEST_HARNESS_H
#define TH_BENCH_CAPACITY_LOAD_TEST_HARNESS_H

#include "measure/runqueue_delay.h"

#include <throng/bench/stress.h>

typedef struct th_stand {
    const th_stress_desc *desc;
    th_scene *cast;  /* nobody, for the rigs, which are compiled once */
    th_scene *scene; /* of the crowd that is posed, as the next three */
    th_crowd *crowd;
    th_frame *frame;
    th_jobs *jobs;
    void *palette; /* of the largest crowd so far */
    size_t palette_bytes;
    uint64_t number, due_ns; /* of the next frame */
    th_waits waits;          /* of all threads that frames have; none where nobody can tell whom they wait for */
    double disturbed_ns;     /* as th_stress */
    /* Nanoseconds of the frames since the crowd was made; `undisturbed`: those of them in which nobody waited so long.
     */
    th_samples real, cpu, undisturbed;
} th_stand;

/* Compiles the rigs. th_stand_fini in the end, whatever comes back. */
th_result th_stand_init(th_stand *stand, const th_stress_desc *desc, th_error *err);
void th_stand_fini(th_stand *stand);

/* Other threads from now on. */
th_result th_stand_hire(th_stand *stand, uint32_t threads, th_error *err);

/* Memory that each character takes, palette and all. */
th_result th_stand_character_bytes(const th_stand *stand, double *out, th_error *err);

/* Makes a crowd of so many in ordinary memory. */
th_result th_stand_pose(th_stand *stand, uint32_t characters, th_error *err);

/* Makes one for th_stand_frame, and warms up. */
th_result th_stand_prepare(th_stand *stand, uint32_t characters, th_error *err);

/* The guest's crowd goes. Tells what failed while it was drawn. */
th_result th_stand_finish(th_stand *stand, th_error *err);

/* Waits for the tick; returns how long the frame took, in nanoseconds. */
double th_stand_frame(th_stand *stand);

/* Frames on ticks that the tracer records in a group of that name, until there are `events` of them, or 16 frames. */
void th_stand_trace(th_stand *stand, th_tracer *tracer, const char *name, uint64_t events);

/* For th_trial, of a crowd that is posed: no tick, nothing timed. */
void th_stand_run(void *stand, uint64_t frame);

#endif
