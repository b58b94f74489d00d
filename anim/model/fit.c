#include "fit.h"

#include "bounds_proxy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* sets: by joint of the donor, what clips set of it. A joint of the base that has a joint of its very name is not
 * taken by others, and where several that clips move would take it, none does. */
static void find_targets(th_arena *arena, const th_model *base, const th_model *donor, const uint32_t *sets, fit *f)
{
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
        if (by_bare[j] && sets[j] && takers[f->targets[j]] < SEVERAL)
            takers[f->targets[j]]++;
    }
    for (uint32_t j = 0; j < donor->joint_count; j++)
        if (by_bare[j] && takers[f->targets[j]] >= SEVERAL)
            f->targets[j] = takers[f->targets[j]] == ITSELF ? NO_TARGET : AMBIGUOUS;
}

/* ---- lengths ---- */

/* Of all joints at rest, in the scene. */
static th_dmat34 *find_places(th_arena *arena, const th_model *model)
{
    th_dmat34 *places = th_arena_new(arena, th_dmat34, model->joint_count);
    for (uint32_t j = 0; places && j < model->joint_count; j++) {
        const uint32_t parent = model->joints[j].parent;
        const th_dmat34 rest = th_dmat34_from(model->joints[j].rest);
        places[j] = parent == TH_NO_INDEX ? rest : th_dmat34_mul(places[parent], rest);
    }
    return places;
}

/* How large a unit is in the space of the joint's parent; 1 where that is flat. */
static double unit_of(const th_model *model, const th_dmat34 *places, uint32_t joint)
{
    const uint32_t parent = model->joints[joint].parent;
    if (parent == TH_NO_INDEX)
        return 1;
    const double *m = places[parent].m;
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
static double difference_deg(const th_model *base, const th_model *donor, const th_dmat34 *base_places, const fit *f,
                             uint32_t joint)
{
    const uint32_t target = f->targets[joint];
    const th_joint *own = &donor->joints[joint], *other = &base->joints[target];
    const th_dmat34 rest = th_dmat34_from(own->rest), other_rest = th_dmat34_from(other->rest);
    th_trs a, b;
    th_dmat34_decompose(&rest, &a);
    th_dmat34_decompose_like(&other_rest, a.scale, &b);
    double angle = 2 * acos(fmin(1, fabs(dot_of(a.rotation, b.rotation, 4))));
    const double length = sqrt(dot_of(a.translation, a.translation, 3)),
                 other_length = sqrt(dot_of(b.translation, b.translation, 3));
    if (joint != f->hips && own->parent != TH_NO_INDEX && f->targets[own->parent] == other->parent &&
        length * f->units[joint] > 0.01 * donor->size &&
        other_length * unit_of(base, base_places, target) > 0.01 * base->size)
        angle = fmax(angle, acos(fmax(-1, fmin(1, dot_of(a.translation, b.translation, 3) / length / other_length))));
    return angle * 180 / M_PI;
}

static void compare_rests(th_arena *arena, const th_model *base, const th_model *donor, const uint32_t *sets,
                          const th_dmat34 *base_places, fit *f)
{
    double *all = th_arena_new(arena, double, donor->joint_count);
    uint32_t count = 0;
    for (uint32_t j = 0; all && j < donor->joint_count; j++) {
        if (f->targets[j] >= AMBIGUOUS || !(sets[j] & TH_ROTATION))
            continue;
        const double angle = difference_deg(base, donor, base_places, f, j);
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

/* ---- hips ---- */

/* The hips are the first joint, in order, whose translation clips set, that carries at least half of the joints that
 * clips turn, and that stands above the lowest fifth of these in the base. So a root on the ground, a camera or a prop
 * are not. Whether they move does not matter: a clip may hold them, seated. Heights are compared above the joint that
 * the base has lowest or, where one of the models does not stand like the other at rest, the lengths of the bones up
 * from there. */
#define ALIKE_DEG 20

static void find_hips(th_arena *arena, const th_model *base, const th_model *donor, const uint32_t *sets,
                      const th_dmat34 *base_places, const th_dmat34 *places, fit *f)
{
    uint32_t *carried = th_arena_new(arena, uint32_t, donor->joint_count), all = 0, lowest = TH_NO_INDEX;
    double low = (double)INFINITY, high = -low;
    if (th_arena_failed(arena))
        return;
    for (uint32_t j = donor->joint_count; j-- > 0;) {
        const uint32_t target = f->targets[j], parent = donor->joints[j].parent;
        const bool turned = target < AMBIGUOUS && sets[j] & TH_ROTATION;
        low = turned ? fmin(low, base_places[target].m[7]) : low;
        high = turned ? fmax(high, base_places[target].m[7]) : high;
        all += turned;
        carried[j] += turned;
        if (parent != TH_NO_INDEX)
            carried[parent] += carried[j];
    }
    for (uint32_t j = 0; j < donor->joint_count && f->hips == TH_NO_INDEX; j++)
        if (f->targets[j] < AMBIGUOUS && sets[j] & TH_TRANSLATION && 2 * carried[j] >= all &&
            base_places[f->targets[j]].m[7] > low + 0.2 * (high - low))
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
        alike = alike && (f->targets[j] >= AMBIGUOUS || difference_deg(base, donor, base_places, f, j) < ALIKE_DEG);
    f->length = alike ? places[f->hips].m[7] - places[lowest].m[7] : length_between(donor, places, f->hips, lowest);
    f->base_length = alike ? base_places[target].m[7] - base_places[lowest_target].m[7]
                           : length_between(base, base_places, target, lowest_target);
}

void find_fit(th_arena *arena, const th_model *base, const th_model *donor, fit *out)
{
    uint32_t *sets = th_arena_new(arena, uint32_t, donor->joint_count);
    const th_dmat34 *base_places = find_places(arena, base), *places = find_places(arena, donor);
    *out = (fit){.targets = th_arena_new(arena, uint32_t, donor->joint_count),
                 .factors = th_arena_new(arena, double, donor->joint_count),
                 .units = th_arena_new(arena, double, donor->joint_count),
                 .hips = TH_NO_INDEX};
    if (th_arena_failed(arena))
        return;
    for (uint32_t c = 0; c < donor->clip_count; c++)
        for (uint32_t k = 0; k < donor->clips[c].channel_count; k++) {
            const th_channel *channel = &donor->clips[c].channels[k];
            sets[channel->joint] |= (TH_TRANSLATION | TH_ROTATION | TH_SCALE) & ~channel->filled;
        }
    find_targets(arena, base, donor, sets, out);
    for (uint32_t j = 0; j < donor->joint_count; j++)
        out->units[j] = unit_of(donor, places, j);
    find_hips(arena, base, donor, sets, base_places, places, out);

    /* Without hips sizes tell units apart, but no more, as one may have meshes and the other none. */
    const double by_size = base->size / donor->size;
    const bool known = out->length > 1e-6 * donor->size && out->base_length > 1e-6 * base->size;
    if (!known)
        out->length = out->base_length = 0;
    const double ratio = known ? out->base_length / out->length : by_size > 10 || by_size < 0.1 ? by_size : 1;
    for (uint32_t j = 0; !th_arena_failed(arena) && j < donor->joint_count; j++) {
        const uint32_t target = out->targets[j];
        out->factors[j] = target < AMBIGUOUS ? ratio * out->units[j] / unit_of(base, base_places, target) : 1;
        if (fabs(out->factors[j] - 1) <= 0.01 || !isfinite((float)out->factors[j]))
            out->factors[j] = 1;
    }
    compare_rests(arena, base, donor, sets, base_places, out);
}
