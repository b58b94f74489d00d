/* Traces, read strictly. */
#ifndef FIXTURE_TRACE_H
#define FIXTURE_TRACE_H

#include <jansson.h>
#include <stdbool.h>

/* The document, in which everything is as trace viewers want it: each phase has its fields and no others, tracks have
 * names before they have events, times ascend, and the spans of a track nest. json_decref in the end. */
json_t *trace_read(const char *text);

double number_of(const json_t *object, const char *field);
const char *text_of(const json_t *object, const char *field);

/* Spans of this category and name (NULL: any) in the processes of this name (NULL: any): how many, how long together
 * in microseconds. */
typedef struct span_sum {
    size_t count;
    double us;
} span_sum;

span_sum sum_spans(const json_t *trace, const char *process, const char *category, const char *name);

const char *process_of(const json_t *trace, const json_t *event);
const char *thread_of(const json_t *trace, const json_t *event);

/* Frames of the main thread in which there is no stage. */
size_t bare_frames(const json_t *trace);

#endif
