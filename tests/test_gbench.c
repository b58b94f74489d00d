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

static void skip(const char *why)
{
    fprintf(stderr, "skipped: %s\n", why);
    cr_skip_test("%s", why);
}

static int compare(const char *arguments)
{
    char command[512];
    if (TEST_COMPARE_PY[0] == '\0')
        skip("no compare.py");
    if (!python())
        skip("no Python with scipy");
    snprintf(command, sizeof command, "%s '%s' --no-color %s >.out 2>.err", python(), TEST_COMPARE_PY, arguments);
    const int status = system(command);
    slurp(".out", out, sizeof out);
    slurp(".err", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void measure(const char *options, const char *file)
{
    char arguments[256];
    snprintf(arguments, sizeof arguments, "%s --repetitions 12 --frames 1 --count 20 --out %s", options, file);
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

Test(gbench, compare_py_prints_its_table_and_its_u_test)
{
    measure("bench --filter 'pose/scalar/f32|limit|jobs/chunk'", "old.json");
    measure("bench --filter 'pose/scalar/f32|limit|jobs/chunk'", "new.json");
    cr_expect_eq(compare("benchmarks old.json new.json"), 0, "%s", err);
    static const char *const names[] = {"pose/scalar/f32", "limit/write_cached", "jobs/chunk/work-stealing"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        expect_line(names[i], ".");
        snprintf(name, sizeof name, "%s_pvalue", names[i]);
        expect_line(name, "U Test, Repetitions: 12 vs 12");
        snprintf(name, sizeof name, "%s_median", names[i]);
        expect_line(name, ".");
    }
    expect_line("OVERALL_GEOMEAN", ".");
    cr_expect_not(strstr(out, "nan"), "%s", out);
}

Test(gbench, compare_py_reads_a_scaling_study)
{
    measure("scale --threads 1,2", "old.json");
    measure("scale --threads 1,2", "new.json");
    cr_expect_eq(compare("benchmarks old.json new.json"), 0, "%s", err);
    expect_line("scale/threads:2_pvalue", "U Test, Repetitions: 12 vs 12");
}

/* What failed has no times to compare, but must not keep the others from being compared. */
Test(gbench, compare_py_gets_past_an_entry_that_failed)
{
    measure("bench --filter 'limit|pose/exact'", "old.json");
    json_t *document = json_load_file("old.json", JSON_REJECT_DUPLICATES, NULL);
    json_t *rows = json_object_get(document, "benchmarks");
    json_t *failed = json_pack("{s:s, s:s, s:s, s:b, s:s, s:i, s:f, s:f, s:s}", "name", "pose/wrong", "run_name",
                               "pose/wrong", "run_type", "iteration", "error_occurred", 1, "error_message", "wrong",
                               "iterations", 0, "real_time", 0.0, "cpu_time", 0.0, "time_unit", "us");
    json_array_append_new(rows, failed);
    json_dump_file(document, "new.json", 0);
    json_decref(document);
    cr_expect_eq(compare("benchmarks old.json new.json"), 0, "%s", err);
    expect_line("pose/exact_pvalue", "U Test, Repetitions: 12 vs 12");
}
