#include "request_filter.h"

#include <core/text_format.h>
#include <serve/log.h>

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/stat.h>

static bool reject(th_rejection *out, unsigned status, const char *code, const char *message)
{
    *out = (th_rejection){status, code, message};
    return false;
}

/* ---- the bytes of a head ---- */

/* A line without its CRLF. */
typedef struct line {
    const char *text;
    size_t length;
} line;

/* What the lines so far say. lengths: Content-Length and Transfer-Encoding. */
typedef struct head {
    unsigned minor_version, fields, hosts, lengths;
} head;

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
    unsigned arguments = 1;
    const char *query = memchr(target.text, '?', target.length);
    for (const char *c = query; c && c < target.text + target.length; c++)
        arguments += *c == '&';
    return arguments <= TH_HEAD_ARGUMENTS || reject(out, 400, "bad_query", "a query has at most 400 arguments");
}

static bool check_field(head *h, line l, th_rejection *out)
{
    const size_t length = token_length(l);
    if (length == 0 || length == l.length || l.text[length] != ':')
        return malformed(out, "a header is not NAME: VALUE, or is folded");
    const line name = {l.text, length};
    line value = behind(l, length + 1);
    while (value.length > 0 && (value.text[0] == ' ' || value.text[0] == '\t'))
        value = behind(value, 1);
    while (value.length > 0 && (value.text[value.length - 1] == ' ' || value.text[value.length - 1] == '\t'))
        value.length--;
    if (++h->fields > TH_HEAD_FIELDS)
        return reject(out, 431, "too_many_headers", "a request has at most 100 headers");
    h->hosts += is(name, "Host");
    size_t digits = 0;
    while (digits < value.length && value.text[digits] >= '0' && value.text[digits] <= '9')
        digits++;
    if (is(name, "Content-Length") && (++h->lengths, digits != value.length || digits == 0 || digits >= 20))
        return malformed(out, "Content-Length must be one number");
    if (is(name, "Transfer-Encoding") && (++h->lengths, !is(value, "chunked") || h->minor_version == 0))
        return malformed(out, "Transfer-Encoding must be chunked, of HTTP/1.1");
    return true;
}

th_head_status th_head_check(const char *bytes, size_t size, th_rejection *out)
{
    head h = {0};
    const char *at = bytes, *end;
    while ((end = memchr(at, '\n', (size_t)(bytes + size - at)))) {
        const line l = {at, (size_t)(end - at) - (end > at)};
        bool is_text = end > at && end[-1] == '\r';
        for (const char *c = at; is_text && c < end - 1; c++)
            is_text = ((unsigned char)*c >= ' ' || *c == '\t') && *c != 0x7f;
        if (!is_text) {
            malformed(out, "a line has a control character or no CRLF");
            return TH_HEAD_BAD;
        }
        if (l.length == 0 && at > bytes) { /* the end: is it whole? */
            if (h.hosts > 1 || h.lengths > 1)
                reject(out, 400, "ambiguous", "a header that must be unique is repeated, or two lengths are given");
            else if (h.hosts == 0 && h.minor_version > 0)
                reject(out, 400, "no_host", "the request has no Host header");
            else
                return TH_HEAD_GOOD;
            return TH_HEAD_BAD;
        }
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

/* ---- the token ---- */

th_result th_token_read(const char *path, th_token *out, th_error *err)
{
    *out = (th_token){""};
    if (!path)
        return TH_OK;
    struct stat status;
    FILE *file = fopen(path, "re");
    if (!file)
        return th_fail(err, TH_ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
    if (fstat(fileno(file), &status) == 0 && (status.st_mode & (S_IRGRP | S_IROTH)))
        th_log(TH_LOG_WARNING, "%s can be read by other users; use chmod 600", path);
    char text[TH_TOKEN_MAX + 3] = ""; /* a line that is too long must not look like one that fits */
    const bool there = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    if (!there)
        return th_fail(err, TH_ERR_INPUT, "%s is empty; its first line must be the token", path);
    const size_t length = strcspn(text, "\r\n");
    text[length] = '\0';
    if (length < TH_TOKEN_MIN || length > TH_TOKEN_MAX)
        return th_fail(err, TH_ERR_INPUT, "the token in %s has %zu character%s; %d to %d are needed", path, length,
                       th_plural(length), TH_TOKEN_MIN, TH_TOKEN_MAX);
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return th_fail(err, TH_ERR_INPUT, "the token in %s has a character that is not visible ASCII", path);
    strcpy(out->text, text);
    prctl(PR_SET_DUMPABLE, 0); /* no other program of this user may look into the memory that has it */
    return TH_OK;
}

/* Whether "Bearer ..." (NULL: no such header) contains the token. Takes the same time for wrong and right tokens of the
 * same length. */
static bool token_matches(const th_token *token, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
        return false;
    const char *shown = authorization + sizeof scheme - 1;
    const size_t length = strlen(shown), wanted = strlen(token->text);
    volatile size_t difference = length ^ wanted;
    for (size_t i = 0; i < length; i++)
        difference |= (size_t)(unsigned char)(shown[i] ^ token->text[wanted ? i % wanted : 0]);
    return difference == 0;
}

/* ---- headers ---- */

/* host: "name:port" or "[address]:port"; NULL: the client does not say. An address in Host was typed by the user. Only
 * a name can be made to point here by others. */
static bool is_ours(const th_request_filter *filter, const char *host)
{
    char name[256];
    struct in6_addr ignored;
    if (!host)
        return true;
    const bool bracket = host[0] == '[';
    const char *begin = host + bracket, *end = bracket ? strchr(host, ']') : strchr(host, ':');
    const char *port = end && bracket ? end + 1 : end;
    if (!end)
        end = begin + strlen(begin);
    if (bracket && !port)
        return false;
    if (port && *port != '\0' && (*port != ':' || port[1 + strspn(port + 1, "0123456789")] != '\0'))
        return false;
    if (snprintf(name, sizeof name, "%.*s", (int)(end - begin), begin) >= (int)sizeof name)
        return false;
    if (inet_pton(AF_INET, name, &ignored) == 1 || inet_pton(AF_INET6, name, &ignored) == 1 ||
        strcasecmp(name, "localhost") == 0)
        return true;
    for (unsigned h = 0; h < filter->host_count; h++)
        if (strcasecmp(name, filter->hosts[h]) == 0)
            return true;
    return false;
}

/* What follows "http://", or "https://" since a proxy in front may use TLS; NULL: neither. */
static const char *behind_scheme(const char *url)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (int s = 0; s < 2; s++)
        if (strncasecmp(url, schemes[s], strlen(schemes[s])) == 0)
            return url + strlen(schemes[s]);
    return NULL;
}

void th_request_headers_split_target(th_request_headers *headers)
{
    const char *host = behind_scheme(headers->path);
    if (!host)
        return;
    const size_t length = strcspn(host, "/");
    headers->is_absolute = true;
    if (length < sizeof headers->target_host)
        memcpy(headers->target_host, host, length);
    headers->path = host[length] ? host + length : "/";
}

bool th_request_filter_check_headers(const th_request_filter *filter, const th_request_headers *headers,
                                     th_rejection *out)
{
    assert(filter->host_count <= TH_REQUEST_FILTER_HOSTS && headers->method && headers->path);
    if (headers->repeats || (headers->content_length && headers->transfer_encoding))
        return reject(out, 400, "ambiguous", "a header that must be unique is repeated, or two lengths are given");
    const char *target_host = headers->is_absolute ? headers->target_host : headers->host;
    if (!is_ours(filter, headers->host) || !is_ours(filter, target_host))
        return reject(out, 421, "bad_host", "unknown name in the Host header (--allow-host adds one)");
    const char *origin = headers->origin ? behind_scheme(headers->origin) : NULL;
    if (headers->origin && (!origin || !target_host || strcasecmp(origin, target_host) != 0))
        return reject(out, 403, "foreign_origin", "cross-origin requests are not allowed");
    return true;
}

/* ---- a resource ---- */

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    if (!type || strncasecmp(type, json, sizeof json - 1) != 0)
        return false;
    const char *rest = type + sizeof json - 1 + strspn(type + sizeof json - 1, " \t");
    return *rest == '\0' || *rest == ';';
}

bool th_request_filter_check_access(const th_request_filter *filter, const th_request_headers *headers,
                                    th_access access, th_rejection *out)
{
    const char *site = headers->fetch_site;
    if (!access.open && site && strcasecmp(site, "same-origin") != 0 && strcasecmp(site, "none") != 0)
        return reject(out, 403, "foreign_origin", "cross-origin requests are not allowed");
    if (!access.open && filter->token.text[0] && !token_matches(&filter->token, headers->authorization))
        return reject(out, 401, "no_token", "this needs the server's token: Authorization: Bearer TOKEN");
    if (headers->content_length && strtoull(headers->content_length, NULL, 10) > TH_REQUEST_FILTER_BODY_BYTES)
        return reject(out, 413, "too_large", "a body has at most 16384 bytes");
    if (!access.has_body)
        return true;
    if (!is_json(headers->content_type))
        return reject(out, 415, "not_json", "the body must have Content-Type: application/json");
    if (!headers->content_length && !headers->transfer_encoding) /* chunks are counted while they arrive */
        return reject(out, 411, "no_length", "the request has no Content-Length");
    return true;
}
