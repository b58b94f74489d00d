/* One visitor per struct serves both directions: it passes the members in order, and the archive's mode decides whether
 * their bytes are appended or filled in. So writer and reader cannot diverge.
 *
 * Errors are sticky: after a failure all later visits do nothing. It is checked once, at the end. */
#include <anim/archive.h>

#include <core/arena.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct head {
    char magic[8];
    uint32_t version; /* a different byte order shows as a different version */
    uint32_t result;  /* TH_OK: a model follows; otherwise the error text */
    uint64_t size;    /* of the whole archive, including this head */
} head;

_Static_assert(sizeof(head) == TH_ARCHIVE_HEAD_BYTES, "the head has no padding");
_Static_assert(sizeof(th_vertex) == 84 && sizeof(th_bone) == 52 && sizeof(th_morph_delta) == 28 &&
                   sizeof(th_sampler) == 5,
               "no padding: they travel as they are");

static const char magic[8] = "throng\r\n"; /* a pipe in text mode would change it */

typedef struct archive {
    uint8_t *bytes;      /* written so far, or being read */
    size_t used, size;   /* size: allocated, or available to read */
    th_arena *arena;     /* NULL: writing; else allocates what is read */
    size_t left;         /* that the reader may still allocate */
    const char *failure; /* the first error */
} archive;

/* ---- bytes ---- */

static const char no_memory[] = "out of memory";

static void fail(archive *a, const char *failure)
{
    if (!a->failure)
        a->failure = failure;
}

static void visit(archive *a, void *data, size_t size)
{
    assert(a->used <= a->size);
    assert(data || size == 0 || a->failure);
    if (a->failure || size == 0)
        return;
    if (a->arena && size > a->size - a->used) {
        fail(a, "cut short");
        return;
    }
    if (size > a->size - a->used) {
        const size_t grown = (a->used + size) * 3 / 2 + 4096;
        uint8_t *bytes = grown > a->used ? realloc(a->bytes, grown) : NULL;
        if (!bytes) {
            fail(a, no_memory);
            return;
        }
        a->bytes = bytes;
        a->size = grown;
    }
    if (a->arena)
        memcpy(data, a->bytes + a->used, size);
    else
        memcpy(a->bytes + a->used, data, size);
    a->used += size;
}

#define VISIT(a, member) visit((a), &(member), sizeof(member))

/* ---- arrays and strings ---- */

/* Allocates room for elements to be read, packed: otherwise a text would take 64 bytes for its 5. Each takes at least
 * `least` bytes in the archive, so a false count cannot request more memory than the length of the archive allows. Nor
 * can several, one inside of the other: of all elements, a layer of a weight takes the most for its bytes, 80 for 27.
 */
static void *room(archive *a, uint64_t count, size_t size, size_t least)
{
    assert(a->arena && least > 0);
    if (a->failure)
        return NULL;
    if (count > (a->size - a->used) / least || count * size > a->left) {
        fail(a, "a count is too large");
        return NULL;
    }
    a->left -= count * size;
    void *memory = th_arena_pack(a->arena, count, size);
    if (!memory)
        fail(a, no_memory);
    return memory;
}

/* Arrays of numbers. Visitors cast away the const of th_model's arrays: the writer only reads through these pointers,
 * and the reader has just allocated them. */
#define VISIT_PLAIN(a, array, count)                                                                                   \
    do {                                                                                                               \
        if ((a)->arena)                                                                                                \
            (array) = room((a), (count), sizeof *(array), sizeof *(array));                                            \
        visit((a), (void *)(array), (count) * sizeof *(array));                                                        \
    } while (0)

/* Arrays of structs; `least` as for room(): a text takes at least 5 bytes, a count 4, and so on. */
#define VISIT_EACH(a, array, count, visit_element, least)                                                              \
    do {                                                                                                               \
        if ((a)->arena)                                                                                                \
            (array) = room((a), (count), sizeof *(array), (least));                                                    \
        for (uint32_t i = 0; i < (count) && !(a)->failure; i++)                                                        \
            visit_element((a), (void *)&(array)[i]);                                                                   \
    } while (0)

static void visit_text(archive *a, const char **text)
{
    uint32_t length = a->arena ? 0 : (uint32_t)strlen(*text);
    VISIT(a, length);
    char *characters = (char *)*text;
    if (a->arena)
        *text = characters = room(a, (uint64_t)length + 1, 1, 1);
    visit(a, characters, (size_t)length + 1);
    if (!a->failure && strnlen(characters, (size_t)length + 1) != length)
        fail(a, "a broken text");
}

/* ---- the model ---- */

static void visit_joint(archive *a, th_joint *joint)
{
    visit_text(a, &joint->name);
    VISIT(a, joint->parent);
    VISIT(a, joint->rest);
    uint8_t has_parts = joint->rest_parts != NULL;
    VISIT(a, has_parts);
    if (has_parts)
        VISIT_PLAIN(a, joint->rest_parts, 1);
}

static void visit_weight(archive *a, th_weight *weight)
{
    visit_text(a, &weight->name);
    VISIT(a, weight->joint);
    VISIT(a, weight->rest);
}

static void visit_target(archive *a, th_morph_target *target)
{
    VISIT(a, target->weight);
    VISIT(a, target->delta_count);
    VISIT_PLAIN(a, target->deltas, target->delta_count);
}

static void visit_mesh(archive *a, th_mesh *mesh)
{
    visit_text(a, &mesh->name);
    VISIT(a, mesh->material);
    VISIT(a, mesh->vertex_count);
    VISIT(a, mesh->index_count);
    VISIT_PLAIN(a, mesh->vertices, mesh->vertex_count);
    VISIT_PLAIN(a, mesh->indices, mesh->index_count);
    VISIT(a, mesh->target_count);
    VISIT_EACH(a, mesh->targets, mesh->target_count, visit_target, 8);
}

static void visit_material(archive *a, th_material *material)
{
    visit_text(a, &material->name);
    VISIT(a, material->base_color);
    VISIT(a, material->texture);
    uint8_t alpha = (uint8_t)material->alpha, double_sided = material->double_sided;
    VISIT(a, alpha);
    VISIT(a, material->alpha_cutoff);
    VISIT(a, double_sided);
    VISIT(a, material->emissive);
    if (a->arena) {
        material->alpha = alpha;
        material->double_sided = double_sided;
    }
}

static void visit_texture(archive *a, th_texture *texture)
{
    visit_text(a, &texture->name);
    uint64_t byte_count = texture->byte_count;
    uint8_t missing = texture->bytes == NULL;
    VISIT(a, byte_count);
    VISIT(a, missing);
    VISIT(a, texture->sampler);
    if (a->arena)
        texture->byte_count = byte_count;
    if (!missing)
        VISIT_PLAIN(a, texture->bytes, byte_count);
}

static void visit_track(archive *a, th_track *track, uint32_t width)
{
    VISIT(a, track->key_count);
    if (track->key_count == 0)
        fail(a, "a track without keys");
    VISIT_PLAIN(a, track->times, track->key_count);
    VISIT_PLAIN(a, track->values, (uint64_t)track->key_count * width);
    enum { LINES, SPLINE, STEPS };
    uint8_t curve = track->tangents ? SPLINE : track->steps ? STEPS : LINES;
    VISIT(a, curve);
    if (a->arena)
        track->steps = curve == STEPS;
    if (curve == SPLINE)
        VISIT_PLAIN(a, track->tangents, 2 * (uint64_t)track->key_count * width);
}

static void visit_flag(archive *a, bool *flag)
{
    uint8_t byte = *flag;
    VISIT(a, byte);
    *flag = byte != 0;
}

static void visit_piece(archive *a, th_curve_piece *piece)
{
    visit_flag(a, &piece->holds);
    VISIT(a, piece->leave_time);
    VISIT(a, piece->arrive_time);
    VISIT(a, piece->leave_value);
    VISIT(a, piece->arrive_value);
}

static void visit_curve(archive *a, th_curve *curve)
{
    uint64_t nothing = 0; /* a curve without keys takes memory: see room */
    VISIT(a, curve->key_count);
    VISIT(a, nothing);
    if (curve->key_count == 0)
        return;
    VISIT_PLAIN(a, curve->times, curve->key_count);
    VISIT_PLAIN(a, curve->values, curve->key_count);
    if (curve->key_count > 1)
        VISIT_EACH(a, curve->pieces, curve->key_count - 1, visit_piece, 17);
}

/* Of its curves those from `first` on: the others are not needed and not written. */
static void visit_layer(archive *a, th_curve_layer *layer, uint32_t first, uint32_t count)
{
    visit_curve(a, &layer->weight);
    visit_flag(a, &layer->adds);
    visit_flag(a, &layer->combines_rotations);
    visit_flag(a, &layer->multiplies_scales);
    if (a->arena)
        layer->curves = room(a, count, sizeof *layer->curves, 12);
    for (uint32_t i = 0; i < count && !a->failure; i++) {
        th_curve none = {0};
        visit_curve(a, i < first ? &none : (th_curve *)&layer->curves[i]);
    }
}

static void visit_transform_layer(archive *a, th_curve_layer *layer)
{
    visit_layer(a, layer, 0, TH_TRANSFORM_CURVES);
}

static void visit_inherited_layer(archive *a, th_curve_layer *layer)
{
    visit_layer(a, layer, TH_CURVE_SCALE, TH_TRANSFORM_CURVES);
}

static void visit_weight_layer(archive *a, th_curve_layer *layer)
{
    visit_layer(a, layer, 0, 1);
}

/* inherited: how many lie around it; of those only scales count, and what they inherit in turn. A flag takes 4 bytes so
 * that a pointer does not take more for its bytes than room() knows. */
static void visit_transform_curves(archive *a, const th_transform_curves **curves, uint32_t inherited)
{
    uint32_t exists = *curves != NULL, part = 0;
    VISIT(a, exists);
    if (!exists || a->failure)
        return;
    if (inherited > TH_MOST_INHERITED) {
        fail(a, "scales are inherited from too many");
        return;
    }
    if (a->arena)
        *curves = room(a, 1, sizeof **curves, 320);
    th_transform_curves *c = (th_transform_curves *)*curves;
    if (!c)
        return;
    part = (uint32_t)c->part;
    VISIT(a, c->numbers);
    VISIT(a, c->order);
    VISIT(a, c->before);
    VISIT(a, c->after);
    VISIT(a, c->rotation_offset);
    VISIT(a, c->rotation_pivot);
    VISIT(a, c->scaling_offset);
    VISIT(a, c->scaling_pivot);
    VISIT(a, c->frame);
    VISIT(a, c->travel);
    VISIT(a, part);
    if (a->arena)
        c->part = part;
    VISIT(a, c->layer_count);
    if (inherited == 0)
        VISIT_EACH(a, c->layers, c->layer_count, visit_transform_layer, 123);
    else
        VISIT_EACH(a, c->layers, c->layer_count, visit_inherited_layer, 123);
    const th_transform_curves *none = NULL;
    visit_transform_curves(a, inherited == 0 ? &c->scaled_by : &none, inherited + 1);
    visit_transform_curves(a, &c->scale_from, inherited + 1);
}

static void visit_weight_curves(archive *a, const th_weight_curves **curves)
{
    uint32_t exists = *curves != NULL;
    VISIT(a, exists);
    if (!exists || a->failure)
        return;
    if (a->arena)
        *curves = room(a, 1, sizeof **curves, 16);
    th_weight_curves *c = (th_weight_curves *)*curves;
    if (!c)
        return;
    VISIT(a, c->number);
    VISIT(a, c->place_count);
    VISIT(a, c->place);
    VISIT_PLAIN(a, c->places, c->place_count);
    VISIT(a, c->layer_count);
    VISIT_EACH(a, c->layers, c->layer_count, visit_weight_layer, 27);
}

static void visit_channel(archive *a, th_channel *channel)
{
    VISIT(a, channel->joint);
    visit_track(a, &channel->translation, 3);
    visit_track(a, &channel->rotation, 4);
    visit_track(a, &channel->scale, 3);
    VISIT(a, channel->filled);
    visit_transform_curves(a, &channel->curves, 0);
}

static void visit_weight_track(archive *a, th_weight_track *track)
{
    VISIT(a, track->weight);
    visit_track(a, &track->track, 1);
    visit_weight_curves(a, &track->curves);
}

static void visit_clip(archive *a, th_clip *clip)
{
    visit_text(a, &clip->name);
    VISIT(a, clip->duration_ticks);
    VISIT(a, clip->ticks_per_second);
    VISIT(a, clip->channel_count);
    VISIT_EACH(a, clip->channels, clip->channel_count, visit_channel, 91);
    VISIT(a, clip->weight_track_count);
    VISIT_EACH(a, clip->weight_tracks, clip->weight_track_count, visit_weight_track, 25);
}

static void visit_appearances(archive *a, th_appearances *appearances)
{
    VISIT(a, appearances->count);
    VISIT(a, appearances->region_count);
    VISIT(a, appearances->slack);
    VISIT_PLAIN(a, appearances->statures, appearances->count);
    VISIT_PLAIN(a, appearances->regions, (uint64_t)appearances->count * appearances->region_count);
}

static void visit_model(archive *a, th_model *model)
{
    visit_text(a, &model->name);
    VISIT(a, model->joint_count);
    VISIT(a, model->bone_count);
    VISIT(a, model->weight_count);
    VISIT(a, model->mesh_count);
    VISIT(a, model->material_count);
    VISIT(a, model->texture_count);
    VISIT(a, model->clip_count);
    VISIT(a, model->warning_count);
    VISIT(a, model->size);
    visit_appearances(a, &model->appearances);
    VISIT_EACH(a, model->joints, model->joint_count, visit_joint, 58);
    VISIT_PLAIN(a, model->bones, model->bone_count);
    VISIT_EACH(a, model->weights, model->weight_count, visit_weight, 13);
    VISIT_EACH(a, model->meshes, model->mesh_count, visit_mesh, 21);
    VISIT_EACH(a, model->materials, model->material_count, visit_material, 43);
    VISIT_EACH(a, model->textures, model->texture_count, visit_texture, 19);
    VISIT_EACH(a, model->clips, model->clip_count, visit_clip, 29);
    VISIT_EACH(a, model->warnings, model->warning_count, visit_text, 5);
}

/* ---- writing ---- */

static archive begin(th_result result)
{
    archive a = {0};
    head h = {.version = TH_ARCHIVE_VERSION, .result = (uint32_t)result};
    memcpy(h.magic, magic, sizeof magic);
    VISIT(&a, h);
    return a;
}

static uint8_t *finish(archive *a, size_t *out_size)
{
    assert(!a->arena && out_size);
    if (a->failure) {
        free(a->bytes);
        return NULL;
    }
    uint64_t size = a->used;
    memcpy(a->bytes + offsetof(head, size), &size, sizeof size);
    *out_size = a->used;
    return a->bytes;
}

uint8_t *th_archive_write(const th_model *model, size_t *out_size)
{
    assert(model && out_size);
    archive a = begin(TH_OK);
    th_model copy = *model; /* visitors take non-const pointers */
    visit_model(&a, &copy);
    return finish(&a, out_size);
}

uint8_t *th_archive_write_error(const th_error *error, size_t *out_size)
{
    assert(error && error->code != TH_OK);
    archive a = begin(error->code);
    const char *text = error->text;
    visit_text(&a, &text);
    return finish(&a, out_size);
}

/* ---- reading ---- */

static bool read_head(const uint8_t *bytes, head *h)
{
    memcpy(h, bytes, sizeof *h);
    return memcmp(h->magic, magic, sizeof magic) == 0 && h->version == TH_ARCHIVE_VERSION && h->size > sizeof *h;
}

uint64_t th_archive_size(const uint8_t bytes[TH_ARCHIVE_HEAD_BYTES])
{
    assert(bytes);
    head h;
    return read_head(bytes, &h) ? h.size : 0;
}

th_result th_archive_read(const uint8_t *bytes, size_t size, th_model **out, th_error *err)
{
    assert(out && (bytes || size == 0));
    *out = NULL;
    head h;
    bool is_known = size >= sizeof h && read_head(bytes, &h) && h.size == size;
    if (is_known)
        is_known = h.result == TH_OK || h.result == TH_ERR_INPUT || h.result == TH_ERR_LIMIT ||
                   h.result == TH_ERR_MEMORY || h.result == TH_ERR_ENVIRONMENT;
    if (!is_known)
        return th_fail(err, TH_ERR_INPUT, "the importer's answer is damaged: not an archive of this version");
    archive a = {.bytes = (uint8_t *)bytes,
                 .used = sizeof h,
                 .size = size,
                 .arena = th_arena_create(),
                 .left = 3 * size + sizeof(th_model)}; /* a quarter of TH_ARCHIVE_GROWTH is for ends of blocks */
    if (!a.arena)
        return th_fail(err, TH_ERR_MEMORY, "out of memory");
    const char *text = "";
    th_model *model = room(&a, 1, sizeof *model, 1);
    if (h.result == TH_OK && model)
        visit_model(&a, model);
    else
        visit_text(&a, &text);
    if (!a.failure && a.used != a.size)
        fail(&a, "too long");
    th_result result = TH_OK;
    if (a.failure == no_memory) {
        result = th_fail(err, TH_ERR_MEMORY, "out of memory");
    } else if (a.failure) {
        result = th_fail(err, TH_ERR_INPUT, "the importer's answer is damaged: %s", a.failure);
    } else if (h.result != TH_OK) {
        result = th_fail(err, (th_result)h.result, "%s", text);
    } else {
        model->arena = a.arena;
        result = th_model_check(model, err);
    }
    if (result == TH_OK)
        *out = model;
    else
        th_arena_destroy(a.arena);
    return result;
}
