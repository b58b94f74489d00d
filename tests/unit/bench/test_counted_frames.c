/* Inside, since the system's counters are replaced below it. Counted frames, of a thread and of bench and stress,
 * against page faults: each call that poses a part of the crowd makes some, and in these tests the processor counts
 * them as instructions: this machine may have no counters, so one is made of events of the system. */
#include "bench/measure/untimed_frames.h"
#include "fixture_human.h"

#include <bench/bench.h>
#include <bench/counters.h>
#include <bench/stress.h>

#include <criterion/criterion.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 12, COUNT = 96, CHUNKS = COUNT / 16 / (int)TH_FRAME_DEFAULT_GRAIN };

static th_error error;

/* The linker puts this in the place of the real one (--wrap): instructions and cache misses are page faults, and cycles
 * never happen. */
static int counters_refused;             /* errno for all events of the processor; 0: they are counted */
static uint64_t refused_counter = ~0ull; /* only this one (PERF_COUNT_HW_...) is refused, with ENOENT */

__typeof__(syscall) __real_syscall, __wrap_syscall;
long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    struct perf_event_attr *event = (struct perf_event_attr *)a[0]; // NOLINT(performance-no-int-to-ptr)
    if (number == SYS_perf_event_open) {
        errno = counters_refused ? counters_refused : ENOENT;
        if (counters_refused || (event->type == PERF_TYPE_HARDWARE && event->config == refused_counter))
            return -1;
        const bool is_faults = event->type == PERF_TYPE_HW_CACHE || event->config == PERF_COUNT_HW_INSTRUCTIONS;
        event->type = PERF_TYPE_SOFTWARE;
        /* Not a clock: Linux 6.18 loses counts of two events where one is a clock. */
        event->config = is_faults ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_DUMMY;
    }
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* New ones, each of which is one page fault. AddressSanitizer would touch its own beside them. */
__attribute__((no_sanitize("address"))) static void touch_pages(size_t pages)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = pages * page;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(memory, MAP_FAILED);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += page)
        *(volatile char *)(memory + i) = 1;
    munmap(memory, bytes);
}

TestSuite(counted_frames, .init = make_human, .fini = free_human);

/* The faults of a call, in all frames that are run. */
__typeof__(th_crowd_pose_layers) __real_th_crowd_pose_layers, __wrap_th_crowd_pose_layers;
void __wrap_th_crowd_pose_layers(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s,
                                 const th_crowd_layers *layers, void *palette, float *sockets, void *scratch)
{
    touch_pages(PAGES);
    __real_th_crowd_pose_layers(crowd, begin, end, time_s, layers, palette, sockets, scratch);
}

/* And some outside of such calls, which nobody counts. */
__typeof__(th_jobs_frame_begin) __real_th_jobs_frame_begin, __wrap_th_jobs_frame_begin;
void __wrap_th_jobs_frame_begin(th_jobs *jobs)
{
    touch_pages(PAGES);
    __real_th_jobs_frame_begin(jobs);
}

static th_scene_desc scene(void)
{
    static const th_model *models[1];
    models[0] = human;
    return (th_scene_desc){.models = models, .model_count = 1, .instance_count = COUNT, .seed = 3};
}

static th_report bench(const char *filter, bool counters)
{
    th_report report;
    const th_bench_desc desc = {.scene = scene(),
                                .threads = 2,
                                .measure = {.repetitions = 1, .iterations = 1},
                                .filter = filter,
                                .counters = counters};
    cr_assert_eq(th_bench_run(&desc, &report, &error), TH_OK, "%s", error.text);
    return report;
}

static th_stress stress(const uint32_t *threads, uint32_t thread_count, bool counters)
{
    th_stress result;
    const th_stress_desc desc = {.scene = scene(),
                                 .threads = threads,
                                 .thread_count = thread_count,
                                 .budget_ns = 1e6,
                                 .frames = TH_CAPACITY_MIN_FRAMES,
                                 .counters = counters};
    cr_assert_eq(th_stress_run(&desc, &result, &error), TH_OK, "%s", error.text);
    return result;
}

static double number(const json_t *json, th_counter counter)
{
    const json_t *value = json_object_get(json, th_counter_name(counter));
    cr_assert(value, "%s is missing", th_counter_name(counter));
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* The faults of a frame, but for a few of libraries; all workers together. Returns the workers. */
static size_t expect_faults(const th_row *row, double faults)
{
    const json_t *counters = json_object_get(row->own, "counters"), *worker;
    const json_t *workers = json_object_get(row->once, "counters_by_worker");
    size_t index;
    double sum = 0, cpu_ns = 0;
    cr_assert(counters && workers, "%s", row->name);
    cr_expect_float_eq(number(counters, TH_COUNTER_PAGE_FAULTS), faults, 0.02 * faults + 3, "%s", row->name);
    if (!isnan(number(counters, TH_COUNTER_INSTRUCTIONS)))
        cr_expect_float_eq(number(counters, TH_COUNTER_INSTRUCTIONS), faults, 0.02 * faults + 3, "%s", row->name);
    json_array_foreach(workers, index, worker)
    {
        cr_expect_lt(json_integer_value(json_object_get(worker, "worker")), row->threads);
        sum += number(worker, TH_COUNTER_PAGE_FAULTS);
        cpu_ns += number(worker, TH_COUNTER_CPU_NS);
    }
    cr_expect_float_eq(sum, number(counters, TH_COUNTER_PAGE_FAULTS), 1e-6);
    cr_expect_float_eq(cpu_ns, number(counters, TH_COUNTER_CPU_NS), 1e-3);
    return index;
}

/* ---- a thread ---- */

/* The times that an event of the processor is wanted and runs between two reads, if events take turns. */
static uint64_t wanted_ns, ran_ns;

__typeof__(read) __real_read, __wrap_read;
ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
    static uint64_t wanted_sum_ns, ran_sum_ns;
    const ssize_t got = __real_read(fd, buffer, size);
    uint64_t *words = buffer;
    if (wanted_ns > 0 && got == (ssize_t)(3 * sizeof *words))
        words[1] = wanted_sum_ns += wanted_ns, words[2] = ran_sum_ns += ran_ns;
    return got;
}

enum { NAPS = 3 };
static double cpu_ns; /* of all calls of `work`, by another clock */
static uint64_t calls;

static double clock_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void work(void *ctx, uint64_t frame)
{
    (void)ctx;
    const double begin_ns = clock_cpu_ns();
    touch_pages(PAGES);
    for (int i = 0; i < NAPS; i++)
        nanosleep(&(struct timespec){0, 100000}, NULL);
    while (clock_cpu_ns() < begin_ns + 2e6)
        ;
    calls += frame > 0; /* the first is not counted */
    cpu_ns += frame > 0 ? clock_cpu_ns() - begin_ns : 0;
}

/* Of a frame of `work`, and what is missing of it. */
static th_counters count_work(th_report *report)
{
    th_worker_counts *counts;
    th_counters counters;
    json_t *by_worker;
    *report = (th_report){0};
    cr_assert_eq(th_worker_counts_create(3, &counts, &error), TH_OK, "%s", error.text);
    th_counted_frames_run(&(th_counted_frames){counts, NULL, work, NULL}, &counters, &by_worker);
    th_counted_frames_end(counts, report);
    cr_expect_eq(json_array_size(by_worker), 1);
    cr_expect_gt(counters.values[TH_COUNTER_CPU_NS], 0);
    json_decref(by_worker);
    th_worker_counts_destroy(counts);
    return counters;
}

/* "Instructions" and cache misses are page faults here, counted apart from those of the system, and "cycles" never
 * happen. */
Test(counted_frames, have_what_a_thread_did)
{
    th_report report;
    const th_counters c = count_work(&report);
    cr_expect_float_eq(c.values[TH_COUNTER_PAGE_FAULTS], PAGES, 3);
    cr_expect_float_eq(c.values[TH_COUNTER_CPU_NS], cpu_ns / (double)calls, 0.5e6);
    cr_expect_geq(c.values[TH_COUNTER_CONTEXT_SWITCHES], NAPS);
    cr_expect_lt(c.values[TH_COUNTER_CONTEXT_SWITCHES], 100);
    if (isnan(c.values[TH_COUNTER_CYCLES]))
        cr_skip("this system forbids even events of its own");
    cr_expect_eq(c.values[TH_COUNTER_CYCLES], 0);
    for (int i = TH_COUNTER_INSTRUCTIONS; i < TH_COUNTER_PROCESSOR_COUNT; i++)
        cr_expect_float_eq(c.values[i], PAGES, 3, "%s", th_counter_name((th_counter)i));
    cr_expect_str_eq(report.counters_missing, "");
}

Test(counted_frames, lack_only_the_counter_that_is_missing)
{
    th_report report;
    refused_counter = PERF_COUNT_HW_CPU_CYCLES; /* the first of its group */
    const th_counters c = count_work(&report);
    if (isnan(c.values[TH_COUNTER_INSTRUCTIONS]))
        cr_skip("this system forbids even events of its own");
    cr_expect(isnan(c.values[TH_COUNTER_CYCLES]));
    cr_expect_float_eq(c.values[TH_COUNTER_INSTRUCTIONS], PAGES, 3);
    cr_expect_eq(strstr(report.counters_missing, "Not counted: cycles (ENOENT): "), report.counters_missing, "%s",
                 report.counters_missing);
}

/* What counted a quarter of the time has counted a quarter of the events; what never did, nothing. */
Test(counted_frames, are_scaled_by_the_time_in_which_they_counted)
{
    th_report report;
    wanted_ns = 4000, ran_ns = 1000;
    const th_counters quarter = count_work(&report);
    if (isnan(quarter.values[TH_COUNTER_INSTRUCTIONS]))
        cr_skip("this system forbids even events of its own");
    cr_expect_float_eq(quarter.values[TH_COUNTER_INSTRUCTIONS], 4 * PAGES, 12);
    ran_ns = 0;
    const th_counters none = count_work(&report);
    cr_expect(isnan(none.values[TH_COUNTER_INSTRUCTIONS]));
    cr_expect_float_eq(none.values[TH_COUNTER_PAGE_FAULTS], PAGES, 3);
}

Test(counted_frames, that_are_refused_are_not_zero_and_say_why_and_what_to_do)
{
    static const struct {
        int code;
        const char *name, *advice;
    } cases[] = {
        {ENOENT, "(ENOENT)", "run on hardware"},  {EACCES, "(EACCES)", "perf_event_paranoid"},
        {EPERM, "(EPERM)", "seccomp profile"},    {ENOSYS, "(ENOSYS)", "CONFIG_PERF_EVENTS"},
        {EMFILE, "(EMFILE)", "ulimit -n"},        {EBUSY, "(EBUSY)", "another program"},
        {EINVAL, "(EINVAL)", "Invalid argument"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        th_report report;
        counters_refused = cases[i].code;
        const th_counters c = count_work(&report);
        const char *missing = report.counters_missing;
        for (int e = 0; e < TH_COUNTER_PROCESSOR_COUNT; e++)
            cr_expect(isnan(c.values[e]), "%s", th_counter_name((th_counter)e));
        cr_expect_float_eq(c.values[TH_COUNTER_PAGE_FAULTS], PAGES, 3);
        cr_expect(strstr(missing, cases[i].name) && strstr(missing, cases[i].advice), "%s", missing);
        cr_expect_eq(strstr(missing, "Not counted:"), missing);
        cr_expect_null(strstr(missing + 1, "Not counted:"), "%s", missing);
    }
}

/* ---- bench ---- */

/* The crowd is posed in one call, on one thread; where poses are shared, too. */
Test(counted_frames, of_bench_are_of_one_frame)
{
    th_report report = bench("^(pose/scalar/f32|crowd/100|play/random|share/30)$", true);
    cr_assert_eq(report.row_count, 4);
    for (uint32_t r = 0; r < report.row_count; r++)
        cr_expect_eq(expect_faults(&report.rows[r], PAGES), 1);
    th_report_fini(&report);
}

/* Chunks of a frame on several threads: of the 1,000 characters, the last batch has more than 16. */
Test(counted_frames, of_bench_are_those_of_all_threads)
{
    enum { BATCHES = 1000 / 16 };
    th_report report = bench("^throng-1/human_1k/all_threads$", true);
    cr_assert_eq(report.row_count, 1);
    const size_t workers = expect_faults(&report.rows[0], (double)PAGES * BATCHES / TH_FRAME_DEFAULT_GRAIN);
    cr_expect(workers >= 1 && workers <= report.rows[0].threads);
    th_report_fini(&report);
}

Test(counted_frames, of_jobs_and_ceilings_there_are_none)
{
    th_report report = bench("^(jobs/fork_join:2/serial|ceiling/read/l1)$", true);
    for (uint32_t r = 0; r < report.row_count; r++)
        cr_expect_null(json_object_get(report.rows[r].own, "counters"), "%s", report.rows[r].name);
    th_report_fini(&report);
}

/* ---- stress ---- */

Test(counted_frames, of_stress_are_of_one_frame_of_each_number_of_threads)
{
    const uint32_t threads[] = {1, 3};
    th_stress result = stress(threads, 2, true);
    for (uint32_t i = 0; i < 2; i++) {
        const size_t workers = expect_faults(&result.report.rows[i], PAGES * CHUNKS);
        cr_expect(workers >= 1 && workers <= threads[i]);
    }
    th_stress_fini(&result);
}

/* ---- both ---- */

Test(counted_frames, exist_only_if_asked_for)
{
    const uint32_t threads[] = {1};
    th_report report = bench("^crowd/100$", false);
    th_stress result = stress(threads, 1, false);
    const th_row *rows[] = {&report.rows[0], &result.report.rows[0]};
    for (int i = 0; i < 2; i++) {
        cr_expect_null(json_object_get(rows[i]->own, "counters"));
        cr_expect_null(json_object_get(rows[i]->once, "counters_by_worker"));
    }
    th_stress_fini(&result);
    th_report_fini(&report);
}

/* Which is no failure, and the system's counters are there all the same. */
Test(counted_frames, that_are_not_permitted_are_unknown)
{
    counters_refused = EPERM;
    th_report report = bench("^crowd/100$", true);
    th_stress result = stress((const uint32_t[]){1}, 1, true);
    const th_report *reports[] = {&report, &result.report};
    for (int i = 0; i < 2; i++) {
        const json_t *counters = json_object_get(reports[i]->rows[0].own, "counters");
        cr_expect_str_eq(reports[i]->rows[0].failure, "");
        cr_expect(isnan(number(counters, TH_COUNTER_CYCLES)) && number(counters, TH_COUNTER_CPU_NS) > 0);
        cr_expect(strstr(reports[i]->counters_missing, "(EPERM)"), "%s", reports[i]->counters_missing);
    }
    th_stress_fini(&result);
    th_report_fini(&report);
}

Test(counted_frames, of_a_dry_run_there_are_none)
{
    th_report report;
    const th_bench_desc desc = {
        .scene = scene(), .measure = {.is_dry_run = true}, .filter = "^crowd/100$", .counters = true};
    cr_assert_eq(th_bench_run(&desc, &report, &error), TH_OK, "%s", error.text);
    cr_expect_null(json_object_get(report.rows[0].own, "counters"));
    th_report_fini(&report);
}
