/* What the server says on standard error: a line at a time, as text or as JSON. Any thread but the one that ticks: a
 * terminal or a pipe that nobody reads may hold a writer up. */
#ifndef THRONG_SERVE_LOG_H
#define THRONG_SERVE_LOG_H

#include <throng/core/api.h>

TH_API_BEGIN

typedef enum th_log_level {
    TH_LOG_ERROR = 0,
    TH_LOG_WARNING,
    TH_LOG_INFO,
    TH_LOG_DEBUG,
    TH_LOG_LEVEL_COUNT,
} th_log_level;

typedef enum th_log_format {
    TH_LOG_TEXT = 0, /* 2026-01-31T12:00:00.000Z info listening on ... */
    TH_LOG_JSON,     /* {"time": "2026-01-31T12:00:00.000Z", "level": "info", "message": "listening on ..."} */
    TH_LOG_FORMAT_COUNT,
} th_log_format;

/* Before there are threads. What is less important than `most` is left out. */
void th_log_init(th_log_level most, th_log_format format);

/* Control characters become '?': text may come from clients. */
__attribute__((format(printf, 2, 3))) void th_log(th_log_level level, const char *format, ...);

TH_API_END

#endif
