#include <render/cull.h>

#include "cull_test.h"

#include <throng/core/cache_line.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* A bucket is a group. Classifying compacts the listed instances of each block and counts their buckets; the sums of
 * these counts say where in the list each block continues each group. */
struct th_cull {
    uint32_t instance_count, block, block_count, lod_count, group_count;
    uint32_t row;        /* length of a row of counts; whole cache lines, because different threads count the blocks */
    th_cull_kind *kinds; /* with spheres centred on the axis */
    uint32_t *kind;      /* [instance] */
    /* Spheres in scene space, padded to whole blocks with spheres that are never visible. Radii include the rounding
     * error of x and y. */
    float *x, *y, *z, *radius;
    uint16_t *first_bucket; /* [instance] bucket of its mesh at level 0 */
    th_cull_test_fn *test;
    uint32_t *found;       /* each block's listed instances, from its first on */
    uint16_t *bucket;      /* theirs */
    uint32_t *found_count; /* [block] */
    uint32_t *counts;      /* [block][bucket] first the count, then the sum of earlier blocks; then a row of totals */
    uint32_t *list;
    th_cull_group *groups;
    uint32_t visible, listed;
    size_t bytes;
};

/* ---- creating ---- */

static void *new_lines(th_cull *c, size_t count, size_t size)
{
    assert(size > 0);
    if (count > SIZE_MAX / 2 / size)
        return NULL;
    void *lines = th_cache_line_alloc(count * size);
    if (lines)
        memset(lines, 0, count * size);
    c->bytes += count * size;
    return lines;
}

/* A sphere centred on the Y axis that holds the given one at every rotation about that axis. */
static th_sphere onto_axis(const th_sphere *sphere)
{
    const float *c = sphere->centre;
    return (th_sphere){{0, c[1], 0}, sphere->radius + hypotf(c[0], c[2])};
}

static bool allocate(th_cull *c, const th_cull_desc *desc)
{
    const size_t padded = (size_t)c->block_count * c->block;
    c->kinds = new_lines(c, desc->kind_count, sizeof *c->kinds);
    c->kind = new_lines(c, padded, sizeof *c->kind);
    c->x = new_lines(c, padded, sizeof *c->x);
    c->y = new_lines(c, padded, sizeof *c->y);
    c->z = new_lines(c, padded, sizeof *c->z);
    c->radius = new_lines(c, padded, sizeof *c->radius);
    c->first_bucket = new_lines(c, padded, sizeof *c->first_bucket);
    c->found = new_lines(c, padded, sizeof *c->found);
    c->bucket = new_lines(c, padded, sizeof *c->bucket);
    c->found_count = new_lines(c, c->block_count, sizeof *c->found_count);
    c->counts = new_lines(c, ((size_t)c->block_count + 1) * c->row, sizeof *c->counts);
    c->list = new_lines(c, padded, sizeof *c->list);
    c->groups = new_lines(c, c->group_count, sizeof *c->groups);
    return c->kinds && c->kind && c->x && c->y && c->z && c->radius && c->first_bucket && c->found && c->bucket &&
           c->found_count && c->counts && c->list && c->groups;
}

static void init(th_cull *c, const th_cull_desc *desc)
{
    for (uint32_t k = 0; k < desc->kind_count; k++) {
        assert(desc->kinds[k].sphere.radius >= 0);
        assert(desc->kinds[k].mesh < desc->mesh_count);
        c->kinds[k] = (th_cull_kind){onto_axis(&desc->kinds[k].sphere), desc->kinds[k].mesh};
    }
    for (uint32_t i = 0; i < desc->instance_count; i++) {
        assert(desc->instance_kinds[i] < desc->kind_count);
        c->kind[i] = desc->instance_kinds[i];
        c->first_bucket[i] = (uint16_t)(c->kinds[c->kind[i]].mesh * 2 * c->lod_count);
    }
    for (size_t i = 0; i < (size_t)c->block_count * c->block; i++)
        c->radius[i] = -INFINITY;
    for (uint32_t g = 0; g < c->group_count; g++)
        c->groups[g] = (th_cull_group){
            .mesh = g / c->lod_count / 2, .lod = g % c->lod_count, .shadow_only = g / c->lod_count % 2 == 1};
}

static th_cull_test_fn *test_of(th_isa isa)
{
#ifdef TH_HAVE_X86
    if ((isa == TH_ISA_AUTO || isa >= TH_ISA_AVX2) && th_isa_available(TH_ISA_AVX2))
        return th_cull_test_tile_avx2;
#endif
    (void)isa;
    return th_cull_test_tile;
}

th_result th_cull_create(const th_cull_desc *desc, th_cull **out, th_error *err)
{
    assert(desc && out);
    assert(desc->lod_count >= 1 && desc->lod_count <= TH_CULL_MAX_LODS);
    assert(desc->kinds || desc->kind_count == 0);
    assert(desc->instance_kinds || desc->instance_count == 0);
    *out = NULL;
    if (desc->mesh_count > TH_CULL_MAX_MESHES)
        return th_fail(err, TH_ERR_LIMIT, "%u meshes to draw, the limit is %u", desc->mesh_count, TH_CULL_MAX_MESHES);
    th_cull *c = calloc(1, sizeof *c);
    if (c) {
        const uint64_t count = desc->instance_count, tiles = (count + TH_CULL_TILE - 1) / TH_CULL_TILE;
        c->instance_count = desc->instance_count;
        c->block = TH_CULL_TILE * (uint32_t)((tiles + TH_CULL_MAX_BLOCKS - 1) / TH_CULL_MAX_BLOCKS);
        c->block_count = count > 0 ? (uint32_t)((count + c->block - 1) / c->block) : 0;
        c->lod_count = desc->lod_count;
        c->group_count = desc->mesh_count * 2 * desc->lod_count;
        c->row = (uint32_t)(th_cache_line_round((c->group_count + 1) * sizeof(uint32_t)) / sizeof(uint32_t));
        c->test = test_of(desc->isa);
        c->bytes = sizeof *c;
    }
    if (!c || !allocate(c, desc)) {
        th_cull_destroy(c);
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left to sort %u characters", desc->instance_count);
    }
    init(c, desc);
    *out = c;
    return TH_OK;
}

void th_cull_destroy(th_cull *c)
{
    if (!c)
        return;
    free(c->kinds);
    free(c->kind);
    free(c->x);
    free(c->y);
    free(c->z);
    free(c->radius);
    free(c->first_bucket);
    free(c->found);
    free(c->bucket);
    free(c->found_count);
    free(c->counts);
    free(c->list);
    free(c->groups);
    free(c);
}

size_t th_cull_bytes(const th_cull *c)
{
    assert(c);
    return c->bytes;
}

uint32_t th_cull_block_count(const th_cull *c)
{
    assert(c);
    return c->block_count;
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

float *th_cull_z(th_cull *c)
{
    assert(c);
    return c->z;
}

th_cull_sphere th_cull_sphere_of(const th_cull *c, uint32_t instance)
{
    assert(c && instance < c->instance_count);
    return (th_cull_sphere){c->y[instance], c->radius[instance], c->first_bucket[instance], 0};
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
static void classify_block(th_cull *c, const th_cull_test *test, uint32_t block)
{
    const uint32_t begin = block * c->block, end = th_cull_block_begin(c, block + 1);
    uint32_t *found = c->found + begin, *counts = c->counts + (size_t)block * c->row, count = 0;
    uint16_t *bucket = c->bucket + begin;
    for (uint32_t tile = begin; tile < end; tile += TH_CULL_TILE) {
        int32_t level[TH_CULL_TILE];
        const uint32_t size = end - tile < TH_CULL_TILE ? end - tile : TH_CULL_TILE;
        c->test(test, &(th_cull_spheres){c->x + tile, c->y + tile, c->z + tile, c->radius + tile}, level);
        for (uint32_t i = 0; i < size; i++) {
            found[count] = tile + i;
            bucket[count] = (uint16_t)level[i];
            count += level[i] >= 0;
        }
    }
    memset(counts, 0, c->row * sizeof *counts);
    for (uint32_t k = 0; k < count; k++) {
        bucket[k] = (uint16_t)(bucket[k] + c->first_bucket[found[k]]);
        counts[bucket[k]]++;
    }
    c->found_count[block] = count;
}

void th_cull_classify(th_cull *c, const th_cull_view *visible, const th_cull_light *light, uint32_t begin_block,
                      uint32_t end_block)
{
    assert(c && visible && begin_block <= end_block && end_block <= c->block_count);
    const th_cull_test test = th_cull_test_of(c, visible, light);
    for (uint32_t b = begin_block; b < end_block; b++)
        classify_block(c, &test, b);
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
        for (uint32_t g = 0; g < c->group_count; g++) {
            const uint32_t before = totals[g];
            totals[g] += counts[g];
            counts[g] = before;
        }
    }
    c->visible = c->listed = 0;
    for (uint32_t g = 0; g < c->group_count; g++) {
        c->groups[g].first = c->listed;
        c->groups[g].count = totals[g];
        c->listed += c->groups[g].count;
        c->visible += c->groups[g].shadow_only ? 0 : c->groups[g].count;
    }
}

void th_cull_scatter(th_cull *c, uint32_t begin_block, uint32_t end_block)
{
    assert(c && begin_block <= end_block && end_block <= c->block_count);
    for (uint32_t b = begin_block; b < end_block; b++) {
        const uint32_t *found = c->found + b * c->block;
        const uint16_t *bucket = c->bucket + b * c->block;
        uint32_t *next = c->counts + (size_t)b * c->row;
        for (uint32_t k = 0; k < c->found_count[b]; k++)
            c->list[c->groups[bucket[k]].first + next[bucket[k]]++] = found[k];
    }
}

const th_cull_group *th_cull_groups(const th_cull *c)
{
    assert(c);
    return c->groups;
}

const uint32_t *th_cull_list(const th_cull *c)
{
    assert(c);
    return c->list;
}

uint32_t th_cull_visible_count(const th_cull *c)
{
    assert(c);
    return c->visible;
}

uint32_t th_cull_listed_count(const th_cull *c)
{
    assert(c);
    return c->listed;
}
