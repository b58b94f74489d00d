/* A perspective camera. Plain data and pure functions; any thread.
 *
 * Scene space is right-handed with Y up. The camera looks along the -Z of its own space. Matrices are 4x4 for column
 * vectors, column-major, as OpenGL takes them. Clip space is OpenGL's: -w to w on all three axes. `aspect` is the
 * picture's width divided by its height.
 *
 * One description serves orbiting and flying: a target, and the eye at a distance from it. th_camera_orbit moves the
 * eye around the target, th_camera_turn the target around the eye, th_camera_move both. A projection, a frustum and
 * pixels need a camera within the ranges below and an aspect above 0. */
#ifndef THRONG_RENDER_CAMERA_H
#define THRONG_RENDER_CAMERA_H

typedef struct th_camera {
    float target[3];
    float distance;  /* from the target to the eye; above 0 */
    float yaw_rad;   /* of the eye around the target: 0 is on the +Z side, a quarter turn on the +X side */
    float pitch_rad; /* of the eye above the target, from -pi/2 to pi/2; a quarter turn is straight above */
    float fov_y_rad; /* vertical field of view; above 0, below pi */
    float near_z;    /* nothing nearer than this along the view direction is drawn; above 0 */
    float far_z;     /* nothing farther than this is drawn; above near_z */
} th_camera;

/* The half-spaces a*x + b*y + c*z + d >= 0 whose intersection the camera sees; (a, b, c) has length 1. Order: left,
 * right, bottom, top, near, far. */
typedef struct th_frustum {
    float plane[6][4];
} th_frustum;

/* Looks from `eye` to `target`, which must differ. Field of view 40 degrees, near 0.1, far 1000. */
th_camera th_camera_look_at(const float eye[3], const float target[3]);

/* Adds the angles. More yaw is counter-clockwise seen from above; more pitch looks further down. Pitch stops at
 * straight up and straight down. Yaw is kept within one turn, so that it keeps its precision. */
void th_camera_orbit(th_camera *camera, float yaw_rad, float pitch_rad);
void th_camera_turn(th_camera *camera, float yaw_rad, float pitch_rad);

/* Along the camera's own axes; scene units. */
void th_camera_move(th_camera *camera, float right, float up, float forward);

/* Multiplies the distance from the target by `factor`, which is above 0. */
void th_camera_zoom(th_camera *camera, float factor);

/* Sets near and far as close as possible around a sphere, of a radius above 0, seen from the eye. Near is never less
 * than a ten-thousandth of far: otherwise depth would lose its precision when the eye is inside the sphere. */
void th_camera_fit_depth(th_camera *camera, const float centre[3], float radius);

void th_camera_eye(const th_camera *camera, float out[3]);
void th_camera_axes(const th_camera *camera, float out_right[3], float out_up[3], float out_forward[3]);

void th_camera_view(const th_camera *camera, float out_view_from_scene[16]);
void th_camera_projection(const th_camera *camera, float aspect, float out_clip_from_view[16]);
void th_camera_clip(const th_camera *camera, float aspect, float out_clip_from_scene[16]); /* projection * view */

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
