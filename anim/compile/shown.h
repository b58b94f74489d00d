/* A joint with a scale near 0 hides what is below it, and with that what is wrong there. Blended with a clip that shows
 * it, both are seen. So a clip that hides something is measured a second time with it shown. Private to anim. */
#ifndef TH_ANIM_COMPILE_SHOWN_H
#define TH_ANIM_COMPILE_SHOWN_H

#include "compiled_data.h"

/* Shows what clips hide, one after the other. */
typedef struct th_shown {
    const th_model *model;
    struct th_shown_joint *joints;
    th_channel *channels; /* by joint, of: */
    th_clip clip;
} th_shown;

/* compiled: its tracks are complete. The arena may have failed afterwards; both must outlive `shown`. */
void th_shown_init(th_shown *shown, const th_compiled_model *compiled, th_arena *arena);

/* Returns the clip, or NULL for the rest pose, as a clip in which joints have their largest scales of all clips and the
 * rest pose where it takes away more than half of them, together with the joints above; NULL if it does so nowhere.
 * Valid until the next call. */
const th_clip *th_shown_clip(th_shown *shown, const th_clip *clip);

#endif
