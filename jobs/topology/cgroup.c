/* Where the limits are (cgroups(7), proc(5)):
 *
 *    /proc/self/cgroup      0::/web/worker       v2: hierarchy 0     MOUNT/web/worker/cpu.max
 *                           4:cpu,cpuacct:/web   v1: by controller   MOUNT/web/cpu.cfs_{quota,period}_us
 *    /proc/self/mountinfo   ... ROOT MOUNT ... - cgroup2 ...   or:  - cgroup SOURCE OPTIONS, with "cpu" in them
 *
 * ROOT is the group at MOUNT: "/", unless a container sees only a part of the hierarchy. It is removed from the front
 * of the path. Limits of parent groups also apply, so every folder up to the mount point is read. Systems may mount
 * both versions at once with the CPU controller in either, so both are read. Mount points with spaces, which are
 * escaped there, are not found.
 *
 * cpu.stat beside the limit has a line "throttled_usec N" in v2, and "throttled_time N", in nanoseconds, in v1.
 *
 * Memory: memory.max, memory.current and memory.stat in v2; memory.limit_in_bytes, memory.usage_in_bytes and
 * memory.stat in v1. Usage includes the page cache. The kernel reclaims its inactive part (inactive_file, in v1
 * total_inactive_file) when memory runs short, so that part counts as free. */
#include "cgroup.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum version {
    VERSION_1,
    VERSION_2,
} version;

/* The location of a controller's groups: v1 has one hierarchy per controller, v2 one for all. */
typedef struct hierarchy {
    version version;
    const char *controller;
} hierarchy;

/* The value that version 1 uses for no limit. */
#define NO_LIMIT 0x1p62

typedef struct path {
    char text[PATH_MAX];
} path;

static FILE *open_below(const char *root, const char *folder, const char *name)
{
    path whole;
    const int length = snprintf(whole.text, sizeof whole.text, "%s%s/%s", root, folder, name);
    return length > 0 && (size_t)length < sizeof whole.text ? fopen(whole.text, "re") : NULL;
}

static bool list_has(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *item = list; item; item = strchr(item, ',')) {
        item += *item == ',';
        if (strncmp(item, word, length) == 0 && (item[length] == ',' || item[length] == '\0'))
            return true;
    }
    return false;
}

typedef struct place {
    path group; /* the process's own, from the root of the hierarchy */
    path root;  /* the group at the mount point */
    path mount;
} place;

/* Parses a line of /proc/self/cgroup, ID:CONTROLLERS:PATH, in place. */
static bool parse_group(char *line, hierarchy h, place *out)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return false;
    *controllers++ = *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (h.version == VERSION_2 ? strcmp(line, "0") != 0 : !list_has(controllers, h.controller))
        return false;
    return snprintf(out->group.text, sizeof out->group.text, "%s", group) < (int)sizeof out->group.text;
}

/* Parses a line of /proc/self/mountinfo: ID PARENT DEVICE ROOT MOUNT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS. */
static bool parse_mount(char *line, hierarchy h, place *out)
{
    _Static_assert(PATH_MAX == 4096, "the widths below");
    char type[16], options[256];
    const char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", out->root.text, out->mount.text) != 2 ||
        sscanf(rest, " - %15s %*s %255s", type, options) != 2)
        return false;
    if (h.version == VERSION_2)
        return strcmp(type, "cgroup2") == 0;
    return strcmp(type, "cgroup") == 0 && list_has(options, h.controller);
}

typedef bool line_parser(char *line, hierarchy h, place *out);

/* Returns the first line of a file in /proc/self that the parser accepts. */
static bool find_line(const char *root, const char *name, line_parser *parse, hierarchy h, place *out)
{
    FILE *file = open_below(root, "/proc/self", name);
    if (!file)
        return false;
    char *line = NULL;
    size_t capacity = 0;
    bool found = false;
    while (!found && getline(&line, &capacity, file) >= 0)
        found = parse(line, h, out);
    free(line);
    fclose(file);
    return found;
}

/* 0 if there is no finite number: "max", garbage, no file. */
static double read_number(FILE *file)
{
    double number = 0;
    return file && fscanf(file, "%lf", &number) == 1 && isfinite(number) ? number : 0;
}

static double read_quota(const char *root, const char *folder, version v)
{
    FILE *quota_file = open_below(root, folder, v == VERSION_2 ? "cpu.max" : "cpu.cfs_quota_us");
    FILE *period_file = v == VERSION_2 ? quota_file : open_below(root, folder, "cpu.cfs_period_us");
    const double quota = read_number(quota_file);
    const double period = read_number(period_file);
    if (quota_file)
        fclose(quota_file);
    if (period_file && period_file != quota_file)
        fclose(period_file);
    return quota > 0 && period > 0 ? quota / period : 0;
}

/* The folder of the process's group, and the length of the mount point at its beginning. */
static bool find_folder(const char *root, hierarchy h, path *out_folder, size_t *out_top)
{
    place p;
    if (!find_line(root, "cgroup", parse_group, h, &p) || !find_line(root, "mountinfo", parse_mount, h, &p))
        return false;
    const size_t split = strcmp(p.root.text, "/") == 0 ? 0 : strlen(p.root.text);
    const bool below = strncmp(p.group.text, p.root.text, split) == 0 && p.group.text[split] == '/';
    const char *rest = below ? p.group.text + split : "";
    *out_top = strlen(p.mount.text);
    return snprintf(out_folder->text, sizeof out_folder->text, "%s%s", p.mount.text, rest) <
           (int)sizeof out_folder->text;
}

/* Reads a value of one group: its limit in CPUs or its free bytes, 0 for none; or how long limits throttled it, in
 * seconds. */
typedef double reader(const char *root, const char *folder, version v);

/* The number in the first line of that format; 0 if there is none. */
static double read_line(const char *root, const char *folder, const char *name, const char *format)
{
    char line[128];
    double number = 0;
    FILE *file = open_below(root, folder, name);
    while (file && fgets(line, sizeof line, file) && sscanf(line, format, &number) != 1)
        ;
    if (file)
        fclose(file);
    return number;
}

static double read_throttled(const char *root, const char *folder, version v)
{
    if (v == VERSION_2)
        return read_line(root, folder, "cpu.stat", "throttled_usec %lf") / 1e6;
    return read_line(root, folder, "cpu.stat", "throttled_time %lf") / 1e9;
}

static double read_memory_limit(const char *root, const char *folder, version v)
{
    const double limit = read_line(root, folder, v == VERSION_2 ? "memory.max" : "memory.limit_in_bytes", "%lf");
    return limit > 0 && limit < NO_LIMIT ? limit : 0;
}

/* At least 1 if there is a limit. */
static double read_memory_left(const char *root, const char *folder, version v)
{
    const bool is_2 = v == VERSION_2;
    const double limit = read_memory_limit(root, folder, v);
    const double used = read_line(root, folder, is_2 ? "memory.current" : "memory.usage_in_bytes", "%lf");
    const char *format = is_2 ? "inactive_file %lf" : "total_inactive_file %lf";
    const double left = limit - used + read_line(root, folder, "memory.stat", format);
    return limit > 0 ? fmax(left, 1) : 0;
}

static double tightest(double a, double b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

static double longest(double a, double b)
{
    return b > a ? b : a;
}

/* Visits the process's group and its parents. */
static double ask_hierarchy(const char *root, hierarchy h, reader *read, double (*choose)(double a, double b))
{
    path folder;
    size_t top;
    if (!find_folder(root, h, &folder, &top))
        return 0;
    double chosen = read(root, folder.text, h.version);
    for (char *slash; (slash = strrchr(folder.text + top, '/'));) {
        *slash = '\0';
        chosen = choose(chosen, read(root, folder.text, h.version));
    }
    return chosen;
}

static double ask_groups(const char *root, const char *controller, reader *read, double (*choose)(double a, double b))
{
    assert(root);
    return choose(ask_hierarchy(root, (hierarchy){VERSION_1, controller}, read, choose),
                  ask_hierarchy(root, (hierarchy){VERSION_2, controller}, read, choose));
}

double th_cgroup_quota(const char *root)
{
    return ask_groups(root, "cpu", read_quota, tightest);
}

uint64_t th_cgroup_throttled_ns(const char *root)
{
    const double s = ask_groups(root, "cpu", read_throttled, longest);
    return s > 0 && s < 1e9 ? (uint64_t)(s * 1e9 + 0.5) : 0; /* 0 for garbage */
}

double th_cgroup_memory_left(const char *root)
{
    return ask_groups(root, "memory", read_memory_left, tightest);
}

double th_cgroup_memory_limit(const char *root)
{
    return ask_groups(root, "memory", read_memory_limit, tightest);
}
