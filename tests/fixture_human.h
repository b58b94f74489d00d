/* The embedded human for a whole suite: TestSuite(x, .init = make_human, .fini = free_human). */
#ifndef FIXTURE_HUMAN_H
#define FIXTURE_HUMAN_H

#include <throng/anim/model.h>

extern th_model *human;

void make_human(void);
void free_human(void);

#endif
