/* --target of render: what the camera looks at. */
#ifndef TH_CLI_AIM_H
#define TH_CLI_AIM_H

#include <render/crowd_view.h>

typedef struct th_aim {
    uint32_t instance; /* TH_NO_INDEX: at a place */
    uint32_t joint;    /* of its model; TH_NO_INDEX: at all of it */
    float place[3];    /* scene units */
} th_aim;

/* text: X,Y,Z; or the number of a character, the name of a joint or "face", which are of character 0, or both with a
 * colon between them. Errors: TH_ERR_USAGE. */
th_result th_aim_at(const char *text, const th_crowd_view *crowd_view, th_aim *out, th_error *err);

/* Moves the camera to where it has that in the middle, nearer by the zoom, and keeps its angles: towards a character or
 * a joint they are from where that character looks. */
void th_aim_camera(const th_aim *aim, const th_crowd_view *crowd_view, double time_s, double zoom, th_camera *camera);

#endif
