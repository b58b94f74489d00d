/* The test stand of a stress test: crowds of any size on some threads, a frame on each tick. Private to bench. */
#ifndef TH_STRESS_STAND_H
#define TH_STRESS_STAND_H

#include "waits.h"

#include <throng/stress.h>

typedef struct th_stand {
    const th_stress_desc *desc;
    th_scene *cast;  /* nobody, for the rigs, which are compiled once */
    th_scene *scene; /* of the crowd under test, as the next three */
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

/* Makes a crowd of so many, and warms up. */
th_result th_stand_prepare(th_stand *stand, uint32_t characters, th_error *err);

/* Waits for the tick; returns how long the frame took, in nanoseconds. */
double th_stand_frame(th_stand *stand);

/* For th_trial: no tick, nothing timed. */
void th_stand_run(void *stand, uint64_t frame);

#endif
