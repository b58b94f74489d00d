#include "picture_check.h"

#include <core/clock.h>
#include <core/random.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOMENTS = 3600, WARM_UP = 4, BUSY_PIXELS = 1024 };

#define APART_S  0.37 /* between frames, so that they look different */
#define BUSY_NS  200000000u
#define GRACE_NS 1000000u /* the driver's own point in its work and ours are not reached at the same time */

/* All slots of the ring hold the frame that is read, so none can be the wrong one. */
static void draw_alone(const th_picture *p, th_crowd_view *crowd_view, double time_s, const th_camera *camera,
                       uint8_t *out)
{
    for (int slot = 0; slot < TH_RING_SLOTS; slot++)
        th_picture_draw(p, crowd_view, time_s, camera);
    th_gl_finish(p->gl);
    th_target_read(p->target, out);
}

/* Frames are drawn before it, and all slots of the ring are written again before it is read. */
static void draw_in_flight(const th_picture *p, th_crowd_view *crowd_view, double time_s, const th_camera *camera,
                           uint8_t *out)
{
    for (int before = TH_RING_SLOTS; before >= 0; before--)
        th_picture_draw(p, crowd_view, time_s + before * APART_S, camera);
    for (int after = 1; after <= TH_RING_SLOTS; after++)
        th_crowd_view_pose(crowd_view, time_s - after * APART_S, camera, p->size.width, p->size.height);
    th_target_read(p->target, out);
}

/* Work that keeps the GPU busy: averaging the samples of a large target. */
static void resolve(const th_picture *p, const th_target *target, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        th_target_resolve(target);
    th_gl_swap(p->gl);
}

static uint32_t times_for(const th_picture *p, const th_target *target, uint64_t ns)
{
    const uint64_t begin = th_clock_ns();
    resolve(p, target, WARM_UP);
    th_gl_finish(p->gl);
    return 1 + (uint32_t)(ns * WARM_UP / (th_clock_ns() - begin));
}

/* Whether a slot is written only after the GPU has read it. Palettes show whether it is only where a GPU is as late as
 * this; without one, vertices are moved when they are drawn. So the GPU is kept busy, and asked how far it is. */
static bool waits_for_gpu(const th_picture *p, th_crowd_view *crowd_view, double time_s, const th_camera *camera,
                          const th_target *busy)
{
    resolve(p, busy, times_for(p, busy, BUSY_NS));
    th_crowd_view_frame(crowd_view, time_s, camera, p->target, p->size.width, p->size.height);
    th_gl_point *drawn = th_gl_point_now(p->gl);
    th_picture_submit(p);
    for (int after = 1; after <= TH_RING_SLOTS; after++)
        th_crowd_view_pose(crowd_view, time_s - after * APART_S, camera, p->size.width, p->size.height);
    const bool waits = th_gl_passed(p->gl, drawn, GRACE_NS);
    th_gl_finish(p->gl);
    return waits;
}

static size_t count_differing(const uint8_t *a, const uint8_t *b, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i += 4)
        count += memcmp(a + i, b + i, 4) != 0;
    return count;
}

static void check_content(const th_picture *p, th_crowd_view *crowd_view, const th_camera *camera, double time_s,
                          th_row *row)
{
    const size_t bytes = th_target_bytes(p->target);
    uint8_t *alone = malloc(2 * bytes);
    if (!alone) {
        snprintf(row->failure, sizeof row->failure, "no memory to check its pictures");
        return;
    }
    th_crowd_view_be_repeatable(crowd_view, true);
    draw_alone(p, crowd_view, time_s, camera, alone);
    draw_in_flight(p, crowd_view, time_s, camera, alone + bytes);
    th_crowd_view_be_repeatable(crowd_view, false);
    const size_t differing = count_differing(alone, alone + bytes, bytes);
    if (differing > 0)
        snprintf(row->failure, sizeof row->failure,
                 "at %.0f s the picture shows palettes of another frame when frames are in flight: %zu of %zu pixels "
                 "differ",
                 time_s, differing, bytes / 4);
    free(alone);
}

static void check_waiting(const th_picture *p, th_crowd_view *crowd_view, const th_camera *camera, double time_s,
                          th_row *row)
{
    const th_target_desc size = {
        .width = BUSY_PIXELS, .height = BUSY_PIXELS, .samples = th_gl_get_info(p->gl)->max_samples};
    th_target *busy;
    th_error err;
    if (th_target_create(&size, &busy, &err) != TH_OK) {
        snprintf(row->failure, sizeof row->failure, "its fences cannot be checked: %.180s", err.text);
        return;
    }
    if (!waits_for_gpu(p, crowd_view, time_s, camera, busy))
        snprintf(row->failure, sizeof row->failure,
                 "palettes are written again before the GPU has drawn the frame that reads them");
    th_target_destroy(busy);
}

void th_picture_check(const th_picture *p, th_crowd_view *crowd_view, const th_camera *camera, th_row *row)
{
    const double time_s = 10 + (double)(th_random_bits(th_clock_ns(), 0) % MOMENTS);
    if (!row->failure[0])
        check_content(p, crowd_view, camera, time_s, row);
    if (!row->failure[0])
        check_waiting(p, crowd_view, camera, time_s, row);
}
