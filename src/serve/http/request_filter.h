/* What of a request is let through, in three steps before anything else is done: the bytes of its head, its headers,
 * and what the resource that it names demands. */
#ifndef TH_SERVE_HTTP_REQUEST_FILTER_H
#define TH_SERVE_HTTP_REQUEST_FILTER_H

#include <core/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

typedef struct th_rejection {
    unsigned status;  /* HTTP status */
    const char *code; /* static storage; machine-readable: "bad_host", ... */
    const char *message;
} th_rejection;

/* ---- the bytes of a head ----
 *
 * Checked before a library interprets them. RFC 9112 lets a recipient repair much; here nothing is repaired, because a
 * proxy in front may repair it differently and see other requests (request smuggling). */

enum { TH_HEAD_BYTES = 32768, TH_HEAD_FIELDS = 100, TH_HEAD_ARGUMENTS = 400 };

typedef enum th_head_status {
    TH_HEAD_INCOMPLETE, /* good so far */
    TH_HEAD_GOOD,
    TH_HEAD_BAD, /* *out_rejection says why */
} th_head_status;

/* bytes: what has arrived so far, from the first byte of the connection. A good head has
 *
 * - a request line of a method, a target of visible ASCII and HTTP/1.0 or HTTP/1.1, with single spaces between them
 * - lines that end with CRLF and have no other control character than tabs
 * - fields of a token and a colon, none of them folded
 * - at most one Host, which HTTP/1.1 must have
 * - at most one Content-Length, of digits only, or one `Transfer-Encoding: chunked`, not both
 * - at most as many bytes, fields and query arguments as the constants above say. */
th_head_status th_head_check(const char *bytes, size_t size, th_rejection *out_rejection);

/* ---- the token that clients send ----
 *
 * From a file, never from the command line, which every user of the machine can read. */

enum { TH_TOKEN_MIN = 16, TH_TOKEN_MAX = 255 };

typedef struct th_token {
    char text[TH_TOKEN_MAX + 1]; /* "": none is required */
} th_token;

/* path: a file whose first line is the token; NULL: none is required. TH_ERR_INPUT: no such file, or not a valid token:
 * visible ASCII characters, at least 16. Logs a warning if others may read the file. A process that has a token cannot
 * be traced and leaves no core. */
th_result th_token_read(const char *path, th_token *out, th_error *err);

/* ---- headers and resources ----
 *
 * A page of another site, open in the same browser, can send requests to this server. It cannot fake the Host (with DNS
 * rebinding its own name shows there), it cannot hide its Origin, and it cannot send application/json without a
 * preflight request, which is never granted. */

/* Hosts: 64 options, and the machine's own name. */
enum { TH_REQUEST_FILTER_HOSTS = 65, TH_REQUEST_FILTER_BODY_BYTES = 16384 };

/* As the client sent it; NULL: no such header, as Host in HTTP/1.0. */
typedef struct th_request_headers {
    const char *method, *path;
    bool is_absolute; /* the target, and this is its host; "": none, or one that is too long */
    char target_host[300];
    const char *host, *origin, *fetch_site, *authorization, *content_type, *content_length, *transfer_encoding;
    bool repeats; /* a header that must be unique is repeated */
} th_request_headers;

/* The requirements of a resource. */
typedef struct th_access {
    bool open;     /* public: no token, and links from other sites are allowed */
    bool has_body; /* a JSON body */
} th_access;

typedef struct th_request_filter {
    /* Accepted names, in addition to "localhost" and any IP address; borrowed. */
    const char *hosts[TH_REQUEST_FILTER_HOSTS];
    unsigned host_count;
    const struct sockaddr *listen; /* borrowed */
    th_token token;
} th_request_filter;

/* Splits a target in absolute form, http://HOST/PATH, whose host counts before the header's (RFC 9112, 3.2.2). Others
 * stay what they are. */
void th_request_headers_split_target(th_request_headers *headers);

/* Two steps, because the resource is determined in between. Return true to continue; otherwise *out_rejection is filled
 * in. */
bool th_request_filter_check_headers(const th_request_filter *filter, const th_request_headers *headers,
                                     th_rejection *out);
bool th_request_filter_check_access(const th_request_filter *filter, const th_request_headers *headers,
                                    th_access access, th_rejection *out);

#endif
