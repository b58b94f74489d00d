#include "load.h"

#include <throng/clock.h>

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#define LEAST_NS 200000000u

/* Sums the busy times of our CPUs in /proc/stat: "cpu3 user nice system idle iowait irq softirq steal ...". What the
 * host takes from a virtual machine (steal) is somebody else's too. */
static double busy_s(void)
{
    cpu_set_t ours;
    FILE *file = fopen("/proc/stat", "re");
    if (!file || sched_getaffinity(0, sizeof ours, &ours) != 0) {
        if (file)
            fclose(file);
        return nan("");
    }
    double ticks = 0;
    char line[512];
    while (fgets(line, sizeof line, file)) {
        unsigned cpu;
        unsigned long long t[8];
        int fields = sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &t[0], &t[1], &t[2], &t[3],
                            &t[4], &t[5], &t[6], &t[7]);
        if (fields == 9 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &ours))
            ticks += (double)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]); /* all but idle and iowait */
    }
    fclose(file);
    return ticks > 0 ? ticks / (double)sysconf(_SC_CLK_TCK) : nan("");
}

th_load th_load_begin(void)
{
    return (th_load){th_clock_ns(), th_clock_cpu_ns(), busy_s()};
}

double th_load_others(const th_load *since)
{
    th_load now = th_load_begin();
    uint64_t wall_ns = now.wall_ns - since->wall_ns;
    if (wall_ns < LEAST_NS)
        return nan("");
    double own_s = (double)(now.own_ns - since->own_ns) / 1e9;
    double others_s = now.busy_s - since->busy_s - own_s;
    return isnan(others_s) ? others_s : fmax(0, others_s) / ((double)wall_ns / 1e9);
}
