/* The poses that are examined, and the bounds proxy in them. */
#include "bounds_private.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST_MOMENTS 17u               /* for any number of joints and clips */
#define USUAL_PARTS    64u               /* of a clip with few keys */
#define POSE_BUDGET    (1u << 22)        /* joints posed per pass over the clips: half a second */
#define VERTEX_BUDGET  ((size_t)1 << 24) /* vertices skinned per pass over a clip */

#define ROUNDING 1e-3

/* ---- when ---- */

int th_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool same_times(const th_track *a, const th_track *b)
{
    return a->key_count == b->key_count &&
           (a->times == b->times || memcmp(a->times, b->times, a->key_count * sizeof *a->times) == 0);
}

/* Appends the track's keys within the clip, unless they equal those of the track before. Returns the new count. */
static size_t add_keys(const th_clip *clip, const th_track *track, const th_track **before, double *keys, size_t count)
{
    if (*before && same_times(track, *before))
        return count;
    *before = track;
    for (uint32_t k = 0; k < track->key_count; k++)
        if (track->times[k] > 0 && track->times[k] < clip->duration_ticks)
            keys[count++] = track->times[k];
    return count;
}

static size_t keep_different(double *sorted, size_t count)
{
    size_t kept = 0;
    for (size_t k = 0; k < count; k++)
        if (kept == 0 || sorted[k] > sorted[kept - 1])
            sorted[kept++] = sorted[k];
    return kept;
}

/* All distinct key times from 0 to the duration, both included, ascending. NULL if out of memory. */
static double *find_keys(const th_clip *clip, size_t *out_count)
{
    size_t room = 2, count = 0;
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const th_channel *channel = &clip->channels[c];
        room += (size_t)channel->translation.key_count + channel->rotation.key_count + channel->scale.key_count;
    }
    for (uint32_t t = 0; t < clip->weight_track_count; t++)
        room += clip->weight_tracks[t].track.key_count;
    double *keys = calloc(room, sizeof *keys);
    if (!keys)
        return NULL;
    const th_track *before = NULL;
    keys[count++] = 0;
    keys[count++] = clip->duration_ticks;
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        count = add_keys(clip, &clip->channels[c].translation, &before, keys, count);
        count = add_keys(clip, &clip->channels[c].rotation, &before, keys, count);
        count = add_keys(clip, &clip->channels[c].scale, &before, keys, count);
    }
    for (uint32_t t = 0; t < clip->weight_track_count; t++)
        count = add_keys(clip, &clip->weight_tracks[t].track, &before, keys, count);
    assert(count <= room);
    qsort(keys, count, sizeof *keys, th_compare_doubles);
    *out_count = keep_different(keys, count);
    return keys;
}

static uint32_t most_moments(const th_model *model, uint32_t clip_count)
{
    assert(clip_count > 0);
    uint32_t most = POSE_BUDGET / (model->joint_count + 1) / clip_count | 1;
    if (most < FEWEST_MOMENTS)
        most = FEWEST_MOMENTS;
    return most < TH_BOUNDS_MAX_SAMPLES ? most : TH_BOUNDS_MAX_SAMPLES;
}

static void place_between_keys(th_moments *m, const double *keys, size_t key_count, uint32_t most)
{
    assert(key_count > 1);
    uint32_t intervals = (uint32_t)key_count - 1, parts = (USUAL_PARTS / intervals + 1) / 2 * 2;
    if (parts < 2 || intervals * parts >= most)
        parts = 2;
    m->count = intervals * parts + 1;
    assert(m->count <= most);
    for (uint32_t i = 0; i + 1 < m->count; i++) {
        const double *key = keys + i / parts;
        m->ticks[i] = key[0] + (key[1] - key[0]) * (i % parts) / parts;
    }
    m->ticks[m->count - 1] = keys[intervals];
}

bool th_moments_init(th_moments *m, const th_model *model, const th_clip *clip, uint32_t clip_count)
{
    assert(m && model);
    const uint32_t most = most_moments(model, clip_count);
    assert(most % 2 == 1);
    *m = (th_moments){.ticks = calloc(most, sizeof *m->ticks), .count = 1};
    if (!m->ticks || !clip)
        return m->ticks != NULL;
    size_t key_count;
    double *keys = find_keys(clip, &key_count);
    if (keys && key_count > 1 && 2 * (key_count - 1) < most) {
        place_between_keys(m, keys, key_count, most);
    } else if (keys && key_count > 1) {
        m->count = most;
        for (uint32_t i = 0; i < most; i++)
            m->ticks[i] = clip->duration_ticks * i / (most - 1);
    }
    free(keys);
    return keys != NULL;
}

void th_moments_fini(th_moments *m)
{
    free(m->ticks);
}

/* ---- what ---- */

typedef struct box {
    double low[3], high[3];
} box;

static void doubles(const float in[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = (double)in[i];
}

typedef void influence_fn(th_bounds_proxy *b, box *boxes, uint32_t bone, const double in_joint[3]);

/* Visits each vertex in the space of each joint that it follows. */
static void each_influence(th_bounds_proxy *b, box *boxes, influence_fn *fn)
{
    for (uint32_t m = 0; m < b->model->mesh_count; m++)
        for (uint32_t v = 0; v < b->model->meshes[m].vertex_count; v++) {
            const th_vertex *vertex = &b->model->meshes[m].vertices[v];
            double position[3], in_joint[3];
            doubles(vertex->position, position);
            for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
                th_dmat34_point(&b->palette[vertex->bone[k]], position, in_joint);
                fn(b, boxes, vertex->bone[k], in_joint);
            }
        }
}

static void grow_box(th_bounds_proxy *b, box *boxes, uint32_t bone, const double in_joint[3])
{
    (void)b;
    for (int i = 0; i < 3; i++) {
        boxes[bone].low[i] = fmin(boxes[bone].low[i], in_joint[i]);
        boxes[bone].high[i] = fmax(boxes[bone].high[i], in_joint[i]);
    }
}

static void grow_sphere(th_bounds_proxy *b, box *boxes, uint32_t bone, const double in_joint[3])
{
    (void)boxes;
    th_bounds_sphere *sphere = &b->sphere[bone];
    double x = in_joint[0] - sphere->centre[0], y = in_joint[1] - sphere->centre[1],
           z = in_joint[2] - sphere->centre[2];
    sphere->radius = fmax(sphere->radius, sqrt(x * x + y * y + z * z));
}

/* Adds a sphere for each bone with vertices, around the centre of their box. */
static bool find_spheres(th_bounds_proxy *b)
{
    const th_model *model = b->model;
    box *boxes = calloc((size_t)model->bone_count + 1, sizeof *boxes);
    if (!boxes)
        return false;
    for (uint32_t i = 0; i < model->bone_count; i++) {
        b->palette[i] = th_dmat34_from(model->bones[i].inverse_bind);
        boxes[i] = (box){{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    }
    each_influence(b, boxes, grow_box);
    for (uint32_t i = 0; i < model->bone_count; i++)
        for (int n = 0; n < 3; n++)
            b->sphere[i].centre[n] = boxes[i].low[n] / 2 + boxes[i].high[n] / 2;
    each_influence(b, boxes, grow_sphere);
    const bool good = th_bounds_morphs_init(b);
    size_t morph = 0;
    for (uint32_t i = 0; i < model->bone_count && good; i++)
        if (boxes[i].low[0] <= boxes[i].high[0]) {
            for (; morph < b->morph_count && b->morph[morph].sphere == i; morph++)
                b->morph[morph].sphere = b->sphere_count;
            b->joint[b->sphere_count] = model->bones[i].joint;
            b->sphere[b->sphere_count++] = b->sphere[i];
        }
    free(boxes);
    return good;
}

bool th_bounds_proxy_init(th_bounds_proxy *b, const th_model *model, th_interpolation interpolation)
{
    assert(b && model);
    const uint32_t joints = model->joint_count, bones = model->bone_count;
    const size_t most = joints > bones ? joints : bones;
    *b = (th_bounds_proxy){.model = model,
                           .interpolation = interpolation,
                           .joint = calloc(most + 1, sizeof *b->joint),
                           .sphere = calloc(most + 1, sizeof *b->sphere),
                           .pose = calloc((size_t)joints + bones + 1, sizeof *b->pose)};
    for (uint32_t m = 0; m < model->mesh_count; m++)
        b->vertex_count += model->meshes[m].vertex_count;
    if (!b->joint || !b->sphere || !b->pose)
        return false;
    b->palette = b->pose + joints;
    if (b->vertex_count > 0)
        return find_spheres(b);
    for (uint32_t j = 0; j < joints; j++)
        b->joint[j] = j;
    b->sphere_count = joints;
    return true;
}

void th_bounds_proxy_fini(th_bounds_proxy *b)
{
    free(b->joint);
    free(b->sphere);
    free(b->pose);
    free(b->morph);
    free(b->weights);
    free(b->positions);
}

void th_bounds_proxy_pose(th_bounds_proxy *b, const th_clip *clip, double ticks)
{
    th_exact_pose(b->model, clip, ticks, b->interpolation, b->pose);
    th_exact_palette(b->model, b->pose, b->palette);
    th_bounds_morphs_pose(b, clip, ticks);
}

/* ---- points ---- */

/* All vertices, or every n-th. */
static bool list_points(th_ground_contacts *s, const th_bounds_proxy *b, uint32_t moment_count)
{
    assert(moment_count > 0);
    const th_model *model = b->model;
    size_t step = b->vertex_count * moment_count / VERTEX_BUDGET + 1, n = 0;
    *s = (th_ground_contacts){.point = calloc(b->vertex_count / step + model->joint_count + 1, sizeof *s->point),
                              .ground = HUGE_VAL};
    if (!s->point)
        return false;
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++)
            if (n++ % step == 0)
                s->point[s->count++] =
                    (th_ground_contact){.vertex = &model->meshes[m].vertices[v], .index = n - 1, .lowest = HUGE_VAL};
    for (uint32_t j = 0; b->vertex_count == 0 && j < model->joint_count; j++)
        s->point[s->count++] = (th_ground_contact){.joint = j, .lowest = HUGE_VAL};
    return true;
}

/* One coordinate of a vertex in the proxy's current pose. */
static double coordinate(const th_bounds_proxy *b, const th_ground_contact *point, int axis)
{
    const th_vertex *vertex = point->vertex;
    const float *own = vertex->position;
    const double at[3] = {(double)own[0], (double)own[1], (double)own[2]},
                 *p = b->positions ? b->positions[point->index] : at;
    double sum = 0;
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
        const double *row = b->palette[vertex->bone[k]].m + 4 * axis;
        sum += (double)vertex->weight[k] * (row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3]);
    }
    return sum;
}

static double height(const th_bounds_proxy *b, const th_ground_contact *point)
{
    return point->vertex ? coordinate(b, point, 1) : b->pose[point->joint].m[7];
}

/* ---- blocks of points ---- */

static size_t block_count(const th_ground_contacts *s)
{
    return (s->count + TH_GROUND_BLOCK - 1) / TH_GROUND_BLOCK;
}

static size_t block_end(const th_ground_contacts *s, size_t block)
{
    const size_t end = (block + 1) * TH_GROUND_BLOCK;
    return end < s->count ? end : s->count;
}

/* Fills in the box and the bones. `seen` is, by bone, the last block that has it, plus 1. */
static void make_block(th_ground_contacts *s, size_t at, uint32_t *seen)
{
    th_ground_block *block = &s->block[at];
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    block->first_bone = at > 0 ? block[-1].first_bone + block[-1].bone_count : 0;
    for (size_t n = at * TH_GROUND_BLOCK; n < block_end(s, at); n++) {
        const th_vertex *vertex = s->point[n].vertex;
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], (double)vertex->position[i]);
            high[i] = fmax(high[i], (double)vertex->position[i]);
        }
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++)
            if (seen[vertex->bone[k]] != at + 1) {
                seen[vertex->bone[k]] = (uint32_t)at + 1;
                s->bones[block->first_bone + block->bone_count++] = vertex->bone[k];
            }
    }
    for (int i = 0; i < 3; i++) {
        block->middle[i] = low[i] / 2 + high[i] / 2;
        block->half[i] = high[i] / 2 - low[i] / 2;
    }
}

/* Only of vertices. Returns false if out of memory. */
static bool make_blocks(th_ground_contacts *s, const th_bounds_proxy *b)
{
    const size_t blocks = block_count(s);
    const size_t most = b->model->bone_count < TH_GROUND_BLOCK * TH_MAX_INFLUENCES
                            ? b->model->bone_count
                            : TH_GROUND_BLOCK * TH_MAX_INFLUENCES;
    s->block = calloc(blocks + 1, sizeof *s->block);
    s->bones = calloc(blocks * most + 1, sizeof *s->bones);
    uint32_t *seen = calloc((size_t)b->model->bone_count + 1, sizeof *seen);
    for (size_t n = 0; n < blocks && b->vertex_count > 0 && s->block && s->bones && seen; n++)
        make_block(s, n, seen);
    free(seen);
    return s->block && s->bones && seen;
}

/* A height that no point of the block is below in the proxy's current pose. The weights of a vertex add up to 1 but for
 * rounding, so it is nowhere below the lowest that any of its bones would take it to. */
static double block_floor(const th_ground_contacts *s, const th_bounds_proxy *b, size_t at)
{
    const th_ground_block *block = &s->block[at];
    if (b->vertex_count == 0 || b->positions)
        return -HUGE_VAL;
    double lowest = HUGE_VAL;
    for (uint32_t k = 0; k < block->bone_count; k++) {
        const double *row = b->palette[s->bones[block->first_bone + k]].m + 4;
        double y = row[3];
        for (int i = 0; i < 3; i++)
            y += row[i] * block->middle[i] - fabs(row[i]) * block->half[i];
        lowest = y < lowest ? y : lowest;
    }
    return lowest - ROUNDING * (fabs(lowest) + b->model->size);
}

static double lowest_of_block(const th_ground_contacts *s, const th_bounds_proxy *b, size_t at)
{
    double lowest = HUGE_VAL;
    for (size_t n = at * TH_GROUND_BLOCK; n < block_end(s, at); n++)
        lowest = fmin(lowest, height(b, &s->point[n]));
    return lowest;
}

/* The lowest of all points in the proxy's current pose. *best: the block it was in at the moment before, which is
 * looked at first because most others are then too high; updated. */
static double lowest_now(const th_ground_contacts *s, const th_bounds_proxy *b, size_t *best)
{
    double lowest = s->count > 0 ? lowest_of_block(s, b, *best) : HUGE_VAL;
    for (size_t n = 0; n < block_count(s); n++) {
        if (block_floor(s, b, n) > lowest)
            continue;
        const double y = lowest_of_block(s, b, n);
        *best = y < lowest ? n : *best;
        lowest = fmin(lowest, y);
    }
    return lowest;
}

bool th_ground_contacts_init(th_ground_contacts *s, th_bounds_proxy *b, const th_clip *clip, const th_moments *moments)
{
    assert(s && b && moments && moments->count > 0);
    double *lowest = malloc(moments->count * sizeof *lowest); /* by moment */
    if (!list_points(s, b, moments->count) || !make_blocks(s, b) || !lowest) {
        free(lowest);
        return false;
    }
    size_t best = 0;
    for (uint32_t i = 0; i < moments->count; i++) {
        th_bounds_proxy_pose(b, clip, moments->ticks[i]);
        lowest[i] = lowest_now(s, b, &best);
    }
    qsort(lowest, moments->count, sizeof *lowest, th_compare_doubles);
    s->ground = lowest[0];
    s->usual = lowest[moments->count / 2];
    free(lowest);
    return true;
}

void th_ground_contacts_fini(th_ground_contacts *s)
{
    free(s->point);
    free(s->block);
    free(s->bones);
}

void th_ground_contacts_measure(th_ground_contacts *s, th_bounds_proxy *b, const th_clip *clip,
                                const th_moments *moments, double reach)
{
    assert(s && b && moments);
    for (uint32_t i = 0; i < moments->count; i++) {
        th_bounds_proxy_pose(b, clip, moments->ticks[i]);
        for (size_t at = 0; at < block_count(s); at++)
            if (!(block_floor(s, b, at) >= reach))
                for (size_t n = at * TH_GROUND_BLOCK; n < block_end(s, at); n++)
                    s->point[n].lowest = fmin(s->point[n].lowest, height(b, &s->point[n]));
    }
}

void th_ground_contact_position(const th_bounds_proxy *b, const th_ground_contact *point, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = point->vertex ? coordinate(b, point, i) : b->pose[point->joint].m[4 * i + 3];
}
