/* Server-sent events (WHATWG HTML, section 9.2). Every event is a whole state, so the last few are kept once for all
 * clients, and one that reads slowly skips those it came too late for: nobody waits for it, and it costs no memory.
 * All calls come from the thread that runs the daemon. */
#ifndef TH_SERVE_HTTP_EVENTS_H
#define TH_SERVE_HTTP_EVENTS_H

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

typedef struct th_events th_events;

enum { TH_EVENTS_KEPT = 8, TH_EVENTS_CLIENTS = 512 };

th_events *th_events_create(void);         /* NULL when memory is out */
void th_events_destroy(th_events *events); /* when no client is left */

/* A stream for one connection: the last event at once, then all that come. The caller queues it, then destroys it. NULL
 * when memory is out or there are too many clients already. */
struct MHD_Response *th_events_response(th_events *events, struct MHD_Connection *connection);

/* One line of data under a name. Copied; too little memory drops it. */
void th_events_publish(th_events *events, const char *name, const char *data);

/* Ends all streams: run the daemon once more before it is stopped. */
void th_events_close(th_events *events);

uint64_t th_events_clients(const th_events *events);
uint64_t th_events_dropped(const th_events *events);

#endif
