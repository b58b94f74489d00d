#include "address.h"

#include "process.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define UNIX_PREFIX "unix:"

/* Splits "host:port", "[host]:port" or "host". An IPv6 address without brackets has more than one colon. A single
 * number is a port, although getaddrinfo would read it as an IPv4 address. */
static bool split(const char *text, char host[256], char port[8])
{
    const char *host_end, *colon;
    if (text[0] == '[') {
        host_end = strchr(++text, ']');
        colon = host_end ? host_end + 1 : NULL;
    } else {
        colon = strchr(text, ':');
        if (colon && strchr(colon + 1, ':'))
            colon = NULL;
        host_end = colon = colon ? colon : text + strlen(text);
    }
    if (!host_end || host_end == text || host_end - text >= 256 || (*colon != ':' && *colon != '\0'))
        return false;
    snprintf(host, 256, "%.*s", (int)(host_end - text), text);
    if (*colon == '\0' && host[strspn(host, "0123456789")] == '\0')
        return false;
    const char *number = *colon == ':' ? colon + 1 : strchr(TH_ADDRESS_DEFAULT, ':') + 1;
    if (number[0] == '\0' || strlen(number) > 5 || number[strspn(number, "0123456789")] != '\0')
        return false;
    strcpy(port, number);
    unsigned value;
    return sscanf(port, "%u", &value) == 1 && value <= 65535;
}

th_result th_address_parse(const char *text, th_address *out, th_error *err)
{
    assert(text && out);
    if (strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0) {
        const char *path = text + strlen(UNIX_PREFIX);
        struct sockaddr_un *address = (struct sockaddr_un *)&out->bytes;
        *out = (th_address){.size = sizeof *address};
        if (path[0] == '\0' || strlen(path) >= sizeof address->sun_path)
            return th_fail(err, TH_ERR_INPUT, "--listen " UNIX_PREFIX "PATH takes a path of 1 to %zu bytes, not \"%s\"",
                           sizeof address->sun_path - 1, path);
        address->sun_family = AF_UNIX;
        strcpy(address->sun_path, path);
        return TH_OK;
    }
    char host[256], port[8];
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    if (!split(text, host, port))
        return th_fail(err, TH_ERR_INPUT,
                       "--listen takes ADDRESS:PORT such as " TH_ADDRESS_DEFAULT
                       " or [::1]:8347, or unix:PATH, with a port from 0 to 65535, not "
                       "\"%s\"",
                       text);
    const int error = getaddrinfo(host, port, &hints, &found);
    if (error)
        return th_fail(err, TH_ERR_INPUT, "--listen %s: %s", text, gai_strerror(error));
    *out = (th_address){.size = found->ai_addrlen};
    memcpy(&out->bytes, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return TH_OK;
}

bool th_address_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family == AF_UNIX)
        return true;
    if (address->sa_family != AF_INET6)
        return false;
    const struct in6_addr *v6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
}

th_address_text th_address_print(const struct sockaddr *address)
{
    th_address_text out = {"?"};
    char host[INET6_ADDRSTRLEN] = "?";
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)address;
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
        snprintf(out.text, sizeof out.text, "%s:%u", host, ntohs(v4->sin_port));
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)address;
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        snprintf(out.text, sizeof out.text, "[%s]:%u", host, ntohs(v6->sin6_port));
    } else if (address->sa_family == AF_UNIX) {
        snprintf(out.text, sizeof out.text, UNIX_PREFIX "%s",
                 ((const struct sockaddr_un *)(const void *)address)->sun_path);
    }
    return out;
}

/* Whether this is a socket on which nobody listens. */
static bool is_stale(const struct sockaddr_un *address)
{
    struct stat status;
    if (lstat(address->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode))
        return false;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool is_refused =
        fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return is_refused;
}

/* Nobody can connect before listen(), so nobody does with the permissions that bind() gives. */
static bool bind_unix(int fd, const struct sockaddr_un *address)
{
    bool is_bound = bind(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    if (!is_bound && errno == EADDRINUSE && is_stale(address)) {
        unlink(address->sun_path);
        is_bound = bind(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    }
    if (is_bound)
        th_leftovers_add(address->sun_path);
    return is_bound && chmod(address->sun_path, 0600) == 0;
}

th_result th_address_listen(th_address *address, int *out_fd, th_error *err)
{
    assert(address->size > 0 && out_fd);
    struct sockaddr *where = (struct sockaddr *)&address->bytes;
    const int on = 1, fd = socket(where->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* SO_REUSEADDR: an address with lingering connections of an earlier server can be used again at once. */
    const bool is_bound = fd < 0 ? false
                          : where->sa_family == AF_UNIX
                              ? bind_unix(fd, (const struct sockaddr_un *)where)
                              : setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                                    bind(fd, where, address->size) == 0 && getsockname(fd, where, &address->size) == 0;
    if (!is_bound || listen(fd, SOMAXCONN) != 0) {
        const int error = errno;
        if (fd >= 0)
            close(fd);
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot listen on %s: %s", th_address_print(where).text,
                       strerror(error));
    }
    *out_fd = fd;
    return TH_OK;
}
