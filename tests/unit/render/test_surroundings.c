/* Inside, since what stands around is only drawn. What stands around a crowd is in nobody's way, and under the feet
 * of spectators are the rows of a stand. */
#include "fixture_end.h"
#include "render/view/surroundings.h"

#include <criterion/criterion.h>
#include <math.h>

enum { COUNT = 700 };

static const double unit = 0.5; /* scene units in a metre */
static const th_locomotion locomotions[] = {
    {.sphere = {{0, 0.45f, 0}, 0.5f}, .reach = 0.38f, .scale = 1, .speed = 0.6f},
    {.sphere = {{0, 0.45f, 0}, 0.5f}, .reach = 0.38f, .scale = 1},
};
static th_instance_motion motions[COUNT];
static th_instance_transform placed[COUNT];
static th_layout layout;
static th_shape shape;

static void build_for(th_layout_kind kind, uint32_t count)
{
    for (uint32_t i = 0; i < COUNT; i++)
        motions[i] = (th_instance_motion){.locomotion = i % 3 == 0, .speed = 1};
    layout = th_layout_make(&(th_layout_desc){.kind = kind,
                                              .seed = 3,
                                              .locomotions = locomotions,
                                              .locomotion_count = 2,
                                              .motions = motions,
                                              .count = count});
    th_layout_place(&layout, 0, count, 0, placed);
    th_surroundings_build(&layout, unit, &shape);
    cr_assert(!shape.failed && shape.index_count % 6 == 0 && shape.vertex_count == shape.index_count / 6 * 4);
}

static void build(th_layout_kind kind)
{
    build_for(kind, COUNT);
}

static void clear(void)
{
    th_shape_fini(&shape);
}

/* The four corners of quad q. */
static const th_shape_vertex *quad(uint32_t q)
{
    return &shape.vertices[4 * q];
}

static uint32_t quad_count(void)
{
    return shape.vertex_count / 4;
}

CHECK(surroundings, are_of_scenes_only)
{
    for (th_layout_kind kind = 0; kind < TH_LAYOUT_COUNT; kind++) {
        build(kind);
        cr_expect_eq(shape.vertex_count > 0, th_surroundings_has(kind), "%s", th_layout_name(kind));
        cr_expect_eq(th_surroundings_has(kind), kind != TH_LAYOUT_GRID && kind != TH_LAYOUT_RING);
        clear();
    }
}

/* Lanes may meander by a metre or two, and who stands on the pavement has room. */
CHECK(surroundings, leave_a_street_free)
{
    build(TH_LAYOUT_STREET);
    double widest = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        widest = fmax(widest, fabs((double)placed[i].position[0]));
    for (uint32_t v = 0; v < shape.vertex_count; v++) {
        const float *p = shape.vertices[v].position;
        if (fabs((double)p[2]) > (double)layout.length / 2 + 50 * unit) /* houses across the ends */
            continue;
        cr_expect((double)p[1] > 2.5 * unit || fabs((double)p[0]) > layout.lanes / 2 * layout.lane_width + 2 * unit,
                  "in the lanes at %g, %g", (double)p[0], (double)p[2]);
        cr_expect((double)p[1] > 2.5 * unit || fabs((double)p[0]) > widest + 0.3 * unit, "in the way at %g, %g",
                  (double)p[0], (double)p[2]);
    }
}

CHECK(surroundings, leave_groups_in_a_plaza_free)
{
    build(TH_LAYOUT_PLAZA);
    for (uint32_t i = 0; i < COUNT; i++) {
        double nearest = HUGE_VAL;
        for (uint32_t v = 0; v < shape.vertex_count; v++) {
            const float *p = shape.vertices[v].position;
            if ((double)p[1] < 2 * unit)
                nearest = fmin(nearest,
                               hypot((double)(p[0] - placed[i].position[0]), (double)(p[2] - placed[i].position[2])));
        }
        cr_expect_gt(nearest, 0.5 * unit, "%u is %g away from something", i, nearest);
    }
}

static void check_spectators(uint32_t count)
{
    build_for(TH_LAYOUT_STADIUM, count);
    for (uint32_t i = 0; i < count; i++) {
        float nearest = HUGE_VALF;
        for (uint32_t q = 0; q < quad_count(); q++) {
            int left = 0, right = 0; /* of its sides, seen from above */
            for (int c = 0; c < 4; c++) {
                const float *a = quad(q)[c].position, *b = quad(q)[(c + 1) % 4].position, *at = placed[i].position;
                const float turn = (b[0] - a[0]) * (at[2] - a[2]) - (b[2] - a[2]) * (at[0] - a[0]);
                left += turn >= 0;
                right += turn <= 0;
            }
            if (quad(q)->normal[1] == 127 && (left == 4 || right == 4)) /* faces up, and is under him */
                nearest = fminf(nearest, fabsf(quad(q)->position[1] - placed[i].position[1]));
        }
        cr_expect_lt(nearest, 1e-4f, "%u stands %g above or below a row", i, (double)nearest);
    }
    clear();
}

/* Few have one stand. */
CHECK(surroundings, carry_every_spectator)
{
    check_spectators(COUNT);
    check_spectators(300);
    check_spectators(20);
}

/* Solids are seen from outside: those of the fountain, with which a plaza begins, are convex. They are 24 boxes, six
 * cones and a ball. */
CHECK(surroundings, face_outwards)
{
    static const uint32_t quads_of[] = {48, 16, 32, 32, 16, 24, 45};
    build(TH_LAYOUT_PLAZA);
    for (uint32_t solid = 0, first = 0, count; solid < 31; solid++, first += count) {
        float centre[3] = {0};
        count = solid < 24 ? 6 : quads_of[solid - 24];
        for (uint32_t v = 4 * first; v < 4 * (first + count); v++)
            for (int i = 0; i < 3; i++)
                centre[i] += shape.vertices[v].position[i] / (4 * (float)count);
        for (uint32_t q = first; q < first + count; q++) {
            float towards = 0, length = 0;
            for (int i = 0; i < 3; i++) {
                const float middle = (quad(q)[0].position[i] + quad(q)[2].position[i]) / 2;
                towards += quad(q)->normal[i] * (middle - centre[i]);
                length += (float)(quad(q)->normal[i] * quad(q)->normal[i]);
            }
            cr_expect_gt(towards, 0, "quad %u", q);
            const uint32_t *index = &shape.indices[6 * q];
            const float *a = shape.vertices[index[0]].position, *b = shape.vertices[index[1]].position,
                        *c = shape.vertices[index[2]].position;
            float turn = 0; /* of the first triangle: counter-clockwise where its normal points to the viewer */
            for (int i = 0; i < 3; i++) {
                const int j = (i + 1) % 3, k = (i + 2) % 3;
                turn += quad(q)->normal[i] * ((b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j]));
            }
            cr_expect_geq(turn, 0, "quad %u is seen from behind", q);
            cr_expect_lt(fabsf(sqrtf(length) - 127), 2);
        }
    }
}

Test(surroundings, checks)
{
    before_check = clear;
    run_checks("surroundings");
    clear();
}
