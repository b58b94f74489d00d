/* Which memory orders of the explored code are needed. */
#ifndef TH_TESTS_EXPLORE_ORDERS_H
#define TH_TESTS_EXPLORE_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

extern bool explore_lists_sites; /* a policy that is created now should */

/* Weakens each order of each atomic operation, one at a time, and looks whether a try fails then. Those that pass may
 * do so for want of tries. Compares that with the file: the operations must be the same, and what failed must fail.
 * With THRONG_GOLDEN_UPDATE=1 it tries all and writes the file. run: makes try 0, 1, ...; false after the last. Returns
 * an exit code. */
int explore_orders(const char *path, bool (*run)(uint32_t try));

#endif
