/* Parameters of tests of whatever a kernel does. */
#ifndef FIXTURE_ISA_H
#define FIXTURE_ISA_H

#include <throng/anim/crowd.h>

/* All instruction sets. */
struct criterion_test_params each_isa(void);
void skip_without(th_isa isa);

#endif
