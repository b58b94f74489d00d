#include "process.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Fields 20 (threads), 22 (start, in ticks since boot), 23 (virtual bytes) and 24 (resident pages) of proc(5)'s stat,
 * after a name that may contain any characters. */
static void read_stat(th_process *p)
{
    char text[1024];
    unsigned long long threads = 0, start = 0, bytes = 0;
    long long pages = 0;
    struct timespec real, boot;
    FILE *file = fopen("/proc/self/stat", "re");
    const size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    const char *behind = strrchr(text, ')');
    if (!behind ||
        sscanf(behind + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %llu %*d %llu %llu %lld", &threads,
               &start, &bytes, &pages) != 4)
        return;
    p->threads = threads;
    p->virtual_bytes = bytes;
    p->resident_bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    const double now_s = (double)real.tv_sec + (double)real.tv_nsec * 1e-9;
    const double up_s = (double)boot.tv_sec + (double)boot.tv_nsec * 1e-9;
    p->start_time_s = now_s - up_s + (double)start / (double)sysconf(_SC_CLK_TCK);
}

static uint64_t count_fds(void)
{
    uint64_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 3; /* ".", ".." and the descriptor of the folder itself */
}

th_process th_process_read(void)
{
    th_process p = {.open_fds = count_fds()};
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        p.max_fds = limit.rlim_cur;
    read_stat(&p);
    return p;
}
