/* A render_mesh of boxes, one for each entry of the palette: for palettes that no skeleton would give. It ends with the
 * test. */
#ifndef FIXTURE_BOXES_H
#define FIXTURE_BOXES_H

#include <render/render_mesh.h>

/* Box i lies about the origin and follows entry i. In two parts, of which the second has an image and a colour of its
 * own. A line of the skeleton goes from box to box. */
th_render_mesh *boxes_create(uint32_t count);

/* Adds weights, and deltas that move and turn the corners of the boxes; some of them share deltas, some have none. */
void boxes_add_morphs(th_render_mesh *boxes, uint32_t weight_count);

/* Has boxes follow one, two, four, five and eight bones by turns. */
void boxes_add_influences(th_render_mesh *boxes);

#endif
