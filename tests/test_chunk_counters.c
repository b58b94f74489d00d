/* Counters of chunks against what was done in them, and against other clocks. */
#include "bench/measure/chunk_counters.h"
#include "fixture_counters.h"
#include "fixture_folder.h"

#include <throng/anim/model.h>
#include <throng/core/file.h>

#include <criterion/criterion.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static th_error error;
static th_chunk_counters *counters;
static th_frame_observer observer;

/* ---- counters that take turns ---- */

/* The times in what a group reads, if its counters take turns. */
static uint64_t wanted, ran;
static bool takes_turns;

ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
    const ssize_t got = __real_read(fd, buffer, size);
    uint64_t *words = buffer;
    if (takes_turns && got >= (ssize_t)(3 * sizeof *words))
        words[1] = wanted, words[2] = ran;
    return got;
}

static void begin(void)
{
    observer.begin(observer.ctx, 0, TH_FRAME_POSE);
}

static void end(th_frame_stage stage)
{
    observer.end(observer.ctx, 0, stage);
}

static void make_counters(void)
{
    make_folder();
    cr_assert_eq(th_chunk_counters_create(3, &counters, &error), TH_OK, "%s", error.text);
    observer = th_chunk_counters_observer(counters);
}

static void free_counters(void)
{
    th_chunk_counters_destroy(counters);
    remove_folder();
}

TestSuite(chunk_counters, .init = make_counters, .fini = free_counters);

/* ---- what is done ---- */

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void work_ms(double ms)
{
    const double until = cpu_ns() + ms * 1e6;
    while (cpu_ns() < until)
        ;
}

static double get(uint32_t worker, th_frame_stage stage, th_counter counter)
{
    return th_chunk_counters_get(counters, worker, stage).values[counter];
}

static double all(th_counter counter)
{
    return get(TH_NO_INDEX, TH_FRAME_STAGE_COUNT, counter);
}

/* ---- the system's counters ---- */

/* Page faults are counted exactly, but for the few of the stack and of libraries. */
Test(chunk_counters, have_what_is_done_in_chunks_and_nothing_between_them)
{
    begin();
    end(TH_FRAME_POSE);
    th_chunk_counters_reset(counters);
    const double before = cpu_ns();
    begin();
    touch_pages(300);
    work_ms(20);
    end(TH_FRAME_POSE);
    const double in_chunk = cpu_ns() - before;
    touch_pages(5000);
    work_ms(50);
    begin();
    touch_pages(40);
    end(TH_FRAME_RESOLVE);
    cr_expect_float_eq(get(0, TH_FRAME_POSE, TH_COUNTER_PAGE_FAULTS), 300, 5);
    cr_expect_float_eq(get(0, TH_FRAME_RESOLVE, TH_COUNTER_PAGE_FAULTS), 40, 5);
    cr_expect_eq(get(0, TH_FRAME_SAMPLE, TH_COUNTER_PAGE_FAULTS), 0);
    cr_expect_eq(get(1, TH_FRAME_POSE, TH_COUNTER_CPU_NS), 0);
    cr_expect_float_eq(get(0, TH_FRAME_POSE, TH_COUNTER_CPU_NS), in_chunk, 1e6);
    cr_expect_eq(all(TH_COUNTER_PAGE_FAULTS),
                 get(0, TH_FRAME_POSE, TH_COUNTER_PAGE_FAULTS) + get(0, TH_FRAME_RESOLVE, TH_COUNTER_PAGE_FAULTS));
    th_chunk_counters_reset(counters);
    cr_expect_eq(all(TH_COUNTER_CPU_NS), 0);
}

Test(chunk_counters, count_how_often_a_thread_gave_its_cpu_away)
{
    begin();
    for (int i = 0; i < 25; i++)
        nanosleep(&(struct timespec){0, 100000}, NULL);
    end(TH_FRAME_POSE);
    cr_expect_geq(all(TH_COUNTER_CONTEXT_SWITCHES), 25);
    cr_expect_lt(all(TH_COUNTER_CONTEXT_SWITCHES), 100);
}

/* ---- the processor's counters ---- */

/* "Instructions" and cache misses are page faults here, counted apart from those above, and "cycles" never happen. */
Test(chunk_counters, of_the_processor_are_read_in_their_groups)
{
    begin();
    touch_pages(300);
    end(TH_FRAME_POSE);
    if (isnan(all(TH_COUNTER_CYCLES)))
        cr_skip("this system forbids even events of its own");
    cr_expect_eq(all(TH_COUNTER_CYCLES), 0);
    cr_expect_float_eq(all(TH_COUNTER_INSTRUCTIONS), 300, 5);
    cr_expect_float_eq(all(TH_COUNTER_L1_MISSES), 300, 5);
    cr_expect_float_eq(all(TH_COUNTER_LLC_MISSES), 300, 5);
    char missing[512];
    th_chunk_counters_describe_missing(counters, missing, sizeof missing);
    cr_expect_str_eq(missing, "");
}

Test(chunk_counters, that_are_missing_leave_the_others_of_their_group)
{
    refused_counter = PERF_COUNT_HW_CPU_CYCLES; /* the first of the group */
    begin();
    touch_pages(200);
    end(TH_FRAME_POSE);
    if (isnan(all(TH_COUNTER_INSTRUCTIONS)))
        cr_skip("this system forbids even events of its own");
    cr_expect(isnan(all(TH_COUNTER_CYCLES)));
    cr_expect_float_eq(all(TH_COUNTER_INSTRUCTIONS), 200, 5);
    char missing[512];
    th_chunk_counters_describe_missing(counters, missing, sizeof missing);
    cr_expect_not_null(strstr(missing, "Not counted: cycles (ENOENT): "), "%s", missing);
}

/* A group that counted a quarter of the time has counted a quarter of the events; one that never did, nothing. */
Test(chunk_counters, that_take_turns_are_scaled_by_their_time)
{
    takes_turns = true;
    begin();
    touch_pages(200);
    wanted = 4000, ran = 1000;
    end(TH_FRAME_POSE);
    if (isnan(all(TH_COUNTER_INSTRUCTIONS)))
        cr_skip("this system forbids even events of its own");
    cr_expect_float_eq(all(TH_COUNTER_INSTRUCTIONS), 800, 20);
    th_chunk_counters_reset(counters);
    begin();
    wanted = 8000;
    end(TH_FRAME_POSE);
    cr_expect(isnan(all(TH_COUNTER_INSTRUCTIONS)));
    cr_expect_not(isnan(all(TH_COUNTER_CPU_NS)));
}

Test(chunk_counters, that_are_refused_are_not_zero_and_say_why_and_what_to_do)
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
        char missing[512];
        free_counters();
        make_counters();
        counters_refused = cases[i].code;
        begin();
        touch_pages(20);
        end(TH_FRAME_POSE);
        for (int c = 0; c < TH_COUNTER_PROCESSOR_COUNT; c++)
            cr_expect(isnan(all((th_counter)c)), "%s", th_counter_name((th_counter)c));
        cr_expect_geq(all(TH_COUNTER_PAGE_FAULTS), 20);
        th_chunk_counters_describe_missing(counters, missing, sizeof missing);
        cr_expect_not_null(strstr(missing, cases[i].name), "%s", missing);
        cr_expect_not_null(strstr(missing, cases[i].advice), "%s", missing);
        cr_expect_eq(strstr(missing, "Not counted:"), missing);
        cr_expect_null(strstr(missing + 1, "Not counted:"), "%s", missing);
    }
}
