#include "bench_gpu.h"

#include <bench/validate.h>
#include <core/json.h>
#include <render/gpu_clock.h>
#include <throng/core/cache_line.h>
#include <throng/render/gpu_evaluator.h>
#include <throng/runtime/frame.h>
#include <throng/runtime/scene.h>

#include <stdio.h>
#include <stdlib.h>

enum { CHECKED = 8 }; /* every so many repetitions the palettes are checked */

/* An entry being measured. */
typedef struct subject {
    th_bench_frames *shared;
    th_row *row;
    th_scene *scene;
    th_crowd *crowd; /* of the scalar kernel */
    th_gpu_evaluator *evaluator;
    th_ring *ring; /* palettes, and cursors behind them, as in a frame */
    th_gpu_clock *clock;
    void *palette, *reference, *scratch;
    th_samples gpu_ns;
    uint64_t frame; /* the last one */
    uint32_t repetitions;
    bool same_bytes; /* as the scalar kernel */
} subject;

static double time_of(uint64_t frame)
{
    return (double)frame / TH_FRAME_RATE;
}

/* ---- frames ---- */

void th_bench_gpu_run(void *ctx, uint64_t frame)
{
    subject *s = ctx;
    const size_t cursors = th_crowd_palette_bytes(s->crowd);
    char *slot = th_ring_begin(s->ring);
    if (slot) {
        th_crowd_seek(s->crowd, 0, th_crowd_batch_count(s->crowd), time_of(frame),
                      (th_device_cursor *)(void *)(slot + cursors));
        th_ring_wrote(s->ring, cursors, th_ring_slot_bytes(s->ring));
    }
    if (!slot || !th_ring_end(s->ring)) {
        snprintf(s->row->failure, sizeof s->row->failure, "the driver lost what was written");
        return;
    }
    const th_ring_binding at = th_ring_get_binding(s->ring);
    th_gpu_clock_begin(s->clock);
    th_gpu_evaluator_pose(s->evaluator, s->crowd, at, (th_ring_binding){at.buffer, at.offset + cursors});
    th_gpu_clock_end(s->clock);
    th_ring_fence(s->ring);
    th_gl_swap(s->shared->picture.gl);
    s->frame = frame;
    uint64_t ns;
    if (th_gpu_clock_read(s->clock, &ns) && s->gpu_ns.count < s->gpu_ns.capacity)
        th_samples_add(&s->gpu_ns, (double)ns);
}

/* Puts frames in flight. */
void th_bench_gpu_before(void *ctx)
{
    for (int slot = 0; slot < TH_RING_SLOTS; slot++)
        th_bench_gpu_run(ctx, TH_VALIDATE_FRAME);
}

/* ---- checking ---- */

static void read_frame(void *ctx, uint64_t frame)
{
    subject *s = ctx;
    th_error err;
    if (th_gpu_evaluator_read(s->evaluator, s->crowd, time_of(frame), s->palette, &err) != TH_OK)
        snprintf(s->row->failure, sizeof s->row->failure, "%.*s", (int)sizeof s->row->failure - 1, err.text);
}

void th_bench_gpu_after(void *ctx)
{
    subject *s = ctx;
    th_error err;
    th_gl_finish(s->shared->picture.gl);
    if (th_gl_check(s->shared->picture.gl, "while the GPU posed", &err) != TH_OK)
        snprintf(s->row->failure, sizeof s->row->failure, "%.*s", (int)sizeof s->row->failure - 1, err.text);
    if (s->repetitions++ % CHECKED > 0)
        return;
    const th_validate_run_desc desc = {.scene = s->scene, .crowd = s->crowd, .palette = s->palette};
    th_gpu_read_buffer(th_ring_get_binding(s->ring), th_crowd_palette_bytes(s->crowd), s->palette);
    if (th_validate_left(&desc, s->frame, s->row, &err) != TH_OK)
        snprintf(s->row->failure, sizeof s->row->failure, "%.*s", (int)sizeof s->row->failure - 1, err.text);
}

/* Against double precision, and against the bytes of the scalar kernel. On other drivers than llvmpipe division may be
 * off in the last bit, so other bytes are no failure. */
static th_result validate(subject *s, th_error *err)
{
    th_crowd_update(s->crowd, 0, th_crowd_batch_count(s->crowd), time_of(TH_VALIDATE_FRAME), s->reference, s->scratch);
    const th_validate_run_desc desc = {
        .scene = s->scene, .crowd = s->crowd, .palette = s->palette, .run = read_frame, .ctx = s};
    const th_result result = th_validate_run(&desc, s->row, err);
    s->same_bytes = th_crowd_hash(s->crowd, s->palette) == th_crowd_hash(s->crowd, s->reference);
    return result;
}

/* ---- creating ---- */

static th_result make_memory(subject *s, th_error *err)
{
    const size_t bytes = th_crowd_palette_bytes(s->crowd) + s->scene->instance_count * sizeof(th_device_cursor);
    const th_ring_desc desc = {.bytes = bytes, .upload = s->shared->crowds[0].upload};
    s->scratch = th_cache_line_alloc(th_crowd_scratch_bytes(s->crowd));
    if (!s->scratch || !th_samples_init(&s->gpu_ns, s->row->real_ns.capacity))
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", s->row->name);
    th_result result = th_palette_create(s->crowd, &s->palette, err);
    if (result == TH_OK)
        result = th_palette_create(s->crowd, &s->reference, err);
    if (result == TH_OK)
        result = th_ring_create(s->shared->picture.gl, &desc, &s->ring, err);
    return result == TH_OK ? th_gpu_clock_create(s->shared->picture.gl, &s->clock, err) : result;
}

static th_result make_crowd(subject *s, const th_bench_gpu_entry *entry, th_error *err)
{
    th_result result = th_scene_create(s->shared->posed, &s->scene, err);
    if (result == TH_OK)
        result = th_scene_crowd(s->scene, TH_ISA_SCALAR, entry->palette, &s->crowd, err);
    if (result == TH_OK)
        result = th_crowd_check_device(s->crowd, NULL, err);
    if (result != TH_OK)
        return result;
    const th_gpu_evaluator_desc desc = {.gl = s->shared->picture.gl,
                                        .compiled_models = s->scene->compiled_models,
                                        .compiled_model_count = s->scene->compiled_model_count,
                                        .palette = entry->palette,
                                        .mapping = entry->mapping};
    return th_gpu_evaluator_create(&desc, &s->evaluator, err);
}

th_result th_bench_gpu_create(const th_external_benchmark *benchmark, void *ctx, th_row *row, void **out, th_error *err)
{
    subject *s = *out = calloc(1, sizeof *s);
    if (!s)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", benchmark->name);
    s->shared = ctx;
    s->row = row;
    th_result result = th_bench_frames_open(s->shared, err);
    if (result == TH_OK)
        result = make_crowd(s, benchmark->what, err);
    if (result == TH_OK)
        result = make_memory(s, err);
    if (result != TH_OK)
        return result;
    row->threads = 1;
    row->characters = s->scene->instance_count;
    row->bones = th_crowd_bone_count(s->crowd);
    return validate(s, err);
}

void th_bench_gpu_destroy(void *ctx)
{
    subject *s = ctx;
    th_gpu_clock_destroy(s->clock);
    th_ring_destroy(s->ring);
    th_gpu_evaluator_destroy(s->evaluator);
    th_crowd_destroy(s->crowd);
    th_scene_destroy(s->scene);
    th_samples_fini(&s->gpu_ns);
    free(s->palette);
    free(s->reference);
    free(s->scratch);
    free(s);
}

void th_bench_gpu_summarize(void *ctx, const th_row *baseline, th_row *row)
{
    const subject *s = ctx;
    (void)baseline;
    row->own = json_pack("{s:o, s:b}", "gpu_us",
                         s->gpu_ns.count > 0 ? th_json_real(th_samples_stats(&s->gpu_ns).median / 1e3) : json_null(),
                         "same_bytes", (int)s->same_bytes);
}
