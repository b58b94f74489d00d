/* Root motion is taken out of a clip as its mean velocity: the keys of the joint that travels, the first one from the
 * root on, lose what the clip has carried it evenly until their time, along the ground. What is left sways about a
 * place as in clips that were authored so, is continuous at the end of the loop, and blends with others without a jump.
 * The character travels by its feet, as with other gaits. */
#include "in_place.h"

#include <throng/anim/bounds.h>
#include <throng/anim/exact.h>

#include <math.h>
#include <stdlib.h>

#define TRAVELS 0.05 /* a joint that moves the model away in a loop, times the model's size */

/* The joint that travels and how far it does in the clip, relative to its parent. */
typedef struct root {
    uint32_t joint; /* TH_NO_INDEX: none */
    double travel[3];
} root;

/* A way in the space of the model, in that of a joint. Zero where the joint is flat. */
static void turn_into(const th_dmat34 *joint, double way[3])
{
    th_dmat34 linear = *joint, inverse;
    linear.m[3] = linear.m[7] = linear.m[11] = 0;
    if (th_dmat34_invert(&linear, &inverse))
        th_dmat34_point(&inverse, way, way);
    else
        way[0] = way[1] = way[2] = 0;
}

/* poses: two of the model's. */
static root find_root(const th_model *model, const th_clip *clip, th_interpolation interpolation, th_dmat34 *poses)
{
    th_dmat34 *begin = poses, *end = poses + model->joint_count;
    th_exact_pose(model, clip, 0, interpolation, begin);
    th_exact_pose(model, clip, clip->duration_ticks, interpolation, end);
    root r = {.joint = TH_NO_INDEX};
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const double way[3] = {end[j].m[3] - begin[j].m[3], 0, end[j].m[11] - begin[j].m[11]};
        if (!(hypot(way[0], way[2]) > TRAVELS * model->size))
            continue;
        const uint32_t parent = model->joints[j].parent;
        r = (root){j, {way[0], 0, way[2]}};
        if (parent != TH_NO_INDEX)
            turn_into(&begin[parent], r.travel);
        return r;
    }
    return r;
}

/* A copy without the travel. false: out of memory. */
static bool stay(th_track *track, const double travel[3], double duration_ticks, th_arena *arena)
{
    float *values = th_arena_copy(arena, track->values, (size_t)track->key_count * 3, sizeof *values);
    float *tangents =
        track->tangents ? th_arena_copy(arena, track->tangents, (size_t)track->key_count * 6, sizeof *tangents) : NULL;
    if (!values || (track->tangents && !tangents))
        return false;
    for (uint32_t k = 0; k < track->key_count; k++)
        for (uint32_t i = 0; i < 3; i++) {
            const double per_tick = travel[i] / duration_ticks;
            values[3 * k + i] = (float)((double)values[3 * k + i] - per_tick * track->times[k]);
            for (uint32_t side = 0; tangents && side < 2; side++)
                tangents[6 * k + 3 * side + i] = (float)((double)tangents[6 * k + 3 * side + i] - per_tick);
        }
    track->values = values;
    track->tangents = tangents;
    return true;
}

/* The channels of the clip, of which the root's stays; NULL: out of memory. *out_travels: whether there is one. */
static const th_channel *channels_in_place(const th_clip *clip, const root *r, th_arena *arena, bool *out_travels)
{
    th_channel *channels = th_arena_copy(arena, clip->channels, clip->channel_count, sizeof *channels);
    *out_travels = false;
    for (uint32_t n = 0; channels && n < clip->channel_count; n++) {
        th_track *track = &channels[n].translation;
        if (channels[n].joint != r->joint || track->steps || track->key_count < 2)
            continue;
        *out_travels = true;
        if (!stay(track, r->travel, clip->duration_ticks, arena))
            return NULL;
    }
    return channels;
}

static bool has_kind(const th_model *model, uint32_t clip, th_interpolation interpolation, th_root_motion_kind kind)
{
    th_root_motion motion;
    return th_clip_root_motion(model, clip, interpolation, &motion, NULL) == TH_OK && motion.kind == kind;
}

static bool is_converted(const th_in_place_source *source, uint32_t clip)
{
    return source->in_place->clips[clip].channels != source->authored->clips[clip].channels;
}

/* Leaves a clip that does not walk as it is. clips: the model's own. false: out of memory. */
static bool convert(th_model *model, th_clip *clips, uint32_t c, th_interpolation interpolation,
                    const th_in_place_source *source, th_dmat34 *poses, th_arena *arena)
{
    const th_clip authored = clips[c];
    if (!(authored.duration_ticks > 0) || (source && !is_converted(source, c)))
        return true;
    const root r = find_root(model, &authored, interpolation, poses);
    if (r.joint == TH_NO_INDEX || (!source && !has_kind(model, c, interpolation, TH_ROOT_MOTION_BAKED)))
        return true;
    bool travels;
    clips[c].channels = channels_in_place(&authored, &r, arena, &travels);
    if (!clips[c].channels)
        return false;
    if (!travels || (!source && !has_kind(model, c, interpolation, TH_ROOT_MOTION_IN_PLACE)))
        clips[c] = authored;
    return true;
}

bool th_model_in_place(const th_model *model, th_interpolation interpolation, const th_in_place_source *source,
                       th_arena *arena, const th_model **out)
{
    th_model *copy = th_arena_copy(arena, model, 1, sizeof *copy);
    th_clip *clips = th_arena_copy(arena, model->clips, model->clip_count, sizeof *clips);
    th_dmat34 *poses = calloc(2 * (size_t)model->joint_count + 1, sizeof *poses);
    bool good = copy && (clips || model->clip_count == 0) && poses;
    if (good)
        copy->clips = clips;
    bool differs = false;
    for (uint32_t c = 0; good && c < model->clip_count; c++) {
        good = convert(copy, clips, c, interpolation, source, poses, arena);
        differs |= clips[c].channels != model->clips[c].channels;
    }
    free(poses);
    *out = differs ? copy : model;
    return good;
}
