#ifndef TH_TESTS_EXPLORE_LITMUS_H
#define TH_TESTS_EXPLORE_LITMUS_H

/* Returns an exit code. */
int explore_litmus(void);

#endif
