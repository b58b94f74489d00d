/* A fleet: the servers that this one joins together. Each has a thread here that asks it once a second what
 * /api/state and /metrics say. No server but this one needs to know of it. */
#ifndef TH_SERVE_FLEET_FLEET_H
#define TH_SERVE_FLEET_FLEET_H

#include "http/address.h"
#include "http/token.h"

#include <throng/core/error.h>

#include <jansson.h>
#include <stdint.h>

enum { TH_FLEET_MAX_MEMBERS = 64 };

typedef struct th_fleet th_fleet;

/* addresses: "HOST:PORT", as --listen takes them; names are looked up once. token: what this server asks of its
 * clients, and what it sends to the others; copied. TH_ERR_INPUT: an address is wrong or unknown, two are the same, or
 * there are more than TH_FLEET_MAX_MEMBERS. A server that is not there is no error. */
th_result th_fleet_create(const char *const *addresses, uint32_t count, const th_token *token, th_fleet **out,
                          th_error *err);

/* Does not wait for answers. NULL is allowed. */
void th_fleet_destroy(th_fleet *fleet);

/* Whether the addresses can be used, without starting anything. own: where this server listens, which may not be one of
 * them. TH_ERR_INPUT as above. */
th_result th_fleet_check(const char *const *addresses, uint32_t count, const th_address *own, th_error *err);

/* {"instances": [...], "sum": {...}}: this server first, as `instance` with its `state` (taken), then the others in
 * their order. A server that does not answer is not up and adds nothing to the sum. fleet: NULL for this server
 * alone. NULL when memory is out. */
json_t *th_fleet_json(th_fleet *fleet, const char *instance, json_t *state);

/* The metrics of all servers that are up, with a label `instance` each, and throng_fleet_up. own: those of this server.
 * malloc'd; NULL when memory is out. */
char *th_fleet_metrics(th_fleet *fleet, const char *instance, const char *own, size_t *out_size);

#endif
