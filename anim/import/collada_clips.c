/* Clips of Collada. Channels move numbers of the transforms whose product a node's transform is. It gets keys at all
 * keys of them, and in between wherever straight lines would be off. */
#include "clips.h"
#include "collada.h"

#include <anim/curves.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICKS_PER_SECOND 1000
#define TOLERANCE        1e-5       /* between keys: radians, or parts of the largest coordinate or scale */
#define MOST_ADDED       (4u << 20) /* keys between those of the file */

#define ALMOST_ZERO 1e-50 /* for a scale of 0, which would lose the rotation; as a float, 0 */

enum { MOST_HALVINGS = 14 };

/* A channel, of `count` numbers of a transform from `first` on. */
typedef struct aim {
    const xmlNode *channel;
    const th_curve *curves; /* by number; of a matrix as read_sampler has them */
    uint32_t first, count;
    bool is_played;                     /* by a clip so far */
    struct aim *of_transform, *of_file; /* the one before it of the same transform, which is in _private; of all */
} aim;

typedef struct collada_clips {
    uint32_t clip_count, added;
    aim *aims;       /* the last one */
    xmlNode **clips; /* an animation_clip or an animation; NULL: all animations */
    xmlNode **by_joint;
} collada_clips;

/* ---- nodes ---- */

/* Assimp calls a node by its id or else its sid, and puts instances behind the nodes that are in the same one. */
static void match_nodes(const scene *s, xmlNode *node, uint32_t joint)
{
    uint32_t child = joint + 1;
    s->collada->clips->by_joint[joint] = node;
    for (int instances = 0; instances < 2; instances++)
        for (xmlNode *e = node->children; e && child < s->nodes.end[joint]; e = e->next) {
            xmlNode *found = !is_element(e, instances ? "instance_node" : "node") ? NULL
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
    return is_element(transform, "translate") || is_element(transform, "scale") ? 3
           : is_element(transform, "rotate")                                    ? 4
           : is_element(transform, "matrix")                                    ? 16
                                                                                : 0;
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
static xmlNode *find_target(scene *s, const char *path, const char **member)
{
    const char *part = path + strcspn(path, "/");
    xmlNode *found = find_id(s->collada, make_string(s, "%.*s", (int)(part - path), path));
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
    uint32_t column = 0, row = 0;
    int end = 0;
    const int indices = sscanf(m, "(%1u)%n(%1u)%n", &column, &end, &row, &end);
    for (uint32_t i = 0; i < count && count <= 4; i++)
        if (strcmp(m, names[i]) == 0)
            return i;
    const bool good = indices == (count == 16 ? 2 : 1) && m[end] == '\0' && column < 4 && 4 * row + column < count;
    return good ? 4 * row + column : TH_NO_INDEX;
}

static void read_channel(scene *s, xmlNode *channel)
{
    if (!is_element(channel, "channel"))
        return;
    collada_clips *k = s->collada->clips;
    const char *path = read_attribute(channel, "target"), *where = read_name(s, path), *member;
    xmlNode *transform = find_target(s, path, &member),
            *source = find_id(s->collada, read_attribute(channel, "source"));
    const bool is_node = transform && is_element(transform->parent, "node"),
               looks = is_node && find_inside(transform->parent, "lookat");
    const uint32_t all = is_node && !looks ? count_numbers(transform) : 0,
                   first = *member ? read_member(member, all) : 0, count = *member ? 1 : all;
    const bool good = all > 0 && first != TH_NO_INDEX;
    warn(s, WARN_CHANNEL_LOOKAT, looks, "%s", where);
    warn(s, WARN_CHANNEL_UNAIMED, !looks && !good, "%s", where);
    if (!good)
        return;
    uint32_t width = 0;
    const th_curve *curves = source ? read_sampler(s, source, where, &width) : NULL;
    warn(s, WARN_CURVE_DAMAGED, !source || (curves && width != count), "%s", where);
    if (!curves || width != count)
        return;
    aim *a = make(s, aim, 1);
    *a = (aim){channel, curves, first, count, false, transform->_private, k->aims};
    k->aims = transform->_private = a;
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
    xmlNode *named = find_id(s->collada, read_attribute(instance, "url")),
            *only = find_inside(find_inside(s->collada->root, "library_visual_scenes"), "visual_scene"),
            *visual_scene = named ? named : only; /* Assimp finds one without an id, too */
    xmlNode *clips = find_inside(s->collada->animations, "library_animation_clips");
    walk(s, s->collada->animations, read_channel);
    k->by_joint = make(s, xmlNode *, s->nodes.count);
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
    const xmlNode *of = s->collada->clips->clips[index], *named = of;
    xmlNode *library = find_inside(s->collada->animations, "library_animations");
    if (!of && xmlChildElementCount(library) == 1)
        named = find_inside(library, "animation");
    const char *name = read_attribute(named, "name");
    return *name ? name : of ? read_attribute(of, "id") : "animation";
}

/* ---- products ---- */

/* One transform. */
typedef struct factor {
    char kind;                  /* the first letter of its name; M: a matrix that moves as a whole */
    double numbers[16];         /* where no channel moves them */
    const th_curve *curves[16]; /* by number; of M the ten of th_trs */
} factor;

typedef struct pose {
    double time;
    th_trs trs;
} pose;

/* What a clip makes of a node. */
typedef struct product {
    scene *s;
    uint32_t count, moving; /* moving: TH_TRANSLATION and so on, of transforms that move */
    factor *factors;
    moments moments;          /* the times of its keys */
    double shear, largest[2]; /* so far; largest: coordinate and scale */
    bool is_cut;              /* too few keys */
} product;

/* Whether the clip has the channel: those of one name their animations, which are marked with it. */
static bool is_in_clip(const aim *a, const xmlNode *of)
{
    const xmlNode *e = a->channel->parent;
    while (of && e && e->_private != of)
        e = e->parent;
    return e != NULL;
}

/* Gives a transform the curves of a channel, unless a later one has moved some of its numbers. */
static void bind(product *p, factor *f, const aim *a)
{
    static const uint32_t parts[] = {['t'] = TH_TRANSLATION, ['r'] = TH_ROTATION, ['s'] = TH_SCALE, ['m'] = 7};
    bool taken = f->kind == 'M';
    for (uint32_t i = a->first; i < a->first + a->count; i++)
        taken |= f->curves[i] != NULL;
    warn(p->s, WARN_CHANNEL_REPLACED, taken, "%s", read_name(p->s, read_attribute(a->channel, "target")));
    if (taken)
        return;
    p->moving |= parts[(int)f->kind];
    f->kind = a->count == 16 ? 'M' : f->kind;
    for (uint32_t i = 0; i < (f->kind == 'M' ? 10 : a->count); i++)
        f->curves[a->first + i] = &a->curves[i];
    for (uint32_t k = 0; k < a->curves->key_count; k++) {
        if (k > 0 && a->curves->pieces[k - 1].holds) /* the value before the jump */
            add_moment(&p->moments, nextafter(a->curves->times[k], -HUGE_VAL));
        add_moment(&p->moments, a->curves->times[k]);
    }
}

static product read_product(scene *s, xmlNode *node, const xmlNode *of)
{
    product p = {.s = s, .factors = make(s, factor, xmlChildElementCount(node)), .moments = {.s = s}};
    for (xmlNode *e = node->children; e; e = e->next) {
        uint32_t count = count_numbers(e);
        if (count == 0)
            continue;
        factor *f = &p.factors[p.count++];
        f->kind = (char)e->name[0];
        const double *numbers = read_numbers(s, e, count, &count);
        memcpy(f->numbers, numbers, count * sizeof *numbers);
        for (const aim *a = e->_private; a; a = a->of_transform)
            if (is_in_clip(a, of))
                bind(&p, f, a);
    }
    return p;
}

/* The transform at a time. signs: becomes what its scale has. */
static th_dmat34 factor_at(const factor *f, double time, double signs[3])
{
    th_trs trs = TH_TRS_IDENTITY;
    th_dmat34 matrix;
    double n[16];
    for (int i = 0; i < 16; i++)
        n[i] = f->curves[i] ? th_curve_at(f->curves[i], time) : f->numbers[i];
    if (f->kind == 'm') {
        memcpy(matrix.m, n, sizeof matrix.m);
        return matrix;
    }
    if (f->kind == 'r') {
        const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), half = n[3] * DEGREE / 2,
                     turn = length > 0 ? sin(half) / length : 0;
        memcpy(trs.rotation, (double[]){turn * n[0], turn * n[1], turn * n[2], cos(half)}, sizeof trs.rotation);
    } else if (f->kind == 'M') {
        memcpy(&trs, n, sizeof trs);
    } else {
        memcpy(f->kind == 's' ? trs.scale : trs.translation, n, sizeof trs.scale);
    }
    for (int i = 0; i < 3; i++) {
        trs.scale[i] = trs.scale[i] == 0 ? ALMOST_ZERO : trs.scale[i];
        signs[i] *= trs.scale[i];
    }
    return th_dmat34_from_trs(&trs);
}

static pose pose_at(product *p, double time)
{
    th_dmat34 matrix = TH_DMAT34_IDENTITY;
    double signs[3] = {1, 1, 1};
    pose out = {.time = time};
    for (uint32_t f = 0; f < p->count; f++)
        matrix = th_dmat34_mul(matrix, factor_at(&p->factors[f], time, signs));
    p->shear = fmax(p->shear, th_dmat34_decompose_like(&matrix, signs, &out.trs));
    for (int i = 0; i < 3; i++) {
        p->largest[0] = fmax(p->largest[0], fabs(out.trs.translation[i]));
        p->largest[1] = fmax(p->largest[1], fabs(out.trs.scale[i]));
    }
    return out;
}

/* ---- keys ---- */

/* Whether the straight way between two poses is off, at a part t of it. */
static bool is_off(product *p, const pose *a, const pose *b, double t)
{
    const th_trs there = pose_at(p, a->time + (b->time - a->time) * t).trs;
    const th_quat_arc arc = th_quat_arc_between(a->trs.rotation, b->trs.rotation);
    double turn[4];
    th_quat_arc_at(&arc, t, turn);
    bool off = 2 * th_quat_arc_between(there.rotation, turn).angle > TOLERANCE;
    for (int i = 0; i < 3; i++) {
        const double translation = (1 - t) * a->trs.translation[i] + t * b->trs.translation[i],
                     scale = (1 - t) * a->trs.scale[i] + t * b->trs.scale[i];
        off |= fabs(there.translation[i] - translation) > TOLERANCE * p->largest[0] ||
               fabs(there.scale[i] - scale) > TOLERANCE * p->largest[1];
    }
    return off;
}

/* Adds the moments that are needed between two: where the middle is off, or where a cubic curve is most. */
static void halve(product *p, const pose *a, const pose *b, int halvings)
{
    uint32_t *added = &p->s->collada->clips->added;
    const double middle = a->time + (b->time - a->time) / 2;
    if (!(middle > a->time && middle < b->time) ||
        !(is_off(p, a, b, 0.5) || is_off(p, a, b, 0.21132) || is_off(p, a, b, 0.78868)))
        return;
    if (halvings == 0 || *added == MOST_ADDED) {
        p->is_cut = true;
        return;
    }
    ++*added;
    add_moment(&p->moments, middle);
    const pose between = pose_at(p, middle);
    halve(p, a, &between, halvings - 1);
    halve(p, &between, b, halvings - 1);
}

static const pose *read_poses(product *p)
{
    pose *poses = make(p->s, pose, p->moments.count);
    for (uint32_t k = 0; k < p->moments.count; k++)
        poses[k] = pose_at(p, p->moments.times[k]);
    return poses;
}

/* A part of the transform, which begins with the number `first`. One key, if it does not change; none, if nothing moves
 * it, and it is as at rest. */
static track read_part(const product *p, const pose *poses, uint32_t part, uint32_t first, uint32_t width)
{
    const double *times = p->moments.times;
    track t = make_track(width, p->moments.count);
    bool moves = false;
    for (uint32_t k = 0; k < t.count; k++) {
        const double *numbers = (const double *)&poses[k].trs + first;
        const bool jumps = k + 1 < t.count && nextafter(times[k], HUGE_VAL) == times[k + 1];
        t.keys[k] = (key){.time = (times[k + jumps] - times[0]) * TICKS_PER_SECOND, .order = k};
        for (uint32_t i = 0; i < width; i++) {
            t.keys[k].value[i] = (float)numbers[i];
            moves |= t.keys[k].value[i] != t.keys->value[i];
        }
    }
    t.count = moves ? t.count : 1;
    if (t.count == 1 && !(p->moving & part))
        t.count = 0;
    return t;
}

/* ---- clips ---- */

static void read_joint(clip *c, uint32_t joint, const xmlNode *of, const double span[2])
{
    const char *where = make_string(c->s, "clip %s, node %s", c->name, c->s->model->joints[joint].name);
    product p = read_product(c->s, c->s->collada->clips->by_joint[joint], of);
    if (!p.moving)
        return;
    finish_moments(&p.moments, span[0], span[1]);
    const pose *poses = read_poses(&p);
    for (uint32_t k = 1, end = p.moments.count; k < end && !(p.count == 1 && p.factors->kind == 'M'); k++)
        halve(&p, &poses[k - 1], &poses[k], MOST_HALVINGS);
    finish_moments(&p.moments, span[0], span[1]);
    poses = read_poses(&p);
    track parts[3] = {read_part(&p, poses, TH_TRANSLATION, 0, 3), read_part(&p, poses, TH_ROTATION, 3, 4),
                      read_part(&p, poses, TH_SCALE, 7, 3)};
    warn(c->s, WARN_CLIP_SHEARED, p.shear > 1e-4, "%s", where);
    warn(c->s, WARN_CURVE_CUT, p.is_cut, "%s", where);
    add_channel(c, joint, parts, &poses->trs);
}

/* A time that a clip states, in seconds. */
static double read_time(const xmlNode *of, const char *name, double otherwise)
{
    const char *text = read_attribute(of, name);
    const double time = strtod(text, NULL);
    return *text && isfinite(time) ? time : otherwise;
}

/* Marks the animations of a clip with it. */
static void mark_animations(scene *s, xmlNode *of, const char *name)
{
    if (is_element(of, "animation"))
        of->_private = of;
    for (xmlNode *e = of->children; e; e = e->next) {
        if (!is_element(e, "instance_animation"))
            continue;
        xmlNode *animation = find_id(s->collada, read_attribute(e, "url"));
        const bool found = animation && is_element(animation, "animation");
        warn(s, WARN_CLIP_PART, !found, "clip %s", name);
        if (found)
            animation->_private = of;
    }
}

/* Without a span a clip is from its first key before 0, or 0, to its last. */
void read_collada_clip(clip *c, uint32_t index)
{
    scene *s = c->s;
    const collada_clips *k = s->collada->clips;
    xmlNode *of = k->clips[index];
    double span[2] = {0, -HUGE_VAL};
    if (of)
        mark_animations(s, of, c->name);
    for (aim *a = k->aims; a; a = a->of_file) {
        const bool plays = is_in_clip(a, of);
        a->is_played |= plays;
        warn(s, WARN_CHANNEL_CLIPLESS, index + 1 == k->clip_count && !a->is_played, "%s",
             read_name(s, read_attribute(a->channel, "target")));
        span[0] = plays ? fmin(span[0], a->curves->times[0]) : span[0];
        span[1] = plays ? fmax(span[1], a->curves->times[a->curves->key_count - 1]) : span[1];
    }
    span[0] = read_time(of, "start", span[0]);
    span[1] = fmax(span[0], read_time(of, "end", span[1]));
    c->ticks_per_second = TICKS_PER_SECOND;
    c->duration = (span[1] - span[0]) * TICKS_PER_SECOND;
    c->channels = make(s, th_channel, s->nodes.count);
    for (uint32_t j = 0; j < s->nodes.count; j++)
        if (k->by_joint[j])
            read_joint(c, j, of, span);
}
