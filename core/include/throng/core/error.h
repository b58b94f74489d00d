/* Errors that come from outside: files, options, machines.
 *
 * A function that can fail for such a reason returns a th_result and fills a th_error, which says what went wrong and
 * where in words that can be shown to a person. A caller's own mistake (NULL, a range out of bounds) is an assert().
 * Libraries never print, log or exit. */
#ifndef THRONG_CORE_ERROR_H
#define THRONG_CORE_ERROR_H

typedef enum th_result {
    TH_OK,
    TH_ERR_INPUT,       /* a file that is missing, broken, or asks for the impossible */
    TH_ERR_LIMIT,       /* input that is fine in itself, but larger than a stated limit */
    TH_ERR_MEMORY,      /* out of memory */
    TH_ERR_ENVIRONMENT, /* the machine lacks something: an instruction set, a process, a thread */
    TH_ERR_USAGE,       /* a wish that makes no sense: a clip that no model has */
} th_result;

typedef struct th_error {
    th_result code;
    char text[1024]; /* one sentence, no newline, no full stop at the end */
} th_error;

/* Fills `err` (may be NULL) and returns `code`, so that failing is one line: return th_fail(err, ...);
 * Text that does not fit is cut. */
__attribute__((format(printf, 3, 4))) th_result th_fail(th_error *err, th_result code, const char *format, ...);

#endif
