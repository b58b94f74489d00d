/* Our documents in the hands of Google Benchmark's compare.py (Debian: libbenchmark-tools, python3-scipy). */
#include "fixture_program.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

TestSuite(gbench, .init = make_folder, .fini = remove_folder);

/* Some systems have several Pythons, and scipy for one of them. */
static const char *python(void)
{
    static const char *const names[] = {"python3", "/usr/bin/python3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char command[128];
        snprintf(command, sizeof command, "%s -c 'import scipy.stats' 2>.err", names[i]);
        if (system(command) == 0)
            return names[i];
    }
    return NULL;
}

static void compare(const char *old, const char *new)
{
    char command[512];
    const char *with = python();
    if (TEST_COMPARE_PY[0] == '\0')
        cr_skip_test("no compare.py (Debian: libbenchmark-tools)");
    if (!with)
        cr_skip_test("no Python with scipy");
    snprintf(command, sizeof command, "%s '%s' --no-color benchmarks %s %s >.out 2>.err", with, TEST_COMPARE_PY, old,
             new);
    const int status = system(command);
    slurp(".out", out, sizeof out);
    slurp(".err", err, sizeof err);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", err);
}

static void measure(const char *options, const char *file)
{
    char arguments[256];
    snprintf(arguments, sizeof arguments,
             "%s --repetitions 12 --frames 1 --count 20 --model synthetic:joints=4 --out %s", options, file);
    expect(0, arguments, "");
}

/* A line that begins with the name and has these words. */
static void expect_line(const char *name, const char *words)
{
    char start[128];
    snprintf(start, sizeof start, "\n%s ", name);
    const char *line = strstr(out, start);
    cr_assert_neq(line, NULL, "no %s in:\n%s", name, out);
    const char *found = strstr(line, words), *end = strchr(line + 1, '\n');
    cr_expect(found && found < end, "no %s in:\n%s", words, line);
}

/* What failed has no times to compare, but must not keep the others from being compared. */
static void add_failure(const char *from, const char *to)
{
    json_t *document = json_load_file(from, JSON_REJECT_DUPLICATES, NULL);
    json_array_append_new(json_object_get(document, "benchmarks"),
                          json_pack("{s:s, s:s, s:s, s:b, s:s, s:i, s:f, s:f, s:s}", "name", "pose/wrong", "run_name",
                                    "pose/wrong", "run_type", "iteration", "error_occurred", 1, "error_message",
                                    "wrong", "iterations", 0, "real_time", 0.0, "cpu_time", 0.0, "time_unit", "us"));
    json_dump_file(document, to, 0);
    json_decref(document);
}

Test(gbench, compare_py_prints_its_table_and_its_u_test)
{
    static const char *const names[] = {"pose/scalar/f32", "limit/write_cached", "jobs/chunk/work-stealing"};
    measure("bench --filter 'pose/scalar/f32|limit|jobs/chunk'", "old.json");
    add_failure("old.json", "new.json");
    compare("old.json", "new.json");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        expect_line(names[i], ".");
        snprintf(name, sizeof name, "%s_pvalue", names[i]);
        expect_line(name, "U Test, Repetitions: 12 vs 12");
        snprintf(name, sizeof name, "%s_median", names[i]);
        expect_line(name, ".");
    }
    measure("scale --threads 1,2", "old.json");
    compare("old.json", "old.json");
    expect_line("scale/threads:2_pvalue", "U Test, Repetitions: 12 vs 12");
    expect_line("OVERALL_GEOMEAN", ".");
    cr_expect_not(strstr(out, "nan"), "%s", out);
}
