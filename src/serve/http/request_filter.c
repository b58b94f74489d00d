#include "request_filter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool refuse(th_refusal *out, unsigned status, const char *code, const char *message)
{
    *out = (th_refusal){status, code, message};
    return false;
}

/* ---- names ---- */

/* "name:port", "[address]:port" without the port and brackets. */
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

/* An address in Host is what the user typed; only names can be made to point here by others. */
static bool is_ours(const th_guard *guard, const char *host)
{
    char name[256];
    struct in6_addr ignored;
    if (!host_name(host, name, sizeof name))
        return false;
    if (inet_pton(AF_INET, name, &ignored) == 1 || inet_pton(AF_INET6, name, &ignored) == 1 ||
        strcasecmp(name, "localhost") == 0)
        return true;
    for (unsigned h = 0; h < guard->host_count; h++)
        if (strcasecmp(name, guard->hosts[h]) == 0)
            return true;
    return false;
}

/* The scheme is not compared: a proxy in front may speak TLS. */
static bool same_origin(const char *origin, const char *host)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (int s = 0; s < 2; s++)
        if (strncasecmp(origin, schemes[s], strlen(schemes[s])) == 0)
            return strcasecmp(origin + strlen(schemes[s]), host) == 0;
    return false;
}

bool th_guard_admits(th_guard *guard, const th_head *head, uint64_t now_ns, th_refusal *out)
{
    if (!th_throttle_admits(&guard->throttle, head->address, now_ns))
        return refuse(out, 429, "too_many_requests", "too many requests from this address; try again in a second");
    if (head->repeats || (head->content_length && head->transfer_encoding))
        return refuse(out, 400, "ambiguous", "a header that may come once comes twice, or two lengths are given");
    if (!head->host)
        return refuse(out, 400, "no_host", "the request has no Host header");
    if (!is_ours(guard, head->host))
        return refuse(out, 421, "bad_host", "this server does not go by the name in Host (--allow-host adds one)");
    if (head->origin && !same_origin(head->origin, head->host))
        return refuse(out, 403, "foreign_origin", "pages of other sites may not ask here");
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

static bool body_allowed(const th_head *head, th_refusal *out)
{
    if (!is_json(head->content_type))
        return refuse(out, 415, "not_json", "the body must come as Content-Type: application/json");
    if (head->transfer_encoding)
        return true; /* counted as it comes */
    if (!head->content_length)
        return refuse(out, 411, "no_length", "the request has no Content-Length");
    errno = 0;
    const unsigned long long length = strtoull(head->content_length, NULL, 10);
    if (errno || length > TH_GUARD_BODY_BYTES)
        return refuse(out, 413, "too_large", "a body has 16384 bytes at most");
    return true;
}

static bool from_elsewhere(const char *fetch_site)
{
    return fetch_site && strcasecmp(fetch_site, "same-origin") != 0 && strcasecmp(fetch_site, "none") != 0;
}

bool th_guard_allows(const th_guard *guard, const th_head *head, th_access access, th_refusal *out)
{
    if (!access.open && from_elsewhere(head->fetch_site))
        return refuse(out, 403, "foreign_origin", "pages of other sites may not ask here");
    if (!access.open && guard->token.text[0] && !th_token_shown(&guard->token, head->authorization))
        return refuse(out, 401, "no_token", "this needs the server's token, as Authorization: Bearer TOKEN");
    return !access.has_body || body_allowed(head, out);
}
