#include <throng/render/cull.h>

#include <throng/core/cache_line.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* Relative rounding error of evaluating a plane in floats. */
#define SLACK 1e-6f

/* The list of one view. A bucket is a group; the last bucket takes the invisible characters, which avoids branches. */
typedef struct view {
    uint16_t *bucket; /* [instance] */
    uint32_t *counts; /* [block][bucket] first the count, then the position of the next instance */
    uint32_t *list;
    th_cull_group *groups;
    uint32_t visible;
} view;

struct th_cull {
    uint32_t instance_count, block_count, lod_count, group_count, view_count;
    uint32_t row;        /* length of a row of counts; whole cache lines, because different threads count the blocks */
    th_cull_kind *kinds; /* with spheres centred on the axis */
    uint32_t *kind;      /* [instance] */
    /* Spheres in scene space, padded to whole blocks with spheres that are never visible. */
    float *x, *y, *z, *radius;
    uint16_t *first_bucket; /* [instance] bucket of its mesh at level 0 */
    view *views;
};

/* ---- creating ---- */

static void *new_lines(size_t count, size_t size)
{
    assert(size > 0);
    if (count > SIZE_MAX / 2 / size)
        return NULL;
    void *lines = th_cache_line_alloc(count * size);
    if (lines)
        memset(lines, 0, count * size);
    return lines;
}

static bool view_init(view *v, const th_cull *c)
{
    const size_t padded = (size_t)c->block_count * TH_CULL_BLOCK;
    v->bucket = new_lines(padded, sizeof *v->bucket);
    v->counts = new_lines((size_t)c->block_count * c->row, sizeof *v->counts);
    v->list = new_lines(padded, sizeof *v->list);
    v->groups = new_lines(c->group_count, sizeof *v->groups);
    if (!v->bucket || !v->counts || !v->list || !v->groups)
        return false;
    for (uint32_t g = 0; g < c->group_count; g++)
        v->groups[g] = (th_cull_group){.mesh = g / c->lod_count, .lod = g % c->lod_count};
    return true;
}

/* A sphere centred on the Y axis that holds the given one at every rotation about that axis. */
static th_sphere onto_axis(const th_sphere *sphere)
{
    const float *c = sphere->centre;
    return (th_sphere){{0, c[1], 0}, sphere->radius + hypotf(c[0], c[2])};
}

static bool arrays_init(th_cull *c, const th_cull_desc *desc)
{
    const size_t padded = (size_t)c->block_count * TH_CULL_BLOCK;
    c->kinds = new_lines(desc->kind_count, sizeof *c->kinds);
    c->kind = new_lines(padded, sizeof *c->kind);
    c->x = new_lines(padded, sizeof *c->x);
    c->y = new_lines(padded, sizeof *c->y);
    c->z = new_lines(padded, sizeof *c->z);
    c->radius = new_lines(padded, sizeof *c->radius);
    c->first_bucket = new_lines(padded, sizeof *c->first_bucket);
    c->views = new_lines(desc->view_count, sizeof *c->views);
    if (!c->kinds || !c->kind || !c->x || !c->y || !c->z || !c->radius || !c->first_bucket || !c->views)
        return false;
    for (uint32_t k = 0; k < desc->kind_count; k++) {
        assert(desc->kinds[k].sphere.radius >= 0);
        assert(desc->kinds[k].mesh < desc->mesh_count);
        c->kinds[k] = (th_cull_kind){onto_axis(&desc->kinds[k].sphere), desc->kinds[k].mesh};
    }
    for (uint32_t i = 0; i < desc->instance_count; i++) {
        assert(desc->instance_kinds[i] < desc->kind_count);
        c->kind[i] = desc->instance_kinds[i];
        c->first_bucket[i] = (uint16_t)(c->kinds[c->kind[i]].mesh * c->lod_count);
    }
    for (size_t i = 0; i < padded; i++)
        c->radius[i] = -INFINITY;
    c->view_count = desc->view_count;
    for (uint32_t v = 0; v < desc->view_count; v++)
        if (!view_init(&c->views[v], c))
            return false;
    return true;
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
    th_cull *c = new_lines(1, sizeof *c);
    if (c) {
        c->instance_count = desc->instance_count;
        c->block_count = (uint32_t)(((uint64_t)desc->instance_count + TH_CULL_BLOCK - 1) / TH_CULL_BLOCK);
        c->lod_count = desc->lod_count;
        c->group_count = desc->mesh_count * desc->lod_count;
        c->row = (uint32_t)(th_cache_line_round((c->group_count + 1) * sizeof(uint32_t)) / sizeof(uint32_t));
    }
    if (!c || !arrays_init(c, desc)) {
        th_cull_destroy(c);
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left to sort %u characters", desc->instance_count);
    }
    *out = c;
    return TH_OK;
}

void th_cull_destroy(th_cull *c)
{
    if (!c)
        return;
    for (uint32_t v = 0; v < c->view_count; v++) {
        free(c->views[v].bucket);
        free(c->views[v].counts);
        free(c->views[v].list);
        free(c->views[v].groups);
    }
    free(c->views);
    free(c->kinds);
    free(c->kind);
    free(c->x);
    free(c->y);
    free(c->z);
    free(c->radius);
    free(c->first_bucket);
    free(c);
}

uint32_t th_cull_block_count(const th_cull *c)
{
    assert(c);
    return c->block_count;
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
        c->radius[i] = radius + SLACK * (radius + fabsf(c->x[i]) + fabsf(c->y[i]) + fabsf(c->z[i]));
    }
}

/* ---- classifying ---- */

enum { CAMERA_PLANES = 6, CASTER_PLANES = 12 };

/* The constants of a test, equal for all instances. */
typedef struct test {
    float plane[CASTER_PLANES][4];
    /* A shadow is tested as the path of the sphere away from the light until it is below the ground. `push` is how far
     * this path moves towards the inner side of a plane, per unit of height. */
    float push[CASTER_PLANES];
    float ground;
    float eye[3];
    float limit2[TH_CULL_MAX_LODS - 1]; /* levels get coarser while (radius / distance)^2 is below these */
    uint16_t hidden;                    /* the last bucket */
} test;

static void set_planes(test *t, int first, const th_frustum *frustum)
{
    memcpy(t->plane[first], frustum->plane, sizeof frustum->plane);
    for (int p = first; p < first + 6; p++)
        t->plane[p][3] += SLACK * fabsf(t->plane[p][3]);
}

static test test_of(const th_cull *c, const th_cull_view *visible)
{
    test t = {.hidden = (uint16_t)c->group_count};
    assert(visible->pixels > 0);
    set_planes(&t, 0, &visible->frustum);
    memcpy(t.eye, visible->eye, sizeof t.eye);
    for (uint32_t n = 0; n + 1 < c->lod_count; n++) {
        assert(n == 0 || visible->lod_px[n] <= visible->lod_px[n - 1]);
        float limit = visible->lod_px[n] / (2 * visible->pixels);
        t.limit2[n] = limit * limit;
    }
    return t;
}

static void add_light(test *t, const th_cull_light *light)
{
    const float *to = light->to_light;
    set_planes(t, CAMERA_PLANES, &light->map);
    t->ground = light->ground;
    for (int p = 0; p < CASTER_PLANES; p++) {
        const float away = t->plane[p][0] * to[0] + t->plane[p][1] * to[1] + t->plane[p][2] * to[2];
        t->push[p] = (1 + SLACK) * fmaxf(-away, 0) / to[1];
    }
}

/* 1 if a sphere and its whole shadow lie outside of one of the planes, otherwise 0. */
static inline int32_t outside(const test *t, int planes, float x, float y, float z, float radius)
{
    const float above = y + radius - t->ground, height = above > 0 ? above : 0;
    int32_t out = 0;
    for (int p = 0; p < planes; p++) {
        const float push = planes > CAMERA_PLANES ? t->push[p] * height : 0;
        out |= t->plane[p][0] * x + t->plane[p][1] * y + t->plane[p][2] * z + t->plane[p][3] + radius + push < 0;
    }
    return out;
}

/* Branchless 32-bit arithmetic on parallel arrays, which compilers vectorize, once for each number of planes. A sphere
 * with NaN is visible. */
static inline void classify_block(const th_cull *c, const test *all, int planes, uint32_t block,
                                  uint16_t *restrict bucket)
{
    const size_t first = (size_t)block * TH_CULL_BLOCK;
    const float *restrict x = c->x + first, *restrict y = c->y + first, *restrict z = c->z + first;
    const float *restrict radius = c->radius + first;
    const uint16_t *restrict first_bucket = c->first_bucket + first;
    const test t = *all; /* a local copy cannot alias the arrays */
    int32_t level[TH_CULL_BLOCK];
    for (uint32_t i = 0; i < TH_CULL_BLOCK; i++) {
        const float dx = x[i] - t.eye[0], dy = y[i] - t.eye[1], dz = z[i] - t.eye[2];
        const float distance2 = dx * dx + dy * dy + dz * dz, radius2 = radius[i] * radius[i];
        int32_t lod = 0;
        for (uint32_t n = 0; n < TH_CULL_MAX_LODS - 1; n++)
            lod += radius2 < t.limit2[n] * distance2;
        level[i] = lod | -outside(&t, planes, x[i], y[i], z[i], radius[i]);
    }
    for (uint32_t i = 0; i < TH_CULL_BLOCK; i++)
        bucket[i] = (uint16_t)(level[i] < 0 ? t.hidden : first_bucket[i] + level[i]);
}

static uint32_t block_end(const th_cull *c, uint32_t block)
{
    assert(block < c->block_count);
    uint32_t end = (block + 1) * TH_CULL_BLOCK;
    return block + 1 < c->block_count ? end : c->instance_count;
}

static void count_block(const th_cull *c, view *v, uint32_t block)
{
    uint32_t *counts = v->counts + (size_t)block * c->row, end = block_end(c, block);
    memset(counts, 0, c->row * sizeof *counts);
    for (uint32_t i = block * TH_CULL_BLOCK; i < end; i++)
        counts[v->bucket[i]]++;
}

void th_cull_classify(th_cull *c, uint32_t view_index, const th_cull_view *visible, uint32_t begin_block,
                      uint32_t end_block)
{
    assert(c && visible);
    assert(view_index < c->view_count && begin_block <= end_block && end_block <= c->block_count);
    view *v = &c->views[view_index];
    const test t = test_of(c, visible);
    for (uint32_t b = begin_block; b < end_block; b++) {
        classify_block(c, &t, CAMERA_PLANES, b, v->bucket + (size_t)b * TH_CULL_BLOCK);
        count_block(c, v, b);
    }
}

static void skip_visible(const th_cull *c, const uint16_t *restrict visible, uint16_t *restrict bucket)
{
    const uint16_t hidden = (uint16_t)c->group_count;
    for (uint32_t i = 0; i < TH_CULL_BLOCK; i++)
        bucket[i] = visible[i] == hidden ? bucket[i] : hidden;
}

void th_cull_classify_casters(th_cull *c, uint32_t view_index, uint32_t camera, const th_cull_view *visible,
                              const th_cull_light *light, uint32_t begin_block, uint32_t end_block)
{
    assert(c && visible && light);
    assert(view_index < c->view_count && begin_block <= end_block && end_block <= c->block_count);
    assert(camera < c->view_count && camera != view_index && light->to_light[1] > 0);
    view *v = &c->views[view_index];
    test t = test_of(c, visible);
    add_light(&t, light);
    for (uint32_t b = begin_block; b < end_block; b++) {
        const size_t first = (size_t)b * TH_CULL_BLOCK;
        classify_block(c, &t, CASTER_PLANES, b, v->bucket + first);
        skip_visible(c, c->views[camera].bucket + first, v->bucket + first);
        count_block(c, v, b);
    }
}

/* ---- sorting ---- */

/* Turns counts into positions, by bucket and within a bucket by block. */
void th_cull_sum(th_cull *c, uint32_t view_index)
{
    assert(c && view_index < c->view_count);
    view *v = &c->views[view_index];
    uint32_t at = 0;
    for (uint32_t g = 0; g <= c->group_count; g++) {
        uint32_t first = at;
        for (uint32_t b = 0; b < c->block_count; b++) {
            uint32_t *next = &v->counts[(size_t)b * c->row + g], count = *next;
            *next = at;
            at += count;
        }
        if (g == c->group_count) {
            v->visible = first;
        } else {
            v->groups[g].first = first;
            v->groups[g].count = at - first;
        }
    }
}

void th_cull_scatter(th_cull *c, uint32_t view_index, uint32_t begin_block, uint32_t end_block)
{
    assert(c && view_index < c->view_count);
    assert(begin_block <= end_block && end_block <= c->block_count);
    view *v = &c->views[view_index];
    for (uint32_t b = begin_block; b < end_block; b++) {
        uint32_t *next = v->counts + (size_t)b * c->row, end = block_end(c, b);
        for (uint32_t i = b * TH_CULL_BLOCK; i < end; i++)
            v->list[next[v->bucket[i]]++] = i;
    }
}

const th_cull_group *th_cull_groups(const th_cull *c, uint32_t view_index)
{
    assert(c && view_index < c->view_count);
    return c->views[view_index].groups;
}

const uint32_t *th_cull_list(const th_cull *c, uint32_t view_index)
{
    assert(c && view_index < c->view_count);
    return c->views[view_index].list;
}

uint32_t th_cull_visible_count(const th_cull *c, uint32_t view_index)
{
    assert(c && view_index < c->view_count);
    return c->views[view_index].visible;
}
