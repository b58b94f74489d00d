/* Tints of characters: an sRGB colour, and how much it replaces the character's own colours. */
#ifndef TH_RENDER_VIEW_TINT_H
#define TH_RENDER_VIEW_TINT_H

#include <stdint.h>

typedef struct th_tint {
    uint8_t rgba[4];
} th_tint;

th_tint th_tint_instance(uint32_t instance); /* a light tint, so that neighbours differ */
th_tint th_tint_lod(uint32_t lod);           /* from white through yellow, red and blue to dark */

/* Pixels of error on screen: from dark violet at 0 through blue and green; from half a pixel on, which people begin to
 * see, through yellow to white at 4 pixels and more. Lightness rises with the error, in equal steps from octave to
 * octave. */
th_tint th_tint_error(float px);

/* The first eight are distinguishable with colour blindness: Okabe and Ito, "Color Universal Design", 2008, with light
 * grey instead of black. Further ones step around the hue circle. */
th_tint th_tint_worker(uint32_t worker);

#endif
