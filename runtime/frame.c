#include <runtime/frame.h>

#include <core/arena.h>
#include <core/cache_line.h>
#include <core/error.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct th_frame {
    const th_crowd *crowd;
    th_jobs *jobs;    /* NULL: tasks */
    th_tasks tasks;   /* enqueue NULL, too: by hand */
    uint32_t threads; /* workers are below */
    th_arena *arena;  /* holds all but scratch, layers and sockets */
    uint32_t grain;
    double time_s; /* arguments of this frame, read by the workers */
    void *palette; /* NULL: not between begin and end */
    size_t scratch_stride;
    unsigned char *scratch;        /* one part per worker */
    uint32_t *costs, *partition;   /* partition: equal cost per worker, because models differ */
    uint32_t capacity;             /* batches that there is room for */
    uint32_t partitioned;          /* number of batches for which `partition` was computed */
    const th_behaviour *behaviour; /* may be NULL */
    th_crowd_layers table;         /* what instances play in this frame */
    th_layer *layers;              /* in the table; written by the workers */
    uint8_t *layer_counts;
    th_mat34 *sockets;          /* [instance][th_crowd_socket_stride]; NULL: no model has any */
    uint32_t *posed;            /* [instance]: generation that the sockets are of; 0: nobody's */
    uint32_t changes;           /* of the crowd, at begin */
    uint8_t *workers;           /* [batch]: worker that ran it */
    th_frame_observer observer; /* begin: NULL without one */
};

_Static_assert(TH_JOBS_MAX_THREADS <= UINT8_MAX + 1, "a worker fits a byte");

static void partition_batches(th_frame *frame)
{
    const uint32_t count = th_crowd_batch_count(frame->crowd);
    assert(count <= frame->capacity); /* the crowd has more active instances than when the frame was created */
    frame->partitioned = count;
    if (!frame->jobs)
        return;
    for (uint32_t i = 0; i < count; i++)
        frame->costs[i] = th_crowd_batch_cost(frame->crowd, i);
    th_jobs_partition(frame->threads, count, frame->grain, frame->costs, frame->partition);
}

/* On a pool, which has threads, or with tasks, which say how many there are, or by hand. */
static bool is_valid(const th_frame_desc *desc)
{
    const bool enqueues = desc->tasks.enqueue, finishes = desc->tasks.finish;
    if (!desc->crowd || enqueues != finishes || !th_reserved_is_zero(desc->reserved))
        return false;
    if (desc->jobs)
        return !enqueues && desc->threads == 0;
    return desc->threads <= TH_JOBS_MAX_THREADS && (!enqueues || desc->threads > 0);
}

th_result th_frame_create(const th_frame_desc *desc, th_frame **out, th_error *err)
{
    return th_frame_create_with(desc, NULL, out, err);
}

th_result th_frame_create_with(const th_frame_desc *desc, const th_behaviour *behaviour, th_frame **out, th_error *err)
{
    if (out)
        *out = NULL;
    if (!TH_VALID(desc && out && is_valid(desc)))
        return th_fail(err, TH_ERR_USAGE,
                       "a frame has a crowd, and a pool, or both tasks with 1 to %u threads, or neither",
                       TH_JOBS_MAX_THREADS);
    const uint32_t threads = desc->jobs ? th_jobs_threads(desc->jobs) : desc->threads ? desc->threads : 1;
    const uint32_t capacity = th_crowd_most_batches(desc->crowd);
    const uint32_t stride = behaviour ? th_behaviour_layer_stride(behaviour) : th_crowd_max_layers(desc->crowd);
    const size_t instances = th_crowd_capacity(desc->crowd);

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
        .tasks = desc->tasks,
        .threads = threads,
        .arena = arena,
        .grain = desc->grain ? desc->grain : grain,
        .scratch_stride = th_cache_line_round(th_crowd_scratch_bytes(desc->crowd)),
        .costs = th_arena_new(arena, uint32_t, capacity),
        .partition = th_arena_new(arena, uint32_t, threads),
        .capacity = capacity,
        .behaviour = behaviour,
        .layer_counts = stride > 0 ? th_arena_new(arena, uint8_t, instances) : NULL,
        .posed = th_crowd_socket_stride(desc->crowd) > 0 ? th_arena_new(arena, uint32_t, instances) : NULL,
        .workers = th_arena_new(arena, uint8_t, capacity),
    };
    /* Not from the arena, which touches its pages: they are to be placed near the worker that writes them first. */
    frame.scratch = th_cache_line_alloc(frame.scratch_stride * threads);
    frame.layers = stride > 0 ? calloc(instances * stride + 1, sizeof *frame.layers) : NULL;
    const size_t sockets = instances * th_crowd_socket_stride(desc->crowd);
    frame.sockets = sockets > 0 ? calloc(sockets, sizeof *frame.sockets) : NULL;
    frame.table = (th_crowd_layers){frame.layers, frame.layer_counts, stride};
    th_frame *made = th_arena_copy(arena, &frame, 1, sizeof frame);
    if (th_arena_failed(arena) || !frame.scratch || (stride > 0 && !frame.layers) || (sockets > 0 && !frame.sockets)) {
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
    free(frame->sockets);
    free(frame->layers);
    free(frame->scratch);
    th_arena_destroy(frame->arena);
}

static int pose_batches(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_frame *frame = ctx;
    void *scratch = frame->scratch + worker * frame->scratch_stride;
    assert(begin < end && end <= frame->partitioned && worker < frame->threads);
    if (frame->observer.begin)
        frame->observer.begin(frame->observer.ctx, worker);
    for (uint32_t b = begin; (frame->layers || frame->posed) && b < end; b++) {
        const uint32_t *instances, count = th_crowd_batch_instances(frame->crowd, b, &instances);
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t i = instances[k];
            if (i == TH_NO_INDEX) /* a shared pose */
                continue;
            if (frame->posed)
                frame->posed[i] = th_crowd_generation(frame->crowd, i);
            if (!frame->layers)
                continue;
            th_layer *layers = frame->layers + (size_t)i * frame->table.stride;
            frame->layer_counts[i] =
                (uint8_t)(frame->behaviour ? th_behaviour_layers(frame->behaviour, i, frame->time_s, layers)
                                           : th_crowd_layers_at(frame->crowd, i, frame->time_s, layers));
        }
    }
    th_crowd_pose_layers(frame->crowd, begin, end, frame->time_s, th_frame_layers(frame), frame->palette,
                         (float *)frame->sockets, scratch);
    memset(frame->workers + begin, (int)worker, end - begin);
    if (frame->observer.begin)
        frame->observer.end(frame->observer.ctx, worker);
    return 0;
}

static bool begin_frame(th_frame *frame, double time_s, void *palettes)
{
    if (!TH_VALID(frame && !frame->palette && isfinite(time_s)) ||
        !TH_VALID(palettes && (uintptr_t)palettes % TH_CACHE_LINE == 0))
        return false;
    frame->time_s = time_s;
    frame->palette = palettes;
    if (th_crowd_batch_count(frame->crowd) != frame->partitioned)
        partition_batches(frame); /* the active instances have changed */
    frame->changes = th_crowd_changes(frame->crowd);
    return true;
}

uint32_t th_frame_begin(th_frame *frame, double time_s, void *palettes)
{
    return begin_frame(frame, time_s, palettes) ? frame->partitioned : 0;
}

void th_frame_batches(th_frame *frame, uint32_t begin, uint32_t end, uint32_t worker)
{
    if (TH_VALID(frame && frame->palette && begin <= end && end <= frame->partitioned && worker < frame->threads) &&
        TH_VALID(frame->changes == th_crowd_changes(frame->crowd)) && begin < end)
        pose_batches(begin, end, worker, frame);
}

void th_frame_end(th_frame *frame)
{
    if (TH_VALID(frame && frame->palette))
        frame->palette = NULL;
}

static void pose_task(uint32_t begin, uint32_t end, uint32_t worker, void *task)
{
    th_frame_batches(task, begin, end, worker);
}

th_result th_frame_run(th_frame *frame, double time_s, void *palettes)
{
    if (!begin_frame(frame, time_s, palettes))
        return TH_ERR_USAGE;
    const uint32_t count = frame->partitioned;
    const th_tasks *tasks = &frame->tasks;
    if (frame->jobs) {
        const th_job job = {
            .fn = pose_batches,
            .ctx = frame,
            .count = count,
            .grain = frame->grain,
            .partition = frame->partition,
        };
        th_jobs_run(frame->jobs, &job);
    } else if (tasks->enqueue && count > 0) {
        void *handle = tasks->enqueue(pose_task, count, frame->grain, frame, tasks->ctx);
        if (handle)
            tasks->finish(handle, tasks->ctx);
    } else {
        th_frame_batches(frame, 0, count, 0);
    }
    th_frame_end(frame);
    return TH_OK;
}

const th_crowd_layers *th_frame_layers(const th_frame *frame)
{
    assert(frame);
    return frame->layers ? &frame->table : NULL;
}

const float *th_frame_sockets(const th_frame *frame, th_character character)
{
    if (!TH_VALID(frame) || !th_crowd_get(frame->crowd, character, NULL) ||
        th_crowd_socket_count(frame->crowd, character.slot) == 0 ||
        frame->posed[character.slot] != character.generation)
        return NULL;
    return frame->sockets[(size_t)character.slot * th_crowd_socket_stride(frame->crowd)].m;
}

uint32_t th_frame_worker(const th_frame *frame, uint32_t instance)
{
    assert(frame);
    assert(frame->partitioned == th_crowd_batch_count(frame->crowd)); /* the same instances are active */
    return frame->workers[th_crowd_batch_of(frame->crowd, instance)];
}

void th_frame_observe(th_frame *frame, const th_frame_observer *observer)
{
    assert(frame && (!observer || (observer->begin && observer->end)));
    frame->observer = observer ? *observer : (th_frame_observer){0};
}

th_result th_palettes_create(const th_crowd *crowd, void **out, th_error *err)
{
    if (out)
        *out = NULL;
    if (!TH_VALID(crowd && out))
        return th_fail(err, TH_ERR_USAGE, "palettes are of a crowd, and have a place to be written to");
    const size_t bytes = th_crowd_palette_bytes(crowd);
    /* Linux overcommits, and kills a process that uses more than there is. */
    const size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    *out = bytes < machine ? th_cache_line_alloc(bytes) : NULL;
    if (*out)
        return TH_OK;
    return th_fail(err, TH_ERR_MEMORY, "no memory for the palettes of %u characters: %.3g MB", th_crowd_capacity(crowd),
                   (double)bytes / 1e6);
}

void th_palettes_destroy(void *palettes)
{
    free(palettes);
}
