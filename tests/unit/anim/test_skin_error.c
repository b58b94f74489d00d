/* Distances of skins in pixels, against all vertices skinned and projected in double precision. */
#include "fixture_human.h"
#include "fixture_import.h"
#include "fixture_morph.h"

#include <anim/exact.h>
#include <anim/skin_error.h>
#include <anim/synthetic.h>
#include <core/cache_line.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

TestSuite(skin_error, .init = make_human, .fini = free_human);

/* ---- a camera of its own ---- */

typedef struct eye {
    double at[3], to[3], fov_y_rad, width, height, near_z, far_z;
} eye;

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void axes_of(const eye *e, double right[3], double up[3], double forward[3])
{
    for (int i = 0; i < 3; i++)
        forward[i] = e->to[i] - e->at[i];
    double length = length_of(forward);
    for (int i = 0; i < 3; i++)
        forward[i] /= length;
    cross(forward, (double[3]){0, 1, 0}, right);
    length = length_of(right);
    for (int i = 0; i < 3; i++)
        right[i] /= length;
    cross(right, forward, up);
}

/* Pixels from the picture's middle, as a pinhole camera sees them. Returns whether it is in the picture. */
static bool look(const eye *e, const double p[3], double out[2])
{
    double right[3], up[3], forward[3], x = 0, y = 0, depth = 0;
    axes_of(e, right, up, forward);
    for (int i = 0; i < 3; i++) {
        x += right[i] * (p[i] - e->at[i]);
        y += up[i] * (p[i] - e->at[i]);
        depth += forward[i] * (p[i] - e->at[i]);
    }
    const double focal = e->height / 2 / tan(e->fov_y_rad / 2), at = fmax(depth, e->near_z);
    out[0] = focal * x / at;
    out[1] = focal * y / at;
    return depth >= e->near_z && fabs(out[0]) <= e->width / 2 && fabs(out[1]) <= e->height / 2;
}

/* The same as a matrix. The character is turned by a quarter about Y, scaled and moved. */
typedef struct stance {
    double scale, x, z;
} stance;

static void to_scene(const stance *s, const double p[3], double out[3])
{
    out[0] = s->scale * p[2] + s->x;
    out[1] = s->scale * p[1];
    out[2] = -s->scale * p[0] + s->z;
}

static th_skin_screen screen_of(const eye *e, const stance *s)
{
    double axes[3][3], columns[4][3];
    axes_of(e, axes[0], axes[1], axes[2]);
    const double tangent = tan(e->fov_y_rad / 2);
    th_skin_screen out = {.width = (float)e->width, .height = (float)e->height, .near_z = (float)e->near_z};
    for (int col = 0; col < 4; col++) { /* where the axes and the origin go */
        double zero[3], unit[3];
        to_scene(s, (double[3]){0, 0, 0}, zero);
        to_scene(s, (double[3]){col == 0, col == 1, col == 2}, unit);
        for (int i = 0; i < 3; i++)
            columns[col][i] = col < 3 ? unit[i] - zero[i] : zero[i] - e->at[i];
        double seen[3];
        for (int r = 0; r < 3; r++)
            seen[r] = axes[r][0] * columns[col][0] + axes[r][1] * columns[col][1] + axes[r][2] * columns[col][2];
        out.clip_from_model[4 * col] = (float)(seen[0] / tangent * e->height / e->width);
        out.clip_from_model[4 * col + 1] = (float)(seen[1] / tangent);
        out.clip_from_model[4 * col + 3] = (float)seen[2];
    }
    return out;
}

/* ---- palettes ---- */

typedef struct palette {
    th_format format;
    th_dmat34 *as_drawn; /* decoded; weights follow the bones */
    void *entries;
} palette;

static palette make_palette(const th_model *model, uint32_t clip, double ticks, th_format format)
{
    const uint32_t entries = th_palette_entries(model->bone_count, model->weight_count);
    const size_t bytes = th_palette_entry_bytes(format);
    palette p = {format, calloc(entries + 1u, sizeof *p.as_drawn), th_cache_line_alloc(entries * bytes)};
    th_dmat34 *pose = calloc((size_t)model->joint_count + model->bone_count, sizeof *pose);
    double *weights = calloc(model->weight_count + 1u, sizeof *weights);
    const th_clip *played = clip < model->clip_count ? &model->clips[clip] : NULL;
    th_exact_pose(model, played, ticks, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_weights(model, played, ticks, TH_INTERPOLATION_AUTHORED, weights);
    th_exact_palette(model, pose, pose + model->joint_count);
    for (uint32_t e = 0; e < entries; e++) {
        th_mat34 entry = {{0}};
        const th_palette_base base = e < model->bone_count ? th_model_palette_base(model, e) : (th_palette_base){0};
        if (e < model->bone_count)
            entry = th_mat34_from(pose[model->joint_count + e]);
        for (uint32_t w = 0; e >= model->bone_count && w < 12; w++)
            if (12 * (e - model->bone_count) + w < model->weight_count)
                entry.m[w] = (float)weights[12 * (e - model->bone_count) + w];
        th_palette_write(format, entry.m, &base, (char *)p.entries + e * bytes);
        th_palette_read(format, (const char *)p.entries + e * bytes, &base, entry.m);
        p.as_drawn[e] = th_dmat34_from(entry);
    }
    free(weights);
    free(pose);
    return p;
}

static void free_palette(palette *p)
{
    free(p->as_drawn);
    free(p->entries);
}

/* ---- brute force ---- */

static double distance_px(const eye *e, const stance *s, const double a[3], const double b[3])
{
    double scene[3], one[2], other[2];
    to_scene(s, a, scene);
    const bool is_in = look(e, scene, one);
    to_scene(s, b, scene);
    const bool other_is_in = look(e, scene, other);
    return is_in || other_is_in ? hypot(one[0] - other[0], one[1] - other[1]) : 0;
}

static double brute_force(const th_model *model, const palette *drawn, const palette *full, const eye *e,
                          const stance *s)
{
    double most = 0, a[3], b[3];
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++) {
            skin_vertex(&model->meshes[m], v, drawn->as_drawn[model->bone_count].m, drawn->as_drawn, a);
            skin_vertex(&model->meshes[m], v, full->as_drawn[model->bone_count].m, full->as_drawn, b);
            most = fmax(most, distance_px(e, s, a, b));
        }
    return most;
}

/* ---- comparing ---- */

static th_skin *skin_of(const th_model *model)
{
    th_skin *skin;
    th_error err;
    cr_assert_eq(th_skin_create(model, NULL, &skin, &err), TH_OK, "%s", err.text);
    return skin;
}

static double measure(const th_skin *skin, const palette *drawn, const palette *full, const eye *e, const stance *s)
{
    const th_skin_screen screen = screen_of(e, s);
    void *scratch = th_cache_line_alloc(th_skin_scratch_bytes(skin));
    const double px = (double)th_skin_error_px(skin, (th_skin_palette){drawn->format, drawn->entries},
                                               (th_skin_palette){full->format, full->entries}, &screen, scratch);
    free(scratch);
    return px;
}

/* Far away, from above, close, and so close that some of it is outside of the picture or behind the eye. In sizes of
 * the model. */
static const eye eyes[] = {
    {{3, 1, 22}, {0, 0.5, 0}, 0.7, 1920, 1080, 0.1, 100},
    {{-8, 9, 5}, {0, 0.4, 0}, 0.7, 1920, 1080, 0.1, 100},
    {{1, 0.9, 1.2}, {0, 0.5, 0}, 1.2, 800, 1000, 0.05, 100},
    {{0.3, 0.9, 0.2}, {0.1, 0.6, -0.1}, 0.9, 640, 480, 0.01, 100},
};

/* Rounding in single precision, in shares of a picture's height. */
#define NOISE 2e-6

static uint32_t check_pair(const th_model *model, const th_skin *skin, const palette *drawn, const palette *full)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < sizeof eyes / sizeof *eyes; i++) {
        eye e = eyes[i];
        const stance s = {1.1, 0.2 * model->size, -0.1 * model->size};
        for (int k = 0; k < 3; k++) {
            e.at[k] *= model->size;
            e.to[k] *= model->size;
        }
        e.near_z *= model->size;
        const double wanted = brute_force(model, drawn, full, &e, &s), got = measure(skin, drawn, full, &e, &s);
        const double closeness = 1 / (eyes[i].near_z * 10);
        cr_assert_float_eq(got, wanted, 0.05 * wanted + NOISE * e.height * closeness, "%s, eye %zu: %g, not %g pixels",
                           model->name, i, got, wanted);
        seen += wanted > 0.01;
    }
    return seen;
}

/* Each clip against itself a little later, and against coarser palettes. */
static void check_model(const th_model *model, bool has_quaternions)
{
    th_skin *skin = skin_of(model);
    uint32_t seen = 0;
    for (uint32_t c = 0; c < model->clip_count && c < 4; c++)
        for (int moment = 0; moment < 2; moment++) {
            const th_clip *clip = &model->clips[c];
            const double ticks = clip->duration_ticks * (0.13 + 0.31 * moment), later = clip->ticks_per_second / 60;
            palette full = make_palette(model, c, ticks, TH_FORMAT_F32);
            for (int format = 0; format < (has_quaternions ? TH_FORMAT_COUNT : TH_FORMAT_QUAT); format++) {
                palette same = make_palette(model, c, ticks, (th_format)format);
                palette shifted =
                    make_palette(model, c, fmod(ticks + later, fmax(clip->duration_ticks, 1e-9)), (th_format)format);
                check_pair(model, skin, &same, &full);
                seen += check_pair(model, skin, &shifted, &full);
                free_palette(&same);
                free_palette(&shifted);
            }
            free_palette(&full);
        }
    cr_assert_gt(seen, 0, "%s: nothing moves", model->name);
    th_skin_destroy(skin);
}

Test(skin_error, equals_all_vertices_of_the_human)
{
    check_model(human, true);
}

Test(skin_error, equals_all_vertices_of_synthetic_models)
{
    const th_synthetic_shape shapes[] = {TH_SYNTHETIC_TREE, TH_SYNTHETIC_CHAIN, TH_SYNTHETIC_STAR};
    for (uint32_t i = 0; i < 6; i++) {
        th_synthetic_desc desc = TH_SYNTHETIC_DEFAULT;
        th_model *model;
        th_error err;
        desc.shape = shapes[i % 3];
        desc.moving_scale = i >= 3;
        desc.weights = i == 5 ? 30 : 0;
        cr_assert_eq(th_synthetic_create(&desc, &model, &err), TH_OK, "%s", err.text);
        check_model(model, !desc.moving_scale);
        th_model_destroy(model);
    }
}

Test(skin_error, equals_all_vertices_of_random_models_with_targets)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        const random_desc desc = {.seed = seed,
                                  .joint_count = 3 + (uint32_t)seed,
                                  .shape = (random_shape)(seed % 3),
                                  .scale = (random_scale)(seed % 4),
                                  .clip_count = 2,
                                  .key_count = 9,
                                  .swing_rad = 1,
                                  .double_bones = seed % 2};
        th_model *model = morph_model(&desc, 20);
        check_model(model, false);
        th_model_destroy(model);
    }
}

Test(skin_error, equals_all_vertices_of_files)
{
    static const char *const files[] = {"X/Testwuson.X", "FBX/animation_with_skeleton.fbx"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        th_model *model = import_good(testmodel(files[i]));
        check_model(model, false);
        th_model_destroy(model);
    }
}

/* ---- what it says ---- */

static const stance upright = {.scale = 1};

/* Between two palettes, from e; they are freed. */
static double error_px(const th_model *model, palette drawn, palette full, const eye *e)
{
    th_skin *skin = skin_of(model);
    const double px = measure(skin, &drawn, &full, e, &upright);
    free_palette(&drawn);
    free_palette(&full);
    th_skin_destroy(skin);
    return px;
}

Test(skin_error, is_zero_for_equal_palettes_and_out_of_the_picture)
{
    static const eye away = {{0, 1, 5}, {0, 1, 10}, 0.7, 1600, 1000, 0.1, 100};
    for (int f = 0; f < TH_FORMAT_COUNT; f++) {
        const th_format format = (th_format)f;
        cr_expect_eq(error_px(human, make_palette(human, 0, 7, format), make_palette(human, 0, 7, format), &eyes[2]), 0,
                     "%s", th_format_name(format));
    }
    cr_expect_eq(
        error_px(human, make_palette(human, 0, 4, TH_FORMAT_F32), make_palette(human, 0, 3, TH_FORMAT_F32), &away), 0);
}

/* Of what is drawn or full, where all is one skin or what is drawn has one of its own. */
Test(skin_error, is_infinite_for_palettes_that_are_not_finite)
{
    for (int n = 0; n < 4; n++) {
        palette both[] = {make_palette(human, 0, 3, TH_FORMAT_F32), make_palette(human, 0, 3, TH_FORMAT_F32)};
        th_skin *skin;
        cr_assert_eq(th_skin_create(human, n < 2 ? NULL : human, &skin, NULL), TH_OK);
        cr_expect_lt(measure(skin, &both[0], &both[1], &eyes[0], &upright), 0.01);
        ((th_mat34 *)both[n % 2].entries)[5].m[3] = NAN;
        cr_expect_eq(measure(skin, &both[0], &both[1], &eyes[0], &upright), HUGE_VAL, "%d", n);
        th_skin_destroy(skin);
        free_palette(&both[0]);
        free_palette(&both[1]);
    }
}

/* Shows 0.4 m per metre of distance in 1000 pixels. */
static const eye front = {{0, 1, 5}, {0, 1, 0}, 0.39479111969976155, 1600, 1000, 0.1, 100};

/* The bone is off by 5 mm, upwards, at rest. */
static double error_of_bone(const th_model *model, uint32_t bone)
{
    palette drawn = make_palette(model, TH_NO_INDEX, 0, TH_FORMAT_F32);
    ((th_mat34 *)drawn.entries)[bone].m[7] += 0.005F;
    return error_px(model, drawn, make_palette(model, TH_NO_INDEX, 0, TH_FORMAT_F32), &front);
}

Test(skin_error, finds_a_bone_that_is_off)
{
    const uint32_t hand = th_model_find_joint(human, "hand_r");
    for (uint32_t b = 0; b < human->bone_count; b++)
        if (human->bones[b].joint == hand) {
            float place[3];
            th_bone_place(&human->bones[b], place);
            const double depth = 5 + (double)place[0]; /* turned by a quarter */
            cr_expect_float_eq(error_of_bone(human, b), 0.005 * 1000 / 0.4 / depth, 0.1);
        }
}

Test(skin_error, of_a_model_without_a_mesh_is_that_of_its_bones)
{
    th_synthetic_desc desc = TH_SYNTHETIC_DEFAULT;
    th_model *model;
    th_error err;
    desc.no_mesh = true;
    cr_assert_eq(th_synthetic_create(&desc, &model, &err), TH_OK, "%s", err.text);
    for (uint32_t b = 0; b < model->bone_count; b++)
        cr_expect_float_eq(error_of_bone(model, b), 2.5, 0.8, "bone %u", b);
    th_model_destroy(model);
}
