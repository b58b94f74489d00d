/* FBX against another reader: tests/golden/fbx.txt has matrices that ufbx computed, which shares no code with Assimp
 * nor with us. tests/golden/README.md says how they were made. */
#include "fixture_import.h"

#include <throng/anim/exact.h>

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
    unsigned files, poses, joints, entries;
    double worst;
} state;

TestSuite(import_fbx, .init = keep_signals);

static void forget(state *s)
{
    if (s->model)
        th_model_free(s->model);
    free(s->pose);
    free(s->palette);
    s->model = NULL;
    s->pose = s->palette = NULL;
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
        bool mesh =
            strncmp(joint, name, strlen(name)) == 0 && strcmp(joint + strlen(name), "_$AssimpFbx$_Geometric") == 0;
        if (mesh || strcmp(joint, name) == 0)
            nearest = fmin(nearest, error(s, &s->palette[b], &theirs));
    }
    cr_expect(nearest < 1, "%s, pose %u: the palette entry of %s is %g times off what is tolerated", s->path, s->poses,
              name, nearest);
    s->worst = fmax(s->worst, nearest);
    s->entries++;
}

Test(import_fbx, agrees_with_ufbx_at_keys)
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
    }
    forget(&s);
    fclose(file);
    printf("%u files, %u poses, %u joints, %u palette entries; the worst at %.2g of what is tolerated\n", s.files,
           s.poses, s.joints, s.entries, s.worst);
    cr_expect(s.files >= 2 && s.joints >= 100 && s.entries >= 30);
}

/* Keys of the three angles of a node come together in one rotation. */
Test(import_fbx, rotations_have_a_key_for_each_of_their_angles)
{
    th_model *model = import_good(TEST_DATA "/rotations.fbx");
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t k = 0; k < model->clips[c].channel_count; k++)
            cr_expect(model->clips[c].channels[k].rotation.key_count == 7, "%s", model->clips[c].name);
    th_model_free(model);
}
