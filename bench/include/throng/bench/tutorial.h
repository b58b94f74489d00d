/* The baseline: skinning as the well-known tutorials teach it, kept honest.
 *
 * The node tree is walked recursively; for each node the channel is looked up by comparing names one after the other,
 * each made into a string first (their std::string, without its allocations); keys are searched linearly, matrices are
 * 4x4, and the palette slot is found through a sorted table of bone names (their std::map). Names and keys have the
 * shapes of Assimp's structures, which those tutorials read directly. Floats throughout, but for times, which are
 * doubles in Assimp as well: minutes in, a float no longer tells where between two keys. Nothing is made slow on
 * purpose, nothing is cached that they do not cache. Splines and steps are all they do not know, as Assimp drops what
 * the file says of them: those are played here all the same, so that every baseline is about one motion. Equal to
 * th_exact_pose, as authored, within float rounding; a test says so. */
#ifndef THRONG_BENCH_TUTORIAL_H
#define THRONG_BENCH_TUTORIAL_H

#include <throng/anim/model.h>
#include <throng/core/api.h>

TH_API_BEGIN

typedef struct th_tutorial th_tutorial; /* immutable once created: share between threads */

/* Assimp's names are that long; the recursion must fit a stack. */
#define TH_TUTORIAL_MAX_NAME  1023u
#define TH_TUTORIAL_MAX_DEPTH 4096u

/* Builds the node tree with names, as the tutorials get it from Assimp. `model` is borrowed and must outlive it.
 * TH_ERR_LIMIT beyond the above, or TH_ERR_MEMORY. */
th_result th_tutorial_create(const th_model *model, th_tutorial **out, th_error *err);
void th_tutorial_destroy(th_tutorial *tutorial);

/* Writes bone_count 3x4 row-major matrices, 12 floats each. clip: index into the model's clips, or TH_NO_INDEX for the
 * rest pose. Does not allocate. */
void th_tutorial_palette(const th_tutorial *tutorial, uint32_t clip, double time_s, float *palette);

TH_API_END

#endif
