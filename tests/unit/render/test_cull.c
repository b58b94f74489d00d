/* Nobody who is visible is left out, few are listed who are not, and the lists are in order. */
#include "fixture_end.h"
#include "random_model.h"

#include <render/cull.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEED  31337u
#define COUNT 3000u /* no multiple of a block */
#define BLOCK 512u  /* of a small crowd */

enum { KINDS = 5, FIGURES = 3, LODS = 4 };

/* Two clips of one mesh; one whose sphere is beside its axis; one that is a point. */
static const th_cull_kind kinds[KINDS] = {
    {{{0, 0.9f, 0}, 1}, 0}, {{{0, 1.1f, 0}, 1.2f}, 0}, {{{3, 1, -2}, 0.5f}, 1},
    {{{0, 0, 0}, 0}, 2},    {{{0, 50, 5}, 60}, 2},
};
static uint32_t kind_of[COUNT];
static th_instance_transform transforms[COUNT];
static uint64_t state;

static float between(float low, float high)
{
    return (float)random_between(&state, (double)low, (double)high);
}

static void make_crowd(void)
{
    state = SEED;
    for (uint32_t i = 0; i < COUNT; i++) {
        kind_of[i] = (uint32_t)between(0, KINDS);
        float scale = kind_of[i] == 4 ? 0.01f : between(0.5f, 2);
        transforms[i] =
            (th_instance_transform){{between(-60, 60), between(-2, 2), between(-60, 60)}, between(-4, 4), scale};
    }
}

static void make_crowds(void)
{
    before_check = make_crowd;
    make_crowd();
}

TestSuite(cull, .init = make_crowds, .fini = end_all);

END_BY(th_cull_destroy)

static th_cull *create_for(const uint32_t *kinds_of, uint32_t count, th_isa isa)
{
    th_cull *cull;
    th_error err = {0};
    th_cull_desc desc = {.kinds = kinds,
                         .kind_count = KINDS,
                         .instance_kinds = kinds_of,
                         .instance_count = count,
                         .model_count = FIGURES,
                         .lod_count = LODS,
                         .isa = isa};
    cr_assert_eq(th_cull_create(&desc, &cull, &err), TH_OK, "%s", err.text);
    return at_end(end_by_th_cull_destroy, cull);
}

static th_cull *create(uint32_t count)
{
    return create_for(kind_of, count, TH_ISA_AUTO);
}

/* Everybody stands where he is. */
static th_cull *create_placed(th_isa isa)
{
    th_cull *cull = create_for(kind_of, COUNT, isa);
    th_cull_move(cull, 0, COUNT, transforms);
    return cull;
}

static th_camera random_camera(void)
{
    th_camera camera = th_camera_look_at((float[]){between(-70, 70), between(-3, 60), between(-70, 70)},
                                         (float[]){between(-30, 30), between(-9, 9), between(-30, 30)});
    camera.fov_y_rad = between(0.2f, 2);
    camera.far_z = between(30, 200);
    return camera;
}

static const float ASPECT = 1.6f;

static th_cull_view view_of(const th_camera *camera)
{
    th_cull_view view = {.pixels = th_camera_pixels(camera, 720), .lod_px = {100, 30, 10}};
    th_camera_eye(camera, view.eye);
    th_camera_frustum(camera, ASPECT, &view.frustum);
    return view;
}

static th_cull_view random_view(void)
{
    const th_camera camera = random_camera();
    return view_of(&camera);
}

static void run(th_cull *cull, const th_cull_view *view, const th_cull_light *light)
{
    uint32_t blocks = cull->block_count;
    th_cull_classify(cull, view, light, 0, blocks);
    th_cull_sum(cull);
    th_cull_scatter(cull, 0, blocks);
}

/* ---- who is visible ---- */

static void to_clip(const float clip[16], const double p[3], double at[4])
{
    for (int row = 0; row < 4; row++) {
        at[row] = (double)clip[12 + row];
        for (int col = 0; col < 3; col++)
            at[row] += (double)clip[4 * col + row] * p[col];
    }
}

static bool drawn(const float clip[16], const double p[3])
{
    double at[4];
    to_clip(clip, p, at);
    return fabs(at[0]) <= at[3] && fabs(at[1]) <= at[3] && fabs(at[2]) <= at[3];
}

/* Some point in the instance's sphere; on its surface from the 20th on. */
static void point_in_sphere(uint32_t i, int n, double out[3])
{
    const th_sphere *sphere = &kinds[kind_of[i]].sphere;
    th_mat34 m = th_instance_transform_matrix(&transforms[i]);
    double p[3], way[3], length = 0;
    for (int k = 0; k < 3; k++) {
        way[k] = random_between(&state, -1, 1);
        length += way[k] * way[k];
    }
    double far = (n < 20 ? random_between(&state, 0, 1) : 1) * (double)sphere->radius / fmax(sqrt(length), 1e-3);
    for (int k = 0; k < 3; k++)
        p[k] = (double)sphere->centre[k] + far * way[k];
    for (int row = 0; row < 3; row++) {
        out[row] = (double)m.m[4 * row + 3];
        for (int col = 0; col < 3; col++)
            out[row] += (double)m.m[4 * row + col] * p[col];
    }
}

/* Marks those in the lists. */
static void mark(const th_cull *cull, bool shadow_only, bool *marked)
{
    const th_draw_list *lists = cull->draw_lists;
    memset(marked, 0, COUNT * sizeof *marked);
    for (uint32_t g = 0; g < FIGURES * 2 * LODS; g++)
        for (uint32_t n = 0; lists[g].shadow_only == shadow_only && n < lists[g].count; n++)
            marked[cull->list[lists[g].first + n]] = true;
}

/* The radius of the instance's sphere, moved onto its axis, and its centre; in double. */
static double sphere_of(uint32_t i, double at[3])
{
    const th_sphere *sphere = &kinds[kind_of[i]].sphere;
    const th_instance_transform *p = &transforms[i];
    const double scale = (double)p->scale;
    for (int k = 0; k < 3; k++)
        at[k] = (double)p->position[k] + (k == 1 ? (double)sphere->centre[1] * scale : 0);
    return ((double)sphere->radius + hypot((double)sphere->centre[0], (double)sphere->centre[2])) * scale;
}

/* How far it reaches into the frustum, in the worst direction. */
static double reach(const th_frustum *frustum, uint32_t i)
{
    double at[3], least = HUGE_VAL, radius = sphere_of(i, at);
    for (int n = 0; n < 6; n++) {
        double d = (double)frustum->plane[n][3];
        for (int k = 0; k < 3; k++)
            d += (double)frustum->plane[n][k] * at[k];
        least = fmin(least, d + radius);
    }
    return least;
}

/* test_camera.c sees that all that is drawn is within the planes. */
CHECK(cull, shows_whose_sphere_is_within_all_planes_and_nobody_else)
{
    static bool visible[COUNT];
    th_cull *cull = create_placed(TH_ISA_AUTO);
    for (int round = 0; round < 60; round++) {
        const th_cull_view view = random_view();
        run(cull, &view, NULL);
        mark(cull, false, visible);
        for (uint32_t i = 0; i < COUNT; i++) {
            double in = reach(&view.frustum, i);
            cr_expect(fabs(in) < 1e-3 || visible[i] == (in > 0), "round %d: %u, %g", round, i, in);
        }
    }
}

/* ---- who throws a shadow ---- */

/* The clip space of a light's map: of a cube around the origin. */
static void light_clip(const float to_light[3], float side, float out[16])
{
    const float level = hypotf(to_light[0], to_light[2]);
    const float right[3] = {to_light[2] / level, 0, -to_light[0] / level};
    const float up[3] = {to_light[1] * right[2], level, -to_light[1] * right[0]};
    memset(out, 0, 16 * sizeof *out);
    for (int k = 0; k < 3; k++) {
        out[4 * k] = right[k] / side;
        out[4 * k + 1] = up[k] / side;
        out[4 * k + 2] = -to_light[k] / side;
    }
    out[15] = 1;
}

static float map[16]; /* the clip space of the last light */

static th_cull_light random_light(void)
{
    const float height = between(0.2f, 1.4f), angle = between(-4, 4);
    th_cull_light light = {.to_light = {cosf(height) * sinf(angle), sinf(height), cosf(height) * cosf(angle)},
                           .ground = between(-3, 0)};
    light_clip(light.to_light, between(10, 60), map);
    th_frustum_from_matrix(map, &light.map);
    return light;
}

CHECK(cull, never_loses_a_shadow_that_is_seen)
{
    static bool visible[COUNT], casts[COUNT];
    th_cull *cull = create_placed(TH_ISA_AUTO);
    uint32_t checked = 0, listed = 0;
    for (int round = 0; round < 60; round++) {
        th_camera camera = random_camera();
        th_cull_view view = view_of(&camera);
        float clip[16];
        const th_cull_light light = random_light();
        th_camera_clip(&camera, ASPECT, clip);
        run(cull, &view, &light);
        mark(cull, false, visible);
        mark(cull, true, casts);
        listed += cull->listed - cull->visible;
        for (uint32_t i = 0; i < COUNT; i++) {
            cr_expect(!visible[i] || !casts[i], "round %d: %u is listed twice", round, i);
            /* Whether the shadow of some point of the instance is visible, on its way to the ground. The map has no
             * end towards the light. */
            bool is_cast = false;
            for (int n = 0; n < 60 && !visible[i] && !is_cast; n++) {
                double at[3], in_map[4];
                point_in_sphere(i, n, at);
                const double length = (at[1] - (double)light.ground) / (double)light.to_light[1];
                const double way = length * (n % 2 ? 1 : random_between(&state, 0, 1));
                for (int k = 0; k < 3; k++)
                    at[k] -= way * (double)light.to_light[k];
                to_clip(map, at, in_map);
                is_cast = length > 0 && drawn(clip, at) && fabs(in_map[0]) <= 1 && fabs(in_map[1]) <= 1 &&
                          fabs(in_map[2]) <= 1;
            }
            checked += is_cast;
            cr_expect(casts[i] || !is_cast, "round %d: the shadow of %u of kind %u is lost", round, i, kind_of[i]);
        }
    }
    cr_expect(checked > 800 && listed < 4 * checked, "%u are casters, %u listed", checked, listed);
}

/* The camera looks down at a spot, the light comes from +X: who stands there throws his shadow in, on the other side or
 * too far away nobody does. */
CHECK(cull, casters_stand_on_the_side_of_the_light)
{
    const float up = sqrtf(0.5f);
    th_cull_light light = {.to_light = {up, up, 0}};
    th_camera camera = th_camera_look_at((float[]){0, 20, 0.01f}, (float[]){0, 0, 0});
    th_cull_view view = view_of(&camera);
    const float half_width = 20 * tanf(camera.fov_y_rad / 2) * ASPECT;
    light_clip(light.to_light, 50, map);
    th_frustum_from_matrix(map, &light.map);
    const float beside[] = {2.5f, -2.5f, 12}; /* metres outside of the picture's edge, to its right */
    for (int n = 0; n < 3; n++) {
        kind_of[n] = 0;
        transforms[n] =
            (th_instance_transform){.position = {copysignf(half_width, beside[n]) + beside[n], 0, 0}, .scale = 1};
    }
    th_cull *cull = create(3);
    th_cull_move(cull, 0, 3, transforms);
    run(cull, &view, &light);
    cr_expect_eq(cull->visible, 0);
    cr_expect_eq(cull->listed, 1);
    cr_expect_eq(cull->list[0], 0);
    light_clip(light.to_light, 2, map); /* a map that ends before him */
    th_frustum_from_matrix(map, &light.map);
    run(cull, &view, &light);
    cr_expect_eq(cull->listed, 0);
}

/* ---- how they are listed ---- */

static uint32_t lod_at(const th_cull_view *view, double px)
{
    uint32_t lod = 0;
    while (lod < LODS - 1 && px < (double)view->lod_px[lod])
        lod++;
    return lod;
}

CHECK(cull, groups_by_figure_and_size_in_order)
{
    th_cull *cull = create_placed(TH_ISA_AUTO);
    uint32_t of_level[2][LODS] = {0};
    for (int round = 0; round < 20; round++) {
        const th_cull_view view = random_view();
        const th_cull_light light = random_light();
        run(cull, &view, &light);
        const th_draw_list *lists = cull->draw_lists;
        const uint32_t *list = cull->list;
        bool listed[COUNT] = {false};
        uint32_t at = 0, visible = 0;
        for (uint32_t g = 0; g < FIGURES * 2 * LODS; g++) {
            cr_assert(lists[g].own == g / LODS / 2 && lists[g].lod == g % LODS && lists[g].first == at);
            cr_assert_eq(lists[g].shadow_only, g / LODS % 2 == 1);
            of_level[lists[g].shadow_only][lists[g].lod] += lists[g].count;
            visible += lists[g].shadow_only ? 0 : lists[g].count;
            for (uint32_t n = at; n < at + lists[g].count; n++) {
                uint32_t i = list[n];
                double at_i[3], away = 0, radius = sphere_of(i, at_i);
                for (int k = 0; k < 3; k++)
                    away += (at_i[k] - (double)view.eye[k]) * (at_i[k] - (double)view.eye[k]);
                const double px = 2 * radius / sqrt(away) * (double)view.pixels;
                cr_expect_eq(kinds[kind_of[i]].model, lists[g].own);
                cr_expect(lod_at(&view, px * 1.0001) <= lists[g].lod && lod_at(&view, px * 0.9999) >= lists[g].lod,
                          "%g pixels at level %u", px, lists[g].lod);
                cr_expect(n == at || list[n - 1] < i, "in order");
                cr_expect_not(listed[i], "once");
                listed[i] = true;
            }
            at += lists[g].count;
        }
        cr_expect_eq(at, cull->listed);
        cr_expect_eq(visible, cull->visible);
    }
    for (int n = 0; n < 2 * LODS; n++)
        cr_expect_gt(of_level[n / LODS][n % LODS], 20, "level %d: %u", n, of_level[n / LODS][n % LODS]);
}

static void expect_same(const th_cull *a, const th_cull *b)
{
    cr_expect_eq(a->visible, b->visible);
    cr_assert_eq(a->listed, b->listed);
    cr_expect(memcmp(a->list, b->list, a->listed * sizeof(uint32_t)) == 0);
    for (uint32_t g = 0; g < FIGURES * 2 * LODS; g++)
        cr_expect(a->draw_lists[g].first == b->draw_lists[g].first && a->draw_lists[g].count == b->draw_lists[g].count);
}

CHECK(cull, is_the_same_in_any_pieces)
{
    const th_cull_view view = random_view();
    const th_cull_light light = random_light();
    th_cull *whole = create_placed(TH_ISA_AUTO), *pieces = create(COUNT);
    for (uint32_t begin = 0; begin < COUNT; begin += 100)
        th_cull_move(pieces, begin, begin + 100, transforms + begin);
    run(whole, &view, &light);
    for (uint32_t b = pieces->block_count; b-- > 0;)
        th_cull_classify(pieces, &view, &light, b, b + 1);
    th_cull_sum(pieces);
    for (uint32_t b = pieces->block_count; b-- > 0;)
        th_cull_scatter(pieces, b, b + 1);
    expect_same(whole, pieces);
}

Test(cull, is_the_same_with_any_instruction_set)
{
    if (!th_isa_available(TH_ISA_AVX2))
        cr_skip_test("one instruction set is compiled for this machine");
    th_cull *scalar = create_placed(TH_ISA_SCALAR), *best = create_placed(TH_ISA_AUTO);
    for (int round = 0; round < 60; round++) {
        const th_cull_view view = random_view();
        const th_cull_light light = random_light();
        run(scalar, &view, round % 3 ? &light : NULL);
        run(best, &view, round % 3 ? &light : NULL);
        expect_same(scalar, best);
    }
}

/* Blocks grow with the crowd, so that their number does not. */
CHECK(cull, has_few_blocks_for_many)
{
    enum { MANY = 600000 };
    static uint32_t of_kind_0[MANY];
    th_cull *cull = create_for(of_kind_0, MANY, TH_ISA_AUTO);
    const uint32_t blocks = cull->block_count;
    cr_expect(blocks > TH_CULL_MAX_BLOCKS / 2 && blocks <= TH_CULL_MAX_BLOCKS, "%u blocks", blocks);
    for (uint32_t b = 0; b < blocks; b++)
        cr_expect_lt(th_cull_block_begin(cull, b), th_cull_block_begin(cull, b + 1));
    cr_expect_eq(th_cull_block_begin(cull, blocks), MANY);
    for (uint32_t i = 0; i < MANY; i++)
        th_cull_move(cull, i, i + 1, &(th_instance_transform){.position = {(float)(i % 4)}, .scale = 1});
    th_camera camera = th_camera_look_at((float[]){0, 0, 40}, (float[]){0, 0, 0});
    th_cull_view view = view_of(&camera);
    run(cull, &view, NULL);
    cr_expect_eq(cull->visible, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        cr_assert_eq(cull->list[i], i);
}

/* Who walks changes Z alone. */
CHECK(cull, sees_who_moved_along_z)
{
    th_cull *moved = create(COUNT), *walked = create(COUNT);
    const th_cull_view view = random_view();
    th_cull_move(walked, 0, COUNT, transforms);
    for (uint32_t i = 0; i < COUNT; i++)
        walked->z[i] = transforms[i].position[2] = between(-60, 60);
    th_cull_move(moved, 0, COUNT, transforms);
    run(moved, &view, NULL);
    run(walked, &view, NULL);
    expect_same(moved, walked);
}

/* ---- edges ---- */

/* Faults should show. */
CHECK(cull, shows_who_is_nowhere_and_all_to_a_camera_that_is)
{
    th_cull *cull = create(10);
    th_camera camera = th_camera_look_at((float[]){0, 0, 4}, (float[]){0, 0, 0});
    th_cull_view view = view_of(&camera);
    run(cull, &view, NULL);
    cr_expect_eq(cull->visible, 0, "not before they are told where");
    for (int i = 0; i < 10; i++)
        transforms[i].position[2] = i == 3 ? (float)NAN : 1000;
    th_cull_move(cull, 0, 10, transforms);
    run(cull, &view, NULL);
    cr_expect_eq(cull->visible, 1);
    cr_expect_eq(cull->list[0], 3);
    for (int p = 0; p < 6; p++)
        view.frustum.plane[p][3] = (float)NAN;
    run(cull, &view, NULL);
    cr_expect_eq(cull->visible, 10);
}

CHECK(cull, works_for_any_number)
{
    static const uint32_t counts[] = {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK};
    th_camera camera = th_camera_look_at((float[]){0, 0, 400}, (float[]){0, 0, 0});
    th_cull_view view = view_of(&camera);
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        th_cull *cull = create(counts[n]);
        th_cull_move(cull, 0, counts[n], transforms);
        run(cull, &view, NULL);
        cr_expect_eq(cull->visible, counts[n]);
    }
    th_cull_destroy(NULL);
}

CHECK(cull, refuses_more_figures_than_it_can_number)
{
    th_cull *cull;
    th_error err = {0};
    th_cull_desc desc = {.model_count = TH_CULL_MAX_MODELS + 1, .lod_count = 4};
    cr_expect_eq(th_cull_create(&desc, &cull, &err), TH_ERR_LIMIT);
    cr_expect_null(cull);
    cr_expect(strstr(err.text, "3277"), "%s", err.text);
    desc.model_count--;
    cr_expect_eq(th_cull_create(&desc, &cull, &err), TH_OK);
    th_cull_destroy(cull);
}

Test(cull, checks)
{
    run_checks("cull");
}
