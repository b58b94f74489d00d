/* From where a camera sees all of some spheres: as near as can be without turning, and so that they, or some of them,
 * are in the middle of the picture. Plain data and pure functions; any thread.
 *
 *     th_camera_fit fit = th_camera_fit_begin(&camera, aspect, 0.9F);
 *     th_camera_fit_add(&fit, centre, radius); // each of them
 *     camera = th_camera_fit_end(&fit, &fit); */
#ifndef THRONG_RENDER_CAMERA_FIT_H
#define THRONG_RENDER_CAMERA_FIT_H

#include <throng/core/api.h>
#include <throng/render/camera.h>

TH_API_BEGIN

enum { TH_CAMERA_FIT_STEPS = 32 };

typedef struct th_camera_fit {
    th_camera camera;
    float axes[3][3]; /* its own: right, up, forward */
    /* Of the line from the eye to the right and upper edge of the picture, the last, and to those of edges nearer to
     * the middle: how far aside it goes for each unit of depth, and how long it gets. */
    double slope[2][TH_CAMERA_FIT_STEPS + 1], length[2][TH_CAMERA_FIT_STEPS + 1];
    /* How far the planes through these right, left, upper and lower edges lie outside of the origin where they touch
     * the spheres. */
    double out[4][TH_CAMERA_FIT_STEPS + 1];
    double near, far; /* depths, counted from the origin */
    double low, high; /* of all centres */
} th_camera_fit;

/* Of the camera's angles and field of view. part: of the picture's width and height, what the spheres may take; above
 * 0, up to 1. */
th_camera_fit th_camera_fit_begin(const th_camera *camera, float aspect, float part);

void th_camera_fit_add(th_camera_fit *fit, const float centre[3], float radius);

/* Has the spheres of one fit in the middle of the picture, but for a few percent, and sees all of those of another;
 * of the same angles and picture. They may be one and the same, which then touches two opposite edges of its part of
 * the picture. The target is where the camera looks at half the height of what is in the middle, or else half-way
 * through it; near and far hold all. One sphere or more must have been added to each, of radius above 0. */
th_camera th_camera_fit_end(const th_camera_fit *in_the_middle, const th_camera_fit *all);

TH_API_END

#endif
