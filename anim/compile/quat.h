/* The program in the quaternion form (kernels/pose.h), made from that of matrices. Private to anim. */
#ifndef TH_ANIM_COMPILE_QUAT_H
#define TH_ANIM_COMPILE_QUAT_H

#include "compiled_data.h"

#define TH_NO_PRODUCT UINT32_MAX

/* The source of a palette entry: M of an op, or one of that op's products. */
typedef struct th_entry_source {
    uint32_t op, product;
} th_entry_source;

/* Sets program.quat, or quat_obstacle if a joint is more than rotated, moved and scaled by a constant; and
 * quat16_obstacle, too, if a bone is scaled or leaves the range. joints: by op. sources: by palette entry. false: out
 * of memory. */
bool th_quat_program_create(th_compiled_model *compiled, const uint32_t *joints, const th_entry_source *sources,
                            th_arena *scratch);

/* Marks the ops of both forms whose rotation keys are near in all compiled clips. Call when these are complete. */
void th_program_mark_near(th_compiled_model *compiled);

/* One entry per block: the rows that are ready once it is resolved. entry_rows: of an entry. */
void th_find_ready(const th_program *program, const th_entry_source *sources, uint32_t entry_rows, uint32_t *ready);

#endif
