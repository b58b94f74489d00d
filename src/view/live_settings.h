/* Settings that can change while the crowd runs: applies actions to options. Pure. */
#ifndef TH_VIEW_LIVE_SETTINGS_H
#define TH_VIEW_LIVE_SETTINGS_H

#include "cli/model_set.h"
#include "controls.h"

/* Applies the action. False if the action is not a setting or changes nothing. given: the options at program start. */
bool th_live_settings_apply(th_options *options, th_action action, const th_model_set *model_set,
                            const th_options *given);

/* Describes the options, as in "1,000 characters, 2 threads, f16": the counts, and settings that differ from
 * the default. Truncates the text to `size`. */
void th_live_settings_describe(const th_options *options, char *text, size_t size);

#endif
