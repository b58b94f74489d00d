/* Vertices are grouped into clusters of a few that lie close together and follow mostly the same bones. A bone that the
 * palettes put at A and at B moves a point p by D p = A p - B p. All points of a cluster lie within a sphere (c, r), so
 * a bone moves each of them by D c and at most |D| r more, and what several bones move is moved by a mean of them. That
 * bounds the pixels, and clusters that cannot be much above the largest distance so far need no look. Where vertices
 * move to targets the bound does not hold; these are always looked at. So are all of joint levels, whose vertices
 * follow other bones from other places. */
#include <anim/skin_error.h>

#include "vertices.h"

#include <core/arena.h>
#include <core/cache_line.h>

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
    th_arena *arena;        /* owns the arrays */
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

/* Lists all points; out: room for all. Returns their number. */
static uint32_t list_sources(const th_model *model, source *out)
{
    uint32_t count = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *mesh = &model->meshes[m];
        source *first = out + count;
        for (uint32_t v = 0; v < mesh->vertex_count; v++, count++) {
            const th_vertex *vertex = &mesh->vertices[v];
            out[count] = (source){.mesh = m, .vertex = v, .bone = vertex->bone[0], .order = count};
            memcpy(out[count].position, vertex->position, sizeof out[count].position);
        }
        for (uint32_t t = 0; t < mesh->target_count; t++)
            for (uint32_t d = 0; d < mesh->targets[t].delta_count; d++)
                first[mesh->targets[t].deltas[d].vertex].is_morphed = true;
    }
    for (uint32_t b = 0; b < model->bone_count && model->mesh_count == 0; b++) {
        out[count] = (source){.mesh = TH_NO_INDEX, .bone = b, .order = count};
        count += th_bone_place(&model->bones[b], out[count].position);
    }
    return count;
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

static int by_axis(const void *a, const void *b, void *axis)
{
    const source *x = a, *y = b;
    const float one = x->position[*(const int *)axis], other = y->position[*(const int *)axis];
    if (one != other)
        return one < other ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Splits points of one bone across their longest side until they are few enough for a cluster. */
static void split(th_skin *skin, source *sources, uint32_t first, uint32_t count)
{
    float low[3], high[3];
    for (int i = 0; i < 3; i++)
        low[i] = high[i] = sources[first].position[i];
    for (uint32_t s = first + 1; s < first + count; s++)
        for (int i = 0; i < 3; i++) {
            low[i] = fminf(low[i], sources[s].position[i]);
            high[i] = fmaxf(high[i], sources[s].position[i]);
        }
    if (count > CLUSTER) {
        int axis = high[1] - low[1] > high[0] - low[0] ? 1 : 0;
        axis = high[2] - low[2] > high[axis] - low[axis] ? 2 : axis;
        qsort_r(sources + first, count, sizeof *sources, by_axis, &axis);
        split(skin, sources, first, count / 2);
        split(skin, sources, first + count / 2, count - count / 2);
        return;
    }
    cluster *c = &skin->clusters[skin->cluster_count++];
    *c = (cluster){.first = first, .count = count, .is_morphed = sources[first].is_morphed};
    for (int i = 0; i < 3; i++)
        c->centre[i] = (low[i] + high[i]) / 2;
    for (uint32_t s = first; s < first + count; s++) {
        const float *p = sources[s].position;
        c->radius = fmaxf(c->radius, hypotf(hypotf(p[0] - c->centre[0], p[1] - c->centre[1]), p[2] - c->centre[2]));
    }
    c->radius *= SLACK;
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

/* Points in the order of the sources, with what moves them in this skin's model. */
static void make_points(th_skin *skin, const source *sources)
{
    uint32_t influences = 0, deltas = 0;
    for (uint32_t p = 0; p < skin->point_count; p++) {
        const source *s = &sources[p];
        point *at = &skin->points[p];
        at->first_influence = influences;
        at->first_delta = deltas;
        if (s->mesh == TH_NO_INDEX) { /* only of models that have no levels */
            memcpy(at->position, s->position, sizeof at->position);
            skin->influences[influences++] = (influence){(uint16_t)s->bone, 1};
            continue;
        }
        const th_mesh *mesh = &skin->model->meshes[s->mesh];
        const th_vertex *vertex = &mesh->vertices[s->vertex];
        memcpy(at->position, vertex->position, sizeof at->position);
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++)
            skin->influences[influences++] = (influence){vertex->bone[k], vertex->weight[k]};
        for (uint32_t t = 0; s->is_morphed && t < mesh->target_count; t++) {
            const th_morph_delta *found = find_delta(&mesh->targets[t], s->vertex);
            if (!found)
                continue;
            skin->deltas[deltas] = (delta){.weight = mesh->targets[t].weight};
            memcpy(skin->deltas[deltas++].position, found->position, sizeof found->position);
        }
    }
    skin->points[skin->point_count] = (point){.first_influence = influences, .first_delta = deltas};
}

/* A skin without points, but with room for them. NULL: no memory. */
static th_skin *begin_skin(const th_model *model, uint32_t most)
{
    size_t influences = model->mesh_count == 0 ? model->bone_count : 0, deltas = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *mesh = &model->meshes[m];
        for (uint32_t v = 0; v < mesh->vertex_count; v++)
            for (uint32_t k = 0; k < TH_MAX_INFLUENCES && mesh->vertices[v].weight[k] > 0; k++)
                influences++;
        for (uint32_t t = 0; t < mesh->target_count; t++)
            deltas += mesh->targets[t].delta_count;
    }
    th_arena *arena = th_arena_create();
    th_skin *skin = th_arena_new(arena, th_skin, 1);
    const th_skin made = {.model = model,
                          .arena = arena,
                          .bases = th_arena_new(arena, th_palette_base, model->bone_count),
                          .points = th_arena_new(arena, point, (size_t)most + 1),
                          .influences = th_arena_new(arena, influence, influences),
                          .deltas = th_arena_new(arena, delta, deltas),
                          .clusters = th_arena_new(arena, cluster, most),
                          .bones = th_arena_new(arena, uint16_t, influences)};
    if (th_arena_failed(arena)) {
        th_arena_destroy(arena);
        return NULL;
    }
    *skin = made;
    for (uint32_t b = 0; b < model->bone_count; b++)
        skin->bases[b] = th_model_palette_base(model, b);
    return skin;
}

th_result th_skin_create(const th_model *model, const th_model *drawn_as, th_skin **out, th_error *err)
{
    assert(model && out);
    const bool is_level = drawn_as && drawn_as != model;
    const uint32_t most = model->mesh_count == 0 ? model->bone_count : th_vertices_count(model);
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

    /* Clusters have points of one bone, and points that move to targets are apart. */
    skin->point_count = list_sources(model, sources);
    qsort(sources, skin->point_count, sizeof *sources, by_bone);
    for (uint32_t first = 0, end; first < skin->point_count; first = end) {
        for (end = first + 1; end < skin->point_count; end++)
            if (sources[end].bone != sources[first].bone || sources[end].is_morphed != sources[first].is_morphed)
                break;
        split(skin, sources, first, end - first);
    }
    make_points(skin, sources);

    /* All bones of the points of each. */
    for (cluster *c = skin->clusters; c < skin->clusters + skin->cluster_count; c++) {
        const uint32_t end = skin->points[c->first + c->count].first_influence;
        uint16_t *bones = skin->bones + skin->bone_total;
        c->first_bone = skin->bone_total;
        for (uint32_t k = skin->points[c->first].first_influence; k < end; k++) {
            uint32_t b = 0;
            while (b < c->bone_count && bones[b] != skin->influences[k].bone)
                b++;
            if (b == c->bone_count)
                bones[c->bone_count++] = skin->influences[k].bone;
        }
        skin->bone_total += c->bone_count;
    }
    if (skin->drawn) {
        skin->drawn->point_count = skin->point_count;
        make_points(skin->drawn, sources);
    }
    free(sources);
    *out = skin;
    return TH_OK;
}

void th_skin_destroy(th_skin *skin)
{
    if (!skin)
        return;
    th_skin_destroy(skin->drawn);
    th_arena_destroy(skin->arena);
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
static th_mat34 turn_through(const lens *l, const th_mat34 *a)
{
    th_mat34 out;
    for (int row = 0; row < 12; row += 4) {
        const float *r = l->matrix.m + row;
        for (int col = 0; col < 4; col++)
            out.m[row + col] = r[0] * a->m[col] + r[1] * a->m[4 + col] + r[2] * a->m[8 + col];
    }
    return out;
}

/* All of l, and what `a` does before. */
static th_mat34 see_through(const lens *l, const th_mat34 *a)
{
    th_mat34 out = turn_through(l, a);
    for (int i = 3; i < 12; i += 4)
        out.m[i] += l->matrix.m[i];
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

static bool read_side(const side *s, th_skin_palette palette, const lens *l)
{
    if (!read_palette(s->skin, palette, s->entries))
        return false;
    for (uint32_t b = 0; b < s->skin->model->bone_count; b++)
        s->bones[b] = see_through(l, &s->entries[b]);
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
    th_mat34 *memory = scratch;
    const side as_drawn = {skin->drawn, memory, memory + entry_count(skin->drawn)};
    memory = as_drawn.bones + skin->drawn->model->bone_count;
    const side as_full = {skin, memory, memory + entry_count(skin)};
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
    lens l = {.half_width = screen->width / 2, .half_height = screen->height / 2, .near_z = screen->near_z};
    for (int col = 0; col < 4; col++) {
        l.matrix.m[col] = screen->clip_from_model[4 * col] * l.half_width;
        l.matrix.m[4 + col] = screen->clip_from_model[4 * col + 1] * l.half_height;
        l.matrix.m[8 + col] = screen->clip_from_model[4 * col + 3];
    }
    l.corner = hypotf(l.half_width, l.half_height);
    if (skin->drawn)
        return measure_level(skin, drawn, full, &l, scratch);

    work w = {.motions = scratch};
    w.entries[0] = (th_mat34 *)(void *)(w.motions + skin->model->bone_count);
    w.entries[1] = w.entries[0] + entry_count(skin);
    w.bounds = (float *)(void *)(w.entries[1] + entry_count(skin));
    if (!read_palette(skin, drawn, w.entries[0]) || !read_palette(skin, full, w.entries[1]))
        return HUGE_VALF;
    if (skin->cluster_count == 0 || memcmp(w.entries[0], w.entries[1], entry_count(skin) * sizeof(th_mat34)) == 0)
        return 0;
    for (uint32_t b = 0; b < skin->model->bone_count; b++) {
        bone_motion *m = &w.motions[b];
        th_mat34 moved;
        for (int i = 0; i < 12; i++)
            moved.m[i] = w.entries[0][b].m[i] - w.entries[1][b].m[i];
        m->drawn = see_through(&l, &w.entries[0][b]);
        m->full = see_through(&l, &w.entries[1][b]);
        m->moved = turn_through(&l, &moved);
        m->moved_stretch = stretch_of(&m->moved);
        m->full_stretch = stretch_of(&m->full);
    }
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
