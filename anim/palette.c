#include <anim/palette.h>

#include <anim/transform.h>
#include <core/error.h>

#include <assert.h>
#include <math.h>
#include <string.h>

const char *th_format_name(th_format format)
{
    static const char *const names[TH_FORMAT_COUNT] = {"f32", "quat", "quat16"};
    return (unsigned)format < TH_FORMAT_COUNT ? names[format] : "unknown";
}

/* ---- quaternions ---- */

static void quat_to_matrix(const float entry[8], const float place[3], float out[12])
{
    th_trs trs;
    for (int i = 0; i < 3; i++) {
        trs.translation[i] = (double)entry[4 + i];
        trs.scale[i] = (double)entry[7];
    }
    for (int i = 0; i < 4; i++)
        trs.rotation[i] = (double)entry[i];
    th_dmat34 m = th_dmat34_from_trs(&trs);
    for (int row = 0; row < 12; row += 4)
        for (int col = 0; col < 3; col++)
            m.m[row + 3] -= m.m[row + col] * (double)place[col];
    memcpy(out, th_mat34_from(m).m, 12 * sizeof *out);
}

static void quat_from_matrix(const float in[12], const float place[3], float entry[8])
{
    th_mat34 matrix;
    memcpy(matrix.m, in, sizeof matrix.m);
    const th_dmat34 m = th_dmat34_from(matrix);
    th_trs trs;
    double moved[3];
    th_dmat34_decompose(&m, &trs);
    th_dmat34_point(&m, (double[3]){(double)place[0], (double)place[1], (double)place[2]}, moved);
    for (int i = 0; i < 4; i++)
        entry[i] = (float)trs.rotation[i];
    for (int i = 0; i < 3; i++)
        entry[4 + i] = (float)moved[i];
    entry[7] = (float)cbrt(fabs(trs.scale[0] * trs.scale[1] * trs.scale[2]));
}

/* Of the numbers of th_quat16. */
enum { PLACE_BITS = 22, TURN_BITS = 20, HALF_BITS = TURN_BITS / 2 };

/* Of a number in the low bits. */
static int32_t extend_sign(uint32_t n, int bits)
{
    return (int32_t)(n << (32 - bits)) >> (32 - bits);
}

static void quat_unpack(const th_quat16 *packed, float step, float entry[8])
{
    const uint32_t *words = packed->words;
    int32_t turn[3] = {extend_sign(words[3], PLACE_BITS)};
    for (int i = 1; i < 3; i++) {
        const uint32_t low = words[2 * i - 2] >> PLACE_BITS, high = words[2 * i - 1] >> PLACE_BITS;
        turn[i] = extend_sign(low | high << HALF_BITS, TURN_BITS);
    }
    double r[3], square = 0;
    for (int i = 0; i < 3; i++) {
        r[i] = (double)turn[i] / TH_TURN_STEPS;
        square += r[i] * r[i];
    }
    for (int i = 0; i < 3; i++) {
        entry[i] = (float)(2 * r[i] / (1 + square));
        entry[4 + i] = (float)extend_sign(words[i], PLACE_BITS) * step;
    }
    entry[3] = (float)((1 - square) / (1 + square));
    entry[7] = 1;
}

static th_quat16 quat_pack(const float entry[8], float step)
{
    const float most = 1 << (PLACE_BITS - 1), steps = TH_TURN_STEPS / (entry[3] + copysignf(1, entry[3]));
    uint32_t place[3], turn[3];
    for (int i = 0; i < 3; i++) {
        place[i] = (uint32_t)lrintf(fminf(fmaxf(entry[4 + i] / step, -most), most - 1));
        turn[i] = (uint32_t)lrintf(entry[i] * steps);
    }
    const uint32_t low[4] = {place[0], place[1], place[2], turn[0]};
    const uint32_t high[4] = {turn[1], turn[1] >> HALF_BITS, turn[2], turn[2] >> HALF_BITS};
    th_quat16 packed;
    for (int i = 0; i < 4; i++)
        packed.words[i] = (low[i] & ((1u << PLACE_BITS) - 1)) | high[i] << PLACE_BITS;
    return packed;
}

/* ---- entries ---- */

void th_palette_read(th_format format, const void *entry, const th_palette_base *base, float out[12])
{
    if (!TH_VALID(entry && out && (unsigned)format < TH_FORMAT_COUNT && (format < TH_FORMAT_QUAT || base)))
        return;
    float quat[8];
    th_quat16 packed;
    switch (format) {
    case TH_FORMAT_QUAT:
        memcpy(quat, entry, sizeof quat);
        quat_to_matrix(quat, base->place, out);
        break;
    case TH_FORMAT_QUAT16:
        memcpy(&packed, entry, sizeof packed);
        quat_unpack(&packed, base->step, quat);
        quat_to_matrix(quat, base->place, out);
        break;
    default:
        memcpy(out, entry, 12 * sizeof *out);
    }
}

void th_palette_write(th_format format, const float in[12], const th_palette_base *base, void *entry)
{
    assert(entry && in);
    assert((unsigned)format < TH_FORMAT_COUNT && (format < TH_FORMAT_QUAT || base));
    float quat[8];
    th_quat16 packed;
    switch (format) {
    case TH_FORMAT_QUAT:
        quat_from_matrix(in, base->place, quat);
        memcpy(entry, quat, sizeof quat);
        break;
    case TH_FORMAT_QUAT16:
        quat_from_matrix(in, base->place, quat);
        packed = quat_pack(quat, base->step);
        memcpy(entry, &packed, sizeof packed);
        break;
    default:
        memcpy(entry, in, 12 * sizeof *in);
    }
}
