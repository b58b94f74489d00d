/* Energy that the processor packages use, from the kernel's power capping zones (RAPL). Usually only root may read
 * it. Private to bench. */
#ifndef TH_BENCH_MEASURE_PACKAGE_ENERGY_H
#define TH_BENCH_MEASURE_PACKAGE_ENERGY_H

#include <stddef.h>
#include <stdint.h>

#define TH_POWERCAP "/sys/class/powercap"

enum { TH_ENERGY_MAX_PACKAGES = 64 };

typedef struct th_energy_mark {
    uint32_t count;                       /* packages; 0: not to be read */
    double uj[TH_ENERGY_MAX_PACKAGES];    /* counts up to */
    double range[TH_ENERGY_MAX_PACKAGES]; /* this, then from 0 again */
    int error;                            /* errno where count is 0 */
} th_energy_mark;

/* powercap: TH_POWERCAP, or a folder with the same files. */
th_energy_mark th_energy_read(const char *powercap);

/* Joules that all packages used between two marks, less than a range apart, which takes minutes; NaN: unknown. */
double th_energy_between(const th_energy_mark *begin, const th_energy_mark *end);

#endif
