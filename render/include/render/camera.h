/* What only the project uses of cameras. A projection, a frustum and pixels need a camera that is valid and an aspect
 * above 0. */
#ifndef THRONG_RENDER_CAMERA_H
#define THRONG_RENDER_CAMERA_H

#include <throng/render.h>

/* The half-spaces a*x + b*y + c*z + d >= 0 whose intersection the camera sees; (a, b, c) has length 1. Order: left,
 * right, bottom, top, near, far. */
typedef struct th_frustum {
    float plane[6][4];
} th_frustum;

/* Whether all its numbers are within their ranges. */
bool th_camera_is_valid(const th_camera *camera);

/* Sets near and far as close as possible around a sphere, of a radius above 0, seen from the eye. Near is never less
 * than a ten-thousandth of far: otherwise depth would lose its precision when the eye is inside the sphere. */
void th_camera_fit_depth(th_camera *camera, const float centre[3], float radius);

void th_camera_axes(const th_camera *camera, float out_right[3], float out_up[3], float out_forward[3]);

void th_camera_view(const th_camera *camera, float out_view_from_scene[16]);
void th_camera_projection(const th_camera *camera, float aspect, float out_clip_from_view[16]);

/* The far plane is a thousandth farther away than camera->far_z. A projection matrix of floats rounds it by up to that
 * much, and culling must not remove what would be drawn. */
void th_camera_frustum(const th_camera *camera, float aspect, th_frustum *out);

/* The frustum of any matrix to OpenGL's clip space, such as a shadow map's. Exact to float precision for orthographic
 * matrices. */
void th_frustum_from_matrix(const float clip_from_scene[16], th_frustum *out);

/* The height in pixels of one scene unit at distance 1, in a picture of height_px, above 0. */
float th_camera_pixels(const th_camera *camera, float height_px);

/* ---- seeing all of some spheres ----
 *
 * Moves a camera, without turning it, to the nearest place from which it sees all of some spheres. All of them or some
 * are centred in the picture.
 *
 *     th_camera_fit fit = th_camera_fit_begin(&camera, aspect, 0.9F);
 *     th_camera_fit_add(&fit, centre, radius); // for each sphere
 *     camera = th_camera_fit_end(&fit, &fit); */

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

#endif
