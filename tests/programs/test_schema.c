/* Our documents against docs/reference/schema, by python3-jsonschema; and readers of another version. */
#include "fixture_program.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

TestSuite(schema, .init = make_folder, .fini = remove_folder);

/* Some systems have several Pythons, and jsonschema for one of them. */
static const char *python(void)
{
    static const char *const names[] = {"python3", "/usr/bin/python3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char command[128];
        snprintf(command, sizeof command, "%s -c 'from jsonschema import Draft202012Validator' 2>.err", names[i]);
        if (system(command) == 0)
            return names[i];
    }
    cr_skip_test("no Python with jsonschema");
    return NULL;
}

/* Returns 0 for documents that keep to the schema, 1 for others; `out` says why. */
static int check(const char *files)
{
    char command[512];
    snprintf(command, sizeof command, "%s '%s' '%s' %s >.out 2>.err", python(), TEST_CHECK, TEST_SCHEMA, files);
    const int status = system(command);
    slurp(".out", out, sizeof out);
    slurp(".err", err, sizeof err);
    cr_assert(WIFEXITED(status) && err[0] == '\0', "%s", err);
    return WEXITSTATUS(status);
}

#define SMALL " --model synthetic:joints=24,keys=16,rate=15"
#define QUICK " --repetitions 2 --frames 1 --count 20" SMALL

Test(schema, holds_for_what_every_command_writes)
{
    static const char *const commands[] = {
        "bench --out a.json --filter 'pose/(scalar/f32|exact)|limit|crowd/1$|chunk|wake.*serial|frame/part' "
        "--counters" QUICK,
        "bench --out b.json --dry-run --count 10 --filter 'pose/scalar|interp/step/scalar|frame/part'" SMALL,
        "scale --out c.json --threads 1,2 --share 30 --processes 2" QUICK,
        "scale --out d.json --threads 1,2 --scheduler work-stealing,serial --counters" QUICK,
        "scale --out e.json --threads 1,2 --count 10 --dry-run" SMALL,
        "stress --out f.json --frames 299 --budget-ms 1 --count 20 --threads 1,2 --counters" SMALL,
        "stress --out g.json --frames 299 --budget-ms 10000 --count 3 --dry-run" SMALL,
        "compare --fail-on slower a.json a.json --out h.json",
        "compare --fail-on slower c.json c.json --out i.json",
        "compare --fail-on slower f.json f.json --out j.json",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        cr_expect_leq(throng(commands[i]), 1, "%s: %s", commands[i], err); /* 1: stress missed its budget */
    cr_expect_eq(check("a.json b.json c.json d.json e.json f.json g.json h.json i.json j.json"), 0, "%s", out);
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    cr_assert(json, "%s: %s in line %d", path, error.text, error.line);
    return json;
}

/* Part of a document: "context", "row", "aggregate" or the document itself. */
static json_t *part_of(json_t *document, const char *part)
{
    json_t *rows = json_object_get(document, "benchmarks");
    if (strcmp(part, "row") == 0)
        return json_array_get(rows, 0);
    if (strcmp(part, "aggregate") == 0)
        return json_array_get(rows, 3); /* the median, behind two repetitions and the mean */
    return part[0] ? json_object_get(document, part) : document;
}

/* value: JSON; NULL takes the field away. */
static void change(const char *from, const char *to, const char *part, const char *field, const char *value)
{
    json_t *document = load(from), *changed = part_of(document, part);
    cr_assert(json_is_object(changed), "%s", part);
    if (value)
        json_object_set_new(changed, field, json_loads(value, JSON_DECODE_ANY, NULL));
    else
        cr_assert_eq(json_object_del(changed, field), 0, "%s", field);
    cr_assert_eq(json_dump_file(document, to, 0), 0);
    json_decref(document);
}

Test(schema, does_not_hold_for_broken_documents)
{
    static const struct {
        const char *file, *part, *field, *value;
    } breaks[] = {
        {"a.json", "", "benchmarks", NULL},
        {"a.json", "", "more", "{}"},
        {"a.json", "context", "throng_schema_version", NULL},
        {"a.json", "context", "throng_schema_version", "2"},
        {"a.json", "context", "unheard_of", "1"},
        {"a.json", "context", "command", "\"throng bench\""},
        {"a.json", "context", "environment", "{\"OMP_NUM_THREADS\": 2}"},
        {"a.json", "context", "partial", NULL},
        {"a.json", "context", "seed", "1"},
        {"a.json", "row", "real_time", "\"3\""},
        {"a.json", "row", "real_time", NULL},
        {"a.json", "row", "start_ns", NULL},
        {"a.json", "row", "order", "-1"},
        {"a.json", "row", "process", NULL},
        {"a.json", "row", "palette_hash", "\"0x12\""},
        {"a.json", "row", "unheard_of", "1"},
        {"a.json", "row", "run_type", "\"aggregate\""},
        {"a.json", "aggregate", "real_time_low", NULL},
        {"b.json", "", "throng_schema_version", NULL},
        {"b.json", "", "entries", "[{\"name\": \"a\"}]"},
        {"b.json", "old", "file", NULL},
    };
    expect(0, "bench --out a.json --filter pose/scalar/f32" QUICK, "");
    expect(0, "compare --fail-on slower a.json a.json --out b.json", "");
    cr_assert_eq(check("a.json b.json"), 0, "%s", out);
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        char name[32];
        snprintf(name, sizeof name, "broken-%zu.json", i);
        change(breaks[i].file, name, breaks[i].part, breaks[i].field, breaks[i].value);
    }
    cr_expect_eq(check("broken-*.json"), 1);
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        char name[32];
        snprintf(name, sizeof name, "broken-%zu.json: ", i);
        cr_expect(strstr(out, name), "%s %s %s", breaks[i].part, breaks[i].field, breaks[i].value);
    }
}

Test(schema, without_a_version_is_not_read)
{
    expect(0, "bench --out a.json --filter limit" QUICK, "");
    change("a.json", "old.json", "context", "throng_schema_version", NULL);
    expect(3, "compare old.json a.json", "old.json: its format has no version");
}

/* Whatever bytes they have. */
Test(schema, command_line_and_environment_are_recorded)
{
    setenv("OMP_SCHEDULE", "dynamic,\xff", 1);
    setenv("GOMP_CPU_AFFINITY", "0", 1);
    setenv("OMPX", "1", 1);
    json_t *document_of_all = document("bench --json --filter \"limit|$(printf 'a b\\377')\" --seed 7" QUICK);
    const json_t *context = json_object_get(document_of_all, "context");
    const json_t *command = json_object_get(context, "command"), *environment = json_object_get(context, "environment");
    cr_expect_str_eq(json_string_value(json_array_get(command, 1)), "bench");
    cr_expect_str_eq(json_string_value(json_array_get(command, 4)), "limit|a b\xEF\xBF\xBD");
    cr_expect_eq(json_array_size(command), 15);
    cr_expect_str_eq(json_string_value(json_object_get(environment, "OMP_SCHEDULE")), "dynamic,\xEF\xBF\xBD");
    cr_expect_str_eq(json_string_value(json_object_get(environment, "GOMP_CPU_AFFINITY")), "0");
    cr_expect_null(json_object_get(environment, "OMPX"));
    cr_expect_str_eq(json_string_value(json_object_get(context, "seed")), "7");
    json_decref(document_of_all);
    json_t *stress = document("stress --json --dry-run --count 3 --seed 8");
    cr_expect_str_eq(json_string_value(json_object_get(json_object_get(stress, "context"), "seed")), "8");
    json_decref(stress);
}

/* Each round has every place once, and one starts after the other. */
Test(schema, repetitions_say_when_they_ran)
{
    json_t *results = document("bench --json --filter 'pose/scalar/f32|limit/write_cached'" QUICK), *row;
    size_t index;
    int places[2] = {0};
    double last[2] = {-1, -1};
    json_array_foreach(json_object_get(results, "benchmarks"), index, row)
    {
        const json_int_t round = json_integer_value(json_object_get(row, "repetition_index"));
        const double start_ns = json_number_value(json_object_get(row, "start_ns"));
        if (!json_object_get(row, "process"))
            continue;
        places[round] |= 1 << json_integer_value(json_object_get(row, "order"));
        cr_expect(round == 0 || start_ns > last[0]);
        last[round] = start_ns;
    }
    cr_expect_eq(places[0], 3);
    cr_expect_eq(places[1], 3);
    json_decref(results);
}
