/* Metrics of several servers in one text: a family's samples stand together, as Prometheus requires, and each has a
 * label that says whose it is. */
#ifndef TH_SERVE_FLEET_LABELLED_METRICS_H
#define TH_SERVE_FLEET_LABELLED_METRICS_H

#include <stdint.h>
#include <stdio.h>

typedef struct th_labelled_text {
    const char *instance;
    const char *text; /* in Prometheus' text format; NULL: none */
} th_labelled_text;

/* Help and type are those of the first text that has the family. Lines that belong to no family, and those of
 * throng_fleet_up, are left out. */
void th_labelled_metrics_write(FILE *file, const th_labelled_text *texts, uint32_t count);

#endif
