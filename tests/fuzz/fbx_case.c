/* FBX files, binary of both widths and text: a tree of models, a skinned mesh with a morph target, clips with layers
 * and curves of all interpolations. */
#include "cases.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { MOST_KEYS = 16, MESH = 50, CHANNEL = 54, BONES = 60, FIRST_FREE = 100 };

#define SECOND 46186158000.0

/* A list of records that has begun. */
typedef struct record {
    size_t at, values_at;
    uint32_t values;
} record;

static bool binary, wide;
static size_t begin; /* of the file */
static record open[8], *last;
static char links[1 << 16];

/* ---- records ---- */

static void patch(size_t field, double number)
{
    const size_t end = made.size[0];
    made.size[0] = last->at + field * (wide ? 8 : 4);
    write_number(number, wide ? '8' : '4');
    made.size[0] = end;
}

static void end_values(void)
{
    if (binary) {
        patch(1, last->values);
        patch(2, (double)(made.size[0] - last->values_at));
    }
}

static void end_record(void)
{
    if (binary)
        patch(0, (double)(made.size[0] - begin));
    else
        print("\n");
    last--;
}

static void add_array(char kind, uint32_t count, const double *numbers)
{
    static uint8_t raw[1 << 16], packed[1 << 17];
    const size_t from = made.size[0];
    if (!binary) {
        print("*");
        print_number(count);
        print(" {\na: ");
    }
    for (uint32_t i = 0; i < count; i++)
        if (binary) {
            write_number(numbers[i], kind == 'l' ? '8' : kind == 'i' ? '4' : kind);
        } else {
            print(i > 0 ? "," : "");
            print_number(numbers[i]);
        }
    uLongf size = made.size[0] - from, packed_size = sizeof packed;
    const bool packs = binary && one_in(2);
    if (!binary) {
        print("\n}");
        return;
    }
    memcpy(raw, made.bytes[0] + from, size);
    if (packs)
        compress(packed, &packed_size, raw, size);
    made.size[0] = from;
    write_number(count, '4');
    write_number(packs, '4');
    write_number((double)(packs ? packed_size : size), '4');
    write_bytes(packs ? packed : raw, packs ? packed_size : size);
}

/* kind: that of a binary value. */
static void add_value(char kind, double number, const char *text, size_t length)
{
    if (!binary && kind == 'S') {
        print("\"");
        print_word(text);
        print("\"");
    } else if (!binary) {
        print_number(number);
    } else if (kind == 'S') {
        write_number((double)length, '4');
        write_bytes(text, length);
    } else {
        write_number(number, kind == 'D' ? 'd' : kind == 'L' ? '8' : '4');
    }
}

/* Records, or a piece of them: "Name: #%~$&@;" or "Name: # { ... }". # and, wide, % are a uint32_t, ~ a double, $ a
 * text, & the class of an object that is called as its number, @ the kind, count and numbers of an array. */
static void fbx(const char *template, ...)
{
    va_list args;
    va_start(args, template);
    uint32_t number = 0;
    for (const char *at = template; *at; at++) {
        static const uint8_t none[25] = {0};
        const size_t length = strcspn(at, ":;{} ");
        if (at[length] == ':') {
            *++last = (record){.at = made.size[0]};
            write_bytes(none, !binary ? 0 : wide ? 24 : 12);
            if (binary)
                write_number((double)length, '1');
            print(binary ? "%.*s" : "%.*s:", (int)length, at);
            last->values_at = made.size[0];
            at += length;
        } else if (*at == '{') {
            end_values();
            print(binary ? "" : " {\n");
        } else if (*at == '}') {
            write_bytes(binary ? (const char *)none : "}", !binary ? 1 : wide ? 25 : 13);
            end_record();
        } else if (*at == ';') {
            end_values();
            end_record();
        } else if (*at != ' ') {
            char kind = *at == '#' ? 'I' : *at == '%' ? 'L' : *at == '~' ? 'D' : 'S', name[64];
            kind = *at == '@' ? (char)va_arg(args, int) : kind;
            print(!binary && last->values > 0 ? ", " : "");
            last->values++;
            if (binary)
                write_number(kind, '1');
            const char *text = kind == 'S' ? va_arg(args, const char *) : "";
            size_t size = strlen(text);
            if (*at == '&') {
                size = (size_t)snprintf(name, sizeof name, binary ? "o%u%c\1%s" : "o%u%c%s", number, 0, text);
                if (!binary)
                    snprintf(name, sizeof name, "%s::o%u", text, number);
                text = name;
            }
            if (*at == '@') {
                const uint32_t count = va_arg(args, uint32_t);
                add_array(kind, count, va_arg(args, const double *));
                continue;
            }
            if (*at == '#' || *at == '%')
                number = va_arg(args, uint32_t);
            add_value(kind, *at == '~' ? va_arg(args, double) : number, text, size);
        }
    }
    va_end(args);
}

/* ---- objects ---- */

/* property: NULL for none. What is linked is written at the end. */
static void add_link(uint32_t from, uint32_t to, const char *property)
{
    snprintf(links + strlen(links), sizeof links - strlen(links), "%u %u %s\n", from, to, property ? property : "");
}

static void add_vector(const char *name, double size)
{
    fbx("P: $$$$~~~;", name, name, "", "A", between(-size, size), between(-size, size), between(-size, size));
}

static void add_number(const char *name, double number)
{
    fbx("P: $$$$~;", name, "Number", "", "A", number);
}

static void add_choice(const char *name, uint32_t choice)
{
    fbx("P: $$$$#;", name, "enum", "", "", choice);
}

static void add_model(uint32_t id)
{
    static const char *const more[] = {"PreRotation",   "PostRotation",         "RotationPivot",    "ScalingPivot",
                                       "ScalingOffset", "GeometricTranslation", "GeometricScaling", "RotationOffset"};
    fbx("Model: %&$ { Version: #; Properties70: {", id, "Model", id == 1 ? "Mesh" : "LimbNode", 232);
    add_vector("Lcl Translation", 100);
    add_vector("Lcl Rotation", 180);
    fbx("P: $$$$~~~;", "Lcl Scaling", "Lcl Scaling", "", "A", 1.0, 2.0, one_in(2) ? 1.0 : 0.5);
    add_choice("InheritType", below(3));
    add_choice("RotationOrder", below(7));
    for (uint32_t i = below(4); i > 0; i--)
        add_vector(more[below(8)], 10);
    fbx("} }");
    add_link(id, id < 3 || one_in(6) ? 0 : 2 + below(id - 2), NULL);
}

static void add_curve(uint32_t id)
{
    static const double flags[] = {0x2, 0x4, 0x8, 0x102, 0x108, 0x208, 0x408, 0x1108, 0x4108, 0x3000408, 0x2108};
    double times[MOST_KEYS], values[MOST_KEYS], kinds[MOST_KEYS], data[4 * MOST_KEYS], runs[MOST_KEYS];
    const uint32_t count = 1 + below(MOST_KEYS), some = one_in(2) ? 1 : count;
    for (uint32_t k = 0; k < count; k++) {
        times[k] = (k + !(k > 0 && one_in(8))) * 0.04 * SECOND; /* some are at the time of the one before */
        values[k] = between(-90, 90);
        kinds[k] = flags[below(11)];
        for (uint32_t i = 0; i < 4; i++)
            data[4 * k + i] = binary ? between(-1, 1) : below(1 << 30);
        runs[k] = some == 1 ? count : 1;
    }
    fbx("AnimationCurve: %&$ { KeyTime: @; KeyValueFloat: @; KeyAttrFlags: @; KeyAttrDataFloat: @; KeyAttrRefCount: @;",
        id, "AnimCurve", "", 'l', count, times, 'f', count, values, 'i', some, kinds, binary ? 'f' : 'i', 4 * some,
        data, 'i', some, runs);
    if (one_in(3))
        fbx("Pre-Extrapolation: { Type: #; Repetition: #; } Post-Extrapolation: { Type: #; Repetition: #; }",
            "CKRAM"[below(5)], below(4), "CKRAM"[below(5)], below(4));
    fbx("}");
}

static void add_mesh(uint32_t bones)
{
    static const double places[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}, faces[] = {0, 1, -3, 0, 2, -4},
                        all[] = {0, 1, 2, 3}, weights[] = {1, 0.5, 1, 0.25},
                        matrix[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    fbx("Geometry: %&$ { Vertices: @; PolygonVertexIndex: @; }", MESH, "Geometry", "Mesh", 'd', 12, places, 'i', 6,
        faces);
    fbx("Deformer: %&$ { Version: #; } Deformer: %&$ { Version: #; }", MESH + 1, "Deformer", "Skin", 101, MESH + 3,
        "Deformer", "BlendShape", 100);
    fbx("Geometry: %&$ { Indexes: @; Vertices: @; Normals: @; }", MESH + 2, "Geometry", "Shape", 'i', 4, all, 'd', 12,
        places, 'd', 12, places);
    fbx("Deformer: %&$ { DeformPercent: ~; FullWeights: @; }", CHANNEL, "SubDeformer", "BlendShapeChannel", 50.0, 'd',
        1, (const double[]){100});
    static const uint32_t pairs[][2] = {
        {MESH, 1}, {MESH + 1, MESH}, {MESH + 3, MESH}, {CHANNEL, MESH + 3}, {MESH + 2, CHANNEL}};
    for (uint32_t i = 0; i < 5; i++)
        add_link(pairs[i][0], pairs[i][1], NULL);
    for (uint32_t b = 0; b < bones; b++) {
        fbx("Deformer: %&$ { Indexes: @; Weights: @; Transform: @; TransformLink: @; }", BONES + b, "SubDeformer",
            "Cluster", 'i', 4, all, 'd', 4, weights, 'd', 16, matrix, 'd', 16, matrix);
        add_link(BONES + b, MESH + 1, NULL);
        add_link(2 + b, BONES + b, NULL);
    }
}

static void add_clip(uint32_t *id, uint32_t models)
{
    static const char *const parts[] = {"Lcl Translation", "Lcl Rotation", "Lcl Scaling", "DeformPercent"};
    static const char *const numbers[] = {"d|X", "d|Y", "d|Z", "d|DeformPercent"};
    const uint32_t stack = (*id)++;
    fbx("AnimationStack: %&$ { Properties70: {", stack, "AnimStack", "");
    add_number("LocalStop", SECOND * below(4));
    fbx("} }");
    for (uint32_t layers = 1 + below(3); layers > 0; layers--) {
        const uint32_t layer = (*id)++;
        fbx("AnimationLayer: %&$ { Properties70: {", layer, "AnimLayer", "");
        add_choice("BlendMode", below(3));
        add_number("Weight", between(0, 100));
        fbx("} }");
        add_link(layer, stack, NULL);
        for (uint32_t n = below(4); n > 0; n--) {
            const uint32_t node = (*id)++, part = below(4);
            fbx("AnimationCurveNode: %&$ { Properties70: {", node, "AnimCurveNode", "");
            add_number("d|X", between(-1, 1));
            fbx("} }");
            add_link(node, layer, NULL);
            add_link(node, part == 3 ? CHANNEL : 1 + below(models), parts[part]);
            for (uint32_t k = part == 3 ? 3 : 0; k < (part == 3 ? 4 : 3); k++) {
                add_curve(*id);
                add_link((*id)++, node, numbers[k]);
            }
        }
    }
}

void make_fbx(void)
{
    const uint32_t models = 2 + below(7);
    uint32_t id = FIRST_FREE, from, to;
    binary = one_in(2);
    wide = binary && one_in(2);
    begin = made.size[0];
    last = open;
    links[0] = '\0';
    if (binary) {
        write_bytes("Kaydara FBX Binary  \0\x1a", 23);
        write_number(wide ? 7500 : 7400, '4');
    }
    fbx("FBXHeaderExtension: { FBXHeaderVersion: #; FBXVersion: #; } GlobalSettings: { Version: #; Properties70: {",
        1003, 7400, 1000);
    add_choice("UpAxis", 1 + below(2));
    add_number("UnitScaleFactor", one_in(2) ? 1 : 100);
    add_choice("TimeMode", below(18));
    fbx("} } Objects: {");
    for (uint32_t i = 1; i <= models; i++)
        add_model(i);
    add_mesh(models - 1);
    for (uint32_t clips = 1 + below(2); clips > 0; clips--)
        add_clip(&id, models);
    fbx("} Connections: {");
    for (char *line = links, *end, property[32]; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        const bool has_property = sscanf(line, "%u %u %31[^\n]", &from, &to, property) == 3;
        fbx(has_property ? "C: $%%$;" : "C: $%%;", has_property ? "OP" : "OO", from, to, property);
    }
    fbx("}");
    write_bytes((const uint8_t[176]){0}, !binary ? 0 : wide ? 176 : 164);
}
