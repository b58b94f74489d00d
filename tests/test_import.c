/* Import, from three sides: well-formed files against an evaluation of Assimp's scene that shares no code with ours;
 * one made-up file for everything real files do wrong; and files that want to do harm. */
#include "fixture_gltf.h"
#include "fixture_import.h"
#include "fixture_nightly.h"
#include "oracle_assimp.h"

#include <throng/anim/archive.h>
#include <throng/anim/exact.h>

#include <criterion/criterion.h>
#include <dirent.h>
#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SEED 7u

/* ---- a folder of its own for each test that asks for one ---- */

static char folder[64];

/* Under AddressSanitizer, crashes inside Assimp stay signals, and an exit code means a report about our own code. */
static void set_up(void)
{
    setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0", 1);
}

static const char *in_folder(const char *name)
{
    static char path[256];
    if (!folder[0]) {
        strcpy(folder, "/tmp/throng-import-XXXXXX");
        cr_assert_not_null(mkdtemp(folder));
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void remove_folder(void)
{
    DIR *dir = folder[0] ? opendir(folder) : NULL;
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(folder);
}

TestSuite(import, .init = set_up, .fini = remove_folder);

static void write_file(const char *path, const void *bytes, size_t size, mode_t mode)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    chmod(path, mode);
}

static char *read_whole_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    cr_assert_eq(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* ---- importing ---- */

static void check_refused(const th_import_desc *desc, th_result code, const char *says)
{
    th_model *model;
    th_error err = {0};
    cr_expect_eq(th_import(desc, &model, &err), code, "%s: %s", desc->path, err.text);
    cr_expect_null(model);
    cr_expect(strstr(err.text, says), "\"%s\" should say \"%s\"", err.text, says);
}

static bool has_warning(const th_model *model, const char *part)
{
    for (uint32_t n = 0; n < model->warning_count; n++)
        if (strstr(model->warnings[n], part))
            return true;
    return false;
}

static void check_note(const th_model *model, const char *part)
{
    cr_expect(has_warning(model, part), "no warning says \"%s\"", part);
    for (uint32_t n = 0; !has_warning(model, part) && n < model->warning_count; n++)
        cr_log_warn("there is: %s", model->warnings[n]);
}

static const th_channel *channel_of(const th_model *model, const char *joint)
{
    uint32_t j = th_model_find_joint(model, joint);
    cr_assert_neq(j, TH_NO_INDEX, "no joint %s", joint);
    for (uint32_t c = 0; c < model->clips[0].channel_count; c++)
        if (model->clips[0].channels[c].joint == j)
            return &model->clips[0].channels[c];
    cr_assert_fail("no channel for %s", joint);
    return NULL;
}

/* ---- fixtures: an arm of two joints, a triangle on it, and a turn of the lower one ---- */

#define SCENE(roots) "'scene':0,'scenes':[{'nodes':[" roots "]}],"
#define ARM_NODES                                                                                                      \
    "{'name':'skin','mesh':0,'skin':0},{'name':'upper','children':[2]},{'name':'lower','translation':[0,1,0]}"
#define NODES(list) "'nodes':[" list "],"
#define SKINS       "'skins':[{'joints':[1,2],'inverseBindMatrices':3}],"
#define SKINNED_MESHES                                                                                                 \
    "'meshes':[{'name':'cloth','primitives':[{'attributes':{'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2}}]}]"
#define PLAIN_MESHES "'meshes':[{'name':'box','primitives':[{'attributes':{'POSITION':0}}]}]"
#define CLIP(node, path)                                                                                               \
    ",'animations':[{'name':'wave','samplers':[{'input':4,'output':5}],"                                               \
    "'channels':[{'sampler':0,'target':{'node':" node ",'path':'" path "'}}]}]"

#define POSITIONS GLTF_FLOATS("VEC3", 3, 0, 0, 0, 1, 0, 0, 0, 1, 0)
#define JOINTS    GLTF_SHORTS("VEC4", 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
#define WEIGHTS   GLTF_FLOATS("VEC4", 3, 1, 0, 0, 0, .5f, .5f, 0, 0, .25f, .75f, 0, 0)
#define INVERSE_BINDS                                                                                                  \
    GLTF_FLOATS("MAT4", 2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1,  \
                0, 1)
#define ARM_BODY(clip) SCENE("0,1") NODES(ARM_NODES) SKINS SKINNED_MESHES clip

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static th_model *import_gltf(const char *body, const gltf_accessor *accessors, uint32_t count)
{
    gltf_write(in_folder("made.gltf"), body, accessors, count);
    return import_good(in_folder("made.gltf"));
}

static void check_gltf_refused(const char *body, const gltf_accessor *accessors, uint32_t count, const char *says)
{
    gltf_write(in_folder("made.gltf"), body, accessors, count);
    th_import_desc desc = {.path = in_folder("made.gltf"), .importer = TEST_IMPORTER};
    check_refused(&desc, TH_ERR_INPUT, says);
}

/* The arm with these keys for the rotation of its lower joint, or something like it. */
static th_model *import_arm(const char *body, gltf_accessor times, gltf_accessor values)
{
    const gltf_accessor accessors[] = {POSITIONS, JOINTS, WEIGHTS, INVERSE_BINDS, times, values};
    return import_gltf(body, accessors, LENGTH(accessors));
}

#define ACCESSOR(...) ((gltf_accessor)__VA_ARGS__)

#define STILL        ACCESSOR(GLTF_FLOATS("VEC3", 2, 0, 0, 0, 0, 0, 0))
#define UNTURNED     ACCESSOR(GLTF_FLOATS("VEC4", 2, 0, 0, 0, 1, 0, 0, 0, 1))
#define HALF_TURN    ACCESSOR(GLTF_FLOATS("VEC4", 2, 0, 0, 1, 0, 0, 0, 1, 0))
#define TWO(x, y, z) ACCESSOR(GLTF_FLOATS("VEC3", 2, x, y, z, x, y, z))

/* ---- keys ---- */

Test(import, sorts_keys_and_keeps_the_last_of_equal_times)
{
    th_model *model = import_arm(ARM_BODY(CLIP("2", "translation")), ACCESSOR(GLTF_FLOATS("SCALAR", 5, 0, 2, 1, 2, 3)),
                                 ACCESSOR(GLTF_FLOATS("VEC3", 5, 0, 0, 0, 20, 0, 0, 10, 0, 0, 21, 0, 0, 30, 0, 0)));
    const th_track *track = &channel_of(model, "lower")->translation;
    cr_assert_eq(track->key_count, 4);
    for (uint32_t k = 0; k < 4; k++)
        cr_expect_float_eq(track->times[k], 1000.0 * k, 1e-9);
    cr_expect_float_eq(track->values[3], 10, 1e-6);
    cr_expect_float_eq(track->values[6], 21, 1e-6);
    cr_expect_float_eq(model->clips[0].duration_ticks, 3000, 1e-9);
    check_note(model, "1 key is out of order in time");
    check_note(model, "1 key has the time of another");
    th_model_free(model);
}

Test(import, gives_a_duration_to_unsorted_keys_whose_last_is_the_first)
{
    th_model *model = import_arm(ARM_BODY(CLIP("2", "translation")), ACCESSOR(GLTF_FLOATS("SCALAR", 2, 1, 0)),
                                 ACCESSOR(GLTF_FLOATS("VEC3", 2, 1, 0, 0, 0, 0, 0)));
    cr_expect_float_eq(model->clips[0].duration_ticks, 1000, 1e-9);
    th_model_free(model);
}

Test(import, drops_keys_that_are_not_finite)
{
    th_model *model = import_arm(ARM_BODY(CLIP("2", "translation")), ACCESSOR(GLTF_FLOATS("SCALAR", 3, 0, 1, 2)),
                                 ACCESSOR(GLTF_FLOATS("VEC3", 3, 1, 0, 0, NAN, 0, 0, 3, 0, INFINITY)));
    cr_expect_eq(channel_of(model, "lower")->translation.key_count, 1);
    cr_expect_eq(model->clips[0].duration_ticks, 0, "of the key that is left, not of those that were dropped");
    check_note(model, "2 keys are not finite");
    th_model_free(model);
}

Test(import, makes_rotations_unit_length_and_continuous)
{
    th_model *model =
        import_arm(ARM_BODY(CLIP("2", "rotation")), ACCESSOR(GLTF_FLOATS("SCALAR", 4, 0, 1, 2, 3)),
                   ACCESSOR(GLTF_FLOATS("VEC4", 4, 0, 0, 0, 2, 0, 0, -.6f, -.8f, 0, 0, 0, 0, 0, 0, .8f, .6f)));
    const float *q = channel_of(model, "lower")->rotation.values;
    const float expected[] = {0, 0, 0, 1, 0, 0, .6f, .8f, 0, 0, .6f, .8f, 0, 0, .8f, .6f};
    for (int i = 0; i < 16; i++)
        cr_expect_float_eq(q[i], expected[i], 1e-6, "element %d: %g", i, (double)q[i]);
    check_note(model, "1 rotation key is zero");
    check_note(model, "1 rotation key is not of unit length");
    th_model_free(model);
}

/* Lengths of 1.0005, as of almost every file, and of 1.002. */
Test(import, notes_rotations_that_are_off_by_more_than_rounding)
{
    th_model *model = import_arm(ARM_BODY(CLIP("2", "rotation")), ACCESSOR(GLTF_FLOATS("SCALAR", 2, 0, 1)),
                                 ACCESSOR(GLTF_FLOATS("VEC4", 2, 0, 0, 0, 1.0005f, 0, 0, 0, 1.002f)));
    check_note(model, "1 rotation key is not of unit length");
    th_model_free(model);
}

Test(import, holds_the_first_good_rotation_before_itself)
{
    th_model *model = import_arm(ARM_BODY(CLIP("2", "rotation")), ACCESSOR(GLTF_FLOATS("SCALAR", 2, 0, 1)),
                                 ACCESSOR(GLTF_FLOATS("VEC4", 2, 0, 0, 0, 0, 0, 0, .6f, .8f)));
    cr_expect_float_eq(channel_of(model, "lower")->rotation.values[2], .6f, 1e-6);
    th_model_free(model);
}

Test(import, keeps_times_before_zero_and_late_starts)
{
    th_model *model = import_arm(ARM_BODY(CLIP("2", "translation")), ACCESSOR(GLTF_FLOATS("SCALAR", 2, -1, 2)),
                                 ACCESSOR(GLTF_FLOATS("VEC3", 2, 0, 0, 0, 3, 0, 0)));
    th_trs trs;
    th_exact_channel(channel_of(model, "lower"), 0, TH_INTERPOLATION_AUTHORED, &trs);
    cr_expect_float_eq(trs.translation[0], 1, 1e-6, "a third of the way");
    th_model_free(model);

    model = import_arm(ARM_BODY(CLIP("2", "translation")), ACCESSOR(GLTF_FLOATS("SCALAR", 2, 1, 2)),
                       ACCESSOR(GLTF_FLOATS("VEC3", 2, 5, 0, 0, 6, 0, 0)));
    cr_expect_float_eq(model->clips[0].duration_ticks, 2000, 1e-9);
    th_exact_channel(channel_of(model, "lower"), 500, TH_INTERPOLATION_AUTHORED, &trs);
    cr_expect_float_eq(trs.translation[0], 5, 1e-6, "the first key holds before it");
    cr_expect_eq(model->warning_count, 1, "no normals, and nothing else to say");
    th_model_free(model);
}

Test(import, takes_the_rest_transform_when_no_key_is_usable)
{
    th_model *model =
        import_arm(SCENE("0,1") NODES("{'name':'skin','mesh':0,'skin':0},{'name':'upper','children':[2]},"
                                      "{'name':'lower','scale':[2,3,4]}") SKINS SKINNED_MESHES CLIP("2", "scale"),
                   ACCESSOR(GLTF_FLOATS("SCALAR", 1, 1)), ACCESSOR(GLTF_FLOATS("VEC3", 1, NAN, 0, 0)));
    const th_track *scale = &channel_of(model, "lower")->scale;
    cr_assert_eq(scale->key_count, 1);
    for (int i = 0; i < 3; i++)
        cr_expect_float_eq(scale->values[i], (float)(2 + i), 1e-6);
    th_model_free(model);
}

#define JOINED_CLIP(mode)                                                                                              \
    ",'animations':[{'name':'wave','samplers':[{'input':4,'output':5,'interpolation':'" mode "'}],"                    \
    "'channels':[{'sampler':0,'target':{'node':2,'path':'translation'}}]}]"

Test(import, holds_the_keys_of_steps)
{
    th_model *model = import_arm(ARM_BODY(JOINED_CLIP("STEP")), ACCESSOR(GLTF_FLOATS("SCALAR", 3, 0, 1, 3)),
                                 ACCESSOR(GLTF_FLOATS("VEC3", 3, 1, 0, 0, 2, 0, 0, 3, 0, 0)));
    const struct {
        double ticks, x;
    } expected[] = {{0, 1}, {500, 1}, {999.999999, 1}, {1000, 2}, {2999, 2}, {3000, 3}};
    for (size_t i = 0; i < LENGTH(expected); i++) {
        th_trs trs;
        th_exact_channel(channel_of(model, "lower"), expected[i].ticks, TH_INTERPOLATION_AUTHORED, &trs);
        cr_expect_float_eq(trs.translation[0], expected[i].x, 1e-6, "at %g", expected[i].ticks);
    }
    th_model_free(model);
}

/* ---- glTF: what is easily misread ---- */

static void check_integers_refused(const char *body, gltf_accessor a, gltf_accessor b, const char *says)
{
    const gltf_accessor accessors[] = {POSITIONS, JOINTS, WEIGHTS, INVERSE_BINDS, a, b};
    check_gltf_refused(body, accessors, LENGTH(accessors), says);
}

Test(import, refuses_integers_where_floats_are_read)
{
    const gltf_accessor times = GLTF_FLOATS("SCALAR", 2, 0, 1);
    check_integers_refused(ARM_BODY(CLIP("2", "rotation")), times,
                           ACCESSOR(GLTF_SHORTS("VEC4", 2, 0, 0, 0, 1, 0, 0, 0, 1)),
                           "the keys of animation 0 (accessor 5) are stored as unsigned 16-bit integers");
    check_integers_refused(ARM_BODY(CLIP("2", "translation")), ACCESSOR(GLTF_SHORTS("SCALAR", 2, 0, 1)), STILL,
                           "the key times of animation 0");
    const gltf_accessor weights[] = {POSITIONS, JOINTS, GLTF_SHORTS("VEC4", 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0),
                                     INVERSE_BINDS};
    check_gltf_refused(ARM_BODY(""), weights, LENGTH(weights), "the WEIGHTS_0 of mesh 0 (accessor 2)");
    const gltf_accessor positions[] = {GLTF_SHORTS("VEC3", 3, 0, 0, 0, 1, 0, 0, 0, 1, 0)};
    check_gltf_refused(SCENE("0") NODES("{'mesh':0}") PLAIN_MESHES, positions, 1, "convert the file to floats");
}

Test(import, refuses_extensions_it_does_not_know)
{
    const gltf_accessor accessors[] = {POSITIONS};
    check_gltf_refused("'extensionsRequired':['KHR_materials_unlit','FOO_bar']," SCENE("0") NODES("{'mesh':0}")
                           PLAIN_MESHES,
                       accessors, 1, "needs the glTF extension FOO_bar");
    th_model_free(import_gltf("'extensionsRequired':['KHR_materials_unlit','KHR_texture_transform']," SCENE("0")
                                  NODES("{'mesh':0}") PLAIN_MESHES,
                              accessors, 1));
}

/* ---- glTF: the file's own JSON ---- */

/* Steps from 0 to 1 at 1 s, in a file whose JSON begins with `oddity`. */
static void write_steps(const char *name, const char *oddity)
{
    char body[8192];
    snprintf(body, sizeof body,
             "%s" SCENE("0") NODES("{'name':'a\\nb'}") "'animations':[{'name':'wave','samplers':[{'input':1,'output':2,"
                                                       "'interpolation':'STEP'}],'channels':[{'sampler':0,'target':"
                                                       "{'node':0,'path':'translation'}}]}]",
             oddity);
    const gltf_accessor accessors[] = {POSITIONS, /* not used: a .glb has no room for it */
                                       GLTF_FLOATS("SCALAR", 2, 0, 1), GLTF_FLOATS("VEC3", 2, 0, 0, 0, 1, 0, 0)};
    gltf_write(in_folder(name), body, accessors, LENGTH(accessors));
}

static void check_steps(const char *name)
{
    th_model *model = import_good(in_folder(name));
    th_trs trs;
    th_exact_channel(&model->clips[0].channels[0], 500, TH_INTERPOLATION_AUTHORED, &trs);
    cr_expect_float_eq(trs.translation[0], 0, 1e-6, "%s", name);
    th_model_free(model);
}

/* The text again as .glb, with `padding` bytes of 0 at the end of the JSON. */
static void write_glb(const char *name, const char *from, uint32_t padding)
{
    size_t size;
    char *text = read_whole_file(in_folder(from), &size);
    uint32_t chunk = (uint32_t)(size + padding + 3) / 4 * 4;
    const uint32_t head[] = {0x46546c67, 2, 20 + chunk, chunk, 0x4e4f534a};
    char *bytes = calloc(1, sizeof head + chunk);
    memcpy(bytes, head, sizeof head);
    memcpy(bytes + sizeof head, text, size);
    write_file(in_folder(name), bytes, sizeof head + chunk, 0600);
    free(bytes);
    free(text);
}

Test(import, reads_json_tolerantly)
{
    write_steps("plain.gltf", "");
    check_steps("plain.gltf");
    write_steps("another_name.json", "");
    check_steps("another_name.json");
    write_steps("nul.gltf", "'extras':{'x':'\\u0000'},");
    check_steps("nul.gltf");
    write_steps("integer.gltf", "'extras':{'x':123456789012345678901234567890},");
    check_steps("integer.gltf");
    write_steps("latin1.gltf", "'extras':{'x':'\xe9'},");
    check_steps("latin1.gltf");
    write_glb("padded.glb", "plain.gltf", 5);
    check_steps("padded.glb");
}

/* Lists in lists, more than our reader follows. */
Test(import, refuses_json_it_cannot_read)
{
    enum { DEPTH = 2100 };
    char deep[2 * DEPTH + 32] = "'extras':{'x':";
    memset(deep + strlen(deep), '[', DEPTH);
    memset(deep + strlen(deep), ']', DEPTH);
    strcat(deep, "},");
    write_steps("deep.gltf", deep);
    th_import_desc desc = {.path = in_folder("deep.gltf"), .importer = TEST_IMPORTER};
    check_refused(&desc, TH_ERR_INPUT, "its JSON cannot be read: maximum parsing depth");
}

Test(import, leaves_out_channels_that_name_no_node)
{
    const gltf_accessor accessors[] = {GLTF_FLOATS("SCALAR", 1, 0), GLTF_FLOATS("VEC3", 1, 1, 2, 3),
                                       GLTF_FLOATS("VEC3", 1, 9, 9, 9)};
    th_model *model = import_gltf(
        SCENE("0") NODES("{'name':'a'}") "'animations':[{'name':'wave','samplers':[{'input':0,'output':1},{'input':0,"
                                         "'output':2}],'channels':[{'sampler':0,'target':{'node':0,'path':"
                                         "'translation'}},{'sampler':1,'target':{'path':'translation'}},{'sampler':1,"
                                         "'target':{'path':'pointer'}}]}]",
        accessors, LENGTH(accessors));
    cr_expect_float_eq(channel_of(model, "a")->translation.values[0], 1, 0);
    check_note(model, "2 channels name no node");
    th_model_free(model);
}

Test(import, knows_what_the_file_moves_itself)
{
    const char *nodes = SCENE("0,1") NODES("{'name':'skin','mesh':0,'skin':0},{'name':'upper','children':[2]},"
                                           "{'name':'lower','translation':[0,1,0],'rotation':[0,0,1,0]}")
        SKINS SKINNED_MESHES CLIP("2", "rotation");
    th_model *model = import_arm(nodes, ACCESSOR(GLTF_FLOATS("SCALAR", 2, 0, 1)), UNTURNED);
    cr_expect_eq(channel_of(model, "lower")->filled, TH_TRANSLATION | TH_SCALE);
    th_model_free(model);
}

Test(import, cleans_the_names_of_clips_in_notes)
{
    th_model *model =
        import_arm(ARM_BODY(",'animations':[{'name':'E\\u001b[31m\\nX','samplers':[{'input':4,'output':5}],"
                            "'channels':[{'sampler':0,'target':{'node':2,'path':'translation'}}]}]"),
                   ACCESSOR(GLTF_FLOATS("SCALAR", 2, 1, 0)), ACCESSOR(GLTF_FLOATS("VEC3", 2, 1, 0, 0, 0, 0, 0)));
    check_note(model, "1 key is out of order in time");
    for (uint32_t n = 0; n < model->warning_count; n++)
        for (const char *c = model->warnings[n]; *c; c++)
            cr_expect(*c != '\n' && *c != '\x1b', "%s", model->warnings[n]);
    th_model_free(model);
}

Test(import, assumes_25_ticks_when_the_file_gives_none)
{
    th_model *model = import_good(testmodel("3DS/RotatingCube.3DS"));
    cr_expect_float_eq(model->clips[0].ticks_per_second, 25, 0);
    check_note(model, "25 are assumed");
    th_model_free(model);
}

/* ---- nodes ---- */

Test(import, fills_tracks_the_file_leaves_out_from_a_mirrored_rest)
{
    const char *nodes = SCENE("0,1") NODES("{'name':'skin','mesh':0,'skin':0},{'name':'upper','children':[2]},"
                                           "{'name':'lower','translation':[0,1,0],'scale':[-1,2,3]}")
        SKINS SKINNED_MESHES CLIP("2", "rotation");
    th_model *model = import_arm(nodes, ACCESSOR(GLTF_FLOATS("SCALAR", 2, 0, 1)),
                                 ACCESSOR(GLTF_FLOATS("VEC4", 2, 0, 0, 0, 1, 0, 0, .6f, .8f)));
    th_dmat34 pose[4];
    cr_assert_eq(model->joint_count, 4, "a root is put over the two");
    th_exact_pose(model, &model->clips[0], 1000, TH_INTERPOLATION_AUTHORED, pose);
    /* Translation * rotation about z by acos(.28) * scale. */
    const double expected[12] = {.28 * -1, -.96 * 2, 0, 0, .96 * -1, .28 * 2, 0, 1, 0, 0, 3, 0};
    const th_dmat34 *lower = &pose[th_model_find_joint(model, "lower")];
    for (int i = 0; i < 12; i++)
        cr_expect_float_eq(lower->m[i], expected[i], 1e-6, "element %d: %g", i, lower->m[i]);
    th_model_free(model);
}

/* Where a joint is at a moment of the clip. */
static void check_joint(const th_model *model, const char *joint, double ticks, const double expected[12])
{
    th_dmat34 *pose = calloc(model->joint_count, sizeof *pose);
    uint32_t j = th_model_find_joint(model, joint);
    th_exact_pose(model, &model->clips[0], ticks, TH_INTERPOLATION_AUTHORED, pose);
    for (int i = 0; i < 12; i++)
        cr_expect_float_eq(pose[j].m[i], expected[i], 1e-6, "element %d: %g", i, pose[j].m[i]);
    free(pose);
}

/* A joint with these properties, of which the clip moves one to where it rests anyway: it must not move. */
static void check_stays(const char *properties, const char *path, gltf_accessor rest, const double expected[12])
{
    char body[1024];
    snprintf(body, sizeof body,
             SCENE("0") NODES("{'name':'a',%s}") "'animations':[{'name':'still','samplers':[{'input':0,'output':1}],"
                                                 "'channels':[{'sampler':0,'target':{'node':0,'path':'%s'}}]}]",
             properties, path);
    const gltf_accessor accessors[] = {GLTF_FLOATS("SCALAR", 2, 0, 1), rest};
    th_model *model = import_gltf(body, accessors, LENGTH(accessors));
    check_joint(model, "a", 500, expected);
    th_model_free(model);
}

#define SCALED(x, y, z)                                                                                                \
    (const double[12])                                                                                                 \
    {                                                                                                                  \
        x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0                                                                             \
    }

Test(import, keeps_mirrors_where_the_file_has_them)
{
    check_stays("'scale':[1,1,-1]", "translation", STILL, SCALED(1, 1, -1));
    check_stays("'scale':[1,-2,3]", "translation", STILL, SCALED(1, -2, 3));
    check_stays("'scale':[-1,-1,1]", "translation", STILL, SCALED(-1, -1, 1));
    check_stays("'scale':[-1,-1,-1]", "rotation", UNTURNED, SCALED(-1, -1, -1));
    check_stays("'scale':[1,1,-1]", "rotation", HALF_TURN, SCALED(-1, -1, -1));
    check_stays("'rotation':[0,0,1,0]", "translation", STILL, SCALED(-1, -1, 1));
    check_stays("'rotation':[0,0,1,0]", "rotation", HALF_TURN, SCALED(-1, -1, 1));
    check_stays("'rotation':[0,0,1,0]", "scale", TWO(1, 1, -2), SCALED(-1, -1, -2));
    check_stays("'rotation':[0,0,1,0],'scale':[2,-1,1]", "translation", STILL, SCALED(-2, 1, 1));
    check_stays("'extras':{}", "scale", TWO(-1, -1, 1), SCALED(-1, -1, 1));
    check_stays("'scale':[0,-1,1]", "translation", STILL, SCALED(0, -1, 1));
    check_stays("'matrix':[1,0,0,0,0,1,0,0,0,0,-1,0,0,0,0,1]", "translation", STILL, SCALED(1, 1, -1));
    check_stays("'matrix':[0,1,0,0,-1,0,0,0,0,0,-1,0,0,0,0,1]", "translation", STILL,
                (const double[12]){0, -1, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0});
    check_stays("'matrix':[0,2,0,0,-1,0,0,0,0,0,-1,0,0,0,0,1]", "scale", TWO(2, 1, -1),
                (const double[12]){0, -1, 0, 0, 2, 0, 0, 0, 0, 0, -1, 0});
}

Test(import, names_nodes_without_a_name)
{
    const gltf_accessor accessors[] = {POSITIONS};
    th_model *model = import_gltf(SCENE("0,1") NODES("{'mesh':0},{'translation':[1,0,0]}") PLAIN_MESHES, accessors, 1);
    for (uint32_t j = 0; j < model->joint_count; j++)
        for (uint32_t k = 0; k < j; k++)
            cr_expect_str_neq(model->joints[j].name, model->joints[k].name);
    th_model_free(model);
}

/* Where Assimp has made up no name already. */
Test(import, gives_each_unnamed_node_a_name_of_its_own)
{
    th_model *model = import_good(testmodel("MDL/MDL (HL1)/man.mdl"));
    for (uint32_t j = 0; j < model->joint_count; j++)
        cr_expect_eq(th_model_find_joint(model, model->joints[j].name), j);
    check_note(model, "15 nodes have no name");
    th_model_free(model);
}

/* Assimp lists them side by side. */
Test(import, hangs_the_bones_of_half_life_from_each_other)
{
    static const char *const parents[][2] = {
        {"Root", "<MDL_bones>"}, {"Pelvis", "Root"}, {"LeftLeg", "Pelvis"}, {"Spine", "Pelvis"}, {"Neck", "Spine"}};
    th_model *model = import_good(testmodel("MDL/MDL (HL1)/man.mdl"));
    for (size_t i = 0; i < LENGTH(parents); i++) {
        const uint32_t joint = th_model_find_joint(model, parents[i][0]);
        cr_assert_neq(joint, TH_NO_INDEX);
        cr_expect_str_eq(model->joints[model->joints[joint].parent].name, parents[i][1]);
    }
    th_model_free(model);
}

/* A node for every bone, whether it has weights or not, and bones with none are no reason to lose its children. */
Test(import, keeps_bones_without_weights)
{
    const gltf_accessor accessors[] = {POSITIONS, GLTF_SHORTS("VEC4", 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0),
                                       GLTF_FLOATS("VEC4", 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0), INVERSE_BINDS};
    th_model *model = import_gltf(ARM_BODY(""), accessors, LENGTH(accessors));
    uint32_t upper = th_model_find_joint(model, "upper"), lower = th_model_find_joint(model, "lower");
    cr_assert(upper != TH_NO_INDEX && lower != TH_NO_INDEX);
    cr_expect_eq(model->joints[lower].parent, upper);
    th_model_free(model);
}

Test(import, keeps_one_channel_for_each_node_there_is)
{
    th_model *model = import_good(TEST_DATA "/odd_channels.x");
    cr_assert_eq(model->clips[0].channel_count, 1);
    cr_expect_float_eq(channel_of(model, "arm")->translation.values[0], 1, 1e-6, "the first one");
    check_note(model, "1 channel aims at a node that has one already");
    check_note(model, "1 channel aims at a node that the file does not have and was left out (clip wave, node ghost)");
    th_model_free(model);
}

/* ---- names that several nodes have ---- */

#define TWO_ARMS(second)                                                                                               \
    SCENE("0,1,3")                                                                                                     \
    NODES("{'name':'skin','mesh':0,'skin':0},{'name':'left','children':[2]},{'name':'hand','translation':[0,1,0]},"    \
          "{'name':'right','children':[4]," second "},{'name':'hand','translation':[0,1,0]}")                          \
    SKINS SKINNED_MESHES

Test(import, tells_bones_of_equal_name_apart_by_their_place)
{
    const gltf_accessor accessors[] = {POSITIONS, JOINTS, WEIGHTS, INVERSE_BINDS};
    th_model *model = import_gltf(TWO_ARMS("'translation':[5,0,0]"), accessors, LENGTH(accessors));
    uint32_t left = th_model_find_joint(model, "left");
    for (uint32_t b = 0; b < model->bone_count; b++)
        cr_expect(model->bones[b].joint == left || model->joints[model->bones[b].joint].parent == left);
    cr_expect_eq(model->bone_count, 2);
    check_note(model, "1 joint shares its name with another");
    th_model_free(model);
}

/* No bone has a name of its own that would show which arm is meant. */
Test(import, tells_bones_apart_by_their_place_alone)
{
    const gltf_accessor accessors[] = {POSITIONS, GLTF_SHORTS("VEC4", 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                                       GLTF_FLOATS("VEC4", 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0),
                                       GLTF_FLOATS("MAT4", 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -5, -1, 0, 1)};
    th_model *model = import_gltf(
        SCENE("0,1,3") NODES(
            "{'name':'skin','mesh':0,'skin':0},{'name':'left','children':[2]},"
            "{'name':'hand','translation':[0,1,0]},{'name':'right','children':[4],"
            "'translation':[5,0,0]},{'name':'hand','translation':[0,1,0]}") "'skins':[{'joints':[4],'"
                                                                            "inverseBindMatrices':3}]," SKINNED_MESHES,
        accessors, LENGTH(accessors));
    cr_assert_eq(model->bone_count, 1);
    cr_expect_eq(model->joints[model->bones[0].joint].parent, th_model_find_joint(model, "right"));
    th_model_free(model);
}

Test(import, tells_channels_of_equal_name_apart_by_the_others)
{
    const gltf_accessor accessors[] = {
        POSITIONS, JOINTS, WEIGHTS, INVERSE_BINDS, GLTF_FLOATS("SCALAR", 1, 0), GLTF_FLOATS("VEC3", 1, 0, 0, 9)};
    th_model *model = import_gltf(
        TWO_ARMS(
            "'translation':[5,0,0]") ",'animations':[{'name':'wave','samplers':[{'input':4,'output':5}],'channels':["
                                     "{'sampler':0,'target':{'node':3,'path':'translation'}},"
                                     "{'sampler':0,'target':{'node':4,'path':'translation'}}]}]",
        accessors, LENGTH(accessors));
    uint32_t right = th_model_find_joint(model, "right");
    cr_assert_eq(model->clips[0].channel_count, 2);
    cr_expect_eq(model->clips[0].channels[0].joint, right);
    cr_expect_eq(model->clips[0].channels[1].joint, right + 1);
    th_model_free(model);
}

/* Nothing but its index says which hand it is. */
Test(import, tells_channels_of_equal_name_apart_by_their_index)
{
    const gltf_accessor accessors[] = {
        POSITIONS, JOINTS, WEIGHTS, INVERSE_BINDS, GLTF_FLOATS("SCALAR", 1, 0), GLTF_FLOATS("VEC3", 1, 0, 0, 9)};
    th_model *model =
        import_gltf(TWO_ARMS("'translation':[5,0,0]") CLIP("4", "translation"), accessors, LENGTH(accessors));
    cr_assert_eq(model->clips[0].channel_count, 1);
    cr_expect_eq(model->joints[model->clips[0].channels[0].joint].parent, th_model_find_joint(model, "right"));
    th_model_free(model);
}

/* ---- meshes ---- */

Test(import, scales_weights_to_sum_to_one)
{
    const gltf_accessor accessors[] = {
        POSITIONS, JOINTS, GLTF_FLOATS("VEC4", 3, .5f, .3f, 0, 0, 3, 1, 0, 0, .25f, .75f, 0, 0), INVERSE_BINDS};
    th_model *model = import_gltf(ARM_BODY(""), accessors, LENGTH(accessors));
    const th_vertex *v = model->meshes[0].vertices;
    cr_expect_float_eq(v[0].weight[0], .625f, 1e-6);
    cr_expect_float_eq(v[1].weight[0], .75f, 1e-6);
    cr_expect_float_eq(v[2].weight[1], .25f, 1e-6);
    check_note(model, "2 vertices have weights that do not sum to 1");
    th_model_free(model);
}

static void check_identities(const th_model *model, const char *const joints[], uint32_t count)
{
    cr_assert_eq(model->bone_count, count);
    for (uint32_t b = 0; b < count; b++) {
        cr_expect_str_eq(model->joints[model->bones[b].joint].name, joints[b]);
        cr_expect(memcmp(&model->bones[b].inverse_bind, &TH_MAT34_IDENTITY, sizeof(th_mat34)) == 0, "%s", joints[b]);
    }
}

/* Two such skins, the larger one of five joints, beside one that has matrices. */
Test(import, takes_identities_for_inverse_bind_matrices_that_are_left_out)
{
    const gltf_accessor accessors[] = {POSITIONS,
                                       JOINTS,
                                       WEIGHTS,
                                       INVERSE_BINDS,
                                       GLTF_SHORTS("VEC4", 3, 0, 1, 2, 3, 4, 0, 0, 0, 4, 3, 0, 0),
                                       GLTF_FLOATS("VEC4", 3, .25f, .25f, .25f, .25f, 1, 0, 0, 0, .5f, .5f, 0, 0)};
    th_model *model =
        import_gltf(SCENE("0,1") NODES(ARM_NODES) "'skins':[{'joints':[1,2]}]," SKINNED_MESHES, accessors, 3);
    check_identities(model, (const char *[]){"upper", "lower"}, 2);
    th_model_free(model);
    model =
        import_gltf(SCENE("0,1,2,3,4,5,6") NODES(
                        "{'name':'a'},{'name':'b'},{'name':'c'},{'name':'d'},{'name':'e'},"
                        "{'mesh':0,'skin':0},{'mesh':1,'skin':1}") "'skins':[{'joints':[0,1]},{'joints':[0,1,2,3,4]}],"
                                                                   "'meshes':[{'primitives':[{'attributes':{'POSITION':"
                                                                   "0,'JOINTS_0':1,'WEIGHTS_0':2}}]},"
                                                                   "{'primitives':[{'attributes':{'POSITION':0,'JOINTS_"
                                                                   "0':4,'WEIGHTS_0':5}}]}]",
                    accessors, LENGTH(accessors));
    check_identities(model, (const char *[]){"a", "b", "c", "d", "e"}, 5);
    th_model_free(model);
}

/* Assimp gets the file's JSON back from us then. */
Test(import, completes_skins_of_files_that_are_not_utf8)
{
    const gltf_accessor accessors[] = {POSITIONS, JOINTS, WEIGHTS};
    th_model *model = import_gltf(SCENE("0,1") NODES("{'mesh':0,'skin':0},{'name':'\xe9','children':[2]},"
                                                     "{'name':'\xe8'}") "'skins':[{'joints':[1,2]}]," SKINNED_MESHES,
                                  accessors, LENGTH(accessors));
    check_identities(model, (const char *[]){"é", "è"}, 2);
    th_model_free(model);
}

Test(import, completes_skins_without_joints)
{
    const gltf_accessor accessors[] = {POSITIONS};
    th_model *model = import_gltf(
        SCENE("0") NODES("{'name':'alone','mesh':0,'skin':0}") "'skins':[{'joints':[]}]," PLAIN_MESHES, accessors, 1);
    check_identities(model, (const char *[]){"alone"}, 1);
    th_model_free(model);
}

Test(import, refuses_skins_with_too_few_matrices)
{
    const gltf_accessor one[] = {POSITIONS, JOINTS, WEIGHTS,
                                 GLTF_FLOATS("MAT4", 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)};
    const gltf_accessor rows[] = {POSITIONS, JOINTS, WEIGHTS, GLTF_FLOATS("VEC4", 2, 1, 0, 0, 0, 0, 1, 0, 0)};
    check_gltf_refused(ARM_BODY(""), one, LENGTH(one),
                       "the inverse bind matrices of skin 0 (accessor 3) are 1, for 2 joints");
    check_gltf_refused(ARM_BODY(""), rows, LENGTH(rows), "(accessor 3) are no matrices of 4 x 4");
}

/* Six bones on one vertex, in a format that can say so. */
Test(import, keeps_six_weights)
{
    th_model *model = import_good(TEST_DATA "/six_weights.x");
    const th_vertex *v = model->meshes[0].vertices;
    while (v->position[0] != 0 || v->position[1] != 0)
        v++;
    const char *expected[] = {"f", "e", "d", "c", "b", "a"};
    for (int k = 0; k < 6; k++) {
        cr_expect_str_eq(model->joints[model->bones[v->bone[k]].joint].name, expected[k]);
        cr_expect_float_eq(v->weight[k], (6 - k) / 21.0, 1e-6);
    }
    cr_expect_eq(v->weight[6], 0);
    th_model_free(model);
}

Test(import, binds_vertices_without_weights_to_the_mesh_node)
{
    const gltf_accessor accessors[] = {POSITIONS, JOINTS,
                                       GLTF_FLOATS("VEC4", 3, 1, 0, 0, 0, 0, 0, 0, 0, .25f, .75f, 0, 0), INVERSE_BINDS};
    th_model *model = import_gltf(ARM_BODY(""), accessors, LENGTH(accessors));
    const th_vertex *v = &model->meshes[0].vertices[1];
    cr_expect_str_eq(model->joints[model->bones[v->bone[0]].joint].name, "skin");
    cr_expect_float_eq(v->weight[0], 1, 0);
    check_note(model, "1 vertex of a skinned mesh has no weights");
    th_model_free(model);
}

Test(import, gives_each_offset_of_a_bone_its_own_palette_entry)
{
    const gltf_accessor accessors[] = {POSITIONS, JOINTS, WEIGHTS, INVERSE_BINDS,
                                       GLTF_FLOATS("MAT4", 2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0,
                                                   0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 7, 1)};
    th_model *model = import_gltf(
        SCENE("0,1,3")
            NODES(ARM_NODES
                  ",{'name':'coat','mesh':1,'skin':1}") "'skins':[{'joints':[1,2],"
                                                        "'inverseBindMatrices':3},{'joints':[1,2],'inverseBindMatrices'"
                                                        ":4}],'meshes':[{'name':'cloth','primitives':["
                                                        "{'attributes':{'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2}}]},{'"
                                                        "name':'coat','primitives':["
                                                        "{'attributes':{'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2}}]}]",
        accessors, LENGTH(accessors));
    cr_expect_eq(model->bone_count, 3, "one of the upper joint, two of the lower");
    for (uint32_t m = 0; m < 2; m++) {
        const th_vertex *v = &model->meshes[m].vertices[2]; /* .75 on the lower joint */
        const th_bone *bone = &model->bones[v->bone[0]];
        cr_expect_str_eq(model->joints[bone->joint].name, "lower");
        cr_expect_float_eq(bone->inverse_bind.m[11], strcmp(model->meshes[m].name, "coat") == 0 ? 7 : 0, 0);
    }
    th_model_free(model);
}

Test(import, copies_a_mesh_for_every_node_that_uses_it)
{
    const gltf_accessor accessors[] = {POSITIONS};
    th_model *model = import_gltf(
        SCENE("0,1") NODES("{'name':'a','mesh':0},{'name':'b','mesh':0,'translation':[4,0,0]}") PLAIN_MESHES, accessors,
        LENGTH(accessors));
    cr_assert_eq(model->mesh_count, 2);
    for (uint32_t m = 0; m < 2; m++) {
        uint32_t joint = model->bones[model->meshes[m].vertices[0].bone[0]].joint;
        cr_expect_str_eq(model->joints[joint].name, m == 0 ? "a" : "b");
    }
    cr_expect_float_eq(model->size, 5, 1e-6);
    th_model_free(model);
}

Test(import, leaves_out_meshes_no_node_uses)
{
    th_model *model = import_good(testmodel("AC/nosurfaces.ac"));
    cr_expect_eq(model->mesh_count, 0);
    cr_expect_eq(model->bone_count, model->joint_count);
    check_note(model, "1 mesh is used by no node and was left out");
    th_model_free(model);
}

/* Two triangles share an edge; at one end of it their weights differ. */
Test(import, welds_vertices_only_when_their_weights_agree)
{
    const gltf_accessor accessors[] = {
        GLTF_FLOATS("VEC3", 6, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0),
        GLTF_SHORTS("VEC4", 6, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0),
        GLTF_FLOATS("VEC4", 6, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0), INVERSE_BINDS};
    th_model *model = import_gltf(ARM_BODY(""), accessors, LENGTH(accessors));
    cr_expect_eq(model->meshes[0].vertex_count, 5, "%u", model->meshes[0].vertex_count);
    cr_expect_eq(model->meshes[0].index_count, 6);
    th_model_free(model);
}

Test(import, drops_triangles_with_positions_that_are_not_finite)
{
    const gltf_accessor accessors[] = {GLTF_FLOATS("VEC3", 6, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, NAN, 0, 0, 1, 0)};
    th_model *model = import_gltf(SCENE("0") NODES("{'name':'a','mesh':0}") PLAIN_MESHES, accessors, 1);
    cr_expect_eq(model->meshes[0].index_count, 3);
    check_note(model, "1 triangle uses vertices that do not exist or are not finite");
    th_model_free(model);
}

Test(import, binds_every_joint_of_a_file_without_meshes)
{
    const gltf_accessor accessors[] = {GLTF_FLOATS("SCALAR", 2, 0, 1), GLTF_FLOATS("VEC3", 2, 0, 0, 0, 0, 0, 1)};
    th_model *model = import_gltf(
        SCENE("0") NODES("{'name':'hip','children':[1],'translation':[0,1,0],'rotation':[0,0,0.6,0.8]},"
                         "{'name':'knee','children':[2],'translation':[0,-1,0],'scale':[1,2,3]},"
                         "{'name':'flat','scale':[0,1,1]}") "'animations':[{'name':'jump','samplers':[{'input':0,"
                                                            "'output':1}],'channels':[{'sampler':0,'target':{'node':0,"
                                                            "'path':'translation'}}]}]",
        accessors, LENGTH(accessors));
    cr_expect_eq(model->mesh_count, 0);
    cr_assert(model->bone_count == 3 && model->joint_count == 3);
    th_dmat34 pose[3], palette[3], identity = TH_DMAT34_IDENTITY;
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_palette(model, pose, palette);
    cr_expect_lt(th_dmat34_distance(&palette[0], &identity), 1e-6);
    cr_expect_lt(th_dmat34_distance(&palette[1], &identity), 1e-6);
    check_note(model, "1 joint has a rest transform without inverse");
    th_model_free(model);
}

/* ---- textures ---- */

#define PICTURED(images, texture)                                                                                      \
    SCENE("0")                                                                                                         \
    NODES("{'name':'a','mesh':0}")                                                                                     \
    "'images':[" images "],'textures':[" texture "],'materials':[{'name':'paint','pbrMetallicRoughness':"              \
    "{'baseColorFactor':[0.5,0.25,0,1],'baseColorTexture':{'index':0}}}],'meshes':[{'name':'box','primitives':["       \
    "{'material':0,'attributes':{'POSITION':0,'TEXCOORD_0':1}}]}]"
#define TEXTURED(uri) PICTURED("{'uri':'" uri "'}", "{'source':0}")
#define BY_EXTENSION(name)                                                                                             \
    "'extensionsRequired':['" name "']," PICTURED("{'uri':'lost.png'},{'uri':'data:image/ktx2;base64,cGl4ZWxz'}",      \
                                                  "{'extensions':{'" name "':{'source':1}}}")

static void check_texture(const char *body, const char *content, const char *note)
{
    const gltf_accessor accessors[] = {POSITIONS, GLTF_FLOATS("VEC2", 3, 0, 0, 1, 0, 0, .75f)};
    th_model *model = import_gltf(body, accessors, LENGTH(accessors));
    const th_mesh *mesh = &model->meshes[0];
    const th_material *material = &model->materials[mesh->material];
    cr_expect_str_eq(material->name, "paint");
    cr_expect_float_eq(material->base_color[1], .25f, 1e-6);
    cr_expect_float_eq(mesh->vertices[2].uv[1], .75f, 1e-6, "v runs from the top of the image");
    cr_assert_neq(material->texture, TH_NO_INDEX);
    const th_texture *texture = &model->textures[material->texture];
    cr_expect_eq(texture->byte_count, content ? strlen(content) : 0);
    cr_expect_eq(texture->bytes != NULL, content != NULL);
    if (content && texture->bytes)
        cr_expect_arr_eq(texture->bytes, content, strlen(content));
    if (note)
        check_note(model, note);
    th_model_free(model);
}

Test(import, takes_textures_from_inside_and_beside_the_file)
{
    check_texture(TEXTURED("data:image/png;base64,cGl4ZWxz"), "pixels", NULL);
    write_file(in_folder("skin.png"), "on disk", 7, 0600);
    check_texture(TEXTURED("skin.png"), "on disk", NULL);
    check_texture(TEXTURED("C:\\\\art\\\\skin.png"), "on disk", "1 texture lies outside the model's folder");
}

#define PAINT(index) "{'pbrMetallicRoughness':{'baseColorTexture':{'index':" #index "}}}"
#define PART(index)  "{'material':" #index ",'attributes':{'POSITION':0,'TEXCOORD_0':1}}"

/* Names of one file, and numbers of one buffer view. */
Test(import, keeps_a_texture_of_several_names_once)
{
    static const char body[] = SCENE("0") NODES(
        "{'mesh':0}") "'images':[{'uri':'skin.png'},{'uri':'./skin.png'},{'uri':'hard.png'},{"
                      "'bufferView':0,'mimeType':'image/png'},{'bufferView':0,'mimeType':'image/png'}"
                      "],'textures':[{'source':0},{'source':1},{'source':2},{'source':3},{'source':4}"
                      "],'materials':[" PAINT(0) "," PAINT(1) "," PAINT(2) "," PAINT(3) "," PAINT(
                          4) "],'meshes':[{'primitives':[" PART(0) "," PART(1) "," PART(2) "," PART(3) "," PART(4) "]}"
                                                                                                                   "]";
    const gltf_accessor accessors[] = {POSITIONS, GLTF_FLOATS("VEC2", 3, 0, 0, 1, 0, 0, .75f)};
    write_file(in_folder("skin.png"), "on disk", 7, 0600);
    char *file = strdup(in_folder("skin.png"));
    cr_assert_eq(link(file, in_folder("hard.png")), 0);
    free(file);
    th_model *model = import_gltf(body, accessors, LENGTH(accessors));
    cr_assert_eq(model->texture_count, 2);
    cr_expect_str_eq(model->textures[0].name, "skin.png");
    cr_expect_str_eq(model->textures[1].name, "*0");
    for (uint32_t m = 0; m < 5; m++)
        cr_expect_eq(model->materials[m].texture, m / 3, "material %u", m);
    th_model_free(model);
}

/* Nothing decodes them. */
Test(import, says_which_textures_are_of_other_formats)
{
    static const char says[] = "1 texture is in a format that is not decoded and drawn as a plain colour (*0)";
    check_texture(TEXTURED("data:image/gif;base64,cGl4ZWxz"), "pixels", says);
    check_texture(BY_EXTENSION("EXT_texture_webp"), "pixels", says);
    check_texture(BY_EXTENSION("EXT_texture_avif"), "pixels", says);
    check_texture(BY_EXTENSION("KHR_texture_basisu"), "pixels", says);
    check_texture(BY_EXTENSION("MSFT_texture_dds"), "pixels", says);
    check_texture(PICTURED("{'uri':'data:image/png;base64,cGl4ZWxz'},{'uri':'lost.webp'}",
                           "{'source':0,'extensions':{'EXT_texture_webp':{'source':1}}}"),
                  "pixels", says);
}

static void check_signature(const uint8_t *bytes, size_t size, bool drawable)
{
    const gltf_accessor accessors[] = {POSITIONS, GLTF_FLOATS("VEC2", 3, 0, 0, 1, 0, 0, .75f)};
    write_file(in_folder("skin.png"), bytes, size, 0600);
    th_model *model = import_gltf(TEXTURED("skin.png"), accessors, LENGTH(accessors));
    cr_expect_eq(has_warning(model, "is in a format that is not decoded"), !drawable, "%02x %02x %02x", bytes[0],
                 bytes[1], bytes[2]);
    th_model_free(model);
}

Test(import, knows_textures_by_their_bytes)
{
#define CHECK(text, drawable) check_signature((const uint8_t *)(text), sizeof(text) - 1, drawable)
    CHECK("\x89PNG\r\n\x1a\n", true);
    CHECK("\xff\xd8\xff\xe0", true);
    CHECK("BM\x46\0", true);
    CHECK("\0\0\2\0", true);
    CHECK("\5\1\x9\0", true);
    CHECK("\0\0\0\x1c"
          "ftypavif",
          false);
#ifdef TH_HAVE_WEBP
    CHECK("RIFF\x10\0\0\0WEBPVP8L", true);
#endif
    CHECK("RIFF\x10\0\0\0WAVEfmt ", false);
    CHECK("\xabKTX 20\xbb\r\n\x1a\n", false);
    CHECK("DDS |", false);
    CHECK("\0\0\4\0", false);
    CHECK("\0\0\x8\0", false);
    CHECK("\x89P", false);
#undef CHECK
}

Test(import, never_reads_textures_outside_the_models_folder)
{
    check_texture(TEXTURED("lost.png"), NULL, "1 texture was not found");
    check_texture(TEXTURED("/etc/passwd"), NULL, "1 texture lies outside the model's folder");
    check_texture(TEXTURED("../../etc/passwd"), NULL, "1 texture lies outside the model's folder");
    check_texture(TEXTURED("x/../../../etc/passwd"), NULL, "1 texture lies outside the model's folder");
}

/* ---- materials ---- */

#define PAINTED(material)                                                                                              \
    SCENE("0")                                                                                                         \
    NODES("{'name':'a','mesh':0}")                                                                                     \
    "'images':[{'uri':'data:image/png;base64,cGl4ZWxz'}],'textures':[{'source':0}],'materials':[{" material            \
    "}],'meshes':[{'name':'box','primitives':[{'material':0,'attributes':{'POSITION':0}}]}]"

static th_model *import_painted(const char *body)
{
    const gltf_accessor accessors[] = {POSITIONS};
    return import_gltf(body, accessors, LENGTH(accessors));
}

Test(import, takes_what_alpha_means_from_gltf)
{
    th_model *model = import_painted(PAINTED("'name':'leaf'"));
    const th_material *m = model->materials;
    cr_expect(m->alpha == TH_ALPHA_OPAQUE && !m->double_sided && m->emissive[0] == 0);
    th_model_free(model);
    model =
        import_painted(PAINTED("'alphaMode':'MASK','alphaCutoff':0.25,'doubleSided':true,'emissiveFactor':[0,0.5,1]"));
    m = model->materials;
    cr_expect(m->alpha == TH_ALPHA_MASK && m->alpha_cutoff == 0.25F && m->double_sided);
    cr_expect(m->emissive[0] == 0 && m->emissive[1] == 0.5F && m->emissive[2] == 1);
    th_model_free(model);
    model = import_painted(PAINTED("'alphaMode':'MASK'"));
    cr_expect_eq(model->materials->alpha_cutoff, 0.5F);
    th_model_free(model);
    model = import_painted(PAINTED("'emissiveFactor':[0,0.5,1],"
                                   "'extensions':{'KHR_materials_emissive_strength':{'emissiveStrength':4}}"));
    m = model->materials;
    cr_expect(m->emissive[0] == 0 && m->emissive[1] == 2 && m->emissive[2] == 4);
    th_model_free(model);
    model = import_painted(PAINTED("'alphaMode':'BLEND','pbrMetallicRoughness':{'baseColorFactor':[1,1,1,0.5]}"));
    cr_expect(model->materials->alpha == TH_ALPHA_BLEND && model->materials->base_color[3] == 0.5F);
    th_model_free(model);
}

/* The factor alone would make all of it glow. */
Test(import, leaves_out_light_in_a_texture)
{
    th_model *model = import_painted(PAINTED("'emissiveFactor':[1,1,1],'emissiveTexture':{'index':0}"));
    cr_expect_eq(model->materials->emissive[0], 0);
    check_note(model, "1 material has light of its own in a texture");
    th_model_free(model);
}

static void check_wavefront(const char *material, th_alpha alpha, float opacity, const char *note)
{
    static const char shape[] = "mtllib made.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\n";
    char text[200];
    snprintf(text, sizeof text, "newmtl m\n%s\n", material);
    write_file(in_folder("made.mtl"), text, strlen(text), 0600);
    write_file(in_folder("made.obj"), shape, sizeof shape - 1, 0600);
    th_model *model = import_good(in_folder("made.obj"));
    const th_material *m = &model->materials[model->meshes[0].material];
    cr_expect_eq(m->alpha, alpha, "%s: %s", material, th_alpha_name(m->alpha));
    cr_expect_eq(m->base_color[3], opacity, "%s", material);
    cr_expect(m->double_sided, "the format does not say");
    cr_expect_float_eq(m->emissive[1], strstr(material, "Ke") ? 0.5F : 0, 1e-6);
    if (note)
        check_note(model, note);
    th_model_free(model);
}

Test(import, takes_opacity_from_other_formats)
{
    check_wavefront("Kd 1 1 1\nKe 0 0.5 0", TH_ALPHA_OPAQUE, 1, NULL);
    check_wavefront("d 0.25", TH_ALPHA_BLEND, 0.25F, NULL);
    check_wavefront("d 0", TH_ALPHA_OPAQUE, 1, "1 material says that it is invisible");
    check_wavefront("map_Kd a.png\nmap_d a.png", TH_ALPHA_MASK, 1, NULL);
    check_wavefront("map_Kd a.png\nmap_d b.png", TH_ALPHA_OPAQUE, 1, "1 material has its opacity in a texture");
}

/* Ten triangles, of which the first `back` have normals to their back. */
static void check_winding(uint32_t back, bool turned)
{
    float positions[90], normals[90];
    for (uint32_t v = 0; v < 30; v++)
        for (int i = 0; i < 3; i++) {
            positions[3 * v + (uint32_t)i] = (float)(i == 2 ? v / 3 : v % 3 == (uint32_t)i + 1);
            normals[3 * v + (uint32_t)i] = i < 2 ? 0 : v / 3 < back ? -1 : 1;
        }
    const gltf_accessor accessors[] = {{"VEC3", 5126, 30, positions}, {"VEC3", 5126, 30, normals}};
    th_model *model =
        import_gltf(SCENE("0") NODES("{'name':'a','mesh':0}") "'meshes':[{'name':'box','primitives':["
                                                              "{'attributes':{'POSITION':0,'NORMAL':1}}]}]",
                    accessors, LENGTH(accessors));
    const th_mesh *mesh = &model->meshes[0];
    cr_assert_eq(mesh->index_count, 30);
    cr_expect_eq(mesh->vertices[mesh->indices[1]].position[turned ? 1 : 0], 1, "%u of 10", back);
    cr_expect_eq(mesh->vertices[mesh->indices[0]].normal[2], back > 0 ? -1 : 1, "normals stay");
    cr_expect_eq(has_warning(model, "triangles that turn their backs to where their normals point"), turned);
    th_model_free(model);
}

Test(import, turns_triangles_to_where_their_normals_point)
{
    check_winding(0, false);
    check_winding(8, false);
    check_winding(9, true);
    check_winding(10, true);
}

/* ---- against the oracle ---- */

static double random_unit(void)
{
    return rand() / (RAND_MAX + 1.0);
}

/* On keys, between them, and far before and behind the clip. */
static double random_time_s(const th_clip *clip)
{
    double ticks = clip->duration_ticks * (6 * random_unit() - 3);
    if (rand() % 3 == 0) {
        const th_track *track = &clip->channels[(uint32_t)rand() % clip->channel_count].rotation;
        ticks = track->times[(uint32_t)rand() % track->key_count] + clip->duration_ticks * (rand() % 5 - 2);
    }
    return ticks / clip->ticks_per_second;
}

/* Where a loop starts anew, one rounding decides between its first and its last moment. */
static bool on_the_seam(const th_clip *clip, double time_s)
{
    double turns = time_s * clip->ticks_per_second / clip->duration_ticks;
    return turns != 0 && fabs(turns - round(turns)) < 1e-9;
}

static void check_matrix(const th_dmat34 *ours, const oracle_matrix *theirs, double size, const char *file,
                         const char *what, double time_s)
{
    double largest = 1;
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
            largest = fmax(largest, fabs(theirs->m[row][column]));
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 4; column++) {
            double error = fabs(ours->m[4 * row + column] - theirs->m[row][column]);
            cr_assert(error <= 1e-5 * (column == 3 ? size : largest), "%s, %s at %.9g s: [%d][%d] is %.9g, not %.9g",
                      file, what, time_s, row, column, ours->m[4 * row + column], theirs->m[row][column]);
        }
}

static const th_dmat34 *find_palette_entry(const th_model *model, const th_dmat34 *palette, uint32_t joint,
                                           const struct aiMatrix4x4 *offset)
{
    for (uint32_t b = 0; b < model->bone_count; b++)
        if (model->bones[b].joint == joint && memcmp(&model->bones[b].inverse_bind, offset, sizeof(th_mat34)) == 0)
            return &palette[b];
    return NULL;
}

static void check_pose(const th_model *model, const oracle *o, int clip, double time_s, const char *file)
{
    oracle_matrix *theirs = calloc(o->node_count, sizeof *theirs);
    th_dmat34 *pose = calloc(model->joint_count, sizeof *pose), *palette = calloc(model->bone_count, sizeof *palette);
    const th_clip *c = clip < 0 ? NULL : &model->clips[clip];
    oracle_pose(o, clip, time_s, theirs);
    th_exact_pose(model, c, c ? th_clip_ticks(c, time_s) : 0, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_palette(model, pose, palette);
    for (unsigned n = 0; n < o->node_count; n++)
        check_matrix(&pose[n], &theirs[n], model->size, file, model->joints[n].name, time_s);
    for (unsigned m = 0; m < o->scene->mNumMeshes; m++)
        for (unsigned b = 0; b < o->scene->mMeshes[m]->mNumBones; b++) {
            const struct aiBone *bone = o->scene->mMeshes[m]->mBones[b];
            unsigned node = oracle_find(o, bone->mName.data);
            if (node == o->node_count)
                continue; /* anim_test.x has such */
            const th_dmat34 *ours = find_palette_entry(model, palette, node, &bone->mOffsetMatrix);
            cr_assert_not_null(ours, "%s: no palette entry for %s", file, bone->mName.data);
            oracle_matrix bone_matrix = oracle_bone(o, bone, theirs);
            check_matrix(ours, &bone_matrix, model->size, file, bone->mName.data, time_s);
        }
    free(theirs);
    free(pose);
    free(palette);
}

/* Corner by corner, because welding numbers the vertices anew: positions, and the four largest weights. */
static void check_skin(const th_model *model, const oracle *o, const char *file)
{
    cr_assert_eq(model->mesh_count, o->scene->mNumMeshes, "%s", file);
    for (unsigned m = 0; m < o->scene->mNumMeshes; m++) {
        const struct aiMesh *theirs = o->scene->mMeshes[m];
        const th_mesh *ours = &model->meshes[m];
        if (theirs->mPrimitiveTypes != aiPrimitiveType_TRIANGLE)
            continue;
        float *sums = calloc((size_t)theirs->mNumVertices * o->node_count, sizeof *sums);
        for (unsigned b = 0; b < theirs->mNumBones; b++)
            for (unsigned k = 0; k < theirs->mBones[b]->mNumWeights; k++)
                sums[(size_t)theirs->mBones[b]->mWeights[k].mVertexId * o->node_count +
                     oracle_find(o, theirs->mBones[b]->mName.data) % o->node_count] +=
                    theirs->mBones[b]->mWeights[k].mWeight;
        cr_assert_eq(ours->index_count, 3 * theirs->mNumFaces, "%s", file);
        for (uint32_t i = 0; i < ours->index_count; i++) {
            unsigned index = theirs->mFaces[i / 3].mIndices[i % 3];
            const th_vertex *v = &ours->vertices[ours->indices[i]];
            cr_assert_arr_eq(v->position, &theirs->mVertices[index], sizeof v->position, "%s corner %u", file, i);
            const float *all = sums + (size_t)index * o->node_count;
            for (uint32_t k = 1; k < TH_MAX_INFLUENCES && theirs->mNumBones > 0 && v->weight[k] > 0; k++) {
                float a = all[model->bones[v->bone[0]].joint], b = all[model->bones[v->bone[k]].joint];
                cr_assert_float_eq(v->weight[k] / v->weight[0], b / a, 1e-5, "%s corner %u weight %u", file, i, k);
            }
        }
        free(sums);
    }
}

static void check_file(const char *path)
{
    th_model *model = import_good(path);
    oracle o = oracle_load(path);
    cr_assert_not_null(o.scene);
    cr_assert_eq(model->joint_count, o.node_count);
    cr_assert_eq(model->clip_count, o.scene->mNumAnimations);
    srand(SEED);
    check_pose(model, &o, -1, 0, path);
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (int i = 0; i < 60;) {
            double time_s = i == 0 ? 0 : random_time_s(&model->clips[c]);
            i++;
            if (!on_the_seam(&model->clips[c], time_s))
                check_pose(model, &o, (int)c, time_s, path);
        }
    check_skin(model, &o, path);
    oracle_free(&o);
    th_model_free(model);
}

Test(import, agrees_with_the_oracle_on_every_animated_test_model)
{
    static const char *const files[] = {
        "BVH/01_01.bvh",
        "BVH/01_03.bvh",
        "BVH/Boxing_Toes.bvh",
        "X/Testwuson.X",
        "X/BCN_Epileptic.X",
        "X/anim_test.x",
        "MDL/MDL (HL1)/man.mdl",
        "MDL/MDL (HL1)/unnamed_bones.mdl",
        "MDL/MDL (HL1)/sequence_transitions.mdl",
        "MDL/MDL (HL1)/blend_additive.mdl",
        "MDL/MDL (HL1)/duplicate_sequences.mdl",
        "glTF2/simple_skin/simple_skin.gltf",
        "Collada/box_nested_animation.dae",
    };
    for (size_t f = 0; f < LENGTH(files); f++)
        check_file(testmodel(files[f]));
}

/* ---- hostile input ---- */

static void check_bad_path(const char *path, const char *says)
{
    check_refused(&(th_import_desc){.path = path, .importer = TEST_IMPORTER, .timeout_s = 5}, TH_ERR_INPUT, says);
}

Test(import, says_why_a_path_is_no_file)
{
    check_bad_path("", "empty");
    check_bad_path(in_folder("lost.glb"), "lost.glb: No such file");
    check_bad_path(in_folder("."), "is a folder");
    check_bad_path("/dev/null", "not a regular file");
    mkfifo(in_folder("pipe.glb"), 0600);
    check_bad_path(in_folder("pipe.glb"), "not a regular file");
    write_file(in_folder("empty.glb"), "", 0, 0600);
    check_bad_path(in_folder("empty.glb"), "the file is empty");
    write_file(in_folder("text.glb"), "Dear reader", 11, 0600);
    check_bad_path(in_folder("text.glb"), "text.glb: ");
    if (geteuid() == 0)
        return; /* may read everything */
    write_file(in_folder("secret.glb"), "x", 1, 0);
    check_bad_path(in_folder("secret.glb"), "Permission denied");
}

Test(import, names_the_file_however_long_its_path_is)
{
    char path[3000];
    memset(path, 'x', sizeof path);
    for (size_t i = 100; i < sizeof path; i += 100)
        path[i] = '/';
    strcpy(path + sizeof path - 9, "fox.glb");
    check_bad_path(path, "fox.glb: No such file");
}

/* Assimp 5.2.5 crashes if it is asked. */
Test(import, refuses_an_stl_without_faces)
{
    FILE *file = fopen(in_folder("made.stl"), "w");
    fputs("solid ground\nfacet\n", file);
    fclose(file);
    th_model *model;
    th_error err;
    th_result result = import(in_folder("made.stl"), &model, &err);
    cr_expect_eq(result, TH_ERR_INPUT);
    cr_expect(strstr(err.text, "made.stl: has no faces"), "%s", err.text);
    th_model_free(model);
}

/* Importers of all kinds: what throng-import could do if it went mad. */
static void check_importer(const char *script, double timeout_s, th_result code, const char *says)
{
    char model[256];
    strcpy(model, in_folder("model.glb"));
    write_file(model, "x", 1, 0600);
    write_file(in_folder("importer"), script, strlen(script), 0700);
    check_refused(&(th_import_desc){.path = model, .importer = in_folder("importer"), .timeout_s = timeout_s}, code,
                  says);
    cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "a child is left");
}

Test(import, survives_any_importer)
{
    char large_answer[128]; /* 6 GiB are coming, says its head */
    snprintf(large_answer, sizeof large_answer,
             "#!/bin/sh\nprintf 'throng\\r\\n\\%03o\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\200\\001\\0\\0\\0'\n",
             TH_ARCHIVE_VERSION);
    check_importer("#!/bin/sh\nkill -SEGV $$\n", 0.5, TH_ERR_INPUT, "the importer crashed (segmentation fault)");
    check_importer("#!/bin/sh\nexit 3\n", 0.5, TH_ERR_ENVIRONMENT, "/importer gave up without an answer (exit code 3)");
    check_importer("#!/bin/sh\nexit 127\n", 0.5, TH_ERR_ENVIRONMENT, "/importer cannot be started");
    check_importer("#!/bin/sh\necho Hello, here comes your model\n", 0.5, TH_ERR_ENVIRONMENT, "/importer is no model");
    check_importer("#!/bin/sh\nprintf throng\n", 0.5, TH_ERR_ENVIRONMENT, "(exit code 0)");
    check_importer(large_answer, 0.5, TH_ERR_INPUT, "damaged");
    check_importer("#!/bin/sh\nexec cat /dev/zero\n", 0.5, TH_ERR_ENVIRONMENT, "/importer is no model");
    check_importer("#!/bin/sh\nexec sleep 100\n", 0.1, TH_ERR_INPUT, "no model after 1 s");
    check_importer("#!/bin/sh\nprintf throng; exec sleep 100\n", 0.1, TH_ERR_INPUT, "no model after 1 s");
    check_importer("#!/bin/sh\nwhile :; do :; done\n", 0.1, TH_ERR_INPUT, "no model after 0.1 s");
    check_importer("#!/no/such/shell\n", 0.5, TH_ERR_ENVIRONMENT, "cannot start");
}

Test(import, says_when_there_is_no_importer)
{
    write_file(in_folder("model.glb"), "x", 1, 0600);
    th_import_desc desc = {.path = in_folder("model.glb"), .importer = "/no/such/importer"};
    check_refused(&desc, TH_ERR_ENVIRONMENT, "/no/such/importer");
}

Test(import, finds_the_importer_beside_the_program)
{
    const gltf_accessor accessors[] = {POSITIONS};
    gltf_write(in_folder("made.gltf"), SCENE("0") NODES("{'mesh':0}") PLAIN_MESHES, accessors, 1);
    th_model *model;
    th_error err;
    cr_expect_eq(th_import(&(th_import_desc){.path = in_folder("made.gltf")}, &model, &err), TH_OK, "%s", err.text);
    th_model_free(model);
}

Test(import, keeps_to_its_memory)
{
    const char *path = testmodel("invalid/OutOfMemory.off");
    th_model *model;
    th_error err;
    th_result result =
        th_import(&(th_import_desc){.path = path, .importer = TEST_IMPORTER, .memory_bytes = 256u << 20}, &model, &err);
    cr_expect(result == TH_ERR_LIMIT || result == TH_ERR_INPUT, "%s", err.text);
    write_file(in_folder("large.glb"), "xx", 2, 0600);
    check_refused(&(th_import_desc){.path = in_folder("large.glb"), .importer = TEST_IMPORTER, .memory_bytes = 1},
                  TH_ERR_LIMIT, "memory limit");
}

static void *import_often(void *path)
{
    for (int i = 0; i < 10; i++)
        th_model_free(import_good(path));
    return NULL;
}

Test(import, works_from_several_threads_at_a_time)
{
    static char path[256];
    const gltf_accessor accessors[] = {POSITIONS, JOINTS, WEIGHTS, INVERSE_BINDS};
    strcpy(path, in_folder("made.gltf"));
    gltf_write(path, ARM_BODY(""), accessors, LENGTH(accessors));
    pthread_t threads[4];
    for (int t = 0; t < 4; t++)
        pthread_create(&threads[t], NULL, import_often, path);
    for (int t = 0; t < 4; t++)
        pthread_join(threads[t], NULL);
}

/* ---- masses of files, several at a time ---- */

#define SWEEP_THREADS 4
#define SWEEP_MAX     4096

static struct {
    char *paths[SWEEP_MAX];
    size_t count, next, good;
    double slowest_s;
    pthread_mutex_t lock;
} sweep = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void import_anything(const char *path)
{
    th_model *model;
    th_error err;
    double start_s = now_s();
    th_result result = import(path, &model, &err);
    double took_s = now_s() - start_s;
    cr_expect(result == TH_OK || result == TH_ERR_INPUT || result == TH_ERR_LIMIT, "%s", err.text);
    cr_expect_eq(result == TH_OK, model != NULL);
    bool gave_up = result != TH_OK && strstr(err.text, "exit code"); /* sanitizers do when memory runs out */
    cr_expect(!gave_up || strstr(path, "OutOfMemory"), "%s", err.text);
    th_model_free(model);
    pthread_mutex_lock(&sweep.lock);
    sweep.good += result == TH_OK;
    sweep.slowest_s = fmax(sweep.slowest_s, took_s);
    pthread_mutex_unlock(&sweep.lock);
}

static void *import_next(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&sweep.lock);
        char *path = sweep.next < sweep.count ? sweep.paths[sweep.next++] : NULL;
        pthread_mutex_unlock(&sweep.lock);
        if (!path)
            return unused;
        import_anything(path);
        free(path);
    }
}

static void import_all(void)
{
    pthread_t threads[SWEEP_THREADS];
    for (int t = 0; t < SWEEP_THREADS; t++)
        pthread_create(&threads[t], NULL, import_next, NULL);
    for (int t = 0; t < SWEEP_THREADS; t++)
        pthread_join(threads[t], NULL);
    cr_log_info("%zu of %zu files gave a model, the slowest took %.1f s", sweep.good, sweep.count, sweep.slowest_s);
}

static size_t one_in = 1; /* so many files */

static int add_path(const char *path, const struct stat *status, int type, struct FTW *where)
{
    static size_t seen;
    (void)status;
    (void)where;
    if (type == FTW_F && sweep.count < SWEEP_MAX && seen++ % one_in == 0)
        sweep.paths[sweep.count++] = strdup(path);
    return 0;
}

static size_t count_files(const char *where)
{
    size_t before = sweep.count;
    nftw(where, add_path, 16, FTW_PHYS);
    size_t count = sweep.count - before;
    while (sweep.count > before)
        free(sweep.paths[--sweep.count]);
    return count;
}

Test(import, gives_a_model_or_an_error_for_every_test_file)
{
    const char *models = testmodel(".");
    cr_assert_eq(chdir(in_folder(".")), 0, "where anything the importer drops would land");
    one_in = is_nightly() ? 1 : 4;
    nftw(models, add_path, 16, FTW_PHYS);
    one_in = 1;
    cr_expect(sweep.count > 300 / (is_nightly() ? 1 : 4));
    import_all();
    cr_expect(3 * sweep.good > sweep.count);
    cr_expect_eq(count_files(folder), 0, "a file was left behind");
}

/* Prefixes of a file, at even distances; the last one lacks a byte. */
static void add_truncations(const char *path, int count)
{
    size_t size;
    char *bytes = read_whole_file(path, &size), name[64];
    for (int i = 1; i <= count; i++) {
        snprintf(name, sizeof name, "%d-%s", i, strrchr(path, '/') + 1);
        write_file(in_folder(name), bytes, (size - 1) * (size_t)i / (size_t)count, 0600);
        sweep.paths[sweep.count++] = strdup(in_folder(name));
    }
    free(bytes);
}

Test(import, survives_truncated_files)
{
    const int count = is_nightly() ? 200 : 40;
    add_truncations(testmodel("X/Testwuson.X"), count);
    add_truncations(TEST_DATA "/morph.glb", count);
    size_t files = sweep.count;
    import_all();
    cr_expect_eq(count_files(folder), files, "a file was left behind");
}
