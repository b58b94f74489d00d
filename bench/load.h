/* How much of the CPUs other programs used while something was measured. Private to bench. */
#ifndef TH_LOAD_H
#define TH_LOAD_H

#include <stdint.h>

typedef struct th_load {
    uint64_t wall_ns, own_ns;
    double busy_s; /* of the CPUs this process may run on, for anybody; NaN where the system does not tell */
} th_load;

th_load th_load_begin(void);

/* CPUs' worth of time that others used since then: 0 when this process was alone, 1 when somebody kept one CPU busy.
 * NaN where the system does not tell, and for less than 0.2 s (its clock ticks by 10 ms). */
double th_load_others(const th_load *since);

#endif
