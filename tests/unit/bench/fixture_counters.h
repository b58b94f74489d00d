/* A processor made of events of the system: this machine may have no counters, so perf_event_open goes through a
 * wrapper (link with -Wl,--wrap=syscall). Instructions and cache misses are page faults, and cycles never happen. */
#ifndef FIXTURE_COUNTERS_H
#define FIXTURE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

extern int counters_refused;     /* errno for all events of the processor; 0: they are counted */
extern uint64_t refused_counter; /* only this one (PERF_COUNT_HW_...) is refused, with ENOENT */

/* Touches new pages, each of which is one page fault. */
void touch_pages(size_t pages);

#endif
