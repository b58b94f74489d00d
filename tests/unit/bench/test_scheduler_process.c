/* Inside, since the child's answers are made up. Schedulers of jobs/ entries in processes of their own, started from
 * the real program. */
#include "bench/suites/scheduler_process.h"

#include <bench/bench.h>

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static th_error err;
static th_row row = {.name = "jobs/x"};
static const char *const program[] = {TEST_PROGRAM, TH_SCHEDULER_COMMAND, NULL};

static th_scheduler_process *make_process(const char *entry)
{
    th_scheduler_process *process;
    const th_scheduler_process_desc desc = {
        .program = program, .entry = entry, .threads = 2, .steps_per_us = 100, .row = &row};
    cr_assert_eq(th_scheduler_process_create(&desc, &process, &err), TH_OK, "%s", err.text);
    cr_assert_str_eq(row.failure, "");
    return process;
}

static int child_of_this(void)
{
    int pid = 0;
    FILE *file = fopen("/proc/thread-self/children", "r");
    cr_assert(file && fscanf(file, "%d", &pid) == 1);
    fclose(file);
    return pid;
}

/* The letter of proc(5): R, S, T (stopped), ... A signal arrives a little later. */
static bool becomes(int pid, bool is_stopped)
{
    char path[64], state = '\0';
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    for (int i = 0; i < 10000; i++) {
        FILE *file = fopen(path, "r");
        cr_assert(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
        fclose(file);
        if ((state == 'T') == is_stopped)
            return true;
        usleep(1000);
    }
    return false;
}

Test(scheduler_process, runs_only_in_its_turn)
{
    th_scheduler_process *process = make_process("jobs/stages:64/work-stealing");
    const int pid = child_of_this();
    cr_expect_eq(row.threads, 2);
    cr_expect(becomes(pid, true));
    th_scheduler_process_before(process);
    cr_expect(becomes(pid, false));
    const th_lap lap = th_scheduler_process_run(process, 0, 3);
    cr_expect_gt(lap.real_ns, 0);
    cr_expect(becomes(pid, false));
    th_scheduler_process_after(process);
    cr_expect(becomes(pid, true));
    cr_expect_gt(th_scheduler_process_run(process, 0, 1).real_ns, 0); /* a turn of its own */
    cr_expect(becomes(pid, true));
    cr_expect_str_eq(row.failure, "");
    th_scheduler_process_destroy(process);
}

Test(scheduler_process, tells_how_idle_it_was)
{
    th_scheduler_process *process = make_process("jobs/wake:cold/work-stealing");
    th_scheduler_process_before(process);
    for (uint64_t i = 0; i < 4; i++)
        th_scheduler_process_lap(process, i);
    th_scheduler_process_after(process);
    const th_scheduler_times times = th_scheduler_process_times(process);
    cr_expect_geq(times.idle_ns, 4 * 2000000);
    cr_expect_leq(times.idle_cpu_ns, 2 * times.idle_ns);
    th_scheduler_process_destroy(process);
}

Test(scheduler_process, that_dies_fails_its_row_and_no_more)
{
    th_scheduler_process *process = make_process("jobs/stages:64/work-stealing");
    th_scheduler_process_before(process);
    kill(child_of_this(), SIGKILL);
    cr_expect_eq(th_scheduler_process_run(process, 0, 1).real_ns, 0);
    cr_expect_str_eq(row.failure, "its process does not answer");
    th_scheduler_process_after(process);
    cr_expect_eq(th_scheduler_process_run(process, 0, 1).real_ns, 0);
    th_scheduler_process_destroy(process);
}

Test(scheduler_process, that_crashes_says_by_which_signal)
{
    th_scheduler_process *process = make_process("jobs/stages:64/work-stealing");
    th_scheduler_process_before(process);
    kill(child_of_this(), SIGABRT); /* sanitizers handle others */
    th_scheduler_process_run(process, 0, 1);
    th_scheduler_process_after(process);
    cr_expect_str_eq(row.failure, "its process was ended by signal 6");
    th_scheduler_process_destroy(process);
}

Test(scheduler_process, errors_of_creating_arrive)
{
    th_scheduler_process *process;
    th_scheduler_process_desc desc = {
        .program = program, .entry = "jobs/nothing", .threads = 2, .steps_per_us = 100, .row = &row};
    cr_expect_eq(th_scheduler_process_create(&desc, &process, &err), TH_ERR_INPUT);
    cr_expect_str_eq(err.text, "there is no entry jobs/nothing");
    th_scheduler_process_destroy(process);
    desc.program = (const char *const[]){"/nowhere/throng", NULL};
    cr_expect_eq(th_scheduler_process_create(&desc, &process, &err), TH_ERR_ENVIRONMENT);
    cr_expect_str_eq(err.text, "cannot start /nowhere/throng: No such file or directory");
    th_scheduler_process_destroy(process);
    desc.program = (const char *const[]){"/bin/true", NULL};
    cr_expect_eq(th_scheduler_process_create(&desc, &process, &err), TH_OK);
    cr_expect_str_eq(row.failure, "its process does not answer");
    th_scheduler_process_destroy(process);
}

Test(scheduler_process, each_scheduler_has_one)
{
    th_report report;
    const th_bench_desc desc = {
        .threads = 2,
        .scheduler_program = program,
        .measure = {.repetitions = 2, .iterations = 2},
        .filter = "^jobs/(stages|wake:cold|chunk)",
    };
    cr_assert_eq(th_bench_run(&desc, &report, &err), TH_OK, "%s", err.text);
    cr_expect_gt(report.row_count, 3);
    for (uint32_t i = 0; i < report.row_count; i++) {
        const th_row *r = &report.rows[i];
        cr_expect_str_eq(r->failure, "", "%s: %s", r->name, r->failure);
        cr_expect_eq(r->real_ns.count, 2);
        cr_expect_gt(r->real_ns.values[1], 0);
        if (strstr(r->name, "wake"))
            cr_expect_geq(json_real_value(json_object_get(r->own, "idle_cores")), 0, "%s", r->name);
    }
    th_report_fini(&report);
}

/* How many processes of a run have the policy, while all others have that of the environment. libgomp and LLVM's
 * runtime print the settings that they read at their start. */
static int count_policy(const char *policy, const char *others)
{
    char command[512], line[256], wanted[64];
    int count = 0;
    snprintf(wanted, sizeof wanted, "'%s'", policy);
    snprintf(command, sizeof command,
             "OMP_DISPLAY_ENV=true OMP_WAIT_POLICY=%s '%s' bench --dry-run --filter 'fork_join:2/openmp-dynamic' 2>&1",
             others, TEST_PROGRAM);
    FILE *pipe = popen(command, "r");
    while (fgets(line, sizeof line, pipe))
        count += strstr(line, "OMP_WAIT_POLICY") && strcasestr(line, wanted);
    cr_expect_eq(pclose(pipe), 0);
    return count;
}

Test(scheduler_process, policies_reach_the_runtime)
{
    if (!th_scheduler_available(TH_SCHEDULER_OPENMP_DYNAMIC))
        cr_skip_test("the build has no OpenMP");
    cr_expect_eq(count_policy("active", "passive"), 1);
    cr_expect_eq(count_policy("passive", "active"), 1);
}
