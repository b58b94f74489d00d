#include "runqueue_delay.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool read_times(int file, uint64_t *out_ran_ns, uint64_t *out_waited_ns)
{
    char text[96];
    const ssize_t length = pread(file, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return sscanf(text, "%" SCNu64 " %" SCNu64, out_ran_ns, out_waited_ns) == 2;
}

static bool add_thread(th_runqueue_delay *w, int folder, const char *id)
{
    char path[64];
    snprintf(path, sizeof path, "%.32s/schedstat", id);
    int *files = realloc(w->files, (w->count + 1) * sizeof *files);
    w->files = files ? files : w->files;
    const int file = files ? openat(folder, path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0)
        w->files[w->count++] = file;
    return file >= 0;
}

static bool add_threads(th_runqueue_delay *w)
{
    DIR *folder = opendir("/proc/self/task");
    bool good = folder != NULL;
    for (const struct dirent *entry; good && (entry = readdir(folder));)
        good = entry->d_name[0] == '.' || add_thread(w, dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
    return good;
}

/* A kernel without these counters reports 0 for everything, although the calling thread has run. */
static bool are_counted(const th_runqueue_delay *w)
{
    uint64_t ran_ns, waited_ns, all_ns = 0;
    for (uint32_t t = 0; t < w->count; t++)
        if (read_times(w->files[t], &ran_ns, &waited_ns))
            all_ns += ran_ns;
    return all_ns > 0;
}

bool th_runqueue_delay_open(th_runqueue_delay *w)
{
    *w = (th_runqueue_delay){0};
    if (add_threads(w) && are_counted(w)) {
        w->marked_ns = calloc(w->count, sizeof *w->marked_ns);
        if (w->marked_ns)
            return true;
    }
    th_runqueue_delay_close(w);
    return false;
}

void th_runqueue_delay_close(th_runqueue_delay *w)
{
    for (uint32_t t = 0; t < w->count; t++)
        close(w->files[t]);
    free(w->files);
    free(w->marked_ns);
    *w = (th_runqueue_delay){0};
}

void th_runqueue_delay_begin(th_runqueue_delay *w)
{
    uint64_t ran_ns;
    for (uint32_t t = 0; t < w->count; t++)
        read_times(w->files[t], &ran_ns, &w->marked_ns[t]);
}

uint64_t th_runqueue_delay_max(const th_runqueue_delay *w)
{
    uint64_t longest_ns = 0, ran_ns, waited_ns;
    for (uint32_t t = 0; t < w->count; t++)
        if (read_times(w->files[t], &ran_ns, &waited_ns) && waited_ns - w->marked_ns[t] > longest_ns)
            longest_ns = waited_ns - w->marked_ns[t];
    return longest_ns;
}
