#include "request_filter.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool reject(th_rejection *out, unsigned status, const char *code, const char *message)
{
    *out = (th_rejection){status, code, message};
    return false;
}

/* ---- names ---- */

/* Removes the port and brackets from "name:port" or "[address]:port". */
static bool host_name(const char *host, char *out, size_t size)
{
    const bool bracket = host[0] == '[';
    const char *begin = host + bracket, *end = bracket ? strchr(host, ']') : strchr(host, ':');
    const char *port = end && bracket ? end + 1 : end;
    if (!end)
        end = begin + strlen(begin);
    if (bracket && !port)
        return false;
    if (port && *port != '\0' && (*port != ':' || port[1 + strspn(port + 1, "0123456789")] != '\0'))
        return false;
    return snprintf(out, size, "%.*s", (int)(end - begin), begin) < (int)size;
}

/* An address in Host was typed by the user. Only a name can be made to point here by others. */
static bool is_ours(const th_request_filter *filter, const char *host)
{
    char name[256];
    struct in6_addr ignored;
    if (!host_name(host, name, sizeof name))
        return false;
    if (inet_pton(AF_INET, name, &ignored) == 1 || inet_pton(AF_INET6, name, &ignored) == 1 ||
        strcasecmp(name, "localhost") == 0)
        return true;
    for (unsigned h = 0; h < filter->host_count; h++)
        if (strcasecmp(name, filter->hosts[h]) == 0)
            return true;
    return false;
}

/* The scheme is not compared, because a proxy in front may use TLS. */
static bool same_origin(const char *origin, const char *host)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (int s = 0; s < 2; s++)
        if (strncasecmp(origin, schemes[s], strlen(schemes[s])) == 0)
            return strcasecmp(origin + strlen(schemes[s]), host) == 0;
    return false;
}

bool th_request_filter_check_headers(const th_request_filter *filter, const th_request_headers *headers,
                                     th_rejection *out)
{
    assert(filter->host_count <= TH_REQUEST_FILTER_HOSTS && headers->method && headers->path);
    if (headers->repeats || (headers->content_length && headers->transfer_encoding))
        return reject(out, 400, "ambiguous", "a header that must be unique is repeated, or two lengths are given");
    if (!headers->host)
        return reject(out, 400, "no_host", "the request has no Host header");
    if (!is_ours(filter, headers->host))
        return reject(out, 421, "bad_host", "unknown name in the Host header (--allow-host adds one)");
    if (headers->origin && !same_origin(headers->origin, headers->host))
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

static bool body_allowed(const th_request_headers *headers, th_rejection *out)
{
    if (!is_json(headers->content_type))
        return reject(out, 415, "not_json", "the body must have Content-Type: application/json");
    if (headers->transfer_encoding)
        return true; /* chunked: counted while it arrives */
    if (!headers->content_length)
        return reject(out, 411, "no_length", "the request has no Content-Length");
    errno = 0;
    const unsigned long long length = strtoull(headers->content_length, NULL, 10);
    if (errno || length > TH_REQUEST_FILTER_BODY_BYTES)
        return reject(out, 413, "too_large", "a body has at most 16384 bytes");
    return true;
}

static bool from_elsewhere(const char *fetch_site)
{
    return fetch_site && strcasecmp(fetch_site, "same-origin") != 0 && strcasecmp(fetch_site, "none") != 0;
}

bool th_request_filter_check_access(const th_request_filter *filter, const th_request_headers *headers,
                                    th_access access, th_rejection *out)
{
    if (!access.open && from_elsewhere(headers->fetch_site))
        return reject(out, 403, "foreign_origin", "cross-origin requests are not allowed");
    if (!access.open && filter->token.text[0] && !th_token_matches(&filter->token, headers->authorization))
        return reject(out, 401, "no_token", "this needs the server's token: Authorization: Bearer TOKEN");
    return !access.has_body || body_allowed(headers, out);
}
