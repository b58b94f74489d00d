/* The plain reference of who is in a picture, on spheres of which it is known. The camera is at the origin, looks along
 * -Z, and sees 45 degrees to each side. */
#include <bench/sight.h>

#include <criterion/criterion.h>
#include <math.h>

/* Depths from 1 to 100; the light is above, and its map covers all that is 10 to each side. */
static th_sight_view view(void)
{
    const float depth = -101.0F / 99, offset = -200.0F / 99;
    return (th_sight_view){
        .clip_from_scene = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, depth, -1, 0, 0, offset, 0},
        .near_z = 1,
        .far_z = 100,
        .height_px = 1000,
        .to_light = {0, 1, 0},
        .ground = -20,
        .map = {{1, 0, 0, 10}, {-1, 0, 0, 10}, {0, 0, 1, 99}, {0, 0, -1, 99}, {0, 1, 0, 99}, {0, -1, 0, 99}},
    };
}

/* Inside, on the edge, and outside of each plane. */
Test(sight, is_of_spheres_that_reach_into_all_half_spaces)
{
    const float r = 0.5F, aside = 20 + r * sqrtf(2);
    const float edges[][3] = {{-aside, 0, -20}, {aside, 0, -20}, {0, -aside, -20}, {0, aside, -20}};
    const th_sight_view v = view();
    for (int e = 0; e < 4; e++)
        for (int side = -1; side <= 1; side++) {
            const float off = 1 + 1e-3F * (float)side;
            const th_sight sight = th_sight_of(&v, (float[3]){off * edges[e][0], off * edges[e][1], -20}, r);
            cr_expect(sight.may_be_seen == (side <= 0) && sight.must_be_seen == (side < 0), "%d, %d", e, side);
        }
    cr_expect(th_sight_of(&v, (float[3]){0, 0, -0.51F}, r).must_be_seen);
    cr_expect(!th_sight_of(&v, (float[3]){0, 0, -0.49F}, r).may_be_seen);
    cr_expect(th_sight_of(&v, (float[3]){0, 0, -100.4F}, r).must_be_seen);
    cr_expect(!th_sight_of(&v, (float[3]){0, 0, -100.7F}, r).may_be_seen);
}

/* Those above fall into sight on their way to the ground, but not those beyond the map. */
Test(sight, is_of_shadows_that_fall_into_it)
{
    th_sight_view v = view();
    cr_expect(!th_sight_of(&v, (float[3]){5, 40, -20}, 1).may_cast, "there are no shadows");
    v.has_shadows = true;
    cr_expect(th_sight_of(&v, (float[3]){5, 40, -20}, 1).must_cast);
    cr_expect(!th_sight_of(&v, (float[3]){5, -40, -20}, 1).may_cast, "below");
    cr_expect(!th_sight_of(&v, (float[3]){12, 40, -20}, 1).may_cast, "beyond the map");
    cr_expect(!th_sight_of(&v, (float[3]){0, 0, -20}, 1).may_cast, "in sight");
}

/* docs/notes/drawing.md has these sizes. */
Test(sight, has_the_levels_of_the_table)
{
    static const double limits_px[] = {178.57, 115.54, 74.11, 47.04, 29.46, 18.15, 10.94, 6.392, 3.571};
    const th_sight_view v = view();
    for (uint32_t n = 0; n < 9; n++)
        for (int side = -1; side <= 1; side += 2) {
            const double px = limits_px[n] * (1 + side * 5e-3); /* 500 pixels of a unit at distance 1 */
            const th_sight sight = th_sight_of(&v, (float[3]){0, 0, -50}, (float)(px * 50 / 1000));
            cr_expect(sight.finest == n + (side < 0) && sight.coarsest == sight.finest, "%u: %u to %u", n, sight.finest,
                      sight.coarsest);
        }
}
