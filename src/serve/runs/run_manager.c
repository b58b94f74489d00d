#include "run_manager.h"

#include "process.h"

#include <core/clock.h>
#include <core/file.h>
#include <core/json.h>
#include <core/subprocess.h>
#include <serve/log.h>

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_TIMEOUT_NS  3600000000000u /* per run */
#define KILL_TIMEOUT_NS 1000000000u    /* between SIGTERM and SIGKILL; a stop of the server has 1.5 s */
#define STATUS_UNKNOWN  (127 << 8)     /* waitpid's status for a command that a shell could not start */

#define RESULT_BYTES (32 << 20) /* maximum size of a document */

enum { RESULT_KIND = 16, RESULT_STARTED = 24, RESULT_NAME = 64 };

typedef enum run_state { RUNNING, DONE, FAILED, CANCELLED } run_state;

static const char *const state_names[] = {"running", "done", "failed", "cancelled"};

typedef struct run {
    uint32_t id; /* 0: a free slot */
    run_state state;
    bool pause;
    json_t *request; /* NULL: none */
    char started[RESULT_STARTED];
    bool restored; /* from an earlier process: its outcome is unknown */
    uint64_t start_ns, end_ns;
    double progress; /* 0 to 1; below 0: unknown */
    int exit_code;
    char progress_text[512]; /* its last progress message */
    char message[512];       /* its last other message */
    char file[PATH_MAX];
    char report_file[PATH_MAX]; /* while it runs */
    int document;               /* a file descriptor; in memory, except for runs of earlier processes */
    int report;                 /* a file descriptor; -1: none */
} run;

struct th_run_manager {
    th_run_manager_desc desc;
    pthread_t thread; /* must not end before the child, which would die with it */
    int wake_fd;      /* signals that a run was cancelled or started, or that the manager stops */
    pthread_mutex_t lock;
    run kept[TH_RUNS_KEPT]; /* a ring buffer */
    uint32_t last_id;
    const char **arguments; /* of the run to be started, in the arena; NULL: none */
    th_run_folders folders;
    th_arena *arena;
    uint64_t reserved; /* memory of the run */
    bool active, cancelled, stopped;
    th_run_counts counts;
};

static run *find(th_run_manager *r, uint32_t id)
{
    run *there = &r->kept[id % TH_RUNS_KEPT];
    return id != 0 && there->id == id ? there : NULL;
}

/* ---- the folder of results ---- */

/* The file name of a run, without .json or .html: scale-20260131T120000Z-7 for run 7. started: 2026-01-31T12:00:00Z. */
typedef struct result_name {
    char text[RESULT_NAME];
} result_name;

static result_name result_name_of(const char *kind, const char *started, uint32_t id)
{
    assert(strlen(kind) < RESULT_KIND && strlen(started) < RESULT_STARTED);
    result_name name;
    char stamp[RESULT_STARTED];
    int used = 0;
    for (const char *c = started; *c && used + 1 < RESULT_STARTED; c++) /* 20260131T120000Z */
        if (*c != '-' && *c != ':')
            stamp[used++] = *c;
    stamp[used] = '\0';
    snprintf(name.text, sizeof name.text, "%s-%s-%u", kind, stamp, id);
    return name;
}

/* What an earlier server process has left. */
typedef struct earlier_result {
    char kind[RESULT_KIND], started[RESULT_STARTED];
    result_name name;
    uint32_t id; /* the run's id at that time */
} earlier_result;

static bool parse_name(const char *file, const char *const *kinds, earlier_result *out)
{
    int year, month, day, hour, minute, second;
    char rebuilt[RESULT_NAME + 8];
    const size_t kind = strcspn(file, "-");
    if (kind >= sizeof out->kind || sscanf(file + kind, "-%4d%2d%2dT%2d%2d%2dZ-%9u.json", &year, &month, &day, &hour,
                                           &minute, &second, &out->id) != 7)
        return false;
    memcpy(out->kind, file, kind);
    out->kind[kind] = '\0';
    if (snprintf(out->started, sizeof out->started, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day, hour, minute,
                 second) >= (int)sizeof out->started)
        return false;
    out->name = result_name_of(out->kind, out->started, out->id);
    snprintf(rebuilt, sizeof rebuilt, "%s.json", out->name.text);
    for (; *kinds; kinds++)
        if (strcmp(*kinds, out->kind) == 0)
            return strcmp(rebuilt, file) == 0;
    return false;
}

/* Inserts in order. If there are too many, drops the oldest. */
static uint32_t keep(earlier_result *kept, uint32_t count, const earlier_result *fresh)
{
    uint32_t place = count;
    for (; place > 0; place--) {
        const int order = strcmp(kept[place - 1].started, fresh->started);
        if (order < 0 || (order == 0 && kept[place - 1].id <= fresh->id))
            break;
    }
    if (count == TH_RUNS_KEPT - 1) {
        if (place == 0)
            return count;
        memmove(kept, kept + 1, --place * sizeof *kept);
    } else {
        memmove(kept + place + 1, kept + place, (count++ - place) * sizeof *kept);
    }
    kept[place] = *fresh;
    return count;
}

/* Opens a regular file of at most RESULT_BYTES that is not a link. Returns -1 and a reason on failure. */
static int open_result(int folder, const char *file, const char **out_why)
{
    struct stat status;
    const int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *out_why = NULL;
    if (fd < 0)
        *out_why = strerror(errno);
    else if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        *out_why = "not a regular file";
    else if (status.st_size > RESULT_BYTES)
        *out_why = "larger than 32 MB";
    if (!*out_why || fd < 0)
        return fd;
    close(fd);
    return -1;
}

/* A document of ours begins with its context, which says whether it is partial, and ends as an object. No more of it is
 * read, since it may be large, and as JSON in memory 80 times as large. NULL, or why it is none. */
static const char *check_document(int file, bool *out_partial)
{
    enum { CONTEXT_BYTES = 256 << 10 };
    static char head[CONTEXT_BYTES];
    char tail[16];
    int used = 0;
    const off_t size = lseek(file, 0, SEEK_END);
    const ssize_t got = pread(file, head, sizeof head - 1, 0);
    ssize_t end = pread(file, tail, sizeof tail, size > (off_t)sizeof tail ? size - (off_t)sizeof tail : 0);
    head[got < 0 ? 0 : got] = '\0';
    sscanf(head, " { \"context\" : %n", &used);
    json_t *context = used ? json_loads(head + used, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    while (end > 0 && isspace((unsigned char)tail[end - 1]))
        end--;
    const bool is_whole =
        json_is_integer(json_object_get(context, "throng_schema_version")) && end > 0 && tail[end - 1] == '}';
    *out_partial = json_is_true(json_object_get(context, "partial"));
    json_decref(context);
    return is_whole ? NULL : "not a complete result";
}

/* The newest results, from old to new: only regular files with valid names of kinds of run; logs incomplete results and
 * skips them. Renumbers the runs, because several processes use the same numbers. */
static void load_earlier(th_run_manager *r)
{
    earlier_result found[TH_RUNS_KEPT - 1], entry; /* one slot stays free for the next run */
    uint32_t count = 0;
    DIR *files = opendir(r->desc.results);
    for (struct dirent *e; files && (e = readdir(files));)
        if (parse_name(e->d_name, r->desc.kinds, &entry))
            count = keep(found, count, &entry);
    for (uint32_t i = 0; i < count; i++) {
        const char *why, *ignored;
        char file[RESULT_NAME + 8], report[RESULT_NAME + 8];
        snprintf(file, sizeof file, "%s.json", found[i].name.text);
        snprintf(report, sizeof report, "%s.html", found[i].name.text);
        const int document = open_result(dirfd(files), file, &why);
        bool is_partial = false;
        if (document >= 0 && (why = check_document(document, &is_partial)))
            close(document);
        if (why) {
            th_log(TH_LOG_WARNING, "%s/%s is ignored: %s", r->desc.results, file, why);
            continue;
        }
        run *one = &r->kept[++r->last_id % TH_RUNS_KEPT];
        *one = (run){.id = r->last_id,
                     .state = is_partial ? CANCELLED : DONE,
                     .restored = true,
                     .document = document,
                     .report = open_result(dirfd(files), report, &ignored),
                     .progress = 1};
        one->request = json_pack("{s:s}", "kind", found[i].kind);
        memcpy(one->started, found[i].started, sizeof one->started);
        snprintf(one->file, sizeof one->file, "%s", file);
    }
    if (files)
        closedir(files);
}

/* ---- the child ---- */

/* Collects the child's standard error: progress, which overwrites itself, and lines. */
typedef struct stderr_reader {
    char line[512];
    size_t length;
} stderr_reader;

static void read_stderr(th_run_manager *r, run *current, stderr_reader *h, int fd)
{
    const json_t *options = json_object_get(current->request, "options");
    const double repetitions = (double)json_integer_value(json_object_get(options, "repetitions"));
    char text[512];
    ssize_t count;
    while ((count = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < count; i++) {
            if (text[i] != '\r' && text[i] != '\n') {
                if (h->length + 1 < sizeof h->line)
                    h->line[h->length++] = text[i];
                continue;
            }
            const char *line = h->line;
            h->line[h->length] = '\0';
            h->length = 0;
            while (line[0] == '\033' && line[1] && line[2]) /* skips the sequence that erases the line */
                line += 3;
            pthread_mutex_lock(&r->lock);
            if (text[i] == '\r') {
                /* "1 of 2: scale/threads:1 and its like, 7 repetitions" is a fraction, if the total is known. */
                unsigned number, of, rounds;
                snprintf(current->progress_text, sizeof current->progress_text, "%s", line);
                if (sscanf(line, "%u of %u: %*[^,], %u", &number, &of, &rounds) == 3 && number <= of &&
                    (of >= 2 || repetitions > 0))
                    current->progress = (number - 1 + (repetitions > 0 ? fmin(rounds / repetitions, 1) : 0)) / of;
            } else if (line[0] != '\0') {
                line += strncmp(line, "throng: ", 8) == 0 ? 8 : 0;
                snprintf(current->message, sizeof current->message, "%s", line);
            }
            pthread_mutex_unlock(&r->lock);
        }
}

/* Follows the child to its end, which it is asked for if the run is cancelled or exceeds a limit, and then killed.
 * Returns the status of waitpid. */
static int wait_for_child(th_run_manager *r, run *current, pid_t child, int stderr_fd, run_state *out_state)
{
    stderr_reader h = {0};
    uint64_t asked_ns = 0, count;
    int status = 0;
    *out_state = DONE;
    for (;;) {
        struct pollfd fds[] = {{stderr_fd, POLLIN, 0}, {r->wake_fd, POLLIN, 0}};
        poll(fds, 2, 100);
        if (fds[0].revents & POLLHUP)
            usleep(20000); /* it is about to exit, and poll no longer blocks */
        if (fds[1].revents & POLLIN && read(r->wake_fd, &count, sizeof count) < 0)
            return -1;
        read_stderr(r, current, &h, stderr_fd);
        const pid_t ended = waitpid(child, &status, WNOHANG);
        const bool unknown = ended < 0 && errno == ECHILD; /* it has ended, and its status is lost */
        if (ended == child || unknown) {
            read_stderr(r, current, &h, stderr_fd); /* its last output */
            return unknown ? STATUS_UNKNOWN : status;
        }
        if (asked_ns && th_clock_ns() - asked_ns > KILL_TIMEOUT_NS)
            kill(-child, SIGKILL);
        if (asked_ns)
            continue;
        struct stat document = {0};
        const bool slow = th_clock_ns() - current->start_ns > RUN_TIMEOUT_NS;
        const bool large = fstat(current->document, &document) == 0 && document.st_size > RESULT_BYTES;
        pthread_mutex_lock(&r->lock);
        *out_state = r->cancelled || r->stopped ? CANCELLED : slow || large ? FAILED : DONE;
        if (*out_state == FAILED)
            snprintf(current->message, sizeof current->message, "ended: it %s",
                     slow ? "took more than an hour" : "wrote more than 32 MB");
        pthread_mutex_unlock(&r->lock);
        if (*out_state != DONE) {
            asked_ns = th_clock_ns();
            kill(-child, SIGTERM);
        }
    }
}

/* The temporary folder of a report, for a server without a results folder; with one, the file that a run was writing
 * when it was killed (core/file.c names it). */
static void remove_temporary(const th_run_manager *r, run *current)
{
    if (r->desc.results)
        th_file_remove_leftovers(r->desc.results);
    else if (current->report_file[0]) {
        *strrchr(current->report_file, '/') = '\0';
        th_leftovers_remove(current->report_file);
    }
}

static void close_folders(th_run_folders *folders)
{
    while (folders->count > 0)
        close(folders->files[--folders->count]);
}

static void execute(th_run_manager *r, run *current, const char *const *arguments)
{
    static const char *const variables[] = {"THRONG_PROGRESS=1", NULL}; /* otherwise it prints it only to terminals */
    pid_t child = -1;
    run_state state = FAILED;
    int status = STATUS_UNKNOWN, ends[2] = {-1, -1};
    if (current->pause)
        th_controller_hold(r->desc.controller, true);

    /* Starts this program with its standard error as a pipe, whose end to read from is non-blocking. */
    int error = pipe2(ends, O_CLOEXEC) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
    const th_subprocess_desc throng = {"/proc/self/exe", arguments, variables,
                                       .files = {-1, current->document, ends[1]}};
    if (!error)
        error = th_subprocess_start(&throng, &child);
    if (ends[1] >= 0)
        close(ends[1]);
    if (error) {
        pthread_mutex_lock(&r->lock);
        snprintf(current->message, sizeof current->message, "cannot start a process: %s", strerror(error));
        pthread_mutex_unlock(&r->lock);
    } else {
        /* It imports models in a process of its own, which inherits the limit. */
        th_memory_limit_process(child,
                                r->reserved / 2 + TH_RUN_BASE_BYTES + r->desc.limits.max_threads * TH_RUN_THREAD_BYTES);
        status = wait_for_child(r, current, child, ends[0], &state);
    }
    if (ends[0] >= 0)
        close(ends[0]);
    if (current->pause)
        th_controller_hold(r->desc.controller, false);

    /* The report's descriptor stays valid after its folder is removed. */
    const char *why;
    const int report = current->report_file[0] ? open_result(AT_FDCWD, current->report_file, &why) : -1;
    pthread_mutex_lock(&r->lock);
    current->report = report;
    pthread_mutex_unlock(&r->lock);
    remove_temporary(r, current);

    if (!WIFEXITED(status) && ftruncate(current->document, 0) != 0) /* discards a partial document */
        th_log(TH_LOG_WARNING, "run %u: %s", current->id, strerror(errno));
    pthread_mutex_lock(&r->lock);
    current->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (state == DONE && current->exit_code != 0) {
        state = FAILED;
        if (WIFSIGNALED(status))
            snprintf(current->message, sizeof current->message, "ended by signal %d", WTERMSIG(status));
        else if (current->message[0] == '\0') /* it has given no reason */
            snprintf(current->message, sizeof current->message, "ended with exit code %d", WEXITSTATUS(status));
    }
    current->state = state;
    current->end_ns = th_clock_ns();
    if (state == DONE)
        current->progress = 1;
    if (access(current->file, F_OK) != 0)
        current->file[0] = '\0'; /* a run that failed, or was killed, may not have written it */
    r->counts.done += state == DONE;
    r->counts.failed += state == FAILED;
    r->counts.cancelled += state == CANCELLED;
    r->counts.active = 0;
    r->active = r->cancelled = false;
    th_memory_release(r->desc.memory, TH_MEMORY_RUNS, r->reserved);
    pthread_mutex_unlock(&r->lock);
    th_log(state == FAILED ? TH_LOG_WARNING : TH_LOG_INFO, "run %u %s after %.1f s%s%s", current->id,
           state_names[state], (double)(current->end_ns - current->start_ns) * 1e-9, current->message[0] ? ": " : "",
           current->message);
}

static void *run_manager_thread(void *arg)
{
    th_run_manager *r = arg;
    for (bool stopped = false; !stopped;) {
        struct pollfd wake = {r->wake_fd, POLLIN, 0};
        uint64_t count;
        pthread_mutex_lock(&r->lock);
        const char **arguments = r->arguments;
        th_arena *arena = r->arena;
        th_run_folders folders = r->folders;
        run *current = find(r, r->last_id);
        stopped = r->stopped;
        r->arguments = NULL;
        r->arena = NULL;
        r->folders.count = 0;
        pthread_mutex_unlock(&r->lock);
        if (arguments && stopped)
            remove_temporary(r, current);
        else if (arguments)
            execute(r, current, arguments);
        else if (!stopped && poll(&wake, 1, -1) == 1 && read(r->wake_fd, &count, sizeof count) < 0)
            return NULL;
        close_folders(&folders);
        th_arena_destroy(arena);
    }
    return NULL;
}

static void wake(th_run_manager *r)
{
    const uint64_t one = 1;
    ssize_t ignored = write(r->wake_fd, &one, sizeof one);
    (void)ignored;
}

/* ---- starting and cancelling ---- */

static void free_run(run *old)
{
    if (old->id == 0)
        return;
    json_decref(old->request);
    close(old->document);
    if (old->report >= 0)
        close(old->report);
    old->id = 0;
}

/* Makes the next run, and adds the files that it writes to the words of its command line. */
static bool begin(th_run_manager *r, const json_t *request, const char **words, th_arena *arena, th_error *err)
{
    const time_t now = time(NULL);
    struct tm utc;
    const uint32_t id = r->last_id + 1;
    run *fresh = &r->kept[id % TH_RUNS_KEPT];
    const int document = memfd_create("throng-run", MFD_CLOEXEC);
    if (document < 0) {
        th_fail(err, TH_ERR_ENVIRONMENT, "no file in memory: %s", strerror(errno));
        return false;
    }
    free_run(fresh);
    *fresh = (run){.id = id, .document = document, .report = -1, .start_ns = th_clock_ns(), .progress = -1};
    fresh->request = json_deep_copy(request);
    fresh->pause = !json_is_false(json_object_get(request, "pause"));
    gmtime_r(&now, &utc);
    strftime(fresh->started, sizeof fresh->started, "%Y-%m-%dT%H:%M:%SZ", &utc);

    /* Without a folder of results the report goes to a temporary one. */
    char folder[PATH_MAX];
    const char *where = getenv("TMPDIR");
    const result_name name = result_name_of(words[1], fresh->started, id);
    bool has_folder = r->desc.results != NULL;
    if (has_folder)
        snprintf(fresh->file, sizeof fresh->file, "%s/%s.json", r->desc.results, name.text);
    else if (snprintf(folder, sizeof folder, "%s/throng-run-XXXXXX", where && where[0] == '/' ? where : "/tmp") <
                 PATH_MAX &&
             mkdtemp(folder)) {
        th_leftovers_add(folder);
        has_folder = true;
    }
    if (has_folder)
        snprintf(fresh->report_file, sizeof fresh->report_file, "%.*s/%s.html", PATH_MAX - RESULT_NAME - 8,
                 r->desc.results ? r->desc.results : folder, name.text);
    else
        th_log(TH_LOG_WARNING, "run %u has no report: no folder for it: %s", id, strerror(errno));

    while (*words)
        words++;
    if (fresh->file[0])
        *words++ = th_arena_format(arena, "--out=%s", fresh->file);
    if (fresh->report_file[0])
        *words = th_arena_format(arena, "--out=%s", fresh->report_file);
    if (!th_arena_failed(arena))
        return true;
    remove_temporary(r, fresh);
    free_run(fresh);
    th_fail(err, TH_ERR_MEMORY, "out of memory");
    return false;
}

th_run_start_status th_run_manager_start(th_run_manager *r, const json_t *request, uint32_t *out_id, th_error *err)
{
    th_run_start_status answer = TH_RUN_REJECTED;
    th_run_manager_desc desc = r->desc;
    const uint64_t reserved = th_memory_reserve_part(desc.memory, TH_MEMORY_RUNS, 2);
    desc.limits.max_memory_bytes = reserved / 2;
    th_arena *arena = th_arena_create();
    th_run_folders folders = {.count = 0};
    const char **words = th_run_arguments(&desc, request, arena, &folders, err);
    pthread_mutex_lock(&r->lock);
    if (words && r->active) {
        th_fail(err, TH_ERR_LIMIT, "run %u is still active; only one runs at a time", r->last_id);
        answer = TH_RUN_BUSY;
    } else if (words && begin(r, request, words, arena, err)) {
        r->arguments = words;
        r->arena = arena;
        r->folders = folders;
        r->reserved = reserved;
        *out_id = ++r->last_id;
        r->active = true;
        r->counts.active = 1;
        answer = TH_RUN_STARTED;
    }
    pthread_mutex_unlock(&r->lock);
    if (answer == TH_RUN_STARTED) {
        th_log(TH_LOG_INFO, "run %u: %s", *out_id, json_string_value(json_object_get(request, "kind")));
        wake(r);
    } else {
        th_memory_release(desc.memory, TH_MEMORY_RUNS, reserved);
        close_folders(&folders);
        th_arena_destroy(arena);
    }
    return answer;
}

bool th_run_manager_cancel(th_run_manager *r, uint32_t id)
{
    pthread_mutex_lock(&r->lock);
    const bool on = r->active && r->last_id == id;
    r->cancelled = r->cancelled || on;
    pthread_mutex_unlock(&r->lock);
    if (on)
        wake(r);
    return on;
}

/* ---- life ---- */

th_result th_run_manager_create(const th_run_manager_desc *desc, th_run_manager **out, th_error *err)
{
    *out = NULL;
    th_run_manager *r = calloc(1, sizeof *r);
    if (!r)
        return th_fail(err, TH_ERR_MEMORY, "no memory for runs");
    r->desc = *desc;
    if (desc->results)
        load_earlier(r);
    pthread_mutex_init(&r->lock, NULL);
    r->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const int error = r->wake_fd < 0 ? errno : pthread_create(&r->thread, NULL, run_manager_thread, r);
    if (error) {
        if (r->wake_fd >= 0)
            close(r->wake_fd);
        for (uint32_t i = 0; i < TH_RUNS_KEPT; i++)
            free_run(&r->kept[i]);
        free(r);
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start a thread: %s", strerror(error));
    }
    pthread_setname_np(r->thread, "throng-runs");
    *out = r;
    return TH_OK;
}

void th_run_manager_destroy(th_run_manager *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stopped = true;
    pthread_mutex_unlock(&r->lock);
    wake(r);
    pthread_join(r->thread, NULL);
    for (uint32_t i = 0; i < TH_RUNS_KEPT; i++)
        free_run(&r->kept[i]);
    close(r->wake_fd);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* ---- watching ---- */

static uint64_t size_of(const run *one, int file)
{
    struct stat status;
    return one->state != RUNNING && file >= 0 && fstat(file, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static json_t *run_json(const run *one)
{
    const uint64_t end_ns = one->state == RUNNING ? th_clock_ns() : one->end_ns;
    const double elapsed_s = (double)(end_ns - one->start_ns) * 1e-9;
    json_t *options = json_object_get(one->request, "options");
    return json_pack(
        "{s:i, s:o, s:s, s:o, s:b, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id", (int)one->id, "kind",
        json_incref(json_object_get(one->request, "kind")), "state", state_names[one->state], "options",
        options ? json_incref(options) : json_object(), "pause", one->pause, "started", one->started, "restored",
        one->restored, "elapsed_s", one->restored ? json_null() : th_json_real(elapsed_s), "progress",
        one->progress < 0 ? json_null() : th_json_real(one->progress), "progress_text",
        one->state == RUNNING ? th_json_text_if_any(one->progress_text) : json_null(), "exit_code",
        one->state == RUNNING || one->restored ? json_null() : json_integer(one->exit_code), "message",
        th_json_text_if_any(one->message), "result_bytes", th_json_count(size_of(one, one->document)), "report_bytes",
        th_json_count(size_of(one, one->report)), "file", th_json_text_if_any(th_model_registry_name(one->file)));
}

json_t *th_run_manager_run_json(th_run_manager *r, uint32_t id)
{
    pthread_mutex_lock(&r->lock);
    const run *one = find(r, id ? id : r->active ? r->last_id : 0);
    json_t *json = one ? run_json(one) : json_null();
    pthread_mutex_unlock(&r->lock);
    return json;
}

json_t *th_run_manager_runs_json(th_run_manager *r)
{
    json_t *all = json_array();
    pthread_mutex_lock(&r->lock);
    for (uint32_t back = 0; back < TH_RUNS_KEPT && back < r->last_id; back++) {
        const run *one = find(r, r->last_id - back);
        if (one)
            all = th_json_append(all, run_json(one));
    }
    pthread_mutex_unlock(&r->lock);
    return all;
}

char *th_run_manager_read(th_run_manager *r, uint32_t id, th_run_file which, size_t *out_size)
{
    pthread_mutex_lock(&r->lock);
    const run *one = find(r, id);
    const int file = !one ? -1 : which == TH_RUN_RESULT ? one->document : one->report;
    const size_t size = one ? (size_t)size_of(one, file) : 0;
    const int own = size > 0 ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1; /* reading may take long */
    pthread_mutex_unlock(&r->lock);
    char *text = own >= 0 ? malloc(size) : NULL;
    size_t got = 0;
    for (ssize_t more = 1; text && got < size && more > 0; got += more > 0 ? (size_t)more : 0)
        more = TEMP_FAILURE_RETRY(pread(own, text + got, size - got, (off_t)got));
    if (got < size) {
        free(text);
        text = NULL;
    }
    if (own >= 0)
        close(own);
    *out_size = size;
    return text;
}

th_run_counts th_run_manager_counts(th_run_manager *r)
{
    pthread_mutex_lock(&r->lock);
    const th_run_counts counts = r->counts;
    pthread_mutex_unlock(&r->lock);
    return counts;
}
