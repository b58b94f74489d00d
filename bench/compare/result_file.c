#include <bench/result_file.h>

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* NaN if null or missing. */
static bool read_error(const line *l, const char *field, double *out)
{
    static const double none = (double)NAN;
    if (json_is_null(json_object_get(l->json, field)))
        return *out = none, true;
    return read_number(l, field, &none, 0, out);
}

/* NULL if missing. */
static bool read_text(const line *l, const char *field, const char **out)
{
    const json_t *value = json_object_get(l->json, field);
    *out = json_string_value(value);
    return !value || *out || refuse(l, field, "is no text");
}

static bool read_unit(const line *l, double *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const char *text;
    if (!read_text(l, "time_unit", &text))
        return false;
    if (!text)
        return refuse(l, "time_unit", "is missing");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i].name) == 0)
            return *ns = units[i].ns, true;
    return refuse(l, "time_unit", "is none of ns, us, ms and s");
}

/* ---- rows ---- */

/* What a row says beside the figures of its entry. */
typedef struct row_info {
    uint64_t process;
    const char *failure;
    bool skipped; /* not measured, but not an error */
} row_info;

/* False if missing. */
static bool read_truth(const line *l, const char *field, bool *out)
{
    const json_t *value = json_object_get(l->json, field);
    *out = json_is_true(value);
    return !value || json_is_boolean(value) || refuse(l, field, "is neither true nor false");
}

static bool read_failure(const line *l, row_info *out)
{
    bool failed;
    if (!read_truth(l, "error_occurred", &failed) || !read_truth(l, "skipped", &out->skipped) ||
        !read_text(l, "error_message", &out->failure))
        return false;
    if (!failed)
        out->failure = NULL;
    else if (!out->failure)
        out->failure = "it does not say why";
    return true;
}

static bool read_hash(const line *l, const char **out)
{
    if (!read_text(l, "palette_hash", out))
        return false;
    if (*out && (strlen(*out) != 16 || (*out)[strspn(*out, "0123456789abcdef")] != '\0'))
        return refuse(l, "palette_hash", "is not 16 hexadecimal digits");
    return true;
}

/* Reads some fields only from our own files: other programs may use their names differently. */
static bool read_row_info(const line *l, row_info *out, th_result_file_entry *e)
{
    uint64_t threads;
    *out = (row_info){0};
    if (!read_failure(l, out))
        return false;
    const uint64_t fewest = out->failure || out->skipped ? 0 : 1; /* it may lack the field */
    if (!read_count(l, "threads", 1, fewest, UINT32_MAX, &threads))
        return false;
    e->threads = (uint32_t)threads;
    e->max_error = e->error_vs_source = e->error_px_p99 = e->error_px_max = (double)NAN;
    return !l->is_ours ||
           (read_count(l, "characters", 0, 0, UINT64_MAX, &e->characters) &&
            read_count(l, "bones", 0, 0, UINT64_MAX, &e->bones) &&
            read_count(l, "process", 0, 0, TH_REPORT_MAX_PROCESSES - 1, &out->process) &&
            read_error(l, "max_error", &e->max_error) && read_error(l, "error_vs_source", &e->error_vs_source) &&
            read_error(l, "error_px_p99", &e->error_px_p99) && read_error(l, "error_px_max", &e->error_px_max) &&
            read_hash(l, &e->palette_hash));
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The first row of an entry defines these fields; the others must agree. */
static bool check_same(const line *l, const th_result_file_entry *row, const th_result_file_entry *e)
{
    if (row->threads != e->threads)
        return refuse(l, "threads", "differs from row to row");
    if (!is_same_text(row->palette_hash, e->palette_hash))
        return refuse(l, "palette_hash", "differs from row to row");
    if (row->characters != e->characters || row->bones != e->bones)
        return refuse(l, "characters", "or bones differ from row to row");
    return true;
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

static bool add_times(const line *l, const row_info *t, bool is_first, th_result_file_entry *e)
{
    double unit_ns = 1, real = 0, cpu = 0;
    if (!read_unit(l, &unit_ns) || !read_number(l, "real_time", NULL, 0, &real) ||
        !read_number(l, "cpu_time", NULL, 0, &cpu) ||
        !add_optional(l, "core_clock_ns", 1e-9, is_first, &e->core_clock_ns) ||
        !add_optional(l, "start_ns", 0, is_first, &e->start_ns) || !add_optional(l, "order", 0, is_first, &e->order))
        return false;
    if (t->process + 1 != e->process_count && t->process != e->process_count)
        return refuse(l, "process", "is out of order");
    if (!isfinite(real * unit_ns) || !isfinite(cpu * unit_ns))
        return refuse(l, "real_time", "or cpu_time is too large");
    e->process_count = (uint32_t)t->process + 1;
    th_samples_add(&e->real_ns, real * unit_ns);
    th_samples_add(&e->cpu_ns, cpu * unit_ns);
    e->ends[t->process] = e->real_ns.count;
    return true;
}

/* ---- entries ---- */

/* Only rows of repetitions are read, not aggregates. Rows of other programs may have no type; in older Google Benchmark
 * files all rows are repetitions. */
static bool read_head(line *l, const char **name, bool *counts)
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
    *counts = !type || strcmp(type, "iteration") == 0;
    if (!*counts && strcmp(type, "aggregate") != 0)
        return refuse(l, "run_type", "is neither iteration nor aggregate");
    return true;
}

static bool lack_memory(const th_result_file *results, th_error *err)
{
    th_fail(err, TH_ERR_MEMORY, "no memory for %s", results->name);
    return false;
}

/* Maps rows to entries. */
typedef struct row_map {
    th_result_file *results;
    uint32_t *counts; /* rows of each entry */
    bool is_dry;      /* no row has times */
    th_error *err;
} row_map;

/* First pass: finds the entries and counts their rows. */
static bool count_rows(row_map *r, const json_t *rows)
{
    line l = {.file = r->results->name, .is_ours = r->results->is_ours, .err = r->err};
    json_array_foreach(rows, l.index, l.json)
    {
        const char *name;
        bool counts;
        if (!read_head(&l, &name, &counts))
            return false;
        if (!counts)
            continue;
        const json_t *found = json_object_get(r->results->index_by_name, name);
        const uint32_t index = found ? (uint32_t)json_integer_value(found) : r->results->entry_count++;
        if (!found && json_object_set_new(r->results->index_by_name, name, json_integer(index)) != 0)
            return lack_memory(r->results, r->err);
        r->results->entries[index].name = name;
        r->counts[index]++;
    }
    return true;
}

static bool make_room(const row_map *r)
{
    bool room = true;
    for (uint32_t i = 0; i < r->results->entry_count && room; i++) {
        th_result_file_entry *e = &r->results->entries[i];
        room = th_samples_init(&e->real_ns, r->counts[i]) && th_samples_init(&e->cpu_ns, r->counts[i]) &&
               th_samples_init(&e->core_clock_ns, r->counts[i]) && th_samples_init(&e->start_ns, r->counts[i]) &&
               th_samples_init(&e->order, r->counts[i]);
        r->counts[i] = 0;
    }
    return room || lack_memory(r->results, r->err);
}

static bool read_row(const row_map *r, const line *l, th_result_file_entry *e, bool is_first)
{
    row_info t;
    th_result_file_entry row = {0};
    if (!read_row_info(l, &t, is_first ? e : &row) || (!is_first && !check_same(l, &row, e)))
        return false;
    e->failure = e->failure ? e->failure : t.failure;
    return t.failure || t.skipped || r->is_dry || add_times(l, &t, e->real_ns.count == 0, e);
}

/* Second pass: reads the samples. */
static bool read_rows(const row_map *r, const json_t *rows)
{
    line l = {.file = r->results->name, .is_ours = r->results->is_ours, .err = r->err};
    json_array_foreach(rows, l.index, l.json)
    {
        const char *name;
        bool counts;
        read_head(&l, &name, &counts);
        if (!counts)
            continue;
        const uint32_t index = (uint32_t)json_integer_value(json_object_get(r->results->index_by_name, name));
        if (!read_row(r, &l, &r->results->entries[index], r->counts[index]++ == 0))
            return false;
    }
    return true;
}

static bool read_entries(th_result_file *results, const json_t *rows, th_error *err)
{
    const size_t most = json_array_size(rows) + 1;
    row_map r = {results, calloc(most, sizeof *r.counts), false, err};
    results->entries = calloc(most, sizeof *results->entries);
    results->index_by_name = json_object();
    r.is_dry = json_is_true(json_object_get(results->context, "dry_run"));
    const bool room = (results->index_by_name && r.counts && results->entries) || lack_memory(results, err);
    const bool read = room && count_rows(&r, rows) && make_room(&r) && read_rows(&r, rows);
    free(r.counts);
    if (read && results->entry_count == 0)
        th_fail(err, TH_ERR_INPUT, "%s: benchmarks has no repetitions%s", results->name,
                json_array_size(rows) > 0 ? ", only figures over them" : "");
    return read && results->entry_count > 0;
}

/* ---- documents ---- */

static bool refuse_document(const th_result_file *results, const char *why, th_error *err)
{
    th_fail(err, TH_ERR_INPUT, "%s: no result of throng, nor of Google Benchmark: %s", results->name, why);
    return false;
}

static bool is_object_or_none(const json_t *context, const char *name)
{
    const json_t *value = json_object_get(context, name);
    return !value || json_is_object(value);
}

/* Documents of ours before versions have a field that nobody else writes. */
static bool read_version(th_result_file *results, th_error *err)
{
    const json_t *version = json_object_get(results->context, "throng_schema_version");
    results->is_ours = json_integer_value(version) == TH_SCHEMA_VERSION;
    if (results->is_ours || (!version && !json_object_get(results->context, "usable_cpus")))
        return true;
    char text[32] = "no version";
    if (json_is_integer(version))
        snprintf(text, sizeof text, "version %lld", (long long)json_integer_value(version));
    th_fail(err, TH_ERR_INPUT,
            "%s: its format has %s (context.throng_schema_version), and this throng reads version %d only; measure it "
            "again, or read it with the throng that wrote it",
            results->name, text, TH_SCHEMA_VERSION);
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
    if (!read_version(results, err))
        return false;
    if (!is_object_or_none(results->context, "scene") || !is_object_or_none(results->context, "picture"))
        return refuse_document(results, "scene or picture is no object", err);
    if (!json_is_array(rows))
        return refuse_document(results, rows ? "benchmarks is no array" : "benchmarks is missing", err);
    return read_entries(results, rows, err);
}

static bool parse(th_result_file *results, const char *text, size_t size, th_error *err)
{
    json_error_t error;
    results->document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (results->document)
        return read_document(results, err);
    if (json_error_code(&error) == json_error_out_of_memory)
        return lack_memory(results, err);
    th_fail(err, TH_ERR_INPUT, "%s: no JSON: line %d, column %d: %s", results->name, error.line, error.column,
            error.text);
    return false;
}

th_result th_result_file_parse(const char *text, size_t size, const char *name, th_result_file **out, th_error *err)
{
    assert((text || size == 0) && name && out);
    th_error own;
    err = err ? err : &own;
    *out = NULL;
    th_result_file *results = calloc(1, sizeof *results);
    if (!results)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", name);
    snprintf(results->name, sizeof results->name, "%s", name);
    if (!parse(results, text, size, err)) {
        th_result_file_free(results);
        return err->code;
    }
    *out = results;
    return TH_OK;
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
    }
    free(results->entries);
    json_decref(results->index_by_name);
    json_decref(results->document);
    free(results);
}

const th_result_file_entry *th_result_file_find(const th_result_file *results, const char *name)
{
    assert(results && name);
    const json_t *found = json_object_get(results->index_by_name, name);
    return found ? &results->entries[json_integer_value(found)] : NULL;
}
