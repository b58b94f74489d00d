/* `throng serve` as a child process, and a client that says exactly what it is told to say. */
#ifndef FIXTURE_SERVER_H
#define FIXTURE_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct server {
    pid_t pid;
    int port;
} server;

/* Starts it on a free port of 127.0.0.1 with these arguments, and waits until it is ready. Its log goes to `.log` of
 * the working directory. False when it does not get ready, or listens on something else, as the arguments may say. */
bool server_start(server *s, const char *arguments);

/* The same by a program that starts another: "env --ignore-signal=CHLD". */
bool server_start_by(server *s, const char *starter, const char *arguments);

/* Sends the signal and waits; the exit code, or -1 for an end by a signal. */
int server_end(server *s, int signal);

/* An answer, cut to fit. */
typedef struct answer {
    int status; /* 0: none came */
    char head[4096];
    char body[1 << 20];
    size_t size;
} answer;

/* A connection, or -1. The caller closes it. */
int server_connect(const server *s);

/* Sends these bytes on a connection of its own and reads until the server closes it, or has sent all it announced. */
void server_say(const server *s, const char *bytes, size_t size, answer *out);

/* A whole request. headers: each with its "\r\n", or ""; body: NULL for none. */
void server_ask(const server *s, const char *method, const char *path, const char *headers, const char *body,
                answer *out);

/* The document under a path; the test fails without one. The caller frees it. */
json_t *server_document(const server *s, const char *path);

/* The sample that begins like that line of /metrics; NaN when there is none. */
double server_metric(const server *s, const char *sample);

#endif
