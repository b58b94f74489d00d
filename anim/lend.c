/* Clips of one model for another: bound by joint name. */
#include <throng/model.h>

#include "arena.h"

#include <string.h>

/* What of a donor's clips finds no home. */
typedef struct unmatched {
    uint32_t missing, ambiguous; /* channels */
    const char *first;           /* joint of the first one */
} unmatched;

/* The joint of this name; TH_NO_INDEX when there is none, and *several set when there is more than one. */
static uint32_t find_only_joint(const th_model *model, const char *name, bool *several)
{
    uint32_t found = th_model_find_joint(model, name);
    *several = false;
    for (uint32_t j = found; found != TH_NO_INDEX && ++j < model->joint_count;)
        if (strcmp(model->joints[j].name, name) == 0)
            *several = true;
    return found;
}

static bool copy_track(th_arena *arena, const th_track *from, size_t width, th_track *to)
{
    to->key_count = from->key_count;
    to->times = th_arena_copy(arena, from->times, from->key_count, sizeof *from->times);
    to->values = th_arena_copy(arena, from->values, from->key_count, width * sizeof *from->values);
    return to->times && to->values;
}

/* Puts a channel where its joint belongs; the first one of a joint wins. */
static th_channel *insert_channel(th_channel *channels, uint32_t *count, uint32_t joint)
{
    uint32_t at = *count;
    while (at > 0 && channels[at - 1].joint > joint)
        at--;
    if (at > 0 && channels[at - 1].joint == joint)
        return NULL;
    memmove(channels + at + 1, channels + at, (*count - at) * sizeof *channels);
    ++*count;
    channels[at] = (th_channel){.joint = joint};
    return &channels[at];
}

static bool copy_clip(th_arena *arena, const th_model *base, const th_model *donor, const th_clip *from, th_clip *to,
                      unmatched *left_out)
{
    th_channel *channels = th_arena_new(arena, th_channel, from->channel_count);
    *to = *from;
    to->name = th_arena_string(arena, from->name);
    to->channels = channels;
    to->channel_count = 0;
    if (!channels || !to->name)
        return false;
    for (uint32_t c = 0; c < from->channel_count; c++) {
        const th_channel *channel = &from->channels[c];
        const char *name = donor->joints[channel->joint].name;
        bool several;
        uint32_t joint = find_only_joint(base, name, &several);
        if (joint == TH_NO_INDEX || several) {
            *(several ? &left_out->ambiguous : &left_out->missing) += 1;
            left_out->first = left_out->first ? left_out->first : name;
            continue;
        }
        th_channel *copy = insert_channel(channels, &to->channel_count, joint);
        if (copy && (!copy_track(arena, &channel->translation, 3, &copy->translation) ||
                     !copy_track(arena, &channel->rotation, 4, &copy->rotation) ||
                     !copy_track(arena, &channel->scale, 3, &copy->scale)))
            return false;
    }
    return true;
}

/* Everything but the clips and notes, deep. */
static bool copy_base(th_arena *arena, const th_model *base, th_model *out)
{
    th_joint *joints = th_arena_copy(arena, base->joints, base->joint_count, sizeof *joints);
    th_mesh *meshes = th_arena_copy(arena, base->meshes, base->mesh_count, sizeof *meshes);
    th_material *materials = th_arena_copy(arena, base->materials, base->material_count, sizeof *materials);
    th_texture *textures = th_arena_copy(arena, base->textures, base->texture_count, sizeof *textures);
    *out = *base;
    out->arena = arena;
    out->name = th_arena_string(arena, base->name);
    out->joints = joints;
    out->binds = th_arena_copy(arena, base->binds, base->bind_count, sizeof *base->binds);
    out->meshes = meshes;
    out->materials = materials;
    out->textures = textures;
    bool ok = joints && meshes && materials && textures && out->name && out->binds;
    for (uint32_t j = 0; ok && j < base->joint_count; j++)
        ok = (joints[j].name = th_arena_string(arena, joints[j].name)) != NULL;
    for (uint32_t m = 0; ok && m < base->mesh_count; m++) {
        meshes[m].name = th_arena_string(arena, meshes[m].name);
        meshes[m].vertices = th_arena_copy(arena, meshes[m].vertices, meshes[m].vertex_count, sizeof(th_vertex));
        meshes[m].indices = th_arena_copy(arena, meshes[m].indices, meshes[m].index_count, sizeof(uint32_t));
        ok = meshes[m].name && meshes[m].vertices && meshes[m].indices;
    }
    for (uint32_t m = 0; ok && m < base->material_count; m++)
        ok = (materials[m].name = th_arena_string(arena, materials[m].name)) != NULL;
    for (uint32_t t = 0; ok && t < base->texture_count; t++) {
        textures[t].name = th_arena_string(arena, textures[t].name);
        if (textures[t].bytes)
            textures[t].bytes = th_arena_copy(arena, textures[t].bytes, textures[t].byte_count, 1);
        ok = textures[t].name && (textures[t].bytes || !base->textures[t].bytes);
    }
    return ok;
}

static bool copy_notes(th_arena *arena, const th_model *base, const th_model *donor, const unmatched *left_out,
                       th_model *out)
{
    const char **notes = th_arena_new(arena, const char *, (size_t)base->note_count + donor->note_count + 1);
    uint32_t count = 0;
    if (!notes)
        return false;
    for (uint32_t n = 0; n < base->note_count; n++)
        if (!(notes[count++] = th_arena_string(arena, base->notes[n])))
            return false;
    for (uint32_t n = 0; n < donor->note_count; n++)
        if (!(notes[count++] = th_arena_format(arena, "%s: %s", donor->name, donor->notes[n])))
            return false;
    if (left_out->first &&
        !(notes[count++] =
              th_arena_format(arena, "%s: %u channels match no joint of %s and %u match several; left out (first: %s)",
                              donor->name, left_out->missing, base->name, left_out->ambiguous, left_out->first)))
        return false;
    out->notes = notes;
    out->note_count = count;
    return true;
}

static th_result lend(th_arena *arena, const th_model *base, const th_model *donor, th_model *out, th_error *err)
{
    uint64_t total = (uint64_t)base->clip_count + donor->clip_count;
    if (total > TH_MAX_CLIPS)
        return th_fail(err, TH_ERR_LIMIT, "%s: %llu clips with those of %s, the limit is %u", base->name,
                       (unsigned long long)total, donor->name, TH_MAX_CLIPS);
    unmatched left_out = {0};
    th_clip *clips = th_arena_new(arena, th_clip, total);
    bool ok = clips && copy_base(arena, base, out);
    for (uint32_t c = 0; ok && c < base->clip_count; c++)
        ok = copy_clip(arena, base, base, &base->clips[c], &clips[c], &(unmatched){0});
    for (uint32_t c = 0; ok && c < donor->clip_count; c++) {
        th_clip *clip = &clips[base->clip_count + c];
        ok = copy_clip(arena, base, donor, &donor->clips[c], clip, &left_out);
        if (ok && clip->channel_count == 0)
            return th_fail(err, TH_ERR_INPUT, "%s: no channel of clip %s matches a joint of %s", donor->name,
                           clip->name, base->name);
    }
    if (!ok || !copy_notes(arena, base, donor, &left_out, out))
        return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", base->name);
    out->clips = clips;
    out->clip_count = (uint32_t)total;
    return TH_OK;
}

th_result th_model_lend_clips(const th_model *base, const th_model *donor, th_model **out, th_error *err)
{
    *out = NULL;
    if (donor->clip_count == 0)
        return th_fail(err, TH_ERR_INPUT, "%s: there is no clip to lend", donor->name);
    th_arena *arena = th_arena_create();
    th_model *model = arena ? th_arena_new(arena, th_model, 1) : NULL;
    th_result result =
        model ? lend(arena, base, donor, model, err) : th_fail(err, TH_ERR_MEMORY, "%s: out of memory", base->name);
    if (result != TH_OK) {
        th_arena_destroy(arena);
        return result;
    }
    *out = model;
    return TH_OK;
}
