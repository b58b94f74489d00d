/* The HTTP API: a table of routes and their handlers. Does not use sockets. */
#ifndef TH_SERVE_HTTP_API_H
#define TH_SERVE_HTTP_API_H

#include "request_filter.h"
#include "server_state.h"

typedef struct th_request {
    uint32_t id;                                  /* the number in the path, if the route has one */
    const char *seconds, *width, *height, *scene; /* of the query; NULL: not given */
    const char *body;                             /* `size` bytes */
    size_t size;
} th_request;

enum { TH_NONCE_LENGTH = 32 };

typedef struct th_reply {
    unsigned status;  /* 0: not ready; ask again later */
    const char *type; /* content type; static storage */
    char *body;       /* the receiver releases it; NULL: out of memory */
    size_t size;
    void (*release)(void *body); /* NULL: free */
    bool is_report; /* a page of another process: its styles and the script of reports are allowed, nothing else */
    char nonce[TH_NONCE_LENGTH + 1]; /* nonce of the page's scripts and styles; "": none */
} th_reply;

typedef th_reply th_handler(th_server_state *state, const th_request *request);

typedef struct th_route {
    const char *method, *path; /* {id} stands for a number */
    th_access access;
    th_handler *answer;                      /* or: */
    json_t *(*json)(th_server_state *state); /* a document; or NULL too: an event stream */
    bool reads;                              /* reads files, which may take any time: not for the thread that serves */
} th_route;

/* Ends with an entry whose method is NULL. */
extern const th_route th_route_table[];

/* The route of a path and a method; HEAD counts as GET. NULL: no such route; *out_allow lists the methods of the path,
 * such as "GET, HEAD", or is "" if there is no such path. */
typedef struct th_methods {
    char text[64];
} th_methods;
const th_route *th_route_find(const char *method, const char *path, uint32_t *out_id, th_methods *out_allow);

/* page.html and openapi.json of this folder, embedded in the program. */
extern const unsigned char th_embedded_page[], th_embedded_openapi[];
extern const size_t th_embedded_page_size, th_embedded_openapi_size;

th_reply th_reply_json(unsigned status, json_t *json); /* takes the document */

/* {"error": {"code", "message"}}. */
th_reply th_reply_error(unsigned status, const char *code, const char *message);

#endif
