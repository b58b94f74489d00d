/* Clips of FBX: an animation stack, whose layers move properties of models and of shape channels by curves. Channels
 * get these curves, and keys at the times of the curves' keys. */
#include "clips.h"
#include "fbx.h"

#include <math.h>
#include <stdlib.h>

/* The properties that clips move. */
typedef enum part { TRANSLATION, ANGLES, SCALE, PERCENT, WEIGHT, PART_COUNT } part;

/* A property, and what its numbers are called. */
static const struct {
    const char *name, *numbers[3];
} properties[PART_COUNT] = {{"Lcl Translation", {"d|X", "d|Y", "d|Z"}},
                            {"Lcl Rotation", {"d|X", "d|Y", "d|Z"}},
                            {"Lcl Scaling", {"d|X", "d|Y", "d|Z"}},
                            {"DeformPercent", {"d|DeformPercent"}},
                            {"Weight", {"d|Weight"}}};

/* What a layer does to a property of an object. */
typedef struct motion {
    const fbx_object *target;
    uint32_t layer;
    part part;
    const fbx_object *curves; /* a curve node */
} motion;

typedef struct stack {
    const fbx *f;
    const fbx_object *object;
    fbx_span span;
    uint32_t layer_count;
    const fbx_object **layers;
    uint32_t motion_count;
    motion *motions; /* by target, layer and part */
} stack;

uint32_t count_fbx_clips(const scene *s)
{
    return s->fbx->stack_count;
}

const char *name_fbx_clip(const scene *s, uint32_t index)
{
    return s->fbx->stacks[index]->name;
}

/* ---- what is moved ---- */

static int compare_motions(const void *a, const void *b)
{
    const motion *x = a, *y = b;
    return x->target != y->target ? (x->target > y->target) - (x->target < y->target)
           : x->layer != y->layer ? (x->layer > y->layer) - (x->layer < y->layer)
                                  : (x->part > y->part) - (x->part < y->part);
}

/* Muted layers are left out, and if there are solo ones, all others. */
static void read_layers(stack *k)
{
    const fbx_links links = fbx_into(k->f, k->object);
    k->layers = make(k->f->s, const fbx_object *, (size_t)(links.end - links.first));
    bool solo = false;
    for (const fbx_link *l = links.first; l < links.end; l++)
        solo |= l->from->kind == FBX_LAYER && fbx_property(k->f, l->from, "Solo", 0) != 0;
    for (const fbx_link *l = links.first; l < links.end; l++)
        if (l->from->kind == FBX_LAYER && fbx_property(k->f, l->from, "Mute", 0) == 0 &&
            (!solo || fbx_property(k->f, l->from, "Solo", 0) != 0))
            k->layers[k->layer_count++] = l->from;
}

static void read_motions(stack *k, motion *out)
{
    k->motion_count = 0;
    for (uint32_t layer = 0; layer < k->layer_count; layer++) {
        const fbx_links moved = fbx_into(k->f, k->layers[layer]);
        for (const fbx_link *n = moved.first; n < moved.end; n++) {
            const fbx_links targets = fbx_out_of(k->f, n->from);
            for (const fbx_link *t = targets.first; t < targets.end && n->from->kind == FBX_CURVE_NODE; t++)
                for (part p = 0; p < PART_COUNT; p++) {
                    if (!is_fbx_link_to(t, properties[p].name))
                        continue;
                    if (out)
                        out[k->motion_count] = (motion){t->to, layer, p, n->from};
                    k->motion_count++;
                }
        }
    }
}

/* NULL: the layer does not move it. */
static const fbx_object *find_curves(const stack *k, const fbx_object *target, uint32_t layer, part p)
{
    const motion sought = {.target = target, .layer = layer, .part = p};
    const motion *found = bsearch(&sought, k->motions, k->motion_count, sizeof *k->motions, compare_motions);
    return found ? found->curves : NULL;
}

/* The curve of a number, or NULL. */
static const fbx_object *curve_of(const fbx *f, const fbx_object *curves, const char *number)
{
    const fbx_links links = curves && number ? fbx_into(f, curves) : (fbx_links){0};
    for (const fbx_link *l = links.first; l < links.end; l++)
        if (l->from->kind == FBX_CURVE && is_fbx_link_to(l, number))
            return l->from;
    return NULL;
}

/* Where the stack does not say how long it is: from the first key to the last. */
static fbx_span span_of_keys(const stack *k)
{
    const fbx *f = k->f;
    fbx_span span = {HUGE_VAL, -HUGE_VAL};
    for (uint32_t m = 0; m < k->motion_count; m++)
        for (int axis = 0; axis < 3; axis++) {
            const fbx_object *curve = curve_of(f, k->motions[m].curves, properties[k->motions[m].part].numbers[axis]);
            uint32_t count = 0;
            const double *times =
                curve ? read_fbx_numbers(f->s, find_fbx_record(curve->record, NULL, "KeyTime"), &count) : NULL;
            for (uint32_t i = 0; i < count; i++) {
                const double time = times[i] / f->ticks_per_second;
                if (!(fabs(time) <= LARGEST)) /* of a curve that is damaged */
                    continue;
                span.begin = fmin(span.begin, time);
                span.end = fmax(span.end, time);
            }
        }
    return span.end >= span.begin ? span : (fbx_span){0, 0};
}

static fbx_span span_of(const stack *k)
{
    static const char *const names[][2] = {{"LocalStart", "LocalStop"}, {"ReferenceStart", "ReferenceStop"}};
    for (int n = 0; n < 2; n++) {
        const fbx_span span = {fbx_property(k->f, k->object, names[n][0], 0) / k->f->ticks_per_second,
                               fbx_property(k->f, k->object, names[n][1], 0) / k->f->ticks_per_second};
        if (span.end > span.begin)
            return span;
    }
    return span_of_keys(k);
}

/* ---- curves ---- */

/* The curves of a property over the clip. still: by number, where there is no curve and the file says nothing else. */
static void read_curves(const stack *k, const fbx_object *curves, part p, double scale, const float *still,
                        th_curve *out)
{
    for (int i = 0; i < 3 && properties[p].numbers[i]; i++) {
        const double value = fbx_property(k->f, curves, properties[p].numbers[i], (double)still[i] / scale);
        out[i] = read_fbx_curve(k->f, curve_of(k->f, curves, properties[p].numbers[i]), k->span, scale, value);
        if (is_still(&out[i])) /* as most scales are */
            out[i] = (th_curve){1, out[i].times, out[i].values, NULL};
    }
}

/* How much of a layer counts: 1, where there is no key. */
static th_curve read_weight(const stack *k, uint32_t layer)
{
    const fbx_object *object = k->layers[layer], *curves = find_curves(k, object, layer, WEIGHT);
    const double percent = fbx_property(k->f, object, "Weight", 100);
    const th_curve weight =
        read_fbx_curve(k->f, curve_of(k->f, curves, properties[WEIGHT].numbers[0]), k->span, 0.01, percent);
    return weight.key_count == 1 && weight.values[0] >= 1 ? (th_curve){0} : weight;
}

/* BlendMode: 0 additive, 1 override, 2 override as far as the weight goes. The first layer has nothing below it. A
 * layer that replaces all keeps its angles, to which later ones may add angle by angle. */
static th_curve_layer read_layer(const stack *k, uint32_t layer)
{
    const fbx *f = k->f;
    const fbx_object *object = k->layers[layer];
    const double mode = fbx_property(f, object, "BlendMode", 0);
    const bool blends = layer > 0 && (mode == 0 || mode == 2);
    return (th_curve_layer){.adds = blends && mode == 0,
                            .combines_rotations = blends && fbx_property(f, object, "RotationAccumulationMode", 0) == 0,
                            .multiplies_scales = fbx_property(f, object, "ScaleAccumulationMode", 0) == 0,
                            .weight = blends ? read_weight(k, layer) : (th_curve){0}};
}

/* The layers that move some properties of an object, parts [first, end); *out_count of them. still: its numbers at
 * rest. */
static const th_curve_layer *read_object_layers(const stack *k, const fbx_object *target, part first, part end,
                                                const float *still, uint32_t *out_count)
{
    const double scales[PART_COUNT] = {k->f->metres, DEGREE, 1, 0.01, 0.01};
    th_curve_layer *layers = NULL;
    *out_count = 0;
    for (uint32_t layer = 0; layer < k->layer_count; layer++) {
        th_curve *curves = NULL;
        for (part p = first; p < end; p++) {
            const fbx_object *found = find_curves(k, target, layer, p);
            const uint32_t number = 3 * (p - first);
            if (!found)
                continue;
            curves = curves ? curves : make(k->f->s, th_curve, 3 * (end - first));
            read_curves(k, found, p, scales[p], still + number, curves + number);
        }
        if (!curves)
            continue;
        layers = layers ? layers : make(k->f->s, th_curve_layer, k->layer_count);
        layers[*out_count] = read_layer(k, layer);
        layers[(*out_count)++].curves = curves;
    }
    return layers;
}

/* ---- keys ---- */

/* What of a transform something depends on, as bits of TH_TRANSLATION and so on. Curves that are still have one key. */
static uint32_t find_moving(const th_curve_layer *layers, uint32_t count, uint32_t *has)
{
    static const uint32_t bits[3] = {TH_TRANSLATION, TH_ROTATION, TH_SCALE};
    uint32_t moving = 0;
    for (uint32_t l = 0; l < count; l++)
        for (int i = 0; i < TH_TRANSFORM_CURVES; i++) {
            const th_curve *curve = &layers[l].curves[i];
            if (curve->key_count == 0)
                continue;
            *has |= bits[i / 3];
            if (curve->key_count > 1 || (layers[l].weight.key_count > 0 && !is_still(&layers[l].weight)))
                moving |= bits[i / 3];
        }
    return moving;
}

static void add_curve_moments(moments *m, const th_curve *curve)
{
    for (uint32_t k = 0; k < curve->key_count; k++)
        add_moment(m, curve->times[k]);
}

/* Times of the keys that move a part of a transform, within the clip, and both ends. */
static moments find_moments(scene *s, const th_transform_curves *t, uint32_t parts, double duration)
{
    static const uint32_t bits[3] = {TH_TRANSLATION, TH_ROTATION, TH_SCALE};
    moments m = {.s = s};
    for (; t; t = t->scaled_by ? t->scaled_by : t->scale_from, parts = TH_SCALE)
        for (uint32_t l = 0; l < t->layer_count; l++) {
            add_curve_moments(&m, &t->layers[l].weight);
            for (int i = 0; i < TH_TRANSFORM_CURVES; i++)
                if (parts & bits[i / 3])
                    add_curve_moments(&m, &t->layers[l].curves[i]);
        }
    finish_moments(&m, 0, duration);
    return m;
}

/* A track with the transform's part at its moments; one, if it does not move. */
static th_track make_part(scene *s, const th_transform_curves *t, uint32_t bit, uint32_t parts, double duration)
{
    const moments m = parts ? find_moments(s, t, parts, duration) : (moments){.count = 1, .times = make(s, double, 1)};
    const uint32_t width = bit == TH_ROTATION ? 4 : 3;
    float *values = make(s, float, (size_t)m.count *width);
    for (uint32_t k = 0; k < m.count; k++) {
        th_trs trs;
        th_transform_curves_at(t, m.times[k], &trs);
        const double *from = bit == TH_TRANSLATION ? trs.translation : bit == TH_ROTATION ? trs.rotation : trs.scale;
        double dot = 0;
        float *to = values + (size_t)k * width;
        for (uint32_t i = 0; k > 0 && i < width; i++)
            dot += from[i] * (double)(to - width)[i];
        for (uint32_t i = 0; i < width; i++) {
            to[i] = (float)(width == 4 && dot < 0 ? -from[i] : from[i]);
            if (!isfinite(to[i]))
                give_up(TH_ERR_INPUT, "a clip moves a node to where no number reaches");
        }
    }
    return (th_track){.key_count = m.count, .times = m.times, .values = values};
}

/* ---- channels ---- */

static bool has_pivots(const th_transform_curves *t)
{
    for (int i = 0; i < 3; i++)
        if (t->rotation_pivot[i] != 0 || t->scaling_pivot[i] != 0 || t->rotation_offset[i] != 0 ||
            t->scaling_offset[i] != 0)
            return true;
    return false;
}

/* A node's transform in the clip. moving, has: see find_moving; passes: the scale that it passes on moves. */
typedef struct node_motion {
    th_transform_curves curves;
    uint32_t moving, has;
    bool passes;
} node_motion;

static void add_node_channel(clip *c, const node_motion *n, uint32_t joint, bool scaled, double duration)
{
    const th_transform_curves *t = &n->curves;
    const uint32_t all = TH_TRANSLATION | TH_ROTATION | TH_SCALE;
    /* What each part follows, and which are there. */
    uint32_t translation = n->moving & (has_pivots(t) ? all : TH_TRANSLATION), rotation = n->moving & TH_ROTATION,
             scale = (n->moving & TH_SCALE) | (n->passes ? TH_SCALE : 0),
             has = n->has | (n->has && has_pivots(t) ? TH_TRANSLATION : 0) | (n->passes ? TH_SCALE : 0);
    if (scaled) {
        translation |= TH_TRANSLATION;
        has |= TH_TRANSLATION;
    }
    has &= t->part == TH_CURVE_UNSCALED      ? (uint32_t)(TH_TRANSLATION | TH_ROTATION)
           : t->part == TH_CURVE_SCALE_ALONE ? (uint32_t)TH_SCALE
                                             : all;
    if (!has || c->taken[joint])
        return;
    th_channel *out = &c->channels[c->channel_count++];
    *out = (th_channel){.joint = joint,
                        .translation =
                            make_part(c->s, t, TH_TRANSLATION, has & TH_TRANSLATION ? translation : 0, duration),
                        .rotation = make_part(c->s, t, TH_ROTATION, has & TH_ROTATION ? rotation : 0, duration),
                        .scale = make_part(c->s, t, TH_SCALE, has & TH_SCALE ? scale : 0, duration),
                        .filled = all & ~has};
    const bool moves = out->translation.key_count > 1 || out->rotation.key_count > 1 || out->scale.key_count > 1;
    out->curves = moves ? t : NULL;
    c->taken[joint] = true;
}

static void read_channels(const stack *k, clip *c)
{
    const fbx *f = k->f;
    node_motion *all = make(f->s, node_motion, f->node_count);
    uint32_t *joint_of = make(f->s, uint32_t, f->node_count);
    for (uint32_t j = 0; j < c->s->nodes.count; j++) {
        const fbx_node *node = find_fbx_node(f, c->s->nodes.node[j]);
        if (node)
            joint_of[node - f->nodes] = j + 1;
    }
    c->channels = make(f->s, th_channel, c->s->nodes.count);
    for (uint32_t i = 0; i < f->node_count; i++) { /* parents come before their children */
        const fbx_node *node = &f->nodes[i];
        node_motion *n = &all[i];
        const node_motion *by = node->scaled_by ? &all[node->scaled_by - f->nodes] : NULL,
                          *from = node->scale_from ? &all[node->scale_from - f->nodes] : NULL;
        n->curves = node->rest;
        n->curves.scaled_by = by ? &by->curves : NULL;
        n->curves.scale_from = from ? &from->curves : NULL;
        n->curves.layers =
            read_object_layers(k, node->model, TRANSLATION, PERCENT, node->rest.numbers, &n->curves.layer_count);
        n->moving = find_moving(n->curves.layers, n->curves.layer_count, &n->has);
        n->passes = n->moving & TH_SCALE || (from && from->passes);
        if (joint_of[i] > 0)
            add_node_channel(c, n, joint_of[i] - 1, by && by->passes, c->duration);
    }
}

static void read_weights(const stack *k, clip *c)
{
    scene *s = c->s;
    for (uint32_t j = 0; j < s->nodes.count; j++)
        for (uint32_t w = 0; w < s->weights[j].count && s->weights[j].shapes; w++) {
            const fbx_shape *shape = s->weights[j].shapes[w];
            if (!shape)
                continue;
            th_weight_curves *curves = make(s, th_weight_curves, 1);
            *curves = shape->rest;
            curves->layers =
                read_object_layers(k, shape->channel, PERCENT, WEIGHT, &shape->rest.number, &curves->layer_count);
            if (curves->layer_count == 0)
                continue;
            moments m = {.s = s};
            for (uint32_t l = 0; l < curves->layer_count; l++) {
                add_curve_moments(&m, &curves->layers[l].weight);
                add_curve_moments(&m, curves->layers[l].curves);
            }
            finish_moments(&m, 0, c->duration);
            float *values = make(s, float, m.count);
            for (uint32_t i = 0; i < m.count; i++)
                values[i] = (float)th_weight_curves_at(curves, m.times[i]);
            const uint32_t weight = s->weights[j].first + w;
            c->weight_tracks[weight] =
                (th_weight_track){.weight = weight,
                                  .track = {.key_count = m.count, .times = m.times, .values = values},
                                  .curves = curves};
        }
}

void read_fbx_clip(clip *c, uint32_t index)
{
    const fbx *f = c->s->fbx;
    stack k = {.f = f, .object = f->stacks[index]};
    read_layers(&k);
    read_motions(&k, NULL);
    k.motions = make(f->s, motion, k.motion_count);
    read_motions(&k, k.motions);
    qsort(k.motions, k.motion_count, sizeof *k.motions, compare_motions);
    k.span = span_of(&k);
    c->ticks_per_second = f->frames_per_second;
    c->duration = (k.span.end - k.span.begin) * f->frames_per_second;
    read_channels(&k, c);
    read_weights(&k, c);
}
