/* Who may ask for what: decided by the head of a request alone, before anything is done for it.
 *
 * A page of another site, open in the same browser, can send requests here. It cannot set the Host to a name of ours
 * (its own name pointing here, "DNS rebinding", shows in Host), it cannot hide its Origin, and it cannot send
 * application/json without asking first, which is never granted. */
#ifndef TH_SERVE_HTTP_REQUEST_FILTER_H
#define TH_SERVE_HTTP_REQUEST_FILTER_H

#include "rate_limiter.h"
#include "token.h"

#include <stddef.h>

enum { TH_GUARD_HOSTS = 65, TH_GUARD_BODY_BYTES = 16384 }; /* hosts: 64 that are named, and the machine's own */

/* As the client sent it; NULL: there is no such header. */
typedef struct th_head {
    const char *method, *path;
    const char *host, *origin, *fetch_site, *authorization, *content_type, *content_length, *transfer_encoding;
    bool repeats; /* one of these comes more than once */
    const struct sockaddr *address;
} th_head;

/* What a resource asks for. */
typedef struct th_access {
    bool open;     /* for everybody: no token, and links from other sites lead here */
    bool has_body; /* JSON */
} th_access;

typedef struct th_guard {
    const char *hosts[TH_GUARD_HOSTS]; /* names it goes by, beside "localhost" and any IP address; borrowed */
    unsigned host_count;
    const struct sockaddr *listen; /* borrowed */
    th_token token;
    th_throttle throttle;
} th_guard;

typedef struct th_refusal {
    unsigned status;  /* of HTTP */
    const char *code; /* static storage; for programs: "bad_host", ... */
    const char *message;
} th_refusal;

/* In two steps, as what a resource asks for is known in between. True: go on; else the refusal is filled in. */
bool th_guard_admits(th_guard *guard, const th_head *head, uint64_t now_ns, th_refusal *out);
bool th_guard_allows(const th_guard *guard, const th_head *head, th_access access, th_refusal *out);

#endif
