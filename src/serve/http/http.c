#include "http.h"

#include "acceptor.h"

#include <bench/page.h>
#include <core/clock.h>
#include <serve/log.h>

#include <limits.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MEMORY_BYTES     131072u /* per connection: a head, what it is parsed to, and reply buffers; touched as used */
#define IDLE_S           30u     /* without traffic in either direction */
#define REQUEST_NS       15000000000u /* from the end of the head to the end of the reply */
#define HALF_CLOSED_NS   2000000000u  /* for a reply to a client that has closed its sending side */
#define REPLY_TIMEOUT_NS 10000000000u /* for a reply that is not ready yet */
#define DISCARD_BYTES    (1u << 20)   /* of a rejected body that is still read, so that the client sees the reason */

enum { WAITING = 64 }; /* connections that may wait for a reply, since they cannot be closed meanwhile */

/* The library's idle timeout restarts with every byte; a deadline does not. */
typedef struct connection {
    int fd;
    uint64_t deadline_ns; /* 0: none, as for event streams and while it waits for a reply */
    struct connection *next, **link;
} connection;

struct th_http {
    struct MHD_Daemon *daemon;
    th_acceptor *acceptor;
    th_request_filter *filter;
    th_server_state *state;
    th_events *events;
    connection *connections;
    struct exchange *waiting; /* suspended until its reply is ready */
    unsigned waiting_count;
    bool closed;
};

/* One request and its reply. */
typedef struct exchange {
    const th_route *route;
    th_request request;
    th_rejection rejection; /* status 0: none */
    th_methods allow;
    uint64_t begun_ns;
    struct MHD_Connection *connection;
    struct exchange *next; /* in the list of waiting exchanges */
    char body[TH_REQUEST_FILTER_BODY_BYTES];
    uint64_t body_bytes; /* received, kept or not */
} exchange;

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

static void add_headers(struct MHD_Response *response, const th_reply *reply)
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
}

static void count(th_http *http, unsigned status)
{
    if (status >= TH_STATUS_MIN && status < TH_STATUS_MIN + TH_STATUS_COUNT)
        http->state->http_stats.requests[status - TH_STATUS_MIN]++;
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
    add_headers(response, &reply);
    if (status == 401)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"throng\"");
    if (status == 405)
        MHD_add_response_header(response, "Allow", x->allow.text);
    count(http, status);
    const enum MHD_Result queued = MHD_queue_response(c, status, response);
    MHD_destroy_response(response);
    return queued;
}

/* An answer without the library, which has not seen the request. */
static void reject_head(void *ctx, int fd, const th_rejection *why)
{
    char text[4096];
    th_http *http = ctx;
    th_reply reply = th_reply_error(why->status, why->code, why->message);
    int length = snprintf(text, sizeof text, "HTTP/1.1 %u %s\r\nContent-Security-Policy: " POLICY "\r\n", why->status,
                          MHD_get_reason_phrase_for(why->status));
    for (size_t h = 0; h < ALWAYS; h++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s: %s\r\n", always[h][0], always[h][1]);
    length += snprintf(text + length, sizeof text - (size_t)length, "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n%s",
                       reply.type, reply.size, reply.body ? reply.body : "");
    free(reply.body);
    count(http, why->status);
    send(fd, text, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static connection *connection_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void set_deadline(struct MHD_Connection *c, uint64_t deadline_ns)
{
    connection *own = connection_of(c);
    if (own)
        own->deadline_ns = deadline_ns;
}

static enum MHD_Result stream_events(th_http *http, struct MHD_Connection *c, const exchange *x)
{
    const th_reply as_stream = {.type = "text/event-stream; charset=utf-8"};
    struct MHD_Response *response = th_events_response(http->events, c);
    if (!response)
        return send_reply(http, c, x,
                          th_reply_error(503, "too_many_event_clients", "too many clients of the event stream"));
    add_headers(response, &as_stream);
    set_deadline(c, 0);
    count(http, 200);
    const enum MHD_Result queued = MHD_queue_response(c, 200, response);
    MHD_destroy_response(response);
    return queued;
}

/* ---- requests ---- */

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

/* Decides by the headers alone. Afterwards the exchange has a route or a rejection. */
static void check_request(th_http *http, const th_request_headers *headers, exchange *x)
{
    const th_rejection not_found = {404, "not_found", "there is no such path"};
    const th_rejection wrong_method = {405, "wrong_method", "this path does not support this method"};
    if (!th_request_filter_check_headers(http->filter, headers, &x->rejection))
        return;
    if (!(x->route = th_route_find(headers->method, headers->path, &x->request.id, &x->allow)))
        x->rejection = x->allow.text[0] ? wrong_method : not_found;
    else
        th_request_filter_check_access(http->filter, headers, x->route->access, &x->rejection);
}

static exchange *begin_exchange(th_http *http, struct MHD_Connection *c, const char *url, const char *method)
{
    exchange *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    th_request_headers headers = {.method = method, .path = url};
    MHD_get_connection_values(c, MHD_HEADER_KIND, read_header, &headers);
    check_request(http, &headers, x);
    x->connection = c;
    x->begun_ns = th_clock_ns();
    x->request.seconds = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "seconds");
    x->request.width = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "width");
    x->request.height = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "height");
    return x;
}

/* The library calls again when the connection is resumed. */
static enum MHD_Result wait_for_answer(th_http *http, exchange *x)
{
    if (http->closed || th_clock_ns() - x->begun_ns > REPLY_TIMEOUT_NS)
        return send_reply(http, x->connection, x, th_reply_error(503, "too_slow", "this took too long; try again"));
    if (http->waiting_count == WAITING)
        return send_reply(http, x->connection, x,
                          th_reply_error(503, "too_many_wait", "too many clients wait for this"));
    x->next = http->waiting;
    http->waiting = x;
    http->waiting_count++;
    set_deadline(x->connection, 0);
    MHD_suspend_connection(x->connection);
    return MHD_YES;
}

static enum MHD_Result finish_exchange(th_http *http, struct MHD_Connection *c, exchange *x)
{
    if (!x->rejection.status && x->body_bytes > TH_REQUEST_FILTER_BODY_BYTES)
        x->rejection = (th_rejection){413, "too_large", "a body has at most 16384 bytes"};
    if (x->rejection.status)
        return send_reply(http, c, x, th_reply_error(x->rejection.status, x->rejection.code, x->rejection.message));
    x->request.body = x->body;
    x->request.size = (size_t)x->body_bytes;
    if (!x->route->answer)
        return stream_events(http, c, x);
    const th_reply reply = x->route->answer(http->state, &x->request);
    return reply.status ? send_reply(http, c, x, reply) : wait_for_answer(http, x);
}

void th_http_wake(th_http *http)
{
    while (http->waiting) {
        exchange *x = http->waiting;
        http->waiting = x->next;
        http->waiting_count--;
        set_deadline(x->connection, th_clock_ns() + REQUEST_NS);
        MHD_resume_connection(x->connection);
    }
}

void th_http_close(th_http *http)
{
    http->closed = true;
    th_http_wake(http);
}

/* Called once with the headers, then with every part of the body, then once more. */
static enum MHD_Result handle(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *data, size_t *data_size, void **context)
{
    th_http *http = cls;
    exchange *x = *context;
    (void)version;
    if (!x) {
        *context = x = begin_exchange(http, c, url, method);
        const char *length = x ? MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length") : NULL;
        if (x && x->rejection.status && length && strtoull(length, NULL, 10) > DISCARD_BYTES)
            return finish_exchange(http, c, x);
        return x ? MHD_YES : MHD_NO;
    }
    if (*data_size == 0)
        return finish_exchange(http, c, x);
    if (x->body_bytes + *data_size <= TH_REQUEST_FILTER_BODY_BYTES)
        memcpy(x->body + x->body_bytes, data, *data_size);
    x->body_bytes += *data_size;
    *data_size = 0;
    return x->body_bytes > DISCARD_BYTES ? MHD_NO : MHD_YES;
}

/* ---- connections ---- */

static void end_exchange(void *cls, struct MHD_Connection *c, void **context, enum MHD_RequestTerminationCode code)
{
    (void)cls, (void)code;
    set_deadline(c, th_clock_ns() + HALF_CLOSED_NS);
    free(*context);
    *context = NULL;
}

static void open_connection(th_http *http, struct MHD_Connection *c, void **context)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    connection *fresh = calloc(1, sizeof *fresh);
    if (!fresh || !info)
        return; /* it has no deadline then */
    *fresh = (connection){info->connect_fd, th_clock_ns() + REQUEST_NS, http->connections, &http->connections};
    if (fresh->next)
        fresh->next->link = &fresh->next;
    http->connections = fresh;
    *context = fresh;
}

static void forget_connection(connection *gone)
{
    if (!gone)
        return;
    *gone->link = gone->next;
    if (gone->next)
        gone->next->link = gone->link;
    free(gone);
}

static void on_connection(void *cls, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode code)
{
    th_http *http = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        http->state->http_stats.connections++;
        open_connection(http, c, context);
    } else {
        http->state->http_stats.connections--;
        forget_connection(*context);
    }
}

/* The library misses the end of a client that disconnects after half a request, because it arrives with the last bytes
 * and nothing follows. A client that only closed its sending side may still wait for a reply. */
static void check_half_closed(th_http *http, uint64_t now_ns)
{
    for (connection *c = http->connections; c; c = c->next) {
        struct pollfd end = {c->fd, POLLRDHUP, 0};
        if (c->deadline_ns > now_ns + HALF_CLOSED_NS && poll(&end, 1, 0) == 1)
            c->deadline_ns = now_ns + HALF_CLOSED_NS;
    }
}

static void close_connection(th_http *http, connection *c)
{
    c->deadline_ns = th_clock_ns() + REQUEST_NS; /* not again while the library closes it */
    http->state->http_stats.stalled++;
    shutdown(c->fd, SHUT_RDWR);
}

void th_http_close_stalled(th_http *http)
{
    const uint64_t now_ns = th_clock_ns();
    http->state->http_stats.stalled += th_acceptor_close_stalled(http->acceptor);
    check_half_closed(http, now_ns);
    for (connection *c = http->connections; c; c = c->next)
        if (c->deadline_ns && now_ns > c->deadline_ns)
            close_connection(http, c);
}

/* The library has as many connections as it may have: closes the one that takes longest. */
static void make_room(th_http *http)
{
    connection *oldest = NULL;
    for (connection *c = http->connections; c; c = c->next)
        if (c->deadline_ns && (!oldest || c->deadline_ns <= oldest->deadline_ns))
            oldest = c;
    if (oldest)
        close_connection(http, oldest);
    MHD_run(http->daemon);
}

static void take_connection(void *ctx, int fd, const struct sockaddr *address, socklen_t size)
{
    const th_rejection full = {503, "too_many_connections", "too many connections; try again"};
    th_http *http = ctx;
    if (http->state->http_stats.connections == TH_HTTP_CONNECTIONS)
        make_room(http);
    if (http->state->http_stats.connections < TH_HTTP_CONNECTIONS) {
        MHD_add_connection(http->daemon, fd, address, size); /* closes it on failure */
        return;
    }
    reject_head(http, fd, &full);
    close(fd);
}

/* ---- the daemon ---- */

/* Compares paths and queries without unescaping: no valid one needs escapes. */
static size_t keep_escapes(void *cls, struct MHD_Connection *c, char *text)
{
    (void)cls, (void)c;
    return strlen(text);
}

static struct MHD_Daemon *start_daemon(th_http *http)
{
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle,
                            http, MHD_OPTION_CONNECTION_LIMIT, (unsigned)TH_HTTP_CONNECTIONS,
                            MHD_OPTION_PER_IP_CONNECTION_LIMIT,
                            th_address_is_loopback(http->filter->listen) ? 0u : (unsigned)TH_HTTP_FROM_ONE_ADDRESS,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
                            IDLE_S, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
                            MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_NOTIFY_COMPLETED, end_exchange,
                            http, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
}

/* The acceptor's descriptor stands for the library's as well. */
static bool join_descriptors(const th_http *http)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct epoll_event wakes = {EPOLLIN, {.ptr = NULL}};
    return epoll_ctl(th_acceptor_fd(http->acceptor), EPOLL_CTL_ADD, info->epoll_fd, &wakes) == 0;
}

th_result th_http_create(th_request_filter *filter, th_server_state *state, th_events *events, int listen_fd,
                         th_http **out, th_error *err)
{
    *out = NULL;
    th_http *http = calloc(1, sizeof *http);
    if (!http) {
        close(listen_fd);
        return th_fail(err, TH_ERR_MEMORY, "no memory for a server");
    }
    *http = (th_http){.filter = filter, .state = state, .events = events};
    const th_acceptor_desc acceptor = {listen_fd, http, take_connection, reject_head};
    th_result result = th_acceptor_create(&acceptor, &http->acceptor, err);
    if (result == TH_OK && (!(http->daemon = start_daemon(http)) || !join_descriptors(http)))
        result = th_fail(err, TH_ERR_ENVIRONMENT, "libmicrohttpd does not start");
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
    th_acceptor_destroy(http->acceptor);
    if (http->daemon)
        MHD_stop_daemon(http->daemon);
    free(http);
}

int th_http_fd(const th_http *http)
{
    return th_acceptor_fd(http->acceptor);
}

int th_http_timeout_ms(th_http *http)
{
    MHD_UNSIGNED_LONG_LONG ms;
    if (MHD_get_timeout(http->daemon, &ms) != MHD_YES)
        return -1;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

void th_http_run(th_http *http)
{
    th_acceptor_run(http->acceptor);
    MHD_run(http->daemon);
}
