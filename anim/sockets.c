#include "compile/compiled_data.h"

#include <assert.h>
#include <string.h>

/* M of an op in one lane: rows of [linear | translation]. m: the op's, from this lane on. */
static th_mat34 read_op(const float *m, th_pose_form form, uint32_t width)
{
    th_mat34 numbers;
    const float *n = numbers.m;
    for (uint32_t i = 0; i < (form == TH_POSE_QUATS ? TH_QUAT_ENTRY : TH_ENTRY); i++)
        numbers.m[i] = m[i * width];
    if (form == TH_POSE_MATRICES)
        return numbers;
    const float x = n[0], y = n[1], z = n[2], w = n[3], scale = n[7], k = 2 * scale;
    return (th_mat34){{scale - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y), n[4], k * (x * y + w * z),
                       scale - k * (x * x + z * z), k * (y * z - w * x), n[5], k * (x * z - w * y), k * (y * z + w * x),
                       scale - k * (x * x + y * y), n[6]}};
}

/* As th_dmat34_mul. */
static th_mat34 multiply(th_mat34 a, th_mat34 b)
{
    th_mat34 product;
    for (int row = 0; row < 3; row++) {
        const float *r = a.m + 4 * row;
        for (int col = 0; col < 4; col++)
            product.m[4 * row + col] = r[0] * b.m[col] + r[1] * b.m[4 + col] + r[2] * b.m[8 + col];
        product.m[4 * row + 3] += r[3];
    }
    return product;
}

void th_sockets_write(const th_socket *sockets, uint32_t count, th_pose_form form, uint32_t width, float *scratch,
                      float *const *out)
{
    assert((sockets || count == 0) && scratch && out);
    const float *matrices = th_scratch_matrices(scratch, form, width);
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t i = 0; i < width; i++) {
            if (!out[i])
                continue;
            th_mat34 g = sockets[s].from_op[form];
            if (sockets[s].op != TH_NO_PARENT)
                g = multiply(read_op(matrices + th_pose_floats(form, sockets[s].op, width) + i, form, width), g);
            memcpy(out[i] + s * TH_ENTRY, g.m, sizeof g.m);
        }
}
