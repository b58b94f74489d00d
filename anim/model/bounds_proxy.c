/* Which poses to look at, and the body in them. */
#include "bounds_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST_MOMENTS 17u               /* however many joints and clips there are */
#define USUAL_PARTS    64u               /* of a clip with few keys */
#define POSE_BUDGET    (1u << 22)        /* joints posed in one pass over the clips: half a second */
#define VERTEX_BUDGET  ((size_t)1 << 24) /* vertices skinned in one pass over a clip */

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

/* Appends the track's keys inside the clip, unless those of the track before are the same. Returns the new count. */
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

/* All key times from 0 to the duration, both included, ascending, each once. NULL when out of memory. */
static double *find_keys(const th_clip *clip, size_t *out_count)
{
    size_t room = 2, count = 0;
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const th_channel *channel = &clip->channels[c];
        room += (size_t)channel->translation.key_count + channel->rotation.key_count + channel->scale.key_count;
    }
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
    qsort(keys, count, sizeof *keys, th_compare_doubles);
    *out_count = keep_different(keys, count);
    return keys;
}

static uint32_t most_moments(const th_model *model, uint32_t clip_count)
{
    uint32_t most = POSE_BUDGET / (model->joint_count + 1) / clip_count | 1;
    if (most < FEWEST_MOMENTS)
        most = FEWEST_MOMENTS;
    return most < TH_BOUNDS_MAX_SAMPLES ? most : TH_BOUNDS_MAX_SAMPLES;
}

static void place_between_keys(th_moments *m, const double *keys, size_t key_count, uint32_t most)
{
    uint32_t intervals = (uint32_t)key_count - 1, parts = (USUAL_PARTS / intervals + 1) / 2 * 2;
    if (parts < 2 || intervals * parts >= most)
        parts = 2;
    m->count = intervals * parts + 1;
    for (uint32_t i = 0; i + 1 < m->count; i++) {
        const double *key = keys + i / parts;
        m->ticks[i] = key[0] + (key[1] - key[0]) * (i % parts) / parts;
    }
    m->ticks[m->count - 1] = keys[intervals];
}

bool th_moments_init(th_moments *m, const th_model *model, const th_clip *clip, uint32_t clip_count)
{
    const uint32_t most = most_moments(model, clip_count);
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

typedef void influence_fn(th_body *b, box *boxes, uint32_t bind, const double in_joint[3]);

/* Each vertex in the space of each joint that it follows. */
static void each_influence(th_body *b, box *boxes, influence_fn *fn)
{
    for (uint32_t m = 0; m < b->model->mesh_count; m++)
        for (uint32_t v = 0; v < b->model->meshes[m].vertex_count; v++) {
            const th_vertex *vertex = &b->model->meshes[m].vertices[v];
            double position[3], in_joint[3];
            doubles(vertex->position, position);
            for (int k = 0; k < 4 && vertex->weight[k] > 0; k++) {
                th_dmat34_point(&b->palette[vertex->bind[k]], position, in_joint);
                fn(b, boxes, vertex->bind[k], in_joint);
            }
        }
}

static void widen_box(th_body *b, box *boxes, uint32_t bind, const double in_joint[3])
{
    (void)b;
    for (int i = 0; i < 3; i++) {
        boxes[bind].low[i] = fmin(boxes[bind].low[i], in_joint[i]);
        boxes[bind].high[i] = fmax(boxes[bind].high[i], in_joint[i]);
    }
}

static void widen_ball(th_body *b, box *boxes, uint32_t bind, const double in_joint[3])
{
    (void)boxes;
    th_ball *ball = &b->ball[bind];
    double x = in_joint[0] - ball->centre[0], y = in_joint[1] - ball->centre[1], z = in_joint[2] - ball->centre[2];
    ball->radius = fmax(ball->radius, sqrt(x * x + y * y + z * z));
}

/* One for each bind that vertices follow, around the middle of their box. */
static bool find_balls(th_body *b)
{
    const th_model *model = b->model;
    box *boxes = calloc((size_t)model->bind_count + 1, sizeof *boxes);
    if (!boxes)
        return false;
    for (uint32_t i = 0; i < model->bind_count; i++) {
        b->palette[i] = th_dmat34_from(model->binds[i].inverse_bind);
        boxes[i] = (box){{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    }
    each_influence(b, boxes, widen_box);
    for (uint32_t i = 0; i < model->bind_count; i++)
        for (int n = 0; n < 3; n++)
            b->ball[i].centre[n] = boxes[i].low[n] / 2 + boxes[i].high[n] / 2;
    each_influence(b, boxes, widen_ball);
    for (uint32_t i = 0; i < model->bind_count; i++)
        if (boxes[i].low[0] <= boxes[i].high[0]) {
            b->joint[b->ball_count] = model->binds[i].joint;
            b->ball[b->ball_count++] = b->ball[i];
        }
    free(boxes);
    return true;
}

bool th_body_init(th_body *b, const th_model *model, th_interpolation interpolation)
{
    const uint32_t joints = model->joint_count, binds = model->bind_count;
    const size_t most = joints > binds ? joints : binds;
    *b = (th_body){.model = model,
                   .interpolation = interpolation,
                   .joint = calloc(most + 1, sizeof *b->joint),
                   .ball = calloc(most + 1, sizeof *b->ball),
                   .pose = calloc((size_t)joints + binds + 1, sizeof *b->pose)};
    for (uint32_t m = 0; m < model->mesh_count; m++)
        b->vertex_count += model->meshes[m].vertex_count;
    if (!b->joint || !b->ball || !b->pose)
        return false;
    b->palette = b->pose + joints;
    if (b->vertex_count > 0)
        return find_balls(b);
    for (uint32_t j = 0; j < joints; j++)
        b->joint[j] = j;
    b->ball_count = joints;
    return true;
}

void th_body_fini(th_body *b)
{
    free(b->joint);
    free(b->ball);
    free(b->pose);
}

void th_body_pose(th_body *b, const th_clip *clip, double ticks)
{
    th_exact_pose(b->model, clip, ticks, b->interpolation, b->pose);
    th_exact_palette(b->model, b->pose, b->palette);
}

/* ---- soles ---- */

/* All vertices, or every n-th. */
static bool list_soles(th_soles *s, const th_body *b, uint32_t moment_count)
{
    const th_model *model = b->model;
    size_t step = b->vertex_count * moment_count / VERTEX_BUDGET + 1, n = 0;
    *s = (th_soles){.sole = calloc(b->vertex_count / step + model->joint_count + 1, sizeof *s->sole),
                    .ground = HUGE_VAL};
    if (!s->sole)
        return false;
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++)
            if (n++ % step == 0)
                s->sole[s->count++] = (th_sole){.vertex = &model->meshes[m].vertices[v], .lowest = HUGE_VAL};
    for (uint32_t j = 0; b->vertex_count == 0 && j < model->joint_count; j++)
        s->sole[s->count++] = (th_sole){.joint = j, .lowest = HUGE_VAL};
    return true;
}

/* What an influence adds to one coordinate. row: of the bind's palette entry. */
static double row_of(const double row[4], const th_vertex *vertex, int influence)
{
    const float *p = vertex->position;
    return (double)vertex->weight[influence] *
           (row[0] * (double)p[0] + row[1] * (double)p[1] + row[2] * (double)p[2] + row[3]);
}

static double height(const th_body *b, const th_sole *sole)
{
    double y = 0;
    if (!sole->vertex)
        return b->pose[sole->joint].m[7];
    for (int k = 0; k < 4 && sole->vertex->weight[k] > 0; k++)
        y += row_of(b->palette[sole->vertex->bind[k]].m + 4, sole->vertex, k);
    return y;
}

bool th_soles_init(th_soles *s, th_body *b, const th_clip *clip, const th_moments *moments)
{
    double *lowest = malloc(moments->count * sizeof *lowest); /* at each moment */
    if (!list_soles(s, b, moments->count) || !lowest) {
        free(lowest);
        return false;
    }
    for (uint32_t i = 0; i < moments->count; i++) {
        lowest[i] = HUGE_VAL;
        th_body_pose(b, clip, moments->ticks[i]);
        for (size_t n = 0; n < s->count; n++) {
            const double y = height(b, &s->sole[n]);
            s->sole[n].lowest = fmin(s->sole[n].lowest, y);
            lowest[i] = fmin(lowest[i], y);
        }
    }
    qsort(lowest, moments->count, sizeof *lowest, th_compare_doubles);
    s->ground = lowest[0];
    s->usual = lowest[moments->count / 2];
    free(lowest);
    return true;
}

void th_soles_fini(th_soles *s)
{
    free(s->sole);
}

void th_sole_place(const th_body *b, const th_sole *sole, double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = sole->vertex ? 0 : b->pose[sole->joint].m[4 * i + 3];
        for (int k = 0; sole->vertex && k < 4 && sole->vertex->weight[k] > 0; k++)
            out[i] += row_of(b->palette[sole->vertex->bind[k]].m + 4 * i, sole->vertex, k);
    }
}
