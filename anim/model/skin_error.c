/* Vertices are grouped into clusters of a few that lie close together and follow mostly the same bones. A bone that the
 * palettes put at A and at B moves a point p by D p = A p - B p. All points of a cluster lie within a sphere (c, r), so
 * a bone moves each of them by D c and at most |D| r more, and what several bones move is moved by a mean of them. That
 * bounds the pixels, and clusters that cannot be much above the largest distance so far need no look. Where vertices
 * move to targets the bound does not hold; these are always looked at. So are all of joint levels, whose vertices
 * follow other bones from other places. */
#include <throng/anim/skin_error.h>

#include "vertices.h"

#include <throng/core/cache_line.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLUSTER = 12 }; /* most vertices in one */

/* Single precision, for a bound that must not be too small. */
#define SLACK 1.001F

typedef struct influence {
    uint16_t bone;
    float weight;
} influence;

/* Moves a vertex where its weight is 1. */
typedef struct delta {
    uint32_t weight;
    float position[3];
} delta;

typedef struct point {
    float position[3];
    uint32_t first_influence, first_delta; /* up to those of the next point */
} point;

typedef struct cluster {
    uint32_t first, count; /* points */
    uint32_t first_bone, bone_count;
    float centre[3], radius;
    bool is_morphed;
} cluster;

struct th_skin {
    const th_model *model;
    th_skin *drawn;         /* the same points of the joint level that is drawn, without clusters; NULL: this one is */
    th_palette_base *bases; /* [bone] */
    point *points;          /* one more than there are, for the ends of the last one's lists */
    influence *influences;
    delta *deltas;
    cluster *clusters;
    uint16_t *bones; /* of clusters */
    uint32_t point_count, cluster_count, bone_total;
};

/* ---- making ---- */

/* A vertex to be put into a cluster. */
typedef struct source {
    float position[3];
    uint32_t mesh, vertex, bone; /* mesh: TH_NO_INDEX for the place of a bone */
    bool is_morphed;
    uint32_t order; /* makes sorting deterministic */
} source;

static void mark_morphed(const th_mesh *mesh, source *vertices)
{
    for (uint32_t t = 0; t < mesh->target_count; t++)
        for (uint32_t d = 0; d < mesh->targets[t].delta_count; d++)
            vertices[mesh->targets[t].deltas[d].vertex].is_morphed = true;
}

/* Lists all points; out: room for all. */
static uint32_t list_sources(const th_model *model, source *out)
{
    uint32_t count = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *mesh = &model->meshes[m];
        for (uint32_t v = 0; v < mesh->vertex_count; v++, count++) {
            const th_vertex *vertex = &mesh->vertices[v];
            out[count] = (source){.mesh = m, .vertex = v, .bone = vertex->bone[0], .order = count};
            memcpy(out[count].position, vertex->position, sizeof out[count].position);
        }
        mark_morphed(mesh, out + count - mesh->vertex_count);
    }
    for (uint32_t b = 0; b < model->bone_count && model->mesh_count == 0; b++) {
        out[count] = (source){.mesh = TH_NO_INDEX, .bone = b, .order = count};
        count += th_bone_place(&model->bones[b], out[count].position);
    }
    return count;
}

static uint32_t count_sources(const th_model *model)
{
    return model->mesh_count == 0 ? model->bone_count : th_vertices_count(model);
}

static int by_bone(const void *a, const void *b)
{
    const source *x = a, *y = b;
    if (x->is_morphed != y->is_morphed)
        return x->is_morphed ? 1 : -1;
    if (x->bone != y->bone)
        return x->bone < y->bone ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int by_axis(const source *x, const source *y, int axis)
{
    if (x->position[axis] != y->position[axis])
        return x->position[axis] < y->position[axis] ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int by_x(const void *a, const void *b)
{
    return by_axis(a, b, 0);
}

static int by_y(const void *a, const void *b)
{
    return by_axis(a, b, 1);
}

static int by_z(const void *a, const void *b)
{
    return by_axis(a, b, 2);
}

static void find_box(const source *sources, uint32_t count, float low[3], float high[3])
{
    for (int i = 0; i < 3; i++)
        low[i] = high[i] = sources[0].position[i];
    for (uint32_t s = 1; s < count; s++)
        for (int i = 0; i < 3; i++) {
            low[i] = fminf(low[i], sources[s].position[i]);
            high[i] = fmaxf(high[i], sources[s].position[i]);
        }
}

static void add_cluster(th_skin *skin, const source *sources, uint32_t first, uint32_t count)
{
    cluster *c = &skin->clusters[skin->cluster_count++];
    float low[3], high[3];
    *c = (cluster){.first = first, .count = count, .is_morphed = sources[first].is_morphed};
    find_box(sources + first, count, low, high);
    for (int i = 0; i < 3; i++)
        c->centre[i] = (low[i] + high[i]) / 2;
    for (uint32_t s = first; s < first + count; s++) {
        const float *p = sources[s].position;
        c->radius = fmaxf(c->radius, hypotf(hypotf(p[0] - c->centre[0], p[1] - c->centre[1]), p[2] - c->centre[2]));
    }
    c->radius *= SLACK;
}

/* Splits points of one bone across their longest side until they are few enough. */
static void split(th_skin *skin, source *sources, uint32_t first, uint32_t count)
{
    static int (*const orders[])(const void *, const void *) = {by_x, by_y, by_z};
    float low[3], high[3];
    if (count <= CLUSTER) {
        add_cluster(skin, sources, first, count);
        return;
    }
    find_box(sources + first, count, low, high);
    int axis = high[1] - low[1] > high[0] - low[0] ? 1 : 0;
    axis = high[2] - low[2] > high[axis] - low[axis] ? 2 : axis;
    qsort(sources + first, count, sizeof *sources, orders[axis]);
    split(skin, sources, first, count / 2);
    split(skin, sources, first + count / 2, count - count / 2);
}

static void make_clusters(th_skin *skin, source *sources)
{
    qsort(sources, skin->point_count, sizeof *sources, by_bone);
    for (uint32_t first = 0, end; first < skin->point_count; first = end) {
        for (end = first + 1; end < skin->point_count; end++)
            if (sources[end].bone != sources[first].bone || sources[end].is_morphed != sources[first].is_morphed)
                break;
        split(skin, sources, first, end - first);
    }
}

static uint32_t add_influences(th_skin *skin, const source *s, uint32_t count)
{
    if (s->mesh == TH_NO_INDEX) { /* only of models that have no levels */
        skin->influences[count++] = (influence){(uint16_t)s->bone, 1};
        return count;
    }
    const th_vertex *vertex = &skin->model->meshes[s->mesh].vertices[s->vertex];
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++)
        skin->influences[count++] = (influence){vertex->bone[k], vertex->weight[k]};
    return count;
}

/* Its delta of a target, or NULL. */
static const th_morph_delta *find_delta(const th_morph_target *target, uint32_t vertex)
{
    uint32_t low = 0, high = target->delta_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (target->deltas[middle].vertex < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low < target->delta_count && target->deltas[low].vertex == vertex ? &target->deltas[low] : NULL;
}

static uint32_t add_deltas(th_skin *skin, const source *s, uint32_t count)
{
    if (!s->is_morphed)
        return count;
    const th_mesh *mesh = &skin->model->meshes[s->mesh];
    for (uint32_t t = 0; t < mesh->target_count; t++) {
        const th_morph_delta *found = find_delta(&mesh->targets[t], s->vertex);
        if (!found)
            continue;
        skin->deltas[count] = (delta){.weight = mesh->targets[t].weight};
        memcpy(skin->deltas[count++].position, found->position, sizeof found->position);
    }
    return count;
}

static void make_points(th_skin *skin, const source *sources)
{
    uint32_t influences = 0, deltas = 0;
    for (uint32_t p = 0; p < skin->point_count; p++) {
        point *at = &skin->points[p];
        const source *s = &sources[p];
        const bool is_vertex = s->mesh != TH_NO_INDEX;
        memcpy(at->position, is_vertex ? skin->model->meshes[s->mesh].vertices[s->vertex].position : s->position,
               sizeof at->position);
        at->first_influence = influences;
        at->first_delta = deltas;
        influences = add_influences(skin, &sources[p], influences);
        deltas = add_deltas(skin, &sources[p], deltas);
    }
    skin->points[skin->point_count] = (point){.first_influence = influences, .first_delta = deltas};
}

/* All bones of a cluster's points. */
static void list_bones(th_skin *skin, cluster *c)
{
    c->first_bone = skin->bone_total;
    const uint32_t end = skin->points[c->first + c->count].first_influence;
    for (uint32_t k = skin->points[c->first].first_influence; k < end; k++) {
        const uint16_t bone = skin->influences[k].bone;
        uint32_t b = 0;
        while (b < c->bone_count && skin->bones[c->first_bone + b] != bone)
            b++;
        if (b == c->bone_count)
            skin->bones[c->first_bone + c->bone_count++] = bone;
    }
    skin->bone_total += c->bone_count;
}

static size_t count_deltas(const th_model *model)
{
    size_t count = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t t = 0; t < model->meshes[m].target_count; t++)
            count += model->meshes[m].targets[t].delta_count;
    return count;
}

static size_t count_influences(const th_model *model)
{
    size_t count = model->mesh_count == 0 ? model->bone_count : 0;
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++)
            for (uint32_t k = 0; k < TH_MAX_INFLUENCES && model->meshes[m].vertices[v].weight[k] > 0; k++)
                count++;
    return count;
}

static bool allocate(th_skin *skin, uint32_t sources)
{
    const size_t influences = count_influences(skin->model);
    skin->bases = calloc(skin->model->bone_count + 1u, sizeof *skin->bases);
    skin->points = calloc((size_t)sources + 1, sizeof *skin->points);
    skin->influences = calloc(influences + 1, sizeof *skin->influences);
    skin->deltas = calloc(count_deltas(skin->model) + 1, sizeof *skin->deltas);
    skin->clusters = calloc((size_t)sources + 1, sizeof *skin->clusters);
    skin->bones = calloc(influences + 1, sizeof *skin->bones);
    return skin->bases && skin->points && skin->influences && skin->deltas && skin->clusters && skin->bones;
}

/* A skin without points. NULL: no memory. */
static th_skin *begin_skin(const th_model *model, uint32_t most)
{
    th_skin *skin = calloc(1, sizeof *skin);
    if (!skin)
        return NULL;
    skin->model = model;
    if (!allocate(skin, most)) {
        th_skin_destroy(skin);
        return NULL;
    }
    for (uint32_t b = 0; b < model->bone_count; b++)
        skin->bases[b] = th_model_palette_base(model, b);
    return skin;
}

static void fill_skin(th_skin *skin, source *sources)
{
    skin->point_count = list_sources(skin->model, sources);
    make_clusters(skin, sources);
    make_points(skin, sources);
    for (uint32_t c = 0; c < skin->cluster_count; c++)
        list_bones(skin, &skin->clusters[c]);
    if (!skin->drawn)
        return;
    skin->drawn->point_count = skin->point_count;
    make_points(skin->drawn, sources);
}

th_result th_skin_create(const th_model *model, const th_model *drawn_as, th_skin **out, th_error *err)
{
    assert(model && out);
    const bool is_level = drawn_as && drawn_as != model;
    const uint32_t most = count_sources(model);
    th_skin *skin = begin_skin(model, most);
    source *sources = calloc((size_t)most + 1, sizeof *sources);
    *out = NULL;
    if (skin && is_level)
        skin->drawn = begin_skin(drawn_as, most);
    if (!skin || !sources || (is_level && !skin->drawn)) {
        th_skin_destroy(skin);
        free(sources);
        return th_fail(err, TH_ERR_MEMORY, "%s: no memory for its skin", model->name);
    }
    fill_skin(skin, sources);
    free(sources);
    *out = skin;
    return TH_OK;
}

void th_skin_destroy(th_skin *skin)
{
    if (!skin)
        return;
    th_skin_destroy(skin->drawn);
    free(skin->bases);
    free(skin->points);
    free(skin->influences);
    free(skin->deltas);
    free(skin->clusters);
    free(skin->bones);
    free(skin);
}

uint32_t th_skin_vertex_count(const th_skin *skin)
{
    assert(skin);
    return skin->point_count;
}

/* ---- measuring ---- */

/* Rows of a matrix from model space: pixels from the picture's middle times depth, across and up, and the depth. */
typedef struct lens {
    th_mat34 matrix;
    float half_width, half_height, near_z;
    float corner; /* the farthest from the middle that is in the picture */
} lens;

/* How far a matrix moves the ends of a vector of length 1 apart, at most. */
typedef struct stretch {
    float across, along; /* x and y; depth */
} stretch;

/* What the palettes do with points that follow one bone: where they draw them, through the lens. */
typedef struct bone_motion {
    th_mat34 drawn, full, moved; /* moved: drawn less full */
    stretch moved_stretch, full_stretch;
} bone_motion;

/* The scratch memory of a caller. */
typedef struct work {
    bone_motion *motions; /* [bone] */
    float *bounds;        /* [cluster] in pixels */
    th_mat34 *entries[2]; /* [entry] drawn, full */
} work;

static uint32_t entry_count(const th_skin *skin)
{
    return th_palette_entries(skin->model->bone_count, skin->model->weight_count);
}

/* Entries, and what they do through the lens. */
static size_t side_bytes(const th_skin *skin)
{
    return ((size_t)entry_count(skin) + skin->model->bone_count) * sizeof(th_mat34);
}

size_t th_skin_scratch_bytes(const th_skin *skin)
{
    assert(skin);
    if (skin->drawn)
        return th_cache_line_round(side_bytes(skin) + side_bytes(skin->drawn) + 1);
    return th_cache_line_round(2 * (size_t)entry_count(skin) * sizeof(th_mat34) +
                               skin->model->bone_count * sizeof(bone_motion) + skin->cluster_count * sizeof(float) + 1);
}

static work work_in(const th_skin *skin, void *scratch)
{
    work w = {.motions = scratch};
    w.entries[0] = (th_mat34 *)(void *)(w.motions + skin->model->bone_count);
    w.entries[1] = w.entries[0] + entry_count(skin);
    w.bounds = (float *)(void *)(w.entries[1] + entry_count(skin));
    return w;
}

static lens lens_of(const th_skin_screen *screen)
{
    lens l = {.half_width = screen->width / 2, .half_height = screen->height / 2, .near_z = screen->near_z};
    for (int col = 0; col < 4; col++) {
        l.matrix.m[col] = screen->clip_from_model[4 * col] * l.half_width;
        l.matrix.m[4 + col] = screen->clip_from_model[4 * col + 1] * l.half_height;
        l.matrix.m[8 + col] = screen->clip_from_model[4 * col + 3];
    }
    l.corner = hypotf(l.half_width, l.half_height);
    return l;
}

/* False if a number is not finite. */
static bool read_palette(const th_skin *skin, th_skin_palette palette, th_mat34 *out)
{
    const size_t bytes = th_palette_entry_bytes(palette.format);
    float sum = 0;
    for (uint32_t e = 0; e < entry_count(skin); e++) {
        const th_palette_base *base = e < skin->model->bone_count ? &skin->bases[e] : NULL;
        th_palette_read(palette.format, (const char *)palette.entries + e * bytes, base, out[e].m);
        for (int i = 0; i < 12; i++)
            sum += out[e].m[i] * 0;
    }
    return sum == 0;
}

/* The rotation and scale of l, and what `a` does before. */
static th_mat34 through(const lens *l, const th_mat34 *a)
{
    th_mat34 out;
    for (int row = 0; row < 12; row += 4) {
        const float *r = l->matrix.m + row;
        for (int col = 0; col < 4; col++)
            out.m[row + col] = r[0] * a->m[col] + r[1] * a->m[4 + col] + r[2] * a->m[8 + col];
    }
    return out;
}

static float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The larger singular value of the two upper rows, and the length of the last. */
static stretch stretch_of(const th_mat34 *a)
{
    const float *x = a->m, *y = a->m + 4, *z = a->m + 8;
    const float half = (dot(x, x) - dot(y, y)) / 2, mean = (dot(x, x) + dot(y, y)) / 2, skew = dot(x, y);
    return (stretch){SLACK * sqrtf(mean + sqrtf(half * half + skew * skew)), SLACK * sqrtf(dot(z, z))};
}

static void find_motions(const th_skin *skin, const lens *l, const work *w)
{
    for (uint32_t b = 0; b < skin->model->bone_count; b++) {
        const th_mat34 *drawn = &w->entries[0][b], *full = &w->entries[1][b];
        bone_motion *m = &w->motions[b];
        th_mat34 moved;
        for (int i = 0; i < 12; i++)
            moved.m[i] = drawn->m[i] - full->m[i];
        m->drawn = through(l, drawn);
        m->full = through(l, full);
        for (int i = 3; i < 12; i += 4) {
            m->drawn.m[i] += l->matrix.m[i];
            m->full.m[i] += l->matrix.m[i];
        }
        m->moved = through(l, &moved);
        m->moved_stretch = stretch_of(&m->moved);
        m->full_stretch = stretch_of(&m->full);
    }
}

static inline void transform(const th_mat34 *a, const float p[3], float out[3])
{
    for (int row = 0; row < 3; row++) {
        const float *r = a->m + 4 * row;
        out[row] = r[0] * p[0] + r[1] * p[1] + r[2] * p[2] + r[3];
    }
}

static inline float length2(const float v[2])
{
    return sqrtf(v[0] * v[0] + v[1] * v[1]);
}

/* At most so many pixels lie between the vertices of a cluster. A point at n pixels from the middle that moves by d to
 * a depth of z moves by (d x - n (d depth)) / z pixels. */
static float bound_of(const th_skin *skin, const work *w, const lens *l, const cluster *c)
{
    float across = 0, along = 0, away = 0, nearest = HUGE_VALF, moved[3], at[3];
    if (c->is_morphed)
        return HUGE_VALF;
    for (uint32_t b = 0; b < c->bone_count; b++) {
        const bone_motion *m = &w->motions[skin->bones[c->first_bone + b]];
        transform(&m->moved, c->centre, moved);
        transform(&m->full, c->centre, at);
        across = fmaxf(across, length2(moved) + m->moved_stretch.across * c->radius);
        along = fmaxf(along, fabsf(moved[2]) + m->moved_stretch.along * c->radius);
        away = fmaxf(away, length2(at) + m->full_stretch.across * c->radius);
        nearest = fminf(nearest, at[2] - m->full_stretch.along * c->radius);
    }
    nearest -= along;
    if (nearest <= l->near_z)
        return HUGE_VALF;
    const float from_middle = fminf(l->corner, (away + across) / nearest);
    return SLACK * (across + from_middle * along) / nearest;
}

/* Where a palette's weights put a point before bones move it. */
static void morph_point(const th_skin *skin, const th_mat34 *entries, const point *p, float out[3])
{
    const float *weights = entries[skin->model->bone_count].m; /* entries lie side by side, without gaps */
    memcpy(out, p->position, sizeof p->position);
    for (uint32_t d = p->first_delta; d < p[1].first_delta; d++)
        for (int i = 0; i < 3; i++)
            out[i] += weights[skin->deltas[d].weight] * skin->deltas[d].position[i];
}

/* Where both palettes put a point, through the lens. */
static void skin_point(const th_skin *skin, const work *w, const point *p, float drawn[3], float full[3])
{
    const bool is_morphed = p->first_delta < p[1].first_delta;
    float from[2][3], part[3];
    for (int side = 0; side < 2 && is_morphed; side++)
        morph_point(skin, w->entries[side], p, from[side]);
    const float *drawn_from = is_morphed ? from[0] : p->position, *full_from = is_morphed ? from[1] : p->position;
    for (int i = 0; i < 3; i++)
        drawn[i] = full[i] = 0;
    for (uint32_t k = p->first_influence; k < p[1].first_influence; k++) {
        const influence *one = &skin->influences[k];
        const bone_motion *m = &w->motions[one->bone];
        transform(&m->drawn, drawn_from, part);
        for (int i = 0; i < 3; i++)
            drawn[i] += one->weight * part[i];
        transform(&m->full, full_from, part);
        for (int i = 0; i < 3; i++)
            full[i] += one->weight * part[i];
    }
}

/* Divides by the depth. Returns whether it is inside of the picture. */
static bool project(const lens *l, float p[3])
{
    const float depth = fmaxf(p[2], l->near_z);
    p[0] /= depth;
    p[1] /= depth;
    return p[2] >= l->near_z && fabsf(p[0]) <= l->half_width && fabsf(p[1]) <= l->half_height;
}

static float measure_cluster(const th_skin *skin, const work *w, const lens *l, const cluster *c)
{
    float most = 0, drawn[3], full[3];
    for (const point *p = skin->points + c->first; p < skin->points + c->first + c->count; p++) {
        skin_point(skin, w, p, drawn, full);
        const bool is_drawn = project(l, drawn), is_full = project(l, full);
        if (is_drawn || is_full)
            most = fmaxf(most, length2((float[2]){drawn[0] - full[0], drawn[1] - full[1]}));
    }
    return most;
}

/* ---- joint levels ---- */

/* One of two skins with the same points. */
typedef struct side {
    const th_skin *skin;
    th_mat34 *entries, *bones; /* bones: through the lens */
} side;

static side side_in(const th_skin *skin, th_mat34 *memory)
{
    return (side){skin, memory, memory + entry_count(skin)};
}

static bool read_side(const side *s, th_skin_palette palette, const lens *l)
{
    if (!read_palette(s->skin, palette, s->entries))
        return false;
    for (uint32_t b = 0; b < s->skin->model->bone_count; b++) {
        s->bones[b] = through(l, &s->entries[b]);
        for (int i = 3; i < 12; i += 4)
            s->bones[b].m[i] += l->matrix.m[i];
    }
    return true;
}

/* Where a point is, through the lens. */
static void place_point(const side *s, uint32_t index, float out[3])
{
    const point *p = &s->skin->points[index];
    float from[3], part[3];
    morph_point(s->skin, s->entries, p, from);
    for (int i = 0; i < 3; i++)
        out[i] = 0;
    for (uint32_t k = p->first_influence; k < p[1].first_influence; k++) {
        const influence *one = &s->skin->influences[k];
        transform(&s->bones[one->bone], from, part);
        for (int i = 0; i < 3; i++)
            out[i] += one->weight * part[i];
    }
}

static float measure_level(const th_skin *skin, th_skin_palette drawn, th_skin_palette full, const lens *l,
                           void *scratch)
{
    const side as_drawn = side_in(skin->drawn, scratch);
    const side as_full = side_in(skin, as_drawn.bones + skin->drawn->model->bone_count);
    if (!read_side(&as_drawn, drawn, l) || !read_side(&as_full, full, l))
        return HUGE_VALF;
    float most = 0, a[3], b[3];
    for (uint32_t p = 0; p < skin->point_count; p++) {
        place_point(&as_drawn, p, a);
        place_point(&as_full, p, b);
        const bool is_drawn = project(l, a), is_full = project(l, b);
        if (is_drawn || is_full)
            most = fmaxf(most, length2((float[2]){a[0] - b[0], a[1] - b[1]}));
    }
    return most;
}

float th_skin_error_px(const th_skin *skin, th_skin_palette drawn, th_skin_palette full, const th_skin_screen *screen,
                       void *scratch)
{
    assert(skin && drawn.entries && full.entries && screen && scratch);
    assert(screen->width > 0 && screen->height > 0 && screen->near_z > 0);
    const lens l = lens_of(screen);
    if (skin->drawn)
        return measure_level(skin, drawn, full, &l, scratch);
    const work w = work_in(skin, scratch);
    if (!read_palette(skin, drawn, w.entries[0]) || !read_palette(skin, full, w.entries[1]))
        return HUGE_VALF;
    if (skin->cluster_count == 0 || memcmp(w.entries[0], w.entries[1], entry_count(skin) * sizeof(th_mat34)) == 0)
        return 0;
    find_motions(skin, &l, &w);
    uint32_t first = 0;
    for (uint32_t c = 0; c < skin->cluster_count; c++) {
        w.bounds[c] = bound_of(skin, &w, &l, &skin->clusters[c]);
        first = w.bounds[c] > w.bounds[first] ? c : first;
    }
    float most = measure_cluster(skin, &w, &l, &skin->clusters[first]);
    for (uint32_t c = 0; c < skin->cluster_count; c++)
        if (w.bounds[c] > fmaxf(most * (1 + TH_SKIN_MISSED), most + TH_SKIN_MISSED_PX))
            most = fmaxf(most, measure_cluster(skin, &w, &l, &skin->clusters[c]));
    return most;
}
