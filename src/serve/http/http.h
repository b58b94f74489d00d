/* The HTTP server: connections, requests and replies with libmicrohttpd, all on the calling thread. */
#ifndef TH_SERVE_HTTP_HTTP_H
#define TH_SERVE_HTTP_HTTP_H

#include "api.h"
#include "events.h"

typedef struct th_http th_http;

enum { TH_HTTP_CONNECTIONS = 1024, TH_HTTP_FROM_ONE_ADDRESS = 256 };

/* Takes over listen_fd in any case. All pointers must outlive it. */
th_result th_http_create(th_request_filter *filter, th_server_state *state, th_events *events, int listen_fd,
                         th_http **out, th_error *err);

/* Closes all connections. Close event streams first. */
void th_http_destroy(th_http *http);

/* th_http_fd becomes readable if there is work; th_http_timeout_ms says after how many ms there is in any case. */
int th_http_fd(const th_http *http);
int th_http_timeout_ms(th_http *http);

/* Does the pending work. */
void th_http_run(th_http *http);

/* Retries replies that were not ready, such as snapshots. Rejects those that take too long. */
void th_http_wake(th_http *http);

/* Ends waiting, now and later. Call before th_http_destroy, with a th_http_run in between. */
void th_http_close(th_http *http);

/* Closes connections whose request or reply takes too long. Call about once a second. */
void th_http_close_stalled(th_http *http);

#endif
