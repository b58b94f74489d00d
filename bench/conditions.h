/* The conditions of two records: everything that a time depends on and that is no change of the code. Private to bench.
 */
#ifndef TH_CONDITIONS_H
#define TH_CONDITIONS_H

#include <throng/record.h>

/* Texts of what differs and must not, one for each condition; NULL when memory is out. */
json_t *th_conditions_differ(const th_record *old_record, const th_record *new_record);

/* Likewise of what may differ, but should be known. */
json_t *th_conditions_doubt(const th_record *old_record, const th_record *new_record);

/* Whether both pose the same scene on the same instruction set, so that their palettes must be the same. */
bool th_conditions_share_palettes(const th_record *old_record, const th_record *new_record);

#endif
