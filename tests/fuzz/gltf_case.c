/* glTF 2.0 models: all kinds of buffers, views and accessors, skins, morph targets, animations, extensions. */
#include "cases.h"

#include <meshoptimizer.h>
#include <stdio.h>
#include <string.h>

enum { FILE_PART, BINARY, ACCESSORS, VIEWS, TEXT };
enum { I8 = 5120, U8, I16, U16, U32 = 5125, F32 };
enum { MOST_NODES = 12 };

/* What the elements of an accessor are. */
typedef enum content { ANY, TIMES, TURNS, MATRICES, STEPS, SMALL, WEIGHTS } content;

static uint32_t nodes, joints, targets, accessors, views;
static bool quantized, has_beside;

static uint32_t size_of(int type)
{
    return type < I16 ? 1 : type < U32 ? 2 : 4;
}

/* limit: of small numbers. */
static void write_elements(content what, uint32_t count, uint32_t width, int type, uint32_t limit, uint32_t stride)
{
    const double one = type == F32 ? 1 : type == I8 ? 127 : type == U8 ? 255 : type == I16 ? 32767 : 65535;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < width; k++)
            write_number(what == TIMES      ? i / 8.0
                         : what == TURNS    ? (k == i % 4 ? one : 0)
                         : what == MATRICES ? k % 5 == 0
                         : what == STEPS    ? i
                         : what == WEIGHTS  ? (k == 0 ? one : 0)
                         : what == SMALL    ? below(limit)
                         : type == F32      ? between(-2, 2)
                                            : below(100),
                         type == F32 ? 'f' : (char)('0' + size_of(type)));
        write_bytes("................", stride - width * size_of(type));
    }
}

static uint32_t begin_bytes(void)
{
    made.part = BINARY;
    write_bytes("...", -made.size[BINARY] % 4);
    return (uint32_t)made.size[BINARY];
}

/* A view of what has been written from there on. stride: 0 for none. packed: elements of EXT_meshopt_compression. */
static void end_view(uint32_t from, uint32_t stride, uint32_t packed, bool is_index)
{
    static uint8_t raw[sizeof *made.bytes], out[sizeof *made.bytes];
    static uint32_t wide[sizeof *made.bytes / 4];
    uint32_t size = (uint32_t)made.size[BINARY] - from;
    if (packed > 0) {
        memcpy(raw, made.bytes[BINARY] + from, size);
        for (uint32_t i = 0; is_index && i < packed; i++)
            wide[i] = (uint32_t)(raw[stride * i] | raw[stride * i + 1] << 8);
        size = (uint32_t)(is_index ? meshopt_encodeIndexBuffer(out, sizeof out, wide, packed)
                                   : meshopt_encodeVertexBuffer(out, sizeof out, raw, packed, stride));
        made.size[BINARY] = from;
        for (uint32_t i = 0; i < size; i++)
            write_number(out[i], '1');
    }
    made.part = VIEWS;
    if (packed > 0)
        json(is_index ? "{" : "{byteStride:#", stride);
    if (packed > 0)
        json("buffer:0, byteLength:#, extensions:{EXT_meshopt_compression:{count:#, mode:$, filter:$", packed * stride,
             packed, is_index ? "TRIANGLES" : "ATTRIBUTES", "NONE");
    else
        json("{");
    json("buffer:0, byteOffset:#, byteLength:#", from, size);
    json(stride > 0 ? "byteStride:#" : "", stride);
    json(packed > 0 ? "}}}" : "}");
    views++;
}

/* Adds it to what is open, where its name is followed by its index. draco: that has the elements. */
static void add_accessor(const char *name, content what, uint32_t count, uint32_t width, int type, uint32_t limit,
                         bool draco)
{
    static const char *const types[] = {[1] = "SCALAR", [2] = "VEC2", [3] = "VEC3", [4] = "VEC4", [16] = "MAT4"};
    const bool is_index = strcmp(name, "indices:#") == 0, sparse = !draco && one_in(6),
               zeros = sparse && what == ANY && one_in(2), beside = has_beside && what == ANY && one_in(8),
               packs = one_in(4) && type != U8;
    const uint32_t own = width * size_of(type), room = (own + 3) / 4 * 4 + 4 * below(4), part = made.part,
                   stride = packs && !is_index      ? room
                            : is_index || one_in(2) ? own
                                                    : room,
                   offset = packs ? 0 : 4 * below(3);
    if (beside) {
        made.part = VIEWS;
        json("{buffer:1, byteLength:4096}");
        views++;
    } else if (!draco && !zeros) {
        const uint32_t from = begin_bytes();
        write_bytes("........", offset);
        write_elements(what, count, width, type, limit, stride);
        end_view(from, packs || stride != own ? stride : 0, packs ? count : 0, is_index);
    }
    made.part = ACCESSORS;
    json("{count:#, type:$, componentType:#", count, types[width], (uint32_t)type);
    if (beside || (!draco && !zeros))
        json("bufferView:#, byteOffset:#", views - 1, beside ? 0 : offset);
    if (what != SMALL && type != F32 && !(what == ANY && quantized && one_in(2)))
        json("normalized:true");
    if (sparse) {
        const uint32_t some = 1 + below(count), from = begin_bytes();
        write_elements(STEPS, some, 1, U16, 0, 2);
        end_view(from, 0, 0, false);
        const uint32_t values = begin_bytes();
        write_elements(what, some, width, type, limit, own);
        end_view(values, 0, 0, false);
        made.part = ACCESSORS;
        json("sparse:{count:#, indices:{bufferView:#, byteOffset:0, componentType:5123}, values:{bufferView:#}}", some,
             views - 2, views - 1);
    }
    json("}");
    made.part = part;
    json(name, accessors++);
}

/* Of tests/data/draco.glb: what is behind its JSON. */
static void add_draco(void)
{
    const uint32_t from = begin_bytes();
    FILE *file = fopen(TEST_DATA "/draco.glb", "rb");
    uint32_t head[5] = {0};
    for (int byte = file && fread(head, sizeof head, 1, file) == 1 ? fseek(file, head[3] + 8, SEEK_CUR) : -1;
         byte != EOF;)
        if ((byte = fgetc(file)) != EOF)
            write_number(byte, '1');
    fclose(file);
    end_view(from, 0, 0, false);
    made.part = TEXT;
    json("extensions:{KHR_draco_mesh_compression:{bufferView:#, attributes:{POSITION:0}}}", views - 1);
}

static void add_primitive(void)
{
    static const int colours[] = {U8, U16, F32}, places[] = {I8, U8, I16, U16};
    const uint32_t faces = 1 + below(10), vertices = faces + 2;
    const bool draco = one_in(6), sets = joints > 0 && !draco;
    json("{attributes:{");
    add_accessor("POSITION:#", ANY, vertices, 3, quantized && !draco ? places[below(4)] : F32, 0, draco);
    if (one_in(2) && !draco)
        add_accessor("NORMAL:#", ANY, vertices, 3, F32, 0, false);
    if (one_in(2) && !draco)
        add_accessor("TEXCOORD_0:#", WEIGHTS, vertices, 2, one_in(2) ? U16 : F32, 0, false);
    if (one_in(2) && !draco)
        add_accessor("COLOR_0:#", WEIGHTS, vertices, 3 + below(2), colours[below(3)], 0, false);
    for (uint32_t set = 0; sets && set <= below(2); set++) {
        add_accessor(set ? "JOINTS_1:#" : "JOINTS_0:#", SMALL, vertices, 4, one_in(2) ? U8 : U16, joints, false);
        add_accessor(set ? "WEIGHTS_1:#" : "WEIGHTS_0:#", WEIGHTS, vertices, 4, colours[below(3)], 0, false);
    }
    json("}");
    if (draco || one_in(2))
        add_accessor("indices:#", SMALL, 3 * faces, 1, one_in(3) ? U32 : one_in(2) ? U8 : U16, vertices, draco);
    if (draco)
        add_draco();
    else
        json("mode:#", one_in(10) ? below(4) : 4 + below(3));
    json(one_in(2) ? "material:0 targets:[" : "targets:[");
    for (uint32_t t = 0; t < targets && !draco; t++) {
        json("{");
        add_accessor("POSITION:#", ANY, vertices, 3, F32, 0, false);
        if (one_in(3))
            add_accessor("NORMAL:#", ANY, vertices, 3, F32, 0, false);
        json("}");
    }
    json("]}");
}

static void add_nodes(void)
{
    uint32_t parent[MOST_NODES];
    for (uint32_t n = 0; n < nodes; n++)
        parent[n] = n == 0 || one_in(5) ? MOST_NODES : below(n);
    json("nodes:[");
    for (uint32_t n = 0; n < nodes; n++) {
        json("{name:$", one_in(2) ? "node" : "other");
        json(one_in(3) ? "matrix:[1 0 0 0 0 0 1 0 0 -1 0 0 ~ 3 0.5 1]"
                       : "translation:[~ 1 0] rotation:[0.6 0 0.8 0] scale:[1 1.5 2]",
             between(-1, 1));
        json(n > 0 ? "" : joints > 0 ? "mesh:0 skin:0" : "mesh:0");
        json("children:[");
        for (uint32_t child = n + 1; child < nodes; child++)
            json(parent[child] == n ? "#" : "", child);
        json("]}");
    }
    json("], scene:0, scenes:[{nodes:[");
    for (uint32_t n = 0; n < nodes; n++)
        json(parent[n] == MOST_NODES ? "#" : "", n);
    json("]}]");
    if (joints == 0)
        return;
    json("skins:[{joints:[");
    for (uint32_t j = 0; j < joints; j++)
        json("#", nodes - 1 - j);
    json("]");
    if (one_in(2))
        add_accessor("inverseBindMatrices:#", MATRICES, joints, 16, F32, 0, false);
    json("}]");
}

static void add_animation(void)
{
    static const char *const paths[] = {"translation", "rotation", "scale", "weights"};
    static const char *const modes[] = {"LINEAR", "STEP", "CUBICSPLINE"};
    static const int turns[] = {F32, I8, U8, I16, U16};
    const uint32_t count = 1 + below(4), first = below(4);
    json("{name:$, channels:[", "clip");
    for (uint32_t i = 0; i < count; i++)
        json("{sampler:#, target:{node:#, path:$}}", i, (first + i) % 4 == 3 ? 0 : below(nodes),
             paths[(first + i) % 4]);
    json("], samplers:[");
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t keys = 1 + below(12), mode = below(3), rows = keys * (mode == 2 ? 3 : 1), path = (first + i) % 4;
        json("{interpolation:$", modes[mode]);
        add_accessor("input:#", TIMES, keys, 1, F32, 0, false);
        add_accessor("output:#", path == 1 ? TURNS : ANY, path == 3 && targets > 0 ? rows * targets : rows,
                     path == 1   ? 4
                     : path == 3 ? 1
                                 : 3,
                     path == 1 ? turns[below(5)] : F32, 0, false);
        json("}");
    }
    json("]}");
}

static void print_base64(const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0, count = 0;
    for (size_t i = 0; i < size || count > 0; i++) {
        bits = bits << 8 | (i < size ? bytes[i] : 0);
        for (count += 8; count >= 6; count -= 6)
            write_bytes(&digits[bits >> (count - 6) & 63], 1);
    }
}

void make_gltf(void)
{
    const bool binary = one_in(2);
    accessors = views = 0;
    nodes = 2 + below(MOST_NODES - 1);
    joints = one_in(4) ? 0 : 1 + below(nodes - 1);
    targets = one_in(2) ? 1 + below(3) : 0;
    quantized = one_in(3);
    has_beside = one_in(4);
    made.part = TEXT;
    json("{asset:{version:$} extensionsUsed:[$], extensionsRequired:[$]", "2.0",
         quantized ? "KHR_mesh_quantization" : "x", "EXT_meshopt_compression");
    add_nodes();
    json("meshes:[{name:$, primitives:[", "mesh");
    for (uint32_t left = 1 + below(2); left > 0; left--)
        add_primitive();
    json("], weights:[");
    for (uint32_t t = 0; t < targets; t++)
        json("~", between(0, 1));
    json("]}], materials:[{pbrMetallicRoughness:{baseColorFactor:[1 0.5 ~ 1], baseColorTexture:{index:0, extensions:{",
         0.25);
    json(
        "KHR_texture_transform:{offset:[0.5 ~] rotation:~}}}}, alphaMode:$, alphaCutoff:0.25, emissiveFactor:[1 0 ~]}]",
        0.1, 0.5, "MASK", 0.5);
    json("textures:[{source:0, sampler:0}], samplers:[{wrapS:33071, magFilter:9728, minFilter:9987}], images:[{uri:$}] "
         "animations:[",
         "data:image/png;base64,iVBORw0KGgo=");
    for (uint32_t left = below(3); left > 0; left--)
        add_animation();
    begin_bytes();
    made.part = TEXT;
    json("], buffers:[{byteLength:#", (uint32_t)made.size[BINARY]);
    if (!binary) {
        print(",\"uri\":\"data:application/octet-stream;base64,");
        print_base64(made.bytes[BINARY], made.size[BINARY]);
        print("\"");
    }
    json(has_beside ? "}, {byteLength:4096, uri:$}], accessors:[" : "}], accessors:[", "beside.bin");
    write_bytes(made.bytes[ACCESSORS], made.size[ACCESSORS]);
    json("], bufferViews:[");
    write_bytes(made.bytes[VIEWS], made.size[VIEWS]);
    json("]}");
    print("%.*s", (int)(-made.size[TEXT] % 4), "   ");
    made.part = FILE_PART;
    const uint32_t text = (uint32_t)made.size[TEXT], bytes = (uint32_t)made.size[BINARY];
    const uint32_t head[] = {0x46546c67, 2, 28 + text + bytes, text, 0x4e4f534a, bytes, 0x004e4942};
    for (uint32_t i = 0; binary && i < 5; i++)
        write_number(head[i], '4');
    write_bytes(made.bytes[TEXT], text);
    for (uint32_t i = 5; binary && i < 7; i++)
        write_number(head[i], '4');
    write_bytes(made.bytes[BINARY], binary ? bytes : 0);
}
