/* The harness of a stress test: crowds of any size, on any number of threads, a frame on each tick. Private to bench.
 *
 * A crowd is posed in ordinary memory (th_load_test_create_crowd), to be checked, or to be timed without a renderer; or
 * a renderer draws it. There is one crowd at a time. */
#ifndef TH_BENCH_CAPACITY_LOAD_TEST_HARNESS_H
#define TH_BENCH_CAPACITY_LOAD_TEST_HARNESS_H

#include "measure/untimed_frames.h"
#include "suites/shared_crowd.h"

#include <bench/interference.h>
#include <bench/stress.h>

typedef struct th_load_test {
    const th_stress_desc *desc;
    th_scene *base_scene; /* without instances; keeps the compiled models */
    th_scene *scene;      /* of the posed crowd, as the next four */
    th_crowd *crowd;
    th_frame *frame;
    th_arena *played; /* of the next: what a behaviour plays, not as the frame has it */
    th_layer *layers;
    uint8_t *counts;
    th_crowd_layers table;
    th_shared_crowd shared; /* zero unless its poses are shared */
    th_jobs *jobs;
    void *palette; /* room for the largest crowd so far */
    size_t palette_bytes;
    /* Number of the next frame, and its tick. */
    uint64_t number, due_ns;
    /* Of all threads that run frames; empty where preemption cannot be told. */
    th_runqueue_delay delay;
    double preemption_threshold_ns; /* as in th_stress */
    /* Since the crowd was made, in nanoseconds: of frames, and of ticks (th_capacity_add_latencies). unpreempted: the
     * latencies of frames in which no thread waited preemption_threshold_ns for a CPU. */
    th_samples real, cpu, latencies, unpreempted;
    uint32_t preempted;         /* frames in which one did */
    th_worker_counts *counters; /* NULL: nothing is counted */
} th_load_test;

/* Compiles the models. Call th_load_test_fini in the end, even if it failed. */
th_result th_load_test_init(th_load_test *load_test, const th_stress_desc *desc, th_error *err);
void th_load_test_fini(th_load_test *load_test);

/* Sets the number of threads. */
th_result th_load_test_set_threads(th_load_test *load_test, uint32_t threads, th_error *err);

/* Memory for each character, including its palette, in bytes. */
th_result th_load_test_character_bytes(const th_load_test *load_test, double *out, th_error *err);

/* Makes a crowd in ordinary memory. */
th_result th_load_test_create_crowd(th_load_test *load_test, uint32_t characters, th_error *err);

/* For th_capacity_subject: makes a crowd for th_load_test_frame, and warms up. */
th_result th_load_test_prepare(void *load_test, uint32_t characters, th_error *err);

/* Destroys the renderer's crowd. Reports what failed while it was drawn. */
th_result th_load_test_finish(th_load_test *load_test, th_error *err);

/* Of it too: waits for the next tick that is not missed and runs a frame. */
th_capacity_frame th_load_test_frame(void *load_test);

/* Runs frames on ticks that the tracer records in a group called `name`, until there are `events` events or 16
 * frames. */
void th_load_test_trace(th_load_test *load_test, th_tracer *tracer, const char *name, uint64_t events);

/* For th_validate_run_desc.run and th_counted_frames: poses the crowd without a tick or timing. */
void th_load_test_run(void *load_test, uint64_t frame);

/* Of the posed crowd in the last frame. */
th_stress_poses th_load_test_poses(const th_load_test *load_test);

/* Poses this frame, and measures how far shared poses are from what their characters play (load_test.shared.error). */
th_result th_load_test_measure_sharing(th_load_test *load_test, uint64_t frame, th_row *row, th_error *err);

/* What the crowd shows in the last frame, which was this one. NULL: the clips of the instances. */
const th_crowd_layers *th_load_test_layers(void *load_test, uint64_t frame);

#endif
