#include "cpus.h"

#include "cgroup.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
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

uint64_t th_cpus_throttled_ns(void)
{
    return th_cgroup_throttled_ns("");
}

uint64_t th_memory_available(void)
{
    char line[128];
    double bytes = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %lf kB", &bytes) != 1)
        ;
    if (file)
        fclose(file);
    const double left = th_cgroup_memory_left("");
    bytes *= 1024;
    return (uint64_t)(bytes == 0 || (left > 0 && left < bytes) ? left : bytes);
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
