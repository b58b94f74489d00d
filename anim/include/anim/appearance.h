/* Appearances: who has which, and what it looks like. */
#ifndef THRONG_ANIM_APPEARANCE_H
#define THRONG_ANIM_APPEARANCE_H

#include <throng/throng.h>

/* The appearance of an instance by a seed; 0 if there are no appearances. */
uint32_t th_appearances_pick(const th_appearances *appearances, uint64_t seed, uint32_t instance);

/* A colour component, from 0 to 1. */
double th_appearance_linear(uint8_t srgb);

/* How far a vertex with slack 255 moves inwards in a region that is worn. */
float th_appearance_inwards(const th_appearances *appearances, const th_appearance_region *region);

#endif
