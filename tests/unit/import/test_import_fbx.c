/* FBX against another reader: tests/golden/fbx.txt has matrices that ufbx computed, which shares no code with Assimp
 * nor with us. tests/golden/README.md says how they were made. */
#include "fixture_import.h"

#include <anim/exact.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a model's size; of turns and scales. The stored numbers have six digits. */
#define TOLERANCE 1e-4

/* The model of the "file" line that was read last, posed as the "pose" line after it says. */
typedef struct state {
    char path[512];
    th_model *model;
    th_dmat34 *pose, *palette;
    double *weights;
    unsigned files, poses, joints, entries, numbers;
    double worst;
} state;

TestSuite(import_fbx, .init = keep_signals);

static void forget(state *s)
{
    if (s->model)
        th_model_destroy(s->model);
    free(s->pose);
    free(s->palette);
    free(s->weights);
    s->model = NULL;
    s->pose = s->palette = NULL;
    s->weights = NULL;
}

/* "data pivots.fbx", "assimp huesitos.fbx" */
static void begin_file(state *s, const char *line)
{
    char file[64];
    forget(s);
    if (sscanf(line, "data %63s", file) == 1) {
        snprintf(s->path, sizeof s->path, TEST_DATA "/%s", file);
    } else {
        snprintf(file, sizeof file, "FBX/%s", strchr(line, ' ') + 1);
        snprintf(s->path, sizeof s->path, "%s", testmodel(file));
    }
    s->model = import_good(s->path);
    s->pose = calloc(s->model->joint_count, sizeof *s->pose);
    s->palette = calloc(s->model->bone_count + 1, sizeof *s->palette);
    s->weights = calloc(s->model->weight_count + 1, sizeof *s->weights);
    s->files++;
}

/* "0 0.1": clip, or -1, and seconds */
static void begin_pose(state *s, const char *line)
{
    int clip;
    double time_s;
    cr_assert(sscanf(line, "%d %lf", &clip, &time_s) == 2, "%s", line);
    cr_assert(clip < (int)s->model->clip_count, "%s has no clip %d", s->path, clip);
    const th_clip *c = clip < 0 ? NULL : &s->model->clips[clip];
    double ticks = c ? time_s * c->ticks_per_second : 0; /* the last key, too, without wrapping */
    th_exact_pose(s->model, c, ticks, TH_INTERPOLATION_AUTHORED, s->pose);
    th_exact_palette(s->model, s->pose, s->palette);
    th_exact_weights(s->model, c, ticks, TH_INTERPOLATION_AUTHORED, s->weights);
    s->poses++;
}

/* Twelve numbers; returns what stands behind them. */
static const char *read_matrix(const char *line, th_dmat34 *out)
{
    for (int i = 0; i < 12; i++) {
        char *end;
        out->m[i] = strtod(line, &end);
        cr_assert(end > line, "%s", line);
        line = end;
    }
    return line + 1;
}

/* In units of what is tolerated. */
static double error(const state *s, const th_dmat34 *ours, const th_dmat34 *theirs)
{
    double most = 0, largest = 1;
    for (int i = 0; i < 12; i++)
        largest = i % 4 < 3 ? fmax(largest, fabs(theirs->m[i])) : largest;
    for (int i = 0; i < 12; i++)
        most = fmax(most, fabs(ours->m[i] - theirs->m[i]) / (i % 4 == 3 ? s->model->size : largest));
    return most / TOLERANCE;
}

static void check_joint(state *s, const char *line)
{
    th_dmat34 theirs;
    const char *name = read_matrix(line, &theirs);
    uint32_t joint = th_model_find_joint(s->model, name);
    cr_assert(joint != TH_NO_INDEX, "%s: no joint %s", s->path, name);
    double e = error(s, &s->pose[joint], &theirs);
    cr_expect(e < 1, "%s, pose %u: joint %s is %g times off what is tolerated", s->path, s->poses, name, e);
    s->worst = fmax(s->worst, e);
    s->joints++;
}

/* The nearest of the joint's palette entries, or of those of the child that holds its mesh. */
static void check_entry(state *s, const char *line)
{
    th_dmat34 theirs;
    const char *name = read_matrix(line, &theirs);
    double nearest = HUGE_VAL;
    for (uint32_t b = 0; b < s->model->bone_count; b++) {
        const char *joint = s->model->joints[s->model->bones[b].joint].name;
        bool mesh = strncmp(joint, name, strlen(name)) == 0 && strcmp(joint + strlen(name), "_geometry") == 0;
        if (mesh || strcmp(joint, name) == 0)
            nearest = fmin(nearest, error(s, &s->palette[b], &theirs));
    }
    cr_expect(nearest < 1, "%s, pose %u: the palette entry of %s is %g times off what is tolerated", s->path, s->poses,
              name, nearest);
    s->worst = fmax(s->worst, nearest);
    s->entries++;
}

/* "0.5 smile#2": how much of the second shape of a channel counts */
static void check_weight(state *s, const char *line)
{
    char *name;
    const double theirs = strtod(line, &name);
    const char *number = strchr(++name, '#');
    const size_t length = number ? (size_t)(number - name) : strlen(name);
    uint32_t w = 0;
    for (int left = number ? atoi(number + 1) : 1; w < s->model->weight_count; w++) {
        const char *ours = s->model->weights[w].name;
        if (strncmp(ours, name, length) == 0 && ours[length] == '\0' && --left == 0)
            break;
    }
    cr_assert(w < s->model->weight_count, "%s: no shape %s", s->path, name);
    const double e = fabs(s->weights[w] - theirs) / TOLERANCE;
    cr_expect(e < 1, "%s, pose %u: the weight of %s is %g times off what is tolerated", s->path, s->poses, name, e);
    s->worst = fmax(s->worst, e);
    s->numbers++;
}

Test(import_fbx, agrees_with_ufbx)
{
    FILE *file = fopen(TEST_GOLDEN "/fbx.txt", "r");
    cr_assert_not_null(file);
    char line[1024];
    state s = {0};
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "file ", 5) == 0)
            begin_file(&s, line + 5);
        else if (strncmp(line, "pose ", 5) == 0)
            begin_pose(&s, line + 5);
        else if (strncmp(line, "joint ", 6) == 0)
            check_joint(&s, line + 6);
        else if (strncmp(line, "bone ", 5) == 0)
            check_entry(&s, line + 5);
        else if (strncmp(line, "weight ", 7) == 0)
            check_weight(&s, line + 7);
    }
    forget(&s);
    fclose(file);
    printf("%u files, %u poses, %u joints, %u palette entries, %u weights; the worst at %.2g of what is tolerated\n",
           s.files, s.poses, s.joints, s.entries, s.numbers, s.worst);
    cr_expect(s.files >= 2 && s.joints >= 400 && s.entries >= 60 && s.numbers >= 40);
}

/* Keys of the three angles of a node come together in one rotation. */
Test(import_fbx, rotations_have_a_key_for_each_of_their_angles)
{
    th_model *model = import_good(TEST_DATA "/rotations.fbx");
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t k = 0; k < model->clips[c].channel_count; k++)
            cr_expect(model->clips[c].channels[k].rotation.key_count == 7, "%s", model->clips[c].name);
    th_model_destroy(model);
}

static const th_channel *find_channel(const th_model *model, uint32_t clip, const char *joint)
{
    const th_clip *c = &model->clips[clip];
    uint32_t k = 0;
    while (k < c->channel_count && strcmp(model->joints[c->channels[k].joint].name, joint) != 0)
        k++;
    cr_assert(k < c->channel_count, "%s does not move", joint);
    return &c->channels[k];
}

Test(import_fbx, joints_have_the_parts_of_their_transforms)
{
    th_model *model = import_good(TEST_DATA "/curves.fbx");
    uint32_t count = 0;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const th_joint *joint = &model->joints[j];
        const th_dmat34 rest = th_dmat34_from(joint->rest),
                        parts = joint->rest_parts ? th_dmat34_from_trs(joint->rest_parts) : rest;
        cr_expect_lt(th_dmat34_distance(&parts, &rest), 1e-6 * model->size, "%s", joint->name);
        count += joint->rest_parts != NULL;
    }
    cr_expect_gt(2 * count, model->joint_count);
    th_model_destroy(model);
}

/* A translation has keys of what it follows: of a rotation about a pivot, and of a layer's weight. */
Test(import_fbx, translations_have_keys_of_all_that_moves_them)
{
    th_model *pivots = import_good(TEST_DATA "/pivots.fbx"), *curves = import_good(TEST_DATA "/curves.fbx");
    const th_channel *door = find_channel(pivots, 0, "door"), *weighted = find_channel(curves, 0, "by weight alone");
    cr_expect(door->rotation.key_count > 1);
    cr_expect_eq(door->translation.key_count, door->rotation.key_count);
    cr_expect_eq(weighted->translation.key_count, 4); /* both ends, its key and one of the weight */
    th_model_destroy(pivots);
    th_model_destroy(curves);
}

/* ---- curves.fbx, whose unit is 2.54 cm ---- */

static const th_mesh *find_mesh(const th_model *model, const char *name)
{
    uint32_t m = 0;
    while (m < model->mesh_count && strcmp(model->meshes[m].name, name) != 0)
        m++;
    cr_assert(m < model->mesh_count, "no mesh %s", name);
    return &model->meshes[m];
}

/* Shapes move a vertex as far as its distance to others says: both are stored in units, and are in metres here. */
Test(import_fbx, morph_targets_are_in_metres)
{
    th_model *model = import_good(TEST_DATA "/curves.fbx");
    const th_mesh *face = find_mesh(model, "face");
    float high = 0, most = 0;
    for (uint32_t v = 0; v < face->vertex_count; v++)
        high = fmaxf(high, face->vertices[v].position[1]);
    cr_expect_float_eq(high, 4 * 0.0254f, 1e-6f);
    cr_assert_eq(face->target_count, 4);
    for (uint32_t d = 0; d < face->targets[0].delta_count; d++)
        most = fmaxf(most, face->targets[0].deltas[d].position[1]);
    cr_expect_float_eq(most, high, 1e-6f, "it moves by 4 units, too: %g", (double)most);
    th_model_destroy(model);
}

/* Two nodes "hand", below "left" and "right": a cluster belongs to the node that it is connected to. */
Test(import_fbx, bones_of_one_name_keep_their_weights)
{
    th_model *model = import_good(TEST_DATA "/curves.fbx");
    const uint32_t left = th_model_find_joint(model, "left"), right = th_model_find_joint(model, "right");
    uint32_t both = 0;
    const th_mesh *skin = find_mesh(model, "skin");
    for (uint32_t v = 0; v < skin->vertex_count; v++) {
        const th_vertex *vertex = &skin->vertices[v];
        const bool on_left = vertex->position[0] == 0, is_shared = vertex->weight[1] > 0;
        const uint32_t parent = model->joints[model->bones[vertex->bone[0]].joint].parent;
        cr_expect_eq(parent, on_left ? left : right, "vertex %u", v);
        cr_expect_float_eq(vertex->weight[0], is_shared ? 0.75f : 1, 1e-6f);
        if (is_shared)
            cr_expect_eq(model->joints[model->bones[vertex->bone[1]].joint].parent, left);
        both += is_shared;
    }
    cr_expect_eq(both, 1);
    th_model_destroy(model);
}

/* A clip begins where its stack says, at 0.5 s, and ends at 2.5 s; without that, at its first key and its last. Its
 * ticks are frames of 29.97 a second. */
Test(import_fbx, clips_are_as_long_as_their_stacks)
{
    th_model *model = import_good(TEST_DATA "/curves.fbx");
    const double rate = 30000 / 1001.0, lengths[] = {2, 0.75};
    cr_assert_eq(model->clip_count, 2);
    for (uint32_t c = 0; c < 2; c++) {
        cr_expect_float_eq(model->clips[c].ticks_per_second, rate, 1e-9);
        cr_expect_float_eq(model->clips[c].duration_ticks, lengths[c] * rate, 1e-6);
    }
    th_model_destroy(model);
    model = import_good(TEST_GOLDEN "/models/fbx/fbx_times.fbx"); /* has a rate of its own */
    cr_expect_eq(model->clips[0].ticks_per_second, 12.5);
    cr_expect_eq(model->clips[0].duration_ticks, 25);
    th_model_destroy(model);
}
