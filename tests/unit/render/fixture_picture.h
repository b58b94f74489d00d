/* Pictures of crowds: what is drawn, apart from how it is drawn. All that is made ends with the test. */
#ifndef FIXTURE_PICTURE_H
#define FIXTURE_PICTURE_H

#include "fixture_gl.h"

#include <anim/compiled_model.h>
#include <render/crowd_renderer.h>

enum { MOST_MODELS = 4, DRAWS = 64 };

/* Models that can be animated and drawn. */
typedef struct test_models {
    uint32_t count;
    th_model *models[MOST_MODELS];
    th_compiled_model *compiled_models[MOST_MODELS];
    th_render_mesh *meshes[MOST_MODELS];
} test_models;

void test_models_add(test_models *c, th_model *model); /* which ends with the test, too */

/* What a picture is of: palettes and stands, as they lie in a ring's slot, and what speaks of them. */
typedef struct stage {
    const th_render_mesh *meshes[DRAWS];
    uint32_t mesh_count;
    th_format palette;
    char *slot;
    size_t slot_bytes;
    th_draw draws[DRAWS];
    uint32_t draw_count;
    th_view view;
} stage;

/* Takes a view from above of a square of side * side characters, each a metre from the next, of about 1.8 m. */
th_view view_of_square(uint32_t side);

/* Where character i stands on such a square, whatever size the model has. Some have a tint. */
th_gpu_instance instance_on_square(uint32_t i, uint32_t side, double model_size);

/* A crowd of `count`, dealt out to the test_models in turns, in a mix of all clips; the same palettes on every machine.
 */
stage stage_crowd(const test_models *c, uint32_t count, uint32_t side, double time_s, th_format palette);

/* Room for palettes and stands, of not a number throughout: what nobody writes is not seen. */
void *stage_alloc(stage *s, size_t bytes);

/* How it is drawn. */
typedef struct way {
    uint32_t width, height, samples;
    uint32_t shadow_pixels;
    th_ring_upload upload;
    th_fetch fetch;
    size_t block_bytes;
} way;

/* The picture. The slots before and behind the one that is drawn hold not a number. */
uint8_t *shoot(const stage *s, const way *w);

/* What is in the ring's slot instead, which has ended. */
uint8_t *shoot_slot(const stage *s, const way *w, th_ring *ring);

#endif
