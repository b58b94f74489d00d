/* How the options want things measured, with a line on a terminal that says how far that is (progress.h). */
#ifndef TH_CLI_MEASURE_OPTIONS_H
#define TH_CLI_MEASURE_OPTIONS_H

#include "options.h"

#include <throng/bench/measure.h>

/* Complains and returns an exit code when the options contradict each other. */
int th_measure_options_init(th_measure_desc *measure, const th_options *options);

#endif
