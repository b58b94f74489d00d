#include "process.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
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

/* ---- leftovers ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct leftover {
    char path[PATH_MAX]; /* "": free */
    dev_t device;
    ino_t file; /* another one may have the name by now: another server's socket */
} all[TH_LEFTOVERS];

unsigned th_remove_files(const char *folder, const char *prefix)
{
    unsigned count = 0;
    DIR *files = opendir(folder);
    for (struct dirent *e; files && (e = readdir(files));)
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0)
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
        while (is_ours && S_ISDIR(status.st_mode) && rmdir(l->path) != 0 && th_remove_files(l->path, "") > 0)
            ;
        l->path[0] = '\0';
    }
    pthread_mutex_unlock(&lock);
}
