/* glTF's three ways from key to key, against the formulas of the specification (Khronos, glTF 2.0 Specification, 2021,
 * appendix C) written down once more. */
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

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static void set_up(void)
{
    keep_signals();
    make_folder();
}

TestSuite(import_spline, .init = set_up, .fini = remove_folder);

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

/* Each node has each mode once, each path has each mode once: 1 and 2 are moves and turns with tangents, 3 and 4
 * without. */
static const char nine_ways[] = HEAD "{'input':0,'output':1,'interpolation':'CUBICSPLINE'},"
                                     "{'input':0,'output':2,'interpolation':'CUBICSPLINE'},"
                                     "{'input':0,'output':3,'interpolation':'LINEAR'},"
                                     "{'input':0,'output':4,'interpolation':'LINEAR'},"
                                     "{'input':0,'output':3,'interpolation':'STEP'},"
                                     "{'input':0,'output':4,'interpolation':'STEP'}],'channels':["
                                     "{'sampler':0,'target':{'node':0,'path':'translation'}},"
                                     "{'sampler':3,'target':{'node':0,'path':'rotation'}},"
                                     "{'sampler':4,'target':{'node':0,'path':'scale'}},"
                                     "{'sampler':4,'target':{'node':1,'path':'translation'}},"
                                     "{'sampler':1,'target':{'node':1,'path':'rotation'}},"
                                     "{'sampler':2,'target':{'node':1,'path':'scale'}},"
                                     "{'sampler':2,'target':{'node':2,'path':'translation'}},"
                                     "{'sampler':5,'target':{'node':2,'path':'rotation'}},"
                                     "{'sampler':0,'target':{'node':2,'path':'scale'}}]}]";

static void write_ways(const char *body)
{
    float plain_moves[KEYS][3], plain_turns[KEYS][4];
    for (int k = 0; k < KEYS; k++) {
        memcpy(plain_moves[k], moves[3 * k + 1], sizeof plain_moves[k]);
        memcpy(plain_turns[k], turns[3 * k + 1], sizeof plain_turns[k]);
    }
    const gltf_accessor accessors[] = {{"SCALAR", 5126, KEYS, times},
                                       {"VEC3", 5126, 3 * KEYS, moves},
                                       {"VEC4", 5126, 3 * KEYS, turns},
                                       {"VEC3", 5126, KEYS, plain_moves},
                                       {"VEC4", 5126, KEYS, plain_turns}};
    snprintf(path, sizeof path, "%s/model.gltf", folder);
    gltf_write(path, body, accessors, LENGTH(accessors));
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
    write_ways(HEAD "{'input':0,'output':3,'interpolation':'STEP'},{'input':0,'output':4,'interpolation':'STEP'}],"
                    "'channels':[{'sampler':0,'target':{'node':0,'path':'translation'}},"
                    "{'sampler':1,'target':{'node':0,'path':'rotation'}},"
                    "{'sampler':0,'target':{'node':0,'path':'scale'}}]}]");
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
