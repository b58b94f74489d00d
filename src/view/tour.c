#include "tour.h"

#include <assert.h>
#include <math.h>

#define DEGREE (3.14159265358979 / 180)

const th_tour_shot th_tour[TH_TOUR_SHOTS] = {
    {TH_LAYOUT_PLAZA, TH_BEHAVIOUR_NONE, 0, 0.28, 0.08, {-50, 20}, {7, -2}, {0.8, 1.25}, {0, 0}},
    {TH_LAYOUT_STREET, TH_BEHAVIOUR_GRAPH, 0.28, 0.6, 0.15, {8, -22}, {7, -1}, {0.7, 1.1}, {0, 9}},
    {TH_LAYOUT_STADIUM, TH_BEHAVIOUR_NONE, 0.6, 1, 1, {-34, 8}, {9, -2}, {0.75, 1.3}, {0, 0}},
};

uint32_t th_tour_shot_at(double part)
{
    uint32_t shot = 0;
    while (shot + 1 < TH_TOUR_SHOTS && part >= th_tour[shot].end)
        shot++;
    return shot;
}

uint32_t th_tour_count(const th_tour_shot *shot, uint32_t most)
{
    return (uint32_t)fmax(1, shot->crowd * most);
}

/* Begins and ends gently. */
static float between(const double ends[2], double part)
{
    const double gentle = part * part * (3 - 2 * part);
    return (float)(ends[0] + (ends[1] - ends[0]) * gentle);
}

th_camera th_tour_camera(const th_tour_shot *shot, const th_camera *scene, double size, double part)
{
    assert(shot && scene && size > 0);
    const double own = fmin(fmax((part - shot->begin) / (shot->end - shot->begin), 0), 1);
    th_camera camera = *scene;
    th_camera_orbit(&camera, (float)DEGREE * between(shot->yaw_deg, own),
                    (float)DEGREE * between(shot->pitch_deg, own));
    th_camera_zoom(&camera, 1 / between(shot->zoom, own));
    camera.target[2] -= (float)size * between(shot->walked, own);
    return camera;
}
