#include "processes.h"

#include "interrupt.h"
#include "progress.h"

#include <core/subprocess.h>

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

static bool is_passed_on(const th_run *own, const char *option)
{
    const size_t length = strlen(option);
    for (uint32_t i = 0; i < own->process_word_count; i++) {
        const char *word = own->process_words[i];
        if (strncmp(word, option, length) == 0 && (word[length] == '=' || !word[length]))
            return true;
    }
    return false;
}

static void call_init(call *c, const char *command, const th_run *own)
{
    *c = (call){.count = 0};
    add(c, "throng");
    add(c, command);
    add(c, "--json");
    add(c, "--processes=1");
    if (strcmp(command, "bench") == 0 && !is_passed_on(own, "--repetition-time") && !is_passed_on(own, "--frames")) {
        snprintf(c->repetition, sizeof c->repetition, "--repetition-time=%g", TH_PROCESSES_REPETITION_MS);
        add(c, c->repetition);
    }
    for (uint32_t i = 0; i < own->process_word_count; i++)
        add(c, own->process_words[i]);
}

/* Runs the process. Its output goes to anonymous files: a pipe would have to be read meanwhile. Returns its status, or
 * -1 with errno if it could not be run. */
static int run(const char *program, const call *c, int out, int err)
{
    static const char *const variables[] = {"THRONG_PROGRESS=off", NULL};
    const th_subprocess_desc throng = {program ? program : "/proc/self/exe", c->words, variables,
                                       .files = {-1, out, err}};
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
static th_result refuse(const char *program, int status, char *said, th_error *err)
{
    const th_result code = program ? TH_ERR_INPUT : TH_ERR_ENVIRONMENT;
    const char *name = program ? program : "a process of the measurement";
    if (said)
        said[strcspn(said, "\n")] = '\0';
    if (status < 0)
        return th_fail(err, code, "cannot run %s: %s", program ? program : "another process", strerror(errno));
    if (WIFSIGNALED(status))
        return th_fail(err, code, "%s was ended by signal %d", name, WTERMSIG(status));
    return th_fail(err, code, "%s ended with exit code %d: %s", name, WEXITSTATUS(status), said ? said : "");
}

static th_result read_result(const char *program, int status, int out, int said, th_result_file **results,
                             th_error *err)
{
    size_t size;
    char *text = status < 0 ? NULL : text_of(has_result(status) ? out : said, &size);
    th_result result;
    if (!has_result(status))
        result = refuse(program, status, text, err);
    else if (text)
        result = th_result_file_parse(text, size, program ? program : "the result of another process", results, err);
    else
        result = th_fail(err, TH_ERR_MEMORY, "no memory for the result of another process");
    free(text);
    return result;
}

th_result th_processes_measure(const char *program, const th_run *own, th_result_file **results, th_error *err)
{
    call c;
    *results = NULL;
    call_init(&c, program ? "bench" : own->command->name, own);
    const int out = memfd_create("out", MFD_CLOEXEC), said = memfd_create("err", MFD_CLOEXEC);
    const int status = out < 0 || said < 0 ? -1 : run(program, &c, out, said);
    const th_result result = read_result(program, status, out, said, results, err);
    if (out >= 0)
        close(out);
    if (said >= 0)
        close(said);
    return result;
}

static th_result add_process(const th_run *own, th_processes_merge *merge, void *result, th_error *err)
{
    th_result_file *other;
    th_result code = th_processes_measure(NULL, own, &other, err);
    if (code == TH_OK)
        code = merge(result, other, err);
    th_result_file_free(other);
    return code;
}

int th_processes_add(const th_run *own, uint32_t count, th_processes_merge *merge, void *result, th_report *report)
{
    th_error err;
    th_result code = TH_OK;
    const bool is_seen = th_progress_wanted();
    for (uint32_t p = 1; p < count && code == TH_OK && !report->is_partial; p++) {
        if (is_seen)
            th_progress_show("process %u of %u%s", p + 1, count, th_progress_left((double)p / count));
        code = add_process(own, merge, result, &err);
        th_progress_end();
        report->is_partial = th_interrupt_is_requested();
        if (report->is_partial)
            code = TH_OK; /* the process was killed */
    }
    return code == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}
