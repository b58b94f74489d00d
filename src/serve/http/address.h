/* The address on which a server listens. */
#ifndef TH_SERVE_HTTP_ADDRESS_H
#define TH_SERVE_HTTP_ADDRESS_H

#include <core/error.h>

#include <stdbool.h>
#include <sys/socket.h>

#define TH_ADDRESS_DEFAULT "127.0.0.1:8347"

typedef struct th_address {
    struct sockaddr_storage bytes;
    socklen_t size;
} th_address;

/* Parses "127.0.0.1:8347", "[::1]:8347", "localhost:8347" or "unix:PATH". The default port is 8347. Error:
 * TH_ERR_INPUT. */
th_result th_address_parse(const char *text, th_address *out, th_error *err);

/* Whether the address can be reached from this machine only. */
bool th_address_is_loopback(const struct sockaddr *address);

/* "127.0.0.1:8347", "[::1]:8347", "unix:PATH". */
typedef struct th_address_text {
    char text[128];
} th_address_text;
th_address_text th_address_print(const struct sockaddr *address);

/* Creates a listening socket. If *address has port 0, sets the port that was chosen. A Unix socket gets mode 0600; it
 * replaces one that nobody listens on any more, and is removed with th_leftovers_remove. Error: TH_ERR_ENVIRONMENT. The
 * caller closes the socket. */
th_result th_address_listen(th_address *address, int *out_fd, th_error *err);

#endif
