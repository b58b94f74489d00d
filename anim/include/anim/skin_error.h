/* How far apart two palettes put a character's skin in a picture, in pixels.
 *
 * The skin is all vertices of all meshes of a model, with all their influences and morph targets; of a model without
 * vertices, the places of its bones. A th_skin is made once, does not change, and threads may share it. */
#ifndef THRONG_ANIM_SKIN_ERROR_H
#define THRONG_ANIM_SKIN_ERROR_H

#include <anim/model.h>
#include <anim/palette.h>

typedef struct th_skin th_skin;

/* drawn_as: the joint level (joint_lod.h) of the model that characters are drawn as; NULL: the model itself. Both must
 * outlive the skin. The only error is TH_ERR_MEMORY. */
th_result th_skin_create(const th_model *model, const th_model *drawn_as, th_skin **out, th_error *err);
void th_skin_destroy(th_skin *skin); /* NULL does nothing */

size_t th_skin_scratch_bytes(const th_skin *skin); /* for each concurrent caller of th_skin_error_px */

/* The picture that a character is drawn into. */
typedef struct th_skin_screen {
    float clip_from_model[16]; /* column-major, to OpenGL's clip space, whose w is the depth in scene units */
    float width, height;       /* of the picture, in pixels */
    float near_z;              /* nothing nearer is drawn; in scene units, above 0 */
} th_skin_screen;

/* A palette of the skin's model, or of what it is drawn as. */
typedef struct th_skin_palette {
    th_format format;
    const void *entries;
} th_skin_palette;

/* What th_skin_error_px may miss: a share of the error, or so many pixels where that is more. */
#define TH_SKIN_MISSED    0.03F
#define TH_SKIN_MISSED_PX 0.002F

/* The largest distance in pixels between where the two palettes draw a vertex, over all vertices that at least one of
 * them draws inside the picture. 0 if there is none, or the palettes are equal. A vertex that the other palette puts
 * nearer than near_z counts as if it were there. HUGE_VALF if a palette has numbers that are not finite.
 *
 * Clusters of vertices that cannot be above what it has found, by an upper bound, are skipped: what it finds is never
 * too large, and too small by at most TH_SKIN_MISSED. Of a joint level all vertices are measured, in some seven times
 * the time. scratch: th_skin_scratch_bytes, aligned to 64. Never allocates.
 */
float th_skin_error_px(const th_skin *skin, th_skin_palette drawn, th_skin_palette full, const th_skin_screen *screen,
                       void *scratch);

#endif
