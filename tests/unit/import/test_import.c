/* Import of files that others made or that are made here because they are large, odd or not text; against an evaluation
 * of Assimp's scene that shares no code with ours; and under conditions that want to do harm. What is read of small
 * files is for test_import_models.c. */
#include "fixture_folder.h"
#include "fixture_gltf.h"
#include "fixture_import.h"
#include "fixture_nightly.h"
#include "oracle_assimp.h"

#include <anim/archive.h>
#include <anim/exact.h>
#include <anim/sandbox.h>

#include <criterion/criterion.h>
#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEED 7u

static void set_up(void)
{
    keep_signals();
    make_folder();
}

TestSuite(import, .init = set_up, .fini = remove_all);

static void write_file(const char *file_name, const void *bytes, size_t size, mode_t mode)
{
    FILE *file = fopen(file_name, "wb");
    cr_assert(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    chmod(file_name, mode);
}

static char *read_whole_file(const char *file_name, size_t *size)
{
    FILE *file = fopen(file_name, "rb");
    cr_assert_not_null(file, "%s", file_name);
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

static void check_note(const th_model *model, const char *part)
{
    cr_expect(is_warned(model, part), "no warning says \"%s\"", part);
    for (uint32_t n = 0; !is_warned(model, part) && n < model->warning_count; n++)
        cr_log_warn("there is: %s", model->warnings[n]);
}

/* ---- glTF ---- */

#define SCENE         "'scene':0,'scenes':[{'nodes':[0]}],'nodes':[{'name':'a','mesh':0}],"
#define POSITIONS     GLTF_FLOATS("VEC3", 3, 0, 0, 0, 1, 0, 0, 0, 1, 0)
#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static th_model *import_gltf(const char *body, const gltf_accessor *accessors, uint32_t count)
{
    gltf_write(in_folder("made.gltf"), body, accessors, count);
    return import_good(in_folder("made.gltf"));
}

/* Zeros behind the JSON, where the format asks for spaces. */
Test(import, reads_glb_padded_with_zeros)
{
    size_t size;
    char *text = read_whole_file(TEST_GOLDEN "/models/keys/keys_of_steps.gltf", &size);
    const uint32_t chunk = (uint32_t)(size + 5 + 3) / 4 * 4;
    const uint32_t head[] = {0x46546c67, 2, 20 + chunk, chunk, 0x4e4f534a};
    char *bytes = calloc(1, sizeof head + chunk);
    memcpy(bytes, head, sizeof head);
    memcpy(bytes + sizeof head, text, size);
    write_file(in_folder("padded.glb"), bytes, sizeof head + chunk, 0600);
    free(bytes);
    free(text);
    th_model *model = import_good(in_folder("padded.glb"));
    cr_expect_eq(model->clip_count, 1);
    th_model_destroy(model);
}

/* Lists in lists, more than our reader follows. */
Test(import, refuses_json_it_cannot_read)
{
    enum { DEPTH = 2100 };
    char deep[2 * DEPTH + 32] = "'extras':{'x':";
    memset(deep + strlen(deep), '[', DEPTH);
    memset(deep + strlen(deep), ']', DEPTH);
    strcat(deep, "}");
    gltf_write(in_folder("deep.gltf"), deep, NULL, 0);
    th_import_desc desc = {.path = in_folder("deep.gltf"), .importer = TEST_IMPORTER};
    check_refused(&desc, TH_ERR_INPUT, "its JSON cannot be read: maximum parsing depth");
}

Test(import, assumes_25_ticks_when_the_file_gives_none)
{
    static const char *const files[] = {"3DS/RotatingCube.3DS", "SMD/WusonSMD.smd"};
    for (size_t f = 0; f < LENGTH(files); f++) {
        th_model *model = import_good(testmodel(files[f]));
        cr_expect_float_eq(model->clips[0].ticks_per_second, 25, 0);
        check_note(model, "25 are assumed");
        th_model_destroy(model);
    }
}

/* 26 frames at 30 a second. Assimp says 26 seconds. */
Test(import, ends_clips_of_half_life_with_their_last_frame)
{
    th_model *model = import_good(testmodel("MDL/MDL (HL1)/man.mdl"));
    const th_clip *walk = &model->clips[th_model_find_clip(model, "walk")];
    cr_expect_float_eq(walk->duration_ticks / walk->ticks_per_second, 25.0 / 30, 1e-9);
    th_model_destroy(model);
}

/* The head of the first says 198 frames. */
Test(import, says_what_assimp_leaves_out_of_other_formats)
{
    static const char *const said[][2] = {{"MD2/faerie.md2", "197 frames of moved vertices are not read"},
                                          {"OpenGEX/Example.ogex", "OpenGEX file is read without"}};
    for (size_t f = 0; f < LENGTH(said); f++) {
        th_model *model = import_good(testmodel(said[f][0]));
        check_note(model, said[f][1]);
        th_model_destroy(model);
    }
}

/* ---- nodes ---- */

/* Assimp has made up no names, and lists the bones side by side. */
Test(import, names_the_nodes_of_half_life_and_hangs_them_from_each_other)
{
    static const char *const parents[][2] = {
        {"Root", "<MDL_bones>"}, {"Pelvis", "Root"}, {"LeftLeg", "Pelvis"}, {"Spine", "Pelvis"}, {"Neck", "Spine"}};
    th_model *model = import_good(testmodel("MDL/MDL (HL1)/man.mdl"));
    for (uint32_t j = 0; j < model->joint_count; j++)
        cr_expect_eq(th_model_find_joint(model, model->joints[j].name), j);
    check_note(model, "15 nodes have no name");
    for (size_t i = 0; i < LENGTH(parents); i++) {
        const uint32_t joint = th_model_find_joint(model, parents[i][0]);
        cr_assert_neq(joint, TH_NO_INDEX);
        cr_expect_str_eq(model->joints[model->joints[joint].parent].name, parents[i][1]);
    }
    th_model_destroy(model);
}

Test(import, leaves_out_meshes_no_node_uses)
{
    th_model *model = import_good(testmodel("AC/nosurfaces.ac"));
    cr_expect_eq(model->mesh_count, 0);
    cr_expect_eq(model->bone_count, model->joint_count);
    check_note(model, "1 mesh is used by no node of the scene and was left out");
    th_model_destroy(model);
}

/* ---- textures ---- */

#define PAINT(index) "{'pbrMetallicRoughness':{'baseColorTexture':{'index':" #index "}}}"
#define PART(index)  "{'material':" #index ",'attributes':{'POSITION':0,'TEXCOORD_0':1}}"

/* Names of one file, and numbers of one buffer view. */
Test(import, keeps_a_texture_of_several_names_once)
{
    static const char body[] = SCENE
        "'images':[{'uri':'skin.png'},{'uri':'./skin.png'},{'uri':'hard.png'},{'bufferView':0,'mimeType':'image/png'},"
        "{'bufferView':0,'mimeType':'image/png'}],'textures':[{'source':0},{'source':1},{'source':2},{'source':3},"
        "{'source':4}],'materials':[" PAINT(0) "," PAINT(1) "," PAINT(2) "," PAINT(3) "," PAINT(
            4) "],"
               "'meshes':[{'primitives':[" PART(0) "," PART(1) "," PART(2) "," PART(3) "," PART(4) "]}]";
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
    th_model_destroy(model);
}

/* ---- triangles ---- */

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
        import_gltf(SCENE "'meshes':[{'name':'box','primitives':[{'attributes':{'POSITION':0,'NORMAL':1}}]}]",
                    accessors, LENGTH(accessors));
    const th_mesh *mesh = &model->meshes[0];
    cr_assert_eq(mesh->index_count, 30);
    cr_expect_eq(mesh->vertices[mesh->indices[1]].position[turned ? 1 : 0], 1, "%u of 10", back);
    cr_expect_eq(mesh->vertices[mesh->indices[0]].normal[2], back > 0 ? -1 : 1, "normals stay");
    cr_expect_eq(is_warned(model, "triangles that turn their backs to where their normals point"), turned);
    th_model_destroy(model);
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

static void check_file(const char *file_name)
{
    th_model *model = import_good(file_name);
    oracle o = oracle_load(file_name);
    cr_assert_not_null(o.scene);
    cr_assert_eq(model->joint_count, o.node_count);
    cr_assert_eq(model->clip_count, o.scene->mNumAnimations);
    srand(SEED);
    check_pose(model, &o, -1, 0, file_name);
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (int i = 0; i < 20; i++) {
            double time_s = i == 0 ? 0 : random_time_s(&model->clips[c]);
            if (!on_the_seam(&model->clips[c], time_s))
                check_pose(model, &o, (int)c, time_s, file_name);
        }
    check_skin(model, &o, file_name);
    oracle_free(&o);
    th_model_destroy(model);
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

static void check_bad_path(const char *file_name, const char *says)
{
    check_refused(&(th_import_desc){.path = file_name, .importer = TEST_IMPORTER, .timeout_s = 5}, TH_ERR_INPUT, says);
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
    char file_name[3000];
    memset(file_name, 'x', sizeof file_name);
    for (size_t i = 100; i < sizeof file_name; i += 100)
        file_name[i] = '/';
    strcpy(file_name + sizeof file_name - 9, "fox.glb");
    check_bad_path(file_name, "fox.glb: No such file");
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
    th_model *model;
    th_error err;
    const th_import_desc desc = {.path = TEST_GOLDEN "/models/keys/keys_of_steps.gltf"};
    cr_expect_eq(th_import(&desc, &model, &err), TH_OK, "%s", err.text);
    th_model_destroy(model);
}

Test(import, keeps_to_its_memory)
{
    const char *file_name = testmodel("invalid/OutOfMemory.off");
    th_model *model;
    th_error err;
    th_result result = th_import(
        &(th_import_desc){.path = file_name, .importer = TEST_IMPORTER, .memory_bytes = 256u << 20}, &model, &err);
    cr_expect(result == TH_ERR_LIMIT || result == TH_ERR_INPUT, "%s", err.text);
    write_file(in_folder("large.glb"), "xx", 2, 0600);
    check_refused(&(th_import_desc){.path = in_folder("large.glb"), .importer = TEST_IMPORTER, .memory_bytes = 1},
                  TH_ERR_LIMIT, "memory limit");
    /* As large as all memory, of which the program has taken some. */
    const bool limited = !th_sandbox_read().sanitized;
    cr_assert_eq(truncate(in_folder("large.glb"), 200 << 20), 0);
    check_refused(
        &(th_import_desc){.path = in_folder("large.glb"), .importer = TEST_IMPORTER, .memory_bytes = 200u << 20},
        limited ? TH_ERR_LIMIT : TH_ERR_INPUT, limited ? "needs more memory" : "format known");
}

/* Once, for what th_import checks and all readers. */
Test(import, opens_a_model_once)
{
    static const char *const files[] = {"/models/clips/odd_channels.x",       "/models/clips/names_of_sites.bvh",
                                        "/models/clips/frames_of_lf.md5anim", "/models/clips/clip_names.gltf",
                                        "/models/collada/clips.dae",          "/models/fbx/fbx_jump.fbx"};
    for (size_t f = 0; f < LENGTH(files); f++) {
        char file_name[256], events[8 * sizeof(struct inotify_event)]; /* equal ones in a row would become one */
        size_t size;
        snprintf(file_name, sizeof file_name, TEST_GOLDEN "%s", files[f]);
        char *text = read_whole_file(file_name, &size);
        strcpy(file_name, in_folder(strrchr(files[f], '/') + 1));
        write_file(file_name, text, size, 0600);
        free(text);
        const int watch = inotify_init1(IN_NONBLOCK);
        cr_assert_geq(inotify_add_watch(watch, file_name, IN_OPEN | IN_CLOSE), 0);
        th_model_destroy(import_good(file_name));
        cr_expect_eq(read(watch, events, sizeof events), 2 * (ssize_t)sizeof(struct inotify_event), "%s", file_name);
        close(watch);
    }
}

Test(import, tells_gltf_by_its_text)
{
    size_t size;
    char *text = read_whole_file(TEST_GOLDEN "/models/clips/odd_channels.x", &size);
    write_file(in_folder("model.gltf"), text, size, 0600);
    free(text);
    th_model_destroy(import_good(in_folder("model.gltf")));
}

static void *import_often(void *file_name)
{
    for (int i = 0; i < 3; i++)
        th_model_destroy(import_good(file_name));
    return NULL;
}

Test(import, works_from_several_threads_at_a_time)
{
    static char file_name[] = TEST_GOLDEN "/models/skins/skin_weights.gltf";
    pthread_t threads[4];
    for (int t = 0; t < 4; t++)
        pthread_create(&threads[t], NULL, import_often, file_name);
    for (int t = 0; t < 4; t++)
        pthread_join(threads[t], NULL);
}

/* ---- masses of files ---- */

static size_t seen, tried, good;

static int import_anything(const char *file_name, const struct stat *status, int type, struct FTW *where)
{
    th_model *model;
    th_error err;
    (void)status;
    (void)where;
    if (type != FTW_F || seen++ % (is_nightly() ? 1 : 12) > 0)
        return 0;
    const th_result result = import(file_name, &model, &err);
    cr_expect(result == TH_OK || result == TH_ERR_INPUT || result == TH_ERR_LIMIT, "%s", err.text);
    cr_expect_eq(result == TH_OK, model != NULL);
    const bool gave_up = result != TH_OK && strstr(err.text, "exit code"); /* sanitizers do when memory runs out */
    cr_expect(!gave_up || strstr(file_name, "OutOfMemory"), "%s", err.text);
    th_model_destroy(model);
    tried++;
    good += result == TH_OK;
    return 0;
}

Test(import, gives_a_model_or_an_error_for_every_test_file)
{
    const char *models = testmodel(".");
    cr_assert_eq(chdir(in_folder(".")), 0, "where anything the importer drops would land");
    nftw(models, import_anything, 16, FTW_PHYS);
    cr_expect(seen > 300 && 3 * good > tried, "%zu of %zu, of %zu", good, tried, seen);
    cr_expect_eq(count_files(), 0, "a file was left behind");
}
