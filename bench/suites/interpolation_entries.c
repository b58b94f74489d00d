/* The interp/ entries: each mode on every kernel, and in double precision. */
#include "pose_benchmark.h"

#include <stdio.h>

static const th_interpolation modes[] = {
    TH_INTERPOLATION_STEP,
    TH_INTERPOLATION_NLERP,
    TH_INTERPOLATION_SLERP,
    TH_INTERPOLATION_CUBIC,
};

static void with_mode(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)fixture;
    const th_interpolation *mode = entry->shape;
    desc->compile.interpolation = *mode;
}

static void with_exact(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    with_mode(entry, fixture, desc);
    desc->compile.sampling = TH_SAMPLING_EXACT;
}

static uint32_t add(th_entry *entries, const th_interpolation *mode)
{
    th_entry e = {
        .shape = mode,
        .create = th_pose_benchmark_create,
        .before = th_pose_benchmark_begin,
        .run = th_pose_benchmark_run,
        .destroy = th_pose_benchmark_destroy,
    };
    uint32_t count = 0;
    e.set_scene = with_mode;
    for (e.isa = TH_ISA_SCALAR; e.isa < TH_ISA_COUNT; e.isa++) {
        if (!th_isa_available(e.isa))
            continue;
        snprintf(e.name, sizeof e.name, "interp/%s/%s", th_interpolation_name(*mode), th_isa_name(e.isa));
        entries[count++] = e;
    }
    e.set_scene = with_exact;
    e.isa = TH_ISA_AUTO;
    snprintf(e.name, sizeof e.name, "interp/%s/exact", th_interpolation_name(*mode));
    entries[count++] = e;
    return count;
}

uint32_t th_interp_entries(th_entry *entries)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        count += add(entries + count, &modes[i]);
    return count;
}
