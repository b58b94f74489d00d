#include "viewpoint.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define PI           3.14159265F
#define ORBIT_RAD    PI   /* for a drag over the window's height */
#define LOOK_RAD     1.5F /* the same in fly mode */
#define SWING_RAD    1.2F /* per second with an arrow key */
#define WHEEL_ZOOM   0.88F
#define WHEEL_SPEED  1.25F
#define WALK         0.8F /* part of the distance to the target per second */
#define FAST         4
#define LOWEST_PITCH 0.01F

const char *th_camera_mode_name(th_camera_mode mode)
{
    static const char *const names[] = {"orbit", "fly", "follow"};
    return names[mode];
}

void th_viewpoint_see_all(th_viewpoint *v, const th_camera *camera)
{
    v->camera = *camera;
    v->mode = TH_CAMERA_MODE_ORBIT;
    v->touched = false;
}

void th_viewpoint_follow(th_viewpoint *v, uint32_t instance, const th_follow_target *subject)
{
    v->mode = TH_CAMERA_MODE_FOLLOW;
    v->followed = instance;
    v->touched = true;
    v->camera.distance = 3.4F * subject->height;
    v->camera.yaw_rad = remainderf(subject->heading_rad + PI + 0.5F, 2 * PI);
    v->camera.pitch_rad = 0.22F;
    th_viewpoint_track(v, subject);
}

void th_viewpoint_track(th_viewpoint *v, const th_follow_target *subject)
{
    memcpy(v->camera.target, subject->centre, sizeof v->camera.target);
}

void th_viewpoint_set(th_viewpoint *v, th_camera_mode mode)
{
    assert(mode < TH_CAMERA_MODE_COUNT && mode != TH_CAMERA_MODE_FOLLOW);
    v->mode = mode;
    v->touched = true;
    v->speed = 0.5F * v->camera.distance;
}

void th_viewpoint_move(th_viewpoint *v, const th_motion *m, float height, float elapsed_s)
{
    assert(height > 0 && elapsed_s >= 0);
    const bool moves = m->turn[0] != 0 || m->turn[1] != 0 || m->pan[0] != 0 || m->pan[1] != 0 || m->wheel != 0 ||
                       m->walk[0] != 0 || m->walk[1] != 0 || m->walk[2] != 0 || m->swing[0] != 0 || m->swing[1] != 0;
    if (!moves)
        return;
    th_camera *camera = &v->camera;
    const bool is_flying = v->mode == TH_CAMERA_MODE_FLY;
    const float swing = SWING_RAD * elapsed_s,
                notches = fminf(fmaxf(m->wheel, -50), 50); /* a power must not overflow */
    float far = elapsed_s * (m->fast ? FAST : 1);
    v->touched = true;
    if (is_flying) {
        v->speed = fminf(fmaxf(v->speed * powf(WHEEL_SPEED, notches), 0.05F * height), 1e3F * height);
        far *= v->speed;
        th_camera_turn(camera, -swing * m->swing[0] - LOOK_RAD * m->turn[0],
                       LOOK_RAD * m->turn[1] - swing * m->swing[1]);
    } else {
        far *= WALK * camera->distance;
        th_camera_orbit(camera, swing * m->swing[0] - ORBIT_RAD * m->turn[0],
                        swing * m->swing[1] + ORBIT_RAD * m->turn[1]);
        camera->pitch_rad = fmaxf(camera->pitch_rad, LOWEST_PITCH);
        th_camera_zoom(camera, powf(WHEEL_ZOOM, notches));
        camera->distance = fminf(fmaxf(camera->distance, 0.3F * height), 1e5F * height);
    }
    if (v->mode != TH_CAMERA_MODE_FOLLOW) {
        /* A point at the target's distance stays under the cursor. */
        const float tall = 2 * camera->distance * tanf(camera->fov_y_rad / 2);
        th_camera_move(camera, -m->pan[0] * tall, m->pan[1] * tall, 0);
        if (is_flying) {
            th_camera_move(camera, far * m->walk[0], 0, far * m->walk[2]);
        } else { /* along the ground, whatever the camera's pitch */
            const float sine = sinf(camera->yaw_rad), cosine = cosf(camera->yaw_rad);
            camera->target[0] += far * (m->walk[0] * cosine - m->walk[2] * sine);
            camera->target[2] += far * (-m->walk[0] * sine - m->walk[2] * cosine);
        }
        camera->target[1] += far * m->walk[1];
    }
    float eye[3];
    th_camera_eye(camera, eye);
    camera->target[1] += fmaxf(0, 0.05F * height - eye[1]);
}
