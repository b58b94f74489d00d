/* Attaches clips of one model to another, by names of joints and morph targets. */
#include <core/arena.h>
#include <throng/anim/model.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- where a donor's joints find their like ---- */

#define NO_TARGET TH_NO_INDEX
#define AMBIGUOUS (TH_NO_INDEX - 1)

static int compare_names(const void *a, const void *b, void *joints)
{
    const th_joint *list = joints;
    return strcmp(list[*(const uint32_t *)a].name, list[*(const uint32_t *)b].name);
}

/* Returns the base's joint of this name, NO_TARGET or AMBIGUOUS. by_name: its joints, sorted. */
static uint32_t find_target(const th_model *base, const uint32_t *by_name, const char *name)
{
    uint32_t low = 0, high = base->joint_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (strcmp(base->joints[by_name[middle]].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == base->joint_count || strcmp(base->joints[by_name[low]].name, name) != 0)
        return NO_TARGET;
    bool alone = low + 1 == base->joint_count || strcmp(base->joints[by_name[low + 1]].name, name) != 0;
    return alone ? by_name[low] : AMBIGUOUS;
}

/* Targets of the donor's joints; from malloc. NULL if out of memory. */
static uint32_t *find_targets(const th_model *base, const th_model *donor)
{
    uint32_t *by_name = calloc((size_t)base->joint_count + 1, sizeof *by_name);
    uint32_t *targets = calloc((size_t)donor->joint_count + 1, sizeof *targets);
    if (!by_name || !targets) {
        free(by_name);
        free(targets);
        return NULL;
    }
    for (uint32_t j = 0; j < base->joint_count; j++)
        by_name[j] = j;
    qsort_r(by_name, base->joint_count, sizeof *by_name, compare_names, (void *)base->joints);
    for (uint32_t j = 0; j < donor->joint_count; j++)
        targets[j] = find_target(base, by_name, donor->joints[j].name);
    free(by_name);
    return targets;
}

/* The first weight of a joint, or weight_count. */
static uint32_t first_weight(const th_model *model, uint32_t joint)
{
    uint32_t w = 0;
    while (w < model->weight_count && model->weights[w].joint != joint)
        w++;
    return w;
}

/* Returns the base's weight for the donor's: that of a joint and target of the same names, or else the only one of this
 * target, NO_TARGET or AMBIGUOUS. Targets without names are told by their order. targets: of joints. */
static uint32_t find_weight(const th_model *base, const th_model *donor, uint32_t weight, const uint32_t *targets)
{
    const char *name = donor->weights[weight].name;
    const uint32_t donor_joint = donor->weights[weight].joint, joint = targets[donor_joint];
    const uint32_t first = first_weight(base, joint), nth = first + weight - first_weight(donor, donor_joint);
    if (!name[0] && nth < base->weight_count && base->weights[nth].joint == joint && !base->weights[nth].name[0])
        return nth;
    uint32_t found = NO_TARGET;
    for (uint32_t w = 0; name[0] && w < base->weight_count; w++) {
        if (strcmp(base->weights[w].name, name) != 0)
            continue;
        if (base->weights[w].joint == joint)
            return w;
        found = found == NO_TARGET ? w : AMBIGUOUS;
    }
    return found;
}

/* ---- tracks ---- */

static bool copy_track(th_arena *arena, const th_track *from, size_t width, th_track *to)
{
    to->key_count = from->key_count;
    to->times = th_arena_copy(arena, from->times, from->key_count, sizeof *from->times);
    to->values = th_arena_copy(arena, from->values, from->key_count, width * sizeof *from->values);
    to->tangents = NULL;
    to->steps = from->steps;
    if (from->tangents)
        to->tangents = th_arena_copy(arena, from->tangents, from->key_count, 2 * width * sizeof *from->tangents);
    return to->times && to->values && (to->tangents || !from->tangents);
}

/* A track with one key. */
static bool constant_track(th_arena *arena, const double value[], size_t width, th_track *to)
{
    float *values = th_arena_new(arena, float, width);
    for (size_t i = 0; values && i < width; i++)
        values[i] = (float)value[i];
    *to = (th_track){1, th_arena_new(arena, double, 1), values, NULL, false};
    return to->times && to->values;
}

static double likeness(const double a[4], const float b[4])
{
    double dot = 0;
    for (int i = 0; i < 4; i++)
        dot += a[i] * (double)b[i];
    return fabs(dot);
}

/* Decomposes the rest transform in the way that fits the donor's keys: with the same signs of scale or, if the clip
 * animates scale, with the nearest rotation. */
static th_trs split_like(const th_mat34 *rest, const th_channel *like)
{
    assert(like->scale.key_count > 0 && like->rotation.key_count > 0);
    th_dmat34 matrix = th_dmat34_from(*rest);
    th_trs best;
    const float *s = like->scale.values;
    th_dmat34_decompose_like(&matrix, (double[3]){(double)s[0], (double)s[1], (double)s[2]}, &best);
    if (like->filled & TH_SCALE)
        return best;
    for (int flips = 0; flips < 8; flips++) {
        th_trs other;
        double signs[3] = {flips & 1 ? -1 : 1, flips & 2 ? -1 : 1, flips & 4 ? -1 : 1};
        th_dmat34_decompose_like(&matrix, signs, &other);
        if (likeness(other.rotation, like->rotation.values) > likeness(best.rotation, like->rotation.values))
            best = other;
    }
    return best;
}

/* Tracks with keys of the file are shared; filled ones take the value of the base. */
static bool attach_channel(th_arena *arena, const th_mat34 *rest, const th_channel *from, th_channel *to)
{
    uint32_t filled = from->filled;
    th_trs own = split_like(rest, from);
    to->filled = filled;
    return (filled & TH_TRANSLATION ? constant_track(arena, own.translation, 3, &to->translation)
                                    : copy_track(arena, &from->translation, 3, &to->translation)) &&
           (filled & TH_ROTATION ? constant_track(arena, own.rotation, 4, &to->rotation)
                                 : copy_track(arena, &from->rotation, 4, &to->rotation)) &&
           (filled & TH_SCALE ? constant_track(arena, own.scale, 3, &to->scale)
                              : copy_track(arena, &from->scale, 3, &to->scale));
}

/* ---- clips ---- */

/* Channels without a target. */
typedef struct unmatched {
    uint32_t count;
    const char *first; /* joint of the first such channel */
} unmatched;

typedef struct attachment {
    th_arena *arena;
    const th_model *base, *donor;
    const uint32_t *targets; /* by joint of the donor */
    bool *taken;             /* by joint of the base, then by weight: has a track in the current clip */
    unmatched missing, ambiguous;
} attachment;

static bool begin_clip(th_arena *arena, const th_clip *from, th_clip *to, th_channel **out_channels,
                       th_weight_track **out_weights)
{
    *to = *from;
    to->name = th_arena_string(arena, from->name);
    to->channels = *out_channels = th_arena_new(arena, th_channel, from->channel_count);
    to->weight_tracks = *out_weights = th_arena_new(arena, th_weight_track, from->weight_track_count);
    return to->name && to->channels && to->weight_tracks;
}

static bool copy_clip(th_arena *arena, const th_clip *from, th_clip *to)
{
    th_channel *channels;
    th_weight_track *weights;
    bool ok = begin_clip(arena, from, to, &channels, &weights);
    for (uint32_t c = 0; ok && c < from->channel_count; c++) {
        const th_channel *own = &from->channels[c];
        channels[c] = *own;
        ok = copy_track(arena, &own->translation, 3, &channels[c].translation) &&
             copy_track(arena, &own->rotation, 4, &channels[c].rotation) &&
             copy_track(arena, &own->scale, 3, &channels[c].scale);
    }
    for (uint32_t t = 0; ok && t < from->weight_track_count; t++) {
        weights[t].weight = from->weight_tracks[t].weight;
        ok = copy_track(arena, &from->weight_tracks[t].track, 1, &weights[t].track);
    }
    return ok;
}

static void count_unmatched(unmatched *l, const char *name)
{
    l->first = l->count++ ? l->first : name;
}

static int compare_channels(const void *a, const void *b)
{
    const th_channel *x = a, *y = b;
    return (x->joint > y->joint) - (x->joint < y->joint);
}

static int compare_weight_tracks(const void *a, const void *b)
{
    const th_weight_track *x = a, *y = b;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

/* If several tracks target one weight, the first wins. */
static bool attach_weights(attachment *l, const th_clip *from, th_weight_track *tracks, uint32_t *out_count)
{
    bool *taken = l->taken + l->base->joint_count, ok = true;
    uint32_t count = 0;
    for (uint32_t t = 0; ok && t < from->weight_track_count; t++) {
        const uint32_t weight = from->weight_tracks[t].weight;
        const uint32_t target = find_weight(l->base, l->donor, weight, l->targets);
        if (target == NO_TARGET || target == AMBIGUOUS) {
            const char *name = l->donor->weights[weight].name,
                       *node = l->donor->joints[l->donor->weights[weight].joint].name;
            count_unmatched(target == NO_TARGET ? &l->missing : &l->ambiguous, name[0] ? name : node);
        } else if (!taken[target]) {
            taken[target] = true;
            tracks[count].weight = target;
            ok = copy_track(l->arena, &from->weight_tracks[t].track, 1, &tracks[count++].track);
        }
    }
    for (uint32_t t = 0; t < count; t++)
        taken[tracks[t].weight] = false;
    qsort(tracks, count, sizeof *tracks, compare_weight_tracks);
    *out_count = count;
    return ok;
}

/* If several channels target one joint, the first wins. */
static bool attach_clip(attachment *l, const th_clip *from, th_clip *to)
{
    th_channel *channels;
    th_weight_track *weights;
    bool ok = begin_clip(l->arena, from, to, &channels, &weights);
    uint32_t count = 0;
    for (uint32_t c = 0; ok && c < from->channel_count; c++) {
        const th_channel *channel = &from->channels[c];
        uint32_t target = l->targets[channel->joint];
        assert(channel->joint < l->donor->joint_count);
        const char *name = l->donor->joints[channel->joint].name;
        if (target == NO_TARGET) {
            count_unmatched(&l->missing, name);
        } else if (target == AMBIGUOUS) {
            count_unmatched(&l->ambiguous, name);
        } else if (!l->taken[target]) {
            assert(target < l->base->joint_count);
            l->taken[target] = true;
            channels[count].joint = target;
            ok = attach_channel(l->arena, &l->base->joints[target].rest, channel, &channels[count++]);
        }
    }
    for (uint32_t c = 0; c < count; c++)
        l->taken[channels[c].joint] = false;
    to->channel_count = count;
    if (ok)
        qsort(channels, count, sizeof *channels, compare_channels);
    return ok && attach_weights(l, from, weights, &to->weight_track_count);
}

/* ---- the rest of a model ---- */

static bool copy_targets(th_arena *arena, th_mesh *mesh)
{
    th_morph_target *targets = th_arena_copy(arena, mesh->targets, mesh->target_count, sizeof *targets);
    bool ok = targets;
    for (uint32_t t = 0; ok && t < mesh->target_count; t++)
        ok = (targets[t].deltas =
                  th_arena_copy(arena, targets[t].deltas, targets[t].delta_count, sizeof(th_morph_delta))) != NULL;
    mesh->targets = targets;
    return ok;
}

static bool copy_weights(th_arena *arena, th_model *model)
{
    th_weight *weights = th_arena_copy(arena, model->weights, model->weight_count, sizeof *weights);
    bool ok = weights;
    for (uint32_t w = 0; ok && w < model->weight_count; w++)
        ok = (weights[w].name = th_arena_string(arena, weights[w].name)) != NULL;
    model->weights = weights;
    return ok;
}

static bool copy_appearances(th_arena *arena, th_model *model)
{
    th_appearances *appearances = &model->appearances;
    appearances->regions =
        th_arena_copy(arena, appearances->regions, (size_t)appearances->count * appearances->region_count,
                      sizeof *appearances->regions);
    appearances->statures =
        th_arena_copy(arena, appearances->statures, appearances->count, sizeof *appearances->statures);
    return appearances->regions && appearances->statures;
}

/* A deep copy of everything except clips and warnings. */
static bool copy_base(th_arena *arena, const th_model *base, th_model *out)
{
    th_joint *joints = th_arena_copy(arena, base->joints, base->joint_count, sizeof *joints);
    th_mesh *meshes = th_arena_copy(arena, base->meshes, base->mesh_count, sizeof *meshes);
    th_material *materials = th_arena_copy(arena, base->materials, base->material_count, sizeof *materials);
    th_texture *textures = th_arena_copy(arena, base->textures, base->texture_count, sizeof *textures);
    *out = *base;
    out->arena = arena;
    out->name = th_arena_string(arena, base->name);
    out->joints = joints;
    out->bones = th_arena_copy(arena, base->bones, base->bone_count, sizeof *base->bones);
    out->meshes = meshes;
    out->materials = materials;
    out->textures = textures;
    bool ok = joints && meshes && materials && textures && out->name && out->bones && copy_weights(arena, out) &&
              copy_appearances(arena, out);
    for (uint32_t j = 0; ok && j < base->joint_count; j++)
        ok = (joints[j].name = th_arena_string(arena, joints[j].name)) != NULL;
    for (uint32_t m = 0; ok && m < base->mesh_count; m++) {
        meshes[m].name = th_arena_string(arena, meshes[m].name);
        meshes[m].vertices = th_arena_copy(arena, meshes[m].vertices, meshes[m].vertex_count, sizeof(th_vertex));
        meshes[m].indices = th_arena_copy(arena, meshes[m].indices, meshes[m].index_count, sizeof(uint32_t));
        ok = meshes[m].name && meshes[m].vertices && meshes[m].indices && copy_targets(arena, &meshes[m]);
    }
    for (uint32_t m = 0; ok && m < base->material_count; m++)
        ok = (materials[m].name = th_arena_string(arena, materials[m].name)) != NULL;
    for (uint32_t t = 0; ok && t < base->texture_count; t++) {
        textures[t].name = th_arena_string(arena, textures[t].name);
        if (textures[t].bytes)
            textures[t].bytes = th_arena_copy(arena, textures[t].bytes, textures[t].byte_count, 1);
        ok = textures[t].name && (textures[t].bytes || !base->textures[t].bytes);
    }
    return ok;
}

static const char *warn_unmatched(const attachment *l, const unmatched *left, const char *matches)
{
    bool one = left->count == 1;
    return th_arena_format(l->arena, "%s: %u %s %s of %s and %s left out (%s%s)", l->donor->name, left->count,
                           one ? "channel matches" : "channels match", matches, l->base->name, one ? "was" : "were",
                           one ? "" : "first: ", left->first);
}

static bool copy_warnings(const attachment *l, th_model *out)
{
    const th_model *base = l->base, *donor = l->donor;
    const char **warnings =
        th_arena_new(l->arena, const char *, (size_t)base->warning_count + donor->warning_count + 2);
    uint32_t count = 0;
    bool ok = warnings;
    for (uint32_t n = 0; ok && n < base->warning_count; n++)
        ok = (warnings[count++] = th_arena_string(l->arena, base->warnings[n]));
    for (uint32_t n = 0; ok && n < donor->warning_count; n++)
        ok = (warnings[count++] = th_arena_format(l->arena, "%s: %s", donor->name, donor->warnings[n]));
    if (ok && l->missing.count > 0)
        ok = (warnings[count++] = warn_unmatched(l, &l->missing, "no joint"));
    if (ok && l->ambiguous.count > 0)
        ok = (warnings[count++] = warn_unmatched(l, &l->ambiguous, "several joints"));
    out->warnings = warnings;
    out->warning_count = count;
    return ok;
}

static th_result attach_all(attachment *l, th_clip *clips, th_error *err)
{
    for (uint32_t c = 0; c < l->donor->clip_count; c++) {
        if (!attach_clip(l, &l->donor->clips[c], &clips[c]))
            return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", l->base->name);
        if (clips[c].channel_count == 0 && clips[c].weight_track_count == 0)
            return th_fail(err, TH_ERR_INPUT, "%s: no channel of clip %s matches a joint of %s", l->donor->name,
                           clips[c].name, l->base->name);
    }
    return TH_OK;
}

static th_result fill_model(attachment *l, th_model *out, th_error *err)
{
    const th_model *base = l->base, *donor = l->donor;
    uint64_t total = (uint64_t)base->clip_count + donor->clip_count;
    if (total > TH_MAX_CLIPS)
        return th_fail(err, TH_ERR_LIMIT, "%s: %llu clips with those of %s, the limit is %u", base->name,
                       (unsigned long long)total, donor->name, TH_MAX_CLIPS);
    th_clip *clips = th_arena_new(l->arena, th_clip, total);
    bool ok = clips && copy_base(l->arena, base, out);
    for (uint32_t c = 0; ok && c < base->clip_count; c++)
        ok = copy_clip(l->arena, &base->clips[c], &clips[c]);
    th_result result = ok ? attach_all(l, clips + base->clip_count, err) : TH_OK;
    if (result == TH_OK && (!ok || !copy_warnings(l, out)))
        return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", base->name);
    out->clips = clips;
    out->clip_count = (uint32_t)total;
    return result;
}

static th_result attach(th_arena *arena, const th_model *base, const th_model *donor, th_model *out, th_error *err)
{
    uint32_t *targets = find_targets(base, donor);
    bool *taken = calloc((size_t)base->joint_count + base->weight_count + 1, sizeof *taken);
    attachment l = {.arena = arena, .base = base, .donor = donor, .targets = targets, .taken = taken};
    th_result result =
        targets && taken ? fill_model(&l, out, err) : th_fail(err, TH_ERR_MEMORY, "%s: out of memory", base->name);
    free(targets);
    free(taken);
    return result;
}

th_result th_model_attach_clips(const th_model *base, const th_model *donor, th_model **out, th_error *err)
{
    assert(base && donor && out);
    *out = NULL;
    if (donor->clip_count == 0)
        return th_fail(err, TH_ERR_INPUT, "%s: there is no clip to attach", donor->name);
    th_arena *arena = th_arena_create();
    th_model *model = arena ? th_arena_new(arena, th_model, 1) : NULL;
    th_result result =
        model ? attach(arena, base, donor, model, err) : th_fail(err, TH_ERR_MEMORY, "%s: out of memory", base->name);
    if (result != TH_OK) {
        th_arena_destroy(arena);
        return result;
    }
    *out = model;
    return TH_OK;
}
