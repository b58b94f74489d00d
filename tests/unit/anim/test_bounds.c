/* Spheres that hold what they say, and are no larger than they need; clips that walk as fast as they are said to. */
#include "fixture_human.h"
#include "fixture_import.h"
#include "fixture_morph.h"

#include <anim/bounds.h>
#include <throng/throng.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define SEED 20240607u
#define PI   3.14159265358979

TestSuite(bounds, .init = make_human, .fini = free_human);
TestSuite(root_motion, .init = make_human, .fini = free_human);

/* ---- brute force ---- */

/* What all vertices of a model do, pose by pose. */
typedef struct brute {
    double radius;  /* the farthest from the sphere's centre */
    double outside; /* and from the sphere of its part of the clip; negative: within */
    double reach;   /* and from the Y axis */
    double lowest;  /* the least height */
} brute;

static double away_from(const double at[3], const th_bounds_sphere *sphere)
{
    double away = 0;
    for (int i = 0; i < 3; i++)
        away += (at[i] - sphere->centre[i]) * (at[i] - sphere->centre[i]);
    return sqrt(away);
}

static void look(const th_model *model, const th_clip *clip, double ticks, th_interpolation interpolation,
                 const th_bounds *bounds, brute *seen)
{
    th_dmat34 *pose = calloc(model->joint_count, sizeof *pose), *palette = calloc(model->bone_count, sizeof *palette);
    th_exact_pose(model, clip, ticks, interpolation, pose);
    th_exact_palette(model, pose, palette);
    const uint32_t part = clip ? (uint32_t)(TH_BOUNDS_PARTS * ticks / clip->duration_ticks) : TH_BOUNDS_PARTS / 2;
    double *weights = calloc(model->weight_count + 1u, sizeof *weights);
    th_exact_weights(model, clip, ticks, interpolation, weights);
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++) {
            double at[3];
            skin_vertex(&model->meshes[m], v, weights, palette, at);
            seen->radius = fmax(seen->radius, away_from(at, &bounds->all));
            seen->outside = fmax(seen->outside, away_from(at, &bounds->parts[part]) - bounds->parts[part].radius);
            seen->reach = fmax(seen->reach, hypot(at[0], at[2]));
            seen->lowest = fmin(seen->lowest, at[1]);
        }
    free(pose);
    free(palette);
    free(weights);
}

/* Moments at random, one in each of so many equal parts. */
static brute look_through(const th_model *model, uint32_t clip, th_interpolation interpolation, const th_bounds *bounds,
                          int moments)
{
    brute seen = {.outside = -HUGE_VAL, .lowest = HUGE_VAL};
    uint64_t state = SEED;
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (int i = 0; i < moments && (clip == c || clip == TH_ALL_CLIPS); i++)
            look(model, &model->clips[c], model->clips[c].duration_ticks * random_between(&state, i, i + 1) / moments,
                 interpolation, bounds, &seen);
    if (clip >= TH_ALL_CLIPS)
        look(model, NULL, 0, TH_INTERPOLATION_AUTHORED, bounds, &seen);
    return seen;
}

static th_bounds bounds_of(const th_model *model, uint32_t clip, th_interpolation interpolation)
{
    th_bounds bounds;
    th_error err = {0};
    cr_assert_eq(th_model_bounds(model, clip, interpolation, &bounds, &err), TH_OK, "%s", err.text);
    return bounds;
}

/* most: how much larger than need be the radius may be. low: how far the lowest point may be off, of the model's size.
 */
static void check_bounds(const th_model *model, uint32_t clip, th_interpolation interpolation, int moments, double most,
                         double low)
{
    th_bounds bounds = bounds_of(model, clip, interpolation);
    brute seen = look_through(model, clip, interpolation, &bounds, moments);
    const char *what = th_interpolation_name(interpolation);
    cr_expect_leq(seen.radius, bounds.all.radius, "%s, clip %d, %s: a vertex %g outside of %g", model->name, (int)clip,
                  what, seen.radius - bounds.all.radius, bounds.all.radius);
    cr_expect_leq(bounds.all.radius, most * seen.radius, "%s, clip %d, %s: radius %g, of which %g is needed",
                  model->name, (int)clip, what, bounds.all.radius, seen.radius);
    if (clip != TH_ALL_CLIPS)
        cr_expect_leq(seen.outside, 0, "%s, clip %d, %s: a vertex %g outside of its part", model->name, (int)clip, what,
                      seen.outside);
    cr_expect(bounds.reach >= seen.reach && bounds.reach <= 2 * most * seen.reach, "%s, clip %d, %s: reach %g, not %g",
              model->name, (int)clip, what, bounds.reach, seen.reach);
    cr_expect_float_eq(bounds.lowest_y, seen.lowest, low * model->size, "%s, clip %d, %s: lowest %g, not %g",
                       model->name, (int)clip, what, bounds.lowest_y, seen.lowest);
}

/* ---- spheres ---- */

Test(bounds, hold_the_human_in_every_clip)
{
    for (uint32_t c = 0; c < human->clip_count; c++)
        check_bounds(human, c, TH_INTERPOLATION_AUTHORED, 60, 1.1, 0.002);
    check_bounds(human, TH_NO_INDEX, TH_INTERPOLATION_AUTHORED, 0, 1.1, 0);
    check_bounds(human, TH_ALL_CLIPS, TH_INTERPOLATION_AUTHORED, 30, 1.1, 0.002);
}

/* The human of 1.8 m, feet on the ground; arms reach beyond when it cheers. */
Test(bounds, of_the_human_are_what_one_would_guess)
{
    th_bounds idle = bounds_of(human, th_model_find_clip(human, "idle"), TH_INTERPOLATION_AUTHORED);
    cr_expect_float_eq(idle.all.centre[1], 0.9, 0.06, "%g", idle.all.centre[1]);
    cr_expect(idle.all.radius > 0.9 && idle.all.radius < 1, "%g", idle.all.radius);
    cr_expect_float_eq(idle.lowest_y, 0, 0.01, "%g", idle.lowest_y);
}

/* Weights from -0.5 to 1.5, and targets that move vertices by a fiftieth of the size. */
Test(bounds, hold_morphed_vertices)
{
    for (uint32_t n = 0; n < 12; n++) {
        const random_desc desc = {.seed = n,
                                  .joint_count = 1 + n % 4,
                                  .clip_count = n % 2,
                                  .key_count = 5,
                                  .scale = (random_scale)(n % 3),
                                  .swing_rad = 0.2};
        th_model *model = morph_model(&desc, 1 + n);
        for (uint32_t c = 0; c < model->clip_count; c++)
            check_bounds(model, c, TH_INTERPOLATION_AUTHORED, 200, 2.5, 0.02);
        check_bounds(model, TH_NO_INDEX, TH_INTERPOLATION_AUTHORED, 0, 2.5, 1e-6);
        th_model_destroy(model);
    }
}

/* A triangle that one target after the other turns farther about its middle. */
Test(bounds, of_targets_that_are_frames_are_tight)
{
    enum { FRAMES = 5 };
    static const th_vertex vertices[] = {{.position = {0, 0, 0}, .weight = {1}},
                                         {.position = {1, 0, 0}, .weight = {1}},
                                         {.position = {0, 1, 0}, .weight = {1}}};
    static const uint32_t indices[] = {0, 1, 2};
    static const double times[] = {0, 1, 2, 3, 4};
    th_morph_delta deltas[FRAMES][3];
    th_morph_target targets[FRAMES];
    th_weight weights[FRAMES];
    th_weight_track tracks[FRAMES];
    float values[FRAMES][FRAMES] = {{0}};
    for (uint32_t t = 0; t < FRAMES; t++) {
        const float c = cosf((float)t), n = sinf((float)t);
        for (uint32_t v = 0; v < 3; v++) {
            const float x = vertices[v].position[0] - .5f, y = vertices[v].position[1] - .5f;
            deltas[t][v] = (th_morph_delta){v, {c * x - n * y - x, n * x + c * y - y, 0}, {0}};
        }
        targets[t] = (th_morph_target){t, 3, deltas[t]};
        weights[t] = (th_weight){"", 0, 0};
        values[t][t] = 1;
        tracks[t] = (th_weight_track){t, {FRAMES, times, values[t], NULL, false}, NULL};
    }
    th_clip clip = clip_of(NULL, 0, 4, 1);
    clip.weight_tracks = tracks;
    clip.weight_track_count = FRAMES;
    const th_material material = {.name = "m", .texture = TH_NO_INDEX};
    const th_mesh mesh = {.name = "m",
                          .vertex_count = 3,
                          .index_count = 3,
                          .vertices = vertices,
                          .indices = indices,
                          .target_count = FRAMES,
                          .targets = targets};
    th_model model = model_of(&root_joint, &root_bone, 1, &clip);
    model.weights = weights;
    model.weight_count = FRAMES;
    model.meshes = &mesh;
    model.materials = &material;
    model.mesh_count = model.material_count = 1;
    check_bounds(&model, 0, TH_INTERPOLATION_AUTHORED, 100, 1.8, 0.02);
}

/* Vertices of up to eight influences, most of them far from their joints. */
static void check_random(const random_desc *desc, th_interpolation interpolation, double most)
{
    th_model *model = morph_model(desc, 0);
    model->clip_count -= MORPH_CLIPS;
    model->size = th_model_measure(model);
    const int moments = desc->key_count > 500 ? 2000 : 500;
    for (uint32_t c = 0; c < model->clip_count; c++)
        check_bounds(model, c, interpolation, moments, most, 0.05);
    check_bounds(model, TH_ALL_CLIPS, interpolation, moments, most, 0.05);
    th_model_destroy(model);
}

/* Half the vertices follow joints that are nowhere near, so the balls are large. */
Test(bounds, hold_random_models)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int scale = RANDOM_RIGID; scale <= RANDOM_NON_UNIFORM; scale++) {
            random_desc desc = {.seed = seed,
                                .joint_count = 12,
                                .shape = (random_shape)(seed % 3),
                                .scale = (random_scale)scale,
                                .clip_count = 2,
                                .key_count = 7,
                                .uneven_keys = seed % 2,
                                .swing_rad = seed % 4 ? 0.6 : PI,
                                .splines = seed % 5 == 0,
                                .double_bones = seed % 2};
            check_random(&desc, TH_INTERPOLATION_AUTHORED, 4);
        }
}

Test(bounds, hold_every_interpolation)
{
    random_desc desc = {.seed = SEED, .joint_count = 20, .clip_count = 2, .key_count = 9, .swing_rad = 1};
    for (int mode = TH_INTERPOLATION_AUTHORED; mode < TH_INTERPOLATION_COUNT; mode++)
        check_random(&desc, (th_interpolation)mode, 3);
}

/* Two keys and a half turn of a long arm between them: the sphere must know where the arm swings through. */
Test(bounds, hold_what_swings_wide_between_keys)
{
    random_desc desc = {
        .seed = 5, .joint_count = 2, .shape = RANDOM_CHAIN, .clip_count = 1, .key_count = 2, .swing_rad = PI};
    for (desc.seed = 1; desc.seed < 30; desc.seed++)
        check_random(&desc, TH_INTERPOLATION_AUTHORED, 2);
}

/* Two vertices: one still, at y = -3; one on an arm of length 1 that points up at rest and swings between -80 and 40
 * degrees, so often that there are but two samples a swing, and none where it points up. */
typedef struct swing {
    th_model model;
    th_joint joints[2];
    th_bone bones[2];
    th_vertex vertices[2];
    th_mesh mesh;
    th_clip clip;
    th_channel channel;
    double times[65];
    float rotations[65][4];
} swing;

static void make_swing(swing *s)
{
    *s = (swing){
        .joints = {{"root", TH_NO_INDEX, TH_MAT34_IDENTITY, NULL}, {"arm", 0, TH_MAT34_IDENTITY, NULL}},
        .bones = {{0, TH_MAT34_IDENTITY}, {1, TH_MAT34_IDENTITY}},
        .vertices = {{.position = {0, -3, 0}, .weight = {1}}, {.position = {0, 1, 0}, .weight = {1}, .bone = {1}}}};
    for (int k = 0; k < 65; k++) {
        double half = (k % 2 ? 40 : -80) * PI / 180 / 2;
        s->times[k] = k;
        s->rotations[k][2] = (float)sin(half);
        s->rotations[k][3] = (float)cos(half);
    }
    s->mesh = (th_mesh){.name = "mesh", .vertex_count = 2, .vertices = s->vertices};
    s->channel = turning_channel(1, 65, s->times, s->rotations[0]);
    s->clip = clip_of(&s->channel, 1, 64, 1);
    s->model = model_of(s->joints, s->bones, 2, &s->clip);
    s->model.meshes = &s->mesh;
    s->model.mesh_count = 1;
    s->model.size = 4;
}

Test(bounds, hold_what_happens_between_samples)
{
    swing s;
    make_swing(&s);
    check_bounds(&s.model, 0, TH_INTERPOLATION_AUTHORED, 1000, 1.1, 0);
}

/* Two vertices: 4 apart, their middle 1 away from the origin. */
Test(bounds, leave_the_margin_they_state)
{
    swing s;
    make_swing(&s);
    th_bounds bounds = bounds_of(&s.model, TH_NO_INDEX, TH_INTERPOLATION_AUTHORED);
    cr_expect_float_eq(bounds.all.centre[1], -1, 1e-9);
    cr_expect_float_eq(bounds.all.radius, 2 + 3.0 / 500, 1e-9, "%g", bounds.all.radius);
}

/* The root travels 10 along X and back; each part of the clip sees little of it. */
Test(bounds, follow_what_travels_part_by_part)
{
    const double times[] = {0, 32, 64};
    const float there_and_back[] = {0, 0, 0, 10, 0, 0, 0, 0, 0};
    swing s;
    make_swing(&s);
    s.channel.joint = 0;
    s.channel.translation = (th_track){.key_count = 3, .times = times, .values = there_and_back};
    s.channel.rotation = (th_track){.key_count = 1, .times = times, .values = (const float[]){0, 0, 0, 1}};
    check_bounds(&s.model, 0, TH_INTERPOLATION_AUTHORED, 1000, 1.2, 0);
    const th_bounds bounds = bounds_of(&s.model, 0, TH_INTERPOLATION_AUTHORED);
    for (uint32_t p = 0; p < TH_BOUNDS_PARTS; p++) {
        const double part_x = 10 - 10 * fabs((p + 0.5) / (TH_BOUNDS_PARTS / 2) - 1);
        cr_expect_float_eq(bounds.parts[p].centre[0], part_x, 1, "part %u: %g", p, bounds.parts[p].centre[0]);
        cr_expect_lt(bounds.parts[p].radius, 0.6 * bounds.all.radius, "part %u: %g", p, bounds.parts[p].radius);
    }
}

/* More keys than samples. */
Test(bounds, hold_clips_of_many_keys)
{
    random_desc desc = {.seed = SEED, .joint_count = 3, .clip_count = 1, .key_count = 5000, .swing_rad = 0.05};
    check_random(&desc, TH_INTERPOLATION_AUTHORED, 2);
}

/* Farthest out just before it is a little nearer. */
Test(bounds, hold_what_comes_before_a_jump)
{
    static const double times[] = {0, 1, 1, 2};
    static const float way[12] = {0, 0, 0, 10, 0, 0, 9.6F};
    const th_channel channel = moving_channel(0, (th_track){4, times, way, NULL, false});
    const th_clip clip = clip_of(&channel, 1, 2, 1);
    const th_model model = model_of(&root_joint, &root_bone, 1, &clip);
    cr_expect_geq(bounds_of(&model, 0, TH_INTERPOLATION_AUTHORED).reach, 10 * (1 - 1e-9));
}

Test(bounds, of_a_model_without_vertices_are_those_of_its_joints)
{
    random_desc desc = {.seed = SEED, .joint_count = 20, .clip_count = 2, .key_count = 9, .swing_rad = 1};
    th_model *model = random_model(&desc);
    th_bounds bounds = bounds_of(model, 0, TH_INTERPOLATION_AUTHORED);
    th_dmat34 pose[20];
    double reach = 0, lowest = HUGE_VAL;
    for (double t = 0; t <= model->clips[0].duration_ticks; t += 0.01) {
        th_exact_pose(model, &model->clips[0], t, TH_INTERPOLATION_AUTHORED, pose);
        for (int j = 0; j < 20; j++) {
            double x = pose[j].m[3] - bounds.all.centre[0], y = pose[j].m[7] - bounds.all.centre[1],
                   z = pose[j].m[11] - bounds.all.centre[2];
            reach = fmax(reach, sqrt(x * x + y * y + z * z));
            lowest = fmin(lowest, pose[j].m[7]);
        }
    }
    cr_expect(reach + 0.05 * model->size <= bounds.all.radius && bounds.all.radius < 1.2 * reach + 0.05 * model->size,
              "%g around %g", bounds.all.radius, reach);
    cr_expect_float_eq(bounds.lowest_y, lowest, 0.01 * model->size);
    th_model_destroy(model);
}

/* ---- root_motion ---- */

static th_root_motion root_motion_of(const th_model *model, uint32_t clip)
{
    th_root_motion root_motion;
    th_error err = {0};
    cr_assert_lt(clip, model->clip_count);
    cr_assert_eq(th_clip_root_motion(model, clip, TH_INTERPOLATION_AUTHORED, &root_motion, &err), TH_OK, "%s",
                 err.text);
    return root_motion;
}

Test(root_motion, of_the_human_is_found_by_its_feet)
{
    const struct {
        const char *name;
        double speed;
    } gaits[] = {{"walk", TH_HUMAN_WALK_SPEED}, {"jog", TH_HUMAN_JOG_SPEED}, {"run", TH_HUMAN_RUN_SPEED}};
    for (size_t g = 0; g < sizeof gaits / sizeof *gaits; g++) {
        th_root_motion root_motion = root_motion_of(human, th_model_find_clip(human, gaits[g].name));
        cr_expect_eq(root_motion.kind, TH_ROOT_MOTION_IN_PLACE, "%s", gaits[g].name);
        cr_expect_float_eq(root_motion.speed, gaits[g].speed, 0.03 * gaits[g].speed, "%s: %g m/s", gaits[g].name,
                           root_motion.speed);
        cr_expect_float_eq(root_motion.heading_rad, 0, 0.03, "%s: %g", gaits[g].name, root_motion.heading_rad);
    }
}

Test(root_motion, is_not_what_stands_waves_or_dances)
{
    const char *names[] = {"idle", "wave", "cheer", "dance"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        th_root_motion root_motion = root_motion_of(human, th_model_find_clip(human, names[n]));
        cr_expect_eq(root_motion.kind, TH_ROOT_MOTION_NONE, "%s: %g m/s", names[n], root_motion.speed);
        cr_expect_eq(root_motion.speed, 0);
    }
    th_root_motion rest = {.kind = TH_ROOT_MOTION_BAKED};
    cr_assert_eq(th_clip_root_motion(human, TH_NO_INDEX, TH_INTERPOLATION_AUTHORED, &rest, NULL), TH_OK);
    cr_expect_eq(rest.kind, TH_ROOT_MOTION_NONE);
}

/* Sends the hips of a clip off at (x, z) m/s. */
static void push_root(uint32_t clip, double x, double z)
{
    const th_clip *c = &human->clips[clip];
    cr_assert_eq(c->channels[0].joint, 0);
    const th_track *track = &c->channels[0].translation;
    float *values = (float *)track->values;
    cr_assert_gt(track->key_count, 1);
    for (uint32_t k = 0; k < track->key_count; k++) {
        values[3 * k] += (float)(x * track->times[k] / c->ticks_per_second);
        values[3 * k + 2] += (float)(z * track->times[k] / c->ticks_per_second);
    }
}

Test(root_motion, of_a_root_that_moves_is_its_way)
{
    uint32_t walk = th_model_find_clip(human, "walk"), idle = th_model_find_clip(human, "idle");
    push_root(walk, 0, TH_HUMAN_WALK_SPEED);
    th_root_motion root_motion = root_motion_of(human, walk);
    cr_expect_eq(root_motion.kind, TH_ROOT_MOTION_BAKED);
    cr_expect_float_eq(root_motion.speed, TH_HUMAN_WALK_SPEED, 1e-3, "%g", root_motion.speed);
    cr_expect_float_eq(root_motion.heading_rad, 0, 1e-3);
    cr_expect_float_eq(root_motion.loop_s, human->clips[walk].duration_ticks / human->clips[walk].ticks_per_second,
                       1e-9);

    push_root(idle, -0.5, 0);
    root_motion = root_motion_of(human, idle);
    cr_expect_eq(root_motion.kind, TH_ROOT_MOTION_BAKED);
    cr_expect_float_eq(root_motion.heading_rad, -PI / 2, 1e-3, "towards -X: %g", root_motion.heading_rad);
    check_bounds(human, idle, TH_INTERPOLATION_AUTHORED, 60, 1.1, 0.002);
}

/* A foot that taps: ahead and up, down, and back up the same way. It is never down at two moments in a row. */
Test(root_motion, is_not_a_foot_that_taps)
{
    enum { TAPS = 40, KEYS = 2 * TAPS + 1 };
    static double times[KEYS];
    static float way[3 * KEYS];
    const th_joint joints[] = {{"hip", TH_NO_INDEX, TH_MAT34_IDENTITY, NULL}, {"foot", 0, TH_MAT34_IDENTITY, NULL}};
    for (int k = 0; k < KEYS; k++) {
        times[k] = k;
        way[3 * k + 1] = k % 2 ? -2 : -1;
        way[3 * k + 2] = k % 2 ? 0.5F : -0.5F;
    }
    const th_channel channel = moving_channel(1, (th_track){KEYS, times, way, NULL, false});
    const th_clip clip = clip_of(&channel, 1, KEYS - 1, 10);
    th_model model = model_of(joints, NULL, 2, &clip);
    model.bone_count = 0;
    model.size = 2;
    cr_expect_eq(root_motion_of(&model, 0).kind, TH_ROOT_MOTION_NONE);
}

/* ---- a real file ---- */

/* The hooves of this one swing below the ground, which is not how it goes: it would walk backwards. */
Test(bounds, hold_a_real_file_whose_hooves_tell_no_root_motion)
{
    th_model *wuson = import_good(testmodel("X/Testwuson.X"));
    cr_assert_eq(wuson->clip_count, 3);
    for (uint32_t c = 0; c < wuson->clip_count; c++) {
        check_bounds(wuson, c, TH_INTERPOLATION_AUTHORED, 100, 1.15, 0.002);
        const th_root_motion root_motion = root_motion_of(wuson, c);
        cr_expect_eq(root_motion.kind, TH_ROOT_MOTION_NONE, "%s: %g towards %g", wuson->clips[c].name,
                     root_motion.speed, root_motion.heading_rad);
    }
    th_model_destroy(wuson);
}
