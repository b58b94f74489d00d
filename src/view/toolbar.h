/* Buttons in the picture of `throng view`, for those who do not know its keys. A click on one is a hotspot of the
 * controls. Call between th_hud_begin and th_hud_end. */
#ifndef TH_VIEW_TOOLBAR_H
#define TH_VIEW_TOOLBAR_H

#include "controls.h"

#include <render/hud.h>

/* Draws the buttons in the lower right corner of a picture, in rows that are as wide as it allows, and writes where
 * they are. cursor: in pixels of the picture; the button under it is brighter. Returns the height that they take. */
float th_toolbar_draw(th_hud *hud, uint32_t width, uint32_t height, const double cursor[2], bool paused,
                      th_hotspots *out);

#endif
