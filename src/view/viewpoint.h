/* The camera of `throng view` and how the user moves it. Pure. */
#ifndef TH_VIEW_VIEWPOINT_H
#define TH_VIEW_VIEWPOINT_H

#include "controls.h"

#include <render/crowd_view.h>

typedef enum th_camera_mode {
    TH_CAMERA_MODE_ORBIT = 0, /* around a target */
    TH_CAMERA_MODE_FLY,       /* the eye turns and moves */
    TH_CAMERA_MODE_FOLLOW,    /* around a walking character */
    TH_CAMERA_MODE_COUNT,
} th_camera_mode;

/* "orbit", "fly", "follow". */
const char *th_camera_mode_name(th_camera_mode mode);

typedef struct th_viewpoint {
    th_camera_mode mode;
    th_camera camera;
    uint32_t followed; /* instance */
    float speed;       /* in fly mode: scene units per second */
    bool touched;      /* the user moved the camera since it showed the whole crowd */
} th_viewpoint;

/* Takes over a camera that shows the whole crowd. */
void th_viewpoint_see_all(th_viewpoint *viewpoint, const th_camera *camera);

/* Puts the camera behind the character and follows it from now on. */
void th_viewpoint_follow(th_viewpoint *viewpoint, uint32_t instance, const th_follow_target *subject);

/* Call it when the character has moved. */
void th_viewpoint_track(th_viewpoint *viewpoint, const th_follow_target *subject);

/* Changes the mode without moving the camera. Not to TH_CAMERA_MODE_FOLLOW. */
void th_viewpoint_set(th_viewpoint *viewpoint, th_camera_mode mode);

/* height: of a character. The eye stays above the ground. */
void th_viewpoint_move(th_viewpoint *viewpoint, const th_motion *motion, float height, float elapsed_s);

#endif
