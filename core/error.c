#include <core/error.h>
#include <core/text_format.h>

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#ifndef NDEBUG
bool th_misused(const char *condition, const char *file, unsigned line, const char *function)
{
    __assert_fail(condition, file, line, function);
}
#endif

th_result th_fail(th_error *err, th_result code, const char *format, ...)
{
    assert(code > TH_OK && code <= TH_ERR_USAGE);
    assert(format);
    if (err) {
        err->code = code;
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        th_printable(err->text, err->text, sizeof err->text);
    }
    return code;
}
