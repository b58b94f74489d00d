/* What somebody may have meant. */
#ifndef THRONG_CORE_SUGGEST_H
#define THRONG_CORE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* Edits that turn a into b: insert, delete or replace a letter, or swap two neighbours. (Optimal string alignment, the
 * restricted form of F. Damerau, A Technique for Computer Detection and Correction of Spelling Errors, 1964.) Letters
 * compare without case; words longer than 63 letters count as wholly different. */
unsigned th_edit_distance(const char *a, const char *b);

/* Collects candidates; best stays NULL when none is near enough to help. */
typedef struct th_suggestion {
    const char *typed;
    const char *best;
    unsigned distance;
} th_suggestion;

void th_suggestion_consider(th_suggestion *s, const char *candidate);

#endif
