#include <core/error.h>

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

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
    }
    return code;
}
