/* Crowds of random models, and how far they are from the exact evaluation. Without Criterion, so that it can be built
 * where that is missing; aborts when something cannot be made. */
#ifndef FIXTURE_CROWD_H
#define FIXTURE_CROWD_H

#include "random_model.h"

#include <throng/anim/crowd.h>

#define GUARD 0xA5

/* A crowd with all it needs to be updated. */
typedef struct crowd_fixture {
    th_compiled_model *compiled;
    th_instance *instances;
    uint32_t count;
    th_crowd *crowd;
    unsigned char *palette; /* with guard bytes behind, and all over it before the first update */
    size_t palette_bytes;
    void *scratch;
} crowd_fixture;

th_compiled_model *make_compiled_as(const th_model *model, th_compiled_model_desc desc);
th_compiled_model *make_compiled(const th_model *model, th_sampling sampling);

/* Clips, phases and speeds at random, some in the rest pose. as: instruction set, palettes and writes. */
void crowd_fixture_init_with(crowd_fixture *s, const th_model *model, th_compiled_model_desc how, uint32_t count,
                             th_crowd_desc as);
void crowd_fixture_init(crowd_fixture *s, const th_model *model, th_sampling sampling, uint32_t count, th_isa isa);

/* One character that plays the first clip from its beginning. */
void crowd_fixture_init_one(crowd_fixture *s, const th_model *model, th_compiled_model_desc how, th_isa isa);
void crowd_fixture_fini(crowd_fixture *s);

/* Another crowd of the same instances on the same compiled model; ends before `of` does. */
void crowd_fixture_init_twin(crowd_fixture *s, const crowd_fixture *of, th_crowd_desc as);
void crowd_fixture_fini_twin(crowd_fixture *s);

void crowd_fixture_update(crowd_fixture *s, double time_s);

/* Largest distance over all bones of one instance from the exact pose. */
double instance_error(const crowd_fixture *s, uint32_t i, double time_s);

/* The same from another pose: model-space matrices of all joints. */
double pose_error(const crowd_fixture *s, uint32_t i, const th_dmat34 *pose);

/* Largest distance over all palettes of two crowds of the same instances. */
double crowd_distance(const crowd_fixture *one, const crowd_fixture *other);

/* Every way in which models differ, a few of each. */
random_desc variety(uint32_t n);
bool has_splines(const th_clip *clip);

#endif
