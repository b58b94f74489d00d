/* A glTF 2.0 file: what is one, its JSON with checked references, its bytes, and the numbers behind accessors. */
#include "gltf.h"
#include "import/files.h"

#include <errno.h>
#include <meshoptimizer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

uint32_t gltf_index_of(const json_t *number)
{
    double value = json_is_number(number) ? json_number_value(number) : -1;
    return value >= 0 && value < TH_NO_INDEX ? (uint32_t)value : TH_NO_INDEX;
}

uint32_t gltf_index(const json_t *object, const char *member)
{
    return gltf_index_of(json_object_get(object, member));
}

const json_t *gltf_at(const json_t *list, uint32_t index)
{
    return index == TH_NO_INDEX ? NULL : json_array_get(list, index);
}

uint32_t gltf_link(const gltf *g, const json_t *object, const char *member, const char *list, const char *what)
{
    if (!json_object_get(object, member))
        return TH_NO_INDEX;
    const uint32_t index = gltf_index(object, member);
    if (index >= json_array_size(gltf_list(g, list)))
        give_up(TH_ERR_INPUT, "%s: its %s is out of bounds", what, member);
    return index;
}

size_t gltf_size(const json_t *object, const char *member, size_t otherwise, const char *what)
{
    const json_t *number = json_object_get(object, member);
    const double value = json_number_value(number);
    if (!number)
        return otherwise;
    if (!json_is_number(number) || !(value >= 0 && value < 0x1p40))
        give_up(TH_ERR_INPUT, "%s: its %s is no size", what, member);
    return (size_t)value;
}

const json_t *gltf_list(const gltf *g, const char *list)
{
    return json_object_get(g->file, list);
}

const json_t *gltf_extension(const json_t *object, const char *name)
{
    return json_object_get(json_object_get(object, "extensions"), name);
}

bool gltf_names(const gltf *g, const char *list, const char *name)
{
    size_t i;
    const json_t *each;
    json_array_foreach(gltf_list(g, list), i, each)
    {
        const char *text = json_string_value(each);
        if (text && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

void gltf_numbers(const json_t *list, double out[], size_t count)
{
    for (size_t i = 0; i < count && json_array_size(list) == count; i++)
        out[i] = (double)(float)json_number_value(json_array_get(list, i));
}

struct aiString gltf_string(const char *text)
{
    struct aiString out = {0};
    out.length = (ai_uint32)strnlen(text, sizeof out.data - 1);
    memcpy(out.data, text, out.length);
    return out;
}

/* ---- types ---- */

/* Members of the JSON have the types and lengths that the format gives them, so that other code need not tell a member
 * of a wrong type from one that is missing. Indices and sizes are checked where they are used. */
typedef struct member {
    const char *name;
    json_type type; /* JSON_TRUE: or false; JSON_REAL: any number */
    size_t numbers; /* that the list has; 0: any list */
} member;

static const member members[] = {{"name", JSON_STRING, 0},
                                 {"uri", JSON_STRING, 0},
                                 {"path", JSON_STRING, 0},
                                 {"interpolation", JSON_STRING, 0},
                                 {"nodes", JSON_ARRAY, 0},
                                 {"meshes", JSON_ARRAY, 0},
                                 {"skins", JSON_ARRAY, 0},
                                 {"materials", JSON_ARRAY, 0},
                                 {"textures", JSON_ARRAY, 0},
                                 {"images", JSON_ARRAY, 0},
                                 {"accessors", JSON_ARRAY, 0},
                                 {"bufferViews", JSON_ARRAY, 0},
                                 {"buffers", JSON_ARRAY, 0},
                                 {"animations", JSON_ARRAY, 0},
                                 {"scenes", JSON_ARRAY, 0},
                                 {"children", JSON_ARRAY, 0},
                                 {"primitives", JSON_ARRAY, 0},
                                 {"joints", JSON_ARRAY, 0},
                                 {"channels", JSON_ARRAY, 0},
                                 {"samplers", JSON_ARRAY, 0},
                                 {"targets", JSON_ARRAY, 0},
                                 {"weights", JSON_ARRAY, 0},
                                 {"extensionsUsed", JSON_ARRAY, 0},
                                 {"translation", JSON_ARRAY, 3},
                                 {"rotation", JSON_ARRAY, 4},
                                 {"matrix", JSON_ARRAY, 16},
                                 {"baseColorFactor", JSON_ARRAY, 4},
                                 {"emissiveFactor", JSON_ARRAY, 3},
                                 {"alphaMode", JSON_STRING, 0},
                                 {"alphaCutoff", JSON_REAL, 0},
                                 {"doubleSided", JSON_TRUE, 0},
                                 {"normalized", JSON_TRUE, 0},
                                 {"mode", JSON_REAL, 0},
                                 {"texCoord", JSON_REAL, 0},
                                 {"emissiveTexture", JSON_OBJECT, 0},
                                 {"asset", JSON_OBJECT, 0},
                                 {"attributes", JSON_OBJECT, 0},
                                 {"sparse", JSON_OBJECT, 0},
                                 {"extensions", JSON_OBJECT, 0},
                                 {"extensionsRequired", JSON_ARRAY, 0},
                                 {"pbrMetallicRoughness", JSON_OBJECT, 0},
                                 {"baseColorTexture", JSON_OBJECT, 0}};

static bool fits(const member *m, const json_t *value)
{
    size_t i;
    const json_t *number;
    if (m->type == JSON_TRUE || m->type == JSON_REAL)
        return m->type == JSON_TRUE ? json_is_boolean(value) : json_is_number(value);
    if (json_typeof(value) != m->type || (m->numbers > 0 && json_array_size(value) != m->numbers))
        return false;
    if (m->numbers > 0)
        json_array_foreach(value, i, number) if (!json_is_number(number)) return false;
    return true;
}

/* what: which list of the file and which of its items, for messages. */
static void check_members(gltf *g, const json_t *json, const char *what)
{
    const char *name;
    json_t *value;
    size_t i;
    json_array_foreach((json_t *)json, i, value) check_members(g, value, what);
    json_object_foreach((json_t *)json, name, value)
    {
        for (i = 0; i < sizeof members / sizeof *members; i++)
            if (strcmp(name, members[i].name) == 0 && !fits(&members[i], value))
                give_up(TH_ERR_INPUT, "%s: its %s is not what the format says", what, name);
        if (strcmp(name, "extras") != 0 && strcmp(name, "extensions") != 0)
            check_members(g, value, what);
    }
}

static void check_types(gltf *g)
{
    size_t i;
    for (const member *m = members; m < members + sizeof members / sizeof *members; m++) {
        json_t *value = json_object_get(g->file, m->name), *item;
        if (value && !fits(m, value))
            give_up(TH_ERR_INPUT, "the file: its %s is not what the format says", m->name);
        if (strncmp(m->name, "ext", 3) != 0)
            json_array_foreach(value, i, item) check_members(g, item, make_string(g->s, "%s %zu", m->name, i));
    }
}

/* ---- bytes (sections 3.6.1 and 4.4) ---- */

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decodes up to the first character that is not a base64 digit. */
static gltf_bytes decode_base64(gltf *g, const char *text)
{
    uint8_t *out = make(g->s, uint8_t, strlen(text) + 1);
    size_t size = 0;
    uint32_t bits = 0, count = 0;
    for (; digit_of(*text) >= 0; text++) {
        bits = bits << 6 | (uint32_t)digit_of(*text);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out[size++] = (uint8_t)(bits >> count);
        }
    }
    return (gltf_bytes){out, size, 0};
}

static gltf_bytes read_beside(scene *s, const char *name, const char *uri)
{
    gltf_bytes bytes = {0};
    const int file = open_beside(s, name);
    if (file < 0 && errno == EXDEV)
        give_up_outside(uri);
    bytes.at = (const uint8_t *)read_open_file(file, &bytes.size);
    return bytes;
}

gltf_bytes gltf_read_uri(gltf *g, const char *uri)
{
    if (strncmp(uri, "data:", 5) != 0) {
        gltf_bytes bytes = read_beside(g->s, decode_percents(g->s, uri), uri);
        return bytes.at ? bytes : read_beside(g->s, uri, uri);
    }
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 7 || memcmp(comma - 7, ";base64", 7) != 0)
        return (gltf_bytes){0};
    return decode_base64(g, comma + 1);
}

/* from: JSON object with a buffer and a place in it. */
static gltf_bytes find_bytes(gltf *g, const json_t *from, const char *what)
{
    const uint32_t index = gltf_link(g, from, "buffer", "buffers", what);
    if (index == TH_NO_INDEX)
        give_up(TH_ERR_INPUT, "%s has no buffer", what);
    gltf_bytes *buffer = &g->buffers[index];
    if (!buffer->at) {
        const json_t *json = gltf_at(gltf_list(g, "buffers"), index);
        const char *uri = json_string_value(json_object_get(json, "uri"));
        const char *which = make_string(g->s, "buffer %u", index);
        const size_t length = gltf_size(json, "byteLength", 0, which);
        *buffer = uri ? gltf_read_uri(g, uri) : index == 0 ? g->chunk : (gltf_bytes){0};
        if (!buffer->at)
            give_up(TH_ERR_INPUT, "%s: could not open referenced file \"%.60s\"", which, uri ? uri : "");
        if (buffer->size < length)
            give_up(TH_ERR_INPUT, "%s: expected %zu bytes, but found %zu", which, length, buffer->size);
        buffer->size = length;
    }
    const size_t start = gltf_size(from, "byteOffset", 0, what), length = gltf_size(from, "byteLength", 0, what);
    if (start > buffer->size || length > buffer->size - start)
        give_up(TH_ERR_INPUT, "%s lies outside of buffer %u", what, index);
    return (gltf_bytes){buffer->at + start, length, gltf_size(from, "byteStride", 0, what)};
}

static bool is(const json_t *object, const char *name, const char *value)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text && strcmp(text, value) == 0;
}

/* EXT_meshopt_compression. */
static bool decode(const json_t *json, gltf_bytes in, size_t count, uint8_t *out)
{
    const size_t stride = in.stride;
    const bool attributes = is(json, "mode", "ATTRIBUTES");
    if (attributes ? stride % 4 != 0 || stride > 256 : stride != 2 && stride != 4)
        return false;
    if (is(json, "mode", "TRIANGLES"))
        return count % 3 == 0 && meshopt_decodeIndexBuffer(out, count, stride, in.at, in.size) == 0;
    if (is(json, "mode", "INDICES"))
        return meshopt_decodeIndexSequence(out, count, stride, in.at, in.size) == 0;
    if (!attributes || meshopt_decodeVertexBuffer(out, count, stride, in.at, in.size) != 0)
        return false;
    const size_t whole = (count + 3) / 4 * 4; /* filters work on four at a time; there is room */
    if (is(json, "filter", "OCTAHEDRAL") && (stride == 4 || stride == 8))
        meshopt_decodeFilterOct(out, whole, stride);
    else if (is(json, "filter", "QUATERNION") && stride == 8)
        meshopt_decodeFilterQuat(out, whole, stride);
    else if (is(json, "filter", "EXPONENTIAL"))
        meshopt_decodeFilterExp(out, whole, stride);
    else
        return !json_object_get(json, "filter") || is(json, "filter", "NONE");
    return true;
}

gltf_bytes gltf_read_view(gltf *g, uint32_t view, const char *what)
{
    gltf_bytes *v = &g->views[view];
    if (v->at)
        return *v;
    const json_t *json = gltf_at(gltf_list(g, "bufferViews"), view);
    const json_t *packed = gltf_extension(json, "EXT_meshopt_compression");
    packed = packed ? packed : gltf_extension(json, "KHR_meshopt_compression");
    what = make_string(g->s, "%s: bufferView %u", what, view);
    const gltf_bytes in = find_bytes(g, packed ? packed : json, what);
    if (!packed)
        return *v = in;
    const size_t count = gltf_size(packed, "count", 0, what);
    if (in.stride == 0 || in.stride > 256 || count > (size_t)1 << 28)
        give_up(TH_ERR_INPUT, "%s: no such sizes of compressed elements", what);
    uint8_t *out = make(g->s, uint8_t, (count + 3) * in.stride);
    if (count > 0 && !decode(packed, in, count, out))
        give_up(TH_ERR_INPUT, "%s: its EXT_meshopt_compression cannot be decoded", what);
    return *v = (gltf_bytes){out, count * in.stride, gltf_size(json, "byteStride", 0, what)};
}

/* ---- accessors (section 3.6.2) ---- */

enum { I8 = 5120, U8, I16, U16, U32 = 5125, F32 };

/* The accessor that is being read. */
typedef struct reader {
    gltf *g;
    const json_t *json;
    const char *what; /* for messages */
    uint32_t type, width;
    size_t count;
    bool normalized;
    float *floats; /* one of them is where the numbers go */
    uint32_t *integers;
} reader;

/* Consecutive elements in a buffer, all within its bytes. */
typedef struct row {
    const uint8_t *bytes;
    size_t stride;
} row;

static uint32_t size_of(uint32_t type)
{
    return type == I8 || type == U8 ? 1 : type == I16 || type == U16 ? 2 : type == U32 || type == F32 ? 4 : 0;
}

static const char *name_of(uint32_t type)
{
    static const char *const names[] = {"8-bit integers", "unsigned 8-bit integers", "16-bit integers",
                                        "unsigned 16-bit integers"};
    return type >= I8 && type <= U16 ? names[type - I8]
           : type == U32             ? "unsigned 32-bit integers"
           : type == F32             ? "floats"
                                     : "numbers of an unknown kind";
}

static uint32_t width_of(const json_t *accessor)
{
    static const struct {
        const char *type;
        uint32_t width;
    } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
    const char *type = json_string_value(json_object_get(accessor, "type"));
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].type) == 0)
            return types[i].width;
    return 0;
}

static row find_row(const reader *r, const json_t *from, uint32_t element_bytes, size_t count)
{
    const uint32_t view = gltf_link(r->g, from, "bufferView", "bufferViews", r->what);
    if (view == TH_NO_INDEX)
        give_up(TH_ERR_INPUT, "%s lie in no bufferView", r->what);
    const gltf_bytes bytes = gltf_read_view(r->g, view, r->what);
    const size_t offset = gltf_size(from, "byteOffset", 0, r->what);
    const size_t stride = bytes.stride ? bytes.stride : element_bytes;
    if (offset > bytes.size || (count > 0 && (element_bytes > bytes.size - offset ||
                                              (bytes.size - offset - element_bytes) / stride < count - 1)))
        give_up(TH_ERR_INPUT, "%s reach outside of the bytes that there are", r->what);
    return (row){bytes.at + offset, stride};
}

/* Numbers are little-endian, as here. */
static double load(const uint8_t *at, uint32_t type)
{
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        uint32_t u32;
        float f32;
    } n = {0};
    memcpy(&n, at, size_of(type));
    return type == I8    ? n.i8
           : type == U8  ? n.u8
           : type == I16 ? n.i16
           : type == U16 ? n.u16
           : type == U32 ? n.u32
                         : (double)n.f32;
}

static double normalize(double number, uint32_t type)
{
    static const double largest[] = {127, 255, 32767, 65535};
    const double value = number / largest[type - I8];
    return value < -1 ? -1 : value;
}

static void store(const reader *r, size_t element, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < r->width; i++) {
        const double number = load(bytes + i * size_of(r->type), r->type);
        if (r->integers)
            r->integers[element * r->width + i] = (uint32_t)number;
        else
            r->floats[element * r->width + i] = (float)(r->normalized ? normalize(number, r->type) : number);
    }
}

static void read_elements(reader *r)
{
    const uint32_t element_bytes = r->width * size_of(r->type);
    if (json_object_get(r->json, "bufferView")) { /* else zeros */
        const row elements = find_row(r, r->json, element_bytes, r->count);
        for (size_t i = 0; i < r->count; i++)
            store(r, i, elements.bytes + i * elements.stride);
    }
    const json_t *sparse = json_object_get(r->json, "sparse"), *where = json_object_get(sparse, "indices");
    if (!sparse)
        return;
    const uint32_t type = gltf_index(where, "componentType");
    if (type != U8 && type != U16 && type != U32)
        give_up(TH_ERR_INPUT, "%s are sparse: Unsupported component type in index", r->what);
    const size_t count = gltf_size(sparse, "count", 0, r->what);
    const row indices = find_row(r, where, size_of(type), count);
    const row values = find_row(r, json_object_get(sparse, "values"), element_bytes, count);
    for (size_t i = 0; i < count; i++) {
        const double index = load(indices.bytes + i * indices.stride, type);
        if (index >= (double)r->count)
            give_up(TH_ERR_INPUT, "%s are sparse, with an index outside of the accessor", r->what);
        store(r, (size_t)index, values.bytes + i * values.stride);
    }
}

static reader find_accessor(gltf *g, uint32_t index, const char *what)
{
    enum { MOST = 1 << 28 };
    reader r = {.g = g, .json = gltf_at(gltf_list(g, "accessors"), index)};
    r.what = make_string(g->s, "%s (accessor %u)", what, index);
    if (!json_is_object(r.json))
        give_up(TH_ERR_INPUT, "%s are out of bounds", r.what);
    r.type = gltf_index(r.json, "componentType");
    r.width = width_of(r.json);
    r.normalized = json_is_true(json_object_get(r.json, "normalized"));
    r.count = gltf_size(r.json, "count", SIZE_MAX, r.what);
    if (r.count == SIZE_MAX)
        give_up(TH_ERR_INPUT, "%s do not say how many they are", r.what);
    if (r.count > MOST)
        give_up(TH_ERR_INPUT, "%s are more than %d", r.what, MOST);
    return r;
}

static void check_width(const reader *r, uint32_t width)
{
    if (r->width > 0 && (width == 0 || r->width == width))
        return;
    if (width == 16)
        give_up(TH_ERR_INPUT, "%s are no matrices of 4 x 4", r->what);
    static const char *const words[] = {"known", "one float", "two floats", "three floats", "four floats"};
    give_up(TH_ERR_INPUT, "%s are not %s each", r->what, words[width]);
}

static bool is_allowed(const reader *r, uint32_t kinds)
{
    const bool is_signed = r->type == I8 || r->type == I16;
    const uint32_t kind = r->type == F32                  ? GLTF_FLOAT
                          : r->type < I8 || r->type > U16 ? 0
                          : !r->normalized                ? GLTF_INTEGER
                          : is_signed                     ? GLTF_SNORM
                                                          : GLTF_UNORM;
    return kinds & kind;
}

size_t gltf_count(const gltf *g, uint32_t accessor, const char *what)
{
    return find_accessor((gltf *)g, accessor, what).count;
}

float *gltf_read_floats(gltf *g, uint32_t accessor, uint32_t kinds, uint32_t *width, const char *what)
{
    reader r = find_accessor(g, accessor, what);
    check_width(&r, *width);
    if (!is_allowed(&r, kinds))
        give_up(TH_ERR_INPUT,
                "%s are stored as %s%s (componentType %u), which this importer cannot read; convert the file to floats",
                r.what, r.normalized ? "normalised " : "", name_of(r.type), r.type);
    *width = r.width;
    r.normalized &= r.type != F32;
    r.floats = make(g->s, float, r.count *r.width + 1);
    read_elements(&r);
    return r.floats;
}

uint32_t *gltf_read_integers(gltf *g, uint32_t accessor, uint32_t width, const char *what)
{
    reader r = find_accessor(g, accessor, what);
    check_width(&r, width);
    if (r.type != U8 && r.type != U16 && r.type != U32)
        give_up(TH_ERR_INPUT, "%s are stored as %s (componentType %u), not as unsigned integers", r.what,
                name_of(r.type), r.type);
    r.integers = make(g->s, uint32_t, r.count * r.width + 1);
    read_elements(&r);
    return r.integers;
}

/* ---- extensions ---- */

/* read: nothing of it is lost. Otherwise what it says is ignored, and may show. */
static bool is_known(const char *extension, bool read)
{
    static const char *const good[] = {"KHR_draco_mesh_compression",
                                       "KHR_texture_transform",
                                       "KHR_lights_punctual",
                                       "KHR_mesh_quantization",
                                       "EXT_meshopt_compression",
                                       "KHR_meshopt_compression",
                                       "EXT_mesh_gpu_instancing",
                                       "EXT_mesh_features",
                                       "EXT_structural_metadata",
                                       "EXT_instance_features",
                                       "KHR_xmp",
                                       "KHR_xmp_json_ld",
                                       "KHR_physics_rigid_bodies",
                                       "KHR_texture_basisu", /* where that image is the only one, a warning says so */
                                       "EXT_texture_webp",
                                       "EXT_texture_avif",
                                       "MSFT_texture_dds"};
    static const char *const ignored[] = {"KHR_animation_pointer", "KHR_materials_variants", "KHR_node_visibility"};
    const char *const *list = read ? good : ignored;
    const size_t count = read ? sizeof good / sizeof *good : sizeof ignored / sizeof *ignored;
    for (size_t i = 0; i < count; i++)
        if (strcmp(extension, list[i]) == 0)
            return true;
    return read && !is_known(extension, false) &&
           (strncmp(extension, "KHR_materials_", 14) == 0 || strncmp(extension, "VRM", 3) == 0);
}

/* ---- the file ---- */

#define JSON_MAX_BYTES ((size_t)256 << 20)

/* A .glb file begins with a header of 12 bytes, then the chunks, each with its size and kind before it. */
enum { HEAD = 12, CHUNK_HEAD = 8 };

static uint32_t word(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value); /* little-endian, as glTF */
    return value;
}

/* Of any version. A text may begin with the same letters. */
static bool is_binary(const uint8_t *bytes, size_t size)
{
    return size >= HEAD + CHUNK_HEAD && memcmp(bytes, "glTF", 4) == 0 && word(bytes + 4) < 100;
}

/* The byte order mark that editors put before UTF-8. */
static size_t mark_length(const char *text, size_t size)
{
    return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static bool is_named_so(const char *path)
{
    return has_ending(path, ".gltf") || has_ending(path, ".glb") || has_ending(path, ".vrm") ||
           has_ending(path, ".vrma");
}

/* Returns NULL, and why, if the text is not JSON. Tolerant, as exporters are not all strict: content behind a zero byte
 * is ignored, integers may have any length (a very long one makes all numbers reals), and strings may be Latin-1. */
static json_t *parse(const char *bytes, size_t size, char *why, size_t why_size)
{
    json_error_t error = {0};
    strcpy(error.text, size > JSON_MAX_BYTES ? "it is too large" : "it is empty");
    size = size <= JSON_MAX_BYTES ? strnlen(bytes, size) : 0;
    json_t *json = size > 0 ? json_loadb(bytes, size, JSON_ALLOW_NUL, &error) : NULL;
    char *text = size > 0 && !json ? malloc(2 * size + 1) : NULL, *end = text;
    if (text) { /* Latin-1 becomes UTF-8 in the whole file, as names.c does it for single names */
        for (size_t i = 0; i < size; i++) {
            const unsigned char c = (unsigned char)bytes[i];
            if (c >= 0x80)
                *end++ = (char)(0xc0 | c >> 6);
            *end++ = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
        }
        json = json_loadb(text, (size_t)(end - text), JSON_ALLOW_NUL, NULL);
        if (!json)
            json = json_loadb(text, (size_t)(end - text), JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
        free(text);
    }
    snprintf(why, why_size, "%s (line %d)", error.text, error.line);
    return json;
}

/* Whether it is glTF of version 2 (section 3.2) and not JSON of something else. Gives up if it is of a version that
 * neither this nor Assimp reads, which takes version 1 as text. */
static bool is_version_2(const json_t *file, bool binary, bool is_named)
{
    const json_t *asset = json_object_get(file, "asset"), *given = json_object_get(asset, "minVersion");
    const char *version = json_string_value(json_object_get(asset, "version")), *least = json_string_value(given);
    unsigned major = 2, least_major = 2, least_minor = 0;
    if (!version && (binary || !is_named))
        return binary;
    if (!version || sscanf(version, "%u", &major) != 1)
        give_up(TH_ERR_INPUT, "does not say its version of glTF (asset.version)");
    major +=
        major == 1 && json_is_array(json_object_get(file, "nodes")); /* it says 1 and is 2: there it is an object */
    if (major != 2 && (major != 1 || binary))
        give_up(TH_ERR_INPUT, "is glTF of version %.20s, which this importer does not know", version);
    const bool is_number = least && sscanf(least, "%u.%u", &least_major, &least_minor) > 0;
    if (major == 2 && given && (!is_number || least_major > 2 || (least_major == 2 && least_minor > 0)))
        give_up(TH_ERR_INPUT, "needs version %.20s of glTF (asset.minVersion), this importer knows 2.0",
                least ? least : "?");
    return major == 2;
}

bool read_gltf(scene *s)
{
    const uint8_t *bytes = (const uint8_t *)s->bytes;
    const size_t size = s->byte_count;
    const bool binary = is_binary(bytes, size), is_named = is_named_so(s->path);
    char head[HEAD + CHUNK_HEAD + 1] = "";
    memcpy(head, bytes, size < sizeof head ? size : sizeof head - 1);
    const char *first = head + mark_length(head, size);
    first += strspn(first, " \t\r\n");
    if (!binary && *first != '{' && (size < sizeof head - 1 || *first != 0))
        return false;
    gltf_bytes text = {bytes, size, 0}, chunk = {0};
    if (binary && word(bytes + 4) != 2)
        give_up(TH_ERR_INPUT, "is binary glTF of version %u, which this importer does not know", word(bytes + 4));
    if (binary) {
        text = (gltf_bytes){bytes + HEAD + CHUNK_HEAD, word(bytes + HEAD), 0};
        const size_t at = HEAD + CHUNK_HEAD + (text.size + 3) / 4 * 4;
        if (text.size > size - HEAD - CHUNK_HEAD)
            give_up(TH_ERR_INPUT, "its JSON is cut off");
        if (at < size && size - at >= CHUNK_HEAD && memcmp(bytes + at + 4, "BIN", 4) == 0) {
            const size_t said = word(bytes + at), left = size - at - CHUNK_HEAD;
            chunk = (gltf_bytes){bytes + at + CHUNK_HEAD, said < left ? said : left, 0};
        }
    }
    char why[JSON_ERROR_TEXT_LENGTH + 24] = "";
    const size_t mark = mark_length((const char *)text.at, text.size);
    const json_t *file = parse((const char *)text.at + mark, text.size - mark, why, sizeof why);
    if (!file && (binary || is_named))
        give_up(TH_ERR_INPUT, "its JSON cannot be read: %s", why);
    if (!file || !is_version_2(file, binary, is_named))
        return false;

    gltf *g = s->gltf = make(s, gltf, 1);
    *g = (gltf){.s = s, .file = file, .chunk = chunk, .ai = make(s, struct aiScene, 1)};
    s->ai = g->ai;
    g->buffers = make(s, gltf_bytes, json_array_size(gltf_list(g, "buffers")) + 1);
    g->views = make(s, gltf_bytes, json_array_size(gltf_list(g, "bufferViews")) + 1);
    check_types(g);
    size_t i;
    const json_t *extension;
    json_array_foreach(gltf_list(g, "extensionsRequired"), i, extension)
    {
        const char *name = json_string_value(extension), *clean = read_name(s, name ? name : "");
        if (!name || is_known(name, true))
            continue;
        if (!is_known(name, false))
            give_up(TH_ERR_INPUT, "needs the glTF extension %s, which this importer does not know", clean);
        warn(s, WARN_EXTENSION_IGNORED, 1, "%s", clean);
    }
    gltf_build_nodes(g);
    gltf_build_meshes(g);
    if (!g->ai->mRootNode)
        give_up(TH_ERR_INPUT, "there is no node in it");
    return true;
}
