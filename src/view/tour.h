/* The way of the camera in `throng demo`: shots of scenes, one after the other. Pure functions; any thread. */
#ifndef TH_VIEW_TOUR_H
#define TH_VIEW_TOUR_H

#include <anim/behaviour.h>
#include <render/camera.h>
#include <render/layout.h>

enum { TH_TOUR_SHOTS = 3 };

typedef struct th_tour_shot {
    th_layout_kind scene;
    th_behaviour_kind behaviour;
    double begin, end;   /* parts of the whole, from 0 to 1 */
    double crowd;        /* characters, of the largest crowd */
    double yaw_deg[2];   /* this and below: at its begin and end, in addition to the scene's own camera */
    double pitch_deg[2]; /* the sum is above 0 */
    double zoom[2];      /* above 0 */
    double walked[2];    /* along -Z, in sizes of the model */
} th_tour_shot;

extern const th_tour_shot th_tour[TH_TOUR_SHOTS];

/* The index of the shot at a part of the whole, from 0 to 1. */
uint32_t th_tour_shot_at(double part);

/* Characters of a shot; at least 1. most: of the largest crowd */
uint32_t th_tour_count(const th_tour_shot *shot, uint32_t most);

/* The camera at a part of the whole. scene: the scene's own camera; size: of the model */
th_camera th_tour_camera(const th_tour_shot *shot, const th_camera *scene, double size, double part);

#endif
