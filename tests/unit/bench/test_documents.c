/* The reports of bench as people and programs get them, from results made by hand: tests/golden/documents/bench. */
#include "fixture_document.h"
#include "fixture_made_up.h"
#include "fixture_result_file.h"
#include "fixture_text.h"

#include <bench/bench.h>
#include <bench/compare.h>
#include <core/json.h>
#include <core/random.h>

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

static th_error err;

enum { JSON = TH_OUTPUT_WIDE + 1 };

/* ---- another build, another process ---- */

__typeof__(th_context_json) __real_th_context_json, __wrap_th_context_json;
json_t *__wrap_th_context_json(const th_context *context)
{
    json_t *fixed =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:[s, s], s:{}, s:s, s:i, s:i}", "library_version", "1.0",
                  "library_build_type", "release", "compiler", "Example C 1.0", "compiler_flags", "-O2", "build_type",
                  "Release", "commit", "0123456789ab", "isa", "avx2", "command", "throng", "bench", "environment",
                  "scheduling_policy", "other", "scheduling_priority", 0, "nice", context->nice);
    json_t *json = __real_th_context_json(context);
    cr_assert_eq(json_object_update(json, fixed), 0);
    json_decref(fixed);
    return json;
}

const char *__wrap_th_context_version(void);
const char *__wrap_th_context_version(void)
{
    return "1.0 (0123456789ab)";
}

th_isa __wrap_th_isa_best(void);
th_isa __wrap_th_isa_best(void)
{
    return TH_ISA_AVX2;
}

bool __wrap_th_scheduler_available(th_scheduler scheduler);
bool __wrap_th_scheduler_available(th_scheduler scheduler)
{
    return scheduler != TH_SCHEDULER_COUNT;
}

/* But for what an unoptimised build says of itself. */
__typeof__(th_report_warnings) __real_th_report_warnings, __wrap_th_report_warnings;
json_t *__wrap_th_report_warnings(const th_report *report)
{
    json_t *warnings = __real_th_report_warnings(report);
    for (size_t i = json_array_size(warnings); i-- > 0;)
        if (strstr(json_string_value(json_array_get(warnings, i)), "built with assertions"))
            json_array_remove(warnings, i);
    return warnings;
}

/* ---- JSON ---- */

/* The rows of the first `whole` entries, and of each other one its first repetition and its mean: the rest have the
 * same fields. */
static json_t *thinned(json_t *document, json_int_t whole)
{
    json_t *rows = json_object_get(document, "benchmarks");
    for (size_t i = json_array_size(rows); i-- > 0;) {
        const json_t *row = json_array_get(rows, i);
        const char *aggregate = json_string_value(json_object_get(row, "aggregate_name"));
        const bool is_left_out = aggregate ? strcmp(aggregate, "mean") != 0
                                           : json_integer_value(json_object_get(row, "repetition_index")) > 0;
        if (is_left_out && json_integer_value(json_object_get(row, "family_index")) >= whole)
            json_array_remove(rows, i);
    }
    return document;
}

static void write_json(json_t *document, json_int_t whole, FILE *out)
{
    cr_assert(document);
    cr_assert(th_json_write(thinned(document, whole), 6, out));
    json_decref(document);
}

/* ---- bench ---- */

/* An entry, the median of its repetitions and its own fields. All of them are of 100 characters but jobs/ and what
 * shares poses. */
typedef struct entry {
    const char *name;
    double ns;
    const char *own;
} entry;

#define SETTING(ms, px)                                                                                                \
    "{'visible': 80, 'cull_ms': 0.1, 'wait_ms': 0, 'pose_ms': " ms ", 'ring_bytes': 1500000, 'serial': 0.25, "         \
    "'error_px_p50': 0, 'error_px_p99': " px ", 'error_px_max': 2.5}"

static const entry bench_entries[] = {
    {"pose/avx2/f32", 104e3,
     "{'flops': 1040000, 'key_bytes_read': 200000, 'key_bytes': 20000, 'palette_bytes': 249600, 'counters': "
     "{'cycles': 312000, 'instructions': 624000, 'l1_misses': 5200, 'llc_misses': 520, 'cpu_ns': 104000, "
     "'page_faults': 2, 'context_switches': 0}}"},
    {"pose/avx2/quat", 130e3,
     "{'flops': 1040000, 'key_bytes_read': 200000, 'key_bytes': 20000, 'palette_bytes': 124800}"},
    {"pose/tutorial", 2080e3, NULL},
    {"limit/write_cached", 5200, NULL},
    {"limit/write_streamed", 10400, NULL},
    {"interp/step/avx2", 90e3, "{'key_bytes': 271360, 'exact_characters': 14}"},
    {"interp/nlerp/exact", 900e3, "{'key_bytes': 0, 'exact_characters': 100}"},
    {"joints/3", 60e3, "{'level_error': 0.0125, 'key_bytes': 271360}"},
    {"share/60", 45e3, "{'evaluated': 40, 'share_error': 0.025, 'key_bytes': 271360}"},
    {"frame/all_visible/whole", 2e6,
     "{'visible': 80, 'vs_redraw': 1.25, 'cull_ms': 0.1, 'wait_ms': 0.2, 'pose_ms': 0.5, 'draw_ms': 1.2, "
     "'ring_bytes': 1500000, 'serial': 0.25}"},
    {"error/full", 8e6, SETTING("8", "0")},
    {"error/share:120", 3e6, SETTING("3", "0.3")},
    {"error/share:60", 2e6, SETTING("2", "0.45")},
    {"error/share:60_again", 2e6, SETTING("2", "0.45")},
    {"error/poor", 2.5e6, SETTING("2.5", "0.45")},
    {"error/worse", 3e6, SETTING("3", "0.6")},
    {"error/share:30", 1e6, SETTING("1", "0.9")},
    {"error/too_far", 1.5e6, SETTING("1.5", "2")},
    {"jobs/fork_join:2/serial", 100, NULL},
    {"jobs/fork_join:2/work-stealing", 1500, "{'speed_up': 0.066667, 'efficiency': 0.033333, 'overhead_ns': 1450}"},
    {"jobs/fork_join:2/openmp-static", 1000, "{'speed_up': 0.1, 'efficiency': 0.05, 'overhead_ns': 950}"},
    {"jobs/fork_join:2/openmp-guided", 1000.01, "{'speed_up': 0.1, 'efficiency': 0.05, 'overhead_ns': 950}"},
    {"jobs/chunk/work-stealing", 50000, "{'chunk_ns': 12.5}"},
    {"import/usual", 98e6, NULL},
    {"memory/character", 1e5, "{'bytes': 2651}"},
    {"ceiling/multiply_add/avx2", 1e6, "{'flops_per_second': 40e9}"},
    {"ceiling/read/l1", 1e6, "{'bytes_per_second': 100e9}"},
    {"ceiling/write/l2", 1e6, "{'bytes_per_second': 5e9}"},
};

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static void make_entry(th_row *row, const entry *from, uint32_t repetitions)
{
    const bool is_crowd = !begins(from->name, "jobs/") && !begins(from->name, "ceiling/") &&
                          !begins(from->name, "import/") && !begins(from->name, "memory/");
    char own[512] = "";
    strcpy(row->name, from->name);
    row->time_unit = begins(from->name, "frame/") || begins(from->name, "error/") ? "ms" : "us";
    row->threads = begins(from->name, "jobs/") && !strstr(from->name, "serial") ? 2 : 1;
    row->iterations = row->iterations_timed_at_once = 100;
    row->characters = !is_crowd ? 0 : begins(from->name, "share/") ? 40 : 100;
    row->bones = 52 * row->characters;
    row->checked = row->moving = is_crowd && !begins(from->name, "limit/");
    row->max_error = 6.25e-5;
    row->overrides = begins(from->name, "interp/");
    row->error_vs_source = 0.125;
    row->palette_hash = 0x1234567890abcdefu;
    if (begins(from->name, "external/"))
        row->once = json_pack("{s:s}", "description", "ozz-animation 1.0, SoA.");
    for (char *to = own; from->own && (*to = from->own[to - own]); to++)
        *to = *to == '\'' ? '"' : *to;
    row->own = json_loads(own, 0, NULL);
    cr_assert(!from->own || row->own, "%s", own);
    for (uint32_t i = 0; i < repetitions; i++) {
        th_samples_add(&row->real_ns, from->ns * (1 + 0.001 * (i * 7 % 3 - 1.0)));
        th_samples_add(&row->cpu_ns, from->ns);
        th_samples_add(&row->core_clock_ns, 0.25);
        th_samples_add(&row->start_ns, 1e9 * i);
        th_samples_add(&row->order, 0);
    }
}

/* The first `count` entries, one that was skipped and one that is wrong. */
static th_report bench_result(uint32_t count, uint32_t repetitions)
{
    th_report report;
    cr_assert_eq(th_report_init(&report, count + 2, repetitions, &err), TH_OK, "%s", err.text);
    make_up_conditions(&report, 100);
    report.repetition_ns = 20000000;
    report.precision = 0.01;
    for (uint32_t r = 0; r < count; r++)
        make_entry(&report.rows[r], &bench_entries[r], repetitions);
    make_entry(&report.rows[count], &(entry){"pose/neon/f32", 0, NULL}, 0);
    report.rows[count].skipped = true;
    report.rows[count].checked = false;
    strcpy(report.rows[count].failure, "this processor has no neon");
    make_entry(&report.rows[count + 1], &(entry){"error/wrong", 0, SETTING("0.1", "0.1")}, 0);
    strcpy(report.rows[count + 1].failure, "joint hand is \"off\", by 2 units");
    return report;
}

enum { ENTRIES = sizeof bench_entries / sizeof *bench_entries };

static void print_bench(const th_report *report, int format, FILE *out)
{
    if (format == JSON)
        write_json(th_report_json(report), 2, out);
    else
        cr_assert(format == TH_OUTPUT_CSV ? th_report_csv(report, out)
                                          : th_bench_print(report, (th_output_format)format, out));
}

/* Of two models, of which the second has no clip. */
static void bench(int format, FILE *out)
{
    th_report report = bench_result(ENTRIES, 10);
    json_array_append_new(
        json_object_get(report.scene, "models"),
        json_pack("{s:s, s:i, s:i, s:n, s:i}", "name", "fox.glb", "bones", 1, "clips", 2, "clip", "exact_clips", 0));
    report.picture = json_pack("{s:i, s:i, s:i, s:i, s:s}", "width", 640, "height", 360, "samples", 4, "shadow", 1024,
                               "renderer", "a painter");
    strcpy(report.counters_missing, "Not counted: llc misses (ENOENT): the processor has none.");
    print_bench(&report, format, out);
    th_report_fini(&report);
}

/* The first of two entries with an outlier, the second with a process for each repetition. */
static void bench_in_json(int format, FILE *out)
{
    th_report report = bench_result(2, 3);
    report.rows[0].real_ns.values[2] = 9e6;
    report.rows[1].process_count = report.process_count = 3;
    for (uint32_t p = 0; p < 3; p++)
        report.rows[1].ends[p] = p + 1;
    print_bench(&report, format, out);
    th_report_fini(&report);
}

static void bench_dry(int format, FILE *out)
{
    th_report report = bench_result(format == JSON ? 1 : ENTRIES, 0);
    report.is_dry_run = true;
    print_bench(&report, format, out);
    th_report_fini(&report);
}

/* Without poses schedulers are compared: a frame's calls and the smallest call, else the first comparison there is. */
static void print_jobs(const entry *entries, uint32_t count, int format, FILE *out)
{
    th_report report;
    cr_assert_eq(th_report_init(&report, count, 20, &err), TH_OK, "%s", err.text);
    make_up_conditions(&report, 100);
    for (uint32_t r = 0; r < count; r++)
        make_entry(&report.rows[r], &entries[r], 20);
    print_bench(&report, format, out);
    th_report_fini(&report);
}

static void bench_jobs(int format, FILE *out)
{
    static const entry entries[] = {
        {"jobs/wake:cold/work-stealing", 1e6, NULL},      {"jobs/wake:cold/openmp-guided", 2e6, NULL},
        {"jobs/fork_join:2/serial", 1e5, NULL},           {"jobs/fork_join:2/work-stealing", 1.5e6, NULL},
        {"jobs/fork_join:2/openmp-guided", 3e6, NULL},    {"jobs/fork_join:2/openmp-static", 1e6, NULL},
        {"jobs/fork_join:16/work-stealing", 1e6, NULL},   {"jobs/fork_join:16/openmp-guided", 2e6, NULL},
        {"jobs/frame:60hz/work-stealing", 5e5, NULL},     {"jobs/frame:60hz/openmp-guided", 2e7, NULL},
        {"jobs/frame:60hz/openmp-static", 5.001e5, NULL},
    };
    print_jobs(entries, sizeof entries / sizeof *entries, format, out);
}

/* The first ones have nobody with threads to be compared with. */
static void bench_wake(int format, FILE *out)
{
    static const entry entries[] = {
        {"jobs/fork_join:2/serial", 1e5, NULL},      {"jobs/fork_join:2/work-stealing", 1.5e6, NULL},
        {"jobs/wake:cold/work-stealing", 1e6, NULL}, {"jobs/wake:cold/openmp-guided", 2e6, NULL},
        {"jobs/alone/work-stealing", 1e3, NULL},
    };
    print_jobs(entries, sizeof entries / sizeof *entries, format, out);
}

/* Whatever can be wrong with figures, at once. */
static void bench_doubtful(int format, FILE *out)
{
    static const entry entries[] = {
        {"pose/avx2/f32", 104e3, NULL},
        {"crowd/1", 1e3, NULL},
        {"crowd/8", 8e3, NULL},
        {"crowd/100", 100e3, NULL},
        {"external/ozz/pose", 1e6, "{'told_share': 0.25}"},
        {"error/share:30", 1e6, SETTING("1", "0.9")},
        {"jobs/fork_join:2/work-stealing", 1e6, NULL},
        {"limit/write_cached", 5200, NULL},
        {"pose/sse4/f32", 4000, NULL},
    };
    enum { COUNT = sizeof entries / sizeof *entries };
    th_report report;
    cr_assert_eq(th_report_init(&report, COUNT + 2, 20, &err), TH_OK, "%s", err.text);
    make_up_conditions(&report, 1);
    json_object_set_new(json_array_get(json_object_get(report.scene, "models"), 0), "exact_clips", json_integer(2));
    json_object_set_new(json_array_get(json_object_get(report.scene, "models"), 0), "clip", json_null());
    report.is_partial = true;
    report.context.cpus.quota = 2.5;
    report.context.cpus.online = 16;
    report.context.threads_per_core = report.context.numa_nodes = 2;
    report.context.nice = 10;
    report.context.boost = TH_BOOST_ON;
    strcpy(report.context.governor, "schedutil");
    report.interference = (th_interference){.external_cpu_load = 0.3, .steal_cpu_load = 0.12, .throttled_s = 1.5};
    for (uint32_t r = 0; r < COUNT; r++)
        make_entry(&report.rows[r], &entries[r], r == 0 ? 8 : 20);
    for (uint32_t i = 0; i < 20; i++) {
        report.rows[2].real_ns.values[i] *= i % 2 ? 1 : 1.3;
        report.rows[3].real_ns.values[i] *= i < 10 ? 1 : 1.025;
    }
    report.rows[3].process_count = 2; /* so the widest interval is over processes */
    report.rows[3].ends[0] = 10;
    report.rows[3].ends[1] = 20;
    report.rows[1].iterations_timed_at_once = 1;
    report.rows[1].moving = false;
    report.rows[1].bones = 0;
    report.rows[6].threads = 9;
    for (uint32_t r = COUNT; r < COUNT + 2; r++) {
        strcpy(report.rows[r].name, r == COUNT ? "frame/all_visible/whole" : "frame/part/whole");
        report.rows[r].skipped = true;
        strcpy(report.rows[r].failure, "no display");
    }
    print_bench(&report, format, out);
    th_report_fini(&report);
}

/* ---- scale ---- */

static void print_scale(const made_up_scale_desc *desc, int format, FILE *out)
{
    th_scale scale = made_up_scale(desc);
    if (format == JSON)
        write_json(th_scale_json(&scale), 0, out);
    else
        cr_assert(format == TH_OUTPUT_CSV ? th_report_csv(&scale.report, out)
                                          : th_scale_print(&scale, (th_output_format)format, out));
    th_scale_fini(&scale);
}

/* More threads than CPUs at last. */
static void scale(int format, FILE *out)
{
    static const made_up_curve curve = {TH_SCHEDULER_WORK_STEALING, 1000, 2, 5};
    print_scale(
        &(made_up_scale_desc){.curves = &curve, .curve_count = 1, .sigma = 0.02, .kappa = 0.005, .has_counters = true},
        format, out);
}

/* Of three processes, with shared poses. */
static void scale_weak(int format, FILE *out)
{
    static const made_up_curve curves[] = {{TH_SCHEDULER_WORK_STEALING, 1000, 2, 3},
                                           {TH_SCHEDULER_WORK_STEALING, 20, 2, 3}};
    print_scale(
        &(made_up_scale_desc){
            .curves = curves, .curve_count = 2, .processes = 3, .sigma = 0.02, .share_hz = 20, .is_weak = true},
        format, out);
}

/* So steep that the peak is a guess. */
static void scale_steep(int format, FILE *out)
{
    static const made_up_curve curve = {TH_SCHEDULER_WORK_STEALING, 1000, 2, 4};
    print_scale(&(made_up_scale_desc){.curves = &curve, .curve_count = 1, .sigma = 0.02, .kappa = 1e-6}, format, out);
}

/* The plain loop has one thread. The second point is wrong, which leaves too few for a fit. */
static void scale_map(int format, FILE *out)
{
    static const made_up_curve curves[] = {{TH_SCHEDULER_WORK_STEALING, 1000, 1, 4},
                                           {TH_SCHEDULER_SERIAL, 1000, 1, 1},
                                           {TH_SCHEDULER_WORK_STEALING, 1000, 64, 5}};
    print_scale(&(made_up_scale_desc){.curves = curves, .curve_count = 3, .sigma = 0.02, .kappa = 1e-6, .wrong = 1},
                format, out);
}

/* ---- stress ---- */

static void print_stress(th_stress stress, int format, FILE *out)
{
    if (format == JSON)
        write_json(th_stress_json(&stress), 0, out);
    else
        cr_assert(format == TH_OUTPUT_CSV ? th_report_csv(&stress.report, out)
                                          : th_stress_print(&stress, (th_output_format)format, out));
    th_stress_fini(&stress);
}

static void stress(int format, FILE *out)
{
    print_stress(made_up_stress(), format, out);
}

static void stress_drawn(int format, FILE *out)
{
    print_stress(made_up_stress_drawn(), format, out);
}

/* ---- compare ---- */

static const char *const compared[] = {"pose/avx2/f32",    "pose/scalar/f32", "crowd/100",  "pose/avx2/quat",
                                       "crowd/8",          "share/60",        "error/full", "limit/write_cached",
                                       "frame/part/whole", "play/forward"};
enum { COMPARED = sizeof compared / sizeof *compared };

/* One as before, one slower, one faster, one with other palettes, one that scatters, one with a larger error, one with
 * more pixels of error, a baseline, one that fails, one that is gone and one that is new. The new ones were measured at
 * a clock that is slower by a twentieth. */
static th_result_file *compared_file(bool is_new)
{
    th_report report = report_of(COMPARED, 12, 20, is_new ? steady_again : steady);
    static const double factors[COMPARED] = {1, 1.5, 0.5, 1, 1, 1, 1, 2, 1, 1}, clock = 1.05;
    make_up_conditions(&report, 10);
    report.interference.external_cpu_load = is_new ? 0 : 0.7;
    strcpy(report.context.governor, is_new ? "schedutil" : "performance");
    for (uint32_t r = 0; r < COMPARED; r++) {
        th_row *row = &report.rows[r];
        strcpy(row->name, compared[r]);
        for (uint32_t i = 0; i < row->real_ns.count; i++) {
            const double scatter = r == 4 ? 1 + 0.4 * th_random_unit(is_new, i / 20) : 1;
            row->real_ns.values[i] *= scatter * (is_new ? clock * factors[r] : 1);
            row->cpu_ns.values[i] *= scatter * (is_new ? clock * factors[r] : 1);
            row->core_clock_ns.values[i] *= is_new ? clock : 1;
        }
    }
    report.rows[3].palette_hash += is_new;
    report.rows[5].max_error *= is_new ? 2 : 1;
    report.rows[6].own = json_pack("{s:f, s:f}", "error_px_p99", is_new ? 0.6 : 0.5, "error_px_max", 2.0);
    if (is_new)
        strcpy(report.rows[8].failure, "joint hand is off");
    strcpy(report.rows[9].name, is_new ? "play/new|one" : "play/forward");
    th_result_file *file = result_file_of(&report, is_new ? "new.json" : "old.json");
    th_report_fini(&report);
    return file;
}

/* Frees the files. */
static void print_compare(th_result_file *files[2], int format, FILE *out)
{
    const th_compare_desc desc = {
        .old_results = files[0], .new_results = files[1], .threshold = 0.03, .interleaved = true, .force = true};
    th_comparison c;
    cr_assert_eq(th_compare(&desc, &c, &err), TH_OK, "%s", err.text);
    if (format == JSON)
        write_json(th_comparison_json(&c), 0, out);
    else
        cr_assert(format == TH_OUTPUT_CSV ? th_comparison_csv(&c, out)
                                          : th_comparison_print(&c, (th_output_format)format, out));
    th_comparison_fini(&c);
    th_result_file_free(files[0]);
    th_result_file_free(files[1]);
}

static void compare(int format, FILE *out)
{
    print_compare((th_result_file *[]){compared_file(false), compared_file(true)}, format, out);
}

/* Everything is slower, but on another system, from few processes, and the old ones were interrupted. */
static th_result_file *doubtful_file(bool is_new)
{
    enum { ROWS = 5 };
    th_report report = report_of(ROWS, 7, 20, is_new ? steady_again : steady);
    make_up_conditions(&report, 10);
    strcpy(report.context.system, is_new ? "Example 2.0" : "Example 1.0");
    report.is_partial = !is_new;
    report.rows[1].checked = is_new;
    for (uint32_t r = 0; r < ROWS; r++) {
        th_row *row = &report.rows[r];
        for (uint32_t i = 0; i < row->real_ns.count; i++)
            row->real_ns.values[i] *= is_new ? 1.1 : 1;
        row->core_clock_ns.count = is_new ? 0 : row->core_clock_ns.count;
    }
    json_t *document = document_of(&report);
    if (is_new)
        json_object_set_new(json_object_get(document, "context"), "library_build_type", json_string("debug"));
    th_result_file *file;
    cr_assert_eq(parse_document(document, is_new ? "new.json" : "old.json", &file, &err), TH_OK, "%s", err.text);
    json_decref(document);
    th_report_fini(&report);
    return file;
}

static void compare_doubtful(int format, FILE *out)
{
    print_compare((th_result_file *[]){doubtful_file(false), doubtful_file(true)}, format, out);
}

/* ---- ranks ---- */

static void print_ranks(th_rank_scaling *ranks, int format, FILE *out)
{
    ranks->budget_ns = 600e3;
    cr_assert(th_rank_scaling_analyze(ranks));
    if (format == JSON)
        write_json(th_rank_scaling_json(ranks), 0, out);
    else
        cr_assert(th_rank_scaling_print(ranks, (th_output_format)format, out));
    th_rank_scaling_fini(ranks);
}

static void ranks(int format, FILE *out)
{
    th_rank_scaling s = made_up_ranks();
    print_ranks(&s, format, out);
}

/* Frames of the round that was not finished do not count. Of the machine little is known. */
static void ranks_partial(int format, FILE *out)
{
    th_rank_scaling s = made_up_ranks();
    s.rounds_done = 1;
    s.points[1].stages[TH_RANK_POSES].values[3] = 1e12;
    s.has_gather = false;
    s.report.context.cpu[0] = s.report.context.governor[0] = '\0';
    s.report.context.mhz = 0;
    print_ranks(&s, format, out);
}

/* ---- all ---- */

static const struct {
    const char *name;
    void (*print)(int format, FILE *out);
    bool is_wide; /* it has a table that is wider than a terminal */
} documents[] = {
    {"bench.txt", bench, false},
    {"bench.md", bench, false},
    {"bench.csv", bench, false},
    {"bench.json", bench_in_json, false},
    {"bench_dry.txt", bench_dry, false},
    {"bench_dry.json", bench_dry, false},
    {"bench_jobs.txt", bench_jobs, false},
    {"bench_wake.txt", bench_wake, false},
    {"bench_doubtful.txt", bench_doubtful, true},
    {"scale.txt", scale, false},
    {"scale.md", scale, false},
    {"scale.csv", scale, false},
    {"scale.json", scale, false},
    {"scale_weak.txt", scale_weak, true},
    {"scale_weak.md", scale_weak, false},
    {"scale_steep.txt", scale_steep, false},
    {"scale_map.txt", scale_map, false},
    {"stress.txt", stress, false},
    {"stress.md", stress, false},
    {"stress.csv", stress, false},
    {"stress.json", stress, false},
    {"stress_drawn.txt", stress_drawn, true},
    {"stress_drawn.md", stress_drawn, false},
    {"stress_drawn.json", stress_drawn, false},
    {"compare.txt", compare, false},
    {"compare.md", compare, false},
    {"compare.csv", compare, false},
    {"compare.json", compare, false},
    {"compare_doubtful.txt", compare_doubtful, false},
    {"ranks.txt", ranks, false},
    {"ranks.md", ranks, false},
    {"ranks.json", ranks, false},
    {"ranks_partial.txt", ranks_partial, false},
    {"ranks_partial.json", ranks_partial, false},
};
enum { DOCUMENTS = sizeof documents / sizeof *documents };

static int format_of(const char *name)
{
    static const char *const endings[] = {
        [TH_OUTPUT_TEXT] = ".txt",  [TH_OUTPUT_MARKDOWN] = ".md", [TH_OUTPUT_CSV] = ".csv",
        [TH_OUTPUT_HTML] = ".html", [TH_OUTPUT_WIDE] = ".wide",   [JSON] = ".json"};
    int format = 0;
    while (strcmp(strrchr(name, '.'), endings[format]) != 0)
        cr_assert_leq(++format, JSON, "%s", name);
    return format;
}

/* Text fits a terminal, and nothing that is unknown is printed as a number. */
Test(documents, of_bench)
{
    const char *names[DOCUMENTS];
    for (size_t i = 0; i < DOCUMENTS; i++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        cr_assert(out);
        names[i] = documents[i].name;
        documents[i].print(format_of(names[i]), out);
        cr_assert_eq(fclose(out), 0);
        check_document("bench", names[i], text);
        if (format_of(names[i]) == TH_OUTPUT_TEXT && !documents[i].is_wide)
            expect_narrow(text);
        cr_expect_null(strstr(text, "nan"), "%s", names[i]);
        free(text);
    }
    check_folder("bench", names, DOCUMENTS);
}
