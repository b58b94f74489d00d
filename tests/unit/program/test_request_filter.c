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

/* What libmicrohttpd lets nobody send; the rest: tests/golden/documents/requests.txt. */
Test(request_filter, refuses_what_the_library_does)
{
    static const struct {
        const char *host, *length, *encoding;
        unsigned status;
    } cases[] = {{"localhost", "5", NULL, 200},
                 {"", "5", NULL, 421},
                 {"localhost", "99999999999999999999999", NULL, 413},
                 {"localhost", "0", "chunked", 400}};
    const th_request_filter filter = {0};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        th_rejection rejection = {.status = 200};
        const th_request_headers headers = {.method = "PATCH",
                                            .path = "/api/settings",
                                            .host = cases[c].host,
                                            .content_type = "application/json",
                                            .content_length = cases[c].length,
                                            .transfer_encoding = cases[c].encoding};
        if (th_request_filter_check_headers(&filter, &headers, &rejection))
            th_request_filter_check_access(&filter, &headers, (th_access){.has_body = true}, &rejection);
        cr_expect_eq(rejection.status, cases[c].status, "case %zu: %u", c, rejection.status);
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
