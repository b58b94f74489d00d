/* Inside, since cursors are no public data. What becomes of curves in models, in archives and when they are compiled:
 * test_curves has their values. */
#include "anim/exact_cursor.h"
#include "fixture_crowd.h"
#include "fixture_curves.h"
#include "fixture_human.h"

#include <anim/archive.h>
#include <anim/exact.h>
#include <throng/throng.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(curve_clips, .init = begin_curves, .fini = end_curves);

/* ---- a model ---- */

enum { JOINTS = 3, KEYS = 41 };

typedef struct sample {
    th_joint joints[JOINTS];
    th_bone bones[JOINTS];
    th_weight weight;
    th_channel channels[JOINTS];
    th_weight_track weight_track;
    th_clip clip;
    th_model model;
} sample;

/* Tracks with the pose at times in between; which, does not matter here. */
static void add_tracks(th_channel *channel, double duration, uint32_t count)
{
    double *times = th_arena_new(curve_arena, double, count);
    float *translations = th_arena_new(curve_arena, float, 3 * count),
          *rotations = th_arena_new(curve_arena, float, 4 * count),
          *scales = th_arena_new(curve_arena, float, 3 * count);
    for (uint32_t k = 0; k < count; k++) {
        th_trs trs;
        times[k] = duration * k / (count - 1);
        th_transform_curves_at(channel->curves, times[k], &trs);
        double dot = 0;
        for (uint32_t i = 0; i < 4; i++)
            dot += k > 0 ? trs.rotation[i] * (double)rotations[4 * k - 4 + i] : 0;
        for (uint32_t i = 0; i < 4; i++)
            rotations[4 * k + i] = (float)(dot < 0 ? -trs.rotation[i] : trs.rotation[i]);
        for (uint32_t i = 0; i < 3; i++) {
            translations[3 * k + i] = (float)trs.translation[i];
            scales[3 * k + i] = (float)trs.scale[i];
        }
    }
    channel->translation = (th_track){count, times, translations, NULL, false};
    channel->rotation = (th_track){count, times, rotations, NULL, false};
    channel->scale = (th_track){count, times, scales, NULL, false};
}

/* A chain; the last two inherit scales, one from the other. The middle one's translation is filled. */
static sample *make_sample(void)
{
    static const char *const names[] = {"hip", "knee", "foot"};
    static const float places[] = {-1, 0, 1};
    sample *s = th_arena_new(curve_arena, sample, 1);
    th_transform_curves *curves[JOINTS];
    for (uint32_t j = 0; j < JOINTS; j++) {
        curves[j] = random_curves();
        s->channels[j] = (th_channel){.joint = j, .curves = curves[j]};
        s->joints[j] = (th_joint){names[j], j - 1, TH_MAT34_IDENTITY, NULL};
        s->bones[j] = (th_bone){j, TH_MAT34_IDENTITY};
    }
    curves[1]->part = TH_CURVE_UNSCALED;
    curves[1]->scale_from = curves[0];
    curves[2]->scale_from = curves[2]->scaled_by = curves[1];
    for (uint32_t j = 0; j < JOINTS; j++)
        add_tracks(&s->channels[j], 9, KEYS);
    s->channels[1].filled = TH_TRANSLATION;
    s->channels[1].translation.key_count = 1;
    th_weight_curves *weight = th_arena_new(curve_arena, th_weight_curves, 1);
    th_curve_layer *layer = th_arena_new(curve_arena, th_curve_layer, 1);
    th_curve *curve = th_arena_new(curve_arena, th_curve, 1);
    *curve = random_curve(5, 1);
    *layer = (th_curve_layer){.weight = random_curve(3, 1), .curves = curve};
    *weight = (th_weight_curves){0.5F, 3, 2, places, 1, layer};
    s->weight = (th_weight){"smile", 2, 0};
    s->weight_track = (th_weight_track){0, {1, &no_time, places, NULL, false}, weight};
    s->clip = clip_of(s->channels, JOINTS, 9, 3);
    s->clip.weight_tracks = &s->weight_track;
    s->clip.weight_track_count = 1;
    s->model = model_of(s->joints, s->bones, JOINTS, &s->clip);
    s->model.weights = &s->weight;
    s->model.weight_count = 1;
    th_error err;
    cr_assert_eq(th_model_check(&s->model, &err), TH_OK, "%s", err.text);
    return s;
}

/* Bit for bit. */
static void expect_same_motion(const th_clip *got, const th_clip *want)
{
    cr_assert_eq(got->channel_count, want->channel_count);
    for (double ticks = -1; ticks < 10; ticks += 0.37) {
        for (uint32_t c = 0; c < want->channel_count; c++) {
            th_trs a, b;
            th_exact_channel(&got->channels[c], ticks, TH_INTERPOLATION_AUTHORED, &a);
            th_exact_channel(&want->channels[c], ticks, TH_INTERPOLATION_AUTHORED, &b);
            cr_assert_arr_eq(&a, &b, sizeof a, "channel %u at %g", c, ticks);
        }
        cr_assert_eq(th_exact_weight(got->weight_tracks, ticks, TH_INTERPOLATION_AUTHORED),
                     th_exact_weight(want->weight_tracks, ticks, TH_INTERPOLATION_AUTHORED));
    }
}

Test(curve_clips, are_followed_but_for_filled_parts_and_other_interpolations)
{
    const sample *s = make_sample();
    th_trs got, want;
    for (double ticks = 0; ticks < 9; ticks += 0.7)
        for (uint32_t c = 0; c < JOINTS; c++) {
            th_channel keys = s->channels[c];
            th_transform_curves_at(keys.curves, ticks, &want);
            for (uint32_t i = 0; c == 1 && i < 3; i++)
                want.translation[i] = (double)keys.translation.values[i];
            th_exact_channel(&keys, ticks, TH_INTERPOLATION_AUTHORED, &got);
            cr_assert_arr_eq(&got, &want, sizeof got);
            keys.curves = NULL;
            th_exact_channel(&keys, ticks, TH_INTERPOLATION_AUTHORED, &want);
            th_exact_channel(&s->channels[c], ticks, TH_INTERPOLATION_SLERP, &got);
            cr_assert_arr_eq(&got, &want, sizeof got);
        }
    cr_assert_eq(th_exact_weight(&s->weight_track, 4, TH_INTERPOLATION_AUTHORED),
                 th_weight_curves_at(s->weight_track.curves, 4));
    cr_assert_eq(th_exact_weight(&s->weight_track, 4, TH_INTERPOLATION_SLERP), -1);
}

Test(curve_clips, give_a_cursor_the_same_bits)
{
    const sample *s = make_sample();
    th_exact_cursor cursors[JOINTS];
    th_exact_cursors_reset(cursors, JOINTS);
    for (int n = 0; n < 300; n++)
        for (uint32_t c = 0; c < JOINTS; c++) {
            th_trs fresh, kept;
            const double ticks = between(-1, 10);
            th_exact_channel(&s->channels[c], ticks, TH_INTERPOLATION_AUTHORED, &fresh);
            th_exact_cursor_channel(&cursors[c], &s->channels[c], ticks, TH_INTERPOLATION_AUTHORED, &kept);
            cr_assert_arr_eq(&kept, &fresh, sizeof kept);
        }
}

/* A curve of the first joint's second layer. */
#define BREAK(what)                                                                                                    \
    do {                                                                                                               \
        sample *s = make_sample();                                                                                     \
        th_transform_curves *c = (th_transform_curves *)s->channels[0].curves;                                         \
        th_weight_curves *w = (th_weight_curves *)s->weight_track.curves;                                              \
        th_curve *curve = (th_curve *)&c->layers[1].curves[4];                                                         \
        th_curve_piece *piece = (th_curve_piece *)curve->pieces;                                                       \
        th_error err = {0};                                                                                            \
        piece->holds = false;                                                                                          \
        (void)w;                                                                                                       \
        what;                                                                                                          \
        cr_assert_eq(th_model_check(&s->model, &err), TH_ERR_INPUT, "%s", #what);                                      \
        cr_assert(strstr(err.text, "curves for joint hip") || strstr(err.text, "morph weight"), "%s", err.text);       \
    } while (0)

static const float level_places[] = {0, 0, 1};

Test(curve_clips, that_are_broken_are_found)
{
    BREAK(c->numbers[8] = NAN);
    BREAK(c->order = 6);
    BREAK(c->before[0] += 0.1);
    BREAK(c->after[3] = (double)NAN);
    BREAK(c->rotation_offset[2] = HUGE_VAL);
    BREAK(c->rotation_pivot[2] = HUGE_VAL);
    BREAK(c->scaling_offset[2] = HUGE_VAL);
    BREAK(c->scaling_pivot[2] = HUGE_VAL);
    BREAK(c->travel[2] = HUGE_VAL);
    BREAK(c->part = TH_CURVE_PART_COUNT);
    BREAK(curve->key_count = 0);
    BREAK(((double *)curve->times)[1] = curve->times[0]);
    BREAK(((double *)curve->times)[3] = (double)NAN);
    BREAK(((float *)curve->values)[3] = NAN);
    BREAK(piece->leave_time = -0.1F);
    BREAK(piece->leave_time = 1.1F);
    BREAK(piece->arrive_time = -0.1F);
    BREAK(piece->arrive_time = NAN);
    BREAK(piece->leave_value = NAN);
    BREAK(piece->arrive_value = INFINITY);
    BREAK(((float *)c->layers[1].weight.values)[1] = NAN);
    BREAK(c->scale_from = c);
    BREAK(c->scaled_by = c; c->scale_from = c);
    BREAK(w->number = NAN);
    BREAK(w->place_count = 1);
    BREAK(w->place = 3);
    BREAK(w->places = level_places);
    BREAK(((float *)w->layers->curves->values)[1] = NAN);
}

/* ---- elsewhere ---- */

static th_model *carried(const th_model *model, size_t *size)
{
    th_model *out;
    th_error err;
    uint8_t *bytes = th_archive_write(model, size);
    cr_assert_eq(th_archive_read(bytes, *size, &out, &err), TH_OK, "%s", err.text);
    free(bytes);
    return out;
}

Test(curve_clips, travel_in_archives)
{
    const sample *s = make_sample();
    size_t size, again;
    th_model *once = carried(&s->model, &size), *twice = carried(once, &again);
    expect_same_motion(once->clips, &s->clip);
    expect_same_motion(twice->clips, &s->clip);
    cr_assert_eq(size, again);
    const th_transform_curves *c = once->clips->channels[2].curves;
    cr_assert_neq(c->scaled_by, c->scale_from, "each has its own");
    th_model_destroy(once);
    th_model_destroy(twice);
}

static th_result read_damaged(const uint8_t *bytes, size_t size)
{
    th_model *out;
    uint8_t *exact = malloc(size); /* of this size, for AddressSanitizer */
    memcpy(exact, bytes, size);
    memcpy(exact + TH_ARCHIVE_HEAD_BYTES - sizeof(uint64_t), &(uint64_t){size}, sizeof(uint64_t));
    const th_result result = th_archive_read(exact, size, &out, NULL);
    th_model_destroy(out);
    free(exact);
    return result;
}

Test(curve_clips, of_a_damaged_archive_do_no_harm)
{
    size_t size;
    uint8_t *bytes = th_archive_write(&make_sample()->model, &size);
    for (size_t cut = TH_ARCHIVE_HEAD_BYTES; cut < size; cut += 7)
        cr_assert_eq(read_damaged(bytes, cut), TH_ERR_INPUT);
    for (int n = 0; n < 3000; n++) {
        uint8_t *at = bytes + TH_ARCHIVE_HEAD_BYTES + (size_t)between(0, (double)(size - TH_ARCHIVE_HEAD_BYTES)),
                was = *at;
        *at = (uint8_t)between(0, 256);
        read_damaged(bytes, size);
        *at = was;
    }
    free(bytes);
}

Test(curve_clips, inherit_from_so_many_and_no_more)
{
    sample *s = make_sample();
    th_transform_curves *c = (th_transform_curves *)s->channels[0].curves;
    size_t size;
    for (uint32_t n = 0; n < TH_MOST_INHERITED; n++) {
        th_transform_curves *from = th_arena_new(curve_arena, th_transform_curves, 1);
        *from = plain_curves();
        c->scale_from = from;
        c = from;
    }
    s->channels[1].curves = s->channels[2].curves = NULL; /* which inherit from the first */
    th_model_destroy(carried(&s->model, &size));
    c->scale_from = random_curves();
    cr_assert_eq(th_model_check(&s->model, NULL), TH_ERR_INPUT);
    cr_assert_null(th_archive_write(&s->model, &size));
}

Test(curve_clips, are_attached_to_another_model)
{
    const sample *want = make_sample(), *base = make_sample();
    size_t size;
    th_model *donor = carried(&want->model, &size), *own = carried(&base->model, &size), *out;
    ((th_joint *)own->joints)[1].rest.m[3] = 5;
    th_error err;
    cr_assert_eq(th_model_attach_clips(own, donor, &out, &err), TH_OK, "%s", err.text);
    th_model_destroy(donor); /* AddressSanitizer would tell if anything of it were needed */
    th_model_destroy(own);
    expect_same_motion(&out->clips[0], &base->clip);
    th_trs trs;
    th_exact_channel(&out->clips[1].channels[1], 3, TH_INTERPOLATION_AUTHORED, &trs);
    cr_assert_eq(trs.translation[0], 5, "filled: its own");
    ((th_channel *)out->clips[1].channels)[1].translation = want->channels[1].translation;
    expect_same_motion(&out->clips[1], &want->clip);
    th_model_destroy(out);
}

/* Whether the first joint's channel moves in the frame. */
static void expect_framed(const sample *base, const sample *donor, uint32_t joint, const th_trs *frame)
{
    const th_dmat34 space = th_dmat34_from_trs(frame);
    th_model *out;
    th_error err;
    cr_assert_eq(th_model_attach_clips(&base->model, &donor->model, &out, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_model_check(out, &err), TH_OK, "%s", err.text);
    const th_channel *channels[] = {out->clips->channels, &donor->channels[joint]};
    const bool is_filled = channels[0]->filled & TH_TRANSLATION;
    for (double ticks = -1; ticks < 10; ticks += 0.37)
        for (int n = 0; n < 2; n++) {
            const th_interpolation mode = n ? TH_INTERPOLATION_SLERP : TH_INTERPOLATION_AUTHORED; /* tracks or curves */
            th_trs got, want;
            th_exact_channel(channels[0], ticks, mode, &got);
            th_exact_channel(channels[1], ticks, mode, &want);
            th_dmat34_point(&space, want.translation, want.translation);
            th_quat_mul(frame->rotation, want.rotation, want.rotation);
            for (int i = 0; i < 4; i++)
                cr_assert_float_eq(got.rotation[i], want.rotation[i], 1e-6, "at %g", ticks);
            for (int i = 0; i < 3; i++) {
                cr_assert(is_filled || fabs(got.translation[i] - want.translation[i]) < 1e-6, "at %g", ticks);
                cr_assert_float_eq(got.scale[i], want.scale[i], 1e-6, "at %g", ticks);
            }
        }
    th_model_destroy(out);
}

/* A donor of twice the size: its hips' curves are scaled as a whole, with pivots and handles. */
Test(curve_clips, are_scaled_to_shorter_legs)
{
    sample *tall = make_sample(), *small = make_sample();
    for (uint32_t j = 0; j < JOINTS; j++) {
        tall->joints[j].rest.m[7] = j == 0 ? 2 : -1;
        small->joints[j].rest.m[7] = j == 0 ? 1 : -0.5F;
    }
    tall->model.size = 2;
    small->model.size = 1;
    small->model.clip_count = 0;
    expect_framed(small, tall, 0, &(th_trs){{0}, {0, 0, 0, 1}, {0.5, 0.5, 0.5}});
}

/* What the donor has above a joint, and the base has not, is a factor of its curves. */
Test(curve_clips, are_attached_in_another_space)
{
    sample *donor = make_sample(), *base = make_sample();
    const th_trs above = {{1, 2, 3}, {0.5, 0.5, 0.5, 0.5}, {2, 2, 2}};
    donor->joints[0].name = "other";
    donor->joints[0].rest = th_mat34_from(th_dmat34_from_trs(&above));
    base->model.clip_count = 0;
    base->model.size = donor->model.size = 1;
    expect_framed(base, donor, 1, &above);
}

/* ---- compiled ---- */

/* An arm that overshoots, then goes round four times between two keys and back, with a held piece between that does
 * not jump. holds: all do. */
static sample *make_arm(bool holds)
{
    static const double times[] = {0, 300, 600, 900, 2000};
    static const float angles[] = {0, 0.5F, 1, 1, 1 + 8 * (float)M_PI}, lifts[] = {0, 0, 0.2F, 0.2F, 0};
    th_curve_piece spins[] = {
        {false, 0.3F, 0.6F, 0.8F, -0.3F}, {false, 0.6F, 0.4F, 0.5F, 1}, {true, 0, 0, 0, 0}, {false, 0.3F, 0.7F, 8, 19}};
    th_curve_piece lift[] = {{false, 0.3F, 0.7F, 0.3F, -0.3F},
                             {false, 0.5F, 0.7F, 0, 0.2F},
                             {true, 0, 0, 0, 0},
                             {false, 0.3F, 0.5F, 0.3F, 0}};
    for (int k = 0; k < 4; k++)
        spins[k].holds = lift[k].holds = spins[k].holds || holds;
    const th_curve lifted = {5, times, lifts, th_arena_copy(curve_arena, lift, 4, sizeof *lift)},
                   turned = {5, times, angles, th_arena_copy(curve_arena, spins, 4, sizeof *spins)};
    sample *s = make_sample();
    s->model.weight_count = s->clip.weight_track_count = 0;
    for (uint32_t j = 0; j < JOINTS; j++) {
        th_transform_curves *c = th_arena_new(curve_arena, th_transform_curves, 1);
        th_curve_layer *layer = th_arena_new(curve_arena, th_curve_layer, 1);
        th_curve *curves = th_arena_new(curve_arena, th_curve, TH_TRANSFORM_CURVES);
        *c = plain_curves();
        for (uint32_t i = 0; i < TH_CURVE_SCALE; i++)
            curves[i] = constant_curve(i == 1 && j > 0 ? 0.5 : 0);
        curves[j] = j == 1 ? curves[j] : lifted;
        curves[TH_CURVE_ANGLES + j] = j < 2 ? lifted : turned;
        *layer = (th_curve_layer){.curves = curves};
        c->layers = layer;
        c->layer_count = 1;
        s->channels[j] = (th_channel){.joint = j, .curves = c};
        add_tracks(&s->channels[j], 2000, 21);
        s->channels[j].scale.key_count = 1;
    }
    s->clip.duration_ticks = 2000;
    s->clip.ticks_per_second = 1000;
    s->model.size = 1.8;
    return s;
}

static void expect_bound(const sample *s)
{
    for (int keys = 0; keys < TH_KEYS_COUNT; keys++) {
        crowd_fixture f;
        crowd_fixture_init_one(&f, &s->model, (th_compiled_model_desc){.bound_m = 0.002, .keys = (th_keys)keys},
                               TH_ISA_SCALAR);
        const th_clip_report *report = th_compiled_model_clip_report(f.compiled, 0);
        cr_assert(report->compiled, "%s", report->reason);
        cr_expect_gt(report->frame_count, 8);
        for (int k = 0; k < 4 * 40; k++) {
            const double time_s = (k + 0.5) * 2 / (4 * 40);
            crowd_fixture_update(&f, time_s);
            const double error = instance_error(&f, 0, time_s);
            cr_expect_leq(error, 1.1 * th_compiled_model_bound(f.compiled), "%g at %g", error, time_s);
        }
        crowd_fixture_fini(&f);
    }
}

Test(curve_clips, hold_the_bound_when_they_are_compiled)
{
    expect_bound(make_arm(false));
}

/* Sixteen turns and a jump: at each quarter of the time it stands as at first. */
Test(curve_clips, hold_the_bound_where_only_two_keys_tell)
{
    static const double times[] = {0, 2000};
    static const float turns[] = {0, 32 * (float)M_PI}, heights[] = {0, 0};
    static const th_curve_piece spin = {false, (float)(1 / 3.), (float)(2 / 3.), 32 * (float)(M_PI / 3),
                                        64 * (float)(M_PI / 3)},
                                jump = {false, (float)(1 / 3.), (float)(2 / 3.), 1, 1};
    sample *s = make_arm(false);
    th_curve *curves = (th_curve *)s->channels[0].curves->layers->curves;
    curves[1] = (th_curve){2, times, heights, &jump};
    curves[TH_CURVE_ANGLES] = (th_curve){2, times, turns, &spin};
    for (uint32_t i = 0; i < 2; i++)
        curves[2 * i] = constant_curve(0);
    add_tracks(s->channels, 2000, 2);
    s->channels[0].scale.key_count = s->clip.channel_count = s->model.joint_count = s->model.bone_count = 1;
    expect_bound(s);
    curves[TH_CURVE_ANGLES] = constant_curve(0); /* the jump alone */
    s->channels[0].rotation.key_count = 1;
    expect_bound(s);
}

/* Each key of the tracks is where a curve jumps, or not at all. */
Test(curve_clips, that_only_jump_become_held_frames)
{
    const sample *s = make_arm(true);
    crowd_fixture f;
    crowd_fixture_init_one(&f, &s->model, (th_compiled_model_desc){0}, TH_ISA_SCALAR);
    const th_clip_report *report = th_compiled_model_clip_report(f.compiled, 0);
    cr_assert(report->compiled, "%s", report->reason);
    cr_expect_leq(report->frame_count, 22);
    for (double time_s = 0.02; time_s < 2; time_s += 0.1) {
        crowd_fixture_update(&f, time_s);
        cr_expect_lt(instance_error(&f, 0, time_s), 1e-5, "at %g", time_s);
    }
    crowd_fixture_fini(&f);
}

/* A human whose hips follow curves over the ground, linear ones through the keys of their track. */
Test(curve_clips, lose_their_travel_in_place)
{
    make_human();
    const uint32_t walk = th_model_find_clip(human, "walk");
    const th_clip *clip = &human->clips[walk];
    th_channel *hips = (th_channel *)clip->channels;
    const th_track *track = &hips->translation;
    th_transform_curves *c = th_arena_new(curve_arena, th_transform_curves, 1);
    th_curve_layer *layer = th_arena_new(curve_arena, th_curve_layer, 1);
    th_curve *curves = th_arena_new(curve_arena, th_curve, TH_TRANSFORM_CURVES);
    const uint32_t count = track->key_count;
    for (uint32_t i = 0; i < 3; i++) {
        float *values = th_arena_new(curve_arena, float, count);
        th_curve_piece *pieces = th_arena_new(curve_arena, th_curve_piece, count);
        for (uint32_t k = 0; k < count; k++) {
            float *value = (float *)&track->values[3 * k + i];
            *value += i == 2 ? (float)(TH_HUMAN_WALK_SPEED * track->times[k] / clip->ticks_per_second) : 0;
            values[k] = *value;
        }
        for (uint32_t k = 0; k + 1 < count; k++)
            pieces[k] = (th_curve_piece){false, (float)(1 / 3.), (float)(2 / 3.), (2 * values[k] + values[k + 1]) / 3,
                                         (values[k] + 2 * values[k + 1]) / 3};
        curves[i] = (th_curve){count, track->times, values, pieces};
    }
    *c = plain_curves();
    *layer = (th_curve_layer){.curves = curves};
    c->layers = layer;
    c->layer_count = 1;
    th_compiled_model *keys = make_compiled_as(human, (th_compiled_model_desc){.in_place = true}), *followed;
    hips->curves = c;
    hips->filled = TH_ROTATION | TH_SCALE;
    cr_assert_eq(th_model_check(human, NULL), TH_OK);
    followed = make_compiled_as(human, (th_compiled_model_desc){.in_place = true});
    const th_channel *want = th_compiled_model_source(keys)->clips[walk].channels,
                     *got = th_compiled_model_source(followed)->clips[walk].channels;
    cr_assert_neq(want->translation.values, track->values, "it travels");
    cr_assert_neq(got->translation.values, track->values);
    for (double ticks = 0; ticks < clip->duration_ticks; ticks += clip->duration_ticks / 50) {
        th_trs a, b;
        th_exact_channel(got, ticks, TH_INTERPOLATION_AUTHORED, &a);
        th_exact_channel(want, ticks, TH_INTERPOLATION_AUTHORED, &b);
        for (int i = 0; i < 3; i++)
            cr_assert_float_eq(a.translation[i], b.translation[i], 1e-6, "%d at %g", i, ticks);
    }
    th_compiled_model_destroy(keys);
    th_compiled_model_destroy(followed);
    free_human();
}
