#include <bench/tutorial.h>

#include <anim/exact.h>
#include <anim/palette.h>
#include <core/arena.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct mat4 {
    float m[4][4];
} mat4;

/* Assimp's layout: names are fixed buffers inside their owner, keys are structs of a double and a value. */
typedef struct name_buffer {
    uint32_t length;
    char data[TH_TUTORIAL_MAX_NAME + 1];
} name_buffer;

/* aiVectorKey and aiQuatKey have the same size: the vector is padded. */
typedef struct anim_key {
    double time;
    float value[4];
} anim_key;

typedef struct node_anim {
    name_buffer node_name;
    uint32_t position_count, rotation_count, scaling_count;
    anim_key *positions, *rotations, *scalings;
    const float *position_tangents, *rotation_tangents, *scaling_tangents; /* the model's; NULL unless splines */
    bool positions_step, rotations_step, scalings_step;
} node_anim;

typedef struct weight_anim {
    uint32_t weight, key_count;
    anim_key *keys;
    const float *tangents;
    bool steps;
} weight_anim;

typedef struct animation {
    uint32_t channel_count, weight_count;
    node_anim **channels;
    weight_anim *weights;
} animation;

typedef struct node {
    name_buffer name;
    mat4 transform;
    uint32_t child_count;
    struct node **children;
} node;

/* An entry of the bone map: a name and its first palette entry. */
typedef struct bone {
    const char *name;
    uint32_t entry, bone_count;
} bone;

struct th_tutorial {
    const th_model *model;
    animation *animations; /* [clip] */
    node **roots;
    uint32_t root_count;
    bone *bones; /* by name */
    uint32_t bone_count;
    mat4 *offsets; /* [bone] */
    th_arena *arena;
};

typedef struct walk {
    const th_tutorial *tutorial;
    const animation *animation;
    double ticks;
    float *palette;
} walk;

/* ---- matrices, as in a tutorial's maths header ---- */

static mat4 mat4_mul(const mat4 *a, const mat4 *b)
{
    mat4 out;
    for (int row = 0; row < 4; row++)
        for (int col = 0; col < 4; col++)
            out.m[row][col] = a->m[row][0] * b->m[0][col] + a->m[row][1] * b->m[1][col] + a->m[row][2] * b->m[2][col] +
                              a->m[row][3] * b->m[3][col];
    return out;
}

static mat4 mat4_from(const th_mat34 *a)
{
    mat4 out = {.m[3] = {0, 0, 0, 1}};
    memcpy(out.m, a->m, sizeof a->m);
    return out;
}

static mat4 mat4_translation(const float t[3])
{
    return (mat4){{{1, 0, 0, t[0]}, {0, 1, 0, t[1]}, {0, 0, 1, t[2]}, {0, 0, 0, 1}}};
}

static mat4 mat4_scale(const float s[3])
{
    return (mat4){{{s[0], 0, 0, 0}, {0, s[1], 0, 0}, {0, 0, s[2], 0}, {0, 0, 0, 1}}};
}

static mat4 mat4_rotation(const float q[4])
{
    float x = q[0], y = q[1], z = q[2], w = q[3];
    return (mat4){{{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), 0},
                   {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), 0},
                   {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), 0},
                   {0, 0, 0, 1}}};
}

static void quat_normalize(float q[4])
{
    float scale = 1 / sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++)
        q[i] *= scale;
}

static void quat_slerp(const float a[4], const float b[4], float t, float out[4])
{
    float cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3], sign = 1;
    if (cosine < 0) {
        cosine = -cosine;
        sign = -1;
    }
    float wa = 1 - t, wb = t;
    if (1 - cosine > 0.0001f) {
        float angle = acosf(cosine), sine = sinf(angle);
        wa = sinf((1 - t) * angle) / sine;
        wb = sinf(t * angle) / sine;
    }
    for (int i = 0; i < 4; i++)
        out[i] = wa * a[i] + sign * wb * b[i];
    quat_normalize(out);
}

/* ---- keys ---- */

/* Each searches linearly for the last key at or before the time and interpolates to the next one. Before the first and
 * after the last key the value is constant. */

/* Interpolates a spline from one key to the next; tangents: those of this key. */
static void interpolate_spline(const anim_key *key, const float *tangents, int width, float t, float out[])
{
    const float *leave = tangents + width, *arrive = leave + width;
    float t2 = t * t, t3 = t2 * t, length = (float)(key[1].time - key[0].time);
    for (int i = 0; i < width; i++)
        out[i] = (2 * t3 - 3 * t2 + 1) * key[0].value[i] + length * (t3 - 2 * t2 + t) * leave[i] +
                 (3 * t2 - 2 * t3) * key[1].value[i] + length * (t3 - t2) * arrive[i];
}

static void interpolate_vector(const anim_key *keys, const float *tangents, bool steps, uint32_t count, double ticks,
                               float out[3])
{
    uint32_t k = 0;
    while (k + 1 < count && ticks >= keys[k + 1].time)
        k++;
    memcpy(out, keys[k].value, 3 * sizeof *out);
    if (k + 1 == count || ticks <= keys[k].time || steps)
        return;
    float t = (float)((ticks - keys[k].time) / (keys[k + 1].time - keys[k].time));
    if (tangents) {
        interpolate_spline(&keys[k], tangents + 6 * (size_t)k, 3, t, out);
        return;
    }
    for (int i = 0; i < 3; i++)
        out[i] += t * (keys[k + 1].value[i] - keys[k].value[i]);
}

static float interpolate_weight(const weight_anim *anim, double ticks)
{
    const anim_key *keys = anim->keys;
    uint32_t k = 0;
    while (k + 1 < anim->key_count && ticks >= keys[k + 1].time)
        k++;
    float value = keys[k].value[0];
    if (k + 1 == anim->key_count || ticks <= keys[k].time || anim->steps)
        return value;
    float t = (float)((ticks - keys[k].time) / (keys[k + 1].time - keys[k].time));
    if (!anim->tangents)
        return value + t * (keys[k + 1].value[0] - value);
    interpolate_spline(&keys[k], anim->tangents + 2 * (size_t)k, 1, t, &value);
    return value;
}

static void interpolate_rotation(const anim_key *keys, const float *tangents, bool steps, uint32_t count, double ticks,
                                 float out[4])
{
    uint32_t k = 0;
    while (k + 1 < count && ticks >= keys[k + 1].time)
        k++;
    memcpy(out, keys[k].value, sizeof keys[k].value);
    if (k + 1 == count || ticks <= keys[k].time || steps) {
        if (tangents) /* keys of a spline need not be normalized */
            quat_normalize(out);
        return;
    }
    float t = (float)((ticks - keys[k].time) / (keys[k + 1].time - keys[k].time));
    if (tangents) {
        interpolate_spline(&keys[k], tangents + 8 * (size_t)k, 4, t, out);
        quat_normalize(out);
    } else {
        quat_slerp(keys[k].value, keys[k + 1].value, t, out);
    }
}

/* ---- the walk ---- */

/* A string made of a name, as tutorials make one for each comparison; without the allocation that std::string needs for
 * names over 15 characters. */
typedef struct text {
    size_t length;
    char data[sizeof((name_buffer *)0)->data];
} text;

static void make_text(text *to, const char *name)
{
    to->length = strlen(name);
    memcpy(to->data, name, to->length + 1);
}

/* Not inlined, to keep its strings out of the frames of the recursion. */
__attribute__((noinline)) static const node_anim *find_node_anim(const animation *from, const char *name)
{
    text wanted, candidate;
    make_text(&wanted, name);
    for (uint32_t c = 0; c < from->channel_count; c++) {
        make_text(&candidate, from->channels[c]->node_name.data);
        if (candidate.length == wanted.length && memcmp(candidate.data, wanted.data, wanted.length) == 0)
            return from->channels[c];
    }
    return NULL;
}

static int compare_name(const void *name, const void *entry)
{
    return strcmp(name, ((const bone *)entry)->name);
}

static void read_hierarchy(const walk *w, const node *n, const mat4 *parent)
{
    mat4 transform = n->transform;
    const node_anim *anim = w->animation ? find_node_anim(w->animation, n->name.data) : NULL;
    if (anim) {
        float scale[3], rotation[4], translation[3];
        interpolate_vector(anim->scalings, anim->scaling_tangents, anim->scalings_step, anim->scaling_count, w->ticks,
                           scale);
        interpolate_rotation(anim->rotations, anim->rotation_tangents, anim->rotations_step, anim->rotation_count,
                             w->ticks, rotation);
        interpolate_vector(anim->positions, anim->position_tangents, anim->positions_step, anim->position_count,
                           w->ticks, translation);
        mat4 s = mat4_scale(scale), r = mat4_rotation(rotation), t = mat4_translation(translation);
        mat4 tr = mat4_mul(&t, &r);
        transform = mat4_mul(&tr, &s);
    }
    mat4 global = mat4_mul(parent, &transform);

    const th_tutorial *tutorial = w->tutorial;
    const bone *b = bsearch(n->name.data, tutorial->bones, tutorial->bone_count, sizeof *b, compare_name);
    for (uint32_t i = 0; b && i < b->bone_count; i++) {
        mat4 entry = mat4_mul(&global, &tutorial->offsets[b->entry + i]);
        memcpy(w->palette + 12 * (size_t)(b->entry + i), entry.m, 12 * sizeof(float));
    }
    for (uint32_t c = 0; c < n->child_count; c++)
        read_hierarchy(w, n->children[c], &global);
}

/* weights: of the palette. */
static void read_weights(const walk *w, float *weights)
{
    const th_model *model = w->tutorial->model;
    memset(weights, 0, 12 * sizeof *weights * th_palette_entries(0, model->weight_count));
    for (uint32_t i = 0; i < model->weight_count; i++)
        weights[i] = model->weights[i].rest;
    for (uint32_t i = 0; w->animation && i < w->animation->weight_count; i++)
        weights[w->animation->weights[i].weight] = interpolate_weight(&w->animation->weights[i], w->ticks);
}

void th_tutorial_palette(const th_tutorial *tutorial, uint32_t clip, double time_s, float *palette)
{
    assert(tutorial && palette);
    assert(clip == TH_NO_INDEX || clip < tutorial->model->clip_count);
    walk w = {.tutorial = tutorial, .palette = palette};
    if (clip != TH_NO_INDEX) {
        w.animation = &tutorial->animations[clip];
        w.ticks = th_clip_ticks(&tutorial->model->clips[clip], time_s);
    }
    mat4 identity = mat4_from(&TH_MAT34_IDENTITY);
    for (uint32_t r = 0; r < tutorial->root_count; r++)
        read_hierarchy(&w, tutorial->roots[r], &identity);
    read_weights(&w, palette + 12 * (size_t)tutorial->model->bone_count);
}

/* ---- set-up ---- */

static int compare_bones(const void *a, const void *b)
{
    return strcmp(((const bone *)a)->name, ((const bone *)b)->name);
}

static void set_name(name_buffer *to, const char *name)
{
    to->length = (uint32_t)strlen(name);
    memcpy(to->data, name, to->length + 1);
}

static bool build_nodes(th_tutorial *tutorial)
{
    const th_model *model = tutorial->model;
    th_arena *arena = tutorial->arena;
    uint32_t *counts = th_arena_new(arena, uint32_t, model->joint_count);
    node **nodes = th_arena_new(arena, node *, model->joint_count);
    tutorial->roots = th_arena_new(arena, node *, model->joint_count);
    if (!counts || !nodes || !tutorial->roots)
        return false;
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (model->joints[j].parent != TH_NO_INDEX)
            counts[model->joints[j].parent]++;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const th_joint *joint = &model->joints[j];
        node *n = nodes[j] = th_arena_new(arena, node, 1);
        if (!n || !(n->children = th_arena_new(arena, node *, counts[j])))
            return false;
        set_name(&n->name, joint->name);
        n->transform = mat4_from(&joint->rest);
        if (joint->parent == TH_NO_INDEX)
            tutorial->roots[tutorial->root_count++] = n;
        else
            nodes[joint->parent]->children[nodes[joint->parent]->child_count++] = n;
    }
    return true;
}

static anim_key *build_keys(th_arena *arena, const th_track *track, size_t width, uint32_t *count)
{
    anim_key *keys = th_arena_new(arena, anim_key, track->key_count);
    *count = track->key_count;
    for (uint32_t k = 0; keys && k < track->key_count; k++) {
        keys[k].time = track->times[k];
        memcpy(keys[k].value, track->values + width * k, width * sizeof *track->values);
    }
    return keys;
}

static bool build_weights(th_tutorial *tutorial, const th_clip *clip, animation *out)
{
    out->weights = th_arena_new(tutorial->arena, weight_anim, clip->weight_track_count);
    out->weight_count = clip->weight_track_count;
    for (uint32_t t = 0; out->weights && t < clip->weight_track_count; t++) {
        const th_weight_track *track = &clip->weight_tracks[t];
        weight_anim *anim = &out->weights[t];
        *anim = (weight_anim){track->weight, 0, NULL, track->track.tangents, track->track.steps};
        anim->keys = build_keys(tutorial->arena, &track->track, 1, &anim->key_count);
        if (!anim->keys)
            return false;
    }
    return out->weights;
}

static bool build_animation(th_tutorial *tutorial, const th_clip *clip, animation *out)
{
    th_arena *arena = tutorial->arena;
    out->channels = th_arena_new(arena, node_anim *, clip->channel_count);
    if (!out->channels)
        return false;
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const th_channel *channel = &clip->channels[c];
        node_anim *anim = th_arena_new(arena, node_anim, 1);
        if (!anim)
            return false;
        set_name(&anim->node_name, tutorial->model->joints[channel->joint].name);
        anim->positions = build_keys(arena, &channel->translation, 3, &anim->position_count);
        anim->rotations = build_keys(arena, &channel->rotation, 4, &anim->rotation_count);
        anim->scalings = build_keys(arena, &channel->scale, 3, &anim->scaling_count);
        if (!anim->positions || !anim->rotations || !anim->scalings)
            return false;
        anim->position_tangents = channel->translation.tangents;
        anim->rotation_tangents = channel->rotation.tangents;
        anim->scaling_tangents = channel->scale.tangents;
        anim->positions_step = channel->translation.steps;
        anim->rotations_step = channel->rotation.steps;
        anim->scalings_step = channel->scale.steps;
        out->channels[out->channel_count++] = anim;
    }
    return build_weights(tutorial, clip, out);
}

static bool build_animations(th_tutorial *tutorial)
{
    const th_model *model = tutorial->model;
    tutorial->animations = th_arena_new(tutorial->arena, animation, model->clip_count);
    bool ok = tutorial->animations != NULL;
    for (uint32_t c = 0; ok && c < model->clip_count; c++)
        ok = build_animation(tutorial, &model->clips[c], &tutorial->animations[c]);
    return ok;
}

static bool build_bones(th_tutorial *tutorial)
{
    const th_model *model = tutorial->model;
    tutorial->bones = th_arena_new(tutorial->arena, bone, model->bone_count);
    tutorial->offsets = th_arena_new(tutorial->arena, mat4, model->bone_count);
    if (!tutorial->bones || !tutorial->offsets)
        return false;
    for (uint32_t b = 0; b < model->bone_count; b++) {
        const th_bone *entry = &model->bones[b];
        tutorial->offsets[b] = mat4_from(&entry->inverse_bind);
        if (b > 0 && entry->joint == entry[-1].joint)
            tutorial->bones[tutorial->bone_count - 1].bone_count++;
        else
            tutorial->bones[tutorial->bone_count++] = (bone){model->joints[entry->joint].name, b, 1};
    }
    qsort(tutorial->bones, tutorial->bone_count, sizeof *tutorial->bones, compare_bones);
    return true;
}

/* Limits of the tutorials' structures and of their recursion. */
static th_result check_limits(const th_model *model, th_error *err)
{
    uint32_t *depths = calloc(model->joint_count, sizeof *depths), deepest = 0;
    if (!depths)
        return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", model->name);
    size_t longest = 0;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        uint32_t parent = model->joints[j].parent;
        depths[j] = parent == TH_NO_INDEX ? 0 : depths[parent] + 1;
        deepest = depths[j] > deepest ? depths[j] : deepest;
        size_t length = strlen(model->joints[j].name);
        longest = length > longest ? length : longest;
    }
    free(depths);
    if (deepest > TH_TUTORIAL_MAX_DEPTH || longest > TH_TUTORIAL_MAX_NAME)
        return th_fail(err, TH_ERR_LIMIT, "%s: the tutorial method takes at most %u levels and names of %u bytes",
                       model->name, TH_TUTORIAL_MAX_DEPTH, TH_TUTORIAL_MAX_NAME);
    return TH_OK;
}

th_result th_tutorial_create(const th_model *model, th_tutorial **out, th_error *err)
{
    assert(model && out);
    *out = NULL;
    th_result result = check_limits(model, err);
    if (result != TH_OK)
        return result;
    th_arena *arena = th_arena_create();
    th_tutorial *tutorial = arena ? th_arena_new(arena, th_tutorial, 1) : NULL;
    if (tutorial)
        *tutorial = (th_tutorial){.model = model, .arena = arena};
    if (!tutorial || !build_nodes(tutorial) || !build_animations(tutorial) || !build_bones(tutorial)) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", model->name);
    }
    *out = tutorial;
    return TH_OK;
}

void th_tutorial_destroy(th_tutorial *tutorial)
{
    if (tutorial)
        th_arena_destroy(tutorial->arena);
}
