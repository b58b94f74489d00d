#include "fit.h"

#include "bounds_proxy.h"
#include "vertices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
    const th_model *base, *donor;
    uint32_t *sets;                        /* by joint of the donor: what clips set of it */
    uint32_t *carriers;                    /* by joint of the donor, see find_frames */
    const th_dmat34 *base_places, *places; /* of all joints at rest, in the scene */
} pair;

/* ---- names ---- */

static int fold(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

/* Without namespaces and case, in any locale. */
static int compare_bare(const char *a, const char *b)
{
    const char *ends[] = {strrchr(a, ':'), strrchr(b, ':')};
    a = ends[0] ? ends[0] + 1 : a;
    b = ends[1] ? ends[1] + 1 : b;
    while (*a && fold(*a) == fold(*b))
        a++, b++;
    return fold(*a) - fold(*b);
}

typedef struct name_order {
    const th_joint *joints;
    int (*compare)(const char *a, const char *b);
    uint32_t *sorted;
} name_order;

static int compare_joints(const void *a, const void *b, void *order)
{
    const name_order *by = order;
    return by->compare(by->joints[*(const uint32_t *)a].name, by->joints[*(const uint32_t *)b].name);
}

static name_order sort_names(th_arena *arena, const th_model *model, int (*compare)(const char *, const char *))
{
    name_order order = {model->joints, compare, th_arena_new(arena, uint32_t, model->joint_count)};
    for (uint32_t j = 0; order.sorted && j < model->joint_count; j++)
        order.sorted[j] = j;
    if (order.sorted)
        qsort_r(order.sorted, model->joint_count, sizeof *order.sorted, compare_joints, &order);
    return order;
}

static uint32_t find_target(const name_order *by, uint32_t count, const char *name)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (by->compare(by->joints[by->sorted[middle]].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || by->compare(by->joints[by->sorted[low]].name, name) != 0)
        return NO_TARGET;
    bool alone = low + 1 == count || by->compare(by->joints[by->sorted[low + 1]].name, name) != 0;
    return alone ? by->sorted[low] : AMBIGUOUS;
}

/* A joint of the base that has a joint of its very name is not taken by others, and where several that clips move would
 * take it, none does. */
static void find_targets(th_arena *arena, const pair *p, fit *f)
{
    const th_model *base = p->base, *donor = p->donor;
    const name_order exact = sort_names(arena, base, strcmp), bare = sort_names(arena, base, compare_bare);
    enum { NOBODY, ONE, SEVERAL, ITSELF };
    uint8_t *takers = th_arena_new(arena, uint8_t, base->joint_count);
    bool *by_bare = th_arena_new(arena, bool, donor->joint_count);
    if (th_arena_failed(arena))
        return;
    for (uint32_t j = 0; j < donor->joint_count; j++) {
        f->targets[j] = find_target(&exact, base->joint_count, donor->joints[j].name);
        if (f->targets[j] < AMBIGUOUS)
            takers[f->targets[j]] = ITSELF;
        by_bare[j] = f->targets[j] == NO_TARGET;
    }
    for (uint32_t j = 0; j < donor->joint_count; j++) {
        if (by_bare[j])
            f->targets[j] = find_target(&bare, base->joint_count, donor->joints[j].name);
        by_bare[j] = by_bare[j] && f->targets[j] < AMBIGUOUS;
        if (by_bare[j] && p->sets[j] && takers[f->targets[j]] < SEVERAL)
            takers[f->targets[j]]++;
    }
    for (uint32_t j = 0; j < donor->joint_count; j++)
        if (by_bare[j] && takers[f->targets[j]] >= SEVERAL)
            f->targets[j] = takers[f->targets[j]] == ITSELF ? NO_TARGET : AMBIGUOUS;
}

/* ---- lengths ---- */

/* Of a joint or, for TH_NO_INDEX, of the scene. */
static th_dmat34 place_of(const th_dmat34 *places, uint32_t joint)
{
    return joint == TH_NO_INDEX ? TH_DMAT34_IDENTITY : places[joint];
}

static th_dmat34 *find_places(th_arena *arena, const th_model *model)
{
    th_dmat34 *places = th_arena_new(arena, th_dmat34, model->joint_count);
    for (uint32_t j = 0; places && j < model->joint_count; j++)
        places[j] = th_dmat34_mul(place_of(places, model->joints[j].parent), th_dmat34_from(model->joints[j].rest));
    return places;
}

/* How large a unit is in the space of the joint's parent; 1 where that is flat. */
static double unit_of(const th_model *model, const th_dmat34 *places, uint32_t joint)
{
    const th_dmat34 space = place_of(places, model->joints[joint].parent);
    const double *m = space.m;
    const double unit = cbrt(fabs(m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                                  m[2] * (m[4] * m[9] - m[5] * m[8])));
    return unit > 0 && isfinite(unit) ? unit : 1;
}

/* From a joint down to another along the bones; 0 if there is no such way. */
static double length_between(const th_model *model, const th_dmat34 *places, uint32_t from, uint32_t to)
{
    double length = 0;
    for (uint32_t j = to, parent; j != from; j = parent) {
        parent = model->joints[j].parent;
        if (parent == TH_NO_INDEX)
            return 0;
        const double *a = places[j].m, *b = places[parent].m;
        length += hypot(hypot(a[3] - b[3], a[7] - b[7]), a[11] - b[11]);
    }
    return length;
}

/* ---- rest poses ---- */

static double dot_of(const double *a, const double *b, int count)
{
    double dot = 0;
    for (int i = 0; i < count; i++)
        dot += a[i] * b[i];
    return dot;
}

/* Rotations of clips are the same for both where rest rotations are and, as these may be those of any pose, where bones
 * point the same way in the space of the joint before. */
static double difference_deg(const pair *p, const fit *f, uint32_t joint)
{
    const th_model *base = p->base, *donor = p->donor;
    const uint32_t target = f->targets[joint];
    const th_joint *own = &donor->joints[joint], *other = &base->joints[target];
    th_trs frame = f->frames[joint], a = th_joint_rest(own, NULL), b = th_joint_rest(other, NULL);
    double bone[3];
    memset(frame.translation, 0, sizeof frame.translation);
    const th_dmat34 turn = th_dmat34_from_trs(&frame);
    th_dmat34_point(&turn, a.translation, bone);
    th_quat_mul(frame.rotation, a.rotation, a.rotation);
    th_trs_take_signs(&b, b.scale, a.scale);
    double angle = 2 * acos(fmin(1, fabs(dot_of(a.rotation, b.rotation, 4))));
    const double length = sqrt(dot_of(bone, bone, 3)), other_length = sqrt(dot_of(b.translation, b.translation, 3));
    if (joint != f->hips && own->parent != TH_NO_INDEX && f->targets[own->parent] == other->parent &&
        length / frame.scale[0] * f->units[joint] > 0.01 * donor->size &&
        other_length * unit_of(base, p->base_places, target) > 0.01 * base->size)
        angle = fmax(angle, acos(fmax(-1, fmin(1, dot_of(bone, b.translation, 3) / length / other_length))));
    return angle * 180 / M_PI;
}

static bool turns(const pair *p, const fit *f, uint32_t joint)
{
    return p->sets[joint] & TH_ROTATION && !(f->still[joint] & TH_ROTATION);
}

static void compare_rests(th_arena *arena, const pair *p, fit *f)
{
    double *all = th_arena_new(arena, double, p->donor->joint_count);
    uint32_t count = 0;
    for (uint32_t j = 0; all && j < p->donor->joint_count; j++) {
        if (f->targets[j] >= AMBIGUOUS || !turns(p, f, j))
            continue;
        const double angle = difference_deg(p, f, j);
        if (angle > f->worst_deg) {
            f->worst_deg = angle;
            f->worst = j;
        }
        all[count++] = angle;
    }
    if (count == 0)
        return;
    qsort(all, count, sizeof *all, th_compare_doubles);
    f->median_deg = count < 3 ? 0 : all[count / 2]; /* of less than a skeleton */
}

/* ---- what clips do ---- */

/* Whether keys stay at a value. width: as th_track.values; size: of what counts as a difference. */
static bool stays(const th_track *track, uint32_t width, const double rest[], double size, bool curves)
{
    double dot = 0;
    if (curves && track->key_count > 1)
        return false;
    for (uint32_t i = 0; i < width; i++)
        dot += rest[i] * (double)track->values[i];
    const double sign = width == 4 && dot < 0 ? -1 : 1; /* of a rotation */
    for (size_t i = 0; i < (size_t)width * track->key_count; i++) {
        const double value = (double)track->values[i];
        if (fabs(value - (double)track->values[i % width]) > 1e-5 * size ||
            fabs(value - sign * rest[i % width]) > 1e-3 * size)
            return false;
    }
    for (size_t i = 0; track->tangents && i < 2 * (size_t)width * track->key_count; i++)
        if (track->tangents[i] != 0)
            return false;
    return true;
}

uint32_t still_parts(const th_model *donor, const fit *f, const th_channel *channel)
{
    const th_trs rest = th_joint_rest(&donor->joints[channel->joint], channel);
    const double *s = rest.scale, largest = fmax(fabs(s[0]), fmax(fabs(s[1]), fabs(s[2]))),
                 size = donor->size / f->units[channel->joint];
    const bool curves = channel->curves;
    return (stays(&channel->translation, 3, rest.translation, size, curves) ? TH_TRANSLATION : 0u) |
           (stays(&channel->rotation, 4, rest.rotation, 1, curves) ? TH_ROTATION : 0u) |
           (stays(&channel->scale, 3, rest.scale, largest, curves) ? TH_SCALE : 0u);
}

/* What clips set, and what all of them hold where the donor has it at rest, of joints that are turned as at rest, down
 * from the root. These may say how the scene lies, and for the base it lies as the base says. */
static void read_clips(const pair *p, fit *f)
{
    const th_model *donor = p->donor;
    for (uint32_t c = 0; c < donor->clip_count; c++)
        for (uint32_t k = 0; k < donor->clips[c].channel_count; k++) {
            const th_channel *channel = &donor->clips[c].channels[k];
            const uint32_t still = still_parts(donor, f, channel);
            p->sets[channel->joint] |= (TH_TRANSLATION | TH_ROTATION | TH_SCALE) & ~channel->filled;
            f->still[channel->joint] &= still & TH_ROTATION ? still : 0;
        }
    for (uint32_t j = 0; j < donor->joint_count; j++) {
        const uint32_t parent = donor->joints[j].parent;
        if (parent != TH_NO_INDEX && !(f->still[parent] & TH_ROTATION))
            f->still[j] = 0;
    }
}

/* ---- hips ---- */

/* The hips are the first joint, in order, whose translation clips set, that carries at least half of the joints that
 * clips turn, and that stands above the lowest fifth of these in the base. So a root on the ground, a camera or a prop
 * are not, nor is what lies as at rest, with all above it. A clip may hold hips, seated. Heights are compared above the
 * joint that the base has lowest or, where one of the models does not stand like the other at rest, the lengths of the
 * bones up from there. */
#define ALIKE_DEG 20

static void find_hips(th_arena *arena, const pair *p, fit *f)
{
    const th_model *donor = p->donor;
    const th_dmat34 *base_places = p->base_places, *places = p->places;
    uint32_t *carried = th_arena_new(arena, uint32_t, donor->joint_count), all = 0, lowest = TH_NO_INDEX;
    double low = (double)INFINITY, high = -low;
    if (th_arena_failed(arena))
        return;
    for (uint32_t j = donor->joint_count; j-- > 0;) {
        const uint32_t target = f->targets[j], parent = donor->joints[j].parent;
        const bool turned = target < AMBIGUOUS && p->sets[j] & TH_ROTATION;
        low = turned ? fmin(low, base_places[target].m[7]) : low;
        high = turned ? fmax(high, base_places[target].m[7]) : high;
        all += turned;
        carried[j] += turned;
        if (parent != TH_NO_INDEX)
            carried[parent] += carried[j];
    }
    for (uint32_t j = 0; j < donor->joint_count && f->hips == TH_NO_INDEX; j++)
        if (f->targets[j] < AMBIGUOUS && p->sets[j] & TH_TRANSLATION && !(f->still[j] & TH_TRANSLATION) &&
            2 * carried[j] >= all && base_places[f->targets[j]].m[7] > low + 0.2 * (high - low))
            f->hips = j;
    for (uint32_t j = f->hips; j < donor->joint_count; j++) {
        const uint32_t parent = donor->joints[j].parent;
        if (j > f->hips && (parent == TH_NO_INDEX || parent < f->hips))
            break;
        if (f->targets[j] < AMBIGUOUS &&
            (lowest == TH_NO_INDEX || base_places[f->targets[j]].m[7] < base_places[f->targets[lowest]].m[7]))
            lowest = j;
    }
    if (lowest == TH_NO_INDEX)
        return;
    const uint32_t target = f->targets[f->hips], lowest_target = f->targets[lowest];
    bool alike = true;
    for (uint32_t j = lowest; j != donor->joints[f->hips].parent; j = donor->joints[j].parent)
        alike = alike && (f->targets[j] >= AMBIGUOUS || difference_deg(p, f, j) < ALIKE_DEG);
    f->length = alike ? places[f->hips].m[7] - places[lowest].m[7] : length_between(donor, places, f->hips, lowest);
    f->base_length = alike ? base_places[target].m[7] - base_places[lowest_target].m[7]
                           : length_between(p->base, base_places, target, lowest_target);
}

/* ---- frames ---- */

/* From the space of a joint to that of one above it, or of the scene. Returns whether that is known: it is not flat. */
static bool find_space(const th_dmat34 *places, uint32_t above, uint32_t joint, th_dmat34 *out)
{
    const th_dmat34 from = place_of(places, above);
    th_dmat34 back = TH_DMAT34_IDENTITY;
    const bool known = th_dmat34_invert(&from, &back);
    *out = th_dmat34_mul(back, place_of(places, joint));
    return known;
}

/* What the donor has between the joint and what carries it, in terms of what the base has there. */
static void find_frame(const pair *p, uint32_t joint, fit *f)
{
    const th_model *base = p->base, *donor = p->donor;
    const uint32_t target = f->targets[joint], parent = donor->joints[joint].parent,
                   base_parent = base->joints[target].parent,
                   carrier = parent == TH_NO_INDEX ? parent : p->carriers[parent];
    const uint32_t base_carrier = carrier == TH_NO_INDEX ? carrier : f->targets[carrier];
    const double factor = f->ratio * f->units[joint] / unit_of(base, p->base_places, target);
    th_trs *frame = &f->frames[joint], parts;
    if (fabs(factor - 1) > 1e-5 && isfinite((float)factor))
        frame->scale[0] = frame->scale[1] = frame->scale[2] = factor;

    th_dmat34 space, base_space, back = TH_DMAT34_IDENTITY;
    bool known = find_space(p->places, carrier, parent, &space);
    known &= find_space(p->base_places, base_carrier, base_parent, &base_space);
    const bool is_carried = carrier != TH_NO_INDEX && base_parent != TH_NO_INDEX && f->targets[parent] == base_parent;
    if (is_carried || th_dmat34_distance(&space, &base_space) == 0)
        return;
    known &= th_dmat34_invert(&base_space, &back);
    const th_dmat34 both = th_dmat34_mul(back, space);
    const double bent = th_dmat34_decompose(&both, &parts), *s = parts.scale;
    if (!known || bent > 1e-3 || !(fabs(s[1] / s[0] - 1) < 1e-3) || !(fabs(s[2] / s[0] - 1) < 1e-3)) {
        f->bent = f->bent_count++ ? f->bent : joint;
        return;
    }
    memcpy(frame->rotation, parts.rotation, sizeof frame->rotation);
    const double lengths = factor / s[0], place[] = {lengths * space.m[3], lengths * space.m[7], lengths * space.m[11]};
    th_dmat34_point(&back, place, frame->translation);
}

/* A joint carries itself and those below if it has a target and clips turn it; otherwise it is carried by what carries
 * its parent, or by the scene. */
static void find_frames(const pair *p, fit *f)
{
    f->bent_count = 0;
    for (uint32_t j = 0; j < p->donor->joint_count; j++) {
        const uint32_t parent = p->donor->joints[j].parent;
        p->carriers[j] = f->targets[j] < AMBIGUOUS && turns(p, f, j) ? j
                         : parent == TH_NO_INDEX                     ? parent
                                                                     : p->carriers[parent];
        f->frames[j] = TH_TRS_IDENTITY;
        if (f->targets[j] < AMBIGUOUS && p->sets[j])
            find_frame(p, j, f);
    }
}

/* ---- ratio ---- */

static bool has_lengths(const pair *p, const fit *f)
{
    return f->length > 1e-6 * p->donor->size && f->base_length > 1e-6 * p->base->size;
}

/* From the lowest joint to the hips or, without hips, in size: that tells units apart, but no more. The size is how far
 * apart the joints lie that both have: one model may have meshes and the other none. */
static void find_ratio(const pair *p, fit *f)
{
    f->by_hips = has_lengths(p, f);
    if (!f->by_hips) {
        th_box box = TH_BOX_EMPTY, base_box = TH_BOX_EMPTY;
        for (uint32_t j = 0; j < p->donor->joint_count; j++)
            if (f->targets[j] < AMBIGUOUS) {
                th_box_add_origin(&box, &p->places[j]);
                th_box_add_origin(&base_box, &p->base_places[f->targets[j]]);
            }
        f->length = th_box_extent(&box);
        f->base_length = th_box_extent(&base_box);
    }
    if (!has_lengths(p, f)) {
        f->length = p->donor->size;
        f->base_length = p->base->size;
    }
    const double ratio = f->base_length / f->length;
    f->ratio = (f->by_hips ? fabs(ratio - 1) > 0.01 : ratio > 10 || ratio < 0.1) ? ratio : 1;
}

void find_fit(th_arena *arena, const th_model *base, const th_model *donor, fit *out)
{
    const pair p = {base,
                    donor,
                    th_arena_new(arena, uint32_t, donor->joint_count),
                    th_arena_new(arena, uint32_t, donor->joint_count),
                    find_places(arena, base),
                    find_places(arena, donor)};
    *out = (fit){.targets = th_arena_new(arena, uint32_t, donor->joint_count),
                 .frames = th_arena_new(arena, th_trs, donor->joint_count),
                 .units = th_arena_new(arena, double, donor->joint_count),
                 .still = th_arena_new(arena, uint32_t, donor->joint_count),
                 .ratio = 1,
                 .hips = TH_NO_INDEX};
    if (th_arena_failed(arena))
        return;
    for (uint32_t j = 0; j < donor->joint_count; j++) {
        out->units[j] = unit_of(donor, p.places, j);
        out->still[j] = TH_TRANSLATION | TH_ROTATION;
    }
    read_clips(&p, out);
    find_targets(arena, &p, out);
    find_frames(&p, out); /* turned as they will be */
    find_hips(arena, &p, out);
    find_ratio(&p, out);
    find_frames(&p, out);
    compare_rests(arena, &p, out);
}
