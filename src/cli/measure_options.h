/* Completes the measuring options, and shows progress on a terminal (progress.h). */
#ifndef TH_CLI_MEASURE_OPTIONS_H
#define TH_CLI_MEASURE_OPTIONS_H

#include <cli/run.h>

#include <bench/measure.h>

/* measure: as the options say. Prints an error and returns an exit code when they contradict each other. */
int th_measure_options_complete(const th_run *run, th_measure_desc *measure);

#endif
