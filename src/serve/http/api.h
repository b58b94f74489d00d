/* What can be asked for: a table of routes, and what answers them. Knows nothing of sockets. */
#ifndef TH_SERVE_HTTP_API_H
#define TH_SERVE_HTTP_API_H

#include "request_filter.h"
#include "server_state.h"

typedef struct th_request {
    uint32_t id;                          /* the number in the path, where the route has one */
    const char *seconds, *width, *height; /* of the query; NULL: not given */
    const char *body;                     /* `size` bytes */
    size_t size;
} th_request;

enum { TH_NONCE_LENGTH = 32 };

typedef struct th_reply {
    unsigned status;  /* 0: not there yet; ask again later */
    const char *type; /* of the content; static storage */
    char *body;       /* the receiver releases it. NULL when memory is out */
    size_t size;
    void (*release)(void *body);     /* NULL: free */
    bool is_report;                  /* a page that another program wrote: styles, and no rights */
    char nonce[TH_NONCE_LENGTH + 1]; /* that scripts and styles of a page must show; "": it has none */
} th_reply;

typedef th_reply th_handler(th_server_state *state, const th_request *request);

typedef struct th_route {
    const char *method, *path; /* {id} stands for a number */
    th_access access;
    th_handler *answer; /* NULL: a stream of events */
} th_route;

/* Ends with a route without a method. */
extern const th_route th_route_table[];

/* The route of a path and a method; HEAD is GET. NULL: there is none, and *out_allow says which methods the path has,
 * such as "GET, HEAD", or is "" where there is no such path. */
typedef struct th_methods {
    char text[64];
} th_methods;
const th_route *th_route_find(const char *method, const char *path, uint32_t *out_id, th_methods *out_allow);

/* {"error": {"code", "message"}}. */
th_reply th_reply_error(unsigned status, const char *code, const char *message);

#endif
