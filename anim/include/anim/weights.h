/* Errors of morph weights as lengths in the scene. Pure functions; any thread. */
#ifndef THRONG_ANIM_WEIGHTS_H
#define THRONG_ANIM_WEIGHTS_H

#include <anim/model.h>
#include <core/arena.h>

/* How far each weight moves a vertex at most where it is 1: in scene units, scaled as the bones of its mesh are at
 * rest. Returns weight_count numbers of the arena, or NULL if out of memory. */
double *th_weight_reaches(const th_model *model, th_arena *arena);

/* How far vertices are at most from where they belong if each weight is off by errors[], of any sign. A vertex belongs
 * to one joint, so the weights of different joints do not add up. *out_joint: the joint; may be NULL. */
double th_weight_error(const th_model *model, const double *reaches, const double *errors, uint32_t *out_joint);

#endif
