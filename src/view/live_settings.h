/* Settings that can change while the crowd runs: applies actions to them. Pure. */
#ifndef TH_VIEW_LIVE_SETTINGS_H
#define TH_VIEW_LIVE_SETTINGS_H

#include "controls.h"
#include <cli/model_set.h>

typedef struct th_live_settings {
    th_crowd_view_desc crowd; /* its models and clips are filled in when it is built */
    th_crowd_behaviour behaviour;
    const char *clip; /* as in th_model_options */
} th_live_settings;

/* Applies the action. False if the action is not a setting or changes nothing. start: the settings at program start. */
bool th_live_settings_apply(th_live_settings *settings, th_action action, const th_model_set *model_set,
                            const th_live_settings *start);

/* Applies the action to what is blended, which needs no other crowd view. False if it is another action, if nothing is
 * blended, or if it changes nothing. The weights of all clips are 1 at first; a pace ends them. */
bool th_live_settings_blend(th_live_settings *settings, th_action action, const th_model_set *model_set);

/* Describes the settings, as in "1,000 characters, 2 threads, quat16": the counts, and settings that differ from the
 * default. Truncates the text to `size`. */
void th_live_settings_describe(const th_live_settings *settings, char *text, size_t size);

#endif
