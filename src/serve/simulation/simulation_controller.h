/* Decides what plays: takes wishes, has crowds made for them off stage, and puts them on between two ticks. One that
 * cannot be made leaves everything as it was, and its reason. Owns the tick loop. */
#ifndef TH_SERVE_SIMULATION_SIMULATION_CONTROLLER_H
#define TH_SERVE_SIMULATION_SIMULATION_CONTROLLER_H

#include "tick_loop.h"

typedef struct th_controller th_controller;

typedef struct th_controller_state {
    th_settings settings;  /* in force */
    th_settings requested; /* the same, but while a crowd is being made, or waits for its turn */
    bool reconfiguring;
    bool held;             /* paused whatever the settings say */
    uint64_t done, failed; /* changes of the crowd */
    char error[1024];      /* of the last change; "" when it worked */
    uint64_t bones;        /* palette entries of all characters together */
    uint64_t palette_bytes, bytes;
    th_isa isa;
} th_controller_state;

/* Makes the first crowd in the calling thread, and begins to tick. The desc's pointers are borrowed. */
th_result th_controller_create(const th_controller_desc *desc, const th_settings *settings, th_controller **out,
                               th_error *err);
void th_controller_destroy(th_controller *controller); /* waits for a crowd that is being made */

/* Changes the settings in force to these: rate and pause at once, anything else when the crowd is made, which is what
 * true means. Of wishes that come while one is made the last counts. Any thread. */
bool th_controller_request(th_controller *controller, const th_settings *settings);

/* Pauses whatever the settings say, for a measurement that wants the CPUs. Any thread. */
void th_controller_hold(th_controller *controller, bool held);

/* Any thread. */
th_controller_state th_controller_read(th_controller *controller);
th_tick_loop *th_controller_tick_loop(th_controller *controller);

/* The models that play, for th_model_cache_release, with the settings of their crowd; *out_number is another one when
 * another crowd plays. Any thread. */
th_model_cache *th_controller_acquire_models(th_controller *controller, th_settings *out_settings,
                                             uint64_t *out_number);

/* The models that play: [{"name", "joints", "bones", "clips": [{"name", "seconds", "exact"}]}]. Any thread.
 */
json_t *th_controller_models_json(th_controller *controller);

/* CPU time that making crowds has taken so far. Never goes back. Any thread. */
uint64_t th_controller_cpu_ns(th_controller *controller);

#endif
