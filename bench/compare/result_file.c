/* Result files: read in full or refused, and merged with those of other processes. */
#include <bench/result_file.h>

#include <core/json.h>

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The errors of an entry and its memory, and their fields in our files. Of several processes the largest one counts. */
static const struct {
    const char *field;
    size_t offset;
} errors[] = {
    {"max_error", offsetof(th_result_file_entry, max_error)},
    {"error_vs_source", offsetof(th_result_file_entry, error_vs_source)},
    {"error_px_p99", offsetof(th_result_file_entry, error_px_p99)},
    {"error_px_max", offsetof(th_result_file_entry, error_px_max)},
    {"bytes", offsetof(th_result_file_entry, bytes)},
    {"visible", offsetof(th_result_file_entry, visible)},
};
enum { ERRORS = sizeof errors / sizeof *errors };

static double *error_at(th_result_file_entry *e, int i)
{
    return (double *)((char *)e + errors[i].offset);
}

/* ---- fields ---- */

/* The row being read, for messages. */
typedef struct line {
    const char *file, *name;
    bool is_ours;
    size_t index;
    const json_t *json;
    th_error *err;
} line;

static bool refuse(const line *l, const char *field, const char *why)
{
    th_fail(l->err, TH_ERR_INPUT, "%s: benchmarks[%zu]%s%s%s: %s%s%s", l->file, l->index, l->name ? " (" : "",
            l->name ? l->name : "", l->name ? ")" : "", field, field[0] ? " " : "", why);
    return false;
}

/* Reads a field, which is required unless there is a `fallback`. */
static bool read_number(const line *l, const char *field, const double *fallback, double low, double *out)
{
    const json_t *value = json_object_get(l->json, field);
    if (!value && fallback) {
        *out = *fallback;
        return true;
    }
    if (!value)
        return refuse(l, field, "is missing");
    if (!json_is_number(value))
        return refuse(l, field, "is no number");
    *out = json_number_value(value);
    if (*out < low)
        return refuse(l, field, low > 0 ? "is not above 0" : "is negative");
    return true;
}

static bool read_count(const line *l, const char *field, uint64_t fallback, uint64_t low, uint64_t high, uint64_t *out)
{
    const json_t *value = json_object_get(l->json, field);
    *out = fallback;
    if (!value)
        return true;
    const json_int_t number = json_integer_value(value); /* 0 if it is no integer */
    if (!json_is_integer(value) || number < 0 || (uint64_t)number < low || (uint64_t)number > high)
        return refuse(l, field, "is no whole number within bounds");
    *out = (uint64_t)number;
    return true;
}

/* NULL if missing. */
static bool read_text(const line *l, const char *field, const char **out)
{
    const json_t *value = json_object_get(l->json, field);
    *out = json_string_value(value);
    return !value || *out || refuse(l, field, "is no text");
}

/* ---- rows ---- */

/* False if missing. */
static bool read_truth(const line *l, const char *field, bool *out)
{
    const json_t *value = json_object_get(l->json, field);
    *out = json_is_true(value);
    return !value || json_is_boolean(value) || refuse(l, field, "is neither true nor false");
}

/* What only some of our documents have. They have it in all rows of an entry, or in none. */
static bool add_optional(const line *l, const char *field, double low, bool is_first, th_samples *samples)
{
    double value;
    const bool has_field = l->is_ours && json_object_get(l->json, field);
    if (!is_first && has_field != (samples->count > 0))
        return refuse(l, field, "is in some rows only");
    if (!has_field)
        return true;
    if (!read_number(l, field, NULL, low, &value))
        return false;
    th_samples_add(samples, value);
    return true;
}

static bool read_row(const line *l, th_result_file_entry *e, bool is_first, bool is_dry)
{
    static const double none = (double)NAN;
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    enum { UNITS = sizeof units / sizeof *units };
    th_result_file_entry row = {0};
    const char *failure, *unit;
    bool failed, skipped; /* skipped: not measured, but not an error */
    uint64_t threads, process = 0;
    if (!read_truth(l, "error_occurred", &failed) || !read_truth(l, "skipped", &skipped) ||
        !read_text(l, "error_message", &failure))
        return false;
    failure = !failed ? NULL : failure ? failure : "it does not say why";
    const uint64_t fewest = failure || skipped ? 0 : 1; /* it may lack the field */
    if (!read_count(l, "threads", 1, fewest, UINT32_MAX, &threads))
        return false;
    row.threads = (uint32_t)threads;
    for (int i = 0; i < ERRORS; i++)
        *error_at(&row, i) = none;
    if (l->is_ours) { /* other programs may use these names differently */
        if (!read_count(l, "characters", 0, 0, UINT64_MAX, &row.characters) ||
            !read_count(l, "bones", 0, 0, UINT64_MAX, &row.bones) ||
            !read_count(l, "process", 0, 0, TH_REPORT_MAX_PROCESSES - 1, &process))
            return false;
        for (int i = 0; i < ERRORS; i++) /* NaN if null or missing */
            if (!json_is_null(json_object_get(l->json, errors[i].field)) &&
                !read_number(l, errors[i].field, &none, 0, error_at(&row, i)))
                return false;
        const char **hash = &row.palette_hash;
        if (!read_text(l, "palette_hash", hash))
            return false;
        if (*hash && (strlen(*hash) != 16 || (*hash)[strspn(*hash, "0123456789abcdef")] != '\0'))
            return refuse(l, "palette_hash", "is not 16 hexadecimal digits");
    }

    /* The first row of an entry defines these fields; the others must agree. */
    if (is_first) {
        e->threads = row.threads;
        e->characters = row.characters;
        e->bones = row.bones;
        e->palette_hash = row.palette_hash;
        for (int i = 0; i < ERRORS; i++)
            *error_at(e, i) = *error_at(&row, i);
    }
    const char *a = row.palette_hash, *b = e->palette_hash;
    if (row.threads != e->threads)
        return refuse(l, "threads", "differs from row to row");
    if (!a != !b || (a && strcmp(a, b) != 0))
        return refuse(l, "palette_hash", "differs from row to row");
    if (row.characters != e->characters || row.bones != e->bones)
        return refuse(l, "characters", "or bones differ from row to row");
    e->failure = e->failure ? e->failure : failure;
    if (failure || skipped || is_dry)
        return true;

    double real = 0, cpu = 0;
    size_t u = 0;
    const bool is_first_sample = e->real_ns.count == 0;
    if (!read_text(l, "time_unit", &unit))
        return false;
    if (!unit)
        return refuse(l, "time_unit", "is missing");
    while (u < UNITS && strcmp(unit, units[u].name) != 0)
        u++;
    if (u == UNITS)
        return refuse(l, "time_unit", "is none of ns, us, ms and s");
    const double unit_ns = units[u].ns;
    if (!read_number(l, "real_time", NULL, 0, &real) || !read_number(l, "cpu_time", NULL, 0, &cpu) ||
        !add_optional(l, "core_clock_ns", 1e-9, is_first_sample, &e->core_clock_ns) ||
        !add_optional(l, "queued_ns", 0, is_first_sample, &e->queued_ns) ||
        !add_optional(l, "start_ns", 0, is_first_sample, &e->start_ns) ||
        !add_optional(l, "order", 0, is_first_sample, &e->order))
        return false;
    if (process + 1 != e->process_count && process != e->process_count)
        return refuse(l, "process", "is out of order");
    if (!isfinite(real * unit_ns) || !isfinite(cpu * unit_ns))
        return refuse(l, "real_time", "or cpu_time is too large");
    e->process_count = (uint32_t)process + 1;
    th_samples_add(&e->real_ns, real * unit_ns);
    th_samples_add(&e->cpu_ns, cpu * unit_ns);
    e->ends[process] = e->real_ns.count;
    return true;
}

/* ---- entries ---- */

/* Only rows of repetitions are read, not aggregates. Rows of other programs may have no type; in older Google Benchmark
 * files all rows are repetitions. */
static bool read_head(line *l, const char **name, bool *is_repetition)
{
    const char *run_name, *type;
    l->name = json_string_value(json_object_get(l->json, "name"));
    if (!json_is_object(l->json))
        return refuse(l, "", "is no object");
    if (!l->name)
        return refuse(l, "name", json_object_get(l->json, "name") ? "is no text" : "is missing");
    if (!read_text(l, "run_name", &run_name) || !read_text(l, "run_type", &type))
        return false;
    *name = run_name ? run_name : l->name;
    *is_repetition = !type || strcmp(type, "iteration") == 0;
    if (!*is_repetition && strcmp(type, "aggregate") != 0)
        return refuse(l, "run_type", "is neither iteration nor aggregate");
    return true;
}

static bool lack_memory(const th_result_file *results, th_error *err)
{
    th_fail(err, TH_ERR_MEMORY, "no memory for %s", results->name);
    return false;
}

/* Finds the entries and counts their rows in `counts`, then reads their samples. */
static bool read_rows(th_result_file *results, const json_t *rows, uint32_t *counts, th_error *err)
{
    const bool is_dry = json_is_true(json_object_get(results->context, "dry_run")); /* no row has times */
    line l = {.file = results->name, .is_ours = results->is_ours, .err = err};
    const char *name;
    bool is_repetition;
    json_array_foreach(rows, l.index, l.json)
    {
        if (!read_head(&l, &name, &is_repetition))
            return false;
        if (!is_repetition)
            continue;
        const json_t *found = json_object_get(results->index_by_name, name);
        const uint32_t index = found ? (uint32_t)json_integer_value(found) : results->entry_count++;
        if (!found && json_object_set_new(results->index_by_name, name, json_integer(index)) != 0)
            return lack_memory(results, err);
        results->entries[index].name = name;
        counts[index]++;
    }
    for (uint32_t i = 0; i < results->entry_count; i++) {
        th_result_file_entry *e = &results->entries[i];
        if (!th_samples_init(&e->real_ns, counts[i]) || !th_samples_init(&e->cpu_ns, counts[i]) ||
            !th_samples_init(&e->core_clock_ns, counts[i]) || !th_samples_init(&e->start_ns, counts[i]) ||
            !th_samples_init(&e->order, counts[i]) || !th_samples_init(&e->queued_ns, counts[i]))
            return lack_memory(results, err);
        counts[i] = 0;
    }
    json_array_foreach(rows, l.index, l.json)
    {
        read_head(&l, &name, &is_repetition);
        if (!is_repetition)
            continue;
        const uint32_t index = (uint32_t)json_integer_value(json_object_get(results->index_by_name, name));
        if (!read_row(&l, &results->entries[index], counts[index]++ == 0, is_dry))
            return false;
    }
    if (results->entry_count == 0)
        th_fail(err, TH_ERR_INPUT, "%s: benchmarks has no repetitions%s", results->name,
                json_array_size(rows) > 0 ? ", only figures over them" : "");
    return results->entry_count > 0;
}

/* ---- documents ---- */

static bool refuse_document(const th_result_file *results, const char *why, th_error *err)
{
    th_fail(err, TH_ERR_INPUT, "%s: no result of throng, nor of Google Benchmark: %s", results->name, why);
    return false;
}

static bool read_document(th_result_file *results, th_error *err)
{
    const json_t *rows = json_object_get(results->document, "benchmarks");
    results->context = json_object_get(results->document, "context");
    if (!json_is_object(results->document))
        return refuse_document(results, "it is no object", err);
    if (!json_is_object(results->context))
        return refuse_document(results, results->context ? "context is no object" : "context is missing", err);

    /* Documents of ours before versions have a field that nobody else writes. */
    const json_t *version = json_object_get(results->context, "throng_schema_version");
    results->is_ours = json_integer_value(version) == TH_SCHEMA_VERSION;
    if (!results->is_ours && (version || json_object_get(results->context, "usable_cpus"))) {
        char text[32] = "no version";
        if (json_is_integer(version))
            snprintf(text, sizeof text, "version %lld", (long long)json_integer_value(version));
        th_fail(err, TH_ERR_INPUT,
                "%s: its format has %s (context.throng_schema_version), and this throng reads version %d only; measure "
                "it again, or read it with the throng that wrote it",
                results->name, text, TH_SCHEMA_VERSION);
        return false;
    }
    const json_t *scene = json_object_get(results->context, "scene");
    const json_t *picture = json_object_get(results->context, "picture");
    if ((scene && !json_is_object(scene)) || (picture && !json_is_object(picture)))
        return refuse_document(results, "scene or picture is no object", err);
    if (!json_is_array(rows))
        return refuse_document(results, rows ? "benchmarks is no array" : "benchmarks is missing", err);

    const size_t most = json_array_size(rows) + 1;
    uint32_t *counts = calloc(most, sizeof *counts);
    results->entries = calloc(most, sizeof *results->entries);
    results->index_by_name = json_object();
    const bool room = (results->index_by_name && counts && results->entries) || lack_memory(results, err);
    const bool is_read = room && read_rows(results, rows, counts, err);
    free(counts);
    return is_read;
}

th_result th_result_file_parse(const char *text, size_t size, const char *name, th_result_file **out, th_error *err)
{
    assert((text || size == 0) && name && out);
    th_error own;
    json_error_t error;
    err = err ? err : &own;
    *out = NULL;
    th_result_file *results = calloc(1, sizeof *results);
    if (!results)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", name);
    snprintf(results->name, sizeof results->name, "%s", name);
    results->document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (results->document && read_document(results, err)) {
        *out = results;
        return TH_OK;
    }
    if (!results->document && json_error_code(&error) == json_error_out_of_memory)
        lack_memory(results, err);
    else if (!results->document)
        th_fail(err, TH_ERR_INPUT, "%s: no JSON: line %d, column %d: %s", results->name, error.line, error.column,
                error.text);
    th_result_file_free(results);
    return err->code;
}

/* Reads the whole file, or one byte more than the limit. */
static th_result read_all(FILE *file, const char *path, char **text, size_t *size, th_error *err)
{
    size_t room = 0, got = 1;
    *text = NULL;
    *size = 0;
    while (got > 0 && *size <= TH_RESULT_FILE_MAX_BYTES) {
        if (*size == room) {
            room = room ? 2 * room : 1 << 16;
            char *larger = realloc(*text, room);
            if (!larger)
                return th_fail(err, TH_ERR_MEMORY, "no memory for %s", path);
            *text = larger;
        }
        *size += got = fread(*text + *size, 1, room - *size, file);
    }
    if (ferror(file))
        return th_fail(err, TH_ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
    if (*size > TH_RESULT_FILE_MAX_BYTES)
        return th_fail(err, TH_ERR_LIMIT, "%s is larger than %d MB", path, TH_RESULT_FILE_MAX_BYTES >> 20);
    return TH_OK;
}

th_result th_result_file_read(const char *path, th_result_file **out, th_error *err)
{
    assert(path && out);
    char *text = NULL;
    size_t size;
    *out = NULL;
    FILE *file = fopen(path, "re");
    if (!file)
        return th_fail(err, TH_ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
    th_result result = read_all(file, path, &text, &size, err);
    fclose(file);
    if (result == TH_OK)
        result = th_result_file_parse(text, size, path, out, err);
    free(text);
    return result;
}

void th_result_file_free(th_result_file *results)
{
    if (!results)
        return;
    for (uint32_t i = 0; results->entries && i < results->entry_count; i++) {
        th_samples_fini(&results->entries[i].real_ns);
        th_samples_fini(&results->entries[i].cpu_ns);
        th_samples_fini(&results->entries[i].core_clock_ns);
        th_samples_fini(&results->entries[i].start_ns);
        th_samples_fini(&results->entries[i].order);
        th_samples_fini(&results->entries[i].queued_ns);
    }
    free(results->entries);
    json_decref(results->index_by_name);
    json_decref(results->document);
    free(results);
}

static th_result_file_entry *find(const th_result_file *results, const char *name)
{
    const json_t *found = json_object_get(results->index_by_name, name);
    return found ? &results->entries[json_integer_value(found)] : NULL;
}

const th_result_file_entry *th_result_file_find(const th_result_file *results, const char *name)
{
    assert(results && name);
    return find(results, name);
}

/* ---- other processes ---- */

/* The samples of a row or of an entry: all kinds of them, and where each process ends. */
typedef struct repetitions {
    th_samples *real_ns, *cpu_ns, *queued_ns, *core_clock_ns, *start_ns, *order;
    uint32_t *ends, *process_count;
} repetitions;

/* What one of the processes lacks, all lack then. */
static bool append_samples(const repetitions *to, const th_result_file_entry *e)
{
    const uint32_t before = to->real_ns->count;
    if (!th_samples_append(to->real_ns, &e->real_ns) || !th_samples_append(to->cpu_ns, &e->cpu_ns) ||
        !th_samples_append(to->core_clock_ns, &e->core_clock_ns) || !th_samples_append(to->start_ns, &e->start_ns) ||
        !th_samples_append(to->order, &e->order) || !th_samples_append(to->queued_ns, &e->queued_ns))
        return false;
    if (to->core_clock_ns->count != to->real_ns->count)
        to->core_clock_ns->count = 0;
    if (to->queued_ns->count != to->real_ns->count)
        to->queued_ns->count = 0;
    if (to->start_ns->count != to->real_ns->count || to->order->count != to->real_ns->count)
        to->start_ns->count = to->order->count = 0;
    for (uint32_t p = 0; p < e->process_count; p++)
        to->ends[(*to->process_count)++] = before + e->ends[p];
    return true;
}

/* Build, scene and frame are the same, so palettes that differ depend on the memory layout. */
static const char other_palettes[] = "its palettes differ from process to process";

/* Adds to a running mean; unknown values are left out. */
static double add_to_mean(double mean, uint32_t count, const json_t *value)
{
    if (!json_is_number(value))
        return mean;
    return isnan(mean) ? json_number_value(value) : mean + (json_number_value(value) - mean) / (count + 1);
}

th_result th_result_file_merge_into(const th_result_file *results, th_report *report, th_error *err)
{
    assert(results && report);
    assert(report->process_count > 0);
    const json_t *context = results->context;
    if (json_is_true(json_object_get(context, "partial")))
        return th_fail(err, TH_ERR_INPUT, "%s is partial: its measurement was interrupted", results->name);
    for (th_row *row = report->rows; row < report->rows + report->row_count; row++) {
        const th_result_file_entry *e = th_result_file_find(results, row->name);
        if (!e)
            return th_fail(err, TH_ERR_INPUT, "%s: no %s", results->name, row->name);
        const uint32_t processes = (row->process_count ? row->process_count : 1) + e->process_count;
        if (processes > TH_REPORT_MAX_PROCESSES)
            return th_fail(err, TH_ERR_LIMIT, "%s: more than %d processes", results->name, TH_REPORT_MAX_PROCESSES);
        char hash[24];
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)row->palette_hash);
        const bool differs = row->checked && e->palette_hash && strcmp(e->palette_hash, hash) != 0;
        if (!row->failure[0] && (e->failure || differs))
            th_row_fail(row, "%s", e->failure ? e->failure : other_palettes);
        row->max_error = fmax(row->max_error, e->max_error);
        row->error_vs_source = fmax(row->error_vs_source, e->error_vs_source);
        if (row->failure[0] || e->real_ns.count == 0)
            continue;
        if (row->process_count == 0)
            row->ends[row->process_count++] = row->real_ns.count;
        const repetitions to = {&row->real_ns,  &row->cpu_ns, &row->queued_ns, &row->core_clock_ns,
                                &row->start_ns, &row->order,  row->ends,       &row->process_count};
        if (!append_samples(&to, e))
            return th_fail(err, TH_ERR_MEMORY, "no memory for %s", row->name);
    }
    th_interference *outside = &report->interference;
    const uint32_t count = report->process_count++;
    outside->external_cpu_load =
        add_to_mean(outside->external_cpu_load, count, json_object_get(context, "external_cpu_load"));
    outside->steal_cpu_load = add_to_mean(outside->steal_cpu_load, count, json_object_get(context, "steal_cpu_load"));
    outside->throttled_s += json_number_value(json_object_get(context, "throttled_s"));
    return TH_OK;
}

th_result th_result_file_append(th_result_file *results, const th_result_file *more, th_error *err)
{
    assert(results && more);
    static const char field[] = "external_cpu_load";
    json_t *context = json_object_get(results->document, "context"), *old = json_object_get(context, field);
    const uint32_t processes = results->entry_count > 0 ? results->entries[0].process_count : 0;
    const double mean = add_to_mean(json_is_number(old) ? json_number_value(old) : (double)NAN, processes,
                                    json_object_get(more->context, field));
    if (json_object_set_new(context, field, th_json_real(mean)) != 0)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", results->name);
    for (th_result_file_entry *e = results->entries; e < results->entries + results->entry_count; e++) {
        th_result_file_entry *m = find(more, e->name);
        if (!m || m->threads != e->threads || m->characters != e->characters || m->bones != e->bones)
            return th_fail(err, TH_ERR_INPUT, "%s: no %s as in the process before", more->name, e->name);
        if (e->process_count + m->process_count > TH_REPORT_MAX_PROCESSES)
            return th_fail(err, TH_ERR_LIMIT, "%s: more than %d processes", more->name, TH_REPORT_MAX_PROCESSES);
        if (!e->failure && !m->failure && e->palette_hash && m->palette_hash &&
            strcmp(e->palette_hash, m->palette_hash) != 0)
            e->failure = other_palettes;
        for (int i = 0; i < ERRORS; i++)
            *error_at(e, i) = fmax(*error_at(e, i), *error_at(m, i));
        bool room = true;
        if (!e->failure && m->failure) { /* a copy of the text, which the document owns */
            json_t *text = json_string(m->failure);
            char key[96];
            snprintf(key, sizeof key, "failure of %s", e->name);
            room = json_object_set_new(results->document, key, text) == 0;
            e->failure = room ? json_string_value(text) : NULL;
        }
        const repetitions to = {&e->real_ns,  &e->cpu_ns, &e->queued_ns, &e->core_clock_ns,
                                &e->start_ns, &e->order,  e->ends,       &e->process_count};
        if (!room || !append_samples(&to, m))
            return th_fail(err, TH_ERR_MEMORY, "no memory for %s", e->name);
    }
    return TH_OK;
}
