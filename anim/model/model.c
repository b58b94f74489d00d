#include "morph.h"

#include <core/arena.h>
#include <throng/anim/exact.h>

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void th_model_free(th_model *model)
{
    if (model)
        th_arena_destroy(model->arena);
}

uint32_t th_model_find_joint(const th_model *model, const char *name)
{
    assert(model && name);
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (strcmp(model->joints[j].name, name) == 0)
            return j;
    return TH_NO_INDEX;
}

uint32_t th_model_find_clip(const th_model *model, const char *name)
{
    assert(model && name);
    for (uint32_t c = 0; c < model->clip_count; c++)
        if (strcmp(model->clips[c].name, name) == 0)
            return c;
    return TH_NO_INDEX;
}

/* ---- size ---- */

typedef struct extent {
    double low[3], high[3];
} extent;

static void extent_add(extent *e, const double point[3])
{
    for (int i = 0; i < 3; i++) {
        e->low[i] = fmin(e->low[i], point[i]);
        e->high[i] = fmax(e->high[i], point[i]);
    }
}

static void extent_add_joint(extent *e, const th_dmat34 *pose, uint32_t joint)
{
    extent_add(e, (double[3]){pose[joint].m[3], pose[joint].m[7], pose[joint].m[11]});
}

/* The rest pose of a model. */
typedef struct rest {
    const th_model *model;
    th_dmat34 *pose, *palette;
    double *weights, (*positions)[3]; /* positions: room for the vertices of the largest mesh */
} rest;

/* Adds the vertices, and the joints that they follow. */
static void extent_add_mesh(extent *e, const rest *r, const th_mesh *mesh)
{
    th_morph_positions(mesh, r->weights, r->positions);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const th_vertex *vertex = &mesh->vertices[v];
        double skinned[3] = {0, 0, 0}, part[3];
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
            extent_add_joint(e, r->pose, r->model->bones[vertex->bone[k]].joint);
            th_dmat34_point(&r->palette[vertex->bone[k]], r->positions[v], part);
            for (int i = 0; i < 3; i++)
                skinned[i] += (double)vertex->weight[k] * part[i];
        }
        extent_add(e, skinned);
    }
}

static void rest_fini(rest *r)
{
    free(r->pose);
    free(r->weights);
    free(r->positions);
}

/* Returns false if out of memory. */
static bool rest_init(rest *r, const th_model *model)
{
    uint32_t vertices = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++)
        vertices = model->meshes[m].vertex_count > vertices ? model->meshes[m].vertex_count : vertices;
    *r = (rest){.model = model,
                .pose = calloc((size_t)model->joint_count + model->bone_count + 1, sizeof *r->pose),
                .weights = calloc((size_t)model->weight_count + 1, sizeof *r->weights),
                .positions = calloc((size_t)vertices + 1, sizeof *r->positions)};
    if (!r->pose || !r->weights || !r->positions) {
        rest_fini(r);
        return false;
    }
    r->palette = r->pose + model->joint_count;
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, r->pose);
    th_exact_palette(model, r->pose, r->palette);
    th_exact_weights(model, NULL, 0, TH_INTERPOLATION_AUTHORED, r->weights);
    return true;
}

double th_model_measure(const th_model *model)
{
    assert(model);
    extent e = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    rest r;
    if (!rest_init(&r, model))
        return 0;
    for (uint32_t j = 0; model->mesh_count == 0 && j < model->joint_count; j++)
        extent_add_joint(&e, r.pose, j);
    for (uint32_t m = 0; m < model->mesh_count; m++)
        extent_add_mesh(&e, &r, &model->meshes[m]);
    rest_fini(&r);

    double size = 0;
    for (int i = 0; i < 3; i++)
        size = fmax(size, e.high[i] - e.low[i]);
    return isnormal(size) ? size : 1;
}

/* ---- check ---- */

static bool all_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static th_result check_joints(const th_model *model, th_error *err)
{
    if (model->joint_count == 0)
        return th_fail(err, TH_ERR_INPUT, "the model has no joint");
    if (model->joint_count > TH_MAX_JOINTS)
        return th_fail(err, TH_ERR_LIMIT, "%u joints, the limit is %u", model->joint_count, TH_MAX_JOINTS);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const th_joint *joint = &model->joints[j];
        if (!joint->name || !joint->name[0])
            return th_fail(err, TH_ERR_INPUT, "joint %u has no name", j);
        /* Depth first: the parent is the previous joint or one of its ancestors. */
        uint32_t ancestor = j == 0 ? TH_NO_INDEX : j - 1;
        while (ancestor != TH_NO_INDEX && ancestor != joint->parent)
            ancestor = model->joints[ancestor].parent;
        if (ancestor != joint->parent)
            return th_fail(err, TH_ERR_INPUT, "joint %u (%s) is out of order", j, joint->name);
        if (!all_finite(joint->rest.m, 12))
            return th_fail(err, TH_ERR_INPUT, "joint %s: the rest transform is not finite", joint->name);
    }
    return TH_OK;
}

static th_result check_binds(const th_model *model, th_error *err)
{
    if (model->bone_count > TH_MAX_BONES)
        return th_fail(err, TH_ERR_LIMIT, "%u bones, the limit is %u", model->bone_count, TH_MAX_BONES);
    for (uint32_t b = 0; b < model->bone_count; b++) {
        const th_bone *bone = &model->bones[b];
        if (bone->joint >= model->joint_count)
            return th_fail(err, TH_ERR_INPUT, "bone %u names joint %u of %u", b, bone->joint, model->joint_count);
        if (b > 0 && bone->joint < bone[-1].joint)
            return th_fail(err, TH_ERR_INPUT, "bone %u is out of order", b);
        if (!all_finite(bone->inverse_bind.m, 12))
            return th_fail(err, TH_ERR_INPUT, "bone %u: the matrix is not finite", b);
    }
    return TH_OK;
}

static th_result check_vertex(const th_model *model, const th_mesh *mesh, uint32_t index, th_error *err)
{
    const th_vertex *v = &mesh->vertices[index];
    float sum = 0;
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++) {
        sum += v->weight[k];
        if (v->bone[k] >= model->bone_count || !(v->weight[k] >= 0) || (k > 0 && v->weight[k] > v->weight[k - 1]))
            return th_fail(err, TH_ERR_INPUT, "mesh %s, vertex %u: bad influence %u", mesh->name, index, k);
    }
    if (!(fabsf(sum - 1) < 1e-3f))
        return th_fail(err, TH_ERR_INPUT, "mesh %s, vertex %u: weights sum to %g", mesh->name, index, (double)sum);
    if (!all_finite(v->position, 3) || !all_finite(v->normal, 3) || !all_finite(v->uv, 2))
        return th_fail(err, TH_ERR_INPUT, "mesh %s, vertex %u is not finite", mesh->name, index);
    return TH_OK;
}

static bool target_ok(const th_model *model, const th_mesh *mesh, uint32_t t)
{
    const th_morph_target *target = &mesh->targets[t];
    if (target->weight >= model->weight_count || (t > 0 && target->weight <= target[-1].weight))
        return false;
    for (uint32_t d = 0; d < target->delta_count; d++) {
        const th_morph_delta *delta = &target->deltas[d];
        if (delta->vertex >= mesh->vertex_count || (d > 0 && delta->vertex <= delta[-1].vertex) ||
            !all_finite(delta->position, 3) || !all_finite(delta->normal, 3))
            return false;
    }
    return true;
}

static th_result check_targets(const th_model *model, const th_mesh *mesh, uint64_t *deltas, th_error *err)
{
    for (uint32_t t = 0; t < mesh->target_count; t++) {
        if (!target_ok(model, mesh, t))
            return th_fail(err, TH_ERR_INPUT, "mesh %s: bad morph target %u", mesh->name, t);
        *deltas += mesh->targets[t].delta_count;
        if (*deltas > TH_MAX_DELTAS)
            return th_fail(err, TH_ERR_LIMIT, "morph targets move more than %u vertices", TH_MAX_DELTAS);
    }
    return TH_OK;
}

static th_result check_weights(const th_model *model, th_error *err)
{
    if (model->weight_count > TH_MAX_WEIGHTS)
        return th_fail(err, TH_ERR_LIMIT, "%u morph weights, the limit is %u", model->weight_count, TH_MAX_WEIGHTS);
    for (uint32_t w = 0; w < model->weight_count; w++) {
        const th_weight *weight = &model->weights[w];
        if (!weight->name || weight->joint >= model->joint_count || (w > 0 && weight->joint < weight[-1].joint) ||
            !isfinite(weight->rest))
            return th_fail(err, TH_ERR_INPUT, "morph weight %u: bad name, joint or value", w);
    }
    return TH_OK;
}

static th_result check_meshes(const th_model *model, th_error *err)
{
    uint64_t vertices = 0, deltas = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *mesh = &model->meshes[m];
        vertices += mesh->vertex_count;
        if (vertices > TH_MAX_VERTICES)
            return th_fail(err, TH_ERR_LIMIT, "more than %u vertices", TH_MAX_VERTICES);
        if (!mesh->name || mesh->material >= model->material_count || mesh->index_count % 3 != 0)
            return th_fail(err, TH_ERR_INPUT, "mesh %u: bad name, material or index count", m);
        for (uint32_t v = 0; v < mesh->vertex_count; v++)
            if (check_vertex(model, mesh, v, err) != TH_OK)
                return TH_ERR_INPUT;
        for (uint32_t i = 0; i < mesh->index_count; i++)
            if (mesh->indices[i] >= mesh->vertex_count)
                return th_fail(err, TH_ERR_INPUT, "mesh %s: index %u names vertex %u of %u", mesh->name, i,
                               mesh->indices[i], mesh->vertex_count);
        const th_result result = check_targets(model, mesh, &deltas, err);
        if (result != TH_OK)
            return result;
    }
    return TH_OK;
}

bool th_bone_place(const th_bone *bone, float out[3])
{
    assert(bone && out);
    const th_dmat34 inverse = th_dmat34_from(bone->inverse_bind);
    th_dmat34 matrix;
    if (!th_dmat34_invert(&inverse, &matrix))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!(fabs(matrix.m[4 * i + 3]) <= (double)FLT_MAX))
            return false;
        out[i] = (float)matrix.m[4 * i + 3];
    }
    return true;
}

th_palette_base th_model_palette_base(const th_model *model, uint32_t bone)
{
    assert(model && bone < model->bone_count);
    th_palette_base base = {.step = th_palette_step(model->size)};
    th_bone_place(&model->bones[bone], base.place);
    return base;
}

const char *th_alpha_name(th_alpha alpha)
{
    static const char *const names[TH_ALPHA_COUNT] = {"opaque", "mask", "blend"};
    assert((unsigned)alpha < TH_ALPHA_COUNT);
    return names[alpha];
}

static bool look_ok(const th_material *material)
{
    const float *light = material->emissive;
    return (unsigned)material->alpha < TH_ALPHA_COUNT && all_finite(&material->alpha_cutoff, 1) &&
           material->alpha_cutoff >= 0 && all_finite(light, 3) && light[0] >= 0 && light[1] >= 0 && light[2] >= 0;
}

static th_result check_materials(const th_model *model, th_error *err)
{
    for (uint32_t m = 0; m < model->material_count; m++) {
        const th_material *material = &model->materials[m];
        if (!material->name || !all_finite(material->base_color, 4) ||
            (material->texture != TH_NO_INDEX && material->texture >= model->texture_count))
            return th_fail(err, TH_ERR_INPUT, "material %u: bad name, colour or texture", m);
        if (!look_ok(material))
            return th_fail(err, TH_ERR_INPUT, "material %s: bad alpha or emissive colour", material->name);
    }
    for (uint32_t t = 0; t < model->texture_count; t++)
        if (!model->textures[t].name || (!model->textures[t].bytes && model->textures[t].byte_count > 0))
            return th_fail(err, TH_ERR_INPUT, "texture %u: bad name or size", t);
    return TH_OK;
}

static bool track_ok(const th_track *track, uint32_t width)
{
    size_t numbers = (size_t)track->key_count * width;
    if (track->key_count == 0 || !all_finite(track->values, numbers))
        return false;
    if (track->tangents && (track->steps || track->key_count < 2 || !all_finite(track->tangents, 2 * numbers)))
        return false;
    for (uint32_t k = 0; k < track->key_count; k++)
        if (!isfinite(track->times[k]) || (k > 0 && !(track->times[k] > track->times[k - 1])))
            return false;
    return true;
}

static bool rotations_ok(const th_track *track)
{
    for (uint32_t k = 0; k < track->key_count; k++) {
        const float *q = track->values + 4 * (size_t)k, *before = k > 0 ? q - 4 : q;
        float length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        float dot = q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3];
        bool good =
            track->tangents ? isfinite(length2) && length2 >= 1e-12f : fabsf(length2 - 1) < 1e-4f && dot >= -1e-4f;
        if (!good)
            return false;
    }
    return true;
}

static th_result check_clip(const th_model *model, const th_clip *clip, th_error *err)
{
    if (!clip->name || !clip->name[0])
        return th_fail(err, TH_ERR_INPUT, "a clip has no name");
    if (!(clip->duration_ticks >= 0) || !(clip->ticks_per_second > 0) || isinf(clip->duration_ticks) ||
        isinf(clip->ticks_per_second) || clip->duration_ticks / clip->ticks_per_second > (double)FLT_MAX)
        return th_fail(err, TH_ERR_INPUT, "clip %s: bad duration or ticks per second", clip->name);
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const th_channel *channel = &clip->channels[c];
        if (channel->joint >= model->joint_count || (c > 0 && channel->joint <= channel[-1].joint))
            return th_fail(err, TH_ERR_INPUT, "clip %s: channel %u is out of order", clip->name, c);
        if (channel->filled & ~(uint32_t)(TH_TRANSLATION | TH_ROTATION | TH_SCALE))
            return th_fail(err, TH_ERR_INPUT, "clip %s: channel %u is filled with what is no part", clip->name, c);
        if (!track_ok(&channel->translation, 3) || !track_ok(&channel->rotation, 4) || !track_ok(&channel->scale, 3) ||
            !rotations_ok(&channel->rotation))
            return th_fail(err, TH_ERR_INPUT, "clip %s: bad keys for joint %s", clip->name,
                           model->joints[channel->joint].name);
    }
    for (uint32_t t = 0; t < clip->weight_track_count; t++) {
        const th_weight_track *track = &clip->weight_tracks[t];
        if (track->weight >= model->weight_count || (t > 0 && track->weight <= track[-1].weight))
            return th_fail(err, TH_ERR_INPUT, "clip %s: weight track %u is out of order", clip->name, t);
        if (!track_ok(&track->track, 1))
            return th_fail(err, TH_ERR_INPUT, "clip %s: bad keys for morph weight %u", clip->name, track->weight);
    }
    return TH_OK;
}

static bool vertices_have_regions(const th_mesh *mesh, uint32_t region_count)
{
    for (uint32_t i = 0; i < mesh->index_count; i++) {
        const uint8_t region = mesh->vertices[mesh->indices[i]].color[TH_APPEARANCE_REGION];
        if (region >= region_count || region != mesh->vertices[mesh->indices[i - i % 3]].color[TH_APPEARANCE_REGION])
            return false;
    }
    return true;
}

static th_result check_appearances(const th_model *model, th_error *err)
{
    const th_appearances *appearances = &model->appearances;
    if (appearances->count == 0)
        return TH_OK;
    if (appearances->count > TH_MAX_APPEARANCES || appearances->region_count > TH_MAX_REGIONS)
        return th_fail(err, TH_ERR_LIMIT, "%u appearances of %u regions, the limits are %u and %u", appearances->count,
                       appearances->region_count, TH_MAX_APPEARANCES, TH_MAX_REGIONS);
    if (!all_finite(&appearances->slack, 1) || appearances->slack < 0)
        return th_fail(err, TH_ERR_INPUT, "the slack of the appearances is %g", (double)appearances->slack);
    for (uint32_t a = 0; a < appearances->count; a++)
        if (!(appearances->statures[a] > 0 && appearances->statures[a] <= 1))
            return th_fail(err, TH_ERR_INPUT, "appearance %u has a stature of %g", a, (double)appearances->statures[a]);
    for (uint32_t m = 0; m < model->material_count; m++)
        if (model->materials[m].alpha != TH_ALPHA_OPAQUE || model->materials[m].texture != TH_NO_INDEX)
            return th_fail(err, TH_ERR_INPUT,
                           "material %s is transparent or has a texture, in a model with appearances",
                           model->materials[m].name);
    for (uint32_t m = 0; m < model->mesh_count; m++)
        if (model->meshes[m].target_count > 0 || !vertices_have_regions(&model->meshes[m], appearances->region_count))
            return th_fail(err, TH_ERR_INPUT, "mesh %s has morph targets, or triangles of no region or of several",
                           model->meshes[m].name);
    return TH_OK;
}

th_result th_model_check(const th_model *model, th_error *err)
{
    assert(model);
    th_result result = check_joints(model, err);
    if (result == TH_OK)
        result = check_binds(model, err);
    if (result == TH_OK)
        result = check_weights(model, err);
    if (result == TH_OK)
        result = check_materials(model, err);
    if (result == TH_OK)
        result = check_meshes(model, err);
    if (result == TH_OK)
        result = check_appearances(model, err);
    if (result == TH_OK && model->clip_count > TH_MAX_CLIPS)
        result = th_fail(err, TH_ERR_LIMIT, "%u clips, the limit is %u", model->clip_count, TH_MAX_CLIPS);
    for (uint32_t c = 0; result == TH_OK && c < model->clip_count; c++)
        result = check_clip(model, &model->clips[c], err);
    if (result == TH_OK && (!model->name || !isnormal(model->size) || model->size < 0))
        result = th_fail(err, TH_ERR_INPUT, "the model has no name or no size (out of memory?)");
    return result;
}
