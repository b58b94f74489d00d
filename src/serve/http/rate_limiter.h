/* Limits the requests per address with token buckets (J. Turner, New Directions in Communications, 1986). A bucket
 * holds the tokens of two seconds, at least one, and fills at a constant rate. The number of buckets is fixed: on a
 * collision the least recently used one is replaced. */
#ifndef TH_SERVE_HTTP_RATE_LIMITER_H
#define TH_SERVE_HTTP_RATE_LIMITER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { TH_RATE_LIMITER_BUCKETS = 1024 };

typedef struct th_rate_limiter {
    double per_s; /* 0: no limit */
    bool counts_loopback;
    struct th_rate_limiter_bucket {
        uint64_t key[2]; /* an IPv4 address, or the first 64 bits of an IPv6 address, which identify a customer */
        uint64_t seen_ns;
        double tokens;
    } buckets[TH_RATE_LIMITER_BUCKETS];
} th_rate_limiter;

/* Takes a token; returns false if there is none. now_ns must not decrease. */
bool th_rate_limiter_take(th_rate_limiter *rate_limiter, const struct sockaddr *address, uint64_t now_ns);

#endif
