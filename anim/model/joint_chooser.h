/* Which joints may stand still within an error. Private to anim. */
#ifndef TH_ANIM_MODEL_JOINT_CHOOSER_H
#define TH_ANIM_MODEL_JOINT_CHOOSER_H

#include "rebind.h"

typedef struct th_joint_chooser th_joint_chooser;

/* Measures what holding each joint alone does. NULL when out of memory. */
th_joint_chooser *th_joint_chooser_create(const th_model *model);
void th_joint_chooser_destroy(th_joint_chooser *chooser);

/* Holds more joints, those that show least first, as long as no vertex is further than `limit` from where it was, in
 * scene units, at the moments at which it measures. */
void th_joint_chooser_hold(th_joint_chooser *chooser, double limit);

/* Goes back to these held joints. held: by joint; a choice of before. */
void th_joint_chooser_return(th_joint_chooser *chooser, const bool *held);

/* Valid until the next call. */
const th_held_skeleton *th_joint_chooser_skeleton(const th_joint_chooser *chooser);

/* Marks the joints that a clip moves. moves: by joint, false before. */
void th_find_moving_joints(const th_model *model, bool *moves);

#endif
