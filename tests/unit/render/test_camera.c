/* Cameras look where they say, at all of what they were asked to show, and their frusta agree with their matrices;
 * those that are framed see all that they should, as near as can be, and have it in the middle. */
#include "fixture_end.h"
#include "random_model.h"

#include <render/camera.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define PI 3.14159265f

enum { SPHERES = 40, POINTS = 2000 };

static uint64_t state = 77;

static float between(float low, float high)
{
    return (float)random_between(&state, (double)low, (double)high);
}

/* Column-major, and the last column is the translation. */
static void apply(const float m[16], const float p[3], double out[4])
{
    for (int row = 0; row < 4; row++) {
        out[row] = (double)m[12 + row];
        for (int col = 0; col < 3; col++)
            out[row] += (double)m[4 * col + row] * (double)p[col];
    }
}

static th_camera random_camera(void)
{
    return (th_camera){.target = {between(-50, 50), between(-5, 5), between(-50, 50)},
                       .distance = between(1, 30),
                       .yaw_rad = between(-4, 4),
                       .pitch_rad = between(-PI / 2, PI / 2),
                       .fov_y_rad = between(0.3f, 2),
                       .near_z = between(0.05f, 1),
                       .far_z = between(50, 500)};
}

#define expect_vec3(got, x, y, z, tolerance)                                                                           \
    do {                                                                                                               \
        cr_expect_float_eq((got)[0], x, tolerance, "x: %g, not %g", (double)(got)[0], (double)(x));                    \
        cr_expect_float_eq((got)[1], y, tolerance, "y: %g, not %g", (double)(got)[1], (double)(y));                    \
        cr_expect_float_eq((got)[2], z, tolerance, "z: %g, not %g", (double)(got)[2], (double)(z));                    \
    } while (0)

/* And has its right where a right-handed scene has it. */
CHECK(camera, looks_from_the_eye_to_the_target)
{
    for (int i = 0; i < 100; i++) {
        float eye[3] = {between(-9, 9), between(-9, 9), between(-9, 9)}, target[3] = {1, between(-9, 9), 2}, got[3];
        th_camera camera = th_camera_look_at(eye, target);
        float view[16], axes[3][3], above[3] = {eye[0], eye[1] + 1, eye[2]};
        double at[4];
        th_camera_eye(&camera, got);
        expect_vec3(got, eye[0], eye[1], eye[2], 1e-5f);
        th_camera_view(&camera, view);
        apply(view, eye, at);
        expect_vec3(at, 0, 0, 0, 1e-5);
        apply(view, target, at);
        expect_vec3(at, 0, 0, (double)-camera.distance, 1e-5);
        apply(view, above, at);
        cr_expect_float_eq(at[0], 0, 1e-5, "the horizon is level");
        cr_expect_gt(at[1], 0, "the sky is up");
        th_camera_axes(&camera, axes[0], axes[1], axes[2]);
        for (int axis = 0; axis < 3; axis++) {
            const float *a = axes[axis], ahead[3] = {eye[0] + a[0], eye[1] + a[1], eye[2] + a[2]};
            apply(view, ahead, at);
            expect_vec3(at, axis == 0, axis == 1, axis == 2 ? -1 : 0, 1e-5);
        }
        cr_expect_lt(axes[2][2] * axes[0][0] - axes[2][0] * axes[0][2], 0);
        th_camera_orbit(&camera, PI / 2, 0);
        th_camera_eye(&camera, got);
        expect_vec3(got, target[0] + eye[2] - target[2], eye[1], target[2] + target[0] - eye[0], 1e-4f);
    }
}

CHECK(camera, looks_straight_down)
{
    th_camera camera = th_camera_look_at((float[]){3, 9, 4}, (float[]){3, 1, 4});
    float view[16];
    double at[4];
    th_camera_view(&camera, view);
    apply(view, (float[]){3, 1, 3}, at);
    expect_vec3(at, 0, 1, -8, 1e-5);
    th_camera_orbit(&camera, 0, 1);
    cr_expect_leq(camera.pitch_rad, PI / 2, "not over the top");
}

CHECK(camera, orbits_the_target_turns_about_the_eye_and_moves_both)
{
    for (int i = 0; i < 50; i++) {
        th_camera camera = random_camera(), before = camera;
        float eye[3], now[3], right[3], up[3], forward[3];
        th_camera_orbit(&camera, between(-9, 9), between(-1, 1));
        cr_expect(memcmp(camera.target, before.target, sizeof camera.target) == 0);
        cr_expect_leq(fabsf(camera.yaw_rad), PI * 1.0001f);

        th_camera_eye(&camera, eye);
        th_camera_turn(&camera, between(-9, 9), between(-1, 1));
        th_camera_eye(&camera, now);
        expect_vec3(now, eye[0], eye[1], eye[2], 1e-4f);

        before = camera;
        th_camera_axes(&camera, right, up, forward);
        th_camera_move(&camera, 1, 2, 3);
        th_camera_eye(&camera, eye);
        for (int n = 0; n < 3; n++)
            cr_expect_float_eq(eye[n], now[n] + right[n] + 2 * up[n] + 3 * forward[n], 1e-4f);
        th_camera_zoom(&camera, 0.5f);
        cr_expect_float_eq(camera.distance, before.distance / 2, 1e-6f);
    }
}

/* What a projection is by its definition. */
CHECK(camera, projects_as_a_pinhole_does)
{
    for (int i = 0; i < 200; i++) {
        th_camera camera = random_camera();
        float aspect = between(0.4f, 3), projection[16], p[3] = {between(-9, 9), between(-9, 9), between(-90, -1)};
        double at[4], slope = tan((double)camera.fov_y_rad / 2), depth = -(double)p[2];
        double n = (double)camera.near_z, f = (double)camera.far_z;
        th_camera_projection(&camera, aspect, projection);
        apply(projection, p, at);
        cr_expect_float_eq(at[0] / at[3], (double)p[0] / depth / slope / (double)aspect, 1e-5);
        cr_expect_float_eq(at[1] / at[3], (double)p[1] / depth / slope, 1e-5);
        cr_expect_float_eq(at[2] / at[3], (f + n) / (f - n) - 2 * f * n / (f - n) / depth, 1e-4);
        cr_expect_float_eq(th_camera_pixels(&camera, 720) * (p[1] / (float)depth), 360 * at[1] / at[3], 0.01,
                           "pixels from the middle");
    }
}

/* ---- frames ---- */

static void random_on_sphere(const float centre[3], float radius, float out[3])
{
    float length = 0;
    while (!(length > 0.1f && length < 1)) {
        for (int i = 0; i < 3; i++)
            out[i] = between(-1, 1);
        length = sqrtf(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    }
    for (int i = 0; i < 3; i++)
        out[i] = centre[i] + radius * out[i] / length;
}

CHECK(camera, fits_its_depth_to_a_sphere_wherever_the_eye_is)
{
    for (int i = 0; i < 300; i++) {
        th_camera camera = random_camera();
        float centre[3] = {between(-40, 40), 1, between(-40, 40)}, radius = between(0.1f, 60), view[16], point[3];
        double at[4];
        th_camera_fit_depth(&camera, centre, radius);
        cr_expect(camera.near_z > 0 && camera.far_z > camera.near_z && camera.far_z <= 10001 * camera.near_z,
                  "%g to %g", (double)camera.near_z, (double)camera.far_z);
        th_camera_view(&camera, view);
        for (int n = 0; n < 50; n++) {
            random_on_sphere(centre, radius, point);
            apply(view, point, at);
            cr_expect_leq(-at[2], (double)camera.far_z * 1.0001 + 1e-4);
            cr_expect(-at[2] >= (double)camera.near_z * 0.9999 - 1e-4 || camera.far_z >= 9999 * camera.near_z);
        }
    }
}

/* ---- frusta ---- */

static bool inside(const th_frustum *frustum, const float p[3], double slack)
{
    for (int i = 0; i < 6; i++) {
        const float *plane = frustum->plane[i];
        double length = 0, at = (double)plane[3];
        for (int n = 0; n < 3; n++) {
            at += (double)plane[n] * (double)p[n];
            length += (double)plane[n] * (double)plane[n];
        }
        cr_assert_float_eq(length, 1, 1e-5);
        if (at < -slack)
            return false;
    }
    return true;
}

static bool drawn(const float clip[16], const float p[3])
{
    double at[4];
    apply(clip, p, at);
    return fabs(at[0]) <= at[3] && fabs(at[1]) <= at[3] && fabs(at[2]) <= at[3];
}

CHECK(camera, sees_what_its_frustum_holds)
{
    int seen = 0;
    for (int i = 0; i < 300; i++) {
        th_camera camera = random_camera();
        float aspect = between(0.4f, 3), clip[16], right[3], up[3], forward[3], eye[3], p[3];
        th_camera_clip(&camera, aspect, clip);
        th_camera_eye(&camera, eye);
        th_camera_axes(&camera, right, up, forward);
        th_frustum frustum;
        th_camera_frustum(&camera, aspect, &frustum);
        for (int n = 0; n < 1000; n++) {
            float depth = between(-0.1f, 1.2f) * camera.far_z * (n % 2 ? 1 : 0.01f), x = between(-3, 3) * depth,
                  y = between(-3, 3) * depth;
            for (int k = 0; k < 3; k++)
                p[k] = eye[k] + depth * forward[k] + x * right[k] + y * up[k];
            bool visible = drawn(clip, p);
            seen += visible;
            cr_expect(!visible || inside(&frustum, p, 1e-4), "what is drawn is in the frustum");
            cr_expect(visible || !inside(&frustum, p, -1e-3) || depth > camera.far_z * 0.998f, "and nothing else");
        }
    }
    cr_expect_gt(seen, 5000, "%d", seen);
}

/* A light's: orthographic, turned and moved. */
CHECK(camera, takes_the_frustum_of_any_matrix)
{
    const float clip[16] = {0, 0.2f, 0, 0, -0.1f, 0, 0, 0, 0, 0, -0.05f, 0, 0.5f, 0.25f, 0, 1};
    th_frustum frustum;
    th_frustum_from_matrix(clip, &frustum);
    int seen = 0;
    for (int n = 0; n < 20000; n++) {
        float p[3] = {between(-10, 10), between(-20, 20), between(-30, 30)};
        bool visible = drawn(clip, p);
        seen += visible;
        cr_expect(!visible || inside(&frustum, p, 1e-4));
        cr_expect(visible || !inside(&frustum, p, -1e-4));
    }
    cr_expect_gt(seen, 1000, "%d", seen);
}

/* ---- framed ---- */

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
            float p[3];
            double at[4];
            for (int axis = 0; axis < 3; axis++)
                p[axis] = (float)((double)s[axis] + (double)s[3] * unit[axis]);
            apply(clip, p, at);
            cr_assert_gt(at[3], 0, "behind the eye");
            for (int axis = 0; axis < 3; axis++) {
                e.low[axis] = fmin(e.low[axis], at[axis] / at[3]);
                e.high[axis] = fmax(e.high[axis], at[axis] / at[3]);
            }
        }
    return e;
}

CHECK(camera, fills_its_part_of_the_picture_and_keeps_to_the_middle)
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
CHECK(camera, aims_at_half_the_height)
{
    task t = random_task(SPHERES);
    th_camera_orbit(&t.camera, 0, 0.5f - t.camera.pitch_rad);
    for (int i = 0; i < SPHERES; i++)
        t.spheres[i][1] = i % 2 ? 0.8f : 1;
    const th_camera_fit fit = fit_of(&t);
    cr_expect_float_eq(th_camera_fit_end(&fit, &fit).target[1], 0.9f, 1e-4f);
}

CHECK(camera, sees_what_is_not_in_the_middle)
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

CHECK(camera, is_valid_within_its_ranges)
{
    const th_camera good = th_camera_look_at((const float[3]){0, 1, 5}, (const float[3]){0, 0, 0});
    const struct {
        size_t field;
        float value;
    } bad[] = {
        {offsetof(th_camera, target[1]), NAN},  {offsetof(th_camera, yaw_rad), INFINITY},
        {offsetof(th_camera, pitch_rad), NAN},  {offsetof(th_camera, distance), 0},
        {offsetof(th_camera, distance), NAN},   {offsetof(th_camera, distance), INFINITY},
        {offsetof(th_camera, fov_y_rad), 0},    {offsetof(th_camera, fov_y_rad), 3.15F},
        {offsetof(th_camera, near_z), 0},       {offsetof(th_camera, far_z), good.near_z},
        {offsetof(th_camera, far_z), INFINITY},
    };
    cr_expect(th_camera_is_valid(&good) && !th_camera_is_valid(NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        th_camera camera = good;
        memcpy((char *)&camera + bad[i].field, &bad[i].value, sizeof bad[i].value);
        cr_expect(!th_camera_is_valid(&camera), "%zu", i);
    }
}

Test(camera, checks)
{
    run_checks("camera");
}
