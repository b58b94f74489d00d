#include <throng/anim/palette.h>

#include <throng/core/half.h>

#include <assert.h>

const char *th_palette_name(th_palette format)
{
    return format == TH_PALETTE_F16 ? "f16" : "f32";
}

void th_palette_read(th_palette format, const void *entry, float out[12])
{
    assert(entry && out);
    assert((unsigned)format < TH_PALETTE_COUNT);
    uint16_t halves[12];
    if (format == TH_PALETTE_F32) {
        memcpy(out, entry, 12 * sizeof *out);
        return;
    }
    memcpy(halves, entry, sizeof halves);
    for (int i = 0; i < 12; i++)
        out[i] = th_half_to_float(halves[i]);
}

void th_palette_write(th_palette format, const float in[12], void *entry)
{
    assert(entry && in);
    assert((unsigned)format < TH_PALETTE_COUNT);
    uint16_t halves[12];
    if (format == TH_PALETTE_F32) {
        memcpy(entry, in, 12 * sizeof *in);
        return;
    }
    for (int i = 0; i < 12; i++)
        halves[i] = th_half_from_float(in[i]);
    memcpy(entry, halves, sizeof halves);
}
