#include "bench_programs.h"

#include "external_program.h"
#include <cli/model_set.h>

#include <bench/validate.h>
#include <core/clock.h>
#include <core/json.h>

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROTOCOL = 1, MAX_NAME = 24, MAX_DESCRIPTION = 200, MAX_OTHERS = 32 };

/* An entry as its program describes it. */
typedef struct entry {
    th_external_program *program;
    char name[64]; /* external/<program>/<entry> */
    const char *own_name;
    uint32_t threads;
    uint64_t characters, bones;
    char description[MAX_DESCRIPTION + 1];
} entry;

struct th_bench_programs {
    th_external_program *programs[TH_FILE_LIST_MAX];
    uint32_t program_count, count;
    entry entries[TH_BENCH_PROGRAMS_MAX_ENTRIES];
    th_external_benchmark joined[TH_BENCH_PROGRAMS_MAX_ENTRIES + MAX_OTHERS];
};

/* An entry being measured. */
typedef struct subject {
    const entry *entry;
    th_row *row;
    double told_share; /* the largest share of our time that the program said a request took */
} subject;

/* ---- requests ---- */

typedef struct answer {
    th_lap lap;
    char checksum[65];
} answer;

static bool read_ns(const json_t *json, const char *name, uint64_t *out)
{
    const json_t *value = json_object_get(json, name);
    const double ns = json_number_value(value);
    *out = ns >= 0 && ns < 1e18 ? (uint64_t)ns : 0;
    return json_is_number(value) && ns >= 0 && ns < 1e18;
}

static th_result read_answer(const entry *e, const json_t *json, answer *out, th_error *err)
{
    const char *error = json_string_value(json_object_get(json, "error"));
    const char *checksum = json_string_value(json_object_get(json, "checksum"));
    if (error)
        return th_fail(err, TH_ERR_INPUT, "%s says: %.200s", e->name, error);
    if (!read_ns(json, "real_ns", &out->lap.real_ns) || !read_ns(json, "cpu_ns", &out->lap.cpu_ns) ||
        out->lap.real_ns == 0)
        return th_fail(err, TH_ERR_INPUT, "%s gave no real_ns above 0 and cpu_ns from 0 on", e->name);
    if (!checksum || !checksum[0] || strlen(checksum) >= sizeof out->checksum)
        return th_fail(err, TH_ERR_INPUT, "%s gave no checksum of 1 to %zu bytes", e->name, sizeof out->checksum - 1);
    strcpy(out->checksum, checksum);
    return TH_OK;
}

/* Its frames lie between our readings of the clock, so they cannot have taken more time. */
static th_result check_answer(const entry *e, uint32_t frames, const th_lap *told, uint64_t our_ns, th_error *err)
{
    if (told->real_ns > our_ns)
        return th_fail(err, TH_ERR_INPUT,
                       "%s says that %u frame%s took %.3f ms, but its answer came after %.3f ms: it is not believable",
                       e->name, frames, th_plural(frames), (double)told->real_ns / 1e6, (double)our_ns / 1e6);
    if (told->cpu_ns > e->threads * our_ns)
        return th_fail(err, TH_ERR_INPUT,
                       "%s says that %u frame%s took %.3f ms of CPU time, but its answer came after %.3f ms and it has "
                       "%u thread%s: it is not believable",
                       e->name, frames, th_plural(frames), (double)told->cpu_ns / 1e6, (double)our_ns / 1e6, e->threads,
                       th_plural(e->threads));
    return TH_OK;
}

/* Has the program run frames. On failure the row has the reason. */
static bool run_frames(subject *s, uint64_t first, uint32_t frames, answer *out)
{
    th_error err;
    json_t *json = NULL, *request = json_pack("{s:s, s:o, s:o}", "entry", s->entry->own_name, "first",
                                              th_json_count(first), "frames", th_json_count(frames));
    *out = (answer){.lap = {0}};
    if (s->row->failure[0]) {
        json_decref(request);
        return false;
    }
    const uint64_t begin_ns = th_clock_ns();
    th_result result = th_external_program_ask(s->entry->program, request, &json, &err);
    const uint64_t our_ns = th_clock_ns() - begin_ns;
    if (result == TH_OK)
        result = read_answer(s->entry, json, out, &err);
    if (result == TH_OK)
        result = check_answer(s->entry, frames, &out->lap, our_ns, &err);
    if (result == TH_OK)
        s->told_share = fmax(s->told_share, (double)out->lap.real_ns / (double)our_ns);
    else
        snprintf(s->row->failure, sizeof s->row->failure, "%.*s", (int)sizeof s->row->failure - 1, err.text);
    json_decref(request);
    json_decref(json);
    return result == TH_OK;
}

/* ---- the entries, as the bench sees them ---- */

static void run_frame(void *ctx, uint64_t frame)
{
    answer ignored;
    run_frames(ctx, frame, 1, &ignored);
}

/* Begins with a frame that does not count, as pose/ entries do: caches hold what the entry before has left. It is the
 * frame before the first, since some libraries play forward faster than they seek. */
static th_lap timed_run(void *ctx, uint64_t first, uint32_t iterations)
{
    answer told;
    run_frames(ctx, first > 0 ? first - 1 : 0, 1, &told);
    run_frames(ctx, first, iterations, &told);
    return told.lap;
}

/* A program that answers without computing, or computes something else each time, gives itself away. */
static void check(subject *s)
{
    answer start, later, again;
    th_row *row = s->row;
    if (!run_frames(s, 0, 1, &start) || !run_frames(s, TH_VALIDATE_FRAME, 1, &later) || !run_frames(s, 0, 1, &again))
        return;
    if (strcmp(start.checksum, again.checksum) != 0)
        snprintf(row->failure, sizeof row->failure, "%s has two checksums of frame 0: %.64s and %.64s", s->entry->name,
                 start.checksum, again.checksum);
    else if (strcmp(start.checksum, later.checksum) == 0)
        snprintf(row->failure, sizeof row->failure, "%s has one checksum of frames 0 and %d: %.64s", s->entry->name,
                 TH_VALIDATE_FRAME, start.checksum);
    s->told_share = 0;
}

static th_result create(const th_external_benchmark *benchmark, void *ctx, th_row *row, void **out, th_error *err)
{
    const entry *e = benchmark->what;
    (void)ctx;
    subject *s = *out = calloc(1, sizeof *s);
    if (!s)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", e->name);
    *s = (subject){.entry = e, .row = row};
    row->time_unit = "us";
    row->threads = e->threads;
    row->characters = e->characters;
    row->bones = e->bones;
    row->once = json_pack("{s:o}", "description", th_json_text(e->description));
    check(s);
    return TH_OK;
}

static void summarize(void *ctx, const th_row *baseline, th_row *row)
{
    const subject *s = ctx;
    (void)baseline;
    row->own = json_pack("{s:s, s:o}", "timed_by", "program", "told_share", th_json_real(s->told_share));
}

th_external_benchmarks th_bench_programs_join(th_bench_programs *programs, const th_external_benchmarks *others)
{
    assert(programs && others && others->count <= MAX_OTHERS);
    th_bench_programs *p = programs;
    for (uint32_t i = 0; i < p->count; i++)
        p->joined[i] = (th_external_benchmark){
            .name = p->entries[i].name,
            .what = &p->entries[i],
            .create = create,
            .run = run_frame,
            .timed_run = timed_run,
            .summarize = summarize,
            .destroy = free,
        };
    memcpy(p->joined + p->count, others->entries, others->count * sizeof *others->entries);
    return (th_external_benchmarks){p->joined, p->count + others->count, others->ctx, others->describe};
}

/* ---- what a program says of itself ---- */

static const char *read_name(const json_t *json, const char *field)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *name = json_string_value(json_object_get(json, field));
    const size_t length = name ? strlen(name) : 0;
    return length > 0 && length <= MAX_NAME && strspn(name, letters) == length ? name : NULL;
}

static bool read_count(const json_t *json, const char *name, int64_t most, uint64_t *out)
{
    const json_t *value = json_object_get(json, name);
    *out = (uint64_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 1 && json_integer_value(value) <= most;
}

static bool is_taken(const th_bench_programs *p, const char *name)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (strcmp(p->entries[i].name, name) == 0)
            return true;
    return false;
}

static th_result add_entry(th_bench_programs *p, const char *program, const json_t *json, th_error *err)
{
    if (p->count == TH_BENCH_PROGRAMS_MAX_ENTRIES)
        return th_fail(err, TH_ERR_INPUT, "external programs have more than %d entries together",
                       TH_BENCH_PROGRAMS_MAX_ENTRIES);
    entry *e = &p->entries[p->count];
    const char *name = read_name(json, "name"), *says = json_string_value(json_object_get(json, "description"));
    uint64_t threads = 1;
    if (!name)
        return th_fail(err, TH_ERR_INPUT, "the external program %s has an entry without a name as it should be",
                       program);
    snprintf(e->name, sizeof e->name, "external/%s/%s", program, name);
    e->own_name = e->name + strlen("external//") + strlen(program);
    if (is_taken(p, e->name))
        return th_fail(err, TH_ERR_INPUT, "two entries are called %s", e->name);
    if (!read_count(json, "characters", 1000000000, &e->characters) ||
        !read_count(json, "bones", 1000000000000, &e->bones) ||
        (json_object_get(json, "threads") && !read_count(json, "threads", 4096, &threads)))
        return th_fail(err, TH_ERR_INPUT, "%s does not say how many characters, bones or threads it has", e->name);
    if (!says || !says[0] || strlen(says) > MAX_DESCRIPTION)
        return th_fail(err, TH_ERR_INPUT, "%s has no description of 1 to %d bytes", e->name, MAX_DESCRIPTION);
    e->threads = (uint32_t)threads;
    e->program = p->programs[p->program_count - 1];
    strcpy(e->description, says);
    p->count++;
    return TH_OK;
}

static th_result add_entries(th_bench_programs *p, const json_t *json, const char *command, th_error *err)
{
    const char *error = json_string_value(json_object_get(json, "error")), *program = read_name(json, "program");
    const json_t *entries = json_object_get(json, "entries"), *one;
    size_t index;
    th_result result = TH_OK;
    if (error)
        return th_fail(err, TH_ERR_INPUT, "the external program \"%.100s\" says: %.200s", command, error);
    if (json_integer_value(json_object_get(json, "throng_external")) != PROTOCOL || !program)
        return th_fail(err, TH_ERR_INPUT,
                       "the external program \"%.100s\" does not begin with \"throng_external\": %d and its name",
                       command, PROTOCOL);
    if (json_array_size(entries) == 0)
        return th_fail(err, TH_ERR_INPUT, "the external program %s has no entries", program);
    json_array_foreach(entries, index, one)
    {
        if (result == TH_OK)
            result = add_entry(p, program, one, err);
    }
    return result;
}

static th_result add_program(th_bench_programs *p, const char *command, double timeout_s, th_error *err)
{
    json_t *json = NULL;
    th_external_program **program = &p->programs[p->program_count++];
    th_result result = th_external_program_start(command, timeout_s, program, err);
    if (result == TH_OK)
        result = th_external_program_ask(*program, NULL, &json, err);
    if (result == TH_OK)
        result = add_entries(p, json, command, err);
    json_decref(json);
    return result;
}

th_result th_bench_programs_start(const th_bench_programs_desc *desc, th_bench_programs **out, th_error *err)
{
    assert(desc && desc->count <= TH_FILE_LIST_MAX && out);
    th_result result = TH_OK;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return th_fail(err, TH_ERR_MEMORY, "no memory for external programs");
    for (uint32_t i = 0; i < desc->count && result == TH_OK; i++)
        result = add_program(*out, desc->commands[i], desc->timeout_s, err);
    return result;
}

double th_bench_programs_cpu_s(const th_bench_programs *programs)
{
    double cpu_s = 0;
    for (uint32_t i = 0; i < programs->program_count; i++)
        cpu_s += (double)th_external_program_cpu_ns(programs->programs[i]) / 1e9;
    return cpu_s;
}

void th_bench_programs_stop(th_bench_programs *programs)
{
    for (uint32_t i = 0; programs && i < programs->program_count; i++)
        th_external_program_stop(programs->programs[i]);
    free(programs);
}
