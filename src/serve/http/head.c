#include "head.h"

#include <string.h>
#include <strings.h>

/* A line without its CRLF. */
typedef struct line {
    const char *text;
    size_t length;
} line;

/* What the lines so far say. lengths: Content-Length and Transfer-Encoding. */
typedef struct head {
    unsigned minor_version, fields, hosts, lengths;
} head;

static bool reject(th_rejection *out, unsigned status, const char *code, const char *message)
{
    *out = (th_rejection){status, code, message};
    return false;
}

static bool malformed(th_rejection *out, const char *message)
{
    return reject(out, 400, "bad_request", message);
}

static size_t token_length(line l)
{
    static const char allowed[] = "!#$%&'*+-.^_`|~0123456789"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    size_t length = 0;
    while (length < l.length && memchr(allowed, l.text[length], sizeof allowed - 1))
        length++;
    return length;
}

static bool is(line l, const char *word)
{
    return l.length == strlen(word) && strncasecmp(l.text, word, l.length) == 0;
}

static line behind(line l, size_t begin)
{
    return (line){l.text + begin, l.length - begin};
}

/* ---- the request line ---- */

static bool check_arguments(line target, th_rejection *out)
{
    unsigned count = 1;
    const char *query = memchr(target.text, '?', target.length);
    for (const char *c = query; c && c < target.text + target.length; c++)
        count += *c == '&';
    return count <= TH_HEAD_ARGUMENTS || reject(out, 400, "bad_query", "a query has at most 400 arguments");
}

static bool check_request_line(head *h, line l, th_rejection *out)
{
    const size_t method = token_length(l);
    if (method == 0 || method == l.length || l.text[method] != ' ')
        return malformed(out, "the request line does not begin with a method");
    line target = behind(l, method + 1);
    size_t length = 0;
    while (length < target.length && target.text[length] > ' ' && target.text[length] <= '~')
        length++;
    const line version = behind(target, length);
    target.length = length;
    h->minor_version = is(version, " HTTP/1.1");
    if (length == 0 || (!is(version, " HTTP/1.0") && !is(version, " HTTP/1.1")))
        return malformed(out, "the request line is not METHOD TARGET HTTP/1.1");
    return check_arguments(target, out);
}

/* ---- fields ---- */

static bool is_number(line l)
{
    size_t digits = 0;
    while (digits < l.length && l.text[digits] >= '0' && l.text[digits] <= '9')
        digits++;
    return digits == l.length && digits > 0 && digits < 20;
}

static line trimmed(line l)
{
    while (l.length > 0 && (l.text[0] == ' ' || l.text[0] == '\t'))
        l = behind(l, 1);
    while (l.length > 0 && (l.text[l.length - 1] == ' ' || l.text[l.length - 1] == '\t'))
        l.length--;
    return l;
}

static bool check_field(head *h, line l, th_rejection *out)
{
    const size_t length = token_length(l);
    if (length == 0 || length == l.length || l.text[length] != ':')
        return malformed(out, "a header is not NAME: VALUE, or is folded");
    const line name = {l.text, length}, value = trimmed(behind(l, length + 1));
    if (++h->fields > TH_HEAD_FIELDS)
        return reject(out, 431, "too_many_headers", "a request has at most 100 headers");
    h->hosts += is(name, "Host");
    if (is(name, "Content-Length") && (++h->lengths, !is_number(value)))
        return malformed(out, "Content-Length must be one number");
    if (is(name, "Transfer-Encoding") && (++h->lengths, !is(value, "chunked") || h->minor_version == 0))
        return malformed(out, "Transfer-Encoding must be chunked, of HTTP/1.1");
    return true;
}

static bool check_whole(const head *h, th_rejection *out)
{
    if (h->hosts > 1 || h->lengths > 1)
        return reject(out, 400, "ambiguous", "a header that must be unique is repeated, or two lengths are given");
    return h->hosts == 1 || h->minor_version == 0 || reject(out, 400, "no_host", "the request has no Host header");
}

/* ---- lines ---- */

/* CRLF, and no other control character but tabs before it. */
static bool is_text(const char *begin, const char *end)
{
    if (end == begin || end[-1] != '\r')
        return false;
    for (const char *c = begin; c < end - 1; c++)
        if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
            return false;
    return true;
}

th_head_status th_head_check(const char *bytes, size_t size, th_rejection *out)
{
    head h = {0};
    const char *at = bytes, *end;
    while ((end = memchr(at, '\n', (size_t)(bytes + size - at)))) {
        const line l = {at, (size_t)(end - at) - (end > at)};
        if (!is_text(at, end)) {
            malformed(out, "a line has a control character or no CRLF");
            return TH_HEAD_BAD;
        }
        if (l.length == 0 && at > bytes)
            return check_whole(&h, out) ? TH_HEAD_GOOD : TH_HEAD_BAD;
        if (!(at == bytes ? check_request_line(&h, l, out) : check_field(&h, l, out)))
            return TH_HEAD_BAD;
        at = end + 1;
    }
    if (size < TH_HEAD_BYTES)
        return TH_HEAD_INCOMPLETE;
    if (at == bytes)
        reject(out, 414, "too_long", "the target is too long");
    else
        reject(out, 431, "headers_too_large", "the headers have at most 32768 bytes");
    return TH_HEAD_BAD;
}
