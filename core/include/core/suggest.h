/* "Did you mean" suggestions for a mistyped word. */
#ifndef THRONG_CORE_SUGGEST_H
#define THRONG_CORE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* The number of edits that turn a into b: insert, delete or replace a letter, or swap two neighbours. This is the
 * optimal string alignment distance, the restricted form of F. Damerau, A Technique for Computer Detection and
 * Correction of Spelling Errors, 1964. Ignores case. Words longer than 63 letters count as entirely different. */
unsigned th_edit_distance(const char *a, const char *b);

/* Set `typed`, then consider each candidate. `best` stays NULL if no candidate is near enough. */
typedef struct th_suggestion {
    const char *typed;
    const char *best;
    unsigned distance;
} th_suggestion;

void th_suggestion_consider(th_suggestion *s, const char *candidate);

#endif
