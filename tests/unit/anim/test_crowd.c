/* Crowds: palettes of each format, what batches cost, and instruction sets. Several models, some of whose characters
 * are active: test_characters. */
#include "fixture_crowd.h"
#include "fixture_human.h"

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One entry a palette, and that is a line: as many as fill th_stream_bytes, and one more. */
Test(crowd, streams_what_is_more_than_stays_in_the_caches)
{
    const uint32_t most = (uint32_t)(th_stream_bytes() / TH_CACHE_LINE);
    const random_desc desc = {.seed = 5, .joint_count = 1, .clip_count = 2, .key_count = 9, .swing_rad = 1};
    th_model *model = random_model(&desc);
    crowd_fixture s;
    crowd_fixture_init_with(&s, model, (th_compiled_model_desc){0}, most + 1, (th_crowd_desc){0});
    cr_assert_eq(s.palette_bytes, th_stream_bytes() + TH_CACHE_LINE);
    cr_expect_eq(th_crowd_writes(s.crowd), TH_WRITES_STREAMED);
    crowd_fixture_update(&s, 0.7);
    const uint64_t hash = th_crowd_hash(s.crowd, s.palette);

    uint32_t *active = malloc(most * sizeof *active);
    for (uint32_t i = 0; i < most; i++)
        active[i] = i;
    th_crowd_set_active(s.crowd, active, most);
    cr_expect_eq(th_crowd_writes(s.crowd), TH_WRITES_CACHED);
    th_crowd_set_writes(s.crowd, TH_WRITES_STREAMED);
    cr_expect_eq(th_crowd_writes(s.crowd), TH_WRITES_STREAMED);
    th_crowd_set_writes(s.crowd, TH_WRITES_AUTO);
    cr_expect_eq(th_crowd_writes(s.crowd), TH_WRITES_CACHED);
    const size_t last = th_crowd_palette_bytes(s.crowd);
    cr_assert_eq(last, th_stream_bytes());
    unsigned char *streamed = malloc(last);
    memcpy(streamed, s.palette, last);
    memset(s.palette, GUARD, last);
    crowd_fixture_update(&s, 0.7);
    cr_expect_eq(memcmp(s.palette, streamed, last), 0);

    th_crowd_set_active(s.crowd, NULL, most + 1);
    th_crowd_set_writes(s.crowd, TH_WRITES_CACHED);
    cr_expect_eq(th_crowd_writes(s.crowd), TH_WRITES_CACHED);
    crowd_fixture_update(&s, 0.7);
    cr_expect_eq(th_crowd_hash(s.crowd, s.palette), hash);
    free(active);
    free(streamed);
    crowd_fixture_fini(&s);
    th_model_destroy(model);
}

Test(crowd, palettes_are_whole_lines_but_not_whole_pages_apart)
{
    for (int format = 0; format < TH_FORMAT_COUNT; format++)
        for (uint32_t entries = 0; entries < 2000; entries++) {
            const size_t used = entries * th_palette_entry_bytes((th_format)format);
            const size_t stride = th_palette_stride((th_format)format, entries);
            cr_assert(stride >= used && stride <= used + 127 && stride % 64 == 0, "%u", entries);
            cr_assert(stride == 0 ? entries == 0 : stride % 4096 != 0, "%u", entries);
        }
}

/* Steps for a batch, joints for each of its members that plays exact: a thousand joints are dearer than one. */
Test(crowd, batches_of_larger_models_cost_more)
{
    random_desc small = variety(1), large = variety(1);
    small.joint_count = 5;
    large.joint_count = 50;
    th_model *models[] = {random_model(&small), random_model(&large)};
    uint32_t costs[2][3];
    for (int s = 0; s < 2; s++) {
        const th_sampling sampling = s ? TH_SAMPLING_EXACT : TH_SAMPLING_COMPILED;
        th_compiled_model *compiled_models[] = {make_compiled(models[0], sampling), make_compiled(models[1], sampling)};
        th_spawn instances[16 + 35]; /* a batch of the first; one, and one that is longer, of the second */
        for (uint32_t i = 0; i < 51; i++)
            instances[i] = (th_spawn){.model = i >= 16, .speed = 1};
        th_crowd *crowd = crowd_of((const th_compiled_model *const *)compiled_models, 2, instances, 51,
                                   (th_crowd_desc){.writes = TH_WRITES_CACHED});
        cr_assert_eq(th_crowd_batch_count(crowd), 3);
        for (uint32_t b = 0; b < 3; b++)
            costs[s][b] = th_crowd_batch_cost(crowd, b);
        th_crowd_destroy(crowd);
        th_compiled_model_destroy(compiled_models[0]);
        th_compiled_model_destroy(compiled_models[1]);
    }
    for (int m = 0; m < 2; m++)
        th_model_destroy(models[m]);
    cr_expect(costs[0][0] > 0 && costs[0][0] < costs[0][1] && costs[1][0] < costs[1][1]);
    cr_expect(costs[0][1] < costs[0][2] && costs[0][2] <= 2 * costs[0][1], "one run more");
    cr_expect_eq(19 * costs[1][1], 16 * costs[1][2]);
    for (int b = 0; b < 3; b++)
        cr_expect_gt(costs[1][b], costs[0][b]);
}

Test(crowd, ten_thousand_humans_take_little_beyond_their_palettes)
{
    crowd_fixture s;
    make_human();
    crowd_fixture_init(&s, human, TH_SAMPLING_COMPILED, 10000, TH_ISA_AUTO);
    size_t bytes = th_crowd_bytes(s.crowd) + th_compiled_model_bytes(s.compiled) + 64 * th_crowd_scratch_bytes(s.crowd);
    cr_assert_lt(bytes, 100u << 20);
    crowd_fixture_fini(&s);
    free_human();
}

/* No CPU has AVX2 without SSE4.1. */
Test(isa, names_and_availability)
{
    const char *names[TH_ISA_COUNT] = {"auto", "scalar", "sse4", "avx2", "avx512", "neon"};
    const th_isa best = th_isa_best();
    for (int isa = 0; isa < TH_ISA_COUNT; isa++)
        cr_expect_str_eq(th_isa_name((th_isa)isa), names[isa]);
    cr_expect_str_eq(th_isa_name(TH_ISA_COUNT), "unknown");
    cr_expect(!th_isa_available(TH_ISA_COUNT));
    cr_expect(th_isa_available(TH_ISA_AUTO) && th_isa_available(TH_ISA_SCALAR));
    cr_expect(th_isa_available(TH_ISA_SSE4) || !th_isa_available(TH_ISA_AVX2));
    cr_expect(best != TH_ISA_AUTO && th_isa_available(best));
    cr_expect_geq(best, th_isa_available(TH_ISA_AVX2) ? TH_ISA_AVX2 : TH_ISA_SCALAR);
}

Test(isa, one_that_is_not_there_is_refused_by_its_name)
{
    random_desc desc = variety(4);
    th_model *model = random_model(&desc);
    const th_compiled_model *compiled = make_compiled(model, TH_SAMPLING_COMPILED);
    for (th_isa isa = TH_ISA_SCALAR; isa < TH_ISA_COUNT; isa++) {
        th_crowd *crowd;
        th_error err = {.text = ""};
        const th_crowd_desc crowd_desc = {.compiled_models = &compiled, .compiled_model_count = 1, .isa = isa};
        const th_result result = th_crowd_create(&crowd_desc, &crowd, &err);
        cr_expect_eq(result, th_isa_available(isa) ? TH_OK : TH_ERR_ENVIRONMENT, "%s", err.text);
        cr_expect(result == TH_OK || strstr(err.text, th_isa_name(isa)), "%s", err.text);
        th_crowd_destroy(crowd);
    }
    th_compiled_model_destroy((th_compiled_model *)compiled);
    th_model_destroy(model);
}

/* ---- palettes of quaternions ---- */

static void expect_refusal(const th_compiled_model *compiled, th_format palette, bool expected, const char *why)
{
    const char *obstacle = th_compiled_model_obstacle(compiled, palette);
    const th_crowd_desc desc = {.compiled_models = &compiled, .compiled_model_count = 1, .format = palette};
    th_crowd *crowd;
    th_error err;
    cr_assert_eq(obstacle != NULL, expected, "%s: %s", th_format_name(palette), obstacle ? obstacle : "no obstacle");
    cr_expect_eq(th_crowd_create(&desc, &crowd, &err), expected ? TH_ERR_INPUT : TH_OK);
    if (obstacle)
        cr_expect(strstr(err.text, obstacle) && strstr(obstacle, why), "%s", err.text);
    th_crowd_destroy(crowd);
}

/* whole, small: what the refusals of QUAT and of QUAT16 say; NULL: none. */
static void expect_obstacle(const random_desc *desc, const char *whole, const char *small)
{
    th_model *model = random_model(desc);
    th_compiled_model *compiled = make_compiled(model, TH_SAMPLING_COMPILED);
    const th_compiled_model *const compiled_models[] = {compiled};
    expect_refusal(compiled, TH_FORMAT_F32, false, NULL);
    expect_refusal(compiled, TH_FORMAT_QUAT, whole, whole);
    expect_refusal(compiled, TH_FORMAT_QUAT16, small, small);
    th_crowd *crowd = crowd_of(compiled_models, 1, NULL, 0, (th_crowd_desc){.format = TH_FORMAT_AUTO});
    cr_expect_eq(th_crowd_format(crowd), whole ? TH_FORMAT_F32 : TH_FORMAT_QUAT);
    th_crowd_destroy(crowd);
    th_compiled_model_destroy(compiled);
    th_model_destroy(model);
}

Test(quaternions, are_refused_where_joints_are_scaled)
{
    random_desc desc = {.seed = 3, .joint_count = 20, .clip_count = 2, .key_count = 5, .swing_rad = 0.3};
    expect_obstacle(&desc, NULL, NULL);
    desc.scale = RANDOM_UNITS;
    expect_obstacle(&desc, NULL, NULL);
    desc.scale = RANDOM_UNIFORM;
    expect_obstacle(&desc, "scaled", "scaled");
    desc.scale = RANDOM_NON_UNIFORM;
    expect_obstacle(&desc, "scaled", "scaled");
}

/* 16 bytes end at twice the model's size. A hand hangs `arm` along x from a root that goes a way. Curves get far from
 * keys that lie near: to 2 in the middle of the spline, to 1.9 between the inner keys of the hill. */
Test(quaternions, of_16_bytes_are_refused_for_what_goes_too_far)
{
    static const double times[] = {0, 1, 2, 3};
    static const float near[] = {0, 0, 0, 1.5F, 0, 0}, far[] = {0, 0, 0, 2, 0, 0}, way[] = {0, 0, 0, 1, 0, 0},
                       still[6] = {0}, tangents[] = {0, 0, 0, 8, 0, 0, -8, 0, 0, 0, 0, 0},
                       hill[] = {0, 0, 0, 1.7F, 0, 0, 1.7F, 0, 0, 0, 0, 0};
    const struct {
        th_track way; /* of the root */
        float arm;
        th_interpolation interpolation;
        bool far;
    } cases[] = {
        {{2, times, near, NULL, false}, 0, TH_INTERPOLATION_AUTHORED, false},
        {{2, times, far, NULL, false}, 0, TH_INTERPOLATION_AUTHORED, true},
        {{2, times, way, NULL, false}, 0.5F, TH_INTERPOLATION_AUTHORED, false},
        {{2, times, way, NULL, false}, 1, TH_INTERPOLATION_AUTHORED, true},
        {{2, times, way, NULL, false}, -1.5F, TH_INTERPOLATION_AUTHORED, false},
        {{2, times, still, tangents, false}, 0, TH_INTERPOLATION_AUTHORED, true},
        {{4, times, hill, NULL, false}, 0, TH_INTERPOLATION_AUTHORED, false},
        {{4, times, hill, NULL, false}, 0, TH_INTERPOLATION_CUBIC, true},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        th_joint joints[] = {root_joint, {"hand", 0, TH_MAT34_IDENTITY, NULL}};
        joints[1].rest.m[3] = cases[n].arm;
        const th_bone bone = {1, TH_MAT34_IDENTITY};
        const th_channel channel = moving_channel(0, cases[n].way);
        const th_clip clip = clip_of(&channel, 1, times[cases[n].way.key_count - 1], 1);
        th_model model = model_of(joints, &bone, 2, &clip);
        model.bone_count = 1;
        th_compiled_model *compiled =
            make_compiled_as(&model, (th_compiled_model_desc){.interpolation = cases[n].interpolation});
        expect_refusal(compiled, TH_FORMAT_QUAT, false, NULL);
        expect_refusal(compiled, TH_FORMAT_QUAT16, cases[n].far, "too far");
        th_compiled_model_destroy(compiled);
    }
}

/* Half a step of 1.7 um along each axis of the place, and next to nothing of the rotation. */
Test(quaternions, of_16_bytes_are_2_um_away_at_most)
{
    crowd_fixture whole, small;
    make_human();
    crowd_fixture_init_with(&whole, human, (th_compiled_model_desc){0}, 200, (th_crowd_desc){.format = TH_FORMAT_QUAT});
    crowd_fixture_init_twin(&small, &whole, (th_crowd_desc){.format = TH_FORMAT_QUAT16});
    for (int k = 0; k < 5; k++) {
        crowd_fixture_update(&whole, 0.37 * k);
        crowd_fixture_update(&small, 0.37 * k);
        cr_expect_leq(crowd_distance(&whole, &small), 2e-6);
    }
    crowd_fixture_fini_twin(&small);
    crowd_fixture_fini(&whole);
    free_human();
}

/* About random axes, through angles at whose half the sign of w changes too. */
Test(quaternions, of_16_bytes_hold_every_rotation)
{
    static const double angles[] = {0, 1e-6, 1, 3.14159, 3.1415926535, 3.1416, 5, 6.28};
    const th_palette_base base = {{0, 0, 0}, th_palette_step(1.8)};
    uint64_t state = 9;
    for (int k = 0; k < 4000; k++) {
        double axis[3], length = 0;
        for (int i = 0; i < 3; i++) {
            axis[i] = random_between(&state, -1, 1);
            length += axis[i] * axis[i];
        }
        th_trs trs = {.scale = {1, 1, 1}};
        for (int i = 0; i < 3; i++)
            trs.rotation[i] = sin(angles[k % 8] / 2) * axis[i] / sqrt(length);
        trs.rotation[3] = cos(angles[k % 8] / 2);
        const th_mat34 matrix = th_mat34_from(th_dmat34_from_trs(&trs));
        float back[12];
        th_quat16 entry;
        th_palette_write(TH_FORMAT_QUAT16, matrix.m, &base, &entry);
        th_palette_read(TH_FORMAT_QUAT16, &entry, &base, back);
        for (int i = 0; i < 12; i++)
            cr_assert_float_eq(back[i], matrix.m[i], 7.5e-6F, "%d: %g for %g", k, (double)back[i], (double)matrix.m[i]);
    }
}

/* One joint is stretched: that is the one to be named. */
Test(quaternions, name_the_joint_that_is_scaled)
{
    const th_joint joints[] = {root_joint,
                               {"wide", 0, {{2, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0}}, NULL},
                               {"tip", 0, {{1, 0, 0, 0, 0, 1, 0, 2, 0, 0, 1, 0}}, NULL}};
    const th_bone bones[] = {{0, TH_MAT34_IDENTITY}, {1, TH_MAT34_IDENTITY}, {2, TH_MAT34_IDENTITY}};
    const th_model model = model_of(joints, bones, 3, NULL);
    th_compiled_model *compiled = make_compiled(&model, TH_SAMPLING_COMPILED);
    cr_expect_str_eq(th_compiled_model_obstacle(compiled, TH_FORMAT_QUAT), "joint wide is scaled, sheared or mirrored");
    th_compiled_model_destroy(compiled);
}
