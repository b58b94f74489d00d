/* All clips of a model, one after the other or side by side.
 *
 * They share a budget of work, so what becomes of a clip depends on those before it. Side by side each is tried as if
 * it were the first. Afterwards they are taken in order: if the budget that is left would have been enough for what a
 * clip took, then it would have come out the same; otherwise it is compiled again with what is left. So the result is
 * that of one after the other. */
#include "clips.h"

#include "frames.h"
#include "resample.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST_WORKERS = 16 }; /* each may keep exact palettes of 64 MB */

/* A clip that was tried as if it were the first. */
typedef struct trial {
    bool tried;
    int64_t used;
    th_resampled resampled;
} trial;

typedef struct clip_run {
    th_compiled_model *compiled;
    th_resampler *workers[MOST_WORKERS];
    uint32_t worker_count, clip_count; /* with the rest pose */
    int64_t budget;
    trial *trials;
    atomic_uint next;
    atomic_llong left; /* of the budget, if all trials count */
} clip_run;

static const th_clip *clip_at(const th_model *model, uint32_t i)
{
    return i < model->clip_count ? &model->clips[i] : NULL;
}

/* ---- trials ---- */

/* Takes the next clip until there is none, or until trials have spent the budget. */
static void try_clips(uint32_t worker, void *ctx)
{
    clip_run *run = ctx;
    for (uint32_t i; atomic_load(&run->left) > 0 && (i = atomic_fetch_add(&run->next, 1)) < run->clip_count;) {
        int64_t budget = run->budget;
        trial *t = &run->trials[i];
        t->resampled = th_resample_clip(run->workers[worker], clip_at(run->compiled->model, i), &budget);
        t->used = run->budget - budget;
        t->tried = true;
        atomic_fetch_sub(&run->left, t->used);
    }
}

/* The same as without trials. */
static th_resampled take_clip(clip_run *run, uint32_t i, int64_t *budget)
{
    trial *t = &run->trials[i];
    if (t->tried && t->used < *budget) {
        *budget -= t->used;
        t->tried = false;
        return t->resampled;
    }
    return th_resample_clip(run->workers[0], clip_at(run->compiled->model, i), budget);
}

/* ---- reports ---- */

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

static void set_report(const th_resampled *a, const th_compiled_model *compiled, th_clip_report *report)
{
    assert(a->keys && a->worst.error <= compiled->bound);
    const th_compiled_clip *compiled_clip = &a->compiled_clip;
    double ticks_per_second = compiled_clip->clip ? compiled_clip->clip->ticks_per_second : 1,
           duration = compiled_clip->clip ? compiled_clip->clip->duration_ticks : 0;
    report->compiled = true;
    report->reason = "";
    report->frame_count = compiled_clip->interval_count + 1;
    report->stretch_count = compiled_clip->stretch_count;
    report->rate_hz = duration > 0 ? compiled_clip->interval_count / duration * ticks_per_second : 0;
    report->bytes = th_frames_count(&compiled->program, compiled_clip->interval_count) * compiled->program.frame_bytes;
    report->max_error = a->worst.error;
    report->error_joint = a->worst.joint;
    report->error_time_s = a->worst.ticks / ticks_per_second;
}

/* ---- clips ---- */

/* If no rate meets the bound, leaves the clip exact and sets the reason. Returns false if out of memory. */
static bool keep_clip(th_compiled_model *compiled, const th_resampled *a, th_compiled_clip *compiled_clip,
                      th_clip_report *report)
{
    report->reason = a->reason;
    if (!a->keys)
        return !a->out_of_memory;
    *compiled_clip = a->compiled_clip;
    set_report(a, compiled, report);
    compiled_clip->keys = th_arena_copy(compiled->arena, a->keys, report->bytes, 1);
    free(a->keys);
    return compiled_clip->keys != NULL;
}

static bool run_init(clip_run *run, th_compiled_model *compiled, uint32_t workers, int64_t budget)
{
    *run = (clip_run){.compiled = compiled, .clip_count = compiled->model->clip_count + 1, .budget = budget};
    atomic_init(&run->left, budget);
    run->trials = calloc(run->clip_count, sizeof *run->trials);
    const uint32_t most = run->clip_count < MOST_WORKERS ? run->clip_count : MOST_WORKERS;
    bool ok = run->trials != NULL;
    for (; ok && run->worker_count < most && run->worker_count < workers; run->worker_count++)
        ok = (run->workers[run->worker_count] = th_resampler_create(compiled)) != NULL;
    return ok;
}

static void run_fini(clip_run *run)
{
    for (uint32_t i = 0; i < run->worker_count; i++)
        th_resampler_destroy(run->workers[i]);
    for (uint32_t i = 0; run->trials && i < run->clip_count; i++)
        if (run->trials[i].tried)
            free(run->trials[i].resampled.keys);
    free(run->trials);
}

static bool compile_all(clip_run *run, const th_compiled_model_desc *desc, int64_t *budget)
{
    th_compiled_model *compiled = run->compiled;
    bool ok = true;
    if (run->worker_count > 1)
        desc->parallel(run->worker_count, try_clips, run, desc->parallel_ctx);
    for (uint32_t i = 0; i < run->clip_count && ok; i++) {
        const th_resampled resampled = take_clip(run, i, budget);
        ok = keep_clip(compiled, &resampled, &compiled->compiled_clips[i], &compiled->reports[i]);
    }
    return ok;
}

static void number_frames(th_compiled_model *compiled)
{
    uint32_t frames = 0;
    for (uint32_t i = 0; i <= compiled->model->clip_count; i++) {
        th_compiled_clip *compiled_clip = &compiled->compiled_clips[i];
        compiled_clip->first_frame = frames;
        frames += compiled_clip->keys ? th_frames_count(&compiled->program, compiled_clip->interval_count) : 0;
    }
}

th_result th_compile_clips(th_compiled_model *compiled, const th_compiled_model_desc *desc, int64_t *budget,
                           th_error *err)
{
    assert(compiled && desc && budget && compiled->program.ops);
    assert(!compiled->compiled_clips && !compiled->reports);
    const th_model *model = compiled->model;
    const uint32_t count = model->clip_count + 1;
    compiled->compiled_clips = th_arena_new(compiled->arena, th_compiled_clip, count);
    compiled->reports = th_arena_new(compiled->arena, th_clip_report, count);
    bool ok = compiled->compiled_clips && compiled->reports;
    for (uint32_t i = 0; ok && i < count; i++) {
        const th_clip *clip = clip_at(model, i);
        compiled->compiled_clips[i].clip = clip;
        compiled->reports[i].raw_bytes = clip ? raw_bytes(clip) : 0;
        compiled->reports[i].reason = "asked for";
    }
    if (ok && compiled->program.keys == TH_KEYS_16)
        ok = th_frames_find_ranges(compiled, budget);
    if (ok && desc->sampling == TH_SAMPLING_COMPILED) {
        /* What is left of a limit on memory depends on the clips before, too. */
        const bool parallel = desc->parallel && desc->max_bytes == 0;
        clip_run run;
        ok = run_init(&run, compiled, parallel ? MOST_WORKERS : 1, *budget) && compile_all(&run, desc, budget);
        run_fini(&run);
    }
    if (ok)
        number_frames(compiled);
    return ok ? TH_OK : th_fail(err, TH_ERR_MEMORY, "%s: out of memory", model->name);
}
