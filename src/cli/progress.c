#include "progress.h"

#include <core/clock.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOW_NS     100000000u
#define LOG_NS      10000000000u
#define ESTIMATE_NS 2000000000u /* before, there is too little to judge by */
#define CLEARED     "\r\033[K"

static uint64_t begin_ns;
static uint64_t shown_ns; /* time of the last line; 0: none */

bool th_progress_wanted(void)
{
    const char *wanted = getenv("THRONG_PROGRESS");
    return !wanted || strcmp(wanted, "off") != 0;
}

static bool is_terminal(void)
{
    return getenv("THRONG_PROGRESS") ? th_progress_wanted() : isatty(STDERR_FILENO);
}

void th_progress_begin(void)
{
    begin_ns = shown_ns = th_clock_ns();
}

const char *th_progress_left(double done)
{
    static char text[48];
    const uint64_t ns = th_clock_ns() - begin_ns;
    const double left_s = (double)ns / 1e9 * (1 - done) / done;
    if (ns < ESTIMATE_NS || !(done > 0.005))
        return "";
    if (left_s < 90)
        snprintf(text, sizeof text, ", about %.0f s left", left_s);
    else
        snprintf(text, sizeof text, ", about %.0f min left", left_s / 60);
    return text;
}

void th_progress_show(const char *format, ...)
{
    va_list args;
    const bool replaces = is_terminal();
    if (!replaces && shown_ns == 0)
        shown_ns = th_clock_ns(); /* in a log what takes less than LOG_NS shows nothing */
    if (th_clock_ns() - shown_ns < (replaces ? SHOW_NS : LOG_NS))
        return;
    va_start(args, format);
    fputs(replaces ? CLEARED : "throng: ", stderr);
    vfprintf(stderr, format, args);
    fputs(replaces ? "" : "\n", stderr);
    va_end(args);
    fflush(stderr);
    shown_ns = th_clock_ns();
}

void th_progress_end(void)
{
    if (!is_terminal())
        return;
    if (shown_ns > 0)
        fputs(CLEARED, stderr);
    fflush(stderr);
    shown_ns = 0;
}
