/* A model of few joints for a whole suite, where any will do: TestSuite(x, .init = make_small, .fini = free_small). */
#ifndef FIXTURE_SMALL_H
#define FIXTURE_SMALL_H

#include <throng/anim/synthetic.h>

extern const th_synthetic_desc small_desc;
extern th_model *small;

void make_small(void);
void free_small(void);

#endif
