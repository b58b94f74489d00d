/* The archive is read from a process that a hostile file may have taken over: no bytes whatever may harm the reader. */
#include <anim/archive.h>

#include "fixture_memory.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* ---- a small model that uses everything ---- */

static const th_trs parts = {{1, 0, 0}, {0, 0, 0.6, 0.8}, {0, 1, -1}};
static const th_joint joints[] = {
    {"root", TH_NO_INDEX, {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}}, NULL},
    {"arm", 0, {{1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0}}, &parts},
    {"手", 1, {{1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0}}, NULL},
};
static const th_bone bones[] = {
    {0, {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}}},
    {1, {{1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1, 0}}},
};
static const th_vertex vertices[] = {
    {.position = {0, 0, 0}, .normal = {0, 1, 0}, .weight = {1}},
    {.position = {1, 0, 0}, .normal = {0, 1, 0}, .color = {1, 2, 3, 4}, .bone = {1, 0}, .weight = {.75f, .25f}},
    {.position = {0, 0, 1}, .normal = {0, 1, 0}, .uv = {.5f, .25f}, .bone = {1}, .weight = {1}},
};
static const uint32_t indices[] = {0, 1, 2};
static const th_weight weights[] = {{"smile", 0, .5f}, {"", 1, 0}};
static const th_morph_delta deltas[] = {{0, {1, 2, 3}, {0, 0, 1}}, {2, {4, 5, 6}, {0}}};
static const th_morph_target targets[] = {{0, 2, deltas}, {1, 0, NULL}};
static const th_mesh meshes[] = {{.name = "cloth",
                                  .vertex_count = 3,
                                  .index_count = 3,
                                  .vertices = vertices,
                                  .indices = indices,
                                  .target_count = 2,
                                  .targets = targets},
                                 {.name = ""}};
static const th_material materials[] = {
    {.name = "red", .base_color = {1, 0, 0, 1}, .texture = 0, .emissive = {0, 0.5F, 2}},
    {.name = "leaf", .texture = TH_NO_INDEX, .alpha = TH_ALPHA_MASK, .alpha_cutoff = 0.25F, .double_sided = true}};
static const uint8_t picture[] = {137, 'P', 'N', 'G'};
static const th_texture textures[] = {
    {"*0",
     picture,
     sizeof picture,
     {{TH_WRAP_CLAMP, TH_WRAP_MIRROR}, TH_FILTER_NEAREST, TH_FILTER_LINEAR, TH_FILTER_NONE}},
    {.name = "lost.png"}};
static const double times[] = {-1, 2.5, 4};
static const float translations[] = {0, 0, 0, 1, 2, 3, 4, 5, 6}, scales[] = {1, 1, 1};
static const float tangents[] = {0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 3, 5, 0, 0, 0};
static const float rotations[] = {0, 0, 0, 1, 0, 0.6f, 0, 0.8f};
static const th_channel channels[] = {{1,
                                       {3, times, translations, tangents, false},
                                       {2, times, rotations, NULL, true},
                                       {1, times, scales, NULL, false},
                                       TH_SCALE,
                                       NULL}};
static const th_weight_track weight_tracks[] = {{1, {3, times, translations, tangents, false}, NULL}};
static const th_clip clips[] = {{.name = "wave",
                                 .duration_ticks = 4,
                                 .ticks_per_second = 25,
                                 .channel_count = 1,
                                 .channels = channels,
                                 .weight_track_count = 1,
                                 .weight_tracks = weight_tracks},
                                {.name = "still", .ticks_per_second = 1}};
static const char *const warnings[] = {"1 key was dropped", "2 textures were not found"};

static const th_model sample = {
    .name = "sample.glb",
    .joint_count = 3,
    .joints = joints,
    .bone_count = 2,
    .bones = bones,
    .weight_count = 2,
    .weights = weights,
    .mesh_count = 2,
    .meshes = meshes,
    .material_count = 2,
    .materials = materials,
    .texture_count = 2,
    .textures = textures,
    .clip_count = 2,
    .clips = clips,
    .warning_count = 2,
    .warnings = warnings,
    .size = 2,
};

/* Copied into a block of exactly its size, so that AddressSanitizer sees any byte read behind it. */
static th_result read_copy(const uint8_t *bytes, size_t size, th_model **out, th_error *err)
{
    uint8_t *exact = malloc(size > 0 ? size : 1);
    memcpy(exact, bytes, size);
    th_result result = th_archive_read(exact, size, out, err);
    free(exact);
    return result;
}

/* ---- tests ---- */

/* What is lost on both ways import_models misses, whose models have come through an archive. */
Test(archive, gives_back_a_model_of_the_same_bytes)
{
    size_t size;
    uint8_t *bytes = th_archive_write(&sample, &size);
    cr_assert_not_null(bytes);
    cr_expect_eq(th_archive_size(bytes), size);
    th_model *model;
    th_error err;
    cr_assert_eq(read_copy(bytes, size, &model, &err), TH_OK, "%s", err.text);

    size_t again_size;
    uint8_t *again = th_archive_write(model, &again_size);
    cr_assert_eq(again_size, size);
    cr_assert_arr_eq(again, bytes, size);
    free(again);
    free(bytes);
    th_model_destroy(model);
}

Test(archive, carries_an_error_with_its_code)
{
    const th_error sent = {TH_ERR_LIMIT, "more than 65535 nodes"};
    size_t size;
    uint8_t *bytes = th_archive_write_error(&sent, &size);
    th_model *model;
    th_error err;
    cr_expect_eq(read_copy(bytes, size, &model, &err), TH_ERR_LIMIT);
    cr_expect_null(model);
    cr_expect_str_eq(err.text, sent.text);
    free(bytes);
}

static void expect_refused(const uint8_t *bytes, size_t size)
{
    th_model *model;
    th_error err;
    cr_assert_eq(read_copy(bytes, size, &model, &err), TH_ERR_INPUT, "%zu bytes", size);
    cr_assert_null(model);
}

/* With a head that owns up to it, so that the body is read. */
static void expect_refused_of(uint8_t *bytes, uint64_t size)
{
    memcpy(bytes + TH_ARCHIVE_HEAD_BYTES - sizeof size, &size, sizeof size);
    expect_refused(bytes, size);
}

Test(archive, refuses_every_truncation_and_what_lies_behind_the_end)
{
    size_t size;
    uint8_t *bytes = th_archive_write(&sample, &size), *other = calloc(size + 1, 1);
    for (size_t cut = 0; cut <= size + 1; cut++) {
        memcpy(other, bytes, size);
        if (cut != size)
            expect_refused(other, cut);
        if (cut != size && cut >= TH_ARCHIVE_HEAD_BYTES)
            expect_refused_of(other, cut);
    }
    free(other);
    free(bytes);
}

Test(archive, refuses_a_text_without_end_and_other_heads)
{
    size_t size;
    uint8_t *bytes = th_archive_write(&sample, &size);
    size_t end_of_name = TH_ARCHIVE_HEAD_BYTES + sizeof(uint32_t) + strlen(sample.name);
    cr_assert_eq(bytes[end_of_name], 0);
    bytes[end_of_name] = 'x';
    expect_refused(bytes, size);
    bytes[end_of_name] = '\0';
    bytes[8]++; /* another version */
    cr_expect_eq(th_archive_size(bytes), 0);
    memset(bytes, 'x', TH_ARCHIVE_HEAD_BYTES);
    cr_expect_eq(th_archive_size(bytes), 0);
    expect_refused(bytes, size);
    free(bytes);
}

/* ---- growth ---- */

/* An archive of a model that has MANY of the smallest of one kind. Not all of them pass th_model_check, which comes
 * after all is read. */
enum { MANY = 100000 };
enum {
    JOINTS,
    BONES,
    WEIGHTS,
    MESHES,
    TARGETS,
    MATERIALS,
    TEXTURES,
    CLIPS,
    CHANNELS,
    CURVES,
    LAYERS,
    WEIGHT_TRACKS,
    WEIGHT_CURVES,
    WEIGHT_LAYERS,
    WARNINGS,
    KINDS
};

static struct {
    th_joint joints[MANY];
    th_bone bones[MANY];
    th_weight weights[MANY];
    th_mesh meshes[MANY];
    th_morph_target targets[MANY];
    th_material materials[MANY];
    th_texture textures[MANY];
    th_clip clips[MANY];
    th_channel channels[MANY];
    th_weight_track weight_tracks[MANY];
    th_curve_layer layers[MANY];
    const char *warnings[MANY];
} many;

static void fill_many(int kind)
{
    static const th_curve none[TH_TRANSFORM_CURVES];
    static th_transform_curves curves;
    static th_weight_curves weight_curves;
    curves.layers = weight_curves.layers = many.layers;
    curves.layer_count = kind == LAYERS ? MANY : 0;
    weight_curves.layer_count = kind == WEIGHT_LAYERS ? MANY : 0;
    static const th_track track = {.key_count = 1, .times = times, .values = rotations};
    for (int i = 0; i < MANY; i++) {
        many.joints[i].name = many.weights[i].name = many.meshes[i].name = many.materials[i].name = "";
        many.textures[i].name = many.clips[i].name = many.warnings[i] = "";
        many.channels[i] = (th_channel){.translation = track, .rotation = track, .scale = track};
        many.channels[i].curves = kind == CURVES || kind == LAYERS ? &curves : NULL;
        many.weight_tracks[i].track = track;
        many.weight_tracks[i].curves = kind == WEIGHT_CURVES || kind == WEIGHT_LAYERS ? &weight_curves : NULL;
        many.layers[i].curves = none;
    }
    many.meshes[0].targets = many.targets;
    many.clips[0].channels = many.channels;
    many.clips[0].weight_tracks = many.weight_tracks;
}

static uint32_t many_if(bool is_wanted)
{
    return is_wanted ? MANY : 0;
}

static uint8_t *write_many(int kind, size_t *size)
{
    const bool in_channel = kind >= CHANNELS && kind <= LAYERS,
               in_weight_track = kind >= WEIGHT_TRACKS && kind <= WEIGHT_LAYERS;
    fill_many(kind);
    many.meshes[0].target_count = many_if(kind == TARGETS);
    many.clips[0].channel_count = kind == LAYERS ? 1 : many_if(in_channel);
    many.clips[0].weight_track_count = kind == WEIGHT_LAYERS ? 1 : many_if(in_weight_track);
    const th_model model = {.name = "",
                            .joints = many.joints,
                            .joint_count = many_if(kind == JOINTS),
                            .bones = many.bones,
                            .bone_count = many_if(kind == BONES),
                            .weights = many.weights,
                            .weight_count = many_if(kind == WEIGHTS),
                            .meshes = many.meshes,
                            .mesh_count = kind == TARGETS ? 1 : many_if(kind == MESHES),
                            .materials = many.materials,
                            .material_count = many_if(kind == MATERIALS),
                            .textures = many.textures,
                            .texture_count = many_if(kind == TEXTURES),
                            .clips = many.clips,
                            .clip_count = in_channel || in_weight_track ? 1 : many_if(kind == CLIPS),
                            .warnings = many.warnings,
                            .warning_count = many_if(kind == WARNINGS)};
    return th_archive_write(&model, size);
}

/* The bytes that reading allocates. */
static size_t allocated_by_reading(const uint8_t *bytes, size_t size, th_error *err)
{
    th_model *model;
    const size_t before = allocated_bytes;
    th_archive_read(bytes, size, &model, err);
    const size_t grown = allocated_bytes - before;
    th_model_destroy(model);
    return grown;
}

Test(archive, grows_little_whatever_it_has_many_of)
{
    for (int kind = 0; kind < KINDS; kind++) {
        size_t size;
        th_error err = {0};
        uint8_t *bytes = write_many(kind, &size);
        const size_t grown = allocated_by_reading(bytes, size, &err);
        cr_expect_null(strstr(err.text, "damaged"), "kind %d: %s", kind, err.text);
        cr_expect_leq(grown, TH_ARCHIVE_GROWTH * size + TH_ARCHIVE_CONSTANT, "kind %d: %zu bytes for %zu", kind, grown,
                      size);
        free(bytes);
    }
}

/* A count that the rest of the archive could just hold, and inside of the first clip two more. */
Test(archive, does_not_add_up_false_counts)
{
    size_t size;
    th_error err;
    uint8_t *bytes = write_many(CLIPS, &size);
    const size_t clip_bytes = 29, at = size - MANY * clip_bytes + 5 + 2 * sizeof(double);
    const uint32_t channel_count = (uint32_t)(size / 92), key_count = (uint32_t)(size / 9);
    memcpy(bytes + at, &channel_count, sizeof channel_count);
    memcpy(bytes + at + 8, &key_count, sizeof key_count);
    const size_t grown = allocated_by_reading(bytes, size, &err);
    cr_expect_str_eq(err.text, "the importer's answer is damaged: a count is too large");
    cr_expect_gt(grown, size, "the first count was believed");
    cr_expect_leq(grown, TH_ARCHIVE_GROWTH * size + TH_ARCHIVE_CONSTANT);
    free(bytes);
}
