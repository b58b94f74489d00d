/* The log on standard error: a line per message, as 2026-01-31T12:00:00.000Z info listening on ... Not for the tick
 * thread: a terminal or a pipe without a reader may block a writer. */
#ifndef THRONG_SERVE_LOG_H
#define THRONG_SERVE_LOG_H

typedef enum th_log_level { TH_LOG_ERROR, TH_LOG_WARNING, TH_LOG_INFO } th_log_level;

/* Control characters become '?', because text may come from clients. */
__attribute__((format(printf, 2, 3))) void th_log(th_log_level level, const char *format, ...);

#endif
