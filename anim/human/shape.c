/* Distances and weights: implicit modelling with soft tubes (J. Bloomenthal, Introduction to Implicit Surfaces, 1997).
 * The tubes of a part are joined with I. Quilez's quadratic smooth minimum, so that shoulders, crotch and finger webs
 * need no special treatment. The same blend gives the skin weights. */
#include "parts.h"

#include <assert.h>
#include <string.h>

#define MAX_TUBES 8 /* of a part */

/* ---- distance ---- */

static th_human_station station_slope(const th_human_tube *t, uint32_t i)
{
    const th_human_station *a = &t->stations[i > 0 ? i - 1 : i],
                           *b = &t->stations[i + 1 < t->station_count ? i + 1 : i];
    double per_metre = 1 / dot(sub(b->centre, a->centre), t->axis);
    return (th_human_station){scale(sub(b->centre, a->centre), per_metre), (b->width - a->width) * per_metre,
                              (b->depth - a->depth) * per_metre, (b->slack - a->slack) * per_metre};
}

/* The cross-section at the point of the tube closest to `along`. Slopes are finite differences, which makes the surface
 * smooth across stations. */
static th_human_station section_at(const th_human_tube *t, double along)
{
    assert(t->station_count > 0);
    const th_human_station *s = t->stations, *last = s + t->station_count - 1;
    if (along <= dot(s->centre, t->axis))
        return *s;
    if (along >= dot(last->centre, t->axis))
        return *last;
    while (along > dot(s[1].centre, t->axis))
        s++;

    uint32_t i = (uint32_t)(s - t->stations);
    th_human_station a = s[0], b = s[1], da = station_slope(t, i), db = station_slope(t, i + 1);
    double width = dot(sub(b.centre, a.centre), t->axis), at = (along - dot(a.centre, t->axis)) / width;
    return (th_human_station){{hermite(a.centre.x, b.centre.x, da.centre.x, db.centre.x, width, at),
                               hermite(a.centre.y, b.centre.y, da.centre.y, db.centre.y, width, at),
                               hermite(a.centre.z, b.centre.z, da.centre.z, db.centre.z, width, at)},
                              hermite(a.width, b.width, da.width, db.width, width, at),
                              hermite(a.depth, b.depth, da.depth, db.depth, width, at),
                              hermite(a.slack, b.slack, da.slack, db.slack, width, at)};
}

/* First-order distance to an ellipsoid. The third axis counts only beyond the ends of the tube. */
static double tube_distance(const th_human_tube *t, vec3 point)
{
    th_human_station s = section_at(t, dot(point, t->axis));
    vec3 from_centre = sub(point, s.centre), radius = {s.width, s.depth, t->cap};
    vec3 r = {dot(from_centre, t->side) / radius.x, dot(from_centre, cross(t->axis, t->side)) / radius.y,
              dot(from_centre, t->axis) / radius.z};
    double round = length(r);
    double steepness = length((vec3){r.x / radius.x, r.y / radius.y, r.z / radius.z});
    if (steepness < 1e-9)
        return -fmin(radius.x, radius.y);
    double box = sqrt(sqrt(r.x * r.x * r.x * r.x + r.y * r.y * r.y * r.y + r.z * r.z * r.z * r.z));
    return (round + t->boxiness * (box - round) - 1) * round / steepness;
}

static double smooth_min(double a, double b, double width)
{
    double overlap = fmax(width - fabs(a - b), 0);
    return fmin(a, b) - overlap * overlap / (4 * width);
}

double th_human_part_distance(const th_human_part *part, vec3 point)
{
    assert(part->tube_count > 0 && !part->tubes[0].carve);
    if (!part->pair)
        point.x = fabs(point.x);
    double distance = tube_distance(&part->tubes[0], point);
    for (uint32_t i = 1; i < part->tube_count; i++) {
        const th_human_tube *t = &part->tubes[i];
        double d = tube_distance(t, point);
        distance = t->carve ? -smooth_min(-distance, d, t->blend) : smooth_min(distance, d, t->blend);
    }
    return distance;
}

/* ---- weights ---- */

static void add_chain_weights(const th_human_chain *c, vec3 point, bool right, double share, double weights[J_COUNT])
{
    double reached = 1; /* the part of the weight that belongs to this link or a later one */
    for (uint32_t i = 0; c->links[i].joint != J_NONE; i++) {
        uint32_t joint = c->links[i].joint, next = c->links[i + 1].joint;
        double beyond = 0;
        if (next != J_NONE) {
            double soft = c->links[i + 1].soft;
            beyond = smoothstep(-soft, soft, dot(sub(point, th_human_joint_position(next)), c->axis));
        }
        weights[right ? mirror_joint(joint) : joint] += share * reached * (1 - beyond);
        reached *= beyond;
    }
}

/* How much each tube counts at a point, by how near it is; the sum is 1. */
static void find_shares(const th_human_part *part, vec3 point, double shares[MAX_TUBES])
{
    assert(part->tube_count <= MAX_TUBES);
    double total = 0, nearest = HUGE_VAL;
    for (uint32_t i = 0; i < part->tube_count; i++) {
        shares[i] = tube_distance(&part->tubes[i], point);
        if (!part->tubes[i].carve)
            nearest = fmin(nearest, shares[i]);
    }
    for (uint32_t i = 0; i < part->tube_count; i++) {
        double closeness = fmax(1 - (shares[i] - nearest) / (1.5 * part->tubes[i].blend), 0);
        shares[i] = part->tubes[i].carve ? 0 : closeness * closeness;
        total += shares[i];
    }
    for (uint32_t i = 0; i < part->tube_count; i++)
        shares[i] /= total;
}

static void add_side_weights(const th_human_part *part, vec3 point, bool right, double share, double weights[J_COUNT])
{
    double shares[MAX_TUBES];
    find_shares(part, point, shares);
    for (uint32_t i = 0; i < part->tube_count; i++)
        if (shares[i] > 0)
            add_chain_weights(&th_human_chains[part->tubes[i].chain], point, right, share * shares[i], weights);
}

/* Near the midline both sides contribute, so that both legs move the seat of the trousers equally. */
void th_human_part_weights(const th_human_part *part, vec3 point, double out_weights[J_COUNT])
{
    const double midline = part->midline;
    memset(out_weights, 0, J_COUNT * sizeof *out_weights);
    double left = part->pair ? 1 : smoothstep(-midline, midline, point.x);
    if (left > 0)
        add_side_weights(part, point, false, left, out_weights);
    point.x = -point.x;
    if (left < 1)
        add_side_weights(part, point, true, 1 - left, out_weights);
}

double th_human_part_slack(const th_human_part *part, vec3 point)
{
    double shares[MAX_TUBES], slack = 0;
    if (!part->pair)
        point.x = fabs(point.x);
    find_shares(part, point, shares);
    for (uint32_t i = 0; i < part->tube_count; i++)
        slack += shares[i] * fmax(section_at(&part->tubes[i], dot(point, part->tubes[i].axis)).slack, 0);
    return slack;
}
