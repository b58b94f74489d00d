/* Accepts connections and keeps each until the head of its request is there and good (head.h). So slow clients cost a
 * descriptor and nothing else, and the library sees no malformed head. All calls on one thread. */
#ifndef TH_SERVE_HTTP_ACCEPTOR_H
#define TH_SERVE_HTTP_ACCEPTOR_H

#include "request_filter.h"

#include <throng/core/error.h>

typedef struct th_acceptor th_acceptor;

enum { TH_ACCEPTOR_PENDING = 1024 };

typedef struct th_acceptor_desc {
    int listen_fd;
    void *ctx;
    /* Takes over a connection whose head can be read. */
    void (*take)(void *ctx, int fd, const struct sockaddr *address, socklen_t size);
    /* Sends an answer; the acceptor closes the connection. */
    void (*reject)(void *ctx, int fd, const th_rejection *rejection);
} th_acceptor_desc;

/* Takes over listen_fd in any case. */
th_result th_acceptor_create(const th_acceptor_desc *desc, th_acceptor **out, th_error *err);
void th_acceptor_destroy(th_acceptor *acceptor); /* NULL is allowed */

/* An epoll instance that is readable if there is work. The caller may add descriptors, with a NULL pointer. */
int th_acceptor_fd(const th_acceptor *acceptor);

/* Does the pending work. With TH_ACCEPTOR_PENDING connections a new one replaces the oldest. */
void th_acceptor_run(th_acceptor *acceptor);

/* Closes connections whose head takes too long; returns how many. Call about once a second. */
unsigned th_acceptor_close_stalled(th_acceptor *acceptor);

#endif
