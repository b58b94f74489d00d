#include <core/file.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A file while it is written. */
typedef struct target {
    char *path;      /* symbolic links resolved, so that a link stays a link */
    char *temporary; /* NULL: written in place */
    int fd;
    bool deaf; /* signals are blocked, because there may be a temporary file */
    sigset_t heard_before;
} target;

/* A signal that ends the program would leave the temporary file behind, so signals are blocked until it is gone.
 * O_TMPFILE would avoid that, but not all file systems support it, and a file without a name cannot atomically replace
 * another. Not for files written in place, because writing to a pipe may block for any time. */
static void go_deaf(target *t)
{
    assert(!t->deaf);
    sigset_t all;
    sigfillset(&all);
    t->deaf = pthread_sigmask(SIG_SETMASK, &all, &t->heard_before) == 0;
}

/* SIGXFSZ goes to this thread alone, and write() already failed with EFBIG. */
static void hear_again(target *t)
{
    if (!t->deaf)
        return;
    sigset_t file_size;
    sigemptyset(&file_size);
    sigaddset(&file_size, SIGXFSZ);
    sigtimedwait(&file_size, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &t->heard_before, NULL);
}

static void target_close(target *t)
{
    if (t->fd >= 0)
        close(t->fd);
    if (t->temporary)
        unlink(t->temporary);
    free(t->temporary);
    free(t->path);
    hear_again(t);
}

/* Creates a new file beside the path. Unlike mkstemp(), leaves the permissions to the umask. */
static bool open_temporary(target *t)
{
    assert(t->fd < 0 && !t->temporary);
    assert(t->path[0] == '/'); /* resolved, so the folder is known */
    /* Does not contain the file's own name, which could make it too long. */
    const size_t folder_length = (size_t)(strrchr(t->path, '/') + 1 - t->path), size = folder_length + 64;
    t->temporary = malloc(size);
    if (!t->temporary)
        return false;
    go_deaf(t);
    for (unsigned attempt = 0; t->fd < 0 && attempt < 1000; attempt++) {
        snprintf(t->temporary, size, "%.*sthrong.%ld-%u.tmp", (int)folder_length, t->path, (long)getpid(), attempt);
        t->fd = open(t->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (t->fd < 0 && errno != EEXIST)
            break;
    }
    if (t->fd < 0) {
        free(t->temporary);
        t->temporary = NULL; /* there is no file of ours to remove */
    }
    return t->fd >= 0;
}

/* Joins the first `length` characters of a folder's name and a name. NULL: see errno. */
static char *join(const char *folder, size_t length, const char *name)
{
    char *path;
    return asprintf(&path, "%.*s%s", (int)length, folder, name) < 0 ? NULL : path;
}

/* Handles a file that does not exist in a folder that does. */
static char *resolve_new(const char *path, size_t folder_length)
{
    char *folder = join(path, folder_length, "."), *real = folder ? realpath(folder, NULL) : NULL, *whole = NULL;
    if (real && asprintf(&whole, "%s/%s", real, path + folder_length) < 0)
        whole = NULL;
    free(real);
    free(folder);
    return whole;
}

char *th_file_resolve(const char *path)
{
    assert(path);
    char *real = realpath(path, NULL), text[PATH_MAX];
    if (real || errno != ENOENT)
        return real;
    const char *slash = strrchr(path, '/');
    const size_t folder_length = slash ? (size_t)(slash + 1 - path) : 0;
    const ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0)
        return resolve_new(path, folder_length);
    text[length] = '\0';
    char *next = join(path, text[0] == '/' ? 0 : folder_length, text);
    if (next)
        real = th_file_resolve(next);
    free(next);
    return real;
}

th_result th_file_make_folders(const char *path, th_error *err)
{
    assert(path);
    char *folder = strdup(path);
    th_result result = folder ? TH_OK : th_fail(err, TH_ERR_MEMORY, "out of memory");
    char *slash = folder && path[0] ? strchr(folder + 1, '/') : NULL;
    for (; slash && result == TH_OK; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            result = th_fail(err, TH_ERR_INPUT, "cannot make %s: %s", folder, strerror(errno));
        *slash = '/';
    }
    free(folder);
    return result;
}

/* On failure errno says why. The caller closes the target in either case. */
static bool target_open(target *t, const char *path)
{
    struct stat status;
    *t = (target){.path = th_file_resolve(path), .fd = -1};
    if (!t->path)
        return false;
    if (stat(t->path, &status) != 0)
        return errno == ENOENT && open_temporary(t);
    if (!S_ISREG(status.st_mode)) {
        /* A pipe without a reader is an error; O_NONBLOCK avoids waiting for one. */
        t->fd = open(t->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        return t->fd >= 0 && fcntl(t->fd, F_SETFL, 0) == 0;
    }
    return access(t->path, W_OK) == 0 && open_temporary(t) && fchmod(t->fd, status.st_mode & 0777) == 0;
}

static bool write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return true;
}

static bool target_write(target *t, const struct iovec *parts, int part_count)
{
    assert(t->fd >= 0);
    for (int i = 0; i < part_count; i++)
        if (!write_all(t->fd, parts[i].iov_base, parts[i].iov_len))
            return false;
    return !t->temporary || fsync(t->fd) == 0;
}

static bool target_commit(target *t)
{
    assert(t->fd >= 0);
    int fd = t->fd;
    t->fd = -1;
    if (close(fd) != 0)
        return false;
    if (!t->temporary)
        return true;
    if (rename(t->temporary, t->path) != 0)
        return false;
    free(t->temporary);
    t->temporary = NULL;
    return true;
}

static th_result refuse(const char *path, th_error *err)
{
    const char *why = errno == ENXIO ? "nobody reads this pipe" : strerror(errno);
    return th_fail(err, errno == ENOMEM ? TH_ERR_MEMORY : TH_ERR_INPUT, "cannot write %s: %s", path, why);
}

th_result th_file_replace(const char *path, const struct iovec *parts, int part_count, th_error *err)
{
    assert(path && parts && part_count > 0);
    target t;
    th_result result = TH_OK;
    if (!target_open(&t, path) || !target_write(&t, parts, part_count) || !target_commit(&t))
        result = refuse(path, err);
    target_close(&t);
    return result;
}

th_result th_file_probe(const char *path, th_error *err)
{
    assert(path);
    target t;
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
        !S_ISDIR(status.st_mode)) /* a pipe can be opened once only */
        return access(path, W_OK) == 0 ? TH_OK : refuse(path, err);
    th_result result = target_open(&t, path) ? TH_OK : refuse(path, err);
    target_close(&t);
    return result;
}
