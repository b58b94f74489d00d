#include "bench_programs.h"

#include <cli/model_set.h>

#include <bench/validate.h>
#include <core/clock.h>
#include <core/json.h>
#include <core/subprocess.h>
#include <core/text_format.h>

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROTOCOL = 1, MAX_NAME = 24, MAX_DESCRIPTION = 200, MAX_OTHERS = 32, MAX_LINE = 1 << 16 };

#define PARTING_NS UINT64_C(1000000000)

/* Another program that answers requests: a JSON object in a line on its standard input, one on its standard output. Its
 * standard error is ours. */
typedef struct program {
    const char *command; /* of a shell, borrowed */
    uint64_t timeout_ns; /* of each answer */
    pid_t pid;           /* 0: it has ended */
    uint64_t cpu_ns;     /* when it was last looked at */
    int socket;          /* its input and output: only a socket can be written without SIGPIPE */
    th_error failure;    /* why it was killed */
    size_t length;
    char line[MAX_LINE];
} program;

/* An entry as its program describes it. */
typedef struct entry {
    program *program;
    char name[64]; /* external/<program>/<entry> */
    const char *own_name;
    uint32_t threads;
    uint64_t characters, bones;
    char description[MAX_DESCRIPTION + 1];
} entry;

struct th_bench_programs {
    uint32_t count;
    entry entries[TH_BENCH_PROGRAMS_MAX_ENTRIES];
    th_external_benchmark joined[TH_BENCH_PROGRAMS_MAX_ENTRIES + MAX_OTHERS];
    uint32_t program_count;
    program programs[];
};

/* An entry being measured. */
typedef struct subject {
    const entry *entry;
    th_row *row;
    double told_share; /* the largest share of our time that the program said a request took */
} subject;

/* ---- a program ---- */

/* CPU time of its process so far, whether it still runs or not. A shell's only command is the shell's process. */
static uint64_t cpu_ns_of(program *p)
{
    clockid_t clock;
    struct timespec t;
    if (p->pid > 0 && clock_getcpuclockid(p->pid, &clock) == 0 && clock_gettime(clock, &t) == 0)
        p->cpu_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    return p->cpu_ns;
}

/* The whole process group, since a shell may have started more. Returns the status. */
static int end(program *p)
{
    cpu_ns_of(p);
    kill(-p->pid, SIGKILL);
    const int status = th_subprocess_kill(p->pid);
    close(p->socket);
    p->pid = 0;
    return status;
}

/* A program that breaks the protocol is killed, and then every call fails with that reason. */
__attribute__((format(printf, 3, 4))) static th_result fail(program *p, th_error *err, const char *format, ...)
{
    char reason[256], command[128];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (p->pid > 0)
        end(p);
    th_fail(&p->failure, TH_ERR_INPUT, "the external program \"%s\" %s",
            th_ellipsize(p->command, 60, command, sizeof command), reason);
    return th_fail(err, TH_ERR_INPUT, "%s", p->failure.text);
}

/* The kernel closes the files of a process after it has noted its exit code, so a kill does not change that. */
static th_result fail_ended(program *p, th_error *err)
{
    const int status = end(p), code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return fail(p, err, "closed its output or was killed");
    if (WIFSIGNALED(status))
        return fail(p, err, "was ended by signal %d", WTERMSIG(status));
    return fail(p, err, "ended with exit code %d%s", code,
                code == 127   ? ": it was not found"
                : code == 126 ? ": it cannot be executed"
                              : "");
}

typedef enum outcome { RECEIVED, ENDED, TIMED_OUT } outcome;

/* Receives what is there, at least a byte. */
static outcome receive(program *p, uint64_t deadline_ns)
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

/* Sends a request (NULL: none) and waits for the answer. *out is NULL on failure, else the caller's. */
static th_result ask(program *p, const json_t *request, json_t **out, th_error *err)
{
    *out = NULL;
    if (p->failure.code != TH_OK)
        return th_fail(err, p->failure.code, "%s", p->failure.text);
    if (request) {
        char *text = th_json_line(request, 17), newline[] = "\n";
        struct iovec parts[] = {{text, text ? strlen(text) : 0}, {newline, 1}};
        const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        const outcome before = receive(p, 0); /* nothing may be left to read: it would pass for the answer */
        th_result result = TH_OK;
        if (!text)
            result = fail(p, err, "cannot be asked: no memory");
        else if (before == RECEIVED)
            result = fail(p, err, "printed more than a line");
        else if (before == ENDED || TEMP_FAILURE_RETRY(sendmsg(p->socket, &message, MSG_NOSIGNAL)) < 0)
            result = fail_ended(p, err);
        free(text);
        if (result != TH_OK)
            return result;
    }

    const uint64_t deadline_ns = th_clock_ns() + p->timeout_ns;
    const char *newline = NULL;
    for (p->length = 0; !newline; newline = memchr(p->line, '\n', p->length)) {
        if (p->length == MAX_LINE)
            return fail(p, err, "printed a line of more than %d bytes", MAX_LINE - 1);
        const outcome more = receive(p, deadline_ns);
        if (more == ENDED)
            return fail_ended(p, err);
        if (more == TIMED_OUT)
            return fail(p, err, "did not answer in %g s", (double)p->timeout_ns / 1e9);
    }
    if (newline != p->line + p->length - 1)
        return fail(p, err, "printed more than a line");
    p->line[--p->length] = '\0';
    *out = json_loadb(p->line, p->length, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(*out)) {
        p->length = 0;
        return TH_OK;
    }
    json_decref(*out);
    *out = NULL;
    return fail(p, err, "printed no JSON object: \"%.63s\"", p->line);
}

/* ---- requests ---- */

typedef struct answer {
    th_lap lap;
    char checksum[65];
} answer;

static bool read_ns(const json_t *json, const char *name, uint64_t *out)
{
    const json_t *value = json_object_get(json, name);
    const double ns = json_number_value(value);
    *out = ns >= 0 && ns < 1e18 ? (uint64_t)ns : 0;
    return json_is_number(value) && ns >= 0 && ns < 1e18;
}

static th_result read_answer(const entry *e, const json_t *json, uint32_t frames, uint64_t our_ns, answer *out,
                             th_error *err)
{
    const char *error = json_string_value(json_object_get(json, "error"));
    const char *checksum = json_string_value(json_object_get(json, "checksum"));
    const th_lap *told = &out->lap;
    if (error)
        return th_fail(err, TH_ERR_INPUT, "%s says: %.200s", e->name, error);
    if (!read_ns(json, "real_ns", &out->lap.real_ns) || !read_ns(json, "cpu_ns", &out->lap.cpu_ns) ||
        told->real_ns == 0)
        return th_fail(err, TH_ERR_INPUT, "%s gave no real_ns above 0 and cpu_ns from 0 on", e->name);
    if (!checksum || !checksum[0] || strlen(checksum) >= sizeof out->checksum)
        return th_fail(err, TH_ERR_INPUT, "%s gave no checksum of 1 to %zu bytes", e->name, sizeof out->checksum - 1);
    strcpy(out->checksum, checksum);

    /* Its frames lie between our readings of the clock, so they cannot have taken more time. */
    if (told->real_ns > our_ns)
        return th_fail(err, TH_ERR_INPUT,
                       "%s says that %u frame%s took %.3f ms, but its answer came after %.3f ms: it is not believable",
                       e->name, frames, th_plural(frames), (double)told->real_ns / 1e6, (double)our_ns / 1e6);
    if (told->cpu_ns > e->threads * our_ns)
        return th_fail(err, TH_ERR_INPUT,
                       "%s says that %u frame%s took %.3f ms of CPU time, but its answer came after %.3f ms and it has "
                       "%u thread%s: it is not believable",
                       e->name, frames, th_plural(frames), (double)told->cpu_ns / 1e6, (double)our_ns / 1e6, e->threads,
                       th_plural(e->threads));
    return TH_OK;
}

/* Has the program run frames. On failure the row has the reason. */
static bool run_frames(subject *s, uint64_t first, uint32_t frames, answer *out)
{
    th_error err;
    *out = (answer){.lap = {0}};
    if (s->row->failure[0])
        return false;
    json_t *json, *request = json_pack("{s:s, s:o, s:o}", "entry", s->entry->own_name, "first", th_json_count(first),
                                       "frames", th_json_count(frames));
    const uint64_t begin_ns = th_clock_ns();
    th_result result = ask(s->entry->program, request, &json, &err);
    const uint64_t our_ns = th_clock_ns() - begin_ns;
    if (result == TH_OK)
        result = read_answer(s->entry, json, frames, our_ns, out, &err);
    if (result == TH_OK)
        s->told_share = fmax(s->told_share, (double)out->lap.real_ns / (double)our_ns);
    else
        th_row_fail(s->row, "%s", err.text);
    json_decref(request);
    json_decref(json);
    return result == TH_OK;
}

/* ---- the entries, as the bench sees them ---- */

static void run_frame(void *ctx, uint64_t frame)
{
    answer ignored;
    run_frames(ctx, frame, 1, &ignored);
}

/* Begins with a frame that does not count, as pose/ entries do: caches hold what the entry before has left. It is the
 * frame before the first, since some libraries play forward faster than they seek. */
static th_lap timed_run(void *ctx, uint64_t first, uint32_t iterations)
{
    answer told;
    run_frames(ctx, first > 0 ? first - 1 : 0, 1, &told);
    run_frames(ctx, first, iterations, &told);
    return told.lap;
}

static th_result create(const th_external_benchmark *benchmark, void *ctx, th_row *row, void **out, th_error *err)
{
    const entry *e = benchmark->what;
    (void)ctx;
    subject *s = *out = calloc(1, sizeof *s);
    if (!s)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", e->name);
    *s = (subject){.entry = e, .row = row};
    row->time_unit = "us";
    row->threads = e->threads;
    row->characters = e->characters;
    row->bones = e->bones;
    row->once = json_pack("{s:o}", "description", th_json_text(e->description));

    /* A program that answers without computing, or computes something else each time, gives itself away. */
    answer start, later, again;
    if (!run_frames(s, 0, 1, &start) || !run_frames(s, TH_VALIDATE_FRAME, 1, &later) || !run_frames(s, 0, 1, &again))
        return TH_OK;
    if (strcmp(start.checksum, again.checksum) != 0)
        th_row_fail(row, "%s has two checksums of frame 0: %.64s and %.64s", e->name, start.checksum, again.checksum);
    else if (strcmp(start.checksum, later.checksum) == 0)
        th_row_fail(row, "%s has one checksum of frames 0 and %d: %.64s", e->name, TH_VALIDATE_FRAME, start.checksum);
    s->told_share = 0;
    return TH_OK;
}

static void summarize(void *ctx, const th_row *baseline, th_row *row)
{
    const subject *s = ctx;
    (void)baseline;
    row->own = json_pack("{s:s, s:o}", "timed_by", "program", "told_share", th_json_real(s->told_share));
}

th_external_benchmarks th_bench_programs_join(th_bench_programs *programs, const th_external_benchmarks *others)
{
    assert(programs && others && others->count <= MAX_OTHERS);
    th_bench_programs *p = programs;
    for (uint32_t i = 0; i < p->count; i++)
        p->joined[i] = (th_external_benchmark){
            .name = p->entries[i].name,
            .what = &p->entries[i],
            .create = create,
            .run = run_frame,
            .timed_run = timed_run,
            .summarize = summarize,
            .destroy = free,
        };
    memcpy(p->joined + p->count, others->entries, others->count * sizeof *others->entries);
    return (th_external_benchmarks){p->joined, p->count + others->count, others->ctx, others->describe};
}

/* ---- what a program says of itself ---- */

static const char *read_name(const json_t *json, const char *field)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *name = json_string_value(json_object_get(json, field));
    const size_t length = name ? strlen(name) : 0;
    return length > 0 && length <= MAX_NAME && strspn(name, letters) == length ? name : NULL;
}

static bool read_count(const json_t *json, const char *name, int64_t most, uint64_t *out)
{
    const json_t *value = json_object_get(json, name);
    *out = (uint64_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 1 && json_integer_value(value) <= most;
}

static th_result add_entry(th_bench_programs *p, program *of, const char *its_name, const json_t *json, th_error *err)
{
    if (p->count == TH_BENCH_PROGRAMS_MAX_ENTRIES)
        return th_fail(err, TH_ERR_INPUT, "external programs have more than %d entries together",
                       TH_BENCH_PROGRAMS_MAX_ENTRIES);
    entry *e = &p->entries[p->count];
    const char *name = read_name(json, "name"), *says = json_string_value(json_object_get(json, "description"));
    uint64_t threads = 1;
    if (!name)
        return th_fail(err, TH_ERR_INPUT, "the external program %s has an entry without a name as it should be",
                       its_name);
    snprintf(e->name, sizeof e->name, "external/%s/%s", its_name, name);
    e->own_name = e->name + strlen("external//") + strlen(its_name);
    for (uint32_t i = 0; i < p->count; i++)
        if (strcmp(p->entries[i].name, e->name) == 0)
            return th_fail(err, TH_ERR_INPUT, "two entries are called %s", e->name);
    if (!read_count(json, "characters", 1000000000, &e->characters) ||
        !read_count(json, "bones", 1000000000000, &e->bones) ||
        (json_object_get(json, "threads") && !read_count(json, "threads", 4096, &threads)))
        return th_fail(err, TH_ERR_INPUT, "%s does not say how many characters, bones or threads it has", e->name);
    if (!says || !says[0] || strlen(says) > MAX_DESCRIPTION)
        return th_fail(err, TH_ERR_INPUT, "%s has no description of 1 to %d bytes", e->name, MAX_DESCRIPTION);
    e->threads = (uint32_t)threads;
    e->program = of;
    strcpy(e->description, says);
    p->count++;
    return TH_OK;
}

/* Starts the next program and asks what entries it has. */
static th_result add_program(th_bench_programs *programs, const char *command, double timeout_s, th_error *err)
{
    program *p = &programs->programs[programs->program_count++];
    int ends[2];
    p->command = command;
    p->timeout_ns = (uint64_t)(timeout_s * 1e9);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot create a socket: %s", strerror(errno));
    const char *const arguments[] = {"sh", "-c", command, NULL};
    const th_subprocess_desc shell = {"sh", arguments, .files = {ends[1], ends[1], STDERR_FILENO}};
    const int failed = th_subprocess_start(&shell, &p->pid);
    close(ends[1]);
    p->socket = ends[0];
    if (failed) {
        close(ends[0]);
        p->pid = 0;
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start a shell: %s", strerror(failed));
    }

    json_t *json;
    th_result result = ask(p, NULL, &json, err);
    if (result != TH_OK)
        return result;
    const char *error = json_string_value(json_object_get(json, "error")), *name = read_name(json, "program");
    const json_t *entries = json_object_get(json, "entries"), *one;
    size_t index;
    if (error)
        result = th_fail(err, TH_ERR_INPUT, "the external program \"%.100s\" says: %.200s", command, error);
    else if (json_integer_value(json_object_get(json, "throng_external")) != PROTOCOL || !name)
        result = th_fail(err, TH_ERR_INPUT,
                         "the external program \"%.100s\" does not begin with \"throng_external\": %d and its name",
                         command, PROTOCOL);
    else if (json_array_size(entries) == 0)
        result = th_fail(err, TH_ERR_INPUT, "the external program %s has no entries", name);
    json_array_foreach(entries, index, one)
    {
        if (result == TH_OK)
            result = add_entry(programs, p, name, one, err);
    }
    json_decref(json);
    return result;
}

th_result th_bench_programs_start(const th_bench_programs_desc *desc, th_bench_programs **out, th_error *err)
{
    assert(desc && desc->count <= TH_FILE_LIST_MAX && out);
    assert(desc->count == 0 || desc->timeout_s > 0);
    th_result result = TH_OK;
    *out = calloc(1, sizeof **out + desc->count * sizeof(program));
    if (!*out)
        return th_fail(err, TH_ERR_MEMORY, "no memory for external programs");
    for (uint32_t i = 0; i < desc->count && result == TH_OK; i++)
        result = add_program(*out, desc->commands[i], desc->timeout_s, err);
    return result;
}

double th_bench_programs_cpu_s(th_bench_programs *programs)
{
    double cpu_s = 0;
    for (uint32_t i = 0; i < programs->program_count; i++)
        cpu_s += (double)cpu_ns_of(&programs->programs[i]) / 1e9;
    return cpu_s;
}

void th_bench_programs_stop(th_bench_programs *programs)
{
    for (uint32_t i = 0; programs && i < programs->program_count; i++) {
        program *p = &programs->programs[i];
        if (p->pid == 0)
            continue;
        const uint64_t deadline_ns = th_clock_ns() + PARTING_NS;
        shutdown(p->socket, SHUT_WR);
        do
            p->length = 0;
        while (receive(p, deadline_ns) == RECEIVED);
        end(p);
    }
    free(programs);
}
