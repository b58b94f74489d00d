/* A crowd whose characters all share poses (pose_plan.h), as if all were far away: for measurements without a camera.
 * Models with a behaviour do not share. Private to bench. */
#ifndef TH_BENCH_SUITES_SHARED_CROWD_H
#define TH_BENCH_SUITES_SHARED_CROWD_H

#include <bench/report.h>
#include <core/arena.h>
#include <runtime/pose_plan.h>
#include <runtime/scene.h>

typedef struct th_shared_crowd {
    const th_scene *scene;
    th_pose_plan *plan;
    double share_hz;
    th_arena *arena; /* of what follows */
    uint32_t *list;  /* all instances, by model */
    th_draw_list *groups;
    th_layer *layers; /* what instances show, to be checked, and */
    uint64_t *shown;  /* the same as a number for each, sorted */
    uint8_t *counts;
    th_crowd_layers table;
    uint32_t apart; /* with a behaviour */
    double error;   /* the largest so far, scene units */
} th_shared_crowd;

/* Memory for each character. */
#define TH_SHARED_CROWD_BYTES (2 * sizeof(uint32_t) + sizeof(uint64_t) + TH_BEHAVIOUR_LAYERS * sizeof(th_layer) + 1)

/* Call th_shared_crowd_fini in any case; zero is fine for it. scene, crowd: borrowed. Errors: as th_pose_plan_create.
 */
th_result th_shared_crowd_init(th_shared_crowd *s, const th_scene *scene, th_crowd *crowd, double share_hz,
                               th_error *err);
void th_shared_crowd_fini(th_shared_crowd *s);

/* Chooses the palettes of a frame. */
void th_shared_crowd_plan(th_shared_crowd *s, th_jobs *jobs, double time_s);

/* A scene with one instance for each pose that is evaluated at time_s: the first that shows it. So there is as much to
 * pose as in the crowd at that time. desc: what the crowd's scene was made from. */
th_result th_shared_crowd_evaluated(const th_shared_crowd *s, const th_scene_desc *desc, double time_s, th_scene **out,
                                    th_error *err);

/* What instances show at time_s, as layers: by the rule of sharing.h, from the scene and the rate alone. played: what a
 * behaviour plays then; NULL: none. Valid until the next call. */
const th_crowd_layers *th_shared_crowd_layers(th_shared_crowd *s, const th_crowd_layers *played, double time_s);

/* Measures how far what is shown at time_s is from what the instances play: the largest distance as validate.h has it,
 * of a sample. Keeps the largest of all calls. Fails the row where that is not what the rule makes of it, or where as
 * many poses were evaluated. crowd: as in init, with those palettes, planned last. */
th_result th_shared_crowd_measure(th_shared_crowd *s, const th_crowd *crowd, const void *palette,
                                  const th_crowd_layers *played, double time_s, th_row *row, th_error *err);

#endif
