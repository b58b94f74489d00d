/* Crowds of random models, and how far they are from the exact evaluation. Without Criterion, so that it can be built
 * where that is missing; aborts when something cannot be made. */
#ifndef FIXTURE_CROWD_H
#define FIXTURE_CROWD_H

#include "random_model.h"

#include <throng/anim/crowd.h>

#define GUARD 0xA5

/* A crowd with all it needs to be updated. */
typedef struct stage {
    th_rig *rig;
    th_instance *instances;
    uint32_t count;
    th_crowd *crowd;
    unsigned char *palette; /* with guard bytes behind, and all over it before the first update */
    size_t palette_bytes;
    void *scratch;
} stage;

th_rig *make_rig_as(const th_model *model, th_rig_desc desc);
th_rig *make_rig(const th_model *model, th_sampling sampling);

/* Clips, phases and speeds at random, some in the rest pose. as: instruction set, palettes and writes. */
void stage_init_with(stage *s, const th_model *model, th_rig_desc how, uint32_t count, th_crowd_desc as);
void stage_init(stage *s, const th_model *model, th_sampling sampling, uint32_t count, th_isa isa);
void stage_fini(stage *s);

/* Another crowd of the same instances on the same rig; ends before `of` does. */
void stage_init_twin(stage *s, const stage *of, th_crowd_desc as);
void stage_fini_twin(stage *s);

void stage_update(stage *s, double time_s);

/* Largest distance over all binds of one instance from the exact pose. */
double instance_error(const stage *s, uint32_t i, double time_s);

/* Largest distance over all palettes of two crowds of the same instances. */
double crowd_distance(const stage *one, const stage *other);

/* Every way in which models differ, a few of each. */
random_desc variety(uint32_t n);
bool has_splines(const th_clip *clip);

#endif
