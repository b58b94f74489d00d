#include "fixture_picture.h"

#include <anim/crowd.h>
#include <core/cache_line.h>

#include <cglm/cglm.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 1, NAN_BYTE = 0xFF };

static th_error err;

END_BY(th_model_destroy)
END_BY(th_compiled_model_destroy)
END_BY(th_render_mesh_destroy)

/* ---- casts ---- */

void test_models_add(test_models *c, th_model *model)
{
    const uint32_t i = c->count++;
    cr_assert_lt(i, MOST_MODELS);
    c->models[i] = at_end(end_by_th_model_destroy, model);
    cr_assert_eq(th_compiled_model_create(&(th_compiled_model_desc){.model = model}, &c->compiled_models[i], &err),
                 TH_OK, "%s", err.text);
    at_end(end_by_th_compiled_model_destroy, c->compiled_models[i]);
    cr_assert_eq(th_render_mesh_create(model, NULL, &c->meshes[i], &err), TH_OK, "%s", err.text);
    at_end(end_by_th_render_mesh_destroy, c->meshes[i]);
}

/* ---- stages ---- */

th_view view_of_square(uint32_t side)
{
    const float extent = (float)side;
    th_view view = {.to_sun = {-0.72F, 0.6F, 0.3487F},
                    .shadow_radius = extent + 1,
                    .ground_cell = 1,
                    .ground_reach = 100,
                    .fog_density = 1 / (900 + 36 * extent * extent)};
    const float away = 1.3F + extent;
    vec3 eye = {0.5F * away, 0.7F + 0.45F * away, away}, at = {0, 0.7F, 0}, up = {0, 1, 0};
    mat4 camera, projection, clip;
    glm_lookat(eye, at, up, camera);
    glm_perspective(glm_rad(45), 16.0F / 9, 0.1F, 200, projection);
    glm_mat4_mul(projection, camera, clip);
    memcpy(view.clip_from_world, clip, sizeof view.clip_from_world);
    memcpy(view.eye, eye, sizeof view.eye);
    return view;
}

th_gpu_instance instance_on_square(uint32_t i, uint32_t side, double model_size)
{
    const float middle = (float)(side - 1) / 2, angle = 0.7F * (float)i;
    return (th_gpu_instance){.position = {(float)(i % side) - middle, 0, (float)(i / side) - middle},
                             .scale = (float)(TH_REFERENCE_SIZE_M / model_size),
                             .heading = {cosf(angle), sinf(angle)},
                             .tint = {(uint8_t)(200 + i % 56), (uint8_t)(180 + i * 7 % 70),
                                      (uint8_t)(160 + i * 13 % 90), (uint8_t)(i % 3 * 100)},
                             .appearance = i % TH_MAX_APPEARANCES};
}

void *stage_alloc(stage *s, size_t bytes)
{
    s->slot_bytes = bytes;
    s->slot = th_cache_line_alloc(bytes);
    cr_assert_not_null(at_end(free, s->slot));
    return memset(s->slot, NAN_BYTE, bytes);
}

/* Scattered instances take models in turns: character k of mesh f is instance k * count + f. */
stage stage_crowd(const test_models *c, uint32_t count, uint32_t side, double time_s, th_format palette)
{
    const th_compiled_model *const *compiled_models = (const th_compiled_model *const *)c->compiled_models;
    stage s = {.palette = palette, .view = view_of_square(side)};
    th_crowd *crowd;
    const th_crowd_desc desc = {.compiled_models = compiled_models,
                                .compiled_model_count = c->count,
                                .capacity = count,
                                .isa = TH_ISA_SCALAR,
                                .format = palette};
    cr_assert_eq(th_crowd_create(&desc, &crowd, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_crowd_scatter(crowd, count, TH_NO_INDEX, SEED, NULL, &err), TH_OK, "%s", err.text);

    size_t gpu_instances = th_crowd_palette_bytes(crowd);
    stage_alloc(&s, gpu_instances + count * sizeof(th_gpu_instance));
    void *scratch = th_cache_line_alloc(th_crowd_scratch_bytes(crowd));
    th_crowd_pose(crowd, 0, th_crowd_batch_count(crowd), time_s, s.slot, scratch);
    for (uint32_t f = 0; f < c->count; f++) {
        const th_palette_range run = th_crowd_palettes(crowd, f);
        s.meshes[s.mesh_count++] = c->meshes[f];
        s.draws[s.draw_count++] = (th_draw){.mesh = f,
                                            .count = run.count,
                                            .palette_offset = run.offset,
                                            .palette_stride = run.stride,
                                            .instance_offset = gpu_instances};
        th_gpu_instance *out = (th_gpu_instance *)(s.slot + gpu_instances);
        for (uint32_t k = 0; k < run.count; k++)
            out[k] = instance_on_square(k * c->count + f, side, c->models[f]->size);
        gpu_instances += run.count * sizeof(th_gpu_instance);
    }
    free(scratch);
    th_crowd_destroy(crowd);
    return s;
}

/* ---- pictures ---- */

uint8_t *shoot_slot(const stage *s, const way *w, th_ring *ring)
{
    th_target *target;
    th_crowd_renderer *renderer;
    const th_target_desc desc = {.width = w->width, .height = w->height, .samples = w->samples};
    const th_crowd_renderer_desc how = {.gl = gl,
                                        .meshes = s->meshes,
                                        .mesh_count = s->mesh_count,
                                        .palette = s->palette,
                                        .fetch = w->fetch,
                                        .shadow_pixels = w->shadow_pixels,
                                        .block_bytes = w->block_bytes};
    cr_assert_eq(th_target_create(&desc, &target, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_crowd_renderer_create(&how, &renderer, &err), TH_OK, "%s", err.text);
    th_crowd_renderer_draw(renderer, target, &s->view, ring, s->draws, s->draw_count);
    th_ring_fence(ring);
    uint8_t *rgba = read_target(target);
    th_crowd_renderer_destroy(renderer);
    th_target_destroy(target);
    return rgba;
}

uint8_t *shoot(const stage *s, const way *w)
{
    th_ring *ring;
    const th_ring_desc desc = {.bytes = s->slot_bytes, .upload = w->upload, .guard = true};
    cr_assert_eq(th_ring_create(gl, &desc, &ring, &err), TH_OK, "%s", err.text);
    for (int frame = 0; frame < 3; frame++) {
        memset(th_ring_begin(ring), NAN_BYTE, s->slot_bytes);
        cr_assert(th_ring_end(ring));
        th_ring_fence(ring);
    }
    memcpy(th_ring_begin(ring), s->slot, s->slot_bytes);
    cr_assert(th_ring_end(ring));
    uint8_t *rgba = shoot_slot(s, w, ring);
    th_ring_destroy(ring);
    return rgba;
}
