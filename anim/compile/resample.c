/* Clips for the kernel: resampled at equal distances with the fewest frames that keep the measured error within the
 * bound.
 *
 * The error compares the kernel's palette with the exact palette at virtual vertices around each joint. So it covers
 * everything: resampling, normalised linear interpolation instead of slerp, rounding. The kernel used has no fused
 * multiply-add, so that the same file compiles to the same clips on every machine. */
#include "resample.h"

#include "frames.h"
#include "kernels/isa.h"

#include <throng/anim/exact.h>
#include <throng/anim/weights.h>
#include <throng/core/cache_line.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INTERVALS  65536u
#define MAX_CLIP_BYTES ((size_t)256 << 20)
#define MAX_REFINEMENT 8u    /* times the authored rate, */
#define MAX_RATE_HZ    240.0 /* or up to this one, whichever is more */

#define FRAMES_OF_A_POSE 2 /* cost of writing a frame, in measured poses */
#define TOO_LONG         "measuring its error would take too long"

#define MEASURED_AT_ONCE 8u /* times per batch; a multiple of the width of either kernel */

/* The times at which a clip is measured: all authored key times, both ends, then times between them: the middles, and
 * the quarters too where splines may cross a straight line twice.
 *
 * A stepped clip uses only the times of keys that differ from the one before, and measures only between them, because
 * rounding decides on which side of a key its own time lies. */
typedef struct schedule {
    double *times;
    size_t authored; /* ascending, distinct; the times between follow */
    size_t first;    /* index of the first measured time */
    size_t count;
    bool splines;
    bool is_stepped; /* frames hold until the next one, as the keys do */
} schedule;

/* Virtual vertices around a bone's joint, in mesh space: a centre and the half axes of a shell or of a box of
 * vertices. */
typedef struct probe {
    double center[3], axes[3][3];
} probe;

typedef struct compiler {
    th_compiled_model *compiled;
    const th_model *model;
    probe *probes;    /* one per bone */
    th_dmat34 *pose;  /* joint_count */
    th_dmat34 *exact; /* bone_count */
    const th_kernels *kernels;
    double *reaches, *weights; /* of weights: th_weight_reaches; exact values, then errors */
    float *palettes;           /* MEASURED_AT_ONCE palettes */
    float *matrices;           /* for as many times as the kernel has lanes */
    size_t palette_floats;
    double suspect; /* ticks of the last attempt's largest error: measured first, so that a bad attempt fails at once */
    int64_t budget;
} compiler;

typedef struct worst {
    double error, ticks;
    uint32_t joint;
} worst;

/* ---- error ---- */

/* Returns false for a joint that is flattened at rest, a way to hide parts: no point of its mesh can be 3 cm away. */
static bool set_probe(const compiler *c, const th_bone *bone, probe *p)
{
    th_dmat34 inverse_bind = th_dmat34_from(bone->inverse_bind), mesh_from_joint = TH_DMAT34_IDENTITY;
    th_dmat34_invert(&inverse_bind, &mesh_from_joint);
    th_dmat34 rest = th_dmat34_mul(c->pose[bone->joint], inverse_bind), scene;
    double shell = TH_SHELL_M / TH_REFERENCE_SIZE_M * c->model->size;
    *p = (probe){.center = {mesh_from_joint.m[3], mesh_from_joint.m[7], mesh_from_joint.m[11]}};
    if (!th_dmat34_invert(&rest, &scene))
        return false;
    /* Converts 3 cm in the scene to mesh space. */
    for (int axis = 0; axis < 3; axis++)
        for (int row = 0; row < 3; row++)
            p->axes[axis][row] = scene.m[4 * row + axis] * shell;
    return true;
}

/* A box of vertices. */
typedef struct box {
    float low[3], high[3];
} box;

static box *find_boxes(const th_model *model)
{
    box *boxes = malloc((model->bone_count + 1u) * sizeof *boxes);
    for (uint32_t b = 0; boxes && b < model->bone_count; b++)
        boxes[b] = (box){{HUGE_VALF, HUGE_VALF, HUGE_VALF}, {-HUGE_VALF, -HUGE_VALF, -HUGE_VALF}};
    for (uint32_t m = 0; boxes && m < model->mesh_count; m++)
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++) {
            const th_vertex *vertex = &model->meshes[m].vertices[v];
            for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++)
                for (int i = 0; i < 3; i++) {
                    float *low = &boxes[vertex->bone[k]].low[i], *high = &boxes[vertex->bone[k]].high[i];
                    *low = fminf(*low, vertex->position[i]);
                    *high = fmaxf(*high, vertex->position[i]);
                }
        }
    return boxes;
}

/* Extends the probe to the box. Without vertices it stays a point. */
static void hold_box(const box *vertices, probe *p)
{
    for (int i = 0; i < 3 && vertices->low[i] <= vertices->high[i]; i++) {
        const double low = (double)vertices->low[i], high = (double)vertices->high[i];
        p->center[i] = (low + high) / 2;
        p->axes[i][i] = (high - low) / 2;
    }
}

/* Returns false if out of memory. */
static bool set_probes(compiler *c)
{
    box *boxes = NULL;
    th_exact_pose(c->model, NULL, 0, TH_INTERPOLATION_AUTHORED, c->pose);
    for (uint32_t b = 0; b < c->model->bone_count; b++) {
        if (set_probe(c, &c->model->bones[b], &c->probes[b]))
            continue;
        if (!boxes && !(boxes = find_boxes(c->model)))
            return false;
        hold_box(&boxes[b], &c->probes[b]);
    }
    free(boxes);
    return true;
}

static double probe_error(const probe *p, const th_dmat34 *exact, const float *played)
{
    th_dmat34 difference;
    for (int i = 0; i < 12; i++)
        difference.m[i] = (double)played[i] - exact->m[i];
    double center[3], largest = 0;
    th_dmat34_point(&difference, p->center, center);
    for (int axis = 0; axis < 3; axis++) {
        double plus = 0, minus = 0;
        for (int row = 0; row < 3; row++) {
            const double *r = difference.m + 4 * row, *a = p->axes[axis];
            double side = r[0] * a[0] + r[1] * a[1] + r[2] * a[2];
            plus += (center[row] + side) * (center[row] + side);
            minus += (center[row] - side) * (center[row] - side);
        }
        if (!isfinite(plus + minus))
            return HUGE_VAL;
        largest = fmax(largest, fmax(plus, minus));
    }
    return sqrt(largest);
}

static double duration_of(const th_compiled_clip *compiled_clip)
{
    return compiled_clip->clip ? compiled_clip->clip->duration_ticks : 0;
}

/* Updates *w with the error of weights at a time. palette: what is played. */
static void measure_weights(compiler *c, const th_clip *clip, double ticks, const float *palette, worst *w)
{
    uint32_t joint = 0;
    th_exact_weights(c->model, clip, ticks, c->compiled->interpolation, c->weights);
    for (uint32_t i = 0; i < c->model->weight_count; i++)
        c->weights[i] -= (double)palette[c->model->bone_count * TH_ENTRY + i];
    const double error = th_weight_error(c->model, c->reaches, c->weights, &joint);
    if (error > w->error)
        *w = (worst){error, ticks, joint};
}

/* Updates *w with the errors at up to MEASURED_AT_ONCE times. */
static void measure_some(compiler *c, const th_compiled_clip *compiled_clip, const double *ticks, uint32_t count,
                         worst *w)
{
    assert(count > 0 && count <= MEASURED_AT_ONCE && MEASURED_AT_ONCE % c->kernels->width == 0);
    assert(compiled_clip->keys);
    const th_compiled_model *compiled = c->compiled;
    const double duration = duration_of(compiled_clip);
    for (uint32_t first = 0; first < count; first += c->kernels->width) {
        th_lanes lanes;
        char *palettes[TH_MAX_WIDTH];
        for (uint32_t i = 0; i < c->kernels->width; i++) {
            palettes[i] = (char *)(c->palettes + (first + i) * c->palette_floats);
            const double at = ticks[first + i < count ? first + i : 0];
            th_compiled_clip_seek(compiled_clip, compiled->program.frame_bytes, duration > 0 ? at / duration : 0,
                                  &lanes, i);
        }
        th_kernels_pose(c->kernels, &compiled->program, &lanes, c->kernels->write[TH_PALETTE_F32][false], false,
                        c->matrices, palettes);
    }
    for (uint32_t i = 0; i < count; i++) {
        th_exact_pose(c->model, compiled_clip->clip, ticks[i], c->compiled->interpolation, c->pose);
        th_exact_palette(c->model, c->pose, c->exact);
        for (uint32_t b = 0; b < c->model->bone_count; b++) {
            double error = probe_error(&c->probes[b], &c->exact[b], c->palettes + i * c->palette_floats + b * TH_ENTRY);
            if (error > w->error)
                *w = (worst){error, ticks[i], c->model->bones[b].joint};
        }
        measure_weights(c, compiled_clip->clip, ticks[i], c->palettes + i * c->palette_floats, w);
    }
    c->budget -= (int64_t)count * (c->model->joint_count + c->model->weight_count);
}

/* Measures at the scheduled times, and at a quarter and three quarters of each interval: there normalised linear
 * interpolation differs most from slerp; in the middle they agree. A spline usually differs most from a straight line
 * in the middle. A held frame differs most from moving tracks at its ends, which also show whether it begins with its
 * key. Stops early once beyond the bound. */
static worst measure(compiler *c, const th_compiled_clip *compiled_clip, const schedule *s)
{
    static const double lines[] = {0.25, 0.75}, splines[] = {0.25, 0.5, 0.75},
                        ends[] = {TH_STEPPED_KEY_TOLERANCE, 1 - TH_STEPPED_KEY_TOLERANCE};
    worst w = {0};
    measure_some(c, compiled_clip, &c->suspect, 1, &w);
    for (size_t i = s->first; i < s->count && w.error <= c->compiled->bound && c->budget > 0; i += MEASURED_AT_ONCE)
        measure_some(c, compiled_clip, s->times + i,
                     (uint32_t)(s->count - i < MEASURED_AT_ONCE ? s->count - i : MEASURED_AT_ONCE), &w);
    double duration = duration_of(compiled_clip);
    const double *parts = s->is_stepped ? ends : s->splines ? splines : lines;
    uint32_t part_count = s->splines && !s->is_stepped ? 3 : 2,
             total = duration > 0 ? part_count * compiled_clip->interval_count : 0;
    for (uint32_t i = 0; i < total && w.error <= c->compiled->bound && c->budget > 0; i += MEASURED_AT_ONCE) {
        double between[MEASURED_AT_ONCE];
        uint32_t n = total - i < MEASURED_AT_ONCE ? total - i : MEASURED_AT_ONCE;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t interval = (i + k) / part_count;
            between[k] = duration * (interval + parts[(i + k) % part_count]) / compiled_clip->interval_count;
        }
        measure_some(c, compiled_clip, between, n, &w);
    }
    return w;
}

/* ---- choosing the rate ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool same_value(const th_track *track, size_t width, uint32_t a, uint32_t b)
{
    return memcmp(track->values + a * width, track->values + b * width, width * sizeof *track->values) == 0;
}

/* jumps: only times of keys that differ from the one before. */
static size_t collect_times(const th_track *track, size_t width, double duration, bool jumps, double *out)
{
    size_t n = 0;
    for (uint32_t k = 0; k < track->key_count; k++)
        if (track->times[k] > 0 && track->times[k] < duration &&
            !(jumps && same_value(track, width, k, k > 0 ? k - 1 : 0)))
            out[n++] = track->times[k];
    return n;
}

/* Authored times closer than this count as equal. */
static double noise_of(const schedule *s)
{
    assert(s->authored > 0);
    return 1e-5 * s->times[s->authored - 1];
}

enum { MOST_PARTS = 3 };

/* Adds `parts` of each interval between authored times, except intervals that come from rounding. */
static void add_between(schedule *s, const double *parts, size_t count)
{
    const double shortest = s->is_stepped ? noise_of(s) : 0;
    for (size_t i = 1; i < s->authored; i++)
        for (size_t p = 0; p < count && s->times[i] - s->times[i - 1] > shortest; p++)
            s->times[s->count++] = s->times[i - 1] + (s->times[i] - s->times[i - 1]) * parts[p];
}

/* Returns times == NULL if out of memory; otherwise the caller frees times. */
static schedule schedule_of(const th_clip *clip, bool is_stepped)
{
    static const double middles[] = {0.5}, quarters[MOST_PARTS] = {0.5, 0.25, 0.75};
    size_t most = 2, n = 0;
    bool splines = false;
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        const th_channel *channel = &clip->channels[i];
        most += (size_t)channel->translation.key_count + channel->rotation.key_count + channel->scale.key_count;
        splines |= channel->translation.tangents || channel->rotation.tangents || channel->scale.tangents;
    }
    for (uint32_t t = 0; t < clip->weight_track_count; t++) {
        most += clip->weight_tracks[t].track.key_count;
        splines |= clip->weight_tracks[t].track.tangents != NULL;
    }
    double *times = malloc((1 + MOST_PARTS) * most * sizeof *times);
    if (!times)
        return (schedule){0};
    times[n++] = 0;
    times[n++] = clip->duration_ticks;
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        const th_channel *channel = &clip->channels[i];
        n += collect_times(&channel->translation, 3, clip->duration_ticks, is_stepped, times + n);
        n += collect_times(&channel->rotation, 4, clip->duration_ticks, is_stepped, times + n);
        n += collect_times(&channel->scale, 3, clip->duration_ticks, is_stepped, times + n);
    }
    for (uint32_t t = 0; t < clip->weight_track_count; t++)
        n += collect_times(&clip->weight_tracks[t].track, 1, clip->duration_ticks, is_stepped, times + n);
    assert(n <= most);
    qsort(times, n, sizeof *times, compare_doubles);
    size_t distinct = 1;
    for (size_t i = 1; i < n; i++)
        if (times[i] > times[distinct - 1])
            times[distinct++] = times[i];
    schedule s = {
        .times = times, .authored = distinct, .count = distinct, .splines = splines, .is_stepped = is_stepped};
    if (is_stepped)
        s.first = distinct > 1 ? distinct : 0;
    add_between(&s, splines ? quarters : middles, splines ? MOST_PARTS : 1);
    assert(s.count <= (1 + MOST_PARTS) * most);
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

/* The most frequent interval between authored keys. If fewer than half are alike: one tick, if a frame can be that
 * short, else the average. */
static double usual_step(const schedule *s, double ticks_per_second, double noise)
{
    assert(s->authored > 1);
    const size_t count = s->authored - 1;
    double usual = ticks_per_second <= MAX_RATE_HZ ? 1 : s->times[count] / (double)count;
    double *steps = malloc(count * sizeof *steps);
    if (!steps)
        return usual;
    for (size_t i = 0; i < count; i++)
        steps[i] = s->times[i + 1] - s->times[i];
    qsort(steps, count, sizeof *steps, compare_doubles);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && steps[end] - steps[begin] <= noise; end++)
            ;
        if (2 * (end - begin) >= count && steps[begin] > noise)
            usual = steps[begin];
    }
    free(steps);
    return usual;
}

/* Intervals of the coarsest grid that contains all authored keys: their common step. If there is none (hand-made times,
 * reduced keys, inserted keys), the usual step. */
static double authored_intervals(const schedule *s, double ticks_per_second)
{
    assert(s->authored > 1 && ticks_per_second > 0);
    double duration = s->times[s->authored - 1], noise = noise_of(s), step = duration;
    for (size_t i = 1; i < s->authored; i++)
        if (s->times[i] - s->times[i - 1] > noise)
            step = common_step(step, s->times[i] - s->times[i - 1], noise);
    double average = (double)s->authored - 1, common = 0;
    for (size_t i = 1; i < s->authored;
         i++) /* one by one: a small error of the step adds up to whole intervals at the end */
        common += round((s->times[i] - s->times[i - 1]) / step);
    double rate = ticks_per_second / step;
    if (common <= average * MAX_REFINEMENT || rate <= MAX_RATE_HZ)
        return fmax(1, common); /* 0 if all keys are so close that they count as one */
    return fmax(1, round(duration / usual_step(s, ticks_per_second, noise)));
}

/* A clip resampled at one rate. */
typedef struct attempt {
    void *keys; /* the caller frees it; NULL on failure: */
    const char *reason;
    bool out_of_memory;
    th_compiled_clip compiled_clip;
    worst worst;
} attempt;

static attempt try_intervals(compiler *c, const th_clip *clip, uint32_t intervals, const schedule *s)
{
    assert(intervals > 0 && intervals <= MAX_INTERVALS);
    const th_compiled_model *compiled = c->compiled;
    const double frames_per_cycle = intervals * (s->is_stepped ? 1 + TH_TIME_ROUNDING : 1);
    attempt a = {.compiled_clip = {.clip = clip,
                                   .interval_count = intervals,
                                   .is_stepped = s->is_stepped,
                                   .frames_per_cycle = frames_per_cycle},
                 .reason = TOO_LONG};
    c->budget -= (int64_t)intervals * compiled->track_count / FRAMES_OF_A_POSE;
    if (c->budget <= 0)
        return a;
    a.keys = malloc(th_frames_count(&compiled->program, intervals) * compiled->program.frame_bytes + 1);
    if (!a.keys || !th_frames_write(compiled, &a.compiled_clip, a.keys)) {
        free(a.keys);
        return (attempt){.out_of_memory = true};
    }
    a.compiled_clip.keys = a.keys;
    a.worst = measure(c, &a.compiled_clip, s);
    c->suspect = a.worst.ticks;
    if (c->budget > 0 && a.worst.error <= compiled->bound)
        return a;
    bool moves = clip && clip->duration_ticks > 0;
    a.reason = c->budget <= 0 ? TOO_LONG
               : moves        ? "no rate up to 240 Hz or 8 times the authored one holds the error bound"
                              : "its pose is more than translation, rotation and scale";
    free(a.keys);
    a.keys = NULL;
    return a;
}

/* Refines the authored grid until the bound is met. *fails: intervals of the last attempt that missed it. */
static attempt refine(compiler *c, const th_clip *clip, const schedule *s, uint32_t *fails)
{
    *fails = 0;
    if (!clip || !(clip->duration_ticks > 0))
        return try_intervals(c, clip, 1, s);
    double authored = authored_intervals(s, clip->ticks_per_second);
    double rate_hz = authored / clip->duration_ticks * clip->ticks_per_second;
    double most = MAX_CLIP_BYTES / (double)(c->compiled->program.frame_bytes + 1);
    attempt a = {.reason = "it would take too many frames"};
    for (uint32_t times = 1; times <= MAX_REFINEMENT || times * rate_hz <= MAX_RATE_HZ; times *= 2) {
        double intervals = authored * times;
        if (intervals > MAX_INTERVALS || intervals > most)
            break;
        a = try_intervals(c, clip, (uint32_t)intervals, s);
        if (a.keys || a.out_of_memory || c->budget <= 0)
            break;
        *fails = (uint32_t)intervals;
    }
    return a;
}

/* Finds the fewest intervals that meet the bound: halves the grid's count, which visits its divisors. Stepped clips
 * keep their grid, because any other would move the starts of frames away from the keys. */
static attempt find_rate(compiler *c, const th_clip *clip, const schedule *s)
{
    assert(s->times && s->count > 0);
    uint32_t fails;
    attempt best = refine(c, clip, s, &fails);
    while (best.keys && !s->is_stepped && best.compiled_clip.interval_count - fails > 1 && c->budget > 0) {
        uint32_t middle = fails + (best.compiled_clip.interval_count - fails) / 2;
        assert(fails < middle && middle < best.compiled_clip.interval_count);
        attempt a = try_intervals(c, clip, middle, s);
        if (a.out_of_memory) {
            free(best.keys);
            return a;
        }
        if (a.keys) {
            free(best.keys);
            best = a;
        } else {
            fails = middle;
        }
    }
    return best;
}

/* ---- clips ---- */

static size_t track_bytes(const th_track *track, size_t width)
{
    return track->key_count * sizeof(float) * (1 + width + (track->tangents ? 2 * width : 0));
}

static size_t raw_bytes(const th_clip *clip)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        const th_channel *channel = &clip->channels[i];
        bytes += track_bytes(&channel->translation, 3) + track_bytes(&channel->rotation, 4) +
                 track_bytes(&channel->scale, 3);
    }
    for (uint32_t t = 0; t < clip->weight_track_count; t++)
        bytes += track_bytes(&clip->weight_tracks[t].track, 1);
    return bytes;
}

static void set_report(const attempt *a, const th_compiled_model *compiled, th_clip_report *report)
{
    assert(a->keys && a->worst.error <= compiled->bound);
    const th_compiled_clip *compiled_clip = &a->compiled_clip;
    double ticks_per_second = compiled_clip->clip ? compiled_clip->clip->ticks_per_second : 1,
           duration = duration_of(compiled_clip);
    report->compiled = true;
    report->reason = "";
    report->frame_count = compiled_clip->interval_count + 1;
    report->rate_hz = duration > 0 ? compiled_clip->interval_count / duration * ticks_per_second : 0;
    report->bytes = th_frames_count(&compiled->program, compiled_clip->interval_count) * compiled->program.frame_bytes;
    report->max_error = a->worst.error;
    report->error_joint = a->worst.joint;
    report->error_time_s = a->worst.ticks / ticks_per_second;
}

static attempt compile_as(compiler *c, const th_clip *clip, bool is_stepped)
{
    double rest_time = 0;
    schedule s =
        clip ? schedule_of(clip, is_stepped) : (schedule){.times = &rest_time, .count = 1, .is_stepped = is_stepped};
    if (!s.times)
        return (attempt){.out_of_memory = true};
    c->suspect = 0;
    attempt a = find_rate(c, clip, &s);
    if (clip)
        free(s.times);
    return a;
}

static bool track_jumps(const th_track *track, size_t width)
{
    for (uint32_t k = 1; track->steps && k < track->key_count; k++)
        if (!same_value(track, width, k, 0))
            return true;
    return false;
}

static bool clip_jumps(const th_clip *clip)
{
    for (uint32_t i = 0; clip && i < clip->channel_count; i++) {
        const th_channel *channel = &clip->channels[i];
        if (track_jumps(&channel->translation, 3) || track_jumps(&channel->rotation, 4) ||
            track_jumps(&channel->scale, 3))
            return true;
    }
    for (uint32_t t = 0; clip && t < clip->weight_track_count; t++)
        if (track_jumps(&clip->weight_tracks[t].track, 1))
            return true;
    return false;
}

/* Compiles a clip; if no rate meets the bound, leaves it exact and sets the reason. Returns false if out of memory.
 *
 * A clip with jumps is compiled to held frames. If other tracks move as well, these miss the bound; then the jumps may
 * still be small enough for interpolated frames. */
static bool compile_clip(compiler *c, th_compiled_clip *compiled_clip, th_clip_report *report)
{
    const th_clip *clip = compiled_clip->clip;
    const bool step = c->compiled->program.curve == TH_INTERPOLATION_STEP;
    const bool jumps = c->compiled->interpolation == TH_INTERPOLATION_AUTHORED && clip_jumps(clip);
    attempt a = compile_as(c, clip, step || jumps);
    if (jumps && !a.keys && !a.out_of_memory)
        a = compile_as(c, clip, false);
    report->reason = a.reason;
    if (!a.keys)
        return !a.out_of_memory;
    *compiled_clip = a.compiled_clip;
    set_report(&a, c->compiled, report);
    compiled_clip->keys = th_arena_copy(c->compiled->arena, a.keys, report->bytes, 1);
    free(a.keys);
    return compiled_clip->keys != NULL;
}

static void compiler_fini(compiler *c)
{
    free(c->probes);
    free(c->pose);
    free(c->exact);
    free(c->reaches);
    free(c->weights);
    free(c->palettes);
    free(c->matrices);
}

static bool compiler_init(compiler *c, th_compiled_model *compiled, int64_t budget)
{
    const th_model *model = compiled->model;
    *c = (compiler){.compiled = compiled, .model = model, .budget = budget};
    c->kernels =
        th_isa_kernels(th_isa_available(TH_ISA_SSE4) ? TH_ISA_SSE4 : TH_ISA_SCALAR); /* both give the same bytes */
    c->palette_floats = th_cache_line_round(compiled->program.entry_count * TH_ENTRY * sizeof(float)) / sizeof(float);
    c->probes = calloc(model->bone_count + 1u, sizeof *c->probes);
    c->pose = calloc(model->joint_count, sizeof *c->pose);
    c->exact = calloc(model->bone_count + 1u, sizeof *c->exact);
    c->reaches = th_weight_reaches(model);
    c->weights = calloc(model->weight_count + 1u, sizeof *c->weights);
    c->palettes = th_cache_line_alloc(c->palette_floats * MEASURED_AT_ONCE * sizeof *c->palettes);
    c->matrices = th_cache_line_alloc(th_scratch_floats(&compiled->program, c->kernels->width) * sizeof *c->matrices);
    if (c->probes && c->pose && c->exact && c->reaches && c->weights && c->palettes && c->matrices && set_probes(c))
        return true;
    compiler_fini(c);
    return false;
}

th_result th_compile_clips(th_compiled_model *compiled, th_sampling sampling, int64_t *budget, th_error *err)
{
    assert(compiled && budget && compiled->program.ops);
    assert(!compiled->compiled_clips && !compiled->reports);
    const th_model *model = compiled->model;
    uint32_t count = model->clip_count + 1;
    compiled->compiled_clips = th_arena_new(compiled->arena, th_compiled_clip, count);
    compiled->reports = th_arena_new(compiled->arena, th_clip_report, count);
    compiler c;
    const bool ranged = compiled->program.keys != TH_KEYS_16 || th_frames_find_ranges(compiled, budget);
    if (!compiled->compiled_clips || !compiled->reports || !ranged || !compiler_init(&c, compiled, *budget))
        return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", model->name);
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        const th_clip *clip = i < model->clip_count ? &model->clips[i] : NULL;
        compiled->compiled_clips[i].clip = clip;
        compiled->reports[i].raw_bytes = clip ? raw_bytes(clip) : 0;
        compiled->reports[i].reason = "asked for";
        if (sampling == TH_SAMPLING_COMPILED)
            ok = compile_clip(&c, &compiled->compiled_clips[i], &compiled->reports[i]);
    }
    *budget = c.budget;
    compiler_fini(&c);
    return ok ? TH_OK : th_fail(err, TH_ERR_MEMORY, "%s: out of memory", model->name);
}
