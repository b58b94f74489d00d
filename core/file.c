#include <core/file.h>

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- opening ---- */

/* For kernels without openat2, or whose Landlock is too old for it. */
static int walk(int folder, const char *path, int flags)
{
    char parts[PATH_MAX];
    if (strlen(path) >= sizeof parts || path[0] == '/')
        return errno = path[0] == '/' ? EXDEV : ENAMETOOLONG, -1;
    strcpy(parts, path);
    int at = openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (char *part = parts, *slash; at >= 0 && part; part = slash ? slash + 1 : NULL) {
        slash = strchr(part, '/');
        if (slash)
            *slash = '\0';
        struct stat status;
        const bool leaves = strcmp(part, "..") == 0 ||
                            (fstatat(at, part, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode));
        const int next =
            leaves ? -1 : openat(at, part, O_NOFOLLOW | O_CLOEXEC | (slash ? O_PATH | O_DIRECTORY : flags));
        const int error = leaves || errno == ELOOP ? EXDEV : errno;
        close(at);
        at = next;
        errno = error;
    }
    return at;
}

int th_open_beneath(int folder, const char *path, int flags)
{
    const struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC),
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int file = -1;
    errno = EAGAIN; /* where anything is renamed meanwhile, and the path has a ".." */
    for (int attempt = 0; file < 0 && errno == EAGAIN && attempt < 100; attempt++)
        file = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    if (file < 0 && (errno == ENOSYS || errno == EPERM))
        file = walk(folder, path, flags);
    if (file < 0 && errno == ELOOP)
        errno = EXDEV;
    return file;
}

int th_open_folder(const char *path)
{
    const int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || folder > STDERR_FILENO)
        return folder;
    const int higher = fcntl(folder, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(folder);
    return higher;
}

const char *th_path_in_folder(const char *path, int *out_folder)
{
    int used = 0;
    const bool is_one = sscanf(path, "/proc/self/fd/%d/%n", out_folder, &used) == 1 && used > 0 && path[used];
    return is_one && !strchr(path + used, '/') ? path + used : NULL;
}

/* ---- replacing ---- */

/* A file while it is written. */
typedef struct target {
    char *path;      /* symbolic links resolved, so that a link stays a link */
    char *temporary; /* NULL: written in place */
    int fd;
    bool deaf; /* signals are blocked, because there may be a temporary file */
    sigset_t heard_before;
} target;

static void target_close(target *t)
{
    if (t->temporary)
        unlink(t->temporary);
    if (t->fd >= 0)
        close(t->fd);
    free(t->temporary);
    free(t->path);
    if (!t->deaf)
        return;
    /* SIGXFSZ goes to this thread alone, and write() already failed with EFBIG. */
    sigset_t file_size;
    sigemptyset(&file_size);
    sigaddset(&file_size, SIGXFSZ);
    sigtimedwait(&file_size, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &t->heard_before, NULL);
}

enum { BOOT = 8 };

/* The first digits of the kernel's boot id; letters where there is none. */
static void read_boot(char out[BOOT + 1])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file || !fgets(out, BOOT + 1, file))
        strcpy(out, "unknown");
    if (file)
        fclose(file);
}

static bool is_at(int fd, int folder, const char *path)
{
    struct stat own, there;
    return fstat(fd, &own) == 0 && fstatat(folder, path, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

/* Creates a new file beside the path, throng.PID-N.BOOT.tmp, which is locked while it has that name. Unlike mkstemp(),
 * leaves the permissions to the umask. */
static bool open_temporary(target *t)
{
    assert(t->fd < 0 && !t->temporary && !t->deaf);
    assert(t->path[0] == '/'); /* resolved, so the folder is known */
    char boot[BOOT + 1];
    read_boot(boot);
    /* Does not contain the file's own name, which could make it too long. */
    const size_t folder_length = (size_t)(strrchr(t->path, '/') + 1 - t->path), size = folder_length + 64;
    t->temporary = malloc(size);
    if (!t->temporary)
        return false;
    /* A signal that ends the program would leave the temporary file behind, so signals are blocked until it is gone.
     * O_TMPFILE would avoid that, but not all file systems support it, and a file without a name cannot atomically
     * replace another. Not for files written in place, because writing to a pipe may block for any time. */
    sigset_t all;
    sigfillset(&all);
    t->deaf = pthread_sigmask(SIG_SETMASK, &all, &t->heard_before) == 0;
    for (unsigned attempt = 0; t->fd < 0 && attempt < 1000; attempt++) {
        snprintf(t->temporary, size, "%.*sthrong.%ld-%u.%s.tmp", (int)folder_length, t->path, (long)getpid(), attempt,
                 boot);
        t->fd = open(t->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (t->fd < 0 && errno != EEXIST)
            break;
        const bool is_free = t->fd >= 0 && (flock(t->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
        if (t->fd >= 0 && !(is_free && is_at(t->fd, AT_FDCWD, t->temporary))) { /* taken for a leftover meanwhile */
            close(t->fd);
            t->fd = -1;
        }
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

char *th_file_resolve(const char *path)
{
    assert(path);
    char *real = realpath(path, NULL), text[PATH_MAX];
    if (real || errno != ENOENT)
        return real;
    const char *slash = strrchr(path, '/');
    const size_t folder_length = slash ? (size_t)(slash + 1 - path) : 0;
    const ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0) { /* a file that does not exist, in a folder that does */
        char *folder = join(path, folder_length, "."), *whole = NULL;
        real = folder ? realpath(folder, NULL) : NULL;
        if (real && asprintf(&whole, "%s/%s", real, path + folder_length) < 0)
            whole = NULL;
        free(real);
        free(folder);
        return whole;
    }
    text[length] = '\0';
    char *next = join(path, text[0] == '/' ? 0 : folder_length, text);
    if (next)
        real = th_file_resolve(next);
    free(next);
    return real;
}

bool th_file_is_in_place(const char *path)
{
    struct stat status;
    assert(path);
    if (stat(path, &status) != 0 || S_ISDIR(status.st_mode) || S_ISSOCK(status.st_mode))
        return false;
    /* One that another program replaces at this moment has lost its name, too, but its path leads to a file. */
    char *real = S_ISREG(status.st_mode) && status.st_nlink == 0 ? realpath(path, NULL) : NULL;
    const bool is_nameless = status.st_nlink == 0 && !real;
    free(real);
    return !S_ISREG(status.st_mode) || is_nameless;
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
    *t = (target){.fd = -1};
    if (th_file_is_in_place(path)) {
        /* By the path as given, as a link in /proc/self/fd leads to "pipe:[7]" or "name (deleted)", which are no paths.
         * A pipe without a reader is an error; O_NONBLOCK avoids waiting for one. */
        t->fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_TRUNC);
        return t->fd >= 0 && fcntl(t->fd, F_SETFL, 0) == 0;
    }
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : EOPNOTSUPP; /* a socket cannot be opened */
        return false;
    }
    t->path = th_file_resolve(path);
    if (!t->path)
        return false;
    if (stat(t->path, &status) != 0)
        return errno == ENOENT && open_temporary(t);
    return access(t->path, W_OK) == 0 && open_temporary(t) && fchmod(t->fd, status.st_mode & 0777) == 0;
}

static th_result refuse(const char *path, th_error *err)
{
    const char *why = errno == ENXIO ? "nobody reads this pipe" : strerror(errno);
    return th_fail(err, errno == ENOMEM ? TH_ERR_MEMORY : TH_ERR_INPUT, "cannot write %s: %s", path, why);
}

/* On failure errno says why. The caller closes the target in either case. */
static bool target_replace(target *t, const struct iovec *parts, int part_count)
{
    assert(t->fd >= 0);
    for (int i = 0; i < part_count; i++) {
        const char *bytes = parts[i].iov_base, *end = bytes + parts[i].iov_len;
        while (bytes < end) {
            const ssize_t written = write(t->fd, bytes, (size_t)(end - bytes));
            if (written < 0 && errno != EINTR)
                return false;
            bytes += written > 0 ? written : 0;
        }
    }
    if (t->temporary && (fsync(t->fd) != 0 || rename(t->temporary, t->path) != 0))
        return false;
    free(t->temporary);
    t->temporary = NULL;
    const int fd = t->fd;
    t->fd = -1;
    return close(fd) == 0;
}

th_result th_file_replace(const char *path, const struct iovec *parts, int part_count, th_error *err)
{
    assert(path && parts && part_count > 0);
    target t;
    const bool is_replaced = target_open(&t, path) && target_replace(&t, parts, part_count);
    const th_result result = is_replaced ? TH_OK : refuse(path, err);
    target_close(&t);
    return result;
}

static bool is_temporary(const char *name, char boot[BOOT + 1])
{
    long pid;
    unsigned number;
    char rebuilt[64];
    if (sscanf(name, "throng.%ld-%u.%8[0-9a-f].tmp", &pid, &number, boot) != 3 || strlen(boot) != BOOT)
        return false;
    snprintf(rebuilt, sizeof rebuilt, "throng.%ld-%u.%s.tmp", pid, number, boot);
    return strcmp(rebuilt, name) == 0;
}

/* Removes what killed programs of this user have left in a folder. All processes of this kernel see the lock of one
 * that lives, whereas its id may have become another's. Of another machine, on a network file system, or an earlier
 * boot only what is a day old, which no write takes. now_s: by the clock that stamps files there; 0: not known. */
static void remove_leftovers(const char *path, time_t now_s)
{
    enum { DAY_S = 86400 };
    char boot[BOOT + 1], own_boot[BOOT + 1];
    DIR *folder = opendir(path);
    struct stat other;
    read_boot(own_boot);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!is_temporary(entry->d_name, boot))
            continue;
        const int fd = openat(dirfd(folder), entry->d_name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &other) == 0 && S_ISREG(other.st_mode) && other.st_uid == geteuid() &&
            (strcmp(boot, own_boot) == 0 || now_s - other.st_mtime > DAY_S) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
            is_at(fd, dirfd(folder), entry->d_name))
            unlinkat(dirfd(folder), entry->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (folder)
        closedir(folder);
}

void th_file_remove_leftovers(const char *folder)
{
    remove_leftovers(folder, 0);
}

th_result th_file_probe(const char *path, th_error *err)
{
    assert(path);
    target t;
    if (th_file_is_in_place(path)) /* a pipe can be opened once only */
        return access(path, W_OK) == 0 ? TH_OK : refuse(path, err);
    th_result result = target_open(&t, path) ? TH_OK : refuse(path, err);
    struct stat own;
    char *folder =
        result == TH_OK && t.temporary ? join(t.path, (size_t)(strrchr(t.path, '/') + 1 - t.path), ".") : NULL;
    if (folder && fstat(t.fd, &own) == 0)
        remove_leftovers(folder, own.st_mtime);
    free(folder);
    target_close(&t);
    return result;
}
