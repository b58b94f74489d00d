/* How errors are made. What goes wrong because of files, options or the machine is a th_result with a th_error. A wrong
 * argument of the program itself is TH_VALID in functions of throng.h, and an assert() everywhere else. */
#ifndef THRONG_CORE_ERROR_H
#define THRONG_CORE_ERROR_H

#include <throng/throng.h>

#include <assert.h>

/* Whether an argument is as throng.h says. Builds with asserts end the program where it is not; in others the function
 * refuses it: it returns TH_ERR_USAGE, or nothing, and changes nothing. */
#ifdef NDEBUG
#define TH_VALID(condition) (condition)
#else
#define TH_VALID(condition) ((condition) || th_misused(#condition, __FILE__, __LINE__, __func__))

/* Ends the program as a failed assert does. Where a test stands in for it, it returns false. */
bool th_misused(const char *condition, const char *file, unsigned line, const char *function);
#endif

/* Whether nothing is asked for of what comes later: of the last member of every desc. */
static inline bool th_reserved_is_zero(const uint64_t reserved[4])
{
    return (reserved[0] | reserved[1] | reserved[2] | reserved[3]) == 0;
}

/* Fills `err` (may be NULL) and returns `code`, which is not TH_OK: return th_fail(err, ...);
 * Text that does not fit is truncated, and made printable (text_format.h): names come from files. */
__attribute__((format(printf, 3, 4))) th_result th_fail(th_error *err, th_result code, const char *format, ...);

#endif
