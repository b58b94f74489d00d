/* Reads the measuring options, and shows progress on a terminal (progress.h). */
#ifndef TH_CLI_MEASURE_OPTIONS_H
#define TH_CLI_MEASURE_OPTIONS_H

#include "options.h"

#include <throng/bench/measure.h>

/* Prints an error and returns an exit code when the options contradict each other. */
int th_measure_options_init(th_measure_desc *measure, const th_options *options);

#endif
