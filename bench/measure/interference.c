#include <bench/interference.h>

#include <core/clock.h>
#include <throng/jobs/jobs.h>

#include <assert.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define LEAST_NS 200000000u

/* Parses a CPU's line in /proc/stat (proc(5)): "cpu3 user nice system idle iowait irq softirq steal ...", in ticks. */
static bool read_cpu(const char *line, const cpu_set_t *ours, double *busy, double *steal)
{
    unsigned cpu;
    unsigned long long t[8];
    const int fields = sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &t[0], &t[1], &t[2], &t[3],
                              &t[4], &t[5], &t[6], &t[7]);
    if (fields != 9 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, ours))
        return false;
    *busy += (double)(t[0] + t[1] + t[2] + t[5] + t[6]);
    *steal += (double)t[7];
    return true;
}

static void read_stat(th_interference_mark *mark)
{
    cpu_set_t ours;
    char line[512];
    bool found = false;
    double busy = 0, steal = 0;
    FILE *file = sched_getaffinity(0, sizeof ours, &ours) == 0 ? fopen("/proc/stat", "re") : NULL;
    while (file && fgets(line, sizeof line, file))
        found = read_cpu(line, &ours, &busy, &steal) || found;
    if (file)
        fclose(file);
    const double ticks = found ? (double)sysconf(_SC_CLK_TCK) : (double)NAN;
    mark->busy_s = busy / ticks;
    mark->steal_s = steal / ticks;
}

/* Of this process and of its children that have ended. */
static uint64_t own_cpu_ns(void)
{
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    const struct timeval user = children.ru_utime, system = children.ru_stime;
    return th_clock_cpu_ns() + (uint64_t)(user.tv_sec + system.tv_sec) * 1000000000 +
           (uint64_t)(user.tv_usec + system.tv_usec) * 1000;
}

th_interference_mark th_interference_begin(void)
{
    th_interference_mark mark = {.throttled_ns = th_cpus_throttled_ns()};
    read_stat(&mark);
    mark.own_ns = own_cpu_ns();
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
