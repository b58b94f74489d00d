/* Attaches clips of one model to another, by names of joints and morph targets. Both arenas keep their failures, so
 * that most of what is copied is not checked where it is copied. */
#include "exact_cursor.h"
#include "fit.h"

#include <anim/model.h>
#include <core/arena.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- where a donor's weights find their like ---- */

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

static th_track copy_track(th_arena *arena, const th_track *from, size_t width)
{
    th_track to = *from;
    to.times = th_arena_copy(arena, from->times, from->key_count, sizeof *from->times);
    to.values = th_arena_copy(arena, from->values, from->key_count, width * sizeof *from->values);
    if (from->tangents)
        to.tangents = th_arena_copy(arena, from->tangents, from->key_count, 2 * width * sizeof *from->tangents);
    return to;
}

static th_curve copy_curve(th_arena *arena, const th_curve *from)
{
    th_curve to = *from;
    if (from->key_count == 0)
        return (th_curve){0};
    to.times = th_arena_copy(arena, from->times, from->key_count, sizeof *from->times);
    to.values = th_arena_copy(arena, from->values, from->key_count, sizeof *from->values);
    to.pieces =
        from->key_count > 1 ? th_arena_copy(arena, from->pieces, from->key_count - 1, sizeof *from->pieces) : NULL;
    return to;
}

/* With the curves from `first` on. */
static const th_curve_layer *copy_layers(th_arena *arena, const th_curve_layer *from, uint32_t layer_count,
                                         uint32_t first, uint32_t curve_count)
{
    th_curve_layer *layers = th_arena_copy(arena, from, layer_count, sizeof *layers);
    for (uint32_t l = 0; layers && l < layer_count; l++) {
        th_curve *curves = th_arena_new(arena, th_curve, curve_count);
        for (uint32_t i = first; curves && i < curve_count; i++)
            curves[i] = copy_curve(arena, &from[l].curves[i]);
        layers[l].weight = copy_curve(arena, &from[l].weight);
        layers[l].curves = curves;
    }
    return layers;
}

/* first: TH_CURVE_SCALE where it is inherited: then only its scale counts, and what that inherits. */
static const th_transform_curves *copy_transform_curves(th_arena *arena, const th_transform_curves *from,
                                                        uint32_t first)
{
    th_transform_curves *to = from ? th_arena_copy(arena, from, 1, sizeof *to) : NULL;
    if (!to)
        return NULL;
    to->layers = copy_layers(arena, from->layers, from->layer_count, first, TH_TRANSFORM_CURVES);
    to->scaled_by = first == 0 ? copy_transform_curves(arena, from->scaled_by, TH_CURVE_SCALE) : NULL;
    to->scale_from = copy_transform_curves(arena, from->scale_from, TH_CURVE_SCALE);
    return to;
}

static const th_weight_curves *copy_weight_curves(th_arena *arena, const th_weight_curves *from)
{
    th_weight_curves *to = from ? th_arena_copy(arena, from, 1, sizeof *to) : NULL;
    if (!to)
        return NULL;
    to->places = th_arena_copy(arena, from->places, from->place_count, sizeof *from->places);
    to->layers = copy_layers(arena, from->layers, from->layer_count, 0, 1);
    return to;
}

/* A track with one key. */
static th_track constant_track(th_arena *arena, const double value[], size_t width)
{
    float *values = th_arena_new(arena, float, width);
    for (size_t i = 0; values && i < width; i++)
        values[i] = (float)value[i];
    return (th_track){.key_count = 1, .times = th_arena_new(arena, double, 1), .values = values};
}

static double likeness(const double a[4], const float b[4])
{
    double dot = 0;
    for (int i = 0; i < 4; i++)
        dot += a[i] * (double)b[i];
    return fabs(dot);
}

/* The parts of the base's rest transform that go with those of the clip. A matrix is decomposed in the way that fits
 * the donor's keys: with the same signs of scale or, if the clip animates scale, with the nearest rotation. kept: parts
 * that are not the clip's. */
static th_trs rest_like(const th_joint *joint, const th_channel *like, uint32_t kept)
{
    assert(like->scale.key_count > 0 && like->rotation.key_count > 0);
    const th_dmat34 matrix = th_dmat34_from(joint->rest);
    th_trs best = th_joint_rest(joint, like);
    if (joint->rest_parts && !(like->filled & (TH_ROTATION | TH_SCALE))) /* the clip's rotations go with its scales */
        th_channel_take_signs(like, best.scale, &best);
    if (joint->rest_parts || kept & TH_SCALE)
        return best;
    for (int flips = 0; flips < 8; flips++) {
        th_trs other;
        const double signs[3] = {flips & 1 ? -1 : 1, flips & 2 ? -1 : 1, flips & 4 ? -1 : 1};
        th_dmat34_decompose_like(&matrix, signs, &other);
        if (likeness(other.rotation, like->rotation.values) > likeness(best.rotation, like->rotation.values))
            best = other;
    }
    return best;
}

/* ---- what fits the base ---- */

static void move_vectors(const float *values, size_t count, const th_trs *frame)
{
    const th_dmat34 matrix = th_dmat34_from_trs(frame);
    for (size_t i = 0; values && i < count; i++) {
        float *v = (float *)values + 3 * i;
        double moved[3];
        th_dmat34_point(&matrix, (double[]){(double)v[0], (double)v[1], (double)v[2]}, moved);
        for (int k = 0; k < 3; k++)
            v[k] = (float)moved[k];
    }
}

static void turn_rotations(const float *values, size_t count, const double turn[4])
{
    for (size_t i = 0; values && i < count; i++) {
        float *v = (float *)values + 4 * i;
        double q[4] = {(double)v[0], (double)v[1], (double)v[2], (double)v[3]};
        th_quat_mul(turn, q, q);
        for (int k = 0; k < 4; k++)
            v[k] = (float)q[k];
    }
}

/* Brings what is the clip's into the base's space. The channel is a copy. */
static void place_channel(const th_channel *channel, const th_trs *frame)
{
    const th_track *translation = &channel->translation, *rotation = &channel->rotation;
    th_trs turn = *frame; /* of tangents, which have no place */
    memset(turn.translation, 0, sizeof turn.translation);
    if (!(channel->filled & TH_TRANSLATION)) {
        move_vectors(translation->values, translation->key_count, frame);
        move_vectors(translation->tangents, 2 * (size_t)translation->key_count, &turn);
    }
    if (!(channel->filled & TH_ROTATION)) {
        turn_rotations(rotation->values, rotation->key_count, frame->rotation);
        turn_rotations(rotation->tangents, 2 * (size_t)rotation->key_count, frame->rotation);
    }
    if (channel->curves)
        ((th_transform_curves *)channel->curves)->frame = *frame;
}

/* Parts that the base's joint keeps: those that the file lacks, and offsets and scales that the clip holds where the
 * donor has them at rest. They are lengths of its bones, not motion. */
static uint32_t kept_parts(const th_model *donor, const fit *f, const th_channel *channel)
{
    const uint32_t lengths = channel->joint == f->hips ? TH_SCALE : TH_TRANSLATION | TH_SCALE;
    return channel->filled | (f->still[channel->joint] & TH_ROTATION) | (still_parts(donor, f, channel) & lengths);
}

/* ---- clips ---- */

/* Channels without a target. */
typedef struct unmatched {
    uint32_t count;
    const char *first; /* joint of the first such channel */
} unmatched;

typedef struct attachment {
    th_arena *arena; /* of the new model */
    const th_model *base, *donor;
    fit fit;
    bool *taken; /* by joint of the base, then by weight: has a track in the current clip */
    unmatched missing, ambiguous;
    uint32_t renamed, number; /* clips; the last number behind a name */
    const char *renaming;     /* the first, and to what */
    bool scaled;              /* a translation, by the ratio of lengths */
} attachment;

static void copy_clip(th_arena *arena, const th_clip *from, th_clip *to)
{
    th_channel *channels = th_arena_copy(arena, from->channels, from->channel_count, sizeof *channels);
    th_weight_track *weights = th_arena_copy(arena, from->weight_tracks, from->weight_track_count, sizeof *weights);
    *to = *from;
    to->name = th_arena_string(arena, from->name);
    to->channels = channels;
    to->weight_tracks = weights;
    for (uint32_t c = 0; channels && c < from->channel_count; c++) {
        channels[c].translation = copy_track(arena, &from->channels[c].translation, 3);
        channels[c].rotation = copy_track(arena, &from->channels[c].rotation, 4);
        channels[c].scale = copy_track(arena, &from->channels[c].scale, 3);
        channels[c].curves = copy_transform_curves(arena, from->channels[c].curves, 0);
    }
    for (uint32_t t = 0; weights && t < from->weight_track_count; t++) {
        weights[t].track = copy_track(arena, &from->weight_tracks[t].track, 1);
        weights[t].curves = copy_weight_curves(arena, from->weight_tracks[t].curves);
    }
}

/* Counts a channel that has no target. Returns whether it has one. */
static bool matches(attachment *l, uint32_t target, const char *name)
{
    unmatched *left = target == NO_TARGET ? &l->missing : target == AMBIGUOUS ? &l->ambiguous : NULL;
    if (left)
        left->first = left->count++ ? left->first : name;
    return !left;
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

static bool is_taken(const char *name, const th_clip *clips, uint32_t count)
{
    while (count > 0 && strcmp(clips[count - 1].name, name) != 0)
        count--;
    return count > 0;
}

/* Names that programs give to whatever they export. Blender puts them between that of a skeleton and that of a layer,
 * the import a number behind one that several clips have. */
static bool says_nothing(const char *name)
{
    static const char *const defaults[] = {"mixamo.com", "Take 001", "Take 01", "Unreal Take", "Scene", NULL};
    const char *bar = strchr(name, '|'), *part = bar ? bar + 1 : name;
    const size_t length = strcspn(part, "|#");
    int n = 0;
    while (defaults[n] && (strlen(defaults[n]) != length || strncmp(part, defaults[n], length) != 0))
        n++;
    return defaults[n] != NULL;
}

/* clips: those before it. */
static const char *name_clip(attachment *l, const char *name, const th_clip *clips, uint32_t count)
{
    const char *file = l->donor->name, *dot = strrchr(file, '.'), *better = NULL;
    const int length = dot && dot > file ? (int)(dot - file) : (int)strlen(file);
    if (!says_nothing(name) && !is_taken(name, clips, count))
        return th_arena_string(l->arena, name);
    do
        better = l->number++ ? th_arena_format(l->arena, "%.*s %u", length, file, l->number)
                             : th_arena_format(l->arena, "%.*s", length, file);
    while (better && is_taken(better, clips, count));
    if (l->renamed++ == 0 && better)
        l->renaming = th_arena_format(l->arena, "%s to %s", name, better);
    return better;
}

/* If several channels target one joint, or several tracks one weight, the first wins. Tracks with keys of the file are
 * copied; filled ones take the value of the base. */
static void attach_clip(attachment *l, const th_clip *from, th_clip *to)
{
    const th_model *base = l->base, *donor = l->donor;
    th_arena *arena = l->arena;
    th_channel *channels = th_arena_new(arena, th_channel, from->channel_count);
    th_weight_track *weights = th_arena_new(arena, th_weight_track, from->weight_track_count);
    *to = *from;
    to->channels = channels;
    to->weight_tracks = weights;
    to->channel_count = to->weight_track_count = 0;
    for (uint32_t c = 0; channels && c < from->channel_count; c++) {
        const th_channel *channel = &from->channels[c];
        assert(channel->joint < donor->joint_count);
        const uint32_t target = l->fit.targets[channel->joint], filled = kept_parts(donor, &l->fit, channel);
        if (!matches(l, target, donor->joints[channel->joint].name) || l->taken[target])
            continue;
        assert(target < base->joint_count);
        l->taken[target] = true;
        const th_trs own = rest_like(&base->joints[target], channel, filled);
        channels[to->channel_count++] = (th_channel){
            .joint = target,
            .filled = filled,
            .translation = filled & TH_TRANSLATION ? constant_track(arena, own.translation, 3)
                                                   : copy_track(arena, &channel->translation, 3),
            .rotation = filled & TH_ROTATION ? constant_track(arena, own.rotation, 4)
                                             : copy_track(arena, &channel->rotation, 4),
            .scale = filled & TH_SCALE ? constant_track(arena, own.scale, 3) : copy_track(arena, &channel->scale, 3),
            .curves = copy_transform_curves(arena, channel->curves, 0)};
        const th_trs *frame = &l->fit.frames[channel->joint];
        place_channel(&channels[to->channel_count - 1], frame);
        l->scaled |= l->fit.ratio != 1 && frame->scale[0] != 1 && !(filled & TH_TRANSLATION);
    }
    bool *taken = l->taken + base->joint_count;
    for (uint32_t t = 0; weights && t < from->weight_track_count; t++) {
        const uint32_t weight = from->weight_tracks[t].weight,
                       target = find_weight(base, donor, weight, l->fit.targets);
        const char *name = donor->weights[weight].name, *node = donor->joints[donor->weights[weight].joint].name;
        if (!matches(l, target, name[0] ? name : node) || taken[target])
            continue;
        taken[target] = true;
        weights[to->weight_track_count++] =
            (th_weight_track){target, copy_track(arena, &from->weight_tracks[t].track, 1),
                              copy_weight_curves(arena, from->weight_tracks[t].curves)};
    }
    memset(l->taken, 0, ((size_t)base->joint_count + base->weight_count) * sizeof *l->taken);
    if (channels)
        qsort(channels, to->channel_count, sizeof *channels, compare_channels);
    if (weights)
        qsort(weights, to->weight_track_count, sizeof *weights, compare_weight_tracks);
}

/* ---- the rest of a model ---- */

/* A deep copy of everything except clips and warnings. */
static void copy_base(th_arena *arena, const th_model *base, th_model *out)
{
    th_joint *joints = th_arena_copy(arena, base->joints, base->joint_count, sizeof *joints);
    th_weight *weights = th_arena_copy(arena, base->weights, base->weight_count, sizeof *weights);
    th_mesh *meshes = th_arena_copy(arena, base->meshes, base->mesh_count, sizeof *meshes);
    th_material *materials = th_arena_copy(arena, base->materials, base->material_count, sizeof *materials);
    th_texture *textures = th_arena_copy(arena, base->textures, base->texture_count, sizeof *textures);
    if (th_arena_failed(arena))
        return;
    *out = *base;
    out->arena = arena;
    out->name = th_arena_string(arena, base->name);
    out->joints = joints;
    out->bones = th_arena_copy(arena, base->bones, base->bone_count, sizeof *base->bones);
    out->weights = weights;
    out->meshes = meshes;
    out->materials = materials;
    out->textures = textures;
    th_appearances *looks = &out->appearances;
    looks->regions =
        th_arena_copy(arena, looks->regions, (size_t)looks->count * looks->region_count, sizeof *looks->regions);
    looks->statures = th_arena_copy(arena, looks->statures, looks->count, sizeof *looks->statures);
    for (uint32_t j = 0; j < base->joint_count; j++) {
        joints[j].name = th_arena_string(arena, joints[j].name);
        if (joints[j].rest_parts)
            joints[j].rest_parts = th_arena_copy(arena, joints[j].rest_parts, 1, sizeof *joints[j].rest_parts);
    }
    for (uint32_t w = 0; w < base->weight_count; w++)
        weights[w].name = th_arena_string(arena, weights[w].name);
    for (uint32_t m = 0; m < base->mesh_count; m++) {
        th_mesh *mesh = &meshes[m];
        th_morph_target *targets = th_arena_copy(arena, mesh->targets, mesh->target_count, sizeof *targets);
        for (uint32_t t = 0; targets && t < mesh->target_count; t++)
            targets[t].deltas =
                th_arena_copy(arena, targets[t].deltas, targets[t].delta_count, sizeof *targets[t].deltas);
        mesh->name = th_arena_string(arena, mesh->name);
        mesh->vertices = th_arena_copy(arena, mesh->vertices, mesh->vertex_count, sizeof *mesh->vertices);
        mesh->indices = th_arena_copy(arena, mesh->indices, mesh->index_count, sizeof *mesh->indices);
        mesh->targets = targets;
    }
    for (uint32_t m = 0; m < base->material_count; m++)
        materials[m].name = th_arena_string(arena, materials[m].name);
    for (uint32_t t = 0; t < base->texture_count; t++) {
        textures[t].name = th_arena_string(arena, textures[t].name);
        if (textures[t].bytes)
            textures[t].bytes = th_arena_copy(arena, textures[t].bytes, textures[t].byte_count, 1);
    }
}

/* Where rest poses differ that much. */
#define WORST_DEG  20 /* at a joint: a warning */
#define MEDIAN_DEG 45 /* at half of them: other skeletons */

static const char *warn_unmatched(const attachment *l, const unmatched *left, const char *matches)
{
    bool one = left->count == 1;
    return th_arena_format(l->arena, "%s: %u %s %s of %s and %s left out (%s%s)", l->donor->name, left->count,
                           one ? "channel matches" : "channels match", matches, l->base->name, one ? "was" : "were",
                           one ? "" : "first: ", left->first);
}

static const char *warn_scaled(const attachment *l)
{
    const fit *f = &l->fit;
    return th_arena_format(l->arena, "%s: translations were scaled by %.4g, since %s%s it is %.4g, and %s %.4g",
                           l->donor->name, f->ratio, f->by_hips ? "from the lowest joint up to " : "in size",
                           f->by_hips ? l->donor->joints[f->hips].name : "", f->length, l->base->name, f->base_length);
}

static void copy_warnings(const attachment *l, th_model *out)
{
    const th_model *base = l->base, *donor = l->donor;
    const char **warnings =
        th_arena_new(l->arena, const char *, (size_t)base->warning_count + donor->warning_count + 6);
    if (!warnings)
        return;
    out->warnings = warnings;
    for (uint32_t n = 0; n < base->warning_count; n++)
        *warnings++ = th_arena_string(l->arena, base->warnings[n]);
    for (uint32_t n = 0; n < donor->warning_count; n++)
        *warnings++ = th_arena_format(l->arena, "%s: %s", donor->name, donor->warnings[n]);
    if (l->missing.count > 0)
        *warnings++ = warn_unmatched(l, &l->missing, "no joint");
    if (l->ambiguous.count > 0)
        *warnings++ = warn_unmatched(l, &l->ambiguous, "several joints");
    if (l->renamed > 0)
        *warnings++ =
            th_arena_format(l->arena, "%s: %u %s renamed (%s%s)", donor->name, l->renamed,
                            l->renamed == 1 ? "clip was" : "clips were", l->renamed == 1 ? "" : "first: ", l->renaming);
    if (l->scaled)
        *warnings++ = warn_scaled(l);
    if (l->fit.bent_count > 0)
        *warnings++ = th_arena_format(l->arena,
                                      "%s: above %u %s the scene is stretched or mirrored otherwise than in %s: its "
                                      "axes were left out (first: %s)",
                                      donor->name, l->fit.bent_count, l->fit.bent_count == 1 ? "joint" : "joints",
                                      base->name, donor->joints[l->fit.bent].name);
    if (l->fit.worst_deg > WORST_DEG)
        *warnings++ = th_arena_format(l->arena, "%s: rest poses differ by %.0f degrees at %s: the clips may not fit",
                                      donor->name, l->fit.worst_deg, donor->joints[l->fit.worst].name);
    out->warning_count = (uint32_t)(warnings - out->warnings);
}

th_result th_model_attach_clips(const th_model *base, const th_model *donor, th_model **out, th_error *err)
{
    if (!TH_VALID_MODEL(base) || !TH_VALID_MODEL(donor) || !TH_VALID(out))
        return th_fail(err, TH_ERR_USAGE, "th_model_attach_clips: an argument is NULL or no model of the library");
    *out = NULL;
    if (donor->clip_count == 0)
        return th_fail(err, TH_ERR_INPUT, "%s: there is no clip to attach", donor->name);
    const uint64_t total = (uint64_t)base->clip_count + donor->clip_count;
    if (total > TH_MAX_CLIPS)
        return th_fail(err, TH_ERR_LIMIT, "%s: %llu clips with those of %s, the limit is %u", base->name,
                       (unsigned long long)total, donor->name, TH_MAX_CLIPS);
    th_arena *arena = th_arena_create(), *scratch = th_arena_create();
    attachment l = {.arena = arena, .base = base, .donor = donor};
    l.taken = th_arena_new(scratch, bool, (size_t)base->joint_count + base->weight_count);
    th_model *model = th_arena_new(arena, th_model, 1);
    th_clip *clips = th_arena_new(arena, th_clip, total);
    find_fit(scratch, base, donor, &l.fit);
    bool ok = !th_arena_failed(arena) && !th_arena_failed(scratch);
    th_result result = TH_OK;
    if (ok && l.fit.median_deg > MEDIAN_DEG)
        result = th_fail(err, TH_ERR_INPUT,
                         "%s: the skeleton is not that of %s: rest poses differ by %.0f degrees at %s, and by %.0f or "
                         "more at half of the joints",
                         donor->name, base->name, l.fit.worst_deg, donor->joints[l.fit.worst].name, l.fit.median_deg);
    if (ok && result == TH_OK)
        copy_base(arena, base, model);
    for (uint32_t c = 0; ok && result == TH_OK && c < base->clip_count; c++)
        copy_clip(arena, &base->clips[c], &clips[c]);
    ok = ok && !th_arena_failed(arena);
    for (uint32_t c = 0; ok && result == TH_OK && c < donor->clip_count; c++) {
        th_clip *clip = &clips[base->clip_count + c];
        attach_clip(&l, &donor->clips[c], clip);
        clip->name = name_clip(&l, donor->clips[c].name, clips, base->clip_count + c);
        ok = !th_arena_failed(arena);
        if (ok && clip->channel_count == 0 && clip->weight_track_count == 0)
            result = th_fail(err, TH_ERR_INPUT, "%s: no channel of clip %s matches a joint of %s", donor->name,
                             donor->clips[c].name, base->name);
    }
    if (ok && result == TH_OK) {
        copy_warnings(&l, model);
        model->clips = clips;
        model->clip_count = (uint32_t)total;
        ok = !th_arena_failed(arena);
        if (ok) /* numbers may have become too large */
            result = th_model_check(model, err);
    }
    th_arena_destroy(scratch);
    if (!ok)
        result = th_fail(err, TH_ERR_MEMORY, "%s: out of memory", base->name);
    if (result == TH_OK)
        *out = model;
    else
        th_arena_destroy(arena);
    return result;
}
