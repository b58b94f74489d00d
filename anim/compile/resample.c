/* Clips for the kernel: resampled at equal distances, or in stretches with a distance each, with few frames that keep
 * the measured error within the bound.
 *
 * The error compares the kernel's palette with the exact palette at virtual vertices around each joint. So it covers
 * everything: resampling, normalised linear interpolation instead of slerp, rounding. The kernel used has no fused
 * multiply-add, so that the same file compiles to the same clips on every machine. */
#include "resample.h"

#include "exact_cache.h"
#include "frames.h"
#include "kernels/isa.h"
#include "model/bounds_proxy.h"
#include "shown.h"

#include <anim/exact.h>
#include <anim/weights.h>
#include <core/cache_line.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INTERVALS  65536u
#define MANY_FRAMES    2048u
#define MAX_CLIP_BYTES ((size_t)256 << 20)
#define MAX_REFINEMENT 8u    /* times the authored rate, */
#define MAX_RATE_HZ    240.0 /* or up to this one, whichever is more */
#define MAX_STRETCHED  32    /* the same where a clip has several rates: angles may turn about within a frame */

#define FRAMES_OF_A_POSE 2 /* cost of writing a frame, in measured poses */
#define TOO_LONG         "measuring its error would take too long"

#define MEASURED_AT_ONCE 8u /* times per batch; a multiple of the width of either kernel */

/* The times at which a clip is measured: all authored key times, both ends, then times between them: the middles, and
 * the quarters too where splines may cross a straight line twice, and more where they turn several times.
 *
 * A stepped clip uses only the times of keys that differ from the one before, and measures only between them, because
 * rounding decides on which side of a key its own time lies. */
typedef struct schedule {
    double *times;   /* ascending, distinct authored times; then the measured ones, ascending */
    size_t authored; /* number of the former */
    size_t count;    /* of both */
    bool splines;
    bool is_stepped; /* frames hold until the next one, as the keys do */
} schedule;

/* Three numbers, one an axis, and a zero: four vectorise better. */
typedef double axes __attribute__((vector_size(32), aligned(8)));

/* Virtual vertices around a bone's joint, in mesh space: a centre and the half axes of a shell or of a box of
 * vertices. */
typedef struct probe {
    double center[3];
    axes half[3]; /* x, y and z of them */
} probe;

/* A grid over a clip, and where an attempt fails on it. */
typedef struct cell_grid {
    double duration, per_clip; /* a fraction if the last cell is shorter than the others */
    uint32_t cells;            /* without that one */
    uint8_t *fails;            /* by cell: 1 at the first of a frame's cells if its error is beyond the bound */
    const char *frames;        /* at the beginning of each cell, and at the end of the last; or NULL */
} cell_grid;

struct th_resampler {
    const th_compiled_model *compiled;
    const th_model *model;
    th_arena *arena;
    th_model measured;                /* with a bone for each socket behind its own: G is their palette entry */
    probe *probes;                    /* one per measured bone */
    th_exact_cache caches[2], *cache; /* of a clip, and of that which shows what it hides; one of them */
    th_shown shown;
    const th_clip *shown_clip; /* NULL: it hides nothing */
    const th_kernels *kernels;
    double *reaches, *weights; /* of weights: th_weight_reaches; exact values, then errors */
    float *frames;             /* three of keys, for th_frame_writer */
    float *palettes, *sockets; /* MEASURED_AT_ONCE palettes, and as many times all sockets */
    float *matrices;           /* for as many times as the kernel has lanes */
    size_t palette_floats;
    uint64_t layers; /* of the clip's channels, beyond one each: see th_channel_cost */
    double suspect; /* ticks of the last attempt's largest error: measured first, so that a bad attempt fails at once */
    int64_t budget;
};

/* ---- error ---- */

/* A box of vertices. */
typedef struct box {
    float low[3], high[3];
} box;

static void find_boxes(const th_model *model, box *boxes)
{
    for (uint32_t b = 0; b < model->bone_count; b++)
        boxes[b] = (box){{HUGE_VALF, HUGE_VALF, HUGE_VALF}, {-HUGE_VALF, -HUGE_VALF, -HUGE_VALF}};
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++) {
            const th_vertex *vertex = &model->meshes[m].vertices[v];
            for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++)
                for (int i = 0; i < 3; i++) {
                    float *low = &boxes[vertex->bone[k]].low[i], *high = &boxes[vertex->bone[k]].high[i];
                    *low = fminf(*low, vertex->position[i]);
                    *high = fmaxf(*high, vertex->position[i]);
                }
        }
}

/* boxes: scratch, by measured bone. */
static void set_probes(th_resampler *c, box *boxes)
{
    const double shell = TH_SHELL_M / TH_REFERENCE_SIZE_M * c->model->size;
    const th_dmat34 *rest = c->caches[0].pose, *shown = c->caches[1].pose;
    bool has_boxes = false;
    th_exact_pose(c->model, NULL, 0, TH_INTERPOLATION_AUTHORED, c->caches[0].pose);
    th_exact_pose(c->model, th_shown_clip(&c->shown, NULL), 0, TH_INTERPOLATION_AUTHORED, c->caches[1].pose);
    for (uint32_t b = 0; b < c->measured.bone_count; b++) {
        const th_bone *bone = &c->measured.bones[b];
        probe *p = &c->probes[b];
        th_dmat34 inverse_bind = th_dmat34_from(bone->inverse_bind), mesh_from_joint = TH_DMAT34_IDENTITY, scene;
        th_dmat34_invert(&inverse_bind, &mesh_from_joint);
        const th_dmat34 at_rest = th_dmat34_mul(rest[bone->joint], inverse_bind),
                        as_shown = th_dmat34_mul(shown[bone->joint], inverse_bind);
        *p = (probe){.center = {mesh_from_joint.m[3], mesh_from_joint.m[7], mesh_from_joint.m[11]}};
        /* Nothing is hidden at a socket, which has no mesh, if a clip shows it. */
        const bool is_shown = b >= c->model->bone_count || th_dmat34_invert(&at_rest, &scene);
        if (is_shown && th_dmat34_invert(&as_shown, &scene)) {
            /* Converts 3 cm in the scene, where nothing is hidden, to mesh space. */
            for (int axis = 0; axis < 3; axis++)
                for (int row = 0; row < 3; row++)
                    p->half[row][axis] = scene.m[4 * row + axis] * shell;
            continue;
        }
        /* A joint that is flattened at rest, a way to hide parts: no point of its mesh can be 3 cm away. The probe is
         * the box of its vertices, and without vertices a point. */
        if (!has_boxes)
            find_boxes(&c->measured, boxes);
        has_boxes = true;
        for (int i = 0; i < 3 && boxes[b].low[i] <= boxes[b].high[i]; i++) {
            const double low = (double)boxes[b].low[i], high = (double)boxes[b].high[i];
            p->center[i] = (low + high) / 2;
            p->half[i][i] = (high - low) / 2;
        }
    }
}

/* The square of the largest distance between where the probe is and where it should be. */
static double probe_error(const probe *p, const th_dmat34 *exact, const float *played)
{
    axes plus = {0}, minus = {0};
    for (int row = 0; row < 12; row += 4) {
        double d[4];
        for (int i = 0; i < 4; i++)
            d[i] = (double)played[row + i] - exact->m[row + i];
        const double center = d[0] * p->center[0] + d[1] * p->center[1] + d[2] * p->center[2] + d[3];
        const axes side = d[0] * p->half[0] + d[1] * p->half[1] + d[2] * p->half[2];
        plus += (center + side) * (center + side);
        minus += (center - side) * (center - side);
    }
    double largest = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double here = plus[axis] > minus[axis] ? plus[axis] : minus[axis];
        if (!isfinite(plus[axis] + minus[axis]))
            return HUGE_VAL;
        largest = here > largest ? here : largest;
    }
    return largest;
}

static double duration_of(const th_compiled_clip *compiled_clip)
{
    return compiled_clip->clip ? compiled_clip->clip->duration_ticks : 0;
}

/* An interval of clip time, in ticks. */
typedef struct span {
    double begin, end;
} span;

/* Measures a clip, a batch of times after the other. */
typedef struct measurement {
    th_resampler *c;
    th_frame_writer *frames;
    const cell_grid *grid; /* gets what fails; NULL: stops at the first that does */
    uint32_t frame_cells;  /* cells in a frame's interval */
    double ticks[MEASURED_AT_ONCE];
    uint32_t count;
    th_worst worst;
} measurement;

static bool goes_on(const measurement *m)
{
    return m->c->budget > 0 && (m->grid || m->worst.error <= m->c->compiled->bound);
}

static uint8_t *fails_at(const measurement *m, double ticks)
{
    const double cell = fmin(m->grid->cells - 1.0, ticks / m->grid->duration * m->grid->per_clip);
    return m->grid->fails + (uint32_t)cell / m->frame_cells * m->frame_cells;
}

/* Measures what has been collected. */
static void measure_batch(measurement *m)
{
    th_resampler *c = m->c;
    const uint32_t count = m->count;
    assert(count <= MEASURED_AT_ONCE && MEASURED_AT_ONCE % c->kernels->width == 0);
    const th_compiled_model *compiled = c->compiled;
    const th_compiled_clip *compiled_clip = m->frames->compiled_clip;
    const double duration = duration_of(compiled_clip);
    const size_t socket_floats = (size_t)compiled->socket_count * TH_ENTRY;
    for (uint32_t first = 0; first < count; first += c->kernels->width) {
        th_lanes lanes;
        char *palettes[TH_MAX_WIDTH];
        float *sockets[TH_MAX_WIDTH];
        for (uint32_t i = 0; i < c->kernels->width; i++) {
            palettes[i] = (char *)(c->palettes + (first + i) * c->palette_floats);
            sockets[i] = c->sockets + (first + i) * socket_floats;
            const double at = m->ticks[first + i < count ? first + i : 0], ratio = duration > 0 ? at / duration : 0;
            float alpha;
            const uint32_t interval = th_compiled_clip_interval(compiled_clip, ratio, &alpha);
            const uint32_t written = th_frame_writer_reach(m->frames, interval);
            c->budget -= (int64_t)(written * (compiled->track_count + c->layers)) / FRAMES_OF_A_POSE;
            th_compiled_clip_seek(compiled_clip, compiled->program.frame_bytes, ratio, &lanes, i);
        }
        th_kernels_pose(c->kernels, &compiled->program, &lanes, NULL, (th_output){.format = TH_FORMAT_F32}, c->matrices,
                        palettes);
        th_sockets_write(compiled->sockets, compiled->socket_count, TH_POSE_MATRICES, c->kernels->width, c->matrices,
                         sockets);
    }
    for (uint32_t i = 0; i < count; i++) {
        bool kept;
        const th_dmat34 *exact = th_exact_cache_palette(c->cache, m->ticks[i], &kept);
        const float *palette = c->palettes + i * c->palette_floats, *sockets = c->sockets + i * socket_floats;
        th_worst here = {0};
        /* Bones at rest have one error, so that once in a while is enough. */
        const uint32_t moving = c->cache->moving_count, measured = i == 0 ? c->measured.bone_count : moving;
        for (uint32_t k = 0; k < measured; k++) {
            const uint32_t b = c->cache->bones[k], bone_count = c->model->bone_count;
            const float *played = b < bone_count ? palette + b * TH_ENTRY : sockets + (b - bone_count) * TH_ENTRY;
            const double error = probe_error(&c->probes[b], k < moving ? &exact[k] : &c->cache->rest[k], played);
            if (error > here.error)
                here = (th_worst){error, m->ticks[i], c->measured.bones[b].joint};
        }
        here.error = sqrt(here.error);
        uint32_t joint = 0;
        th_exact_weights(c->model, compiled_clip->clip, m->ticks[i], compiled->interpolation, c->weights);
        for (uint32_t k = 0; k < c->model->weight_count; k++)
            c->weights[k] -= (double)palette[c->model->bone_count * TH_ENTRY + k];
        const double error = th_weight_error(c->model, c->reaches, c->weights, &joint);
        if (error > here.error)
            here = (th_worst){error, m->ticks[i], joint};
        if (here.error > m->worst.error)
            m->worst = here;
        if (m->grid)
            *fails_at(m, m->ticks[i]) |= here.error > compiled->bound;
        /* See TH_COMPILE_BUDGET. */
        c->budget -= kept ? (c->model->joint_count + 1) / 2 : (int64_t)(c->model->joint_count + c->layers);
        c->budget -= c->model->weight_count;
    }
    m->count = 0;
}

static void measure_at(measurement *m, double ticks)
{
    if (m->grid && *fails_at(m, ticks))
        return;
    m->ticks[m->count++] = ticks;
    if (m->count == MEASURED_AT_ONCE)
        measure_batch(m);
}

/* Index of the first measured time at or after `ticks`. */
static size_t first_measured(const schedule *s, double ticks)
{
    size_t low = s->authored, high = s->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->times[middle] < ticks)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Positions between two frames of 16-bit keys are rounded: the most that it may be. */
#define HALF (0.5 / TH_SHARES)

/* Measures a clip whose stretches cover the span. Stops early once beyond the bound, or goes on to tell which cells
 * are: see measurement. */
static th_worst measure(th_resampler *c, th_frame_writer *frames, span over, const schedule *s, const cell_grid *grid)
{
    static const double lines[] = {0.25, 0.75}, splines[] = {0.25, 0.5, 0.75},
                        ends[] = {TH_STEPPED_KEY_TOLERANCE, 1 - TH_STEPPED_KEY_TOLERANCE};
    const th_compiled_clip *compiled_clip = frames->compiled_clip;
    const double frame_cells = grid ? round(grid->per_clip / compiled_clip->stretches->rate) : 0;
    measurement m = {.c = c, .frames = frames, .grid = grid, .frame_cells = (uint32_t)fmax(1, frame_cells)};
    if (!grid && c->suspect >= over.begin && c->suspect <= over.end) {
        measure_at(&m, c->suspect);
        measure_batch(&m);
    }

    /* The scheduled times, in four sweeps. The first meets the middle of two cells, so that cells that fail cost
     * little. */
    const size_t first = first_measured(s, over.begin);
    for (size_t k = 0; k < 4; k++)
        for (size_t i = first + (k + 2) % 4; i < s->count && s->times[i] <= over.end && goes_on(&m); i += 4)
            measure_at(&m, s->times[i]);

    /* A quarter and three quarters of each interval: there normalised linear interpolation differs most from slerp; in
     * the middle they agree. A spline usually differs most from a straight line in the middle. A held frame differs
     * most from moving tracks at its ends, which also show whether it begins with its key. Of frames further apart than
     * cells, the scheduled times tell enough of these. */
    const double *parts = s->is_stepped ? ends : s->splines ? splines : lines;
    const double off = c->compiled->program.keys == TH_KEYS_16 && !s->is_stepped ? HALF : 0;
    const uint32_t part_count = s->splines && !s->is_stepped ? 3 : 2;
    const double units = 0x1p44 / duration_of(compiled_clip);
    for (uint32_t i = 0; i < compiled_clip->stretch_count && over.end > over.begin && m.frame_cells == 1; i++) {
        const th_stretch *stretch = &compiled_clip->stretches[i];
        for (uint32_t f = stretch->first_frame; f < stretch->last_frame && goes_on(&m); f++)
            for (uint32_t p = 0; p < part_count; p++) {
                /* Drops the last bits, so that the same time is found in the cache if it was computed another way. */
                const double ticks = th_frames_ticks(compiled_clip, stretch, f + parts[p] + off);
                measure_at(&m, round(ticks * units) / units);
            }
    }
    measure_batch(&m);
    return m.worst;
}

/* ---- choosing the rate ---- */

static bool same_value(const th_track *track, size_t width, uint32_t a, uint32_t b)
{
    return memcmp(track->values + a * width, track->values + b * width, width * sizeof *track->values) == 0;
}

/* Times of the keys within a clip. */
typedef struct key_times {
    double *times, duration;
    size_t count;
    bool jumps;           /* only of keys that differ from the one before; else where tracks have their values */
    const th_track *last; /* whose times are there */
} key_times;

static void add_times(key_times *t, const th_track *track, size_t width)
{
    /* Most tracks of a file have the same times. */
    if (!t->jumps && t->last && t->last->key_count == track->key_count &&
        memcmp(t->last->times, track->times, track->key_count * sizeof *track->times) == 0)
        return;
    for (uint32_t k = 0; k < track->key_count; k++)
        if (track->times[k] > 0 && track->times[k] < t->duration &&
            !(t->jumps && same_value(track, width, k, k > 0 ? k - 1 : 0)))
            t->times[t->count++] = t->jumps ? track->times[k] : th_exact_key_ticks(track, k);
    t->last = track->key_count > 1 ? track : t->last;
}

/* Authored times closer than this count as equal. */
static double noise_of(const schedule *s)
{
    assert(s->authored > 0);
    return 1e-5 * s->times[s->authored - 1];
}

/* For th_each_turn. times: NULL to count. */
static void add_measured(void *ctx, double ticks)
{
    key_times *t = ctx;
    if (t->times)
        t->times[t->count] = ticks;
    t->count++;
}

/* Returns times == NULL if out of memory; otherwise the caller frees times. */
static schedule schedule_of(const th_clip *clip, bool is_stepped)
{
    enum { MOST_PARTS = 3 };
    static const double middles[] = {0.5}, quarters[MOST_PARTS] = {0.5, 0.25, 0.75};
    size_t most = 2;
    bool splines = false;
    key_times turns = {0};
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        const th_channel *channel = &clip->channels[i];
        most += (size_t)channel->translation.key_count + channel->rotation.key_count + channel->scale.key_count;
        splines |=
            channel->translation.tangents || channel->rotation.tangents || channel->scale.tangents || channel->curves;
        th_each_turn(channel, clip->duration_ticks, add_measured, &turns);
    }
    for (uint32_t t = 0; t < clip->weight_track_count; t++) {
        most += clip->weight_tracks[t].track.key_count;
        splines |= clip->weight_tracks[t].track.tangents || clip->weight_tracks[t].curves;
    }
    double *times = malloc(((2 + MOST_PARTS) * most + turns.count) * sizeof *times);
    if (!times)
        return (schedule){0};

    key_times keys = {.times = times, .duration = clip->duration_ticks, .jumps = is_stepped};
    times[keys.count++] = 0;
    times[keys.count++] = clip->duration_ticks;
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        const th_channel *channel = &clip->channels[i];
        add_times(&keys, &channel->translation, 3);
        add_times(&keys, &channel->rotation, 4);
        add_times(&keys, &channel->scale, 3);
    }
    for (uint32_t i = 0; i < clip->weight_track_count; i++)
        add_times(&keys, &clip->weight_tracks[i].track, 1);
    assert(keys.count <= most);
    qsort(times, keys.count, sizeof *times, th_compare_doubles);
    size_t distinct = 1;
    for (size_t i = 1; i < keys.count; i++)
        if (times[i] > times[distinct - 1])
            times[distinct++] = times[i];

    schedule s = {
        .times = times, .authored = distinct, .count = distinct, .splines = splines, .is_stepped = is_stepped};
    if (!is_stepped || distinct == 1) {
        memcpy(times + distinct, times, distinct * sizeof *times);
        s.count += distinct;
    }
    /* Parts of each interval between authored times, except intervals that come from rounding. */
    const double *parts = splines ? quarters : middles, shortest = is_stepped ? noise_of(&s) : 0;
    const size_t part_count = splines ? MOST_PARTS : 1;
    for (size_t i = 1; i < distinct; i++)
        for (size_t p = 0; p < part_count && times[i] - times[i - 1] > shortest; p++)
            times[s.count++] = times[i - 1] + (times[i] - times[i - 1]) * parts[p];
    assert(s.count <= (2 + MOST_PARTS) * most);
    turns = (key_times){.times = times, .count = s.count};
    for (uint32_t i = 0; i < clip->channel_count; i++)
        th_each_turn(&clip->channels[i], clip->duration_ticks, add_measured, &turns);
    s.count = turns.count;
    qsort(times + distinct, s.count - distinct, sizeof *times, th_compare_doubles);
    return s;
}

/* Euclid's algorithm on lengths: the largest step that divides both, within `noise`. */
static double common_step(double a, double b, double noise)
{
    assert(a > 0);
    while (b > noise) {
        double rest = fmod(a, b);
        a = b;
        b = rest > b - noise ? 0 : rest;
    }
    return a;
}

/* The most frequent interval between authored keys, or 0 if fewer than half are alike. */
static double usual_step(const schedule *s)
{
    assert(s->authored > 1);
    const double noise = noise_of(s);
    size_t count = 0;
    double usual = 0, *steps = malloc(s->authored * sizeof *steps);
    for (size_t i = 1; steps && i < s->authored; i++)
        if (s->times[i] - s->times[i - 1] > noise)
            steps[count++] = s->times[i] - s->times[i - 1];
    if (count > 0)
        qsort(steps, count, sizeof *steps, th_compare_doubles);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && steps[end] - steps[begin] <= noise; end++)
            ;
        if (2 * (end - begin) >= count)
            usual = steps[begin];
    }
    free(steps);
    return usual;
}

/* Intervals of the coarsest grid that contains all authored keys: their common step. */
static double common_intervals(const schedule *s)
{
    assert(s->authored > 1);
    double noise = noise_of(s), step = s->times[s->authored - 1], common = 0;
    for (size_t i = 1; i < s->authored; i++)
        if (s->times[i] - s->times[i - 1] > noise)
            step = common_step(step, s->times[i] - s->times[i - 1], noise);
    for (size_t i = 1; i < s->authored;
         i++) /* one by one: a small error of the step adds up to whole intervals at the end */
        common += round((s->times[i] - s->times[i - 1]) / step);
    return fmax(1, common); /* 0 if all keys are so close that they count as one */
}

/* The common intervals. If they are very short (hand-made times, reduced keys, inserted keys), those of the usual step.
 * If there is none: one tick, if a frame can be that short, else the average. */
static double authored_intervals(const schedule *s, double ticks_per_second)
{
    assert(s->authored > 1 && ticks_per_second > 0);
    const double duration = s->times[s->authored - 1], average = (double)s->authored - 1, common = common_intervals(s);
    if (common <= average * MAX_REFINEMENT || common / duration * ticks_per_second <= MAX_RATE_HZ)
        return common;
    const double usual = usual_step(s);
    const double step = usual > 0 ? usual : ticks_per_second <= MAX_RATE_HZ ? 1 : duration / average;
    return fmax(1, round(duration / step));
}

/* ---- attempts ---- */

static bool fits(const th_resampler *c, double intervals)
{
    const th_compiled_model *compiled = c->compiled;
    /* Frames are written twice: for an attempt, and to be kept. */
    const size_t most = compiled->max_bytes, used = th_arena_bytes(compiled->arena);
    const size_t room = most == 0 ? SIZE_MAX : most > used ? (most - used) / 2 : 0;
    const size_t most_bytes = room < MAX_CLIP_BYTES ? room : MAX_CLIP_BYTES;
    return intervals <= MAX_INTERVALS && intervals <= (double)most_bytes / (double)(compiled->program.frame_bytes + 1);
}

/* Ends the clip with one more stretch. */
static void add_stretch(th_compiled_clip *compiled_clip, span over, uint32_t intervals)
{
    assert(compiled_clip->stretch_count < TH_MAX_STRETCHES);
    const double duration = duration_of(compiled_clip), early = compiled_clip->is_stepped ? 1 + TH_TIME_ROUNDING : 1;
    compiled_clip->stretches[compiled_clip->stretch_count++] = (th_stretch){
        .begin = duration > 0 ? over.begin / duration : 0,
        .rate = intervals * early / (duration > 0 ? (over.end - over.begin) / duration : 1),
        .first_frame = compiled_clip->interval_count,
        .last_frame = compiled_clip->interval_count + intervals,
    };
    compiled_clip->interval_count += intervals;
    compiled_clip->seeks_stretch |= over.begin > 0;
    for (uint32_t i = compiled_clip->stretch_count; i < TH_MAX_STRETCHES; i++)
        compiled_clip->stretches[i].begin = HUGE_VAL;
}

static th_resampled try_clip(th_resampler *c, const th_compiled_clip *compiled_clip, span over, const schedule *s,
                             const cell_grid *grid, const char *first)
{
    assert(compiled_clip->interval_count > 0 && compiled_clip->interval_count <= MAX_INTERVALS);
    const th_compiled_model *compiled = c->compiled;
    const size_t frame_count = th_frames_count(&compiled->program, compiled_clip->interval_count);
    th_resampled a = {.compiled_clip = *compiled_clip, .reason = TOO_LONG};
    if (c->budget <= 0)
        return a;
    a.keys = malloc(frame_count * compiled->program.frame_bytes + 1);
    if (!a.keys)
        return (th_resampled){.out_of_memory = true};
    a.compiled_clip.keys = a.keys;
    th_frame_writer frames = {.compiled = compiled,
                              .compiled_clip = &a.compiled_clip,
                              .cursors = c->cache->cursors,
                              .numbers = c->frames,
                              .weights = c->weights,
                              .out = a.keys};
    th_frame_writer_begin(&frames, first);
    a.worst = measure(c, &frames, over, s, grid);
    if (grid) /* which may not have seen all of them */
        th_frame_writer_reach(&frames, a.compiled_clip.interval_count - 1);
    c->suspect = a.worst.ticks;
    if (c->budget > 0 && (grid || a.worst.error <= compiled->bound))
        return a;
    a.reason = c->budget <= 0 ? TOO_LONG : "no rate up to 240 Hz or 8 times the authored one holds the error bound";
    free(a.keys);
    a.keys = NULL;
    return a;
}

/* Tries stretches that cover `over`: writes their frames while it measures them, and then also as they are where
 * nothing is hidden. grid: see measurement; then keys that miss the bound are kept, too. first: see
 * th_frame_writer_begin. */
static th_resampled try_stretches(th_resampler *c, const th_compiled_clip *compiled_clip, span over, const schedule *s,
                                  const cell_grid *grid, const char *first)
{
    th_resampled a = try_clip(c, compiled_clip, over, s, grid, first);
    if (!a.keys || !c->shown_clip)
        return a;
    th_compiled_clip as_shown = *compiled_clip;
    as_shown.clip = c->shown_clip;
    c->cache = &c->caches[1];
    th_resampled shown = try_clip(c, &as_shown, over, s, grid, first);
    c->cache = &c->caches[0];
    if (shown.keys) {
        free(shown.keys);
        a.worst = shown.worst.error > a.worst.error ? shown.worst : a.worst;
        c->suspect = a.worst.ticks;
        return a;
    }
    free(a.keys);
    shown.compiled_clip.clip = compiled_clip->clip;
    return shown;
}

/* Tries one rate on a part of the clip, as if there were no other. */
static th_resampled try_part(th_resampler *c, const th_clip *clip, span over, uint32_t intervals, const schedule *s,
                             const cell_grid *grid, const char *first)
{
    th_compiled_clip part = {.clip = clip, .is_stepped = s->is_stepped};
    add_stretch(&part, over, intervals);
    return try_stretches(c, &part, over, s, grid, first);
}

static th_resampled try_intervals(th_resampler *c, const th_clip *clip, uint32_t intervals, const schedule *s)
{
    return try_part(c, clip, (span){0, clip ? clip->duration_ticks : 0}, intervals, s, NULL, NULL);
}

/* ---- one rate ---- */

/* Refines the authored grid until the bound is met. *fails: intervals of the last attempt that missed it. */
static th_resampled refine(th_resampler *c, const th_clip *clip, const schedule *s, uint32_t *fails)
{
    *fails = 0;
    if (!clip || !(clip->duration_ticks > 0))
        return try_intervals(c, clip, 1, s);
    double authored = authored_intervals(s, clip->ticks_per_second);
    double rate_hz = authored / clip->duration_ticks * clip->ticks_per_second;
    th_resampled a = {.reason = "it would take too many frames"};
    for (uint32_t times = 1; times <= MAX_REFINEMENT || times * rate_hz <= MAX_RATE_HZ; times *= 2) {
        double intervals = authored * times;
        if (!fits(c, intervals))
            break;
        a = try_intervals(c, clip, (uint32_t)intervals, s);
        if (a.keys || a.out_of_memory || c->budget <= 0)
            break;
        *fails = (uint32_t)intervals;
    }
    return a;
}

/* Finds the fewest intervals that meet the bound: halves the grid's count, which visits its divisors. Stepped clips
 * keep their grid, because any other would move the starts of frames away from the keys. known: how many times the
 * authored rate holds the bound, while half of that does not; 0: not known. best: an attempt at `known` times, if it
 * has keys. */
static th_resampled find_rate(th_resampler *c, const th_clip *clip, const schedule *s, uint32_t known,
                              th_resampled best)
{
    assert(s->times && s->count > 0);
    uint32_t fails, holds;
    if (known > 0) {
        const double authored = authored_intervals(s, clip->ticks_per_second);
        holds = (uint32_t)(authored * known);
        fails = known > 1 ? holds / 2 : 0;
    } else {
        best = refine(c, clip, s, &fails);
        holds = best.compiled_clip.interval_count;
        if (!best.keys || s->is_stepped)
            return best;
    }
    const uint32_t near = holds > MANY_FRAMES ? holds / 16 : 0; /* the fewest would take long to find */
    while (holds - fails > 1 + near && c->budget > 0) {
        const uint32_t middle = fails + (holds - fails) / 2;
        th_resampled a = try_intervals(c, clip, middle, s);
        if (a.out_of_memory) {
            free(best.keys);
            return a;
        }
        if (a.keys) {
            free(best.keys);
            best = a;
        }
        *(a.keys ? &holds : &fails) = middle;
    }
    return best.keys ? best : try_intervals(c, clip, holds, s);
}

/* ---- stretches ---- */

/* Sets the level of each cell, along the path of least cost (A. Viterbi, 1967). A change of level costs as much as
 * `change` frames. from: room for a level by cell and level. */
static void find_path(const uint8_t *need, uint32_t cell_count, const double *frames, uint32_t level_count,
                      double change, uint8_t *from, uint8_t *path)
{
    double cost[TH_MOST_LEVELS] = {0};
    uint32_t cheapest = 0;
    for (uint32_t i = 0; i < cell_count; i++) {
        const uint32_t before = cheapest;
        const double changed = cost[before] + change;
        for (uint32_t level = 0; level < level_count; level++) {
            const bool changes = changed < cost[level];
            from[(size_t)i * level_count + level] = (uint8_t)(changes ? before : level);
            cost[level] = level < need[i] ? HUGE_VAL : (changes ? changed : cost[level]) + frames[level];
        }
        cheapest = 0;
        for (uint32_t level = 1; level < level_count; level++)
            cheapest = cost[level] < cost[cheapest] ? level : cheapest;
    }
    for (uint32_t i = cell_count, level = cheapest; i-- > 0; level = from[(size_t)i * level_count + level])
        path[i] = (uint8_t)level;
}

uint32_t th_stretches_choose(const uint8_t *need, uint32_t cell_count, const double *frames, uint32_t level_count,
                             uint32_t most, th_cells *out)
{
    assert(need && frames && out && cell_count > 0 && most > 0);
    assert(level_count > 0 && level_count <= TH_MOST_LEVELS);
    uint8_t *path = malloc((size_t)cell_count * (1 + level_count));
    if (!path)
        return 0;
    uint32_t count = most + 1;
    for (double change = 2; count > most; change *= 2) {
        find_path(need, cell_count, frames, level_count, change, path + cell_count, path);
        count = 0;
        for (uint32_t begin = 0, end; begin < cell_count; begin = end, count++) {
            for (end = begin + 1; end < cell_count && path[end] == path[begin]; end++)
                ;
            if (count < most)
                out[count] = (th_cells){begin, end, path[begin]};
        }
    }
    free(path);
    return count;
}

/* ---- several rates ---- */

enum {
    ONE = 5,        /* the level of one frame a cell; each below is of half as many */
    MOST_RUN = 256, /* cells tried at once; a multiple of 1 << ONE */
};

/* What one clip needs where. */
typedef struct survey {
    th_resampler *c;
    const th_clip *clip;
    const schedule *schedule;
    cell_grid grid;
    double frames[TH_MOST_LEVELS]; /* in a cell, ascending: 1 / 32 to 1 / 2, 1, 2, ... */
    uint32_t level_count;
    uint8_t *need; /* by cell: the lowest level that holds the bound, or level_count */
} survey;

static double line_at(const cell_grid *g, double cell)
{
    return cell < g->per_clip ? g->duration * cell / g->per_clip : g->duration;
}

/* The grid of the usual step. Where that is known imprecisely, each key on the grid makes it more precise. */
static cell_grid grid_of(const schedule *s, double authored)
{
    const double duration = s->times[s->authored - 1];
    double step = usual_step(s);
    const double noise = fmin(noise_of(s), step / 8);
    for (size_t i = 1; step > 0 && i < s->authored; i++) {
        const double line = round(s->times[i] / step);
        if (line > 0 && fabs(s->times[i] - line * step) <= noise)
            step = s->times[i] / line;
    }
    const double cells = step > 0 ? duration / step : authored, whole = round(cells);
    const double per_clip = whole > 0 && fabs(cells - whole) * step <= noise ? whole : cells;
    return (cell_grid){.duration = duration, .per_clip = per_clip, .cells = (uint32_t)fmin(per_clip, MAX_INTERVALS)};
}

static void add_level(survey *v, double frames)
{
    if (v->level_count < TH_MOST_LEVELS)
        v->frames[v->level_count++] = frames;
}

static const char *frame_at(const survey *v, uint32_t cell)
{
    return v->grid.frames ? v->grid.frames + cell * v->c->compiled->program.frame_bytes : NULL;
}

/* Tries a level on cells [begin, end), and sets what fails. */
static th_resampled try_cells(survey *v, uint32_t begin, uint32_t end, uint32_t level)
{
    const span over = {line_at(&v->grid, begin), line_at(&v->grid, end)};
    const double intervals = (end - begin) * v->frames[level];
    memset(v->grid.fails + begin, 0, end - begin);
    if (fits(v->c, intervals))
        return try_part(v->c, v->clip, over, (uint32_t)intervals, v->schedule, &v->grid, frame_at(v, begin));
    memset(v->grid.fails + begin, 1, end - begin);
    return (th_resampled){0};
}

/* The same without frames. Returns false if there is no memory or budget for it. */
static bool check_cells(survey *v, uint32_t begin, uint32_t end, uint32_t level)
{
    th_resampled a = try_cells(v, begin, end, level);
    free(a.keys);
    return !a.out_of_memory && v->c->budget > 0;
}

/* Tries a level of more than one frame a cell wherever none below holds. */
static bool try_level(survey *v, uint32_t level)
{
    for (uint32_t begin = 0, end; begin < v->grid.cells; begin = end) {
        for (end = begin; end < v->grid.cells && end - begin < MOST_RUN && v->need[end] == v->level_count; end++)
            ;
        if (end > begin && !check_cells(v, begin, end, level))
            return false;
        for (uint32_t i = begin; i < end; i++)
            v->need[i] = (uint8_t)(v->grid.fails[i] ? v->level_count : level);
        end += end == begin;
    }
    return true;
}

/* Whether `size` cells from `begin` on all need the level. */
static bool all_need(const survey *v, uint32_t begin, uint32_t size, uint32_t level)
{
    for (uint32_t i = begin; i < begin + size; i++)
        if (i >= v->grid.cells || v->need[i] != level)
            return false;
    return true;
}

/* Tries a level of one frame in several cells wherever the next one holds. */
static bool try_wider(survey *v, uint32_t level)
{
    const uint32_t size = 1u << (ONE - level);
    for (uint32_t begin = 0, end; begin < v->grid.cells; begin = end) {
        for (end = begin; end - begin < MOST_RUN && all_need(v, end, size, level + 1); end += size)
            ;
        if (end > begin && !check_cells(v, begin, end, level))
            return false;
        for (uint32_t i = begin; i < end; i += size)
            if (!v->grid.fails[i])
                memset(v->need + i, (int)level, size);
        end += end == begin ? size : 0;
    }
    return true;
}

/* *one: an attempt of one frame a cell; the caller frees its keys. Returns false if some cell needs more than there is,
 * or without memory or budget. */
static bool find_needs(survey *v, th_resampled *one)
{
    *one = try_cells(v, 0, v->grid.cells, ONE);
    v->grid.frames = one->keys;
    const bool holds = one->keys && one->worst.error <= v->c->compiled->bound;
    for (uint32_t i = 0; i < v->grid.cells; i++)
        v->need[i] = (uint8_t)(v->grid.fails[i] ? v->level_count : ONE);
    if (!one->keys)
        return false;
    if (!holds) { /* The cell of the largest error may be lost at any level. */
        const double cell = v->c->suspect / v->grid.duration * v->grid.per_clip;
        const uint32_t worst_cell = (uint32_t)fmin(v->grid.cells - 1.0, cell);
        if (!check_cells(v, worst_cell, worst_cell + 1, v->level_count - 1) || v->grid.fails[worst_cell])
            return false;
    }
    for (uint32_t level = ONE + 1; !holds && level < v->level_count; level++)
        if (!try_level(v, level))
            return false;
    for (uint32_t level = ONE; level-- > 0;)
        if (!try_wider(v, level))
            return false;
    return !memchr(v->need, (int)v->level_count, v->grid.cells);
}

/* Ends the clip with a stretch from cell `begin` on, with few intervals that meet the bound; tries rates from a level
 * on. Returns false if none does. */
static bool append(survey *v, uint32_t begin, double cells, uint32_t level, th_compiled_clip *compiled_clip)
{
    th_resampler *c = v->c;
    const span over = {line_at(&v->grid, begin), line_at(&v->grid, begin + cells)};
    const char *first = frame_at(v, begin);
    uint32_t fails = level > 0 ? (uint32_t)(cells * v->frames[level - 1]) : 0;
    /* From one frame a cell on, the frames are those that showed what the cells need. */
    uint32_t holds = level >= ONE && cells >= 1 ? (uint32_t)(cells * v->frames[level]) : 0;
    for (; level < v->level_count && holds == 0 && c->budget > 0; level++) {
        const double intervals = ceil(cells * v->frames[level]);
        if (!fits(c, intervals))
            return false;
        th_resampled a = try_part(c, v->clip, over, (uint32_t)intervals, v->schedule, NULL, first);
        free(a.keys);
        *(a.keys ? &holds : &fails) = (uint32_t)intervals;
    }
    while (holds > fails + 1 + holds / 64 && c->budget > 0) {
        const uint32_t middle = fails + (holds - fails) / 2;
        th_resampled a = try_part(c, v->clip, over, middle, v->schedule, NULL, first);
        free(a.keys);
        *(a.keys ? &holds : &fails) = middle;
    }
    if (holds == 0 || !fits(c, (double)compiled_clip->interval_count + holds))
        return false;
    add_stretch(compiled_clip, over, holds);
    return true;
}

/* Several rates must save this part of the frames of one rate, and as many frames. */
#define SAVES        0.25
#define SAVES_FRAMES 32

/* Chooses the stretches, and tries them if they save enough. *most: frames of the highest level. */
static th_resampled try_runs(survey *v, double *most)
{
    const cell_grid *g = &v->grid;
    th_cells runs[TH_MAX_STRETCHES];
    const bool rest = g->per_clip > g->cells; /* the shorter cell at the end is a stretch of its own */
    const uint32_t count =
        th_stretches_choose(v->need, g->cells, v->frames, v->level_count, TH_MAX_STRETCHES - rest, runs);
    double several = 0;
    *most = 0;
    for (uint32_t i = 0; i < count; i++) {
        several += (runs[i].end - runs[i].begin) * v->frames[runs[i].level];
        *most = fmax(*most, v->frames[runs[i].level]);
    }
    const double one = *most * g->cells;
    if (count == 0 || count + rest == 1 || several > (1 - SAVES) * one || several > one - SAVES_FRAMES)
        return (th_resampled){0};
    th_compiled_clip compiled_clip = {.clip = v->clip};
    for (uint32_t i = 0; i < count; i++)
        if (!append(v, runs[i].begin, runs[i].end - runs[i].begin, runs[i].level, &compiled_clip))
            return (th_resampled){0};
    if (rest && !append(v, g->cells, g->per_clip - g->cells, ONE, &compiled_clip))
        return (th_resampled){0};
    return try_stretches(v->c, &compiled_clip, (span){0, g->duration}, v->schedule, NULL, NULL);
}

/* Finds stretches of several rates that meet the bound with fewer frames than one rate would. Returns an attempt
 * without keys if there are none. *one: an attempt at the authored rate, if it holds the bound; *known: see find_rate.
 */
static th_resampled find_rates(th_resampler *c, const th_clip *clip, const schedule *s, th_resampled *one,
                               uint32_t *known)
{
    th_resampled a = {0};
    *known = 0;
    *one = a;
    if (!clip || s->is_stepped || s->authored < 3 || th_is_cubic(&c->compiled->program))
        return a;
    const double authored = authored_intervals(s, clip->ticks_per_second);
    survey v = {.c = c, .clip = clip, .schedule = s, .grid = grid_of(s, authored)};
    if (v.grid.cells < 2 || v.grid.cells >= MAX_INTERVALS)
        return a;

    /* Levels: halves of the usual rate, its doubles below the rate of the grid that contains all keys, then the rates
     * that one rate would try. */
    const double rate_hz = v.grid.per_clip / v.grid.duration * clip->ticks_per_second, all = common_intervals(s);
    const double times = round(all / v.grid.per_clip), most_times = 64;
    const bool nested = times > 1 && times <= most_times && fabs(times * v.grid.per_clip - all) < 0.5;
    const double common = nested ? times : 1;
    for (int i = ONE; i > 0; i--)
        add_level(&v, 1.0 / (1 << i));
    for (double frames = 1; frames < common; frames *= 2)
        add_level(&v, frames);
    for (double frames = common; frames <= common * MAX_STRETCHED || frames * rate_hz <= MAX_RATE_HZ; frames *= 2)
        add_level(&v, frames);

    v.need = malloc(2 * (size_t)v.grid.cells);
    v.grid.fails = v.need ? v.need + v.grid.cells : NULL;
    if (v.need && find_needs(&v, one)) {
        double most;
        a = try_runs(&v, &most);
        if (v.grid.per_clip == authored && fits(c, authored * most))
            *known = (uint32_t)fmax(1, most);
    }
    if (a.keys || *known != 1 || one->worst.error > c->compiled->bound) {
        free(one->keys);
        one->keys = NULL;
    }
    free(v.need);
    return a;
}

/* ---- a clip ---- */

static th_resampled compile_as(th_resampler *c, const th_clip *clip, bool is_stepped)
{
    double rest_time = 0;
    schedule s =
        clip ? schedule_of(clip, is_stepped) : (schedule){.times = &rest_time, .count = 1, .is_stepped = is_stepped};
    if (!s.times)
        return (th_resampled){.out_of_memory = true};
    c->suspect = 0;
    c->layers = 0;
    for (uint32_t i = 0; clip && i < clip->channel_count; i++)
        c->layers += th_channel_cost(&clip->channels[i]) - 1;
    uint32_t known = 0;
    c->shown_clip = clip ? th_shown_clip(&c->shown, clip) : NULL;
    th_resampled a = {.out_of_memory =
                          !th_exact_cache_begin(c->cache, clip, 2 * s.count) ||
                          (c->shown_clip && !th_exact_cache_begin(&c->caches[1], c->shown_clip, 2 * s.count))},
                 one;
    if (!a.out_of_memory)
        a = find_rates(c, clip, &s, &one, &known);
    if (!a.keys && !a.out_of_memory)
        a = find_rate(c, clip, &s, known, one);
    if (!a.keys && !a.out_of_memory && known > 0)
        a = find_rate(c, clip, &s, 0, (th_resampled){0});
    if (clip)
        free(s.times);
    return a;
}

/* Where keys hold, or two are at one time as far as files tell. */
static bool track_jumps(const th_track *track, size_t width)
{
    for (uint32_t k = 1; k < track->key_count; k++) {
        const double length = track->times[k] - track->times[k - 1];
        if ((track->steps || length <= TH_TIME_ROUNDING * track->times[k]) && !same_value(track, width, k, k - 1))
            return true;
    }
    return false;
}

static bool curve_jumps(const th_curve *curve)
{
    for (uint32_t k = 1; k < curve->key_count; k++)
        if (curve->pieces[k - 1].holds && curve->values[k] != curve->values[k - 1])
            return true;
    return false;
}

static bool layers_jump(const th_curve_layer *layers, uint32_t layer_count, uint32_t curve_count)
{
    for (uint32_t l = 0; l < layer_count; l++) {
        if (curve_jumps(&layers[l].weight))
            return true;
        for (uint32_t i = 0; i < curve_count; i++)
            if (curve_jumps(&layers[l].curves[i]))
                return true;
    }
    return false;
}

static bool clip_jumps(const th_clip *clip)
{
    for (uint32_t i = 0; clip && i < clip->channel_count; i++) {
        const th_channel *channel = &clip->channels[i];
        if (track_jumps(&channel->translation, 3) || track_jumps(&channel->rotation, 4) ||
            track_jumps(&channel->scale, 3))
            return true;
        const th_transform_curves *curves = channel->curves;
        if (curves && layers_jump(curves->layers, curves->layer_count, TH_TRANSFORM_CURVES))
            return true;
    }
    for (uint32_t t = 0; clip && t < clip->weight_track_count; t++) {
        const th_weight_curves *curves = clip->weight_tracks[t].curves;
        if (track_jumps(&clip->weight_tracks[t].track, 1) ||
            (curves && layers_jump(curves->layers, curves->layer_count, 1)))
            return true;
    }
    return false;
}

/* What rounding may add up to along a chain of joints, as a part of their coordinates. */
#define ROUNDING 0x1p-18

/* Why a clip misses the bound: for the pose at the last time that did, if a frame there does not hold it. */
static const char *find_reason(th_resampler *c, const th_clip *clip, const char *reason)
{
    th_compiled_clip frame = {.clip = clip};
    add_stretch(&frame, (span){c->suspect, c->suspect + duration_of(&frame)}, 1);
    const double ticks = c->suspect = th_frames_ticks(&frame, frame.stretches, 0);
    const th_resampled a = try_stretches(c, &frame, (span){ticks, ticks}, &(schedule){.count = 0}, NULL, NULL);
    free(a.keys);
    if (a.keys || a.out_of_memory || c->budget <= 0)
        return reason;
    double reach = 0;
    for (uint32_t j = 0; j < c->model->joint_count; j++)
        for (int i = 3; i < 12; i += 4)
            reach =
                fmax(reach, fmax(fabs(c->caches[0].pose[j].m[i]), c->shown_clip ? fabs(c->caches[1].pose[j].m[i]) : 0));
    return a.worst.error <= ROUNDING * reach
               ? "its coordinates are so large that single precision misses the error bound"
           : c->compiled->program.keys == TH_KEYS_16 ? "16-bit keys do not hold its pose"
                                                     : "its pose is more than translation, rotation and scale";
}

/* A clip with jumps becomes held frames. If other tracks move as well, these miss the bound; then the jumps may still
 * be small enough for interpolated frames. */
th_resampled th_resample_clip(th_resampler *resampler, const th_clip *clip, int64_t *budget)
{
    assert(resampler && budget);
    const th_compiled_model *compiled = resampler->compiled;
    const bool step = compiled->program.curve == TH_INTERPOLATION_STEP;
    const bool jumps = compiled->interpolation == TH_INTERPOLATION_AUTHORED && clip_jumps(clip);
    resampler->budget = *budget;
    th_resampled a = compile_as(resampler, clip, step || jumps);
    if (jumps && !a.keys && !a.out_of_memory)
        a = compile_as(resampler, clip, false);
    if (!a.keys && !a.out_of_memory && resampler->budget > 0)
        a.reason = find_reason(resampler, clip, a.reason);
    *budget = resampler->budget;
    return a;
}

void th_resampler_destroy(th_resampler *resampler)
{
    if (!resampler)
        return;
    th_exact_cache_fini(&resampler->caches[0]);
    th_exact_cache_fini(&resampler->caches[1]);
    th_arena_destroy(resampler->arena);
}

th_resampler *th_resampler_create(const th_compiled_model *compiled)
{
    assert(compiled && compiled->program.ops);
    const th_model *model = compiled->model;
    th_arena *arena = th_arena_create();
    th_resampler *c = th_arena_new(arena, th_resampler, 1);
    if (!c) {
        th_arena_destroy(arena);
        return NULL;
    }
    c->arena = arena;
    c->compiled = compiled;
    c->model = model;
    c->kernels =
        th_isa_kernels(th_isa_available(TH_ISA_SSE4) ? TH_ISA_SSE4 : TH_ISA_SCALAR); /* both give the same bytes */
    c->palette_floats = th_cache_line_round(compiled->program.entry_count * TH_ENTRY * sizeof(float)) / sizeof(float);
    c->measured = *model;
    c->measured.bone_count += compiled->socket_count;
    th_bone *bones = th_arena_new(arena, th_bone, c->measured.bone_count);
    c->measured.bones = bones;
    c->probes = th_arena_new(arena, probe, c->measured.bone_count);
    c->reaches = th_weight_reaches(model, arena);
    c->weights = th_arena_new(arena, double, model->weight_count);
    c->frames = th_arena_new(arena, float, 3 * th_frame_numbers(&compiled->program));
    c->palettes = th_arena_new(arena, float, c->palette_floats *MEASURED_AT_ONCE);
    c->sockets = th_arena_new(arena, float, (size_t)compiled->socket_count *TH_ENTRY *MEASURED_AT_ONCE);
    c->matrices =
        th_arena_new(arena, float, th_scratch_floats(&compiled->program, TH_POSE_MATRICES, c->kernels->width));
    box *boxes = th_arena_new(arena, box, c->measured.bone_count);
    c->cache = c->caches;
    for (int n = 0; n < 2; n++)
        th_exact_cache_init(&c->caches[n], &c->measured, compiled->interpolation, arena);
    th_shown_init(&c->shown, compiled, arena);
    if (th_arena_failed(arena)) {
        th_resampler_destroy(c);
        return NULL;
    }
    memcpy(bones, model->bones, model->bone_count * sizeof *bones);
    for (uint32_t s = 0; s < compiled->socket_count; s++)
        bones[model->bone_count + s] = (th_bone){compiled->socket_joints[s], TH_MAT34_IDENTITY};
    set_probes(c, boxes);
    return c;
}
