#include <render/camera.h>

#include <core/error.h>

#include <assert.h>
#include <cglm/cglm.h>
#include <math.h>
#include <string.h>

#define FOV_RAD         0.6981317f /* 40 degrees */
#define MAX_PITCH_RAD   1.5707963f
#define TURN_RAD        6.2831853f
#define MAX_DEPTH_RATIO 1e4f
#define FAR_SLACK       1.001

bool th_camera_is_valid(const th_camera *c)
{
    return c && isfinite(c->target[0] + c->target[1] + c->target[2] + c->yaw_rad + c->pitch_rad) && c->distance > 0 &&
           isfinite(c->distance) && c->fov_y_rad > 0 && c->fov_y_rad < (float)GLM_PI && c->near_z > 0 &&
           c->far_z > c->near_z && isfinite(c->far_z);
}

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
    if (!TH_VALID(camera && out))
        return;
    vec3 right, up, forward;
    th_camera_axes(camera, right, up, forward);
    for (int i = 0; i < 3; i++)
        out[i] = camera->target[i] - camera->distance * forward[i];
}

/* ---- moving ---- */

th_camera th_camera_look_at(const float eye[3], const float target[3])
{
    th_camera camera = {.fov_y_rad = FOV_RAD, .near_z = 0.1f, .far_z = 1000};
    vec3 away;
    if (!TH_VALID(eye && target))
        return camera;
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
    if (!TH_VALID(camera))
        return;
    camera->yaw_rad = remainderf(camera->yaw_rad + yaw_rad, TURN_RAD);
    camera->pitch_rad = glm_clamp(camera->pitch_rad + pitch_rad, -MAX_PITCH_RAD, MAX_PITCH_RAD);
}

void th_camera_turn(th_camera *camera, float yaw_rad, float pitch_rad)
{
    if (!TH_VALID(camera))
        return;
    vec3 eye, moved;
    th_camera_eye(camera, eye);
    th_camera_orbit(camera, yaw_rad, pitch_rad);
    th_camera_eye(camera, moved);
    for (int i = 0; i < 3; i++)
        camera->target[i] += eye[i] - moved[i];
}

void th_camera_move(th_camera *camera, float right, float up, float forward)
{
    if (!TH_VALID(camera))
        return;
    vec3 x, y, z;
    th_camera_axes(camera, x, y, z);
    for (int i = 0; i < 3; i++)
        camera->target[i] += right * x[i] + up * y[i] + forward * z[i];
}

void th_camera_zoom(th_camera *camera, float factor)
{
    if (TH_VALID(camera && factor > 0))
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
    assert(out_clip_from_view && aspect > 0 && th_camera_is_valid(camera));
    glm_perspective_rh_no(camera->fov_y_rad, aspect, camera->near_z, camera->far_z, projection);
    memcpy(out_clip_from_view, projection, sizeof projection);
}

void th_camera_clip(const th_camera *camera, float aspect, float out_clip_from_scene[16])
{
    mat4 view, projection;
    if (!TH_VALID(out_clip_from_scene && aspect > 0 && th_camera_is_valid(camera)))
        return;
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
    for (int p = 0; p < 6; p++) {
        const double *n = normal[p], *point = p == 4 ? near_at : p == 5 ? far_at : at;
        const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        double d = 0;
        assert(length > 0);
        for (int i = 0; i < 3; i++) {
            out->plane[p][i] = (float)(n[i] / length);
            d -= (double)out->plane[p][i] * point[i];
        }
        out->plane[p][3] = (float)d;
    }
}

void th_frustum_from_matrix(const float clip_from_scene[16], th_frustum *out)
{
    assert(clip_from_scene && out);
    mat4 m;
    memcpy(m, clip_from_scene, sizeof m);
    glm_frustum_planes(m, out->plane);
}

/* ---- seeing all of some spheres ----
 *
 * An edge of the picture is a plane through the eye. Use the camera's axes (right x, up y, forward z), and let s be the
 * slope of the edge. A sphere of radius r at (x, y, z) is inside the right edge of an eye at e if
 *
 *     x + r sqrt(1 + s^2) - s z  <=  e_x - s e_z
 *
 * The other three edges are analogous. Only the largest left side matters; it is out(s), and is updated as spheres are
 * added. The sum for right and left limits how far forward the eye may be, e_z. The stricter of the two pairs decides.
 *
 * The other pair then has room to spare. With the eye half-way between its planes, the near characters of a crowd seen
 * from above would be in the middle of the picture and the far ones at its edge. So that pair is moved inwards
 * together, to the slope at which it also touches the spheres:
 *
 *     out_right(s) + out_left(s) + 2 s e_z = 0
 *
 * The left side is convex in s, so straight lines between a few slopes may leave too much room, but never too little.
 */
/* Edges in the order right, left, top, bottom. */
enum { EDGES = 4, STEPS = TH_CAMERA_FIT_STEPS, TURNS = 16 };

th_camera_fit th_camera_fit_begin(const th_camera *camera, float aspect, float part)
{
    assert(camera && aspect > 0);
    assert(part > 0 && part <= 1);
    assert(camera->fov_y_rad > 0 && camera->fov_y_rad < 3.1415927F);
    const double slope = (double)part * tan((double)camera->fov_y_rad / 2), slopes[2] = {slope * (double)aspect, slope};
    th_camera_fit fit = {.camera = *camera, .near = HUGE_VAL, .far = -HUGE_VAL, .low = HUGE_VAL, .high = -HUGE_VAL};
    th_camera_axes(camera, fit.axes[0], fit.axes[1], fit.axes[2]);
    for (int step = 0; step <= STEPS; step++) {
        for (int axis = 0; axis < 2; axis++) {
            const double part_of_it = slopes[axis] * step / STEPS;
            fit.slope[axis][step] = part_of_it;
            fit.length[axis][step] = sqrt(1 + part_of_it * part_of_it);
        }
        for (int edge = 0; edge < EDGES; edge++)
            fit.out[edge][step] = -HUGE_VAL;
    }
    return fit;
}

static double dot(const float a[3], const float b[3])
{
    return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2];
}

/* Unlike fmax, this vectorizes. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

void th_camera_fit_add(th_camera_fit *f, const float centre[3], float radius)
{
    assert(f && centre && radius > 0);
    const double depth = dot(f->axes[2], centre), r = (double)radius;
    for (int axis = 0; axis < 2; axis++) {
        double *positive = f->out[2 * axis], *negative = f->out[2 * axis + 1];
        const double aside = dot(f->axes[axis], centre);
        for (int step = 0; step <= STEPS; step++) {
            const double rest = r * f->length[axis][step] - f->slope[axis][step] * depth;
            positive[step] = larger(positive[step], rest + aside);
            negative[step] = larger(negative[step], rest - aside);
        }
    }
    f->near = fmin(f->near, depth - r);
    f->far = fmax(f->far, depth + r);
    f->low = fmin(f->low, (double)centre[1]);
    f->high = fmax(f->high, (double)centre[1]);
}

/* The largest depth at which an eye at any offset sees the spheres. */
static double deepest(const th_camera_fit *f, int axis)
{
    return -(f->out[2 * axis][STEPS] + f->out[2 * axis + 1][STEPS]) / (2 * f->slope[axis][STEPS]);
}

/* The same for an eye at the given offset to the right, or up. */
static double deepest_at(const th_camera_fit *f, int axis, double aside)
{
    return fmin(aside - f->out[2 * axis][STEPS], -aside - f->out[2 * axis + 1][STEPS]) / f->slope[axis][STEPS];
}

/* How far the spheres extend beyond the two planes of this slope; negative if they fit. */
static double excess(const th_camera_fit *f, int axis, int step, double depth)
{
    return f->out[2 * axis][step] + f->out[2 * axis + 1][step] + 2 * f->slope[axis][step] * depth;
}

/* The offset of the eye, to the right or up, at which the spheres are equally far from both edges in the picture. */
static double middle(const th_camera_fit *f, int axis, double depth)
{
    const double *positive = f->out[2 * axis], *negative = f->out[2 * axis + 1];
    int step = STEPS - 1;
    while (step > 0 && excess(f, axis, step, depth) < 0)
        step--;
    const double low = excess(f, axis, step, depth), high = excess(f, axis, step + 1, depth), part = low / (low - high);
    return ((1 - part) * (positive[step] - negative[step]) + part * (positive[step + 1] - negative[step + 1])) / 2;
}

th_camera th_camera_fit_end(const th_camera_fit *f, const th_camera_fit *all)
{
    th_camera camera = f->camera;
    float half_way[3];
    double eye[3], aside[2];
    const double nearest = fmin(deepest(f, 0), deepest(f, 1));
    double depth = nearest;
    assert(f->near < f->far && all->near < all->far); /* each has a sphere */
    assert(memcmp(f->axes, all->axes, sizeof f->axes) == 0 && memcmp(f->slope, all->slope, sizeof f->slope) == 0);
    /* Moving back changes the offset that centres the spheres, which changes how far back the eye must be. So iterate.
     */
    for (int i = 0; i < TURNS; i++) {
        aside[0] = middle(f, 0, depth);
        aside[1] = middle(f, 1, depth);
        depth = fmin(nearest, fmin(deepest_at(all, 0, aside[0]), deepest_at(all, 1, aside[1])));
    }
    for (int i = 0; i < 3; i++)
        eye[i] = aside[0] * (double)f->axes[0][i] + aside[1] * (double)f->axes[1][i] + depth * (double)f->axes[2][i];
    /* Along the line of sight to half the height of the spheres. */
    const double near = f->near - depth, far = f->far - depth,
                 level = ((f->low + f->high) / 2 - eye[1]) / (double)f->axes[2][1],
                 distance = level > near && level < far ? level : (near + far) / 2;
    camera.distance = (float)distance;
    for (int i = 0; i < 3; i++) {
        camera.target[i] = (float)(eye[i] + distance * (double)f->axes[2][i]);
        half_way[i] = (float)(eye[i] + ((all->near + all->far) / 2 - depth) * (double)f->axes[2][i]);
    }
    th_camera_fit_depth(&camera, half_way, (float)((all->far - all->near) / 2));
    return camera;
}
