#include "progress.h"

#include <throng/core/clock.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SHOW_NS 100000000u
#define CLEARED "\r\033[K"

static uint64_t shown_ns; /* time of the last line; 0: no line is shown */

bool th_progress_wanted(void)
{
    return isatty(STDERR_FILENO) || getenv("THRONG_PROGRESS");
}

void th_progress_show(const char *format, ...)
{
    va_list args;
    if (th_clock_ns() - shown_ns < SHOW_NS)
        return;
    va_start(args, format);
    fputs(CLEARED, stderr);
    vfprintf(stderr, format, args);
    va_end(args);
    fflush(stderr);
    shown_ns = th_clock_ns();
}

void th_progress_end(void)
{
    if (shown_ns > 0)
        fputs(CLEARED, stderr);
    fflush(stderr);
    shown_ns = 0;
}
