#include "cpus.h"

#include "cgroup.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* The kernel rejects a set smaller than its own, whose size it does not report, so this tries larger ones. */
th_cpu_mask th_cpu_mask_read(void)
{
    for (uint32_t cpus = CPU_SETSIZE; cpus <= 1u << 20; cpus *= 2) {
        const th_cpu_mask m = {CPU_ALLOC(cpus), CPU_ALLOC_SIZE(cpus), cpus};
        if (!m.set)
            break;
        if (sched_getaffinity(0, m.bytes, m.set) == 0)
            return m;
        CPU_FREE(m.set);
        if (errno != EINVAL)
            break;
    }
    return (th_cpu_mask){0};
}

void th_cpu_mask_free(th_cpu_mask mask)
{
    if (mask.set)
        CPU_FREE(mask.set);
}

bool th_cpu_mask_has(th_cpu_mask mask, int cpu)
{
    return mask.set && cpu >= 0 && (uint32_t)cpu < mask.cpus && CPU_ISSET_S((size_t)cpu, mask.bytes, mask.set);
}

th_cpus th_cpus_read(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    th_cpus cpus = {.online = online > 0 ? (uint32_t)online : 1, .quota = th_cgroup_quota("")};
    const th_cpu_mask m = th_cpu_mask_read();
    cpus.affinity = m.set ? (uint32_t)CPU_COUNT_S(m.bytes, m.set) : cpus.online;
    th_cpu_mask_free(m);

    cpus.usable = cpus.affinity < cpus.online ? cpus.affinity : cpus.online;
    if (cpus.quota > 0 && cpus.quota < cpus.usable) {
        const uint32_t whole = (uint32_t)cpus.quota;
        cpus.usable = whole + (cpus.quota > whole);
    }
    if (cpus.usable == 0)
        cpus.usable = 1;
    return cpus;
}

uint32_t th_cpus_list(const char *path, uint32_t *out, uint32_t most)
{
    uint32_t count = 0;
    unsigned first, last;
    FILE *file = fopen(path, "re");
    for (char after = ','; file && after == ',' && fscanf(file, "%u", &first) == 1;) {
        last = first;
        if (fscanf(file, "-%u", &last) == EOF || fscanf(file, "%c", &after) != 1)
            after = '\0';
        if (last - first >= 1u << 20) /* no list of CPUs */
            count = 0, after = '\0';
        else
            for (; first <= last; first++, count++)
                if (count < most)
                    out[count] = first;
    }
    if (file)
        fclose(file);
    return count;
}

uint64_t th_cpus_throttled_ns(void)
{
    return th_cgroup_throttled_ns("");
}

/* The number of a line such as "MemAvailable: %lf kB", in bytes; 0 if there is none. */
static double read_kilobytes(const char *path, const char *format)
{
    char line[128];
    double kilobytes = 0;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, format, &kilobytes) != 1)
        ;
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

/* What RLIMIT_DATA leaves to this process, at least 1; 0: no limit. */
static double read_data_left(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    return fmax((double)limit.rlim_cur - read_kilobytes("/proc/self/status", "VmData: %lf kB"), 1);
}

uint64_t th_memory_available(void)
{
    const double limits[] = {th_cgroup_memory_left(""), read_data_left()};
    double bytes = read_kilobytes("/proc/meminfo", "MemAvailable: %lf kB");
    for (int i = 0; i < 2; i++)
        if (limits[i] > 0 && (bytes == 0 || limits[i] < bytes))
            bytes = limits[i];
    return (uint64_t)bytes;
}

uint64_t th_memory_limit(void)
{
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double limit = th_cgroup_memory_limit("");
    return (uint64_t)(limit > 0 && limit < machine ? limit : machine);
}

uint32_t th_cpus_others(int here, uint32_t *out, uint32_t max)
{
    assert(out || max == 0);
    const th_cpu_mask m = th_cpu_mask_read();
    uint32_t count = 0;
    for (uint32_t cpu = 0; m.set && cpu < m.cpus && count < max; cpu++)
        if (CPU_ISSET_S(cpu, m.bytes, m.set) && (int)cpu != here)
            out[count++] = cpu;
    th_cpu_mask_free(m);
    return count;
}

void th_cpus_pin(pthread_t thread, uint32_t cpu)
{
    enum { SETS = 8 }; /* times 1,024 CPUs: the maximum of Linux */
    cpu_set_t sets[SETS] = {0};
    if (cpu >= SETS * CPU_SETSIZE)
        return;
    CPU_SET_S(cpu, sizeof sets, sets);
    pthread_setaffinity_np(thread, sizeof sets, sets);
}
