/* The embedded human with a part of its 11,776 triangles, but all of its joints, clips and appearances: for tests that
 * are about no surface. With 736 of them its levels of detail take 6 ms instead of 200; drawing, too, is faster. */
#ifndef FIXTURE_COARSE_HUMAN_H
#define FIXTURE_COARSE_HUMAN_H

#include <throng/anim/model.h>

enum { COARSE = 32 };

/* By COARSE. Free with th_model_free. */
th_model *create_coarse_human(void);

/* The human that somebody else made gets so many times fewer triangles. */
void coarsen_human(th_model *human, uint32_t factor);

#endif
