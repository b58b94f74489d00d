/* Files and surroundings that mean harm, or look as if they did. */
#include "fixture_folder.h"
#include "fixture_gltf.h"
#include "fixture_import.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TestSuite(import_hostile, .init = make_folder, .fini = remove_folder);

static FILE *begin_file(const char *extension)
{
    snprintf(path, sizeof path, "%s/model%s", folder, extension);
    FILE *file = fopen(path, "w");
    cr_assert(file);
    return file;
}

/* ---- what is no model at all ---- */

static void expect_no_model(const char *name, const char *content)
{
    FILE *file = begin_file(name);
    fputs(content, file);
    fclose(file);
    th_model *model;
    th_error err;
    cr_expect_eq(import(path, &model, &err), TH_ERR_INPUT, "%s", name);
    cr_expect(strstr(err.text, "is not a model of any format known here"), "%s", err.text);
    unlink(path);
}

/* Assimp takes the texts for OBJ, STL and Blender's files. */
Test(import_hostile, says_what_is_no_model)
{
    expect_no_model(".png", "\x89PNG\r\n\x1a\n");
    expect_no_model("", "warnings");
    expect_no_model(".txt", "v apples\nf 1 2 3\no pears\n");
    expect_no_model(".md", "BLENDER\nis a program\n");
    expect_no_model(".c", "/* the pose. */\nstatic\no v f\n");
}

static void expect_refused(const char *extension, const char *content, const char *says)
{
    FILE *file = begin_file(extension);
    fputs(content, file);
    fclose(file);
    th_model *model;
    th_error err;
    cr_expect_eq(import(path, &model, &err), TH_ERR_INPUT, "%s", err.text);
    cr_expect(strstr(err.text, says), "%s", err.text);
    unlink(path);
}

/* Assimp frees such a scene twice. */
Test(import_hostile, says_that_there_are_no_faces)
{
    expect_refused(".stl", "solid a\nendsolid a\n", "has no faces");
    expect_refused(".stl", "solid a\nendsolid a\nsolid b\nendsolid b\n", "has no faces");
}

/* ---- numbers ---- */

#define COLLADA_NODE(matrix)                                                                                           \
    "<?xml version=\"1.0\"?><COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">"        \
    "<asset/><library_visual_scenes><visual_scene id=\"w\"><node id=\"arm\" name=\"arm\"><matrix>" matrix              \
    "</matrix></node></visual_scene></library_visual_scenes><scene><instance_visual_scene url=\"#w\"/></scene>"        \
    "</COLLADA>"

Test(import_hostile, says_which_matrix_is_not_finite)
{
    expect_refused(".dae", COLLADA_NODE("1 0 0 nan 0 1 0 0 0 0 1 0 0 0 0 1"), "arm is not finite");
    expect_refused(".dae", COLLADA_NODE("1 0 0 1e39 0 1 0 0 0 0 1 0 0 0 0 1"), "arm is not finite");
    expect_refused(".gltf",
                   "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"name\":"
                   "\"arm\",\"matrix\":[1e300,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}]}",
                   "arm is not finite");
}

Test(import_hostile, says_which_clip_is_too_long)
{
    expect_refused(".bvh",
                   "HIERARCHY\nROOT a\n{\n OFFSET 0 0 0\n CHANNELS 3 Xrotation Yrotation Zrotation\n End Site\n {\n"
                   "  OFFSET 0 1 0\n }\n}\nMOTION\nFrames: 3\nFrame Time: 3e38\n0 0 0\n10 0 0\n0 0 0\n",
                   "clip Motion: bad duration");
}

/* ---- names ---- */

/* A DirectX file with a frame for each name, one in another, and a clip that moves the last two. */
static th_model *import_frames(const char *const names[], int count)
{
    FILE *file = begin_file(".x");
    fputs("xof 0303txt 0032\n", file);
    for (int n = 0; n < count; n++)
        fprintf(file, "Frame %s {\n", names[n]);
    for (int n = 0; n < count; n++)
        fputs("}\n", file);
    fputs("AnimationSet wave {\n", file);
    for (int n = count - 2; n < count; n++)
        fprintf(file, "Animation { {%s} AnimationKey { 2; 1; 0;3;%d.0,0.0,0.0;;; } }\n", names[n], n);
    fputs("}\n", file);
    fclose(file);
    return import_good(path);
}

static void check_frames(const char *const names[], const char *const shown[], int count)
{
    th_model *model = import_frames(names, count);
    for (int n = 0; n < count; n++)
        cr_expect_neq(th_model_find_joint(model, shown[n]), TH_NO_INDEX, "%s", shown[n]);
    cr_assert_eq(model->clip_count, 1);
    cr_assert_eq(model->clips[0].channel_count, 2);
    for (int k = 0; k < 2; k++) {
        const th_channel *channel = &model->clips[0].channels[k];
        cr_expect_str_eq(model->joints[channel->joint].name, shown[count - 2 + k]);
        cr_expect_float_eq(channel->translation.values[0], (float)(count - 2 + k), 1e-6);
    }
    th_model_free(model);
}

#define CHECK_FRAMES(names, shown) check_frames(names, shown, (int)(sizeof names / sizeof *names))

Test(import_hostile, keeps_latin1_names_apart)
{
    const char *const names[] = {"root", "Arm_\xe9", "Arm_\xe8"}, *const shown[] = {"root", "Arm_é", "Arm_è"};
    CHECK_FRAMES(names, shown);
}

Test(import_hostile, keeps_names_in_unknown_codes_apart)
{
    const char *const names[] = {"root", "\xd7\xf3\x80", "\xd3\xd2\x80"}, *const shown[] = {"root", "×ó\\x80",
                                                                                            "ÓÒ\\x80"};
    CHECK_FRAMES(names, shown);
}

Test(import_hostile, keeps_names_apart_that_look_the_same)
{
    const char *const names[] = {"root", "\xc3\xa9", "\xe9"}, *const shown[] = {"root", "é", "é~1"};
    CHECK_FRAMES(names, shown);
}

#define TRIANGLE                                                                                                       \
    (const gltf_accessor[])                                                                                            \
    {                                                                                                                  \
        GLTF_FLOATS("VEC3", 3, 0, 0, 0, 1, 0, 0, 0, 1, 0), GLTF_FLOATS("SCALAR", 1, 0),                                \
            GLTF_FLOATS("VEC3", 1, 1, 2, 3)                                                                            \
    }

Test(import_hostile, writes_control_characters_as_their_codes)
{
    fclose(begin_file(".gltf"));
    gltf_write(path,
               "'scene':0,'scenes':[{'nodes':[0]}],'nodes':[{'name':'root','mesh':0,'children':[1,2]},"
               "{'name':'a\\u0001'},{'name':'a\\u001b'}],'meshes':[{'primitives':[{'attributes':{'POSITION':0}}]}],"
               "'animations':[{'samplers':[{'input':1,'output':2}],"
               "'channels':[{'sampler':0,'target':{'node':2,'path':'translation'}}]}]",
               TRIANGLE, 3);
    th_model *model = import_good(path);
    cr_expect_neq(th_model_find_joint(model, "a\\x01"), TH_NO_INDEX);
    cr_assert_eq(model->clip_count, 1);
    cr_expect_str_eq(model->joints[model->clips[0].channels[0].joint].name, "a\\x1b");
    th_model_free(model);
}

/* 511 codes of 4 characters, and then `letters`. */
static const char *long_name(int letters)
{
    static char name[8192];
    char *end = name;
    for (int n = 0; n < 511; n++)
        end = stpcpy(end, "\\u0001");
    for (int n = 0; n < letters; n++)
        *end++ = 'a';
    *end = '\0';
    return name;
}

/* However long codes make them: three are the same, and the other one is how all of them begin. */
Test(import_hostile, keeps_long_names_whole_and_apart)
{
    char body[32768];
    char *end = stpcpy(body, "'scene':0,'scenes':[{'nodes':[0]}],'nodes':[{'children':[1,2,3,4]}");
    for (int n = 0; n < 4; n++)
        end += sprintf(end, ",{'name':'%s'}", long_name(n == 3 ? 3 : 100));
    strcpy(end, "]");
    fclose(begin_file(".gltf"));
    gltf_write(path, body, NULL, 0);
    th_model *model = import_good(path);
    cr_assert_eq(model->joint_count, 5);
    for (uint32_t j = 0; j < model->joint_count; j++)
        cr_expect_eq(th_model_find_joint(model, model->joints[j].name), j);
    cr_expect_eq(strlen(model->joints[4].name), 2047);
    cr_expect_eq(strlen(model->joints[3].name), 2144 + strlen("#3"));
    th_model_free(model);
}

/* References of formats other than glTF are names, and two nodes cannot be told apart by their paths either. */
Test(import_hostile, tells_which_nodes_it_cannot_tell_apart)
{
    FILE *file = begin_file(".x");
    fputs("xof 0303txt 0032\nFrame body {\nFrame hand { }\nFrame hand { }\n}\nAnimationSet wave {\n"
          "Animation { {hand} AnimationKey { 2; 1; 0;3;1.0,0.0,0.0;;; } }\n}\n",
          file);
    fclose(file);
    th_model *model;
    th_error err;
    cr_expect_eq(import(path, &model, &err), TH_ERR_INPUT);
    cr_expect(strstr(err.text, "node 1 at /body/hand or node 2 at /body/hand"), "%s", err.text);
}

/* ---- time ---- */

static double cpu_s_of(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* CPU time, of the importer too: others may keep the machine busy. */
static double seconds_to_import(void)
{
    const double before_s = cpu_s_of(RUSAGE_SELF) + cpu_s_of(RUSAGE_CHILDREN);
    th_model_free(import_good(path));
    return cpu_s_of(RUSAGE_SELF) + cpu_s_of(RUSAGE_CHILDREN) - before_s;
}

static void write_siblings(const char *name, int count)
{
    FILE *file = begin_file(".x");
    fputs("xof 0303txt 0032\nFrame root {\n", file);
    for (int n = 0; n < count; n++)
        fprintf(file, "Frame %s { }\n", name);
    fputs("}\n", file);
    fclose(file);
}

/* Generous: quadratic time is more than a minute. */
static void check_time_of_siblings(const char *name)
{
    write_siblings(name, 60000);
    cr_expect_lt(seconds_to_import(), 5);
}

Test(import_hostile, takes_many_nodes_without_a_name)
{
    check_time_of_siblings("");
}

Test(import_hostile, takes_many_nodes_of_one_name)
{
    check_time_of_siblings("x");
}

/* And not with the one that may come from anywhere. Most of the second is spent before the importer begins. */
Test(import_hostile, ends_the_importer_with_the_signal_for_time)
{
    write_siblings("x", 1000000);
    pid_t child = fork();
    if (child == 0) {
        while (clock() < CLOCKS_PER_SEC / 100 * 97)
            ;
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execl(TEST_IMPORTER, TEST_IMPORTER, path, "0", "1", NULL);
        _exit(127);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status), "%d", status);
    cr_expect_eq(WTERMSIG(status), SIGXCPU);
}

/* ---- paths ---- */

__attribute__((format(printf, 1, 0))) static void check_path_of_descriptor(const char *format, int file)
{
    char name[64];
    snprintf(name, sizeof name, format, file);
    th_model *model = import_good(name);
    cr_expect_str_eq(model->name, "model.x");
    th_model_free(model);
}

Test(import_hostile, opens_what_its_own_descriptors_are)
{
    write_siblings("x", 1);
    int file = open(path, O_RDONLY);
    check_path_of_descriptor("/proc/self/fd/%d", file);
    check_path_of_descriptor("/dev/fd/%d", file);

    char link[sizeof folder + 8], name[64];
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    cr_assert_eq(symlink(name, link), 0);
    check_path_of_descriptor(link, file);
    unlink(link);

    unlink(path);
    th_model *model;
    th_error err;
    cr_expect_eq(import(name, &model, &err), TH_ERR_INPUT);
    cr_expect(strstr(err.text, "has no name"), "%s", err.text);
    close(file);
}
