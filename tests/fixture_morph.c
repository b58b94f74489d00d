#include "fixture_morph.h"

#include <core/arena.h>

#include <stdlib.h>

enum { VERTICES = 24, MOST_KEYS = 12 };

static void *make(th_arena *arena, size_t count, size_t size)
{
    void *memory = th_arena_alloc(arena, count, size);
    if (!memory)
        abort();
    return memory;
}

static th_track make_track(th_arena *arena, int kind, uint32_t count, const double *times, uint64_t *state)
{
    const double duration = times[count - 1];
    float *values = make(arena, count, sizeof *values), *tangents = make(arena, count, 2 * sizeof *tangents);
    for (uint32_t k = 0; k < count; k++) {
        values[k] = (float)random_between(state, -0.5, 1.5);
        for (int side = 0; side < 2; side++)
            tangents[2 * k + (uint32_t)side] = (float)(random_between(state, -3, 3) / duration);
    }
    return (th_track){count, times, values, kind == MORPH_SPLINES ? tangents : NULL, kind == MORPH_STEPS};
}

/* Tracks have their keys at the same times, so that frames can have them too. */
static void add_tracks(th_model *model, th_clip *clip, int kind, uint64_t *state)
{
    th_weight_track *tracks = make(model->arena, model->weight_count, sizeof *tracks);
    const uint32_t count = 2 + (uint32_t)random_between(state, 0, MOST_KEYS - 1);
    double *times = make(model->arena, count, sizeof *times);
    for (uint32_t k = 0; k < count; k++)
        times[k] = clip->duration_ticks * k / (count - 1);
    for (uint32_t w = 0; w < model->weight_count; w++)
        if (w % 7 != 3)
            tracks[clip->weight_track_count++] =
                (th_weight_track){w, make_track(model->arena, kind, count, times, state)};
    clip->weight_tracks = tracks;
}

static void add_clips(th_model *model, uint64_t *state)
{
    static const char *const names[MORPH_CLIPS] = {"lines", "steps", "splines"};
    th_clip *clips = make(model->arena, model->clip_count + MORPH_CLIPS, sizeof *clips);
    for (uint32_t c = 0; c < model->clip_count; c++) {
        clips[c] = model->clips[c];
        if (clips[c].duration_ticks > 0)
            add_tracks(model, &clips[c], MORPH_LINES, state);
    }
    for (int kind = 0; kind < MORPH_CLIPS; kind++) {
        th_clip *clip = &clips[model->clip_count++];
        *clip = (th_clip){.name = names[kind], .duration_ticks = 600, .ticks_per_second = 30};
        add_tracks(model, clip, kind, state);
    }
    model->clips = clips;
}

static void add_targets(th_model *model, th_mesh *mesh, uint64_t *state)
{
    th_morph_target *targets = make(model->arena, model->weight_count, sizeof *targets);
    for (uint32_t t = 0; t < model->weight_count; t++) {
        th_morph_delta *deltas = make(model->arena, VERTICES, sizeof *deltas);
        targets[t] = (th_morph_target){.weight = t, .deltas = deltas};
        for (uint32_t v = t % 5; v < VERTICES; v += 1 + t % 5) {
            th_morph_delta *delta = &deltas[targets[t].delta_count++];
            delta->vertex = v;
            for (int i = 0; i < 3; i++) {
                delta->position[i] = (float)(random_between(state, -0.02, 0.02) * model->size);
                delta->normal[i] = (float)random_between(state, -0.1, 0.1);
            }
        }
    }
    mesh->targets = targets;
    mesh->target_count = model->weight_count;
}

static void add_mesh(th_model *model, uint64_t *state)
{
    th_vertex *vertices = make(model->arena, VERTICES, sizeof *vertices);
    uint32_t *indices = make(model->arena, VERTICES, sizeof *indices);
    th_mesh *mesh = make(model->arena, 1, sizeof *mesh);
    th_material *material = make(model->arena, 1, sizeof *material);
    for (uint32_t v = 0; v < VERTICES; v++) {
        indices[v] = v;
        vertices[v] = (th_vertex){.normal = {0, 1, 0}, .weight = {1}};
        vertices[v].bone[0] = (uint16_t)random_between(state, 0, model->bone_count);
        for (uint32_t k = 0; v % 2 && k < TH_MAX_INFLUENCES; k++) {
            vertices[v].bone[k] = (uint16_t)((vertices[v].bone[0] + k) % model->bone_count);
            vertices[v].weight[k] = 1.0f / TH_MAX_INFLUENCES;
        }
        for (int i = 0; i < 3; i++)
            vertices[v].position[i] = (float)(random_between(state, -0.5, 0.5) * model->size);
    }
    *material = (th_material){.name = "skin", .base_color = {1, 1, 1, 1}, .texture = TH_NO_INDEX};
    *mesh = (th_mesh){
        .name = "mesh", .vertex_count = VERTICES, .index_count = VERTICES, .vertices = vertices, .indices = indices};
    add_targets(model, mesh, state);
    model->meshes = mesh;
    model->mesh_count = 1;
    model->materials = material;
    model->material_count = 1;
}

th_model *morph_model(const random_desc *desc, uint32_t weight_count)
{
    th_model *model = random_model(desc);
    uint64_t state = desc->seed * 2654435761u + 88172645463325252u;
    th_weight *weights = make(model->arena, weight_count, sizeof *weights);
    for (uint32_t w = 0; w < weight_count; w++)
        weights[w] = (th_weight){w % 2 ? "odd" : "", w < weight_count / 2 ? 0 : model->joint_count - 1,
                                 (float)random_between(&state, -0.2, 0.6)};
    model->weights = weights;
    model->weight_count = weight_count;
    add_mesh(model, &state);
    add_clips(model, &state);
    th_error err;
    if (th_model_check(model, &err) != TH_OK)
        abort();
    return model;
}

/* ---- the evaluation ---- */

void skin_vertex(const th_mesh *mesh, uint32_t vertex, const double *weights, const th_dmat34 *palette, double out[3])
{
    const th_vertex *v = &mesh->vertices[vertex];
    double at[3] = {(double)v->position[0], (double)v->position[1], (double)v->position[2]};
    for (uint32_t t = 0; weights && t < mesh->target_count; t++)
        for (uint32_t d = 0; d < mesh->targets[t].delta_count; d++)
            for (int i = 0; i < 3 && mesh->targets[t].deltas[d].vertex == vertex; i++)
                at[i] += weights[mesh->targets[t].weight] * (double)mesh->targets[t].deltas[d].position[i];
    out[0] = out[1] = out[2] = 0;
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++) {
        double moved[3];
        th_dmat34_point(&palette[v->bone[k]], at, moved);
        for (int i = 0; i < 3; i++)
            out[i] += (double)v->weight[k] * moved[i];
    }
}

/* A spline by de Casteljau's algorithm on the Bezier curve that it is. */
static double spline(const th_track *track, uint32_t k, double part)
{
    const double third = (track->times[k + 1] - track->times[k]) / 3;
    double p[4] = {(double)track->values[k], 0, 0, (double)track->values[k + 1]};
    p[1] = p[0] + third * (double)track->tangents[2 * k + 1];
    p[2] = p[3] - third * (double)track->tangents[2 * k + 2];
    for (int left = 3; left > 0; left--)
        for (int i = 0; i < left; i++)
            p[i] = (1 - part) * p[i] + part * p[i + 1];
    return p[0];
}

static double value_of(const th_track *track, double ticks)
{
    const uint32_t last = track->key_count - 1;
    if (ticks <= track->times[0])
        return (double)track->values[0];
    for (uint32_t k = 0; k < last; k++) {
        const double from = track->times[k], to = track->times[k + 1];
        if (ticks >= to)
            continue;
        if (track->steps)
            return (double)track->values[k];
        if (track->tangents)
            return spline(track, k, (ticks - from) / (to - from));
        return ((to - ticks) * (double)track->values[k] + (ticks - from) * (double)track->values[k + 1]) / (to - from);
    }
    return (double)track->values[last];
}

double morph_weight(const th_model *model, const th_clip *clip, uint32_t weight, double ticks)
{
    for (uint32_t t = 0; clip && t < clip->weight_track_count; t++)
        if (clip->weight_tracks[t].weight == weight)
            return value_of(&clip->weight_tracks[t].track, ticks);
    return (double)model->weights[weight].rest;
}
