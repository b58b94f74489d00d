#include "counted_frames.h"

#include <throng/core/clock.h>
#include <throng/core/json.h>

#include <assert.h>

enum { COUNTED_NS = 50000000, LEAST_COUNTED_FRAMES = 16 };

/* ---- running ---- */

static void begin(const th_counted_frames *f)
{
    const th_frame_observer observer = th_chunk_counters_observer(f->counters);
    if (f->frame)
        th_frame_observe(f->frame, &observer);
}

static void end(const th_counted_frames *f)
{
    if (f->frame)
        th_frame_observe(f->frame, NULL);
}

static void run(const th_counted_frames *f, uint64_t frame)
{
    const th_frame_observer observer = th_chunk_counters_observer(f->counters);
    if (!f->frame)
        observer.begin(observer.ctx, 0, TH_FRAME_POSE);
    f->run(f->ctx, frame);
    if (!f->frame)
        observer.end(observer.ctx, 0, TH_FRAME_POSE);
}

/* ---- counting ---- */

static th_counters per_frame(th_counters sums, uint64_t frames)
{
    for (int i = 0; i < TH_COUNTER_COUNT; i++)
        sums.values[i] /= (double)frames;
    return sums;
}

static json_t *by_worker_json(const th_counted_frames *f, uint64_t frames)
{
    json_t *array = json_array();
    for (uint32_t w = 0; w < (f->frame ? f->threads : 1); w++)
        for (int s = 0; s < TH_FRAME_STAGE_COUNT; s++) {
            const th_frame_stage stage = (th_frame_stage)s;
            const th_counters c = per_frame(th_chunk_counters_get(f->counters, w, stage), frames);
            json_t *json = json_pack("{s:i, s:s}", "worker", (int)w, "stage", th_frame_stage_name(stage));
            for (int i = 0; i < TH_COUNTER_COUNT; i++)
                json = th_json_set(json, th_counter_name((th_counter)i), th_json_real(c.values[i]));
            if (c.values[TH_COUNTER_CPU_NS] > 0) /* the worker had chunks of the stage */
                array = th_json_append(array, json);
            else
                json_decref(json);
        }
    return array;
}

void th_counted_frames_run(const th_counted_frames *f, th_counters *out, json_t **out_by_worker)
{
    assert(f && f->counters && f->run && out && out_by_worker);
    uint64_t frames = 0;
    begin(f);
    run(f, 0);
    th_chunk_counters_reset(f->counters);
    const uint64_t begin_ns = th_clock_ns();
    while (frames < LEAST_COUNTED_FRAMES || th_clock_ns() - begin_ns < COUNTED_NS)
        run(f, ++frames);
    end(f);
    *out = per_frame(th_chunk_counters_get(f->counters, TH_NO_INDEX, TH_FRAME_STAGE_COUNT), frames);
    *out_by_worker = by_worker_json(f, frames);
}

/* ---- results ---- */

json_t *th_counters_json(const th_counters *counters)
{
    json_t *json = json_object();
    for (int c = 0; c < TH_COUNTER_COUNT; c++)
        json = th_json_set(json, th_counter_name((th_counter)c), th_json_real(counters->values[c]));
    return json;
}

/* NULL when memory is out. */
static json_t *with(json_t *fields, const char *name, json_t *value)
{
    return th_json_set(fields ? fields : json_object(), name, value);
}

bool th_counted_frames_describe(const th_counted_frames *f, th_row *row)
{
    th_counters counters;
    json_t *by_worker;
    th_counted_frames_run(f, &counters, &by_worker);
    row->own = with(row->own, "counters", th_counters_json(&counters));
    row->once = with(row->once, "counters_by_worker", by_worker);
    return row->own && row->once;
}

void th_counted_frames_end(const th_chunk_counters *counters, th_report *report)
{
    th_chunk_counters_describe_missing(counters, report->counters_missing, sizeof report->counters_missing);
}
