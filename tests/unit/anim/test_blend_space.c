/* Weights of blend spaces, held against what the header promises: circles in exact integers, distances by dense search.
 */
#include "fixture_memory.h"

#include <anim/blend_space.h>
#include <core/random.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST = TH_BLEND_SPACE_MAX_SAMPLES };

/* Samples and their space. */
typedef struct trial {
    uint32_t count;
    double x[MOST], y[MOST];
    th_blend_space *space;
} trial;

typedef struct mix {
    uint32_t count, index[3];
    float weight[3];
    double x, y; /* of the weighted samples, from where it was asked for */
} mix;

static uint64_t drawn; /* random numbers so far in this test */

static double between(double low, double high)
{
    return low + (high - low) * th_random_unit(20, drawn++);
}

static th_result create(trial *t, bool is_plane, th_error *err)
{
    const th_blend_space_desc desc = {t->x, is_plane ? t->y : NULL, t->count};
    return th_blend_space_create(&desc, &t->space, err);
}

static void create_plane(trial *t)
{
    th_error err = {0};
    cr_assert_eq(create(t, true, &err), TH_OK, "%s", err.text);
}

static bool is_taken(const trial *t, uint32_t sample)
{
    for (uint32_t i = 0; i < sample; i++)
        if (t->x[i] == t->x[sample] && t->y[i] == t->y[sample])
            return true;
    return false;
}

/* Distinct points, whole numbers from 0 to `most`, the first three of them not on one line. */
static trial random_plane(uint32_t count, int most)
{
    trial t = {.count = count};
    for (uint32_t i = 1; i < count; i++)
        do {
            t.x[i] = floor(between(0, most + 1));
            t.y[i] = i == 1 ? 0 : i == 2 ? most : floor(between(0, most + 1));
        } while (is_taken(&t, i));
    return t;
}

static mix mix_at(const trial *t, double x, double y)
{
    mix m = {0};
    m.count = th_blend_space_weights(t->space, x, y, m.index, m.weight);
    cr_assert(m.count >= 1 && m.count <= 3);
    float sum = 0;
    for (uint32_t i = 0; i < m.count; i++) {
        cr_assert(m.weight[i] > 0 && m.weight[i] <= 1);
        cr_assert_lt(m.index[i], t->count);
        cr_assert(i == 0 || m.index[i - 1] < m.index[i], "indices ascend");
        sum += m.weight[i];
        m.x += (double)m.weight[i] * (t->x[m.index[i]] - t->x[m.index[0]]);
        m.y += (double)m.weight[i] * (t->y[m.index[i]] - t->y[m.index[0]]);
    }
    cr_assert_eq(sum, 1, "at %g, %g: %.9g", x, y, (double)sum);
    m.x += t->x[m.index[0]] - x;
    m.y += t->y[m.index[0]] - y;
    return m;
}

static double weight_of(const mix *m, uint32_t sample)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->index[i] == sample)
            return (double)m->weight[i];
    return 0;
}

static double difference(const mix *a, const mix *b)
{
    double most = 0;
    for (uint32_t i = 0; i < MOST; i++)
        most = fmax(most, fabs(weight_of(a, i) - weight_of(b, i)));
    return most;
}

/* A point in the hull: anywhere between three samples. */
static void draw_inside(const trial *t, double *out_x, double *out_y)
{
    double sum = 0, weight[3];
    *out_x = *out_y = 0;
    for (int i = 0; i < 3; i++)
        sum += weight[i] = between(0.001, 1);
    for (int i = 0; i < 3; i++) {
        const uint32_t sample = (uint32_t)between(0, t->count);
        *out_x += weight[i] / sum * t->x[sample];
        *out_y += weight[i] / sum * t->y[sample];
    }
}

/* ---- one dimension ---- */

Test(blend_space, one_dimension_mixes_neighbours_and_holds_the_ends)
{
    trial t = {.count = 4, .x = {0, -1, 3, 1}};
    cr_assert_eq(create(&t, false, NULL), TH_OK);
    const struct {
        double x;
        uint32_t count, first;
        double weight;
    } wanted[] = {{-7, 1, 1, 1}, {-1, 1, 1, 1},     {-0.25, 2, 0, 0.75}, {0, 1, 0, 1},
                  {1, 1, 3, 1},  {1.5, 2, 2, 0.25}, {3, 1, 2, 1},        {1e300, 1, 2, 1}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        for (int y = -1; y <= 1; y++) {
            const mix m = mix_at(&t, wanted[i].x, y);
            cr_assert_eq(m.count, wanted[i].count, "at %g", wanted[i].x);
            cr_assert_eq(m.index[0], wanted[i].first, "at %g", wanted[i].x);
            cr_assert_float_eq((double)m.weight[0], wanted[i].weight, 1e-7, "at %g", wanted[i].x);
        }
    th_blend_space_destroy(t.space);
}

Test(blend_space, one_dimension_is_linear_between_any_samples)
{
    for (uint32_t count = 2; count <= MOST; count++) {
        trial t = {.count = count};
        for (uint32_t i = 0; i < count; i++) /* 37 is prime to 64, so these are in no order */
            t.x[i] = (i * 37 % MOST) * 0.3 + between(-0.1, 0.1);
        cr_assert_eq(create(&t, false, NULL), TH_OK);
        for (uint32_t i = 0; i < count; i++) {
            const mix m = mix_at(&t, t.x[i], nan(""));
            cr_assert_eq(weight_of(&m, i), 1);
        }
        for (int n = 0; n < 80; n++) {
            double x, y;
            draw_inside(&t, &x, &y);
            const mix m = mix_at(&t, x, 0);
            cr_assert_float_eq(m.x, 0, 2e-6);
            for (uint32_t i = 0; m.count == 2 && i < count; i++)
                cr_assert((t.x[i] - t.x[m.index[0]]) * (t.x[i] - t.x[m.index[1]]) >= 0, "%u lies between", i);
        }
        th_blend_space_destroy(t.space);
    }
}

Test(blend_space, one_sample_is_everywhere)
{
    trial t = {.count = 1, .x = {5}};
    cr_assert_eq(create(&t, false, NULL), TH_OK);
    for (int n = 0; n < 60; n++)
        cr_assert_eq(mix_at(&t, between(-1e9, 1e9), between(-1e9, 1e9)).count, 1);
    th_blend_space_destroy(t.space);
}

/* ---- two dimensions ---- */

Test(blend_space, a_sample_has_all_the_weight_at_its_position)
{
    for (uint32_t count = 3; count <= MOST; count++) {
        trial t = {.count = count};
        for (uint32_t i = 0; i < count; i++) {
            t.x[i] = between(-180, 180);
            t.y[i] = between(0, 6);
        }
        create_plane(&t);
        for (uint32_t i = 0; i < count; i++) {
            const mix m = mix_at(&t, t.x[i], t.y[i]);
            cr_assert(m.count == 1 && m.index[0] == i, "sample %u of %u", i, count);
        }
        th_blend_space_destroy(t.space);
    }
}

Test(blend_space, linear_functions_are_interpolated_exactly_at_any_size_and_place)
{
    for (int n = 0; n < 80; n++) {
        const double size = pow(10, between(-4, 7)), away = between(-1, 1) * fmin(1e11 * size, 9e8);
        trial t = random_plane(3 + (uint32_t)n % (MOST - 2), 100);
        for (uint32_t i = 0; i < t.count; i++) {
            t.x[i] = away + t.x[i] * size / 100;
            t.y[i] = t.y[i] * size / 100 - away;
        }
        create_plane(&t);
        for (int i = 0; i < 200; i++) {
            double x, y;
            draw_inside(&t, &x, &y);
            const mix m = mix_at(&t, x, y);
            cr_assert_lt(hypot(m.x, m.y), 1e-6 * size + 1e-15 * fabs(away), "size %g, %g away", size, away);
        }
        th_blend_space_destroy(t.space);
    }
}

/* The second one is nearly between its neighbours, but outside, so near to them that no circle reaches farther. */
Test(blend_space, a_flat_corner_keeps_its_sample)
{
    trial t = {.count = 5, .x = {0, 1e-4, 2e-4, 0, 1}, .y = {0, -1e-7, 0, 1, 0.5}};
    create_plane(&t);
    const mix m = mix_at(&t, t.x[1], t.y[1]);
    cr_assert(m.count == 1 && m.index[0] == 1);
    th_blend_space_destroy(t.space);
}

/* Above 0 if d lies in the circle of a triangle, 0 on it. Exact for whole numbers up to 1000. */
static int64_t in_circle(const trial *t, const uint32_t *corner, uint32_t d)
{
    int64_t x[3], y[3], squared[3];
    for (int i = 0; i < 3; i++) {
        x[i] = (int64_t)(t->x[corner[i]] - t->x[d]);
        y[i] = (int64_t)(t->y[corner[i]] - t->y[d]);
        squared[i] = x[i] * x[i] + y[i] * y[i];
    }
    const int64_t area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
    const int64_t inside = squared[0] * (x[1] * y[2] - x[2] * y[1]) - squared[1] * (x[0] * y[2] - x[2] * y[0]) +
                           squared[2] * (x[0] * y[1] - x[1] * y[0]);
    cr_assert_neq(area, 0, "a triangle without area");
    return area > 0 ? inside : -inside;
}

/* Circles hold no other sample, and of those on it the lowest is a corner. */
static void check_circle(const trial *t, const mix *m)
{
    uint32_t lowest = m->index[0];
    for (uint32_t d = 0; d < t->count; d++) {
        const int64_t inside = in_circle(t, m->index, d);
        cr_assert_leq(inside, 0, "sample %u lies in the circle of %u, %u and %u", d, m->index[0], m->index[1],
                      m->index[2]);
        if (inside == 0 && (t->x[d] < t->x[lowest] || (t->x[d] == t->x[lowest] && t->y[d] < t->y[lowest])))
            lowest = d;
    }
    cr_assert_gt(weight_of(m, lowest), 0, "%u, %u and %u lie on a circle with %u", m->index[0], m->index[1],
                 m->index[2], lowest);
}

Test(blend_space, triangles_are_those_of_delaunay_with_the_lowest_sample_of_a_circle)
{
    const int most[] = {8, 9, 16, 100, 1000};
    for (int n = 0; n < 60; n++) {
        trial t = random_plane(3 + (uint32_t)between(0, MOST - 2), most[n % 5]);
        create_plane(&t);
        for (int i = 0; i < 300; i++) {
            double x, y;
            draw_inside(&t, &x, &y);
            const mix m = mix_at(&t, x, y);
            cr_assert_lt(hypot(m.x, m.y), 1e-6 * most[n % 5]);
            if (m.count == 3)
                check_circle(&t, &m);
        }
        th_blend_space_destroy(t.space);
    }
}

Test(blend_space, rectangles_are_cut_from_the_lower_left_to_the_upper_right)
{
    enum { SIDE = 8 };
    for (int order = 1; order < SIDE * SIDE; order += 2) { /* odd, so a permutation */
        trial t = {.count = SIDE * SIDE};
        uint32_t at[SIDE][SIDE];
        for (uint32_t i = 0; i < t.count; i++) {
            const uint32_t cell = i * (uint32_t)order % t.count;
            t.x[i] = 0.1 * (cell % SIDE) - 0.3;
            t.y[i] = 0.7 * (cell / SIDE) + 0.1;
            at[cell / SIDE][cell % SIDE] = i;
        }
        create_plane(&t);
        for (int row = 0; row + 1 < SIDE; row++)
            for (int column = 0; column + 1 < SIDE; column++) {
                const mix m = mix_at(&t, 0.1 * (column + 0.5) - 0.3, 0.7 * (row + 0.5) + 0.1);
                cr_assert_float_eq(weight_of(&m, at[row][column]), 0.5, 1e-6);
                cr_assert_float_eq(weight_of(&m, at[row + 1][column + 1]), 0.5, 1e-6);
            }
        th_blend_space_destroy(t.space);
    }
}

Test(blend_space, the_order_of_samples_does_not_matter)
{
    for (int n = 0; n < 80; n++) {
        trial t = random_plane(3 + (uint32_t)between(0, MOST - 2), n % 2 ? 8 : 1000), other = {.count = t.count};
        uint32_t to[MOST];
        for (uint32_t i = 0; i < t.count; i++) {
            const uint32_t j = (uint32_t)between(0, i + 1);
            to[i] = to[j];
            to[j] = i;
        }
        for (uint32_t i = 0; i < t.count; i++) {
            other.x[to[i]] = t.x[i];
            other.y[to[i]] = t.y[i];
        }
        create_plane(&t);
        create_plane(&other);
        for (int i = 0; i < 200; i++) {
            const double x = between(-300, 1300), y = between(-300, 1300);
            const mix a = mix_at(&t, x, y), b = mix_at(&other, x, y);
            for (uint32_t s = 0; s < t.count; s++)
                cr_assert_float_eq(weight_of(&a, s), weight_of(&b, to[s]), 1e-6);
        }
        th_blend_space_destroy(t.space);
        th_blend_space_destroy(other.space);
    }
}

/* The distance to the nearest of many points on all lines between two samples, which include the border of the hull. */
static double search_distance(const trial *t, double x, double y)
{
    double nearest = HUGE_VAL;
    for (uint32_t a = 0; a < t->count; a++)
        for (uint32_t b = a + 1; b < t->count; b++)
            for (int i = 0; i <= 100; i++) {
                const double part = i * 0.01;
                nearest = fmin(
                    nearest, hypot(t->x[a] + part * (t->x[b] - t->x[a]) - x, t->y[a] + part * (t->y[b] - t->y[a]) - y));
            }
    return nearest;
}

Test(blend_space, outside_the_nearest_point_of_the_hull_counts)
{
    for (int n = 0; n < 40; n++) {
        trial t = random_plane(3 + (uint32_t)between(0, 20), 20);
        create_plane(&t);
        for (int i = 0; i < 50; i++) {
            const double x = between(-40, 60), y = between(-40, 60);
            const mix m = mix_at(&t, x, y);
            cr_assert_leq(hypot(m.x, m.y), search_distance(&t, x, y) + 1e-5, "at %g, %g", x, y);
        }
        th_blend_space_destroy(t.space);
    }
}

static bool is_side_of_hull(const trial *t, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < t->count; i++)
        if ((t->x[b] - t->x[a]) * (t->y[i] - t->y[a]) < (t->y[b] - t->y[a]) * (t->x[i] - t->x[a]))
            return false;
    return true;
}

/* There the distances to all of the hull are nearly equal. */
Test(blend_space, the_nearest_point_is_right_from_far_away)
{
    for (int n = 0; n < 40; n++) {
        trial t = random_plane(3 + (uint32_t)between(0, 20), 20);
        create_plane(&t);
        for (uint32_t a = 0; a < t.count; a++)
            for (uint32_t b = 0; b < t.count; b++) {
                if (a == b || !is_side_of_hull(&t, a, b))
                    continue;
                const double part = between(0.01, 0.99), x = t.x[b] - t.x[a], y = t.y[b] - t.y[a], far = 1e6;
                const mix m = mix_at(&t, t.x[a] + part * x + far * y, t.y[a] + part * y - far * x);
                cr_assert_lt(hypot(m.x + far * y, m.y - far * x), 1e-5, "from beyond %u and %u", a, b);
            }
        th_blend_space_destroy(t.space);
    }
}

Test(blend_space, weights_do_not_jump)
{
    for (int n = 0; n < 80; n++) {
        trial t = random_plane(3 + (uint32_t)between(0, 30), 8);
        create_plane(&t);
        double from[2], to[2];
        for (int i = 0; i < 2; i++) {
            from[i] = between(-4, 12);
            to[i] = between(-4, 12);
        }
        mix before = mix_at(&t, from[0], from[1]);
        for (int i = 1; i <= 2000; i++) {
            const double part = i / 2000.0;
            const mix m = mix_at(&t, from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1]));
            /* A step is up to 0.012 long, and no triangle lower than 1/12. */
            cr_assert_lt(difference(&before, &m), 0.15, "trial %d, step %d", n, i);
            before = m;
        }
        th_blend_space_destroy(t.space);
    }
}

/* The border of a diamond is straight but for errors of rounding: to either side, weights are those on it. */
Test(blend_space, weights_do_not_jump_at_a_border_that_is_nearly_straight)
{
    for (int n = 0; n < 80; n++) {
        const double side = between(0.5, 4), ux = between(0.1, 1), uy = between(0.1, 1);
        trial t = {.count = 14};
        for (int i = 0; i < 13; i++) {
            const double part = i / 12.0, x = ux * side * part, y = uy * side * (1 - part);
            t.x[i] = n % 2 ? (double)(float)x : x;
            t.y[i] = n % 2 ? (double)(float)y : y;
        }
        create_plane(&t); /* the last one is at 0, 0 */
        for (uint32_t i = 0; i < 13; i++) {
            const mix outside = mix_at(&t, t.x[i] * (1 + 1e-5), t.y[i] * (1 + 1e-5)), at = mix_at(&t, t.x[i], t.y[i]);
            const mix inside = mix_at(&t, t.x[i] * (1 - 1e-5), t.y[i] * (1 - 1e-5));
            cr_assert_eq(weight_of(&at, i), 1);
            cr_assert_lt(difference(&outside, &at), 0.01, "trial %d, sample %u", n, i);
            cr_assert_lt(difference(&inside, &at), 0.01, "trial %d, sample %u", n, i);
        }
        th_blend_space_destroy(t.space);
    }
}

Test(blend_space, parameters_that_are_no_numbers_count_as_the_nearest_or_the_smallest)
{
    trial t = random_plane(20, 100);
    create_plane(&t);
    const double most = TH_BLEND_SPACE_MAX_POSITION;
    const double given[] = {nan(""), -nan(""), HUGE_VAL, -HUGE_VAL, 1e300, -1e300, 50},
                 as[] = {-most, -most, most, -most, most, -most, 50};
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++) {
            const mix got = mix_at(&t, given[i], given[j]), wanted = mix_at(&t, as[i], as[j]);
            cr_assert_eq(difference(&got, &wanted), 0, "%g, %g", given[i], given[j]);
        }
    th_blend_space_destroy(t.space);
}

/* ---- refusals ---- */

static void check_refusal(trial t, bool is_plane, th_result code, const char *words)
{
    th_error err = {0};
    t.space = (th_blend_space *)&t;
    cr_assert_eq(create(&t, is_plane, &err), code, "%s", err.text);
    cr_assert_null(t.space);
    cr_assert(strstr(err.text, words), "\"%s\" does not say \"%s\"", err.text, words);
    cr_assert_eq(create(&t, is_plane, NULL), code);
}

Test(blend_space, errors_name_the_sample)
{
    check_refusal((trial){.count = 0}, true, TH_ERR_INPUT, "at least one sample");
    check_refusal((trial){.count = MOST + 1}, false, TH_ERR_LIMIT, "65 samples; 64");
    check_refusal((trial){.count = 3, .x = {0, 1, nan("")}}, false, TH_ERR_INPUT, "sample 2");
    check_refusal((trial){.count = 3, .x = {0, 1, 0}, .y = {0, -HUGE_VAL, 1}}, true, TH_ERR_INPUT, "sample 1");
    check_refusal((trial){.count = 2, .x = {-1.01e9, 1}}, false, TH_ERR_INPUT, "sample 0");
    check_refusal((trial){.count = 4, .x = {0, 1, 2, 1}}, false, TH_ERR_INPUT, "samples 1 and 3");
    check_refusal((trial){.count = 4, .x = {0, 1, 0, 0.001}, .y = {0, 0, 1000, 1000}}, true, TH_ERR_INPUT,
                  "samples 2 and 3");
    check_refusal((trial){.count = 2, .x = {0, 1e-10}}, false, TH_ERR_INPUT, "samples 0 and 1");
    check_refusal((trial){.count = 2, .x = {0, 1}, .y = {0, 1}}, true, TH_ERR_INPUT, "one dimension");
    check_refusal((trial){.count = 4, .x = {1, 0.5, 0, 0.9}, .y = {8e-7, 0, 0, -8e-7}}, true, TH_ERR_INPUT, "sample 2");
    check_refusal((trial){.count = 5, .x = {0.3, 0.1, 0.2, 0.7, 0.9}, .y = {0.1, 0.3, 0.2, -0.3, -0.5}}, true,
                  TH_ERR_INPUT, "sample 0 of a blend space is on one line");
}

Test(blend_space, samples_that_are_nearly_on_one_line_are_on_one_line)
{
    for (int n = 0; n < 60; n++) {
        trial t = {.count = 3 + (uint32_t)n};
        const double x = between(-1, 1), y = between(-1, 1), float_error = n % 2 ? 0x1p-25 : 0;
        for (uint32_t i = 0; i < t.count; i++) {
            t.x[i] = x * i * (1 + between(-float_error, float_error));
            t.y[i] = y * i * (1 + between(-float_error, float_error));
        }
        check_refusal(t, true, TH_ERR_INPUT, "one line");
    }
}

Test(blend_space, only_its_creation_takes_memory)
{
    trial t = random_plane(MOST, 100);
    allocations_left = 0;
    th_error err = {0};
    const th_result refused = create(&t, true, &err);
    allocations_left = -1;
    cr_assert_eq(refused, TH_ERR_MEMORY);
    create_plane(&t);
    mix m = {0};
    const size_t before = allocations;
    for (int i = 0; i < 100; i++)
        m.count = th_blend_space_weights(t.space, between(-50, 150), between(-50, 150), m.index, m.weight);
    cr_assert_eq(allocations, before);
    th_blend_space_destroy(t.space);
    th_blend_space_destroy(NULL);
}
