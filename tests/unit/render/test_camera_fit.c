/* Cameras that are framed see all that they should, as near as can be, and have it in the middle. */
#include "random_model.h"

#include <throng/render/camera.h>

#include <criterion/criterion.h>
#include <math.h>

#define SEED 78u

enum { SPHERES = 40, POINTS = 2000 };

static uint64_t state;

static void seed(void)
{
    state = SEED;
}

TestSuite(camera_fit, .init = seed);

static float between(float low, float high)
{
    return (float)random_between(&state, (double)low, (double)high);
}

/* Any angles, and a picture upright or wide. */
typedef struct task {
    th_camera camera;
    float aspect, part, spheres[SPHERES][4];
    int count;
} task;

static task random_task(int count)
{
    task t = {.aspect = between(0.4f, 3), .part = between(0.5f, 1), .count = count};
    t.camera = th_camera_look_at((float[3]){0, 0, 1}, (float[3]){0, 0, 0});
    t.camera.fov_y_rad = between(0.3f, 1.5f);
    th_camera_orbit(&t.camera, between(-4, 4), between(-1.5f, 1.5f));
    const float wide = between(1, 40), deep = between(1, 40);
    for (int i = 0; i < count; i++) {
        t.spheres[i][0] = 7 + between(-wide, wide);
        t.spheres[i][1] = between(0, 3);
        t.spheres[i][2] = between(-deep, deep) - 9;
        t.spheres[i][3] = between(0.1f, 2);
    }
    return t;
}

static th_camera_fit fit_of(const task *t)
{
    th_camera_fit fit = th_camera_fit_begin(&t->camera, t->aspect, t->part);
    for (int i = 0; i < t->count; i++)
        th_camera_fit_add(&fit, t->spheres[i], t->spheres[i][3]);
    return fit;
}

/* What the spheres take of the picture: from -1 to 1 across, upwards, and of the depth. */
typedef struct extent {
    double low[3], high[3];
} extent;

static void look_at_point(const float clip[16], const double p[3], extent *e)
{
    double at[4];
    for (int row = 0; row < 4; row++) {
        at[row] = (double)clip[12 + row];
        for (int col = 0; col < 3; col++)
            at[row] += (double)clip[4 * col + row] * p[col];
    }
    cr_assert_gt(at[3], 0, "behind the eye");
    for (int axis = 0; axis < 3; axis++) {
        e->low[axis] = fmin(e->low[axis], at[axis] / at[3]);
        e->high[axis] = fmax(e->high[axis], at[axis] / at[3]);
    }
}

/* Points spread evenly over each sphere, from pole to pole. */
static extent extent_of(const task *t, const th_camera *camera)
{
    extent e = {{9, 9, 9}, {-9, -9, -9}};
    float clip[16];
    th_camera_clip(camera, t->aspect, clip);
    for (int i = 0; i < t->count; i++)
        for (int n = 0; n < POINTS; n++) {
            const float *s = t->spheres[i];
            const double y = 1 - 2 * (n + 0.5) / POINTS, ring = sqrt(1 - y * y), angle = 2.399963 * n;
            const double unit[3] = {ring * cos(angle), y, ring * sin(angle)};
            double p[3];
            for (int axis = 0; axis < 3; axis++)
                p[axis] = (double)s[axis] + (double)s[3] * unit[axis];
            look_at_point(clip, p, &e);
        }
    return e;
}

Test(camera_fit, fills_its_part_of_the_picture_and_keeps_to_the_middle)
{
    for (int i = 0; i < 200; i++) {
        const task t = random_task(i % 3 ? 1 + i % SPHERES : 1);
        const th_camera_fit fit = fit_of(&t);
        const th_camera camera = th_camera_fit_end(&fit, &fit);
        const extent e = extent_of(&t, &camera);
        const double part = (double)t.part;
        double fullest = 0;
        cr_expect(camera.yaw_rad == t.camera.yaw_rad && camera.pitch_rad == t.camera.pitch_rad, "it does not turn");
        cr_expect_gt(camera.distance, 0);
        for (int axis = 0; axis < 2; axis++) {
            cr_expect(e.low[axis] > -1.001 * part && e.high[axis] < 1.001 * part, "%d: from %g to %g of %g", i,
                      e.low[axis], e.high[axis], part);
            cr_expect_lt(fabs(e.low[axis] + e.high[axis]), 0.06 * part, "%d: from %g to %g", i, e.low[axis],
                         e.high[axis]);
            fullest = fmax(fullest, (e.high[axis] - e.low[axis]) / (2 * part));
        }
        cr_expect_gt(fullest, 0.97, "%d: fills %g", i, fullest);
        cr_expect(e.low[2] > -1.001 && e.high[2] < 1.001, "from %g to %g of the depth", e.low[2], e.high[2]);
    }
}

/* Zooming in goes to what stands there, and not to the air above. */
Test(camera_fit, aims_at_half_the_height)
{
    task t = random_task(SPHERES);
    th_camera_orbit(&t.camera, 0, 0.5f - t.camera.pitch_rad);
    for (int i = 0; i < SPHERES; i++)
        t.spheres[i][1] = i % 2 ? 0.8f : 1;
    const th_camera_fit fit = fit_of(&t);
    cr_expect_float_eq(th_camera_fit_end(&fit, &fit).target[1], 0.9f, 1e-4f);
}

Test(camera_fit, sees_what_is_not_in_the_middle)
{
    for (int i = 0; i < 100; i++) {
        task few = random_task(3), all = few;
        for (all.count = 3; all.count < 10; all.count++)
            for (int k = 0; k < 4; k++)
                all.spheres[all.count][k] = k == 3 ? 0.5f : few.spheres[0][k] + between(-30, 30);
        const th_camera_fit some = fit_of(&few), whole = fit_of(&all);
        const th_camera near = th_camera_fit_end(&some, &some), far = th_camera_fit_end(&some, &whole);
        const extent e = extent_of(&all, &far), middle = extent_of(&few, &far);
        double reached = 0;
        for (int axis = 0; axis < 2; axis++) {
            cr_expect_lt(fabs(middle.low[axis] + middle.high[axis]), 0.06 * (double)all.part, "%d: from %g to %g", i,
                         middle.low[axis], middle.high[axis]);
            reached = fmax(reached, fmax(-e.low[axis], e.high[axis]) / (double)all.part);
        }
        cr_expect(reached > 0.97 && reached < 1.001, "%d: up to %g", i, reached);
        cr_expect(e.low[2] > -1.001 && e.high[2] < 1.001, "from %g to %g of the depth", e.low[2], e.high[2]);
        cr_expect_geq(far.distance, near.distance * 0.9999f);
    }
}
