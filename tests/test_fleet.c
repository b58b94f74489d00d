/* A server that shows others: what it asks for, what it makes of bad answers, and what a fleet of processes adds up
 * to. */
#include "fixture_program.h"
#include "fixture_server.h"
#include "serve/fleet/http_get.h"
#include "serve/fleet/labelled_metrics.h"

#include <throng/core/clock.h>

#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

TestSuite(fleet, .init = make_folder, .fini = remove_folder);

/* ---- metrics ---- */

static void expect_metrics(const th_labelled_text *texts, uint32_t count, const char *wanted)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    th_labelled_metrics_write(file, texts, count);
    fclose(file);
    cr_expect_str_eq(text, wanted);
    free(text);
}

Test(fleet, metrics_of_a_family_stand_together_with_whose_they_are)
{
    static const char first[] = "# HELP a_total Number of a.\n# TYPE a_total counter\na_total 7\n"
                                "# HELP h Times.\n# TYPE h histogram\nh_bucket{le=\"0.1\"} 3\nh_sum 0.5\nh_count 4\n";
    static const char second[] = "# HELP h Times, in other words.\n# TYPE h histogram\nh_bucket{le=\"0.1\"} 1\n"
                                 "h_sum 2\nh_count 1\n# HELP b Only here.\n# TYPE b gauge\nb{x=\"}\"} 1\n"
                                 "# HELP a_total Number of a.\n# TYPE a_total counter\na_total 5";
    const th_labelled_text texts[] = {{"one:1", first}, {"gone", NULL}, {"two \"2\"", second}};
    expect_metrics(texts, 3,
                   "# HELP a_total Number of a.\n# TYPE a_total counter\na_total{instance=\"one:1\"} 7\n"
                   "a_total{instance=\"two \\\"2\\\"\"} 5\n"
                   "# HELP h Times.\n# TYPE h histogram\nh_bucket{instance=\"one:1\",le=\"0.1\"} 3\n"
                   "h_sum{instance=\"one:1\"} 0.5\nh_count{instance=\"one:1\"} 4\n"
                   "h_bucket{instance=\"two \\\"2\\\"\",le=\"0.1\"} 1\nh_sum{instance=\"two \\\"2\\\"\"} 2\n"
                   "h_count{instance=\"two \\\"2\\\"\"} 1\n"
                   "# HELP b Only here.\n# TYPE b gauge\nb{instance=\"two \\\"2\\\"\",x=\"}\"} 1\n");
}

/* What a server that is none may say: nothing of it gets into another family. */
Test(fleet, metrics_of_a_stranger_do_not_pass_for_those_of_others)
{
    const th_labelled_text texts[] = {
        {"own", "# HELP up_s Age.\n# TYPE up_s gauge\nup_s 1\n"},
        {"bad",
         "lost 1\n# HELP up_s x\nup_s 2\nother 3\n# HELP throng_fleet_up y\nthrong_fleet_up 1\n\n# HELP \nz 1\n"},
    };
    expect_metrics(texts, 2,
                   "# HELP up_s Age.\n# TYPE up_s gauge\nup_s{instance=\"own\"} 1\nup_s{instance=\"bad\"} 2\n");
}

/* ---- asking ---- */

/* A server that says the same to everybody. */
typedef struct parrot {
    int fd;
    th_address address;
    char answer[4096], request[2048];
    size_t size;
    useconds_t pause; /* before each byte */
    pthread_t thread;
} parrot;

static void *speak(void *arg)
{
    parrot *p = arg;
    const int fd = accept(p->fd, NULL, NULL);
    size_t got = 0;
    while (!strstr(p->request, "\r\n\r\n") && got + 1 < sizeof p->request) {
        const ssize_t now = recv(fd, p->request + got, sizeof p->request - 1 - got, 0);
        if (now <= 0)
            break;
        got += (size_t)now;
    }
    for (size_t i = 0; i < p->size; i += p->pause ? 1 : p->size) {
        usleep(p->pause);
        if (send(fd, p->answer + i, p->pause ? 1 : p->size, MSG_NOSIGNAL) < 0)
            break;
    }
    close(fd);
    return NULL;
}

static void start_parrot(parrot *p, const char *says, useconds_t pause)
{
    *p = (parrot){.size = strlen(says), .pause = pause};
    memcpy(p->answer, says, p->size);
    cr_assert_eq(th_address_parse("--join", "127.0.0.1:0", &p->address, NULL), TH_OK);
    p->fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(p->fd, (struct sockaddr *)&p->address.bytes, p->address.size), 0);
    cr_assert_eq(listen(p->fd, 4), 0);
    getsockname(p->fd, (struct sockaddr *)&p->address.bytes, &p->address.size);
    cr_assert_eq(pthread_create(&p->thread, NULL, speak, p), 0);
}

static th_result get(parrot *p, const char *token, int stop_fd, char **body, th_error *error)
{
    th_token t = {""};
    size_t size = 0;
    snprintf(t.text, sizeof t.text, "%s", token);
    const th_http_get_desc desc = {&p->address, "name:1", "/path", &t, 500, 20000, stop_fd};
    const th_result result = th_http_get(&desc, body, &size, error);
    if (result == TH_OK)
        cr_expect_eq(strlen(*body), size);
    close(p->fd);
    pthread_join(p->thread, NULL);
    return result;
}

Test(fleet, an_answer_is_read_whole_and_the_token_is_sent)
{
    parrot p;
    th_error error;
    char *body;
    start_parrot(&p, "HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length:  5\r\n\r\nab\r\nc", 1000);
    cr_assert_eq(get(&p, "0123456789abcdef", -1, &body, &error), TH_OK, "%s", error.text);
    cr_expect_str_eq(body, "ab\r\nc");
    free(body);
    cr_expect_str_eq(p.request, "GET /path HTTP/1.1\r\nHost: name:1\r\nConnection: close\r\n"
                                "Authorization: Bearer 0123456789abcdef\r\n\r\n");
    start_parrot(&p, "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 0);
    cr_assert_eq(get(&p, "", -1, &body, &error), TH_OK, "%s", error.text);
    cr_expect_str_eq(body, "");
    free(body);
    cr_expect_null(strstr(p.request, "Authorization"));
}

Test(fleet, a_bad_answer_is_an_error_that_says_why)
{
    static const struct {
        const char *answer, *error;
    } cases[] = {
        {"", "no HTTP"},
        {"HTTP/1.1 200 OK\r\n", "no HTTP"},
        {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "no HTTP"},
        {"HTTP/1.1 200 OK\r\n\r\nbody", "does not say where it ends"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody", "ends early"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nbody", "ends early"},
        {"HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", "does not say"},
        {"HTTP/1.1 200 OK\r\nX: \r\n\r\nContent-Length: 4\r\n\r\n", "does not say"},
        {"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "another token (status 401)"},
        {"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "status 503"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parrot p;
        th_error error = {0};
        char *body;
        start_parrot(&p, cases[i].answer, 0);
        cr_expect_eq(get(&p, "", -1, &body, &error), TH_ERR_ENVIRONMENT, "%s", cases[i].answer);
        cr_expect_not_null(strstr(error.text, cases[i].error), "%s: %s", cases[i].answer, error.text);
        cr_expect_null(body);
    }
}

/* Byte after byte, but never to the end in time; and one that is told to stop. */
Test(fleet, a_slow_server_is_given_up)
{
    parrot p;
    th_error error;
    char *body;
    const uint64_t begin_ns = th_clock_ns();
    start_parrot(&p, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n............................................",
                 30000);
    cr_expect_eq(get(&p, "", -1, &body, &error), TH_ERR_ENVIRONMENT);
    cr_expect_str_eq(error.text, "no answer within 500 ms");
    const int stop_fd = eventfd(1, 0);
    start_parrot(&p, "HTTP/1.1 200 OK\r\n\r\n", 100000);
    cr_expect_eq(get(&p, "", stop_fd, &body, &error), TH_ERR_ENVIRONMENT);
    cr_expect_str_eq(error.text, "given up");
    close(stop_fd);
    cr_expect_lt(th_clock_ns() - begin_ns, 30e9);
}

Test(fleet, an_endless_answer_is_cut)
{
    static char endless[4096];
    parrot p;
    th_error error;
    char *body;
    memset(endless, 'a', sizeof endless - 1);
    start_parrot(&p, endless, 0);
    th_token none = {""};
    size_t size;
    const th_http_get_desc desc = {&p.address, "name:1", "/", &none, 5000, 1000, -1};
    cr_expect_eq(th_http_get(&desc, &body, &size, &error), TH_ERR_ENVIRONMENT);
    close(p.fd);
    pthread_join(p.thread, NULL);
    cr_expect_str_eq(error.text, "the answer has more than 1000 bytes");
}

/* ---- processes ---- */

static double number_at(const json_t *json, const char *a, const char *b)
{
    return json_number_value(json_object_get(json_object_get(json, a), b));
}

static const json_t *instance_at(const json_t *fleet, size_t index)
{
    return json_array_get(json_object_get(fleet, "instances"), index);
}

/* Asks until so many are up, for as long as a loaded machine may take. */
static json_t *fleet_with(const server *front, int up)
{
    json_t *fleet = server_document(front, "/api/fleet");
    for (int i = 0; i < 300 && (int)number_at(fleet, "sum", "up") != up; i++) {
        json_decref(fleet);
        usleep(100000);
        fleet = server_document(front, "/api/fleet");
    }
    cr_assert_eq((int)number_at(fleet, "sum", "up"), up);
    return fleet;
}

Test(fleet, adds_up_the_servers_that_answer)
{
    static answer a;
    server first, second, front;
    char arguments[256], sample[128];
    cr_assert(server_start(&first, "--count 30 --threads 1"));
    cr_assert(server_start(&second, "--count 12 --threads 1"));
    snprintf(arguments, sizeof arguments,
             "--count 5 --threads 1 --join 127.0.0.1:%d --join 127.0.0.1:%d --join 127.0.0.1:1", first.port,
             second.port);
    cr_assert(server_start(&front, arguments));
    json_t *fleet = fleet_with(&front, 3);
    cr_expect_eq(number_at(fleet, "sum", "instances"), 4);
    cr_expect_eq(number_at(fleet, "sum", "characters"), 47);
    cr_expect_eq(number_at(fleet, "sum", "bones"), 47 * 52);
    cr_expect_eq(number_at(json_object_get(instance_at(fleet, 1), "state"), "crowd", "characters"), 30);
    cr_expect(json_is_null(json_object_get(instance_at(fleet, 3), "state")));
    cr_expect_str_eq(json_string_value(json_object_get(instance_at(fleet, 3), "error")),
                     "cannot connect: Connection refused");
    json_decref(fleet);
    server_ask(&front, "GET", "/metrics/fleet", "", NULL, &a);
    cr_expect_eq(a.status, 200);
    snprintf(sample, sizeof sample, "throng_characters{instance=\"127.0.0.1:%d\"} 12\n", second.port);
    cr_expect_not_null(strstr(a.body, sample));
    cr_expect_not_null(strstr(a.body, "throng_fleet_up{instance=\"127.0.0.1:1\"} 0\n"));
    cr_expect_eq(server_end(&second, SIGKILL), -1);
    fleet = fleet_with(&front, 2);
    cr_expect_eq(number_at(fleet, "sum", "characters"), 35);
    cr_expect(json_is_null(json_object_get(instance_at(fleet, 2), "state")));
    json_decref(fleet);
    cr_expect_eq(server_end(&front, SIGTERM), 0);
    cr_expect_eq(server_end(&first, SIGTERM), 0);
}

Test(fleet, a_server_with_another_token_is_said_to_have_one)
{
    server member, front;
    char arguments[256];
    setenv("THRONG_TOKEN", "0123456789abcdef", 1);
    cr_assert(server_start(&member, "--count 3 --threads 1"));
    unsetenv("THRONG_TOKEN");
    snprintf(arguments, sizeof arguments, "--count 3 --threads 1 --join 127.0.0.1:%d", member.port);
    cr_assert(server_start(&front, arguments));
    const json_t *error = NULL;
    json_t *fleet = NULL;
    for (int i = 0; i < 300 && (!error || !strstr(json_string_value(error), "token")); i++) {
        json_decref(fleet);
        usleep(100000);
        fleet = server_document(&front, "/api/fleet");
        error = json_object_get(instance_at(fleet, 1), "error");
    }
    cr_expect_not_null(strstr(json_string_value(error), "another token (status 401)"));
    json_decref(fleet);
    cr_expect_eq(server_end(&front, SIGTERM), 0);
    cr_expect_eq(server_end(&member, SIGTERM), 0);
}

Test(fleet, addresses_without_sense_are_refused_before_anything_starts)
{
    expect(2, "serve --join nonsense:x", "--join takes ADDRESS:PORT");
    expect(2, "serve --join 127.0.0.1:1 --join 127.0.0.1:1",
           "--join 127.0.0.1:1 and --join 127.0.0.1:1 are one server");
    expect(2, "serve --join [::1]:8347 --join ::1", "--join [::1]:8347 and --join ::1 are one server");
    expect(2, "serve --listen 127.0.0.1:9 --join localhost:1 --join 127.0.0.1:9",
           "--join 127.0.0.1:9 is this server itself");
    expect(2, "serve --join ''", "server");
}
