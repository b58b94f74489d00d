/* Result files: two that are read are compared, and what came of it is shown. A zero byte parts them; one alone is
 * compared with itself. */
#include "cases.h"
#include "fuzz.h"

#include <bench/compare.h>

#include <stdlib.h>
#include <string.h>

/* ---- by the schema ---- */

static const json_t *definition(const char *name)
{
    static json_t *schema;
    schema = schema ? schema : json_load_file(TEST_SCHEMA, 0, NULL);
    return json_object_get(json_object_get(schema, "$defs"), name);
}

static const json_t *choose(const json_t *list)
{
    return json_is_array(list) ? json_array_get(list, below((uint32_t)json_array_size(list))) : list;
}

static bool requires(const json_t *schema, const char *name)
{
    size_t i;
    const json_t *each;
    json_array_foreach(json_object_get(schema, "required"), i,
                       each) if (strcmp(json_string_value(each), name) == 0) return true;
    return false;
}

/* Appends a value that a schema allows, with some of what an object need not have. */
static void add(const json_t *schema)
{
    const char *reference = json_string_value(json_object_get(schema, "$ref")), *name;
    schema = reference ? definition(strrchr(reference, '/') + 1) : schema;
    const json_t *choices = json_object_get(schema, "enum"), *least = json_object_get(schema, "minItems");
    const json_t *constant = choices ? choose(choices) : json_object_get(schema, "const");
    const char *type = constant ? "" : json_string_value(choose(json_object_get(schema, "type")));
    const char *pattern = json_string_value(json_object_get(schema, "pattern"));
    json_t *value;
    char text[64] = "";
    if (json_is_string(constant)) {
        json("$", json_string_value(constant));
    } else if (constant) {
        json_dumpb(constant, text, sizeof text - 1, JSON_ENCODE_ANY);
        json(text);
    } else if (strcmp(type, "object") == 0) {
        json("{");
        json_object_foreach(json_object_get(schema, "properties"), name, value) if (requires(schema, name) || one_in(4))
        {
            snprintf(text, sizeof text, "%s:", name);
            json(text);
            add(value);
        }
        json("}");
    } else if (strcmp(type, "array") == 0) {
        json("[");
        for (json_int_t left = least ? json_integer_value(least) : below(3); left > 0; left--)
            add(json_object_get(schema, "items"));
        json("]");
    } else if (strcmp(type, "string") == 0) {
        static const char digits[] = "12345678901234567890123456789012";
        json("$", !pattern ? "text" : strstr(pattern, "32") ? digits : digits + 16);
    } else if (strcmp(type, "number") == 0 || strcmp(type, "integer") == 0) {
        json("~", strcmp(type, "number") == 0 ? between(0, 1000) : 1 + below(100));
    } else {
        json(strcmp(type, "null") == 0 ? "null" : one_in(2) ? "true" : "false");
    }
}

/* ---- a document ---- */

/* The rows of a process follow those of the one before. */
static void add_document(uint32_t entries, uint32_t processes, bool errors)
{
    static const char *const names[] = {"pose/scalar/f32", "limit/write", "frame/part/draw", "scale/serial/1",
                                        "external/a/b"};
    static const char *const units[] = {"ns", "us", "ms"};
    json("{context:");
    add(definition("context"));
    json("benchmarks:[");
    for (uint32_t row = 0; row < 2 * entries * processes; row++) {
        const uint32_t entry = row / processes / 2;
        json("{name:$, run_type:$, family_index:#, process:#, order:#, real_time:~, cpu_time:~, time_unit:$",
             names[entry], "iteration", entry, row / 2 % processes, row, between(1, 2), between(1, 2), units[below(3)]);
        json("threads:1, iterations:9, characters:10, bones:520, start_ns:#, core_clock_ns:~, queued_ns:~, "
             "palette_hash:$",
             row, 0.3, 0.1, "0123456789abcdef");
        if (errors)
            json("max_error:~, error_px_p99:~, error_px_max:~, bytes:#, visible:#", 0.1, between(0, 1), 2.0, 100, 9);
        if (errors && entry == 1)
            json("error_occurred:true, error_message:$", "no");
        json("}");
    }
    json("]}");
}

void make_case(void)
{
    const uint32_t entries = 1 + below(5), processes = one_in(4) ? 8 + below(5) : 1;
    add_document(entries, processes, one_in(2));
    if (one_in(2)) {
        write_bytes("", 1);
        add_document(entries, processes, one_in(2));
    }
}

/* ---- the target ---- */

static void show(const th_comparison *comparison)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    th_comparison_print(comparison, TH_OUTPUT_HTML, file);
    th_comparison_print(comparison, TH_OUTPUT_TEXT, file);
    th_comparison_csv(comparison, file);
    fclose(file);
    free(text);
    json_decref(th_comparison_json(comparison));
}

static th_result_file *parse(const uint8_t *data, size_t size)
{
    th_result_file *results;
    th_error err;
    if (th_result_file_parse((const char *)data, size, "fuzz", &results, &err) == TH_OK)
        return results;
    snprintf(case_refusal, sizeof case_refusal, "%s", err.text);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *part = memchr(data, 0, size);
    th_result_file *old = parse(data, part ? (size_t)(part - data) : size), *other = NULL;
    th_comparison comparison;
    th_error err;
    if (part && old)
        other = parse(part + 1, size - (size_t)(part + 1 - data));
    const th_compare_desc desc = {
        .old_results = old, .new_results = part ? other : old, .threshold = 0.025, .force = true};
    case_taken = desc.old_results && desc.new_results;
    if (case_taken && th_compare(&desc, &comparison, &err) == TH_OK) {
        show(&comparison);
        th_comparison_fini(&comparison);
    }
    if (old)
        th_result_file_free(old);
    if (other)
        th_result_file_free(other);
    return 0;
}
