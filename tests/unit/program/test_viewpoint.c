/* Inside, since a mouse is made up. How hands move the camera. */
#include "src/view/viewpoint.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define HEIGHT 1.8F

static th_viewpoint viewpoint;

static void stand(void)
{
    const th_camera camera = th_camera_look_at((float[3]){3, 4, 12}, (float[3]){1, 1, 2});
    viewpoint = (th_viewpoint){0};
    th_viewpoint_see_all(&viewpoint, &camera);
}

TestSuite(viewpoint, .init = stand);

static void move(th_motion motion)
{
    th_viewpoint_move(&viewpoint, &motion, HEIGHT, 0.1F);
}

static float far_from(const float a[3], const float b[3])
{
    return hypotf(hypotf(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* Where a point of the scene is in a square picture: right and down, from -0.5 to 0.5. */
static void project(const float p[3], float out[2])
{
    float m[16], clip[4];
    th_camera_clip(&viewpoint.camera, 1, m);
    for (int row = 0; row < 4; row++)
        clip[row] = m[row] * p[0] + m[4 + row] * p[1] + m[8 + row] * p[2] + m[12 + row];
    out[0] = clip[0] / clip[3] / 2;
    out[1] = -clip[1] / clip[3] / 2;
}

Test(viewpoint, stays_untouched_until_somebody_moves_it)
{
    move((th_motion){.fast = true});
    cr_expect(!viewpoint.touched);
    move((th_motion){.wheel = 1});
    cr_expect(viewpoint.touched);
    stand();
    cr_expect(!viewpoint.touched);
    th_viewpoint_set(&viewpoint, TH_CAMERA_MODE_FLY);
    cr_expect(viewpoint.touched);
}

Test(viewpoint, orbit_turns_the_crowd_with_the_hand)
{
    const th_camera before = viewpoint.camera;
    float old_spot[2], spot[2], eye[3];
    const float near[3] = {1.5F, 1, 4}; /* between the target and the eye */
    project(near, old_spot);
    move((th_motion){.turn = {0.1F, 0}});
    project(near, spot);
    cr_expect_gt(spot[0], old_spot[0], "dragged to the right");
    cr_expect_float_eq(far_from(viewpoint.camera.target, before.target), 0, 1e-5F);
    cr_expect_float_eq(viewpoint.camera.distance, before.distance, 1e-5F);
    th_camera_eye(&viewpoint.camera, eye);
    const float high = eye[1];
    move((th_motion){.turn = {0, 0.1F}});
    th_camera_eye(&viewpoint.camera, eye);
    cr_expect_gt(eye[1], high, "dragged down, and seen from above");
}

Test(viewpoint, what_is_grabbed_stays_under_the_cursor)
{
    for (th_camera_mode mode = TH_CAMERA_MODE_ORBIT; mode <= TH_CAMERA_MODE_FLY; mode++) {
        stand();
        th_viewpoint_set(&viewpoint, mode);
        float target[3], spot[2];
        memcpy(target, viewpoint.camera.target, sizeof target);
        move((th_motion){.pan = {0.2F, -0.1F}});
        project(target, spot);
        cr_expect_float_eq(spot[0], 0.2F, 1e-4F, "%s", th_camera_mode_name(mode));
        cr_expect_float_eq(spot[1], -0.1F, 1e-4F, "%s", th_camera_mode_name(mode));
    }
}

Test(viewpoint, the_wheel_comes_nearer_but_never_through)
{
    const float before = viewpoint.camera.distance;
    move((th_motion){.wheel = 1});
    cr_expect_lt(viewpoint.camera.distance, before);
    move((th_motion){.wheel = -1});
    cr_expect_float_eq(viewpoint.camera.distance, before, 1e-4F);
    move((th_motion){.wheel = 1000});
    cr_expect(viewpoint.camera.distance > 0.1F * HEIGHT);
    move((th_motion){.wheel = -1000});
    cr_expect(isfinite(viewpoint.camera.distance));
}

Test(viewpoint, walking_goes_where_the_camera_looks_along_the_ground)
{
    float forward[3], right[3], up[3];
    const th_camera before = viewpoint.camera;
    th_camera_axes(&before, right, up, forward);
    move((th_motion){.walk = {0, 0, 1}});
    const float *now = viewpoint.camera.target;
    const float dx = now[0] - before.target[0], dz = now[2] - before.target[2];
    cr_expect_float_eq(now[1], before.target[1], 1e-6F);
    cr_expect_gt(hypotf(dx, dz), 0.01F);
    cr_expect_float_eq(dx * forward[2] - dz * forward[0], 0, 1e-5F);
    cr_expect_gt(dx * forward[0] + dz * forward[2], 0);
    const float far = far_from(now, before.target);
    stand();
    move((th_motion){.walk = {0, 0, 1}, .fast = true});
    cr_expect_float_eq(far_from(viewpoint.camera.target, before.target), 4 * far, 1e-4F);
}

Test(viewpoint, flying_turns_the_eye_on_the_spot_and_moves_it_along_its_sight)
{
    float eye[3], now[3], right[3], up[3], forward[3], turned[3];
    th_viewpoint_set(&viewpoint, TH_CAMERA_MODE_FLY);
    th_camera_eye(&viewpoint.camera, eye);
    th_camera_axes(&viewpoint.camera, right, up, forward);
    move((th_motion){.turn = {0.1F, 0.05F}});
    th_camera_eye(&viewpoint.camera, now);
    cr_expect_float_eq(far_from(eye, now), 0, 1e-4F);
    th_camera_axes(&viewpoint.camera, (float[3]){0}, (float[3]){0}, turned);
    cr_expect_gt(turned[0] * right[0] + turned[1] * right[1] + turned[2] * right[2], 0.05F, "to the right");
    cr_expect_lt(turned[1], forward[1], "and down");
    move((th_motion){.walk = {0, 0, -1}});
    float after[3];
    th_camera_eye(&viewpoint.camera, after);
    for (int k = 0; k < 3; k++)
        cr_expect_float_eq((after[k] - now[k]) / far_from(after, now), -turned[k], 1e-3F, "back");
}

Test(viewpoint, the_wheel_changes_the_speed_of_flight)
{
    float eye[3], after[3];
    th_viewpoint_set(&viewpoint, TH_CAMERA_MODE_FLY);
    const float speed = viewpoint.speed;
    th_camera_eye(&viewpoint.camera, eye);
    move((th_motion){.wheel = 2});
    th_camera_eye(&viewpoint.camera, after);
    cr_expect_float_eq(far_from(eye, after), 0, 1e-6F);
    cr_expect_gt(viewpoint.speed, speed);
}

Test(viewpoint, the_eye_stays_above_the_ground)
{
    for (th_camera_mode mode = TH_CAMERA_MODE_ORBIT; mode < TH_CAMERA_MODE_COUNT; mode++) {
        stand();
        viewpoint.mode = mode;
        viewpoint.speed = 1;
        float eye[3];
        for (int k = 0; k < 100; k++) {
            move((th_motion){.turn = {0.01F, -0.1F}, .walk = {0, -1, 1}, .swing = {0, -1}, .pan = {0, -0.1F}});
            th_camera_eye(&viewpoint.camera, eye);
            cr_assert_gt(eye[1], 0, "%s", th_camera_mode_name(mode));
        }
    }
}

Test(viewpoint, follows_from_behind_and_keeps_up)
{
    const th_follow_target subject = {.centre = {5, 0.9F, -7}, .heading_rad = 1, .height = HEIGHT};
    const float ahead[3] = {5 + sinf(1), 0.9F, -7 + cosf(1)};
    float eye[3];
    th_viewpoint_follow(&viewpoint, 42, &subject);
    cr_expect_eq(viewpoint.mode, TH_CAMERA_MODE_FOLLOW);
    cr_expect_eq(viewpoint.followed, 42);
    th_camera_eye(&viewpoint.camera, eye);
    cr_expect_gt(far_from(eye, ahead), far_from(eye, subject.centre), "behind");
    const th_camera before = viewpoint.camera;
    const th_follow_target later = {.centre = {6, 0.9F, -6}, .heading_rad = 2, .height = HEIGHT};
    th_viewpoint_track(&viewpoint, &later);
    cr_expect_float_eq(far_from(viewpoint.camera.target, later.centre), 0, 1e-6F);
    cr_expect_eq(viewpoint.camera.yaw_rad, before.yaw_rad, "the hand turns, not the character");
    move((th_motion){.walk = {1, 1, 1}, .pan = {1, 1}, .turn = {0.1F, 0}});
    cr_expect_float_eq(far_from(viewpoint.camera.target, later.centre), 0, 1e-6F);
    cr_expect_neq(viewpoint.camera.yaw_rad, before.yaw_rad);
}
