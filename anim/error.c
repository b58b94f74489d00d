#include <throng/error.h>

#include <stdarg.h>
#include <stdio.h>

const char *th_result_text(th_result result)
{
    switch (result) {
#define TH_RESULT_CASE(name, text)                                                                                     \
    case name:                                                                                                         \
        return text;
        TH_RESULTS(TH_RESULT_CASE)
#undef TH_RESULT_CASE
    }
    return "unknown result";
}

th_result th_fail(th_error *err, th_result code, const char *format, ...)
{
    if (err) {
        err->code = code;
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return code;
}
