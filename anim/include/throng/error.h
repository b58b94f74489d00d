/* Errors that come from outside: files, options, machines.
 *
 * A function that can fail for such a reason returns a th_result and fills a th_error, which says what went wrong and
 * where in words that can be shown to a person. A caller's own mistake (NULL, a range out of bounds) is an assert().
 * Libraries never print, log or exit. */
#ifndef THRONG_ERROR_H
#define THRONG_ERROR_H

/* One list for the enum and its texts, so that they cannot drift apart. */
#define TH_RESULTS(X)                                                                                                  \
    X(TH_OK, "ok")                                                                                                     \
    X(TH_ERR_INPUT, "unusable input")      /* a file that is missing, broken, or asks for the impossible */            \
    X(TH_ERR_LIMIT, "a limit is exceeded") /* input that is fine in itself, but larger than a stated limit */          \
    X(TH_ERR_MEMORY, "out of memory")                                                                                  \
    X(TH_ERR_ENVIRONMENT, "the machine lacks something") /* no such instruction set, no process, no thread */

typedef enum th_result {
#define TH_RESULT_ENUM(name, text) name,
    TH_RESULTS(TH_RESULT_ENUM)
#undef TH_RESULT_ENUM
} th_result;

typedef struct th_error {
    th_result code;
    char text[1024]; /* one sentence, no newline, no full stop at the end */
} th_error;

/* "unusable input" for TH_ERR_INPUT, and so on. Static storage. */
const char *th_result_text(th_result result);

/* Fills `err` (may be NULL) and returns `code`, so that failing is one line: return th_fail(err, ...);
 * Text that does not fit is cut. */
__attribute__((format(printf, 3, 4))) th_result th_fail(th_error *err, th_result code, const char *format, ...);

#endif
