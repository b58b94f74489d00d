/* Inside, since libmicrohttpd would repair some of these bytes first. Heads of requests as bytes: what may be passed
 * on to a library that repairs what it reads. */
#include "src/serve/http/request_filter.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#define GET  "GET /healthz HTTP/1.1\r\n"
#define HOST "Host: localhost\r\n"

static th_rejection rejection;

static unsigned status_of(const char *bytes, size_t size)
{
    switch (th_head_check(bytes, size, &rejection)) {
    case TH_HEAD_INCOMPLETE:
        return 0;
    case TH_HEAD_GOOD:
        return 200;
    default:
        return rejection.status;
    }
}

#define EXPECT(status, text)                                                                                           \
    cr_expect_eq(status_of(text, sizeof text - 1), status, "%s: %u", text, status_of(text, sizeof text - 1))

Test(head, good_ones_are_good_and_every_part_of_one_is_incomplete)
{
    static const char head[] = "PATCH /api/settings?a=%00&b HTTP/1.1\r\n" HOST "X-a!#$%&'*+.^_`|~: \t\xc3\xa4 \x7e \r\n"
                               "Content-Length:\t5 \r\nEmpty:\r\n\r\n";
    for (size_t size = 0; size + 1 < sizeof head; size++)
        cr_expect_eq(status_of(head, size), 0, "%zu bytes", size);
    EXPECT(200, head);
    EXPECT(200, "GET / HTTP/1.0\r\n\r\n");
    EXPECT(200, GET HOST "Transfer-Encoding: Chunked\r\n\r\n");
    EXPECT(200, GET HOST "\r\nGET /next HTTP/9\n");
}

Test(head, request_lines_are_three_words)
{
    EXPECT(400, "\r\n" GET HOST "\r\n");
    EXPECT(400, " GET / HTTP/1.1\r\n");
    EXPECT(400, "GET  / HTTP/1.1\r\n");
    EXPECT(400, "GET / HTTP/1.1 \r\n");
    EXPECT(400, "GET\t/ HTTP/1.1\r\n");
    EXPECT(400, "G(T / HTTP/1.1\r\n");
    EXPECT(400, "GET /a b HTTP/1.1\r\n");
    EXPECT(400, "GET /\0 HTTP/1.1\r\n");
    EXPECT(400, "GET /\xc3\xa4 HTTP/1.1\r\n");
    EXPECT(400, "GET / HTTP/1.2\r\n");
    EXPECT(400, "GET / HTTP/2.0\r\n");
    EXPECT(400, "GET /\r\n");
    EXPECT(400, "GET / HTTP/1.1\n" HOST "\r\n");
}

/* Heads that begin so, with one of these fields each. */
static void expect_refused(const char *begin, const char *const *fields)
{
    char text[256];
    for (; *fields; fields++) {
        const int size = snprintf(text, sizeof text, "%s%s\r\n\r\n", begin, *fields);
        cr_expect_eq(status_of(text, (size_t)size), 400, "%s", text);
    }
}

Test(head, fields_are_tokens_with_a_colon_on_one_line)
{
    static const char *const fields[] = {"X : y",  " X: y",        "X: y\r\n z", "X: y\r\n\tz", "X",      ": y",
                                         "X(): z", "X\xc3\xa4: z", "X: a\rb",    "X: a\x7f",    "X: a\n", NULL};
    expect_refused(GET HOST, fields);
    EXPECT(400, GET HOST "X\0Y: z\r\n\r\n");
    EXPECT(400, GET HOST "X: a\0b\r\n\r\n");
    EXPECT(400, GET HOST "\n");
}

Test(head, a_request_ends_in_one_place_and_names_one_host)
{
    static const char *const lengths[] = {"+5", "-5", "0x5", "5 5", "5, 5", "", "18446744073709551616", NULL};
    static const char *const encodings[] = {"gzip, chunked", "identity", "xchunked", "\vchunked", NULL};
    static const char *const twice[] = {"Content-Length: 5\r\ncontent-length: 5",
                                        "Content-Length: 5\r\nTransfer-Encoding: chunked",
                                        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", NULL};
    expect_refused(GET HOST "Content-Length: ", lengths);
    expect_refused(GET HOST "Transfer-Encoding: ", encodings);
    expect_refused(GET HOST, twice);
    EXPECT(400, "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n");
    EXPECT(400, GET "\r\n");
    EXPECT(400, GET HOST HOST "\r\n");
}

Test(head, sizes_have_limits)
{
    static char head[TH_HEAD_BYTES + 1];
    for (int arguments = TH_HEAD_ARGUMENTS; arguments <= TH_HEAD_ARGUMENTS + 1; arguments++) {
        size_t size = (size_t)sprintf(head, "GET /?");
        for (int n = 1; n < arguments; n++)
            size += (size_t)sprintf(head + size, "a&");
        size += (size_t)sprintf(head + size, " HTTP/1.1\r\n" HOST "\r\n");
        cr_expect_eq(status_of(head, size), arguments > TH_HEAD_ARGUMENTS ? 400 : 200, "%d arguments", arguments);
    }
    for (int fields = TH_HEAD_FIELDS; fields <= TH_HEAD_FIELDS + 1; fields++) {
        size_t size = (size_t)sprintf(head, GET HOST);
        for (int n = 1; n < fields; n++)
            size += (size_t)sprintf(head + size, "a:\r\n");
        size += (size_t)sprintf(head + size, "\r\n");
        cr_expect_eq(status_of(head, size), fields > TH_HEAD_FIELDS ? 431 : 200, "%d fields", fields);
    }
    memset(head, 'a', sizeof head);
    memcpy(head, "GET /", 5);
    cr_expect_eq(status_of(head, TH_HEAD_BYTES - 1), 0);
    cr_expect_eq(status_of(head, TH_HEAD_BYTES), 414);
    memcpy(head, GET, strlen(GET));
    cr_expect_eq(status_of(head, TH_HEAD_BYTES), 431);
}
