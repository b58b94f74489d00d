#include "rate_limiter.h"

#include "address.h"

#include <throng/core/random.h>

#include <assert.h>
#include <math.h>
#include <netinet/in.h>
#include <string.h>

enum { PROBES = 8 };

/* Maps an IPv4 address and its IPv6 form to the same key. */
static void make_key(const struct sockaddr *address, uint64_t key[2])
{
    key[0] = address->sa_family;
    key[1] = 0;
    if (address->sa_family == AF_INET) {
        key[1] = ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr;
    } else if (address->sa_family == AF_INET6) {
        const struct in6_addr *v6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(v6)) {
            key[0] = AF_INET;
            memcpy(&key[1], v6->s6_addr + 12, 4);
        } else {
            memcpy(&key[1], v6->s6_addr, 8);
        }
    }
}

static double max_tokens(const th_rate_limiter *t)
{
    return fmax(1, 2 * t->per_s);
}

static struct th_rate_limiter_bucket *find(th_rate_limiter *t, const uint64_t key[2], uint64_t now_ns)
{
    const uint64_t first = th_random_bits(key[0], key[1]);
    struct th_rate_limiter_bucket *stalest = NULL;
    for (uint64_t n = 0; n < PROBES; n++) {
        struct th_rate_limiter_bucket *b = &t->buckets[(first + n) % TH_RATE_LIMITER_BUCKETS];
        if (b->key[0] == key[0] && b->key[1] == key[1])
            return b;
        if (!stalest || b->seen_ns < stalest->seen_ns)
            stalest = b;
    }
    *stalest = (struct th_rate_limiter_bucket){{key[0], key[1]}, now_ns, max_tokens(t)};
    return stalest;
}

bool th_rate_limiter_take(th_rate_limiter *t, const struct sockaddr *address, uint64_t now_ns)
{
    assert(address && t->per_s >= 0);
    uint64_t key[2];
    if (t->per_s <= 0 || (!t->counts_loopback && th_address_is_loopback(address)))
        return true;
    make_key(address, key);
    struct th_rate_limiter_bucket *b = find(t, key, now_ns);
    b->tokens = fmin(b->tokens + (double)(now_ns - b->seen_ns) * 1e-9 * t->per_s, max_tokens(t));
    b->seen_ns = now_ns;
    if (b->tokens < 1)
        return false;
    b->tokens -= 1;
    return true;
}
