/* `throng serve` from outside. */
#include "fixture_document.h"
#include "fixture_program.h"
#include "fixture_server.h"

#include <bench/page.h>
#include <core/clock.h>

#include <criterion/criterion.h>

#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(serve, .init = make_folder, .fini = remove_folder);

/* Made, animated and drawn in no time. */
#define SMALL "--model synthetic:joints=4,clips=3,keys=16,rate=15"

static server s;
static answer a;

static void start(const char *arguments)
{
    if (server_start(&s, arguments))
        return;
    slurp(".log", err, sizeof err);
    cr_assert_fail("serve %s does not start: %s", arguments, err);
}

static void stop(void)
{
    const int code = server_end(&s, SIGTERM);
    slurp(".log", err, sizeof err);
    cr_expect_eq(code, 0, "exit code %d: %s", code, err);
    cr_expect(!strstr(err, "Sanitizer"), "%s", err);
}

static int ask(const char *method, const char *path, const char *body)
{
    server_ask(&s, method, path, "", body, &a);
    return a.status;
}

static bool has(const char *text)
{
    return strstr(a.body, text) != NULL;
}

/* Asks again until the text is there, for as long as a loaded machine may take. */
static bool comes(const char *path, const char *text)
{
    for (int i = 0; i < 300; i++) {
        ask("GET", path, NULL);
        if (has(text))
            return true;
        usleep(100000);
    }
    return false;
}

/* Whether there will be more ticks than that. */
static bool ticks_go_on(double ticks)
{
    for (int i = 0; i < 300; i++) {
        if (server_metric(&s, "throng_ticks_total") > ticks)
            return true;
        usleep(100000);
    }
    return false;
}

static double number_at(const json_t *json, const char *a1, const char *a2)
{
    return json_number_value(json_object_get(json_object_get(json, a1), a2));
}

/* ---- start and stop ---- */

/* Other complaints: tests/golden/documents/messages.txt. */
Test(serve, a_crowd_that_is_too_large_is_refused_before_anything_starts)
{
    expect(3, "serve --listen 127.0.0.1:0 --count 100000 --max-memory 3", "the limit is 3.0 MB");
}

Test(serve, an_address_that_is_taken_is_exit_code_4)
{
    char arguments[64];
    start("--count 10");
    snprintf(arguments, sizeof arguments, "serve --listen 127.0.0.1:%d", s.port);
    expect(4, arguments, "Address already in use");
    stop();
}

/* curl's exit code. */
static int ask_socket(const char *path)
{
    char command[256];
    snprintf(command, sizeof command, "curl -sSf --max-time 20 --unix-socket %s http://localhost/healthz >.body 2>&1",
             path);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(serve, a_unix_socket_belongs_to_one_user_and_goes_with_the_server)
{
    struct stat status;
    if (system("command -v curl >/dev/null") != 0)
        cr_skip("no curl here");
    server_start(&s, "--count 10 --listen unix:socket");
    cr_expect_eq(ask_socket("socket"), 0);
    cr_assert_eq(stat("socket", &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0600);
    expect(4, "serve --listen unix:socket", "cannot listen on unix:socket: Address already in use");
    cr_expect_eq(ask_socket("socket"), 0);
    server_end(&s, SIGKILL);
    cr_expect_eq(stat("socket", &status), 0, "a killed server leaves it");
    server_start(&s, "--count 10 --listen unix:socket");
    cr_expect_eq(ask_socket("socket"), 0);
    stop();
    cr_expect_neq(stat("socket", &status), 0);
    cr_assert_eq(system("echo precious >file"), 0);
    expect(4, "serve --listen unix:file", "Address already in use");
    cr_expect_eq(stat("file", &status), 0);
}

Test(serve, sigint_stops_it_like_sigterm_and_sighup_does_not)
{
    start("--count 10");
    kill(s.pid, SIGHUP);
    for (int i = 0; i < 1500 && !(slurp(".log", err, sizeof err), strstr(err, "SIGHUP")); i++)
        usleep(20000);
    cr_expect_eq(ask("GET", "/healthz", NULL), 200);
    cr_expect_str_eq(a.body, "ok\n");
    cr_expect_eq(server_end(&s, SIGINT), 0);
    slurp(".log", err, sizeof err);
    cr_expect(strstr(err, "SIGHUP: there is nothing to reload"), "%s", err);
}

Test(serve, a_line_of_its_log_has_the_time_the_level_and_the_text)
{
    start("--count 10");
    stop();
    FILE *log = fopen(".log", "r");
    char line[4096];
    int lines = 0, year, end;
    for (; fgets(line, sizeof line, log); lines++) {
        end = 0;
        sscanf(line, "%d-%*d-%*dT%*d:%*d:%*d.%*dZ info %n", &year, &end);
        cr_expect(year >= 2026 && end == 30 && line[end] > ' ', "%s", line);
    }
    cr_expect_geq(lines, 2);
    fclose(log);
}

/* ---- watching ---- */

Test(serve, the_crowd_ticks_and_says_so_everywhere)
{
    start("--count 40 --threads 1 --rate 200");
    cr_expect(comes("/api/state", "\"last_second\":{"));
    json_t *first = server_document(&s, "/api/state");
    cr_expect(ticks_go_on(number_at(first, "ticks", "total")));
    json_t *second = server_document(&s, "/api/state");
    cr_assert(first && second);
    const double ticks = number_at(second, "ticks", "total");
    cr_expect_gt(ticks, number_at(first, "ticks", "total"));
    cr_expect_gt(number_at(second, "ticks", "crowd_clock_s"), number_at(first, "ticks", "crowd_clock_s"));
    cr_expect_eq(number_at(second, "ticks", "characters_animated_total"), 40 * ticks);
    cr_expect_eq(number_at(second, "crowd", "characters"), 40);
    cr_expect_gt(number_at(second, "crowd", "palette_bytes"), 40 * 48);
    cr_expect_eq(json_array_size(json_object_get(second, "worker_busy_s")), 1);
    const json_t *minute = json_object_get(json_object_get(second, "ticks"), "last_minute");
    cr_expect_geq(json_number_value(json_object_get(minute, "ticks")), ticks,
                  "the first minute begins with the first tick");
    cr_expect_gt(server_metric(&s, "throng_worker_busy_seconds_total{worker=\"0\"}"), 0);
    cr_expect_eq(ask("GET", "/api/history?seconds=1", NULL), 200);
    cr_expect(has("\"p99_s\":["), "%s", a.body);
    json_decref(first);
    json_decref(second);
    stop();
}

/* What stands at a path such as "server.cpu.crowd_s". */
static double number_of(const json_t *json, const char *path)
{
    char name[64];
    for (int length; sscanf(path, "%63[^.]%n", name, &length) == 1; path += length + (path[length] == '.'))
        json = json_is_array(json) ? json_array_get(json, (size_t)atoi(name)) : json_object_get(json, name);
    cr_assert(json_is_number(json) || json_is_boolean(json), "%s", name);
    return json_is_boolean(json) ? json_is_true(json) : json_number_value(json);
}

/* None of them decreases here but memory and connections. So a value between two readings of its metric lies between
 * them. */
Test(serve, metrics_say_what_the_state_says)
{
    static const struct {
        const char *metric, *path;
    } twice[] = {
        {"throng_ticks_total", "ticks.total"},
        {"throng_ticks_missed_total", "ticks.missed_total"},
        {"throng_characters_animated_total", "ticks.characters_animated_total"},
        {"throng_crowd_clock_seconds", "ticks.crowd_clock_s"},
        {"throng_paused", "ticks.paused"},
        {"throng_worker_busy_seconds_total{worker=\"0\"}", "worker_busy_s.0"},
        {"throng_worker_busy_seconds_total{worker=\"1\"}", "worker_busy_s.1"},
        {"throng_characters", "crowd.characters"},
        {"throng_characters", "settings.count"},
        {"throng_bones", "crowd.bones"},
        {"throng_crowd_bytes", "crowd.bytes"},
        {"throng_threads", "settings.threads"},
        {"throng_rate_target_hertz", "settings.rate_hz"},
        {"throng_reconfigurations_total{result=\"done\"}", "reconfiguration.done"},
        {"throng_reconfigurations_total{result=\"failed\"}", "reconfiguration.failed"},
        {"throng_memory_budget_bytes", "memory.budget_bytes"},
        {"throng_memory_budget_bytes", "limits.max_memory_bytes"},
        {"throng_memory_reserved_bytes{for=\"models\"}", "memory.models_bytes"},
        {"throng_memory_reserved_bytes{for=\"crowds\"}", "memory.crowds_bytes"},
        {"throng_memory_reserved_bytes{for=\"pictures\"}", "memory.pictures_bytes"},
        {"throng_memory_reserved_bytes{for=\"runs\"}", "memory.runs_bytes"},
        {"throng_cpu_seconds_total{part=\"crowd\"}", "server.cpu.crowd_s"},
        {"throng_cpu_seconds_total{part=\"server\"}", "server.cpu.server_s"},
        {"throng_cpu_seconds_total{part=\"controller\"}", "server.cpu.controller_s"},
        {"throng_cpu_seconds_total{part=\"pictures\"}", "server.cpu.pictures_s"},
        {"process_resident_memory_bytes", "server.resident_bytes"},
        {"throng_http_connections", "server.connections"},
        {"throng_http_connections_stalled_total", "server.connections_stalled"},
        {"throng_sse_clients", "server.sse_clients"},
        {"throng_sse_events_dropped_total", "server.sse_events_dropped"},
    };
    static const char events[] = "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    start("--count 40 --threads 2 --rate 200");
    const int fd = server_connect(&s);
    cr_assert_eq(write(fd, events, strlen(events)), (ssize_t)strlen(events));
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"count\": 70}"), 202);
    cr_expect(comes("/api/state", "\"sse_clients\":1") && comes("/api/state", "\"done\":1"), "%s", a.body);
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"clips\": {\"wlak\": 1}}"), 202);
    cr_expect(comes("/api/state", "\"failed\":1"), "%s", a.body);
    for (size_t t = 0; t < sizeof twice / sizeof *twice; t++) {
        const bool is_steady = !strstr(twice[t].metric, "_connections") && !strstr(twice[t].metric, "_memory_");
        const double slack = is_steady ? 1e-8 : 0.5;
        const double before = server_metric(&s, twice[t].metric);
        json_t *state = server_document(&s, "/api/state");
        const double after = server_metric(&s, twice[t].metric), value = number_of(state, twice[t].path);
        cr_expect(before * (1 - slack) <= value && value <= after * (1 + slack),
                  "%s: %.12g, but %s from %.12g to %.12g", twice[t].path, value, twice[t].metric, before, after);
        json_decref(state);
    }
    /* Their number is the sum of all; two have read it before. */
    const double requests = server_metric(&s, "throng_http_requests_total{code=\"200\"}") +
                            server_metric(&s, "throng_http_requests_total{code=\"202\"}");
    json_t *state = server_document(&s, "/api/state");
    cr_expect_eq(number_of(state, "server.requests"), requests + 2);
    json_decref(state);
    close(fd);
    stop();
}

Test(serve, missed_ticks_are_a_share_of_those_due)
{
    start("--count 10 --threads 1 --rate 1000");
    cr_expect(ticks_go_on(0));
    kill(s.pid, SIGSTOP);
    usleep(50000);
    kill(s.pid, SIGCONT);
    while (server_metric(&s, "throng_ticks_missed_total") == 0)
        usleep(20000);
    json_t *state = server_document(&s, "/api/state"), *ticks = json_object_get(state, "ticks");
    const double done = number_at(state, "ticks", "total"), missed = number_at(state, "ticks", "missed_total");
    cr_expect_float_eq(number_at(state, "ticks", "missed_share"), missed / (done + missed), 1e-8);
    const double minute_done = number_at(ticks, "last_minute", "ticks");
    const double minute_missed = number_at(ticks, "last_minute", "missed");
    cr_expect_eq(minute_missed, missed, "the first minute begins with the first tick");
    cr_expect_float_eq(number_at(ticks, "last_minute", "missed_share"), missed / (minute_done + missed), 1e-8);
    json_decref(state);
    stop();
}

/* A style that the policy does not name is not applied. */
Test(serve, the_page_has_the_nonce_of_its_policy_and_each_time_another)
{
    char first[40] = "", nonce[40], style[64];
    start("--count 10");
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(ask("GET", "/", NULL), 200);
        const char *policy = strstr(a.head, "style-src 'nonce-");
        cr_assert(policy && sscanf(policy, "style-src 'nonce-%32[0-9a-f]'", nonce) == 1, "%s", a.head);
        snprintf(style, sizeof style, "<style nonce=\"%s\">", nonce);
        cr_expect(has(style), "%s", style);
        cr_expect_str_neq(nonce, first);
        memcpy(first, nonce, sizeof first);
    }
    stop();
}

Test(serve, metrics_are_as_prometheus_wants_them)
{
    if (system("command -v promtool >/dev/null") != 0)
        cr_skip("no promtool here (Debian: prometheus)");
    start("--count 10");
    ask("GET", "/metrics", NULL);
    cr_expect(strstr(a.head, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"), "%s", a.head);
    FILE *judge = popen("promtool check metrics >.judged 2>&1", "w");
    fwrite(a.body, 1, a.size, judge);
    const int status = pclose(judge);
    slurp(".judged", err, sizeof err);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0 && err[0] == '\0', "%s", err);
    stop();
}

Test(serve, events_come_by_themselves_and_a_client_that_does_not_read_holds_nobody_up)
{
    static const char request[] = "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char text[8192];
    start("--count 10");
    const int deaf = server_connect(&s), small = 2048;
    setsockopt(deaf, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    cr_assert_eq(write(deaf, request, strlen(request)), (ssize_t)strlen(request));
    const int fd = server_connect(&s);
    cr_assert_eq(write(fd, request, strlen(request)), (ssize_t)strlen(request));
    int events = 0;
    bool typed = false;
    while (events < 3) {
        struct pollfd ready = {fd, POLLIN, 0};
        cr_assert_eq(poll(&ready, 1, 60000), 1, "no event for a minute");
        const ssize_t count = read(fd, text, sizeof text - 1);
        cr_assert_gt(count, 0);
        text[count] = '\0';
        typed = typed || strstr(text, "Content-Type: text/event-stream");
        for (const char *at = text; (at = strstr(at, "\nevent: state\ndata: {")); at++)
            events++;
    }
    cr_expect(typed);
    cr_expect_eq(server_metric(&s, "throng_sse_clients"), 2);
    close(fd);
    close(deaf);
    stop();
}

Test(serve, the_end_ends_streams_of_events)
{
    static const char request[] = "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char text[8192];
    start("--count 10");
    const int fd = server_connect(&s);
    cr_assert_eq(write(fd, request, strlen(request)), (ssize_t)strlen(request));
    cr_assert_gt(read(fd, text, sizeof text), 0);
    stop();
    while (read(fd, text, sizeof text) > 0)
        ;
    close(fd);
}

/* Whether the crowd is being made, and the CPU time that this has taken so far. */
static bool is_building(double *out_cpu_s)
{
    json_t *state = server_document(&s, "/api/state");
    cr_assert(state);
    const char *phase = json_string_value(json_object_get(json_object_get(state, "reconfiguration"), "state"));
    const bool building = strcmp(phase, "building") == 0;
    *out_cpu_s = number_at(json_object_get(state, "server"), "cpu", "controller_s");
    json_decref(state);
    return building;
}

/* Most of it is compiling, of which some shows before the end, unless nobody got to look. */
Test(serve, cpu_time_of_a_change_counts_while_it_is_made)
{
    static double seen[1000];
    double before, after;
    bool halfway = false;
    start("--count 10 --threads 1");
    for (int i = 0; i < 40 && !halfway; i++) {
        size_t count = 0;
        is_building(&before);
        ask("PATCH", "/api/settings", i % 2 ? "{\"interpolation\": \"nlerp\"}" : "{\"interpolation\": \"slerp\"}");
        while (is_building(&after))
            seen[count++ % 1000] = after;
        for (size_t c = 0; c < count && c < 1000; c++)
            halfway =
                halfway || (seen[c] > before + 0.2 * (after - before) && seen[c] < before + 0.6 * (after - before));
    }
    cr_expect(halfway);
    stop();
}

/* ---- steering ---- */

Test(serve, settings_change_while_it_runs)
{
    start("--count 40 --threads 1");
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"count\": 70, \"interpolation\": \"slerp\"}"), 202, "%s", a.body);
    cr_expect(comes("/api/settings", "\"count\":70"));
    cr_expect(has("\"interpolation\":\"slerp\""));
    cr_expect_eq(server_metric(&s, "throng_characters"), 70);
    cr_expect_eq(server_metric(&s, "throng_reconfigurations_total{result=\"done\"}"), 1);
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"rate_hz\": 120}"), 200);
    cr_expect_eq(server_metric(&s, "throng_rate_target_hertz"), 120);
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"clips\": {\"walk\": 2, \"run\": 1}}"), 202);
    cr_expect(comes("/api/settings", "\"walk\":2.0"));
    stop();
}

Test(serve, a_pause_stops_the_ticks_until_it_ends)
{
    start("--count 10 --rate 0");
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"paused\": true}"), 200);
    cr_expect(comes("/metrics", "\nthrong_paused 1\n"));
    const double ticks = server_metric(&s, "throng_ticks_total"),
                 clock = server_metric(&s, "throng_crowd_clock_seconds");
    usleep(300000);
    cr_expect_eq(server_metric(&s, "throng_ticks_total"), ticks);
    const uint64_t end_ns = th_clock_ns();
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"paused\": false}"), 200);
    cr_expect(comes("/metrics", "\nthrong_paused 0\n"));
    const double passed_s = server_metric(&s, "throng_crowd_clock_seconds") - clock;
    const double since_s = (double)(th_clock_ns() - end_ns) / 1e9;
    cr_expect(passed_s < since_s + 0.1, "%g s of %g s: the crowd's clock stood still", passed_s, since_s);
    stop();
}

Test(serve, a_change_that_cannot_be_made_leaves_the_crowd_and_its_reason)
{
    FILE *broken = fopen("broken.glb", "w");
    fputs("glTF, or so it says", broken);
    fclose(broken);
    start("--count 40 --model . --max-memory 30");
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"clips\": {\"wlak\": 1}}"), 202);
    cr_expect(comes("/api/state", "no clip \\\"wlak\\\"; did you mean \\\"walk\\\"?"), "%s", a.body);
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"models\": [\"broken.glb\"]}"), 202, "%s", a.body);
    cr_expect(comes("/api/state", "broken.glb: "), "%s", a.body);
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"count\": 50000}"), 202);
    cr_expect(comes("/api/state", "the limit is 30.0 MB"), "%s", a.body);
    cr_expect(has("\"count\":40,") && has("\"models\":[\"human\"]") && has("\"clips\":{}"), "%s", a.body);
    cr_expect_eq(server_metric(&s, "throng_reconfigurations_total{result=\"failed\"}"), 3);
    cr_expect(ticks_go_on(server_metric(&s, "throng_ticks_total")));
    stop();
}

Test(serve, a_model_that_plays_may_lose_its_file)
{
    cr_assert_eq(system(TEST_HUMAN " synthetic:joints=4 hero.glb"), 0);
    start("--count 10 --model .");
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"models\": [\"hero.glb\"]}"), 202, "%s", a.body);
    cr_expect(comes("/api/state", "\"state\":\"idle\",\"requested\":null,\"done\":1"), "%s", a.body);
    cr_assert_eq(unlink("hero.glb"), 0);
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"paused\": true}"), 200, "%s", a.body);
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"count\": 20}"), 202, "%s", a.body);
    cr_expect(comes("/api/settings", "\"count\":20"));
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"models\": [\"hero.glb\"]}"), 400);
    stop();
}

/* ---- refusing ---- */

static void refuses(int status, const char *method, const char *path, const char *headers, const char *body,
                    const char *code)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "{\"error\":{\"code\":\"%s\"", code);
    server_ask(&s, method, path, headers, body, &a);
    cr_expect_eq(a.status, status, "%s %s %s: %d", method, path, headers, a.status);
    cr_expect(has(wanted), "%s %s %s: %s", method, path, headers, a.body);
}

static void write_token(void)
{
    FILE *file = fopen("token", "w");
    fputs("correct-horse-battery\n", file);
    fclose(file);
    chmod("token", 0600);
}

/* "METHOD PATH | HEADER | ... < BODY". A body is JSON of its length unless headers say otherwise: spaces fill it up,
 * and chunks have line ends as C writes them. */
static void send_line(const char *line)
{
    static char request[1 << 16];
    char copy[512], headers[512] = "", added[128] = "Host: localhost\r\n", *rest = copy, *header;
    snprintf(copy, sizeof copy, "%s", line);
    char *body = strstr(copy, " < "), *length = strstr(copy, "| Content-Length: ");
    const bool is_chunked = strstr(copy, "| Transfer-Encoding: ");
    if (body) {
        *body = '\0';
        body += 3;
    }
    for (char *at = body; at && (at = strstr(at, "\\r\\n"));) {
        memcpy(at, "\r\n", 2);
        memmove(at + 2, at + 4, strlen(at + 4) + 1);
    }
    const int size = length ? atoi(length + 18) : body ? (int)strlen(body) : 0;
    const char *first = strsep(&rest, "|");
    while ((header = strsep(&rest, "|")))
        snprintf(headers + strlen(headers), sizeof headers - strlen(headers), "%.*s\r\n",
                 (int)strlen(header) - 1 - (rest != NULL), header + 1);
    if (strstr(headers, "Host:"))
        added[0] = '\0';
    if (body && !strstr(headers, "Content-Type:"))
        strcat(added, "Content-Type: application/json\r\n");
    if (body && !length && !is_chunked)
        snprintf(added + strlen(added), sizeof added - strlen(added), "Content-Length: %d\r\n", size);
    const int count = snprintf(request, sizeof request, "%.*s HTTP/1.1\r\n%s%s\r\n%-*s",
                               (int)strlen(first) - (first[strlen(first) - 1] == ' '), first, added, headers,
                               body ? size : 0, body ? body : "");
    server_say(&s, request, (size_t)count, &a);
}

/* What browsers obey. */
static void expect_headers(const char *line)
{
    static const char *const headers[] = {"\r\nX-Content-Type-Options: nosniff\r\n", "\r\nX-Frame-Options: DENY\r\n",
                                          "\r\nReferrer-Policy: no-referrer\r\n",
                                          "\r\nContent-Security-Policy: default-src 'none'; ",
                                          "\r\nCache-Control: no-store\r\n"};
    for (size_t h = 0; h < sizeof headers / sizeof *headers; h++)
        cr_expect(strstr(a.head, headers[h]), "%s: %s in %s", line, headers[h], a.head);
    cr_expect(!strstr(a.head, "Access-Control-Allow"), "%s: %s", line, a.head);
}

static char settings[4096];  /* what they were when the server started */
static uint32_t misdirected; /* requests that were answered so */

static void print_answer(const char *line, FILE *file)
{
    static const char *const telling[] = {"\r\nAllow: ", "\r\nWWW-Authenticate: "};
    send_line(line);
    expect_headers(line);
    fprintf(file, "%s => %d", line, a.status);
    misdirected += a.status == 421;
    json_t *json = a.status >= 400 ? json_loads(a.body, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const json_t *error = json_object_get(json, "error");
    if (error)
        fprintf(file, ": %s, %s", json_string_value(json_object_get(error, "code")),
                json_string_value(json_object_get(error, "message")));
    for (size_t t = 0; t < 2; t++) {
        const char *header = strstr(a.head, telling[t]);
        if (header)
            fprintf(file, "; %.*s", (int)strcspn(header + 2, "\r"), header + 2);
    }
    fputc('\n', file);
    json_decref(json);
    if (a.status >= 400) {
        ask("GET", "/api/settings", NULL);
        cr_expect_str_eq(a.body, settings, "%s", line);
    }
}

/* Every request of the document is sent, its headings are kept. What is refused changes nothing. */
Test(serve, requests_are_answered_as_stored)
{
    char line[512], *text = NULL;
    size_t size = 0;
    FILE *stored = fopen(TEST_GOLDEN "/documents/requests.txt", "r"), *now = open_memstream(&text, &size);
    cr_assert(stored && now);
    write_token();
    while (fgets(line, sizeof line, stored)) {
        char *arrow = strstr(line, " =>");
        if (arrow) {
            *arrow = '\0';
            print_answer(line, now);
            continue;
        }
        if (strncmp(line, "serve ", 6) == 0) {
            if (s.pid) {
                cr_expect_eq(server_metric(&s, "throng_http_requests_total{code=\"421\"}"), misdirected);
                stop();
            }
            line[strcspn(line, "\n")] = '\0';
            start(line + 6);
            ask("GET", "/api/settings", NULL);
            snprintf(settings, sizeof settings, "%.4000s", a.body);
            strcat(line, "\n");
        }
        fputs(line, now);
    }
    stop();
    cr_expect(!strstr(err, "chmod 600"), "%s", err);
    fclose(stored);
    fclose(now);
    check_document(".", "requests.txt", text);
    free(text);
}

Test(serve, it_goes_by_every_name_it_is_given)
{
    char arguments[2048] = "--count 10", host[64];
    for (size_t h = 1; h <= 64; h++)
        snprintf(arguments + strlen(arguments), sizeof arguments - strlen(arguments), " --allow-host h%zu", h);
    start(arguments);
    for (size_t h = 1; h <= 65; h++) {
        snprintf(host, sizeof host, "GET /healthz HTTP/1.1\r\nHost: h%zu\r\n\r\n", h);
        server_say(&s, host, strlen(host), &a);
        cr_expect_eq(a.status, h <= 64 ? 200 : 421, "h%zu: %d", h, a.status);
    }
    stop();
}

/* ---- runs ---- */

static const char small_run[] = "{\"kind\": \"scale\", \"options\": {\"count\": 20, \"threads\": \"1\","
                                " \"repetitions\": 5, \"frames\": 2}}";
static const char endless_run[] = "{\"kind\": \"scale\", \"options\": {\"repetitions\": 1000, \"frames\": 10000}}";

static int count_results(const char *suffix)
{
    int count = 0;
    DIR *folder = opendir("results");
    for (struct dirent *e; (e = readdir(folder));)
        count +=
            strlen(e->d_name) > strlen(suffix) && strcmp(e->d_name + strlen(e->d_name) - strlen(suffix), suffix) == 0;
    closedir(folder);
    return count;
}

Test(serve, a_run_is_started_followed_and_read)
{
    mkdir("results", 0700);
    start("--count 10 --results results");
    cr_expect_eq(ask("POST", "/api/runs", small_run), 202, "%s", a.body);
    cr_expect(comes("/api/runs/1", "\"state\":\"done\""), "%s", a.body);
    cr_expect(has("\"progress\":1.0") && has("\"exit_code\":0"), "%s", a.body);
    json_t *result = server_document(&s, "/api/runs/1/result");
    cr_expect(json_is_object(json_object_get(result, "context")), "it is the command's document");
    json_decref(result);
    cr_expect_eq(count_results(".json"), 1);
    cr_expect_eq(count_results(".html"), 1);
    cr_expect_eq(server_metric(&s, "throng_runs_total{result=\"done\"}"), 1);
    refuses(409, "DELETE", "/api/runs/1", "", NULL, "run_ended");
    stop();
    start("--count 10 --results results");
    cr_expect_eq(ask("GET", "/api/runs/1/report", NULL), 200);
    cr_expect(strncmp(a.body, "<!DOCTYPE html>", 15) == 0, "%.80s", a.body);
    stop();
}

Test(serve, a_report_is_a_page_without_rights_that_leaves_no_file_behind)
{
    char here[256], folders[320];
    cr_assert(getcwd(here, sizeof here));
    setenv("TMPDIR", here, 1);
    snprintf(folders, sizeof folders, "ls -d '%s'/throng-run-* >/dev/null 2>&1", here);
    start("--count 10");
    cr_expect_eq(ask("POST", "/api/runs",
                     "{\"kind\": \"scale\", \"options\": {\"count\": 20, \"repetitions\": 1000, \"frames\": 500}}"),
                 202);
    refuses(404, "GET", "/api/runs/1/report", "", NULL, "no_report");
    cr_expect(comes("/api/runs/1", " repetition"), "%s", a.body);
    json_t *run = server_document(&s, "/api/runs/1");
    const double progress = json_number_value(json_object_get(run, "progress"));
    cr_expect(progress > 0 && progress < 0.9, "%g of 1000 repetitions", progress);
    json_decref(run);
    cr_expect_eq(system(folders), 0, "it writes there");
    cr_expect_eq(ask("DELETE", "/api/runs/1", NULL), 202);
    cr_expect(comes("/api/runs", "\"state\":\"cancelled\""));
    cr_expect_eq(ask("POST", "/api/runs", small_run), 202);
    cr_expect(comes("/api/runs/2", "\"state\":\"done\""), "%s", a.body);
    cr_expect(has("\"progress_text\":null") && !has("\"report_bytes\":0"), "%s", a.body);
    cr_expect_neq(system(folders), 0, "nothing stays");
    cr_expect_eq(ask("GET", "/api/runs/2/report", NULL), 200);
    cr_expect(strncmp(a.body, "<!DOCTYPE html>", 15) == 0 && has(th_page_script), "%.80s", a.body);
    cr_expect(strstr(a.head, "\r\nContent-Type: text/html; charset=utf-8\r\n"), "%s", a.head);
    char policy[512];
    snprintf(
        policy, sizeof policy,
        "\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src %s; img-src data:; "
        "sandbox allow-scripts; frame-ancestors 'none'\r\n",
        th_page_script);
    cr_expect(strstr(a.head, policy), "%s", a.head);
    stop();
}

Test(serve, a_run_that_fails_says_why)
{
    start("--count 10");
    cr_expect_eq(ask("POST", "/api/runs", "{\"kind\": \"scale\", \"options\": {\"clip\": \"wlak\"}}"), 202);
    cr_expect(comes("/api/runs/1", "\"state\":\"failed\""), "%s", a.body);
    cr_expect(has("\"exit_code\":2") && has("did you mean \\\"walk\\\"?"), "%s", a.body);
    stop();
}

Test(serve, the_crowd_is_held_during_a_run_unless_asked_otherwise)
{
    start("--count 10");
    cr_expect_eq(ask("POST", "/api/runs", endless_run), 202);
    cr_expect(comes("/api/state", "\"paused_by\":\"run\""));
    refuses(409, "POST", "/api/runs", "", small_run, "busy");
    cr_expect_eq(ask("DELETE", "/api/runs/1", NULL), 202);
    cr_expect(comes("/api/runs", "\"state\":\"cancelled\""));
    cr_expect(comes("/api/state", "\"paused_by\":null"));
    cr_expect_eq(ask("POST", "/api/runs",
                     "{\"kind\": \"scale\", \"pause\": false, \"options\": {\"repetitions\": 1000,"
                     " \"frames\": 10000}}"),
                 202);
    cr_expect_eq(ask("GET", "/api/state", NULL), 200);
    cr_expect(has("\"paused_by\":null") && has("\"run\":{\"id\":2"), "%s", a.body);
    stop();
}

Test(serve, what_holds_a_paused_crowd_is_the_run)
{
    start("--count 10");
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"paused\": true}"), 200);
    cr_expect(comes("/api/state", "\"paused_by\":\"settings\""));
    cr_expect_eq(ask("POST", "/api/runs", endless_run), 202);
    cr_expect(comes("/api/state", "\"paused_by\":\"run\""), "%s", a.body);
    cr_expect_eq(ask("DELETE", "/api/runs/1", NULL), 202);
    cr_expect(comes("/api/state", "\"paused_by\":\"settings\""), "%s", a.body);
    stop();
}

/* As a shell with trap '' CHLD leaves them. */
Test(serve, a_run_ends_where_ends_of_children_are_ignored)
{
    cr_assert(server_start_by(&s, "env --ignore-signal=CHLD", "--count 10"));
    cr_expect_eq(ask("POST", "/api/runs", small_run), 202, "%s", a.body);
    cr_expect(comes("/api/runs/1", "\"state\":\"done\""), "%s", a.body);
    stop();
}

Test(serve, a_run_that_nothing_is_left_for_can_be_asked_for_again)
{
    static const char head[] = "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                               "Content-Type: application/json\r\n";
    char request[512], text[4096] = "";
    struct rlimit before, none;
    start("--count 10");
    const int fd = server_connect(&s);
    cr_expect_eq(ask("GET", "/healthz", NULL), 200); /* so the other connection is accepted, too */
    cr_assert_eq(prlimit(s.pid, RLIMIT_NOFILE, NULL, &before), 0);
    none = (struct rlimit){3, before.rlim_max};
    cr_assert_eq(prlimit(s.pid, RLIMIT_NOFILE, &none, NULL), 0);
    snprintf(request, sizeof request, "%sContent-Length: %zu\r\n\r\n%s", head, strlen(small_run), small_run);
    cr_assert_eq(write(fd, request, strlen(request)), (ssize_t)strlen(request));
    memset(text, 0, sizeof text);
    for (size_t at = 0; at + 1 < sizeof text;) {
        const ssize_t count = read(fd, text + at, sizeof text - 1 - at);
        if (count <= 0)
            break;
        at += (size_t)count;
    }
    cr_expect(strncmp(text, "HTTP/1.1 503 ", 13) == 0 && strstr(text, "\"cannot_start\""), "%s", text);
    close(fd);
    cr_assert_eq(prlimit(s.pid, RLIMIT_NOFILE, &before, NULL), 0);
    cr_expect_eq(ask("POST", "/api/runs", small_run), 202, "%s", a.body);
    stop();
}

/* Whether a process of this group is left. */
static bool child_lives(pid_t server_pid)
{
    char command[96];
    snprintf(command, sizeof command, "pgrep -P %d >.children", (int)server_pid);
    return system(command) == 0;
}

static pid_t child_of(pid_t server_pid)
{
    char text[64] = "";
    for (int i = 0; i < 1500 && !child_lives(server_pid); i++)
        usleep(20000);
    slurp(".children", text, sizeof text);
    return (pid_t)atoi(text);
}

/* Whether the process was started with this word. */
static bool was_told(pid_t pid, const char *word)
{
    char path[64], words[8192];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(path, "r");
    const size_t size = file ? fread(words, 1, sizeof words, file) : 0;
    if (file)
        fclose(file);
    return memmem(words, size, word, strlen(word) + 1) != NULL;
}

Test(serve, runs_read_models_as_the_server_does)
{
    cr_assert_eq(system(TEST_HUMAN " synthetic:joints=4 attached.glb"), 0);
    start("--count 10 " SMALL " --animation ./attached.glb --import-timeout 7.5");
    cr_expect_eq(ask("POST", "/api/runs", endless_run), 202);
    const pid_t child = child_of(s.pid);
    if (child <= 0)
        ask("GET", "/api/runs", NULL);
    cr_assert_gt(child, 0, "%s", a.body);
    for (int i = 0; i < 1500 && !was_told(child, "scale"); i++)
        usleep(20000); /* it is about to become that */
    cr_expect(was_told(child, "--animation=./attached.glb"));
    cr_expect(was_told(child, "--import-timeout=7.5"));
    stop();
}

Test(serve, no_run_outlives_the_server_however_that_ends)
{
    static const int signals[] = {SIGTERM, SIGKILL};
    for (int i = 0; i < 2; i++) {
        start("--count 10");
        cr_expect_eq(ask("POST", "/api/runs", endless_run), 202);
        const pid_t child = child_of(s.pid);
        cr_assert_gt(child, 0);
        cr_expect_eq(server_end(&s, signals[i]), signals[i] == SIGTERM ? 0 : -1);
        bool gone = false;
        for (int n = 0; n < 1500 && !gone; n++) {
            gone = kill(child, 0) != 0;
            usleep(20000);
        }
        cr_expect(gone, "signal %d", signals[i]);
    }
}

Test(serve, a_run_that_is_killed_leaves_nothing_and_names_nothing)
{
    static const char *const arguments[] = {"--count 10", "--count 10 --results results"};
    char here[256];
    cr_assert(getcwd(here, sizeof here));
    setenv("TMPDIR", here, 1);
    mkdir("results", 0700);
    for (int i = 0; i < 2; i++) {
        start(arguments[i]);
        cr_expect_eq(ask("POST", "/api/runs", endless_run), 202);
        const pid_t child = child_of(s.pid);
        cr_assert_gt(child, 0);
        char written[128];
        snprintf(written, sizeof written, "for f in %s; do touch $f/throng.%d-0.tmp; done",
                 i ? "results" : "throng-run-*", (int)child);
        cr_assert_eq(system(written), 0);
        kill(child, SIGKILL);
        cr_expect(comes("/api/runs/1", "\"state\":\"failed\""), "%s", a.body);
        cr_expect(has("ended by signal 9") && has("\"file\":null"), "%s", a.body);
        cr_expect_neq(system("ls -d throng-run-* results/* 2>/dev/null | grep ."), 0, "nothing stays");
        stop();
    }
}

/* Both signals wait while the server is stopped, so that the second one is there before the orderly end is over;
 * SIGINT is the first, because its number is lower. Tried again where the orderly end wins all the same. */
Test(serve, a_second_signal_ends_it_at_once)
{
    int code = 0;
    for (int i = 0; i < 5 && code == 0; i++) {
        start("--count 10");
        kill(s.pid, SIGSTOP);
        kill(s.pid, SIGINT);
        kill(s.pid, SIGTERM);
        code = server_end(&s, SIGCONT);
    }
    slurp(".log", err, sizeof err);
    cr_expect_eq(code, 128 + SIGTERM, "%s", err);
    cr_expect(strstr(err, "ended at once"), "%s", err);
}

/* The transitions of the human take most of a second to find. Tried again where that was over all the same. */
Test(serve, the_end_does_not_wait_for_a_crowd)
{
    bool was_building = false;
    for (int i = 0; i < 5 && !was_building; i++) {
        start("--count 10");
        cr_expect_eq(ask("PATCH", "/api/settings", "{\"behaviour\": \"graph\"}"), 202, "%s", a.body);
        stop();
        was_building = strstr(err, "stopped, although a crowd was being built");
    }
    cr_expect(was_building, "%s", err);
}

/* ---- pictures ---- */

static const char picture[] = "/api/picture.png?width=96&height=64",
                  small_picture[] = "/api/picture.png?width=64&height=64";

/* Again where a loaded machine takes long; a skip where there is no OpenGL. */
static void ask_for_picture(const char *path)
{
    for (int i = 0; i < 20 && (i == 0 || has("\"too_slow\"")); i++)
        ask("GET", path, NULL);
    if (a.status == 503 && has("\"no_picture\"")) {
        server_end(&s, SIGTERM);
        cr_skip_test("no OpenGL here: %s", a.body);
    }
    cr_assert_eq(a.status, 200, "%s", a.body);
    cr_expect(strstr(a.head, "\r\nContent-Type: image/png\r\n"), "%s", a.head);
}

/* Of another size each time: one of the same is the last one again, so long as it rests. */
Test(serve, a_picture_shows_the_crowd_as_it_is)
{
    static answer first, second;
    static const unsigned char head[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13,
                                         'I',  'H', 'D', 'R', 0,    0,    0,    96,   0, 0, 0, 64};
    start("--count 9 --rate 200 " SMALL);
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"paused\": true}"), 200);
    cr_expect(comes("/metrics", "\nthrong_paused 1\n"));
    ask_for_picture(picture);
    cr_expect_arr_eq(a.body, head, sizeof head);
    first = a;
    ask_for_picture(small_picture);
    second = a;
    ask_for_picture(picture);
    cr_expect(a.size == first.size && memcmp(a.body, first.body, a.size) == 0, "nothing moves in a pause");
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"clips\": {\"clip_1\": 1}}"), 202);
    cr_expect(comes("/api/settings", "\"clip_1\":1.0"));
    ask_for_picture(small_picture);
    cr_expect(a.size != second.size || memcmp(a.body, second.body, a.size) != 0, "they play another clip now");
    cr_expect_gt(server_metric(&s, "throng_cpu_seconds_total{part=\"pictures\"}"), 0);
    stop();
}

#define BEHAVIOUR SMALL " --behaviour graph"

/* Byte by byte: the process has the seed and the instances of the crowd. */
Test(serve, a_picture_shows_what_the_crowd_does)
{
    static char rendered[sizeof a.body];
    char arguments[256];
    start("--count 5 --rate 200 " BEHAVIOUR);
    while (server_metric(&s, "throng_crowd_clock_seconds") < 1)
        usleep(20000);
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"paused\": true}"), 200);
    cr_expect(comes("/metrics", "\nthrong_paused 1\n"));
    snprintf(arguments, sizeof arguments,
             "render --count 5 " BEHAVIOUR " --size 96x64 --shadow 1024 --start %.12g --out picture.png",
             server_metric(&s, "throng_crowd_clock_seconds"));
    ask_for_picture(picture);
    cr_assert_eq(throng(arguments), 0, "%s", err);
    FILE *file = fopen("picture.png", "rb");
    cr_assert(file);
    const size_t size = fread(rendered, 1, sizeof rendered, file);
    fclose(file);
    cr_expect(a.size == size && memcmp(a.body, rendered, size) == 0);
    stop();
}

/* 200: it needs no other crowd. The picture's process gets what is carried on. */
Test(serve, a_blend_changes_at_once)
{
    start("--count 5 --rate 200 --threads 1 --behaviour blend " SMALL);
    cr_expect(comes("/api/settings", "\"pace\":1.4"), "%s", a.body);
    ask_for_picture(picture);
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"pace\": 2.5}"), 200, "%s", a.body);
    cr_expect(comes("/api/settings", "\"pace\":2.5"), "%s", a.body);
    cr_expect_eq(ask("PATCH", "/api/settings", "{\"clips\": {\"clip_0\": 2, \"clip_1\": 1}}"), 200, "%s", a.body);
    cr_expect_eq(server_metric(&s, "throng_reconfigurations_total{result=\"done\"}"), 0);
    ask_for_picture(picture);
    stop();
}

Test(serve, all_who_wait_for_a_picture_get_it_and_the_end_waits_for_none)
{
    static const char request[] = "GET /api/picture.png?width=64&height=64 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char text[64];
    int fds[20];
    start("--count 3 " SMALL);
    ask_for_picture(picture);
    for (int i = 0; i < 20; i++) {
        fds[i] = server_connect(&s);
        cr_assert_eq(write(fds[i], request, strlen(request)), (ssize_t)strlen(request));
    }
    close(fds[0]); /* has gone before there is one */
    for (int i = 1; i < 20; i++) {
        cr_assert_eq(read(fds[i], text, 13), 13);
        cr_expect(strncmp(text, "HTTP/1.1 200 ", 13) == 0 || strncmp(text, "HTTP/1.1 503 ", 13) == 0, "%.13s", text);
        close(fds[i]);
    }
    const int fd = server_connect(&s);
    static const char other[] = "GET /api/picture.png?width=80&height=64 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    cr_assert_eq(write(fd, other, strlen(other)), (ssize_t)strlen(other));
    cr_expect_eq(ask("GET", "/healthz", NULL), 200); /* so the other request is read, too */
    stop();
    cr_assert_eq(read(fd, text, 15), 15);
    cr_expect_arr_eq(text, "HTTP/1.1 503 Se", 15, "%.15s", text);
    close(fd);
}

/* Its files are no more than it needs. */
static void expect_confined(pid_t child)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)child);
    DIR *files = opendir(path);
    int count = 0;
    for (struct dirent *e; files && (e = readdir(files));)
        count += e->d_name[0] != '.' && atoi(e->d_name) > 2;
    closedir(files);
    cr_expect_leq(count, 8, "%d files; those of the driver alone", count);
}

Test(serve, a_picture_process_that_crashes_costs_one_answer)
{
    static const char head[] = "Authorization: Bearer correct-horse-battery\r\n";
    write_token();
    start("--count 3 --token-file token " SMALL);
    for (int i = 0; i < 20 && (i == 0 || has("\"too_slow\"")); i++)
        server_ask(&s, "GET", picture, head, NULL, &a);
    if (has("\"no_picture\"")) {
        server_end(&s, SIGTERM);
        cr_skip_test("no OpenGL here: %s", a.body);
    }
    cr_assert_eq(a.status, 200, "%s", a.body);
    const pid_t child = child_of(s.pid);
    cr_assert_gt(child, 0);
    expect_confined(child);
    kill(child, SIGABRT); /* as an assert does; sanitizers handle others */
    bool failed = false, again = false;
    for (int i = 0; i < 300 && !again; i++) {
        server_ask(&s, "GET", picture, head, NULL, &a);
        failed = failed || has("the picture process ended with signal 6");
        again = failed && a.status == 200;
        usleep(100000);
    }
    cr_expect(failed && again, "%s", a.body);
    stop();
    int warnings = 0;
    for (const char *at = err; (at = strstr(at, "no picture: ")); at++)
        warnings++;
    cr_expect_eq(warnings, 1, "%s", err);
}

Test(serve, without_a_picture_it_says_why)
{
    setenv("__EGL_VENDOR_LIBRARY_DIRS", "/nowhere", 1);
    start("--count 10");
    refuses(503, "GET", picture, "", NULL, "no_picture");
    cr_expect(has("EGL"), "%s", a.body);
    cr_expect_eq(ask("POST", "/api/runs", endless_run), 202);
    cr_expect(comes("/api/state", "\"paused_by\":\"run\""));
    refuses(503, "GET", picture, "", NULL, "no_picture");
    cr_expect(has("a measuring run is using the CPUs"), "%s", a.body);
    stop();
}

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

/* Which a driver would not survive, and the server with it. */
Test(serve, where_memory_cannot_become_code_there_is_no_picture)
{
    if (prctl(PR_SET_MDWE, 1, 0, 0, 0) != 0)
        cr_skip_test("this kernel cannot forbid it");
    start("--count 10");
    refuses(503, "GET", picture, "", NULL, "no_picture");
    cr_expect(has("MemoryDenyWriteExecute"), "%s", a.body);
    stop();
}

/* ---- results ---- */

static void leave(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "results/%s", name);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

Test(serve, results_of_an_earlier_life_are_runs_as_well)
{
    static const char whole[] = "{\"benchmarks\": [], \"old\": true}";
    mkdir("results", 0700);
    leave("stress-20260201T000000Z-1.json", whole);
    leave("scale-20260131T120000Z-30.json", "{\"benchmarks\": [], \"context\": {\"partial\": true}}");
    leave("scale-20260202T000000Z-2.json", "{\"bench");
    leave("scale-20260202T000000Z-3.json", "[]");
    mkdir("results/scale-20260203T000000Z-1.json", 0700);
    cr_assert_eq(symlink("stress-20260201T000000Z-1.json", "results/scale-20260204T000000Z-1.json"), 0);
    mkfifo("results/scale-20260205T000000Z-1.json", 0600);
    static const char *const others[] = {"scale-20260203T000000Z-01.json",  "scale-20260203T000000Z-1.json.tmp",
                                         "serve-20260203T000000Z-1.json",   "scale-20260203T00000Z-1.json",
                                         "scale-20260203T000000Z--1.json",  "scale-20260203T000000Z-1 .json",
                                         "x-scale-20260203T000000Z-1.json", "scale.json"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        leave(others[i], whole);
    start("--count 10 --results results");
    json_t *all = server_document(&s, "/api/runs"), *runs = json_object_get(all, "runs");
    cr_assert_eq(json_array_size(runs), 2);
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(runs, 0), "file")),
                     "stress-20260201T000000Z-1.json");
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(runs, 1), "started")), "2026-01-31T12:00:00Z");
    cr_expect(json_is_true(json_object_get(json_array_get(runs, 1), "restored")));
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(runs, 0), "state")), "done");
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(runs, 1), "state")), "cancelled");
    json_decref(all);
    cr_expect_eq(ask("GET", "/api/runs/1/result", NULL), 200);
    cr_expect_str_eq(a.body, "{\"benchmarks\": [], \"context\": {\"partial\": true}}");
    refuses(409, "DELETE", "/api/runs/1", "", NULL, "run_ended");
    cr_expect_eq(ask("POST", "/api/runs", small_run), 202);
    cr_expect(has("\"id\":3,") && has("\"restored\":false"), "%s", a.body);
    cr_expect(comes("/api/runs/3", "\"state\":\"done\""), "%s", a.body);
    stop();
    int skipped = 0;
    for (const char *at = err; (at = strstr(at, " is ignored: ")); at++)
        skipped++;
    cr_expect_eq(skipped, 5, "%s", err);
}

Test(serve, of_many_results_the_newest_are_runs)
{
    char name[64];
    mkdir("results", 0700);
    for (int day = 28; day > 0; day--) {
        snprintf(name, sizeof name, "scale-202601%02dT120000Z-%d.json", day % 14 + 1, day);
        leave(name, "{\"benchmarks\": []}");
    }
    start("--count 10 --results results");
    json_t *all = server_document(&s, "/api/runs"), *runs = json_object_get(all, "runs");
    cr_expect_eq(json_array_size(runs), 15);
    for (size_t i = 0; i < 15; i++) {
        snprintf(name, sizeof name, "scale-202601%02dT120000Z-%d.json", (int)(14 - i / 2),
                 (int)(13 - i / 2 + 14 - i % 2 * 14));
        cr_expect_str_eq(json_string_value(json_object_get(json_array_get(runs, i), "file")), name);
    }
    json_decref(all);
    stop();
}
