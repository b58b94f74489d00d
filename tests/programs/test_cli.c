/* The program from outside: what it prints, where, and its exit code. */
#include "fixture_program.h"
#include "fixture_text.h"

#include <throng/anim/crowd.h>
#include <throng/anim/exact.h>
#include <throng/anim/human.h>
#include <throng/anim/sandbox.h>
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

/* What is said of command lines: tests/golden/documents/messages.txt. */

/* ---- what the machine lacks or takes away ---- */

Test(cli, what_the_machine_lacks_is_exit_code_4)
{
    for (int isa = TH_ISA_AUTO; isa < TH_ISA_COUNT; isa++) {
        const char *name = th_isa_name((th_isa)isa);
        char line[64];
        snprintf(line, sizeof line, "pose --sampling compiled --isa %s", name);
        if (!th_isa_available((th_isa)isa))
            expect(4, line, name);
    }
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
}

/* ---- how often, and what is written ---- */

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

Test(cli, out_keeps_the_old_file_when_the_new_one_cannot_be_finished)
{
    /* A document that fits the buffer fails only when that is flushed: so must one of no block at all. */
    static const struct {
        const char *command, *file;
        int blocks;
    } cases[] = {{"inspect --out kept.json", "kept.json", 1},
                 {"inspect " SMALL " --out kept.json", "kept.json", 0},
                 {"compare a.json a.json --out kept.html", "kept.html", 1}};
    expect(0, "bench " QUICK "--filter limit --out a.json", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[512], wanted[128];
        snprintf(command, sizeof command,
                 "echo old >%s; (ulimit -f %d; trap '' XFSZ; '%s' %s; echo $? >&2) 2>&1 >/dev/null | cat >.err",
                 cases[i].file, cases[i].blocks, TEST_PROGRAM, cases[i].command);
        cr_assert_eq(system(command), 0);
        slurp(".err", err, sizeof err);
        snprintf(wanted, sizeof wanted, "throng: cannot write %s: File too large\n3\n", cases[i].file);
        cr_expect_str_eq(err, wanted);
        slurp(cases[i].file, out, sizeof out);
        cr_expect_str_eq(out, "old\n");
        cr_assert_eq(unlink(cases[i].file), 0);
        cr_expect_eq(system("test \"$(ls)\" = a.json"), 0, "nothing else is left");
    }
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

Test(cli, dry_run_checks_all_and_times_nothing)
{
    static const char *const commands[][2] = {{"bench --filter ^pose", "pose/tutorial"},
                                              {"scale --threads 1-3", "scale/threads:3"},
                                              {"stress --threads 1-3", "stress/threads:3"}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char line[128];
        snprintf(line, sizeof line, "%s --dry-run --count 10 --model " SMALL, commands[i][0]);
        expect(0, line, "");
        expect_narrow(out);
        cr_expect(strstr(out, commands[i][1]) && strstr(out, "nothing was timed"), "%s", out);
    }
}

Test(cli, scale_says_where_its_workers_were)
{
    static const char *const cases[][2] = {{"--threads 1,2", "workers"},
                                           {"--threads 1,2,3 --placement spread", "spread"},
                                           {"--scheduler serial --placement cores", "none"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "scale --json --dry-run --count 10 --model " SMALL " %s", cases[i][0]);
        json_t *scale = document(arguments), *scene = json_object_get(json_object_get(scale, "context"), "scene");
        cr_expect_str_eq(json_string_value(json_object_get(scene, "placement")), cases[i][1], "%s", arguments);
        json_decref(scale);
    }
}

Test(cli, stress_fails_where_the_budget_is_not_held)
{
    expect(1, "stress --budget-ms 0.001 --frames 299 --threads 1",
           "stress/threads:1: not even one character can meet 0.001 ms");
    cr_expect(strstr(out, "(1e+06"), "the verdict, whose lines are wrapped, has the rate: %s", out);
    expect(1, "stress --budget-ms 0.001 --frames 299 --count 100 --threads 1,2",
           "stress/threads:2: this many characters do not meet");
}

Test(cli, stress_keeps_to_the_memory_it_is_given)
{
    expect(0, "stress --budget-ms 10000 --frames 299 --threads 1 --max-memory 1 --dry-run", "");
    expect(4, "stress --budget-ms 10000 --frames 299 --threads 1 --max-memory 1 --count 1000",
           "1000 characters take 0.00");
    expect(4, "stress --count 1000000000", "1000000000 characters take ");
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
}

/* The warnings: tests/golden/documents/messages.txt. */
Test(cli, who_lacks_the_clip_that_was_chosen_is_named)
{
    expect(0, "scale --count 1 --threads 1 --dry-run --clip walk --model human --model synthetic:joints=3", "");
    cr_expect(strstr(out, "1 character: human (52 bones, clip walk of 7), synthetic:joints=3 (3 bones, rest pose)"),
              "%s", out);
}
