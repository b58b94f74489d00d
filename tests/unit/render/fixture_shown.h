/* A crowd that is seen, in place of the one before. What takes long to make of models, and never changes, comes from a
 * base of one character that is only prepared: so each crowd has threads, a ring and a renderer of its own. */
#ifndef FIXTURE_SHOWN_H
#define FIXTURE_SHOWN_H

#include "fixture_gl.h"

#include <render/crowd_view.h>

extern th_crowd_view *shown, *shown_base;
extern th_crowd_behaviour shown_behaviour; /* of those to come */

/* With a coarse human, which ends with the test. */
th_model *open_shown(void);
void close_shown(void);

/* From the base. */
th_crowd_view *prepare(const th_crowd_view_desc *desc);
th_crowd_view *complete(const th_crowd_view_desc *desc);

void show(const th_crowd_view_desc *desc);
void hide(void);

/* Before its models end. */
void forget_base(void);

/* By the linker's --wrap: a driver that binds as little at once (0: what it does bind), one without ARB_buffer_storage,
 * and a renderer of software that passes for a GPU's. */
extern uint64_t most_bytes;
extern bool maps_nothing, pretend_hardware;
const th_gl_info *__real_th_gl_get_info(const th_gl *context);

#endif
