/* Access control by the headers of a request alone, before anything else is done.
 *
 * A page of another site, open in the same browser, can send requests to this server. It cannot fake the Host (with DNS
 * rebinding its own name shows there), it cannot hide its Origin, and it cannot send application/json without a
 * preflight request, which is never granted. */
#ifndef TH_SERVE_HTTP_REQUEST_FILTER_H
#define TH_SERVE_HTTP_REQUEST_FILTER_H

#include "token.h"

#include <stddef.h>
#include <sys/socket.h>

enum {
    TH_REQUEST_FILTER_HOSTS = 65,
    TH_REQUEST_FILTER_BODY_BYTES = 16384
}; /* hosts: 64 options, and the machine's own name */

/* As the client sent it; NULL: no such header. */
typedef struct th_request_headers {
    const char *method, *path;
    const char *host, *origin, *fetch_site, *authorization, *content_type, *content_length, *transfer_encoding;
    bool repeats; /* a header that must be unique is repeated */
} th_request_headers;

/* The requirements of a resource. */
typedef struct th_access {
    bool open;     /* public: no token, and links from other sites are allowed */
    bool has_body; /* a JSON body */
} th_access;

typedef struct th_request_filter {
    const char
        *hosts[TH_REQUEST_FILTER_HOSTS]; /* accepted names, in addition to "localhost" and any IP address; borrowed */
    unsigned host_count;
    const struct sockaddr *listen; /* borrowed */
    th_token token;
} th_request_filter;

typedef struct th_rejection {
    unsigned status;  /* HTTP status */
    const char *code; /* static storage; machine-readable: "bad_host", ... */
    const char *message;
} th_rejection;

/* Two steps, because the resource is determined in between. Return true to continue; otherwise *out_rejection is filled
 * in. */
bool th_request_filter_check_headers(const th_request_filter *filter, const th_request_headers *headers,
                                     th_rejection *out);
bool th_request_filter_check_access(const th_request_filter *filter, const th_request_headers *headers,
                                    th_access access, th_rejection *out);

#endif
