#include "leftovers.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Empties a folder again if a process that is being killed has written another file meanwhile. */
static void discard(struct leftover *l)
{
    struct stat status;
    const bool is_ours = lstat(l->path, &status) == 0 && status.st_dev == l->device && status.st_ino == l->file;
    if (is_ours && !S_ISDIR(status.st_mode))
        unlink(l->path);
    while (is_ours && S_ISDIR(status.st_mode) && rmdir(l->path) != 0 && th_remove_files(l->path, "") > 0)
        ;
    l->path[0] = '\0';
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
    for (int i = 0; i < TH_LEFTOVERS; i++)
        if (all[i].path[0] && (!path || strcmp(all[i].path, path) == 0))
            discard(&all[i]);
    pthread_mutex_unlock(&lock);
}
