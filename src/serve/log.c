#include <throng/serve/log.h>

#include <throng/core/json.h>
#include <throng/core/table.h>

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const names[TH_LOG_LEVEL_COUNT] = {"error", "warning", "info", "debug"};

static struct {
    th_log_level most;
    th_log_format format;
} config = {TH_LOG_INFO, TH_LOG_TEXT};

void th_log_init(th_log_level most, th_log_format format)
{
    assert(most < TH_LOG_LEVEL_COUNT && format < TH_LOG_FORMAT_COUNT);
    config.most = most;
    config.format = format;
}

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
    if (level > config.most)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    th_printable(message, clean, sizeof clean);
    write_time(when);
    if (config.format == TH_LOG_TEXT) {
        const int length = snprintf(line, sizeof line, "%s %s %s\n", when, names[level], clean);
        write_line(line, (size_t)length);
        return;
    }
    json_t *json = json_pack("{s:s, s:s, s:o}", "time", when, "level", names[level], "message", th_json_text(clean));
    char *text = json_dumps(json, JSON_COMPACT);
    if (text) {
        const size_t length = strlen(text);
        text[length] = '\n'; /* replaces the terminator */
        write_line(text, length + 1);
    }
    free(text);
    json_decref(json);
}
