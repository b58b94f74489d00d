#include <throng/crowd.h>

#include "rig_private.h"

#include <throng/exact.h>
#include <throng/line.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* What a frame needs of an instance; in palette order, so that a batch reads neighbours. */
typedef struct crowd_member {
    const th_playable *playable;
    double phase_s, speed;
} crowd_member;

/* All instances of one rig. Their batches and palettes are neighbours. */
typedef struct crowd_group {
    const th_rig *rig;
    uint32_t first_member, member_count;
    uint32_t first_batch, batch_count;
    size_t palette_offset, palette_stride, palette_bytes; /* stride: bytes rounded up to whole lines */
    size_t scratch_bytes;                                 /* without the palettes of a partial batch */
} crowd_group;

struct th_crowd {
    th_isa isa;
    th_pose_fn *pose;
    th_fill_fn *fill;
    crowd_group *groups;
    uint32_t group_count;
    crowd_member *members;
    uint32_t *member_of; /* [instance] */
    uint32_t *group_of;  /* [instance] */
    uint32_t instance_count, batch_count;
    size_t palette_bytes, scratch_bytes, bytes;
};

/* ---- creation ---- */

static size_t scratch_bytes(const th_rig *rig)
{
    size_t kernel = TH_SCRATCH_FLOATS(rig->program.depth_count) * sizeof(float);
    size_t exact = rig->model->joint_count * sizeof(th_dmat34);
    return th_line_round(kernel > exact ? kernel : exact);
}

/* Counts each group's members, and gives groups their places. */
static void place_groups(th_crowd *crowd, const th_crowd_desc *desc)
{
    for (uint32_t i = 0; i < desc->instance_count; i++)
        crowd->groups[desc->instances[i].rig].member_count++;
    uint32_t members = 0;
    for (uint32_t g = 0; g < desc->rig_count; g++) {
        crowd_group *group = &crowd->groups[g];
        group->rig = desc->rigs[g];
        group->first_member = members;
        group->first_batch = crowd->batch_count;
        group->batch_count = (group->member_count + TH_LANES - 1) / TH_LANES;
        group->palette_offset = crowd->palette_bytes;
        group->palette_bytes = (size_t)group->rig->model->bind_count * TH_ENTRY * sizeof(float);
        group->palette_stride = th_line_round(group->palette_bytes);
        group->scratch_bytes = scratch_bytes(group->rig);
        members += group->member_count;
        crowd->batch_count += group->batch_count;
        crowd->palette_bytes += group->member_count * group->palette_stride;
        size_t scratch = group->scratch_bytes + TH_LANES * group->palette_stride;
        crowd->scratch_bytes = scratch > crowd->scratch_bytes ? scratch : crowd->scratch_bytes;
    }
}

static void place_members(th_crowd *crowd, const th_crowd_desc *desc)
{
    for (uint32_t g = 0; g < desc->rig_count; g++)
        crowd->groups[g].member_count = 0;
    for (uint32_t i = 0; i < desc->instance_count; i++) {
        const th_instance *instance = &desc->instances[i];
        crowd_group *group = &crowd->groups[instance->rig];
        const th_model *model = group->rig->model;
        uint32_t clip = instance->clip == TH_NO_INDEX ? model->clip_count : instance->clip;
        assert(clip <= model->clip_count && isfinite(instance->phase_s) && isfinite(instance->speed));
        uint32_t at = group->first_member + group->member_count++;
        crowd->members[at] = (crowd_member){&group->rig->playables[clip], instance->phase_s, instance->speed};
        crowd->member_of[i] = at;
        crowd->group_of[i] = instance->rig;
    }
}

th_result th_crowd_create(const th_crowd_desc *desc, th_crowd **out, th_error *err)
{
    *out = NULL;
    th_isa isa = desc->isa == TH_ISA_AUTO ? th_isa_best() : desc->isa;
    if (!th_isa_available(isa))
        return th_fail(err, TH_ERR_ENVIRONMENT, "this machine does not run %s", th_isa_name(isa));
    th_crowd *crowd = calloc(1, sizeof *crowd);
    if (!crowd)
        return th_fail(err, TH_ERR_MEMORY, "out of memory for a crowd");
    size_t count = desc->instance_count;
    *crowd = (th_crowd){.isa = isa, .instance_count = desc->instance_count, .group_count = desc->rig_count};
    crowd->pose = isa == TH_ISA_AVX2 ? th_pose_avx2 : th_pose_scalar;
    crowd->fill = isa == TH_ISA_AVX2 ? th_fill_avx2 : th_fill_scalar;
    crowd->groups = calloc((size_t)desc->rig_count + 1, sizeof *crowd->groups);
    crowd->members = calloc(count + 1, sizeof *crowd->members);
    crowd->member_of = calloc(count + 1, sizeof *crowd->member_of);
    crowd->group_of = calloc(count + 1, sizeof *crowd->group_of);
    if (!crowd->groups || !crowd->members || !crowd->member_of || !crowd->group_of) {
        th_crowd_destroy(crowd);
        return th_fail(err, TH_ERR_MEMORY, "out of memory for a crowd of %u", desc->instance_count);
    }
    crowd->bytes = sizeof *crowd + desc->rig_count * sizeof *crowd->groups +
                   count * (sizeof *crowd->members + sizeof *crowd->member_of + sizeof *crowd->group_of);
    place_groups(crowd, desc);
    place_members(crowd, desc);
    *out = crowd;
    return TH_OK;
}

void th_crowd_destroy(th_crowd *crowd)
{
    if (!crowd)
        return;
    free(crowd->groups);
    free(crowd->members);
    free(crowd->member_of);
    free(crowd->group_of);
    free(crowd);
}

/* ---- what it is ---- */

th_isa th_crowd_isa(const th_crowd *crowd)
{
    return crowd->isa;
}

uint32_t th_crowd_instance_count(const th_crowd *crowd)
{
    return crowd->instance_count;
}

uint64_t th_crowd_joint_count(const th_crowd *crowd)
{
    uint64_t joints = 0;
    for (uint32_t g = 0; g < crowd->group_count; g++)
        joints += (uint64_t)crowd->groups[g].member_count * crowd->groups[g].rig->model->bind_count;
    return joints;
}

uint32_t th_crowd_batch_count(const th_crowd *crowd)
{
    return crowd->batch_count;
}

size_t th_crowd_palette_bytes(const th_crowd *crowd)
{
    return crowd->palette_bytes;
}

size_t th_crowd_scratch_bytes(const th_crowd *crowd)
{
    return crowd->scratch_bytes;
}

size_t th_crowd_bytes(const th_crowd *crowd)
{
    return crowd->bytes;
}

static size_t palette_offset(const crowd_group *group, uint32_t member)
{
    return group->palette_offset + (member - group->first_member) * group->palette_stride;
}

size_t th_crowd_palette_offset(const th_crowd *crowd, uint32_t instance)
{
    assert(instance < crowd->instance_count);
    return palette_offset(&crowd->groups[crowd->group_of[instance]], crowd->member_of[instance]);
}

/* ---- a frame ---- */

/* Authored keys, for clips that could not be compiled. */
static void update_exact(const th_model *model, const th_clip *clip, double ticks, th_dmat34 *pose, float *palette)
{
    th_exact_pose(model, clip, ticks, pose);
    for (uint32_t b = 0; b < model->bind_count; b++) {
        const th_bind *bind = &model->binds[b];
        th_mat34 entry = th_mat34_from(th_dmat34_mul(pose[bind->joint], th_dmat34_from(bind->inverse_bind)));
        memcpy(palette + (size_t)b * TH_ENTRY, entry.m, sizeof entry.m);
    }
}

/* Lanes write their palettes side by side. So does a whole batch of compiled clips, straight into place; a partial one
 * goes through the scratch. */
static void update_batch(const th_crowd *crowd, const crowd_group *group, uint32_t first, uint32_t count, double time_s,
                         char *palettes, char *scratch)
{
    const th_rig *rig = group->rig;
    th_lane lanes[TH_LANES];
    char *places[TH_LANES];
    uint32_t used = 0;
    for (uint32_t i = first; i < first + count; i++) {
        const crowd_member *member = &crowd->members[i];
        const th_playable *playable = member->playable;
        char *palette = palettes + palette_offset(group, i);
        double ticks = playable->clip ? th_clip_ticks(playable->clip, member->phase_s + member->speed * time_s) : 0;
        if (!playable->keys) {
            update_exact(rig->model, playable->clip, ticks, (th_dmat34 *)(void *)scratch, (float *)(void *)palette);
            continue;
        }
        lanes[used] = th_playable_seek(playable, rig->program.frame_floats, ticks);
        places[used++] = palette;
    }
    if (used == 0)
        return;
    bool whole = used == TH_LANES;
    for (uint32_t i = used; i < TH_LANES; i++)
        lanes[i] = lanes[0];
    char *out = whole ? places[0] : scratch + group->scratch_bytes;
    crowd->pose(&rig->program, lanes, (float *)(void *)out, group->palette_stride / sizeof(float),
                (float *)(void *)scratch);
    for (uint32_t i = 0; !whole && i < used; i++)
        memcpy(places[i], out + i * group->palette_stride, group->palette_bytes);
}

static const crowd_group *group_of_batch(const th_crowd *crowd, uint32_t batch)
{
    const crowd_group *group = crowd->groups;
    while (batch - group->first_batch >= group->batch_count)
        group++;
    return group;
}

/* Members of a batch. */
static uint32_t batch_members(const crowd_group *group, uint32_t batch, uint32_t *first)
{
    uint32_t begin = (batch - group->first_batch) * TH_LANES;
    *first = group->first_member + begin;
    return group->member_count - begin < TH_LANES ? group->member_count - begin : TH_LANES;
}

void th_crowd_update(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s, void *palette, void *scratch)
{
    assert(begin <= end && end <= crowd->batch_count);
    assert((uintptr_t)palette % TH_LINE == 0 && (uintptr_t)scratch % TH_LINE == 0);
    const crowd_group *group = begin < end ? group_of_batch(crowd, begin) : NULL;
    for (uint32_t batch = begin; batch < end; batch++) {
        while (batch - group->first_batch >= group->batch_count)
            group++;
        uint32_t first, count = batch_members(group, batch, &first);
        update_batch(crowd, group, first, count, time_s, palette, scratch);
    }
}

void th_crowd_fill(const th_crowd *crowd, uint32_t begin, uint32_t end, float value, void *palette)
{
    assert(begin <= end && end <= crowd->batch_count);
    for (uint32_t batch = begin; batch < end; batch++) {
        const crowd_group *group = group_of_batch(crowd, batch);
        uint32_t first, count = batch_members(group, batch, &first);
        for (uint32_t i = first; i < first + count; i++)
            crowd->fill((float *)((char *)palette + palette_offset(group, i)), group->palette_bytes / sizeof(float),
                        value);
    }
}

uint64_t th_crowd_hash(const th_crowd *crowd, const void *palette)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        abort(); /* no hash is worse than no program: it would read as a wrong result */
    XXH3_64bits_reset(state);
    for (uint32_t i = 0; i < crowd->instance_count; i++) {
        const crowd_group *group = &crowd->groups[crowd->group_of[i]];
        XXH3_64bits_update(state, (const char *)palette + palette_offset(group, crowd->member_of[i]),
                           group->palette_bytes);
    }
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}
