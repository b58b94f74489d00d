/* Compares the conditions of two result files: everything that times depend on besides the code. Private to bench. */
#ifndef TH_BENCH_COMPARE_ENVIRONMENT_DIFF_H
#define TH_BENCH_COMPARE_ENVIRONMENT_DIFF_H

#include <bench/result_file.h>

/* Texts about conditions that must not differ but do; NULL when memory is out. Where a result has no times, only
 * conditions that palettes depend on matter. */
json_t *th_environment_conflicts(const th_result_file *old_results, const th_result_file *new_results);

/* The same for conditions that may differ, but are worth a warning. */
json_t *th_environment_warnings(const th_result_file *old_results, const th_result_file *new_results);

/* Which conditions are equal, so that errors and palettes can be compared. */
typedef struct th_environment_match {
    bool scene;
    bool isa;  /* for entries whose name does not say the kernel */
    bool libc; /* it took part in making clips and models; palettes may differ in the last bit otherwise */
} th_environment_match;

th_environment_match th_environment_match_of(const th_result_file *old_results, const th_result_file *new_results);

#endif
