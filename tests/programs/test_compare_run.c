/* compare --run, from outside, with programs that only print results. */
#include "fixture_program.h"

#include <criterion/criterion.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program that notes each call, and what it was called with, and runs these lines. */
static void make_program(const char *name, const char *lines)
{
    FILE *file = fopen(name, "w");
    cr_assert(file);
    fprintf(file, "#!/bin/sh\necho \"$0\" >>calls\necho \"$@\" >words\n%s\n", lines);
    fclose(file);
    char command[128];
    snprintf(command, sizeof command, "chmod +x %s", name);
    cr_assert_eq(system(command), 0);
}

/* Prints a result of one repetition, a little longer in every process; `ns` is a shell expression. */
static void make_bench(const char *name, const char *ns)
{
    char lines[1024];
    snprintf(lines, sizeof lines,
             "n=$(grep -c $0 calls)\n"
             "echo '{\"context\": {\"commit\": \"c\"}, \"benchmarks\": [{\"name\": \"e\", \"time_unit\": \"ns\", "
             "\"core_clock_ns\": 1,'\n"
             "echo \" \\\"real_time\\\": $((%s)), \\\"cpu_time\\\": $((%s))}]}\"",
             ns, ns);
    make_program(name, lines);
}

static void begin(void)
{
    make_folder();
    make_bench("old", "100000 + n * 13 % 50 * 10");
    make_bench("same", "100000 + n * 17 % 50 * 10");
    make_bench("slow", "105000 + n * 17 % 50 * 10");
    make_bench("wild", "62000 + n * 17 % 50 * 2000");
}

TestSuite(compare_run, .init = begin, .fini = remove_folder);

static uint32_t calls_of(const char *program)
{
    static char text[1 << 14];
    uint32_t count = 0;
    slurp("calls", text, sizeof text);
    for (const char *at = text; (at = strstr(at, program)) != NULL; at++)
        count++;
    return count;
}

Test(compare_run, measures_twelve_processes_each_in_turns)
{
    static char text[1 << 14];
    expect(0, "compare --run ./old ./same", "");
    cr_expect(strstr(out, "0 slower, 0 faster, 1 equivalent, 0 inconclusive"), "%s", out);
    slurp("calls", text, sizeof text);
    cr_expect_eq(strncmp(text, "./old\n./same\n./same\n./old\n./old\n./same\n", 39), 0, "%s", text);
    cr_expect_eq(calls_of("./old"), 12);
    cr_expect_eq(calls_of("./same"), 12);
    expect(1, "compare --run ./old ./slow", "e: slower: core");
    expect(0, "compare --run ./slow ./old", "");
    cr_expect(strstr(out, "0 slower, 1 faster"), "%s", out);
}

Test(compare_run, goes_on_until_it_is_decided_or_time_is_over)
{
    expect(5, "compare --run ./old ./wild", "e: inconclusive: core sees ");
    cr_expect_eq(calls_of("./old"), 48);
    expect(0, "compare --run ./old ./wild --fail-on slower", "");
    cr_assert_eq(unlink("calls"), 0);
    expect(5, "compare --run ./old ./same --max-time 0.001", "e: inconclusive: 1 process\n");
    cr_expect_eq(calls_of("./old"), 1);
}

Test(compare_run, hands_words_on_and_writes_every_form)
{
    static char text[1 << 14];
    expect(0, "compare --json --run ./old ./same --filter 'e' --out c.csv --out c.html -- --count 20 --frames 1", "");
    slurp("words", text, sizeof text);
    cr_expect_str_eq(text, "bench --json --processes=1 --filter e --count 20 --frames 1\n");
    json_t *json = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
    cr_assert(json, "%s", out);
    cr_expect(json_is_true(json_object_get(json, "interleaved")));
    cr_expect_eq(json_integer_value(json_object_get(json, "looks")), 3);
    json_decref(json);
    slurp("c.csv", text, sizeof text);
    cr_expect(strstr(text, "\ne,equivalent,"), "%s", text);
    cr_expect_eq(access("c.html", R_OK), 0);
    expect(0, "compare --run ./old ./same", "");
    slurp("words", text, sizeof text);
    cr_expect_str_eq(text, "bench --json --processes=1 --repetition-time=1\n");
}

Test(compare_run, programs_that_do_not_measure_are_told)
{
    make_program("fails", "echo 'throng: unknown option --count' >&2; echo more >&2; exit 2");
    make_program("killed", "kill -KILL $$");
    make_program("prose", "echo hello");
    make_bench("later", "n > 3 ? error : 100000");
    expect(3, "compare --run ./old ./fails", "./fails ended with exit code 2: throng: unknown option --count\n");
    expect(3, "compare --run ./old ./killed", "./killed was ended by signal 9");
    expect(3, "compare --run ./old ./prose", "./prose: no JSON: line 1");
    expect(2, "compare --run ./old ./same --out ./same.csv --out same.csv", "--out can be given once");
    cr_expect_eq(system("ls | grep -q csv"), 256, "nothing is left");
}

Test(compare_run, programs_that_cannot_be_compared_are_told_after_one_process)
{
    make_program("other",
                 "echo '{\"context\": {\"commit\": \"c\", \"compiler\": \"another\"}, \"benchmarks\": [{\"name\": "
                 "\"e\", \"time_unit\": \"ns\", \"real_time\": 1, \"cpu_time\": 1}]}'");
    expect(3, "compare --run ./old ./other", "not measured under the same conditions: compiler is ");
    cr_expect_eq(calls_of("./other"), 1);
}

/* As Ctrl-C does: the signal goes to the caller only, and the programs end with it. A shell would start it with the
 * signal ignored. */
Test(compare_run, an_interrupt_ends_the_programs_as_well)
{
    make_program("sleeps", "echo $$ >pid; exec sleep 100");
    const pid_t caller = fork();
    if (caller == 0) {
        signal(SIGINT, SIG_DFL);
        execl(TEST_PROGRAM, "throng", "compare", "--run", "./sleeps", "./old", NULL);
        _exit(127);
    }
    cr_assert_eq(system("for i in $(seq 1200); do test -s pid && exit 0; sleep 0.05; done; exit 1"), 0);
    int status;
    kill(caller, SIGINT);
    cr_assert_eq(waitpid(caller, &status, 0), caller);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT, "%d", status);
    cr_expect_eq(system("for i in $(seq 1200); do kill -0 $(cat pid) 2>/dev/null || exit 0; sleep 0.05; done; exit 1"),
                 0, "it still runs");
    cr_expect_eq(system("test \"$(ls | sort | tr '\\n' ' ')\" = 'calls old pid same sleeps slow wild words '"), 0,
                 "nothing is left");
}
