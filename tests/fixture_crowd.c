#include "fixture_crowd.h"

#include <throng/anim/exact.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void insist(th_result result, const th_error *err)
{
    if (result == TH_OK)
        return;
    fprintf(stderr, "fixture_crowd: %s\n", err->text);
    abort();
}

th_compiled_model *make_compiled_as(const th_model *model, th_compiled_model_desc desc)
{
    th_compiled_model *compiled;
    th_error err;
    desc.model = model;
    insist(th_compiled_model_create(&desc, &compiled, &err), &err);
    return compiled;
}

th_compiled_model *make_compiled(const th_model *model, th_sampling sampling)
{
    return make_compiled_as(model, (th_compiled_model_desc){.sampling = sampling});
}

static void make_crowd(crowd_fixture *s, th_crowd_desc as)
{
    const th_compiled_model *compiled = s->compiled;
    th_error err;
    as.compiled_models = &compiled;
    as.compiled_model_count = 1;
    as.instances = s->instances;
    as.instance_count = s->count;
    insist(th_crowd_create(&as, &s->crowd, &err), &err);
    s->palette_bytes = th_crowd_palette_bytes(s->crowd);
    s->palette = aligned_alloc(64, s->palette_bytes + 64);
    s->scratch = aligned_alloc(64, th_crowd_scratch_bytes(s->crowd));
    memset(s->palette, GUARD, s->palette_bytes + 64);
}

void crowd_fixture_init_with(crowd_fixture *s, const th_model *model, th_compiled_model_desc how, uint32_t count,
                             th_crowd_desc as)
{
    *s = (crowd_fixture){.compiled = make_compiled_as(model, how), .count = count};
    const th_compiled_model *compiled = s->compiled;
    s->instances = calloc(count + 1, sizeof *s->instances);
    th_instances_scatter(&compiled, 1, TH_NO_INDEX, 11, s->instances, count);
    for (uint32_t i = 3; i < count; i += 7)
        s->instances[i].clip = TH_NO_INDEX; /* some in the rest pose */
    make_crowd(s, as);
}

void crowd_fixture_init_one(crowd_fixture *s, const th_model *model, th_compiled_model_desc how, th_isa isa)
{
    *s = (crowd_fixture){.compiled = make_compiled_as(model, how), .count = 1};
    s->instances = calloc(1, sizeof *s->instances);
    s->instances[0].speed = 1;
    make_crowd(s, (th_crowd_desc){.isa = isa});
}

void crowd_fixture_init_twin(crowd_fixture *s, const crowd_fixture *of, th_crowd_desc as)
{
    *s = *of;
    make_crowd(s, as);
}

void crowd_fixture_fini_twin(crowd_fixture *s)
{
    free(s->palette);
    free(s->scratch);
    th_crowd_destroy(s->crowd);
}

void crowd_fixture_fini(crowd_fixture *s)
{
    crowd_fixture_fini_twin(s);
    free(s->instances);
    th_compiled_model_destroy(s->compiled);
}

void crowd_fixture_init(crowd_fixture *s, const th_model *model, th_sampling sampling, uint32_t count, th_isa isa)
{
    crowd_fixture_init_with(s, model, (th_compiled_model_desc){.sampling = sampling}, count,
                            (th_crowd_desc){.isa = isa});
}

void crowd_fixture_update(crowd_fixture *s, double time_s)
{
    th_crowd_update(s->crowd, 0, th_crowd_batch_count(s->crowd), time_s, s->palette, s->scratch);
}

/* The virtual vertices that the compiled model's bound speaks of, of one bind. */
typedef struct probe {
    double vertices[7][3];
    bool nowhere; /* the joint is flat at rest */
} probe;

/* rest: of the bind's joint. */
static probe probe_of(const th_model *model, const th_bone *bone, const th_dmat34 *rest)
{
    probe p = {.nowhere = false};
    th_dmat34 inverse_bind = th_dmat34_from(bone->inverse_bind), joint = TH_DMAT34_IDENTITY, back;
    th_dmat34_invert(&inverse_bind, &joint);
    th_dmat34 at_rest = th_dmat34_mul(*rest, inverse_bind);
    if (!th_dmat34_invert(&at_rest, &back))
        return (probe){.nowhere = true};
    double shell = TH_SHELL_M / TH_REFERENCE_SIZE_M * model->size;
    for (int v = 0; v < 7; v++)
        for (int k = 0; k < 3; k++)
            p.vertices[v][k] =
                joint.m[4 * k + 3] + (v == 0 ? 0 : (v % 2 ? shell : -shell) * back.m[4 * k + (v - 1) / 2]);
    return p;
}

/* How far apart two palette entries put them. */
static double entry_distance(const probe *at, const th_dmat34 *one, const th_dmat34 *other)
{
    double largest = 0;
    for (int v = 0; !at->nowhere && v < 7; v++) {
        double p[3], q[3], distance2 = 0;
        th_dmat34_point(one, at->vertices[v], p);
        th_dmat34_point(other, at->vertices[v], q);
        for (int k = 0; k < 3; k++)
            distance2 += (p[k] - q[k]) * (p[k] - q[k]);
        if (!(sqrt(distance2) <= largest))
            largest = sqrt(distance2);
    }
    return largest;
}

/* place + scale * (v + 2 w (q x v) + 2 q x (q x v)) for each axis v, as palette.h says; entry: quaternion, place,
 * scale. The last column: where -b goes. */
static th_dmat34 matrix_of_quat(const float entry[8], const float b[3])
{
    const double x = (double)entry[0], y = (double)entry[1], z = (double)entry[2], w = (double)entry[3];
    const double s = (double)entry[7];
    th_dmat34 m = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 0, 2 * (x * y + w * z),
                    1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 0, 2 * (x * z - w * y), 2 * (y * z + w * x),
                    1 - 2 * (x * x + y * y), 0}};
    for (int row = 0; row < 3; row++) {
        m.m[4 * row + 3] = (double)entry[4 + row];
        for (int col = 0; col < 3; col++) {
            m.m[4 * row + col] *= s;
            m.m[4 * row + 3] -= m.m[4 * row + col] * (double)b[col];
        }
    }
    return m;
}

/* Bits [first, first + count) of a word, in two's complement. */
static double bits_of(uint64_t word, int first, int count)
{
    const int64_t n = (int64_t)(word >> first & ((1u << count) - 1));
    return (double)(n >> (count - 1) ? n - (1 << count) : n);
}

/* As palette.h says of th_quat16. */
static void unpack(const unsigned char *at, double step, float out[8])
{
    uint32_t words[4];
    memcpy(words, at, sizeof words);
    const double x = bits_of(words[3], 0, 22) / 500000;
    const double y = bits_of((words[0] >> 22) + 1024 * (words[1] >> 22), 0, 20) / 500000;
    const double z = bits_of((words[2] >> 22) + 1024 * (words[3] >> 22), 0, 20) / 500000;
    const double angle = 4 * atan(sqrt(x * x + y * y + z * z)), axis = sqrt(fmax(1e-30, x * x + y * y + z * z));
    out[0] = (float)(sin(angle / 2) * x / axis);
    out[1] = (float)(sin(angle / 2) * y / axis);
    out[2] = (float)(sin(angle / 2) * z / axis);
    out[3] = (float)cos(angle / 2);
    for (int i = 0; i < 3; i++)
        out[4 + i] = (float)(step * bits_of(words[i], 0, 22));
    out[7] = 1;
}

static th_dmat34 palette_entry(const crowd_fixture *s, uint32_t instance, uint32_t bone)
{
    const th_palette format = th_crowd_palette(s->crowd);
    const th_model *model = th_compiled_model_source(s->compiled);
    const unsigned char *at =
        s->palette + th_crowd_palette_offset(s->crowd, instance) + bone * th_palette_entry_bytes(format);
    th_dmat34 inverse_bind = th_dmat34_from(model->bones[bone].inverse_bind), joint;
    th_mat34 entry;
    float quat[8];
    if (format == TH_PALETTE_F32) {
        memcpy(&entry, at, sizeof entry);
        return th_dmat34_from(entry);
    }
    if (format == TH_PALETTE_QUAT)
        memcpy(quat, at, sizeof quat);
    else
        unpack(at, (double)(float)(model->size / 1048576), quat);
    if (!th_dmat34_invert(&inverse_bind, &joint))
        abort();
    return matrix_of_quat(quat, (const float[]){(float)joint.m[3], (float)joint.m[7], (float)joint.m[11]});
}

double pose_error(const crowd_fixture *s, uint32_t i, const th_dmat34 *pose)
{
    const th_model *model = th_compiled_model_source(s->compiled);
    th_dmat34 *rest = calloc(model->joint_count, sizeof *rest);
    double largest = 0;
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, rest);
    for (uint32_t b = 0; b < model->bone_count; b++) {
        const th_bone *bone = &model->bones[b];
        th_dmat34 exact = th_dmat34_mul(pose[bone->joint], th_dmat34_from(bone->inverse_bind));
        th_dmat34 played = palette_entry(s, i, b);
        const probe at = probe_of(model, bone, &rest[bone->joint]);
        double distance = entry_distance(&at, &exact, &played);
        if (!(distance <= largest))
            largest = distance;
    }
    free(rest);
    return largest;
}

double instance_error(const crowd_fixture *s, uint32_t i, double time_s)
{
    const th_model *model = th_compiled_model_source(s->compiled);
    const th_instance *instance = &s->instances[i];
    const th_clip *clip = instance->clip == TH_NO_INDEX ? NULL : &model->clips[instance->clip];
    const double clip_s = instance->phase_s + instance->speed * time_s;
    th_dmat34 *pose = calloc(model->joint_count, sizeof *pose);
    th_exact_pose(model, clip, clip ? th_clip_ticks(clip, clip_s) : 0, th_compiled_model_interpolation(s->compiled),
                  pose);
    const double error = pose_error(s, i, pose);
    free(pose);
    return error;
}

/* Largest distance over all palettes of two crowds of the same instances. */
double crowd_distance(const crowd_fixture *one, const crowd_fixture *other)
{
    const th_model *model = th_compiled_model_source(one->compiled);
    th_dmat34 *rest = calloc(model->joint_count, sizeof *rest);
    double largest = 0;
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, rest);
    for (uint32_t b = 0; b < model->bone_count; b++) {
        const probe at = probe_of(model, &model->bones[b], &rest[model->bones[b].joint]);
        for (uint32_t i = 0; i < one->count; i++) {
            th_dmat34 p = palette_entry(one, i, b), q = palette_entry(other, i, b);
            double distance = entry_distance(&at, &p, &q);
            if (!(distance <= largest))
                largest = distance;
        }
    }
    free(rest);
    return largest;
}

/* Every way in which models differ, a few of each. */
random_desc variety(uint32_t n)
{
    return (random_desc){.seed = n,
                         .joint_count = 1 + n * 7 % 60,
                         .shape = (random_shape)(n % 3),
                         .scale = (random_scale)(n / 3 % 4),
                         .clip_count = n % 5,
                         .key_count = 2 + n % 30,
                         .uneven_keys = n % 7 == 6,
                         .swing_rad = n % 11 == 10 ? 3.14 : 0.2,
                         .splines = n % 8 == 3,
                         .double_bones = n % 2};
}

bool has_splines(const th_clip *clip)
{
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const th_channel *channel = &clip->channels[c];
        if (channel->translation.tangents || channel->rotation.tangents || channel->scale.tangents)
            return true;
    }
    return false;
}
