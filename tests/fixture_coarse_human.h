/* The embedded human with 368 of its 11,776 triangles, but all of its joints, clips and appearances: finding its levels
 * of detail takes 3 ms instead of 200, and a software renderer draws it as much faster. For tests that are about
 * neither.
 */
#ifndef FIXTURE_COARSE_HUMAN_H
#define FIXTURE_COARSE_HUMAN_H

#include <throng/anim/model.h>

/* Free with th_model_free. */
th_model *create_coarse_human(void);

/* What becomes of the human that somebody else made. */
void coarsen_human(th_model *human);

#endif
