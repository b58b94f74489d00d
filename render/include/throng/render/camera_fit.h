/* Moves a camera, without turning it, to the nearest place from which it sees all of some spheres. All of the spheres
 * or some of them are centred in the picture. Plain data and pure functions; any thread.
 *
 *     th_camera_fit fit = th_camera_fit_begin(&camera, aspect, 0.9F);
 *     th_camera_fit_add(&fit, centre, radius); // for each sphere
 *     camera = th_camera_fit_end(&fit, &fit); */
#ifndef THRONG_RENDER_CAMERA_FIT_H
#define THRONG_RENDER_CAMERA_FIT_H

#include <throng/core/api.h>
#include <throng/render/camera.h>

TH_API_BEGIN

enum { TH_CAMERA_FIT_STEPS = 32 };

typedef struct th_camera_fit {
    th_camera camera;
    float axes[3][3]; /* of the camera: right, up, forward */
    /* [horizontal, vertical] Planes through the eye, in equal steps from the middle (0) to the picture's edge
     * (TH_CAMERA_FIT_STEPS). slope: offset to the side per unit of depth; length: sqrt(1 + slope^2). */
    double slope[2][TH_CAMERA_FIT_STEPS + 1], length[2][TH_CAMERA_FIT_STEPS + 1];
    /* [right, left, top, bottom] For each of these planes: how far outside of the origin it lies when it touches the
     * spheres. */
    double out[4][TH_CAMERA_FIT_STEPS + 1];
    double near, far; /* depths of the spheres, relative to the origin */
    double low, high; /* heights of the lowest and the highest centre */
} th_camera_fit;

/* Takes angles and field of view from the camera. part: the part of the picture's width and height that the spheres may
 * fill; above 0, up to 1. */
th_camera_fit th_camera_fit_begin(const th_camera *camera, float aspect, float part);

/* radius: above 0. */
void th_camera_fit_add(th_camera_fit *fit, const float centre[3], float radius);

/* Centres the spheres of `in_the_middle` to within a few percent, and sees all spheres of `all`. Both have the same
 * angles and picture. They may be the same object; its spheres then touch two opposite edges of their part of the
 * picture. The target lies on the view axis at half the height of the centred spheres, or half-way through their depth
 * if that height is not between them. Near and far enclose `all`. Each must have at least one sphere, with a radius
 * above 0. */
th_camera th_camera_fit_end(const th_camera_fit *in_the_middle, const th_camera_fit *all);

TH_API_END

#endif
