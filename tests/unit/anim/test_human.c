#include "fixture_human.h"
#include "fixture_memory.h"
#include "fixture_morph.h"

#include <anim/exact.h>
#include <throng/throng.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- helpers ---- */

static th_dmat34 *pose, *palette;

static void set_up(void)
{
    make_human();
    pose = calloc(human->joint_count, sizeof *pose);
    palette = calloc(human->bone_count, sizeof *palette);
}

static void tear_down(void)
{
    free_human();
    free(pose);
    free(palette);
}

TestSuite(human, .init = set_up, .fini = tear_down);

typedef struct vec3 {
    double x, y, z;
} vec3;

static vec3 vec(const float p[3])
{
    return (vec3){(double)p[0], (double)p[1], (double)p[2]};
}

static vec3 sub(vec3 a, vec3 b)
{
    return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static double dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vec3 cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static double length(vec3 a)
{
    return sqrt(dot(a, a));
}

static const th_clip *clip_named(const char *name)
{
    uint32_t c = th_model_find_clip(human, name);
    cr_assert_neq(c, TH_NO_INDEX, "no clip %s", name);
    return &human->clips[c];
}

static vec3 joint_in(const th_dmat34 *of, const char *name)
{
    uint32_t j = th_model_find_joint(human, name);
    cr_assert_neq(j, TH_NO_INDEX, "no joint %s", name);
    return (vec3){of[j].m[3], of[j].m[7], of[j].m[11]};
}

static vec3 joint_at(const th_clip *clip, double ticks, const char *name)
{
    th_exact_pose(human, clip, ticks, TH_INTERPOLATION_AUTHORED, pose);
    return joint_in(pose, name);
}

/* Of the skin. */
static double lowest_point_at(const th_clip *clip, double ticks)
{
    double lowest = HUGE_VAL, p[3];
    th_exact_pose(human, clip, ticks, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_palette(human, pose, palette);
    for (uint32_t v = 0; v < human->meshes[0].vertex_count; v++) {
        skin_vertex(&human->meshes[0], v, NULL, palette, p);
        lowest = fmin(lowest, p[1]);
    }
    return lowest;
}

/* ---- the model ---- */

Test(human, is_a_valid_model_of_the_stated_kind)
{
    th_error err;
    cr_assert_eq(th_model_check(human, &err), TH_OK, "%s", err.text);
    cr_assert_str_eq(human->name, TH_HUMAN_NAME);
    cr_assert(human->joint_count >= 50 && human->joint_count <= 70, "%u joints", human->joint_count);
    cr_assert_eq(human->bone_count, human->joint_count);
    cr_assert_eq(human->mesh_count, 1);
    cr_assert_eq(human->material_count, 1);
    cr_assert_eq(human->warning_count, 0);
    uint32_t vertices = human->meshes[0].vertex_count;
    cr_assert(vertices >= 2000 && vertices <= 7000, "%u vertices", vertices);
}

Test(human, fails_cleanly_when_memory_runs_out)
{
    long n = 0;
    for (th_result result = TH_ERR_MEMORY; result != TH_OK; n++) {
        th_error err = {0};
        th_model *model = human;
        allocations_left = n;
        result = th_human_create(&model, &err);
        allocations_left = -1;
        cr_assert(result == TH_OK || (result == TH_ERR_MEMORY && !model && err.text[0]), "allocation %ld", n);
        if (result == TH_OK)
            th_model_destroy(model);
    }
    cr_assert_gt(n, 5, "only %ld allocations were seen", n);
}

Test(human, is_rigid)
{
    for (uint32_t j = 0; j < human->joint_count; j++) {
        const float *m = human->joints[j].rest.m;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                cr_assert_float_eq(m[a] * m[b] + m[4 + a] * m[4 + b] + m[8 + a] * m[8 + b], a == b, 1e-6);
    }
    for (uint32_t c = 0; c < human->clip_count; c++)
        for (uint32_t i = 0; i < human->clips[c].channel_count; i++)
            for (int k = 0; k < 3; k++) {
                const th_track *scale = &human->clips[c].channels[i].scale;
                cr_assert_eq(scale->key_count, 1);
                cr_assert_eq(scale->values[k], 1);
            }
}

Test(human, stands_on_the_floor_1_8_m_tall_and_faces_z)
{
    vec3 low = {9, 9, 9}, high = {-9, -9, -9};
    const th_mesh *mesh = &human->meshes[0];
    double nose = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        vec3 p = vec(mesh->vertices[v].position);
        low = (vec3){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
        high = (vec3){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
        if (p.y > 1.6)
            nose = fmax(nose, p.z);
    }
    cr_assert_float_eq(low.y, 0, 0.002, "feet at %g", low.y);
    cr_assert_float_eq(high.y, 1.8, 0.01, "%g tall", high.y);
    cr_assert_float_eq(low.x, -high.x, 1e-4);
    cr_assert_float_eq(high.x - low.x, 1.8, 0.05, "span %g", high.x - low.x);
    cr_assert_gt(nose, 0.1);

    th_exact_pose(human, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    cr_assert_gt(joint_in(pose, "hand_l").x, 0.5);
    cr_assert_lt(joint_in(pose, "hand_r").x, -0.5);
    cr_assert_gt(joint_in(pose, "toe_l").z, joint_in(pose, "foot_l").z + 0.1);
}

/* ---- the skin ---- */

Test(human, every_joint_moves_some_skin)
{
    double most[70] = {0};
    const th_mesh *mesh = &human->meshes[0];
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (int k = 0; k < 4; k++) {
            double *of_bone = &most[mesh->vertices[v].bone[k]];
            *of_bone = fmax(*of_bone, (double)mesh->vertices[v].weight[k]);
        }
    for (uint32_t b = 0; b < human->bone_count; b++)
        cr_expect_gt(most[b], 0.4, "%s: %g at most", human->joints[human->bones[b].joint].name, most[b]);
}

/* Even the coarsest bend, a knuckle, is more than one edge wide. */
Test(human, weights_do_not_jump_along_any_edge)
{
    const th_mesh *mesh = &human->meshes[0];
    for (uint32_t i = 0; i < mesh->index_count; i++) {
        uint32_t j = i % 3 == 2 ? i - 2 : i + 1;
        const th_vertex *a = &mesh->vertices[mesh->indices[i]], *b = &mesh->vertices[mesh->indices[j]];
        double weights[70] = {0}, change = 0;
        for (int k = 0; k < 4; k++) {
            weights[a->bone[k]] += (double)a->weight[k];
            weights[b->bone[k]] -= (double)b->weight[k];
        }
        for (int k = 0; k < 70; k++)
            change += fabs(weights[k]) / 2;
        cr_expect_lt(change, 0.9, "%g at height %g", change, vec(a->position).y);
    }
}

Test(human, normals_have_unit_length_and_agree_with_the_triangles)
{
    const th_mesh *mesh = &human->meshes[0];
    uint32_t wrong = 0;
    double volume = 0;
    for (uint32_t i = 0; i < mesh->index_count; i += 3) {
        const th_vertex *corner[3];
        vec3 p[3];
        for (uint32_t k = 0; k < 3; k++) {
            corner[k] = &mesh->vertices[mesh->indices[i + k]];
            p[k] = vec(corner[k]->position);
            cr_assert_float_eq(length(vec(corner[k]->normal)), 1, 1e-5);
        }
        vec3 face = cross(sub(p[1], p[0]), sub(p[2], p[0]));
        volume += dot(p[0], cross(p[1], p[2])) / 6;
        for (int k = 0; k < 3; k++)
            wrong += dot(face, vec(corner[k]->normal)) < 0;
    }
    /* All clothes together, on the broadest person. */
    cr_assert(volume > 0.12 && volume < 0.2, "%g m3", volume);
    /* A sharp rim in a coarse grid turns a corner here and there. */
    cr_assert_lt(wrong, mesh->index_count / 200, "%u of %u corners", wrong, mesh->index_count);
}

static int compare_edges(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The first vertex at the same place in the same pose: regions of one surface have vertices of their own where they
 * meet. */
static uint32_t *find_places(const th_mesh *mesh)
{
    uint32_t *places = calloc(mesh->vertex_count, sizeof *places);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const th_vertex *vertex = &mesh->vertices[v];
        while (memcmp(mesh->vertices[places[v]].position, vertex->position, sizeof vertex->position) != 0)
            places[v]++;
        const th_vertex *first = &mesh->vertices[places[v]];
        cr_assert_eq(memcmp(first->weight, vertex->weight, sizeof vertex->weight), 0, "vertex %u would part", v);
        cr_assert_eq(memcmp(first->bone, vertex->bone, sizeof vertex->bone), 0, "vertex %u would part", v);
        cr_assert_eq(first->color[TH_APPEARANCE_SLACK], vertex->color[TH_APPEARANCE_SLACK], "vertex %u would part", v);
    }
    return places;
}

/* Each part is closed: every edge is used once in each direction. */
Test(human, has_no_holes)
{
    const th_mesh *mesh = &human->meshes[0];
    uint32_t *places = find_places(mesh);
    uint64_t *ways = calloc(mesh->index_count, sizeof *ways), *back = calloc(mesh->index_count, sizeof *back);
    for (uint32_t i = 0; i < mesh->index_count; i++) {
        uint64_t a = places[mesh->indices[i]], b = places[mesh->indices[i % 3 == 2 ? i - 2 : i + 1]];
        cr_assert_neq(a, b);
        ways[i] = a << 32 | b;
        back[i] = b << 32 | a;
    }
    qsort(ways, mesh->index_count, sizeof *ways, compare_edges);
    qsort(back, mesh->index_count, sizeof *back, compare_edges);
    cr_assert_eq(memcmp(ways, back, mesh->index_count * sizeof *ways), 0);
    for (uint32_t i = 1; i < mesh->index_count; i++)
        cr_assert_neq(ways[i], ways[i - 1]);
    free(places);
    free(ways);
    free(back);
}

/* ---- the clips ---- */

Test(human, has_the_clips_it_should_at_their_pace)
{
    const struct {
        const char *name;
        double shortest, longest;
    } expected[] = {{"idle", 3, 5}, {"walk", 1, 1.1}, {"run", 0.65, 0.75}, {"jog", 0.75, 0.85},
                    {"wave", 2, 3}, {"cheer", 1, 2},  {"dance", 1.5, 3}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const th_clip *clip = clip_named(expected[i].name);
        double seconds = clip->duration_ticks / clip->ticks_per_second;
        cr_expect(seconds >= expected[i].shortest && seconds <= expected[i].longest, "%s: %g s", clip->name, seconds);
    }
}

/* By tick and joint a point beside it, so that its turns are seen as well. */
typedef vec3 track[70];

static void record(const th_clip *clip, track *at)
{
    const double beside[3] = {0.1, 0.1, 0.1};
    for (uint32_t t = 0; t <= clip->duration_ticks; t++) {
        th_exact_pose(human, clip, t, TH_INTERPOLATION_AUTHORED, pose);
        for (uint32_t j = 0; j < human->joint_count; j++) {
            double p[3];
            th_dmat34_point(&pose[j], beside, p);
            at[t][j] = (vec3){p[0], p[1], p[2]};
        }
    }
}

static void assert_seamless(const th_clip *clip, track *at, uint32_t j)
{
    const uint32_t end = (uint32_t)clip->duration_ticks;
    const char *joint = human->joints[j].name;
    double roughest = 0;
    for (uint32_t t = 0; t + 2 < end; t++) /* not the last step, which the seam is made of */
        roughest = fmax(roughest, length(sub(sub(at[t + 2][j], at[t + 1][j]), sub(at[t + 1][j], at[t][j]))));
    const double jump = length(sub(at[0][j], at[end][j]));
    const double seam = length(sub(sub(at[1][j], at[0][j]), sub(at[end][j], at[end - 1][j])));
    cr_expect_lt(jump, 1e-6, "%s: %s jumps by %g", clip->name, joint, jump);
    cr_expect_lt(seam, 1.2 * roughest + 1e-5, "%s: the speed of %s changes by %g at the seam, %g elsewhere", clip->name,
                 joint, seam, roughest);
}

Test(human, clips_loop_without_a_jump_in_place_or_velocity)
{
    static track at[256];
    for (uint32_t c = 0; c < human->clip_count; c++) {
        cr_assert(human->clips[c].duration_ticks < 256 && human->joint_count <= 70);
        record(&human->clips[c], at);
        for (uint32_t j = 0; j < human->joint_count; j++)
            assert_seamless(&human->clips[c], at, j);
    }
}

Test(human, clips_move)
{
    for (uint32_t c = 0; c < human->clip_count; c++) {
        const th_clip *clip = &human->clips[c];
        vec3 start = joint_at(clip, 0, "hand_r");
        double farthest = 0;
        for (double t = 0; t < clip->duration_ticks; t++)
            farthest = fmax(farthest, length(sub(joint_at(clip, t, "hand_r"), start)));
        cr_expect_gt(farthest, strcmp(clip->name, "idle") == 0 ? 0.02 : 0.1, "%s: %g m", clip->name, farthest);
    }
}

Test(human, feet_stay_above_the_floor_and_somebody_stands_on_it)
{
    for (uint32_t c = 0; c < human->clip_count; c++) {
        const th_clip *clip = &human->clips[c];
        double lowest = HUGE_VAL, highest = -HUGE_VAL;
        for (double t = 0; t < clip->duration_ticks; t += 0.5) {
            double y = lowest_point_at(clip, t);
            lowest = fmin(lowest, y);
            highest = fmax(highest, y);
        }
        bool flies = strcmp(clip->name, "run") == 0 || strcmp(clip->name, "jog") == 0;
        cr_expect_gt(lowest, -0.008, "%s: %g m under the floor", clip->name, -lowest);
        cr_expect(flies ? highest > 0.01 : highest < 0.01, "%s: up to %g m above the floor", clip->name, highest);
    }
}

Test(human, knees_never_bend_backwards)
{
    const char *legs[2][3] = {{"thigh_l", "calf_l", "foot_l"}, {"thigh_r", "calf_r", "foot_r"}};
    for (uint32_t c = 0; c < human->clip_count; c++)
        for (double t = 0; t < human->clips[c].duration_ticks; t += 0.5)
            for (int s = 0; s < 2; s++) {
                vec3 hip = joint_at(&human->clips[c], t, legs[s][0]), knee = joint_in(pose, legs[s][1]),
                     ankle = joint_in(pose, legs[s][2]);
                vec3 thigh = sub(knee, hip), calf = sub(ankle, knee);
                double sine = cross(thigh, calf).x / length(thigh) / length(calf);
                cr_expect_gt(sine, 0.02, "%s at %g: %s", human->clips[c].name, t, legs[s][1]);
            }
}

/* A joint's way along Z from one key to the next. */
static double advance(const th_clip *clip, double ticks, const char *joint)
{
    double from = joint_at(clip, ticks, joint).z;
    return joint_at(clip, ticks + 1, joint).z - from;
}

/* Over ground that passes at the stated speed, the flat foot and then the toes stay where they are. */
static void assert_no_sliding(const char *name, double speed, double flat_from, double flat_to, double off)
{
    const th_clip *clip = clip_named(name);
    double n = clip->duration_ticks, per_tick = speed / clip->ticks_per_second;
    for (double t = ceil(flat_from * n); t + 1 <= off * n; t++) {
        cr_expect_float_eq(advance(clip, t, "toe_l"), -per_tick, 0.003, "%s at %g: toes slide", name, t);
        if (t + 1 <= flat_to * n)
            cr_expect_float_eq(advance(clip, t, "foot_l"), -per_tick, 0.001, "%s at %g: foot slides", name, t);
    }
}

Test(human, standing_feet_do_not_slide)
{
    assert_no_sliding("walk", TH_HUMAN_WALK_SPEED, 0.09, 0.36, 0.6);
    assert_no_sliding("jog", TH_HUMAN_JOG_SPEED, 0.07, 0.20, 0.4);
    assert_no_sliding("run", TH_HUMAN_RUN_SPEED, 0.06, 0.15, 0.32);
}

Test(human, left_and_right_of_the_walk_mirror_each_other_half_a_cycle_apart)
{
    const char *pairs[][2] = {{"foot_l", "foot_r"},      {"toe_l", "toe_r"}, {"calf_l", "calf_r"},
                              {"hand_l", "hand_r"},      {"head", "head"},   {"lowerarm_l", "lowerarm_r"},
                              {"ring_03_l", "ring_03_r"}};
    const char *gaits[] = {"walk", "jog"};
    for (size_t g = 0; g < 2; g++) {
        const th_clip *clip = clip_named(gaits[g]);
        double half = clip->duration_ticks / 2;
        for (double t = 0; t < half; t++)
            for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
                vec3 left = joint_at(clip, t, pairs[i][0]), right = joint_at(clip, t + half, pairs[i][1]);
                right.x = -right.x;
                cr_expect_lt(length(sub(left, right)), 1e-5, "%s at %g: %s", clip->name, t, pairs[i][0]);
            }
    }
}
