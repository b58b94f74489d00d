/* Inside, since addresses are made up that no client here has. Who may ask: the request filter with its token, and
 * addresses. */
#include "src/serve/http/address.h"
#include "src/serve/http/request_filter.h"

#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static th_request_filter filter;
static th_rejection rejection;

static th_request_headers plain_headers(void)
{
    return (th_request_headers){.method = "GET", .path = "/api/state", .host = "127.0.0.1:8347"};
}

static unsigned status_of(const th_request_headers *headers, th_access access)
{
    rejection.status = 0;
    if (th_request_filter_check_headers(&filter, headers, &rejection) &&
        th_request_filter_check_access(&filter, headers, access, &rejection))
        return 200;
    return rejection.status;
}

Test(request_filter, host_is_an_address_localhost_or_a_name_of_ours)
{
    static const struct {
        const char *host;
        unsigned status;
    } cases[] = {
        {"127.0.0.1:8347", 200},
        {"localhost", 200},
        {"LOCALHOST:1", 200},
        {"[::1]:8347", 200},
        {"192.168.0.7", 200},
        {"throng.example", 200},
        {"evil.example", 421},
        {"127.0.0.1.evil.example", 421},
        {"localhost.evil", 421},
        {"throng.example.:1", 421},
        {"", 421},
        {"[::1", 421},
        {"localhost:80x", 421},
        {"localhost@evil", 421},
        {NULL, 400},
    };
    filter.hosts[filter.host_count++] = "throng.example";
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        th_request_headers headers = plain_headers();
        headers.host = cases[c].host;
        cr_expect_eq(status_of(&headers, (th_access){0}), cases[c].status, "%s: %u", cases[c].host, rejection.status);
    }
}

Test(request_filter, an_origin_must_be_the_host)
{
    static const struct {
        const char *origin;
        unsigned status;
    } cases[] = {
        {"http://127.0.0.1:8347", 200},
        {"https://127.0.0.1:8347", 200},
        {"http://127.0.0.1:8348", 403},
        {"http://evil.example", 403},
        {"null", 403},
        {"", 403},
        {"http://127.0.0.1", 403},
        {"http://127.0.0.1:8347.evil", 403},
        {"file://127.0.0.1:8347", 403},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        th_request_headers headers = plain_headers();
        headers.origin = cases[c].origin;
        cr_expect_eq(status_of(&headers, (th_access){.open = true}), cases[c].status, "%s", cases[c].origin);
    }
}

Test(request_filter, requests_that_other_sites_cause_reach_only_what_is_open)
{
    th_request_headers headers = plain_headers();
    headers.fetch_site = "cross-site";
    cr_expect_eq(status_of(&headers, (th_access){0}), 403);
    cr_expect_eq(status_of(&headers, (th_access){.open = true}), 200);
    headers.fetch_site = "same-site";
    cr_expect_eq(status_of(&headers, (th_access){0}), 403);
    headers.fetch_site = "same-origin";
    cr_expect_eq(status_of(&headers, (th_access){0}), 200);
    headers.fetch_site = "none";
    cr_expect_eq(status_of(&headers, (th_access){0}), 200);
}

Test(request_filter, a_token_is_asked_for_but_by_what_is_open)
{
    static const struct {
        const char *authorization;
        unsigned status;
    } cases[] = {
        {"Bearer correct-horse-battery", 200},
        {"bearer correct-horse-battery", 200},
        {"Bearer correct-horse-batterz", 401},
        {"Bearer correct-horse-batter", 401},
        {"Bearer correct-horse-batteryy", 401},
        {"Bearer ", 401},
        {"Basic correct-horse-battery", 401},
        {"correct-horse-battery", 401},
        {"", 401},
        {"Bearer correct-horse-batterycorrect-horse-battery", 401},
        {NULL, 401},
    };
    strcpy(filter.token.text, "correct-horse-battery");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        th_request_headers headers = plain_headers();
        headers.authorization = cases[c].authorization;
        cr_expect_eq(status_of(&headers, (th_access){0}), cases[c].status, "%s", cases[c].authorization);
        cr_expect_eq(status_of(&headers, (th_access){.open = true}), 200);
    }
}

Test(request_filter, a_body_is_json_of_a_length_that_is_known_and_bearable)
{
    static const struct {
        const char *type, *length, *encoding;
        unsigned status;
    } cases[] = {
        {"application/json", "16384", NULL, 200},
        {"Application/JSON; charset=utf-8", "0", NULL, 200},
        {"application/json", NULL, "chunked", 200},
        {"application/json", "16385", NULL, 413},
        {"application/json", "99999999999999999999999", NULL, 413},
        {"application/json", NULL, NULL, 411},
        {"text/plain", "5", NULL, 415},
        {"application/jsonp", "5", NULL, 415},
        {"application/x-www-form-urlencoded", "5", NULL, 415},
        {NULL, "5", NULL, 415},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        th_request_headers headers = plain_headers();
        headers.content_type = cases[c].type;
        headers.content_length = cases[c].length;
        headers.transfer_encoding = cases[c].encoding;
        cr_expect_eq(status_of(&headers, (th_access){.has_body = true}), cases[c].status, "%s %s", cases[c].type,
                     cases[c].length);
    }
}

Test(request_filter, what_can_be_read_two_ways_is_refused)
{
    th_request_headers headers = plain_headers();
    headers.repeats = true;
    cr_expect_eq(status_of(&headers, (th_access){0}), 400);
    cr_expect_str_eq(rejection.code, "ambiguous");
    headers.repeats = false;
    headers.content_length = "0";
    headers.transfer_encoding = "chunked";
    cr_expect_eq(status_of(&headers, (th_access){0}), 400);
    cr_expect_str_eq(rejection.code, "ambiguous");
}

/* ---- token and address ---- */

static th_result read_token(const char *line, th_token *out)
{
    char path[] = "/tmp/throng-token-XXXXXX";
    const int fd = mkstemp(path);
    th_error err;
    cr_assert(fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line));
    close(fd);
    const th_result result = th_token_read(path, out, &err);
    unlink(path);
    return result;
}

Test(token, is_the_first_line_of_a_file)
{
    th_token token;
    static char long_line[400];
    memset(long_line, 'x', sizeof long_line - 1);
    cr_expect_eq(read_token("0123456789abcdef\r\nmore\n", &token), TH_OK);
    cr_expect_str_eq(token.text, "0123456789abcdef");
    cr_expect_eq(read_token("0123456789abcde\n", &token), TH_ERR_INPUT);
    cr_expect_str_eq(token.text, "");
    cr_expect_eq(read_token("0123456789 abcdef\n", &token), TH_ERR_INPUT);
    cr_expect_eq(read_token("", &token), TH_ERR_INPUT);
    cr_expect_eq(read_token(long_line, &token), TH_ERR_INPUT);
    cr_expect_eq(th_token_read("/nowhere/token", &token, NULL), TH_ERR_INPUT);
}

/* Memory and environment of such a process are root's. */
Test(token, keeps_other_programs_of_the_user_out_of_the_process)
{
    th_token token;
    cr_expect_eq(th_token_read(NULL, &token, NULL), TH_OK);
    cr_expect_eq(prctl(PR_GET_DUMPABLE), 1);
    cr_expect_eq(read_token("0123456789abcdef\n", &token), TH_OK);
    cr_expect_eq(prctl(PR_GET_DUMPABLE), 0);
}

Test(address, is_understood_and_printed)
{
    static const struct {
        const char *text, *printed;
        bool loopback;
    } cases[] = {
        {"127.0.0.1:8080", "127.0.0.1:8080", true},
        {"127.9.9.9", "127.9.9.9:8347", true},
        {"[::1]:0", "[::1]:0", true},
        {"::1", "[::1]:8347", true},
        {"0.0.0.0:65535", "0.0.0.0:65535", false},
        {"[::]:8347", "[::]:8347", false},
        {"[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:1", true},
    };
    th_address address;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        cr_assert_eq(th_address_parse(cases[c].text, &address, NULL), TH_OK, "%s", cases[c].text);
        cr_expect_str_eq(th_address_print((void *)&address.bytes).text, cases[c].printed);
        cr_expect_eq(th_address_is_loopback((void *)&address.bytes), cases[c].loopback, "%s", cases[c].text);
    }
    static const char *const wrong[] = {"",       ":80",  "127.0.0.1:",   "127.0.0.1:65536",       "127.0.0.1:8o",
                                        "[::1]x", "[::1", "127.0.0.1:-1", "no.such.host.invalid:1"};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++)
        cr_expect_eq(th_address_parse(wrong[w], &address, NULL), TH_ERR_INPUT, "%s", wrong[w]);
}
