/* Bounds of an animated mesh, and the proxy of the mesh that they and motion.c examine: at which moments, its spheres
 * and what morph targets do to them, and its points near the ground. */
#include "bounds_proxy.h"
#include "exact_cursor.h"
#include "vertices.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- when ---- */

#define FEWEST_MOMENTS 17u        /* for any number of joints and clips */
#define USUAL_PARTS    64u        /* of a clip with few keys */
#define POSE_BUDGET    (1u << 22) /* joints posed per pass over the clips: half a second */

int th_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Appends the track's keys within the clip, unless they equal those of the track before. Returns the new count. */
static size_t add_keys(const th_clip *clip, const th_track *track, const th_track **before, double *keys, size_t count)
{
    const th_track *last = *before;
    if (last && track->key_count == last->key_count &&
        (track->times == last->times ||
         memcmp(track->times, last->times, track->key_count * sizeof *track->times) == 0))
        return count;
    *before = track;
    for (uint32_t k = 0; k < track->key_count; k++)
        if (track->times[k] > 0 && track->times[k] < clip->duration_ticks)
            keys[count++] = th_exact_key_ticks(track, k);
    return count;
}

/* All distinct times of keys from 0 to the duration, both included, ascending. NULL if out of memory. */
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
    *out_count = 0;
    for (size_t k = 0; k < count; k++)
        if (k == 0 || keys[k] > keys[*out_count - 1])
            keys[(*out_count)++] = keys[k];
    return keys;
}

bool th_moments_init(th_moments *m, const th_model *model, const th_clip *clip, uint32_t clip_count)
{
    assert(m && model && clip_count > 0);
    uint32_t most = POSE_BUDGET / (model->joint_count + 1) / clip_count | 1;
    most = most < FEWEST_MOMENTS ? FEWEST_MOMENTS : most < TH_BOUNDS_MAX_SAMPLES ? most : TH_BOUNDS_MAX_SAMPLES;
    assert(most % 2 == 1);
    *m = (th_moments){.ticks = calloc(most, sizeof *m->ticks), .count = 1};
    if (!m->ticks || !clip)
        return m->ticks != NULL;
    size_t key_count;
    double *keys = find_keys(clip, &key_count);
    if (keys && key_count > 1 && 2 * (key_count - 1) < most) {
        uint32_t intervals = (uint32_t)key_count - 1, parts = (USUAL_PARTS / intervals + 1) / 2 * 2, fewest = 2;
        if (th_clip_has_curves(clip) && 8 * intervals < most) /* which may go round between two keys */
            fewest = 8;
        if (parts < fewest || intervals * parts >= most)
            parts = fewest;
        m->count = intervals * parts + 1;
        assert(m->count <= most);
        for (uint32_t i = 0; i + 1 < m->count; i++) {
            const double *key = keys + i / parts;
            m->ticks[i] = key[0] + (key[1] - key[0]) * (i % parts) / parts;
        }
        m->ticks[m->count - 1] = keys[intervals];
    } else if (keys && key_count > 1) {
        m->count = most;
        for (uint32_t i = 0; i < most; i++)
            m->ticks[i] = clip->duration_ticks * i / (most - 1);
    }
    free(keys);
    return keys != NULL;
}

/* ---- the proxy ---- */

/* Moves of vertices per pass over all clips, beyond which ground contacts have no targets: about a second. */
#define DELTA_BUDGET ((uint64_t)1 << 28)

static double distance(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static int compare_morphs(const void *a, const void *b)
{
    const th_bounds_morph *x = a, *y = b;
    if (x->sphere != y->sphere)
        return x->sphere < y->sphere ? -1 : 1;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

/* What targets do to spheres, which are still by bone: one entry for each influence of each delta, then the worst of
 * those of one sphere and weight. The palette holds inverse bind matrices. */
static void list_morphs(th_bounds_proxy *b)
{
    size_t count = 0;
    for (uint32_t m = 0; m < b->model->mesh_count; m++)
        for (uint32_t t = 0; t < b->model->meshes[m].target_count; t++) {
            const th_mesh *mesh = &b->model->meshes[m];
            const th_morph_target *target = &mesh->targets[t];
            for (uint32_t d = 0; d < target->delta_count; d++) {
                const th_morph_delta *delta = &target->deltas[d];
                const th_vertex *vertex = &mesh->vertices[delta->vertex];
                double at[3], to[3], from[3], moved[3];
                for (int i = 0; i < 3; i++)
                    to[i] = (at[i] = (double)vertex->position[i]) + (double)delta->position[i];
                for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
                    const th_bounds_sphere *sphere = &b->sphere[vertex->bone[k]];
                    th_dmat34_point(&b->palette[vertex->bone[k]], at, from);
                    th_dmat34_point(&b->palette[vertex->bone[k]], to, moved);
                    for (int i = 0; i < 3; i++) {
                        from[i] = moved[i] - from[i];
                        moved[i] -= sphere->centre[i];
                    }
                    b->morph[count++] = (th_bounds_morph){vertex->bone[k], target->weight, length_of(from),
                                                          fmax(sphere->radius, length_of(moved)) - sphere->radius};
                }
            }
        }
    qsort(b->morph, count, sizeof *b->morph, compare_morphs);
    for (size_t i = 0; i < count; i++) {
        const th_bounds_morph *next = &b->morph[i];
        th_bounds_morph *last = b->morph_count > 0 ? &b->morph[b->morph_count - 1] : NULL;
        if (last && compare_morphs(last, next) == 0) {
            last->farthest = fmax(last->farthest, next->farthest);
            last->growth = fmax(last->growth, next->growth);
        } else {
            b->morph[b->morph_count++] = *next;
        }
    }
}

/* A sphere for each bone with vertices, around the centre of their box. boxes: by bone. */
static void find_spheres(th_bounds_proxy *b, th_box *boxes)
{
    const th_model *model = b->model;
    for (uint32_t i = 0; i < model->bone_count; i++) {
        b->palette[i] = th_dmat34_from(model->bones[i].inverse_bind);
        boxes[i] = TH_BOX_EMPTY;
    }
    for (int pass = 0; pass < 2; pass++) {
        const bool has_centres = pass == 1;
        for (uint32_t i = 0; i < model->bone_count && has_centres; i++)
            for (int n = 0; n < 3; n++)
                b->sphere[i].centre[n] = boxes[i].low[n] / 2 + boxes[i].high[n] / 2;
        for (uint32_t m = 0; m < model->mesh_count; m++)
            for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++) {
                const th_vertex *vertex = &model->meshes[m].vertices[v];
                const float *p = vertex->position;
                for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
                    const uint32_t bone = vertex->bone[k];
                    double in_joint[3];
                    th_dmat34_point(&b->palette[bone], (double[3]){(double)p[0], (double)p[1], (double)p[2]}, in_joint);
                    if (has_centres)
                        b->sphere[bone].radius =
                            fmax(b->sphere[bone].radius, distance(in_joint, b->sphere[bone].centre));
                    else
                        th_box_add(&boxes[bone], in_joint);
                }
            }
    }
    if (b->morph)
        list_morphs(b);
    size_t morph = 0;
    for (uint32_t i = 0; i < model->bone_count; i++)
        if (boxes[i].low[0] <= boxes[i].high[0]) {
            for (; morph < b->morph_count && b->morph[morph].sphere == i; morph++)
                b->morph[morph].sphere = b->sphere_count;
            b->joint[b->sphere_count] = model->bones[i].joint;
            b->sphere[b->sphere_count++] = b->sphere[i];
        }
}

bool th_bounds_proxy_init(th_bounds_proxy *b, const th_model *model, th_interpolation interpolation)
{
    assert(b && model);
    const uint32_t joints = model->joint_count, bones = model->bone_count;
    const size_t most = joints > bones ? joints : bones;
    uint64_t deltas = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t t = 0; t < model->meshes[m].target_count; t++)
            deltas += model->meshes[m].targets[t].delta_count;

    th_arena *arena = th_arena_create();
    *b = (th_bounds_proxy){.model = model,
                           .interpolation = interpolation,
                           .arena = arena,
                           .vertex_count = th_vertices_count(model),
                           .joint = th_arena_new(arena, uint32_t, most),
                           .sphere = th_arena_new(arena, th_bounds_sphere, most),
                           .pose = th_arena_new(arena, th_dmat34, (size_t)joints + bones)};
    if (deltas > 0) {
        b->weights = th_arena_new(arena, double, model->weight_count);
        b->morph = th_arena_new(arena, th_bounds_morph, TH_MAX_INFLUENCES * deltas);
        if (deltas * TH_BOUNDS_MAX_SAMPLES * (model->clip_count + 1u) <= DELTA_BUDGET)
            b->positions = th_arena_alloc(arena, b->vertex_count, sizeof *b->positions);
    }
    th_box *boxes = th_arena_new(arena, th_box, bones);
    if (th_arena_failed(arena))
        return false;

    b->palette = b->pose + joints;
    if (b->vertex_count > 0) {
        find_spheres(b, boxes);
        return true;
    }
    for (uint32_t j = 0; j < joints; j++)
        b->joint[j] = j;
    b->sphere_count = joints;
    return true;
}

void th_bounds_proxy_fini(th_bounds_proxy *b)
{
    th_arena_destroy(b->arena);
}

void th_bounds_proxy_pose(th_bounds_proxy *b, const th_clip *clip, double ticks)
{
    th_exact_pose(b->model, clip, ticks, b->interpolation, b->pose);
    th_exact_palette(b->model, b->pose, b->palette);
    if (!b->weights)
        return;
    th_exact_weights(b->model, clip, ticks, b->interpolation, b->weights);
    size_t first = 0;
    for (uint32_t m = 0; b->positions && m < b->model->mesh_count; m++) {
        th_morph_positions(&b->model->meshes[m], b->weights, b->positions + first);
        first += b->model->meshes[m].vertex_count;
    }
}

/* ---- points near the ground ---- */

#define VERTEX_BUDGET ((size_t)1 << 24) /* vertices skinned per pass over a clip */
#define ROUNDING      1e-3

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

static size_t block_count(const th_ground_contacts *s)
{
    return (s->count + TH_GROUND_BLOCK - 1) / TH_GROUND_BLOCK;
}

static size_t block_end(const th_ground_contacts *s, size_t block)
{
    const size_t end = (block + 1) * TH_GROUND_BLOCK;
    return end < s->count ? end : s->count;
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

bool th_ground_contacts_init(th_ground_contacts *s, th_bounds_proxy *b, const th_clip *clip, const th_moments *moments)
{
    assert(s && b && moments && moments->count > 0);
    const th_model *model = b->model;
    const uint32_t bones = model->bone_count, most_of_block = TH_GROUND_BLOCK * TH_MAX_INFLUENCES;
    const size_t step = b->vertex_count * moments->count / VERTEX_BUDGET + 1, /* every so many vertices */
        most = b->vertex_count / step + model->joint_count + 1, blocks = most / TH_GROUND_BLOCK + 1;
    th_arena *arena = th_arena_create();
    *s = (th_ground_contacts){
        .arena = arena,
        .point = th_arena_new(arena, th_ground_contact, most),
        .block = th_arena_new(arena, th_ground_block, blocks),
        .bones = th_arena_new(arena, uint32_t, blocks * (bones < most_of_block ? bones : most_of_block)),
        .ground = HUGE_VAL};
    uint32_t *seen = th_arena_new(arena, uint32_t, bones); /* by bone: the last block that has it, plus 1 */
    double *lowest = th_arena_new(arena, double, moments->count);
    if (th_arena_failed(arena))
        return false;

    size_t nth = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++, nth++)
            if (nth % step == 0)
                s->point[s->count++] =
                    (th_ground_contact){.vertex = &model->meshes[m].vertices[v], .index = nth, .lowest = HUGE_VAL};
    for (uint32_t j = 0; b->vertex_count == 0 && j < model->joint_count; j++)
        s->point[s->count++] = (th_ground_contact){.joint = j, .lowest = HUGE_VAL};

    /* The boxes and the bones of blocks; only of vertices. */
    for (size_t at = 0; b->vertex_count > 0 && at < block_count(s); at++) {
        th_ground_block *block = &s->block[at];
        th_box box = TH_BOX_EMPTY;
        block->first_bone = at > 0 ? block[-1].first_bone + block[-1].bone_count : 0;
        for (size_t n = at * TH_GROUND_BLOCK; n < block_end(s, at); n++) {
            const th_vertex *vertex = s->point[n].vertex;
            const float *p = vertex->position;
            th_box_add(&box, (double[3]){(double)p[0], (double)p[1], (double)p[2]});
            for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++)
                if (seen[vertex->bone[k]] != at + 1) {
                    seen[vertex->bone[k]] = (uint32_t)at + 1;
                    s->bones[block->first_bone + block->bone_count++] = vertex->bone[k];
                }
        }
        for (int i = 0; i < 3; i++) {
            block->middle[i] = box.low[i] / 2 + box.high[i] / 2;
            block->half[i] = box.high[i] / 2 - box.low[i] / 2;
        }
    }

    /* The lowest point at each moment. The block that it was in at the moment before is looked at first, because most
     * others are then too high. */
    size_t best = 0;
    for (uint32_t i = 0; i < moments->count; i++) {
        th_bounds_proxy_pose(b, clip, moments->ticks[i]);
        lowest[i] = s->count > 0 ? lowest_of_block(s, b, best) : HUGE_VAL;
        for (size_t n = 0; n < block_count(s); n++) {
            if (block_floor(s, b, n) > lowest[i])
                continue;
            const double y = lowest_of_block(s, b, n);
            best = y < lowest[i] ? n : best;
            lowest[i] = fmin(lowest[i], y);
        }
    }
    qsort(lowest, moments->count, sizeof *lowest, th_compare_doubles);
    s->ground = lowest[0];
    s->usual = lowest[moments->count / 2];
    return true;
}

void th_ground_contacts_fini(th_ground_contacts *s)
{
    th_arena_destroy(s->arena);
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

/* ---- the bounds ---- */

#define MARGIN     (1.0 / 500)
#define BARE_JOINT (1.0 / 20) /* of the model's size */

/* The spheres of the proxy's current pose.
 *
 * With weights of targets of at least 0 that sum to at most 1, a vertex is a mean of where it is without targets and of
 * where each target alone puts it. So the radius of its sphere is at most the same mean of the radii. For other weights
 * the longest moves add up. */
static void spheres_now(const th_bounds_proxy *b, th_bounds_sphere *out)
{
    size_t at = 0;
    for (uint32_t i = 0; i < b->sphere_count; i++) {
        double sum = 0, mean = 0, most = 0;
        bool is_mean = true;
        for (; at < b->morph_count && b->morph[at].sphere == i; at++) {
            const th_bounds_morph *morph = &b->morph[at];
            const double weight = b->weights[morph->weight];
            is_mean &= weight >= 0;
            sum += weight;
            mean += weight * morph->growth;
            most += fabs(weight) * morph->farthest;
        }
        const double radius = b->sphere[i].radius + (is_mean && sum <= 1 ? fmin(mean, most) : most);
        const th_dmat34 *joint = &b->pose[b->joint[i]];
        th_dmat34_point(joint, b->sphere[i].centre, out[i].centre);
        out[i].radius = b->vertex_count > 0 ? radius * th_dmat34_stretch(joint) : b->model->size * BARE_JOINT;
    }
}

/* A path that is d away from the middle of its chord is a curve at most d / 4 away from the chords of its halves. A
 * sphere that encloses the ends and a sphere of radius d in the middle has a margin of d / 2 there. */
static void grow_middle(const th_bounds_sphere *before, th_bounds_sphere *middle, const th_bounds_sphere *after)
{
    double chord[3];
    for (int i = 0; i < 3; i++)
        chord[i] = before->centre[i] / 2 + after->centre[i] / 2;
    double bulge = middle->radius - (before->radius / 2 + after->radius / 2);
    middle->radius += distance(chord, middle->centre) + fabs(bulge);
}

/* Two passes: boxes give the bounding spheres their centres, then these grow. */
typedef struct search {
    th_bounds_proxy *proxy;
    th_bounds_sphere *spheres;         /* of the proxy, at three moments */
    th_box boxes[TH_BOUNDS_PARTS + 1]; /* the last one is of the whole clip */
    th_bounds_sphere *of[TH_BOUNDS_PARTS + 1];
    th_bounds *out;
    bool has_centres;
} search;

/* Adds the proxy's spheres to those of the parts from first to last, and to that of the whole clip. */
static void add_spheres(search *s, uint32_t first, uint32_t last, const th_bounds_sphere *spheres)
{
    for (uint32_t n = 0; n < s->proxy->sphere_count; n++) {
        const double *at = spheres[n].centre, radius = spheres[n].radius;
        for (uint32_t p = first; p <= TH_BOUNDS_PARTS; p++) {
            if (p > last && p < TH_BOUNDS_PARTS)
                continue;
            if (s->has_centres) {
                s->of[p]->radius = fmax(s->of[p]->radius, distance(s->of[p]->centre, at) + radius);
            } else {
                th_box_add(&s->boxes[p], (double[3]){at[0] - radius, at[1] - radius, at[2] - radius});
                th_box_add(&s->boxes[p], (double[3]){at[0] + radius, at[1] + radius, at[2] + radius});
            }
        }
        if (s->has_centres)
            s->out->reach = fmax(s->out->reach, hypot(at[0], at[2]) + radius);
    }
}

static uint32_t part_at(const th_clip *clip, double ticks)
{
    const uint32_t last = TH_BOUNDS_PARTS - 1;
    const double part = ticks / clip->duration_ticks * TH_BOUNDS_PARTS;
    return part < last ? (uint32_t)part : last;
}

/* Adds the spheres at each moment of the clip, enlarged to cover the motion between moments. */
static void watch_clip(search *s, const th_clip *clip, const th_moments *moments)
{
    assert(moments->count % 2 == 1); /* both ends, and midpoints */
    th_bounds_proxy *b = s->proxy;
    const double *ticks = moments->ticks;
    th_bounds_sphere *before = s->spheres, *middle = before + b->sphere_count, *after = middle + b->sphere_count;
    for (uint32_t i = 0; i < moments->count; i++) {
        th_bounds_sphere *now = i % 2 ? middle : after;
        th_bounds_proxy_pose(b, clip, ticks[i]);
        spheres_now(b, now);
        if (i % 2)
            continue;
        for (uint32_t n = 0; i > 0 && n < b->sphere_count; n++)
            grow_middle(&before[n], &middle[n], &after[n]);
        const bool is_pose = !clip || !(clip->duration_ticks > 0); /* which belongs to all parts */
        const uint32_t first = is_pose ? 0 : part_at(clip, ticks[i > 0 ? i - 2 : 0]),
                       last = is_pose ? TH_BOUNDS_PARTS - 1 : part_at(clip, ticks[i]);
        if (i > 0) {
            add_spheres(s, first, last, before);
            add_spheres(s, first, last, middle);
        }
        add_spheres(s, first, last, after);
        after = before;
        before = now;
    }
}

/* One pass over one clip, the rest pose, or all. Returns false if out of memory. */
static bool watch_clips(search *s, uint32_t clip)
{
    const th_model *model = s->proxy->model;
    bool good = true;
    for (uint32_t c = 0; c <= model->clip_count && good; c++) { /* the last index is the rest pose */
        const bool is_rest = c == model->clip_count;
        if (clip != TH_ALL_CLIPS && clip != (is_rest ? TH_NO_INDEX : c))
            continue;
        const th_clip *played = is_rest ? NULL : &model->clips[c];
        th_moments moments;
        th_ground_contacts points = {0};
        good = th_moments_init(&moments, model, played, clip == TH_ALL_CLIPS ? model->clip_count + 1 : 1);
        if (good)
            watch_clip(s, played, &moments);
        if (good && s->has_centres) {
            good = th_ground_contacts_init(&points, s->proxy, played, &moments);
            s->out->lowest_y = fmin(s->out->lowest_y, points.ground);
        }
        th_ground_contacts_fini(&points);
        free(moments.ticks);
    }
    return good;
}

static bool find_bounds(th_bounds_proxy *b, uint32_t clip, th_bounds *out)
{
    assert(b->sphere_count > 0);
    search s = {
        .proxy = b, .out = out, .spheres = th_arena_new(b->arena, th_bounds_sphere, 3 * (size_t)b->sphere_count)};
    for (uint32_t p = 0; p <= TH_BOUNDS_PARTS; p++) {
        s.boxes[p] = TH_BOX_EMPTY;
        s.of[p] = p < TH_BOUNDS_PARTS ? &out->parts[p] : &out->all;
    }
    if (!s.spheres || !watch_clips(&s, clip))
        return false;
    for (uint32_t p = 0; p <= TH_BOUNDS_PARTS; p++)
        for (int i = 0; i < 3; i++)
            s.of[p]->centre[i] = s.boxes[p].low[i] / 2 + s.boxes[p].high[i] / 2;
    s.has_centres = true;
    out->lowest_y = HUGE_VAL;
    if (!watch_clips(&s, clip))
        return false;
    for (uint32_t p = 0; p <= TH_BOUNDS_PARTS; p++)
        s.of[p]->radius += MARGIN * (s.of[p]->radius + distance(s.of[p]->centre, (double[3]){0, 0, 0}));
    return true;
}

th_result th_model_bounds(const th_model *model, uint32_t clip, th_interpolation interpolation, th_bounds *out,
                          th_error *err)
{
    assert(model && out && (clip < model->clip_count || clip == TH_NO_INDEX || clip == TH_ALL_CLIPS));
    assert((unsigned)interpolation < TH_INTERPOLATION_COUNT);
    *out = (th_bounds){.reach = 0};
    th_bounds_proxy b;
    bool good = th_bounds_proxy_init(&b, model, interpolation);
    if (good && b.sphere_count > 0)
        good = find_bounds(&b, clip, out);
    th_bounds_proxy_fini(&b);
    return good ? TH_OK : th_fail(err, TH_ERR_MEMORY, "there is no memory left to bound %s", model->name);
}
