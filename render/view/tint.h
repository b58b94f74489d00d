/* Colours of characters in a picture: sRGB, and how much of a character's own colour they take the place of. */
#ifndef TH_RENDER_VIEW_TINT_H
#define TH_RENDER_VIEW_TINT_H

#include <stdint.h>

typedef struct th_tint {
    uint8_t rgba[4];
} th_tint;

th_tint th_tint_instance(uint32_t instance); /* a touch of colour, so that no two look the same */
th_tint th_tint_lod(uint32_t lod);           /* white, yellow, orange, red */

/* The first eight can be told apart by people who do not see all colours: Okabe and Ito, "Color Universal Design",
 * 2008, with a light grey instead of black. Further ones go around the circle of hues. */
th_tint th_tint_worker(uint32_t worker);

#endif
