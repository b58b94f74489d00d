#include <throng/anim/palette.h>

#include <throng/anim/transform.h>
#include <throng/core/half.h>

#include <assert.h>
#include <math.h>
#include <string.h>

const char *th_palette_name(th_palette format)
{
    static const char *const names[TH_PALETTE_COUNT] = {"f32", "f16", "quat"};
    assert((unsigned)format < TH_PALETTE_COUNT);
    return names[format];
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

/* ---- entries ---- */

void th_palette_read(th_palette format, const void *entry, const float place[3], float out[12])
{
    assert(entry && out);
    assert((unsigned)format < TH_PALETTE_COUNT && (format != TH_PALETTE_QUAT || place));
    uint16_t halves[12];
    float quat[8];
    if (format == TH_PALETTE_F32) {
        memcpy(out, entry, 12 * sizeof *out);
        return;
    }
    if (format == TH_PALETTE_QUAT) {
        memcpy(quat, entry, sizeof quat);
        quat_to_matrix(quat, place, out);
        return;
    }
    memcpy(halves, entry, sizeof halves);
    for (int i = 0; i < 12; i++)
        out[i] = th_half_to_float(halves[i]);
}

void th_palette_write(th_palette format, const float in[12], const float place[3], void *entry)
{
    assert(entry && in);
    assert((unsigned)format < TH_PALETTE_COUNT && (format != TH_PALETTE_QUAT || place));
    uint16_t halves[12];
    float quat[8];
    if (format == TH_PALETTE_F32) {
        memcpy(entry, in, 12 * sizeof *in);
        return;
    }
    if (format == TH_PALETTE_QUAT) {
        quat_from_matrix(in, place, quat);
        memcpy(entry, quat, sizeof quat);
        return;
    }
    for (int i = 0; i < 12; i++)
        halves[i] = th_half_from_float(in[i]);
    memcpy(entry, halves, sizeof halves);
}
