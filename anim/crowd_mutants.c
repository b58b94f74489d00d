#include "crowd_mutants.h"

#include <throng/core/mutant.h>
#include <throng/core/random.h>

#include <math.h>
#include <stdatomic.h>
#include <string.h>

static uint64_t faulty_frame_of(double time_s)
{
    return (uint64_t)llround(time_s * 60);
}

uint32_t th_crowd_faulty_repeats(uint32_t index, double time_s)
{
    enum { STALL_EVERY = 64, STALL = 12 };
    static atomic_uint calls;
    const uint64_t frame = faulty_frame_of(time_s);
    if (th_mutant_is(TH_MUTANT_SKIP_FRAMES))
        return frame % 2 == 0;
    if (th_mutant_is(TH_MUTANT_SKIP_BATCHES))
        return index % 2 == 0 || frame % 2 == 0;
    if (th_mutant_is(TH_MUTANT_TIRED))
        return atomic_fetch_add(&calls, 1) < th_mutant_number();
    if (th_mutant_is(TH_MUTANT_STALL))
        return frame % STALL_EVERY == 0 ? STALL : 1;
    if (th_mutant_is(TH_MUTANT_SLOW))
        return 1 + (th_random_bits(frame, index) % 100 < th_mutant_number());
    return 1;
}

/* Replaces the entry of a bone by what it would be with another rotation. */
static void spoil_bone(const th_crowd *crowd, const th_model *model, char *palette, uint32_t bone)
{
    char *at = palette + bone * th_palette_entry_bytes(crowd->format);
    const th_palette_base base = th_model_palette_base(model, bone);
    th_mat34 entry = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    if (th_mutant_is(TH_MUTANT_FLIP_SIGN)) {
        th_palette_read(crowd->format, at, &base, entry.m);
        entry.m[1] = -entry.m[1];
    }
    th_palette_write(crowd->format, entry.m, &base, at);
}

void th_crowd_spoil(const th_crowd *crowd, const batch *b, char *palettes)
{
    const uint32_t bones = b->group->compiled->model->bone_count;
    for (uint32_t i = 0; i < b->count && bones > 0; i++) {
        char *palette = palettes + palette_offset(b->group, b->first + i);
        if (th_mutant_is(TH_MUTANT_FLIP_SIGN) || th_mutant_is(TH_MUTANT_DROP_BONE))
            spoil_bone(crowd, b->group->compiled->model, palette,
                       th_mutant_is(TH_MUTANT_DROP_BONE) ? bones - 1 : bones / 2);
        if (th_mutant_is(TH_MUTANT_COPY_NEIGHBOURS) && i % 2 == 1)
            memcpy(palette, palette - b->group->palette_stride, b->group->palette_stride);
    }
}
