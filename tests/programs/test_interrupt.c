/* Ctrl-C and SIGTERM while something is measured. A signal is sent once progress shows that repetitions were timed. */
#include "fixture_program.h"

#include <criterion/criterion.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void begin(void)
{
    char here[256];
    make_folder();
    cr_assert(getcwd(here, sizeof here));
    setenv("XDG_DATA_HOME", here, 1);
    setenv("THRONG_PROGRESS", "on", 1);
    signal(SIGINT, SIG_DFL); /* which a shell that starts us in the background would have ignored */
}

TestSuite(interrupt, .init = begin, .fini = remove_folder);

/* A child whose standard error is read from `err_fd`, and whose output goes to .out. */
typedef struct child {
    pid_t pid;
    int err_fd;
} child;

static child start(const char *arguments)
{
    int ends[2];
    char command[512];
    snprintf(command, sizeof command, "exec '%s' %s", TEST_PROGRAM, arguments);
    cr_assert_eq(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(open(".out", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    close(ends[1]);
    return (child){pid, ends[0]};
}

/* Reads until it says the text; then `err` has what it said. */
static void wait_for(child c, const char *text)
{
    size_t used = 0;
    err[0] = '\0';
    while (!strstr(err, text)) {
        cr_assert_lt(used, sizeof err - 1, "no %s", text);
        const ssize_t got = read(c.err_fd, err + used, 1);
        cr_assert_eq(got, 1, "it ended without %s: %s", text, err);
        err[used += 1] = '\0';
    }
}

/* Its status; then `out` has what it printed, and `err` what it said since wait_for. */
static int finish(child c)
{
    int status;
    size_t used = 0;
    ssize_t got;
    while ((got = read(c.err_fd, err + used, sizeof err - 1 - used)) > 0)
        used += (size_t)got;
    err[used] = '\0';
    cr_assert_eq(waitpid(c.pid, &status, 0), c.pid);
    close(c.err_fd);
    slurp(".out", out, sizeof out);
    return status;
}

static void interrupt(const char *arguments, const char *when, int number, int code)
{
    const child c = start(arguments);
    wait_for(c, when);
    kill(c.pid, number);
    const int status = finish(c);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == code, "%s: status %x; %s", arguments, (unsigned)status, err);
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    cr_assert(json, "%s: %s in line %d", path, error.text, error.line);
    return json;
}

static void expect_partial(const char *path, bool partial)
{
    json_t *json = load(path);
    cr_expect_eq(json_is_true(json_object_get(json_object_get(json, "context"), "partial")), partial, "%s", path);
    json_decref(json);
}

/* Processes are in it whole, or not at all. */
static void expect_some_processes(const char *path, json_int_t repetitions)
{
    json_t *json = load(path);
    const json_int_t processes = json_integer_value(json_object_get(json_object_get(json, "context"), "processes"));
    const json_t *row = json_array_get(json_object_get(json, "benchmarks"), 0);
    cr_expect(processes >= 2 && processes < 64, "%d", (int)processes);
    cr_expect_eq(json_integer_value(json_object_get(row, "repetitions")), repetitions * processes);
    json_decref(json);
    expect_partial(path, true);
}

#define SMALL "--model synthetic:joints=4 --count 20 "
#define LONG  SMALL "--filter 'pose/scalar/f32|interp/step/scalar' --repetitions 100000 "
#define QUICK "bench " SMALL "--filter limit --frames 1 --repetitions 12 "

Test(interrupt, bench_keeps_what_was_measured_and_says_so)
{
    interrupt("bench " LONG "--out a.json --out a.html", "repetitions", SIGINT, 130);
    cr_expect(strstr(out, "  pose/scalar/f32 ") && strstr(out, "PARTIAL RESULT"), "%s", out);
    cr_expect_not(strstr(out, "  interp/step"), "%s", out);
    expect_partial("a.json", true);
    slurp("a.html", out, sizeof out);
    cr_expect(strstr(out, "<p>PARTIAL RESULT") && strstr(out, "</html>"));
    expect(5, "compare a.json a.json", "inconclusive");
    cr_expect(strstr(out, "a.json is partial"), "%s", out);
    interrupt("scale " SMALL "--threads 1,2 --repetitions 100000 --json", "repetitions", SIGTERM, 143);
    cr_assert_eq(rename(".out", "b.json"), 0);
    expect_partial("b.json", true);
}

Test(interrupt, processes_that_are_not_done_do_not_count)
{
    interrupt("bench " SMALL "--filter limit --repetitions 20 --frames 1 --processes 64 --out a.json",
              "process 3 of 64", SIGTERM, 143);
    expect_some_processes("a.json", 20);
    interrupt("scale " SMALL "--threads 1 --repetitions 2 --frames 1 --processes 64 --out b.json", "process 3 of 64",
              SIGINT, 130);
    expect_some_processes("b.json", 2);
}

static size_t points_of(const json_t *json)
{
    return json_array_size(json_object_get(json_object_get(json, "stress"), "points"));
}

/* Numbers of threads that are done, and what a search has found that is not. */
Test(interrupt, stress_keeps_what_was_done)
{
    interrupt("stress --threads 1-16 --count 1 --frames 299 --budget-ms 4 --out a.json --out a.html",
              "3 threads, confirming", SIGINT, 130);
    expect_partial("a.json", true);
    json_t *json = load("a.json");
    cr_expect_eq(points_of(json), 2);
    cr_expect_not(json_object_get(json_object_get(json, "stress"), "interrupted"));
    json_decref(json);
    interrupt("stress --threads 1,2 --frames 100000 --budget-ms 2 --out b.json --out b.html", "searching", SIGTERM,
              143);
    expect_partial("b.json", true);
    json = load("b.json");
    const json_t *search = json_object_get(json_object_get(json, "stress"), "interrupted");
    cr_expect_eq(points_of(json), 0);
    cr_expect_eq(json_integer_value(json_object_get(search, "threads")), 1);
    cr_expect_gt(json_array_size(json_object_get(search, "probes")), 0);
    json_decref(json);
    cr_expect(strstr(out, "The search on 1 thread was interrupted"), "%s", out);
    slurp("b.html", out, sizeof out);
    cr_expect(strstr(out, "<p>PARTIAL RESULT") && strstr(out, "</html>"));
    interrupt("stress --threads 1 --count 1 --frames 100000 --budget-ms 4", "confirming", SIGINT, 130);
    cr_expect(out[0] == '\0' && strstr(err, "the measurement was interrupted"), "%s%s", out, err);
}

Test(interrupt, partial_result_does_not_replace_a_whole_one)
{
    static const char partial[] = "bench " LONG "--processes 1 --save base", path[] = "throng/baselines/base.json";
    interrupt(partial, "repetitions", SIGINT, 130);
    expect_partial(path, true);
    interrupt(partial, "repetitions", SIGINT, 130);
    cr_expect_not(strstr(err, "stays what it was"), "%s", err);
    expect(0, QUICK "--save base", "");
    expect_partial(path, false);
    interrupt(partial, "repetitions", SIGINT, 130);
    cr_expect(strstr(err, "the baseline base stays what it was"), "%s", err);
    expect_partial(path, false);
}

/* It gets both signals at once, in a repetition that takes minutes. */
Test(interrupt, second_signal_ends_at_once_and_leaves_nothing)
{
    const child c = start("bench --filter pose/scalar/f32 --count 1000 --frames 1000000 --repetitions 2 --out a.json");
    char command[128];
    snprintf(command, sizeof command,
             "until grep -q 'SigCgt:.*[4567cdef]..[2367abef]$' /proc/%d/status; do sleep 0.01; done", (int)c.pid);
    cr_assert_eq(system(command), 0); /* the digits: handlers of SIGTERM (4000) and of SIGINT (2) */
    kill(c.pid, SIGSTOP);
    kill(c.pid, SIGINT);
    kill(c.pid, SIGTERM);
    kill(c.pid, SIGCONT);
    const int status = finish(c);
    cr_expect(WIFSIGNALED(status), "status %x", (unsigned)status);
    cr_expect_eq(system("test \"$(ls)\" = ''"), 0);
}
