/* Plans on machines that are not there, for which it looks inside, and the placing of real workers. */
#include "fixture_jobs.h"
#include "jobs/topology/placement.h"
#include "jobs/topology/placement_plan.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <hwloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CPUS = 256, UNKNOWN = 9999 };

/* The linker puts these in the place of the real ones (--wrap). */
static int callocs_until_failure = -1; /* below 0: never */
static int pretended_cpu = -1;         /* of every thread; below 0: the real one */
static int topologies;                 /* loaded so far */
static bool refuse_topology;

__typeof__(calloc) __real_calloc, __wrap_calloc;
__typeof__(sched_getcpu) __real_sched_getcpu, __wrap_sched_getcpu;
__typeof__(th_topology_read) __real_th_topology_read, __wrap_th_topology_read;

void *__wrap_calloc(size_t count, size_t size)
{
    return callocs_until_failure >= 0 && callocs_until_failure-- == 0 ? NULL : __real_calloc(count, size);
}

int __wrap_sched_getcpu(void)
{
    return pretended_cpu >= 0 ? pretended_cpu : __real_sched_getcpu();
}

int __wrap_th_topology_read(const char *root, th_topology *out)
{
    topologies++;
    return refuse_topology ? ENODEV : __real_th_topology_read(root, out);
}

/* ---- machines ---- */

static const th_placement planned[] = {TH_PLACEMENT_COMPACT, TH_PLACEMENT_SPREAD, TH_PLACEMENT_CORES};
enum { PLANNED = sizeof planned / sizeof *planned };

/* Two packages, numbered as Linux does: once round all cores, then round their second threads. */
static const char linux_like[] = "pack:2 core:4 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)";

static hwloc_topology_t build(const char *machine)
{
    hwloc_topology_t topology;
    cr_assert_eq(hwloc_topology_init(&topology), 0);
    cr_assert_eq(hwloc_topology_set_synthetic(topology, machine), 0, "%s", machine);
    cr_assert_eq(hwloc_topology_load(topology), 0);
    return topology;
}

/* A machine of hwloc's, with the input of a plan. */
typedef struct place {
    hwloc_topology_t topology;
    hwloc_const_cpuset_t allowed; /* may contain CPUs that the topology does not have; they are not used */
    uint32_t here;
} place;

/* As we read it. Its levels are all but the machine; a CPU that has no object at one is in the wider one's group. */
static int plan(th_placement placement, const place *p, uint32_t workers, uint32_t *cpus, uint32_t *count)
{
    static th_topology_cpu all[MAX_CPUS];
    th_topology machine = {.cpus = all};
    const int depth = hwloc_topology_get_depth(p->topology), core = hwloc_get_type_depth(p->topology, HWLOC_OBJ_CORE);
    machine.core = (uint32_t)(core > 0 ? core : depth - 1) - 1;
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(p->topology, HWLOC_OBJ_PU, pu));) {
        th_topology_cpu *c = &all[machine.count++];
        *c = (th_topology_cpu){.cpu = pu->os_index, .allowed = hwloc_bitmap_isset(p->allowed, pu->os_index)};
        hwloc_obj_t object = pu;
        for (int l = TH_TOPOLOGY_LEVELS - 1; l >= 0; l--) {
            while (object->depth > l + 1)
                object = object->parent;
            c->groups[l] =
                (uint32_t)hwloc_bitmap_first(object->cpuset) << 16 | (uint32_t)hwloc_bitmap_weight(object->cpuset);
        }
    }
    return th_placement_plan(placement, &machine, p->here, workers, cpus, count);
}

static hwloc_cpuset_t read_set(const char *list)
{
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    cr_assert_eq(hwloc_bitmap_list_sscanf(set, list), 0);
    return set;
}

/* ---- plans that were made by hand ---- */

static void expect_plan(th_placement placement, const char *machine, const char *allowed, uint32_t here, uint32_t count,
                        const uint32_t *expected)
{
    uint32_t cpus[MAX_CPUS], got;
    hwloc_topology_t topology = build(machine);
    hwloc_cpuset_t set = read_set(allowed);
    const place topo = {topology, set, here};
    cr_assert_eq(plan(placement, &topo, MAX_CPUS, cpus, &got), 0);
    cr_expect_eq(got, count, "%s on %s: %u CPUs", th_placement_name(placement), machine, got);
    for (uint32_t i = 0; i < got && i < count; i++)
        cr_expect_eq(cpus[i], expected[i], "%s on %s of %s from %u: worker %u on %u, not %u",
                     th_placement_name(placement), allowed, machine, here, i, cpus[i], expected[i]);
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
}

#define EXPECT_PLAN(placement, machine, allowed, here, ...)                                                            \
    expect_plan(placement, machine, allowed, here, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),               \
                (uint32_t[]){__VA_ARGS__})

Test(placement, plans_are_those_made_by_hand)
{
    const char *machine = "pack:2 l3:2 core:2 pu:2";
    EXPECT_PLAN(TH_PLACEMENT_COMPACT, machine, "0-15", 5, 4, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15);
    EXPECT_PLAN(TH_PLACEMENT_CORES, machine, "0-15", 5, 6, 0, 2, 8, 10, 12, 14, 4, 7, 1, 3, 9, 11, 13, 15);
    EXPECT_PLAN(TH_PLACEMENT_SPREAD, machine, "0-15", 5, 8, 0, 12, 2, 10, 6, 14, 1, 9, 4, 13, 3, 11, 7, 15);

    /* Threads of a core are found by the tree and not by their numbers. */
    EXPECT_PLAN(TH_PLACEMENT_COMPACT, linux_like, "0-15", 6, 14, 4, 12, 5, 13, 7, 15, 0, 8, 1, 9, 2, 10, 3, 11);
    EXPECT_PLAN(TH_PLACEMENT_CORES, linux_like, "0-15", 6, 4, 5, 7, 0, 1, 2, 3, 14, 12, 13, 15, 8, 9, 10, 11);
    EXPECT_PLAN(TH_PLACEMENT_SPREAD, linux_like, "0-15", 6, 0, 1, 4, 2, 5, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);

    /* First threads that are masked out leave the second to stand for the core. */
    EXPECT_PLAN(TH_PLACEMENT_COMPACT, "core:4 pu:2", "0,1,3-5", 0, 1, 3, 4, 5);
    EXPECT_PLAN(TH_PLACEMENT_CORES, "core:4 pu:2", "0,1,3-5", 0, 3, 4, 1, 5);
    EXPECT_PLAN(TH_PLACEMENT_SPREAD, "core:4 pu:2", "0,1,3-5", 0, 3, 4, 1, 5);

    /* A whole package against one core of the other: sharing a core is worse than sharing a package. */
    machine = "pack:2 core:4 pu:2";
    EXPECT_PLAN(TH_PLACEMENT_SPREAD, machine, "0-9", 0, 8, 2, 4, 6, 9, 1, 3, 5, 7);
    EXPECT_PLAN(TH_PLACEMENT_CORES, machine, "0-9", 0, 2, 4, 6, 8, 1, 3, 5, 7, 9);
    EXPECT_PLAN(TH_PLACEMENT_COMPACT, machine, "0-9", 8, 9, 0, 1, 2, 3, 4, 5, 6, 7);

    /* The caller counts even where its CPU may not be used; without a caller all CPUs are free. */
    machine = "pack:2 core:2 pu:2";
    EXPECT_PLAN(TH_PLACEMENT_COMPACT, machine, "0-3,6", 7, 6, 0, 1, 2, 3);
    EXPECT_PLAN(TH_PLACEMENT_CORES, machine, "0-3,6", 7, 0, 2, 6, 1, 3);
    EXPECT_PLAN(TH_PLACEMENT_SPREAD, machine, "0-3,6", 7, 0, 2, 6, 1, 3);
    EXPECT_PLAN(TH_PLACEMENT_COMPACT, machine, "0-7", UNKNOWN, 0, 1, 2, 3, 4, 5, 6, 7);
    EXPECT_PLAN(TH_PLACEMENT_CORES, machine, "0-7", UNKNOWN, 0, 2, 4, 6, 1, 3, 5, 7);
    EXPECT_PLAN(TH_PLACEMENT_SPREAD, machine, "0-7", UNKNOWN, 0, 4, 2, 6, 1, 5, 3, 7);

    /* A machine without cores has as many as CPUs. */
    EXPECT_PLAN(TH_PLACEMENT_CORES, "l3:2 pu:3", "0-5", 4, 3, 5, 0, 1, 2);
    EXPECT_PLAN(TH_PLACEMENT_SPREAD, "l3:2 pu:3", "0-5", 4, 0, 1, 3, 2, 5);
}

Test(placement, nothing_allowed_is_an_empty_plan)
{
    static const char *const nowhere[] = {"", "2", "17-40"}; /* none, the caller's, none of this machine */
    for (size_t i = 0; i < 3 * PLANNED; i++)
        expect_plan(planned[i % PLANNED], "core:2 pu:2", nowhere[i / PLANNED], 2, 0, NULL);
}

Test(placement, plan_fails_when_memory_is_out)
{
    hwloc_topology_t topology = build("core:2 pu:2");
    hwloc_cpuset_t allowed = read_set("0-3");
    const place topo = {topology, allowed, 0};
    uint32_t cpus[MAX_CPUS], count;
    for (int i = 0; i < PLANNED; i++) {
        for (int fail = 0; fail <= 1; fail++) {
            callocs_until_failure = fail;
            const int error = plan(planned[i], &topo, MAX_CPUS, cpus, &count);
            callocs_until_failure = -1;
            cr_expect_eq(error, fail < 1 ? ENOMEM : 0);
            cr_expect_eq(count, fail < 1 ? 0 : 3);
        }
    }
    hwloc_bitmap_free(allowed);
    hwloc_topology_destroy(topology);
}

/* ---- what holds for any plan ---- */

/* A plan on a machine, with what a check needs to judge it on its own terms. */
typedef struct trial {
    th_placement placement;
    place topo;
    uint32_t cpus[MAX_CPUS], count;
    hwloc_obj_t taken[MAX_CPUS + 1]; /* the caller, if the machine has it, and those before the one looked at */
    uint32_t taken_count;
} trial;

static hwloc_obj_t pu_of(const trial *t, uint32_t cpu)
{
    return hwloc_get_pu_obj_by_os_index(t->topo.topology, cpu);
}

/* Depth of the lowest object that holds both. */
static int nearness(const trial *t, hwloc_obj_t a, hwloc_obj_t b)
{
    return hwloc_get_common_ancestor_obj(t->topo.topology, a, b)->depth;
}

static bool is_taken(const trial *t, hwloc_obj_t pu)
{
    for (uint32_t i = 0; i < t->taken_count; i++)
        if (t->taken[i] == pu)
            return true;
    return false;
}

static bool is_free(const trial *t, hwloc_obj_t pu)
{
    return hwloc_bitmap_isset(t->topo.allowed, pu->os_index) && !is_taken(t, pu);
}

static uint32_t taken_below(const trial *t, hwloc_obj_t object)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->taken_count; i++)
        count += hwloc_bitmap_isset(object->cpuset, t->taken[i]->os_index) != 0;
    return count;
}

static hwloc_obj_t core_of(const trial *t, hwloc_obj_t pu)
{
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t->topo.topology, HWLOC_OBJ_CORE, pu);
    return core ? core : pu;
}

/* How unwelcome a CPU is to a placement as things stand; the lower the better. */
static int cost(const trial *t, hwloc_obj_t pu)
{
    hwloc_obj_t caller = pu_of(t, t->topo.here);
    const int distance = caller ? 100 - nearness(t, pu, caller) : 0;
    if (t->placement == TH_PLACEMENT_COMPACT)
        return distance;
    if (t->placement == TH_PLACEMENT_CORES)
        return 1000 * (int)taken_below(t, core_of(t, pu)) + distance;
    int nearest = 0;
    for (uint32_t i = 0; i < t->taken_count; i++)
        nearest = nearness(t, pu, t->taken[i]) > nearest ? nearness(t, pu, t->taken[i]) : nearest;
    return nearest;
}

static void check_choice(const trial *t, hwloc_obj_t chosen)
{
    const int paid = cost(t, chosen);
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(t->topo.topology, HWLOC_OBJ_PU, pu));)
        if (is_free(t, pu))
            cr_assert_leq(paid, cost(t, pu), "%s from %u: %u before %u", th_placement_name(t->placement), t->topo.here,
                          chosen->os_index, pu->os_index);
}

static void check_plan(trial *t)
{
    hwloc_obj_t caller = pu_of(t, t->topo.here);
    t->taken_count = caller != NULL;
    t->taken[0] = caller;
    for (uint32_t i = 0; i < t->count; i++) {
        hwloc_obj_t chosen = pu_of(t, t->cpus[i]);
        cr_assert(chosen && is_free(t, chosen), "CPU %u is not there, not allowed, the caller's or used twice",
                  t->cpus[i]);
        check_choice(t, chosen);
        t->taken[t->taken_count++] = chosen;
    }
}

static uint32_t count_free(const place *topo)
{
    uint32_t count = 0;
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(topo->topology, HWLOC_OBJ_PU, pu));)
        count += hwloc_bitmap_isset(topo->allowed, pu->os_index) && pu->os_index != topo->here;
    return count;
}

static void check_placement(const place *topo, th_placement placement, uint32_t workers)
{
    trial t = {.placement = placement, .topo = *topo};
    uint32_t more[MAX_CPUS], more_count;
    const uint32_t places = count_free(topo);
    for (uint32_t i = 0; i < MAX_CPUS; i++)
        t.cpus[i] = UNKNOWN;
    cr_assert_eq(plan(placement, topo, workers, t.cpus, &t.count), 0);
    cr_assert_eq(t.count, workers < places ? workers : places);
    for (uint32_t i = t.count; i < MAX_CPUS; i++)
        cr_assert_eq(t.cpus[i], UNKNOWN, "written beyond what is counted");
    check_plan(&t);
    cr_assert_eq(plan(placement, topo, MAX_CPUS, more, &more_count), 0);
    cr_assert_arr_eq(t.cpus, more, t.count * sizeof *more, "fewer workers get the beginning of the same plan");
}

static const char *const machines[] = {
    "pu:1",
    "pu:5",
    "core:1 pu:2",
    "core:4 pu:1",
    "l2:4 core:1 pu:2",
    "l3:3 core:2 pu:3",
    "pack:2 l3:2 core:4 pu:2",
    "pack:4 numa:2 l3:1 l2:2 core:2 pu:2",
    "group:2 pack:2 l3:2 core:3 pu:1",
    linux_like,
};
enum { MACHINES = sizeof machines / sizeof *machines };

static uint32_t below(uint64_t *random, uint32_t limit)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33) % limit;
}

/* Each CPU with a probability of 1/4, 2/4, 3/4 or 4/4. */
static hwloc_cpuset_t draw_set(uint64_t *random, uint32_t cpus)
{
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    const uint32_t density = 1 + below(random, 4);
    for (uint32_t cpu = 0; cpu < cpus; cpu++)
        if (below(random, 4) < density)
            hwloc_bitmap_set(set, cpu);
    return set;
}

static void check_drawn(const char *machine, uint64_t *random)
{
    hwloc_topology_t topology = build(machine);
    const uint32_t cpus = (uint32_t)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    hwloc_cpuset_t present = draw_set(random, cpus);
    if (below(random, 2)) /* CPUs that are off: a lopsided tree. Refused when nothing would be left. */
        hwloc_topology_restrict(topology, present, 0);
    for (int i = 0; i < 20; i++) {
        hwloc_cpuset_t allowed = draw_set(random, cpus);
        const place topo = {topology, allowed, below(random, cpus + 1)};
        for (int p = 0; p < PLANNED; p++)
            check_placement(&topo, planned[p], below(random, cpus + 2));
        hwloc_bitmap_free(allowed);
    }
    hwloc_bitmap_free(present);
    hwloc_topology_destroy(topology);
}

Test(placement, every_choice_is_allowed_and_the_best_there_is)
{
    uint64_t random = 1;
    for (int i = 0; i < 10 * MACHINES; i++)
        check_drawn(machines[i % MACHINES], &random);
}

/* Where the tree is even and all is allowed, siblings never differ by more than one. */
Test(placement, spread_keeps_even_trees_balanced)
{
    static const char *const even[] = {"pack:2 l3:2 core:4 pu:2", "l3:3 core:2 pu:3", linux_like};
    for (int m = 0; m < 3; m++) {
        trial t = {.placement = TH_PLACEMENT_SPREAD, .topo = {build(even[m]), read_set("0-63"), 3}};
        cr_assert_eq(plan(t.placement, &t.topo, MAX_CPUS, t.cpus, &t.count), 0);
        t.taken[t.taken_count++] = pu_of(&t, 3);
        for (uint32_t i = 0; i < t.count; i++) {
            t.taken[t.taken_count++] = pu_of(&t, t.cpus[i]);
            for (hwloc_obj_t object = t.taken[i + 1]; object->parent; object = object->parent)
                for (unsigned s = 0; s < object->parent->arity; s++)
                    cr_assert_leq(taken_below(&t, object), 1 + taken_below(&t, object->parent->children[s]));
        }
        hwloc_bitmap_free((hwloc_bitmap_t)t.topo.allowed);
        hwloc_topology_destroy(t.topo.topology);
    }
}

/* ---- machines that /sys describes ---- */

static void expect_read(const char *root, const place *p, const char *name)
{
    th_topology machine;
    cr_assert_eq(__real_th_topology_read(root, &machine), 0);
    for (uint32_t i = 0; i < machine.count; i++)
        machine.cpus[i].allowed = hwloc_bitmap_isset(p->allowed, machine.cpus[i].cpu);
    for (int i = 0; i < PLANNED; i++) {
        uint32_t cpus[MAX_CPUS], expected[MAX_CPUS], count, expected_count;
        cr_assert_eq(plan(planned[i], p, MAX_CPUS, expected, &expected_count), 0);
        cr_assert_eq(th_placement_plan(planned[i], &machine, p->here, MAX_CPUS, cpus, &count), 0);
        cr_expect(count == expected_count && memcmp(cpus, expected, count * sizeof *cpus) == 0, "%s on %s",
                  th_placement_name(planned[i]), name);
    }
    free(machine.cpus);
}

/* As hwloc has them, from the widest machine to one without cores. */
Test(placement, topologies_are_read_as_hwloc_has_them)
{
    static const struct {
        hwloc_obj_type_t type;
        const char *list;
    } lists[] = {{HWLOC_OBJ_GROUP, "topology/die_cpus_list"},
                 {HWLOC_OBJ_PACKAGE, "topology/core_siblings_list"},
                 {HWLOC_OBJ_L3CACHE, "cache/index3/shared_cpu_list"},
                 {HWLOC_OBJ_L2CACHE, "cache/index2/shared_cpu_list"},
                 {HWLOC_OBJ_CORE, "topology/thread_siblings_list"}};
    for (int m = 0; m < MACHINES; m++) {
        char root[] = "/tmp/throng-topology-XXXXXX", text[256];
        const place p = {build(machines[m]), read_set("0-63"), 1};
        cr_assert(mkdtemp(root));
        snprintf(text, sizeof text, "cd %s && mkdir -p sys/devices/system/cpu && cd sys/devices/system/cpu && sh",
                 root);
        FILE *shell = popen(text, "w");
        hwloc_bitmap_list_snprintf(text, sizeof text, hwloc_topology_get_topology_cpuset(p.topology));
        fprintf(shell, "echo %s >online\n", text);
        for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(p.topology, HWLOC_OBJ_PU, pu));) {
            fprintf(shell, "mkdir -p cpu%u/topology cpu%u/cache/index2 cpu%u/cache/index3\n", pu->os_index,
                    pu->os_index, pu->os_index);
            for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
                hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(p.topology, lists[l].type, pu);
                if (object && hwloc_bitmap_list_snprintf(text, sizeof text, object->cpuset))
                    fprintf(shell, "echo %s >cpu%u/%s\n", text, pu->os_index, lists[l].list);
            }
        }
        cr_assert_eq(pclose(shell), 0);
        expect_read(root, &p, machines[m]);
        snprintf(text, sizeof text, "rm -r %s", root);
        cr_assert_eq(system(text), 0);
        hwloc_bitmap_free((hwloc_bitmap_t)p.allowed);
        hwloc_topology_destroy(p.topology);
    }
    hwloc_topology_t here;
    cr_assert_eq(hwloc_topology_init(&here), 0);
    cr_assert_eq(hwloc_topology_load(here), 0);
    expect_read("", &(place){here, hwloc_topology_get_topology_cpuset(here), 0}, "this machine");
    hwloc_topology_destroy(here);
    cr_expect_eq(__real_th_topology_read("/nowhere", &(th_topology){0}), ENODEV);
}

/* ---- this machine ---- */

static void *find_on_one_cpu(void *arg)
{
    const size_t cpu = *(uint32_t *)arg;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    cr_assert_eq(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
    for (int p = TH_PLACEMENT_WORKERS; p < TH_PLACEMENT_COUNT; p++) {
        uint32_t cpus[MAX_CPUS], count;
        pretended_cpu = -1;
        cr_expect_eq(th_placement_find((th_placement)p, sched_getcpu(), MAX_CPUS, cpus, &count), 0);
        cr_expect_eq(count, 0, "%s leaves the affinity mask", th_placement_name((th_placement)p));
        pretended_cpu = UNKNOWN;
        cr_expect_eq(th_placement_find((th_placement)p, sched_getcpu(), MAX_CPUS, cpus, &count), 0);
        cr_expect(count == 1 && cpus[0] == cpu, "%s: %u CPUs", th_placement_name((th_placement)p), count);
    }
    return NULL;
}

Test(placement, keeps_to_the_affinity_mask_of_the_creating_thread)
{
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed))
            continue;
        pthread_t thread;
        cr_assert_eq(pthread_create(&thread, NULL, find_on_one_cpu, &cpu), 0);
        pthread_join(thread, NULL);
    }
}

Test(placement, only_plans_by_topology_load_one)
{
    for (int p = 0; p < TH_PLACEMENT_COUNT; p++) {
        uint32_t cpus[MAX_CPUS], count;
        const int before = topologies;
        cr_assert_eq(th_placement_find((th_placement)p, sched_getcpu(), 1, cpus, &count), 0);
        cr_expect_eq(topologies - before, p > TH_PLACEMENT_WORKERS);
    }
}

Test(placement, no_pool_when_the_topology_is_refused)
{
    refuse_topology = true;
    for (int p = 0; p < TH_PLACEMENT_COUNT; p++) {
        th_jobs *jobs;
        const th_jobs_desc desc = {.threads = 3, .placement = (th_placement)p};
        th_error err = {.code = TH_OK};
        cr_expect_eq(th_jobs_create(&desc, &jobs, &err), p > TH_PLACEMENT_WORKERS ? TH_ERR_ENVIRONMENT : TH_OK);
        cr_expect(err.code == TH_OK || strstr(err.text, "cannot start or place 3 threads: No such device"), "%s",
                  err.text);
        cr_expect_eq(jobs != NULL, p <= TH_PLACEMENT_WORKERS);
        th_jobs_destroy(jobs);
    }
}

/* With one worker more than there are CPUs. here: one of these, or UNKNOWN: all of them are for workers. */
static void check_pool(th_placement placement, const cpu_set_t *allowed, uint32_t here)
{
    uint32_t cpus[MAX_CPUS], count;
    const uint32_t places = (uint32_t)CPU_COUNT(allowed) - (here != UNKNOWN);
    meeting m = {.expected = (uint32_t)CPU_COUNT(allowed) + 2};
    th_jobs *jobs;
    const th_jobs_desc desc = {.threads = m.expected, .placement = placement};
    pretended_cpu = (int)here;
    cr_assert_eq(th_placement_find(placement, sched_getcpu(), m.expected - 1, cpus, &count), 0);
    cr_expect_eq(count, placement == TH_PLACEMENT_NONE ? 0 : places);
    cr_assert_eq(th_jobs_create(&desc, &jobs, NULL), TH_OK);
    th_jobs_for(jobs, m.expected, 1, meet, &m);
    cr_expect(CPU_EQUAL(&m.masks[0], allowed), "%s moved the caller", th_placement_name(placement));
    for (uint32_t i = 1; i < m.expected; i++) {
        const bool is_placed = i <= count;
        cr_expect_eq(CPU_COUNT(&m.masks[i]), is_placed ? 1 : CPU_COUNT(allowed));
        cr_expect(!is_placed || CPU_ISSET(cpus[i - 1], &m.masks[i]), "%s: worker %u is not on CPU %u",
                  th_placement_name(placement), i, cpus[i - 1]);
    }
    th_jobs_destroy(jobs);
}

static cpu_set_t mask_after_call(th_jobs *jobs, int caller_cpu)
{
    meeting m = {.expected = 2};
    pretended_cpu = caller_cpu;
    th_jobs_for(jobs, 2, 1, meet, &m);
    return m.masks[1];
}

/* Two CPUs of those allowed; where there are not so many, the test ends here. */
static cpu_set_t pick_pair(int cpus[2])
{
    cpu_set_t allowed, pair;
    int count = 0;
    sched_getaffinity(0, sizeof allowed, &allowed);
    CPU_ZERO(&pair);
    for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++)
        if (CPU_ISSET((size_t)cpu, &allowed)) {
            CPU_SET((size_t)cpu, &pair);
            cpus[count++] = cpu;
        }
    if (count < 2)
        cr_skip_test("only one CPU");
    return pair;
}

static void expect_on(const cpu_set_t *mask, int cpu)
{
    cr_expect(CPU_COUNT(mask) == 1 && CPU_ISSET((size_t)cpu, mask), "not on CPU %d alone", cpu);
}

/* Really, with calls in frames and without; then as if from a CPU outside of the mask: its worker cannot go there, and
 * makes way the next time. */
Test(placement, a_worker_makes_way_for_the_caller_to_allowed_cpus_only)
{
    int cpus[2];
    th_jobs *jobs;
    const cpu_set_t pair = pick_pair(cpus);
    pthread_setaffinity_np(pthread_self(), sizeof pair, &pair);
    cr_assert_eq(th_jobs_create(&(th_jobs_desc){.threads = 2, .placement = TH_PLACEMENT_WORKERS}, &jobs, NULL), TH_OK);
    for (int turn = 0; turn < 20; turn++) {
        cpu_set_t here;
        CPU_ZERO(&here);
        CPU_SET((size_t)cpus[turn % 2], &here);
        pthread_setaffinity_np(pthread_self(), sizeof here, &here);
        if (turn % 3 == 0)
            th_jobs_frame_begin(jobs);
        const cpu_set_t mask = mask_after_call(jobs, -1);
        if (turn % 3 == 0)
            th_jobs_frame_end(jobs);
        expect_on(&mask, cpus[(turn + 1) % 2]);
    }
    pthread_setaffinity_np(pthread_self(), sizeof pair, &pair);
    const int way[] = {cpus[0], UNKNOWN, cpus[1], cpus[0], cpus[1]};
    cpu_set_t mask;
    for (int i = 0; i < 5; i++)
        mask = mask_after_call(jobs, way[i]);
    expect_on(&mask, cpus[0]);
    th_jobs_destroy(jobs);
}

/* Its runtime ends threads that a smaller team has no use for, and starts others when the larger one is back. */
Test(placement, baselines_stay_placed_when_their_threads_change)
{
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    if (CPU_COUNT(&allowed) < 2)
        cr_skip_test("only one CPU");
    pretended_cpu = UNKNOWN; /* so that there is a CPU for worker 2 */
    for (EACH_SCHEDULER(s)) {
        if (s == TH_SCHEDULER_SERIAL)
            continue;
        uint32_t cpus[2], count;
        th_jobs *pools[2];
        for (uint32_t i = 0; i < 2; i++) {
            const th_jobs_desc desc = {.threads = 2 + i, .scheduler = s, .placement = TH_PLACEMENT_WORKERS};
            cr_assert_eq(th_jobs_create(&desc, &pools[i], NULL), TH_OK);
        }
        cr_assert_eq(th_placement_find(TH_PLACEMENT_WORKERS, sched_getcpu(), 2, cpus, &count), 0);
        for (uint32_t turn = 0; turn < 10; turn++) {
            meeting m = {.expected = 2 + turn % 2};
            th_jobs_for(pools[turn % 2], m.expected, 1, meet, &m);
            cr_expect(CPU_EQUAL(&m.masks[0], &allowed), "%s moved the caller", th_scheduler_name(s));
            for (uint32_t w = 1; w < m.expected; w++)
                cr_expect(CPU_COUNT(&m.masks[w]) == 1 && CPU_ISSET(cpus[w - 1], &m.masks[w]), "%s, turn %u: worker %u",
                          th_scheduler_name(s), turn, w);
        }
        th_jobs_destroy(pools[0]);
        th_jobs_destroy(pools[1]);
    }
}

Test(placement, workers_of_a_pool_are_where_the_plan_says)
{
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    if (CPU_COUNT(&allowed) + 2 > (int)TH_JOBS_MAX_THREADS)
        cr_skip_test("more CPUs than a pool has threads");
    for (uint32_t p = 0; p < TH_PLACEMENT_COUNT; p++) {
        check_pool((th_placement)p, &allowed, UNKNOWN);
        for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &allowed))
                check_pool((th_placement)p, &allowed, cpu);
    }
}
