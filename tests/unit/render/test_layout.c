/* Inside, since the stands' rows are no public data. Everyone has a place of his own, and walks no faster and no
 * slower than his feet. */
#include "fixture_end.h"
#include "random_model.h"

#include "render/view/surroundings.h"

#include <anim/crowd.h>
#include <render/layout.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 2000u
#define SEED  4242u
#define PI    3.14159265358979

enum { WALKS, RUNS, STANDS, STRIDES, SIDEWAYS, LOCOMOTIONS };

/* STRIDES: the clip itself moves it. SIDEWAYS: of centimetres, along its +X. */
static const th_locomotion locomotions[LOCOMOTIONS] = {
    [WALKS] = {.sphere = {{0, 0.9f, 0}, 1}, .reach = 0.6f, .scale = 1, .speed = 1.2f},
    [RUNS] = {.sphere = {{0, 0.9f, 0}, 1}, .reach = 0.7f, .lowest_y = -0.01f, .scale = 1, .speed = 3.2f},
    [STANDS] = {.sphere = {{0, 0.9f, 0}, 1}, .reach = 0.4f, .lowest_y = 0.02f, .scale = 1},
    [STRIDES] = {.sphere = {{0, 0.9f, 0.6f}, 1.5f}, .reach = 0.5f, .scale = 1, .speed = 1.5f, .loop_s = 1.25},
    [SIDEWAYS] = {.sphere = {{5, 40, 0}, 60},
                  .reach = 50,
                  .lowest_y = -2,
                  .scale = 0.01f,
                  .speed = 80,
                  .facing_rad = (float)(PI / 2)},
};

static th_instance_motion motions[COUNT];
static th_instance_transform placed[COUNT], again[COUNT];

static void make_motions(void)
{
    uint64_t state = SEED;
    for (uint32_t i = 0; i < COUNT; i++)
        motions[i] = (th_instance_motion){.locomotion = i % LOCOMOTIONS,
                                          .phase_s = random_between(&state, 0, 2),
                                          .speed = random_between(&state, 0.5, 1.5) * (i % 7 == 0 ? -1 : 1)};
}

static th_layout make(th_layout_kind kind, const th_locomotion *of, uint32_t of_count, uint32_t count, float spread)
{
    return th_layout_make(&(th_layout_desc){.kind = kind,
                                            .seed = SEED,
                                            .locomotions = of,
                                            .locomotion_count = of_count,
                                            .motions = motions,
                                            .count = count,
                                            .scale_spread = spread});
}

static th_layout layout_of(th_layout_kind kind, uint32_t count)
{
    return make(kind, locomotions, LOCOMOTIONS, count, 0.1f);
}

/* Everybody. */
static th_layout place(th_layout_kind kind, double time_s, th_instance_transform *out)
{
    const th_layout layout = layout_of(kind, COUNT);
    th_layout_place(&layout, 0, COUNT, time_s, out);
    return layout;
}

static double nearest(const th_instance_transform *p, uint32_t count)
{
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            least = fmin(least, hypot((double)(p[i].position[0] - p[j].position[0]),
                                      (double)(p[i].position[2] - p[j].position[2])));
    return least;
}

CHECK(layout, has_names_and_some_are_for_characters_that_stay)
{
    static const char *const names[] = {"grid", "ring", "street", "plaza", "stadium", "unknown"};
    for (th_layout_kind kind = 0; kind <= TH_LAYOUT_COUNT; kind++) {
        cr_expect_str_eq(th_layout_name(kind), names[kind]);
        cr_expect_eq(th_layout_is_for_standing(kind), kind == TH_LAYOUT_PLAZA || kind == TH_LAYOUT_STADIUM);
    }
}

/* Whoever stands still: on a street walkers pass. */
CHECK(layout, keeps_everyone_apart)
{
    for (th_layout_kind kind = TH_LAYOUT_GRID; kind <= TH_LAYOUT_RING; kind++) {
        place(kind, 0, placed);
        cr_expect_geq(nearest(placed, COUNT), 2 * 0.7 * 1.1, "%s: twice the largest reach", th_layout_name(kind));
        cr_expect_leq(nearest(placed, COUNT), 2 * 0.7 * 1.2, "%s: and no more than needed", th_layout_name(kind));
    }
    for (uint32_t i = 0; i < COUNT; i++)
        motions[i].speed = 0;
    place(TH_LAYOUT_STREET, 0, placed);
    cr_expect_geq(nearest(placed, COUNT), 0.7, "%g on the kerb", nearest(placed, COUNT));
}

CHECK(layout, takes_the_spacing_it_is_given)
{
    th_layout layout = layout_of(TH_LAYOUT_GRID, 25);
    layout.desc.spacing = 3;
    layout = th_layout_make(&layout.desc);
    th_layout_place(&layout, 0, 25, 0, placed);
    cr_expect_float_eq(nearest(placed, 25), 3, 1e-5);
    double widest = 0;
    for (uint32_t i = 0; i < 25; i++)
        widest = fmax(widest, fabs((double)placed[i].position[0]));
    cr_expect_float_eq(widest, 6, 1e-5, "25 are 5 by 5");
}

CHECK(layout, stands_on_the_ground)
{
    for (th_layout_kind kind = 0; kind < TH_LAYOUT_COUNT; kind++) {
        float least = 9, most = 0;
        place(kind, 3, placed);
        for (uint32_t i = 0; i < COUNT; i++) {
            const th_locomotion *locomotion = &locomotions[motions[i].locomotion];
            const float feet = placed[i].position[1] + locomotion->lowest_y * placed[i].scale;
            cr_expect(kind == TH_LAYOUT_STADIUM ? feet > 0.5f : fabsf(feet) < 1e-6f, "feet at %g", (double)feet);
            least = fminf(least, placed[i].scale / locomotion->scale);
            most = fmaxf(most, placed[i].scale / locomotion->scale);
        }
        cr_expect(least >= 0.8999f && least < 0.91f && most <= 1.1001f && most > 1.09f, "sizes from %g to %g",
                  (double)least, (double)most);
    }
}

/* Time moves them in a street alone, and where more come only a street and a stadium change. */
CHECK(layout, depends_on_seed_instance_and_time_alone)
{
    for (th_layout_kind kind = 0; kind < TH_LAYOUT_COUNT; kind++) {
        const char *name = th_layout_name(kind);
        th_layout layout = place(kind, 12.5, placed), few = layout_of(kind, 300);
        for (uint32_t begin = 0, end; begin < COUNT; begin = end) { /* in pieces */
            end = begin + 1 + begin % 97 < COUNT ? begin + 1 + begin % 97 : COUNT;
            th_layout_place(&layout, begin, end, 12.5, again + begin);
        }
        cr_expect(memcmp(placed, again, sizeof placed) == 0, "%s", name);
        th_layout_place(&few, 0, 300, 12.5, again);
        cr_expect(kind == TH_LAYOUT_STREET || kind == TH_LAYOUT_STADIUM ||
                      memcmp(placed, again, 300 * sizeof *placed) == 0,
                  "%s", name);
        place(kind, 14, again);
        cr_expect_eq(memcmp(placed, again, sizeof placed) == 0, kind != TH_LAYOUT_STREET, "%s", name);

        layout.desc.seed++;
        layout = th_layout_make(&layout.desc);
        th_layout_place(&layout, 0, COUNT, 12.5, again);
        cr_expect(memcmp(placed, again, sizeof placed) != 0, "%s", name);
    }
}

/* Where an instance looks, or walks. */
static void direction(uint32_t i, const th_instance_transform *p, double out[2])
{
    double angle = (double)(p->heading_rad + locomotions[motions[i].locomotion].facing_rad);
    out[0] = sin(angle);
    out[1] = cos(angle);
}

CHECK(layout, looks_to_the_front_in_a_grid_and_inward_in_a_ring)
{
    const th_layout ring = place(TH_LAYOUT_RING, 0, again);
    place(TH_LAYOUT_GRID, 0, placed);
    for (uint32_t i = 0; i < COUNT; i++) {
        double at[2], radius = hypot((double)again[i].position[0], (double)again[i].position[2]);
        direction(i, &placed[i], at);
        cr_expect(fabs(at[0]) < 1e-5 && at[1] > 0);
        direction(i, &again[i], at);
        cr_expect_float_eq(at[0] * (double)again[i].position[0] + at[1] * (double)again[i].position[2], -radius,
                           1e-4 * radius);
        cr_expect_gt(radius, 2 * (double)ring.desc.spacing * 0.99, "the middle is free");
    }
}

/* ---- the plaza ---- */

/* In groups of known sizes, one after the other. */
CHECK(layout, looks_at_the_others_of_a_group_in_a_plaza)
{
    static const uint32_t sizes[] = {3, 2, 4, 1, 2, 5, 3, 1, 4, 2};
    const th_layout layout = place(TH_LAYOUT_PLAZA, 0, placed);
    const double spacing = (double)layout.desc.spacing;
    cr_expect_geq(nearest(placed, COUNT), 0.79 * spacing);
    for (uint32_t i = 0, g = 0; i + sizes[g % 10] <= COUNT; i += sizes[g++ % 10]) {
        const uint32_t size = sizes[g % 10];
        double middle[2] = {0}, at[2];
        for (uint32_t m = 0; m < size && size > 1; m++)
            for (int axis = 0; axis < 2; axis++)
                middle[axis] += (double)placed[i + m].position[2 * axis] / size;
        for (uint32_t m = 0; m < size; m++) {
            const double x = middle[0] - (double)placed[i + m].position[0],
                         z = middle[1] - (double)placed[i + m].position[2];
            direction(i + m, &placed[i + m], at);
            cr_expect_float_eq(at[0] * x + at[1] * z, hypot(x, z), 1e-4 * hypot(x, z), "%u of group %u", m, g);
            cr_expect(size == 1 || hypot(x, z) < spacing, "a group is close");
        }
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const double far = hypot((double)placed[i].position[0], (double)placed[i].position[2]);
        cr_expect(far > (double)th_layout_plaza_free(&layout) && far < (double)th_layout_plaza_radius(&layout));
    }
}

/* ---- the stadium ---- */

CHECK(layout, has_a_seat_for_everyone_in_a_stadium)
{
    static const uint32_t counts[] = {1, 2, 23, 24, 25, 100, 999, 2000, 10000, 100000, 1000000};
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        const th_layout layout = layout_of(TH_LAYOUT_STADIUM, counts[n]);
        const th_stadium s = th_layout_stadium(&layout);
        const uint64_t seats = th_stadium_seats(&s);
        cr_expect(seats >= counts[n] && (counts[n] < 100 || (double)seats < 1.2 * counts[n]), "%llu seats for %u",
                  (unsigned long long)seats, counts[n]);
        cr_expect(counts[n] < 1000 || (s.half[0] > s.half[1] && s.half[1] > s.rows * s.depth / 2));
    }
}

/* Whoever is a row above sits behind. The last seat of a row is near its first. */
CHECK(layout, looks_at_the_pitch_from_rows_of_seats)
{
    const th_layout layout = place(TH_LAYOUT_STADIUM, 0, placed);
    const th_stadium s = th_layout_stadium(&layout);
    cr_expect_geq(nearest(placed, COUNT), 0.99 * s.seat, "%g", nearest(placed, COUNT));
    for (uint32_t i = 0; i < COUNT; i++) {
        const double x = fabs((double)placed[i].position[0]), z = fabs((double)placed[i].position[2]);
        const double feet =
            (double)(placed[i].position[1] + locomotions[motions[i].locomotion].lowest_y * placed[i].scale);
        const double row = (feet - s.base) / s.rise;
        /* From the first row's rounded rectangle, by how a corner's distance is measured. */
        const double out = hypot(fmax(x - s.half[0], 0), fmax(z - s.half[1], 0)) - s.radius;
        double at[2];
        cr_expect_float_eq(row, round(row), 1e-4, "%u between two rows", i);
        cr_expect_float_eq(out, round(row) * s.depth, 1e-4 * s.depth + 1e-4, "%u of row %g is %g behind the first", i,
                           row, out);
        direction(i, &placed[i], at);
        cr_expect(at[0] * (double)placed[i].position[0] + at[1] * (double)placed[i].position[2] < 0);
    }
}

/* ---- the street ---- */

/* How far along its lane one of them is drawn. */
static double drawn_at(const th_layout *layout, const th_crowd *crowd, uint32_t i, double time_s)
{
    static _Alignas(TH_CACHE_LINE) char palettes[1 << 14], scratch[1 << 14];
    cr_assert(th_crowd_palette_bytes(crowd) <= sizeof palettes && th_crowd_scratch_bytes(crowd) <= sizeof scratch);
    th_instance_transform p;
    float entry[12];
    th_layout_place(layout, i, i + 1, time_s, &p);
    th_crowd_pose(crowd, 0, th_crowd_batch_count(crowd), time_s, palettes, scratch);
    memcpy(entry, palettes + th_crowd_palette_offset(crowd, i), sizeof entry);
    return (double)(cosf(p.heading_rad) * p.position[2] + p.scale * entry[11]);
}

/* Around the end of a loop, where the crowd has the clip jump back, and after days. */
CHECK(layout, carries_a_model_on_when_the_crowd_has_its_clip_jump_back)
{
    enum { STRIDERS = 64, LOOPS = 4, NEAR = 12 };
    /* A model of one joint, which strides along +Z by its clip; the clip's length is no float. */
    static const double ends[2] = {0, 31}, loop_s = 31.0 / 24;
    static const float way_of_root[6] = {0, 0, 0, 0, 0, 1.9375f};
    const th_channel channel = moving_channel(0, (th_track){2, ends, way_of_root, NULL, false});
    const th_clip clip = clip_of(&channel, 1, ends[1], 24);
    const th_model strider = model_of(&root_joint, &root_bone, 1, &clip);
    const th_locomotion locomotion = {
        .sphere = {{0, 0.9f, 0}, 2}, .reach = 0.5f, .scale = 1, .speed = 1.5f, .loop_s = loop_s};
    for (uint32_t i = 0; i < STRIDERS; i++)
        motions[i].locomotion = 0;
    const th_layout layout = make(TH_LAYOUT_STREET, &locomotion, 1, STRIDERS, 0);
    th_compiled_model *compiled;
    th_spawn instances[STRIDERS];
    th_crowd *crowd;
    cr_assert_eq(th_compiled_model_create(&(th_compiled_model_desc){.model = &strider}, &compiled, NULL), TH_OK);
    for (uint32_t i = 0; i < STRIDERS; i++)
        instances[i] = (th_spawn){.phase_s = motions[i].phase_s, .speed = motions[i].speed};
    const th_crowd_desc desc = {.compiled_models = (const th_compiled_model *const *)&compiled,
                                .compiled_model_count = 1};
    cr_assert_eq(th_crowd_create_with(&desc, instances, STRIDERS, &crowd, NULL), TH_OK);
    for (uint32_t i = 0; i < STRIDERS; i++)
        for (int n = 0; n < LOOPS; n++) {
            const double speed = motions[i].speed, loops = floor(speed * 1e6 / loop_s) + n;
            const double end_s = (loops * loop_s - motions[i].phase_s) / speed, ulp = nextafter(end_s, 1e9) - end_s;
            const double before = drawn_at(&layout, crowd, i, end_s - 0.25);
            for (int near = -NEAR; near <= NEAR; near++) {
                const double way = drawn_at(&layout, crowd, i, end_s + near * ulp) - before;
                const double off = remainder(way - speed * 0.25 * (double)locomotion.speed, (double)layout.length);
                cr_expect_lt(fabs(off), 1e-3, "%u, loop %.0f, %d: %g m off", i, loops, near, off);
            }
        }
    th_crowd_destroy(crowd);
    th_compiled_model_destroy(compiled);
}

CHECK(layout, walks_by_constants_as_by_the_distance)
{
    static th_walk walks[COUNT];
    static float z[COUNT];
    const th_layout layout = place(TH_LAYOUT_STREET, 0, placed);
    uint64_t state = SEED;
    for (uint32_t i = 0; i < COUNT; i++)
        walks[i] = th_layout_walk(&layout, i);
    for (int n = 0; n < 60; n++) {
        const double time_s = n < 50 ? random_between(&state, 0, 600) : random_between(&state, 0, 1e5);
        place(TH_LAYOUT_STREET, time_s, again);
        th_layout_walk_to(&layout, walks, COUNT, time_s, z);
        for (uint32_t i = 0; i < COUNT; i++) {
            /* Along its lane, the long way: the distance walked is added to where it began, and wraps. In double
             * precision, from the transform at time 0 and the motion alone. */
            const th_locomotion *locomotion = &locomotions[motions[i].locomotion];
            const double length = (double)layout.length, loop_s = locomotion->loop_s, phase_s = motions[i].phase_s;
            const double way = placed[i].position[0] < 0 ? 1 : -1;
            double clip_s = motions[i].speed * time_s;
            if (loop_s > 0)
                clip_s = (floor((phase_s + clip_s) / loop_s) - floor(phase_s / loop_s)) * loop_s;
            const double along = way * (double)placed[i].position[2] + length / 2 +
                                 clip_s * (double)locomotion->speed * (double)placed[i].scale;
            const double off =
                remainder((double)z[i] - way * (along - floor(along / length) * length - length / 2), length);
            cr_expect_lt(fabs(off), 1e-4, "%u after %g s: %g m off", i, time_s, off);
            cr_expect_eq(z[i], again[i].position[2]);
            again[i].position[2] = placed[i].position[2];
        }
        cr_expect(memcmp(again, placed, sizeof placed) == 0, "only Z depends on time");
    }
}

CHECK(layout, keeps_walkers_on_the_street_on_their_side_in_their_direction)
{
    th_layout layout = layout_of(TH_LAYOUT_STREET, COUNT);
    double half = layout.lanes * (double)layout.desc.spacing / 2;
    cr_expect(layout.lanes % 2 == 0 && layout.lanes > 8, "%u lanes", layout.lanes);
    for (double time_s = 0; time_s < 5000; time_s += 333) {
        th_layout_place(&layout, 0, COUNT, time_s, placed);
        for (uint32_t i = 0; i < COUNT; i++) {
            double x = (double)placed[i].position[0], at[2];
            direction(i, &placed[i], at);
            cr_expect_leq(fabs((double)placed[i].position[2]), (double)layout.length * 0.5001);
            if (motions[i].locomotion == STANDS)
                cr_expect(fabs(x) > half && at[0] * x < -0.999 * fabs(x), "%u looks on from %g", i, x);
            else
                cr_expect(fabs(x) < half && at[1] * x < -0.999 * fabs(x), "%u walks at %g, to its right of %g", i, x,
                          half);
        }
    }
}

/* At any time about as many in every part of the street. */
CHECK(layout, fills_the_street_evenly)
{
    for (double time_s = 0; time_s < 1000; time_s += 110) {
        uint32_t parts[8] = {0};
        const th_layout layout = place(TH_LAYOUT_STREET, time_s, placed);
        for (uint32_t i = 0; i < COUNT; i++) {
            double part = 8 * ((double)placed[i].position[2] / (double)layout.length + 0.5);
            parts[(int)fmin(fmax(part, 0), 7)]++;
        }
        for (int p = 0; p < 8; p++)
            cr_expect(parts[p] > COUNT / 16 && parts[p] < COUNT / 4, "%u in part %d at %g s", parts[p], p, time_s);
    }
}

CHECK(layout, grows_longer_then_wider)
{
    const th_layout many = layout_of(TH_LAYOUT_STREET, 10000), most = layout_of(TH_LAYOUT_STREET, 1000000);
    cr_expect_eq(many.lanes, 10);
    cr_expect(most.lanes > 10 && (double)most.length < 3100 * (double)most.desc.spacing, "%u lanes, %g long",
              most.lanes, (double)most.length);
}

/* Few begin in the middle, not where the lanes do. */
CHECK(layout, begins_in_the_middle_of_the_street)
{
    for (uint32_t count = 1; count < 40; count++) {
        const th_layout layout = layout_of(TH_LAYOUT_STREET, count);
        double low = 1e9, high = -1e9;
        th_layout_place(&layout, 0, count, 0, placed);
        for (uint32_t i = 0; i < count; i++) {
            low = fmin(low, (double)placed[i].position[2]);
            high = fmax(high, (double)placed[i].position[2]);
        }
        cr_expect_lt(fabs(low + high) / 2, 0.9 * 1.5 * (double)layout.desc.spacing, "%u from %g to %g", count, low,
                     high);
    }
}

/* ---- what follows ---- */

static void apply(const th_mat34 *m, const float p[3], double out[3])
{
    for (int row = 0; row < 3; row++) {
        out[row] = (double)m->m[4 * row + 3];
        for (int col = 0; col < 3; col++)
            out[row] += (double)m->m[4 * row + col] * (double)p[col];
    }
}

CHECK(layout, makes_matrices_that_scale_turn_and_move)
{
    th_mat34 m = th_instance_transform_matrix(&(th_instance_transform){{10, 20, 30}, (float)(PI / 2), 2});
    const double moved[3][3] = {{10, 20, 28}, {10, 22, 30}, {12, 20, 30}}; /* of the unit vectors */
    for (int axis = 0; axis < 3; axis++) {
        float unit[3] = {0};
        double at[3];
        unit[axis] = 1;
        apply(&m, unit, at);
        for (int i = 0; i < 3; i++)
            cr_expect_float_eq(at[i], moved[axis][i], 1e-5, "axis %d, coordinate %d: %g", axis, i, at[i]);
    }
}

CHECK(layout, holds_everyone_in_its_bounds)
{
    static const uint32_t counts[] = {1, 2, 9, 10, 100, COUNT};
    for (th_layout_kind kind = 0; kind < TH_LAYOUT_COUNT; kind++)
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
            th_layout layout = layout_of(kind, counts[n]);
            th_sphere bounds = th_layout_bounds(&layout);
            double farthest = 0;
            for (double time_s = 0; time_s < 300; time_s += 37) {
                th_layout_place(&layout, 0, counts[n], time_s, placed);
                for (uint32_t i = 0; i < counts[n]; i++) {
                    const th_sphere *sphere = &locomotions[motions[i].locomotion].sphere;
                    th_mat34 m = th_instance_transform_matrix(&placed[i]);
                    double at[3], radius = (double)(sphere->radius * placed[i].scale),
                                  middle = (double)bounds.centre[1];
                    apply(&m, sphere->centre, at);
                    /* From the ground to its top, as a cylinder. */
                    farthest =
                        fmax(farthest, hypot(hypot(at[0], at[2]) + radius, fmax(at[1] + radius - middle, middle)));
                }
            }
            cr_expect_leq(farthest, (double)bounds.radius, "%s of %u", th_layout_name(kind), counts[n]);
            cr_expect_leq((double)bounds.radius, 2.5 * farthest, "%s of %u: %g", th_layout_name(kind), counts[n],
                          (double)bounds.radius);
        }
    th_layout nobody = layout_of(TH_LAYOUT_GRID, 0);
    cr_expect_gt(th_layout_bounds(&nobody).radius, 0);
}

static void expect_sphere(const th_sphere *sphere, const th_sphere *in_model, const th_instance_transform *where)
{
    const th_mat34 m = th_instance_transform_matrix(where);
    double at[3];
    apply(&m, in_model->centre, at);
    for (int axis = 0; axis < 3; axis++)
        cr_expect_float_eq((double)sphere->centre[axis], at[axis], 1e-4);
    cr_expect_float_eq(sphere->radius, in_model->radius * where->scale, 1e-5f);
}

CHECK(layout, knows_where_somebody_gets_to)
{
    for (th_layout_kind kind = 0; kind < TH_LAYOUT_COUNT; kind++) {
        const th_layout layout = layout_of(kind, 100);
        th_layout_place(&layout, 0, 100, 7, placed);
        for (uint32_t i = 0; i < 100; i++) {
            const th_sphere *whole = &locomotions[motions[i].locomotion].sphere;
            th_sphere ends[TH_BOUNDS_PARTS], now = th_layout_sphere(&layout, i, 7);
            const uint32_t count = th_layout_reach(&layout, i, 7, HUGE_VAL, ends);
            if (motions[i].locomotion != STRIDES)
                expect_sphere(&now, whole, &placed[i]);
            if (kind != TH_LAYOUT_STREET || motions[i].locomotion == STANDS) {
                cr_expect_eq(count, 1);
                expect_sphere(&ends[0], whole, &placed[i]);
                continue;
            }
            cr_expect_eq(count, 2);
            cr_expect_leq(ends[0].centre[2] - ends[0].radius, now.centre[2] - now.radius);
            cr_expect_leq(now.centre[2] + now.radius, ends[1].centre[2] + ends[1].radius);
            cr_expect_float_eq(ends[1].centre[2] - ends[0].centre[2], layout.length, 1e-4f * layout.length);
        }
    }
}

/* A clip of 16 s that moves the model, whose part p is marked by its sphere: forwards and backwards, over the seam. */
CHECK(layout, shows_the_parts_of_a_clip_that_are_seen)
{
    static const struct {
        double speed, time_s, shown_s;
        uint32_t first, count, step;
    } cases[] = {
        {1, 0.5, 0, 0, 1, 1},    {1, 3.5, 2, 3, 3, 1},  {1, 14.5, 3, 14, 4, 1},    {-1, 0.5, 2, 15, 3, 15},
        {-1, 14.5, 2, 1, 3, 15}, {2, 1.25, 1, 2, 3, 1}, {1, 3.5, 13.25, 3, 14, 1}, {0, 5, 1e9, 0, 1, 1},
    };
    th_locomotion locomotion = {.sphere = {{0, 0, 0}, 100}, .reach = 1, .scale = 1, .speed = 1, .loop_s = 16};
    for (uint32_t p = 0; p < TH_BOUNDS_PARTS; p++)
        locomotion.parts[p] = (th_sphere){{0, 0, 0}, (float)(p + 1)};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        motions[0] = (th_instance_motion){.speed = cases[c].speed};
        const th_layout layout = make(TH_LAYOUT_GRID, &locomotion, 1, 1, 0);
        th_sphere spheres[TH_BOUNDS_PARTS];
        const uint32_t count = th_layout_reach(&layout, 0, cases[c].time_s, cases[c].shown_s, spheres);
        cr_assert_eq(count, cases[c].count, "case %zu: %u", c, count);
        for (uint32_t p = 0; p < count; p++)
            cr_expect_eq(spheres[p].radius, (float)((cases[c].first + p * cases[c].step) % TH_BOUNDS_PARTS + 1),
                         "case %zu, part %u: %g", c, p, (double)spheres[p].radius - 1);
        cr_expect_eq(th_layout_sphere(&layout, 0, cases[c].time_s).radius, (float)(cases[c].first + 1));
        cr_expect_eq(th_layout_reach(&layout, 0, cases[c].time_s, HUGE_VAL, spheres), 1);
        cr_expect(cases[c].speed == 0 || spheres[0].radius == 100);
    }
}

/* ---- ways that weave ---- */

static const th_locomotion routines[] = {
    {.sphere = {{0, 0.9f, 0}, 1}, .reach = 0.9f, .scale = 1, .speed = 1.05f, .deviation = 3.9f},
    {.sphere = {{5, 40, 0}, 60}, .reach = 50, .scale = 0.01f, .speed = 80, .facing_rad = 0.7f, .deviation = 200},
};

static th_layout layout_of_routines(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        motions[i] = (th_instance_motion){.locomotion = i % 3 == 0, .speed = 1};
    return make(TH_LAYOUT_STREET, routines, 2, count, 0.06f);
}

/* The direction in which an instance walks on its way. */
static double direction_on_way(const th_layout *layout, uint32_t i, const th_weave *weave, double z,
                               th_instance_transform *at)
{
    th_layout_weave_to(weave, z, at);
    return (double)at->heading_rad + (double)routines[layout->desc.motions[i].locomotion].facing_rad;
}

/* From heading to place, by Simpson's rule. */
CHECK(layout, a_way_that_weaves_is_as_long_as_its_walker_walks_and_leads_where_it_heads)
{
    enum { PEOPLE = 60, STEPS = 400 };
    const double step = 0.05;
    const th_layout layout = layout_of_routines(PEOPLE);
    double widest = 0, sharpest = 0;
    for (uint32_t i = 0; i < PEOPLE; i++) {
        const th_weave weave = th_layout_weave(&layout, i);
        const double side = i % layout.lanes < layout.lanes / 2 ? 1 : -1;
        th_instance_transform at, begin;
        double x = 0, z = 0, before = direction_on_way(&layout, i, &weave, -STEPS / 2 * step, &begin);
        for (int n = 1; n <= STEPS; n++) {
            const double to = (n - STEPS / 2) * step, half = direction_on_way(&layout, i, &weave, to - step / 2, &at);
            const double now = direction_on_way(&layout, i, &weave, to, &at);
            x += side * step / 6 * (sin(before) + 4 * sin(half) + sin(now));
            z += side * step / 6 * (cos(before) + 4 * cos(half) + cos(now));
            cr_assert_float_eq((double)(at.position[0] - begin.position[0]), x, 2e-5, "walker %u", i);
            cr_assert_float_eq((double)(at.position[2] - begin.position[2]), z, 2e-5, "walker %u", i);
            cr_assert_gt(side * cos(now), 0.98);
            sharpest = fmax(sharpest, fabs(remainder(now - before, 2 * PI)) / step);
            widest = fmax(widest, fabs((double)at.position[0] - weave.middle));
            before = now;
        }
    }
    cr_expect_float_eq(1 / sharpest, 0.24 * 0.8 / (0.17 * 0.17) * layout.lane_width, 0.2, "%.2f m", 1 / sharpest);
    cr_expect_float_eq(widest, 0.24 * layout.lane_width, 0.02);
}

/* Two in a lane are a spacing apart along it, or more, as far as both have strayed. */
CHECK(layout, those_who_weave_keep_their_distance_wherever_they_have_strayed)
{
    enum { PEOPLE = 300 };
    static th_weave ways[PEOPLE];
    static th_walk walks[PEOPLE];
    const th_layout layout = layout_of_routines(PEOPLE);
    uint64_t state = SEED;
    for (uint32_t i = 0; i < PEOPLE; i++) {
        ways[i] = th_layout_weave(&layout, i);
        walks[i] = th_layout_walk(&layout, i);
    }
    for (int n = 0; n < 40; n++) {
        for (uint32_t i = 0; i < PEOPLE; i++) {
            float z;
            th_layout_walk_to(&layout, &walks[i], 1, n * 3.1, &z);
            th_layout_weave_to(&ways[i], (double)z + layout.strayed * random_between(&state, -1, 1), &placed[i]);
        }
        cr_assert_gt(nearest(placed, PEOPLE), 0.41 * layout.lane_width);
    }
}

CHECK(layout, who_weaves_is_where_its_bounds_say)
{
    enum { PEOPLE = 200 };
    const th_layout layout = layout_of_routines(PEOPLE);
    const th_sphere all = th_layout_bounds(&layout);
    for (uint32_t i = 0; i < PEOPLE; i++) {
        th_sphere ends[TH_BOUNDS_PARTS];
        cr_assert_eq(th_layout_reach(&layout, i, 0, 60, ends), 2);
        for (double time_s = 0; time_s < 60; time_s += 1.3) {
            const th_sphere at = th_layout_sphere(&layout, i, time_s);
            const double aside = fabs((double)(at.centre[0] - ends[0].centre[0]));
            cr_assert_leq(aside + (double)at.radius, (double)ends[0].radius + 1e-4, "walker %u", i);
            cr_assert(at.centre[2] > ends[0].centre[2] && at.centre[2] < ends[1].centre[2]);
            cr_assert_leq(hypot(hypot((double)(at.centre[0] - all.centre[0]), (double)(at.centre[1] - all.centre[1])),
                                (double)(at.centre[2] - all.centre[2])) +
                              (double)at.radius,
                          (double)all.radius + 1e-4);
        }
    }
}

Test(layout, checks)
{
    before_check = make_motions;
    run_checks("layout");
}
