/* Clips of Collada. Channels move numbers of the transforms whose product a node's transform is. It gets keys at all
 * keys of them, and in between wherever straight lines would be off. */
#include "clips.h"
#include "collada.h"

#include "model/bounds_proxy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICKS_PER_SECOND 1000
#define DEGREE           0.017453292519943295
#define TOLERANCE        1e-5       /* between keys: radians, or parts of the largest coordinate or scale */
#define MOST_ADDED       (4u << 20) /* keys between those of the file */

enum { MOST_HALVINGS = 14 };

/* A channel, of `count` numbers of a transform from `first` on. */
typedef struct aim {
    const xmlNode *channel;
    const sampler *sampler;
    uint32_t first, count;
    struct aim *of_transform, *of_file; /* the one before it of the same transform, which is in _private; of all */
} aim;

typedef struct collada_clips {
    uint32_t clip_count, added;
    aim *aims;       /* the last one */
    xmlNode **clips; /* an animation_clip or an animation; NULL: all animations */
    const xmlNode **by_joint;
} collada_clips;

/* ---- nodes ---- */

/* Assimp calls a node by its id or else its sid, and puts instances behind the nodes that are in the same one. */
static void match_nodes(const scene *s, const xmlNode *node, uint32_t joint)
{
    uint32_t child = joint + 1;
    s->collada->clips->by_joint[joint] = node;
    for (int instances = 0; instances < 2; instances++)
        for (const xmlNode *e = node->children; e && child < s->nodes.end[joint]; e = e->next) {
            const xmlNode *found = !is_element(e, instances ? "instance_node" : "node") ? NULL
                                   : instances ? find_id(s->collada, read_attribute(e, "url"))
                                               : e;
            const char *id = read_attribute(found, "id"), *name = *id ? id : read_attribute(found, "sid");
            if (!found || (*name && strcmp(name, s->nodes.node[child]->mName.data) != 0))
                continue;
            match_nodes(s, found, child);
            child = s->nodes.end[child];
        }
}

/* ---- channels ---- */

static uint32_t count_numbers(const xmlNode *transform)
{
    static const char *const names[] = {"translate", "scale", "rotate", "matrix"};
    static const uint32_t counts[] = {3, 3, 4, 16};
    for (int i = 0; i < 4; i++)
        if (is_element(transform, names[i]))
            return counts[i];
    return 0;
}

/* The first element of a scoped id, of which `size` bytes count. */
static xmlNode *find_sid(const xmlNode *node, const char *sid, size_t size)
{
    xmlNode *found = NULL;
    for (xmlNode *e = xmlFirstElementChild((xmlNode *)(uintptr_t)node); e && !found; e = xmlNextElementSibling(e)) {
        const char *own = read_attribute(e, "sid");
        found = size > 0 && strlen(own) == size && strncmp(own, sid, size) == 0 ? e : find_sid(e, sid, size);
    }
    return found;
}

/* What a path like id/sid/sid.X leads to, or NULL. *member: the last part from its dot or bracket on. */
static xmlNode *find_target(const scene *s, const char *path, const char **member)
{
    const char *part = path + strcspn(path, "/");
    char id[512];
    snprintf(id, sizeof id, "%.*s", (int)(part - path), path);
    xmlNode *found = find_id(s->collada, id);
    for (*member = ""; found && *part; part += strcspn(part, "/")) {
        const size_t size = strcspn(++part, "/"), stem = strcspn(part, "/.(");
        xmlNode *whole = find_sid(found, part, size);
        *member = whole ? "" : part + stem;
        found = whole ? whole : find_sid(found, part, stem);
    }
    return found;
}

/* Which number .X, .ANGLE, (1) or, in a matrix, (column)(row) is; or TH_NO_INDEX. */
static uint32_t read_member(const char *m, uint32_t count)
{
    static const char *const names[] = {".X", ".Y", ".Z", ".ANGLE"};
    const bool is_matrix = count == 16;
    for (uint32_t i = 0; i < 4 && i < count && !is_matrix; i++)
        if (strcmp(m, names[i]) == 0)
            return i;
    if (strlen(m) != (is_matrix ? 6 : 3) || m[0] != '(' || m[2] != ')' || (is_matrix && (m[3] != '(' || m[5] != ')')))
        return TH_NO_INDEX;
    const uint32_t column = (uint32_t)(unsigned char)m[1] - '0',
                   row = is_matrix ? (uint32_t)(unsigned char)m[4] - '0' : 0;
    return column < 4 && row < 4 && 4 * row + column < count ? 4 * row + column : TH_NO_INDEX;
}

static void read_channel(scene *s, const xmlNode *channel)
{
    collada_clips *k = s->collada->clips;
    const char *path = read_attribute(channel, "target"), *where = read_name(s, path), *member;
    xmlNode *transform = find_target(s, path, &member),
            *source = find_id(s->collada, read_attribute(channel, "source"));
    const bool is_node = transform && is_element(transform->parent, "node");
    const uint32_t all = is_node ? count_numbers(transform) : 0, first = *member ? read_member(member, all) : 0;
    const uint32_t count = *member ? 1 : all;
    const bool looks = is_node && is_element(transform, "lookat"), good = all > 0 && first != TH_NO_INDEX;
    warn(s, WARN_CHANNEL_LOOKAT, looks, "%s", where);
    warn(s, WARN_CHANNEL_UNAIMED, !looks && !good, "%s", where);
    if (!good)
        return;
    const sampler *m = source ? read_sampler(s, source, where) : NULL;
    warn(s, WARN_CURVE_DAMAGED, !source || (m && m->width != count), "%s", where);
    if (!m || m->width != count)
        return;
    aim *a = make(s, aim, 1);
    *a = (aim){channel, m, first, count, transform->_private, k->aims};
    k->aims = transform->_private = a;
}

static void read_channels(scene *s, xmlNode *node)
{
    for (; node; node = xmlNextElementSibling(node))
        if (is_element(node, "channel"))
            read_channel(s, node);
        else
            read_channels(s, xmlFirstElementChild(node));
}

/* The outermost animation that a channel is in. */
static const xmlNode *outermost(const aim *a)
{
    const xmlNode *e = a->channel->parent;
    while (is_element(e->parent, "animation"))
        e = e->parent;
    return e;
}

/* Whether at least half of the channels move what others of another animation do. */
static bool has_takes(const collada_clips *k)
{
    uint32_t count = 0, shared = 0;
    for (const aim *a = k->aims; a; a = a->of_file, count++) {
        const aim *b = a->of_transform;
        while (b &&
               (b->first >= a->first + a->count || a->first >= b->first + b->count || outermost(a) == outermost(b)))
            b = b->of_transform;
        shared += b != NULL;
    }
    return shared > 0 && 2 * shared >= count;
}

/* Without library_animation_clips all animations are one clip, unless they are takes. */
uint32_t count_collada_clips(scene *s)
{
    collada_clips *k = s->collada->clips = make(s, collada_clips, 1);
    const xmlNode *instance = find_inside(find_inside(s->collada->root, "scene"), "instance_visual_scene");
    const xmlNode *visual_scene = find_id(s->collada, read_attribute(instance, "url"));
    xmlNode *clips = find_inside(s->collada->animations, "library_animation_clips");
    read_channels(s, s->collada->animations);
    k->by_joint = make(s, const xmlNode *, s->nodes.count);
    if (visual_scene)
        match_nodes(s, visual_scene, 0);
    if (!clips && has_takes(k))
        clips = find_inside(s->collada->animations, "library_animations");
    k->clips = make(s, xmlNode *, clips ? xmlChildElementCount(clips) + 1 : 1);
    for (xmlNode *e = clips ? xmlFirstElementChild(clips) : NULL; e; e = xmlNextElementSibling(e))
        if (is_element(e, "animation_clip") || is_element(e, "animation"))
            k->clips[k->clip_count++] = e;
    return k->clip_count > 0 || !k->aims ? k->clip_count : 1;
}

/* Without clips the name of the only animation. */
const char *name_collada_clip(const scene *s, uint32_t index)
{
    const xmlNode *of = s->collada->clips->clips[index],
                  *library = find_inside(s->collada->animations, "library_animations"),
                  *only = find_inside(library, "animation");
    for (const xmlNode *e = only ? only->next : NULL; e && !of; e = e->next)
        only = is_element(e, "animation") ? NULL : only;
    const char *name = read_attribute(of ? of : only, "name");
    return *name ? name : of ? read_attribute(of, "id") : "animation";
}

/* ---- products ---- */

/* One transform. */
typedef struct factor {
    char kind; /* the first letter of its name */
    bool moves;
    double numbers[16]; /* where no sampler moves them */
    const sampler *of[16];
    uint32_t number[16];  /* of that sampler */
    const sampler *whole; /* of all numbers of a matrix */
} factor;

/* All of a node, in one clip. */
typedef struct product {
    scene *s;
    uint32_t count, moving; /* moving: TH_TRANSLATION and so on, of transforms that move */
    factor *factors;
    bool jumps, is_cut; /* is_cut: too few keys */
    double shear, span[2];
    uint32_t moment_count;
    double *moments; /* times of keys, in the clip's span, and its ends */
} product;

/* Whether the clip has the channel: those of one name their animations, which are marked with it. */
static bool is_in_clip(const aim *a, const xmlNode *of)
{
    const xmlNode *e = a->channel->parent;
    while (of && e && e->_private != of)
        e = e->parent;
    return e != NULL;
}

static void add_moments(product *p, const sampler *m)
{
    p->moments = realloc(p->moments, (p->moment_count + m->count + 2) * sizeof *p->moments); /* with both ends */
    if (!p->moments)
        give_up_memory();
    for (uint32_t k = 0; k < m->count; k++) {
        p->jumps |= k + 1 < m->count && (m->kinds[k] == 'S' || m->times[k] == m->times[k + 1]);
        if (m->times[k] > p->span[0] && m->times[k] < p->span[1])
            p->moments[p->moment_count++] = m->times[k];
    }
}

/* Of channels of one number the last counts. */
static void bind_channels(product *p, factor *f, const aim *last, const xmlNode *of)
{
    for (const aim *a = last; a; a = a->of_transform) {
        if (!is_in_clip(a, of))
            continue;
        bool taken = false;
        for (uint32_t i = a->first; i < a->first + a->count; i++) {
            taken |= f->of[i] != NULL;
            f->number[i] = f->of[i] ? f->number[i] : i - a->first;
            f->of[i] = f->of[i] ? f->of[i] : a->sampler;
        }
        f->moves = true;
        f->whole = a->count == 16 && !taken ? a->sampler : f->whole;
        warn(p->s, WARN_CHANNEL_REPLACED, taken, "%s", read_name(p->s, read_attribute(a->channel, "target")));
        add_moments(p, a->sampler);
    }
}

/* What a clip makes of a node, or without `span` what it is at rest. */
static product read_product(scene *s, const xmlNode *node, const xmlNode *of, const double *span)
{
    static const uint32_t bits[] = {['t'] = TH_TRANSLATION, ['r'] = TH_ROTATION, ['s'] = TH_SCALE, ['m'] = 7};
    product p = {.s = s};
    uint32_t room = 0;
    for (const xmlNode *e = node->children; e; e = e->next)
        room += count_numbers(e) > 0;
    p.factors = make(s, factor, room);
    if (span)
        memcpy(p.span, span, sizeof p.span);
    for (xmlNode *e = node->children; e; e = e->next) {
        uint32_t count = count_numbers(e);
        if (count == 0)
            continue;
        factor *f = &p.factors[p.count++];
        f->kind = (char)e->name[0];
        const double *numbers = read_numbers(s, e, count, &count);
        memcpy(f->numbers, numbers, count * sizeof *numbers);
        if (span)
            bind_channels(&p, f, e->_private, of);
        p.moving |= f->moves ? bits[(int)f->kind] : 0;
    }
    return p;
}

/* Multiplies by one transform more. What turns behind a scale that differs by axis is sheared, which no joint can be.
 */
static void append(product *p, th_trs *out, const th_trs *more)
{
    const th_dmat34 matrix = th_dmat34_from_trs(out);
    const double *scale = out->scale, *q = more->rotation;
    const bool turns = q[0] != 0 || q[1] != 0 || q[2] != 0,
               even = fabs(scale[0] - scale[1]) + fabs(scale[0] - scale[2]) <= 1e-9 * fabs(scale[0]);
    th_dmat34_point(&matrix, more->translation, out->translation);
    if (turns && even) {
        th_quat_mul(out->rotation, q, out->rotation);
    } else if (turns) {
        const th_trs turn = {.rotation = {q[0], q[1], q[2], q[3]}, .scale = {1, 1, 1}};
        const th_dmat34 sheared = th_dmat34_mul(matrix, th_dmat34_from_trs(&turn));
        th_trs split;
        p->shear = fmax(p->shear, th_dmat34_decompose_like(&sheared, scale, &split));
        memcpy(out->rotation, split.rotation, sizeof out->rotation);
        memcpy(out->scale, split.scale, sizeof out->scale);
    }
    for (int i = 0; i < 3; i++)
        out->scale[i] *= more->scale[i];
}

static void product_at(product *p, double time, bool before, th_trs *out)
{
    static const th_trs nothing = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    *out = nothing;
    for (const factor *f = p->factors; f < p->factors + p->count; f++) {
        th_trs more = nothing;
        double n[16];
        for (int i = 0; i < 16 && !f->whole; i++)
            n[i] = f->of[i] ? sampler_at(f->of[i], f->number[i], time, before) : f->numbers[i];
        const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), half = n[3] * DEGREE / 2;
        if (f->whole)
            transform_at(f->whole, time, before, &more);
        else if (f->kind == 'm')
            p->shear = fmax(p->shear, split_matrix(n, nothing.scale, &more));
        else if (f->kind == 'r' && length > 0)
            memcpy(
                more.rotation,
                (double[]){sin(half) * n[0] / length, sin(half) * n[1] / length, sin(half) * n[2] / length, cos(half)},
                sizeof more.rotation);
        else if (f->kind != 'r')
            memcpy(f->kind == 't' ? more.translation : more.scale, n, sizeof more.scale);
        append(p, out, &more);
    }
    th_quat_normalize(out->rotation);
}

/* ---- keys ---- */

/* A part of the transform: 0 translation, 1 rotation, 2 scale. */
typedef struct part {
    product *p;
    int which;
    double tolerance;
    track track;
    uint32_t room;
} part;

static void part_at(const part *t, double time, bool before, double out[4])
{
    th_trs trs;
    product_at(t->p, time, before, &trs);
    memcpy(out,
           t->which == 0   ? trs.translation
           : t->which == 1 ? trs.rotation
                           : trs.scale,
           t->track.width * sizeof *out);
}

static void add_key(part *t, double time, const double value[4])
{
    if (t->track.count == t->room) {
        t->room = 2 * t->room + 16;
        t->track.keys = realloc(t->track.keys, t->room * sizeof *t->track.keys);
        if (!t->track.keys)
            give_up_memory();
    }
    key *k = &t->track.keys[t->track.count];
    *k = (key){.time = (time - t->p->span[0]) * TICKS_PER_SECOND, .order = t->track.count++};
    for (uint32_t i = 0; i < t->track.width; i++)
        k->value[i] = (float)value[i];
}

/* Of rotations about the angle; q and -q are one. */
static double distance(const part *t, const double a[4], const double b[4])
{
    double same = 0, opposite = 0;
    for (uint32_t i = 0; i < t->track.width; i++) {
        same = fmax(same, fabs(a[i] - b[i]));
        opposite = fmax(opposite, fabs(a[i] + b[i]));
    }
    return t->which == 1 ? 2 * fmin(same, opposite) : same;
}

/* Whether a straight line between two keys is off, in the middle or where a cubic curve is most. */
static bool is_off(const part *t, const double times[2], double values[2][4])
{
    static const double places[] = {0.5, 0.21132, 0.78868};
    bool off = false;
    for (int i = 0; i < 3 && !off; i++) {
        double there[4], line[4];
        part_at(t, times[0] + (times[1] - times[0]) * places[i], false, there);
        for (int n = 0; n < 3 && t->which != 1; n++)
            line[n] = values[0][n] + (values[1][n] - values[0][n]) * places[i];
        if (t->which == 1) {
            const th_quat_arc arc = th_quat_arc_between(values[0], values[1]);
            th_quat_arc_at(&arc, places[i], line);
        }
        off = distance(t, there, line) > t->tolerance;
    }
    return off;
}

/* Adds the keys that are needed between two. */
static void halve(part *t, const double times[2], double values[2][4], int halvings)
{
    const double middle = times[0] + (times[1] - times[0]) / 2;
    uint32_t *added = &t->p->s->collada->clips->added;
    double halves[3][4];
    if (!(middle > times[0] && middle < times[1]) || !is_off(t, times, values))
        return;
    if (halvings == 0 || *added == MOST_ADDED) {
        t->p->is_cut = true;
        return;
    }
    ++*added;
    memcpy(halves[0], values[0], sizeof halves[0]);
    memcpy(halves[2], values[1], sizeof halves[2]);
    part_at(t, middle, false, halves[1]);
    halve(t, (double[]){times[0], middle}, halves, halvings - 1);
    add_key(t, middle, halves[1]);
    halve(t, (double[]){middle, times[1]}, halves + 1, halvings - 1);
}

/* One key, if the part does not change. */
static track read_part(product *p, int which)
{
    part t = {.p = p, .which = which, .tolerance = TOLERANCE, .track = {.width = which == 1 ? 4 : 3}};
    const bool straight = p->count == 1 && p->factors->whole;
    double ends[2][4], size = 0;
    for (uint32_t m = 0; m < p->moment_count && which != 1; m++)
        for (int i = 0; i < (straight ? 1 : 4); i++) { /* a curve may be 0 at all keys */
            const double next = p->moments[m + 1 < p->moment_count ? m + 1 : m];
            part_at(&t, p->moments[m] + (next - p->moments[m]) * i / 4, false, ends[0]);
            size = fmax(size, fmax(fabs(ends[0][0]), fmax(fabs(ends[0][1]), fabs(ends[0][2]))));
        }
    t.tolerance *= which == 1 ? 1 : size;
    for (uint32_t m = 0; m < p->moment_count; m++) {
        if (m > 0) {
            part_at(&t, p->moments[m], p->jumps, ends[1]);
            if (!straight)
                halve(&t, p->moments + m - 1, ends, MOST_HALVINGS);
            add_key(&t, p->moments[m], ends[1]);
            memcpy(ends[0], ends[1], sizeof ends[0]);
        }
        if (m == 0 || p->jumps)
            part_at(&t, p->moments[m], false, ends[0]);
        if (m == 0 || distance(&t, ends[0], ends[1]) > 0)
            add_key(&t, p->moments[m], ends[0]);
    }
    uint32_t same = 1;
    while (same < t.track.count &&
           memcmp(t.track.keys[same].value, t.track.keys->value, sizeof t.track.keys->value) == 0)
        same++;
    t.track.count = same == t.track.count ? 1 : t.track.count;
    return t.track;
}

/* ---- clips ---- */

static void read_joint(clip *c, uint32_t joint, const xmlNode *of, const double span[2])
{
    static const uint32_t bits[3] = {TH_TRANSLATION, TH_ROTATION, TH_SCALE};
    scene *s = c->s;
    const xmlNode *node = s->collada->clips->by_joint[joint];
    product p = read_product(s, node, of, span), rest = read_product(s, node, NULL, NULL);
    const char *where = make_string(s, "clip %s, node %s", c->name, s->model->joints[joint].name);
    const bool looks = find_inside(node, "lookat");
    warn(s, WARN_CHANNEL_LOOKAT, looks && p.moving, "%s", where);
    if (!p.moving || looks)
        return;
    p.moments[p.moment_count++] = span[0];
    p.moments[p.moment_count++] = span[1];
    qsort(p.moments, p.moment_count, sizeof *p.moments, th_compare_doubles);
    uint32_t once = 1;
    for (uint32_t m = 1; m < p.moment_count; m++)
        if (p.moments[m] > p.moments[once - 1])
            p.moments[once++] = p.moments[m];
    p.moment_count = once;
    track parts[3];
    th_trs still;
    product_at(&rest, 0, false, &still);
    for (int i = 0; i < 3; i++) {
        parts[i] = read_part(&p, i);
        if (parts[i].count == 1 && !(p.moving & bits[i]))
            parts[i].count = 0;
    }
    free(p.moments);
    warn(s, WARN_CLIP_SHEARED, p.shear > 1e-4, "%s", where);
    warn(s, WARN_CURVE_CUT, p.is_cut, "%s", where);
    add_channel(c, joint, parts, &still);
}

/* Without a span a clip is from its first key before 0, or 0, to its last. */
void read_collada_clip(clip *c, uint32_t index)
{
    scene *s = c->s;
    const collada_clips *k = s->collada->clips;
    xmlNode *of = k->clips[index];
    const char *start = read_attribute(of, "start"), *end = read_attribute(of, "end");
    double span[2] = {0, -HUGE_VAL};
    if (of && is_element(of, "animation"))
        of->_private = of;
    for (xmlNode *e = of ? of->children : NULL; e; e = e->next) {
        const bool names = is_element(e, "instance_animation");
        xmlNode *found = names ? find_id(s->collada, read_attribute(e, "url")) : NULL,
                *animation = found && is_element(found, "animation") ? found : NULL;
        warn(s, WARN_CLIP_PART, names && !animation, "clip %s", c->name);
        if (animation)
            animation->_private = of;
    }
    for (const aim *a = k->aims; a; a = a->of_file)
        if (is_in_clip(a, of)) {
            span[0] = fmin(span[0], a->sampler->times[0]);
            span[1] = fmax(span[1], a->sampler->times[a->sampler->count - 1]);
        }
    span[0] = *start && isfinite(strtod(start, NULL)) ? strtod(start, NULL) : span[0];
    span[1] = fmax(span[0], *end && isfinite(strtod(end, NULL)) ? strtod(end, NULL) : span[1]);
    c->ticks_per_second = TICKS_PER_SECOND;
    c->duration = (span[1] - span[0]) * TICKS_PER_SECOND;
    c->channels = make(s, th_channel, s->nodes.count);
    for (uint32_t j = 0; j < s->nodes.count; j++)
        if (k->by_joint[j])
            read_joint(c, j, of, span);
}
