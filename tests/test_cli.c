/* The program from outside: what it prints, where, and its exit code. */
#include "fixture_program.h"
#include "fixture_text.h"

#include <throng/anim/crowd.h>
#include <throng/anim/exact.h>
#include <throng/anim/human.h>
#include <throng/anim/layer.h>
#include <throng/anim/sandbox.h>
#include <throng/anim/synthetic.h>
#include <throng/jobs/jobs.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(cli, .init = make_folder, .fini = remove_folder);

/* Of the program's own human the levels of detail alone take 0.3 s to find. */
#define SMALL "synthetic:joints=4"
#define QUICK "--count 10 --repetitions 2 --frames 1 "

/* ---- usage ---- */

Test(cli, misuse_is_exit_code_2_and_says_what_helps)
{
    expect(2, "bnech", "unknown command bnech; did you mean bench?");
    expect(2, "frobnicate", "unknown command frobnicate; `throng help` lists them");
    expect(2, "--json", "a command comes first");
    expect(2, "help insepct", "did you mean inspect?");
    expect(2, "help bench scale", "help takes one command");
    expect(2, "scale --thread 2", "unknown option --thread; did you mean --threads?");
    expect(2, "pose --clip wlak", "no clip \"wlak\"; did you mean \"walk\"?");
    expect(2, "pose --clip 99", "no clip \"99\"; `throng inspect` lists a model's clips");
    expect(2, "pose --clip all", "pose shows one clip at a time");
    expect(2, "bench --filter nothing", "no entry matches \"nothing\"");
    expect(2, "inspect synthetic:joints=0", "synthetic:joints takes a whole number from 1 to 1000, not \"0\"");
    expect(2, "bench --model synthetic:shap=star", "synthetic has no key \"shap\"; did you mean shape?");
    expect(2, "scale --model synthetic:depth=9,joints=8", "synthetic:depth of a tree of 8 joints takes 2 to 8, not 9");
    expect(2, "render --model human --model synthetic:depth=2,shape=chain", "synthetic:depth is for shape=tree");
    expect(2, "pose --animation synthetic:", "synthetic takes KEY=VALUE,..., not \"\"");
    expect(2, "pose --layer wlak,weight=1", "no clip \"wlak\"; did you mean \"walk\"?");
    expect(2, "pose --layer walk,weight=2", "--layer weight takes a number from 0 to 1, not \"2\"");
    expect(2, "pose --layer walk,wieght=1", "--layer has no key \"wieght\"; did you mean weight?");
    expect(2, "pose --layer walk,mask=belly", "--layer mask: no joint \"belly\"");
    expect(2, "pose --layer walk,0.5", "--layer takes CLIP,KEY=VALUE,..., not \"0.5\" after the clip");
    expect(2, "pose --layer walk,mode=ad", "--layer mode takes override, add or add-rest, not \"ad\"");
    expect(2, "pose --layer walk --clip run", "pose shows --clip or --layer, not both");
    cr_expect_eq(throng(""), 2);
    cr_expect(strstr(err, "usage: throng COMMAND"), "%s", err);
    cr_expect_str_eq(out, "");
}

Test(cli, help_and_version_go_to_standard_output)
{
    static const char *const calls[] = {"help",      "help help",   "--help",           "-h",
                                        "help pose", "pose --help", "pose -h --time 3", "help synthetic"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        expect(0, calls[i], "");
        cr_expect(strstr(out, "usage: throng ") || strstr(out, "joints=64"), "%s", calls[i]);
        cr_expect_str_eq(err, "");
    }
    expect(0, "--version", "");
    cr_expect_eq(strncmp(out, "throng 0.", 9), 0, "%s", out);
}

Test(cli, help_is_100_columns_wide_at_most)
{
    static const char *const commands[] = {"",       "bench", "compare", "demo",   "inspect",   "pose",
                                           "render", "scale", "serve",   "stress", "synthetic", "view"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char arguments[32];
        snprintf(arguments, sizeof arguments, "help %s", commands[i]);
        expect(0, arguments, "");
        expect_narrow(out);
    }
}

Test(cli, unusable_files_are_exit_code_3)
{
    expect(3, "inspect missing.glb", "missing.glb");
    expect(3, "pose --animation missing.bvh", "missing.bvh");
    expect(3, "scale --model .", "");
    expect(3, "inspect --out missing/file", "cannot write missing/file: No such file or directory");
    expect(3, "inspect --out .", "cannot write .: Is a directory");
    FILE *file = fopen("broken.glb", "w");
    fputs("glTF, or so it says", file);
    fclose(file);
    expect(3, "inspect broken.glb", "broken.glb");
}

Test(cli, what_the_machine_lacks_is_exit_code_4)
{
    for (int isa = TH_ISA_AUTO; isa < TH_ISA_COUNT; isa++) {
        const char *name = th_isa_name((th_isa)isa);
        char line[64];
        snprintf(line, sizeof line, "pose --sampling compiled --isa %s", name);
        if (!th_isa_available((th_isa)isa))
            expect(4, line, name);
    }
    expect(4, "inspect " SMALL " >/dev/full", "cannot write standard output: No space left on device");
    expect(4, "inspect --json " SMALL " >/dev/full", "cannot write standard output: No space left on device");
    expect(4, "help >/dev/full", "cannot write standard output");
    expect(4, "inspect " SMALL " >&-", "cannot write standard output");
}

Test(cli, openmp_with_fewer_threads_than_asked_for_is_exit_code_4)
{
    setenv("OMP_THREAD_LIMIT", "1", 1);
    /* clang's runtime has a word of its own first. */
    cr_expect_eq(throng("scale --count 10 --repetitions 1 --frames 1 --scheduler openmp-dynamic --threads 2"), 4);
    cr_expect(strstr(err, "the system refuses 2 threads") || strstr(err, "this build has no scheduler openmp"), "%s",
              err);
    cr_expect_str_eq(out, "");
}

/* Else what is printed would go into the file that is written meanwhile, or to a client. */
Test(cli, descriptors_that_were_closed_are_not_taken_by_files)
{
    char command[512];
    snprintf(command, sizeof command,
             "'%s' serve --listen 127.0.0.1:0 <&- >&- 2>&- & for i in $(seq 600); do "
             "ls -l /proc/$!/fd >fds; grep -q socket: fds && break; sleep 0.1; done; kill $!; wait",
             TEST_PROGRAM);
    cr_assert_eq(system(command), 0);
    slurp("fds", out, sizeof out);
    for (int fd = 0; fd <= 2; fd++) {
        char want[32];
        snprintf(want, sizeof want, " %d -> /dev/null\n", fd);
        cr_expect(strstr(out, want), "%s", out);
    }
}

Test(cli, broken_pipe_is_quiet)
{
    for (int ignored = 0; ignored < 2; ignored++) {
        char command[256];
        snprintf(command, sizeof command,
                 "(trap '' PIPE; while printf . 2>/dev/null; do sleep 0.01; done; %s"
                 "'%s' inspect " SMALL " 2>.err; echo $? >.code) | true",
                 ignored ? "" : "trap - PIPE; ", TEST_PROGRAM);
        cr_expect_eq(system(command), 0);
        slurp(".err", err, sizeof err);
        slurp(".code", out, sizeof out);
        cr_expect_str_eq(err, "");
        cr_expect_str_eq(out, ignored ? "4\n" : "141\n");
    }
}

/* ---- output ---- */

Test(cli, out_replaces_the_file_in_one_step)
{
    static char file[1 << 20];
    FILE *old = fopen("old.json", "w");
    fputs("old", old);
    fclose(old);
    cr_assert_eq(chmod("old.json", 0640), 0);
    cr_assert_eq(symlink("old.json", "link.json"), 0);
    json_t *printed = document("inspect " SMALL " --json --out link.json");
    slurp("old.json", file, sizeof file);
    cr_expect_str_eq(file, out);
    struct stat status;
    cr_assert_eq(lstat("link.json", &status), 0);
    cr_expect(S_ISLNK(status.st_mode));
    cr_assert_eq(stat("old.json", &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0640);
    json_decref(printed);

    expect(0, "inspect " SMALL " --out text.json", "");
    cr_expect_neq(out[0], '{', "text for people");
    slurp("text.json", out, sizeof out);
    cr_expect_str_eq(out, file, "and the document in the file");
    cr_expect_eq(system("test \"$(ls)\" = \"$(printf 'link.json\\nold.json\\ntext.json')\""), 0,
                 "nothing else is left");
}

/* Also where it has another name. */
Test(cli, two_results_do_not_replace_each_other)
{
    cr_assert_eq(system("echo old >old.json; ln -s old.json link.html"), 0);
    expect(2, "bench --out old.json --trace ./old.json", "--out and --trace are the same file, ./old.json");
    expect(2, "bench --out new.json --trace ./new.json", "--out and --trace are the same file, ./new.json");
    expect(2, "stress --out old.json --out link.html", "--out and --out are the same file, link.html");
    expect(2, "render --out a.png --trace a.png", "--out and --trace are the same file, a.png");
    slurp("old.json", out, sizeof out);
    cr_expect_str_eq(out, "old\n");
}

/* Nor where the name is one of a file that is not there yet, nor where a file has two names of its own. */
Test(cli, links_do_not_hide_that_results_are_one_file)
{
    cr_assert_eq(system("ln -s new.json link.html; echo old >old.json; ln old.json hard.html; mkdir folder"), 0);
    expect(2, "bench --out new.json --out link.html", "--out and --out are the same file, link.html");
    expect(2, "bench --out old.json --out hard.html", "--out and --out are the same file, hard.html");
    expect(2, "bench --out folder/../a.json --trace a.json", "--out and --trace are the same file, a.json");
}

Test(cli, results_do_not_replace_what_is_read)
{
    cr_assert_eq(system(TEST_HUMAN " " SMALL " model.glb"), 0);
    expect(2, "pose --model model.glb --out ./model.glb", "--out would replace model.glb, which is to be read");
    expect(2, "bench --model human --model model.glb --trace model.glb", "--trace would replace model.glb");
    expect(2, "inspect " SMALL " --animation model.glb --out ./model.glb", "--out would replace model.glb");
    expect(0, "inspect model.glb", "");
    expect(0, "pose --model human --out human", "");
    expect(0, "pose --model human --out human", "");
}

/* A link to /dev/full passes the look before, and takes nothing. */
Test(cli, one_result_that_cannot_be_written_leaves_the_others)
{
    setenv("XDG_DATA_HOME", getcwd(out, sizeof out), 1);
    cr_assert_eq(system("ln -s /dev/full full.json; ln -s /dev/full full.html"), 0);
    expect(3,
           "bench --count 10 --repetitions 2 --frames 1 --filter limit --out full.json --out full.html --save kept "
           "--trace t.json",
           "cannot write full.json: No space left on device");
    cr_expect(strstr(err, "cannot write full.html: No space left on device"), "%s", err);
    cr_expect(strstr(out, "limit/write_cached"), "%s", out);
    cr_expect_eq(access("throng/baselines/kept.json", R_OK), 0);
    cr_expect_eq(access("t.json", R_OK), 0);
}

/* Nothing is lost there. */
Test(cli, a_device_may_be_named_twice)
{
    cr_assert_eq(symlink("/dev/null", "null.json"), 0);
    expect(0, "scale --count 8 --threads 1 --dry-run --out null.json --trace /dev/null", "");
}

/* A pipe stands for all that is no file. Never a device: should this fail, a privileged user would lose it. */
Test(cli, out_writes_through_what_is_no_file)
{
    static char got[1 << 16];
    cr_assert_eq(mkfifo("pipe", 0600), 0);
    const int reader = open("pipe", O_RDWR | O_NONBLOCK);
    json_decref(document("inspect " SMALL " --json --out pipe"));
    struct stat status;
    cr_assert_eq(stat("pipe", &status), 0);
    cr_expect(S_ISFIFO(status.st_mode));
    const ssize_t bytes = read(reader, got, sizeof got);
    cr_expect(bytes == (ssize_t)strlen(out) && memcmp(got, out, strlen(out)) == 0);
    close(reader);
}

Test(cli, out_keeps_the_old_file_when_the_new_one_cannot_be_finished)
{
    char command[512];
    snprintf(command, sizeof command,
             "echo old >kept; echo old >kept.json; (ulimit -f 1; trap '' XFSZ; '%s' inspect " SMALL
             " --out kept >.out 2>.err)",
             TEST_PROGRAM);
    cr_expect_eq(WEXITSTATUS(system(command)), 3);
    slurp(".err", err, sizeof err);
    cr_expect(strstr(err, "cannot write kept: File too large"), "%s", err);
    /* A document that fits the buffer fails only when that is flushed. */
    snprintf(command, sizeof command,
             "(ulimit -f 0; trap '' XFSZ; '%s' inspect --out kept.json 2>&1 >pipe.out) | cat >.err", TEST_PROGRAM);
    cr_expect_eq(system("mkfifo pipe.out; cat pipe.out >.out &"), 0);
    cr_expect_eq(system(command), 0);
    slurp(".err", err, sizeof err);
    cr_expect(strstr(err, "cannot write kept.json: File too large"), "%s", err);
    slurp("kept", out, sizeof out);
    cr_expect_str_eq(out, "old\n");
    slurp("kept.json", out, sizeof out);
    cr_expect_str_eq(out, "old\n");
    cr_expect_eq(system("rm pipe.out; test \"$(ls)\" = \"$(printf 'kept\\nkept.json')\""), 0, "nothing else is left");
}

/* ---- inspect ---- */

Test(cli, inspect_tells_the_model)
{
    th_model *small;
    th_synthetic_desc desc = TH_SYNTHETIC_DEFAULT;
    desc.joints = 4;
    cr_assert_eq(th_synthetic_create(&desc, &small, NULL), TH_OK);
    json_t *json = document("inspect --json " SMALL);
    cr_expect_eq(json_integer_value(json_object_get(json, "joint_count")), small->joint_count);
    cr_expect_eq(json_array_size(json_object_get(json, "joints")), small->joint_count);
    cr_expect_eq(json_array_size(json_object_get(json, "clips")), small->clip_count);
    cr_expect_eq(json_array_size(json_object_get(json, "meshes")), small->mesh_count);
    const json_t *clip = json_array_get(json_object_get(json, "clips"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(clip, "name")), small->clips[0].name);
    cr_expect(json_is_number(json_object_get(clip, "max_error_mm")));
    cr_expect(json_is_integer(json_object_get(clip, "splines")));
    json_decref(json);

    expect(0, "inspect " SMALL, "");
    cr_expect(strstr(out, small->clips[0].name) && strstr(out, small->joints[3].name));
    th_model_free(small);
}

#define JOINTS "synthetic:joints=24"

Test(cli, inspect_lists_the_joint_levels)
{
    json_t *json = document("inspect --json " JOINTS);
    const json_t *levels = json_object_get(json, "joint_levels");
    int64_t bones = INT64_MAX;
    cr_expect_geq(json_array_size(levels), 3);
    for (size_t i = 0; i < json_array_size(levels); i++) {
        const json_t *level = json_array_get(levels, i);
        cr_expect_lt(json_integer_value(json_object_get(level, "bones")), bones);
        bones = json_integer_value(json_object_get(level, "bones"));
        cr_expect_leq(json_number_value(json_object_get(level, "error")),
                      json_number_value(json_object_get(level, "error_limit")));
        cr_expect_eq(json_array_size(json_object_get(level, "held")) > 0, i > 0);
    }
    json_decref(json);
    expect(0, "inspect " JOINTS, "");
    cr_expect(strstr(out, "joint level") && strstr(out, "joint_003, joint_006"), "%s", out);
}

/* Every command that takes a model takes one made to order. */
Test(cli, models_made_to_order_are_models)
{
    json_t *doc = document("inspect synthetic:joints=9,shape=star,clips=2 --json");
    cr_expect_eq(json_integer_value(json_object_get(doc, "joint_count")), 9);
    cr_expect_eq(json_array_size(json_object_get(doc, "clips")), 2);
    cr_expect_str_eq(json_string_value(json_object_get(doc, "name")), "synthetic:joints=9,shape=star,clips=2");
    json_decref(doc);
    doc = document("pose --json --model synthetic:shape=chain,joints=5 --animation synthetic:clips=2,keys=9 --clip 2");
    cr_expect_eq(json_array_size(json_object_get(doc, "joints")), 5);
    json_decref(doc);
    doc = document("bench --json --count 8 --repetitions 1 --frames 1 --filter '^pose/scalar/f32$' --model " SMALL " "
                   "--model synthetic:joints=3 --model human");
    json_decref(doc);
    expect(0, "scale --count 8 --threads 1 --dry-run --model synthetic:moving=0,scale=on", "");
    expect(0, "inspect synthetic:moving=0", "");
    cr_expect(!strstr(out, "nan"), "%s", out);
}

/* ---- the importer's sandbox ---- */

/* What the program does on a kernel without Landlock: a filter says that there is no such call. */
static void lack_landlock(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    cr_assert_eq(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SYS_landlock_create_ruleset, 0), 0);
    cr_assert_eq(seccomp_load(filter), 0);
    seccomp_release(filter);
}

static uint32_t count_of(const char *text, const char *part)
{
    uint32_t count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

Test(cli, a_kernel_without_landlock_is_one_warning)
{
    cr_assert_eq(system(TEST_HUMAN " " SMALL " model.glb"), 0);
    lack_landlock();
    expect(0, "pose", "");
    cr_expect_str_eq(err, ""); /* nothing was imported */
    expect(0, "pose --animation model.glb --animation model.glb model.glb", "");
    cr_expect_eq(count_of(err, "no Landlock"), 1, "%s", err);
}

Test(cli, files_outside_are_for_who_asks_for_them)
{
    cr_assert_eq(system(TEST_HUMAN " " SMALL " model.glb"), 0);
    cr_assert_eq(mkdir("inner", 0700), 0);
    FILE *file = fopen("inner/model.gltf", "w");
    fputs("{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
          "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{\"bufferView\":0,"
          "\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,"
          "\"byteLength\":36}],\"buffers\":[{\"byteLength\":36,\"uri\":\"../model.glb\"}]}",
          file);
    fclose(file);
    expect(3, "inspect inner/model.gltf", "names \"../model.glb\", which is outside of the model's folder");
    expect(0, "inspect inner/model.gltf --allow-outside", "");
    unlink("inner/model.gltf");
    rmdir("inner");
}

/* ---- pose ---- */

static void expect_matrix(const json_t *joint, const char *key, const double *wanted, double tolerance)
{
    const json_t *array = json_object_get(joint, key);
    cr_assert_eq(json_array_size(array), 12, "%s", key);
    for (size_t i = 0; i < 12; i++)
        cr_expect_float_eq(json_real_value(json_array_get(array, i)), wanted[i], tolerance, "%s of %s", key,
                           json_string_value(json_object_get(joint, "name")));
}

static void compare_pose(const char *arguments, const char *clip_name, double time_s, th_interpolation interpolation,
                         double tolerance)
{
    th_model *human;
    cr_assert_eq(th_human_create(&human, NULL), TH_OK);
    th_dmat34 *pose = calloc(human->joint_count + human->bone_count, sizeof *pose),
              *palette = pose + human->joint_count;
    const th_clip *clip = &human->clips[th_model_find_clip(human, clip_name)];
    double ticks = th_clip_ticks(clip, time_s);
    th_exact_pose(human, clip, ticks, interpolation, pose);
    th_exact_palette(human, pose, palette);

    json_t *json = document(arguments), *joints = json_object_get(json, "joints");
    cr_expect_str_eq(json_string_value(json_object_get(json, "clip")), clip_name);
    cr_expect_str_eq(json_string_value(json_object_get(json, "interpolation")), th_interpolation_name(interpolation));
    cr_expect_eq(json_real_value(json_object_get(json, "ticks")), ticks);
    cr_assert_eq(json_array_size(joints), human->joint_count);
    for (uint32_t j = 0; j < human->joint_count; j++) {
        const json_t *joint = json_array_get(joints, j), *entry = json_object_get(joint, "entry");
        uint32_t parent = human->joints[j].parent;
        cr_expect_str_eq(json_string_value(json_object_get(joint, "name")), human->joints[j].name);
        cr_expect_eq(json_integer_value(json_object_get(joint, "parent")), parent == TH_NO_INDEX ? -1 : (int)parent);
        expect_matrix(joint, "model", pose[j].m, 0);
        if (json_is_integer(entry)) {
            cr_expect_eq(human->bones[json_integer_value(entry)].joint, j);
            expect_matrix(joint, "palette", palette[json_integer_value(entry)].m, tolerance);
        }
    }
    json_decref(json);
    free(pose);
    th_model_free(human);
}

Test(cli, pose_prints_the_exact_pose_to_the_last_bit)
{
    compare_pose("pose --clip walk --time 0.37 --json", "walk", 0.37, TH_INTERPOLATION_AUTHORED, 0);
    compare_pose("pose --clip=1 --time=-12.3 --json --sampling exact", "walk", -12.3, TH_INTERPOLATION_AUTHORED, 0);
}

Test(cli, pose_interpolates_as_told)
{
    for (int how = TH_INTERPOLATION_AUTHORED; how < TH_INTERPOLATION_COUNT; how++) {
        char line[128];
        snprintf(line, sizeof line, "pose --clip walk --time 0.37 --json --interpolation %s",
                 th_interpolation_name((th_interpolation)how));
        compare_pose(line, "walk", 0.37, (th_interpolation)how, 0);
    }
    expect(0, "pose --interpolation cubic", "");
    cr_expect(strstr(out, ", exact, cubic\n"), "%s", out);
    expect(0, "pose --interpolation authored", "");
    cr_expect(strstr(out, ", exact\n"), "%s", out);
}

Test(cli, pose_prints_what_the_kernels_write)
{
    for (int isa = TH_ISA_AUTO; isa < TH_ISA_COUNT; isa++) {
        char line[128];
        snprintf(line, sizeof line, "pose --clip walk --time 0.37 --json --sampling compiled --isa %s",
                 th_isa_name((th_isa)isa));
        if (th_isa_available((th_isa)isa))
            compare_pose(line, "walk", 0.37, TH_INTERPOLATION_AUTHORED, 2e-4);
    }
}

/* The oracle of test_layers.c covers what a blend is; this, that the options are the layers. */
Test(cli, pose_blends_layers)
{
    static const char *const line = "pose --layer walk,weight=0.75 --layer run,weight=0.25,time=0.5 "
                                    "--layer wave,mode=add,mask=clavicle_l --time 0.2 --json";
    th_model *human;
    cr_assert_eq(th_human_create(&human, NULL), TH_OK);
    float *weights = calloc(human->joint_count, sizeof *weights);
    th_mask_from_joint(human, th_model_find_joint(human, "clavicle_l"), weights);
    const th_mask mask = {"clavicle_l", weights};
    static const char *const names[] = {"walk", "run", "wave"};
    static const double times[] = {0.2, 0.5, 0.2};
    th_layer layers[] = {{.weight = 0.75F, .mask = TH_NO_MASK},
                         {.weight = 0.25F, .mask = TH_NO_MASK},
                         {.weight = 1, .mode = TH_LAYER_ADD, .mask = 0}};
    for (int k = 0; k < 3; k++) {
        layers[k].clip = (uint16_t)th_model_find_clip(human, names[k]);
        const th_clip *clip = &human->clips[layers[k].clip];
        layers[k].ratio = th_clip_ticks(clip, times[k]) / clip->duration_ticks;
    }
    th_dmat34 *pose = calloc(human->joint_count, sizeof *pose);
    th_exact_layers(human, layers, 3, &mask, TH_INTERPOLATION_AUTHORED, pose, NULL);
    th_exact_resolve(human, pose, pose);
    json_t *exact = document(line), *joints = json_object_get(exact, "joints");
    cr_expect_eq(json_array_size(json_object_get(exact, "layers")), 3);
    cr_expect(json_is_null(json_object_get(exact, "clip")));
    for (uint32_t j = 0; j < human->joint_count; j++)
        expect_matrix(json_array_get(joints, j), "model", pose[j].m, 0);
    char compiled_line[256];
    snprintf(compiled_line, sizeof compiled_line, "%s --sampling compiled", line);
    json_t *compiled = document(compiled_line);
    for (uint32_t j = 0; j < human->joint_count; j++) {
        const json_t *wanted = json_object_get(json_array_get(joints, j), "palette");
        double palette[12];
        for (size_t i = 0; i < 12; i++)
            palette[i] = json_real_value(json_array_get(wanted, i));
        expect_matrix(json_array_get(json_object_get(compiled, "joints"), j), "palette", palette, 4e-4);
    }
    json_decref(exact);
    json_decref(compiled);
    free(pose);
    free(weights);
    th_model_free(human);
}

/* ---- bench and scale ---- */

Test(cli, bench_leaves_out_what_cannot_be_drawn)
{
    setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent", 1);
    setenv("LIBGL_DRIVERS_PATH", "/nonexistent", 1);
    expect(0, "bench --count 2 --repetitions 1 --frames 1 --filter '^(limit|frame)/'", "");
    cr_expect(strstr(out, "warning: frame/all_visible/whole and 8 more were skipped: ") && strstr(out, "OpenGL"), "%s",
              out);
    expect(4, "bench --repetitions 1 --filter ^frame/ --out kept.json", "OpenGL");
    cr_expect(out[0] == '\0' && access("kept.json", F_OK) != 0, "%s", out);
}

Test(cli, bench_and_scale_print_one_document)
{
    json_t *bench = document("bench --json " QUICK "--filter '^pose/scalar|limit'");
    cr_expect_gt(json_array_size(json_object_get(bench, "benchmarks")), 0);
    cr_expect_str_eq(err, "");
    json_decref(bench);
    json_t *scale = document("scale --json " QUICK "--threads 1-3 --grain 1 --model " SMALL);
    const size_t with_cpus = th_cpus_read().usable < 3 ? th_cpus_read().usable : 3, parts = with_cpus > 1 ? 2 : 1;
    cr_expect_geq(json_array_size(json_object_get(scale, "benchmarks")), 8 * (3 + 5 * parts + 2 * with_cpus));
    cr_expect(
        json_is_string(json_object_get(json_object_get(json_object_get(scale, "scaling"), "bottleneck"), "kind")));
    json_decref(scale);
}

Test(cli, scale_compares_schedulers_counts_and_grains)
{
    json_t *scale =
        document("scale --json --repetitions 1 --frames 1 --scheduler work-stealing,serial --count 20,10 --grain 1,2 "
                 "--threads 1,2 --model " SMALL);
    const json_t *curves = json_object_get(json_object_get(scale, "scaling"), "curves");
    cr_assert_eq(json_array_size(curves), 8);
    cr_expect_eq(json_integer_value(json_object_get(json_array_get(curves, 7), "characters")), 10);
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(curves, 7), "scheduler")), "serial");
    json_decref(scale);
    expect(2, "scale --count 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 --grain 1,2,3,4 --threads 1-4",
           "scale compares at most 240 points, not 256: 4 of schedulers and threads x 16 counts x 4 grains");
    expect(2, "scale --scheduler work-stealing,openmp-static --threads 1-40",
           "scale has at most 1024 threads together, not the 1640");
}

Test(cli, scale_refuses_weak_scaling_of_one_thread)
{
    expect(2, "scale --count 10/thread --scheduler work-stealing,serial",
           "--count N/thread compares numbers of threads, but the serial scheduler always has one");
    expect(2, "scale --count 10/rank", "--count N/rank is of throng-mpi");
}

Test(cli, scale_counts_one_thread_and_one_point_for_the_serial_scheduler)
{
    expect(2,
           "scale --scheduler work-stealing,serial --count 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 --grain 1,2,3,4 "
           "--threads 1-3",
           "not 256: 4 of schedulers and threads x 16 counts x 4 grains");
    expect(0,
           "scale --scheduler work-stealing,serial --count 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 --grain 1,2,3,4,5 "
           "--threads 1,2 --dry-run --model " SMALL,
           "");
}

/* ---- how often, and what is written ---- */

Test(cli, contradicting_ways_to_measure_are_exit_code_2)
{
    expect(2, "scale --precision 2 --repetitions 3", "so --precision cannot be given with it");
    expect(2, "bench --repetitions 3 --max-time 1", "so --max-time cannot be given with it");
    expect(2, "scale --frames 3 --repetition-time 1", "so --repetition-time cannot be given with it");
    expect(2, "bench --frames 3 --repetition-time 1", "so --repetition-time cannot be given with it");
    expect(2, "bench --precision 0", "--precision takes a number from 0.01 to 100, not \"0\"");
    expect(2, "bench --out result.xml",
           "--out takes a file whose name ends in .json, .csv, .md or .html, not \"result.xml\"");
    expect(2, "scale --out result", "--out takes a file whose name ends in .json, .csv, .md or .html, not \"result\"");
}

Test(cli, precision_and_times_decide_how_often)
{
    json_t *hurried = document("bench --json --count 10 --frames 1 --filter limit --precision 0.01 --max-time 0.001");
    const json_t *row = json_array_get(json_object_get(hurried, "benchmarks"), 0);
    cr_expect_geq(json_integer_value(json_object_get(row, "repetitions")), 9);
    cr_expect_float_eq(json_real_value(json_object_get(json_object_get(hurried, "context"), "precision")), 1e-4, 1e-12);
    json_decref(hurried);
    json_t *content = document("bench --json --count 10 --frames 1 --filter limit --precision 100");
    row = json_array_get(json_object_get(content, "benchmarks"), 0);
    cr_expect_leq(json_integer_value(json_object_get(row, "repetitions")), 18);
    json_decref(content);
}

Test(cli, a_page_is_refused_before_anything_is_measured)
{
    expect(2, "bench --out page.pdf",
           "--out takes a file whose name ends in .json, .csv, .md or .html, not \"page.pdf\"");
    expect(2, "bench --out a.html --out b.html", "--out can be given once for a page, and once for the result");
    expect(2, "bench --out a.json --out b.csv", "--out can be given once for a page, and once for the result");
    expect(2, "render --out page.html", "--out takes a file whose name ends in .png");
    expect(3, "bench " QUICK "--filter limit --out missing/page.html",
           "cannot write missing/page.html: No such file or directory");
    expect(3, "compare a b --out missing/page.html", "cannot write missing/page.html: No such file or directory");
    cr_expect_eq(system("mkdir folder.html"), 0);
    expect(3, "scale " QUICK "--out folder.html", "cannot write folder.html: Is a directory");
    cr_expect_eq(system("rmdir folder.html; test -z \"$(ls)\""), 0, "nothing is left");
}

static void expect_page(const char *path, const char *part)
{
    slurp(path, out, sizeof out);
    cr_expect_eq(strncmp(out, "<!DOCTYPE html>", 15), 0, "%s: %s", path, out);
    cr_expect(strstr(out, part), "%s has no %s", path, part);
    cr_expect(strstr(out, "</html>"), "%s has no end", path);
}

Test(cli, a_page_is_beside_the_other_results)
{
    static const struct {
        const char *arguments, *part;
    } calls[] = {
        {"bench " QUICK "--filter 'li.*t'",
         "<code>throng bench --count 10 --repetitions 2 --frames 1 --filter &#39;li.*t&#39; "},
        {"scale " QUICK "--threads 1,2 --model " SMALL, ">speed-up</th>"},
        {"scale --dry-run --count 10", "<p>A dry run: "},
        {"stress --count 10 --frames 299 --budget-ms 10000 --dry-run --isa=scalar", "stress --count 10 --frames 299"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char line[256];
        snprintf(line, sizeof line, "%s --json --out out.json --out page.html", calls[i].arguments);
        json_t *json = document(line), *same = json_load_file("out.json", JSON_REJECT_DUPLICATES, NULL);
        cr_expect(json_equal(json, same), "%s", line);
        json_decref(json);
        json_decref(same);
        expect_page("page.html", calls[i].part);
    }
    expect(0, "bench " QUICK "--filter limit --out a.json", "");
    expect(0, "compare a.json a.json --out page.html", "");
    cr_expect(strstr(out, "0 slower"), "the text as ever: %s", out);
    expect_page("page.html", "<code>throng compare a.json a.json --out page.html</code>");
}

Test(cli, out_keeps_the_old_page_when_the_new_one_cannot_be_finished)
{
    char command[512];
    expect(0, "bench " QUICK "--filter limit --out a.json", "");
    snprintf(
        command, sizeof command,
        "echo old >kept.html; (ulimit -f 1; trap '' XFSZ; '%s' compare a.json a.json --out kept.html >.out 2>.err)",
        TEST_PROGRAM);
    cr_expect_eq(WEXITSTATUS(system(command)), 3);
    slurp(".err", err, sizeof err);
    cr_expect(strstr(err, "cannot write kept.html: File too large"), "%s", err);
    slurp("kept.html", out, sizeof out);
    cr_expect_str_eq(out, "old\n");
    cr_expect_eq(system("test \"$(ls)\" = \"$(printf 'a.json\nkept.html')\""), 0, "nothing else is left");
}

Test(cli, out_is_what_the_name_says)
{
    static const char *const commands[] = {"bench " QUICK "--filter limit",
                                           "scale --dry-run --count 10 --threads 1,2 --model " SMALL};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        static const char *const files[] = {"f.json", "f.csv", "f.md"};
        for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
            char line[256];
            snprintf(line, sizeof line, "%s --out %s", commands[i], files[f]);
            expect(0, line, "");
        }
        json_t *json = json_load_file("f.json", JSON_REJECT_DUPLICATES, NULL);
        cr_expect_neq(json, NULL, "%s", commands[i]);
        json_decref(json);
        slurp("f.csv", out, sizeof out);
        cr_expect_eq(strncmp(out, "name", 4), 0, "%s", out);
        cr_expect(strstr(out, i == 1 ? "\r\nscale/threads:2," : "\r\nlimit/write_cached"), "%s", out);
        slurp("f.md", out, sizeof out);
        cr_expect(strstr(out, i < 2 ? "\n| entry " : "| name "), "%s", out);
        cr_expect(strstr(out, "\n|-") || strstr(out, "\n|:"), "%s", out);
    }
}

/* A document that a strict reader takes, in `out`; no number in it is none. */
static void expect_strict(const char *what)
{
    json_error_t error;
    json_t *json = json_loads(out, JSON_REJECT_DUPLICATES, &error);
    cr_expect_neq(json, NULL, "%s: %s in line %d", what, error.text, error.line);
    json_decref(json);
    cr_expect_not(strstr(out, "nan") || strstr(out, "NaN") || strstr(out, "nfinity"), "%s", what);
}

Test(cli, documents_are_strict_json)
{
    static const char *const commands[] = {
        "bench --json " QUICK "--filter '^pose|limit|chunk|^jobs/frame.*/serial' --model " SMALL,
        "scale --json " QUICK "--threads 1 --model " SMALL,
        "stress --json --dry-run --count 10 --threads 1,2 --model " SMALL,
        "inspect --json " SMALL,
        "pose --json",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        expect(0, commands[i], "");
        expect_strict(commands[i]);
    }
}

Test(cli, dry_run_checks_all_and_times_nothing)
{
    expect(0, "bench --dry-run --count 10 --filter ^pose --model " SMALL " --out dry.json", "");
    expect_narrow(out);
    cr_expect(strstr(out, "pose/tutorial") && strstr(out, "nothing was timed"), "%s", out);
    cr_expect_not(strstr(out, "ns/bone"), "%s", out);
    slurp("dry.json", out, sizeof out);
    expect_strict("dry.json");
    expect(0, "scale --dry-run --count 10 --threads 1-3 --model " SMALL, "");
    cr_expect(strstr(out, "scale/threads:3") && strstr(out, "nothing was timed"), "%s", out);
    cr_expect_not(strstr(out, "speed-up"), "%s", out);
}

/* Joins the lines of `out`, which are wrapped. */
static void unwrap(void)
{
    char *to = out;
    for (const char *from = out; *from;) {
        const bool is_end = *from == '\n';
        *to++ = is_end ? ' ' : *from;
        from += is_end ? 1 + strspn(from + 1, " ") : 1;
    }
    *to = '\0';
}

static void expect_placement(const char *options, const char *placement)
{
    char arguments[256];
    snprintf(arguments, sizeof arguments, "scale --json --dry-run --count 10 --model " SMALL " %s", options);
    json_t *scale = document(arguments), *scene = json_object_get(json_object_get(scale, "context"), "scene");
    cr_expect_str_eq(json_string_value(json_object_get(scene, "placement")), placement, "%s", options);
    json_decref(scale);
}

Test(cli, scale_says_where_its_workers_were)
{
    expect_placement("--threads 1,2", "workers");
    cr_expect_str_eq(err, "");
    expect_placement("--threads 1,2,3 --placement spread", "spread");
    cr_expect_str_eq(err, "");
    expect_placement("--scheduler serial --placement cores", "none");
    cr_expect(strstr(err, "--placement makes no difference to the serial scheduler"), "%s", err);
    expect(0, "scale --count 10 --dry-run --placement spread --model " SMALL, "");
    unwrap();
    cr_expect(
        strstr(out, " kernel, f32 palettes, work-stealing scheduler, placement spread, chunks of 2 x 16 characters"),
        "%s", out);
}

Test(cli, stress_fails_where_the_budget_is_not_held)
{
    expect(1, "stress --budget-ms 0.001 --frames 299 --threads 1",
           "stress/threads:1: not even one character can meet 0.001 ms");
    unwrap();
    cr_expect(strstr(out, "Not even one posed character meets 0.001 ms (1e+06 Hz)"), "%s", out);
    expect(1, "stress --budget-ms 0.001 --frames 299 --count 100 --threads 1,2",
           "stress/threads:2: this many characters do not meet");
    unwrap();
    cr_expect(strstr(out, "100 posed characters do not meet 0.001 ms"), "%s", out);
    cr_expect(strstr(out, "human, 52 bones; "), "%s", out);
}

Test(cli, stress_keeps_to_the_memory_it_is_given)
{
    expect(0, "stress --budget-ms 10000 --frames 299 --threads 1 --max-memory 1 --dry-run", "");
    expect(4, "stress --budget-ms 10000 --frames 299 --threads 1 --max-memory 1 --count 1000",
           "1000 characters take 0.00");
}

Test(cli, stress_writes_one_document)
{
    char text[1 << 16], row[64];
    cr_expect_eq(
        throng("stress --json --budget-ms 0.001 --frames 299 --count 100 --threads 1-3 --out s.csv --model " SMALL), 1);
    json_t *stress = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
    const json_t *points = json_object_get(json_object_get(stress, "stress"), "points");
    cr_assert_eq(json_array_size(points), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *point = json_array_get(points, i);
        const json_int_t frames = json_integer_value(json_object_get(point, "frames")),
                         missed = json_integer_value(json_object_get(point, "deadline_misses"));
        cr_expect_geq(missed, frames, "each was late");
        cr_expect_eq(json_integer_value(json_object_get(point, "ticks")), frames + missed);
        snprintf(row, sizeof row, "\r\nstress/threads:%zu,%zu,%lld,1,", i + 1, i + 1, (long long)frames);
    }
    json_decref(stress);
    slurp("s.csv", text, sizeof text);
    cr_expect(strstr(text, row), "%s", text);
    expect(0, "stress --dry-run --count 10 --threads 1-3", "");
    cr_expect(strstr(out, "stress/threads:3") && strstr(out, "nothing was timed"), "%s", out);
}

Test(cli, stress_refuses_what_cannot_be)
{
    expect(2, "stress --frames 298", "--frames takes a whole number from 299 to 100000, not \"298\"");
    expect(2, "stress --budget-ms 0", "--budget-ms takes a number from 0.001 to 10000, not \"0\"");
    expect(2, "stress --repetitions 3", "stress takes no --repetitions; that is an option of bench and scale");
    expect(4, "stress --count 1000000000", "1000000000 characters take ");
    expect(2, "stress --size 320x180", "--size needs --draw");
    expect(2, "stress --error 10", "--error needs --draw");
    expect(2, "stress --animation-budget 1", "--animation-budget needs --draw");
    expect(2, "stress --draw --counters", "--counters counts posed frames; leave --draw away");
    expect(2, "stress --look lod", "stress takes no --look; that is an option of render and view");
}

Test(cli, what_is_one_is_no_plural)
{
    expect(0, "scale --count 1 --threads 1 --dry-run --model " SMALL, "");
    cr_expect(strstr(out, "1 character: synthetic"), "%s", out);
}

Test(cli, who_lacks_the_clip_that_was_chosen_is_named)
{
    expect(0, "scale --count 2 --threads 1 --dry-run --clip walk --model human --model synthetic:joints=3", "");
    cr_expect(strstr(err, "throng: synthetic:joints=3 has no clip \"walk\": it stands in its rest pose\n"), "%s", err);
    cr_expect(strstr(out, "human (52 bones, clip walk of 7), synthetic:joints=3 (3 bones, rest pose)"), "%s", out);
    expect(0, "scale --count 2 --threads 1 --dry-run --model human --model synthetic:joints=3", "");
    cr_expect_str_eq(err, "");
    cr_expect(strstr(out, "human (52 bones, 7 clips), synthetic:joints=3 (3 bones, 1 clip)"), "%s", out);
}
