#include <throng/anim/exact.h>
#include <throng/anim/layer.h>

#include <assert.h>
#include <string.h>

static const char *const MODES[] = {"override", "add", "add-rest"};
_Static_assert(sizeof MODES / sizeof *MODES == TH_LAYER_MODE_COUNT, "a name for each mode");

const char *th_layer_mode_name(th_layer_mode mode)
{
    assert((unsigned)mode < TH_LAYER_MODE_COUNT);
    return MODES[mode];
}

void th_mask_from_joint(const th_model *model, uint32_t joint, float *weights)
{
    assert(model && weights && joint < model->joint_count);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const uint32_t parent = model->joints[j].parent;
        weights[j] = j == joint || (j > joint && parent != TH_NO_INDEX && weights[parent] > 0) ? 1 : 0;
    }
}

static const th_clip *clip_of(const th_model *model, const th_layer *layer)
{
    assert(layer->clip == TH_REST_CLIP || layer->clip < model->clip_count);
    return layer->clip == TH_REST_CLIP ? NULL : &model->clips[layer->clip];
}

/* channel: of the same joint, whose signs of scales the rest transform gets; NULL: any signs. */
static th_trs rest_of(const th_model *model, uint32_t joint, const th_channel *channel)
{
    static const float positive[3] = {1, 1, 1};
    const float *signs = channel ? channel->scale.values : positive;
    const double like[3] = {(double)signs[0], (double)signs[1], (double)signs[2]};
    const th_dmat34 matrix = th_dmat34_from(model->joints[joint].rest);
    th_trs rest;
    th_dmat34_decompose_like(&matrix, like, &rest);
    return rest;
}

static bool has_zero(const double scale[3])
{
    return scale[0] == 0 || scale[1] == 0 || scale[2] == 0;
}

const char *th_layer_add_obstacle(const th_model *model, uint32_t clip, th_layer_mode mode)
{
    assert(model && clip < model->clip_count && (mode == TH_LAYER_ADD || mode == TH_LAYER_ADD_REST));
    const th_clip *c = &model->clips[clip];
    for (uint32_t i = 0; i < c->channel_count; i++) {
        th_trs start = rest_of(model, c->channels[i].joint, &c->channels[i]);
        if (mode == TH_LAYER_ADD)
            th_exact_channel(&c->channels[i], 0, TH_INTERPOLATION_AUTHORED, &start);
        if (has_zero(start.scale))
            return model->joints[c->channels[i].joint].name;
    }
    return NULL;
}

/* The channels of the layers' clips, which are ascending by joint, as far as they have been read. */
typedef struct reader {
    const th_model *model;
    const th_layer *layers;
    uint32_t count;
    th_interpolation interpolation;
    const th_channel *next[TH_MAX_LAYERS], *end[TH_MAX_LAYERS];
} reader;

static reader reader_of(const th_model *model, const th_layer *layers, uint32_t count, th_interpolation interpolation)
{
    reader r = {model, layers, count, interpolation, {0}, {0}};
    for (uint32_t i = 0; i < count; i++) {
        const th_clip *clip = clip_of(model, &layers[i]);
        r.next[i] = clip ? clip->channels : NULL;
        r.end[i] = clip ? clip->channels + clip->channel_count : NULL;
    }
    return r;
}

/* Reads the channels of a joint by layer. Returns one of them; NULL: no layer has any. */
static const th_channel *read_channels(reader *r, uint32_t joint, const th_channel *out[TH_MAX_LAYERS])
{
    const th_channel *any = NULL;
    for (uint32_t i = r->count; i-- > 0;) {
        out[i] = r->next[i] != r->end[i] && r->next[i]->joint == joint ? r->next[i]++ : NULL;
        any = out[i] ? out[i] : any;
    }
    return any;
}

/* A joint's transform in a layer. */
static th_trs transform_of(const reader *r, uint32_t layer, const th_channel *channel, const th_trs *rest, double ratio)
{
    th_trs out = *rest;
    const th_clip *clip = clip_of(r->model, &r->layers[layer]);
    if (channel)
        th_exact_channel(channel, ratio * clip->duration_ticks, r->interpolation, &out);
    th_quat_normalize(out.rotation);
    return out;
}

static double dot4(const double a[4], const double b[4])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

static void blend_transform(const th_trs *layer, double weight, th_trs *sum, double *total)
{
    const double sign = dot4(layer->rotation, sum->rotation) < 0 ? -1 : 1;
    for (int i = 0; i < 4; i++)
        sum->rotation[i] += weight * sign * layer->rotation[i];
    for (int i = 0; i < 3; i++) {
        sum->translation[i] += weight * layer->translation[i];
        sum->scale[i] += weight * layer->scale[i];
    }
    *total += weight;
}

static void add_transform(const th_trs *layer, const th_trs *start, double weight, th_trs *sum)
{
    const double *r = start->rotation, back[4] = {-r[0], -r[1], -r[2], r[3]};
    double d[4];
    th_quat_mul(back, layer->rotation, d);
    const double factor = d[3] < 0 ? -weight : weight;
    for (int i = 0; i < 4; i++)
        d[i] = factor * d[i] + (i == 3 ? 1 - weight : 0);
    th_quat_mul(sum->rotation, d, sum->rotation);
    th_quat_normalize(sum->rotation);
    for (int i = 0; i < 3; i++) {
        sum->translation[i] += weight * (layer->translation[i] - start->translation[i]);
        sum->scale[i] *= 1 + weight * (layer->scale[i] / start->scale[i] - 1);
    }
}

static double weight_of(const th_layer *layer, const th_mask *masks, uint32_t joint)
{
    return (double)layer->weight * (layer->mask == TH_NO_MASK ? 1 : (double)masks[layer->mask].weights[joint]);
}

static th_trs blend_joint(const reader *r, const th_mask *masks, uint32_t joint, const th_trs rest,
                          const th_channel *const *channels)
{
    th_trs sum = {0};
    double total = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const th_trs trs = transform_of(r, i, channels[i], &rest, r->layers[i].ratio);
        if (r->layers[i].mode == TH_LAYER_OVERRIDE)
            blend_transform(&trs, weight_of(&r->layers[i], masks, joint), &sum, &total);
    }
    if (total < (double)TH_REST_WEIGHT)
        blend_transform(&rest, (double)TH_REST_WEIGHT - total, &sum, &total);
    th_quat_normalize(sum.rotation);
    for (int i = 0; i < 3; i++) {
        sum.translation[i] /= total;
        sum.scale[i] /= total;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->layers[i].mode == TH_LAYER_OVERRIDE)
            continue;
        const th_trs trs = transform_of(r, i, channels[i], &rest, r->layers[i].ratio);
        const th_trs start = transform_of(r, i, r->layers[i].mode == TH_LAYER_ADD ? channels[i] : NULL, &rest, 0);
        add_transform(&trs, &start, weight_of(&r->layers[i], masks, joint), &sum);
    }
    return sum;
}

static const th_weight_track *track_of(const th_clip *clip, uint32_t weight)
{
    for (uint32_t t = 0; clip && t < clip->weight_track_count; t++)
        if (clip->weight_tracks[t].weight == weight)
            return &clip->weight_tracks[t];
    return NULL;
}

static double morph_weight(const reader *r, uint32_t layer, uint32_t weight, double ratio)
{
    const th_clip *clip = clip_of(r->model, &r->layers[layer]);
    const th_weight_track *track = track_of(clip, weight);
    if (!track)
        return (double)r->model->weights[weight].rest;
    return th_exact_weight(track, ratio * clip->duration_ticks, r->interpolation);
}

static double blend_morph_weight(const reader *r, uint32_t weight)
{
    const double rest = (double)r->model->weights[weight].rest;
    double sum = 0, total = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const double w = r->layers[i].mode == TH_LAYER_OVERRIDE ? (double)r->layers[i].weight : 0;
        sum += w * morph_weight(r, i, weight, r->layers[i].ratio);
        total += w;
    }
    if (total < (double)TH_REST_WEIGHT) {
        sum += ((double)TH_REST_WEIGHT - total) * rest;
        total = (double)TH_REST_WEIGHT;
    }
    sum /= total;
    for (uint32_t i = 0; i < r->count; i++) {
        const th_layer *layer = &r->layers[i];
        const double start = layer->mode == TH_LAYER_ADD ? morph_weight(r, i, weight, 0) : rest;
        if (layer->mode != TH_LAYER_OVERRIDE)
            sum += (double)layer->weight * (morph_weight(r, i, weight, layer->ratio) - start);
    }
    return sum;
}

void th_exact_layers(const th_model *model, const th_layer *layers, uint32_t count, const th_mask *masks,
                     th_interpolation interpolation, th_dmat34 *out_local, double *out_weights)
{
    assert(model && (layers || count == 0) && count <= TH_MAX_LAYERS && out_local);
    assert(out_weights || model->weight_count == 0);
    reader r = reader_of(model, layers, count, interpolation);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const th_channel *channels[TH_MAX_LAYERS];
        out_local[j] = th_dmat34_from(model->joints[j].rest); /* which may be sheared */
        const th_channel *any = read_channels(&r, j, channels);
        if (any) {
            const th_trs trs = blend_joint(&r, masks, j, rest_of(model, j, any), channels);
            out_local[j] = th_dmat34_from_trs(&trs);
        }
    }
    for (uint32_t w = 0; w < model->weight_count; w++)
        out_weights[w] = blend_morph_weight(&r, w);
}
