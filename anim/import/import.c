/* The parent's side of the import: starts throng-import, reads its pipe until the answer is complete, the child exits
 * or the time limit passes, and turns failures into messages. */
#include <throng/throng.h>

#include <anim/archive.h>

#include <core/file.h>
#include <core/subprocess.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How much longer than its time of a processor an import may take: a machine this busy is stuck. */
#define WALL_FACTOR 10

typedef struct child {
    pid_t pid;
    int answer;        /* read end of the pipe */
    double deadline_s; /* of CLOCK_MONOTONIC */
} child;

typedef struct answer {
    uint8_t *bytes;
    size_t used, size; /* size: TH_ARCHIVE_HEAD_BYTES until the head has been read, then what it says */
} answer;

/* The end of a path, short enough to leave room for the message. */
static const char *shown(const char *path)
{
    const char *name = th_path_in_folder(path, &(int){0});
    if (name)
        return name;
    size_t length = strlen(path), most = 400;
    return path + (length > most ? length - most : 0);
}

/* ---- checks before starting ---- */

/* What the importer gets: what was checked is what is read. */
typedef struct opened {
    int file, folder;
    char path[PATH_MAX]; /* has a slash */
} opened;

static bool same_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Whether it was opened through /proc/self/fd/0 or a link to that, such as /dev/stdin. */
static bool is_behind(const opened *o)
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
    const int file = (int)syscall(SYS_openat2, o->folder, strrchr(o->path, '/') + 1, &how, sizeof how);
    if (file >= 0)
        close(file);
    return file < 0 && errno == ELOOP;
}

/* The path and the folder that such a file has. */
static bool find_behind(opened *o)
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", o->file);
    const ssize_t length = readlink(link, o->path, sizeof o->path - 1);
    o->path[length < 0 ? 0 : length] = '\0';
    char *name = strrchr(o->path, '/');
    if (!name)
        return false;
    *name = '\0';
    close(o->folder);
    o->folder = th_open_folder(name > o->path ? o->path : "/");
    *name = '/';
    const int again = openat(o->folder, name + 1, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    const bool is_same = same_file(again, o->file);
    if (again >= 0)
        close(again);
    return is_same;
}

/* Opens the file and its folder, each once. O_NONBLOCK, because it may be a fifo. False: errno says why. */
static bool open_files(const char *path, opened *o)
{
    enum { READ = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY };
    int given;
    const char *in = th_path_in_folder(path, &given);
    if (snprintf(o->path, sizeof o->path, "%s%s", strchr(path, '/') ? "" : "./", path) >= (int)sizeof o->path)
        return errno = ENAMETOOLONG, false;
    char *name = strrchr(o->path, '/') + 1;
    const char first = *name;
    *name = '\0';
    o->folder = in ? fcntl(given, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : th_open_folder(o->path);
    *name = first;
    if (o->folder >= 0)
        o->file = in ? th_open_beneath(o->folder, in, READ) : openat(o->folder, first ? name : ".", READ);
    return o->file >= 0;
}

static th_result open_and_check(const th_import_desc *d, opened *o, th_error *err)
{
    if (d->path[0] == '\0')
        return th_fail(err, TH_ERR_INPUT, "the name of the model file is empty");
    if (!open_files(d->path, o))
        return th_fail(err, TH_ERR_INPUT, "%s: %s", shown(d->path),
                       errno == EXDEV ? "leads out of its folder" : strerrordesc_np(errno));
    struct stat status;
    const bool known = fstat(o->file, &status) == 0;
    if (!known || !S_ISREG(status.st_mode))
        return th_fail(err, TH_ERR_INPUT, "%s: %s", shown(d->path),
                       known && S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file");
    if (status.st_size == 0)
        return th_fail(err, TH_ERR_INPUT, "%s: the file is empty", shown(d->path));
    if ((uint64_t)status.st_size > d->memory_bytes)
        return th_fail(err, TH_ERR_LIMIT, "%s: the file is larger than the importer's memory limit of %" PRIu64 " MiB",
                       shown(d->path), d->memory_bytes >> 20);
    if (is_behind(o) && !find_behind(o))
        return th_fail(err, TH_ERR_INPUT, "%s: the file behind it has no name to open it by", shown(d->path));
    return TH_OK;
}

/* The file that this code was loaded from: the shared library where it is one, else the program. dladdr() would name it
 * as it was asked for: a program by its argv[0], a library perhaps from a folder that is no longer the current one. */
static void find_own_file(char path[PATH_MAX])
{
    const uintptr_t here = (uintptr_t)find_own_file;
    char line[PATH_MAX + 128]; /* begin-end rights offset device inode path */
    path[0] = '\0';
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && path[0] == '\0' && fgets(line, sizeof line, maps)) {
        uintptr_t begin, end;
        int name = 0;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &begin, &end, &name) == 2 && here >= begin &&
            here < end && strlen(line + name) < PATH_MAX)
            strcpy(path, line + name);
    }
    if (maps)
        fclose(maps);
}

/* Whether the importer is at this place, as seen from the folder of a file. */
static bool is_at(const char *place, const char *file, char path[PATH_MAX])
{
    const char *slash = strrchr(file, '/');
    return slash && snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - file), file, place) < PATH_MAX &&
           access(path, X_OK) == 0;
}

/* Search order: beside the running program (build folder), in the installation that the program is in, in that of the
 * shared library, where this library was configured to look. An installation may have been moved. */
static bool find_importer(char path[PATH_MAX])
{
    char file[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", file, PATH_MAX - 1);
    file[length < 0 ? 0 : length] = '\0';
    if (is_at("throng-import", file, path) || is_at(TH_LIBEXEC_FROM_BIN "/throng-import", file, path))
        return true;
    find_own_file(file);
    return is_at(TH_LIBEXEC_FROM_LIB "/throng-import", file, path) || is_at("throng-import", TH_LIBEXEC_DIR "/", path);
}

/* ---- the child ---- */

static th_result start(const th_import_desc *d, const opened *o, const char *importer, child *c, th_error *err)
{
    char file[PATH_MAX + 32], memory[24], seconds[24];
    snprintf(file, sizeof file, TH_PATH_IN_FOLDER, o->folder, strrchr(o->path, '/') + 1);
    snprintf(memory, sizeof memory, "%" PRIu64, d->memory_bytes);
    snprintf(seconds, sizeof seconds, "%.0f", ceil(fmin(d->timeout_s, 1e6)));
    const char *arguments[] = {importer, file, memory, seconds, d->allow_outside ? "outside" : NULL, NULL};

    /* What it takes to start: where libraries are, and how they and sanitizers behave. Everything else is none of its
     * business. */
    static const char *const names[] = {
        "LD_LIBRARY_PATH=", "GLIBC_TUNABLES=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "TSAN_OPTIONS="};
    enum { COUNT = sizeof names / sizeof *names };
    const char *variables[COUNT + 1] = {NULL};
    for (int n = 0, kept = 0; n < COUNT; n++) {
        char **own = environ;
        while (*own && strncmp(*own, names[n], strlen(names[n])) != 0)
            own++;
        if (*own)
            variables[kept++] = *own;
    }

    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot create a pipe: %s", strerrordesc_np(errno));
    const th_subprocess_desc subprocess = {importer, arguments, variables, .only_variables = true,
                                           .files = {o->file, ends[1], -1}}; /* Assimp prints a lot */
    int error = th_subprocess_start(&subprocess, &c->pid);
    close(ends[1]);
    c->answer = ends[0];
    if (error) {
        close(ends[0]);
        return th_fail(err, error == ENOMEM ? TH_ERR_MEMORY : TH_ERR_ENVIRONMENT, "cannot start %s: %s",
                       shown(importer), strerrordesc_np(error));
    }
    return TH_OK;
}

/* ---- reading the answer ---- */

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0;
}

/* Returns false if nothing can be read in time. */
static bool wait_readable(const child *c, const th_import_desc *d)
{
    for (;;) {
        /* It has one thread, so it cannot use more time of a processor than passes. */
        clockid_t clock;
        const double used_s = clock_getcpuclockid(c->pid, &clock) == 0 ? seconds_of(clock) : 0;
        const double left_s = fmin(d->timeout_s - used_s, c->deadline_s - seconds_of(CLOCK_MONOTONIC));
        if (!(left_s > 0))
            return false;
        struct pollfd p = {.fd = c->answer, .events = POLLIN};
        int ready = poll(&p, 1, (int)fmin(ceil(left_s * 1e3), 1e6));
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

typedef enum outcome { COMPLETE, ENDED, RUBBISH, STRANGE, NO_MEMORY, TOO_LARGE, TIMED_OUT } outcome;

static outcome listen_to(const child *c, const th_import_desc *d, answer *a)
{
    *a = (answer){.bytes = malloc(TH_ARCHIVE_HEAD_BYTES), .size = TH_ARCHIVE_HEAD_BYTES};
    if (!a->bytes)
        return NO_MEMORY;
    while (a->used < a->size) {
        if (!wait_readable(c, d))
            return TIMED_OUT;
        ssize_t got = read(c->answer, a->bytes + a->used, a->size - a->used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return ENDED;
        a->used += (size_t)got;
        if (a->used != TH_ARCHIVE_HEAD_BYTES)
            continue;

        /* The head is complete. Untouched memory costs nothing, so a false length does no harm. */
        const uint64_t size = th_archive_size(a->bytes);
        if (size == 0)
            return STRANGE;
        if (size <= a->size || size > d->memory_bytes)
            return RUBBISH;
        a->size = size;
        if (size > d->answer_bytes)
            return TOO_LARGE;
        uint8_t *bytes = realloc(a->bytes, size);
        if (!bytes)
            return NO_MEMORY;
        a->bytes = bytes;
    }
    return COMPLETE;
}

/* ---- messages ---- */

static th_result explain_timeout(const th_import_desc *d, const child *c, th_error *err)
{
    const bool stuck = seconds_of(CLOCK_MONOTONIC) >= c->deadline_s;
    return th_fail(err, TH_ERR_INPUT, "%s: no model after %g s", shown(d->path),
                   stuck ? WALL_FACTOR * d->timeout_s : d->timeout_s);
}

/* throng-import answers before it exits, whatever the model is. A program that does not cannot run here, or is a
 * different program. */
static th_result explain_ending(const th_import_desc *d, const child *c, const char *importer, int status,
                                th_error *err)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) /* exit code of the dynamic linker */
        return th_fail(err, TH_ERR_ENVIRONMENT, "%s: %s cannot be started", shown(d->path), shown(importer));
    if (WIFEXITED(status))
        return th_fail(err, TH_ERR_ENVIRONMENT, "%s: %s gave up without an answer (exit code %d)", shown(d->path),
                       shown(importer), WEXITSTATUS(status));
    int signal = WTERMSIG(status);
    if (signal == SIGXCPU)
        return explain_timeout(d, c, err);
    const char *cause = sigdescr_np(signal);
    if (!cause)
        cause = "unknown signal";
    return th_fail(err, TH_ERR_INPUT, "%s: the importer crashed (%c%s)", shown(d->path), tolower(cause[0]), cause + 1);
}

th_result th_import(const th_import_desc *desc, th_model **out, th_error *err)
{
    if (!TH_VALID(desc && desc->path && out))
        return th_fail(err, TH_ERR_USAGE, "th_import: desc, its path or out is NULL");
    *out = NULL;
    if (!TH_VALID(desc->timeout_s >= 0 && th_reserved_is_zero(desc->reserved)))
        return th_fail(err, TH_ERR_USAGE, "th_import_desc.%s is not valid",
                       desc->timeout_s >= 0 ? "reserved" : "timeout_s");
    th_import_desc d = *desc;
    if (!(d.timeout_s > 0))
        d.timeout_s = TH_IMPORT_DEFAULT_TIMEOUT_S;
    if (d.memory_bytes == 0)
        d.memory_bytes = TH_IMPORT_DEFAULT_MEMORY;
    if (d.answer_bytes == 0)
        d.answer_bytes = d.memory_bytes;
    opened o = {-1, -1, ""};
    th_result result = open_and_check(&d, &o, err);
    char beside[PATH_MAX];
    const char *importer = d.importer ? d.importer : beside;
    if (result == TH_OK && !d.importer && !find_importer(beside))
        result = th_fail(
            err, TH_ERR_ENVIRONMENT,
            "throng-import is neither beside this program, nor where it or the library is installed, nor in %s; "
            "th_import_desc.importer says where it is, and so does pkg-config --variable=importer throng",
            TH_LIBEXEC_DIR);
    child c = {.deadline_s = seconds_of(CLOCK_MONOTONIC) + WALL_FACTOR * d.timeout_s};
    if (result == TH_OK)
        result = start(&d, &o, importer, &c, err);
    if (o.file >= 0)
        close(o.file);
    if (o.folder >= 0)
        close(o.folder);
    if (result != TH_OK)
        return result;

    answer a;
    th_error inner;
    outcome heard = listen_to(&c, &d, &a);
    close(c.answer); /* complete or no longer wanted */
    int status = th_subprocess_kill(c.pid);
    switch (heard) {
    case COMPLETE:
        result = th_archive_read(a.bytes, a.size, out, &inner);
        if (result != TH_OK)
            th_fail(err, result, "%s: %s", shown(d.path), inner.text);
        break;
    case ENDED:
        result = explain_ending(&d, &c, importer, status, err);
        break;
    case RUBBISH:
        result = th_fail(err, TH_ERR_INPUT, "%s: the importer's answer is damaged", shown(d.path));
        break;
    case STRANGE:
        result = th_fail(err, TH_ERR_ENVIRONMENT, "%s: the answer of %s is no model; is it of another version?",
                         shown(d.path), shown(importer));
        break;
    case NO_MEMORY:
        result = th_fail(err, TH_ERR_MEMORY, "%s: out of memory", shown(d.path));
        break;
    case TOO_LARGE:
        result = th_fail(err, TH_ERR_LIMIT, "%s: the model takes %.1f MB, and at most %.1f MB can be read here",
                         shown(d.path), (double)a.size / 1e6, (double)d.answer_bytes / 1e6);
        break;
    case TIMED_OUT:
        result = explain_timeout(&d, &c, err);
        break;
    }
    free(a.bytes);
    return result;
}
