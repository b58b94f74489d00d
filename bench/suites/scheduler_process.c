#include "scheduler_process.h"

#include "registry.h"

#include <core/subprocess.h>

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- messages: both ends are the same program ---- */

typedef enum task { CREATE, BEFORE, RUN, AFTER } task;

typedef struct request {
    task task;
    /* CREATE: */
    char entry[64];
    uint32_t threads;
    double steps_per_us;
    /* RUN: */
    uint64_t first;
    uint32_t iterations;
} request;

typedef struct answer {
    th_result result; /* of CREATE */
    th_error err;
    char failure[sizeof((th_row *)0)->failure];
    uint32_t threads;
    th_lap lap;
    th_scheduler_times times;
} answer;

/* ---- the process ---- */

typedef struct server {
    th_entry entries[TH_BENCH_MAX_ENTRIES];
    th_entry *entry; /* NULL before CREATE */
    th_row row;
} server;

static th_result create_entry(server *s, const request *asked, th_error *err)
{
    const th_bench_desc desc = {.threads = asked->threads};
    const th_fixture fixture = {.steps_per_us = asked->steps_per_us, .is_scheduler_process = true};
    const uint32_t count = th_jobs_entries(s->entries);
    for (uint32_t i = 0; i < count && !s->entry; i++)
        if (strncmp(s->entries[i].name, asked->entry, sizeof asked->entry) == 0)
            s->entry = &s->entries[i];
    if (!s->entry)
        return th_fail(err, TH_ERR_INPUT, "there is no entry %.63s", asked->entry);
    memcpy(s->row.name, s->entry->name, sizeof s->row.name);
    return s->entry->create(s->entry, &desc, &fixture, &s->row, err);
}

int th_scheduler_process_main(void)
{
    request asked;
    server *s = calloc(1, sizeof *s);
    while (s && recv(STDIN_FILENO, &asked, sizeof asked, 0) == sizeof asked && (s->entry || asked.task == CREATE)) {
        answer told = {.result = TH_OK};
        if (asked.task == CREATE)
            told.result = create_entry(s, &asked, &told.err);
        else if (asked.task == BEFORE)
            s->entry->before(s->entry->subject);
        else if (asked.task == RUN)
            told.lap = th_measure_frames(&(th_measure_desc){.lap = s->entry->lap},
                                         &(th_subject){.run = s->entry->run, .ctx = s->entry->subject}, asked.first,
                                         asked.iterations);
        else
            s->entry->after(s->entry->subject);
        if (asked.task == AFTER)
            told.times = th_scheduler_harness_times(s->entry->subject);
        told.threads = s->row.threads;
        memcpy(told.failure, s->row.failure, sizeof told.failure);
        send(STDIN_FILENO, &told, sizeof told, MSG_NOSIGNAL);
    }
    if (s && s->entry && s->entry->subject)
        s->entry->destroy(s->entry->subject);
    free(s);
    return s ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- as the bench sees it ---- */

struct th_scheduler_process {
    pid_t pid;  /* 0: it has ended */
    int socket; /* a message is a packet */
    bool is_turn;
    th_row *row;
    answer last;
};

static void end(th_scheduler_process *p)
{
    if (p->pid <= 0)
        return;
    const int status = th_subprocess_kill(p->pid);
    const bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL;
    close(p->socket);
    p->pid = 0;
    if (was_killed && !p->row->failure[0])
        th_row_fail(p->row, "its process was ended by signal %d", WTERMSIG(status));
}

/* A process that is not in its turn is woken for this request alone. */
static bool ask(th_scheduler_process *p, const request *asked)
{
    ssize_t got = -1;
    if (p->row->failure[0])
        return false;
    if (!p->is_turn && p->pid > 0)
        kill(p->pid, SIGCONT);
    if (p->pid > 0 && send(p->socket, asked, sizeof *asked, MSG_NOSIGNAL) == sizeof *asked)
        do
            got = recv(p->socket, &p->last, sizeof p->last, 0);
        while (got < 0 && errno == EINTR);
    if (got != sizeof p->last) {
        end(p);
        if (!p->row->failure[0])
            th_row_fail(p->row, "its process does not answer");
        return false;
    }
    if (!p->is_turn)
        kill(p->pid, SIGSTOP);
    memcpy(p->row->failure, p->last.failure, sizeof p->row->failure);
    p->row->threads = p->last.threads;
    return true;
}

void th_scheduler_process_before(void *process)
{
    th_scheduler_process *p = process;
    if (p->pid > 0)
        kill(p->pid, SIGCONT);
    p->is_turn = true;
    ask(p, &(request){.task = BEFORE});
}

th_lap th_scheduler_process_run(void *process, uint64_t first, uint32_t iterations)
{
    th_scheduler_process *p = process;
    const bool is_answered = ask(p, &(request){.task = RUN, .first = first, .iterations = iterations});
    return is_answered ? p->last.lap : (th_lap){0};
}

th_lap th_scheduler_process_lap(void *process, uint64_t frame)
{
    return th_scheduler_process_run(process, frame, 1);
}

void th_scheduler_process_after(void *process)
{
    th_scheduler_process *p = process;
    p->is_turn = false;
    ask(p, &(request){.task = AFTER});
}

th_scheduler_times th_scheduler_process_times(const th_scheduler_process *process)
{
    return process->last.times;
}

th_result th_scheduler_process_create(const th_scheduler_process_desc *desc, th_scheduler_process **out, th_error *err)
{
    assert(desc && desc->program && desc->program[0] && desc->entry && desc->row && out);
    th_scheduler_process *p = *out = calloc(1, sizeof *p);
    if (!p)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", desc->entry);
    p->row = desc->row;

    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot create a socket: %s", strerror(errno));
    const th_subprocess_desc child = {
        .program = desc->program[0],
        .arguments = desc->program,
        .variables = desc->variables,
        .files = {ends[1], STDERR_FILENO, STDERR_FILENO},
    };
    const int error = th_subprocess_start(&child, &p->pid);
    close(ends[1]);
    p->socket = ends[0];
    if (error) {
        close(ends[0]);
        p->pid = 0;
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start %s: %s", desc->program[0], strerror(error));
    }

    request asked = {.task = CREATE, .threads = desc->threads, .steps_per_us = desc->steps_per_us};
    assert(strlen(desc->entry) < sizeof asked.entry);
    memcpy(asked.entry, desc->entry, strlen(desc->entry) + 1);
    if (ask(p, &asked) && p->last.result != TH_OK)
        return th_fail(err, p->last.result, "%s", p->last.err.text);
    return TH_OK;
}

/* Killed rather than asked: it has nothing to keep. */
void th_scheduler_process_destroy(void *process)
{
    th_scheduler_process *p = process;
    end(p);
    free(p);
}
