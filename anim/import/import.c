/* The parent's side of the import: starts throng-import, reads its pipe until the answer is complete, the child exits
 * or the time limit passes, and turns failures into messages. */
#include <throng/anim/import.h>

#include "model/archive.h"

#include <throng/core/subprocess.h>

#include <assert.h>
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

typedef struct child {
    pid_t pid;
    int answer; /* read end of the pipe */
} child;

typedef struct answer {
    uint8_t *bytes;
    size_t used, size; /* size: TH_ARCHIVE_HEAD_BYTES until the head has been read, then what it says */
} answer;

/* The end of a path, short enough to leave room for the message. */
static const char *shown(const char *path)
{
    size_t length = strlen(path), most = 400;
    return path + (length > most ? length - most : 0);
}

/* ---- checks before starting ---- */

static th_import_desc with_defaults(const th_import_desc *desc)
{
    th_import_desc d = *desc;
    if (!(d.timeout_s > 0))
        d.timeout_s = TH_IMPORT_DEFAULT_TIMEOUT_S;
    if (d.memory_bytes == 0)
        d.memory_bytes = TH_IMPORT_DEFAULT_MEMORY;
    return d;
}

/* Opens the file instead of calling stat, so that "permission denied" shows here. O_NONBLOCK, because it may be a
 * fifo. */
static th_result check_file(const th_import_desc *d, th_error *err)
{
    if (d->path[0] == '\0')
        return th_fail(err, TH_ERR_INPUT, "the name of the model file is empty");
    int file = open(d->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return th_fail(err, TH_ERR_INPUT, "%s: %s", shown(d->path), strerrordesc_np(errno));
    struct stat status;
    bool known = fstat(file, &status) == 0;
    close(file);
    if (!known || !S_ISREG(status.st_mode))
        return th_fail(err, TH_ERR_INPUT, "%s: %s", shown(d->path),
                       known && S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file");
    if (status.st_size == 0)
        return th_fail(err, TH_ERR_INPUT, "%s: the file is empty", shown(d->path));
    if ((uint64_t)status.st_size > d->memory_bytes)
        return th_fail(err, TH_ERR_LIMIT, "%s: the file is larger than the importer's memory limit of %" PRIu64 " MiB",
                       shown(d->path), d->memory_bytes >> 20);
    return TH_OK;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The path for the importer. A path through /proc/self, such as /dev/stdin, means something else in each process, and
 * in the importer its own pipe. Such a file is passed by its real path. */
static th_result find_file(const th_import_desc *d, char true_path[PATH_MAX], const char **out, th_error *err)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
    long file = syscall(SYS_openat2, AT_FDCWD, d->path, &how, sizeof how);
    *out = d->path;
    if (file >= 0)
        close((int)file);
    if (file >= 0 || errno != ELOOP)
        return TH_OK;
    *out = true_path;
    if (!realpath(d->path, true_path) || !same_file(d->path, true_path))
        return th_fail(err, TH_ERR_INPUT, "%s: the file behind it has no name to open it by", shown(d->path));
    return TH_OK;
}

/* Search order: beside the running program (build folder), where a program of the same installation has it, where this
 * library was configured to look. */
static bool find_importer(char path[PATH_MAX])
{
    static const char *const places[] = {"throng-import", "../libexec/throng/throng-import"};
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(path, '/');
    for (size_t p = 0; slash && p < sizeof places / sizeof *places; p++) {
        size_t room = (size_t)(path + PATH_MAX - (slash + 1));
        if (snprintf(slash + 1, room, "%s", places[p]) < (int)room && access(path, X_OK) == 0)
            return true;
    }
    return snprintf(path, PATH_MAX, "%s/throng-import", TH_LIBEXEC_DIR) < PATH_MAX && access(path, X_OK) == 0;
}

/* ---- the child ---- */

static th_result start(const th_import_desc *d, const char *importer, child *c, th_error *err)
{
    char true_path[PATH_MAX], memory[24], seconds[24];
    const char *file;
    th_result result = find_file(d, true_path, &file, err);
    if (result != TH_OK)
        return result;
    snprintf(memory, sizeof memory, "%" PRIu64, d->memory_bytes);
    snprintf(seconds, sizeof seconds, "%.0f", ceil(fmin(d->timeout_s, 1e6)));
    const char *arguments[] = {importer, file, memory, seconds, NULL};

    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot create a pipe: %s", strerrordesc_np(errno));
    const th_subprocess_desc subprocess = {importer, arguments, .files = {-1, ends[1], -1}}; /* Assimp prints a lot */
    int error = th_subprocess_start(&subprocess, &c->pid);
    close(ends[1]);
    c->answer = ends[0];
    if (error) {
        close(ends[0]);
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start %s: %s", shown(importer), strerrordesc_np(error));
    }
    return TH_OK;
}

/* The answer is complete or no longer wanted. */
static int stop(child *c)
{
    assert(c->pid > 0);
    close(c->answer);
    return th_subprocess_kill(c->pid);
}

/* ---- reading the answer ---- */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns false if nothing can be read before the deadline. */
static bool wait_readable(int fd, double deadline_s)
{
    for (;;) {
        double left_s = deadline_s - now_s();
        if (!(left_s > 0))
            return false;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, (int)fmin(ceil(left_s * 1e3), 1e6));
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

/* Allocates room for the rest once the head is complete. Untouched memory costs nothing, so a false length does no
 * harm. */
static bool grow(answer *a, uint64_t limit)
{
    assert(a->used == TH_ARCHIVE_HEAD_BYTES && a->size == a->used);
    uint64_t size = th_archive_size(a->bytes);
    uint8_t *bytes = size > a->size && size <= limit ? realloc(a->bytes, size) : NULL;
    if (!bytes)
        return false;
    a->bytes = bytes;
    a->size = size;
    return true;
}

typedef enum outcome { COMPLETE, ENDED, RUBBISH, STRANGE, TIMED_OUT } outcome;

static outcome listen_to(const child *c, double deadline_s, uint64_t limit, answer *a)
{
    *a = (answer){.bytes = malloc(TH_ARCHIVE_HEAD_BYTES), .size = TH_ARCHIVE_HEAD_BYTES};
    if (!a->bytes)
        return RUBBISH;
    while (a->used < a->size) {
        if (!wait_readable(c->answer, deadline_s))
            return TIMED_OUT;
        ssize_t got = read(c->answer, a->bytes + a->used, a->size - a->used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return ENDED;
        a->used += (size_t)got;
        if (a->used == TH_ARCHIVE_HEAD_BYTES && th_archive_size(a->bytes) == 0)
            return STRANGE;
        if (a->used == TH_ARCHIVE_HEAD_BYTES && !grow(a, limit))
            return RUBBISH;
    }
    return COMPLETE;
}

/* ---- messages ---- */

static th_result explain_timeout(const th_import_desc *d, th_error *err)
{
    return th_fail(err, TH_ERR_INPUT, "%s: no model after %g s", shown(d->path), d->timeout_s);
}

/* throng-import answers before it exits, whatever the model is. A program that does not cannot run here, or is a
 * different program. */
static th_result explain_ending(const th_import_desc *d, const char *importer, int status, th_error *err)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) /* exit code of the dynamic linker */
        return th_fail(err, TH_ERR_ENVIRONMENT, "%s: %s cannot be started", shown(d->path), shown(importer));
    if (WIFEXITED(status))
        return th_fail(err, TH_ERR_ENVIRONMENT, "%s: %s gave up without an answer (exit code %d)", shown(d->path),
                       shown(importer), WEXITSTATUS(status));
    int signal = WTERMSIG(status);
    if (signal == SIGXCPU)
        return explain_timeout(d, err);
    const char *cause = sigdescr_np(signal);
    if (!cause)
        cause = "unknown signal";
    return th_fail(err, TH_ERR_INPUT, "%s: the importer crashed (%c%s)", shown(d->path), tolower(cause[0]), cause + 1);
}

static th_result read_answer(const th_import_desc *d, const answer *a, th_model **out, th_error *err)
{
    assert(a->used == a->size);
    th_error inner;
    th_result result = th_archive_read(a->bytes, a->size, out, &inner);
    return result == TH_OK ? TH_OK : th_fail(err, result, "%s: %s", shown(d->path), inner.text);
}

th_result th_import(const th_import_desc *desc, th_model **out, th_error *err)
{
    assert(desc && desc->path && out);
    assert(desc->timeout_s >= 0);
    *out = NULL;
    th_import_desc d = with_defaults(desc);
    double deadline_s = now_s() + d.timeout_s;
    th_result result = check_file(&d, err);
    char beside[PATH_MAX];
    const char *importer = d.importer ? d.importer : beside;
    if (result == TH_OK && !d.importer && !find_importer(beside))
        result =
            th_fail(err, TH_ERR_ENVIRONMENT, "throng-import is neither beside this program nor in %s", TH_LIBEXEC_DIR);
    child c;
    if (result == TH_OK)
        result = start(&d, importer, &c, err);
    if (result != TH_OK)
        return result;

    answer a;
    outcome heard = listen_to(&c, deadline_s, d.memory_bytes, &a);
    int status = stop(&c);
    switch (heard) {
    case COMPLETE:
        result = read_answer(&d, &a, out, err);
        break;
    case ENDED:
        result = explain_ending(&d, importer, status, err);
        break;
    case RUBBISH:
        result = th_fail(err, TH_ERR_INPUT, "%s: the importer's answer is damaged", shown(d.path));
        break;
    case STRANGE:
        result = th_fail(err, TH_ERR_ENVIRONMENT, "%s: the answer of %s is no model; is it of another version?",
                         shown(d.path), shown(importer));
        break;
    case TIMED_OUT:
        result = explain_timeout(&d, err);
        break;
    }
    free(a.bytes);
    return result;
}
