/* Inside, since whether feet stand is decided where a view places them. What characters play of their own accord:
 * nothing jumps, feet stand, nobody walks into anybody, and nothing depends on threads. */
#include "fixture_coarse_human.h"
#include "fixture_human.h"
#include "fixture_jobs.h"
#include "fixture_nightly.h"
#include "random_model.h"
#include "render/view/crowd_view_parts.h"

#include <anim/behaviour.h>
#include <anim/bounds.h>
#include <anim/clip_choice.h>
#include <anim/exact.h>
#include <render/crowd_view.h>
#include <runtime/frame.h>
#include <runtime/scene.h>
#include <throng/throng.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How long transitions take to find goes with the vertices of the soles. */
static void make_some_of_human(void)
{
    make_human();
    if (!is_nightly())
        coarsen_human(human, 8);
}

TestSuite(behaviour, .init = make_some_of_human, .fini = free_human);

#define PI 3.14159265358979323846

enum { COUNT = 60 };

/* COUNT instances of one model. */
typedef struct cast {
    th_scene *scene;
    const th_model *model;
    const th_mask *masks;
    uint32_t mask_count;
    th_dmat34 *pose;
    double *weights;
    th_crowd *crowd;
    void *palette;
} cast;

static cast make_cast(const th_model *model, th_behaviour_kind kind)
{
    th_error err;
    cast c = {.model = model};
    const th_scene_desc desc = {
        .models = &c.model, .model_count = 1, .instance_count = COUNT, .seed = 11, .behaviour = kind};
    cr_assert_eq(th_scene_create(&desc, &c.scene, &err), TH_OK, "%s", err.text);
    c.masks = th_compiled_model_masks(c.scene->compiled_models[0], &c.mask_count);
    c.pose = calloc(model->joint_count + 1, sizeof *c.pose);
    c.weights = calloc(model->weight_count + 1, sizeof *c.weights);
    cr_assert_eq(th_scene_crowd(c.scene, TH_ISA_AUTO, TH_FORMAT_F32, &c.crowd, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_palettes_create(c.crowd, &c.palette, &err), TH_OK, "%s", err.text);
    return c;
}

static void free_cast(cast *c)
{
    th_crowd_destroy(c->crowd);
    th_palettes_destroy(c->palette);
    th_scene_destroy(c->scene);
    free(c->pose);
    free(c->weights);
}

static uint32_t layers_at(const cast *c, uint32_t instance, double time_s, th_layer out[TH_BEHAVIOUR_LAYERS])
{
    return th_behaviour_layers(c->scene->behaviour, instance, time_s, out);
}

/* In double precision, from authored keys. */
static void pose_at(cast *c, uint32_t instance, double time_s)
{
    th_layer layers[TH_BEHAVIOUR_LAYERS];
    const uint32_t count = layers_at(c, instance, time_s, layers);
    th_exact_layers(c->model, layers, count, c->masks, c->mask_count, TH_INTERPOLATION_AUTHORED, c->pose, c->weights);
    th_exact_resolve(c->model, c->pose, c->pose);
}

static uint32_t clip_named(const th_model *model, const char *name)
{
    const uint32_t clip = th_clip_find(model, name);
    cr_assert_neq(clip, TH_NO_INDEX, "no clip %s", name);
    return clip;
}

static uint32_t joint_named(const th_model *model, const char *name)
{
    const uint32_t joint = th_model_find_joint(model, name);
    cr_assert_neq(joint, TH_NO_INDEX, "no joint %s", name);
    return joint;
}

/* ---- what a model can do ---- */

static void the_human_stands_walks_and_waves(cast *c)
{
    const th_repertoire *r = th_compiled_model_repertoire(c->scene->compiled_models[0]);
    const double speeds[] = {TH_HUMAN_WALK_SPEED, TH_HUMAN_JOG_SPEED, TH_HUMAN_RUN_SPEED};
    const char *const gaits[] = {"walk", "jog", "run"};
    cr_assert_eq(r->idle, clip_named(human, "idle"));
    cr_assert_eq(r->gait_count, 3);
    for (int g = 0; g < 3; g++) {
        cr_expect_eq(r->gaits[g].clip, clip_named(human, gaits[g]));
        cr_expect_float_eq(r->gaits[g].speed, speeds[g], 0.01);
    }
    cr_expect_eq(r->stand_count, 2);
    cr_assert_eq(r->gesture_count, 1);
    cr_expect_eq(r->gestures[0].clip, clip_named(human, "wave"));
    const float *moved = r->masks[r->gestures[0].moved].weights, *others = r->masks[r->gestures[0].others].weights;
    for (uint32_t j = 0; j < human->joint_count; j++)
        cr_expect_eq(moved[j] + others[j], 1);
    cr_expect_eq(moved[joint_named(human, "hand_r")], 1);
    cr_expect_eq(moved[joint_named(human, "hand_l")], 0);
    cr_expect_eq(moved[joint_named(human, "hips")], 0);
    cr_expect_eq(moved[joint_named(human, "foot_r")], 0);
}

/* ---- layers ---- */

/* Each joint has a total weight of 1, so that nothing is filled up with the rest pose. */
static void expect_valid(const cast *c, uint32_t instance, double time_s)
{
    th_layer layers[TH_BEHAVIOUR_LAYERS];
    const uint32_t count = layers_at(c, instance, time_s, layers);
    cr_assert(count >= 1 && count <= TH_BEHAVIOUR_LAYERS);
    for (uint32_t j = 0; j < c->model->joint_count; j++) {
        double sum = 0;
        for (uint32_t k = 0; k < count; k++)
            sum +=
                (double)(layers[k].weight * (layers[k].mask == TH_NO_MASK ? 1 : c->masks[layers[k].mask].weights[j]));
        cr_assert_float_eq(sum, 1, 1e-6, "instance %u at %g s: joint %u has weight %g", instance, time_s, j, sum);
    }
    for (uint32_t k = 0; k < count; k++) {
        cr_assert(layers[k].ratio >= 0 && layers[k].ratio <= 1 && layers[k].weight >= 0 && layers[k].weight <= 1);
        cr_assert(layers[k].clip < c->model->clip_count && layers[k].mode == TH_LAYER_OVERRIDE);
    }
}

static void weights_add_up_to_one_at_any_time(cast *c)
{
    for (uint32_t i = 0; i < COUNT; i++)
        for (int n = 0; n < 50; n++)
            expect_valid(c, i, (n - 12) * 31.7137 + i * 0.1);
    const double extreme[] = {0, -0.0, 1e9, -1e9, 1e15, -1e15};
    for (size_t n = 0; n < sizeof extreme / sizeof *extreme; n++)
        expect_valid(c, 5, extreme[n]);
}

/* By clip: weights of a joint, and positions where the weight is above 0. */
static void clips_at(const cast *c, uint32_t instance, double time_s, uint32_t joint, double weights[16],
                     double ratios[16])
{
    th_layer layers[TH_BEHAVIOUR_LAYERS];
    const uint32_t count = layers_at(c, instance, time_s, layers);
    memset(weights, 0, 16 * sizeof *weights);
    for (uint32_t k = 0; k < count; k++) {
        const double mask = layers[k].mask == TH_NO_MASK ? 1 : (double)c->masks[layers[k].mask].weights[joint];
        weights[layers[k].clip] += (double)layers[k].weight * mask;
        ratios[layers[k].clip] = layers[k].ratio;
    }
}

/* A smooth step in 0.29 s, the shortest there is, changes by 5.2 a second; seen by faster instances, by 5.7. */
static void weights_change_gradually(cast *c)
{
    const uint32_t joints[2] = {joint_named(human, "hand_r"), joint_named(human, "hips")};
    for (uint32_t i = 0; i < (is_nightly() ? COUNT : 10); i++)
        for (int j = 0; j < 2; j++) {
            double before[16], now[16], unused[16];
            clips_at(c, i, 0, joints[j], before, unused);
            for (int n = 1; n < 120 * 80; n++) {
                clips_at(c, i, n / 120.0, joints[j], now, unused);
                for (uint32_t k = 0; k < 16; k++)
                    cr_assert_lt(fabs(now[k] - before[k]), 6.0 / 120, "instance %u: clip %u at %g s", i, k, n / 120.0);
                memcpy(before, now, sizeof now);
            }
        }
}

static void everything_there_is_gets_played(cast *c)
{
    bool played[16] = {false};
    th_layer layers[TH_BEHAVIOUR_LAYERS];
    for (uint32_t i = 0; i < COUNT; i++)
        for (double time_s = 0; time_s < 60; time_s += 0.25)
            for (uint32_t k = layers_at(c, i, time_s, layers); k-- > 0;)
                played[layers[k].clip] = true;
    for (uint32_t clip = 0; clip < human->clip_count; clip++)
        cr_expect(played[clip], "nobody plays %s", human->clips[clip].name);
}

/* The clip whose weight is falling, at two moments of one fade, and how far it has got meanwhile. */
static double run_of_old_clip(const cast *c, float *middle_weight)
{
    th_layer a[TH_BEHAVIOUR_LAYERS], b[TH_BEHAVIOUR_LAYERS];
    for (double time_s = 0; time_s < 60; time_s += 0.01)
        if (layers_at(c, 0, time_s, a) == 1 && layers_at(c, 0, time_s + 0.01, a) == 2) {
            layers_at(c, 0, time_s + 0.03, a);
            layers_at(c, 0, time_s + 0.08, b);
            *middle_weight = b[1].weight - a[1].weight;
            return b[0].ratio - a[0].ratio;
        }
    cr_assert(false, "no fade in a minute");
    return 0;
}

static void the_old_clip_runs_on_in_a_smooth_fade(cast *c)
{
    float weight;
    cr_expect_gt(run_of_old_clip(c, &weight), 0.001);
    cr_expect_gt(weight, 0);
    cr_expect_eq(th_fade_weight(-1), 0);
    cr_expect_eq(th_fade_weight(0.25), 0.15625F);
    cr_expect_eq(th_fade_weight(0.5), 0.5F);
    cr_expect_eq(th_fade_weight(7), 1);
}

/* ---- movement ---- */

/* Also where a foot touches the ground for a moment only, which moves at another speed. */
static void nobody_lurches(cast *c)
{
    const double dt = 1.0 / 120;
    for (uint32_t i = 0; i < (is_nightly() ? COUNT : 20); i++) {
        double at = th_behaviour_travel(c->scene->behaviour, i, 0), speed = 0;
        for (int n = 1; n < 120 * 60; n++) {
            const double to = th_behaviour_travel(c->scene->behaviour, i, n * dt), now = (to - at) / dt;
            if (n > 1)
                cr_assert_lt(fabs(now - speed), 0.5, "instance %u at %.3f s: from %.2f to %.2f m/s", i, n * dt, speed,
                             now);
            speed = now;
            at = to;
        }
    }
}

/* The ball of the foot, which stays where it is while a foot rolls over it. At rest it is 26 mm above the ground. */
#define BALL_HEIGHT 0.026
#define CONTACT     0.006
#define SLIDE       0.020

typedef struct sole {
    bool stands;
    double at[2], most; /* where it came down, how far it slid while it stood */
} sole;

static void sole_moves(sole *s, double height, double x, double z)
{
    const bool stands = height < BALL_HEIGHT + CONTACT;
    const double slid = hypot(x - s->at[0], z - s->at[1]);
    if (stands && s->stands && slid < 1) /* has not left a street at one end */
        s->most = fmax(s->most, slid);
    else
        s->at[0] = x, s->at[1] = z;
    s->stands = stands;
}

/* Fingers of someone who waves while running reach about this speed. A pop of a hand by a decimetre is faster. */
#define FASTEST 14.0

static void nothing_jumps_and_feet_stand(cast *c)
{
    const uint32_t toes[2] = {joint_named(human, "toe_l"), joint_named(human, "toe_r")};
    const double dt = 1.0 / 240;
    double(*before)[3] = calloc(human->joint_count, sizeof *before), most = 0;
    for (uint32_t i = 0; i < (is_nightly() ? 24 : 2); i++) {
        sole soles[2] = {{0}};
        for (int n = 0; n < 240 * 60; n++) {
            const double time_s = n * dt, travel = th_behaviour_travel(c->scene->behaviour, i, time_s);
            pose_at(c, i, time_s);
            for (uint32_t j = 0; j < human->joint_count; j++) {
                const double now[3] = {c->pose[j].m[3], c->pose[j].m[7], c->pose[j].m[11] + travel};
                const double moved = hypot(hypot(now[0] - before[j][0], now[1] - before[j][1]), now[2] - before[j][2]);
                if (n > 0)
                    cr_assert_lt(moved, FASTEST * dt, "instance %u: joint %s jumps %.3f m at %.3f s", i,
                                 human->joints[j].name, moved, time_s);
                memcpy(before[j], now, sizeof now);
            }
            for (int f = 0; f < 2; f++) {
                sole_moves(&soles[f], before[toes[f]][1], before[toes[f]][0], before[toes[f]][2]);
                most = fmax(most, soles[f].most);
            }
        }
    }
    free(before);
    cr_expect_lt(most, SLIDE, "a foot slides by %.1f mm", 1e3 * most);
    cr_expect_gt(most, 0.005); /* feet are seen at all */
}

/* Strayed is what the mean speed leaves, which for many rounds stays within what is said. */
static void routines_keep_their_mean_speed(cast *c)
{
    const th_routines *routines = c->scene->routines[0];
    const double speed = th_routines_get_extent(routines).speed, deviation = th_routines_get_extent(routines).deviation;
    cr_expect_float_eq(speed, 0.75 * TH_HUMAN_WALK_SPEED, 0.01);
    cr_expect_lt(deviation, 5);
    for (uint32_t i = 0; i < COUNT; i++) {
        const double own = c->scene->instances[i].speed;
        double first = th_behaviour_travel(c->scene->behaviour, i, 0) - th_behaviour_strayed(c->scene->behaviour, i, 0);
        for (double time_s = 0; time_s < 3600; time_s += 13.7) {
            const double strayed = th_behaviour_strayed(c->scene->behaviour, i, time_s);
            cr_assert_leq(fabs(strayed), deviation * 1.001);
            cr_assert_float_eq(th_behaviour_travel(c->scene->behaviour, i, time_s),
                               first + speed * own * time_s + strayed, 1e-6);
        }
    }
}

static void routines_keep_to_their_memory(cast *c)
{
    th_error err;
    th_routines *routines;
    th_routines_desc desc = {.compiled = c->scene->compiled_models[0],
                             .kind = TH_BEHAVIOUR_GRAPH,
                             .seed = 11, /* the scene's */
                             .max_bytes = th_routines_get_extent(c->scene->routines[0]).bytes};
    cr_expect_eq(th_routines_create(&desc, &routines, &err), TH_OK, "%s", err.text);
    cr_expect_eq(th_routines_get_extent(routines).bytes, desc.max_bytes);
    th_routines_destroy(routines);
    desc.max_bytes--;
    cr_expect_eq(th_routines_create(&desc, &routines, &err), TH_ERR_LIMIT);
    cr_expect_null(routines);
    desc.max_bytes = 1;
    cr_expect_eq(th_routines_create(&desc, &routines, &err), TH_ERR_LIMIT);
}

/* On threads of its own. */
static th_frame *make_frame(const cast *c, const th_jobs_desc *threads, uint32_t grain, th_behaviour *behaviour,
                            th_jobs **jobs)
{
    th_error err;
    th_frame *frame;
    cr_assert_eq(th_jobs_create(threads, jobs, &err), TH_OK, "%s", err.text);
    const th_frame_desc desc = {.crowd = c->crowd, .jobs = *jobs, .grain = grain};
    cr_assert_eq(th_frame_create_with(&desc, behaviour, &frame, &err), TH_OK, "%s", err.text);
    return frame;
}

/* What there is to go over to: paces, and weights. */
static th_blend blend_number(uint32_t n)
{
    static const double paces[] = {1.4, 0, 0.5, 3.9, 2.1, 7};
    th_blend weights = {.clips = {{"walk", 1}, {"dance", 2.5}, {"idle", 0.5 * (n % 3)}}, .clip_count = 3};
    return n % 7 < 6 ? (th_blend){.pace = paces[n % 7]} : weights;
}

/* What a frame says it has played is what the behaviour says, and the palettes show it. */
static void a_frame_plays_the_behaviour(cast *c)
{
    th_jobs *jobs;
    th_frame *frame = make_frame(c, &(th_jobs_desc){.threads = 2}, 0, c->scene->behaviour, &jobs);
    th_dmat34 *wanted = calloc(human->bone_count, sizeof *wanted);
    uint32_t n = 0;
    for (double time_s = 0.3; time_s < 40; time_s += 3.1, n++) {
        const th_blend blend = blend_number(n);
        th_behaviour_set_blend(c->scene->behaviour, &blend, time_s - 0.1);
        th_frame_run(frame, time_s, c->palette);
        const th_crowd_layers *played = th_frame_layers(frame);
        for (uint32_t i = 0; i < COUNT; i++) {
            th_layer layers[TH_BEHAVIOUR_LAYERS];
            const uint32_t count = layers_at(c, i, time_s, layers);
            cr_assert_eq(played->counts[i], count);
            pose_at(c, i, time_s);
            th_exact_palette(human, c->pose, wanted);
            const float *got = (float *)(void *)((char *)c->palette + th_crowd_palette_offset(c->crowd, i));
            for (uint32_t e = 0; e < 12 * human->bone_count; e++)
                cr_assert_float_eq((double)got[e], wanted[e / 12].m[e % 12], 1e-3, "instance %u at %g s", i, time_s);
        }
    }
    th_frame_destroy(frame);
    th_jobs_destroy(jobs);
    free(wanted);
}

Test(behaviour, of_fades)
{
    cast c = make_cast(human, TH_BEHAVIOUR_FADE);
    weights_add_up_to_one_at_any_time(&c);
    the_old_clip_runs_on_in_a_smooth_fade(&c);
    free_cast(&c);
}

/* ---- threads ---- */

static uint64_t hash_of(const cast *c, const th_jobs_desc *jobs_desc, uint32_t grain)
{
    th_jobs *jobs;
    uint64_t hash = 0;
    const th_behaviour_desc anew = {c->scene->routines, c->scene->instances, COUNT, 5, {.pace = 1}};
    th_behaviour *behaviour; /* nothing is left of earlier blends */
    cr_assert_eq(th_behaviour_create(&anew, &behaviour, NULL), TH_OK);
    th_frame *frame = make_frame(c, jobs_desc, grain, behaviour, &jobs);
    for (uint32_t n = 0; n < 31; n++) {
        const th_blend blend = blend_number(n);
        th_behaviour_set_blend(behaviour, &blend, n * 19.9);
        th_frame_run(frame, n * 19.9, c->palette);
        hash = 31 * hash + th_crowd_hash(c->crowd, c->palette);
    }
    th_frame_destroy(frame);
    th_behaviour_destroy(behaviour);
    th_jobs_destroy(jobs);
    return hash;
}

static void ten_minutes_are_the_same_on_any_number_of_threads(const cast *c)
{
    static const uint32_t threads[] = {2, 3, 5, 8, 16}, grains[] = {1, 2, 7};
    const uint64_t one = hash_of(c, &(th_jobs_desc){.threads = 1}, 1);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
        cr_expect_eq(hash_of(c, &(th_jobs_desc){.threads = threads[t]}, grains[t % 3]), one, "%u threads", threads[t]);
    for (EACH_SCHEDULER(s)) {
        const th_jobs_desc jobs = {.threads = s == TH_SCHEDULER_SERIAL ? 1 : 4, .scheduler = s};
        cr_expect_eq(hash_of(c, &jobs, 2), one, "%s", th_scheduler_name(s));
    }
}

/* ---- clips that carry the model ---- */

/* The human below an armature that lies on its back, as exporters write it, and with gaits that carry it away. */
typedef struct traveller {
    th_model model;
    th_joint joints[64];
    th_bone bones[64];
    th_clip clips[8];
    th_channel channels[8][64];
    double times[8][128];
    float translations[8][3 * 128], rotations[8][4 * 128];
} traveller;

#define ARMATURE_RAD (PI / 2) /* about X */

/* The keys of the hips, in the space of the armature, `speed` further along Z with each second. */
static void lay_down(traveller *t, uint32_t clip, double speed)
{
    const double tick_s = 1 / t->clips[clip].ticks_per_second, s = sin(-ARMATURE_RAD / 2), c = cos(ARMATURE_RAD / 2);
    th_channel *hips = &t->channels[clip][0];
    cr_assert(hips->joint == 1 && hips->translation.key_count < 128 && hips->rotation.key_count < 128);
    const float *from = hips->translation.values, *q = hips->rotation.values;
    float *to = t->translations[clip], *r = t->rotations[clip];
    for (uint32_t k = 0; k < hips->rotation.key_count; k++, q += 4, r += 4) { /* conj(armature) q */
        r[0] = (float)(c * (double)q[0] + s * (double)q[3]);
        r[1] = (float)(c * (double)q[1] - s * (double)q[2]);
        r[2] = (float)(c * (double)q[2] + s * (double)q[1]);
        r[3] = (float)(c * (double)q[3] - s * (double)q[0]);
    }
    for (uint32_t k = 0; k < hips->translation.key_count; k++, from += 3, to += 3) {
        const double z = (double)from[2] + speed * tick_s * hips->translation.times[k];
        to[0] = from[0];
        to[1] = (float)z;
        to[2] = -from[1];
    }
    hips->translation.values = t->translations[clip];
    hips->rotation.values = t->rotations[clip];
}

/* slides: a clip that carries the model without walking. */
static const th_model *make_traveller(traveller *t, const char *slides)
{
    t->model = *human;
    t->joints[0] =
        (th_joint){.name = "armature", .parent = TH_NO_INDEX, .rest = {{1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0}}};
    for (uint32_t j = 0; j < human->joint_count; j++) {
        t->joints[j + 1] = human->joints[j];
        t->joints[j + 1].parent = j == 0 ? 0 : human->joints[j].parent + 1;
    }
    for (uint32_t b = 0; b < human->bone_count; b++) {
        t->bones[b] = human->bones[b];
        t->bones[b].joint++;
    }
    for (uint32_t c = 0; c < human->clip_count; c++) {
        const th_clip *from = &human->clips[c];
        t->clips[c] = *from;
        for (uint32_t n = 0; n < from->channel_count; n++) {
            t->channels[c][n] = from->channels[n];
            t->channels[c][n].joint++;
        }
        t->clips[c].channels = t->channels[c];
        const char *name = from->name;
        lay_down(t, c,
                 strcmp(name, "walk") == 0   ? TH_HUMAN_WALK_SPEED
                 : strcmp(name, "run") == 0  ? TH_HUMAN_RUN_SPEED
                 : strcmp(name, slides) == 0 ? 1
                                             : 0);
    }
    t->model.joint_count++;
    t->model.joints = t->joints;
    t->model.bones = t->bones;
    t->model.clips = t->clips;
    return &t->model;
}

/* As the human, whose clips nothing has been taken out of. */
static void a_gait_that_carries_the_model_is_played_in_place(cast *h)
{
    static traveller t;
    th_root_motion motion;
    cast c = make_cast(make_traveller(&t, ""), TH_BEHAVIOUR_GRAPH);
    const th_repertoire *r = th_compiled_model_repertoire(c.scene->compiled_models[0]);
    const uint32_t walk = clip_named(human, "walk");
    cr_assert_eq(th_clip_root_motion(c.model, walk, TH_INTERPOLATION_AUTHORED, &motion, NULL), TH_OK);
    cr_expect_eq(motion.kind, TH_ROOT_MOTION_BAKED);
    cr_expect_float_eq(motion.speed, TH_HUMAN_WALK_SPEED, 1e-3);
    cr_assert_eq(r->gait_count, 3);
    cr_expect_float_eq(r->gaits[0].speed, TH_HUMAN_WALK_SPEED, 0.01);
    cr_expect_float_eq(r->gaits[2].speed, TH_HUMAN_RUN_SPEED, 0.01);
    c.model = th_compiled_model_source(c.scene->compiled_models[0]);
    c.pose = realloc(c.pose, (c.model->joint_count + 1) * sizeof *c.pose);
    for (uint32_t i = 0; i < 3; i++)
        for (double time_s = 0; time_s < 60; time_s += 0.37) {
            const double travel = th_behaviour_travel(h->scene->behaviour, i, time_s);
            pose_at(&c, i, time_s);
            pose_at(h, i, time_s);
            cr_assert_float_eq(th_behaviour_travel(c.scene->behaviour, i, time_s), travel, 2e-3);
            for (uint32_t j = 0; j < human->joint_count; j++)
                for (int k = 3; k < 12; k += 4)
                    cr_assert_float_eq(c.pose[j + 1].m[k], h->pose[j].m[k], 2e-3, "joint %s of %u at %g s",
                                       human->joints[j].name, i, time_s);
        }
    free_cast(&c);
}

/* Its feet hold still and do not show that it walks; with its root it would be carried twice. */
Test(behaviour, a_clip_that_slides_is_left_out_and_a_joint_level_is_in_place_where_its_source_is)
{
    static traveller t;
    th_error err;
    th_joint_lod *lod;
    cast c = make_cast(make_traveller(&t, "cheer"), TH_BEHAVIOUR_GRAPH);
    const th_compiled_model *source = c.scene->compiled_models[0];
    const th_repertoire *r = th_compiled_model_repertoire(source);
    cr_expect_eq(r->gait_count, 3);
    cr_assert_eq(r->stand_count, 1);
    cr_expect_eq(r->stands[0].clip, clip_named(human, "dance"));
    cr_assert_eq(th_joint_lod_create(&t.model, &lod, &err), TH_OK, "%s", err.text);
    const th_model *coarse = lod->levels[TH_LOD_LEVELS - 1].model;
    cr_assert_neq(coarse, &t.model);
    const th_compiled_model_desc desc = {.model = coarse, .in_place = true};
    th_compiled_model *level;
    cr_assert_eq(th_compiled_model_create_with(&desc, &(th_compiled_more){.in_place_as = source}, &level, &err), TH_OK,
                 "%s", err.text);
    th_dmat34 *begin = calloc(2 * (size_t)coarse->joint_count, sizeof *begin), *end = begin + coarse->joint_count;
    for (uint32_t k = 0; k < human->clip_count; k++) {
        const th_clip *clip = &th_compiled_model_source(level)->clips[k];
        th_exact_pose(th_compiled_model_source(level), clip, 0, TH_INTERPOLATION_AUTHORED, begin);
        th_exact_pose(th_compiled_model_source(level), clip, clip->duration_ticks, TH_INTERPOLATION_AUTHORED, end);
        const double travel = hypot(end[1].m[3] - begin[1].m[3], end[1].m[11] - begin[1].m[11]);
        const double wanted = strcmp(clip->name, "cheer") == 0 ? clip->duration_ticks / clip->ticks_per_second : 0;
        cr_expect_float_eq(travel, wanted, 0.02, "%s: %g, not %g", clip->name, travel, wanted);
    }
    free(begin);
    th_compiled_model_destroy(level);
    th_joint_lod_destroy(lod);
    free_cast(&c);
}

/* Its transitions take most of a second to find, so they are found once for all of these. */
Test(behaviour, of_the_human)
{
    cast c = make_cast(human, TH_BEHAVIOUR_GRAPH);
    the_human_stands_walks_and_waves(&c);
    weights_add_up_to_one_at_any_time(&c);
    weights_change_gradually(&c);
    everything_there_is_gets_played(&c);
    nothing_jumps_and_feet_stand(&c);
    nobody_lurches(&c);
    routines_keep_their_mean_speed(&c);
    routines_keep_to_their_memory(&c);
    a_frame_plays_the_behaviour(&c);
    ten_minutes_are_the_same_on_any_number_of_threads(&c);
    a_gait_that_carries_the_model_is_played_in_place(&c);
    free_cast(&c);
}

/* ---- blends ---- */

/* As if nothing had been blended before. */
static void begin_blend(const cast *c, double pace)
{
    const th_behaviour_desc desc = {c->scene->routines, c->scene->instances, COUNT, 11, {.pace = pace}};
    th_behaviour_destroy(c->scene->behaviour);
    cr_assert_eq(th_behaviour_create(&desc, &c->scene->behaviour, NULL), TH_OK);
}

static void a_blend_of_one_clip_is_that_clip(cast *c)
{
    th_layer layers[TH_BEHAVIOUR_LAYERS];
    const double paces[] = {0, TH_HUMAN_WALK_SPEED, TH_HUMAN_RUN_SPEED * 1.5};
    const char *const clips[] = {"idle", "walk", "run"};
    begin_blend(c, 0);
    for (int n = 0; n < 4; n++) {
        begin_blend(c, paces[n % 3]);
        const th_repertoire *r = th_compiled_model_repertoire(c->scene->compiled_models[0]);
        const th_blend waves = {.clips = {{"wave", 0.3}, {"walk", 0}, {"no such clip", 1}}, .clip_count = 3};
        if (n == 1) /* exactly as fast as it walks */
            th_behaviour_set_blend(c->scene->behaviour, &(th_blend){.pace = r->gaits[0].speed}, -10);
        if (n == 3)
            th_behaviour_set_blend(c->scene->behaviour, &waves, -10);
        for (uint32_t i = 0; i < COUNT; i++) {
            cr_assert_eq(layers_at(c, i, 1.3, layers), 1);
            cr_expect_eq(layers[0].weight, 1);
            cr_expect_eq(layers[0].clip, clip_named(human, n < 3 ? clips[n] : "wave"));
        }
    }
}

static void what_is_carried_on_can_be_given_to_another(cast *c)
{
    th_scene other = *c->scene;
    const cast twin = {.scene = &other, .model = human, .masks = c->masks};
    begin_blend(c, 1.4);
    other.behaviour = NULL;
    begin_blend(&twin, 3);
    th_behaviour *const a = c->scene->behaviour, *const b = other.behaviour;
    th_blend_state state;
    double weights[2][16], ratios[2][16] = {{0}};
    for (uint32_t n = 1; n < 8; n++) {
        const th_blend next = blend_number(n);
        th_behaviour_set_blend(a, &next, n);
        th_behaviour_save_blend(a, 0, &state);
        th_behaviour_restore_blend(b, 0, &state);
        clips_at(c, n, n + 0.2, 0, weights[0], ratios[0]);
        clips_at(&twin, n, n + 0.2, 0, weights[1], ratios[1]);
        cr_expect_eq(memcmp(weights[0], weights[1], sizeof weights[0]), 0);
        cr_expect_eq(memcmp(ratios[0], ratios[1], sizeof ratios[0]), 0);
    }
    memset(&state, 0, sizeof state);
    th_behaviour_restore_blend(b, 0, &state);
    cr_expect_eq(th_behaviour_walk_time(b, 0, 9), th_behaviour_walk_time(a, 0, 9));
    th_behaviour_destroy(b);
}

static void gaits_of_a_blend_are_in_step(cast *c)
{
    th_layer layers[TH_BEHAVIOUR_LAYERS];
    begin_blend(c, 2);
    double lead = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        for (double time_s = 0; time_s < 40; time_s += 1.7) {
            cr_assert_eq(layers_at(c, i, time_s, layers), 2);
            cr_assert_eq(layers[0].clip, clip_named(human, "walk"));
            cr_assert_eq(layers[1].clip, clip_named(human, "jog"));
            const double ahead = layers[1].ratio - layers[0].ratio;
            lead = i == 0 && time_s == 0 ? ahead : lead;
            cr_assert_lt(fabs(remainder(ahead - lead, 1)), 1e-9);
        }
}

/* Who neither stands nor walks plays its own clip, or blends all that it has equally. */
Test(behaviour, of_models_that_do_not_walk)
{
    static const struct {
        uint32_t clips, layers;
        th_behaviour_kind kind;
    } cases[] = {{0, 0, TH_BEHAVIOUR_GRAPH}, {1, 0, TH_BEHAVIOUR_BLEND}, {3, 3, TH_BEHAVIOUR_BLEND}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        const random_desc desc = {.joint_count = 5, .clip_count = cases[n].clips, .key_count = 3, .seed = 3};
        th_model *model = random_model(&desc);
        cast c = make_cast(model, cases[n].kind);
        for (uint32_t i = 0; i < COUNT; i++) {
            th_layer layers[TH_BEHAVIOUR_LAYERS];
            cr_expect_eq(layers_at(&c, i, 3.5, layers), cases[n].layers, "%u clips", cases[n].clips);
            for (uint32_t k = 0; k < cases[n].layers; k++)
                cr_expect_float_eq(layers[k].weight, 1.0F / (float)cases[n].layers, 1e-6F);
        }
        free_cast(&c);
        th_model_destroy(model);
    }
}

/* Eight of twelve play; another one is asked for, with little weight. */
Test(behaviour, a_clip_that_is_asked_for_comes_before_those_that_fade_out)
{
    th_layer layers[TH_BEHAVIOUR_LAYERS];
    random_desc desc = {.joint_count = 5, .clip_count = 12, .key_count = 3, .seed = 3};
    th_model *model = random_model(&desc);
    cast c = make_cast(model, TH_BEHAVIOUR_BLEND);
    const th_blend wanted = {.clips = {{model->clips[11].name, 0.01}}, .clip_count = 1};
    cr_assert_eq(layers_at(&c, 0, 3.5, layers), TH_MAX_LAYERS);
    th_behaviour_set_blend(c.scene->behaviour, &wanted, 3.5);
    cr_assert_eq(layers_at(&c, 0, 60, layers), 1);
    cr_expect_eq(layers[0].clip, 11);
    cr_expect_eq(layers[0].weight, 1);
    free_cast(&c);
    th_model_destroy(model);
}

/* Changes come in the middle of other changes, too. */
static void nothing_jumps_when_a_blend_changes(cast *c)
{
    begin_blend(c, 1.4);
    th_behaviour *b = c->scene->behaviour;
    for (uint32_t n = 1; n < 60; n++) {
        const double time_s = n * (n % 3 ? 0.13 : 1.1);
        double weights[2][16], ratios[2][16], walked[2], soon[2];
        for (int after = 0; after < 2; after++) {
            if (after) {
                const th_blend next = blend_number(n);
                th_behaviour_set_blend(b, &next, time_s);
            }
            clips_at(c, n % COUNT, time_s, 0, weights[after], ratios[after]);
            walked[after] = th_behaviour_travel(b, n % COUNT, time_s);
            soon[after] = th_behaviour_travel(b, n % COUNT, time_s + 1e-4);
            expect_valid(c, n % COUNT, time_s + 0.1 * after);
        }
        cr_assert_float_eq(walked[0], walked[1], 1e-9, "change %u", n);
        cr_assert_float_eq(soon[0], soon[1], 1e-6, "change %u", n);
        for (int k = 0; k < 16; k++) {
            cr_assert_float_eq(weights[0][k], weights[1][k], 1e-6, "change %u, clip %d", n, k);
            if (weights[0][k] > 1e-6)
                cr_assert_lt(fabs(remainder(ratios[0][k] - ratios[1][k], 1)), 1e-9, "change %u, clip %d", n, k);
        }
    }
}

/* How far the foot that carries slides until the other one carries, at most. */
static double slide_of_blend(cast *c, uint32_t instance, double begin_s, double end_s)
{
    const uint32_t toes[2] = {joint_named(human, "toe_l"), joint_named(human, "toe_r")};
    double most = 0, at[2] = {0};
    int carried_by = -1;
    for (double time_s = begin_s; time_s < end_s; time_s += 1.0 / 120) {
        const double travel = th_behaviour_travel(c->scene->behaviour, instance, time_s);
        pose_at(c, instance, time_s);
        const int foot = c->pose[toes[0]].m[7] > c->pose[toes[1]].m[7];
        const double *m = c->pose[toes[foot]].m, now[2] = {m[3], m[11] + travel};
        const bool stands = m[7] < BALL_HEIGHT + CONTACT;
        if (stands && foot == carried_by)
            most = fmax(most, hypot(now[0] - at[0], now[1] - at[1]));
        else
            memcpy(at, now, sizeof now);
        carried_by = stands ? foot : -1;
    }
    return most;
}

/* Blends of less than 0.06 m/s slide, as feet hardly leave the ground in them; docs/notes/behaviours.md says how far.
 */
static void feet_stand_in_blends_of_gaits(cast *c)
{
    const double paces[] = {0, 0.07, 0.3, 1, 1.4, 1.7, 2, 2.5, 3, 3.5, 4, 5};
    begin_blend(c, 0);
    for (size_t p = 0; p < sizeof paces / sizeof *paces; p++) {
        begin_blend(c, paces[p]);
        for (uint32_t i = 0; i < (is_nightly() ? 8 : 3); i++) {
            const double slide = slide_of_blend(c, i, 0, 4);
            cr_expect_lt(slide, paces[p] < 1.2 ? 0.003 : 0.026, "%.1f mm at %g m/s", 1e3 * slide, paces[p]);
        }
    }
}

/* The human with a second walk, which is 1 % faster. */
typedef struct stroller {
    th_model model;
    th_clip clips[16];
} stroller;

static const th_model *make_stroller(stroller *s)
{
    const uint32_t walk = clip_named(human, "walk");
    s->model = *human;
    memcpy(s->clips, human->clips, human->clip_count * sizeof *s->clips);
    s->clips[human->clip_count] = human->clips[walk];
    s->clips[human->clip_count].name = "stroll";
    s->clips[human->clip_count].ticks_per_second *= 1.01;
    s->model.clips = s->clips;
    s->model.clip_count++;
    return &s->model;
}

Test(behaviour, gaits_of_one_speed_walk_as_fast_as_they_are_when_chosen_by_weight)
{
    stroller s;
    const th_blend blends[] = {{.clips = {{"stroll", 1}}, .clip_count = 1},
                               {.clips = {{"stroll", 1}, {"walk", 1}}, .clip_count = 2}};
    const double speeds[] = {1.01 * TH_HUMAN_WALK_SPEED, 1.005 * TH_HUMAN_WALK_SPEED};
    cast c = make_cast(make_stroller(&s), TH_BEHAVIOUR_BLEND);
    begin_blend(&c, 1.4);
    const th_behaviour *b = c.scene->behaviour;
    for (uint32_t n = 0; n < 2; n++) {
        th_layer layers[TH_BEHAVIOUR_LAYERS];
        th_behaviour_set_blend(c.scene->behaviour, &blends[n], 10 * n);
        const double from_s = 10 * n + 2,
                     walked = th_behaviour_travel(b, 3, from_s + 5) - th_behaviour_travel(b, 3, from_s);
        cr_expect_float_eq(walked, 5 * c.scene->instances[3].speed * speeds[n], 0.05, "%u: %.2f m", n, walked);
        cr_expect_eq(layers_at(&c, 3, from_s, layers), n + 1);
        cr_expect_lt(fabs(remainder(layers[0].ratio - layers[n].ratio, 1)), 1e-9, "in step");
        cr_expect_lt(slide_of_blend(&c, 3, from_s, from_s + 5), 0.026);
    }
    free_cast(&c);
}

/* At any moment of a loop. */
static void feet_hardly_slide_while_the_pace_changes(cast *c)
{
    begin_blend(c, 1.4);
    double most = 0;
    for (uint32_t n = 0; n < 20; n++) {
        const double begin_s = 10 * n + 2 + n * 0.037;
        th_behaviour_set_blend(c->scene->behaviour, &(th_blend){.pace = n % 2 ? 1.4 : 1.65}, begin_s);
        most = fmax(most, slide_of_blend(c, n % 8, begin_s - 0.1, begin_s + 0.4));
    }
    cr_expect_lt(most, 0.06, "%.1f mm", 1e3 * most);
}

/* The walker of speed 1 is as fast as asked, in blends of any two. */
static void the_pace_is_kept(cast *c)
{
    begin_blend(c, 0);
    for (double pace = 0; pace < 6; pace += 0.7) {
        begin_blend(c, pace);
        const th_behaviour *b = c->scene->behaviour;
        const double speed = c->scene->instances[3].speed;
        cr_expect_float_eq(th_behaviour_travel(b, 3, 12) - th_behaviour_travel(b, 3, 2), 10 * speed * pace, 1e-9);
        cr_expect_float_eq(th_behaviour_walk_time(b, 3, 12), 12 * pace, 1e-9);
        cr_expect_eq(th_behaviour_strayed(b, 3, 12), 0);
    }
}

Test(behaviour, of_blends)
{
    cast c = make_cast(human, TH_BEHAVIOUR_BLEND);
    weights_add_up_to_one_at_any_time(&c);
    a_frame_plays_the_behaviour(&c);
    ten_minutes_are_the_same_on_any_number_of_threads(&c);
    a_blend_of_one_clip_is_that_clip(&c);
    what_is_carried_on_can_be_given_to_another(&c);
    gaits_of_a_blend_are_in_step(&c);
    nothing_jumps_when_a_blend_changes(&c);
    feet_stand_in_blends_of_gaits(&c);
    feet_hardly_slide_while_the_pace_changes(&c);
    the_pace_is_kept(&c);
    free_cast(&c);
}

/* ---- a street ---- */

static th_crowd_view *make_street(uint32_t count, th_behaviour_kind behaviour)
{
    th_error err;
    th_crowd_view *street;
    const th_crowd_view_desc desc = {.models = {human},
                                     .clips = {TH_NO_INDEX},
                                     .model_count = 1,
                                     .count = count,
                                     .seed = 1,
                                     .layout = TH_LAYOUT_STREET,
                                     .zoom = 1};
    const th_crowd_behaviour plays = {.kind = behaviour, .blend.pace = 1.9};
    cr_assert_eq(th_crowd_view_prepare(&desc, &plays, NULL, &street, &err), TH_OK, "%s", err.text);
    return street;
}

enum { PEOPLE = 200 };

/* Half a shoulder's width each, and more. */
#define APART 0.6

static void nobody_walks_into_anybody(const th_crowd_view *street)
{
    float at[PEOPLE][3];
    double closest = HUGE_VAL;
    for (double time_s = 0; time_s < 600; time_s += 1.1) {
        for (uint32_t i = 0; i < PEOPLE; i++)
            memcpy(at[i], th_crowd_view_follow_target(street, i, time_s).centre, sizeof at[i]);
        for (uint32_t i = 0; i < PEOPLE; i++)
            for (uint32_t k = 0; k < i; k++)
                closest = fmin(closest, hypot((double)(at[i][0] - at[k][0]), (double)(at[i][2] - at[k][2])));
    }
    cr_expect_gt(closest, APART, "two come within %.2f m", closest);
    cr_expect_lt(closest, 4); /* a crowd */
}

/* On the street feet stand as well, whatever the size of a walker and the pace of a lane, and while the pace changes.
 */
#define STEP_S 0.1 /* in which a way hardly turns */

static void walk_as_far_as_feet(th_crowd_view *street)
{
    for (int changes = 0; changes < 2; changes++) {
        if (changes)
            th_behaviour_set_blend(street->behaviour, &(th_blend){.pace = 0.6}, 50);
        for (uint32_t i = 0; i < 40; i++) {
            const double scale = (double)street->gpu_instances[i].scale;
            for (double time_s = 3; time_s < 200; time_s += 1.7) {
                const double walked = th_behaviour_travel(street->behaviour, i, time_s + STEP_S) -
                                      th_behaviour_travel(street->behaviour, i, time_s);
                const th_follow_target from = th_crowd_view_follow_target(street, i, time_s),
                                       to = th_crowd_view_follow_target(street, i, time_s + STEP_S);
                const double x = (double)(to.centre[0] - from.centre[0]), z = (double)(to.centre[2] - from.centre[2]);
                const double turned_rad = remainder((double)(to.heading_rad - from.heading_rad), 2 * acos(-1));
                const double heading_rad = (double)from.heading_rad + turned_rad / 2;
                if (fabs(z) > 10)
                    continue; /* has left at one end and entered at the other */
                cr_assert_float_eq(x, scale * walked * sin(heading_rad), 1e-3, "walker %u at %g s", i, time_s);
                cr_assert_float_eq(z, scale * walked * cos(heading_rad), 1e-3, "walker %u at %g s", i, time_s);
            }
        }
    }
}

Test(behaviour, a_walker_moves_as_far_as_its_feet_in_blends)
{
    th_crowd_view *street = make_street(40, TH_BEHAVIOUR_BLEND);
    walk_as_far_as_feet(street);
    th_crowd_view_destroy(street);
}

/* How far the balls of the feet slide on the street, at most, where ways weave and where the same people would walk
 * straight. */
#define FILM_S   10.0
#define FILM_END 30.0
#define FILM_HZ  120

static double slide_on_street(const th_crowd_view *street, uint32_t instance, bool weaves)
{
    const uint32_t toes[2] = {joint_named(human, "toe_l"), joint_named(human, "toe_r")};
    const double scale = (double)street->gpu_instances[instance].scale;
    th_scene scene = {.behaviour = street->behaviour};
    cast c = {.scene = &scene, .model = human};
    c.masks = th_compiled_model_masks(street->compiled_models[0], &c.mask_count);
    c.pose = calloc(human->joint_count + 1, sizeof *c.pose);
    c.weights = calloc(human->weight_count + 1, sizeof *c.weights);
    sole soles[2] = {{0}};
    for (int n = 0; n <= FILM_HZ * (FILM_END - FILM_S); n++) {
        const double time_s = FILM_S + (double)n / FILM_HZ;
        const th_follow_target target = th_crowd_view_follow_target(street, instance, time_s);
        const double heading_rad = weaves ? (double)target.heading_rad : 0;
        const double travel = scale * th_behaviour_travel(street->behaviour, instance, time_s);
        const double place[2] = {weaves ? (double)target.centre[0] : 0, weaves ? (double)target.centre[2] : travel};
        pose_at(&c, instance, time_s);
        for (int f = 0; f < 2; f++) {
            const double *m = c.pose[toes[f]].m, s = sin(heading_rad), co = cos(heading_rad);
            sole_moves(&soles[f], m[7], place[0] + scale * (co * m[3] + s * m[11]),
                       place[1] + scale * (co * m[11] - s * m[3]));
        }
    }
    free(c.pose);
    free(c.weights);
    return fmax(soles[0].most, soles[1].most);
}

/* The film of docs/notes/behaviours.md. */
static void feet_stand_where_ways_weave(const th_crowd_view *street)
{
    for (uint32_t i = 0; i < PEOPLE; i += is_nightly() ? 1 : 48) {
        const double weaving = slide_on_street(street, i, true);
        cr_expect_lt(weaving, SLIDE, "a foot of walker %u slides by %.1f mm", i, 1e3 * weaving);
        if (i % 8 > 0)
            continue;
        const double straight = slide_on_street(street, i, false);
        cr_expect_lt(weaving - straight, 0.004, "walker %u: %.1f mm, straight on %.1f", i, 1e3 * weaving,
                     1e3 * straight);
    }
}

Test(behaviour, of_a_street)
{
    th_crowd_view *street = make_street(PEOPLE, TH_BEHAVIOUR_GRAPH);
    nobody_walks_into_anybody(street);
    feet_stand_where_ways_weave(street);
    walk_as_far_as_feet(street);
    th_crowd_view_destroy(street);
}
