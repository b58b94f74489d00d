/* glTF's three ways from key to key, against the formulas of the specification (Khronos, glTF 2.0 Specification, 2021,
 * appendix C) written down once more; and splines that are not as they should be. */
#include "fixture_folder.h"
#include "fixture_gltf.h"
#include "fixture_import.h"

#include <throng/anim/crowd.h>
#include <throng/anim/exact.h>
#include <throng/core/cache_line.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void remove_files(void)
{
    static const char *const names[] = {"model.bin", "model.gltf", "model.glb"};
    for (size_t n = 0; n < LENGTH(names); n++)
        unlink(in_folder(names[n]));
    remove_folder();
}

/* Under AddressSanitizer, crashes inside Assimp stay signals, and an exit code means a report about our own code. */
static void set_up(void)
{
    setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0", 1);
    make_folder();
}

TestSuite(import_spline, .init = set_up, .fini = remove_files);

static const th_channel *channel_of(const th_model *model, const char *joint)
{
    const th_clip *clip = &model->clips[0];
    for (uint32_t c = 0; c < clip->channel_count; c++)
        if (strcmp(model->joints[clip->channels[c].joint].name, joint) == 0)
            return &clip->channels[c];
    cr_assert_fail("no channel for %s", joint);
    return NULL;
}

/* ---- the specification, in seconds and double precision ---- */

enum { KEYS = 4 };

static const float times[KEYS] = {0.5f, 0.75f, 2, 3.25f};

/* Per key: what leads to it, its value, what leads away. What is never used is 100. */
static const float moves[3 * KEYS][3] = {
    {100, 100, 100}, {1, 2, 3},     {4, -8, 0.5f},   {-3, 2, 10}, {2, -1, 3},   {0.25f, 3, -5},
    {1, 1, 1},       {-4, 5, 0.5f}, {7, -0.125f, 2}, {0, 6, -2},  {1, 1, 1.5f}, {100, 100, 100},
};
/* The second and third key are nearer to each other's opposite; the way through is long all the same. */
static const float turns[3 * KEYS][4] = {
    {100, 100, 100, 100}, {0, 0, 0, 1},     {1, 0.5f, 0, -0.25f}, {0.5f, 0, 1, 0},
    {0, 0.6f, 0, 0.8f},   {2, 0, -1, 1.5f}, {0.5f, 0, 0, 1},      {0.6f, 0, 0, -0.8f},
    {0, 1, 2, 0.125f},    {-1, 0, 0.5f, 0}, {0, 0, 0.96f, 0.28f}, {100, 100, 100, 100},
};

typedef enum mode { STEP, LINEAR, CUBICSPLINE } mode;

static const char *const mode_names[] = {"STEP", "LINEAR", "CUBICSPLINE"};

static void spherical(const double a[4], const double b_given[4], double t, double out[4])
{
    double d = 0;
    for (int i = 0; i < 4; i++)
        d += a[i] * b_given[i];
    double s = d < 0 ? -1 : 1, angle = acos(fmin(fabs(d), 1));
    for (int i = 0; i < 4; i++)
        out[i] = (sin(angle * (1 - t)) * a[i] + s * sin(angle * t) * b_given[i]) / sin(angle);
}

/* numbers: as in the arrays above. */
static void specified(mode m, const float *numbers, int width, double time_s, double out[4])
{
    int k = 0;
    while (k + 2 < KEYS && time_s >= (double)times[k + 1])
        k++;
    double duration = (double)times[k + 1] - (double)times[k], t = (time_s - (double)times[k]) / duration;
    t = fmin(fmax(t, 0), 1);
    const float *at = numbers + 3 * k * width, *next = at + 3 * width;
    double v[4], w[4];
    for (int i = 0; i < width; i++) {
        double b = (double)at[2 * width + i], a = (double)next[i];
        v[i] = (double)at[width + i];
        w[i] = (double)next[width + i];
        if (m == STEP)
            out[i] = t < 1 ? v[i] : w[i];
        else if (m == LINEAR)
            out[i] = (1 - t) * v[i] + t * w[i];
        else
            out[i] = (2 * pow(t, 3) - 3 * pow(t, 2) + 1) * v[i] + duration * (pow(t, 3) - 2 * pow(t, 2) + t) * b +
                     (-2 * pow(t, 3) + 3 * pow(t, 2)) * w[i] + duration * (pow(t, 3) - pow(t, 2)) * a;
    }
    if (m == LINEAR && width == 4)
        spherical(v, w, t, out);
    double length = width == 4 ? sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3]) : 1;
    for (int i = 0; i < width; i++)
        out[i] /= length;
}

/* ---- files ---- */

#define HEAD                                                                                                           \
    "'scene':0,'scenes':[{'nodes':[0]}],'nodes':[{'name':'a','children':[1,2]},{'name':'b'},{'name':'c'}],"            \
    "'animations':[{'name':'way','samplers':["
#define SAMPLER(output, mode)       "{'input':0,'output':" #output ",'interpolation':'" mode "'}"
#define TARGET(sampler, node, path) "{'sampler':" #sampler ",'target':{'node':" #node ",'path':'" path "'}}"

/* Each node has each mode once, each path has each mode once: 1 and 2 are moves and turns with tangents, 3 and 4
 * without.
 */
static const char nine_ways[] = HEAD
    SAMPLER(1, "CUBICSPLINE") "," SAMPLER(2, "CUBICSPLINE") "," SAMPLER(3, "LINEAR") "," SAMPLER(4, "LINEAR") "," SAMPLER(3, "STEP") "," SAMPLER(4, "STEP") "],'channels':[" TARGET(0, 0, "translation") "," TARGET(
        3, 0,
        "rotation") "," TARGET(4, 0,
                               "scale") "," TARGET(4, 1,
                                                   "translation") "," TARGET(1, 1,
                                                                             "rotation") "," TARGET(2, 1,
                                                                                                    "scale") "," TARGET(2,
                                                                                                                        2,
                                                                                                                        "translation") "," TARGET(5,
                                                                                                                                                  2,
                                                                                                                                                  "rotation") "," TARGET(0,
                                                                                                                                                                         2,
                                                                                                                                                                         "scale") "]}]";

static void write_ways(const char *body)
{
    float plain_moves[KEYS][3], plain_turns[KEYS][4];
    for (int k = 0; k < KEYS; k++) {
        memcpy(plain_moves[k], moves[3 * k + 1], sizeof plain_moves[k]);
        memcpy(plain_turns[k], turns[3 * k + 1], sizeof plain_turns[k]);
    }
    const gltf_accessor accessors[] = {{"SCALAR", 5126, KEYS, times},     {"VEC3", 5126, 3 * KEYS, moves},
                                       {"VEC4", 5126, 3 * KEYS, turns},   {"VEC3", 5126, KEYS, plain_moves},
                                       {"VEC4", 5126, KEYS, plain_turns}, {"VEC3", 5126, KEYS - 1, plain_moves}};
    gltf_write(in_folder("model.gltf"), body, accessors, LENGTH(accessors));
}

static void check_part(const double got[], mode m, const float *numbers, int width, double time_s)
{
    double want[4], same = 0;
    specified(m, numbers, width, time_s, want);
    for (int i = 0; i < width; i++)
        same += got[i] * want[i];
    double sign = width == 4 && same < 0 ? -1 : 1; /* q and -q are one rotation */
    for (int i = 0; i < width; i++)
        cr_assert_float_eq(got[i], sign * want[i], 1e-5, "%s, %d numbers, %g s: number %d is %.9g, should be %.9g",
                           mode_names[m], width, time_s, i, got[i], sign * want[i]);
}

static void check_joint(const th_model *model, const char *joint, double time_s, th_interpolation how, mode translation,
                        mode rotation, mode scale)
{
    th_trs trs;
    th_exact_channel(channel_of(model, joint), time_s * model->clips[0].ticks_per_second, how, &trs);
    check_part(trs.translation, translation, moves[0], 3, time_s);
    check_part(trs.rotation, rotation, turns[0], 4, time_s);
    check_part(trs.scale, scale, moves[0], 3, time_s);
}

Test(import_spline, every_way_from_key_to_key_is_as_specified)
{
    write_ways(nine_ways);
    th_model *model = import_good(path);
    cr_expect_eq(model->warning_count, 0);
    double at[400 + KEYS];
    for (int n = 0; n < 400; n++)
        at[n] = (n + 0.123) / 100; /* from before the first key to behind the last one */
    for (int k = 0; k < KEYS; k++)
        at[400 + k] = (double)times[k];
    for (uint32_t n = 0; n < LENGTH(at); n++) {
        check_joint(model, "a", at[n], TH_INTERPOLATION_AUTHORED, CUBICSPLINE, LINEAR, STEP);
        check_joint(model, "b", at[n], TH_INTERPOLATION_AUTHORED, STEP, CUBICSPLINE, LINEAR);
        check_joint(model, "c", at[n], TH_INTERPOLATION_AUTHORED, LINEAR, STEP, CUBICSPLINE);
    }
    cr_expect_float_eq(model->clips[0].duration_ticks / model->clips[0].ticks_per_second, 3.25, 1e-6);
    th_model_free(model);
}

/* The keys that stand in the file, as if it had named that mode; those of splines are given other signs above. */
Test(import_spline, what_overrides_a_step_goes_by_its_keys)
{
    write_ways(nine_ways);
    th_model *model = import_good(path);
    for (int n = 0; n < 400; n++) {
        const double at = (n + 0.123) / 100;
        check_joint(model, "b", at, TH_INTERPOLATION_STEP, STEP, STEP, STEP);
        check_joint(model, "c", at, TH_INTERPOLATION_SLERP, LINEAR, LINEAR, LINEAR);
    }
    th_model_free(model);
}

/* Of all steps, and with no mesh: the palette entry is the joint's own transform. Keys are a quarter of a second apart,
 * or several. */
Test(import_spline, what_steps_is_compiled)
{
    write_ways(HEAD SAMPLER(3, "STEP") "," SAMPLER(4, "STEP") "],'channels':[" TARGET(0, 0, "translation") "," TARGET(
        1, 0, "rotation") "," TARGET(0, 0, "scale") "]}]");
    th_model *model = import_good(path);
    th_compiled_model *compiled;
    th_crowd *crowd;
    cr_assert_eq(th_compiled_model_create(&(th_compiled_model_desc){.model = model}, &compiled, NULL), TH_OK);
    cr_expect_eq(th_compiled_model_clip_report(compiled, 0)->frame_count, 14);
    cr_expect_float_eq(th_compiled_model_clip_report(compiled, 0)->rate_hz, 4, 1e-6);
    const th_crowd_desc desc = {.compiled_models = (const th_compiled_model *const[]){compiled},
                                .compiled_model_count = 1,
                                .instances = &(th_instance){.clip = 0, .speed = 1},
                                .instance_count = 1};
    cr_assert_eq(th_crowd_create(&desc, &crowd, NULL), TH_OK);
    float *palette = th_cache_line_alloc(th_crowd_palette_bytes(crowd));
    void *scratch = th_cache_line_alloc(th_crowd_scratch_bytes(crowd));
    for (int n = 0; n < 650; n++) {
        const double at = n / 200.0;
        th_trs trs;
        double way[4];
        specified(STEP, moves[0], 3, at, way);
        specified(STEP, turns[0], 4, at, trs.rotation);
        memcpy(trs.translation, way, sizeof trs.translation);
        memcpy(trs.scale, way, sizeof trs.scale);
        const th_dmat34 want = th_dmat34_from_trs(&trs);
        th_crowd_update(crowd, 0, 1, at, palette, scratch);
        for (int i = 0; i < 12; i++)
            cr_assert_float_eq((double)palette[i], want.m[i], 1e-5, "%g s: number %d", at, i);
    }
    free(palette);
    free(scratch);
    th_crowd_destroy(crowd);
    th_compiled_model_destroy(compiled);
    th_model_free(model);
}

static void check_note(const th_model *model, const char *says)
{
    for (uint32_t n = 0; n < model->warning_count; n++)
        if (strcmp(model->warnings[n], says) == 0)
            return;
    cr_expect_fail("%u warnings, none is \"%s\"", model->warning_count, says);
}

/* Assimp passes over such channels, wherever they stand: what is left must be played as it says, and nothing filled for
 * want of keys may pass for a part of the movement. */
Test(import_spline, leaves_out_channels_that_lack_times_or_keys)
{
    write_ways(HEAD "{'input':0,'output':4},"
                    "{'input':0,'interpolation':'CUBICSPLINE'},"
                    "{'input':0,'output':5,'interpolation':'CUBICSPLINE'},"
                    "{'output':2,'interpolation':'CUBICSPLINE'}],"
                    "'channels':[{'sampler':0,'target':{'node':0,'path':'rotation'}},"
                    "{'sampler':1,'target':{'node':0,'path':'translation'}},"
                    "{'sampler':2,'target':{'node':0,'path':'scale'}},"
                    "{'sampler':2,'target':{'node':0,'path':'rotation'}},"
                    "{'sampler':3,'target':{'node':0,'path':'rotation'}},"
                    "{'sampler':9,'target':{'node':0,'path':'rotation'}}]}]");
    th_model *model = import_good(path);
    const th_channel *channel = channel_of(model, "a");
    cr_expect_eq(channel->filled, (uint32_t)(TH_TRANSLATION | TH_SCALE));
    cr_expect_eq(channel->rotation.key_count, KEYS);
    cr_expect_null(channel->rotation.tangents);
    cr_expect_eq(model->warning_count, 1);
    check_note(model, "5 channels have no keys, or fewer than times, and were left out (first: animation 0)");
    th_model_free(model);
}

Test(import_spline, of_two_channels_for_the_same_the_later_one_counts)
{
    write_ways(HEAD "{'input':0,'output':1,'interpolation':'CUBICSPLINE'},{'input':0,'output':3}],"
                    "'channels':[{'sampler':0,'target':{'node':0,'path':'translation'}},"
                    "{'sampler':1,'target':{'node':0,'path':'translation'}},"
                    "{'sampler':1,'target':{'node':1,'path':'translation'}},"
                    "{'sampler':1,'target':{'node':0,'path':'scale'}}]}]");
    th_model *model = import_good(path);
    cr_expect_null(channel_of(model, "a")->translation.tangents);
    cr_expect_eq(model->warning_count, 1);
    check_note(model, "1 channel moves what a later one moves and was left out (animation 0)");
    th_model_free(model);
}

/* ---- one spline, and all that may be odd about where its numbers lie ---- */

typedef struct spline_file {
    const char *output;  /* JSON of accessor 1, but for its type; NULL: as it should be */
    const char *type;    /* NULL: VEC3 */
    const char *sampler; /* NULL: as it should be */
    const char *views;   /* more of the list of bufferViews: begins with a comma */
    const char *uri;     /* NULL: model.bin */
    bool binary;         /* .glb, and no uri */
    const void *more;    /* bytes behind the others */
    uint32_t key_count, more_bytes, stride;
    const float (*values)[3];
} spline_file;

enum { TIMES_BYTES = sizeof times, MOVES_BYTES = sizeof moves };

static void put_text(char *out, size_t size, const spline_file *f, size_t bytes)
{
    uint32_t keys = f->key_count ? f->key_count : KEYS;
    char uri[128] = "", stride[32] = "", output[256], text[4096];
    if (!f->binary)
        snprintf(uri, sizeof uri, "'uri':'%s',", f->uri ? f->uri : "model.bin");
    if (f->stride)
        snprintf(stride, sizeof stride, ",'byteStride':%u", f->stride);
    snprintf(output, sizeof output, "'bufferView':1,'componentType':5126,'count':%u", 3 * keys);
    snprintf(text, sizeof text,
             "{'asset':{'version':'2.0'},'scene':0,'scenes':[{'nodes':[0]}],'nodes':[{'name':'a'}],"
             "'buffers':[{%s'byteLength':%zu}],"
             "'bufferViews':[{'buffer':0,'byteLength':%d},{'buffer':0,'byteOffset':%d,'byteLength':%zu%s}%s],"
             "'accessors':[{'bufferView':0,'componentType':5126,'count':%u,'type':'SCALAR'},{%s,'type':'%s'}],"
             "'animations':[{'name':'way','samplers':[{%s,'interpolation':'CUBICSPLINE'}],"
             "'channels':[{'sampler':0,'target':{'node':0,'path':'translation'}}]}]}",
             uri, bytes, TIMES_BYTES, TIMES_BYTES, f->stride ? (size_t)f->stride * 3 * KEYS : (size_t)MOVES_BYTES,
             stride, f->views ? f->views : "", keys, f->output ? f->output : output, f->type ? f->type : "VEC3",
             f->sampler ? f->sampler : "'input':0,'output':1");
    cr_assert_lt(strlen(text), size);
    for (size_t i = 0; i <= strlen(text); i++)
        out[i] = text[i] == '\'' ? '"' : text[i];
}

static size_t put_bytes(uint8_t *out, const spline_file *f)
{
    const float(*values)[3] = f->values ? f->values : moves;
    size_t stride = f->stride ? f->stride : sizeof *values, at = TIMES_BYTES;
    memcpy(out, times, sizeof times);
    for (int i = 0; i < 3 * KEYS; i++, at += stride)
        memcpy(out + at, values[i], sizeof values[i]);
    memcpy(out + at, f->more ? f->more : "", f->more_bytes);
    return at + f->more_bytes;
}

static void put(FILE *file, const void *bytes, size_t size)
{
    cr_assert_eq(fwrite(bytes, 1, size, file), size);
}

static void write_spline(const spline_file *f)
{
    char text[4096] = {0};
    uint8_t bytes[1024] = {0};
    uint32_t size = (uint32_t)(put_bytes(bytes, f) + 3) / 4 * 4;
    put_text(text, sizeof text, f, size);
    uint32_t length = (uint32_t)(strlen(text) + 3) / 4 * 4;
    memset(text + strlen(text), ' ', length - strlen(text));
    if (!f->binary) {
        FILE *beside = fopen(in_folder("model.bin"), "wb");
        put(beside, bytes, size);
        fclose(beside);
    }
    FILE *file = fopen(in_folder(f->binary ? "model.glb" : "model.gltf"), "wb");
    const uint32_t head[] = {0x46546c67, 2, 28 + length + size, length, 0x4e4f534a}, chunk[] = {size, 0x004e4942};
    if (f->binary)
        put(file, head, sizeof head);
    put(file, text, length);
    if (f->binary) {
        put(file, chunk, sizeof chunk);
        put(file, bytes, size);
    }
    fclose(file);
}

static void check_spline(const spline_file *f)
{
    write_spline(f);
    th_model *model = import_good(path);
    for (int n = 0; n < 40; n++) {
        th_trs trs;
        double time_s = (n + 0.123) / 10;
        th_exact_channel(channel_of(model, "a"), time_s * model->clips[0].ticks_per_second, TH_INTERPOLATION_AUTHORED,
                         &trs);
        check_part(trs.translation, CUBICSPLINE, moves[0], 3, time_s);
    }
    th_model_free(model);
}

Test(import_spline, its_numbers_may_lie_anywhere)
{
    check_spline(&(spline_file){0});
    check_spline(&(spline_file){.binary = true});
    check_spline(&(spline_file){.stride = 20});
}

#define SPARSE(some, indices, component, values)                                                                       \
    "'bufferView':1,'componentType':5126,'count':12,'sparse':{'count':" #some ",'indices':{'bufferView':" indices      \
    ",'componentType':" #component "},'values':{'bufferView':" values "}}"
#define SPARSE_VIEWS ",{'buffer':0,'byteOffset':160,'byteLength':4},{'buffer':0,'byteOffset':164,'byteLength':24}"

/* Two of the elements are wrong where the others are, and stand behind. */
Test(import_spline, its_numbers_may_be_sparse)
{
    float wrong[3 * KEYS][3];
    struct {
        uint16_t index[2];
        float value[2][3];
    } more = {{4, 8}, {{0}}};
    memcpy(wrong, moves, sizeof wrong);
    for (int i = 0; i < 2; i++) {
        memcpy(more.value[i], moves[more.index[i]], sizeof more.value[i]);
        wrong[more.index[i]][1] = -77;
    }
    spline_file f = {.values = (const float(*)[3])wrong,
                     .more = &more,
                     .more_bytes = sizeof more,
                     .views = SPARSE_VIEWS,
                     .output = SPARSE(2, "2", 5123, "3")};
    cr_assert_eq(TIMES_BYTES + MOVES_BYTES, 160);
    check_spline(&f);
}

/* ---- splines that are not as they should be ---- */

static void check_refused(const spline_file *f, const char *says)
{
    write_spline(f);
    th_model *model;
    th_error err;
    cr_expect_eq(import(path, &model, &err), TH_ERR_INPUT, "should say \"%s\"", says);
    cr_expect(strstr(err.text, says), "\"%s\" should say \"%s\"", err.text, says);
}

Test(import_spline, refuses_what_does_not_hold_a_spline)
{
    check_refused(&(spline_file){.output = "'bufferView':1,'componentType':5126,'count':11"},
                  "clip way, node a: a CUBICSPLINE of 4 keys needs 12 elements, accessor 1 has 11");
    check_refused(&(spline_file){.output = "'bufferView':1,'componentType':5126,'count':4"}, "accessor 1 has 4");
    check_refused(&(spline_file){.output = "'bufferView':1,'componentType':5126,'count':12", .type = "VEC2"},
                  "not three floats each");
    check_refused(&(spline_file){.output = "'bufferView':1,'componentType':5122,'normalized':true,'count':12"},
                  "stored as normalised 16-bit integers");
    check_refused(&(spline_file){.output = SPARSE(2, "2", 5126, "3"),
                                 .views = SPARSE_VIEWS,
                                 .more = "12345678901234567890"
                                         "12345678",
                                 .more_bytes = 28},
                  "Unsupported component type in index");
    check_refused(&(spline_file){.uri = "data:application/octet-stream;base64,AAAAAAAA"},
                  "expected 160 bytes, but found 6");
    check_refused(&(spline_file){.uri = "nowhere.bin"}, "could not open referenced file");
    check_refused(&(spline_file){.sampler = "'input':0,'output':7"}, "out of bounds");
}

Test(import_spline, refuses_sparse_numbers_that_lead_astray)
{
    static const struct {
        uint16_t index[2];
        float value[2][3];
    } astray = {{4, 12}, {{0}}};
    spline_file f = {
        .more = &astray, .more_bytes = sizeof astray, .views = SPARSE_VIEWS, .output = SPARSE(2, "2", 5123, "3")};
    check_refused(&f, "outside");
    f.output = SPARSE(2, "9", 5123, "3");
    check_refused(&f, "out of bounds");
    f.output = SPARSE(900, "2", 5123, "3");
    check_refused(&f, "outside");
}

/* Assimp leaves such a channel out, and the clip has no other. */
Test(import_spline, leaves_out_a_channel_without_numbers)
{
    write_spline(&(spline_file){.sampler = "'input':0"});
    th_model *model = import_good(path);
    cr_expect_eq(model->clip_count, 0);
    check_note(model, "1 channel has no keys, or fewer than times, and was left out (animation 0)");
    th_model_free(model);
}

Test(import_spline, is_one_key_when_there_is_one)
{
    write_spline(&(spline_file){.key_count = 1});
    th_model *model = import_good(path);
    const th_track *track = &channel_of(model, "a")->translation;
    cr_expect_eq(track->key_count, 1);
    cr_expect_null(track->tangents);
    cr_expect_float_eq(track->values[1], 2, 0);
    th_model_free(model);
}

Test(import_spline, tangents_that_are_not_finite_become_0)
{
    float broken[3 * KEYS][3];
    memcpy(broken, moves, sizeof broken);
    broken[0][0] = NAN; /* never used, so no word about it */
    broken[5][1] = NAN;
    broken[6][2] = -INFINITY;
    write_spline(&(spline_file){.values = (const float(*)[3])broken});
    th_model *model = import_good(path);
    const th_track *track = &channel_of(model, "a")->translation;
    cr_assert_eq(track->key_count, KEYS);
    for (int i = 0; i < 6; i++)
        cr_expect_eq(track->tangents[9 + i], 0, "%d", i);
    cr_expect_float_eq(track->tangents[3], 4e-3, 1e-9, "a change per tick");
    cr_assert_eq(model->warning_count, 1);
    cr_expect(strstr(model->warnings[0], "2 tangents are not finite and became 0"), "%s", model->warnings[0]);
    th_model_free(model);
}

/* A key that goes takes its tangents along; the others keep theirs. */
Test(import_spline, keys_that_are_not_finite_go_with_their_tangents)
{
    float broken[3 * KEYS][3];
    memcpy(broken, moves, sizeof broken);
    broken[4][0] = NAN;
    write_spline(&(spline_file){.values = (const float(*)[3])broken});
    th_model *model = import_good(path);
    const th_track *track = &channel_of(model, "a")->translation;
    cr_assert_eq(track->key_count, KEYS - 1);
    cr_expect_float_eq(track->tangents[6 + 3], 7e-3, 1e-9);
    cr_expect_float_eq(track->values[3], -4, 0);
    th_model_free(model);
}

/* Too little, too much, and in the wrong place: said each time. */
Test(import_spline, refuses_numbers_that_are_not_there)
{
    static const char *const places[] = {
        "'bufferView':1,'byteOffset':4,'componentType':5126,'count':12",
        "'bufferView':1,'byteOffset':1e12,'componentType':5126,'count':12",
        "'bufferView':1,'byteOffset':-4,'componentType':5126,'count':12",
        "'bufferView':1,'byteOffset':'x','componentType':5126,'count':12",
        "'bufferView':9,'componentType':5126,'count':12",
        "'bufferView':0,'componentType':5126,'count':12",
        "'bufferView':1,'componentType':5126,'count':4000000000",
        "'bufferView':1,'componentType':5126,'count':-1",
        "'bufferView':1,'componentType':5126",
        "'bufferView':1,'componentType':5126,'count':12,'sparse':7",
    };
    for (size_t i = 0; i < LENGTH(places); i++)
        for (int binary = 0; binary < 2; binary++) {
            write_spline(&(spline_file){.output = places[i], .binary = binary, .more = "behind it", .more_bytes = 8});
            th_model *model;
            th_error err;
            th_result result = import(path, &model, &err);
            cr_expect_eq(result, TH_ERR_INPUT, "%s", places[i]);
            cr_expect(err.text[0] && !strstr(err.text, "crashed"), "%s: %s", places[i], err.text);
            th_model_free(model);
        }
}
