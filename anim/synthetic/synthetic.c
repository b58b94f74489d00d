/* Synthetic models: hierarchy and rest pose, a prism for every joint, morph targets, and clips in which a wave runs
 * from the root to the tips. */
#include <anim/synthetic.h>

#include <anim/exact.h>
#include <core/arena.h>
#include <core/random.h>

#include <assert.h>
#include <math.h>
#include <string.h>

#define HEIGHT_M     1.8
#define GOLDEN_RATIO 0.6180339887498949 /* turns between limbs, so that a limb is never above one of the last few */

/* A joint and the segment from it along its own Y axis. Metres. */
typedef struct segment {
    uint32_t parent, level; /* level: 0 for the root */
    double offset;          /* from the parent's joint along the parent's axis */
    double rotation[4];     /* parent_from_joint at rest */
    double length, radius, tip_radius;
} segment;

/* Separate random streams for each use of the seed. */
enum { STREAM_LIMBS, STREAM_BENDS, STREAM_CLIPS };

/* sin(2 pi turns), accurate to 1e-11: Taylor series on a quarter turn to either side. Unlike a library's sine, gives
 * the same bits on every platform. */
static double sin_turns(double turns)
{
    double x = turns - floor(turns + 0.5);
    x = x > 0.25 ? 0.5 - x : x < -0.25 ? -0.5 - x : x;
    x *= 6.283185307179586;
    const double x2 = x * x;
    double term = x, sum = x;
    for (int n = 2; n < 18; n += 2) {
        term *= -x2 / (n * (n + 1));
        sum += term;
    }
    return sum;
}

static double cos_turns(double turns)
{
    return sin_turns(turns + 0.25);
}

/* Rotates about an axis (0 X, 1 Y, 2 Z). */
static void turn_about(int axis, double turns, double out[4])
{
    out[0] = out[1] = out[2] = 0;
    out[axis] = sin_turns(turns / 2);
    out[3] = cos_turns(turns / 2);
}

/* ---- hierarchy and rest pose ---- */

#define THICKEST_M 0.09
#define THINNEST_M 0.004
#define TREE_DEPTH 12 /* a human with fingers has 11 */

/* Segments are written front to back, so that a subtree is contiguous. */
typedef struct grower {
    const th_synthetic_desc *desc;
    segment *segments;
    uint32_t count, limbs, depth;
} grower;

static double chance(const grower *g, uint64_t stream, uint64_t n)
{
    return th_random_unit(th_random_bits(g->desc->seed, stream), n);
}

/* A number from low to high, both included. unit: in [0, 1). */
static uint32_t between(double unit, uint32_t low, uint32_t high)
{
    assert(unit >= 0 && unit < 1 && low <= high);
    return low + (uint32_t)(unit * (high - low + 1));
}

/* A limb of `length` segments, at least 2 if `joints` is. The remaining joints branch off, at most as far out as the
 * limb itself. Half of its segments have no branches, the others three times their share: few limbs, but large ones.
 * is_side: it leans away from its parent. */
static void grow_limb(grower *g, uint32_t parent, uint32_t joints, uint32_t length, bool is_side)
{
    assert(length > 0 && length <= joints);
    uint32_t left = joints - length;
    for (uint32_t i = 0; i < length; i++) {
        const uint32_t index = g->count++, level = parent == TH_NO_INDEX ? 0 : g->segments[parent].level + 1;
        assert(index < g->desc->joints && (parent == TH_NO_INDEX || parent < index));
        segment *s = &g->segments[index];
        /* Shorter towards the tips: 1 at the root, 0.6 at full depth. The longest path adds up to the height. */
        const double share = 1 - 0.4 * level / g->depth, all = g->depth - 0.2 * (g->depth - 1);
        *s = (segment){.parent = parent, .level = level, .length = HEIGHT_M * share / all};
        if (parent != TH_NO_INDEX)
            s->offset = g->segments[parent].length;
        /* Away from the parent's axis, to a side of its own. */
        const double by = chance(g, STREAM_BENDS, index);
        const bool leans = is_side && i == 0;
        const double tilt = leans ? 0.06 + 0.12 * by : parent == TH_NO_INDEX ? 0 : 0.05 * by / sqrt(g->depth);
        double turn[4];
        turn_about(1, (leans ? g->limbs++ : index) * GOLDEN_RATIO, s->rotation);
        turn_about(0, tilt, turn);
        th_quat_mul(s->rotation, turn, s->rotation);

        parent = index;
        const uint32_t beyond = length - 1 - i;
        const bool is_bare = beyond > 3 && chance(g, STREAM_LIMBS, ~(uint64_t)index) < 0.5;
        if (beyond == 0 || is_bare)
            continue;
        uint32_t here = beyond > 3 ? left * 3 / beyond : left;
        left -= here;
        while (here > 0) {
            const double large = chance(g, STREAM_LIMBS, 2 * (uint64_t)g->count);
            const double far = chance(g, STREAM_LIMBS, 2 * (uint64_t)g->count + 1);
            const uint32_t most = here < 3 * beyond ? here : 3 * beyond;
            const uint32_t size = beyond == 1 ? 1 : between(large, most < 8 ? most : 8, most);
            const uint32_t reach = size < beyond ? size : beyond;
            grow_limb(g, index, size, between(far, reach - reach / 3, reach), true);
            here -= size;
        }
    }
}

/* Rays in evenly spread directions (Fibonacci lattice: A. Gonzalez, Measurement of Areas on a Sphere Using Fibonacci
 * and Latitude-Longitude Lattices, 2010). */
static void lay_star(segment *segments, uint32_t count)
{
    assert(count > 0);
    const double hub = 0.12, rays = count - 1;
    segments[0] = (segment){.parent = TH_NO_INDEX, .rotation = {0, 0, 0, 1}, .length = hub, .radius = hub};
    segments[0].offset = HEIGHT_M / 2 - hub / 2;
    segments[0].tip_radius = hub;
    for (uint32_t j = 1; j < count; j++) {
        const double cosine = 1 - 2 * (j - 0.5) / rays,
                     tilt[4] = {sqrt((1 - cosine) / 2), 0, 0, sqrt((1 + cosine) / 2)};
        const double radius = fmin(0.4 * hub, hub * sqrt(2.5 / rays));
        segments[j] = (segment){.parent = 0, .level = 1, .offset = hub / 2, .length = HEIGHT_M / 2, .radius = radius};
        segments[j].tip_radius = radius / 4;
        turn_about(1, j * GOLDEN_RATIO, segments[j].rotation);
        th_quat_mul(segments[j].rotation, tilt, segments[j].rotation);
    }
}

uint32_t th_synthetic_depth(const th_synthetic_desc *desc)
{
    assert(desc && (unsigned)desc->shape < TH_SYNTHETIC_SHAPE_COUNT);
    uint32_t depth = desc->depth ? desc->depth : TREE_DEPTH;
    if (desc->shape == TH_SYNTHETIC_CHAIN)
        depth = desc->joints;
    else if (desc->shape == TH_SYNTHETIC_STAR)
        depth = 2;
    return depth < desc->joints ? depth : desc->joints;
}

/* Depth first. segments: desc->joints of them. */
static void lay_segments(const th_synthetic_desc *desc, segment *segments)
{
    const uint32_t count = desc->joints;
    assert(count > 0 && count <= TH_SYNTHETIC_MAX_JOINTS);
    if (desc->shape == TH_SYNTHETIC_STAR) {
        lay_star(segments, count);
        return;
    }
    grower g = {.desc = desc, .segments = segments, .depth = th_synthetic_depth(desc)};
    grow_limb(&g, TH_NO_INDEX, count, g.depth, false);
    assert(g.count == count);

    /* The cross-sections of branches add up to that of the branch they come from (after Leonardo da Vinci, Notebooks,
     * J. P. Richter 1883, 394). */
    uint32_t grown[TH_SYNTHETIC_MAX_JOINTS] = {0}; /* number of joints at and below each joint */
    for (uint32_t j = count; j-- > 0;) {
        segment *s = &segments[j], *parent = j > 0 ? &segments[s->parent] : NULL;
        grown[j]++;
        if (parent)
            grown[s->parent] += grown[j];
        s->radius = THINNEST_M + (THICKEST_M - THINNEST_M) * sqrt((double)grown[j] / count);
        if (s->tip_radius == 0)
            s->tip_radius = s->radius / 2;
        if (parent && parent->tip_radius < s->radius)
            parent->tip_radius = s->radius;
    }
}

/* pose: room for that at rest. */
static bool add_skeleton(th_model *model, const segment *segments, uint32_t count, th_dmat34 *pose)
{
    th_joint *joints = th_arena_new(model->arena, th_joint, count);
    th_bone *bones = th_arena_new(model->arena, th_bone, count);
    for (uint32_t j = 0; joints && j < count; j++) {
        const segment *s = &segments[j];
        const th_trs rest = {.translation = {0, s->offset, 0},
                             .rotation = {s->rotation[0], s->rotation[1], s->rotation[2], s->rotation[3]},
                             .scale = {1, 1, 1}};
        joints[j] = (th_joint){.name = th_arena_format(model->arena, "joint_%03u", j),
                               .parent = s->parent,
                               .rest = th_mat34_from(th_dmat34_from_trs(&rest))};
    }
    if (th_arena_failed(model->arena))
        return false;
    model->joints = joints;
    model->joint_count = count;
    model->bones = bones;
    model->bone_count = count;
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    for (uint32_t j = 0; j < count; j++) {
        th_dmat34 inverse = TH_DMAT34_IDENTITY;
        th_dmat34_invert(&pose[j], &inverse);
        bones[j] = (th_bone){.joint = j, .inverse_bind = th_mat34_from(inverse)};
    }
    return true;
}

/* ---- the mesh ---- */

/* A prism for every joint: tapered, pointed at both ends, so that neighbours overlap where they bend. */
#define SIDES    6
#define RINGS    2
#define VERTICES (RINGS * SIDES + 2) /* the rings, then the points below and above */
#define INDICES  (3 * 4 * SIDES)

static void place(th_vertex *vertex, const th_dmat34 *from_joint, const double position[3], const double normal[3])
{
    double p[3];
    th_dmat34_point(from_joint, position, p);
    for (int row = 0; row < 3; row++) {
        const double *m = from_joint->m + 4 * row;
        vertex->position[row] = (float)p[row];
        vertex->normal[row] = (float)(m[0] * normal[0] + m[1] * normal[1] + m[2] * normal[2]);
    }
}

/* pose: at rest. */
static bool add_mesh(th_model *model, const segment *segments, const th_dmat34 *pose)
{
    const uint32_t count = model->joint_count;
    th_material *material = th_arena_new(model->arena, th_material, 1);
    th_mesh *mesh = th_arena_new(model->arena, th_mesh, 1);
    th_vertex *vertices = th_arena_new(model->arena, th_vertex, (size_t)count * VERTICES);
    uint32_t *indices = th_arena_new(model->arena, uint32_t, (size_t)count * INDICES), levels = 0;
    if (th_arena_failed(model->arena))
        return false;
    for (uint32_t j = 0; j < count; j++)
        levels = segments[j].level + 1 > levels ? segments[j].level + 1 : levels;
    for (uint32_t j = 0; j < count; j++) {
        const segment *s = &segments[j];
        th_vertex *own = vertices + (size_t)j * VERTICES;
        const double radii[RINGS] = {s->radius, s->tip_radius}, heights[RINGS] = {0, s->length};
        for (uint32_t ring = 0; ring < RINGS; ring++)
            for (uint32_t side = 0; side < SIDES; side++) {
                const double turns = (double)side / SIDES, out[3] = {sin_turns(turns), 0, cos_turns(turns)};
                const double at[3] = {radii[ring] * out[0], heights[ring], radii[ring] * out[2]};
                place(&own[ring * SIDES + side], &pose[j], at, out);
            }
        const double below[3] = {0, -radii[0] / 2, 0}, above[3] = {0, heights[1] + radii[1] / 2, 0};
        place(&own[RINGS * SIDES], &pose[j], below, (double[3]){0, -1, 0});
        place(&own[RINGS * SIDES + 1], &pose[j], above, (double[3]){0, 1, 0});

        /* Linear colours, from bark to leaf. Every second joint is slightly darker, so that joints are visible. */
        static const double root[3] = {96, 42, 22}, tip[3] = {86, 148, 40};
        const double at = levels > 1 ? s->level / (levels - 1.0) : 0, light = j % 2 ? 0.7 : 1;
        for (uint32_t v = 0; v < VERTICES; v++) {
            for (int i = 0; i < 3; i++)
                own[v].color[i] = (uint8_t)(light * (root[i] + at * (tip[i] - root[i])));
            own[v].color[3] = 255;
            own[v].bone[0] = (uint16_t)j;
            own[v].weight[0] = 1;
        }

        const uint32_t first = j * VERTICES, low = first + RINGS * SIDES, high = low + 1;
        for (uint32_t side = 0; side < SIDES; side++) {
            const uint32_t a = first + side, b = first + (side + 1) % SIDES, c = a + SIDES, d = b + SIDES;
            const uint32_t triangles[INDICES / SIDES] = {low, b, a, a, b, c, b, d, c, c, d, high};
            memcpy(indices + (size_t)j * INDICES + side * (INDICES / SIDES), triangles, sizeof triangles);
        }
    }
    /* White: the colours are in the vertices. */
    *material = (th_material){.name = TH_SYNTHETIC_NAME, .base_color = {1, 1, 1, 1}, .texture = TH_NO_INDEX};
    *mesh = (th_mesh){.name = TH_SYNTHETIC_NAME,
                      .vertex_count = count * VERTICES,
                      .index_count = count * INDICES,
                      .vertices = vertices,
                      .indices = indices};
    model->materials = material;
    model->material_count = 1;
    model->meshes = mesh;
    model->mesh_count = 1;
    return true;
}

/* ---- morph targets ---- */

/* Each makes one joint in eight thicker, as a wave of its own. */
#define EVERY   8
#define SWELL_M 0.02

static bool add_weights(th_model *model, const th_synthetic_desc *desc)
{
    th_weight *weights = th_arena_new(model->arena, th_weight, desc->weights);
    th_morph_target *targets = th_arena_new(model->arena, th_morph_target, desc->weights);
    th_mesh *mesh = (th_mesh *)model->meshes;
    for (uint32_t w = 0; weights && targets && w < desc->weights; w++) {
        weights[w] = (th_weight){.name = th_arena_format(model->arena, "weight_%u", w)};
        th_morph_delta *deltas = mesh ? th_arena_new(model->arena, th_morph_delta, mesh->vertex_count) : NULL;
        targets[w] = (th_morph_target){.weight = w, .deltas = deltas};
        for (uint32_t v = 0; deltas && v < mesh->vertex_count; v++) {
            if (mesh->vertices[v].bone[0] % EVERY != w % EVERY)
                continue;
            th_morph_delta *delta = &deltas[targets[w].delta_count++];
            *delta = (th_morph_delta){.vertex = v};
            for (int i = 0; i < 3; i++)
                delta->position[i] = (float)SWELL_M * mesh->vertices[v].normal[i];
        }
    }
    model->weights = weights;
    model->weight_count = desc->weights;
    if (mesh) {
        mesh->targets = targets;
        mesh->target_count = desc->weights;
    }
    return !th_arena_failed(model->arena);
}

/* ---- clips ---- */

/* A wave that runs from the root to the tips, with whole cycles per clip. */
#define FULL_SWING 0.35 /* turns, total of all joints on the longest path; */
#define MOST_SWING 0.05 /* turns of one joint */
#define MOST_SCALE 0.1  /* relative change of scale */
#define ROOT_M     0.03 /* movement of the root */
#define WAVE_LAG   0.6  /* cycles by which the tips lag the root */
#define CYCLE_KEYS 12   /* minimum, so that keys show the wave and not an alias of it */
#define SLOWEST_HZ 0.4
#define FASTEST_HZ 0.8

/* Shared by all channels of a clip. */
typedef struct wave {
    uint64_t seed;
    uint32_t keys;
    double cycles, swing, stretch, depth;
    const double *times; /* of `keys` keys, from 0 */
} wave;

/* A cycle with a ripple of higher frequency. time: 0 to 1 over the clip. */
static double sway(const wave *w, double time, double lag)
{
    const double at = time * w->cycles - lag;
    return 0.8 * sin_turns(at) + 0.2 * sin_turns(2 * at + 0.1);
}

/* Value at key k of the clip; the last key equals the first. */
static double time_of(const wave *w, uint32_t k)
{
    assert(k < w->keys && w->keys >= TH_SYNTHETIC_MIN_KEYS);
    return (double)(k % (w->keys - 1)) / (w->keys - 1);
}

/* Three numbers per key: middle + by * wave; a single key if nothing moves. */
static th_track vectors(th_arena *arena, const wave *w, const double middle[3], const double by[3], double lag)
{
    const bool still = by[0] == 0 && by[1] == 0 && by[2] == 0;
    const uint32_t keys = still ? 1 : w->keys;
    float *values = th_arena_new(arena, float, 3 * (size_t)keys);
    for (uint32_t k = 0; values && k < keys; k++)
        for (uint32_t i = 0; i < 3; i++)
            values[3 * k + i] = (float)(middle[i] + by[i] * sway(w, time_of(w, k), lag + 0.25 * i));
    return (th_track){.key_count = keys, .times = w->times, .values = values};
}

static th_channel channel_of(th_arena *arena, const wave *w, const segment *s, uint32_t joint)
{
    const double lag = WAVE_LAG * s->level / w->depth + 0.25 * th_random_unit(w->seed, joint);
    const double shift = joint == 0 ? ROOT_M : 0;
    const double at[3] = {0, s->offset, 0}, shifts[3] = {shift, shift / 3, shift};
    const double one[3] = {1, 1, 1}, stretches[3] = {w->stretch, w->stretch, w->stretch};
    float *values = th_arena_new(arena, float, 4 * (size_t)w->keys);
    for (uint32_t k = 0; values && k < w->keys; k++) {
        const double time = time_of(w, k);
        double bend[4], tilt[4], q[4];
        turn_about(0, w->swing * sway(w, time, lag), bend);
        turn_about(2, w->swing / 2 * sway(w, time, lag + 0.3), tilt);
        th_quat_mul(s->rotation, bend, q);
        th_quat_mul(q, tilt, q);
        for (uint32_t i = 0; i < 4; i++)
            values[4 * k + i] = (float)q[i];
    }
    return (th_channel){.joint = joint,
                        .rotation = {.key_count = w->keys, .times = w->times, .values = values},
                        .translation = vectors(arena, w, at, shifts, lag),
                        .scale = vectors(arena, w, one, stretches, lag),
                        .filled = (joint > 0 ? TH_TRANSLATION : 0) | (w->stretch > 0 ? 0 : TH_SCALE)};
}

static void add_clip(th_arena *arena, const segment *segments, const th_synthetic_desc *desc, uint32_t index,
                     const double *times, th_clip *out)
{
    const double seconds = (double)(desc->keys - 1) / desc->rate, depth = th_synthetic_depth(desc);
    wave w = {.seed = th_random_bits(th_random_bits(desc->seed, STREAM_CLIPS), index),
              .keys = desc->keys,
              .swing = fmin(FULL_SWING / depth, MOST_SWING),
              .stretch = desc->moving_scale ? MOST_SCALE / sqrt(depth) : 0,
              .depth = depth,
              .times = times};
    const double hertz = SLOWEST_HZ + (FASTEST_HZ - SLOWEST_HZ) * th_random_unit(w.seed, desc->joints);
    w.cycles = fmax(fmin(floor(hertz * seconds + 0.5), floor((desc->keys - 1.0) / CYCLE_KEYS)), 1);

    th_channel *channels = th_arena_new(arena, th_channel, desc->joints);
    th_weight_track *weights = th_arena_new(arena, th_weight_track, desc->weights);
    *out = (th_clip){.name = th_arena_format(arena, "clip_%u", index),
                     .duration_ticks = desc->keys - 1,
                     .ticks_per_second = desc->rate,
                     .channels = channels,
                     .weight_tracks = weights,
                     .weight_track_count = desc->weights};
    /* Exactly the requested number of joints, evenly spaced. */
    const uint32_t joints = desc->joints, moving = (joints * desc->moving + 50) / 100;
    for (uint32_t j = 0; channels && j < joints; j++)
        if ((j + 1) * moving / joints > j * moving / joints)
            channels[out->channel_count++] = channel_of(arena, &w, &segments[j], j);
    /* Between 0 and 1. */
    for (uint32_t i = 0; weights && i < desc->weights; i++) {
        float *values = th_arena_new(arena, float, w.keys);
        const double lag = th_random_unit(w.seed, TH_SYNTHETIC_MAX_JOINTS + 1 + i);
        for (uint32_t k = 0; values && k < w.keys; k++)
            values[k] = (float)(0.5 + 0.5 * sway(&w, time_of(&w, k), lag));
        weights[i] = (th_weight_track){.weight = i, .track = {w.keys, times, values, NULL, false}};
    }
}

static bool add_clips(th_model *model, const segment *segments, const th_synthetic_desc *desc)
{
    th_clip *clips = th_arena_new(model->arena, th_clip, desc->clips);
    double *times = th_arena_new(model->arena, double, desc->keys); /* one tick apart, shared by all tracks */
    for (uint32_t k = 0; times && k < desc->keys; k++)
        times[k] = k;
    for (uint32_t c = 0; clips && times && c < desc->clips; c++)
        add_clip(model->arena, segments, desc, c, times, &clips[c]);
    model->clips = clips;
    model->clip_count = desc->clips;
    return !th_arena_failed(model->arena);
}

/* ---- the model ---- */

static bool possible(const th_synthetic_desc *d)
{
    const bool tree = d->shape == TH_SYNTHETIC_TREE;
    return d->shape < TH_SYNTHETIC_SHAPE_COUNT && d->joints >= 1 && d->joints <= TH_SYNTHETIC_MAX_JOINTS &&
           d->clips >= 1 && d->clips <= TH_SYNTHETIC_MAX_CLIPS && d->keys >= TH_SYNTHETIC_MIN_KEYS &&
           d->keys <= TH_SYNTHETIC_MAX_KEYS && d->rate >= 1 && d->rate <= TH_SYNTHETIC_MAX_RATE && d->moving <= 100 &&
           d->weights <= TH_SYNTHETIC_MAX_WEIGHTS && th_synthetic_work(d) <= TH_SYNTHETIC_MAX_WORK &&
           d->depth <= (tree ? d->joints : 0) && (d->depth != 1 || d->joints == 1);
}

th_result th_synthetic_create(const th_synthetic_desc *desc, th_model **out, th_error *err)
{
    assert(desc && out);
    const char *name = desc->name ? desc->name : TH_SYNTHETIC_NAME;
    *out = NULL;
    if (!possible(desc))
        return th_fail(err, TH_ERR_LIMIT, "%s: beyond what such a model can be", name);
    th_arena *arena = th_arena_create(), *scratch = th_arena_create();
    segment *segments = th_arena_new(scratch, segment, desc->joints);
    th_dmat34 *pose = th_arena_new(scratch, th_dmat34, desc->joints);
    th_model *model = th_arena_new(arena, th_model, 1);
    const char *copy = th_arena_string(arena, name);
    bool ok = !th_arena_failed(arena) && !th_arena_failed(scratch);
    if (ok) {
        *model = (th_model){.name = copy, .arena = arena};
        lay_segments(desc, segments);
        ok = add_skeleton(model, segments, desc->joints, pose) && (desc->no_mesh || add_mesh(model, segments, pose)) &&
             add_weights(model, desc) && add_clips(model, segments, desc) &&
             (model->size = th_model_measure(model)) > 0;
    }
    th_arena_destroy(scratch);
    const th_result result =
        ok ? th_model_check(model, err) : th_fail(err, TH_ERR_MEMORY, "there is no memory left for %s", name);
    if (result == TH_OK)
        *out = model;
    else
        th_arena_destroy(arena);
    return result;
}
