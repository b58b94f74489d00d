/* The entries that pose a crowd frame by frame: rows of tables, which differ in the scene, in how it is posed, and in
 * what is made for that. */
#include "measure/memory_bandwidth.h"
#include "registry.h"
#include "shared_crowd.h"

#include <anim/behaviour.h>
#include <anim/ceilings.h>
#include <anim/playback.h>
#include <bench/tutorial.h>
#include <bench/validate.h>
#include <core/arena.h>
#include <core/cache_line.h>
#include <core/clock.h>
#include <core/json.h>

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Layers for all characters at a time, as characters between clips play them. */
typedef struct mix_desc {
    uint32_t override_count; /* at least 1 */
    uint32_t masked_count;   /* of these, the last; each with the mask whose index is that of the model */
    uint32_t add_count;
    /* Weights stay, unless they sum to 1 and move with time: */
    bool fades;                /* as in a cross-fade of two */
    uint32_t space_dimensions; /* 1 or 2: as in a blend space, of which three layers are a line or four a square */
} mix_desc;

typedef struct layer_mix {
    const mix_desc *desc;
    th_arena *arena; /* NULL: the entry plays clips */
    th_layer *layers;
    uint8_t *counts;
    th_playback *playbacks; /* of each layer */
    th_crowd_layers table;
} layer_mix;

/* What an entry poses. */
typedef struct benchmark {
    const th_shared_scene *shared;
    th_crowd *crowd;
    void *palette, *scratch;
    void (*run)(void *subject, uint64_t frame); /* the entry's run */
    double (*time_s)(uint64_t frame);           /* scene time of a frame */
    /* Of entries that play layers, otherwise NULL: those of a frame, valid until the next call. */
    const th_crowd_layers *(*layers_at)(void *subject, uint64_t frame);
    layer_mix mix;
    th_shared_crowd sharing; /* of entries whose characters share poses */
    th_jobs *jobs;           /* of entries that share, or pose on several threads, otherwise NULL */
    th_frame *frame;
    th_tutorial **tutorials; /* [model], or NULL */
    bool plays_keys;         /* the tutorials do, of clips with curves */
    th_row *row;             /* of the entry */
} benchmark;

typedef struct variation {
    const char *name;
    /* As in th_entry. NULL: the requested scene, posed in one call on one thread. */
    void (*set_scene)(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc);
    void (*run)(void *subject, uint64_t frame);
    uint32_t number; /* what varies, for the functions of the row */
    mix_desc mix;    /* of blend/ */
    bool is_baseline, is_unchecked;
    /* Any may be NULL. can_have: otherwise the row says why not. prepare: before the first frame; may skip the row.
     * finish: after the palettes were checked. */
    bool (*can_have)(const th_entry *entry, const th_fixture *fixture, th_row *row);
    th_result (*prepare)(benchmark *p, const struct variation *v, th_error *err);
    th_result (*finish)(benchmark *p, const struct variation *v, const th_fixture *fixture, th_error *err);
} variation;

static uint32_t number_of(const th_entry *entry)
{
    return ((const variation *)entry->variant)->number;
}

/* ---- running ---- */

static double time_of(uint64_t frame)
{
    return (double)frame / TH_FRAME_RATE;
}

static void run(void *subject, uint64_t frame)
{
    benchmark *p = subject;
    th_crowd_pose(p->crowd, 0, th_crowd_batch_count(p->crowd), p->time_s(frame), p->palette, p->scratch);
}

/* Runs one frame. All entries write to the same memory, so this removes the effect of the cache contents that another
 * entry left. */
static void begin(void *subject)
{
    benchmark *p = subject;
    p->run(p, 0);
}

static th_frame *frame_of(void *subject)
{
    const benchmark *p = subject;
    return p->frame;
}

/* ---- checking ---- */

static th_validate_run_desc validation_of(benchmark *p)
{
    return (th_validate_run_desc){.scene = p->shared->scene,
                                  .crowd = p->crowd,
                                  .palette = p->palette,
                                  .run = p->run,
                                  .ctx = p,
                                  .time_s = p->time_s,
                                  .layers = p->layers_at,
                                  .plays_keys = p->plays_keys};
}

static void check_left(void *subject, uint64_t frame)
{
    benchmark *p = subject;
    const th_validate_run_desc validation = validation_of(p);
    th_error err;
    if (th_validate_left(&validation, frame, p->row, &err) != TH_OK && !p->row->failure[0])
        th_row_fail(p->row, "%s", err.text);
}

static void check_floor(const th_entry *entry, const th_row *baseline, th_row *row)
{
    const benchmark *p = entry->subject;
    (void)baseline;
    th_validate_floor(p->crowd, p->palette, row);
}

/* Of all clips; and characters that play from authored keys, requested or as a fallback: they cost many times as much.
 */
static json_t *work_json(const th_scene *scene, const th_crowd_work *work, bool is_counted)
{
    uint64_t key_bytes = 0, exact_characters = 0;
    for (uint32_t m = 0; m < scene->compiled_model_count; m++)
        for (uint32_t c = 0; c < th_compiled_model_source(scene->compiled_models[m])->clip_count; c++)
            key_bytes += th_compiled_model_clip_report(scene->compiled_models[m], c)->bytes;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const th_spawn *instance = &scene->instances[i];
        exact_characters +=
            th_scene_clip(scene, i) &&
            !th_compiled_model_clip_report(scene->compiled_models[instance->model], instance->clip)->compiled;
    }
    json_t *json = json_pack("{s:o, s:o, s:o}", "key_bytes", th_json_count(key_bytes), "exact_characters",
                             th_json_count(exact_characters), "palette_bytes", th_json_count(work->palette_bytes));
    if (!is_counted)
        return json;
    json = th_json_set(json, "flops", th_json_count(work->flops));
    return th_json_set(json, "key_bytes_read", th_json_count(work->key_bytes));
}

/* ---- creating ---- */

static void destroy(void *subject)
{
    benchmark *p = subject;
    for (uint32_t m = 0; p->tutorials && m < p->shared->scene->compiled_model_count; m++)
        th_tutorial_destroy(p->tutorials[m]);
    free(p->tutorials);
    th_frame_destroy(p->frame);
    th_shared_crowd_fini(&p->sharing);
    th_jobs_destroy(p->jobs);
    th_arena_destroy(p->mix.arena);
    free(p->scratch);
    th_crowd_destroy(p->crowd);
    free(p);
}

static th_result create(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                        th_error *err)
{
    const variation *v = entry->variant;
    (void)desc;
    if (v->can_have && !v->can_have(entry, fixture, row))
        return TH_OK;
    const th_shared_scene *shared = entry->shared;
    const th_scene *scene = shared->scene;
    benchmark *p = calloc(1, sizeof *p);
    if (!p)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", entry->name);
    *p = (benchmark){.shared = shared, .palette = fixture->palette, .run = entry->run, .time_s = time_of, .row = row};
    entry->subject = p;
    entry->frame = frame_of;
    for (uint32_t m = 0; m < scene->compiled_model_count; m++) {
        const char *obstacle = th_compiled_model_obstacle(scene->compiled_models[m], entry->palette);
        if (!obstacle)
            continue;
        th_row_skip(row, "%s: %s", th_compiled_model_source(scene->compiled_models[m])->name, obstacle);
        return TH_OK;
    }
    th_result result = th_scene_crowd(scene, entry->isa, entry->palette, &p->crowd, err);
    if (result != TH_OK)
        return result;
    p->scratch = th_cache_line_alloc(th_crowd_scratch_bytes(p->crowd));
    if (!p->scratch)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the scratch of one thread");
    row->time_unit = "us";
    row->threads = 1;
    row->characters = scene->instance_count;
    row->bones = th_crowd_bone_count(p->crowd);
    result = v->prepare ? v->prepare(p, v, err) : TH_OK;
    if (result != TH_OK || row->skipped || v->is_unchecked)
        return result;

    entry->check = check_left;
    entry->summarize = check_floor;
    th_validate_run_desc validation = validation_of(p);
    if (shared->desc.compile.sampling == TH_SAMPLING_COMPILED && entry->palette == TH_FORMAT_F32 && !p->layers_at)
        result = th_fixture_reference(fixture, shared, p->time_s(TH_VALIDATE_FRAME), &validation.reference, err);
    const th_crowd_work work = th_crowd_count_work(p->crowd);
    row->own = work_json(scene, &work, !p->mix.arena);
    if (result == TH_OK)
        result = th_validate_run(&validation, row, err);
    return result == TH_OK && v->finish ? v->finish(p, v, fixture, err) : result;
}

static void keep_scene(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)entry, (void)fixture, (void)desc;
}

/* But for the name and the shape, on the best kernel. */
static th_entry entry_of(const variation *v)
{
    return (th_entry){
        .variant = v,
        .is_baseline = v->is_baseline,
        .set_scene = v->set_scene ? v->set_scene : keep_scene,
        .create = create,
        .before = begin,
        .run = v->run ? v->run : run,
        .destroy = destroy,
    };
}

/* ---- pose/ and limit/: every kernel, and its baselines ---- */

/* Interpolates as the file says, whatever was requested. */
static void as_authored(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)entry, (void)fixture;
    desc->compile.sampling = TH_SAMPLING_EXACT;
    desc->compile.interpolation = TH_INTERPOLATION_AUTHORED;
}

static void run_tutorial(void *subject, uint64_t frame)
{
    benchmark *p = subject;
    const th_scene *scene = p->shared->scene;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const th_spawn *instance = &scene->instances[i];
        float *palette = (float *)((char *)p->palette + th_crowd_palette_offset(p->crowd, i));
        th_tutorial_palette(p->tutorials[instance->model], instance->clip,
                            th_scene_clip_time(scene, i, p->time_s(frame)), palette);
    }
}

static th_result prepare_tutorials(benchmark *p, const variation *v, th_error *err)
{
    const th_scene *scene = p->shared->scene;
    th_result result = TH_OK;
    p->tutorials = calloc(scene->compiled_model_count, sizeof(th_tutorial *));
    if (!p->tutorials)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", v->name);
    for (uint32_t m = 0; m < scene->compiled_model_count && result == TH_OK; m++) {
        const th_model *model = th_compiled_model_source(scene->compiled_models[m]);
        result = th_tutorial_create(model, &p->tutorials[m], err);
        for (uint32_t c = 0; c < model->clip_count; c++)
            p->plays_keys |= th_clip_has_curves(&model->clips[c]);
    }
    return result;
}

/* The memory floor. It is held against what others write; a crowd of fewer bytes is not: calls take as long. */
#ifdef __SANITIZE_ADDRESS__ /* whose checks take longer than the writes */
enum { FEWEST_BYTES = INT_MAX };
#else
enum { FEWEST_BYTES = 1 << 16 };
#endif

static void run_fill(void *subject, uint64_t frame)
{
    benchmark *p = subject;
    th_crowd_fill(p->crowd, 0, th_crowd_batch_count(p->crowd), (float)frame, p->palette);
}

static void summarize_fill(const th_entry *entry, const th_row *baseline, th_row *row)
{
    benchmark *p = entry->subject;
    const size_t bytes = th_crowd_palette_bytes(p->crowd);
    double ns = th_samples_stats(&row->cpu_ns).min;
    (void)baseline;
    if (bytes < FEWEST_BYTES)
        return;
    const bool streams = th_crowd_writes(p->crowd) == TH_WRITES_STREAMED;
    const double plain_ns = th_plain_write_ns(p->palette, bytes, bytes / row->characters, streams);
    for (int again = 0; again < 20 && ns > TH_PLAIN_WRITE_MOST * plain_ns; again++) { /* it may have been disturbed */
        const uint64_t begin_ns = th_clock_cpu_ns();
        for (uint32_t frame = 0; frame < row->iterations; frame++)
            run_fill(p, frame);
        ns = fmin(ns, (double)(th_clock_cpu_ns() - begin_ns) / row->iterations);
    }
    if (plain_ns > 0 && ns > TH_PLAIN_WRITE_MOST * plain_ns)
        th_row_fail(row, "it takes %.3g us, %.2g times as long as memset for as many bytes: no limit", ns / 1e3,
                    ns / plain_ns);
}

static th_result prepare_fill(benchmark *p, const variation *v, th_error *err)
{
    (void)err;
    th_crowd_set_writes(p->crowd, (th_writes)v->number);
    return TH_OK;
}

static const variation pose = {.name = "pose"};

static const variation baselines[] = {
    {.name = "pose/exact", .set_scene = as_authored},
    {.name = "pose/tutorial", .set_scene = as_authored, .run = run_tutorial, .prepare = prepare_tutorials},
    {.name = "limit/write_cached",
     .set_scene = as_authored,
     .run = run_fill,
     .number = TH_WRITES_CACHED,
     .is_unchecked = true,
     .prepare = prepare_fill},
    {.name = "limit/write_streamed",
     .set_scene = as_authored,
     .run = run_fill,
     .number = TH_WRITES_STREAMED,
     .is_unchecked = true,
     .prepare = prepare_fill},
};

uint32_t th_pose_entries(th_entry *entries)
{
    uint32_t count = 0;
    for (int isa = TH_ISA_SCALAR; isa < TH_ISA_COUNT; isa++)
        for (int palette = 0; palette < TH_FORMAT_COUNT && th_isa_available((th_isa)isa); palette++) {
            th_entry *e = &entries[count++];
            *e = entry_of(&pose);
            e->isa = (th_isa)isa;
            e->palette = (th_format)palette;
            snprintf(e->name, sizeof e->name, "pose/%s/%s", th_isa_name(e->isa), th_format_name(e->palette));
        }
    for (size_t i = 0; i < sizeof baselines / sizeof *baselines; i++) {
        th_entry *e = &entries[count++];
        *e = entry_of(&baselines[i]);
        if (baselines[i].is_unchecked)
            e->summarize = summarize_fill;
        snprintf(e->name, sizeof e->name, "%s", baselines[i].name);
    }
    return count;
}

/* ---- interp/: each mode on every kernel, and in double precision ---- */

static void with_mode(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)fixture;
    desc->compile.interpolation = (th_interpolation)number_of(entry);
}

static void with_exact_mode(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    with_mode(entry, fixture, desc);
    desc->compile.sampling = TH_SAMPLING_EXACT;
}

static const variation modes[] = {
    {.name = "interp/step", .set_scene = with_mode, .number = TH_INTERPOLATION_STEP},
    {.name = "interp/nlerp", .set_scene = with_mode, .number = TH_INTERPOLATION_NLERP},
    {.name = "interp/slerp", .set_scene = with_mode, .number = TH_INTERPOLATION_SLERP},
    {.name = "interp/cubic", .set_scene = with_mode, .number = TH_INTERPOLATION_CUBIC},
};

/* ---- crowd/, play/ and clips/: how many characters there are, what they play, and when ---- */

static void with_count(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)fixture;
    desc->instance_count = number_of(entry);
}

/* A random time within an hour, by hashing the frame (G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number
 * Generators, 2014). */
static double random_time(uint64_t frame)
{
    uint64_t x = (frame + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return 3600 * (double)(x >> 11) * 0x1p-53;
}

static th_result prepare_random(benchmark *p, const variation *v, th_error *err)
{
    (void)v, (void)err;
    p->time_s = random_time;
    return TH_OK;
}

static void with_first_clip(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)entry;
    desc->clips = fixture->first_clips;
}

static void with_all_clips(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)entry, (void)fixture;
    desc->clips = NULL;
}

/* ---- morph/: what morph weights add to the cost of a character ---- */

static void with_weights(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    uint32_t m = 0;
    while (th_fixture_weights[m] != number_of(entry)) {
        m++;
        assert(m < TH_FIXTURE_MORPHS);
    }
    desc->models = (const th_model *const *)&fixture->morphs[m];
    desc->model_count = 1;
    desc->clips = NULL;
}

/* ---- joints/: what joint levels of detail save ---- */

static const th_model *const *models_of(const th_fixture *fixture, uint32_t level)
{
    return fixture->level_models + (size_t)level * fixture->requested.model_count;
}

static bool repeats(const th_fixture *fixture, uint32_t level)
{
    return level > 0 && memcmp(models_of(fixture, level), models_of(fixture, level - 1),
                               fixture->requested.model_count * sizeof(th_model *)) == 0;
}

/* Levels that are the same share a scene. */
static void with_level(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    uint32_t level = number_of(entry);
    while (repeats(fixture, level))
        level--;
    desc->models = models_of(fixture, level);
}

static bool is_own_level(const th_entry *entry, const th_fixture *fixture, th_row *row)
{
    row->skipped = repeats(fixture, number_of(entry));
    if (row->skipped)
        th_row_fail(row, "the same joints as level %u", number_of(entry) - 1);
    return !row->skipped;
}

/* Of places in single precision, in sizes of the model. */
#define ROUNDING 1e-5

static void place_vertex(const th_vertex *v, const th_dmat34 *palette, double out[3])
{
    const double position[3] = {(double)v->position[0], (double)v->position[1], (double)v->position[2]};
    double at[3];
    memset(out, 0, 3 * sizeof *out);
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES && v->weight[k] > 0; k++) {
        th_dmat34_point(&palette[v->bone[k]], position, at);
        for (int i = 0; i < 3; i++)
            out[i] += (double)v->weight[k] * at[i];
    }
}

/* The largest distance of a vertex of the level from that of the source at a moment. room: for a pose and a palette of
 * each. */
static double level_distance(const th_model *source, const th_model *level, uint32_t clip, double part, th_dmat34 *room)
{
    const th_model *const models[2] = {source, level};
    th_dmat34 *palettes[2];
    double most = 0, at[2][3];
    for (int n = 0; n < 2; n++) {
        const th_model *m = models[n];
        const th_clip *c = clip < m->clip_count ? &m->clips[clip] : NULL;
        th_exact_pose(m, c, c ? part * c->duration_ticks : 0, TH_INTERPOLATION_AUTHORED, room);
        th_exact_palette(m, room, palettes[n] = room + m->joint_count);
        room = palettes[n] + m->bone_count;
    }
    for (uint32_t k = 0; k < source->mesh_count; k++)
        for (uint32_t v = 0; v < source->meshes[k].vertex_count; v++) {
            for (int n = 0; n < 2; n++)
                place_vertex(&models[n]->meshes[k].vertices[v], palettes[n], at[n]);
            const double here = hypot(hypot(at[0][0] - at[1][0], at[0][1] - at[1][1]), at[0][2] - at[1][2]);
            most = here <= most ? most : isnan(here) ? HUGE_VAL : here;
        }
    return most;
}

/* Fails the row where a vertex is farther off than the level states, or where it states more than it may. */
static void check_level(const th_model *source, const th_model *posed, double stated, uint32_t number, th_dmat34 *room,
                        th_row *row)
{
    enum { MOMENTS = 16 };
    double most = 0;
    for (int n = 0; n < MOMENTS && source->clip_count > 0; n++) {
        const uint64_t drawn = th_draws_next(&row->draws);
        const uint32_t clip = (uint32_t)(drawn % source->clip_count);
        most = fmax(most, level_distance(source, posed, clip, th_random_unit(drawn, 0), room));
    }
    if (most > stated + ROUNDING * source->size)
        th_row_fail(row, "level %u of %s puts a vertex %g units off; it states %g", number, source->name, most, stated);
    else if (stated > th_lod_limit(number) * source->size * (1 + ROUNDING))
        th_row_fail(row, "level %u of %s is off by %g units; %g are its limit", number, source->name, stated,
                    th_lod_limit(number) * source->size);
}

/* Adds what the level leaves out: the largest error of all models, and joints of all characters. */
static th_result describe_level(benchmark *p, const variation *v, const th_fixture *fixture, th_error *err)
{
    const th_scene *scene = p->shared->scene;
    double error = 0;
    uint64_t moving = 0;
    for (uint32_t m = 0; m < fixture->requested.model_count; m++) {
        const th_model *source = fixture->requested.models[m];
        const th_model *posed = th_compiled_model_source(scene->compiled_models[m]);
        const double stated = fixture->joint_lods[m]->levels[v->number].error;
        th_dmat34 *room = malloc(2 * ((size_t)source->joint_count + source->bone_count) * sizeof *room);
        if (!room)
            return th_fail(err, TH_ERR_MEMORY, "no memory for the poses of level %u", v->number);
        check_level(source, posed, stated, v->number, room, p->row);
        free(room);
        error = fmax(error, stated);
    }
    for (uint32_t i = 0; i < scene->instance_count; i++)
        moving += fixture->joint_lods[scene->instances[i].model]->levels[v->number].moving_count;
    p->row->own = th_json_merge(p->row->own, json_pack("{s:o, s:o}", "level_error", th_json_real(error),
                                                       "moving_joints", th_json_count(moving)));
    return TH_OK;
}

/* ---- blend/: what layers add to the cost of a character ---- */

/* A clip of the character's model; TH_REST_CLIP if there is none. */
static uint16_t clip_of(const th_scene *scene, uint32_t instance, uint32_t layer)
{
    const uint32_t count = th_scene_model(scene, instance)->clip_count, first = scene->instances[instance].clip;
    if (count == 0)
        return TH_REST_CLIP;
    return (uint16_t)(((first == TH_NO_INDEX ? 0 : first) + layer) % count);
}

/* A smooth step up and down again in two seconds, at a time of its own for each character. */
static float swing_at(uint32_t instance, double time_s)
{
    const double x = fmod(time_s + instance * 0.37, 2), up = x < 1 ? x : 2 - x;
    return th_fade_weight(up);
}

/* The samples around a point of a blend space, and their weights. A square is cut from its lower left to its upper
 * right. Returns how many. */
static uint32_t find_samples(uint32_t dimensions, float x, float y, uint32_t samples[3], float weights[3])
{
    if (dimensions == 1) {
        samples[0] = (uint32_t)x;
        samples[1] = samples[0] + 1;
        weights[0] = 1 - (x - (float)samples[0]);
        weights[1] = 1 - weights[0];
        return 2;
    }
    samples[0] = 0;
    samples[1] = x > y ? 1 : 2;
    samples[2] = 3;
    const bool has_last = fminf(x, y) >= 0x1p-22F; /* so that what the others leave of 1 is above 0 */
    weights[0] = 1 - fmaxf(x, y);
    weights[1] = has_last ? fabsf(x - y) : 1 - weights[0];
    weights[2] = has_last ? 1 - (weights[0] + weights[1]) : 0;
    return 3;
}

/* Layer or sample k of a character plays the k-th clip after that of the character, from its phase at its speed;
 * samples are in step with the first. */
static const th_crowd_layers *mixed_layers(void *subject, uint64_t frame)
{
    benchmark *p = subject;
    layer_mix *mix = &p->mix;
    const double time_s = p->time_s(frame);
    const uint32_t dimensions = mix->desc->space_dimensions;
    for (uint32_t i = 0; i < p->shared->scene->instance_count; i++) {
        const size_t first = (size_t)i * mix->table.stride;
        th_layer *of = mix->layers + first;
        for (uint32_t k = 0; k < mix->table.stride; k++)
            of[k].ratio = th_playback_ratio(mix->playbacks[first + k], time_s);
        if (mix->desc->fades) {
            of[1].weight = swing_at(i, time_s);
            of[0].weight = 1 - of[1].weight;
        }
        if (dimensions == 0)
            continue;

        /* Moves through the space and plays the samples around. */
        const float x = swing_at(i, time_s), y = swing_at(i + 1, 0.6 * time_s);
        uint32_t samples[3];
        float weights[3];
        const uint32_t count = find_samples(dimensions, dimensions == 1 ? 2 * x : x, y, samples, weights);
        mix->counts[i] = (uint8_t)count;
        for (uint32_t k = 0; k < count; k++) {
            of[k].ratio = of[0].ratio;
            of[k].weight = weights[k];
            of[k].clip = clip_of(p->shared->scene, i, samples[k]);
        }
    }
    return &mix->table;
}

static void run_mix(void *subject, uint64_t frame)
{
    benchmark *p = subject;
    th_crowd_pose_layers(p->crowd, 0, th_crowd_batch_count(p->crowd), p->time_s(frame), mixed_layers(p, frame),
                         p->palette, NULL, p->scratch);
}

/* Skips the row where a clip cannot be added, or models have no masks. */
static th_result prepare_mix(benchmark *p, const variation *v, th_error *err)
{
    const th_scene *scene = p->shared->scene;
    th_row *row = p->row;
    for (uint32_t m = 0; v->mix.add_count > 0 && m < scene->compiled_model_count; m++) {
        const th_model *model = th_compiled_model_source(scene->compiled_models[m]);
        for (uint32_t c = 0; c < model->clip_count; c++) {
            const char *joint = th_layer_add_obstacle(model, c, TH_LAYER_ADD);
            if (!joint)
                continue;
            th_row_skip(row, "%s: clip %s begins with joint %s at scale 0", model->name, model->clips[c].name, joint);
            return TH_OK;
        }
    }
    row->skipped = v->mix.masked_count > 0 && scene->compiled_model_count > TH_MAX_MASKS;
    if (row->skipped) {
        th_row_fail(row, "only the first %u models have masks", TH_MAX_MASKS);
        return TH_OK;
    }

    const mix_desc *desc = &v->mix;
    const uint32_t stride = desc->override_count + desc->add_count;
    assert(desc->override_count > 0 && stride <= TH_MAX_LAYERS);
    const size_t count = (size_t)scene->instance_count * stride;
    th_arena *arena = th_arena_create();
    layer_mix *mix = &p->mix;
    *mix = (layer_mix){.desc = desc,
                       .arena = arena,
                       .layers = th_arena_new(arena, th_layer, count),
                       .counts = th_arena_new(arena, uint8_t, scene->instance_count),
                       .playbacks = th_arena_new(arena, th_playback, count)};
    mix->table = (th_crowd_layers){mix->layers, mix->counts, stride};
    if (th_arena_failed(arena))
        return th_fail(err, TH_ERR_MEMORY, "no memory for layers");
    for (size_t at = 0; at < count; at++) {
        const uint32_t i = (uint32_t)(at / stride), k = (uint32_t)(at % stride);
        const th_spawn *from = &scene->instances[i];
        const bool overrides = k < desc->override_count;
        const bool is_masked = overrides && k + desc->masked_count >= desc->override_count;
        const uint16_t clip = clip_of(scene, i, k);
        mix->counts[i] = (uint8_t)stride;
        mix->layers[at] = (th_layer){.weight = 1.0F / (float)(k + 1),
                                     .clip = clip,
                                     .mode = overrides ? TH_LAYER_OVERRIDE : TH_LAYER_ADD,
                                     .mask = is_masked ? (uint8_t)from->model : TH_NO_MASK};
        const th_clip *c = clip == TH_REST_CLIP ? NULL : &th_scene_model(scene, i)->clips[clip];
        if (c && c->duration_ticks > 0)
            mix->playbacks[at] = th_playback_of(c->duration_ticks / c->ticks_per_second, from->phase_s, from->speed);
    }
    p->layers_at = mixed_layers;
    return TH_OK;
}

/* ---- share/: a crowd each of whose characters is far away, with poses that are shared at some rate, or not. A frame
 * is the plan of its poses and their evaluation ---- */

enum { FAR_CHARACTERS = 10000, MEASURED = 5 };

static void with_far_crowd(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)entry, (void)fixture;
    desc->instance_count = FAR_CHARACTERS;
}

static void run_shared(void *subject, uint64_t frame)
{
    benchmark *p = subject;
    th_shared_crowd_plan(&p->sharing, p->jobs, p->time_s(frame));
    run(p, frame);
}

static const th_crowd_layers *shared_layers(void *subject, uint64_t frame)
{
    benchmark *p = subject;
    return th_shared_crowd_layers(&p->sharing, NULL, p->time_s(frame));
}

static th_result prepare_sharing(benchmark *p, const variation *v, th_error *err)
{
    th_result result = th_jobs_create(&(th_jobs_desc){.threads = 1}, &p->jobs, err);
    if (result == TH_OK)
        result = th_shared_crowd_init(&p->sharing, p->shared->scene, p->crowd, v->number, err);
    if (result != TH_OK)
        return result;
    p->layers_at = v->number > 0 ? shared_layers : NULL;
    th_shared_crowd_plan(&p->sharing, p->jobs, p->time_s(0));
    return TH_OK;
}

/* Measures the error in some frames. Poses are counted in the frame whose hash is reported. */
static th_result describe_sharing(benchmark *p, const variation *v, const th_fixture *fixture, th_error *err)
{
    th_row *row = p->row;
    (void)v, (void)fixture;
    for (uint64_t n = 0; n < MEASURED; n++) {
        const uint64_t frame = TH_VALIDATE_FRAME - n * TH_VALIDATE_FRAME / MEASURED;
        run_shared(p, frame);
        const th_result result =
            th_shared_crowd_measure(&p->sharing, p->crowd, p->palette, NULL, p->time_s(frame), row, err);
        if (result != TH_OK)
            return result;
    }
    run_shared(p, TH_VALIDATE_FRAME);
    const th_pose_counts counts = th_pose_plan_counts(p->sharing.plan);
    row->characters = counts.evaluated;
    row->bones = th_crowd_bone_count(p->crowd);
    row->own = th_json_set(row->own, "evaluated", th_json_count(counts.evaluated));
    row->own = th_json_set(row->own, "shared", th_json_count(counts.shared));
    row->own = th_json_set(row->own, "palette_bytes", th_json_count(th_crowd_palette_bytes(p->crowd)));
    row->own = th_json_set(row->own, "share_error", th_json_real(p->sharing.error));
    return TH_OK;
}

/* ---- threads/: a frame on some, or all (0) ---- */

static void run_frame(void *subject, uint64_t frame)
{
    benchmark *p = subject;
    th_frame_run(p->frame, p->time_s(frame), p->palette);
}

static th_result prepare_frame(benchmark *p, const variation *v, th_error *err)
{
    th_result result =
        th_jobs_create(&(th_jobs_desc){.threads = v->number, .placement = TH_PLACEMENT_WORKERS}, &p->jobs, err);
    if (result == TH_OK)
        result = th_frame_create(&(th_frame_desc){.crowd = p->crowd, .jobs = p->jobs}, &p->frame, err);
    if (result == TH_OK)
        p->row->threads = th_jobs_threads(p->jobs);
    return result;
}

/* ---- one scene or one way to play it, on the best kernel ---- */

#define CROWD(count)                                                                                                   \
    {                                                                                                                  \
        .name = "crowd/" #count, .set_scene = with_count, .number = (count)                                            \
    }
#define MORPH(weights)                                                                                                 \
    {                                                                                                                  \
        .name = "morph/" #weights, .set_scene = with_weights, .number = (weights)                                      \
    }
_Static_assert(TH_LOD_LEVELS == 10, "a row of JOINTS for each level");
#define JOINTS(level)                                                                                                  \
    {                                                                                                                  \
        .name = "joints/" #level, .set_scene = with_level, .number = (level), .can_have = is_own_level,                \
        .finish = describe_level                                                                                       \
    }
#define BLEND(what, ...)                                                                                               \
    {                                                                                                                  \
        .name = "blend/" what, .run = run_mix, .mix = {__VA_ARGS__}, .prepare = prepare_mix                            \
    }
#define SHARE(how, hz)                                                                                                 \
    {                                                                                                                  \
        .name = "share/" how, .set_scene = with_far_crowd, .run = run_shared, .number = (hz),                          \
        .is_baseline = (hz) == 0, .prepare = prepare_sharing, .finish = describe_sharing                               \
    }

/* Those with the same word ahead of the slash are compared. */
static const variation variations[] = {
    CROWD(1),
    CROWD(8),
    CROWD(100),
    CROWD(1000),
    CROWD(10000),
    {.name = "threads/2", .run = run_frame, .number = 2, .prepare = prepare_frame},
    {.name = "threads/all", .run = run_frame, .prepare = prepare_frame},
    {.name = "play/forward"},
    {.name = "play/random", .prepare = prepare_random},
    {.name = "clips/one", .set_scene = with_first_clip},
    {.name = "clips/all", .set_scene = with_all_clips},
    MORPH(0),
    MORPH(16),
    MORPH(64),
    JOINTS(0),
    JOINTS(1),
    JOINTS(2),
    JOINTS(3),
    JOINTS(4),
    JOINTS(5),
    JOINTS(6),
    JOINTS(7),
    JOINTS(8),
    JOINTS(9),
    BLEND("layers:1", .override_count = 1),
    BLEND("fade:2", .override_count = 2, .fades = true),
    BLEND("layers:2", .override_count = 2),
    BLEND("layers:3", .override_count = 3),
    BLEND("layers:4", .override_count = 4),
    BLEND("layers:8", .override_count = 8),
    BLEND("space1d:3", .override_count = 3, .space_dimensions = 1),
    BLEND("space2d:4", .override_count = 4, .space_dimensions = 2),
    BLEND("mask", .override_count = 2, .masked_count = 1),
    BLEND("additive", .override_count = 1, .add_count = 1),
    SHARE("off", 0),
    SHARE("30", 30),
    SHARE("60", 60),
    SHARE("120", 120),
};

uint32_t th_variation_entries(th_entry *entries)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const variation *mode = &modes[i];
        for (int isa = TH_ISA_SCALAR; isa <= TH_ISA_COUNT; isa++) {
            const bool is_exact = isa == TH_ISA_COUNT; /* behind the kernels */
            if (!is_exact && !th_isa_available((th_isa)isa))
                continue;
            th_entry *e = &entries[count++];
            *e = entry_of(mode);
            e->shape = mode;
            e->isa = is_exact ? TH_ISA_AUTO : (th_isa)isa;
            e->set_scene = is_exact ? with_exact_mode : with_mode;
            snprintf(e->name, sizeof e->name, "%s/%s", mode->name, is_exact ? "exact" : th_isa_name(e->isa));
        }
    }
    const variation *first = variations;
    for (const variation *v = variations; v < variations + sizeof variations / sizeof *variations; v++) {
        th_entry *e = &entries[count++];
        if (strncmp(v->name, first->name, strcspn(v->name, "/") + 1) != 0)
            first = v;
        *e = entry_of(v);
        e->shape = first;
        e->needs_levels = v->set_scene == with_level;
        snprintf(e->name, sizeof e->name, "%s", v->name);
    }
    return count;
}

/* ---- throng-1/: scenes that are the same work on every machine, whatever the options say but for --model. Their
 * hashes are in docs/reference/throng-1.json, which also describes them. A scene that changes gets another name ---- */

typedef struct reference_scene {
    const char *name;
    uint32_t count;
    bool is_fox;       /* of a file that is not ours, and may be missing; otherwise the embedded human */
    const char *blend; /* the entry of blend/ whose layers it plays; NULL: a clip each */
} reference_scene;

static const reference_scene scenes[] = {
    {"human_1k", 1000, false, NULL}, {"human_10k", 10000, false, NULL}, {"human_100k", 100000, false, NULL},
    {"fox_1k", 1000, true, NULL},    {"fox_10k", 10000, true, NULL},    {"blend_1k", 1000, false, "blend/fade:2"},
};

/* NULL if it is not requested. */
static const th_model *const *find_fox(const th_fixture *fixture)
{
    static const char *const clips[] = {"Survey", "Walk", "Run"};
    for (uint32_t m = 0; m < fixture->requested.model_count; m++) {
        const th_model *model = fixture->requested.models[m];
        bool is_fox = model->bone_count == 24 && model->clip_count == sizeof clips / sizeof *clips;
        for (uint32_t c = 0; is_fox && c < model->clip_count; c++)
            is_fox = strcmp(model->clips[c].name, clips[c]) == 0;
        if (is_fox)
            return &fixture->requested.models[m];
    }
    return NULL;
}

static void with_reference(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    const reference_scene *scene = entry->shape;
    const th_model *const *fox = scene->is_fox ? find_fox(fixture) : NULL;
    *desc = (th_scene_desc){
        .models = fox ? fox : (const th_model *const *)&fixture->human,
        .model_count = 1,
        .instance_count = scene->is_fox && !fox ? 1 : scene->count,
        .seed = 1,
    };
}

static bool has_model(const th_entry *entry, const th_fixture *fixture, th_row *row)
{
    const reference_scene *scene = entry->shape;
    row->skipped = scene->is_fox && !find_fox(fixture);
    if (row->skipped)
        th_row_fail(row, "takes --model Fox.glb of the Khronos sample assets");
    return !row->skipped;
}

static const variation one_thread = {.name = "one thread", .can_have = has_model};
static const variation all_threads = {
    .name = "all_threads", .run = run_frame, .can_have = has_model, .prepare = prepare_frame};

uint32_t th_reference_entries(th_entry *entries)
{
    uint32_t count = 0;
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
        const reference_scene *scene = &scenes[s];
        const variation *way = &one_thread;
        for (size_t b = 0; scene->blend && b < sizeof variations / sizeof *variations; b++)
            if (strcmp(variations[b].name, scene->blend) == 0)
                way = &variations[b];
        for (int isa = TH_ISA_SCALAR; isa <= TH_ISA_COUNT; isa++) {
            const bool is_frame = isa == TH_ISA_COUNT; /* behind the kernels */
            if (is_frame ? scene->blend != NULL : !th_isa_available((th_isa)isa))
                continue;
            th_entry *e = &entries[count++];
            *e = entry_of(is_frame ? &all_threads : way);
            e->shape = scene;
            e->isa = is_frame ? TH_ISA_AUTO : (th_isa)isa;
            e->set_scene = with_reference;
            snprintf(e->name, sizeof e->name, TH_REFERENCE_PREFIX "%s/%s", scene->name,
                     is_frame ? all_threads.name : th_isa_name(e->isa));
        }
    }
    return count;
}
