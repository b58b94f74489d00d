#include <bench/context.h>

#include "build.h"
#include "commit.h"

#include <core/clock.h>
#include <core/file.h>
#include <core/json.h>

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

const char *th_context_version(void)
{
    return TH_BUILD_VERSION " (" TH_BUILD_COMMIT ")";
}

/* The first line of a file, without its newline; "" if it cannot be read. */
static void read_line(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "r");
    if (!file || !fgets(out, (int)size, file))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (file)
        fclose(file);
}

static th_boost boost_of(const char *text, char on)
{
    return text[0] == '\0' ? TH_BOOST_UNKNOWN : text[0] == on ? TH_BOOST_ON : TH_BOOST_OFF;
}

/* Keeps the value of the first CPU. */
static void read_identity(th_context *c, const char *line, const char *value)
{
    const struct {
        const char *name;
        char *out;
        size_t size;
    } fields[] = {
        {"model name", c->cpu, sizeof c->cpu},
        {"cpu family", c->cpu_family, sizeof c->cpu_family},
        {"model", c->cpu_model_number, sizeof c->cpu_model_number},
        {"stepping", c->cpu_stepping, sizeof c->cpu_stepping},
        {"microcode", c->cpu_microcode, sizeof c->cpu_microcode},
    };
    const size_t length = strcspn(line, "\t:");
    value += strspn(value, ": ");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i].name) == length && strncmp(line, fields[i].name, length) == 0 && !fields[i].out[0])
            snprintf(fields[i].out, fields[i].size, "%.*s", (int)strcspn(value, "\n"), value);
    for (size_t n = strlen(c->cpu); n > 0 && c->cpu[n - 1] == ' ';) /* a virtual machine may fill it up */
        c->cpu[--n] = '\0';
}

/* Reads clock rate, hypervisor flag and identity from /proc/cpuinfo. The clock rate differs between CPUs and changes
 * over time. */
static void read_cpuinfo(th_context *c)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[8192];
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (value && strncmp(line, "cpu MHz", 7) == 0) {
            double mhz = strtod(value + 1, NULL);
            c->mhz = mhz > c->mhz ? mhz : c->mhz;
        } else if (value && strncmp(line, "flags", 5) == 0) {
            c->virtual_machine = strstr(value, " hypervisor") != NULL;
        } else if (value) {
            read_identity(c, line, value);
        }
    }
    if (file)
        fclose(file);
}

#define SYSTEM "/sys/devices/system/"

/* Caches are those of the first CPU. */
static void read_topology(th_context *c)
{
    enum { MOST = 8192 };
    uint32_t cpus[MOST], first;
    char path[128], text[32];
    const uint32_t count = th_cpus_list(SYSTEM "cpu/online", cpus, MOST);
    for (uint32_t i = 0; i < count && i < MOST; i++) {
        snprintf(path, sizeof path, SYSTEM "cpu/cpu%u/topology/thread_siblings_list", cpus[i]);
        c->cores += th_cpus_list(path, &first, 1) == 0 || first == cpus[i];
    }
    c->threads_per_core = c->cores ? count / c->cores : 0;
    c->numa_nodes = th_cpus_list(SYSTEM "node/has_memory", &first, 1);
    if (c->numa_nodes == 0 && count > 0)
        c->numa_nodes = 1;
    for (uint32_t i = 0; count > 0 && i < TH_CONTEXT_MAX_CACHES; i++) {
        th_cache *out = &c->caches[c->cache_count];
        const int length = snprintf(path, sizeof path, SYSTEM "cpu/cpu%u/cache/index%u/", cpus[0], i);
        const size_t left = sizeof path - (size_t)length;
        char *name = path + length;
        snprintf(name, left, "size"); /* "32K" */
        read_line(path, text, sizeof text);
        out->bytes = strtoull(text, NULL, 10) << (strchr(text, 'K') ? 10 : strchr(text, 'M') ? 20 : 0);
        snprintf(name, left, "level");
        read_line(path, text, sizeof text);
        out->level = (uint32_t)strtoul(text, NULL, 10);
        snprintf(name, left, "type");
        read_line(path, out->type, sizeof out->type);
        snprintf(name, left, "shared_cpu_list");
        out->sharing = th_cpus_list(path, &first, 1);
        c->cache_count += out->level > 0;
    }
}

void th_context_read(th_context *c)
{
    assert(c);
    *c = (th_context){.cpus = th_cpus_read()};

    /* The moment. */
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(c->date, sizeof c->date, "%Y-%m-%dT%H:%M:%S%z", &local);
    size_t length = strlen(c->date); /* +0200 becomes +02:00 */
    if (length >= 5 && length + 1 < sizeof c->date) {
        memmove(c->date + length - 1, c->date + length - 2, 3);
        c->date[length - 2] = ':';
    }
    if (gethostname(c->host, sizeof c->host - 1) != 0)
        c->host[0] = '\0';
    if (readlink("/proc/self/exe", c->executable, sizeof c->executable - 1) < 0)
        c->executable[0] = '\0';
    errno = 0;
    const int nice = getpriority(PRIO_PROCESS, 0);
    c->nice = errno ? 0 : nice;
    if (getloadavg(c->load, 3) < 0)
        memset(c->load, 0, sizeof c->load);

    /* The system. */
    struct utsname name;
    char line[128], text[16];
    if (uname(&name) == 0)
        snprintf(c->system, sizeof c->system, "%.16s %.64s", name.sysname, name.release);
    confstr(_CS_GNU_LIBC_VERSION, c->libc, sizeof c->libc);
    c->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    c->clock_step_ns = th_clock_resolution_ns();
    read_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line);
    const char *chosen = strchr(line, '['); /* "always [madvise] never" */
    snprintf(c->huge_pages, sizeof c->huge_pages, "%.*s", chosen ? (int)strcspn(chosen + 1, "]") : 0,
             chosen ? chosen + 1 : "");
    read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", c->clock_source,
              sizeof c->clock_source);
    read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", c->governor, sizeof c->governor);
    read_line("/sys/devices/system/cpu/cpufreq/boost", text, sizeof text);
    c->boost = boost_of(text, '1');
    if (c->boost == TH_BOOST_UNKNOWN) {
        read_line("/sys/devices/system/cpu/intel_pstate/no_turbo", text, sizeof text);
        c->boost = boost_of(text, '0');
    }

    /* The processor. */
    read_cpuinfo(c);
    read_topology(c);
}

/* ---- as JSON ---- */

/* A number in decimal digits; null if unknown. */
static json_t *number_json(const char *digits)
{
    return digits[0] ? json_integer(strtol(digits, NULL, 10)) : json_null();
}

static json_t *machine_json(const th_context *c)
{
    json_t *json =
        json_pack("{s:o, s:i, s:i, s:b, s:i, s:o, s:o, s:b, s:i, s:o, s:i}", "cpu_model", th_json_text(c->cpu), "cores",
                  c->cores, "threads_per_core", c->threads_per_core, "smt", c->threads_per_core > 1, "numa_nodes",
                  c->numa_nodes, "governor", th_json_text_if_any(c->governor), "boost",
                  c->boost == TH_BOOST_UNKNOWN ? json_null() : json_boolean(c->boost == TH_BOOST_ON), "virtual_machine",
                  c->virtual_machine, "affinity_cpus", c->cpus.affinity, "cgroup_quota_cpus",
                  c->cpus.quota > 0 ? th_json_real(c->cpus.quota) : json_null(), "usable_cpus", c->cpus.usable);
    json = th_json_merge(json, json_pack("{s:o, s:s, s:i, s:o, s:o, s:o}", "system", th_json_text_if_any(c->system),
                                         "libc", c->libc, "page_size", (int)c->page_bytes, "huge_pages",
                                         th_json_text_if_any(c->huge_pages), "clock_source",
                                         th_json_text_if_any(c->clock_source), "clock_step_ns",
                                         th_json_count(c->clock_step_ns)));
    return th_json_merge(json,
                         json_pack("{s:o, s:o, s:o, s:o}", "cpu_family", number_json(c->cpu_family), "cpu_model_number",
                                   number_json(c->cpu_model_number), "cpu_stepping", number_json(c->cpu_stepping),
                                   "cpu_microcode", th_json_text_if_any(c->cpu_microcode)));
}

/* A word of the command line. An open folder in it becomes its path, so that the command can be repeated. */
static json_t *word_json(const char *word)
{
    char link[32], path[PATH_MAX], whole[2 * PATH_MAX];
    int folder;
    const char *at = strstr(word, "/proc/self/fd/"), *name = at ? th_path_in_folder(at, &folder) : NULL;
    if (!name)
        return th_json_text(word);
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    snprintf(whole, sizeof whole, "%.*s%.*s/%s", (int)(at - word), word, (int)(length < 0 ? 0 : length), path, name);
    return th_json_text(whole);
}

/* The words of the command line. */
static json_t *command_json(void)
{
    json_t *words = json_array();
    char *word = NULL;
    size_t room = 0;
    FILE *file = fopen("/proc/self/cmdline", "re");
    while (file && getdelim(&word, &room, '\0', file) > 0)
        words = th_json_append(words, word_json(word));
    free(word);
    if (file)
        fclose(file);
    return words;
}

/* The variables that schedulers and renderers read: of OpenMP (also GNU's and LLVM's own), and of Mesa's software
 * renderer. A name may be any bytes too, and JSON takes only UTF-8. */
static json_t *environment_json(void)
{
    static const char *const prefixes[] = {"OMP_", "GOMP_", "KMP_", "LIBOMP_", "LP_NUM_THREADS="};
    json_t *variables = json_object();
    for (char **variable = environ; *variable; variable++) {
        const char *value = strchr(*variable, '=');
        bool is_recorded = false;
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            is_recorded = is_recorded || strncmp(*variable, prefixes[i], strlen(prefixes[i])) == 0;
        if (!is_recorded || !value)
            continue;
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)(value - *variable), *variable);
        json_t *key = th_json_text(name);
        variables = th_json_set(variables, key ? json_string_value(key) : "", key ? th_json_text(value + 1) : NULL);
        json_decref(key);
    }
    return variables;
}

static const char *policy_name(int policy)
{
    switch (policy & ~SCHED_RESET_ON_FORK) {
    case SCHED_OTHER:
        return "other";
    case SCHED_BATCH:
        return "batch";
    case SCHED_IDLE:
        return "idle";
    case SCHED_FIFO:
        return "fifo";
    case SCHED_RR:
        return "rr";
    default:
        return NULL;
    }
}

json_t *th_context_json(const th_context *c)
{
    assert(c);

    /* Names, order and meaning as in Google Benchmark. */
#ifdef NDEBUG
    const char *type = "release";
#else
    const char *type = "debug";
#endif
    const bool is_scaling = c->governor[0] && strcmp(c->governor, "performance") != 0;
    json_t *caches = json_array();
    for (uint32_t i = 0; i < c->cache_count; i++) {
        const th_cache *cache = &c->caches[i];
        caches = th_json_append(caches, json_pack("{s:s, s:i, s:o, s:i}", "type", cache->type, "level", cache->level,
                                                  "size", th_json_count(cache->bytes), "num_sharing", cache->sharing));
    }
    json_t *json =
        json_pack("{s:s, s:o, s:o, s:i, s:i, s:b, s:o, s:o, s:s, s:s, s:i, s:i}", "date", c->date, "host_name",
                  th_json_text(c->host), "executable", th_json_text(c->executable), "num_cpus", c->cpus.online,
                  "mhz_per_cpu", (int)c->mhz, "cpu_scaling_enabled", is_scaling, "caches", caches, "load_avg",
                  th_json_reals(c->load, 3), "library_version", TH_BUILD_VERSION, "library_build_type", type,
                  "json_schema_version", 1, "throng_schema_version", TH_SCHEMA_VERSION);

    json = th_json_merge(json, machine_json(c));
    json = th_json_merge(json, json_pack("{s:s, s:s, s:s, s:s, s:s}", "compiler", TH_BUILD_COMPILER, "compiler_flags",
                                         TH_BUILD_FLAGS, "build_type", TH_BUILD_TYPE, "commit", TH_BUILD_COMMIT, "isa",
                                         th_isa_name(th_isa_best())));

    /* This process, and how this thread is scheduled. */
    struct sched_param parameters = {0};
    const int policy = sched_getscheduler(0);
    sched_getparam(0, &parameters);
    errno = 0;
    const int nice = getpriority(PRIO_PROCESS, 0);
    return th_json_merge(json, json_pack("{s:o, s:o, s:o, s:i, s:o}", "command", command_json(), "environment",
                                         environment_json(), "scheduling_policy",
                                         th_json_text(policy < 0 ? NULL : policy_name(policy)), "scheduling_priority",
                                         parameters.sched_priority, "nice", errno ? json_null() : json_integer(nice)));
}
