/* Errors caused by files, options or the machine.
 *
 * A function that can fail for such a reason returns a th_result and fills a th_error, whose text says what went wrong
 * and where, for users. Mistakes of the caller are assert()s: NULL where a function does not allow it, an index or a
 * range out of bounds, calls in the wrong order. Libraries never print, log or exit. */
#ifndef THRONG_CORE_ERROR_H
#define THRONG_CORE_ERROR_H

#include <core/api.h>

TH_API_BEGIN

typedef enum th_result {
    TH_OK,
    TH_ERR_INPUT,       /* a file is missing, broken or contradicts itself */
    TH_ERR_LIMIT,       /* valid input that exceeds a documented limit */
    TH_ERR_MEMORY,      /* out of memory */
    TH_ERR_ENVIRONMENT, /* the machine lacks something: an instruction set, a process, a thread */
    TH_ERR_USAGE,       /* an argument that matches nothing, such as a clip that no model has */
} th_result;

typedef struct th_error {
    th_result code;
    char text[1024]; /* one sentence, no newline, no full stop at the end */
} th_error;

/* Fills `err` (may be NULL) and returns `code`, which is not TH_OK: return th_fail(err, ...);
 * Text that does not fit is truncated. */
__attribute__((format(printf, 3, 4))) th_result th_fail(th_error *err, th_result code, const char *format, ...);

TH_API_END

#endif
