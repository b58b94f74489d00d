#include "acceptor.h"

#include "head.h"

#include <core/clock.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define HEAD_NS 10000000000u /* from the connection's start to the end of its head */

enum { EVENTS = 64 };

typedef struct pending {
    int fd;
    bool is_rejected; /* its answer is sent: what comes is discarded, until the client has read the answer and closes */
    uint64_t deadline_ns;
    struct sockaddr_storage address;
    socklen_t address_size;
    TAILQ_ENTRY(pending) link;
} pending;

struct th_acceptor {
    th_acceptor_desc desc;
    int epoll_fd;
    unsigned count;
    TAILQ_HEAD(, pending) all; /* the oldest first */
};

/* Leaves the descriptor open. */
static void forget(th_acceptor *a, pending *p)
{
    epoll_ctl(a->epoll_fd, EPOLL_CTL_DEL, p->fd, NULL);
    TAILQ_REMOVE(&a->all, p, link);
    a->count--;
    free(p);
}

static void drop(th_acceptor *a, pending *p)
{
    const int fd = p->fd;
    forget(a, p);
    close(fd);
}

/* ---- heads ---- */

/* Closing a connection with unread bytes resets it, and the client may never see the answer. */
static void reject(th_acceptor *a, pending *p, const th_rejection *why)
{
    a->desc.reject(a->desc.ctx, p->fd, why);
    shutdown(p->fd, SHUT_WR);
    p->is_rejected = true;
}

static void discard(th_acceptor *a, pending *p)
{
    char bytes[4096];
    ssize_t count;
    do
        count = recv(p->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    while (count > 0);
    if (count == 0 || errno != EAGAIN)
        drop(a, p);
}

/* Only looks at the bytes, which stay in the socket. */
static void read_head(th_acceptor *a, pending *p, bool has_ended)
{
    static char bytes[TH_HEAD_BYTES];
    th_rejection why;
    const ssize_t size = recv(p->fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN)
        return;
    const th_head_status status = size > 0 ? th_head_check(bytes, (size_t)size, &why) : TH_HEAD_INCOMPLETE;
    if (status == TH_HEAD_GOOD) {
        const pending there = *p;
        forget(a, p);
        a->desc.take(a->desc.ctx, there.fd, (const struct sockaddr *)&there.address, there.address_size);
    } else if (status == TH_HEAD_BAD) {
        reject(a, p, &why);
        discard(a, p);
    } else if (size <= 0 || has_ended) {
        drop(a, p);
    }
}

/* ---- accepting ---- */

/* Of a Unix socket only this user and root are clients. */
static bool is_welcome(const pending *p)
{
    struct ucred client;
    socklen_t size = sizeof client;
    if (p->address.ss_family != AF_UNIX)
        return true;
    return getsockopt(p->fd, SOL_SOCKET, SO_PEERCRED, &client, &size) == 0 &&
           (client.uid == 0 || client.uid == geteuid());
}

static void listen_for(th_acceptor *a, uint32_t events)
{
    struct epoll_event event = {events, {.ptr = a}};
    epoll_ctl(a->epoll_fd, EPOLL_CTL_MOD, a->desc.listen_fd, &event);
}

/* Without descriptors or memory: makes room if it can, and else tries again in a second, since a client that waits
 * would wake the caller all the time. */
static void make_room(th_acceptor *a)
{
    if (a->count > 0)
        drop(a, TAILQ_FIRST(&a->all));
    else
        listen_for(a, 0);
}

/* Edge-triggered, because a part of a head stays readable. */
static bool keep(th_acceptor *a, pending *p)
{
    struct epoll_event event = {EPOLLIN | EPOLLRDHUP | EPOLLET, {.ptr = p}};
    if (a->count == TH_ACCEPTOR_PENDING)
        drop(a, TAILQ_FIRST(&a->all));
    if (epoll_ctl(a->epoll_fd, EPOLL_CTL_ADD, p->fd, &event) != 0)
        return false;
    p->deadline_ns = th_clock_ns() + HEAD_NS;
    TAILQ_INSERT_TAIL(&a->all, p, link);
    a->count++;
    return true;
}

/* Returns false if nobody waits. */
static bool accept_one(th_acceptor *a)
{
    const th_rejection stranger = {403, "wrong_user", "this socket is for another user"};
    pending *p = calloc(1, sizeof *p);
    if (!p) {
        make_room(a);
        return false;
    }
    p->address_size = sizeof p->address;
    p->fd = accept4(a->desc.listen_fd, (struct sockaddr *)&p->address, &p->address_size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (p->address.ss_family == AF_UNIX)
        p->address_size =
            sizeof(struct sockaddr_un); /* a client's has no path, and nobody may look for one behind it */
    const bool is_kept = p->fd >= 0 && keep(a, p);
    if (!is_kept && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
        make_room(a);
    if (!is_kept) {
        if (p->fd >= 0)
            close(p->fd);
        free(p);
    } else if (!is_welcome(p)) {
        reject(a, p, &stranger);
    }
    return is_kept;
}

/* Accepts last, because that may drop a connection that has an event. */
void th_acceptor_run(th_acceptor *a)
{
    struct epoll_event events[EVENTS];
    bool accepts = false;
    const int count = epoll_wait(a->epoll_fd, events, EVENTS, 0);
    for (int e = 0; e < count; e++) {
        pending *p = events[e].data.ptr;
        if (events[e].data.ptr == a)
            accepts = true;
        else if (p && p->is_rejected)
            discard(a, p);
        else if (p)
            read_head(a, p, events[e].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
    }
    for (int n = 0; accepts && n < EVENTS; n++)
        accepts = accept_one(a);
}

unsigned th_acceptor_close_stalled(th_acceptor *a)
{
    const uint64_t now_ns = th_clock_ns();
    unsigned closed = 0;
    listen_for(a, EPOLLIN);
    for (pending *p; (p = TAILQ_FIRST(&a->all)) && now_ns > p->deadline_ns; closed++)
        drop(a, p);
    return closed;
}

/* ---- life ---- */

th_result th_acceptor_create(const th_acceptor_desc *desc, th_acceptor **out, th_error *err)
{
    th_acceptor *a = *out = calloc(1, sizeof *a);
    if (!a) {
        close(desc->listen_fd);
        return th_fail(err, TH_ERR_MEMORY, "no memory for connections");
    }
    a->desc = *desc;
    TAILQ_INIT(&a->all);
    struct epoll_event event = {EPOLLIN, {.ptr = a}};
    a->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (a->epoll_fd >= 0 && epoll_ctl(a->epoll_fd, EPOLL_CTL_ADD, desc->listen_fd, &event) == 0)
        return TH_OK;
    th_fail(err, TH_ERR_ENVIRONMENT, "no epoll: %s", strerror(errno));
    th_acceptor_destroy(a);
    *out = NULL;
    return TH_ERR_ENVIRONMENT;
}

void th_acceptor_destroy(th_acceptor *a)
{
    if (!a)
        return;
    while (!TAILQ_EMPTY(&a->all))
        drop(a, TAILQ_FIRST(&a->all));
    if (a->epoll_fd >= 0)
        close(a->epoll_fd);
    close(a->desc.listen_fd);
    free(a);
}

int th_acceptor_fd(const th_acceptor *a)
{
    return a->epoll_fd;
}
