#include <anim/transform.h>

#include <assert.h>
#include <math.h>
#include <string.h>

th_dmat34 th_dmat34_from(th_mat34 a)
{
    th_dmat34 out;
    for (int i = 0; i < 12; i++)
        out.m[i] = (double)a.m[i];
    return out;
}

th_mat34 th_mat34_from(th_dmat34 a)
{
    th_mat34 out;
    for (int i = 0; i < 12; i++)
        out.m[i] = (float)a.m[i];
    return out;
}

void th_dmat34_point(const th_dmat34 *a, const double point[3], double out[3])
{
    assert(a && point && out);
    double x = point[0], y = point[1], z = point[2];
    for (int row = 0; row < 3; row++) {
        const double *r = a->m + 4 * row;
        out[row] = r[0] * x + r[1] * y + r[2] * z + r[3];
    }
}

th_dmat34 th_dmat34_from_trs(const th_trs *trs)
{
    assert(trs);
    const double *t = trs->translation, *q = trs->rotation, *s = trs->scale;
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double length2 = x * x + y * y + z * z + w * w;
    /* The matrix of q / |q| consists of products of two components, so one division by |q|^2 normalises. */
    double k = length2 > 0 ? 2 / length2 : 0;
    return (th_dmat34){{
        (1 - k * (y * y + z * z)) * s[0],
        k * (x * y - w * z) * s[1],
        k * (x * z + w * y) * s[2],
        t[0],
        k * (x * y + w * z) * s[0],
        (1 - k * (x * x + z * z)) * s[1],
        k * (y * z - w * x) * s[2],
        t[1],
        k * (x * z - w * y) * s[0],
        k * (y * z + w * x) * s[1],
        (1 - k * (x * x + y * y)) * s[2],
        t[2],
    }};
}

/* Cofactors of the 3x3 part, as rows: inverse = transpose(cofactors) / determinant. Returns the determinant. */
static double cofactors(const double m[12], double out[9])
{
    for (int row = 0; row < 3; row++) {
        const double *a = m + 4 * ((row + 1) % 3), *b = m + 4 * ((row + 2) % 3);
        out[3 * row + 0] = a[1] * b[2] - a[2] * b[1];
        out[3 * row + 1] = a[2] * b[0] - a[0] * b[2];
        out[3 * row + 2] = a[0] * b[1] - a[1] * b[0];
    }
    return m[0] * out[0] + m[1] * out[1] + m[2] * out[2];
}

bool th_dmat34_invert(const th_dmat34 *a, th_dmat34 *out)
{
    assert(a && out);
    double c[9], determinant = cofactors(a->m, c);
    if (!isnormal(determinant))
        return false;
    th_dmat34 inverse;
    for (int row = 0; row < 3; row++) {
        double *r = inverse.m + 4 * row;
        for (int col = 0; col < 3; col++)
            r[col] = c[3 * col + row] / determinant;
        r[3] = -(r[0] * a->m[3] + r[1] * a->m[7] + r[2] * a->m[11]);
    }
    for (int i = 0; i < 12; i++)
        if (!isfinite(inverse.m[i]))
            return false;
    *out = inverse;
    return true;
}

/* Quaternion of a rotation matrix, starting from its largest component (S. W. Shepperd, Quaternion from Rotation
 * Matrix, 1978). r: row-major 3x3. */
static void quat_from_rotation(const double r[9], double q[4])
{
    double trace = r[0] + r[4] + r[8];
    int i = 0; /* index of the largest diagonal element */
    if (r[4] > r[0])
        i = 1;
    if (r[8] > r[4 * i])
        i = 2;
    if (trace > r[4 * i]) {
        q[0] = r[7] - r[5];
        q[1] = r[2] - r[6];
        q[2] = r[3] - r[1];
        q[3] = 1 + trace;
    } else {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 1 + 2 * r[4 * i] - trace;
        q[j] = r[3 * i + j] + r[3 * j + i];
        q[k] = r[3 * i + k] + r[3 * k + i];
        q[3] = r[3 * k + j] - r[3 * j + k];
    }
    if (!th_quat_normalize(q)) {
        q[0] = q[1] = q[2] = 0;
        q[3] = 1;
    }
}

double th_dmat34_decompose(const th_dmat34 *a, th_trs *out)
{
    assert(a && out);
    return th_dmat34_decompose_like(a, (const double[3]){1, 1, 1}, out);
}

double th_dmat34_decompose_like(const th_dmat34 *a, const double like[3], th_trs *out)
{
    assert(a && like && out);
    double c[9], determinant = cofactors(a->m, c), rotation[9], largest = 0;
    double sign[3] = {like[0] < 0 ? -1 : 1, like[1] < 0 ? -1 : 1, like[2] < 0 ? -1 : 1};
    if (sign[0] * sign[1] * sign[2] * determinant < 0) {
        sign[0] = determinant < 0 ? -1 : 1;
        sign[1] = sign[2] = 1;
    }
    for (int i = 0; i < 12; i++)
        largest = fmax(largest, fabs(a->m[i]));
    for (int col = 0; col < 3; col++) {
        double x = a->m[col], y = a->m[4 + col], z = a->m[8 + col];
        double length = sqrt(x * x + y * y + z * z) * sign[col];
        out->translation[col] = a->m[4 * col + 3];
        out->scale[col] = length;
        for (int row = 0; row < 3; row++)
            rotation[3 * row + col] = length != 0 ? a->m[4 * row + col] / length : (row == col);
    }
    quat_from_rotation(rotation, out->rotation);
    th_dmat34 again = th_dmat34_from_trs(out);
    return largest > 0 ? th_dmat34_distance(a, &again) / largest : 0;
}

void th_trs_take_signs(th_trs *trs, const double scale[3], const double like[3])
{
    assert(trs && scale && like);
    bool other[3], open[3];
    for (int i = 0; i < 3; i++) {
        open[i] = scale[i] == 0;
        other[i] = !open[i] && signbit(scale[i]) != signbit(like[i]);
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        if (other[i] || !(other[j] || other[k]) || !(other[j] || open[j]) || !(other[k] || open[k]))
            continue;
        double half_turn[4] = {0};
        half_turn[i] = 1;
        th_quat_mul(trs->rotation, half_turn, trs->rotation);
        trs->scale[j] = -trs->scale[j];
        trs->scale[k] = -trs->scale[k];
        return;
    }
}

/* The eigenvalues of A^T A are at most the largest absolute row sum (S. Gershgorin, 1931). */
double th_dmat34_stretch(const th_dmat34 *a)
{
    assert(a);
    double largest = 0;
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int j = 0; j < 3; j++)
            sum += fabs(a->m[i] * a->m[j] + a->m[4 + i] * a->m[4 + j] + a->m[8 + i] * a->m[8 + j]);
        largest = fmax(largest, sum);
    }
    return sqrt(largest);
}

double th_dmat34_distance(const th_dmat34 *a, const th_dmat34 *b)
{
    assert(a && b);
    double largest = 0;
    for (int i = 0; i < 12; i++) {
        double difference = fabs(a->m[i] - b->m[i]);
        if (isnan(difference))
            return difference;
        largest = fmax(largest, difference);
    }
    return largest;
}

th_quat_arc th_quat_arc_between(const double a[4], const double b[4])
{
    assert(a && b);
    assert(fabs(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3] - 1) < 1e-5);
    assert(fabs(b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3] - 1) < 1e-5);
    const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3], sign = dot < 0 ? -1 : 1;
    th_quat_arc arc = {.angle = acos(fmin(dot * sign, 1))};
    for (int i = 0; i < 4; i++) {
        arc.from[i] = a[i];
        arc.to[i] = sign * b[i];
    }
    arc.sine = sin(arc.angle);
    return arc;
}

void th_quat_arc_at(const th_quat_arc *arc, double t, double out[4])
{
    assert(arc && out);
    double wa = 1 - t, wb = t;
    if (arc->sine > 1e-9) { /* below that, sin(x) = x to the last bit and the weights are linear */
        wa = sin((1 - t) * arc->angle) / arc->sine;
        wb = sin(t * arc->angle) / arc->sine;
    }
    for (int i = 0; i < 4; i++)
        out[i] = wa * arc->from[i] + wb * arc->to[i];
    th_quat_normalize(out);
}

void th_quat_mul(const double a[4], const double b[4], double out[4])
{
    assert(a && b && out);
    double q[4] = {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    };
    memcpy(out, q, sizeof q);
}

bool th_quat_normalize(double q[4])
{
    assert(q);
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length >= 1e-12) || isinf(length))
        return false;
    for (int i = 0; i < 4; i++)
        q[i] /= length;
    return true;
}
