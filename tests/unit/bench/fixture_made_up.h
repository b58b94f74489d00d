/* Results made by hand, for what is made of them: no clock, processor or system has a part in any figure. Each is of
 * the same machine, and of the same crowd, whose names, date and build are made up as well. */
#ifndef FIXTURE_MADE_UP_H
#define FIXTURE_MADE_UP_H

#include <bench/rank_scaling.h>
#include <bench/scale.h>
#include <bench/stress.h>

/* Eight CPUs that nobody else uses, at a clock that stands still. */
th_context made_up_machine(void);

/* The part "scene" of the context: so many humans of 52 bones. */
json_t *made_up_scene(uint32_t characters);

/* The same machine and scene for a report, whatever was read of this one. */
void make_up_conditions(th_report *report, uint32_t characters);

/* A curve of 1, 2, 4, 8 ... threads. */
typedef struct made_up_curve {
    th_scheduler scheduler;
    uint32_t characters, grain, points;
} made_up_curve;

/* On n threads a frame of 1000 characters takes (1 + sigma (n - 1) + kappa n (n - 1)) / n ms: the Universal Scalability
 * Law. Of what is lost, six tenths are imbalance, two are wake-ups, two are serial. Intervals are 1 % to either side.
 * is_weak: the curves' characters are for each thread. wrong: the point whose palettes are wrong; 0: none. Call
 * th_scale_fini in the end. */
typedef struct made_up_scale_desc {
    const made_up_curve *curves;
    uint32_t curve_count, processes, wrong;
    double sigma, kappa, share_hz;
    bool is_weak, has_counters;
} made_up_scale_desc;

th_scale made_up_scale(const made_up_scale_desc *desc);

/* 134,000 characters on two threads, of which 30 of 1,796 frames were preempted; 67,000 on one, where memory was the
 * limit. th_stress_fini. */
th_stress made_up_stress(void);

/* The same drawn, with shared and held poses: every frame on two threads was preempted, and half of the characters were
 * out of sight. th_stress_fini. */
th_stress made_up_stress_drawn(void);

/* Two points of 1 and 2 ranks of 3 threads, 4 frames each. Alone a frame takes 1000 us; of two ranks one poses for 600,
 * the other for 400, and the frame takes 650, of which the bare barrier has 10. Gathering the palettes takes 200 more,
 * of which 190 without poses. th_rank_scaling_analyze, th_rank_scaling_fini. */
th_rank_scaling made_up_ranks(void);

#endif
