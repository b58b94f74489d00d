/* One GET of HTTP/1.1, on a connection of its own. Not of a library: libcurl takes each start of the program 11 ms,
 * ten times what an empty one takes. */
#ifndef TH_SERVE_FLEET_HTTP_GET_H
#define TH_SERVE_FLEET_HTTP_GET_H

#include "http/address.h"
#include "http/token.h"

#include <stddef.h>
#include <stdint.h>

/* Pointers are borrowed. */
typedef struct th_http_get_desc {
    const th_address *address;
    const char *host; /* the Host header */
    const char *path;
    const th_token *token; /* sent if it is not empty */
    uint32_t timeout_ms;   /* for all of it */
    size_t most_bytes;     /* of the answer */
    int stop_fd;           /* readable: give up; -1: none */
} th_http_get_desc;

/* The body of an answer of status 200, malloc'd and ended by a 0 that *out_size does not count. TH_ERR_ENVIRONMENT: no
 * connection, no answer in time, another status, too long, or no HTTP; TH_ERR_MEMORY. */
th_result th_http_get(const th_http_get_desc *desc, char **out_body, size_t *out_size, th_error *err);

#endif
