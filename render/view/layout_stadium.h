/* The stands of a layout. Private to render. */
#ifndef TH_RENDER_VIEW_LAYOUT_STADIUM_H
#define TH_RENDER_VIEW_LAYOUT_STADIUM_H

#include "stadium.h"

#include <throng/render/layout.h>

/* Of TH_LAYOUT_STADIUM. */
th_stadium th_layout_stadium(const th_layout *layout);

#endif
