/* Places workers in the machine's tree: machine, package, caches, cores, hardware threads.
 *
 * Two CPUs are the nearer, the lower the lowest object that contains both. hwloc's logical index counts the leaves from
 * left to right, so among equally near CPUs the order by index fills one cache and one package after the other. The
 * system's index would not: on most machines with hyperthreads it visits all cores once and then again.
 *
 * Compact and cores are one sort each. Spread takes one CPU after the other: one whose nearest neighbour among the
 * taken CPUs is farthest; among those, one on the less loaded side, from the machine downwards. Load alone is not
 * enough: if only one core of a package is allowed, its second thread is in the less loaded package, but shares that
 * core. Computing the best set for every size instead would move all workers when one is added. */
#include "placement_plan.h"

#include "cpus.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

typedef struct candidate {
    hwloc_obj_t pu;
    uint32_t round; /* cores: number of threads of the same core that come first */
    int nearness;   /* depth of the lowest object that also contains the caller */
} candidate;

typedef struct candidates {
    candidate *all; /* from left to right */
    uint32_t count;
    hwloc_obj_t caller; /* NULL: not in the topology */
} candidates;

/* Virtual machines may have no cores; then each CPU is its own core. */
static hwloc_obj_t core_of(const th_topology *machine, hwloc_obj_t pu)
{
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(machine->topology, HWLOC_OBJ_CORE, pu);
    return core ? core : pu;
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate *p = a, *q = b;
    if (p->round != q->round)
        return p->round < q->round ? -1 : 1;
    if (p->nearness != q->nearness)
        return p->nearness > q->nearness ? -1 : 1;
    return p->pu->logical_index < q->pu->logical_index ? -1 : 1;
}

/* ---- spread ---- */

typedef struct load_map {
    uint32_t *loads; /* number of taken CPUs below each object, by level */
    size_t width;    /* no level has more objects than the lowest */
} load_map;

static uint32_t *load_of(const load_map *m, hwloc_obj_t object)
{
    assert(object->depth >= 0 && object->logical_index < m->width);
    return &m->loads[(size_t)object->depth * m->width + object->logical_index];
}

static void occupy(load_map *m, hwloc_obj_t pu)
{
    for (hwloc_obj_t object = pu; object; object = object->parent)
        ++*load_of(m, object);
}

/* Depth of the lowest object that contains this CPU and a taken one. */
static int shared_depth(const load_map *m, hwloc_obj_t pu)
{
    hwloc_obj_t object = pu;
    while (object && *load_of(m, object) == 0)
        object = object->parent;
    return object ? object->depth : -1;
}

static hwloc_obj_t child_above(hwloc_obj_t ancestor, hwloc_obj_t object)
{
    assert(object != ancestor);
    while (object->parent != ancestor)
        object = object->parent;
    return object;
}

/* At least `wanted` CPUs must be free. */
static int spread(const th_topology *machine, const candidates *p, uint32_t wanted, uint32_t *cpus)
{
    load_map m = {.width = (size_t)hwloc_get_nbobjs_by_type(machine->topology, HWLOC_OBJ_PU)};
    m.loads = calloc((size_t)hwloc_topology_get_depth(machine->topology) * m.width, sizeof *m.loads);
    if (!m.loads)
        return ENOMEM;
    if (p->caller)
        occupy(&m, p->caller);
    for (uint32_t i = 0; i < wanted; i++) {
        hwloc_obj_t best = NULL;
        int least = 0;
        for (uint32_t k = 0; k < p->count; k++) {
            hwloc_obj_t pu = p->all[k].pu;
            if (*load_of(&m, pu) > 0)
                continue;
            const int depth = shared_depth(&m, pu);
            bool is_better = !best || depth < least;
            if (best && depth == least) { /* the less loaded side, where the paths from the machine down separate */
                hwloc_obj_t fork = hwloc_get_common_ancestor_obj(machine->topology, pu, best);
                is_better = *load_of(&m, child_above(fork, pu)) < *load_of(&m, child_above(fork, best));
            }
            best = is_better ? pu : best;
            least = is_better ? depth : least;
        }
        assert(best);
        occupy(&m, best);
        cpus[i] = best->os_index;
    }
    free(m.loads);
    return 0;
}

/* ---- the plan ---- */

int th_placement_plan(th_placement placement, const th_topology *machine, uint32_t workers, uint32_t *cpus,
                      uint32_t *count)
{
    assert(placement > TH_PLACEMENT_WORKERS && placement < TH_PLACEMENT_COUNT);
    assert(machine && machine->topology && machine->allowed && count);
    assert(cpus || workers == 0);
    *count = 0;
    const int most = hwloc_get_nbobjs_by_type(machine->topology, HWLOC_OBJ_PU);
    candidates p = {.all = calloc((size_t)most, sizeof *p.all),
                    .caller = hwloc_get_pu_obj_by_os_index(machine->topology, machine->here)};
    if (!p.all)
        return ENOMEM;
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(machine->topology, HWLOC_OBJ_PU, pu));)
        if (pu != p.caller && hwloc_bitmap_isset(machine->allowed, pu->os_index))
            p.all[p.count++].pu = pu;
    const uint32_t wanted = workers < p.count ? workers : p.count;
    int error = 0;
    if (placement == TH_PLACEMENT_SPREAD) {
        error = spread(machine, &p, wanted, cpus);
    } else {
        hwloc_obj_t callers = p.caller ? core_of(machine, p.caller) : NULL, core = NULL;
        for (uint32_t i = 0; i < p.count; i++) {
            candidate *c = &p.all[i];
            hwloc_obj_t before = core;
            core = core_of(machine, c->pu);
            if (p.caller)
                c->nearness = hwloc_get_common_ancestor_obj(machine->topology, p.caller, c->pu)->depth;
            if (placement == TH_PLACEMENT_CORES)
                c->round = core == before ? c[-1].round + 1 : core == callers;
        }
        qsort(p.all, p.count, sizeof *p.all, compare_candidates);
        for (uint32_t i = 0; i < wanted; i++)
            cpus[i] = p.all[i].pu->os_index;
    }
    free(p.all);
    *count = error ? 0 : wanted;
    return error;
}

/* ---- this machine ---- */

/* Loads all CPUs; the mask says which are allowed. Some of hwloc's discovery methods would migrate the caller. */
static int read_topology(hwloc_topology_t *out)
{
    const unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
    errno = 0;
    if (hwloc_topology_init(out) != 0)
        return errno ? errno : ENOMEM;
    if (hwloc_topology_set_flags(*out, flags) == 0 && hwloc_topology_load(*out) == 0)
        return 0;
    const int error = errno ? errno : EIO;
    hwloc_topology_destroy(*out);
    return error;
}

int th_placement_plan_here(th_placement placement, int here, uint32_t workers, uint32_t *cpus, uint32_t *count)
{
    hwloc_topology_t topology;
    int error = read_topology(&topology);
    if (error)
        return error;
    hwloc_cpuset_t allowed = hwloc_bitmap_alloc();
    const th_cpu_mask mask = th_cpu_mask_read();
    error = allowed ? 0 : ENOMEM;
    for (uint32_t cpu = 0; mask.set && cpu < mask.cpus && !error; cpu++)
        if (CPU_ISSET_S(cpu, mask.bytes, mask.set) && hwloc_bitmap_set(allowed, cpu) != 0)
            error = ENOMEM;
    th_cpu_mask_free(mask);
    if (!error) {
        const th_topology machine = {topology, allowed, (uint32_t)here};
        error = th_placement_plan(placement, &machine, workers, cpus, count);
    }
    hwloc_bitmap_free(allowed);
    hwloc_topology_destroy(topology);
    return error;
}
