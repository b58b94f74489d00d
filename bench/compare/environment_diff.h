/* The conditions of two result_files: everything that a time depends on and that is no change of the code. Private to
 * bench.
 */
#ifndef TH_BENCH_COMPARE_ENVIRONMENT_DIFF_H
#define TH_BENCH_COMPARE_ENVIRONMENT_DIFF_H

#include <throng/bench/result_file.h>

/* Texts of what differs and must not, one for each condition; NULL when memory is out. Where a results has no times
 * only what palettes depend on must be the same. */
json_t *th_environment_conflicts(const th_result_file *old_results, const th_result_file *new_results);

/* Likewise of what may differ, but should be known. */
json_t *th_environment_warnings(const th_result_file *old_results, const th_result_file *new_results);

/* What an entry's errors and palettes can be held against. */
typedef struct th_environment_match {
    bool scene;
    bool isa;  /* what entries use that do not name a kernel themselves */
    bool libc; /* it has made clips and models: palettes are the same to the last bit */
} th_environment_match;

th_environment_match th_environment_match_of(const th_result_file *old_results, const th_result_file *new_results);

#endif
