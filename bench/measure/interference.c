/* What else runs while something is measured: the counters of the system, before and after. */
#include <bench/interference.h>

#include <core/clock.h>
#include <jobs/jobs.h>

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- of other programs ---- */

#define LEAST_NS 200000000u

/* Reads the lines of our CPUs in /proc/stat (proc(5)): "cpu3 user nice system idle iowait irq softirq steal ...", in
 * ticks. */
static void read_stat(th_interference_mark *mark)
{
    cpu_set_t ours;
    char line[512];
    bool is_found = false;
    double busy = 0, steal = 0;
    FILE *file = sched_getaffinity(0, sizeof ours, &ours) == 0 ? fopen("/proc/stat", "re") : NULL;
    while (file && fgets(line, sizeof line, file)) {
        unsigned cpu;
        unsigned long long t[8];
        const int fields = sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &t[0], &t[1], &t[2],
                                  &t[3], &t[4], &t[5], &t[6], &t[7]);
        if (fields != 9 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &ours))
            continue;
        busy += (double)(t[0] + t[1] + t[2] + t[5] + t[6]);
        steal += (double)t[7];
        is_found = true;
    }
    if (file)
        fclose(file);
    const double ticks = is_found ? (double)sysconf(_SC_CLK_TCK) : (double)NAN;
    mark->busy_s = busy / ticks;
    mark->steal_s = steal / ticks;
}

th_interference_mark th_interference_begin(void)
{
    th_interference_mark mark = {.throttled_ns = th_cpus_throttled_ns()};
    read_stat(&mark);
    mark.own_ns = th_clock_family_cpu_ns();
    mark.wall_ns = th_clock_ns();
    return mark;
}

th_interference th_interference_between(const th_interference_mark *begin, const th_interference_mark *end)
{
    assert(begin && end);
    assert(begin->wall_ns <= end->wall_ns);
    const uint64_t wall_ns = end->wall_ns - begin->wall_ns;
    const double wall_s = wall_ns < LEAST_NS ? (double)NAN : (double)wall_ns / 1e9;
    const double external_s = end->busy_s - begin->busy_s - (double)(end->own_ns - begin->own_ns) / 1e9;
    th_interference interference = {
        .external_cpu_load = external_s / wall_s,
        .steal_cpu_load = (end->steal_s - begin->steal_s) / wall_s,
        .throttled_s = (double)(end->throttled_ns - begin->throttled_ns) / 1e9,
    };
    if (interference.external_cpu_load < 0) /* ticks are coarse */
        interference.external_cpu_load = 0;
    return interference;
}

th_interference th_interference_end(const th_interference_mark *begin)
{
    assert(begin);
    const th_interference_mark end = th_interference_begin();
    return th_interference_between(begin, &end);
}

/* ---- in the run queue ---- */

static bool read_times(int file, uint64_t *out_ran_ns, uint64_t *out_waited_ns)
{
    char text[96];
    const ssize_t length = pread(file, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return sscanf(text, "%" SCNu64 " %" SCNu64, out_ran_ns, out_waited_ns) == 2;
}

bool th_runqueue_delay_open(th_runqueue_delay *w)
{
    *w = (th_runqueue_delay){0};
    DIR *folder = opendir("/proc/self/task");
    bool is_good = folder != NULL;
    uint64_t ran_ns, waited_ns, all_ns = 0;
    for (const struct dirent *entry; is_good && (entry = readdir(folder));) {
        char path[64];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%.32s/schedstat", entry->d_name);
        int *files = realloc(w->files, (w->count + 1) * sizeof *files);
        w->files = files ? files : w->files;
        const int file = files ? openat(dirfd(folder), path, O_RDONLY | O_CLOEXEC) : -1;
        is_good = file >= 0;
        if (is_good)
            w->files[w->count++] = file;
    }
    if (folder)
        closedir(folder);
    for (uint32_t t = 0; t < w->count; t++)
        if (read_times(w->files[t], &ran_ns, &waited_ns))
            all_ns += ran_ns;
    /* A kernel without these counters reports 0 for everything, although the calling thread has run. */
    if (is_good && all_ns > 0)
        w->marked_ns = calloc(w->count, sizeof *w->marked_ns);
    if (w->marked_ns)
        return true;
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

/* ---- of this process ---- */

void th_wait_quiescent(void)
{
    enum { LOOKS = 60, LOOK_NS = 4000000 };
    uint64_t used_ns = UINT64_MAX;
    for (int i = 0; i < LOOKS && used_ns > LOOK_NS / 20; i++) {
        const uint64_t before_ns = th_clock_cpu_ns();
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        used_ns = th_clock_cpu_ns() - before_ns;
    }
}
