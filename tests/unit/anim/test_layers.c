/* Layers against an evaluation of their own, which follows layer.h with matrices where it can. In crowds of several
 * models, some of whose characters are active: test_characters.c. */
#include "fixture_crowd.h"
#include "fixture_import.h"
#include "fixture_isa.h"
#include "fixture_morph.h"

#include <anim/exact.h>
#include <throng/throng.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 75, MASKS = 3, MODELS = 16 };

/* ---- what instances play ---- */

/* Models that layers can blend: clips that the compiled model plays as they are, not resampled. */
static random_desc some(uint32_t n)
{
    random_desc desc = variety(n);
    desc.clip_count = 1 + n % 4;
    desc.uneven_keys = desc.splines = false;
    desc.swing_rad = n % 5 == 4 ? 2.5 : 0.3;
    if (n % 5 == 3)
        desc.key_count = 80; /* small steps that lead to the far side: neighbours are near, clips are not aligned */
    return desc;
}

typedef struct playlist {
    th_mask masks[MASKS];
    th_layer layers[COUNT * TH_MAX_LAYERS];
    uint8_t counts[COUNT];
} playlist;

static float random_weight(uint64_t *state)
{
    const double kind = random_between(state, 0, 1);
    return kind < 0.15 ? 0 : kind < 0.3 ? 1 : kind < 0.4 ? 0.01F : (float)random_between(state, 0, 1);
}

static th_layer random_layer(const th_model *model, uint64_t *state)
{
    const uint32_t clip = (uint32_t)random_between(state, 0, model->clip_count + 0.3);
    const uint32_t mask = (uint32_t)random_between(state, 0, 2 * MASKS), mode = (uint32_t)random_between(state, 0, 5);
    const double ratio = random_between(state, -0.05, 1.05);
    return (th_layer){.ratio = fmin(fmax(ratio, 0), 1), /* both ends, too */
                      .weight = random_weight(state),
                      .clip = clip < model->clip_count ? (uint16_t)clip : TH_REST_CLIP,
                      .mode = (uint8_t)(mode < TH_LAYER_MODE_COUNT ? mode : TH_LAYER_OVERRIDE),
                      .mask = (uint8_t)(mask < MASKS ? mask : TH_NO_MASK)};
}

static playlist *make_playlist(const th_model *model, uint32_t n)
{
    uint64_t seed = (n + 1) * 0x9E3779B97F4A7C15u; /* of a small number the first ones are all about 0 */
    playlist *p = calloc(1, sizeof *p);
    for (uint32_t m = 0; m < MASKS; m++) {
        float *weights = calloc(model->joint_count, sizeof *weights);
        th_mask_from_joint(model, (uint32_t)random_between(&seed, 0, model->joint_count), weights);
        for (uint32_t j = 0; m > 0 && j < model->joint_count; j++)
            weights[j] = random_weight(&seed);
        p->masks[m] = (th_mask){"mask", weights};
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        p->counts[i] = (uint8_t)(i % 5 == 0 ? i / 5 % 2 : (uint32_t)random_between(&seed, 0, TH_MAX_LAYERS + 0.99));
        for (uint32_t k = 0; k < p->counts[i]; k++)
            p->layers[i * TH_MAX_LAYERS + k] = random_layer(model, &seed);
    }
    return p;
}

static void free_playlist(playlist *p)
{
    for (uint32_t m = 0; m < MASKS; m++)
        free((float *)p->masks[m].weights);
    free(p);
}

static th_crowd_layers table_of(const playlist *p)
{
    return (th_crowd_layers){p->layers, p->counts, TH_MAX_LAYERS};
}

/* ---- the oracle ---- */

static th_trs sample(const th_model *model, const th_layer *layer, uint32_t joint, double ratio, th_interpolation mode,
                     const th_trs *rest)
{
    const th_clip *clip = layer->clip == TH_REST_CLIP ? NULL : &model->clips[layer->clip];
    for (uint32_t c = 0; clip && c < clip->channel_count; c++) {
        if (clip->channels[c].joint != joint)
            continue;
        th_trs trs;
        th_exact_channel(&clip->channels[c], ratio * clip->duration_ticks, mode, &trs);
        return trs;
    }
    return *rest;
}

/* The rest transform, with the signs of scale that the model's clips have. */
static th_trs rest_transform(const th_model *model, uint32_t joint)
{
    double like[3] = {1, 1, 1};
    for (uint32_t c = model->clip_count; c-- > 0;)
        for (uint32_t k = 0; k < model->clips[c].channel_count; k++)
            for (int i = 0; i < 3 && model->clips[c].channels[k].joint == joint; i++)
                like[i] = (double)model->clips[c].channels[k].scale.values[i];
    th_dmat34 matrix = th_dmat34_from(model->joints[joint].rest);
    th_trs trs;
    th_dmat34_decompose_like(&matrix, like, &trs);
    return trs;
}

static double length4(const double q[4])
{
    return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

static void times(const double a[4], const double b[4], double out[4])
{
    const double product[4] = {
        a[3] * b[0] - a[2] * b[1] + a[1] * b[2] + a[0] * b[3], a[2] * b[0] + a[3] * b[1] - a[0] * b[2] + a[1] * b[3],
        -a[1] * b[0] + a[0] * b[1] + a[3] * b[2] + a[2] * b[3], -a[0] * b[0] - a[1] * b[1] - a[2] * b[2] + a[3] * b[3]};
    memcpy(out, product, sizeof product);
}

static void override(th_trs *sum, const th_trs *with, double weight)
{
    double along = 0, length = length4(with->rotation);
    for (int i = 0; i < 4; i++)
        along += sum->rotation[i] * with->rotation[i];
    for (int i = 0; i < 4; i++)
        sum->rotation[i] += (along < 0 ? -1 : 1) * weight * with->rotation[i] / length;
    for (int i = 0; i < 3; i++) {
        sum->translation[i] += weight * with->translation[i];
        sum->scale[i] += weight * with->scale[i];
    }
}

static void add(th_trs *sum, const th_trs *now, const th_trs *start, double weight)
{
    const double length = length4(start->rotation) * length4(now->rotation);
    const double back[4] = {-start->rotation[0], -start->rotation[1], -start->rotation[2], start->rotation[3]};
    double d[4];
    times(back, now->rotation, d);
    const double sign = d[3] < 0 ? -1 : 1;
    for (int i = 0; i < 4; i++)
        d[i] = sign * weight * d[i] / length + (i == 3) * (1 - weight);
    times(sum->rotation, d, sum->rotation);
    for (int i = 0; i < 3; i++) {
        sum->translation[i] += weight * (now->translation[i] - start->translation[i]);
        sum->scale[i] *= 1 - weight + weight * now->scale[i] / start->scale[i];
    }
}

static th_dmat34 blended_joint(const th_model *model, const playlist *p, const th_layer *layers, uint32_t count,
                               uint32_t joint, th_interpolation mode)
{
    const th_trs rest = rest_transform(model, joint);
    th_trs sum = {0};
    double total = 0;
    for (uint32_t k = 0; k < count; k++) {
        const double mask = layers[k].mask == TH_NO_MASK ? 1 : (double)p->masks[layers[k].mask].weights[joint];
        const th_trs now = sample(model, &layers[k], joint, layers[k].ratio, mode, &rest);
        if (layers[k].mode == TH_LAYER_OVERRIDE)
            override(&sum, &now, (double)layers[k].weight * mask), total += (double)layers[k].weight * mask;
    }
    if (total < 0.1)
        override(&sum, &rest, 0.1 - total), total = 0.1;
    for (int i = 0; i < 3; i++) {
        sum.translation[i] /= total;
        sum.scale[i] /= total;
    }
    for (uint32_t k = 0; k < count; k++) {
        const double mask = layers[k].mask == TH_NO_MASK ? 1 : (double)p->masks[layers[k].mask].weights[joint];
        const th_trs now = sample(model, &layers[k], joint, layers[k].ratio, mode, &rest);
        const th_trs first = sample(model, &layers[k], joint, 0, mode, &rest);
        if (layers[k].mode != TH_LAYER_OVERRIDE)
            add(&sum, &now, layers[k].mode == TH_LAYER_ADD ? &first : &rest, (double)layers[k].weight * mask);
    }
    return th_dmat34_from_trs(&sum);
}

/* ---- the reference ---- */

Test(layers, reference_follows_the_definition)
{
    for (uint32_t n = 0; n < MODELS; n++) {
        const random_desc desc = some(n);
        th_model *model = random_model(&desc);
        playlist *p = make_playlist(model, n);
        th_dmat34 *local = calloc(model->joint_count, sizeof *local);
        for (uint32_t i = 0; i < COUNT; i++) {
            const th_layer *layers = p->layers + i * TH_MAX_LAYERS;
            th_exact_layers(model, layers, p->counts[i], p->masks, MASKS, TH_INTERPOLATION_NLERP, local, NULL);
            for (uint32_t j = 0; j < model->joint_count; j++) {
                const th_dmat34 expected = blended_joint(model, p, layers, p->counts[i], j, TH_INTERPOLATION_NLERP);
                const double distance = th_dmat34_distance(&expected, &local[j]);
                cr_assert_lt(distance, 1e-6 * model->size, "model %u, instance %u, joint %u: %g", n, i, j, distance);
            }
        }
        free(local);
        free_playlist(p);
        th_model_destroy(model);
    }
}

/* ---- kernels ---- */

static const th_compiled_model_desc nlerp = {.interpolation = TH_INTERPOLATION_NLERP};

typedef struct setup {
    th_model *model;
    playlist *p;
    crowd_fixture s;
} setup;

/* model: which becomes the setup's. */
static void setup_init_of(setup *t, th_model *model, uint32_t n, th_compiled_model_desc how)
{
    t->model = model;
    t->p = make_playlist(t->model, n);
    uint32_t *sockets = calloc(model->joint_count + 1, sizeof *sockets);
    how.masks = t->p->masks;
    how.mask_count = MASKS;
    how.sockets = sockets;
    how.socket_count = some_joints(model, n, sockets);
    crowd_fixture_init_with(&t->s, t->model, how, COUNT, (th_crowd_desc){0});
    free(sockets);
}

static void setup_init(setup *t, uint32_t n, th_compiled_model_desc how)
{
    const random_desc desc = some(n);
    setup_init_of(t, random_model(&desc), n, how);
}

static void setup_fini(setup *t)
{
    crowd_fixture_fini(&t->s);
    free_playlist(t->p);
    th_model_destroy(t->model);
}

/* Ends, with crowd_fixture_fini_twin, before `of` does. */
static setup twin_of(const setup *of, th_crowd_desc as)
{
    setup twin = *of;
    crowd_fixture_init_twin(&twin.s, &of->s, as);
    return twin;
}

static void update(const setup *t, uint32_t step)
{
    const th_crowd_layers table = table_of(t->p);
    const uint32_t count = th_crowd_batch_count(t->s.crowd);
    for (uint32_t b = 0; b < count; b += step)
        th_crowd_pose_layers(t->s.crowd, b, b + step < count ? b + step : count, 0.25, &table, t->s.palette,
                             t->s.sockets, t->s.scratch);
}

/* A single clip's error, once for each layer that moves what others hold. */
static double allowed(const setup *t, uint32_t i)
{
    double sum = 1;
    for (uint32_t k = 0; k < t->p->counts[i]; k++)
        sum += t->p->layers[i * TH_MAX_LAYERS + k].mode == TH_LAYER_OVERRIDE ? 0 : 2;
    return sum * th_compiled_model_bound(t->s.compiled) + 1e-5 * t->model->size;
}

/* rounding: of the palette. */
static void check_layers(const setup *t, double rounding, const char *what)
{
    th_dmat34 *pose = calloc(t->model->joint_count, sizeof *pose);
    for (uint32_t i = 0; i < COUNT; i++) {
        instance_pose(&t->s, i, 0.25, pose);
        if (t->p->counts[i] > 0) {
            th_exact_layers(t->model, t->p->layers + i * TH_MAX_LAYERS, t->p->counts[i], t->p->masks, MASKS,
                            th_compiled_model_interpolation(t->s.compiled), pose, NULL);
            th_exact_resolve(t->model, pose, pose);
        }
        const double error = pose_error(&t->s, i, pose);
        cr_assert_leq(error, allowed(t, i) + rounding, "%s, instance %u, %u layers: off by %g, allowed %g", what, i,
                      t->p->counts[i], error, allowed(t, i));
    }
    free(pose);
}

/* ---- what one clip hides and another one shows ---- */

/* Three joints in a row that turn in two clips, the same way. In the first one the root is scaled. */
static th_model *hiding_model(const float scale[3])
{
    static const double zero;
    const random_desc desc = {
        .seed = 6, .joint_count = 3, .shape = RANDOM_CHAIN, .clip_count = 2, .key_count = 31, .swing_rad = 1.5};
    th_model *model = random_model(&desc);
    th_clip *clips = (th_clip *)model->clips;
    th_channel *hidden = (th_channel *)clips[0].channels, *shown = (th_channel *)clips[1].channels;
    cr_assert_eq(clips->channel_count, 3);
    memcpy(shown, hidden, 3 * sizeof *shown);
    hidden->scale = (th_track){1, &zero, scale, NULL, false};
    clips[1] = clips[0];
    clips[1].channels = shown;
    return model;
}

/* Cross-fades; the first clip below the root of the other; and what it changes on top of the other. */
static void blend_two_clips(const setup *t, uint32_t kinds)
{
    memcpy((float *)t->p->masks[0].weights, (const float[]){0, 1, 1}, 3 * sizeof(float));
    memcpy((float *)t->p->masks[1].weights, (const float[]){1, 0, 0}, 3 * sizeof(float));
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t kind = i % kinds;
        const float weight = (float)(i / 3 % 5) / 4;
        th_layer *layers = t->p->layers + (size_t)i * TH_MAX_LAYERS;
        t->p->counts[i] = 2;
        layers[0] = layers[1] = (th_layer){.ratio = (i + 0.5) / COUNT, .weight = weight, .mask = TH_NO_MASK};
        layers[1].clip = 1;
        layers[1].weight = kind == 0 ? 1 - weight : 1;
        layers[0].mode = kind == 2 ? TH_LAYER_ADD : TH_LAYER_OVERRIDE;
        for (uint8_t k = 0; kind == 1 && k < 2; k++)
            layers[k].mask = k;
    }
}

Test(layers, hold_the_bound_where_a_clip_hides_what_another_one_shows)
{
    static const float scales[] = {1, 0.1F, 0.01F, 0.001F, 0};
    for (size_t n = 0; n < 2 * sizeof scales / sizeof *scales; n++) {
        const float by = scales[n / 2], scale[3] = {by, by, by};
        char what[32];
        setup t = {.model = hiding_model(scale)};
        t.p = make_playlist(t.model, 0);
        blend_two_clips(&t, by > 0 ? 3 : 2); /* nothing is a multiple of 0 */
        const th_compiled_model_desc how = {
            .keys = (th_keys)(n % 2), .bound_m = n % 2 ? 0.0005 : 0, .masks = t.p->masks, .mask_count = MASKS};
        crowd_fixture_init_with(&t.s, t.model, how, COUNT, (th_crowd_desc){0});
        cr_expect_eq(th_compiled_model_exact_clips(t.s.compiled), 0);
        snprintf(what, sizeof what, "scale %g", (double)by);
        update(&t, UINT16_MAX);
        check_layers(&t, 0, what);
        setup_fini(&t);
    }
}

/* Nor do they depend on their neighbours. */
static void check_kernels(const setup *t, th_format format, const char *what)
{
    uint64_t hashes[2] = {0};
    for (EACH_ISA(isa)) {
        setup twin = twin_of(t, (th_crowd_desc){.isa = isa, .format = format});
        char kernel[96];
        snprintf(kernel, sizeof kernel, "%s, %s, %s", th_isa_name(isa), th_format_name(format), what);
        update(&twin, UINT16_MAX);
        check_layers(&twin, format == TH_FORMAT_QUAT16 ? 1e-4 * t->model->size : 0, kernel);
        const uint64_t whole = th_crowd_hash(twin.s.crowd, twin.s.palette);
        for (uint32_t step = 1; step < 4; step += 2) {
            memset(twin.s.palette, GUARD, twin.s.palette_bytes);
            update(&twin, step);
            cr_expect_eq(th_crowd_hash(twin.s.crowd, twin.s.palette), whole, "%s, %u batches a call", kernel, step);
        }
        cr_expect(hashes[is_fused(isa)] == 0 || hashes[is_fused(isa)] == whole, "%s", kernel);
        hashes[is_fused(isa)] = whole;
        crowd_fixture_fini_twin(&twin.s);
    }
}

/* In every interpolation, and in palettes of every format that the model can have. A small effort compiles some clips,
 * and leaves others exact. */
Test(layers, kernels_follow_the_reference)
{
    uint32_t mixed = 0, possible[TH_FORMAT_COUNT] = {0};
    for (uint32_t n = 0; n < 3 * MODELS; n++) {
        setup t;
        char what[64];
        const th_compiled_model_desc how = {.interpolation = (th_interpolation)(n % TH_INTERPOLATION_COUNT),
                                            .keys = n / 2 % 2 ? TH_KEYS_16 : TH_KEYS_32,
                                            .sampling = n % 7 == 6 ? TH_SAMPLING_EXACT : TH_SAMPLING_COMPILED,
                                            .effort = n % 3 * 3e-4};
        setup_init(&t, n % MODELS, how);
        const uint32_t exact = th_compiled_model_exact_clips(t.s.compiled);
        mixed += exact > 0 && exact < t.model->clip_count;
        snprintf(what, sizeof what, "%s, model %u, %u of %u clips exact", th_interpolation_name(how.interpolation),
                 n % MODELS, exact, t.model->clip_count);
        for (th_format format = TH_FORMAT_F32; format < TH_FORMAT_COUNT; format++)
            if (!th_compiled_model_obstacle(t.s.compiled, format)) {
                check_kernels(&t, format, what);
                possible[format]++;
            }
        setup_fini(&t);
    }
    cr_expect(mixed > 2 && possible[TH_FORMAT_QUAT] > 20 && possible[TH_FORMAT_QUAT16] > 15, "%u, %u, %u", mixed,
              possible[TH_FORMAT_QUAT], possible[TH_FORMAT_QUAT16]);
}

/* Characters of others, whose layers add, override and have masks, in every second interpolation. */
static void check_file(const char *file, int first)
{
    char what[96];
    for (int mode = first; mode < TH_INTERPOLATION_COUNT; mode += 2) {
        setup t;
        const th_compiled_model_desc how = {.interpolation = (th_interpolation)mode, .keys = (th_keys)(mode / 2 % 2)};
        setup_init_of(&t, import_good(testmodel(file)), (uint32_t)mode, how);
        snprintf(what, sizeof what, "%s, %s", file, th_interpolation_name((th_interpolation)mode));
        update(&t, UINT16_MAX);
        check_layers(&t, 0, what);
        setup_fini(&t);
    }
}

Test(layers, of_real_characters_follow_the_reference)
{
    check_file("X/Testwuson.X", 0);
    check_file("FBX/animation_with_skeleton.fbx", 1);
}

/* ---- signs of scale ---- */

/* The same motion with two other signs of scale. */
static void mirror_two_ways(th_channel *channel, uint32_t axis)
{
    double half_turn[4] = {0};
    half_turn[axis] = 1;
    for (uint32_t k = 0; k < channel->rotation.key_count; k++) {
        float *q = (float *)channel->rotation.values + 4 * k;
        double turned[4];
        times((double[]){(double)q[0], (double)q[1], (double)q[2], (double)q[3]}, half_turn, turned);
        for (int i = 0; i < 4; i++)
            q[i] = (float)turned[i];
    }
    for (uint32_t i = 0; i < 3 * channel->scale.key_count; i++)
        if (i % 3 != axis)
            ((float *)channel->scale.values)[i] *= -1;
}

Test(layers, a_pose_with_other_signs_of_scale_is_the_same_pose)
{
    uint32_t clips = 0, exact = 0;
    for (uint32_t n = 0; n < MODELS; n++) {
        const random_desc desc = some(n);
        th_model *model = random_model(&desc), *plain = random_model(&desc);
        th_dmat34 *got = calloc(2 * model->joint_count, sizeof *got), *want = got + model->joint_count;
        th_trs *parts = calloc(model->joint_count, sizeof *parts);
        for (uint32_t j = 0; n % 2 && j < model->joint_count; j++) { /* as the first clip has them, before it changes */
            parts[j] = rest_transform(model, j);
            ((th_joint *)model->joints)[j].rest_parts = &parts[j];
        }
        for (uint32_t c = 0; c < model->clip_count; c++)
            for (uint32_t k = 0; k < model->clips[c].channel_count; k++)
                if ((c + k) % 4 < 3)
                    mirror_two_ways((th_channel *)&model->clips[c].channels[k], (c + k) % 4);
        /* Not 16 bits where rotations are so far apart that rounding decides which way is the shorter. */
        const th_compiled_model_desc how = {.interpolation = TH_INTERPOLATION_NLERP,
                                            .keys = n % 4 < 2 || n % 5 == 4 ? TH_KEYS_32 : TH_KEYS_16};
        setup t;
        setup_init_of(&t, model, n, how);
        clips += model->clip_count;
        exact += th_compiled_model_exact_clips(t.s.compiled);
        for (uint32_t i = 0; i < COUNT; i++) {
            const th_layer *layers = t.p->layers + i * TH_MAX_LAYERS;
            th_exact_layers(model, layers, t.p->counts[i], t.p->masks, MASKS, TH_INTERPOLATION_NLERP, got, NULL);
            th_exact_layers(plain, layers, t.p->counts[i], t.p->masks, MASKS, TH_INTERPOLATION_NLERP, want, NULL);
            for (uint32_t j = 0; j < model->joint_count; j++)
                cr_assert_lt(th_dmat34_distance(&got[j], &want[j]), 1e-5 * model->size, "model %u: %u", n, j);
        }
        update(&t, UINT16_MAX);
        check_layers(&t, 0, "mirrored");
        setup_fini(&t);
        th_model_destroy(plain);
        free(got);
        free(parts);
    }
    cr_expect_lt(2 * exact, clips, "most are compiled, also with 16 bits");
}

/* One clip shows a part, the other leaves it alone: half and half it has half its size. */
Test(layers, a_part_that_is_hidden_at_rest_keeps_its_rotation)
{
    static const double start;
    static const float place[] = {1, 2, 3}, turn[] = {0, 0, 0.6F, 0.8F}, size[] = {1, 1, 1};
    static const th_trs hidden = {{1, 2, 3}, {0, 0, 0.6, 0.8}, {0}}, half = {{1, 2, 3}, {0, 0, 0.6, 0.8}, {.5, .5, .5}};
    th_model *model = hiding_model(size);
    th_clip *clips = (th_clip *)model->clips;
    ((th_joint *)model->joints)[2].rest = th_mat34_from(th_dmat34_from_trs(&hidden));
    ((th_joint *)model->joints)[2].rest_parts = &hidden;
    ((th_channel *)clips[0].channels)[2] = (th_channel){.joint = 2,
                                                        .translation = {1, &start, place, NULL, false},
                                                        .rotation = {1, &start, turn, NULL, false},
                                                        .scale = {1, &start, size, NULL, false},
                                                        .filled = TH_TRANSLATION | TH_ROTATION};
    clips[1].channel_count = 2;
    setup t;
    setup_init_of(&t, model, 0, nlerp);
    blend_two_clips(&t, 1);
    th_dmat34 pose[3];
    const th_layer *halves = t.p->layers + (size_t)6 * TH_MAX_LAYERS;
    th_exact_layers(model, halves, 2, NULL, 0, TH_INTERPOLATION_NLERP, pose, NULL);
    const th_dmat34 want = th_dmat34_from_trs(&half);
    cr_expect_lt(th_dmat34_distance(&pose[2], &want), 1e-6);
    update(&t, UINT16_MAX);
    check_layers(&t, 0, "hidden");
    setup_fini(&t);
}

/* ---- morph weights ---- */

static double weight_at(const th_model *model, const th_layer *layer, uint32_t weight, double ratio)
{
    const th_clip *clip = layer->clip == TH_REST_CLIP ? NULL : &model->clips[layer->clip];
    return morph_weight(model, clip, weight, clip ? ratio * clip->duration_ticks : 0);
}

static double blended_weight(const th_model *model, const th_layer *layers, uint32_t count, uint32_t weight)
{
    const double rest = (double)model->weights[weight].rest;
    double sum = 0, total = 0;
    for (uint32_t k = 0; k < count; k++) {
        const double by = layers[k].mode == TH_LAYER_OVERRIDE ? (double)layers[k].weight : 0;
        sum += by * weight_at(model, &layers[k], weight, layers[k].ratio);
        total += by;
    }
    sum = total < 0.1 ? (sum + (0.1 - total) * rest) / 0.1 : sum / total;
    for (uint32_t k = 0; k < count; k++) {
        const double now = weight_at(model, &layers[k], weight, layers[k].ratio);
        const double start = layers[k].mode == TH_LAYER_ADD ? weight_at(model, &layers[k], weight, 0) : rest;
        sum += layers[k].mode == TH_LAYER_OVERRIDE ? 0 : (double)layers[k].weight * (now - start);
    }
    return sum;
}

/* Returns how far palettes are off. */
static double check_weights(const setup *t)
{
    th_dmat34 *local = calloc(t->model->joint_count, sizeof *local);
    double *weights = calloc(t->model->weight_count, sizeof *weights), farthest = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const th_layer *layers = t->p->layers + i * TH_MAX_LAYERS;
        const void *palette = t->s.palette + th_crowd_palette_offset(t->s.crowd, i);
        const float *played = (const float *)palette + 12 * t->model->bone_count;
        th_exact_layers(t->model, layers, t->p->counts[i], t->p->masks, MASKS, TH_INTERPOLATION_AUTHORED, local,
                        weights);
        for (uint32_t w = 0; t->p->counts[i] > 0 && w < t->model->weight_count; w++) {
            const double expected = blended_weight(t->model, layers, t->p->counts[i], w);
            cr_assert_float_eq(weights[w], expected, 1e-6, "instance %u, weight %u: %g, not %g", i, w, weights[w],
                               expected);
            farthest = fmax(farthest, fabs(weights[w] - (double)played[w]));
        }
    }
    free(weights);
    free(local);
    return farthest;
}

Test(layers, blend_morph_weights)
{
    const random_desc desc = some(8);
    for (int keys = 0; keys < TH_KEYS_COUNT; keys++) {
        setup t;
        setup_init_of(&t, morph_model(&desc, 20), 3, (th_compiled_model_desc){.keys = (th_keys)keys});
        for (EACH_ISA(isa)) {
            setup twin = twin_of(&t, (th_crowd_desc){.isa = isa});
            update(&twin, UINT16_MAX);
            const double farthest = check_weights(&twin);
            cr_expect_lt(farthest, 0.02, "%s, keys %d: palettes are off by %g", th_isa_name(isa), keys, farthest);
            crowd_fixture_fini_twin(&twin.s);
        }
        setup_fini(&t);
    }
}

/* ---- masks and obstacles ---- */

Test(layers, masks_from_a_joint_are_1_below_it)
{
    const random_desc desc = some(15); /* a tree */
    th_model *model = random_model(&desc);
    float *weights = calloc(model->joint_count, sizeof *weights);
    for (uint32_t top = 0; top < model->joint_count; top++) {
        th_mask_from_joint(model, top, weights);
        for (uint32_t j = 0; j < model->joint_count; j++) {
            uint32_t at = j;
            while (at != top && at != TH_NO_INDEX)
                at = model->joints[at].parent;
            cr_assert_float_eq(weights[j], at == top ? 1 : 0, 0, "joint %u, from %u", j, top);
        }
    }
    free(weights);
    th_model_destroy(model);
}

/* A size of 0 of a joint, in its channel's first key or at rest. */
static void expect_obstacle(uint32_t axis, bool at_rest)
{
    const random_desc desc = some(13);
    th_model *model = random_model(&desc);
    const th_channel *channel = &model->clips[0].channels[model->clips[0].channel_count - 1];
    const char *name = model->joints[channel->joint].name;
    cr_expect_null(th_layer_add_obstacle(model, 0, TH_LAYER_ADD));
    cr_expect_null(th_layer_add_obstacle(model, 0, TH_LAYER_ADD_REST));
    for (uint32_t row = 0; at_rest && row < 3; row++)
        ((th_joint *)model->joints)[channel->joint].rest.m[4 * row + axis] = 0;
    if (!at_rest)
        ((float *)channel->scale.values)[axis] = 0;
    const char *of_clip = th_layer_add_obstacle(model, 0, TH_LAYER_ADD);
    const char *of_rest = th_layer_add_obstacle(model, 0, TH_LAYER_ADD_REST);
    cr_expect(at_rest ? !of_clip : of_clip && strcmp(of_clip, name) == 0, "axis %u", axis);
    cr_expect(!at_rest ? !of_rest : of_rest && strcmp(of_rest, name) == 0, "axis %u", axis);
    th_model_destroy(model);
}

Test(layers, nothing_is_a_multiple_of_a_size_of_0)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        expect_obstacle(axis, false);
        expect_obstacle(axis, true);
    }
}
