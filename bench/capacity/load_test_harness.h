/* The test load_test of a stress test: crowds of any size on some threads, a frame on each tick. Private to bench.
 *
 * A crowd is posed in ordinary memory (th_load_test_create_crowd), to be checked, or to be timed where there is no
 * renderer; or a renderer draws it. One of them at a time. */
#ifndef TH_BENCH_CAPACITY_LOAD_TEST_HARNESS_H
#define TH_BENCH_CAPACITY_LOAD_TEST_HARNESS_H

#include "measure/runqueue_delay.h"

#include <throng/bench/stress.h>

typedef struct th_load_test {
    const th_stress_desc *desc;
    th_scene *base_scene; /* nobody, for the compiled models, which are compiled once */
    th_scene *scene;      /* of the crowd that is posed, as the next three */
    th_crowd *crowd;
    th_frame *frame;
    th_jobs *jobs;
    void *palette; /* of the largest crowd so far */
    size_t palette_bytes;
    uint64_t number, due_ns;        /* of the next frame */
    th_runqueue_delay delay;        /* of all threads that frames have; none where nobody can tell whom they wait for */
    double preemption_threshold_ns; /* as th_stress */
    /* Nanoseconds of the frames since the crowd was made; `unpreempted`: those of them in which nobody waited so long.
     */
    th_samples real, cpu, unpreempted;
} th_load_test;

/* Compiles the compiled models. th_load_test_fini in the end, whatever comes back. */
th_result th_load_test_init(th_load_test *load_test, const th_stress_desc *desc, th_error *err);
void th_load_test_fini(th_load_test *load_test);

/* Other threads from now on. */
th_result th_load_test_set_threads(th_load_test *load_test, uint32_t threads, th_error *err);

/* Memory that each character takes, palette and all. */
th_result th_load_test_character_bytes(const th_load_test *load_test, double *out, th_error *err);

/* Makes a crowd of so many in ordinary memory. */
th_result th_load_test_create_crowd(th_load_test *load_test, uint32_t characters, th_error *err);

/* Makes one for th_load_test_frame, and warms up. */
th_result th_load_test_prepare(th_load_test *load_test, uint32_t characters, th_error *err);

/* The renderer's crowd goes. Tells what failed while it was drawn. */
th_result th_load_test_finish(th_load_test *load_test, th_error *err);

/* Waits for the tick; returns how long the frame took, in nanoseconds. */
double th_load_test_frame(th_load_test *load_test);

/* Frames on ticks that the tracer records in a group of that name, until there are `events` of them, or 16 frames. */
void th_load_test_trace(th_load_test *load_test, th_tracer *tracer, const char *name, uint64_t events);

/* For th_validate_run_desc, of a crowd that is posed: no tick, nothing timed. */
void th_load_test_run(void *load_test, uint64_t frame);

#endif
