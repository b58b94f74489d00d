/* The numbers behind a glTF accessor (section 3.6.2). */
#include "gltf.h"
#include "import/importer.h"

#include <string.h>

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

/* ---- elements ---- */

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

/* Replaces the elements that a sparse accessor stores elsewhere. */
static void read_sparse(reader *r, const json_t *sparse)
{
    const json_t *where = json_object_get(sparse, "indices");
    const uint32_t type = gltf_index(where, "componentType");
    if (type != U8 && type != U16 && type != U32)
        give_up(TH_ERR_INPUT, "%s are sparse: Unsupported component type in index", r->what);
    const size_t count = gltf_size(sparse, "count", 0, r->what);
    const row indices = find_row(r, where, size_of(type), count);
    const row values = find_row(r, json_object_get(sparse, "values"), r->width * size_of(r->type), count);
    for (size_t i = 0; i < count; i++) {
        const double index = load(indices.bytes + i * indices.stride, type);
        if (index >= (double)r->count)
            give_up(TH_ERR_INPUT, "%s are sparse, with an index outside of the accessor", r->what);
        store(r, (size_t)index, values.bytes + i * values.stride);
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
    const json_t *sparse = json_object_get(r->json, "sparse");
    if (sparse)
        read_sparse(r, sparse);
}

/* ---- accessors ---- */

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
