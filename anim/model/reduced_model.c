#include "reduced_model.h"

#include <core/arena.h>

#include <assert.h>
#include <stdlib.h>

typedef struct builder {
    const th_held_skeleton *skeleton;
    const th_model *model;
    th_arena *arena;
    th_rebind *rebinds; /* by bone */
    uint32_t *numbers;  /* by bone: its index among those that stay */
} builder;

static bool reduce_joints(const builder *b, th_model *out)
{
    th_joint *joints = th_arena_copy(b->arena, b->model->joints, b->model->joint_count, sizeof *joints);
    for (uint32_t j = 0; joints && j < b->model->joint_count; j++)
        if (b->skeleton->held[j])
            joints[j].rest = th_mat34_from(b->skeleton->means[j]);
    out->joints = joints;
    return joints;
}

static bool reduce_bones(const builder *b, th_model *out)
{
    th_bone *bones = th_arena_new(b->arena, th_bone, b->model->bone_count);
    out->bone_count = 0;
    for (uint32_t i = 0; bones && i < b->model->bone_count; i++) {
        b->rebinds[i] = th_rebind_bone(b->skeleton, i);
        b->numbers[i] = out->bone_count;
        if (b->rebinds[i].bone == i)
            bones[out->bone_count++] = b->model->bones[i];
    }
    out->bones = bones;
    return bones;
}

/* matrices: of the vertices. */
static bool reduce_targets(const builder *b, const th_mesh *from, const th_dmat34 *matrices, th_mesh *mesh)
{
    th_morph_target *targets = th_arena_copy(b->arena, from->targets, from->target_count, sizeof *targets);
    bool ok = targets;
    for (uint32_t t = 0; ok && t < from->target_count; t++) {
        th_morph_delta *deltas = th_arena_new(b->arena, th_morph_delta, targets[t].delta_count);
        for (uint32_t d = 0; deltas && d < targets[t].delta_count; d++) {
            const th_morph_delta *delta = &from->targets[t].deltas[d];
            deltas[d] = th_rebind_delta(&matrices[delta->vertex], &from->vertices[delta->vertex], delta);
        }
        targets[t].deltas = deltas;
        ok = deltas;
    }
    mesh->targets = targets;
    return ok;
}

static bool reduce_mesh(const builder *b, const th_mesh *from, th_mesh *mesh)
{
    th_vertex *vertices = th_arena_new(b->arena, th_vertex, from->vertex_count);
    th_dmat34 *matrices = malloc((from->vertex_count + 1u) * sizeof *matrices);
    bool ok = vertices && matrices;
    for (uint32_t v = 0; ok && v < from->vertex_count; v++) {
        matrices[v] = th_rebind_matrix(b->rebinds, &from->vertices[v]);
        vertices[v] = th_rebind_vertex(b->rebinds, b->numbers, &matrices[v], &from->vertices[v]);
    }
    mesh->vertices = vertices;
    ok = ok && reduce_targets(b, from, matrices, mesh);
    free(matrices);
    return ok;
}

static bool reduce_meshes(const builder *b, th_model *out)
{
    th_mesh *meshes = th_arena_copy(b->arena, b->model->meshes, b->model->mesh_count, sizeof *meshes);
    bool ok = meshes;
    for (uint32_t m = 0; ok && m < b->model->mesh_count; m++)
        ok = reduce_mesh(b, &b->model->meshes[m], &meshes[m]);
    out->meshes = meshes;
    return ok;
}

static bool reduce_clip(const builder *b, th_clip *clip)
{
    th_channel *channels = th_arena_new(b->arena, th_channel, clip->channel_count);
    uint32_t count = 0;
    for (uint32_t c = 0; channels && c < clip->channel_count; c++)
        if (!b->skeleton->held[clip->channels[c].joint])
            channels[count++] = clip->channels[c];
    clip->channels = channels;
    clip->channel_count = count;
    return channels;
}

static bool reduce_clips(const builder *b, th_model *out)
{
    th_clip *clips = th_arena_copy(b->arena, b->model->clips, b->model->clip_count, sizeof *clips);
    bool ok = clips;
    for (uint32_t c = 0; ok && c < b->model->clip_count; c++)
        ok = reduce_clip(b, &clips[c]);
    out->clips = clips;
    return ok;
}

static bool reduce(const builder *b, th_model *out)
{
    *out = *b->model;
    out->arena = b->arena;
    out->warning_count = 0;
    return reduce_joints(b, out) && reduce_bones(b, out) && reduce_meshes(b, out) && reduce_clips(b, out);
}

th_model *th_reduced_model_create(const th_held_skeleton *skeleton)
{
    assert(skeleton);
    const th_model *model = skeleton->model;
    th_arena *arena = th_arena_create();
    th_model *out = arena ? th_arena_new(arena, th_model, 1) : NULL;
    builder b = {skeleton, model, arena, calloc(model->bone_count + 1u, sizeof *b.rebinds),
                 calloc(model->bone_count + 1u, sizeof *b.numbers)};
    const bool ok = out && b.rebinds && b.numbers && reduce(&b, out);
    free(b.rebinds);
    free(b.numbers);
    if (ok)
        return out;
    th_arena_destroy(arena);
    return NULL;
}
