/* Measures two programs in turns, for throng compare --run. */
#ifndef TH_CLI_COMPARE_RUN_H
#define TH_CLI_COMPARE_RUN_H

#include <cli/options.h>

/* What th_compare needs to compare these two sides as the options say. */
th_compare_desc th_compare_options_desc(const th_options *options, th_result_file *const sides[2]);

/* Runs `bench` of the programs, one process each time, in the order old, new, new, old, so that a drift of the machine
 * affects both alike, until all entries are decided or time is over. The caller frees the sides, also on failure. */
th_result th_compare_run(const th_options *options, th_run *run, th_result_file *sides[2], th_error *err);

#endif
