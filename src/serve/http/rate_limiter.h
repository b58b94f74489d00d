/* How many requests an address may send: a bucket for each, that holds twice a second's worth of tokens, one at
 * least, and is filled evenly (the token bucket of J. Turner, New Directions in Communications, 1986). A fixed number
 * of buckets: of those that collide the one that was not asked for the longest makes room. */
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
        uint64_t key[2]; /* an IPv4 address, or the first 64 bits of an IPv6 address: what one customer has */
        uint64_t seen_ns;
        double tokens;
    } buckets[TH_RATE_LIMITER_BUCKETS];
} th_rate_limiter;

/* Takes a token; false when there is none. now_ns never goes back. */
bool th_rate_limiter_take(th_rate_limiter *rate_limiter, const struct sockaddr *address, uint64_t now_ns);

#endif
