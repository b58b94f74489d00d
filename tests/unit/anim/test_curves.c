/* Curves against oracles of their own: bisection, products of matrices, and numbers found by hand. */
#include "fixture_curves.h"
#include "random_model.h"

#include <anim/exact.h>

#include <criterion/criterion.h>

#include <math.h>
#include <string.h>

TestSuite(curves, .init = begin_curves, .fini = end_curves);

/* ---- one curve ---- */

/* t: of the way, as the curve's pieces divide it. */
static long double bisected(const th_curve *curve, uint32_t k, long double t)
{
    const th_curve_piece *p = &curve->pieces[k];
    const bool even = p->leave_time == (float)(1 / 3.) && p->arrive_time == (float)(2 / 3.);
    long double low = 0, high = 1,
                y[2][4] = {{0, (long double)p->leave_time, (long double)p->arrive_time, 1},
                           {(long double)curve->values[k], (long double)p->leave_value, (long double)p->arrive_value,
                            (long double)curve->values[k + 1]}};
    for (int i = 0; i <= 80; i++) {
        const long double s = even || i == 80 ? (even ? t : low) : (low + high) / 2;
        long double at[2];
        for (int n = 0; n < 2; n++) { /* de Casteljau */
            long double c[4];
            memcpy(c, y[n], sizeof c);
            for (int left = 3; left > 0; left--)
                for (int m = 0; m < left; m++)
                    c[m] += s * (c[m + 1] - c[m]);
            at[n] = c[0];
        }
        if (even || i == 80)
            return at[1];
        *(at[0] < t ? &low : &high) = s;
    }
    return 0;
}

Test(curves, are_where_bisection_finds_them)
{
    for (int n = 0; n < 500; n++) {
        const th_curve curve = random_curve(2 + (uint32_t)n % 30, 5);
        for (uint32_t k = 0; k + 1 < curve.key_count; k++)
            for (int i = 0; i < 8; i++) {
                const double length = curve.times[k + 1] - curve.times[k],
                             ticks = curve.times[k] + length * between(0, 1);
                const double got = th_curve_at(&curve, ticks);
                if (curve.pieces[k].holds) {
                    cr_assert_eq(got, (double)curve.values[k]);
                    continue;
                }
                /* Where the curve is steep, the last bits of the time show. */
                const long double t = ((long double)ticks - (long double)curve.times[k]) / (long double)length,
                                  want = bisected(&curve, k, t), bit = 4e-16L;
                const double steep =
                    (double)fabsl(bisected(&curve, k, fminl(1, t + bit)) - bisected(&curve, k, fmaxl(0, t - bit)));
                cr_assert_float_eq(got, (double)want, 2e-14 + steep, "curve %d, piece %u at %g: %g", n, k, (double)t,
                                   got - (double)want);
            }
    }
}

Test(curves, go_through_their_keys_and_stay_at_the_ends)
{
    for (int n = 0; n < 100; n++) {
        const th_curve curve = random_curve(1 + (uint32_t)n % 9, 5);
        const uint32_t last = curve.key_count - 1;
        for (uint32_t k = 0; k <= last; k++)
            cr_assert_eq(th_curve_at(&curve, curve.times[k]), (double)curve.values[k]);
        cr_assert_eq(th_curve_at(&curve, curve.times[0] - 1), (double)curve.values[0]);
        cr_assert_eq(th_curve_at(&curve, curve.times[last] + 1), (double)curve.values[last]);
        for (uint32_t k = 0; k < last; k++) {
            const double before = nextafter(curve.times[k + 1], -9);
            const float from = curve.values[curve.pieces[k].holds ? k : k + 1];
            cr_assert_float_eq(th_curve_at(&curve, before), (double)from, 1e-3);
        }
    }
}

/* ---- one transform ---- */

typedef struct matrix {
    double m[4][4];
} matrix;

static const matrix identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};

static matrix product(matrix a, matrix b)
{
    matrix out = {0};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                out.m[i][j] += a.m[i][k] * b.m[k][j];
    return out;
}

static matrix shift(const double by[3], double sign)
{
    matrix out = identity;
    for (int i = 0; i < 3; i++)
        out.m[i][3] = sign * by[i];
    return out;
}

static matrix stretch(const double by[3])
{
    matrix out = identity;
    for (int i = 0; i < 3; i++)
        out.m[i][i] = by[i];
    return out;
}

static matrix turn(char axis, double angle)
{
    const int i = (axis - 'x' + 1) % 3, j = (axis - 'x' + 2) % 3;
    matrix out = identity;
    out.m[i][i] = out.m[j][j] = cos(angle);
    out.m[i][j] = -sin(angle);
    out.m[j][i] = sin(angle);
    return out;
}

static matrix turns(uint32_t order, const double angles[3])
{
    static const char *const orders[] = {"xyz", "xzy", "yzx", "yxz", "zxy", "zyx"};
    matrix out = identity;
    for (int i = 0; i < 3; i++)
        out = product(turn(orders[order][i], angles[orders[order][i] - 'x']), out);
    return out;
}

static matrix turn_of(const double q[4])
{
    const th_dmat34 from = th_dmat34_from_trs(&(th_trs){.rotation = {q[0], q[1], q[2], q[3]}, .scale = {1, 1, 1}});
    matrix out = identity;
    memcpy(out.m, from.m, sizeof from.m);
    return out;
}

static void expect_matrix(const th_dmat34 *got, matrix want, const char *what, uint32_t n)
{
    for (int i = 0; i < 12; i++)
        cr_assert_float_eq(got->m[i], want.m[i / 4][i % 4], 1e-12, "%s %u, element %d: %g", what, n, i,
                           got->m[i] - want.m[i / 4][i % 4]);
}

static th_dmat34 matrix_at(const th_transform_curves *curves, double ticks)
{
    th_trs trs;
    th_transform_curves_at(curves, ticks, &trs);
    return th_dmat34_from_trs(&trs);
}

Test(curves, of_a_transform_are_the_product_of_eleven_matrices)
{
    for (uint32_t n = 0; n < 60; n++) {
        th_transform_curves *c = random_curves();
        c->order = n % 6;
        c->layer_count = 1;
        const double ticks = between(0, 9), travel[] = {0.1, -0.2, 0.3};
        double v[TH_TRANSFORM_CURVES];
        for (int i = 0; i < TH_TRANSFORM_CURVES; i++)
            v[i] = th_curve_at(&c->layers->curves[i], ticks);
        const matrix parts[] = {shift(v, 1),
                                shift(c->rotation_offset, 1),
                                shift(c->rotation_pivot, 1),
                                turn_of(c->before),
                                turns(c->order, v + TH_CURVE_ANGLES),
                                turn_of(c->after),
                                shift(c->rotation_pivot, -1),
                                shift(c->scaling_offset, 1),
                                shift(c->scaling_pivot, 1),
                                stretch(v + TH_CURVE_SCALE),
                                shift(c->scaling_pivot, -1)};
        matrix want = identity;
        for (int i = 0; i < 11; i++)
            want = product(want, parts[i]);
        th_dmat34 got = matrix_at(c, ticks);
        expect_matrix(&got, want, "transform", n);
        memcpy(c->frame.rotation, c->before, sizeof c->before);
        memcpy(c->frame.translation, travel, sizeof travel);
        want = product(product(shift(travel, 1), turn_of(c->before)), want);
        memcpy(c->travel, travel, sizeof travel);
        got = matrix_at(c, ticks);
        expect_matrix(&got, product(shift(travel, -ticks), want), "travelling transform", n);
    }
}

/* ---- layers ---- */

static th_curve_layer *layer_of(th_curve_layer **next, uint32_t first, double x, double y, double z)
{
    th_curve *curves = th_arena_new(curve_arena, th_curve, TH_TRANSFORM_CURVES);
    curves[first] = constant_curve(x);
    curves[first + 1] = constant_curve(y);
    curves[first + 2] = constant_curve(z);
    **next = (th_curve_layer){.curves = curves};
    return (*next)++;
}

typedef struct joining {
    bool adds, factors;
    double weight, before, value, wanted; /* weight: below 0: no curve */
} joining;

Test(curves, of_layers_join_by_sums_shares_and_powers)
{
    static const joining cases[] = {
        {true, false, -1, 10, 4, 14},  {true, false, 0.5, 10, 4, 12}, {false, false, -1, 10, 4, 4},
        {false, false, 0.25, 8, 4, 7}, {false, false, 0, 8, 4, 8},    {true, true, -1, 10, 4, 40},
        {true, true, 0.5, 2, 9, 6},    {true, true, 0.5, 2, -9, -6},  {true, true, 0, 2, 9, 2},
        {false, true, 0.5, 4, 9, 6},   {false, true, 0.5, -4, 9, -6}, {false, true, 1, 4, -9, -9},
        {false, true, 0, -4, 9, -4},   {true, false, 1.5, 10, 4, 14},
    };
    for (uint32_t n = 0; n < sizeof cases / sizeof *cases; n++)
        for (uint32_t first = TH_CURVE_TRANSLATION; first <= TH_CURVE_SCALE; first += TH_CURVE_SCALE) {
            const joining *j = &cases[n];
            if (j->factors && first == TH_CURVE_TRANSLATION)
                continue;
            th_transform_curves c = plain_curves();
            th_curve_layer layers[1], *next = layers, *layer = layer_of(&next, first, j->value, j->value, j->value);
            layer->adds = j->adds;
            layer->multiplies_scales = j->factors;
            layer->weight = j->weight < 0 ? (th_curve){0} : constant_curve(j->weight);
            for (uint32_t i = 0; i < 3; i++)
                c.numbers[first + i] = (float)j->before;
            c.layers = layers;
            c.layer_count = 1;
            th_trs trs;
            th_transform_curves_at(&c, 3, &trs);
            cr_assert_float_eq(first ? trs.scale[1] : trs.translation[1], j->wanted, 1e-12, "%u", n);
        }
}

/* About z and x, in degrees. The second layer joins them as its weight and flags say. */
static th_dmat34 joined_turn(double x, double y, double z, double weight, bool adds)
{
    th_transform_curves c = plain_curves();
    th_curve_layer layers[1], *next = layers,
                              *layer = layer_of(&next, TH_CURVE_ANGLES, x * M_PI / 180, y * M_PI / 180, z * M_PI / 180);
    layer->adds = adds;
    layer->combines_rotations = true;
    layer->weight = constant_curve(weight);
    c.numbers[TH_CURVE_ANGLES] = (float)M_PI_2;
    c.layers = layers;
    c.layer_count = 1;
    return matrix_at(&c, 0);
}

Test(curves, of_layers_join_rotations)
{
    const double quarter = (double)(float)M_PI_2, half = M_PI / 4;
    const struct {
        th_dmat34 got;
        matrix wanted;
    } cases[] = {
        {joined_turn(0, 90, 0, 1, true), product(turn('x', quarter), turn('y', (double)(float)M_PI_2))},
        {joined_turn(0, 90, 0, 0.5, true), product(turn('x', quarter), turn('y', half))},
        {joined_turn(0, 0, 270, 0.5, true), product(turn('x', quarter), turn('z', -half))}, /* the shorter way */
        {joined_turn(0, 90, 0, 1, false), turn('y', (double)(float)M_PI_2)},
        {joined_turn(0, 0, 0, 0.5, false), turn('x', quarter / 2)},
        {joined_turn(0, 90, 0, 0, false), turn('x', quarter)},
    };
    for (uint32_t n = 0; n < sizeof cases / sizeof *cases; n++)
        for (int i = 0; i < 12; i++)
            cr_assert_float_eq(cases[n].got.m[i], cases[n].wanted.m[i / 4][i % 4], 2e-7, "case %u, element %d", n, i);
}

/* Also where the middle angle is a quarter turn. */
Test(curves, find_the_angles_of_a_rotation_to_add_others)
{
    for (uint32_t n = 0; n < 600; n++) {
        th_transform_curves c = plain_curves();
        th_curve_layer layers[2], *next = layers;
        static const int middle[] = {1, 2, 2, 0, 0, 1};
        double angles[3] = {between(-3, 3), between(-3, 3), between(-3, 3)}, more[3] = {0};
        c.order = n % 6;
        const bool locked = n % 4 == 0;
        angles[middle[c.order]] = locked ? (double)(float)(n % 8 ? M_PI_2 : -M_PI_2) : between(-1.5, 1.5);
        for (int i = 0; i < 3; i++) {
            more[i] = locked ? 0 : (double)(float)between(-2, 2);
            angles[i] = (double)(float)angles[i];
        }
        layer_of(&next, TH_CURVE_ANGLES, angles[0], angles[1], angles[2])->combines_rotations = true;
        layer_of(&next, TH_CURVE_ANGLES, more[0], more[1], more[2])->adds = true;
        c.layers = layers;
        c.layer_count = 2;
        for (int i = 0; i < 3; i++)
            angles[i] += more[i];
        const th_dmat34 got = matrix_at(&c, 0);
        expect_matrix(&got, turns(c.order, angles), "order and lock", n);
    }
}

Test(curves, of_a_weight_lead_along_places)
{
    static const float places[] = {-1, 0, 0.5F, 2}, both[] = {0, 1};
    static const struct {
        double number, shares[4];
    } cases[] = {{-1, {1, 0}},   {-0.25, {0.25, 0.75}}, {0, {0, 1}},  {0.25, {0, 0.5, 0.5}}, {1.25, {0, 0, 0.5, 0.5}},
                 {2, {[3] = 1}}, {3.5, {0, 0, -1, 2}},  {-3, {3, -2}}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        for (uint32_t place = 0; place < 4; place++) {
            const th_weight_curves c = {(float)cases[n].number, 4, place, places, 0, NULL};
            cr_assert_float_eq(th_weight_curves_at(&c, 0), cases[n].shares[place], 1e-15, "%g, place %u",
                               cases[n].number, place);
        }
    const th_curve curves[] = {constant_curve(3), constant_curve(1)};
    const th_curve_layer layers[] = {{.weight = constant_curve(0.5), .curves = curves},
                                     {.weight = constant_curve(0.25), .adds = true, .curves = curves + 1}};
    const th_weight_curves alone = {-1, 2, 1, both, 2, layers};
    cr_assert_float_eq(th_weight_curves_at(&alone, 7), 1.25, 1e-15);
}

/* ---- inherited scale ---- */

enum { WITH_ALL, WITH_SCALE, WITHOUT_SCALE, INHERITS }; /* RSrs, RrSs, Rrs */

/* By the definition: where it is, how it is turned, and how large. */
typedef struct placed {
    matrix whole, turned;
    double scale[3];
} placed;

static placed place(const placed *parent, int inherits, const double v[TH_TRANSFORM_CURVES])
{
    placed out = {.turned = product(parent->turned, turns(0, v + TH_CURVE_ANGLES))};
    const matrix at = product(parent->whole, shift(v, 1));
    for (int i = 0; i < 3; i++)
        out.scale[i] = v[TH_CURVE_SCALE + i] * (inherits == WITH_SCALE ? parent->scale[i] : 1);
    if (inherits == WITH_ALL)
        out.whole = product(product(at, turns(0, v + TH_CURVE_ANGLES)), stretch(v + TH_CURVE_SCALE));
    else
        out.whole = product(shift((const double[]){at.m[0][3], at.m[1][3], at.m[2][3]}, 1),
                            product(out.turned, stretch(out.scale)));
    return out;
}

Test(curves, inherit_scale_as_fbx_says)
{
    for (uint32_t n = 0; n < 60; n++) {
        const int inherits[] = {WITHOUT_SCALE, 1 + (int)(n % 2), (int)(n / 2 % INHERITS)};
        th_transform_curves curves[6];
        th_channel channels[6];
        th_joint joints[6];
        placed want = {identity, identity, {1, 1, 1}};
        for (uint32_t i = 0; i < 3; i++) { /* each node, then its scale */
            th_transform_curves *c = &curves[2 * i], *parent = i > 0 ? c - 2 : NULL;
            double v[TH_TRANSFORM_CURVES];
            *c = plain_curves();
            for (int k = 0; k < TH_TRANSFORM_CURVES; k++)
                v[k] = (double)(c->numbers[k] = (float)between(0.5, 1.5));
            c->part = TH_CURVE_UNSCALED;
            c->scale_from = inherits[i] == WITH_SCALE ? parent : NULL;
            c->scaled_by = inherits[i] == WITH_ALL ? NULL : parent;
            c[1] = *c;
            c[1].part = TH_CURVE_SCALE_ALONE;
            for (uint32_t j = 2 * i; j < 2 * i + 2; j++) {
                channels[j] = moving_channel(j, (th_track){1, &no_time, (const float[3]){0}, NULL, false});
                channels[j].curves = &curves[j];
                joints[j] = (th_joint){"node", j - 1, TH_MAT34_IDENTITY, NULL};
            }
            joints[2 * i].parent = i == 0 ? TH_NO_INDEX : inherits[i] == WITH_ALL ? 2 * i - 1 : 2 * i - 2;
            want = place(&want, inherits[i], v);
        }
        const th_clip clip = clip_of(channels, 6, 1, 1);
        const th_model model = model_of(joints, NULL, 6, &clip);
        th_dmat34 pose[6];
        th_exact_pose(&model, &clip, 0.5, TH_INTERPOLATION_AUTHORED, pose);
        expect_matrix(&pose[5], want.whole, "nodes", n);
    }
}
