#include "external_program.h"

#include <core/clock.h>
#include <core/subprocess.h>
#include <core/text_format.h>

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINE = 1 << 16 };

#define PARTING_NS UINT64_C(1000000000)

struct th_external_program {
    const char *command;
    uint64_t timeout_ns;
    pid_t pid;        /* 0: it has ended */
    uint64_t cpu_ns;  /* when it was last looked at */
    int socket;       /* its input and output: only a socket can be written without SIGPIPE */
    th_error failure; /* why it was killed */
    size_t length;
    char line[MAX_LINE];
};

/* ---- its end ---- */

uint64_t th_external_program_cpu_ns(th_external_program *program)
{
    clockid_t clock;
    struct timespec t;
    if (program->pid > 0 && clock_getcpuclockid(program->pid, &clock) == 0 && clock_gettime(clock, &t) == 0)
        program->cpu_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    return program->cpu_ns;
}

/* The whole process group, since a shell may have started more. Returns the status. */
static int end(th_external_program *p)
{
    th_external_program_cpu_ns(p);
    kill(-p->pid, SIGKILL);
    const int status = th_subprocess_kill(p->pid);
    close(p->socket);
    p->pid = 0;
    return status;
}

__attribute__((format(printf, 2, 3))) static th_result fail(th_external_program *p, const char *format, ...)
{
    char reason[256], command[128];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (p->pid > 0)
        end(p);
    return th_fail(&p->failure, TH_ERR_INPUT, "the external program \"%s\" %s",
                   th_ellipsize(p->command, 60, command, sizeof command), reason);
}

/* The kernel closes the files of a process after it has noted its exit code, so a kill does not change that. */
static th_result fail_ended(th_external_program *p)
{
    const int status = end(p), code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return fail(p, "closed its output or was killed");
    if (WIFSIGNALED(status))
        return fail(p, "was ended by signal %d", WTERMSIG(status));
    return fail(p, "ended with exit code %d%s", code,
                code == 127   ? ": it was not found"
                : code == 126 ? ": it cannot be executed"
                              : "");
}

/* ---- lines ---- */

typedef enum outcome { RECEIVED, ENDED, TIMED_OUT } outcome;

/* Receives what is there, at least a byte. */
static outcome receive(th_external_program *p, uint64_t deadline_ns)
{
    for (;;) {
        const uint64_t now_ns = th_clock_ns();
        const int left_ms = now_ns < deadline_ns ? (int)((deadline_ns - now_ns) / 1000000 + 1) : 0;
        struct pollfd polled = {.fd = p->socket, .events = POLLIN};
        const int ready = poll(&polled, 1, left_ms);
        if (ready == 0 && left_ms == 0)
            return TIMED_OUT;
        if (ready <= 0)
            continue;
        const ssize_t got = recv(p->socket, p->line + p->length, MAX_LINE - p->length, 0);
        if (got > 0)
            p->length += (size_t)got;
        if (got >= 0 || errno != EINTR)
            return got > 0 ? RECEIVED : ENDED;
    }
}

/* The line is in p->line, without its end. */
static th_result read_line(th_external_program *p)
{
    const uint64_t deadline_ns = th_clock_ns() + p->timeout_ns;
    const char *newline = NULL;
    for (p->length = 0; !newline; newline = memchr(p->line, '\n', p->length)) {
        if (p->length == MAX_LINE)
            return fail(p, "printed a line of more than %d bytes", MAX_LINE - 1);
        const outcome more = receive(p, deadline_ns);
        if (more == ENDED)
            return fail_ended(p);
        if (more == TIMED_OUT)
            return fail(p, "did not answer in %g s", (double)p->timeout_ns / 1e9);
    }
    if (newline != p->line + p->length - 1)
        return fail(p, "printed more than a line");
    p->line[--p->length] = '\0';
    return TH_OK;
}

/* Nothing may be left to read: it would pass for the answer. */
static th_result write_line(th_external_program *p, const json_t *request)
{
    char *text = json_dumps(request, JSON_COMPACT), newline[] = "\n";
    struct iovec parts[] = {{text, text ? strlen(text) : 0}, {newline, 1}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    const outcome before = receive(p, 0);
    th_result result = TH_OK;
    if (!text)
        result = fail(p, "cannot be asked: no memory");
    else if (before == RECEIVED)
        result = fail(p, "printed more than a line");
    else if (before == ENDED || sendmsg(p->socket, &message, MSG_NOSIGNAL) < 0)
        result = fail_ended(p);
    free(text);
    return result;
}

/* ---- calls ---- */

static th_result ask(th_external_program *p, const json_t *request, json_t **out)
{
    th_result result = p->failure.code;
    if (result == TH_OK && request)
        result = write_line(p, request);
    if (result == TH_OK)
        result = read_line(p);
    if (result != TH_OK)
        return result;
    *out = json_loadb(p->line, p->length, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(*out)) {
        p->length = 0;
        return TH_OK;
    }
    char text[64];
    json_decref(*out);
    *out = NULL;
    return fail(p, "printed no JSON object: \"%s\"", th_printable(p->line, text, sizeof text));
}

th_result th_external_program_ask(th_external_program *program, const json_t *request, json_t **out, th_error *err)
{
    assert(program && out);
    *out = NULL;
    const th_result result = ask(program, request, out);
    return result == TH_OK ? TH_OK : th_fail(err, result, "%s", program->failure.text);
}

th_result th_external_program_start(const char *command, double timeout_s, th_external_program **out, th_error *err)
{
    assert(command && timeout_s > 0 && out);
    int ends[2];
    th_external_program *p = *out = calloc(1, sizeof *p);
    if (!p)
        return th_fail(err, TH_ERR_MEMORY, "no memory for an external program");
    p->command = command;
    p->timeout_ns = (uint64_t)(timeout_s * 1e9);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot create a socket: %s", strerror(errno));
    const char *const arguments[] = {"sh", "-c", command, NULL};
    const th_subprocess_desc shell = {"sh", arguments, .files = {ends[1], ends[1], STDERR_FILENO}};
    const int error = th_subprocess_start(&shell, &p->pid);
    close(ends[1]);
    p->socket = ends[0];
    if (!error)
        return TH_OK;
    close(ends[0]);
    p->pid = 0;
    return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start a shell: %s", strerror(error));
}

void th_external_program_stop(th_external_program *program)
{
    th_external_program *p = program;
    if (p && p->pid > 0) {
        const uint64_t deadline_ns = th_clock_ns() + PARTING_NS;
        shutdown(p->socket, SHUT_WR);
        do
            p->length = 0;
        while (receive(p, deadline_ns) == RECEIVED);
        end(p);
    }
    free(p);
}
