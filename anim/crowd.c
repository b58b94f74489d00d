#include "crowd_data.h"

#include "kernels/isa.h"

#include <throng/anim/exact.h>
#include <throng/core/cache_line.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- creation ---- */

/* Exact transforms of all joints, then weights, twelve in place of a matrix. */
static size_t exact_bytes(const th_model *model)
{
    return (model->joint_count + th_weights_entries(model)) * sizeof(th_dmat34);
}

static size_t scratch_bytes(const th_compiled_model *compiled, th_pose_form form, uint32_t width)
{
    size_t kernel = th_scratch_floats(&compiled->program, form, width) * sizeof(float);
    size_t exact = exact_bytes(compiled->model);
    return th_cache_line_round(kernel > exact ? kernel : exact);
}

static bool plays_exact(const th_compiled_model *compiled)
{
    bool exact = false;
    for (uint32_t c = 0; c <= compiled->model->clip_count; c++)
        exact |= !compiled->compiled_clips[c].keys;
    return exact;
}

/* Sets the properties of groups that do not depend on which instances are active. */
static void set_groups(th_crowd *crowd, const th_crowd_desc *desc)
{
    const th_pose_form form = th_pose_form_of(crowd->format);
    for (uint32_t g = 0; g < desc->compiled_model_count; g++) {
        crowd_group *group = &crowd->groups[g];
        group->compiled = desc->compiled_models[g];
        group->exact = plays_exact(group->compiled);
        const uint32_t entries = group->compiled->program.entry_count;
        group->palette_bytes = entries * th_palette_entry_bytes(crowd->format);
        group->palette_stride = th_palette_stride(crowd->format, entries);
        group->scratch_bytes = scratch_bytes(group->compiled, form, crowd->kernels->width);
        group->pose_stride = th_pose_floats(form, group->compiled->program.op_count, BATCH) * sizeof(float);
        group->exact_stride = exact_bytes(group->compiled->model);
        const size_t scratch = group->scratch_bytes + group->palette_stride;
        crowd->scratch_bytes = scratch > crowd->scratch_bytes ? scratch : crowd->scratch_bytes;
    }
}

/* Palettes that fit into a second-level cache are not prefetched, which would cost 1 to 3 %. */
#define PREFETCH_BYTES ((size_t)2 << 20)

/* Call after place_groups. */
static void choose_writes(th_crowd *crowd)
{
    const bool large = crowd->palette_bytes > th_stream_bytes();
    crowd->streamed = crowd->writes == TH_WRITES_STREAMED || (crowd->writes == TH_WRITES_AUTO && large);
    crowd->prefetches = !crowd->streamed && crowd->palette_bytes > PREFETCH_BYTES && crowd->format == TH_PALETTE_F32 &&
                        th_isa_prefetches();
}

/* Sets the offsets of groups whose members are counted. */
static void place_groups(th_crowd *crowd)
{
    uint32_t members = 0;
    crowd->batch_count = 0;
    crowd->palette_bytes = crowd->pose_bytes = 0;
    for (uint32_t g = 0; g < crowd->group_count; g++) {
        crowd_group *group = &crowd->groups[g];
        assert(group->palette_stride % TH_CACHE_LINE == 0 && group->pose_stride % TH_CACHE_LINE == 0);
        group->first_member = members;
        group->first_batch = crowd->batch_count;
        group->batch_count = group->member_count < BATCH ? group->member_count > 0 : group->member_count / BATCH;
        group->palette_offset = crowd->palette_bytes;
        group->pose_offset = crowd->pose_bytes;
        const uint32_t strides = group->batch_count > 0 ? group->batch_count + 1 : 0;
        group->exact_offset = group->pose_offset + strides * group->pose_stride;
        members += group->member_count;
        crowd->batch_count += group->batch_count;
        crowd->palette_bytes += group->member_count * group->palette_stride;
        const size_t exact = group->exact ? group->member_count * group->exact_stride : 0;
        crowd->pose_bytes = group->exact_offset + th_cache_line_round(exact);
    }
    choose_writes(crowd);
}

static crowd_member member_of(const th_compiled_clip *compiled_clip, const th_instance *instance)
{
    const th_clip *clip = compiled_clip->clip;
    const double duration_s = clip ? clip->duration_ticks / clip->ticks_per_second : 0;
    if (!(duration_s > 0))
        return (crowd_member){.compiled_clip = compiled_clip};
    return (crowd_member){compiled_clip, th_playback_of(duration_s, instance->phase_s, instance->speed)};
}

static void set_instances(th_crowd *crowd, const th_crowd_desc *desc)
{
    for (uint32_t i = 0; i < desc->instance_count; i++) {
        const th_instance *instance = &desc->instances[i];
        assert(instance->model < crowd->group_count);
        const crowd_group *group = &crowd->groups[instance->model];
        const th_model *model = group->compiled->model;
        uint32_t clip = instance->clip == TH_NO_INDEX ? model->clip_count : instance->clip;
        assert(clip <= model->clip_count && isfinite(instance->phase_s) && isfinite(instance->speed));
        crowd->all[i] = member_of(&group->compiled->compiled_clips[clip], instance);
        crowd->group_of[i] = instance->model;
    }
}

static void activate(th_crowd *crowd, uint32_t group, uint32_t at, uint32_t instance)
{
    const crowd_group *own = &crowd->groups[crowd->group_of[instance]], *posed = &crowd->groups[group];
    assert(at - posed->first_member < posed->member_count); /* in the order of palettes */
    crowd->members[at] = crowd->all[instance];
    if (posed != own) {
        assert(posed->compiled->model->clip_count == own->compiled->model->clip_count);
        crowd->members[at].compiled_clip =
            posed->compiled->compiled_clips + (crowd->all[instance].compiled_clip - own->compiled->compiled_clips);
    }
    crowd->instance_of[at] = instance;
    crowd->member_of[instance] = at;
    crowd->posed_in[instance] = group;
}

void th_crowd_set_active_counts(th_crowd *crowd, const uint32_t *counts)
{
    assert(crowd && (counts || crowd->group_count == 0));
    crowd->active_count = 0;
    for (uint32_t g = 0; g < crowd->group_count; g++) {
        assert(counts[g] <= crowd->instance_count - crowd->active_count);
        crowd->groups[g].member_count = counts[g];
        crowd->active_count += counts[g];
    }
    place_groups(crowd);
}

void th_crowd_set_active_range(th_crowd *crowd, uint32_t first, const uint32_t *instances, uint32_t count)
{
    assert(crowd && (instances || count == 0));
    assert(first <= crowd->active_count && count <= crowd->active_count - first);
    for (uint32_t k = 0; k < count; k++) {
        assert(instances[k] < crowd->instance_count);
        activate(crowd, crowd->group_of[instances[k]], first + k, instances[k]);
    }
}

void th_crowd_set_active_in(th_crowd *crowd, uint32_t model, uint32_t first, const uint32_t *instances, uint32_t count)
{
    assert(crowd && model < crowd->group_count && (instances || count == 0));
    assert(first <= crowd->active_count && count <= crowd->active_count - first);
    for (uint32_t k = 0; k < count; k++) {
        assert(instances[k] < crowd->instance_count);
        activate(crowd, model, first + k, instances[k]);
    }
}

void th_crowd_set_active_poses(th_crowd *crowd, uint32_t first, const th_shared_pose *poses, uint32_t count)
{
    assert(crowd && (poses || count == 0));
    assert(first <= crowd->active_count && count <= crowd->active_count - first);
    for (uint32_t k = 0; k < count; k++) {
        assert(poses[k].model < crowd->group_count && poses[k].ratio >= 0 && poses[k].ratio <= 1);
        const crowd_group *group = &crowd->groups[poses[k].model];
        assert(first + k - group->first_member < group->member_count); /* in the order of palettes */
        assert(poses[k].clip <= group->compiled->model->clip_count);
        crowd->members[first + k] =
            (crowd_member){&group->compiled->compiled_clips[poses[k].clip], {.phase = poses[k].ratio}};
        crowd->instance_of[first + k] = TH_NO_INDEX;
    }
}

void th_crowd_set_palettes_of(th_crowd *crowd, uint32_t model, const uint32_t *instances, const uint32_t *palettes,
                              uint32_t count)
{
    assert(crowd && model < crowd->group_count && ((instances && palettes) || count == 0));
    for (uint32_t k = 0; k < count; k++) {
        assert(instances[k] < crowd->instance_count);
        assert(palettes[k] - crowd->groups[model].first_member < crowd->groups[model].member_count);
        crowd->member_of[instances[k]] = palettes[k];
        crowd->posed_in[instances[k]] = model;
    }
}

void th_crowd_set_active(th_crowd *crowd, const uint32_t *instances, uint32_t count)
{
    assert(crowd && count <= crowd->instance_count);
    assert(instances || count == crowd->instance_count); /* NULL: all */
    for (uint32_t g = 0; g < crowd->group_count; g++)
        crowd->groups[g].member_count = 0;
    for (uint32_t k = 0; k < count; k++) {
        assert(!instances || instances[k] < crowd->instance_count);
        crowd->groups[crowd->group_of[instances ? instances[k] : k]].member_count++;
    }
    place_groups(crowd);
    for (uint32_t g = 0; g < crowd->group_count; g++)
        crowd->groups[g].member_count = 0;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t i = instances ? instances[k] : k;
        crowd_group *group = &crowd->groups[crowd->group_of[i]];
        const uint32_t at = group->first_member + group->member_count++;
        activate(crowd, crowd->group_of[i], at, i);
    }
    crowd->active_count = count;
}

void th_crowd_set_writes(th_crowd *crowd, th_writes writes)
{
    assert(crowd);
    assert((unsigned)writes < TH_WRITES_COUNT);
    crowd->writes = writes;
    choose_writes(crowd);
}

th_palette_range th_crowd_palettes(const th_crowd *crowd, uint32_t model)
{
    assert(crowd && model < crowd->group_count);
    const crowd_group *group = &crowd->groups[model];
    return (th_palette_range){group->palette_offset, group->palette_stride, group->member_count};
}

static th_result choose_format(const th_crowd_desc *desc, th_palette *out, th_error *err)
{
    const bool is_auto = desc->palette == TH_PALETTE_AUTO;
    *out = is_auto ? TH_PALETTE_QUAT : desc->palette;
    for (uint32_t m = 0; m < desc->compiled_model_count; m++) {
        const th_compiled_model *compiled = desc->compiled_models[m];
        const char *obstacle = th_compiled_model_obstacle(compiled, *out);
        if (obstacle && !is_auto)
            return th_fail(err, TH_ERR_INPUT, "%s cannot have %s palettes: %s", compiled->model->name,
                           th_palette_name(*out), obstacle);
        *out = obstacle ? TH_PALETTE_F32 : *out;
    }
    return TH_OK;
}

th_result th_crowd_create(const th_crowd_desc *desc, th_crowd **out, th_error *err)
{
    assert(desc && out);
    assert(desc->compiled_models || desc->compiled_model_count == 0);
    assert(desc->instances || desc->instance_count == 0);
    assert(desc->compiled_model_count > 0 || desc->instance_count == 0);
    assert((unsigned)desc->isa < TH_ISA_COUNT);
    assert((unsigned)desc->palette <= TH_PALETTE_AUTO);
    assert((unsigned)desc->writes < TH_WRITES_COUNT);
    *out = NULL;
    th_isa isa = desc->isa == TH_ISA_AUTO ? th_isa_best() : desc->isa;
    if (!th_isa_available(isa))
        return th_fail(err, TH_ERR_ENVIRONMENT, "this machine does not run %s", th_isa_name(isa));
    th_palette format;
    const th_result possible = choose_format(desc, &format, err);
    if (possible != TH_OK)
        return possible;
    th_crowd *crowd = calloc(1, sizeof *crowd);
    if (!crowd)
        return th_fail(err, TH_ERR_MEMORY, "out of memory for a crowd");
    size_t count = desc->instance_count;
    *crowd = (th_crowd){.isa = isa,
                        .format = format,
                        .writes = desc->writes,
                        .kernels = th_isa_kernels(isa),
                        .instance_count = desc->instance_count,
                        .group_count = desc->compiled_model_count};
    crowd->groups = calloc((size_t)desc->compiled_model_count + 1, sizeof *crowd->groups);
    crowd->all = calloc(count + 1, sizeof *crowd->all);
    crowd->members = calloc(count + 1, sizeof *crowd->members);
    crowd->instance_of = calloc(count + 1, sizeof *crowd->instance_of);
    crowd->member_of = calloc(count + 1, sizeof *crowd->member_of);
    crowd->group_of = calloc(count + 1, sizeof *crowd->group_of);
    crowd->posed_in = calloc(count + 1, sizeof *crowd->posed_in);
    if (!crowd->groups || !crowd->all || !crowd->members || !crowd->instance_of || !crowd->member_of ||
        !crowd->group_of || !crowd->posed_in) {
        th_crowd_destroy(crowd);
        return th_fail(err, TH_ERR_MEMORY, "out of memory for a crowd of %u", desc->instance_count);
    }
    crowd->bytes = sizeof *crowd + desc->compiled_model_count * sizeof *crowd->groups +
                   count * (2 * sizeof *crowd->members + 4 * sizeof *crowd->member_of);
    set_groups(crowd, desc);
    set_instances(crowd, desc);
    th_crowd_set_active(crowd, NULL, desc->instance_count);
    *out = crowd;
    return TH_OK;
}

void th_crowd_destroy(th_crowd *crowd)
{
    if (!crowd)
        return;
    free(crowd->groups);
    free(crowd->all);
    free(crowd->members);
    free(crowd->instance_of);
    free(crowd->member_of);
    free(crowd->group_of);
    free(crowd->posed_in);
    free(crowd);
}

/* ---- what it is ---- */

th_isa th_crowd_isa(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->isa;
}

th_palette th_crowd_palette(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->format;
}

th_writes th_crowd_writes(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->streamed ? TH_WRITES_STREAMED : TH_WRITES_CACHED;
}

uint32_t th_crowd_instance_count(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->instance_count;
}

uint32_t th_crowd_model_count(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->group_count;
}

uint64_t th_crowd_bone_count(const th_crowd *crowd)
{
    assert(crowd);
    uint64_t joints = 0;
    for (uint32_t g = 0; g < crowd->group_count; g++)
        joints += (uint64_t)crowd->groups[g].member_count * crowd->groups[g].compiled->model->bone_count;
    return joints;
}

uint64_t th_crowd_entry_count(const th_crowd *crowd)
{
    assert(crowd);
    uint64_t entries = 0;
    for (uint32_t g = 0; g < crowd->group_count; g++)
        entries += (uint64_t)crowd->groups[g].member_count * crowd->groups[g].compiled->program.entry_count;
    return entries;
}

uint32_t th_crowd_batch_count(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->batch_count;
}

uint32_t th_crowd_most_batches(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->instance_count / BATCH + crowd->group_count;
}

uint32_t th_crowd_batch_instances(const th_crowd *crowd, uint32_t index, const uint32_t **out)
{
    assert(crowd && index < crowd->batch_count && out);
    const batch b = batch_at(crowd->groups, index);
    *out = crowd->instance_of + b.first;
    return b.count;
}

uint32_t th_crowd_batch_of(const th_crowd *crowd, uint32_t instance)
{
    assert(crowd && instance < crowd->instance_count);
    const crowd_group *group = &crowd->groups[crowd->posed_in[instance]];
    assert(crowd->member_of[instance] - group->first_member < group->member_count); /* the instance is active */
    const uint32_t within = (crowd->member_of[instance] - group->first_member) / BATCH, last = group->batch_count - 1;
    return group->first_batch + (within < last ? within : last);
}

size_t th_crowd_palette_bytes(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->palette_bytes;
}

size_t th_crowd_scratch_bytes(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->scratch_bytes;
}

size_t th_crowd_pose_bytes(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->pose_bytes;
}

size_t th_crowd_bytes(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->bytes;
}

size_t th_crowd_palette_offset(const th_crowd *crowd, uint32_t instance)
{
    assert(crowd && instance < crowd->instance_count);
    return palette_offset(&crowd->groups[crowd->posed_in[instance]], crowd->member_of[instance]);
}

/* ---- a frame ---- */

uint32_t th_crowd_batch_cost(const th_crowd *crowd, uint32_t index)
{
    enum { EXACT_JOINT = 4 }; /* in ops of all lanes: 105 ns against 16 * 1.7 ns or 8 * 3 ns */
    assert(crowd && index < crowd->batch_count);
    const batch b = batch_at(crowd->groups, index);
    const th_compiled_model *compiled = b.group->compiled;
    uint32_t exact = 0;
    for (uint32_t i = b.first; b.group->exact && i < b.first + b.count; i++)
        exact += !crowd->members[i].compiled_clip->keys;
    const uint32_t width = crowd->kernels->width, runs = (b.count - exact + width - 1) / width;
    return runs * compiled->program.op_count + exact * EXACT_JOINT * compiled->model->joint_count;
}

static double ticks_of(const crowd_member *member, double time_s)
{
    const th_clip *clip = member->compiled_clip->clip;
    return clip ? th_playback_ratio(member->playback, time_s) * clip->duration_ticks : 0;
}

/* The members of a batch whose clips are compiled. */
typedef struct compiled_members {
    uint32_t members[MAX_BATCH];
    uint32_t count;
} compiled_members;

static compiled_members compiled_members_of(const th_crowd *crowd, const batch *b)
{
    assert(b->count <= MAX_BATCH);
    compiled_members c; /* not zeroed, because that takes a tenth of the time of this function */
    c.count = 0;
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        if (crowd->members[i].compiled_clip->keys)
            c.members[c.count++] = i;
    return c;
}

/* Members that the kernel poses together. */
typedef struct lane_group {
    const uint32_t *members;
    uint32_t count; /* at most the kernel's width */
} lane_group;

/* The n-th lane group. The last one overlaps the one before to be full: posing a member twice gives the same bytes. */
static lane_group lane_group_at(const compiled_members *c, uint32_t n, uint32_t width)
{
    assert(width > 0 && width <= TH_MAX_WIDTH && n * width < c->count);
    uint32_t first = n * width;
    if (first + width > c->count)
        first = c->count > width ? c->count - width : 0;
    return (lane_group){c->members + first, c->count < width ? c->count : width};
}

/* Unused lanes repeat the first member and write to the same palette. */
static uint32_t member_at(const lane_group *r, uint32_t lane)
{
    return r->members[lane < r->count ? lane : 0];
}

static th_lanes seek(const th_crowd *crowd, const th_compiled_model *compiled, const lane_group *r, double time_s)
{
    th_lanes lanes;
    for (uint32_t i = 0; i < crowd->kernels->width; i++) {
        const crowd_member *member = &crowd->members[member_at(r, i)];
        const double ratio = th_playback_ratio(member->playback, time_s);
        th_compiled_clip_seek(member->compiled_clip, compiled->program.frame_bytes, ratio, &lanes, i);
    }
    return lanes;
}

/* Sets the palette addresses of a lane group. */
static void find_palettes(const th_crowd *crowd, const crowd_group *group, const lane_group *r, char *palettes,
                          char *out[TH_MAX_WIDTH])
{
    for (uint32_t i = 0; i < crowd->kernels->width; i++)
        out[i] = palettes + palette_offset(group, member_at(r, i));
}

/* Writes the exact local transforms of all joints, then the weights. */
static void sample_exact(const crowd_group *group, const crowd_member *member, double time_s, th_dmat34 *out)
{
    const th_model *model = group->compiled->model;
    const th_clip *clip = member->compiled_clip->clip;
    const double ticks = ticks_of(member, time_s);
    th_dmat34 *weights = out + model->joint_count;
    memset(weights, 0, th_weights_entries(model) * sizeof *weights);
    th_exact_sample(model, clip, ticks, group->compiled->interpolation, out);
    th_exact_weights(model, clip, ticks, group->compiled->interpolation, weights->m);
}

void th_crowd_resolve_exact(const th_crowd *crowd, const crowd_group *group, const th_dmat34 *local, char *palette,
                            char *scratch)
{
    const th_model *model = group->compiled->model;
    const size_t entry_bytes = th_palette_entry_bytes(crowd->format);
    th_dmat34 *pose = (th_dmat34 *)(void *)scratch;
    char *whole = scratch + group->scratch_bytes;
    th_exact_resolve(model, local, pose);
    for (uint32_t b = 0; b < model->bone_count; b++) {
        const th_bone *bone = &model->bones[b];
        th_mat34 entry = th_mat34_from(th_dmat34_mul(pose[bone->joint], th_dmat34_from(bone->inverse_bind)));
        const th_palette_base base = th_model_palette_base(model, b);
        th_palette_write(crowd->format, entry.m, &base, whole + b * entry_bytes);
    }
    for (uint32_t e = 0; e < th_weights_entries(model); e++) {
        th_mat34 entry = th_mat34_from(local[model->joint_count + e]);
        th_palette_write(crowd->format, entry.m, NULL, whole + (model->bone_count + e) * entry_bytes);
    }
    memset(whole + group->palette_bytes, 0, group->palette_stride - group->palette_bytes);
    if (crowd->streamed)
        crowd->kernels->stream(palette, whole, group->palette_stride);
    else
        memcpy(palette, whole, group->palette_stride);
}

static void update_exact(const th_crowd *crowd, const crowd_group *group, const crowd_member *member, double time_s,
                         char *palette, char *scratch)
{
    th_dmat34 *pose = (th_dmat34 *)(void *)scratch;
    sample_exact(group, member, time_s, pose);
    th_crowd_resolve_exact(crowd, group, pose, palette, scratch);
}

static void update_batch(const th_crowd *crowd, const batch *b, double time_s, char *palettes, char *scratch)
{
    const crowd_group *group = b->group;
    const compiled_members c = compiled_members_of(crowd, b);
    for (uint32_t i = b->first; c.count < b->count && i < b->first + b->count; i++)
        if (!crowd->members[i].compiled_clip->keys)
            update_exact(crowd, group, &crowd->members[i], time_s, palettes + palette_offset(group, i), scratch);
    const uint32_t width = crowd->kernels->width;
    for (uint32_t n = 0; n * width < c.count; n++) {
        const lane_group r = lane_group_at(&c, n, width);
        const th_lanes lanes = seek(crowd, group->compiled, &r, time_s);
        char *out[TH_MAX_WIDTH];
        find_palettes(crowd, group, &r, palettes, out);
        const th_output output = {crowd->format, crowd->streamed, crowd->prefetches};
        th_kernels_pose(crowd->kernels, &group->compiled->program, &lanes, NULL, output, (float *)(void *)scratch, out);
    }
}

void th_crowd_update(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s, void *palette, void *scratch)
{
    assert(crowd && begin <= end && end <= crowd->batch_count);
    assert(begin == end || (palette && scratch && palette != scratch));
    assert((uintptr_t)palette % TH_CACHE_LINE == 0 && (uintptr_t)scratch % TH_CACHE_LINE == 0);
    batch b = {.group = crowd->groups};
    for (uint32_t i = begin; i < end; i++) {
        b = batch_at(b.group, i);
        update_batch(crowd, &b, time_s, palette, scratch);
    }
    finish_writes(crowd);
}

/* ---- a frame in two halves ---- */

/* Offset of the pose of the n-th lane group of a batch. */
static size_t pose_offset(const batch *b, uint32_t n, th_pose_form form, uint32_t width)
{
    assert(n * width < MAX_BATCH);
    const crowd_group *group = b->group;
    const size_t lanes = th_pose_floats(form, group->compiled->program.op_count, width) * sizeof(float);
    return group->pose_offset + b->index * group->pose_stride + n * lanes;
}

/* Offset of the pose of a member that plays exact. */
static size_t exact_offset(const crowd_group *group, uint32_t member)
{
    assert(group->exact && member - group->first_member < group->member_count);
    return group->exact_offset + (member - group->first_member) * group->exact_stride;
}

static void sample_batch(const th_crowd *crowd, const batch *b, double time_s, char *poses)
{
    const th_compiled_model *compiled = b->group->compiled;
    const compiled_members c = compiled_members_of(crowd, b);
    const th_pose_form form = th_pose_form_of(crowd->format);
    const uint32_t width = crowd->kernels->width, ops = b->group->compiled->program.op_count;
    for (uint32_t n = 0; ops > 0 && n * width < c.count; n++) {
        const lane_group r = lane_group_at(&c, n, width);
        const th_lanes lanes = seek(crowd, compiled, &r, time_s);
        crowd->kernels->sample[form][compiled->program.keys][compiled->program.curve](
            &compiled->program, 0, ops, &lanes, (float *)(void *)(poses + pose_offset(b, n, form, width)));
    }
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const crowd_member *member = &crowd->members[i];
        if (!member->compiled_clip->keys)
            sample_exact(b->group, member, time_s, (th_dmat34 *)(void *)(poses + exact_offset(b->group, i)));
    }
}

static void resolve_batch(const th_crowd *crowd, const batch *b, const char *poses, char *palettes, char *scratch)
{
    const crowd_group *group = b->group;
    const th_program *program = &group->compiled->program;
    float *matrices = (float *)(void *)scratch;
    const compiled_members c = compiled_members_of(crowd, b);
    const th_pose_form form = th_pose_form_of(crowd->format);
    const uint32_t width = crowd->kernels->width, ops = b->group->compiled->program.op_count;
    for (uint32_t n = 0; ops > 0 && n * width < c.count; n++) {
        const lane_group r = lane_group_at(&c, n, width);
        char *out[TH_MAX_WIDTH];
        find_palettes(crowd, group, &r, palettes, out);
        th_kernels_begin(crowd->kernels, program, form, matrices);
        crowd->kernels->resolve[form](
            program, 0, ops, (const float *)(const void *)(poses + pose_offset(b, n, form, width)), matrices, NULL);
        crowd->kernels->write[crowd->format][crowd->streamed](program, 0, th_program_ready(program, form, ops - 1),
                                                              matrices, out);
    }
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        if (!crowd->members[i].compiled_clip->keys)
            th_crowd_resolve_exact(crowd, group, (const th_dmat34 *)(const void *)(poses + exact_offset(group, i)),
                                   palettes + palette_offset(group, i), scratch);
}

void th_crowd_sample(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s, void *poses)
{
    assert(crowd && begin <= end && end <= crowd->batch_count);
    assert(begin == end || poses);
    assert((uintptr_t)poses % TH_CACHE_LINE == 0);
    batch b = {.group = crowd->groups};
    for (uint32_t i = begin; i < end; i++) {
        b = batch_at(b.group, i);
        sample_batch(crowd, &b, time_s, poses);
    }
}

void th_crowd_resolve(const th_crowd *crowd, uint32_t begin, uint32_t end, const void *poses, void *palette,
                      void *scratch)
{
    assert(crowd && begin <= end && end <= crowd->batch_count);
    assert(begin == end || (poses && palette && scratch));
    assert(begin == end || (palette != poses && scratch != poses && palette != scratch));
    assert((uintptr_t)poses % TH_CACHE_LINE == 0 && (uintptr_t)palette % TH_CACHE_LINE == 0 &&
           (uintptr_t)scratch % TH_CACHE_LINE == 0);
    batch b = {.group = crowd->groups};
    for (uint32_t i = begin; i < end; i++) {
        b = batch_at(b.group, i);
        resolve_batch(crowd, &b, poses, palette, scratch);
    }
    finish_writes(crowd);
}

void th_crowd_fill(const th_crowd *crowd, uint32_t begin, uint32_t end, float value, void *palette)
{
    assert(crowd && begin <= end && end <= crowd->batch_count);
    assert((begin == end || palette) && (uintptr_t)palette % TH_CACHE_LINE == 0);
    th_fill_fn *const fill = crowd->kernels->fill[crowd->streamed];
    batch b = {.group = crowd->groups};
    for (uint32_t k = begin; k < end; k++) {
        b = batch_at(b.group, k);
        for (uint32_t i = b.first; i < b.first + b.count; i++)
            fill((float *)((char *)palette + palette_offset(b.group, i)),
                 th_cache_line_round(b.group->palette_bytes) / sizeof(float), value);
    }
    finish_writes(crowd);
}

uint64_t th_crowd_hash(const th_crowd *crowd, const void *palette)
{
    assert(crowd && (palette || crowd->instance_count == 0));
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        abort(); /* a missing hash would look like a wrong result */
    XXH3_64bits_reset(state);
    for (uint32_t i = 0; i < crowd->instance_count; i++) {
        const crowd_group *group = &crowd->groups[crowd->posed_in[i]];
        XXH3_64bits_update(state, (const char *)palette + palette_offset(group, crowd->member_of[i]),
                           group->palette_bytes);
    }
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}

th_hash128 th_hash128_add(th_hash128 a, th_hash128 b)
{
    const uint64_t low = a.low + b.low;
    return (th_hash128){a.high + b.high + (low < a.low), low};
}

th_hash128 th_crowd_instance_hash(const th_crowd *crowd, const void *palette, uint32_t instance, uint64_t number)
{
    assert(crowd && palette && instance < crowd->instance_count);
    const crowd_group *group = &crowd->groups[crowd->posed_in[instance]];
    const char *at = (const char *)palette + palette_offset(group, crowd->member_of[instance]);
    const XXH128_hash_t hash = XXH3_128bits_withSeed(at, group->palette_bytes, number);
    return (th_hash128){hash.high64, hash.low64};
}

th_hash128 th_crowd_sum(const th_crowd *crowd, const void *palette, uint64_t first)
{
    assert(crowd);
    th_hash128 sum = {0};
    for (uint32_t i = 0; i < crowd->instance_count; i++)
        sum = th_hash128_add(sum, th_crowd_instance_hash(crowd, palette, i, first + i));
    return sum;
}
