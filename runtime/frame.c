#include <runtime/frame.h>

#include <core/arena.h>
#include <core/cache_line.h>
#include <core/text_format.h>

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct th_frame {
    const th_crowd *crowd;
    th_jobs *jobs;
    th_arena *arena; /* holds all but scratch and layers */
    uint32_t grain;
    double time_s; /* arguments of this frame, read by the workers */
    void *palette;
    size_t scratch_stride;
    unsigned char *scratch;        /* one part per worker */
    uint32_t *costs, *partition;   /* partition: equal cost per worker, because models differ */
    uint32_t capacity;             /* batches that there is room for */
    uint32_t partitioned;          /* number of batches for which `partition` was computed */
    const th_behaviour *behaviour; /* may be NULL */
    th_crowd_layers table;         /* what instances play in this frame */
    th_layer *layers;              /* in the table; written by the workers */
    uint8_t *layer_counts;
    uint8_t *workers;           /* [batch]: worker that ran it; NULL: not recorded */
    th_frame_observer observer; /* begin: NULL without one */
};

_Static_assert(TH_JOBS_MAX_THREADS <= UINT8_MAX + 1, "a worker fits a byte");

static void partition_batches(th_frame *frame)
{
    assert(frame->costs && frame->partition);
    const uint32_t count = th_crowd_batch_count(frame->crowd);
    assert(count <= frame->capacity); /* the crowd has more active instances than when the frame was created */
    for (uint32_t i = 0; i < count; i++)
        frame->costs[i] = th_crowd_batch_cost(frame->crowd, i);
    th_jobs_partition(th_jobs_threads(frame->jobs), count, frame->grain, frame->costs, frame->partition);
    frame->partitioned = count;
}

th_result th_frame_create(const th_frame_desc *desc, th_frame **out, th_error *err)
{
    assert(desc && desc->crowd && desc->jobs && out);
    const uint32_t threads = th_jobs_threads(desc->jobs), capacity = th_crowd_most_batches(desc->crowd);
    const uint32_t stride =
        desc->behaviour ? th_behaviour_layer_stride(desc->behaviour) : th_crowd_max_layers(desc->crowd);
    const size_t instances = th_crowd_capacity(desc->crowd);
    *out = NULL;

    /* With layers, instances with the same number of layers are posed together as far as a chunk reaches, and
     * share lanes. More than a few chunks a thread would be needed to balance them. */
    enum { CHUNKS = 4 };
    uint32_t grain = TH_FRAME_DEFAULT_GRAIN;
    if (stride > 0) {
        const uint32_t most = capacity / (CHUNKS * threads);
        grain = most < TH_FRAME_DEFAULT_GRAIN     ? TH_FRAME_DEFAULT_GRAIN
                : most < TH_FRAME_BEHAVIOUR_GRAIN ? most
                                                  : TH_FRAME_BEHAVIOUR_GRAIN;
    }

    th_arena *arena = th_arena_create();
    th_frame frame = {
        .crowd = desc->crowd,
        .jobs = desc->jobs,
        .arena = arena,
        .grain = desc->grain ? desc->grain : grain,
        .scratch_stride = th_cache_line_round(th_crowd_scratch_bytes(desc->crowd)),
        .costs = th_arena_new(arena, uint32_t, capacity),
        .partition = th_arena_new(arena, uint32_t, threads),
        .capacity = capacity,
        .behaviour = desc->behaviour,
        .layer_counts = stride > 0 ? th_arena_new(arena, uint8_t, instances) : NULL,
        .workers = desc->workers ? th_arena_new(arena, uint8_t, capacity) : NULL,
    };
    /* Not from the arena, which touches its pages: they are to be placed near the worker that writes them first. */
    frame.scratch = th_cache_line_alloc(frame.scratch_stride * threads);
    frame.layers = stride > 0 ? calloc(instances * stride + 1, sizeof *frame.layers) : NULL;
    frame.table = (th_crowd_layers){frame.layers, frame.layer_counts, stride};
    th_frame *made = th_arena_copy(arena, &frame, 1, sizeof frame);
    if (th_arena_failed(arena) || !frame.scratch || (stride > 0 && !frame.layers)) {
        th_frame_destroy(&frame);
        return th_fail(err, TH_ERR_MEMORY, "no memory for a frame of %zu characters on %u threads", instances, threads);
    }
    partition_batches(made);
    *out = made;
    return TH_OK;
}

void th_frame_destroy(th_frame *frame)
{
    if (!frame)
        return;
    free(frame->layers);
    free(frame->scratch);
    th_arena_destroy(frame->arena);
}

static int pose_batches(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_frame *frame = ctx;
    void *scratch = frame->scratch + worker * frame->scratch_stride;
    assert(begin < end && end <= frame->capacity && worker < th_jobs_threads(frame->jobs));
    if (frame->observer.begin)
        frame->observer.begin(frame->observer.ctx, worker);
    for (uint32_t b = begin; frame->layers && b < end; b++) {
        const uint32_t *instances, count = th_crowd_batch_instances(frame->crowd, b, &instances);
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t i = instances[k];
            if (i == TH_NO_INDEX) /* a shared pose */
                continue;
            th_layer *layers = frame->layers + (size_t)i * frame->table.stride;
            frame->layer_counts[i] =
                (uint8_t)(frame->behaviour ? th_behaviour_layers(frame->behaviour, i, frame->time_s, layers)
                                           : th_crowd_layers_at(frame->crowd, i, frame->time_s, layers));
        }
    }
    if (frame->layers)
        th_crowd_pose_layers(frame->crowd, begin, end, frame->time_s, &frame->table, frame->palette, scratch);
    else
        th_crowd_pose(frame->crowd, begin, end, frame->time_s, frame->palette, scratch);
    if (frame->workers)
        memset(frame->workers + begin, (int)worker, end - begin);
    if (frame->observer.begin)
        frame->observer.end(frame->observer.ctx, worker);
    return 0;
}

void th_frame_run(th_frame *frame, double time_s, void *palette)
{
    assert(frame && palette && (uintptr_t)palette % TH_CACHE_LINE == 0);
    frame->time_s = time_s;
    frame->palette = palette;
    if (th_crowd_batch_count(frame->crowd) != frame->partitioned)
        partition_batches(frame); /* the active instances have changed */
    const th_job job = {
        .fn = pose_batches,
        .ctx = frame,
        .count = frame->partitioned,
        .grain = frame->grain,
        .partition = frame->partition,
    };
    th_jobs_run(frame->jobs, &job);
}

const th_crowd_layers *th_frame_layers(const th_frame *frame)
{
    assert(frame);
    return frame->layers ? &frame->table : NULL;
}

uint32_t th_frame_worker(const th_frame *frame, uint32_t instance)
{
    assert(frame && frame->workers);
    assert(frame->partitioned == th_crowd_batch_count(frame->crowd)); /* the same instances are active */
    return frame->workers[th_crowd_batch_of(frame->crowd, instance)];
}

void th_frame_observe(th_frame *frame, const th_frame_observer *observer)
{
    assert(frame && (!observer || (observer->begin && observer->end)));
    frame->observer = observer ? *observer : (th_frame_observer){0};
}

th_result th_threads_create(const th_jobs_desc *desc, th_jobs **out, th_error *err)
{
    assert(desc && out);
    int error = th_jobs_create(desc, out);
    switch (error) {
    case 0:
        return TH_OK;
    case ENOMEM:
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u threads", desc->threads);
    case ENOTSUP:
        if (!th_scheduler_available(desc->scheduler))
            return th_fail(err, TH_ERR_ENVIRONMENT, "this build has no scheduler %s",
                           th_scheduler_name(desc->scheduler));
        return th_fail(err, TH_ERR_ENVIRONMENT, "placement %s needs hwloc, which this build lacks",
                       th_placement_name(desc->placement));
    case EAGAIN:
        return th_fail(err, TH_ERR_ENVIRONMENT, "the system refuses %u thread%s: %s", desc->threads,
                       th_plural(desc->threads), strerror(error));
    default:
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start or place %u thread%s: %s", desc->threads,
                       th_plural(desc->threads), strerror(error));
    }
}

th_result th_palette_create(const th_crowd *crowd, void **out, th_error *err)
{
    assert(crowd && out);
    const size_t bytes = th_crowd_palette_bytes(crowd);
    /* Linux overcommits, and kills a process that uses more than there is. */
    const size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    *out = bytes < machine ? th_cache_line_alloc(bytes) : NULL;
    if (*out)
        return TH_OK;
    return th_fail(err, TH_ERR_MEMORY, "no memory for the palettes of %u characters: %.3g MB", th_crowd_capacity(crowd),
                   (double)bytes / 1e6);
}
