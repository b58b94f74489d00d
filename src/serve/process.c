#include "process.h"

#include <assert.h>
#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- threads ---- */

void th_thread_lower_priority(void)
{
    const id_t self = (id_t)gettid(); /* on Linux a thread, unlike POSIX */
    setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + TH_THREAD_NICE);
}

uint64_t th_thread_cpu_ns(pthread_t thread)
{
    clockid_t clock;
    struct timespec time;
    if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- memory ---- */

/* With the lock. */
static uint64_t left_of(const th_memory_budget *b)
{
    uint64_t used = 0;
    for (int k = 0; k < TH_MEMORY_KINDS; k++)
        used += b->used[k];
    assert(used <= b->limit);
    return b->limit - used;
}

bool th_memory_reserve(th_memory_budget *b, th_memory_kind kind, uint64_t bytes)
{
    pthread_mutex_lock(&b->lock);
    const bool fits = bytes <= left_of(b);
    b->used[kind] += fits ? bytes : 0;
    pthread_mutex_unlock(&b->lock);
    return fits;
}

uint64_t th_memory_reserve_part(th_memory_budget *b, th_memory_kind kind, uint64_t parts)
{
    assert(parts > 0);
    pthread_mutex_lock(&b->lock);
    const uint64_t bytes = left_of(b) / parts;
    b->used[kind] += bytes;
    pthread_mutex_unlock(&b->lock);
    return bytes;
}

void th_memory_release(th_memory_budget *b, th_memory_kind kind, uint64_t bytes)
{
    pthread_mutex_lock(&b->lock);
    assert(bytes <= b->used[kind]);
    b->used[kind] -= bytes;
    pthread_mutex_unlock(&b->lock);
}

uint64_t th_memory_used(th_memory_budget *b, th_memory_kind kind)
{
    pthread_mutex_lock(&b->lock);
    const uint64_t used = b->used[kind];
    pthread_mutex_unlock(&b->lock);
    return used;
}

uint64_t th_memory_left(th_memory_budget *b)
{
    pthread_mutex_lock(&b->lock);
    const uint64_t left = left_of(b);
    pthread_mutex_unlock(&b->lock);
    return left;
}

void th_memory_limit_process(pid_t pid, uint64_t bytes)
{
    if (!TH_SANITIZED)
        prlimit(pid, RLIMIT_DATA, &(struct rlimit){bytes, bytes}, NULL);
}

/* ---- leftovers ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct leftover {
    char path[PATH_MAX]; /* "": free */
    dev_t device;
    ino_t file; /* another one may have the name by now: another server's socket */
} all[TH_LEFTOVERS];

static unsigned remove_files(const char *folder)
{
    unsigned count = 0;
    DIR *files = opendir(folder);
    for (struct dirent *e; files && (e = readdir(files));)
        count += unlinkat(dirfd(files), e->d_name, 0) == 0;
    if (files)
        closedir(files);
    return count;
}

void th_leftovers_add(const char *path)
{
    struct stat status;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < TH_LEFTOVERS; i++)
        if (all[i].path[0] == '\0' && strlen(path) < PATH_MAX && lstat(path, &status) == 0) {
            strcpy(all[i].path, path);
            all[i].device = status.st_dev;
            all[i].file = status.st_ino;
            break;
        }
    pthread_mutex_unlock(&lock);
}

void th_leftovers_remove(const char *path)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < TH_LEFTOVERS; i++) {
        struct leftover *l = &all[i];
        struct stat status;
        if (!l->path[0] || (path && strcmp(l->path, path) != 0))
            continue;
        const bool is_ours = lstat(l->path, &status) == 0 && status.st_dev == l->device && status.st_ino == l->file;
        if (is_ours && !S_ISDIR(status.st_mode))
            unlink(l->path);
        /* A folder is emptied again if a process that is being killed has written another file meanwhile. */
        while (is_ours && S_ISDIR(status.st_mode) && rmdir(l->path) != 0 && remove_files(l->path) > 0)
            ;
        l->path[0] = '\0';
    }
    pthread_mutex_unlock(&lock);
}
