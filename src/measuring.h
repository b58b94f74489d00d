/* How the options want things measured, and a line on a terminal that says how far that is. */
#ifndef TH_MEASURING_H
#define TH_MEASURING_H

#include "options.h"

#include <throng/measure.h>

/* Complains and returns an exit code when the options contradict each other. */
int th_measuring_init(th_measure_desc *measure, const th_options *options);

/* Clears the line. */
void th_measuring_end(void);

#endif
