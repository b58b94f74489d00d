/* The baseline: skinning as well-known tutorials teach it, implemented fairly.
 *
 * The node tree is walked recursively. For each node the channel is found by comparing names in order, each copied into
 * a string first (their std::string, without its allocation). Keys are searched linearly, matrices are 4x4, and the
 * palette slot is found in a sorted table of bone names (their std::map). Names and keys have the layout of Assimp's
 * structures, which those tutorials read directly. Values are floats; times are doubles, as in Assimp, because after
 * some minutes a float cannot resolve the position between two keys.
 *
 * Nothing is slowed down on purpose, and nothing is cached that the tutorials do not cache. Assimp drops spline and
 * step modes, so tutorials ignore them; we honour them to compare like with like. Of curves it plays the keys that were
 * made of them, as tutorials do. Equal to th_exact_pose, as authored or, with curves, with slerp between keys, within
 * float rounding; a test checks this. */
#ifndef THRONG_BENCH_TUTORIAL_H
#define THRONG_BENCH_TUTORIAL_H

#include <anim/model.h>

typedef struct th_tutorial th_tutorial; /* immutable once created; may be shared between threads */

/* The size of Assimp's names, and a recursion depth that fits a stack. */
#define TH_TUTORIAL_MAX_NAME  1023u
#define TH_TUTORIAL_MAX_DEPTH 4096u

/* Builds the node tree with names, as tutorials get it from Assimp. `model` is borrowed and must outlive it.
 * TH_ERR_LIMIT beyond the limits above, or TH_ERR_MEMORY. */
th_result th_tutorial_create(const th_model *model, th_tutorial **out, th_error *err);
void th_tutorial_destroy(th_tutorial *tutorial);

/* Writes bone_count 3x4 row-major matrices, 12 floats each, and behind them the weights, as an f32 palette has them.
 * clip: index into the model's clips, or TH_NO_INDEX for the rest pose. Does not allocate. */
void th_tutorial_palette(const th_tutorial *tutorial, uint32_t clip, double time_s, float *palette);

#endif
