/* Models exported and imported again, by joints, meshes and motion.
 *
 * What comes back is the same but for this, which is the format's doing or Assimp's:
 *   - nodes for the meshes stand behind the joints, and, as a scene of several roots becomes one tree, one or two roots
 *     before them; all rest at identity
 *   - bones that no vertex follows, and meshes without triangles, are gone
 *   - a joint whose channel says what its rest says has none
 *   - materials of no mesh may be gone, and one may be added; colours are within 0 and 1
 *   - numbers are rounded to floats: key times in seconds, and rest transforms as translation, rotation and scale */
#include "fixture_arm.h"
#include "fixture_folder.h"
#include "fixture_glb.h"
#include "fixture_import.h"
#include "fixture_morph.h"
#include "random_model.h"

#include <throng/anim/exact.h>
#include <throng/anim/export.h>
#include <throng/anim/human.h>
#include <throng/anim/import.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct trip {
    const th_model *there, *back;
    uint32_t shift;   /* joint j of `there` is j + shift of `back` */
    double tolerance; /* of a matrix element, for a model of size 1, in the first moment */
    double time_s;    /* of the poses */
    th_dmat34 *poses[2], *palettes[2];
} trip;

static th_model *import_model(const char *file)
{
    th_model *model;
    th_error err;
    th_import_desc desc = {.path = file, .importer = TEST_IMPORTER, .timeout_s = 60};
    cr_assert_eq(th_import(&desc, &model, &err), TH_OK, "%s", err.text);
    return model;
}

static uint32_t find_shift(const th_model *there, const th_model *back)
{
    for (uint32_t shift = 0; shift + there->joint_count <= back->joint_count; shift++) {
        uint32_t j = 0;
        while (j < there->joint_count && strcmp(there->joints[j].name, back->joints[shift + j].name) == 0)
            j++;
        if (j == there->joint_count)
            return shift;
    }
    cr_assert_fail("%s: the joints do not come back under their names", there->name);
    return 0;
}

static void check_joints(const trip *t)
{
    const th_dmat34 identity = TH_DMAT34_IDENTITY;
    cr_assert_leq(t->shift, 2);
    for (uint32_t b = 0; b < t->back->joint_count; b++) {
        const th_joint *back = &t->back->joints[b], *there = &t->there->joints[b - t->shift];
        th_dmat34 rest_back = th_dmat34_from(back->rest);
        if (b < t->shift || b >= t->shift + t->there->joint_count) {
            cr_expect_eq(th_dmat34_distance(&rest_back, &identity), 0, "added node %s", back->name);
            continue;
        }
        if (there->parent == TH_NO_INDEX)
            cr_expect(t->shift == 0 ? back->parent == TH_NO_INDEX : back->parent == t->shift - 1, "%s", back->name);
        else
            cr_expect_eq(back->parent, there->parent + t->shift, "%s", back->name);
    }
}

/* Times are rounded as well, and a joint may move by the model's size in a second. */
static double tolerance_now(const trip *t)
{
    return t->tolerance * (1 + t->time_s);
}

/* Translations are compared to the model's size, the other elements to the largest of them or to 1. */
static void expect_near(const trip *t, const th_dmat34 *a, const th_dmat34 *b, const char *joint)
{
    double scale = 1, difference = 0;
    for (int i = 0; i < 12; i++)
        if (i % 4 != 3)
            scale = fmax(scale, fabs(a->m[i]));
    for (int i = 0; i < 12; i++)
        difference = fmax(difference, fabs(a->m[i] - b->m[i]) / (i % 4 == 3 ? t->there->size : scale));
    cr_expect_leq(difference, tolerance_now(t), "%s of %s differs by %g at %g s", joint, t->there->name, difference,
                  t->time_s);
}

/* clip: TH_NO_INDEX for the rest pose. */
static void pose_both(trip *t, uint32_t clip, double time_s)
{
    const th_model *models[2] = {t->there, t->back};
    t->time_s = time_s;
    for (int i = 0; i < 2; i++) {
        const th_clip *c = clip == TH_NO_INDEX ? NULL : &models[i]->clips[clip];
        th_exact_pose(models[i], c, c ? th_clip_ticks(c, time_s) : 0, TH_INTERPOLATION_AUTHORED, t->poses[i]);
        th_exact_palette(models[i], t->poses[i], t->palettes[i]);
    }
    for (uint32_t j = 0; j < t->there->joint_count; j++)
        expect_near(t, &t->poses[0][j], &t->poses[1][j + t->shift], t->there->joints[j].name);
}

static void skin(const th_vertex *vertex, const th_dmat34 *palette, double out[3])
{
    const float *p = vertex->position;
    double position[3] = {(double)p[0], (double)p[1], (double)p[2]}, part[3];
    memset(out, 0, 3 * sizeof *out);
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++) {
        th_dmat34_point(&palette[vertex->bone[k]], position, part);
        for (int i = 0; i < 3; i++)
            out[i] += (double)vertex->weight[k] * part[i];
    }
}

static void check_mesh(const trip *t, const th_mesh *there, const th_mesh *back)
{
    cr_assert_eq(there->index_count, back->index_count);
    if (there->name[0])
        cr_expect_str_eq(there->name, back->name);
    for (uint32_t i = 0; i < there->index_count; i++) {
        const th_vertex *a = &there->vertices[there->indices[i]], *b = &back->vertices[back->indices[i]];
        double at_a[3], at_b[3];
        skin(a, t->palettes[0], at_a);
        skin(b, t->palettes[1], at_b);
        for (int k = 0; k < 3; k++)
            cr_assert_float_eq(at_a[k], at_b[k], 3 * tolerance_now(t) * t->there->size, "%s, corner %u", there->name,
                               i);
        cr_assert_float_eq(a->uv[0], b->uv[0], 1e-6);
        cr_assert_float_eq(a->uv[1], b->uv[1], 1e-6);
        cr_assert_arr_eq(a->color, b->color, 4);
    }
}

static void check_material(const trip *t, uint32_t index_there, uint32_t index_back)
{
    const th_material *there = &t->there->materials[index_there], *back = &t->back->materials[index_back];
    cr_expect(there->alpha == back->alpha && there->double_sided == back->double_sided, "%s", there->name);
    if (there->alpha == TH_ALPHA_MASK)
        cr_expect_eq(there->alpha_cutoff, back->alpha_cutoff);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(fminf(there->emissive[i], 1), back->emissive[i], "%s", there->name);
}

static void check_meshes(const trip *t)
{
    uint32_t back = 0;
    for (uint32_t m = 0; m < t->there->mesh_count; m++)
        if (t->there->meshes[m].index_count > 0) {
            check_material(t, t->there->meshes[m].material, t->back->meshes[back].material);
            check_mesh(t, &t->there->meshes[m], &t->back->meshes[back++]);
        }
    cr_assert_eq(back, t->back->mesh_count);
}

/* Every bind that came back is one that was there: same joint, same matrix. */
static void check_binds(const trip *t)
{
    for (uint32_t b = 0; b < t->back->bone_count && t->there->mesh_count > 0; b++) {
        th_dmat34 back = th_dmat34_from(t->back->bones[b].inverse_bind);
        bool found = false;
        for (uint32_t i = 0; i < t->there->bone_count && !found; i++) {
            th_dmat34 there = th_dmat34_from(t->there->bones[i].inverse_bind);
            found = t->there->bones[i].joint + t->shift == t->back->bones[b].joint &&
                    th_dmat34_distance(&there, &back) == 0;
        }
        cr_expect(found, "bind %u of %s came from nowhere", b, t->there->name);
    }
}

static void check_clip(trip *t, uint32_t clip)
{
    const th_clip *there = &t->there->clips[clip], *back = &t->back->clips[clip];
    double duration_s = there->duration_ticks / there->ticks_per_second;
    cr_expect_str_eq(there->name, back->name);
    cr_expect_float_eq(back->duration_ticks / back->ticks_per_second, duration_s, 1e-7 * duration_s);
    for (int i = 0; i < 50; i++)
        pose_both(t, clip, (i + 0.37) / 50 * duration_s);
    check_meshes(t);
}

static void check_round_trip(const th_model *there, double tolerance)
{
    th_error err;
    cr_assert_eq(th_export_glb(there, path, &err), TH_OK, "%s", err.text);
    glb g = read_glb(path);
    check_structure(&g);
    free_glb(&g);
    th_model *back = import_model(path);
    trip t = {.there = there, .back = back, .shift = find_shift(there, back), .tolerance = tolerance};
    for (int i = 0; i < 2; i++) {
        const th_model *model = i ? back : there;
        t.poses[i] = calloc((size_t)model->joint_count + model->bone_count, sizeof(th_dmat34));
        t.palettes[i] = t.poses[i] + model->joint_count;
    }
    check_joints(&t);
    check_binds(&t);
    pose_both(&t, TH_NO_INDEX, 0);
    check_meshes(&t);
    cr_assert_eq(back->clip_count, there->clip_count);
    for (uint32_t c = 0; c < there->clip_count; c++)
        check_clip(&t, c);
    free(t.poses[0]);
    free(t.poses[1]);
    th_model_free(back);
}

TestSuite(export_trip, .init = make_folder, .fini = remove_folder);

Test(export_trip, brings_the_arm_back)
{
    arm *a = make_arm();
    a->materials[0].alpha = TH_ALPHA_BLEND;
    a->materials[1].alpha = TH_ALPHA_MASK;
    a->materials[1].alpha_cutoff = 0.25F;
    a->materials[1].double_sided = true;
    a->materials[1].emissive[1] = 0.5F;
    check_round_trip(&a->model, 1e-6);
    free(a);
}

Test(export_trip, brings_several_trees_back)
{
    arm *a = make_arm();
    a->joints[PROP].parent = TH_NO_INDEX;
    check_round_trip(&a->model, 1e-6);
    free(a);
}

/* Two keys a moment apart; from the second one on, what is new holds. */
Test(export_trip, brings_jumps_back_in_time)
{
    arm *a = make_arm();
    th_error err;
    memcpy(a->times[WHOLE], (double[]){nextafter(24, 0), 24}, 2 * sizeof(double));
    cr_assert_eq(th_export_glb(&a->model, path, &err), TH_OK, "%s", err.text);
    th_model *back = import_model(path);
    const th_clip *clip = &back->clips[LONGER];
    cr_expect_str_eq(back->joints[clip->channels[0].joint].name, a->joints[LOWER].name);
    th_trs trs;
    th_exact_channel(&clip->channels[0], th_clip_ticks(clip, 0.9999), TH_INTERPOLATION_AUTHORED, &trs);
    cr_expect_float_eq(trs.translation[0], a->moving[0], 1e-6);
    th_exact_channel(&clip->channels[0], th_clip_ticks(clip, 1), TH_INTERPOLATION_AUTHORED, &trs);
    cr_expect_float_eq(trs.translation[0], a->moving[3], 1e-6, "%g", trs.translation[0]);
    th_model_free(back);
    free(a);
}

Test(export_trip, brings_the_human_back)
{
    th_model *human, *dressed;
    cr_assert_eq(th_human_create(&human, NULL), TH_OK);
    cr_assert_eq(th_model_dress(human, 0, &dressed, NULL), TH_OK);
    check_round_trip(dressed, 1e-6);
    th_model_free(dressed);
    th_model_free(human);
}

/* As such, not as lines: their few keys, and tangents per second on the way. */
Test(export_trip, brings_splines_and_steps_back)
{
    th_error err;
    th_model *there = random_model(&(random_desc){
        .seed = 5, .joint_count = 20, .clip_count = 1, .key_count = 6, .swing_rad = 1, .splines = true, .steps = 0.5});
    cr_assert_eq(th_export_glb(there, path, &err), TH_OK, "%s", err.text);
    th_model *back = import_model(path);
    cr_assert_eq(there->clips[0].channel_count, back->clips[0].channel_count);
    double rate[] = {there->clips[0].ticks_per_second, back->clips[0].ticks_per_second};
    uint32_t splines = 0, steps = 0;
    for (uint32_t c = 0; c < there->clips[0].channel_count; c++) {
        const th_track *a = &there->clips[0].channels[c].rotation, *b = &back->clips[0].channels[c].rotation;
        cr_assert_eq(a->tangents == NULL, b->tangents == NULL);
        cr_assert_eq(a->steps, b->steps);
        cr_assert_eq(a->key_count, b->key_count);
        splines += a->tangents != NULL;
        steps += a->steps;
        for (uint32_t i = 4; a->tangents && i < 8 * a->key_count - 4; i++)
            cr_assert_float_eq((double)a->tangents[i] * rate[0], (double)b->tangents[i] * rate[1], 1e-5);
    }
    cr_expect(splines > 2 && steps > 2, "%u, %u", splines, steps);
    th_model_free(back);
    th_model_free(there);
}

/* A mesh has weights of its own in the file, in the order of its targets. */
static void check_weights(const th_model *there, const th_model *back, uint32_t clip)
{
    const th_clip *a = &there->clips[clip], *b = &back->clips[clip];
    double *wanted = calloc(there->weight_count, sizeof *wanted), *got = calloc(back->weight_count, sizeof *got);
    for (int i = 0; i < 100; i++) {
        const double part = (i + 0.37) / 100;
        th_exact_weights(there, a, part * a->duration_ticks, TH_INTERPOLATION_AUTHORED, wanted);
        th_exact_weights(back, b, part * b->duration_ticks, TH_INTERPOLATION_AUTHORED, got);
        for (uint32_t w = 0; w < there->weight_count; w++)
            cr_assert_float_eq(got[w], wanted[w], 1e-5, "clip %s, weight %u, at %g: %g, not %g", a->name, w, part,
                               got[w], wanted[w]);
    }
    free(wanted);
    free(got);
}

static void check_targets(const th_model *there, const th_model *back)
{
    cr_assert_eq(back->weight_count, there->weight_count);
    cr_assert_eq(back->meshes[0].target_count, there->meshes[0].target_count);
    for (uint32_t t = 0; t < there->weight_count; t++) {
        const th_morph_target *a = &there->meshes[0].targets[t], *b = &back->meshes[0].targets[t];
        cr_expect_str_eq(back->weights[t].name, there->weights[t].name);
        cr_expect_eq(back->weights[t].rest, there->weights[t].rest);
        cr_assert_eq(b->delta_count, a->delta_count);
        for (uint32_t d = 0; d < a->delta_count; d++) {
            cr_expect_eq(b->deltas[d].vertex, a->deltas[d].vertex);
            cr_expect_arr_eq(b->deltas[d].position, a->deltas[d].position, sizeof a->deltas[d].position);
            for (int i = 0; i < 3; i++)
                cr_expect_float_eq(b->deltas[d].normal[i], a->deltas[d].normal[i], 1e-6);
        }
    }
}

/* Clips of lines, steps and splines, and one that has all three. */
Test(export_trip, brings_weights_back)
{
    for (uint32_t seed = 1; seed < 8; seed++) {
        const random_desc desc = {.seed = seed, .joint_count = 5, .clip_count = seed % 2, .key_count = 6};
        th_model *model = morph_model(&desc, 6);
        const th_clip *clips = &model->clips[seed % 2];
        th_weight_track *mixed = (th_weight_track *)clips[MORPH_LINES].weight_tracks;
        check_round_trip(model, 1e-5);
        for (int pass = 0; pass < 2; pass++) {
            th_error err;
            cr_assert_eq(th_export_glb(model, path, &err), TH_OK, "%s", err.text);
            th_model *back = import_model(path);
            check_targets(model, back);
            for (uint32_t c = 0; c < model->clip_count; c++)
                check_weights(model, back, c);
            th_model_free(back);
            for (uint32_t t = 0; t < 2; t++)
                mixed[t + seed % 3] = clips[seed % 2 && t ? MORPH_SPLINES : MORPH_STEPS].weight_tracks[t + seed % 3];
        }
        th_model_free(model);
    }
}

Test(export_trip, brings_random_models_back)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        th_model *model = random_model(&(random_desc){.seed = seed,
                                                      .joint_count = 30,
                                                      .shape = RANDOM_TREE,
                                                      .scale = (random_scale)(seed % 4),
                                                      .clip_count = 2,
                                                      .key_count = 8,
                                                      .uneven_keys = seed % 2,
                                                      .swing_rad = 2,
                                                      .splines = seed % 3,
                                                      .steps = seed % 5 == 0 ? 0.5 : 0,
                                                      .double_bones = true});
        check_round_trip(model, 1e-5);
        th_model_free(model);
    }
}

/* The last bones are followed by influences beyond the fourth only. */
Test(export_trip, brings_eight_influences_back)
{
    static const float weights[TH_MAX_INFLUENCES] = {0.3f, 0.2f, 0.15f, 0.1f, 0.08f, 0.07f, 0.06f, 0.04f};
    th_model *model =
        random_model(&(random_desc){.seed = 3, .joint_count = 12, .clip_count = 2, .key_count = 8, .swing_rad = 1});
    const uint32_t indices[] = {0, 1, 2, 2, 1, 3};
    const th_material material = {.name = "skin", .base_color = {1, 1, 1, 1}, .texture = TH_NO_INDEX};
    th_vertex vertices[4];
    cr_assert_eq(model->bone_count, 12);
    for (uint32_t v = 0; v < 4; v++) {
        vertices[v] = (th_vertex){.position = {(float)(v % 2), (float)(v / 2), 0}, .normal = {0, 0, 1}};
        memcpy(vertices[v].weight, weights, sizeof weights);
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
            vertices[v].bone[k] = (uint16_t)(v + k);
    }
    const th_mesh mesh = {
        .name = "cloth", .vertex_count = 4, .index_count = 6, .vertices = vertices, .indices = indices};
    model->meshes = &mesh;
    model->materials = &material;
    model->mesh_count = model->material_count = 1;
    model->size = th_model_measure(model);
    check_round_trip(model, 1e-5);
    th_model_free(model);
}

/* tolerance: their matrices are printed with few digits, so they are sheared. */
static const struct {
    const char *file;
    double tolerance;
} files[] = {
    {"BVH/Boxing_Toes.bvh", 1e-6},
    {"X/Testwuson.X", 1e-5},
    {"FBX/animation_with_skeleton.fbx", 1e-6},
    {"FBX/huesitos.fbx", 1e-6},
    {"Collada/anims_with_full_rotations_between_keys.DAE", 2e-6},
    {"glTF2/simple_skin/simple_skin.gltf", 1e-6},
};

Test(export_trip, brings_real_files_back)
{
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        th_model *model = import_model(testmodel(files[f].file));
        check_round_trip(model, files[f].tolerance);
        th_model_free(model);
    }
}
