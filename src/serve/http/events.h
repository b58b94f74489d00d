/* Server-sent events (WHATWG HTML, section 9.2). Every event is a complete state. So the last few are stored once for
 * all clients, and a slow client skips events: it delays no other and costs no memory. All calls come from the thread
 * that runs the daemon. */
#ifndef TH_SERVE_HTTP_EVENTS_H
#define TH_SERVE_HTTP_EVENTS_H

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

typedef struct th_events th_events;

enum { TH_EVENTS_KEPT = 8, TH_EVENTS_CLIENTS = 512 };

th_events *th_events_create(void);         /* NULL: out of memory */
void th_events_destroy(th_events *events); /* after all clients are gone */

/* Creates a stream for one connection: the last event at once, then all new ones. The caller queues it, then destroys
 * it. Returns NULL if out of memory or if there are too many clients. */
struct MHD_Response *th_events_response(th_events *events, struct MHD_Connection *connection);

/* Publishes one line of data under a name. Copies both. Drops the event if out of memory. */
void th_events_publish(th_events *events, const char *name, const char *data);

/* Ends all streams. Run the daemon once more before stopping it. */
void th_events_close(th_events *events);

uint64_t th_events_clients(const th_events *events);
uint64_t th_events_dropped(const th_events *events);

#endif
