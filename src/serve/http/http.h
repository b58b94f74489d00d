/* The HTTP side: connections, requests and replies, by libmicrohttpd, all on the thread that calls. */
#ifndef TH_SERVE_HTTP_HTTP_H
#define TH_SERVE_HTTP_HTTP_H

#include "api.h"
#include "events.h"

typedef struct th_http th_http;

enum { TH_HTTP_CONNECTIONS = 1024, TH_HTTP_FROM_ONE_ADDRESS = 256 };

/* Takes over listen_fd when it succeeds. All that is pointed to must outlive it. */
th_result th_http_create(th_request_filter *filter, th_server_state *state, th_events *events, int listen_fd,
                         th_http **out, th_error *err);

/* Ends all connections. Streams of events must have been closed. */
void th_http_destroy(th_http *http);

/* A descriptor that becomes readable when there is something to do, and in how many ms there is in any case. */
int th_http_fd(const th_http *http);
int th_http_timeout_ms(th_http *http);

/* Does what there is to do. */
void th_http_run(th_http *http);

/* Asks again for what was not there yet, such as pictures; what takes too long is refused. */
void th_http_wake(th_http *http);

/* From now on nobody waits. Before th_http_destroy, and with a th_http_run in between. */
void th_http_close(th_http *http);

/* Closes connections whose request or reply takes too long. About once a second. */
void th_http_close_stalled(th_http *http);

#endif
