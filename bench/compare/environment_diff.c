#include "environment_diff.h"

#include <core/json.h>
#include <core/text_format.h>

#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

/* "isa is avx2 in old.json and avx512 in new.json" */
static void tell(json_t **texts, const char *what, const json_t *a, const json_t *b, const th_result_file *old_results,
                 const th_result_file *new_results)
{
    enum { FLAGS = JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6) };
    char *first = a ? json_dumps(a, FLAGS) : strdup("unknown"), *second = b ? json_dumps(b, FLAGS) : strdup("unknown");
    if (first && second)
        th_json_append_format(texts, "%s is %.200s in %s and %.200s in %s", what, first, old_results->name, second,
                              new_results->name);
    else
        *texts = th_json_append(*texts, NULL);
    free(first);
    free(second);
}

static void compare_fields(json_t **texts, const char *const *names, const th_result_file *old_results,
                           const th_result_file *new_results)
{
    for (size_t i = 0; names[i]; i++) {
        const json_t *a = json_object_get(old_results->context, names[i]);
        const json_t *b = json_object_get(new_results->context, names[i]);
        if (a != b && !json_equal(a, b))
            tell(texts, names[i], a, b, old_results, new_results);
    }
}

/* ---- what was posed and drawn ---- */

/* A copy that keeps what was requested and drops what was found out. */
static json_t *asked_of(const json_t *part)
{
    json_t *copy = json_deep_copy(part), *model;
    size_t index;
    json_object_del(copy, "ring_bytes");
    json_array_foreach(json_object_get(copy, "models"), index, model)
    {
        json_object_del(model, "exact_clips");
        json_object_del(model, "bytes_per_character");
        json_object_del(model, "bytes_per_clip");
    }
    return copy;
}

/* A result may lack the part: one of the job system only has no scene, one without drawing no picture. */
static void compare_part(json_t **texts, const char *part, const th_result_file *old_results,
                         const th_result_file *new_results)
{
    json_t *a = asked_of(json_object_get(old_results->context, part)), *value;
    json_t *b = asked_of(json_object_get(new_results->context, part)), *all = json_object();
    const char *key;
    if (a && b && (json_object_update(all, a) != 0 || json_object_update(all, b) != 0))
        *texts = th_json_append(*texts, NULL);
    json_object_foreach(all, key, value)
    {
        char name[96];
        snprintf(name, sizeof name, "%s.%s", part, key);
        if (!json_equal(json_object_get(a, key), json_object_get(b, key)))
            tell(texts, name, json_object_get(a, key), json_object_get(b, key), old_results, new_results);
    }
    json_decref(all);
    json_decref(a);
    json_decref(b);
}

/* ---- the entries ---- */

static void compare_entries(json_t **texts, const th_result_file *old_results, const th_result_file *new_results)
{
    for (uint32_t i = 0; i < new_results->entry_count; i++) {
        const th_result_file_entry *b = &new_results->entries[i], *a = th_result_file_find(old_results, b->name);
        char text[512];
        if (!a || a->threads == 0 || b->threads == 0)
            continue;
        if (a->threads != b->threads) {
            snprintf(text, sizeof text, "%.200s has %u thread%s in %.100s and %u in %.100s", b->name, a->threads,
                     th_plural(a->threads), old_results->name, b->threads, new_results->name);
            *texts = th_json_append(*texts, th_json_text(text));
        }
        if (a->characters != b->characters || a->bones != b->bones) {
            snprintf(text, sizeof text, "%.200s has other characters in %.100s than in %.100s", b->name,
                     new_results->name, old_results->name);
            *texts = th_json_append(*texts, th_json_text(text));
        }
    }
}

static bool has_times(const th_result_file *results)
{
    for (uint32_t i = 0; i < results->entry_count; i++)
        if (results->entries[i].real_ns.count > 0)
            return true;
    return false;
}

json_t *th_environment_conflicts(const th_result_file *old_results, const th_result_file *new_results)
{
    static const char *const of_times[] = {
        "cpu_model",
        "num_cpus",
        "cores",
        "threads_per_core",
        "numa_nodes",
        "caches",
        "usable_cpus",
        "cgroup_quota_cpus",
        "virtual_machine",
        "governor",
        "boost",
        "compiler",
        "compiler_flags",
        "build_type",
        "library_build_type",
        "isa",
        "repetition_ms",
        "repetition_frames",
        NULL,
    };
    json_t *texts = json_array();
    if (has_times(old_results) && has_times(new_results))
        compare_fields(&texts, of_times, old_results, new_results);
    compare_part(&texts, "scene", old_results, new_results);
    compare_part(&texts, "picture", old_results, new_results);
    compare_entries(&texts, old_results, new_results);
    return texts;
}

json_t *th_environment_warnings(const th_result_file *old_results, const th_result_file *new_results)
{
    static const char *const names[] = {
        "host_name", "system", "libc", "page_size", "huge_pages", "clock_source", NULL,
    };
    json_t *texts = json_array();
    compare_fields(&texts, names, old_results, new_results);
    return texts;
}

static bool share_fields(const char *name, const th_result_file *old_results, const th_result_file *new_results)
{
    const json_t *a = json_object_get(old_results->context, name), *b = json_object_get(new_results->context, name);
    return a == b || json_equal(a, b);
}

th_environment_match th_environment_match_of(const th_result_file *old_results, const th_result_file *new_results)
{
    json_t *texts = json_array();
    compare_part(&texts, "scene", old_results, new_results);
    const th_environment_match shared = {
        .scene = texts && json_array_size(texts) == 0,
        .isa = share_fields("isa", old_results, new_results),
        .libc = share_fields("libc", old_results, new_results),
    };
    json_decref(texts);
    return shared;
}
