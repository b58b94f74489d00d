#include <serve/log.h>

#include <core/table.h>

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const names[TH_LOG_LEVEL_COUNT] = {"error", "warning", "info"};

static void write_time(char out[32])
{
    struct timespec now;
    struct tm utc;
    char seconds[24];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, 32, "%s.%03uZ", seconds, (unsigned)(now.tv_nsec / 1000000) % 1000u);
}

/* One write, so that lines of threads and child processes do not mix. */
static void write_line(const char *line, size_t length)
{
    ssize_t ignored = write(STDERR_FILENO, line, length);
    (void)ignored;
}

void th_log(th_log_level level, const char *format, ...)
{
    assert(level < TH_LOG_LEVEL_COUNT && format);
    char message[1536], clean[1536], when[32], line[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    th_printable(message, clean, sizeof clean);
    write_time(when);
    write_line(line, (size_t)snprintf(line, sizeof line, "%s %s %s\n", when, names[level], clean));
}
