/* Who may ask: the guard with its token and its throttle, and addresses. */
#include "src/serve/http/address.h"
#include "src/serve/http/request_filter.h"

#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = 0x0100007f};
static th_guard guard;
static th_refusal refusal;

static th_head plain_head(void)
{
    return (th_head){
        .method = "GET", .path = "/api/state", .host = "127.0.0.1:8347", .address = (const void *)&loopback};
}

static unsigned status_of(const th_head *head, th_access access)
{
    refusal.status = 0;
    if (th_guard_admits(&guard, head, 0, &refusal) && th_guard_allows(&guard, head, access, &refusal))
        return 200;
    return refusal.status;
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
    guard.hosts[guard.host_count++] = "throng.example";
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        th_head head = plain_head();
        head.host = cases[c].host;
        cr_expect_eq(status_of(&head, (th_access){0}), cases[c].status, "%s: %u", cases[c].host, refusal.status);
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
        th_head head = plain_head();
        head.origin = cases[c].origin;
        cr_expect_eq(status_of(&head, (th_access){.open = true}), cases[c].status, "%s", cases[c].origin);
    }
}

Test(request_filter, requests_that_other_sites_cause_reach_only_what_is_open)
{
    th_head head = plain_head();
    head.fetch_site = "cross-site";
    cr_expect_eq(status_of(&head, (th_access){0}), 403);
    cr_expect_eq(status_of(&head, (th_access){.open = true}), 200);
    head.fetch_site = "same-site";
    cr_expect_eq(status_of(&head, (th_access){0}), 403);
    head.fetch_site = "same-origin";
    cr_expect_eq(status_of(&head, (th_access){0}), 200);
    head.fetch_site = "none";
    cr_expect_eq(status_of(&head, (th_access){0}), 200);
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
    strcpy(guard.token.text, "correct-horse-battery");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        th_head head = plain_head();
        head.authorization = cases[c].authorization;
        cr_expect_eq(status_of(&head, (th_access){0}), cases[c].status, "%s", cases[c].authorization);
        cr_expect_eq(status_of(&head, (th_access){.open = true}), 200);
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
        th_head head = plain_head();
        head.content_type = cases[c].type;
        head.content_length = cases[c].length;
        head.transfer_encoding = cases[c].encoding;
        cr_expect_eq(status_of(&head, (th_access){.has_body = true}), cases[c].status, "%s %s", cases[c].type,
                     cases[c].length);
    }
}

Test(request_filter, what_makes_no_sense_costs_as_much_as_what_does)
{
    th_head head = plain_head();
    guard.throttle = (th_throttle){.per_s = 1, .counts_loopback = true};
    head.repeats = true;
    cr_expect_eq(status_of(&head, (th_access){0}), 400);
    cr_expect_str_eq(refusal.code, "ambiguous");
    head.repeats = false;
    head.content_length = "0";
    head.transfer_encoding = "chunked";
    cr_expect_eq(status_of(&head, (th_access){0}), 400);
    cr_expect_str_eq(refusal.code, "ambiguous");
    cr_expect_eq(status_of(&head, (th_access){0}), 429);
}

/* ---- throttle ---- */

static th_throttle throttle;

static bool admits(const char *address, double now_s)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    const bool is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;
    cr_assert(is_v4 || inet_pton(AF_INET6, address, &v6.sin6_addr) == 1);
    return th_throttle_admits(&throttle, is_v4 ? (const void *)&v4 : (const void *)&v6, (uint64_t)(now_s * 1e9));
}

Test(rate_limiter, lets_a_burst_through_and_then_the_rate)
{
    throttle.per_s = 10;
    for (int i = 0; i < 20; i++)
        cr_expect(admits("10.0.0.1", 5), "%d", i);
    cr_expect_not(admits("10.0.0.1", 5));
    cr_expect(admits("10.0.0.2", 5), "others do not pay for it");
    cr_expect(admits("10.0.0.1", 5.11));
    cr_expect_not(admits("10.0.0.1", 5.12));
    for (int i = 0; i < 20; i++)
        cr_expect(admits("10.0.0.1", 1000), "%d", i);
    cr_expect_not(admits("10.0.0.1", 1000), "no more is saved than a burst");
}

Test(rate_limiter, admits_one_now_and_then_where_the_rate_is_low)
{
    throttle.per_s = 0.1;
    cr_expect(admits("10.0.0.1", 5));
    cr_expect_not(admits("10.0.0.1", 14));
    cr_expect(admits("10.0.0.1", 15.1));
    cr_expect(admits("10.0.0.1", 1000));
    cr_expect_not(admits("10.0.0.1", 1000));
}

Test(rate_limiter, an_ipv6_customer_is_one_address)
{
    throttle.per_s = 1;
    cr_expect(admits("2001:db8::1", 0));
    cr_expect(admits("2001:db8::2", 0));
    cr_expect_not(admits("2001:db8:0:0:ffff::3", 0));
    cr_expect(admits("2001:db8:0:1::1", 0));
    cr_expect(admits("10.0.0.1", 0));
    cr_expect(admits("::ffff:10.0.0.1", 0));
    cr_expect_not(admits("::ffff:10.0.0.1", 0), "an IPv4 address is the same in either form");
}

Test(rate_limiter, this_machine_counts_only_where_asked)
{
    throttle.per_s = 1;
    for (int i = 0; i < 100; i++)
        cr_expect(admits("127.0.0.1", 0));
    throttle.counts_loopback = true;
    cr_expect(admits("::1", 0));
    cr_expect(admits("::1", 0));
    cr_expect_not(admits("::1", 0));
}

Test(rate_limiter, many_addresses_do_not_make_it_grow_or_forget_the_busy_one)
{
    char address[32];
    throttle.per_s = 1;
    cr_expect(admits("10.0.0.1", 0) && admits("10.0.0.1", 0) && !admits("10.0.0.1", 0));
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(address, sizeof address, "11.%u.%u.1", i / 256, i % 256);
        admits(address, 1e-7 * i);
        cr_expect_not(admits("10.0.0.1", 1e-7 * i), "%u", i);
    }
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

Test(token, or_an_environment_variable_that_no_child_sees)
{
    th_token token;
    setenv(TH_TOKEN_VARIABLE, "0123456789abcdef", 1);
    cr_expect_eq(th_token_read(NULL, &token, NULL), TH_OK);
    cr_expect_str_eq(token.text, "0123456789abcdef");
    cr_expect_eq(getenv(TH_TOKEN_VARIABLE), NULL);
    cr_expect_eq(th_token_read(NULL, &token, NULL), TH_OK);
    cr_expect_str_eq(token.text, "");
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
