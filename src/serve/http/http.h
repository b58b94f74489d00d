/* The HTTP server: connections, heads of requests, replies and event streams, with libmicrohttpd, all on the calling
 * thread. Another one makes the replies that read files. */
#ifndef TH_SERVE_HTTP_HTTP_H
#define TH_SERVE_HTTP_HTTP_H

#include "api.h"

typedef struct th_http th_http;

/* Connections of requests that are being read or answered, and those without a whole head before them. */
enum { TH_HTTP_CONNECTIONS = 1024, TH_HTTP_PENDING = 1024 };

/* Takes over listen_fd in any case. All pointers must outlive it. */
th_result th_http_create(th_request_filter *filter, th_server_state *state, int listen_fd, th_http **out,
                         th_error *err);

/* Ends event streams and waiting, and closes all connections. */
void th_http_destroy(th_http *http);

/* A descriptor that becomes readable if there is work; *out_timeout_ms: after how many ms there is in any case, or -1.
 */
int th_http_fd(th_http *http, int *out_timeout_ms);

/* Does the pending work. */
void th_http_run(th_http *http);

/* Sends one line of data under a name to the clients of the event stream. Drops the event if out of memory. */
void th_http_publish(th_http *http, const char *name, const char *data);

/* Retries replies that were not ready, such as snapshots. Rejects those that take too long. */
void th_http_wake(th_http *http);

/* Closes connections whose head, request or reply takes too long. Call about once a second. */
void th_http_close_stalled(th_http *http);

#endif
