/* Rectangles, which all of the head-up display is made of. Private to render. */
#ifndef TH_RENDER_HUD_HUD_BOX_H
#define TH_RENDER_HUD_HUD_BOX_H

#include <throng/render/hud.h>

/* Pixels; right and bottom are beyond the last. */
typedef struct th_hud_edges {
    int32_t left, top, right, bottom;
} th_hud_edges;

/* The nearest whole one, within 2^29, so that 32 bits hold differences. Not a number becomes 0: what begins nowhere
 * ends there, too, and encloses nothing. */
int32_t th_hud_pixel(float at);

/* Nothing where the edges enclose nothing. */
void th_hud_box(th_hud *hud, th_hud_edges edges, th_rgba color);

#endif
