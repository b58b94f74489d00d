#include "http.h"

#include "address.h"

#include <bench/page.h>
#include <core/clock.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define HEAD_NS          10000000000u /* from a connection's start to the end of the head of its request */
#define REQUEST_NS       15000000000u /* from the end of the head to the end of the reply */
#define HALF_CLOSED_NS   2000000000u  /* for a reply to a client that has closed its sending side */
#define REPLY_TIMEOUT_NS 10000000000u /* for a reply that is not ready yet */
#define IDLE_S           30u          /* without traffic in either direction */
#define MEMORY_BYTES     131072u /* per connection: a head, what it is parsed to, and reply buffers; touched as used */
#define DISCARD_BYTES    (1u << 20) /* of what a rejected client still sends, so that it sees the reason */

enum {
    FROM_ONE_ADDRESS = 256,
    WAITING = 64, /* connections that may wait for a reply, since they cannot be closed meanwhile */
    EVENTS_KEPT = 8,
    EVENT_CLIENTS = 512,
    EPOLL_EVENTS = 64,
};

/* A connection until the head of its request is there and good (request_filter.h), and again once it is rejected. So
 * slow clients cost a descriptor and nothing else, and the library sees no malformed head. */
typedef struct pending {
    int fd;
    bool is_rejected; /* it has its answer: what comes is discarded, until the client has read the answer and closes */
    uint32_t discarded;
    uint64_t deadline_ns;
    struct sockaddr_storage address;
    socklen_t address_size;
    TAILQ_ENTRY(pending) link;
} pending;

/* From then on. The library's idle timeout restarts with every byte; a deadline does not. */
typedef struct connection {
    int fd;
    uint64_t deadline_ns; /* 0: none, as for event streams and while it waits for a reply */
    LIST_ENTRY(connection) link;
} connection;

/* One request and its reply. */
typedef struct exchange {
    const th_route *route;
    th_request request;
    th_rejection rejection; /* status 0: none */
    th_methods allow;
    uint64_t begun_ns;
    struct MHD_Connection *connection;
    STAILQ_ENTRY(exchange) link; /* in the list of waiting exchanges, or in one of the reader's */
    bool is_read;                /* the reader has made the reply: */
    th_reply reply;
    char body[TH_REQUEST_FILTER_BODY_BYTES];
    uint64_t body_bytes; /* received */
} exchange;

typedef STAILQ_HEAD(, exchange) exchanges;

/* The thread that makes replies of routes that read. */
typedef struct reader {
    pthread_t thread;
    bool is_started;
    int done_fd;          /* an eventfd */
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    exchanges asked, done;
    bool ends;
} reader;

/* Server-sent events (WHATWG HTML, section 9.2). Every event is a complete state. So the last few are stored once for
 * all clients, and a slow client skips events: it delays no other and costs no memory. */
typedef struct event {
    uint32_t users;
    size_t size;
    char text[];
} event;

typedef struct event_client {
    th_http *http;
    struct MHD_Connection *connection;
    LIST_ENTRY(event_client) link;
    uint64_t number; /* of the next event it gets */
    event *current;  /* the event being sent; NULL: none */
    size_t sent;     /* bytes of it that are sent */
    bool sleeps;
} event_client;

struct th_http {
    th_request_filter *filter;
    th_server_state *state;
    int listen_fd, epoll_fd;       /* epoll: of what is pending, and of the library */
    TAILQ_HEAD(, pending) pending; /* the oldest first */
    unsigned pending_count;
    struct MHD_Daemon *daemon;
    LIST_HEAD(, connection) connections;
    exchanges waiting;      /* suspended until the reply is ready */
    unsigned waiting_count; /* with those of the reader */
    reader reader;
    event *events[EVENTS_KEPT]; /* a ring buffer */
    uint64_t event_count;       /* published since the start */
    LIST_HEAD(, event_client) event_clients;
    bool closed;
};

/* ---- replies ---- */

#define POLICY "default-src 'none'; frame-ancestors 'none'"

/* Forbid caching, framing, content sniffing and loading from other origins. A connection has one request, so nothing
 * that follows it can be taken for another. */
static const char *const always[][2] = {
    {"Cache-Control", "no-store"},
    {"Connection", "close"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

enum { ALWAYS = sizeof always / sizeof *always };

static void count_reply(th_http *http, unsigned status)
{
    if (status >= TH_STATUS_MIN && status < TH_STATUS_MIN + TH_STATUS_COUNT)
        http->state->http_stats.requests[status - TH_STATUS_MIN]++;
}

/* Adds the headers, and takes the response. */
static enum MHD_Result queue(th_http *http, struct MHD_Connection *c, const exchange *x, unsigned status,
                             struct MHD_Response *response, const th_reply *reply)
{
    char policy[512] = POLICY;
    for (size_t h = 0; h < ALWAYS; h++)
        MHD_add_response_header(response, always[h][0], always[h][1]);
    if (reply->nonce[0])
        snprintf(policy, sizeof policy,
                 "default-src 'none'; script-src 'nonce-%s' %s; style-src 'nonce-%s'; connect-src 'self'; "
                 "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                 reply->nonce, th_page_script, reply->nonce);
    if (reply->is_report)
        snprintf(policy, sizeof policy,
                 "default-src 'none'; style-src 'unsafe-inline'; script-src %s; img-src data:; sandbox allow-scripts; "
                 "frame-ancestors 'none'",
                 th_page_script);
    MHD_add_response_header(response, "Content-Security-Policy", policy);
    MHD_add_response_header(response, "Content-Type", reply->type);
    if (status == 401)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"throng\"");
    if (status == 405)
        MHD_add_response_header(response, "Allow", x->allow.text);
    count_reply(http, status);
    const enum MHD_Result queued = MHD_queue_response(c, status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result send_reply(th_http *http, struct MHD_Connection *c, const exchange *x, th_reply reply)
{
    static char empty[] = "";
    MHD_ContentReaderFreeCallback release = reply.release ? reply.release : free;
    struct MHD_Response *response =
        reply.body ? MHD_create_response_from_buffer_with_free_callback(reply.size, reply.body, release)
                   : MHD_create_response_from_buffer(0, empty, MHD_RESPMEM_PERSISTENT);
    const unsigned status = reply.body ? reply.status : 500;
    if (!response) {
        release(reply.body);
        return MHD_NO;
    }
    return queue(http, c, x, status, response, &reply);
}

/* An answer without the library, which has not seen the request. */
static void reject_head(th_http *http, int fd, const th_rejection *why)
{
    char text[4096];
    th_reply reply = th_reply_error(why->status, why->code, why->message);
    int length = snprintf(text, sizeof text, "HTTP/1.1 %u %s\r\nContent-Security-Policy: " POLICY "\r\n", why->status,
                          MHD_get_reason_phrase_for(why->status));
    for (size_t h = 0; h < ALWAYS; h++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s: %s\r\n", always[h][0], always[h][1]);
    length += snprintf(text + length, sizeof text - (size_t)length, "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n%s",
                       reply.type, reply.size, reply.body ? reply.body : "");
    free(reply.body);
    count_reply(http, why->status);
    send(fd, text, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void set_deadline(struct MHD_Connection *c, uint64_t deadline_ns)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    connection *own = info ? info->socket_context : NULL;
    if (own)
        own->deadline_ns = deadline_ns;
}

/* ---- events ---- */

static void release(event *e)
{
    if (e && --e->users == 0)
        free(e);
}

/* A client that has fallen behind skips events that are no longer in the ring, up to the newest: older states are of no
 * use. */
static ssize_t read_events(void *cls, uint64_t position, char *out, size_t most)
{
    event_client *client = cls;
    th_http *http = client->http;
    (void)position;
    if (http->closed)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!client->current && client->number >= http->event_count) {
        client->sleeps = true;
        MHD_suspend_connection(client->connection);
        return 0;
    }
    if (!client->current) {
        const uint64_t newest = http->event_count - 1;
        if (http->event_count - client->number > EVENTS_KEPT) {
            http->state->http_stats.events_dropped += newest - client->number;
            client->number = newest;
        }
        client->current = http->events[client->number++ % EVENTS_KEPT];
        client->current->users++;
        client->sent = 0;
    }
    const size_t left = client->current->size - client->sent, size = left < most ? left : most;
    memcpy(out, client->current->text + client->sent, size);
    client->sent += size;
    if (client->sent == client->current->size) {
        release(client->current);
        client->current = NULL;
    }
    return (ssize_t)size;
}

static void remove_event_client(void *cls)
{
    event_client *client = cls;
    LIST_REMOVE(client, link);
    client->http->state->http_stats.event_clients--;
    release(client->current);
    free(client);
}

/* The last event at once, then all new ones. */
static enum MHD_Result stream_events(th_http *http, struct MHD_Connection *c, const exchange *x)
{
    const th_reply as_stream = {.type = "text/event-stream; charset=utf-8"};
    uint64_t *clients = &http->state->http_stats.event_clients;
    event_client *client = *clients < EVENT_CLIENTS ? calloc(1, sizeof *client) : NULL;
    struct MHD_Response *response =
        client ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 8192, read_events, client, remove_event_client)
               : NULL;
    if (!response) {
        free(client);
        return send_reply(http, c, x,
                          th_reply_error(503, "too_many_event_clients", "too many clients of the event stream"));
    }
    const uint64_t number = http->event_count ? http->event_count - 1 : 0;
    *client = (event_client){.http = http, .connection = c, .number = number};
    LIST_INSERT_HEAD(&http->event_clients, client, link);
    ++*clients;
    set_deadline(c, 0);
    MHD_add_response_header(response, "X-Accel-Buffering", "no"); /* nginx would hold events back */
    return queue(http, c, x, 200, response, &as_stream);
}

static void wake_event_clients(th_http *http)
{
    for (event_client *client = LIST_FIRST(&http->event_clients); client; client = LIST_NEXT(client, link))
        if (client->sleeps) {
            client->sleeps = false;
            MHD_resume_connection(client->connection);
        }
}

void th_http_publish(th_http *http, const char *name, const char *data)
{
    assert(name && data && !strpbrk(name, "\r\n") && !strpbrk(data, "\r\n"));
    const size_t room = strlen(name) + strlen(data) + 64;
    event *e = malloc(sizeof *e + room);
    if (!e)
        return;
    e->users = 1;
    e->size = (size_t)snprintf(e->text, room, "id: %llu\nevent: %s\ndata: %s\n\n",
                               (unsigned long long)http->event_count, name, data);
    event **place = &http->events[http->event_count++ % EVENTS_KEPT];
    release(*place);
    *place = e;
    wake_event_clients(http);
}

/* ---- requests ---- */

/* False: see errno. Edge-triggered, because a part of a head stays readable. */
static bool add_pending(th_http *http, pending *p)
{
    struct epoll_event wanted = {EPOLLIN | EPOLLRDHUP | EPOLLET, {.ptr = p}};
    if (epoll_ctl(http->epoll_fd, EPOLL_CTL_ADD, p->fd, &wanted) != 0)
        return false;
    p->deadline_ns = th_clock_ns() + HEAD_NS;
    TAILQ_INSERT_TAIL(&http->pending, p, link);
    http->pending_count++;
    return true;
}

/* Fills in the headers and detects repetitions of those that must be unique. */
static enum MHD_Result read_header(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    th_request_headers *headers = cls;
    const struct {
        const char *name, **value;
    } known[] = {
        {"Host", &headers->host},
        {"Origin", &headers->origin},
        {"Sec-Fetch-Site", &headers->fetch_site},
        {"Authorization", &headers->authorization},
        {"Content-Type", &headers->content_type},
        {"Content-Length", &headers->content_length},
        {"Transfer-Encoding", &headers->transfer_encoding},
    };
    (void)kind;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcasecmp(name, known[k].name) == 0) {
            headers->repeats = headers->repeats || *known[k].value;
            *known[k].value = value ? value : "";
        }
    return MHD_YES;
}

static th_reply make_reply(th_http *http, const exchange *x)
{
    return x->route->json ? th_reply_json(200, x->route->json(http->state))
                          : x->route->answer(http->state, &x->request);
}

static void *run_reader(void *arg)
{
    th_http *http = arg;
    reader *r = &http->reader;
    const uint64_t one = 1;
    pthread_mutex_lock(&r->lock);
    while (!r->ends) {
        exchange *x = STAILQ_FIRST(&r->asked);
        if (!x) {
            pthread_cond_wait(&r->changed, &r->lock);
            continue;
        }
        pthread_mutex_unlock(&r->lock);
        x->reply = make_reply(http, x);
        x->is_read = true;
        pthread_mutex_lock(&r->lock);
        STAILQ_REMOVE_HEAD(&r->asked, link);
        STAILQ_INSERT_TAIL(&r->done, x, link);
        ssize_t ignored = write(r->done_fd, &one, sizeof one);
        (void)ignored;
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static enum MHD_Result wait_for_reply(th_http *http, struct MHD_Connection *c)
{
    http->waiting_count++;
    set_deadline(c, 0);
    MHD_suspend_connection(c);
    return MHD_YES;
}

/* Of a reply that is not ready the library asks again when the connection is resumed. */
static enum MHD_Result finish_exchange(th_http *http, struct MHD_Connection *c, exchange *x)
{
    if (x->rejection.status)
        return send_reply(http, c, x, th_reply_error(x->rejection.status, x->rejection.code, x->rejection.message));
    x->request.body = x->body;
    x->request.size = (size_t)x->body_bytes;
    if (!x->route->answer && !x->route->json)
        return stream_events(http, c, x);
    const bool asks = x->route->reads && !x->is_read;
    const th_reply reply = asks ? (th_reply){0} : x->is_read ? x->reply : make_reply(http, x);
    x->is_read = false; /* it is sent, and released by that */
    if (reply.status)
        return send_reply(http, c, x, reply);
    if (http->closed || th_clock_ns() - x->begun_ns > REPLY_TIMEOUT_NS)
        return send_reply(http, c, x, th_reply_error(503, "too_slow", "this took too long; try again"));
    if (http->waiting_count == WAITING)
        return send_reply(http, c, x, th_reply_error(503, "too_many_wait", "too many clients wait for this"));
    if (!asks) {
        STAILQ_INSERT_HEAD(&http->waiting, x, link);
        return wait_for_reply(http, c);
    }
    pthread_mutex_lock(&http->reader.lock);
    STAILQ_INSERT_TAIL(&http->reader.asked, x, link);
    pthread_cond_signal(&http->reader.changed);
    pthread_mutex_unlock(&http->reader.lock);
    return wait_for_reply(http, c);
}

static void resume(th_http *http, exchanges *list)
{
    for (exchange *x; (x = STAILQ_FIRST(list));) {
        STAILQ_REMOVE_HEAD(list, link);
        http->waiting_count--;
        set_deadline(x->connection, th_clock_ns() + REQUEST_NS);
        MHD_resume_connection(x->connection);
    }
}

void th_http_wake(th_http *http)
{
    resume(http, &http->waiting);
}

static void take_what_was_read(th_http *http)
{
    uint64_t count;
    exchanges done = STAILQ_HEAD_INITIALIZER(done);
    ssize_t ignored = read(http->reader.done_fd, &count, sizeof count);
    (void)ignored;
    pthread_mutex_lock(&http->reader.lock);
    STAILQ_CONCAT(&done, &http->reader.done);
    pthread_mutex_unlock(&http->reader.lock);
    resume(http, &done);
}

/* A second descriptor of a rejected client, which the library closes: with unread bytes that would reset the
 * connection, and the client might never see the answer. Where there is no room the client must do without, as a
 * pending one that is dropped may have an event. */
static void linger(th_http *http, int fd)
{
    pending *p = http->pending_count < TH_HTTP_PENDING ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return;
    *p = (pending){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0), .is_rejected = true};
    if (p->fd >= 0 && add_pending(http, p))
        return;
    if (p->fd >= 0)
        close(p->fd);
    free(p);
}

/* Called once with the headers, then with every part of the body, then once more. Whatever is rejected is so before the
 * rest of it arrives, by the headers or by the first part of a body that is too much. */
static enum MHD_Result handle(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *data, size_t *data_size, void **context)
{
    const th_rejection not_found = {404, "not_found", "there is no such path"};
    const th_rejection wrong_method = {405, "wrong_method", "this path does not support this method"};
    const th_rejection too_large = {413, "too_large", "a body has at most 16384 bytes"};
    const int fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    th_http *http = cls;
    exchange *x = *context;
    (void)version;
    if (!x) {
        *context = x = calloc(1, sizeof *x);
        if (!x)
            return MHD_NO;
        th_request_headers headers = {.method = method, .path = url};
        MHD_get_connection_values(c, MHD_HEADER_KIND, read_header, &headers);
        th_request_headers_split_target(&headers);
        if (th_request_filter_check_headers(http->filter, &headers, &x->rejection)) {
            x->route = th_route_find(method, headers.path, &x->request.id, &x->allow);
            if (x->route)
                th_request_filter_check_access(http->filter, &headers, x->route->access, &x->rejection);
            else
                x->rejection = x->allow.text[0] ? wrong_method : not_found;
        }
        x->connection = c;
        x->begun_ns = th_clock_ns();
        x->request.seconds = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "seconds");
        x->request.width = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "width");
        x->request.height = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "height");
        x->request.scene = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "scene");
        if (!x->rejection.status)
            return MHD_YES;
        if (headers.content_length || headers.transfer_encoding)
            linger(http, fd);
        return finish_exchange(http, c, x);
    }
    if (*data_size == 0)
        return finish_exchange(http, c, x);
    if (x->body_bytes + *data_size >
        TH_REQUEST_FILTER_BODY_BYTES) { /* chunks: the library sends nothing before the end */
        reject_head(http, fd, &too_large);
        linger(http, fd);
        return MHD_NO;
    }
    memcpy(x->body + x->body_bytes, data, *data_size);
    x->body_bytes += *data_size;
    *data_size = 0;
    return MHD_YES;
}

/* ---- connections of the library ---- */

static void end_exchange(void *cls, struct MHD_Connection *c, void **context, enum MHD_RequestTerminationCode code)
{
    (void)cls, (void)code;
    exchange *x = *context;
    set_deadline(c, th_clock_ns() + HALF_CLOSED_NS);
    if (x && x->is_read)
        free(x->reply.body);
    free(x);
    *context = NULL;
}

static void on_connection(void *cls, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode code)
{
    th_http *http = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        connection *fresh = calloc(1, sizeof *fresh);
        http->state->http_stats.connections++;
        if (!fresh || !info)
            return; /* it has no deadline then */
        *fresh = (connection){.fd = info->connect_fd, .deadline_ns = th_clock_ns() + REQUEST_NS};
        LIST_INSERT_HEAD(&http->connections, fresh, link);
        *context = fresh;
        return;
    }
    connection *gone = *context;
    http->state->http_stats.connections--;
    if (!gone)
        return;
    LIST_REMOVE(gone, link);
    free(gone);
}

static void close_connection(th_http *http, connection *c)
{
    c->deadline_ns = th_clock_ns() + REQUEST_NS; /* not again while the library closes it */
    http->state->http_stats.stalled++;
    shutdown(c->fd, SHUT_RDWR);
}

/* Where the library has as many connections as it may have, the one that takes longest is closed. */
static void take_connection(th_http *http, const pending *p)
{
    const uint64_t *connections = &http->state->http_stats.connections;
    if (*connections == TH_HTTP_CONNECTIONS) {
        connection *oldest = NULL;
        for (connection *c = LIST_FIRST(&http->connections); c; c = LIST_NEXT(c, link))
            if (c->deadline_ns && (!oldest || c->deadline_ns <= oldest->deadline_ns))
                oldest = c;
        if (oldest)
            close_connection(http, oldest);
        MHD_run(http->daemon);
    }
    if (*connections < TH_HTTP_CONNECTIONS) { /* the library closes it on failure */
        MHD_add_connection(http->daemon, p->fd, (const struct sockaddr *)&p->address, p->address_size);
        return;
    }
    reject_head(http, p->fd, &(th_rejection){503, "too_many_connections", "too many connections; try again"});
    close(p->fd);
}

/* ---- connections without a head ---- */

/* Leaves the descriptor open. */
static void forget(th_http *http, pending *p)
{
    epoll_ctl(http->epoll_fd, EPOLL_CTL_DEL, p->fd, NULL);
    TAILQ_REMOVE(&http->pending, p, link);
    http->pending_count--;
    free(p);
}

static void drop(th_http *http, pending *p)
{
    const int fd = p->fd;
    forget(http, p);
    close(fd);
}

/* Closing a connection with unread bytes resets it, and the client may never see the answer. */
static void reject(th_http *http, pending *p, const th_rejection *why)
{
    reject_head(http, p->fd, why);
    shutdown(p->fd, SHUT_WR);
    p->is_rejected = true;
}

static void discard(th_http *http, pending *p)
{
    char bytes[4096];
    ssize_t size;
    do
        size = recv(p->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    while (size > 0 && (p->discarded += (uint32_t)size) < DISCARD_BYTES);
    if (size >= 0 || errno != EAGAIN)
        drop(http, p);
}

static void listen_for(th_http *http, uint32_t events)
{
    struct epoll_event wanted = {events, {.ptr = http}};
    epoll_ctl(http->epoll_fd, EPOLL_CTL_MOD, http->listen_fd, &wanted);
}

/* Without descriptors or memory: makes room if it can, and else tries again in a second, since a client that waits
 * would wake the caller all the time. */
static void make_room(th_http *http)
{
    if (http->pending_count > 0)
        drop(http, TAILQ_FIRST(&http->pending));
    else
        listen_for(http, 0);
}

/* Returns false if nobody waits. */
static bool accept_one(th_http *http)
{
    pending *p = calloc(1, sizeof *p);
    if (!p) {
        make_room(http);
        return false;
    }
    p->address_size = sizeof p->address;
    p->fd = accept4(http->listen_fd, (struct sockaddr *)&p->address, &p->address_size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    const bool is_unix = p->address.ss_family == AF_UNIX;
    if (is_unix) /* a client's has no path, and nobody may look for one behind it */
        p->address_size = sizeof(struct sockaddr_un);

    /* With as many as may be pending a new one replaces the oldest. */
    if (p->fd >= 0 && http->pending_count == TH_HTTP_PENDING)
        drop(http, TAILQ_FIRST(&http->pending));
    if (p->fd < 0 || !add_pending(http, p)) {
        if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
            make_room(http);
        if (p->fd >= 0)
            close(p->fd);
        free(p);
        return false;
    }

    /* Of a Unix socket only this user and root are clients. */
    struct ucred client;
    socklen_t size = sizeof client;
    if (is_unix && (getsockopt(p->fd, SOL_SOCKET, SO_PEERCRED, &client, &size) != 0 ||
                    (client.uid != 0 && client.uid != geteuid())))
        reject(http, p, &(th_rejection){403, "wrong_user", "this socket is for another user"});
    return true;
}

/* ---- work ---- */

/* Accepts last, because that may drop a connection that has an event. */
void th_http_run(th_http *http)
{
    static char bytes[TH_HEAD_BYTES];
    struct epoll_event events[EPOLL_EVENTS];
    th_rejection why;
    bool accepts = false;
    const int count = epoll_wait(http->epoll_fd, events, EPOLL_EVENTS, 0);
    for (int e = 0; e < count; e++) {
        /* Or the server, for its listening socket, or the reader; NULL: the library. */
        pending *p = events[e].data.ptr;
        accepts = accepts || events[e].data.ptr == http;
        if (events[e].data.ptr == &http->reader)
            take_what_was_read(http);
        if (!p || events[e].data.ptr == http || events[e].data.ptr == &http->reader)
            continue;
        if (p->is_rejected) {
            discard(http, p);
            continue;
        }
        /* Only looks at the bytes, which stay in the socket. */
        const ssize_t size = recv(p->fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
        if (size < 0 && errno == EAGAIN)
            continue;
        const th_head_status status = size > 0 ? th_head_check(bytes, (size_t)size, &why) : TH_HEAD_INCOMPLETE;
        if (status == TH_HEAD_GOOD) {
            const pending there = *p;
            forget(http, p);
            take_connection(http, &there);
        } else if (status == TH_HEAD_BAD) {
            reject(http, p, &why);
            discard(http, p);
        } else if (size <= 0 || events[e].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
            drop(http, p);
        }
    }
    for (int n = 0; accepts && n < EPOLL_EVENTS; n++)
        accepts = accept_one(http);
    MHD_run(http->daemon);
}

void th_http_close_stalled(th_http *http)
{
    const uint64_t now_ns = th_clock_ns();
    listen_for(http, EPOLLIN);
    for (pending *p; (p = TAILQ_FIRST(&http->pending)) && now_ns > p->deadline_ns; drop(http, p))
        http->state->http_stats.stalled++;

    /* The library misses the end of a client that disconnects after half a request, because it arrives with the last
     * bytes and nothing follows. A client that only closed its sending side may still wait for a reply. */
    for (connection *c = LIST_FIRST(&http->connections); c; c = LIST_NEXT(c, link)) {
        struct pollfd end = {c->fd, POLLRDHUP, 0};
        if (c->deadline_ns > now_ns + HALF_CLOSED_NS && poll(&end, 1, 0) == 1)
            c->deadline_ns = now_ns + HALF_CLOSED_NS;
    }
    for (connection *c = LIST_FIRST(&http->connections); c; c = LIST_NEXT(c, link))
        if (c->deadline_ns && now_ns > c->deadline_ns)
            close_connection(http, c);
}

int th_http_fd(th_http *http, int *out_timeout_ms)
{
    MHD_UNSIGNED_LONG_LONG ms;
    const bool is_limited = MHD_get_timeout(http->daemon, &ms) == MHD_YES;
    *out_timeout_ms = !is_limited ? -1 : ms < INT_MAX ? (int)ms : INT_MAX;
    return http->epoll_fd;
}

/* ---- life ---- */

/* Compares paths and queries without unescaping: no valid one needs escapes. */
static size_t keep_escapes(void *cls, struct MHD_Connection *c, char *text)
{
    (void)cls, (void)c;
    return strlen(text);
}

/* Its descriptor stands for the library's as well. */
th_result th_http_create(th_request_filter *filter, th_server_state *state, int listen_fd, th_http **out, th_error *err)
{
    *out = NULL;
    th_http *http = calloc(1, sizeof *http);
    if (!http) {
        close(listen_fd);
        return th_fail(err, TH_ERR_MEMORY, "no memory for a server");
    }
    *http = (th_http){.filter = filter, .state = state, .listen_fd = listen_fd, .reader.done_fd = -1};
    TAILQ_INIT(&http->pending);
    STAILQ_INIT(&http->waiting);
    STAILQ_INIT(&http->reader.asked);
    STAILQ_INIT(&http->reader.done);
    pthread_mutex_init(&http->reader.lock, NULL);
    pthread_cond_init(&http->reader.changed, NULL);
    th_result result = TH_OK;
    const unsigned from_one_address = th_address_is_loopback(filter->listen) ? 0 : FROM_ONE_ADDRESS;
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, http,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)TH_HTTP_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        from_one_address, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
        IDLE_S, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_UNESCAPE_CALLBACK,
        keep_escapes, NULL, MHD_OPTION_NOTIFY_COMPLETED, end_exchange, http, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, http, MHD_OPTION_END);
    struct epoll_event arrives = {EPOLLIN, {.ptr = http}}, wakes = {EPOLLIN, {.ptr = NULL}},
                       reads = {EPOLLIN, {.ptr = &http->reader}};
    http->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (http->epoll_fd < 0 || (http->reader.done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0 ||
        epoll_ctl(http->epoll_fd, EPOLL_CTL_ADD, listen_fd, &arrives) != 0 ||
        epoll_ctl(http->epoll_fd, EPOLL_CTL_ADD, http->reader.done_fd, &reads) != 0)
        result = th_fail(err, TH_ERR_ENVIRONMENT, "no epoll: %s", strerror(errno));
    else if (!http->daemon ||
             epoll_ctl(http->epoll_fd, EPOLL_CTL_ADD,
                       MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, &wakes) != 0)
        result = th_fail(err, TH_ERR_ENVIRONMENT, "libmicrohttpd does not start");
    else if (pthread_create(&http->reader.thread, NULL, run_reader, http) != 0)
        result = th_fail(err, TH_ERR_ENVIRONMENT, "cannot start a thread");
    http->reader.is_started = result == TH_OK;
    if (result == TH_OK)
        *out = http;
    else
        th_http_destroy(http);
    return result;
}

void th_http_destroy(th_http *http)
{
    if (!http)
        return;
    http->closed = true;
    pthread_mutex_lock(&http->reader.lock);
    http->reader.ends = true;
    pthread_cond_signal(&http->reader.changed);
    pthread_mutex_unlock(&http->reader.lock);
    if (http->reader.is_started)
        pthread_join(http->reader.thread, NULL);
    wake_event_clients(http);
    th_http_wake(http);
    resume(http, &http->reader.asked);
    resume(http, &http->reader.done);
    for (int n = 0; n < 2 && http->daemon; n++) /* first they are resumed, and then they end */
        th_http_run(http);
    while (!TAILQ_EMPTY(&http->pending))
        drop(http, TAILQ_FIRST(&http->pending));
    if (http->epoll_fd >= 0)
        close(http->epoll_fd);
    if (http->reader.done_fd >= 0)
        close(http->reader.done_fd);
    close(http->listen_fd);
    if (http->daemon)
        MHD_stop_daemon(http->daemon);
    for (int e = 0; e < EVENTS_KEPT; e++)
        release(http->events[e]);
    free(http);
}
