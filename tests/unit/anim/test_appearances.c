/* Inside, since a program never sees which wardrobe is whose. Appearances in general on models of a few triangles,
 * and the appearances of the embedded human. */
#include "fixture_human.h"

#include "human/parts.h"

#include <anim/archive.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a model of three triangles, one in each region ---- */

enum { SMALL_APPEARANCES = 2, SMALL_REGIONS = 3 };

typedef struct small {
    th_joint joint;
    th_bone bone;
    th_material material;
    th_vertex vertices[9];
    uint32_t indices[9];
    th_mesh mesh;
    th_appearance_region regions[SMALL_APPEARANCES * SMALL_REGIONS];
    float statures[SMALL_APPEARANCES];
    th_model model;
} small;

static void make_small(small *s)
{
    const th_mat34 still = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    *s = (small){.joint = {.name = "root", .parent = TH_NO_INDEX, .rest = still},
                 .bone = {.inverse_bind = still},
                 .material = {.name = "cloth", .base_color = {1, 1, 1, 1}, .texture = TH_NO_INDEX},
                 .regions = {{{255, 0, 188}, 0},
                             {{10, 20, 30}, 127},
                             {{1, 2, 3}, TH_APPEARANCE_NOT_WORN},
                             {{0, 0, 0}, TH_APPEARANCE_NOT_WORN},
                             {{9, 9, 9}, 254},
                             {{7, 7, 7}, 0}},
                 .statures = {1, 0.5F}};
    for (uint32_t i = 0; i < 9; i++) {
        s->indices[i] = i;
        s->vertices[i] = (th_vertex){.position = {(float)i, (float)(i % 3 == 1), 0},
                                     .normal = {0, 0, 1},
                                     .color = {255, 255, 0, (uint8_t)(i / 3)},
                                     .weight = {1}};
    }
    s->vertices[0].color[TH_APPEARANCE_SHADE] = 51;
    s->vertices[4].color[TH_APPEARANCE_SLACK] = 0;
    s->mesh =
        (th_mesh){.name = "mesh", .vertex_count = 9, .index_count = 9, .vertices = s->vertices, .indices = s->indices};
    s->model = (th_model){.name = "small",
                          .joint_count = 1,
                          .joints = &s->joint,
                          .bone_count = 1,
                          .bones = &s->bone,
                          .mesh_count = 1,
                          .meshes = &s->mesh,
                          .material_count = 1,
                          .materials = &s->material,
                          .appearances = {SMALL_APPEARANCES, SMALL_REGIONS, 0.5F, s->regions, s->statures},
                          .size = 8};
}

Test(appearances, of_a_dressed_model_are_in_its_vertices)
{
    small s;
    make_small(&s);
    th_error err;
    th_model *dressed;
    cr_assert_eq(th_model_check(&s.model, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_model_dress(&s.model, 0, &dressed, &err), TH_OK, "%s", err.text);
    cr_expect_eq(th_model_check(dressed, &err), TH_OK, "%s", err.text);
    cr_expect_eq(dressed->appearances.count, 0);
    const th_mesh *mesh = dressed->meshes;
    cr_assert_eq(mesh->vertex_count, 6);
    cr_assert_eq(mesh->index_count, 6);
    /* 188 of sRGB is half of the light, 128; a fifth of it is 25 or 26. */
    cr_expect(mesh->vertices[0].color[0] == 51 && mesh->vertices[0].color[1] == 0);
    cr_expect(abs(mesh->vertices[0].color[2] - 26) <= 1, "%u", mesh->vertices[0].color[2]);
    cr_expect(abs(mesh->vertices[1].color[2] - 128) <= 1, "%u", mesh->vertices[1].color[2]);
    cr_expect_eq(mesh->vertices[1].color[3], 255);
    cr_expect_eq(mesh->vertices[2].position[2], 0);
    cr_expect_float_eq(mesh->vertices[3].position[2], -0.25, 1e-6);
    cr_expect_eq(mesh->vertices[4].position[2], 0); /* has no slack */
    th_model_destroy(dressed);

    cr_assert_eq(th_model_dress(&s.model, 1, &dressed, &err), TH_OK, "%s", err.text);
    mesh = dressed->meshes;
    cr_assert_eq(mesh->vertex_count, 6);
    cr_expect_eq(mesh->vertices[0].position[0], 3); /* the first three are not worn */
    cr_expect_float_eq(mesh->vertices[0].position[2], -0.5, 1e-6);
    cr_expect_eq(mesh->indices[5], 5);
    th_model_destroy(dressed);
}

static void expect_refused(const small *s, const char *why)
{
    th_error err = {0};
    cr_expect_neq(th_model_check(&s->model, &err), TH_OK, "%s", why);
    cr_expect_neq(strstr(err.text, why), NULL, "\"%s\" instead of %s", err.text, why);
}

Test(appearances, that_contradict_the_model_are_refused)
{
    small s;
    make_small(&s);
    s.model.appearances.count = TH_MAX_APPEARANCES + 1;
    expect_refused(&s, "1025 appearances");
    make_small(&s);
    s.model.appearances.slack = -1;
    expect_refused(&s, "slack");
    make_small(&s);
    s.statures[1] = 0;
    expect_refused(&s, "appearance 1 has a stature");
    make_small(&s);
    s.material.alpha = TH_ALPHA_MASK;
    expect_refused(&s, "material cloth");
    make_small(&s);
    s.vertices[8].color[TH_APPEARANCE_REGION] = 1; /* the corners of a triangle differ */
    expect_refused(&s, "mesh mesh");
    make_small(&s);
    s.vertices[6].color[TH_APPEARANCE_REGION] = s.vertices[7].color[TH_APPEARANCE_REGION] =
        s.vertices[8].color[TH_APPEARANCE_REGION] = 3;
    expect_refused(&s, "mesh mesh");
}

static void expect_same_appearances(const th_appearances *a, const th_appearances *b)
{
    cr_assert_eq(a->count, b->count);
    cr_assert_eq(a->region_count, b->region_count);
    cr_expect_eq(a->slack, b->slack);
    cr_expect_neq(a->regions, b->regions);
    cr_expect_eq(memcmp(a->regions, b->regions, (size_t)a->count * a->region_count * sizeof *a->regions), 0);
    cr_expect_eq(memcmp(a->statures, b->statures, a->count * sizeof *a->statures), 0);
}

Test(appearances, travel_in_archives_and_stay_when_clips_are_attached)
{
    make_human();
    th_error err;
    th_model *other;
    size_t size;
    uint8_t *bytes = th_archive_write(human, &size);
    cr_assert_eq(th_archive_read(bytes, size, &other, &err), TH_OK, "%s", err.text);
    expect_same_appearances(&human->appearances, &other->appearances);
    th_model_destroy(other);
    free(bytes);
    cr_assert_eq(th_model_attach_clips(human, human, &other, &err), TH_OK, "%s", err.text);
    expect_same_appearances(&human->appearances, &other->appearances);
    th_model_destroy(other);
    free_human();
}

Test(appearances, are_picked_by_seed_and_all_of_them)
{
    const th_appearances appearances = {.count = 100}, none = {0};
    uint32_t seen[100] = {0}, differ = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        const uint32_t appearance = th_appearances_pick(&appearances, 1, i);
        cr_assert_lt(appearance, 100);
        cr_assert_eq(appearance, th_appearances_pick(&appearances, 1, i));
        seen[appearance]++;
        differ += appearance != th_appearances_pick(&appearances, 2, i);
    }
    for (uint32_t l = 0; l < 100; l++)
        cr_expect(seen[l] > 50 && seen[l] < 150, "appearance %u of %u", l, seen[l]); /* 100, and five deviations */
    cr_expect_gt(differ, 9800);
    cr_expect_eq(th_appearances_pick(&none, 1, 5), 0);
}

/* ---- the human's ---- */

TestSuite(human_appearances, .init = make_human, .fini = free_human);

static const th_appearance_region *appearance_of(uint32_t appearance)
{
    return human->appearances.regions + (size_t)appearance * REGION_COUNT;
}

static bool is_worn(const th_appearance_region *appearance, th_human_region region)
{
    return appearance[region].tightness != TH_APPEARANCE_NOT_WORN;
}

static bool has_color(const th_appearance_region *appearance, th_human_region region, th_human_region other)
{
    return memcmp(appearance[region].color, appearance[other].color, sizeof appearance->color) == 0;
}

static void expect_clothes(const th_appearance_region *appearance, uint32_t which, th_human_region region)
{
    cr_expect(is_worn(appearance, region), "appearance %u lacks region %d", which, region);
    cr_expect(!has_color(appearance, region, REGION_SKIN), "appearance %u: region %d has the colour of skin", which,
              region);
}

Test(human_appearances, nobody_is_without_clothes)
{
    for (uint32_t l = 0; l < human->appearances.count; l++) {
        const th_appearance_region *appearance = appearance_of(l);
        const th_human_region always[] = {REGION_TORSO, REGION_FRONT, REGION_UPPER_ARM, REGION_SHOE, REGION_SOLE};
        for (size_t i = 0; i < sizeof always / sizeof *always; i++)
            expect_clothes(appearance, l, always[i]);
        if (!is_worn(appearance, REGION_SKIRT)) {
            expect_clothes(appearance, l, REGION_HIPS);
            expect_clothes(appearance, l, REGION_THIGH);
        } else {
            expect_clothes(appearance, l, REGION_SKIRT);
            cr_expect(!is_worn(appearance, REGION_HIPS), "appearance %u: hips would come through the skirt", l);
        }
        const th_human_region body[] = {REGION_SKIN,  REGION_LIPS, REGION_EYE,    REGION_IRIS,    REGION_BROW,
                                        REGION_THIGH, REGION_SHIN, REGION_COLLAR, REGION_FOREARM, REGION_HAIR};
        for (size_t i = 0; i < sizeof body / sizeof *body; i++)
            cr_expect(is_worn(appearance, body[i]), "appearance %u lacks region %d", l, body[i]);
    }
}

/* Parts that continue each other are as tight, or one of them is skin in a sleeve or leg that is wider. */
static void expect_no_gap(const th_appearance_region *appearance, uint32_t which, th_human_region cloth,
                          th_human_region next)
{
    cr_expect(appearance[next].tightness == appearance[cloth].tightness ||
                  (appearance[next].tightness == 254 && has_color(appearance, next, REGION_SKIN)),
              "appearance %u: %d is not as tight as %d", which, next, cloth);
}

Test(human_appearances, parts_of_clothes_meet)
{
    for (uint32_t l = 0; l < human->appearances.count; l++) {
        const th_appearance_region *appearance = appearance_of(l);
        expect_no_gap(appearance, l, REGION_TORSO, REGION_UPPER_ARM);
        expect_no_gap(appearance, l, REGION_UPPER_ARM, REGION_FOREARM);
        expect_no_gap(appearance, l, REGION_TORSO, REGION_COLLAR);
        if (is_worn(appearance, REGION_HIPS)) {
            expect_no_gap(appearance, l, REGION_HIPS, REGION_THIGH);
            expect_no_gap(appearance, l, REGION_THIGH, REGION_SHIN);
        }
    }
}

/* Colours of clothes are never on skin or eyes: those have few colours of their own. */
Test(human_appearances, skin_and_eyes_keep_their_colours)
{
    uint32_t skins = 0;
    uint8_t found[16][3];
    for (uint32_t l = 0; l < human->appearances.count; l++) {
        const th_appearance_region *appearance = appearance_of(l);
        const uint8_t *skin = appearance[REGION_SKIN].color, *eye = appearance[REGION_EYE].color;
        uint32_t s = 0;
        while (s < skins && memcmp(found[s], skin, 3) != 0)
            s++;
        cr_assert_lt(s, 16);
        if (s == skins)
            memcpy(found[skins++], skin, 3);
        cr_expect(skin[0] > skin[1] && skin[1] > skin[2] && skin[0] < 3 * skin[2], "appearance %u: %u %u %u", l,
                  skin[0], skin[1], skin[2]);
        cr_expect_eq(memcmp(eye, appearance_of(0)[REGION_EYE].color, 3), 0, "appearance %u", l);
        cr_expect(eye[0] > 200 && eye[1] > 200 && eye[2] > 200);
        cr_expect(appearance[REGION_SKIN].tightness == 0 && appearance[REGION_EYE].tightness == 0);
    }
    cr_expect(skins >= 5 && skins <= 8, "%u colours of skin", skins);
}

/* Heads and hands have the same shape in all appearances, so eyes and fingers stay where they are. */
Test(human_appearances, heads_and_hands_have_no_slack)
{
    const th_mesh *mesh = &human->meshes[0];
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        if (mesh->vertices[v].color[TH_APPEARANCE_REGION] <= REGION_BUN)
            cr_expect_eq(mesh->vertices[v].color[TH_APPEARANCE_SLACK], 0, "vertex %u", v);
}

Test(human_appearances, differ_in_builds_and_parts)
{
    uint32_t tightnesses[256] = {0}, worn[REGION_COUNT] = {0}, builds = 0, small_ones = 0;
    for (uint32_t l = 0; l < human->appearances.count; l++) {
        builds += tightnesses[appearance_of(l)[REGION_TORSO].tightness]++ == 0;
        small_ones += human->appearances.statures[l] < 0.8F;
        for (uint32_t r = 0; r < REGION_COUNT; r++)
            worn[r] += is_worn(appearance_of(l), r);
    }
    cr_expect_geq(builds, 3);
    cr_expect(small_ones * 20 > human->appearances.count && small_ones * 5 < human->appearances.count, "%u children",
              small_ones);
    const th_human_region some[] = {REGION_LONG_HAIR, REGION_BUN, REGION_HOOD, REGION_SKIRT};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        cr_expect(worn[some[i]] * 20 > human->appearances.count && worn[some[i]] * 2 < human->appearances.count,
                  "%u with %d", worn[some[i]], some[i]);
}

/* At rest, in bands of height and directions from the axis, no leg reaches as far as the skirt over it. */
Test(human_appearances, legs_are_inside_skirts)
{
    enum { DIRECTIONS = 12, BANDS = 3 };
    uint32_t l = 0;
    while (!is_worn(appearance_of(l), REGION_SKIRT))
        l++;
    double reach[2][BANDS][DIRECTIONS] = {{{0}}};
    const th_mesh *mesh = &human->meshes[0];
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const th_vertex *vertex = &mesh->vertices[v];
        const uint8_t region = vertex->color[TH_APPEARANCE_REGION];
        const double band = ((double)vertex->position[1] - 0.58) / 0.05;
        if ((region != REGION_THIGH && region != REGION_SKIRT) || band < 0 || band >= BANDS)
            continue;
        const double inwards = vertex->color[TH_APPEARANCE_SLACK] / 255.0 * appearance_of(l)[region].tightness / 254 *
                               (double)human->appearances.slack;
        const double x = (double)vertex->position[0] - inwards * (double)vertex->normal[0],
                     z = (double)vertex->position[2] - inwards * (double)vertex->normal[2];
        const int direction = (int)(DIRECTIONS * (atan2(z, x) / (2 * 3.14159265358979) + 0.5)) % DIRECTIONS;
        double *farthest = &reach[region == REGION_SKIRT][(int)band][direction];
        if (region == REGION_THIGH || hypot(x, z) > 0.1)
            *farthest = fmax(*farthest, hypot(x, z));
    }
    for (int band = 0; band < BANDS; band++)
        for (int d = 0; d < DIRECTIONS; d++)
            if (reach[1][band][d] > 0)
                cr_expect_lt(reach[0][band][d], reach[1][band][d] - 0.01, "band %d, direction %d", band, d);
}
