/* A camera in perspective: where it stands, what it sees. Plain data and pure functions; any thread.
 *
 * Scene space is right-handed with Y up; the camera looks along the -Z of its own space. Matrices are 4x4 for column
 * vectors, column-major, as OpenGL takes them, and clip space is OpenGL's: -w to w on all three axes. `aspect` is the
 * picture's width over its height.
 *
 * One description serves orbiting and flying: a target, and the eye at a distance from it. th_camera_orbit moves the
 * eye around the target, th_camera_turn the target around the eye, th_camera_move both. */
#ifndef THRONG_RENDER_CAMERA_H
#define THRONG_RENDER_CAMERA_H

#include <throng/core/api.h>

TH_API_BEGIN

typedef struct th_camera {
    float target[3];
    float distance;  /* of the eye from the target, above 0 */
    float yaw_rad;   /* where the eye stands: 0 is on the target's +Z side, a quarter turn on its +X side */
    float pitch_rad; /* how high: a quarter turn is straight above. From -pi/2 to pi/2 */
    float fov_y_rad; /* from the lower to the upper edge of the picture; above 0, below pi */
    float near_z;    /* what is nearer or farther than these, along the direction of sight, is not drawn; above 0 */
    float far_z;     /* above near_z */
} th_camera;

/* The half-spaces a*x + b*y + c*z + d >= 0 whose intersection is what the camera sees; (a, b, c) has length 1. In the
 * order left, right, bottom, top, near, far. */
typedef struct th_frustum {
    float plane[6][4];
} th_frustum;

/* Looks from `eye` to `target`, which are not the same point; field of view 40 degrees, from 0.1 to 1000. */
th_camera th_camera_look_at(const float eye[3], const float target[3]);

/* Angles are added. More yaw is counter-clockwise seen from above, more pitch looks further down. Pitch stops at
 * straight up and down; yaw is kept within a turn, so that it keeps its digits. */
void th_camera_orbit(th_camera *camera, float yaw_rad, float pitch_rad);
void th_camera_turn(th_camera *camera, float yaw_rad, float pitch_rad);

/* Along the camera's own axes, in scene units. */
void th_camera_move(th_camera *camera, float right, float up, float forward);

/* Multiplies the distance from the target; above 0. */
void th_camera_zoom(th_camera *camera, float factor);

/* Moves near and far so that they hold a sphere, as tightly as can be from where the eye is; but near is never less
 * than a ten-thousandth of far, so that depth keeps its precision where the eye is in the sphere. */
void th_camera_fit_depth(th_camera *camera, const float centre[3], float radius);

void th_camera_eye(const th_camera *camera, float out[3]);
void th_camera_axes(const th_camera *camera, float out_right[3], float out_up[3], float out_forward[3]);

void th_camera_view(const th_camera *camera, float out_view_from_scene[16]);
void th_camera_projection(const th_camera *camera, float aspect, float out_clip_from_view[16]);
void th_camera_clip(const th_camera *camera, float aspect, float out_clip_from_scene[16]); /* both in one */

/* The far plane lies a thousandth farther away than the camera says: a projection matrix of floats rounds it by as much
 * as that, and who culls by the frustum must not lose what would be drawn. */
void th_camera_frustum(const th_camera *camera, float aspect, th_frustum *out);

/* Of any matrix to OpenGL's clip space, as that of a light's shadow map; exact as floats go for orthographic ones. */
void th_frustum_from_matrix(const float clip_from_scene[16], th_frustum *out);

/* How many pixels tall one scene unit is at distance 1, in a picture of that height. */
float th_camera_pixels(const th_camera *camera, float height_px);

TH_API_END

#endif
