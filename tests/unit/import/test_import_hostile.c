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
    fclose(begin_file(name));
    write_text(path, content);
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
    th_model_destroy(model);
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
    th_model_destroy(import_good(path));
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

/* Generous: quadratic time is a quarter of a minute. */
Test(import_hostile, takes_many_nodes_without_a_name_and_of_one_name)
{
    static const char *const names[] = {"", "x"};
    for (int n = 0; n < 2; n++) {
        write_siblings(names[n], 30000);
        cr_expect_lt(seconds_to_import(), 5, "\"%s\"", names[n]);
    }
}

/* And not with the one that may come from anywhere. Most of the second is spent before the importer begins. */
Test(import_hostile, ends_the_importer_with_the_signal_for_time)
{
    char path_in_folder[64];
    write_siblings("x", 1000000);
    snprintf(path_in_folder, sizeof path_in_folder, "/proc/self/fd/%d/model.x", open(folder, O_PATH));
    pid_t child = fork();
    if (child == 0) {
        while (clock() < CLOCKS_PER_SEC / 100 * 97)
            ;
        dup2(open(path, O_RDONLY), STDIN_FILENO);
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execl(TEST_IMPORTER, TEST_IMPORTER, path_in_folder, "0", "1", NULL);
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
    th_model_destroy(model);
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
