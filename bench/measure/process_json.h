/* What a measurement depends on besides machine and build: how this process was started, and how it is scheduled.
 * Private to bench. */
#ifndef TH_BENCH_MEASURE_PROCESS_JSON_H
#define TH_BENCH_MEASURE_PROCESS_JSON_H

#include <jansson.h>

/* "command": the words of the command line; "environment": the variables that schedulers and renderers read;
 * "scheduling_policy", "scheduling_priority" and "nice" of this thread. NULL when memory is out. */
json_t *th_process_json(void);

#endif
