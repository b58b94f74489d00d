/* Places workers in the machine's tree: machine, package, caches, cores, hardware threads.
 *
 * Two CPUs are the nearer, the lower the lowest group that contains both. CPUs come in the order of the tree's leaves,
 * so among equally near ones it fills one cache and one package after the other. Their numbers would not: on most
 * machines with hyperthreads the system visits all cores once and then again.
 *
 * Compact and cores are one sort each. Spread takes one CPU after the other: one whose nearest neighbour among the
 * taken CPUs is farthest; among those, one on the less loaded side, from the machine downwards. Load alone is not
 * enough: if only one core of a package is allowed, its second thread is in the less loaded package, but shares that
 * core. Computing the best set for every size instead would move all workers when one is added. */
#include "placement_plan.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { LEVELS = TH_TOPOLOGY_LEVELS };

typedef struct candidate {
    const th_topology_cpu *cpu;
    uint32_t round;         /* cores: number of threads of the same core that come first */
    uint32_t nearness;      /* levels that it shares with the caller */
    uint32_t loads[LEVELS]; /* spread: taken CPUs of its group at each level */
    bool is_taken;
} candidate;

/* The levels at which they are in the same group, from the widest on. */
static uint32_t shared(const th_topology_cpu *a, const th_topology_cpu *b)
{
    uint32_t levels = 0;
    while (levels < LEVELS && a->groups[levels] == b->groups[levels])
        levels++;
    return levels;
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate *p = a, *q = b;
    if (p->round != q->round)
        return p->round < q->round ? -1 : 1;
    if (p->nearness != q->nearness)
        return p->nearness > q->nearness ? -1 : 1;
    return p->cpu < q->cpu ? -1 : 1;
}

/* ---- spread ---- */

static void occupy(candidate *all, uint32_t count, const th_topology_cpu *cpu)
{
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t levels = shared(all[k].cpu, cpu);
        for (uint32_t l = 0; l < levels; l++)
            all[k].loads[l]++;
        all[k].is_taken |= all[k].cpu == cpu;
    }
}

/* Levels that it shares with a taken one. */
static uint32_t shared_levels(const candidate *c)
{
    uint32_t levels = 0;
    while (levels < LEVELS && c->loads[levels] > 0)
        levels++;
    return levels;
}

/* At least `wanted` CPUs must be free. */
static void spread(candidate *all, uint32_t count, const th_topology_cpu *caller, uint32_t wanted, uint32_t *cpus)
{
    if (caller)
        occupy(all, count, caller);
    for (uint32_t i = 0; i < wanted; i++) {
        const candidate *best = NULL;
        uint32_t least = 0;
        for (const candidate *c = all; c < all + count; c++) {
            if (c->is_taken)
                continue;
            const uint32_t levels = shared_levels(c);
            bool is_better = !best || levels < least;
            if (best && levels == least) { /* the less loaded side, where the paths from the machine down separate */
                const uint32_t fork = shared(c->cpu, best->cpu);
                is_better = fork < LEVELS && c->loads[fork] < best->loads[fork];
            }
            best = is_better ? c : best;
            least = is_better ? levels : least;
        }
        assert(best);
        cpus[i] = best->cpu->cpu;
        occupy(all, count, best->cpu);
    }
}

/* ---- the plan ---- */

int th_placement_plan(th_placement placement, const th_topology *machine, uint32_t here, uint32_t workers,
                      uint32_t *cpus, uint32_t *count)
{
    assert(placement > TH_PLACEMENT_WORKERS && placement < TH_PLACEMENT_COUNT);
    assert(machine && machine->cpus && count);
    assert(cpus || workers == 0);
    *count = 0;
    candidate *all = calloc(machine->count, sizeof *all);
    if (!all)
        return ENOMEM;
    const th_topology_cpu *caller = NULL;
    uint32_t candidates = 0;
    for (const th_topology_cpu *c = machine->cpus; c < machine->cpus + machine->count; c++)
        if (c->cpu == here)
            caller = c;
        else if (c->allowed)
            all[candidates++].cpu = c;
    *count = workers < candidates ? workers : candidates;
    if (placement == TH_PLACEMENT_SPREAD) {
        spread(all, candidates, caller, *count, cpus);
    } else {
        for (candidate *c = all; c < all + candidates; c++) {
            c->nearness = caller ? shared(caller, c->cpu) : 0;
            if (placement == TH_PLACEMENT_CORES)
                c->round = c > all && shared(c[-1].cpu, c->cpu) > machine->core ? c[-1].round + 1
                                                                                : c->nearness > machine->core;
        }
        qsort(all, candidates, sizeof *all, compare_candidates);
        for (uint32_t i = 0; i < *count; i++)
            cpus[i] = all[i].cpu->cpu;
    }
    free(all);
    return 0;
}

int th_placement_plan_here(th_placement placement, int here, uint32_t workers, uint32_t *cpus, uint32_t *count)
{
    th_topology machine;
    const int error = th_topology_read("", &machine);
    if (error)
        return error;
    const int failure = th_placement_plan(placement, &machine, (uint32_t)here, workers, cpus, count);
    free(machine.cpus);
    return failure;
}
