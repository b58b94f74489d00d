#include "processes.h"

#include "interrupt.h"
#include "progress.h"

#include <throng/bench/result_file.h>
#include <throng/core/subprocess.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAVED_PROCESSES = 12 }; /* when bench saves the result, to be compared */

uint32_t th_processes_plan(uint32_t wanted, bool is_saved, th_measure_desc *measure)
{
    const bool is_fixed = measure->repetitions > 0 || measure->is_dry_run;
    const uint32_t count = wanted > 0 ? wanted : is_saved && !is_fixed ? SAVED_PROCESSES : 1;
    if (count > 1 && measure->repetition_ns == 0)
        measure->repetition_ns = (uint64_t)(TH_PROCESSES_REPETITION_MS * 1e6);
    return count;
}

/* ---- one process ---- */

/* The arguments of the process. */
typedef struct call {
    const char *words[TH_RUN_MAX_WORDS + 8];
    uint32_t count;
    char repetition[48];
} call;

static void add(call *c, const char *word)
{
    c->words[c->count++] = word;
}

static void call_init(call *c, const th_run *own)
{
    *c = (call){.count = 0};
    add(c, "throng");
    add(c, "bench");
    add(c, "--json");
    add(c, "--processes=1");
    if (!th_run_has_option(own, "repetition-time") && !th_run_has_option(own, "frames")) {
        snprintf(c->repetition, sizeof c->repetition, "--repetition-time=%g", TH_PROCESSES_REPETITION_MS);
        add(c, c->repetition);
    }
    for (uint32_t i = 0; i < own->process_word_count; i++)
        add(c, own->process_words[i]);
}

/* Runs the process. Its output goes to anonymous files: a pipe would have to be read meanwhile. Returns its status, or
 * -1 with errno if it could not be run. */
static int run(const call *c, int out, int err)
{
    static const char *const variables[] = {"THRONG_PROGRESS=off", NULL};
    const th_subprocess_desc throng = {"/proc/self/exe", c->words, variables, {-1, out, err}};
    pid_t pid;
    errno = th_subprocess_start(&throng, &pid);
    return errno ? -1 : th_interrupt_wait(pid);
}

/* Reads a file's contents, zero-terminated; NULL when memory is out. Release it with free(). */
static char *text_of(int fd, size_t *size)
{
    const off_t end = lseek(fd, 0, SEEK_END);
    char *text = end < 0 ? NULL : calloc(1, (size_t)end + 1);
    *size = 0;
    while (text && *size < (size_t)end) {
        const ssize_t got = pread(fd, text + *size, (size_t)end - *size, (off_t)*size);
        if (got <= 0)
            break;
        *size += (size_t)got;
    }
    return text;
}

/* ---- its result ---- */

/* A process that found wrong palettes also writes a result, which reports them. */
static bool has_result(int status)
{
    return status >= 0 && WIFEXITED(status) &&
           (WEXITSTATUS(status) == TH_EXIT_GOOD || WEXITSTATUS(status) == TH_EXIT_CHECK);
}

/* said: its error output, or NULL; cut to its first line. */
static int complain_of(int status, char *said)
{
    if (said)
        said[strcspn(said, "\n")] = '\0';
    if (status < 0)
        th_complain("cannot run another process: %s", strerror(errno));
    else if (WIFSIGNALED(status))
        th_complain("a process of the measurement was ended by signal %d", WTERMSIG(status));
    else
        th_complain("a process of the measurement ended with exit code %d: %s", WEXITSTATUS(status), said ? said : "");
    return TH_EXIT_ENVIRONMENT;
}

static int add_result(const char *text, size_t size, th_report *report)
{
    th_error err;
    th_result_file *results;
    th_result result = th_result_file_parse(text, size, "the result of another process", &results, &err);
    if (result == TH_OK)
        result = th_result_file_merge_into(results, report, &err);
    th_result_file_free(results);
    return result == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}

static int run_one(const call *c, th_report *report)
{
    const int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
    size_t size = 0, said_size;
    const int status = out < 0 || err < 0 ? -1 : run(c, out, err);
    char *text = status < 0 ? NULL : text_of(out, &size), *said = status < 0 ? NULL : text_of(err, &said_size);
    int code;
    if (th_interrupt_is_requested())
        code = TH_EXIT_GOOD; /* was killed */
    else if (!has_result(status))
        code = complain_of(status, said);
    else if (text)
        code = add_result(text, size, report);
    else
        code = th_fail_with(&(th_error){TH_ERR_MEMORY, "no memory for the result of another process"});
    free(said);
    free(text);
    if (out >= 0)
        close(out);
    if (err >= 0)
        close(err);
    return code;
}

int th_processes_add(const th_run *own, uint32_t count, th_report *report)
{
    call c;
    int code = TH_EXIT_GOOD;
    const bool is_seen = th_progress_wanted();
    call_init(&c, own);
    for (uint32_t p = 1; p < count && code == TH_EXIT_GOOD && !report->is_partial; p++) {
        if (is_seen)
            th_progress_show("process %u of %u%s", p + 1, count, th_progress_left((double)p / count));
        code = run_one(&c, report);
        th_progress_end();
        report->is_partial = th_interrupt_is_requested();
    }
    return code;
}
