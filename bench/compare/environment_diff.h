/* The conditions of two records: everything that a time depends on and that is no change of the code. Private to bench.
 */
#ifndef TH_BENCH_COMPARE_ENVIRONMENT_DIFF_H
#define TH_BENCH_COMPARE_ENVIRONMENT_DIFF_H

#include <throng/bench/result_file.h>

/* Texts of what differs and must not, one for each condition; NULL when memory is out. Where a record has no times only
 * what palettes depend on must be the same. */
json_t *th_conditions_differ(const th_record *old_record, const th_record *new_record);

/* Likewise of what may differ, but should be known. */
json_t *th_conditions_doubt(const th_record *old_record, const th_record *new_record);

/* What an entry's errors and palettes can be held against. */
typedef struct th_conditions_shared {
    bool scene;
    bool isa;  /* what entries use that do not name a kernel themselves */
    bool libc; /* it has made clips and models: palettes are the same to the last bit */
} th_conditions_shared;

th_conditions_shared th_conditions_share(const th_record *old_record, const th_record *new_record);

#endif
