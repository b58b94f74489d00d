/* Applies change requests: builds a new simulation in the background and swaps it in between two ticks. If that fails,
 * the old one keeps running and the error is kept. Owns the tick loop. */
#ifndef TH_SERVE_SIMULATION_SIMULATION_CONTROLLER_H
#define TH_SERVE_SIMULATION_SIMULATION_CONTROLLER_H

#include "tick_loop.h"

typedef struct th_controller_state {
    th_settings settings;  /* in effect */
    th_settings requested; /* differs from `settings` while a crowd is being built or waits for the swap */
    bool reconfiguring;
    bool held;             /* paused regardless of the settings */
    uint64_t done, failed; /* reconfigurations */
    char error[1024];      /* of the last reconfiguration; "" if it succeeded */
    uint64_t bones;        /* palette entries of all characters */
    uint64_t palette_bytes, bytes;
    th_isa isa;
} th_controller_state;

typedef struct th_controller {
    th_controller_desc desc;
    th_tick_loop *tick_loop;
    pthread_t thread;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t wake;
    th_controller_state state;
    th_model_cache *model_cache; /* of the running simulation */
    bool building;               /* the helper thread runs */
    pthread_t helper;            /* valid while building */
    uint64_t helpers_cpu_ns;     /* of finished helpers */
    bool stopped;
} th_controller;

/* Builds the first crowd, by a helper that it waits for, and starts to tick. The desc's pointers are borrowed. */
th_result th_controller_create(const th_controller_desc *desc, const th_settings *settings, th_controller **out,
                               th_error *err);
void th_controller_destroy(th_controller *controller); /* waits for a crowd that is being built */

/* Requests new settings: rate and pause apply at once, pace and weights of a blend with the next tick, everything else
 * when a new crowd is built. Returns whether one is being built or will be, also for an earlier request. If several
 * requests arrive during a build, the last one wins. Any thread. */
bool th_controller_request(th_controller *controller, const th_settings *settings);

/* Pauses regardless of the settings, for a measurement that needs the CPUs. Any thread. */
void th_controller_hold(th_controller *controller, bool held);

/* Any thread. */
th_controller_state th_controller_read(th_controller *controller);

/* Returns the models in use, for th_model_cache_release, and the settings of their crowd. *out_number changes with each
 * crowd. Any thread. */
th_model_cache *th_controller_acquire_models(th_controller *controller, th_settings *out_settings,
                                             uint64_t *out_number);

/* The models in use: [{"name", "joints", "bones", "clips": [{"name", "seconds", "exact"}]}]. Any thread. */
json_t *th_controller_models_json(th_controller *controller);

/* Total CPU time of building crowds. Never decreases. Any thread. */
uint64_t th_controller_cpu_ns(th_controller *controller);

#endif
