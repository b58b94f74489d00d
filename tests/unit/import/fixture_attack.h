/* What a stranger's code would try once it runs in the importer. */
#ifndef FIXTURE_ATTACK_H
#define FIXTURE_ATTACK_H

#include <stddef.h>
#include <sys/types.h>

/* What there is to attack. Paths are absolute. */
typedef struct attack_target {
    pid_t parent;
    unsigned long secret; /* an address in the parent */
    int port;             /* of 127.0.0.1, where somebody listens */
    char file[128];       /* that it has no business with */
    char folder[128];     /* where the model is */
    char socket[64];      /* the name of an abstract socket where somebody listens */
} attack_target;

/* Returns 0 if it succeeded, else an errno value. */
typedef int attack_fn(const attack_target *target);

typedef struct attack {
    const char *name;
    attack_fn *run;
} attack;

extern const attack attacks[];
extern const size_t attack_count;

/* The target as text for a file, and back. */
void attack_write(const attack_target *target, const char *name, const char *path);
const attack *attack_read(const char *path, attack_target *out);

#endif
