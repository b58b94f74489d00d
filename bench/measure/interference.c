#include <throng/bench/interference.h>

#include <throng/core/clock.h>
#include <throng/jobs/jobs.h>

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define LEAST_NS 200000000u

/* A CPU's line in /proc/stat (proc(5)): "cpu3 user nice system idle iowait irq softirq steal ...", in ticks. */
static bool read_cpu(const char *line, const cpu_set_t *ours, double *busy, double *stolen)
{
    unsigned cpu;
    unsigned long long t[8];
    const int fields = sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &t[0], &t[1], &t[2], &t[3],
                              &t[4], &t[5], &t[6], &t[7]);
    if (fields != 9 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, ours))
        return false;
    *busy += (double)(t[0] + t[1] + t[2] + t[5] + t[6]);
    *stolen += (double)t[7];
    return true;
}

static void read_stat(th_noise_mark *mark)
{
    cpu_set_t ours;
    char line[512];
    bool found = false;
    double busy = 0, stolen = 0;
    FILE *file = sched_getaffinity(0, sizeof ours, &ours) == 0 ? fopen("/proc/stat", "re") : NULL;
    while (file && fgets(line, sizeof line, file))
        found = read_cpu(line, &ours, &busy, &stolen) || found;
    if (file)
        fclose(file);
    const double ticks = found ? (double)sysconf(_SC_CLK_TCK) : (double)NAN;
    mark->busy_s = busy / ticks;
    mark->stolen_s = stolen / ticks;
}

th_noise_mark th_noise_begin(void)
{
    th_noise_mark mark = {.throttled_ns = th_cpus_throttled_ns()};
    read_stat(&mark);
    mark.own_ns = th_clock_cpu_ns();
    mark.wall_ns = th_clock_ns();
    return mark;
}

th_noise th_noise_end(const th_noise_mark *begin)
{
    const th_noise_mark end = th_noise_begin();
    const uint64_t wall_ns = end.wall_ns - begin->wall_ns;
    const double wall_s = wall_ns < LEAST_NS ? (double)NAN : (double)wall_ns / 1e9;
    const double others_s = end.busy_s - begin->busy_s - (double)(end.own_ns - begin->own_ns) / 1e9;
    th_noise noise = {
        .others_cpus = others_s / wall_s,
        .stolen_cpus = (end.stolen_s - begin->stolen_s) / wall_s,
        .throttled_s = (double)(end.throttled_ns - begin->throttled_ns) / 1e9,
    };
    if (noise.others_cpus < 0) /* ticks are coarse */
        noise.others_cpus = 0;
    return noise;
}
