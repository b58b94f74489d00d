#include "http_get.h"

#include <throng/core/clock.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

typedef struct transfer {
    const th_http_get_desc *desc;
    uint64_t end_ns; /* when it must be over */
    int fd;
    char *bytes;
    size_t size, capacity;
} transfer;

/* Waits until the socket can be read or written. */
static th_result wait_for(const transfer *t, short events, th_error *err)
{
    for (;;) {
        struct pollfd fds[] = {{t->fd, events, 0}, {t->desc->stop_fd, POLLIN, 0}};
        const uint64_t now_ns = th_clock_ns();
        const int left_ms = now_ns < t->end_ns ? (int)((t->end_ns - now_ns) / 1000000 + 1) : 0;
        const int ready = poll(fds, 2, left_ms);
        if (fds[1].revents)
            return th_fail(err, TH_ERR_ENVIRONMENT, "given up");
        if (ready > 0)
            return TH_OK;
        if (ready == 0)
            return th_fail(err, TH_ERR_ENVIRONMENT, "no answer within %u ms", t->desc->timeout_ms);
        if (errno != EINTR)
            return th_fail(err, TH_ERR_ENVIRONMENT, "poll: %s", strerror(errno));
    }
}

static th_result open_connection(transfer *t, th_error *err)
{
    const struct sockaddr *where = (const struct sockaddr *)&t->desc->address->bytes;
    int error = 0;
    socklen_t size = sizeof error;
    t->fd = socket(where->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (t->fd < 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "no socket: %s", strerror(errno));
    if (connect(t->fd, where, t->desc->address->size) != 0) {
        if (errno != EINPROGRESS)
            return th_fail(err, TH_ERR_ENVIRONMENT, "cannot connect: %s", strerror(errno));
        const th_result result = wait_for(t, POLLOUT, err);
        if (result != TH_OK)
            return result;
        getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    return error ? th_fail(err, TH_ERR_ENVIRONMENT, "cannot connect: %s", strerror(error)) : TH_OK;
}

static th_result send_request(transfer *t, th_error *err)
{
    char head[1024];
    const th_http_get_desc *d = t->desc;
    const bool has_token = d->token->text[0] != '\0';
    const int size =
        snprintf(head, sizeof head, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s%s%s\r\n", d->path, d->host,
                 has_token ? "Authorization: Bearer " : "", d->token->text, has_token ? "\r\n" : "");
    size_t sent = 0;
    if (size < 0 || (size_t)size >= sizeof head)
        return th_fail(err, TH_ERR_ENVIRONMENT, "the request is too long");
    while (sent < (size_t)size) {
        const ssize_t now = send(t->fd, head + sent, (size_t)size - sent, MSG_NOSIGNAL);
        if (now > 0)
            sent += (size_t)now;
        else if (now < 0 && errno != EAGAIN && errno != EINTR)
            return th_fail(err, TH_ERR_ENVIRONMENT, "cannot send: %s", strerror(errno));
        else if (wait_for(t, POLLOUT, err) != TH_OK)
            return TH_ERR_ENVIRONMENT;
    }
    return TH_OK;
}

static th_result make_room(transfer *t, th_error *err)
{
    const size_t most = t->desc->most_bytes;
    if (t->size > most)
        return th_fail(err, TH_ERR_ENVIRONMENT, "the answer has more than %zu bytes", most);
    if (t->size + 1 < t->capacity)
        return TH_OK;
    const size_t capacity = t->capacity ? 2 * t->capacity : 16384;
    char *bytes = realloc(t->bytes, capacity);
    if (!bytes)
        return th_fail(err, TH_ERR_MEMORY, "no memory for an answer");
    t->bytes = bytes;
    t->capacity = capacity;
    return TH_OK;
}

/* Until the server closes, as it was asked to. */
static th_result receive_answer(transfer *t, th_error *err)
{
    for (;;) {
        th_result result = make_room(t, err);
        if (result != TH_OK)
            return result;
        const ssize_t got = recv(t->fd, t->bytes + t->size, t->capacity - t->size - 1, 0);
        if (got > 0)
            t->size += (size_t)got;
        t->bytes[t->size] = '\0';
        if (got == 0)
            return TH_OK;
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return th_fail(err, TH_ERR_ENVIRONMENT, "cannot receive: %s", strerror(errno));
        if (got < 0 && (result = wait_for(t, POLLIN, err)) != TH_OK)
            return result;
    }
}

/* The value of a header, or NULL. */
static const char *header(const char *head, const char *end, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line && line < end; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':')
            return line + 2 + length + 1 + strspn(line + 2 + length + 1, " \t");
    return NULL;
}

/* Leaves the body alone in `bytes`. */
static th_result take_body(transfer *t, th_error *err)
{
    unsigned status;
    const char *end = strstr(t->bytes, "\r\n\r\n");
    if (!end || sscanf(t->bytes, "HTTP/1.%*1[01] %3u", &status) != 1)
        return th_fail(err, TH_ERR_ENVIRONMENT, "the answer is no HTTP");
    if (status == 401)
        return th_fail(err, TH_ERR_ENVIRONMENT,
                       "it needs another token (status 401); the servers of a fleet share one");
    if (status != 200)
        return th_fail(err, TH_ERR_ENVIRONMENT, "it answers with status %u", status);
    const char *length = header(t->bytes, end, "content-length");
    const size_t size = t->size - (size_t)(end + 4 - t->bytes);
    char *rest;
    if (!length || strtoull(length, &rest, 10) != size || rest == length)
        return th_fail(err, TH_ERR_ENVIRONMENT, "the answer ends early, or does not say where it ends");
    memmove(t->bytes, end + 4, size + 1);
    t->size = size;
    return TH_OK;
}

th_result th_http_get(const th_http_get_desc *desc, char **out_body, size_t *out_size, th_error *err)
{
    transfer t = {.desc = desc, .fd = -1, .end_ns = th_clock_ns() + (uint64_t)desc->timeout_ms * 1000000};
    th_result result = open_connection(&t, err);
    if (result == TH_OK)
        result = send_request(&t, err);
    if (result == TH_OK)
        result = receive_answer(&t, err);
    if (result == TH_OK)
        result = take_body(&t, err);
    if (t.fd >= 0)
        close(t.fd);
    if (result != TH_OK) {
        free(t.bytes);
        t = (transfer){.bytes = NULL};
    }
    *out_body = t.bytes;
    *out_size = t.size;
    return result;
}
