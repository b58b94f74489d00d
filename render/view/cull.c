#include <render/cull.h>

#include "cull_test.h"

#include <core/arena.h>
#include <core/cache_line.h>

#include <assert.h>
#include <math.h>
#include <string.h>

th_result th_cull_create(const th_cull_desc *desc, th_cull **out, th_error *err)
{
    assert(desc && out);
    assert(desc->lod_count >= 1 && desc->lod_count <= TH_CULL_MAX_LODS);
    assert(desc->kinds || desc->kind_count == 0);
    assert(desc->instance_kinds || desc->instance_count == 0);
    *out = NULL;
    if (desc->model_count > TH_CULL_MAX_MODELS)
        return th_fail(err, TH_ERR_LIMIT, "%u meshes to draw, the limit is %u", desc->model_count, TH_CULL_MAX_MODELS);
    const uint64_t count = desc->instance_count, tiles = (count + TH_CULL_TILE - 1) / TH_CULL_TILE;
    const uint32_t block = TH_CULL_TILE * (uint32_t)((tiles + TH_CULL_MAX_BLOCKS - 1) / TH_CULL_MAX_BLOCKS),
                   blocks = count > 0 ? (uint32_t)((count + block - 1) / block) : 0,
                   lists = desc->model_count * 2 * desc->lod_count,
                   row = (uint32_t)(th_cache_line_round((lists + 1) * sizeof(uint32_t)) / sizeof(uint32_t));
    const size_t padded = (size_t)blocks * block;
    th_arena *arena = th_arena_create();
    th_cull *c = th_arena_new(arena, th_cull, 1);
    if (c)
        *c = (th_cull){
            .arena = arena,
            .instance_count = desc->instance_count,
            .block = block,
            .block_count = blocks,
            .lod_count = desc->lod_count,
            .row = row,
            .test = th_cull_test_tile,
            .kinds = th_arena_new(arena, th_cull_kind, desc->kind_count),
            .kind = th_arena_new(arena, uint32_t, padded),
            .x = th_arena_new(arena, float, padded),
            .y = th_arena_new(arena, float, padded),
            .z = th_arena_new(arena, float, padded),
            .radius = th_arena_new(arena, float, padded),
            .first_list = th_arena_new(arena, uint16_t, padded),
            .found = th_arena_new(arena, uint32_t, padded),
            .list_of = th_arena_new(arena, uint16_t, padded),
            .found_count = th_arena_new(arena, uint32_t, blocks),
            .counts = th_arena_new(arena, uint32_t, ((size_t)blocks + 1) * row),
            .list = th_arena_new(arena, uint32_t, padded),
            .draw_lists = th_arena_new(arena, th_draw_list, lists),
            .draw_list_count = lists,
        };
    if (th_arena_failed(arena)) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left to sort %u characters", desc->instance_count);
    }
#ifdef TH_HAVE_X86
    if ((desc->isa == TH_ISA_AUTO || desc->isa >= TH_ISA_AVX2) && th_isa_available(TH_ISA_AVX2))
        c->test = th_cull_test_tile_avx2;
#endif
    for (uint32_t k = 0; k < desc->kind_count; k++) {
        const th_sphere *sphere = &desc->kinds[k].sphere;
        const float *centre = sphere->centre;
        assert(sphere->radius >= 0 && desc->kinds[k].model < desc->model_count);
        /* A sphere centred on the Y axis that holds the given one at every rotation about that axis. */
        c->kinds[k] =
            (th_cull_kind){{{0, centre[1], 0}, sphere->radius + hypotf(centre[0], centre[2])}, desc->kinds[k].model};
    }
    for (uint32_t i = 0; i < desc->instance_count; i++) {
        assert(desc->instance_kinds[i] < desc->kind_count);
        c->kind[i] = desc->instance_kinds[i];
        c->first_list[i] = (uint16_t)(c->kinds[c->kind[i]].model * 2 * c->lod_count);
    }
    for (size_t i = 0; i < padded; i++)
        c->radius[i] = -INFINITY;
    for (uint32_t l = 0; l < lists; l++)
        c->draw_lists[l] = (th_draw_list){
            .own = l / c->lod_count / 2, .lod = l % c->lod_count, .shadow_only = l / c->lod_count % 2 == 1};
    *out = c;
    return TH_OK;
}

void th_cull_destroy(th_cull *c)
{
    if (c)
        th_arena_destroy(c->arena);
}

uint32_t th_cull_block_begin(const th_cull *c, uint32_t block)
{
    assert(c && block <= c->block_count);
    return block < c->block_count ? block * c->block : c->instance_count;
}

void th_cull_move(th_cull *c, uint32_t begin, uint32_t end, const th_instance_transform *transforms)
{
    assert(c && begin <= end && end <= c->instance_count);
    assert(begin == end || transforms);
    for (uint32_t i = begin; i < end; i++) {
        const th_instance_transform *p = &transforms[i - begin];
        const th_sphere *sphere = &c->kinds[c->kind[i]].sphere;
        float radius = sphere->radius * p->scale;
        c->x[i] = p->position[0];
        c->y[i] = p->position[1] + sphere->centre[1] * p->scale;
        c->z[i] = p->position[2];
        c->radius[i] = radius + TH_CULL_SLACK * (radius + fabsf(c->x[i]) + fabsf(c->y[i]));
    }
}

/* ---- classifying ---- */

static void set_planes(th_cull_test *t, const th_frustum *frustum)
{
    for (int p = 0; p < 6; p++) {
        float *plane = t->plane[t->plane_count++];
        memcpy(plane, frustum->plane[p], sizeof t->plane[0]);
        plane[3] += TH_CULL_SLACK * fabsf(plane[3]);
    }
}

th_cull_test th_cull_test_of(const th_cull *c, const th_cull_view *visible, const th_cull_light *light)
{
    assert(c && visible);
    th_cull_test t = {.lod_count = (int32_t)c->lod_count};
    assert(visible->pixels > 0);
    set_planes(&t, &visible->frustum);
    memcpy(t.eye, visible->eye, sizeof t.eye);
    for (uint32_t n = 0; n + 1 < c->lod_count; n++) {
        assert(n == 0 || visible->lod_px[n] <= visible->lod_px[n - 1]);
        float limit = visible->lod_px[n] / (2 * visible->pixels);
        t.limit2[n] = limit * limit;
    }
    if (!light)
        return t;
    const float *to = light->to_light;
    assert(to[1] > 0);
    set_planes(&t, &light->map);
    t.ground = light->ground;
    for (int p = 0; p < t.plane_count; p++) {
        const float away = t.plane[p][0] * to[0] + t.plane[p][1] * to[1] + t.plane[p][2] * to[2];
        t.push[p] = (1 + TH_CULL_SLACK) * fmaxf(-away, 0) / to[1];
    }
    return t;
}

/* Compacts without branches: each instance is written, and kept if the next one does not replace it. */
void th_cull_classify(th_cull *c, const th_cull_view *visible, const th_cull_light *light, uint32_t begin_block,
                      uint32_t end_block)
{
    assert(c && visible && begin_block <= end_block && end_block <= c->block_count);
    const th_cull_test test = th_cull_test_of(c, visible, light);
    for (uint32_t block = begin_block; block < end_block; block++) {
        const uint32_t begin = block * c->block, end = th_cull_block_begin(c, block + 1);
        uint32_t *found = c->found + begin, *counts = c->counts + (size_t)block * c->row, count = 0;
        uint16_t *list_of = c->list_of + begin;
        for (uint32_t tile = begin; tile < end; tile += TH_CULL_TILE) {
            int32_t level[TH_CULL_TILE];
            const uint32_t size = end - tile < TH_CULL_TILE ? end - tile : TH_CULL_TILE;
            c->test(&test, &(th_cull_spheres){c->x + tile, c->y + tile, c->z + tile, c->radius + tile}, level);
            for (uint32_t i = 0; i < size; i++) {
                found[count] = tile + i;
                list_of[count] = (uint16_t)level[i];
                count += level[i] >= 0;
            }
        }
        memset(counts, 0, c->row * sizeof *counts);
        for (uint32_t k = 0; k < count; k++) {
            list_of[k] = (uint16_t)(list_of[k] + c->first_list[found[k]]);
            counts[list_of[k]]++;
        }
        c->found_count[block] = count;
    }
}

/* ---- sorting ---- */

/* Row by row, which compilers vectorize. */
void th_cull_sum(th_cull *c)
{
    assert(c);
    uint32_t *restrict totals = c->counts + (size_t)c->block_count * c->row;
    memset(totals, 0, c->row * sizeof *totals);
    for (uint32_t b = 0; b < c->block_count; b++) {
        uint32_t *restrict counts = c->counts + (size_t)b * c->row;
        for (uint32_t l = 0; l < c->draw_list_count; l++) {
            const uint32_t before = totals[l];
            totals[l] += counts[l];
            counts[l] = before;
        }
    }
    c->visible = c->listed = 0;
    for (uint32_t l = 0; l < c->draw_list_count; l++) {
        th_draw_list *list = &c->draw_lists[l];
        list->first = c->listed;
        list->count = totals[l];
        c->listed += list->count;
        c->visible += list->shadow_only ? 0 : list->count;
    }
}

void th_cull_scatter(th_cull *c, uint32_t begin_block, uint32_t end_block)
{
    assert(c && begin_block <= end_block && end_block <= c->block_count);
    for (uint32_t b = begin_block; b < end_block; b++) {
        const uint32_t *found = c->found + b * c->block;
        const uint16_t *list_of = c->list_of + b * c->block;
        uint32_t *next = c->counts + (size_t)b * c->row;
        for (uint32_t k = 0; k < c->found_count[b]; k++)
            c->list[c->draw_lists[list_of[k]].first + next[list_of[k]]++] = found[k];
    }
}
