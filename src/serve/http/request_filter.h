/* Who may ask for what: decided by the headers of a request alone, before anything is done for it.
 *
 * A page of another site, open in the same browser, can send requests here. It cannot set the Host to a name of ours
 * (its own name pointing here, "DNS rebinding", shows in Host), it cannot hide its Origin, and it cannot send
 * application/json without asking first, which is never granted. */
#ifndef TH_SERVE_HTTP_REQUEST_FILTER_H
#define TH_SERVE_HTTP_REQUEST_FILTER_H

#include "rate_limiter.h"
#include "token.h"

#include <stddef.h>

enum {
    TH_REQUEST_FILTER_HOSTS = 65,
    TH_REQUEST_FILTER_BODY_BYTES = 16384
}; /* hosts: 64 that are named, and the machine's own */

/* As the client sent it; NULL: there is no such header. */
typedef struct th_request_headers {
    const char *method, *path;
    const char *host, *origin, *fetch_site, *authorization, *content_type, *content_length, *transfer_encoding;
    bool repeats; /* one of these comes more than once */
    const struct sockaddr *address;
} th_request_headers;

/* What a resource asks for. */
typedef struct th_access {
    bool open;     /* for everybody: no token, and links from other sites lead here */
    bool has_body; /* JSON */
} th_access;

typedef struct th_request_filter {
    const char *hosts[TH_REQUEST_FILTER_HOSTS]; /* names it goes by, beside "localhost" and any IP address; borrowed */
    unsigned host_count;
    const struct sockaddr *listen; /* borrowed */
    th_token token;
    th_rate_limiter rate_limiter;
} th_request_filter;

typedef struct th_rejection {
    unsigned status;  /* of HTTP */
    const char *code; /* static storage; for programs: "bad_host", ... */
    const char *message;
} th_rejection;

/* In two steps, as what a resource asks for is known in between. True: go on; else the rejection is filled in. */
bool th_request_filter_check_headers(th_request_filter *filter, const th_request_headers *headers, uint64_t now_ns,
                                     th_rejection *out);
bool th_request_filter_check_access(const th_request_filter *filter, const th_request_headers *headers,
                                    th_access access, th_rejection *out);

#endif
