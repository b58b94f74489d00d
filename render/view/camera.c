#include <throng/render/camera.h>

#include <assert.h>
#include <cglm/cglm.h>
#include <math.h>
#include <string.h>

#define FOV_RAD         0.6981317f /* 40 degrees */
#define MAX_PITCH_RAD   1.5707963f
#define TURN_RAD        6.2831853f
#define MAX_DEPTH_RATIO 1e4f
#define FAR_SLACK       1.001

/* ---- axes ---- */

/* Computed from the angles, not from two points: so up is also defined straight above the target. */
void th_camera_axes(const th_camera *camera, float out_right[3], float out_up[3], float out_forward[3])
{
    assert(camera && out_right && out_up && out_forward);
    const float sy = sinf(camera->yaw_rad), cy = cosf(camera->yaw_rad);
    const float sp = sinf(camera->pitch_rad), cp = cosf(camera->pitch_rad);
    glm_vec3_copy((vec3){cy, 0, -sy}, out_right);
    glm_vec3_copy((vec3){-sp * sy, cp, -sp * cy}, out_up);
    glm_vec3_copy((vec3){-cp * sy, -sp, -cp * cy}, out_forward);
}

void th_camera_eye(const th_camera *camera, float out[3])
{
    assert(camera && out);
    vec3 right, up, forward;
    th_camera_axes(camera, right, up, forward);
    for (int i = 0; i < 3; i++)
        out[i] = camera->target[i] - camera->distance * forward[i];
}

/* ---- moving ---- */

th_camera th_camera_look_at(const float eye[3], const float target[3])
{
    assert(eye && target);
    th_camera camera = {.fov_y_rad = FOV_RAD, .near_z = 0.1f, .far_z = 1000};
    vec3 away;
    for (int i = 0; i < 3; i++)
        away[i] = eye[i] - target[i];
    memcpy(camera.target, target, sizeof camera.target);
    camera.distance = glm_vec3_norm(away);
    assert(camera.distance > 0);
    camera.yaw_rad = away[0] != 0 || away[2] != 0 ? atan2f(away[0], away[2]) : 0;
    camera.pitch_rad = atan2f(away[1], hypotf(away[0], away[2]));
    return camera;
}

void th_camera_orbit(th_camera *camera, float yaw_rad, float pitch_rad)
{
    assert(camera);
    camera->yaw_rad = remainderf(camera->yaw_rad + yaw_rad, TURN_RAD);
    camera->pitch_rad = glm_clamp(camera->pitch_rad + pitch_rad, -MAX_PITCH_RAD, MAX_PITCH_RAD);
}

void th_camera_turn(th_camera *camera, float yaw_rad, float pitch_rad)
{
    assert(camera);
    vec3 eye, moved;
    th_camera_eye(camera, eye);
    th_camera_orbit(camera, yaw_rad, pitch_rad);
    th_camera_eye(camera, moved);
    for (int i = 0; i < 3; i++)
        camera->target[i] += eye[i] - moved[i];
}

void th_camera_move(th_camera *camera, float right, float up, float forward)
{
    assert(camera);
    vec3 x, y, z;
    th_camera_axes(camera, x, y, z);
    for (int i = 0; i < 3; i++)
        camera->target[i] += right * x[i] + up * y[i] + forward * z[i];
}

void th_camera_zoom(th_camera *camera, float factor)
{
    assert(camera && factor > 0);
    camera->distance *= factor;
}

/* ---- fitting ---- */

void th_camera_fit_depth(th_camera *camera, const float centre[3], float radius)
{
    vec3 eye, right, up, forward, way;
    assert(camera && centre && radius > 0);
    th_camera_eye(camera, eye);
    th_camera_axes(camera, right, up, forward);
    for (int i = 0; i < 3; i++)
        way[i] = centre[i] - eye[i];
    float depth = glm_vec3_dot(way, forward);
    /* The sphere is behind the eye. Nothing is visible, and any near below far will do. */
    camera->far_z = fmaxf(depth + radius, radius);
    camera->near_z = fmaxf(depth - radius, camera->far_z / MAX_DEPTH_RATIO);
}

/* ---- matrices ---- */

void th_camera_view(const th_camera *camera, float out_view_from_scene[16])
{
    assert(camera && out_view_from_scene);
    vec3 eye, right, up, forward;
    mat4 view;
    th_camera_eye(camera, eye);
    th_camera_axes(camera, right, up, forward);
    glm_look(eye, forward, up, view);
    memcpy(out_view_from_scene, view, sizeof view);
}

void th_camera_projection(const th_camera *camera, float aspect, float out_clip_from_view[16])
{
    mat4 projection;
    assert(camera && out_clip_from_view);
    assert(aspect > 0 && camera->fov_y_rad > 0 && camera->fov_y_rad < (float)GLM_PI);
    assert(camera->near_z > 0 && camera->far_z > camera->near_z);
    glm_perspective_rh_no(camera->fov_y_rad, aspect, camera->near_z, camera->far_z, projection);
    memcpy(out_clip_from_view, projection, sizeof projection);
}

void th_camera_clip(const th_camera *camera, float aspect, float out_clip_from_scene[16])
{
    assert(camera && out_clip_from_scene);
    mat4 view, projection;
    th_camera_view(camera, (float *)view);
    th_camera_projection(camera, aspect, (float *)projection);
    glm_mat4_mul(projection, view, view);
    memcpy(out_clip_from_scene, view, sizeof view);
}

float th_camera_pixels(const th_camera *camera, float height_px)
{
    assert(camera && camera->fov_y_rad > 0 && camera->fov_y_rad < (float)GLM_PI);
    assert(height_px > 0);
    return height_px / (2 * tanf(camera->fov_y_rad / 2));
}

/* ---- frustum ---- */

/* A plane through a point. The normal may have any length. */
static void set_plane(float out[4], const double normal[3], const double point[3])
{
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]), d = 0;
    assert(length > 0);
    for (int i = 0; i < 3; i++) {
        out[i] = (float)(normal[i] / length);
        d -= (double)out[i] * point[i];
    }
    out[3] = (float)d;
}

/* Not computed from the matrix, which holds the far plane as a small difference of large numbers. */
void th_camera_frustum(const th_camera *camera, float aspect, th_frustum *out)
{
    assert(camera && out);
    assert(aspect > 0 && camera->fov_y_rad > 0 && camera->fov_y_rad < (float)GLM_PI);
    assert(camera->near_z > 0 && camera->far_z > camera->near_z);
    vec3 eye, right, up, forward;
    th_camera_eye(camera, eye);
    th_camera_axes(camera, right, up, forward);
    const double y = tan((double)camera->fov_y_rad / 2), x = y * (double)aspect;
    const double near_z = (double)camera->near_z, far_z = (double)camera->far_z * FAR_SLACK;
    double normal[6][3], at[3], near_at[3], far_at[3];
    for (int i = 0; i < 3; i++) {
        const double r = (double)right[i], u = (double)up[i], f = (double)forward[i];
        const double n[6] = {x * f + r, x * f - r, y * f + u, y * f - u, f, -f};
        for (int p = 0; p < 6; p++)
            normal[p][i] = n[p];
        at[i] = (double)eye[i];
        near_at[i] = at[i] + near_z * f;
        far_at[i] = at[i] + far_z * f;
    }
    for (int p = 0; p < 6; p++)
        set_plane(out->plane[p], normal[p], p == 4 ? near_at : p == 5 ? far_at : at);
}

void th_frustum_from_matrix(const float clip_from_scene[16], th_frustum *out)
{
    assert(clip_from_scene && out);
    mat4 m;
    memcpy(m, clip_from_scene, sizeof m);
    glm_frustum_planes(m, out->plane);
}
