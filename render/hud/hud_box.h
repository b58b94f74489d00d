/* Rectangles, from which the whole head-up display is built. Private to render. */
#ifndef TH_RENDER_HUD_HUD_BOX_H
#define TH_RENDER_HUD_HUD_BOX_H

#include <render/hud.h>

/* Pixels; right and bottom are exclusive. */
typedef struct th_hud_edges {
    int32_t left, top, right, bottom;
} th_hud_edges;

/* Rounds to the nearest whole pixel, limited to +-2^29 so that differences fit 32 bits. NaN becomes 0, so both edges of
 * a rectangle without a position coincide and it is empty. */
int32_t th_hud_pixel(float at);

/* Adds a rectangle; does nothing if it is empty. */
void th_hud_box(th_hud *hud, th_hud_edges edges, th_rgba color);

#endif
