/* What can be changed while the crowd runs: actions to options. Pure. */
#ifndef TH_VIEW_LIVE_SETTINGS_H
#define TH_VIEW_LIVE_SETTINGS_H

#include "cli/model_set.h"
#include "controls.h"

/* Changes what the action says; false when that is none of its business, or changes nothing. given: what the program
 * was started with. */
bool th_live_settings_apply(th_options *options, th_action action, const th_model_set *model_set,
                            const th_options *given);

/* "1,000 characters, 2 threads, f16": what is always of interest, and where options differ from what is common. The
 * text is cut to fit. */
void th_live_settings_describe(const th_options *options, char *text, size_t size);

#endif
