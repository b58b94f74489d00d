/* The deliberate faults of posing (core/mutant.h), in builds that have them. Private to anim. */
#ifndef TH_ANIM_CROWD_MUTANTS_H
#define TH_ANIM_CROWD_MUTANTS_H

#include "crowd_data.h"

/* The number of times that a batch, or a window of them, is posed; 0: it keeps what it has. */
uint32_t th_crowd_faulty_repeats(uint32_t index, double time_s);

/* Does to the palettes of a batch, or of a window, what is done there. */
void th_crowd_spoil(const th_crowd *crowd, const batch *b, char *palettes);

#endif
