/* Inside, since the camera is only drawn. The camera of the demo sees one scene after the other, and never jumps
 * within one. */
#include "src/view/tour.h"

#include <criterion/criterion.h>
#include <math.h>

static const th_camera scene = {.target = {1, 2, 3},
                                .distance = 30,
                                .yaw_rad = 0.4F,
                                .pitch_rad = 0.14F,
                                .fov_y_rad = 0.7F,
                                .near_z = 0.1F,
                                .far_z = 900};

Test(tour, goes_through_each_shot_once)
{
    uint32_t last = 0;
    cr_expect_eq(th_tour[0].begin, 0);
    cr_expect_eq(th_tour[TH_TOUR_SHOTS - 1].end, 1);
    for (uint32_t shot = 1; shot < TH_TOUR_SHOTS; shot++)
        cr_expect_eq(th_tour[shot].begin, th_tour[shot - 1].end);
    for (double part = 0; part <= 1; part += 0.001) {
        const uint32_t shot = th_tour_shot_at(part);
        cr_expect(part >= th_tour[shot].begin && part < th_tour[shot].end + 1e-9 && shot >= last);
        last = shot;
    }
    cr_expect_eq(last, TH_TOUR_SHOTS - 1);
    cr_expect_eq(th_tour_shot_at(1), TH_TOUR_SHOTS - 1);
}

Test(tour, shows_the_largest_crowd_once_and_no_empty_one)
{
    uint32_t most = 0;
    for (uint32_t shot = 0; shot < TH_TOUR_SHOTS; shot++) {
        most = (uint32_t)fmax(most, th_tour_count(&th_tour[shot], 10000));
        cr_expect_geq(th_tour_count(&th_tour[shot], 1), 1);
    }
    cr_expect_eq(most, 10000);
}

/* A step of a thousandth of a shot moves the eye by less than a fiftieth of its distance, and it stays above ground. */
Test(tour, moves_gently)
{
    for (uint32_t shot = 0; shot < TH_TOUR_SHOTS; shot++) {
        const th_tour_shot *s = &th_tour[shot];
        float last[3];
        for (int step = 0; step <= 1000; step++) {
            const th_camera camera = th_tour_camera(s, &scene, 1.8, s->begin + (s->end - s->begin) * step / 1000);
            float eye[3], moved = 0;
            th_camera_eye(&camera, eye);
            for (int i = 0; i < 3; i++) {
                moved = fmaxf(moved, step > 0 ? fabsf(eye[i] - last[i]) : 0);
                last[i] = eye[i];
            }
            cr_expect_lt(moved, scene.distance / 50, "shot %u, step %d: %g", shot, step, (double)moved);
            cr_expect_gt(camera.pitch_rad, 0);
        }
        const th_camera first = th_tour_camera(s, &scene, 1.8, s->begin), end = th_tour_camera(s, &scene, 1.8, s->end);
        cr_expect(first.yaw_rad != end.yaw_rad && first.distance != end.distance);
    }
}
