/* Joint levels of detail: which joints may stand still within an error, and the models in which they do.
 *
 * A greedy search. Joints are tried in the order of what each does alone, so that those that do little go first. Trying
 * one is quick: only its subtree moves, so only the vertices that follow that need to be skinned, and most joints that
 * cannot be held show it at the first moment. */
#include <anim/joint_lod.h>

#include "vertices.h"

#include <anim/exact.h>
#include <core/arena.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINEST_LIMIT                                                                                                   \
    0.007 /* of level 1: a 140th of the model's size; the human's mesh with half its triangles has it */
#define MARGIN               1.01 /* of the error, for what lies between two moments */
#define SAVES(count, before) (5 * (uint64_t)(count) <= 4 * (uint64_t)(before)) /* what a level takes to be one */
#define ATTEMPTS             4

/* Of the search. */
#define TRIED_MOMENTS 32u        /* most of a clip */
#define FIRST_BUDGET  (1u << 21) /* vertices skinned to measure each joint alone, */
#define BUDGET        (1 << 25)  /* and in all */
#define MEMORY_BUDGET ((size_t)256 << 20)

/* Of measuring. */
#define MEASURED_MOMENTS 256u
#define VERTEX_BUDGET    (1u << 20) /* vertices skinned twice: a tenth of a second */
#define CLOSER           16         /* moments on either side of the worst, within the distance to its neighbours */

double th_lod_limit(uint32_t level)
{
    assert(level < TH_LOD_LEVELS);
    return level == 0 ? 0 : FINEST_LIMIT * exp2((level - 1) / 2.0);
}

/* ---- moments, spread evenly over all clips ---- */

/* clip: NULL for a model without clips, at rest. ticks: within the clip. */
typedef struct clip_moment {
    const th_clip *clip;
    double ticks;
} clip_moment;

/* Moment i of `count`. If count is a multiple of the number of clips, each has the middles of as many equal parts. */
static clip_moment moment_at(const th_model *model, uint32_t count, uint32_t i)
{
    if (model->clip_count == 0)
        return (clip_moment){NULL, 0};
    const double at = (i + 0.5) / count * model->clip_count;
    const th_clip *clip = &model->clips[(uint32_t)at];
    return (clip_moment){clip, (at - (uint32_t)at) * clip->duration_ticks};
}

/* As many for each clip, at most `most`; fewer than one only if `affordable`, that of all clips, is less than their
 * number. */
static uint32_t count_moments(const th_model *model, uint32_t most, uint64_t affordable)
{
    if (model->clip_count == 0)
        return 1;
    const uint64_t each = affordable / model->clip_count;
    const uint64_t count = each > 0 ? (each < most ? each : most) * model->clip_count : affordable;
    return count > 0 ? (uint32_t)count : 1;
}

/* ---- how far a level is from its source ---- */

/* The vertex by all its influences. Blends the rows of matrices before it multiplies: fewer operations for several. */
static void skin_vertex(const th_vertex *vertex, const th_dmat34 *palette, double out[3])
{
    double sum[12] = {0};
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
        const double weight = (double)vertex->weight[k], *m = palette[vertex->bone[k]].m;
        for (int i = 0; i < 12; i++)
            sum[i] += weight * m[i];
    }
    const double x = (double)vertex->position[0], y = (double)vertex->position[1], z = (double)vertex->position[2];
    for (int row = 0; row < 3; row++)
        out[row] = sum[4 * row] * x + sum[4 * row + 1] * y + sum[4 * row + 2] * z + sum[4 * row + 3];
}

/* Two models with the same vertices and clips, of which the second is a level of the first. */
typedef struct comparison {
    const th_model *models[2];
    th_dmat34 *poses[2], *palettes[2];
    th_joint_level *worst;
} comparison;

/* Exact poses, double precision, without morph targets. */
static void compare_at(const comparison *c, const th_clip *clip, double ticks)
{
    const uint32_t index = clip ? (uint32_t)(clip - c->models[0]->clips) : TH_NO_INDEX;
    for (int i = 0; i < 2; i++) {
        const th_clip *played = clip ? &c->models[i]->clips[index] : NULL;
        th_exact_pose(c->models[i], played, ticks, TH_INTERPOLATION_AUTHORED, c->poses[i]);
        th_exact_palette(c->models[i], c->poses[i], c->palettes[i]);
    }
    for (uint32_t m = 0; m < c->models[0]->mesh_count; m++) {
        const th_mesh *a = &c->models[0]->meshes[m], *b = &c->models[1]->meshes[m];
        double square = 0;
        for (uint32_t v = 0; v < a->vertex_count; v++) {
            double one[3], other[3], sum = 0;
            skin_vertex(&a->vertices[v], c->palettes[0], one);
            skin_vertex(&b->vertices[v], c->palettes[1], other);
            for (int i = 0; i < 3; i++)
                sum += (one[i] - other[i]) * (one[i] - other[i]);
            square = sum <= square ? square : sum; /* NaN counts as the farthest */
        }
        const double away = sqrt(square);
        if (away <= c->worst->error)
            continue;
        c->worst->error = isnan(away) ? HUGE_VAL : away;
        c->worst->error_clip = index;
        c->worst->error_time_s = clip ? ticks / clip->ticks_per_second : 0;
    }
}

/* Measures up to 256 moments of every clip, then more around the worst: sets the error of the level, where it is worst,
 * and when. False when out of memory. */
static bool measure_level(const th_model *source, th_joint_level *level)
{
    comparison c = {.models = {source, level->model}, .worst = level};
    th_arena *arena = th_arena_create();
    for (int i = 0; i < 2; i++) {
        c.poses[i] = th_arena_new(arena, th_dmat34, c.models[i]->joint_count);
        c.palettes[i] = th_arena_new(arena, th_dmat34, c.models[i]->bone_count);
    }
    const bool ok = !th_arena_failed(arena);
    level->error = 0;
    level->error_clip = TH_NO_INDEX;
    const uint32_t count =
        count_moments(source, MEASURED_MOMENTS, VERTEX_BUDGET / (th_vertices_count(source) + 1u) + 1);
    for (uint32_t i = 0; ok && i < count; i++) {
        const clip_moment at = moment_at(source, count, i);
        compare_at(&c, at.clip, at.ticks);
    }
    if (ok && level->error_clip != TH_NO_INDEX) {
        const th_clip *clip = &source->clips[level->error_clip];
        const double duration = clip->duration_ticks, worst = level->error_time_s * clip->ticks_per_second,
                     apart = duration * source->clip_count / count;
        for (int i = -CLOSER; i <= CLOSER; i++)
            compare_at(&c, clip, fmin(fmax(worst + apart * i / CLOSER, 0), duration));
    }
    th_arena_destroy(arena);
    level->error *= MARGIN;
    return ok;
}

/* ---- what vertices follow when bones are left out ---- */

/* A skeleton of which some joints stand still relative to their parents. */
typedef struct held_skeleton {
    const th_model *model;
    bool *held;           /* by joint */
    th_dmat34 *means;     /* by joint: parent_from_joint where it is held */
    uint32_t *first_bone; /* by joint, and one after the last: of it and all joints after it */
} held_skeleton;

/* The bone that a vertex follows instead, and where its mesh space has the vertex. A bone that stays follows itself. */
typedef struct rebind {
    uint32_t bone;
    th_dmat34 matrix;
} rebind;

/* A bone is left out if its joint is held and a joint above it has a bone through which vertices can be moved, with
 * held joints only in between. */
static rebind rebind_bone(const held_skeleton *s, uint32_t bone)
{
    assert(bone < s->model->bone_count);
    rebind found = {bone, TH_DMAT34_IDENTITY};
    th_dmat34 matrix = th_dmat34_from(s->model->bones[bone].inverse_bind), mesh_from_joint;
    uint32_t joint = s->model->bones[bone].joint;
    while (s->held[joint] && s->model->joints[joint].parent != TH_NO_INDEX) {
        matrix = th_dmat34_mul(s->means[joint], matrix);
        joint = s->model->joints[joint].parent;
        for (uint32_t b = s->first_bone[joint]; b < s->first_bone[joint + 1]; b++) {
            const th_dmat34 inverse_bind = th_dmat34_from(s->model->bones[b].inverse_bind);
            if (!th_dmat34_invert(&inverse_bind, &mesh_from_joint))
                continue;
            found = (rebind){b, th_dmat34_mul(mesh_from_joint, matrix)};
            break;
        }
    }
    return found;
}

/* Where the vertex lies for its new bones, as the mean over its influences: by its bones before. Exact unless they
 * become several bones that turn against each other. */
static th_dmat34 rebind_matrix(const rebind *rebinds, const th_vertex *vertex)
{
    th_dmat34 sum = {{0}};
    double weights = 0;
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
        weights += (double)vertex->weight[k];
        for (int i = 0; i < 12; i++)
            sum.m[i] += (double)vertex->weight[k] * rebinds[vertex->bone[k]].matrix.m[i];
    }
    for (int i = 0; i < 12; i++)
        sum.m[i] /= weights;
    return sum;
}

static void move_position(const th_dmat34 *matrix, float position[3])
{
    double place[3] = {(double)position[0], (double)position[1], (double)position[2]};
    th_dmat34_point(matrix, place, place);
    for (int i = 0; i < 3; i++)
        position[i] = (float)place[i];
}

/* What normals are multiplied with: cofactors of the linear part. */
static void turn_normal(const th_dmat34 *matrix, const float normal[3], double out[3])
{
    const double *m = matrix->m;
    for (int row = 0; row < 3; row++) {
        const double *a = m + (row + 1) % 3 * 4, *b = m + (row + 2) % 3 * 4;
        out[row] = 0;
        for (int i = 0; i < 3; i++) {
            const int next = (i + 1) % 3, last = (i + 2) % 3;
            out[row] += (a[next] * b[last] - a[last] * b[next]) * (double)normal[i];
        }
    }
}

/* What makes the normal of the vertex as long as before. 0: it lost its direction. */
static double normal_factor(const th_dmat34 *matrix, const float normal[3])
{
    double turned[3];
    turn_normal(matrix, normal, turned);
    const double before = hypot(hypot((double)normal[0], (double)normal[1]), (double)normal[2]);
    const double after = hypot(hypot(turned[0], turned[1]), turned[2]);
    return after > 0 ? before / after : 0;
}

/* Moves a vertex to its new bones. numbers: what these are called, by bone. */
static th_vertex rebind_vertex(const rebind *rebinds, const uint32_t *numbers, const th_vertex *vertex)
{
    const th_dmat34 matrix = rebind_matrix(rebinds, vertex);
    const double factor = normal_factor(&matrix, vertex->normal);
    double turned[3];
    turn_normal(&matrix, vertex->normal, turned);
    th_vertex out = *vertex;
    move_position(&matrix, out.position);
    for (int i = 0; i < 3 && factor > 0; i++)
        out.normal[i] = (float)(factor * turned[i]);

    /* Influences of one new bone become one; they stay in descending order. */
    memset(out.bone, 0, sizeof out.bone);
    memset(out.weight, 0, sizeof out.weight);
    uint32_t count = 0;
    for (uint32_t i = 0; i < TH_MAX_INFLUENCES && vertex->weight[i] > 0; i++) {
        const uint32_t bone = numbers[rebinds[vertex->bone[i]].bone];
        uint32_t k = 0;
        while (k < count && out.bone[k] != bone)
            k++;
        count += k == count;
        const float weight = out.weight[k] + vertex->weight[i];
        for (; k > 0 && weight > out.weight[k - 1]; k--) {
            out.bone[k] = out.bone[k - 1];
            out.weight[k] = out.weight[k - 1];
        }
        out.bone[k] = (uint16_t)bone;
        out.weight[k] = weight;
    }
    return out;
}

/* The same for a delta of that vertex. */
static th_morph_delta rebind_delta(const rebind *rebinds, const th_vertex *vertex, const th_morph_delta *delta)
{
    const th_dmat34 matrix = rebind_matrix(rebinds, vertex);
    const double factor = normal_factor(&matrix, vertex->normal);
    double turned[3];
    turn_normal(&matrix, delta->normal, turned);
    th_morph_delta out = {.vertex = delta->vertex};
    for (int row = 0; row < 3; row++) {
        double moved = 0;
        for (int i = 0; i < 3; i++)
            moved += matrix.m[4 * row + i] * (double)delta->position[i];
        out.position[row] = (float)moved;
        out.normal[row] = factor > 0 ? (float)(factor * turned[row]) : delta->normal[row];
    }
    return out;
}

/* ---- choosing joints ---- */

/* A joint and what holding it alone does. */
typedef struct candidate {
    uint32_t joint;
    double error;
} candidate;

/* Arrays of matrices have moment_count rows. */
typedef struct chooser {
    const th_model *model;
    th_arena *arena; /* owns the arrays */
    held_skeleton skeleton;
    uint32_t *ends; /* by joint: the first joint after its subtree */
    uint32_t moment_count;
    th_dmat34 *locals;         /* of joints, as the clips have them */
    th_dmat34 *poses, *played; /* of joints and of bones, with what is held so far */
    th_dmat34 *palettes;       /* of bones, as the clips have them */
    th_dmat34 *pose, *palette; /* one row each: of what is tried */
    rebind *rebinds;           /* by bone, with what is held or tried */
    uint32_t *numbers;         /* by bone: its index among those that stay */
    uint32_t vertex_count;
    const th_vertex **vertices;   /* of all meshes */
    uint32_t *first_follower;     /* by bone, and one after the last */
    uint32_t *followers;          /* indices into vertices: those that follow a bone */
    uint32_t *stamps, stamp;      /* by vertex: the try that has it in its list already */
    uint32_t *tried, tried_count; /* vertices of the joint that is tried */
    th_vertex *moved;             /* the same, rebound */
    candidate *candidates;
    uint32_t candidate_count;
    uint32_t suspect; /* the moment at which the last try failed */
    int64_t budget;
} chooser;

static th_dmat34 *row(th_dmat34 *matrices, uint32_t moment, uint32_t width)
{
    return matrices + (size_t)moment * width;
}

/* The pose and the palette of a subtree at a moment, with what is held. Above it they are those of before. */
static void pose_subtree(const chooser *c, uint32_t moment, uint32_t joint, th_dmat34 *pose, th_dmat34 *palette)
{
    const th_model *model = c->model;
    const held_skeleton *s = &c->skeleton;
    const th_dmat34 *locals = row(c->locals, moment, model->joint_count),
                    *before = row(c->poses, moment, model->joint_count);
    for (uint32_t j = joint; j < c->ends[joint]; j++) {
        const uint32_t parent = model->joints[j].parent;
        const th_dmat34 local = s->held[j] ? s->means[j] : locals[j];
        pose[j] = parent == TH_NO_INDEX ? local : th_dmat34_mul(parent < joint ? before[parent] : pose[parent], local);
        for (uint32_t b = s->first_bone[j]; b < s->first_bone[j + 1]; b++)
            palette[b] = th_dmat34_mul(pose[j], th_dmat34_from(model->bones[b].inverse_bind));
    }
}

static void rebind_subtree(chooser *c, uint32_t joint)
{
    const uint32_t *first = c->skeleton.first_bone;
    for (uint32_t b = first[joint]; b < first[c->ends[joint]]; b++)
        c->rebinds[b] = rebind_bone(&c->skeleton, b);
}

/* Makes what is held of a subtree that of later tries. */
static void settle(chooser *c, uint32_t joint)
{
    rebind_subtree(c, joint);
    for (uint32_t i = 0; i < c->moment_count; i++)
        pose_subtree(c, i, joint, row(c->poses, i, c->model->joint_count), row(c->played, i, c->model->bone_count));
}

static void settle_all(chooser *c)
{
    for (uint32_t j = 0; j < c->model->joint_count; j = c->ends[j])
        settle(c, j);
}

/* The largest distance over all moments with the joint held too, or one beyond the limit. It stays held. */
static double try_joint(chooser *c, uint32_t joint, double limit)
{
    const uint32_t bones = c->model->bone_count, *first = c->skeleton.first_bone;
    c->skeleton.held[joint] = true;
    rebind_subtree(c, joint);

    /* Its vertices, each once, and where they are for their new bones. */
    c->stamp++;
    c->tried_count = 0;
    for (uint32_t i = c->first_follower[first[joint]]; i < c->first_follower[first[c->ends[joint]]]; i++) {
        const uint32_t v = c->followers[i];
        if (c->stamps[v] == c->stamp)
            continue;
        c->stamps[v] = c->stamp;
        const th_vertex *vertex = c->vertices[v];
        th_vertex *moved = &c->moved[c->tried_count];
        c->tried[c->tried_count++] = v;
        const th_dmat34 matrix = rebind_matrix(c->rebinds, vertex);
        *moved = *vertex;
        move_position(&matrix, moved->position);
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
            moved->bone[k] = (uint16_t)c->rebinds[vertex->bone[k]].bone;
    }

    /* Squares, from the moment on that failed the last try. */
    const double most = limit * limit;
    double largest = 0;
    for (uint32_t n = 0; n < c->moment_count && c->tried_count > 0 && largest <= most; n++) {
        const uint32_t moment = (c->suspect + n) % c->moment_count;
        const th_dmat34 *exact = row(c->palettes, moment, bones);
        double error = 0;
        memcpy(c->palette, row(c->played, moment, bones), bones * sizeof *c->palette);
        pose_subtree(c, moment, joint, c->pose, c->palette);
        for (uint32_t i = 0; i < c->tried_count && error <= most; i++, c->budget--) {
            double is[3], was[3], sum = 0;
            skin_vertex(&c->moved[i], c->palette, is);
            skin_vertex(c->vertices[c->tried[i]], exact, was);
            for (int k = 0; k < 3; k++)
                sum += (is[k] - was[k]) * (is[k] - was[k]);
            error = sum <= error ? error : sum;
        }
        error = isnan(error) ? HUGE_VAL : error;
        largest = error > largest ? error : largest;
        if (error > most)
            c->suspect = moment;
    }
    return sqrt(largest);
}

static void release(chooser *c, uint32_t joint)
{
    c->skeleton.held[joint] = false;
    rebind_subtree(c, joint);
}

/* Holds more joints, those that show least first, as long as no vertex is further than `limit` from where it was, in
 * scene units, at the moments at which it measures. */
static void hold_joints(chooser *c, double limit)
{
    for (uint32_t i = 0; i < c->candidate_count && c->candidates[i].error <= limit && c->budget > 0; i++) {
        const uint32_t joint = c->candidates[i].joint;
        if (c->skeleton.held[joint])
            continue;
        if (try_joint(c, joint, limit) <= limit)
            settle(c, joint);
        else
            release(c, joint);
    }
}

/* A mean of transforms: quaternions are added with aligned signs. False if it is not finite. */
static bool find_mean(const chooser *c, uint32_t joint, th_dmat34 *out)
{
    th_trs sum = {0};
    for (uint32_t i = 0; i < c->moment_count; i++) {
        th_trs trs;
        double dot = 0;
        th_dmat34_decompose(row(c->locals, i, c->model->joint_count) + joint, &trs);
        for (int k = 0; k < 4; k++)
            dot += sum.rotation[k] * trs.rotation[k];
        for (int k = 0; k < 4; k++)
            sum.rotation[k] += dot < 0 ? -trs.rotation[k] : trs.rotation[k];
        for (int k = 0; k < 3; k++) {
            sum.translation[k] += trs.translation[k] / c->moment_count;
            sum.scale[k] += trs.scale[k] / c->moment_count;
        }
    }
    *out = th_dmat34_from_trs(&sum);
    for (int k = 0; k < 12; k++)
        if (!isfinite(out->m[k]))
            return false;
    return true;
}

static int by_error(const void *a, const void *b)
{
    const candidate *one = a, *other = b;
    if (one->error != other->error)
        return one->error < other->error ? -1 : 1;
    return one->joint < other->joint ? 1 : -1; /* tips first */
}

/* Marks the joints that a clip moves. moves: by joint, false before. */
static void find_moving_joints(const th_model *model, bool *moves)
{
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t i = 0; i < model->clips[c].channel_count; i++)
            moves[model->clips[c].channels[i].joint] = true;
}

/* Holds what stands still and moves no vertex of its own, and measures what holding each other joint on which bones
 * depend alone does. False when out of memory; destroy the arena in either case. */
static bool init_chooser(chooser *c, const th_model *model)
{
    const size_t joints = model->joint_count, bones = model->bone_count, vertices = th_vertices_count(model);
    th_arena *arena = th_arena_create();
    *c = (chooser){.model = model,
                   .arena = arena,
                   .skeleton = {.model = model,
                                .held = th_arena_new(arena, bool, joints),
                                .means = th_arena_new(arena, th_dmat34, joints),
                                .first_bone = th_arena_new(arena, uint32_t, joints + 1)},
                   .ends = th_arena_new(arena, uint32_t, joints),
                   .pose = th_arena_new(arena, th_dmat34, joints),
                   .palette = th_arena_new(arena, th_dmat34, bones),
                   .rebinds = th_arena_new(arena, rebind, bones),
                   .numbers = th_arena_new(arena, uint32_t, bones),
                   .vertices = th_arena_new(arena, const th_vertex *, vertices),
                   .first_follower = th_arena_new(arena, uint32_t, bones + 1),
                   .stamps = th_arena_new(arena, uint32_t, vertices),
                   .tried = th_arena_new(arena, uint32_t, vertices),
                   .moved = th_arena_new(arena, th_vertex, vertices),
                   .candidates = th_arena_new(arena, candidate, joints),
                   .budget = BUDGET};
    bool *moves = th_arena_new(arena, bool, joints);
    uint32_t *next = th_arena_new(arena, uint32_t, bones); /* by bone: its followers that are listed */
    if (th_arena_failed(arena))
        return false;

    uint32_t *first = c->skeleton.first_bone;
    for (uint32_t b = 0; b < bones; b++)
        first[model->bones[b].joint + 1]++;
    for (uint32_t j = 0; j < joints; j++) {
        first[j + 1] += first[j];
        c->ends[j] = j + 1;
    }
    for (uint32_t j = model->joint_count; j-- > 0;) {
        const uint32_t parent = model->joints[j].parent;
        if (parent != TH_NO_INDEX && c->ends[parent] < c->ends[j])
            c->ends[parent] = c->ends[j];
    }

    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++) {
            const th_vertex *vertex = &model->meshes[m].vertices[v];
            c->vertices[c->vertex_count++] = vertex;
            for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++)
                c->first_follower[vertex->bone[k] + 1]++;
        }
    for (uint32_t b = 0; b < bones; b++)
        c->first_follower[b + 1] += c->first_follower[b];

    /* Moments: cost is vertices to skin if every joint is tried at one; those of several influences count for each. */
    uint64_t cost = 0;
    for (uint32_t j = 0; j < joints; j++)
        cost += c->first_follower[first[c->ends[j]]] - c->first_follower[first[j]] + c->ends[j] - j;
    const uint64_t skinned = FIRST_BUDGET / (cost + 1) + 1,
                   stored = MEMORY_BUDGET / ((joints + bones + 1) * 2 * sizeof(th_dmat34)) + 1;
    c->moment_count = count_moments(model, TRIED_MOMENTS, skinned < stored ? skinned : stored);
    c->locals = th_arena_new(arena, th_dmat34, c->moment_count * joints);
    c->poses = th_arena_new(arena, th_dmat34, c->moment_count * joints);
    c->played = th_arena_new(arena, th_dmat34, c->moment_count * bones);
    c->palettes = th_arena_new(arena, th_dmat34, c->moment_count * bones);
    c->followers = th_arena_new(arena, uint32_t, c->first_follower[bones]);
    if (th_arena_failed(arena))
        return false;

    for (uint32_t v = 0; v < c->vertex_count; v++)
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES && c->vertices[v]->weight[k] > 0; k++) {
            const uint32_t bone = c->vertices[v]->bone[k];
            c->followers[c->first_follower[bone] + next[bone]++] = v;
        }
    for (uint32_t i = 0; i < c->moment_count; i++) {
        const clip_moment at = moment_at(model, c->moment_count, i);
        th_exact_sample(model, at.clip, at.ticks, TH_INTERPOLATION_AUTHORED, c->locals + i * joints);
        th_exact_resolve(model, c->locals + i * joints, c->pose);
        th_exact_palette(model, c->pose, c->palettes + i * bones);
    }

    find_moving_joints(model, moves);
    for (uint32_t j = 0; j < joints; j++) {
        const bool has_bone = first[j + 1] > first[j];
        c->skeleton.means[j] = th_dmat34_from(model->joints[j].rest);
        c->skeleton.held[j] = !moves[j] && !has_bone;
        if (moves[j] && !find_mean(c, j, &c->skeleton.means[j]))
            continue;
        if (!c->skeleton.held[j] && first[c->ends[j]] > first[j])
            c->candidates[c->candidate_count++].joint = j;
    }
    settle_all(c);
    for (uint32_t i = 0; i < c->candidate_count; i++) {
        c->candidates[i].error = c->budget > 0 ? try_joint(c, c->candidates[i].joint, HUGE_VAL) : HUGE_VAL;
        release(c, c->candidates[i].joint);
    }
    qsort(c->candidates, c->candidate_count, sizeof *c->candidates, by_error);
    return true;
}

/* ---- the model of a level ---- */

/* Joints that are held have their mean pose as rest and no channels; bones are left out as rebind_bone says. Borrows
 * everything else from the source. NULL when out of memory. */
static th_model *reduce_model(chooser *c)
{
    const th_model *model = c->model;
    const bool *held = c->skeleton.held;
    th_arena *arena = th_arena_create();
    th_model *out = th_arena_copy(arena, model, 1, sizeof *out);
    th_joint *joints = th_arena_copy(arena, model->joints, model->joint_count, sizeof *joints);
    th_bone *bones = th_arena_new(arena, th_bone, model->bone_count);
    th_mesh *meshes = th_arena_copy(arena, model->meshes, model->mesh_count, sizeof *meshes);
    th_clip *clips = th_arena_copy(arena, model->clips, model->clip_count, sizeof *clips);
    if (th_arena_failed(arena)) {
        th_arena_destroy(arena);
        return NULL;
    }
    out->arena = arena;
    out->warning_count = 0;
    out->joints = joints;
    out->bones = bones;
    out->meshes = meshes;
    out->clips = clips;

    for (uint32_t j = 0; j < model->joint_count; j++)
        if (held[j]) {
            joints[j].rest = th_mat34_from(c->skeleton.means[j]);
            joints[j].rest_parts = NULL;
        }
    out->bone_count = 0;
    for (uint32_t i = 0; i < model->bone_count; i++) {
        c->numbers[i] = out->bone_count;
        if (c->rebinds[i].bone == i)
            bones[out->bone_count++] = model->bones[i];
    }
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *from = &model->meshes[m];
        th_vertex *vertices = th_arena_new(arena, th_vertex, from->vertex_count);
        th_morph_target *targets = th_arena_copy(arena, from->targets, from->target_count, sizeof *targets);
        meshes[m].vertices = vertices;
        meshes[m].targets = targets;
        for (uint32_t v = 0; vertices && v < from->vertex_count; v++)
            vertices[v] = rebind_vertex(c->rebinds, c->numbers, &from->vertices[v]);
        for (uint32_t t = 0; targets && t < from->target_count; t++) {
            th_morph_delta *deltas = th_arena_new(arena, th_morph_delta, targets[t].delta_count);
            targets[t].deltas = deltas;
            for (uint32_t d = 0; deltas && d < targets[t].delta_count; d++) {
                const th_morph_delta *delta = &from->targets[t].deltas[d];
                deltas[d] = rebind_delta(c->rebinds, &from->vertices[delta->vertex], delta);
            }
        }
    }
    for (uint32_t n = 0; n < model->clip_count; n++) {
        const th_clip *from = &model->clips[n];
        th_channel *channels = th_arena_new(arena, th_channel, from->channel_count);
        clips[n].channels = channels;
        clips[n].channel_count = 0;
        for (uint32_t i = 0; channels && i < from->channel_count; i++)
            if (!held[from->channels[i].joint])
                channels[clips[n].channel_count++] = from->channels[i];
    }
    if (!th_arena_failed(arena))
        return out;
    th_arena_destroy(arena);
    return NULL;
}

/* ---- all levels ---- */

/* One block: the levels, and which joints each of them holds. */
typedef struct levels {
    th_joint_lod lod;
    bool held[];
} levels;

/* Joints that a clip moves and that some bone depends on. marks: two by joint. */
static uint32_t count_moving(const th_model *model, bool *marks)
{
    bool *needed = marks, *moved = marks + model->joint_count;
    uint32_t count = 0;
    memset(marks, 0, 2 * (size_t)model->joint_count * sizeof *marks);
    for (uint32_t b = 0; b < model->bone_count; b++)
        needed[model->bones[b].joint] = true;
    find_moving_joints(model, moved);
    for (uint32_t j = model->joint_count; j-- > 0;) {
        if (needed[j] && model->joints[j].parent != TH_NO_INDEX)
            needed[model->joints[j].parent] = true;
        count += needed[j] && moved[j];
    }
    return count;
}

/* Finds level `index` in as many attempts: the chooser looks at fewer moments than are measured, so that a level may
 * turn out to be beyond its limit. out->model is NULL if none saves enough. before: held by the last level. False when
 * out of memory. */
static bool find_level(chooser *c, uint32_t index, uint32_t bones_before, const bool *before, th_joint_level *out)
{
    const double limit = th_lod_limit(index) * c->model->size;
    double tried = limit / MARGIN;
    for (int i = 0; i < ATTEMPTS; i++) {
        hold_joints(c, tried);
        th_model *model = reduce_model(c);
        *out = (th_joint_level){.model = model};
        const bool saves = model && SAVES(model->bone_count, bones_before);
        const bool ok = model && (!saves || measure_level(c->model, out));
        if (ok && saves && out->error <= limit)
            return true;
        th_model_destroy(model);
        out->model = NULL;
        if (!ok || !saves)
            return ok;
        tried *= fmax(0.5, limit / out->error) * 0.98;
        memcpy(c->skeleton.held, before, c->model->joint_count * sizeof *before);
        settle_all(c);
    }
    return true;
}

th_result th_joint_lod_create(const th_model *model, th_joint_lod **out, th_error *err)
{
    assert(model && out);
    const size_t joints = model->joint_count;
    levels *all = calloc(1, sizeof *all + TH_LOD_LEVELS * joints * sizeof *all->held);
    bool *marks = calloc(2 * joints + 1, sizeof *marks), *before = calloc(joints + 1, sizeof *before);
    bool ok = all && marks && before;
    const bool has_levels = th_vertices_count(model) > 0;
    chooser c = {0};
    *out = NULL;
    if (ok) {
        all->lod.distinct_count = 1;
        all->lod.levels[0] = (th_joint_level){
            .model = model, .held = all->held, .moving_count = count_moving(model, marks), .error_clip = TH_NO_INDEX};
        ok = !has_levels || init_chooser(&c, model);
    }
    if (ok && has_levels)
        memcpy(before, c.skeleton.held, joints * sizeof *before);
    for (uint32_t i = 1; ok && i < TH_LOD_LEVELS; i++) {
        th_joint_level *level = &all->lod.levels[i], found = {0};
        *level = level[-1];
        ok = !has_levels || find_level(&c, i, level->model->bone_count, before, &found);
        if (!found.model)
            continue;
        bool *held = all->held + i * joints;
        memcpy(held, c.skeleton.held, joints * sizeof *held);
        memcpy(before, held, joints * sizeof *before);
        found.held = held;
        found.moving_count = count_moving(found.model, marks);
        found.error = fmax(found.error, level->error);
        *level = found;
        all->lod.distinct_count++;
    }
    th_arena_destroy(c.arena);
    free(marks);
    free(before);
    if (ok) {
        *out = &all->lod;
        return TH_OK;
    }
    th_joint_lod_destroy(all ? &all->lod : NULL);
    return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", model->name);
}

void th_joint_lod_destroy(th_joint_lod *lod)
{
    if (!lod)
        return;
    for (uint32_t i = TH_LOD_LEVELS; i-- > 1;)
        if (lod->levels[i].model != lod->levels[i - 1].model && lod->levels[i].model != lod->levels[0].model)
            th_model_destroy((th_model *)lod->levels[i].model);
    free(lod);
}
