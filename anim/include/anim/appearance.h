/* How instances of one model differ from each other without meshes, materials or bones of their own. The vertices of
 * the model belong to regions, such as the hair. An appearance gives each region a colour and a tightness, or leaves it
 * out. So a mesh holds everything that somebody may wear, and one draw shows a crowd that wears different things.
 *
 * A model with appearances has opaque materials without textures, and these in its vertices' colours:
 *   [TH_APPEARANCE_SHADE]  multiplies the colour of the region, 255ths, linear
 *   [TH_APPEARANCE_SLACK]  how far the vertex may move against its normal, 255ths of th_appearances.slack
 *   [TH_APPEARANCE_REGION] the region, the same at all corners of a triangle
 * The vertices are where they are widest, so bounds of the model hold for all appearances. */
#ifndef THRONG_ANIM_APPEARANCE_H
#define THRONG_ANIM_APPEARANCE_H

#include <core/api.h>

#include <stdint.h>

TH_API_BEGIN

enum { TH_APPEARANCE_SHADE, TH_APPEARANCE_SLACK, TH_APPEARANCE_REGION = 3 };

#define TH_APPEARANCE_NOT_WORN 255u /* a tightness: the region is not there */

#define TH_MAX_APPEARANCES 1024u /* they fit th_gpu_instance */
#define TH_MAX_REGIONS     256u

typedef struct th_appearance_region {
    uint8_t color[3];  /* sRGB */
    uint8_t tightness; /* 0: as modelled, 254: with all slack taken in; or TH_APPEARANCE_NOT_WORN */
} th_appearance_region;

/* Owned by the model. */
typedef struct th_appearances {
    uint32_t count, region_count;
    float slack;                         /* of a vertex with slack 255: model units, at least 0 */
    const th_appearance_region *regions; /* [appearance][region] */
    const float *statures;               /* [appearance] a factor for the size of the instance, above 0 and at most 1 */
} th_appearances;

/* The appearance of an instance by a seed; 0 if there are no appearances. */
uint32_t th_appearances_pick(const th_appearances *appearances, uint64_t seed, uint32_t instance);

/* A colour component, from 0 to 1. */
double th_appearance_linear(uint8_t srgb);

/* How far a vertex with slack 255 moves inwards in a region that is worn. */
float th_appearance_inwards(const th_appearances *appearances, const th_appearance_region *region);

TH_API_END

#endif
