/* Checks that a picture shows its own frame: not the palettes of an earlier one, and not those of a later one that was
 * posed before the GPU had drawn it. */
#ifndef TH_CLI_PICTURE_CHECK_H
#define TH_CLI_PICTURE_CHECK_H

#include "picture.h"

#include <bench/report.h>

/* Draws frames at moments of its own. Fills in row->failure if the picture is another one when frames are in flight.
 * The caller's frames must be finished or not be needed any more. */
void th_picture_check(const th_picture *picture, th_crowd_view *crowd_view, const th_camera *camera, th_row *row);

#endif
