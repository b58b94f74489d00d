/* An entry of the bench: a name, and how to make, run, check and undo what it names. Private to bench. */
#ifndef TH_ENTRY_H
#define TH_ENTRY_H

#include <throng/bench.h>

/* What the pose entries share: the same characters, and memory to write to. */
typedef struct th_stage {
    th_scene *compiled, *exact;
    void *palette;
    void *reference; /* palettes of the scalar kernel at TH_TRIAL_FRAME */
    size_t palette_bytes;
} th_stage;

th_result th_stage_init(th_stage *stage, const th_scene_desc *desc, th_error *err);
void th_stage_fini(th_stage *stage);

typedef struct th_entry th_entry;
struct th_entry {
    char name[64];
    int variant; /* an instruction set, or a scheduler */
    uint32_t items;
    th_result (*create)(th_entry *entry, const th_bench_desc *desc, const th_stage *stage, th_row *row, th_error *err);
    void *subject; /* what create made */
    void (*run)(void *subject, uint64_t frame);
    void (*destroy)(void *subject);
};

/* Fill in what there is on this machine; return how many. */
uint32_t th_pose_entries(th_entry *entries);
uint32_t th_jobs_entries(th_entry *entries);

#endif
