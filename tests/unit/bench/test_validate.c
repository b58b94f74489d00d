/* What a check allows palettes: all that rounding explains, and not much more. And frames that take
 * less time than writing their palettes. */
#include "random_model.h"

#include <bench/validate.h>
#include <core/cache_line.h>
#include <runtime/frame.h>

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

enum { COUNT = 24 };

static const double TIME_S = 0.7;

static random_desc plain(uint64_t seed)
{
    return (random_desc){.seed = seed, .joint_count = 30, .clip_count = 2, .key_count = 10, .swing_rad = 0.2};
}

/* ---- models in other units ---- */

static void scale_translations(const th_model *model, float factor)
{
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t i = 0; i < model->clips[c].channel_count; i++) {
            const th_track *track = &model->clips[c].channels[i].translation;
            for (uint32_t k = 0; k < 3 * track->key_count; k++)
                ((float *)track->values)[k] *= factor;
        }
}

/* The scene and the mesh, both in units that are smaller by this factor. */
static void scale_model(th_model *model, float factor)
{
    for (int row = 3; row < 12; row += 4) {
        for (uint32_t j = 0; j < model->joint_count; j++)
            ((th_joint *)model->joints)[j].rest.m[row] *= factor;
        for (uint32_t b = 0; b < model->bone_count; b++)
            ((th_bone *)model->bones)[b].inverse_bind.m[row] *= factor;
    }
    scale_translations(model, factor);
}

/* The mesh alone. */
static void scale_mesh(th_model *model, float factor)
{
    for (uint32_t b = 0; b < model->bone_count; b++)
        for (int i = 0; i < 12; i++)
            if (i % 4 < 3)
                ((th_bone *)model->bones)[b].inverse_bind.m[i] /= factor;
}

/* Everything upwards. */
static void stretch_root(th_model *model, float factor)
{
    for (int i = 4; i < 8; i++)
        ((th_joint *)model->joints)[0].rest.m[i] *= factor;
    model->clip_count = 0;
}

/* As files hide parts. */
static void flatten_a_joint(th_model *model, float factor)
{
    th_joint *joint = (th_joint *)&model->joints[model->joint_count / 2];
    for (int i = 0; i < 12; i++)
        if (i % 4 < 3)
            joint->rest.m[i] *= factor;
    model->clip_count = 0;
}

/* ---- checking ---- */

/* Of palettes of one moment, held against another. spoil: added to the height of the first entry of the last character.
 * Destroys the scene. */
static double excess_in(th_scene *scene, double posed_s, double held_against_s, double spoil, bool plays_keys)
{
    th_crowd *crowd;
    th_validation check = {0};
    cr_assert_eq(th_scene_crowd(scene, TH_ISA_AUTO, TH_FORMAT_F32, &crowd, NULL), TH_OK);
    char *palette = th_cache_line_alloc(th_crowd_palette_bytes(crowd));
    void *scratch = th_cache_line_alloc(th_crowd_scratch_bytes(crowd));
    th_crowd_pose(crowd, 0, th_crowd_batch_count(crowd), posed_s, palette, scratch);
    float entry[12];
    char *first = palette + th_crowd_palette_offset(crowd, scene->instance_count - 1);
    th_palette_read(TH_FORMAT_F32, first, NULL, entry);
    entry[7] += (float)spoil;
    th_palette_write(TH_FORMAT_F32, entry, NULL, first);
    const th_validation_desc how = {.scene = scene,
                                    .crowd = crowd,
                                    .palette = palette,
                                    .time_s = held_against_s,
                                    .sample = COUNT,
                                    .plays_keys = plays_keys};
    cr_assert_eq(th_validate_palettes(&how, &check, NULL), TH_OK);
    free(palette);
    free(scratch);
    th_crowd_destroy(crowd);
    th_scene_destroy(scene);
    return check.excess;
}

/* spoil: as a part of the model's size. */
static double excess_of(const th_model *model, double spoil)
{
    th_scene *scene;
    const th_scene_desc desc = {.models = &model, .model_count = 1, .instance_count = COUNT, .seed = 1};
    cr_assert_eq(th_scene_create(&desc, &scene, NULL), TH_OK);
    return excess_in(scene, TIME_S, TIME_S, spoil * model->size, false);
}

static void check_changed(void (*change)(th_model *, float), float factor, random_desc desc)
{
    th_model *model = random_model(&desc);
    change(model, factor);
    model->size = th_model_measure(model);
    const double excess = excess_of(model, 0);
    cr_expect_leq(excess, 1, "factor %g: %g of what is allowed", (double)factor, excess);
    th_model_destroy(model);
}

Test(validate, rounding_is_no_failure_in_any_units)
{
    for (float factor = 1e-7F; factor < 2e3F; factor *= 10)
        check_changed(scale_model, factor, plain(5));
    for (float factor = 1e-3F; factor < 2e6F; factor *= 100)
        check_changed(scale_mesh, factor, plain(5));
    for (float factor = 3; factor < 2000; factor *= 4)
        check_changed(stretch_root, factor, plain(5));
    check_changed(flatten_a_joint, 0, plain(5));
    for (uint64_t seed = 0; seed < 5; seed++) {
        random_desc desc = plain(seed);
        desc.scale = RANDOM_NON_UNIFORM;
        check_changed(scale_model, 1, desc);
    }
}

Test(validate, what_is_further_off_fails)
{
    random_desc desc = plain(5);
    th_model *model = random_model(&desc);
    cr_expect_gt(excess_of(model, 0.003), 1);
    cr_expect_leq(excess_of(model, 0), 1);
    th_model_destroy(model);
}

/* Of a crowd that was compiled from keys, and whose clips then got curves that lead elsewhere. */
static double excess_of_keys(bool plays_keys)
{
    static const th_transform_curves still = {.numbers = {[6] = 1, [7] = 1, [8] = 1},
                                              .before = {[3] = 1},
                                              .after = {[3] = 1},
                                              .frame = {.rotation = {[3] = 1}, .scale = {1, 1, 1}}};
    random_desc desc = plain(5);
    th_model *model = random_model(&desc);
    th_scene *scene;
    const th_scene_desc crowd = {
        .models = (const th_model *const *)&model, .model_count = 1, .instance_count = COUNT, .seed = 1};
    cr_assert_eq(th_scene_create(&crowd, &scene, NULL), TH_OK);
    for (uint32_t c = 0; c < model->clip_count; c++)
        ((th_channel *)model->clips[c].channels)[0].curves = &still;
    const double excess = excess_in(scene, TIME_S, TIME_S, 0, plays_keys);
    th_model_destroy(model);
    return excess;
}

Test(validate, keys_of_curves_are_right_only_where_they_are_played)
{
    cr_expect_leq(excess_of_keys(true), 1);
    cr_expect_gt(excess_of_keys(false), 1);
}

/* Posed at one moment and held against another, both in parts of the third key's time. */
static double excess_between(double posed, double held_against)
{
    random_desc desc = plain(5);
    desc.steps = 1;
    th_model *model = random_model(&desc);
    const th_clip *clip = &model->clips[0];
    const double key_s = clip->channels[0].rotation.times[2] / clip->ticks_per_second;
    th_scene *scene;
    const th_scene_desc one = {.models = (const th_model *const *)&model, .model_count = 1, .instance_count = 1};
    cr_assert_eq(th_scene_create(&one, &scene, NULL), TH_OK);
    scene->instances[0] = (th_spawn){.clip = 0, .speed = 1};
    cr_assert(th_compiled_model_clip_report(scene->compiled_models[0], 0)->compiled);
    const double excess = excess_in(scene, key_s * posed, key_s * held_against, 0, false);
    th_model_destroy(model);
    return excess;
}

/* Either side of a jump is right within rounding of it, and no further. */
Test(validate, a_jump_may_be_missed_by_rounding)
{
    const double rounding = 0x1p-24;
    cr_expect_leq(excess_between(1 - rounding, 1 - rounding), 1);
    cr_expect_leq(excess_between(1 + rounding, 1 - rounding), 1);
    cr_expect_leq(excess_between(0.999, 1 + rounding), 1);
    cr_expect_gt(excess_between(1.001, 1 - 64 * rounding), 1);
    cr_expect_gt(excess_between(0.999, 1 + 64 * rounding), 1);
}

/* The last one is left over by batches of 16, or the only one who rests. */
Test(validate, of_each_kind_somebody_is_checked)
{
    enum { CROWD = 16 * 50 + 1 };
    const random_desc random = plain(5);
    th_model *model = random_model(&random);
    for (uint32_t rests = 0; rests < 2; rests++) {
        const th_scene_desc desc = {
            .models = (const th_model *const *)&model, .model_count = 1, .instance_count = CROWD - rests, .seed = 1};
        th_scene *scene;
        cr_assert_eq(th_scene_create(&desc, &scene, NULL), TH_OK);
        scene->instances[CROWD - 1 - rests].clip = rests ? TH_NO_INDEX : 0;
        cr_expect_gt(excess_in(scene, TIME_S, TIME_S, 0.1 * model->size, false), 1, "%u", rests);
    }
    th_model_destroy(model);
}

/* ---- the floor ---- */

/* A row of frames that take this long, of a crowd that is in cache, on some threads. */
static th_row judge_floor(double ns, uint32_t threads, const char *failure)
{
    th_model *model = random_model(&(random_desc){.joint_count = 30, .clip_count = 1, .key_count = 4});
    th_scene *scene;
    th_crowd *crowd;
    void *palette;
    th_error err;
    const th_scene_desc desc = {.models = (const th_model *const[]){model}, .model_count = 1, .instance_count = 64};
    cr_assert_eq(th_scene_create(&desc, &scene, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_scene_crowd(scene, TH_ISA_SCALAR, TH_FORMAT_F32, &crowd, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_palettes_create(crowd, &palette, &err), TH_OK, "%s", err.text);
    th_crowd_set_writes(crowd, TH_WRITES_STREAMED);
    th_row row = {.threads = threads};
    snprintf(row.failure, sizeof row.failure, "%s", failure);
    cr_assert(th_samples_init(&row.real_ns, 20));
    for (int i = 0; i < 20; i++)
        th_samples_add(&row.real_ns, ns * (1 + i * 1e-3));
    th_validate_floor(crowd, palette, &row);
    cr_expect_eq(th_crowd_writes(crowd), TH_WRITES_STREAMED);
    th_samples_fini(&row.real_ns);
    th_palettes_destroy(palette);
    th_crowd_destroy(crowd);
    th_scene_destroy(scene);
    th_model_destroy(model);
    return row;
}

/* 92 kB in 10 ns would be 9 TB/s; in 10 ms they are 9 MB/s. */
Test(validate, frames_faster_than_their_bytes_are_written_fail)
{
    cr_expect(strstr(judge_floor(10, 1, "").failure, "a frame takes 0.01"), "%s", judge_floor(10, 1, "").failure);
    cr_expect(strstr(judge_floor(10, 8, "").failure, "cannot have posed"));
    cr_expect_str_empty(judge_floor(1e7, 1, "").failure);
    cr_expect_str_eq(judge_floor(10, 1, "wrong already").failure, "wrong already");
}
