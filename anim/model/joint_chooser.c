/* A greedy search. Joints are tried in the order of what each does alone, so that those that do little go first. Trying
 * one is quick: only its subtree moves, so only the vertices that follow that need to be skinned, and most joints that
 * cannot be held show it at the first moment. */
#include "joint_chooser.h"

#include "model_distance.h"
#include "moments.h"
#include "vertices.h"

#include <throng/anim/exact.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST          32u        /* moments of a clip */
#define FIRST_BUDGET  (1u << 21) /* vertices skinned to measure each joint alone, */
#define BUDGET        (1 << 25)  /* and in all */
#define MEMORY_BUDGET ((size_t)256 << 20)

/* A joint and what holding it alone does. */
typedef struct candidate {
    uint32_t joint;
    double error;
} candidate;

/* Arrays of matrices have moment_count rows. */
struct th_joint_chooser {
    const th_model *model;
    th_held_skeleton skeleton;
    uint32_t *ends; /* by joint: the first joint after its subtree */
    uint32_t moment_count;
    th_dmat34 *locals;         /* of joints, as the clips have them */
    th_dmat34 *poses, *played; /* of joints and of bones, with what is held so far */
    th_dmat34 *palettes;       /* of bones, as the clips have them */
    th_dmat34 *pose, *palette; /* one row each: of what is tried */
    th_rebind *rebinds;        /* by bone, with what is held or tried */
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
};

/* ---- what moves ---- */

static const th_dmat34 *row(const th_dmat34 *matrices, uint32_t moment, uint32_t width)
{
    return matrices + (size_t)moment * width;
}

/* The pose and the palette of a subtree at a moment, with what is held. Above it they are those of before. */
static void pose_subtree(const th_joint_chooser *c, uint32_t moment, uint32_t joint, th_dmat34 *pose,
                         th_dmat34 *palette)
{
    const th_model *model = c->model;
    const th_held_skeleton *s = &c->skeleton;
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

static void rebind_subtree(th_joint_chooser *c, uint32_t joint)
{
    const uint32_t *first = c->skeleton.first_bone;
    for (uint32_t b = first[joint]; b < first[c->ends[joint]]; b++)
        c->rebinds[b] = th_rebind_bone(&c->skeleton, b);
}

/* Makes what is held of a subtree that of later tries. */
static void settle(th_joint_chooser *c, uint32_t joint)
{
    rebind_subtree(c, joint);
    for (uint32_t i = 0; i < c->moment_count; i++)
        pose_subtree(c, i, joint, c->poses + (size_t)i * c->model->joint_count,
                     c->played + (size_t)i * c->model->bone_count);
}

static void settle_all(th_joint_chooser *c)
{
    for (uint32_t j = 0; j < c->model->joint_count; j = c->ends[j])
        settle(c, j);
}

/* ---- trying a joint ---- */

static void list_vertices(th_joint_chooser *c, uint32_t joint)
{
    const uint32_t *first = c->skeleton.first_bone;
    c->stamp++;
    c->tried_count = 0;
    for (uint32_t i = c->first_follower[first[joint]]; i < c->first_follower[first[c->ends[joint]]]; i++) {
        const uint32_t v = c->followers[i];
        if (c->stamps[v] == c->stamp)
            continue;
        c->stamps[v] = c->stamp;
        c->tried[c->tried_count++] = v;
    }
}

static void rebind_vertices(th_joint_chooser *c)
{
    for (uint32_t i = 0; i < c->tried_count; i++) {
        const th_vertex *vertex = c->vertices[c->tried[i]];
        const th_dmat34 matrix = th_rebind_matrix(c->rebinds, vertex);
        double place[3] = {(double)vertex->position[0], (double)vertex->position[1], (double)vertex->position[2]};
        th_dmat34_point(&matrix, place, place);
        c->moved[i] = *vertex;
        for (int k = 0; k < 3; k++)
            c->moved[i].position[k] = (float)place[k];
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
            c->moved[i].bone[k] = (uint16_t)c->rebinds[vertex->bone[k]].bone;
    }
}

/* The largest square distance of a vertex at a moment, or one beyond the limit. */
static double error_at(th_joint_chooser *c, uint32_t moment, uint32_t joint, double limit)
{
    const th_dmat34 *exact = row(c->palettes, moment, c->model->bone_count);
    double largest = 0;
    memcpy(c->palette, row(c->played, moment, c->model->bone_count), c->model->bone_count * sizeof *c->palette);
    pose_subtree(c, moment, joint, c->pose, c->palette);
    for (uint32_t i = 0; i < c->tried_count && largest <= limit; i++, c->budget--) {
        double is[3], was[3], sum = 0;
        th_model_skin_vertex(&c->moved[i], c->palette, is);
        th_model_skin_vertex(c->vertices[c->tried[i]], exact, was);
        for (int k = 0; k < 3; k++)
            sum += (is[k] - was[k]) * (is[k] - was[k]);
        largest = sum <= largest ? largest : sum;
    }
    return isnan(largest) ? HUGE_VAL : largest;
}

/* The largest distance over all moments with the joint held too, or one beyond the limit. It stays held. */
static double try_joint(th_joint_chooser *c, uint32_t joint, double limit)
{
    double largest = 0;
    c->skeleton.held[joint] = true;
    rebind_subtree(c, joint);
    list_vertices(c, joint);
    rebind_vertices(c);
    for (uint32_t n = 0; n < c->moment_count && c->tried_count > 0 && largest <= limit * limit; n++) {
        const uint32_t moment = (c->suspect + n) % c->moment_count;
        const double error = error_at(c, moment, joint, limit * limit);
        if (error > largest)
            largest = error;
        if (error > limit * limit)
            c->suspect = moment;
    }
    return sqrt(largest);
}

static void release(th_joint_chooser *c, uint32_t joint)
{
    c->skeleton.held[joint] = false;
    rebind_subtree(c, joint);
}

/* ---- candidates ---- */

/* A mean of transforms: quaternions are added with aligned signs. */
static bool find_mean(const th_joint_chooser *c, uint32_t joint, th_dmat34 *out)
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

void th_find_moving_joints(const th_model *model, bool *moves)
{
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t i = 0; i < model->clips[c].channel_count; i++)
            moves[model->clips[c].channels[i].joint] = true;
}

/* Holds what stands still and moves no vertex of its own, and measures all others on which bones depend. */
static void find_candidates(th_joint_chooser *c, const bool *moves)
{
    const th_held_skeleton *s = &c->skeleton;
    for (uint32_t j = 0; j < c->model->joint_count; j++) {
        const bool has_bone = s->first_bone[j + 1] > s->first_bone[j];
        s->means[j] = th_dmat34_from(c->model->joints[j].rest);
        s->held[j] = !moves[j] && !has_bone;
        if (moves[j] && !find_mean(c, j, &s->means[j]))
            continue;
        if (!s->held[j] && s->first_bone[c->ends[j]] > s->first_bone[j])
            c->candidates[c->candidate_count++].joint = j;
    }
    settle_all(c);
    for (uint32_t i = 0; i < c->candidate_count; i++) {
        c->candidates[i].error = c->budget > 0 ? try_joint(c, c->candidates[i].joint, HUGE_VAL) : HUGE_VAL;
        release(c, c->candidates[i].joint);
    }
    qsort(c->candidates, c->candidate_count, sizeof *c->candidates, by_error);
}

/* ---- set-up ---- */

static void index_joints(th_joint_chooser *c)
{
    const th_model *model = c->model;
    uint32_t *first = c->skeleton.first_bone;
    for (uint32_t b = 0; b < model->bone_count; b++)
        first[model->bones[b].joint + 1]++;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        first[j + 1] += first[j];
        c->ends[j] = j + 1;
    }
    for (uint32_t j = model->joint_count; j-- > 0;) {
        const uint32_t parent = model->joints[j].parent;
        if (parent != TH_NO_INDEX && c->ends[parent] < c->ends[j])
            c->ends[parent] = c->ends[j];
    }
}

/* Counts the followers of each bone in first_follower[bone + 1]. */
static void list_meshes(th_joint_chooser *c)
{
    for (uint32_t m = 0; m < c->model->mesh_count; m++)
        for (uint32_t v = 0; v < c->model->meshes[m].vertex_count; v++) {
            const th_vertex *vertex = &c->model->meshes[m].vertices[v];
            c->vertices[c->vertex_count++] = vertex;
            for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++)
                c->first_follower[vertex->bone[k] + 1]++;
        }
    for (uint32_t b = 0; b < c->model->bone_count; b++)
        c->first_follower[b + 1] += c->first_follower[b];
}

/* False when out of memory. */
static bool list_followers(th_joint_chooser *c)
{
    uint32_t *next = calloc(c->model->bone_count + 1u, sizeof *next);
    c->followers = calloc(c->first_follower[c->model->bone_count] + 1u, sizeof *c->followers);
    for (uint32_t v = 0; next && c->followers && v < c->vertex_count; v++)
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES && c->vertices[v]->weight[k] > 0; k++) {
            const uint32_t bone = c->vertices[v]->bone[k];
            c->followers[c->first_follower[bone] + next[bone]++] = v;
        }
    free(next);
    return next && c->followers;
}

/* Vertices to skin if every joint is tried at one moment; those of several influences count for each. */
static uint64_t cost_of_moment(const th_joint_chooser *c)
{
    uint64_t cost = 0;
    for (uint32_t j = 0; j < c->model->joint_count; j++)
        cost += c->first_follower[c->skeleton.first_bone[c->ends[j]]] - c->first_follower[c->skeleton.first_bone[j]] +
                c->ends[j] - j;
    return cost;
}

static bool create_moments(th_joint_chooser *c)
{
    const th_model *model = c->model;
    const size_t joints = model->joint_count, bones = model->bone_count;
    const uint64_t skinned = FIRST_BUDGET / (cost_of_moment(c) + 1) + 1,
                   stored = MEMORY_BUDGET / ((joints + bones + 1) * 2 * sizeof(th_dmat34)) + 1;
    c->moment_count = th_moments_count(model, MOST, skinned < stored ? skinned : stored);
    c->locals = calloc(c->moment_count * joints + 1, sizeof *c->locals);
    c->poses = calloc(c->moment_count * joints + 1, sizeof *c->poses);
    c->played = calloc(c->moment_count * bones + 1, sizeof *c->played);
    c->palettes = calloc(c->moment_count * bones + 1, sizeof *c->palettes);
    if (!c->locals || !c->poses || !c->played || !c->palettes)
        return false;
    for (uint32_t i = 0; i < c->moment_count; i++) {
        const th_moment at = th_moment_at(model, c->moment_count, i);
        th_exact_sample(model, at.clip, at.ticks, TH_INTERPOLATION_AUTHORED, c->locals + i * joints);
        th_exact_resolve(model, c->locals + i * joints, c->pose);
        th_exact_palette(model, c->pose, c->palettes + i * bones);
    }
    return true;
}

static bool allocate(th_joint_chooser *c)
{
    const size_t joints = c->model->joint_count + (size_t)1, bones = c->model->bone_count + (size_t)1,
                 vertices = th_vertices_count(c->model) + (size_t)1;
    c->skeleton.held = calloc(joints, sizeof *c->skeleton.held);
    c->skeleton.means = calloc(joints, sizeof *c->skeleton.means);
    c->skeleton.first_bone = calloc(joints, sizeof *c->skeleton.first_bone);
    c->ends = calloc(joints, sizeof *c->ends);
    c->pose = calloc(joints, sizeof *c->pose);
    c->palette = calloc(bones, sizeof *c->palette);
    c->rebinds = calloc(bones, sizeof *c->rebinds);
    c->vertices = calloc(vertices, sizeof *c->vertices);
    c->first_follower = calloc(bones + 1, sizeof *c->first_follower);
    c->stamps = calloc(vertices, sizeof *c->stamps);
    c->tried = calloc(vertices, sizeof *c->tried);
    c->moved = calloc(vertices, sizeof *c->moved);
    c->candidates = calloc(joints, sizeof *c->candidates);
    return c->skeleton.held && c->skeleton.means && c->skeleton.first_bone && c->ends && c->pose && c->palette &&
           c->rebinds && c->vertices && c->first_follower && c->stamps && c->tried && c->moved && c->candidates;
}

static bool set_up(th_joint_chooser *c)
{
    if (!allocate(c))
        return false;
    index_joints(c);
    list_meshes(c);
    bool *moves = calloc(c->model->joint_count + 1u, sizeof *moves);
    const bool ok = moves && list_followers(c) && create_moments(c);
    if (ok) {
        th_find_moving_joints(c->model, moves);
        find_candidates(c, moves);
    }
    free(moves);
    return ok;
}

th_joint_chooser *th_joint_chooser_create(const th_model *model)
{
    assert(model);
    th_joint_chooser *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->model = c->skeleton.model = model;
    c->budget = BUDGET;
    if (set_up(c))
        return c;
    th_joint_chooser_destroy(c);
    return NULL;
}

void th_joint_chooser_destroy(th_joint_chooser *c)
{
    if (!c)
        return;
    void *const arrays[] = {c->skeleton.held,  c->skeleton.means, c->skeleton.first_bone,
                            c->ends,           c->locals,         c->poses,
                            c->played,         c->palettes,       c->pose,
                            c->palette,        c->rebinds,        (void *)c->vertices,
                            c->first_follower, c->followers,      c->stamps,
                            c->tried,          c->moved,          c->candidates};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(c);
}

/* ---- holding ---- */

void th_joint_chooser_hold(th_joint_chooser *c, double limit)
{
    assert(c && limit >= 0);
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

void th_joint_chooser_return(th_joint_chooser *c, const bool *held)
{
    assert(c && held);
    memcpy(c->skeleton.held, held, c->model->joint_count * sizeof *held);
    settle_all(c);
}

const th_held_skeleton *th_joint_chooser_skeleton(const th_joint_chooser *c)
{
    assert(c);
    return &c->skeleton;
}
