/* The share/ entries: a crowd each of whose characters is far away, with poses that are shared at some rate, or not. A
 * frame is the plan of its poses and their evaluation. */
#include "pose_benchmark.h"
#include "shared_crowd.h"

#include <bench/validate_run.h>
#include <core/json.h>
#include <throng/runtime/frame.h>

#include <stdio.h>
#include <stdlib.h>

enum { CHARACTERS = 10000, MEASURED = 5 };

static const double rates_hz[] = {0, 30, 60, 120};

static void set_scene(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)entry, (void)fixture;
    desc->instance_count = CHARACTERS;
}

static void run(void *subject, uint64_t frame)
{
    th_pose_benchmark *p = subject;
    th_shared_crowd_plan(p->sharing, p->jobs, p->time_s(frame));
    th_pose_benchmark_run(subject, frame);
}

static const th_crowd_layers *layers_at(void *subject, uint64_t frame)
{
    th_pose_benchmark *p = subject;
    return th_shared_crowd_layers(p->sharing, NULL, p->time_s(frame));
}

static th_result start(th_pose_benchmark *p, double hz, th_error *err)
{
    th_result result = th_threads_create(&(th_jobs_desc){.threads = 1}, &p->jobs, err);
    p->sharing = calloc(1, sizeof *p->sharing);
    if (result == TH_OK && !p->sharing)
        result = th_fail(err, TH_ERR_MEMORY, "no memory to share poses");
    if (result == TH_OK)
        result = th_shared_crowd_init(p->sharing, p->shared->scene, p->crowd, hz, err);
    if (result != TH_OK)
        return result;
    p->layers_at = hz > 0 ? layers_at : NULL;
    th_shared_crowd_plan(p->sharing, p->jobs, p->time_s(0));
    return TH_OK;
}

static th_result measure_error(th_pose_benchmark *p, th_error *err)
{
    th_result result = TH_OK;
    for (uint64_t n = 0; n < MEASURED && result == TH_OK; n++) {
        const uint64_t frame = TH_VALIDATE_FRAME - n * TH_VALIDATE_FRAME / MEASURED;
        run(p, frame);
        result = th_shared_crowd_measure(p->sharing, p->crowd, p->palette, NULL, p->time_s(frame), err);
    }
    return result;
}

/* Poses are counted in the frame whose hash is reported. */
static void describe(th_pose_benchmark *p, th_row *row)
{
    run(p, TH_VALIDATE_FRAME);
    const th_pose_counts counts = th_pose_plan_counts(p->sharing->plan);
    row->characters = counts.evaluated;
    row->bones = th_crowd_bone_count(p->crowd);
    row->own = th_json_set(row->own, "evaluated", th_json_count(counts.evaluated));
    row->own = th_json_set(row->own, "shared", th_json_count(counts.shared));
    row->own = th_json_set(row->own, "palette_bytes", th_json_count(th_crowd_palette_bytes(p->crowd)));
    row->own = th_json_set(row->own, "share_error", th_json_real(p->sharing->error));
}

static th_result create(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                        th_error *err)
{
    const double *hz = entry->variant;
    (void)desc;
    th_result result = th_pose_benchmark_init(entry, fixture, row, err);
    if (result != TH_OK || row->skipped)
        return result;
    result = start(entry->subject, *hz, err);
    if (result == TH_OK)
        result = th_pose_benchmark_validate(entry, fixture, row, err);
    if (result == TH_OK)
        result = measure_error(entry->subject, err);
    if (result == TH_OK)
        describe(entry->subject, row);
    return result;
}

uint32_t th_share_entries(th_entry *entries)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof rates_hz / sizeof *rates_hz; i++) {
        th_entry *e = &entries[count++];
        *e = (th_entry){.shape = rates_hz,
                        .variant = &rates_hz[i],
                        .is_baseline = !(rates_hz[i] > 0),
                        .set_scene = set_scene,
                        .create = create,
                        .before = th_pose_benchmark_begin,
                        .run = run,
                        .destroy = th_pose_benchmark_destroy};
        if (rates_hz[i] > 0)
            snprintf(e->name, sizeof e->name, "share/%.0f", rates_hz[i]);
        else
            snprintf(e->name, sizeof e->name, "share/off");
    }
    return count;
}
