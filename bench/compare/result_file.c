#include <throng/bench/result_file.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields ---- */

/* A row of the document that is being read. */
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

/* A field that must be there unless `fallback` says what it is otherwise. */
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
    const json_int_t number = json_integer_value(value); /* 0 for what is none */
    if (!json_is_integer(value) || number < 0 || (uint64_t)number < low || (uint64_t)number > high)
        return refuse(l, field, "is no whole number within bounds");
    *out = (uint64_t)number;
    return true;
}

/* NaN for null and for nothing. */
static bool read_error(const line *l, const char *field, double *out)
{
    static const double none = (double)NAN;
    if (json_is_null(json_object_get(l->json, field)))
        return *out = none, true;
    return read_number(l, field, &none, 0, out);
}

/* NULL for nothing. */
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

/* What a row says of its entry, the same in all of its rows. */
typedef struct traits {
    uint64_t threads, characters, joints, process;
    double max_error, from_authored;
    const char *hash, *failure;
    bool skipped; /* nothing was measured, and that is nobody's fault */
} traits;

/* False for nothing. */
static bool read_truth(const line *l, const char *field, bool *out)
{
    const json_t *value = json_object_get(l->json, field);
    *out = json_is_true(value);
    return !value || json_is_boolean(value) || refuse(l, field, "is neither true nor false");
}

static bool read_failure(const line *l, traits *out)
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

/* Other programs may mean something else by names of ours. */
static bool read_traits(const line *l, traits *out)
{
    *out = (traits){.max_error = (double)NAN, .from_authored = (double)NAN};
    if (!read_failure(l, out))
        return false;
    const uint64_t fewest = out->failure || out->skipped ? 0 : 1; /* it may not have come to that */
    if (!read_count(l, "threads", 1, fewest, UINT32_MAX, &out->threads))
        return false;
    return !l->is_ours || (read_count(l, "characters", 0, 0, UINT64_MAX, &out->characters) &&
                           read_count(l, "joints", 0, 0, UINT64_MAX, &out->joints) &&
                           read_count(l, "process", 0, 0, TH_REPORT_MOST_PROCESSES - 1, &out->process) &&
                           read_error(l, "max_error", &out->max_error) &&
                           read_error(l, "from_authored", &out->from_authored) && read_hash(l, &out->hash));
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The first row of an entry says what it is; none of the others may say anything else. */
static bool hold_against(const line *l, const traits *t, const th_record_entry *e)
{
    if (t->threads != e->threads)
        return refuse(l, "threads", "differs from row to row");
    if (!is_same_text(t->hash, e->palette_hash))
        return refuse(l, "palette_hash", "differs from row to row");
    if (t->characters != e->characters || t->joints != e->joints)
        return refuse(l, "characters", "or joints differ from row to row");
    return true;
}

static bool add_times(const line *l, const traits *t, bool is_first, th_record_entry *e)
{
    const bool has_pulse = l->is_ours && json_object_get(l->json, "pulse_ns");
    double unit_ns = 1, real = 0, cpu = 0, pulse = 1;
    if (!read_unit(l, &unit_ns) || !read_number(l, "real_time", NULL, 0, &real) ||
        !read_number(l, "cpu_time", NULL, 0, &cpu) || (has_pulse && !read_number(l, "pulse_ns", NULL, 1e-9, &pulse)))
        return false;
    if (!is_first && has_pulse != (e->pulse_ns.count > 0))
        return refuse(l, "pulse_ns", "is in some rows only");
    if (t->process + 1 != e->process_count && t->process != e->process_count)
        return refuse(l, "process", "is out of order");
    if (!isfinite(real * unit_ns) || !isfinite(cpu * unit_ns))
        return refuse(l, "real_time", "or cpu_time is too large");
    e->process_count = (uint32_t)t->process + 1;
    th_samples_add(&e->real_ns, real * unit_ns);
    th_samples_add(&e->cpu_ns, cpu * unit_ns);
    if (has_pulse)
        th_samples_add(&e->pulse_ns, pulse);
    e->ends[t->process] = e->real_ns.count;
    return true;
}

/* ---- entries ---- */

/* A repetition's row counts; sums over several do not. Rows of other programs may have no type, and older ones of
 * theirs are all repetitions. */
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

static bool lack_memory(const th_record *record, th_error *err)
{
    th_fail(err, TH_ERR_MEMORY, "no memory for %s", record->name);
    return false;
}

/* Which rows are of which entry. */
typedef struct reading {
    th_record *record;
    uint32_t *counts; /* rows of each entry */
    bool is_dry;      /* no row has times */
    th_error *err;
} reading;

/* First pass: the entries, and how many rows each has. */
static bool count_rows(reading *r, const json_t *rows)
{
    line l = {.file = r->record->name, .is_ours = r->record->is_ours, .err = r->err};
    json_array_foreach(rows, l.index, l.json)
    {
        const char *name;
        bool counts;
        if (!read_head(&l, &name, &counts))
            return false;
        if (!counts)
            continue;
        const json_t *place = json_object_get(r->record->places, name);
        const uint32_t index = place ? (uint32_t)json_integer_value(place) : r->record->entry_count++;
        if (!place && json_object_set_new(r->record->places, name, json_integer(index)) != 0)
            return lack_memory(r->record, r->err);
        r->record->entries[index].name = name;
        r->counts[index]++;
    }
    return true;
}

static bool make_room(const reading *r)
{
    bool room = true;
    for (uint32_t i = 0; i < r->record->entry_count && room; i++) {
        th_record_entry *e = &r->record->entries[i];
        room = th_samples_init(&e->real_ns, r->counts[i]) && th_samples_init(&e->cpu_ns, r->counts[i]) &&
               th_samples_init(&e->pulse_ns, r->counts[i]);
        r->counts[i] = 0;
    }
    return room || lack_memory(r->record, r->err);
}

static bool read_row(const reading *r, const line *l, th_record_entry *e, bool is_first)
{
    traits t;
    if (!read_traits(l, &t))
        return false;
    if (is_first) {
        e->threads = (uint32_t)t.threads;
        e->characters = t.characters;
        e->joints = t.joints;
        e->palette_hash = t.hash;
        e->max_error = t.max_error;
        e->from_authored = t.from_authored;
    } else if (!hold_against(l, &t, e)) {
        return false;
    }
    e->failure = e->failure ? e->failure : t.failure;
    return t.failure || t.skipped || r->is_dry || add_times(l, &t, e->real_ns.count == 0, e);
}

/* Second pass. */
static bool read_rows(const reading *r, const json_t *rows)
{
    line l = {.file = r->record->name, .is_ours = r->record->is_ours, .err = r->err};
    json_array_foreach(rows, l.index, l.json)
    {
        const char *name;
        bool counts;
        read_head(&l, &name, &counts);
        if (!counts)
            continue;
        const uint32_t index = (uint32_t)json_integer_value(json_object_get(r->record->places, name));
        if (!read_row(r, &l, &r->record->entries[index], r->counts[index]++ == 0))
            return false;
    }
    return true;
}

static bool read_entries(th_record *record, const json_t *rows, th_error *err)
{
    const size_t most = json_array_size(rows) + 1;
    reading r = {record, calloc(most, sizeof *r.counts), false, err};
    record->entries = calloc(most, sizeof *record->entries);
    record->places = json_object();
    r.is_dry = json_is_true(json_object_get(record->context, "dry_run"));
    const bool room = (record->places && r.counts && record->entries) || lack_memory(record, err);
    const bool read = room && count_rows(&r, rows) && make_room(&r) && read_rows(&r, rows);
    free(r.counts);
    if (read && record->entry_count == 0)
        th_fail(err, TH_ERR_INPUT, "%s: benchmarks has no repetitions%s", record->name,
                json_array_size(rows) > 0 ? ", only figures over them" : "");
    return read && record->entry_count > 0;
}

/* ---- documents ---- */

static bool refuse_document(const th_record *record, const char *why, th_error *err)
{
    th_fail(err, TH_ERR_INPUT, "%s: no result of throng, nor of Google Benchmark: %s", record->name, why);
    return false;
}

static bool is_object_or_none(const json_t *context, const char *name)
{
    const json_t *value = json_object_get(context, name);
    return !value || json_is_object(value);
}

static bool read_document(th_record *record, th_error *err)
{
    const json_t *rows = json_object_get(record->document, "benchmarks");
    record->context = json_object_get(record->document, "context");
    if (!json_is_object(record->document))
        return refuse_document(record, "it is no object", err);
    if (!json_is_object(record->context))
        return refuse_document(record, record->context ? "context is no object" : "context is missing", err);
    if (!is_object_or_none(record->context, "scene") || !is_object_or_none(record->context, "picture"))
        return refuse_document(record, "scene or picture is no object", err);
    if (!json_is_array(rows))
        return refuse_document(record, rows ? "benchmarks is no array" : "benchmarks is missing", err);
    record->is_ours = json_is_string(json_object_get(record->context, "commit"));
    return read_entries(record, rows, err);
}

static bool parse(th_record *record, const char *text, size_t size, th_error *err)
{
    json_error_t error;
    record->document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (record->document)
        return read_document(record, err);
    if (json_error_code(&error) == json_error_out_of_memory)
        return lack_memory(record, err);
    th_fail(err, TH_ERR_INPUT, "%s: no JSON: line %d, column %d: %s", record->name, error.line, error.column,
            error.text);
    return false;
}

th_result th_record_parse(const char *text, size_t size, const char *name, th_record **out, th_error *err)
{
    th_error own;
    err = err ? err : &own;
    *out = NULL;
    th_record *record = calloc(1, sizeof *record);
    if (!record)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", name);
    snprintf(record->name, sizeof record->name, "%s", name);
    if (!parse(record, text, size, err)) {
        th_record_free(record);
        return err->code;
    }
    *out = record;
    return TH_OK;
}

/* All of it, and a byte more where it is too long. */
static th_result read_all(FILE *file, const char *path, char **text, size_t *size, th_error *err)
{
    size_t room = 0, got = 1;
    *text = NULL;
    *size = 0;
    while (got > 0 && *size <= TH_RECORD_MOST_BYTES) {
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
    if (*size > TH_RECORD_MOST_BYTES)
        return th_fail(err, TH_ERR_LIMIT, "%s is larger than %d MB", path, TH_RECORD_MOST_BYTES >> 20);
    return TH_OK;
}

th_result th_record_read(const char *path, th_record **out, th_error *err)
{
    char *text = NULL;
    size_t size;
    *out = NULL;
    FILE *file = fopen(path, "re");
    if (!file)
        return th_fail(err, TH_ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
    th_result result = read_all(file, path, &text, &size, err);
    fclose(file);
    if (result == TH_OK)
        result = th_record_parse(text, size, path, out, err);
    free(text);
    return result;
}

void th_record_free(th_record *record)
{
    if (!record)
        return;
    for (uint32_t i = 0; record->entries && i < record->entry_count; i++) {
        th_samples_fini(&record->entries[i].real_ns);
        th_samples_fini(&record->entries[i].cpu_ns);
        th_samples_fini(&record->entries[i].pulse_ns);
    }
    free(record->entries);
    json_decref(record->places);
    json_decref(record->document);
    free(record);
}

const th_record_entry *th_record_find(const th_record *record, const char *name)
{
    const json_t *place = json_object_get(record->places, name);
    return place ? &record->entries[json_integer_value(place)] : NULL;
}
