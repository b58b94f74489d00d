/* Root motion: how far a clip carries the model over the ground, or would if the feet did not slide, and clips that
 * carry it away, played in place. */
#include "motion.h"

#include "bounds_proxy.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRIDE         0.1 /* this and below: times the model's size */
#define CONTACT        0.015
#define SLOWEST        0.05
#define TRAVELS        0.05 /* a joint that moves the model away in a loop */
#define MAX_VELOCITIES ((size_t)1 << 18)

/* ---- which motion ---- */

static void mean_centre(const th_bounds_proxy *b, double out[3])
{
    double centre[3];
    out[0] = out[1] = out[2] = 0;
    for (uint32_t n = 0; n < b->sphere_count; n++) {
        th_dmat34_point(&b->pose[b->joint[n]], b->sphere[n].centre, centre);
        for (int i = 0; i < 3; i++)
            out[i] += centre[i] / b->sphere_count;
    }
}

/* Feet are assumed on the ground at the lowest point of the clip (LOWEST). If hooves swing through that point, this is
 * wrong. Points near the height that the lowest point stays below half of the time (USUAL) then move the opposite way,
 * and the result is discarded. */
enum { LOWEST, USUAL, GROUNDS };

/* Horizontal velocities, per tick, of points below a height, and the total time with such points. */
typedef struct contact {
    double reach;
    double *x, *z;
    size_t count;
    double ticks;
} contact;

/* Finds the velocities at all moments. Returns false if out of memory. */
static bool find_contacts(th_bounds_proxy *b, const th_clip *clip, const th_moments *moments, th_ground_contacts *s,
                          contact c[GROUNDS])
{
    if (!th_ground_contacts_init(s, b, clip, moments))
        return false;
    c[LOWEST].reach = s->ground + CONTACT * b->model->size;
    c[USUAL].reach = s->usual + CONTACT * b->model->size;
    th_ground_contacts_measure(s, b, clip, moments, c[USUAL].reach);

    /* Of the points that get so low, those that there is room for. */
    size_t low = 0, kept = 0, seen = 0;
    for (size_t n = 0; n < s->count; n++)
        low += s->point[n].lowest < c[USUAL].reach;
    const size_t step = low * moments->count / MAX_VELOCITIES + 1;
    for (size_t n = 0; n < s->count; n++)
        if (s->point[n].lowest < c[USUAL].reach && seen++ % step == 0)
            s->point[kept++] = s->point[n];
    s->count = kept;

    const size_t most = s->count * moments->count;
    double(*before)[3] = th_arena_alloc(s->arena, s->count, sizeof *before);
    for (int g = 0; g < GROUNDS; g++) {
        c[g].x = th_arena_new(s->arena, double, most);
        c[g].z = th_arena_new(s->arena, double, most);
    }
    for (uint32_t i = 0; i < moments->count && !th_arena_failed(s->arena); i++) {
        const double ticks = i > 0 ? moments->ticks[i] - moments->ticks[i - 1] : 0;
        const size_t had[GROUNDS] = {c[LOWEST].count, c[USUAL].count};
        th_bounds_proxy_pose(b, clip, moments->ticks[i]);
        for (size_t n = 0; n < s->count; n++) {
            double now[3];
            th_ground_contact_position(b, &s->point[n], now);
            for (int g = 0; g < GROUNDS; g++)
                if (ticks > 0 && now[1] < c[g].reach && before[n][1] < c[g].reach) {
                    assert(c[g].count < most);
                    c[g].x[c[g].count] = (now[0] - before[n][0]) / ticks;
                    c[g].z[c[g].count++] = (now[2] - before[n][2]) / ticks;
                }
            memcpy(before[n], now, sizeof now);
        }
        for (int g = 0; g < GROUNDS; g++)
            c[g].ticks += c[g].count > had[g] ? ticks : 0;
    }
    return !th_arena_failed(s->arena);
}

/* The value that would be at `wanted` if they were sorted (Hoare's quickselect). Reorders them. */
static double select_value(double *values, size_t count, size_t wanted)
{
    assert(wanted < count);
    size_t begin = 0, end = count;
    while (end - begin > 1) {
        const double pivot = values[begin + (end - begin) / 2];
        size_t i = begin, j = end - 1;
        for (;; i++, j--) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            const double swap = values[i];
            values[i] = values[j];
            values[j] = swap;
        }
        /* [begin, i) is at most the pivot, [i, end) at least the pivot. */
        if (i == begin)
            i++;
        if (wanted < i)
            end = i;
        else
            begin = i;
    }
    return values[begin];
}

static double median(double *values, size_t count)
{
    return select_value(values, count, count / 2);
}

/* Distance between the quartiles. */
static double spread_of(double *values, size_t count)
{
    return select_value(values, count, count - 1 - count / 4) - select_value(values, count, count / 4);
}

th_result th_clip_root_motion(const th_model *model, uint32_t clip, th_interpolation interpolation, th_root_motion *out,
                              th_error *err)
{
    assert(model && out && (clip < model->clip_count || clip == TH_NO_INDEX));
    assert((unsigned)interpolation < TH_INTERPOLATION_COUNT);
    *out = (th_root_motion){.kind = TH_ROOT_MOTION_NONE};
    if (clip == TH_NO_INDEX)
        return TH_OK;
    const th_clip *played = &model->clips[clip];
    th_bounds_proxy b;
    th_moments moments = {0};
    th_ground_contacts points = {0};
    contact c[GROUNDS] = {0}, *low = &c[LOWEST], *usual = &c[USUAL];
    bool good = th_bounds_proxy_init(&b, model, interpolation), is_baked = false;
    const bool moves = good && b.sphere_count > 0 && played->duration_ticks > 0;
    if (moves) { /* by the root */
        double from[3], to[3];
        th_bounds_proxy_pose(&b, played, 0);
        mean_centre(&b, from);
        th_bounds_proxy_pose(&b, played, played->duration_ticks);
        mean_centre(&b, to);
        const double x = to[0] - from[0], z = to[2] - from[2], way = hypot(x, z),
                     loop_s = played->duration_ticks / played->ticks_per_second;
        is_baked = way > STRIDE * model->size;
        if (is_baked)
            *out = (th_root_motion){TH_ROOT_MOTION_BAKED, way / loop_s, atan2(x, z), loop_s};
    }
    if (moves && !is_baked) /* by the feet */
        good = th_moments_init(&moments, model, played, 1) && find_contacts(&b, played, &moments, &points, c);
    if (good && low->count > 0 && !(low->ticks < played->duration_ticks / 4)) {
        /* The ground moves opposite to the character. */
        const double x = median(low->x, low->count), z = median(low->z, low->count);
        const double speed = hypot(x, z) * played->ticks_per_second;
        const double spread =
            hypot(spread_of(low->x, low->count), spread_of(low->z, low->count)) * played->ticks_per_second;
        const bool agree = x * median(usual->x, usual->count) + z * median(usual->z, usual->count) > 0;
        if (speed > SLOWEST * model->size && spread < speed && agree)
            *out = (th_root_motion){TH_ROOT_MOTION_IN_PLACE, speed, atan2(-x, -z), 0};
    }
    th_ground_contacts_fini(&points);
    free(moments.ticks);
    th_bounds_proxy_fini(&b);
    return good ? TH_OK : th_fail(err, TH_ERR_MEMORY, "there is no memory left to watch %s walk", model->name);
}

/* ---- in place ---- */

/* Root motion is taken out of a clip as its mean velocity: the keys of the joint that travels, the first one from the
 * root on, lose what the clip has carried it evenly until their time, along the ground. What is left sways about a
 * place as in clips that were authored so, is continuous at the end of the loop, and blends with others without a jump.
 * The character travels by its feet, as with other gaits. */

/* The joint that travels, and in *out how far in the clip, relative to its parent; TH_NO_INDEX: none. poses: two of the
 * model's. */
static uint32_t find_root(const th_model *model, const th_clip *clip, th_interpolation interpolation, th_dmat34 *poses,
                          double out[3])
{
    th_dmat34 *begin = poses, *end = poses + model->joint_count;
    th_exact_pose(model, clip, 0, interpolation, begin);
    th_exact_pose(model, clip, clip->duration_ticks, interpolation, end);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const double way[3] = {end[j].m[3] - begin[j].m[3], 0, end[j].m[11] - begin[j].m[11]};
        if (!(hypot(way[0], way[2]) > TRAVELS * model->size))
            continue;
        memcpy(out, way, sizeof way);
        const uint32_t parent = model->joints[j].parent;
        if (parent == TH_NO_INDEX)
            return j;
        th_dmat34 linear = begin[parent], inverse;
        linear.m[3] = linear.m[7] = linear.m[11] = 0;
        if (th_dmat34_invert(&linear, &inverse))
            th_dmat34_point(&inverse, way, out);
        else /* the parent is flat */
            memset(out, 0, sizeof way);
        return j;
    }
    return TH_NO_INDEX;
}

/* A copy without the travel. false: out of memory. */
static bool stay(th_channel *channel, const double travel[3], double duration_ticks, th_arena *arena)
{
    th_track *track = &channel->translation;
    float *values = th_arena_copy(arena, track->values, (size_t)track->key_count * 3, sizeof *values);
    float *tangents =
        track->tangents ? th_arena_copy(arena, track->tangents, (size_t)track->key_count * 6, sizeof *tangents) : NULL;
    th_transform_curves *curves = channel->curves ? th_arena_copy(arena, channel->curves, 1, sizeof *curves) : NULL;
    if (!values || (track->tangents && !tangents) || (channel->curves && !curves))
        return false;
    for (uint32_t k = 0; k < track->key_count; k++)
        for (uint32_t i = 0; i < 3; i++) {
            const double per_tick = travel[i] / duration_ticks;
            values[3 * k + i] = (float)((double)values[3 * k + i] - per_tick * track->times[k]);
            for (uint32_t side = 0; tangents && side < 2; side++)
                tangents[6 * k + 3 * side + i] = (float)((double)tangents[6 * k + 3 * side + i] - per_tick);
        }
    for (uint32_t i = 0; curves && i < 3; i++)
        curves->travel[i] += travel[i] / duration_ticks;
    track->values = values;
    track->tangents = tangents;
    channel->curves = curves;
    return true;
}

static bool has_kind(const th_model *model, uint32_t clip, th_interpolation interpolation, th_root_motion_kind kind)
{
    th_root_motion motion;
    return th_clip_root_motion(model, clip, interpolation, &motion, NULL) == TH_OK && motion.kind == kind;
}

/* Leaves a clip that does not walk as it is. model: with clips of its own. poses: two of the model's. false: out of
 * memory. */
static bool convert(th_model *model, th_clip *clip, th_interpolation interpolation, const th_in_place_source *source,
                    th_dmat34 *poses, th_arena *arena)
{
    const uint32_t c = (uint32_t)(clip - model->clips);
    const th_clip authored = *clip;
    if (!(authored.duration_ticks > 0) ||
        (source && source->in_place->clips[c].channels == source->authored->clips[c].channels))
        return true;
    double travel[3];
    const uint32_t root = find_root(model, &authored, interpolation, poses, travel);
    if (root == TH_NO_INDEX || (!source && !has_kind(model, c, interpolation, TH_ROOT_MOTION_BAKED)))
        return true;
    th_channel *channels = th_arena_copy(arena, authored.channels, authored.channel_count, sizeof *channels);
    bool travels = false;
    for (uint32_t n = 0; channels && n < authored.channel_count; n++) {
        const th_track *track = &channels[n].translation;
        if (channels[n].joint != root || track->steps || track->key_count < 2)
            continue;
        travels = true;
        if (!stay(&channels[n], travel, authored.duration_ticks, arena))
            return false;
    }
    if (!channels)
        return false;
    clip->channels = channels;
    if (!travels || (!source && !has_kind(model, c, interpolation, TH_ROOT_MOTION_IN_PLACE)))
        *clip = authored;
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
        good = convert(copy, &clips[c], interpolation, source, poses, arena);
        differs |= clips[c].channels != model->clips[c].channels;
    }
    free(poses);
    *out = differs ? copy : model;
    return good;
}
