/* Checks the head of a request as bytes, before a library interprets it. RFC 9112 lets a recipient repair much; here
 * nothing is repaired, because a proxy in front may repair it differently and see other requests (request smuggling).
 */
#ifndef TH_SERVE_HTTP_HEAD_H
#define TH_SERVE_HTTP_HEAD_H

#include "request_filter.h"

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

#endif
