#include <serve/log.h>

#include <core/table.h>

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void th_log(th_log_level level, const char *format, ...)
{
    static const char *const names[] = {"error", "warning", "info"};
    assert(level < sizeof names / sizeof *names && format);
    char message[1536], clean[1536], seconds[24], line[2048];
    struct timespec now;
    struct tm utc;
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    th_printable(message, clean, sizeof clean);
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    const int length = snprintf(line, sizeof line, "%s.%03uZ %s %s\n", seconds,
                                (unsigned)(now.tv_nsec / 1000000) % 1000u, names[level], clean);
    /* One write, so that lines of threads and child processes do not mix. */
    const ssize_t ignored = write(STDERR_FILENO, line, (size_t)length);
    (void)ignored;
}
