/* Progress on standard error: on a terminal a line that replaces itself, in a log a line every ten seconds. From one
 * thread. */
#ifndef TH_CLI_PROGRESS_H
#define TH_CLI_PROGRESS_H

#include <stdbool.h>

/* "on" in THRONG_PROGRESS stands for a terminal, as does any other text; with "off" nothing is shown. */
bool th_progress_wanted(void);

/* The time from now on counts for th_progress_left. */
void th_progress_begin(void);

/* ", about 3 min left", when this share of the work is done; "" while too little is. Static storage. */
const char *th_progress_left(double done);

/* Shows the text, unless the last one is too new. */
__attribute__((format(printf, 1, 2))) void th_progress_show(const char *format, ...);

/* Clears the line. */
void th_progress_end(void);

#endif
