/* How many CPUs and how much memory there are: inside for control groups in a system of files that is made up. */
#include "jobs/topology/cgroup.h"

#include <jobs/jobs.h>

#include <criterion/criterion.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A system of files in a folder of its own. */
static char root[] = "/tmp/throng-cpus-XXXXXX";

static void make_root(void)
{
    cr_assert_not_null(mkdtemp(root));
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)status, (void)type, (void)ftw;
    return remove(path);
}

static void remove_root(void)
{
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

TestSuite(cgroup, .init = make_root, .fini = remove_root);

static void put(const char *name, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *slash = path + sizeof root; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0700);
    }
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

static void put_v2(const char *group)
{
    char line[512];
    snprintf(line, sizeof line, "0::%s\n", group);
    put("/proc/self/cgroup", line);
    put("/proc/self/mountinfo", "22 27 0:21 / /proc rw,nosuid - proc proc rw\n"
                                "31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
}

static void put_v1(const char *shown, const char *group)
{
    char text[512];
    snprintf(text, sizeof text, "12:cpuset:/wrong\n4:cpuacct,cpu:%s\n1:name=systemd:/wrong\n", group);
    put("/proc/self/cgroup", text);
    snprintf(text, sizeof text,
             "33 32 0:28 /wrong /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
             "34 32 0:29 %s /sys/fs/cgroup/cpu rw shared:1 master:2 - cgroup cgroup rw,cpuacct,cpu\n",
             shown);
    put("/proc/self/mountinfo", text);
}

/* With one more file. */
static void expect_quota(const char *file, const char *text, double quota)
{
    put(file, text);
    cr_expect_eq(th_cgroup_quota(root), quota, "%g with %s of %s", th_cgroup_quota(root), file, text);
}

Test(cgroup, v2_tightest_limit_of_the_own_group_and_of_its_parents_counts)
{
    static const char worker[] = "/sys/fs/cgroup/web/worker/cpu.max", web[] = "/sys/fs/cgroup/web/cpu.max";
    put_v2("/web/worker");
    expect_quota(worker, "150000 100000\n", 1.5);
    expect_quota(worker, "max 100000\n", 0);
    expect_quota(web, "250000 100000\n", 2.5);
    expect_quota(worker, "30000 10000\n", 2.5);
    expect_quota(web, "900000 100000\n", 3);
}

/* A container with a namespace of groups; and its own group outside of that. */
Test(cgroup, v2_limit_at_the_mount_point_counts)
{
    put_v2("/");
    expect_quota("/sys/fs/cgroup/cpu.max", "200000 100000\n", 2);
    put_v2("/../other");
    expect_quota("/sys/fs/cgroup/cpu.max", "300000 100000\n", 3);
}

Test(cgroup, v1_limit_counts)
{
    put_v1("/", "/web/worker");
    put("/sys/fs/cgroup/cpu/web/worker/cpu.cfs_period_us", "100000\n");
    expect_quota("/sys/fs/cgroup/cpu/web/worker/cpu.cfs_quota_us", "-1\n", 0);
    put("/sys/fs/cgroup/cpu/web/cpu.cfs_quota_us", "175000\n");
    expect_quota("/sys/fs/cgroup/cpu/web/cpu.cfs_period_us", "50000\n", 3.5);
}

/* A neighbour whose name only begins like ours has a limit that is not ours. */
Test(cgroup, v1_part_shown_to_a_container_is_cut_off)
{
    put_v1("/docker/abc", "/docker/abc/inner");
    put("/sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000\n");
    expect_quota("/sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "120000\n", 1.2);
    put_v1("/docker/abc", "/docker/abcdef");
    put("/sys/fs/cgroup/cpudef/cpu.cfs_period_us", "100000\n");
    expect_quota("/sys/fs/cgroup/cpudef/cpu.cfs_quota_us", "100000\n", 0);
}

Test(cgroup, both_versions_at_once_give_the_tighter)
{
    put("/proc/self/cgroup", "4:cpu:/one\n0::/two\n");
    put("/proc/self/mountinfo", "34 32 0:29 / /v1 rw - cgroup cgroup rw,cpu\n"
                                "35 32 0:30 / /v2 rw - cgroup2 cgroup2 rw\n");
    put("/v1/one/cpu.cfs_period_us", "100000\n");
    expect_quota("/v1/one/cpu.cfs_quota_us", "300000\n", 3);
    expect_quota("/v2/two/cpu.max", "200000 100000\n", 2);
}

Test(cgroup, nothing_there_is_no_limit)
{
    cr_assert_eq(th_cgroup_quota(root), 0.0);
    put("/proc/self/cgroup", "0::/web\n");
    cr_assert_eq(th_cgroup_quota(root), 0.0);
    put_v2("/web");
    cr_assert_eq(th_cgroup_quota(root), 0.0);
}

Test(cgroup, garbage_is_no_limit)
{
    static const char *const files[] = {"cpu.max", "cpu.stat", "memory.max"};
    static const char *const texts[][10] = {
        {"", "\n", "0 100000", "-5 100000", "100000", "1 0", "one two", "nan 100000", "5 -1", "inf 100000"},
        {"", "\n", "throttled_usec", "throttled_usec x", "throttled_usec -5", "throttled_usec nan",
         "throttled_usec inf", "throttled_usec 1e16"},
        {"", "\n", "max", "0", "-5", "nan", "inf", "lots"}};
    put_v2("/web");
    for (int f = 0; f < 3; f++)
        for (int t = 0; t < 10 && texts[f][t]; t++) {
            char path[64];
            snprintf(path, sizeof path, "/sys/fs/cgroup/web/%s", files[f]);
            expect_quota(path, texts[f][t], 0);
            cr_expect_eq(th_cgroup_throttled_ns(root), 0, "%s: \"%s\"", files[f], texts[f][t]);
            cr_expect_eq(th_cgroup_memory_left(root), 0, "%s: \"%s\"", files[f], texts[f][t]);
        }
    put("/sys/fs/cgroup/web/cpu.max", "100000 100000");
    expect_quota("/proc/self/mountinfo", " - \n - cgroup2\nx y z / /sys/fs/cgroup - cgroup\n\n\xff\xfe", 0);
    put_v2("/web");
    expect_quota("/proc/self/cgroup", "\n:\n::\n0\n0:\n\xff:\xff:\xff", 0);
}

Test(cgroup, overlong_names_are_no_limit)
{
    char *line = malloc(10000);
    snprintf(line, 10000, "0::/%09000d\n", 0);
    put_v2("/web");
    put("/sys/fs/cgroup/cpu.max", "100000 100000");
    put("/proc/self/cgroup", line);
    cr_expect_eq(th_cgroup_quota(root), 0.0);
    free(line);
}

static void expect_throttled(const char *file, const char *text, uint64_t ns)
{
    put(file, text);
    cr_expect_eq(th_cgroup_throttled_ns(root), ns, "%s: %s", file, text);
}

Test(cgroup, throttled_time_is_the_most_of_all_groups)
{
    put_v2("/web/worker");
    cr_expect_eq(th_cgroup_throttled_ns(root), 0);
    expect_throttled("/sys/fs/cgroup/web/worker/cpu.stat", "usage_usec 99\nnr_throttled 2\nthrottled_usec 1500\n",
                     1500000);
    expect_throttled("/sys/fs/cgroup/web/cpu.stat", "throttled_usec 2500\nnr_bursts 0\n", 2500000);
    put_v1("/", "/web");
    expect_throttled("/sys/fs/cgroup/cpu/web/cpu.stat", "nr_periods 9\nnr_throttled 2\nthrottled_time 123456789\n",
                     123456789);
}

/* limit: whatever is used. */
static void expect_memory(const char *file, const char *text, double left, double limit)
{
    put(file, text);
    cr_expect_eq(th_cgroup_memory_left(root), left, "%s: %s", file, text);
    cr_expect_eq(th_cgroup_memory_limit(root), limit, "%s: %s", file, text);
}

Test(cgroup, memory_is_that_of_the_tightest_group)
{
    put_v2("/web/worker");
    expect_memory("/sys/fs/cgroup/web/worker/memory.max", "max\n", 0, 0);
    expect_memory("/sys/fs/cgroup/web/worker/memory.max", "9000000\n", 9000000, 9000000);
    expect_memory("/sys/fs/cgroup/web/worker/memory.current", "4000000\n", 5000000, 9000000);
    expect_memory("/sys/fs/cgroup/web/worker/memory.stat", /* the cache of files is given up */
                  "anon 3\nfile 4\nactive_file 77\ninactive_file 1000000\n", 6000000, 9000000);
    expect_memory("/sys/fs/cgroup/web/memory.max", "3000000\n", 3000000, 3000000);
    /* Nothing left is not the same as no limit. */
    expect_memory("/sys/fs/cgroup/web/memory.current", "3100000\n", 1, 3000000);
    expect_memory("/sys/fs/cgroup/web/memory.max", "9500000\n", 6000000, 9000000);
}

Test(cgroup, v1_memory_is_another_hierarchy_than_cpu)
{
    put("/proc/self/cgroup", "4:cpu:/wrong\n5:memory:/web\n");
    put("/proc/self/mountinfo", "34 32 0:29 / /cpu rw - cgroup cgroup rw,cpu\n"
                                "35 32 0:30 / /memory rw - cgroup cgroup rw,memory\n");
    /* What v1 has where there is no limit. */
    expect_memory("/memory/memory.limit_in_bytes", "9223372036854771712\n", 0, 0);
    put("/memory/web/memory.limit_in_bytes", "8000000\n");
    put("/memory/web/memory.usage_in_bytes", "5000000\n");
    expect_memory("/memory/web/memory.stat", "inactive_file 7\ntotal_inactive_file 500000\n", 3500000, 8000000);
}
Test(cpus, some_memory_is_available_and_less_than_there_is)
{
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    cr_expect_gt(th_memory_available(), 1 << 20);
    cr_expect_lt((double)th_memory_available(), machine);
    cr_expect_leq((double)th_memory_limit(), machine);
    cr_expect_gt(th_memory_limit(), th_memory_available());
}

/* Of AddressSanitizer, terabytes. */
static rlim_t read_data_bytes(void)
{
    unsigned long long kilobytes = 0;
    char line[128];
    FILE *file = fopen("/proc/self/status", "r");
    cr_assert(file);
    while (fgets(line, sizeof line, file) && sscanf(line, "VmData: %llu kB", &kilobytes) != 1)
        ;
    fclose(file);
    return kilobytes << 10;
}

Test(cpus, memory_that_a_limit_refuses_is_not_available)
{
    enum { LEFT = 512 << 20 };
    const rlim_t limit = read_data_bytes() + LEFT;
    cr_assert_eq(setrlimit(RLIMIT_DATA, &(struct rlimit){limit, limit}), 0);
    const uint64_t available = th_memory_available();
    cr_expect(available > LEFT / 2 && available <= LEFT, "%g MB", (double)available / 1e6);
    volatile char *memory = malloc(LEFT / 4);
    memory[0] = 1;
    cr_expect_leq(th_memory_available(), available - LEFT / 4);
    free((char *)memory);
}

Test(cpus, usable_is_the_least_and_at_least_one)
{
    const th_cpus cpus = th_cpus_read();
    cr_expect_geq(cpus.usable, 1);
    cr_expect_leq(cpus.usable, cpus.online);
    cr_expect_leq(cpus.usable, cpus.affinity);
    cr_expect(cpus.quota == 0 || cpus.usable < cpus.quota + 1);
}

Test(cpus, affinity_follows_the_mask)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    cr_expect_eq(th_cpus_read().affinity, 1);
    cr_expect_eq(th_cpus_read().usable, 1);
}
