#include "fbx.h"

#include "files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_named(const fbx_record *record, const char *name)
{
    return record->name_size == strlen(name) && memcmp(record->name, name, record->name_size) == 0;
}

static fbx_kind kind_of(const fbx_record *record)
{
    static const char *const names[FBX_KIND_COUNT] = {[FBX_MODEL] = "Model",
                                                      [FBX_CURVE] = "AnimationCurve",
                                                      [FBX_CURVE_NODE] = "AnimationCurveNode",
                                                      [FBX_LAYER] = "AnimationLayer",
                                                      [FBX_STACK] = "AnimationStack"};
    for (fbx_kind k = 0; k < FBX_KIND_COUNT; k++)
        if (names[k] && is_named(record, names[k]))
            return k;
    return is_fbx_text(record, 2, "BlendShapeChannel") ? FBX_SHAPE_CHANNEL : FBX_OTHER;
}

/* ---- names ---- */

/* Where the name of an object is in the file, and its size: text has "Model::Hips", binary "Hips\0\1Model". */
static const char *find_name(const fbx_record *record, size_t *size)
{
    *size = 0;
    if (record->value_count < 2 || record->values[1].type != FBX_TEXT)
        return NULL;
    const fbx_value *value = &record->values[1];
    size_t from = 0, end = strnlen(value->text, value->size);
    for (size_t i = 0; end == value->size && from == 0 && i + 1 < end; i++)
        if (value->text[i] == ':' && value->text[i + 1] == ':')
            from = i + 2;
    *size = end - from;
    return value->text + from;
}

static int compare_names(const void *a, const void *b)
{
    const fbx_object *const *x = a, *const *y = b;
    const int order = strcmp((*x)->name, (*y)->name);
    return order ? order : ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static int compare_to_name(const void *name, const void *object)
{
    return strcmp(name, (*(const fbx_object *const *)object)->name);
}

/* Writes a name of `size` digits that no model has, the next one after *number. Returns false if there is none. */
static bool make_name(fbx_object *const *models, uint32_t count, size_t size, uint32_t *number, char *out)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    for (;;) {
        uint32_t left = ++*number;
        for (size_t c = size; c-- > 0; left /= sizeof digits - 1)
            out[c] = digits[left % (sizeof digits - 1)];
        if (left > 0)
            return false;
        if (!bsearch(out, models, count, sizeof *models, compare_to_name))
            return true;
    }
}

/* Gives models that share a name others, of the same length, in the bytes that Assimp reads: its bones know their nodes
 * by name, and it joins the bones of one name. */
static void tell_models_apart(fbx *f)
{
    uint32_t count = 0, number = 0;
    fbx_object **models = make(f->s, fbx_object *, f->object_count);
    for (uint32_t i = 0; i < f->object_count; i++)
        if (f->objects[i].kind == FBX_MODEL)
            models[count++] = &f->objects[i];
    qsort(models, count, sizeof *models, compare_names);
    for (uint32_t i = 1; i < count; i++) {
        size_t size;
        const char *stored = find_name(models[i]->record, &size);
        char *other = (char *)make_string(f->s, "%s", models[i]->name);
        if (strcmp(models[i]->name, models[i - 1]->name) != 0 || !make_name(models, count, size, &number, other))
            continue;
        memcpy((char *)stored, other, size);
        models[i]->known = other;
    }
}

/* ---- connections ---- */

static int compare_ids(const void *a, const void *b)
{
    const fbx_object *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static fbx_object *find_object(const fbx *f, int64_t id)
{
    return bsearch(&(fbx_object){.id = id}, f->objects, f->object_count, sizeof *f->objects, compare_ids);
}

const fbx_object *fbx_root(const fbx *f)
{
    return find_object(f, 0);
}

static int compare_into(const void *a, const void *b)
{
    const fbx_link *x = a, *y = b;
    const int order = (x->to > y->to) - (x->to < y->to);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int compare_out_of(const void *a, const void *b)
{
    const fbx_link *x = a, *y = b;
    const int order = (x->from > y->from) - (x->from < y->from);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static fbx_links find_links(const fbx_link *links, uint32_t count, const fbx_link *key,
                            int (*compare)(const void *, const void *))
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (compare(&links[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    fbx_links out = {links + low, links + low};
    while (out.end < links + count && (key->to ? out.end->to == key->to : out.end->from == key->from))
        out.end++;
    return out;
}

fbx_links fbx_into(const fbx *f, const fbx_object *object)
{
    return find_links(f->into, f->link_count, &(fbx_link){.to = (fbx_object *)object}, compare_into);
}

fbx_links fbx_out_of(const fbx *f, const fbx_object *object)
{
    return find_links(f->out_of, f->link_count, &(fbx_link){.from = (fbx_object *)object}, compare_out_of);
}

bool is_fbx_link_to(const fbx_link *link, const char *property)
{
    return is_fbx_text(link->record, 3, property);
}

static void read_connections(fbx *f)
{
    const fbx_record *inside = find_fbx_record(f->root, NULL, "Connections");
    uint32_t room = 0;
    for (const fbx_record *c = NULL; (c = find_fbx_record(inside, c, "C"));)
        room++;
    f->into = make(f->s, fbx_link, room);
    f->out_of = make(f->s, fbx_link, room);
    for (const fbx_record *c = NULL; (c = find_fbx_record(inside, c, "C"));) {
        fbx_object *end[2];
        for (uint32_t i = 0; i < 2; i++)
            end[i] = find_object(f, fbx_integer(c, 1 + i, 0));
        if (end[0] && end[1])
            f->into[f->link_count++] = (fbx_link){end[0], end[1], c, f->link_count};
    }
    if (f->link_count > 0)
        memcpy(f->out_of, f->into, f->link_count * sizeof *f->into);
    qsort(f->into, f->link_count, sizeof *f->into, compare_into);
    qsort(f->out_of, f->link_count, sizeof *f->out_of, compare_out_of);
}

/* ---- properties ---- */

static const fbx_record *find_property(const fbx *f, const fbx_object *object, const char *name)
{
    const fbx_record *sources[] = {object->record, f->templates[object->kind]}, *p = NULL;
    for (int i = 0; i < 2 && !p; i++) {
        const fbx_record *list = find_fbx_record(sources[i], NULL, "Properties70");
        while ((p = find_fbx_record(list, p, "P")) && !is_fbx_text(p, 0, name))
            ;
    }
    return p;
}

double fbx_property(const fbx *f, const fbx_object *object, const char *name, double otherwise)
{
    const double number = fbx_number(find_property(f, object, name), 4, otherwise);
    return fabs(number) <= LARGEST ? number : otherwise;
}

void fbx_vector(const fbx *f, const fbx_object *object, const char *name, double otherwise, double out[3])
{
    const fbx_record *p = find_property(f, object, name);
    for (uint32_t i = 0; i < 3; i++) {
        out[i] = fbx_number(p, 4 + i, otherwise);
        out[i] = fabs(out[i]) <= LARGEST ? out[i] : otherwise;
    }
}

/* ---- the file ---- */

static void read_objects(fbx *f)
{
    const fbx_record *inside = find_fbx_record(f->root, NULL, "Objects");
    for (const fbx_record *r = inside ? inside->first : NULL; r; r = r->next)
        f->object_count++;
    f->objects = make(f->s, fbx_object, f->object_count + 1); /* one more: the root of the scene, which has no record */
    f->objects[0] = (fbx_object){.record = make(f->s, fbx_record, 1), .name = "", .known = ""};
    f->object_count = 1;
    for (const fbx_record *r = inside ? inside->first : NULL; r; r = r->next) {
        fbx_object *object = &f->objects[f->object_count++];
        *object = (fbx_object){.id = fbx_integer(r, 0, 0), .record = r, .kind = kind_of(r)};
        size_t size;
        const char *name = find_name(r, &size);
        object->name = object->known = make_string(f->s, "%.*s", (int)size, name ? name : "");
    }
    qsort(f->objects, f->object_count, sizeof *f->objects, compare_ids);
    f->stacks = make(f->s, const fbx_object *, f->object_count);
    for (const fbx_record *r = inside ? inside->first : NULL; r; r = r->next)
        if (kind_of(r) == FBX_STACK)
            f->stacks[f->stack_count++] = find_object(f, fbx_integer(r, 0, 0));
    for (uint32_t i = 0; i < f->stack_count; i++)
        *(char *)f->stacks[i]->record->name = 'a'; /* so that Assimp does not read clips */

    const fbx_record *definitions = find_fbx_record(f->root, NULL, "Definitions"), *type = NULL;
    static const fbx_kind kinds[] = {FBX_MODEL, FBX_LAYER, FBX_STACK};
    static const char *const names[] = {"Model", "AnimationLayer", "AnimationStack"};
    while ((type = find_fbx_record(definitions, type, "ObjectType")))
        for (int k = 0; k < 3; k++)
            if (is_fbx_text(type, 0, names[k]))
                f->templates[kinds[k]] = find_fbx_record(type, NULL, "PropertyTemplate");
}

/* Frames of a second by TimeMode, the names of which Autodesk lists with FbxTime::EMode. */
static double frame_rate(const fbx *f)
{
    static const double rates[] = {30,
                                   120,
                                   100,
                                   60,
                                   50,
                                   48,
                                   30,
                                   30,
                                   30000 / 1001.0,
                                   30000 / 1001.0,
                                   25,
                                   24,
                                   1000,
                                   24000 / 1001.0,
                                   0,
                                   96,
                                   72,
                                   60000 / 1001.0,
                                   120000 / 1001.0};
    const double mode = fbx_property(f, &f->settings, "TimeMode", 0);
    double rate = mode >= 0 && mode < sizeof rates / sizeof *rates ? rates[(int)mode] : 0;
    if (!(rate > 0))
        rate = fbx_property(f, &f->settings, "CustomFrameRate", 0);
    return rate > 1e-3 && rate < 1e6 ? rate : 30;
}

static void read_settings(fbx *f)
{
    f->settings.record = find_fbx_record(f->root, NULL, "GlobalSettings");
    const fbx_record *header = find_fbx_record(f->root, NULL, "FBXHeaderExtension");
    const fbx_record *flags = find_fbx_record(header, NULL, "OtherFlags");
    const double definition = fbx_number(find_fbx_record(flags, NULL, "TCDefinition"), 0, 127);
    const bool has_definition = fbx_number(find_fbx_record(header, NULL, "FBXHeaderVersion"), 0, 0) >= 1004;
    f->ticks_per_second = has_definition && definition != 127 ? 141120000 : 46186158000;
    f->frames_per_second = frame_rate(f);
    f->version = fbx_number(find_fbx_record(header, NULL, "FBXVersion"), 0, 7400);
    f->metres = read_fbx_unit(f);
}

/* Before Assimp has said so. */
static bool is_fbx(const scene *s)
{
    static const char magic[] = "Kaydara FBX Binary", head[] = "FBXHeaderExtension";
    return has_ending(s->path, ".fbx") ||
           (s->byte_count > sizeof magic && memcmp(s->bytes, magic, sizeof magic - 1) == 0) ||
           memmem(s->bytes, s->byte_count < 4096 ? s->byte_count : 4096, head, sizeof head - 1);
}

void read_fbx(scene *s)
{
    const fbx_record *root = is_fbx(s) ? parse_fbx_records(s) : NULL;
    if (!root)
        return;
    fbx *f = s->fbx = make(s, fbx, 1);
    *f = (fbx){.s = s, .root = root};
    read_objects(f);
    read_connections(f);
    read_settings(f);
    tell_models_apart(f);
}

void say_fbx_limits(scene *s)
{
    for (uint32_t i = 0; s->fbx && i < s->fbx->object_count; i++) {
        const fbx_record *type = find_fbx_record(s->fbx->objects[i].record, NULL, "SkinningType");
        const bool dual = is_fbx_text(type, 0, "DualQuaternion") || is_fbx_text(type, 0, "Blend");
        const fbx_object *object = &s->fbx->objects[i];
        const bool clamped =
            is_named(object->record, "Texture") &&
            (fbx_property(s->fbx, object, "WrapModeU", 0) == 1 || fbx_property(s->fbx, object, "WrapModeV", 0) == 1);
        warn(s, WARN_TEXTURE_CLAMPED, clamped, "%s", read_name(s, object->name));
        warn(s, WARN_SKIN_DUAL, dual, "%s", s->fbx->objects[i].name[0] ? s->fbx->objects[i].name : "unnamed");
    }
}
