/* Models made to order: what was asked for is what there is; and the words that ask. */
#include "fixture_document.h"
#include "fixture_memory.h"

#include <anim/archive.h>
#include <anim/compiled_model.h>
#include <anim/synthetic_text.h>
#include <core/random.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- helpers ---- */

static th_error error;

static th_model *make(const char *words)
{
    char text[256];
    th_synthetic_desc desc;
    th_model *model = NULL;
    snprintf(text, sizeof text, TH_SYNTHETIC_NAME "%s%s", *words ? ":" : "", words);
    cr_assert_eq(th_synthetic_parse(text, &desc, &error), TH_OK, "%s", error.text);
    cr_assert_eq(th_synthetic_create(&desc, &model, &error), TH_OK, "%s", error.text);
    cr_assert_str_eq(model->name, text);
    return model;
}

static uint32_t depth_of(const th_model *model)
{
    uint32_t level[TH_SYNTHETIC_MAX_JOINTS], deepest = 0;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const uint32_t parent = model->joints[j].parent;
        level[j] = parent == TH_NO_INDEX ? 1 : level[parent] + 1;
        deepest = level[j] > deepest ? level[j] : deepest;
    }
    return deepest;
}

/* Of all that it has. */
static uint64_t hash_of(const th_model *model)
{
    size_t size;
    uint8_t *bytes = th_archive_write(model, &size);
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = TH_ARCHIVE_HEAD_BYTES; i < size; i++) /* FNV-1a */
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    free(bytes);
    return hash;
}

/* ---- skeletons ---- */

static void expect_skeleton(const char *words, uint32_t joints, uint32_t depth)
{
    th_model *model = make(words);
    cr_expect_eq(model->joint_count, joints, "%s", words);
    cr_expect_eq(depth_of(model), depth, "%s: %u deep", words, depth_of(model));
    cr_expect_eq(model->bone_count, joints, "%s", words);
    for (uint32_t j = 0; j < joints; j++)
        cr_expect(j == 0 ? model->joints[j].parent == TH_NO_INDEX : model->joints[j].parent < j, "%s: %u", words, j);
    th_model_destroy(model);
}

Test(synthetic, has_the_joints_and_the_depth_asked_for)
{
    static const uint32_t counts[] = {1, 2, 3, 8, 64, 333, 1000};
    char words[128];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint32_t n = counts[i];
        snprintf(words, sizeof words, "joints=%u", n);
        expect_skeleton(words, n, n < 12 ? n : 12);
        snprintf(words, sizeof words, "joints=%u,shape=chain", n);
        expect_skeleton(words, n, n);
        snprintf(words, sizeof words, "joints=%u,shape=star", n);
        expect_skeleton(words, n, n < 2 ? n : 2);
    }
    for (uint32_t seed = 0; seed < 20; seed++)
        for (uint32_t depth = 2; depth <= 40; depth++) {
            snprintf(words, sizeof words, "joints=40,depth=%u,seed=%u,keys=3,mesh=off", depth, seed);
            expect_skeleton(words, 40, depth);
        }
    expect_skeleton("joints=1000,depth=2", 1000, 2);
    expect_skeleton("joints=1000,depth=3", 1000, 3);
    expect_skeleton("joints=1000,depth=999", 1000, 999);
}

static uint32_t leaves_of(const th_model *model)
{
    uint32_t leaves = 0;
    for (uint32_t j = 0; j < model->joint_count; j++) /* depth first: a joint's first child is the next joint */
        leaves += j + 1 == model->joint_count || model->joints[j + 1].parent != j;
    return leaves;
}

/* The embedded human has 52 joints, 11 deep, and 13 ends: fingers, toes and a head. */
Test(synthetic, tree_branches_about_as_a_body_does)
{
    uint32_t ends = 0;
    for (uint32_t seed = 0; seed < 50; seed++) {
        char words[64];
        snprintf(words, sizeof words, "joints=52,depth=11,seed=%u", seed);
        th_model *model = make(words);
        cr_expect(leaves_of(model) >= 5 && leaves_of(model) <= 32, "%s: %u ends", words, leaves_of(model));
        ends += leaves_of(model);
        th_model_destroy(model);
    }
    cr_expect(ends > 50 * 10 && ends < 50 * 20, "%g ends on average", ends / 50.0);
}

Test(synthetic, stands_on_the_ground_and_is_of_human_size)
{
    static const char *const words[] = {
        "", "shape=chain,joints=1000", "shape=star,joints=200", "joints=1000", "joints=300,depth=2", "joints=1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        th_model *model = make(words[i]);
        float lowest = HUGE_VALF, highest = -HUGE_VALF;
        for (uint32_t v = 0; v < model->meshes[0].vertex_count; v++) {
            lowest = fminf(lowest, model->meshes[0].vertices[v].position[1]);
            highest = fmaxf(highest, model->meshes[0].vertices[v].position[1]);
        }
        cr_expect(fabsf(lowest) < 0.1F, "%s: %g", words[i], (double)lowest);
        cr_expect(highest > 1.6F && highest < 2.5F, "%s: %g", words[i], (double)highest);
        th_model_destroy(model);
    }
}

/* ---- meshes ---- */

static void expect_outward(const th_mesh *mesh, uint32_t triangle, const char *words)
{
    const th_vertex *v[3];
    double side[2][3], facing[3], normal[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        v[k] = &mesh->vertices[mesh->indices[3 * triangle + (uint32_t)k]];
    for (int i = 0; i < 3; i++) {
        side[0][i] = (double)v[1]->position[i] - (double)v[0]->position[i];
        side[1][i] = (double)v[2]->position[i] - (double)v[0]->position[i];
        for (int k = 0; k < 3; k++)
            normal[i] += (double)v[k]->normal[i];
    }
    for (int i = 0; i < 3; i++)
        facing[i] = side[0][(i + 1) % 3] * side[1][(i + 2) % 3] - side[0][(i + 2) % 3] * side[1][(i + 1) % 3];
    cr_expect(facing[0] * normal[0] + facing[1] * normal[1] + facing[2] * normal[2] > 0, "%s: triangle %u", words,
              triangle);
}

Test(synthetic, mesh_is_closed_and_looks_outward)
{
    static const char *const words[] = {"", "shape=chain", "shape=star"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        th_model *model = make(words[i]);
        const th_mesh *mesh = &model->meshes[0];
        const uint32_t corners = mesh->vertex_count;
        int8_t *edges = calloc((size_t)corners * corners, 1); /* each of them once there and once back */
        for (uint32_t t = 0; t < mesh->index_count / 3; t++) {
            expect_outward(mesh, t, words[i]);
            for (uint32_t k = 0; k < 3; k++) {
                const uint32_t a = mesh->indices[3 * t + k], b = mesh->indices[3 * t + (k + 1) % 3];
                edges[a * corners + b]++;
                edges[b * corners + a]--;
            }
        }
        for (size_t e = 0; e < (size_t)corners * corners; e++)
            cr_assert_eq(edges[e], 0, "%s", words[i]);
        free(edges);
        th_model_destroy(model);
    }
    th_model *bare = make("mesh=off");
    cr_expect_eq(bare->mesh_count, 0);
    cr_expect_eq(bare->bone_count, 64);
    th_model_destroy(bare);
}

/* ---- clips ---- */

static void expect_loop(const th_track *track, uint32_t width, uint32_t keys, const char *words)
{
    cr_assert_eq(track->key_count, keys, "%s", words);
    for (uint32_t k = 0; k < keys; k++)
        cr_assert_eq(track->times[k], k, "%s", words);
    cr_expect_arr_eq(track->values, track->values + (size_t)(keys - 1) * width, width * sizeof *track->values, "%s",
                     words);
    cr_expect_neq(memcmp(track->values, track->values + width, width * sizeof *track->values), 0, "%s: stands still",
                  words);
}

static void expect_still(const th_track *track, const char *words)
{
    cr_expect_eq(track->key_count, 1, "%s", words);
    cr_expect_eq(track->times[0], 0, "%s", words);
}

Test(synthetic, clips_are_loops_of_the_keys_asked_for)
{
    static const uint32_t counts[] = {3, 4, 13, 60, 1000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int scale = 0; scale < 2; scale++) {
            char words[128];
            snprintf(words, sizeof words, "joints=20,clips=3,rate=24,keys=%u,scale=%s", counts[i],
                     scale ? "on" : "off");
            th_model *model = make(words);
            cr_assert_eq(model->clip_count, 3);
            for (uint32_t c = 0; c < 3; c++) {
                const th_clip *clip = &model->clips[c];
                cr_expect_eq(clip->duration_ticks, counts[i] - 1);
                cr_expect_eq(clip->ticks_per_second, 24);
                cr_assert_eq(clip->channel_count, 20);
                for (uint32_t j = 0; j < 20; j++) {
                    const th_channel *channel = &clip->channels[j];
                    expect_loop(&channel->rotation, 4, counts[i], words);
                    (scale ? expect_loop(&channel->scale, 3, counts[i], words) : expect_still(&channel->scale, words));
                    (j == 0 ? expect_loop(&channel->translation, 3, counts[i], words)
                            : expect_still(&channel->translation, words));
                    const uint32_t filled = (j == 0 ? 0 : TH_TRANSLATION) | (scale ? 0 : TH_SCALE);
                    cr_expect_eq(channel->filled, filled, "%s", words);
                }
            }
            th_model_destroy(model);
        }
}

/* A second has at most one cycle of the wave and its ripple; 0.05 turns of them are at most 40 degrees a second. */
Test(synthetic, motion_is_smooth)
{
    static const char *const words[] = {"", "shape=chain,keys=300", "shape=star,clips=5", "joints=5,rate=120,keys=900"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        th_model *model = make(words[i]);
        for (uint32_t c = 0; c < model->clip_count; c++)
            for (uint32_t j = 0; j < model->clips[c].channel_count; j++) {
                const th_track *track = &model->clips[c].channels[j].rotation;
                double fastest = 0;
                for (uint32_t k = 1; k < track->key_count; k++) {
                    double chord = 0;
                    for (int n = 0; n < 4; n++) {
                        double by = (double)track->values[4 * k + (uint32_t)n] -
                                    (double)track->values[4 * (k - 1) + (uint32_t)n];
                        chord += by * by;
                    }
                    fastest = fmax(fastest, 2 * sqrt(chord) * model->clips[c].ticks_per_second);
                }
                cr_expect(fastest < 1.9 && fastest > 0.001, "%s: joint %u, %g rad/s", words[i], j, fastest);
            }
        th_model_destroy(model);
    }
}

/* The hardest come first: rounding adds up along a chain, and most of all where sizes multiply. */
Test(synthetic, all_clips_compile_within_the_bound)
{
    static const char *const words[] = {"shape=chain,joints=1000,scale=on",
                                        "shape=chain,joints=1000",
                                        "shape=star,joints=1000",
                                        "joints=1000,depth=500,scale=on",
                                        "keys=3",
                                        "rate=1",
                                        "rate=240,keys=500",
                                        "clips=8,keys=30",
                                        "moving=0",
                                        "joints=1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        th_model *model = make(words[i]);
        th_compiled_model *compiled = NULL;
        cr_assert_eq(th_compiled_model_create(&(th_compiled_model_desc){.model = model}, &compiled, &error), TH_OK,
                     "%s", error.text);
        for (uint32_t c = 0; c < model->clip_count; c++) {
            const th_clip_report *report = th_compiled_model_clip_report(compiled, c);
            cr_expect(report->compiled && report->max_error <= th_compiled_model_bound(compiled), "%s: %s", words[i],
                      report->reason);
            cr_expect(report->rate_hz <= 2 * model->clips[c].ticks_per_second, "%s: %g Hz", words[i], report->rate_hz);
        }
        th_compiled_model_destroy(compiled);
        th_model_destroy(model);
    }
}

/* ---- limits ---- */

static void expect_too_much(th_synthetic_desc desc)
{
    th_model *model = (th_model *)&error; /* must be overwritten */
    cr_expect_eq(th_synthetic_create(&desc, &model, &error), TH_ERR_LIMIT);
    cr_expect_eq(model, NULL);
}

Test(synthetic, what_is_beyond_the_limits_is_not_made)
{
    const th_synthetic_desc usual = TH_SYNTHETIC_DEFAULT;
    th_synthetic_desc d;
    expect_too_much((d = usual, d.shape = TH_SYNTHETIC_SHAPE_COUNT, d));
    expect_too_much((d = usual, d.joints = 0, d));
    expect_too_much((d = usual, d.joints = TH_SYNTHETIC_MAX_JOINTS + 1, d));
    expect_too_much((d = usual, d.depth = 65, d));
    expect_too_much((d = usual, d.depth = 1, d));
    expect_too_much((d = usual, d.shape = TH_SYNTHETIC_STAR, d.depth = 2, d));
    expect_too_much((d = usual, d.clips = 0, d));
    expect_too_much((d = usual, d.clips = TH_SYNTHETIC_MAX_CLIPS + 1, d));
    expect_too_much((d = usual, d.keys = TH_SYNTHETIC_MIN_KEYS - 1, d));
    expect_too_much((d = usual, d.joints = 1, d.keys = TH_SYNTHETIC_MAX_KEYS + 1, d));
    expect_too_much((d = usual, d.keys = TH_SYNTHETIC_MAX_WORK / 64 + 1, d));
    expect_too_much((d = usual, d.rate = 0, d));
    expect_too_much((d = usual, d.rate = TH_SYNTHETIC_MAX_RATE + 1, d));
    expect_too_much((d = usual, d.moving = 101, d));
}

Test(synthetic, survives_running_out_of_memory)
{
    th_synthetic_desc desc = TH_SYNTHETIC_DEFAULT;
    desc.joints = 40;
    desc.keys = 1500; /* so that arrays are too large to share a block of the arena */
    th_result result = TH_ERR_MEMORY;
    long n = 0;
    for (; result != TH_OK && n < 5000; n++) {
        th_model *model = (th_model *)&error; /* must be overwritten */
        allocations_left = n;
        result = th_synthetic_create(&desc, &model, &error);
        allocations_left = -1;
        cr_assert(result == TH_OK || (result == TH_ERR_MEMORY && !model), "%ld: %d", n, (int)result);
        if (result == TH_OK)
            th_model_destroy(model);
        else
            cr_assert_eq(error.code, TH_ERR_MEMORY, "%ld", n);
    }
    cr_expect(n > 20 && n < 5000, "%ld allocations", n);
}

/* ---- weights ---- */

Test(synthetic, weights_move_vertices_and_are_moved)
{
    th_model *model;
    th_synthetic_desc desc = TH_SYNTHETIC_DEFAULT;
    desc.weights = 17;
    cr_assert_eq(th_synthetic_create(&desc, &model, &error), TH_OK, "%s", error.text);
    cr_assert_eq(model->weight_count, 17);
    cr_assert_eq(model->meshes[0].target_count, 17);
    cr_assert_eq(model->clips[0].weight_track_count, 17);
    for (uint32_t w = 0; w < 17; w++) {
        const th_track *track = &model->clips[0].weight_tracks[w].track;
        float least = 1, most = 0;
        for (uint32_t k = 0; k < track->key_count; k++) {
            least = fminf(least, track->values[k]);
            most = fmaxf(most, track->values[k]);
        }
        cr_expect(least >= 0 && most <= 1 && most - least > 0.5f, "weight %u: %g to %g", w, (double)least,
                  (double)most);
        cr_expect_eq(track->values[0], track->values[track->key_count - 1]);
        cr_expect_gt(model->meshes[0].targets[w].delta_count, 0);
    }
    th_model_destroy(model);
}

/* ---- words ---- */

Test(synthetic, is_named_by_its_first_word)
{
    cr_expect(th_synthetic_named("synthetic") && th_synthetic_named("synthetic:"));
    cr_expect(!th_synthetic_named("synthetic.glb") && !th_synthetic_named("./synthetic") && !th_synthetic_named("s"));
}

Test(synthetic, words_that_are_too_long_are_refused)
{
    th_synthetic_desc desc;
    char text[600] = "synthetic:joints=";
    memset(text + strlen(text), '1', sizeof text - strlen(text) - 1);
    cr_expect_neq(th_synthetic_parse(text, &desc, &error), TH_OK);
    cr_expect_str_eq(error.text, "synthetic: KEY=VALUE,... longer than 511 letters");
}

/* What words ask for, and what is made of them. */
static void print_words(FILE *out, const char *text)
{
    static const char *const shapes[] = {"tree", "chain", "star"};
    th_synthetic_desc d;
    th_model *model;
    fprintf(out, "%s\n", text);
    if (th_synthetic_parse(text, &d, &error) != TH_OK) {
        fprintf(out, "    refused: %s\n", error.text);
        return;
    }
    cr_assert_eq(th_synthetic_create(&d, &model, &error), TH_OK, "%s", error.text);
    cr_expect_str_eq(model->name, text);
    const th_clip *clip = model->clips;
    fprintf(
        out,
        "    asked for: %s, joints %u, depth %u, clips %u, keys %u, rate %u, moving %u%s%s, weights %u, seed %llu\n",
        shapes[d.shape], d.joints, d.depth, d.clips, d.keys, d.rate, d.moving, d.moving_scale ? ", scale on" : "",
        d.no_mesh ? ", mesh off" : "", d.weights, (unsigned long long)d.seed);
    fprintf(out, "    made: joints %u, depth %u, bones %u, clips %u of %g s at %g Hz, moving joints %u, vertices %u\n",
            model->joint_count, depth_of(model), model->bone_count, model->clip_count,
            clip->duration_ticks / clip->ticks_per_second, clip->ticks_per_second, clip->channel_count,
            model->mesh_count > 0 ? model->meshes[0].vertex_count : 0);
    fprintf(out, "    hash %016llx\n", (unsigned long long)hash_of(model));
    th_model_destroy(model);
}

/* The same bytes on every machine, as seen with gcc 12 and clang 14, at -O1 to -O3. They change only when models are to
 * look different. */
static void print_words_and_models(FILE *out)
{
    static const char *const words[] = {
        "",
        ":seed=1",
        ":seed=2",
        ":seed=18446744073709551615",
        ":shape=star,seed=1",
        ":shape=star,seed=2",
        ":shape=chain,joints=300,scale=on",
        ":shape=star,joints=100,clips=3",
        ":joints=20,clips=2,weights=9",
        ":joints=1000,depth=20,seed=7,moving=60",
        (":shape=star,joints=1000,clips=2,keys=7,rate=240,moving=0,scale=on,mesh=off,weights=9,seed="
         "18446744073709551615"),

        ":depth=1,joints=1,scale=off,mesh=on,shape=tree",
        ":depth=64",
        ":joints=10,moving=30",
        ":joints=1000,moving=1",
        ":joints=333,moving=50",
        ":",
        ":joints=8,",
        ":joints",
        ":joint=8",
        ":x=8",
        ":joints=0",
        ":joints=1001",
        ":joints= 8",
        ":keys=2",
        ":clips=65",
        ":rate=0",
        ":moving=101",
        ":shape=cube",
        ":shape=tre",
        ":mesh=1",
        ":seed=18446744073709551616",
        ":keys=9,keys=9",
        ":depth=9,joints=8",
        ":depth=1",
        ":depth=8,shape=chain,joints=8",
        ":shape=star,depth=3",
        ":joints=1000,clips=2,keys=1001",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[256];
        snprintf(text, sizeof text, TH_SYNTHETIC_NAME "%s", words[i]);
        print_words(out, text);
    }
}

Test(synthetic, words_and_models_are_those_that_are_stored)
{
    check_documents("synthetic", &(golden_document){"words.txt", print_words_and_models}, 1);
}

/* Whatever is taken can be made. */
Test(synthetic, any_words_are_either_refused_or_made)
{
    static const char letters[] = "synthetic:joints=depth=keys=,,,==0123456789shape=tree,chain,star,-+ %\xff";
    static const char *const seeds[] = {"synthetic:joints=9,depth=3,keys=5", "synthetic:shape=chain,joints=12,clips=2",
                                        "synthetic:shape=star,moving=30,scale=on", "synthetic:seed=5,rate=60,mesh=off"};
    uint32_t taken = 0, refused = 0;
    for (uint64_t n = 0; n < 20000; n++) {
        char text[128];
        snprintf(text, sizeof text, "%s", seeds[n % 4]);
        const size_t length = strlen(text), first = strlen("synthetic:");
        for (uint64_t edit = 0; edit <= n % 3; edit++) {
            const uint64_t bits = th_random_bits(n, edit);
            text[first + (bits >> 8) % (length - first)] = letters[(bits >> 40) % sizeof letters]; /* may end it */
        }
        th_synthetic_desc desc;
        th_model *model;
        error.text[0] = '\0';
        if (th_synthetic_parse(text, &desc, &error) != TH_OK) {
            cr_assert(error.text[0] != '\0', "%s", text);
            refused++;
        } else if (++taken % 4 == 0) {
            cr_assert_eq(th_synthetic_create(&desc, &model, &error), TH_OK, "%s: %s", text, error.text);
            cr_assert(model->joint_count == desc.joints && depth_of(model) == th_synthetic_depth(&desc), "%s", text);
            th_model_destroy(model);
        }
    }
    cr_expect(taken > 300 && refused > 1000, "%u taken, %u refused", taken, refused);
}
