/* Random models whose mesh is morphed, and an evaluation of skins and weights that shares nothing with the library. */
#ifndef FIXTURE_MORPH_H
#define FIXTURE_MORPH_H

#include "random_model.h"

/* The clips after those of the random model move weights only. */
enum { MORPH_LINES, MORPH_STEPS, MORPH_SPLINES, MORPH_CLIPS };

/* A random model with a mesh, a target for each weight, and tracks of most weights in each clip; the others stay. About
 * half of the weights belong to the first joint, the others to the last. */
th_model *morph_model(const random_desc *desc, uint32_t weight_count);

/* Where a vertex is: at its position, moved by targets, then by its bones. weights: of the model; NULL: no targets. */
void skin_vertex(const th_mesh *mesh, uint32_t vertex, const double *weights, const th_dmat34 *palette, double out[3]);

/* The weight at `ticks` of a clip; NULL: the rest pose. */
double morph_weight(const th_model *model, const th_clip *clip, uint32_t weight, double ticks);

#endif
