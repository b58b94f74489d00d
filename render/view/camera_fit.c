/* An edge of the picture is a plane through the eye. Use the camera's axes (right x, up y, forward z), and let s be the
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
#include <throng/render/camera_fit.h>

#include <assert.h>
#include <math.h>
#include <string.h>

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

/* The distance along the line of sight to half the height of the spheres. */
static double distance_to_target(const th_camera_fit *f, double eye_y, double eye_depth, double forward_y)
{
    const double near = f->near - eye_depth, far = f->far - eye_depth;
    const double distance = ((f->low + f->high) / 2 - eye_y) / forward_y;
    return distance > near && distance < far ? distance : (near + far) / 2;
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
    const double distance = distance_to_target(f, eye[1], depth, (double)f->axes[2][1]);
    camera.distance = (float)distance;
    for (int i = 0; i < 3; i++) {
        camera.target[i] = (float)(eye[i] + distance * (double)f->axes[2][i]);
        half_way[i] = (float)(eye[i] + ((all->near + all->far) / 2 - depth) * (double)f->axes[2][i]);
    }
    th_camera_fit_depth(&camera, half_way, (float)((all->far - all->near) / 2));
    return camera;
}
