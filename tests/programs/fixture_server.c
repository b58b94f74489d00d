#include "fixture_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

bool server_start(server *s, const char *arguments)
{
    return server_start_by(s, "", arguments);
}

bool server_start_by(server *s, const char *starter, const char *arguments)
{
    char command[4096], line[128] = "";
    int ends[2];
    size_t length = 0;
    snprintf(command, sizeof command, "exec %s '%s' serve %s %s 2>>.log", starter, TEST_PROGRAM,
             strstr(arguments, "--listen") ? "" : "--listen 127.0.0.1:0", arguments);
    if (pipe(ends) != 0)
        return false;
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves no server behind */
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while (length + 1 < sizeof line && !strchr(line, '\n')) {
        const ssize_t count = read(ends[0], line + length, sizeof line - 1 - length);
        if (count <= 0)
            break;
        length += (size_t)count;
        line[length] = '\0';
    }
    close(ends[0]);
    return sscanf(line, "http://127.0.0.1:%d/", &s->port) == 1;
}

int server_end(server *s, int signal)
{
    int status = 0;
    kill(s->pid, signal);
    waitpid(s->pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int server_connect(const server *s)
{
    const struct sockaddr_in where = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)s->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&where, sizeof where) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Splits what came into head and body; whether all of the body is there. */
static bool parse(char *text, size_t size, answer *out)
{
    char *end = memmem(text, size, "\r\n\r\n", 4);
    if (!end)
        return false;
    size_t head = (size_t)(end - text) + 4, body = size - head, announced = 0;
    snprintf(out->head, sizeof out->head, "%.*s", (int)(head - 2), text);
    if (sscanf(out->head, "HTTP/1.1 %d", &out->status) != 1)
        out->status = 0;
    const char *length = strcasestr(out->head, "\r\nContent-Length:");
    out->size = body < sizeof out->body - 1 ? body : sizeof out->body - 1;
    memcpy(out->body, text + head, out->size);
    out->body[out->size] = '\0';
    return length && sscanf(length + 17, "%zu", &announced) == 1 && body >= announced;
}

void server_say(const server *s, const char *bytes, size_t size, answer *out)
{
    static char text[1 << 20];
    size_t got = 0;
    const int fd = server_connect(s);
    memset(out, 0, offsetof(answer, body) + 1);
    out->size = 0;
    if (fd < 0)
        return;
    for (size_t sent = 0; sent < size;) {
        const ssize_t count = send(fd, bytes + sent, size - sent, MSG_NOSIGNAL);
        if (count <= 0)
            break;
        sent += (size_t)count;
    }
    struct pollfd ready = {fd, POLLIN, 0};
    while (got < sizeof text && poll(&ready, 1, 60000) == 1) {
        const ssize_t count = recv(fd, text + got, sizeof text - got, 0);
        if (count <= 0)
            break;
        got += (size_t)count;
        if (parse(text, got, out))
            break;
    }
    parse(text, got, out);
    close(fd);
}

void server_ask(const server *s, const char *method, const char *path, const char *headers, const char *body,
                answer *out)
{
    static char text[1 << 16];
    char length[96] = "";
    if (body)
        snprintf(length, sizeof length, "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    const int size =
        snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s%sConnection: close\r\n\r\n%s", method,
                 path, s->port, headers, length, body ? body : "");
    server_say(s, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1, out);
}

json_t *server_document(const server *s, const char *path)
{
    static answer a;
    server_ask(s, "GET", path, "", NULL, &a);
    return a.status == 200 ? json_loadb(a.body, a.size, JSON_REJECT_DUPLICATES, NULL) : NULL;
}

double server_metric(const server *s, const char *sample)
{
    static answer a;
    char line[256];
    snprintf(line, sizeof line, "\n%s ", sample);
    server_ask(s, "GET", "/metrics", "", NULL, &a);
    const char *there = strstr(a.body, line);
    return there ? strtod(there + strlen(line), NULL) : (double)NAN;
}
