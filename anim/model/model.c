#include <anim/model.h>

#include "exact_cursor.h"
#include "vertices.h"

#include <anim/clip_choice.h>
#include <anim/exact.h>
#include <anim/weights.h>
#include <core/arena.h>
#include <core/error.h>
#include <core/suggest.h>

#include <assert.h>
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LONGEST_POSE_S 0.1 /* a clip that shows one */

void th_model_destroy(th_model *model)
{
    if (model)
        th_arena_destroy(model->arena);
}

uint32_t th_model_find_joint(const th_model *model, const char *name)
{
    if (!TH_VALID(model && name))
        return TH_NO_INDEX;
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (strcmp(model->joints[j].name, name) == 0)
            return j;
    return TH_NO_INDEX;
}

uint32_t th_model_find_clip(const th_model *model, const char *name)
{
    if (!TH_VALID(model && name))
        return TH_NO_INDEX;
    for (uint32_t c = 0; c < model->clip_count; c++)
        if (strcmp(model->clips[c].name, name) == 0)
            return c;
    return TH_NO_INDEX;
}

/* The first scales that are not 0. */
static void find_signs(const th_track *scale, double out[3])
{
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < scale->key_count && (k == 0 || out[i] == 0); k++)
            out[i] = (double)scale->values[3 * k + i];
}

void th_channel_take_signs(const th_channel *channel, const double like[3], th_trs *trs)
{
    double signs[3];
    find_signs(&channel->scale, signs);
    th_trs_take_signs(trs, signs, like);
}

th_trs th_joint_rest(const th_joint *joint, const th_channel *like)
{
    assert(joint);
    double signs[3] = {1, 1, 1};
    if (like)
        find_signs(&like->scale, signs);
    th_trs out;
    const th_dmat34 matrix = th_dmat34_from(joint->rest);
    if (!joint->rest_parts) {
        th_dmat34_decompose_like(&matrix, signs, &out);
        return out;
    }
    out = *joint->rest_parts;
    for (int i = 0; i < 3; i++)
        if (out.scale[i] == 0)
            out.scale[i] = copysign(0, signs[i]);
    return out;
}

bool th_clip_has_curves(const th_clip *clip)
{
    assert(clip);
    for (uint32_t c = 0; c < clip->channel_count; c++)
        if (clip->channels[c].curves)
            return true;
    for (uint32_t t = 0; t < clip->weight_track_count; t++)
        if (clip->weight_tracks[t].curves)
            return true;
    return false;
}

uint32_t th_clip_find(const th_model *model, const char *text)
{
    assert(model && text);
    const uint32_t clip = th_model_find_clip(model, text);
    if (clip != TH_NO_INDEX || text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return clip;
    const unsigned long number = strtoul(text, NULL, 10);
    return number < model->clip_count ? (uint32_t)number : TH_NO_INDEX;
}

bool th_clip_suits_crowds(const th_clip *clip)
{
    static const char *const words[] = {"dead",    "death", "die",  "dies",  "dying", "sit",     "sits",
                                        "sitting", "lie",   "lies", "lying", "sleep", "sleeping"};
    assert(clip);
    bool suits = clip->duration_ticks > LONGEST_POSE_S * clip->ticks_per_second;
    for (const char *at = clip->name; *at && suits; at++) {
        if (!isalpha((unsigned char)*at))
            continue;
        const char *word = at; /* ends where the next one begins: thisWay, or this_way */
        while (isalpha((unsigned char)at[1]) && (!isupper((unsigned char)at[1]) || isupper((unsigned char)at[0])))
            at++;
        const size_t length = (size_t)(at + 1 - word);
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            suits = suits && (strlen(words[w]) != length || strncasecmp(word, words[w], length) != 0);
    }
    return suits;
}

th_result th_clip_not_found(const char *text, th_model *const *models, uint32_t count, th_error *err)
{
    assert(text && (models || count == 0));
    th_suggestion s = {.typed = text};
    uint32_t clips = 0;
    for (uint32_t m = 0; m < count; m++) {
        clips += models[m]->clip_count;
        for (uint32_t c = 0; c < models[m]->clip_count; c++)
            th_suggestion_consider(&s, models[m]->clips[c].name);
    }
    if (s.best)
        return th_fail(err, TH_ERR_USAGE, "no clip \"%s\"; did you mean \"%s\"?", text, s.best);
    if (clips == 0)
        return th_fail(err, TH_ERR_USAGE, "no clip \"%s\": there is no clip at all", text);
    return th_fail(err, TH_ERR_USAGE, "no clip \"%s\"; `throng inspect` lists a model's clips", text);
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
    if (!TH_VALID_MODEL(model) || !TH_VALID(bone < model->bone_count))
        return (th_palette_base){0};
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

/* ---- vertices at rest and morphed ---- */

void th_morph_positions(const th_mesh *mesh, const double *weights, double (*out)[3])
{
    assert(mesh && out && (weights || mesh->target_count == 0));
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (int i = 0; i < 3; i++)
            out[v][i] = (double)mesh->vertices[v].position[i];
    for (uint32_t t = 0; t < mesh->target_count; t++) {
        const th_morph_target *target = &mesh->targets[t];
        const double weight = weights[target->weight];
        for (uint32_t d = 0; weight != 0 && d < target->delta_count; d++)
            for (int i = 0; i < 3; i++)
                out[target->deltas[d].vertex][i] += weight * (double)target->deltas[d].position[i];
    }
}

double th_model_measure(const th_model *model)
{
    assert(model);
    uint32_t most_vertices = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++)
        if (model->meshes[m].vertex_count > most_vertices)
            most_vertices = model->meshes[m].vertex_count;
    th_arena *arena = th_arena_create();
    th_dmat34 *pose = th_arena_new(arena, th_dmat34, model->joint_count),
              *palette = th_arena_new(arena, th_dmat34, model->bone_count);
    double *weights = th_arena_new(arena, double, model->weight_count),
           (*positions)[3] = th_arena_alloc(arena, most_vertices, sizeof *positions);
    if (th_arena_failed(arena)) {
        th_arena_destroy(arena);
        return 0;
    }
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_palette(model, pose, palette);
    th_exact_weights(model, NULL, 0, TH_INTERPOLATION_AUTHORED, weights);

    th_box extent = TH_BOX_EMPTY;
    for (uint32_t j = 0; model->mesh_count == 0 && j < model->joint_count; j++)
        th_box_add_origin(&extent, &pose[j]);
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        th_morph_positions(&model->meshes[m], weights, positions);
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++) {
            const th_vertex *vertex = &model->meshes[m].vertices[v];
            double skinned[3] = {0, 0, 0}, part[3];
            for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
                th_box_add_origin(&extent, &pose[model->bones[vertex->bone[k]].joint]);
                th_dmat34_point(&palette[vertex->bone[k]], positions[v], part);
                for (int i = 0; i < 3; i++)
                    skinned[i] += (double)vertex->weight[k] * part[i];
            }
            th_box_add(&extent, skinned);
        }
    }
    th_arena_destroy(arena);
    const double size = th_box_extent(&extent);
    return size > 0 && isnormal(size) ? size : 1;
}

double *th_weight_reaches(const th_model *model, th_arena *arena)
{
    assert(model);
    double *reaches = th_arena_new(arena, double, model->weight_count);
    if (model->weight_count == 0)
        return reaches;
    th_dmat34 *pose = th_arena_new(arena, th_dmat34, (size_t)model->joint_count + model->bone_count);
    if (!reaches || !pose)
        return NULL;
    th_dmat34 *palette = pose + model->joint_count;
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_palette(model, pose, palette);
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *mesh = &model->meshes[m];
        double scale = 0; /* the largest of the bones that the mesh follows */
        for (uint32_t v = 0; v < mesh->vertex_count && mesh->target_count > 0; v++)
            for (uint32_t k = 0; k < TH_MAX_INFLUENCES && mesh->vertices[v].weight[k] > 0; k++)
                scale = fmax(scale, th_dmat34_stretch(&palette[mesh->vertices[v].bone[k]]));
        for (uint32_t t = 0; t < mesh->target_count; t++) {
            double *reach = &reaches[mesh->targets[t].weight];
            for (uint32_t d = 0; d < mesh->targets[t].delta_count; d++) {
                const float *by = mesh->targets[t].deltas[d].position;
                const double x = (double)by[0], y = (double)by[1], z = (double)by[2];
                *reach = fmax(*reach, scale * sqrt(x * x + y * y + z * z));
            }
        }
    }
    return reaches;
}

double th_weight_error(const th_model *model, const double *reaches, const double *errors, uint32_t *out_joint)
{
    assert(model && ((reaches && errors) || model->weight_count == 0));
    double largest = 0, sum = 0;
    for (uint32_t w = 0; w < model->weight_count; w++) {
        const uint32_t joint = model->weights[w].joint;
        if (!isfinite(errors[w]))
            return HUGE_VAL;
        sum = w > 0 && model->weights[w - 1].joint == joint ? sum : 0;
        sum += fabs(errors[w]) * reaches[w];
        if (!(sum > largest))
            continue;
        largest = sum;
        if (out_joint)
            *out_joint = joint;
    }
    return largest;
}

/* ---- check ---- */

static bool all_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

/* An array that is NULL though its count is above 0, as only a program can make one. */
static const char *missing_array(const th_model *m)
{
    const th_appearances *a = &m->appearances;
    return !m->joints                                                               ? "joints"
           : m->bone_count > 0 && !m->bones                                         ? "bones"
           : m->weight_count > 0 && !m->weights                                     ? "weights"
           : m->mesh_count > 0 && !m->meshes                                        ? "meshes"
           : m->material_count > 0 && !m->materials                                 ? "materials"
           : m->texture_count > 0 && !m->textures                                   ? "textures"
           : m->clip_count > 0 && !m->clips                                         ? "clips"
           : a->count > 0 && (!a->statures || (a->region_count > 0 && !a->regions)) ? "appearances"
                                                                                    : NULL;
}

/* deltas: of the meshes before; updated. */
static th_result check_mesh(const th_model *model, const th_mesh *mesh, uint64_t *deltas, th_error *err)
{
    if ((mesh->vertex_count > 0 && !mesh->vertices) || (mesh->index_count > 0 && !mesh->indices) ||
        (mesh->target_count > 0 && !mesh->targets))
        return th_fail(err, TH_ERR_INPUT, "mesh %s: vertices, indices or targets are NULL", mesh->name);
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        const th_vertex *v = &mesh->vertices[i];
        float sum = 0;
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++) {
            sum += v->weight[k];
            if (v->bone[k] >= model->bone_count || !(v->weight[k] >= 0) || (k > 0 && v->weight[k] > v->weight[k - 1]))
                return th_fail(err, TH_ERR_INPUT, "mesh %s, vertex %u: bad influence %u", mesh->name, i, k);
        }
        if (!(fabsf(sum - 1) < 1e-3f))
            return th_fail(err, TH_ERR_INPUT, "mesh %s, vertex %u: weights sum to %g", mesh->name, i, (double)sum);
        if (!all_finite(v->position, 3) || !all_finite(v->normal, 3) || !all_finite(v->uv, 2))
            return th_fail(err, TH_ERR_INPUT, "mesh %s, vertex %u is not finite", mesh->name, i);
    }
    for (uint32_t i = 0; i < mesh->index_count; i++)
        if (mesh->indices[i] >= mesh->vertex_count)
            return th_fail(err, TH_ERR_INPUT, "mesh %s: index %u names vertex %u of %u", mesh->name, i,
                           mesh->indices[i], mesh->vertex_count);
    for (uint32_t t = 0; t < mesh->target_count; t++) {
        const th_morph_target *target = &mesh->targets[t];
        bool good = target->weight < model->weight_count && (t == 0 || target->weight > target[-1].weight) &&
                    (target->delta_count == 0 || target->deltas);
        for (uint32_t d = 0; good && d < target->delta_count; d++) {
            const th_morph_delta *delta = &target->deltas[d];
            good = delta->vertex < mesh->vertex_count && (d == 0 || delta->vertex > delta[-1].vertex) &&
                   all_finite(delta->position, 3) && all_finite(delta->normal, 3);
        }
        if (!good)
            return th_fail(err, TH_ERR_INPUT, "mesh %s: bad morph target %u", mesh->name, t);
        *deltas += target->delta_count;
        if (*deltas > TH_MAX_DELTAS)
            return th_fail(err, TH_ERR_LIMIT, "morph targets move more than %u vertices", TH_MAX_DELTAS);
    }
    return TH_OK;
}

static bool track_ok(const th_track *track, uint32_t width)
{
    size_t numbers = (size_t)track->key_count * width;
    if (track->key_count == 0 || !track->times || !track->values || !all_finite(track->values, numbers))
        return false;
    if (track->tangents && (track->steps || track->key_count < 2 || !all_finite(track->tangents, 2 * numbers)))
        return false;
    for (uint32_t k = 0; k < track->key_count; k++)
        if (!isfinite(track->times[k]) || (k > 0 && !(track->times[k] >= track->times[k - 1])) ||
            (k > 1 && !(track->times[k] > track->times[k - 2])))
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

static bool curve_ok(const th_curve *curve)
{
    for (uint32_t k = 0; k < curve->key_count; k++)
        if (!isfinite(curve->times[k]) || !isfinite(curve->values[k]) ||
            (k > 0 && !(curve->times[k] > curve->times[k - 1])))
            return false;
    for (uint32_t k = 0; k + 1 < curve->key_count; k++) {
        const th_curve_piece *p = &curve->pieces[k];
        if (!p->holds && !(p->leave_time >= 0 && p->leave_time <= 1 && p->arrive_time >= 0 && p->arrive_time <= 1 &&
                           isfinite(p->leave_value) && isfinite(p->arrive_value)))
            return false;
    }
    return true;
}

/* Curves from `first` to `end` of each layer. Takes their keys, and one for each layer, off *room. */
static bool layers_ok(const th_curve_layer *layers, uint32_t count, uint32_t first, uint32_t end, int64_t *room)
{
    for (uint32_t l = 0; l < count; l++) {
        const th_curve *curves = layers[l].curves;
        if (!curve_ok(&layers[l].weight))
            return false;
        *room -= 1 + (int64_t)layers[l].weight.key_count;
        for (uint32_t i = first; i < end; i++) {
            *room -= curves[i].key_count;
            if (!curve_ok(&curves[i]) || (curves[i].key_count > 0) != (curves[i - i % 3].key_count > 0))
                return false;
        }
    }
    return true;
}

/* A hostile file may let each of many joints inherit the same long curves: they are copied with each. */
#define MOST_INHERITED_KEYS ((int64_t)64 << 20)

/* Takes keys that are inherited off *room, which may then be below 0; stops there. */
static bool inherited_ok(const th_transform_curves *from, int64_t *room)
{
    uint32_t count = 0;
    for (; from && *room >= 0; from = from->scale_from)
        if (++count > TH_MOST_INHERITED || !all_finite(from->numbers + TH_CURVE_SCALE, 3) ||
            !layers_ok(from->layers, from->layer_count, TH_CURVE_SCALE, TH_TRANSFORM_CURVES, room))
            return false;
    return true;
}

static bool all_finite_doubles(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static bool has_unit_length(const double q[4])
{
    return fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) < 1e-6;
}

static bool parts_ok(const th_trs *parts)
{
    return all_finite_doubles(parts->translation, 3) && has_unit_length(parts->rotation) &&
           all_finite_doubles(parts->scale, 3);
}

static bool transform_curves_ok(const th_transform_curves *c, int64_t *room)
{
    int64_t own = 0;
    return all_finite(c->numbers, TH_TRANSFORM_CURVES) && c->order <= 5 && has_unit_length(c->before) &&
           has_unit_length(c->after) && parts_ok(&c->frame) && all_finite_doubles(c->rotation_offset, 3) &&
           all_finite_doubles(c->rotation_pivot, 3) && all_finite_doubles(c->scaling_offset, 3) &&
           all_finite_doubles(c->scaling_pivot, 3) && all_finite_doubles(c->travel, 3) &&
           (unsigned)c->part < TH_CURVE_PART_COUNT &&
           layers_ok(c->layers, c->layer_count, 0, TH_TRANSFORM_CURVES, &own) && inherited_ok(c->scaled_by, room) &&
           inherited_ok(c->scale_from, room);
}

static bool weight_curves_ok(const th_weight_curves *c)
{
    int64_t own = 0;
    bool good = isfinite(c->number) && c->place_count >= 2 && c->place < c->place_count &&
                all_finite(c->places, c->place_count) && layers_ok(c->layers, c->layer_count, 0, 1, &own);
    for (uint32_t p = 1; good && p < c->place_count; p++)
        good = c->places[p] > c->places[p - 1];
    return good;
}

/* inherited_room: of MOST_INHERITED_KEYS, what the clips before have left; updated. */
static th_result check_clip(const th_model *model, const th_clip *clip, int64_t *inherited_room, th_error *err)
{
    if (!clip->name || !clip->name[0])
        return th_fail(err, TH_ERR_INPUT, "a clip has no name");
    if (!(clip->duration_ticks >= 0) || !(clip->ticks_per_second > 0) || isinf(clip->duration_ticks) ||
        isinf(clip->ticks_per_second) || clip->duration_ticks / clip->ticks_per_second > (double)FLT_MAX)
        return th_fail(err, TH_ERR_INPUT, "clip %s: bad duration or ticks per second", clip->name);
    if ((clip->channel_count > 0 && !clip->channels) || (clip->weight_track_count > 0 && !clip->weight_tracks))
        return th_fail(err, TH_ERR_INPUT, "clip %s: channels or weight tracks are NULL", clip->name);
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
        if (channel->curves && !transform_curves_ok(channel->curves, inherited_room))
            return th_fail(err, TH_ERR_INPUT, "clip %s: bad curves for joint %s", clip->name,
                           model->joints[channel->joint].name);
        if (*inherited_room < 0)
            return th_fail(err, TH_ERR_LIMIT, "joints inherit scales of more than %lld keys",
                           (long long)MOST_INHERITED_KEYS);
    }
    for (uint32_t t = 0; t < clip->weight_track_count; t++) {
        const th_weight_track *track = &clip->weight_tracks[t];
        if (track->weight >= model->weight_count || (t > 0 && track->weight <= track[-1].weight))
            return th_fail(err, TH_ERR_INPUT, "clip %s: weight track %u is out of order", clip->name, t);
        if (!track_ok(&track->track, 1) || (track->curves && !weight_curves_ok(track->curves)))
            return th_fail(err, TH_ERR_INPUT, "clip %s: bad keys for morph weight %u", clip->name, track->weight);
    }
    return TH_OK;
}

/* Of a model that has some. */
static th_result check_appearances(const th_model *model, th_error *err)
{
    const th_appearances *appearances = &model->appearances;
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
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *mesh = &model->meshes[m];
        bool good = mesh->target_count == 0;
        for (uint32_t i = 0; good && i < mesh->index_count; i++) {
            const uint8_t region = mesh->vertices[mesh->indices[i]].color[TH_APPEARANCE_REGION],
                          first = mesh->vertices[mesh->indices[i - i % 3]].color[TH_APPEARANCE_REGION];
            good = region < appearances->region_count && region == first;
        }
        if (!good)
            return th_fail(err, TH_ERR_INPUT, "mesh %s has morph targets, or triangles of no region or of several",
                           mesh->name);
    }
    return TH_OK;
}

th_result th_model_check(const th_model *model, th_error *err)
{
    assert(model);
    if (model->joint_count == 0)
        return th_fail(err, TH_ERR_INPUT, "the model has no joint");
    if (missing_array(model))
        return th_fail(err, TH_ERR_INPUT, "th_model.%s is NULL", missing_array(model));
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
        if (joint->rest_parts && !parts_ok(joint->rest_parts))
            return th_fail(err, TH_ERR_INPUT, "joint %s: bad parts of the rest transform", joint->name);
    }

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

    if (model->weight_count > TH_MAX_WEIGHTS)
        return th_fail(err, TH_ERR_LIMIT, "%u morph weights, the limit is %u", model->weight_count, TH_MAX_WEIGHTS);
    for (uint32_t w = 0; w < model->weight_count; w++) {
        const th_weight *weight = &model->weights[w];
        if (!weight->name || weight->joint >= model->joint_count || (w > 0 && weight->joint < weight[-1].joint) ||
            !isfinite(weight->rest))
            return th_fail(err, TH_ERR_INPUT, "morph weight %u: bad name, joint or value", w);
    }

    for (uint32_t m = 0; m < model->material_count; m++) {
        const th_material *material = &model->materials[m];
        if (!material->name || !all_finite(material->base_color, 4) ||
            (material->texture != TH_NO_INDEX && material->texture >= model->texture_count))
            return th_fail(err, TH_ERR_INPUT, "material %u: bad name, colour or texture", m);
        const float *light = material->emissive;
        if ((unsigned)material->alpha >= TH_ALPHA_COUNT || !all_finite(&material->alpha_cutoff, 1) ||
            !(material->alpha_cutoff >= 0) || !all_finite(light, 3) ||
            !(light[0] >= 0 && light[1] >= 0 && light[2] >= 0))
            return th_fail(err, TH_ERR_INPUT, "material %s: bad alpha or emissive colour", material->name);
    }
    for (uint32_t t = 0; t < model->texture_count; t++) {
        const th_texture *texture = &model->textures[t];
        const th_sampler *read = &texture->sampler;
        if (!texture->name || (!texture->bytes && texture->byte_count > 0))
            return th_fail(err, TH_ERR_INPUT, "texture %u: bad name or size", t);
        if (read->wrap[0] >= TH_WRAP_COUNT || read->wrap[1] >= TH_WRAP_COUNT || read->large > TH_FILTER_NEAREST ||
            read->small > TH_FILTER_NEAREST || read->copies >= TH_FILTER_COUNT)
            return th_fail(err, TH_ERR_INPUT, "texture %s: bad wrap or filter", texture->name);
    }

    uint64_t vertices = 0, deltas = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *mesh = &model->meshes[m];
        vertices += mesh->vertex_count;
        if (vertices > TH_MAX_VERTICES)
            return th_fail(err, TH_ERR_LIMIT, "more than %u vertices", TH_MAX_VERTICES);
        if (!mesh->name || mesh->material >= model->material_count || mesh->index_count % 3 != 0)
            return th_fail(err, TH_ERR_INPUT, "mesh %u: bad name, material or index count", m);
        const th_result result = check_mesh(model, mesh, &deltas, err);
        if (result != TH_OK)
            return result;
    }
    th_result result = model->appearances.count > 0 ? check_appearances(model, err) : TH_OK;
    if (result == TH_OK && model->clip_count > TH_MAX_CLIPS)
        result = th_fail(err, TH_ERR_LIMIT, "%u clips, the limit is %u", model->clip_count, TH_MAX_CLIPS);
    int64_t inherited_room = MOST_INHERITED_KEYS;
    for (uint32_t c = 0; result == TH_OK && c < model->clip_count; c++)
        result = check_clip(model, &model->clips[c], &inherited_room, err);
    if (result == TH_OK && (!model->name || !isnormal(model->size) || model->size < 0))
        result = th_fail(err, TH_ERR_INPUT, "the model has no name or no size (out of memory?)");
    return result;
}
