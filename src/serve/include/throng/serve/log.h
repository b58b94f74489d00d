/* The log on standard error: one line per message, as text or as JSON. Not for the tick thread: a terminal or a pipe
 * without a reader may block a writer. */
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

/* Call before starting threads. Messages less important than `most` are dropped. */
void th_log_init(th_log_level most, th_log_format format);

/* Control characters become '?', because text may come from clients. */
__attribute__((format(printf, 2, 3))) void th_log(th_log_level level, const char *format, ...);

TH_API_END

#endif
