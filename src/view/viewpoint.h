/* Where the viewer stands, and how hands move it. Pure. */
#ifndef TH_VIEW_VIEWPOINT_H
#define TH_VIEW_VIEWPOINT_H

#include "controls.h"

#include <throng/render/crowd_view.h>

typedef enum th_viewing {
    TH_VIEWING_ORBIT = 0, /* around a target */
    TH_VIEWING_FLY,       /* the eye turns and moves */
    TH_VIEWING_FOLLOW,    /* around a character that walks */
    TH_VIEWING_COUNT,
} th_viewing;

/* "orbit", "fly", "follow". */
const char *th_viewing_name(th_viewing viewing);

typedef struct th_viewpoint {
    th_viewing viewing;
    th_camera camera;
    uint32_t followed; /* instance */
    float pace;        /* flying: scene units a second */
    bool touched;      /* it no longer sees all because nobody moved it */
} th_viewpoint;

/* From here it sees all. */
void th_viewpoint_see_all(th_viewpoint *viewpoint, const th_camera *camera);

/* Behind the character, which is followed from now on. */
void th_viewpoint_follow(th_viewpoint *viewpoint, uint32_t instance, const th_character *subject);

/* The character has moved. */
void th_viewpoint_keep_up(th_viewpoint *viewpoint, const th_character *subject);

/* The camera stays where it is. Not for TH_VIEWING_FOLLOW. */
void th_viewpoint_set(th_viewpoint *viewpoint, th_viewing viewing);

/* height: of a character. The eye stays above the ground. */
void th_viewpoint_move(th_viewpoint *viewpoint, const th_motion *motion, float height, float elapsed_s);

#endif
