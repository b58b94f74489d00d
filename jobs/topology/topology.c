#include "topology.h"

#include "cpus.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYSTEM "/sys/devices/system/"

/* Groups, in the usual order of their sizes. At a level that a CPU lacks it is in the wider one's group. */
static const char *const lists[TH_TOPOLOGY_LEVELS] = {
    "topology/core_siblings_list",   "topology/die_cpus_list",       "node%u/cpulist",
    "cache/index4/shared_cpu_list",  "cache/index3/shared_cpu_list", "topology/cluster_cpus_list",
    "cache/index2/shared_cpu_list",  "cache/index1/shared_cpu_list", "cache/index0/shared_cpu_list",
    "topology/thread_siblings_list",
};
enum { NODE = 2, CORE = TH_TOPOLOGY_LEVELS - 1 };

static int compare_cpus(const void *a, const void *b)
{
    const th_topology_cpu *p = a, *q = b;
    uint32_t level = 0;
    while (level < TH_TOPOLOGY_LEVELS && p->groups[level] == q->groups[level])
        level++;
    const uint32_t x = level < TH_TOPOLOGY_LEVELS ? p->groups[level] : p->cpu,
                   y = level < TH_TOPOLOGY_LEVELS ? q->groups[level] : q->cpu;
    return (x > y) - (x < y);
}

/* In the usual order; UINT32_MAX: no such group. Adds their sizes. */
static void read_groups(const char *root, th_topology_cpu *c, const uint32_t *nodes, uint32_t node_count,
                        uint64_t sizes[TH_TOPOLOGY_LEVELS])
{
    for (int l = 0; l < TH_TOPOLOGY_LEVELS; l++) {
        char path[4096];
        uint32_t size = 0;
        c->groups[l] = l == CORE ? c->cpu << 16 | 1 : UINT32_MAX; /* virtual machines may have no cores */
        for (uint32_t n = 0; size == 0 && n < (l == NODE ? node_count : 1); n++) {
            const int length = snprintf(path, sizeof path, "%s" SYSTEM "cpu/cpu%u/", root, c->cpu);
            snprintf(path + length, sizeof path - (size_t)length, lists[l], nodes[n]);
            size = th_cpus_list(path, &c->groups[l], 1);
        }
        if (size > 0)
            c->groups[l] = c->groups[l] << 16 | size;
        sizes[l] += size;
    }
}

int th_topology_read(const char *root, th_topology *out)
{
    enum { MOST = 8192, NODES = 1024 };
    uint32_t online[MOST], nodes[NODES] = {0}, order[TH_TOPOLOGY_LEVELS];
    char path[4096];
    uint64_t sizes[TH_TOPOLOGY_LEVELS] = {0};
    assert(root && out);
    snprintf(path, sizeof path, "%s" SYSTEM "node/online", root);
    const uint32_t all_nodes = th_cpus_list(path, nodes, NODES), node_count = all_nodes < NODES ? all_nodes : NODES;
    snprintf(path, sizeof path, "%s" SYSTEM "cpu/online", root);
    *out = (th_topology){.count = th_cpus_list(path, online, MOST)};
    if (out->count == 0 || out->count > MOST)
        return ENODEV;
    th_topology_cpu *cpus = out->cpus = calloc(out->count, sizeof *cpus);
    if (!cpus)
        return ENOMEM;
    const th_cpu_mask mask = th_cpu_mask_read();
    for (uint32_t i = 0; i < out->count; i++) {
        cpus[i].cpu = online[i];
        cpus[i].allowed = th_cpu_mask_has(mask, (int)online[i]);
        read_groups(root, &cpus[i], nodes, node_count, sizes);
    }
    th_cpu_mask_free(mask);

    /* The widest first; those of the same size as usual. */
    for (uint32_t l = 0; l < TH_TOPOLOGY_LEVELS; l++) {
        uint32_t at = l;
        for (; at > 0 && sizes[order[at - 1]] < sizes[l]; at--)
            order[at] = order[at - 1];
        order[at] = l;
    }
    for (uint32_t l = 0; l < TH_TOPOLOGY_LEVELS; l++)
        out->core = order[l] == CORE ? l : out->core;
    for (uint32_t i = 0; i < out->count; i++) {
        const th_topology_cpu usual = cpus[i];
        uint32_t wider = 0;
        for (uint32_t l = 0; l < TH_TOPOLOGY_LEVELS; l++) {
            const uint32_t group = usual.groups[order[l]];
            wider = cpus[i].groups[l] = group == UINT32_MAX ? wider : group;
        }
    }
    qsort(cpus, out->count, sizeof *cpus, compare_cpus);
    return 0;
}
