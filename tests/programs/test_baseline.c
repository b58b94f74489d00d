/* Results that are kept and compared, from outside: files, names, processes and exit codes. */
#include "fixture_program.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Baselines lie in the test's own folder. */
static void begin(void)
{
    char here[256];
    make_folder();
    cr_assert(getcwd(here, sizeof here));
    setenv("XDG_DATA_HOME", here, 1);
}

TestSuite(baseline, .init = begin, .fini = remove_folder);

/* Quick, and not for its times. */
#define SMALL   "--model synthetic:joints=4 "
#define MEASURE "bench " SMALL "--filter 'pose/scalar/f32|limit' --count 20 --frames 1 --repetitions 12 "

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    cr_assert(json, "%s: %s in line %d", path, error.text, error.line);
    return json;
}

/* Writes the rows of a file with a field changed: times this factor, or to this text. */
static void change_rows(const char *from, const char *to, const char *field, double factor, const char *text)
{
    json_t *document = load(from), *row;
    size_t index;
    json_array_foreach(json_object_get(document, "benchmarks"), index, row)
    {
        const json_t *value = json_object_get(row, field);
        if (text && value)
            json_object_set_new(row, field, json_string(text));
        else if (value)
            json_object_set_new(row, field, json_real(json_number_value(value) * factor));
    }
    cr_assert_eq(json_dump_file(document, to, 0), 0);
    json_decref(document);
}

/* Times that have nothing of the machine's mood. */
static void make_steady(const char *path)
{
    static const struct {
        const char *name;
        double value;
    } fields[] = {{"cpu_time", 12.5}, {"real_time", 12.5}, {"core_clock_ns", 1}};
    json_t *document = load(path), *row;
    size_t index;
    json_array_foreach(json_object_get(document, "benchmarks"), index, row)
    {
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
            if (json_object_get(row, fields[f].name))
                json_object_set_new(row, fields[f].name, json_real(fields[f].value));
    }
    cr_assert_eq(json_dump_file(document, path, 0), 0);
    json_decref(document);
}

/* ---- keeping ---- */

Test(baseline, save_keeps_the_result_under_its_name)
{
    json_t *printed = document(MEASURE "--save first.1_a-b --json");
    json_t *kept = load("throng/baselines/first.1_a-b.json");
    cr_expect(json_equal(printed, kept));
    json_decref(kept);
    json_decref(printed);
    expect(0, MEASURE "--save first.1_a-b", "");
    cr_expect_eq(system("test \"$(ls throng/baselines)\" = first.1_a-b.json"), 0, "replaced, and nothing else left");
    expect(0, "compare first.1_a-b first.1_a-b --fail-on slower", "");
    cr_expect(strstr(out, "old: baseline first.1_a-b, commit "), "%s", out);
    expect(0, "compare first.1_a-b throng/baselines/first.1_a-b.json --fail-on slower", "");
    cr_expect(strstr(out, "new: throng/baselines/first.1_a-b.json, commit "), "%s", out);
}

Test(baseline, neither_the_kept_nor_the_compared_is_replaced_by_another_result)
{
    expect(0, MEASURE "--dry-run --save a --out a.json", "");
    expect(2, MEASURE "--save a --trace throng/baselines/a.json", "--save and --trace are the same file, throng/");
    expect(2, MEASURE "--save b --trace ./throng/baselines/b.json", "--save and --trace are the same file, ./throng/");
    expect(2, "compare a a.json --out ./a.json", "--out would replace a.json, which is to be read");
    expect(2, "compare a a.json --out throng/baselines/a.json", "/throng/baselines/a.json, which is to be read");
    expect(0, "compare a a.json --force", "");
}

Test(baseline, folder_follows_the_environment)
{
    setenv("HOME", getenv("XDG_DATA_HOME"), 1);
    setenv("XDG_DATA_HOME", "relative/is/ignored", 1);
    expect(0, MEASURE "--dry-run --save a", "");
    cr_expect_eq(access(".local/share/throng/baselines/a.json", R_OK), 0);
    unsetenv("HOME");
    expect(4, MEASURE "--dry-run --save a", "neither XDG_DATA_HOME nor HOME is a folder");
    setenv("XDG_DATA_HOME", "/dev/null", 1);
    expect(3, MEASURE "--dry-run --save a", "cannot make /dev/null/throng: Not a directory");
}

/* ---- processes ---- */

Test(baseline, processes_measure_one_after_the_other_into_one_result)
{
    json_t *json = document(MEASURE "--processes 3 --json"), *row;
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(json, "context"), "processes")), 3);
    int counts[3][3] = {{0}};
    size_t index;
    json_array_foreach(json_object_get(json, "benchmarks"), index, row)
    {
        const json_int_t family = json_integer_value(json_object_get(row, "family_index"));
        const json_t *process = json_object_get(row, "process");
        cr_expect_eq(json_integer_value(json_object_get(row, "repetitions")), 36);
        if (process)
            counts[family][json_integer_value(process)]++;
    }
    for (int family = 0; family < 3; family++)
        for (int p = 0; p < 3; p++)
            cr_expect_eq(counts[family][p], 12);
    json_decref(json);
}

/* Its intervals are those of the processes. */
Test(baseline, scaling_study_is_repeated_whole_in_each_process)
{
    expect(0,
           "scale " SMALL "--count 20 --threads 1,2 --repetitions 2 --frames 2 --processes 2 --out a.json "
           "--out a.html",
           "");
    json_t *json = load("a.json"), *row;
    const json_t *scaling = json_object_get(json, "scaling");
    int counts[2] = {0};
    size_t index;
    cr_expect_str_eq(json_string_value(json_object_get(scaling, "interval_unit")), "process");
    json_array_foreach(json_object_get(json, "benchmarks"), index, row)
    {
        const json_t *process = json_object_get(row, "process");
        if (process)
            counts[json_integer_value(process)]++;
    }
    cr_expect(counts[0] > 0 && counts[0] == counts[1], "%d and %d", counts[0], counts[1]);
    json_decref(json);
}

Test(baseline, what_is_kept_is_measured_in_twelve_processes)
{
    json_t *json = document("bench " SMALL "--filter limit/write_cached --count 1 --max-time 0.001 --save a --json");
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(json, "context"), "processes")), 12);
    json_decref(json);
    json = document("bench " SMALL "--filter limit/write_cached --count 1 --max-time 0.001 --json");
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(json, "context"), "processes")), 1);
    json_decref(json);
}

/* ---- comparing ---- */

Test(baseline, exit_code_says_whether_anything_became_worse)
{
    expect(0, MEASURE "--processes 8 --out a.json", "");
    make_steady("a.json");
    change_rows("a.json", "slow.json", "cpu_time", 1.5, NULL);
    change_rows("a.json", "other.json", "palette_hash", 0, "0123456789abcdef");
    change_rows("a.json", "coarse.json", "max_error", 2, NULL);
    expect(0, "compare a.json a.json", "");
    expect(1, "compare a.json slow.json", "throng: pose/scalar/f32: slower: core, mean\n");
    expect(0, "compare slow.json a.json", "");
    expect(0, "compare a.json slow.json --threshold 60", "");
    expect(0, "compare a.json slow.json --filter limit", "");
    expect(1, "compare a.json other.json", "pose/scalar/f32: its palettes changed");
    expect(1, "compare a.json coarse.json --threshold 60", "pose/scalar/f32: its error grew");
    expect(0, "compare a.json slow.json --filter nowhere || true", "no entry in common that the filter lets through");
}

/* Where there is no OpenGL, pictures are left out, and the rest is as good as ever. */
Test(baseline, entries_that_are_left_out_harm_nothing)
{
    setenv("LIBGL_DRIVERS_PATH", "/nonexistent", 1);
    setenv("__EGL_VENDOR_LIBRARY_DIRS", "/nonexistent", 1);
    expect(0,
           "bench " SMALL
           "--filter 'limit|frame/all_visible/whole' --count 20 --frames 1 --repetitions 12 --processes 2 --save a",
           "");
    expect(0, "compare a a", "");
    cr_expect(strstr(out, "1 without times"), "%s", out);
}

Test(baseline, a_folder_is_no_result_and_hides_no_baseline)
{
    expect(0, MEASURE "--dry-run --save a", "");
    cr_assert_eq(mkdir("a", 0777), 0);
    expect(0, "compare a a", "");
}

Test(baseline, scaling_studies_are_compared_as_well)
{
    expect(0, "scale " SMALL "--count 20 --threads 1,2 --frames 1 --repetitions 2 --save a", "");
    expect(5, "compare a a", "scale/threads:2: inconclusive: 1 process\n");
}

/* ---- rubbish: more of it is in tests/golden/documents/messages.txt ---- */

Test(baseline, a_cut_result_is_no_result)
{
    expect(0, MEASURE "--out a.json", "");
    cr_assert_eq(system("head -c 999 a.json >cut.json"), 0);
    expect(3, "compare cut.json a.json", "cut.json: no JSON: line ");
}
