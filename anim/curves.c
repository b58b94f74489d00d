#include <anim/curves.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- one curve ---- */

/* The parameter at which a Bezier curve from 0 to 1 with these inner control points, both from 0 to 1, has the value t:
 * Newton's method, and bisection wherever that would leave the interval. */
static double solve(double leave, double arrive, double t)
{
    const double a = 3 * leave, b = 3 * arrive - 6 * leave, c = 1 + 3 * leave - 3 * arrive;
    double low = 0, high = 1, s = t;
    for (int i = 0; i < 100; i++) {
        const double off = ((c * s + b) * s + a) * s - t, slope = (3 * c * s + 2 * b) * s + a, before = s;
        if (off == 0)
            break;
        *(off < 0 ? &low : &high) = s;
        s -= off / slope;
        if (!(s >= low && s <= high))
            s = low + (high - low) / 2;
        if (fabs(s - before) < 1e-12) /* the error is of the order of the square */
            break;
    }
    return s;
}

/* The last key at or before the time, or 0. near: a key to try first, which is the same for most curves of a node. */
static uint32_t find_key(const th_curve *curve, double ticks, uint32_t near)
{
    const double *times = curve->times;
    if (near < curve->key_count && times[near] <= ticks && (near + 1 == curve->key_count || ticks < times[near + 1]))
        return near;
    uint32_t low = 0, high = curve->key_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (times[middle] <= ticks)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* *near: as above, and then the key that was found. */
static double curve_at(const th_curve *curve, double ticks, uint32_t *near)
{
    assert(curve->key_count > 0);
    if (curve->key_count == 1)
        return (double)curve->values[0];
    const uint32_t low = *near = find_key(curve, ticks, *near), high = low + 1;
    const double begin = curve->times[low], from = (double)curve->values[low];
    if (high == curve->key_count || ticks <= begin || curve->pieces[low].holds)
        return from;
    const th_curve_piece *piece = &curve->pieces[low];
    const bool even = piece->leave_time == (float)(1 / 3.) && piece->arrive_time == (float)(2 / 3.);
    const double t = (ticks - begin) / (curve->times[high] - begin);
    const double s = even ? t : solve((double)piece->leave_time, (double)piece->arrive_time, t), r = 1 - s;
    return r * r * r * from + 3 * r * s * (r * (double)piece->leave_value + s * (double)piece->arrive_value) +
           s * s * s * (double)curve->values[high];
}

double th_curve_at(const th_curve *curve, double ticks)
{
    assert(curve);
    return curve_at(curve, ticks, &(uint32_t){0});
}

/* ---- layers ---- */

static double weight_at(const th_curve_layer *layer, double ticks)
{
    return layer->weight.key_count > 0 ? fmax(0, fmin(1, th_curve_at(&layer->weight, ticks))) : 1;
}

/* Keeps the sign. */
static double power(double base, double exponent)
{
    return exponent <= 0 ? 1 : exponent >= 1 ? base : copysign(pow(fabs(base), exponent), base);
}

static double join(double before, double value, double weight, bool adds)
{
    if (!adds && weight == 1)
        return value;
    return adds ? before + weight * value : before * (1 - weight) + value * weight;
}

static double join_factors(double before, double value, double weight, bool adds)
{
    return (adds ? before : power(before, 1 - weight)) * power(value, weight);
}

/* Translation or scale, without what is inherited. */
static void vector_at(const th_transform_curves *curves, uint32_t first, double ticks, uint32_t *near, double out[3])
{
    for (uint32_t i = 0; i < 3; i++)
        out[i] = (double)curves->numbers[first + i];
    for (uint32_t l = 0; l < curves->layer_count; l++) {
        const th_curve_layer *layer = &curves->layers[l];
        if (layer->curves[first].key_count == 0)
            continue;
        const double weight = weight_at(layer, ticks);
        const bool factors = first == TH_CURVE_SCALE && layer->multiplies_scales;
        for (uint32_t i = 0; i < 3; i++)
            out[i] = (factors ? join_factors : join)(out[i], curve_at(&layer->curves[first + i], ticks, near), weight,
                                                     layer->adds);
    }
}

/* ---- rotations ---- */

static const uint8_t AXES[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}};

static void rotation_from(const double angles[3], uint32_t order, double out[4])
{
    bool turned = false;
    memcpy(out, (const double[]){0, 0, 0, 1}, 4 * sizeof *out);
    for (int i = 0; i < 3; i++) {
        const int axis = AXES[order][i];
        double turn[4] = {[3] = cos(angles[axis] / 2)};
        turn[axis] = sin(angles[axis] / 2);
        if (angles[axis] == 0)
            continue;
        if (turned)
            th_quat_mul(turn, out, out);
        else
            memcpy(out, turn, sizeof turn);
        turned = true;
    }
}

/* The last angle first, then those that are left without it: so they fit, even where the middle one is a quarter turn
 * and only a sum or difference of the others is known. */
static void angles_from(const double rotation[4], uint32_t order, double out[3])
{
    const int i = AXES[order][0], j = AXES[order][1], k = AXES[order][2];
    const double sign = (i + 1) % 3 == j ? 1 : -1; /* of a turn from i to j about k */
    th_trs trs = {.scale = {1, 1, 1}};
    memcpy(trs.rotation, rotation, sizeof trs.rotation);
    const th_dmat34 matrix = th_dmat34_from_trs(&trs);
    const double *a = matrix.m + 4 * i, *b = matrix.m + 4 * j, *c = matrix.m + 4 * k;
    const double last = atan2(b[i], a[i]), sine = sin(last), cosine = cos(last);
    out[i] = sign * atan2(sine * a[k] - cosine * b[k], cosine * b[j] - sine * a[j]);
    out[j] = sign * atan2(-c[i], hypot(a[i], b[i]));
    out[k] = sign * last;
}

/* A layer's rotation joins what the layers before it have made. */
static void join_rotation(const double value[4], double weight, bool adds, double rotation[4])
{
    static const double still[4] = {0, 0, 0, 1};
    const th_quat_arc arc = th_quat_arc_between(adds ? still : rotation, value);
    double part[4];
    th_quat_arc_at(&arc, weight, part);
    if (adds)
        th_quat_mul(rotation, part, rotation);
    else
        memcpy(rotation, part, sizeof part);
    th_quat_normalize(rotation);
}

/* That of the angles, without what is before and after. */
static void rotation_at(const th_transform_curves *curves, double ticks, uint32_t *near, double out[4])
{
    double angles[3];
    bool is_rotation = false; /* so far; else there are angles */
    for (int i = 0; i < 3; i++)
        angles[i] = (double)curves->numbers[TH_CURVE_ANGLES + i];
    for (uint32_t l = 0; l < curves->layer_count; l++) {
        const th_curve_layer *layer = &curves->layers[l];
        const th_curve *of = layer->curves + TH_CURVE_ANGLES;
        if (of->key_count == 0)
            continue;
        const double weight = weight_at(layer, ticks);
        double value[3], turn[4];
        for (int i = 0; i < 3; i++)
            value[i] = curve_at(&of[i], ticks, near);
        if (layer->combines_rotations) {
            if (!is_rotation)
                rotation_from(angles, curves->order, out);
            rotation_from(value, curves->order, turn);
            join_rotation(turn, weight, layer->adds, out);
        } else {
            if (is_rotation)
                angles_from(out, curves->order, angles);
            for (int i = 0; i < 3; i++)
                angles[i] = join(angles[i], value[i], weight, layer->adds);
        }
        is_rotation = layer->combines_rotations;
    }
    if (!is_rotation)
        rotation_from(angles, curves->order, out);
}

static void rotate(const double q[4], double v[3])
{
    double turned[4] = {v[0], v[1], v[2], 0};
    th_quat_mul(q, turned, turned);
    th_quat_mul(turned, (const double[]){-q[0], -q[1], -q[2], q[3]}, turned);
    memcpy(v, turned, 3 * sizeof *v);
}

/* ---- transforms ---- */

static void multiply_inherited(const th_transform_curves *curves, double ticks, double out[3])
{
    uint32_t near = 0;
    for (; curves; curves = curves->scale_from) {
        double scale[3];
        vector_at(curves, TH_CURVE_SCALE, ticks, &near, scale);
        for (int i = 0; i < 3; i++)
            out[i] *= scale[i];
    }
}

void th_transform_curves_at(const th_transform_curves *curves, double ticks, th_trs *out)
{
    assert(curves && out);
    *out = (th_trs){.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    if (curves->part == TH_CURVE_SCALE_ALONE) {
        multiply_inherited(curves, ticks, out->scale);
    } else {
        double turn[4], scale[3], arm[3];
        uint32_t near = 0;
        vector_at(curves, TH_CURVE_TRANSLATION, ticks, &near, out->translation);
        vector_at(curves, TH_CURVE_SCALE, ticks, &near, scale);
        rotation_at(curves, ticks, &near, turn);
        th_quat_mul(curves->before, turn, out->rotation);
        if (curves->after[3] != 1)
            th_quat_mul(out->rotation, curves->after, out->rotation);
        th_quat_normalize(out->rotation);
        for (int i = 0; i < 3; i++) {
            const double pivot = curves->scaling_pivot[i];
            arm[i] = curves->scaling_offset[i] - curves->rotation_pivot[i] + pivot - scale[i] * pivot;
        }
        if (arm[0] != 0 || arm[1] != 0 || arm[2] != 0)
            rotate(out->rotation, arm);
        for (int i = 0; i < 3; i++)
            out->translation[i] += curves->rotation_offset[i] + curves->rotation_pivot[i] + arm[i];
        if (curves->part == TH_CURVE_WHOLE) {
            memcpy(out->scale, scale, sizeof scale);
            multiply_inherited(curves->scale_from, ticks, out->scale);
        }
        multiply_inherited(curves->scaled_by, ticks, out->translation);
    }
    const th_trs *frame = &curves->frame;
    for (int i = 0; i < 3; i++)
        out->translation[i] *= frame->scale[i];
    if (frame->rotation[3] != 1) {
        rotate(frame->rotation, out->translation);
        th_quat_mul(frame->rotation, out->rotation, out->rotation);
    }
    for (int i = 0; i < 3; i++)
        out->translation[i] += frame->translation[i] - curves->travel[i] * ticks;
}

double th_weight_curves_at(const th_weight_curves *curves, double ticks)
{
    assert(curves && curves->place_count >= 2 && curves->place < curves->place_count);
    double number = (double)curves->number;
    for (uint32_t l = 0; l < curves->layer_count; l++) {
        const th_curve_layer *layer = &curves->layers[l];
        if (layer->curves->key_count > 0)
            number = join(number, th_curve_at(layer->curves, ticks), weight_at(layer, ticks), layer->adds);
    }
    uint32_t next = 1; /* the place at the end of the line that the number is on */
    while (next + 1 < curves->place_count && number >= (double)curves->places[next])
        next++;
    const double begin = (double)curves->places[next - 1];
    const double share = (number - begin) / ((double)curves->places[next] - begin);
    return curves->place == next ? share : curves->place + 1 == next ? 1 - share : 0;
}
