/* Decides what plays: takes wishes, has crowds made for them off stage, and puts them on between two ticks. One that
 * cannot be made leaves everything as it was, and its reason. Owns the runner. */
#ifndef TH_SERVE_SIMULATION_SIMULATION_CONTROLLER_H
#define TH_SERVE_SIMULATION_SIMULATION_CONTROLLER_H

#include "tick_loop.h"

typedef struct th_director th_director;

typedef struct th_director_state {
    th_settings settings; /* in force */
    th_settings wanted;   /* the same, but while a crowd is being made, or waits for its turn */
    bool changing;
    bool held;             /* paused whatever the settings say */
    uint64_t done, failed; /* changes of the crowd */
    char error[1024];      /* of the last change; "" when it worked */
    uint64_t joints;       /* palette entries of all characters together */
    uint64_t palette_bytes, bytes;
    th_isa isa;
} th_director_state;

/* Makes the first crowd in the calling thread, and begins to tick. The desc's pointers are borrowed. */
th_result th_director_create(const th_director_desc *desc, const th_settings *settings, th_director **out,
                             th_error *err);
void th_director_destroy(th_director *director); /* waits for a crowd that is being made */

/* Changes the settings in force to these: rate and pause at once, anything else when the crowd is made, which is what
 * true means. Of wishes that come while one is made the last counts. Any thread. */
bool th_director_wish(th_director *director, const th_settings *settings);

/* Pauses whatever the settings say, for a measurement that wants the CPUs. Any thread. */
void th_director_hold(th_director *director, bool held);

/* Any thread. */
th_director_state th_director_read(th_director *director);
th_runner *th_director_runner(th_director *director);

/* The models that play, for th_company_release, with the settings of their crowd; *out_number is another one when
 * another crowd plays. Any thread. */
th_company *th_director_lend(th_director *director, th_settings *out_settings, uint64_t *out_number);

/* The models that play: [{"name", "joints", "palette_entries", "clips": [{"name", "seconds", "exact"}]}]. Any thread.
 */
json_t *th_director_models_json(th_director *director);

/* CPU time that making crowds has taken so far. Never goes back. Any thread. */
uint64_t th_director_cpu_ns(th_director *director);

#endif
