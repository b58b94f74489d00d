/* Morph targets: each makes one joint in eight thicker, as a wave of its own. */
#include "parts.h"

#include <assert.h>

#define EVERY   8
#define SWELL_M 0.02

static uint32_t joint_of(const th_mesh *mesh, uint32_t vertex)
{
    return mesh->vertices[vertex].bone[0];
}

static bool add_target(th_model *model, th_mesh *mesh, th_morph_target *target)
{
    th_morph_delta *deltas = th_arena_new(model->arena, th_morph_delta, mesh->vertex_count);
    target->deltas = deltas;
    for (uint32_t v = 0; deltas && v < mesh->vertex_count; v++) {
        if (joint_of(mesh, v) % EVERY != target->weight % EVERY)
            continue;
        th_morph_delta *delta = &deltas[target->delta_count++];
        *delta = (th_morph_delta){.vertex = v};
        for (int i = 0; i < 3; i++)
            delta->position[i] = (float)SWELL_M * mesh->vertices[v].normal[i];
    }
    return deltas;
}

bool th_synthetic_add_weights(th_model *model, const th_synthetic_desc *desc)
{
    assert(model && desc && model->joint_count > 0 && !model->weights);
    th_weight *weights = th_arena_new(model->arena, th_weight, desc->weights);
    th_morph_target *targets = th_arena_new(model->arena, th_morph_target, desc->weights);
    th_mesh *mesh = (th_mesh *)model->meshes;
    bool built = weights && targets;
    for (uint32_t w = 0; built && w < desc->weights; w++) {
        weights[w] = (th_weight){.name = th_arena_format(model->arena, "weight_%u", w)};
        targets[w] = (th_morph_target){.weight = w};
        built = weights[w].name && (!mesh || add_target(model, mesh, &targets[w]));
    }
    model->weights = weights;
    model->weight_count = desc->weights;
    if (mesh) {
        mesh->targets = targets;
        mesh->target_count = desc->weights;
    }
    return built;
}
