#include "package_energy.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Reads the first line of a file of a zone. False: errno says why. */
static bool read_line(const char *powercap, uint32_t zone, const char *name, char *line, int size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/intel-rapl:%u/%s", powercap, zone, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    const bool is_read = fgets(line, size, file) != NULL;
    fclose(file);
    return is_read;
}

static bool read_number(const char *powercap, uint32_t zone, const char *name, double *out)
{
    char line[64], rest;
    if (!read_line(powercap, zone, name, line, sizeof line))
        return false;
    errno = EINVAL;
    return sscanf(line, "%lf %c", out, &rest) == 1 && *out >= 0;
}

/* Zones are numbered without gaps; that of the whole platform ("psys") is no package. AMD's have the same names. */
th_energy_mark th_energy_read(const char *powercap)
{
    th_energy_mark mark = {.error = ENOENT};
    char name[64];
    for (uint32_t zone = 0; zone < TH_ENERGY_MAX_PACKAGES && read_line(powercap, zone, "name", name, sizeof name);
         zone++) {
        if (strncmp(name, "package", strlen("package")) != 0)
            continue;
        if (!read_number(powercap, zone, "energy_uj", &mark.uj[mark.count]) ||
            !read_number(powercap, zone, "max_energy_range_uj", &mark.range[mark.count]))
            return (th_energy_mark){.error = errno};
        mark.count++;
    }
    return mark;
}

double th_energy_between(const th_energy_mark *begin, const th_energy_mark *end)
{
    double sum = 0;
    if (begin->count == 0 || begin->count != end->count)
        return (double)NAN;
    for (uint32_t p = 0; p < begin->count; p++) {
        const double used = end->uj[p] - begin->uj[p];
        sum += used < 0 ? used + end->range[p] : used;
    }
    return sum / 1e6;
}
