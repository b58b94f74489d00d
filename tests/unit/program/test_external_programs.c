/* Inside, since limits are shortened that a user cannot. `throng bench --external`: a program that does as it
 * should, and many that do not. None of them may hold up the bench, spoil its other entries or stay behind. */
#include "fixture_program.h"
#include "src/cli/commands/bench_programs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(external_programs, .init = make_folder, .fini = remove_folder);

#define SMALL "--model synthetic:joints=4 --count 10 "
#define FEW   "bench " SMALL "--repetitions 3 --filter '^external/|^limit/' "

/* The row of a name and type in a document. */
static const json_t *row_of(const json_t *document, const char *name, const char *aggregate)
{
    size_t index;
    const json_t *row;
    json_array_foreach(json_object_get(document, "benchmarks"), index, row)
    {
        const char *type = json_string_value(json_object_get(row, "aggregate_name"));
        if (strcmp(json_string_value(json_object_get(row, "run_name")), name) == 0 &&
            (aggregate ? type && strcmp(type, aggregate) == 0 : !type))
            return row;
    }
    cr_assert_fail("no row %s %s", name, aggregate ? aggregate : "");
    return NULL;
}

/* No program is left that has the test's folder as its own. */
static void expect_nothing_left(void)
{
    cr_expect_neq(system("for p in /proc/[0-9]*; do"
                         " cat $p/cmdline 2>/dev/null | tr '\\0' ' ' | grep -q '^[^ ]*python3 .*fake_program' &&"
                         " [ \"$(readlink $p/cwd)\" = \"$(pwd -P)\" ] && exit 0; done; exit 1"),
                  0, "a program is left");
}

/* ---- as it should be ---- */

Test(external_programs, are_listed_and_measured_in_turns_with_poses)
{
    json_t *json = document(FEW "--frames 2 --json --external '" TEST_FAKE "'");
    const json_t *row = row_of(json, "external/fake/spin", NULL), *mean = row_of(json, "external/fake/spin", "mean");
    cr_expect_eq(json_integer_value(json_object_get(row, "repetitions")), 3);
    cr_expect_eq(json_integer_value(json_object_get(row_of(json, "limit/write_cached", NULL), "repetitions")), 3);
    cr_expect_eq(json_integer_value(json_object_get(row, "bones")), 520);
    cr_expect_str_eq(json_string_value(json_object_get(row, "timed_by")), "program");
    cr_expect_geq(json_number_value(json_object_get(row, "real_time")), 200); /* us of a frame, by its own clock */
    cr_expect_leq(json_number_value(json_object_get(row, "told_share")), 1);
    cr_expect_str_eq(json_string_value(json_object_get(mean, "description")), "Waits, and writes nothing.");
    json_decref(json);
    expect_nothing_left();
}

Test(external_programs, run_once_without_times_in_a_dry_run)
{
    cr_assert_eq(throng("bench --dry-run --filter ^external/ --external '" TEST_FAKE "'"), 0, "%s", err);
    cr_expect(strstr(out, "external/fake/spin") && strstr(out, "ran"), "%s", out);
}

Test(external_programs, are_measured_in_each_process)
{
    json_t *json = document(FEW "--frames 2 --json --processes 2 --external '" TEST_FAKE "'");
    cr_expect_eq(json_integer_value(json_object_get(row_of(json, "external/fake/spin", NULL), "repetitions")), 6);
    json_decref(json);
}

Test(external_programs, are_baselines_that_never_regress)
{
    cr_assert_eq(throng("bench " SMALL
                        "--repetitions 9 --frames 2 --filter ^external/ --out fast.json --external '" TEST_FAKE
                        " understates'"),
                 0, "%s", err);
    cr_expect(strstr(out, "warning: external/fake/spin says that its frames took at most"), "%s", out);
    cr_assert_eq(throng("bench " SMALL
                        "--repetitions 9 --frames 2 --filter ^external/ --out slow.json --external '" TEST_FAKE "'"),
                 0, "%s", err);
    cr_expect(!strstr(out, "says that its frames took"), "%s", out);
    cr_expect_eq(throng("compare --force fast.json slow.json"), 0, "%s", out);
    cr_expect(strstr(out, "baseline"), "%s", out);
}

/* The adapters of other libraries are made of this header; it needs none of them. */
Test(external_programs, can_be_written_with_the_header_of_the_examples)
{
    static const char source[] = "#include \"program.h\"\n"
                                 "static double moment;\n"
                                 "static void pose(double time_s) { moment = external::clip_time(1, time_s, 3); }\n"
                                 "static uint64_t sum() { uint64_t s = 0; external::add_to(s, moment); return s; }\n"
                                 "int main() { return external::serve(\"header\",\n"
                                 "    {{\"a\", \"One.\", 1, 1, pose, sum}, {\"b\", \"Two.\", 2, 2, pose, sum}}); }\n";
    if (system("command -v c++ >/dev/null") != 0)
        cr_skip_test("no C++ compiler here");
    FILE *file = fopen("program.cpp", "w");
    cr_assert_neq(file, NULL);
    fputs(source, file);
    fclose(file);
    cr_assert_eq(system("c++ -std=c++17 -Wall -Wextra -Werror -I '" TEST_EXAMPLES "' program.cpp -o program"), 0);
    json_t *json = document(FEW "--json --frames 100 --external ./program");
    cr_expect_eq(json_integer_value(json_object_get(row_of(json, "external/header/a", NULL), "bones")), 1);
    cr_expect_eq(json_integer_value(json_object_get(row_of(json, "external/header/b", NULL), "bones")), 2);
    json_decref(json);
}

/* ---- programs that cannot be asked: refused before anything is measured ---- */

Test(external_programs, that_do_not_describe_themselves_are_refused)
{
    static const struct {
        const char *command, *message;
    } cases[] = {
        {"./no-such-program", "\"./no-such-program\" ended with exit code 127: it was not found"},
        {"/", "ended with exit code 126: it cannot be executed"},
        {"exit 5", "ended with exit code 5"},
        {"kill -SEGV $$", "was ended by signal 11"},
        {"exec >&- <&-; sleep 1000", "closed its output"},
        {"echo hello", "printed no JSON object: \"hello\""},
        {"echo [1]", "printed no JSON object"},
        {"head -c 100000 /dev/zero", "printed a line of more than 65535 bytes"},
        {"echo {}", "does not begin with \"throng_external\": 1 and its name"},
        {"printf \"{}\\n{}\\n\"; read x", "printed more than a line"},
        {"echo {\\\"error\\\": \\\"no file\\\"}", "says: no file"},
        {TEST_FAKE " entries:version", "does not begin with \"throng_external\": 1"},
        {TEST_FAKE " entries:none", "fake has no entries"},
        {TEST_FAKE " entries:many", "more than 32 entries"},
        {TEST_FAKE " entries:nameless", "fake has an entry without a name"},
        {TEST_FAKE " entries:boneless", "external/fake/spin does not say how many characters, bones or threads"},
        {TEST_FAKE " entries:mute", "external/fake/spin has no description"},
        {TEST_FAKE " entries:twice", "two entries are called external/fake/spin"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[512];
        snprintf(arguments, sizeof arguments, FEW "--frames 2 --external '%s'", cases[i].command);
        cr_expect_eq(throng(arguments), 3, "%s: %s", cases[i].command, out);
        cr_expect(strstr(err, cases[i].message), "%s: %s", cases[i].command, err); /* behind what a shell says */
        cr_expect_str_empty(out, "%s", cases[i].command);
    }
}

/* ---- programs that fail while they are measured: their rows fail, all others are as ever ---- */

Test(external_programs, that_fail_have_a_row_that_says_why)
{
    static const struct {
        const char *fault, *message;
    } cases[] = {
        {"exits", "ended with exit code 7"},
        {"garbage", "printed no JSON object: \"hello\""},
        {"long", "printed a line of more than 65535 bytes"},
        {"chatty", "printed more than a line"},
        {"complains", "external/fake/spin says: out of ideas"},
        {"negative", "gave no real_ns above 0"},
        {"textual", "gave no real_ns above 0"},
        {"instant", "gave no real_ns above 0"},
        {"unchecked", "gave no checksum"},
        {"overstates", "ms, but its answer came after"},
        {"parallel", "ms of CPU time, but its answer came after"},
        {"forgetful", "one checksum of frames 0 and 100: always"},
        {"random", "two checksums of frame 0: 0 and 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[512];
        json_error_t error;
        snprintf(arguments, sizeof arguments, FEW "--frames 2 --json --external '" TEST_FAKE " %s'", cases[i].fault);
        cr_expect_eq(throng(arguments), 1, "%s: %s", cases[i].fault, err);
        cr_expect(strstr(err, "external/fake/spin"), "%s: %s", cases[i].fault, err);
        json_t *json = json_loads(out, 0, &error);
        const json_t *row = row_of(json, "external/fake/spin", NULL);
        const char *message = json_string_value(json_object_get(row, "error_message"));
        cr_expect(json_is_true(json_object_get(row, "error_occurred")) && message && strstr(message, cases[i].message),
                  "%s: %s", cases[i].fault, message ? message : "none");
        cr_expect_gt(json_number_value(json_object_get(row_of(json, "limit/write_cached", "median"), "real_time")), 0);
        json_decref(json);
    }
    expect_nothing_left();
}

Test(external_programs, that_do_not_answer_are_given_up)
{
    static const char *const command = "exec sleep 1000";
    th_bench_programs *programs;
    th_error error;
    cr_expect_eq(th_bench_programs_start(&(th_bench_programs_desc){&command, 1, 0.1}, &programs, &error), TH_ERR_INPUT);
    cr_expect_str_eq(error.text, "the external program \"exec sleep 1000\" did not answer in 0.1 s");
    th_bench_programs_stop(programs);
}

/* Both entries of the program that ends, but not those of another one. */
Test(external_programs, do_not_take_others_with_them)
{
    json_error_t error;
    cr_expect_eq(
        throng(FEW "--frames 2 --json --external '" TEST_FAKE " entries:two' --external 'NAME=other " TEST_FAKE "'"), 1,
        "%s", err);
    json_t *json = json_loads(out, 0, &error);
    cr_expect(json_is_true(json_object_get(row_of(json, "external/fake/spin", NULL), "error_occurred")));
    cr_expect(json_is_true(json_object_get(row_of(json, "external/fake/sound", NULL), "error_occurred")));
    cr_expect_gt(json_number_value(json_object_get(row_of(json, "external/other/spin", "median"), "real_time")), 0);
    json_decref(json);
}

Test(external_programs, that_do_not_end_are_killed)
{
    cr_assert_eq(throng(FEW "--frames 2 --external '" TEST_FAKE " stubborn'"), 0, "%s", err);
    expect_nothing_left();
}
