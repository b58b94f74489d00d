#include "export_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Opens a file beside `path` that nobody else has, and stores its name, which the caller frees. Unlike mkstemp(),
 * leaves the permissions to the umask, as for any file that a program creates. Returns -1 and sets errno on failure. */
static int open_temporary(const char *path, char **out_name)
{
    size_t size = strlen(path) + 32;
    char *name = malloc(size);
    int fd = -1;
    for (unsigned attempt = 0; name && fd < 0 && attempt < 1000; attempt++) {
        snprintf(name, size, "%s.%ld-%u.tmp", path, (long)getpid(), attempt);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        free(name);
    else
        *out_name = name;
    return fd;
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

/* Closes `fd` whatever happens; errno is that of the first failure. */
static bool write_and_close(int fd, const struct iovec *parts, int part_count)
{
    bool ok = true;
    for (int i = 0; ok && i < part_count; i++)
        ok = write_all(fd, parts[i].iov_base, parts[i].iov_len);
    ok = ok && fsync(fd) == 0;
    int first = errno;
    if (close(fd) != 0 && ok)
        return false;
    errno = first;
    return ok;
}

th_result th_file_replace(const char *path, const struct iovec *parts, int part_count, th_error *err)
{
    assert(path && parts);
    char *temporary;
    int fd = open_temporary(path, &temporary);
    if (fd < 0)
        return th_fail(err, TH_ERR_INPUT, "cannot write %s: %s", path, strerror(errno));

    th_result result = TH_OK;
    if (!write_and_close(fd, parts, part_count) || rename(temporary, path) != 0) {
        result = th_fail(err, TH_ERR_INPUT, "cannot write %s: %s", path, strerror(errno));
        unlink(temporary);
    }
    free(temporary);
    return result;
}
