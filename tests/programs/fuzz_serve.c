/* Hostile clients: fuzz_serve [CONNECTIONS [SEED]]. Starts `throng serve` and sends it requests that are damaged in
 * every way this file knows of, over many connections, while it watches from another that the server still answers,
 * that the crowd still ticks, and that the damage reaches nothing. To be run against a build with sanitizers. */
#include "fixture_nightly.h"
#include "fixture_server.h"

#include <core/clock.h>
#include <core/random.h>

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 16, HELD = 64 };

static server s;
static uint64_t seed, drawn;
static uint64_t counts[600]; /* by status; 0: closed without an answer */

static void insist(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_serve: %s (seed %llu, after %llu numbers; see .log)\n", what, (unsigned long long)seed,
            (unsigned long long)drawn);
    kill(s.pid, SIGKILL);
    exit(1);
}

static uint32_t below(uint32_t limit)
{
    return (uint32_t)(th_random_unit(seed, drawn++) * limit);
}

#define ANY(list) list[below(sizeof list / sizeof *list)]

/* ---- requests ---- */

static const char *const methods[] = {"GET",   "HEAD",    "POST", "PATCH", "DELETE", "PUT", "OPTIONS",
                                      "TRACE", "CONNECT", "get",  "",      "\x01",   "G\0T"};
static const char *const paths[] = {"/",
                                    "/healthz",
                                    "/metrics",
                                    "/api",
                                    "/api/state",
                                    "/api/settings",
                                    "/api/runs",
                                    "/api/runs/1",
                                    "/api/runs/1/result",
                                    "/api/runs/1/report",
                                    "/api/history?seconds=5",
                                    "/api/history?seconds=%00",
                                    "/api/models",
                                    "/api/picture.png",
                                    "/api/picture.png?width=16&height=16",
                                    "/api/picture.png?width=17&height=%00",
                                    "/api/events",
                                    "/api/../../../etc/passwd",
                                    "/%2e%2e/%2e%2e/etc/passwd",
                                    "//etc/passwd",
                                    "/api/runs/18446744073709551617",
                                    "/api/runs/%31",
                                    "/api/state%00.html",
                                    "*",
                                    "",
                                    "http://evil.example/api/state",
                                    "/..;/api",
                                    "/api/runs/1/result/../../state",
                                    "/?a=b&&&=%",
                                    "/\xff\xfe"};
static const char *const versions[] = {"HTTP/1.1", "HTTP/1.1",          "HTTP/1.1", "HTTP/1.0", "HTTP/0.9",
                                       "HTTP/2.0", "HTTP/9999999999.1", "",         "ICY"};
static const char *const headers[] = {"Origin: http://evil.example",
                                      "Origin: null",
                                      "Sec-Fetch-Site: cross-site",
                                      "Authorization: Bearer wrong-wrong-wrong",
                                      "Authorization: Bearer correct-horse-battery",
                                      "Authorization: Bearer",
                                      "Authorization:",
                                      "Content-Type: application/json",
                                      "Content-Type: text/plain",
                                      "Content-Length: 5",
                                      "Content-Length: 99999999999999999999",
                                      "Content-Length: -1",
                                      "Content-Length: 5, 5",
                                      "Content-Length: 0x10",
                                      "Transfer-Encoding: chunked",
                                      "Transfer-Encoding: gzip, chunked",
                                      "Transfer-Encoding: identity",
                                      "Expect: 100-continue",
                                      "Expect: nonsense",
                                      "Connection: keep-alive",
                                      "Connection: close",
                                      "Connection: upgrade",
                                      "Upgrade: websocket",
                                      "Host: evil.example",
                                      "Host: localhost:1:2",
                                      "Range: bytes=0-1",
                                      "Cookie: a=b; c",
                                      " folded",
                                      "NoColon",
                                      ": empty",
                                      "X\0Y: z",
                                      "Accept-Encoding: gzip"};
static const char *const bodies[] = {
    "{\"count\": 20}",
    "{\"count\": 30}",
    "{\"rate_hz\": 0.1, \"rate_hz\": 5}",
    "{\"count\": 1e99}",
    "{\"count\": -0}",
    "[[[[[[[[[[[[[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":{",
    "{\"clips\": {\"walk\": 1e308, \"\\u0000\": 1}}",
    "{\"models\": [\"../../etc/passwd\"]}",
    "{\"models\": [\"\\u0000\"]}",
    "\"\\ud800\"",
    "nul",
    "{\"paused\": tru",
    "{\"kind\": \"scale\", \"options\": {\"out\": \"/tmp/x\"}}",
    "{\"kind\": \"scale\", \"options\": {\"clip\": \"--help\", \"repetitions\": 1, \"frames\": 1, \"count\": 5}}",
    "{\"kind\": \"scale\", \"options\": {\"threads\": \"1-999999999999999999999\"}}",
    "{\"kind\": \"$(reboot)\"}",
    "5\r\n{}\r\n0\r\n\r\n",
    "ffffffffffffffff\r\n{}\r\n",
    "-5\r\n{}\r\n0\r\n\r\n",
    "2;ext=\"\\\r\n{}\r\n0\r\nTrailer: x\r\n\r\n",
    "zz\r\n",
    "2\r\n{}0\r\n\r\n"};

typedef struct bytes {
    char text[MOST_BYTES];
    size_t size;
} bytes;

static void add(bytes *b, const char *text, size_t size)
{
    size = size < MOST_BYTES - b->size ? size : MOST_BYTES - b->size;
    memcpy(b->text + b->size, text, size);
    b->size += size;
}

static void add_text(bytes *b, const char *text)
{
    add(b, text, strlen(text));
}

static void add_request(bytes *b)
{
    char line[256];
    const char *body = below(3) ? ANY(bodies) : "";
    add_text(b, below(5) ? methods[below(5)] : ANY(methods));
    add_text(b, " ");
    add_text(b, ANY(paths));
    add_text(b, " ");
    add_text(b, below(5) ? versions[0] : ANY(versions));
    add_text(b, "\r\n");
    if (below(8)) {
        snprintf(line, sizeof line, "Host: localhost:%d\r\n", s.port);
        add_text(b, line);
    }
    if (below(2))
        add_text(b, "Content-Type: application/json\r\n");
    if (body[0] && below(2)) {
        snprintf(line, sizeof line, "Content-Length: %zu\r\n", strlen(body));
        add_text(b, line);
    }
    for (uint32_t h = below(4); h > 0; h--) {
        add_text(b, ANY(headers));
        add_text(b, below(10) ? "\r\n" : "\n");
    }
    if (below(50) == 0)
        for (int i = 0; i < 3000; i++)
            add_text(b, "X-Long: ................\r\n");
    add_text(b, "\r\n");
    add_text(b, body);
}

static void damage(bytes *b)
{
    for (uint32_t n = below(4); n > 0 && b->size > 0; n--) {
        const uint32_t at = below((uint32_t)b->size);
        switch (below(4)) {
        case 0:
            b->text[at] = (char)below(256);
            break;
        case 1:
            b->size = at;
            break;
        case 2:
            b->text[at] ^= (char)(1u << below(8));
            break;
        default:
            add(b, b->text + at / 2, (b->size - at / 2) / 2);
        }
    }
}

/* ---- attacks ---- */

static int held[HELD]; /* connections left open: slow heads, streams that nobody reads */

static void hold(int fd)
{
    int *place = &held[below(HELD)];
    if (*place > 0)
        close(*place);
    *place = fd;
}

/* Sends in pieces, and sometimes hangs up, or does not read. */
static void send_pieces(const bytes *b)
{
    char text[4096];
    int status = 0;
    const int fd = server_connect(&s);
    insist(fd >= 0, "it accepts no connection");
    for (size_t sent = 0; sent < b->size;) {
        size_t piece = below(5) ? b->size - sent : 1 + below((uint32_t)(b->size - sent));
        const ssize_t count = send(fd, b->text + sent, piece, MSG_NOSIGNAL);
        if (count <= 0)
            break;
        sent += (size_t)count;
    }
    switch (below(8)) {
    case 0:
        close(fd);
        return;
    case 1:
        hold(fd);
        return;
    case 2:
        shutdown(fd, SHUT_WR);
        break;
    default:
        break;
    }
    struct pollfd ready = {fd, POLLIN, 0};
    const ssize_t count = poll(&ready, 1, 20) == 1 ? recv(fd, text, sizeof text - 1, 0) : 0;
    text[count > 0 ? count : 0] = '\0';
    if (sscanf(text, "HTTP/1.%*d %d", &status) == 1 && status < 600)
        counts[status]++;
    else
        counts[0]++;
    insist(!strstr(text, "root:"), "it gives away files");
    close(fd);
}

static void drip_into_held(void)
{
    const int fd = held[below(HELD)];
    if (fd > 0)
        send(fd, "X", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- the watch ---- */

static double ticks_before;

static void watch(void)
{
    static answer a;
    server_ask(&s, "GET", "/healthz", "", NULL, &a);
    insist(a.status == 200, "it is not healthy");
    /* A pause is a fair request. */
    server_ask(&s, "PATCH", "/api/settings", "", "{\"paused\": false, \"rate_hz\": 60}", &a);
    insist(a.status == 200 || a.status == 202, "it takes no settings");
    const double ticks = server_metric(&s, "throng_ticks_total");
    insist(ticks >= ticks_before, "ticks are lost, or metrics");
    ticks_before = ticks;
}

/* Once all are gone, and streams of events have noticed by writing to nobody. */
static void check_descriptors(void)
{
    int waited = 0;
    while (server_metric(&s, "process_open_fds") > 32 && waited++ < 100)
        sleep(1);
    insist(waited <= 100, "descriptors leak");
    printf("all connections gone after %d s\n", waited);
}

static void check_end(void)
{
    const double before = server_metric(&s, "throng_ticks_total");
    int waited = 0;
    while (server_metric(&s, "throng_ticks_total") <= before && server_metric(&s, "throng_runs_active") == 0 &&
           waited++ < 600)
        usleep(100000);
    insist(waited <= 600, "the crowd stands still");
    printf("resident %.1f MB, descriptors %.0f, stalled %.0f, ticks %.0f, missed %.0f\n",
           server_metric(&s, "process_resident_memory_bytes") / 1e6, server_metric(&s, "process_open_fds"),
           server_metric(&s, "throng_http_connections_stalled_total"), before,
           server_metric(&s, "throng_ticks_missed_total"));
    check_descriptors();
    insist(server_end(&s, SIGTERM) == 0, "it does not end well");
    insist(system("grep -E 'Sanitizer|runtime error' .log >&2") != 0, "a sanitizer complains");
}

int main(int argc, char **argv)
{
    static bytes b;
    char folder[] = "/tmp/throng-fuzz-XXXXXX";
    const uint64_t connections = argc > 1 ? strtoull(argv[1], NULL, 10) : is_nightly() ? 50000 : 1000;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : is_nightly() ? th_clock_ns() : 1;
    if (!mkdtemp(folder) || chdir(folder) != 0 || !server_start(&s, "--count 20")) {
        fprintf(stderr, "fuzz_serve: the server does not start\n");
        return 1;
    }
    printf("seed %llu in %s\n", (unsigned long long)seed, folder);
    for (uint64_t n = 0; n < connections; n++) {
        b.size = 0;
        for (uint32_t r = 1 + below(3); r > 0; r--)
            add_request(&b);
        if (below(2))
            damage(&b);
        send_pieces(&b);
        drip_into_held();
        if (n % 200 == 0)
            watch();
    }
    for (int h = 0; h < HELD; h++)
        if (held[h] > 0)
            close(held[h]);
    printf("%llu connections; no answer %llu", (unsigned long long)connections, (unsigned long long)counts[0]);
    for (int status = 100; status < 600; status++)
        if (counts[status])
            printf(", %d: %llu", status, (unsigned long long)counts[status]);
    printf("\n");
    watch();
    check_end();
    return unlink(".log") == 0 && rmdir(folder) == 0 ? 0 : 1;
}
